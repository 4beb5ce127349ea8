//! Where the front matter of a SKILL.md ends and its body begins.

use std::ops::Range;

use super::error::SkillError;
use super::finding::Log;
use super::text::{BYTE_ORDER_MARK, Line, cut, lines};
use super::{HEADER_LIMIT, HEADER_WINDOW};

/// The parts of a file, as offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// The lines between the fences.
    pub(super) header: Option<Range<usize>>,
    /// Where the body begins.
    pub(super) body: usize,
    /// How the header is marked.
    pub(super) fence: Fence,
    /// Whether the end of the header was seen.
    pub(super) closed: bool,
}

/// How the front matter is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fence {
    /// By two lines `---`, the first one at the begin of the file.
    Proper,
    /// Not at the begin of the file, or not at all.
    NoStart,
    /// Without a closing `---`.
    NoEnd,
}

/// Finds the parts of a text. With `complete` false it is the begin of a longer one.
pub(super) fn split(text: &str, complete: bool, log: &mut Log<'_>) -> Result<Parts, SkillError> {
    // Whether more of a file is there must make no difference.
    let (text, complete) = (cut(text, HEADER_WINDOW), complete && text.len() <= HEADER_WINDOW);
    let mut begin = 0;
    if text.starts_with(BYTE_ORDER_MARK) {
        begin = BYTE_ORDER_MARK.len_utf8();
        log.warn(
            0,
            "byte-order-mark",
            "the file begins with a byte order mark, which other clients stumble over; save it without",
        );
    }
    let first = skip_leading(text, begin);
    let Some(open) = lines(text, first).next().filter(|line| fence(line) == Some("---")) else {
        return Ok(unfenced(text, begin, first, complete, log));
    };
    let mut kind = if begin > 0 { Fence::NoStart } else { Fence::Proper };
    if first > begin {
        kind = Fence::NoStart;
        log.warn(
            open.start,
            "leading-content",
            "the front matter is not at the begin of the file, where other clients look for it; move it there",
        );
    }
    warn_blanks(&open, log);
    for line in lines(text, open.end) {
        // A line at the end of an incomplete text may go on.
        if line.start > HEADER_LIMIT || (!complete && line.end == text.len()) {
            break;
        }
        let Some(mark) = fence(&line) else { continue };
        if mark == "..." {
            kind = if kind == Fence::Proper { Fence::NoEnd } else { kind };
            log.warn(
                line.start,
                "fence-dots",
                "the front matter ends with `...`, which other clients do not see; write `---`",
            );
        }
        warn_blanks(&line, log);
        if line.end == line.start + line.text.len() {
            log.warn(
                line.start,
                "fence-at-end",
                "the closing `---` has no line break after it, and some clients do not see it; add one",
            );
        }
        warn_breaks(text, open.start..line.end, log);
        return Ok(Parts { header: Some(open.end..line.start), body: line.end, fence: kind, closed: true });
    }
    unclosed(text, begin, &open, complete, log)
}

/// The mark of a fence, when a line is one.
fn fence(line: &Line<'_>) -> Option<&'static str> {
    let mark = ["---", "..."].into_iter().find(|mark| line.text.starts_with(mark))?;
    line.text[mark.len()..].bytes().all(|byte| matches!(byte, b' ' | b'\t')).then_some(mark)
}

fn warn_blanks(line: &Line<'_>, log: &mut Log<'_>) {
    if line.text.len() > 3 {
        log.warn(
            line.start + 3,
            "fence-blanks",
            "there are blanks after the fence, and some clients do not see it so; remove them",
        );
    }
}

fn warn_breaks(text: &str, header: Range<usize>, log: &mut Log<'_>) {
    let bytes = text.as_bytes();
    let lone = header.clone().find(|at| bytes[*at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
    if let Some(at) = lone {
        log.warn(
            at,
            "line-breaks",
            "lines end with a carriage return alone, which few clients read; save with line feeds",
        );
    }
}

/// Where the first line is that is neither blank nor in an HTML comment.
pub(super) fn skip_leading(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(line) = lines(text, at).next() {
        if line.is_blank() {
            at = line.end;
        } else if let Some(comment) = line.text.trim_start().strip_prefix("<!--") {
            let inside = line.start + line.text.len() - comment.len();
            let Some(close) = text[inside..].find("-->").map(|found| inside + found + 3) else { break };
            // What follows the comment in its line is text.
            let Some(rest) = lines(text, close).next() else { return text.len() };
            if !rest.is_blank() {
                break;
            }
            at = rest.end;
        } else {
            break;
        }
    }
    at
}

/// Whether a line begins with `key:`.
fn is_field(line: &Line<'_>) -> bool {
    let key = line.text.split(':').next().unwrap_or_default();
    key.len() < line.text.len()
        && key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        && line.text[key.len() + 1..].chars().next().is_none_or(|c| matches!(c, ' ' | '\t'))
}

/// A file without fences: perhaps the fields are there all the same, up to the first blank line.
fn unfenced(text: &str, begin: usize, first: usize, complete: bool, log: &mut Log<'_>) -> Parts {
    let starts = |key: &str| text[first..].starts_with(key);
    if !starts("name:") && !starts("description:") {
        return Parts { header: None, body: begin, fence: Fence::NoStart, closed: complete };
    }
    log.warn(first, "no-fences", "the front matter has no fences; put a line `---` before and after it");
    let end = lines(text, first).take_while(|line| !line.is_blank()).last().map_or(first, |line| line.end);
    let body = lines(text, end).take_while(Line::is_blank).last().map_or(end, |line| line.end);
    Parts { header: Some(first..end), body, fence: Fence::NoStart, closed: complete || end < text.len() }
}

/// A file with an opening fence only: the fields are those lines that look like fields.
fn unclosed(text: &str, begin: usize, open: &Line<'_>, complete: bool, log: &mut Log<'_>) -> Result<Parts, SkillError> {
    let mut end = open.end;
    for line in lines(text, open.end) {
        let inside = is_field(&line)
            || (end > open.end && !line.is_blank() && (line.indent() > 0 || line.text.starts_with("- ")));
        if !inside {
            break;
        }
        end = line.end;
    }
    if end > HEADER_LIMIT || (end == text.len() && !complete) {
        return Err(SkillError::HeaderTooLarge);
    }
    if end == open.end {
        // A thematic break of Markdown.
        return Ok(Parts { header: None, body: begin, fence: Fence::NoEnd, closed: complete });
    }
    log.warn(open.start, "no-closing-fence", "the front matter is not closed; put a line `---` after its last field");
    Ok(Parts { header: Some(open.end..end), body: end, fence: Fence::NoEnd, closed: complete })
}
