//! JSON values: reading, writing, order.

use std::cmp::Ordering;
use std::rc::Rc;

use indexmap::IndexMap;

/// An object; keys keep the order in which they came.
pub type Object = IndexMap<Rc<str>, Json>;

/// How deep arrays and objects of a text may nest.
const MAX_DEPTH: usize = 1000;

/// A value.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names are JSON's")]
pub enum Json {
    #[default]
    Null,
    Bool(bool),
    Number(f64),
    String(Rc<str>),
    Array(Rc<Vec<Json>>),
    Object(Rc<Object>),
}

impl Json {
    /// A string.
    pub fn string(text: impl AsRef<str>) -> Self {
        Json::String(Rc::from(text.as_ref()))
    }

    /// An array.
    pub fn array(items: Vec<Json>) -> Self {
        Json::Array(Rc::new(items))
    }

    /// An object.
    pub fn object(object: Object) -> Self {
        Json::Object(Rc::new(object))
    }

    /// `null` and `false` are false.
    pub fn is_true(&self) -> bool {
        !matches!(self, Json::Null | Json::Bool(false))
    }

    /// jq's `type`.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// jq's order of types.
    fn rank(&self) -> u8 {
        match self {
            Json::Null => 0,
            Json::Bool(false) => 1,
            Json::Bool(true) => 2,
            Json::Number(_) => 3,
            Json::String(_) => 4,
            Json::Array(_) => 5,
            Json::Object(_) => 6,
        }
    }

    /// The text without blanks.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        write(self, &Style::default(), 0, &mut out);
        out
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        compare(self, other) == Ordering::Equal
    }
}

/// jq's order: null, false, true, numbers, strings, arrays, objects.
pub fn compare(a: &Json, b: &Json) -> Ordering {
    match (a, b) {
        // nan is below every number, itself too.
        (Json::Number(a), Json::Number(b)) => {
            a.partial_cmp(b).unwrap_or_else(|| if a.is_nan() { Ordering::Less } else { Ordering::Greater })
        }
        (Json::String(a), Json::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Json::Array(a), Json::Array(b)) => {
            let first = a.iter().zip(b.iter()).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
            first.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Json::Object(a), Json::Object(b)) => {
            let (a_keys, b_keys) = (sorted_keys(a), sorted_keys(b));
            a_keys.cmp(&b_keys).then_with(|| {
                let null = Json::Null;
                let value = |object: &Object, key: &Rc<str>| object.get(key).unwrap_or(&null).clone();
                a_keys
                    .iter()
                    .map(|key| compare(&value(a, key), &value(b, key)))
                    .find(|order| order.is_ne())
                    .unwrap_or(Ordering::Equal)
            })
        }
        _ => a.rank().cmp(&b.rank()),
    }
}

/// The keys in order.
pub fn sorted_keys(object: &Object) -> Vec<Rc<str>> {
    let mut keys: Vec<Rc<str>> = object.keys().cloned().collect();
    keys.sort_unstable();
    keys
}

// ---- Writing ----

/// How values are written.
#[derive(Clone, Default)]
pub struct Style {
    /// Blanks (or a tab) for each level; `None` for one line.
    pub indent: Option<String>,
    /// `-S`
    pub sort_keys: bool,
    /// `-a`
    pub ascii: bool,
    /// `-C`
    pub color: Option<Colors>,
}

/// The colours of null, false, true, numbers, strings, arrays, objects and keys.
#[derive(Clone)]
pub struct Colors(pub [String; 8]);

