//! `head`, `tail`, `wc`, `seq`.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::wasi::ffi::OsStrExt;
use std::time::Duration;

use wskill_sys::{Errno, fd};

use super::super::buffer::buffer;
use super::super::text::{in_message, quote};
use super::super::{output_failed, say_bytes};
use super::{number, options};

/// What is read at once.
const CHUNK: usize = super::super::buffer::SIZE;

/// An operand or standard input, open for reading.
struct Input {
    file: Option<File>,
}

impl Input {
    fn open(name: &OsStr) -> io::Result<Self> {
        if name == "-" {
            return Ok(Input { file: None });
        }
        let file = File::open(name)?;
        if wskill_sys::fs::fstat(file.as_raw_fd())?.is_dir() {
            return Err(Errno::EISDIR.into());
        }
        Ok(Input { file: Some(file) })
    }

    fn number(&self) -> i32 {
        self.file.as_ref().map_or(0, AsRawFd::as_raw_fd)
    }

    fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match fd::read(self.number(), buf) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

/// Is the error that the operand is a directory?
fn is_dir(e: &io::Error) -> bool {
    e.raw_os_error() == Some(Errno::EISDIR.0)
}

#[derive(Clone, Copy)]
enum Count {
    Lines(u64),
    Bytes(u64),
}

/// `-N` as the first argument is `-n N`.
fn obsolete(args: &[OsString]) -> Option<(u64, &[OsString])> {
    let first = args.first()?.as_bytes().strip_prefix(b"-")?;
    Some((number(first)?, &args[1..]))
}

/// Opens each operand in turn, prints headings between several, and runs `each`.
fn each_file(
    program: &str,
    operands: &[&OsString],
    quiet: bool,
    verbose: bool,
    mut each: impl FnMut(&Input) -> io::Result<()>,
) -> i32 {
    let stdin = OsString::from("-");
    let files: Vec<&OsString> = if operands.is_empty() { vec![&stdin] } else { operands.to_vec() };
    let headings = verbose || (files.len() > 1 && !quiet);
    let (mut status, mut first) = (0, true);
    for name in files {
        let shown = if name == "-" { OsStr::new("standard input") } else { name.as_os_str() };
        let input = match Input::open(name) {
            Ok(input) => Some(input),
            Err(e) if is_dir(&e) => None,
            Err(e) => {
                let reason = wskill_sys::message(&e);
                eprintln!("{program}: cannot open {} for reading: {reason}", quote(shown));
                status = 1;
                continue;
            }
        };
        if headings {
            let mut head = if first { Vec::new() } else { vec![b'\n'] };
            head.extend_from_slice(b"==> ");
            head.extend_from_slice(shown.as_bytes());
            head.extend_from_slice(b" <==\n");
            say_bytes(&head);
        }
        first = false;
        let done = input.as_ref().map_or_else(|| Err(Errno::EISDIR.into()), &mut each);
        if let Err(e) = done {
            eprintln!("{program}: error reading {}: {}", quote(shown), wskill_sys::message(&e));
            status = 1;
        }
    }
    status
}

/// `head` with `-n N`, `-N`, `-c N`, `-q`, `-v`.
pub fn head(args: &[OsString]) -> Option<i32> {
    let (mut count, args) = obsolete(args).map_or((Count::Lines(10), args), |(n, rest)| (Count::Lines(n), rest));
    let (mut quiet, mut verbose) = (false, false);
    let (options, operands) = options(args, "n:c:qv")?;
    for (option, value) in options {
        match option {
            b'n' => count = Count::Lines(number(value)?),
            b'c' => count = Count::Bytes(number(value)?),
            b'q' => (quiet, verbose) = (true, false),
            _ => (quiet, verbose) = (false, true),
        }
    }
    Some(each_file("head", &operands, quiet, verbose, |input| head_of(input, count)))
}

fn head_of(input: &Input, count: Count) -> io::Result<()> {
    let mut buf = buffer();
    let mut left = match count {
        Count::Lines(n) | Count::Bytes(n) => n,
    };
    while left > 0 {
        let want = if let Count::Bytes(_) = count { left.min(CHUNK as u64) as usize } else { CHUNK };
        let n = input.read(&mut buf[..want])?;
        if n == 0 {
            break;
        }
        let mut end = n;
        match count {
            Count::Bytes(_) => left -= n as u64,
            Count::Lines(_) => {
                for (at, _) in buf[..n].iter().enumerate().filter(|(_, b)| **b == b'\n') {
                    left -= 1;
                    if left == 0 {
                        end = at + 1;
                        break;
                    }
                }
            }
        }
        say_bytes(&buf[..end]);
        if end < n
            && let Some(file) = &input.file
        {
            // Leave a shared offset behind the last line taken.
            let _ = io::Seek::seek(&mut &*file, io::SeekFrom::Current(end as i64 - n as i64));
        } else if end < n {
            let _ = seek_stdin(end as i64 - n as i64);
        }
    }
    Ok(())
}

/// Moves standard input's offset, where it has one: `(head -n 1; cat) < file` goes on with the second line.
fn seek_stdin(by: i64) -> io::Result<()> {
    let own = fd::dup(0, 4, fd::CLOEXEC)?;
    io::Seek::seek(&mut File::from(own), io::SeekFrom::Current(by)).map(drop)
}

/// How long `tail -f` waits before it looks again, without `-s`.
const FOLLOW_PAUSE: Duration = Duration::from_millis(100);

/// Prints what is added to the files, for ever; `-F` opens again a name that leads to another file.
fn follow(operands: &[&OsString], by_name: bool, quiet: bool, pause: Duration) -> i32 {
    let stdin = OsString::from("-");
    let names: Vec<&OsString> = if operands.is_empty() { vec![&stdin] } else { operands.to_vec() };
    let end_of = |name: &OsString| {
        let input = Input::open(name).ok()?;
        let size = input.file.as_ref().and_then(|mut file| io::Seek::seek(&mut file, io::SeekFrom::End(0)).ok());
        Some((input, size.unwrap_or(0)))
    };
    let mut files: Vec<(&OsString, Option<(Input, u64)>)> = names.into_iter().map(|n| (n, end_of(n))).collect();
    if !by_name && files.iter().all(|(_, open)| open.is_none()) {
        eprintln!("tail: no files remaining");
        return 1;
    }
    let headings = files.len() > 1 && !quiet;
    let mut last = files.len() - 1;
    let mut buf = buffer();
    loop {
        for (index, (name, open)) in files.iter_mut().enumerate() {
            if by_name && let Ok(now) = wskill_sys::fs::stat(&**name) {
                let same = open.as_ref().and_then(|(input, _)| wskill_sys::fs::fstat(input.number()).ok());
                if same.is_none_or(|st| !st.same_file(&now)) {
                    *open = Input::open(name).ok().map(|input| (input, 0));
                }
            }
            let Some((input, at)) = open else { continue };
            if let (Some(mut file), Ok(st)) = (input.file.as_ref(), wskill_sys::fs::fstat(input.number()))
                && st.is_file()
                && st.size < *at
            {
                eprintln!("tail: {}: file truncated", in_message(name));
                *at = 0;
                let _ = io::Seek::seek(&mut file, io::SeekFrom::Start(0));
            }
            while let Ok(n) = input.read(&mut buf[..]) {
                if n == 0 {
                    break;
                }
                if headings && index != last {
                    say_bytes(format!("\n==> {} <==\n", name.to_string_lossy()).as_bytes());
                    last = index;
                }
                say_bytes(&buf[..n]);
                let _ = io::Write::flush(&mut io::stdout());
                *at += n as u64;
            }
        }
        let _ = fd::sleep(pause);
    }
}

/// `tail` with `-n N`, `-n +N`, `-N`, `-c N`, `-c +N`, `-q`, `-v`, `-f`, `-F`, `-s SECONDS`.
pub fn tail(args: &[OsString]) -> Option<i32> {
    let (mut count, args) = obsolete(args).map_or((Count::Lines(10), args), |(n, rest)| (Count::Lines(n), rest));
    let (mut quiet, mut verbose, mut from_start) = (false, false, false);
    let (options, operands) = options(args, "n:c:qvfFs:")?;
    let (mut following, mut by_name, mut pause) = (false, false, FOLLOW_PAUSE);
    for (option, value) in options {
        let (start, digits) = match value.split_first() {
            Some((b'+', digits)) => (true, digits),
            Some((b'-', digits)) => (false, digits),
            _ => (false, value),
        };
        match option {
            b'n' => (count, from_start) = (Count::Lines(number(digits)?), start),
            b'c' => (count, from_start) = (Count::Bytes(number(digits)?), start),
            b'f' => following = true,
            b'F' => (following, by_name) = (true, true),
            b's' => pause = super::super::run::duration(std::str::from_utf8(value).ok()?)?,
            b'q' => (quiet, verbose) = (true, false),
            _ => (quiet, verbose) = (false, true),
        }
    }
    let status = each_file("tail", &operands, quiet, verbose, |input| {
        if from_start { tail_from(input, count) } else { tail_of(input, count) }
    });
    if following {
        let _ = io::Write::flush(&mut io::stdout());
        return Some(follow(&operands, by_name, quiet, pause));
    }
    Some(status)
}

/// From the N-th line or byte on.
fn tail_from(input: &Input, count: Count) -> io::Result<()> {
    let mut skip = match count {
        Count::Lines(n) | Count::Bytes(n) => n.saturating_sub(1),
    };
    let mut buf = buffer();
    loop {
        let n = input.read(&mut buf[..])?;
        if n == 0 {
            return Ok(());
        }
        let mut start = 0;
        if skip > 0 {
            start = match count {
                Count::Bytes(_) => skip.min(n as u64) as usize,
                Count::Lines(_) => {
                    let found = buf[..n].iter().enumerate().filter(|(_, b)| **b == b'\n').nth(skip as usize - 1);
                    found.map_or(n, |(at, _)| at + 1)
                }
            };
            let passed = match count {
                Count::Bytes(_) => start as u64,
                Count::Lines(_) => buf[..start].iter().filter(|b| **b == b'\n').count() as u64,
            };
            skip -= passed;
        }
        say_bytes(&buf[start..n]);
    }
}

/// The last N lines or bytes. A file is read from its end; a pipe keeps no more than it must.
fn tail_of(input: &Input, count: Count) -> io::Result<()> {
    if let Some(file) = &input.file
        && let Ok(size) = io::Seek::seek(&mut &*file, io::SeekFrom::End(0))
        && size > CHUNK as u64
    {
        let start = match count {
            Count::Bytes(n) => size.saturating_sub(n),
            Count::Lines(n) => line_start(file, size, n)?,
        };
        io::Seek::seek(&mut &*file, io::SeekFrom::Start(start))?;
        return tail_from(input, Count::Bytes(1));
    }
    if let Some(file) = &input.file {
        let _ = io::Seek::seek(&mut &*file, io::SeekFrom::Start(0));
    }
    let mut kept: VecDeque<Vec<u8>> = VecDeque::new();
    // Line ends (or bytes) in all that is kept.
    let mut total = 0u64;
    let measure = |chunk: &[u8]| match count {
        Count::Bytes(_) => chunk.len() as u64,
        Count::Lines(_) => chunk.iter().filter(|b| **b == b'\n').count() as u64,
    };
    let wanted = match count {
        Count::Lines(n) | Count::Bytes(n) => n,
    };
    let mut buf = buffer();
    loop {
        let n = input.read(&mut buf[..])?;
        if n == 0 {
            break;
        }
        let chunk = buf[..n].to_vec();
        total += measure(&chunk);
        kept.push_back(chunk);
        // One line more than wanted: the last may lack its end.
        while let Some(first) = kept.front()
            && total - measure(first) > wanted
        {
            total -= measure(first);
            kept.pop_front();
        }
    }
    let all: Vec<u8> = kept.into_iter().flatten().collect();
    let start = match count {
        Count::Bytes(n) => all.len() - all.len().min(usize::try_from(n).unwrap_or(usize::MAX)),
        Count::Lines(0) => all.len(),
        Count::Lines(n) => {
            let body = all.strip_suffix(b"\n").unwrap_or(&all);
            let mut ends = body.iter().enumerate().rev().filter(|(_, b)| **b == b'\n');
            usize::try_from(n - 1).ok().and_then(|n| ends.nth(n)).map_or(0, |(at, _)| at + 1)
        }
    };
    say_bytes(&all[start..]);
    Ok(())
}

/// Where the last `lines` lines of a file of `size` bytes begin.
fn line_start(mut file: &File, size: u64, lines: u64) -> io::Result<u64> {
    if lines == 0 {
        return Ok(size);
    }
    let mut buf = buffer();
    let (mut end, mut left) = (size, lines);
    while end > 0 {
        let start = end.saturating_sub(CHUNK as u64);
        let part = &mut buf[..(end - start) as usize];
        io::Seek::seek(&mut file, io::SeekFrom::Start(start))?;
        file.read_exact(part)?;
        for (at, _) in part.iter().enumerate().rev().filter(|(_, b)| **b == b'\n') {
            let position = start + at as u64;
            // The end of the last line ends it; it does not begin another.
            if position + 1 == size {
                continue;
            }
            left -= 1;
            if left == 0 {
                return Ok(position + 1);
            }
        }
        end = start;
    }
    Ok(0)
}

#[derive(Default, Clone, Copy)]
struct Counts {
    lines: u64,
    words: u64,
    chars: u64,
    bytes: u64,
}

/// `wc` with `-l`, `-w`, `-c`, `-m`; what asks for more than bytes and words of ASCII text looks at UTF-8.
pub fn wc(args: &[OsString]) -> Option<i32> {
    let (options, operands) = options(args, "lwcm")?;
    let asked = |letter: u8| options.is_empty() && letter != b'm' || options.iter().any(|(o, _)| *o == letter);
    let (lines, words, chars, bytes) = (asked(b'l'), asked(b'w'), asked(b'm'), asked(b'c'));
    let stdin = OsString::from("-");
    let named = !operands.is_empty();
    let files: Vec<&OsString> = if named { operands } else { vec![&stdin] };
    let mut rows: Vec<(Counts, Vec<u8>)> = Vec::new();
    let (mut status, mut total) = (0, Counts::default());
    let mut sizes = 0;
    let mut all_regular = true;
    for name in &files {
        let counted = Input::open(name).and_then(|input| {
            let st = wskill_sys::fs::fstat(input.number())?;
            all_regular &= st.is_file();
            if st.is_file() {
                sizes += st.size;
            }
            count(&input, words || chars)
        });
        match counted {
            Ok(counts) => {
                total.lines += counts.lines;
                total.words += counts.words;
                total.chars += counts.chars;
                total.bytes += counts.bytes;
                rows.push((counts, if named { name.as_bytes().to_vec() } else { Vec::new() }));
            }
            Err(e) => {
                eprintln!("wc: {}: {}", in_message(name), wskill_sys::message(&e));
                status = 1;
                if is_dir(&e) {
                    all_regular = false;
                    rows.push((Counts::default(), name.as_bytes().to_vec()));
                }
            }
        }
    }
    let columns = [lines, words, chars, bytes].iter().filter(|c| **c).count();
    // GNU's widths: one figure of one input stands alone; else as wide as the sizes, and seven where one is unknown.
    let width = if columns == 1 && files.len() == 1 {
        1
    } else if !all_regular {
        7
    } else {
        sizes.to_string().len()
    };
    if files.len() > 1 {
        rows.push((total, b"total".to_vec()));
    }
    let mut out = Vec::new();
    for (counts, name) in rows {
        let figures = [(lines, counts.lines), (words, counts.words), (chars, counts.chars), (bytes, counts.bytes)];
        let figures: Vec<String> =
            figures.iter().filter(|(shown, _)| *shown).map(|(_, n)| format!("{n:>width$}")).collect();
        out.extend_from_slice(figures.join(" ").as_bytes());
        if !name.is_empty() {
            out.push(b' ');
            out.extend(name);
        }
        out.push(b'\n');
    }
    say_bytes(&out);
    Some(status)
}

fn count(input: &Input, text: bool) -> io::Result<Counts> {
    let mut counts = Counts::default();
    let mut buf = buffer();
    let mut in_word = false;
    loop {
        let n = input.read(&mut buf[..])?;
        if n == 0 {
            return Ok(counts);
        }
        counts.bytes += n as u64;
        counts.lines += buf[..n].iter().filter(|b| **b == b'\n').count() as u64;
        if !text {
            continue;
        }
        for &b in &buf[..n] {
            counts.chars += u64::from(b & 0xc0 != 0x80);
            let space = matches!(b, b' ' | b'\t'..=b'\r');
            // Bytes that are not printable neither begin nor end a word.
            if space {
                in_word = false;
            } else if !in_word && (0x21..0x7f).contains(&b) | (b >= 0x80) {
                in_word = true;
                counts.words += 1;
            }
        }
    }
}

/// `seq` over integers, with `-s` and `-w`.
pub fn seq(args: &[OsString]) -> Option<i32> {
    // Negative numbers look like options: only plain words are short enough.
    let mut separator: &[u8] = b"\n";
    let mut equal_width = false;
    let mut numbers = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_bytes() {
            b"-w" => equal_width = true,
            b"-s" => separator = words.next()?.as_bytes(),
            text => {
                let digits = text.strip_prefix(b"-").unwrap_or(text);
                // Leading zeros change widths; seventeen digits still add without overflow.
                if digits.len() > 17 || (digits.len() > 1 && digits[0] == b'0') {
                    return None;
                }
                let value = i64::try_from(number(digits)?).ok()?;
                numbers.push(if digits.len() < text.len() { -value } else { value });
            }
        }
    }
    let (first, step, last) = match numbers[..] {
        [last] => (1, 1, last),
        [first, last] => (first, 1, last),
        [first, step, last] if step != 0 => (first, step, last),
        _ => return None,
    };
    let width = if equal_width { first.to_string().len().max(last.to_string().len()) } else { 0 };
    let mut out = Vec::with_capacity(CHUNK);
    let (mut value, mut any) = (first, false);
    while if step > 0 { value <= last } else { value >= last } {
        if any {
            out.extend_from_slice(separator);
        }
        any = true;
        let text = value.to_string();
        if text.len() < width {
            let (sign, digits) = text.strip_prefix('-').map_or(("", &*text), |digits| ("-", digits));
            let fill = width - sign.len();
            out.extend_from_slice(format!("{sign}{digits:0>fill$}").as_bytes());
        } else {
            out.extend_from_slice(text.as_bytes());
        }
        if out.len() >= CHUNK - 64 {
            if let Err(e) = fd::write_all(1, &out) {
                output_failed(&e);
                return Some(1);
            }
            out.clear();
        }
        value += step;
    }
    if any {
        out.push(b'\n');
    }
    say_bytes(&out);
    Some(0)
}
