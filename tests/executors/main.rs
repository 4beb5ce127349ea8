#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

mod local;
mod sandbox;
mod support;
