//! `stat`.

use std::ffi::{OsStr, OsString};
use std::os::wasi::ffi::OsStrExt;

use wskill_sys::fs::{self, Stat, StatVfs};
use wskill_time::{Zone, split_nanos};

use super::opts::{Spec, Takes};
use super::text::{mode_string, quote, quote_if_needed, type_name};
use super::{clock, say_bytes, users};

const STAT: Spec = Spec {
    name: "stat",
    usage: "stat [OPTION]... FILE...",
    short: "Lfc:t",
    long: &[
        ("dereference", Takes::No, 'L'),
        ("file-system", Takes::No, 'f'),
        ("cached", Takes::Arg, 'C'),
        ("format", Takes::Arg, 'c'),
        ("printf", Takes::Arg, 'p'),
        ("terse", Takes::No, 't'),
    ],
    failure: 1,
};

const DEFAULT: &str = "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: %Hd,%Ld\tInode: %-11i Links: %h\n\
                       Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n Birth: %w\n";
const DEVICE: &str = "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: %Hd,%Ld\tInode: %-11i \
                      Links: %-5h Device type: %Hr,%Lr\nAccess: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: \
                      %x\nModify: %y\nChange: %z\n Birth: %w\n";
const TERSE: &str = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n";
const FS_DEFAULT: &str = "  File: \"%n\"\n    ID: %-8i Namelen: %-7l Type: %T\nBlock size: %-10s Fundamental block size: \
                          %S\nBlocks: Total: %-10b Free: %-10f Available: %a\nInodes: Total: %-10c Free: %d\n";
const FS_TERSE: &str = "%n %i %l %t %s %S %b %f %a %c %d\n";

/// `stat`.
pub fn stat(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match STAT.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let (mut follow, mut file_system, mut terse) = (false, false, false);
    let mut format: Option<(OsString, bool)> = None;
    for (option, value) in parsed.options {
        match option {
            'L' => follow = true,
            'f' => file_system = true,
            't' => terse = true,
            'c' => format = Some((value, false)),
            'p' => format = Some((value, true)),
            _ => {}
        }
    }
    if parsed.operands.is_empty() {
        return STAT.missing_operand();
    }
    let zone = Zone::local();
    let mut status = 0;
    for operand in &parsed.operands {
        let seen = if file_system {
            fs::statvfs(operand).map(|st| Seen::FileSystem(st, fs::stat(operand).map_or(0, |st| st.dev)))
        } else if operand == "-" {
            fs::fstat(0).map(Seen::File)
        } else if follow {
            fs::stat(operand).map(Seen::File)
        } else {
            fs::lstat(operand).map(Seen::File)
        };
        let seen = match seen {
            Ok(seen) => seen,
            Err(e) => {
                let what = if file_system { "cannot read file system information for" } else { "cannot statx" };
                eprintln!("stat: {what} {}: {e}", quote(operand));
                status = 1;
                continue;
            }
        };
        let device = matches!(&seen, Seen::File(st) if st.is_char_device() || st.is_block_device());
        let text = match &format {
            Some((format, _)) => format.as_bytes(),
            None if file_system && terse => FS_TERSE.as_bytes(),
            None if file_system => FS_DEFAULT.as_bytes(),
            None if terse => TERSE.as_bytes(),
            None if device => DEVICE.as_bytes(),
            None => DEFAULT.as_bytes(),
        };
        let escapes = matches!(format, Some((_, true)));
        let mut out = Vec::new();
        let bare = format.is_none();
        let printer = Printer { name: operand, seen: &seen, zone: &zone, bare };
        if !printer.print(text, escapes, &mut out) {
            status = 1;
        }
        if matches!(format, Some((_, false))) {
            out.push(b'\n');
        }
        say_bytes(&out);
    }
    status
}

enum Seen {
    File(Stat),
    FileSystem(StatVfs, u64),
}

struct Printer<'a> {
    name: &'a OsStr,
    seen: &'a Seen,
    zone: &'a Zone,
    /// In the default layout names are quoted only where they must be.
    bare: bool,
}

/// What a directive gives: a number keeps its sign and base for the flags.
enum Value {
    Text(Vec<u8>),
    Decimal(u64),
    Octal(u32),
    Hex(u64),
    Time(i64),
    Seconds(Option<i64>),
}

#[derive(Default)]
struct Directive {
    left: bool,
    zero: bool,
    alternate: bool,
    plus: bool,
    width: usize,
    precision: Option<usize>,
    /// `H` or `L` before d and r.
    half: Option<u8>,
}

