//! The expression between `[[` and `]]`.

use super::word::Stop;
use super::{Parser, Result};
use crate::ast::{Cond, CondOp, Word};

/// Operators `-x` with one operand.
pub const UNARY_TESTS: &[u8] = b"abcdefghknoprstuvwxzGLNORS";

impl Parser<'_> {
    /// After `[[`: the expression and the closing `]]`.
    pub(super) fn conditional(&mut self) -> Result<Cond> {
        self.enter()?;
        let cond = self.cond_or()?;
        self.skip_newlines()?;
        if !(self.looking_at(b"]]") && self.at(2).is_none_or(super::is_meta)) {
            return Err(self.cond_error());
        }
        self.pos += 2;
        self.leave();
        Ok(cond)
    }

    fn cond_error(&mut self) -> super::ParseError {
        match self.cur() {
            None => self.unexpected_end(),
            Some(_) => {
                let token = self.token_text();
                let mut error = self.unexpected_token(&token);
                error.message = format!(
                    "syntax error in conditional expression: unexpected token `{}'",
                    String::from_utf8_lossy(&token)
                );
                error
            }
        }
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
                self.pos += 1;
                let inner = self.cond_or()?;
                self.skip_newlines()?;
                if self.cur() != Some(b')') {
                    return Err(self.cond_error());
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
        let Some(first) = self.cond_word()? else {
            return Err(self.cond_error());
        };
        if &*first.raw == b"]]" {
            self.pos -= 2;
            return Err(self.cond_error());
        }
        self.skip_blank();
        if let Some(&[b'-', op]) = first.literal()
            && UNARY_TESTS.contains(&op)
            && !self.cond_ends()
            && self.cond_operator().is_none()
        {
            let Some(operand) = self.cond_word()? else {
                return Err(self.cond_error());
            };
            return Ok(Cond::Unary(op, operand));
        }
        let Some((op, length)) = self.cond_operator() else {
            if self.cond_ends() && self.cur() != Some(b'\n') {
                return Ok(Cond::Word(first));
            }
            return Err(self.cond_error());
        };
        self.pos += length;
        self.skip_blank();
        let operand = match op {
            CondOp::Regex => self.word_until(Stop::Regex)?,
            CondOp::Match { .. } | CondOp::NotMatch => self.word_until(Stop::Pattern)?,
            _ => self.cond_word()?,
        };
        let Some(operand) = operand else {
            return Err(self.cond_error());
        };
        Ok(Cond::Binary(op, first, operand))
    }

    fn cond_word(&mut self) -> Result<Option<Word>> {
        self.skip_blank();
        self.word_until(Stop::Word)
    }

    fn cond_ends(&mut self) -> bool {
        match self.cur() {
            None | Some(b')' | b'\n') => true,
            Some(b'&') => self.looking_at(b"&&"),
            Some(b'|') => self.looking_at(b"||"),
            _ => self.looking_at(b"]]") && self.at(2).is_none_or(super::is_meta),
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
