//! What a script would call, without running it: `bash --wskill-outline FILE…` prints one JSON object a line for each
//! command, redirection, function and syntax error, as the grammar sees them.
//!
//! A word is a JSON string when its value is certain, and `{"raw": TEXT}` when only running would tell. Objects:
//!
//! - `{"file", "line", "words": […]}`: a simple command; assignments before it are left out
//! - `{"file", "line", "redirect": ">", "target": WORD}`; a here-document's target is its body
//! - `{"file", "line", "function": NAME}`: a definition
//! - `{"file", "line", "error": MESSAGE}`: where reading ended

use crate::ast::{
    AndOr, Arg, Arith, Assign, AssignValue, Command, CommandKind, Cond, Element, List, Param, ParamOp, Part, Pipeline,
    Redirect, RedirectKind, Simple, Subscript, Word,
};
use crate::parse::Parser;
use std::rc::Rc;

/// The outline of a script's text, as lines of JSON.
pub fn outline(file: &[u8], text: Vec<u8>) -> Vec<u8> {
    let mut walk = Walk {
        file: json_string(file),
        line: 1,
        out: Vec::new(),
    };
    let mut parser = Parser::new(text, 1, Rc::from(file));
    // Scripts that turn it on do so before they use it; reading is the same for all others.
    parser.configure(None, true, false);
    loop {
        match parser.next_command() {
            Ok(Some(list)) => walk.list(&list),
            Ok(None) => break,
            Err(error) => {
                walk.line = error.line;
                walk.emit("error", &json_string(error.message.as_bytes()));
                break;
            }
        }
    }
    walk.out
}

struct Walk {
    file: Vec<u8>,
    line: u32,
    out: Vec<u8>,
}

impl Walk {
    /// Writes an object; `value` is JSON.
    fn emit(&mut self, key: &str, value: &[u8]) {
        self.out.extend_from_slice(b"{\"file\":");
        self.out.extend_from_slice(&self.file);
        self.out
            .extend_from_slice(format!(",\"line\":{},\"{key}\":", self.line).as_bytes());
        self.out.extend_from_slice(value);
        self.out.extend_from_slice(b"}\n");
    }

    fn list(&mut self, list: &List) {
        list.0.iter().for_each(|item| self.and_or(&item.body));
    }

    fn and_or(&mut self, list: &AndOr) {
        self.pipeline(&list.first);
        list.rest.iter().for_each(|(_, pipeline)| self.pipeline(pipeline));
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        pipeline.stages.iter().for_each(|command| self.command(command));
    }

