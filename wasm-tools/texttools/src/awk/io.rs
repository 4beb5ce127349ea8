//! Input records, and the files and commands a program reads and writes.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::rc::Rc;

use crate::input;
use crate::output::Output;
use crate::platform::{self, Child, Status, Stream};
use crate::regex::Regex;

/// The first size of a reader's buffer.
const BUFFER: usize = 64 << 10;

/// What ends a record.
#[derive(Clone)]
pub enum Separator {
    /// This byte.
    Byte(u8),
    /// Empty lines.
    Paragraph,
    /// What matches.
    Regex(Rc<Regex>),
}

/// A stream cut into records.
pub struct Reader {
    source: Box<dyn Read>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
}

impl Reader {
    /// The records of a stream.
    pub fn new(source: Box<dyn Read>) -> Self {
        Self { source, buffer: Vec::new(), start: 0, end: 0, at_end: false }
    }

    /// Reads more behind what is buffered; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        if self.at_end {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            self.buffer.resize((self.buffer.len() * 2).max(BUFFER), 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.at_end = true;
                    return Ok(false);
                }
                Ok(count) => {
                    self.end += count;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn pending(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Reads a record and what ended it (RT). False at the end.
    ///
    /// # Errors
    /// As `read` has them.
    pub fn next(&mut self, separator: &Separator, record: &mut Vec<u8>, ended_by: &mut Vec<u8>) -> io::Result<bool> {
        record.clear();
        ended_by.clear();
        match separator {
            Separator::Byte(byte) => self.next_byte(*byte, record, ended_by),
            Separator::Paragraph => self.next_paragraph(record, ended_by),
            Separator::Regex(regex) => self.next_regex(regex, record, ended_by),
        }
    }

    fn next_byte(&mut self, byte: u8, record: &mut Vec<u8>, ended_by: &mut Vec<u8>) -> io::Result<bool> {
        let mut searched = 0;
        loop {
            if let Some(length) = memchr::memchr(byte, &self.pending()[searched..]) {
                let length = searched + length;
                record.extend_from_slice(&self.buffer[self.start..self.start + length]);
                ended_by.push(byte);
                self.start += length + 1;
                return Ok(true);
            }
            searched = self.pending().len();
            if !self.fill()? {
                return Ok(self.take_rest(record));
            }
        }
    }

    fn take_rest(&mut self, record: &mut Vec<u8>) -> bool {
        record.extend_from_slice(&self.buffer[self.start..self.end]);
        self.start = self.end;
        !record.is_empty()
    }

    fn next_paragraph(&mut self, record: &mut Vec<u8>, ended_by: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let newlines = self.pending().iter().take_while(|byte| **byte == b'\n').count();
            self.start += newlines;
            if self.start < self.end {
                break;
            }
            if !self.fill()? {
                return Ok(false);
            }
        }
        let mut searched = 0;
        loop {
            if let Some(length) = memchr::memmem::find(&self.pending()[searched..], b"\n\n") {
                let length = searched + length;
                // All newlines that follow belong to the end of the record.
                let mut newlines = 2;
                loop {
                    newlines += self.pending()[length + newlines..].iter().take_while(|byte| **byte == b'\n').count();
                    if length + newlines < self.pending().len() || !self.fill()? {
                        break;
                    }
                }
                record.extend_from_slice(&self.buffer[self.start..self.start + length]);
                ended_by.resize(newlines, b'\n');
                self.start += length + newlines;
                return Ok(true);
            }
            searched = self.pending().len().saturating_sub(1);
            if !self.fill()? {
                let found = self.take_rest(record);
                while record.last() == Some(&b'\n') {
                    record.pop();
                    ended_by.push(b'\n');
                }
                return Ok(found);
            }
        }
    }

    fn next_regex(&mut self, regex: &Regex, record: &mut Vec<u8>, ended_by: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            if let Some((from, to)) = find_not_empty(regex, self.pending()) {
                // A match at the end of what was read might be longer in what comes.
                if to < self.pending().len() || self.at_end {
                    record.extend_from_slice(&self.buffer[self.start..self.start + from]);
                    ended_by.extend_from_slice(&self.buffer[self.start + from..self.start + to]);
                    self.start += to;
                    return Ok(true);
                }
            }
            if !self.fill()? {
                if find_not_empty(regex, self.pending()).is_some() {
                    continue;
                }
                return Ok(self.take_rest(record));
            }
        }
    }
}

fn find_not_empty(regex: &Regex, text: &[u8]) -> Option<(usize, usize)> {
    let mut at = 0;
    while at <= text.len() {
        let (from, to) = regex.find_at(text, at)?;
        if to > from {
            return Some((from, to));
        }
        at = to + 1;
    }
    None
}

