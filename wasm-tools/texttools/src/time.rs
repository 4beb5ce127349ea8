//! Calendar, time zones and `strftime`.
//!
//! The zone is TZ's: a name below `/usr/share/zoneinfo` or a POSIX rule (`EST5EDT,M3.2.0,M11.1.0`); UTC without one.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::platform;

/// A moment on the clock of a zone.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Civil {
    pub year: i64,
    /// 1..=12
    pub month: i64,
    /// 1..=31
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    /// 0 is Sunday.
    pub weekday: i64,
    /// 0..=365
    pub yearday: i64,
    /// Seconds east of UTC.
    pub offset: i64,
    /// `CET`
    pub zone: String,
    /// Whether it is daylight saving time.
    pub dst: bool,
}

/// Seconds since 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as i64)
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

/// A moment in UTC.
pub fn utc(seconds: i64) -> Civil {
    at_offset(seconds, 0, "UTC".into(), false)
}

fn at_offset(seconds: i64, offset: i64, zone: String, dst: bool) -> Civil {
    // Far beyond any date a file has; keeps the arithmetic below from overflowing.
    let clock = seconds.clamp(-(1 << 55), 1 << 55) + offset;
    let (days, rest) = (clock.div_euclid(86_400), clock.rem_euclid(86_400));
    let (year, month, day) = date_of(days);
    Civil {
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

/// A moment in the local zone.
pub fn local(seconds: i64) -> Civil {
    Zone::local().civil(seconds)
}

/// A time zone.
pub struct Zone {
    /// When a period begins, and its offset, whether it is daylight saving time, and its name.
    transitions: Vec<(i64, i64, bool, String)>,
    rule: Option<Rule>,
}

impl Zone {
    /// The zone of TZ.
    pub fn local() -> Self {
        let utc = Self { transitions: Vec::new(), rule: None };
        let Some(name) = platform::variable("TZ") else { return utc };
        let name = String::from_utf8_lossy(&name).trim_start_matches(':').to_string();
        if name.is_empty() || name == "UTC" || name == "UTC0" {
            return utc;
        }
        if !name.contains("..") {
            let path = if name.starts_with('/') { name.clone() } else { format!("/usr/share/zoneinfo/{name}") };
            if let Some(zone) = std::fs::read(path).ok().and_then(|data| Self::from_file(&data)) {
                return zone;
            }
        }
        Self { transitions: Vec::new(), rule: Rule::parse(&name) }
    }

    /// Reads the 64-bit part of a TZif file (RFC 8536).
    fn from_file(data: &[u8]) -> Option<Self> {
        let count = |data: &[u8], index: usize| -> Option<usize> {
            let at = 20 + index * 4;
            Some(u32::from_be_bytes(data.get(at..at + 4)?.try_into().ok()?) as usize)
        };
        let sizes = |data: &[u8]| -> Option<[usize; 6]> {
            Some([count(data, 0)?, count(data, 1)?, count(data, 2)?, count(data, 3)?, count(data, 4)?, count(data, 5)?])
        };
        if !data.starts_with(b"TZif") || *data.get(4)? < b'2' {
            return None;
        }
        // The counts: UT and standard indicators, leap seconds, transitions, types, characters.
        let [ut, standard, leap, times, types, characters] = sizes(data)?;
        let first = 44 + times * 5 + types * 6 + characters + leap * 8 + standard + ut;
        let data = data.get(first..)?;
        let [ut, standard, leap, times, types, characters] = sizes(data)?;
        let body = data.get(44..)?;
        let (stamps, body) = body.split_at_checked(times * 8)?;
        let (indexes, body) = body.split_at_checked(times)?;
        let (type_table, body) = body.split_at_checked(types * 6)?;
        let (names, body) = body.split_at_checked(characters)?;
        let footer = body.get(leap * 12 + standard + ut..)?;
        let kind = |index: usize| -> Option<(i64, bool, String)> {
            let entry = type_table.get(index * 6..index * 6 + 6)?;
            let offset = i32::from_be_bytes(entry[..4].try_into().ok()?);
            let name = names.get(usize::from(entry[5])..)?.split(|byte| *byte == 0).next()?;
            Some((i64::from(offset), entry[4] != 0, String::from_utf8_lossy(name).into_owned()))
        };
        let mut transitions = Vec::with_capacity(times + 1);
        let (offset, dst, name) = kind(0)?;
        transitions.push((i64::MIN, offset, dst, name));
        for (stamp, index) in stamps.chunks_exact(8).zip(indexes) {
            let (offset, dst, name) = kind(usize::from(*index))?;
            transitions.push((i64::from_be_bytes(stamp.try_into().ok()?), offset, dst, name));
        }
        let footer = String::from_utf8_lossy(footer);
        Some(Self { transitions, rule: Rule::parse(footer.trim()) })
    }

    /// A moment on this zone's clock.
    pub fn civil(&self, seconds: i64) -> Civil {
        let after = self.transitions.partition_point(|transition| transition.0 <= seconds);
        if (after == self.transitions.len() || self.transitions.is_empty())
            && let Some(rule) = &self.rule
        {
            let (offset, dst, name) = rule.at(seconds);
            return at_offset(seconds, offset, name, dst);
        }
        match after.checked_sub(1).and_then(|index| self.transitions.get(index)) {
            Some((_, offset, dst, name)) => at_offset(seconds, *offset, name.clone(), *dst),
            None => utc(seconds),
        }
    }

    /// The moment a clock in this zone shows a time; parts beyond their range count into the next.
    pub fn seconds_of(&self, year: i64, month: i64, day: i64, clock: i64) -> i64 {
        let wanted = days_of(year, month, day).saturating_mul(86_400).saturating_add(clock);
        let mut guess = wanted - self.civil(wanted).offset;
        for _ in 0..2 {
            guess = wanted - self.civil(guess).offset;
        }
        guess
    }
}

/// A POSIX TZ rule.
struct Rule {
    standard: (i64, String),
    daylight: Option<(i64, String, Change, Change)>,
}

/// `M3.2.0/2`: the day and the second of it.
#[derive(Clone, Copy)]
enum Change {
    Weekday { month: i64, week: i64, day: i64, time: i64 },
    Day { day: i64, time: i64 },
}

impl Change {
    fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.split_once('/').map_or((text, Some(7200)), |(date, time)| (date, parse_clock(time)));
        let time = time?;
        if let Some(rest) = date.strip_prefix('M') {
            let mut parts = rest.split('.').map(|part| part.parse::<i64>().ok());
            return Some(Change::Weekday { month: parts.next()??, week: parts.next()??, day: parts.next()??, time });
        }
        match date.strip_prefix('J') {
            Some(day) => Some(Change::Day { day: day.parse::<i64>().ok()? - 1, time }),
            None => Some(Change::Day { day: date.parse().ok()?, time }),
        }
    }

    /// Seconds since 1970 on the clock before the change.
    fn in_year(self, year: i64) -> i64 {
        match self {
            Change::Day { day, time } => (days_of(year, 1, 1) + day) * 86_400 + time,
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

fn parse_clock(text: &str) -> Option<i64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.trim_start_matches('+')),
    };
    let mut total = 0;
    for (part, unit) in text.split(':').zip([3600, 60, 1]) {
        total += part.parse::<i64>().ok()? * unit;
    }
    Some(sign * total)
}

impl Rule {
    fn parse(text: &str) -> Option<Self> {
        let (name, rest) = take_name(text)?;
        let (offset, rest) = take_offset(rest);
        let standard = (-offset?, name);
        if rest.is_empty() {
            return Some(Self { standard, daylight: None });
        }
        let (name, rest) = take_name(rest)?;
        let (offset, rest) = take_offset(rest);
        let offset = offset.map_or(standard.0 + 3600, |offset| -offset);
        let rules = rest.strip_prefix(',').unwrap_or("M3.2.0,M11.1.0");
        let (start, end) = rules.split_once(',')?;
        let daylight = Some((offset, name, Change::parse(start)?, Change::parse(end)?));
        Some(Self { standard, daylight })
    }

    fn at(&self, seconds: i64) -> (i64, bool, String) {
        let (standard, name) = &self.standard;
        let Some((offset, dst_name, start, end)) = &self.daylight else { return (*standard, false, name.clone()) };
        let year = date_of((seconds + standard).div_euclid(86_400)).0;
        let (start, end) = (start.in_year(year) - standard, end.in_year(year) - offset);
        let dst = if start < end { (start..end).contains(&seconds) } else { !(end..start).contains(&seconds) };
        if dst { (*offset, true, dst_name.clone()) } else { (*standard, false, name.clone()) }
    }
}

fn take_name(text: &str) -> Option<(String, &str)> {
    if let Some(rest) = text.strip_prefix('<') {
        let (name, rest) = rest.split_once('>')?;
        return Some((name.to_string(), rest));
    }
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    (end >= 3).then(|| (text[..end].to_string(), &text[end..]))
}

fn take_offset(text: &str) -> (Option<i64>, &str) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '+' | '-' | ':'))).unwrap_or(text.len());
    (if end == 0 { None } else { parse_clock(&text[..end]) }, &text[end..])
}

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

