//! Traps: signals, EXIT, ERR, DEBUG and RETURN.

use crate::shell::{Run, Shell, Unwind};
use crate::state::{TRAP_DEBUG, TRAP_ERR, TRAP_EXIT, TRAP_RETURN, Traps};
use std::rc::Rc;

const SIGKILL: i32 = 9;
const SIGSTOP: i32 = 19;

impl Shell {
    /// Runs the traps of signals that have arrived.
    #[inline(never)]
    pub fn run_pending_traps(&mut self) -> Run<()> {
        self.collect_signals();
        if let Some(signal) = self.fatal_signal {
            return Err(Unwind::Exit(128 + signal));
        }
        // Those that arrive while a trap runs come first; the rest of these waits for it.
        for signal in std::mem::take(&mut self.pending_signals) {
            let Some(action) = self.st.traps.get(&signal).cloned() else {
                continue;
            };
            if action.is_empty() {
                continue;
            }
            let line = std::mem::replace(&mut self.st.line, 1);
            let result = self.run_trap(&action);
            self.st.line = line;
            result?;
        }
        Ok(())
    }

    /// Runs a trap's action; `$?` is kept.
    fn run_trap(&mut self, action: &Rc<[u8]>) -> Run<()> {
        let status = self.st.status;
        let pipe_status = self.st.pipe_status.clone();
        let (line, source) = (self.st.line, self.st.source.clone());
        let substitution = self.substitution_status;
        let argument = self.st.last_argument.clone();
        let outer = self.trap_status.replace(status);
        let result = self.run_text(action.to_vec(), line, source);
        self.trap_status = outer;
        self.st.line = line;
        self.st.status = status;
        self.st.pipe_status = pipe_status;
        self.substitution_status = substitution;
        self.st.last_argument = argument;
        match result {
            Ok(_) | Err(Unwind::Discard(_)) => Ok(()),
            Err(unwind) => Err(unwind),
        }
    }

    /// Runs the EXIT trap once, with `$?` as it is; the status to end with.
    pub fn run_exit_trap(&mut self, status: i32) -> i32 {
        if self.exit_trap_done {
            return status;
        }
        self.exit_trap_done = true;
        let Some(action) = self.st.traps.get(&TRAP_EXIT).cloned() else {
            return status;
        };
        if action.is_empty() {
            return status;
        }
        let outer = self.trap_status.replace(self.st.status);
        self.in_exit_trap = true;
        let errexit_off = std::mem::replace(&mut self.st.errexit_off, 0);
        // BASH_COMMAND stays the command that ended the shell.
        self.st.in_trap = true;
        let source = self.st.source.clone();
        let result = self.run_text(action.to_vec(), 1, source);
        self.st.errexit_off = errexit_off;
        self.in_exit_trap = false;
        self.trap_status = outer;
        match result {
            Err(Unwind::Exit(status) | Unwind::Return(status)) => status,
            _ => status,
        }
    }

    /// Whether commands' texts are needed: for a DEBUG or ERR trap, or because a trap may look at BASH_COMMAND.
    pub fn wants_command_text(&self) -> bool {
        !self.st.traps.is_empty() || self.hidden_traps > 0
    }

    /// Whether the DEBUG trap runs before commands: the only one that a simple command of a pipeline may run.
    pub fn debugs(&self) -> bool {
        self.st.traps.contains_key(&TRAP_DEBUG)
    }

    /// Whether the ERR trap is one that subshells inherit.
    pub fn err_trap_is_inherited(&self) -> bool {
        self.st.opts.errtrace && self.st.traps.contains_key(&TRAP_ERR)
    }

    /// Runs the DEBUG trap before a command; `false`: under `extdebug` it said to leave the command out.
    #[inline(never)]
    pub fn run_debug_trap(&mut self) -> Run<bool> {
        if self.st.in_trap {
            return Ok(true);
        }
        let Some(action) = self.st.traps.get(&TRAP_DEBUG).cloned() else {
            return Ok(true);
        };
        if action.is_empty() {
            return Ok(true);
        }
        self.st.in_trap = true;
        let status = self.st.status;
        let (line, source) = (self.st.line, self.st.source.clone());
        let result = self.run_text(action.to_vec(), line, source);
        let answer = self.st.status;
        self.st.in_trap = false;
        self.st.line = line;
        self.st.status = status;
        match result {
            Ok(_) | Err(Unwind::Discard(_)) => {}
            Err(unwind) => return Err(unwind),
        }
        if self.st.shopts.extdebug {
            if answer == 2 && !self.st.calls.is_empty() {
                return Err(Unwind::Return(2));
            }
            return Ok(answer == 0);
        }
        Ok(true)
    }

