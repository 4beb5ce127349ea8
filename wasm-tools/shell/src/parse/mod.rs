//! The parser: bytes to syntax trees, one complete command at a time, so that what precedes a syntax error still runs
//! and a script on standard input shares it with its commands.
//!
//! It has no separate token stage: bash's lexer depends on the grammar almost everywhere, so each rule reads
//! characters itself. Decision: our own parser instead of the crate brush-parser, which needs 62 ms for a 5,000-line
//! script that GNU bash reads in 19 ms, wants UTF-8 and whole programs, and rejects 0.6 % of real scripts.

mod command;
mod cond;
mod escape;
mod heredoc;
mod param;
mod word;

pub use command::is_reserved;
pub use escape::{ansi_c, digits, push_code_point};

use crate::ast::{List, Word};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Nesting of compound commands, substitutions and `${…}`: deeper text is refused before the stack is at risk.
const MAX_DEPTH: u32 = 150;

/// Alias names and their values.
pub type Aliases = BTreeMap<Vec<u8>, Vec<u8>>;

/// Where more text comes from when the buffer is used up.
pub trait Input {
    /// Appends the next line to `buf`; `false` at the end.
    fn more(&mut self, buf: &mut Vec<u8>) -> bool;
}

/// A syntax error, worded as bash does.
#[derive(Debug, Clone)]
pub struct ParseError {
    pub message: String,
    pub line: u32,
    /// The offending source line, which bash prints for an unexpected token.
    pub source_line: Option<Vec<u8>>,
    /// The text ended too early.
    pub at_end: bool,
    /// An error inside of `[[`: the text is given up, but `$?` stays.
    pub keeps_status: bool,
    /// Only the line is given up: what follows it is read on.
    pub line_only: bool,
    /// Further messages, with their lines.
    pub further: Vec<(u32, String)>,
}

type Result<T> = std::result::Result<T, ParseError>;

/// A here-document whose body has not been read yet.
struct PendingHereDoc {
    body: Rc<RefCell<Word>>,
    delimiter: Vec<u8>,
    quoted: bool,
    strip_tabs: bool,
}

/// The parser over one source of text.
pub struct Parser<'a> {
    buf: Vec<u8>,
    pos: usize,
    input: Option<Box<dyn Input + 'a>>,
    at_eof: bool,
    line: u32,
    line_mark: usize,
    aliases: Option<Rc<Aliases>>,
    extglob: bool,
    posix: bool,
    /// Whether this is the text of a here-document, where `$'` has no meaning.
    here_text: bool,
    /// Aliases being expanded, with the place where their text ends.
    active_aliases: Vec<(Vec<u8>, usize)>,
    /// The next word is checked for an alias too when it begins at or before this place.
    alias_next: usize,
    heredocs: Vec<PendingHereDoc>,
    depth: u32,
    source: Rc<[u8]>,
    /// Warnings to print, such as an unterminated here-document.
    pub warnings: Vec<(u32, String)>,
    /// The text a command substitution's error must not read past.
    in_substitution: u32,
    /// Pieces of the text that `declare -f` shows differently.
    raw_edits: Vec<(usize, usize, Vec<u8>)>,
    word_depth: u32,
    /// The value of an assignment is being read.
    in_assignment: bool,
}

