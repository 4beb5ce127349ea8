//! Advisory locks of whole files, as flock(2).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use crate::sandbox::errno::{Errno, Result};

type Holders = Vec<(u64, LockKind)>;

/// Shared or exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// Any number of holders.
    Shared,
    /// One holder.
    Exclusive,
}

/// Device and inode of a file.
pub type FileKey = (u64, u64);

/// Who holds which file: the owning descriptions.
#[derive(Debug, Default)]
pub struct LockTable {
    held: Mutex<HashMap<FileKey, Holders>>,
    released: Notify,
}

impl LockTable {
    /// Takes the lock, or changes the kind of one that `owner` holds. `Again` while another stands in the way; what
    /// `owner` held is given up all the same.
    pub fn acquire(&self, key: FileKey, owner: u64, kind: LockKind) -> Result<()> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let holders = held.entry(key).or_default();
        // A change of kind begins with giving up, as on Linux: two that share and both want it alone would wait for
        // each other for ever.
        let before = holders.len();
        holders.retain(|&(other, _)| other != owner);
        let gave_up = holders.len() < before;
        let blocks = |&(_, other): &(u64, LockKind)| kind == LockKind::Exclusive || other == LockKind::Exclusive;
        let blocked = holders.iter().any(blocks);
        if !blocked {
            holders.push((owner, kind));
        }
        drop(held);
        // Only then: who waits for this lock listens already, and must not wake itself.
        if gave_up {
            self.released.notify_waiters();
        }
        if blocked { Err(Errno::Again) } else { Ok(()) }
    }

    /// Gives the lock up.
    pub fn release(&self, key: FileKey, owner: u64) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(holders) = held.get_mut(&key) {
            holders.retain(|&(other, _)| other != owner);
            if holders.is_empty() {
                held.remove(&key);
            }
        }
        drop(held);
        self.released.notify_waiters();
    }

    /// Told when a lock was given up.
    pub fn released(&self) -> &Notify {
        &self.released
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclusive_excludes_and_shared_shares() {
        let table = LockTable::default();
        let key = (1, 2);
        assert_eq!(table.acquire(key, 1, LockKind::Shared), Ok(()));
        assert_eq!(table.acquire(key, 2, LockKind::Shared), Ok(()));
        assert_eq!(table.acquire(key, 1, LockKind::Exclusive), Err(Errno::Again));
        table.release(key, 2);
        assert_eq!(table.acquire(key, 1, LockKind::Exclusive), Ok(()));
        assert_eq!(table.acquire(key, 2, LockKind::Shared), Err(Errno::Again));
        assert_eq!(table.acquire((1, 3), 2, LockKind::Exclusive), Ok(()));
    }
}
