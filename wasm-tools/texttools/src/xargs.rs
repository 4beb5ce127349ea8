//! `xargs`: runs a command with arguments read from its input.

use std::collections::VecDeque;
use std::io::{self, BufReader, Read};

use crate::args::{self, Long, Value};
use crate::input;
use crate::output::show;
use crate::platform::{self, Child, Status, Stream};

/// Bytes of arguments a command gets at most, as GNU has it.
const MAX_BYTES: usize = 128 << 10;

const LONGS: &[Long] = &[
    ("arg-file", Value::Required, 'a'),
    ("delimiter", Value::Required, 'd'),
    ("eof", Value::Optional, 'e'),
    ("exit", Value::No, 'x'),
    ("help", Value::No, 'h'),
    ("interactive", Value::No, 'p'),
    ("max-args", Value::Required, 'n'),
    ("max-chars", Value::Required, 's'),
    ("max-lines", Value::Optional, 'l'),
    ("max-procs", Value::Required, 'P'),
    ("no-run-if-empty", Value::No, 'r'),
    ("null", Value::No, '0'),
    ("open-tty", Value::No, 'o'),
    ("process-slot-var", Value::Required, '\u{e000}'),
    ("replace", Value::Optional, 'i'),
    ("show-limits", Value::No, '\u{e001}'),
    ("verbose", Value::No, 't'),
    ("version", Value::No, '\u{e002}'),
];

struct Config {
    command: Vec<Vec<u8>>,
    delimiter: Option<u8>,
    end: Option<Vec<u8>>,
    replace: Option<Vec<u8>>,
    max_args: Option<usize>,
    max_lines: Option<usize>,
    max_bytes: usize,
    processes: usize,
    skip_empty: bool,
    trace: bool,
    confirm: bool,
    exit_if_long: bool,
    keep_stdin: bool,
    /// Variable that tells a command which of the parallel places it has.
    slot: Option<Vec<u8>>,
}

/// Runs xargs and gives its exit status: 123 when a command failed, 124 when one exited with 255, 125 when one was
/// killed, 126 and 127 when it could not be run or found, 1 for other errors.
pub fn run(arguments: &[Vec<u8>]) -> i32 {
    let (config, file) = match parse(arguments) {
        Ok(Some(parsed)) => parsed,
        Ok(None) => return 0,
        Err(message) => {
            eprintln!("xargs: {message}");
            return 1;
        }
    };
    let stream = match input::open(file.as_deref().unwrap_or(b"-")) {
        Ok(stream) => stream,
        Err(error) => {
            let name = file.map_or_else(|| "standard input".to_string(), |name| show(&name));
            eprintln!("xargs: Cannot open input file \u{2018}{name}\u{2019}: {}", platform::message(&error));
            return 1;
        }
    };
    let items = Items::new(stream, &config);
    let mut runner = Runner { config: &config, running: VecDeque::new(), status: 0 };
    let result = runner.all(items);
    let ended = runner.wait_for(0);
    match result.and(ended) {
        Ok(()) => runner.status,
        Err(status) => {
            // The others are not left behind.
            let _ = runner.wait_for(0);
            status
        }
    }
}

type Parsed = (Config, Option<Vec<u8>>);

