//! A workspace on the host as a stack of layers that can be frozen, shared and gone back to.
//!
//! A workspace has a folder of its own (with the manifest `layers.json` and a lock), and its layers lie in a *pool*, a
//! folder that many workspaces share. Layers never move between states: what a layer is (frozen, or the one that is
//! written) only manifests say, and each operation counts from the rename that puts a new manifest in its place. A
//! process that is killed before that has changed nothing, one that is killed after it has done everything but removing
//! what nobody needs any more; [`collect`] does that later.
//!
//! Nothing may use the workspace while its layers change: no mount ([`Layers::mount`]) and no file opened through one.
//! The operations check this and fail with [`LayersError::Busy`].

mod error;
mod flatten;
mod lock;
mod manifest;
mod pool;

pub use error::LayersError;
pub use manifest::{Id, Snapshot};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::error::Failed;
use self::lock::Lock;
use self::manifest::Manifest;
use self::pool::{NEW, Pool, remove_folder};
use super::cuts::Cuts;
use super::layer::{DATA, Layer, Upper};
use super::{OverlayFs, marks};
use crate::sandbox::errno::Errno;
use crate::sandbox::vfs::host::HostFolder;
use crate::sandbox::vfs::quota::Quota;

/// From how many frozen layers on [`Layers::flatten`] is worth its time: a name that only the lowest layer has is
/// looked for in all, which takes about 2 µs in each.
pub const DEPTH_MAX: usize = 16;

/// The most frozen layers of a stack: the operation that adds another flattens.
const DEPTH_LIMIT: usize = 64;

/// A workspace's layers, locked for this handle.
#[derive(Debug)]
pub struct Layers {
    manifest: Manifest,
    pool: Pool,
    /// Of the frozen layers, the lowest first.
    cuts: Vec<Arc<Cuts>>,
    upper: Upper,
    _lock: Lock,
}

impl Layers {
    /// Makes a workspace in `root`, a new or empty folder, whose layers lie in `pool`; both must be on one file
    /// system. `base` is the folder that it begins with: it must not change as long as there is the workspace or a fork
    /// of it.
    pub fn create(root: &Path, pool: &Path, base: Option<&Path>) -> Result<Self, LayersError> {
        std::fs::create_dir_all(pool).failed("make", pool)?;
        let pool = pool.canonicalize().failed("find", pool)?;
        let base = match base {
            Some(base) => Some(base.canonicalize().failed("find", base)?),
            None => None,
        };
        let (root, lock) = new_root(root)?;
        let manifest = Manifest::new(root, pool, base)?;
        Self::start(manifest, lock, Vec::new())
    }

    /// Puts a new workspace's upper layer and manifest in their places.
    fn start(manifest: Manifest, lock: Lock, cuts: Vec<Arc<Cuts>>) -> Result<Self, LayersError> {
        let pool = Pool::new(manifest.pool.clone());
        let upper = make_upper(&pool, &manifest, &manifest.upper)?;
        manifest.write()?;
        Ok(Self { manifest, pool, cuts, upper, _lock: lock })
    }

    /// Makes a folder's content that of this new workspace, in one step. The folder must be on the pool's file system,
    /// and is gone then.
    pub fn adopt(&self, folder: &Path) -> Result<(), LayersError> {
        self.check_idle()?;
        let data = self.pool.layer(&self.manifest.upper).join(DATA);
        std::fs::rename(folder, &data).failed("take over", folder)
    }

    /// Opens the workspace in `root`.
    pub fn open(root: &Path) -> Result<Self, LayersError> {
        let Some(lock) = Lock::of_existing(root)? else {
            return Err(LayersError::NoWorkspace(root.to_owned()));
        };
        let manifest = Manifest::read(root)?.ok_or_else(|| LayersError::NoWorkspace(root.to_owned()))?;
        let now = root.canonicalize().failed("find", root)?;
        if now != manifest.root {
            return Err(LayersError::Moved { now, before: manifest.root });
        }
        for entry in std::fs::read_dir(&now).failed("read", &now)? {
            let entry = entry.failed("read", &now)?;
            if entry.file_name().as_encoded_bytes().starts_with(NEW.as_bytes()) {
                remove_folder(&entry.path())?;
            }
        }
        let pool = Pool::new(manifest.pool.clone());
        let cuts = manifest.layers.iter().map(|layer| load_cuts(&pool, layer)).collect::<Result<_, _>>()?;
        let upper = open_upper(&pool.layer(&manifest.upper))?;
        Ok(Self { manifest, pool, cuts, upper, _lock: lock })
    }

