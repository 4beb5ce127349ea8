//! Words: quoting, substitutions, tildes, and the texts inside `${…}`, `$(( ))` and here-documents.

use super::{Parser, Result, ansi_c, is_meta, is_name_char, is_name_start};
use crate::ast::{Arith, CmdSub, ParamOp, Part, Subscript, Word};
use std::rc::Rc;

/// Where unquoted text ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// At a metacharacter.
    Word,
    /// At a metacharacter; patterns with parentheses are always read (right-hand sides in `[[ ]]`).
    Pattern,
    /// At white space, but parentheses and `|` are text (the right-hand side of `=~`).
    Regex,
    /// At the `}` of a parameter expansion.
    Brace,
    /// At the `/` or `}` of `${x/pattern/…}`.
    Slash,
    /// At the `]` of a subscript.
    Bracket,
}

/// Where text treated as in double quotes ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DoubleStop {
    Quote,
    /// The same inside of a quoted expansion, where a backslash quotes any character.
    Inner,
    HereDoc,
    /// `}` of an expansion that stands in double quotes.
    Brace,
    /// `))`
    Arith,
    /// `]` of `$[`.
    OldArith,
    /// `;` or `)` in `for (( ))`.
    ForPart,
    /// `:` or `}` in `${x:…}`.
    Slice,
}

