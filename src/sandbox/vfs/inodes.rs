//! Which host files are open, so that storage is given back when the last name *and* the last descriptor are gone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Device and inode number on the host.
pub(super) type Key = (u64, u64);

/// The open host files of one account.
#[derive(Debug, Default)]
pub(super) struct OpenInodes {
    /// Held shared while a file is opened or made, alone while a name goes away: between a lookup and the entry in
    /// the table, no name may vanish.
    names: RwLock<()>,
    table: Mutex<HashMap<Key, Holders>>,
}

#[derive(Debug)]
struct Holders {
    count: usize,
    inode: Arc<OpenInode>,
}

/// What all openings of one host file share.
#[derive(Debug, Default)]
pub(super) struct OpenInode {
    change: Mutex<()>,
    nameless: AtomicBool,
}

impl OpenInode {
    /// Held while a file's length may change, so that the account sees each change once.
    pub(super) fn changing(&self) -> MutexGuard<'_, ()> {
        self.change.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenInodes {
    /// Keeps names from going away.
    pub(super) fn keep_names(&self) -> RwLockReadGuard<'_, ()> {
        self.names.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets one caller remove names.
    pub(super) fn remove_names(&self) -> RwLockWriteGuard<'_, ()> {
        self.names.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Key, Holders>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters one more opening.
    pub(super) fn enter(&self, key: Key) -> Arc<OpenInode> {
        let mut table = self.table();
        let holders = table.entry(key).or_insert_with(|| Holders { count: 0, inode: Arc::default() });
        holders.count += 1;
        Arc::clone(&holders.inode)
    }

    /// Ends one opening; true when it was the last of a file without a name, whose storage is now free.
    pub(super) fn leave(&self, key: Key) -> bool {
        let mut table = self.table();
        let Some(holders) = table.get_mut(&key) else {
            return false;
        };
        holders.count -= 1;
        if holders.count > 0 {
            return false;
        }
        table.remove(&key).is_some_and(|holders| holders.inode.nameless.load(Ordering::Relaxed))
    }

    /// Tells that a file has lost its last name; true when nobody has it open, so that its storage is free at once.
    pub(super) fn lost_last_name(&self, key: Key) -> bool {
        match self.table().get(&key) {
            Some(holders) => {
                holders.inode.nameless.store(true, Ordering::Relaxed);
                false
            }
            None => true,
        }
    }
}
