//! The process is killed before each single change of the upper layer, and in the middle of each append; what the next
//! process finds is the old state or the new one.

use std::sync::atomic::{AtomicI64, Ordering};

use super::property::dump;
use super::*;

/// Counts down the changes that are still made. At 0 the process is dead.
#[derive(Clone, Debug)]
struct Life(Arc<AtomicI64>);

impl Life {
    fn new(changes: i64) -> Self {
        Self(Arc::new(AtomicI64::new(changes)))
    }

    fn change(&self) -> Result<()> {
        if self.0.fetch_sub(1, Ordering::Relaxed) > 0 { Ok(()) } else { Err(Errno::Io) }
    }

    fn look(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) >= 0 { Ok(()) } else { Err(Errno::Io) }
    }

    fn made(&self, of: i64) -> i64 {
        of - self.0.load(Ordering::Relaxed)
    }
}

/// A folder whose process dies.
#[derive(Debug)]
struct Mortal<T: ?Sized> {
    life: Life,
    inner: Arc<T>,
}

impl Mortal<dyn FileSystem> {
    fn file(&self, file: Arc<dyn File>) -> Arc<dyn File> {
        Arc::new(Mortal { life: self.life.clone(), inner: file })
    }
}

impl FileSystem for Mortal<dyn FileSystem> {
    fn metadata(&self, path: &[u8]) -> Result<Metadata> {
        self.life.look()?;
        self.inner.metadata(path)
    }
    fn open(&self, path: &[u8], access: Access) -> Result<Node> {
        if access.truncate { self.life.change() } else { self.life.look() }?;
        Ok(match self.inner.open(path, access)? {
            Node::File(file) => Node::File(self.file(file)),
            node => node,
        })
    }
    fn create(&self, path: &[u8], mode: u32, access: Access) -> Result<Arc<dyn File>> {
        self.life.change()?;
        Ok(self.file(self.inner.create(path, mode, access)?))
    }
    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>> {
        self.life.look()?;
        self.inner.read_link(path)
    }
    fn read_dir(&self, path: &[u8]) -> Result<Vec<DirEntry>> {
        self.life.look()?;
        self.inner.read_dir(path)
    }
    fn make_dir(&self, path: &[u8], mode: u32) -> Result<()> {
        self.life.change()?;
        self.inner.make_dir(path, mode)
    }
    fn make_fifo(&self, path: &[u8], mode: u32) -> Result<()> {
        self.life.change()?;
        self.inner.make_fifo(path, mode)
    }
    fn symlink(&self, target: &[u8], path: &[u8]) -> Result<()> {
        self.life.change()?;
        self.inner.symlink(target, path)
    }
    fn link(&self, path: &[u8], new: &[u8]) -> Result<()> {
        self.life.change()?;
        self.inner.link(path, new)
    }
    fn unlink(&self, path: &[u8]) -> Result<()> {
        self.life.change()?;
        self.inner.unlink(path)
    }
    fn remove_dir(&self, path: &[u8]) -> Result<()> {
        self.life.change()?;
        self.inner.remove_dir(path)
    }
    fn rename(&self, path: &[u8], new: &[u8]) -> Result<()> {
        self.life.change()?;
        self.inner.rename(path, new)
    }
    fn set_times(&self, path: &[u8], accessed: SetTime, modified: SetTime) -> Result<()> {
        self.life.change()?;
        self.inner.set_times(path, accessed, modified)
    }
    fn set_mode(&self, path: &[u8], mode: u32) -> Result<()> {
        self.life.change()?;
        self.inner.set_mode(path, mode)
    }
}

impl File for Mortal<dyn File> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        self.life.look()?;
        self.inner.read_at(buffer, offset)
    }
    fn write_at(&self, data: &[u8], offset: u64) -> Result<usize> {
        self.life.change()?;
        self.inner.write_at(data, offset)
    }
    fn append(&self, data: &[u8]) -> Result<(usize, u64)> {
        if self.life.change().is_err() {
            // Death in the middle: only once.
            if self.life.0.load(Ordering::Relaxed) == -1 {
                self.inner.append(&data[..data.len() / 2])?;
            }
            return Err(Errno::Io);
        }
        self.inner.append(data)
    }
    fn metadata(&self) -> Result<Metadata> {
        self.life.look()?;
        self.inner.metadata()
    }
    fn set_len(&self, length: u64) -> Result<()> {
        self.life.change()?;
        self.inner.set_len(length)
    }
    fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()> {
        self.life.change()?;
        self.inner.set_times(accessed, modified)
    }
    fn set_mode(&self, mode: u32) -> Result<()> {
        self.life.change()?;
        self.inner.set_mode(mode)
    }
    fn sync(&self, data_only: bool) -> Result<()> {
        self.inner.sync(data_only)
    }
}

