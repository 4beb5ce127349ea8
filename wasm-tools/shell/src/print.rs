//! Syntax trees back to text, laid out as bash does in `declare -f`, `type`, `jobs` and BASH_COMMAND.

use crate::ast::{
    AndOr, Arg, Assign, AssignValue, CaseEnd, Command, CommandKind, Cond, CondOp, FunctionDef, List, Pipeline,
    Redirect, RedirectFd, RedirectKind, Simple, Subscript, Timed,
};

struct Printer {
    out: Vec<u8>,
    indent: usize,
    /// In a function's body statements stand on lines of their own.
    lines: bool,
    /// Bodies of here-documents that follow at the end of the line.
    heredocs: Vec<(Vec<u8>, Vec<u8>)>,
    /// A here-document was printed inside the command: no semicolon follows.
    after_heredoc: bool,
}

/// `name () { … }`, as `declare -f` shows it, with a final newline.
pub fn function(def: &FunctionDef) -> Vec<u8> {
    let mut out = def.name.clone();
    out.extend_from_slice(b" () \n");
    out.extend_from_slice(&function_body(def));
    out.push(b'\n');
    out
}

/// The body of a function.
pub fn function_body(def: &FunctionDef) -> Vec<u8> {
    let mut p = Printer {
        out: Vec::new(),
        indent: 0,
        lines: true,
        heredocs: Vec::new(),
        after_heredoc: false,
    };
    p.function_body(&def.body);
    p.out
}

/// A command, its lists on one line.
pub fn command_text(command: &Command) -> Vec<u8> {
    let mut p = Printer {
        out: Vec::new(),
        indent: 0,
        lines: false,
        heredocs: Vec::new(),
        after_heredoc: false,
    };
    p.command(command);
    p.out
}

/// An and-or list, its lists on one line.
pub fn and_or_text(list: &AndOr) -> Vec<u8> {
    let mut p = Printer {
        out: Vec::new(),
        indent: 0,
        lines: false,
        heredocs: Vec::new(),
        after_heredoc: false,
    };
    p.and_or(list);
    p.out
}

/// A simple command with its redirections.
pub fn simple_text(simple: &Simple, redirects: &[Redirect]) -> Vec<u8> {
    let mut p = Printer {
        out: Vec::new(),
        indent: 0,
        lines: false,
        heredocs: Vec::new(),
        after_heredoc: false,
    };
    p.simple(simple);
    p.redirects(redirects, simple.args.is_empty() && simple.assigns.is_empty());
    p.out
}

/// `name[subscript]` of an assignment.
pub fn assignment_target(assign: &Assign, out: &mut Vec<u8>) {
    let mut p = Printer {
        out: Vec::new(),
        indent: 0,
        lines: false,
        heredocs: Vec::new(),
        after_heredoc: false,
    };
    p.text(&assign.name);
    if let Some(index) = &assign.index {
        p.subscript(index);
    }
    out.append(&mut p.out);
}

/// The elements of an array literal in parentheses.
pub fn array_text(elements: &[crate::ast::Element]) -> Vec<u8> {
    let mut p = Printer {
        out: Vec::new(),
        indent: 0,
        lines: false,
        heredocs: Vec::new(),
        after_heredoc: false,
    };
    p.elements(elements);
    p.out
}

/// The text of an operator of `[[`.
pub fn cond_operator(op: CondOp) -> &'static str {
    match op {
        CondOp::Match { double: true } => "==",
        CondOp::Match { double: false } => "=",
        CondOp::NotMatch => "!=",
        CondOp::Regex => "=~",
        CondOp::Less => "<",
        CondOp::Greater => ">",
        CondOp::Eq => "-eq",
        CondOp::Ne => "-ne",
        CondOp::Lt => "-lt",
        CondOp::Le => "-le",
        CondOp::Gt => "-gt",
        CondOp::Ge => "-ge",
        CondOp::Newer => "-nt",
        CondOp::Older => "-ot",
        CondOp::SameFile => "-ef",
    }
}

