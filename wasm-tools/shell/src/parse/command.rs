//! Lists, pipelines, compound and simple commands.

use super::word::DoubleStop;
use super::{ParseError, Parser, Result, is_meta, is_name, is_name_char, is_name_start};
use crate::ast::{
    AndOr, Arg, Arith, Assign, AssignValue, CaseArm, CaseEnd, Command, CommandKind, Element, FunctionDef, List,
    ListItem, Pipeline, Redirect, RedirectFd, RedirectKind, Simple, Subscript, Timed, Word,
};
use std::rc::Rc;

/// Words that end a list when they stand where a command would begin.
const CLOSERS: [&[u8]; 9] = [b"then", b"else", b"elif", b"fi", b"do", b"done", b"esac", b"in", b"}"];

/// Characters that a word without quotes and expansions does not have.
static ENDS_BARE: [bool; 256] = {
    let mut ends = [false; 256];
    let mut i = 0;
    while i < 128 {
        let c = i as u8;
        ends[i] = is_meta(c) || matches!(c, b'\\' | b'\'' | b'"' | b'$' | b'`');
        i += 1;
    }
    ends
};

/// Builtins whose arguments may be assignments.
pub const DECLARATIONS: [&[u8]; 5] = [b"declare", b"typeset", b"local", b"export", b"readonly"];

