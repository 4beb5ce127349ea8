//! The command line, as its users meet it: what it prints, its exit statuses, and what it leaves behind.
//!
//! What it prints is compared with the snapshots in `snapshots/`; `INSTA_UPDATE=always cargo test --test cli` writes
//! them anew, to be read before they are committed.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "agent")]
#[path = "../agent/server.rs"]
#[allow(dead_code, reason = "the agent's tests use all of it")]
mod server;

mod cache;
mod component;
mod crash;
mod errors;
#[cfg(target_os = "linux")]
mod executors;
mod help;
mod hints;
mod module;
mod report;
mod session;
#[cfg(unix)]
mod signals;
mod skills;
mod streams;
mod tools;
mod trace;
mod workspace;
