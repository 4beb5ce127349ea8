//! Where commands run: workspaces, their files, and the programs that see them.
//!
//! An [`Executor`] makes [`Workspace`]s. A workspace is a tree of files with the folders of
//! [`FOLDERS`], in which skills are staged and commands run. [`SandboxExecutor`] runs commands as WebAssembly
//! processes, [`ContainerExecutor`] in containers, [`LocalExecutor`] without a sandbox; other executors may run them
//! elsewhere, as long as they keep what this module says, which [`testkit`] checks.

mod command;
#[cfg(unix)]
mod container;
mod error;
mod files;
mod folders;
#[cfg(unix)]
mod host;
#[cfg(unix)]
mod local;
#[cfg(unix)]
mod native;
pub(crate) mod remove;
mod sandbox;
#[cfg(unix)]
mod stage;
pub mod testkit;
mod tree;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

pub use command::{Command, Link, StagedSkill};
#[cfg(unix)]
pub use container::{ContainerExecutor, ContainerExecutorBuilder};
pub use error::{ExecutorError, FileError};
pub use files::{Entry, EntryKind, Listing, Query};
#[cfg(unix)]
pub use local::{LocalExecutor, LocalExecutorBuilder};
pub use sandbox::{SandboxExecutor, SandboxExecutorBuilder};
#[cfg(unix)]
pub use stage::{CopyStager, Stager};

use crate::Outcome;

/// The folders that each workspace has.
pub const FOLDERS: [&str; 4] = ["work", "work/inputs", "out", "runs"];

/// Makes workspaces and finds them again.
#[async_trait]
pub trait Executor: Debug + Send + Sync {
    /// What it is called: `sandbox`, `local`, `container`.
    fn name(&self) -> &str;

    /// The names of the commands that exist there, sorted; none when it cannot be told.
    fn commands(&self) -> Vec<String> {
        Vec::new()
    }

    /// The workspace of this name (a plain name of a folder), made with its [`FOLDERS`] when it is not there.
    ///
    /// # Errors
    /// When it can neither be made nor taken up.
    async fn open(&self, name: &str) -> Result<Arc<dyn Workspace>, ExecutorError>;

    /// Deletes a workspace with all that is in it. One that is not there is deleted already.
    ///
    /// # Errors
    /// When something cannot be deleted.
    async fn remove(&self, name: &str) -> Result<(), ExecutorError>;

    /// Makes a workspace `new` that begins as `name` is now. Neither sees what the other writes from then on. Nothing
    /// may be running in `name`.
    ///
    /// # Errors
    /// When this executor has no such workspace, or cannot do it.
    async fn fork(&self, name: &str, new: &str) -> Result<Arc<dyn Workspace>, ExecutorError> {
        let _ = (name, new);
        Err(ExecutorError::Unsupported { executor: self.name().to_owned(), what: "forks of a workspace" })
    }
}

