//! How much storage guests may take.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::inodes::OpenInodes;
use crate::sandbox::errno::{Errno, Result};

/// One account of storage, shared by the mounts that draw on it. Files count with their length, sparse ones in full.
///
/// What lay in a host folder when it was mounted is the baseline and costs nothing; giving back more than was charged
/// leaves the account at 0, so a guest that removes part of the baseline cannot store more beyond it than the limit.
pub struct Quota {
    bytes: Account,
    inodes: Account,
    file_size: u64,
    disk_refusals: AtomicU64,
    inode_refusals: AtomicU64,
    file_size_refusals: AtomicU64,
    /// Host files that are open through the mounts of this account.
    pub(super) open: OpenInodes,
}

/// An amount of storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes in files.
    pub bytes: u64,
    /// Files, directories, links and named pipes.
    pub inodes: u64,
}

/// How often each limit was met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// The limit on bytes (`ENOSPC`).
    pub disk: u64,
    /// The limit on inodes (`ENOSPC`).
    pub inodes: u64,
    /// The limit on one file's length (`EFBIG`).
    pub file_size: u64,
}

/// What a write may do: `length` of its bytes, for which `charged` have been taken from the account.
#[derive(Clone, Copy, Debug)]
pub(super) struct Admission {
    pub(super) length: usize,
    pub(super) charged: u64,
}

impl Quota {
    /// An account with limits on all bytes, on the number of inodes, and on the length of one file in bytes.
    pub fn new(bytes: u64, inodes: u64, file_size: u64) -> Self {
        Self {
            bytes: Account::new(bytes),
            inodes: Account::new(inodes),
            file_size,
            disk_refusals: AtomicU64::new(0),
            inode_refusals: AtomicU64::new(0),
            file_size_refusals: AtomicU64::new(0),
            open: OpenInodes::default(),
        }
    }

    /// An account without limits; it still counts.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX, u64::MAX, u64::MAX)
    }

    /// Takes `count` bytes, or none and `NoSpace`.
    pub fn charge_bytes(&self, count: u64) -> Result<()> {
        if self.bytes.charge(count) {
            return Ok(());
        }
        self.disk_refusals.fetch_add(1, Ordering::Relaxed);
        Err(Errno::NoSpace)
    }

    /// Takes as many of `count` bytes as are left; fewer count as a refusal.
    pub fn charge_bytes_up_to(&self, count: u64) -> u64 {
        let charged = self.bytes.charge_up_to(count);
        if charged < count {
            self.disk_refusals.fetch_add(1, Ordering::Relaxed);
        }
        charged
    }

    /// Gives `count` bytes back.
    pub fn release_bytes(&self, count: u64) {
        self.bytes.release(count);
    }

    /// Takes one inode, or `NoSpace`.
    pub fn charge_inode(&self) -> Result<()> {
        if self.inodes.charge(1) {
            return Ok(());
        }
        self.inode_refusals.fetch_add(1, Ordering::Relaxed);
        Err(Errno::NoSpace)
    }

    /// Gives one inode back.
    pub fn release_inode(&self) {
        self.inodes.release(1);
    }

    /// `FileTooBig` when a file must not have `length` bytes.
    pub fn check_file_size(&self, length: u64) -> Result<()> {
        // The host's offsets are signed.
        if length <= self.file_size && i64::try_from(length).is_ok() {
            return Ok(());
        }
        self.file_size_refusals.fetch_add(1, Ordering::Relaxed);
        Err(Errno::FileTooBig)
    }

    /// What is taken now.
    pub fn used(&self) -> Usage {
        Usage { bytes: self.bytes.used.load(Ordering::Relaxed), inodes: self.inodes.used.load(Ordering::Relaxed) }
    }

    /// The most that was taken at one time, bytes and inodes each for itself.
    #[cfg(test)]
    pub fn peak(&self) -> Usage {
        Usage { bytes: self.bytes.peak.load(Ordering::Relaxed), inodes: self.inodes.peak.load(Ordering::Relaxed) }
    }

    /// The limits on bytes and inodes.
    pub fn limit(&self) -> Usage {
        Usage { bytes: self.bytes.limit, inodes: self.inodes.limit }
    }

    /// How often each limit was met.
    pub fn refusals(&self) -> Refusals {
        Refusals {
            disk: self.disk_refusals.load(Ordering::Relaxed),
            inodes: self.inode_refusals.load(Ordering::Relaxed),
            file_size: self.file_size_refusals.load(Ordering::Relaxed),
        }
    }

    /// Charges a write of `length` bytes at `offset` into a file that `paid` bytes have been charged for. When not all
    /// fit, the part that does; the caller gives back what it did not use.
    pub(super) fn admit(&self, paid: u64, offset: u64, length: usize) -> Result<Admission> {
        let limit = self.file_size.min(i64::MAX as u64);
        let room = usize::try_from(limit.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut length = length.min(room);
        if length == 0 {
            self.file_size_refusals.fetch_add(1, Ordering::Relaxed);
            return Err(Errno::FileTooBig);
        }
        let growth = (offset + length as u64).saturating_sub(paid);
        let charged = self.charge_bytes_up_to(growth);
        if charged < growth {
            let end = paid + charged;
            if end <= offset {
                self.release_bytes(charged);
                return Err(Errno::NoSpace);
            }
            length = usize::try_from(end - offset).unwrap_or(length).min(length);
        }
        Ok(Admission { length, charged })
    }
}

