//! `strftime` for `printf %(…)T` and prompts: proleptic Gregorian, UTC or a fixed offset from TZ.

/// A broken-down time.
struct Parts {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    weekday: i64,
    yearday: i64,
}

const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
const MONTHS: [&str; 12] = [
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

fn split(seconds: i64) -> Parts {
    let days = seconds.div_euclid(86_400);
    let rest = seconds.rem_euclid(86_400);
    // Days to a civil date, counting from 1 March of year 0.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    let leap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0;
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let yearday = BEFORE[(month - 1) as usize] + day - 1 + i64::from(leap && month > 2);
    Parts {
        year,
        month,
        day,
        hour: rest / 3600,
        minute: rest / 60 % 60,
        second: rest % 60,
        weekday: (days + 4).rem_euclid(7),
        yearday,
    }
}

/// The zone's name and its offset east of Greenwich in seconds: `UTC`, or POSIX's `EST5` without rules.
fn zone(tz: Option<&[u8]>) -> (String, i64) {
    let text = tz.map(|t| String::from_utf8_lossy(t).into_owned()).unwrap_or_default();
    let name_end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (name, rest) = text.split_at(name_end);
    if name.len() < 3 || rest.is_empty() {
        return ("UTC".into(), 0);
    }
    let (sign, digits) = match rest.as_bytes()[0] {
        b'-' => (1, &rest[1..]),
        b'+' => (-1, &rest[1..]),
        _ => (-1, rest),
    };
    let mut fields = digits
        .split(':')
        .map(|f| f.trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<i64>().ok());
    let Some(Some(hours)) = fields.next() else {
        return ("UTC".into(), 0);
    };
    let minutes = fields.next().flatten().unwrap_or(0);
    (name.to_string(), sign * (hours * 3600 + minutes * 60))
}

/// ISO 8601 week number and its year.
fn iso_week(p: &Parts) -> (i64, i64) {
    let weekday = (p.weekday + 6) % 7;
    let week = (p.yearday - weekday + 10) / 7;
    let leap = |y: i64| y % 4 == 0 && y % 100 != 0 || y % 400 == 0;
    let weeks_in = |y: i64| {
        let jan1 = (split((days_from_civil(y, 1, 1)) * 86_400).weekday + 6) % 7;
        if jan1 == 3 || jan1 == 2 && leap(y) { 53 } else { 52 }
    };
    if week < 1 {
        (p.year - 1, weeks_in(p.year - 1))
    } else if week > weeks_in(p.year) {
        (p.year + 1, 1)
    } else {
        (p.year, week)
    }
}

fn days_from_civil(y: i64, m: i64, d: i64) -> i64 {
    let y = if m <= 2 { y - 1 } else { y };
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let doy = (153 * (if m > 2 { m - 3 } else { m + 9 }) + 2) / 5 + d - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

/// Formats a time.
pub fn strftime(format: &[u8], seconds: i64, tz: Option<&[u8]>) -> Vec<u8> {
    let (name, offset) = zone(tz);
    let p = split(seconds + offset);
    let mut out = Vec::new();
    let mut i = 0;
    while i < format.len() {
        if format[i] != b'%' || i + 1 >= format.len() {
            out.push(format[i]);
            i += 1;
            continue;
        }
        i += 1;
        let mut pad: Option<char> = None;
        while let Some(c) = format.get(i) {
            match c {
                b'-' => pad = Some('-'),
                b'_' => pad = Some(' '),
                b'0' => pad = Some('0'),
                b'E' | b'O' => {}
                _ => break,
            }
            i += 1;
        }
        let Some(&c) = format.get(i) else { break };
        i += 1;
        let number = |value: i64, width: usize, default: char| -> String {
            match pad.unwrap_or(default) {
                '-' => value.to_string(),
                ' ' => format!("{value:>width$}"),
                _ => format!("{value:0>width$}"),
            }
        };
        let hour12 = if p.hour % 12 == 0 { 12 } else { p.hour % 12 };
        let nested = |inner: &str| String::from_utf8_lossy(&strftime(inner.as_bytes(), seconds, tz)).into_owned();
        let text = match c {
            b'Y' => p.year.to_string(),
            b'C' => number(p.year.div_euclid(100), 2, '0'),
            b'y' => number(p.year.rem_euclid(100), 2, '0'),
            b'm' => number(p.month, 2, '0'),
            b'd' => number(p.day, 2, '0'),
            b'e' => number(p.day, 2, ' '),
            b'H' => number(p.hour, 2, '0'),
            b'I' => number(hour12, 2, '0'),
            b'k' => number(p.hour, 2, ' '),
            b'l' => number(hour12, 2, ' '),
            b'M' => number(p.minute, 2, '0'),
            b'S' => number(p.second, 2, '0'),
            b's' => seconds.to_string(),
            b'j' => number(p.yearday + 1, 3, '0'),
            b'a' => DAYS[p.weekday as usize][..3].to_string(),
            b'A' => DAYS[p.weekday as usize].to_string(),
            b'b' | b'h' => MONTHS[(p.month - 1) as usize][..3].to_string(),
            b'B' => MONTHS[(p.month - 1) as usize].to_string(),
            b'u' => (if p.weekday == 0 { 7 } else { p.weekday }).to_string(),
            b'w' => p.weekday.to_string(),
            b'p' => (if p.hour < 12 { "AM" } else { "PM" }).to_string(),
            b'P' => (if p.hour < 12 { "am" } else { "pm" }).to_string(),
            b'D' | b'x' => nested("%m/%d/%y"),
            b'F' => nested("%Y-%m-%d"),
            b'T' | b'X' => nested("%H:%M:%S"),
            b'R' => nested("%H:%M"),
            b'r' => nested("%I:%M:%S %p"),
            b'c' => nested("%a %b %e %H:%M:%S %Y"),
            b'n' => "\n".to_string(),
            b't' => "\t".to_string(),
            b'%' => "%".to_string(),
            b'Z' => name.clone(),
            b'z' => format!(
                "{}{:02}{:02}",
                if offset < 0 { '-' } else { '+' },
                offset.abs() / 3600,
                offset.abs() / 60 % 60
            ),
            b'G' => iso_week(&p).0.to_string(),
            b'g' => number(iso_week(&p).0.rem_euclid(100), 2, '0'),
            b'V' => number(iso_week(&p).1, 2, '0'),
            b'U' => number((p.yearday + 7 - p.weekday) / 7, 2, '0'),
            b'W' => number((p.yearday + 7 - (p.weekday + 6) % 7) / 7, 2, '0'),
            other => format!("%{}", other as char),
        };
        out.extend_from_slice(text.as_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        assert_eq!(strftime(b"%F %T %a %j", 0, None), b"1970-01-01 00:00:00 Thu 001");
        assert_eq!(strftime(b"%Y-%m-%d", 951_782_400, None), b"2000-02-29");
        assert_eq!(strftime(b"%H %z", 0, Some(b"EST5")), b"19 -0500");
    }
}
