//! Files of a workspace, as the host sees them.

use serde::Serialize;

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link. Its target is not looked at.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// A file or folder of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Entry {
    /// Its path in the workspace.
    pub path: String,
    /// What it is.
    pub kind: EntryKind,
    /// Its size in bytes; 0 for what is no file.
    pub size: u64,
    /// When its content was changed last, ns since 1970.
    pub modified: i64,
}

/// What to list.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The folder at which to begin, as a path in the workspace. A link is followed within the workspace.
    pub below: &'a str,
    /// How many levels of folders: 1 is the folder alone.
    pub depth: usize,
    /// The most entries.
    pub most: usize,
}

/// What there is below a folder. Links are listed and never followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Sorted by path.
    pub entries: Vec<Entry>,
    /// Sentences about what could not be read, at most 20.
    pub notes: Vec<String>,
    /// Whether there is more than was asked for.
    pub is_cut: bool,
}
