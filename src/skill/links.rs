//! The links of a Markdown body that name files of the skill.

use std::path::{Component, Path};

use super::text::lines;
use super::tools::Blocks;

/// A link to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Where its target is, as an offset in the text.
    pub(super) at: usize,
    /// Its target, without `#place` and escapes: a path relative to the skill.
    pub(super) path: String,
}

/// The links of a body to files. Links in code and to other hosts are left out, and so are patterns: `{name}.md`.
pub(super) fn parse(text: &str, body: usize) -> Vec<Link> {
    let mut links = Vec::new();
    let mut blocks = Blocks::default();
    for line in lines(text, body) {
        if blocks.hides(line.text.trim()) {
            continue;
        }
        let visible = without_code(line.text);
        let mut add = |at: usize| {
            if let Some(path) = target(&visible[at..]).and_then(file) {
                links.push(Link { at: line.start + at, path });
            }
        };
        for (at, mark) in visible.match_indices("](") {
            add(at + mark.len());
        }
        // `[label]: target` at the begin of a line; `[^1]: text` is a footnote.
        let start = visible.len() - visible.trim_start().len();
        if visible[start..].starts_with('[')
            && !visible[start..].starts_with("[^")
            && let Some(end) = visible.find("]:")
        {
            let after = &visible[end + 2..];
            add(end + 2 + after.len() - after.trim_start().len());
        }
    }
    links
}

/// A line with blanks in the place of its code spans.
fn without_code(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let (before, code) = rest.split_at(start);
        out.push_str(before);
        let length = code.len() - code.trim_start_matches('`').len();
        let (mark, inside) = code.split_at(length);
        match inside.find(mark) {
            Some(end) => {
                out.push_str(&" ".repeat(end + 2 * length));
                rest = &inside[end + length..];
            }
            None => {
                out.push_str(mark);
                rest = inside;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The target at the begin of a text: in `<` and `>`, or up to a blank or a `)` that closes nothing.
fn target(text: &str) -> Option<&str> {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix('<') {
        return rest.split_once('>').map(|(target, _)| target);
    }
    let mut depth = 0_usize;
    let end = text.find(|c: char| match c {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth > 0 => {
            depth -= 1;
            false
        }
        c => c == ')' || c.is_whitespace(),
    });
    Some(&text[..end.unwrap_or(text.len())])
}

/// The path of a target that names a file of the skill.
fn file(target: &str) -> Option<String> {
    let path = target.split(['#', '?']).next()?;
    let path = path.strip_prefix("{baseDir}/").or_else(|| path.strip_prefix("__BASE_DIR__/")).unwrap_or(path);
    let is_pattern = path.contains(['{', '}', '<', '>', '*', '$', '|', '\\']) || path.contains("...");
    let is_elsewhere = path.starts_with(['/', '~', '@']) || path.contains(':');
    if path.is_empty() || is_pattern || is_elsewhere {
        return None;
    }
    Some(decoded(path))
}

/// Without `%20` and the like.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a relative path leads out of the folder where it begins.
pub(super) fn leads_out(path: &str) -> bool {
    let mut depth = 0_usize;
    for component in Path::new(path).components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            _ => return true,
        }
    }
    false
}
