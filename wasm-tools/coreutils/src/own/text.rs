//! Text that several commands print: quoted names, modes, sizes.

use std::ffi::OsStr;
use std::os::wasi::ffi::OsStrExt;

use wskill_sys::fs;

/// Bytes a shell reads as themselves outside quotes (anything else makes GNU's programs quote a name).
fn plain(byte: u8, first: bool) -> bool {
    match byte {
        b'#' | b'~' => !first,
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => true,
        b'%' | b'+' | b',' | b'-' | b'.' | b'/' | b':' | b'@' | b'_' | b']' | b'{' | b'}' => true,
        _ => byte >= 0x80,
    }
}

/// A name as GNU's `shell-escape-always` style writes it: `'a b'`, `"it's"`, `'a'$'\n''b'`.
pub fn quote(name: &OsStr) -> String {
    quote_bytes(name.as_bytes())
}

fn control(byte: u8) -> bool {
    byte < 0x20 || byte == 0x7f
}

/// [`quote`] over bytes.
pub fn quote_bytes(bytes: &[u8]) -> String {
    let valid = std::str::from_utf8(bytes).is_ok();
    if !bytes.iter().any(|&b| control(b) || b == b'\'') && valid {
        return format!("'{}'", String::from_utf8_lossy(bytes));
    }
    let special = bytes.iter().any(|&b| control(b) || b"\"$`\\!".contains(&b));
    if valid && !special {
        return format!("\"{}\"", String::from_utf8_lossy(bytes));
    }
    let mut out = String::from("'");
    let mut escaped = false;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let code = match c {
                '\n' => Some("\\n".to_owned()),
                '\t' => Some("\\t".to_owned()),
                '\r' => Some("\\r".to_owned()),
                '\x07' => Some("\\a".to_owned()),
                '\x08' => Some("\\b".to_owned()),
                '\x0b' => Some("\\v".to_owned()),
                '\x0c' => Some("\\f".to_owned()),
                c if c.is_ascii() && control(c as u8) => Some(format!("\\{:03o}", c as u32)),
                _ => None,
            };
            push_quoted(&mut out, &mut escaped, c, code);
        }
        for &byte in chunk.invalid() {
            push_quoted(&mut out, &mut escaped, ' ', Some(format!("\\{byte:03o}")));
        }
    }
    out.push('\'');
    out
}

fn push_quoted(out: &mut String, escaped: &mut bool, c: char, code: Option<String>) {
    match code {
        Some(code) => {
            if !*escaped {
                out.push_str("'$'");
                *escaped = true;
            }
            out.push_str(&code);
        }
        None => {
            if *escaped {
                out.push_str("''");
                *escaped = false;
            }
            if c == '\'' { out.push_str("'\\''") } else { out.push(c) }
        }
    }
}

/// A name as GNU's `shell-escape` style writes it: quoted only when a shell would misread it.
pub fn quote_if_needed(name: &OsStr) -> String {
    let bytes = name.as_bytes();
    let harmless = !bytes.is_empty()
        && bytes.iter().enumerate().all(|(i, &b)| plain(b, i == 0))
        && std::str::from_utf8(bytes).is_ok();
    if harmless { String::from_utf8_lossy(bytes).into_owned() } else { quote(name) }
}

/// A name in "program: name: reason" messages: quoted only when it holds a colon or what a shell misreads.
pub fn in_message(name: &OsStr) -> String {
    let bytes = name.as_bytes();
    if bytes.contains(&b':') { quote(name) } else { quote_if_needed(name) }
}

