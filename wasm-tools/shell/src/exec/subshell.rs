//! Subshells and command substitutions in place.

use crate::ast::{CmdSub, CommandKind, List, RedirectKind};
use crate::os;
use crate::shell::{Run, Shell, Unwind};
use crate::state::vars::Name;
use crate::state::{TRAP_DEBUG, TRAP_ERR, TRAP_EXIT, TRAP_RETURN, Traps};
use std::rc::Rc;

/// Depth of subshells in one process.
const MAX_IN_PLACE: u32 = 300;

impl Shell {
    /// Runs `body` as a subshell in this process. Everything it does to the shell environment, and to descriptors,
    /// working directory and umask, is undone.
    pub fn in_subshell(&mut self, body: impl FnOnce(&mut Self) -> Run<i32>) -> i32 {
        self.subshell(false, body).0
    }

    /// The same; with `capture` also what it wrote to descriptor 1.
    #[inline(never)]
    pub fn subshell(&mut self, capture: bool, body: impl FnOnce(&mut Self) -> Run<i32>) -> (i32, Vec<u8>) {
        if self.in_place >= MAX_IN_PLACE {
            self.error("maximum nesting level of subshells exceeded");
            return (1, Vec::new());
        }
        self.in_place += 1;
        let depth_outside = self.depth;
        self.push_context(capture);
        let saved = self.st.clone();
        let saved_env = self.env_cache.clone();
        let saved_done = self.exit_trap_done;
        let saved_pending = std::mem::take(&mut self.pending_signals);
        self.push_outer_traps();
        let byte_locale = crate::pattern::byte_locale();
        let saved_expansion = self.expansion_depth;
        self.depth += super::DEPTH_OF_ENVIRONMENT;
        let saved_substitutions = std::mem::take(&mut self.open_substitutions);
        self.enter_subshell(capture);
        let result = body(self);
        let mut status = self.end_of_environment(result);
        let signal = self.subshell_signal.take();
        if let Some(signal) = signal {
            status = 128 + signal;
        }
        self.open_substitutions = saved_substitutions;
        let captured = self.pop_context();
        let ended: Vec<_> = self
            .st
            .jobs
            .list
            .iter()
            .filter(|j| j.inherited)
            .filter_map(|j| Some((j.pid, j.status?)))
            .collect();
        self.st = saved;
        for (pid, status) in ended {
            if self.st.jobs.list.iter().any(|j| j.pid == pid && j.status.is_none()) {
                self.st.jobs.ended(pid, status);
            }
        }
        self.env_cache = saved_env;
        self.exit_trap_done = saved_done;
        self.expansion_depth = saved_expansion;
        self.depth = depth_outside;
        self.in_place -= 1;
        self.st.status = status;
        crate::pattern::set_byte_locale(byte_locale);
        self.pop_outer_traps();
        for signal in saved_pending {
            self.add_pending(signal);
        }
        self.ended_by = signal;
        (status, captured)
    }

    /// What changes on entering any subshell: traps are reset, the job table is empty. Substitutions and builtins in
    /// pipelines can still list the parent's jobs.
    #[inline(never)]
    pub fn enter_subshell(&mut self, keep_jobs: bool) {
        self.st.subshell += 1;
        self.next_virtual_pid += 1;
        self.st.bash_pid = self.pid + 100_000 + self.next_virtual_pid;
        let mut jobs = crate::state::jobs::Jobs::default();
        if keep_jobs {
            jobs.list.append(&mut self.st.jobs.list);
            for job in &mut jobs.list {
                job.inherited = true;
            }
        }
        self.st.jobs = jobs;
        self.st.loops = 0;
        self.exit_trap_done = false;
        self.reset_traps();
    }

    /// Drops the traps a subshell does not inherit; they are still listed until it sets its own.
    pub fn reset_traps(&mut self) {
        if self.st.traps.is_empty() {
            return;
        }
        let (errtrace, functrace) = (self.st.opts.errtrace, self.st.opts.functrace);
        let kept: Traps = self
            .st
            .traps
            .iter()
            .filter(|&(&signal, action)| match signal {
                TRAP_ERR => errtrace,
                TRAP_DEBUG | TRAP_RETURN => functrace,
                TRAP_EXIT => false,
                _ => action.is_empty(),
            })
            .map(|(&s, a)| (s, a.clone()))
            .collect();
        self.st.inherited_traps = Some(self.st.traps.clone());
        self.st.traps = Rc::new(kept);
        self.sync_signals();
    }

