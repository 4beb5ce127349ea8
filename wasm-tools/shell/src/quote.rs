//! Quoting of values for output that a shell can read again.

/// Quotes for `set`, `export -p`, `declare -p` scalars outside of double quotes: only if needed.
pub fn single_if_needed(text: &[u8]) -> Vec<u8> {
    if needs_ansi(text) {
        return ansi(text);
    }
    let safe = |c: &u8| {
        c.is_ascii_alphanumeric()
            || matches!(c, b'_' | b'-' | b'.' | b'/' | b':' | b'=' | b'@' | b'%' | b'+' | b',')
            || *c >= 0x80
    };
    if text.iter().all(safe) {
        return text.to_vec();
    }
    single(text)
}

/// Single quotes, for `trap -p` and `alias`.
pub fn single(text: &[u8]) -> Vec<u8> {
    if text == b"'" {
        return b"\\'".to_vec();
    }
    let mut out = vec![b'\''];
    for &c in text {
        if c == b'\'' {
            out.extend_from_slice(b"'\\''");
        } else {
            out.push(c);
        }
    }
    out.push(b'\'');
    out
}

/// `${x@Q}`: single quotes, or `$'…'` when there are control characters.
pub fn at_q(text: &[u8]) -> Vec<u8> {
    if needs_ansi(text) { ansi(text) } else { single(text) }
}

/// Double quotes, for `declare -p`.
pub fn double(text: &[u8]) -> Vec<u8> {
    if needs_ansi(text) {
        return ansi(text);
    }
    let mut out = vec![b'"'];
    for &c in text {
        if matches!(c, b'"' | b'\\' | b'$' | b'`') {
            out.push(b'\\');
        }
        out.push(c);
    }
    out.push(b'"');
    out
}

/// `printf %q`: backslashes.
pub fn backslash(text: &[u8]) -> Vec<u8> {
    if text.is_empty() {
        return b"''".to_vec();
    }
    if needs_ansi(text) {
        return ansi(text);
    }
    let mut out = Vec::with_capacity(text.len() + 8);
    for (i, &c) in text.iter().enumerate() {
        let special = match c {
            b' ' | b'\t' | b'\n' | b'\'' | b'"' | b'\\' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>' | b'!'
            | b'{' | b'}' | b'*' | b'[' | b'?' | b']' | b'^' | b'$' | b'`' | b',' => true,
            b'#' => i == 0,
            b'~' => i == 0 || matches!(text[i - 1], b'=' | b':'),
            _ => false,
        };
        if special {
            out.push(b'\\');
        }
        out.push(c);
    }
    out
}

/// For `set -x`: quotes only what needs it.
pub fn trace(text: &[u8]) -> Vec<u8> {
    if text.is_empty() {
        return b"''".to_vec();
    }
    if needs_ansi(text) {
        return ansi(text);
    }
    let special = |(i, c): (usize, &u8)| {
        is_special(*c) || *c == b'#' && i == 0 || *c == b'~' && (i == 0 || matches!(text[i - 1], b'=' | b':'))
    };
    if text.iter().enumerate().any(special) {
        single(text)
    } else {
        text.to_vec()
    }
}

/// Whether the text has characters that only `$'…'` shows.
pub fn needs_ansi(text: &[u8]) -> bool {
    if text.iter().any(|&c| c < 0x20 && c != b'\n' && c != b'\t' || c == 0x7f) {
        return true;
    }
    if text.iter().any(|&c| c == b'\n' || c == b'\t') {
        return true;
    }
    !text.is_ascii() && std::str::from_utf8(text).is_err()
}

/// `$'…'`
pub fn ansi(text: &[u8]) -> Vec<u8> {
    let mut out = b"$'".to_vec();
    let mut i = 0;
    while i < text.len() {
        let c = text[i];
        match c {
            7 => out.extend_from_slice(b"\\a"),
            8 => out.extend_from_slice(b"\\b"),
            27 => out.extend_from_slice(b"\\E"),
            12 => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            11 => out.extend_from_slice(b"\\v"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\'' => out.extend_from_slice(b"\\'"),
            0..=0x1f | 0x7f => out.extend_from_slice(format!("\\{c:03o}").as_bytes()),
            0x80.. => {
                let (code, n) = crate::pattern::decode(&text[i..]);
                if char::from_u32(code).is_some() && n > 1 {
                    out.extend_from_slice(&text[i..i + n]);
                    i += n;
                    continue;
                }
                out.extend_from_slice(format!("\\{c:03o}").as_bytes());
            }
            _ => out.push(c),
        }
        i += 1;
    }
    out.push(b'\'');
    out
}

/// Characters that a shell does not read as themselves, wherever they stand.
fn is_special(c: u8) -> bool {
    matches!(
        c,
        b' ' | b'\t'
            | b'\n'
            | b'\''
            | b'"'
            | b'\\'
            | b'|'
            | b'&'
            | b';'
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'!'
            | b'{'
            | b'}'
            | b'*'
            | b'['
            | b'?'
            | b']'
            | b'^'
            | b'$'
            | b'`'
    )
}

/// How `declare -p` and `set` show an associative array's key.
pub fn key(text: &[u8]) -> Vec<u8> {
    let plain = !text.is_empty()
        && !text.iter().any(|&c| is_special(c) || matches!(c, b'#' | b'~' | b'@'))
        && !needs_ansi(text);
    if plain { text.to_vec() } else { double(text) }
}
