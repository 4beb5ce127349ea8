//! Signals to wskill itself: they end the run, after which wskill tidies up and exits as a killed program would.

use super::Error;

/// A signal that asks wskill to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The terminal went away.
    #[cfg(unix)]
    Hangup,
    /// The user typed Ctrl-C.
    Interrupt,
    /// The system or a supervisor wants it to end.
    #[cfg(unix)]
    Terminate,
}

impl Signal {
    /// The name that people know.
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(unix)]
            Self::Hangup => "SIGHUP",
            Self::Interrupt => "SIGINT",
            #[cfg(unix)]
            Self::Terminate => "SIGTERM",
        }
    }

    /// The exit status: 128 and the signal's number, as a shell shows it.
    pub fn status(self) -> u8 {
        match self {
            #[cfg(unix)]
            Self::Hangup => 129,
            Self::Interrupt => 130,
            #[cfg(unix)]
            Self::Terminate => 143,
        }
    }
}

/// Listens for signals from the moment it is made; one that comes before it is asked is not lost.
#[cfg(unix)]
pub struct Interrupts {
    hangup: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Interrupts {
    /// Begins to listen.
    pub fn listen() -> Result<Self, Error> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.hangup.recv() => Signal::Hangup,
        }
    }
}

/// Listens for signals from the moment it is made.
#[cfg(not(unix))]
pub struct Interrupts;

#[cfg(not(unix))]
impl Interrupts {
    /// Begins to listen.
    pub fn listen() -> Result<Self, Error> {
        Ok(Self)
    }

    async fn next(&mut self) -> Signal {
        if tokio::signal::ctrl_c().await.is_err() {
            // The console sends none.
            std::future::pending::<()>().await;
        }
        Signal::Interrupt
    }
}

impl Interrupts {
    /// What `work` answers, or the signal that came first; `work` is dropped then, which ends a run.
    pub async fn stop<T>(mut self, work: impl Future<Output = T>) -> Result<T, Signal> {
        tokio::select! {
            biased;
            signal = self.next() => Err(signal),
            done = work => Ok(done),
        }
    }
}
