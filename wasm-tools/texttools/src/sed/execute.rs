//! Runs a script over the input.

use std::collections::HashMap;
use std::io::Read;
use std::rc::Rc;

use super::files::{Lines, Sink};
use super::script::{Action, Address, Case, Command, End, Part, Pattern, Script, Substitution};
use super::{Config, char_length};
use crate::input::{self, Records};
use crate::platform::{self, Stream};
use crate::regex::{Regex, Span};

type Failure = (String, i32);
type Result<T> = std::result::Result<T, Failure>;

/// What a pass over the commands ends with.
enum Cycle {
    /// Print the pattern space, go on.
    Done,
    /// Go on without printing.
    Deleted,
    /// Again with what is left of the pattern space.
    Again,
    /// End the run with this status; print first.
    Quit(i32),
    /// End the run with this status.
    QuitSilently(i32),
}

/// Output that waits for the end of the cycle.
enum Pending {
    Text(usize),
    File(usize),
    Line(Vec<u8>, bool),
}

/// A range's state.
#[derive(Clone, Copy, Default)]
struct Range {
    active: bool,
    /// The last line, when it is known by number.
    last: Option<u64>,
}

/// A run of a script.
pub struct Machine<'s> {
    script: &'s Script,
    config: &'s Config,
    lines: Lines<'s>,
    ranges: Vec<Range>,
    stdout: Sink,
    outputs: Vec<Option<Sink>>,
    readers: HashMap<usize, Option<Records>>,
    space: Vec<u8>,
    ended: bool,
    hold: Vec<u8>,
    /// Whether the hold space's line had its newline; it moves with the text.
    hold_ended: bool,
    pending: Vec<Pending>,
    last_regex: Option<Rc<Regex>>,
    substituted: bool,
}

impl<'s> Machine<'s> {
    /// Opens the output files.
    pub fn new(script: &'s Script, config: &'s Config, files: Vec<Vec<u8>>) -> std::result::Result<Self, String> {
        let stdout = Sink::stdout(config);
        let mut outputs = Vec::new();
        for name in &script.outputs {
            outputs.push(match name.as_slice() {
                b"/dev/stdout" => None,
                b"/dev/stderr" => Some(Sink::stderr()),
                name => Some(Sink::create(name)?),
            });
        }
        Ok(Self {
            script,
            config,
            lines: Lines::new(config, files),
            ranges: script
                .commands
                .iter()
                .map(|command| Range { active: matches!(command.from, Some(Address::Zero)), ..Range::default() })
                .collect(),
            stdout,
            outputs,
            readers: HashMap::new(),
            space: Vec::new(),
            ended: true,
            hold: Vec::new(),
            hold_ended: true,
            pending: Vec::new(),
            last_regex: None,
            substituted: false,
        })
    }

    /// Runs to the end of the input and gives the exit status.
    pub fn run(&mut self) -> Result<i32> {
        let mut again = false;
        loop {
            if !again {
                let mut line = std::mem::take(&mut self.space);
                let ended = self.read(&mut line)?;
                self.space = line;
                match ended {
                    None => break,
                    Some(ended) => self.ended = ended,
                }
                self.substituted = false;
            }
            again = false;
            let cycle = self.cycle()?;
            if matches!(cycle, Cycle::Done | Cycle::Quit(_)) && !self.config.quiet {
                self.print_space();
            }
            self.write_pending()?;
            match cycle {
                Cycle::Again => again = true,
                Cycle::Quit(status) | Cycle::QuitSilently(status) => {
                    self.lines.dump_rest().map_err(|message| (message, 4))?;
                    self.flush();
                    return Ok(if status == 0 { self.lines.status } else { status });
                }
                Cycle::Done | Cycle::Deleted => {}
            }
        }
        self.flush();
        Ok(self.lines.status)
    }

    fn read(&mut self, line: &mut Vec<u8>) -> Result<Option<bool>> {
        self.lines.next(line).map_err(|message| (message, 4))
    }

    fn flush(&mut self) {
        self.stdout.flush();
        self.outputs.iter_mut().flatten().for_each(Sink::flush);
    }

    fn out(&mut self) -> &mut Sink {
        match &mut self.lines.in_place {
            Some(file) => &mut file.sink,
            None => &mut self.stdout,
        }
    }

    fn print_space(&mut self) {
        let space = std::mem::take(&mut self.space);
        let (ended, delimiter) = (self.ended, self.config.delimiter);
        self.out().line(&space, ended, delimiter);
        self.space = space;
    }

