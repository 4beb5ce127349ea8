//! `execute_code`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use tracing::Instrument as _;

use super::arguments::{number, texts};
use super::run::Job;
use super::{Call, RunResult, RunSkill, ToolError, ToolName, Toolset};

/// The most bytes of code.
const CODE_MAX: usize = 1 << 20;

/// A language that code is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Python 3.
    #[default]
    Python,
    /// bash.
    Bash,
}

/// Arguments of `execute_code`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecuteCode {
    /// The code.
    pub code: String,
    /// `python` or `bash`. Default: python.
    #[serde(default)]
    pub language: Language,
    /// Standard input.
    #[serde(default)]
    pub stdin: String,
    /// Environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Patterns of files to return. Default: the new files in out/.
    #[serde(default, deserialize_with = "texts")]
    pub output_files: Vec<String>,
    /// Seconds after which the code is stopped. Default: 300.
    #[serde(default, deserialize_with = "number")]
    pub timeout: Option<f64>,
}

impl Toolset {
    /// Runs code in the session's workspace, without a skill. The working directory is `work/`.
    ///
    /// # Errors
    /// When the call is wrong or the workspace fails. Code that fails is a result.
    pub async fn execute_code(&self, call: ExecuteCode, context: &mut Call) -> Result<RunResult, ToolError> {
        let tool = ToolName::ExecuteCode.as_str();
        if call.code.trim().is_empty() {
            return Err(ToolError::argument(tool, "code", "must not be empty"));
        }
        if call.code.len() > CODE_MAX {
            let reason = format!("has {} bytes, and {CODE_MAX} are allowed", call.code.len());
            return Err(ToolError::argument(tool, "code", reason));
        }
        let workspace = self.session().workspace().await?;
        let folder = self.session().new_run(&*workspace).await?;
        let (interpreter, file) = match call.language {
            Language::Python => ("python3", format!("{folder}/code.py")),
            Language::Bash => ("bash", format!("{folder}/code.sh")),
        };
        let span = tracing::info_span!("workspace.inline", exec_id = self.session().key().session(), path = file);
        workspace.write(&file, call.code.as_bytes(), 0o644).instrument(span).await?;
        let argv = vec![interpreter.to_owned(), format!("{}/{file}", workspace.root())];
        let request = RunSkill {
            stdin: call.stdin,
            env: call.env,
            output_files: call.output_files,
            timeout: call.timeout,
            ..RunSkill::default()
        };
        Job { tool, toolset: self.clone(), call: request, skill: None, argv }.run(context).await
    }
}
