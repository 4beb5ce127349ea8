//! `sort`, whole: uutils' starts threads for `-c`, `-m` and large inputs, which the sandbox has not.
//!
//! Everything is sorted in memory, within the process's limit; `-S`, `-T` and `--parallel` are accepted and change
//! nothing.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::os::wasi::ffi::OsStrExt;

use super::listing::version_cmp;
use super::opts::{Spec, Takes};
use super::say_bytes;
use super::simple::read_input;
use super::text::{in_message, quote};

const SORT: Spec = Spec {
    name: "sort",
    usage: "sort [OPTION]... [FILE]...\n  or:  sort [OPTION]... --files0-from=F",
    short: "bcCdfghik:mMno:rRsS:t:T:uVz",
    long: &[
        ("batch-size", Takes::Arg, '\x01'),
        ("buffer-size", Takes::Arg, 'S'),
        ("check", Takes::Maybe, '\x02'),
        ("compress-program", Takes::Arg, '\x01'),
        ("debug", Takes::No, '\x03'),
        ("dictionary-order", Takes::No, 'd'),
        ("field-separator", Takes::Arg, 't'),
        ("files0-from", Takes::Arg, '\x04'),
        ("general-numeric-sort", Takes::No, 'g'),
        ("human-numeric-sort", Takes::No, 'h'),
        ("ignore-case", Takes::No, 'f'),
        ("ignore-leading-blanks", Takes::No, 'b'),
        ("ignore-nonprinting", Takes::No, 'i'),
        ("key", Takes::Arg, 'k'),
        ("merge", Takes::No, 'm'),
        ("month-sort", Takes::No, 'M'),
        ("numeric-sort", Takes::No, 'n'),
        ("output", Takes::Arg, 'o'),
        ("parallel", Takes::Arg, '\x01'),
        ("random-sort", Takes::No, 'R'),
        ("random-source", Takes::Arg, '\x01'),
        ("reverse", Takes::No, 'r'),
        ("sort", Takes::Arg, '\x05'),
        ("stable", Takes::No, 's'),
        ("temporary-directory", Takes::Arg, 'T'),
        ("unique", Takes::No, 'u'),
        ("version-sort", Takes::No, 'V'),
        ("zero-terminated", Takes::No, 'z'),
    ],
    failure: 2,
};

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Order {
    #[default]
    Bytes,
    Numeric,
    General,
    Human,
    Month,
    Random,
    Version,
}

/// The letters that can stand alone or behind a key.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Flags {
    order: Order,
    reverse: bool,
    fold: bool,
    dictionary: bool,
    printable: bool,
    blanks_start: bool,
    blanks_end: bool,
}

impl Flags {
    /// Takes a letter in; `false` when it is none of ours.
    fn letter(&mut self, letter: char, at_end: bool) -> bool {
        match letter {
            'b' if at_end => self.blanks_end = true,
            'b' => self.blanks_start = true,
            'd' => self.dictionary = true,
            'f' => self.fold = true,
            'g' => self.order = Order::General,
            'h' => self.order = Order::Human,
            'i' => self.printable = true,
            'M' => self.order = Order::Month,
            'n' => self.order = Order::Numeric,
            'r' => self.reverse = true,
            'R' => self.order = Order::Random,
            'V' => self.order = Order::Version,
            _ => return false,
        }
        true
    }
}

/// `-k F[.C][OPTS][,F[.C][OPTS]]`; numbers count from 1, `end` 0 is the end of the line, `end_char` 0 of the field.
struct Key {
    start: usize,
    start_char: usize,
    end: usize,
    end_char: usize,
    flags: Flags,
}

struct Sort {
    keys: Vec<Key>,
    global: Flags,
    separator: Option<u8>,
    stable: bool,
    unique: bool,
    seed: RandomState,
}

fn usage(message: std::fmt::Arguments<'_>) -> i32 {
    eprintln!("sort: {message}");
    2
}