impl Printer<'_> {
    fn print(&self, format: &[u8], escapes: bool, out: &mut Vec<u8>) -> bool {
        let mut at = 0;
        let mut ok = true;
        while at < format.len() {
            match format[at] {
                b'%' => at = self.directive(format, at + 1, out, &mut ok),
                b'\\' if escapes => at = escape(format, at + 1, out),
                c => {
                    out.push(c);
                    at += 1;
                }
            }
        }
        ok
    }

    fn directive(&self, format: &[u8], start: usize, out: &mut Vec<u8>, ok: &mut bool) -> usize {
        let mut d = Directive::default();
        let mut at = start;
        while let Some(&c) = format.get(at) {
            match c {
                b'-' => d.left = true,
                b'0' => d.zero = true,
                b'#' => d.alternate = true,
                b'+' => d.plus = true,
                b' ' | b'\'' => {}
                _ => break,
            }
            at += 1;
        }
        let number = |at: &mut usize| {
            let mut n = 0usize;
            while let Some(c) = format.get(*at).filter(|c| c.is_ascii_digit()) {
                n = (n * 10 + usize::from(c - b'0')).min(65536);
                *at += 1;
            }
            n
        };
        d.width = number(&mut at);
        if format.get(at) == Some(&b'.') {
            at += 1;
            d.precision = Some(number(&mut at));
        }
        if matches!(format.get(at), Some(b'H' | b'L')) && matches!(format.get(at + 1), Some(b'd' | b'r')) {
            d.half = Some(format[at]);
            at += 1;
        }
        let Some(&letter) = format.get(at) else {
            out.push(b'%');
            return at;
        };
        if letter == b'%' {
            out.push(b'%');
            return at + 1;
        }
        match self.value(letter, &d) {
            Some(value) => d.write(value, out),
            None => {
                if letter.is_ascii_alphabetic() && matches!(self.seen, Seen::File(_)) && b"mC".contains(&letter) {
                    d.write(Value::Text(if letter == b'm' { b"/".to_vec() } else { b"?".to_vec() }), out);
                    *ok &= letter == b'm';
                } else {
                    eprintln!("stat: {}: invalid directive", quote(OsStr::from_bytes(&format[start - 1..=at])));
                    std::process::exit(1);
                }
            }
        }
        at + 1
    }

    fn value(&self, letter: u8, d: &Directive) -> Option<Value> {
        let text = |s: String| Value::Text(s.into_bytes());
        Some(match self.seen {
            Seen::FileSystem(st, id) => match letter {
                b'n' => Value::Text(self.name.as_bytes().to_vec()),
                b'i' => Value::Hex(*id),
                b'l' => Value::Decimal(st.name_max),
                b't' => Value::Hex(0),
                b'T' => text("wskill".into()),
                b's' | b'S' => Value::Decimal(st.block_size),
                b'b' => Value::Decimal(st.blocks),
                b'f' | b'a' => Value::Decimal(st.blocks_free),
                b'c' => Value::Decimal(st.files),
                b'd' => Value::Decimal(st.files_free),
                _ => return None,
            },
            Seen::File(st) => match letter {
                b'a' => Value::Octal(st.permissions()),
                b'A' => text(mode_string(st.mode)),
                b'b' => Value::Decimal(st.blocks),
                b'B' => Value::Decimal(512),
                b'd' => Value::Decimal(half(st.dev, d.half)),
                b'D' => Value::Hex(st.dev),
                b'f' => Value::Hex(st.mode.into()),
                b'F' => text(type_name(st.mode, st.size).into()),
                b'g' => Value::Decimal(st.gid.into()),
                b'G' => text(users::group_name(st.gid).unwrap_or_else(|| "UNKNOWN".into())),
                b'h' => Value::Decimal(st.nlink.into()),
                b'i' => Value::Decimal(st.ino),
                b'n' => Value::Text(self.name.as_bytes().to_vec()),
                b'N' => text(self.quoted_name(st)),
                b'o' => Value::Decimal(st.blksize.into()),
                b's' => Value::Decimal(st.size),
                b'r' => Value::Decimal(half(st.rdev, d.half)),
                b'R' => Value::Hex(st.rdev),
                b't' => Value::Hex(half(st.rdev, Some(b'H'))),
                b'T' => Value::Hex(half(st.rdev, Some(b'L'))),
                b'u' => Value::Decimal(st.uid.into()),
                b'U' => text(users::user_name(st.uid).unwrap_or_else(|| "UNKNOWN".into())),
                b'x' => Value::Time(st.atime_ns),
                b'X' => Value::Seconds(Some(st.atime_ns)),
                b'y' => Value::Time(st.mtime_ns),
                b'Y' => Value::Seconds(Some(st.mtime_ns)),
                b'z' => Value::Time(st.ctime_ns),
                b'Z' => Value::Seconds(Some(st.ctime_ns)),
                b'w' => text("-".into()),
                b'W' => Value::Seconds(None),
                _ => return None,
            },
        })
        .map(|value| match value {
            Value::Time(ns) => text(clock::full(ns, self.zone)),
            other => other,
        })
    }

    fn quoted_name(&self, st: &Stat) -> String {
        let style = std::env::var("QUOTING_STYLE").unwrap_or_default();
        let quoted = |name: &OsStr| match style.as_str() {
            "literal" => name.to_string_lossy().into_owned(),
            "shell-escape" | "shell" => quote_if_needed(name),
            "" if self.bare => quote_if_needed(name),
            _ => quote(name),
        };
        match fs::readlink(self.name) {
            Ok(target) if st.is_symlink() => format!("{} -> {}", quoted(self.name), quoted(target.as_os_str())),
            _ => quoted(self.name),
        }
    }
}

