//! What became of a run.

use std::collections::BTreeSet;
use std::time::Duration;

use super::kernel::End;
use super::limits::LimitName;

/// The outcome of a run. A command that failed is an outcome too, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The first process's exit status as a shell shows it: its own, 128 + n after signal n, 124 when the wall time was
    /// over, 137 after another limit, 126 or 127 when it could not be started.
    pub exit_code: u8,
    /// The limit that ended the run, if one did.
    pub limit: Option<LimitName>,
    /// The limits that refused something, with how often.
    pub limits_hit: Vec<(LimitName, u64)>,
    /// What was written to standard output, when it was captured.
    pub stdout: Vec<u8>,
    /// What was written to standard error, when it was captured.
    pub stderr: Vec<u8>,
    /// Real time, without compiling.
    pub duration: Duration,
    /// Fuel used; `None` when it was not counted.
    pub fuel: Option<u64>,
    /// The most memory of all processes together, bytes. Of the whole sandbox, not of this run alone.
    pub peak_memory: u64,
    /// How many processes were started.
    pub processes: u64,
    /// What a person or a model should know or do about a failure.
    pub hints: Vec<String>,
    /// The absolute paths, as commands see them, under which the run's processes opened files for writing, or gave a
    /// file or folder its name. `None` when they were too many, or nobody followed.
    pub written: Option<BTreeSet<String>>,
}

impl Outcome {
    /// Whether it exited with 0.
    pub fn success(&self) -> bool {
        self.exit_code == 0
    }

    /// Whether the wall time was over.
    pub fn timed_out(&self) -> bool {
        self.limit == Some(LimitName::WallTime)
    }
}

/// The limit that an end stands for.
pub fn limit_of(end: &End) -> Option<LimitName> {
    match end {
        End::Limit(name) => Some(*name),
        _ => None,
    }
}
