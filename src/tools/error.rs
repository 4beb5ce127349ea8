//! What is wrong with a call.

use crate::audit::AuditError;
use crate::executor::ExecutorError;
use crate::session::SessionError;
use crate::skill::SkillError;

/// Why a call was not carried out. The message is for the model: it names the field and the value, and says what is
/// allowed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// No tool of this name is offered.
    #[error("there is no tool `{name}`; there are {known}")]
    UnknownTool {
        /// What was called.
        name: String,
        /// What there is.
        known: String,
    },
    /// A gate does not let the call pass.
    #[error("{tool}: {reason}")]
    Denied {
        /// What was called.
        tool: String,
        /// Which gate: `hook` or `allowed_tools`.
        gate: &'static str,
        /// Why.
        reason: String,
    },
    /// A function of the host has failed.
    #[error("{name}: {reason}")]
    Function {
        /// Its name.
        name: String,
        /// What it says.
        reason: String,
    },
    /// The log that must be written cannot be.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// An argument is missing, unknown, of the wrong kind, or has a value that is not allowed.
    #[error("{tool}: {field}: {reason}")]
    Argument {
        /// The tool.
        tool: &'static str,
        /// The field, with dots and numbers for what is inside of others: `inputs[0].from`.
        field: String,
        /// What is wrong, with the value and what is allowed.
        reason: String,
    },
    /// The skill must be loaded first.
    #[error("{tool}: the skill `{skill}` is not loaded; call skill_load with it first")]
    NotLoaded {
        /// The tool.
        tool: &'static str,
        /// The skill.
        skill: String,
    },
    /// The skill has no such document, or a file of it cannot be read.
    #[error(transparent)]
    Skill(#[from] SkillError),
    /// The session's state or workspace fails.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A command that was started has failed with its executor.
    #[error(transparent)]
    Background(std::sync::Arc<ExecutorError>),
    /// The workspace or the run fails.
    #[error(transparent)]
    Executor(#[from] ExecutorError),
}

impl ToolError {
    pub(super) fn argument(tool: &'static str, field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Argument { tool, field: field.into(), reason: reason.into() }
    }
}
