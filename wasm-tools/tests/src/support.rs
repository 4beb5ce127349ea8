//! What all programs share: how they fail, and how they start children.

use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::panic::Location;
use std::time::{Duration, Instant};

use wskill_sys::process::{self, Spawn, Status};
use wskill_sys::{Errno, fd};

/// The command under which this module is installed.
pub const COMMAND: &str = "guest-tests";

/// A named check.
pub struct Program {
    /// What `guest-tests NAME` calls it.
    pub name: &'static str,
    /// Does it.
    pub run: fn() -> Done,
}

/// Lists functions as programs of their names.
macro_rules! programs {
    ($($function:ident),* $(,)?) => {
        /// This theme's programs.
        pub const PROGRAMS: &[$crate::support::Program] =
            &[$($crate::support::Program { name: stringify!($function), run: $function }),*];
    };
}
pub(crate) use programs;

/// Why a program failed, and where.
pub struct Failure {
    text: String,
    line: u32,
}

/// A program's result.
pub type Done = Result<(), Failure>;

impl Failure {
    #[track_caller]
    #[inline(never)]
    pub fn fixed(text: &'static str) -> Self {
        Self::new(text)
    }

    #[track_caller]
    #[inline(never)]
    pub fn unequal(what: &'static str, found: &dyn fmt::Debug, expected: &dyn fmt::Debug) -> Self {
        Self::new(format!("{what} is {found:?} and not {expected:?}"))
    }

    #[track_caller]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), line: Location::caller().line() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}

impl From<Errno> for Failure {
    #[track_caller]
    #[inline(never)]
    fn from(errno: Errno) -> Self {
        Self::new(format!("{errno:?}"))
    }
}

impl From<io::Error> for Failure {
    #[track_caller]
    #[inline(never)]
    fn from(error: io::Error) -> Self {
        Self::new(error.to_string())
    }
}

/// Fails unless the condition holds.
macro_rules! check {
    ($condition:expr) => {
        if !$condition {
            return Err($crate::support::Failure::fixed(concat!("not so: ", stringify!($condition))));
        }
    };
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err($crate::support::Failure::new(format!($($text)+)));
        }
    };
}
pub(crate) use check;

/// Fails unless both are equal.
macro_rules! same {
    ($found:expr, $expected:expr $(,)?) => {
        match (&$found, &$expected) {
            (found, expected) => {
                if *found != *expected {
                    return Err($crate::support::Failure::unequal(stringify!($found), &found, &expected));
                }
            }
        }
    };
}
pub(crate) use same;

/// Fails unless the call is refused with this error, or one of these.
macro_rules! refused {
    ($call:expr, $($errno:ident)|+ $(,)?) => {
        $crate::support::expect_refusal(
            $crate::support::AsErrno::errno($call),
            &[$(wskill_sys::Errno::$errno),+],
            stringify!($call),
        )?
    };
}
pub(crate) use refused;

/// Fails unless the error is one of those.
#[track_caller]
#[inline(never)]
pub fn expect_refusal(errno: Option<Errno>, wanted: &[Errno], call: &'static str) -> Done {
    match errno {
        Some(errno) if wanted.contains(&errno) => Ok(()),
        Some(errno) => Err(Failure::new(format!("{call} is refused with {errno:?} and not {wanted:?}"))),
        None => Err(Failure::new(format!("{call} succeeds and is not refused with {wanted:?}"))),
    }
}

/// Answers whose error can be compared.
pub trait AsErrno {
    /// The error, if it is one.
    fn errno(self) -> Option<Errno>;
}

impl<T> AsErrno for Result<T, Errno> {
    fn errno(self) -> Option<Errno> {
        self.err()
    }
}

impl<T> AsErrno for io::Result<T> {
    fn errno(self) -> Option<Errno> {
        self.err().map(|error| fd::errno_of(&error))
    }
}

/// A raw call's answer.
impl AsErrno for i32 {
    fn errno(self) -> Option<Errno> {
        (self != 0).then_some(Errno(self))
    }
}

/// Turns a raw call's answer into a result.
pub fn raw(answer: i32) -> Result<(), Errno> {
    if answer == 0 { Ok(()) } else { Err(Errno(answer)) }
}

/// A child that plays a role; the words after the first are its arguments.
pub fn role(words: &[&str]) -> Spawn {
    let mut spawn = Spawn::command(COMMAND);
    spawn.arg(COMMAND).arg("--role").args(words);
    spawn
}

/// Waits for a child, however often a signal interrupts.
pub fn reap(pid: i32) -> Result<Status, Errno> {
    loop {
        match process::wait(pid) {
            Err(Errno::EINTR) => {}
            answer => return answer.map(|waited| waited.status),
        }
    }
}

/// Starts a role and waits for its end.
pub fn play(words: &[&str]) -> Result<Status, Errno> {
    reap(role(words).spawn()?)
}

/// A pipe whose ends no child inherits unless they are mapped.
pub fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    fd::pipe(fd::CLOEXEC)
}

/// Starts a role with its standard output in a pipe.
pub fn piped(words: &[&str]) -> Result<(i32, OwnedFd), Errno> {
    let (read, write) = pipe()?;
    let pid = role(words).fd(1, write.as_raw_fd()).spawn()?;
    Ok((pid, read))
}

/// Reads to the end.
pub fn read_all(from: RawFd) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match fd::read(from, &mut buffer) {
            Ok(0) => return Ok(all),
            Ok(count) => all.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Runs a role and gives its output and end.
pub fn output(words: &[&str]) -> Result<(String, Status), Failure> {
    let (pid, read) = piped(words)?;
    let text = read_all(read.as_raw_fd())?;
    Ok((String::from_utf8_lossy(&text).into_owned(), reap(pid)?))
}

/// Reads exactly one line, byte by byte, as from a child that says it is ready.
pub fn read_line(from: RawFd) -> io::Result<String> {
    let mut line = String::new();
    let mut byte = [0];
    while fd::read(from, &mut byte)? == 1 && byte[0] != b'\n' {
        line.push(byte[0].into());
    }
    Ok(line)
}

/// Asks again and again, for ten seconds at most, until the condition holds.
pub fn eventually(mut condition: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(10) {
        if condition() {
            return true;
        }
        // A signal that comes in between changes nothing here.
        let _ = fd::sleep(Duration::from_millis(1));
    }
    false
}

/// Waits a moment, for something that ought not to happen in it.
pub fn moment() {
    let _ = fd::sleep(Duration::from_millis(20));
}
