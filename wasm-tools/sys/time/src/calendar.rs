//! The proleptic Gregorian calendar: days since 1970 and broken-down times.

/// Full names of the days, Sunday first.
pub const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
/// Full names of the months.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A moment on the clock of a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Civil {
    /// The moment itself: seconds since 1970 in UTC.
    pub timestamp: i64,
    /// The year; 0 is 1 BC.
    pub year: i64,
    /// 1..=12
    pub month: i64,
    /// 1..=31
    pub day: i64,
    /// 0..=23
    pub hour: i64,
    /// 0..=59
    pub minute: i64,
    /// 0..=59
    pub second: i64,
    /// 0 is Sunday.
    pub weekday: i64,
    /// 0..=365
    pub yearday: i64,
    /// Seconds east of UTC.
    pub offset: i64,
    /// The zone's abbreviation: `CET`.
    pub zone: String,
    /// Whether it is daylight saving time.
    pub dst: bool,
}

/// Days since 1970 of a date; months beyond 1..=12 count into other years.
pub fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year.saturating_add((month - 1).div_euclid(12));
    let month = (month - 1).rem_euclid(12) + 1;
    // Years that begin in March put the leap day last.
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let of_era = shifted.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date of a day since 1970: year, month, day.
pub fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, of_year - (153 * shifted + 2) / 5 + 1)
}

/// Whether a year has 366 days.
pub(crate) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// A moment in UTC.
pub fn utc(seconds: i64) -> Civil {
    at_offset(seconds, 0, "UTC".into(), false)
}

/// A moment on a clock `offset` seconds east of UTC.
pub(crate) fn at_offset(seconds: i64, offset: i64, zone: String, dst: bool) -> Civil {
    // Far beyond any date a file has; keeps the arithmetic below from overflowing.
    let clock = seconds.clamp(-(1 << 55), 1 << 55) + offset;
    let (days, rest) = (clock.div_euclid(86_400), clock.rem_euclid(86_400));
    let (year, month, day) = date_of(days);
    Civil {
        timestamp: seconds,
        year,
        month,
        day,
        hour: rest / 3600,
        minute: rest / 60 % 60,
        second: rest % 60,
        weekday: (days + 4).rem_euclid(7),
        yearday: days - days_of(year, 1, 1),
        offset,
        zone,
        dst,
    }
}

/// ISO 8601's year and week.
pub(crate) fn iso_week(civil: &Civil) -> (i64, i64) {
    let weekday = (civil.weekday + 6) % 7;
    let week = (civil.yearday - weekday + 10) / 7;
    let weeks_in = |year: i64| {
        let january_first = (days_of(year, 1, 1) + 3).rem_euclid(7);
        if january_first == 3 || is_leap(year) && january_first == 2 { 53 } else { 52 }
    };
    if week < 1 {
        (civil.year - 1, weeks_in(civil.year - 1))
    } else if week > weeks_in(civil.year) {
        (civil.year + 1, 1)
    } else {
        (civil.year, week)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days() {
        let civil = utc(1_709_210_096);
        assert_eq!((civil.year, civil.month, civil.day, civil.hour, civil.weekday), (2024, 2, 29, 12, 4));
        assert_eq!(days_of(2024, 14, 1), days_of(2025, 2, 1));
        assert_eq!(date_of(days_of(1900, 3, 1) - 1), (1900, 2, 28));
    }
}
