//! Error numbers as guests see them: those of WASI preview 1, which wasi-libc uses as its `errno` too.

use std::io;

/// A WASI errno; the discriminant is the number handed to the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
#[allow(missing_docs)] // the names are POSIX's
pub enum Errno {
    TooBig = 1,
    Access = 2,
    Again = 6,
    BadFd = 8,
    Busy = 10,
    Child = 12,
    Exist = 20,
    Fault = 21,
    FileTooBig = 22,
    IllegalSequence = 25,
    Interrupted = 27,
    Invalid = 28,
    Io = 29,
    IsDirectory = 31,
    Loop = 32,
    TooManyOpenFiles = 33,
    TooManyLinks = 34,
    NameTooLong = 37,
    TooManyOpenFilesInSystem = 41,
    NoDevice = 43,
    NoEntry = 44,
    NoExec = 45,
    NoMemory = 48,
    NoSpace = 51,
    NotImplemented = 52,
    NotDirectory = 54,
    NotEmpty = 55,
    NotSupported = 58,
    NotTty = 59,
    NoDeviceOrAddress = 60,
    Overflow = 61,
    NotPermitted = 63,
    BrokenPipe = 64,
    Range = 68,
    ReadOnly = 69,
    IllegalSeek = 70,
    NoProcess = 71,
    Stale = 72,
    CrossDevice = 75,
}

/// The result of a kernel operation.
pub type Result<T> = std::result::Result<T, Errno>;

impl Errno {
    /// The number as a call's return value.
    pub fn raw(self) -> i32 {
        i32::from(self as u16)
    }

    /// The guest's error for one of the host's. What has no counterpart is `EIO`.
    pub fn from_io(error: &io::Error) -> Self {
        #[cfg(unix)]
        if let Some(raw) = error.raw_os_error() {
            return Self::from_rustix(rustix::io::Errno::from_raw_os_error(raw));
        }
        match error.kind() {
            io::ErrorKind::NotFound => Self::NoEntry,
            io::ErrorKind::PermissionDenied => Self::Access,
            io::ErrorKind::AlreadyExists => Self::Exist,
            io::ErrorKind::WouldBlock => Self::Again,
            io::ErrorKind::NotADirectory => Self::NotDirectory,
            io::ErrorKind::IsADirectory => Self::IsDirectory,
            io::ErrorKind::DirectoryNotEmpty => Self::NotEmpty,
            io::ErrorKind::StorageFull => Self::NoSpace,
            io::ErrorKind::InvalidInput => Self::Invalid,
            io::ErrorKind::CrossesDevices => Self::CrossDevice,
            io::ErrorKind::Unsupported => Self::NotSupported,
            _ => Self::Io,
        }
    }

    /// The guest's number for a Unix host's.
    #[cfg(unix)]
    pub fn from_rustix(error: rustix::io::Errno) -> Self {
        use rustix::io::Errno as Host;
        match error {
            Host::ACCESS => Self::Access,
            Host::AGAIN => Self::Again,
            Host::BADF => Self::BadFd,
            Host::BUSY => Self::Busy,
            Host::DQUOT | Host::NOSPC => Self::NoSpace,
            Host::EXIST => Self::Exist,
            Host::FBIG => Self::FileTooBig,
            Host::ILSEQ => Self::IllegalSequence,
            Host::INTR => Self::Interrupted,
            Host::INVAL => Self::Invalid,
            Host::ISDIR => Self::IsDirectory,
            Host::LOOP => Self::Loop,
            Host::MLINK => Self::TooManyLinks,
            // Both are the host running out of descriptors, which is the whole system's from the guest's view.
            Host::MFILE | Host::NFILE => Self::TooManyOpenFilesInSystem,
            Host::NAMETOOLONG => Self::NameTooLong,
            Host::NODEV => Self::NoDevice,
            Host::NOENT => Self::NoEntry,
            Host::NOMEM => Self::NoMemory,
            Host::NOTDIR => Self::NotDirectory,
            Host::NOTEMPTY => Self::NotEmpty,
            Host::NOTSUP | Host::NOSYS => Self::NotSupported,
            Host::NXIO => Self::NoDeviceOrAddress,
            Host::OVERFLOW => Self::Overflow,
            Host::PERM => Self::NotPermitted,
            Host::PIPE => Self::BrokenPipe,
            Host::RANGE => Self::Range,
            Host::ROFS => Self::ReadOnly,
            Host::SPIPE => Self::IllegalSeek,
            Host::STALE => Self::Stale,
            Host::XDEV => Self::CrossDevice,
            _ => Self::Io,
        }
    }
}

#[cfg(unix)]
impl From<rustix::io::Errno> for Errno {
    fn from(error: rustix::io::Errno) -> Self {
        Self::from_rustix(error)
    }
}

impl From<io::Error> for Errno {
    fn from(error: io::Error) -> Self {
        Self::from_io(&error)
    }
}
