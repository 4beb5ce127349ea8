//! What a session's workspace holds and how calls see it: working directories, inputs, outputs, metadata.
//!
//! This module decides; an [executor](crate::executor) does. Paths in a workspace are relative to it, with `/`.

mod cwd;
mod inputs;
mod metadata;
mod outputs;
mod variables;

pub use cwd::{CwdError, resolve_cwd, strict_cwd};
pub(crate) use inputs::INPUTS;
pub use inputs::{InputError, InputMode, InputRef, InputSource, InputSpec, StagedInput, stage};
pub(crate) use metadata::now_ms;
pub use metadata::{InputRecord, METADATA_FILE, Metadata, OutputRecord, SkillRecord};
pub use outputs::{Collected, CollectedFile, OutputLimits, Patterns, collect, is_text, mime_type};
pub use variables::Variables;
