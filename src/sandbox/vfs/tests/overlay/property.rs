//! Random operations on an overlay and on a plain tree have equal answers.

use proptest::prelude::*;

use super::*;

/// One operation on the names `a`, `b` and `c`, three levels deep.
#[derive(Clone, Debug)]
enum Step {
    Write(String, u8),
    Append(String),
    Cut(String, u8),
    MakeDir(String),
    Link(String, String),
    Symlink(String),
    Fifo(String),
    Unlink(String),
    RemoveDir(String),
    Rename(String, String),
    Mode(String, u32),
    Times(String, i64),
    /// The upper layer becomes a lower one.
    Freeze,
    /// A descriptor is kept and read at the end.
    Keep(String),
}

fn place() -> impl Strategy<Value = String> {
    prop::collection::vec("[abc]", 1..4).prop_map(|parts| parts.join("/"))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (place(), any::<u8>()).prop_map(|(at, length)| Step::Write(at, length)),
        2 => place().prop_map(Step::Append),
        1 => (place(), any::<u8>()).prop_map(|(at, length)| Step::Cut(at, length)),
        4 => place().prop_map(Step::MakeDir),
        1 => (place(), place()).prop_map(|(at, new)| Step::Link(at, new)),
        1 => place().prop_map(Step::Symlink),
        1 => place().prop_map(Step::Fifo),
        3 => place().prop_map(Step::Unlink),
        3 => place().prop_map(Step::RemoveDir),
        4 => (place(), place()).prop_map(|(at, new)| Step::Rename(at, new)),
        1 => (place(), 0_u32..0o777).prop_map(|(at, mode)| Step::Mode(at, mode)),
        1 => (place(), any::<i32>()).prop_map(|(at, time)| Step::Times(at, i64::from(time))),
        1 => Just(Step::Freeze),
        1 => place().prop_map(Step::Keep),
    ]
}

fn with_file(tree: &dyn FileSystem, at: &str, use_it: impl FnOnce(&dyn File) -> Result<u64>) -> Result<u64> {
    let access = Access { read: true, write: true, truncate: false };
    match tree.open(at.as_bytes(), access)? {
        Node::File(file) => use_it(&*file),
        Node::Directory => Err(Errno::IsDirectory),
        Node::Special(_) => Ok(0),
    }
}

fn play(tree: &dyn FileSystem, step: &Step) -> Result<u64> {
    let done = |result: Result<()>| result.map(|()| 0);
    match step {
        Step::Write(at, length) => {
            let data = vec![*length; usize::from(*length)];
            let access = Access { read: true, write: true, truncate: length % 2 == 0 };
            match tree.create(at.as_bytes(), 0o644, access) {
                Ok(file) => Ok(file.write_at(&data, 0)? as u64),
                Err(Errno::Exist) => match tree.open(at.as_bytes(), access)? {
                    Node::File(file) => Ok(file.write_at(&data, 3)? as u64),
                    Node::Directory => Err(Errno::IsDirectory),
                    Node::Special(_) => Ok(0),
                },
                Err(error) => Err(error),
            }
        }
        Step::Append(at) => with_file(tree, at, |file| Ok(file.append(b"more")?.1)),
        Step::Cut(at, length) => with_file(tree, at, |file| file.set_len(u64::from(*length)).map(|()| 0)),
        Step::MakeDir(at) => done(tree.make_dir(at.as_bytes(), 0o755)),
        Step::Link(at, new) => done(tree.link(at.as_bytes(), new.as_bytes())),
        Step::Symlink(at) => done(tree.symlink(b"target", at.as_bytes())),
        Step::Fifo(at) => done(tree.make_fifo(at.as_bytes(), 0o640)),
        Step::Unlink(at) => done(tree.unlink(at.as_bytes())),
        Step::RemoveDir(at) => done(tree.remove_dir(at.as_bytes())),
        Step::Rename(at, new) => done(tree.rename(at.as_bytes(), new.as_bytes())),
        Step::Mode(at, mode) => done(tree.set_mode(at.as_bytes(), *mode)),
        Step::Times(at, time) => done(tree.set_times(at.as_bytes(), SetTime::At(*time), SetTime::At(*time))),
        Step::Freeze | Step::Keep(_) => Ok(0),
    }
}

