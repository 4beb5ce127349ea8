//! The skills in a folder, as far as installing needs to know.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::error::SourceError;

/// A folder with one of these is a skill.
const SKILL_FILES: [&str; 2] = ["SKILL.md", "skill.md"];
/// How far down skills are looked for: a collection of collections, with room.
const DEPTH: usize = 6;
/// Folders that hold no skills of their own.
const IGNORED: [&str; 6] = ["node_modules", "__pycache__", "target", "build", "dist", "venv"];

/// Whether `folder` is a skill.
pub fn is_skill(folder: &Path) -> bool {
    skill_file(folder).is_some()
}

/// The folder's `SKILL.md`.
pub fn skill_file(folder: &Path) -> Option<PathBuf> {
    SKILL_FILES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
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
    if depth == DEPTH {
        return Ok(());
    }
    let failed = |error| SourceError::io("read", folder, error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(child) = entry.file_name().into_string() else { continue };
        if child.starts_with('.') || IGNORED.contains(&child.as_str()) {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let name = if name.is_empty() { child } else { format!("{name}/{child}") };
            look(&entry.path(), &name, depth + 1, found)?;
        }
    }
    Ok(())
}

/// The name that a skill's front matter has, read as far as it stands on one line; anything else is for the parser.
pub fn skill_name(folder: &Path) -> Option<String> {
    /// Front matter ends long before.
    const LONGEST: u64 = 64 << 10;
    let mut text = Vec::new();
    File::open(skill_file(folder)?).ok()?.take(LONGEST).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.trim_start_matches('\u{feff}').lines().skip_while(|line| line.trim().is_empty());
    if lines.next()?.trim_end() != "---" {
        return None;
    }
    let mut header = lines.take_while(|line| !matches!(line.trim_end(), "---" | "..."));
    let value = header.find_map(|line| line.strip_prefix("name:"))?.trim();
    let value = value.split_once(" #").map_or(value, |(value, _)| value.trim_end());
    let unquoted = [('"', '"'), ('\'', '\'')]
        .iter()
        .find_map(|(open, close)| value.strip_prefix(*open).and_then(|value| value.strip_suffix(*close)));
    Some(unquoted.unwrap_or(value).to_owned()).filter(|name| !name.is_empty())
}
