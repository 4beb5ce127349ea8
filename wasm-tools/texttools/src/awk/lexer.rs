//! Splits an awk program into tokens.

use std::rc::Rc;

use super::builtins::Builtin;
use super::value::{self, Text};

/// A token.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Token {
    Number(f64),
    Text(Text),
    Regex(Vec<u8>),
    Name(String),
    /// A name directly before `(`.
    FunctionName(String),
    Builtin(Builtin),
    Keyword(Keyword),
    /// An operator or a mark of punctuation.
    Op(&'static str),
    Newline,
    End,
}

/// A reserved word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are awk's")]
pub enum Keyword {
    Begin,
    BeginFile,
    End,
    EndFile,
    Function,
    If,
    Else,
    While,
    For,
    Do,
    Break,
    Continue,
    Next,
    NextFile,
    Exit,
    Return,
    Delete,
    In,
    Getline,
    Print,
    Printf,
    Switch,
    Case,
    Default,
}

const KEYWORDS: &[(&str, Keyword)] = &[
    ("BEGIN", Keyword::Begin),
    ("BEGINFILE", Keyword::BeginFile),
    ("END", Keyword::End),
    ("ENDFILE", Keyword::EndFile),
    ("function", Keyword::Function),
    ("func", Keyword::Function),
    ("if", Keyword::If),
    ("else", Keyword::Else),
    ("while", Keyword::While),
    ("for", Keyword::For),
    ("do", Keyword::Do),
    ("break", Keyword::Break),
    ("continue", Keyword::Continue),
    ("next", Keyword::Next),
    ("nextfile", Keyword::NextFile),
    ("exit", Keyword::Exit),
    ("return", Keyword::Return),
    ("delete", Keyword::Delete),
    ("in", Keyword::In),
    ("getline", Keyword::Getline),
    ("print", Keyword::Print),
    ("printf", Keyword::Printf),
    ("switch", Keyword::Switch),
    ("case", Keyword::Case),
    ("default", Keyword::Default),
];

/// Longer ones first.
const OPERATORS: &[&str] = &[
    "**=", "|&", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**", "==", "<=", ">=", "!=", "!~", ">>",
    "{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", ">", "<", "|", "?", ":", "~", "$", "=",
    "@",
];

/// A token with the line it is in.
pub struct Lexeme {
    /// What.
    pub token: Token,
    /// Where, from 1.
    pub line: usize,
}

/// Splits a whole program.
///
/// # Errors
/// A message and its line.
pub fn tokenize(source: &[u8]) -> Result<Vec<Lexeme>, (usize, String)> {
    let mut lexer = Lexer { source, at: 0, line: 1 };
    let mut lexemes: Vec<Lexeme> = Vec::new();
    loop {
        let regex_allowed = lexemes.last().is_none_or(|last| !ends_operand(&last.token));
        let line = lexer.line;
        let token = lexer.next(regex_allowed).map_err(|message| (line, message))?;
        let end = token == Token::End;
        lexemes.push(Lexeme { token, line: lexer.line });
        if end {
            return Ok(lexemes);
        }
    }
}

/// Whether a `/` after this token divides.
fn ends_operand(token: &Token) -> bool {
    match token {
        Token::Number(_) | Token::Text(_) | Token::Regex(_) | Token::Name(_) | Token::Builtin(_) => true,
        Token::Op(op) => matches!(*op, ")" | "]" | "$" | "++" | "--"),
        _ => false,
    }
}

