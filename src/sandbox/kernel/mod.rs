//! The kernel of a sandbox: processes, descriptors, pipes, signals, and the budgets they share.
//!
//! A process is one WebAssembly instance in its own store on its own task. The store's data ([`ProcessCtx`]) owns the
//! descriptor table, so that no call on the hot path takes a lock; what others reach ([`Process`]) is in the process
//! table. Killing is dropping: a process's task waits for its code and for its doom at once.

mod budget;
mod context;
mod descriptors;
mod device;
mod end;
mod executor;
mod identity;
mod image;
mod lock;
mod memory;
mod open;
mod open_file;
mod pipe;
mod policy;
mod process;
mod random;
mod run;
mod signal;
mod spawn;
mod stream;
mod task;
mod timer;
mod trace;
mod tty;
mod written;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Notify, watch};

use super::clock::Clock;
use super::engine::Flavour;
use super::errno::Errno;
use super::limits::{LimitName, Limits};
use super::runtime::{Runtime, Ticking};
use super::tools::HostTools;
use super::vfs::{GuestPath, MemoryFile, Vfs};

pub use budget::Budget;
pub use context::{Context, ProcessCtx};
pub use descriptors::Descriptors;
pub use device::{DEVICES, Device};
pub use end::{End, Waited};
pub use executor::{Executor, yield_now};
pub use identity::Identities;
pub use image::{FD_DEVICE, ImageError, program_file};
pub use lock::{LockKind, LockTable};
#[cfg(feature = "component")]
pub use memory::{ProcessMemory, memory_growth, table_growth};
pub use open::{OpenRequest, Opened, list_directory, metadata_at, metadata_of, named, noted, open};
pub use open_file::{Kind, OpenFile};
pub use pipe::{PIPE_BUF, Pipe, PipeReader, PipeWriter};
pub use policy::CommandPolicy;
pub use process::{INIT, ProcessTable, Selector};
pub use random::Random;
pub use run::{FuelTank, Miss, Run};
pub use signal::{Delivery, Disposition, Signal};
pub use spawn::{Command, FdMap, Prepared, prepare, prepare_module, start};
pub use stream::OutputStream;
#[cfg(feature = "component")]
pub use task::end_of_trap;
pub use task::{Flow, settle_fuel};
pub use timer::IntervalTimer;
pub use trace::{Trace, TraceEvent};
pub use tty::{TTY_DEVICE, Tty, WINDOW};

/// How guests see the tree: where descriptors 3 and up point, before any is opened.
#[derive(Clone, Debug)]
pub struct View {
    /// The preopened directories; usually the root alone.
    pub preopens: Arc<[GuestPath]>,
    /// Whether modules without `wskill` imports get relative paths resolved against the working directory. Off when
    /// the preopens say where things are.
    pub guess_relative: bool,
}

impl View {
    /// The directory that is preopened under this number, if one is.
    pub fn preopen(&self, fd: i32) -> Option<&GuestPath> {
        self.preopens.get(usize::try_from(fd.checked_sub(3)?).ok()?)
    }
}

/// A sandbox's kernel.
#[derive(Debug)]
pub struct Kernel {
    /// Engine, programs and threads.
    pub runtime: Arc<Runtime>,
    /// Files.
    pub vfs: Vfs,
    /// What guests see preopened.
    pub view: View,
    /// Limits.
    pub limits: Limits,
    /// How its programs are compiled.
    pub flavour: Flavour,
    /// What it has used of them.
    pub budget: Budget,
    /// Processes.
    pub processes: ProcessTable,
    /// Advisory locks.
    pub locks: Arc<LockTable>,
    /// Time.
    pub clock: Arc<Clock>,
    /// Who runs.
    pub executor: Executor,
    /// What guests see of device and inode numbers.
    pub identities: Identities,
    /// Randomness.
    pub random: Random,
    /// Events for `--trace`.
    pub trace: Option<Trace>,
    /// What guests may ask of the host.
    pub tools: Option<HostTools>,
    /// Which commands may run; `None` for all.
    pub policy: Option<CommandPolicy>,
    /// For what lies in no tree.
    next_inode: AtomicU64,
    fifos: Mutex<HashMap<(u64, u64), Weak<Pipe>>>,
    tasks: AtomicU64,
    task_ended: Notify,
    /// Whether everything is to end.
    closing: watch::Sender<bool>,
    /// Keeps the epochs moving that stop its guests.
    _ticking: Ticking,
}

/// What a kernel is made from.
#[derive(Debug)]
pub struct KernelOptions {
    /// Engine, programs and threads.
    pub runtime: Arc<Runtime>,
    /// Moves the epochs.
    pub ticking: Ticking,
    /// Files.
    pub vfs: Vfs,
    /// What guests see preopened.
    pub view: View,
    /// Limits.
    pub limits: Limits,
    /// The accounts over these limits.
    pub budget: Budget,
    /// How programs are compiled.
    pub flavour: Flavour,
    /// Time.
    pub clock: Arc<Clock>,
    /// Where randomness begins; `None` for the host's.
    pub seed: Option<u64>,
    /// Events.
    pub trace: Option<Trace>,
    /// What guests may ask of the host.
    pub tools: Option<HostTools>,
    /// Which commands may run.
    pub policy: CommandPolicy,
}

