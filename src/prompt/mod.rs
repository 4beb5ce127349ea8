//! What a model is shown of skills.
//!
//! [`Overview`] is the first layer: names and descriptions, as text, XML or JSON. [`SystemPrompt`] puts the overview,
//! guidance on the tools, and what was loaded into one text, and [`messages`] keeps it in a list of messages. Nothing
//! is read here: what is not passed in, such as scripts, is never shown.

mod clean;
mod guidance;
mod listing;
pub mod messages;
mod overview;
mod system;
mod tokens;
mod workflow;

pub use guidance::Profile;
pub use overview::{Overview, OverviewItem};
pub use system::{LoadedDocument, LoadedSkill, PromptOptions, SystemPrompt};
pub use tokens::estimate_tokens;
pub use workflow::{WORKFLOW, WorkflowTools, workflow};
