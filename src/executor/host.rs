//! Workspaces in folders of the host that commands use without a sandbox's files between.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::folders::{check_name, make_private};
use super::stage::{Skills, Stager};
use super::tree::TreeFiles;
use super::{ExecutorError, FOLDERS, StagedSkill};
use crate::sandbox::{HostFolder, Quota};

/// The workspaces of an executor that somebody has open: one object each.
#[derive(Debug)]
pub(super) struct Open<W>(Mutex<HashMap<String, Weak<W>>>);

impl<W> Default for Open<W> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<W> Open<W> {
    /// The workspace of this name, made when nobody has it open. Of two callers one makes it, and the other finds it.
    pub fn find_or_make(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<W, ExecutorError>,
    ) -> Result<Arc<W>, ExecutorError> {
        check_name(name)?;
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(workspace) = open.get(name).and_then(Weak::upgrade) {
            return Ok(workspace);
        }
        let workspace = Arc::new(make()?);
        open.retain(|_, workspace| workspace.strong_count() > 0);
        open.insert(name.to_owned(), Arc::downgrade(&workspace));
        Ok(workspace)
    }

    /// Who opens this name next gets another object.
    pub fn forget(&self, name: &str) -> Result<(), ExecutorError> {
        check_name(name)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        Ok(())
    }
}

/// A folder with the files of a workspace and copies of skills.
#[derive(Debug)]
pub(super) struct HostWorkspace {
    /// Without links.
    pub folder: PathBuf,
    pub files: TreeFiles,
    skills: Skills,
}

impl HostWorkspace {
    /// Takes up the workspace in a folder, or makes it. Commands see it at `root`; `None`: where it is.
    pub fn open(folder: &Path, root: Option<&str>, stager: Arc<dyn Stager>) -> Result<Self, ExecutorError> {
        make_private(folder).map_err(ExecutorError::io("cannot make the workspace", folder))?;
        let folder = folder.canonicalize().map_err(ExecutorError::io("cannot open the workspace", folder))?;
        let at = match root {
            Some(root) => root,
            None => utf8(&folder)?,
        };
        // Commands write what they like, so that a limit here would not hold.
        let source = HostFolder::new(&folder, Arc::new(Quota::unlimited()), None)
            .map_err(ExecutorError::io("cannot open the workspace", &folder))?;
        let files = TreeFiles::new(Arc::new(source), at)?;
        for folder in FOLDERS {
            files.make_folder(folder)?;
        }
        let skills = Skills::new(stager, &folder);
        Ok(Self { folder, files, skills })
    }

    /// The folder as text.
    pub fn path(&self) -> Result<&str, ExecutorError> {
        utf8(&self.folder)
    }

    /// See [`Workspace::stage`](super::Workspace::stage).
    pub async fn stage(&self, skill: &StagedSkill) -> Result<(), ExecutorError> {
        self.skills.stage(&self.files, skill).await
    }
}

fn utf8(folder: &Path) -> Result<&str, ExecutorError> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8; choose another folder");
    folder.to_str().ok_or_else(|| ExecutorError::io("cannot use", folder)(wrong()))
}
