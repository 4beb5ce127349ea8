//! Runs commands as processes of the host, each in a process group of its own, which ends as a whole.
//!
//! Threads wait for processes and their pipes, so that nothing is asked of the caller's asynchronous runtime.

mod capture;
mod group;
mod interactive;

use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

pub use group::Bounds;
use group::Event;
pub use interactive::NativeCommand;

use super::ExecutorError;
use crate::Outcome;

/// What is started.
#[derive(Debug)]
pub struct Program {
    /// Its name and arguments.
    pub argv: Vec<String>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Its variables.
    pub env: Vec<(String, String)>,
    /// Whether the variables are set over this process's own.
    pub inherits: bool,
}

impl Program {
    fn command(&self) -> io::Result<Command> {
        use std::os::unix::process::CommandExt;
        let (name, arguments) = self.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(name);
        command.args(arguments).current_dir(&self.cwd).process_group(0);
        if !self.inherits {
            command.env_clear();
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }

    fn name(&self) -> &str {
        self.argv.first().map_or("", String::as_str)
    }

    /// The outcome of a program that cannot be started, as a shell tells it.
    fn refused(&self, error: &io::Error) -> Outcome {
        let (exit_code, reason) = match error.kind() {
            io::ErrorKind::NotFound => (127, "command not found".to_owned()),
            _ => (126, error.to_string()),
        };
        let stderr = format!("{}: {reason}\n", self.name()).into_bytes();
        Outcome { stderr, ..group::outcome(exit_code) }
    }
}

/// Runs a program to its end, and ends its process group then. Dropping the future ends it, too.
///
/// # Errors
/// When the host gives no thread or pipe.
pub async fn run(program: Program, stdin: Vec<u8>, bounds: Bounds) -> Result<Outcome, ExecutorError> {
    let (events, received) = mpsc::channel();
    // Dropped with the future, or when all is over.
    let _end = EndOnDrop(events.clone());
    let path = program.cwd.clone();
    let ended = on_thread(move || capture::run(&program, stdin, &bounds, &events, &received)).await;
    ended.and_then(|ended| ended).map_err(ExecutorError::io("cannot run a command in", path))
}

/// Runs a program whose outcome nobody wants, and waits for it.
pub fn run_blocking(program: &Program) {
    if let Ok(mut command) = program.command() {
        // There is nobody to tell.
        let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// Whether a number of Linux is a signal that can be sent.
pub fn is_signal(number: i32) -> bool {
    group::signal(number).is_some()
}

/// Calls a function that blocks on a thread of its own.
///
/// # Errors
/// When there is no thread, or the function panics.
pub async fn on_thread<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (answer, answered) = oneshot::channel();
    thread::Builder::new().name("wskill-native".to_owned()).spawn(move || {
        // Nobody waits for it any more.
        let _ = answer.send(call());
    })?;
    answered.await.map_err(|_| io::Error::other("a thread has panicked"))
}

/// Ends a run when it is dropped.
#[derive(Debug)]
struct EndOnDrop(mpsc::Sender<Event>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        // It has ended already.
        let _ = self.0.send(Event::End);
    }
}

/// The time that is left for readers to take what lies in pipes when all processes have ended. Only a process that has
/// left the group can keep a pipe open longer.
const GRACE: Duration = Duration::from_secs(1);
/// How much is read at a time, bytes.
const CHUNK: usize = 64 << 10;
