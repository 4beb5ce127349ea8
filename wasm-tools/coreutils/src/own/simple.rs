//! Small commands whose start is most of their run: `true`, `false`, `echo`, `cat`, `pwd`, `basename`, `dirname`,
//! `sleep`; and `rev`, `tac`.
//!
//! Decision: uutils has all but `rev` and builds them for WASI, but spends ten times the run of an `echo` on its
//! message files and its option parser.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::wasi::ffi::OsStrExt;

use wskill_sys::{Errno, fd, fs};

use super::buffer::buffer;
use super::opts::{Spec, Takes};
use super::system::complain;
use super::text::quote;
use super::{output_failed, say_bytes};

/// `true`.
pub fn works(_: &str, _: Vec<OsString>) -> i32 {
    0
}

/// `false`.
pub fn fails(_: &str, _: Vec<OsString>) -> i32 {
    1
}

/// `echo`.
pub fn echo(_: &str, args: Vec<OsString>) -> i32 {
    let posix = std::env::var_os("POSIXLY_CORRECT").is_some();
    let (mut newline, mut escapes) = (true, posix);
    let mut words = &args[..];
    while let Some(first) = words.first() {
        let bytes = first.as_bytes();
        let is_option = bytes.len() > 1 && bytes[0] == b'-' && bytes[1..].iter().all(|c| b"neE".contains(c));
        if !is_option || (posix && (words.len() != args.len() || bytes != b"-n")) {
            break;
        }
        for c in &bytes[1..] {
            match c {
                b'n' => newline = false,
                c => escapes = *c == b'e',
            }
        }
        words = &words[1..];
    }
    let mut out = Vec::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        if !escapes {
            out.extend_from_slice(word.as_bytes());
        } else if !unescape(word.as_bytes(), &mut out) {
            say_bytes(&out);
            return 0;
        }
    }
    if newline {
        out.push(b'\n');
    }
    say_bytes(&out);
    0
}

/// Writes a word with its escapes read; `false` at `\c`, which ends all output.
fn unescape(text: &[u8], out: &mut Vec<u8>) -> bool {
    let mut at = 0;
    let digits = |from: usize, most: usize, base: u32| {
        let mut value = 0u32;
        let mut count = 0;
        while count < most
            && let Some(digit) = text.get(from + count).and_then(|c| char::from(*c).to_digit(base))
        {
            value = value * base + digit;
            count += 1;
        }
        (value as u8, count)
    };
    while at < text.len() {
        if text[at] != b'\\' || at + 1 == text.len() {
            out.push(text[at]);
            at += 1;
            continue;
        }
        let c = text[at + 1];
        at += 2;
        match c {
            b'\\' => out.push(b'\\'),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'c' => return false,
            b'e' => out.push(27),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'0' => {
                let (value, count) = digits(at, 3, 8);
                out.push(value);
                at += count;
            }
            b'1'..=b'7' => {
                let (value, count) = digits(at - 1, 3, 8);
                out.push(value);
                at += count - 1;
            }
            b'x' => match digits(at, 2, 16) {
                (_, 0) => out.extend_from_slice(b"\\x"),
                (value, count) => {
                    out.push(value);
                    at += count;
                }
            },
            other => out.extend_from_slice(&[b'\\', other]),
        }
    }
    true
}

const PWD: Spec = Spec {
    name: "pwd",
    usage: "pwd [OPTION]...",
    short: "LP",
    long: &[("logical", Takes::No, 'L'), ("physical", Takes::No, 'P')],
    failure: 1,
};

/// `pwd`.
pub fn pwd(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match PWD.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let posix = std::env::var_os("POSIXLY_CORRECT").is_some();
    let logical = parsed.options.last().map_or(posix, |(o, _)| *o == 'L');
    let named = std::env::var_os("PWD").filter(|dir| {
        let dots = dir.as_bytes().split(|&b| b == b'/').any(|part| part == b"." || part == b"..");
        logical
            && dir.as_bytes().starts_with(b"/")
            && !dots
            && matches!((fs::stat(dir), fs::stat(".")), (Ok(a), Ok(b)) if a.same_file(&b))
    });
    let dir = match named.map_or_else(|| fs::getcwd().map(OsString::from), Ok) {
        Ok(dir) => dir,
        Err(e) => {
            eprintln!("pwd: {e}");
            return 1;
        }
    };
    let mut line = dir.as_bytes().to_vec();
    line.push(b'\n');
    say_bytes(&line);
    0
}

