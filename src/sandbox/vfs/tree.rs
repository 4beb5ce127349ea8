//! Files as the host reads and writes them.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::file_system::{DirEntry, File, FileSystem, FileType, Metadata, Node};
#[cfg(test)]
use super::mount::{Mount, MountTable};
use super::operations::{OpenOptions, check_removable};
use super::path::GuestPath;
use super::walk::{LastLink, LastPart, Vfs};
use crate::sandbox::errno::{Errno, Result};

/// What names of files begin with that are being written; 16 hexadecimal digits follow.
const UNFINISHED: &str = ".new-";
/// From which depth on a directory to be removed is moved up first.
const MOVED_DEPTH: usize = 100;

/// What the host does with files that guests see and change: paths are the guests' and walked in their terms, so that
/// no link leads out of the mounts, and nothing but regular files is ever opened.
///
/// Guests may change everything between two calls, and in the middle of a walk or a removal. All calls are
/// synchronous, and none waits for a guest.
#[derive(Debug)]
pub struct Tree {
    vfs: Vfs,
}

/// How far [`Tree::walk`] goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkLimits {
    /// Levels below the first directory. 1 is its own entries.
    pub depth: usize,
    /// Entries that are met.
    pub entries: u64,
}

/// An entry that a walk has met.
#[derive(Debug)]
pub struct Visit<'walk> {
    /// Its path, absolute.
    pub path: &'walk [u8],
    /// Levels below the directory where the walk began; 1 for its own entries.
    pub depth: usize,
    /// Its type; links are not followed.
    pub file_type: FileType,
    /// Whether it is a directory whose entries the walk leaves out, because one of the limits is met, its path is too
    /// long for a guest as well, or it cannot be read.
    pub closed: bool,
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// How many entries were met.
    pub entries: u64,
    /// Whether those were all.
    pub complete: bool,
}

impl Tree {
    /// The tree of these mounts.
    pub fn new(vfs: Vfs) -> Self {
        Self { vfs }
    }

    /// One file system alone, at `/`.
    #[cfg(test)]
    pub fn of(source: Arc<dyn FileSystem>) -> Result<Self> {
        let mut table = MountTable::new();
        table.add(Mount { at: GuestPath::root(), source, read_only: false, links: Vec::new() })?;
        Ok(Self::new(Vfs::new(table)))
    }

    /// The tree as guests' calls use it.
    pub fn vfs(&self) -> &Vfs {
        &self.vfs
    }

    /// What is at `path`; of a link, if `follow`, what it leads to.
    pub fn stat(&self, path: &[u8], follow: bool) -> Result<Metadata> {
        self.vfs.metadata(&GuestPath::root(), path, follow)
    }

