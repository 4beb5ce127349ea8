//! The command line of Docker or Podman.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::ExecutorError;
use super::super::native::{self, Bounds, Program};
use crate::Outcome;

/// How long a call may take that runs no command: making a container may pull its image.
const TIMEOUT: Duration = Duration::from_secs(600);
/// The most bytes that such a call may write.
const OUTPUT_MAX: u64 = 1 << 20;
/// The most characters of a message of it.
const MESSAGE_MAX: usize = 1000;

/// The program that all is done with.
#[derive(Debug)]
pub(super) struct Cli {
    program: PathBuf,
}

impl Cli {
    pub fn new(program: PathBuf) -> Self {
        Self { program }
    }

    /// Whether it is Podman, by its name.
    pub fn is_podman(&self) -> bool {
        self.program.file_name().is_some_and(|name| name.to_string_lossy().contains("podman"))
    }

    /// A call of it. It needs this process's environment: where its configuration is, and whom to ask.
    pub fn call(&self, arguments: impl IntoIterator<Item = impl Into<String>>) -> Program {
        let program = self.program.to_string_lossy().into_owned();
        let argv = std::iter::once(program).chain(arguments.into_iter().map(Into::into)).collect();
        Program { argv, cwd: PathBuf::from("/"), env: Vec::new(), inherits: true }
    }

    /// Makes a call that runs no command.
    pub async fn ask(&self, arguments: &[&str]) -> Result<Outcome, ExecutorError> {
        let bounds = Bounds { wall_time: Some(TIMEOUT), output: OUTPUT_MAX };
        let outcome = native::run(self.call(arguments.iter().copied()), Vec::new(), bounds).await?;
        if outcome.exit_code == 127 && outcome.stdout.is_empty() && !self.is_there() {
            let reason =
                "the program is not installed; install Docker or Podman, or name another with `cli`".to_owned();
            return Err(self.error("be started", reason));
        }
        Ok(outcome)
    }

    /// Makes a call that must succeed.
    pub async fn must(&self, action: &'static str, arguments: &[&str]) -> Result<Outcome, ExecutorError> {
        let outcome = self.ask(arguments).await?;
        if outcome.success() { Ok(outcome) } else { Err(self.failed(action, &outcome)) }
    }

    /// Removes a container with all that runs in it. One that is not there is removed already.
    pub async fn remove(&self, container: &str) -> Result<(), ExecutorError> {
        let outcome = self.ask(&["rm", "-f", container]).await?;
        let text = String::from_utf8_lossy(&outcome.stderr).to_lowercase();
        if outcome.success() || text.contains("no such container") || text.contains("no container with") {
            return Ok(());
        }
        Err(self.failed("remove the container", &outcome))
    }

    /// The error of a call that has failed.
    pub fn failed(&self, action: &'static str, outcome: &Outcome) -> ExecutorError {
        let text = String::from_utf8_lossy(&outcome.stderr);
        let text: String = text.trim().chars().take(MESSAGE_MAX).collect();
        let reason = match (outcome.timed_out(), text.is_empty()) {
            (true, _) => format!("no answer within {} s", TIMEOUT.as_secs()),
            (false, true) => format!("exit status {}", outcome.exit_code),
            (false, false) => text,
        };
        self.error(action, reason)
    }

    pub fn error(&self, action: &'static str, reason: String) -> ExecutorError {
        ExecutorError::Cli { program: self.program.clone(), action, reason }
    }

    /// Whether the program can be found, as the system finds it.
    fn is_there(&self) -> bool {
        if self.program.components().count() > 1 {
            return self.program.exists();
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(&self.program).exists())
    }
}

/// `--mount` for a folder of the host.
pub(super) fn mount(host: &Path, guest: &str, read_only: bool) -> Result<String, ExecutorError> {
    let wrong = || {
        let reason =
            "the path has a comma, a quote or what is not UTF-8, which cannot be mounted; choose another folder";
        ExecutorError::io("cannot use", host)(std::io::Error::new(std::io::ErrorKind::InvalidInput, reason))
    };
    let host_text = host.to_str().filter(|text| !text.contains([',', '"'])).ok_or_else(wrong)?;
    let read_only = if read_only { ",readonly" } else { "" };
    Ok(format!("type=bind,source={host_text},target={guest}{read_only}"))
}
