//! GNU-like core utilities for the sandbox: one module, many commands.
//!
//! What is here is written over the kernel's imports, because it needs what WASI has not or because its start is most
//! of its run; the module `uutils` has the rest.

use wskill_sys::multicall;

mod own;

fn main() {
    let names = own::COMMANDS.iter().map(|command| command.0);
    std::process::exit(multicall::start("coreutils", names, own::run));
}
