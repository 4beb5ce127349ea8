//! Execution of syntax trees: lists, pipelines, compound commands.

pub mod assign;
pub mod cond;
pub mod external;
pub mod function;
pub mod jobs;
pub mod pipeline;
pub mod redirect;
pub mod signals;
pub mod simple;
pub mod subshell;
pub mod trace;
pub mod traps;

use crate::ast::{AndOr, Arith, CaseEnd, Command, CommandKind, List, Pipeline, Redirect, Word};
use crate::os;
use crate::shell::{Run, Shell, Unwind};
use std::cell::OnceCell;
use std::rc::Rc;

/// Nesting of commands (functions, substitutions, `eval`) that the engine's stack of 2 MiB carries with room to spare:
/// measured, it holds 1,900 to 2,270 of them, by kind.
pub const MAX_DEPTH: u32 = 1500;

/// What a subshell in place, an `eval` or a sourced file adds to that, beside the commands in it.
pub const DEPTH_OF_ENVIRONMENT: u32 = 3;

impl Shell {
    /// Runs a list; the status of its last command.
    pub fn run_list(&mut self, list: &List) -> Run<i32> {
        let mut status = 0;
        for item in &list.0 {
            if self.st.opts.noexec {
                return Ok(0);
            }
            status = if item.background {
                self.run_background(&item.body)?
            } else {
                self.run_and_or(&item.body)?
            };
        }
        Ok(status)
    }

    /// Runs pipelines joined by `&&` and `||`.
    pub fn run_and_or(&mut self, list: &AndOr) -> Run<i32> {
        if list.rest.is_empty() {
            return self.run_pipeline(&list.first);
        }
        let mut status = self.in_condition(|shell| shell.run_pipeline(&list.first))?;
        for (i, (and, pipeline)) in list.rest.iter().enumerate() {
            if (status == 0) != *and {
                continue;
            }
            status = if i + 1 == list.rest.len() {
                self.run_pipeline(pipeline)?
            } else {
                self.in_condition(|shell| shell.run_pipeline(pipeline))?
            };
        }
        Ok(status)
    }

    /// Runs something whose failure `set -e` and the ERR trap do not see.
    pub fn in_condition(&mut self, body: impl FnOnce(&mut Self) -> Run<i32>) -> Run<i32> {
        self.st.errexit_off += 1;
        let result = body(self);
        self.st.errexit_off = self.st.errexit_off.saturating_sub(1);
        result
    }

    /// Runs a pipeline.
    #[inline(never)]
    pub fn run_pipeline(&mut self, pipeline: &Pipeline) -> Run<i32> {
        if let Some(timed) = pipeline.timed {
            return self.run_timed(pipeline, timed);
        }
        self.run_untimed(pipeline)
    }

    /// The same without looking at `time`.
    #[inline(never)]
    pub fn run_untimed(&mut self, pipeline: &Pipeline) -> Run<i32> {
        let mut status = self.run_stages(pipeline, pipeline.negate)?;
        if pipeline.negate {
            status = i32::from(status == 0);
            self.st.status = status;
            return Ok(status);
        }
        if status != 0 && self.st.errexit_off == 0 && failure_counts(pipeline) {
            self.command_failed(status)?;
        }
        Ok(status)
    }

    fn run_stages(&mut self, pipeline: &Pipeline, negated: bool) -> Run<i32> {
        // Only a `set -e` that is in force already is held off: one that `f` of `! f` executes acts inside of f.
        if negated && self.st.opts.errexit {
            return self.in_condition(|shell| shell.run_stages(pipeline, false));
        }
        match pipeline.stages.as_slice() {
            [] => {
                self.st.status = 0;
                Ok(0)
            }
            [command] => {
                let status = self.run_command(command)?;
                if failure_counts(pipeline) {
                    self.set_pipe_status(status);
                }
                Ok(status)
            }
            stages => {
                if let Some(last) = stages.last().filter(|_| self.wants_command_text() && !self.st.in_trap) {
                    self.st.command_text = crate::print::command_text(last).into();
                    self.st.line = last.line;
                }
                self.run_pipes(stages)
            }
        }
    }

    fn set_pipe_status(&mut self, status: i32) {
        if let [slot] = self.st.pipe_status.as_mut_slice() {
            *slot = status;
        } else {
            self.st.pipe_status.clear();
            self.st.pipe_status.push(status);
        }
    }

