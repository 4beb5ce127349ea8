//! Commands in a container, and their end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use async_trait::async_trait;

use super::super::native::{self, Bounds, NativeCommand};
use super::super::{ExecutorError, RunningCommand};
use super::Shared;
use crate::{BuildError, Outcome};

/// Writes down the number of its process group, which the engine has made for it, and becomes the command.
const BEGIN: &str = r#"echo $$ > "$1" && shift && exec "$@""#;
/// Signals a command's process group; waits for a command that has hardly begun. 3: there was none.
const SIGNAL: &str = r#"n=0; until test -s "$2"; do n=$((n+1)); test $n -le 20 || exit 3; sleep 0.1; done
kill -"$1" -"$(cat "$2")" 2>/dev/null; exit 0"#;
/// The same with the last signal, when the command is over: then it is there or was never begun.
const END: &str = r#"test -s "$1" || exit 3; kill -9 -"$(cat "$1")" 2>/dev/null; rm -f "$1"; exit 0"#;
/// The status of both when there was no command.
const NEVER_BEGUN: u8 = 3;

/// A command that was or will be begun. Dropping it ends its processes.
#[derive(Debug)]
pub(super) struct Begun {
    shared: Arc<Shared>,
    container: String,
    /// The file in the container with the number of its process group.
    record: String,
    is_over: AtomicBool,
}

impl Begun {
    pub fn new(shared: Arc<Shared>, container: String) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let record = format!("/tmp/.wskill-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        Self { shared, container, record, is_over: AtomicBool::new(false) }
    }

    /// What `exec` runs in the container for a command.
    pub fn argv(&self, argv: &[String]) -> Vec<String> {
        let mut all = ["sh", "-c", BEGIN, "sh", &self.record].map(str::to_owned).to_vec();
        all.extend(argv.iter().cloned());
        all
    }

    /// Ends the command's processes after its first one has ended, or when it must end. An error when the command was
    /// not run by the engine, so that its outcome is the engine's.
    pub async fn end(&self, outcome: &Outcome) -> Result<(), ExecutorError> {
        if self.is_over.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        // One that has ended by itself is there; one that is ended may be about to begin.
        let by_itself = outcome.limit.is_none();
        let ended = if by_itself { self.last(END, &[]).await? } else { self.last(SIGNAL, &["9"]).await? };
        let cli = &self.shared.cli;
        match ended.exit_code {
            0 => Ok(()),
            NEVER_BEGUN if by_itself => Err(cli.failed("run the command", outcome)),
            NEVER_BEGUN => Ok(()),
            _ => Err(cli.failed("reach the container after a command, which may not have ended", &ended)),
        }
    }

    async fn last(&self, script: &str, arguments: &[&str]) -> Result<Outcome, ExecutorError> {
        self.shared.cli.ask(&self.script(script, arguments)).await
    }

    fn script<'a>(&'a self, script: &'a str, arguments: &[&'a str]) -> Vec<&'a str> {
        let mut all = vec!["exec", &self.container, "sh", "-c", script, "sh"];
        all.extend(arguments);
        all.push(&self.record);
        all
    }

    /// Signals the command's processes, without waiting for that.
    fn signal(&self, number: i32) {
        let number = number.to_string();
        let call = self.shared.cli.call(self.script(SIGNAL, &[&number]));
        // Without a thread they end with the container.
        let _ = thread::Builder::new().name("wskill-signal".to_owned()).spawn(move || native::run_blocking(&call));
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if !self.is_over.swap(true, Ordering::Relaxed) {
            self.signal(9);
        }
    }
}

/// A command in a container that is talked to.
#[derive(Debug)]
pub(super) struct ContainerCommand {
    pub client: NativeCommand,
    pub begun: Begun,
}

#[async_trait]
impl RunningCommand for ContainerCommand {
    async fn write(&self, data: &[u8]) -> std::io::Result<()> {
        self.client.write(data).await
    }

    fn close_input(&self) {
        self.client.close_input();
    }

    async fn read(&self) -> Option<Vec<u8>> {
        self.client.read().await
    }

    fn signal(&self, number: i32) -> Result<(), ExecutorError> {
        if !native::is_signal(number) {
            return Err(BuildError::Signal(number).into());
        }
        self.begun.signal(number);
        Ok(())
    }

    async fn wait(&self) -> Result<Outcome, ExecutorError> {
        let outcome = self.client.wait().await?;
        self.begun.end(&outcome).await?;
        Ok(outcome)
    }
}

/// Runs a call to its end and then all that its command has left.
pub(super) async fn run(
    begun: Begun,
    call: native::Program,
    stdin: Vec<u8>,
    bounds: Bounds,
) -> Result<Outcome, ExecutorError> {
    let outcome = native::run(call, stdin, bounds).await?;
    begun.end(&outcome).await?;
    Ok(outcome)
}
