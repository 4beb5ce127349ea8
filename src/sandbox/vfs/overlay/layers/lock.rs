//! One process at a time changes a workspace.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use super::{Failed, LayersError};

const NAME: &str = "lock";

/// A lock of a workspace's folder, held until it is dropped or the process ends.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Locks a folder. `InUse` when another has, in this process or in another.
    pub(super) fn new(root: &Path) -> Result<Self, LayersError> {
        let path = root.join(NAME);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).failed("open", &path)?;
        Self::take(file, root)
    }

    /// Locks a workspace's folder, unless there is none.
    pub(super) fn of_existing(root: &Path) -> Result<Option<Self>, LayersError> {
        let path = root.join(NAME);
        match OpenOptions::new().write(true).open(&path) {
            Ok(file) => Self::take(file, root).map(Some),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(error).failed("open", &path),
        }
    }

    fn take(file: File, root: &Path) -> Result<Self, LayersError> {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { _file: file }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(LayersError::InUse(root.to_owned())),
            Err(error) => Err(std::io::Error::from(error)).failed("lock", root),
        }
    }
}
