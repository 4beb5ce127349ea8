//! Why layers could not be used.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::manifest::Id;
use crate::sandbox::errno::Errno;

/// Why an operation on a workspace's layers failed.
#[derive(Debug, thiserror::Error)]
pub enum LayersError {
    /// The host refused something.
    #[error("cannot {action} `{path}`: {source}")]
    Io {
        /// What was to be done.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it could not be.
        source: std::io::Error,
    },
    /// A folder of a layer could not be removed.
    #[error("cannot remove `{path}`: {errno:?}")]
    Remove {
        /// The folder.
        path: PathBuf,
        /// The error of the file that is in the way.
        errno: Errno,
    },
    /// A layer could not be read or copied.
    #[error("cannot use the layer `{path}`: {errno:?}")]
    Layer {
        /// Its folder.
        path: PathBuf,
        /// Why.
        errno: Errno,
    },
    /// There are no random numbers.
    #[error("the system gives no random numbers")]
    Random,
    /// The manifest is broken.
    #[error("the workspace's manifest `{path}` cannot be used: {reason}")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// There is no workspace.
    #[error("there is no workspace in `{0}`")]
    NoWorkspace(PathBuf),
    /// There is one already, or another thing.
    #[error("`{0}` exists and is not empty; a workspace is made in a new folder")]
    Exists(PathBuf),
    /// Another process, or another part of this one, has opened the workspace.
    #[error("the workspace in `{0}` is in use by another process or handle")]
    InUse(PathBuf),
    /// A sandbox or an open file uses the workspace.
    #[error("the workspace in `{0}` is mounted in a sandbox, or a file in it is open; close it first")]
    Busy(PathBuf),
    /// A workspace was moved.
    #[error("the workspace in `{now}` was made in `{before}` and must stay there: its layers refer to that folder")]
    Moved {
        /// Where it is.
        now: PathBuf,
        /// Where it was made.
        before: PathBuf,
    },
    /// The pool is on another file system.
    #[error("the layers' folder `{pool}` must be on the file system of the workspace (`{root}`)")]
    OtherDevice {
        /// What lies in the workspace's folder.
        root: PathBuf,
        /// The layers' folder.
        pool: PathBuf,
    },
    /// No snapshot has this name.
    #[error("the workspace has no snapshot `{0}`")]
    NoSnapshot(Id),
}

impl LayersError {
    /// Whether a file or folder was missing.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NoWorkspace(_) | Self::NoSnapshot(_))
            || matches!(self, Self::Io { source, .. } if source.kind() == ErrorKind::NotFound)
    }
}

/// Says what failed with which file.
pub(super) trait Failed<T> {
    fn failed(self, action: &'static str, path: &Path) -> Result<T, LayersError>;
}

impl<T> Failed<T> for std::io::Result<T> {
    fn failed(self, action: &'static str, path: &Path) -> Result<T, LayersError> {
        self.map_err(|source| LayersError::Io { action, path: path.to_owned(), source })
    }
}

impl<T> Failed<T> for Result<T, Errno> {
    fn failed(self, _action: &'static str, path: &Path) -> Result<T, LayersError> {
        self.map_err(|errno| LayersError::Layer { path: path.to_owned(), errno })
    }
}
