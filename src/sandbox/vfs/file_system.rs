//! What a mount's source must do.

use std::fmt::Debug;
#[cfg(unix)]
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::quota::Quota;
use crate::sandbox::errno::{Errno, Result};

/// Bytes that a copy reads at once.
const COPIED_AT_ONCE: usize = 256 << 10;

/// A number for a file system's [`Metadata::device`] that no other has.
pub fn next_device() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A character device.
    CharDevice,
}

/// What `stat` tells. The guest is uid 0 and owns everything, so owners are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Device number: one for each mount source, never shared by two.
    pub device: u64,
    /// Inode number, never 0.
    pub inode: u64,
    /// Type.
    pub file_type: FileType,
    /// Permission bits, 0 to 0o7777.
    pub mode: u32,
    /// Number of names.
    pub links: u32,
    /// Number of the device that a device file stands for, else 0.
    pub device_id: u64,
    /// Length in bytes.
    pub size: u64,
    /// Storage in blocks of 512 bytes.
    pub blocks: u64,
    /// Last access, ns since 1970.
    pub accessed: i64,
    /// Last change of content, ns since 1970.
    pub modified: i64,
    /// Last change of status, ns since 1970.
    pub changed: i64,
}

/// A time to set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetTime {
    /// Leave it.
    Keep,
    /// The present.
    Now,
    /// This one, ns since 1970.
    At(i64),
}

/// A directory's entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// Name, without `/` and NUL.
    pub name: Vec<u8>,
    /// Inode number.
    pub inode: u64,
    /// Type.
    pub file_type: FileType,
}

/// What a name stands for besides files, directories and links: the kernel serves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Special {
    /// A named pipe; two openings meet when these numbers are the same.
    Fifo {
        /// Device number.
        device: u64,
        /// Inode number.
        inode: u64,
    },
    /// A device file.
    Device(u64),
}

/// An open regular file. Offsets are the caller's.
pub trait File: Send + Sync + Debug {
    /// Reads at `offset`; 0 at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize>;
    /// Writes at `offset`, the gap before it reading as zeros. `FileTooBig` and `NoSpace` when a limit is met; fewer
    /// bytes when only a part fits.
    fn write_at(&self, data: &[u8], offset: u64) -> Result<usize>;
    /// Writes at the end, as one step; the answer is the number written and the end after it.
    fn append(&self, data: &[u8]) -> Result<(usize, u64)>;
    /// What `fstat` tells.
    fn metadata(&self) -> Result<Metadata>;
    /// Cuts or extends with zeros.
    fn set_len(&self, length: u64) -> Result<()>;
    /// Sets times of access and change.
    fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()>;
    /// Sets permission bits; set-id bits are dropped.
    fn set_mode(&self, mode: u32) -> Result<()>;
    /// Brings data to the disk, and the metadata too unless `data_only`.
    fn sync(&self, data_only: bool) -> Result<()>;
    /// The host's descriptor, if it has one.
    #[cfg(unix)]
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
    /// Gives this file, which is new and empty, the `length` bytes of `source`, which nobody changes meanwhile.
    fn fill(&self, source: &dyn File, length: u64) -> Result<()> {
        copy_bytes(source, self, length)
    }
}

/// Copies `length` bytes, or as many as there are. Pieces of zeros are left out, so that holes stay holes.
pub(super) fn copy_bytes(source: &dyn File, target: &(impl File + ?Sized), length: u64) -> Result<()> {
    let mut buffer = vec![0; COPIED_AT_ONCE.min(usize::try_from(length).unwrap_or(COPIED_AT_ONCE))];
    let mut offset = 0;
    while offset < length {
        let count = source.read_at(&mut buffer, offset)?;
        if count == 0 {
            break;
        }
        let mut data = buffer.get(..count).unwrap_or_default();
        let mut at = offset;
        while data.iter().any(|&byte| byte != 0) {
            let written = target.write_at(data, at)?;
            if written == 0 {
                return Err(Errno::Io);
            }
            data = data.get(written..).unwrap_or_default();
            at += written as u64;
        }
        offset += count as u64;
    }
    target.set_len(offset)
}

/// How a file system opens a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// For reading.
    pub read: bool,
    /// For writing.
    pub write: bool,
    /// Cut to nothing.
    pub truncate: bool,
}

/// What an opened name is.
#[derive(Clone, Debug)]
pub enum Node {
    /// A regular file, opened.
    File(Arc<dyn File>),
    /// A directory.
    Directory,
    /// A named pipe or a device.
    Special(Special),
}

/// A tree of files: a host folder, a tree in memory.
///
/// A `path` is relative to the tree's root, without `/` at its ends, empty for the root; its parts are neither empty
/// nor `.` nor `..` and hold no NUL. No part of it but the last may be a link: the walk has followed those, and an
/// implementation must fail with `Loop` (never follow) when one became a link in between. The last part is never
/// followed either. `Stale` means that the tree changed meanwhile and the call should be made again. Rights of the
/// mount (read-only) are checked before.
pub trait FileSystem: Send + Sync + Debug {
    /// What `lstat` tells. Walks ask for a path of several parts at once: `NoEntry` when any part is missing, `Loop`
    /// when one before the last is a link, `NotDirectory` when one is another thing than a directory.
    fn metadata(&self, path: &[u8]) -> Result<Metadata>;
    /// Opens what is there. `Loop` for a link. A directory is told whatever `access` says.
    fn open(&self, path: &[u8], access: Access) -> Result<Node>;
    /// Makes a regular file and opens it; `Exist` when the name is taken.
    fn create(&self, path: &[u8], mode: u32, access: Access) -> Result<Arc<dyn File>>;
    /// A link's target.
    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>>;
    /// A directory's entries without `.` and `..`, in the source's order.
    fn read_dir(&self, path: &[u8]) -> Result<Vec<DirEntry>>;
    /// Makes a directory.
    fn make_dir(&self, path: &[u8], mode: u32) -> Result<()>;
    /// Makes a named pipe.
    fn make_fifo(&self, path: &[u8], mode: u32) -> Result<()>;
    /// Makes a link that says `target`.
    fn symlink(&self, target: &[u8], path: &[u8]) -> Result<()>;
    /// Gives a file a second name.
    fn link(&self, path: &[u8], new: &[u8]) -> Result<()>;
    /// Removes a name that is no directory.
    fn unlink(&self, path: &[u8]) -> Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, path: &[u8]) -> Result<()>;
    /// Renames within this tree, as rename(2).
    fn rename(&self, path: &[u8], new: &[u8]) -> Result<()>;
    /// Sets times; `metadata` tells of which name.
    fn set_times(&self, path: &[u8], accessed: SetTime, modified: SetTime) -> Result<()>;
    /// Sets permission bits; set-id bits are dropped.
    fn set_mode(&self, path: &[u8], mode: u32) -> Result<()>;
    /// The account that new files are charged to; none for trees that never change.
    fn quota(&self) -> Option<&Quota> {
        None
    }
}