    /// The workspace as a tree. What it gains is charged to `quota`; `fixed_time` is shown in place of all times, as
    /// [`HostFolder::new`] says. Several mounts at once see the same files.
    pub fn mount(&self, quota: Arc<Quota>, fixed_time: Option<i64>) -> Result<OverlayFs, LayersError> {
        let path = self.pool.layer(&self.manifest.upper);
        let folder = HostFolder::new(&path, quota, fixed_time).failed("open", &path)?;
        let mut lowers = Vec::with_capacity(self.cuts.len() + 1);
        for (layer, cuts) in self.manifest.layers.iter().zip(&self.cuts).rev() {
            let path = self.pool.layer(layer);
            let folder = folder.beside(&path, Arc::new(Quota::unlimited())).failed("open", &path)?;
            lowers.push(Layer::with_cuts(Arc::new(folder), Arc::clone(cuts)).failed("open", &path)?);
        }
        if let Some(base) = &self.manifest.base {
            let folder = folder.beside(base, Arc::new(Quota::unlimited())).failed("open", base)?;
            lowers.push(Layer::plain(Arc::new(folder)).failed("open", base)?);
        }
        let upper = self.upper.again(Arc::new(folder)).failed("open", &path)?;
        OverlayFs::new(upper, lowers).failed("open", &path)
    }

    /// How many frozen layers there are, without the base.
    pub fn depth(&self) -> usize {
        self.manifest.layers.len()
    }

    /// The snapshots, the oldest first.
    pub fn snapshots(&self) -> &[Snapshot] {
        &self.manifest.snapshots
    }

    /// Whether it is mounted nowhere.
    pub fn is_idle(&self) -> bool {
        self.upper.is_idle()
    }

    fn check_idle(&self) -> Result<(), LayersError> {
        if self.is_idle() { Ok(()) } else { Err(LayersError::Busy(self.manifest.root.clone())) }
    }

    /// Keeps the present state, so that [`Layers::rollback`] can come back to it.
    pub fn snapshot(&mut self) -> Result<Id, LayersError> {
        let mut next = self.manifest.clone();
        let id = Id::new()?;
        self.freeze(&mut next, |next| {
            next.snapshots.push(Snapshot { id: id.clone(), layers: next.layers.clone() });
        })?;
        Ok(id)
    }

    /// Makes the present state of frozen layers only, in `next`, lets `complete` change that, and puts it in place.
    fn freeze(&mut self, next: &mut Manifest, complete: impl FnOnce(&mut Manifest)) -> Result<(), LayersError> {
        self.check_idle()?;
        if self.is_unchanged()? {
            complete(next);
            next.write()?;
            self.manifest = next.clone();
            return Ok(());
        }
        next.layers.push(next.upper.clone());
        next.upper = Id::new()?;
        complete(next);
        let upper = make_upper(&self.pool, next, &next.upper)?;
        next.write()?;
        let frozen = std::mem::replace(&mut self.upper, upper);
        self.manifest = next.clone();
        self.cuts.push(frozen.cuts());
        if self.depth() > DEPTH_LIMIT {
            // A stack that could not be made one layer, for want of room, works all the same; the next time may do it.
            let _ = self.flatten();
        }
        Ok(())
    }

    /// Whether the upper layer shows nothing that the layers below it do not.
    fn is_unchanged(&self) -> Result<bool, LayersError> {
        let Some(below) = self.top() else { return Ok(false) };
        let data = self.pool.layer(&self.manifest.upper).join(DATA);
        // Guests may forbid it.
        let Ok(mut entries) = std::fs::read_dir(&data) else { return Ok(false) };
        let mode = |path: &Path| {
            std::fs::metadata(path).map(|found| std::os::unix::fs::MetadataExt::mode(&found)).failed("look at", path)
        };
        Ok(entries.next().is_none() && !self.upper.has_cuts() && mode(&data)? == mode(&below)?)
    }

    /// The folder of the uppermost layer below the one that is written.
    fn top(&self) -> Option<PathBuf> {
        root_below(&self.pool, &self.manifest)
    }

    /// Makes another workspace in `root`, a new or empty folder, with the same content, in a time that does not depend
    /// on how much that is. The two share all layers that there are now; what changes in one does not show in the
    /// other. The fork has no snapshots.
    pub fn fork(&mut self, root: &Path) -> Result<Self, LayersError> {
        self.check_idle()?;
        let (root, lock) = new_root(root)?;
        self.freeze(&mut self.manifest.clone(), |_| {})?;
        let Manifest { pool, base, layers, .. } = self.manifest.clone();
        let manifest = Manifest { layers, ..Manifest::new(root.clone(), pool, base)? };
        let entered = manifest.layers.iter().try_for_each(|layer| self.pool.enter(layer, &manifest));
        // What a fork that failed leaves in the pool, `collect` finds.
        entered
            .and_then(|()| Self::start(manifest, lock, self.cuts.clone()))
            .inspect_err(|_| drop(remove_folder(&root)))
    }

