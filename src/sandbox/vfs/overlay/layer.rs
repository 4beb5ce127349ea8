//! The layers of a stack: one that is written, and those below it that are only read.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::cuts::Cuts;
use super::file::Readers;
use super::marks::{Log, load};
use crate::sandbox::clock::Clock;
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::vfs::file_system::{FileSystem, SetTime};
use crate::sandbox::vfs::memory::MemoryTree;
use crate::sandbox::vfs::quota::Quota;

/// The directory of a layer that holds what guests see.
pub(super) const DATA: &str = "data";

/// The directory of a layer in which files lie before they are whole. Guests do not see it.
pub(super) const WORK: &str = "work";

/// A layer that is only read. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Layer {
    tree: Arc<dyn FileSystem>,
    /// Whether what guests see lies in the tree's [`DATA`]; else it is the whole tree.
    pub(super) framed: bool,
    pub(super) cuts: Arc<Cuts>,
    pub(super) device: u64,
    /// What its cuts cost, when they lie in memory.
    _held: Option<Arc<Held>>,
}

impl Layer {
    /// A whole tree, which hides nothing of what lies below it: the lowest layer of a stack. Nobody may change it
    /// while it is part of one.
    pub fn plain(tree: Arc<dyn FileSystem>) -> Result<Self> {
        let device = tree.metadata(b"")?.device;
        Ok(Self { tree, framed: false, cuts: Arc::default(), device, _held: None })
    }

    /// A layer that was an upper layer once, with its marks. Nobody may change it any more.
    #[cfg(test)]
    pub fn frozen(tree: Arc<dyn FileSystem>) -> Result<Self> {
        let (cuts, _) = load(&*tree)?;
        Self::with_cuts(tree, Arc::new(cuts))
    }

    /// The same with marks that have been read before.
    pub(super) fn with_cuts(tree: Arc<dyn FileSystem>, cuts: Arc<Cuts>) -> Result<Self> {
        let device = tree.metadata(DATA.as_bytes())?.device;
        Ok(Self { tree, framed: true, cuts, device, _held: None })
    }

    pub(super) fn tree(&self) -> &dyn FileSystem {
        &*self.tree
    }
}

/// The layer that is written. A clone is the same layer.
#[derive(Clone, Debug)]
pub struct Upper {
    pub(super) tree: Arc<dyn FileSystem>,
    /// None for a layer in memory, whose marks need no file.
    pub(super) log: Option<Arc<Log>>,
    pub(super) shared: Arc<Shared>,
}

impl Upper {
    /// An empty layer in memory whose root has mode 755.
    pub fn in_memory(quota: Arc<Quota>, clock: Arc<Clock>) -> Result<Self> {
        let tree = MemoryTree::new(Arc::clone(&quota), clock);
        tree.add_dir(DATA, 0o755)?;
        tree.add_dir(WORK, 0o700)?;
        let held = Held { quota, count: AtomicU64::new(0) };
        let shared = Shared { held: Some(Arc::new(held)), ..Shared::default() };
        Ok(Self { tree: Arc::new(tree), log: None, shared: Arc::new(shared) })
    }

    /// The layer that `tree` holds, a folder with the directories `data` and `work`. What a crash has left of
    /// unfinished work is removed. There must be no other upper layer of this folder: two do not see each other's
    /// marks. [`Upper::again`] makes handles that do.
    pub fn open(tree: Arc<dyn FileSystem>) -> Result<Self> {
        let (cuts, length) = load(&*tree)?;
        let log = Log::open(&*tree)?;
        log.repair(length)?;
        for entry in tree.read_dir(WORK.as_bytes())? {
            tree.unlink(&super::join(WORK.as_bytes(), &entry.name))?;
        }
        let state = State { cuts, ..State::default() };
        let shared = Shared { state: RwLock::new(state), ..Shared::default() };
        Ok(Self { tree, log: Some(Arc::new(log)), shared: Arc::new(shared) })
    }

    /// Gives the root of this new layer the mode and times that the root of the layers below has.
    pub fn lie_on(&self, lowers: &[Layer]) -> Result<()> {
        let Some(top) = lowers.first() else { return Ok(()) };
        let root = top.tree.metadata(if top.framed { DATA.as_bytes() } else { b"" })?;
        self.tree.set_mode(DATA.as_bytes(), root.mode)?;
        self.tree.set_times(DATA.as_bytes(), SetTime::At(root.accessed), SetTime::At(root.modified))
    }

    /// The same layer through another handle of its folder, which has its own account.
    pub fn again(&self, tree: Arc<dyn FileSystem>) -> Result<Self> {
        let log = match &self.log {
            Some(_) => Some(Arc::new(Log::open(&*tree)?)),
            None => return Err(Errno::Invalid),
        };
        Ok(Self { tree, log, shared: Arc::clone(&self.shared) })
    }

    /// Makes a layer of it that others can lie on. `Busy` while anything else uses it: another handle, a mount, an
    /// open file.
    pub fn freeze(self) -> Result<Layer> {
        let Self { tree, shared, .. } = self;
        let shared = Arc::try_unwrap(shared).map_err(|_| Errno::Busy)?;
        let state = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Layer { _held: shared.held, ..Layer::with_cuts(tree, Arc::new(state.cuts))? })
    }

    /// The marks as they are now.
    pub(super) fn cuts(&self) -> Arc<Cuts> {
        Arc::new(self.shared.state().cuts.clone())
    }

    /// Whether the layer hides anything.
    pub(super) fn has_cuts(&self) -> bool {
        self.shared.state().cuts.count() > 0
    }

    /// Writes marks to the file of a new layer.
    pub(super) fn write_cuts(&self, cuts: &Cuts) -> Result<()> {
        let log = self.log.as_ref().ok_or(Errno::Invalid)?;
        cuts.paths().iter().try_for_each(|path| log.append(path))
    }

    /// Whether nothing but this handle uses the layer.
    pub fn is_idle(&self) -> bool {
        Arc::strong_count(&self.shared) == 1
    }
}

/// What all handles of an upper layer share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    state: RwLock<State>,
    copying: Mutex<()>,
    pub(super) readers: Readers,
    last_temporary: AtomicU64,
    /// What the cuts cost, when they lie in memory.
    pub(super) held: Option<Arc<Held>>,
}

/// What is held in memory of an upper layer. Whoever changes the layer's names holds it alone; whoever looks at more
/// than one layer holds it shared.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) cuts: Cuts,
    /// The numbers that copied files show, by those of the copies: the numbers they had before.
    pub(super) origins: HashMap<u64, u64>,
}

impl Shared {
    pub(super) fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state_mut(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held while a file is copied, which may take long: others may do anything else meanwhile. Taken before the
    /// state.
    pub(super) fn copying(&self) -> MutexGuard<'_, ()> {
        self.copying.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A name in [`WORK`] that no other file has.
    pub(super) fn temporary(&self) -> Vec<u8> {
        let number = self.last_temporary.fetch_add(1, Ordering::Relaxed);
        super::join(WORK.as_bytes(), number.to_string().as_bytes())
    }
}

/// The inodes that cuts in memory take, given back with the layer.
#[derive(Debug)]
pub(super) struct Held {
    quota: Arc<Quota>,
    count: AtomicU64,
}

impl Held {
    pub(super) fn add(&self, more: usize, less: usize) {
        self.count.fetch_add(more as u64, Ordering::Relaxed);
        self.count.fetch_sub(less as u64, Ordering::Relaxed);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        for _ in 0..self.count.load(Ordering::Relaxed) {
            self.quota.release_inode();
        }
    }
}