fn parse(arguments: &[Vec<u8>]) -> Result<Option<Parsed>, String> {
    let parsed = args::parse(arguments, "0a:d:E:e::hI:i::L:l::n:oP:prs:tx", LONGS, false)?;
    let mut config = Config {
        command: if parsed.operands.is_empty() { vec![b"echo".to_vec()] } else { parsed.operands },
        delimiter: None,
        end: None,
        replace: None,
        max_args: None,
        max_lines: None,
        max_bytes: MAX_BYTES,
        processes: 1,
        skip_empty: false,
        trace: false,
        confirm: false,
        exit_if_long: false,
        keep_stdin: false,
        slot: None,
    };
    let mut file = None;
    for (letter, value) in parsed.options {
        let number = |value: &Option<Vec<u8>>, least: i64| {
            let text = value.as_deref().unwrap_or(b"1");
            match args::number(text) {
                Some(number) if number >= least => Ok(number as usize),
                Some(_) => Err(format!("value {} for -{letter} option should be >= {least}", show(text))),
                None => Err(format!("invalid number \"{}\" for -{letter} option", show(text))),
            }
        };
        match letter {
            '0' => config.delimiter = Some(0),
            'a' => {
                file = value;
                config.keep_stdin = true;
            }
            'd' => config.delimiter = Some(delimiter(&value.unwrap_or_default())?),
            'E' | 'e' => config.end = value.filter(|end| !end.is_empty()),
            'I' | 'i' => {
                config.replace = Some(value.unwrap_or_else(|| b"{}".to_vec()));
                config.max_args = None;
                config.max_lines = None;
            }
            'L' | 'l' => {
                config.max_lines = Some(number(&value, 1)?);
                config.max_args = None;
                config.replace = None;
            }
            'n' => {
                let count = number(&value, 1)?;
                config.max_lines = None;
                // `-n 1` goes with -I.
                if config.replace.is_none() || count != 1 {
                    config.max_args = Some(count);
                    config.replace = None;
                }
            }
            's' => config.max_bytes = number(&value, 1)?.min(MAX_BYTES),
            'P' => config.processes = number(&value, 0)?,
            'p' => {
                config.confirm = true;
                config.trace = true;
            }
            '\u{e000}' => {
                if value.as_ref().is_some_and(|name| name.contains(&b'=')) {
                    return Err("option --process-slot-var may not be set to a value which includes `='".into());
                }
                config.slot = value;
            }
            'r' => config.skip_empty = true,
            't' => config.trace = true,
            'x' => config.exit_if_long = true,
            'h' => {
                println!("Usage: xargs [OPTION]... COMMAND [INITIAL-ARGS]...");
                return Ok(None);
            }
            '\u{e002}' => {
                println!("xargs (GNU findutils) 4.9.0 compatible (wskill texttools)");
                return Ok(None);
            }
            _ => {}
        }
    }
    Ok(Some((config, file)))
}

fn delimiter(text: &[u8]) -> Result<u8, String> {
    match text {
        [byte] => Ok(*byte),
        [b'\\', b'n'] => Ok(b'\n'),
        [b'\\', b't'] => Ok(b'\t'),
        [b'\\', b'r'] => Ok(b'\r'),
        [b'\\', b'a'] => Ok(7),
        [b'\\', b'b'] => Ok(8),
        [b'\\', b'f'] => Ok(12),
        [b'\\', b'v'] => Ok(11),
        [b'\\', b'\\'] => Ok(b'\\'),
        [b'\\', b'x', digits @ ..] => u8::from_str_radix(&show(digits), 16).map_err(|_| invalid_delimiter(text)),
        [b'\\', digits @ ..] => u8::from_str_radix(&show(digits), 8).map_err(|_| invalid_delimiter(text)),
        _ => Err(invalid_delimiter(text)),
    }
}

fn invalid_delimiter(text: &[u8]) -> String {
    format!(
        "Invalid input delimiter specification {}: the delimiter must be either a single character or an escape sequence starting with \\.",
        show(text)
    )
}

/// An argument, and whether it is the last one of its line.
struct Item {
    text: Vec<u8>,
    ends_line: bool,
}

/// The arguments of a stream, as they come: a command may run before the input ends.
struct Items<'c> {
    bytes: io::Bytes<BufReader<Box<dyn Read>>>,
    config: &'c Config,
    ended: bool,
    /// Nothing was read yet.
    first: bool,
}

impl<'c> Items<'c> {
    fn new(stream: Box<dyn Read>, config: &'c Config) -> Self {
        Self { bytes: BufReader::with_capacity(64 << 10, stream).bytes(), config, ended: false, first: true }
    }

    fn byte(&mut self) -> Result<Option<u8>, String> {
        self.bytes.next().transpose().map_err(|error| platform::message(&error))
    }

    /// The next argument; `None` at the end.
    fn next(&mut self) -> Result<Option<Item>, String> {
        if self.ended {
            return Ok(None);
        }
        let item = match self.config.delimiter {
            Some(delimiter) => self.next_delimited(delimiter)?,
            None => self.next_word()?,
        };
        self.ended = item.is_none();
        Ok(item)
    }

    fn next_delimited(&mut self, delimiter: u8) -> Result<Option<Item>, String> {
        let mut text: Option<Vec<u8>> = None;
        loop {
            match self.byte()? {
                None => return Ok(text.map(|text| Item { text, ends_line: true })),
                Some(byte) if byte == delimiter => {
                    return Ok(Some(Item { text: text.unwrap_or_default(), ends_line: true }));
                }
                Some(byte) => text.get_or_insert_default().push(byte),
            }
        }
    }

