//! The one place that speaks to the kernel: descriptors as plain numbers, paths as bytes.

use std::ffi::OsStr;
use std::os::fd::IntoRawFd;
use std::os::wasi::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;

pub use wskill_sys::fs::{
    O_APPEND, O_CLOEXEC, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY, R_OK, S_IFBLK, S_IFCHR, S_IFDIR,
    S_IFIFO, S_IFLNK, S_IFMT, S_IFREG, S_IFSOCK, Stat, W_OK, X_OK,
};
pub use wskill_sys::process::Status;
pub use wskill_sys::signal::Disposition;
pub use wskill_sys::{Errno, Result};

use wskill_sys::{fd as sys_fd, fs as sys_fs, process, signal};

/// A descriptor.
pub type Fd = i32;

/// Readies the process; to be called first.
pub fn init() {
    // A kernel of another version would make every call fail; there is nobody to tell but the caller's status.
    if let Err(error) = wskill_sys::init() {
        write_error(format!("bash: cannot start: {}\n", message(error)).as_bytes());
        exit(126);
    }
}

/// The text of an error, as the GNU C library words it.
pub fn message(error: Errno) -> &'static str {
    error.message()
}

fn path(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

/// Arguments of the process.
pub fn args() -> Vec<Vec<u8>> {
    std::env::args_os().map(OsStringExt::into_vec).collect()
}

/// The environment, in its order.
pub fn environment() -> Vec<(Vec<u8>, Vec<u8>)> {
    std::env::vars_os().map(|(k, v)| (k.into_vec(), v.into_vec())).collect()
}

/// Ends the process.
pub fn exit(status: i32) -> ! {
    std::process::exit(status)
}

/// Wall-clock time since 1970 in ns.
pub fn now_ns() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| d.as_nanos() as u64)
}

/// Monotonic time in ns.
pub fn monotonic_ns() -> u64 {
    use std::sync::OnceLock;
    static START: OnceLock<std::time::Instant> = OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
}

/// A random number from the kernel.
pub fn random_u32() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    // std seeds this from the kernel's random numbers, once a thread, and counts up; mix in the clock.
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u64(now_ns());
    hasher.finish() as u32
}

// ---- Descriptors ----

pub fn read(fd: Fd, buf: &mut [u8]) -> Result<usize> {
    sys_fd::read(fd, buf).map_err(|e| sys_fd::errno_of(&e))
}

/// Writes all of it.
pub fn write_all(fd: Fd, mut buf: &[u8]) -> Result<()> {
    while !buf.is_empty() {
        match sys_fd::write(fd, buf) {
            Ok(n) => buf = &buf[n..],
            Err(e) => match sys_fd::errno_of(&e) {
                Errno::EINTR => {}
                errno => return Err(errno),
            },
        }
    }
    Ok(())
}

/// Writes to standard error; there is nobody to tell when that fails.
pub fn write_error(buf: &[u8]) {
    let _ = write_all(2, buf);
}

pub fn open(name: &[u8], flags: u32, mode: u32) -> Result<Fd> {
    sys_fs::open(path(name), flags, mode).map(IntoRawFd::into_raw_fd)
}

pub fn close(fd: Fd) -> Result<()> {
    sys_fd::close(fd)
}

/// The lowest free descriptor from `min` on.
pub fn dup(fd: Fd, min: Fd, cloexec: bool) -> Result<Fd> {
    sys_fd::dup(fd, min, if cloexec { sys_fd::CLOEXEC } else { 0 }).map(IntoRawFd::into_raw_fd)
}

pub fn dup2(from: Fd, to: Fd) -> Result<()> {
    sys_fd::dup2(from, to, 0)
}

/// Reading and writing end, both close-on-exec.
pub fn pipe(unbounded: bool) -> Result<(Fd, Fd)> {
    let flags = sys_fd::CLOEXEC | if unbounded { sys_fd::UNBOUNDED } else { 0 };
    sys_fd::pipe(flags).map(|(r, w)| (r.into_raw_fd(), w.into_raw_fd()))
}

/// A memory file, close-on-exec.
pub fn memfd() -> Result<Fd> {
    sys_fd::memfd(sys_fd::CLOEXEC).map(IntoRawFd::into_raw_fd)
}

pub fn is_open(fd: Fd) -> bool {
    sys_fd::is_open(fd)
}