    fn write_pending(&mut self) -> Result<()> {
        let delimiter = self.config.delimiter;
        for item in std::mem::take(&mut self.pending) {
            match item {
                Pending::Text(index) => {
                    if let Action::Append(text) = &self.script.commands[index].action {
                        self.out().text(text);
                    }
                }
                Pending::File(index) => {
                    if let Action::ReadFile(name) = &self.script.commands[index].action {
                        let name = if name == b"/dev/stdin" { b"-" } else { name.as_slice() };
                        // A file that cannot be read counts as empty.
                        let text = input::read(name).unwrap_or_default();
                        if !text.is_empty() {
                            self.out().text(&text);
                        }
                    }
                }
                Pending::Line(line, ended) => self.out().line(&line, ended, delimiter),
            }
        }
        Ok(())
    }

    /// The regular expression of a pattern: its own, or the last one used.
    fn regex(&mut self, pattern: &Pattern) -> Result<Rc<Regex>> {
        if let Some(regex) = pattern {
            self.last_regex = Some(regex.clone());
        }
        self.last_regex.clone().ok_or_else(|| ("no previous regular expression".into(), 1))
    }

    fn matches_address(&mut self, address: &Address) -> Result<bool> {
        let number = self.lines.number;
        Ok(match address {
            Address::Zero => false,
            Address::Line(line) => *line == number,
            Address::Step(first, 0) => *first == number,
            Address::Step(first, step) => number >= *first && (number - first) % step == 0,
            Address::Last => self.lines.is_last().map_err(|message| (message, 4))?,
            Address::Match(pattern) => self.regex(pattern)?.is_match(&self.space),
        })
    }

    fn applies(&mut self, index: usize, command: &Command) -> Result<bool> {
        let Some(from) = &command.from else { return Ok(true) };
        let Some(to) = &command.to else { return self.matches_address(from) };
        let number = self.lines.number;
        let range = self.ranges[index];
        if range.active {
            if let Some(last) = range.last {
                if number >= last {
                    self.ranges[index].active = false;
                }
                // A range that ended before this line: only a new beginning counts.
                return if number <= last { Ok(true) } else { self.begin_range(index, from, to) };
            }
            if let End::At(address) = to
                && self.matches_address(address)?
            {
                self.ranges[index].active = false;
            }
            return Ok(true);
        }
        self.begin_range(index, from, to)
    }

    fn begin_range(&mut self, index: usize, from: &Address, to: &End) -> Result<bool> {
        if !self.matches_address(from)? {
            return Ok(false);
        }
        let number = self.lines.number;
        let last = match to {
            End::At(Address::Line(line)) => Some(*line),
            End::Count(count) => Some(number.saturating_add(*count)),
            End::Multiple(0) => Some(number),
            End::Multiple(step) => Some(number.div_ceil(*step).saturating_mul(*step)),
            End::At(_) => None,
        };
        self.ranges[index] = Range { active: last.is_none_or(|last| last > number), last };
        Ok(true)
    }

