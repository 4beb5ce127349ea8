//! POSIX time zone rules: `CET-1CEST,M3.5.0,M10.5.0/3`.

use crate::calendar::{date_of, days_of, is_leap};

/// An offset from UTC with its name.
#[derive(Clone, Debug)]
pub struct Period {
    /// Seconds east of UTC.
    pub offset: i64,
    /// Whether it is daylight saving time.
    pub dst: bool,
    /// The abbreviation.
    pub name: String,
}

/// A POSIX rule.
#[derive(Clone, Debug)]
pub struct Rule {
    standard: Period,
    daylight: Option<(Period, Change, Change)>,
}

/// The day of a change, and the clock before it when it comes, in seconds.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// `M3.5.0/2`: the last (or n-th) weekday of a month.
    Weekday { month: i64, week: i64, day: i64, time: i64 },
    /// `J60`: 1..=365, 29 February never counted.
    Julian { day: i64, time: i64 },
    /// `59`: 0..=365.
    Day { day: i64, time: i64 },
}

impl Change {
    fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.split_once('/').map_or((text, Some(7200)), |(date, time)| (date, parse_clock(time)));
        let time = time?;
        let number = |text: &str, most: i64| text.parse::<i64>().ok().filter(|number| (0..=most).contains(number));
        if let Some(rest) = date.strip_prefix('M') {
            let mut parts = rest.split('.').map(|part| number(part, 12));
            return Some(Change::Weekday { month: parts.next()??, week: parts.next()??, day: parts.next()??, time });
        }
        match date.strip_prefix('J') {
            Some(day) => Some(Change::Julian { day: number(day, 365)?, time }),
            None => Some(Change::Day { day: number(date, 365)?, time }),
        }
    }

    /// Seconds since 1970 on the clock before the change.
    fn in_year(self, year: i64) -> i64 {
        match self {
            Change::Day { day, time } => (days_of(year, 1, 1) + day) * 86_400 + time,
            Change::Julian { day, time } => {
                let day = day - 1 + i64::from(is_leap(year) && day >= 60);
                (days_of(year, 1, 1) + day) * 86_400 + time
            }
            Change::Weekday { month, week, day, time } => {
                let first = days_of(year, month, 1);
                let mut days = first + (day - (first + 4)).rem_euclid(7) + (week - 1) * 7;
                while days >= days_of(year, month + 1, 1) {
                    days -= 7;
                }
                days * 86_400 + time
            }
        }
    }
}

/// `[+-]hours[:minutes[:seconds]]` in seconds.
fn parse_clock(text: &str) -> Option<i64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut total = 0;
    for (part, unit) in text.split(':').zip([3600, 60, 1]) {
        total += part.parse::<u16>().ok().map(i64::from)? * unit;
    }
    Some(sign * total)
}

impl Rule {
    /// Reads as much of a rule as there is. As the C library has it: a name without an offset is at UTC, and what is
    /// no name at all is at UTC with an empty one.
    pub fn parse(text: &str) -> Self {
        let at = |offset: i64, dst: bool, name: &str| Period { offset, dst, name: name.into() };
        let Some((name, rest)) = take_name(text) else { return Self { standard: at(0, false, ""), daylight: None } };
        let (offset, rest) = take_offset(rest);
        let Some(offset) = offset else { return Self { standard: at(0, false, name), daylight: None } };
        let standard = at(-offset, false, name);
        let daylight = take_name(rest).and_then(|(name, rest)| {
            let (offset, rest) = take_offset(rest);
            let offset = offset.map_or(standard.offset + 3600, |offset| -offset);
            let (start, end) = rest.strip_prefix(',').unwrap_or("M3.2.0,M11.1.0").split_once(',')?;
            Some((at(offset, true, name), Change::parse(start)?, Change::parse(end)?))
        });
        Self { standard, daylight }
    }

    /// What holds at a moment.
    pub fn at(&self, seconds: i64) -> &Period {
        let Some((daylight, start, end)) = &self.daylight else { return &self.standard };
        let year = date_of((seconds.clamp(-(1 << 55), 1 << 55) + self.standard.offset).div_euclid(86_400)).0;
        let (start, end) = (start.in_year(year) - self.standard.offset, end.in_year(year) - daylight.offset);
        let dst = if start < end { (start..end).contains(&seconds) } else { !(end..start).contains(&seconds) };
        if dst { daylight } else { &self.standard }
    }
}

/// `CET`, or anything within `<>`.
fn take_name(text: &str) -> Option<(&str, &str)> {
    if let Some(rest) = text.strip_prefix('<') {
        return rest.split_once('>');
    }
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    (end >= 3).then(|| text.split_at(end))
}

fn take_offset(text: &str) -> (Option<i64>, &str) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '+' | '-' | ':'))).unwrap_or(text.len());
    (if end == 0 { None } else { parse_clock(&text[..end]) }, &text[end..])
}
