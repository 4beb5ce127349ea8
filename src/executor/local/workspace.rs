//! A folder in which processes of the host run.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

use super::super::host::HostWorkspace;
use super::super::native::{self, NativeCommand, Program};
use super::super::{
    Command, Entry, EntryKind, ExecutorError, FileError, Link, Listing, Query, RunningCommand, StagedSkill, Workspace,
};
use super::Shared;
use crate::Outcome;

/// Where programs are when this process does not say it.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
const LANG: &str = "C.UTF-8";

/// A workspace of a [`LocalExecutor`](super::LocalExecutor).
#[derive(Debug)]
pub(super) struct LocalWorkspace {
    name: String,
    shared: Arc<Shared>,
    host: HostWorkspace,
    /// Its folder, where commands see it too.
    root: String,
}

impl LocalWorkspace {
    /// Takes up the workspace or makes it.
    pub(super) fn open(name: &str, shared: Arc<Shared>) -> Result<Self, ExecutorError> {
        let host = HostWorkspace::open(&shared.root.join(name), None, Arc::clone(&shared.stager))?;
        let root = host.path()?.to_owned();
        Ok(Self { name: name.to_owned(), shared, host, root })
    }

    fn program(&self, command: &Command) -> Result<Program, ExecutorError> {
        let unsupported = |what| ExecutorError::Unsupported { executor: "local".to_owned(), what };
        if !command.policy.is_empty() {
            return Err(unsupported("policy of commands"));
        }
        let host = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
        let mut env = vec![
            ("PATH".to_owned(), host("PATH", PATH)),
            ("LANG".to_owned(), host("LANG", LANG)),
            ("HOME".to_owned(), self.root.clone()),
        ];
        env.extend(command.env.iter().cloned());
        Ok(Program { argv: command.argv.clone(), cwd: self.cwd(&command.cwd)?, env, inherits: false })
    }

    /// The host's path of a working directory, without links.
    fn cwd(&self, cwd: &str) -> Result<PathBuf, ExecutorError> {
        let entry = self.host.files.stat(cwd)?;
        if entry.kind != EntryKind::Folder {
            return Err(FileError::NotAFolder(cwd.to_owned()).into());
        }
        Ok(self.host.folder.join(entry.path))
    }
}

#[async_trait]
impl Workspace for LocalWorkspace {
    fn name(&self) -> &str {
        &self.name
    }

    fn root(&self) -> &str {
        &self.root
    }

    async fn stage(&self, skill: &StagedSkill) -> Result<(), ExecutorError> {
        self.host.stage(skill).await
    }

    async fn list(&self, query: &Query<'_>) -> Result<Listing, ExecutorError> {
        self.host.files.list(query)
    }

    async fn stat(&self, path: &str) -> Result<Entry, ExecutorError> {
        self.host.files.stat(path)
    }

    async fn read(&self, path: &str, offset: u64, most: usize) -> Result<Vec<u8>, ExecutorError> {
        self.host.files.read(path, offset, most)
    }

    async fn write(&self, path: &str, content: &[u8], mode: u32) -> Result<(), ExecutorError> {
        self.host.files.write(path, content, mode)
    }

    async fn make_folder(&self, path: &str) -> Result<(), ExecutorError> {
        self.host.files.make_folder(path)
    }

    async fn remove(&self, path: &str) -> Result<(), ExecutorError> {
        self.host.files.remove(path)
    }

    async fn link(&self, _: &Link) -> Result<(), ExecutorError> {
        Err(ExecutorError::Unsupported { executor: "local".to_owned(), what: "links to files of the host" })
    }

    async fn run(&self, command: Command) -> Result<Outcome, ExecutorError> {
        let program = self.program(&command)?;
        let bounds = native::Bounds::of(&command, &self.shared.limits);
        native::run(program, command.stdin, bounds).await
    }

    async fn start(&self, command: Command) -> Result<Box<dyn RunningCommand>, ExecutorError> {
        if command.tty {
            return Err(ExecutorError::Unsupported { executor: "local".to_owned(), what: "terminal" });
        }
        let program = self.program(&command)?;
        let bounds = native::Bounds::of(&command, &self.shared.limits);
        let running = NativeCommand::start(&program, bounds.wall_time);
        Ok(Box::new(running.map_err(ExecutorError::io("cannot run a command in", &self.host.folder))?))
    }
}
