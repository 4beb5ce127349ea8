//! The host's side, for tests on the machine that builds.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::process;
use std::time::{Duration, UNIX_EPOCH};

use super::{Child, Command, Metadata, Status, Stream, path};

pub type Handle = process::Child;

/// Prepares the process. Nothing to do here.
pub fn init() {}

/// The command this process was started as.
pub fn program_name() -> String {
    let name = std::env::args_os().next().unwrap_or_default();
    super::path(name.as_bytes()).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// An error's text as GNU prints it.
pub fn message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}

/// Standard input (0), output (1) or error (2) as an unbuffered file.
pub fn standard_file(fd: i32) -> File {
    // SAFETY: 0, 1 and 2 are open from the start and nobody closes them before the process ends.
    unsafe { File::from_raw_fd(fd) }
}

/// Whether a descriptor is a terminal.
pub fn is_terminal(fd: i32) -> bool {
    let file = std::mem::ManuallyDrop::new(standard_file(fd));
    io::IsTerminal::is_terminal(&*file)
}

/// The columns of the terminal at standard output.
pub fn terminal_width() -> Option<usize> {
    None
}

/// `stat` or, without `follow`, `lstat`.
///
/// # Errors
/// As the call has them.
pub fn stat(name: &[u8], follow: bool) -> io::Result<Metadata> {
    let found = if follow { std::fs::metadata(path(name)) } else { std::fs::symlink_metadata(path(name)) }?;
    let time = |seconds: i64, nanos: i64| seconds * 1_000_000_000 + nanos;
    Ok(Metadata {
        dev: found.dev(),
        ino: found.ino(),
        mode: found.mode(),
        nlink: found.nlink(),
        uid: found.uid(),
        gid: found.gid(),
        rdev: found.rdev(),
        size: found.size(),
        blocks: found.blocks(),
        atime: time(found.atime(), found.atime_nsec()),
        mtime: time(found.mtime(), found.mtime_nsec()),
        ctime: time(found.ctime(), found.ctime_nsec()),
    })
}

/// Sets the permission bits.
///
/// # Errors
/// As `chmod` has them.
pub fn chmod(name: &[u8], mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path(name), std::fs::Permissions::from_mode(mode & 0o7777))
}

/// Sets the times, in nanoseconds since 1970. A link itself cannot be set here.
///
/// # Errors
/// As `utimensat` has them.
pub fn set_times(name: &[u8], atime: i64, mtime: i64, follow: bool) -> io::Result<()> {
    if !follow && stat(name, false)?.kind() == super::mode::LINK {
        return Ok(());
    }
    let time = |nanos: i64| UNIX_EPOCH + Duration::from_nanos(nanos.max(0) as u64);
    let times = std::fs::FileTimes::new().set_accessed(time(atime)).set_modified(time(mtime));
    File::open(path(name))?.set_times(times)
}

/// Makes a named pipe.
///
/// # Errors
/// Always: tests on the host need none.
pub fn mkfifo(_name: &[u8], _mode: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// What a symbolic link says.
///
/// # Errors
/// As `readlink` has them.
pub fn read_link(name: &[u8]) -> io::Result<Vec<u8>> {
    std::fs::read_link(path(name)).map(|target| target.into_os_string().into_vec())
}

/// Makes a symbolic link.
///
/// # Errors
/// As `symlink` has them.
pub fn symlink(target: &[u8], name: &[u8]) -> io::Result<()> {
    std::os::unix::fs::symlink(path(target), path(name))
}

/// Makes a hard link.
///
/// # Errors
/// As `link` has them.
pub fn hard_link(original: &[u8], name: &[u8]) -> io::Result<()> {
    std::fs::hard_link(path(original), path(name))
}

pub fn spawn(command: Command<'_>) -> io::Result<Child> {
    let mut native = process::Command::new(OsStr::from_bytes(&command.argv[0]));
    native.args(command.argv[1..].iter().map(|arg| OsStr::from_bytes(arg)));
    native.envs(command.env.iter().map(|(name, value)| (OsStr::from_bytes(name), OsStr::from_bytes(value))));
    if let Some(directory) = command.directory {
        native.current_dir(path(directory));
    }
    let stdio = |stream: Stream| match stream {
        Stream::Inherit => process::Stdio::inherit(),
        Stream::Null => process::Stdio::null(),
        Stream::Pipe => process::Stdio::piped(),
        Stream::File(file) => file.into(),
    };
    let mut child = native.stdin(stdio(command.stdin)).stdout(stdio(command.stdout)).spawn()?;
    Ok(Child {
        stdin: child.stdin.take().map(|pipe| File::from(OwnedFd::from(pipe))),
        stdout: child.stdout.take().map(|pipe| File::from(OwnedFd::from(pipe))),
        handle: child,
    })
}

fn convert(status: process::ExitStatus) -> Status {
    status.signal().map_or_else(|| Status::Exited(status.code().unwrap_or(0)), Status::Signaled)
}

pub fn wait(handle: &mut Handle) -> io::Result<Status> {
    handle.wait().map(convert)
}

pub fn try_wait(handle: &mut Handle) -> io::Result<Option<Status>> {
    Ok(handle.try_wait()?.map(convert))
}
