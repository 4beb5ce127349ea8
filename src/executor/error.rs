//! What can go wrong with workspaces and runs.

use std::path::PathBuf;

use crate::BuildError;

/// Why an executor cannot do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecutorError {
    /// A file of the workspace.
    #[error(transparent)]
    File(#[from] FileError),
    /// The host's file system.
    #[error("{action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// With which path of the host.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The sandbox could not be made, or a stream of it fails.
    #[error(transparent)]
    Sandbox(#[from] BuildError),
    /// A name of a workspace is none.
    #[error("`{0}` is no name for a workspace: it must be a plain name of a folder")]
    WorkspaceName(String),
    /// The layers of a workspace.
    #[error("the workspace cannot be kept in layers: {0}")]
    Layers(Box<dyn std::error::Error + Send + Sync>),
    /// Commands run in the workspace, or another process has it open.
    #[error("the workspace `{0}` is in use: commands still run in it, or another process has it open")]
    Busy(String),
    /// A skill lies among the workspaces, or these in the skill: then commands could write to what they see read-only.
    #[error("the skill's folder {0} and the folder of workspaces lie in each other; keep workspaces elsewhere")]
    Overlap(PathBuf),
    /// There is no such snapshot.
    #[error("the workspace has no snapshot `{0}`")]
    NoSnapshot(String),
    /// There is a workspace of this name already.
    #[error("there is a workspace `{0}` already")]
    Exists(String),
    /// There is no workspace of this name.
    #[error("there is no workspace `{0}`")]
    NoWorkspace(String),
    /// The command line of Docker or Podman.
    #[error("{program} could not {action}: {reason}", program = program.display())]
    Cli {
        /// The program.
        program: PathBuf,
        /// What was asked of it.
        action: &'static str,
        /// Its own message, or what is known.
        reason: String,
    },
    /// This executor cannot do that.
    #[error("the executor `{executor}` has no {what}")]
    Unsupported {
        /// Its name.
        executor: String,
        /// What was asked for.
        what: &'static str,
    },
}

impl ExecutorError {
    pub(super) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}

/// What is wrong with a file of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Nothing is there.
    #[error("{0}: there is no such file or folder in the workspace")]
    NotFound(String),
    /// It is a folder, a pipe or a device.
    #[error("{0}: is no regular file")]
    NotAFile(String),
    /// A file is where a folder is needed.
    #[error("{0}: is no folder")]
    NotAFolder(String),
    /// A folder is where a file is to be.
    #[error("{0}: is a folder")]
    IsAFolder(String),
    /// The path, or a link in it, leads out of the workspace.
    #[error("{0}: leads out of the workspace")]
    Outside(String),
    /// A mount that must not be written to.
    #[error("{0}: is read-only")]
    ReadOnly(String),
    /// The limits `disk`, `inodes` or `file_size` do not allow it.
    #[error("{0}: no space is left for it within the limits of the workspace")]
    NoSpace(String),
    /// Anything else.
    #[error("{path}: {reason}")]
    Other {
        /// Which.
        path: String,
        /// Why, in words.
        reason: String,
    },
}
