//! Case mapping over UTF-8; bytes that are not UTF-8 stay.

use crate::pattern::{Pattern, decode};

fn map(text: &[u8], mut change: impl FnMut(usize, char) -> char) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut i = 0;
    let mut n = 0;
    while i < text.len() {
        let (c, length) = decode(&text[i..]);
        match char::from_u32(c) {
            Some(ch) => out.extend_from_slice(change(n, ch).encode_utf8(&mut [0; 4]).as_bytes()),
            None => out.extend_from_slice(&text[i..i + length]),
        }
        i += length;
        n += 1;
    }
    out
}

/// One character in upper case, if that is one character.
pub fn upper_char(c: char) -> char {
    let mut it = c.to_uppercase();
    match (it.next(), it.next()) {
        (Some(u), None) => u,
        _ => c,
    }
}

/// One character in lower case, if that is one character.
pub fn lower_char(c: char) -> char {
    let mut it = c.to_lowercase();
    match (it.next(), it.next()) {
        (Some(l), None) => l,
        // The mapping of the letter alone leaves its dot out.
        (Some('i'), _) => 'i',
        _ => c,
    }
}

pub fn upper(text: &[u8]) -> Vec<u8> {
    if text.is_ascii() {
        text.to_ascii_uppercase()
    } else {
        map(text, |_, c| upper_char(c))
    }
}

pub fn lower(text: &[u8]) -> Vec<u8> {
    if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        map(text, |_, c| lower_char(c))
    }
}

/// First character in upper case, the rest in lower.
pub fn capital(text: &[u8]) -> Vec<u8> {
    map(text, |n, c| if n == 0 { upper_char(c) } else { lower_char(c) })
}

/// `^`, `,`, `~`: changes the first or all characters that match the pattern.
pub fn operator(text: &[u8], op: u8, all: bool, pattern: Option<&Pattern>) -> Vec<u8> {
    map(text, |n, c| {
        if n > 0 && !all {
            return c;
        }
        if let Some(pattern) = pattern
            && !pattern.matches(c.encode_utf8(&mut [0; 4]).as_bytes())
        {
            return c;
        }
        match op {
            b'^' => upper_char(c),
            b',' => lower_char(c),
            _ if c.is_uppercase() => lower_char(c),
            _ => upper_char(c),
        }
    })
}