impl Parser<'_> {
    /// The next word, or `None` when a metacharacter comes first.
    pub(super) fn word(&mut self) -> Result<Option<Word>> {
        self.word_until(Stop::Word)
    }

    pub(super) fn word_until(&mut self, stop: Stop) -> Result<Option<Word>> {
        self.cur();
        let start = self.pos;
        let edits = self.raw_edits.len();
        self.word_depth += 1;
        let (parts, braces) = self.parts(stop)?;
        self.word_depth -= 1;
        if parts.is_empty() && self.pos == start {
            return Ok(None);
        }
        let raw = self.raw_text(start, edits);
        if self.word_depth == 0 {
            self.raw_edits.clear();
        }
        Ok(Some(Word { parts, raw, braces }))
    }

    /// The source text since `start`, with `$'…'` and `$"…"` as bash keeps them after parsing.
    fn raw_text(&self, start: usize, edits: usize) -> Box<[u8]> {
        let edits = &self.raw_edits[edits.min(self.raw_edits.len())..];
        if edits.is_empty() {
            return self.buf[start..self.pos].into();
        }
        let mut out = Vec::new();
        let mut at = start;
        for (from, to, text) in edits {
            if *from >= at && *to <= self.pos {
                out.extend_from_slice(&self.buf[at..*from]);
                out.extend_from_slice(text);
                at = *to;
            }
        }
        out.extend_from_slice(&self.buf[at..self.pos]);
        out.into()
    }

    /// Reads unquoted text with everything that may be in it.
    pub(super) fn parts(&mut self, stop: Stop) -> Result<(Vec<Part>, bool)> {
        self.cur();
        let start = self.pos;
        let mut parts = Vec::new();
        let mut lit = Vec::new();
        let mut braces = false;
        // Depth of parentheses inside which metacharacters are text, and of brackets in a subscript.
        let mut nest = 0usize;
        let mut brackets = 0usize;
        let mut at_start = true;
        // In `name=value` a tilde expands after `=` and each `:`.
        let mut assignment = stop == Stop::Brace && self.in_assignment;
        let in_assignment = self.in_assignment;
        self.in_assignment &= stop == Stop::Brace;
        while let Some(c) = self.cur() {
            let first = std::mem::replace(&mut at_start, false);
            // Parentheses of a pattern do not hide what ends an expansion.
            if nest == 0 || matches!(stop, Stop::Brace | Stop::Slash) {
                let ends = match stop {
                    Stop::Word | Stop::Pattern => {
                        if is_meta(c) {
                            matches!(c, b'<' | b'>') && self.peek_after(b'(') && {
                                flush(&mut lit, &mut parts);
                                parts.push(self.process_substitution(c == b'>')?);
                                continue;
                            } || true
                        } else {
                            false
                        }
                    }
                    Stop::Regex => matches!(c, b' ' | b'\t' | b'\n') || c == b')',
                    Stop::Brace => c == b'}',
                    Stop::Slash => c == b'}' || c == b'/',
                    Stop::Bracket => c == b']' && brackets == 0,
                };
                if ends {
                    break;
                }
            }
            match c {
                b'\\' => {
                    self.pos += 1;
                    match self.raw() {
                        None => lit.push(b'\\'),
                        Some(e) => {
                            self.pos += 1;
                            flush(&mut lit, &mut parts);
                            push_quoted(&mut parts, &[e]);
                        }
                    }
                }
                b'\'' => {
                    flush(&mut lit, &mut parts);
                    let text = self.single_quoted()?;
                    push_quoted(&mut parts, &text);
                }
                b'"' => {
                    flush(&mut lit, &mut parts);
                    self.pos += 1;
                    parts.push(self.double_quoted(DoubleStop::Quote)?);
                }
                b'$' => match self.dollar(false)? {
                    Some(part) => {
                        flush(&mut lit, &mut parts);
                        parts.push(part);
                    }
                    None => lit.push(b'$'),
                },
                b'`' => {
                    flush(&mut lit, &mut parts);
                    parts.push(self.backquoted(false)?);
                }
                b'<' | b'>' if stop != Stop::Word && stop != Stop::Pattern && self.peek_after(b'(') => {
                    flush(&mut lit, &mut parts);
                    parts.push(self.process_substitution(c == b'>')?);
                }
                b'~' if first && stop != Stop::Bracket => match self.tilde(stop == Stop::Brace) {
                    Some(part) => parts.push(part),
                    None => lit.push(b'~'),
                },
                b'(' if stop == Stop::Regex => {
                    nest += 1;
                    self.pos += 1;
                    lit.push(c);
                }
                b'(' if nest > 0 => {
                    nest += 1;
                    self.pos += 1;
                    lit.push(c);
                }
                b')' if nest > 0 => {
                    nest -= 1;
                    self.pos += 1;
                    lit.push(c);
                }
                b'?' | b'*' | b'+' | b'@' | b'!'
                    if (self.extglob || stop == Stop::Pattern) && stop != Stop::Regex && self.peek_after(b'(') =>
                {
                    self.pos += 1;
                    self.cur();
                    self.pos += 1;
                    lit.extend_from_slice(&[c, b'(']);
                    nest += 1;
                }
                b'[' if stop == Stop::Bracket => {
                    brackets += 1;
                    self.pos += 1;
                    lit.push(c);
                }
                b']' if stop == Stop::Bracket => {
                    brackets -= 1;
                    self.pos += 1;
                    lit.push(c);
                }
                b'=' if stop == Stop::Word && !assignment && parts.is_empty() && is_assignment_prefix(&lit) => {
                    assignment = !self.posix;
                    self.pos += 1;
                    lit.push(c);
                    if assignment {
                        self.tilde_into(&mut lit, &mut parts, false);
                    }
                }
                b':' if assignment => {
                    self.pos += 1;
                    lit.push(c);
                    self.tilde_into(&mut lit, &mut parts, stop == Stop::Brace);
                }
                _ => {
                    braces |= c == b'{';
                    let rest = &self.buf[self.pos + 1..];
                    let plain = rest.iter().position(|&c| !is_plain(c)).unwrap_or(rest.len());
                    lit.extend_from_slice(&self.buf[self.pos..=self.pos + plain]);
                    self.pos += plain + 1;
                }
            }
        }
        if nest > 0 && self.cur().is_none() && !matches!(stop, Stop::Brace | Stop::Slash) {
            let line = self.line();
            return Err(self.unclosed(")", line));
        }
        flush(&mut lit, &mut parts);
        self.explain_bad(&mut parts, start);
        self.in_assignment = in_assignment;
        Ok((parts, braces))
    }

    /// The value of an assignment: a word in which tildes expand at its start and after each `:`.
    pub(super) fn assignment_value(&mut self) -> Result<Word> {
        self.in_assignment = true;
        let value = self.colon_word();
        self.in_assignment = false;
        value
    }

    pub(super) fn colon_word(&mut self) -> Result<Word> {
        self.cur();
        let start = self.pos;
        let edits = self.raw_edits.len();
        self.word_depth += 1;
        let mut parts = Vec::new();
        let mut lit = Vec::new();
        self.tilde_into(&mut lit, &mut parts, false);
        flush(&mut lit, &mut parts);
        loop {
            // Take the word apart at colons: each piece may begin with a tilde.
            let (more, _) = self.parts_to_colon()?;
            append_parts(&mut parts, more);
            if self.cur() != Some(b':') {
                break;
            }
            self.pos += 1;
            lit.push(b':');
            self.tilde_into(&mut lit, &mut parts, false);
            flush(&mut lit, &mut parts);
        }
        self.explain_bad(&mut parts, start);
        let braces = parts
            .iter()
            .any(|part| matches!(part, Part::Lit(text) if text.contains(&b'{')));
        self.word_depth -= 1;
        let raw = self.raw_text(start, edits);
        if self.word_depth == 0 {
            self.raw_edits.clear();
        }
        Ok(Word { parts, raw, braces })
    }

    fn parts_to_colon(&mut self) -> Result<(Vec<Part>, bool)> {
        let mut all = Vec::new();
        let mut lit = Vec::new();
        while let Some(c) = self.cur() {
            if c == b':' {
                break;
            }
            if is_meta(c)
                || matches!(
                    c,
                    b'\\' | b'\'' | b'"' | b'$' | b'`' | b'?' | b'*' | b'+' | b'@' | b'!' | b'~'
                )
            {
                if is_meta(c) && !(matches!(c, b'<' | b'>') && self.peek_after(b'(')) {
                    break;
                }
                if c == b'~' {
                    self.pos += 1;
                    lit.push(c);
                    continue;
                }
                flush(&mut lit, &mut all);
                self.one_part(&mut all)?;
            } else {
                self.pos += 1;
                lit.push(c);
            }
        }
        flush(&mut lit, &mut all);
        Ok((all, false))
    }

    /// One special piece of unquoted text.
    fn one_part(&mut self, parts: &mut Vec<Part>) -> Result<()> {
        match self.cur() {
            Some(b'\\') => {
                self.pos += 1;
                match self.raw() {
                    None => parts.push(Part::Lit(b"\\".to_vec())),
                    Some(e) => {
                        self.pos += 1;
                        push_quoted(parts, &[e]);
                    }
                }
            }
            Some(b'\'') => {
                let text = self.single_quoted()?;
                push_quoted(parts, &text);
            }
            Some(b'"') => {
                self.pos += 1;
                parts.push(self.double_quoted(DoubleStop::Quote)?);
            }
            Some(b'$') => match self.dollar(false)? {
                Some(part) => parts.push(part),
                None => push_lit(parts, b"$"),
            },
            Some(b'`') => parts.push(self.backquoted(false)?),
            Some(c @ (b'<' | b'>')) => parts.push(self.process_substitution(c == b'>')?),
            Some(c @ (b'?' | b'*' | b'+' | b'@' | b'!')) if self.extglob && self.peek_after(b'(') => {
                self.pos += 2;
                push_lit(parts, &[c, b'(']);
                let mut nest = 1;
                while nest > 0 {
                    let Some(c) = self.cur() else {
                        let line = self.line();
                        return Err(self.unclosed(")", line));
                    };
                    match c {
                        b'(' => nest += 1,
                        b')' => nest -= 1,
                        b'\\' | b'\'' | b'"' | b'$' | b'`' => {
                            self.one_part(parts)?;
                            continue;
                        }
                        _ => {}
                    }
                    self.pos += 1;
                    push_lit(parts, &[c]);
                }
            }
            Some(c) => {
                self.pos += 1;
                push_lit(parts, &[c]);
            }
            None => {}
        }
        Ok(())
    }

    fn peek_after(&self, c: u8) -> bool {
        let mut n = 1;
        while self.at(n) == Some(b'\\') && self.at(n + 1) == Some(b'\n') {
            n += 2;
        }
        self.at(n) == Some(c)
    }

    fn tilde_into(&mut self, lit: &mut Vec<u8>, parts: &mut Vec<Part>, in_brace: bool) {
        if self.cur() == Some(b'~') {
            if let Some(part) = self.tilde(in_brace) {
                flush(lit, parts);
                parts.push(part);
            } else {
                lit.push(b'~');
            }
        }
    }

    /// At a `~` that may expand: consumes it and the user name. When it does not expand, only the `~` is consumed.
    fn tilde(&mut self, in_brace: bool) -> Option<Part> {
        self.pos += 1;
        let mut n = 0;
        while self
            .at(n)
            .is_some_and(|c| is_name_char(c) || matches!(c, b'.' | b'-' | b'+'))
        {
            n += 1;
        }
        let ends = match self.at(n) {
            None => true,
            Some(b'/') => true,
            Some(b':') => true,
            Some(b'}') => in_brace,
            Some(c) => !in_brace && is_meta(c),
        };
        if !ends {
            return None;
        }
        let name = self.buf[self.pos..self.pos + n].to_vec();
        self.pos += n;
        Some(Part::Tilde(name))
    }

    /// At a `'`: the text between the quotes.
    pub(super) fn single_quoted(&mut self) -> Result<Vec<u8>> {
        let line = self.line();
        self.pos += 1;
        let mut text = Vec::new();
        loop {
            match self.raw() {
                None => return Err(self.unclosed("'", line)),
                Some(b'\'') => {
                    self.pos += 1;
                    return Ok(text);
                }
                Some(c) => {
                    self.pos += 1;
                    text.push(c);
                }
            }
        }
    }

    /// After a `"`: the quoted string up to its end.
    fn double_quoted(&mut self, stop: DoubleStop) -> Result<Part> {
        let line = self.line();
        let parts = self.double_parts(stop)?;
        if self.raw().is_none() {
            return Err(self.unclosed("\"", line));
        }
        self.pos += 1;
        Ok(Part::Double(parts))
    }

    /// Reads text as in double quotes, up to but not including what ends it.
    pub(super) fn double_parts(&mut self, stop: DoubleStop) -> Result<Vec<Part>> {
        let start = self.pos;
        let mut parts = Vec::new();
        let mut lit = Vec::new();
        let mut parens = 0usize;
        let mut brackets = 0usize;
        let mut ternary = 0usize;
        let mut in_single = false;
        let arithmetic = matches!(
            stop,
            DoubleStop::Arith | DoubleStop::OldArith | DoubleStop::ForPart | DoubleStop::Slice
        );
        while let Some(c) = self.cur() {
            let ends = match stop {
                DoubleStop::Quote | DoubleStop::Inner => c == b'"',
                DoubleStop::HereDoc => false,
                DoubleStop::Brace => c == b'}' && !in_single,
                DoubleStop::Arith => c == b')' && parens == 0,
                DoubleStop::OldArith => c == b']' && brackets == 0,
                DoubleStop::ForPart => parens == 0 && matches!(c, b';' | b')'),
                DoubleStop::Slice => c == b'}' || c == b':' && parens == 0 && brackets == 0 && ternary == 0,
            };
            if ends {
                break;
            }
            match c {
                b'\\' => {
                    self.pos += 1;
                    match self.raw() {
                        None => lit.push(b'\\'),
                        Some(e) => {
                            if e == b'\'' && in_single {
                                lit.push(b'\\');
                                continue;
                            }
                            let special = match e {
                                b'$' | b'`' | b'\\' => true,
                                _ if stop == DoubleStop::Inner => true,
                                b'"' => stop != DoubleStop::HereDoc,
                                b'}' => stop == DoubleStop::Brace,
                                _ => false,
                            };
                            if !special {
                                lit.push(b'\\');
                            }
                            self.pos += 1;
                            lit.push(e);
                        }
                    }
                }
                b'$' => match self.dollar(!self.ansi_quotes_follow(stop))? {
                    Some(part) => {
                        flush_quoted(&mut lit, &mut parts);
                        parts.push(part);
                    }
                    None => lit.push(b'$'),
                },
                b'`' => {
                    flush_quoted(&mut lit, &mut parts);
                    parts.push(self.backquoted(stop == DoubleStop::Quote || !self.here_text)?);
                }
                // Between single quotes it does not begin a string; it is taken away all the same.
                b'"' if stop == DoubleStop::Brace && in_single => self.pos += 1,
                b'"' if stop == DoubleStop::Brace => {
                    // A quoted string inside `"${x:-…}"`.
                    flush_quoted(&mut lit, &mut parts);
                    self.pos += 1;
                    parts.push(self.double_quoted(DoubleStop::Inner)?);
                }
                b'\'' if stop == DoubleStop::Brace => {
                    // Single quotes stay, but a brace between them does not end the expansion.
                    in_single = !in_single && self.buf[self.pos + 1..].contains(&b'\'');
                    self.pos += 1;
                    lit.push(c);
                }
                b'"' if arithmetic => self.pos += 1,
                b'\'' if arithmetic => {
                    // They stay, for keys of associative arrays; elsewhere they are an error.
                    let start = self.pos;
                    self.single_quoted()?;
                    lit.extend_from_slice(&self.buf[start..self.pos]);
                }
                _ => {
                    if arithmetic {
                        match c {
                            b'(' => parens += 1,
                            b')' => parens = parens.saturating_sub(1),
                            b'[' => brackets += 1,
                            b']' => brackets = brackets.saturating_sub(1),
                            b'?' => ternary += 1,
                            b':' => ternary = ternary.saturating_sub(1),
                            _ => {}
                        }
                    }
                    let rest = &self.buf[self.pos + 1..];
                    let plain = rest
                        .iter()
                        .position(|&c| !is_plain(c) && !matches!(c, b' ' | b'\n' | b'/'))
                        .unwrap_or(rest.len());
                    lit.extend_from_slice(&self.buf[self.pos..=self.pos + plain]);
                    self.pos += plain + 1;
                }
            }
        }
        flush_quoted(&mut lit, &mut parts);
        self.explain_bad(&mut parts, start);
        Ok(parts)
    }

    /// The text around an expansion that is not valid is what its message shows.
    fn explain_bad(&self, parts: &mut [Part], start: usize) {
        for part in parts {
            if let Part::Param(param) = part
                && matches!(param.op, ParamOp::Bad)
            {
                param.raw = self.buf[start..self.pos].into();
            }
        }
    }

    /// At a `$`: whether it begins `$'…'` or `$"…"` among what is quoted. In `"${x:-…}"` it does.
    fn ansi_quotes_follow(&self, stop: DoubleStop) -> bool {
        stop == DoubleStop::Brace && !self.here_text && matches!(self.at(1), Some(b'\'' | b'"'))
    }

    /// Arithmetic text up to its end.
    pub(super) fn arith_text(&mut self, stop: DoubleStop) -> Result<Arith> {
        let start = self.pos;
        let parts = self.double_parts(stop)?;
        Ok(Arith::new(Word {
            parts,
            raw: self.buf[start..self.pos].into(),
            braces: false,
        }))
    }

    /// At a `$`: the expansion, consumed, or `None` for a plain dollar sign (consumed too).
    pub(super) fn dollar(&mut self, quoted: bool) -> Result<Option<Part>> {
        self.pos += 1;
        let Some(c) = self.cur() else { return Ok(None) };
        match c {
            b'(' => self.dollar_paren().map(Some),
            b'{' => self.braced_parameter(quoted).map(Some),
            b'[' => {
                let line = self.line();
                self.pos += 1;
                let arith = self.arith_text(DoubleStop::OldArith)?;
                if self.cur().is_none() {
                    return Err(self.unclosed("]", line));
                }
                self.pos += 1;
                Ok(Some(Part::Arith(Box::new(arith))))
            }
            b'\'' if !quoted => {
                let line = self.line();
                let start = self.pos + 1;
                self.pos += 1;
                loop {
                    match self.raw() {
                        None => return Err(self.unclosed("'", line)),
                        Some(b'\\') => {
                            self.pos += 1;
                            self.raw();
                            self.pos += 1;
                        }
                        Some(b'\'') => break,
                        Some(_) => self.pos += 1,
                    }
                }
                let text = ansi_c(&self.buf[start..self.pos]);
                self.pos += 1;
                self.raw_edits.push((start - 2, self.pos, crate::quote::single(&text)));
                Ok(Some(Part::Quoted(text)))
            }
            b'"' if !quoted => {
                self.raw_edits.push((self.pos - 1, self.pos, Vec::new()));
                self.pos += 1;
                self.double_quoted(DoubleStop::Quote).map(Some)
            }
            _ => Ok(self.plain_parameter(c)),
        }
    }

    /// `$(…)` or `$((…))`; at the parenthesis.
    fn dollar_paren(&mut self) -> Result<Part> {
        if self.at(1) == Some(b'(') && self.closes_as_arithmetic()? {
            self.pos += 2;
            self.enter()?;
            let arith = self.arith_text(DoubleStop::Arith)?;
            self.leave();
            self.pos += 2;
            return Ok(Part::Arith(Box::new(arith)));
        }
        self.pos += 1;
        let line = self.line();
        let double = self.cur() == Some(b'(');
        let body = self.substitution_body().map_err(|error| match error {
            // What looked like arithmetic is reported where it begins.
            error if double && error.at_end => super::ParseError { line, ..error },
            error => error,
        })?;
        Ok(Part::CmdSub(Rc::new(CmdSub {
            body: Ok(body),
            line,
            backquoted: false,
        })))
    }

    /// After `(`: commands up to and including the `)` of a substitution.
    fn substitution_body(&mut self) -> Result<crate::ast::List> {
        self.enter()?;
        let outer = std::mem::take(&mut self.heredocs);
        self.in_substitution += 1;
        let list = match self.list() {
            Ok(list) if self.cur() == Some(b')') => list,
            Ok(_) if self.cur().is_some() => return Err(self.unexpected()),
            Ok(_) => return Err(self.unclosed_body()),
            Err(error) if error.at_end && error.message.starts_with("syntax error") => return Err(self.unclosed_body()),
            Err(error) => return Err(error),
        };
        // A here-document whose body the closing parenthesis cuts off is empty.
        self.heredocs.clear();
        self.pos += 1;
        self.in_substitution -= 1;
        self.heredocs = outer;
        self.leave();
        Ok(list)
    }

    /// The text ends within a substitution.
    fn unclosed_body(&mut self) -> super::ParseError {
        let line = self.unexpected_end().line;
        self.unclosed(")", line)
    }

    /// `<(…)` and `>(…)`; at the `<` or `>`.
    pub(super) fn process_substitution(&mut self, write: bool) -> Result<Part> {
        let start = self.pos;
        self.pos += 1;
        self.cur();
        self.pos += 1;
        let body = self.substitution_body()?;
        Ok(Part::ProcSub {
            write,
            body: Rc::new(body),
            raw: self.buf[start..self.pos].into(),
        })
    }

    /// Whether the `((` at the current position ends in `))`: otherwise it is two nested parentheses.
    pub(super) fn closes_as_arithmetic(&mut self) -> Result<bool> {
        let line = self.line();
        let mut p = self.pos + 2;
        let mut depth = 0usize;
        loop {
            let Some(&c) = self.buf.get(p) else {
                if self.fill() {
                    continue;
                }
                return Err(self.unclosed(")", line));
            };
            match c {
                b'(' => depth += 1,
                b')' if depth == 0 => {
                    if p + 1 >= self.buf.len() {
                        self.fill();
                    }
                    return Ok(self.buf.get(p + 1) == Some(&b')'));
                }
                b')' => depth -= 1,
                b'\\' => p += 1,
                b'\'' => {
                    let Some(n) = self.buf[p + 1..].iter().position(|&c| c == b'\'') else {
                        return Ok(false);
                    };
                    p += n + 1;
                }
                b'"' => {
                    p += 1;
                    loop {
                        match self.buf.get(p) {
                            None => return Ok(false),
                            Some(b'"') => break,
                            Some(b'\\') => p += 2,
                            Some(_) => p += 1,
                        }
                    }
                }
                _ => {}
            }
            p += 1;
        }
    }

    /// At a back quote: the substitution up to the closing one.
    pub(super) fn backquoted(&mut self, quoted: bool) -> Result<Part> {
        let line = self.line();
        self.pos += 1;
        let mut text = Vec::new();
        loop {
            match self.raw() {
                None => return Err(self.unclosed("`", line)),
                Some(b'`') => break,
                Some(b'\\') => {
                    self.pos += 1;
                    match self.raw() {
                        Some(b'\n') => self.pos += 1,
                        Some(c) => {
                            if !(matches!(c, b'$' | b'`' | b'\\') || c == b'"' && quoted) {
                                text.push(b'\\');
                            }
                            text.push(c);
                            self.pos += 1;
                        }
                        None => return Err(self.unclosed("`", line)),
                    }
                }
                Some(c) => {
                    text.push(c);
                    self.pos += 1;
                }
            }
        }
        self.pos += 1;
        self.enter()?;
        let mut inner = Parser::new(text, line, self.source.clone());
        inner.configure(self.aliases.clone(), self.extglob, self.posix);
        inner.depth = self.depth;
        let body = inner.whole().map_err(|e| e.message);
        self.leave();
        Ok(Part::CmdSub(Rc::new(CmdSub {
            body,
            line,
            backquoted: true,
        })))
    }

    /// At a `[`: the subscript and its closing bracket, or `None` (nothing consumed) when it does not close.
    pub(super) fn subscript(&mut self) -> Result<Option<Subscript>> {
        let start = self.pos;
        self.pos += 1;
        if let (Some(c @ (b'@' | b'*')), Some(b']')) = (self.at(0), self.at(1)) {
            self.pos += 2;
            return Ok(Some(if c == b'@' { Subscript::At } else { Subscript::Star }));
        }
        let text_start = self.pos;
        let (parts, _) = self.parts(Stop::Bracket)?;
        if self.cur() != Some(b']') {
            self.pos = start;
            return Ok(None);
        }
        let raw = self.buf[text_start..self.pos].into();
        self.pos += 1;
        Ok(Some(Subscript::Expr(Box::new(Arith::new(Word {
            parts,
            raw,
            braces: false,
        })))))
    }
}