/// A path without trailing slashes and everything up to its last other slash.
fn base(path: &[u8]) -> &[u8] {
    let Some(end) = path.iter().rposition(|&b| b != b'/') else {
        return if path.is_empty() { path } else { b"/" };
    };
    let start = path[..end].iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
    &path[start..=end]
}

const BASENAME: Spec = Spec {
    name: "basename",
    usage: "basename NAME [SUFFIX]\n  or:  basename OPTION... NAME...",
    short: "+as:z",
    long: &[("multiple", Takes::No, 'a'), ("suffix", Takes::Arg, 's'), ("zero", Takes::No, 'z')],
    failure: 1,
};

/// `basename`.
pub fn basename(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match BASENAME.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let (mut multiple, mut suffix, mut end) = (false, OsString::new(), b'\n');
    for (option, value) in parsed.options {
        match option {
            'a' => multiple = true,
            's' => (multiple, suffix) = (true, value),
            _ => end = 0,
        }
    }
    let mut names = parsed.operands;
    if names.is_empty() {
        return BASENAME.missing_operand();
    }
    if !multiple {
        if let Some(extra) = names.get(2) {
            return BASENAME.extra_operand(extra);
        }
        if names.len() == 2 {
            suffix = names.pop().unwrap_or_default();
        }
    }
    let mut out = Vec::new();
    for name in &names {
        let base = base(name.as_bytes());
        let cut = base.strip_suffix(suffix.as_bytes()).filter(|rest| !rest.is_empty()).unwrap_or(base);
        out.extend_from_slice(cut);
        out.push(end);
    }
    say_bytes(&out);
    0
}

const DIRNAME: Spec = Spec {
    name: "dirname",
    usage: "dirname [OPTION] NAME...",
    short: "z",
    long: &[("zero", Takes::No, 'z')],
    failure: 1,
};

/// `dirname`.
pub fn dirname(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match DIRNAME.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    if parsed.operands.is_empty() {
        return DIRNAME.missing_operand();
    }
    let end = if parsed.options.is_empty() { b'\n' } else { 0 };
    let mut out = Vec::new();
    for name in &parsed.operands {
        let path = name.as_bytes();
        let trimmed = path.iter().rposition(|&b| b != b'/').map_or(&path[..0], |at| &path[..=at]);
        let dir = match trimmed.iter().rposition(|&b| b == b'/') {
            Some(at) => match path[..at].iter().rposition(|&b| b != b'/') {
                Some(end) => &path[..=end],
                None => b"/",
            },
            None if trimmed.is_empty() && !path.is_empty() => b"/",
            None => b".",
        };
        out.extend_from_slice(dir);
        out.push(end);
    }
    say_bytes(&out);
    0
}

const SLEEP: Spec = Spec { name: "sleep", usage: "sleep NUMBER[SUFFIX]...", short: "+", long: &[], failure: 1 };

/// `sleep`.
pub fn sleep(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match SLEEP.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    if parsed.operands.is_empty() {
        return SLEEP.missing_operand();
    }
    let mut total = std::time::Duration::ZERO;
    let mut ok = true;
    for operand in &parsed.operands {
        match super::run::duration(&operand.to_string_lossy()) {
            Some(time) => total = total.saturating_add(time),
            None => {
                eprintln!("sleep: invalid time interval {}", quote(operand));
                ok = false;
            }
        }
    }
    if !ok {
        return SLEEP.try_help();
    }
    let until = std::time::Instant::now() + total;
    while let Some(left) = until.checked_duration_since(std::time::Instant::now()).filter(|left| !left.is_zero()) {
        match fd::sleep(left) {
            Ok(()) | Err(Errno::EINTR) => {}
            Err(e) => {
                eprintln!("sleep: cannot read realtime clock: {e}");
                return 1;
            }
        }
    }
    0
}

const CAT: Spec = Spec {
    name: "cat",
    usage: "cat [OPTION]... [FILE]...",
    short: "AbeEnstTuv",
    long: &[
        ("show-all", Takes::No, 'A'),
        ("number-nonblank", Takes::No, 'b'),
        ("show-ends", Takes::No, 'E'),
        ("number", Takes::No, 'n'),
        ("squeeze-blank", Takes::No, 's'),
        ("show-tabs", Takes::No, 'T'),
        ("show-nonprinting", Takes::No, 'v'),
    ],
    failure: 1,
};

