//! Skills in workspaces that are folders of the host: copies, or whatever a [`Stager`] makes.

mod copy;

use std::fmt::Debug;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use cap_std::ambient_authority;
use cap_std::fs::Dir;

pub use copy::CopyStager;

use super::tree::{TreeFiles, skill_name};
use super::{EntryKind, ExecutorError, FileError, StagedSkill, native, remove};

/// The folder of a workspace in which skills are.
const SKILLS: &str = "skills";
/// The most bytes of a record of a digest.
const DIGEST_MAX: usize = 1 << 10;

/// Brings skills into workspaces that are folders of the host: see [`CopyStager`] for what the default one does.
///
/// It is not asked again for a skill of the same digest that is still there, and for one workspace it is asked for one
/// skill at a time.
#[async_trait]
pub trait Stager: Debug + Send + Sync {
    /// Brings a skill's files into the workspace in the folder `workspace` of the host, in place of what was brought
    /// for its name before, and answers the folder where they are. That must lie inside the workspace. Where it is not
    /// `skills/NAME`, a link is made there.
    ///
    /// The skill's folder should have the links `out`, `work` and `inputs`, and a writable folder `.venv`. Links in the
    /// workspace may be a command's work: do not follow them out of it.
    ///
    /// # Errors
    /// When the skill's folder is gone or cannot be brought.
    async fn stage(&self, workspace: &Path, skill: &StagedSkill) -> Result<PathBuf, ExecutorError>;
}

/// The skills of a workspace.
#[derive(Debug)]
pub(super) struct Skills {
    stager: Arc<dyn Stager>,
    /// The workspace on the host, without links.
    root: PathBuf,
    one_at_a_time: tokio::sync::Mutex<()>,
}

impl Skills {
    pub fn new(stager: Arc<dyn Stager>, root: &Path) -> Self {
        Self { stager, root: root.to_owned(), one_at_a_time: tokio::sync::Mutex::default() }
    }

    /// Stages a skill, unless the one of this digest is there.
    pub async fn stage(&self, files: &TreeFiles, skill: &StagedSkill) -> Result<(), ExecutorError> {
        let name = skill_name(&skill.name)?;
        let _one = self.one_at_a_time.lock().await;
        let place = format!("{SKILLS}/{name}");
        let record = format!("{SKILLS}/.{name}.sha256");
        let is_there = files.stat(&place).is_ok_and(|entry| entry.kind == EntryKind::Folder);
        if is_there && files.read(&record, 0, DIGEST_MAX).is_ok_and(|digest| digest == skill.digest.as_bytes()) {
            return Ok(());
        }
        // What is there is neither the old nor the new one until all is done.
        files.remove(&record)?;
        let staged = self.stager.stage(&self.root, skill).await?;
        let staged = self.below_root(&staged)?;
        if staged != Path::new(&place) {
            self.link(name, &staged).map_err(ExecutorError::io("cannot link the skill in", &self.root))?;
        }
        files.write(&record, skill.digest.as_bytes(), 0o644)
    }

    /// The path in the workspace of what a stager answered.
    fn below_root(&self, staged: &Path) -> Result<PathBuf, ExecutorError> {
        let real = staged.canonicalize().map_err(ExecutorError::io("cannot find what was staged in", staged))?;
        let below = real.strip_prefix(&self.root).ok().filter(|below| !below.as_os_str().is_empty());
        let outside = || FileError::Outside(staged.display().to_string());
        let below = below.ok_or_else(outside)?;
        if real.is_dir() {
            Ok(below.to_owned())
        } else {
            Err(FileError::NotAFolder(staged.display().to_string()).into())
        }
    }

    fn link(&self, name: &str, staged: &Path) -> std::io::Result<()> {
        let root = Dir::open_ambient_dir(&self.root, ambient_authority())?;
        root.create_dir_all(SKILLS)?;
        let skills = root.open_dir(SKILLS)?;
        let target: PathBuf = [Component::ParentDir].into_iter().chain(staged.components()).collect();
        if skills.read_link_contents(name).is_ok_and(|known| known == target) {
            return Ok(());
        }
        remove::name(&skills, name)?;
        skills.symlink_contents(target, name)
    }
}
