//! Dates: seconds since 1970, and "broken down" arrays of year, month (from 0), day, hour, minute, second, weekday
//! and day of the year.

use wskill_time::{self as time, Civil};

use super::builtins::described;
use super::eval::{Stop, fail};
use super::value::Json;
use crate::output::show;

/// Calls a function over dates; `None` when it is not one.
pub fn call(name: &str, input: &Json, arguments: &[Json]) -> Option<Result<Json, Stop>> {
    Some(match (name, arguments) {
        ("mktime", []) => seconds_of(input, "mktime").map(|seconds| Json::Number(seconds as f64)),
        ("gmtime" | "localtime", []) => match input {
            Json::Number(seconds) => {
                let whole = seconds.floor();
                let civil = if name == "gmtime" { time::utc(whole as i64) } else { time::local(whole as i64) };
                Ok(broken_down(&civil, seconds - whole))
            }
            _ => fail(format!("{name}() requires a number")),
        },
        ("strftime" | "strflocaltime", [format]) => strftime(name, input, format),
        ("strptime", [format]) => match (input, format) {
            (Json::String(text), Json::String(format)) => match strptime(text, format) {
                Some(civil) => Ok(broken_down(&civil, 0.0)),
                None => fail(format!("date \"{text}\" does not match format \"{format}\"")),
            },
            (Json::String(_), _) => fail("strptime/1 requires string inputs and arguments"),
            (other, _) => fail(format!("strptime/1 requires string inputs and arguments, not {}", other.kind())),
        },
        _ => return None,
    })
}

fn broken_down(civil: &Civil, fraction: f64) -> Json {
    let whole = [civil.year, civil.month - 1, civil.day, civil.hour, civil.minute];
    let mut parts: Vec<Json> = whole.iter().map(|part| Json::Number(*part as f64)).collect();
    parts.push(Json::Number(civil.second as f64 + fraction));
    parts.push(Json::Number(civil.weekday as f64));
    parts.push(Json::Number(civil.yearday as f64));
    Json::array(parts)
}

fn seconds_of(input: &Json, name: &str) -> Result<i64, Stop> {
    let Json::Array(parts) = input else { return fail(format!("{name} requires array of 6 numbers")) };
    let numbers: Option<Vec<i64>> =
        parts.iter().map(|part| if let Json::Number(number) = part { Some(*number as i64) } else { None }).collect();
    match numbers.as_deref() {
        Some([year, month, day, hour, minute, second, ..]) => {
            let limit = 1 << 40;
            let bounded = |number: &i64| (*number).clamp(-limit, limit);
            let days = time::days_of(bounded(year), bounded(month) + 1, 1) + bounded(day) - 1;
            Ok(days * 86_400 + bounded(hour) * 3600 + bounded(minute) * 60 + bounded(second))
        }
        Some(_) => fail(format!("{name} requires array of 6 numbers")),
        None => fail(format!("{name} requires parsed datetime inputs")),
    }
}

fn strftime(name: &str, input: &Json, format: &Json) -> Result<Json, Stop> {
    let Json::String(format) = format else { return fail(format!("{name}/1 requires a string format")) };
    let seconds = match input {
        Json::Number(seconds) => seconds.floor() as i64,
        Json::Array(_) => seconds_of(input, name)?,
        other => return fail(format!("{name}/1 requires parsed datetime inputs, not {}", described(other))),
    };
    let civil = if name == "strflocaltime" { time::local(seconds) } else { time::utc(seconds) };
    Ok(Json::string(show(&time::strftime(format.as_bytes(), &civil))))
}

