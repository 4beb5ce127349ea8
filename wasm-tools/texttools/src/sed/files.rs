//! The input lines and output files of a run.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};

use super::Config;
use crate::input::{self, Records};
use crate::output::{Output, show};
use crate::platform;

/// Somewhere lines are written. GNU keeps a missing newline at the end of the input missing in the output.
pub struct Sink {
    target: Target,
    missing_newline: bool,
}

enum Target {
    Stdout(Output),
    Stderr,
    File(BufWriter<File>),
}

impl Sink {
    /// Standard output.
    pub fn stdout(config: &Config) -> Self {
        let mut output = Output::new("sed", 4);
        if config.unbuffered {
            output.set_line_buffered();
        }
        Self { target: Target::Stdout(output), missing_newline: false }
    }

    /// Standard error.
    pub fn stderr() -> Self {
        Self { target: Target::Stderr, missing_newline: false }
    }

    /// A file, made empty.
    pub fn create(name: &[u8]) -> Result<Self, String> {
        let file = File::create(platform::path(name))
            .map_err(|error| format!("couldn't open file {}: {}", show(name), platform::message(&error)))?;
        Ok(Self { target: Target::File(BufWriter::new(file)), missing_newline: false })
    }

    fn raw(&mut self, bytes: &[u8]) {
        let done = match &mut self.target {
            Target::Stdout(output) => return output.put(bytes),
            Target::Stderr => io::stderr().write_all(bytes),
            Target::File(file) => file.write_all(bytes),
        };
        if let Err(error) = done {
            eprintln!("sed: couldn't write {} items: {}", bytes.len(), platform::message(&error));
            std::process::exit(4);
        }
    }

    /// Writes text that brings its own newline.
    pub fn text(&mut self, bytes: &[u8]) {
        self.finish_line();
        self.raw(bytes);
    }

    /// Writes a line; without `ended` its delimiter only comes when more follows.
    pub fn line(&mut self, bytes: &[u8], ended: bool, delimiter: u8) {
        self.finish_line();
        self.raw(bytes);
        if ended {
            self.raw(&[delimiter]);
        } else {
            self.missing_newline = true;
        }
    }

    fn finish_line(&mut self) {
        if std::mem::take(&mut self.missing_newline) {
            self.raw(b"\n");
        }
    }

    /// Hands everything to the kernel.
    pub fn flush(&mut self) {
        match &mut self.target {
            Target::Stdout(output) => output.flush_all(),
            Target::Stderr => {}
            Target::File(file) => {
                if let Err(error) = file.flush() {
                    eprintln!("sed: couldn't flush: {}", platform::message(&error));
                    std::process::exit(4);
                }
            }
        }
    }
}

/// A file edited in place: lines go to a new file that replaces it at the end.
pub struct InPlace {
    /// The new file.
    pub sink: Sink,
    name: Vec<u8>,
    temporary: Vec<u8>,
    mode: u32,
}

impl InPlace {
    fn open(name: &[u8]) -> Result<Self, String> {
        let info = platform::stat(name, true)
            .map_err(|error| format!("can't read {}: {}", show(name), platform::message(&error)))?;
        if !info.is_file() {
            return Err(format!("couldn't edit {}: not a regular file", show(name)));
        }
        let directory = name.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let mut temporary = name[..directory].to_vec();
        temporary.extend_from_slice(format!("sed{:06x}", info.ino as u32 & 0xff_ffff).as_bytes());
        let sink = Sink::create(&temporary)?;
        Ok(Self { sink, name: name.to_vec(), temporary, mode: info.mode })
    }

    /// Puts the new file in the old one's place; `suffix` keeps a backup.
    fn finish(mut self, suffix: &[u8]) -> Result<(), String> {
        self.sink.flush();
        let failed =
            |error: io::Error| format!("cannot rename {}: {}", show(&self.temporary), platform::message(&error));
        // The mode is a courtesy: a file system without modes refuses it.
        let _ = platform::chmod(&self.temporary, self.mode & 0o7777);
        if !suffix.is_empty() {
            fs::rename(platform::path(&self.name), platform::path(&backup_name(&self.name, suffix))).map_err(failed)?;
        }
        fs::rename(platform::path(&self.temporary), platform::path(&self.name)).map_err(failed)
    }
}

