//! Tests of the parts together.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod memory;
mod mounts;
#[cfg(unix)]
mod overlay;
mod tree;
mod walk;

#[cfg(target_os = "linux")]
mod differential;
#[cfg(unix)]
mod host;
#[cfg(unix)]
mod races;

use std::sync::Arc;

use super::file_system::Access;
use super::operations::Opened;
use super::quota::Usage;
use super::*;
use crate::sandbox::clock::Clock;
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::limits::{LimitCounters, LimitName};

/// More with `VFS_ROUNDS`.
fn rounds() -> u64 {
    std::env::var("VFS_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(2)
}

fn clock() -> Arc<Clock> {
    Arc::new(Clock::real())
}

/// A small generator, so that failures repeat.
#[derive(Clone, Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    pub(super) fn one_of<'a, T: ?Sized>(&mut self, choice: &[&'a T]) -> &'a T {
        choice[self.below(choice.len() as u64) as usize]
    }
}

fn path(text: &str) -> GuestPath {
    GuestPath::new(text.as_bytes()).unwrap()
}

fn mount(at: &str, source: Arc<dyn FileSystem>) -> Mount {
    Mount { at: path(at), source, read_only: false, links: Vec::new() }
}

fn vfs(mounts: impl IntoIterator<Item = Mount>) -> Vfs {
    let mut table = MountTable::new();
    for mount in mounts {
        table.add(mount).unwrap();
    }
    Vfs::new(table)
}

fn memory() -> Arc<MemoryTree> {
    Arc::new(MemoryTree::new(Arc::new(Quota::unlimited()), clock()))
}

/// A tree as what shows of a lower layer, and by itself. What changes the first does not change the second.
fn below_and_alone(tree: Arc<MemoryTree>) -> [Arc<dyn FileSystem>; 2] {
    let upper = Upper::in_memory(Arc::new(Quota::unlimited()), clock()).unwrap();
    let lower = Layer::plain(tree.clone()).unwrap();
    upper.lie_on(std::slice::from_ref(&lower)).unwrap();
    [Arc::new(OverlayFs::new(upper, vec![lower]).unwrap()), tree]
}

/// Shorter calls: everything from the root.
impl Vfs {
    fn put(&self, at: &str, data: &[u8]) -> Result<()> {
        let options = OpenOptions { write: true, create: true, truncate: true, mode: 0o644, ..OpenOptions::default() };
        let opened = self.open(&GuestPath::root(), at.as_bytes(), &options)?;
        let Node::File(file) = opened.node else { panic!("{at} is no file") };
        let mut written = 0;
        while written < data.len() {
            written += file.write_at(&data[written..], written as u64)?;
        }
        Ok(())
    }

    fn get(&self, at: &str) -> Result<Vec<u8>> {
        let options = OpenOptions { read: true, ..OpenOptions::default() };
        let opened = self.open(&GuestPath::root(), at.as_bytes(), &options)?;
        let Node::File(file) = opened.node else { return Err(Errno::IsDirectory) };
        let mut data = vec![0; file.metadata()?.size as usize + 1];
        let count = file.read_at(&mut data, 0)?;
        data.truncate(count);
        Ok(data)
    }

    fn file(&self, at: &str) -> Arc<dyn File> {
        let options = OpenOptions { read: true, write: true, create: true, mode: 0o644, ..OpenOptions::default() };
        match self.open(&GuestPath::root(), at.as_bytes(), &options).unwrap().node {
            Node::File(file) => file,
            other => panic!("{other:?}"),
        }
    }

    fn names(&self, at: &str) -> Result<Vec<String>> {
        let mut names: Vec<_> =
            self.read_dir(&path(at))?.into_iter().map(|entry| String::from_utf8(entry.name).unwrap()).collect();
        names.sort();
        Ok(names)
    }

    fn real(&self, at: &str) -> Result<String> {
        Ok(self.real_path(&GuestPath::root(), at.as_bytes())?.to_string())
    }

    fn stat(&self, at: &str) -> Result<Metadata> {
        self.metadata(&GuestPath::root(), at.as_bytes(), true)
    }
}
