//! The folders of a run: `work/` (with `work/inputs/`), `out/` and `runs/`, on the host and in the sandbox.
//!
//! A guest may have put links anywhere in a workspace, so wskill itself works on a handle of the folder (`cap-std`)
//! that no link leads out of.

mod inputs;
mod outputs;
mod skill;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use cap_std::fs::Dir;

use crate::executor::remove;
use crate::{Mount, SandboxBuilder};

pub use outputs::{Collected, OutputFile, Patterns};
pub use skill::hidden_entries;

/// Where the workspace is in the sandbox.
const GUEST: &str = "/workspace";

/// Why a workspace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A folder or file cannot be made, read or copied.
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
    /// An input is a device, a pipe or a socket.
    #[error("--input {0}: {1} is neither a file nor a folder")]
    SpecialInput(String, PathBuf),
    /// A folder has a link to a folder above it.
    #[error("--input {0}: the link {1} leads back to a folder above it")]
    EndlessInput(String, PathBuf),
    /// A file's place is a folder.
    #[error("--input {text}: {path} is a folder; write {path}/ to put the file into it")]
    InputOnFolder {
        /// What was given.
        text: String,
        /// The folder.
        path: PathBuf,
    },
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

/// A workspace. Dropped before [`Workspace::finish`] it takes away what it made.
#[derive(Debug)]
pub struct Workspace {
    path: PathBuf,
    root: Dir,
    run: String,
    temporary: bool,
    remove: bool,
    /// Whether to delete the folder when dropped.
    discard: bool,
}

impl Workspace {
    /// Makes the folders that are not there. `remove` deletes a workspace that was made for this run at the end.
    ///
    /// # Errors
    /// When a folder cannot be made.
    pub fn create(place: Place, remove: bool) -> Result<Self, WorkspaceError> {
        let temporary = matches!(place, Place::Temporary);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (path, made) = match place {
            Place::Folder(folder) => {
                let made = !folder.exists();
                std::fs::create_dir_all(&folder).map_err(WorkspaceError::io("cannot make the workspace", &folder))?;
                (folder, made)
            }
            Place::Below(parent) => (new_folder(&parent, now.as_nanos())?, true),
            Place::Temporary => (new_folder(&std::env::temp_dir(), now.as_nanos())?, true),
        };
        let root = Dir::open_ambient_dir(&path, cap_std::ambient_authority())
            .map_err(WorkspaceError::io("cannot open the workspace", &path))?;
        let run = format!("run_{}", now.as_millis());
        let workspace = Self { path, root, run, temporary, remove, discard: made };
        for folder in ["work/inputs", "out", &format!("runs/{}", workspace.run)] {
            workspace.make_folder(Path::new(folder))?;
        }
        Ok(workspace)
    }

    fn make_folder(&self, folder: &Path) -> Result<(), WorkspaceError> {
        let made = self.root.create_dir_all(folder);
        made.map_err(WorkspaceError::io("cannot make", &self.path.join(folder)))
    }

    /// Makes the folders visible in a sandbox, and names them in the environment.
    pub fn mount(&self, builder: SandboxBuilder) -> SandboxBuilder {
        let builder = builder.mount(Mount::new(&self.path, GUEST).writable().link(skill::VENVS, "skills"));
        let folders = [
            ("WORKSPACE_DIR", String::new()),
            ("SKILLS_DIR", "/skills".into()),
            ("WORK_DIR", "/work".into()),
            ("OUTPUT_DIR", "/out".into()),
            ("RUN_DIR", format!("/runs/{}", self.run)),
        ];
        folders.into_iter().fold(builder, |builder, (name, path)| builder.env(name, format!("{GUEST}{path}")))
    }

    /// Where it is on the host.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves it as it is, whatever was asked for.
    pub fn keep(mut self) {
        self.discard = false;
    }

    /// Deletes a workspace that is not to be kept. Answers its folder when a temporary one is kept for what is in
    /// `out/`.
    ///
    /// # Errors
    /// When it cannot be deleted.
    pub fn finish(mut self, keep: Keep) -> Result<Option<PathBuf>, WorkspaceError> {
        self.discard = false;
        let has_outputs = || self.root.read_dir("out").is_ok_and(|mut entries| entries.next().is_some());
        if !self.remove && self.temporary && keep == Keep::WithOutputs && has_outputs() {
            return Ok(Some(self.path.clone()));
        }
        if self.remove || self.temporary {
            remove::tree(&self.path).map_err(WorkspaceError::io("cannot delete", &self.path))?;
        }
        Ok(None)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if self.discard {
            // The failure that led here is told; this one would hide it.
            let _ = remove::tree(&self.path);
        }
    }
}

/// Makes `ws_<session>_<time>` in a folder; the session is this process.
fn new_folder(parent: &Path, time: u128) -> Result<PathBuf, WorkspaceError> {
    std::fs::create_dir_all(parent).map_err(WorkspaceError::io("cannot make a workspace in", parent))?;
    let folder = parent.join(format!("ws_{}_{time}", std::process::id()));
    make_private(&folder).map_err(WorkspaceError::io("cannot make the workspace", &folder))?;
    Ok(folder)
}

/// A folder that nobody else may enter, and that was not there.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests;
