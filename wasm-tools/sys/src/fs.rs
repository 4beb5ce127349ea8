//! Files as POSIX knows them: modes, owners, FIFOs, link targets, the working directory, the umask.
//!
//! What WASI has (reading and writing, directories, rename, links) stays with std; this module adds the rest. Paths
//! may be relative: the kernel resolves them against the working directory it keeps for the process.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::wasi::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::errno::{Errno, Result, check};
use crate::ffi;

/// The directory that relative paths start from: the working directory.
pub const AT_FDCWD: RawFd = ffi::AT_FDCWD;
/// The longest path, in bytes, that the kernel takes.
pub const PATH_MAX: usize = 4096;

const NOFOLLOW: u32 = 1;

/// File type bits of [`Stat::mode`].
pub const S_IFMT: u32 = 0o170000;
/// Type: socket.
pub const S_IFSOCK: u32 = 0o140000;
/// Type: symbolic link.
pub const S_IFLNK: u32 = 0o120000;
/// Type: regular file.
pub const S_IFREG: u32 = 0o100000;
/// Type: block device.
pub const S_IFBLK: u32 = 0o060000;
/// Type: directory.
pub const S_IFDIR: u32 = 0o040000;
/// Type: character device.
pub const S_IFCHR: u32 = 0o020000;
/// Type: FIFO or pipe.
pub const S_IFIFO: u32 = 0o010000;

/// [`open`]: for reading.
pub const O_RDONLY: u32 = 0;
/// [`open`]: for writing.
pub const O_WRONLY: u32 = 1;
/// [`open`]: for both.
pub const O_RDWR: u32 = 2;
/// [`open`]: create what is not there.
pub const O_CREAT: u32 = 0o100;
/// [`open`]: with `O_CREAT`, fail when it is there.
pub const O_EXCL: u32 = 0o200;
/// [`open`]: cut to length 0.
pub const O_TRUNC: u32 = 0o1000;
/// [`open`]: each write goes to the end.
pub const O_APPEND: u32 = 0o2000;
/// [`open`]: never wait.
pub const O_NONBLOCK: u32 = 0o4000;
/// [`open`]: only a directory.
pub const O_DIRECTORY: u32 = 0o200000;
/// [`open`]: not through a link in the last component.
pub const O_NOFOLLOW: u32 = 0o400000;
/// [`open`]: closed in children that do not map it.
pub const O_CLOEXEC: u32 = 0o2000000;

/// [`access`]: may be read.
pub const R_OK: u32 = 4;
/// [`access`]: may be written.
pub const W_OK: u32 = 2;
/// [`access`]: may be run or searched.
pub const X_OK: u32 = 1;
/// [`access`]: exists.
pub const F_OK: u32 = 0;

/// What the kernel knows about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Device, unique over all mounts.
    pub dev: u64,
    /// Inode number within the device; never 0.
    pub ino: u64,
    /// Type and permission bits, POSIX's values.
    pub mode: u32,
    /// Number of names.
    pub nlink: u32,
    /// Owner; the guest sees its own files as its own.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// The device a device file stands for.
    pub rdev: u64,
    /// Length in bytes.
    pub size: u64,
    /// Preferred unit of transfer, bytes.
    pub blksize: u32,
    /// Space taken, in units of 512 bytes.
    pub blocks: u64,
    /// Last access, ns since 1970.
    pub atime_ns: i64,
    /// Last change of the content, ns since 1970.
    pub mtime_ns: i64,
    /// Last change of the content or of what `stat` tells, ns since 1970.
    pub ctime_ns: i64,
}

impl Stat {
    fn from_raw(raw: &ffi::RawStat) -> Self {
        Stat {
            dev: raw.dev,
            ino: raw.ino,
            mode: raw.mode,
            nlink: raw.nlink,
            uid: raw.uid,
            gid: raw.gid,
            rdev: raw.rdev,
            size: raw.size,
            blksize: raw.blksize,
            blocks: raw.blocks,
            atime_ns: raw.atime_ns,
            mtime_ns: raw.mtime_ns,
            ctime_ns: raw.ctime_ns,
        }
    }

    /// The type bits alone: one of the `S_IF*` values.
    pub fn file_type(&self) -> u32 {
        self.mode & S_IFMT
    }