    fn cycle(&mut self) -> Result<Cycle> {
        let script = self.script;
        let mut at = 0;
        while let Some(command) = script.commands.get(at) {
            let index = at;
            at += 1;
            if self.applies(index, command)? == command.negated {
                if let Action::Block(end) = &command.action {
                    at = *end;
                }
                continue;
            }
            match &command.action {
                Action::Block(_) | Action::Nothing => {}
                Action::Append(_) => self.pending.push(Pending::Text(index)),
                Action::Insert(text) => self.out().text(text),
                Action::Change(text) => {
                    // A range is changed as a whole, at its end.
                    let whole = command.to.is_none() || command.negated || !self.ranges[index].active;
                    if whole {
                        self.out().text(text);
                    }
                    return Ok(Cycle::Deleted);
                }
                Action::Branch(target) => at = target.unwrap_or(script.commands.len()),
                Action::BranchIf(target) => {
                    if std::mem::take(&mut self.substituted) {
                        at = target.unwrap_or(script.commands.len());
                    }
                }
                Action::BranchIfNot(target) => {
                    if !std::mem::take(&mut self.substituted) {
                        at = target.unwrap_or(script.commands.len());
                    }
                }
                Action::Delete => return Ok(Cycle::Deleted),
                Action::DeleteFirst => match self.first_line_end() {
                    None => return Ok(Cycle::Deleted),
                    Some(end) => {
                        self.space.drain(..=end);
                        return Ok(Cycle::Again);
                    }
                },
                Action::Execute(text) if text.is_empty() => {
                    self.space = self.shell(&self.space.clone())?;
                    if self.space.last() == Some(&self.config.delimiter) {
                        self.space.pop();
                    }
                }
                Action::Execute(text) => {
                    let output = self.shell(text)?;
                    self.out().text(&output);
                }
                Action::FileName => {
                    let mut name = self.lines.name.clone();
                    name.push(b'\n');
                    self.out().text(&name);
                }
                Action::Get => {
                    self.space.clone_from(&self.hold);
                    self.ended = self.hold_ended;
                }
                Action::GetAppend => {
                    self.space.push(self.config.delimiter);
                    self.space.extend_from_slice(&self.hold);
                    self.ended = self.hold_ended;
                }
                Action::Hold => {
                    self.hold.clone_from(&self.space);
                    self.hold_ended = self.ended;
                }
                Action::HoldAppend => {
                    self.hold.push(self.config.delimiter);
                    self.hold.extend_from_slice(&self.space);
                    self.hold_ended = self.ended;
                }
                Action::List(width) => {
                    let text = visible(&self.space, width.unwrap_or(self.config.width));
                    self.out().text(&text);
                }
                Action::LineNumber => {
                    let text = format!("{}\n", self.lines.number);
                    self.out().text(text.as_bytes());
                }
                Action::Next => {
                    if self.lines.at_end().map_err(|message| (message, 4))? {
                        return Ok(if self.config.posix { Cycle::QuitSilently(0) } else { Cycle::Quit(0) });
                    }
                    if !self.config.quiet {
                        self.print_space();
                    }
                    self.next_line(false)?;
                }
                Action::NextAppend => {
                    if self.lines.at_end().map_err(|message| (message, 4))? {
                        return Ok(if self.config.posix { Cycle::QuitSilently(0) } else { Cycle::Quit(0) });
                    }
                    self.next_line(true)?;
                }
                Action::Print => self.print_space(),
                Action::PrintFirst => {
                    let end = self.first_line_end().unwrap_or(self.space.len());
                    let line = self.space[..end].to_vec();
                    let delimiter = self.config.delimiter;
                    self.out().line(&line, true, delimiter);
                }
                Action::Quit(status) => return Ok(Cycle::Quit(*status)),
                Action::QuitSilently(status) => return Ok(Cycle::QuitSilently(*status)),
                Action::ReadFile(_) => self.pending.push(Pending::File(index)),
                Action::ReadLine(file) => self.read_line_of(*file),
                Action::Substitute(command) => self.substitute(command)?,
                Action::WriteFile(file) => self.write_to(*file, self.space.len()),
                Action::WriteFirst(file) => self.write_to(*file, self.first_line_end().unwrap_or(self.space.len())),
                Action::Exchange => {
                    std::mem::swap(&mut self.space, &mut self.hold);
                    std::mem::swap(&mut self.ended, &mut self.hold_ended);
                }
                Action::Translate(pairs) => self.space = translate(&self.space, pairs),
                Action::Zap => self.space.clear(),
            }
        }
        Ok(Cycle::Done)
    }

    fn first_line_end(&self) -> Option<usize> {
        memchr::memchr(self.config.delimiter, &self.space)
    }

    fn next_line(&mut self, append: bool) -> Result<()> {
        self.write_pending()?;
        let mut line = Vec::new();
        if let Some(ended) = self.read(&mut line)? {
            self.ended = ended;
            if append {
                self.space.push(self.config.delimiter);
                self.space.extend_from_slice(&line);
            } else {
                self.space = line;
            }
        }
        Ok(())
    }

    fn read_line_of(&mut self, file: usize) {
        let name = &self.script.inputs[file];
        let name = if name == b"/dev/stdin" { b"-" } else { name.as_slice() };
        let reader = self.readers.entry(file).or_insert_with(|| input::open(name).ok().map(Records::new));
        let mut line = Vec::new();
        if let Some(records) = reader
            && let Ok(Some(_)) = records.next(self.config.delimiter, &mut line)
        {
            self.pending.push(Pending::Line(line, true));
        }
    }

    fn write_to(&mut self, file: usize, end: usize) {
        let ended = self.ended || end < self.space.len();
        match &mut self.outputs[file] {
            Some(sink) => {
                sink.line(&self.space[..end], ended, self.config.delimiter);
                // Others may read the file while the script runs.
                sink.flush();
            }
            None => self.stdout.line(&self.space[..end], ended, self.config.delimiter),
        }
    }

    /// Runs a command line and gives its output.
    fn shell(&mut self, line: &[u8]) -> Result<Vec<u8>> {
        self.flush();
        let argv = [b"sh".to_vec(), b"-c".to_vec(), line.to_vec()];
        let mut command = platform::Command::new(&argv);
        command.stdout = Stream::Pipe;
        let failed = |error: std::io::Error| (format!("error running command: {}", platform::message(&error)), 4);
        let mut child = command.spawn().map_err(failed)?;
        let mut output = Vec::new();
        if let Some(pipe) = &mut child.stdout {
            pipe.read_to_end(&mut output).map_err(failed)?;
        }
        child.wait().map_err(failed)?;
        Ok(output)
    }