struct Lexer<'s> {
    source: &'s [u8],
    at: usize,
    line: usize,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.get(self.at + ahead).copied()
    }

    fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.peek(1) == Some(b'\n') => {
                    self.at += 2;
                    self.line += 1;
                }
                b'\\' if self.peek(1) == Some(b'\r') && self.peek(2) == Some(b'\n') => {
                    self.at += 3;
                    self.line += 1;
                }
                b'#' => {
                    self.at += memchr::memchr(b'\n', &self.source[self.at..]).unwrap_or(self.source.len() - self.at)
                }
                _ => break,
            }
        }
    }

    fn next(&mut self, regex_allowed: bool) -> Result<Token, String> {
        self.skip_blanks();
        let Some(byte) = self.peek(0) else { return Ok(Token::End) };
        match byte {
            b'\n' => {
                self.at += 1;
                self.line += 1;
                Ok(Token::Newline)
            }
            b'"' => self.string(),
            b'/' if regex_allowed => self.regex(),
            b'@' if self.peek(1) == Some(b'/') => {
                self.at += 1;
                self.regex()
            }
            b'0'..=b'9' => Ok(self.number()),
            b'.' if self.peek(1).is_some_and(|next| next.is_ascii_digit()) => Ok(self.number()),
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => Ok(self.word()),
            _ => {
                let rest = &self.source[self.at..];
                let Some(op) = OPERATORS.iter().find(|op| rest.starts_with(op.as_bytes())) else {
                    return Err(format!("invalid char '{}' in expression", byte as char));
                };
                self.at += op.len();
                Ok(Token::Op(match *op {
                    "**" => "^",
                    "**=" => "^=",
                    op => op,
                }))
            }
        }
    }

    fn number(&mut self) -> Token {
        let rest = &self.source[self.at..];
        if rest.len() > 2 && rest[0] == b'0' && matches!(rest[1], b'x' | b'X') && rest[2].is_ascii_hexdigit() {
            let digits = rest[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            let number = rest[2..2 + digits]
                .iter()
                .fold(0.0, |sum, byte| sum * 16.0 + f64::from((*byte as char).to_digit(16).unwrap_or(0)));
            self.at += 2 + digits;
            return Token::Number(number);
        }
        // Octal, as in C; `09` and `010.5` are decimal.
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let octal = rest[0] == b'0' && digits > 1 && !rest[..digits].iter().any(|byte| *byte > b'7');
        if octal && !matches!(rest.get(digits), Some(b'.' | b'e' | b'E')) {
            self.at += digits;
            return Token::Number(rest[..digits].iter().fold(0.0, |sum, digit| sum * 8.0 + f64::from(digit - b'0')));
        }
        let (number, length) = value::parse_prefix(rest);
        self.at += length.max(1);
        Token::Number(number)
    }

    fn word(&mut self) -> Token {
        let rest = &self.source[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let word = String::from_utf8_lossy(&rest[..length]).into_owned();
        self.at += length;
        if let Some((_, keyword)) = KEYWORDS.iter().find(|(name, _)| *name == word) {
            return Token::Keyword(*keyword);
        }
        if let Some(builtin) = Builtin::by_name(&word) {
            return Token::Builtin(builtin);
        }
        if self.peek(0) == Some(b'(') { Token::FunctionName(word) } else { Token::Name(word) }
    }

    fn string(&mut self) -> Result<Token, String> {
        let start = self.at + 1;
        let mut end = start;
        loop {
            match self.source.get(end) {
                None | Some(b'\n') => return Err("unterminated string".into()),
                Some(b'"') => break,
                Some(b'\\') => {
                    if self.source.get(end + 1) == Some(&b'\n') {
                        self.line += 1;
                    }
                    end += 2;
                }
                Some(_) => end += 1,
            }
        }
        let text = unescape(&self.source[start..end]);
        self.at = end + 1;
        Ok(Token::Text(Rc::new(text)))
    }

    fn regex(&mut self) -> Result<Token, String> {
        let mut text = Vec::new();
        let mut at = self.at + 1;
        // Where a bracket expression began in `text`: a `/` inside it does not end the regex.
        let mut bracket: Option<usize> = None;
        loop {
            let Some(&byte) = self.source.get(at) else { return Err("unterminated regexp".into()) };
            at += 1;
            match byte {
                b'\n' => return Err("unterminated regexp".into()),
                b'\\' => match self.source.get(at) {
                    Some(b'/') => {
                        text.push(b'/');
                        at += 1;
                    }
                    Some(b'\n') => {
                        self.line += 1;
                        at += 1;
                    }
                    Some(&next) => {
                        text.extend([b'\\', next]);
                        at += 1;
                    }
                    None => return Err("unterminated regexp".into()),
                },
                b'/' if bracket.is_none() => break,
                b'[' => {
                    text.push(byte);
                    if bracket.is_none() {
                        bracket = Some(text.len());
                    } else if matches!(self.source.get(at), Some(b':' | b'.' | b'=')) {
                        let close = [self.source[at], b']'];
                        if let Some(length) = memchr::memmem::find(&self.source[at + 1..], &close) {
                            text.extend_from_slice(&self.source[at..at + 1 + length + 2]);
                            at += length + 3;
                        }
                    }
                }
                b']' => {
                    if let Some(open) = bracket {
                        let inside = &text[open..];
                        if !inside.is_empty() && inside != b"^" {
                            bracket = None;
                        }
                    }
                    text.push(byte);
                }
                _ => text.push(byte),
            }
        }
        self.at = at;
        Ok(Token::Regex(text))
    }
}

/// Resolves the escapes of a string.
pub fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        at += 1;
        if byte != b'\\' || at >= text.len() {
            out.push(byte);
            continue;
        }
        let escape = text[at];
        at += 1;
        match escape {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'\\' | b'"' | b'/' => out.push(escape),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'v' => out.push(11),
            b'\n' => {}
            b'0'..=b'7' => {
                let digits = text[at - 1..].iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
                let code =
                    text[at - 1..at - 1 + digits].iter().fold(0u32, |sum, digit| sum * 8 + u32::from(digit - b'0'));
                out.push(code as u8);
                at += digits - 1;
            }
            b'x' if text.get(at).is_some_and(u8::is_ascii_hexdigit) => {
                let digits = text[at..].iter().take(2).take_while(|byte| byte.is_ascii_hexdigit()).count();
                let code = text[at..at + digits]
                    .iter()
                    .fold(0u32, |sum, digit| sum * 16 + (*digit as char).to_digit(16).unwrap_or(0));
                out.push(code as u8);
                at += digits;
            }
            b'u' if text.get(at).is_some_and(u8::is_ascii_hexdigit) => {
                let digits = text[at..].iter().take(8).take_while(|byte| byte.is_ascii_hexdigit()).count();
                let code = text[at..at + digits]
                    .iter()
                    .fold(0u32, |sum, digit| sum.wrapping_mul(16) + (*digit as char).to_digit(16).unwrap_or(0));
                let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                at += digits;
            }
            // As gawk does (with a warning): the character alone.
            _ => out.push(escape),
        }
    }
    out
}
