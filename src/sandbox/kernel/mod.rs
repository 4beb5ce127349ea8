//! The kernel of a sandbox: processes, descriptors, pipes, signals, and the budgets they share.
//!
//! A process is one WebAssembly instance in its own store on its own task. The store's data ([`ProcessCtx`]) owns the
//! descriptor table, so that no call on the hot path takes a lock; what others reach ([`Process`]) is in the process
//! table. Killing is dropping: a process's task waits for its code and for its doom at once.

mod clock;
mod context;
mod descriptors;
mod device;
mod image;
mod lock;
mod open;
mod open_file;
mod pipe;
mod process;
mod random;
mod run;
mod signal;
mod spawn;
mod stream;
mod task;
mod timer;
mod trace;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Notify;

use super::engine::Flavour;
use super::errno::Errno;
use super::limits::{Account, LimitCounters, LimitName, Limits};
use super::runtime::{Runtime, Ticking};
use super::vfs::{GuestPath, Quota, Vfs};

pub use clock::Clock;
pub use context::{Context, ProcessCtx};
pub use descriptors::Descriptors;
pub use device::{DEVICES, Device};
pub use image::{FD_DEVICE, ImageError, program_file};
pub use lock::{LockKind, LockTable};
pub use open::{OpenRequest, Opened, list_directory, metadata_at, metadata_of, open};
pub use open_file::{Kind, OpenFile};
pub use pipe::{PIPE_BUF, Pipe, PipeReader, PipeWriter};
pub use process::{End, INIT, ProcessTable, Selector, Waited};
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
    /// Refusals.
    pub counters: Arc<LimitCounters>,
    /// Processes.
    pub processes: ProcessTable,
    /// Memory of processes, pipes and memory files.
    pub memory: Arc<Account>,
    /// Data in pipes.
    pub pipes: Arc<Account>,
    /// The quota of memory files, over the same limit as `memory`.
    pub memory_files: Arc<Quota>,
    /// Quotas of what is on disk.
    pub disk: Arc<Quota>,
    /// Advisory locks.
    pub locks: Arc<LockTable>,
    /// Time.
    pub clock: Clock,
    /// Randomness.
    pub random: Random,
    /// Events for `--trace`.
    pub trace: Option<Trace>,
    fifos: Mutex<HashMap<(u64, u64), Weak<Pipe>>>,
    tasks: AtomicU64,
    task_ended: Notify,
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
    /// The quota of what is on disk.
    pub disk: Arc<Quota>,
    /// How programs are compiled.
    pub flavour: Flavour,
    /// Makes runs repeatable.
    pub seed: Option<u64>,
    /// Events.
    pub trace: Option<Trace>,
}

impl Kernel {
    /// A kernel without processes.
    pub fn new(options: KernelOptions) -> Arc<Self> {
        let KernelOptions { runtime, ticking, vfs, view, limits, disk, flavour, seed, trace } = options;
        Arc::new(Self {
            runtime,
            vfs,
            view,
            flavour,
            counters: Arc::default(),
            processes: ProcessTable::new(limits.processes, limits.spawns),
            memory: Arc::new(Account::new(limits.memory)),
            pipes: Arc::new(Account::new(limits.pipes)),
            memory_files: Arc::new(Quota::new(limits.memory, limits.inodes, limits.memory)),
            disk,
            locks: Arc::default(),
            clock: if seed.is_some() { Clock::deterministic() } else { Clock::real() },
            random: seed.map_or(Random::Host, Random::seeded),
            trace,
            limits,
            fifos: Mutex::default(),
            tasks: AtomicU64::new(0),
            task_ended: Notify::new(),
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

    /// The limits that refused something, those of files among them.
    pub fn limits_hit(&self) -> Vec<(LimitName, u64)> {
        let mut hit = self.counters.snapshot();
        let disk = self.disk.refusals();
        let more = [
            (LimitName::Disk, disk.disk),
            (LimitName::Inodes, disk.inodes),
            (LimitName::FileSize, disk.file_size),
            (LimitName::Memory, self.memory_files.refusals().disk),
        ];
        for (name, count) in more.into_iter().filter(|&(_, count)| count > 0) {
            match hit.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += count,
                None => hit.push((name, count)),
            }
        }
        hit.sort_unstable();
        hit
    }

    /// Ends every process.
    pub fn doom_all(&self) {
        self.processes.doom_all();
    }

    /// The object behind a FIFO, made when nobody has it open.
    pub fn fifo(&self, key: (u64, u64)) -> Arc<Pipe> {
        let mut fifos = self.fifos.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipe) = fifos.get(&key).and_then(Weak::upgrade) {
            return pipe;
        }
        fifos.retain(|_, pipe| pipe.strong_count() > 0);
        let pipe = Pipe::new(false, Arc::clone(&self.pipes));
        fifos.insert(key, Arc::downgrade(&pipe));
        pipe
    }

    /// Ends a run with this outcome and all its processes.
    pub fn end_run(&self, run: &Arc<Run>, end: End) {
        if let End::Limit(name) = end {
            self.counters.hit(name);
        }
        if run.finish(end.clone()) {
            let rest = match end {
                End::Limit(_) => end,
                _ => End::Signaled(Signal::KILL, None),
            };
            self.processes.doom_run(run, &rest);
        }
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
        self.counters.hit(name);
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