    /// Runs the ERR trap after a failed command.
    #[inline(never)]
    pub fn run_err_trap(&mut self, status: i32) -> Run<()> {
        if self.st.in_trap {
            return Ok(());
        }
        let Some(action) = self.st.traps.get(&TRAP_ERR).cloned() else {
            return Ok(());
        };
        if action.is_empty() {
            return Ok(());
        }
        self.st.in_trap = true;
        self.st.status = status;
        let result = self.run_trap(&action);
        self.st.in_trap = false;
        result
    }

    /// Runs the RETURN trap when a function or a sourced file ends.
    #[inline(never)]
    pub fn run_return_trap(&mut self) -> Run<()> {
        if self.st.in_trap {
            return Ok(());
        }
        let Some(action) = self.st.traps.get(&TRAP_RETURN).cloned() else {
            return Ok(());
        };
        if action.is_empty() {
            return Ok(());
        }
        self.st.in_trap = true;
        let result = self.run_trap(&action);
        self.st.in_trap = false;
        result
    }

    /// Takes away the traps that a function does not inherit; what `unmask_traps` puts back.
    #[inline(never)]
    pub fn mask_traps(&mut self, name: &[u8]) -> Option<Vec<(i32, Rc<[u8]>)>> {
        if self.st.traps.is_empty() {
            return None;
        }
        let traced = self.st.functions.get(name).is_some_and(|f| f.trace);
        let mut hide = Vec::new();
        if !self.st.opts.errtrace {
            hide.push(TRAP_ERR);
        }
        if !self.st.opts.functrace && !traced {
            hide.extend([TRAP_DEBUG, TRAP_RETURN]);
        }
        self.hide_traps(&hide)
    }

    /// A sourced file does not inherit DEBUG and RETURN unless traced.
    pub fn mask_debug_for_source(&mut self) -> Option<Vec<(i32, Rc<[u8]>)>> {
        if self.st.opts.functrace {
            None
        } else {
            self.hide_traps(&[TRAP_DEBUG])
        }
    }

    fn hide_traps(&mut self, hide: &[i32]) -> Option<Vec<(i32, Rc<[u8]>)>> {
        let hidden: Vec<_> = hide
            .iter()
            .filter_map(|s| self.st.traps.get(s).map(|a| (*s, a.clone())))
            .collect();
        if hidden.is_empty() {
            return None;
        }
        let traps = Rc::make_mut(&mut self.st.traps);
        for (signal, _) in &hidden {
            traps.remove(signal);
        }
        self.hidden_traps += 1;
        Some(hidden)
    }

    /// Puts masked traps back unless the function set its own.
    pub fn unmask_traps(&mut self, masked: Option<Vec<(i32, Rc<[u8]>)>>) {
        self.hidden_traps -= u32::from(masked.is_some());
        for (signal, action) in masked.into_iter().flatten() {
            Rc::make_mut(&mut self.st.traps).entry(signal).or_insert(action);
        }
    }

    /// Sets or resets a trap, and tells the kernel.
    pub fn set_trap(&mut self, signal: i32, action: Option<&[u8]>) {
        let settled = matches!(signal, SIGKILL | SIGSTOP)
            || (1..=64).contains(&signal) && self.ignored_at_start >> (signal - 1) & 1 == 1;
        if settled {
            return;
        }
        if self.st.inherited_traps.take().is_some() {
            // From now on this environment lists its own.
        }
        let traps: &mut Traps = Rc::make_mut(&mut self.st.traps);
        match action {
            Some(action) => {
                traps.insert(signal, action.into());
            }
            None => {
                traps.remove(&signal);
            }
        }
        if signal == TRAP_EXIT || (1..=64).contains(&signal) {
            self.sync_signals();
        }
    }
}
