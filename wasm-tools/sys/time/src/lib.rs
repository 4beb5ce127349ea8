//! Calendar, time zones and `strftime` as the GNU C library has them, shared by the shell and the tools.
//!
//! ```
//! use wskill_time::{Zone, strftime};
//! let berlin = Zone::parse(b"Europe/Berlin");
//! assert_eq!(strftime(b"%F %T %z %Z", &berlin.civil(1_720_000_000)), b"2024-07-03 11:46:40 +0200 CEST");
//! ```

mod calendar;
mod format;
mod rule;
mod zone;

use std::time::{SystemTime, UNIX_EPOCH};

pub use calendar::{Civil, DAYS, MONTHS, date_of, days_of, utc};
pub use format::{strftime, strftime_nanos};
pub use zone::Zone;

/// Seconds since 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs().cast_signed())
}

/// A moment on the clock of TZ's zone.
pub fn local(seconds: i64) -> Civil {
    Zone::local().civil(seconds)
}

/// Nanoseconds since 1970 as whole seconds and the nanoseconds in them, which are never negative.
pub fn split_nanos(nanos: i64) -> (i64, u32) {
    // The remainder is below a thousand million.
    (nanos.div_euclid(1_000_000_000), nanos.rem_euclid(1_000_000_000) as u32)
}
