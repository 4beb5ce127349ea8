//! Here-documents: reading their bodies when the line with the operator ends.

use super::word::DoubleStop;
use super::{Parser, PendingHereDoc, Result};
use crate::ast::{HereDoc, Word};
use std::cell::RefCell;
use std::rc::Rc;

impl Parser<'_> {
    /// After `<<` or `<<-`: reads the delimiter and notes that a body follows.
    pub(super) fn heredoc(&mut self, strip_tabs: bool) -> Result<HereDoc> {
        self.skip_blank();
        let start = self.pos;
        let Some(_) = self.word()? else {
            return Err(self.no_word());
        };
        let raw = self.buf[start..self.pos].to_vec();
        let (delimiter, quoted) = unquote_delimiter(&raw);
        let body = Rc::new(RefCell::new(Word::default()));
        self.heredocs.push(PendingHereDoc {
            body: body.clone(),
            delimiter,
            quoted,
            strip_tabs,
        });
        Ok(HereDoc {
            body,
            delimiter: raw,
            strip_tabs,
        })
    }

    /// Reads the bodies that begin at the current position.
    pub(super) fn read_heredocs(&mut self) -> Result<()> {
        if self.heredocs.is_empty() {
            return Ok(());
        }
        for doc in std::mem::take(&mut self.heredocs) {
            let line = self.line();
            let text = self.heredoc_text(&doc, line);
            let word = if doc.quoted {
                Word::quoted(&text)
            } else {
                self.heredoc_word(text, line)?
            };
            *doc.body.borrow_mut() = word;
        }
        Ok(())
    }

    fn heredoc_text(&mut self, doc: &PendingHereDoc, first_line: u32) -> Vec<u8> {
        let mut text = Vec::new();
        // An unquoted body joins continued lines before it looks for the delimiter.
        let mut continued = false;
        loop {
            if self.raw().is_none() {
                let line = self.line();
                let wanted = String::from_utf8_lossy(&doc.delimiter).into_owned();
                self.warnings.push((
                    line,
                    format!(
                        "warning: here-document at line {} delimited by end-of-file (wanted `{wanted}')",
                        first_line.saturating_sub(1).max(1)
                    ),
                ));
                return text;
            }
            let start = self.pos;
            while self.raw().is_some_and(|c| c != b'\n') {
                self.pos += 1;
            }
            let mut line = &self.buf[start..self.pos];
            let ended = self.pos < self.buf.len();
            if ended {
                self.pos += 1;
            }
            if doc.strip_tabs && !continued {
                while let [b'\t', rest @ ..] = line {
                    line = rest;
                }
            }
            if !continued && line == doc.delimiter.as_slice() {
                return text;
            }
            // Inside `$( )` the closing parenthesis may follow the delimiter at once.
            if !continued
                && self.in_substitution > 0
                && line.first() != Some(&b')')
                && let Some(rest) = line.strip_prefix(doc.delimiter.as_slice())
                && rest.first() == Some(&b')')
            {
                self.pos -= rest.len() + usize::from(ended);
                return text;
            }
            text.extend_from_slice(line);
            let cut_off = !ended && !line.is_empty();
            continued = !doc.quoted && line.iter().rev().take_while(|&&c| c == b'\\').count() % 2 == 1;
            if ended || cut_off {
                text.push(b'\n');
            }
        }
    }

    /// Parses a body whose delimiter was not quoted.
    fn heredoc_word(&mut self, text: Vec<u8>, line: u32) -> Result<Word> {
        if !text.iter().any(|c| matches!(c, b'$' | b'`' | b'\\')) {
            return Ok(Word::quoted(&text));
        }
        let mut inner = Parser::new(text, line, self.source.clone());
        inner.configure(self.aliases.clone(), self.extglob, self.posix);
        inner.depth = self.depth;
        inner.here_text = true;
        let parts = inner.double_parts(DoubleStop::HereDoc)?;
        Ok(Word {
            parts,
            raw: inner.buf.into(),
            braces: false,
        })
    }
}

/// The delimiter without its quotes, and whether it had any.
fn unquote_delimiter(raw: &[u8]) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    let mut quoted = false;
    let mut i = 0;
    while i < raw.len() {
        match raw[i] {
            b'\\' => {
                i += 1;
                if raw.get(i) == Some(&b'\n') {
                    i += 1;
                    continue;
                }
                quoted = true;
                out.extend(raw.get(i));
            }
            b'$' if matches!(raw.get(i + 1), Some(b'\'' | b'"')) => {}
            q @ (b'\'' | b'"') => {
                quoted = true;
                i += 1;
                while i < raw.len() && raw[i] != q {
                    if q == b'"' && raw[i] == b'\\' && matches!(raw.get(i + 1), Some(b'"' | b'\\' | b'$' | b'`')) {
                        i += 1;
                    }
                    out.push(raw[i]);
                    i += 1;
                }
            }
            c => out.push(c),
        }
        i += 1;
    }
    (out, quoted)
}
