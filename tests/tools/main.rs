//! The tools that a model calls, through the public API, with real runs in the sandbox.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

mod acceptance;
mod documents;
mod fields;
mod files;
mod guards;
mod inputs;
mod interactive;
mod outputs;
mod run;
mod sessions;
mod support;
mod use_skill;
