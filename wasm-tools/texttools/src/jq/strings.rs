//! Strings: parts, formats and regular expressions.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::builtins::{described, type_error};
use super::eval::{Flow, Stop, fail};
use super::paths::occurrences;
use super::value::{Json, Object};

/// `split/1` and `/`.
pub fn split(text: &str, separator: &str) -> Vec<Json> {
    if text.is_empty() {
        return Vec::new();
    }
    if separator.is_empty() {
        return text.chars().map(|c| Json::string(c.to_string())).collect();
    }
    text.split(separator).map(Json::string).collect()
}

/// `indices`: codepoints in strings, items or runs of items in arrays.
pub fn indices(input: &Json, wanted: &Json) -> Result<Json, Stop> {
    Ok(match (input, wanted) {
        (Json::Null, _) => Json::Null,
        (Json::String(text), Json::String(wanted)) => {
            if wanted.is_empty() {
                return Ok(Json::Null);
            }
            let mut places = Vec::new();
            let mut from = 0;
            while let Some(at) = text[from..].find(&**wanted) {
                let place = from + at;
                places.push(Json::Number(text[..place].chars().count() as f64));
                // Occurrences may overlap.
                from = place + text[place..].chars().next().map_or(1, char::len_utf8);
            }
            Json::array(places)
        }
        (Json::Array(items), Json::Array(wanted)) => Json::array(occurrences(items, wanted)),
        (Json::Array(items), wanted) => {
            let places = items.iter().enumerate().filter(|(_, item)| *item == wanted);
            Json::array(places.map(|(place, _)| Json::Number(place as f64)).collect())
        }
        (input, wanted) => {
            return fail(format!("Cannot determine indices of {} in {}", wanted.kind(), described(input)));
        }
    })
}

fn string(input: &Json) -> Result<&Rc<str>, Stop> {
    match input {
        Json::String(text) => Ok(text),
        other => fail(format!("{} cannot be matched, as it is not a string", described(other))),
    }
}

/// Calls a function over strings; `None` when it is not one.
pub fn call(name: &str, input: &Json, arguments: &[Json], out: &mut dyn FnMut(Json) -> Flow) -> Option<Flow> {
    let result = match (name, arguments) {
        ("explode", []) => match input {
            Json::String(text) => Ok(Json::array(text.chars().map(|c| Json::Number(f64::from(c as u32))).collect())),
            other => type_error(other, "cannot be exploded"),
        },
        ("implode", []) => implode(input),
        ("split", [separator]) => match (input, separator) {
            (Json::String(text), Json::String(separator)) => Ok(Json::array(split(text, separator))),
            _ => fail("split input and separator must be strings"),
        },
        ("join", [separator]) => join(input, separator),
        ("startswith" | "endswith", [part]) => match (input, part) {
            (Json::String(text), Json::String(part)) => {
                Ok(Json::Bool(if name == "startswith" { text.starts_with(&**part) } else { text.ends_with(&**part) }))
            }
            _ => fail(format!("{name}() requires string inputs")),
        },
        ("ltrimstr" | "rtrimstr" | "trimstr", [part]) => Ok(match (input, part) {
            (Json::String(text), Json::String(part)) => {
                let mut rest: &str = text;
                if name != "rtrimstr" {
                    rest = rest.strip_prefix(&**part).unwrap_or(rest);
                }
                if name != "ltrimstr" && !part.is_empty() {
                    rest = rest.strip_suffix(&**part).unwrap_or(rest);
                }
                Json::string(rest)
            }
            _ => input.clone(),
        }),
        ("trim" | "ltrim" | "rtrim", []) => match input {
            Json::String(text) => Ok(Json::string(match name {
                "trim" => text.trim(),
                "ltrim" => text.trim_start(),
                _ => text.trim_end(),
            })),
            other => type_error(other, "cannot be trimmed"),
        },
        ("ascii_downcase" | "ascii_upcase", []) => match input {
            Json::String(text) if name == "ascii_downcase" => Ok(Json::string(text.to_ascii_lowercase())),
            Json::String(text) => Ok(Json::string(text.to_ascii_uppercase())),
            _ => fail(format!("{name} input must be a string")),
        },
        ("test" | "match", [pattern, flags]) => return Some(regex(name, input, pattern, flags, out)),
        _ => return None,
    };
    Some(result.and_then(out))
}

fn implode(input: &Json) -> Result<Json, Stop> {
    let Json::Array(items) = input else { return type_error(input, "cannot be imploded") };
    let mut text = String::new();
    for item in items.iter() {
        match item {
            Json::Number(code) => text.push(char::from_u32(*code as u32).unwrap_or(char::REPLACEMENT_CHARACTER)),
            _ => return fail("Unicode codepoint must be numeric"),
        }
    }
    Ok(Json::string(text))
}

