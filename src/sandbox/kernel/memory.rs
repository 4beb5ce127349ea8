//! The memory of a process, charged to its sandbox.

use std::sync::Arc;

use super::Kernel;
use crate::sandbox::limits::LimitName;

/// What a table's element takes on the host, bytes.
const TABLE_ELEMENT: u64 = 16;

/// What one process has been charged; given back when dropped.
#[derive(Debug)]
pub struct ProcessMemory {
    kernel: Arc<Kernel>,
    charged: u64,
}

impl ProcessMemory {
    /// Nothing yet.
    pub fn new(kernel: &Arc<Kernel>) -> Self {
        Self { kernel: Arc::clone(kernel), charged: 0 }
    }

    /// Takes `amount` bytes, or none and answers `false`: the limits on a process and on the sandbox both count.
    pub fn charge(&mut self, amount: u64) -> bool {
        let budget = &self.kernel.budget;
        if self.charged.saturating_add(amount) > self.kernel.limits.process_memory {
            budget.counters.hit(LimitName::ProcessMemory);
            return false;
        }
        if !budget.memory.charge(amount) {
            budget.counters.hit(LimitName::Memory);
            return false;
        }
        self.charged += amount;
        true
    }

    /// What it has been charged, bytes.
    pub fn charged(&self) -> u64 {
        self.charged
    }

    /// Gives everything back.
    pub fn clear(&mut self) {
        self.kernel.budget.memory.refund(self.charged);
        self.charged = 0;
    }
}

impl Drop for ProcessMemory {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The bytes that a memory's growth takes; `None` when the module's own maximum forbids it.
pub fn memory_growth(current: usize, desired: usize, maximum: Option<usize>) -> Option<u64> {
    (maximum.is_none_or(|maximum| desired <= maximum)).then(|| desired.saturating_sub(current) as u64)
}

/// The same for a table, whose sizes are in elements.
pub fn table_growth(current: usize, desired: usize, maximum: Option<usize>) -> Option<u64> {
    memory_growth(current, desired, maximum).map(|elements| elements.saturating_mul(TABLE_ELEMENT))
}