impl fmt::Debug for Quota {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Quota")
            .field("used", &self.used())
            .field("limit", &self.limit())
            .finish_non_exhaustive()
    }
}

/// A counter with a limit, and the most that it has held.
#[derive(Debug)]
struct Account {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
}

impl Account {
    fn new(limit: u64) -> Self {
        Self { limit, used: AtomicU64::new(0), peak: AtomicU64::new(0) }
    }

    fn charge(&self, count: u64) -> bool {
        let step = |used: u64| used.checked_add(count).filter(|&sum| sum <= self.limit);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step) {
            Ok(before) => {
                self.peak.fetch_max(before + count, Ordering::Relaxed);
                true
            }
            Err(_) => false,
        }
    }

    fn charge_up_to(&self, count: u64) -> u64 {
        let mut charged = 0;
        let step = |used: u64| {
            charged = count.min(self.limit.saturating_sub(used));
            Some(used + charged)
        };
        if let Ok(before) = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step) {
            self.peak.fetch_max(before + charged, Ordering::Relaxed);
        }
        charged
    }

    fn release(&self, count: u64) {
        let step = |used: u64| Some(used.saturating_sub(count));
        let _ = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step);
    }
}

/// One inode of an account, given back when dropped; of the baseline when it has no account.
#[derive(Debug, Default)]
pub(super) struct InodeCharge(Option<Arc<Quota>>);

impl InodeCharge {
    /// Takes an inode.
    pub(super) fn take(quota: &Arc<Quota>) -> Result<Self> {
        quota.charge_inode()?;
        Ok(Self(Some(Arc::clone(quota))))
    }
}

impl Drop for InodeCharge {
    fn drop(&mut self) {
        if let Some(quota) = &self.0 {
            quota.release_inode();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn limits_and_peaks() {
        let quota = Quota::new(100, 2, 50);
        quota.charge_bytes(60).unwrap();
        assert_eq!(quota.charge_bytes(41), Err(Errno::NoSpace));
        assert_eq!(quota.charge_bytes(u64::MAX), Err(Errno::NoSpace));
        assert_eq!(quota.charge_bytes_up_to(41), 40);
        quota.release_bytes(1000);
        quota.charge_inode().unwrap();
        quota.charge_inode().unwrap();
        assert_eq!(quota.charge_inode(), Err(Errno::NoSpace));
        assert_eq!(quota.check_file_size(50), Ok(()));
        assert_eq!(quota.check_file_size(51), Err(Errno::FileTooBig));
        assert_eq!(quota.used(), Usage { bytes: 0, inodes: 2 });
        assert_eq!(quota.peak(), Usage { bytes: 100, inodes: 2 });
        assert_eq!(quota.refusals(), Refusals { disk: 3, inodes: 1, file_size: 1 });
    }

    #[test]
    fn a_write_is_cut_to_what_fits() {
        let quota = Quota::new(100, 2, 80);
        let admission = quota.admit(0, 70, 20).unwrap();
        assert_eq!((admission.length, admission.charged), (10, 80));
        let admission = quota.admit(0, 10, 30).unwrap();
        assert_eq!((admission.length, admission.charged), (10, 20));
        assert_eq!(quota.admit(0, 10, 30).unwrap_err(), Errno::NoSpace);
        assert_eq!(quota.admit(0, 80, 1).unwrap_err(), Errno::FileTooBig);
        assert_eq!(quota.admit(20, 10, 10).unwrap().charged, 0);
        assert_eq!(Quota::unlimited().admit(0, u64::MAX, 1).unwrap_err(), Errno::FileTooBig);
    }

    #[test]
    fn no_overshoot_with_many_threads() {
        let quota = Quota::new(1000, 1000, 1000);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..20_000_u64 {
                        let taken = quota.charge_bytes_up_to(round % 700);
                        assert!(quota.used().bytes <= 1000);
                        quota.release_bytes(taken);
                    }
                });
            }
        });
        assert_eq!(quota.used().bytes, 0);
        assert!(quota.peak().bytes <= 1000);
    }
}