    /// What happens when a command fails where that counts: the ERR trap, then `set -e`.
    fn command_failed(&mut self, status: i32) -> Run<()> {
        self.run_err_trap(status)?;
        if self.st.opts.errexit {
            return Err(Unwind::Exit(status));
        }
        Ok(())
    }

    /// Runs one command with its redirections.
    #[inline(never)]
    pub fn run_command(&mut self, command: &Command) -> Run<i32> {
        self.depth += 1;
        if self.depth > MAX_DEPTH || crate::stack::is_short() {
            self.depth -= 1;
            return Err(self.too_deep());
        }
        if self.handled != 0 {
            self.run_pending_traps()?;
        }
        let result = self.run_command_inner(command);
        self.depth -= 1;
        if let Ok(status) = result {
            self.st.status = status;
        }
        result
    }

    /// The error for recursion without end.
    #[cold]
    pub fn too_deep(&mut self) -> Unwind {
        self.error("maximum nesting level of commands exceeded");
        Unwind::Discard(1)
    }

    fn run_command_inner(&mut self, command: &Command) -> Run<i32> {
        if let CommandKind::Simple(simple) = &command.kind {
            self.st.line = command.line;
            return self.run_simple(command, simple);
        }
        if let CommandKind::Function(def) = &command.kind {
            self.st.line = command.line;
            return self.define_function(def);
        }
        let substitutions = self.open_substitutions.len();
        let result = self.run_redirected(command);
        if self.open_substitutions.len() > substitutions {
            self.close_substitutions(substitutions);
        }
        result
    }

    /// Runs a compound command inside of its redirections.
    fn run_redirected(&mut self, command: &Command) -> Run<i32> {
        if command.redirects.is_empty() {
            return self.run_compound(command);
        }
        self.st.line = command.line;
        let substitutions = self.open_substitutions.len();
        let saved = match self.redirect_all(&command.redirects)? {
            Ok(saved) => saved,
            Err(()) => {
                // A failed redirection of a compound command counts for `set -e`, whatever the command is.
                if self.st.errexit_off == 0
                    && matches!(
                        command.kind,
                        CommandKind::Group(_)
                            | CommandKind::If { .. }
                            | CommandKind::For { .. }
                            | CommandKind::While { .. }
                            | CommandKind::Case { .. }
                            | CommandKind::Select { .. }
                            | CommandKind::ArithFor { .. }
                    )
                {
                    self.st.status = 1;
                    self.command_failed(1)?;
                }
                return Ok(1);
            }
        };
        if !matches!(command.kind, CommandKind::Subshell(_) | CommandKind::Coproc { .. }) {
            self.st.stdin_redirected = redirect::of_stdin(&command.redirects);
        }
        // The command has them as its redirections now.
        self.close_substitutions(substitutions);
        let result = self.run_compound(command);
        self.undo_redirects(saved);
        result
    }

    /// Runs what a subshell is made of in the environment that is that subshell already.
    pub(super) fn run_group(&mut self, list: &List, redirects: &[Redirect]) -> Run<i32> {
        match self.redirect_all(redirects)? {
            Ok(saved) => {
                let result = self.run_list(list);
                self.undo_redirects(saved);
                result
            }
            Err(()) => Ok(1),
        }
    }

