//! Skills by path, or by name under some roots.

use std::path::{Path, PathBuf};

use super::error::SkillError;
use super::folder::{Skill, skill_file};

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

/// Finds a skill: a path when it has a `/` or begins with `.`, else the name of a folder under the roots.
///
/// # Errors
/// When it is not there; the error lists what is.
pub fn find(name: &str, roots: &[PathBuf]) -> Result<Skill, SkillError> {
    if name.contains('/') || name.starts_with('.') {
        return Skill::open(Path::new(name));
    }
    for root in roots {
        let folder = root.join(name);
        if skill_file(&folder).is_some() {
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
    let folders = entries.flatten().map(|entry| entry.path()).filter(|path| skill_file(path).is_some());
    folders.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect()
}
