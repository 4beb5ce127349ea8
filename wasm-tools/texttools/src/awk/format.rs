//! `printf`: C's conversions over awk's values.

use super::value::Value;

/// The widest field and the most digits; more is cut, so that no format asks for all memory.
const MAX_WIDTH: usize = 1 << 20;

/// A conversion, `%-10.3f`.
struct Spec {
    minus: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

/// Formats values. `convfmt` is for numbers shown as strings.
///
/// # Errors
/// A message when there are too few values.
pub fn sprintf(format: &[u8], values: &[Value], convfmt: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(format.len() + 16);
    let mut values = values.iter();
    let mut at = 0;
    while at < format.len() {
        let plain = memchr::memchr(b'%', &format[at..]).unwrap_or(format.len() - at);
        out.extend_from_slice(&format[at..at + plain]);
        at += plain;
        if at >= format.len() {
            break;
        }
        let start = at;
        at += 1;
        let mut spec =
            Spec { minus: false, plus: false, space: false, alternate: false, zero: false, width: 0, precision: None };
        while let Some(flag) = format.get(at) {
            match flag {
                b'-' => spec.minus = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                b'\'' => {}
                _ => break,
            }
            at += 1;
        }
        let mut next = || values.next().ok_or("not enough arguments to satisfy format string");
        if format.get(at) == Some(&b'*') {
            at += 1;
            let width = next()?.number();
            spec.minus |= width < 0.0;
            spec.width = width.abs() as usize;
        } else {
            spec.width = digits(format, &mut at);
        }
        if format.get(at) == Some(&b'.') {
            at += 1;
            if format.get(at) == Some(&b'*') {
                at += 1;
                let precision = next()?.number();
                spec.precision = (precision >= 0.0).then_some(precision as usize);
            } else {
                spec.precision = Some(digits(format, &mut at));
            }
        }
        spec.width = spec.width.min(MAX_WIDTH);
        spec.precision = spec.precision.map(|precision| precision.min(MAX_WIDTH));
        while matches!(format.get(at), Some(b'h' | b'l' | b'L' | b'q' | b'j' | b'z' | b't')) {
            at += 1;
        }
        let Some(&conversion) = format.get(at) else {
            out.extend_from_slice(&format[start..]);
            break;
        };
        at += 1;
        match conversion {
            b'%' => out.push(b'%'),
            b'c' => character(&mut out, next()?, &spec),
            b's' => {
                let text = next()?.to_text(convfmt);
                let text = match spec.precision {
                    Some(precision) => super::text::prefix(&text, precision),
                    None => &text,
                };
                let length = super::text::length(text);
                pad(&mut out, text, length, &spec);
            }
            b'd' | b'i' => integer(&mut out, next()?.number(), &spec),
            b'o' | b'x' | b'X' | b'u' => unsigned(&mut out, next()?.number(), conversion, &spec),
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                let number = next()?.number();
                let body = float(number.abs(), conversion, spec.precision, spec.alternate);
                with_sign(&mut out, number.is_sign_negative(), &body, number.is_finite(), &spec);
            }
            _ => out.extend_from_slice(&format[start..at]),
        }
    }
    Ok(out)
}

fn digits(format: &[u8], at: &mut usize) -> usize {
    let mut number = 0usize;
    while let Some(digit) = format.get(*at).filter(|byte| byte.is_ascii_digit()) {
        number = number.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
        *at += 1;
    }
    number
}

fn pad(out: &mut Vec<u8>, text: &[u8], length: usize, spec: &Spec) {
    let fill = spec.width.saturating_sub(length);
    if !spec.minus {
        out.resize(out.len() + fill, b' ');
    }
    out.extend_from_slice(text);
    if spec.minus {
        out.resize(out.len() + fill, b' ');
    }
}

fn character(out: &mut Vec<u8>, value: &Value, spec: &Spec) {
    let number = match value {
        Value::Number(number) => Some(*number),
        Value::Input(_) => value.as_comparable_number(),
        Value::Unset => Some(0.0),
        Value::Text(_) => None,
    };
    let mut buffer = [0; 4];
    match (number, value) {
        (Some(number), _) => match char::from_u32(number as u32) {
            Some(c) => pad(out, c.encode_utf8(&mut buffer).as_bytes(), 1, spec),
            None => pad(out, &[number as u32 as u8], 1, spec),
        },
        (None, Value::Text(text) | Value::Input(text)) if !text.is_empty() => {
            pad(out, super::text::prefix(text, 1), 1, spec);
        }
        // C's end of a string.
        _ => pad(out, b"\0", 1, spec),
    }
}

/// Appends sign and digits of a number, filled to the width. Zeros fill only `number`s that are `finite`.
fn with_sign(out: &mut Vec<u8>, negative: bool, body: &str, finite: bool, spec: &Spec) {
    let sign = match (negative, spec.plus, spec.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) if !finite => "+",
        (false, false, false) => "",
    };
    let fill = spec.width.saturating_sub(sign.len() + body.len());
    if spec.minus {
        out.extend_from_slice(sign.as_bytes());
        out.extend_from_slice(body.as_bytes());
        out.resize(out.len() + fill, b' ');
    } else if spec.zero && finite {
        out.extend_from_slice(sign.as_bytes());
        out.resize(out.len() + fill, b'0');
        out.extend_from_slice(body.as_bytes());
    } else {
        out.resize(out.len() + fill, b' ');
        out.extend_from_slice(sign.as_bytes());
        out.extend_from_slice(body.as_bytes());
    }
}

