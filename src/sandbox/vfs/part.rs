//! A folder of a tree, as a tree of its own.

use std::sync::Arc;

use super::file_system::{Access, DirEntry, File, FileSystem, Metadata, Node, SetTime};
use super::quota::Quota;
use crate::sandbox::errno::Result;

/// What lies below one folder of a tree. The folder must be one that guests cannot replace.
#[derive(Debug)]
pub struct Part {
    source: Arc<dyn FileSystem>,
    folder: Vec<u8>,
}

impl Part {
    /// The part of `source` below `folder`.
    pub fn new(source: Arc<dyn FileSystem>, folder: &[u8]) -> Self {
        Self { source, folder: folder.to_vec() }
    }

    fn path(&self, path: &[u8]) -> Vec<u8> {
        if path.is_empty() { self.folder.clone() } else { [&self.folder, &b"/"[..], path].concat() }
    }
}

impl FileSystem for Part {
    fn metadata(&self, path: &[u8]) -> Result<Metadata> {
        self.source.metadata(&self.path(path))
    }

    fn open(&self, path: &[u8], access: Access) -> Result<Node> {
        self.source.open(&self.path(path), access)
    }

    fn create(&self, path: &[u8], mode: u32, access: Access) -> Result<Arc<dyn File>> {
        self.source.create(&self.path(path), mode, access)
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>> {
        self.source.read_link(&self.path(path))
    }

    fn read_dir(&self, path: &[u8]) -> Result<Vec<DirEntry>> {
        self.source.read_dir(&self.path(path))
    }

    fn make_dir(&self, path: &[u8], mode: u32) -> Result<()> {
        self.source.make_dir(&self.path(path), mode)
    }

    fn make_fifo(&self, path: &[u8], mode: u32) -> Result<()> {
        self.source.make_fifo(&self.path(path), mode)
    }

    fn symlink(&self, target: &[u8], path: &[u8]) -> Result<()> {
        self.source.symlink(target, &self.path(path))
    }

    fn link(&self, path: &[u8], new: &[u8]) -> Result<()> {
        self.source.link(&self.path(path), &self.path(new))
    }

    fn unlink(&self, path: &[u8]) -> Result<()> {
        self.source.unlink(&self.path(path))
    }

    fn remove_dir(&self, path: &[u8]) -> Result<()> {
        self.source.remove_dir(&self.path(path))
    }

    fn rename(&self, path: &[u8], new: &[u8]) -> Result<()> {
        self.source.rename(&self.path(path), &self.path(new))
    }

    fn set_times(&self, path: &[u8], accessed: SetTime, modified: SetTime) -> Result<()> {
        self.source.set_times(&self.path(path), accessed, modified)
    }

    fn set_mode(&self, path: &[u8], mode: u32) -> Result<()> {
        self.source.set_mode(&self.path(path), mode)
    }

    fn quota(&self) -> Option<&Quota> {
        self.source.quota()
    }
}
