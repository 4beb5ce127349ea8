//! `date`, `date +FORMAT` and `date -d` of plain dates, with `-u`.

use std::ffi::OsString;
use std::os::wasi::ffi::OsStrExt;
use std::time::{SystemTime, UNIX_EPOCH};

use wskill_time::{Zone, days_of, strftime_nanos};

use super::super::say_bytes;
use super::options;

/// `date` with `-u`, `-d` of what [`moment`] reads, and one `+FORMAT`.
pub fn date(args: &[OsString]) -> Option<i32> {
    let args: Vec<OsString> = args
        .iter()
        .map(|arg| match arg.to_str().and_then(|arg| arg.strip_prefix("--date=")) {
            Some(text) => OsString::from(format!("-d{text}")),
            None => arg.clone(),
        })
        .collect();
    let (options, operands) = options(&args, "ud:")?;
    let format = match operands[..] {
        [] => b"%a %b %e %H:%M:%S %Z %Y",
        [format] => format.as_bytes().strip_prefix(b"+")?,
        _ => return None,
    };
    let utc = options.iter().any(|option| option.0 == b'u');
    let zone = if utc { Zone::utc() } else { Zone::local() };
    let (seconds, nanos) = match options.iter().rev().find(|option| option.0 == b'd') {
        Some((_, text)) => {
            let text = std::str::from_utf8(text).ok()?;
            let seconds = moment(text, &zone)?;
            // A clock that is put forward never shows what it leaps over.
            let Some(seconds) = seconds else {
                eprintln!("date: invalid date '{text}'");
                return Some(1);
            };
            (seconds, 0)
        }
        None => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            (i64::try_from(now.as_secs()).ok()?, now.subsec_nanos())
        }
    };
    let mut text = strftime_nanos(format, &zone.civil(seconds), nanos);
    text.push(b'\n');
    say_bytes(&text);
    Some(0)
}

/// Seconds since 1970 of `@SECONDS` or `YYYY-MM-DD[{ |T}hh:mm[:ss]][Z]`; `Some(None)` for a time that the zone's clock
/// never shows, `None` for every other form.
fn moment(text: &str, zone: &Zone) -> Option<Option<i64>> {
    if let Some(seconds) = text.strip_prefix('@') {
        return Some(Some(seconds.parse().ok()?));
    }
    let (text, utc) = text.strip_suffix('Z').map_or((text, false), |text| (text, true));
    let (date, clock) = text.split_once([' ', 'T']).unwrap_or((text, "00:00"));
    if utc && date == text {
        return None;
    }
    let [year, month, day] = fields(date, '-', &[4, 2, 2])?[..] else { return None };
    let clock = fields(clock, ':', &[2, 2]).or_else(|| fields(clock, ':', &[2, 2, 2]))?;
    let (hour, minute, second) = (clock[0], clock[1], clock.get(2).copied().unwrap_or(0));
    let days = days_of(year, month, 1) + day - 1;
    let valid = (1..=12).contains(&month) && day >= 1 && days < days_of(year, month + 1, 1);
    if !valid || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let clock = hour * 3600 + minute * 60 + second;
    if utc {
        return Some(Some(days * 86_400 + clock));
    }
    let seconds = zone.seconds_of(year, month, day, clock);
    let civil = zone.civil(seconds);
    Some((civil.hour == hour && civil.minute == minute).then_some(seconds))
}

/// Numbers of so many digits between separators.
fn fields(text: &str, separator: char, digits: &[usize]) -> Option<Vec<i64>> {
    let parts: Vec<&str> = text.split(separator).collect();
    if parts.len() != digits.len() {
        return None;
    }
    parts
        .iter()
        .zip(digits)
        .map(|(part, &digits)| {
            let plain = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| part.parse().ok()).flatten()
        })
        .collect()
}
