//! The sandbox's shell: GNU bash's language and behaviour for WebAssembly, where there is no fork.
//!
//! `parse` reads commands into trees (`ast`), `expand` turns words into fields, `exec` runs the trees, `builtins` are
//! the commands inside. `state` is what a subshell gets a copy of; `os` alone talks to the kernel.

// The language itself knows no kernel: its tests run where it is built.
#![cfg_attr(
    not(target_family = "wasm"),
    allow(dead_code, unused_imports, reason = "only the tests use it there")
)]

mod arith;
mod ast;
#[cfg(target_family = "wasm")]
mod builtins;
mod bytes;
#[cfg(target_family = "wasm")]
mod exec;
#[cfg(target_family = "wasm")]
mod expand;
#[cfg(target_family = "wasm")]
mod input;
#[cfg(target_family = "wasm")]
mod interactive;
#[cfg(target_family = "wasm")]
mod invocation;
#[cfg(target_family = "wasm")]
mod os;
mod outline;
mod parse;
mod pattern;
mod print;
mod quote;
mod regex;
#[cfg(target_family = "wasm")]
mod shell;
mod stack;
#[cfg(target_family = "wasm")]
mod startup;
#[cfg(target_family = "wasm")]
mod state;

/// Words, values and trees are small pieces that come and go.
#[cfg(target_family = "wasm")]
#[global_allocator]
static PIECES: wskill_sys::alloc::SmallPieces = wskill_sys::alloc::SmallPieces::new();

#[cfg(target_family = "wasm")]
fn main() {
    os::init();
    let status = invocation::run(os::args());
    os::exit(status);
}

#[cfg(not(target_family = "wasm"))]
fn main() {
    eprintln!("the shell runs in the sandbox only: build it for wasm32-wasip1");
}