    #[inline(never)]
    fn run_compound(&mut self, command: &Command) -> Run<i32> {
        match &command.kind {
            CommandKind::Group(list) => self.run_list(list),
            CommandKind::Subshell(list) => {
                self.flush_out();
                if self.wants_command_text() && !self.st.in_trap {
                    self.st.command_text = crate::print::command_text(command).into();
                    self.st.line = command.line;
                }
                let redirected = redirect::of_stdin(&command.redirects);
                let status = self.in_subshell(|shell| {
                    shell.st.stdin_redirected = redirected;
                    shell.run_list(list)
                });
                if let Some(signal) = self.ended_by.take() {
                    let pid = self.pid + 100_000 + self.next_virtual_pid;
                    self.report_signal(pid, os::Status::Signaled(signal), true, || {
                        crate::print::command_text(command)
                    });
                }
                Ok(status)
            }
            CommandKind::If { clauses, otherwise } => {
                for (cond, body) in clauses {
                    if self.in_condition(|shell| shell.run_list(cond))? == 0 {
                        return self.run_list(body);
                    }
                }
                match otherwise {
                    Some(body) => self.run_list(body),
                    None => Ok(0),
                }
            }
            CommandKind::For { name, words, body } => self.run_for(command.line, name, words.as_deref(), body),
            CommandKind::Select { name, words, body } => self.run_select(command.line, name, words.as_deref(), body),
            CommandKind::ArithFor { .. } => self.run_arith_for(command),
            CommandKind::While { until, cond, body } => self.run_while(*until, cond, body),
            CommandKind::Case { word, arms } => {
                self.st.line = command.line;
                self.run_case(word, arms)
            }
            CommandKind::Arith(arith) => {
                self.st.line = command.line;
                if !self.note_command(command, || [b"((", &arith.text.raw[..], b"))"].concat())? {
                    return Ok(0);
                }
                if self.st.opts.xtrace {
                    let text = self.expand_arith_text(&arith.text)?;
                    self.trace(&[b"(( ", text.trim_ascii(), b" ))"].concat());
                }
                match self.eval_arith_for(arith, "((: ") {
                    Ok(value) => Ok(i32::from(value == 0)),
                    Err(Unwind::Discard(_)) => Ok(1),
                    Err(unwind) => Err(unwind),
                }
            }
            CommandKind::Cond(cond) => {
                self.st.line = command.line;
                let go_on = self.note_command(command, || {
                    let mut text = Vec::new();
                    crate::print::cond(cond, &mut text);
                    [b"[[ ", text.as_slice(), b" ]]"].concat()
                })?;
                if go_on { self.run_cond(cond) } else { Ok(0) }
            }
            CommandKind::Coproc { name, body } => self.run_coproc(name, body),
            CommandKind::Simple(_) | CommandKind::Function(_) => Ok(0),
        }
    }

    /// The same as `before_command` for a command whose text never changes: it is made only once.
    pub fn note_command(&mut self, command: &Command, text: impl FnOnce() -> Vec<u8>) -> Run<bool> {
        self.before_command(|| command.text.get_or_init(|| text().into()).clone())
    }

    /// Notes the command for BASH_COMMAND and runs the DEBUG trap; `false`: the trap says to leave the command out.
    pub fn before_command<T: Into<Rc<[u8]>>>(&mut self, text: impl FnOnce() -> T) -> Run<bool> {
        if self.wants_command_text() {
            if !self.st.in_trap {
                self.st.command_text = text().into();
            }
            return self.run_debug_trap();
        }
        Ok(true)
    }

    /// Decides what a loop does with what its body left: `Some` ends the loop.
    fn loop_control(&mut self, result: Run<i32>, status: &mut i32) -> Option<Run<i32>> {
        match result {
            Ok(s) => {
                *status = s;
                None
            }
            Err(Unwind::Break(n)) => {
                *status = 0;
                self.st.status = 0;
                Some(if n > 1 { Err(Unwind::Break(n - 1)) } else { Ok(0) })
            }
            Err(Unwind::Continue(n)) => {
                *status = 0;
                self.st.status = 0;
                if n > 1 {
                    Some(Err(Unwind::Continue(n - 1)))
                } else {
                    None
                }
            }
            Err(unwind) => Some(Err(unwind)),
        }
    }

