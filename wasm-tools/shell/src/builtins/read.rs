//! `read`, and the line reading that `select` and `mapfile` share.

use crate::os::{self, Errno, Fd};
use crate::pattern::decode;
use crate::shell::{Run, Shell, Unwind};
use std::time::Duration;

/// How reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Delimiter,
    Eof,
    Timeout,
    /// A signal's trap unwound.
    Error,
}

/// Reads bytes without taking more than needed: byte by byte from pipes, in blocks with a seek back from files.
pub struct Reader {
    fd: Fd,
    seekable: bool,
    /// How much is asked for at once.
    block: usize,
    buf: Vec<u8>,
    pos: usize,
    deadline: Option<u64>,
}

impl Reader {
    pub fn new(fd: Fd, timeout: Option<Duration>) -> Self {
        let seekable = os::fstat(fd).is_ok_and(|s| s.mode & os::S_IFMT == os::S_IFREG) && os::seek_by(fd, 0).is_ok();
        let deadline = timeout.map(|t| os::monotonic_ns() + t.as_nanos() as u64);
        Self {
            fd,
            seekable,
            block: if seekable { 4096 } else { 1 },
            buf: Vec::new(),
            pos: 0,
            deadline,
        }
    }

    /// A reader that goes on to the end, and so need not leave anything to others.
    pub fn to_end(fd: Fd) -> Self {
        Self {
            block: 64 * 1024,
            ..Self::new(fd, None)
        }
    }

    /// Appends what comes before the delimiter; `false` when there was none, and then `end` says why.
    pub fn until(&mut self, delimiter: u8, line: &mut Vec<u8>, shell: &mut Shell, end: &mut End) -> bool {
        loop {
            let rest = &self.buf[self.pos..];
            if let Some(n) = crate::bytes::find(rest, delimiter) {
                line.extend_from_slice(&rest[..n]);
                self.pos += n + 1;
                return true;
            }
            line.extend_from_slice(rest);
            self.pos = self.buf.len();
            match self.next(shell, end) {
                Some(_) => self.pos -= 1,
                None => return false,
            }
        }
    }

    /// The next byte; `None` at the end or after `end` was set.
    pub fn next(&mut self, shell: &mut Shell, end: &mut End) -> Option<u8> {
        if let Some(&c) = self.buf.get(self.pos) {
            self.pos += 1;
            return Some(c);
        }
        loop {
            if let Some(deadline) = self.deadline {
                let left = deadline.saturating_sub(os::monotonic_ns());
                match os::poll_read(self.fd, Some(Duration::from_nanos(left))) {
                    Ok(true) => {}
                    Ok(false) => {
                        *end = End::Timeout;
                        return None;
                    }
                    Err(Errno::EINTR) => {
                        if shell.run_pending_traps().is_err() {
                            *end = End::Error;
                            return None;
                        }
                        continue;
                    }
                    Err(_) => {}
                }
            }
            self.buf.resize(self.block, 0);
            match os::read(self.fd, &mut self.buf) {
                Ok(0) => {
                    self.buf.clear();
                    self.pos = 0;
                    *end = End::Eof;
                    return None;
                }
                Ok(n) => {
                    self.buf.truncate(n);
                    self.pos = 1;
                    return Some(self.buf[0]);
                }
                Err(Errno::EINTR) => {
                    self.buf.clear();
                    self.pos = 0;
                    if let Err(unwind) = shell.run_pending_traps() {
                        shell.pending_unwind = Some(unwind);
                        *end = End::Error;
                        return None;
                    }
                }
                Err(error) => {
                    self.buf.clear();
                    self.pos = 0;
                    shell.builtin_error("read", &format!("read error: {}: {}", self.fd, os::message(error)));
                    *end = End::Error;
                    return None;
                }
            }
        }
    }

    /// Gives back what was read ahead.
    pub fn finish(self) {
        let ahead = self.buf.len().saturating_sub(self.pos);
        if self.seekable && ahead > 0 {
            let _ = os::seek_by(self.fd, -(ahead as i64));
        }
    }
}

