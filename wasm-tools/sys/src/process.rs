//! Processes: starting, replacing, waiting, signalling.
//!
//! [`Spawn`] is the kernel's call with its own words; [`crate::command::Command`] is the comfortable form.

use std::ffi::{OsStr, OsString};
use std::os::fd::RawFd;
use std::os::wasi::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::errno::{Errno, Result, check};
use crate::{ffi, fs};

const SEARCH: u32 = 1;
const SETPGID: u32 = 2;
const CLOSE_OTHER: u32 = 4;

/// A process to start.
#[derive(Clone, Debug)]
pub struct Spawn {
    path: OsString,
    search: bool,
    argv: Vec<u8>,
    env: Option<Vec<u8>>,
    cwd: Option<PathBuf>,
    fds: Vec<ffi::FdMap>,
    close_other: bool,
    pgid: Option<i32>,
    umask: Option<u32>,
    sig_ignore: u64,
}

fn push_string(list: &mut Vec<u8>, string: &[u8]) {
    list.extend_from_slice(string);
    list.push(0);
}

impl Spawn {
    /// The file to run, as it is: no search along PATH. argv is empty until [`Spawn::arg`] is called; the first is
    /// argv[0]. The child gets the parent's environment, directory, umask and all descriptors without CLOEXEC.
    pub fn path(path: impl AsRef<OsStr>) -> Self {
        Spawn {
            path: path.as_ref().to_owned(),
            search: false,
            argv: Vec::new(),
            env: None,
            cwd: None,
            fds: Vec::new(),
            close_other: false,
            pgid: None,
            umask: None,
            sig_ignore: 0,
        }
    }

    /// A command: a name without `/` is looked up along PATH of the environment the child gets.
    pub fn command(name: impl AsRef<OsStr>) -> Self {
        let mut spawn = Spawn::path(name);
        spawn.search = true;
        spawn
    }

