//! The main input: ARGV's files one after another, assignments among them, BEGINFILE and ENDFILE.

use std::fs::{self, File};
use std::io::BufWriter;
use std::io::Write;
use std::rc::Rc;

use super::array::Item;
use super::ast::Special;
use super::interp::{Cell, Interp, Run, Unwind, fatal};
use super::io::Reader;
use super::lexer::unescape;
use super::value::{Text, Value};
use crate::input;
use crate::output::show;
use crate::platform;

/// Where the main input is.
#[derive(Default)]
pub struct MainInput {
    /// The next element of ARGV.
    next: usize,
    reader: Option<Reader>,
    /// Whether any file was named: else standard input is read.
    any: bool,
    finished: bool,
    /// `-i inplace`
    pub in_place: bool,
    replacing: Option<(Vec<u8>, Vec<u8>, u32)>,
}

impl Interp<'_> {
    /// Reads the next record of the main input into `$0`; at the end it is false and the old record stays.
    pub fn next_main_record(&mut self) -> Run<bool> {
        match self.next_main_text()? {
            Some(text) => {
                self.record.set(text);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Reads the next record's text and counts it.
    pub fn next_main_text(&mut self) -> Run<Option<Text>> {
        loop {
            if self.main.reader.is_none() && !self.open_next()? {
                return Ok(None);
            }
            let mut buffer = Vec::new();
            let mut ended_by = Vec::new();
            let Some(reader) = &mut self.main.reader else { continue };
            match reader.next(&self.separator, &mut buffer, &mut ended_by) {
                Ok(true) => {
                    self.nr += 1.0;
                    self.fnr += 1.0;
                    if let [b'\n'] = ended_by.as_slice() {
                        // Nearly always the same: no new value each time.
                        if !matches!(&self.globals[Special::Rt as usize], Cell::Value(Value::Text(old)) if ***old == *b"\n")
                        {
                            self.set_named(Special::Rt, Value::text(ended_by));
                        }
                    } else {
                        self.set_named(Special::Rt, Value::text(ended_by));
                    }
                    return Ok(Some(Rc::new(buffer)));
                }
                Ok(false) => self.end_file()?,
                Err(error) => {
                    let message = platform::message(&error);
                    eprintln!("awk: warning: error reading file: {message}");
                    self.end_file()?;
                }
            }
        }
    }

    fn end_file(&mut self) -> Run<()> {
        self.main.reader = None;
        for action in &self.program.end_file {
            match self.exec(action) {
                Ok(_) => {}
                Err(Unwind::Next) => return fatal("`next' used in ENDFILE action"),
                Err(other) => return Err(other),
            }
        }
        self.close_in_place();
        Ok(())
    }

    /// Leaves the current file: `nextfile`.
    pub fn skip_file(&mut self) {
        // An error in ENDFILE would have come at the file's end, too.
        let _ = self.end_file();
    }

    fn operand(&self, index: usize) -> Option<Text> {
        let Cell::Array(argv) = &self.globals[Special::Argv as usize] else { return None };
        match argv.borrow().get(&index.to_string().into_bytes()) {
            Some(Item::Value(value)) => Some(value.to_text(&self.convfmt)),
            _ => None,
        }
    }

    /// Opens the next file; false at the end.
    fn open_next(&mut self) -> Run<bool> {
        if self.main.finished {
            return Ok(false);
        }
        self.main.next = self.main.next.max(1);
        loop {
            let count = match &self.globals[Special::Argc as usize] {
                Cell::Value(value) => value.number() as usize,
                _ => 0,
            };
            let index = self.main.next;
            if index >= count {
                break;
            }
            self.main.next += 1;
            let Some(operand) = self.operand(index).filter(|operand| !operand.is_empty()) else { continue };
            if self.assignment_operand(&operand)? {
                continue;
            }
            self.main.any = true;
            self.set_named(Special::Argind, Value::Number(index as f64));
            if self.open_file(&operand)? {
                return Ok(true);
            }
        }
        self.main.finished = true;
        if self.main.any {
            return Ok(false);
        }
        self.main.any = true;
        self.open_file(b"-")
    }

    fn open_file(&mut self, name: &[u8]) -> Run<bool> {
        let shown = if name == b"-" && self.main.finished { b"".to_vec() } else { name.to_vec() };
        self.set_named(Special::Filename, Value::input(shown));
        self.fnr = 0.0;
        let stream = input::open(if name == b"/dev/stdin" { b"-" } else { name });
        let hooks = !self.program.begin_file.is_empty();
        let message = stream.as_ref().err().map(platform::message);
        self.set_named(Special::Errno, Value::text(message.clone().unwrap_or_default()));
        match stream {
            Ok(stream) => self.main.reader = Some(Reader::new(stream)),
            Err(error) if error.kind() == std::io::ErrorKind::IsADirectory => {
                self.streams.flush_all();
                eprintln!("awk: warning: command line argument `{}' is a directory: skipped", show(name));
                return Ok(false);
            }
            Err(_) if !hooks => {
                let error = message.unwrap_or_default();
                return fatal(format!("cannot open file `{}' for reading: {error}", show(name)));
            }
            Err(_) => {}
        }
        if self.main.in_place && self.main.reader.is_some() && name != b"-" {
            self.open_in_place(name)?;
        }
        for action in &self.program.begin_file {
            match self.exec(action) {
                Ok(_) => {}
                Err(Unwind::NextFile) => {
                    self.main.reader = None;
                    self.close_in_place();
                    return Ok(false);
                }
                Err(Unwind::Next) => return fatal("`next' used in BEGINFILE action"),
                Err(other) => return Err(other),
            }
        }
        if self.main.reader.is_none() {
            return fatal(format!("cannot open file `{}' for reading: {}", show(name), message.unwrap_or_default()));
        }
        Ok(true)
    }

    /// `name=value` among the files: assigns and is true.
    pub fn assignment_operand(&mut self, operand: &[u8]) -> Run<bool> {
        let Some(at) = operand.iter().position(|byte| *byte == b'=') else { return Ok(false) };
        let name = &operand[..at];
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if name.is_empty() || name[0].is_ascii_digit() || !name.iter().all(word) {
            return Ok(false);
        }
        self.assign_by_name(name, &operand[at + 1..])?;
        Ok(true)
    }

    /// Assigns to a variable of the program as `-v` does; one the program does not use is left out.
    pub fn assign_by_name(&mut self, name: &[u8], value: &[u8]) -> Run<()> {
        let value = Value::input(unescape(value));
        match self.program.globals.iter().position(|global| global.as_bytes() == name) {
            Some(slot) => self.set(super::ast::Var::Global(slot), value),
            None => Ok(()),
        }
    }

    fn open_in_place(&mut self, name: &[u8]) -> Run<()> {
        let mode = platform::stat(name, true).map_or(0o644, |found| found.mode);
        let mut temporary = name.to_vec();
        temporary.extend_from_slice(b".awk-inplace");
        match File::create(platform::path(&temporary)) {
            Ok(file) => {
                self.streams.in_place = Some(BufWriter::new(file));
                self.main.replacing = Some((name.to_vec(), temporary, mode));
                Ok(())
            }
            Err(error) => {
                fatal(format!("inplace: cannot create `{}': {}", show(&temporary), platform::message(&error)))
            }
        }
    }

    /// Puts the new text of a file in its place.
    pub fn close_in_place(&mut self) {
        let (Some(mut file), Some((name, temporary, mode))) =
            (self.streams.in_place.take(), self.main.replacing.take())
        else {
            return;
        };
        let done = file.flush().and_then(|()| {
            drop(file);
            // The mode is a courtesy.
            let _ = platform::chmod(&temporary, mode & 0o7777);
            fs::rename(platform::path(&temporary), platform::path(&name))
        });
        if let Err(error) = done {
            eprintln!("awk: fatal: inplace: cannot replace `{}': {}", show(&name), platform::message(&error));
            self.exit_status = 2;
        }
    }
}
