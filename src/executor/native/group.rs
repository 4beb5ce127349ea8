//! A process group, from its start to its end.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::GRACE;
use crate::{LimitName, Outcome};

/// What a run may take.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Real time.
    pub wall_time: Option<Duration>,
    /// Captured output, bytes.
    pub output: u64,
}

impl Bounds {
    /// What a command may take where `own` are the executor's limits.
    pub fn of(command: &crate::executor::Command, own: &crate::Limits) -> Self {
        let limits = command.limits.as_ref().unwrap_or(own);
        Self { wall_time: command.timeout.or(limits.wall_time), output: limits.output }
    }
}

/// What happens to a run.
#[derive(Debug)]
pub enum Event {
    /// The first process has ended.
    LeaderEnded,
    /// A stream is read to its end.
    StreamEnded,
    /// More was written than is captured.
    OutputFull,
    /// All its processes get a signal.
    Signal(Signal),
    /// It is no longer wanted.
    End,
}

/// The processes of a run. Dropping it ends them.
#[derive(Debug)]
pub struct Group {
    leader: Child,
    number: Pid,
    began: Instant,
    /// Whether the first process was waited for: then its number may be somebody else's.
    is_over: bool,
}

impl Group {
    /// Starts the first process, which `command` puts into a group of its own.
    pub fn start(mut command: Command) -> io::Result<Self> {
        let leader = command.spawn()?;
        let number = Pid::from_child(&leader);
        Ok(Self { leader, number, began: Instant::now(), is_over: false })
    }

    pub fn leader(&mut self) -> &mut Child {
        &mut self.leader
    }

    /// Waits for the end of the first process, ends the others, and gives `streams` readers the time to finish.
    pub fn supervise(
        mut self,
        events: Sender<Event>,
        received: &Receiver<Event>,
        wall_time: Option<Duration>,
        mut streams: usize,
    ) -> io::Result<Outcome> {
        let number = self.number;
        thread::Builder::new().name("wskill-wait".to_owned()).spawn(move || {
            wait_for_end(number);
            // Nobody supervises it any more.
            let _ = events.send(Event::LeaderEnded);
        })?;
        let mut deadline = wall_time.and_then(|time| self.began.checked_add(time));
        let mut limit = None;
        loop {
            match next(received, deadline) {
                Ok(Event::LeaderEnded) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(Event::StreamEnded) => streams = streams.saturating_sub(1),
                Ok(Event::Signal(signal)) => self.signal(signal),
                Ok(Event::End) => self.signal(Signal::KILL),
                Ok(Event::OutputFull) => {
                    limit = limit.or(Some(LimitName::Output));
                    self.signal(Signal::KILL);
                }
                Err(RecvTimeoutError::Timeout) => {
                    limit = limit.or(Some(LimitName::WallTime));
                    deadline = None;
                    self.signal(Signal::KILL);
                }
            }
        }
        // What it has left behind may hold its streams, and must not write once the run has ended.
        let status = self.end()?;
        let duration = self.began.elapsed();
        let until = Instant::now() + GRACE;
        while streams > 0 {
            match next(received, Some(until)) {
                Ok(Event::StreamEnded) => streams -= 1,
                Ok(Event::OutputFull) => limit = limit.or(Some(LimitName::Output)),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        let exit_code = match limit {
            Some(LimitName::WallTime) => 124,
            Some(_) => 137,
            None => code(status),
        };
        let limits_hit = limit.map(|limit| (limit, 1)).into_iter().collect();
        Ok(Outcome { limit, limits_hit, duration, ..outcome(exit_code) })
    }

    /// Ends all processes.
    fn end(&mut self) -> io::Result<ExitStatus> {
        self.signal(Signal::KILL);
        self.is_over = true;
        self.leader.wait()
    }

    /// Signals all processes. The first one is not waited for before the last signal, so the group's number is its own.
    fn signal(&self, signal: Signal) {
        // All have ended.
        let _ = kill_process_group(self.number, signal);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_over {
            // There is nobody to tell.
            let _ = self.end();
        }
    }
}

/// Waits until a child has ended, and leaves it to be waited for.
fn wait_for_end(number: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(waitid(WaitId::Pid(number), options), Err(rustix::io::Errno::INTR)) {}
}

fn next(received: &Receiver<Event>, deadline: Option<Instant>) -> Result<Event, RecvTimeoutError> {
    match deadline {
        Some(deadline) => received.recv_timeout(deadline.saturating_duration_since(Instant::now())),
        None => received.recv().map_err(|_| RecvTimeoutError::Disconnected),
    }
}

/// An exit status as a shell shows it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// An outcome of which nothing else is known.
pub fn outcome(exit_code: u8) -> Outcome {
    Outcome {
        exit_code,
        limit: None,
        limits_hit: Vec::new(),
        stdout: Vec::new(),
        stderr: Vec::new(),
        duration: Duration::ZERO,
        fuel: None,
        peak_memory: 0,
        processes: 1,
        hints: Vec::new(),
        written: None,
    }
}

/// The host's signal for a number of Linux.
pub fn signal(number: i32) -> Option<Signal> {
    Some(match number {
        1 => Signal::HUP,
        2 => Signal::INT,
        3 => Signal::QUIT,
        4 => Signal::ILL,
        5 => Signal::TRAP,
        6 => Signal::ABORT,
        7 => Signal::BUS,
        8 => Signal::FPE,
        9 => Signal::KILL,
        10 => Signal::USR1,
        11 => Signal::SEGV,
        12 => Signal::USR2,
        13 => Signal::PIPE,
        14 => Signal::ALARM,
        15 => Signal::TERM,
        17 => Signal::CHILD,
        18 => Signal::CONT,
        19 => Signal::STOP,
        20 => Signal::TSTP,
        21 => Signal::TTIN,
        22 => Signal::TTOU,
        23 => Signal::URG,
        24 => Signal::XCPU,
        25 => Signal::XFSZ,
        26 => Signal::VTALARM,
        27 => Signal::PROF,
        28 => Signal::WINCH,
        31 => Signal::SYS,
        _ => return None,
    })
}