fn integer(out: &mut Vec<u8>, number: f64, spec: &Spec) {
    if !number.is_finite() {
        let body = if number.is_nan() { "nan" } else { "inf" };
        return with_sign(out, number.is_sign_negative(), body, false, spec);
    }
    let number = number.trunc();
    let mut body = if number.abs() < 1e18 { (number.abs() as u64).to_string() } else { format!("{:.0}", number.abs()) };
    let zero = fill_precision(&mut body, spec);
    let spec = Spec { zero: spec.zero && zero, ..*spec };
    with_sign(out, number < 0.0, &body, true, &spec);
}

/// Zeros up to the precision; whether the `0` flag still holds.
fn fill_precision(body: &mut String, spec: &Spec) -> bool {
    let Some(precision) = spec.precision else { return true };
    if precision == 0 && body == "0" {
        body.clear();
    }
    if body.len() < precision {
        body.insert_str(0, &"0".repeat(precision - body.len()));
    }
    false
}

fn unsigned(out: &mut Vec<u8>, number: f64, conversion: u8, spec: &Spec) {
    let whole = number.trunc();
    if !whole.is_finite() || whole < 0.0 || whole >= 18_446_744_073_709_551_616.0 {
        // gawk shows what does not fit as %g or as a signed number.
        if whole.is_finite() && whole < 0.0 && conversion == b'u' {
            return integer(out, number, spec);
        }
        let body = float(number.abs(), b'g', None, false);
        return with_sign(out, number.is_sign_negative(), &body, number.is_finite(), spec);
    }
    let value = whole as u64;
    let mut body = match conversion {
        b'o' => format!("{value:o}"),
        b'x' => format!("{value:x}"),
        b'X' => format!("{value:X}"),
        _ => value.to_string(),
    };
    let zero = fill_precision(&mut body, spec);
    if spec.alternate && value != 0 {
        match conversion {
            b'o' if !body.starts_with('0') => body.insert(0, '0'),
            b'x' => body.insert_str(0, "0x"),
            b'X' => body.insert_str(0, "0X"),
            _ => {}
        }
    }
    let spec = Spec { zero: spec.zero && zero, plus: false, space: false, ..*spec };
    with_sign(out, false, &body, true, &spec);
}

/// A number that is not negative as C's `%e`, `%f`, `%g` or `%a`.
pub fn float(number: f64, conversion: u8, precision: Option<usize>, alternate: bool) -> String {
    let upper = conversion.is_ascii_uppercase();
    let text = if number.is_nan() {
        "nan".to_string()
    } else if number.is_infinite() {
        "inf".to_string()
    } else {
        match conversion.to_ascii_lowercase() {
            b'f' => {
                let mut text = format!("{:.*}", precision.unwrap_or(6), number);
                if alternate && precision == Some(0) {
                    text.push('.');
                }
                text
            }
            b'e' => exponential(number, precision.unwrap_or(6), alternate),
            b'a' => hexadecimal(number),
            _ => general(number, precision.unwrap_or(6).max(1), alternate),
        }
    };
    if upper { text.to_uppercase() } else { text }
}

fn exponential(number: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{number:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let point = if alternate && precision == 0 { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{point}e{sign}{:02}", exponent.abs())
}

fn general(number: f64, precision: usize, alternate: bool) -> String {
    let rounded = format!("{:.*e}", precision - 1, number);
    let exponent: i32 = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let trim = |text: &str| {
        if alternate || !text.contains('.') {
            text.to_string()
        } else {
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        }
    };
    if exponent < -4 || exponent >= precision as i32 {
        let text = exponential(number, precision - 1, alternate);
        let (mantissa, rest) = text.split_once('e').unwrap_or((&text, "+00"));
        format!("{}e{rest}", trim(mantissa))
    } else {
        let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
        trim(&format!("{number:.decimals$}"))
    }
}

fn hexadecimal(number: f64) -> String {
    if number == 0.0 {
        return "0x0p+0".into();
    }
    let bits = number.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = format!("{:013x}", bits & ((1 << 52) - 1));
    let fraction = fraction.trim_end_matches('0');
    let (lead, exponent) = if exponent == 0 { (0, -1022) } else { (1, exponent - 1023) };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{fraction}p{exponent:+}")
}

/// Appends a number by CONVFMT or OFMT, mostly `%.6g`.
pub fn append_float(number: f64, format: &[u8], out: &mut Vec<u8>) {
    if !number.is_finite() {
        let text = match (number.is_nan(), number.is_sign_negative()) {
            (true, true) => "-nan",
            (true, false) => "+nan",
            (false, true) => "-inf",
            (false, false) => "+inf",
        };
        out.extend_from_slice(text.as_bytes());
        return;
    }
    if format == b"%.6g" {
        if number.is_sign_negative() {
            out.push(b'-');
        }
        out.extend_from_slice(general(number.abs(), 6, false).as_bytes());
        return;
    }
    out.extend_from_slice(&sprintf(format, &[Value::Number(number)], b"%.6g").unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_those_of_c() {
        let one = |format: &str, number: f64| {
            String::from_utf8(sprintf(format.as_bytes(), &[Value::Number(number)], b"%.6g").unwrap_or_default())
        };
        for (format, number, wanted) in [
            ("%d", 3.99, "3"),
            ("%05d|", -42.0, "-0042|"),
            ("%+.3e", 12345.678, "+1.235e+04"),
            ("%g", 1e-5, "1e-05"),
            ("%g", 100_000.0, "100000"),
            ("%g", 1_000_000.0, "1e+06"),
            ("%-6s|", 7.0, "7     |"),
            ("%x", 255.0, "ff"),
            ("%#o", 8.0, "010"),
            ("%c", 65.0, "A"),
            ("%5.1f%%", 99.95, "100.0%"),
            ("%i", 1e19, "10000000000000000000"),
        ] {
            assert_eq!(one(format, number).as_deref(), Ok(wanted), "{format}");
        }
    }
}
