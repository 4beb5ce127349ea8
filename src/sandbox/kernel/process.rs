//! The process table: who runs, who is whose child, how each ended.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::end::{End, Waited};
use super::run::Run;
use super::signal::{Delivery, Disposition, Signal, Signals};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::limits::LimitName;

/// The pid of init: the kernel itself, parent of orphans.
pub const INIT: i32 = 1;

/// The part of a process that others reach.
#[derive(Debug)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// The run it belongs to.
    pub run: Arc<Run>,
    /// Its signals.
    pub signals: Signals,
    /// Told when a child ended.
    pub child_ended: Notify,
    /// Processor time so far, ns.
    pub cpu_ns: AtomicU64,
    /// The same of children waited for.
    pub children_cpu_ns: AtomicU64,
    /// The most memory so far, bytes.
    pub peak_memory: AtomicU64,
    /// Fuel charged ahead of the exact figure.
    pub fuel_ahead: AtomicU64,
    /// Whether a host call waits.
    pub waiting: AtomicBool,
    /// When its present slice of the processor began, ns of the sandbox's time.
    pub slice_began: AtomicU64,
    parent: AtomicI32,
    group: AtomicI32,
    fate: Mutex<Option<End>>,
    doomed: Notify,
    ended: Mutex<Option<Waited>>,
}

impl Process {
    /// Its parent's pid.
    pub fn parent(&self) -> i32 {
        self.parent.load(Ordering::Relaxed)
    }

    /// Its process group.
    pub fn group(&self) -> i32 {
        self.group.load(Ordering::Relaxed)
    }

    /// Ends it, as soon as its task is polled; the first reason counts.
    pub fn doom(&self, end: End) {
        self.fate.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(end);
        self.doomed.notify_one();
    }

