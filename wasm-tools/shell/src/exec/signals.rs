//! Signals: what the kernel does with them for this process, and which shell environment they are for.
//!
//! Subshells in place share one process with the environments they are in. A signal from outside is for the innermost
//! environment that has a trap for it; the trap of an outer one runs when the subshell has ended, as a parent process
//! waits for its child.

use crate::os;
use crate::shell::{Run, Shell, Unwind};
use crate::state::{TRAP_EXIT, Traps};

const SIGKILL: i32 = 9;
const SIGCHLD: i32 = 17;
const QUIT: u64 = bit(3);
const PIPE: u64 = bit(13);
const TERM: u64 = bit(15);
const CHLD: u64 = bit(SIGCHLD);

/// Signals that end a shell after its EXIT trap has run.
const TERMINATING: u64 = bit(1)
    | bit(2)
    | bit(4)
    | bit(5)
    | bit(6)
    | bit(7)
    | bit(8)
    | bit(10)
    | bit(11)
    | bit(12)
    | PIPE
    | bit(14)
    | bit(15)
    | bit(24)
    | bit(25)
    | bit(26)
    | bit(27)
    | bit(31);

/// Signals without effect where nothing handles them; no shell dies of SIGQUIT.
const HARMLESS: u64 = QUIT | CHLD | bit(18) | bit(23) | bit(28);

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// What an environment's traps want of the kernel.
#[derive(Default)]
struct Wishes {
    handle: u64,
    ignore: u64,
    exit: bool,
}

impl Wishes {
    fn of(traps: &Traps) -> Self {
        let mut wishes = Self::default();
        for (&signal, action) in traps {
            match signal {
                TRAP_EXIT => wishes.exit = !action.is_empty(),
                1..=64 if action.is_empty() => wishes.ignore |= bit(signal),
                1..=64 => wishes.handle |= bit(signal),
                _ => {}
            }
        }
        wishes
    }
}

fn has_trap(traps: &Traps, signal: i32) -> bool {
    traps.get(&signal).is_some_and(|a| !a.is_empty())
}

impl Shell {
    /// Tells the kernel what the traps of this environment and of those around it want, where that has changed.
    pub fn sync_signals(&mut self) {
        let current = Wishes::of(&self.st.traps);
        let (mut handle, mut ignore, mut exit) = (current.handle, current.ignore, current.exit);
        for traps in &self.outer_traps {
            let wishes = Wishes::of(traps);
            handle |= wishes.handle;
            ignore |= wishes.ignore;
            exit |= wishes.exit;
        }
        // Whether a write to a broken pipe is an error is the business of whoever writes.
        ignore = ignore & !PIPE | current.ignore & PIPE;
        handle &= !(current.ignore & PIPE);
        // An ignored SIGCHLD would take the children's statuses away.
        ignore &= !(handle | CHLD);
        if self.interactive {
            ignore |= TERM & !handle;
        }
        if exit {
            handle |= TERMINATING & !ignore;
        }
        ignore |= QUIT & !handle;
        handle &= !self.ignored_at_start;
        ignore &= !self.ignored_at_start;
        let mut changed = handle ^ self.handled | ignore ^ self.ignored;
        while changed != 0 {
            let signal = changed.trailing_zeros() as i32 + 1;
            changed &= changed - 1;
            let disposition = if handle & bit(signal) != 0 {
                os::Disposition::Handle
            } else if ignore & bit(signal) != 0 {
                os::Disposition::Ignore
            } else {
                os::Disposition::Default
            };
            let _ = os::set_signal(signal, disposition);
        }
        self.handled = handle;
        self.ignored = ignore;
    }

    /// Takes the signals that have arrived from the kernel; their traps run later.
    pub fn collect_signals(&mut self) {
        while let Some(signal) = os::take_signal() {
            if has_trap(&self.st.traps, signal) {
                self.add_pending(signal);
            } else if signal != SIGCHLD {
                self.signal_outside(signal, self.outer_traps.len());
            }
        }
    }

