//! Where the files of a workspace are: in a folder of the host, in a stack of layers, or in memory.
//!
//! A workspace on disk begins as a plain folder, `ROOT/NAME`. When it is snapshot or forked for the first time it
//! becomes a stack of layers below `ROOT/.layers`, which no command sees: what says whether it is one must not be
//! among the files that commands write.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::ExecutorError;
use super::super::folders::{self, make_private};
use crate::Limits;
use crate::sandbox::{
    Clock, Errno, FileSystem, HostFolder, Id, LAYERS_MAX, Layer, Layers, LayersError, LimitCounters, OverlayFs, Quota,
    Upper, collect_layers,
};

/// The folder of layers, in that of workspaces.
const LAYERS: &str = ".layers";
/// The folder that all stacks share, in that of layers.
const POOL: &str = ".pool";

/// Where a workspace's files are.
#[derive(Debug)]
pub(super) enum Storage {
    /// A folder of the host.
    Folder(PathBuf),
    /// Layers on the host.
    Layers(Box<Layers>),
    /// Layers in memory.
    Memory(Memory),
}

/// Layers in memory, and what can be gone back to.
#[derive(Debug)]
pub(super) struct Memory {
    upper: Upper,
    lowers: Vec<Layer>,
    snapshots: Vec<(String, Vec<Layer>)>,
    account: Account,
}

/// Who pays for files.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub quota: Arc<Quota>,
    pub counters: Arc<LimitCounters>,
}

impl Account {
    pub(super) fn new(limits: &Limits) -> Self {
        let counters = Arc::<LimitCounters>::default();
        let quota = Quota::new(limits.disk, limits.inodes, limits.file_size, Arc::clone(&counters));
        Self { quota: Arc::new(quota), counters }
    }
}

impl Memory {
    fn new(lowers: Vec<Layer>, account: Account) -> Result<Self, Errno> {
        let upper = Upper::in_memory(Arc::clone(&account.quota), Arc::new(Clock::real()))?;
        if !lowers.is_empty() {
            upper.lie_on(&lowers)?;
        }
        Ok(Self { upper, lowers, snapshots: Vec::new(), account })
    }

    /// Makes all of it layers that do not change, with an empty one on top.
    fn freeze(&mut self) -> Result<(), Errno> {
        let next = Self::new(Vec::new(), self.account.clone())?;
        let frozen = std::mem::replace(&mut self.upper, next.upper).freeze()?;
        self.lowers.insert(0, frozen);
        self.upper.lie_on(&self.lowers)
    }
}

impl Storage {
    /// An empty workspace in memory.
    pub(super) fn memory(account: Account) -> Result<Self, ExecutorError> {
        Memory::new(Vec::new(), account).map(Self::Memory).map_err(|error| in_memory(&error))
    }

    /// The workspace of this name on the host, made when it is not there.
    pub(super) fn on_host(root: &Path, name: &str) -> Result<Self, ExecutorError> {
        let (folder, stack) = (root.join(name), stack(root, name));
        if stack.is_dir() {
            let layers = Layers::open(&stack)?;
            if folder.is_dir() {
                // Ended between the two steps of becoming a stack.
                layers.adopt(&folder)?;
            }
            return Ok(Self::Layers(Box::new(layers)));
        }
        make_private(&folder).map_err(ExecutorError::io("cannot make the workspace", &folder))?;
        Ok(Self::Folder(folder))
    }

    /// Its files, as one tree.
    pub(super) fn mount(&self, account: &Account) -> Result<Arc<dyn FileSystem>, ExecutorError> {
        let quota = Arc::clone(&account.quota);
        Ok(match self {
            Self::Folder(folder) => Arc::new(
                HostFolder::new(folder, quota, None).map_err(ExecutorError::io("cannot open the workspace", folder))?,
            ),
            Self::Layers(layers) => Arc::new(layers.mount(quota, None)?),
            Self::Memory(memory) => {
                let upper = memory.upper.clone();
                Arc::new(OverlayFs::new(upper, memory.lowers.clone()).map_err(|error| in_memory(&error))?)
            }
        })
    }

