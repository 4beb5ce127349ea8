//! One run: a first process, all that it starts, and the outcome.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::end::End;
use super::tty::Tty;
use super::written::Written;
use crate::sandbox::limits::{Account, LimitCounters};

/// Something the guest asked for in vain that a person or model could do something about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Miss {
    /// A command that the sandbox has not.
    Command(String),
    /// A path of the host that is not mounted.
    HostPath(String),
    /// A write below a skill.
    ReadOnly(String),
    /// A command that the policy does not allow.
    Refused(String),
    /// The network.
    Network,
}

/// The most misses that are kept: more help nobody.
const MISSES_MAX: usize = 20;

/// What a run shares with its processes.
#[derive(Debug)]
pub struct Run {
    /// When it began.
    pub started: Instant,
    /// Captured standard output.
    pub stdout: Mutex<Vec<u8>>,
    /// Captured standard error.
    pub stderr: Mutex<Vec<u8>>,
    /// What both hold together.
    pub output: Account,
    /// Processes started.
    pub processes: AtomicU64,
    /// Fuel that is left; `None` when it is not counted.
    pub fuel: Option<FuelTank>,
    /// What its processes have written.
    pub written: Written,
    first: AtomicI32,
    deadline: Mutex<Option<Instant>>,
    deadline_moved: Notify,
    host_time: Mutex<Duration>,
    /// With the fuel used by then: what is taken down after the end settles at any time.
    end: OnceLock<(End, Option<u64>)>,
    ended: Notify,
    /// Its processes' descriptors hold it.
    tty: OnceLock<Weak<Tty>>,
    misses: Mutex<BTreeSet<Miss>>,
}

impl Run {
    /// A run that has not begun.
    pub fn new(wall_time: Option<Duration>, output: u64, fuel: Option<u64>) -> Self {
        let started = Instant::now();
        Self {
            started,
            stdout: Mutex::default(),
            stderr: Mutex::default(),
            output: Account::new(output),
            processes: AtomicU64::new(0),
            fuel: fuel.map(FuelTank::new),
            written: Written::default(),
            first: AtomicI32::new(0),
            // A time past the clock's range is none.
            deadline: Mutex::new(wall_time.and_then(|time| started.checked_add(time))),
            deadline_moved: Notify::new(),
            host_time: Mutex::default(),
            end: OnceLock::new(),
            ended: Notify::new(),
            tty: OnceLock::new(),
            misses: Mutex::default(),
        }
    }

    /// Gives it a terminal.
    pub fn set_tty(&self, tty: &Arc<Tty>) {
        // Once, before it begins.
        let _ = self.tty.set(Arc::downgrade(tty));
    }

    /// Its terminal, as long as a process has it open.
    pub fn tty(&self) -> Option<Arc<Tty>> {
        self.tty.get()?.upgrade()
    }

    /// Names the first process, whose end is the run's.
    pub fn set_first(&self, pid: i32) {
        self.first.store(pid, Ordering::Relaxed);
    }

    /// Whether this pid is the first process's.
    pub fn is_first(&self, pid: i32) -> bool {
        self.first.load(Ordering::Relaxed) == pid
    }

    /// Ends the run for the caller; the first end counts, and a limit that ends it is counted once. The answer says
    /// whether this was it.
    pub fn finish(&self, end: End, counters: &LimitCounters) -> bool {
        let limit = if let End::Limit(name) = end { Some(name) } else { None };
        if self.end.set((end, self.fuel.as_ref().map(FuelTank::used))).is_err() {
            return false;
        }
        limit.into_iter().for_each(|name| counters.hit(name));
        self.ended.notify_waiters();
        true
    }

    /// Waits for its end.
    pub async fn ended(&self) -> End {
        loop {
            let mut ended = std::pin::pin!(self.ended.notified());
            ended.as_mut().enable();
            if let Some((end, _)) = self.end.get() {
                return end.clone();
            }
            ended.await;
        }
    }

    /// The fuel that it had used at its end; `None` when that is not counted, or before.
    pub fn fuel_used(&self) -> Option<u64> {
        self.end.get()?.1
    }

    /// Whether it has ended for the caller.
    pub fn is_over(&self) -> bool {
        self.end.get().is_some()
    }

    /// Waits for the deadline, moved or not; for ever when there is none.
    pub async fn deadline_passed(&self) {
        loop {
            let moved = self.deadline_moved.notified();
            let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
            match deadline {
                None => moved.await,
                Some(at) if Instant::now() >= at => return,
                Some(at) => {
                    tokio::select! {
                        () = tokio::time::sleep_until(at.into()) => {}
                        () = moved => {}
                    }
                }
            }
        }
    }

    /// Real time since it began, without what the host spent on compiling.
    pub fn elapsed(&self) -> Duration {
        let spent = *self.host_time.lock().unwrap_or_else(PoisonError::into_inner);
        self.started.elapsed().saturating_sub(spent)
    }

    /// Gives time back that the host spent (compiling).
    pub fn extend_deadline(&self, by: Duration) {
        if by.is_zero() {
            return;
        }
        *self.host_time.lock().unwrap_or_else(PoisonError::into_inner) += by;
        if let Some(at) = self.deadline.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            *at += by;
        }
        self.deadline_moved.notify_one();
    }

    /// Notes a miss.
    pub fn miss(&self, miss: Miss) {
        let mut misses = self.misses.lock().unwrap_or_else(PoisonError::into_inner);
        if misses.len() < MISSES_MAX {
            misses.insert(miss);
        }
    }

    /// The misses so far, sorted.
    pub fn misses(&self) -> Vec<Miss> {
        self.misses.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// The fuel of a run, shared by its processes. A running store holds a copy of what is left and is charged in steps:
/// while it computes, by the interval at each of its yields; exactly, when it calls the host or ends.
#[derive(Debug)]
pub struct FuelTank {
    limit: u64,
    used: AtomicU64,
}

impl FuelTank {
    fn new(limit: u64) -> Self {
        Self { limit, used: AtomicU64::new(0) }
    }

    /// Adds to what is used and answers what is left.
    pub fn burn(&self, amount: u64) -> u64 {
        let before = self.used.fetch_add(amount, Ordering::Relaxed);
        self.limit.saturating_sub(before.saturating_add(amount))
    }

    /// Takes back what was charged ahead.
    pub fn unburn(&self, amount: u64) {
        self.used.fetch_sub(amount, Ordering::Relaxed);
    }

    /// What is left.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// What was used; the limit at most.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed).min(self.limit)
    }
}
