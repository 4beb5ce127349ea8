//! `workspace_exec`.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::arguments::number;
use super::super::run::Job;
use super::super::{Call, RunSkill, ToolError, ToolName, Toolset};
use super::exec::ProgramStatus;
use super::programs::{Programs, wait_time};
use crate::workspace::{Variables, strict_cwd};

/// The most bytes of output in a result: a part from the begin, and a part from the end.
const OUTPUT_MAX: usize = 16 << 10;

/// Arguments of `workspace_exec`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecWorkspace {
    /// A command line for bash.
    pub command: String,
    /// The working directory: a folder below skills/, work/, out/ or runs/. Default: the workspace.
    #[serde(default)]
    pub cwd: String,
    /// Environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What the standard input begins with; without a terminal it ends there.
    #[serde(default)]
    pub stdin: String,
    /// Seconds after which the command is stopped. Default: 300.
    #[serde(default, deserialize_with = "number")]
    pub timeout: Option<f64>,
    /// Milliseconds to wait for the end; a command that goes on then is named by `session_id`. Default: to the end.
    #[serde(default, deserialize_with = "number")]
    pub yield_time_ms: Option<f64>,
    /// Do not wait for the end. Default: false.
    #[serde(default)]
    pub background: bool,
    /// Give the command a terminal. Default: false.
    #[serde(default)]
    pub tty: bool,
}

/// What `workspace_exec` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExecResult {
    /// Whether the command runs.
    pub status: ProgramStatus,
    /// What it has printed, standard error included.
    pub output: String,
    /// Its exit status, when it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
    /// What later calls name it by, while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The number of the first line of `output`, from 0.
    pub offset: usize,
    /// The number of the line that comes after `output`.
    pub next_offset: usize,
    /// Whether a part in the middle of `output` was left out.
    pub truncated: bool,
    /// How many bytes it has printed in all.
    pub total_bytes: u64,
    /// Whether the time was over.
    pub timed_out: bool,
    /// What did not go as asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What to do about a failure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

impl Toolset {
    /// Runs a bash command line in the workspace, outside of any skill. The skills that were loaded or run are below
    /// `skills/`.
    ///
    /// # Errors
    /// When the call is wrong or the workspace fails. A command that fails is a result.
    pub async fn workspace_exec(&self, call: ExecWorkspace, context: &mut Call) -> Result<ExecResult, ToolError> {
        let tool = ToolName::WorkspaceExec.as_str();
        if call.command.trim().is_empty() {
            return Err(ToolError::argument(tool, "command", "must not be empty"));
        }
        let root = self.session().workspace().await?.root().to_owned();
        let cwd = strict_cwd(&call.cwd, &Variables::new(&root, "runs"))
            .map_err(|error| ToolError::argument(tool, "cwd", error.to_string()))?;
        let stays = call.background || call.yield_time_ms.is_some() || call.tty;
        let request = RunSkill {
            cwd: format!("/{cwd}"),
            env: call.env,
            stdin: call.stdin,
            timeout: call.timeout,
            ..RunSkill::default()
        };
        let argv = ["bash", "-c", &call.command].map(str::to_owned).to_vec();
        let job = Job { tool, toolset: self.clone(), call: request, skill: None, argv };
        let (id, started) = self.start(job, call.tty, !stays, context).await?;
        let wait = match (call.background, stays) {
            (true, _) => Duration::ZERO,
            (false, true) => wait_time(call.yield_time_ms, Duration::from_secs(1)),
            (false, false) => Duration::MAX,
        };
        started.program.wait_for_end(wait).await;
        let outcome = started.program.outcome().transpose().map_err(ToolError::Background)?;
        let piece = started.program.take(usize::MAX);
        let (output, truncated) = window(&piece.output);
        let mut result = ExecResult {
            status: if outcome.is_some() { ProgramStatus::Exited } else { ProgramStatus::Running },
            output,
            exit_code: None,
            session_id: Some(id.clone()),
            offset: piece.offset,
            next_offset: piece.next_offset,
            truncated: truncated || piece.is_cut,
            total_bytes: piece.total_bytes,
            timed_out: false,
            warnings: Vec::new(),
            hints: Vec::new(),
        };
        if let Some(outcome) = outcome {
            self.session().extension::<Programs>().remove(&id);
            result.session_id = None;
            result.exit_code = Some(outcome.exit_code);
            result.timed_out = outcome.timed_out();
            let prepared = started.prepared.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
            if let Some(prepared) = prepared {
                let finished = prepared.finish(&outcome, context).await?;
                result.warnings = finished.warnings;
                result.hints = finished.hints;
            }
        }
        Ok(result)
    }
}

/// The begin and the end of a long text, and whether it was cut.
fn window(text: &str) -> (String, bool) {
    if text.len() <= OUTPUT_MAX {
        return (text.to_owned(), false);
    }
    let half = OUTPUT_MAX / 2;
    let head = (0..=half).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let tail = (text.len() - half..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    let left_out = tail - head;
    (format!("{}\n[output truncated: {left_out} bytes left out]\n{}", &text[..head], &text[tail..]), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_keeps_its_ends() {
        assert_eq!(window("short"), ("short".into(), false));
        let (text, cut) = window(&format!("begin{}end", "ä".repeat(20_000)));
        assert!(cut && text.starts_with("beginä") && text.ends_with("äend") && text.contains("[output truncated: "));
        assert!(text.len() < OUTPUT_MAX + 100);
    }
}
