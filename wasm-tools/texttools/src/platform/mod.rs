//! What the tools need from the system and std does not give on every target: processes, modes, times, raw paths.
//!
//! `wasi` binds it to the sandbox's kernel, `native` to the host for the tests of the tools' logic.

#[cfg(not(target_os = "wasi"))]
mod native;
#[cfg(target_os = "wasi")]
mod wasi;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(not(target_os = "wasi"))]
use native as imp;
#[cfg(not(target_os = "wasi"))]
use std::os::unix::ffi::{OsStrExt, OsStringExt};
#[cfg(target_os = "wasi")]
use std::os::wasi::ffi::{OsStrExt, OsStringExt};
#[cfg(target_os = "wasi")]
use wasi as imp;

pub use imp::{
    chmod, hard_link, init, is_terminal, message, mkfifo, program_name, read_link, set_times, standard_file, stat,
    symlink, terminal_width,
};

/// File type bits of [`Metadata::mode`], POSIX's values.
pub mod mode {
    /// The mask of the type.
    pub const TYPE: u32 = 0o170_000;
    /// Regular file.
    pub const FILE: u32 = 0o100_000;
    /// Directory.
    pub const DIRECTORY: u32 = 0o040_000;
    /// Symbolic link.
    pub const LINK: u32 = 0o120_000;
    /// Character device.
    pub const CHARACTER: u32 = 0o020_000;
    /// Block device.
    pub const BLOCK: u32 = 0o060_000;
    /// Named pipe.
    pub const FIFO: u32 = 0o010_000;
    /// Socket.
    pub const SOCKET: u32 = 0o140_000;
}

/// What `stat` tells. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "the names are POSIX's")]
pub struct Metadata {
    pub dev: u64,
    pub ino: u64,
    pub mode: u32,
    pub nlink: u64,
    pub uid: u32,
    pub gid: u32,
    pub rdev: u64,
    /// Bytes.
    pub size: u64,
    /// Units of 512 bytes.
    pub blocks: u64,
    pub atime: i64,
    pub mtime: i64,
    pub ctime: i64,
}

impl Metadata {
    /// The file type, one of [`mode`]'s constants.
    pub fn kind(&self) -> u32 {
        self.mode & mode::TYPE
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.kind() == mode::DIRECTORY
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind() == mode::FILE
    }

    /// The mode as `ls -l` writes it, `-rw-r--r--`.
    pub fn mode_string(&self) -> String {
        let kind = match self.kind() {
            mode::DIRECTORY => 'd',
            mode::LINK => 'l',
            mode::CHARACTER => 'c',
            mode::BLOCK => 'b',
            mode::FIFO => 'p',
            mode::SOCKET => 's',
            _ => '-',
        };
        let mut text = String::with_capacity(10);
        text.push(kind);
        for (shift, special, letter) in [(6, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
            let bits = self.mode >> shift & 7;
            text.push(if bits & 4 != 0 { 'r' } else { '-' });
            text.push(if bits & 2 != 0 { 'w' } else { '-' });
            text.push(match (self.mode & special != 0, bits & 1 != 0) {
                (true, true) => letter,
                (true, false) => letter.to_ascii_uppercase(),
                (false, true) => 'x',
                (false, false) => '-',
            });
        }
        text
    }
}

/// Where a child's standard stream comes from or goes to.
pub enum Stream {
    /// The parent's.
    Inherit,
    /// `/dev/null`.
    Null,
    /// A new pipe; the other end is in [`Child`].
    Pipe,
    /// This file.
    File(File),
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
}

impl Status {
    /// Whether it exited with 0.
    pub fn success(self) -> bool {
        self == Status::Exited(0)
    }

    /// The code a shell reports: 128 and the signal's number for a killed child.
    pub fn code(self) -> i32 {
        match self {
            Status::Exited(code) => code,
            Status::Signaled(signal) => 128 + signal,
        }
    }
}

/// A process to start.
pub struct Command<'a> {
    /// The program, looked up along PATH when it has no slash, and its arguments. Must not be empty.
    pub argv: &'a [Vec<u8>],
    /// The working directory; the parent's when `None`.
    pub directory: Option<&'a [u8]>,
    /// Environment variables to set besides the parent's.
    pub env: &'a [(Vec<u8>, Vec<u8>)],
    /// Standard input.
    pub stdin: Stream,
    /// Standard output.
    pub stdout: Stream,
}

impl<'a> Command<'a> {
    /// A command with the parent's streams, directory and environment.
    pub fn new(argv: &'a [Vec<u8>]) -> Self {
        Self { argv, directory: None, env: &[], stdin: Stream::Inherit, stdout: Stream::Inherit }
    }

    /// Starts it.
    ///
    /// # Errors
    /// `NotFound` when there is no such program; others as the kernel says.
    pub fn spawn(self) -> io::Result<Child> {
        imp::spawn(self)
    }
}

/// A started process.
pub struct Child {
    /// The end that writes to its standard input, when that is a [`Stream::Pipe`].
    pub stdin: Option<File>,
    /// The end that reads its standard output, when that is a [`Stream::Pipe`].
    pub stdout: Option<File>,
    handle: imp::Handle,
}

impl Child {
    /// Waits for its end; closes the writing end of its standard input first.
    ///
    /// # Errors
    /// When it was waited for already.
    pub fn wait(&mut self) -> io::Result<Status> {
        self.stdin = None;
        imp::wait(&mut self.handle)
    }

    /// The status when it has ended already.
    ///
    /// # Errors
    /// When it was waited for already.
    pub fn try_wait(&mut self) -> io::Result<Option<Status>> {
        imp::try_wait(&mut self.handle)
    }
}

/// Bytes as a path.
pub fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// A path or other text of the system as bytes.
pub fn bytes(text: &OsStr) -> &[u8] {
    text.as_bytes()
}

/// The arguments without the program's own name.
pub fn arguments() -> Vec<Vec<u8>> {
    std::env::args_os().skip(1).map(OsString::into_vec).collect()
}

/// The environment.
pub fn environment() -> Vec<(Vec<u8>, Vec<u8>)> {
    std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec())).collect()
}

/// A variable of the environment.
pub fn variable(name: &str) -> Option<Vec<u8>> {
    std::env::var_os(name).map(OsString::into_vec)
}

/// The entries of a directory, without `.` and `..`, in the system's order.
///
/// # Errors
/// As `readdir` has them.
pub fn list(directory: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    std::fs::read_dir(path(directory))?.map(|entry| entry.map(|entry| entry.file_name().into_vec())).collect()
}
