//! `strftime` as the GNU C library writes it in the C locale, with `date`'s additions.

use crate::calendar::{Civil, DAYS, MONTHS, iso_week};

/// The widest a field may become, bytes.
const WIDTH_MAX: usize = 4096;

/// Formats a moment. What is no conversion stands as it is.
pub fn strftime(format: &[u8], civil: &Civil) -> Vec<u8> {
    let mut out = Vec::with_capacity(format.len() * 2);
    expand(format, civil, None, &mut out);
    out
}

/// Formats a moment as `date` does: with `%N`, `%q` and `%:z` too.
pub fn strftime_nanos(format: &[u8], civil: &Civil, nanos: u32) -> Vec<u8> {
    let mut out = Vec::with_capacity(format.len() * 2);
    expand(format, civil, Some(nanos), &mut out);
    out
}

/// The flags and the width of a conversion.
#[derive(Clone, Copy, Default)]
struct Spec {
    /// `-`, `_`, `0` or `+`.
    pad: Option<u8>,
    upper: bool,
    swap: bool,
    width: usize,
}

impl Spec {
    /// Text is filled with spaces on the left; with zeros when a flag says so.
    fn text(self, text: &str, out: &mut Vec<u8>) {
        let fill = if matches!(self.pad, Some(b'0' | b'+')) { b'0' } else { b' ' };
        if self.pad != Some(b'-') {
            out.resize(out.len() + self.width.saturating_sub(text.len()), fill);
        }
        if self.upper {
            out.extend(text.bytes().map(|byte| byte.to_ascii_uppercase()));
        } else {
            out.extend_from_slice(text.as_bytes());
        }
    }

    /// A number of at least `digits` digits; `fill` is what stands before it without a flag.
    fn number(self, value: i64, digits: usize, fill: u8, out: &mut Vec<u8>) {
        let number = value.unsigned_abs().to_string();
        let sign = if value < 0 { "-" } else { "" };
        let missing = digits.max(self.width).saturating_sub(sign.len() + number.len());
        match self.pad.unwrap_or(fill) {
            b'-' => out.extend_from_slice(sign.as_bytes()),
            b'_' | b' ' => {
                out.resize(out.len() + missing, b' ');
                out.extend_from_slice(sign.as_bytes());
            }
            _ => {
                out.extend_from_slice(sign.as_bytes());
                out.resize(out.len() + missing, b'0');
            }
        }
        out.extend_from_slice(number.as_bytes());
    }
}

fn expand(format: &[u8], civil: &Civil, nanos: Option<u32>, out: &mut Vec<u8>) {
    let mut rest = format;
    while let Some(percent) = rest.iter().position(|&byte| byte == b'%') {
        out.extend_from_slice(&rest[..percent]);
        let start = &rest[percent..];
        let mut at = 1;
        let mut spec = Spec::default();
        while let Some(&flag) = start.get(at) {
            match flag {
                b'-' | b'_' | b'0' => spec.pad = Some(flag),
                b'+' if nanos.is_some() => spec.pad = Some(flag),
                b'^' => spec.upper = true,
                b'#' => spec.swap = true,
                _ => break,
            }
            at += 1;
        }
        while let Some(digit @ b'0'..=b'9') = start.get(at) {
            spec.width = (spec.width * 10 + usize::from(digit - b'0')).min(WIDTH_MAX);
            at += 1;
        }
        let colons = if nanos.is_some() { start[at..].iter().take_while(|&&byte| byte == b':').count() } else { 0 };
        at += colons;
        if matches!(start.get(at), Some(b'E' | b'O')) {
            at += 1;
        }
        let known = match (start.get(at), colons) {
            (Some(b'z'), 0..=3) => {
                offset(civil.offset, colons, spec, out);
                true
            }
            (Some(&conversion), 0) => convert(conversion, civil, nanos, spec, out),
            _ => false,
        };
        let end = start.len().min(at + 1);
        if !known {
            out.extend_from_slice(&start[..end]);
        }
        rest = &start[end..];
    }
    out.extend_from_slice(rest);
}

