//! The skills in a folder, as far as installing needs to know.

use std::fs;
use std::path::Path;

use super::error::SourceError;
use crate::skill::{COLLECTION_DEPTH, IGNORED_FOLDERS, Summary, skill_file};

/// Whether `folder` is a skill.
pub fn is_skill(folder: &Path) -> bool {
    skill_file(folder).is_some()
}

/// The skills in `root`: itself, or folders in it down to six levels; relative, sorted, with `/` between components and
/// empty for `root` itself. Below a skill there is no other. Links and hidden folders are not followed.
pub fn skills_in(root: &Path) -> Result<Vec<String>, SourceError> {
    let mut found = Vec::new();
    look(root, "", 0, &mut found)?;
    found.sort();
    Ok(found)
}

fn look(folder: &Path, name: &str, depth: usize, found: &mut Vec<String>) -> Result<(), SourceError> {
    if is_skill(folder) {
        found.push(name.to_owned());
        return Ok(());
    }
    if depth == COLLECTION_DEPTH {
        return Ok(());
    }
    let failed = |error| SourceError::io("read", folder, error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(child) = entry.file_name().into_string() else { continue };
        if child.starts_with('.') || IGNORED_FOLDERS.contains(&child.as_str()) {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let name = if name.is_empty() { child } else { format!("{name}/{child}") };
            look(&entry.path(), &name, depth + 1, found)?;
        }
    }
    Ok(())
}

/// The name that a skill's front matter has. Nothing when it cannot be read, which whoever uses the skill is told.
pub fn skill_name(folder: &Path) -> Option<String> {
    let folder_name = folder.file_name().unwrap_or_default().to_string_lossy();
    Summary::read(&skill_file(folder)?, &folder_name).ok().map(|summary| summary.name().to_owned())
}
