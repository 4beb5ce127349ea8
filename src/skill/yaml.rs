//! YAML as front matter has it, with the place of everything and scalars as they are written.
//!
//! This reads the events of granit-parser, the parser under serde-saphyr, and not serde's data model: that has no place
//! for each key, and makes numbers of `0123` and `1.10` before anyone can ask. Refused is what no front matter needs
//! and what makes a small text large: aliases, anchors, tags of one's own, directives and a second document. Text that
//! begins with `*`, `&` or `!` by mistake is kept by the line-wise reading that follows (see [`super::lines`]).

use std::borrow::Cow;

use granit_parser::{Event, Parser, Placement, ScalarStyle, StructureStyle};

/// Deepest nesting. OpenClaw's metadata have 4 levels: `metadata`, `openclaw`, `requires`, `bins`.
const DEPTH: usize = 16;
/// Most scalars, lists and maps. A header with 200 fields of 10 values has 2,000.
const NODES: usize = 4_000;

/// A value with its place: offsets in the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) value: Value<'a>,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// Text as it is written, without quotes and escapes.
    Scalar {
        text: Cow<'a, str>,
        /// Whether it stands without quotes, so that it may be a number or the like.
        plain: bool,
    },
    List(Vec<Node<'a>>),
    Map(Vec<Entry<'a>>),
}

/// A field of a map.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) at: usize,
    pub(super) value: Node<'a>,
}

/// Why text is not YAML, or none that is read here.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct YamlError {
    pub(super) at: usize,
    pub(super) message: String,
}

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Document<'a> {
    /// Nothing when there are only comments.
    pub(super) root: Option<Node<'a>>,
    /// Where a comment ends a value that stands without quotes.
    pub(super) cuts: Vec<usize>,
    /// Where the first list or map in brackets is.
    pub(super) flow: Option<usize>,
}

/// Reads text that begins at an offset of the file.
pub(super) fn parse(text: &str, offset: usize) -> Result<Document<'_>, YamlError> {
    let options = granit_parser::options! {
        emit_anchor_events: true,
        disallow_directives: true,
        block_nesting_limit: DEPTH,
        flow_nesting_limit: DEPTH,
        // A comment takes two bytes at least, so this is no limit of its own.
        max_buffered_comment_events: super::HEADER_LIMIT,
    };
    let mut builder = Builder {
        offset,
        text,
        frames: Vec::new(),
        nodes: 0,
        document: Document { root: None, cuts: Vec::new(), flow: None },
        value_end: None,
    };
    for event in Parser::new_from_str_with_options(text, options) {
        match event {
            Ok((event, span)) => {
                let range = span.byte_range().unwrap_or(0..0);
                builder.take(event, offset + range.start, offset + range.end)?;
            }
            Err(error) => {
                let at = offset + error.marker().byte_offset().unwrap_or(0);
                return Err(YamlError { at, message: super::text::shown(&error.info()) });
            }
        }
    }
    Ok(builder.document)
}

/// A list or map that is not complete.
enum Frame<'a> {
    List { start: usize, items: Vec<Node<'a>> },
    Map { start: usize, entries: Vec<Entry<'a>>, key: Option<(Cow<'a, str>, usize)> },
}

struct Builder<'a> {
    offset: usize,
    text: &'a str,
    frames: Vec<Frame<'a>>,
    nodes: usize,
    document: Document<'a>,
    /// Where the last event ended, when it was a value without quotes.
    value_end: Option<usize>,
}

