//! A child process that changes workspaces is killed at any moment, again and again.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;

/// Names the child's folder; without it, the child's part is an empty test.
const FOLDER: &str = "VFS_KILLED_FOLDER";

fn tree(layers: &Layers) -> Tree {
    Tree::of(Arc::new(layers.mount(unlimited(), None).unwrap())).unwrap()
}

/// Brings the workspace to a state: a directory of its name with two files that say the same, put in place by one
/// rename; then the directories of other states are removed.
fn write(layers: &Layers, text: &str) {
    let tree = tree(layers);
    let root = GuestPath::root();
    for name in ["new/one", "new/two"] {
        tree.write(name.as_bytes(), text.as_bytes(), 0o644).unwrap();
    }
    let at = format!("state-{text}");
    tree.vfs().rename(&root, b"new", &root, at.as_bytes()).unwrap();
    for entry in tree.vfs().read_dir(&root).unwrap() {
        if entry.name.starts_with(b"state-") && entry.name != at.as_bytes() {
            tree.remove(&[b"/", &entry.name[..]].concat(), 100).unwrap();
        }
    }
}

/// The states that a workspace shows: one, or the old and the new.
fn check(layers: &Layers) -> Vec<String> {
    let tree = tree(layers);
    let mut states = Vec::new();
    for entry in tree.vfs().read_dir(&GuestPath::root()).unwrap() {
        let Some(text) = entry.name.strip_prefix(b"state-") else { continue };
        let read = |name: &str| tree.read(&[b"/", &entry.name[..], name.as_bytes()].concat(), 0, 100);
        // One that is being removed lacks a file; what is there is whole.
        for content in ["/one", "/two"].into_iter().filter_map(|name| read(name).ok()) {
            assert_eq!(content, text);
        }
        if read("/one").is_ok() && read("/two").is_ok() {
            states.push(String::from_utf8(text.to_vec()).unwrap());
        }
    }
    assert!(!states.is_empty(), "both states are lost");
    states
}

/// The child: changes a workspace in all ways until it is killed.
#[test]
fn killed_child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let folder = Path::new(&folder);
    let mut layers = Layers::open(&folder.join("one")).unwrap();
    for number in 0.. {
        let text = format!("{}-{number}", std::process::id());
        write(&layers, &text);
        let snapshot = layers.snapshot().unwrap();
        write(&layers, "later");
        let fork = layers.fork(&folder.join(format!("fork-{text}"))).unwrap();
        assert_eq!(check(&fork), ["later"]);
        layers.rollback(&snapshot).unwrap();
        assert_eq!(check(&layers), [text.as_str()]);
        if number % 3 > 0 {
            fork.remove().unwrap();
        }
        if layers.snapshots().len() > 4 {
            let oldest = layers.snapshots()[0].id.clone();
            layers.forget(&oldest).unwrap();
        }
    }
}

#[test]
fn workspaces_survive_kills() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let layers = Layers::create(&at("one"), &at("pool"), None).unwrap();
    write(&layers, "first");
    drop(layers);
    let mut random = Random(7);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..rounds() * 8 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "sandbox::vfs::tests::overlay::killed::killed_child", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(20 + random.below(150)));
        assert_eq!(child.try_wait().unwrap(), None, "the child ended by itself");
        child.kill().unwrap();
        child.wait().unwrap();
        let layers = Layers::open(&at("one")).unwrap();
        seen.extend(check(&layers));
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if !path.file_name().unwrap().to_str().unwrap().starts_with("fork-") {
                continue;
            }
            match Layers::open(&path) {
                Ok(fork) => {
                    assert_eq!(check(&fork), ["later"]);
                    fork.remove().unwrap();
                }
                // Not made, or removed.
                Err(LayersError::NoWorkspace(_)) => std::fs::remove_dir_all(&path).unwrap(),
                Err(error) => panic!("{error}"),
            }
        }
        drop(layers);
        collect(&at("pool")).unwrap();
    }
    assert!(seen.len() > 1, "the child never came to change anything");
    let layers = Layers::open(&at("one")).unwrap();
    check(&layers);
    layers.remove().unwrap();
    assert_eq!(std::fs::read_dir(at("pool")).unwrap().count(), 0);
}