    /// Adds one argument; the first is argv[0].
    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Self {
        push_string(&mut self.argv, arg.as_ref().as_bytes());
        self
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(&mut self, args: impl IntoIterator<Item = S>) -> &mut Self {
        for arg in args {
            self.arg(arg);
        }
        self
    }

    /// The whole environment of the child, "NAME=value" each.
    pub fn env<S: AsRef<OsStr>>(&mut self, vars: impl IntoIterator<Item = S>) -> &mut Self {
        let mut list = Vec::new();
        for var in vars {
            push_string(&mut list, var.as_ref().as_bytes());
        }
        self.env = Some(list);
        self
    }

    /// The whole environment, as pairs.
    pub fn env_pairs<K: AsRef<OsStr>, V: AsRef<OsStr>>(&mut self, vars: impl IntoIterator<Item = (K, V)>) -> &mut Self {
        let mut list = Vec::new();
        for (name, value) in vars {
            list.extend_from_slice(name.as_ref().as_bytes());
            list.push(b'=');
            push_string(&mut list, value.as_ref().as_bytes());
        }
        self.env = Some(list);
        self
    }

    /// The child's working directory; default the parent's.
    pub fn cwd(&mut self, dir: impl AsRef<Path>) -> &mut Self {
        self.cwd = Some(dir.as_ref().to_owned());
        self
    }

    /// Gives the child `child_fd`, a duplicate of the parent's `parent_fd`. All maps are applied at once, so they may
    /// swap numbers.
    pub fn fd(&mut self, child_fd: RawFd, parent_fd: RawFd) -> &mut Self {
        self.fds.push(ffi::FdMap { child_fd, parent_fd });
        self
    }

    /// Leaves `child_fd` closed in the child.
    pub fn close_fd(&mut self, child_fd: RawFd) -> &mut Self {
        self.fd(child_fd, -1)
    }

    /// The child gets only the descriptors named with [`Spawn::fd`].
    pub fn close_other_fds(&mut self) -> &mut Self {
        self.close_other = true;
        self
    }

    /// Puts the child into a process group; 0 makes a new one with the child's pid.
    pub fn pgid(&mut self, pgid: i32) -> &mut Self {
        self.pgid = Some(pgid);
        self
    }

    /// The child's umask; default the parent's.
    pub fn umask(&mut self, mask: u32) -> &mut Self {
        self.umask = Some(mask);
        self
    }

    /// The signal starts ignored in the child; all others start at their default.
    pub fn ignore_signal(&mut self, signal: i32) -> &mut Self {
        if (1..=64).contains(&signal) {
            self.sig_ignore |= 1 << (signal - 1);
        }
        self
    }

    fn with_request<T>(&self, call: impl FnOnce(&ffi::SpawnRequest) -> Result<T>) -> Result<T> {
        let inherited;
        let env = match &self.env {
            Some(env) => env,
            None => {
                inherited = environment();
                &inherited
            }
        };
        let path = self.path.as_bytes();
        let cwd = self.cwd.as_ref().map_or(&[][..], |dir| dir.as_os_str().as_bytes());
        let mut flags = 0;
        if self.search {
            flags |= SEARCH;
        }
        if self.pgid.is_some() {
            flags |= SETPGID;
        }
        if self.close_other {
            flags |= CLOSE_OTHER;
        }
        call(&ffi::SpawnRequest {
            path: path.as_ptr(),
            path_len: path.len() as u32,
            argv: self.argv.as_ptr(),
            argv_len: self.argv.len() as u32,
            env: env.as_ptr(),
            env_len: env.len() as u32,
            cwd: cwd.as_ptr(),
            cwd_len: cwd.len() as u32,
            fds: self.fds.as_ptr(),
            fds_count: self.fds.len() as u32,
            flags,
            pgid: self.pgid.unwrap_or(0),
            umask: self.umask.map_or(-1, |mask| (mask & 0o777) as i32),
            reserved: 0,
            sig_ignore: self.sig_ignore,
        })
    }

    /// Starts it and returns its pid.
    ///
    /// # Errors
    /// ENOENT (no such file, or not on PATH), EACCES (a directory, no right), ENOEXEC (not runnable), E2BIG, EAGAIN
    /// (process limit), ENOMEM, EBADF (a map), ENOTDIR or ENOENT (the working directory).
    pub fn spawn(&self) -> Result<i32> {
        self.with_request(|request| {
            let mut pid = 0;
            // SAFETY: every pointer of the request is valid for its length while `with_request` runs.
            check(unsafe { ffi::spawn(request, &mut pid) })?;
            Ok(pid)
        })
    }

    /// Replaces the calling process; returns only with the error.
    pub fn exec(&self) -> Errno {
        let result = self.with_request(|request| {
            // SAFETY: every pointer of the request is valid for its length while `with_request` runs.
            check(unsafe { ffi::exec(request) })
        });
        result.err().unwrap_or(Errno::EIO)
    }
}

/// libc's environment in the kernel's form: strings one after another, each ended by NUL.
fn environment() -> Vec<u8> {
    let mut list = Vec::new();
    // SAFETY: libc returns its environment, an array of NUL-terminated strings that ends with a null pointer; the
    // program has one thread and nothing here changes the environment meanwhile.
    unsafe {
        let mut entry = ffi::wasi::get_environ();
        while !entry.is_null() && !(*entry).is_null() {
            list.extend_from_slice(std::ffi::CStr::from_ptr(*entry).to_bytes_with_nul());
            entry = entry.add(1);
        }
    }
    list
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// With this exit code, 0..=255.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
}

impl Status {
    /// From waitpid's number.
    pub fn from_raw(raw: i32) -> Self {
        if raw & 0x7f == 0 { Status::Exited((raw >> 8) & 0xff) } else { Status::Signaled(raw & 0x7f) }
    }

