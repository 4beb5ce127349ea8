//! Reaching host files below one folder and never beyond it, whatever the names have become.
//!
//! On Linux one `openat2` walks the whole path and refuses links and anything that leaves the folder. Where the kernel
//! cannot do that (before 5.6, or hidden by a seccomp filter), and on other systems, the path is walked part by part
//! without following links.
//!
//! Nothing but regular files and directories is ever opened: opening a device can act on it, and opening a named pipe
//! waits. So a name is first held by an `O_PATH` descriptor, looked at, and reopened through that descriptor. Systems
//! without `O_PATH` look at the name, open it without waiting and compare what they got.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::LazyLock;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno as HostErrno;
use rustix::path::DecInt;

use crate::sandbox::errno::{Errno, Result};
#[cfg(any(target_os = "linux", target_os = "android"))]
use crate::sandbox::vfs::path::PATH_MAX;
use crate::sandbox::vfs::path::split_last;

/// How a directory is opened to reach what lies in it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// How a directory is opened to list it; anything else is refused before it is opened.
const LISTING: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// The folder in which Linux shows a process its own descriptors: opening a name in it opens what that descriptor
/// holds. None where `/proc` is missing.
static DESCRIPTORS: LazyLock<Option<OwnedFd>> = LazyLock::new(|| {
    let flags = DIRECTORY | OFlags::NOFOLLOW;
    if cfg!(any(target_os = "linux", target_os = "android")) {
        fs::open("/proc/self/fd", flags, Mode::empty()).ok()
    } else {
        None
    }
});

/// A host folder that is a tree's root.
#[derive(Debug)]
pub(super) struct Root {
    fd: OwnedFd,
    method: Method,
}

/// How paths are walked and names are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sandbox::vfs) enum Method {
    /// `openat2` and `O_PATH`.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    OneCall,
    /// Part by part, with `O_PATH`, as where `openat2` turns out to be missing.
    #[cfg(all(test, any(target_os = "linux", target_os = "android")))]
    Parts,
    /// Part by part, with POSIX calls only.
    Portable,
}

/// A directory of the tree.
pub(super) enum Handle<'root> {
    Root(BorrowedFd<'root>),
    Below(OwnedFd),
}

impl AsFd for Handle<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Root(fd) => fd.as_fd(),
            Self::Below(fd) => fd.as_fd(),
        }
    }
}

/// A name that has been looked at but not opened.
pub(super) struct Found<'root> {
    pub(super) stat: Stat,
    place: Place<'root>,
}

enum Place<'root> {
    /// Held, whatever happens to the name.
    Node(Handle<'root>),
    /// To be opened by name.
    Name(Handle<'root>, Vec<u8>),
}

impl Root {
    /// The folder at `path`, whose own links are followed.
    pub(super) fn new(path: &Path) -> std::io::Result<Self> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let method = if DESCRIPTORS.is_some() { Method::OneCall } else { Method::Portable };
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let method = Method::Portable;
        Ok(Self { fd: fs::open(path, DIRECTORY, Mode::empty())?, method })
    }

    #[cfg(test)]
    pub(super) fn set_method(&mut self, method: Method) {
        self.method = method;
    }

    /// What `fstat` tells of the folder itself.
    pub(super) fn stat(&self) -> rustix::io::Result<Stat> {
        fs::fstat(&self.fd)
    }

    /// The directory at `path`.
    pub(super) fn directory(&self, path: &[u8]) -> Result<Handle<'_>> {
        if path.is_empty() {
            return Ok(Handle::Root(self.fd.as_fd()));
        }
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if self.method == Method::OneCall
            && let Some(result) = open_beneath(self.fd.as_fd(), path, DIRECTORY)
        {
            return result.map(Handle::Below);
        }
        let mut at = Handle::Root(self.fd.as_fd());
        for part in path.split(|&byte| byte == b'/') {
            at = Handle::Below(enter(at.as_fd(), part)?);
        }
        Ok(at)
    }

    /// The directory that a path's last part lies in, and that part. The root has none: `Busy`.
    pub(super) fn parent<'p>(&self, path: &'p [u8]) -> Result<(Handle<'_>, &'p [u8])> {
        let (parent, name) = split_last(path).ok_or(Errno::Busy)?;
        Ok((self.directory(parent)?, name))
    }

    /// Looks at what is at `path`, which may be a link.
    pub(super) fn find(&self, path: &[u8]) -> Result<Found<'_>> {
        if path.is_empty() {
            return Ok(Found { stat: self.stat()?, place: Place::Node(Handle::Root(self.fd.as_fd())) });
        }
        if self.method == Method::Portable {
            let (parent, name) = self.parent(path)?;
            let stat = stat_at(&parent, name)?;
            return Ok(Found { stat, place: Place::Name(parent, name.to_vec()) });
        }
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            const NODE: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
            let held = if self.method == Method::OneCall { open_beneath(self.fd.as_fd(), path, NODE) } else { None };
            let node = match held {
                Some(result) => result?,
                None => {
                    let (parent, name) = self.parent(path)?;
                    fs::openat(&parent, name, NODE, Mode::empty())?
                }
            };
            let stat = fs::fstat(&node)?;
            Ok(Found { stat, place: Place::Node(Handle::Below(node)) })
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        Err(Errno::NotSupported)
    }

    /// Opens the directory at `path` to list it.
    pub(super) fn list(&self, path: &[u8]) -> Result<OwnedFd> {
        if path.is_empty() {
            return Ok(fs::openat(&self.fd, ".", LISTING, Mode::empty())?);
        }
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if self.method == Method::OneCall
            && let Some(result) = open_beneath(self.fd.as_fd(), path, LISTING)
        {
            return result;
        }
        let (parent, name) = self.parent(path)?;
        check_spelling(parent.as_fd(), name)?;
        fs::openat(&parent, name, LISTING | OFlags::NOFOLLOW, Mode::empty())
            .map_err(|error| link_or(parent.as_fd(), name, error))
    }
}