#[derive(Default)]
struct Cat {
    number: bool,
    number_nonblank: bool,
    ends: bool,
    tabs: bool,
    nonprinting: bool,
    squeeze: bool,
    line: u64,
    blank: bool,
    /// The next byte begins a line.
    mid_line: bool,
    /// A carriage return that may turn out to end its line.
    pending_cr: bool,
}

/// `cat`.
pub fn cat(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match CAT.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let mut job = Cat::default();
    for (option, _) in parsed.options {
        match option {
            'A' => (job.nonprinting, job.ends, job.tabs) = (true, true, true),
            'b' => job.number_nonblank = true,
            'e' => (job.nonprinting, job.ends) = (true, true),
            'E' => job.ends = true,
            'n' => job.number = true,
            's' => job.squeeze = true,
            't' => (job.nonprinting, job.tabs) = (true, true),
            'T' => job.tabs = true,
            'v' => job.nonprinting = true,
            _ => {}
        }
    }
    let plain = !(job.number || job.number_nonblank || job.ends || job.tabs || job.nonprinting || job.squeeze);
    let files = if parsed.operands.is_empty() { vec!["-".into()] } else { parsed.operands };
    let output = fs::fstat(1).ok().filter(fs::Stat::is_file);
    let mut buf = buffer();
    let mut status = 0;
    for file in &files {
        let opened;
        let number = if file == "-" {
            0
        } else {
            match File::open(file) {
                Ok(f) => opened = f,
                Err(e) => {
                    complain("cat", file, &e);
                    status = 1;
                    continue;
                }
            }
            std::os::fd::AsRawFd::as_raw_fd(&opened)
        };
        let st = fs::fstat(number).ok();
        if st.is_some_and(|st| st.is_dir()) {
            complain("cat", file, &Errno::EISDIR.into());
            status = 1;
            continue;
        }
        // Reading what is being written would never end.
        if let (Some(st), Some(out)) = (&st, &output)
            && st.same_file(out)
            && st.size > 0
            && fd::status_flags(1).is_ok_and(|flags| flags & fs::O_APPEND != 0)
        {
            eprintln!("cat: {}: input file is output file", super::text::in_message(file));
            status = 1;
            continue;
        }
        loop {
            let n = match fd::read(number, &mut buf[..]) {
                Ok(0) => break,
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => {
                    complain("cat", file, &e);
                    status = 1;
                    break;
                }
            };
            let written = if plain {
                fd::write_all(1, &buf[..n])
            } else {
                let mut out = Vec::with_capacity(n * 2);
                job.decorate(&buf[..n], &mut out);
                fd::write_all(1, &out)
            };
            if let Err(e) = written {
                output_failed(&e);
                return 1;
            }
        }
    }
    if job.pending_cr {
        say_bytes(if job.nonprinting { b"^M" } else { b"\r" });
    }
    status
}

impl Cat {
    fn decorate(&mut self, input: &[u8], out: &mut Vec<u8>) {
        for &c in input {
            if self.pending_cr {
                self.pending_cr = false;
                if c == b'\n' && self.ends {
                    out.extend_from_slice(b"^M");
                } else {
                    out.push(b'\r');
                }
            }
            if !self.mid_line {
                if c == b'\n' && self.squeeze && self.blank {
                    continue;
                }
                self.blank = c == b'\n';
                if (self.number_nonblank && c != b'\n') || (self.number && !self.number_nonblank) {
                    self.line += 1;
                    let _ = write!(out, "{:>6}\t", self.line);
                }
                self.mid_line = true;
            }
            match c {
                b'\n' => {
                    if self.ends {
                        out.push(b'$');
                    }
                    out.push(b'\n');
                    self.mid_line = false;
                }
                b'\t' if self.tabs => out.extend_from_slice(b"^I"),
                b'\t' => out.push(b'\t'),
                b'\r' if self.ends && !self.nonprinting => self.pending_cr = true,
                c if self.nonprinting => visible(c, out),
                c => out.push(c),
            }
        }
    }
}

