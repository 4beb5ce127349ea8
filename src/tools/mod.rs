//! What a model can call.
//!
//! A [`Toolset`] offers the tools of a [`Profile`] over a [`Session`](crate::session::Session). Each tool has a JSON
//! Schema ([`Toolset::specs`]), is called by name with JSON ([`Toolset::call`]), and is a Rust function of the same
//! name. A command that fails is a result; a call that is wrong is a [`ToolError`] that says what to change.

#[cfg(feature = "agent")]
mod agent;
mod arguments;
mod code;
mod documents;
mod editor;
mod error;
mod files;
mod functions;
mod guard;
mod interactive;
mod list;
mod load;
mod options;
mod output;
mod run;
mod save;
mod search;
mod select;
mod spec;
mod toolset;
mod use_skill;

pub use crate::prompt::Profile;
pub use code::{ExecuteCode, Language};
pub use documents::{ListDocs, SelectDocs, SelectedDocs};
pub use error::ToolError;
pub use files::{EditFile, FileList, FileText, ListFiles, ReadFile, WriteFile, WrittenFile};
pub use functions::{FunctionPool, FunctionSet, HostFunction};
pub use guard::Guards;
pub use interactive::{
    ExecResult, ExecSkill, ExecWorkspace, Interaction, InteractionKind, KillProgram, Killed, PollProgram,
    ProgramResult, ProgramStatus, WriteProgram,
};
pub use list::{ListMode, ListSkills, ListTools};
pub use load::LoadSkill;
pub use options::{Compat, RunDefaults, SkillOptions, ToolOptions, ToolOptionsBuilder};
pub use output::{Manifest, OutputFile};
pub use run::{Input, Outputs, RunResult, RunSkill};
pub use save::{SaveArtifact, SavedFile};
pub use search::SearchSkills;
pub use select::{SelectTools, SelectedTools};
pub use spec::{ToolName, ToolSpec};
pub use toolset::{Answer, Call, Toolset};
pub use use_skill::UseSkill;
