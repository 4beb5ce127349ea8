//! How a skill's folder is seen in the sandbox.

use crate::Mount;
use crate::skill::Skill;

/// The names that the workspace lays over a skill's folder, with where each link points.
const LINKS: [(&str, &str); 3] = [("out", "../../out"), ("work", "../../work"), ("inputs", "../../work/inputs")];
/// The writable folder that each skill has, for Python's virtual environments.
const VENV: &str = ".venv";

/// Where a skill's writable folder is in the sandbox.
pub fn venv_path(skill: &Skill) -> String {
    format!("{}/{VENV}", skill.sandbox_path())
}

/// A skill's folder, read-only, with the workspace's links laid over it.
pub fn mount(skill: &Skill) -> Mount {
    let mount = Mount::new(skill.folder(), skill.sandbox_path());
    LINKS.iter().fold(mount, |mount, (name, target)| mount.link(*name, *target))
}

/// What the skill itself has under names that the workspace lays over it.
pub fn hidden_entries(skill: &Skill) -> Vec<&'static str> {
    let names = LINKS.iter().map(|(name, _)| *name).chain([VENV]);
    names.filter(|name| skill.folder().join(name).symlink_metadata().is_ok()).collect()
}