/// Characters that end an unquoted word.
pub const fn is_meta(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

/// First character of a name.
pub fn is_name_start(c: u8) -> bool {
    c == b'_' || c.is_ascii_alphabetic()
}

/// Any further character of a name.
pub fn is_name_char(c: u8) -> bool {
    c == b'_' || c.is_ascii_alphanumeric()
}

/// Whether the text is a valid variable name.
pub fn is_name(text: &[u8]) -> bool {
    text.first().is_some_and(|&c| is_name_start(c)) && text.iter().all(|&c| is_name_char(c))
}

impl<'a> Parser<'a> {
    /// A parser over a whole text that begins at line `line` of `source`.
    pub fn new(text: Vec<u8>, line: u32, source: Rc<[u8]>) -> Self {
        Self {
            buf: text,
            pos: 0,
            input: None,
            at_eof: false,
            line,
            line_mark: 0,
            aliases: None,
            extglob: false,
            posix: false,
            here_text: false,
            active_aliases: Vec::new(),
            alias_next: 0,
            heredocs: Vec::new(),
            depth: 0,
            source,
            warnings: Vec::new(),
            in_substitution: 0,
            raw_edits: Vec::new(),
            word_depth: 0,
            in_assignment: false,
        }
    }

    /// A parser that asks for one line after the other.
    pub fn from_input(input: Box<dyn Input + 'a>, source: Rc<[u8]>) -> Self {
        let mut parser = Self::new(Vec::new(), 1, source);
        parser.input = Some(input);
        parser
    }

    /// Takes over what the shell's state says about parsing; called before each command.
    pub fn configure(&mut self, aliases: Option<Rc<Aliases>>, extglob: bool, posix: bool) {
        self.aliases = aliases.filter(|a| !a.is_empty());
        self.extglob = extglob;
        self.posix = posix;
    }

    /// The line of the current position.
    pub fn line(&mut self) -> u32 {
        let (from, to) = (self.line_mark, self.pos.min(self.buf.len()));
        if to > from {
            self.line += self.buf[from..to].iter().filter(|&&c| c == b'\n').count() as u32;
            self.line_mark = to;
        }
        self.line
    }

    /// Reads the next complete command: everything up to a newline outside of all constructs. `None` at the end.
    pub fn next_command(&mut self) -> Result<Option<List>> {
        self.drop_consumed();
        self.depth = 0;
        self.word_depth = 0;
        self.raw_edits.clear();
        self.in_assignment = false;
        loop {
            self.skip_blank();
            match self.cur() {
                None => return Ok(None),
                Some(b'\n') => self.newline()?,
                Some(_) => break,
            }
        }
        let list = self.list_on_line()?;
        self.skip_blank();
        match self.cur() {
            None => {
                self.read_heredocs()?;
                Ok(Some(list))
            }
            Some(b'\n') => {
                self.newline()?;
                Ok(Some(list))
            }
            Some(_) => Err(self.unexpected()),
        }
    }

    /// Parses all of the text as one list: for substitutions in back quotes, and what must be valid as a whole.
    pub fn whole(&mut self) -> Result<List> {
        let list = self.list()?;
        match self.cur() {
            None => {
                self.read_heredocs()?;
                Ok(list)
            }
            Some(_) => Err(self.unexpected()),
        }
    }

    /// Goes to the next line after an error that gives up one line.
    pub fn skip_line(&mut self) {
        while self.raw().is_some_and(|c| c != b'\n') {
            self.pos += 1;
        }
        self.heredocs.clear();
    }

    /// Forgets text that was read already when lines come one by one.
    pub fn drop_consumed(&mut self) {
        if self.input.is_some() && self.pos > 0 && self.pos >= self.buf.len() {
            self.line();
            self.buf.clear();
            self.pos = 0;
            self.line_mark = 0;
            self.alias_next = 0;
            self.active_aliases.clear();
        }
    }

    /// The current byte, as it is.
    fn raw(&mut self) -> Option<u8> {
        loop {
            if let Some(&c) = self.buf.get(self.pos) {
                return Some(c);
            }
            if !self.fill() {
                return None;
            }
        }
    }

    fn fill(&mut self) -> bool {
        if self.at_eof {
            return false;
        }
        let Some(input) = &mut self.input else {
            self.at_eof = true;
            return false;
        };
        if input.more(&mut self.buf) {
            true
        } else {
            self.at_eof = true;
            false
        }
    }

    /// The current byte; a backslash-newline before it is removed.
    fn cur(&mut self) -> Option<u8> {
        loop {
            match self.raw()? {
                b'\\' if self.buf.get(self.pos + 1) == Some(&b'\n') => self.pos += 2,
                c => return Some(c),
            }
        }
    }

    /// The byte `n` places after the current one, without looking through continuations.
    fn at(&self, n: usize) -> Option<u8> {
        self.buf.get(self.pos + n).copied()
    }

    /// Whether the text goes on with `s`, ignoring backslash-newlines.
    fn looking_at(&mut self, s: &[u8]) -> bool {
        if self.cur() != Some(s[0]) {
            return false;
        }
        let mut p = self.pos;
        for &want in s {
            while self.buf.get(p) == Some(&b'\\') && self.buf.get(p + 1) == Some(&b'\n') {
                p += 2;
            }
            if self.buf.get(p) != Some(&want) {
                return false;
            }
            p += 1;
        }
        true
    }

    /// Consumes `s` if the text goes on with it.
    fn eat(&mut self, s: &[u8]) -> bool {
        if !self.looking_at(s) {
            return false;
        }
        for _ in s {
            self.cur();
            self.pos += 1;
        }
        true
    }

    /// Skips blanks and a comment.
    fn skip_blank(&mut self) {
        loop {
            match self.buf.get(self.pos) {
                Some(b' ' | b'\t') => self.pos += 1,
                Some(b'#') => {
                    while self.raw().is_some_and(|c| c != b'\n') {
                        self.pos += 1;
                    }
                    return;
                }
                // A line may be continued, or more may come.
                Some(b'\\') | None => match self.cur() {
                    Some(b' ' | b'\t' | b'#') => {}
                    _ => return,
                },
                Some(_) => return,
            }
        }
    }

    /// Consumes a newline and the here-documents that begin after it.
    fn newline(&mut self) -> Result<()> {
        self.pos += 1;
        self.read_heredocs()
    }

    /// Skips blanks, comments and newlines.
    fn skip_newlines(&mut self) -> Result<()> {
        loop {
            self.skip_blank();
            if self.cur() == Some(b'\n') {
                self.newline()?;
            } else {
                return Ok(());
            }
        }
    }

    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("maximum nesting level of commands exceeded".into()));
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    fn error(&mut self, message: String) -> ParseError {
        ParseError {
            message,
            line: self.line(),
            source_line: None,
            at_end: false,
            keeps_status: false,
            line_only: false,
            further: Vec::new(),
        }
    }

    /// The error for the text at the current position.
    fn unexpected(&mut self) -> ParseError {
        match self.cur() {
            None => self.unexpected_end(),
            Some(_) => {
                let token = self.token_text();
                self.unexpected_token(&token)
            }
        }
    }

    /// The same where a word has to come: at the end, it is the newline there that is wrong.
    fn no_word(&mut self) -> ParseError {
        match self.cur() {
            None => self.unexpected_token(b"newline"),
            Some(_) => self.unexpected(),
        }
    }

    fn unexpected_token(&mut self, token: &[u8]) -> ParseError {
        let line = self.line();
        let start = self.buf[..self.pos]
            .iter()
            .rposition(|&c| c == b'\n')
            .map_or(0, |i| i + 1);
        let end = self.buf[start..]
            .iter()
            .position(|&c| c == b'\n')
            .map_or(self.buf.len(), |i| start + i);
        ParseError {
            message: format!(
                "syntax error near unexpected token `{}'",
                String::from_utf8_lossy(token)
            ),
            line,
            source_line: Some(self.buf[start..end].to_vec()),
            at_end: false,
            keeps_status: false,
            line_only: false,
            further: Vec::new(),
        }
    }

    fn unexpected_end(&mut self) -> ParseError {
        let mut line = self.line();
        if self.buf.last() != Some(&b'\n') {
            line += 1;
        }
        ParseError {
            message: "syntax error: unexpected end of file".into(),
            line,
            source_line: None,
            at_end: true,
            keeps_status: false,
            line_only: false,
            further: Vec::new(),
        }
    }

    fn unclosed(&mut self, what: &str, line: u32) -> ParseError {
        ParseError {
            message: format!("unexpected EOF while looking for matching `{what}'"),
            line,
            source_line: None,
            at_end: true,
            keeps_status: false,
            line_only: false,
            further: Vec::new(),
        }
    }

    /// The token at the current position, for a message.
    fn token_text(&mut self) -> Vec<u8> {
        const OPERATORS: [&[u8]; 20] = [
            b";;&", b"<<<", b"<<-", b"&>>", b";;", b";&", b"&&", b"||", b"|&", b"&>", b"<<", b">>", b"<&", b">&",
            b"<>", b">|", b";", b"&", b"|", b"(",
        ];
        if self.cur() == Some(b'\n') {
            return b"newline".to_vec();
        }
        for op in OPERATORS {
            if self.looking_at(op) {
                return op.to_vec();
            }
        }
        match self.cur() {
            Some(c @ (b')' | b'<' | b'>')) => vec![c],
            _ => {
                let rest = &self.buf[self.pos..];
                let end = rest.iter().position(|&c| is_meta(c)).unwrap_or(rest.len());
                rest[..end.max(1).min(rest.len())].to_vec()
            }
        }
    }
}

/// For `set -v`.
impl Parser<'_> {
    /// The current place in the text.
    pub fn position(&self) -> usize {
        self.pos
    }

    /// Leaves the rest of what was read out, after an error in a line.
    pub fn give_up_line(&mut self) {
        self.pos = self.buf.len();
        self.heredocs.clear();
    }

    /// What was read since, as whole lines.
    pub fn text_since(&self, from: usize) -> Vec<u8> {
        let mut text = self.buf[from.min(self.pos)..self.pos.min(self.buf.len())].to_vec();
        if text.last().is_some_and(|&c| c != b'\n') {
            text.push(b'\n');
        }
        text
    }
}
