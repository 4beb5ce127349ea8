//! Points in time as `ls` and `stat` print them, in the zone that TZ names.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The zone of TZ; UTC when it is unset, empty or unknown, as the C library has it.
pub fn zone() -> TimeZone {
    let Some(name) = std::env::var_os("TZ") else { return TimeZone::UTC };
    let name = name.to_string_lossy();
    let name = name.strip_prefix(':').unwrap_or(&name);
    if name.is_empty() || name == "UTC" || name == "UTC0" || name == "GMT" {
        return TimeZone::UTC;
    }
    TimeZone::get(name).or_else(|_| TimeZone::posix(name)).unwrap_or(TimeZone::UTC)
}

/// A point in time from ns since 1970.
pub fn timestamp(ns: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(ns)).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// "2026-11-30 12:00:00.000000000 +0000".
pub fn full(ns: i64, zone: &TimeZone) -> String {
    let time = timestamp(ns).to_zoned(zone.clone());
    format!("{}.{:09} {}", time.strftime("%Y-%m-%d %H:%M:%S"), time.subsec_nanosecond(), time.strftime("%z"))
}

/// A strftime format, with `%N` as nanoseconds and `%s` as seconds.
pub fn format(ns: i64, zone: &TimeZone, format: &str) -> String {
    let time = timestamp(ns).to_zoned(zone.clone());
    let format = format.replace("%%N", "%%\u{0}N").replace("%N", &format!("{:09}", time.subsec_nanosecond()));
    jiff::fmt::strtime::format(format, &time).unwrap_or_default().replace('\u{0}', "")
}

/// The seconds and the nanoseconds in them; the latter never negative.
pub fn split(ns: i64) -> (i64, i64) {
    (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000))
}