/// The lower layers: `two` of them, so that marks of a lower layer are there too.
fn lowers() -> Vec<Layer> {
    let base = lower(|tree| {
        for at in ["dir/one", "dir/two", "dir/sub/deep/file", "file", "other", "hidden", "gone/x"] {
            tree.add_file(at, format!("lower {at}"), 0o644).unwrap();
        }
        tree.add_symlink("link", "file").unwrap();
        tree.add_dir("empty", 0o755).unwrap();
        tree.add_dir("bare/inner", 0o755).unwrap();
    });
    let middle = Upper::in_memory(unlimited(), clock()).unwrap();
    {
        let tree = OverlayFs::new(middle.clone(), vec![base.clone()]).unwrap();
        tree.unlink(b"hidden").unwrap();
        tree.unlink(b"gone/x").unwrap();
        tree.rename(b"dir/two", b"dir/three").unwrap();
    }
    vec![middle.freeze().unwrap(), base]
}

/// What has happened in the upper layer before.
fn prepare(tree: &OverlayFs) {
    let read = Access { read: true, ..Access::default() };
    let write = |at: &str| {
        let file = tree.create(at.as_bytes(), 0o600, read).unwrap();
        file.set_times(SetTime::At(1), SetTime::At(1)).unwrap();
    };
    tree.make_dir(b"mine", 0o755).unwrap();
    tree.make_dir(b"mine/inner", 0o755).unwrap();
    write("mine/inner/file");
    write("new");
    let node = tree.open(b"other", Access { read: true, write: true, truncate: false }).unwrap();
    let Node::File(file) = node else { panic!() };
    file.write_at(b"COPIED", 0).unwrap();
    tree.remove_dir(b"bare/inner").unwrap();
    tree.set_mode(b"dir/sub", 0o700).unwrap();
}

type Act = fn(&dyn FileSystem) -> Result<()>;

fn opened(tree: &dyn FileSystem, at: &[u8], truncate: bool) -> Result<()> {
    tree.open(at, Access { read: true, write: true, truncate }).map(drop)
}

const ACTS: &[(&str, Act)] = &[
    ("open for writing", |tree| opened(tree, b"dir/sub/deep/file", false)),
    ("open and cut", |tree| opened(tree, b"dir/sub/deep/file", true)),
    ("mode of a file", |tree| tree.set_mode(b"dir/sub/deep/file", 0o711)),
    ("mode of a directory", |tree| tree.set_mode(b"dir/sub/deep", 0o711)),
    ("times of a link", |tree| tree.set_times(b"link", SetTime::At(5), SetTime::At(6))),
    ("create deep", |tree| tree.create(b"dir/sub/deep/new", 0o644, Access::default()).map(drop)),
    ("create where one was removed", |tree| tree.create(b"hidden", 0o644, Access::default()).map(drop)),
    ("create again", |tree| tree.create(b"bare/inner", 0o644, Access::default()).map(drop)),
    ("make a directory where one was removed", |tree| tree.make_dir(b"bare/inner", 0o755)),
    ("make a directory", |tree| tree.make_dir(b"dir/sub/deep/d", 0o755)),
    ("symlink", |tree| tree.symlink(b"x", b"dir/sub/deep/l")),
    ("fifo", |tree| tree.make_fifo(b"dir/sub/deep/p", 0o644)),
    ("link", |tree| tree.link(b"dir/one", b"dir/sub/deep/second")),
    ("unlink of a lower file", |tree| tree.unlink(b"dir/one")),
    ("unlink of a deep lower file", |tree| tree.unlink(b"dir/sub/deep/file")),
    ("unlink of a copied file", |tree| tree.unlink(b"other")),
    ("unlink of a new file", |tree| tree.unlink(b"new")),
    ("unlink of a link", |tree| tree.unlink(b"link")),
    ("remove a lower directory", |tree| tree.remove_dir(b"empty")),
    ("remove a merged directory", |tree| tree.remove_dir(b"bare")),
    ("remove a directory emptied below", |tree| tree.remove_dir(b"gone")),
    ("rename of a lower file", |tree| tree.rename(b"file", b"dir/sub/deep/renamed")),
    ("rename of a lower file over a lower one", |tree| tree.rename(b"file", b"dir/one")),
    ("rename of a lower file over a copied one", |tree| tree.rename(b"file", b"other")),
    ("rename of a lower file over a new one", |tree| tree.rename(b"file", b"new")),
    ("rename of a new file over a lower one", |tree| tree.rename(b"new", b"file")),
    ("rename of a copied file over a lower one", |tree| tree.rename(b"other", b"dir/sub/deep/file")),
    ("rename of a copied file", |tree| tree.rename(b"other", b"another")),
    ("rename of a lower link", |tree| tree.rename(b"link", b"dir/link")),
    ("rename to where a lower file was", |tree| tree.rename(b"new", b"hidden")),
    ("rename of a new directory", |tree| tree.rename(b"mine", b"dir/sub/deep/mine")),
    ("rename of a new directory over a lower one", |tree| tree.rename(b"mine", b"empty")),
    ("rename of a new directory over a merged one", |tree| tree.rename(b"mine", b"bare")),
    ("rename of a lower directory", |tree| tree.rename(b"dir", b"mine/dir")),
    ("rename of a lower directory over a lower one", |tree| tree.rename(b"dir", b"empty")),
    ("rename of an emptied directory over a merged one", |tree| tree.rename(b"gone", b"bare")),
    ("rename of a new directory to where one was", |tree| tree.rename(b"mine", b"bare/inner")),
];

