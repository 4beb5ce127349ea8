//! Captured standard output and error.

use std::sync::{Arc, PoisonError};

use super::Kernel;
use super::end::End;
use super::run::Run;
use crate::sandbox::errno::Result;
use crate::sandbox::limits::LimitName;

/// A stream that a run's caller gets when it has ended.
#[derive(Clone, Debug)]
pub struct OutputStream {
    run: Arc<Run>,
    error: bool,
}

impl OutputStream {
    /// Standard output, or (`error`) standard error, of `run`.
    pub fn new(run: Arc<Run>, error: bool) -> Self {
        Self { run, error }
    }

    /// Adds to what was captured; past the limit the run ends, and what fits is kept.
    pub fn write(&self, kernel: &Kernel, data: &[u8]) -> Result<usize> {
        let stream = if self.error { &self.run.stderr } else { &self.run.stdout };
        let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
        if self.run.output.charge(data.len() as u64) {
            stream.extend_from_slice(data);
            return Ok(data.len());
        }
        let room = usize::try_from(self.run.output.left()).unwrap_or(usize::MAX).min(data.len());
        self.run.output.charge(room as u64);
        stream.extend_from_slice(&data[..room]);
        drop(stream);
        kernel.end_run(&self.run, End::Limit(LimitName::Output));
        Ok(data.len())
    }
}