    /// How it is to end, once that is decided.
    pub fn fate(&self) -> Option<End> {
        self.fate.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until it is to end.
    pub async fn doomed(&self) -> End {
        loop {
            if let Some(end) = self.fate() {
                return end;
            }
            self.doomed.notified().await;
        }
    }

    /// Gets a signal.
    pub fn send(&self, signal: Signal) {
        if self.signals.send(signal) == Delivery::Fatal {
            self.doom(End::Signaled(signal, None));
        }
    }

    /// Waits for `event`; `Interrupted` when a handled signal comes first.
    pub async fn interruptible<T>(&self, event: impl Future<Output = T>) -> Result<T> {
        self.waiting.store(true, Ordering::Relaxed);
        let answer = tokio::select! {
            biased;
            answer = event => Ok(answer),
            () = self.signals.pending() => Err(Errno::Interrupted),
        };
        self.waiting.store(false, Ordering::Relaxed);
        answer
    }

    fn waited(&self) -> Option<Waited> {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Table {
    processes: BTreeMap<i32, Arc<Process>>,
    next_pid: i32,
    started: u64,
    /// All were doomed, and so are those that come after: a parent may be in the middle of starting one.
    closed: bool,
}

impl Table {
    fn has_group(&self, group: i32) -> bool {
        self.processes.values().any(|process| process.group() == group)
    }
}

/// All processes of a sandbox, in pid order.
#[derive(Debug)]
pub struct ProcessTable {
    table: Mutex<Table>,
    at_once: u32,
    in_all: u64,
}

/// Which children or processes a call means, in the numbers of waitpid(2) and kill(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector(pub i32);

impl Selector {
    fn matches(self, process: &Process, own_group: i32) -> bool {
        match self.0 {
            -1 => true,
            0 => process.group() == own_group,
            pid if pid > 0 => process.pid == pid,
            group => process.group() == group.saturating_neg(),
        }
    }
}

impl ProcessTable {
    /// An empty table with limits: so many at once, so many ever.
    pub fn new(at_once: u32, in_all: u64) -> Self {
        let table = Table { processes: BTreeMap::new(), next_pid: INIT + 1, started: 0, closed: false };
        Self { table: Mutex::new(table), at_once, in_all }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a process belongs to this group.
    pub fn has_group(&self, group: i32) -> bool {
        self.lock().has_group(group)
    }

    /// Makes an entry. `group` is `None` for the parent's, `Some(0)` for a new one. The error names the limit.
    pub fn create(
        &self,
        run: Arc<Run>,
        parent: Option<&Process>,
        group: Option<i32>,
        ignored: u64,
    ) -> std::result::Result<Arc<Process>, LimitName> {
        let mut table = self.lock();
        // One that has ended counts until its parent has asked for its status, as on Linux.
        if table.processes.len() >= self.at_once as usize {
            return Err(LimitName::Processes);
        }
        if table.started >= self.in_all {
            return Err(LimitName::Spawns);
        }
        let pid = table.next_pid;
        table.next_pid = pid.checked_add(1).ok_or(LimitName::Spawns)?;
        table.started += 1;
        let group = match (group, parent) {
            (Some(0), _) | (None, None) => pid,
            (Some(group), _) => group,
            (None, Some(parent)) => parent.group(),
        };
        let process = Arc::new(Process {
            pid,
            run,
            signals: Signals::new(ignored),
            child_ended: Notify::new(),
            cpu_ns: AtomicU64::new(0),
            children_cpu_ns: AtomicU64::new(0),
            peak_memory: AtomicU64::new(0),
            fuel_ahead: AtomicU64::new(0),
            waiting: AtomicBool::new(false),
            slice_began: AtomicU64::new(0),
            parent: AtomicI32::new(parent.map_or(0, |parent| parent.pid)),
            group: AtomicI32::new(group),
            fate: Mutex::new(None),
            doomed: Notify::new(),
            ended: Mutex::new(None),
        });
        if table.closed {
            process.doom(End::Signaled(Signal::KILL, None));
        }
        table.processes.insert(pid, Arc::clone(&process));
        Ok(process)
    }

    /// Records an end: the parent is told, children become init's.
    pub fn finish(&self, process: &Process, end: &End) {
        let waited = Waited {
            pid: process.pid,
            status: end.wait_status(),
            cpu_ns: process.cpu_ns.load(Ordering::Relaxed),
            peak_memory: process.peak_memory.load(Ordering::Relaxed),
        };
        let mut table = self.lock();
        *process.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(waited);
        table.processes.retain(|_, child| {
            let orphan = child.parent() == process.pid;
            if orphan {
                child.parent.store(INIT, Ordering::Relaxed);
            }
            !(orphan && child.waited().is_some())
        });
        let parent = table.processes.get(&process.parent()).cloned();
        let unwanted = |parent: &Arc<Process>| parent.signals.disposition(Signal::CHLD) == Disposition::Ignore;
        if parent.as_ref().is_none_or(unwanted) {
            table.processes.remove(&process.pid);
        }
        drop(table);
        if let Some(parent) = parent {
            parent.send(Signal::CHLD);
            parent.child_ended.notify_waiters();
        }
    }

    /// Takes an ended child off the table. `None` when there are such children but none has ended; `Child` when there
    /// are none.
    pub fn reap(&self, parent: &Process, which: Selector) -> Result<Option<Waited>> {
        let mut table = self.lock();
        let mut any = false;
        let mut found = None;
        for child in table.processes.values() {
            if child.parent() == parent.pid && which.matches(child, parent.group()) {
                any = true;
                found = child.waited();
                if found.is_some() {
                    break;
                }
            }
        }
        if let Some(waited) = found {
            table.processes.remove(&waited.pid);
            parent.children_cpu_ns.fetch_add(waited.cpu_ns, Ordering::Relaxed);
            return Ok(Some(waited));
        }
        if any { Ok(None) } else { Err(Errno::Child) }
    }

    /// Sends a signal (`None` only asks) to all that `which` names, as kill(2): -1 spares the sender.
    pub fn kill(&self, sender: &Process, which: Selector, signal: Option<Signal>) -> Result<()> {
        let spare = (which.0 == -1).then_some(sender.pid);
        let targets: Vec<_> = {
            let table = self.lock();
            let all = table.processes.values();
            let chosen = all.filter(|p| which.matches(p, sender.group()) && Some(p.pid) != spare);
            chosen.cloned().collect()
        };
        if targets.is_empty() {
            return Err(Errno::NoProcess);
        }
        if let Some(signal) = signal {
            targets.iter().for_each(|process| process.send(signal));
        }
        Ok(())
    }

    /// Sends a signal to all processes of a run; answers whether there are any.
    pub fn signal_run(&self, run: &Run, signal: Signal) -> bool {
        let all = self.of_run(run);
        all.iter().for_each(|process| process.send(signal));
        !all.is_empty()
    }

    fn of_run(&self, run: &Run) -> Vec<Arc<Process>> {
        self.lock().processes.values().filter(|process| std::ptr::eq(&*process.run, run)).cloned().collect()
    }

    /// The process with this pid, running or not waited for yet.
    pub fn get(&self, pid: i32) -> Result<Arc<Process>> {
        self.lock().processes.get(&pid).cloned().ok_or(Errno::NoProcess)
    }

    /// setpgid(2): the caller or a child of its; the group must be new (its own pid) or exist.
    pub fn set_group(&self, caller: &Process, pid: i32, group: i32) -> Result<()> {
        if group < 0 {
            return Err(Errno::Invalid);
        }
        let table = self.lock();
        let pid = if pid == 0 { caller.pid } else { pid };
        let target = table.processes.get(&pid).ok_or(Errno::NoProcess)?;
        if pid != caller.pid && target.parent() != caller.pid {
            return Err(Errno::NoProcess);
        }
        let group = if group == 0 { pid } else { group };
        if group != pid && !table.has_group(group) {
            return Err(Errno::NotPermitted);
        }
        target.group.store(group, Ordering::Relaxed);
        Ok(())
    }

    /// Dooms all processes of a run.
    pub fn doom_run(&self, run: &Run, end: &End) {
        for process in self.of_run(run) {
            process.doom(end.clone());
        }
    }

    /// Dooms all processes, also those to come.
    pub fn doom_all(&self) {
        let all: Vec<_> = {
            let mut table = self.lock();
            table.closed = true;
            table.processes.values().cloned().collect()
        };
        for process in all {
            process.doom(End::Signaled(Signal::KILL, None));
        }
    }
}