impl Found<'_> {
    /// Opens the regular file that was found.
    pub(super) fn open(&self, flags: OFlags) -> Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        match &self.place {
            Place::Node(node) => {
                let descriptors = DESCRIPTORS.as_ref().ok_or(Errno::NotSupported)?;
                Ok(fs::openat(descriptors, magic_link(node.as_fd()), flags, Mode::empty())?)
            }
            Place::Name(parent, name) => {
                let file = fs::openat(parent, name.as_slice(), flags | OFlags::NOFOLLOW, Mode::empty())?;
                same_file(file, &self.stat)
            }
        }
    }

    /// Sets the permission bits of the file or directory that was found.
    pub(super) fn set_mode(&self, mode: Mode) -> Result<()> {
        match &self.place {
            Place::Node(Handle::Root(root)) => {
                let directory = fs::openat(root, ".", LISTING, Mode::empty())?;
                Ok(fs::fchmod(directory, mode)?)
            }
            Place::Node(Handle::Below(node)) => {
                let descriptors = DESCRIPTORS.as_ref().ok_or(Errno::NotSupported)?;
                Ok(fs::chmodat(descriptors, magic_link(node.as_fd()), mode, AtFlags::empty())?)
            }
            Place::Name(parent, name) => {
                match fs::chmodat(parent, name.as_slice(), mode, AtFlags::SYMLINK_NOFOLLOW) {
                    // Linux has no such call before 6.6.
                    Err(HostErrno::NOTSUP) => Ok(fs::fchmod(self.open(OFlags::RDONLY)?, mode)?),
                    result => Ok(result?),
                }
            }
        }
    }
}

/// What `lstat` tells of a directory's entry.
pub(super) fn stat_at(directory: impl AsFd, name: &[u8]) -> Result<Stat> {
    check_spelling(directory.as_fd(), name)?;
    Ok(fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

fn is_link(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Symlink
}

fn is_directory(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

/// Opens `path` below `root` by `openat2`; none when that is not available and the path must be walked part by part.
/// A path that is longer than the kernel takes, as of a directory that was moved into a deep one, is walked in pieces.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_beneath(root: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> Option<Result<OwnedFd>> {
    let mut at = Handle::Root(root);
    let mut rest = path;
    while rest.len() >= PATH_MAX {
        let end = rest.get(..PATH_MAX)?.iter().rposition(|&byte| byte == b'/')?;
        match open_piece(at.as_fd(), rest.get(..end)?, DIRECTORY)? {
            Ok(directory) => at = Handle::Below(directory),
            Err(error) => return Some(Err(error)),
        }
        rest = rest.get(end + 1..)?;
    }
    open_piece(at.as_fd(), rest, flags)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_piece(root: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> Option<Result<OwnedFd>> {
    use rustix::fs::ResolveFlags;

    static MISSING: AtomicBool = AtomicBool::new(false);
    const RESOLVE: ResolveFlags =
        ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);
    if MISSING.load(Ordering::Relaxed) {
        return None;
    }
    match fs::openat2(root, path, flags, Mode::empty(), RESOLVE) {
        Ok(fd) => Some(Ok(fd)),
        Err(HostErrno::NOSYS) => {
            MISSING.store(true, Ordering::Relaxed);
            None
        }
        // A seccomp filter; a race that the kernel could not rule out; a flag that an old kernel does not know.
        Err(HostErrno::PERM | HostErrno::AGAIN | HostErrno::TOOBIG | HostErrno::XDEV) => None,
        Err(error) => Some(Err(error.into())),
    }
}

/// Opens the directory `name` of `directory`. `Loop` when it is a link.
fn enter(directory: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd> {
    check_spelling(directory, name)?;
    fs::openat(directory, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
        .map_err(|error| link_or(directory, name, error))
}

/// Opening a link as a directory without following fails in several ways; this tells links from the rest.
fn link_or(directory: BorrowedFd<'_>, name: &[u8], error: HostErrno) -> Errno {
    match fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if is_link(&stat) => Errno::Loop,
        // It was a link a moment ago.
        Ok(stat) if error == HostErrno::NOTDIR && is_directory(&stat) => Errno::Stale,
        _ => error.into(),
    }
}

/// The name of one of our descriptors in [`DESCRIPTORS`].
fn magic_link(node: BorrowedFd<'_>) -> DecInt {
    DecInt::from_fd(node)
}

/// Makes sure that the opened file is the one that was looked at.
fn same_file(file: OwnedFd, expected: &Stat) -> Result<OwnedFd> {
    let stat = fs::fstat(&file)?;
    if stat.st_dev == expected.st_dev && stat.st_ino == expected.st_ino {
        Ok(file)
    } else {
        // The name stands for another file now.
        Err(Errno::Stale)
    }
}

/// Refuses a name whose stored spelling is another one. Hosts that fold case or normalise names would otherwise let a
/// guest reach a directory by a path that the mount table does not know.
#[cfg(target_vendor = "apple")]
fn check_spelling(directory: BorrowedFd<'_>, name: &[u8]) -> Result<()> {
    if fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).is_err() {
        return Ok(());
    }
    for entry in fs::Dir::read_from(directory)? {
        if entry?.file_name().to_bytes() == name {
            return Ok(());
        }
    }
    Err(Errno::NoEntry)
}

/// Refuses a name whose stored spelling is another one; here all names are what they say.
#[cfg(not(target_vendor = "apple"))]
#[inline]
fn check_spelling(_directory: BorrowedFd<'_>, _name: &[u8]) -> Result<()> {
    Ok(())
}
