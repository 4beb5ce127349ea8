//! The folders of a run: `work/` (with `work/inputs/`), `out/` and `runs/`, on the host and in the sandbox.

mod files;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::skill::Skill;
use crate::{Mount, SandboxBuilder};

pub use files::OutputFile;

/// Where the workspace is in the sandbox.
const GUEST: &str = "/workspace";

/// Why a workspace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A folder cannot be made or read.
    #[error("{action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// With which path.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// An input is not there.
    #[error("--input {0}: there is no such file or folder")]
    NoInput(String),
    /// An input's place is outside of the workspace.
    #[error("--input {0}: the place in the workspace must be a plain relative path, such as work/inputs/data.csv")]
    InputPlace(String),
    /// A pattern is none.
    #[error("--output {pattern}: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl WorkspaceError {
    fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

/// Where a workspace is to be.
#[derive(Clone, Debug)]
pub enum Place {
    /// This folder.
    Folder(PathBuf),
    /// A new folder in this one.
    Below(PathBuf),
    /// A new folder in the system's place for temporary files.
    Temporary,
}

/// What is to be left of a temporary workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing.
    No,
    /// The whole, when `out/` is not empty.
    WithOutputs,
}

/// A workspace.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    run: String,
    temporary: bool,
    remove: bool,
}

impl Workspace {
    /// Makes the folders that are not there. `remove` deletes them at the end.
    ///
    /// # Errors
    /// When a folder cannot be made.
    pub fn create(place: Place, remove: bool) -> Result<Self, WorkspaceError> {
        let temporary = matches!(place, Place::Temporary);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let root = match place {
            Place::Folder(folder) => folder,
            Place::Below(parent) => new_folder(&parent, now.as_nanos())?,
            Place::Temporary => new_folder(&std::env::temp_dir(), now.as_nanos())?,
        };
        let run = format!("run_{}", now.as_millis());
        for folder in ["work/inputs", "out", &format!("runs/{run}")] {
            let path = root.join(folder);
            std::fs::create_dir_all(&path).map_err(WorkspaceError::io("cannot make", &path))?;
        }
        Ok(Self { root, run, temporary, remove })
    }

    /// Makes the folders visible in a sandbox, and names them in the environment.
    pub fn mount(&self, builder: SandboxBuilder) -> SandboxBuilder {
        let builder = builder.mount(Mount::new(&self.root, GUEST).writable());
        let folders = [
            ("WORKSPACE_DIR", String::new()),
            ("SKILLS_DIR", "/skills".into()),
            ("WORK_DIR", "/work".into()),
            ("OUTPUT_DIR", "/out".into()),
            ("RUN_DIR", format!("/runs/{}", self.run)),
        ];
        folders.into_iter().fold(builder, |builder, (name, path)| builder.env(name, format!("{GUEST}{path}")))
    }

    /// The writable folder of a skill, which is kept in the workspace.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn venv(&self, skill: &Skill) -> Result<Mount, WorkspaceError> {
        let path = self.root.join(".venvs").join(skill.name());
        std::fs::create_dir_all(&path).map_err(WorkspaceError::io("cannot make", &path))?;
        Ok(Mount::new(path, skill.guest_venv()).writable())
    }

    /// Deletes a workspace that is not to be kept. Answers its folder when a temporary one is kept for what is in `out/`.
    ///
    /// # Errors
    /// When it cannot be deleted.
    pub fn finish(self, keep: Keep) -> Result<Option<PathBuf>, WorkspaceError> {
        let has_outputs = || std::fs::read_dir(self.root.join("out")).is_ok_and(|mut entries| entries.next().is_some());
        if !self.remove && self.temporary && keep == Keep::WithOutputs && has_outputs() {
            return Ok(Some(self.root));
        }
        if self.remove || self.temporary {
            std::fs::remove_dir_all(&self.root).map_err(WorkspaceError::io("cannot delete", &self.root))?;
        }
        Ok(None)
    }
}

/// Makes `ws_<session>_<time>` in a folder; the session is this process.
fn new_folder(parent: &Path, time: u128) -> Result<PathBuf, WorkspaceError> {
    std::fs::create_dir_all(parent).map_err(WorkspaceError::io("cannot make", parent))?;
    let folder = parent.join(format!("ws_{}_{time}", std::process::id()));
    make_private(&folder).map_err(WorkspaceError::io("cannot make", &folder))?;
    Ok(folder)
}

/// A folder that nobody else may enter, and that was not there.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
