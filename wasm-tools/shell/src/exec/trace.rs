//! `set -x`.

use crate::ast::{Arg, Assign, AssignValue, Element, Simple, Subscript};
use crate::os;
use crate::quote;
use crate::shell::Shell;

impl Shell {
    /// Prints a line of the trace, with PS4 before it.
    #[inline(never)]
    pub fn trace(&mut self, text: &[u8]) {
        self.flush_out();
        let mut line = self.trace_prefix();
        line.extend_from_slice(text);
        line.push(b'\n');
        let fd = self
            .get_scalar(b"BASH_XTRACEFD")
            .and_then(|v| crate::arith::integer(&v))
            .and_then(|n| i32::try_from(n).ok())
            .unwrap_or(self.trace_fd);
        let _ = os::write_all(fd, &line);
    }

    fn trace_prefix(&mut self) -> Vec<u8> {
        let ps4 = match self.get_scalar(b"PS4") {
            Some(ps4) => ps4,
            None => return Vec::new(),
        };
        // Commands in PS4 are not traced themselves.
        let status = self.st.status;
        self.st.opts.xtrace = false;
        let text = self.expand_prompt(&ps4).unwrap_or(ps4);
        self.st.opts.xtrace = true;
        self.st.status = status;
        let depth = self.st.substitutions as usize + self.eval_depth as usize;
        let n = if text.is_empty() {
            0
        } else {
            crate::pattern::decode(&text).1
        };
        let mut out = text[..n].repeat(depth);
        out.extend_from_slice(&text);
        out
    }

    #[inline(never)]
    pub(super) fn trace_simple(&mut self, simple: &Simple, argv: &[Vec<u8>]) {
        for assign in &simple.assigns {
            if let AssignValue::Scalar(word) = &assign.value {
                let value = self.expand_single(word).unwrap_or_default();
                self.trace_assignment(assign, &value);
            }
        }
        let mut line = Vec::new();
        // Assignments among the arguments stand in `argv` as text, in their places.
        for (i, word) in argv.iter().enumerate() {
            if i > 0 {
                line.push(b' ');
            }
            let array = simple.args.iter().find_map(|arg| match arg {
                Arg::Assign(assign) if i > 0 && assign.name == *word => match &assign.value {
                    AssignValue::Array(elements) => Some(elements),
                    AssignValue::Scalar(_) => None,
                },
                _ => None,
            });
            match array {
                Some(elements) => {
                    line.extend_from_slice(word);
                    line.push(b'=');
                    self.array_text(elements, &mut line);
                }
                None => line.extend_from_slice(&quote::trace(word)),
            }
        }
        self.trace(&line);
    }

    #[inline(never)]
    pub(super) fn trace_assignment(&mut self, assign: &Assign, value: &[u8]) {
        let mut line = assign.name.clone();
        match &assign.index {
            Some(Subscript::Expr(e)) => {
                line.push(b'[');
                line.extend_from_slice(&e.text.raw);
                line.push(b']');
            }
            Some(Subscript::At) => line.extend_from_slice(b"[@]"),
            Some(Subscript::Star) => line.extend_from_slice(b"[*]"),
            None => {}
        }
        line.extend_from_slice(if assign.append { b"+=" } else { b"=" });
        line.extend_from_slice(&quote_value(value));
        self.trace(&line);
    }

    /// What `export` and `readonly` show of each assignment behind their own line.
    #[inline(never)]
    pub fn trace_declared(&mut self, name: &[u8], append: bool, value: &[u8]) {
        let operator: &[u8] = if append { b"+=" } else { b"=" };
        self.trace(&[name, operator, &quote_value(value)].concat());
    }

    #[inline(never)]
    pub(super) fn trace_array(&mut self, assign: &Assign, elements: &[Element]) {
        let mut line = assign.name.clone();
        line.extend_from_slice(if assign.append { b"+=" } else { b"=" });
        self.array_text(elements, &mut line);
        self.trace(&line);
    }

    fn array_text(&mut self, elements: &[Element], line: &mut Vec<u8>) {
        line.push(b'(');
        for (i, element) in elements.iter().enumerate() {
            if i > 0 {
                line.push(b' ');
            }
            if let Some(Subscript::Expr(e)) = &element.index {
                line.push(b'[');
                line.extend_from_slice(&e.text.raw);
                line.extend_from_slice(b"]=");
            }
            line.extend_from_slice(&element.value.raw);
        }
        line.push(b')');
    }
}

fn quote_value(value: &[u8]) -> Vec<u8> {
    if value.is_empty() {
        Vec::new()
    } else {
        quote::trace(value)
    }
}
