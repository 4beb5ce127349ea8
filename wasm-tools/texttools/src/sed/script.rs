//! The commands of a sed script, and their parser.

use std::rc::Rc;

use crate::args;
use crate::output::show;
use crate::regex::{Dialect, Options, Regex};

/// How deep `{` may nest.
const MAX_NESTING: usize = 1000;

/// A regular expression of a script; `None` means the last one used.
pub type Pattern = Option<Rc<Regex>>;

/// Where a command applies.
pub enum Address {
    /// A line's number.
    Line(u64),
    /// `first~step`
    Step(u64, u64),
    /// `$`
    Last,
    /// `/regex/`
    Match(Pattern),
    /// `0`, only before `,/regex/`.
    Zero,
}

/// The end of a range.
pub enum End {
    /// An address as any other.
    At(Address),
    /// `+N` lines.
    Count(u64),
    /// `~N`: the next multiple.
    Multiple(u64),
}

/// A change of case in a replacement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// `\U`
    Upper,
    /// `\L`
    Lower,
    /// `\u`
    UpperNext,
    /// `\l`
    LowerNext,
    /// `\E`
    Stop,
}

/// A part of a replacement.
pub enum Part {
    /// Text as it is.
    Text(Vec<u8>),
    /// A group; 0 is the whole match.
    Group(usize),
    /// A change of case.
    Case(Case),
}

/// An `s` command.
pub struct Substitution {
    /// What is replaced.
    pub pattern: Pattern,
    /// By what.
    pub replacement: Vec<Part>,
    /// Whether groups other than the whole match are used.
    pub uses_groups: bool,
    /// `g`
    pub global: bool,
    /// The match to begin with, from 1.
    pub number: usize,
    /// `p`
    pub print: bool,
    /// `e`
    pub evaluate: bool,
    /// `w`: an index into the script's output files.
    pub file: Option<usize>,
}

/// What a command does.
#[allow(missing_docs, reason = "the names are POSIX's")]
pub enum Action {
    /// `{`: the index of the command behind its `}`.
    Block(usize),
    /// `}` and comments.
    Nothing,
    Append(Vec<u8>),
    Insert(Vec<u8>),
    Change(Vec<u8>),
    Branch(Option<usize>),
    BranchIf(Option<usize>),
    BranchIfNot(Option<usize>),
    Delete,
    DeleteFirst,
    Execute(Vec<u8>),
    FileName,
    Get,
    GetAppend,
    Hold,
    HoldAppend,
    List(Option<usize>),
    LineNumber,
    Next,
    NextAppend,
    Print,
    PrintFirst,
    Quit(i32),
    QuitSilently(i32),
    ReadFile(Vec<u8>),
    ReadLine(usize),
    Substitute(Box<Substitution>),
    WriteFile(usize),
    WriteFirst(usize),
    Exchange,
    /// `y`: pairs of characters.
    Translate(Vec<(Vec<u8>, Vec<u8>)>),
    Zap,
}

/// A command with its addresses.
pub struct Command {
    /// Where it begins to apply.
    pub from: Option<Address>,
    /// Where it ends to apply.
    pub to: Option<End>,
    /// `!`
    pub negated: bool,
    /// What it does.
    pub action: Action,
}

/// A parsed script.
#[derive(Default)]
pub struct Script {
    /// All commands in order.
    pub commands: Vec<Command>,
    /// Files that `w` and its like write.
    pub outputs: Vec<Vec<u8>>,
    /// Files that `R` reads.
    pub inputs: Vec<Vec<u8>>,
    /// The first line is `#n`.
    pub quiet: bool,
}

/// A piece of a script from the command line.
pub enum Piece {
    /// `-e` or the first operand.
    Expression(Vec<u8>),
    /// `-f`: the file's name and text.
    File(Vec<u8>, Vec<u8>),
}

/// How a script is read.
#[derive(Clone, Copy)]
pub struct Syntax {
    /// `-E`
    pub extended: bool,
    /// `--sandbox`: no `e`, `r`, `w`.
    pub sandbox: bool,
}

struct Parser<'s> {
    text: &'s [u8],
    at: usize,
    syntax: Syntax,
    script: Script,
    blocks: Vec<usize>,
    labels: Vec<(Vec<u8>, usize)>,
    jumps: Vec<(usize, Vec<u8>)>,
}

type Result<T> = std::result::Result<T, String>;

