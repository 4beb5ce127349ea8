//! The bundled skills, run by the binary: `wskill test` on each, what each skill's folder looks like from
//! inside, and the commands of the README.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use sha2::{Digest, Sha256};

use common::wskill;

const SKILLS: [&str; 8] = [
    "csv-insight",
    "data-analysis",
    "file-tools",
    "log-triage",
    "python-math",
    "report-summary",
    "user-file-ops",
    "weather-tools",
];

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn folder_of(skill: &str) -> PathBuf {
    project().join("skills").join(skill)
}

/// `wskill run skills/SKILL --workspace WORKSPACE [--input FROM=TO]... COMMAND`.
fn run(skill: &str, workspace: &Path, inputs: &BTreeMap<String, String>, command: &str) -> Output {
    let mut wskill = wskill();
    wskill.arg("run").arg(format!("skills/{skill}")).arg("--workspace").arg(workspace);
    for (to, from) in inputs {
        wskill.arg("--input").arg(format!("skills/{skill}/{from}={to}"));
    }
    wskill.arg(command).output().unwrap()
}

/// A digest of all names, kinds, modes and contents below a folder.
fn digest(folder: &Path) -> String {
    let mut hasher = Sha256::new();
    let mut paths = vec![folder.to_owned()];
    while let Some(path) = paths.pop() {
        let metadata = path.symlink_metadata().unwrap();
        hasher.update(format!("{}\0{:?}\0", path.display(), metadata.permissions()));
        if metadata.is_dir() {
            let mut entries: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect();
            entries.sort();
            paths.extend(entries);
        } else if metadata.is_file() {
            hasher.update(fs::read(&path).unwrap());
        } else {
            hasher.update(fs::read_link(&path).unwrap().as_os_str().as_encoded_bytes());
        }
    }
    format!("{:x}", hasher.finalize())
}

/// Compares text as text, so that a failure can be read.
fn assert_same(what: &str, got: &[u8], expected: &[u8]) {
    let (got_text, expected_text) = (String::from_utf8_lossy(got), String::from_utf8_lossy(expected));
    assert!(got == expected, "{what}\n--- expected\n{expected_text}\n--- got\n{got_text}");
}

fn check_all(skill: &str) {
    let before = digest(&folder_of(skill));
    let output = wskill().arg("test").arg(format!("skills/{skill}")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let cases = fs::read_to_string(folder_of(skill).join("tests/cases.toml")).unwrap();
    let count = cases.lines().filter(|line| *line == "[[case]]").count();
    assert!(count > 0 && text.ends_with(&format!("{count} passed, 0 failed\n")), "{text}");
    assert_eq!(digest(&folder_of(skill)), before, "{skill}: a run has changed the skill's folder");
}

#[test]
fn csv_insight() {
    check_all("csv-insight");
}

#[test]
fn data_analysis() {
    check_all("data-analysis");
}

#[test]
fn file_tools() {
    check_all("file-tools");
}

#[test]
fn log_triage() {
    check_all("log-triage");
}

#[test]
fn python_math() {
    check_all("python-math");
}

#[test]
fn report_summary() {
    check_all("report-summary");
}

#[test]
fn user_file_ops() {
    check_all("user-file-ops");
}

#[test]
fn weather_tools() {
    check_all("weather-tools");
}

#[test]
fn every_bundled_skill_is_tested() {
    let mut folders: Vec<_> = fs::read_dir(project().join("skills"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    folders.sort();
    assert_eq!(folders, SKILLS);
}

/// What agents rely on: the links, a writable `.venv` and `out`, and a folder that cannot be changed.
const INSIDE: &str = r#"
set -eu
test -L out; test -L work; test -L inputs; test -d .venv
test "$(readlink out) $(readlink work) $(readlink inputs)" = '../../out ../../work ../../work/inputs'
test -e SKILL.md; test -d scripts
test "$PWD" = "$SKILLS_DIR/$SKILL_NAME"
test -d "$WORK_DIR/inputs"; test -d "$RUN_DIR"

echo one > .venv/probe; test "$(cat .venv/probe)" = one
mkdir -p out/bench; printf OK > "$OUTPUT_DIR/bench/ok.txt"; test "$(cat out/bench/ok.txt)" = OK
echo two > inputs/probe; test "$(cat "$WORKSPACE_DIR/work/inputs/probe")" = two

for attempt in 'echo no >> SKILL.md' 'echo no > new' 'mkdir new' 'rm SKILL.md' 'mv SKILL.md new' 'mv SKILL.md out' \
    'chmod 777 SKILL.md' 'touch SKILL.md' 'ln -s SKILL.md new' 'rm out' 'rm -r scripts' 'rmdir .venv' 'mkdir scripts/new' \
    'cp SKILL.md scripts/new' 'python3 -c "open(\"SKILL.md\", \"r+\")"'
do
    if (eval "$attempt") 2> /dev/null; then echo "should have failed: $attempt"; exit 1; fi
done
printf OK
"#;

#[test]
fn a_skills_folder_has_links_and_a_venv_and_cannot_be_changed() {
    for skill in SKILLS {
        let workspace = tempfile::tempdir().unwrap();
        let before = digest(&folder_of(skill));
        let output = run(skill, workspace.path(), &BTreeMap::new(), INSIDE);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_same(&format!("{skill}\nstandard error: {stderr}"), &output.stdout, b"OK");
        assert!(output.status.success(), "{skill}: {stderr}");
        assert_eq!(fs::read(workspace.path().join("out/bench/ok.txt")).unwrap(), b"OK");
        assert_eq!(digest(&folder_of(skill)), before, "{skill}");
    }
}

/// The commands in the README's `sh` blocks: those of wskill, each possibly continued with `\`.
fn readme_commands() -> Vec<String> {
    let readme = fs::read_to_string(project().join("README.md")).unwrap();
    let mut commands = Vec::new();
    for block in readme.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap().replace("\\\n", " ");
        let lines = block.lines().map(|line| line.replacen("cargo run --release --", "wskill", 1));
        commands.extend(lines.filter(|line| line.starts_with("wskill ")));
    }
    commands
}

#[cfg(unix)]
#[test]
fn the_commands_of_the_readme_work() {
    let bin = Path::new(env!("CARGO_BIN_EXE_wskill")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([bin.to_owned()].into_iter().chain(std::env::split_paths(&path))).unwrap();
    // What the commands leave goes away with this folder.
    let place = tempfile::tempdir().unwrap();
    // A copy: some of them make skills.
    let copied = Command::new("cp").arg("-r").arg(project().join("skills")).arg(place.path()).status();
    assert!(copied.unwrap().success());
    // As `wskill` does: compiles the programs once.
    drop(wskill());
    let commands = readme_commands();
    assert!(
        commands[0].contains("run skills/python-math 'python3 scripts/fib.py 10 > out/fib.txt && cat out/fib.txt'")
    );
    for (index, line) in commands.iter().enumerate() {
        let output = Command::new("sh")
            .args([OsStr::new("-c"), OsStr::new(line)])
            .current_dir(place.path())
            .env("PATH", &path)
            .env("TMPDIR", place.path())
            .env("XDG_STATE_HOME", place.path().join("state"))
            .env_remove("SKILLS_ROOT")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}\n{}: {stderr}", output.status);
        if index == 0 {
            assert_same(line, &output.stdout, b"0\n1\n1\n2\n3\n5\n8\n13\n21\n34\n");
            // The workspace is kept for what is in out/, and the user is told where.
            assert!(stderr.contains("ws_") && stderr.contains("--out-dir"), "{stderr}");
        }
    }
}