fn parse_key(value: &OsStr) -> Result<(Key, bool), i32> {
    let text = value.to_string_lossy();
    let bad = |why: &str| usage(format_args!("{why}: invalid field specification {}", quote(value)));
    let number = |text: &mut &str| -> Option<usize> {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, rest) = text.split_at(digits);
        *text = rest;
        // What is too large is larger than any line.
        (digits > 0).then(|| number.parse().unwrap_or(usize::MAX))
    };
    let mut flags = Flags::default();
    let mut rest = &*text;
    let Some(start) = number(&mut rest) else {
        return Err(usage(format_args!("invalid number at field start: invalid count at start of {}", quote(value))));
    };
    if start == 0 {
        return Err(bad("field number is zero"));
    }
    let mut start_char = 1;
    if let Some(more) = rest.strip_prefix('.') {
        rest = more;
        match number(&mut rest) {
            Some(0) => return Err(bad("character offset is zero")),
            Some(n) => start_char = n,
            None => return Err(bad("invalid number after '.'")),
        }
    }
    let mut own = false;
    let mut letters = |rest: &mut &str, at_end: bool| {
        while let Some(c) = rest.chars().next().filter(|c| flags.letter(*c, at_end)) {
            own = true;
            *rest = &rest[c.len_utf8()..];
        }
    };
    letters(&mut rest, false);
    let (mut end, mut end_char) = (0, 0);
    if let Some(more) = rest.strip_prefix(',') {
        rest = more;
        match number(&mut rest) {
            Some(0) => return Err(bad("field number is zero")),
            Some(n) => end = n,
            None => return Err(bad("invalid number after ','")),
        }
        if let Some(more) = rest.strip_prefix('.') {
            rest = more;
            match number(&mut rest) {
                Some(n) => end_char = n,
                None => return Err(bad("invalid number after '.'")),
            }
        }
        letters(&mut rest, true);
    }
    if !rest.is_empty() {
        return Err(bad("stray character in field spec"));
    }
    Ok((Key { start, start_char, end, end_char, flags }, own))
}

/// `sort`.
pub fn sort(_: &str, args: Vec<OsString>) -> i32 {
    run(args).unwrap_or_else(|status| status)
}

