//! Times as stores keep them: milliseconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time now, as it is when it was stored.
pub fn now() -> SystemTime {
    from(of(SystemTime::now()))
}

/// A time before 1970 counts as 1970.
pub fn of(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The time that many milliseconds after 1970.
pub fn from(milliseconds: i64) -> SystemTime {
    let since = Duration::from_millis(u64::try_from(milliseconds).unwrap_or_default());
    UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)
}
