//! Simple commands: expansion, assignments, redirections, and the choice between function, builtin and program.

use crate::ast::{Arg, Assign, AssignValue, Command, Part, Redirect, Simple, Subscript, Word};
use crate::builtins::declare::DeclArg;
use crate::builtins::{self, Builtin};
use crate::os;
use crate::shell::{Run, Shell, Unwind};
use crate::state::ScopeKind;
use crate::state::vars::{Value, Var, attr};
use std::rc::Rc;

/// Special builtins whose status is that of commands they run or of their argument.
const RUNS_TEXT: [&str; 7] = ["eval", ".", "source", "return", "exit", "break", "continue"];

/// A command ready to run.
pub struct Prepared<'a> {
    /// The command as written, when there is one.
    pub simple: Option<&'a Simple>,
    pub argv: Vec<Vec<u8>>,
    pub assigns: &'a [Assign],
    pub redirects: &'a [Redirect],
    /// Arguments of a declaration builtin, when there are assignments among them.
    pub declared: Option<Vec<DeclArg>>,
}

/// An argument that is an assignment under `set -k`: the name, and the word of its value.
fn keyword(word: &Word) -> Option<(Vec<u8>, Word)> {
    let Some(Part::Lit(text)) = word.parts.first() else {
        return None;
    };
    let at = text.iter().position(|&c| c == b'=')?;
    if !crate::parse::is_name(&text[..at]) {
        return None;
    }
    let mut value = word.clone();
    value.parts[0] = Part::Lit(text[at + 1..].to_vec());
    Some((text[..at].to_vec(), value))
}

impl Shell {
    /// Runs a simple command.
    #[inline(never)]
    pub fn run_simple(&mut self, command: &Command, simple: &Simple) -> Run<i32> {
        let redirects = command.redirects.as_slice();
        if self.wants_command_text() {
            let text = || crate::print::simple_text(simple, redirects);
            if !self.note_command(command, text)? {
                return Ok(0);
            }
        }
        self.substitution_status = None;
        let substitutions = self.open_substitutions.len();
        let result = self.run_simple_inner(simple, redirects);
        if self.open_substitutions.len() > substitutions {
            self.close_substitutions(substitutions);
        }
        result
    }

    fn run_simple_inner(&mut self, simple: &Simple, redirects: &[Redirect]) -> Run<i32> {
        let mut argv = Vec::with_capacity(simple.args.len());
        if self.st.opts.keyword {
            return self.run_with_keywords(simple, redirects);
        }
        let declaration = simple.args.iter().any(|a| matches!(a, Arg::Assign(_)));
        // Assignments among the arguments are expanded before the ones in front of the command take effect.
        let declared = if declaration {
            Some(self.declaration_args(&simple.args, &mut argv)?)
        } else {
            self.expand_args(&simple.args, &mut argv)?;
            None
        };
        if argv.is_empty() {
            return self.run_assignments(simple, redirects);
        }
        if self.st.opts.xtrace {
            self.trace_simple(simple, &argv);
        }
        self.run_prepared(Prepared {
            simple: Some(simple),
            argv,
            assigns: &simple.assigns,
            redirects,
            declared,
        })
    }

    /// `set -k`: assignments anywhere go to the environment.
    #[inline(never)]
    fn run_with_keywords(&mut self, simple: &Simple, redirects: &[Redirect]) -> Run<i32> {
        let mut argv = Vec::new();
        let mut pairs = Vec::new();
        for arg in &simple.args {
            match arg {
                Arg::Word(word) => match keyword(word) {
                    Some((name, value)) => pairs.push((name, self.expand_assigned(&value)?)),
                    None => self.expand_word_into(word, &mut argv)?,
                },
                Arg::Assign(assign) => {
                    if let AssignValue::Scalar(word) = &assign.value {
                        pairs.push((assign.name.clone(), self.expand_assigned(word)?));
                    }
                }
            }
        }
        if argv.is_empty() {
            return self.run_assignments(simple, redirects);
        }
        self.push_scope(ScopeKind::Temporary);
        let scope = self.st.scopes.len();
        for (name, value) in pairs {
            let var = Var {
                value: Value::Scalar(value),
                attrs: attr::EXPORT,
                scope: 0,
            };
            self.declare_in_scope(&name, scope, var);
        }
        let result = self.run_prepared(Prepared {
            simple: Some(simple),
            argv,
            assigns: &simple.assigns,
            redirects,
            declared: None,
        });
        self.pop_scope();
        result
    }

