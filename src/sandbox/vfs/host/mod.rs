//! Host folders and files as sources of mounts.
//!
//! Every operation reaches its file from the folder's descriptor without following links (see [`beneath`]), so neither
//! links in the folder nor names that change during a call lead out of it. Permission bits are the host's, without
//! set-id bits; named pipes are real nodes that the kernel serves and the host never opens; host devices and sockets
//! show as character devices and cannot be opened.
//!
//! The guest is uid 0, the host process need not be: what the host refuses (a directory without rights for its owner, a
//! file that is not ours) is `EACCES` or `EPERM` in the guest too.
//!
//! A file with several names may have one outside the folder, and writing it changes that too: wskill never makes such
//! names, and an embedder must not link files that it wants to keep into a writable mount.

mod beneath;
mod file;
mod folder;
mod single;

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustix::fs::{self, Mode, OFlags, Stat, Timespec, Timestamps};

#[cfg(test)]
pub(in crate::sandbox::vfs) use beneath::Method;
pub use folder::HostFolder;
pub use single::HostFile;

use super::file_system::{Access, FileType, Metadata, SetTime, next_device};
use super::inodes::Key;
use super::quota::Quota;

/// What a source and its open files share.
#[derive(Debug)]
struct Shared {
    quota: Arc<Quota>,
    devices: Arc<Devices>,
}

/// Guest device numbers: one for each host file system below the folder, so that inode numbers stay unique.
#[derive(Debug)]
struct Devices {
    /// The host's number of the folder's own file system, and the guest's.
    root: (u64, u64),
    others: Mutex<Vec<(u64, u64)>>,
    /// Shown in place of the files' times, ns since 1970.
    fixed_time: Option<i64>,
}

#[allow(clippy::unnecessary_cast)] // the fields' types are the platform's
impl Devices {
    fn new(root: &Stat, fixed_time: Option<i64>) -> Self {
        Self { root: (root.st_dev as u64, next_device()), others: Mutex::default(), fixed_time }
    }

    fn guest(&self, host: u64) -> u64 {
        if host == self.root.0 {
            return self.root.1;
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, guest)) = others.iter().find(|(known, _)| *known == host) {
            return *guest;
        }
        let guest = next_device();
        others.push((host, guest));
        guest
    }

    fn metadata(&self, stat: &Stat) -> Metadata {
        let time = |seconds: i64, nanoseconds: i64| {
            self.fixed_time.unwrap_or_else(|| seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds))
        };
        Metadata {
            device: self.guest(stat.st_dev as u64),
            inode: (stat.st_ino as u64).max(1),
            file_type: guest_type(fs::FileType::from_raw_mode(stat.st_mode)),
            mode: stat.st_mode as u32 & MODE_MASK,
            links: u32::try_from(stat.st_nlink).unwrap_or(u32::MAX),
            device_id: 0,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            blocks: u64::try_from(stat.st_blocks).unwrap_or(0),
            accessed: time(stat.st_atime as i64, stat.st_atime_nsec as i64),
            modified: time(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: time(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}

/// Permission bits that guests see and set: all but the set-id ones.
const MODE_MASK: u32 = 0o1777;

#[allow(clippy::unnecessary_cast)] // the fields' types are the platform's
fn key(stat: &Stat) -> Key {
    (stat.st_dev as u64, stat.st_ino as u64)
}

fn mode_bits(mode: u32) -> Mode {
    Mode::from_bits_truncate((mode & MODE_MASK) as _)
}

/// The permission bits that the host takes away from what this process makes; all when unknown.
fn host_umask() -> u32 {
    static UMASK: LazyLock<u32> = LazyLock::new(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let umask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
        umask.and_then(|umask| u32::from_str_radix(umask.trim(), 8).ok()).unwrap_or(0o777)
    });
    *UMASK
}

fn guest_type(host: fs::FileType) -> FileType {
    match host {
        fs::FileType::RegularFile => FileType::Regular,
        fs::FileType::Directory => FileType::Directory,
        fs::FileType::Symlink => FileType::Symlink,
        fs::FileType::Fifo => FileType::Fifo,
        _ => FileType::CharDevice,
    }
}

/// The host's flags for opening a regular file. Cutting is done afterwards, for the account's sake.
fn open_flags(access: Access) -> OFlags {
    match (access.read, access.write || access.truncate) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        (_, false) => OFlags::RDONLY,
    }
}

fn timestamps(accessed: SetTime, modified: SetTime) -> Timestamps {
    let time = |set| match set {
        SetTime::Keep => Timespec { tv_sec: 0, tv_nsec: fs::UTIME_OMIT },
        SetTime::Now => Timespec { tv_sec: 0, tv_nsec: fs::UTIME_NOW },
        SetTime::At(at) => {
            Timespec { tv_sec: at.div_euclid(1_000_000_000), tv_nsec: at.rem_euclid(1_000_000_000) as _ }
        }
    };
    Timestamps { last_access: time(accessed), last_modification: time(modified) }
}
