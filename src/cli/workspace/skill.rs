//! How a skill's folder is seen in the sandbox.

use std::path::Path;

use super::{Workspace, WorkspaceError};
use crate::skill::Skill;
use crate::{Mount, SandboxBuilder};

/// The names that the workspace lays over a skill's folder, with where each link points.
const LINKS: [(&str, &str); 3] = [("out", "../../out"), ("work", "../../work"), ("inputs", "../../work/inputs")];
/// The writable folder that each skill has, for Python's virtual environments.
const VENV: &str = ".venv";
/// Where these folders are in the workspace. Guests see them at their mounts only: a link in their place would be
/// followed on the host.
pub(super) const VENVS: &str = ".venvs";

impl Workspace {
    /// Makes a skill visible in a sandbox: its folder, read-only, with the workspace's links and a writable `.venv`, which
    /// is kept in the workspace, laid over it; and its name in the environment.
    ///
    /// # Errors
    /// When the writable folder cannot be made.
    pub fn mount_skill(&self, builder: SandboxBuilder, skill: &Skill) -> Result<SandboxBuilder, WorkspaceError> {
        let place = skill.sandbox_path();
        let folder = Path::new(VENVS).join(skill.name());
        self.make_folder(&folder)?;
        let mount = Mount::new(skill.folder(), &place);
        let mount = LINKS.iter().fold(mount, |mount, (name, target)| mount.link(*name, *target));
        let venv = Mount::new(self.path().join(folder), format!("{place}/{VENV}")).writable();
        Ok(builder.mount(mount).mount(venv).env("SKILL_NAME", skill.name()))
    }
}

/// What the skill itself has under names that the workspace lays over it.
pub fn hidden_entries(skill: &Skill) -> Vec<&'static str> {
    let names = LINKS.iter().map(|(name, _)| *name).chain([VENV]);
    names.filter(|name| skill.folder().join(name).symlink_metadata().is_ok()).collect()
}