    /// A command of assignments only.
    #[inline(never)]
    fn run_assignments(&mut self, simple: &Simple, redirects: &[Redirect]) -> Run<i32> {
        for assign in &simple.assigns {
            self.run_assign(assign)?;
        }
        if !redirects.is_empty() {
            match self.redirect_all(redirects)? {
                Ok(saved) => self.undo_redirects(saved),
                Err(()) => return Ok(1),
            }
        }
        if !self.st.last_argument.is_empty() && !self.st.frozen_argument {
            self.st.last_argument = Rc::from(&b""[..]);
        }
        Ok(self.substitution_status.unwrap_or(0))
    }

    /// Runs a command whose words are expanded.
    #[inline(never)]
    pub fn run_prepared(&mut self, command: Prepared<'_>) -> Run<i32> {
        let Some(name) = command.argv.first() else { return Ok(0) };
        // `$_`, without a new allocation when it is the same again.
        let last = command.argv.last().map(|last| {
            if *self.st.last_argument == **last {
                self.st.last_argument.clone()
            } else {
                Rc::from(last.as_slice())
            }
        });
        let result = if name.starts_with(b"%") && self.st.subshell == 0 {
            // A job's name is a command that brings it to the foreground.
            builtins::jobs::fg(self, &[b"fg".to_vec(), name.clone()])
        } else if let Some(function) = self.function_named(name) {
            self.run_function_command(&function.def, command)
        } else if let Some(builtin) = self.builtin_named(name) {
            self.run_builtin_command(builtin, command)
        } else {
            self.run_external_command(command)
        };
        if let Some(last) = last {
            if !self.st.frozen_argument {
                self.st.last_argument = last;
            }
        }
        result
    }

    /// The function of that name; in POSIX mode special builtins come first.
    pub fn function_named(&mut self, name: &[u8]) -> Option<crate::state::Function> {
        if self.st.functions.is_empty() {
            return None;
        }
        let function = self.st.functions.get(name)?;
        if self.st.opts.posix && builtins::find(name).is_some_and(|b| b.special) {
            return None;
        }
        Some(function.clone())
    }