/// Writes one conversion; false when there is none with this letter.
fn convert(conversion: u8, civil: &Civil, nanos: Option<u32>, mut spec: Spec, out: &mut Vec<u8>) -> bool {
    let hour12 = (civil.hour + 11) % 12 + 1;
    let mut number = |value: i64, digits: usize, fill: u8| spec.number(value, digits, fill, out);
    match conversion {
        b'C' => number(civil.year.div_euclid(100), 2, b'0'),
        b'd' => number(civil.day, 2, b'0'),
        b'e' => number(civil.day, 2, b'_'),
        b'g' => number(iso_week(civil).0.rem_euclid(100), 2, b'0'),
        b'G' => number(iso_week(civil).0, year_digits(nanos), b'0'),
        b'H' => number(civil.hour, 2, b'0'),
        b'I' => number(hour12, 2, b'0'),
        b'j' => number(civil.yearday + 1, 3, b'0'),
        b'k' => number(civil.hour, 2, b'_'),
        b'l' => number(hour12, 2, b'_'),
        b'm' => number(civil.month, 2, b'0'),
        b'M' => number(civil.minute, 2, b'0'),
        b'q' if nanos.is_some() => number((civil.month + 2) / 3, 1, b'0'),
        b's' => number(civil.timestamp, 1, b'0'),
        b'S' => number(civil.second, 2, b'0'),
        b'u' => number((civil.weekday + 6) % 7 + 1, 1, b'0'),
        b'U' => number((civil.yearday + 7 - civil.weekday) / 7, 2, b'0'),
        b'V' => number(iso_week(civil).1, 2, b'0'),
        b'w' => number(civil.weekday, 1, b'0'),
        b'W' => number((civil.yearday + 7 - (civil.weekday + 6) % 7) / 7, 2, b'0'),
        b'y' => number(civil.year.rem_euclid(100), 2, b'0'),
        b'Y' => number(civil.year, year_digits(nanos), b'0'),
        b'N' => match nanos {
            Some(nanos) => fraction(nanos, spec, out),
            None => return false,
        },
        b'c' => nested(b"%a %b %e %H:%M:%S %Y", civil, nanos, spec, out),
        b'D' | b'x' => nested(b"%m/%d/%y", civil, nanos, spec, out),
        // As C99 has it, and `date` with a sign or width of its own, which nobody writes.
        b'F' => nested(b"%Y-%m-%d", civil, nanos, spec, out),
        b'r' => nested(b"%I:%M:%S %p", civil, nanos, spec, out),
        b'R' => nested(b"%H:%M", civil, nanos, spec, out),
        b'T' | b'X' => nested(b"%H:%M:%S", civil, nanos, spec, out),
        letter => {
            let text = match letter {
                b'a' => &DAYS[civil.weekday as usize][..3],
                b'A' => DAYS[civil.weekday as usize],
                b'b' | b'h' => &MONTHS[civil.month as usize - 1][..3],
                b'B' => MONTHS[civil.month as usize - 1],
                b'n' => "\n",
                b't' => "\t",
                b'%' => "%",
                b'p' if civil.hour < 12 => "AM",
                b'p' => "PM",
                b'P' if civil.hour < 12 => "am",
                b'P' => "pm",
                b'Z' => &civil.zone,
                _ => return false,
            };
            if spec.swap && matches!(letter, b'p' | b'Z') {
                spec.upper = false;
                spec.text(&text.to_ascii_lowercase(), out);
            } else {
                spec.upper |= spec.swap && letter != b'P';
                spec.text(text, out);
            }
        }
    }
    true
}

/// `date` writes years with four digits at least, the C library as they are.
fn year_digits(nanos: Option<u32>) -> usize {
    if nanos.is_some() { 4 } else { 1 }
}

/// A conversion that stands for several.
fn nested(format: &[u8], civil: &Civil, nanos: Option<u32>, spec: Spec, out: &mut Vec<u8>) {
    let mut inner = Vec::new();
    expand(format, civil, nanos, &mut inner);
    spec.text(&String::from_utf8_lossy(&inner), out);
}

/// `%N`: the width is the number of digits, cut and not rounded.
fn fraction(nanos: u32, spec: Spec, out: &mut Vec<u8>) {
    let digits = if spec.width == 0 { 9 } else { spec.width };
    let mut text = format!("{nanos:09}");
    text.truncate(digits);
    match spec.pad {
        Some(b'_') => {
            let kept = text.trim_end_matches('0').len().max(1);
            text = format!("{:<digits$}", &text[..kept]);
        }
        _ => text = format!("{text:0<digits$}"),
    }
    out.extend_from_slice(text.as_bytes());
}

/// `%z`, and with colons `+hh:mm`, `+hh:mm:ss` and the shortest that says all.
fn offset(seconds: i64, colons: usize, spec: Spec, out: &mut Vec<u8>) {
    let sign = if seconds < 0 { '-' } else { '+' };
    let rest = seconds.abs();
    let (hours, minutes, seconds) = (rest / 3600, rest / 60 % 60, rest % 60);
    let digits = match colons {
        0 => format!("{hours:02}{minutes:02}"),
        1 => format!("{hours:02}:{minutes:02}"),
        3 if minutes == 0 && seconds == 0 => format!("{hours:02}"),
        3 if seconds == 0 => format!("{hours:02}:{minutes:02}"),
        _ => format!("{hours:02}:{minutes:02}:{seconds:02}"),
    };
    match spec.pad {
        Some(b'-' | b'_') => {
            let short = digits.strip_prefix('0').unwrap_or(&digits);
            let width = if spec.pad == Some(b'_') { spec.width.max(digits.len() + 1) } else { 0 };
            let text = format!("{sign}{short}");
            out.extend_from_slice(format!("{text:>width$}").as_bytes());
        }
        _ => {
            let width = spec.width.saturating_sub(1);
            out.extend_from_slice(format!("{sign}{digits:0>width$}").as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::utc;

    fn shown(format: &str) -> String {
        String::from_utf8_lossy(&strftime_nanos(format.as_bytes(), &utc(1_709_210_096), 7_000_000)).into_owned()
    }

    #[test]
    fn conversions() {
        assert_eq!(shown("%a %d %b %Y %j %V %U %e|%-d %H:%M:%S"), "Thu 29 Feb 2024 060 09 08 29|29 12:34:56");
        assert_eq!(shown("%c|%r|%x|%R"), "Thu Feb 29 12:34:56 2024|12:34:56 PM|02/29/24|12:34");
    }

    #[test]
    fn flags_and_widths() {
        assert_eq!(shown("%^a|%#p|%5d|%_5d|%10A|%05A|%-m"), "THU|pm|00029|   29|  Thursday|Thursday|2");
        assert_eq!(shown("%N|%3N|%z|%:z|%:::z"), "007000000|007|+0000|+00:00|+00");
    }

    #[test]
    fn what_is_no_conversion() {
        assert_eq!(shown("%Q %5 100%"), "%Q %5 100%");
        assert_eq!(strftime(b"%N %:z", &utc(0)), b"%N %:z");
    }
}
