//! How much storage guests may take.

use std::fmt;
use std::sync::Arc;

use super::inodes::OpenInodes;
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::limits::{Account, LimitCounters, LimitName};

/// The memory that a file, directory or link takes beside its content: its name, times and place in a tree.
const INODE_MEMORY: u64 = 512;

/// One account of storage, shared by the mounts that draw on it. Files count with their length, sparse ones in full;
/// directories, links and each further name of a file count as an inode.
///
/// What lay in a host folder when it was mounted is the baseline and costs nothing; giving back more than was charged
/// leaves the account at 0, so a guest that removes part of the baseline cannot store more beyond it than the limit.
#[derive(Clone)]
pub struct Quota {
    storage: Arc<Storage>,
    file_size: u64,
    counters: Arc<LimitCounters>,
    /// Pays too for what lies in memory.
    memory: Option<Arc<Account>>,
}

struct Storage {
    bytes: Account,
    inodes: Account,
    open: OpenInodes,
}

/// An amount of storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes in files.
    pub bytes: u64,
    /// Files, directories, links and named pipes.
    pub inodes: u64,
}

/// What a write may do: `length` of its bytes, for which `charged` have been taken from the account.
#[derive(Clone, Copy, Debug)]
pub(super) struct Admission {
    pub(super) length: usize,
    pub(super) charged: u64,
}

impl Quota {
    /// An account with limits on all bytes, on the number of inodes, and on the length of one file in bytes, of which
    /// the counters learn what they refuse.
    pub fn new(bytes: u64, inodes: u64, file_size: u64, counters: Arc<LimitCounters>) -> Self {
        let (bytes, inodes) = (Account::new(bytes), Account::new(inodes));
        let storage = Storage { bytes, inodes, open: OpenInodes::default() };
        Self { storage: Arc::new(storage), file_size, counters, memory: None }
    }

    /// The same account for another sandbox, with a limit on the length of its files and counters of its own.
    pub fn shared_with(&self, file_size: u64, counters: Arc<LimitCounters>) -> Self {
        Self { storage: Arc::clone(&self.storage), file_size, counters, memory: None }
    }

