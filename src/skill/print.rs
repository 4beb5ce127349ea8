//! Front matter as text.

use std::fmt::Write;

use serde_json::{Map, Value as Json};

use super::manifest::{Manifest, parse_truth, split_tools};

/// The longest name of a field that YAML reads before a `:` in its line, in characters.
const SIMPLE_KEY: usize = 1000;

impl Manifest {
    /// The front matter without its fences, in a fixed order. Read again it gives the same fields.
    ///
    /// ```
    /// let manifest = wskill::skill::Manifest::new("notes", "Notes: takes, finds and sorts them.");
    /// assert_eq!(manifest.to_yaml(), "name: notes\ndescription: \"Notes: takes, finds and sorts them.\"\n");
    /// ```
    pub fn to_yaml(&self) -> String {
        let mut out = String::new();
        line(&mut out, "name", Some(&self.name));
        line(&mut out, "description", Some(&self.description));
        line(&mut out, "license", self.license.as_deref());
        line(&mut out, "compatibility", self.compatibility.as_deref());
        let tools = self.allowed_tools.join(" ");
        if split_tools(&tools) == self.allowed_tools {
            line(&mut out, "allowed-tools", Some(tools.as_str()).filter(|tools| !tools.is_empty()));
        } else {
            field(&mut out, 0, "allowed-tools", &self.allowed_tools.as_slice().into());
        }
        line(&mut out, "argument-hint", self.argument_hint.as_deref());
        line(&mut out, "model", self.model.as_deref());
        line(&mut out, "context", self.context.as_deref());
        if self.disable_model_invocation {
            field(&mut out, 0, "disable-model-invocation", &true.into());
        }
        if !self.user_invocable {
            field(&mut out, 0, "user-invocable", &false.into());
        }
        if !self.metadata.is_empty() {
            field(&mut out, 0, "metadata", &Json::Object(self.metadata.clone()));
        }
        map(&mut out, 0, &self.extra);
        out
    }
}

fn line(out: &mut String, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        let _ = writeln!(out, "{key}: {}", scalar(value));
    }
}

fn map(out: &mut String, indent: usize, map: &Map<String, Json>) {
    for (key, value) in map {
        field(out, indent, key, value);
    }
}

fn field(out: &mut String, indent: usize, key: &str, json: &Json) {
    let blanks = " ".repeat(indent);
    let printed = scalar(key);
    if printed.chars().count() > SIMPLE_KEY {
        let _ = write!(out, "{blanks}? {printed}\n{blanks}:");
    } else {
        let _ = write!(out, "{blanks}{printed}:");
    }
    value(out, indent, json);
}

/// What follows a `:` or a `-`, with the line break.
fn value(out: &mut String, indent: usize, json: &Json) {
    match json {
        Json::Object(fields) if !fields.is_empty() => {
            out.push('\n');
            map(out, indent + 2, fields);
        }
        Json::Array(items) if !items.is_empty() => {
            out.push('\n');
            for item in items {
                let _ = write!(out, "{}-", " ".repeat(indent + 2));
                value(out, indent + 2, item);
            }
        }
        Json::String(text) => {
            let _ = writeln!(out, " {}", scalar(text));
        }
        // Numbers, truth values, null, `{}` and `[]` are the same in YAML.
        _ => {
            let _ = writeln!(out, " {json}");
        }
    }
}

/// Text without quotes when every YAML parser reads it as this text, else with them.
fn scalar(text: &str) -> String {
    let starts = text.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '(');
    let plain = starts
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.chars().any(|c| needs_escape(c) || c == '"')
        && !is_other_type(text);
    if plain {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if needs_escape(c) => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether some parser reads a number, a date, a truth value or null.
fn is_other_type(text: &str) -> bool {
    let first = text.starts_with(|c: char| c.is_numeric());
    let rest =
        |c: char| c.is_ascii_hexdigit() || matches!(c, '.' | '_' | '-' | '+' | ':' | 'x' | 'X' | 'o' | 'T' | 'Z' | ' ');
    (first && text.chars().all(rest))
        || parse_truth(text).is_some()
        || ["null", "y", "n"].iter().any(|word| text.eq_ignore_ascii_case(word))
}
