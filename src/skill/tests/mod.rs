//! Tests of what needs folders or the parts of a file. The forms of SKILL.md are in `tests/skill_forms.rs`.
#![allow(clippy::unwrap_used)]

mod check;
mod folder;
mod properties;
mod requirements;
mod tools;

use std::path::Path;

/// Writes a file of a skill, with the folders above it.
fn write(folder: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}
