//! `$name` and `${…}`.

use super::word::{DoubleStop, Stop};
use super::{Parser, Result, is_name_char, is_name_start};
use crate::ast::{Arith, Param, ParamName, ParamOp, Part, ReplaceMode, Word};

impl Parser<'_> {
    /// After a `$` that no bracket follows.
    pub(super) fn plain_parameter(&mut self, c: u8) -> Option<Part> {
        let start = self.pos;
        let name = if is_name_start(c) {
            ParamName::Var(self.name())
        } else if c.is_ascii_digit() {
            self.pos += 1;
            if c == b'0' {
                ParamName::Special(b'0')
            } else {
                ParamName::Positional(u32::from(c - b'0'))
            }
        } else if matches!(c, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') {
            self.pos += 1;
            ParamName::Special(c)
        } else {
            return None;
        };
        let raw = self.buf[start..self.pos].into();
        Some(Part::Param(Box::new(Param {
            name,
            index: None,
            indirect: false,
            op: ParamOp::None,
            raw,
            braced: false,
        })))
    }

    /// Reads a name at the current position.
    pub(super) fn name(&mut self) -> Vec<u8> {
        let mut name = Vec::new();
        while let Some(c) = self.cur().filter(|&c| is_name_char(c)) {
            name.push(c);
            self.pos += 1;
        }
        name
    }

    /// At the `{` of `${`.
    pub(super) fn braced_parameter(&mut self, quoted: bool) -> Result<Part> {
        let line = self.line();
        self.enter()?;
        let start = self.pos + 1;
        self.pos += 1;
        let mut param = self.parameter_head(quoted)?;
        if self.cur() != Some(b'}') || matches!(param.op, ParamOp::Bad) {
            // Not valid: skip to the closing brace; the message comes when it is expanded.
            param.op = ParamOp::Bad;
            self.parts(Stop::Brace)?;
            if self.cur().is_none() {
                return Err(self.unclosed("}", line));
            }
        }
        param.raw = self.buf[start..self.pos].into();
        self.pos += 1;
        self.leave();
        Ok(Part::Param(Box::new(param)))
    }

    fn parameter_head(&mut self, quoted: bool) -> Result<Param> {
        let mut param = Param {
            name: ParamName::Special(b'#'),
            index: None,
            indirect: false,
            op: ParamOp::None,
            raw: Box::default(),
            braced: true,
        };
        let mut length = false;
        match self.cur() {
            Some(b'#') => {
                // `${#}` is a count, `${#x}` a length, `${#-x}` an operator on the count.
                let next = self.at(1);
                let is_length = match next {
                    Some(c) if is_name_char(c) => true,
                    Some(b'@' | b'*' | b'?' | b'-' | b'$' | b'!' | b'#') => self.at(2) == Some(b'}'),
                    _ => false,
                };
                if is_length {
                    self.pos += 1;
                    length = true;
                }
            }
            Some(b'!') => {
                // `${!name}` is indirect, `${!}` and `${!-x}` are about the last background process.
                let indirect = match self.at(1) {
                    Some(c) if is_name_char(c) => true,
                    Some(b'@' | b'*' | b'#' | b'?' | b'$' | b'!') => self.at(2) == Some(b'}'),
                    _ => false,
                };
                if indirect {
                    self.pos += 1;
                    param.indirect = true;
                }
            }
            _ => {}
        }
        let Some(c) = self.cur() else { return Ok(param) };
        param.name = if is_name_start(c) {
            ParamName::Var(self.name())
        } else if c.is_ascii_digit() {
            let mut number = 0u32;
            while let Some(d) = self.cur().filter(u8::is_ascii_digit) {
                number = number.saturating_mul(10).saturating_add(u32::from(d - b'0'));
                self.pos += 1;
            }
            if number == 0 {
                ParamName::Special(b'0')
            } else {
                ParamName::Positional(number)
            }
        } else if matches!(c, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') {
            self.pos += 1;
            ParamName::Special(c)
        } else {
            param.op = ParamOp::Bad;
            return Ok(param);
        };
        if self.cur() == Some(b'[') && matches!(param.name, ParamName::Var(_)) {
            match self.subscript()? {
                Some(index) => param.index = Some(index),
                None => {
                    param.op = ParamOp::Bad;
                    return Ok(param);
                }
            }
        }
        if length {
            param.op = ParamOp::Length;
            return Ok(param);
        }
        if param.indirect && self.cur() == Some(b'}') {
            use crate::ast::Subscript;
            if matches!(param.index, Some(Subscript::At | Subscript::Star)) {
                param.indirect = false;
                param.op = ParamOp::Keys;
                return Ok(param);
            }
        }
        if param.indirect
            && param.index.is_none()
            && matches!(param.name, ParamName::Var(_))
            && let (Some(c @ (b'*' | b'@')), Some(b'}')) = (self.cur(), self.at(1))
        {
            self.pos += 1;
            param.indirect = false;
            param.op = ParamOp::Names { at: c == b'@' };
            return Ok(param);
        }
        param.op = self.parameter_operator(quoted)?;
        // What these three stand for has no case.
        if matches!(param.name, ParamName::Special(b'#' | b'?' | b'-')) && matches!(param.op, ParamOp::Case { .. }) {
            param.op = ParamOp::Bad;
        }
        Ok(param)
    }

    fn parameter_operator(&mut self, quoted: bool) -> Result<ParamOp> {
        let Some(c) = self.cur() else { return Ok(ParamOp::None) };
        Ok(match c {
            b'}' => ParamOp::None,
            b':' => {
                self.pos += 1;
                if let Some(op @ (b'-' | b'=' | b'?' | b'+')) = self.cur() {
                    self.pos += 1;
                    return Ok(ParamOp::Test {
                        op,
                        colon: true,
                        word: self.test_word(op, quoted)?,
                    });
                }
                if self.cur() == Some(b'}') {
                    return Ok(ParamOp::Bad);
                }
                let offset = Box::new(self.arith_text(DoubleStop::Slice)?);
                let length = if self.cur() == Some(b':') {
                    self.pos += 1;
                    Some(Box::new(self.arith_text(DoubleStop::Slice)?))
                } else {
                    None
                };
                ParamOp::Slice { offset, length }
            }
            b'-' | b'=' | b'?' | b'+' => {
                self.pos += 1;
                ParamOp::Test {
                    op: c,
                    colon: false,
                    word: self.test_word(c, quoted)?,
                }
            }
            b'#' | b'%' => {
                self.pos += 1;
                let longest = self.eat(&[c]);
                let pattern = self.pattern_word(Stop::Brace)?;
                if c == b'#' {
                    ParamOp::Prefix { longest, pattern }
                } else {
                    ParamOp::Suffix { longest, pattern }
                }
            }
            b'/' => {
                self.pos += 1;
                let mode = match self.cur() {
                    Some(b'/') => {
                        self.pos += 1;
                        ReplaceMode::All
                    }
                    Some(b'#') => {
                        self.pos += 1;
                        ReplaceMode::Prefix
                    }
                    Some(b'%') => {
                        self.pos += 1;
                        ReplaceMode::Suffix
                    }
                    _ => ReplaceMode::First,
                };
                // A slash right after `//` belongs to the pattern.
                let mut pattern = Word::default();
                if mode == ReplaceMode::All && self.cur() == Some(b'/') {
                    self.pos += 1;
                    pattern.parts.push(crate::ast::Part::Lit(b"/".to_vec()));
                    pattern.raw = b"/".to_vec().into();
                }
                let rest = self.pattern_word(Stop::Slash)?;
                pattern.parts.extend(rest.parts);
                pattern.raw = [&pattern.raw[..], &rest.raw[..]].concat().into();
                let with = if self.cur() == Some(b'/') {
                    self.pos += 1;
                    Some(self.pattern_word(Stop::Brace)?)
                } else {
                    None
                };
                ParamOp::Replace { mode, pattern, with }
            }
            b'^' | b',' | b'~' => {
                self.pos += 1;
                let all = self.eat(&[c]);
                let pattern = if self.cur() == Some(b'}') {
                    None
                } else {
                    Some(self.pattern_word(Stop::Brace)?)
                };
                ParamOp::Case { op: c, all, pattern }
            }
            b'@' => match (self.at(1), self.at(2)) {
                (Some(op), Some(b'}')) if b"QEPAKaukULu".contains(&op) => {
                    self.pos += 2;
                    ParamOp::Transform(op)
                }
                _ => ParamOp::Bad,
            },
            _ => ParamOp::Bad,
        })
    }

    /// The word of a test; one that is assigned to the parameter has no tildes after colons.
    fn test_word(&mut self, op: u8, quoted: bool) -> Result<Word> {
        let in_assignment = self.in_assignment;
        self.in_assignment &= op != b'=';
        let word = self.operator_word(quoted);
        self.in_assignment = in_assignment;
        word
    }

    /// The word of `${x:-word}`: unquoted rules outside of double quotes, quoted ones inside.
    fn operator_word(&mut self, quoted: bool) -> Result<Word> {
        if !quoted {
            return self.pattern_word(Stop::Brace);
        }
        let start = self.pos;
        let parts = self.double_parts(DoubleStop::Brace)?;
        Ok(Word {
            parts,
            raw: self.buf[start..self.pos].into(),
            braces: false,
        })
    }

    fn pattern_word(&mut self, stop: Stop) -> Result<Word> {
        Ok(self.word_until(stop)?.unwrap_or_default())
    }
}

/// An expression from plain text.
impl From<&[u8]> for Arith {
    fn from(text: &[u8]) -> Self {
        Arith::new(Word::quoted(text))
    }
}
