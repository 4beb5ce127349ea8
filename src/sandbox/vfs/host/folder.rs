//! A host folder as a tree.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{self, AtFlags, Dir, FileType as HostType, Mode, OFlags, Stat};

use super::beneath::{Root, stat_at};
use super::file::OpenHostFile;
use super::{Devices, Shared, guest_type, host_umask, key, mode_bits, open_flags, timestamps};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::vfs::file_system::{Access, DirEntry, File, FileSystem, Metadata, Node, SetTime, Special};
use crate::sandbox::vfs::quota::Quota;

/// How a file is opened that is only held.
#[cfg(any(target_os = "linux", target_os = "android"))]
const HOLD: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const HOLD: OFlags = OFlags::NONBLOCK;

/// A host folder as a tree of files. What guests add to it is charged to the quota; what lies in it already is not.
pub struct HostFolder {
    root: Root,
    shared: Arc<Shared>,
}

impl HostFolder {
    /// The folder at `path`, which may be reached through links. It is held by a descriptor: moving it does not matter.
    ///
    /// When `fixed_time` is given (ns since 1970), it is shown in place of all times.
    pub fn new(path: &Path, quota: Arc<Quota>, fixed_time: Option<i64>) -> io::Result<Self> {
        let root = Root::new(path)?;
        let devices = Arc::new(Devices::new(&root.stat()?, fixed_time));
        Ok(Self { root, shared: Arc::new(Shared { quota, devices }) })
    }

    /// Another folder that shows the same device numbers and times: files on one host file system have different
    /// inode numbers then, in whichever of the two they lie.
    pub(in crate::sandbox::vfs) fn beside(&self, path: &Path, quota: Arc<Quota>) -> io::Result<Self> {
        let root = Root::new(path)?;
        Ok(Self { root, shared: Arc::new(Shared { quota, devices: Arc::clone(&self.shared.devices) }) })
    }

    fn quota(&self) -> &Quota {
        &self.shared.quota
    }

    /// Takes an inode for what `make` makes, and gives it back when that fails.
    fn with_inode<T>(&self, make: impl FnOnce() -> Result<T>) -> Result<T> {
        self.quota().charge_inode()?;
        let result = make();
        if result.is_err() {
            self.quota().release_inode();
        }
        result
    }

    /// Holds the file whose last name is about to go, as if it were open. Another holder may write and close it
    /// meanwhile: whoever lets go last sees its length as it is then.
    fn hold(&self, parent: BorrowedFd<'_>, name: &[u8], stat: &Stat) -> Option<OpenHostFile> {
        if HostType::from_raw_mode(stat.st_mode) != HostType::RegularFile || stat.st_nlink > 1 {
            return None;
        }
        let fd = fs::openat(parent, name, HOLD | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()?;
        Some(OpenHostFile::enter(fd, key(stat), &self.shared))
    }

    /// Gives back what a name took that has just gone, and with the last one the content, unless it is open.
    fn name_is_gone(&self, stat: &Stat) {
        let file_type = HostType::from_raw_mode(stat.st_mode);
        if file_type == HostType::RegularFile && stat.st_nlink == 1 {
            if !self.quota().open().lost_last_name(key(stat)) {
                return;
            }
            self.quota().release_bytes(u64::try_from(stat.st_size).unwrap_or(0));
        }
        self.quota().release_inode();
    }

    /// Sets the mode of what was just made, unless the host's umask left it whole.
    fn complete_mode(&self, path: &[u8], mode: u32) -> Result<()> {
        if mode & host_umask() == 0 {
            return Ok(());
        }
        let found = self.root.find(path)?;
        if matches!(HostType::from_raw_mode(found.stat.st_mode), HostType::Directory | HostType::Fifo) {
            found.set_mode(mode_bits(mode))?;
        }
        Ok(())
    }

    #[cfg(test)]
    pub(in crate::sandbox::vfs) fn set_method(&mut self, method: super::Method) {
        self.root.set_method(method);
    }
}

impl fmt::Debug for HostFolder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HostFolder").field("root", &self.root).finish_non_exhaustive()
    }
}

impl FileSystem for HostFolder {
    fn metadata(&self, path: &[u8]) -> Result<Metadata> {
        Ok(self.shared.devices.metadata(&self.root.find(path)?.stat))
    }

    fn open(&self, path: &[u8], access: Access) -> Result<Node> {
        let _names = self.quota().open().keep_names();
        let found = self.root.find(path)?;
        match HostType::from_raw_mode(found.stat.st_mode) {
            HostType::Directory => Ok(Node::Directory),
            HostType::Symlink => Err(Errno::Loop),
            HostType::Fifo => {
                let Metadata { device, inode, .. } = self.shared.devices.metadata(&found.stat);
                Ok(Node::Special(Special::Fifo { device, inode }))
            }
            HostType::RegularFile => {
                let file = OpenHostFile::enter(found.open(open_flags(access))?, key(&found.stat), &self.shared);
                if access.truncate {
                    file.truncate()?;
                }
                Ok(Node::File(Arc::new(file)))
            }
            _ => Err(Errno::NoDeviceOrAddress),
        }
    }

