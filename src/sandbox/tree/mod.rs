//! A tree of files that the host reads and writes while sandboxes have it mounted.

mod part;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::clock::Clock;
use super::errno::{Errno, Result};
use super::limits::{LimitCounters, LimitName, Limits};
use super::vfs::{
    FileSystem, FileType, GuestPath, HostFolder, MemoryTree, Metadata, Mount, MountTable, Node, OpenOptions, Quota, Vfs,
};
use part::Part;

/// How much is read or written at a time, bytes.
const CHUNK: usize = 1 << 20;
/// What names of files begin with that are being written.
const TEMPORARY: &[u8] = b".wskill-";

/// A tree of files in a host folder or in memory. It has its own account of the limits `disk`, `inodes` and
/// `file_size`, which all sandboxes that mount it share.
///
/// Paths are the guests': absolute, links followed as the guests see them, so none leads out of the tree.
#[derive(Debug)]
pub struct Tree {
    vfs: Vfs,
    root: GuestPath,
    source: Arc<dyn FileSystem>,
    counters: Arc<LimitCounters>,
}

/// What was found in a folder.
#[derive(Debug)]
pub struct Found {
    /// The path below the folder where the search began.
    pub path: Vec<u8>,
    /// What `lstat` tells.
    pub metadata: Metadata,
}

impl Tree {
    /// The folder at `path`, which guests see at `root`.
    ///
    /// # Errors
    /// When it cannot be opened, or `root` is no absolute path.
    pub fn folder(path: &Path, root: &str, limits: &Limits) -> io::Result<Self> {
        let (quota, counters) = account(limits);
        Self::new(Arc::new(HostFolder::new(path, quota, None)?), root, counters)
    }

    /// An empty tree in memory, which guests see at `root`.
    ///
    /// # Errors
    /// When `root` is no absolute path.
    pub fn memory(root: &str, limits: &Limits) -> io::Result<Self> {
        let (quota, counters) = account(limits);
        Self::new(Arc::new(MemoryTree::new(quota, Arc::new(Clock::real()))), root, counters)
    }

    fn new(source: Arc<dyn FileSystem>, root: &str, counters: Arc<LimitCounters>) -> io::Result<Self> {
        let invalid = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let root = GuestPath::new(root.as_bytes()).map_err(invalid)?;
        let mut table = MountTable::new();
        let mount = Mount { at: root.clone(), source: Arc::clone(&source), read_only: false, links: Vec::new() };
        table.add(mount).map_err(invalid)?;
        Ok(Self { vfs: Vfs::new(table), root, source, counters })
    }

    /// What a sandbox mounts.
    pub fn source(&self) -> Arc<dyn FileSystem> {
        Arc::clone(&self.source)
    }

    /// How often each of its limits has refused something.
    pub fn limits_hit(&self) -> Vec<(LimitName, u64)> {
        self.counters.snapshot()
    }

    /// A folder of it, for a mount of its own. Guests must not be able to replace the folder.
    pub fn part(&self, folder: &[u8]) -> Arc<dyn FileSystem> {
        Arc::new(Part::new(self.source(), folder))
    }

    /// What is at a path, links followed, and its canonical path. `Access` when that is outside of the tree.
    pub fn metadata(&self, path: &[u8]) -> Result<(GuestPath, Metadata)> {
        let path = if path.is_empty() { b"." } else { path };
        let found = self.vfs.resolve(&self.root, path, true)?;
        if !found.path.starts_with(&self.root) {
            return Err(Errno::Access);
        }
        Ok((found.path, found.metadata.ok_or(Errno::NoEntry)?))
    }

    /// At most `most` bytes of a regular file from `offset` on. `Invalid` for what is none.
    pub fn read(&self, path: &[u8], offset: u64, most: usize) -> Result<Vec<u8>> {
        let opened = self.vfs.open(&self.root, path, &OpenOptions { read: true, ..OpenOptions::default() })?;
        let Node::File(file) = opened.node else {
            return Err(if matches!(opened.node, Node::Directory) { Errno::IsDirectory } else { Errno::Invalid });
        };
        let mut bytes = Vec::new();
        while bytes.len() < most {
            let begin = bytes.len();
            bytes.resize(begin + CHUNK.min(most - begin), 0);
            let count = file.read_at(&mut bytes[begin..], offset.saturating_add(begin as u64))?;
            bytes.truncate(begin + count);
            if count == 0 {
                break;
            }
        }
        Ok(bytes)
    }

