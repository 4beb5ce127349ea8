//! The lock file of a root of skills: what was installed, from where, and its digest.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::digest::Sha256Sum;
use super::error::SourceError;
use super::temporary::{self, Temporary};

/// The only version of the format.
const VERSION: u32 = 1;

/// `skills.lock`: JSON with `version` and `skills`, made to be read by people and kept under version control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockFile {
    version: u32,
    /// What is installed, sorted by name.
    pub skills: Vec<LockedSkill>,
}

/// An installed skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LockedSkill {
    /// Its folder below the root.
    pub name: String,
    /// Where it comes from, as [`Source::parse`](super::Source::parse) reads it.
    pub source: String,
    /// Where it is in the source, with `/` between components; empty when the source is the skill.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The digest of its files; see [`tree_digest`](super::tree_digest).
    pub sha256: Sha256Sum,
    /// The digest of the archive that it came in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive_sha256: Option<Sha256Sum>,
    /// When it was installed or last updated, in UTC as RFC 3339 has it.
    pub fetched: String,
}

impl LockFile {
    /// The name in a root.
    pub const NAME: &str = "skills.lock";

    /// Reads the lock file of `root`; without one nothing is installed.
    ///
    /// # Errors
    ///
    /// [`SourceError::Lock`] when it cannot be read or was written by a newer wskill.
    pub fn read(root: &Path) -> Result<Self, SourceError> {
        let path = root.join(Self::NAME);
        let wrong = |reason: String| SourceError::Lock { path: path.clone(), reason };
        let text = match read_bounded(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { version: VERSION, skills: Vec::new() });
            }
            Err(error) => return Err(wrong(format!("cannot be read: {error}"))),
        };
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let versioned: Versioned = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if versioned.version != VERSION {
            return Err(wrong(format!("version {} needs another wskill; this one has {VERSION}", versioned.version)));
        }
        let lock: Self = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        // What becomes a path must stay where it belongs.
        let stays = |path: &str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        for skill in &lock.skills {
            if !is_folder_name(&skill.name) || !stays(&skill.path) {
                let wrong_one = if stays(&skill.path) { &skill.name } else { &skill.path };
                return Err(wrong(format!("`{}` cannot be a folder", wrong_one.escape_debug())));
            }
        }
        Ok(lock)
    }

    /// The skill of that name.
    pub fn get(&self, name: &str) -> Option<&LockedSkill> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    /// The names of all.
    pub fn names(&self) -> Vec<String> {
        self.skills.iter().map(|skill| skill.name.clone()).collect()
    }

    pub(super) fn set(&mut self, skill: LockedSkill) {
        self.skills.retain(|other| other.name != skill.name);
        self.skills.push(skill);
        self.skills.sort_by(|one, other| one.name.cmp(&other.name));
    }

    pub(super) fn write(&self, root: &Path) -> Result<(), SourceError> {
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        replace(&root.join(Self::NAME), &text)
    }
}

/// Reads a lock file: a regular file, for a pipe or device in its place would never end.
fn read_bounded(path: &Path) -> std::io::Result<String> {
    /// Bytes of 10,000 skills, and room.
    const LONGEST: u64 = 16 << 20;
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > LONGEST {
        return Err(std::io::Error::other(format!("no regular file of at most {LONGEST} bytes")));
    }
    fs::read_to_string(path)
}

/// Whether `name` can be a skill's folder: letters, digits, `.`, `_`, `-`, not beginning with `.` or `-`, and nothing
/// that a platform reads otherwise.
pub fn is_folder_name(name: &str) -> bool {
    super::archive::FileName::from_lossy(name).0 == name
}

/// Writes a file to a name of its own and renames it, so that a reader finds the former or the new one.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), SourceError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let temporary = Temporary::make(folder, temporary::BESIDE)?;
    let draft: PathBuf = temporary.path().join("draft");
    fs::write(&draft, content).map_err(|error| SourceError::io("write", &draft, error))?;
    fs::rename(&draft, path).map_err(|error| SourceError::io("write", path, error))
}

/// The time now, in UTC.
pub fn timestamp() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    utc(now.as_secs())
}

/// Seconds since 1970 as RFC 3339 writes them.
pub fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years are counted from March, in eras of 400, so that the leap day is the last of its year.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_796_083_199, "2026-11-30T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), text);
        }
    }

    #[test]
    fn names_of_folders() {
        for name in ["pdf-forms", "a.b_c", "0", "A"] {
            assert!(is_folder_name(name), "{name}");
        }
        for name in ["", "..", ".a", "-a", "a/b", "a b", "a.", "nul", "é", &"a".repeat(65)] {
            assert!(!is_folder_name(name), "{name}");
        }
    }
}