    fn command(&mut self, command: &Command) {
        self.line = command.line;
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple),
            CommandKind::Group(list) | CommandKind::Subshell(list) => self.list(list),
            CommandKind::If { clauses, otherwise } => {
                for (condition, body) in clauses {
                    self.list(condition);
                    self.list(body);
                }
                otherwise.iter().for_each(|body| self.list(body));
            }
            CommandKind::For { words, body, .. } | CommandKind::Select { words, body, .. } => {
                words.iter().flatten().for_each(|word| self.word(word));
                self.list(body);
            }
            CommandKind::ArithFor { init, cond, step, body } => {
                [init, cond, step].into_iter().for_each(|arith| self.arith(arith));
                self.list(body);
            }
            CommandKind::While { cond, body, .. } => {
                self.list(cond);
                self.list(body);
            }
            CommandKind::Case { word, arms } => {
                self.word(word);
                for arm in arms {
                    arm.patterns.iter().for_each(|pattern| self.word(pattern));
                    self.list(&arm.body);
                }
            }
            CommandKind::Arith(arith) => self.arith(arith),
            CommandKind::Cond(cond) => self.cond(cond),
            CommandKind::Function(def) => {
                self.emit("function", &json_string(&def.name));
                self.command(&def.body);
            }
            CommandKind::Coproc { body, .. } => self.command(body),
        }
        self.line = command.line;
        command.redirects.iter().for_each(|redirect| self.redirect(redirect));
    }

    fn simple(&mut self, simple: &Simple) {
        let line = self.line;
        simple.assigns.iter().for_each(|assign| self.assign(assign));
        for arg in &simple.args {
            match arg {
                Arg::Word(word) => self.word(word),
                Arg::Assign(assign) => self.assign(assign),
            }
        }
        if simple.args.is_empty() {
            return;
        }
        self.line = line;
        let words: Vec<Vec<u8>> = simple.args.iter().map(argument).collect();
        self.emit("words", &[b"[", words.join(&b","[..]).as_slice(), b"]"].concat());
    }

    fn assign(&mut self, assign: &Assign) {
        self.subscript(assign.index.as_ref());
        match &assign.value {
            AssignValue::Scalar(word) => self.word(word),
            AssignValue::Array(elements) => {
                for Element { index, value, .. } in elements {
                    self.subscript(index.as_ref());
                    self.word(value);
                }
            }
        }
    }

    fn subscript(&mut self, subscript: Option<&Subscript>) {
        if let Some(Subscript::Expr(arith)) = subscript {
            self.arith(arith);
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        let (operator, word) = match &redirect.kind {
            RedirectKind::Read(word) => ("<", word),
            RedirectKind::Write(word) => (">", word),
            RedirectKind::Append(word) => (">>", word),
            RedirectKind::ReadWrite(word) => ("<>", word),
            RedirectKind::Clobber(word) => (">|", word),
            RedirectKind::Both(word) => ("&>", word),
            RedirectKind::BothAppend(word) => ("&>>", word),
            RedirectKind::HereString(word) => ("<<<", word),
            RedirectKind::DupIn(word) => ("<&", word),
            RedirectKind::DupOut(word) => (">&", word),
            RedirectKind::HereDoc(document) => {
                return self.target("<<", &document.body.borrow(), true);
            }
        };
        self.target(operator, word, matches!(redirect.kind, RedirectKind::HereString(_)));
    }

    /// `text`: what looks like a pattern is none.
    fn target(&mut self, operator: &str, word: &Word, text: bool) {
        let line = self.line;
        self.word(word);
        self.line = line;
        let value = format!("\"{operator}\",\"target\":");
        self.emit("redirect", &[value.as_bytes(), &json_word(word, text)].concat());
    }

    fn word(&mut self, word: &Word) {
        self.parts(&word.parts);
    }

    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Lit(_) | Part::Quoted(_) | Part::Tilde(_) => {}
                Part::Double(parts) => self.parts(parts),
                Part::Param(param) => self.param(param),
                Part::CmdSub(substitution) => match &substitution.body {
                    Ok(list) => self.list(list),
                    Err(message) => {
                        self.line = substitution.line;
                        self.emit("error", &json_string(message.as_bytes()));
                    }
                },
                Part::Arith(arith) => self.arith(arith),
                Part::ProcSub { body, .. } => self.list(body),
            }
        }
    }

    fn param(&mut self, param: &Param) {
        self.subscript(param.index.as_ref());
        match &param.op {
            ParamOp::Test { word, .. } => self.word(word),
            ParamOp::Prefix { pattern, .. } | ParamOp::Suffix { pattern, .. } => self.word(pattern),
            ParamOp::Replace { pattern, with, .. } => {
                self.word(pattern);
                with.iter().for_each(|word| self.word(word));
            }
            ParamOp::Case { pattern, .. } => pattern.iter().for_each(|word| self.word(word)),
            ParamOp::Slice { offset, length } => {
                self.arith(offset);
                length.iter().for_each(|length| self.arith(length));
            }
            ParamOp::None
            | ParamOp::Length
            | ParamOp::Transform(_)
            | ParamOp::Names { .. }
            | ParamOp::Keys
            | ParamOp::Bad => {}
        }
    }

    fn arith(&mut self, arith: &Arith) {
        self.word(&arith.text);
    }

    fn cond(&mut self, cond: &Cond) {
        match cond {
            Cond::And(left, right) | Cond::Or(left, right) => {
                self.cond(left);
                self.cond(right);
            }
            Cond::Not(inner) | Cond::Group(inner) => self.cond(inner),
            Cond::Unary(_, word) | Cond::Word(word) => self.word(word),
            Cond::Binary(_, left, right) => {
                self.word(left);
                self.word(right);
            }
        }
    }
}

