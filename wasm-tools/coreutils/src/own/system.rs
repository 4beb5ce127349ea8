//! What the machine is: `arch`, `uname`, `hostname`, `nproc`, `tty`, `sync`; and `which`.

use std::ffi::{OsStr, OsString};
use std::os::wasi::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use wskill_sys::fs;

use super::opts::{Spec, Takes};
use super::text::{in_message, quote};
use super::{say, say_bytes};

/// What scripts that ask for a Linux machine get to hear. The kernel's own version is not Linux's.
const RELEASE: &str = "6.1.0-wskill";
const MACHINE: &str = "x86_64";

fn node_name() -> String {
    let name = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "wskill".to_owned() } else { name.to_owned() }
}

const UNAME: Spec = Spec {
    name: "uname",
    usage: "uname [OPTION]...",
    short: "asnrvmpio",
    long: &[
        ("all", Takes::No, 'a'),
        ("kernel-name", Takes::No, 's'),
        ("nodename", Takes::No, 'n'),
        ("kernel-release", Takes::No, 'r'),
        ("kernel-version", Takes::No, 'v'),
        ("machine", Takes::No, 'm'),
        ("processor", Takes::No, 'p'),
        ("hardware-platform", Takes::No, 'i'),
        ("operating-system", Takes::No, 'o'),
    ],
    failure: 1,
};

/// `uname`.
pub fn uname(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match UNAME.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    if let Some(extra) = parsed.operands.first() {
        return UNAME.extra_operand(extra);
    }
    let asked = |c: char| parsed.options.iter().any(|(o, _)| *o == c);
    let all = asked('a');
    let mut words: Vec<String> = Vec::new();
    let node = node_name();
    let parts = [
        ('s', "Linux"),
        ('n', node.as_str()),
        ('r', RELEASE),
        ('v', concat!("#1 wskill ", env!("CARGO_PKG_VERSION"))),
        ('m', MACHINE),
        ('p', "unknown"),
        ('i', "unknown"),
        ('o', "GNU/Linux"),
    ];
    for (letter, word) in parts {
        let unknown = matches!(letter, 'p' | 'i');
        if asked(letter) || (all && !unknown) || (parsed.options.is_empty() && letter == 's') {
            words.push(word.to_owned());
        }
    }
    say(format_args!("{}\n", words.join(" ")));
    0
}

const ARCH: Spec = Spec { name: "arch", usage: "arch [OPTION]...", short: "", long: &[], failure: 1 };

/// `arch`.
pub fn arch(_: &str, args: Vec<OsString>) -> i32 {
    match ARCH.parse(args) {
        Ok(parsed) if parsed.operands.is_empty() => {
            say(format_args!("{MACHINE}\n"));
            0
        }
        Ok(parsed) => ARCH.extra_operand(&parsed.operands[0]),
        Err(status) => status,
    }
}

const HOSTNAME: Spec = Spec {
    name: "hostname",
    usage: "hostname [-s|-f|-d|-i|-I]",
    short: "sfdiIa",
    long: &[
        ("short", Takes::No, 's'),
        ("fqdn", Takes::No, 'f'),
        ("long", Takes::No, 'f'),
        ("domain", Takes::No, 'd'),
        ("ip-address", Takes::No, 'i'),
        ("all-ip-addresses", Takes::No, 'I'),
    ],
    failure: 1,
};

/// `hostname`.
pub fn hostname(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match HOSTNAME.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    if !parsed.operands.is_empty() {
        eprintln!("hostname: you must be root to change the host name");
        return 1;
    }
    let name = node_name();
    match parsed.options.last().map(|(o, _)| *o) {
        Some('s') => say(format_args!("{}\n", name.split('.').next().unwrap_or_default())),
        Some('d') => say(format_args!("{}\n", name.split_once('.').map_or("", |(_, domain)| domain))),
        Some('i' | 'I') => say(format_args!("127.0.0.1\n")),
        _ => say(format_args!("{name}\n")),
    }
    0
}

