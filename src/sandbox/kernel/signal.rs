//! Signals: dispositions, what is pending, and who waits for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::sandbox::errno::{Errno, Result};

/// A signal's number, as on Linux, 1 to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signal(u8);

impl Signal {
    /// Interrupt from the keyboard.
    pub const INT: Self = Self(2);
    /// Polite end.
    #[cfg(test)]
    pub const TERM: Self = Self(15);
    /// Abort: an assertion or a panic.
    pub const ABRT: Self = Self(6);
    /// Arithmetic error.
    pub const FPE: Self = Self(8);
    /// Kill; never handled.
    pub const KILL: Self = Self(9);
    /// Memory error: out of bounds, stack exhausted.
    pub const SEGV: Self = Self(11);
    /// Write to a pipe that nobody reads.
    pub const PIPE: Self = Self(13);
    /// Timer.
    pub const ALRM: Self = Self(14);
    /// A child ended.
    pub const CHLD: Self = Self(17);
    const CONT: Self = Self(18);
    const STOP: Self = Self(19);
    const URG: Self = Self(23);
    const WINCH: Self = Self(28);

    /// Checks a guest's number.
    pub fn new(number: i32) -> Result<Self> {
        match u8::try_from(number) {
            Ok(number @ 1..=64) => Ok(Self(number)),
            _ => Err(Errno::Invalid),
        }
    }

    /// The number.
    pub fn number(self) -> i32 {
        i32::from(self.0)
    }

    fn bit(self) -> u64 {
        1 << (self.0 - 1)
    }

    /// Whether the default is to do nothing. Stopping is not supported: those signals are ignored too, but KILL's
    /// companion STOP, which cannot be refused silently, is handled by the caller.
    fn ignored_by_default(self) -> bool {
        matches!(self, Self::CHLD | Self::CONT | Self::URG | Self::WINCH) || (19..=22).contains(&self.0)
    }
}

/// What a process does with a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// The system's default.
    Default,
    /// Nothing.
    Ignore,
    /// Kept pending until the guest asks for it.
    Handle,
}

impl Disposition {
    /// From a guest's number.
    pub fn new(number: i32) -> Result<Self> {
        match number {
            0 => Ok(Self::Default),
            1 => Ok(Self::Ignore),
            2 => Ok(Self::Handle),
            _ => Err(Errno::Invalid),
        }
    }

    /// The guest's number.
    pub fn number(self) -> i32 {
        self as i32
    }
}

/// What became of a sent signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Nothing is to be done: ignored, or kept for the guest.
    Done,
    /// The process must end.
    Fatal,
}

#[derive(Debug, Default)]
struct Sets {
    ignored: u64,
    handled: u64,
}

/// A process's signals.
#[derive(Debug, Default)]
pub struct Signals {
    sets: Mutex<Sets>,
    pending: AtomicU64,
    arrived: Notify,
}

impl Signals {
    /// All at their default but `ignored` (bit n-1: signal n).
    pub fn new(ignored: u64) -> Self {
        let ignored = ignored & !(Signal::KILL.bit() | Signal::STOP.bit());
        Self { sets: Mutex::new(Sets { ignored, handled: 0 }), ..Self::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Sets> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets a disposition and answers the old one.
    pub fn set(&self, signal: Signal, disposition: Disposition) -> Result<Disposition> {
        if matches!(signal, Signal::KILL | Signal::STOP) {
            return Err(Errno::Invalid);
        }
        let mut sets = self.lock();
        let old = Self::of(&sets, signal);
        sets.ignored &= !signal.bit();
        sets.handled &= !signal.bit();
        match disposition {
            Disposition::Default => {}
            Disposition::Ignore => sets.ignored |= signal.bit(),
            Disposition::Handle => sets.handled |= signal.bit(),
        }
        if disposition != Disposition::Handle {
            self.pending.fetch_and(!signal.bit(), Ordering::AcqRel);
        }
        Ok(old)
    }

    fn of(sets: &Sets, signal: Signal) -> Disposition {
        if sets.ignored & signal.bit() != 0 {
            Disposition::Ignore
        } else if sets.handled & signal.bit() != 0 {
            Disposition::Handle
        } else {
            Disposition::Default
        }
    }

    /// The present disposition.
    pub fn disposition(&self, signal: Signal) -> Disposition {
        Self::of(&self.lock(), signal)
    }

    /// For exec: all at their default but `ignored`. The answer is what was pending, to be sent anew.
    pub fn reset_for_exec(&self, ignored: u64) -> Vec<Signal> {
        let mut sets = self.lock();
        let pending = std::iter::from_fn(|| self.take()).collect();
        *sets = Sets { ignored: ignored & !(Signal::KILL.bit() | Signal::STOP.bit()), handled: 0 };
        pending
    }

    /// The process gets `signal`.
    pub fn send(&self, signal: Signal) -> Delivery {
        let sets = self.lock();
        match Self::of(&sets, signal) {
            Disposition::Ignore => Delivery::Done,
            Disposition::Handle => {
                self.pending.fetch_or(signal.bit(), Ordering::AcqRel);
                drop(sets);
                self.arrived.notify_waiters();
                Delivery::Done
            }
            Disposition::Default if signal.ignored_by_default() => Delivery::Done,
            Disposition::Default => Delivery::Fatal,
        }
    }

    /// Whether a handled signal waits for the guest.
    pub fn is_pending(&self) -> bool {
        self.pending.load(Ordering::Acquire) != 0
    }

    /// Takes the lowest handled pending signal off.
    pub fn take(&self) -> Option<Signal> {
        let mut pending = self.pending.load(Ordering::Acquire);
        while pending != 0 {
            let lowest = pending & pending.wrapping_neg();
            match self.pending.compare_exchange(pending, pending & !lowest, Ordering::AcqRel, Ordering::Acquire) {
                // The position of a set bit is below 64.
                Ok(_) => return Some(Signal(lowest.trailing_zeros() as u8 + 1)),
                Err(now) => pending = now,
            }
        }
        None
    }

    /// Waits until a handled signal is pending.
    pub async fn pending(&self) {
        loop {
            let mut arrived = std::pin::pin!(self.arrived.notified());
            arrived.as_mut().enable();
            if self.is_pending() {
                return;
            }
            arrived.await;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn dispositions_decide_what_a_signal_does() {
        let signals = Signals::new(Signal::INT.bit() | Signal::KILL.bit());
        assert_eq!(signals.send(Signal::INT), Delivery::Done);
        assert_eq!(signals.send(Signal::KILL), Delivery::Fatal);
        assert_eq!(signals.send(Signal::CHLD), Delivery::Done);
        assert_eq!(signals.send(Signal::TERM), Delivery::Fatal);
        assert_eq!(signals.set(Signal::TERM, Disposition::Handle), Ok(Disposition::Default));
        assert_eq!(signals.send(Signal::TERM), Delivery::Done);
        assert_eq!(signals.set(Signal::KILL, Disposition::Ignore), Err(Errno::Invalid));
        assert_eq!(signals.take(), Some(Signal::TERM));
        assert_eq!(signals.take(), None);
    }

    #[test]
    fn the_lowest_pending_signal_comes_first() {
        let signals = Signals::new(0);
        for number in [64, 1, 15] {
            let signal = Signal::new(number).unwrap();
            signals.set(signal, Disposition::Handle).unwrap();
            signals.send(signal);
        }
        let taken: Vec<_> = std::iter::from_fn(|| signals.take().map(Signal::number)).collect();
        assert_eq!(taken, [1, 15, 64]);
        assert!(Signal::new(0).is_err() && Signal::new(65).is_err());
    }
}