    /// A word by the rules of quotes and backslashes; with -I a line.
    fn next_word(&mut self) -> Result<Option<Item>, String> {
        let whole_lines = self.config.replace.is_some();
        let mut word: Option<Vec<u8>> = None;
        let mut quote: Option<u8> = None;
        // Whether the byte before was a blank, be it quoted by a backslash.
        let mut blank = false;
        let first = std::mem::take(&mut self.first);
        let found = loop {
            let Some(byte) = self.byte()? else {
                if quote.is_some() {
                    return Err(unmatched(quote));
                }
                // A last word without newline ends the input only when it is the first one.
                let last = word.map(|text| Item { text, ends_line: true });
                return Ok(last.filter(|item| !first || self.config.end.as_ref() != Some(&item.text)));
            };
            let after_blank = std::mem::take(&mut blank);
            if let Some(open) = quote {
                match byte {
                    _ if byte == open => quote = None,
                    b'\n' => return Err(unmatched(quote)),
                    _ => word.get_or_insert_default().push(byte),
                }
                continue;
            }
            match byte {
                b'\'' | b'"' => {
                    quote = Some(byte);
                    word.get_or_insert_default();
                }
                b'\\' => {
                    if let Some(next) = self.byte()? {
                        blank = matches!(next, b' ' | b'\t');
                        word.get_or_insert_default().push(next);
                    }
                }
                b'\n' => {
                    if let Some(text) = word.take() {
                        break Some(Item { text, ends_line: !after_blank });
                    }
                }
                b' ' | b'\t' if whole_lines => {
                    // Blanks inside stay, those in front do not count.
                    if let Some(text) = &mut word {
                        text.push(byte);
                    }
                }
                b' ' | b'\t' => {
                    // A blank at the end of a line joins the next line to it, for -L.
                    if let Some(text) = word.take() {
                        break Some(Item { text, ends_line: false });
                    }
                }
                _ => word.get_or_insert_default().push(byte),
            }
        };
        Ok(found.filter(|item| self.config.end.as_ref() != Some(&item.text)))
    }
}

fn unmatched(quote: Option<u8>) -> String {
    let name = if quote == Some(b'"') { "double" } else { "single" };
    format!("unmatched {name} quote; by default quotes are special to xargs unless you use the -0 option")
}

struct Runner<'c> {
    config: &'c Config,
    /// What runs, with its place.
    running: VecDeque<(usize, Child)>,
    status: i32,
}

