//! The kernel, through the public interface: every guest-visible behaviour has a program in `wasm-tools/tests` (which
//! is committed as a compressed module, so that no WebAssembly toolchain is needed here) and a test of its own; what
//! Rust cannot express is in `tests/guests`, as text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "kernel/calls.rs"]
mod calls;
#[path = "kernel/foreign.rs"]
mod foreign;
#[path = "kernel/freshness.rs"]
mod freshness;
#[path = "kernel/limits.rs"]
mod limits;
#[path = "kernel/modules.rs"]
mod modules;
#[path = "kernel/programs.rs"]
mod programs;
#[path = "kernel/runs.rs"]
mod runs;
#[path = "kernel/streams.rs"]
mod streams;
#[path = "kernel/support.rs"]
mod support;
#[path = "kernel/traps.rs"]
mod traps;
