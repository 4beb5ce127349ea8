//! Why a skill cannot be used.

use std::path::PathBuf;

use super::{HEADER_LIMIT, SKILL_FILE_LIMIT};

/// Why there is no such skill, or why it cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// A path leads nowhere.
    #[error("there is no folder {0}")]
    NoFolder(PathBuf),
    /// A folder is no skill.
    #[error("{0} is no skill: it has no SKILL.md")]
    NoSkillFile(PathBuf),
    /// A file or folder cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A SKILL.md is a link to a file outside of its folder, which may be anything.
    #[error("the file is a link that leads out of the skill's folder; copy the file here")]
    LinkOutside,
    /// What is wrong with a SKILL.md, with its path.
    #[error("{path}: {source}")]
    In {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Box<SkillError>,
    },
    /// A SKILL.md is larger than [`SKILL_FILE_LIMIT`].
    #[error("the file has {bytes} bytes, and a SKILL.md may have {SKILL_FILE_LIMIT}; move details into documents")]
    TooLarge {
        /// Its size.
        bytes: u64,
    },
    /// The front matter does not end within [`HEADER_LIMIT`].
    #[error("the front matter does not end within {HEADER_LIMIT} bytes; close it with a line `---`")]
    HeaderTooLarge,
    /// A file is not UTF-8.
    #[error("{line}:{column}: the text is not UTF-8{hint}")]
    NotUtf8 {
        /// The line of the first wrong byte, from 1.
        line: u32,
        /// Its column in characters, from 1.
        column: u32,
        /// What it may be instead.
        hint: &'static str,
    },
    /// A skill does not say what it is for.
    #[error("{line}:{column}: there is no description; add a line `description: What it does and when to use it`")]
    NoDescription {
        /// The line where it is missed, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
    },
    /// A name could lead out of the folder of skills, or cannot be printed.
    #[error(
        "{line}:{column}: the name `{name}` is not safe as the name of a folder; use lower-case letters, digits and \
         hyphens"
    )]
    UnsafeName {
        /// The name, printable.
        name: String,
        /// Its line, from 1.
        line: u32,
        /// Its column, from 1.
        column: u32,
    },
    /// A skill has no such document.
    #[error("the skill `{skill}` has no document `{path}`; {known}")]
    NoDocument {
        /// The skill.
        skill: String,
        /// What was asked for, printable.
        path: String,
        /// What there is, in words.
        known: String,
    },
}
