//! `-printf`: directives and what they print.

use super::Entry;
use super::users::Names;
use crate::platform::{Metadata, mode};
use wskill_time::{local, strftime};

/// A part of a format.
pub enum Directive {
    /// Text as it is.
    Text(Vec<u8>),
    /// `%-10p`: left-justified, zeros, width, precision, the letter and the letter behind `A`, `C` or `T`.
    Field { minus: bool, zero: bool, width: usize, precision: Option<usize>, letter: u8, time: u8 },
    /// `\c`: stop here.
    Stop,
}

/// Takes a format apart.
pub fn parse(format: &[u8]) -> Vec<Directive> {
    let mut parts = Vec::new();
    let mut text = Vec::new();
    let mut at = 0;
    while at < format.len() {
        let byte = format[at];
        at += 1;
        match byte {
            b'\\' => {
                let Some(&escape) = format.get(at) else {
                    text.push(b'\\');
                    break;
                };
                at += 1;
                match escape {
                    b'n' => text.push(b'\n'),
                    b't' => text.push(b'\t'),
                    b'a' => text.push(7),
                    b'b' => text.push(8),
                    b'f' => text.push(12),
                    b'r' => text.push(b'\r'),
                    b'v' => text.push(11),
                    b'\\' => text.push(b'\\'),
                    b'c' => {
                        parts.push(Directive::Text(std::mem::take(&mut text)));
                        parts.push(Directive::Stop);
                        return parts;
                    }
                    b'0'..=b'7' => {
                        let digits = format[at - 1..].iter().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
                        let code =
                            format[at - 1..at - 1 + digits].iter().fold(0u32, |sum, b| sum * 8 + u32::from(b - b'0'));
                        text.push(code as u8);
                        at += digits - 1;
                    }
                    _ => text.extend([b'\\', escape]),
                }
            }
            b'%' => {
                if format.get(at) == Some(&b'%') {
                    at += 1;
                    text.push(b'%');
                    continue;
                }
                let start = at;
                let (mut minus, mut zero) = (false, false);
                while let Some(flag @ (b'-' | b'0' | b'#' | b'+' | b' ')) = format.get(at) {
                    minus |= *flag == b'-';
                    zero |= *flag == b'0';
                    at += 1;
                }
                let number = |at: &mut usize| {
                    let mut number = 0usize;
                    while let Some(digit) = format.get(*at).filter(|byte| byte.is_ascii_digit()) {
                        number = (number * 10 + usize::from(digit - b'0')).min(10_000);
                        *at += 1;
                    }
                    number
                };
                let width = number(&mut at);
                let mut precision = None;
                if format.get(at) == Some(&b'.') {
                    at += 1;
                    precision = Some(number(&mut at));
                }
                let Some(&letter) = format.get(at) else {
                    text.push(b'%');
                    at = start;
                    continue;
                };
                at += 1;
                let mut time = 0;
                if matches!(letter, b'A' | b'C' | b'T' | b'B') {
                    time = format.get(at).copied().unwrap_or(b' ');
                    at += 1;
                }
                parts.push(Directive::Text(std::mem::take(&mut text)));
                parts.push(Directive::Field { minus, zero, width, precision, letter, time });
            }
            _ => text.push(byte),
        }
    }
    parts.push(Directive::Text(text));
    parts
}

/// The names of users and groups a format may need.
pub struct Owners {
    /// Users.
    pub users: Names,
    /// Groups.
    pub groups: Names,
}

/// Formats an entry.
pub fn format(parts: &[Directive], entry: &Entry<'_>, owners: &mut Owners, out: &mut Vec<u8>) {
    for part in parts {
        match part {
            Directive::Text(text) => out.extend_from_slice(text),
            Directive::Stop => return,
            Directive::Field { minus, zero, width, precision, letter, time } => {
                let mut text = field(*letter, *time, entry, owners);
                if let Some(precision) = precision {
                    text.truncate(*precision);
                }
                let length = text.iter().filter(|byte| (**byte & 0xc0) != 0x80).count();
                let fill = width.saturating_sub(length);
                let numeric = b"sbkdmnUGiD".contains(letter);
                if *minus {
                    out.extend_from_slice(&text);
                    out.resize(out.len() + fill, b' ');
                } else {
                    out.resize(out.len() + fill, if *zero && numeric { b'0' } else { b' ' });
                    out.extend_from_slice(&text);
                }
            }
        }
    }
}

