//! The data of a process's store: what its own calls reach without a lock.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use wasmtime::{Memory, ResourceLimiter};

use super::descriptors::Descriptors;
use super::memory::{ProcessMemory, memory_growth, table_growth};
use super::open_file::OpenFile;
use super::process::Process;
use super::timer::IntervalTimer;
use super::{Kernel, Run};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::limits::CONTEXTS_MAX;
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

/// Charges the memory of a process to the sandbox as its instance asks for it.
#[derive(Debug)]
pub struct MemoryLimiter {
    memory: ProcessMemory,
    process: Arc<Process>,
    /// Of what is charged, what spawn paid ahead and the instance has not claimed yet.
    ahead: u64,
}

impl MemoryLimiter {
    fn new(kernel: &Arc<Kernel>, process: &Arc<Process>) -> Self {
        Self { memory: ProcessMemory::new(kernel), process: Arc::clone(process), ahead: 0 }
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
        self.memory.clear();
        self.ahead = 0;
    }

    fn take(&mut self, amount: u64) -> bool {
        let taken = self.memory.charge(amount);
        self.process.peak_memory.fetch_max(self.memory.charged(), Ordering::Relaxed);
        taken
    }

    fn claim(&mut self, amount: u64) -> bool {
        let paid = amount.min(self.ahead);
        self.ahead -= paid;
        self.take(amount - paid)
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(memory_growth(current, desired, maximum).is_some_and(|bytes| self.claim(bytes)))
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(table_growth(current, desired, maximum).is_some_and(|bytes| self.claim(bytes)))
    }
}