impl Shell {
    /// A line from standard input for `select`; `None` at the end.
    pub fn read_reply(&mut self) -> Option<Vec<u8>> {
        let mut reader = Reader::new(0, None);
        let mut line = Vec::new();
        let mut end = End::Delimiter;
        while let Some(c) = reader.next(self, &mut end) {
            if c == b'\n' {
                break;
            }
            line.push(c);
        }
        reader.finish();
        (end == End::Delimiter || !line.is_empty()).then_some(line)
    }
}

/// The menu of `select`.
pub fn select_menu(values: &[Vec<u8>], columns: Option<&[u8]>) -> Vec<u8> {
    let width = columns
        .and_then(crate::arith::integer)
        .and_then(|n| usize::try_from(n).ok())
        .filter(|&n| n > 0)
        .unwrap_or(80);
    let digits = values.len().to_string().len();
    let longest = values.iter().map(|v| crate::pattern::char_count(v)).max().unwrap_or(0);
    let cell = longest + digits + 4;
    let mut per_row = (width / cell.max(1)).max(1);
    let mut rows = values.len().div_ceil(per_row);
    if rows == 1 {
        rows = values.len();
        per_row = 1;
    }
    let mut out = Vec::new();
    for row in 0..rows {
        for column in 0..per_row {
            let i = column * rows + row;
            let Some(value) = values.get(i) else { break };
            let text = format!("{:>digits$}) ", i + 1);
            out.extend_from_slice(text.as_bytes());
            out.extend_from_slice(value);
            let next = (column + 1) * rows + row;
            if column + 1 < per_row && next < values.len() {
                let used = digits + 2 + crate::pattern::char_count(value);
                out.resize(out.len() + cell.saturating_sub(used), b' ');
            }
        }
        out.push(b'\n');
    }
    out
}

