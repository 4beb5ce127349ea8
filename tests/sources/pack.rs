//! Packing: what is in the archive, and that it is always the same.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::tempdir;
use wskill::source::{ArchiveError, Limits, Sha256Sum, SourceError, pack, unpack};

use crate::archives::SKILL;
use crate::{files, tree};

fn write(folder: &Path, names: &[&str]) {
    for name in names {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, if *name == "SKILL.md" { SKILL } else { name.as_bytes() }).unwrap();
    }
}

const KEPT: [&str; 6] =
    ["LICENSE", "SKILL.md", "assets/evals/x", "references/a.md", "scripts/.hidden", "scripts/run.py"];

#[test]
fn the_same_files_are_the_same_bytes() {
    let place = tempdir().unwrap();
    let (one, other) = (place.path().join("one/demo"), place.path().join("other/demo"));
    write(&one, &KEPT);
    let mut backwards = KEPT;
    backwards.reverse();
    write(&other, &backwards);
    let junk = [
        "evals/x",
        ".git/HEAD",
        "a/.git/HEAD",
        "__pycache__/a.pyc",
        "scripts/a.pyc",
        "node_modules/x/y",
        ".venv/bin/python",
        "scripts/.DS_Store",
    ];
    write(&other, &junk);
    let old = SystemTime::now() - Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(other.join("SKILL.md")).unwrap().set_modified(old).unwrap();
    let first = pack(&one, &place.path().join("one.skill")).unwrap();
    let second = pack(&other, &place.path().join("other.skill")).unwrap();
    let bytes = fs::read(&first.path).unwrap();
    assert!(bytes == fs::read(&second.path).unwrap());
    assert_eq!((first.sha256, first.size), (Sha256Sum::of(&bytes), bytes.len() as u64));
    assert_eq!(first.files, KEPT.map(|name| format!("demo/{name}")));
    // Over itself, and from inside.
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(pack(&one, &place.path().join("one.skill")).unwrap(), first);
    let inside = one.join("demo.skill");
    for _ in 0..2 {
        assert_eq!(pack(&one, &inside).unwrap().sha256, first.sha256);
    }
    // In a folder it is named after the skill.
    let target = place.path().join("target");
    fs::create_dir(&target).unwrap();
    assert_eq!(pack(&other, &target).unwrap().path, target.join("demo.skill"));
    assert_eq!(files(&target), ["demo.skill"]);
    let unpacked = place.path().join("unpacked");
    unpack(&first.path, "demo.skill", &unpacked, &Limits::default()).unwrap();
    assert_eq!(files(&unpacked), KEPT.map(|name| format!("demo/{name}")));
    assert_eq!(tree(&unpacked)["demo/SKILL.md"], SKILL);
}

#[cfg(unix)]
#[test]
fn execute_rights_are_kept_and_no_others() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempdir().unwrap();
    let folder = place.path().join("demo");
    write(&folder, &KEPT);
    let set = |mode| fs::set_permissions(folder.join("scripts/run.py"), fs::Permissions::from_mode(mode)).unwrap();
    let out = place.path().join("demo.skill");
    set(0o644);
    let plain = pack(&folder, &out).unwrap().sha256;
    set(0o600);
    assert_eq!(pack(&folder, &out).unwrap().sha256, plain);
    set(0o6777);
    assert_ne!(pack(&folder, &out).unwrap().sha256, plain);
    let unpacked = place.path().join("unpacked");
    unpack(&out, "a.zip", &unpacked, &Limits::default()).unwrap();
    let mode = |name: &str| fs::metadata(unpacked.join(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("demo/scripts/run.py"), mode("demo/SKILL.md")), (0o755, 0o644));
}

#[test]
fn what_cannot_be_packed() {
    let place = tempdir().unwrap();
    let folder = place.path().join("demo");
    let out = place.path().join("demo.skill");
    assert!(matches!(pack(&folder, &out), Err(SourceError::NotFound { .. })));
    write(&folder, &["README.md"]);
    assert!(matches!(pack(&folder, &out), Err(SourceError::NoSkill { .. })));
    write(&folder, &KEPT);
    assert!(matches!(pack(&folder, &place.path().join("absent/demo.skill")), Err(SourceError::Io { .. })));
    assert!(pack(&folder, &out).is_ok());
    fs::remove_file(&out).unwrap();
    #[cfg(unix)]
    for name in ["a:b", "a\\b", "a\nb", "nul", "a.", "skill.MD"] {
        write(&folder, &[name]);
        let error = pack(&folder, &out).unwrap_err();
        let refused = matches!(
            error,
            SourceError::Archive { error: ArchiveError::Name { .. } | ArchiveError::Duplicate { .. }, .. }
        );
        assert!(refused, "{name:?}: {error}");
        fs::remove_file(folder.join(name)).unwrap();
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc/passwd", folder.join("link")).unwrap();
        assert!(matches!(pack(&folder, &out), Err(SourceError::Link { .. })));
        fs::remove_file(folder.join("link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
        assert!(matches!(pack(&folder, &out), Err(SourceError::Special { .. })));
    }
    assert!(!out.exists());
    let left: Vec<_> = files(place.path()).into_iter().filter(|name| !name.starts_with("demo/")).collect();
    assert_eq!(left, [""; 0]);
}
