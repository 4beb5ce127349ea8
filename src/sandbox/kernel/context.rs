//! The data of a process's store: what its own calls reach without a lock.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use wasmtime::{Memory, ResourceLimiter};

use super::descriptors::Descriptors;
use super::open_file::OpenFile;
use super::process::Process;
use super::timer::IntervalTimer;
use super::{Kernel, Run};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::limits::{Account, CONTEXTS_MAX, LimitName};
use crate::sandbox::vfs::GuestPath;

/// What a subshell in place saves and gets back.
#[derive(Clone, Debug)]
pub struct Context {
    /// The descriptor table.
    pub descriptors: Descriptors,
    /// The working directory.
    pub cwd: GuestPath,
    /// The mask of modes of new files.
    pub umask: u32,
}

/// A process as its own calls see it.
#[derive(Debug)]
pub struct ProcessCtx {
    /// The sandbox's kernel.
    pub kernel: Arc<Kernel>,
    /// The part that others reach.
    pub process: Arc<Process>,
    /// Descriptors, working directory, umask.
    pub current: Context,
    /// Arguments, `argv[0]` first.
    pub argv: Vec<Vec<u8>>,
    /// Environment, `NAME=value`.
    pub env: Vec<Vec<u8>>,
    /// The installed command it was started as; empty for another module.
    pub program: Vec<u8>,
    /// Its timer.
    pub timer: Option<IntervalTimer>,
    /// Counts its memory.
    pub limiter: MemoryLimiter,
    /// Its memory, once it is instantiated.
    pub memory: Option<Memory>,
    /// Whether it imports from `wskill`.
    pub bound: bool,
    /// Where the guest wants to be told of pending signals; 0: nowhere.
    pub signal_flag: u32,
    /// The store's fuel when it was last settled.
    pub fuel_seen: u64,
    saved: Vec<Context>,
}

impl ProcessCtx {
    /// A process that is about to run.
    pub fn new(
        kernel: Arc<Kernel>,
        process: Arc<Process>,
        current: Context,
        argv: Vec<Vec<u8>>,
        env: Vec<Vec<u8>>,
    ) -> Self {
        let limiter = MemoryLimiter::new(&kernel, &process);
        Self {
            kernel,
            process,
            current,
            argv,
            env,
            program: Vec::new(),
            timer: None,
            limiter,
            memory: None,
            bound: false,
            signal_flag: 0,
            fuel_seen: 0,
            saved: Vec::new(),
        }
    }

    /// The run it belongs to.
    pub fn run(&self) -> &Arc<Run> {
        &self.process.run
    }

    /// Its processor time up to now, ns; in a deterministic run one for each instruction.
    pub fn cpu_now(&self) -> u64 {
        let clock = &self.kernel.clock;
        let settled = self.process.cpu_ns.load(Ordering::Relaxed);
        if clock.is_deterministic() {
            return settled;
        }
        let slice = clock.elapsed_ns().saturating_sub(self.process.slice_began.load(Ordering::Relaxed));
        settled.saturating_add(slice)
    }

    /// The description behind a descriptor.
    pub fn file(&self, fd: i32) -> Result<&Arc<OpenFile>> {
        self.current.descriptors.file(fd)
    }

    /// Saves the context and goes on with a copy; answers how many are saved.
    pub fn push(&mut self) -> Result<usize> {
        if self.saved.len() >= CONTEXTS_MAX {
            return Err(Errno::Loop);
        }
        self.saved.push(self.current.clone());
        Ok(self.saved.len())
    }

    /// Goes back to what `push` saved when it answered `depth`.
    pub fn pop(&mut self, depth: usize) -> Result<()> {
        if depth == 0 || depth > self.saved.len() {
            return Err(Errno::Invalid);
        }
        let saved = self.saved.drain(depth - 1..).next();
        // The range begins below the length.
        self.current = saved.ok_or(Errno::Invalid)?;
        Ok(())
    }

    /// Closes everything, so that others see the end of pipes before the end of the process.
    pub fn close_all(&mut self) {
        self.saved.clear();
        self.current.descriptors = self.current.descriptors.empty_like();
        self.timer = None;
    }
}

/// Charges the memory of a process to the sandbox.
#[derive(Debug)]
pub struct MemoryLimiter {
    kernel: Arc<Kernel>,
    process: Arc<Process>,
    charged: u64,
    /// Of `charged`, what spawn paid ahead and the instance has not claimed yet.
    ahead: u64,
}

/// What a table's element takes on the host.
const TABLE_ELEMENT: u64 = 16;

impl MemoryLimiter {
    fn new(kernel: &Arc<Kernel>, process: &Arc<Process>) -> Self {
        Self { kernel: Arc::clone(kernel), process: Arc::clone(process), charged: 0, ahead: 0 }
    }

    /// Charges what an instance will claim as it begins, so that the spawning process gets the error.
    pub fn prepay(&mut self, amount: u64) -> Result<()> {
        if !self.take(amount) {
            return Err(Errno::NoMemory);
        }
        self.ahead += amount;
        Ok(())
    }

    /// Forgets all that was charged, for a new image.
    pub fn reset(&mut self) {
        self.account().refund(self.charged);
        self.charged = 0;
        self.ahead = 0;
    }

    fn account(&self) -> &Account {
        &self.kernel.budget.memory
    }

    fn take(&mut self, amount: u64) -> bool {
        let counters = &self.kernel.budget.counters;
        if self.charged.saturating_add(amount) > self.kernel.limits.process_memory {
            counters.hit(LimitName::ProcessMemory);
            return false;
        }
        if !self.account().charge(amount) {
            counters.hit(LimitName::Memory);
            return false;
        }
        self.charged += amount;
        self.process.peak_memory.fetch_max(self.charged, Ordering::Relaxed);
        true
    }

    fn claim(&mut self, amount: u64) -> bool {
        let paid = amount.min(self.ahead);
        self.ahead -= paid;
        self.take(amount - paid)
    }
}

impl Drop for MemoryLimiter {
    fn drop(&mut self) {
        self.account().refund(self.charged);
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        Ok(self.claim(desired.saturating_sub(current) as u64))
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        Ok(self.claim((desired.saturating_sub(current) as u64).saturating_mul(TABLE_ELEMENT)))
    }
}
