//! Front matter that is not YAML, read line by line.
//!
//! Each field is read by itself: as YAML when it is, else as plain text. So one bad line costs nothing but a warning.

use std::borrow::Cow;
use std::ops::Range;

use super::finding::Log;
use super::text::{Line, lines};
use super::yaml::{self, Entry, Node, Value, YamlError};

/// Deepest nesting that is read; deeper fields stay text.
const DEPTH: usize = 8;

/// A field with the lines that belong to it.
struct Block<'a> {
    lines: Vec<Line<'a>>,
    key: Range<usize>,
    value: usize,
}

/// What was read line by line.
#[derive(Default)]
pub(super) struct Fields<'a> {
    pub(super) entries: Vec<Entry<'a>>,
    /// As in [`yaml::Document`].
    pub(super) cuts: Vec<usize>,
    /// As in [`yaml::Document`].
    pub(super) flow: Option<usize>,
}

/// Reads a part of a text that is not YAML for the given reason.
pub(super) fn parse<'a>(text: &'a str, range: Range<usize>, why: &YamlError, log: &mut Log<'_>) -> Fields<'a> {
    let mut fields = Fields::default();
    let before = log.count();
    read(text, range, 0, &mut fields, log);
    if log.count() == before {
        warn(why, "each line was read by itself", log);
    }
    fields
}

fn warn(error: &YamlError, what: &str, log: &mut Log<'_>) {
    log.warn(error.at, "yaml-syntax", format!("not valid YAML ({}); {what}", error.message));
}

fn read<'a>(text: &'a str, range: Range<usize>, depth: usize, fields: &mut Fields<'a>, log: &mut Log<'_>) {
    for block in blocks(text, range, depth, log) {
        let start = block.lines.first().map_or(0, |line| line.start);
        let end = block.lines.last().map_or(0, |line| line.end);
        let error = match yaml::parse(&text[start..end], start) {
            Ok(document) => match document.root.map(|root| root.value) {
                Some(Value::Map(entries)) => {
                    fields.entries.extend(entries);
                    fields.cuts.extend(document.cuts);
                    fields.flow = fields.flow.or(document.flow);
                    continue;
                }
                _ => YamlError { at: block.value.saturating_sub(1), message: "there is no blank after the `:`".into() },
            },
            Err(error) => error,
        };
        let key = Cow::Borrowed(&text[block.key.clone()]);
        let node = match nested(text, &block, depth, fields, log) {
            Some(node) => node,
            None => {
                warn(
                    &error,
                    &format!("`{key}` was read as plain text; put it in quotes, or use `{key}: >-` and indented lines"),
                    log,
                );
                scalar(text, &block)
            }
        };
        fields.entries.push(Entry { key, at: block.key.start, value: node });
    }
}

/// The fields of a part. A line that belongs to none is told.
fn blocks<'a>(text: &'a str, range: Range<usize>, depth: usize, log: &mut Log<'_>) -> Vec<Block<'a>> {
    let mut blocks: Vec<Block<'a>> = Vec::new();
    let mut base = None;
    for line in lines(&text[..range.end], range.start) {
        let start = line.text.trim_start_matches([' ', '\t']);
        let quiet = start.is_empty() || start.starts_with('#');
        let level = *base.get_or_insert_with(|| if quiet { usize::MAX } else { line.indent() });
        if level == usize::MAX {
            base = None;
            continue;
        }
        // A field of the specification that was indented by mistake is no part of a value before it.
        let is_misplaced = |key: &Range<usize>| {
            let after_value = blocks.last().is_some_and(|block| has_value(text, block));
            depth == 0 && after_value && KNOWN.contains(&&text[key.clone()])
        };
        if !quiet
            && let Some((key, value)) = field(&line, depth)
            && (line.indent() <= level || is_misplaced(&key))
        {
            if line.indent() > level {
                let name = &text[key.clone()];
                let message = format!("`{name}` is indented like a part of the value before it; remove the blanks");
                log.warn(line.start, "yaml-syntax", message);
            }
            blocks.push(Block { lines: vec![line], key, value });
            continue;
        }
        match blocks.last_mut() {
            Some(block) => block.lines.push(line),
            None if quiet => {}
            None => {
                log.warn(
                    line.start + line.indent(),
                    "ignored-line",
                    "this line belongs to no field and is ignored; remove it, or write `field: value`",
                );
            }
        }
    }
    blocks
}

/// The fields that are known also when they are indented, or have no blank after their `:`.
const KNOWN: [&str; 3] = ["name", "description", "license"];

/// Where key and value of a line are, when it is a field.
fn field(line: &Line<'_>, depth: usize) -> Option<(Range<usize>, usize)> {
    let start = line.indent();
    let rest = &line.text[start..];
    let colon = rest.find(':')?;
    let key = rest[..colon].trim_end_matches([' ', '\t']);
    let bare = key.trim_matches(['"', '\'']);
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '@' | '/');
    if bare.is_empty() || !bare.chars().all(plain) || key.starts_with("- ") {
        return None;
    }
    let spaced = rest[colon + 1..].chars().next().is_none_or(|c| matches!(c, ' ' | '\t'));
    let known = depth == 0 && KNOWN.contains(&bare);
    if !(spaced || known) {
        return None;
    }
    let inside = line.start + start + key.find(bare).unwrap_or(0);
    Some((inside..inside + bare.len(), line.start + start + colon + 1))
}