impl Parser<'_> {
    /// Commands up to a closing word, `)`, `;;` or the end of the text.
    pub(super) fn list(&mut self) -> Result<List> {
        let mut items = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.at_list_end() {
                return Ok(List(items));
            }
            let (item, ended) = self.list_item()?;
            items.push(item);
            if !ended && self.cur() != Some(b'\n') {
                self.skip_blank();
                if self.cur() == Some(b'\n') {
                    continue;
                }
                return Ok(List(items));
            }
        }
    }

    /// Commands up to the end of the line.
    pub(super) fn list_on_line(&mut self) -> Result<List> {
        let mut items = Vec::new();
        loop {
            let (item, ended) = self.list_item()?;
            items.push(item);
            self.skip_blank();
            if !ended || matches!(self.cur(), None | Some(b'\n')) {
                return Ok(List(items));
            }
        }
    }

    /// A list that must not be empty.
    fn some_list(&mut self) -> Result<List> {
        let list = self.list()?;
        if list.0.is_empty() {
            return Err(self.unexpected());
        }
        Ok(list)
    }

    fn at_list_end(&mut self) -> bool {
        match self.cur() {
            None | Some(b')') => true,
            Some(b';') => self.looking_at(b";;") || self.looking_at(b";&"),
            Some(b'}' | b't' | b'e' | b'f' | b'd' | b'i') => {
                self.expand_alias_here();
                self.bare_word().is_some_and(|w| CLOSERS.contains(&w))
            }
            _ => false,
        }
    }

    /// An and-or list and its separator; the flag tells whether there was one.
    fn list_item(&mut self) -> Result<(ListItem, bool)> {
        let body = self.and_or()?;
        self.skip_blank();
        Ok(match self.cur() {
            Some(b'&') if !self.looking_at(b"&&") => {
                self.pos += 1;
                (ListItem { body, background: true }, true)
            }
            Some(b';') if !self.looking_at(b";;") && !self.looking_at(b";&") => {
                self.pos += 1;
                (
                    ListItem {
                        body,
                        background: false,
                    },
                    true,
                )
            }
            _ => (
                ListItem {
                    body,
                    background: false,
                },
                false,
            ),
        })
    }

    fn and_or(&mut self) -> Result<AndOr> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blank();
            let and = if self.eat(b"&&") {
                true
            } else if self.eat(b"||") {
                false
            } else {
                return Ok(AndOr { first, rest });
            };
            self.skip_newlines()?;
            rest.push((and, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline> {
        let mut negate = false;
        let mut timed = None;
        loop {
            self.skip_blank();
            self.expand_alias_here();
            match self.bare_word() {
                Some(b"!") => {
                    self.pos += 1;
                    negate = !negate;
                    self.skip_blank();
                    if self.at_pipeline_end() {
                        return Ok(Pipeline {
                            negate,
                            timed,
                            stages: Vec::new(),
                        });
                    }
                }
                Some(b"time") if timed.is_none() => {
                    self.pos += 4;
                    timed = Some(Timed::Bash);
                    self.skip_blank();
                    if self.bare_word() == Some(b"-p") {
                        self.pos += 2;
                        timed = Some(Timed::Posix);
                        self.skip_blank();
                    }
                    if self.bare_word() == Some(b"--") {
                        self.pos += 2;
                        self.skip_blank();
                    }
                    if self.at_pipeline_end() || self.cur() == Some(b')') {
                        return Ok(Pipeline {
                            negate,
                            timed,
                            stages: Vec::new(),
                        });
                    }
                }
                _ => break,
            }
        }
        let mut stages = vec![self.command()?];
        loop {
            self.skip_blank();
            if self.looking_at(b"||") || self.cur() != Some(b'|') {
                return Ok(Pipeline { negate, timed, stages });
            }
            self.pos += 1;
            if self.cur() == Some(b'&') {
                self.pos += 1;
                if let Some(last) = stages.last_mut() {
                    let word = literal_word(b"1");
                    last.redirects.push(Redirect {
                        fd: RedirectFd::Number(2),
                        kind: RedirectKind::DupOut(word),
                    });
                }
            }
            self.skip_newlines()?;
            self.expand_alias_here();
            stages.push(self.command()?);
        }
    }

    fn at_pipeline_end(&mut self) -> bool {
        matches!(self.cur(), None | Some(b'\n' | b';'))
    }

    /// The unquoted word at the current position, if it is made of plain characters only.
    fn bare_word(&mut self) -> Option<&[u8]> {
        self.cur()?;
        let rest = &self.buf[self.pos..];
        let end = rest.iter().position(|&c| ENDS_BARE[usize::from(c)]);
        let end = match end {
            None => rest.len(),
            Some(i) if is_meta(rest[i]) => i,
            Some(_) => return None,
        };
        (end > 0).then(|| &rest[..end])
    }

    /// Expands aliases at the current position, if a command begins here.
    fn expand_alias_here(&mut self) {
        let Some(aliases) = self.aliases.clone() else { return };
        loop {
            let pos = self.pos;
            self.active_aliases.retain(|(_, end)| *end > pos);
            let Some(word) = self.bare_word() else { return };
            let Some((word, value)) = aliases.get_key_value(word) else {
                return;
            };
            if self.active_aliases.iter().any(|(name, _)| name == word) {
                return;
            }
            let (word, length) = (word.clone(), word.len());
            let at = self.pos;
            self.line();
            self.buf.splice(at..at + length, value.iter().copied());
            let grown = value.len() as isize - length as isize;
            for (_, end) in &mut self.active_aliases {
                *end = end.saturating_add_signed(grown);
            }
            let end = at + value.len();
            if self.alias_next > at {
                self.alias_next = self.alias_next.saturating_add_signed(grown);
            }
            self.active_aliases.push((word, end));
            if matches!(value.last(), Some(b' ' | b'\t')) {
                self.alias_next = self.alias_next.max(end);
            }
            self.skip_blank();
        }
    }

    /// After an alias whose value ends in a blank, the next word is checked as well.
    fn alias_after_blank(&mut self) {
        if self.alias_next > 0 && self.pos >= self.alias_next {
            let next = std::mem::take(&mut self.alias_next);
            let between = &self.buf[next.min(self.pos)..self.pos];
            if between.iter().all(|c| matches!(c, b' ' | b'\t' | b'\\' | b'\n')) {
                self.expand_alias_here();
            }
        }
    }

    fn command(&mut self) -> Result<Command> {
        self.enter()?;
        let line = self.line();
        let mut command = match self.compound(line)? {
            Some(kind) => {
                // An arithmetic command is where it ends.
                let line = match kind {
                    CommandKind::Arith(_) => self.line(),
                    _ => line,
                };
                let mut redirects = Vec::new();
                loop {
                    self.skip_blank();
                    match self.redirect()? {
                        Some(redirect) => redirects.push(redirect),
                        None => break,
                    }
                }
                Command::new(kind, redirects, line)
            }
            None => self.simple(line)?,
        };
        if let CommandKind::Function(_) = command.kind {
            command.redirects.clear();
        }
        self.leave();
        Ok(command)
    }

    fn compound(&mut self, line: u32) -> Result<Option<CommandKind>> {
        if self.cur() == Some(b'(') {
            if self.at(1) == Some(b'(') && self.closes_as_arithmetic()? {
                self.pos += 2;
                let arith = self.arith_text(DoubleStop::Arith)?;
                self.pos += 2;
                return Ok(Some(CommandKind::Arith(arith)));
            }
            self.pos += 1;
            let list = self.some_list()?;
            self.expect_paren()?;
            return Ok(Some(CommandKind::Subshell(list)));
        }
        let Some(word) = self.bare_word() else { return Ok(None) };
        let length = word.len();
        let kind = match word {
            b"{" => {
                self.pos += 1;
                let list = self.some_list()?;
                self.expect(b"}")?;
                CommandKind::Group(list)
            }
            b"if" => {
                self.pos += length;
                self.if_clause()?
            }
            b"while" | b"until" => {
                let until = word == b"until";
                self.pos += length;
                let cond = self.some_list()?;
                let body = self.do_group()?;
                CommandKind::While { until, cond, body }
            }
            b"for" => {
                self.pos += length;
                self.for_clause(false)?
            }
            b"select" => {
                self.pos += length;
                self.for_clause(true)?
            }
            b"case" => {
                self.pos += length;
                self.case_clause()?
            }
            b"[[" => {
                self.pos += length;
                CommandKind::Cond(self.conditional()?)
            }
            b"function" => {
                self.pos += length;
                self.skip_blank();
                let Some(name) = self.word()? else {
                    return Err(self.no_word());
                };
                self.skip_blank();
                if self.cur() == Some(b'(') {
                    let start = self.pos;
                    self.pos += 1;
                    self.skip_blank();
                    if self.cur() == Some(b')') {
                        self.pos += 1;
                    } else {
                        self.pos = start;
                    }
                }
                self.function_body(name.raw.to_vec(), line)?
            }
            b"coproc" => {
                self.pos += length;
                self.coproc()?
            }
            b"then" | b"else" | b"elif" | b"fi" | b"do" | b"done" | b"esac" | b"}" | b"in" if word != b"in" => {
                return Err(self.unexpected());
            }
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    fn expect(&mut self, word: &[u8]) -> Result<()> {
        self.skip_newlines()?;
        self.expand_alias_here();
        if self.bare_word() != Some(word) {
            return Err(self.unexpected());
        }
        self.pos += word.len();
        Ok(())
    }

    fn expect_paren(&mut self) -> Result<()> {
        if self.cur() != Some(b')') {
            return Err(self.unexpected());
        }
        self.pos += 1;
        Ok(())
    }

    fn if_clause(&mut self) -> Result<CommandKind> {
        let mut clauses = Vec::new();
        let mut otherwise = None;
        loop {
            let cond = self.some_list()?;
            self.expect(b"then")?;
            let body = self.some_list()?;
            clauses.push((cond, body));
            match self.bare_word() {
                Some(b"elif") => self.pos += 4,
                Some(b"else") => {
                    self.pos += 4;
                    otherwise = Some(self.some_list()?);
                    break;
                }
                _ => break,
            }
        }
        self.expect(b"fi")?;
        Ok(CommandKind::If { clauses, otherwise })
    }

    fn do_group(&mut self) -> Result<List> {
        self.skip_newlines()?;
        // `for x in …; { …; }` is an undocumented form that bash takes.
        if self.bare_word() == Some(b"{") {
            self.pos += 1;
            let list = self.some_list()?;
            self.expect(b"}")?;
            return Ok(list);
        }
        self.expect(b"do")?;
        let list = self.some_list()?;
        self.expect(b"done")?;
        Ok(list)
    }

    fn for_clause(&mut self, select: bool) -> Result<CommandKind> {
        self.skip_blank();
        if !select && self.looking_at(b"((") {
            let [init, cond, step] = self.for_expressions()?;
            self.skip_blank();
            if self.cur() == Some(b';') {
                self.pos += 1;
            }
            let body = self.do_group()?;
            return Ok(CommandKind::ArithFor { init, cond, step, body });
        }
        self.alias_after_blank();
        let Some(name) = self.word()? else {
            return Err(self.no_word());
        };
        let name = name.raw.to_vec();
        let mut words = None;
        self.skip_blank();
        self.alias_after_blank();
        if self.cur() == Some(b';') {
            self.pos += 1;
        } else {
            self.skip_newlines()?;
            if self.bare_word() == Some(b"in") {
                self.pos += 2;
                let mut list = Vec::new();
                loop {
                    self.skip_blank();
                    self.alias_after_blank();
                    match self.word()? {
                        Some(word) => list.push(word),
                        None => break,
                    }
                }
                match self.cur() {
                    Some(b';') if !self.looking_at(b";;") => self.pos += 1,
                    Some(b'\n') => {}
                    _ => return Err(self.unexpected()),
                }
                words = Some(list);
            }
        }
        let body = self.do_group()?;
        Ok(if select {
            CommandKind::Select { name, words, body }
        } else {
            CommandKind::For { name, words, body }
        })
    }

    /// The three expressions of `for ((…))`; at its parentheses.
    fn for_expressions(&mut self) -> Result<[Arith; 3]> {
        let line = self.line();
        let start = self.pos;
        self.pos += 2;
        let mut parts = Vec::new();
        loop {
            parts.push(self.arith_text(DoubleStop::ForPart)?);
            match self.cur() {
                Some(b';') => self.pos += 1,
                Some(_) => break,
                None => return Err(self.unclosed(")", line)),
            }
        }
        self.pos += 1;
        self.expect_paren()?;
        let problem = if parts.len() < 3 {
            "arithmetic expression required"
        } else {
            "`;' unexpected"
        };
        parts.try_into().map_err(|_| {
            let line = self.line();
            let text = String::from_utf8_lossy(&self.buf[start..self.pos]).into_owned();
            ParseError {
                message: format!("syntax error: {problem}"),
                line,
                source_line: None,
                at_end: false,
                keeps_status: false,
                line_only: false,
                further: vec![(line, format!("syntax error: `{text}'"))],
            }
        })
    }

    fn case_clause(&mut self) -> Result<CommandKind> {
        self.skip_blank();
        let Some(word) = self.word()? else {
            return Err(self.no_word());
        };
        self.expect(b"in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.bare_word() == Some(b"esac") {
                break;
            }
            if self.cur() == Some(b'(') {
                self.pos += 1;
                self.skip_blank();
            }
            let mut patterns = Vec::new();
            loop {
                self.skip_blank();
                let Some(pattern) = self.word()? else {
                    let begun = !patterns.is_empty();
                    return Err(if begun { self.no_word() } else { self.unexpected() });
                };
                patterns.push(pattern);
                self.skip_blank();
                if self.cur() != Some(b'|') {
                    break;
                }
                self.pos += 1;
            }
            if self.cur() != Some(b')') {
                return Err(self.no_word());
            }
            self.pos += 1;
            let body = self.list()?;
            self.skip_blank();
            let end = if self.eat(b";;&") {
                CaseEnd::TestNext
            } else if self.eat(b";;") {
                CaseEnd::Break
            } else if self.eat(b";&") {
                CaseEnd::FallThrough
            } else {
                arms.push(CaseArm {
                    patterns,
                    body,
                    end: CaseEnd::Break,
                });
                self.skip_newlines()?;
                if self.bare_word() != Some(b"esac") {
                    return Err(self.unexpected());
                }
                break;
            };
            arms.push(CaseArm { patterns, body, end });
        }
        self.pos += 4;
        Ok(CommandKind::Case { word, arms })
    }

    fn coproc(&mut self) -> Result<CommandKind> {
        self.skip_blank();
        if self.cur().is_none() {
            return Err(self.no_word());
        }
        let start = self.pos;
        // `coproc NAME compound`; with a simple command the first word is the command.
        if let Some(name) = self
            .bare_word()
            .filter(|w| is_name(w) && !is_reserved(w))
            .map(<[u8]>::to_vec)
        {
            self.pos += name.len();
            self.skip_blank();
            let is_compound = self.cur() == Some(b'(')
                || self.bare_word().is_some_and(|w| {
                    matches!(
                        w,
                        b"{" | b"if" | b"while" | b"until" | b"for" | b"select" | b"case" | b"[["
                    )
                });
            if is_compound {
                let body = Box::new(self.command()?);
                return Ok(CommandKind::Coproc { name, body });
            }
            self.pos = start;
        }
        let body = Box::new(self.command()?);
        Ok(CommandKind::Coproc {
            name: b"COPROC".to_vec(),
            body,
        })
    }

    fn function_body(&mut self, name: Vec<u8>, line: u32) -> Result<CommandKind> {
        self.skip_newlines()?;
        self.expand_alias_here();
        let body_line = self.line();
        let Some(kind) = self.compound(body_line)? else {
            return Err(self.unexpected());
        };
        let mut redirects = Vec::new();
        loop {
            self.skip_blank();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        let body = Command::new(kind, redirects, body_line);
        Ok(CommandKind::Function(Rc::new(FunctionDef {
            name,
            body,
            source: self.source.clone(),
            line,
        })))
    }

    fn simple(&mut self, line: u32) -> Result<Command> {
        let mut simple = Simple::default();
        let mut redirects = Vec::new();
        // Whether assignments may still come as arguments, because a declaration builtin is being called.
        let mut declaration = false;
        let mut prefix = true;
        // As in bash, the command's line is the one on which its second word ends.
        let mut at = line;
        for count in 0.. {
            if count <= 2 {
                at = self.line();
            }
            self.skip_blank();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if prefix {
                if let Some(assign) = self.assignment()? {
                    simple.assigns.push(assign);
                    continue;
                }
                if !simple.assigns.is_empty() || !redirects.is_empty() {
                    self.expand_alias_here();
                }
            } else if declaration && let Some(assign) = self.assignment()? {
                simple.args.push(Arg::Assign(assign));
                continue;
            }
            if !prefix {
                self.alias_after_blank();
            }
            let Some(word) = self.word()? else { break };
            if (prefix && simple.assigns.is_empty() && redirects.is_empty() && self.cur() == Some(b'(')
                || prefix && self.function_follows())
                && self.function_follows()
            {
                self.skip_blank();
                self.pos += 1;
                self.skip_blank();
                self.expect_paren()?;
                let raw = word.raw.to_vec();
                let kind = self.function_body(raw, line)?;
                return Ok(Command::new(kind, redirects, line));
            }
            self.skip_blank();
            if self.cur() == Some(b'(') {
                // The first word could have been a function's name.
                if prefix && simple.assigns.is_empty() && redirects.is_empty() {
                    self.pos += 1;
                    self.skip_blank();
                    if self.cur().is_none() {
                        return Err(self.unexpected_token(b"newline"));
                    }
                }
                return Err(self.unexpected());
            }
            if prefix {
                declaration = word.literal().is_some_and(|w| DECLARATIONS.contains(&w));
            }
            prefix = false;
            simple.args.push(Arg::Word(word));
        }
        if simple.args.is_empty() && simple.assigns.is_empty() && redirects.is_empty() {
            return Err(self.unexpected());
        }
        Ok(Command::new(CommandKind::Simple(simple), redirects, at))
    }

    /// Whether `()` comes next.
    fn function_follows(&mut self) -> bool {
        let mut n = 0;
        while matches!(self.at(n), Some(b' ' | b'\t')) {
            n += 1;
        }
        if self.at(n) != Some(b'(') {
            return false;
        }
        n += 1;
        while matches!(self.at(n), Some(b' ' | b'\t')) {
            n += 1;
        }
        self.at(n) == Some(b')')
    }

    /// An assignment at the current position; nothing is consumed when there is none.
    fn assignment(&mut self) -> Result<Option<Assign>> {
        if !self.cur().is_some_and(is_name_start) {
            return Ok(None);
        }
        let start = self.pos;
        // Cheap look ahead: a name must be followed by `=`, `+=` or `[`.
        let mut n = 0;
        while self.at(n).is_some_and(is_name_char) {
            n += 1;
        }
        if !matches!(
            (self.at(n), self.at(n + 1)),
            (Some(b'=' | b'[' | b'\\'), _) | (Some(b'+'), Some(b'=' | b'\\'))
        ) {
            return Ok(None);
        }
        let name = self.name();
        let mut index = None;
        if self.cur() == Some(b'[') {
            match self.subscript() {
                Ok(Some(i)) => index = Some(i),
                _ => {
                    self.pos = start;
                    return Ok(None);
                }
            }
        }
        let append = self.eat(b"+=");
        if !append && !self.eat(b"=") {
            self.pos = start;
            return Ok(None);
        }
        let value = if self.raw() == Some(b'(') {
            self.pos += 1;
            AssignValue::Array(self.array_literal()?)
        } else {
            AssignValue::Scalar(self.assignment_value()?)
        };
        Ok(Some(Assign {
            name,
            index,
            append,
            value,
        }))
    }

    /// After the `(` of an array literal: its elements and the `)`.
    pub(super) fn array_literal(&mut self) -> Result<Vec<Element>> {
        self.enter()?;
        let line = self.line();
        let mut elements = Vec::new();
        loop {
            self.skip_newlines()?;
            match self.cur() {
                None => return Err(self.unclosed(")", line)),
                Some(b')') => {
                    self.pos += 1;
                    self.leave();
                    return Ok(elements);
                }
                Some(b'[') => {
                    if let Some(element) = self.indexed_element()? {
                        elements.push(element);
                        continue;
                    }
                }
                _ => {}
            }
            let Some(value) = self.word()? else {
                return Err(self.array_error());
            };
            if self.cur() == Some(b'(') {
                return Err(self.array_error());
            }
            elements.push(Element {
                index: None,
                append: false,
                value,
            });
        }
    }

    /// A token that no array literal has: bash gives up the line it stands in, and nothing else.
    fn array_error(&mut self) -> super::ParseError {
        let mut error = self.unexpected();
        error.line_only = !error.at_end;
        error
    }

    fn indexed_element(&mut self) -> Result<Option<Element>> {
        let start = self.pos;
        let index = match self.subscript() {
            Ok(Some(index)) => index,
            _ => {
                self.pos = start;
                return Ok(None);
            }
        };
        let append = self.eat(b"+=");
        if !append && !self.eat(b"=") {
            self.pos = start;
            return Ok(None);
        }
        // `[@]=` and `[*]=` are keys of associative arrays.
        let index = match index {
            Subscript::At => Subscript::Expr(Box::new(Arith::from(&b"@"[..]))),
            Subscript::Star => Subscript::Expr(Box::new(Arith::from(&b"*"[..]))),
            other => other,
        };
        let value = self.colon_word()?;
        if self.cur() == Some(b'(') {
            return Err(self.array_error());
        }
        Ok(Some(Element {
            index: Some(index),
            append,
            value,
        }))
    }

    /// A redirection at the current position.
    fn redirect(&mut self) -> Result<Option<Redirect>> {
        let fd = match self.cur() {
            Some(b'<' | b'>') => RedirectFd::Default,
            Some(b'&') if self.at(1) == Some(b'>') => RedirectFd::Default,
            Some(c) if c.is_ascii_digit() => {
                let mut n = 0;
                while self.at(n).is_some_and(|c| c.is_ascii_digit()) {
                    n += 1;
                }
                if !matches!(self.at(n), Some(b'<' | b'>')) || self.at(n + 1) == Some(b'(') {
                    return Ok(None);
                }
                let digits = &self.buf[self.pos..self.pos + n];
                let Some(number) = std::str::from_utf8(digits).ok().and_then(|d| d.parse().ok()) else {
                    return Ok(None);
                };
                self.pos += n;
                RedirectFd::Number(number)
            }
            Some(b'{') => {
                let mut n = 1;
                while self.at(n).is_some_and(|c| is_name_char(c) || matches!(c, b'[' | b']')) {
                    n += 1;
                }
                let is_redirect = self.at(n) == Some(b'}')
                    && matches!(self.at(n + 1), Some(b'<' | b'>'))
                    && self.at(n + 2) != Some(b'(')
                    && self.at(1).is_some_and(is_name_start);
                if !is_redirect {
                    return Ok(None);
                }
                let name = self.buf[self.pos + 1..self.pos + n].to_vec();
                self.pos += n + 1;
                RedirectFd::Variable(name)
            }
            _ => return Ok(None),
        };
        // `<(` and `>(` begin a word.
        if matches!(fd, RedirectFd::Default) && matches!(self.cur(), Some(b'<' | b'>')) && self.at(1) == Some(b'(') {
            return Ok(None);
        }
        let kind = self.redirect_kind()?;
        Ok(Some(Redirect { fd, kind }))
    }

    fn redirect_kind(&mut self) -> Result<RedirectKind> {
        const OPERATORS: [&[u8]; 12] = [
            b"<<<", b"<<-", b"&>>", b"<<", b"<&", b"<>", b">>", b">&", b">|", b"&>", b"<", b">",
        ];
        let Some(op) = OPERATORS.into_iter().find(|op| self.eat(op)) else {
            return Err(self.unexpected());
        };
        if op == b"<<" || op == b"<<-" {
            return Ok(RedirectKind::HereDoc(self.heredoc(op == b"<<-")?));
        }
        self.skip_blank();
        let word = if matches!(op, b"<&" | b">&") && self.cur() == Some(b'-') {
            // The dash is the whole operand, whatever follows it.
            self.pos += 1;
            literal_word(b"-")
        } else {
            let Some(word) = self.word()? else {
                return Err(self.no_word());
            };
            word
        };
        Ok(match op {
            b"<<<" => RedirectKind::HereString(word),
            b"&>>" => RedirectKind::BothAppend(word),
            b"<&" => RedirectKind::DupIn(word),
            b"<>" => RedirectKind::ReadWrite(word),
            b">>" => RedirectKind::Append(word),
            b">&" => RedirectKind::DupOut(word),
            b">|" => RedirectKind::Clobber(word),
            b"&>" => RedirectKind::Both(word),
            b"<" => RedirectKind::Read(word),
            _ => RedirectKind::Write(word),
        })
    }
}

/// Whether the word is reserved at the beginning of a command.
pub fn is_reserved(word: &[u8]) -> bool {
    matches!(
        word,
        b"if"
            | b"then"
            | b"elif"
            | b"else"
            | b"fi"
            | b"time"
            | b"for"
            | b"in"
            | b"until"
            | b"while"
            | b"do"
            | b"done"
            | b"case"
            | b"esac"
            | b"coproc"
            | b"select"
            | b"function"
            | b"{"
            | b"}"
            | b"[["
            | b"]]"
            | b"!"
    )
}

fn literal_word(text: &[u8]) -> Word {
    Word {
        parts: vec![crate::ast::Part::Lit(text.to_vec())],
        raw: text.into(),
        braces: false,
    }
}