/// Everything that shows, with the times of files.
fn state(tree: &dyn FileSystem) -> String {
    let mut said = dump(tree);
    for at in ["dir/one", "dir/sub/deep/file", "file", "other", "new", "dir/sub/deep/renamed", "mine/inner/file"] {
        let times = tree.metadata(at.as_bytes()).map(|found| found.modified);
        // Those that the acts set to the present are compared by content.
        said += &format!("{at} {:?}\n", times.map(|time| if time > 1_600_000_000_000_000_000 { 0 } else { time }));
    }
    said
}

/// Prepares a folder, then plays the act in a process that may make so many changes. Answers how many it made, what
/// it said, and what the next process finds; then also what is found when the act is played again.
fn run(act: Act, changes: i64) -> (i64, Result<()>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let lowers = lowers();
    let first = upper(folder.path(), true, &unlimited());
    prepare(&OverlayFs::new(first, lowers.clone()).unwrap());
    let host = Arc::new(HostFolder::new(folder.path(), unlimited(), None).unwrap());
    let life = Life::new(i64::MAX);
    let mortal: Mortal<dyn FileSystem> = Mortal { life: life.clone(), inner: host };
    let tree = OverlayFs::new(Upper::open(Arc::new(mortal)).unwrap(), lowers.clone()).unwrap();
    life.0.store(changes, Ordering::Relaxed);
    let answer = act(&tree);
    let made = life.made(changes);
    drop(tree);
    let next = OverlayFs::new(open_upper(folder.path(), &unlimited()), lowers.clone()).unwrap();
    let found = state(&next);
    assert_eq!(std::fs::read_dir(folder.path().join("work")).unwrap().count(), 0);
    let _ = act(&next);
    (made, answer, found, state(&next))
}

#[test]
fn a_killed_process_leaves_the_old_state_or_the_new_one() {
    for (name, act) in ACTS {
        let (all, answer, new, _) = run(*act, 1_000_000);
        assert_eq!(answer, Ok(()), "{name}");
        assert!(all >= 1, "{name} changed nothing");
        let (_, answer, old, again) = run(*act, 0);
        assert_eq!((answer, &again), (Err(Errno::Io), &new), "{name}");
        for changes in 1..all {
            let (_, answer, found, again) = run(*act, changes);
            assert!(found == old || found == new, "{name} after {changes} of {all}: {answer:?}\n{found}\n---\n{old}");
            // Whatever the crash left, the act can be played on it, unless it was done.
            assert!(found == new || again == new, "{name} again, after {changes} of {all}:\n{again}\n---\n{new}");
        }
    }
}
