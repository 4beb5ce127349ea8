//! Starting programs the way `std::process::Command` does, which std lacks on WASI.
//!
//! ```no_run
//! use wskill_sys::command::{Command, Stdio};
//! let output = Command::new("sort").arg("-u").stdin(Stdio::Null).output()?;
//! assert!(output.status.success());
//! # Ok::<(), std::io::Error>(())
//! ```

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use crate::errno::Errno;
use crate::fd::{self, Interest};
use crate::process::{self, Spawn, Status, Waited};
use crate::{fs, signal};

/// Where a standard descriptor of the child leads.
#[derive(Debug, Default)]
pub enum Stdio {
    /// Where the parent's leads.
    #[default]
    Inherit,
    /// `/dev/null`.
    Null,
    /// A new pipe; its other end is in [`Child`].
    Piped,
    /// This descriptor.
    Fd(OwnedFd),
}

impl From<OwnedFd> for Stdio {
    fn from(fd: OwnedFd) -> Self {
        Stdio::Fd(fd)
    }
}

impl From<File> for Stdio {
    fn from(file: File) -> Self {
        Stdio::Fd(file.into())
    }
}

/// A program with its arguments, environment and standard descriptors.
#[derive(Debug)]
pub struct Command {
    program: OsString,
    arg0: Option<OsString>,
    args: Vec<OsString>,
    env: Option<Vec<(OsString, OsString)>>,
    cwd: Option<PathBuf>,
    stdio: [Stdio; 3],
    pgid: Option<i32>,
    ignored: Vec<i32>,
}

impl Command {
    /// A program: a name without `/` is looked up along PATH.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Command {
            program: program.as_ref().to_owned(),
            arg0: None,
            args: Vec::new(),
            env: None,
            cwd: None,
            stdio: [Stdio::Inherit, Stdio::Inherit, Stdio::Inherit],
            pgid: None,
            ignored: Vec::new(),
        }
    }

    /// argv[0], when it is to differ from the program.
    pub fn arg0(&mut self, arg0: impl AsRef<OsStr>) -> &mut Self {
        self.arg0 = Some(arg0.as_ref().to_owned());
        self
    }

    /// Adds one argument.
    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(&mut self, args: impl IntoIterator<Item = S>) -> &mut Self {
        self.args.extend(args.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    fn env_mut(&mut self) -> &mut Vec<(OsString, OsString)> {
        self.env.get_or_insert_with(|| std::env::vars_os().collect())
    }

    /// Sets a variable of the child.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        let (name, value) = (name.as_ref(), value.as_ref().to_owned());
        let env = self.env_mut();
        match env.iter_mut().find(|(n, _)| n == name) {
            Some(entry) => entry.1 = value,
            None => env.push((name.to_owned(), value)),
        }
        self
    }

    /// Takes a variable away from the child.
    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.env_mut().retain(|(n, _)| n != name.as_ref());
        self
    }

    /// Starts the child with no variables but those set later.
    pub fn env_clear(&mut self) -> &mut Self {
        self.env = Some(Vec::new());
        self
    }

    /// The child's working directory.
    pub fn current_dir(&mut self, dir: impl AsRef<Path>) -> &mut Self {
        self.cwd = Some(dir.as_ref().to_owned());
        self
    }

    /// The child's standard input.
    pub fn stdin(&mut self, stdio: impl Into<Stdio>) -> &mut Self {
        self.stdio[0] = stdio.into();
        self
    }

    /// The child's standard output.
    pub fn stdout(&mut self, stdio: impl Into<Stdio>) -> &mut Self {
        self.stdio[1] = stdio.into();
        self
    }

    /// The child's standard error.
    pub fn stderr(&mut self, stdio: impl Into<Stdio>) -> &mut Self {
        self.stdio[2] = stdio.into();
        self
    }

    /// Puts the child into a process group; 0 makes a new one.
    pub fn process_group(&mut self, pgid: i32) -> &mut Self {
        self.pgid = Some(pgid);
        self
    }

    /// The signal starts ignored in the child.
    pub fn ignore_signal(&mut self, signal: i32) -> &mut Self {
        self.ignored.push(signal);
        self
    }

    fn prepare(&self) -> Spawn {
        let mut spawn = Spawn::command(&self.program);
        spawn.arg(self.arg0.as_ref().unwrap_or(&self.program)).args(&self.args);
        if let Some(env) = &self.env {
            spawn.env_pairs(env.iter().map(|(n, v)| (n, v)));
        }
        if let Some(dir) = &self.cwd {
            spawn.cwd(dir);
        }
        if let Some(pgid) = self.pgid {
            spawn.pgid(pgid);
        }
        for &signal in &self.ignored {
            spawn.ignore_signal(signal);
        }
        spawn
    }

    /// Starts the child.
    ///
    /// # Errors
    /// [`Spawn::spawn`]'s, and those of making pipes.
    pub fn spawn(&mut self) -> io::Result<Child> {
        let mut spawn = self.prepare();
        let mut ends: [Option<OwnedFd>; 3] = [None, None, None];
        // The child's ends live until it has started.
        let mut theirs = Vec::new();
        for (number, stdio) in self.stdio.iter().enumerate() {
            let target = number as RawFd;
            match stdio {
                Stdio::Inherit => {}
                Stdio::Fd(own) => {
                    spawn.fd(target, own.as_raw_fd());
                }
                Stdio::Null => {
                    let null = fs::open("/dev/null", fs::O_RDWR | fs::O_CLOEXEC, 0)?;
                    spawn.fd(target, null.as_raw_fd());
                    theirs.push(null);
                }
                Stdio::Piped => {
                    let (read, write) = fd::pipe(fd::CLOEXEC)?;
                    let (our, their) = if number == 0 { (write, read) } else { (read, write) };
                    spawn.fd(target, their.as_raw_fd());
                    ends[number] = Some(our);
                    theirs.push(their);
                }
            }
        }
        let pid = spawn.spawn()?;
        let [stdin, stdout, stderr] = ends.map(|end| end.map(File::from));
        Ok(Child { pid, stdin, stdout, stderr, ended: None })
    }

    /// Starts the child and waits for its end.
    pub fn status(&mut self) -> io::Result<Status> {
        self.spawn()?.wait()
    }

    /// Starts the child with its output and error in pipes, and collects both until its end.
    pub fn output(&mut self) -> io::Result<Output> {
        self.stdio[1] = Stdio::Piped;
        self.stdio[2] = Stdio::Piped;
        self.spawn()?.wait_with_output()
    }

    /// Replaces the calling process; returns only with the error. Pipes make no sense here and are left out.
    pub fn exec(&mut self) -> io::Error {
        let mut spawn = self.prepare();
        let mut null = None;
        for (number, stdio) in self.stdio.iter().enumerate() {
            let target = number as RawFd;
            match stdio {
                Stdio::Inherit | Stdio::Piped => {}
                Stdio::Fd(own) => {
                    spawn.fd(target, own.as_raw_fd());
                }
                Stdio::Null => match fs::open("/dev/null", fs::O_RDWR | fs::O_CLOEXEC, 0) {
                    Ok(fd) => {
                        spawn.fd(target, fd.as_raw_fd());
                        null = Some(fd);
                    }
                    Err(errno) => return errno.into(),
                },
            }
        }
        let errno = spawn.exec();
        drop(null);
        errno.into()
    }
}