pub fn set_cloexec(fd: Fd, on: bool) -> Result<()> {
    sys_fd::set_cloexec(fd, on)
}

/// Whether the sandbox's policy lets the shell run a builtin of this name; without a name, whether it need not ask.
pub fn command_allowed(name: &[u8]) -> bool {
    process::command_allowed(name).is_ok()
}

pub fn isatty(fd: Fd) -> bool {
    sys_fd::isatty(fd)
}

/// Moves the offset relative to where it is; the new one.
pub fn seek_by(fd: Fd, delta: i64) -> Result<u64> {
    seek(fd, std::io::SeekFrom::Current(delta))
}

/// Moves the offset to a place.
pub fn seek_to(fd: Fd, offset: u64) -> Result<u64> {
    seek(fd, std::io::SeekFrom::Start(offset))
}

fn seek(fd: Fd, to: std::io::SeekFrom) -> Result<u64> {
    use std::io::Seek;
    use std::os::fd::FromRawFd;
    // SAFETY: ManuallyDrop never closes the number; one that is not open only gives EBADF.
    let mut file = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(fd) });
    file.seek(to).map_err(|e| sys_fd::errno_of(&e))
}

/// Whether something can be read within the time; `None` waits for ever.
pub fn poll_read(fd: Fd, timeout: Option<Duration>) -> Result<bool> {
    sys_fd::poll(&[(fd, sys_fd::Interest::Read)], timeout).map(|ready| ready.first() == Some(&true))
}

pub fn push_context() -> Result<i32> {
    sys_fd::push_context()
}

pub fn pop_context(depth: i32) {
    // The number came from push_context; only the working directory may be gone meanwhile.
    let _ = sys_fd::pop_context(depth);
}

// ---- Files ----

pub fn stat(name: &[u8]) -> Result<Stat> {
    sys_fs::stat(path(name))
}

pub fn lstat(name: &[u8]) -> Result<Stat> {
    sys_fs::lstat(path(name))
}

pub fn fstat(fd: Fd) -> Result<Stat> {
    sys_fs::fstat(fd)
}

pub fn access(name: &[u8], mode: u32) -> bool {
    sys_fs::access(path(name), mode).is_ok()
}

pub fn chdir(name: &[u8]) -> Result<()> {
    sys_fs::chdir(path(name))
}

pub fn getcwd() -> Result<Vec<u8>> {
    sys_fs::getcwd().map(|p| p.into_os_string().into_vec())
}

pub fn umask(mask: u32) -> u32 {
    sys_fs::umask(mask)
}

/// Soft limit of a resource by Linux's number; `None` is unlimited.
pub fn rlimit(resource: u32) -> Option<u64> {
    use wskill_sys::fs::Resource;
    let resource = match resource {
        0 => Resource::Cpu,
        1 => Resource::FileSize,
        2 => Resource::Data,
        3 => Resource::Stack,
        6 => Resource::Processes,
        7 => Resource::OpenFiles,
        9 => Resource::AddressSpace,
        _ => return None,
    };
    sys_fs::rlimit(resource).ok().flatten()
}

/// What a directory says about an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Dir,
    Link,
    Other,
    Unknown,
}

impl Kind {
    /// A directory, or a link to one.
    pub fn may_be_dir(self, name: &[u8]) -> bool {
        match self {
            Kind::Dir => true,
            Kind::Other => false,
            Kind::Link | Kind::Unknown => is_dir(name),
        }
    }

    /// A directory, not a link.
    pub fn is_real_dir(self, name: &[u8]) -> bool {
        match self {
            Kind::Dir => true,
            Kind::Other | Kind::Link => false,
            Kind::Unknown => lstat(name).is_ok_and(|s| s.mode & S_IFMT == S_IFDIR),
        }
    }
}

/// The names in a directory; empty when it cannot be read. The empty path is the working directory.
pub fn read_dir(name: &[u8]) -> Vec<(Vec<u8>, Kind)> {
    let name = if name.is_empty() { b"." } else { name };
    let Ok(entries) = std::fs::read_dir(path(name)) else {
        return Vec::new();
    };
    entries
        .flatten()
        .map(|entry| {
            let kind = match entry.file_type() {
                Ok(t) if t.is_dir() => Kind::Dir,
                Ok(t) if t.is_symlink() => Kind::Link,
                Ok(t) if t.is_file() => Kind::Other,
                _ => Kind::Unknown,
            };
            (entry.file_name().into_vec(), kind)
        })
        .collect()
}

