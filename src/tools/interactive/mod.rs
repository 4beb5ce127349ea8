//! Commands that are started and talked to: `skill_exec` and its companions, `workspace_exec` and its companions.

mod exec;
mod interaction;
mod program;
mod programs;
mod workspace;

pub use exec::{ExecSkill, ProgramResult, ProgramStatus};
pub use interaction::{Interaction, InteractionKind};
pub use programs::{KillProgram, Killed, PollProgram, WriteProgram};
pub use workspace::{ExecResult, ExecWorkspace};