pub fn read(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"rsea:d:i:n:N:p:t:u:") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let raw = options.has(b'r');
    let names = &argv[options.rest..];
    let delimiter = match options.value(b'd') {
        Some(text) => text.first().copied().unwrap_or(0),
        None => b'\n',
    };
    let count = |shell: &mut Shell, letter: u8| -> Result<Option<usize>, i32> {
        match options.value(letter) {
            None => Ok(None),
            Some(text) => match crate::arith::integer(text).and_then(|n| usize::try_from(n).ok()) {
                Some(n) => Ok(Some(n)),
                None => {
                    let shown = String::from_utf8_lossy(text).into_owned();
                    shell.builtin_error("read", &format!("{shown}: invalid number"));
                    Err(1)
                }
            },
        }
    };
    let (limit, exact) = match (count(shell, b'n'), count(shell, b'N')) {
        (Ok(limit), Ok(exact)) => (limit, exact),
        (Err(status), _) | (_, Err(status)) => return Ok(status),
    };
    let fd = match options.value(b'u') {
        None => 0,
        Some(text) => match crate::arith::integer(text).and_then(|n| i32::try_from(n).ok()) {
            Some(fd) if os::is_open(fd) => fd,
            _ => {
                let shown = String::from_utf8_lossy(text).into_owned();
                let message = if crate::arith::integer(text).is_some_and(|n| n >= 0) {
                    format!("{shown}: invalid file descriptor: Bad file descriptor")
                } else {
                    format!("{shown}: invalid file descriptor specification")
                };
                shell.builtin_error("read", &message);
                return Ok(1);
            }
        },
    };
    let timeout_text = options
        .value(b't')
        .map(<[u8]>::to_vec)
        .or_else(|| shell.get_scalar(b"TMOUT"));
    let timeout = match timeout_text {
        None => None,
        Some(text) => match std::str::from_utf8(&text)
            .ok()
            .and_then(|t| t.parse::<f64>().ok())
            .filter(|t| *t >= 0.0)
        {
            Some(seconds) => Some(Duration::from_secs_f64(seconds.min(1e9))),
            None if options.value(b't').is_some() => {
                let shown = String::from_utf8_lossy(&text).into_owned();
                shell.builtin_error("read", &format!("{shown}: invalid timeout specification"));
                return Ok(1);
            }
            None => None,
        },
    };
    if let Some(name) = names.first().filter(|n| !crate::state::access::valid_reference(n)) {
        let shown = String::from_utf8_lossy(name).into_owned();
        shell.builtin_error("read", &format!("`{shown}': not a valid identifier"));
        return Ok(1);
    }
    if let (Some(prompt), true) = (options.value(b'p'), os::isatty(fd)) {
        shell.write_stderr(prompt);
    }
    if timeout == Some(Duration::ZERO) {
        // Only asks whether there is something to read.
        return Ok(i32::from(!os::poll_read(fd, Some(Duration::ZERO)).unwrap_or(true)));
    }
    if !os::is_open(fd) {
        shell.builtin_error("read", &format!("read error: {fd}: Bad file descriptor"));
        return Ok(1);
    }
    // Text, and which bytes a backslash protects from splitting.
    let mut text = Vec::new();
    let mut escaped: Vec<usize> = Vec::new();
    let mut chars = 0usize;
    let maximum = exact.or(limit);
    let mut end = End::Delimiter;
    let mut reader = Reader::new(fd, timeout);
    if maximum.is_none() && raw {
        reader.until(delimiter, &mut text, shell, &mut end);
        if delimiter != 0 && text.contains(&0) {
            text.retain(|&c| c != 0);
        }
    } else if maximum != Some(0) {
        while let Some(c) = reader.next(shell, &mut end) {
            if c == delimiter && exact.is_none() {
                break;
            }
            if c == b'\\' && !raw {
                match reader.next(shell, &mut end) {
                    Some(b'\n') => continue,
                    Some(next) => {
                        escaped.push(text.len());
                        text.push(next);
                    }
                    None => break,
                }
            } else if c != 0 {
                text.push(c);
            } else {
                continue;
            }
            if let Some(maximum) = maximum {
                if complete_character(&text) {
                    chars += 1;
                }
                if chars >= maximum {
                    break;
                }
            }
        }
    }
    reader.finish();
    if let Some(unwind) = shell.pending_unwind.take() {
        return Err(unwind);
    }
    let status = match end {
        End::Delimiter => 0,
        End::Eof | End::Error => 1,
        End::Timeout => 142,
    };
    let result = assign_fields(shell, &options, names, text, &escaped, exact.is_some());
    match result {
        Ok(()) => Ok(status),
        Err(Unwind::Discard(_)) => Ok(1),
        Err(unwind) => Err(unwind),
    }
}

/// Whether the text ends at a character's end.
fn complete_character(text: &[u8]) -> bool {
    let start = text.len().saturating_sub(4);
    for from in (start..text.len()).rev() {
        let lead = text[from];
        if !(0x80..0xc0).contains(&lead) {
            let need = match lead {
                0xc2..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xf4 => 4,
                _ => 1,
            };
            return text.len() - from >= need;
        }
    }
    true
}

