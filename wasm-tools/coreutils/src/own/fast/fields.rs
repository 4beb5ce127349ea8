//! `cut`, `uniq`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use super::super::say_bytes;
use super::super::text::in_message;
use super::options;

/// Output is written in pieces of about this size.
const FLUSH: usize = 32 * 1024;

/// Ranges of `-f`, `-c`, `-b`, merged and in order; the last may be open.
fn ranges(list: &[u8]) -> Option<Vec<(usize, usize)>> {
    let mut found = Vec::new();
    for part in std::str::from_utf8(list).ok()?.split(',') {
        let number = |text: &str| text.parse::<usize>().ok().filter(|n| *n > 0);
        found.push(match part.split_once('-') {
            None => (number(part)?, number(part)?),
            Some(("", to)) => (1, number(to)?),
            Some((from, "")) => (number(from)?, usize::MAX),
            Some((from, to)) => (number(from)?, number(to).filter(|to| *to >= number(from).unwrap_or(1))?),
        });
    }
    found.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (from, to) in found {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    Some(merged)
}

/// `cut` with `-d X -f LIST`, `-s`, `-c LIST`, `-b LIST`.
pub fn cut(args: &[OsString]) -> Option<i32> {
    let (options, operands) = options(args, "d:f:c:b:s")?;
    let (mut delimiter, mut fields, mut bytes, mut only) = (b'\t', None, None, false);
    for (option, value) in options {
        match option {
            b'd' => delimiter = *value.first().filter(|_| value.len() == 1)?,
            b'f' => fields = Some(ranges(value)?),
            b's' => only = true,
            _ => bytes = Some(ranges(value)?),
        }
    }
    // One of the two, no more; a delimiter makes sense with fields alone.
    let by_field = fields.is_some();
    let list = match (fields, bytes) {
        (Some(list), None) | (None, Some(list)) => list,
        _ => return None,
    };
    if !by_field && (only || delimiter != b'\t') || delimiter == b'\n' {
        return None;
    }
    let mut out = Vec::with_capacity(FLUSH + 4096);
    let mut line = Vec::new();
    let status = inputs("cut", &operands, &mut |source| {
        while next_line(source, &mut line)? {
            if by_field && !line.contains(&delimiter) {
                if !only {
                    out.extend_from_slice(&line);
                    out.push(b'\n');
                }
            } else {
                if by_field {
                    pick_fields(&line, delimiter, &list, &mut out);
                } else {
                    for &(from, to) in list.iter().filter(|r| r.0 <= line.len()) {
                        out.extend_from_slice(&line[from - 1..to.min(line.len())]);
                    }
                }
                out.push(b'\n');
            }
            flush(&mut out, FLUSH);
        }
        Ok(())
    });
    flush(&mut out, 0);
    Some(status)
}

fn pick_fields(body: &[u8], delimiter: u8, list: &[(usize, usize)], out: &mut Vec<u8>) {
    let mut wanted = list.iter().peekable();
    let mut first = true;
    for (index, field) in body.split(|&b| b == delimiter).enumerate() {
        let number = index + 1;
        while wanted.peek().is_some_and(|r| r.1 < number) {
            wanted.next();
        }
        let Some(range) = wanted.peek() else { break };
        if number >= range.0 {
            if !first {
                out.push(delimiter);
            }
            first = false;
            out.extend_from_slice(field);
        }
    }
}

fn flush(out: &mut Vec<u8>, above: usize) {
    if out.len() > above {
        say_bytes(out);
        out.clear();
    }
}

/// The next line without its end; `false` at the end of input.
pub fn next_line(source: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    if source.read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(true)
}

/// Runs `each` over every operand, or over standard input; says which cannot be read.
pub fn inputs(program: &str, operands: &[&OsString], each: &mut dyn FnMut(&mut dyn BufRead) -> io::Result<()>) -> i32 {
    let stdin = OsString::from("-");
    let files: Vec<&OsString> = if operands.is_empty() { vec![&stdin] } else { operands.to_vec() };
    let mut status = 0;
    for name in files {
        let result = if name == "-" {
            each(&mut BufReader::with_capacity(65536, io::stdin()))
        } else {
            File::open(name).and_then(|file| {
                if file.metadata()?.is_dir() {
                    return Err(wskill_sys::Errno::EISDIR.into());
                }
                each(&mut BufReader::with_capacity(65536, file))
            })
        };
        if let Err(e) = result {
            eprintln!("{program}: {}: {}", in_message(name), wskill_sys::message(&e));
            status = 1;
        }
    }
    status
}

/// `uniq` with `-c`, `-d`, `-u`, `-i`, one input at most.
pub fn uniq(args: &[OsString]) -> Option<i32> {
    let (options, operands) = options(args, "cdui")?;
    // A second operand is the output.
    if operands.len() > 1 {
        return None;
    }
    let asked = |letter: u8| options.iter().any(|(o, _)| *o == letter);
    let (count, repeated, unique, fold) = (asked(b'c'), asked(b'd'), asked(b'u'), asked(b'i'));
    let mut out = Vec::with_capacity(FLUSH + 4096);
    let show = |line: &[u8], times: u64, out: &mut Vec<u8>| {
        if (repeated && times < 2) || (unique && times > 1) {
            return;
        }
        if count {
            out.extend_from_slice(format!("{times:>7} ").as_bytes());
        }
        out.extend_from_slice(line);
        out.push(b'\n');
        flush(out, FLUSH);
    };
    let (mut last, mut line, mut times) = (Vec::new(), Vec::new(), 0u64);
    let status = inputs("uniq", &operands, &mut |source| {
        while next_line(source, &mut line)? {
            let same = if fold { line.eq_ignore_ascii_case(&last) } else { line == last };
            if times > 0 && same {
                times += 1;
                continue;
            }
            if times > 0 {
                show(&last, times, &mut out);
            }
            std::mem::swap(&mut last, &mut line);
            times = 1;
        }
        if times > 0 {
            show(&last, times, &mut out);
        }
        Ok(())
    });
    flush(&mut out, 0);
    Some(status)
}