    /// The twelve permission bits.
    pub fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }

    /// Is it a directory?
    pub fn is_dir(&self) -> bool {
        self.file_type() == S_IFDIR
    }

    /// Is it a regular file?
    pub fn is_file(&self) -> bool {
        self.file_type() == S_IFREG
    }

    /// Is it a symbolic link?
    pub fn is_symlink(&self) -> bool {
        self.file_type() == S_IFLNK
    }

    /// Is it a FIFO or a pipe?
    pub fn is_fifo(&self) -> bool {
        self.file_type() == S_IFIFO
    }

    /// Is it a character device?
    pub fn is_char_device(&self) -> bool {
        self.file_type() == S_IFCHR
    }

    /// Is it a block device?
    pub fn is_block_device(&self) -> bool {
        self.file_type() == S_IFBLK
    }

    /// Is it a socket?
    pub fn is_socket(&self) -> bool {
        self.file_type() == S_IFSOCK
    }

    /// Do both describe the same file?
    pub fn same_file(&self, other: &Stat) -> bool {
        self.dev == other.dev && self.ino == other.ino
    }

    /// Last change of the content.
    pub fn modified(&self) -> SystemTime {
        time_from_ns(self.mtime_ns)
    }
}

/// A point in time from ns since 1970.
pub fn time_from_ns(ns: i64) -> SystemTime {
    let distance = Duration::from_nanos(ns.unsigned_abs());
    if ns >= 0 { SystemTime::UNIX_EPOCH + distance } else { SystemTime::UNIX_EPOCH - distance }
}

/// A path's bytes, as the calls take them.
fn parts(path: &Path) -> (*const u8, u32) {
    let bytes = path.as_os_str().as_bytes();
    (bytes.as_ptr(), u32::try_from(bytes.len()).unwrap_or(u32::MAX))
}

fn stat_with(dirfd: RawFd, path: &Path, flags: u32) -> Result<Stat> {
    let (ptr, len) = parts(path);
    let mut raw = ffi::RawStat::default();
    // SAFETY: the path is valid for `len` bytes and `raw` is a place for one answer; both outlive the call.
    check(unsafe { ffi::stat(dirfd, ptr, len, flags, &mut raw) })?;
    Ok(Stat::from_raw(&raw))
}

/// stat(2): follows links.
pub fn stat(path: impl AsRef<Path>) -> Result<Stat> {
    stat_with(AT_FDCWD, path.as_ref(), 0)
}

/// lstat(2): a link itself.
pub fn lstat(path: impl AsRef<Path>) -> Result<Stat> {
    stat_with(AT_FDCWD, path.as_ref(), NOFOLLOW)
}

/// fstatat(2), relative to an open directory.
pub fn stat_at(dir: BorrowedFd<'_>, path: impl AsRef<Path>, follow: bool) -> Result<Stat> {
    stat_with(dir.as_raw_fd(), path.as_ref(), if follow { 0 } else { NOFOLLOW })
}

/// fstat(2), by number.
pub fn fstat(fd: RawFd) -> Result<Stat> {
    let mut raw = ffi::RawStat::default();
    // SAFETY: `raw` is a place for one answer; any number is a valid argument.
    check(unsafe { ffi::fstat(fd, &mut raw) })?;
    Ok(Stat::from_raw(&raw))
}

/// open(2): flags are the `O_*` values; `mode` is masked with the umask. Waits for the other end of a FIFO.
pub fn open(path: impl AsRef<Path>, flags: u32, mode: u32) -> Result<OwnedFd> {
    let (ptr, len) = parts(path.as_ref());
    let mut fd = -1;
    // SAFETY: the path is valid for `len` bytes, `fd` is a place for the answer.
    check(unsafe { ffi::open(AT_FDCWD, ptr, len, flags, mode, &mut fd) })?;
    // SAFETY: the kernel has just made this descriptor for us; nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// [`open`] as a `File`.
pub fn open_file(path: impl AsRef<Path>, flags: u32, mode: u32) -> Result<File> {
    open(path, flags, mode).map(File::from)
}

/// mkdir(2): `mode` is masked with the umask.
pub fn mkdir(path: impl AsRef<Path>, mode: u32) -> Result<()> {
    let (ptr, len) = parts(path.as_ref());
    // SAFETY: the path is valid for `len` bytes.
    check(unsafe { ffi::mkdir(AT_FDCWD, ptr, len, mode) })
}

/// mkfifo(2): `mode` is masked with the umask.
pub fn mkfifo(path: impl AsRef<Path>, mode: u32) -> Result<()> {
    let (ptr, len) = parts(path.as_ref());
    // SAFETY: the path is valid for `len` bytes.
    check(unsafe { ffi::mkfifo(AT_FDCWD, ptr, len, mode) })
}

/// chmod(2).
pub fn chmod(path: impl AsRef<Path>, mode: u32) -> Result<()> {
    let (ptr, len) = parts(path.as_ref());
    // SAFETY: the path is valid for `len` bytes.
    check(unsafe { ffi::chmod(AT_FDCWD, ptr, len, mode, 0) })
}

/// fchmod(2), by number.
pub fn fchmod(fd: RawFd, mode: u32) -> Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { ffi::fchmod(fd, mode) })
}