fn assign_fields(
    shell: &mut Shell,
    options: &super::Options,
    names: &[Vec<u8>],
    text: Vec<u8>,
    escaped: &[usize],
    exact: bool,
) -> Run<()> {
    let ifs = shell.get_scalar(b"IFS").unwrap_or_else(|| b" \t\n".to_vec());
    if let Some(array) = options.value(b'a') {
        let array = array.to_vec();
        if !crate::parse::is_name(&array) {
            let shown = String::from_utf8_lossy(&array).into_owned();
            shell.builtin_error("read", &format!("`{shown}': not a valid identifier"));
            return Err(Unwind::Discard(1));
        }
        let place = shell.resolve(&array);
        if shell
            .st
            .vars
            .get(place.name.as_slice())
            .is_some_and(|v| matches!(v.value, crate::state::vars::Value::Assoc(..)))
        {
            let shown = String::from_utf8_lossy(&array).into_owned();
            shell.builtin_error("read", &format!("{shown}: cannot convert associative to indexed array"));
            return Err(Unwind::Discard(1));
        }
        if exact {
            return shell.set_array(&array, vec![text]);
        }
        let mut splitter = Splitter {
            text: &text,
            escaped,
            ifs: &ifs,
            pos: 0,
        };
        let mut fields = Vec::new();
        while let Some(field) = splitter.field() {
            fields.push(field);
        }
        return shell.set_array(&array, fields);
    }
    if names.is_empty() {
        return shell.set_scalar(b"REPLY", text);
    }
    if exact {
        // -N splits nothing: all goes to the first name.
        for (i, name) in names.iter().enumerate() {
            set_name(shell, name, if i == 0 { text.clone() } else { Vec::new() })?;
        }
        return Ok(());
    }
    let mut splitter = Splitter {
        text: &text,
        escaped,
        ifs: &ifs,
        pos: 0,
    };
    for (i, name) in names.iter().enumerate() {
        let value = if i + 1 < names.len() {
            splitter.field().unwrap_or_default()
        } else {
            splitter.rest()
        };
        set_name(shell, name, value)?;
    }
    Ok(())
}

fn set_name(shell: &mut Shell, name: &[u8], value: Vec<u8>) -> Run<()> {
    if !crate::state::access::valid_reference(name) {
        let shown = String::from_utf8_lossy(name).into_owned();
        shell.builtin_error("read", &format!("`{shown}': not a valid identifier"));
        return Err(Unwind::Discard(1));
    }
    match name.iter().position(|&c| c == b'[') {
        Some(open) => shell.set_element_text(&name[..open], &name[open + 1..name.len() - 1], value, false),
        None => shell.set_scalar(name, value),
    }
}

/// Splits a line by IFS as `read` does.
struct Splitter<'a> {
    text: &'a [u8],
    escaped: &'a [usize],
    ifs: &'a [u8],
    pos: usize,
}

impl Splitter<'_> {
    /// Whether a separator stands at the place, and its length.
    fn separator(&self, at: usize) -> Option<usize> {
        if self.escaped.binary_search(&at).is_ok() {
            return None;
        }
        let n = decode(&self.text[at..]).1;
        let mut j = 0;
        while j < self.ifs.len() {
            let m = decode(&self.ifs[j..]).1;
            if self.ifs[j..j + m] == self.text[at..at + n] {
                return Some(n);
            }
            j += m;
        }
        None
    }

    fn blank(&self, at: usize) -> bool {
        matches!(self.text.get(at), Some(b' ' | b'\t' | b'\n')) && self.separator(at).is_some()
    }

    fn skip_blanks(&mut self) {
        while self.blank(self.pos) {
            self.pos += 1;
        }
    }

    /// The next field and its separator; `None` at the end.
    fn field(&mut self) -> Option<Vec<u8>> {
        self.skip_blanks();
        if self.pos >= self.text.len() {
            return None;
        }
        let start = self.pos;
        while self.pos < self.text.len() {
            if let Some(n) = self.separator(self.pos) {
                let field = self.text[start..self.pos].to_vec();
                if self.blank(self.pos) {
                    self.skip_blanks();
                    // White space around another separator belongs to it.
                    if self.pos < self.text.len()
                        && !self.blank(self.pos)
                        && let Some(n) = self.separator(self.pos)
                    {
                        self.pos += n;
                        self.skip_blanks();
                    }
                } else {
                    self.pos += n;
                    self.skip_blanks();
                }
                return Some(field);
            }
            self.pos += decode(&self.text[self.pos..]).1;
        }
        Some(self.text[start..].to_vec())
    }

    /// All that is left, for the last name: a single field loses its separator, more keep theirs.
    fn rest(&mut self) -> Vec<u8> {
        self.skip_blanks();
        let start = self.pos;
        let field = self.field().unwrap_or_default();
        if self.pos >= self.text.len() {
            return field;
        }
        let mut end = self.text.len();
        while end > start && self.blank(end - 1) {
            end -= 1;
        }
        self.text[start..end].to_vec()
    }
}