    fn create(&self, path: &[u8], mode: u32, access: Access) -> Result<Arc<dyn File>> {
        let _names = self.quota().open().keep_names();
        let (parent, name) = self.root.parent(path)?;
        self.with_inode(|| {
            let flags = open_flags(access) | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = fs::openat(&parent, name, flags, mode_bits(mode))?;
            if mode & host_umask() != 0 {
                fs::fchmod(&fd, mode_bits(mode))?;
            }
            let key = key(&fs::fstat(&fd)?);
            Ok(Arc::new(OpenHostFile::enter(fd, key, &self.shared)) as Arc<dyn File>)
        })
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>> {
        let (parent, name) =
            self.root.parent(path).map_err(|error| if path.is_empty() { Errno::Invalid } else { error })?;
        Ok(fs::readlinkat(&parent, name, Vec::new())?.into_bytes())
    }

    fn read_dir(&self, path: &[u8]) -> Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in Dir::new(self.root.list(path)?)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let file_type = match entry.file_type() {
                HostType::Unknown => match fs::statat(self.root.directory(path)?, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => HostType::from_raw_mode(stat.st_mode),
                    Err(_) => continue,
                },
                known => known,
            };
            entries.push(DirEntry { name: name.to_vec(), inode: entry.ino().max(1), file_type: guest_type(file_type) });
        }
        // The host's order says nothing, and differs between hosts.
        entries.sort_unstable_by(|one: &DirEntry, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    fn make_dir(&self, path: &[u8], mode: u32) -> Result<()> {
        let (parent, name) = self.root.parent(path)?;
        self.with_inode(|| Ok(fs::mkdirat(&parent, name, mode_bits(mode))?))?;
        self.complete_mode(path, mode)
    }

    fn make_fifo(&self, path: &[u8], mode: u32) -> Result<()> {
        let (parent, name) = self.root.parent(path)?;
        self.with_inode(|| make_fifo(parent.as_fd(), name, mode_bits(mode)))?;
        self.complete_mode(path, mode)
    }

    fn symlink(&self, target: &[u8], path: &[u8]) -> Result<()> {
        let (parent, name) = self.root.parent(path)?;
        self.with_inode(|| Ok(fs::symlinkat(target, &parent, name)?))
    }

    fn link(&self, path: &[u8], new: &[u8]) -> Result<()> {
        let (old_parent, old_name) = self.root.parent(path)?;
        let (new_parent, new_name) = self.root.parent(new)?;
        let _names = self.quota().open().remove_names();
        self.with_inode(|| Ok(fs::linkat(&old_parent, old_name, &new_parent, new_name, AtFlags::empty())?))
    }

    fn unlink(&self, path: &[u8]) -> Result<()> {
        let (parent, name) = self.root.parent(path)?;
        let _names = self.quota().open().remove_names();
        let stat = stat_at(&parent, name)?;
        if HostType::from_raw_mode(stat.st_mode) == HostType::Directory {
            return Err(Errno::IsDirectory);
        }
        let _held = self.hold(parent.as_fd(), name, &stat);
        fs::unlinkat(&parent, name, AtFlags::empty())?;
        self.name_is_gone(&stat);
        Ok(())
    }

    fn remove_dir(&self, path: &[u8]) -> Result<()> {
        let (parent, name) = self.root.parent(path)?;
        stat_at(&parent, name)?;
        fs::unlinkat(&parent, name, AtFlags::REMOVEDIR).map_err(not_empty)?;
        self.quota().release_inode();
        Ok(())
    }

    fn rename(&self, path: &[u8], new: &[u8]) -> Result<()> {
        let (old_parent, old_name) = self.root.parent(path)?;
        let (new_parent, new_name) = self.root.parent(new)?;
        let _names = self.quota().open().remove_names();
        let moved = stat_at(&old_parent, old_name)?;
        let replaced = fs::statat(new_parent.as_fd(), new_name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let _held = replaced.as_ref().and_then(|replaced| self.hold(new_parent.as_fd(), new_name, replaced));
        fs::renameat(&old_parent, old_name, &new_parent, new_name).map_err(not_empty)?;
        if let Some(replaced) = replaced
            && key(&replaced) != key(&moved)
        {
            self.name_is_gone(&replaced);
        }
        Ok(())
    }

    fn set_times(&self, path: &[u8], accessed: SetTime, modified: SetTime) -> Result<()> {
        let times = timestamps(accessed, modified);
        if path.is_empty() {
            return Ok(fs::utimensat(self.root.directory(path)?, ".", &times, AtFlags::empty())?);
        }
        let (parent, name) = self.root.parent(path)?;
        Ok(fs::utimensat(&parent, name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    fn set_mode(&self, path: &[u8], mode: u32) -> Result<()> {
        let found = self.root.find(path)?;
        match HostType::from_raw_mode(found.stat.st_mode) {
            HostType::RegularFile | HostType::Directory | HostType::Fifo => found.set_mode(mode_bits(mode)),
            HostType::Symlink => Err(Errno::NotSupported),
            _ => Err(Errno::NotPermitted),
        }
    }

    fn quota(&self) -> Option<&Quota> {
        Some(&self.shared.quota)
    }
}

#[cfg(not(target_vendor = "apple"))]
fn make_fifo(parent: BorrowedFd<'_>, name: &[u8], mode: Mode) -> Result<()> {
    Ok(fs::mkfifoat(parent, name, mode)?)
}

/// macOS has no safe call for it.
#[cfg(target_vendor = "apple")]
fn make_fifo(_parent: BorrowedFd<'_>, _name: &[u8], _mode: Mode) -> Result<()> {
    Err(Errno::NotSupported)
}

/// POSIX lets a host say `EEXIST` for a directory that is not empty.
fn not_empty(error: rustix::io::Errno) -> Errno {
    match error {
        rustix::io::Errno::EXIST => Errno::NotEmpty,
        error => error.into(),
    }
}