/// What a child wrote and how it ended.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub status: Status,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

/// A started child. Dropping it neither waits nor kills.
#[derive(Debug)]
pub struct Child {
    pid: i32,
    /// Leads to its standard input, when that was [`Stdio::Piped`].
    pub stdin: Option<File>,
    /// Leads from its standard output.
    pub stdout: Option<File>,
    /// Leads from its standard error.
    pub stderr: Option<File>,
    ended: Option<Waited>,
}

impl Child {
    /// Its pid.
    pub fn id(&self) -> i32 {
        self.pid
    }

    /// Sends it a signal; nothing once it has been waited for.
    pub fn signal(&self, signal: i32) -> io::Result<()> {
        match self.ended {
            Some(_) => Ok(()),
            None => Ok(process::kill(self.pid, signal)?),
        }
    }

    /// Sends KILL.
    pub fn kill(&self) -> io::Result<()> {
        self.signal(signal::SIGKILL)
    }

    /// Closes its standard input and waits for its end.
    pub fn wait(&mut self) -> io::Result<Status> {
        drop(self.stdin.take());
        loop {
            if let Some(waited) = &self.ended {
                return Ok(waited.status);
            }
            match process::wait(self.pid) {
                Ok(waited) => self.ended = Some(waited),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Its end, if it has come.
    pub fn try_wait(&mut self) -> io::Result<Option<Status>> {
        if self.ended.is_none() {
            self.ended = process::try_wait(self.pid)?;
        }
        Ok(self.ended.map(|waited| waited.status))
    }

    /// Processor time and memory, once it has been waited for.
    pub fn usage(&self) -> Option<Waited> {
        self.ended
    }

    /// Reads its output and error to the end, both at once, and waits for its end.
    pub fn wait_with_output(&mut self) -> io::Result<Output> {
        drop(self.stdin.take());
        let mut sources = [self.stdout.take(), self.stderr.take()];
        let mut sinks = [Vec::new(), Vec::new()];
        let mut buf = vec![0u8; 65536];
        loop {
            let open: Vec<usize> = (0..2).filter(|&i| sources[i].is_some()).collect();
            let fds: Vec<(RawFd, Interest)> = open
                .iter()
                .filter_map(|&i| sources[i].as_ref().map(|file| (file.as_raw_fd(), Interest::Read)))
                .collect();
            if fds.is_empty() {
                break;
            }
            let ready = match fd::poll(&fds, None) {
                Ok(ready) => ready,
                Err(Errno::EINTR) => continue,
                Err(errno) => return Err(errno.into()),
            };
            for (&index, _) in open.iter().zip(ready).filter(|(_, ready)| *ready) {
                let Some(file) = sources[index].as_mut() else { continue };
                match file.read(&mut buf) {
                    Ok(0) => sources[index] = None,
                    Ok(n) => sinks[index].extend_from_slice(&buf[..n]),
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) => return Err(e),
                }
            }
        }
        let [stdout, stderr] = sinks;
        Ok(Output { status: self.wait()?, stdout, stderr })
    }
}