/// Reads a whole file.
pub fn read_file(name: &[u8]) -> Result<Vec<u8>> {
    let fd = open(name, O_RDONLY | O_CLOEXEC, 0)?;
    let result = read_to_end(fd);
    let _ = close(fd);
    result
}

// ---- Processes and signals ----

/// A process to start. A path without slash is looked up along PATH by the kernel.
pub struct Spawn<'a> {
    pub path: &'a [u8],
    pub argv: &'a [Vec<u8>],
    /// `NAME=value`, each ended by NUL.
    pub env: &'a [u8],
    /// Child's and parent's descriptor.
    pub fds: &'a [(Fd, Fd)],
    pub ignored: u64,
    /// In a process group of its own.
    pub own_group: bool,
}

impl Spawn<'_> {
    fn request(&self) -> process::Spawn {
        let mut request = if self.path.contains(&b'/') {
            process::Spawn::path(path(self.path))
        } else {
            // Only for a name that the shell did not find along PATH itself.
            process::Spawn::command(path(self.path))
        };
        request.args(self.argv.iter().map(|a| path(a)));
        request.env(self.env.split(|&c| c == 0).filter(|v| !v.is_empty()).map(path));
        if self.own_group {
            request.pgid(0);
        }
        for &(child, parent) in self.fds {
            request.fd(child, parent);
        }
        for signal in 1..=64 {
            if self.ignored >> (signal - 1) & 1 == 1 {
                request.ignore_signal(signal);
            }
        }
        request
    }

    pub fn start(&self) -> Result<i32> {
        self.request().spawn()
    }

    /// Replaces this process; returns only on error.
    pub fn exec(&self) -> Errno {
        self.request().exec()
    }
}

/// Waits for a child; `Ok(None)` when `nohang` and none has ended.
pub fn wait(pid: i32, nohang: bool) -> Result<Option<(i32, Status)>> {
    if nohang {
        return Ok(process::try_wait(pid)?.map(|w| (w.pid, w.status)));
    }
    process::wait(pid).map(|w| Some((w.pid, w.status)))
}

pub fn kill(pid: i32, signal: i32) -> Result<()> {
    process::kill(pid, signal)
}

/// Gives the kernel a moment to deliver what is pending.
pub fn pause_briefly() {
    pause(Duration::from_millis(1));
}

/// Waits, or until a signal comes.
pub fn pause(time: Duration) {
    let _ = sys_fd::poll(&[], Some(time));
}

pub fn getpid() -> i32 {
    process::getpid()
}

pub fn getppid() -> i32 {
    process::getppid()
}

/// Processor time in ns: own, and that of children waited for.
pub fn times() -> (u64, u64) {
    process::times().unwrap_or((0, 0))
}

pub fn set_signal(number: i32, disposition: Disposition) -> Result<Disposition> {
    signal::set(number, disposition)
}

/// The next pending handled signal.
pub fn take_signal() -> Option<i32> {
    signal::take()
}

pub fn signal_name(number: i32) -> Option<String> {
    signal::name(number)
}

pub fn signal_text(number: i32) -> Option<&'static str> {
    signal::SIGNALS.iter().find(|s| s.1 == number).map(|s| s.2)
}

pub fn parse_signal(text: &str) -> Option<i32> {
    signal::parse(text)
}

/// The name this program was started as.
pub fn program_name() -> Vec<u8> {
    wskill_sys::program_name().into_vec()
}

// ---- Conveniences ----

/// Reads until the end.
pub fn read_to_end(fd: Fd) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut filled = 0;
    loop {
        if out.len() < filled + 4096 {
            out.resize((filled + 4096).max(out.len() * 2), 0);
        }
        match read(fd, &mut out[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(Errno::EINTR) => {}
            Err(e) => return Err(e),
        }
    }
    out.truncate(filled);
    Ok(out)
}

pub fn is_dir(name: &[u8]) -> bool {
    let name = if name.is_empty() { b"." } else { name };
    stat(name).is_ok_and(|s| s.mode & S_IFMT == S_IFDIR)
}

pub fn is_file(name: &[u8]) -> bool {
    stat(name).is_ok_and(|s| s.mode & S_IFMT == S_IFREG)
}

pub fn lstat_ok(name: &[u8]) -> bool {
    lstat(name).is_ok()
}
