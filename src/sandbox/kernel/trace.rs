//! What happened in a sandbox, event by event.

use std::sync::Arc;

use serde::Serialize;

/// An event. Paths and arguments that are not UTF-8 are shown with replacement characters.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TraceEvent {
    /// A process began or replaced its image.
    Start {
        /// Time since the sandbox began, ms.
        at_ms: f64,
        /// Its number.
        pid: i32,
        /// Its parent's.
        parent: i32,
        /// The program: an installed command's name, or a module's path.
        program: String,
        /// Its arguments.
        argv: Vec<String>,
        /// Its working directory.
        cwd: String,
    },
    /// A process ended.
    Exit {
        /// Time since the sandbox began, ms.
        at_ms: f64,
        /// Its number.
        pid: i32,
        /// As a shell shows it.
        status: u8,
        /// The signal or limit that ended it, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Processor time, ms.
        cpu_ms: f64,
        /// The most memory it had.
        peak_memory_bytes: u64,
    },
    /// A file was opened, or could not be.
    Open {
        /// Time since the sandbox began, ms.
        at_ms: f64,
        /// Who.
        pid: i32,
        /// The canonical path, or the one that was given when it could not be opened.
        path: String,
        /// For writing.
        write: bool,
        /// The error, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// A tool of the host was called, and has answered.
    Tool {
        /// Time since the sandbox began, ms.
        at_ms: f64,
        /// Who called it.
        pid: i32,
        /// Its name.
        name: String,
        /// Why it failed, if it did.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The policy refused a command.
    Refused {
        /// Time since the sandbox began, ms.
        at_ms: f64,
        /// Who asked for it; 0: the host.
        pid: i32,
        /// What was asked for.
        command: String,
    },
    /// A limit refused something or ended the run, for the first time.
    Limit {
        /// Time since the sandbox began, ms.
        at_ms: f64,
        /// Which limit.
        limit: &'static str,
    },
}

/// Takes events as they happen; called on the guests' threads, so it must be quick.
#[derive(Clone)]
pub struct Trace(Arc<dyn Fn(TraceEvent) + Send + Sync>);

impl Trace {
    /// A trace that calls `sink`.
    pub fn new(sink: impl Fn(TraceEvent) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }

    /// Tells an event.
    pub fn tell(&self, event: TraceEvent) {
        (self.0)(event);
    }
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Trace")
    }
}