/// A field whose value is a map or a list in the lines below.
fn nested<'a>(
    text: &'a str,
    block: &Block<'a>,
    depth: usize,
    fields: &mut Fields<'a>,
    log: &mut Log<'_>,
) -> Option<Node<'a>> {
    let (first, rest) = block.lines.split_first()?;
    let value = text[block.value..first.start + first.text.len()].trim();
    if !(value.is_empty() || value.starts_with('#')) || depth >= DEPTH {
        return None;
    }
    let line = rest.iter().find(|line| !line.is_blank() && !line.text.trim_start().starts_with('#'))?;
    let (start, end) = (line.start, block.lines.last()?.end);
    if is_item(line) {
        log.warn(
            start + line.indent(),
            "yaml-syntax",
            "not a valid YAML list; its items were read as plain text; put them in quotes",
        );
        return Some(Node { start, end, value: Value::List(items(rest)) });
    }
    field(line, depth + 1)?;
    let mut inner = Fields::default();
    read(text, start..end, depth + 1, &mut inner, log);
    fields.cuts.append(&mut inner.cuts);
    fields.flow = fields.flow.or(inner.flow);
    Some(Node { start, end, value: Value::Map(inner.entries) })
}

fn is_item(line: &Line<'_>) -> bool {
    let start = line.text.trim_start_matches([' ', '\t']);
    start == "-" || start.starts_with("- ") || start.starts_with("-\t")
}

fn items<'a>(lines: &[Line<'a>]) -> Vec<Node<'a>> {
    let mut items: Vec<Node<'a>> = Vec::new();
    for line in lines.iter().filter(|line| !line.is_blank()) {
        let content = line.text.trim();
        match items.last_mut() {
            Some(Node { end, value: Value::Scalar { text, .. }, .. }) if !is_item(line) => {
                *end = line.end;
                text.to_mut().push_str(&format!(" {content}"));
            }
            _ => {
                let text = unquoted(content.trim_start_matches('-').trim());
                items.push(Node {
                    start: line.start + line.indent(),
                    end: line.end,
                    value: Value::Scalar { text, plain: false },
                });
            }
        }
    }
    items
}

/// The value of a field as text.
fn scalar<'a>(text: &'a str, block: &Block<'a>) -> Node<'a> {
    let end = block.lines.last().map_or(block.value, |line| line.start + line.text.len());
    let first = block.lines.first().map_or("", |line| &text[block.value..line.start + line.text.len()]);
    let start = block.value + first.len() - first.trim_start().len();
    let first = first.trim();
    let rest = block.lines.get(1..).unwrap_or_default();
    let is_header = |c: char| matches!(c, '|' | '>' | '+' | '-') || c.is_ascii_digit();
    let value = if first.starts_with(['|', '>']) && first.chars().all(is_header) {
        Cow::Owned(block_text(rest, first.starts_with('>')))
    } else if rest.iter().all(Line::is_blank) {
        unquoted(first)
    } else {
        let all = std::iter::once(first).chain(rest.iter().map(|line| line.text.trim()));
        let joined = all.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        Cow::Owned(unquoted(&joined).into_owned())
    };
    Node { start, end, value: Value::Scalar { text: value, plain: false } }
}

/// The text of a block scalar: the lines without their common indentation.
fn block_text(lines: &[Line<'_>], folded: bool) -> String {
    let indent = lines.iter().filter(|line| !line.is_blank()).map(Line::indent).min().unwrap_or(0);
    let parts: Vec<_> = lines.iter().map(|line| line.text.get(indent..).unwrap_or_default().trim_end()).collect();
    if !folded {
        return parts.join("\n").trim_end().to_owned();
    }
    let paragraphs = parts.split(|part| part.is_empty()).filter(|paragraph| !paragraph.is_empty());
    paragraphs.map(|paragraph| paragraph.join(" ")).collect::<Vec<_>>().join("\n")
}

/// Text without the quotes around it, or without one that is never closed.
fn unquoted(text: &str) -> Cow<'_, str> {
    for quote in ['"', '\''] {
        let Some(inside) = text.strip_prefix(quote) else { continue };
        let Some(inside) = inside.strip_suffix(quote) else {
            return if inside.contains(quote) { text.into() } else { inside.trim_start().into() };
        };
        // `"a" or "b"` is text with quotes, not text in quotes.
        if is_two_quoted(inside, quote) {
            return text.into();
        }
        return if quote == '"' {
            Cow::Owned(inside.replace("\\\"", "\"").replace("\\\\", "\\"))
        } else {
            Cow::Owned(inside.replace("''", "'"))
        };
    }
    text.into()
}

/// Whether the first quote inside closes what the outer one has opened: `a" or "b`.
fn is_two_quoted(inside: &str, quote: char) -> bool {
    let Some((before, after)) = inside.split_once(quote) else { return false };
    !before.ends_with([' ', '\t']) && after.starts_with([' ', '\t', ',', '.'])
}

/// Whether a field's value begins in the line of its key, and is no block scalar, whose lines can be anything.
fn has_value(text: &str, block: &Block<'_>) -> bool {
    let line = block.lines.first().map_or("", |line| &text[block.value..line.end]).trim();
    !line.is_empty() && !line.starts_with(['|', '>'])
}