    fn substitute(&mut self, command: &Substitution) -> Result<()> {
        let regex = self.regex(&command.pattern)?;
        let Some(result) = replace(command, &regex, &self.space) else { return Ok(()) };
        self.space = result;
        self.substituted = true;
        if command.evaluate {
            self.space = self.shell(&self.space.clone())?;
            if self.space.last() == Some(&self.config.delimiter) {
                self.space.pop();
            }
        }
        if command.print {
            self.print_space();
        }
        if let Some(file) = command.file {
            self.write_to(file, self.space.len());
        }
        Ok(())
    }
}

/// The text after a substitution; `None` when nothing was replaced.
pub fn replace(command: &Substitution, regex: &Regex, text: &[u8]) -> Option<Vec<u8>> {
    let mut result = Vec::new();
    let mut replaced = false;
    let (mut at, mut copied, mut count) = (0, 0, 0);
    // Where the last match that was not empty ended: an empty one there is none.
    let mut last_end = None;
    let mut groups: Vec<Span> = Vec::new();
    while at <= text.len() {
        if command.uses_groups {
            match regex.captures_at(text, at) {
                Some(found) => groups = found,
                None => break,
            }
        } else {
            groups.clear();
            groups.push(regex.find_at(text, at));
        }
        let Some((start, end)) = groups.first().copied().flatten() else { break };
        if start != end || last_end != Some(start) {
            count += 1;
            if count >= command.number {
                result.extend_from_slice(&text[copied..start]);
                append_replacement(&mut result, &command.replacement, text, &groups);
                copied = end;
                replaced = true;
                if !command.global {
                    break;
                }
            }
        }
        last_end = Some(end);
        at = if start < end {
            end
        } else {
            end + text.get(end..).filter(|rest| !rest.is_empty()).map_or(1, char_length)
        };
    }
    if !replaced {
        return None;
    }
    result.extend_from_slice(&text[copied..]);
    Some(result)
}

fn append_replacement(result: &mut Vec<u8>, parts: &[Part], text: &[u8], groups: &[Span]) {
    let (mut lasting, mut once) = (Case::Stop, None);
    for part in parts {
        let piece: &[u8] = match part {
            Part::Text(literal) => literal,
            Part::Group(index) => match groups.get(*index).copied().flatten() {
                Some((start, end)) => &text[start..end],
                None => b"",
            },
            Part::Case(case @ (Case::UpperNext | Case::LowerNext)) => {
                once = Some(*case);
                continue;
            }
            Part::Case(case) => {
                lasting = *case;
                once = None;
                continue;
            }
        };
        if lasting == Case::Stop && once.is_none() {
            result.extend_from_slice(piece);
        } else if !piece.is_empty() {
            append_in_case(result, piece, lasting, once.take());
        }
    }
}

fn append_in_case(result: &mut Vec<u8>, piece: &[u8], lasting: Case, once: Option<Case>) {
    let mut first = once;
    for chunk in piece.utf8_chunks() {
        for c in chunk.valid().chars() {
            let mut buffer = [0; 4];
            match first.take().unwrap_or(lasting) {
                Case::Upper | Case::UpperNext => {
                    result.extend(single(c.to_uppercase(), c).encode_utf8(&mut buffer).bytes())
                }
                Case::Lower | Case::LowerNext => {
                    result.extend(single(c.to_lowercase(), c).encode_utf8(&mut buffer).bytes())
                }
                Case::Stop => result.extend(c.encode_utf8(&mut buffer).bytes()),
            }
        }
        result.extend_from_slice(chunk.invalid());
    }
}

/// C's towupper and towlower know only one character for one.
fn single(mut mapped: impl Iterator<Item = char>, c: char) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

fn translate(text: &[u8], pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let length = char_length(&text[at..]);
        let character = &text[at..at + length];
        let mapped = pairs.iter().find(|(from, _)| from == character).map_or(character, |(_, to)| to);
        result.extend_from_slice(mapped);
        at += length;
    }
    result
}

/// The text as `l` shows it, wrapped at `width` columns.
fn visible(text: &[u8], width: usize) -> Vec<u8> {
    let mut result = Vec::new();
    let mut column = 0;
    for byte in text {
        let piece = match byte {
            b'\\' => b"\\\\".to_vec(),
            7 => b"\\a".to_vec(),
            8 => b"\\b".to_vec(),
            b'\t' => b"\\t".to_vec(),
            b'\n' => b"\\n".to_vec(),
            11 => b"\\v".to_vec(),
            12 => b"\\f".to_vec(),
            b'\r' => b"\\r".to_vec(),
            b' '..=b'~' => vec![*byte],
            _ => format!("\\{byte:03o}").into_bytes(),
        };
        if width > 1 && column + piece.len() > width - 1 {
            result.extend_from_slice(b"\\\n");
            column = 0;
        }
        column += piece.len();
        result.extend_from_slice(&piece);
    }
    result.extend_from_slice(b"$\n");
    result
}
