//! The current record and its fields, split when first asked for.

use std::rc::Rc;

use super::text;
use super::value::{Text, Value};
use crate::regex::Regex;

/// More fields than any record has; `NF=1e9` would ask for all memory.
const MAX_FIELDS: usize = 10_000_000;

/// How a record is split.
#[derive(Clone)]
pub enum Splitter {
    /// Blanks, tabs and newlines; those at both ends do not count.
    Blanks,
    /// This byte; in paragraph mode newlines, too.
    Byte(u8),
    /// Every character is a field.
    Characters,
    /// What matches.
    Regex(Rc<Regex>),
    /// FIELDWIDTHS: characters to skip and the width, `None` for the rest.
    Widths(Vec<(usize, Option<usize>)>),
    /// FPAT: what the fields look like.
    Content(Rc<Regex>),
}

/// A record with its fields.
#[derive(Default)]
pub struct Record {
    /// `$0`; stale while `joined` is false.
    text: Text,
    joined: bool,
    /// What the spans point into.
    source: Text,
    spans: Vec<(usize, usize)>,
    values: Vec<Option<Value>>,
    split: bool,
}

impl Record {
    /// An empty record.
    pub fn new() -> Self {
        Self { joined: true, split: true, ..Self::default() }
    }

    /// Sets `$0`.
    pub fn set(&mut self, text: Text) {
        self.text = text;
        self.joined = true;
        self.split = false;
    }

    /// Whether the fields are known.
    pub fn is_split(&self) -> bool {
        self.split
    }

    /// `$0`.
    pub fn text(&mut self, ofs: &[u8], convfmt: &[u8]) -> Text {
        if !self.joined {
            let mut text = Vec::new();
            for index in 0..self.values.len() {
                if index > 0 {
                    text.extend_from_slice(ofs);
                }
                self.field(index + 1).append_to(&mut text, convfmt);
            }
            self.text = Rc::new(text);
            self.joined = true;
        }
        self.text.clone()
    }

    /// Splits the record, if that was not done.
    pub fn ensure_split(&mut self, splitter: &Splitter, newlines: bool) {
        if self.split {
            return;
        }
        self.split = true;
        self.source = self.text.clone();
        self.spans.clear();
        split_spans(&self.source, splitter, newlines, &mut self.spans, None);
        self.values.clear();
        self.values.resize(self.spans.len(), None);
    }

    /// NF. The record must be split.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// `$index`, from 1. The record must be split.
    pub fn field(&mut self, index: usize) -> Value {
        let Some(slot) = self.values.get_mut(index - 1) else { return Value::Input(Text::default()) };
        if let Some(value) = slot {
            return value.clone();
        }
        let (start, end) = self.spans[index - 1];
        let value = Value::input(&self.source[start..end]);
        *slot = Some(value.clone());
        value
    }

    /// Appends `$index` to a buffer without making a value of it. The record must be split.
    pub fn append_field(&self, index: usize, out: &mut Vec<u8>, convfmt: &[u8]) {
        match self.values.get(index - 1) {
            Some(Some(value)) => value.append_to(out, convfmt),
            Some(None) => {
                let (start, end) = self.spans[index - 1];
                out.extend_from_slice(&self.source[start..end]);
            }
            None => {}
        }
    }

    /// Sets `$index`, from 1. The record must be split.
    pub fn set_field(&mut self, index: usize, value: Value) -> Result<(), String> {
        if index > self.values.len() {
            self.set_count(index)?;
        }
        self.values[index - 1] = Some(value);
        self.joined = false;
        Ok(())
    }

    /// Sets NF. The record must be split.
    pub fn set_count(&mut self, count: usize) -> Result<(), String> {
        if count > MAX_FIELDS {
            return Err(format!("NF set to too large a value: {count}"));
        }
        self.spans.truncate(count);
        self.values.truncate(count);
        while self.values.len() < count {
            self.spans.push((0, 0));
            self.values.push(Some(Value::Unset));
        }
        self.joined = false;
        Ok(())
    }
}

/// Splits a text. `newlines`: newlines separate, too (paragraph mode). `separators` gets what was between the fields.
pub fn split_spans(
    source: &[u8],
    splitter: &Splitter,
    newlines: bool,
    spans: &mut Vec<(usize, usize)>,
    mut separators: Option<&mut Vec<(usize, usize)>>,
) {
    if source.is_empty() {
        return;
    }
    let mut separator = |from: usize, to: usize| {
        if let Some(list) = separators.as_mut() {
            list.push((from, to));
        }
    };
    match splitter {
        Splitter::Blanks => {
            let blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n');
            let mut at = 0;
            let mut last_end = None;
            while at < source.len() {
                if blank(source[at]) {
                    at += 1;
                    continue;
                }
                if let Some(end) = last_end {
                    separator(end, at);
                }
                let start = at;
                while at < source.len() && !blank(source[at]) {
                    at += 1;
                }
                spans.push((start, at));
                last_end = Some(at);
            }
        }
        Splitter::Byte(byte) => {
            let mut start = 0;
            let found = |at: &u8| *at == *byte || newlines && *at == b'\n';
            if newlines {
                for (at, _) in source.iter().enumerate().filter(|(_, byte)| found(byte)) {
                    spans.push((start, at));
                    separator(at, at + 1);
                    start = at + 1;
                }
            } else {
                for at in memchr::memchr_iter(*byte, source) {
                    spans.push((start, at));
                    separator(at, at + 1);
                    start = at + 1;
                }
            }
            spans.push((start, source.len()));
        }
        Splitter::Characters => {
            let mut at = 0;
            while at < source.len() {
                let length = text::char_length(&source[at..]);
                if at > 0 {
                    separator(at, at);
                }
                spans.push((at, at + length));
                at += length;
            }
        }
        Splitter::Regex(regex) => {
            let (mut start, mut at) = (0, 0);
            while at < source.len() {
                let found = regex.find_at(source, at);
                let newline =
                    if newlines { memchr::memchr(b'\n', &source[at..]).map(|place| at + place) } else { None };
                let (from, to) = match (found, newline) {
                    (Some((from, to)), Some(place)) if place < from || from == to => (place, place + 1),
                    (Some(span), _) => span,
                    (None, Some(place)) => (place, place + 1),
                    (None, None) => break,
                };
                if from == to {
                    // An empty match separates nothing.
                    at = to + 1;
                    continue;
                }
                spans.push((start, from));
                separator(from, to);
                start = to;
                at = to;
            }
            spans.push((start, source.len()));
        }
        Splitter::Widths(widths) => {
            let mut at = 0;
            for (skip, width) in widths {
                at += text::byte_of(&source[at..], *skip);
                if at >= source.len() {
                    break;
                }
                let end = width.map_or(source.len(), |width| at + text::byte_of(&source[at..], width));
                spans.push((at, end));
                at = end;
            }
        }
        Splitter::Content(regex) => {
            let mut at = 0;
            let mut last_end = 0;
            while at <= source.len() {
                let Some((from, to)) = regex.find_at(source, at) else { break };
                // A field may be empty, but not directly behind another one.
                if from == to && from == last_end && !spans.is_empty() {
                    at = to + 1;
                    continue;
                }
                if !spans.is_empty() {
                    separator(last_end, from);
                }
                spans.push((from, to));
                last_end = to;
                at = if to > from { to } else { to + 1 };
            }
        }
    }
}
