//! Word expansion: from a word's parts to fields.

pub mod brace;
pub mod case;
mod fields;
pub mod glob;
mod param;
mod transform;

pub use fields::{Builder, Field};

use crate::ast::{Arg, Param, ParamName, ParamOp, Part, Word};
use crate::pattern::Pattern;
use crate::shell::{Run, Shell, Unwind};
use std::rc::Rc;

/// Nesting of expansions inside expansions beyond which the command is given up.
const MAX_DEPTH: u32 = 200;

impl Shell {
    /// Expands words to fields, with splitting and pathname expansion.
    pub fn expand_words<'a>(&mut self, words: impl IntoIterator<Item = &'a Word>) -> Run<Vec<Vec<u8>>> {
        let mut out = Vec::new();
        for word in words {
            self.expand_word_into(word, &mut out)?;
        }
        Ok(out)
    }

    /// Expands arguments; assignments among them stay for the caller.
    pub fn expand_args(&mut self, args: &[Arg], out: &mut Vec<Vec<u8>>) -> Run<()> {
        for arg in args {
            if let Arg::Word(word) = arg {
                self.expand_word_into(word, out)?;
            }
        }
        Ok(())
    }

    /// Expands one word and appends its fields.
    #[inline(never)]
    pub fn expand_word_into(&mut self, word: &Word, out: &mut Vec<Vec<u8>>) -> Run<()> {
        // Plain words and plain quoted strings need no more.
        match word.parts.as_slice() {
            [Part::Lit(text)] if !word.braces && !has_glob(text) => {
                out.push(text.clone());
                return Ok(());
            }
            [Part::Quoted(text)] => {
                out.push(text.clone());
                return Ok(());
            }
            [Part::Double(parts)] => {
                if let [Part::Param(param)] = parts.as_slice()
                    && let Some(text) = self.plain_param(param)
                {
                    out.push(text.to_vec());
                    return Ok(());
                }
            }
            [Part::Param(param)] => {
                if let Some(text) = self.plain_param(param)
                    && !text.is_empty()
                    && text.iter().all(|&c| stays_whole(c))
                    && self.plain_scalar(b"IFS") == Some(b" \t\n")
                {
                    out.push(text.to_vec());
                    return Ok(());
                }
            }
            _ => {}
        }
        if let Some(words) = self.brace_words(word)? {
            for mut parts in words {
                match parts.as_mut_slice() {
                    [Part::Lit(text)] if !has_glob(text) => out.push(std::mem::take(text)),
                    _ => self.expand_parts_into(&parts, out)?,
                }
            }
            return Ok(());
        }
        self.expand_parts_into(&word.parts, out)
    }

    /// The words that the braces of a word make; `None` when there are none.
    pub fn brace_words(&mut self, word: &Word) -> Run<Option<Vec<Vec<Part>>>> {
        if !word.braces || !self.st.opts.braceexpand {
            return Ok(None);
        }
        match brace::expand(&word.parts) {
            Some(Err(message)) => {
                self.error(&message);
                Err(Unwind::Discard(1))
            }
            Some(Ok(words)) => Ok(Some(words)),
            None => Ok(None),
        }
    }

    fn expand_parts_into(&mut self, parts: &[Part], out: &mut Vec<Vec<u8>>) -> Run<()> {
        let mut builder = self.builder(true);
        self.expand_parts(parts, false, &mut builder)?;
        let (fields, last) = builder.finish();
        for field in fields {
            self.finish_field(field, out)?;
        }
        match last {
            Some(field) => self.finish_field(field, out),
            None => Ok(()),
        }
    }

    fn builder(&mut self, split: bool) -> Builder {
        Builder::new(split)
    }

    /// Pathname expansion and quote removal.
    #[inline(never)]
    fn finish_field(&mut self, field: Field, out: &mut Vec<Vec<u8>>) -> Run<()> {
        if self.st.opts.noglob || !field.may_glob() {
            out.push(field.text);
            return Ok(());
        }
        let pattern = field.pattern();
        if !crate::pattern::has_magic(&pattern, self.st.shopts.extglob) {
            out.push(field.text);
            return Ok(());
        }
        let mut found = self.glob(&pattern);
        if found.is_empty() {
            if self.st.shopts.failglob {
                self.error_bytes(&[b"no match: ", field.text.as_slice()].concat());
                return Err(self.give_up());
            }
            if !self.st.shopts.nullglob {
                out.push(field.text);
            }
            return Ok(());
        }
        out.append(&mut found);
        Ok(())
    }

    /// Expands to one string: no splitting, no pathname expansion.
    pub fn expand_single(&mut self, word: &Word) -> Run<Vec<u8>> {
        match self.expand_simple(word)? {
            Some(text) => Ok(text),
            None => self.expand_single_parts(&word.parts),
        }
    }

    /// The same for the value of an assignment, and for a here-string.
    pub fn expand_assigned(&mut self, word: &Word) -> Run<Vec<u8>> {
        if let Some(text) = self.expand_simple(word)? {
            return Ok(text);
        }
        let mut builder = Builder::assigned();
        self.expand_parts(&word.parts, false, &mut builder)?;
        Ok(builder.into_single().text)
    }

    /// The text of a word that is one part and no list, as most are.
    fn expand_simple(&mut self, word: &Word) -> Run<Option<Vec<u8>>> {
        match word.parts.as_slice() {
            [] => Ok(Some(Vec::new())),
            [Part::Lit(text) | Part::Quoted(text)] => Ok(Some(text.clone())),
            [Part::Arith(arith)] => Ok(Some(self.eval_arith(arith).map(crate::arith::decimal)?)),
            [Part::CmdSub(sub)] => self.command_substitution(sub).map(Some),
            [Part::Param(param)] => Ok(self.plain_param(param).map(<[u8]>::to_vec)),
            [Part::Double(parts)] => match parts.as_slice() {
                [Part::CmdSub(sub)] => self.command_substitution(sub).map(Some),
                [Part::Param(param)] => Ok(self.plain_param(param).map(<[u8]>::to_vec)),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The text of `$name` or `$1` where it is only to be looked up.
    fn plain_param(&self, param: &Param) -> Option<&[u8]> {
        if !matches!((&param.op, &param.index, param.indirect), (ParamOp::None, None, false)) {
            return None;
        }
        match &param.name {
            ParamName::Var(name) => self.plain_scalar(name),
            ParamName::Positional(n) => self.st.positional.get(*n as usize - 1).map(Vec::as_slice),
            ParamName::Special(_) => None,
        }
    }

    pub fn expand_single_parts(&mut self, parts: &[Part]) -> Run<Vec<u8>> {
        let mut builder = self.builder(false);
        self.expand_parts(parts, false, &mut builder)?;
        Ok(builder.into_single().text)
    }

    /// Expands to a pattern: quoted characters escaped.
    pub fn expand_pattern(&mut self, word: &Word) -> Run<Vec<u8>> {
        if let [Part::Lit(text)] = word.parts.as_slice() {
            return Ok(text.clone());
        }
        let mut builder = self.builder(false);
        self.expand_parts(&word.parts, false, &mut builder)?;
        Ok(builder.into_single().pattern())
    }

    /// Expands to a compiled pattern for matching strings.
    pub fn match_pattern(&mut self, word: &Word, fold: bool) -> Run<Rc<Pattern>> {
        let text = self.expand_pattern(word)?;
        Ok(self.patterns.get(&text, self.st.shopts.extglob, fold))
    }

    /// Whether the text matches the pattern.
    pub fn matches(&mut self, pattern: &[u8], text: &[u8], extglob: bool, fold: bool) -> bool {
        if !fold && !pattern.iter().any(|c| matches!(c, b'*' | b'?' | b'[' | b'(' | b'\\')) {
            return pattern == text;
        }
        self.patterns.get(pattern, extglob, fold).matches(text)
    }

    /// Expands the right-hand side of `=~`: quoted characters stand for themselves.
    pub fn expand_regex(&mut self, word: &Word) -> Run<Vec<u8>> {
        let mut builder = self.builder(false);
        self.expand_parts(&word.parts, false, &mut builder)?;
        let field = builder.into_single();
        // Quotes meant nothing there once.
        Ok(if self.st.shopts.compat31 {
            field.text
        } else {
            field.regex()
        })
    }

    /// Expands the field of a pattern replacement, with its quoting.
    pub fn expand_marked(&mut self, word: &Word) -> Run<Field> {
        let mut builder = self.builder(false);
        self.expand_parts(&word.parts, false, &mut builder)?;
        Ok(builder.into_single())
    }

    /// Expands arithmetic text: as in double quotes.
    pub fn expand_arith_text(&mut self, word: &Word) -> Run<Vec<u8>> {
        let mut builder = self.builder(false);
        self.expand_parts(&word.parts, true, &mut builder)?;
        Ok(builder.into_single().text)
    }

    /// Expands a text that came from a value, such as a quoted key inside an arithmetic expression.
    pub fn expand_subscript_text(&mut self, text: &[u8]) -> Run<Vec<u8>> {
        let mut parser = crate::parse::Parser::new(text.to_vec(), self.st.line, self.st.source.clone());
        match parser.subscript_word() {
            Ok(word) => self.expand_single(&word),
            Err(_) => Ok(text.to_vec()),
        }
    }

    /// Evaluates a subscript that is still text: what stands in single quotes is no number.
    pub fn eval_subscript_text(&mut self, text: &[u8]) -> Run<i64> {
        if !text.iter().any(|c| matches!(c, b'"' | b'\\' | b'$' | b'`')) {
            return self.eval_inner(text);
        }
        let mut parser = crate::parse::Parser::new(text.to_vec(), self.st.line, self.st.source.clone());
        match parser.arithmetic_word() {
            Ok(word) => {
                let text = self.expand_arith_text(&word)?;
                self.eval_inner(&text)
            }
            Err(_) => self.eval_inner(text),
        }
    }

    /// Expands text as the body of a here-document; for prompts.
    pub fn expand_text(&mut self, text: &[u8]) -> Run<Vec<u8>> {
        let mut parser = crate::parse::Parser::new(text.to_vec(), self.st.line, self.st.source.clone());
        match parser.heredoc_like_word() {
            Ok(word) => self.expand_single(&word),
            Err(_) => Ok(text.to_vec()),
        }
    }

    /// Expands parts into the builder. `quoted`: they stand in double quotes.
    #[inline(never)]
    pub fn expand_parts(&mut self, parts: &[Part], quoted: bool, out: &mut Builder) -> Run<()> {
        self.expansion_depth += 1;
        if self.expansion_depth > MAX_DEPTH || crate::stack::is_short() {
            self.expansion_depth = 0;
            self.error("maximum expansion nesting level exceeded");
            return Err(Unwind::Discard(1));
        }
        let result = parts.iter().try_for_each(|part| self.expand_part(part, quoted, out));
        self.expansion_depth = self.expansion_depth.saturating_sub(1);
        result
    }

    #[inline(never)]
    fn expand_part(&mut self, part: &Part, quoted: bool, out: &mut Builder) -> Run<()> {
        match part {
            Part::Lit(text) if quoted => out.push_quoted(text),
            Part::Lit(text) if out.splits_literals() => self.push_split(text, out),
            Part::Lit(text) => out.push_literal(text),
            Part::Quoted(text) => out.push_quoted(text),
            Part::Double(parts) => {
                // Quotes make a field, unless all that they hold is `"$@"` without arguments.
                let only_lists = !parts.is_empty() && parts.iter().all(is_list);
                let mark = out.mark();
                if !only_lists {
                    out.push_quoted(b"");
                }
                self.expand_parts(parts, true, out)?;
                if !only_lists && parts.iter().any(is_list) {
                    out.drop_empty(&mark);
                }
            }
            Part::Tilde(name) => {
                let text = self.tilde(name);
                out.push_quoted(&text);
            }
            Part::Param(param) => self.expand_param(param, quoted, out)?,
            Part::CmdSub(sub) => {
                let text = self.command_substitution(sub)?;
                if quoted {
                    out.push_quoted(&text)
                } else {
                    self.push_split(&text, out)
                }
            }
            Part::Arith(arith) => {
                let value = self.eval_arith(arith)?;
                let text = crate::arith::decimal(value);
                if quoted {
                    out.push_quoted(&text)
                } else {
                    self.push_split(&text, out)
                }
            }
            Part::ProcSub { write, body, .. } => {
                let path = self.process_substitution(*write, body)?;
                out.push_quoted(&path);
            }
        }
        Ok(())
    }

    /// Appends the result of an unquoted expansion, split by IFS.
    pub(crate) fn push_split(&mut self, text: &[u8], out: &mut Builder) {
        if !out.splits() {
            out.push_literal(text);
            return;
        }
        match self.plain_scalar(b"IFS") {
            Some(b" \t\n") => out.push_split(text, b" \t\n"),
            Some(ifs) => {
                let ifs = ifs.to_vec();
                out.push_split(text, &ifs);
            }
            None => match self.get_scalar(b"IFS") {
                Some(ifs) => out.push_split(text, &ifs),
                None => out.push_split(text, b" \t\n"),
            },
        }
    }

    /// The separator of `"$*"`.
    pub fn star_separator(&mut self) -> Vec<u8> {
        match self.get_scalar(b"IFS") {
            None => b" ".to_vec(),
            Some(ifs) if ifs.is_empty() => Vec::new(),
            Some(ifs) => ifs[..crate::pattern::decode(&ifs).1].to_vec(),
        }
    }

    /// What `~name` stands for; the text itself when there is no such user.
    pub fn tilde(&mut self, name: &[u8]) -> Vec<u8> {
        let found = match name {
            b"" => match self.get_scalar(b"HOME") {
                Some(home) => Some(home),
                None => home_of(b"root"),
            },
            b"+" => self.get_scalar(b"PWD"),
            b"-" => self.get_scalar(b"OLDPWD"),
            _ => match self.dir_stack_entry(name) {
                Some(dir) => Some(dir),
                None => home_of(name),
            },
        };
        found.unwrap_or_else(|| [b"~", name].concat())
    }
}

/// Whether there is a character that pathname expansion looks for.
fn has_glob(text: &[u8]) -> bool {
    text.iter().any(|c| matches!(c, b'*' | b'?' | b'[' | b'('))
}

/// Whether a character of an unquoted expansion neither splits, by the usual IFS, nor begins a pattern.
fn stays_whole(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c >= 0x80 || matches!(c, b'_' | b'-' | b'.' | b'/' | b',' | b':' | b'=' | b'%')
}

/// Whether the part is `$@` or `${name[@]}`, which may expand to nothing.
fn is_list(part: &Part) -> bool {
    use crate::ast::{ParamName, ParamOp, Subscript};
    match part {
        Part::Param(p) => {
            let list = matches!(p.name, ParamName::Special(b'@')) || matches!(p.index, Some(Subscript::At));
            list && !matches!(p.op, ParamOp::Length) || matches!(p.op, ParamOp::Names { at: true }) || p.indirect
        }
        _ => false,
    }
}

/// The home directory of a user, from /etc/passwd.
fn home_of(user: &[u8]) -> Option<Vec<u8>> {
    let passwd = std::fs::read("/etc/passwd").ok()?;
    let line = passwd
        .split(|&c| c == b'\n')
        .find(|l| l.split(|&c| c == b':').next() == Some(user))?;
    line.split(|&c| c == b':').nth(5).map(<[u8]>::to_vec)
}