/// chown(2), or lchown(2) without `follow`. The kernel accepts any owner where the guest may write and keeps none.
pub fn chown(path: impl AsRef<Path>, uid: u32, gid: u32, follow: bool) -> Result<()> {
    let (ptr, len) = parts(path.as_ref());
    // SAFETY: the path is valid for `len` bytes.
    check(unsafe { ffi::chown(AT_FDCWD, ptr, len, uid, gid, if follow { 0 } else { NOFOLLOW }) })
}

/// access(2): `mode` is a sum of [`R_OK`], [`W_OK`], [`X_OK`], or [`F_OK`].
pub fn access(path: impl AsRef<Path>, mode: u32) -> Result<()> {
    let (ptr, len) = parts(path.as_ref());
    // SAFETY: the path is valid for `len` bytes.
    check(unsafe { ffi::access(AT_FDCWD, ptr, len, mode, 0) })
}

/// A time to set with [`utimens`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetTime {
    /// The kernel's now.
    Now,
    /// Leave it as it is.
    Omit,
    /// This many ns since 1970.
    At(i64),
}

impl SetTime {
    fn raw(self) -> i64 {
        match self {
            SetTime::Now => i64::MAX,
            SetTime::Omit => i64::MIN,
            SetTime::At(ns) => ns.clamp(i64::MIN + 1, i64::MAX - 1),
        }
    }
}

/// utimensat(2); without `follow` a link itself.
pub fn utimens(path: impl AsRef<Path>, atime: SetTime, mtime: SetTime, follow: bool) -> Result<()> {
    let (ptr, len) = parts(path.as_ref());
    let flags = if follow { 0 } else { NOFOLLOW };
    // SAFETY: the path is valid for `len` bytes.
    check(unsafe { ffi::utimens(AT_FDCWD, ptr, len, atime.raw(), mtime.raw(), flags) })
}

/// umask(2): sets the low nine bits and returns the old ones.
pub fn umask(mask: u32) -> u32 {
    // SAFETY: a plain number.
    (unsafe { ffi::umask(mask) }) as u32 & 0o777
}

/// The umask, unchanged.
pub fn current_umask() -> u32 {
    let mask = umask(0o022);
    umask(mask);
    mask
}

/// A file system's size and what is left of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatVfs {
    /// Bytes a block.
    pub block_size: u64,
    /// All blocks.
    pub blocks: u64,
    /// Free blocks.
    pub blocks_free: u64,
    /// All inodes.
    pub files: u64,
    /// Free inodes.
    pub files_free: u64,
    /// Longest name, bytes.
    pub name_max: u64,
    /// Mounted read-only?
    pub read_only: bool,
}

/// statvfs(3).
pub fn statvfs(path: impl AsRef<Path>) -> Result<StatVfs> {
    let (ptr, len) = parts(path.as_ref());
    let mut raw = ffi::RawStatVfs::default();
    // SAFETY: the path is valid for `len` bytes, `raw` is a place for one answer.
    check(unsafe { ffi::statvfs(AT_FDCWD, ptr, len, &mut raw) })?;
    Ok(StatVfs {
        block_size: raw.block_size,
        blocks: raw.blocks,
        blocks_free: raw.blocks_free,
        files: raw.files,
        files_free: raw.files_free,
        name_max: raw.name_max,
        read_only: raw.read_only != 0,
    })
}

/// Runs a call that writes into a buffer and tells the length, growing the buffer once when it is too small.
pub(crate) fn bytes(mut call: impl FnMut(*mut u8, u32, *mut u32) -> i32) -> Result<Vec<u8>> {
    let mut buf = vec![0u8; 256];
    loop {
        let mut n = 0u32;
        match call(buf.as_mut_ptr(), buf.len() as u32, &mut n) {
            0 => {
                buf.truncate(n as usize);
                return Ok(buf);
            }
            // Out pointers are written only on success: take the longest path there is.
            e if e == Errno::ERANGE.0 && buf.len() < PATH_MAX => buf.resize(PATH_MAX, 0),
            e => return Err(Errno(e)),
        }
    }
}

