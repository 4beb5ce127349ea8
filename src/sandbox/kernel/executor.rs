//! Who runs next. Usually the runtime's threads decide; in a deterministic sandbox one task runs at a time, in the
//! order of process numbers, and time moves when all of them wait.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::sandbox::clock::Clock;

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A task's place: its process, and its number there.
type Place = (i32, u64);

/// Runs the tasks of a sandbox.
#[derive(Debug)]
pub enum Executor {
    /// On the runtime's threads.
    Threads(Handle),
    /// One after another.
    Ordered(Arc<Ordered>),
}

/// A task that can be ended from outside.
#[derive(Debug)]
pub enum TaskHandle {
    /// Of the runtime.
    Thread(AbortHandle),
    /// Of an ordered executor.
    Ordered(Arc<Ordered>, Place),
}

impl TaskHandle {
    /// Ends it. Must not be called by the task itself.
    pub fn abort(&self) {
        match self {
            Self::Thread(task) => task.abort(),
            Self::Ordered(ordered, place) => {
                // Dropped after the lock: it may wake others.
                let _task = ordered.state().tasks.remove(place);
            }
        }
    }
}

impl Executor {
    /// An executor on the runtime's threads, or in order when the clock is a made-up one.
    pub fn new(threads: Handle, clock: Arc<Clock>) -> Self {
        if !clock.is_deterministic() {
            return Self::Threads(threads);
        }
        let state = State { tasks: BTreeMap::new(), started: 0, driven: false };
        let shared = Shared { woken: Notify::new(), outside: AtomicBool::new(false) };
        Self::Ordered(Arc::new(Ordered { threads, clock, state: Mutex::new(state), shared: Arc::new(shared) }))
    }

    /// Runs a task of a process.
    pub fn spawn(&self, pid: i32, job: impl Future<Output = ()> + Send + 'static) -> TaskHandle {
        match self {
            Self::Threads(threads) => TaskHandle::Thread(threads.spawn(job).abort_handle()),
            Self::Ordered(ordered) => TaskHandle::Ordered(Arc::clone(ordered), ordered.add(pid, Box::pin(job))),
        }
    }

    /// Waits for something that the host does and whose duration must not change what the guests do: in an ordered
    /// sandbox nobody else runs meanwhile.
    pub async fn outside<T>(&self, work: impl Future<Output = T>) -> T {
        let Self::Ordered(ordered) = self else { return work.await };
        let _inside = Inside(&ordered.shared);
        let mut work = std::pin::pin!(work);
        std::future::poll_fn(|context| {
            let polled = work.as_mut().poll(context);
            ordered.shared.outside.store(polled.is_pending(), Ordering::Relaxed);
            polled
        })
        .await
    }
}

/// Tasks that run one at a time.
#[derive(Debug)]
pub struct Ordered {
    threads: Handle,
    clock: Arc<Clock>,
    state: Mutex<State>,
    shared: Arc<Shared>,
}

struct State {
    tasks: BTreeMap<Place, Task>,
    started: u64,
    /// Whether somebody polls them.
    driven: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("tasks", &self.tasks.len()).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Shared {
    /// Some task may go on.
    woken: Notify,
    /// Whether the task that was polled last waits for the host.
    outside: AtomicBool,
}

/// The end of waiting for the host, also when it is given up.
struct Inside<'a>(&'a Shared);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.outside.store(false, Ordering::Relaxed);
    }
}

struct Task {
    /// Taken while it is polled.
    job: Option<Job>,
    flag: Arc<Flag>,
}

/// Whether a task may go on.
struct Flag {
    ready: AtomicBool,
    shared: Arc<Shared>,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.ready.store(true, Ordering::Release);
        self.shared.woken.notify_one();
    }
}

impl Ordered {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(self: &Arc<Self>, pid: i32, job: Job) -> Place {
        let flag = Arc::new(Flag { ready: AtomicBool::new(true), shared: Arc::clone(&self.shared) });
        let mut state = self.state();
        state.started += 1;
        let place = (pid, state.started);
        state.tasks.insert(place, Task { job: Some(job), flag });
        if !std::mem::replace(&mut state.driven, true) {
            self.threads.spawn(Arc::clone(self).drive());
        }
        self.shared.woken.notify_one();
        place
    }

    /// Polls the tasks, in rounds, until none is left.
    async fn drive(self: Arc<Self>) {
        loop {
            self.clock.wake_due();
            let round: Vec<Place> = {
                let mut state = self.state();
                if state.tasks.is_empty() {
                    state.driven = false;
                    return;
                }
                let ready = state.tasks.iter().filter(|(_, task)| task.flag.ready.load(Ordering::Acquire));
                ready.map(|(&place, _)| place).collect()
            };
            if round.is_empty() && !self.clock.advance() {
                self.shared.woken.notified().await;
            }
            for place in round {
                self.poll(place);
                // Nobody else's turn while it waits for the host.
                while self.shared.outside.load(Ordering::Relaxed) {
                    self.shared.woken.notified().await;
                    self.poll(place);
                }
                tokio::task::yield_now().await;
            }
        }
    }

    /// Lets a task go on, if it may.
    fn poll(&self, place: Place) {
        let (mut job, flag) = {
            let mut state = self.state();
            let Some(task) = state.tasks.get_mut(&place) else { return };
            if !task.flag.ready.swap(false, Ordering::AcqRel) {
                return;
            }
            let Some(job) = task.job.take() else { return };
            (job, Arc::clone(&task.flag))
        };
        let waker = Waker::from(flag);
        // As with the runtime's threads, a task that panics ends and the others go on.
        let poll = AssertUnwindSafe(|| job.as_mut().poll(&mut Context::from_waker(&waker)));
        let pending = std::panic::catch_unwind(poll).is_ok_and(|polled| polled.is_pending());
        let mut state = self.state();
        match state.tasks.get_mut(&place) {
            Some(task) if pending => task.job = Some(job),
            // Ended by itself or by another: what it holds goes after the lock.
            _ => {
                state.tasks.remove(&place);
                drop(state);
                drop(job);
            }
        }
    }
}

/// Lets others run once.
pub async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
