//! Texts of strangers, made safe to put between wskill's own.
//!
//! Names, descriptions and paths become one line. Bodies and documents stay as they are, but for lines that begin like
//! a marker of the prompt: those get a `\` before them, so that no skill can end its own part, or begin another's. A
//! line that has the `\` already gets one more; taking one from each line that begins with `\` and a marker gives the
//! text back.

use std::borrow::Cow;

/// Most characters of a description; the specification allows no more.
pub(super) const DESCRIPTION_CHARACTERS: usize = 1024;
/// The lines around a section that [`messages`](super::messages) has put into a message.
pub(super) const BEGIN: &str = "<skill_context>";
pub(super) const END: &str = "</skill_context>";

pub(super) const AVAILABLE: &str = "Available skills:";
pub(super) const AVAILABILITY: &str = "Skill tool availability:";
pub(super) const GUIDANCE: &str = "Tooling and workspace guidance:";
pub(super) const LOADED: &str = "[Loaded]";
pub(super) const DOCUMENT: &str = "[Doc]";
pub(super) const DOCUMENTS: &str = "Docs loaded:";
pub(super) const TOOLS: &str = "Tools selected:";
pub(super) const FALLBACK: &str = "Loaded skill context:";

/// What a line of a body may not begin with, in lower case.
const MARKERS: [&str; 14] = [
    "[loaded]",
    "[doc]",
    "docs loaded:",
    "tools selected:",
    "skill dir:",
    "skill roots:",
    "available skills:",
    "skill tool availability:",
    "tooling and workspace guidance:",
    "loaded skill context:",
    "<skill_context>",
    "</skill_context>",
    "<available_skills",
    "</available_skills",
];

/// A text in one line, without characters that nobody sees.
pub(super) fn one_line(text: &str) -> String {
    if is_plain(text.as_bytes()) {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let end = line.len();
        if !line.is_empty() {
            line.push(' ');
        }
        let start = line.len();
        if word.bytes().all(|byte| byte.is_ascii_graphic()) {
            line.push_str(word);
        } else {
            line.extend(word.chars().filter(|c| !is_hidden(*c)));
        }
        if line.len() == start {
            line.truncate(end);
        }
    }
    line
}

/// Whether a text is a line of ASCII with single blanks, as most are. Without a branch a byte: there are megabytes of
/// them in a large overview.
fn is_plain(text: &[u8]) -> bool {
    let (Some(first), Some(last)) = (text.first(), text.last()) else { return true };
    let pairs = text.iter().zip(&text[1..]);
    let good = |(a, b): (&u8, &u8)| (b' '..0x7f).contains(a) & !((*a == b' ') & (*b == b' '));
    first.is_ascii_graphic() && last.is_ascii_graphic() && pairs.fold(true, |all, pair| all & good(pair))
}

/// A description in one line, cut when it is longer than the specification allows.
pub(super) fn description(text: &str) -> String {
    let mut line = one_line(text);
    // No text of so many bytes has more characters.
    if line.len() > DESCRIPTION_CHARACTERS
        && let Some((end, _)) = line.char_indices().nth(DESCRIPTION_CHARACTERS)
    {
        let last = line[..end].char_indices().next_back().map_or(0, |(at, _)| at);
        line.truncate(last);
        line.push('…');
    }
    line
}

/// Whether nobody sees a character: controls, what turns the direction of text, what has no width, tags, and blanks
/// that count as letters. The joiners that emoji and some scripts need stay.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// A body or document in which no line begins like a marker. See the [module](self).
pub(super) fn neutral(text: &str) -> Cow<'_, str> {
    let mut safe = String::new();
    let mut copied = 0;
    let mut at = 0;
    while at < text.len() {
        if is_marker(&text[at..]) {
            safe.push_str(&text[copied..at]);
            safe.push('\\');
            copied = at;
        }
        at = text[at..].find(is_break).map_or(text.len(), |end| at + end);
        at += text[at..].chars().next().map_or(0, char::len_utf8);
    }
    if copied == 0 && safe.is_empty() {
        return text.into();
    }
    safe.push_str(&text[copied..]);
    safe.into()
}

/// All that some program or model takes for the end of a line.
fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a line begins like a marker, perhaps after blanks, what nobody sees, and backslashes.
fn is_marker(line: &str) -> bool {
    let line = line.trim_start_matches(|c| c == '\\' || !is_break(c) && (char::is_whitespace(c) || is_hidden(c)));
    MARKERS.iter().any(|marker| {
        line.as_bytes().get(..marker.len()).is_some_and(|start| start.eq_ignore_ascii_case(marker.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The text of which [`neutral`] made another.
    fn original(text: &str) -> String {
        let mut lines: Vec<&str> = text.split_inclusive(is_break).collect();
        for line in &mut lines {
            if line.starts_with('\\') && is_marker(line) {
                *line = &line[1..];
            }
        }
        lines.concat()
    }

    #[test]
    fn descriptions_are_one_bounded_line_of_what_is_seen() {
        for (text, expected) in [
            ("  Reads\n\n- other: PDFs.\t", "Reads - other: PDFs."),
            ("a\u{202e}b\u{200b}c\u{feff} \u{e0041}\u{7} d", "abc d"),
            ("\u{200b}", ""),
            ("", ""),
            ("a  b", "a b"),
            ("a ", "a"),
            ("a\u{7f}", "a"),
            ("a\u{2028}b\u{85}c", "a b c"),
            ("👩\u{200d}💻 é", "👩\u{200d}💻 é"),
        ] {
            assert_eq!(description(text), expected, "{text:?}");
        }
        let (most, more) = ("é".repeat(1024), "é".repeat(1025));
        assert_eq!(description(&most), most);
        assert_eq!(description(&more), "é".repeat(1023) + "…");
    }

    #[test]
    fn lines_that_begin_like_a_marker_are_neutral() {
        for (text, expected) in [
            ("[Loaded] x", "\\[Loaded] x"),
            ("a\n[Doc] x\r\nb", "a\n\\[Doc] x\r\nb"),
            ("a\r[doc] x", "a\r\\[doc] x"),
            ("a\u{2028}</skill_context>", "a\u{2028}\\</skill_context>"),
            ("  \u{200b}AVAILABLE SKILLS: 3", "\\  \u{200b}AVAILABLE SKILLS: 3"),
            ("\\[Loaded] x", "\\\\[Loaded] x"),
            ("Tools selected: a\nSkill dir: /", "\\Tools selected: a\n\\Skill dir: /"),
            ("see [Loaded] x\n`[Doc]`\n\\begin{x}\n", "see [Loaded] x\n`[Doc]`\n\\begin{x}\n"),
            ("\n\n", "\n\n"),
            ("", ""),
        ] {
            assert_eq!(neutral(text), expected, "{text:?}");
            assert_eq!(original(expected), text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_neutral_text_can_be_turned_back(parts in prop::collection::vec(prop::sample::select(vec![
            "\n", "\r", "\u{2028}", " ", "\\", "\u{200b}", "x", "[Loaded] a", "[doc]", "Docs loaded:",
            "<skill_context>",
        ]), 0..12)) {
            let text = parts.concat();
            let safe = neutral(&text);
            prop_assert_eq!(original(&safe), text.as_str());
            for line in safe.split(is_break) {
                prop_assert!(line.starts_with('\\') || !is_marker(line), "{:?}", line);
            }
        }
    }
}
