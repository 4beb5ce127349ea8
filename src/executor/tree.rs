//! Files of a workspace, in whatever tree they lie.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::{Entry, EntryKind, ExecutorError, FileError, Listing, Query};
use crate::sandbox::{Errno, FileSystem, FileType, GuestPath, Metadata, MountTable, Tree, TreeMount, Vfs, WalkLimits};

/// The most files and folders that a listing meets.
const LOOKED_AT_MAX: u64 = 200_000;
/// The most sentences of a listing about what cannot be read.
const NOTES_MAX: usize = 20;

/// The files of a workspace that commands see at `root`.
#[derive(Debug)]
pub(super) struct TreeFiles {
    source: Arc<dyn FileSystem>,
    tree: Tree,
    root: String,
}

impl TreeFiles {
    pub fn new(source: Arc<dyn FileSystem>, root: &str) -> Result<Self, ExecutorError> {
        let mut table = MountTable::new();
        let at = GuestPath::new(root.as_bytes()).map_err(file_error(root))?;
        let mount = TreeMount { at, source: Arc::clone(&source), read_only: false, links: Vec::new() };
        table.add(mount).map_err(file_error(root))?;
        Ok(Self { source, tree: Tree::new(Vfs::new(table)), root: root.to_owned() })
    }

    /// Where they lie.
    pub fn source(&self) -> Arc<dyn FileSystem> {
        Arc::clone(&self.source)
    }

    /// See [`Workspace::list`](super::Workspace::list).
    pub fn list(&self, query: &Query<'_>) -> Result<Listing, ExecutorError> {
        let below = inside(query.below)?;
        let mut listing = Listing::default();
        let mut notes = Notes(&mut listing.notes);
        let mut is_cut = false;
        let entries = &mut listing.entries;
        let limits = WalkLimits { depth: query.depth, entries: LOOKED_AT_MAX };
        let prefix = self.canonical(query.below)?;
        let walked = self.tree.walk(&self.guest(below), limits, |visit| {
            if Tree::is_unfinished(visit.path) {
                return ControlFlow::Continue(());
            }
            if entries.len() == query.most {
                is_cut = true;
                return ControlFlow::Break(());
            }
            // A link as the folder leads elsewhere in the workspace; names are those that were asked for.
            let rest = visit.path.get(prefix.len()..).unwrap_or_default();
            let Ok(rest) = std::str::from_utf8(rest) else {
                notes.add(visit.path, "has a name that is not UTF-8");
                return ControlFlow::Continue(());
            };
            let path = format!("{below}{rest}");
            let path = path.trim_start_matches('/');
            if visit.closed && visit.depth < query.depth {
                notes.add(path.as_bytes(), "cannot be read");
            }
            // What has gone meanwhile is not there.
            if let Ok(metadata) = self.tree.stat(visit.path, false) {
                entries.push(entry(path.to_owned(), visit.file_type, &metadata));
            }
            ControlFlow::Continue(())
        });
        let walked = walked.map_err(file_error(query.below))?;
        listing.is_cut = is_cut || walked.entries == LOOKED_AT_MAX;
        listing.entries.sort();
        Ok(listing)
    }

    /// See [`Workspace::stat`](super::Workspace::stat). The entry's path has no links.
    pub fn stat(&self, path: &str) -> Result<Entry, ExecutorError> {
        let real = self.canonical(path)?;
        let metadata = self.tree.stat(&real, true).map_err(file_error(path))?;
        Ok(entry(self.relative(&real), metadata.file_type, &metadata))
    }

    /// See [`Workspace::read`](super::Workspace::read).
    pub fn read(&self, path: &str, offset: u64, most: usize) -> Result<Vec<u8>, ExecutorError> {
        let real = self.canonical(path)?;
        Ok(self.tree.read(&real, offset, most).map_err(file_error(path))?)
    }

