//! wskill's own sections in a text.

use std::ops::Range;

use crate::prompt::clean::{BEGIN, END, FALLBACK};

/// What is between a section and the text before it.
const GAP: &str = "\n\n";

/// Which of the sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// In a system message or a tool result.
    Main,
    /// What was loaded by calls that are gone; begins with a line of its own.
    Fallback,
}

/// A text between the lines that show where it begins and ends.
pub(super) fn wrapped(text: &str) -> String {
    let mut section = String::with_capacity(text.len() + 40);
    section.push_str(BEGIN);
    section.push('\n');
    for line in text.split_inclusive('\n') {
        // Bodies have no such lines; the caller's own guidance may.
        if matches!(bare(line), BEGIN | END) {
            section.push('\\');
        }
        section.push_str(line);
    }
    if !section.ends_with('\n') {
        section.push('\n');
    }
    section + END
}

/// A line without its end.
fn bare(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r'])
}

/// The sections of a text.
fn sections(text: &str) -> Vec<(Kind, Range<usize>)> {
    let mut found = Vec::new();
    let mut open = None;
    let mut header = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        match bare(line) {
            // One that does not end is the caller's.
            BEGIN => open = Some(header.map_or((Kind::Main, at), |header| (Kind::Fallback, header))),
            END => found.extend(open.take().map(|(kind, start)| (kind, start..at + bare(line).len()))),
            _ => {}
        }
        header = (bare(line) == FALLBACK).then_some(at);
        at += line.len();
    }
    found
}

/// Whether a text has a section of a kind.
pub(super) fn has(text: &str, kind: Kind) -> bool {
    text.contains(BEGIN) && sections(text).iter().any(|(found, _)| *found == kind)
}

/// A text without any section.
pub(super) fn without(text: &str) -> String {
    let mut text = text.to_owned();
    replace(&mut text, Kind::Main, None);
    replace(&mut text, Kind::Fallback, None);
    text
}

/// Puts a new section in the place of the first of its kind and takes the others out. Answers whether there was one.
pub(super) fn replace(text: &mut String, kind: Kind, new: Option<&str>) -> bool {
    if !text.contains(BEGIN) {
        return false;
    }
    let mut ranges: Vec<_> = sections(text).into_iter().filter(|(found, _)| *found == kind).map(|(_, at)| at).collect();
    let any = !ranges.is_empty();
    if let Some(new) = new
        && any
    {
        for range in ranges.drain(1..).rev() {
            remove(text, range);
        }
        text.replace_range(ranges.remove(0), new);
    }
    for range in ranges.into_iter().rev() {
        remove(text, range);
    }
    any
}

/// Takes out a section with the gap that came with it.
fn remove(text: &mut String, mut range: Range<usize>) {
    if text[..range.start].ends_with(GAP) {
        range.start -= GAP.len();
    } else if range.start == 0 && text[range.end..].starts_with(GAP) {
        range.end += GAP.len();
    }
    text.replace_range(range, "");
}

/// Adds a section at the end.
pub(super) fn add(text: &mut String, section: &str) {
    if !text.is_empty() {
        text.push_str(GAP);
    }
    text.push_str(section);
}
