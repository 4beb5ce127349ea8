//! The clocks of a sandbox.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where a deterministic run's time begins: 2026-01-01T00:00:00Z, in ns since 1970.
pub const FIXED_START: u64 = 1_767_225_600_000_000_000;
/// How far a deterministic clock moves each time it is asked, in ns: loops that wait for time to pass do end.
const FIXED_STEP: u64 = 1_000;

/// Real and monotonic time, or a made-up time that is the same in each run.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    fixed: Option<Fixed>,
}

/// A made-up time and who waits for it.
#[derive(Debug, Default)]
struct Fixed {
    now: AtomicU64,
    /// Who sleeps, by the time to be woken and the order in which they came.
    sleepers: Mutex<BTreeMap<(u64, u64), Waker>>,
    came: AtomicU64,
}

impl Fixed {
    fn sleepers(&self) -> MutexGuard<'_, BTreeMap<(u64, u64), Waker>> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a sleeper off the list that no longer waits.
struct Sleeper<'a> {
    fixed: &'a Fixed,
    key: (u64, u64),
}

impl Drop for Sleeper<'_> {
    fn drop(&mut self) {
        self.fixed.sleepers().remove(&self.key);
    }
}

impl Clock {
    /// The host's time; the monotonic clock begins at 0 with the sandbox, so that it tells nothing of the host.
    pub fn real() -> Self {
        Self { start: Instant::now(), fixed: None }
    }

    /// A clock that moves when it is asked, when guests compute ([`Clock::pass`]) and when everybody sleeps
    /// ([`Clock::advance`]).
    pub fn deterministic() -> Self {
        Self { start: Instant::now(), fixed: Some(Fixed::default()) }
    }

    fn step(&self) -> Option<u64> {
        self.fixed.as_ref().map(|fixed| fixed.now.fetch_add(FIXED_STEP, Ordering::Relaxed))
    }

    /// Time since 1970, ns.
    pub fn realtime(&self) -> u64 {
        match self.step() {
            Some(now) => FIXED_START.saturating_add(now),
            None => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, nanoseconds),
        }
    }

    /// The same for the times of files.
    pub fn file_time(&self) -> i64 {
        i64::try_from(self.realtime()).unwrap_or(i64::MAX)
    }

    /// Time since the sandbox began, ns.
    pub fn monotonic(&self) -> u64 {
        self.step().unwrap_or_else(|| nanoseconds(self.start.elapsed()))
    }

    /// Real time since the sandbox began, ms; for traces.
    pub fn elapsed_ms(&self) -> f64 {
        self.start.elapsed().as_secs_f64() * 1e3
    }

    /// Real time since the sandbox began, ns; for processor times.
    pub fn elapsed_ns(&self) -> u64 {
        nanoseconds(self.start.elapsed())
    }

    /// Whether time is made up.
    pub fn is_deterministic(&self) -> bool {
        self.fixed.is_some()
    }

    /// Waits until the monotonic clock shows `at`.
    pub async fn sleep_until(&self, at: u64) {
        if let Some(fixed) = &self.fixed {
            let sleeper = Sleeper { fixed, key: (at, fixed.came.fetch_add(1, Ordering::Relaxed)) };
            poll_fn(|context| {
                if fixed.now.load(Ordering::Relaxed) >= at {
                    return Poll::Ready(());
                }
                fixed.sleepers().insert(sleeper.key, context.waker().clone());
                Poll::Pending
            })
            .await;
            return;
        }
        match self.start.checked_add(Duration::from_nanos(at)) {
            Some(instant) => tokio::time::sleep_until(instant.into()).await,
            None => std::future::pending().await,
        }
    }

    /// Moves a deterministic clock by the time that a guest has computed, ns.
    pub fn pass(&self, time: u64) {
        if let Some(fixed) = &self.fixed {
            fixed.now.fetch_add(time, Ordering::Relaxed);
        }
    }

    /// Wakes those whose time has come by a deterministic clock.
    pub fn wake_due(&self) {
        let Some(fixed) = &self.fixed else { return };
        let due = {
            let mut sleepers = fixed.sleepers();
            let later = sleepers.split_off(&(fixed.now.load(Ordering::Relaxed).saturating_add(1), 0));
            std::mem::replace(&mut *sleepers, later)
        };
        due.into_values().for_each(Waker::wake);
    }

    /// Moves a deterministic clock to when the next sleeper is to wake. Answers whether there is one.
    pub fn advance(&self) -> bool {
        let Some(fixed) = &self.fixed else { return false };
        let next = fixed.sleepers().keys().next().copied();
        next.is_some_and(|(at, _)| {
            fixed.now.fetch_max(at, Ordering::Relaxed);
            true
        })
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::Context;

    #[test]
    fn a_made_up_clock_moves_to_the_next_sleeper() {
        let clock = Clock::deterministic();
        let mut context = Context::from_waker(Waker::noop());
        let mut early = pin!(clock.sleep_until(5_000_000));
        let mut late = pin!(clock.sleep_until(9_000_000_000));
        assert!(late.as_mut().poll(&mut context).is_pending());
        assert!(early.as_mut().poll(&mut context).is_pending());
        clock.wake_due();
        assert!(early.as_mut().poll(&mut context).is_pending());
        assert!(clock.advance());
        assert!(early.as_mut().poll(&mut context).is_ready());
        assert!(late.as_mut().poll(&mut context).is_pending());
        clock.wake_due();
        clock.pass(9_000_000_000);
        clock.wake_due();
        assert!(late.as_mut().poll(&mut context).is_ready());
        assert!(!clock.advance());
        assert!(clock.monotonic() >= 9_000_000_000);
        assert_eq!(Clock::deterministic().realtime(), FIXED_START);
    }

    #[test]
    fn who_no_longer_sleeps_is_forgotten() {
        let clock = Clock::deterministic();
        {
            let mut gone = pin!(clock.sleep_until(1_000_000));
            assert!(gone.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert!(!clock.advance());
    }
}
