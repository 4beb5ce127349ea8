//! How processes end, and what their parents are told.

use super::signal::Signal;
use crate::sandbox::limits::LimitName;

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// By exiting, or falling off the end of its main function (0).
    Exited(u8),
    /// By a signal: sent by somebody, or standing for a trap (the text says which).
    Signaled(Signal, Option<String>),
    /// Because the run it belonged to met this limit.
    Limit(LimitName),
    /// It never ran: the program could not be loaded or made. The text says why.
    Failed(String),
}

impl End {
    /// The status as wait(2) encodes it.
    pub fn wait_status(&self) -> i32 {
        match self {
            Self::Exited(code) => i32::from(*code) << 8,
            Self::Signaled(signal, _) => signal.number(),
            Self::Limit(_) => Signal::KILL.number(),
            Self::Failed(_) => 126 << 8,
        }
    }

    /// The signal, limit or failure that it was, in words; `None` for an exit.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Exited(_) => None,
            Self::Signaled(signal, text) => Some(text.clone().unwrap_or_else(|| format!("signal {}", signal.number()))),
            Self::Limit(name) => Some(name.to_string()),
            Self::Failed(text) => Some(text.clone()),
        }
    }

    /// The status as a shell shows it: 128 + n for signal n.
    pub fn shell_status(&self) -> u8 {
        match self {
            Self::Exited(code) => *code,
            Self::Signaled(signal, _) => 128 + (signal.number() & 0x7f) as u8,
            Self::Limit(LimitName::WallTime) => 124,
            Self::Limit(_) => 137,
            Self::Failed(_) => 126,
        }
    }
}

/// A child that has ended, as `wait` tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Which.
    pub pid: i32,
    /// Its wait status.
    pub status: i32,
    /// Processor time, ns.
    pub cpu_ns: u64,
    /// The most memory it had, bytes.
    pub peak_memory: u64,
}