impl<'a> Builder<'a> {
    fn take(&mut self, event: Event<'a>, start: usize, end: usize) -> Result<(), YamlError> {
        let refuse =
            |what: &str| Err(YamlError { at: start, message: format!("{what} here; quote the text if it is text") });
        if let Some(tag) = event.tag().filter(|tag| !tag.is_yaml_core_schema()) {
            return refuse(&format!("the tag `{}` is not read", super::text::shown(&tag.original())));
        }
        if event.is_node() {
            self.nodes += 1;
            if self.nodes > NODES {
                return refuse(&format!("more than {NODES} values are not read"));
            }
        }
        let value_end = self.value_end.take();
        match event {
            Event::Comment(_, Placement::Right) => self.comment(value_end, start),
            Event::Alias(_) | Event::UnresolvedAlias(_) | Event::Anchor(..) => {
                return refuse("anchors and aliases are not read");
            }
            Event::DocumentStart(..) if self.document.root.is_some() => return refuse("a second document is not read"),
            Event::SequenceStart(style, ..) => {
                self.open(style, start);
                self.frames.push(Frame::List { start, items: Vec::new() });
            }
            Event::MappingStart(style, ..) => {
                self.open(style, start);
                self.frames.push(Frame::Map { start, entries: Vec::new(), key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let node = match self.frames.pop() {
                    Some(Frame::List { start, items }) => Node { start, end, value: Value::List(items) },
                    Some(Frame::Map { start, entries, .. }) => Node { start, end, value: Value::Map(entries) },
                    None => return Ok(()),
                };
                return self.add(node);
            }
            Event::Scalar(text, style, ..) => {
                let plain = style == ScalarStyle::Plain;
                let is_key = matches!(self.frames.last(), Some(Frame::Map { key: None, .. }));
                if plain && !is_key {
                    self.value_end = Some(end);
                }
                // What is not there is given as `~`.
                let text = if plain && start == end { Cow::Borrowed("") } else { text };
                return self.add(Node { start, end, value: Value::Scalar { text, plain } });
            }
            _ => {}
        }
        Ok(())
    }

    /// A comment in the line of a value that has no quotes: perhaps it was meant as text.
    fn comment(&mut self, value_end: Option<usize>, at: usize) {
        let Some(between) = value_end.and_then(|end| self.text.get(end - self.offset..at - self.offset)) else {
            return;
        };
        if !between.contains(['\n', '\r']) {
            self.document.cuts.push(at);
        }
    }

    fn open(&mut self, style: StructureStyle, at: usize) {
        if style == StructureStyle::Flow {
            self.document.flow.get_or_insert(at);
        }
    }

    fn add(&mut self, node: Node<'a>) -> Result<(), YamlError> {
        match self.frames.last_mut() {
            None => self.document.root = Some(node),
            Some(Frame::List { items, .. }) => items.push(node),
            Some(Frame::Map { entries, key, .. }) => match (key.take(), node.value) {
                (Some((key, at)), value) => entries.push(Entry { key, at, value: Node { value, ..node } }),
                (None, Value::Scalar { text, .. }) => *key = Some((text, node.start)),
                (None, _) => {
                    return Err(YamlError {
                        at: node.start,
                        message: "a list or map as the name of a field is not read".into(),
                    });
                }
            },
        }
        Ok(())
    }
}

impl Node<'_> {
    /// As JSON. A value without quotes becomes a number, a truth value or null when JSON writes it with the very same
    /// characters, so that nothing is lost: `1.10`, `0123`, `yes` and `2026-01-01` stay text. `~` is null.
    pub(super) fn to_json(&self, note: &mut dyn FnMut(usize, &str)) -> serde_json::Value {
        match &self.value {
            Value::Scalar { text, plain: false } => text.as_ref().into(),
            Value::Scalar { text, plain: true } => json_scalar(text),
            Value::List(items) => items.iter().map(|item| item.to_json(note)).collect(),
            Value::Map(entries) => serde_json::Value::Object(json_map(entries, note)),
        }
    }
}

/// A map as JSON; of fields that are there twice the last one counts, as in both seeds and most parsers.
pub(super) fn json_map(
    entries: &[Entry<'_>],
    note: &mut dyn FnMut(usize, &str),
) -> serde_json::Map<String, serde_json::Value> {
    let mut map = serde_json::Map::new();
    for entry in entries {
        if map.insert(entry.key.to_string(), entry.value.to_json(note)).is_some() {
            note(entry.at, &entry.key);
        }
    }
    map
}

fn json_scalar(text: &str) -> serde_json::Value {
    match text {
        "" | "~" | "null" => serde_json::Value::Null,
        "true" => true.into(),
        "false" => false.into(),
        _ if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            // Not by serde_json's own parser, which is not exact in the last digit of a float.
            let float = || serde_json::Number::from_f64(text.parse().ok()?);
            let number =
                text.parse::<i64>().map(Into::into).or(text.parse::<u64>().map(Into::into)).ok().or_else(float);
            let same = number.filter(|number: &serde_json::Number| number.to_string() == text);
            same.map_or_else(|| text.into(), serde_json::Value::Number)
        }
        _ => text.into(),
    }
}