    /// The enabled builtin of that name.
    pub fn builtin_named(&self, name: &[u8]) -> Option<&'static Builtin> {
        let builtin = builtins::find(name)?;
        if !self.st.disabled.is_empty() && self.st.disabled.iter().any(|d| d == name) {
            return None;
        }
        Some(builtin)
    }

    /// Makes the assignments before a command visible to it. The scope is to be popped afterwards.
    #[inline(never)]
    pub fn push_assignments(&mut self, assigns: &[Assign]) -> Run<bool> {
        if assigns.is_empty() {
            return Ok(false);
        }
        self.push_scope(ScopeKind::Temporary);
        let scope = self.st.scopes.len();
        for assign in assigns {
            let result = self.assign_temporary(assign, scope);
            if let Err(unwind) = result {
                if unwind == Unwind::Discard(1)
                    && self
                        .st
                        .vars
                        .get(assign.name.as_slice())
                        .is_some_and(|v| v.has(attr::READONLY))
                {
                    if self.st.opts.posix {
                        self.pop_scope();
                        return Err(Unwind::Exit(1));
                    }
                    // bash goes on with the command when the variable is readonly.
                    continue;
                }
                self.pop_scope();
                return Err(unwind);
            }
        }
        Ok(true)
    }

    fn assign_temporary(&mut self, assign: &Assign, scope: usize) -> Run<()> {
        let value = match &assign.value {
            AssignValue::Scalar(word) => self.expand_single(word)?,
            // Arrays cannot be exported; bash assigns the text.
            AssignValue::Array(elements) => crate::print::array_text(elements),
        };
        if let Some(index) = &assign.index {
            let mut text = assign.name.clone();
            if let Subscript::Expr(e) = index {
                text = [text.as_slice(), b"[", &e.text.raw, b"]"].concat();
            }
            self.error_bytes(&[b"`", text.as_slice(), b"': not a valid identifier"].concat());
            return Ok(());
        }
        let place = self.resolve(&assign.name);
        let name = place.name;
        let old = self.st.vars.get(name.as_slice()).cloned();
        let attrs = old.as_ref().map_or(0, |v| v.attrs);
        if attrs & attr::READONLY != 0 {
            self.error_bytes(&[name.as_slice(), b": readonly variable"].concat());
            return Err(self.give_up());
        }
        // Attributes of the variable do not apply to what a command sees for its own time.
        let value = match old.as_ref().and_then(|v| v.text()).filter(|_| assign.append) {
            Some(before) => self.with_attributes(attrs, Some(before.to_vec()), value)?,
            None => value,
        };
        let var = Var {
            value: Value::Scalar(value),
            attrs: attr::EXPORT,
            scope: 0,
        };
        self.declare_in_scope(&name, scope, var);
        self.after_assignment(&name, attr::EXPORT);
        Ok(())
    }

    #[inline(never)]
    fn run_function_command(&mut self, def: &Rc<crate::ast::FunctionDef>, command: Prepared<'_>) -> Run<i32> {
        let saved = match self.redirect_all(command.redirects)? {
            Ok(saved) => saved,
            Err(()) => return Ok(1),
        };
        let result = match self.push_assignments(command.assigns) {
            Ok(pushed) => {
                let result = self.call_function(def, command.argv);
                if pushed {
                    self.pop_scope();
                }
                result
            }
            Err(unwind) => Err(unwind),
        };
        self.undo_redirects(saved);
        result
    }

    #[inline(never)]
    fn run_builtin_command(&mut self, builtin: &'static Builtin, mut command: Prepared<'_>) -> Run<i32> {
        if builtin.name == "exec" {
            return self.run_exec(command);
        }
        if matches!(builtin.name, "command" | "builtin")
            && command.argv.get(1).is_some_and(|word| word == b"exec")
            && !self.st.disabled.iter().any(|name| &name[..] == b"exec")
        {
            // The redirections are the ones of `exec`: they stay. Its errors never end the shell.
            command.argv.remove(0);
            let posix = std::mem::replace(&mut self.st.opts.posix, false);
            let result = self.run_exec(command);
            self.st.opts.posix = posix;
            return result;
        }
        let saved = if command.redirects.is_empty() {
            None
        } else {
            match self.redirect_all(command.redirects)? {
                Ok(saved) => Some(saved),
                Err(()) => {
                    // In POSIX mode a failed redirection of a special builtin ends the shell.
                    if self.st.opts.posix && builtin.special {
                        return Err(Unwind::Exit(1));
                    }
                    return Ok(1);
                }
            }
        };
        let result = match self.run_builtin_assigned(builtin, command) {
            // In POSIX mode wrong usage of a special builtin ends the shell.
            Ok(2) if self.st.opts.posix && builtin.special && !RUNS_TEXT.contains(&builtin.name) => {
                Err(Unwind::Exit(2))
            }
            other => other,
        };
        self.builtin = builtin.name;
        let flushed = self.flush_out();
        if let Some(saved) = saved {
            self.undo_redirects(saved);
        }
        // A signal that the shell sent itself is handled here, behind the redirections of `kill`.
        if let Ok(status) = result
            && builtin.name == "kill"
        {
            self.st.status = status;
            self.run_pending_traps()?;
        }
        match result {
            Ok(0) if !flushed => Ok(1),
            other => other,
        }
    }

    fn run_builtin_assigned(&mut self, builtin: &'static Builtin, command: Prepared<'_>) -> Run<i32> {
        if command.assigns.is_empty() {
            return self.call_builtin(builtin, &command.argv, command.declared);
        }
        if builtin.special && self.st.opts.posix {
            // Assignments before special builtins stay, and their errors end the shell.
            for assign in command.assigns {
                let assigned = self.run_assign(assign);
                if let Some(slot) = Rc::make_mut(&mut self.st.vars).get_mut(assign.name.as_slice()) {
                    Rc::make_mut(slot).attrs |= attr::EXPORT;
                    self.env_cache = None;
                }
                if let Err(unwind) = assigned {
                    return Err(match unwind {
                        Unwind::Discard(_) => self.fatal_expansion(),
                        other => other,
                    });
                }
            }
            return self.call_builtin(builtin, &command.argv, command.declared);
        }
        let pushed = self.push_assignments(command.assigns)?;
        let result = self.call_builtin(builtin, &command.argv, command.declared);
        if pushed {
            self.pop_scope();
        }
        result
    }

    /// Calls a builtin. An error inside it that would give up the command is its failure.
    pub fn call_builtin(
        &mut self,
        builtin: &'static Builtin,
        argv: &[Vec<u8>],
        declared: Option<Vec<DeclArg>>,
    ) -> Run<i32> {
        if !builtin.pure && !self.contexts.is_empty() && !self.materialise() {
            return Ok(1);
        }
        if self.policy && !os::command_allowed(builtin.name.as_bytes()) {
            self.error(&format!("{}: not allowed by the policy of this sandbox", builtin.name));
            return Ok(126);
        }
        self.builtin = builtin.name;
        match builtin.run {
            builtins::Run::Plain(run) => run(self, argv),
            builtins::Run::Declare(run) => {
                let args = declared.unwrap_or_else(|| builtins::declare::plain_args(argv));
                run(self, argv.first().map_or(&b""[..], |n| n), args)
            }
        }
    }
}
