//! Points in time as `ls`, `du` and `stat` print them.

use wskill_time::{Zone, split_nanos, strftime_nanos};

/// "2026-11-30 12:00:00.000000000 +0000".
pub fn full(ns: i64, zone: &Zone) -> String {
    format(ns, zone, "%Y-%m-%d %H:%M:%S.%N %z")
}

/// A moment, in ns since 1970, in `date`'s format.
pub fn format(ns: i64, zone: &Zone, format: &str) -> String {
    let (seconds, nanos) = split_nanos(ns);
    let text = strftime_nanos(format.as_bytes(), &zone.civil(seconds), nanos);
    String::from_utf8_lossy(&text).into_owned()
}