/// The backup's name: `*` in the suffix stands for the file's name, else the suffix is appended.
fn backup_name(name: &[u8], suffix: &[u8]) -> Vec<u8> {
    let at = name.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let (directory, base) = name.split_at(at);
    let mut result = if suffix.contains(&b'/') { Vec::new() } else { directory.to_vec() };
    if suffix.contains(&b'*') {
        for byte in suffix {
            if *byte == b'*' { result.extend_from_slice(base) } else { result.push(*byte) }
        }
    } else {
        result.extend_from_slice(base);
        result.extend_from_slice(suffix);
    }
    result
}

/// The input files as one stream of lines, or file by file.
pub struct Lines<'c> {
    config: &'c Config,
    waiting: VecDeque<Vec<u8>>,
    current: Option<Records>,
    opened: Vec<u8>,
    /// The file of the last line read; `-` for standard input.
    pub name: Vec<u8>,
    /// The number of the last line read.
    pub number: u64,
    /// Where a file edited in place goes.
    pub in_place: Option<InPlace>,
    /// 2 when a file could not be read, 4 when one could not be edited.
    pub status: i32,
}

impl<'c> Lines<'c> {
    /// The lines of these files.
    pub fn new(config: &'c Config, files: Vec<Vec<u8>>) -> Self {
        Self {
            config,
            waiting: files.into(),
            current: None,
            opened: b"-".to_vec(),
            name: b"-".to_vec(),
            number: 0,
            in_place: None,
            status: 0,
        }
    }

    /// Opens the next readable file; false at the end.
    fn open_next(&mut self) -> Result<bool, String> {
        self.close()?;
        while let Some(name) = self.waiting.pop_front() {
            if self.config.in_place.is_some() && name != b"-" {
                match InPlace::open(&name) {
                    Ok(file) => self.in_place = Some(file),
                    Err(message) => {
                        self.status = if message.starts_with("couldn't") { 4 } else { 2 };
                        eprintln!("sed: {message}");
                        continue;
                    }
                }
            }
            match input::open(&name) {
                Ok(stream) => {
                    self.current = Some(Records::new(stream));
                    self.opened = name;
                    if self.config.separate {
                        self.number = 0;
                    }
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                    eprintln!("sed: couldn't read {}: Is a directory", show(&name));
                    self.status = 2;
                }
                Err(error) => {
                    eprintln!("sed: can't read {}: {}", show(&name), platform::message(&error));
                    self.status = 2;
                }
            }
        }
        Ok(false)
    }

    /// Ends the current file.
    fn close(&mut self) -> Result<(), String> {
        self.current = None;
        match (self.in_place.take(), &self.config.in_place) {
            (Some(file), Some(suffix)) => file.finish(suffix),
            _ => Ok(()),
        }
    }

    /// Reads the next line; `None` at the end of the input, else whether the line had its delimiter.
    pub fn next(&mut self, line: &mut Vec<u8>) -> Result<Option<bool>, String> {
        loop {
            if let Some(records) = &mut self.current {
                match records.next(self.config.delimiter, line) {
                    Ok(Some(ended)) => {
                        self.number += 1;
                        self.name.clone_from(&self.opened);
                        return Ok(Some(ended));
                    }
                    Ok(None) => {}
                    Err(error) => {
                        eprintln!("sed: read error on {}: {}", show(&self.opened), platform::message(&error));
                        self.status = 2;
                    }
                }
            }
            if !self.open_next()? {
                return Ok(None);
            }
        }
    }

    /// Whether the last line read is the last of the input (of its file with `-s`).
    pub fn is_last(&mut self) -> Result<bool, String> {
        loop {
            if let Some(records) = &mut self.current
                && !records.at_end().unwrap_or(true)
            {
                return Ok(false);
            }
            if self.config.separate {
                return Ok(true);
            }
            if !self.open_next()? {
                return Ok(true);
            }
        }
    }

    /// Whether nothing is left in any file: where `n` and `N` end the run.
    pub fn at_end(&mut self) -> Result<bool, String> {
        if self.config.separate && !self.waiting.is_empty() {
            return Ok(false);
        }
        self.is_last()
    }

    /// Copies what is left of the current file to its new one and ends it: `q` with `-i`.
    pub fn dump_rest(&mut self) -> Result<(), String> {
        let mut line = Vec::new();
        while let (Some(file), Some(records)) = (&mut self.in_place, &mut self.current) {
            match records.next(self.config.delimiter, &mut line) {
                Ok(Some(ended)) => file.sink.line(&line, ended, self.config.delimiter),
                _ => break,
            }
        }
        self.close()
    }
}
