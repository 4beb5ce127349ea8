//! Waiting for background jobs and reporting them.

use std::time::Duration;

use crate::os::{self, Errno, Status};
use crate::shell::{Run, Shell};

/// Arrives with every end of a child and interrupts nothing.
const SIGCHLD: i32 = 17;

/// What waiting for a process came to.
pub enum Waited {
    Status(i32),
    /// A signal with a trap came first.
    Interrupted(i32),
    NoSuchProcess,
}

/// How long starting a process is tried while there are too many: 1 ms, then twice as long each time, up to this.
const RETRY_MAX: Duration = Duration::from_millis(256);

impl Shell {
    /// Starts a process. When there are too many, those that have ended are collected and it is tried again for half a
    /// second, as bash does for longer.
    pub fn start_process(&mut self, request: &os::Spawn<'_>) -> os::Result<i32> {
        let mut time = Duration::from_millis(1);
        loop {
            match request.start() {
                Err(Errno::EAGAIN) if time <= RETRY_MAX => {
                    self.reap();
                    os::pause(time);
                    time *= 2;
                }
                answer => return answer,
            }
        }
    }

    /// Notes which background processes have ended, without waiting.
    pub fn reap(&mut self) {
        let pids: Vec<i32> = self
            .st
            .jobs
            .list
            .iter()
            .filter(|j| j.status.is_none())
            .map(|j| j.pid)
            .chain(self.st.jobs.others.iter().copied())
            .collect();
        for pid in pids {
            match os::wait(pid, true) {
                Ok(Some((pid, status))) => self.st.jobs.ended(pid, status),
                Err(Errno::ECHILD) => self.st.jobs.ended(pid, Status::Exited(127)),
                _ => {}
            }
        }
    }

    /// Waits for one process.
    pub fn wait_for(&mut self, pid: i32) -> Waited {
        if let Some(&(_, code)) = self.st.jobs.finished.iter().find(|(p, _)| *p == pid) {
            return Waited::Status(code);
        }
        let known = self.st.jobs.list.iter().any(|j| j.pid == pid && !j.inherited)
            || self.st.jobs.others.contains(&pid)
            || self.st.last_background == Some(pid);
        if !known {
            return Waited::NoSuchProcess;
        }
        loop {
            match os::wait(pid, false) {
                Ok(Some((pid, status))) => {
                    self.st.jobs.ended(pid, status);
                    if self.handled != 0 {
                        // A signal that came before the end, or because of it, was first.
                        self.collect_signals();
                        if let Some(signal) = self.first_trapped().filter(|&s| s != SIGCHLD) {
                            return Waited::Interrupted(signal);
                        }
                    }
                    return Waited::Status(status.shell_code());
                }
                Err(Errno::EINTR) => {
                    self.collect_signals();
                    if let Some(signal) = self.first_trapped() {
                        return Waited::Interrupted(signal);
                    }
                }
                Ok(None) | Err(_) => return Waited::NoSuchProcess,
            }
        }
    }

    /// Waits for any background process; its number and status.
    pub fn wait_any(&mut self) -> Result<(i32, i32), Option<i32>> {
        loop {
            match os::wait(-1, false) {
                Ok(Some((pid, status))) => {
                    let is_job = self.st.jobs.list.iter().any(|j| j.pid == pid);
                    self.st.jobs.ended(pid, status);
                    if is_job {
                        return Ok((pid, status.shell_code()));
                    }
                }
                Err(Errno::EINTR) => {
                    self.collect_signals();
                    if let Some(signal) = self.first_trapped() {
                        return Err(Some(signal));
                    }
                }
                Ok(None) | Err(_) => return Err(None),
            }
        }
    }

    /// Waits for all jobs, in order. `Err`: a trapped signal came first.
    pub fn wait_all(&mut self) -> Run<Result<(), i32>> {
        let pids: Vec<i32> = self
            .st
            .jobs
            .list
            .iter()
            .filter(|j| !j.inherited)
            .map(|j| j.pid)
            .collect();
        for pid in pids {
            if let Waited::Interrupted(signal) = self.wait_for(pid) {
                return Ok(Err(signal));
            }
            self.st.jobs.remove(pid);
        }
        // The last process substitution is waited for as well.
        if let Some(pid) = self.st.last_background.filter(|p| self.st.jobs.others.contains(p))
            && let Waited::Interrupted(signal) = self.wait_for(pid)
        {
            return Ok(Err(signal));
        }
        Ok(Ok(()))
    }
}