impl Colors {
    /// jq's defaults, changed by `JQ_COLORS`.
    pub fn new(settings: &str) -> Self {
        let mut colors = ["1;30", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39", "34;1"].map(String::from);
        for (place, color) in colors.iter_mut().zip(settings.split(':').filter(|color| !color.is_empty())) {
            *place = color.to_string();
        }
        Self(colors)
    }

    fn of(&self, value: &Json) -> &str {
        let index = match value {
            Json::Null => 0,
            Json::Bool(false) => 1,
            Json::Bool(true) => 2,
            Json::Number(_) => 3,
            Json::String(_) => 4,
            Json::Array(_) => 5,
            Json::Object(_) => 6,
        };
        &self.0[index]
    }
}

/// Appends a number as jq writes it: 17 digits at most, exponents from 1e17 and below 1e-5.
pub fn write_number(number: f64, out: &mut String) {
    if number.is_nan() {
        out.push_str("null");
        return;
    }
    let number = number.clamp(-f64::MAX, f64::MAX);
    if number == number.trunc() && number.abs() < 1e15 {
        if number == 0.0 && number.is_sign_negative() {
            out.push('-');
        }
        out.push_str(&(number as i64).to_string());
        return;
    }
    let text = format!("{number:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let point = exponent + 1;
    out.push_str(sign);
    if point <= -4 || point > digits.len() as i32 + 15 {
        let (first, rest) = digits.split_at(1);
        out.push_str(first);
        if !rest.is_empty() {
            out.push('.');
            out.push_str(rest);
        }
        out.push_str(&format!("e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()));
    } else if point <= 0 {
        out.push_str("0.");
        out.push_str(&"0".repeat(-point as usize));
        out.push_str(&digits);
    } else if point as usize >= digits.len() {
        out.push_str(&digits);
        out.push_str(&"0".repeat(point as usize - digits.len()));
    } else {
        out.push_str(&digits[..point as usize]);
        out.push('.');
        out.push_str(&digits[point as usize..]);
    }
}

/// Appends a string in quotes.
pub fn write_string(text: &str, ascii: bool, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '\u{7f}' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c if ascii && !c.is_ascii() => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Appends a value.
pub fn write(value: &Json, style: &Style, level: usize, out: &mut String) {
    match &style.color {
        Some(colors) => write_colored(value, style, colors, level, out),
        None => write_plain(value, style, level, out),
    }
}

fn new_line(style: &Style, level: usize, out: &mut String) {
    if let Some(indent) = &style.indent {
        out.push('\n');
        for _ in 0..level {
            out.push_str(indent);
        }
    }
}

fn members<'o>(object: &'o Object, style: &Style) -> Vec<(&'o Rc<str>, &'o Json)> {
    let mut members: Vec<_> = object.iter().collect();
    if style.sort_keys {
        members.sort_unstable_by(|a, b| a.0.cmp(b.0));
    }
    members
}

fn write_scalar(value: &Json, style: &Style, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Json::Number(number) => write_number(*number, out),
        Json::String(text) => write_string(text, style.ascii, out),
        Json::Array(_) => out.push_str("[]"),
        Json::Object(_) => out.push_str("{}"),
    }
}

fn write_plain(value: &Json, style: &Style, level: usize, out: &mut String) {
    match value {
        Json::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                new_line(style, level + 1, out);
                write_plain(item, style, level + 1, out);
            }
            new_line(style, level, out);
            out.push(']');
        }
        Json::Object(object) if !object.is_empty() => {
            out.push('{');
            for (index, (key, item)) in members(object, style).into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                new_line(style, level + 1, out);
                write_string(key, style.ascii, out);
                out.push_str(if style.indent.is_some() { ": " } else { ":" });
                write_plain(item, style, level + 1, out);
            }
            new_line(style, level, out);
            out.push('}');
        }
        scalar => write_scalar(scalar, style, out),
    }
}

/// As jq 1.6 colours: brackets in the colour of their value, each piece closed by a reset.
fn write_colored(value: &Json, style: &Style, colors: &Colors, level: usize, out: &mut String) {
    const RESET: &str = "\x1b[0m";
    let color = format!("\x1b[{}m", colors.of(value));
    match value {
        Json::Array(items) if !items.is_empty() => {
            out.push_str(&color);
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(&color);
                    out.push(',');
                }
                new_line(style, level + 1, out);
                write_colored(item, style, colors, level + 1, out);
            }
            out.push_str(&color);
            new_line(style, level, out);
            out.push_str(&color);
            out.push(']');
            out.push_str(RESET);
        }
        Json::Object(object) if !object.is_empty() => {
            out.push_str(&color);
            out.push('{');
            for (index, (key, item)) in members(object, style).into_iter().enumerate() {
                if index > 0 {
                    out.push_str(&color);
                    out.push(',');
                }
                new_line(style, level + 1, out);
                out.push_str(RESET);
                out.push_str(&format!("\x1b[{}m", colors.0[7]));
                write_string(key, style.ascii, out);
                out.push_str(RESET);
                out.push_str(&color);
                out.push(':');
                if style.indent.is_some() {
                    out.push(' ');
                }
                out.push_str(RESET);
                write_colored(item, style, colors, level + 1, out);
            }
            out.push_str(&color);
            new_line(style, level, out);
            out.push_str(&color);
            out.push('}');
            out.push_str(RESET);
        }
        scalar => {
            out.push_str(&color);
            write_scalar(scalar, style, out);
            out.push_str(RESET);
        }
    }
}

// ---- Reading ----

/// Reads values from a text, one after another.
pub struct Reader<'t> {
    text: &'t [u8],
    /// The place behind the last value.
    pub at: usize,
}

impl<'t> Reader<'t> {
    /// The values of a text.
    pub fn new(text: &'t [u8]) -> Self {
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { text, at }
    }

    /// The next value; `None` at the end.
    ///
    /// # Errors
    /// jq's message with line and column.
    pub fn next(&mut self) -> Result<Option<Json>, String> {
        self.blanks();
        if self.at >= self.text.len() {
            return Ok(None);
        }
        self.value(0).map(Some)
    }

