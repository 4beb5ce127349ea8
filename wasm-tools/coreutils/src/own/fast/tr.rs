//! `tr` over bytes: ranges, classes, escapes. Repeats (`[x*]`) and equivalences (`[=x=]`) are long.

use std::ffi::OsString;
use std::os::wasi::ffi::OsStrExt;

use wskill_sys::fd;

use super::super::buffer::buffer;
use super::super::output_failed;
use super::options;

/// The bytes of a set in order, and whether a class is in it.
fn set(text: &[u8]) -> Option<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    let mut has_class = false;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with(b"[:") {
            let end = text[at..].windows(2).position(|w| w == b":]")?;
            let member: fn(&u8) -> bool = match &text[at + 2..at + end] {
                b"alnum" => u8::is_ascii_alphanumeric,
                b"alpha" => u8::is_ascii_alphabetic,
                b"blank" => |b| matches!(b, b' ' | b'\t'),
                b"cntrl" => u8::is_ascii_control,
                b"digit" => u8::is_ascii_digit,
                b"graph" => u8::is_ascii_graphic,
                b"lower" => u8::is_ascii_lowercase,
                b"print" => |b| (0x20..0x7f).contains(b),
                b"punct" => u8::is_ascii_punctuation,
                b"space" => |b| matches!(b, b' ' | b'\t'..=b'\r'),
                b"upper" => u8::is_ascii_uppercase,
                b"xdigit" => u8::is_ascii_hexdigit,
                _ => return None,
            };
            bytes.extend((0..=255u8).filter(member));
            has_class = true;
            at += end + 2;
            continue;
        }
        if text[at] == b'[' && (text[at + 1..].starts_with(b"=") || text[at + 1..].contains(&b'*')) {
            return None;
        }
        let (low, next) = byte(text, at)?;
        if text.get(next) == Some(&b'-') && next + 1 < text.len() {
            if text[next + 1..].starts_with(b"[:") {
                return None;
            }
            let (high, after) = byte(text, next + 1)?;
            if high < low {
                return None;
            }
            bytes.extend(low..=high);
            at = after;
        } else {
            bytes.push(low);
            at = next;
        }
    }
    Some((bytes, has_class))
}

/// One byte, escapes read.
fn byte(text: &[u8], at: usize) -> Option<(u8, usize)> {
    if text[at] != b'\\' {
        return Some((text[at], at + 1));
    }
    let &c = text.get(at + 1)?;
    let simple = match c {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' => b'\\',
        b'0'..=b'7' => {
            let digits = text[at + 1..].iter().take(3).take_while(|d| (b'0'..=b'7').contains(d)).count();
            let value = text[at + 1..at + 1 + digits].iter().fold(0u32, |v, d| v * 8 + u32::from(d - b'0'));
            return Some((u8::try_from(value).ok()?, at + 1 + digits));
        }
        other if other.is_ascii_alphanumeric() => return None,
        other => other,
    };
    Some((simple, at + 2))
}

/// `tr` with `-c`, `-C`, `-d`, `-s`, `-t`.
pub fn tr(args: &[OsString]) -> Option<i32> {
    let (options, operands) = options(args, "cCdst")?;
    let asked = |letters: &[u8]| options.iter().any(|(o, _)| letters.contains(o));
    let (complement, delete, squeeze, cut) = (asked(b"cC"), asked(b"d"), asked(b"s"), asked(b"t"));
    let (first, first_class) = set(operands.first()?.as_bytes())?;
    let first = if complement { (0..=255u8).filter(|b| !first.contains(b)).collect() } else { first };
    let second = match operands.get(1) {
        Some(text) => Some(set(text.as_bytes())?),
        None => None,
    };
    // What GNU refuses, and classes whose order would matter, are for the long way.
    let translates = !delete && second.is_some();
    let counts = (delete, squeeze, operands.len());
    if !matches!(counts, (true, false, 1) | (true, true, 2) | (false, true, 1) | (false, _, 2)) {
        return None;
    }
    let mut map: [u8; 256] = std::array::from_fn(|b| b as u8);
    let mut dropped = [false; 256];
    let mut squeezed = [false; 256];
    if translates {
        let (target, target_class) = second.as_ref()?;
        let case = |s: &OsString| matches!(s.as_bytes(), b"[:lower:]" | b"[:upper:]");
        let cases = case(operands[0]) && case(operands[1]);
        if (*target_class && !cases) || (first_class && !complement && !cases && target.len() > 1) || target.is_empty()
        {
            return None;
        }
        let last = *target.last()?;
        for (index, &b) in first.iter().enumerate() {
            match target.get(index) {
                Some(&to) => map[usize::from(b)] = to,
                None if cut => {}
                None => map[usize::from(b)] = last,
            }
        }
        if squeeze {
            target.iter().for_each(|&b| squeezed[usize::from(b)] = true);
        }
    } else if delete {
        first.iter().for_each(|&b| dropped[usize::from(b)] = true);
        if let Some((set, _)) = &second {
            set.iter().for_each(|&b| squeezed[usize::from(b)] = true);
        }
    } else {
        first.iter().for_each(|&b| squeezed[usize::from(b)] = true);
    }
    Some(filter(&map, &dropped, &squeezed))
}

fn filter(map: &[u8; 256], dropped: &[bool; 256], squeezed: &[bool; 256]) -> i32 {
    let mut buf = buffer();
    let mut out = Vec::new();
    let mut last: Option<u8> = None;
    loop {
        let n = match fd::read(0, &mut buf[..]) {
            Ok(0) => return 0,
            Ok(n) => n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => {
                eprintln!("tr: read error: {}", wskill_sys::message(&e));
                return 1;
            }
        };
        out.clear();
        for &b in &buf[..n] {
            if dropped[usize::from(b)] {
                continue;
            }
            let to = map[usize::from(b)];
            if squeezed[usize::from(to)] && last == Some(to) {
                continue;
            }
            last = Some(to);
            out.push(to);
        }
        if let Err(e) = fd::write_all(1, &out) {
            output_failed(&e);
            return 1;
        }
    }
}