/// `^X` and `M-x`.
fn visible(c: u8, out: &mut Vec<u8>) {
    let low = if c >= 0x80 {
        out.extend_from_slice(b"M-");
        c - 0x80
    } else {
        c
    };
    match low {
        0..0x20 => out.extend_from_slice(&[b'^', low + 64]),
        0x7f => out.extend_from_slice(b"^?"),
        _ => out.push(low),
    }
}

/// Reads a named file, or standard input for "-".
pub fn read_input(file: &OsStr) -> io::Result<Vec<u8>> {
    if file == "-" {
        let mut all = Vec::new();
        io::stdin().lock().read_to_end(&mut all)?;
        return Ok(all);
    }
    if std::fs::metadata(file)?.is_dir() {
        return Err(Errno::EISDIR.into());
    }
    std::fs::read(file)
}

const REV: Spec = Spec {
    name: "rev",
    usage: "rev [OPTION]... [FILE]...",
    short: "0V",
    long: &[("zero", Takes::No, '0')],
    failure: 1,
};

/// `rev`: the characters of each line from the last to the first.
pub fn rev(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match REV.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let end = if parsed.options.iter().any(|(o, _)| *o == '0') { 0 } else { b'\n' };
    let files = if parsed.operands.is_empty() { vec!["-".into()] } else { parsed.operands };
    let mut status = 0;
    for file in &files {
        let all = match read_input(file) {
            Ok(all) => all,
            Err(e) => {
                eprintln!("rev: cannot open {}: {}", file.to_string_lossy(), wskill_sys::message(&e));
                status = 1;
                continue;
            }
        };
        let mut out = Vec::with_capacity(all.len());
        for line in all.split_inclusive(|&b| b == end) {
            let (body, ended) = line.strip_suffix(&[end]).map_or((line, false), |body| (body, true));
            let mut rest = body;
            while let Some(last) = rest.last() {
                // Back over the continuation bytes of one character.
                let mut start = rest.len() - 1;
                while start > 0 && rest.len() - start < 4 && last & 0xc0 == 0x80 && rest[start] & 0xc0 == 0x80 {
                    start -= 1;
                }
                let start = if std::str::from_utf8(&rest[start..]).is_ok() { start } else { rest.len() - 1 };
                out.extend_from_slice(&rest[start..]);
                rest = &rest[..start];
            }
            if ended {
                out.push(end);
            }
        }
        say_bytes(&out);
    }
    status
}

const TAC: Spec = Spec {
    name: "tac",
    usage: "tac [OPTION]... [FILE]...",
    short: "brs:",
    long: &[("before", Takes::No, 'b'), ("regex", Takes::No, 'r'), ("separator", Takes::Arg, 's')],
    failure: 1,
};

/// `tac`.
pub fn tac(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match TAC.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let (mut before, mut regex, mut separator) = (false, false, OsString::from("\n"));
    for (option, value) in parsed.options {
        match option {
            'b' => before = true,
            'r' => regex = true,
            _ => separator = value,
        }
    }
    if regex {
        eprintln!("tac: regular expressions as separators are not there");
        return 1;
    }
    if separator.is_empty() {
        // As GNU's: an empty one is a NUL.
        separator = "\0".into();
    }
    let files = if parsed.operands.is_empty() { vec!["-".into()] } else { parsed.operands };
    let mut status = 0;
    for file in &files {
        let all = match read_input(file) {
            Ok(all) => all,
            Err(e) => {
                let reason = wskill_sys::message(&e);
                if e.raw_os_error() == Some(Errno::EISDIR.0) {
                    eprintln!("tac: {}: read error: {reason}", super::text::in_message(file));
                } else {
                    eprintln!("tac: failed to open {} for reading: {reason}", quote(file));
                }
                status = 1;
                continue;
            }
        };
        let mut out = Vec::with_capacity(all.len());
        let mut end = all.len();
        let mark = separator.as_bytes();
        let mut at = all.len();
        while at >= mark.len() {
            let start = at - mark.len();
            if all[start..at] == *mark {
                let cut = if before { start } else { at };
                out.extend_from_slice(&all[cut..end]);
                end = cut;
                at = start;
            } else {
                at -= 1;
            }
        }
        out.extend_from_slice(&all[..end]);
        say_bytes(&out);
    }
    status
}