    /// Whether nothing has its files mounted. Who has the files of a plain folder open does not matter.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Self::Folder(_) => true,
            Self::Layers(layers) => layers.is_idle(),
            Self::Memory(memory) => memory.upper.is_idle(),
        }
    }

    /// Keeps the present state, and answers the name to come back to it.
    pub(super) fn snapshot(&mut self, root: Option<&Path>, name: &str) -> Result<String, ExecutorError> {
        match self.stacked(root, name)? {
            Stacked::Host(layers) => Ok(layers.snapshot()?.to_string()),
            Stacked::Memory(memory) => {
                memory.freeze().map_err(|error| in_memory(&error))?;
                let id = format!("{:016x}", getrandom::u64().unwrap_or(memory.snapshots.len() as u64));
                memory.snapshots.push((id.clone(), memory.lowers.clone()));
                Ok(id)
            }
        }
    }

    /// Goes back to a snapshot.
    pub(super) fn rollback(&mut self, root: Option<&Path>, name: &str, snapshot: &str) -> Result<(), ExecutorError> {
        let unknown = || ExecutorError::NoSnapshot(snapshot.to_owned());
        match self.stacked(root, name)? {
            Stacked::Host(layers) => {
                let id = known(layers, snapshot)?;
                Ok(layers.rollback(&id)?)
            }
            Stacked::Memory(memory) => {
                let at = memory.snapshots.iter().position(|(known, _)| known == snapshot).ok_or_else(unknown)?;
                memory.snapshots.truncate(at + 1);
                let lowers = memory.snapshots[at].1.clone();
                let mut next = Memory::new(lowers, memory.account.clone()).map_err(|error| in_memory(&error))?;
                next.snapshots = std::mem::take(&mut memory.snapshots);
                *memory = next;
                Ok(())
            }
        }
    }

    /// Forgets a snapshot, and makes fewer layers of many.
    pub(super) fn forget(&mut self, root: Option<&Path>, name: &str, snapshot: &str) -> Result<(), ExecutorError> {
        match self.stacked(root, name)? {
            Stacked::Host(layers) => {
                let id = known(layers, snapshot)?;
                layers.forget(&id)?;
                if layers.depth() > LAYERS_MAX {
                    layers.flatten()?;
                }
            }
            Stacked::Memory(memory) => {
                let before = memory.snapshots.len();
                memory.snapshots.retain(|(known, _)| known != snapshot);
                if memory.snapshots.len() == before {
                    return Err(ExecutorError::NoSnapshot(snapshot.to_owned()));
                }
            }
        }
        Ok(())
    }

    /// Another workspace with the same content; `account` pays for what it gains.
    pub(super) fn fork(
        &mut self,
        root: Option<&Path>,
        name: &str,
        new: &str,
        account: Account,
    ) -> Result<Self, ExecutorError> {
        match self.stacked(root, name)? {
            Stacked::Host(layers) => {
                let root = root.unwrap_or(Path::new("."));
                Ok(Self::Layers(Box::new(layers.fork(&stack(root, new))?)))
            }
            Stacked::Memory(memory) => {
                memory.freeze().map_err(|error| in_memory(&error))?;
                let fork = Memory::new(memory.lowers.clone(), account).map_err(|error| in_memory(&error))?;
                Ok(Self::Memory(fork))
            }
        }
    }

    /// It as a stack of layers; a plain folder becomes one.
    fn stacked(&mut self, root: Option<&Path>, name: &str) -> Result<Stacked<'_>, ExecutorError> {
        if let (Self::Folder(folder), Some(root)) = (&*self, root) {
            let pool = root.join(LAYERS).join(POOL);
            make_private(&pool).map_err(ExecutorError::io("cannot make", &pool))?;
            let layers = Layers::create(&stack(root, name), &pool, None)?;
            layers.adopt(folder)?;
            *self = Self::Layers(Box::new(layers));
        }
        match self {
            Self::Layers(layers) => Ok(Stacked::Host(layers)),
            Self::Memory(memory) => Ok(Stacked::Memory(memory)),
            Self::Folder(folder) => Err(ExecutorError::NoWorkspace(folder.display().to_string())),
        }
    }
}

/// A stack of layers.
enum Stacked<'a> {
    Host(&'a mut Layers),
    Memory(&'a mut Memory),
}

/// Deletes a workspace on the host. One that is not there is deleted already.
pub(super) fn remove(root: &Path, name: &str) -> Result<(), ExecutorError> {
    let (folder, stack) = (root.join(name), stack(root, name));
    if stack.is_dir() {
        Layers::open(&stack)?.remove()?;
        // And what processes that were killed have left.
        collect_layers(&root.join(LAYERS).join(POOL))?;
    }
    folders::delete(&folder)
}

/// Whether there is a workspace of this name on the host.
pub(super) fn exists(root: &Path, name: &str) -> bool {
    root.join(name).symlink_metadata().is_ok() || stack(root, name).symlink_metadata().is_ok()
}

/// The snapshot of this name.
fn known(layers: &Layers, snapshot: &str) -> Result<Id, ExecutorError> {
    let found = layers.snapshots().iter().find(|known| known.id.to_string() == snapshot);
    found.map(|known| known.id.clone()).ok_or_else(|| ExecutorError::NoSnapshot(snapshot.to_owned()))
}

fn stack(root: &Path, name: &str) -> PathBuf {
    root.join(LAYERS).join(name)
}

fn in_memory(error: &Errno) -> ExecutorError {
    let reason = match error {
        Errno::Busy => "a command uses it".to_owned(),
        other => format!("{other:?}"),
    };
    super::super::FileError::Other { path: "the workspace".into(), reason }.into()
}

impl From<LayersError> for ExecutorError {
    fn from(error: LayersError) -> Self {
        match error {
            LayersError::InUse(place) | LayersError::Busy(place) => {
                Self::Busy(place.file_name().unwrap_or_default().to_string_lossy().into_owned())
            }
            error => Self::Layers(Box::new(error)),
        }
    }
}
