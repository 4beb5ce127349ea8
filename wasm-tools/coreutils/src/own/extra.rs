//! What scripts expect beside the core utilities: `flock`, `getconf`, `shasum`.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsRawFd;
use std::os::wasi::ffi::OsStrExt;
use std::time::{Duration, Instant};

use wskill_sys::command::Command;
use wskill_sys::fd::{self, Lock};
use wskill_sys::process::Spawn;
use wskill_sys::{Errno, fs};

use super::opts::{Spec, Takes};
use super::{run, say};

const FLOCK: Spec = Spec {
    name: "flock",
    usage: "flock [options] <file>|<directory> <command> [<argument>...]\n  or:  flock [options] <file descriptor number>",
    short: "+sxenw:uoc:E:F",
    long: &[
        ("shared", Takes::No, 's'),
        ("exclusive", Takes::No, 'x'),
        ("unlock", Takes::No, 'u'),
        ("nonblock", Takes::No, 'n'),
        ("nb", Takes::No, 'n'),
        ("timeout", Takes::Arg, 'w'),
        ("wait", Takes::Arg, 'w'),
        ("conflict-exit-code", Takes::Arg, 'E'),
        ("close", Takes::No, 'o'),
        ("command", Takes::Arg, 'c'),
        ("no-fork", Takes::No, 'F'),
    ],
    failure: 64,
};

/// `flock`.
pub fn flock(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match FLOCK.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let (mut lock, mut wait, mut limit, mut conflict, mut command) = (Lock::Exclusive, true, None, 1, None);
    for (option, value) in parsed.options {
        match option {
            's' => lock = Lock::Shared,
            'x' | 'e' => lock = Lock::Exclusive,
            'u' => lock = Lock::Unlock,
            'n' => wait = false,
            'w' => match run::duration(&value.to_string_lossy()) {
                Some(time) => limit = Some(time),
                None => {
                    eprintln!("flock: invalid timeout value: '{}'", value.to_string_lossy());
                    return 64;
                }
            },
            'E' => conflict = value.to_string_lossy().parse().unwrap_or(1),
            'c' => command = Some(value),
            _ => {}
        }
    }
    let mut operands = parsed.operands.into_iter();
    let Some(target) = operands.next() else { return FLOCK.missing_operand() };
    let mut words: Vec<OsString> = operands.collect();
    if words.first().is_some_and(|w| w == "-c") && words.len() == 2 {
        command = words.pop();
        words.clear();
    }
    if let Some(line) = command {
        words = vec!["sh".into(), "-c".into(), line];
    }
    let opened;
    let number = if words.is_empty() {
        match target.to_string_lossy().parse() {
            Ok(number) => number,
            Err(_) => {
                eprintln!("flock: bad file descriptor: '{}'", target.to_string_lossy());
                return 64;
            }
        }
    } else {
        let file = fs::open(&target, fs::O_RDONLY | fs::O_CREAT, 0o666).or_else(|e| {
            if e == Errno::EISDIR { fs::open(&target, fs::O_RDONLY | fs::O_DIRECTORY, 0) } else { Err(e) }
        });
        match file {
            Ok(file) => opened = file,
            Err(e) => {
                eprintln!("flock: cannot open lock file {}: {e}", target.to_string_lossy());
                return 66;
            }
        }
        opened.as_raw_fd()
    };
    let deadline = limit.map(|time| Instant::now() + time);
    loop {
        match fd::flock(number, lock, wait && limit.is_none()) {
            Ok(()) => break,
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) if deadline.is_some_and(|at| Instant::now() < at) => {
                let _ = fd::sleep(Duration::from_millis(5));
            }
            Err(Errno::EAGAIN) => return conflict,
            Err(e) => {
                eprintln!("flock: {}: {e}", target.to_string_lossy());
                return 65;
            }
        }
    }
    let Some((program, rest)) = words.split_first() else { return 0 };
    match Command::new(program).args(rest).status() {
        Ok(status) => status.shell_code(),
        Err(e) => {
            eprintln!("flock: failed to execute {}: {}", program.to_string_lossy(), wskill_sys::message(&e));
            69
        }
    }
}

/// `getconf`: the values that scripts ask for.
pub fn getconf(_: &str, args: Vec<OsString>) -> i32 {
    let Some(name) = args.first().map(|n| n.to_string_lossy().into_owned()) else {
        eprintln!("Usage: getconf variable_name [pathname]");
        return 2;
    };
    let value = match name.as_str() {
        "PAGE_SIZE" | "PAGESIZE" => "4096",
        "LONG_BIT" => "64",
        "WORD_BIT" | "INT_BIT" => "32",
        "CHAR_BIT" => "8",
        "ARG_MAX" => "2097152",
        "PATH_MAX" | "_POSIX_PATH_MAX" => "4096",
        "NAME_MAX" => "255",
        "OPEN_MAX" => "256",
        "PIPE_BUF" => "4096",
        "INT_MAX" => "2147483647",
        "INT_MIN" => "-2147483648",
        "UINT_MAX" => "4294967295",
        "LONG_MAX" => "9223372036854775807",
        "CLK_TCK" => "100",
        "_NPROCESSORS_ONLN" | "_NPROCESSORS_CONF" | "NPROCESSORS_ONLN" => "1",
        "PATH" | "CS_PATH" => "/bin:/usr/bin",
        _ => {
            eprintln!("getconf: Unrecognized variable `{name}'");
            return 2;
        }
    };
    say(format_args!("{value}\n"));
    0
}

/// `shasum`: Perl's name for the sha sums; `-a` picks one, all else goes on to it.
pub fn shasum(_: &str, args: Vec<OsString>) -> i32 {
    let mut algorithm = OsString::from("1");
    let mut rest = Vec::new();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        match arg.as_bytes() {
            b"-a" | b"--algorithm" => algorithm = args.next().unwrap_or_default(),
            text if text.starts_with(b"-a") => algorithm = OsStr::from_bytes(&text[2..]).to_owned(),
            _ => rest.push(arg),
        }
    }
    let name = match algorithm.as_bytes() {
        b"1" => "sha1sum",
        b"224" => "sha224sum",
        b"256" => "sha256sum",
        b"384" => "sha384sum",
        b"512" => "sha512sum",
        _ => {
            eprintln!("shasum: Unrecognized algorithm");
            return 1;
        }
    };
    let errno = Spawn::command(name).arg(name).args(rest).exec();
    eprintln!("shasum: {name}: {errno}");
    126
}