/// A tree of files in which commands run.
///
/// Paths are relative to the workspace, with `/`, without `.` and `..`; the workspace itself is `""`. Nothing that a
/// command has put into the workspace (links, pipes, names) makes a call reach a file outside of it.
#[async_trait]
pub trait Workspace: Debug + Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// Where commands see it: an absolute path without `/` at its end.
    fn root(&self) -> &str;

    /// Whether skills are mounted; else they are copied.
    fn mounts_skills(&self) -> bool {
        false
    }

    /// Makes a skill visible at `skills/NAME`, read-only, with the links `out`, `work` and `inputs` to the workspace's
    /// folders and a writable folder `.venv` laid over it. Staging it again takes up what changed.
    ///
    /// # Errors
    /// When its folder is gone or cannot be staged.
    async fn stage(&self, skill: &StagedSkill) -> Result<(), ExecutorError>;

    /// The files and folders that a query asks for, sorted by path.
    ///
    /// # Errors
    /// When the workspace cannot be reached. What cannot be read in it is told in the listing.
    async fn list(&self, query: &Query<'_>) -> Result<Listing, ExecutorError>;

    /// What is at a path; a link is followed within the workspace.
    ///
    /// # Errors
    /// [`FileError::NotFound`], [`FileError::Outside`], and when the workspace cannot be reached.
    async fn stat(&self, path: &str) -> Result<Entry, ExecutorError>;

    /// At most `most` bytes of a regular file, from `offset` on; a link is followed within the workspace.
    ///
    /// # Errors
    /// As [`stat`](Self::stat), and [`FileError::NotAFile`].
    async fn read(&self, path: &str, offset: u64, most: usize) -> Result<Vec<u8>, ExecutorError>;

    /// Writes a whole file, in the place of what was there, in one step: another reader sees the old content or the new.
    /// A link that is there is followed within the workspace, or replaced.
    /// Folders on the way are made. `mode` has the permission bits; without write bits the file is read-only.
    ///
    /// # Errors
    /// When the path is a folder, a part of it is a file, or a limit is met.
    async fn write(&self, path: &str, content: &[u8], mode: u32) -> Result<(), ExecutorError>;

    /// Makes a folder with those above it. One that is there is fine.
    ///
    /// # Errors
    /// When a part of the path is a file, or a limit is met.
    async fn make_folder(&self, path: &str) -> Result<(), ExecutorError>;

    /// Removes a file, or a folder with all that is in it. What is not there is removed already.
    ///
    /// # Errors
    /// When it cannot be removed.
    async fn remove(&self, path: &str) -> Result<(), ExecutorError>;

    /// Shows a file or folder of the host at a path, read-only, in all commands from now on.
    ///
    /// # Errors
    /// When it is not there, or this executor cannot show what is not copied.
    async fn link(&self, link: &Link) -> Result<(), ExecutorError>;

    /// Keeps the files as they are now, and answers a name for [`rollback`](Self::rollback). No command may run.
    ///
    /// # Errors
    /// When this executor cannot do it, or a command runs.
    async fn snapshot(&self) -> Result<String, ExecutorError> {
        Err(ExecutorError::Unsupported { executor: self.name().to_owned(), what: "snapshots of a workspace" })
    }

    /// Goes back to a snapshot: what has changed since is gone, and so are later snapshots. No command may run.
    ///
    /// # Errors
    /// As [`snapshot`](Self::snapshot), and when there is no such snapshot.
    async fn rollback(&self, snapshot: &str) -> Result<(), ExecutorError> {
        let _ = snapshot;
        Err(ExecutorError::Unsupported { executor: self.name().to_owned(), what: "snapshots of a workspace" })
    }

    /// Forgets a snapshot, and gives back what only it needs. No command may run.
    ///
    /// # Errors
    /// As [`rollback`](Self::rollback).
    async fn forget(&self, snapshot: &str) -> Result<(), ExecutorError> {
        let _ = snapshot;
        Err(ExecutorError::Unsupported { executor: self.name().to_owned(), what: "snapshots of a workspace" })
    }

    /// Runs a command to its end. Dropping the future ends the run with all its processes.
    ///
    /// # Errors
    /// When the executor fails; a command that fails is an [`Outcome`].
    async fn run(&self, command: Command) -> Result<Outcome, ExecutorError>;

    /// Starts a command and answers what can be done with it while it runs. Its standard input is what is written then,
    /// not [`Command::stdin`]; standard error comes with standard output.
    ///
    /// # Errors
    /// When the executor fails, or cannot do it.
    async fn start(&self, command: Command) -> Result<Box<dyn RunningCommand>, ExecutorError>;
}

/// A command that runs. Dropping it ends it with all its processes. All calls may be made at once.
#[async_trait]
pub trait RunningCommand: Debug + Send + Sync {
    /// Writes to its standard input, waiting for room.
    ///
    /// # Errors
    /// When nobody reads it.
    async fn write(&self, data: &[u8]) -> std::io::Result<()>;

    /// Ends its standard input.
    fn close_input(&self);

    /// Waits for output; `None` at its end.
    async fn read(&self) -> Option<Vec<u8>>;

    /// Sends a signal, by its number on Linux, to all its processes.
    ///
    /// # Errors
    /// When there is no such signal.
    fn signal(&self, number: i32) -> Result<(), ExecutorError>;

    /// Waits for its end. What it has written must be read meanwhile, and is not in the outcome.
    ///
    /// # Errors
    /// When the executor fails.
    async fn wait(&self) -> Result<Outcome, ExecutorError>;
}