fn run(args: Vec<OsString>) -> Result<i32, i32> {
    let parsed = SORT.parse(args)?;
    let mut job = Sort {
        keys: Vec::new(),
        global: Flags::default(),
        separator: None,
        stable: false,
        unique: false,
        seed: RandomState::new(),
    };
    let (mut check, mut merge, mut output, mut end, mut list) = (None, false, None, b'\n', None);
    let mut keys = Vec::new();
    for (option, value) in parsed.options {
        match option {
            'c' => check = Some(true),
            'C' => check = Some(false),
            '\x02' => {
                let words = ["", "diagnose-first", "quiet", "silent"];
                check = Some(matches!(SORT.choice("--check", &value, &words)?, "" | "diagnose-first"));
            }
            'k' => keys.push(parse_key(&value)?),
            'm' => merge = true,
            'o' => output = Some(value),
            's' => job.stable = true,
            't' => {
                job.separator = Some(match value.as_bytes() {
                    [byte] => *byte,
                    b"\\0" => 0,
                    [] => return Err(usage(format_args!("empty tab"))),
                    _ => return Err(usage(format_args!("multi-character tab {}", quote(&value)))),
                });
            }
            'u' => job.unique = true,
            'z' => end = 0,
            '\x04' => list = Some(value),
            '\x05' => {
                let words = ["general-numeric", "human-numeric", "month", "numeric", "random", "version"];
                job.global.order = match SORT.choice("--sort", &value, &words)? {
                    "general-numeric" => Order::General,
                    "human-numeric" => Order::Human,
                    "month" => Order::Month,
                    "numeric" => Order::Numeric,
                    "random" => Order::Random,
                    _ => Order::Version,
                };
            }
            'b' => (job.global.blanks_start, job.global.blanks_end) = (true, true),
            letter => {
                job.global.letter(letter, false);
            }
        }
    }
    // A key without letters of its own takes the global ones.
    job.keys = keys.into_iter().map(|(key, own)| if own { key } else { Key { flags: job.global, ..key } }).collect();
    let mut files = parsed.operands;
    if let Some(list) = list {
        if let Some(extra) = files.first() {
            usage(format_args!("extra operand {}", quote(extra)));
            eprintln!("file operands cannot be combined with --files0-from");
            return Err(SORT.try_help());
        }
        let names = read_input(&list)
            .map_err(|e| usage(format_args!("open failed: {}: {}", in_message(&list), wskill_sys::message(&e))))?;
        files = names.split(|&b| b == 0).filter(|n| !n.is_empty()).map(|n| OsStr::from_bytes(n).to_owned()).collect();
    } else if files.is_empty() {
        files.push("-".into());
    }
    if let (Some(_), Some(extra)) = (check, files.get(1)) {
        return Err(usage(format_args!("extra operand {} not allowed with -c", quote(extra))));
    }
    let mut inputs = Vec::new();
    for file in &files {
        let mut text = read_input(file).map_err(|e| {
            let (name, why) = (in_message(file), wskill_sys::message(&e));
            let what =
                if e.raw_os_error() == Some(wskill_sys::Errno::EISDIR.0) { "read failed" } else { "cannot read" };
            usage(format_args!("{what}: {name}: {why}"))
        })?;
        if text.last().is_some_and(|&b| b != end) {
            text.push(end);
        }
        inputs.push(text);
    }
    let mut lines: Vec<&[u8]> = Vec::new();
    let mut bounds = vec![0];
    for text in &inputs {
        lines.extend(text.split_inclusive(|&b| b == end).map(|line| &line[..line.len() - 1]));
        bounds.push(lines.len());
    }
    if let Some(diagnose) = check {
        return Ok(job.check(&lines, &files[0], diagnose));
    }
    let lines = if merge { job.merge(&lines, &bounds) } else { job.sorted(lines) };
    let mut out = Vec::with_capacity(inputs.iter().map(Vec::len).sum());
    for line in lines {
        out.extend_from_slice(line);
        out.push(end);
    }
    let Some(file) = output else {
        say_bytes(&out);
        return Ok(0);
    };
    let written = std::fs::File::create(&file).and_then(|mut file| file.write_all(&out));
    if let Err(e) = written {
        return Err(usage(format_args!("open failed: {}: {}", in_message(&file), wskill_sys::message(&e))));
    }
    Ok(0)
}

impl Sort {
    /// Are equal lines told apart by their bytes?
    fn last_resort(&self) -> bool {
        !self.stable && !self.unique
    }

    fn plain(&self) -> bool {
        self.keys.is_empty() && Flags { reverse: false, ..self.global } == Flags::default()
    }