fn path_from(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// realpath(3): absolute, no links, no `.` and `..`; every component must exist.
pub fn realpath(path: impl AsRef<Path>) -> Result<PathBuf> {
    let (ptr, len) = parts(path.as_ref());
    // SAFETY: the path is valid for `len` bytes; the buffer is `bytes`'s.
    bytes(|buf, cap, n| unsafe { ffi::realpath(AT_FDCWD, ptr, len, buf, cap, n) }).map(path_from)
}

/// readlink(2).
pub fn readlink(path: impl AsRef<Path>) -> Result<PathBuf> {
    let (ptr, len) = parts(path.as_ref());
    // SAFETY: the path is valid for `len` bytes; the buffer is `bytes`'s.
    bytes(|buf, cap, n| unsafe { ffi::readlink(AT_FDCWD, ptr, len, buf, cap, n) }).map(path_from)
}

/// symlink(2): std has it on WASI only as an unstable feature.
pub fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> Result<()> {
    let terminated = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::EINVAL);
    let (target, link) = (terminated(target.as_ref())?, terminated(link.as_ref())?);
    // SAFETY: two NUL-terminated strings that outlive the call.
    match unsafe { ffi::wasi::symlink(target.as_ptr(), link.as_ptr()) } {
        0 => Ok(()),
        _ => Err(Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(Errno::EIO.0))),
    }
}

/// getcwd(3): the kernel's canonical working directory, whatever PWD says.
pub fn getcwd() -> Result<PathBuf> {
    // SAFETY: the buffer is `bytes`'s.
    bytes(|buf, cap, n| unsafe { ffi::getcwd(buf, cap, n) }).map(path_from)
}

/// chdir(2): moves the kernel's working directory and libc's (so std's) with it.
pub fn chdir(path: impl AsRef<Path>) -> Result<()> {
    let (ptr, len) = parts(path.as_ref());
    // SAFETY: the path is valid for `len` bytes.
    check(unsafe { ffi::chdir(AT_FDCWD, ptr, len) })?;
    sync_cwd()
}

/// A path that no kernel has and nobody can create.
const NOWHERE: &std::ffi::CStr = c"/proc/removed working directory";

/// Hands the kernel's working directory to libc, which keeps one of its own for the WASI calls. When it has been
/// removed, libc's relative paths lead nowhere, so that they answer ENOENT as the kernel's do.
pub fn sync_cwd() -> Result<()> {
    match tell_libc() {
        Err(Errno::ENOENT) => {
            // SAFETY: a NUL-terminated string that outlives the call.
            let nowhere = unsafe { ffi::wasi::strdup(NOWHERE.as_ptr()) };
            if nowhere.is_null() {
                return Err(Errno::ENOMEM);
            }
            // SAFETY: the program has one thread. libc's next chdir may free what it finds here: it is libc's own.
            // chdir() itself only takes directories that exist.
            unsafe { ffi::wasi::LIBC_CWD = nowhere };
            Ok(())
        }
        result => result,
    }
}

fn tell_libc() -> Result<()> {
    // SAFETY: the buffer is `bytes`'s.
    let mut cwd = bytes(|buf, cap, n| unsafe { ffi::getcwd(buf, cap, n) })?;
    cwd.push(0);
    // SAFETY: a NUL-terminated string that outlives the call; libc copies it.
    match unsafe { ffi::wasi::libc_chdir(cwd.as_ptr().cast()) } {
        0 => Ok(()),
        _ => Err(Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(Errno::EIO.0))),
    }
}

/// Resources of [`rlimit`], Linux's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are POSIX's")]
pub enum Resource {
    Cpu = 0,
    FileSize = 1,
    Data = 2,
    Stack = 3,
    Processes = 6,
    OpenFiles = 7,
    AddressSpace = 9,
}

/// getrlimit(2): `None` is unlimited.
pub fn rlimit(resource: Resource) -> Result<Option<u64>> {
    let mut limit = 0;
    // SAFETY: `limit` is a place for the answer.
    check(unsafe { ffi::getrlimit(resource as u32, &mut limit) })?;
    Ok((limit != u64::MAX).then_some(limit))
}
