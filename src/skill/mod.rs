//! What a skill is, as far as running one goes: a folder with a `SKILL.md`, found by path or by name.

use std::path::{Path, PathBuf};

use crate::Mount;

/// The names that the workspace lays over a skill's folder, with where each link points.
const LINKS: [(&str, &str); 3] = [("out", "../../out"), ("work", "../../work"), ("inputs", "../../work/inputs")];
/// The writable folder that each skill has, for Python's virtual environments.
const VENV: &str = ".venv";
/// Where skills are in the sandbox.
const GUEST_ROOT: &str = "/workspace/skills";

/// Why there is no such skill.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    /// A path leads nowhere.
    #[error("there is no folder {0}")]
    NoFolder(PathBuf),
    /// A folder is no skill.
    #[error("{0} is no skill: it has no SKILL.md")]
    NoSkillFile(PathBuf),
    /// A folder's name cannot be a path in the sandbox.
    #[error("the skill's folder {0} has no plain name: letters, digits, `.`, `_` and `-` only, not beginning with `.`")]
    Name(PathBuf),
    /// No root has this skill.
    #[error("unknown skill `{name}`; {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is, in words.
        known: String,
    },
}

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    name: String,
    folder: PathBuf,
}

impl Skill {
    /// The skill in a folder.
    ///
    /// # Errors
    /// When there is no such folder, or it is no skill.
    pub fn open(folder: &Path) -> Result<Self, SkillError> {
        if !folder.is_dir() {
            return Err(SkillError::NoFolder(folder.to_owned()));
        }
        if !is_skill(folder) {
            return Err(SkillError::NoSkillFile(folder.to_owned()));
        }
        let unnamed = || SkillError::Name(folder.to_owned());
        // `.` and `skills/x/..` have names too.
        let real = folder.canonicalize().map_err(|_| unnamed())?;
        let name = real.file_name().and_then(|name| name.to_str()).ok_or_else(unnamed)?;
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.starts_with('.') || !name.chars().all(plain) {
            return Err(unnamed());
        }
        Ok(Self { name: name.to_owned(), folder: real })
    }

    /// Its name: the folder's.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its folder on the host, without links.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where it is in the sandbox.
    pub fn guest_path(&self) -> String {
        format!("{GUEST_ROOT}/{}", self.name)
    }

    /// Where its writable folder is in the sandbox.
    pub fn guest_venv(&self) -> String {
        format!("{}/{VENV}", self.guest_path())
    }

    /// Its folder, read-only, with the workspace's links laid over it.
    pub fn mount(&self) -> Mount {
        let mount = Mount::new(&self.folder, self.guest_path());
        LINKS.iter().fold(mount, |mount, (name, target)| mount.link(*name, *target))
    }

    /// What the skill itself has under names that the workspace lays over it.
    pub fn hidden_entries(&self) -> Vec<&'static str> {
        let names = LINKS.iter().map(|(name, _)| *name).chain([VENV]);
        names.filter(|name| self.folder.join(name).symlink_metadata().is_ok()).collect()
    }
}

fn is_skill(folder: &Path) -> bool {
    folder.join("SKILL.md").is_file()
}

/// The folders to look in: the given ones, else those of `$SKILLS_ROOT`, else `skills`.
pub fn roots(given: &[PathBuf]) -> Vec<PathBuf> {
    if !given.is_empty() {
        return given.to_vec();
    }
    match std::env::var_os("SKILLS_ROOT").filter(|roots| !roots.is_empty()) {
        Some(roots) => std::env::split_paths(&roots).collect(),
        None => vec![PathBuf::from("skills")],
    }
}

/// Finds a skill: a path when it has a `/` or begins with `.`, else a name under the roots.
///
/// # Errors
/// When it is not there; the error lists what is.
pub fn find(name: &str, roots: &[PathBuf]) -> Result<Skill, SkillError> {
    if name.contains('/') || name.starts_with('.') {
        return Skill::open(Path::new(name));
    }
    for root in roots {
        let folder = root.join(name);
        if is_skill(&folder) {
            return Skill::open(&folder);
        }
    }
    let mut known: Vec<String> = roots.iter().flat_map(|root| names(root)).collect();
    known.sort();
    known.dedup();
    let places: Vec<_> = roots.iter().map(|root| root.display().to_string()).collect();
    let known = if known.is_empty() {
        format!("there are no skills in {}; give a path (`./{name}`) or --skills ROOT", places.join(", "))
    } else {
        format!("known are {}", known.join(", "))
    };
    Err(SkillError::Unknown { name: name.to_owned(), known })
}

fn names(root: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    let folders = entries.flatten().map(|entry| entry.path()).filter(|path| is_skill(path));
    folders.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect()
}
