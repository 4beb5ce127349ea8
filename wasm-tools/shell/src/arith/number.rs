//! Numbers as text.

/// The decimal text of a number.
pub fn decimal(value: i64) -> Vec<u8> {
    let mut out = Vec::new();
    write_decimal(value, &mut out);
    out
}

/// Appends the decimal text of a number.
pub fn write_decimal(value: i64, out: &mut Vec<u8>) {
    let mut buf = [0u8; 20];
    let mut i = buf.len();
    let mut rest = value.unsigned_abs();
    loop {
        i -= 1;
        buf[i] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        i -= 1;
        buf[i] = b'-';
    }
    out.extend_from_slice(&buf[i..]);
}

/// Whether the text is an integer as `test` and `[[` without arithmetic take it.
pub fn integer(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii();
    let digits = text
        .strip_prefix(b"+")
        .or_else(|| text.strip_prefix(b"-"))
        .unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}