    fn sorted<'a>(&self, mut lines: Vec<&'a [u8]>) -> Vec<&'a [u8]> {
        if self.plain() {
            if self.global.reverse && self.stable {
                lines.sort_by(|a, b| b.cmp(a));
            } else {
                lines.sort_unstable();
                if self.global.reverse {
                    lines.reverse();
                }
            }
        } else {
            lines.sort_by(|a, b| self.compare(a, b));
        }
        if self.unique {
            lines.dedup_by(|b, a| self.by_keys(a, b).is_eq());
        }
        lines
    }

    fn check(&self, lines: &[&[u8]], file: &OsStr, diagnose: bool) -> i32 {
        let bad = lines.windows(2).position(|pair| match self.compare(pair[0], pair[1]) {
            Ordering::Greater => true,
            Ordering::Equal => self.unique,
            Ordering::Less => false,
        });
        let Some(at) = bad else { return 0 };
        if diagnose {
            let line = String::from_utf8_lossy(lines[at + 1]);
            eprintln!("sort: {}:{}: disorder: {line}", in_message(file), at + 2);
        }
        1
    }

    /// Takes the least of the inputs' first lines until all are empty; each keeps its order.
    fn merge<'a>(&self, lines: &[&'a [u8]], bounds: &[usize]) -> Vec<&'a [u8]> {
        let mut at: Vec<(usize, usize)> = bounds.windows(2).map(|w| (w[0], w[1])).collect();
        let mut merged: Vec<&[u8]> = Vec::with_capacity(lines.len());
        loop {
            let mut least: Option<usize> = None;
            for (index, &(next, end)) in at.iter().enumerate() {
                if next < end && least.is_none_or(|l| self.compare(lines[next], lines[at[l].0]).is_lt()) {
                    least = Some(index);
                }
            }
            let Some(index) = least else { return merged };
            let line = lines[at[index].0];
            at[index].0 += 1;
            if !self.unique || merged.last().is_none_or(|last| self.by_keys(last, line).is_ne()) {
                merged.push(line);
            }
        }
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let order = self.by_keys(a, b);
        if order.is_ne() || !self.last_resort() {
            return order;
        }
        if self.global.reverse { b.cmp(a) } else { a.cmp(b) }
    }

    fn by_keys(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.keys.is_empty() {
            return self.values(a, b, &self.global);
        }
        for key in &self.keys {
            let order = self.values(self.part(a, key), self.part(b, key), &key.flags);
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }

    fn values(&self, a: &[u8], b: &[u8], flags: &Flags) -> Ordering {
        let (a, b) = if flags.blanks_start { (skip_blanks(a), skip_blanks(b)) } else { (a, b) };
        let order = match flags.order {
            Order::Numeric => numeric(a, b),
            Order::General => general(a).cmp(&general(b)),
            Order::Human => human_rank(a).cmp(&human_rank(b)).then_with(|| numeric(a, b)),
            Order::Month => month(a).cmp(&month(b)),
            Order::Random => self.seed.hash_one(a).cmp(&self.seed.hash_one(b)),
            Order::Version => version_cmp(a, b),
            Order::Bytes => translated(a, flags).cmp(&translated(b, flags)),
        };
        if flags.reverse { order.reverse() } else { order }
    }

    /// Where field `number` (from 1) begins and ends.
    fn field(&self, line: &[u8], number: usize) -> (usize, usize) {
        let mut start = 0;
        for passed in 1.. {
            let end = match self.separator {
                Some(separator) => line[start..].iter().position(|&b| b == separator).map_or(line.len(), |n| start + n),
                None => {
                    let text = start + line[start..].iter().take_while(|b| blank(**b)).count();
                    text + line[text..].iter().take_while(|b| !blank(**b)).count()
                }
            };
            if passed == number {
                return (start, end);
            }
            if end >= line.len() {
                break;
            }
            start = if self.separator.is_some() { end + 1 } else { end };
        }
        (line.len(), line.len())
    }

    fn part<'a>(&self, line: &'a [u8], key: &Key) -> &'a [u8] {
        let (mut start, _) = self.field(line, key.start);
        if key.flags.blanks_start {
            start += line[start..].iter().take_while(|b| blank(**b)).count();
        }
        let from = start.saturating_add(key.start_char - 1).min(line.len());
        let to = match (key.end, key.end_char) {
            (0, _) => line.len(),
            (end, 0) => self.field(line, end).1,
            (end, chars) => {
                let (mut start, _) = self.field(line, end);
                if key.flags.blanks_end {
                    start += line[start..].iter().take_while(|b| blank(**b)).count();
                }
                start.saturating_add(chars).min(line.len())
            }
        };
        if from < to { &line[from..to] } else { &[] }
    }
}

fn blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n')
}

fn skip_blanks(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|b| blank(**b)).count()..]
}