    /// Notes a signal whose trap is to run: in the order of the numbers, and once however often it came, but for
    /// SIGCHLD, which comes for each child.
    pub(super) fn add_pending(&mut self, signal: i32) {
        let at = self.pending_signals.partition_point(|&s| s <= signal);
        if signal == SIGCHLD || at == 0 || self.pending_signals[at - 1] != signal {
            self.pending_signals.insert(at, signal);
        }
    }

    /// Hands a signal to one of the outermost `levels` environments around this subshell in place, the innermost with
    /// a trap first.
    fn signal_outside(&mut self, signal: i32, levels: usize) {
        let traps = &self.outer_traps[..levels];
        if let Some(level) = traps.iter().rposition(|t| has_trap(t, signal)) {
            self.deferred_signals.push((level, signal));
        } else if TERMINATING & bit(signal) != 0 && self.handled & bit(signal) != 0 {
            self.fatal_signal.get_or_insert(signal);
        }
    }

    /// Enters a subshell in place: the traps of the environment stay in force around it.
    pub fn push_outer_traps(&mut self) {
        self.outer_traps.push(self.st.traps.clone());
    }

    /// The subshell in place has ended, and its parent's state is back.
    pub fn pop_outer_traps(&mut self) {
        if self.handled != 0 {
            self.collect_signals();
        }
        self.outer_traps.pop();
        let level = self.outer_traps.len();
        let (mine, others) = std::mem::take(&mut self.deferred_signals)
            .into_iter()
            .partition::<Vec<_>, _>(|&(l, _)| l == level);
        self.deferred_signals = others;
        for (_, signal) in mine {
            self.add_pending(signal);
        }
        self.sync_signals();
    }

    /// `kill $$` in a subshell in place: for the outermost environment.
    pub fn signal_main(&mut self, signal: i32) {
        let Some(traps) = self.outer_traps.first() else { return };
        let ignored = traps.get(&signal).is_some_and(|a| a.is_empty()) || self.ignored_at_start & bit(signal) != 0;
        let fatal = TERMINATING & bit(signal) != 0 && has_trap(traps, TRAP_EXIT);
        if has_trap(traps, signal) || fatal && !ignored {
            self.signal_outside(signal, 1);
        } else if !ignored && HARMLESS & bit(signal) == 0 {
            self.die_of(signal);
        }
    }

    /// A signal that a subshell in place sent to itself.
    pub fn signal_here(&mut self, signal: i32) -> Run<()> {
        if (1..=64).contains(&signal) && signal != SIGKILL {
            match self.st.traps.get(&signal) {
                Some(action) if action.is_empty() => return Ok(()),
                Some(_) => {
                    self.add_pending(signal);
                    return Ok(());
                }
                None if (HARMLESS | self.ignored_at_start) & bit(signal) != 0 => return Ok(()),
                None => {}
            }
        }
        self.exit_trap_done |= signal == SIGKILL;
        self.subshell_signal = Some(signal);
        Err(Unwind::Exit(128 + signal))
    }

    /// Ends this process by a signal, as if it had never been handled.
    pub fn die_of(&mut self, signal: i32) {
        self.flush_out();
        let _ = os::set_signal(signal, os::Disposition::Default);
        if os::kill(os::getpid(), signal).is_ok() {
            os::pause_briefly();
        }
    }

    /// The first signal that interrupts a wait: one whose trap is to run, or that ends the shell.
    pub fn first_trapped(&self) -> Option<i32> {
        self.pending_signals
            .iter()
            .copied()
            .find(|&s| has_trap(&self.st.traps, s))
            .or(self.fatal_signal)
    }

    /// Signals that children are to ignore.
    pub fn ignored_signals(&self) -> u64 {
        self.ignored_at_start | Wishes::of(&self.st.traps).ignore
    }
}