const NPROC: Spec = Spec {
    name: "nproc",
    usage: "nproc [OPTION]...",
    short: "",
    long: &[("all", Takes::No, 'a'), ("ignore", Takes::Arg, 'i')],
    failure: 1,
};

/// `nproc`: one; a guest has one thread.
pub fn nproc(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match NPROC.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    if let Some(extra) = parsed.operands.first() {
        return NPROC.extra_operand(extra);
    }
    for (option, value) in &parsed.options {
        if *option == 'i' && value.to_string_lossy().parse::<u64>().is_err() {
            eprintln!("nproc: invalid number to ignore: {}", quote(value));
            return 1;
        }
    }
    say(format_args!("1\n"));
    0
}

const TTY: Spec = Spec {
    name: "tty",
    usage: "tty [OPTION]...",
    short: "s",
    long: &[("silent", Takes::No, 's'), ("quiet", Takes::No, 's')],
    failure: 2,
};

/// `tty`.
pub fn tty(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match TTY.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    if let Some(extra) = parsed.operands.first() {
        return TTY.extra_operand(extra);
    }
    let is_tty = wskill_sys::fd::isatty(0);
    if parsed.options.is_empty() {
        say(format_args!("{}\n", if is_tty { "/dev/tty" } else { "not a tty" }));
    }
    i32::from(!is_tty)
}

const SYNC: Spec = Spec {
    name: "sync",
    usage: "sync [OPTION] [FILE]...",
    short: "df",
    long: &[("data", Takes::No, 'd'), ("file-system", Takes::No, 'f')],
    failure: 1,
};

/// `sync`: files named are written out; without names there is nothing that is not.
pub fn sync(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match SYNC.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let mut status = 0;
    for operand in &parsed.operands {
        let done = std::fs::File::open(operand)
            .map_err(|e| format!("error opening {}: {}", quote(operand), wskill_sys::message(&e)))
            .and_then(|file| {
                file.sync_all().map_err(|e| format!("error syncing {}: {}", quote(operand), wskill_sys::message(&e)))
            });
        if let Err(message) = done {
            eprintln!("sync: {message}");
            status = 1;
        }
    }
    status
}

const WHICH: Spec = Spec { name: "which", usage: "which [-a] NAME...", short: "as", long: &[], failure: 2 };

/// `which`.
pub fn which(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match WHICH.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let all = parsed.options.iter().any(|(o, _)| *o == 'a');
    let silent = parsed.options.iter().any(|(o, _)| *o == 's');
    let mut status = i32::from(parsed.operands.is_empty());
    for operand in &parsed.operands {
        let found = find(operand, all);
        if found.is_empty() {
            status = 1;
        }
        for path in found.into_iter().filter(|_| !silent) {
            let mut line = path.into_os_string().as_bytes().to_vec();
            line.push(b'\n');
            say_bytes(&line);
        }
    }
    status
}

fn runnable(path: &Path) -> bool {
    fs::stat(path).is_ok_and(|st| st.is_file()) && fs::access(path, fs::X_OK).is_ok()
}

fn find(name: &OsStr, all: bool) -> Vec<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        let path = PathBuf::from(name);
        return if runnable(&path) { vec![path] } else { Vec::new() };
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut found = Vec::new();
    for dir in paths.as_bytes().split(|&b| b == b':') {
        let dir = if dir.is_empty() { Path::new(".") } else { Path::new(OsStr::from_bytes(dir)) };
        let path = dir.join(name);
        if runnable(&path) {
            found.push(path);
            if !all {
                break;
            }
        }
    }
    found
}

/// "name: reason" on standard error.
pub fn complain(program: &str, name: &OsStr, error: &std::io::Error) {
    eprintln!("{program}: {}: {}", in_message(name), wskill_sys::message(error));
}