/// Parses the pieces of a script. The error is the message without the program's name.
pub fn parse(pieces: &[Piece], syntax: Syntax) -> Result<Script> {
    // Expressions that follow each other are lines of one text, so that `-e 'a\' -e text` works.
    let mut parser = Parser {
        text: b"",
        at: 0,
        syntax,
        script: Script::default(),
        blocks: Vec::new(),
        labels: Vec::new(),
        jumps: Vec::new(),
    };
    let mut texts: Vec<(Option<&[u8]>, Vec<u8>, usize)> = Vec::new();
    let mut number = 0;
    for piece in pieces {
        match piece {
            Piece::Expression(text) => {
                number += 1;
                match texts.last_mut() {
                    Some((None, last, _)) if ends_in_backslash(last) => {
                        last.push(b'\n');
                        last.extend_from_slice(text);
                    }
                    _ => texts.push((None, text.clone(), number)),
                }
            }
            Piece::File(name, text) => {
                let text = text.strip_suffix(b"\n").unwrap_or(text).to_vec();
                texts.push((Some(name), text, 0));
            }
        }
    }
    let quiet = texts.first().is_some_and(|(_, text, _)| text == b"#n" || text.starts_with(b"#n\n"));
    for (name, text, number) in &texts {
        let mut part = Parser { text, at: 0, ..parser };
        if let Err(message) = part.commands() {
            return Err(place(*name, text, *number, part.at, &message));
        }
        parser = Parser { text: b"", at: 0, ..part };
    }
    if !parser.blocks.is_empty() {
        return Err("-e expression #1, char 0: unmatched `{'".into());
    }
    parser.script.quiet = quiet;
    parser.resolve()
}