/// The major or minor half of a device number, or all of it.
fn half(device: u64, which: Option<u8>) -> u64 {
    match which {
        Some(b'H') => (device >> 8 & 0xfff) | (device >> 32 & !0xfff),
        Some(_) => (device & 0xff) | (device >> 12 & !0xff),
        None => device,
    }
}

impl Directive {
    fn write(&self, value: Value, out: &mut Vec<u8>) {
        let (mut text, numeric) = match value {
            Value::Text(text) => (text, false),
            Value::Decimal(n) => (format!("{}{n}", if self.plus { "+" } else { "" }).into_bytes(), true),
            Value::Octal(n) if self.alternate => (format!("0{n:o}").into_bytes(), true),
            Value::Octal(n) => (format!("{n:o}").into_bytes(), true),
            Value::Hex(n) if self.alternate => (format!("{n:#x}").into_bytes(), true),
            Value::Hex(n) => (format!("{n:x}").into_bytes(), true),
            Value::Time(_) => (Vec::new(), false),
            Value::Seconds(ns) => (self.seconds(ns), true),
        };
        if !numeric && let Some(precision) = self.precision {
            text.truncate(precision);
        }
        let fill = self.width.saturating_sub(text.len());
        let pad = if self.zero && numeric && !self.left { b'0' } else { b' ' };
        if !self.left {
            out.extend(std::iter::repeat_n(pad, fill));
        }
        out.extend(text);
        if self.left {
            out.extend(std::iter::repeat_n(b' ', fill));
        }
    }

    fn seconds(&self, ns: Option<i64>) -> Vec<u8> {
        let (seconds, rest) = split_nanos(ns.unwrap_or(0));
        match self.precision {
            None => seconds.to_string().into_bytes(),
            Some(digits) => {
                let digits = if digits == 0 { 9 } else { digits };
                let mut fraction = format!("{rest:09}");
                while fraction.len() < digits {
                    fraction.push('0');
                }
                fraction.truncate(digits);
                format!("{seconds}.{fraction}").into_bytes()
            }
        }
    }
}

fn escape(format: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let Some(&c) = format.get(at) else {
        eprintln!("stat: warning: backslash at end of format");
        out.push(b'\\');
        return at;
    };
    let simple = match c {
        b'a' => 7,
        b'b' => 8,
        b'e' => 27,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' | b'"' => c,
        b'0'..=b'7' => {
            let digits = format[at..].iter().take(3).take_while(|c| (b'0'..=b'7').contains(c)).count();
            let value = format[at..at + digits].iter().fold(0u32, |v, c| v * 8 + u32::from(c - b'0'));
            out.push(value as u8);
            return at + digits;
        }
        b'x' if format.get(at + 1).is_some_and(u8::is_ascii_hexdigit) => {
            let digits = format[at + 1..].iter().take(2).take_while(|c| c.is_ascii_hexdigit()).count();
            let text = String::from_utf8_lossy(&format[at + 1..at + 1 + digits]).into_owned();
            out.push(u8::from_str_radix(&text, 16).unwrap_or(0));
            return at + 1 + digits;
        }
        _ => {
            eprintln!("stat: warning: unrecognized escape '\\{}'", c as char);
            out.push(b'\\');
            c
        }
    };
    out.push(simple);
    at + 1
}