    /// See [`Workspace::write`](super::Workspace::write).
    pub fn write(&self, path: &str, content: &[u8], mode: u32) -> Result<(), ExecutorError> {
        let inside = inside(path)?;
        if inside.is_empty() {
            return Err(FileError::IsAFolder(path.to_owned()).into());
        }
        Ok(self.tree.write(&self.guest(inside), content, mode).map_err(file_error(path))?)
    }

    /// See [`Workspace::make_folder`](super::Workspace::make_folder).
    pub fn make_folder(&self, path: &str) -> Result<(), ExecutorError> {
        let inside = inside(path)?;
        if inside.is_empty() {
            return Ok(());
        }
        Ok(self.tree.make_dirs(&self.guest(inside)).map_err(file_error(path))?)
    }

    /// See [`Workspace::remove`](super::Workspace::remove).
    pub fn remove(&self, path: &str) -> Result<(), ExecutorError> {
        let inside = inside(path)?;
        if inside.is_empty() {
            return Err(FileError::IsAFolder(path.to_owned()).into());
        }
        match self.tree.remove(&self.guest(inside), u64::MAX) {
            Ok(_) | Err(Errno::NoEntry) => Ok(()),
            Err(error) => Err(file_error(path)(error).into()),
        }
    }

    /// The path of what is there, links followed.
    fn canonical(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let found = self.tree.vfs().real_path(&GuestPath::root(), &self.guest(inside(path)?));
        Ok(found.map_err(file_error(path))?.as_bytes().to_vec())
    }

    /// Where commands see a path of the workspace.
    fn guest(&self, path: &str) -> Vec<u8> {
        if path.is_empty() { self.root.clone().into() } else { format!("{}/{path}", self.root).into_bytes() }
    }

    /// The path in the workspace that a guest's path stands for.
    fn relative(&self, path: &[u8]) -> String {
        let text = String::from_utf8_lossy(path);
        text.strip_prefix(&self.root).unwrap_or(&text).trim_start_matches('/').to_owned()
    }
}

/// A path in the workspace without `/` at its end, or an error when it leads out of it.
pub(super) fn inside(path: &str) -> Result<&str, FileError> {
    let path = path.trim_end_matches('/');
    let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    if path.is_empty() || path.split('/').all(plain) { Ok(path) } else { Err(FileError::Outside(path.to_owned())) }
}

/// The name of a skill's folder, or an error when it is more than a name.
pub(super) fn skill_name(name: &str) -> Result<&str, FileError> {
    let place = inside(name)?;
    if place.is_empty() || place.contains('/') { Err(FileError::Outside(name.to_owned())) } else { Ok(place) }
}

fn entry(path: String, file_type: FileType, metadata: &Metadata) -> Entry {
    let kind = match file_type {
        FileType::Regular => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        FileType::Fifo | FileType::CharDevice => EntryKind::Special,
    };
    let size = if kind == EntryKind::File { metadata.size } else { 0 };
    Entry { path, kind, size, modified: metadata.modified }
}

pub(super) fn file_error(path: &str) -> impl Fn(Errno) -> FileError {
    let path = path.to_owned();
    move |error| {
        let path = path.clone();
        match error {
            Errno::NoEntry => FileError::NotFound(path),
            Errno::Access => FileError::Outside(path),
            Errno::NotSupported => FileError::NotAFile(path),
            Errno::NotDirectory => FileError::NotAFolder(path),
            Errno::IsDirectory => FileError::IsAFolder(path),
            Errno::ReadOnly => FileError::ReadOnly(path),
            Errno::NoSpace | Errno::FileTooBig => FileError::NoSpace(path),
            error => FileError::Other { path, reason: format!("{error:?}") },
        }
    }
}

/// Sentences about paths, a few of them.
struct Notes<'a>(&'a mut Vec<String>);

impl Notes<'_> {
    fn add(&mut self, path: &[u8], what: &str) {
        const SHOWN_MAX: usize = 200;
        if self.0.len() < NOTES_MAX {
            let path: String = String::from_utf8_lossy(path).chars().take(SHOWN_MAX).collect();
            self.0.push(format!("{path} {what} and is left out"));
        }
    }
}