/// Whether a character means nothing but itself wherever unquoted text is read.
fn is_plain(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.' | b',')
}

/// Whether the text before a `=` makes the word an assignment.
fn is_assignment_prefix(lit: &[u8]) -> bool {
    let name = lit.strip_suffix(b"+").unwrap_or(lit);
    name.first().is_some_and(|&c| is_name_start(c)) && name.iter().all(|&c| is_name_char(c))
}

fn flush(lit: &mut Vec<u8>, parts: &mut Vec<Part>) {
    if !lit.is_empty() {
        push_lit(parts, lit);
        lit.clear();
    }
}

fn flush_quoted(lit: &mut Vec<u8>, parts: &mut Vec<Part>) {
    if !lit.is_empty() {
        parts.push(Part::Quoted(std::mem::take(lit)));
    }
}

fn push_lit(parts: &mut Vec<Part>, text: &[u8]) {
    match parts.last_mut() {
        Some(Part::Lit(last)) => last.extend_from_slice(text),
        _ => parts.push(Part::Lit(text.to_vec())),
    }
}

fn push_quoted(parts: &mut Vec<Part>, text: &[u8]) {
    match parts.last_mut() {
        Some(Part::Quoted(last)) => last.extend_from_slice(text),
        _ => parts.push(Part::Quoted(text.to_vec())),
    }
}

fn append_parts(parts: &mut Vec<Part>, more: Vec<Part>) {
    for part in more {
        match part {
            Part::Lit(text) => push_lit(parts, &text),
            Part::Quoted(text) => push_quoted(parts, &text),
            other => parts.push(other),
        }
    }
}

/// Entry points for texts that are expanded outside of a script.
impl Parser<'_> {
    /// The whole text as a subscript.
    pub fn subscript_word(&mut self) -> Result<Word> {
        let (parts, _) = self.parts(Stop::Bracket)?;
        Ok(Word {
            parts,
            raw: self.buf[..self.pos].into(),
            braces: false,
        })
    }

    /// The whole text as an arithmetic expression before its expansion.
    pub fn arithmetic_word(&mut self) -> Result<Word> {
        Ok(self.arith_text(DoubleStop::OldArith)?.text)
    }

    /// The whole text as the body of a here-document.
    pub fn heredoc_like_word(&mut self) -> Result<Word> {
        self.here_text = true;
        let parts = self.double_parts(DoubleStop::HereDoc)?;
        Ok(Word {
            parts,
            raw: self.buf[..self.pos].into(),
            braces: false,
        })
    }
}