/// ISO 8601's year and week.
fn iso_week(civil: &Civil) -> (i64, i64) {
    let weekday = (civil.weekday + 6) % 7;
    let week = (civil.yearday - weekday + 10) / 7;
    let weeks_in = |year: i64| {
        let january_first = (days_of(year, 1, 1) + 3).rem_euclid(7);
        let leap = days_of(year + 1, 1, 1) - days_of(year, 1, 1) == 366;
        if january_first == 3 || leap && january_first == 2 { 53 } else { 52 }
    };
    if week < 1 {
        (civil.year - 1, weeks_in(civil.year - 1))
    } else if week > weeks_in(civil.year) {
        (civil.year + 1, 1)
    } else {
        (civil.year, week)
    }
}

/// Formats a moment; `seconds` is the same moment for `%s`.
pub fn strftime(format: &[u8], civil: &Civil, seconds: i64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = format.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut flag = None;
        let mut width = 0usize;
        let conversion = loop {
            match bytes.next() {
                Some(found @ (b'-' | b'_' | b'0' | b'^' | b'#')) if width == 0 => flag = Some(found),
                Some(digit @ b'0'..=b'9') => width = (width * 10 + usize::from(digit - b'0')).min(1000),
                Some(b'E' | b'O') => {}
                other => break other,
            }
        };
        let Some(conversion) = conversion else {
            out.push(b'%');
            break;
        };
        let text = convert(conversion, civil, seconds, flag, width);
        match flag {
            Some(b'^') => out.extend_from_slice(text.to_uppercase().as_bytes()),
            _ => out.extend_from_slice(text.as_bytes()),
        }
    }
    out
}