impl Kernel {
    /// A kernel without processes.
    pub fn new(options: KernelOptions) -> Arc<Self> {
        let KernelOptions { runtime, ticking, vfs, view, limits, budget, flavour, clock, seed, trace, tools, policy } =
            options;
        Arc::new(Self {
            vfs,
            view,
            flavour,
            processes: ProcessTable::new(limits.processes, limits.spawns),
            locks: Arc::default(),
            executor: Executor::new(runtime.handle().clone(), Arc::clone(&clock)),
            identities: Identities::new(clock.is_deterministic(), &budget.memory),
            clock,
            budget,
            random: seed.map_or(Random::Host, Random::seeded),
            trace,
            tools,
            policy: (!policy.is_empty()).then_some(policy),
            limits,
            runtime,
            fifos: Mutex::default(),
            next_inode: AtomicU64::new(1),
            tasks: AtomicU64::new(0),
            task_ended: Notify::new(),
            closing: watch::Sender::new(false),
            _ticking: ticking,
        })
    }

    /// The fuel that a run gets; `None` when it is not counted.
    pub fn fuel(&self) -> Option<u64> {
        match self.flavour {
            Flavour::Epoch => None,
            Flavour::Fuel => Some(self.limits.fuel.unwrap_or(u64::MAX)),
        }
    }

    /// Ends every process and every run.
    pub fn doom_all(&self) {
        self.processes.doom_all();
        self.closing.send_replace(true);
    }

    /// Waits until everything is to end.
    pub async fn closing(&self) {
        // The sender is the kernel's own.
        let _ = self.closing.subscribe().wait_for(|&closing| closing).await;
    }

    /// An empty pipe without ends. One without bound takes what is written at once, as long as there is memory.
    pub fn new_pipe(&self, unbounded: bool) -> Arc<Pipe> {
        let account = if unbounded { &self.budget.memory } else { &self.budget.pipes };
        Pipe::new(self.next_inode(), unbounded, Arc::clone(account))
    }

    /// An empty file without a name.
    pub fn new_memory_file(&self) -> Arc<MemoryFile> {
        let (inode, quota) = (self.next_inode(), Arc::clone(&self.budget.memory_files));
        MemoryFile::new(inode, quota, Arc::clone(&self.clock))
    }

    fn next_inode(&self) -> u64 {
        self.next_inode.fetch_add(1, Ordering::Relaxed)
    }

    /// The object behind a FIFO, made when nobody has it open.
    pub fn fifo(&self, key: (u64, u64)) -> Arc<Pipe> {
        let mut fifos = self.fifos.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipe) = fifos.get(&key).and_then(Weak::upgrade) {
            return pipe;
        }
        fifos.retain(|_, pipe| pipe.strong_count() > 0);
        let pipe = self.new_pipe(false);
        fifos.insert(key, Arc::downgrade(&pipe));
        pipe
    }

    /// Ends a run with this outcome and all its processes.
    pub fn end_run(&self, run: &Arc<Run>, end: End) {
        if run.finish(end.clone(), &self.budget.counters) {
            let rest = match end {
                End::Limit(_) => end,
                _ => End::Signaled(Signal::KILL, None),
            };
            self.processes.doom_run(run, &rest);
        }
    }

    /// Counts, notes and tells that the policy refused a command that this process (0: the host) asked for.
    pub fn refuse(&self, run: &Run, asker: i32, name: &[u8]) {
        let command = String::from_utf8_lossy(name).into_owned();
        self.budget.counters.hit(LimitName::Policy);
        if let Some(trace) = &self.trace {
            trace.tell(TraceEvent::Refused { at_ms: self.clock.elapsed_ms(), pid: asker, command: command.clone() });
        }
        run.miss(Miss::Refused(command));
    }

    /// Counts what a guest was refused.
    pub fn count(&self, errno: Errno) {
        let name = match errno {
            Errno::TooManyOpenFiles => LimitName::OpenFiles,
            Errno::TooManyOpenFilesInSystem => LimitName::HostFiles,
            Errno::NameTooLong => LimitName::Path,
            Errno::TooBig => LimitName::Args,
            _ => return,
        };
        self.budget.counters.hit(name);
    }

    /// Waits until no process task is left.
    pub async fn idle(&self) {
        loop {
            let mut ended = std::pin::pin!(self.task_ended.notified());
            ended.as_mut().enable();
            if self.tasks.load(Ordering::Acquire) == 0 {
                return;
            }
            ended.await;
        }
    }

    fn task_begins(&self) {
        self.tasks.fetch_add(1, Ordering::AcqRel);
    }

    fn task_ends(&self) {
        self.tasks.fetch_sub(1, Ordering::AcqRel);
        self.task_ended.notify_waiters();
    }
}
