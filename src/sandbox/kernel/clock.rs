//! The clocks of a sandbox.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where a deterministic run's time begins: 2026-01-01T00:00:00Z, in ns since 1970.
const FIXED_START: u64 = 1_767_225_600_000_000_000;
/// How far a deterministic clock moves each time it is asked, in ns: loops that wait for time to pass do end.
const FIXED_STEP: u64 = 1_000;

/// Real and monotonic time, or a made-up time that is the same in each run.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    fixed: Option<std::sync::atomic::AtomicU64>,
}

impl Clock {
    /// The host's time; the monotonic clock begins at 0 with the sandbox, so that it tells nothing of the host.
    pub fn real() -> Self {
        Self { start: Instant::now(), fixed: None }
    }

    /// A clock that moves only when it is asked or slept on.
    pub fn deterministic() -> Self {
        Self { start: Instant::now(), fixed: Some(std::sync::atomic::AtomicU64::new(0)) }
    }

    fn step(&self) -> Option<u64> {
        use std::sync::atomic::Ordering;
        self.fixed.as_ref().map(|now| now.fetch_add(FIXED_STEP, Ordering::Relaxed))
    }

    /// Time since 1970, ns.
    pub fn realtime(&self) -> u64 {
        match self.step() {
            Some(now) => FIXED_START + now,
            None => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, nanoseconds),
        }
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
        if let Some(now) = &self.fixed {
            now.fetch_max(at, std::sync::atomic::Ordering::Relaxed);
            tokio::task::yield_now().await;
            return;
        }
        match self.start.checked_add(Duration::from_nanos(at)) {
            Some(instant) => tokio::time::sleep_until(instant.into()).await,
            None => std::future::pending().await,
        }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
