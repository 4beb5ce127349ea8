//! Lines, places and printable forms of text.

/// The mark that some editors put at the begin of a file.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// A line of a text, by offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Where it begins.
    pub(super) start: usize,
    /// Where the next one begins.
    pub(super) end: usize,
    /// Its text without the line break.
    pub(super) text: &'a str,
}

impl Line<'_> {
    pub(super) fn is_blank(&self) -> bool {
        self.text.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
    }

    /// How many bytes of blanks it begins with.
    pub(super) fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches([' ', '\t']).len()
    }
}

/// The lines of a text from an offset on. A line ends with `\n`, `\r\n` or `\r`, as in YAML.
pub(super) fn lines(text: &str, from: usize) -> impl Iterator<Item = Line<'_>> {
    let mut start = from;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = rest.bytes().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let ending = match &rest.as_bytes()[length..] {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        let line = Line { start, end: start + length + ending, text: &rest[..length] };
        start = line.end;
        Some(line)
    })
}

/// Line and column of an offset, both from 1; the column in characters, without the byte order mark.
pub(super) fn position(text: &str, at: usize) -> (u32, u32) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let bytes = text.as_bytes();
    let breaks = |index: usize| match bytes[index] {
        b'\n' => true,
        b'\r' => bytes.get(index + 1) != Some(&b'\n'),
        _ => false,
    };
    let line = 1 + (0..at).filter(|index| breaks(*index)).count();
    let start = (0..at).rev().find(|index| breaks(*index)).map_or(0, |index| index + 1);
    let start = if start == 0 && before.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { start };
    let column = 1 + before.get(start..).map_or(0, |part| part.chars().count());
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// Text of a file in a message: in one line, without control characters, and not endless.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 80;
    let mut shown: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    // `escape_debug` is for literals; quotes need no backslash here.
    shown = shown.replace("\\\"", "\"").replace("\\'", "'");
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}

/// The longest part of a text that has at most so many bytes and ends between characters.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_in_yaml() {
        let parts: Vec<_> = lines("a\nb\r\nc\rd\n\ne", 0).map(|line| line.text).collect();
        assert_eq!(parts, ["a", "b", "c", "d", "", "e"]);
        assert_eq!(lines("", 0).count(), 0);
        assert_eq!(lines("\n", 0).map(|line| (line.start, line.end)).collect::<Vec<_>>(), [(0, 1)]);
    }

    #[test]
    fn places_count_characters() {
        let text = "\u{feff}äb\r\ncd\re";
        assert_eq!(position(text, 0), (1, 1));
        assert_eq!(position(text, 5), (1, 2));
        assert_eq!(position(text, text.find('c').unwrap_or(0)), (2, 1));
        assert_eq!(position(text, text.find('e').unwrap_or(0)), (3, 1));
        assert_eq!(position(text, 999), (3, 2));
    }
}
