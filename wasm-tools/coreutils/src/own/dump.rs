//! `xxd` and `hexdump`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use super::opts::{Spec, Takes};
use super::simple::read_input;
use super::{output_failed, say_bytes};

/// "0x1f", "017", "31": a number as C writes it.
fn c_number(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let value = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        i64::from_str_radix(hex, 16).ok()?
    } else if digits.len() > 1 && digits.starts_with('0') {
        i64::from_str_radix(&digits[1..], 8).ok()?
    } else {
        digits.parse().ok()?
    };
    Some(sign * value)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Hex,
    Bits,
    Plain,
    Include,
    LittleEndian,
}

struct Xxd {
    style: Style,
    columns: Option<usize>,
    group: Option<usize>,
    upper: bool,
    upper_words: bool,
    autoskip: bool,
    decimal: bool,
    reverse: bool,
    length: Option<u64>,
    seek: Option<String>,
    offset: i64,
    name: Option<String>,
}

/// `xxd`. Its options are its own: single dash, long or short, with the argument attached or next.
pub fn xxd(_: &str, args: Vec<OsString>) -> i32 {
    let mut job = Xxd {
        style: Style::Hex,
        columns: None,
        group: None,
        upper: false,
        upper_words: false,
        autoskip: false,
        decimal: false,
        reverse: false,
        length: None,
        seek: None,
        offset: 0,
        name: None,
    };
    let files = match job.options(args) {
        Ok(files) => files,
        Err(status) => return status,
    };
    match job.run(&files) {
        Ok(()) => 0,
        Err(message) => {
            eprintln!("xxd: {message}");
            2
        }
    }
}

impl Xxd {
    fn options(&mut self, args: Vec<OsString>) -> Result<Vec<OsString>, i32> {
        let mut args = args.into_iter().peekable();
        let mut files = Vec::new();
        let usage = |bad: &str| {
            if !bad.is_empty() {
                eprintln!("xxd: invalid option or argument: {bad}");
            }
            eprintln!(
                "Usage: xxd [options] [infile [outfile]]\n   or  xxd -r [-s [-]offset] [-c cols] [-ps] [infile [outfile]]"
            );
            1
        };
        while let Some(arg) = args.next() {
            let text = arg.to_string_lossy().into_owned();
            if !text.starts_with('-') || text == "-" || !files.is_empty() {
                files.push(arg);
                continue;
            }
            if text == "--" {
                files.extend(args);
                break;
            }
            let word = text.trim_start_matches('-');
            let flag = match word {
                "a" | "autoskip" => Some('a'),
                "b" | "bits" => Some('b'),
                "C" | "capitalize" => Some('C'),
                "d" => Some('d'),
                "e" => Some('e'),
                "E" | "EBCDIC" => None,
                "i" | "include" => Some('i'),
                "p" | "ps" | "postscript" | "plain" => Some('p'),
                "r" | "revert" => Some('r'),
                "u" | "uppercase" => Some('u'),
                "h" | "help" => {
                    usage("");
                    return Err(0);
                }
                "v" | "version" => {
                    say_bytes(concat!("xxd (wskill coreutils) ", env!("CARGO_PKG_VERSION"), "\n").as_bytes());
                    return Err(0);
                }
                _ => None,
            };
            match flag {
                Some('a') => self.autoskip = !self.autoskip,
                Some('b') => self.style = Style::Bits,
                Some('C') => self.upper_words = true,
                Some('d') => self.decimal = true,
                Some('e') => self.style = Style::LittleEndian,
                Some('i') => self.style = Style::Include,
                Some('p') => self.style = Style::Plain,
                Some('r') => self.reverse = true,
                Some(_) => self.upper = true,
                None => {
                    let (letter, attached) = split_word(word);
                    let value = match attached {
                        Some(value) => value,
                        None => args.next().map(|v| v.to_string_lossy().into_owned()).ok_or_else(|| usage(&text))?,
                    };
                    let number = c_number(&value);
                    let size = number.and_then(|n| usize::try_from(n).ok());
                    match (letter, size, number) {
                        ('c', Some(n), _) => self.columns = Some(n),
                        ('g', Some(n), _) => self.group = Some(n),
                        ('l', _, Some(n)) => self.length = u64::try_from(n).ok(),
                        ('o', _, Some(n)) => self.offset = n,
                        ('s', _, _) => self.seek = Some(value),
                        ('n', _, _) => self.name = Some(value),
                        ('R', _, _) => {}
                        _ => return Err(usage(&text)),
                    }
                }
            }
        }
        Ok(files)
    }

