//! What may run: commands, variables, tools, skills; and who is asked.
//!
//! Everything here is data and functions of data; it starts nothing and knows no sandbox.
//!
//! - [`CommandPolicy`]: which commands may be started. The sandbox asks it where processes start.
//! - [`scrub`], [`pass_through`]: which variables a command gets. [`Secrets`], [`redact`]: what of them may be shown.
//! - [`TrustStore`]: which skills the user trusts, by the digest of their files.
//! - [`AllowedTools`]: what the `allowed-tools` of the loaded skills let a model call.
//! - [`Hooks`]: what an embedder does before and after each call.

mod allowed_tools;
mod commands;
mod environment;
mod hooks;
mod pattern;
mod secrets;
mod trust;

pub use allowed_tools::{AllowedTool, AllowedTools, ToolCall, ToolVerdict};
pub use commands::{CommandEntryError, CommandPolicy, CommandVerdict, Surface};
#[cfg(feature = "cli")]
pub(crate) use environment::drop_reason;
pub use environment::{
    DropReason, DroppedVariable, EnvironmentRule, REDACTED, Scrubbed, is_secret, is_variable_name, pass_through,
    redact, scrub,
};
pub use hooks::{After, Before, HOOK_TIMEOUT, Hook, HookCall, HookError, HookFuture, Hooks};
pub use secrets::Secrets;
pub use trust::{TrustDecision, TrustError, TrustMode, TrustStore, TrustVerdict, TrustedSkill};