impl Runner<'_> {
    fn all(&mut self, mut items: Items<'_>) -> Result<(), i32> {
        let mut next = || {
            items.next().map_err(|message| {
                eprintln!("xargs: {message}");
                1
            })
        };
        let config = self.config;
        if let Some(mark) = &config.replace {
            while let Some(item) = next()? {
                let argv: Vec<Vec<u8>> =
                    config.command.iter().map(|word| replace_all(word, mark, &item.text)).collect();
                if argv.iter().map(|word| word.len() + 1).sum::<usize>() > config.max_bytes {
                    eprintln!("xargs: argument list too long");
                    return Err(1);
                }
                self.run(&argv)?;
            }
            return Ok(());
        }
        let base: usize = config.command.iter().map(|word| word.len() + 1).sum();
        let mut argv = config.command.clone();
        let (mut count, mut lines, mut bytes) = (0, 0, base);
        let mut ran = false;
        while let Some(item) = next()? {
            ran = true;
            let length = item.text.len() + 1;
            if bytes + length > config.max_bytes {
                if count == 0 || config.exit_if_long && (config.max_args.is_some() || config.max_lines.is_some()) {
                    eprintln!("xargs: argument line too long");
                    return Err(1);
                }
                self.run(&argv)?;
                argv.truncate(config.command.len());
                (count, lines, bytes) = (0, 0, base);
            }
            argv.push(item.text);
            count += 1;
            bytes += length;
            lines += usize::from(item.ends_line);
            if config.max_args == Some(count) || config.max_lines.is_some_and(|most| lines >= most && item.ends_line) {
                self.run(&argv)?;
                argv.truncate(config.command.len());
                (count, lines, bytes) = (0, 0, base);
            }
        }
        if count > 0 || !ran && !config.skip_empty { self.run(&argv) } else { Ok(()) }
    }

    fn run(&mut self, argv: &[Vec<u8>]) -> Result<(), i32> {
        if self.config.trace {
            let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
            eprint!("{}{}", words.join(" "), if self.config.confirm { "?..." } else { "\n" });
        }
        if self.config.confirm {
            let mut answer = [0; 64];
            let count = std::fs::File::open("/dev/tty").and_then(|mut tty| tty.read(&mut answer)).unwrap_or(0);
            if count == 0 || !matches!(answer[0], b'y' | b'Y') {
                return Ok(());
            }
        }
        let place = (0..).find(|place| self.running.iter().all(|(taken, _)| taken != place)).unwrap_or(0);
        let slot = self.config.slot.as_ref().map(|name| (name.clone(), place.to_string().into_bytes()));
        let mut command = platform::Command::new(argv);
        command.env = slot.as_slice();
        if !self.config.keep_stdin {
            command.stdin = Stream::Null;
        }
        match command.spawn() {
            Ok(child) => self.running.push_back((place, child)),
            Err(error) => {
                eprintln!("xargs: {}: {}", show(&argv[0]), platform::message(&error));
                return Err(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 });
            }
        }
        // 0 is as many as there are.
        match self.config.processes {
            0 => Ok(()),
            most => self.wait_for(most - 1),
        }
    }

    /// Waits until at most `most` commands run.
    fn wait_for(&mut self, most: usize) -> Result<(), i32> {
        while self.running.len() > most {
            let place =
                self.running.iter_mut().position(|(_, child)| matches!(child.try_wait(), Ok(Some(_)))).unwrap_or(0);
            let Some((_, mut child)) = self.running.remove(place) else { return Ok(()) };
            let name = show(&self.config.command[0]);
            match child.wait() {
                Ok(Status::Exited(0)) => {}
                Ok(Status::Exited(255)) => {
                    eprintln!("xargs: {name}: exited with status 255; aborting");
                    return Err(124);
                }
                Ok(Status::Exited(_)) => self.status = 123,
                Ok(Status::Signaled(signal)) => {
                    eprintln!("xargs: {name}: terminated by signal {signal}");
                    return Err(125);
                }
                Err(error) => {
                    eprintln!("xargs: {name}: {}", platform::message(&error));
                    return Err(1);
                }
            }
        }
        Ok(())
    }
}

/// A word as `-t` shows it: quoted when a shell would need it, control characters as escapes.
fn quoted(word: &[u8]) -> String {
    let text = show(word);
    let plain = |(at, c): (usize, char)| match c {
        '{' | '}' => text.len() > 1,
        '#' | '~' => at > 0,
        _ => c.is_alphanumeric() || "-_./:,+@%]".contains(c) || !c.is_ascii(),
    };
    if !text.is_empty() && text.char_indices().all(plain) {
        return text;
    }
    let mut result = String::from("'");
    // Whether the last character was written as an escape, outside of the plain quotes.
    let mut escaped = false;
    for c in text.chars() {
        let escape = match c {
            '\u{7}' => "\\a".into(),
            '\u{8}' => "\\b".into(),
            '\t' => "\\t".into(),
            '\n' => "\\n".into(),
            '\u{b}' => "\\v".into(),
            '\u{c}' => "\\f".into(),
            '\r' => "\\r".into(),
            c if c.is_ascii_control() => format!("\\{:03o}", c as u32),
            _ => String::new(),
        };
        if escaped == escape.is_empty() {
            result.push_str(if escaped { "''" } else { "'$'" });
            escaped = !escaped;
        }
        match c {
            _ if escaped => result.push_str(&escape),
            '\'' => result.push_str("'\\''"),
            c => result.push(c),
        }
    }
    result.push('\'');
    result
}

fn replace_all(word: &[u8], mark: &[u8], text: &[u8]) -> Vec<u8> {
    let mut result = Vec::new();
    let mut rest = word;
    while let Some(at) = memchr::memmem::find(rest, mark).filter(|_| !mark.is_empty()) {
        result.extend_from_slice(&rest[..at]);
        result.extend_from_slice(text);
        rest = &rest[at + mark.len()..];
    }
    result.extend_from_slice(rest);
    result
}