    /// Ends a shell environment: turns what its body left into a status and runs the EXIT trap.
    pub fn end_of_environment(&mut self, result: Run<i32>) -> i32 {
        let status = match result {
            Ok(status) => status,
            Err(Unwind::Exit(status) | Unwind::Return(status) | Unwind::Discard(status) | Unwind::Top(status)) => {
                status
            }
            Err(Unwind::Break(_) | Unwind::Continue(_)) => self.st.status,
        };
        if self.fatal_signal.is_none() {
            self.st.status = status;
        }
        if self.fatal_signal.is_some() && self.in_place > 0 {
            // What ends is the environment around this one.
            return status;
        }
        let mut status = status;
        if self.handled != 0
            && let Err(Unwind::Exit(other)) = self.run_pending_traps()
        {
            status = other;
        }
        let fatal = if self.in_place == 0 {
            self.fatal_signal.take()
        } else {
            None
        };
        // After a signal, `$?` is still that of the last command.
        if fatal.is_none() {
            self.st.status = status;
        }
        let status = self.run_exit_trap(status);
        if let Some(signal) = fatal {
            self.die_of(signal);
            return 128 + signal;
        }
        status
    }

    /// `$(…)` and back quotes: what the commands wrote, without the final newlines.
    #[inline(never)]
    pub fn command_substitution(&mut self, sub: &CmdSub) -> Run<Vec<u8>> {
        let list = match &sub.body {
            Ok(list) => list,
            Err(message) => {
                let message = message.clone();
                self.error(&format!("command substitution: {message}"));
                self.substitution_status = Some(2);
                self.st.status = 2;
                return Ok(Vec::new());
            }
        };
        if let Some(text) = self.file_substitution(list)? {
            return Ok(text);
        }
        let inherit = self.st.shopts.inherit_errexit || self.st.opts.posix;
        let line = self.st.line;
        let (status, mut text) = self.subshell(true, |shell| {
            if !inherit {
                shell.st.opts.errexit = false;
            }
            shell.st.substitutions += 1;
            shell.run_list(list)
        });
        self.st.line = line;
        self.substitution_status = Some(status);
        self.trim_output(&mut text);
        Ok(text)
    }

    fn trim_output(&mut self, text: &mut Vec<u8>) {
        while text.last() == Some(&b'\n') {
            text.pop();
        }
        if text.contains(&0) {
            self.error("warning: command substitution: ignored null byte in input");
            text.retain(|&c| c != 0);
        }
    }

    /// `$(< file)` reads the file without a command.
    #[inline(never)]
    fn file_substitution(&mut self, list: &List) -> Run<Option<Vec<u8>>> {
        let [item] = list.0.as_slice() else { return Ok(None) };
        let ([command], true, false) = (
            item.body.first.stages.as_slice(),
            item.body.rest.is_empty(),
            item.background,
        ) else {
            return Ok(None);
        };
        let (CommandKind::Simple(simple), [redirect]) = (&command.kind, command.redirects.as_slice()) else {
            return Ok(None);
        };
        let RedirectKind::Read(word) = &redirect.kind else {
            return Ok(None);
        };
        if !simple.args.is_empty()
            || !simple.assigns.is_empty()
            || !matches!(redirect.fd, crate::ast::RedirectFd::Default)
        {
            return Ok(None);
        }
        let Some(name) = self.redirect_target(word)? else {
            self.substitution_status = Some(1);
            return Ok(Some(Vec::new()));
        };
        match os::read_file(&name) {
            Ok(mut text) => {
                self.substitution_status = Some(0);
                self.st.status = 0;
                self.trim_output(&mut text);
                Ok(Some(text))
            }
            Err(error) => {
                self.error_bytes(&[name.as_slice(), b": ", os::message(error).as_bytes()].concat());
                self.substitution_status = Some(1);
                self.st.status = 1;
                Ok(Some(Vec::new()))
            }
        }
    }

    /// Leaves all functions out that a name does not need; for state transfer.
    pub fn function_names(&self) -> Vec<Name> {
        let mut names: Vec<Name> = self.st.functions.keys().cloned().collect();
        names.sort();
        names
    }
}
