//! One host file as a tree of one file.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{self, FileType as HostType, Mode, OFlags, Stat};

use super::file::OpenHostFile;
use super::{Devices, Shared, key, open_flags, timestamps};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::vfs::file_system::{Access, DirEntry, File, FileSystem, Metadata, Node, SetTime};
use crate::sandbox::vfs::quota::Quota;

/// A tree whose root is one regular host file, to be mounted at a file's path.
#[derive(Debug)]
pub struct HostFile {
    path: PathBuf,
    shared: Arc<Shared>,
}

impl HostFile {
    /// The file at `path`, which the host may replace by a rename; links are followed, as the host's own. What is not
    /// a regular file is refused, now and at each use.
    ///
    /// When `fixed_time` is given (ns since 1970), it is shown in place of the file's times.
    pub fn new(path: &Path, quota: Arc<Quota>, fixed_time: Option<i64>) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let stat = fs::lstat(&path)?;
        if HostType::from_raw_mode(stat.st_mode) != HostType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let devices = Arc::new(Devices::new(&stat, fixed_time));
        Ok(Self { path, shared: Arc::new(Shared { quota, devices }) })
    }

    fn stat(&self, path: &[u8]) -> Result<Stat> {
        if !path.is_empty() {
            return Err(Errno::NotDirectory);
        }
        let stat = fs::lstat(&self.path)?;
        if HostType::from_raw_mode(stat.st_mode) != HostType::RegularFile {
            return Err(Errno::NoEntry);
        }
        Ok(stat)
    }

    fn open_file(&self, path: &[u8], access: Access) -> Result<OpenHostFile> {
        let _names = self.shared.quota.open().keep_names();
        self.stat(path)?;
        // Only the host can have put another thing there since.
        let flags = open_flags(access) | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = fs::open(&self.path, flags, Mode::empty())?;
        let stat = fs::fstat(&fd)?;
        if HostType::from_raw_mode(stat.st_mode) != HostType::RegularFile {
            return Err(Errno::NoEntry);
        }
        Ok(OpenHostFile::enter(fd, key(&stat), &self.shared))
    }
}

impl FileSystem for HostFile {
    fn metadata(&self, path: &[u8]) -> Result<Metadata> {
        Ok(self.shared.devices.metadata(&self.stat(path)?))
    }

    fn open(&self, path: &[u8], access: Access) -> Result<Node> {
        let file = self.open_file(path, access)?;
        if access.truncate {
            file.truncate()?;
        }
        Ok(Node::File(Arc::new(file)))
    }

    fn create(&self, path: &[u8], _mode: u32, _access: Access) -> Result<Arc<dyn File>> {
        Err(no_names(path, Errno::Exist))
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>> {
        Err(no_names(path, Errno::Invalid))
    }

    fn read_dir(&self, _path: &[u8]) -> Result<Vec<DirEntry>> {
        Err(Errno::NotDirectory)
    }

    fn make_dir(&self, path: &[u8], _mode: u32) -> Result<()> {
        Err(no_names(path, Errno::Exist))
    }

    fn make_fifo(&self, path: &[u8], _mode: u32) -> Result<()> {
        Err(no_names(path, Errno::Exist))
    }

    fn symlink(&self, _target: &[u8], path: &[u8]) -> Result<()> {
        Err(no_names(path, Errno::Exist))
    }

    fn link(&self, path: &[u8], _new: &[u8]) -> Result<()> {
        Err(no_names(path, Errno::Exist))
    }

    fn unlink(&self, path: &[u8]) -> Result<()> {
        Err(no_names(path, Errno::Busy))
    }

    fn remove_dir(&self, _path: &[u8]) -> Result<()> {
        Err(Errno::NotDirectory)
    }

    fn rename(&self, path: &[u8], _new: &[u8]) -> Result<()> {
        Err(no_names(path, Errno::Busy))
    }

    fn set_times(&self, path: &[u8], accessed: SetTime, modified: SetTime) -> Result<()> {
        self.stat(path)?;
        Ok(fs::utimensat(fs::CWD, &self.path, &timestamps(accessed, modified), fs::AtFlags::SYMLINK_NOFOLLOW)?)
    }

    fn set_mode(&self, path: &[u8], mode: u32) -> Result<()> {
        let file = self.open_file(path, Access { read: true, ..Access::default() })?;
        file.set_mode(mode)
    }

    fn quota(&self) -> Option<&Quota> {
        Some(&self.shared.quota)
    }
}

/// There is but the root, so nothing lies below it.
fn no_names(path: &[u8], at_root: Errno) -> Errno {
    if path.is_empty() { at_root } else { Errno::NotDirectory }
}