    fn run(&self, files: &[OsString]) -> Result<(), String> {
        let input = files.first().map_or(OsStr::new("-"), OsString::as_os_str);
        let explain = |file: &OsStr, e: &io::Error| format!("{}: {}", file.to_string_lossy(), wskill_sys::message(e));
        let all = self.read(input).map_err(|e| explain(input, &e))?;
        let (data, start) = all;
        if self.reverse {
            return self.revert(&data, files.get(1));
        }
        let mut out = Vec::with_capacity(data.len() * 4);
        match self.style {
            Style::Plain => self.plain(&data, &mut out),
            Style::Include => self.include(&data, input, &mut out),
            _ => self.dump(&data, start, &mut out),
        }
        match files.get(1).filter(|f| *f != "-") {
            Some(file) => std::fs::write(file, &out).map_err(|e| explain(file, &e)),
            None => {
                say_bytes(&out);
                Ok(())
            }
        }
    }

    /// The bytes to show and the offset of the first.
    fn read(&self, input: &OsStr) -> io::Result<(Vec<u8>, i64)> {
        let seek = if self.reverse { None } else { self.seek.as_deref() };
        let mut start = 0;
        let mut source: Box<dyn Read> = if input == "-" {
            Box::new(io::stdin().lock())
        } else {
            let mut file = File::open(input)?;
            if let Some(seek) = seek {
                let number = c_number(seek.trim_start_matches('+')).unwrap_or(0);
                let to = if number < 0 { SeekFrom::End(number) } else { SeekFrom::Start(number.unsigned_abs()) };
                start = i64::try_from(file.seek(to)?).unwrap_or(0);
            }
            Box::new(file)
        };
        if input == "-"
            && let Some(number) =
                seek.and_then(|s| c_number(s.trim_start_matches('+'))).and_then(|n| u64::try_from(n).ok())
        {
            io::copy(&mut source.by_ref().take(number), &mut io::sink())?;
            start = i64::try_from(number).unwrap_or(0);
        }
        let mut data = Vec::new();
        match self.length {
            Some(length) => source.take(length).read_to_end(&mut data)?,
            None => source.read_to_end(&mut data)?,
        };
        Ok((data, start + self.offset))
    }

    fn hex(&self, byte: u8) -> String {
        if self.upper { format!("{byte:02X}") } else { format!("{byte:02x}") }
    }

    fn plain(&self, data: &[u8], out: &mut Vec<u8>) {
        let columns = match self.columns {
            Some(0) => usize::MAX,
            Some(n) => n,
            None => 30,
        };
        for line in data.chunks(columns) {
            for &byte in line {
                out.extend_from_slice(self.hex(byte).as_bytes());
            }
            out.push(b'\n');
        }
    }

    fn include(&self, data: &[u8], input: &OsStr, out: &mut Vec<u8>) {
        let columns = self.columns.filter(|c| *c > 0).unwrap_or(12);
        let name = self.name.clone().or_else(|| (input != "-").then(|| input.to_string_lossy().into_owned()));
        let name = name.map(|name| {
            let mut id: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            if id.starts_with(|c: char| c.is_ascii_digit()) {
                id.insert_str(0, "__");
            }
            if self.upper_words { id.to_ascii_uppercase() } else { id }
        });
        if let Some(name) = &name {
            out.extend_from_slice(format!("unsigned char {name}[] = {{\n").as_bytes());
        }
        let lines: Vec<String> = data
            .chunks(columns)
            .map(|line| {
                let bytes: Vec<String> =
                    line.iter().map(|b| if self.upper { format!("0X{b:02X}") } else { format!("0x{b:02x}") }).collect();
                format!("  {}", bytes.join(", "))
            })
            .collect();
        out.extend_from_slice(lines.join(",\n").as_bytes());
        if !lines.is_empty() {
            out.push(b'\n');
        }
        if let Some(name) = &name {
            let suffix = if self.upper_words { "LEN" } else { "len" };
            out.extend_from_slice(format!("}};\nunsigned int {name}_{suffix} = {};\n", data.len()).as_bytes());
        }
    }

