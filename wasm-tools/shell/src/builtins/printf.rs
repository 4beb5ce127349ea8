//! `printf`, and the escapes it shares with `echo -e`.

use wskill_time::strftime;

use crate::os;
use crate::parse::{digits, push_code_point};
use crate::pattern::decode;
use crate::quote;
use crate::shell::{Run, Shell, Unwind};

/// Field widths beyond this are refused: output stays in proportion.
const MAX_WIDTH: i64 = 10_000_000;

/// Decodes `echo -e` text; the flag says that `\c` ended all output.
pub fn echo_escapes(text: &[u8]) -> (Vec<u8>, bool) {
    escapes(text, true)
}

/// Escapes of `%b` and `echo -e` (in the latter octal numbers must begin with `\0`).
fn escapes(text: &[u8], echo: bool) -> (Vec<u8>, bool) {
    let mut out = Vec::with_capacity(text.len());
    let mut i = 0;
    while i < text.len() {
        if text[i] != b'\\' || i + 1 >= text.len() {
            out.push(text[i]);
            i += 1;
            continue;
        }
        if text[i + 1] == b'c' {
            return (out, true);
        }
        i += 1;
        i += escape(&text[i..], true, echo, &mut out);
    }
    (out, false)
}

/// Decodes the escape after a backslash; how many bytes it took.
fn escape(text: &[u8], octal_zero: bool, echo: bool, out: &mut Vec<u8>) -> usize {
    match text[0] {
        b'a' => out.push(7),
        b'b' => out.push(8),
        b'e' | b'E' => out.push(27),
        b'f' => out.push(12),
        b'n' => out.push(b'\n'),
        b'r' => out.push(b'\r'),
        b't' => out.push(b'\t'),
        b'v' => out.push(11),
        b'\\' => out.push(b'\\'),
        b'0' if octal_zero || echo => {
            let (value, used) = digits(&text[1..], 8, 3);
            out.push(value as u8);
            return 1 + used;
        }
        b'0'..=b'7' if !echo => {
            let (value, used) = digits(text, 8, 3);
            out.push(value as u8);
            return used;
        }
        b'x' => {
            let (value, used) = digits(&text[1..], 16, 2);
            if used == 0 {
                out.extend_from_slice(b"\\x");
            } else {
                out.push(value as u8);
            }
            return 1 + used;
        }
        b'u' | b'U' => {
            let (value, used) = digits(&text[1..], 16, if text[0] == b'u' { 4 } else { 8 });
            if used == 0 {
                out.extend_from_slice(&[b'\\', text[0]]);
            } else if value > 0x7f && crate::pattern::byte_locale() {
                let text = if value > 0xffff {
                    format!("\\U{value:08X}")
                } else {
                    format!("\\u{value:04X}")
                };
                out.extend_from_slice(text.as_bytes());
            } else {
                push_code_point(out, value);
            }
            return 1 + used;
        }
        c => out.extend_from_slice(&[b'\\', c]),
    }
    1
}

struct Arguments<'a> {
    words: &'a [Vec<u8>],
    next: usize,
}

impl<'a> Arguments<'a> {
    fn take(&mut self) -> Option<&'a [u8]> {
        let word = self.words.get(self.next)?;
        self.next += 1;
        Some(word)
    }
}

