//! The folder in which the layers of many workspaces lie.
//!
//! Each layer is a folder with a name of its own. In its `users/` there is a file for each workspace that needs it,
//! whose name is the workspace's and whose content is the path of the workspace's folder. A layer appears in the pool
//! by a rename, with its first user in it; nobody adds a user but a workspace that is one (for its fork), and that
//! holds its own lock meanwhile. So a layer without users can never get one again, and can be removed without any
//! lock of the pool.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::lock::Lock;
use super::manifest::{Id, Manifest};
use super::{Failed, LayersError};
use crate::sandbox::vfs::host::HostFolder;
use crate::sandbox::vfs::overlay::layer::{DATA, WORK};
use crate::sandbox::vfs::quota::Quota;
use crate::sandbox::vfs::tree::remove_tree;

const USERS: &str = "users";

/// How the names of layers begin that are being removed.
const TRASH: &str = "trash-";

/// How the names of layers begin that lie in a workspace's folder until they are complete.
pub(super) const NEW: &str = "new-";

/// The layers' folder.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    path: PathBuf,
}

impl Pool {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// A layer's folder.
    pub(super) fn layer(&self, id: &Id) -> PathBuf {
        self.path.join(id.as_str())
    }

    fn user(&self, layer: &Id, workspace: &Id) -> PathBuf {
        self.layer(layer).join(USERS).join(workspace.as_str())
    }

    /// Begins a new layer in the workspace's folder.
    pub(super) fn begin(&self, id: &Id, manifest: &Manifest) -> Result<PathBuf, LayersError> {
        let new = manifest.root.join(format!("{NEW}{id}"));
        for part in [DATA, WORK, USERS] {
            let path = new.join(part);
            fs::create_dir_all(&path).failed("make", &path)?;
        }
        let user = new.join(USERS).join(manifest.id.as_str());
        fs::write(&user, manifest.root.as_os_str().as_bytes()).failed("write", &user)?;
        Ok(new)
    }

    /// Puts a new layer into the pool.
    pub(super) fn finish(&self, id: &Id, new: &Path) -> Result<(), LayersError> {
        match fs::rename(new, self.layer(id)) {
            Err(error) if error.kind() == ErrorKind::CrossesDevices => {
                Err(LayersError::OtherDevice { root: new.to_owned(), pool: self.path.clone() })
            }
            result => result.failed("rename", new),
        }
    }

    /// Enters a workspace as a user of a layer that another uses, which holds its lock.
    pub(super) fn enter(&self, layer: &Id, manifest: &Manifest) -> Result<(), LayersError> {
        let user = self.user(layer, &manifest.id);
        fs::write(&user, manifest.root.as_os_str().as_bytes()).failed("write", &user)
    }

    /// Takes a workspace out of the users of a layer, and removes the layer after its last.
    pub(super) fn leave(&self, layer: &Id, workspace: &Id) -> Result<(), LayersError> {
        let user = self.user(layer, workspace);
        absent_is_fine(fs::remove_file(&user)).failed("remove", &user)?;
        self.remove_unused(layer.as_str().as_ref())
    }

    /// Removes a layer without users.
    fn remove_unused(&self, layer: &OsStr) -> Result<(), LayersError> {
        let users = self.path.join(layer).join(USERS);
        match fs::remove_dir(&users) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => return Ok(()),
            result => absent_is_fine(result).failed("remove", &users)?,
        }
        let mut trash = TRASH.to_owned().into_bytes();
        trash.extend_from_slice(layer.as_bytes());
        let (from, to) = (self.path.join(layer), self.path.join(OsStr::from_bytes(&trash)));
        match fs::rename(&from, &to) {
            // Another was faster.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            result => {
                result.failed("rename", &from)?;
                remove_folder(&to)
            }
        }
    }

    /// Removes what crashes have left. Answers how many layers.
    pub(super) fn collect(&self) -> Result<usize, LayersError> {
        let mut removed = 0;
        for entry in fs::read_dir(&self.path).failed("read", &self.path)? {
            let name = entry.failed("read", &self.path)?.file_name();
            if name.as_bytes().starts_with(TRASH.as_bytes()) {
                remove_folder(&self.path.join(&name))?;
                removed += 1;
                continue;
            }
            let Some(layer) = name.to_str().and_then(|name| Id::try_from(name.to_owned()).ok()) else { continue };
            let users = self.path.join(&name).join(USERS);
            for user in fs::read_dir(&users).into_iter().flatten() {
                let path = user.failed("read", &users)?.path();
                if !self.is_user(&path, &layer)? {
                    absent_is_fine(fs::remove_file(&path)).failed("remove", &path)?;
                }
            }
            self.remove_unused(&name)?;
            removed += usize::from(!self.path.join(&name).exists());
        }
        Ok(removed)
    }

    /// Whether a workspace that is entered as a user of a layer needs it. Who holds the workspace's lock may be about
    /// to write that in the manifest.
    fn is_user(&self, user: &Path, layer: &Id) -> Result<bool, LayersError> {
        let root = match fs::read(user) {
            Ok(root) => PathBuf::from(std::ffi::OsString::from_vec(root)),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            error => error.map(|_| PathBuf::new()).failed("read", user)?,
        };
        let _lock = match Lock::of_existing(&root) {
            Ok(Some(lock)) => lock,
            Ok(None) => return Ok(false),
            Err(LayersError::InUse(_)) => return Ok(true),
            Err(error) => return Err(error),
        };
        let manifest = Manifest::read(&root)?;
        let same = |manifest: &Manifest| user.file_name() == Some(OsStr::new(manifest.id.as_str()));
        Ok(manifest.is_some_and(|manifest| same(&manifest) && manifest.all_layers().contains(layer)))
    }
}

fn absent_is_fine(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Removes a folder of the host, whatever guests have put there.
pub(super) fn remove_folder(path: &Path) -> Result<(), LayersError> {
    let quota = Arc::new(Quota::unlimited());
    let folder = match HostFolder::new(path, quota, None) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        result => result.failed("open", path)?,
    };
    remove_tree(&folder, b"", u64::MAX).map_err(|errno| LayersError::Remove { path: path.to_owned(), errno })?;
    absent_is_fine(fs::remove_dir(path)).failed("remove", path)
}
