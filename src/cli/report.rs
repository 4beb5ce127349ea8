//! The result as JSON.

use std::collections::BTreeMap;
use std::io::Write;

use base64::Engine as _;
use serde::Serialize;

use super::Error;
use super::workspace::OutputFile;
use crate::Outcome;

/// The object that --json prints.
#[derive(Debug, Serialize)]
pub struct Report {
    exit_code: u8,
    stdout: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout_base64: Option<String>,
    stderr: String,
    timed_out: bool,
    limit: Option<&'static str>,
    limits_hit: BTreeMap<&'static str, u64>,
    duration_ms: f64,
    fuel: Option<u64>,
    peak_memory_bytes: u64,
    processes: u64,
    output_files: Vec<OutputFile>,
    hints: Vec<String>,
    error: Option<String>,
}

impl Report {
    /// The report of an outcome.
    pub fn new(outcome: &Outcome, output_files: Vec<OutputFile>) -> Self {
        let not_text = std::str::from_utf8(&outcome.stdout).is_err();
        Self {
            exit_code: outcome.exit_code,
            stdout: String::from_utf8_lossy(&outcome.stdout).into_owned(),
            stdout_base64: not_text.then(|| base64::engine::general_purpose::STANDARD.encode(&outcome.stdout)),
            stderr: String::from_utf8_lossy(&outcome.stderr).into_owned(),
            timed_out: outcome.timed_out(),
            limit: outcome.limit.map(crate::LimitName::as_str),
            limits_hit: outcome.limits_hit.iter().map(|(name, count)| (name.as_str(), *count)).collect(),
            duration_ms: outcome.duration.as_secs_f64() * 1e3,
            fuel: outcome.fuel,
            peak_memory_bytes: outcome.peak_memory,
            processes: outcome.processes,
            output_files,
            hints: outcome.hints.clone(),
            error: None,
        }
    }

    /// The report of a failure of wskill itself, or of a run that was broken off.
    pub fn failure(exit_code: u8, error: String) -> Self {
        Self {
            exit_code,
            stdout: String::new(),
            stdout_base64: None,
            stderr: String::new(),
            timed_out: false,
            limit: None,
            limits_hit: BTreeMap::new(),
            duration_ms: 0.0,
            fuel: None,
            peak_memory_bytes: 0,
            processes: 0,
            output_files: Vec::new(),
            hints: Vec::new(),
            error: Some(error),
        }
    }

    /// Prints it in one line and answers the exit status.
    pub fn print(&self) -> Result<u8, Error> {
        let mut stdout = std::io::stdout().lock();
        serde_json::to_writer(&mut stdout, self)?;
        stdout.write_all(b"\n")?;
        Ok(self.exit_code)
    }
}