/// Reads a date; `None` when the text does not fit the format.
fn strptime(text: &str, format: &str) -> Option<Civil> {
    let mut reader = Scanner { rest: text.as_bytes() };
    let mut date = time::utc(0);
    let (mut pm, mut epoch, mut yearday) = (None, None, None);
    let mut format: Vec<u8> = format.bytes().rev().collect();
    while let Some(byte) = format.pop() {
        if byte.is_ascii_whitespace() {
            reader.rest = reader.rest.trim_ascii_start();
            continue;
        }
        if byte != b'%' {
            reader.literal(byte)?;
            continue;
        }
        let expand = |format: &mut Vec<u8>, text: &str| format.extend(text.bytes().rev());
        match format.pop()? {
            b'Y' => date.year = reader.signed(4)?,
            b'm' => date.month = reader.number(2).filter(|month| (1..=12).contains(month))?,
            b'd' | b'e' => date.day = reader.number(2).filter(|day| (1..=31).contains(day))?,
            b'H' | b'k' => date.hour = reader.number(2).filter(|hour| *hour < 24)?,
            b'I' | b'l' => date.hour = reader.number(2).filter(|hour| (1..=12).contains(hour))? % 12,
            b'M' => date.minute = reader.number(2).filter(|minute| *minute < 60)?,
            b'S' => date.second = reader.number(2).filter(|second| *second <= 61)?,
            b'y' => {
                let year = reader.number(2)?;
                date.year = if year < 69 { 2000 + year } else { 1900 + year };
            }
            b'j' => yearday = Some(reader.number(3)?),
            b'p' => pm = Some(reader.name(&["AM", "PM"])? == 1),
            b'a' | b'A' => drop(reader.name(&time::DAYS)?),
            b'b' | b'B' | b'h' => date.month = reader.name(&time::MONTHS)? as i64 + 1,
            b'Z' => {
                let length = reader.rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
                reader.rest = &reader.rest[length..];
            }
            // As in C, the offset is read and does not change the clock.
            b'z' => drop(reader.offset()?),
            b's' => epoch = Some(reader.signed(20)?),
            b'n' | b't' => reader.rest = reader.rest.trim_ascii_start(),
            b'T' => expand(&mut format, "%H:%M:%S"),
            b'D' => expand(&mut format, "%m/%d/%y"),
            b'F' => expand(&mut format, "%Y-%m-%d"),
            b'R' => expand(&mut format, "%H:%M"),
            b'c' => expand(&mut format, "%a %b %e %H:%M:%S %Y"),
            b'%' => reader.literal(b'%')?,
            _ => return None,
        }
    }
    if !reader.rest.is_empty() {
        return None;
    }
    if let Some(seconds) = epoch {
        return Some(time::utc(seconds));
    }
    if pm == Some(true) {
        date.hour += 12;
    }
    let days = match yearday {
        Some(yearday) => time::days_of(date.year, 1, 1) + yearday - 1,
        None => time::days_of(date.year, date.month, date.day),
    };
    Some(time::utc(days * 86_400 + date.hour * 3600 + date.minute * 60 + date.second))
}

struct Scanner<'t> {
    rest: &'t [u8],
}

impl Scanner<'_> {
    fn literal(&mut self, byte: u8) -> Option<()> {
        self.rest = self.rest.strip_prefix(&[byte])?;
        Some(())
    }

    fn number(&mut self, most: usize) -> Option<i64> {
        self.rest = self.rest.trim_ascii_start();
        let digits = self.rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&self.rest[..digits]).ok()?.parse().ok()?;
        self.rest = &self.rest[digits..];
        Some(number)
    }

    fn signed(&mut self, most: usize) -> Option<i64> {
        let negative = self.literal(b'-').is_some();
        self.number(most).map(|number| if negative { -number } else { number })
    }

    /// One of some names, whole or cut to three letters.
    fn name(&mut self, names: &[&str]) -> Option<usize> {
        let starts =
            |name: &str| self.rest.len() >= name.len() && self.rest[..name.len()].eq_ignore_ascii_case(name.as_bytes());
        let found = names.iter().enumerate().find_map(|(index, name)| {
            let short = &name[..name.len().min(3)];
            [*name, short].into_iter().find(|name| starts(name)).map(|name| (index, name.len()))
        });
        let (index, length) = found?;
        self.rest = &self.rest[length..];
        Some(index)
    }

    fn offset(&mut self) -> Option<i64> {
        if self.literal(b'Z').is_some() {
            return Some(0);
        }
        let negative = self.literal(b'-').is_some();
        if !negative {
            self.literal(b'+')?;
        }
        let hours = self.number(2)?;
        let _ = self.literal(b':');
        let minutes = self.number(2).unwrap_or(0);
        let seconds = hours * 3600 + minutes * 60;
        Some(if negative { -seconds } else { seconds })
    }
}
