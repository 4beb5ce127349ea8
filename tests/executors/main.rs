//! What all executors have in common, and what each has of its own.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

#[path = "../common/mod.rs"]
mod common;
mod container;
mod local;
mod remote;
#[path = "../../examples/remote_executor.rs"]
mod remote_executor;
mod sandbox;
mod support;