    /// Reads up to `length` bytes of a regular file at `offset`: fewer only at its end. `NotSupported` for pipes and
    /// devices.
    pub fn read(&self, path: &[u8], offset: u64, length: usize) -> Result<Vec<u8>> {
        let options = OpenOptions { read: true, ..OpenOptions::default() };
        let file = regular(self.vfs.open(&GuestPath::root(), path, &options)?.node)?;
        // A file may say that it is longer than it is, and be cut meanwhile.
        let left = usize::try_from(file.metadata()?.size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut data = vec![0; length.min(left)];
        let mut done = 0;
        while done < data.len() {
            let count = file.read_at(data.get_mut(done..).unwrap_or_default(), offset + done as u64)?;
            if count == 0 {
                break;
            }
            done += count;
        }
        data.truncate(done);
        Ok(data)
    }

    /// Gives a file this content, as one step: others see all of it or what was there before. The directories above it
    /// are made with mode 755. A file that is there keeps its mode, a new one gets `mode`; a link is followed.
    /// `IsDirectory` for a directory, `NotSupported` for pipes and devices.
    pub fn write(&self, path: &[u8], data: &[u8], mode: u32) -> Result<()> {
        let root = GuestPath::root();
        if let Some(slash) = path.iter().rposition(|&byte| byte == b'/') {
            self.make_dirs(path.get(..slash).unwrap_or_default())?;
        }
        let resolved = self.vfs.resolve(&root, path, true)?;
        let mode = match resolved.metadata.map(|metadata| (metadata.file_type, metadata.mode)) {
            None => mode,
            Some((FileType::Regular, mode)) => mode,
            Some((FileType::Directory, _)) => return Err(Errno::IsDirectory),
            Some(_) => return Err(Errno::NotSupported),
        };
        if path.ends_with(b"/") {
            return Err(Errno::IsDirectory);
        }
        let directory = resolved.path.parent().ok_or(Errno::IsDirectory)?;
        let (temporary, file) = self.temporary(&directory, mode)?;
        let written = write_all(&*file, data);
        drop(file);
        let written = written.and_then(|()| self.vfs.rename(&directory, &temporary, &root, resolved.path.as_bytes()));
        if written.is_err() {
            // The first error is the one to tell.
            let _ = self.vfs.unlink(&directory, &temporary);
        }
        written
    }

    /// Whether a path is that of a file which [`write`](Self::write) has not finished, to go by its name.
    pub fn is_unfinished(path: &[u8]) -> bool {
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let digits = name.strip_prefix(UNFINISHED.as_bytes()).unwrap_or_default();
        digits.len() == 16 && digits.iter().all(u8::is_ascii_hexdigit)
    }

    /// Makes a file with a new name in a directory.
    fn temporary(&self, directory: &GuestPath, mode: u32) -> Result<(Vec<u8>, Arc<dyn File>)> {
        // Guests do not know the name before it is there, and cannot be in the way.
        let name = format!("{UNFINISHED}{:016x}", getrandom::u64().map_err(|_| Errno::Io)?).into_bytes();
        let options = OpenOptions { write: true, create: true, exclusive: true, mode, ..OpenOptions::default() };
        let file = regular(self.vfs.open(directory, &name, &options)?.node)?;
        Ok((name, file))
    }

    /// Makes a directory and those above it, with mode 755, unless they are there.
    pub fn make_dirs(&self, path: &[u8]) -> Result<()> {
        let root = GuestPath::root();
        let ends = path.iter().enumerate().filter(|&(_, &byte)| byte == b'/').map(|(at, _)| at);
        for end in ends.chain([path.len()]) {
            let part = path.get(..end).unwrap_or_default();
            if part.is_empty() {
                continue;
            }
            if let Err(error) = self.vfs.make_dir(&root, part, 0o755) {
                match self.vfs.metadata(&root, part, true).map(|found| found.file_type) {
                    Ok(FileType::Directory) => {}
                    Ok(_) => return Err(Errno::NotDirectory),
                    Err(_) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Visits everything below a directory, of each directory the entries by name, those of a directory below right
    /// after it. Links are not followed; what is mounted below is met too. When the visitor breaks, the walk ends.
    pub fn walk(
        &self,
        path: &[u8],
        limits: WalkLimits,
        mut visitor: impl FnMut(&Visit<'_>) -> ControlFlow<()>,
    ) -> Result<Walk> {
        let start = self.vfs.real_path(&GuestPath::root(), path)?;
        let mut walk = Walk { entries: 0, complete: true };
        // Not recursive: guests choose how deep the tree is. Each level has its path and the entries to come.
        let mut levels = vec![(start.clone(), self.sorted(&start)?)];
        while let Some((directory, entries)) = levels.last_mut() {
            let Some(entry) = entries.pop() else {
                levels.pop();
                continue;
            };
            if walk.entries == limits.entries {
                walk.complete = false;
                break;
            }
            walk.entries += 1;
            let below = directory.join(&entry.name);
            let long = [directory.as_bytes(), b"/", &entry.name].concat();
            let depth = levels.len();
            let mut inner = None;
            if entry.file_type == FileType::Directory && depth < limits.depth {
                // What has become another thing meanwhile, or cannot be read, is told but not entered.
                inner = below.as_ref().ok().and_then(|below| Some((below.clone(), self.sorted(below).ok()?)));
            }
            let closed = entry.file_type == FileType::Directory && inner.is_none();
            walk.complete &= !closed;
            let path = below.as_ref().map_or(long.as_slice(), GuestPath::as_bytes);
            if visitor(&Visit { path, depth, file_type: entry.file_type, closed }).is_break() {
                walk.complete = false;
                break;
            }
            levels.extend(inner);
        }
        Ok(walk)
    }

    /// A directory's entries, the first by name last.
    fn sorted(&self, directory: &GuestPath) -> Result<Vec<DirEntry>> {
        let mut entries = self.vfs.read_dir(directory)?;
        entries.sort_unstable_by(|one, other| other.name.cmp(&one.name));
        Ok(entries)
    }

    /// Removes what is at `path`, a directory with everything in it; a link itself and not what it leads to. Answers
    /// how many names are gone; `TooBig` when there are more than `most` (those met first are gone then), `Busy` when
    /// something is mounted there or below.
    pub fn remove(&self, path: &[u8], most: u64) -> Result<u64> {
        let walked = self.vfs.walk(&GuestPath::root(), path, LastLink::Name)?;
        walked.found()?;
        check_removable(&walked)?;
        if walked.last != LastPart::Name {
            return Err(Errno::Invalid);
        }
        remove_tree(&*walked.mount.source, walked.relative(), most)
    }
}

/// The regular file that was opened.
fn regular(node: Node) -> Result<Arc<dyn File>> {
    match node {
        Node::File(file) => Ok(file),
        Node::Directory => Err(Errno::IsDirectory),
        Node::Special(_) => Err(Errno::NotSupported),
    }
}

fn write_all(file: &dyn File, data: &[u8]) -> Result<()> {
    let mut done = 0;
    while let Some(rest) = data.get(done..).filter(|rest| !rest.is_empty()) {
        let count = file.write_at(rest, done as u64)?;
        if count == 0 {
            return Err(Errno::Io);
        }
        done += count;
    }
    Ok(())
}

/// Removes what is at `path` of a tree, a directory with everything in it (the root itself stays). Links are removed
/// and not followed. Answers how many names are gone; `TooBig` when there are more than `most`, of which those are
/// gone then that were met first.
pub fn remove_tree(tree: &dyn FileSystem, path: &[u8], most: u64) -> Result<u64> {
    let mut removed = 0;
    let mut remove = |at: &[u8], is_directory: bool| {
        if removed == most {
            return Err(Errno::TooBig);
        }
        match if is_directory { tree.remove_dir(at) } else { tree.unlink(at) } {
            // A guest was faster.
            Err(Errno::NoEntry) => return Ok(removed),
            result => result?,
        }
        removed += 1;
        Ok(removed)
    };
    if tree.metadata(path)?.file_type != FileType::Directory {
        return remove(path, false);
    }
    // The path is that of the last level.
    let mut at = path.to_vec();
    let mut levels = vec![(at.len(), list(tree, &at)?)];
    let mut moved = 0;
    let mut count = 0;
    while let Some((length, entries)) = levels.last_mut() {
        at.truncate(*length);
        let Some(entry) = entries.pop() else {
            levels.pop();
            if !at.is_empty() {
                count = remove(&at, true)?;
            }
            continue;
        };
        if !at.is_empty() {
            at.push(b'/');
        }
        at.extend_from_slice(&entry.name);
        if entry.file_type != FileType::Directory {
            count = remove(&at, false)?;
            continue;
        }
        if levels.len() >= MOVED_DEPTH
            && let Some((_, first)) = levels.first_mut()
        {
            // The time that a path takes grows with its depth.
            moved += 1;
            let name = format!("..moved-{moved}").into_bytes();
            let up = if path.is_empty() { name.clone() } else { [path, b"/", &name].concat() };
            // Not all trees can do it; then it is removed where it is.
            if tree.rename(&at, &up).is_ok() {
                first.push(DirEntry { name, ..entry });
                continue;
            }
        }
        match list(tree, &at) {
            Err(Errno::NoEntry) => {}
            entries => levels.push((at.len(), entries?)),
        }
    }
    Ok(count)
}

/// A directory's entries, even if its mode forbids its owner to read it, as a guest's may.
fn list(tree: &dyn FileSystem, path: &[u8]) -> Result<Vec<DirEntry>> {
    match tree.read_dir(path) {
        Err(Errno::Access) => {
            tree.set_mode(path, 0o700)?;
            tree.read_dir(path)
        }
        result => result,
    }
}