fn convert(conversion: u8, civil: &Civil, seconds: i64, flag: Option<u8>, width: usize) -> String {
    let number = |value: i64, digits: usize, fill: char| {
        let digits = width.max(digits);
        match flag.map_or(fill, |flag| flag as char) {
            '-' => value.to_string(),
            '_' | ' ' => format!("{value:>digits$}"),
            _ => format!("{value:0digits$}"),
        }
    };
    let again = |format: &[u8]| String::from_utf8_lossy(&strftime(format, civil, seconds)).into_owned();
    let hour12 = (civil.hour + 11) % 12 + 1;
    match conversion {
        b'a' => DAYS[civil.weekday as usize][..3].into(),
        b'A' => DAYS[civil.weekday as usize].into(),
        b'b' | b'h' => MONTHS[civil.month as usize - 1][..3].into(),
        b'B' => MONTHS[civil.month as usize - 1].into(),
        b'c' => again(b"%a %b %e %H:%M:%S %Y"),
        b'C' => number(civil.year.div_euclid(100), 2, '0'),
        b'd' => number(civil.day, 2, '0'),
        b'D' | b'x' => again(b"%m/%d/%y"),
        b'e' => number(civil.day, 2, ' '),
        b'F' => again(b"%Y-%m-%d"),
        b'g' => number(iso_week(civil).0.rem_euclid(100), 2, '0'),
        b'G' => number(iso_week(civil).0, 4, '0'),
        b'H' => number(civil.hour, 2, '0'),
        b'I' => number(hour12, 2, '0'),
        b'j' => number(civil.yearday + 1, 3, '0'),
        b'k' => number(civil.hour, 2, ' '),
        b'l' => number(hour12, 2, ' '),
        b'm' => number(civil.month, 2, '0'),
        b'M' => number(civil.minute, 2, '0'),
        b'n' => "\n".into(),
        b'p' => if civil.hour < 12 { "AM" } else { "PM" }.into(),
        b'P' => if civil.hour < 12 { "am" } else { "pm" }.into(),
        b'r' => again(b"%I:%M:%S %p"),
        b'R' => again(b"%H:%M"),
        b's' => seconds.to_string(),
        b'S' => number(civil.second, 2, '0'),
        b't' => "\t".into(),
        b'T' | b'X' => again(b"%H:%M:%S"),
        b'u' => ((civil.weekday + 6) % 7 + 1).to_string(),
        b'U' => number((civil.yearday + 7 - civil.weekday) / 7, 2, '0'),
        b'V' => number(iso_week(civil).1, 2, '0'),
        b'w' => civil.weekday.to_string(),
        b'W' => number((civil.yearday + 7 - (civil.weekday + 6) % 7) / 7, 2, '0'),
        b'y' => number(civil.year.rem_euclid(100), 2, '0'),
        b'Y' => number(civil.year, 4, '0').trim_start_matches(if civil.year < 1000 { '\0' } else { '0' }).into(),
        b'z' => {
            let sign = if civil.offset < 0 { '-' } else { '+' };
            let minutes = civil.offset.abs() / 60;
            format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
        }
        b'Z' => civil.zone.clone(),
        b'%' => "%".into(),
        other => format!("%{}", other as char),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar() {
        let civil = utc(1_709_210_096);
        assert_eq!((civil.year, civil.month, civil.day, civil.hour, civil.weekday), (2024, 2, 29, 12, 4));
        assert_eq!(days_of(2024, 14, 1), days_of(2025, 2, 1));
        let text = strftime(b"%a %d %b %Y %j %V %U %e|%-d %H:%M:%S", &civil, 0);
        assert_eq!(String::from_utf8_lossy(&text), "Thu 29 Feb 2024 060 09 08 29|29 12:34:56");
    }

    #[test]
    fn rules() {
        let rule = Rule::parse("EST5EDT,M3.2.0,M11.1.0");
        let zone = Zone { transitions: Vec::new(), rule };
        assert_eq!(zone.civil(1_720_000_000).zone, "EDT");
        assert_eq!(zone.civil(1_705_000_000).offset, -18_000);
        assert_eq!(zone.seconds_of(2024, 7, 3, 5 * 3600 + 46 * 60 + 40), 1_720_000_000);
    }
}
