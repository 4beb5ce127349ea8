//! What a sandbox may use and has used.

use std::sync::Arc;

use super::trace::{Trace, TraceEvent};
use crate::sandbox::clock::Clock;
use crate::sandbox::disk::DiskAccount;
use crate::sandbox::limits::{Account, LimitCounters, LimitName, Limits};
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
    /// Calls of the host's tools.
    pub tool_calls: Account,
    /// What the guest has on disk, maybe shared with other sandboxes.
    pub disk: Arc<Quota>,
    /// What the guest has in trees that lie in memory, which `memory` pays for too. Without a shared account they count
    /// as disk.
    pub memory_trees: Arc<Quota>,
    /// Files without a name, which `memory` pays for alone.
    pub memory_files: Arc<Quota>,
}

impl Budget {
    /// Accounts with nothing in them, but for a shared one. The trace is told of each limit that refuses something, the
    /// first time.
    pub fn new(limits: &Limits, clock: &Arc<Clock>, trace: Option<&Trace>, shared: Option<&DiskAccount>) -> Self {
        let counters = Arc::new(match trace {
            None => LimitCounters::default(),
            Some(trace) => {
                let (trace, clock) = (trace.clone(), Arc::clone(clock));
                let tell = move |limit: LimitName| {
                    trace.tell(TraceEvent::Limit { at_ms: clock.elapsed_ms(), limit: limit.as_str() });
                };
                LimitCounters::telling(tell)
            }
        });
        let memory = Arc::new(Account::new(limits.memory));
        let own = Quota::new(limits.disk, limits.inodes, limits.file_size, Arc::clone(&counters));
        let disk = shared.map_or_else(|| own.clone(), |account| account.quota(limits.file_size, Arc::clone(&counters)));
        let unnamed = Quota::new(u64::MAX, u64::MAX, u64::MAX, Arc::clone(&counters));
        Self {
            memory_trees: Arc::new(own.in_memory(Arc::clone(&memory))),
            memory_files: Arc::new(unnamed.in_memory(Arc::clone(&memory))),
            disk: Arc::new(disk),
            pipes: Arc::new(Account::new(limits.pipes)),
            tool_calls: Account::new(limits.tool_calls),
            counters,
            memory,
        }
    }
}