/// The expression of `[[ … ]]`.
pub fn cond(cond_expr: &Cond, out: &mut Vec<u8>) {
    match cond_expr {
        Cond::And(a, b) => {
            cond(a, out);
            out.extend_from_slice(b" && ");
            cond(b, out);
        }
        Cond::Or(a, b) => {
            cond(a, out);
            out.extend_from_slice(b" || ");
            cond(b, out);
        }
        Cond::Not(a) => {
            out.extend_from_slice(b"! ");
            cond(a, out);
        }
        Cond::Group(a) => {
            out.extend_from_slice(b"( ");
            cond(a, out);
            out.extend_from_slice(b" )");
        }
        Cond::Unary(op, word) => {
            out.extend_from_slice(&[b'-', *op, b' ']);
            out.extend_from_slice(&word.raw);
        }
        Cond::Binary(op, a, b) => {
            out.extend_from_slice(&a.raw);
            out.push(b' ');
            out.extend_from_slice(cond_operator(*op).as_bytes());
            out.push(b' ');
            out.extend_from_slice(&b.raw);
        }
        Cond::Word(word) => {
            out.extend_from_slice(b"-n ");
            out.extend_from_slice(&word.raw);
        }
    }
}

impl Printer {
    fn text(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    fn newline(&mut self) {
        self.out.push(b'\n');
        let n = self.indent * 4;
        self.out.resize(self.out.len() + n, b' ');
    }

    /// Between the head of a compound command and its body.
    fn open(&mut self) {
        self.indent += 1;
        self.newline();
    }

    /// After a body, before the closing word.
    fn close(&mut self, word: &[u8], semicolon: bool) {
        if semicolon && !self.out.ends_with(b"&") && !self.out.ends_with(b"\n") {
            self.text(b";");
        }
        self.indent -= 1;
        if self.out.ends_with(b"\n") {
            let n = self.indent * 4;
            self.out.resize(self.out.len() + n, b' ');
        } else {
            self.newline();
        }
        self.text(word);
    }

    fn function_body(&mut self, body: &Command) {
        if let CommandKind::Group(list) = &body.kind {
            self.text(b"{ ");
            self.indent += 1;
            self.newline();
            self.list(list);
            self.close(b"}", false);
        } else {
            // bash wraps other bodies in braces.
            self.text(b"{ ");
            self.indent += 1;
            self.newline();
            let bare = Command::new(body.kind.clone(), Vec::new(), body.line);
            self.command(&bare);
            self.close(b"}", false);
        }
        self.redirects(&body.redirects, false);
    }

    fn list(&mut self, list: &List) {
        for (i, item) in list.0.iter().enumerate() {
            if i > 0 {
                if self.out.ends_with(b"\n") {
                    // A here-document ended the line.
                    let n = self.indent * 4;
                    self.out.resize(self.out.len() + n, b' ');
                } else if self.lines && !list.0[i - 1].background {
                    self.newline();
                } else {
                    self.text(b" ");
                }
            }
            self.and_or(&item.body);
            let last = i + 1 == list.0.len();
            if item.background {
                self.text(b" &");
                self.flush_heredocs();
            } else if !self.heredocs.is_empty() {
                self.flush_heredocs();
                self.text(b"\n\n");
                self.after_heredoc = true;
            } else if !last && !std::mem::take(&mut self.after_heredoc) {
                self.text(b";");
            }
        }
    }

    fn flush_heredocs(&mut self) {
        for (body, delimiter) in std::mem::take(&mut self.heredocs) {
            self.text(b"\n");
            self.text(&body);
            self.text(&delimiter);
        }
    }

    fn and_or(&mut self, list: &AndOr) {
        self.pipeline(&list.first);
        for (and, pipeline) in &list.rest {
            self.text(if *and { b" && " } else { b" || " });
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        match pipeline.timed {
            Some(Timed::Bash) => self.text(b"time "),
            Some(Timed::Posix) => self.text(b"time -p "),
            None => {}
        }
        if pipeline.negate {
            self.text(b"! ");
        }
        for (i, stage) in pipeline.stages.iter().enumerate() {
            if i > 0 && !self.heredocs.is_empty() {
                self.after_heredoc = true;
                self.text(b" |");
                self.flush_heredocs();
                self.text(b"\n  ");
            } else if i > 0 {
                self.text(b" | ");
            }
            self.command(stage);
        }
    }

    fn command(&mut self, command: &Command) {
        match &command.kind {
            CommandKind::Simple(simple) => {
                self.simple(simple);
                self.redirects(&command.redirects, simple.args.is_empty() && simple.assigns.is_empty());
                return;
            }
            CommandKind::Group(list) => {
                self.text(b"{ ");
                if self.lines {
                    self.indent += 1;
                    self.newline();
                    self.list(list);
                    self.close(b"}", false);
                } else {
                    self.list(list);
                    self.text(if self.out.ends_with(b"&") { b" }" } else { b"; }" });
                }
            }
            CommandKind::Subshell(list) => {
                self.text(b"( ");
                self.list(list);
                self.text(b" )");
            }
            CommandKind::If { clauses, otherwise } => self.if_clause(clauses, otherwise.as_ref()),
            CommandKind::For { name, words, body } | CommandKind::Select { name, words, body } => {
                self.text(if matches!(command.kind, CommandKind::For { .. }) {
                    b"for "
                } else {
                    b"select "
                });
                self.text(name);
                self.text(b" in");
                match words {
                    Some(words) => {
                        for word in words {
                            self.text(b" ");
                            self.text(&word.raw);
                        }
                    }
                    None => self.text(b" \"$@\""),
                }
                self.text(b";");
                self.newline();
                self.text(b"do");
                self.open();
                self.list(body);
                self.close(b"done", true);
            }
            CommandKind::ArithFor { init, cond, step, body } => {
                self.text(b"for ((");
                self.text(init.text.raw.trim_ascii());
                self.text(b"; ");
                self.text(cond.text.raw.trim_ascii());
                self.text(b"; ");
                self.text(step.text.raw.trim_ascii());
                self.text(b"))");
                self.newline();
                self.text(b"do");
                self.open();
                self.list(body);
                self.close(b"done", true);
            }
            CommandKind::While { until, cond, body } => {
                self.text(if *until { b"until " } else { b"while " });
                self.inline(cond);
                self.text(b"; do");
                self.open();
                self.list(body);
                self.close(b"done", true);
            }
            CommandKind::Case { word, arms } => {
                self.text(b"case ");
                self.text(&word.raw);
                self.text(b" in ");
                self.indent += 1;
                for arm in arms {
                    self.newline();
                    for (i, pattern) in arm.patterns.iter().enumerate() {
                        if i > 0 {
                            self.text(b" | ");
                        }
                        self.text(&pattern.raw);
                    }
                    self.text(b")");
                    self.indent += 1;
                    if arm.body.0.is_empty() {
                        self.text(b"\n");
                    } else {
                        self.newline();
                        self.list(&arm.body);
                    }
                    self.indent -= 1;
                    if arm.body.0.is_empty() {
                        self.newline();
                    } else if self.out.ends_with(b"\n") {
                        let n = self.indent * 4;
                        self.out.resize(self.out.len() + n, b' ');
                    } else {
                        self.newline();
                    }
                    self.text(match arm.end {
                        CaseEnd::Break => b";;",
                        CaseEnd::FallThrough => b";&",
                        CaseEnd::TestNext => b";;&",
                    });
                }
                self.indent -= 1;
                self.newline();
                self.text(b"esac");
            }
            CommandKind::Arith(arith) => {
                self.text(b"((");
                self.text(&arith.text.raw);
                self.text(b"))");
            }
            CommandKind::Cond(expr) => {
                self.text(b"[[ ");
                cond(expr, &mut self.out);
                self.text(b" ]]");
            }
            CommandKind::Function(def) => {
                self.text(b"function ");
                self.text(&def.name);
                self.text(b" () ");
                if self.lines {
                    self.newline()
                } else {
                    self.text(b"\n")
                }
                let lines = std::mem::replace(&mut self.lines, true);
                self.function_body(&def.body);
                self.lines = lines;
                return;
            }
            CommandKind::Coproc { name, body } => {
                self.text(b"coproc ");
                if !matches!(body.kind, CommandKind::Simple(_)) {
                    self.text(name);
                    self.text(b" ");
                }
                self.command(body);
            }
        }
        self.redirects(&command.redirects, false);
    }

    /// A condition stays on the line of its keyword.
    fn inline(&mut self, list: &List) {
        let lines = std::mem::replace(&mut self.lines, false);
        self.list(list);
        self.lines = lines;
    }

    fn if_clause(&mut self, clauses: &[(List, List)], otherwise: Option<&List>) {
        let Some(((cond, body), rest)) = clauses.split_first() else {
            return;
        };
        self.text(b"if ");
        self.inline(cond);
        self.text(b"; then");
        self.open();
        self.list(body);
        if rest.is_empty() {
            if let Some(body) = otherwise {
                self.close(b"else", true);
                self.open();
                self.list(body);
            }
        } else {
            // `elif` is an `if` inside of `else`.
            self.close(b"else", true);
            self.open();
            self.if_clause(rest, otherwise);
        }
        self.close(b"fi", true);
    }

    fn simple(&mut self, simple: &Simple) {
        let mut first = true;
        for assign in &simple.assigns {
            if !std::mem::take(&mut first) {
                self.text(b" ");
            }
            self.assign(assign);
        }
        for arg in &simple.args {
            if !std::mem::take(&mut first) {
                self.text(b" ");
            }
            match arg {
                Arg::Word(word) => self.text(&word.raw),
                Arg::Assign(assign) => self.assign(assign),
            }
        }
    }

    fn assign(&mut self, assign: &Assign) {
        self.text(&assign.name);
        if let Some(index) = &assign.index {
            self.subscript(index);
        }
        self.text(if assign.append { b"+=" } else { b"=" });
        match &assign.value {
            AssignValue::Scalar(word) => self.text(&word.raw),
            AssignValue::Array(elements) => self.elements(elements),
        }
    }

    fn elements(&mut self, elements: &[crate::ast::Element]) {
        self.text(b"(");
        for (i, element) in elements.iter().enumerate() {
            if i > 0 {
                self.text(b" ");
            }
            if let Some(index) = &element.index {
                self.subscript(index);
                self.text(if element.append { b"+=" } else { b"=" });
            }
            self.text(&element.value.raw);
        }
        self.text(b")");
    }

    fn subscript(&mut self, index: &Subscript) {
        self.text(b"[");
        match index {
            Subscript::At => self.text(b"@"),
            Subscript::Star => self.text(b"*"),
            Subscript::Expr(e) => self.text(&e.text.raw),
        }
        self.text(b"]");
    }

    fn redirects(&mut self, redirects: &[Redirect], mut first: bool) {
        for redirect in redirects {
            if !std::mem::take(&mut first) {
                self.text(b" ");
            }
            self.redirect(redirect);
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        use RedirectKind as K;
        match &redirect.fd {
            RedirectFd::Default => {}
            RedirectFd::Number(n) => {
                let text = crate::arith::decimal(i64::from(*n));
                self.text(&text);
            }
            RedirectFd::Variable(name) => {
                self.text(b"{");
                self.text(name);
                self.text(b"}");
            }
        }
        let default = matches!(redirect.fd, RedirectFd::Default);
        match &redirect.kind {
            K::Read(word) => self.operator(b"< ", word),
            K::Write(word) => self.operator(b"> ", word),
            K::Append(word) => self.operator(b">> ", word),
            K::ReadWrite(word) => self.operator(b"<> ", word),
            K::Clobber(word) => self.operator(b">| ", word),
            K::DupIn(word) => self.operator(if default { b"0<&" } else { b"<&" }, word),
            K::DupOut(word) => self.operator(if default { b"1>&" } else { b">&" }, word),
            K::Both(word) => self.operator(b"&> ", word),
            K::BothAppend(word) => self.operator(b"&>> ", word),
            K::HereString(word) => self.operator(b"<<< ", word),
            K::HereDoc(doc) => {
                self.text(if doc.strip_tabs { b"<<-" } else { b"<<" });
                self.text(&doc.delimiter);
                let body = doc.body.borrow();
                let quoted = doc.delimiter.iter().any(|c| matches!(c, b'\'' | b'"' | b'\\'));
                let text = if quoted {
                    match body.parts.as_slice() {
                        [crate::ast::Part::Quoted(text)] => text.clone(),
                        _ => body.raw.to_vec(),
                    }
                } else {
                    body.raw.to_vec()
                };
                let end: Vec<u8> = doc
                    .delimiter
                    .iter()
                    .copied()
                    .filter(|c| !matches!(c, b'\'' | b'"' | b'\\'))
                    .collect();
                self.heredocs.push((text, end));
            }
        }
    }

    fn operator(&mut self, op: &[u8], word: &crate::ast::Word) {
        self.text(op);
        self.text(&word.raw);
    }
}
