//! The words of a text, as searches compare them.

/// Most characters of a word that are compared for typing errors.
const LONGEST: usize = 32;
/// Words that say nothing of what is wanted.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "by", "can", "could", "do", "does", "for",
    "from", "give", "has", "have", "help", "how", "i", "if", "in", "into", "is", "it", "its", "let", "like", "make",
    "me", "my", "need", "of", "on", "or", "our", "out", "please", "should", "skill", "so", "some", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "to", "up", "us", "use", "using", "want", "was", "we",
    "what", "when", "where", "which", "will", "with", "would", "you", "your",
];

/// Letters and digits in lower case.
pub(super) fn fold(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a run says nothing of what is wanted.
pub(super) fn is_stop_word(raw: &str) -> bool {
    STOP_WORDS.binary_search(&raw.to_lowercase().as_str()).is_ok()
}

/// The runs of letters and digits of a text. Chinese and Japanese, which have no blanks, are runs of their own.
pub(super) fn raw_words(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let next =
        move |at: usize| text.get(at..).and_then(|rest| rest.chars().next()).map(|c| (Kind::of(c), c.len_utf8()));
    std::iter::from_fn(move || {
        // Bytes are looked at one by one, and characters only outside of ASCII: most texts have few of those.
        let kind = loop {
            match bytes.get(at)? {
                byte if byte.is_ascii_alphanumeric() => break Kind::Word,
                byte if byte.is_ascii() => at += 1,
                _ => match next(at)? {
                    (Kind::Gap, length) => at += length,
                    (kind, _) => break kind,
                },
            }
        };
        let start = at;
        while let Some(byte) = bytes.get(at) {
            if byte.is_ascii() {
                if kind != Kind::Word || !byte.is_ascii_alphanumeric() {
                    break;
                }
                at += 1;
            } else {
                match next(at) {
                    Some((same, length)) if same == kind => at += length,
                    _ => break,
                }
            }
        }
        Some(&text[start..at])
    })
}

/// Whether a word is of a script without blanks between words.
pub(super) fn is_sign(word: &str) -> bool {
    word.chars().next().map(Kind::of) == Some(Kind::Sign)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gap,
    Word,
    /// A sign of a script without blanks between words.
    Sign,
}

impl Kind {
    fn of(c: char) -> Self {
        match c {
            '\u{2e80}'..='\u{2fdf}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => {
                Self::Sign
            }
            '\u{20000}'..='\u{3ffff}' => Self::Sign,
            c if c.is_alphanumeric() => Self::Word,
            _ => Self::Gap,
        }
    }
}

/// Gives what is compared of a run, with `normal` as room for it: itself in lower case and without the ending of a
/// plural, or its pairs of signs.
pub(super) fn each_part(raw: &str, normal: &mut String, mut give: impl FnMut(&str)) {
    normal.clear();
    if raw.is_ascii() {
        normal.push_str(raw);
        normal.make_ascii_lowercase();
        singular(normal);
        return give(normal);
    }
    if !is_sign(raw) {
        normal.extend(raw.chars().flat_map(char::to_lowercase));
        singular(normal);
        return give(normal);
    }
    let ends = raw.char_indices().map(|(at, c)| at + c.len_utf8()).skip(1);
    let mut pairs = raw.char_indices().zip(ends).peekable();
    if pairs.peek().is_none() {
        return give(raw);
    }
    pairs.for_each(|((start, _), end)| give(&raw[start..end]));
}

/// Takes off the ending of an English plural.
fn singular(word: &mut String) {
    if word.len() > 4 && word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if word.len() > 4 && ["sses", "xes", "ches", "shes"].iter().any(|ending| word.ends_with(ending)) {
        word.truncate(word.len() - 2);
    } else if word.len() > 3 && word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        word.truncate(word.len() - 1);
    }
}

/// Whether at most so many insertions, deletions, replacements and swaps of neighbours make one of the other.
pub(super) fn edits(from: &[char], to: &str, allowed: usize) -> bool {
    let mut other = ['\0'; LONGEST];
    let mut length = 0;
    for c in to.chars() {
        if length == LONGEST {
            return false;
        }
        other[length] = c;
        length += 1;
    }
    let to = &other[..length];
    if from.len() > LONGEST || from.len().abs_diff(length) > allowed {
        return false;
    }
    let mut rows = [[0_u8; LONGEST + 1]; 3];
    rows[1].iter_mut().zip(0..).for_each(|(cost, at)| *cost = at);
    for (i, a) in from.iter().enumerate() {
        let [before, last, next] = &mut rows;
        next[0] = last[0] + 1;
        let mut least = next[0];
        for (j, b) in to.iter().enumerate() {
            let mut cost = (last[j] + u8::from(a != b)).min(last[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                cost = cost.min(before[j - 1] + 1);
            }
            next[j + 1] = cost;
            least = least.min(cost);
        }
        if usize::from(least) > allowed {
            return false;
        }
        rows.rotate_left(1);
    }
    usize::from(rows[1][length]) <= allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_in_lower_case_and_in_the_singular() {
        let parts = |text: &str| {
            let (mut parts, mut normal) = (Vec::new(), String::new());
            raw_words(text).for_each(|raw| each_part(raw, &mut normal, |part| parts.push(part.to_owned())));
            parts
        };
        for (text, expected) in [
            ("Reads CSV-files, queries & boxes.", &["read", "csv", "file", "query", "box"][..]),
            ("class status analysis databases gas", &["class", "status", "analysis", "database", "gas"]),
            ("ÄRGER—Straße’s", &["ärger", "straße", "s"]),
            ("PDF文件转换 v2", &["pdf", "文件", "件转", "转换", "v2"]),
            ("图", &["图"]),
            ("… -- !", &[]),
            ("", &[]),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
        assert_eq!(fold("Python-Math 2"), "pythonmath2");
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("The") && is_stop_word("does") && !is_stop_word("pdf"));
    }

    #[test]
    fn edits_are_counted_with_swaps() {
        for (from, to, expected) in [
            ("abcd", "abcd", 0),
            ("abcd", "abdc", 1),
            ("abcd", "abd", 1),
            ("abcd", "abxcd", 1),
            ("abcd", "axcy", 2),
            ("kitten", "sitting", 3),
        ] {
            let from: Vec<char> = from.chars().collect();
            for allowed in 0..4 {
                assert_eq!(edits(&from, to, allowed), expected <= allowed, "{from:?} {to} {allowed}");
            }
        }
        assert!(!edits(&['a'; 33], &"a".repeat(33), 2));
    }
}