/// "-rwxr-xr-x".
pub fn mode_string(mode: u32) -> String {
    let kind = match mode & fs::S_IFMT {
        fs::S_IFDIR => 'd',
        fs::S_IFLNK => 'l',
        fs::S_IFCHR => 'c',
        fs::S_IFBLK => 'b',
        fs::S_IFIFO => 'p',
        fs::S_IFSOCK => 's',
        _ => '-',
    };
    let mut out = String::with_capacity(10);
    out.push(kind);
    let special = [(0o4000, 's', 'S'), (0o2000, 's', 'S'), (0o1000, 't', 'T')];
    for (shift, (bit, with_x, without_x)) in [6, 3, 0].into_iter().zip(special) {
        let bits = mode >> shift;
        out.push(if bits & 4 != 0 { 'r' } else { '-' });
        out.push(if bits & 2 != 0 { 'w' } else { '-' });
        out.push(match (mode & bit != 0, bits & 1 != 0) {
            (true, true) => with_x,
            (true, false) => without_x,
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    out
}

/// "regular file", "directory", … as `stat -c %F` says.
pub fn type_name(mode: u32, size: u64) -> &'static str {
    match mode & fs::S_IFMT {
        fs::S_IFREG if size == 0 => "regular empty file",
        fs::S_IFREG => "regular file",
        fs::S_IFDIR => "directory",
        fs::S_IFLNK => "symbolic link",
        fs::S_IFCHR => "character special file",
        fs::S_IFBLK => "block special file",
        fs::S_IFIFO => "fifo",
        fs::S_IFSOCK => "socket",
        _ => "weird file",
    }
}

/// The unit sizes are shown in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Multiples of this many bytes, rounded up, with this suffix.
    Blocks(u64, &'static str),
    /// 1.5K, 23M: powers of 1,024 (or 1,000 when set), rounded up.
    Human {
        /// Powers of 1,000?
        si: bool,
    },
}

impl Unit {
    /// A size of `bytes` in this unit.
    pub fn show(self, bytes: u64) -> String {
        match self {
            Unit::Blocks(unit, suffix) => format!("{}{suffix}", bytes.div_ceil(unit)),
            Unit::Human { si } => human(bytes, if si { 1000 } else { 1024 }),
        }
    }

    /// Reads `--block-size`'s argument: `human-readable`, `si`, `K`, `1K`, `MB`, `512`; a size without a number shows
    /// its suffix behind each figure.
    pub fn parse(text: &str) -> Option<Unit> {
        match text {
            "human-readable" => return Some(Unit::Human { si: false }),
            "si" => return Some(Unit::Human { si: true }),
            _ => {}
        }
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, suffix) = text.split_at(digits);
        let count: u64 = if number.is_empty() { 1 } else { number.parse().ok()? };
        let factor = multiplier(suffix)?;
        let shown = if number.is_empty() { shown_suffix(suffix) } else { "" };
        let unit = count.checked_mul(factor)?;
        (unit > 0).then_some(Unit::Blocks(unit, shown))
    }
}

const SUFFIXES: [&str; 6] = ["K", "M", "G", "T", "P", "E"];

fn shown_suffix(suffix: &str) -> &'static str {
    let all: [&'static str; 18] =
        ["K", "M", "G", "T", "P", "E", "kB", "MB", "GB", "TB", "PB", "EB", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let wanted = match suffix {
        "k" => "K",
        "KB" => "kB",
        other => other,
    };
    all.into_iter().find(|s| *s == wanted).unwrap_or("")
}

/// The factor of a size suffix: "", K, KiB (1,024), kB, KB (1,000), … E.
pub fn multiplier(suffix: &str) -> Option<u64> {
    if suffix.is_empty() || suffix == "B" {
        return Some(1);
    }
    let first = suffix.get(..1)?;
    let power = SUFFIXES.iter().position(|s| s.eq_ignore_ascii_case(first))? as u32 + 1;
    match &suffix[1..] {
        "" | "iB" => 1024u64.checked_pow(power),
        "B" => 1000u64.checked_pow(power),
        _ => None,
    }
}

/// 1023 → "1023", 1024 → "1.0K", 10240 → "10K": rounded up, one decimal below ten.
fn human(bytes: u64, base: u64) -> String {
    if bytes < base {
        return bytes.to_string();
    }
    let mut power = 0;
    let mut unit = 1u64;
    while power < SUFFIXES.len() && bytes / unit >= base {
        unit = unit.saturating_mul(base);
        power += 1;
    }
    let (bytes, unit) = (u128::from(bytes), u128::from(unit));
    let tenths = (bytes * 10).div_ceil(unit);
    let suffix = |p: usize| if base == 1000 && p == 1 { "k" } else { SUFFIXES[p - 1] };
    if tenths < 100 {
        return format!("{}.{}{}", tenths / 10, tenths % 10, suffix(power));
    }
    let whole = bytes.div_ceil(unit);
    if whole >= u128::from(base) && power < SUFFIXES.len() {
        return format!("1.0{}", suffix(power + 1));
    }
    format!("{whole}{}", suffix(power))
}
