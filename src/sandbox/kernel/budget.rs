//! What a sandbox may use and has used.

use std::sync::Arc;

use crate::sandbox::limits::{Account, LimitCounters, Limits};
use crate::sandbox::vfs::Quota;

/// The accounts of a sandbox, and how often each of its limits refused something.
#[derive(Debug)]
pub struct Budget {
    /// Refusals.
    pub counters: Arc<LimitCounters>,
    /// Memory of processes, of files that lie in memory and of pipes without bound.
    pub memory: Arc<Account>,
    /// Data in pipes.
    pub pipes: Arc<Account>,
    /// What the guest has on disk.
    pub disk: Arc<Quota>,
    /// The same for trees that lie in memory, which `memory` pays for too.
    pub memory_trees: Arc<Quota>,
    /// Files without a name, which `memory` pays for alone.
    pub memory_files: Arc<Quota>,
}

impl Budget {
    /// Accounts with nothing in them.
    pub fn new(limits: &Limits) -> Self {
        let counters = Arc::<LimitCounters>::default();
        let memory = Arc::new(Account::new(limits.memory));
        let disk = Quota::new(limits.disk, limits.inodes, limits.file_size, Arc::clone(&counters));
        let unnamed = Quota::new(u64::MAX, u64::MAX, u64::MAX, Arc::clone(&counters));
        Self {
            memory_trees: Arc::new(disk.in_memory(Arc::clone(&memory))),
            memory_files: Arc::new(unnamed.in_memory(Arc::clone(&memory))),
            disk: Arc::new(disk),
            pipes: Arc::new(Account::new(limits.pipes)),
            counters,
            memory,
        }
    }
}
