//! The commands that are this crate's own: those that need modes, owners, links or processes, which WASI's std does
//! not know, and those that the uutils do not have.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

mod buffer;
mod clock;
mod copier;
mod copy;
mod dd;
mod df;
mod du;
mod dump;
mod environment;
mod extra;
mod fast;
mod listing;
mod ls;
mod make;
mod mode;
mod opts;
mod permissions;
mod run;
mod simple;
mod sort;
mod stat;
mod system;
mod test;
mod text;
mod tool;
mod users;

/// A command: its name (several may share one function) and its arguments; the answer is the exit status.
type Command = fn(&str, Vec<OsString>) -> i32;

/// Every command of this module with its function.
pub const COMMANDS: &[(&str, Command)] = &[
    ("[", test::test),
    ("arch", system::arch),
    ("basename", simple::basename),
    ("cat", simple::cat),
    ("chgrp", permissions::chown),
    ("chmod", permissions::chmod),
    ("chown", permissions::chown),
    ("cp", copy::cp),
    ("cut", fast::short),
    ("date", fast::short),
    ("dd", dd::dd),
    ("df", df::df),
    ("dir", ls::ls),
    ("dirname", simple::dirname),
    ("du", du::du),
    ("echo", simple::echo),
    ("env", environment::env),
    ("false", simple::fails),
    ("flock", extra::flock),
    ("getconf", extra::getconf),
    ("groups", users::groups),
    ("head", fast::short),
    ("hexdump", dump::hexdump),
    ("hostname", system::hostname),
    ("id", users::id),
    ("install", copy::install),
    ("kill", run::kill),
    ("ln", fast::short),
    ("logname", users::whoami),
    ("ls", ls::ls),
    ("mkdir", make::mkdir),
    ("mkfifo", make::mkfifo),
    ("mktemp", make::mktemp),
    ("mv", copy::mv),
    ("nice", run::nice),
    ("nohup", run::nohup),
    ("nproc", system::nproc),
    ("printenv", environment::printenv),
    ("pwd", simple::pwd),
    ("rev", simple::rev),
    ("rm", fast::short),
    ("rmdir", fast::short),
    ("seq", fast::short),
    ("shasum", extra::shasum),
    ("sleep", simple::sleep),
    ("sort", sort::sort),
    ("stat", stat::stat),
    ("stdbuf", run::stdbuf),
    ("sync", system::sync),
    ("tac", simple::tac),
    ("tail", fast::short),
    ("tee", fast::short),
    ("test", test::test),
    ("timeout", run::timeout),
    ("touch", fast::short),
    ("tr", fast::short),
    ("true", simple::works),
    ("tty", system::tty),
    ("uname", system::uname),
    ("uniq", fast::short),
    ("users", users::nobody),
    ("vdir", ls::ls),
    ("wc", fast::short),
    ("which", system::which),
    ("who", users::nobody),
    ("whoami", users::whoami),
    ("wskill-tool", tool::wskill_tool),
    ("xxd", dump::xxd),
];

/// Set when standard output has refused something.
static OUTPUT_FAILED: AtomicBool = AtomicBool::new(false);

/// Writes text to standard output; a failure is told by [`finish`].
fn say(text: std::fmt::Arguments<'_>) {
    if let Err(e) = io::stdout().lock().write_fmt(text) {
        output_failed(&e);
    }
}

/// Writes bytes to standard output; a failure is told by [`finish`].
fn say_bytes(bytes: &[u8]) {
    if let Err(e) = io::stdout().lock().write_all(bytes) {
        output_failed(&e);
    }
}

fn output_failed(error: &io::Error) {
    if !OUTPUT_FAILED.swap(true, Ordering::Relaxed) {
        eprintln!("{}: write error: {}", current_name(), wskill_sys::message(error));
    }
}

fn current_name() -> &'static str {
    NAME.get().copied().unwrap_or_default()
}

static NAME: std::sync::OnceLock<&str> = std::sync::OnceLock::new();

/// Runs one of [`COMMANDS`] and flushes its output; the answer is the exit status.
pub fn run(name: &'static str, args: Vec<OsString>) -> i32 {
    let Some((_, command)) = COMMANDS.iter().find(|command| command.0 == name) else { return 127 };
    let _ = NAME.set(name);
    let status = command(name, args);
    if let Err(e) = io::stdout().lock().flush() {
        output_failed(&e);
    }
    if status == 0 && OUTPUT_FAILED.load(Ordering::Relaxed) { 1 } else { status }
}

/// The names in a directory, without `.` and `..`, in byte order.
fn children(dir: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        names.push(entry?.file_name());
    }
    names.sort_unstable();
    Ok(names)
}

/// Changes the working directory.
fn fs_chdir(dir: &std::ffi::OsStr) -> wskill_sys::Result<()> {
    wskill_sys::fs::chdir(dir)
}

/// Asks on standard error and reads the answer from standard input: yes?
fn ask(question: std::fmt::Arguments<'_>) -> bool {
    let _ = io::stdout().lock().flush();
    let mut err = io::stderr().lock();
    let _ = err.write_fmt(question);
    let _ = err.flush();
    let mut answer = String::new();
    let _ = io::stdin().read_line(&mut answer);
    answer.starts_with(['y', 'Y'])
}
