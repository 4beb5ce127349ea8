//! What a skill would do, told without running it: the commands its scripts call, the Python modules they import, the
//! files and hosts they name, and which of it the sandbox has.
//!
//! Nothing of a skill is parsed natively. Shell scripts are read by the sandbox's own shell, Python and `.wasm` files by
//! the sandbox's own Python (`outline.py`), both as WebAssembly processes under limits. What only running would tell is
//! said to be unknown.
//!
//! ```
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let skill = wskill::skill::Skill::open("skills/python-math".as_ref())?;
//! let runtime = wskill::Runtime::builder().build()?;
//! let report = wskill::inspect::inspect(&skill, &runtime).await?;
//! assert!(report.modules.iter().any(|module| module.name == "argparse" && module.available == Some(true)));
//! assert!(report.hosts.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod commands;
mod facts;
mod outline;
mod programs;
mod report;
mod scripts;
mod text;

use std::sync::Arc;

pub use report::{PermissionReport, Place, Use};

use crate::skill::Skill;
use crate::{BuildError, Runtime};

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The sandbox cannot be made.
    #[error(transparent)]
    Sandbox(#[from] BuildError),
    /// The sandbox's shell or Python failed, with what it said.
    #[error("the sandbox cannot read the scripts: {0}")]
    Reader(String),
}

/// Inspects a skill.
///
/// # Errors
/// When the sandbox cannot be made, or its shell or Python does not answer.
pub async fn inspect(skill: &Skill, runtime: &Arc<Runtime>) -> Result<PermissionReport, InspectError> {
    let (scripts, left_out) = scripts::find(skill);
    let facts = outline::read(skill, &scripts, runtime).await?;
    Ok(report::assemble(&scripts, &left_out, &facts, &format!("{}/", skill.sandbox_path())))
}
