//! The sandbox's shell: GNU bash's language and behaviour for WebAssembly, where there is no fork.
//!
//! `parse` reads commands into trees (`ast`), `expand` turns words into fields, `exec` runs the trees, `builtins` are
//! the commands inside. `state` is what a subshell gets a copy of; `os` alone talks to the kernel.

mod arith;
mod ast;
mod builtins;
mod exec;
mod expand;
mod input;
mod invocation;
mod os;
mod parse;
mod pattern;
mod print;
mod regex;
mod shell;
mod state;

fn main() {
    os::init();
    let status = invocation::run(os::args());
    os::exit(status);
}
