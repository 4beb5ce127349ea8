//! The input values: files one after another, whole, by lines, or as events (`--stream`).

use std::collections::VecDeque;
use std::rc::Rc;

use super::value::{Json, Reader};
use crate::input;
use crate::output::show;
use crate::platform;

/// Where input values come from.
pub struct Source {
    files: VecDeque<Vec<u8>>,
    text: Vec<u8>,
    at: usize,
    name: Option<Vec<u8>>,
    raw: bool,
    slurp: bool,
    events: bool,
    pending: VecDeque<Json>,
    finished: bool,
    /// Whether a file could not be read.
    pub trouble: bool,
}

impl Source {
    /// The values of these files.
    pub fn new(files: Vec<Vec<u8>>, raw: bool, slurp: bool, events: bool) -> Self {
        Self {
            files: files.into(),
            text: Vec::new(),
            at: 0,
            name: None,
            raw,
            slurp,
            events,
            pending: VecDeque::new(),
            finished: false,
            trouble: false,
        }
    }

    /// The file of the last value; `None` for standard input.
    pub fn file_name(&self) -> Option<Rc<str>> {
        self.name.as_ref().filter(|name| *name != b"-").map(|name| Rc::from(show(name)))
    }

    /// Where errors are, `<stdin>:3` or `file:3`.
    pub fn place(&self) -> String {
        let Some(name) = &self.name else { return "<unknown>".into() };
        let line = self.text[..self.at.min(self.text.len())].iter().filter(|byte| **byte == b'\n').count();
        // The newline behind a value was read with it.
        let line = line + usize::from(self.text.get(self.at) == Some(&b'\n'));
        if name == b"-" { format!("<stdin>:{line}") } else { format!("{}:{line}", show(name)) }
    }

    /// Opens the next readable file; false at the end.
    fn open_next(&mut self) -> bool {
        while let Some(name) = self.files.pop_front() {
            match input::read(&name) {
                Ok(text) => {
                    self.text = text;
                    self.at = 0;
                    self.name = Some(name);
                    return true;
                }
                Err(error) => {
                    eprintln!("jq: error: Could not open {}: {}", show(&name), platform::message(&error));
                    self.trouble = true;
                }
            }
        }
        false
    }

    /// The next value.
    pub fn next(&mut self) -> Option<Result<Json, String>> {
        if let Some(event) = self.pending.pop_front() {
            return Some(Ok(event));
        }
        if self.finished {
            return None;
        }
        if self.slurp {
            self.finished = true;
            return Some(self.all());
        }
        self.one()
    }

    fn all(&mut self) -> Result<Json, String> {
        if self.raw {
            let mut text = String::new();
            while self.open_next() {
                text.push_str(&show(&self.text));
            }
            return Ok(Json::string(text));
        }
        let mut values = Vec::new();
        while let Some(value) = self.one() {
            values.push(value?);
            values.extend(self.pending.drain(..));
        }
        Ok(Json::array(values))
    }

    fn one(&mut self) -> Option<Result<Json, String>> {
        loop {
            if self.raw {
                if self.at < self.text.len() {
                    let rest = &self.text[self.at..];
                    let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                    let line = Json::string(show(&rest[..length]));
                    self.at += length + 1;
                    return Some(Ok(line));
                }
            } else {
                let mut reader = Reader::new(&self.text);
                reader.at = reader.at.max(self.at);
                let found = reader.next();
                self.at = reader.at;
                match found {
                    Ok(Some(value)) if self.events => {
                        events(&value, &mut Vec::new(), &mut self.pending);
                        return self.pending.pop_front().map(Ok);
                    }
                    Ok(Some(value)) => return Some(Ok(value)),
                    Ok(None) => {}
                    Err(message) => {
                        self.finished = true;
                        return Some(Err(format!("parse error: {message}")));
                    }
                }
            }
            if !self.open_next() {
                self.finished = true;
                return None;
            }
        }
    }
}

/// A value as `[path, leaf]` and, at the end of an array or object, `[path]`.
fn events(value: &Json, path: &mut Vec<Json>, out: &mut VecDeque<Json>) {
    let children: Vec<(Json, &Json)> = match value {
        Json::Array(items) if !items.is_empty() => {
            items.iter().enumerate().map(|(index, item)| (Json::Number(index as f64), item)).collect()
        }
        Json::Object(object) if !object.is_empty() => {
            object.iter().map(|(key, item)| (Json::String(key.clone()), item)).collect()
        }
        leaf => {
            out.push_back(Json::array(vec![Json::array(path.clone()), leaf.clone()]));
            return;
        }
    };
    let last = children.last().map(|(key, _)| key.clone()).unwrap_or_default();
    for (key, item) in children {
        path.push(key);
        events(item, path, out);
        path.pop();
    }
    let mut closing = path.clone();
    closing.push(last);
    out.push_back(Json::array(vec![Json::array(closing)]));
}