    fn blanks(&mut self) {
        // The record separator of JSON text sequences (--seq) counts as a blank.
        while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == 0x1e) {
            self.at += 1;
        }
    }

    fn fail<T>(&self, message: &str) -> Result<T, String> {
        let before = &self.text[..self.at.min(self.text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count();
        Err(format!("{message} at line {line}, column {column}"))
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > MAX_DEPTH {
            return self.fail("Exceeds depth limit for parsing");
        }
        match self.text.get(self.at) {
            None => self.fail("Unfinished JSON term"),
            Some(b'"') => self.string().map(|text| Json::String(Rc::from(text))),
            Some(b'[') => {
                self.at += 1;
                let mut items = Vec::new();
                self.blanks();
                if self.text.get(self.at) == Some(&b']') {
                    self.at += 1;
                    return Ok(Json::array(items));
                }
                loop {
                    self.blanks();
                    items.push(self.value(depth + 1)?);
                    self.blanks();
                    match self.text.get(self.at) {
                        Some(b',') => self.at += 1,
                        Some(b']') => {
                            self.at += 1;
                            return Ok(Json::array(items));
                        }
                        None => return self.fail("Unfinished JSON term"),
                        Some(_) => return self.fail("Expected separator between values"),
                    }
                }
            }
            Some(b'{') => {
                self.at += 1;
                let mut object = Object::new();
                self.blanks();
                if self.text.get(self.at) == Some(&b'}') {
                    self.at += 1;
                    return Ok(Json::object(object));
                }
                loop {
                    self.blanks();
                    match self.text.get(self.at) {
                        Some(b'"') => {}
                        None => return self.fail("Unfinished JSON term"),
                        Some(_) => return self.fail("Object keys must be strings"),
                    }
                    let key = self.string()?;
                    self.blanks();
                    if self.text.get(self.at) != Some(&b':') {
                        return self.fail("Objects must consist of key:value pairs");
                    }
                    self.at += 1;
                    self.blanks();
                    let value = self.value(depth + 1)?;
                    object.insert(Rc::from(key), value);
                    self.blanks();
                    match self.text.get(self.at) {
                        Some(b',') => self.at += 1,
                        Some(b'}') => {
                            self.at += 1;
                            return Ok(Json::object(object));
                        }
                        None => return self.fail("Unfinished JSON term"),
                        Some(_) => return self.fail("Expected separator between values"),
                    }
                }
            }
            Some(_) => self.word(),
        }
    }

    fn word(&mut self) -> Result<Json, String> {
        let start = self.at;
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        while self.text.get(self.at).is_some_and(part) {
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        match word {
            "null" => Ok(Json::Null),
            "true" => Ok(Json::Bool(true)),
            "false" => Ok(Json::Bool(false)),
            "nan" | "NaN" => Ok(Json::Number(f64::NAN)),
            _ => match parse_number(word) {
                Some(number) => Ok(Json::Number(number)),
                None => {
                    self.at += usize::from(self.at < self.text.len());
                    self.fail(if word.starts_with(|c: char| c.is_ascii_alphabetic()) {
                        "Invalid literal"
                    } else {
                        "Invalid numeric literal"
                    })
                }
            },
        }
    }

    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\')).count();
            text.extend_from_slice(&rest[..plain]);
            self.at += plain;
            match self.text.get(self.at) {
                None => return self.fail("Unfinished string"),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(match String::from_utf8(text) {
                        Ok(text) => text,
                        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
                    });
                }
                Some(_) => {
                    let escape = self.text.get(self.at + 1).copied();
                    self.at += 2;
                    match escape {
                        Some(byte @ (b'"' | b'\\' | b'/')) => text.push(byte),
                        Some(b'n') => text.push(b'\n'),
                        Some(b't') => text.push(b'\t'),
                        Some(b'r') => text.push(b'\r'),
                        Some(b'b') => text.push(8),
                        Some(b'f') => text.push(12),
                        Some(b'u') => {
                            let c = self.unicode()?;
                            text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                        _ => return self.fail("Invalid escape"),
                    }
                }
            }
        }
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = std::str::from_utf8(self.text.get(self.at..self.at + 4)?).ok()?;
        let code = u32::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        Some(code)
    }

    fn unicode(&mut self) -> Result<char, String> {
        let Some(first) = self.hex() else { return self.fail("Invalid escape") };
        if (0xd800..0xdc00).contains(&first) && self.text.get(self.at..self.at + 2) == Some(b"\\u") {
            let mark = self.at;
            self.at += 2;
            match self.hex() {
                Some(second) if (0xdc00..0xe000).contains(&second) => {
                    let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                    return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                _ => self.at = mark,
            }
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

/// A number by JSON's rules, a little looser as jq is.
pub fn parse_number(word: &str) -> Option<f64> {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') || !digits.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    word.parse().ok()
}

/// The only value of a text.
///
/// # Errors
/// The message.
pub fn parse(text: &[u8]) -> Result<Json, String> {
    let mut reader = Reader::new(text);
    match reader.next()? {
        None => Ok(Json::Null),
        Some(value) => match reader.next()? {
            None => Ok(value),
            Some(_) => Err("Unexpected extra JSON values".into()),
        },
    }
}
