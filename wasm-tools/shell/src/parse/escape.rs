//! Backslash escapes of `$'…'`.

/// Decodes the text between the quotes of `$'…'`. A NUL ends it, as in bash.
pub fn ansi_c(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut i = 0;
    while i < text.len() {
        let c = text[i];
        i += 1;
        if c != b'\\' || i >= text.len() {
            out.push(c);
            continue;
        }
        let e = text[i];
        i += 1;
        match e {
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'e' | b'E' => out.push(27),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'\\' | b'\'' | b'"' | b'?' => out.push(e),
            b'0'..=b'7' => {
                let (value, used) = digits(&text[i - 1..], 8, 3);
                i += used - 1;
                if value & 0xff == 0 {
                    return out;
                }
                out.push(value as u8);
            }
            b'x' => {
                let braced = text.get(i) == Some(&b'{');
                let (value, used) = digits(&text[i + usize::from(braced)..], 16, if braced { 8 } else { 2 });
                if used == 0 && !braced {
                    out.extend_from_slice(b"\\x");
                    continue;
                }
                i += used + usize::from(braced);
                if braced && text.get(i) == Some(&b'}') {
                    i += 1;
                }
                if value & 0xff == 0 {
                    return out;
                }
                out.push(value as u8);
            }
            b'u' | b'U' => {
                let (value, used) = digits(&text[i..], 16, if e == b'u' { 4 } else { 8 });
                if used == 0 {
                    out.extend_from_slice(&[b'\\', e]);
                    continue;
                }
                i += used;
                if value == 0 {
                    return out;
                }
                push_code_point(&mut out, value);
            }
            b'c' if i < text.len() => {
                let mut control = text[i];
                i += 1;
                if control == b'\\' && text.get(i) == Some(&b'\\') {
                    i += 1;
                }
                control = control.to_ascii_uppercase();
                let code = if control == b'?' { 127 } else { control & 0x1f };
                if code == 0 {
                    return out;
                }
                out.push(code);
            }
            _ => out.extend_from_slice(&[b'\\', e]),
        }
    }
    out
}

/// Reads at most `max` digits of the base; the value and how many bytes they took.
pub fn digits(text: &[u8], base: u32, max: usize) -> (u32, usize) {
    let mut value = 0u32;
    let mut used = 0;
    while used < max {
        let Some(digit) = text.get(used).and_then(|&c| (c as char).to_digit(base)) else {
            break;
        };
        value = value.wrapping_mul(base).wrapping_add(digit);
        used += 1;
    }
    (value, used)
}

/// Appends a code point in UTF-8; surrogates and values beyond Unicode are encoded by the same scheme, as in bash.
pub fn push_code_point(out: &mut Vec<u8>, c: u32) {
    match c {
        0..=0x7f => out.push(c as u8),
        0x80..=0x7ff => out.extend_from_slice(&[0xc0 | (c >> 6) as u8, 0x80 | (c & 0x3f) as u8]),
        0x800..=0xffff => out.extend_from_slice(&[
            0xe0 | (c >> 12) as u8,
            0x80 | (c >> 6 & 0x3f) as u8,
            0x80 | (c & 0x3f) as u8,
        ]),
        0x1_0000..=0x1f_ffff => out.extend_from_slice(&[
            0xf0 | (c >> 18) as u8,
            0x80 | (c >> 12 & 0x3f) as u8,
            0x80 | (c >> 6 & 0x3f) as u8,
            0x80 | (c & 0x3f) as u8,
        ]),
        0x20_0000..=0x3ff_ffff => out.extend_from_slice(&[
            0xf8 | (c >> 24) as u8,
            0x80 | (c >> 18 & 0x3f) as u8,
            0x80 | (c >> 12 & 0x3f) as u8,
            0x80 | (c >> 6 & 0x3f) as u8,
            0x80 | (c & 0x3f) as u8,
        ]),
        _ => out.extend_from_slice(&[
            0xfc | (c >> 30 & 1) as u8,
            0x80 | (c >> 24 & 0x3f) as u8,
            0x80 | (c >> 18 & 0x3f) as u8,
            0x80 | (c >> 12 & 0x3f) as u8,
            0x80 | (c >> 6 & 0x3f) as u8,
            0x80 | (c & 0x3f) as u8,
        ]),
    }
}
