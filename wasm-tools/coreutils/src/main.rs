//! GNU-like core utilities for the sandbox: one module, many commands.
//!
//! The command is the name the kernel started the module under; without one it is the last part of argv[0], and
//! `coreutils NAME ARGS` works too. What is here is written over the kernel's imports, because it needs what WASI has
//! not or because its start is most of its run; the module `uutils` has the rest.

use std::ffi::OsString;
use std::os::wasi::ffi::OsStrExt;

mod own;

fn main() {
    std::process::exit(start());
}

fn start() -> i32 {
    if let Err(e) = wskill_sys::init() {
        eprintln!("coreutils: this module and its kernel do not fit together: {e}");
        return 125;
    }
    let mut args = std::env::args_os();
    let argv0 = args.next().unwrap_or_default();
    let rest: Vec<OsString> = args.collect();
    let known = wskill_sys::program_name();
    let name = if known.is_empty() { argv0 } else { known };
    let bytes = name.as_bytes();
    let start = bytes.iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
    let name = String::from_utf8_lossy(&bytes[start..]);
    let name = name.strip_suffix(".wasm").unwrap_or(&name);
    if name != "coreutils" {
        return dispatch(name, rest);
    }
    let mut rest = rest.into_iter();
    match rest.next() {
        Some(name) if name == "--list" => {
            for (name, _) in own::COMMANDS {
                println!("{name}");
            }
            0
        }
        Some(name) => dispatch(&name.to_string_lossy(), rest.collect()),
        None => {
            eprintln!("Usage: coreutils COMMAND [ARG]...\n  or:  coreutils --list");
            1
        }
    }
}

fn dispatch(name: &str, args: Vec<OsString>) -> i32 {
    if let Some((name, command)) = own::COMMANDS.iter().find(|c| c.0 == name) {
        return own::run(*command, name, args);
    }
    eprintln!("coreutils: unknown command '{name}'");
    127
}
