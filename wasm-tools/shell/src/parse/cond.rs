//! The expression between `[[` and `]]`.

use super::word::Stop;
use super::{ParseError, Parser, Result};
use crate::ast::{Cond, CondOp, Word};

/// Operators `-x` with one operand.
pub const UNARY_TESTS: &[u8] = b"abcdefghknoprstuvwxzGLNORS";

/// A token where an operand or operator is expected.
#[derive(PartialEq)]
enum Token {
    Word,
    /// The number before a redirection.
    Number,
    /// An operator, a newline or `]]`.
    Other(String),
    End,
}

impl Parser<'_> {
    /// After `[[`: the expression and the closing `]]`.
    pub(super) fn conditional(&mut self) -> Result<Cond> {
        self.enter()?;
        let cond = self.cond_or()?;
        self.skip_newlines()?;
        if !self.cond_closes() {
            return Err(match self.cond_token() {
                Token::End => self.cond_error("unexpected EOF while looking for `]]'".into()),
                Token::Other(token) => self.cond_error(format!(
                    "syntax error in conditional expression: unexpected token `{token}'"
                )),
                Token::Word | Token::Number => self.cond_error("syntax error in conditional expression".into()),
            });
        }
        self.pos += 2;
        self.leave();
        Ok(cond)
    }

    /// Whether `]]` comes next.
    fn cond_closes(&mut self) -> bool {
        self.looking_at(b"]]") && self.at(2).is_none_or(super::is_meta)
    }

    /// An error in the expression. bash gives up the whole text for it, but keeps `$?` unless the text ended too early.
    fn cond_error(&mut self, message: String) -> ParseError {
        let mut error = self.error(message);
        let newline_only = self.raw() == Some(b'\n') && self.buf.get(self.pos + 1).is_none() && {
            self.pos += 1;
            self.raw().is_none()
        };
        error.at_end = newline_only || self.raw().is_none();
        error.keeps_status = !error.at_end;
        error
    }

    /// What stands at the current position, as bash's messages tell it.
    fn cond_token(&mut self) -> Token {
        self.skip_blank();
        let digits = self.buf[self.pos.min(self.buf.len())..]
            .iter()
            .take_while(|c| c.is_ascii_digit())
            .count();
        match self.cur() {
            None => Token::End,
            Some(_) if digits > 0 && matches!(self.at(digits), Some(b'<' | b'>')) => Token::Number,
            Some(b'<' | b'>') if self.at(1) == Some(b'(') => Token::Word,
            Some(b'\n' | b'&' | b'|' | b';' | b'<' | b'>' | b'(' | b')') => self.cond_token_text(),
            Some(_) if self.cond_closes() => self.cond_token_text(),
            Some(_) => Token::Word,
        }
    }

    fn cond_token_text(&mut self) -> Token {
        let text = self.token_text();
        Token::Other(String::from_utf8_lossy(&text).into_owned())
    }

    fn cond_or(&mut self) -> Result<Cond> {
        let mut left = self.cond_and()?;
        loop {
            self.skip_newlines()?;
            if !self.eat(b"||") {
                return Ok(left);
            }
            let right = self.cond_and()?;
            left = Cond::Or(Box::new(left), Box::new(right));
        }
    }

    fn cond_and(&mut self) -> Result<Cond> {
        let mut left = self.cond_term()?;
        loop {
            self.skip_newlines()?;
            if !self.eat(b"&&") {
                return Ok(left);
            }
            let right = self.cond_term()?;
            left = Cond::And(Box::new(left), Box::new(right));
        }
    }

    fn cond_term(&mut self) -> Result<Cond> {
        self.enter()?;
        self.skip_newlines()?;
        let term = match self.cur() {
            Some(b'(') => {
                let line = self.line();
                self.pos += 1;
                let inner = match self.cond_or() {
                    Ok(inner) => inner,
                    Err(mut error) => {
                        if error.keeps_status || error.at_end {
                            error.further.push((line.min(error.line), "expected `)'".into()));
                        }
                        return Err(error);
                    }
                };
                self.skip_newlines()?;
                if self.cur() != Some(b')') {
                    return Err(match self.cond_token() {
                        Token::Other(token) => self.cond_error(format!("unexpected token `{token}', expected `)'")),
                        _ => self.cond_error("expected `)'".into()),
                    });
                }
                self.pos += 1;
                Cond::Group(Box::new(inner))
            }
            Some(b'!') if self.at(1).is_none_or(super::is_meta) => {
                self.pos += 1;
                Cond::Not(Box::new(self.cond_term()?))
            }
            _ => self.cond_test()?,
        };
        self.leave();
        Ok(term)
    }

    fn cond_test(&mut self) -> Result<Cond> {
        match self.cond_token() {
            Token::Word => {}
            Token::End => {
                let line = self.unexpected_end().line;
                let error = self.cond_error("unexpected token `EOF' in conditional command".into());
                return Err(ParseError { line, ..error });
            }
            // The number is the one of bash's grammar.
            Token::Number => return Err(self.cond_error("unexpected token 284 in conditional command".into())),
            // bash says nothing about an expression that is missing at the end.
            Token::Other(token) if token == "]]" => return Err(self.cond_error(String::new())),
            Token::Other(token) => {
                return Err(self.cond_error(format!("unexpected token `{token}' in conditional command")));
            }
        }
        let Some(first) = self.cond_word()? else {
            return Err(self.cond_error(String::new()));
        };
        self.skip_blank();
        if let Some(&[b'-', op]) = first.literal()
            && UNARY_TESTS.contains(&op)
        {
            let operand = self.cond_operand("unary")?;
            return Ok(Cond::Unary(op, operand));
        }
        let Some((op, length)) = self.cond_operator() else {
            if self.cond_ends() {
                return Ok(Cond::Word(first));
            }
            return Err(match self.cond_token() {
                Token::Other(token) => self.cond_error(format!(
                    "unexpected token `{token}', conditional binary operator expected"
                )),
                _ => self.cond_error("conditional binary operator expected".into()),
            });
        };
        self.pos += length;
        self.skip_blank();
        let operand = match op {
            CondOp::Regex => self.word_until(Stop::Regex)?,
            CondOp::Match { .. } | CondOp::NotMatch if self.cond_token() == Token::Word => {
                self.word_until(Stop::Pattern)?
            }
            _ => return Ok(Cond::Binary(op, first, self.cond_operand("binary")?)),
        };
        match operand {
            Some(operand) if &*operand.raw != b"]]" => Ok(Cond::Binary(op, first, operand)),
            found => {
                if found.is_some() {
                    self.pos -= 2;
                }
                Err(self.operand_error("binary"))
            }
        }
    }

    /// The word after an operator.
    fn cond_operand(&mut self, kind: &str) -> Result<Word> {
        if self.cond_token() == Token::Word
            && let Some(word) = self.cond_word()?
        {
            return Ok(word);
        }
        Err(self.operand_error(kind))
    }

    fn operand_error(&mut self, kind: &str) -> ParseError {
        match self.cond_token() {
            Token::Other(token) => {
                self.cond_error(format!("unexpected argument `{token}' to conditional {kind} operator"))
            }
            _ => self.cond_error(format!("unexpected argument to conditional {kind} operator")),
        }
    }

    fn cond_word(&mut self) -> Result<Option<Word>> {
        self.skip_blank();
        self.word_until(Stop::Word)
    }

    fn cond_ends(&mut self) -> bool {
        match self.cur() {
            None | Some(b')') => true,
            Some(b'&') => self.looking_at(b"&&"),
            Some(b'|') => self.looking_at(b"||"),
            _ => self.cond_closes(),
        }
    }

    /// The binary operator at the current position and its length.
    fn cond_operator(&mut self) -> Option<(CondOp, usize)> {
        const WORDS: [(&[u8], CondOp); 13] = [
            (b"==", CondOp::Match { double: true }),
            (b"=~", CondOp::Regex),
            (b"=", CondOp::Match { double: false }),
            (b"!=", CondOp::NotMatch),
            (b"-eq", CondOp::Eq),
            (b"-ne", CondOp::Ne),
            (b"-lt", CondOp::Lt),
            (b"-le", CondOp::Le),
            (b"-gt", CondOp::Gt),
            (b"-ge", CondOp::Ge),
            (b"-nt", CondOp::Newer),
            (b"-ot", CondOp::Older),
            (b"-ef", CondOp::SameFile),
        ];
        match self.cur()? {
            b'<' if self.at(1) != Some(b'(') => return Some((CondOp::Less, 1)),
            b'>' if self.at(1) != Some(b'(') => return Some((CondOp::Greater, 1)),
            _ => {}
        }
        for (text, op) in WORDS {
            if self.looking_at(text) && self.at(text.len()).is_some_and(super::is_meta) {
                return Some((op, text.len()));
            }
        }
        None
    }
}