#[derive(Default)]
struct Spec {
    left: bool,
    zero: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

pub fn printf(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let mut words = &argv[1..];
    let mut variable = None;
    while let Some((first, rest)) = words.split_first() {
        match first.as_slice() {
            b"--" => {
                words = rest;
                break;
            }
            b"-v" => {
                let Some((name, rest)) = rest.split_first() else {
                    shell.builtin_error("printf", "-v: option requires an argument");
                    shell.usage("printf");
                    return Ok(2);
                };
                variable = Some(name.clone());
                words = rest;
            }
            [b'-', b'v', name @ ..] if !name.is_empty() => {
                variable = Some(name.to_vec());
                words = rest;
            }
            [b'-', c, ..] => {
                shell.builtin_error("printf", &format!("-{}: invalid option", *c as char));
                shell.usage("printf");
                return Ok(2);
            }
            _ => break,
        }
    }
    if let Some(name) = &variable
        && !crate::state::access::valid_reference(name)
    {
        shell.error_bytes(&[b"printf: `", name.as_slice(), b"': not a valid identifier"].concat());
        return Ok(2);
    }
    let Some((format, words)) = words.split_first() else {
        shell.usage("printf");
        return Ok(2);
    };
    let mut arguments = Arguments { words, next: 0 };
    let mut out = Vec::new();
    let mut status = 0;
    loop {
        let before = arguments.next;
        let stop = render(shell, format, &mut arguments, &mut out, &mut status)?;
        if stop || arguments.next >= words.len() || arguments.next == before {
            break;
        }
        if variable.is_none() && out.len() > 1 << 16 {
            shell.out.append(&mut out);
            shell.flush_out();
        }
    }
    match variable {
        None => shell.out.extend_from_slice(&out),
        Some(name) => {
            // A NUL ends a value.
            if let Some(end) = out.iter().position(|&c| c == 0) {
                out.truncate(end);
            }
            let result = match name.iter().position(|&c| c == b'[') {
                Some(open) => shell.set_element_text(&name[..open], &name[open + 1..name.len() - 1], out, false),
                None => shell.set_scalar(&name, out),
            };
            match result {
                Err(Unwind::Discard(_)) => return Ok(1),
                other => other?,
            }
        }
    }
    Ok(status)
}

/// Goes through the format once; `true` when `\c` or an error ends the output.
fn render(
    shell: &mut Shell,
    format: &[u8],
    args: &mut Arguments<'_>,
    out: &mut Vec<u8>,
    status: &mut i32,
) -> Run<bool> {
    let mut i = 0;
    while i < format.len() {
        match format[i] {
            b'\\' if i + 1 < format.len() => {
                i += 1;
                match format[i] {
                    b'"' | b'\'' | b'?' => {
                        out.push(format[i]);
                        i += 1;
                    }
                    _ => i += escape(&format[i..], false, false, out),
                }
            }
            b'%' => {
                i += 1;
                if format.get(i) == Some(&b'%') {
                    out.push(b'%');
                    i += 1;
                    continue;
                }
                let start = i - 1;
                let mut spec = Spec::default();
                while let Some(c) = format.get(i) {
                    match c {
                        b'-' => spec.left = true,
                        b'0' => spec.zero = true,
                        b'+' => spec.plus = true,
                        b' ' => spec.space = true,
                        b'#' => spec.alternate = true,
                        // Digits are not grouped in the C locale.
                        b'\'' => {}
                        _ => break,
                    }
                    i += 1;
                }
                let width = number_or_star(shell, format, &mut i, args, status);
                if width < 0 {
                    spec.left = true;
                }
                spec.width = width.unsigned_abs().min(MAX_WIDTH as u64) as usize;
                if format.get(i) == Some(&b'.') {
                    i += 1;
                    let precision = number_or_star(shell, format, &mut i, args, status);
                    spec.precision = usize::try_from(precision).ok().map(|p| p.min(MAX_WIDTH as usize));
                }
                if format.get(i) == Some(&b'(') {
                    let Some(end) = format[i..].windows(2).position(|w| w == b")T") else {
                        shell.builtin_error("printf", "`(': missing format character");
                        *status = 1;
                        return Ok(true);
                    };
                    let inner = &format[i + 1..i + end];
                    i += end + 2;
                    let seconds = match args.take() {
                        None | Some(b"-1" | b"") => (os::now_ns() / 1_000_000_000) as i64,
                        Some(b"-2") => shell.st.seconds_base,
                        Some(word) => integer(shell, word, status),
                    };
                    let inner = if inner.is_empty() { b"%X" } else { inner };
                    let text = strftime(inner, &shell.zone().civil(seconds));
                    // The C library's buffer in bash has 128 bytes: what does not fit is empty.
                    let text = if text.len() >= 128 { &[][..] } else { &text };
                    pad_text(cut(text, spec.precision), &spec, out);
                    continue;
                }
                while matches!(format.get(i), Some(b'h' | b'l' | b'j' | b'z' | b't' | b'L' | b'q')) {
                    if format[i] == b'q' {
                        break;
                    }
                    i += 1;
                }
                let Some(&conversion) = format.get(i) else {
                    let text = String::from_utf8_lossy(&format[start..]).into_owned();
                    shell.builtin_error("printf", &format!("`{text}': missing format character"));
                    *status = 1;
                    return Ok(true);
                };
                i += 1;
                if convert(shell, conversion, &spec, args, out, status)? {
                    return Ok(true);
                }
            }
            c => {
                out.push(c);
                i += 1;
            }
        }
    }
    Ok(false)
}

fn number_or_star(shell: &mut Shell, format: &[u8], i: &mut usize, args: &mut Arguments<'_>, status: &mut i32) -> i64 {
    if format.get(*i) == Some(&b'*') {
        *i += 1;
        return args
            .take()
            .map_or(0, |word| integer(shell, word, status))
            .clamp(-MAX_WIDTH, MAX_WIDTH);
    }
    let mut value = 0i64;
    let negative = format.get(*i) == Some(&b'-');
    if negative {
        *i += 1;
    }
    while let Some(c) = format.get(*i).filter(|c| c.is_ascii_digit()) {
        value = (value * 10 + i64::from(c - b'0')).min(MAX_WIDTH);
        *i += 1;
    }
    if negative { -value.max(1) } else { value }
}

/// Writes one conversion; `true` ends all output.
fn convert(
    shell: &mut Shell,
    conversion: u8,
    spec: &Spec,
    args: &mut Arguments<'_>,
    out: &mut Vec<u8>,
    status: &mut i32,
) -> Run<bool> {
    match conversion {
        b's' => {
            let text = args.take().unwrap_or_default();
            pad_text(cut(text, spec.precision), spec, out);
        }
        b'b' => {
            let (text, stop) = escapes_b(args.take().unwrap_or_default());
            pad_text(cut(&text, spec.precision), spec, out);
            return Ok(stop);
        }
        b'q' => {
            let text = quote::backslash(args.take().unwrap_or_default());
            pad_text(cut(&text, spec.precision), spec, out);
        }
        b'Q' => {
            let text = args.take().unwrap_or_default();
            let text = quote::backslash(cut(text, spec.precision));
            pad_text(&text, spec, out);
        }
        b'c' => {
            let text = args.take().unwrap_or_default();
            // The first character of an empty text is the NUL that ends it.
            pad_text(text.get(..1).unwrap_or(b"\0"), spec, out);
        }
        b'n' => {
            if let Some(name) = args.take() {
                let n = crate::arith::decimal(out.len() as i64);
                shell.set_scalar(name, n)?;
            }
        }
        b'd' | b'i' => {
            let value = args.take().map_or(0, |w| integer(shell, w, status));
            let digits = value.unsigned_abs().to_string();
            let sign = if value < 0 {
                "-"
            } else if spec.plus {
                "+"
            } else if spec.space {
                " "
            } else {
                ""
            };
            pad_number(sign, &digits, spec, spec.precision, out);
        }
        b'u' => {
            let value = args.take().map_or(0, |w| unsigned(shell, w, status));
            pad_number("", &value.to_string(), spec, spec.precision, out);
        }
        b'o' | b'x' | b'X' => {
            let value = args.take().map_or(0, |w| unsigned(shell, w, status));
            let (mut digits, prefix) = match conversion {
                b'o' => (format!("{value:o}"), ""),
                b'x' => (
                    format!("{value:x}"),
                    if spec.alternate && value != 0 { "0x" } else { "" },
                ),
                _ => (
                    format!("{value:X}"),
                    if spec.alternate && value != 0 { "0X" } else { "" },
                ),
            };
            if conversion == b'o' && spec.alternate && !digits.starts_with('0') {
                digits.insert(0, '0');
            }
            let precision = if conversion == b'o' && spec.alternate && value == 0 {
                None
            } else {
                spec.precision
            };
            pad_number(prefix, &digits, spec, precision, out);
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = args.take().map_or(0.0, |w| float(shell, w, status));
            let text = float_text(value.abs(), conversion, spec);
            let sign = if value.is_sign_negative() {
                "-"
            } else if spec.plus {
                "+"
            } else if spec.space {
                " "
            } else {
                ""
            };
            if value.is_finite() {
                pad_number(sign, &text, spec, None, out);
            } else {
                pad_text(format!("{sign}{text}").as_bytes(), spec, out);
            }
        }
        c => {
            shell.builtin_error("printf", &format!("`{}': invalid format character", c as char));
            *status = 1;
            return Ok(true);
        }
    }
    Ok(false)
}

/// `%b` takes `\0nnn` and `\nnn`.
fn escapes_b(text: &[u8]) -> (Vec<u8>, bool) {
    escapes(text, false)
}

fn cut(text: &[u8], precision: Option<usize>) -> &[u8] {
    match precision {
        Some(n) => &text[..n.min(text.len())],
        None => text,
    }
}

fn pad_text(text: &[u8], spec: &Spec, out: &mut Vec<u8>) {
    let fill = spec.width.saturating_sub(text.len());
    if !spec.left {
        out.resize(out.len() + fill, b' ');
    }
    out.extend_from_slice(text);
    if spec.left {
        out.resize(out.len() + fill, b' ');
    }
}

fn pad_number(sign: &str, digits: &str, spec: &Spec, precision: Option<usize>, out: &mut Vec<u8>) {
    let mut digits = digits.to_string();
    if let Some(p) = precision {
        if p == 0 && digits == "0" {
            digits.clear();
        }
        while digits.len() < p {
            digits.insert(0, '0');
        }
    }
    let length = sign.len() + digits.len();
    let fill = spec.width.saturating_sub(length);
    if spec.left {
        out.extend_from_slice(sign.as_bytes());
        out.extend_from_slice(digits.as_bytes());
        out.resize(out.len() + fill, b' ');
    } else if spec.zero && precision.is_none() {
        out.extend_from_slice(sign.as_bytes());
        out.resize(out.len() + fill, b'0');
        out.extend_from_slice(digits.as_bytes());
    } else {
        out.resize(out.len() + fill, b' ');
        out.extend_from_slice(sign.as_bytes());
        out.extend_from_slice(digits.as_bytes());
    }
}

/// An integer argument; a message and status 1 when it is not one, with as much as could be read.
fn integer(shell: &mut Shell, word: &[u8], status: &mut i32) -> i64 {
    let value = wide_integer(shell, word, status);
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

/// The same for unsigned conversions: negative numbers wrap.
fn unsigned(shell: &mut Shell, word: &[u8], status: &mut i32) -> u64 {
    let value = wide_integer(shell, word, status);
    if value < 0 {
        i64::try_from(value).unwrap_or(i64::MIN) as u64
    } else {
        u64::try_from(value).unwrap_or(u64::MAX)
    }
}

fn wide_integer(shell: &mut Shell, word: &[u8], status: &mut i32) -> i128 {
    if let [b'\'' | b'"', rest @ ..] = word {
        return if rest.is_empty() {
            0
        } else {
            i128::from(char_value(rest))
        };
    }
    let text = word.trim_ascii_start();
    let (negative, digits_text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (base, body) = match digits_text {
        [b'0', b'x' | b'X', rest @ ..] if rest.first().is_some_and(u8::is_ascii_hexdigit) => (16, rest),
        [b'0', ..] => (8, digits_text),
        _ => (10, digits_text),
    };
    let mut value: i128 = 0;
    let mut used = 0;
    for &c in body {
        let Some(d) = (c as char).to_digit(base) else { break };
        value = (value * i128::from(base) + i128::from(d)).min(i128::from(u64::MAX) + 1);
        used += 1;
    }
    if negative {
        value = -value;
    }
    let complete = used == body.len() && (used > 0 || word.is_empty());
    if !complete {
        invalid_number(shell, word, status);
    } else if value > i128::from(i64::MAX) || value < i128::from(i64::MIN) {
        // A warning only: the value saturates, as strtoimax does.
        if value > i128::from(u64::MAX) || value < i128::from(i64::MIN) {
            let text = String::from_utf8_lossy(word).into_owned();
            shell.builtin_error("printf", &format!("warning: {text}: Numerical result out of range"));
        }
    }
    value
}

fn char_value(text: &[u8]) -> i64 {
    let (c, n) = decode(text);
    if n == 1 { i64::from(text[0]) } else { i64::from(c) }
}

fn invalid_number(shell: &mut Shell, word: &[u8], status: &mut i32) {
    let text = String::from_utf8_lossy(word).into_owned();
    let is_octal = word.len() > 1 && word[0] == b'0' && word.iter().all(u8::is_ascii_digit);
    shell.builtin_error(
        "printf",
        &format!("{text}: invalid {}number", if is_octal { "octal " } else { "" }),
    );
    *status = 1;
}

fn float(shell: &mut Shell, word: &[u8], status: &mut i32) -> f64 {
    if let [b'\'' | b'"', rest @ ..] = word {
        return if rest.is_empty() { 0.0 } else { char_value(rest) as f64 };
    }
    if word.is_empty() {
        return 0.0;
    }
    let text = String::from_utf8_lossy(word);
    let text = text.trim_start();
    let bare = text.trim_start_matches(['-', '+']);
    if bare.starts_with("0x") || bare.starts_with("0X") {
        return integer(shell, word, status) as f64;
    }
    // The longest prefix that is a number.
    for end in (1..=text.len()).rev() {
        if !text.is_char_boundary(end) {
            continue;
        }
        let candidate = &text[..end];
        let plain = candidate.trim_start_matches(['-', '+']).to_ascii_lowercase();
        let named = matches!(plain.as_str(), "inf" | "infinity" | "nan");
        if !named && !plain.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            continue;
        }
        if let Ok(value) = candidate.parse::<f64>() {
            if end < text.len() {
                invalid_number(shell, word, status);
            }
            return value;
        }
    }
    invalid_number(shell, word, status);
    0.0
}

/// A non-negative number as `%f`, `%e`, `%g` or `%a` shows it.
fn float_text(value: f64, conversion: u8, spec: &Spec) -> String {
    let upper = conversion.is_ascii_uppercase();
    if !value.is_finite() {
        let text = if value.is_nan() { "nan" } else { "inf" };
        return if upper { text.to_uppercase() } else { text.to_string() };
    }
    let precision = spec.precision.unwrap_or(6).min(400);
    let text = match conversion.to_ascii_lowercase() {
        b'f' => {
            let mut text = format!("{value:.precision$}");
            if spec.alternate && precision == 0 {
                text.push('.');
            }
            text
        }
        b'e' => exponent_text(value, precision, spec.alternate),
        b'g' => {
            let p = precision.max(1);
            let e = exponent_text(value, p - 1, false);
            let exponent: i32 = e.split_once('e').and_then(|(_, x)| x.parse().ok()).unwrap_or(0);
            if exponent < -4 || exponent >= p as i32 {
                if spec.alternate {
                    e
                } else {
                    let (mantissa, exponent) = e.split_once('e').unwrap_or((&e, "+00"));
                    format!("{}e{exponent}", trim_zeros(mantissa))
                }
            } else {
                let decimals = (p as i32 - 1 - exponent).max(0) as usize;
                let text = format!("{value:.decimals$}");
                if spec.alternate {
                    text
                } else {
                    trim_zeros(&text).to_string()
                }
            }
        }
        _ => hex_float(value, spec.precision),
    };
    if upper { text.to_uppercase() } else { text }
}

fn exponent_text(value: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let point = if alternate && precision == 0 { "." } else { "" };
    format!(
        "{mantissa}{point}e{}{:02}",
        if exponent < 0 { '-' } else { '+' },
        exponent.abs()
    )
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// `%a` as the C library shows an 80-bit number: the leading digit is between 8 and f.
fn hex_float(value: f64, precision: Option<usize>) -> String {
    if value == 0.0 {
        return "0x0p+0".to_string();
    }
    let bits = value.to_bits();
    let mut exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    let mut mantissa = (bits & ((1 << 52) - 1)) | 1 << 52;
    // 53 bits with the first one set; shift so that the leading digit has its high bit set.
    mantissa <<= 11;
    exponent -= 3;
    let digits = format!("{mantissa:016x}");
    let (lead, rest) = digits.split_at(1);
    let rest = match precision {
        Some(p) => &rest[..p.min(rest.len())],
        None => rest.trim_end_matches('0'),
    };
    let point = if rest.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{rest}p{exponent:+}")
}
