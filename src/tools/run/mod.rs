//! `skill_run`, and how all tools run a command.

mod deliver;
mod environment;
mod job;
mod outputs;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments::{number, texts};
use super::output::{Manifest, OutputFile};
use super::{Call, ToolError, ToolName, Toolset};
use crate::artifact::SavedArtifact;
use crate::workspace::StagedInput;
pub(super) use job::{Job, Prepared};

/// Arguments of `skill_run`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunSkill {
    /// The skill's name.
    pub skill: String,
    /// A command line for bash.
    pub command: String,
    /// The working directory: relative to the skill's folder, or below /skills, /work, /out or /runs. Default: the
    /// skill's folder.
    #[serde(default)]
    pub cwd: String,
    /// Environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Standard input.
    #[serde(default)]
    pub stdin: String,
    /// What $EDITOR is to write into the file that it is called with, for commands that want an editor.
    #[serde(default)]
    pub editor_text: String,
    /// Patterns of files to return, such as `out/*.csv` or `$WORK_DIR/**`. Default: the new files in out/.
    #[serde(default, deserialize_with = "texts")]
    pub output_files: Vec<String>,
    /// Seconds after which the command is stopped. Default: 300.
    #[serde(default, deserialize_with = "number")]
    pub timeout: Option<f64>,
    /// Save the returned files as artifacts too. Default: false.
    #[serde(default)]
    pub save_as_artifacts: Option<bool>,
    /// Return no content of files, only names and sizes. Default: false.
    #[serde(default)]
    pub omit_inline_content: Option<bool>,
    /// What the names of the artifacts begin with.
    #[serde(default)]
    pub artifact_prefix: Option<String>,
    /// Files to bring into the workspace before the command runs.
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// Which files to return, with limits; instead of output_files.
    #[serde(default)]
    pub outputs: Option<Outputs>,
}

/// A file to bring into the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// `artifact://NAME[@VERSION]`, `workspace://PATH`, `skill://NAME/PATH` or `host:///PATH`.
    pub from: String,
    /// Its place in the workspace. Default: work/inputs/ and its name.
    #[serde(default)]
    pub to: Option<String>,
    /// `copy`, or `link` for a read-only view of what is on the host. Default: copy.
    #[serde(default)]
    pub mode: Mode,
    /// Take the version of an artifact that was taken the first time. Default: false.
    #[serde(default)]
    pub pin: bool,
}

/// How a file is brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// As a copy.
    #[default]
    Copy,
    /// As a read-only view.
    Link,
}

/// Which files are returned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outputs {
    /// Patterns of files, such as `out/**` or `$OUTPUT_DIR/*.csv`.
    #[serde(default, deserialize_with = "texts")]
    pub globs: Vec<String>,
    /// Return the content of text files. Default: false.
    #[serde(default)]
    pub inline: bool,
    /// Return the content of images too, in base64. Default: false.
    #[serde(default)]
    pub images: bool,
    /// Save the files as artifacts. Default: false.
    #[serde(default)]
    pub save: bool,
    /// What the names of the artifacts begin with.
    #[serde(default)]
    pub name_template: String,
    /// The most files. Default: 100.
    #[serde(default)]
    pub max_files: Option<usize>,
    /// The most bytes of one file. Default: 4194304.
    #[serde(default)]
    pub max_file_bytes: Option<usize>,
    /// The most bytes of all files. Default: 67108864.
    #[serde(default)]
    pub max_total_bytes: Option<usize>,
}

/// What a run led to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunResult {
    /// The inputs, as they are in the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub staged_inputs: Vec<StagedInput>,
    /// The files that were collected.
    pub output_files: Vec<OutputFile>,
    /// The first of them that is a text of at most 32 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_output: Option<OutputFile>,
    /// Standard output, at most 16 KiB of it.
    pub stdout: String,
    /// Standard error, at most 16 KiB of it.
    pub stderr: String,
    /// The command's exit status.
    pub exit_code: u8,
    /// Whether the time was over.
    pub timed_out: bool,
    /// Real time in milliseconds.
    pub duration_ms: u64,
    /// The limit that ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<&'static str>,
    /// The limits that refused something, with how often.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub limits_hit: BTreeMap<&'static str, u64>,
    /// The artifacts that were saved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifact_files: Vec<SavedArtifact>,
    /// What `outputs` led to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Manifest>,
    /// What did not go as asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What to do about a failure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

impl Toolset {
    /// Runs a bash command line with a skill, and collects what it leaves.
    ///
    /// # Errors
    /// When the call is wrong or the workspace fails. A command that fails is a result.
    pub async fn skill_run(&self, call: RunSkill, context: &mut Call) -> Result<RunResult, ToolError> {
        self.skill_job(ToolName::SkillRun.as_str(), call)?.run(context).await
    }

    /// A bash command line with a skill.
    pub(super) fn skill_job(&self, tool: &'static str, call: RunSkill) -> Result<Job, ToolError> {
        let session = self.session();
        let skill = session.open_skill(&call.skill)?;
        if call.command.trim().is_empty() {
            return Err(ToolError::argument(tool, "command", "must not be empty"));
        }
        if self.options().require_skill_loaded && !session.is_loaded(skill.name()) {
            return Err(ToolError::NotLoaded { tool, skill: skill.name().to_owned() });
        }
        let argv = ["bash", "-c", &call.command].map(str::to_owned).to_vec();
        Ok(Job { tool, toolset: self.clone(), call, skill: Some(skill), argv })
    }
}