/// Everything that can be seen of a tree, without times that are the present.
pub(super) fn dump(tree: &dyn FileSystem) -> String {
    use std::fmt::Write as _;
    let mut said = String::new();
    let mut open = vec![Vec::new()];
    while let Some(at) = open.pop() {
        let mut entries = tree.read_dir(&at).unwrap();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        for entry in entries {
            let below = [&at[..], if at.is_empty() { b"" } else { b"/" }, &entry.name].concat();
            let metadata = tree.metadata(&below).unwrap();
            assert_eq!((entry.inode, entry.file_type), (metadata.inode, metadata.file_type));
            let name = String::from_utf8_lossy(&below).into_owned();
            let content = match metadata.file_type {
                FileType::Regular => content(tree, &below),
                FileType::Symlink => String::from_utf8(tree.read_link(&below).unwrap()).unwrap(),
                _ => String::new(),
            };
            let links = if metadata.file_type == FileType::Directory { 0 } else { metadata.links };
            let _ = writeln!(said, "{name} {:?} {:o} {links} {content:?}", metadata.file_type, metadata.mode);
            if metadata.file_type == FileType::Directory {
                open.push(below);
            }
        }
    }
    said
}

pub(super) fn read(file: &dyn File) -> String {
    let mut buffer = vec![0; 100_000];
    let count = file.read_at(&mut buffer, 0).unwrap();
    String::from_utf8_lossy(&buffer[..count]).into_owned()
}

fn content(tree: &dyn FileSystem, at: &[u8]) -> String {
    match tree.open(at, Access { read: true, ..Access::default() }).unwrap() {
        Node::File(file) => read(&*file),
        other => panic!("{other:?}"),
    }
}

fn keep(tree: &dyn FileSystem, at: &str) -> Option<Arc<dyn File>> {
    match tree.open(at.as_bytes(), Access { read: true, ..Access::default() }) {
        Ok(Node::File(file)) => Some(file),
        _ => None,
    }
}

fn same(steps: &[Step], on_host: bool) {
    let folders = tempfile::tempdir().unwrap();
    let model = MemoryTree::new(unlimited(), clock());
    let mut count = 0;
    let mut next = || {
        count += 1;
        upper(&folders.path().join(count.to_string()), on_host, &unlimited())
    };
    let mut layer = next();
    let mut lowers: Vec<Layer> = Vec::new();
    let mut tree = Some(OverlayFs::new(layer.clone(), Vec::new()).unwrap());
    let mut kept: Vec<(Arc<dyn File>, Arc<dyn File>)> = Vec::new();
    let mut linked = false;
    for step in steps {
        let now = tree.as_ref().unwrap();
        match step {
            // Files with several names lose them with the layer.
            Step::Freeze if linked || lowers.len() > 4 => {}
            Step::Freeze => {
                kept.clear();
                drop(tree.take());
                lowers.insert(0, std::mem::replace(&mut layer, next()).freeze().unwrap());
                layer.lie_on(&lowers).unwrap();
                tree = Some(OverlayFs::new(layer.clone(), lowers.clone()).unwrap());
            }
            Step::Keep(at) => match (keep(now, at), keep(&model, at)) {
                (Some(ours), Some(expected)) => kept.push((ours, expected)),
                (ours, expected) => assert_eq!(ours.is_some(), expected.is_some()),
            },
            _ => {
                linked |= matches!(step, Step::Link(..));
                assert_eq!(play(now, step), play(&model, step), "{step:?}");
            }
        }
    }
    assert_eq!(dump(&tree.unwrap()), dump(&model));
    for (ours, expected) in kept {
        assert_eq!(read(&*ours), read(&*expected));
        let shown = |file: &Arc<dyn File>| file.metadata().map(|found| (found.mode, found.size, found.links)).unwrap();
        assert_eq!(shown(&ours), shown(&expected));
    }
}

/// So many cases a round.
fn config(cases: u32) -> ProptestConfig {
    let cases = rounds() as u32 * cases;
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(1000))]
    #[test]
    fn overlays_in_memory_are_trees(steps in prop::collection::vec(step(), 1..80)) {
        same(&steps, false);
    }
}

proptest! {
    #![proptest_config(config(150))]
    #[test]
    fn overlays_on_the_host_are_trees(steps in prop::collection::vec(step(), 1..60)) {
        same(&steps, true);
    }
}
