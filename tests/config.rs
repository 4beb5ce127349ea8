//! `wskill.toml`: reading, merging, and what a project may do.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, missing_docs)]

#[path = "config/command.rs"]
mod command;
#[path = "config/files.rs"]
mod files;
#[path = "config/merge.rs"]
mod merge;
#[path = "config/places.rs"]
mod places;
#[path = "config/read.rs"]
mod read;
