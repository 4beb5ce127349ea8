//! Values: numbers, strings, and strings from input, which compare as numbers when they look like one.

use std::rc::Rc;

use super::format;

/// A string; copying shares it.
pub type Text = Rc<Vec<u8>>;

/// A value.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// Never assigned: both 0 and the empty string.
    #[default]
    Unset,
    /// A number.
    Number(f64),
    /// A string.
    Text(Text),
    /// A string from input.
    Input(Text),
}

impl Value {
    /// A string from bytes.
    pub fn text(bytes: impl Into<Vec<u8>>) -> Self {
        Value::Text(Rc::new(bytes.into()))
    }

    /// A string from input.
    pub fn input(bytes: impl Into<Vec<u8>>) -> Self {
        Value::Input(Rc::new(bytes.into()))
    }

    /// A truth value.
    pub fn truth(condition: bool) -> Self {
        Value::Number(f64::from(u8::from(condition)))
    }

    /// The number; for a string the one at its beginning.
    pub fn number(&self) -> f64 {
        match self {
            Value::Unset => 0.0,
            Value::Number(number) => *number,
            Value::Text(text) | Value::Input(text) => parse_prefix(text).0,
        }
    }

    /// Whether it counts as true.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Unset => false,
            Value::Number(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::Input(text) => match looks_numeric(text) {
                Some(number) => number != 0.0,
                None => !text.is_empty(),
            },
        }
    }

    /// The number, if it compares as one.
    pub fn as_comparable_number(&self) -> Option<f64> {
        match self {
            Value::Unset => Some(0.0),
            Value::Number(number) => Some(*number),
            Value::Text(_) => None,
            Value::Input(text) => looks_numeric(text),
        }
    }

    /// The string; numbers that are not whole by `format` (CONVFMT or OFMT).
    pub fn to_text(&self, format: &[u8]) -> Text {
        match self {
            Value::Unset => Text::default(),
            Value::Number(number) => Rc::new(number_text(*number, format)),
            Value::Text(text) | Value::Input(text) => text.clone(),
        }
    }

    /// Appends the string.
    pub fn append_to(&self, out: &mut Vec<u8>, format: &[u8]) {
        match self {
            Value::Unset => {}
            Value::Number(number) => append_number(*number, format, out),
            Value::Text(text) | Value::Input(text) => out.extend_from_slice(text),
        }
    }
}

fn append_number(number: f64, format: &[u8], out: &mut Vec<u8>) {
    if number == number.trunc() && number.abs() < 1e15 {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        let mut rest = number.abs() as u64;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0.0 {
            out.push(b'-');
        }
        out.extend_from_slice(&digits[at..]);
    } else if number == number.trunc() && number.is_finite() {
        out.extend_from_slice(std::format!("{number:.0}").as_bytes());
    } else {
        format::append_float(number, format, out);
    }
}

/// A number as a string.
pub fn number_text(number: f64, format: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    append_number(number, format, &mut out);
    out
}

/// The number a whole string is, blanks around it allowed.
pub fn looks_numeric(text: &[u8]) -> Option<f64> {
    // Most fields are words: they are told apart by their first byte.
    let first = *text.iter().find(|byte| !byte.is_ascii_whitespace())?;
    if !first.is_ascii_digit() && !matches!(first, b'+' | b'-' | b'.') {
        return None;
    }
    let (number, length) = parse_prefix(text);
    (length > 0 && text[length..].iter().all(u8::is_ascii_whitespace)).then_some(number)
}

/// The number at the beginning of a string and the bytes it takes with the blanks before it; 0 and 0 for none.
pub fn parse_prefix(text: &[u8]) -> (f64, usize) {
    let start = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let mut at = start;
    let negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'+' | b'-')) {
        at += 1;
        let word = &text[at..(at + 3).min(text.len())];
        if word.len() == 3 && !text.get(at + 3).is_some_and(u8::is_ascii_alphanumeric) {
            let sign = if negative { -1.0 } else { 1.0 };
            if word.eq_ignore_ascii_case(b"inf") {
                return (f64::INFINITY * sign, at + 3);
            }
            if word.eq_ignore_ascii_case(b"nan") {
                return (f64::NAN.copysign(sign), at + 3);
            }
        }
    }
    let digits_start = at;
    let mut whole: u64 = 0;
    while let Some(digit) = text.get(at).filter(|byte| byte.is_ascii_digit()) {
        whole = whole.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        at += 1;
    }
    let mut digits = at - digits_start;
    let simple = digits > 0 && digits <= 15 && !matches!(text.get(at), Some(b'.' | b'e' | b'E'));
    if simple {
        return (if negative { -(whole as f64) } else { whole as f64 }, at);
    }
    if text.get(at) == Some(&b'.') {
        let fraction = text[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits + fraction > 0 {
            digits += fraction;
            at += 1 + fraction;
        }
    }
    if digits == 0 {
        return (0.0, 0);
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let exponent = text[(at + 1 + sign).min(text.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    let literal = std::str::from_utf8(&text[start..at]).unwrap_or("0");
    (literal.parse().unwrap_or(0.0), at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_beginning() {
        assert_eq!(parse_prefix(b" 12abc"), (12.0, 3));
        assert_eq!(parse_prefix(b"-.5e1x"), (-5.0, 5));
        assert_eq!(parse_prefix(b"1e"), (1.0, 1));
        assert_eq!(parse_prefix(b"0x10"), (0.0, 1));
        assert_eq!(parse_prefix(b"."), (0.0, 0));
        assert_eq!(looks_numeric(b" 3.0 "), Some(3.0));
        assert_eq!(looks_numeric(b"3x"), None);
        assert_eq!(looks_numeric(b""), None);
    }
}
