//! Dates as people write them, for `-newermt`.

use wskill_time::{Zone, days_of, local, strftime};

/// Seconds since 1970 of `2024-02-29`, `2024-02-29 12:34[:56]`, `@1700000000`, `yesterday`, `3 days ago`, …
pub fn parse_date(text: &str, now: i64) -> Option<i64> {
    let text = text.trim();
    if let Some(seconds) = text.strip_prefix('@') {
        return seconds.split('.').next()?.parse().ok();
    }
    let lower = text.to_lowercase();
    match lower.as_str() {
        "now" | "today" | "" => return Some(now),
        "yesterday" => return Some(now - 86_400),
        "tomorrow" => return Some(now + 86_400),
        _ => {}
    }
    relative(&lower, now).or_else(|| absolute(text))
}

fn relative(text: &str, now: i64) -> Option<i64> {
    let mut words = text.split_whitespace().peekable();
    let mut total = 0i64;
    let mut sign = 1;
    while let Some(word) = words.next() {
        if word == "ago" {
            sign = -1;
            continue;
        }
        let (count, unit) = match word {
            "last" => (-1, words.next()?),
            "next" => (1, words.next()?),
            _ => match word.parse::<i64>() {
                Ok(count) => (count, words.next()?),
                Err(_) => (1, word),
            },
        };
        let seconds = match unit.trim_end_matches('s') {
            "sec" | "second" => 1,
            "min" | "minute" => 60,
            "hour" => 3600,
            "day" => 86_400,
            "week" => 604_800,
            "fortnight" => 1_209_600,
            "month" => 2_629_746,
            "year" => 31_556_952,
            _ => return None,
        };
        total = total.checked_add(count.checked_mul(seconds)?)?;
    }
    now.checked_add(sign * total)
}

fn absolute(text: &str) -> Option<i64> {
    let utc = text.ends_with('Z') || text.ends_with("UTC");
    let text = text.trim_end_matches('Z').trim_end_matches("UTC").trim();
    let (date, clock) = match text.split_once([' ', 'T']) {
        Some((date, clock)) => (date, clock),
        None => (text, "0:0:0"),
    };
    let mut parts = date.split(['-', '/']).map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(0..=9999).contains(&year) {
        return None;
    }
    let mut seconds = 0;
    for (part, unit) in clock.split(':').zip([3600, 60, 1]) {
        seconds += part.split('.').next()?.parse::<i64>().ok()? * unit;
    }
    if utc {
        return Some(days_of(year, month, day) * 86_400 + seconds);
    }
    Some(Zone::local().seconds_of(year, month, day, seconds))
}

/// `ls`'s date: with the clock, or with the year when it is long ago or to come.
pub fn list_date(seconds: i64, now: i64) -> String {
    let civil = local(seconds);
    let recent = seconds <= now && now - seconds < 15_778_476;
    let format: &[u8] = if recent { b"%b %e %H:%M" } else { b"%b %e  %Y" };
    String::from_utf8_lossy(&strftime(format, &civil)).into_owned()
}
