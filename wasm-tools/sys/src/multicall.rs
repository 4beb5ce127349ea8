//! Modules with many commands: which one was called, and with what.

use std::ffi::{OsStr, OsString};
use std::os::wasi::ffi::OsStrExt;

/// Starts a multi-call module: readies the process and calls `run` with the command's name and its arguments.
///
/// The command is the name the kernel started the module under; without one it is the last part of argv[0], and
/// `MODULE NAME ARG...` works too. `names` are all there are, for `MODULE --list`; `run` is asked for one of them only.
/// The answer is the exit status: 127 for an unknown command, 125 when the kernel does not fit.
pub fn start<'a>(
    module: &str,
    names: impl Iterator<Item = &'a str> + Clone,
    run: impl FnOnce(&'a str, Vec<OsString>) -> i32,
) -> i32 {
    if let Err(error) = crate::init() {
        eprintln!("{module}: this module and its kernel do not fit together: {error}");
        return 125;
    }
    let mut args = std::env::args_os();
    let argv0 = args.next().unwrap_or_default();
    let started_as = crate::program_name();
    let mut name = base_name(if started_as.is_empty() { &argv0 } else { &started_as }).to_os_string();
    if name == module {
        match args.next() {
            Some(option) if option == "--list" => {
                names.for_each(|name| println!("{name}"));
                return 0;
            }
            Some(command) => name = command,
            None => {
                eprintln!("Usage: {module} COMMAND [ARG]...\n  or:  {module} --list");
                return 1;
            }
        }
    }
    match names.clone().find(|known| name == **known) {
        Some(name) => run(name, args.collect()),
        None => {
            eprintln!("{module}: unknown command '{}'", name.to_string_lossy());
            127
        }
    }
}

/// The last part of a path, without `.wasm`.
fn base_name(path: &OsStr) -> &OsStr {
    let bytes = path.as_bytes();
    let start = bytes.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
    let name = &bytes[start..];
    OsStr::from_bytes(name.strip_suffix(b".wasm").unwrap_or(name))
}
