//! The built guest programs are those of the sources beside them, and fit where they must.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The folders and files that `wasm-tools/build.sh --source-hash` reads.
const FOLDERS: &[&str] = &["sys", "shell", "coreutils", "texttools", "tests", "python", "preinit"];
const FILES: &[&str] =
    &["Cargo.toml", "Cargo.lock", ".cargo/config.toml", "build.sh", "toolchain.sh", "modules.json", "pack.py"];
/// The registry takes packages of 10 MB; 9 leave room.
const CRATE_MAX: u64 = 9_000_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("wasm-tools")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            if name != "target" && name != "__pycache__" {
                files_below(&path, found);
            }
        } else if !name.ends_with(".md") {
            found.push(path);
        }
    }
}

#[test]
fn the_programs_are_built_from_these_sources() {
    let root = root();
    let mut paths: Vec<PathBuf> = FILES.iter().map(|file| root.join(file)).collect();
    for folder in FOLDERS {
        files_below(&root.join(folder), &mut paths);
    }
    let mut names: Vec<String> =
        paths.iter().map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    let mut lines = String::new();
    for name in names {
        let sum = hex(&Sha256::digest(fs::read(root.join(&name)).unwrap()));
        writeln!(lines, "{sum}  {name}").unwrap();
    }
    let now = hex(&Sha256::digest(lines));
    let provenance = fs::read_to_string(root.join("dist/PROVENANCE")).unwrap();
    let recorded = provenance.lines().find_map(|line| line.strip_prefix("source-hash: ")).unwrap();
    assert_eq!(
        now, recorded,
        "the guests' sources changed: run wasm-tools/build.sh and commit what it writes to dist/"
    );
}

#[test]
fn the_packed_files_are_the_listed_ones() {
    let dist = root().join("dist");
    let sums = fs::read_to_string(dist.join("SHA256SUMS")).unwrap();
    let mut packed = 0;
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").unwrap();
        // The others are the digests of what these unpack to, which loading checks.
        if !name.ends_with(".zst") {
            continue;
        }
        assert_eq!(hex(&Sha256::digest(fs::read(dist.join(name)).unwrap())), sum, "{name}");
        packed += 1;
    }
    assert!(packed >= 5, "{sums}");
}

#[test]
fn the_data_crates_fit_the_registry() {
    for name in ["toolbox", "python"] {
        let mut paths = Vec::new();
        files_below(&root().join("dist").join(name), &mut paths);
        let size: u64 = paths.iter().map(|path| path.metadata().unwrap().len()).sum();
        assert!(size > 1_000_000 && size < CRATE_MAX, "{name}: {size} bytes");
        let licences = paths.iter().filter(|path| path.components().any(|part| part.as_os_str() == "licenses"));
        assert!(licences.count() > 0, "{name} has no licences");
    }
}

#[test]
fn every_program_is_installed_and_unpacks() {
    let runtime = wskill::Runtime::builder().build().unwrap();
    let commands = runtime.programs().commands();
    for name in
        ["bash", "sh", "python3", "python", "ls", "cat", "grep", "sed", "awk", "find", "xargs", "tar", "jq", "bc"]
    {
        assert!(commands.iter().any(|command| command.name == name), "{name} is missing");
    }
}