    /// Goes back to a snapshot: what has changed since is gone, and so are the later snapshots. This one stays.
    pub fn rollback(&mut self, snapshot: &Id) -> Result<(), LayersError> {
        self.check_idle()?;
        let mut next = self.manifest.clone();
        let position = next.snapshots.iter().position(|known| known.id == *snapshot);
        let position = position.ok_or_else(|| LayersError::NoSnapshot(snapshot.clone()))?;
        next.snapshots.truncate(position + 1);
        if let Some(snapshot) = next.snapshots.last() {
            next.layers.clone_from(&snapshot.layers);
        }
        next.upper = Id::new()?;
        let cuts = next.layers.iter().map(|layer| load_cuts(&self.pool, layer)).collect::<Result<_, _>>()?;
        let upper = make_upper(&self.pool, &next, &next.upper)?;
        next.write()?;
        (self.cuts, self.upper) = (cuts, upper);
        self.replace_manifest(next)
    }

    /// Forgets a snapshot; what only it needs is removed.
    pub fn forget(&mut self, snapshot: &Id) -> Result<(), LayersError> {
        let mut next = self.manifest.clone();
        next.snapshots.retain(|known| known.id != *snapshot);
        if next.snapshots.len() == self.manifest.snapshots.len() {
            return Err(LayersError::NoSnapshot(snapshot.clone()));
        }
        next.write()?;
        self.replace_manifest(next)
    }

    /// Takes over a manifest that is in place, and leaves the layers that it does not need.
    fn replace_manifest(&mut self, next: Manifest) -> Result<(), LayersError> {
        let before = std::mem::replace(&mut self.manifest, next);
        let needed = self.manifest.all_layers();
        for layer in before.all_layers() {
            if !needed.contains(layer) {
                self.pool.leave(layer, &self.manifest.id)?;
            }
        }
        Ok(())
    }

    /// Removes the workspace and the layers that no other needs.
    pub fn remove(self) -> Result<(), LayersError> {
        self.check_idle()?;
        self.manifest.remove()?;
        for layer in self.manifest.all_layers() {
            self.pool.leave(layer, &self.manifest.id)?;
        }
        remove_folder(&self.manifest.root)
    }
}

/// Removes what killed processes have left in a pool: layers that no workspace needs. Workspaces may be used
/// meanwhile. Answers how many layers are gone.
pub fn collect(pool: &Path) -> Result<usize, LayersError> {
    Pool::new(pool.canonicalize().failed("find", pool)?).collect()
}

/// Makes and locks the folder of a workspace.
fn new_root(root: &Path) -> Result<(PathBuf, Lock), LayersError> {
    std::fs::create_dir_all(root).failed("make", root)?;
    let root = root.canonicalize().failed("find", root)?;
    if std::fs::read_dir(&root).failed("read", &root)?.next().is_some() {
        return Err(LayersError::Exists(root));
    }
    let lock = Lock::new(&root)?;
    Ok((root, lock))
}

/// The directory whose attributes the root of a new upper layer gets.
fn root_below(pool: &Pool, manifest: &Manifest) -> Option<PathBuf> {
    let layer = manifest.layers.last().map(|layer| pool.layer(layer).join(DATA));
    layer.or_else(|| manifest.base.clone())
}

/// Makes an empty layer and puts it into the pool.
fn make_upper(pool: &Pool, manifest: &Manifest, id: &Id) -> Result<Upper, LayersError> {
    let new = pool.begin(id, manifest)?;
    if let Some(below) = root_below(pool, manifest) {
        copy_attributes(&below, &new.join(DATA)).failed("copy the mode of", &below)?;
    }
    pool.finish(id, &new)?;
    open_upper(&pool.layer(id))
}

/// Gives a folder the mode and times of another.
fn copy_attributes(from: &Path, to: &Path) -> std::io::Result<()> {
    let metadata = std::fs::metadata(from)?;
    let times = std::fs::FileTimes::new().set_accessed(metadata.accessed()?).set_modified(metadata.modified()?);
    std::fs::File::open(to)?.set_times(times)?;
    std::fs::set_permissions(to, metadata.permissions())
}

fn open_upper(path: &Path) -> Result<Upper, LayersError> {
    let folder = HostFolder::new(path, Arc::new(Quota::unlimited()), None).failed("open", path)?;
    Upper::open(Arc::new(folder)).failed("open", path)
}

fn load_cuts(pool: &Pool, layer: &Id) -> Result<Arc<Cuts>, LayersError> {
    let path = pool.layer(layer);
    let folder = HostFolder::new(&path, Arc::new(Quota::unlimited()), None).failed("open", &path)?;
    Ok(Arc::new(marks::load(&folder).failed("open", &path)?.0))
}