    /// Writes a whole file in one step: it gets its name when it is there. Folders on the way are made.
    pub fn write(&self, path: &[u8], content: &[u8], mode: u32) -> Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let slash = path.iter().rposition(|&byte| byte == b'/');
        let (parent, name) = slash.map_or((&b""[..], path), |slash| (&path[..slash], &path[slash + 1..]));
        if !parent.is_empty() {
            self.make_folders(parent)?;
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = format!("{}-{number}.tmp", std::process::id());
        let separator: &[u8] = if slash.is_some() { b"/" } else { b"" };
        let temporary = [parent, separator, TEMPORARY, temporary.as_bytes()].concat();
        let options = OpenOptions { write: true, create: true, exclusive: true, mode, ..OpenOptions::default() };
        let written = (|| {
            let Node::File(file) = self.vfs.open(&self.root, &temporary, &options)?.node else {
                return Err(Errno::Invalid);
            };
            let mut done = 0;
            while done < content.len() {
                done += file.write_at(&content[done..content.len().min(done + CHUNK)], done as u64)?;
            }
            drop(file);
            self.vfs.rename(&self.root, &temporary, &self.root, &[parent, separator, name].concat())
        })();
        if written.is_err() {
            // The first error is the one to tell.
            let _ = self.vfs.unlink(&self.root, &temporary);
        }
        written
    }

    /// Makes a folder and those above it.
    pub fn make_folders(&self, path: &[u8]) -> Result<()> {
        match self.vfs.make_dir(&self.root, path, 0o755) {
            Ok(()) => return Ok(()),
            Err(Errno::Exist) => return self.expect_folder(path),
            Err(Errno::NoEntry) => {}
            Err(error) => return Err(error),
        }
        for end in (1..path.len()).filter(|&end| path[end] == b'/').chain([path.len()]) {
            match self.vfs.make_dir(&self.root, &path[..end], 0o755) {
                Ok(()) | Err(Errno::Exist) => {}
                Err(error) => return Err(error),
            }
        }
        self.expect_folder(path)
    }

    fn expect_folder(&self, path: &[u8]) -> Result<()> {
        let (_, metadata) = self.metadata(path)?;
        if metadata.file_type == FileType::Directory { Ok(()) } else { Err(Errno::NotDirectory) }
    }

    /// What lies below a folder, at most `depth` levels and about `most` entries, sorted by path; and what could not be
    /// read. Links are listed and not followed, but `path` itself may be one.
    pub fn list(&self, path: &[u8], depth: usize, most: usize) -> Result<(Vec<Found>, Vec<(Vec<u8>, Errno)>)> {
        let (begin, metadata) = self.metadata(path)?;
        if metadata.file_type != FileType::Directory {
            return Err(Errno::NotDirectory);
        }
        let begin = begin.relative().get(self.root.relative().len()..).unwrap_or_default();
        let begin = begin.strip_prefix(b"/").unwrap_or(begin);
        let mut found = Vec::new();
        let mut failed = Vec::new();
        // Folders by path, the next one last.
        let mut open = vec![(Vec::new(), 0)];
        while let Some((below, level)) = open.pop() {
            let folder = join(begin, &below);
            let entries = match self.source.read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    failed.push((below, error));
                    continue;
                }
            };
            for entry in entries {
                if entry.name.starts_with(TEMPORARY) {
                    continue;
                }
                let path = join(&below, &entry.name);
                match self.source.metadata(&join(begin, &path)) {
                    Ok(metadata) => {
                        if metadata.file_type == FileType::Directory && level + 1 < depth {
                            open.push((path.clone(), level + 1));
                        }
                        found.push(Found { path, metadata });
                    }
                    // It has gone meanwhile.
                    Err(Errno::NoEntry) => {}
                    Err(error) => failed.push((path, error)),
                }
            }
            if found.len() > most {
                break;
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        failed.sort_by(|a, b| a.0.cmp(&b.0));
        Ok((found, failed))
    }

    /// Removes a name; a folder with all that is in it. Links are removed, not followed.
    pub fn remove(&self, path: &[u8]) -> Result<()> {
        match self.vfs.unlink(&self.root, path) {
            Err(Errno::NoEntry) => return Ok(()),
            Err(Errno::IsDirectory) => {}
            done => return done,
        }
        // Folders are emptied from below, without recursion: a guest may have nested them deep.
        let mut open = vec![path.to_vec()];
        while let Some(folder) = open.last().cloned() {
            match self.vfs.remove_dir(&self.root, &folder) {
                Ok(()) | Err(Errno::NoEntry) => {
                    open.pop();
                    continue;
                }
                Err(Errno::NotEmpty) => {}
                Err(error) => return Err(error),
            }
            // Without rights of the owner nothing in it can be removed; whether they can be given shows below.
            let _ = self.vfs.set_mode(&self.root, &folder, false, 0o700);
            let canonical = self.vfs.real_path(&self.root, &folder)?;
            for entry in self.vfs.read_dir(&canonical)? {
                let path = join(&folder, &entry.name);
                match self.vfs.unlink(&self.root, &path) {
                    Ok(()) | Err(Errno::NoEntry) => {}
                    Err(Errno::IsDirectory) => open.push(path),
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}

fn account(limits: &Limits) -> (Arc<Quota>, Arc<LimitCounters>) {
    let counters = Arc::<LimitCounters>::default();
    (Arc::new(Quota::new(limits.disk, limits.inodes, limits.file_size, Arc::clone(&counters))), counters)
}

fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() }
}
