//! The commands of a session that run, and the tools that talk to them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::arguments::number;
use super::super::run::Prepared;
use super::super::{Call, ToolError, ToolName, Toolset};
use super::exec::ProgramResult;
use super::program::Program;

/// The most commands that run at once in a session.
const PROGRAMS_MAX: usize = 16;
/// How long a command that nobody asks for is kept.
const UNUSED: Duration = Duration::from_secs(30 * 60);
/// How long input waits for an answer by default.
const WAIT: Duration = Duration::from_millis(400);
/// The longest wait.
const WAIT_MAX: Duration = Duration::from_secs(300);
/// Lines that are returned by default.
pub const LINES: usize = 40;

/// The commands of a session, by the names that the model calls them by.
#[derive(Debug, Default)]
pub struct Programs {
    running: Mutex<HashMap<String, Arc<Started>>>,
    number: AtomicU64,
}

/// A command, and what is to be collected at its end.
#[derive(Debug)]
pub struct Started {
    pub program: Arc<Program>,
    /// Taken by whoever sees the end first.
    pub prepared: Mutex<Option<Prepared>>,
}

impl Programs {
    /// Keeps a command and answers its name.
    ///
    /// # Errors
    /// When too many run.
    pub fn add(&self, tool: &'static str, started: Arc<Started>) -> Result<String, ToolError> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|_, started| started.program.unused_for() < UNUSED);
        if running.len() >= PROGRAMS_MAX {
            let reason = format!("{PROGRAMS_MAX} commands run already; end one with its kill_session first");
            return Err(ToolError::argument(tool, "command", reason));
        }
        let id = format!("p{}", self.number.fetch_add(1, Ordering::Relaxed) + 1);
        running.insert(id.clone(), started);
        Ok(id)
    }

    pub fn get(&self, tool: &'static str, id: &str) -> Result<Arc<Started>, ToolError> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(id.trim()).cloned().ok_or_else(|| {
            let mut known: Vec<_> = running.keys().map(String::as_str).collect();
            known.sort_unstable();
            let there = if known.is_empty() { "no command runs".to_owned() } else { known.join(", ") };
            ToolError::argument(tool, "session_id", format!("unknown session_id: `{id}`; there is: {there}"))
        })
    }

    pub fn remove(&self, id: &str) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(id.trim());
    }
}

/// Arguments of `skill_write_stdin` and `workspace_write_stdin`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteProgram {
    /// The command, as it was named when it was started.
    pub session_id: String,
    /// What to write.
    #[serde(default)]
    pub chars: String,
    /// Add a newline. Default: false.
    #[serde(default)]
    pub submit: bool,
    /// End the input. Default: false.
    #[serde(default)]
    pub close: bool,
    /// Milliseconds to wait for an answer. Default: 400.
    #[serde(default, deserialize_with = "number")]
    pub yield_time_ms: Option<f64>,
    /// The most lines of output to return. Default: 40.
    #[serde(default)]
    pub poll_lines: Option<usize>,
}

/// Arguments of `skill_poll_session`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PollProgram {
    /// The command, as it was named when it was started.
    pub session_id: String,
    /// Milliseconds to wait for more output. Default: 400.
    #[serde(default, deserialize_with = "number")]
    pub yield_time_ms: Option<f64>,
    /// The most lines of output to return. Default: 40.
    #[serde(default)]
    pub poll_lines: Option<usize>,
}

/// Arguments of `skill_kill_session` and `workspace_kill_session`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KillProgram {
    /// The command, as it was named when it was started.
    pub session_id: String,
}

/// What ending a command answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Killed {
    /// True.
    pub ok: bool,
    /// The command.
    pub session_id: String,
    /// `killed`, or `exited` when it had ended by itself.
    pub status: &'static str,
}

impl Toolset {
    /// Writes to the input of a command and answers what it prints then.
    ///
    /// # Errors
    /// When there is no such command.
    pub async fn write_program(
        &self,
        tool: ToolName,
        call: WriteProgram,
        context: &mut Call,
    ) -> Result<ProgramResult, ToolError> {
        let programs = self.session().extension::<Programs>();
        let started = programs.get(tool.as_str(), &call.session_id)?;
        let mut data = call.chars.into_bytes();
        if call.submit {
            data.push(b'\n');
        }
        if started.program.outcome().is_none() {
            if !data.is_empty() && started.program.write(&data).await.is_err() && started.program.outcome().is_none() {
                let reason = "the command does not read its input any more; poll it, or end it";
                return Err(ToolError::argument(tool.as_str(), "chars", reason));
            }
            if call.close {
                started.program.close_input();
            }
        }
        self.poll(&call.session_id, &started, call.yield_time_ms, call.poll_lines, context).await
    }

    /// What a command has printed since it was asked last.
    ///
    /// # Errors
    /// When there is no such command.
    pub async fn skill_poll_session(&self, call: PollProgram, context: &mut Call) -> Result<ProgramResult, ToolError> {
        let programs = self.session().extension::<Programs>();
        let started = programs.get(ToolName::SkillPollSession.as_str(), &call.session_id)?;
        self.poll(&call.session_id, &started, call.yield_time_ms, call.poll_lines, context).await
    }

    async fn poll(
        &self,
        id: &str,
        started: &Started,
        yield_ms: Option<f64>,
        lines: Option<usize>,
        context: &mut Call,
    ) -> Result<ProgramResult, ToolError> {
        started.program.wait(wait_time(yield_ms, WAIT)).await;
        ProgramResult::of(id, started, lines.unwrap_or(LINES).max(1), context).await
    }

    /// Ends a command.
    ///
    /// # Errors
    /// When there is no such command.
    pub async fn kill_program(&self, tool: ToolName, call: KillProgram) -> Result<Killed, ToolError> {
        let programs = self.session().extension::<Programs>();
        let started = programs.get(tool.as_str(), &call.session_id)?;
        let was_running = started.program.kill().await;
        programs.remove(&call.session_id);
        let status = if was_running { "killed" } else { "exited" };
        Ok(Killed { ok: true, session_id: call.session_id, status })
    }
}

/// How long a call waits.
pub fn wait_time(milliseconds: Option<f64>, default: Duration) -> Duration {
    let given = milliseconds.filter(|milliseconds| *milliseconds >= 0.0);
    given.map_or(default, |milliseconds| Duration::from_secs_f64((milliseconds / 1e3).min(WAIT_MAX.as_secs_f64())))
}