    fn dump(&self, data: &[u8], start: i64, out: &mut Vec<u8>) {
        let bits = self.style == Style::Bits;
        let little = self.style == Style::LittleEndian;
        let columns = self.columns.filter(|c| *c > 0).unwrap_or(if bits { 6 } else { 16 });
        let group = match self.group {
            Some(0) => columns,
            Some(n) => n.min(columns),
            None if bits => 1,
            None if little => 4,
            None => 2,
        };
        let digits = if bits { 8 } else { 2 };
        // Columns of figures: each byte's digits and a blank before every group but the first.
        let width = columns * digits + columns.div_ceil(group) - 1;
        let mut skipped = 0;
        let lines = data.chunks(columns).count();
        for (index, line) in data.chunks(columns).enumerate() {
            let zero = line.iter().all(|b| *b == 0);
            if self.autoskip && zero && index > 0 && index + 1 < lines {
                skipped += 1;
                if skipped == 2 {
                    out.extend_from_slice(b"*\n");
                }
                if skipped >= 2 {
                    continue;
                }
            } else {
                skipped = 0;
            }
            let at = start + (index * columns) as i64;
            let head = if self.decimal { format!("{at:08}: ") } else { format!("{at:08x}: ") };
            let mut figures = String::with_capacity(width);
            for (number, chunk) in line.chunks(group).enumerate() {
                if number > 0 {
                    figures.push(' ');
                }
                if little {
                    figures.push_str(&" ".repeat((group - chunk.len()) * 2));
                    chunk.iter().rev().for_each(|b| figures.push_str(&self.hex(*b)));
                } else if bits {
                    chunk.iter().for_each(|b| figures.push_str(&format!("{b:08b}")));
                } else {
                    chunk.iter().for_each(|b| figures.push_str(&self.hex(*b)));
                }
            }
            let text: String =
                line.iter().map(|b| if (0x20..0x7f).contains(b) { char::from(*b) } else { '.' }).collect();
            out.extend_from_slice(format!("{head}{figures:<width$}  {text}\n").as_bytes());
        }
    }

    /// Bytes from a dump: offsets move within the output, figures end at two blanks.
    fn revert(&self, data: &[u8], output: Option<&OsString>) -> Result<(), String> {
        let text = String::from_utf8_lossy(data);
        let mut out: Vec<u8> = Vec::new();
        if self.style == Style::Plain {
            let mut digits = text.chars().filter_map(|c| c.to_digit(16));
            while let (Some(high), Some(low)) = (digits.next(), digits.next()) {
                out.push((high << 4 | low) as u8);
            }
        } else {
            let base = self.seek.as_deref().and_then(c_number).unwrap_or(0);
            for line in text.lines() {
                let Some((offset, rest)) = line.split_once(':') else { continue };
                let radix = if self.decimal { 10 } else { 16 };
                let Ok(offset) = i64::from_str_radix(offset.trim(), radix) else { continue };
                let Ok(at) = usize::try_from(offset + base) else { continue };
                // A dump cannot ask for more than the memory there is.
                if at > out.len() + (1 << 28) {
                    return Err("sorry, cannot seek that far".into());
                }
                let figures = rest.strip_prefix(' ').unwrap_or(rest);
                let figures = figures.split("  ").next().unwrap_or_default();
                let bytes = self.figures(figures);
                if out.len() < at {
                    out.resize(at, 0);
                }
                out.truncate(out.len().max(at));
                let overlap = (out.len() - at).min(bytes.len());
                out[at..at + overlap].copy_from_slice(&bytes[..overlap]);
                out.extend_from_slice(&bytes[overlap..]);
            }
        }
        match output.filter(|f| *f != "-") {
            Some(file) => std::fs::write(file, &out).map_err(|e| wskill_sys::message(&e)),
            None => {
                if let Err(e) = io::stdout().lock().write_all(&out) {
                    output_failed(&e);
                }
                Ok(())
            }
        }
    }

    fn figures(&self, text: &str) -> Vec<u8> {
        let (radix, digits) = if self.style == Style::Bits { (2, 8) } else { (16, 2) };
        let columns = self.columns.filter(|c| *c > 0).unwrap_or(if radix == 2 { 6 } else { 16 });
        let all: Vec<u32> = text.chars().map_while(|c| if c == ' ' { Some(99) } else { c.to_digit(radix) }).collect();
        let all: Vec<u32> = all.into_iter().filter(|d| *d != 99).collect();
        all.chunks_exact(digits)
            .take(columns)
            .map(|byte| byte.iter().fold(0u32, |value, digit| value * radix + digit) as u8)
            .collect()
    }
}

/// "c16" → ('c', Some("16")), "cols" → ('c', None), "seek" → ('s', None).
fn split_word(word: &str) -> (char, Option<String>) {
    let letter = match word.chars().next() {
        Some(c) => c,
        None => return ('?', None),
    };
    let long = ["cols", "group", "groupsize", "len", "seek", "skip", "offset", "name"];
    let rest = &word[letter.len_utf8()..];
    if rest.is_empty() || long.contains(&word) { (letter, None) } else { (letter, Some(rest.to_owned())) }
}

