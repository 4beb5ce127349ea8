//! Strings as characters: in UTF-8, a byte that is not part of a character counts as one.

/// Bytes of the first character.
pub fn char_length(text: &[u8]) -> usize {
    let length = match text[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return 1,
    };
    if text.get(..length).is_some_and(|bytes| std::str::from_utf8(bytes).is_ok()) { length } else { 1 }
}

/// How many characters a string has.
pub fn length(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    let mut count = 0;
    let mut at = 0;
    while at < text.len() {
        at += char_length(&text[at..]);
        count += 1;
    }
    count
}

/// The byte where the character with this index (from 0) begins; the length when there are fewer.
pub fn byte_of(text: &[u8], index: usize) -> usize {
    if text.is_ascii() {
        return index.min(text.len());
    }
    let mut at = 0;
    for _ in 0..index {
        if at >= text.len() {
            break;
        }
        at += char_length(&text[at..]);
    }
    at.min(text.len())
}

/// The first characters of a string.
pub fn prefix(text: &[u8], count: usize) -> &[u8] {
    &text[..byte_of(text, count)]
}

/// In upper or lower case, character for character.
pub fn map_case(text: &[u8], upper: bool) -> Vec<u8> {
    if text.is_ascii() {
        return if upper { text.to_ascii_uppercase() } else { text.to_ascii_lowercase() };
    }
    let mut out = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            let mapped: Vec<char> = if upper { c.to_uppercase().collect() } else { c.to_lowercase().collect() };
            let one = if let [one] = mapped.as_slice() { *one } else { c };
            out.extend_from_slice(one.encode_utf8(&mut [0; 4]).as_bytes());
        }
        out.extend_from_slice(chunk.invalid());
    }
    out
}