fn join(input: &Json, separator: &Json) -> Result<Json, Stop> {
    let items: Vec<&Json> = match input {
        Json::Array(items) => items.iter().collect(),
        other => return fail(format!("Cannot iterate over {}", described(other))),
    };
    if items.is_empty() {
        return Ok(Json::string(""));
    }
    let Json::String(separator) = separator else {
        return type_error(separator, "and string cannot be added");
    };
    let mut text = String::new();
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            text.push_str(separator);
        }
        match item {
            Json::Null => {}
            Json::String(part) => text.push_str(part),
            Json::Number(_) | Json::Bool(_) => text.push_str(&item.to_text()),
            other => {
                return fail(format!(
                    "string ({}) and {} cannot be added",
                    super::builtins::shortened(&Json::string(&text)),
                    described(other)
                ));
            }
        }
    }
    Ok(Json::string(text))
}

/// `@name` of a value.
pub fn format(name: &str, input: &Json) -> Result<String, Stop> {
    let text = || match input {
        Json::String(text) => text.to_string(),
        other => other.to_text(),
    };
    let replace = |pairs: &[(char, &str)]| {
        let text = text();
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match pairs.iter().find(|(from, _)| *from == c) {
                Some((_, to)) => out.push_str(to),
                None => out.push(c),
            }
        }
        out
    };
    Ok(match name {
        "@text" => text(),
        "@json" => input.to_text(),
        "@html" => replace(&[('<', "&lt;"), ('>', "&gt;"), ('&', "&amp;"), ('\'', "&#39;"), ('"', "&quot;")]),
        "@uri" => {
            let mut out = String::new();
            for byte in text().bytes() {
                if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                    out.push(byte as char);
                } else {
                    out.push_str(&format!("%{byte:02X}"));
                }
            }
            out
        }
        "@csv" | "@tsv" => row(name, input)?,
        "@sh" => {
            let quote = |value: &Json| match value {
                Json::String(text) => Ok(format!("'{}'", text.replace('\'', "'\\''"))),
                Json::Array(_) | Json::Object(_) => type_error(value, "can not be escaped for shell"),
                other => Ok(other.to_text()),
            };
            match input {
                Json::Array(items) => items.iter().map(quote).collect::<Result<Vec<_>, _>>()?.join(" "),
                other => quote(other)?,
            }
        }
        "@base64" => {
            encode_bits(text().as_bytes(), 6, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        }
        "@base32" => encode_bits(text().as_bytes(), 5, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
        "@base64d" | "@base32d" => {
            let text = text();
            match decode_bits(&text, name == "@base64d") {
                Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                None => {
                    return type_error(
                        input,
                        if name == "@base64d" { "is not valid base64 data" } else { "is not valid base32 data" },
                    );
                }
            }
        }
        _ => return fail(format!("{} is not a valid format", &name[1..])),
    })
}

fn row(name: &str, input: &Json) -> Result<String, Stop> {
    let Json::Array(items) = input else {
        return type_error(input, &format!("cannot be {}-formatted, only an array can be", &name[1..]));
    };
    let mut cells = Vec::new();
    for item in items.iter() {
        cells.push(match item {
            Json::Null => String::new(),
            Json::Number(_) | Json::Bool(_) => item.to_text(),
            Json::String(text) if name == "@csv" => format!("\"{}\"", text.replace('"', "\"\"")),
            Json::String(text) => {
                text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
            }
            other => return type_error(other, &format!("is not valid in a {} row", &name[1..])),
        });
    }
    Ok(cells.join(if name == "@csv" { "," } else { "\t" }))
}

/// base64 and base32: groups of bits as letters, padded with `=`.
fn encode_bits(bytes: &[u8], width: u32, letters: &[u8]) -> String {
    let mut out = String::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        count += 8;
        while count >= width {
            count -= width;
            out.push(letters[(bits >> count & ((1 << width) - 1)) as usize] as char);
        }
        bits &= (1 << count) - 1;
    }
    if count > 0 {
        out.push(letters[(bits << (width - count) & ((1 << width) - 1)) as usize] as char);
    }
    let group = if width == 6 { 4 } else { 8 };
    while out.len() % group != 0 {
        out.push('=');
    }
    out
}