const HEXDUMP: Spec = Spec {
    name: "hexdump",
    usage: "hexdump [options] <file>...",
    short: "bcCdon:s:vx",
    long: &[
        ("canonical", Takes::No, 'C'),
        ("length", Takes::Arg, 'n'),
        ("skip", Takes::Arg, 's'),
        ("no-squeezing", Takes::No, 'v'),
        ("one-byte-octal", Takes::No, 'b'),
        ("one-byte-char", Takes::No, 'c'),
        ("two-bytes-decimal", Takes::No, 'd'),
        ("two-bytes-octal", Takes::No, 'o'),
        ("two-bytes-hex", Takes::No, 'x'),
    ],
    failure: 1,
};

/// `hexdump` with its built-in formats; `-e` and `-f` are not there.
pub fn hexdump(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match HEXDUMP.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let (mut format, mut squeeze, mut length, mut skip) = (' ', true, None, 0u64);
    for (option, value) in parsed.options {
        let number = || multiple(&value.to_string_lossy());
        match option {
            'n' => length = number(),
            's' => skip = number().unwrap_or(0),
            'v' => squeeze = false,
            other => format = other,
        }
    }
    let files = if parsed.operands.is_empty() { vec!["-".into()] } else { parsed.operands };
    let mut data = Vec::new();
    let mut status = 0;
    for file in &files {
        match read_input(file) {
            Ok(bytes) => data.extend(bytes),
            Err(e) => {
                eprintln!("hexdump: {}: {}", file.to_string_lossy(), wskill_sys::message(&e));
                status = 1;
            }
        }
    }
    let start = usize::try_from(skip).unwrap_or(usize::MAX).min(data.len());
    let end = length.and_then(|n| usize::try_from(n).ok()).map_or(data.len(), |n| (start + n).min(data.len()));
    let data = &data[start..end];
    let mut out = Vec::new();
    let offset = |at: usize| if format == 'C' { format!("{at:08x}") } else { format!("{at:07x}") };
    let mut repeated = false;
    for (index, line) in data.chunks(16).enumerate() {
        if squeeze && index > 0 && line.len() == 16 && *line == data[(index - 1) * 16..index * 16] {
            if !repeated {
                out.extend_from_slice(b"*\n");
            }
            repeated = true;
            continue;
        }
        repeated = false;
        out.extend_from_slice(offset(start + index * 16).as_bytes());
        out.extend_from_slice(figures(line, format).as_bytes());
        out.push(b'\n');
    }
    if !data.is_empty() {
        out.extend_from_slice(offset(start + data.len()).as_bytes());
        out.push(b'\n');
    }
    say_bytes(&out);
    status
}

/// A number with `k`, `m` or `b` (512) behind it.
fn multiple(text: &str) -> Option<u64> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 1024),
        b'm' => (&text[..text.len() - 1], 1 << 20),
        b'b' if !text.starts_with("0x") => (&text[..text.len() - 1], 512),
        _ => (text, 1),
    };
    c_number(digits).and_then(|n| u64::try_from(n).ok())?.checked_mul(factor)
}

fn figures(line: &[u8], format: char) -> String {
    let mut out = String::new();
    let words = || line.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
    match format {
        'C' => {
            for at in 0..16 {
                if at % 8 == 0 {
                    out.push(' ');
                }
                match line.get(at) {
                    Some(b) => out.push_str(&format!(" {b:02x}")),
                    None => out.push_str("   "),
                }
            }
            let text: String =
                line.iter().map(|b| if (0x20..0x7f).contains(b) { char::from(*b) } else { '.' }).collect();
            out.push_str(&format!("  |{text}|"));
        }
        'b' => line.iter().for_each(|b| out.push_str(&format!(" {b:03o}"))),
        'c' => {
            for &b in line {
                let shown = match b {
                    0 => "\\0".into(),
                    7 => "\\a".into(),
                    8 => "\\b".into(),
                    9 => "\\t".into(),
                    10 => "\\n".into(),
                    11 => "\\v".into(),
                    12 => "\\f".into(),
                    13 => "\\r".into(),
                    0x20..0x7f => char::from(b).to_string(),
                    _ => format!("{b:03o}"),
                };
                out.push_str(&format!(" {shown:>3}"));
            }
        }
        'd' => words().for_each(|w| out.push_str(&format!("   {w:05}"))),
        'o' => words().for_each(|w| out.push_str(&format!("  {w:06o}"))),
        'x' => words().for_each(|w| out.push_str(&format!("    {w:04x}"))),
        _ => words().for_each(|w| out.push_str(&format!(" {w:04x}"))),
    }
    // Short lines are filled up to the width of a full one, as the built-in formats do.
    let full = match format {
        'C' => 0,
        'b' | 'c' => 64,
        'd' | 'o' | 'x' => 64,
        _ => 40,
    };
    format!("{out:<full$}")
}