/// How an output is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `>`
    Write,
    /// `>>`
    Append,
    /// `|`
    Pipe,
    /// `|&`
    Coprocess,
}

enum Sink {
    Stdout,
    Stderr,
    File(BufWriter<File>),
    Pipe(BufWriter<File>, Box<Child>),
}

struct Source {
    reader: Reader,
    child: Option<Child>,
}

struct Coprocess {
    child: Child,
    to: Option<BufWriter<File>>,
    from: Option<Reader>,
}

/// All streams of a program but the main input.
pub struct Streams {
    /// Standard output.
    pub stdout: Output,
    /// Where `print` without a redirection goes with `-i inplace`.
    pub in_place: Option<BufWriter<File>>,
    sinks: HashMap<Vec<u8>, Sink>,
    files: HashMap<Vec<u8>, Reader>,
    commands: HashMap<Vec<u8>, Source>,
    coprocesses: HashMap<Vec<u8>, Coprocess>,
}

fn shell(command: &[u8]) -> [Vec<u8>; 3] {
    [b"sh".to_vec(), b"-c".to_vec(), command.to_vec()]
}

impl Default for Streams {
    fn default() -> Self {
        Self::new()
    }
}

impl Streams {
    /// Nothing open but standard output.
    pub fn new() -> Self {
        Self {
            stdout: Output::new("awk", 2),
            in_place: None,
            sinks: HashMap::new(),
            files: HashMap::new(),
            commands: HashMap::new(),
            coprocesses: HashMap::new(),
        }
    }

    /// Writes to where `print` without a redirection writes.
    ///
    /// # Errors
    /// As `write` has them.
    pub fn print(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.in_place {
            Some(file) => file.write_all(bytes),
            None => {
                self.stdout.put(bytes);
                Ok(())
            }
        }
    }