fn ends_in_backslash(text: &[u8]) -> bool {
    text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

fn place(name: Option<&[u8]>, text: &[u8], number: usize, at: usize, message: &str) -> String {
    match name {
        None if message.starts_with("no previous") => format!("-e expression #{number}, char 0: {message}"),
        None => format!("-e expression #{number}, char {at}: {message}"),
        Some(name) => {
            let line = text[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1;
            format!("file {} line {line}: {message}", show(name))
        }
    }
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte != b'\n' && byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn resolve(mut self) -> Result<Script> {
        for (index, label) in std::mem::take(&mut self.jumps) {
            let target = match self.labels.iter().find(|(name, _)| *name == label) {
                Some((_, target)) => Some(*target),
                None => return Err(format!("can't find label for jump to `{}'", show(&label))),
            };
            match &mut self.script.commands[index].action {
                Action::Branch(to) | Action::BranchIf(to) | Action::BranchIfNot(to) => *to = target,
                _ => {}
            }
        }
        Ok(self.script)
    }

    fn commands(&mut self) -> Result<()> {
        loop {
            while self.peek().is_some_and(|byte| byte == b';' || byte.is_ascii_whitespace()) {
                self.at += 1;
            }
            if self.at >= self.text.len() {
                return Ok(());
            }
            self.command()?;
        }
    }

    fn command(&mut self) -> Result<()> {
        let from = self.address()?;
        let mut to = None;
        if from.is_some() {
            self.skip_blanks();
            if self.peek() == Some(b',') {
                self.at += 1;
                self.skip_blanks();
                to = Some(self.range_end()?);
            }
        }
        if matches!(from, Some(Address::Zero)) && !matches!(to, Some(End::At(Address::Match(_)))) {
            self.at += usize::from(self.at < self.text.len());
            return Err("invalid usage of line address 0".into());
        }
        self.skip_blanks();
        let mut negated = false;
        while self.peek() == Some(b'!') {
            self.at += 1;
            negated = true;
            self.skip_blanks();
        }
        let Some(name) = self.next() else { return Err("missing command".into()) };
        if to.is_some() && matches!(name, b'=' | b':' | b'}') && name != b'=' {
            return Err(
                if name == b':' { ": doesn't want any addresses" } else { "} doesn't want any addresses" }.into()
            );
        }
        if from.is_some() {
            match name {
                b':' => return Err(": doesn't want any addresses".into()),
                b'#' => return Err("comments don't accept any addresses".into()),
                b'}' => return Err("unexpected `}'".into()),
                _ => {}
            }
        }
        if to.is_some() && matches!(name, b'q' | b'Q') {
            return Err("command only uses one address".into());
        }
        let index = self.script.commands.len();
        self.script.commands.push(Command { from, to, negated, action: Action::Nothing });
        let action = self.action(name, index)?;
        self.script.commands[index].action = action;
        Ok(())
    }

    fn number(&mut self) -> Option<u64> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let digits = std::str::from_utf8(&self.text[start..self.at]).ok()?;
        (!digits.is_empty()).then(|| digits.parse().unwrap_or(u64::MAX))
    }

    fn address(&mut self) -> Result<Option<Address>> {
        match self.peek() {
            Some(b'0'..=b'9') => {
                let line = self.number().unwrap_or(0);
                let mark = self.at;
                self.skip_blanks();
                if self.peek() == Some(b'~') {
                    self.at += 1;
                    let step = self.number().unwrap_or(0);
                    return Ok(Some(Address::Step(line, step)));
                }
                self.at = mark;
                Ok(Some(if line == 0 { Address::Zero } else { Address::Line(line) }))
            }
            Some(b'$') => {
                self.at += 1;
                Ok(Some(Address::Last))
            }
            Some(b'/') => {
                self.at += 1;
                self.match_address(b'/').map(Some)
            }
            Some(b'\\') => {
                self.at += 1;
                let Some(delimiter) = self.next().filter(|byte| *byte != b'\n' && *byte != b'\\') else {
                    return Err("unterminated address regex".into());
                };
                self.match_address(delimiter).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn match_address(&mut self, delimiter: u8) -> Result<Address> {
        let source = self.delimited(delimiter, true).ok_or("unterminated address regex")?;
        let (mut ignore_case, mut multi_line) = (false, false);
        loop {
            match self.peek() {
                Some(b'I') => ignore_case = true,
                Some(b'M') => multi_line = true,
                _ => break,
            }
            self.at += 1;
        }
        self.pattern(&source, ignore_case, multi_line).map(Address::Match)
    }

    fn pattern(&self, source: &[u8], ignore_case: bool, multi_line: bool) -> Result<Pattern> {
        if source.is_empty() {
            return Ok(None);
        }
        let options = Options { ignore_case, multi_line, ..Options::new(Dialect::Sed, self.syntax.extended) };
        Regex::new(source, &options).map(|regex| Some(Rc::new(regex)))
    }

    fn range_end(&mut self) -> Result<End> {
        match self.peek() {
            Some(b'+') => {
                self.at += 1;
                self.number().map(End::Count).ok_or_else(|| "expected number".into())
            }
            Some(b'~') => {
                self.at += 1;
                self.number().map(End::Multiple).ok_or_else(|| "expected number".into())
            }
            _ => match self.address()? {
                Some(Address::Zero) => Ok(End::At(Address::Line(0))),
                Some(address) => Ok(End::At(address)),
                None => {
                    self.at += usize::from(self.at < self.text.len());
                    Err("unexpected `,'".into())
                }
            },
        }
    }

    /// The text up to a delimiter. `\` with the delimiter is the delimiter, `\` with a newline a newline.
    fn delimited(&mut self, delimiter: u8, regex: bool) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        // Where a bracket expression began: inside it the delimiter is an ordinary character.
        let mut bracket: Option<usize> = None;
        loop {
            let byte = self.next()?;
            if byte == b'\n' && regex && bracket.is_none() {
                return None;
            }
            if let Some(open) = bracket {
                text.push(byte);
                let inside = text.len() - open - 1;
                let first = inside == 1 || inside == 2 && text[open + 1] == b'^';
                if byte == b'[' && matches!(self.peek(), Some(b':' | b'.' | b'=')) {
                    let kind = self.next()?;
                    text.push(kind);
                    let close = [kind, b']'];
                    if let Some(length) = memchr::memmem::find(&self.text[self.at..], &close) {
                        text.extend_from_slice(&self.text[self.at..self.at + length + 2]);
                        self.at += length + 2;
                    }
                } else if byte == b']' && !first {
                    bracket = None;
                }
                continue;
            }
            match byte {
                b'\\' => {
                    let next = self.next()?;
                    if next == delimiter {
                        // A delimiter that is special stays what the plain character means.
                        if regex && next != b'/' && b".*[]^$+?(){}|".contains(&next) && !self.plain_special(next) {
                            text.push(b'\\');
                        }
                        if !regex && next == b'&' {
                            text.push(b'\\');
                        }
                        text.push(next);
                    } else if next == b'\n' && regex {
                        text.push(b'\n');
                    } else {
                        text.extend([b'\\', next]);
                    }
                }
                _ if byte == delimiter => return Some(text),
                b'[' if regex && self.bracket_closes() => {
                    bracket = Some(text.len());
                    text.push(byte);
                }
                _ => text.push(byte),
            }
        }
    }

    /// Whether an unescaped character has no special meaning in this syntax.
    fn plain_special(&self, byte: u8) -> bool {
        !self.syntax.extended && b"+?(){}|".contains(&byte) || byte == b'.'
    }

    /// Whether a bracket expression that was opened here is closed on this line.
    fn bracket_closes(&self) -> bool {
        let rest = &self.text[self.at..];
        let skip = usize::from(rest.first() == Some(&b'^'));
        let rest = rest.get(skip + 1..).unwrap_or_default();
        rest.iter().take_while(|byte| **byte != b'\n').any(|byte| *byte == b']')
    }

    /// Nothing but blanks may follow up to the end of the command.
    fn end_of_command(&mut self) -> Result<()> {
        self.skip_blanks();
        match self.peek() {
            None => Ok(()),
            Some(b'\n' | b';') => {
                self.at += 1;
                Ok(())
            }
            Some(b'}' | b'#') => Ok(()),
            Some(_) => {
                self.at += 1;
                Err("extra characters after command".into())
            }
        }
    }

    fn action(&mut self, name: u8, index: usize) -> Result<Action> {
        let simple = match name {
            b'd' => Action::Delete,
            b'D' => Action::DeleteFirst,
            b'F' => Action::FileName,
            b'g' => Action::Get,
            b'G' => Action::GetAppend,
            b'h' => Action::Hold,
            b'H' => Action::HoldAppend,
            b'n' => Action::Next,
            b'N' => Action::NextAppend,
            b'p' => Action::Print,
            b'P' => Action::PrintFirst,
            b'x' => Action::Exchange,
            b'z' => Action::Zap,
            b'=' => Action::LineNumber,
            _ => return self.long_action(name, index),
        };
        self.end_of_command()?;
        Ok(simple)
    }

    fn long_action(&mut self, name: u8, index: usize) -> Result<Action> {
        match name {
            b'#' => {
                self.rest_of_line();
                Ok(Action::Nothing)
            }
            b'{' => {
                if self.blocks.len() >= MAX_NESTING {
                    return Err("too many nested blocks".into());
                }
                self.blocks.push(index);
                Ok(Action::Block(0))
            }
            b'}' => {
                let Some(open) = self.blocks.pop() else { return Err("unexpected `}'".into()) };
                self.script.commands[open].action = Action::Block(index + 1);
                self.end_of_command()?;
                Ok(Action::Nothing)
            }
            b':' => {
                self.skip_blanks();
                let label = self.label(false);
                if label.is_empty() {
                    return Err("\":\" lacks a label".into());
                }
                self.labels.push((label, index));
                Ok(Action::Nothing)
            }
            b'b' | b't' | b'T' => {
                self.skip_blanks();
                let label = self.label(true);
                if !label.is_empty() {
                    self.jumps.push((index, label));
                }
                self.end_of_command()?;
                Ok(match name {
                    b'b' => Action::Branch(None),
                    b't' => Action::BranchIf(None),
                    _ => Action::BranchIfNot(None),
                })
            }
            b'a' => self.text_argument().map(Action::Append),
            b'i' => self.text_argument().map(Action::Insert),
            b'c' => self.text_argument().map(Action::Change),
            b'e' => {
                self.refuse_in_sandbox()?;
                self.skip_blanks();
                Ok(Action::Execute(self.rest_of_line()))
            }
            b'l' | b'q' | b'Q' | b'L' => {
                self.skip_blanks();
                let number = self.number();
                self.end_of_command()?;
                let code = number.unwrap_or(0) as i32;
                Ok(match name {
                    b'q' => Action::Quit(code),
                    b'Q' => Action::QuitSilently(code),
                    _ => Action::List(number.map(|width| width as usize)),
                })
            }
            b'r' => {
                self.refuse_in_sandbox()?;
                self.file_name().map(Action::ReadFile)
            }
            b'R' => {
                self.refuse_in_sandbox()?;
                let name = self.file_name()?;
                Ok(Action::ReadLine(intern(&mut self.script.inputs, name)))
            }
            b'w' | b'W' => {
                self.refuse_in_sandbox()?;
                let file = self.output_file()?;
                Ok(if name == b'w' { Action::WriteFile(file) } else { Action::WriteFirst(file) })
            }
            b's' => self.substitution(),
            b'y' => self.translation(),
            b'v' => {
                self.label(true);
                self.end_of_command()?;
                Ok(Action::Nothing)
            }
            _ => Err(format!("unknown command: `{}'", show(&[name]))),
        }
    }

    fn refuse_in_sandbox(&self) -> Result<()> {
        if self.syntax.sandbox { Err("e/r/w commands disabled in sandbox mode".into()) } else { Ok(()) }
    }

    fn rest_of_line(&mut self) -> Vec<u8> {
        let rest = &self.text[self.at..];
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest[..length].to_vec();
        self.at = (self.at + length + 1).min(self.text.len());
        line
    }

    fn label(&mut self, brace_ends: bool) -> Vec<u8> {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|byte| byte != b';' && !byte.is_ascii_whitespace() && !(brace_ends && byte == b'}'))
        {
            self.at += 1;
        }
        self.text[start..self.at].to_vec()
    }

    fn file_name(&mut self) -> Result<Vec<u8>> {
        self.skip_blanks();
        let name = self.rest_of_line();
        if name.is_empty() { Err("missing filename in r/R/w/W commands".into()) } else { Ok(name) }
    }

    fn output_file(&mut self) -> Result<usize> {
        let name = self.file_name()?;
        Ok(intern(&mut self.script.outputs, name))
    }

    /// The text of `a`, `i` and `c`: on the same line (GNU) or behind a backslash and a newline.
    fn text_argument(&mut self) -> Result<Vec<u8>> {
        self.skip_blanks();
        if self.at >= self.text.len() {
            return Err("expected \\ after `a', `c' or `i'".into());
        }
        if self.peek() == Some(b'\\') {
            let mark = self.at;
            self.at += 1;
            self.skip_blanks();
            if self.peek() == Some(b'\n') {
                self.at += 1;
            } else if self.at >= self.text.len() {
                return Ok(Vec::new());
            } else {
                // `a\text`: blanks behind the backslash belong to the text.
                self.at = mark + 1;
            }
        }
        let mut text = Vec::new();
        while let Some(byte) = self.next() {
            match byte {
                b'\n' => break,
                b'\\' => match self.next() {
                    None => {}
                    Some(b'\n') => text.push(b'\n'),
                    Some(escape) => {
                        self.at -= 1;
                        match text_escape(&self.text[self.at..]) {
                            // The first character after `a\` is taken as it is.
                            Some((byte, length)) if !text.is_empty() => {
                                text.push(byte);
                                self.at += length;
                            }
                            _ => {
                                text.push(escape);
                                self.at += 1;
                            }
                        }
                    }
                },
                _ => text.push(byte),
            }
        }
        text.push(b'\n');
        Ok(text)
    }

    fn substitution(&mut self) -> Result<Action> {
        const UNTERMINATED: &str = "unterminated `s' command";
        let delimiter = self.next().filter(|byte| *byte != b'\n' && *byte != b'\\').ok_or(UNTERMINATED)?;
        let source = self.delimited(delimiter, true).ok_or(UNTERMINATED)?;
        let replacement = self.delimited(delimiter, false).ok_or(UNTERMINATED)?;
        let mut command = Substitution {
            pattern: None,
            replacement: parse_replacement(&replacement),
            uses_groups: false,
            global: false,
            number: 0,
            print: false,
            evaluate: false,
            file: None,
        };
        let (mut ignore_case, mut multi_line) = (false, false);
        loop {
            match self.peek() {
                Some(b'g') if command.global => {
                    self.at += 1;
                    return Err("multiple `g' options to `s' command".into());
                }
                Some(b'p') if command.print => {
                    self.at += 1;
                    return Err("multiple `p' options to `s' command".into());
                }
                Some(b'g') => command.global = true,
                Some(b'p') => command.print = true,
                Some(b'i' | b'I') => ignore_case = true,
                Some(b'm' | b'M') => multi_line = true,
                Some(b'e') => {
                    self.refuse_in_sandbox()?;
                    command.evaluate = true;
                }
                Some(b'0'..=b'9') => {
                    let again = command.number > 0;
                    command.number = self.number().unwrap_or(0) as usize;
                    if again {
                        return Err("multiple number options to `s' command".into());
                    }
                    if command.number == 0 {
                        return Err("number option to `s' command may not be zero".into());
                    }
                    continue;
                }
                Some(b'w') => {
                    self.at += 1;
                    self.refuse_in_sandbox()?;
                    command.file = Some(self.output_file()?);
                    break;
                }
                Some(b'\n' | b';') => {
                    self.at += 1;
                    break;
                }
                None | Some(b'}' | b'#') => break,
                Some(byte) if byte.is_ascii_whitespace() => {}
                Some(_) => {
                    self.at += 1;
                    return Err("unknown option to `s'".into());
                }
            }
            self.at += 1;
        }
        command.number = command.number.max(1);
        command.pattern = self.pattern(&source, ignore_case, multi_line)?;
        let highest = command.replacement.iter().map(|part| if let Part::Group(n) = part { *n } else { 0 }).max();
        let highest = highest.unwrap_or(0);
        command.uses_groups = highest > 0;
        if command.pattern.as_ref().is_some_and(|regex| regex.groups() < highest) {
            return Err(format!("invalid reference \\{highest} on `s' command's RHS"));
        }
        Ok(Action::Substitute(Box::new(command)))
    }

    fn translation(&mut self) -> Result<Action> {
        const UNTERMINATED: &str = "unterminated `y' command";
        let delimiter = self.next().filter(|byte| *byte != b'\n' && *byte != b'\\').ok_or(UNTERMINATED)?;
        let from = self.delimited(delimiter, false).ok_or(UNTERMINATED)?;
        let to = self.delimited(delimiter, false).ok_or(UNTERMINATED)?;
        let (from, to) = (translation_characters(&from), translation_characters(&to));
        if from.len() != to.len() {
            return Err("strings for `y' command are different lengths".into());
        }
        self.end_of_command()?;
        Ok(Action::Translate(from.into_iter().zip(to).collect()))
    }
}

fn intern(names: &mut Vec<Vec<u8>>, name: Vec<u8>) -> usize {
    names.iter().position(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}

/// The character an escape stands for, and the length of what is behind the backslash.
fn text_escape(text: &[u8]) -> Option<(u8, usize)> {
    let number = |radix: u32, most: usize| {
        let digits = text[1..].iter().take(most).take_while(|byte| (**byte as char).is_digit(radix)).count();
        let value = u32::from_str_radix(std::str::from_utf8(&text[1..=digits]).ok()?, radix).ok()?;
        Some((value as u8, digits + 1))
    };
    match *text.first()? {
        b'a' => Some((7, 1)),
        b'f' => Some((12, 1)),
        b'n' => Some((b'\n', 1)),
        b'r' => Some((b'\r', 1)),
        b't' => Some((b'\t', 1)),
        b'v' => Some((11, 1)),
        b'c' => text.get(1).map(|byte| (byte.to_ascii_uppercase() ^ 0x40, 2)),
        b'd' => number(10, 3),
        b'o' => number(8, 3),
        b'x' => number(16, 2),
        _ => None,
    }
}

fn parse_replacement(text: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut literal = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        at += 1;
        let part = match byte {
            b'&' => Part::Group(0),
            b'\\' if at < text.len() => {
                let escape = text[at];
                match escape {
                    b'0'..=b'9' => {
                        at += 1;
                        Part::Group(usize::from(escape - b'0'))
                    }
                    b'U' | b'L' | b'u' | b'l' | b'E' => {
                        at += 1;
                        Part::Case(match escape {
                            b'U' => Case::Upper,
                            b'L' => Case::Lower,
                            b'u' => Case::UpperNext,
                            b'l' => Case::LowerNext,
                            _ => Case::Stop,
                        })
                    }
                    _ => {
                        let (byte, length) = text_escape(&text[at..]).unwrap_or((escape, 1));
                        literal.push(byte);
                        at += length;
                        continue;
                    }
                }
            }
            _ => {
                literal.push(byte);
                continue;
            }
        };
        if !literal.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut literal)));
        }
        parts.push(part);
    }
    if !literal.is_empty() {
        parts.push(Part::Text(literal));
    }
    parts
}

/// The characters of one side of `y`, escapes resolved.
fn translation_characters(text: &[u8]) -> Vec<Vec<u8>> {
    let mut characters = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'\\' && at + 1 < text.len() {
            at += 1;
            let (byte, length) = text_escape(&text[at..]).unwrap_or((text[at], 1));
            characters.push(vec![byte]);
            at += length;
            continue;
        }
        let length = super::char_length(&text[at..]);
        characters.push(text[at..at + length].to_vec());
        at += length;
    }
    characters
}

/// A number of the command line.
pub fn parse_width(value: &[u8]) -> Option<usize> {
    args::number(value).and_then(|number| usize::try_from(number).ok())
}
