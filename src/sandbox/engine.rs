//! The WebAssembly engine's configuration.

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use super::limits::{FIBER_STACK, WASM_STACK};

/// How often a store in the fuel flavour yields, in units of fuel: about 0.6 ms.
pub const FUEL_INTERVAL: u64 = 1_000_000;

/// How code is compiled to be stoppable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavour {
    /// Stops at a change of epoch: fast.
    Epoch,
    /// Counts instructions: a quarter slower, the same in each run.
    Fuel,
}

impl Flavour {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Epoch => "epoch",
            Self::Fuel => "fuel",
        }
    }

    /// The flavour of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Epoch, Self::Fuel].into_iter().find(|flavour| flavour.name() == name)
    }
}

/// How instances get their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Mapped for each instance: nothing is kept, right for a command line.
    OnDemand,
    /// From a pool.
    Pooled {
        /// How many instances at once.
        slots: u32,
        /// How much of a slot's memory stays resident between two instances, bytes. More makes a start faster, its
        /// end slower, and keeps `slots` times as much memory.
        keep_resident: usize,
        /// The largest memory of an instance, bytes.
        max_memory: usize,
    },
}

impl Allocation {
    /// How many instances there may be at once; `None` for as many as memory allows.
    pub fn slots(self) -> Option<u32> {
        match self {
            Self::OnDemand => None,
            Self::Pooled { slots, .. } => Some(slots),
        }
    }
}

/// Makes the engine of a flavour.
///
/// # Errors
/// When the host cannot give the address space of a pool.
pub fn engine(flavour: Flavour, allocation: Allocation) -> wasmtime::Result<Engine> {
    let mut config = Config::new();
    config.max_wasm_stack(WASM_STACK).async_stack_size(FIBER_STACK);
    // Stacks are not zeroed by default; one process must never find another's.
    config.async_stack_zeroing(true);
    config.wasm_exceptions(true);
    // A trap is shown in one line; frames of a guest help nobody.
    config.wasm_backtrace_max_frames(None);
    config.memory_init_cow(true);
    match flavour {
        Flavour::Epoch => {
            config.epoch_interruption(true);
        }
        Flavour::Fuel => {
            config.consume_fuel(true).relaxed_simd_deterministic(true);
            #[cfg(feature = "compile")]
            config.cranelift_nan_canonicalization(true);
        }
    }
    if let Allocation::Pooled { slots, keep_resident, max_memory } = allocation {
        let mut pool = PoolingAllocationConfig::default();
        // A module with exceptions takes a second memory for its heap of exceptions.
        pool.total_memories(slots.saturating_mul(2))
            .total_core_instances(slots)
            .total_tables(slots)
            .total_stacks(slots);
        pool.total_gc_heaps(slots);
        pool.max_memory_size(max_memory).table_elements(100_000);
        // Where Linux tells what was written to, only that is reset.
        pool.pagemap_scan(Enabled::Auto);
        pool.linear_memory_keep_resident(keep_resident).table_keep_resident(keep_resident.min(1 << 20));
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    }
    Engine::new(&config)
}