fn decode_bits(text: &str, base64: bool) -> Option<Vec<u8>> {
    let width = if base64 { 6 } else { 5 };
    let mut out = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    let trimmed = text.trim_end_matches('=');
    if base64 && trimmed.len() % 4 == 1 {
        return None;
    }
    for byte in trimmed.bytes() {
        let value = match (byte, base64) {
            (b'A'..=b'Z', _) => byte - b'A',
            (b'a'..=b'z', true) => byte - b'a' + 26,
            (b'0'..=b'9', true) => byte - b'0' + 52,
            (b'+' | b'-', true) => 62,
            (b'/' | b'_', true) => 63,
            (b'2'..=b'7', false) => byte - b'2' + 26,
            _ => return None,
        };
        bits = bits << width | u32::from(value);
        count += width;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
        bits &= (1 << count) - 1;
    }
    Some(out)
}

thread_local! {
    /// Programs use few patterns, often.
    static PATTERNS: RefCell<HashMap<(String, String), Rc<fancy_regex::Regex>>> = RefCell::new(HashMap::new());
}

fn compile(pattern: &str, flags: &str) -> Result<Rc<fancy_regex::Regex>, Stop> {
    let key = (pattern.to_string(), flags.to_string());
    if let Some(regex) = PATTERNS.with(|patterns| patterns.borrow().get(&key).cloned()) {
        return Ok(regex);
    }
    let mut builder = fancy_regex::RegexBuilder::new(pattern);
    builder.case_insensitive(flags.contains('i'));
    builder.verbose_mode(flags.contains('x'));
    builder.dot_matches_new_line(flags.contains('s') || flags.contains('p'));
    builder.multi_line(true);
    builder.backtrack_limit(5_000_000);
    match builder.build() {
        Ok(regex) => {
            let regex = Rc::new(regex);
            PATTERNS.with(|patterns| patterns.borrow_mut().insert(key, regex.clone()));
            Ok(regex)
        }
        Err(error) => {
            let text = error.to_string();
            fail(format!("{pattern} (at offset 0) is not a valid regex: {}", text.lines().last().unwrap_or_default()))
        }
    }
}

fn regex(name: &str, input: &Json, pattern: &Json, flags: &Json, out: &mut dyn FnMut(Json) -> Flow) -> Flow {
    let text: &str = string(input)?;
    let Json::String(pattern) = pattern else {
        return fail(format!("{} cannot be matched, as it is not a string", described(pattern)));
    };
    let flags = match flags {
        Json::Null => Rc::from(""),
        Json::String(flags) => flags.clone(),
        other => return fail(format!("{} is not a string", described(other))),
    };
    if flags.chars().any(|flag| !"gimnpslx".contains(flag)) {
        return fail(format!("{flags} is not a valid modifier string"));
    }
    let regex = compile(pattern, &flags)?;
    let failed = |error: fancy_regex::Error| Stop::Error(Json::string(error.to_string()));
    if name == "test" {
        return out(Json::Bool(regex.is_match(text).map_err(failed)?));
    }
    let global = flags.contains('g');
    let skip_empty = flags.contains('n');
    let mut at = 0;
    while at <= text.len() {
        let Some(captures) = regex.captures_from_pos(text, at).map_err(failed)? else { break };
        let Some(whole) = captures.get(0) else { break };
        if !(skip_empty && whole.as_str().is_empty()) {
            out(match_object(text, &regex, &captures))?;
        }
        if !global {
            break;
        }
        at = if whole.end() > whole.start() {
            whole.end()
        } else {
            whole.end() + text[whole.end()..].chars().next().map_or(1, char::len_utf8)
        };
    }
    Ok(())
}

fn match_object(text: &str, regex: &fancy_regex::Regex, captures: &fancy_regex::Captures<'_, str>) -> Json {
    let describe = |found: Option<fancy_regex::Match<'_>>| {
        let mut object = Object::new();
        match found {
            Some(found) => {
                object.insert("offset".into(), Json::Number(text[..found.start()].chars().count() as f64));
                object.insert("length".into(), Json::Number(found.as_str().chars().count() as f64));
                object.insert("string".into(), Json::string(found.as_str()));
            }
            None => {
                object.insert("offset".into(), Json::Number(-1.0));
                object.insert("length".into(), Json::Number(0.0));
                object.insert("string".into(), Json::Null);
            }
        }
        object
    };
    let mut groups = Vec::new();
    for (index, name) in regex.capture_names().enumerate().skip(1) {
        let mut group = describe(captures.get(index));
        group.insert("name".into(), name.map_or(Json::Null, Json::string));
        groups.push(Json::object(group));
    }
    let mut object = describe(captures.get(0));
    object.insert("captures".into(), Json::array(groups));
    Json::object(object)
}
