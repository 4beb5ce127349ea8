//! `skill_exec`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::arguments::{number, texts};
use super::super::run::{Input, Job, Outputs};
use super::super::{Call, RunResult, RunSkill, ToolError, ToolName, Toolset};
use super::interaction::Interaction;
use super::program::Program;
use super::programs::{LINES, Programs, Started, wait_time};

/// How long a call waits for the end by default.
const WAIT: Duration = Duration::from_secs(1);

/// Arguments of `skill_exec`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecSkill {
    /// The skill's name.
    pub skill: String,
    /// A command line for bash.
    pub command: String,
    /// Give the command a terminal. Default: false.
    #[serde(default)]
    pub tty: bool,
    /// Milliseconds to wait for the end, or for a question. Default: 1000.
    #[serde(default, deserialize_with = "number")]
    pub yield_time_ms: Option<f64>,
    /// The most lines of output to return. Default: 40.
    #[serde(default)]
    pub poll_lines: Option<usize>,
    /// The working directory, as for skill_run. Default: the skill's folder.
    #[serde(default)]
    pub cwd: String,
    /// Environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What the standard input begins with.
    #[serde(default)]
    pub stdin: String,
    /// What $EDITOR is to write into the file that it is called with.
    #[serde(default)]
    pub editor_text: String,
    /// Patterns of files to return at the end. Default: the new files in out/.
    #[serde(default, deserialize_with = "texts")]
    pub output_files: Vec<String>,
    /// Seconds after which the command is stopped. Default: 300.
    #[serde(default, deserialize_with = "number")]
    pub timeout: Option<f64>,
    /// Save the returned files as artifacts too. Default: false.
    #[serde(default)]
    pub save_as_artifacts: Option<bool>,
    /// Return no content of files. Default: false.
    #[serde(default)]
    pub omit_inline_content: Option<bool>,
    /// What the names of the artifacts begin with.
    #[serde(default)]
    pub artifact_prefix: Option<String>,
    /// Files to bring into the workspace before the command runs.
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// Which files to return at the end, with limits; instead of output_files.
    #[serde(default)]
    pub outputs: Option<Outputs>,
}

/// Whether a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramStatus {
    /// It does.
    Running,
    /// It has ended.
    Exited,
}

/// What a command has printed, and whether it runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramResult {
    /// Whether it runs.
    pub status: ProgramStatus,
    /// What later calls name it by.
    pub session_id: String,
    /// What it has printed since it was asked last, standard error included.
    pub output: String,
    /// The number of the first line of `output`, from 0.
    pub offset: usize,
    /// The number of the line that comes after `output`.
    pub next_offset: usize,
    /// Its exit status, when it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
    /// What it seems to wait for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interaction: Option<Interaction>,
    /// What was collected, in the first answer after its end. Its `stdout` and `stderr` are empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<RunResult>,
}

impl ProgramResult {
    pub(super) async fn of(id: &str, started: &Started, lines: usize, context: &mut Call) -> Result<Self, ToolError> {
        let outcome = started.program.outcome();
        let piece = started.program.take(lines);
        let mut answer = Self {
            status: if outcome.is_some() { ProgramStatus::Exited } else { ProgramStatus::Running },
            session_id: id.to_owned(),
            output: piece.output,
            offset: piece.offset,
            next_offset: piece.next_offset,
            exit_code: None,
            interaction: started.program.interaction(),
            result: None,
        };
        if let Some(outcome) = outcome {
            let outcome = outcome.map_err(ToolError::Background)?;
            answer.exit_code = Some(outcome.exit_code);
            let prepared = started.prepared.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(prepared) = prepared {
                answer.result = Some(prepared.finish(&outcome, context).await?);
            }
        }
        Ok(answer)
    }
}

impl Toolset {
    /// Starts a command with a skill, and waits a little for its end.
    ///
    /// # Errors
    /// When the call is wrong or the workspace fails.
    pub async fn skill_exec(&self, call: ExecSkill, context: &mut Call) -> Result<ProgramResult, ToolError> {
        let tool = ToolName::SkillExec.as_str();
        let ExecSkill { tty, yield_time_ms, poll_lines, .. } = call;
        let call = RunSkill {
            skill: call.skill,
            command: call.command,
            cwd: call.cwd,
            env: call.env,
            stdin: call.stdin,
            editor_text: call.editor_text,
            output_files: call.output_files,
            timeout: call.timeout,
            save_as_artifacts: call.save_as_artifacts,
            omit_inline_content: call.omit_inline_content,
            artifact_prefix: call.artifact_prefix,
            inputs: call.inputs,
            outputs: call.outputs,
        };
        let job = self.skill_job(tool, call)?;
        let (id, started) = self.start(job, tty, false, context).await?;
        started.program.wait(wait_time(yield_time_ms, WAIT)).await;
        ProgramResult::of(&id, &started, poll_lines.unwrap_or(LINES).max(1), context).await
    }

    /// Starts a job and keeps it with the session. With `close` there is no more input than the job's own.
    pub(super) async fn start(
        &self,
        job: Job,
        tty: bool,
        close: bool,
        context: &Call,
    ) -> Result<(String, Arc<Started>), ToolError> {
        let tool = job.tool;
        let (prepared, mut command) = job.prepare(context).await?;
        let input = std::mem::take(&mut command.stdin);
        command.tty = tty;
        let running = prepared.workspace.start(command).await?;
        let program = Program::new(running, input, close);
        let started = Arc::new(Started { program, prepared: Mutex::new(Some(prepared)) });
        let id = self.session().extension::<Programs>().add(tool, Arc::clone(&started))?;
        Ok((id, started))
    }
}