    /// Writes to a file or command, opened at first use.
    ///
    /// # Errors
    /// As `open`, `write` and starting the command have them.
    pub fn print_to(&mut self, name: &[u8], kind: Kind, bytes: &[u8]) -> io::Result<()> {
        if kind == Kind::Coprocess {
            self.coprocess(name)?;
            return match self.coprocesses.get_mut(name).and_then(|process| process.to.as_mut()) {
                Some(pipe) => pipe.write_all(bytes),
                None => Err(io::ErrorKind::BrokenPipe.into()),
            };
        }
        if !self.sinks.contains_key(name) {
            let sink = match (kind, name) {
                (Kind::Pipe, _) => {
                    self.stdout.flush_all();
                    let argv = shell(name);
                    let mut command = platform::Command::new(&argv);
                    command.stdin = Stream::Pipe;
                    let mut child = command.spawn()?;
                    let pipe = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
                    Sink::Pipe(BufWriter::new(pipe), Box::new(child))
                }
                (_, b"/dev/stdout" | b"-") => Sink::Stdout,
                (_, b"/dev/stderr") => Sink::Stderr,
                (Kind::Append, _) => {
                    Sink::File(BufWriter::new(OpenOptions::new().append(true).create(true).open(platform::path(name))?))
                }
                _ => Sink::File(BufWriter::new(File::create(platform::path(name))?)),
            };
            self.sinks.insert(name.to_vec(), sink);
        }
        match self.sinks.get_mut(name) {
            Some(Sink::Stderr) => {
                self.stdout.flush_all();
                io::stderr().write_all(bytes)
            }
            Some(Sink::File(file)) => file.write_all(bytes),
            // A reader that went away is no error: awk goes on.
            Some(Sink::Pipe(pipe, _)) => match pipe.write_all(bytes) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                done => done,
            },
            Some(Sink::Stdout) | None => {
                self.stdout.put(bytes);
                Ok(())
            }
        }
    }

    fn coprocess(&mut self, name: &[u8]) -> io::Result<()> {
        if self.coprocesses.contains_key(name) {
            return Ok(());
        }
        self.flush_all();
        let argv = shell(name);
        let mut command = platform::Command::new(&argv);
        command.stdin = Stream::Pipe;
        command.stdout = Stream::Pipe;
        let mut child = command.spawn()?;
        let to = child.stdin.take().map(BufWriter::new);
        let from = child.stdout.take().map(|pipe| Reader::new(Box::new(pipe)));
        self.coprocesses.insert(name.to_vec(), Coprocess { child, to, from });
        Ok(())
    }

    /// The reader of a file, opened at first use.
    ///
    /// # Errors
    /// As `open` has them.
    pub fn file(&mut self, name: &[u8]) -> io::Result<&mut Reader> {
        if !self.files.contains_key(name) {
            let name_or_stdin = if name == b"/dev/stdin" { b"-" } else { name };
            let reader = Reader::new(input::open(name_or_stdin)?);
            self.files.insert(name.to_vec(), reader);
        }
        self.files.get_mut(name).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// The reader of a command's output; the command is started at first use.
    ///
    /// # Errors
    /// As starting it has them.
    pub fn command(&mut self, name: &[u8]) -> io::Result<&mut Reader> {
        if !self.commands.contains_key(name) {
            self.flush_all();
            let argv = shell(name);
            let mut command = platform::Command::new(&argv);
            command.stdout = Stream::Pipe;
            let mut child = command.spawn()?;
            let pipe = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
            self.commands.insert(name.to_vec(), Source { reader: Reader::new(Box::new(pipe)), child: Some(child) });
        }
        self.commands.get_mut(name).map(|source| &mut source.reader).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// The reader of a coprocess.
    ///
    /// # Errors
    /// As starting it has them.
    pub fn from_coprocess(&mut self, name: &[u8]) -> io::Result<&mut Reader> {
        self.coprocess(name)?;
        let process = self.coprocesses.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        if let Some(pipe) = &mut process.to {
            pipe.flush()?;
        }
        process.from.as_mut().ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }

    /// Runs a command and waits for it.
    ///
    /// # Errors
    /// As starting it has them.
    pub fn system(&mut self, command: &[u8]) -> io::Result<Status> {
        self.flush_all();
        platform::Command::new(&shell(command)).spawn()?.wait()
    }

    /// Hands all output to the kernel.
    pub fn flush_all(&mut self) {
        self.stdout.flush_all();
        for sink in self.sinks.values_mut() {
            // What cannot be written is told at close.
            let _ = match sink {
                Sink::File(file) | Sink::Pipe(file, _) => file.flush(),
                Sink::Stdout | Sink::Stderr => Ok(()),
            };
        }
    }

    /// Flushes one output; whether it is open.
    pub fn flush(&mut self, name: &[u8]) -> bool {
        match self.sinks.get_mut(name) {
            Some(Sink::File(file) | Sink::Pipe(file, _)) => file.flush().is_ok(),
            Some(Sink::Stdout | Sink::Stderr) => {
                self.stdout.flush_all();
                true
            }
            None => self
                .coprocesses
                .get_mut(name)
                .and_then(|process| process.to.as_mut())
                .is_some_and(|to| to.flush().is_ok()),
        }
    }

    /// Closes a file or command: -1 when it is not open, a command's exit status, else 0. `how` is `to` or `from` for
    /// one side of a coprocess.
    pub fn close(&mut self, name: &[u8], how: Option<&[u8]>) -> f64 {
        if let Some(how) = how
            && let Some(process) = self.coprocesses.get_mut(name)
        {
            if how == b"to" {
                process.to = None;
            } else {
                process.from = None;
            }
            return 0.0;
        }
        let mut result = -1.0;
        if let Some(sink) = self.sinks.remove(name) {
            result = match sink {
                Sink::Stdout | Sink::Stderr => 0.0,
                Sink::File(mut file) => {
                    if file.flush().is_ok() {
                        0.0
                    } else {
                        -1.0
                    }
                }
                Sink::Pipe(pipe, child) => finish_pipe(pipe, *child),
            };
        }
        if self.files.remove(name).is_some() {
            result = 0.0;
        }
        if let Some(source) = self.commands.remove(name) {
            drop(source.reader);
            result = source.child.map_or(0.0, finish);
        }
        if let Some(process) = self.coprocesses.remove(name) {
            drop(process.to);
            drop(process.from);
            result = finish(process.child);
        }
        result
    }

    /// Closes everything at the end of the program.
    pub fn close_all(&mut self) {
        self.stdout.flush_all();
        for name in self.sinks.keys().cloned().collect::<Vec<_>>() {
            self.close(&name, None);
        }
        for name in self.coprocesses.keys().cloned().collect::<Vec<_>>() {
            self.close(&name, None);
        }
        for name in self.commands.keys().cloned().collect::<Vec<_>>() {
            self.close(&name, None);
        }
        self.stdout.flush_all();
    }
}

fn finish_pipe(mut pipe: BufWriter<File>, child: Child) -> f64 {
    let _ = pipe.flush();
    drop(pipe);
    finish(child)
}

fn finish(mut child: Child) -> f64 {
    match child.wait() {
        Ok(Status::Exited(code)) => f64::from(code),
        Ok(Status::Signaled(signal)) => f64::from(256 + signal),
        Err(_) => -1.0,
    }
}