    #[inline(never)]
    fn run_for(&mut self, line: u32, name: &[u8], words: Option<&[Word]>, body: &List) -> Run<i32> {
        self.st.line = line;
        if !crate::parse::is_name(name) {
            self.error_bytes(&[b"`", name, b"': not a valid identifier"].concat());
            return Ok(1);
        }
        let values: Vec<Vec<u8>> = match words {
            Some(words) => self.expand_words(words)?,
            None => self.st.positional.to_vec(),
        };
        let mut status = 0;
        self.st.loops += 1;
        let mut result = None;
        for value in values {
            self.st.line = line;
            let traced = self.wants_command_text() || self.st.opts.xtrace;
            if traced {
                let mut text = [b"for ", name].concat();
                if let Some(words) = words {
                    text.extend_from_slice(b" in");
                    for word in words {
                        text.push(b' ');
                        text.extend_from_slice(&word.raw);
                    }
                }
                if self.st.opts.xtrace {
                    self.trace(&text);
                }
                match self.before_command(|| text) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(unwind) => {
                        result = Some(Err(unwind));
                        break;
                    }
                }
            }
            if let Err(unwind) = self.set_loop_variable(name, value) {
                result = Some(match unwind {
                    Unwind::Discard(_) if self.st.opts.posix => Err(self.fatal_expansion()),
                    Unwind::Discard(_) => Ok(1),
                    other => Err(other),
                });
                break;
            }
            let run = self.run_list(body);
            if let Some(end) = self.loop_control(run, &mut status) {
                result = Some(end);
                break;
            }
        }
        self.st.loops -= 1;
        result.unwrap_or(Ok(status))
    }

    /// A loop variable that is a nameref is pointed elsewhere instead of assigned through.
    fn set_loop_variable(&mut self, name: &[u8], value: Vec<u8>) -> Run<()> {
        use crate::state::vars::{Value, attr};
        if self.st.vars.get(name).is_some_and(|v| v.has(attr::NAMEREF)) {
            if !crate::state::access::valid_reference(&value) {
                self.error_bytes(&[b"`", value.as_slice(), b"': not a valid identifier"].concat());
                return Err(Unwind::Discard(1));
            }
            if let Some(slot) = Rc::make_mut(&mut self.st.vars).get_mut(name) {
                Rc::make_mut(slot).value = Value::Scalar(value);
            }
            return Ok(());
        }
        self.set_scalar(name, value)
    }

    #[inline(never)]
    fn run_arith_for(&mut self, command: &Command) -> Run<i32> {
        let CommandKind::ArithFor { init, cond, step, body } = &command.kind else {
            return Ok(0);
        };
        let soft = |result: Run<i64>| match result {
            Err(Unwind::Discard(_)) => Ok(None),
            Err(unwind) => Err(unwind),
            Ok(value) => Ok(Some(value)),
        };
        // What the traps see of the parts that run again and again.
        let texts: [OnceCell<Rc<[u8]>>; 2] = Default::default();
        let text_of = |cell: &OnceCell<Rc<[u8]>>, part: &Arith| {
            cell.get_or_init(|| [b"((", shown_part(&part.text.raw), b"))"].concat().into())
                .clone()
        };
        self.st.line = command.line;
        self.trace_arith(init)?;
        if self.before_command(|| [b"((", shown_part(&init.text.raw), b"))"].concat())?
            && soft(self.eval_arith_for(init, "((: "))?.is_none()
        {
            return Ok(1);
        }
        let mut status = 0;
        self.st.loops += 1;
        let result = loop {
            self.st.line = command.line;
            let go_on = self
                .trace_arith(cond)
                .and_then(|()| self.before_command(|| text_of(&texts[0], cond)));
            let value = match go_on {
                // What is not there is true.
                Ok(true) if cond.text.raw.trim_ascii().is_empty() => Ok(Some(1)),
                Ok(true) => soft(self.eval_arith_for(cond, "((: ")),
                Ok(false) => Ok(Some(0)),
                Err(unwind) => Err(unwind),
            };
            match value {
                Ok(Some(0)) => break Ok(status),
                Ok(Some(_)) => {}
                Ok(None) => break Ok(1),
                Err(unwind) => break Err(unwind),
            }
            let run = self.run_list(body);
            if let Some(end) = self.loop_control(run, &mut status) {
                break end;
            }
            self.st.line = command.line;
            let go_on = self
                .trace_arith(step)
                .and_then(|()| self.before_command(|| text_of(&texts[1], step)));
            let value = match go_on {
                Ok(true) => soft(self.eval_arith_for(step, "((: ")),
                Ok(false) => Ok(Some(0)),
                Err(unwind) => Err(unwind),
            };
            match value {
                Ok(Some(_)) => {}
                Ok(None) => break Ok(1),
                Err(unwind) => break Err(unwind),
            }
        };
        self.st.loops -= 1;
        result
    }

    /// Shows a part of `for ((…))` for `set -x`.
    fn trace_arith(&mut self, part: &Arith) -> Run<()> {
        if self.st.opts.xtrace {
            let text = self.expand_arith_text(&part.text)?;
            self.trace(&[b"(( ", shown_part(&text), b" ))"].concat());
        }
        Ok(())
    }

    #[inline(never)]
    fn run_while(&mut self, until: bool, cond: &List, body: &List) -> Run<i32> {
        let mut status = 0;
        self.st.loops += 1;
        let result = loop {
            let run = self.in_condition(|shell| shell.run_list(cond));
            let holds = match run {
                Ok(s) => (s == 0) != until,
                other => {
                    let mut ignored = 0;
                    match self.loop_control(other, &mut ignored) {
                        Some(end) => break end,
                        None => continue,
                    }
                }
            };
            if !holds {
                break Ok(status);
            }
            let run = self.run_list(body);
            if let Some(end) = self.loop_control(run, &mut status) {
                break end;
            }
        };
        self.st.loops -= 1;
        result
    }

    #[inline(never)]
    fn run_case(&mut self, word: &Word, arms: &[crate::ast::CaseArm]) -> Run<i32> {
        if !self.before_command(|| [b"case ", &word.raw[..], b" in "].concat())? {
            return Ok(0);
        }
        if self.st.opts.xtrace {
            self.trace(&[b"case ", &word.raw[..], b" in"].concat());
        }
        let value = self.expand_single(word)?;
        let fold = self.st.shopts.nocasematch;
        let mut status = 0;
        let mut fall = false;
        'arms: for arm in arms {
            if !fall {
                let mut hit = false;
                for pattern in &arm.patterns {
                    let extglob = self.st.shopts.extglob;
                    let matches = match pattern.literal() {
                        Some(text) => self.matches(text, &value, extglob, fold),
                        None => {
                            let text = self.expand_pattern(pattern)?;
                            self.matches(&text, &value, extglob, fold)
                        }
                    };
                    if matches {
                        hit = true;
                        break;
                    }
                }
                if !hit {
                    continue 'arms;
                }
            }
            status = self.run_list(&arm.body)?;
            match arm.end {
                CaseEnd::Break => return Ok(status),
                CaseEnd::FallThrough => fall = true,
                CaseEnd::TestNext => fall = false,
            }
        }
        Ok(status)
    }

    #[inline(never)]
    fn run_select(&mut self, line: u32, name: &[u8], words: Option<&[Word]>, body: &List) -> Run<i32> {
        self.st.line = line;
        if !crate::parse::is_name(name) {
            self.error_bytes(&[b"`", name, b"': not a valid identifier"].concat());
            return Ok(1);
        }
        let values: Vec<Vec<u8>> = match words {
            Some(words) => self.expand_words(words)?,
            None => self.st.positional.to_vec(),
        };
        if values.is_empty() {
            return Ok(0);
        }
        let mut status = 0;
        self.st.loops += 1;
        let mut show = true;
        let result = loop {
            if show {
                let menu = crate::builtins::read::select_menu(&values, self.get_scalar(b"COLUMNS").as_deref());
                self.write_stderr(&menu);
            }
            let prompt = self.get_scalar(b"PS3").unwrap_or_else(|| b"#? ".to_vec());
            self.write_stderr(&prompt);
            let Some(mut reply) = self.read_reply() else {
                self.out.push(b'\n');
                self.flush_out();
                break Ok(1);
            };
            while reply.last() == Some(&b'\n') {
                reply.pop();
            }
            if let Err(unwind) = self.set_scalar(b"REPLY", reply.clone()) {
                break Err(unwind);
            }
            show = reply.is_empty();
            if show {
                continue;
            }
            let choice = crate::arith::integer(&reply)
                .and_then(|n| usize::try_from(n - 1).ok())
                .and_then(|n| values.get(n).cloned())
                .unwrap_or_default();
            if let Err(unwind) = self.set_scalar(name, choice) {
                break Err(unwind);
            }
            let run = self.run_list(body);
            if let Some(end) = self.loop_control(run, &mut status) {
                break end;
            }
            // The menu appears again when the body emptied REPLY.
            show = self.get_scalar(b"REPLY").is_none_or(|r| r.is_empty());
        };
        self.st.loops -= 1;
        result
    }
}

/// How traces and traps see a part of `for ((…))`: one that is not there counts as true.
fn shown_part(text: &[u8]) -> &[u8] {
    match text.trim_ascii_start() {
        b"" => b"1",
        text => text,
    }
}

/// Whether a pipeline's failure counts for `set -e` here: that of a compound command was judged inside.
fn failure_counts(pipeline: &Pipeline) -> bool {
    match pipeline.stages.as_slice() {
        [command] => matches!(
            command.kind,
            CommandKind::Simple(_)
                | CommandKind::Subshell(_)
                | CommandKind::Arith(_)
                | CommandKind::Cond(_)
                | CommandKind::Coproc { .. }
        ),
        _ => true,
    }
}