fn argument(arg: &Arg) -> Vec<u8> {
    match arg {
        Arg::Word(word) => json_word(word, false),
        Arg::Assign(assign) => {
            let sign: &[u8] = if assign.append { b"+=" } else { b"=" };
            match (&assign.index, &assign.value) {
                (None, AssignValue::Scalar(word)) => match value(word, true) {
                    Some(text) => json_string(&[&assign.name, sign, &text].concat()),
                    None => raw(&[&assign.name, sign, &word.raw].concat()),
                },
                _ => raw(&[&assign.name, sign].concat()),
            }
        }
    }
}

fn json_word(word: &Word, text: bool) -> Vec<u8> {
    match value(word, text) {
        Some(text) => json_string(&text),
        None => raw(&word.raw),
    }
}

fn raw(text: &[u8]) -> Vec<u8> {
    [b"{\"raw\":", json_string(text).as_slice(), b"}"].concat()
}

/// What a word is for certain; `text` when no braces or patterns expand in its place.
fn value(word: &Word, text: bool) -> Option<Vec<u8>> {
    if word.braces && !text {
        return None;
    }
    let mut value = Vec::new();
    static_text(&word.parts, text, &mut value).then_some(value)
}

fn static_text(parts: &[Part], quoted: bool, text: &mut Vec<u8>) -> bool {
    parts.iter().all(|part| match part {
        // A pattern stands for the files it matches.
        Part::Lit(lit) => {
            text.extend_from_slice(lit);
            quoted || !lit.iter().any(|c| matches!(c, b'*' | b'?' | b'['))
        }
        Part::Quoted(lit) => {
            text.extend_from_slice(lit);
            true
        }
        Part::Double(parts) => static_text(parts, true, text),
        Part::Tilde(_) | Part::Param(_) | Part::CmdSub(_) | Part::Arith(_) | Part::ProcSub { .. } => false,
    })
}

/// A JSON string; bytes that are not UTF-8 become U+FFFD.
fn json_string(text: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for c in String::from_utf8_lossy(text).chars() {
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            c if c < ' ' || c == '\u{7f}' => out.extend_from_slice(format!("\\u{:04x}", c as u32).as_bytes()),
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(script: &str) -> String {
        let text = String::from_utf8(outline(b"s", script.as_bytes().to_vec())).unwrap();
        text.replace("\"file\":\"s\",", "")
    }

    #[test]
    fn commands_are_found_wherever_the_grammar_has_them() {
        let script =
            "if a; then b \"$(c 'd e')\"; fi\nf() { g <(h) | i; }\nx=${y:-$(j)} k 2>l\n[[ -n $(m) ]] && ((n=$(o)))\n";
        let expected = [
            r#"{"line":1,"words":["a"]}"#,
            r#"{"line":1,"words":["c","d e"]}"#,
            r#"{"line":1,"words":["b",{"raw":"\"$(c 'd e')\""}]}"#,
            r#"{"line":2,"function":"f"}"#,
            r#"{"line":2,"words":["h"]}"#,
            r#"{"line":2,"words":["g",{"raw":"<(h)"}]}"#,
            r#"{"line":2,"words":["i"]}"#,
            r#"{"line":3,"words":["j"]}"#,
            r#"{"line":3,"words":["k"]}"#,
            r#"{"line":3,"redirect":">","target":"l"}"#,
            r#"{"line":4,"words":["m"]}"#,
            r#"{"line":4,"words":["o"]}"#,
        ];
        assert_eq!(lines(script), expected.map(|line| format!("{line}\n")).concat());
    }

    #[test]
    fn what_only_running_tells_is_raw() {
        let script = "$cmd *.txt {a,b} ~/x 'a*' \"q\\\"\" export v=1\n";
        let expected = r#"{"line":1,"words":[{"raw":"$cmd"},{"raw":"*.txt"},{"raw":"{a,b}"},{"raw":"~/x"},"a*","q\"","export","v=1"]}"#;
        assert_eq!(lines(script), format!("{expected}\n"));
    }

    #[test]
    fn documents_and_errors() {
        let script = "python3 - <<'E'\nimport os # *\nE\nfi\nnever\n";
        let out = lines(script);
        assert!(
            out.contains(r#""redirect":"<<","target":"import os # *\u000a""#),
            "{out}"
        );
        assert!(out.contains("\"line\":4,\"error\":"), "{out}");
        assert!(!out.contains("never"), "{out}");
    }
}
