//! What a repository left out, and why.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::skill::COLLECTION_DEPTH;

/// How many folders of a root are looked at; a root with more is most likely none.
pub const FOLDER_LIMIT: usize = 20_000;

/// Something that a repository left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Report {
    path: PathBuf,
    reason: Reason,
}

/// Why something was left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The root is not there, or is no folder.
    NoRoot,
    /// A folder cannot be read, for this cause.
    Unreadable(String),
    /// The SKILL.md cannot be used, for this cause.
    Unusable(String),
    /// Another skill has the same name and counts more.
    Duplicate {
        /// The name.
        name: String,
        /// The folder of the skill that counts.
        winner: PathBuf,
    },
    /// There are folders below that are too deep.
    TooDeep,
    /// The root has too many folders; those after this one were not looked at.
    TooManyFolders,
}

impl Report {
    pub(super) fn new(path: impl Into<PathBuf>, reason: Reason) -> Self {
        Self { path: path.into(), reason }
    }

    /// The root, folder or file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.reason {
            Reason::NoRoot => write!(f, "{path}: there is no such folder of skills"),
            Reason::Unreadable(cause) => write!(f, "{path}: cannot be read: {cause}"),
            // The cause begins with the path.
            Reason::Unusable(cause) => write!(f, "skipped {cause}"),
            Reason::Duplicate { name, winner } => {
                let winner = winner.display();
                write!(f, "skipped {path}: the skill `{name}` in {winner} has the same name and comes first")
            }
            Reason::TooDeep => {
                write!(
                    f,
                    "{path}: folders more than {COLLECTION_DEPTH} levels below a root are not looked at; give it as a root"
                )
            }
            Reason::TooManyFolders => {
                write!(f, "{path}: the root has more than {FOLDER_LIMIT} folders; the rest is not looked at")
            }
        }
    }
}
