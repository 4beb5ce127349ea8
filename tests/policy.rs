//! Commands, variables, trust, allowed tools, hooks and the audit log.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, missing_docs)]

#[path = "policy/allowed_tools.rs"]
mod allowed_tools;
#[path = "policy/audit.rs"]
mod audit;
#[path = "policy/commands.rs"]
mod commands;
#[path = "policy/environment.rs"]
mod environment;
#[path = "policy/hooks.rs"]
mod hooks;
#[path = "policy/trust.rs"]
mod trust;
