//! A clock that stands still, so that a snapshot is reproducible. A module must ask again when it is resumed.

use std::time::Duration;

use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

/// The time of every file in the archives the guests are built with: 2025-01-01 00:00:00 UTC.
const NOW: Duration = Duration::from_nanos(NANOSECONDS);

/// The same, in nanoseconds since 1970.
pub const NANOSECONDS: u64 = 1_735_689_600_000_000_000;

/// Always [`NOW`].
pub struct Clock;

impl HostWallClock for Clock {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        NOW
    }
}

impl HostMonotonicClock for Clock {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        0
    }
}