/// What `-d`, `-i` and `-f` make of text.
fn translated<'a>(text: &'a [u8], flags: &Flags) -> Cow<'a, [u8]> {
    if !flags.fold && !flags.dictionary && !flags.printable {
        return Cow::Borrowed(text);
    }
    let kept = text.iter().filter(|b| {
        let dictionary = !flags.dictionary || b.is_ascii_alphanumeric() || blank(**b);
        dictionary && (!flags.printable || (0x20..0x7f).contains(*b))
    });
    Cow::Owned(kept.map(|b| if flags.fold { b.to_ascii_uppercase() } else { *b }).collect())
}

/// A number's sign, digits before the point without leading zeros, digits behind it without trailing ones.
fn digits(text: &[u8]) -> (bool, &[u8], &[u8]) {
    let text = skip_blanks(text);
    let (negative, text) = text.strip_prefix(b"-").map_or((false, text), |rest| (true, rest));
    let (whole, rest) = text.split_at(text.iter().take_while(|b| b.is_ascii_digit()).count());
    let whole = &whole[whole.iter().take_while(|b| **b == b'0').count()..];
    let mut fraction: &[u8] = &[];
    if let Some(rest) = rest.strip_prefix(b".") {
        fraction = &rest[..rest.iter().take_while(|b| b.is_ascii_digit()).count()];
        while let Some(shorter) = fraction.strip_suffix(b"0") {
            fraction = shorter;
        }
    }
    (negative && !(whole.is_empty() && fraction.is_empty()), whole, fraction)
}

/// Numbers of any length, compared as text.
fn numeric(a: &[u8], b: &[u8]) -> Ordering {
    let ((neg_a, int_a, frac_a), (neg_b, int_b, frac_b)) = (digits(a), digits(b));
    let size = int_a.len().cmp(&int_b.len()).then_with(|| int_a.cmp(int_b)).then_with(|| frac_a.cmp(frac_b));
    match (neg_a, neg_b) {
        (false, false) => size,
        (true, true) => size.reverse(),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

/// `-h`: first by sign and suffix.
fn human_rank(text: &[u8]) -> i32 {
    let (negative, whole, fraction) = digits(text);
    if whole.is_empty() && fraction.is_empty() {
        return 0;
    }
    let text = skip_blanks(text);
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let end = text.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    let rank = match text.get(end) {
        Some(b'K' | b'k') => 2,
        Some(c) => b"MGTPEZYRQ".iter().position(|s| s == c).map_or(1, |at| at as i32 + 3),
        None => 1,
    };
    if negative { -rank } else { rank }
}

/// `-g`: what is no number is first, then NaN, then numbers. A key with a total order.
fn general(text: &[u8]) -> (u8, i64) {
    let text = skip_blanks(text);
    let mut end = 0;
    let mut best = None;
    // The longest prefix that is a number; strtod's other forms (hexadecimal) are not read.
    for (at, b) in text.iter().enumerate() {
        if !(b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-')) || at >= 64 {
            break;
        }
        end = at + 1;
    }
    for length in (1..=end).rev() {
        if let Some(value) = std::str::from_utf8(&text[..length]).ok().and_then(|t| t.parse::<f64>().ok()) {
            best = Some(value);
            break;
        }
    }
    match best {
        None => (0, 0),
        Some(value) if value.is_nan() => (1, 0),
        Some(value) => {
            let bits = (value + 0.0).to_bits() as i64;
            (2, bits ^ (((bits >> 63) as u64) >> 1) as i64)
        }
    }
}

fn month(text: &[u8]) -> u8 {
    const NAMES: [&[u8]; 12] =
        [b"JAN", b"FEB", b"MAR", b"APR", b"MAY", b"JUN", b"JUL", b"AUG", b"SEP", b"OCT", b"NOV", b"DEC"];
    let text = skip_blanks(text);
    let name = text.get(..3).unwrap_or_default().to_ascii_uppercase();
    NAMES.iter().position(|n| *n == name).map_or(0, |at| at as u8 + 1)
}
