//! `wskill-tool`: calls a tool of the host.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::wasi::ffi::OsStrExt;

use wskill_sys::{Errno, fd, tools};

use super::{say, say_bytes};

const NAME: &str = "wskill-tool";
const USAGE: &str = "\
Usage: wskill-tool NAME [JSON | -]
  or:  wskill-tool --list
Calls a tool of the host with a JSON text ({} when there is none; with - it is read from standard input) and prints the
answer. The exit status is 0, 1 when the call failed, 2 for wrong usage.
";

/// `wskill-tool`.
pub fn wskill_tool(_: &str, args: Vec<OsString>) -> i32 {
    let words: Vec<&[u8]> = args.iter().map(|arg| arg.as_bytes()).collect();
    match words.as_slice() {
        [b"--help"] => {
            say(format_args!("{USAGE}"));
            0
        }
        [b"--list"] => match tools::list() {
            Ok(lines) => {
                say_bytes(&lines);
                0
            }
            Err(error) => failed(&error),
        },
        [name] if !name.starts_with(b"-") => call(name, b"{}"),
        [name, b"-"] => {
            let mut json = Vec::new();
            match io::stdin().lock().read_to_end(&mut json) {
                Ok(_) => call(name, &json),
                Err(error) => failed(&error),
            }
        }
        [name, json] => call(name, json),
        _ => {
            eprint!("{USAGE}");
            2
        }
    }
}

fn call(name: &[u8], json: &[u8]) -> i32 {
    match tools::call(name, json) {
        Ok(Ok(answer)) => {
            say_bytes(&answer);
            if !answer.ends_with(b"\n") {
                say_bytes(b"\n");
            }
            0
        }
        Ok(Err(reason)) => {
            let line = [NAME.as_bytes(), b": ", name, b": ", &reason, b"\n"].concat();
            let _ = io::stderr().lock().write_all(&line);
            1
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &io::Error) -> i32 {
    match fd::errno_of(error) {
        Errno::ENOSYS => eprintln!("{NAME}: this sandbox offers no tools of the host"),
        _ => eprintln!("{NAME}: {}", wskill_sys::message(error)),
    }
    1
}
