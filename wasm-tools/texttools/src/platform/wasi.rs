//! The sandbox's side: `wskill-sys` and std.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;
use std::os::wasi::ffi::{OsStrExt, OsStringExt};

use wskill_sys::command::{self, Stdio};
use wskill_sys::{fd, fs, process};

use super::{Child, Command, Metadata, Status, Stream, path};

pub type Handle = command::Child;

/// Prepares the process: checks the kernel's version, tells libc the working directory.
pub fn init() {
    if let Err(error) = wskill_sys::init() {
        eprintln!("cannot start: {error}");
        std::process::exit(126);
    }
}

/// The command this process was started as.
pub fn program_name() -> String {
    let name = process::program_name();
    if !name.is_empty() {
        return name.to_string_lossy().into_owned();
    }
    let name = std::env::args_os().next().unwrap_or_default();
    path(name.as_bytes()).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// An error's text as GNU prints it.
pub fn message(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::IsADirectory => "Is a directory".into(),
        _ => wskill_sys::message(error),
    }
}

/// Standard input (0), output (1) or error (2) as an unbuffered file.
pub fn standard_file(fd: i32) -> File {
    // SAFETY: 0, 1 and 2 are open from the start and nobody closes them before the process ends.
    unsafe { File::from_raw_fd(fd) }
}

/// Whether a descriptor is a terminal.
pub fn is_terminal(fd: i32) -> bool {
    fd::isatty(fd)
}

/// The columns of the terminal at standard output.
pub fn terminal_width() -> Option<usize> {
    fd::winsize(1).ok().map(|(_, columns)| usize::from(columns)).filter(|columns| *columns > 0)
}

/// `stat` or, without `follow`, `lstat`.
///
/// # Errors
/// As the call has them.
pub fn stat(name: &[u8], follow: bool) -> io::Result<Metadata> {
    let found = if follow { fs::stat(path(name)) } else { fs::lstat(path(name)) }?;
    Ok(Metadata {
        dev: found.dev,
        ino: found.ino,
        mode: found.mode,
        nlink: u64::from(found.nlink),
        uid: found.uid,
        gid: found.gid,
        rdev: found.rdev,
        size: found.size,
        blocks: found.blocks,
        atime: found.atime_ns,
        mtime: found.mtime_ns,
        ctime: found.ctime_ns,
    })
}

/// Sets the permission bits.
///
/// # Errors
/// As `chmod` has them.
pub fn chmod(name: &[u8], mode: u32) -> io::Result<()> {
    Ok(fs::chmod(path(name), mode & 0o7777)?)
}

/// Sets the times, in nanoseconds since 1970.
///
/// # Errors
/// As `utimensat` has them.
pub fn set_times(name: &[u8], atime: i64, mtime: i64, follow: bool) -> io::Result<()> {
    Ok(fs::utimens(path(name), fs::SetTime::At(atime), fs::SetTime::At(mtime), follow)?)
}

/// Makes a named pipe.
///
/// # Errors
/// As `mkfifo` has them.
pub fn mkfifo(name: &[u8], mode: u32) -> io::Result<()> {
    Ok(fs::mkfifo(path(name), mode)?)
}

/// What a symbolic link says.
///
/// # Errors
/// As `readlink` has them.
pub fn read_link(name: &[u8]) -> io::Result<Vec<u8>> {
    Ok(fs::readlink(path(name))?.into_os_string().into_vec())
}

/// Makes a symbolic link.
///
/// # Errors
/// As `symlink` has them.
pub fn symlink(target: &[u8], name: &[u8]) -> io::Result<()> {
    let target = CString::new(target)?;
    let name = CString::new(name)?;
    // SAFETY: both are strings that end in NUL and live until the call is over.
    if unsafe { libc::symlink(target.as_ptr(), name.as_ptr()) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes a hard link.
///
/// # Errors
/// As `link` has them.
pub fn hard_link(original: &[u8], name: &[u8]) -> io::Result<()> {
    std::fs::hard_link(path(original), path(name))
}

pub fn spawn(request: Command<'_>) -> io::Result<Child> {
    let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let mut command = command::Command::new(OsStr::from_bytes(&request.argv[0]));
    command.args(request.argv[1..].iter().map(|arg| text(arg)));
    for (name, value) in request.env {
        command.env(text(name), text(value));
    }
    if let Some(directory) = request.directory {
        command.current_dir(path(directory));
    }
    let stdio = |stream: Stream| match stream {
        Stream::Inherit => Stdio::Inherit,
        Stream::Null => Stdio::Null,
        Stream::Pipe => Stdio::Piped,
        Stream::File(file) => Stdio::from(file),
    };
    command.stdin(stdio(request.stdin)).stdout(stdio(request.stdout));
    let mut child = command.spawn()?;
    Ok(Child { stdin: child.stdin.take(), stdout: child.stdout.take(), handle: child })
}

fn convert(status: process::Status) -> Status {
    match status {
        process::Status::Exited(code) => Status::Exited(code),
        process::Status::Signaled(signal) => Status::Signaled(signal),
    }
}

pub fn wait(handle: &mut Handle) -> io::Result<Status> {
    handle.wait().map(convert)
}

pub fn try_wait(handle: &mut Handle) -> io::Result<Option<Status>> {
    Ok(handle.try_wait()?.map(convert))
}