/// The letter of a file's type.
pub fn type_letter(info: &Metadata) -> u8 {
    match info.kind() {
        mode::FILE => b'f',
        mode::DIRECTORY => b'd',
        mode::LINK => b'l',
        mode::FIFO => b'p',
        mode::SOCKET => b's',
        mode::CHARACTER => b'c',
        mode::BLOCK => b'b',
        _ => b'U',
    }
}

fn field(letter: u8, time: u8, entry: &Entry<'_>, owners: &mut Owners) -> Vec<u8> {
    let info = entry.info;
    match letter {
        b'p' => entry.path.to_vec(),
        b'f' => entry.name().to_vec(),
        b'h' => {
            let trimmed = entry.path.strip_suffix(b"/").unwrap_or(entry.path);
            match trimmed.iter().rposition(|byte| *byte == b'/') {
                Some(0) => b"/".to_vec(),
                Some(at) => trimmed[..at].to_vec(),
                None => b".".to_vec(),
            }
        }
        b'P' => {
            let rest = &entry.path[entry.start.len()..];
            rest.strip_prefix(b"/").unwrap_or(rest).to_vec()
        }
        b'H' => entry.start.to_vec(),
        b's' => info.size.to_string().into_bytes(),
        b'S' => {
            let sparse = if info.size == 0 { 1.0 } else { info.blocks as f64 * 512.0 / info.size as f64 };
            crate::awk::sprintf(b"%g", &[crate::awk::Value::Number(sparse)], b"%g").unwrap_or_default()
        }
        b'b' => info.blocks.to_string().into_bytes(),
        b'k' => info.blocks.div_ceil(2).to_string().into_bytes(),
        b'd' => entry.depth.to_string().into_bytes(),
        b'm' => format!("{:o}", info.mode & 0o7777).into_bytes(),
        b'M' => info.mode_string().into_bytes(),
        b'n' => info.nlink.to_string().into_bytes(),
        b'u' => owners.users.shown(info.uid).into_bytes(),
        b'g' => owners.groups.shown(info.gid).into_bytes(),
        b'U' => info.uid.to_string().into_bytes(),
        b'G' => info.gid.to_string().into_bytes(),
        b'i' => info.ino.to_string().into_bytes(),
        b'D' => info.dev.to_string().into_bytes(),
        b'l' => entry.link_target(),
        b'y' => vec![type_letter(&info)],
        b'Y' => match entry.followed() {
            Some(target) => vec![type_letter(&target)],
            None => b"N".to_vec(),
        },
        b'F' => b"wskill".to_vec(),
        b'Z' => Vec::new(),
        b't' => clock(info.mtime, 0),
        b'a' => clock(info.atime, 0),
        b'c' => clock(info.ctime, 0),
        b'T' | b'B' => clock(info.mtime, time),
        b'A' => clock(info.atime, time),
        b'C' => clock(info.ctime, time),
        other => vec![b'%', other],
    }
}

/// A time: 0 as `ctime` with a fraction, `@` seconds, `+` date and clock, else strftime's letter.
fn clock(nanos: i64, letter: u8) -> Vec<u8> {
    let (seconds, fraction) = (nanos.div_euclid(1_000_000_000), nanos.rem_euclid(1_000_000_000));
    let civil = local(seconds);
    let with_fraction = |format: &[u8]| {
        let mut text = strftime(format, &civil);
        text.extend_from_slice(format!(".{fraction:09}0").as_bytes());
        text
    };
    match letter {
        0 => {
            let mut text = with_fraction(b"%a %b %e %H:%M:%S");
            text.extend_from_slice(&strftime(b" %Y", &civil));
            text
        }
        b'@' => format!("{seconds}.{fraction:09}0").into_bytes(),
        b'+' => with_fraction(b"%Y-%m-%d+%H:%M:%S"),
        b'S' => with_fraction(b"%S"),
        b'T' => with_fraction(b"%H:%M:%S"),
        b'X' => with_fraction(b"%H:%M:%S"),
        b'c' => strftime(b"%a %b %e %H:%M:%S %Y", &civil),
        letter => strftime(&[b'%', letter], &civil),
    }
}
