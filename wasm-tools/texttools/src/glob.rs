//! Shell patterns (`fnmatch`): `*`, `?`, `[…]`, `\x`.

/// What a pattern's wildcards may match.
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// Upper and lower case are equal.
    pub ignore_case: bool,
    /// `*`, `?` and `[…]` do not match `/`.
    pub keep_slash: bool,
}

/// Whether the whole text matches. Takes time in the order of pattern × text at worst.
pub fn matches(pattern: &[u8], text: &[u8], options: Options) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to go on after a failed try: behind the last `*`, one byte further in the text.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if p < pattern.len() {
            if pattern[p] == b'*' {
                p += 1;
                retry = Some((p, t));
                continue;
            }
            if t < text.len()
                && let Some((next_p, next_t)) = match_one(pattern, p, text, t, options)
            {
                (p, t) = (next_p, next_t);
                continue;
            }
        } else if t == text.len() {
            return true;
        }
        match retry {
            Some((after, from)) if from < text.len() && !(options.keep_slash && text[from] == b'/') => {
                retry = Some((after, from + 1));
                (p, t) = (after, from + 1);
            }
            _ => return false,
        }
    }
}

/// Whether a text has characters that are special in patterns.
pub fn is_pattern(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b'*' | b'?' | b'['))
}

fn fold(c: char, options: Options) -> char {
    if options.ignore_case { c.to_lowercase().next().unwrap_or(c) } else { c }
}

/// The character at a place and its length; a byte that is not UTF-8 is a character of its own.
fn char_at(text: &[u8], at: usize) -> (char, usize) {
    let rest = &text[at..(at + 4).min(text.len())];
    if rest[0] < 0x80 {
        return (rest[0] as char, 1);
    }
    (2..=rest.len())
        .find_map(|length| std::str::from_utf8(&rest[..length]).ok()?.chars().next())
        .map_or((rest[0] as char, 1), |c| (c, c.len_utf8()))
}

fn match_one(pattern: &[u8], p: usize, text: &[u8], t: usize, options: Options) -> Option<(usize, usize)> {
    let (c, length) = char_at(text, t);
    let wild = !(options.keep_slash && c == '/');
    match pattern[p] {
        b'?' => wild.then_some((p + 1, t + length)),
        b'[' => match bracket(pattern, p, c, options) {
            Some((matched, next)) => (matched && wild).then_some((next, t + length)),
            None => (c == '[').then_some((p + 1, t + 1)),
        },
        b'\\' if p + 1 < pattern.len() => literal(pattern, p + 1, c, options).map(|next| (next, t + length)),
        _ => literal(pattern, p, c, options).map(|next| (next, t + length)),
    }
}

fn literal(pattern: &[u8], p: usize, c: char, options: Options) -> Option<usize> {
    let (wanted, length) = char_at(pattern, p);
    (fold(wanted, options) == fold(c, options)).then_some(p + length)
}

/// Whether a bracket expression has the character, and where it ends; `None` when it is not closed.
fn bracket(pattern: &[u8], open: usize, c: char, options: Options) -> Option<(bool, usize)> {
    let mut at = open + 1;
    let negated = matches!(pattern.get(at), Some(b'!' | b'^'));
    if negated {
        at += 1;
    }
    let c = fold(c, options);
    let mut found = false;
    let mut first = true;
    loop {
        let byte = *pattern.get(at)?;
        if byte == b']' && !first {
            return Some((found != negated, at + 1));
        }
        first = false;
        if byte == b'['
            && pattern.get(at + 1) == Some(&b':')
            && let Some(length) = memchr::memmem::find(&pattern[at + 2..], b":]")
        {
            found |= class_has(&pattern[at + 2..at + 2 + length], c);
            at += length + 4;
            continue;
        }
        if byte == b'\\' && at + 1 < pattern.len() {
            at += 1;
        }
        let (low, length) = char_at(pattern, at);
        at += length;
        if pattern.get(at) == Some(&b'-') && pattern.get(at + 1).is_some_and(|next| *next != b']') {
            let (high, length) = char_at(pattern, at + 1);
            at += 1 + length;
            found |= (fold(low, options)..=fold(high, options)).contains(&c) || (low..=high).contains(&c);
        } else {
            found |= fold(low, options) == c;
        }
    }
}

fn class_has(name: &[u8], c: char) -> bool {
    match name {
        b"alpha" => c.is_alphabetic(),
        b"digit" => c.is_ascii_digit(),
        b"alnum" => c.is_alphanumeric(),
        b"upper" => c.is_uppercase(),
        b"lower" => c.is_lowercase(),
        b"space" => c.is_whitespace(),
        b"blank" => c == ' ' || c == '\t',
        b"punct" => c.is_ascii_punctuation(),
        b"print" => !c.is_control(),
        b"graph" => !c.is_control() && !c.is_whitespace(),
        b"cntrl" => c.is_control(),
        b"xdigit" => c.is_ascii_hexdigit(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let yes = |pattern: &str, text: &str| matches(pattern.as_bytes(), text.as_bytes(), Options::default());
        assert!(yes("*.rs", "mod.rs") && yes("a*b*c", "axxbyyc") && yes("[!a-c]?", "dé") && yes("[]]", "]"));
        assert!(yes("\\*", "*") && yes("[[:digit:]]*", "7up") && yes("[", "[") && yes("*", ""));
        assert!(!yes("*.rs", "mod.rst") && !yes("[a-c]", "d") && !yes("?", ""));
        let path = Options { keep_slash: true, ..Options::default() };
        assert!(!matches(b"*", b"a/b", path) && matches(b"*/b", b"a/b", path));
    }
}