    /// waitpid's number.
    pub fn raw(self) -> i32 {
        match self {
            Status::Exited(code) => (code & 0xff) << 8,
            Status::Signaled(signal) => signal,
        }
    }

    /// What a shell shows as `$?`: the code, or 128 and the signal's number.
    pub fn shell_code(self) -> i32 {
        match self {
            Status::Exited(code) => code,
            Status::Signaled(signal) => 128 + signal,
        }
    }

    /// Exited with 0?
    pub fn success(self) -> bool {
        self == Status::Exited(0)
    }
}

/// A child that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Waited {
    /// Who.
    pub pid: i32,
    /// How.
    pub status: Status,
    /// Its own processor time in ns, approximate.
    pub cpu_ns: u64,
    /// Its peak memory in bytes.
    pub peak_memory: u64,
}

fn wait_with(pid: i32, options: u32) -> Result<Option<Waited>> {
    let mut raw = ffi::WaitResult::default();
    // SAFETY: `raw` is a place for the answer.
    check(unsafe { ffi::wait(pid, options, &mut raw) })?;
    if raw.pid == 0 {
        return Ok(None);
    }
    let status = Status::from_raw(raw.status);
    Ok(Some(Waited { pid: raw.pid, status, cpu_ns: raw.cpu_ns, peak_memory: raw.peak_memory }))
}

/// waitpid(2): `pid` > 0 that child; -1 any; 0 any of the own group; < -1 any of the group -pid. ECHILD when there is
/// none such; EINTR when a handled signal arrives.
pub fn wait(pid: i32) -> Result<Waited> {
    wait_with(pid, 0)?.ok_or(Errno::ECHILD)
}

/// The same without waiting: `None` when no such child has ended.
pub fn try_wait(pid: i32) -> Result<Option<Waited>> {
    wait_with(pid, 1)
}

/// kill(2): `pid` > 0 one process; 0 the own group; -1 all but the first and the caller; < -1 the group -pid. Signal 0
/// only asks whether it is there.
pub fn kill(pid: i32, signal: i32) -> Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { ffi::kill(pid, signal) })
}

/// The own pid.
pub fn getpid() -> i32 {
    // SAFETY: no arguments.
    unsafe { ffi::getpid() }
}

/// The parent's pid; 0 for the first process.
pub fn getppid() -> i32 {
    // SAFETY: no arguments.
    unsafe { ffi::getppid() }
}

/// The group of a process; 0 is the caller.
pub fn getpgid(pid: i32) -> Result<i32> {
    let mut pgid = 0;
    // SAFETY: `pgid` is a place for the answer.
    check(unsafe { ffi::getpgid(pid, &mut pgid) })?;
    Ok(pgid)
}

/// Moves a process into a group; 0 for `pid` is the caller, 0 for `pgid` a group of its own.
pub fn setpgid(pid: i32, pgid: i32) -> Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { ffi::setpgid(pid, pgid) })
}

/// Processor time in ns: the own, and that of the children waited for.
pub fn times() -> Result<(u64, u64)> {
    let (mut own, mut children) = (0, 0);
    // SAFETY: two places for the answers.
    check(unsafe { ffi::times(&mut own, &mut children) })?;
    Ok((own, children))
}

/// Whether the sandbox's policy lets this program do a command's work itself: EPERM when not, which the kernel counts.
/// Without a name: `Ok` when nothing need be asked.
pub fn command_allowed(name: &[u8]) -> Result<()> {
    // SAFETY: the name is valid for its length.
    check(unsafe { ffi::command_allowed(name.as_ptr(), name.len() as u32) })
}

/// The name of the installed command this process was started as, whatever argv[0] says; empty for a module that is
/// not an installed program.
pub fn program_name() -> OsString {
    // SAFETY: the buffer is `bytes`'s.
    let name = fs::bytes(|buf, cap, n| unsafe { ffi::program_name(buf, cap, n) }).unwrap_or_default();
    std::os::wasi::ffi::OsStringExt::from_vec(name)
}