    /// An account without limits; it still counts.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX, u64::MAX, u64::MAX, Arc::default())
    }

    /// The same account for files that lie in memory: `memory` pays for them too.
    pub fn in_memory(&self, memory: Arc<Account>) -> Self {
        Self { memory: Some(memory), ..self.clone() }
    }

    /// Host files that are open through the mounts of this account.
    pub(super) fn open(&self) -> &OpenInodes {
        &self.storage.open
    }

    fn refuse(&self, limit: LimitName) -> Errno {
        self.counters.hit(limit);
        if limit == LimitName::FileSize { Errno::FileTooBig } else { Errno::NoSpace }
    }

    /// Takes `count` bytes, or none and `NoSpace`.
    pub fn charge_bytes(&self, count: u64) -> Result<()> {
        if !self.storage.bytes.charge(count) {
            return Err(self.refuse(LimitName::Disk));
        }
        self.charge_memory(count).inspect_err(|_| self.storage.bytes.refund(count))
    }

    fn charge_memory(&self, count: u64) -> Result<()> {
        match &self.memory {
            Some(memory) if !memory.charge(count) => Err(self.refuse(LimitName::Memory)),
            _ => Ok(()),
        }
    }

    fn refund_memory(&self, count: u64) {
        if let Some(memory) = &self.memory {
            memory.refund(count);
        }
    }

    /// Takes as many of `count` bytes as are left; fewer count as a refusal.
    pub fn charge_bytes_up_to(&self, count: u64) -> u64 {
        let charged = self.storage.bytes.charge_up_to(count);
        if charged < count {
            self.refuse(LimitName::Disk);
        }
        let Some(memory) = &self.memory else { return charged };
        let paid = memory.charge_up_to(charged);
        if paid < charged {
            self.refuse(LimitName::Memory);
            self.storage.bytes.refund(charged - paid);
        }
        paid
    }

    /// Gives `count` bytes back.
    pub fn release_bytes(&self, count: u64) {
        self.storage.bytes.refund(count);
        self.refund_memory(count);
    }

    /// Takes one inode, or `NoSpace`.
    pub fn charge_inode(&self) -> Result<()> {
        if !self.storage.inodes.charge(1) {
            return Err(self.refuse(LimitName::Inodes));
        }
        self.charge_memory(INODE_MEMORY).inspect_err(|_| self.storage.inodes.refund(1))
    }

    /// Gives one inode back.
    pub fn release_inode(&self) {
        self.storage.inodes.refund(1);
        self.refund_memory(INODE_MEMORY);
    }

    /// `FileTooBig` when a file must not have `length` bytes.
    pub fn check_file_size(&self, length: u64) -> Result<()> {
        // The host's offsets are signed.
        if length <= self.file_size && i64::try_from(length).is_ok() {
            return Ok(());
        }
        Err(self.refuse(LimitName::FileSize))
    }

    /// What is taken now.
    pub fn used(&self) -> Usage {
        Usage { bytes: self.storage.bytes.used(), inodes: self.storage.inodes.used() }
    }

    /// The most that was taken at one time, bytes and inodes each for itself.
    #[cfg(test)]
    pub fn peak(&self) -> Usage {
        Usage { bytes: self.storage.bytes.peak(), inodes: self.storage.inodes.peak() }
    }

    /// The limits on bytes and inodes.
    pub fn limit(&self) -> Usage {
        Usage { bytes: self.storage.bytes.limit(), inodes: self.storage.inodes.limit() }
    }

    /// Charges a write of `length` bytes at `offset` into a file that `paid` bytes have been charged for. When not all
    /// fit, the part that does; the caller gives back what it did not use.
    pub(super) fn admit(&self, paid: u64, offset: u64, length: usize) -> Result<Admission> {
        let limit = self.file_size.min(i64::MAX as u64);
        let room = usize::try_from(limit.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut length = length.min(room);
        if length == 0 {
            return Err(self.refuse(LimitName::FileSize));
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

/// One inode of an account, given back when dropped; of the baseline when it has no account.
#[derive(Debug, Default)]
pub(super) struct InodeCharge {
    quota: Option<Arc<Quota>>,
    memory: u64,
}

impl InodeCharge {
    /// Takes an inode.
    pub(super) fn take(quota: &Arc<Quota>) -> Result<Self> {
        Self::take_with(quota, 0)
    }

    /// Takes an inode that has `length` bytes of memory beside the usual ones: a link's target.
    pub(super) fn take_with(quota: &Arc<Quota>, length: usize) -> Result<Self> {
        let memory = length as u64;
        quota.charge_inode()?;
        quota.charge_memory(memory).inspect_err(|_| quota.release_inode())?;
        Ok(Self { quota: Some(Arc::clone(quota)), memory })
    }
}

impl Drop for InodeCharge {
    fn drop(&mut self) {
        if let Some(quota) = &self.quota {
            quota.refund_memory(self.memory);
            quota.release_inode();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_peaks() {
        let counters = Arc::<LimitCounters>::default();
        let quota = Quota::new(100, 2, 50, counters.clone());
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
        let refused = [(LimitName::Disk, 3), (LimitName::Inodes, 1), (LimitName::FileSize, 1)];
        assert_eq!(counters.snapshot(), refused);
    }

    #[test]
    fn a_write_is_cut_to_what_fits() {
        let quota = Quota::new(100, 2, 80, Arc::default());
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
    fn an_account_is_shared_with_others() {
        let (one, two) = (Arc::<LimitCounters>::default(), Arc::<LimitCounters>::default());
        let account = Quota::new(100, 2, u64::MAX, Arc::default());
        let (first, second) = (account.shared_with(80, one.clone()), account.shared_with(90, two.clone()));
        first.charge_bytes(70).unwrap();
        assert_eq!(second.charge_bytes_up_to(40), 30);
        assert_eq!(second.check_file_size(85), Ok(()));
        assert_eq!(first.check_file_size(85), Err(Errno::FileTooBig));
        first.charge_inode().unwrap();
        second.charge_inode().unwrap();
        assert_eq!(first.charge_inode(), Err(Errno::NoSpace));
        assert_eq!(account.used(), Usage { bytes: 100, inodes: 2 });
        assert_eq!(one.snapshot(), [(LimitName::Inodes, 1), (LimitName::FileSize, 1)]);
        assert_eq!(two.snapshot(), [(LimitName::Disk, 1)]);
    }

    #[test]
    fn files_in_memory_are_paid_from_both() {
        let counters = Arc::<LimitCounters>::default();
        let disk = Quota::new(5000, 10, 5000, counters.clone());
        let memory = Arc::new(Account::new(1000 + INODE_MEMORY));
        let tree = disk.in_memory(memory.clone());
        tree.charge_inode().unwrap();
        assert_eq!(tree.charge_bytes(1001), Err(Errno::NoSpace));
        assert_eq!(tree.admit(0, 0, 1500).unwrap().length, 1000);
        assert_eq!(tree.charge_inode(), Err(Errno::NoSpace));
        assert_eq!(disk.used(), Usage { bytes: 1000, inodes: 1 });
        disk.charge_bytes(4000).unwrap();
        assert_eq!(tree.charge_bytes(1), Err(Errno::NoSpace));
        tree.release_bytes(1000);
        tree.release_inode();
        assert_eq!((memory.used(), disk.used()), (0, Usage { bytes: 4000, inodes: 0 }));
        assert_eq!(counters.snapshot(), [(LimitName::Memory, 3), (LimitName::Disk, 1)]);
    }
}
