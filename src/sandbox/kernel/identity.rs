//! How files show who they are: device and inode numbers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::sandbox::limits::Account;
use crate::sandbox::vfs::Metadata;

/// The memory of one known inode number.
const ENTRY: u64 = 64;

/// The numbers that a sandbox's guests see. Devices are counted as they are first seen, so that they tell nothing of
/// other sandboxes; in a deterministic one inodes too, for the host gives those of its files.
#[derive(Debug)]
pub struct Identities {
    devices: Mutex<Vec<u64>>,
    inodes: Option<Inodes>,
}

#[derive(Debug)]
struct Inodes {
    known: Mutex<HashMap<(u64, u64), u64>>,
    memory: Arc<Account>,
}

impl Identities {
    /// Numbers for a sandbox; `memory` pays for what a deterministic one has to remember.
    pub fn new(deterministic: bool, memory: &Arc<Account>) -> Self {
        let inodes = deterministic.then(|| Inodes { known: Mutex::default(), memory: Arc::clone(memory) });
        Self { devices: Mutex::default(), inodes }
    }

    /// What a guest sees of this.
    pub fn show(&self, metadata: Metadata) -> Metadata {
        let inode = self.inode(metadata.device, metadata.inode);
        Metadata { device: self.device(metadata.device), inode, ..metadata }
    }

    /// What a guest sees of an inode number.
    pub fn inode(&self, device: u64, inode: u64) -> u64 {
        let Some(Inodes { known, memory }) = &self.inodes else { return inode };
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let next = known.len() as u64 + 1;
        match known.get(&(device, inode)) {
            Some(&shown) => shown,
            // Without memory to remember it there is no number of its own.
            None if !memory.charge(ENTRY) => 0,
            None => *known.entry((device, inode)).or_insert(next),
        }
    }

    fn device(&self, device: u64) -> u64 {
        if device == 0 {
            return 0;
        }
        let mut devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        let at = devices.iter().position(|&known| known == device).unwrap_or_else(|| {
            devices.push(device);
            devices.len() - 1
        });
        at as u64 + 1
    }
}

impl Drop for Inodes {
    fn drop(&mut self) {
        let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.memory.refund(known.len() as u64 * ENTRY);
    }
}
