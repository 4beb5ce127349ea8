//! A regular file in memory.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::content::{Content, Contents};
use super::{Attributes, MODE_MASK, Shared};
use crate::sandbox::clock::Clock;
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::vfs::file_system::{File, FileType, Metadata, SetTime, next_device};
use crate::sandbox::vfs::quota::{InodeCharge, Quota};

/// A regular file in memory: one of a [`MemoryTree`](super::MemoryTree), or one without a name.
///
/// Its storage goes back to the quota when it is dropped, that is when the last name and the last descriptor are gone.
#[derive(Debug)]
pub struct MemoryFile {
    inode: u64,
    shared: Arc<Shared>,
    /// Bytes that cost nothing: the length that the host gave it.
    baseline: u64,
    links: AtomicU32,
    state: RwLock<State>,
    _charge: InodeCharge,
}

#[derive(Debug)]
struct State {
    content: Content,
    attributes: Attributes,
}

impl MemoryFile {
    /// An empty file without a name, mode 600. It takes bytes of the quota but no inode, for how many there are is
    /// bounded by the number of descriptors.
    pub fn new(inode: u64, quota: Arc<Quota>, clock: Arc<Clock>) -> Arc<Self> {
        static DEVICE: LazyLock<u64> = LazyLock::new(next_device);
        let shared = Arc::new(Shared { device: *DEVICE, quota, clock });
        let file = Self::named(inode, shared, Contents::Static(&[]), 0o600, InodeCharge::default());
        file.links.store(0, Ordering::Relaxed);
        Arc::new(file)
    }

    /// A file of a tree, with one name.
    pub(super) fn named(inode: u64, shared: Arc<Shared>, contents: Contents, mode: u32, charge: InodeCharge) -> Self {
        let content = Content::new(contents);
        let attributes = Attributes::new(mode, shared.now());
        Self {
            inode,
            shared,
            baseline: content.length(),
            links: AtomicU32::new(1),
            state: RwLock::new(State { content, attributes }),
            _charge: charge,
        }
    }

    /// Its inode number.
    pub(super) fn inode(&self) -> u64 {
        self.inode
    }

    /// One name more.
    pub(super) fn add_link(&self) {
        self.links.fetch_add(1, Ordering::Relaxed);
        self.state_mut().attributes.touch_status(self.shared.now());
    }

    /// One name less; answers how many are left.
    pub(super) fn remove_link(&self) -> u32 {
        self.state_mut().attributes.touch_status(self.shared.now());
        self.links.fetch_sub(1, Ordering::Relaxed) - 1
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many bytes have been charged when the length is `length`, counted from the beginning of the file.
    fn paid(&self, length: u64) -> u64 {
        length.max(self.baseline)
    }

    fn write_locked(&self, state: &mut State, data: &[u8], offset: u64) -> Result<usize> {
        if data.is_empty() {
            return Ok(0);
        }
        let before = self.paid(state.content.length());
        let admission = self.shared.quota.admit(before, offset, data.len())?;
        let result = state.content.write(data.get(..admission.length).unwrap_or_default(), offset);
        let used = self.paid(state.content.length()) - before;
        self.shared.quota.release_bytes(admission.charged.saturating_sub(used));
        result?;
        state.attributes.touch_content(self.shared.now());
        Ok(admission.length)
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        let charged = self.paid(self.state().content.length()) - self.baseline;
        self.shared.quota.release_bytes(charged);
    }
}

impl File for MemoryFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        Ok(self.state().content.read(buffer, offset))
    }

    fn write_at(&self, data: &[u8], offset: u64) -> Result<usize> {
        self.write_locked(&mut self.state_mut(), data, offset)
    }

    fn append(&self, data: &[u8]) -> Result<(usize, u64)> {
        let mut state = self.state_mut();
        let end = state.content.length();
        let count = self.write_locked(&mut state, data, end)?;
        Ok((count, end + count as u64))
    }

    fn metadata(&self) -> Result<Metadata> {
        let state = self.state();
        Ok(Metadata {
            device: self.shared.device,
            inode: self.inode,
            file_type: FileType::Regular,
            mode: state.attributes.mode,
            links: self.links.load(Ordering::Relaxed),
            device_id: 0,
            size: state.content.length(),
            blocks: state.content.stored().div_ceil(512),
            accessed: state.attributes.accessed,
            modified: state.attributes.modified,
            changed: state.attributes.changed,
        })
    }

    fn set_len(&self, length: u64) -> Result<()> {
        let mut state = self.state_mut();
        let (before, after) = (self.paid(state.content.length()), self.paid(length));
        if length > state.content.length() {
            self.shared.quota.check_file_size(length)?;
        }
        if after > before {
            self.shared.quota.charge_bytes(after - before)?;
        }
        state.content.set_length(length);
        self.shared.quota.release_bytes(before.saturating_sub(after));
        state.attributes.touch_content(self.shared.now());
        Ok(())
    }

    fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()> {
        self.state_mut().attributes.set_times(accessed, modified, self.shared.now());
        Ok(())
    }

    fn set_mode(&self, mode: u32) -> Result<()> {
        let attributes = &mut self.state_mut().attributes;
        attributes.mode = mode & MODE_MASK;
        attributes.touch_status(self.shared.now());
        Ok(())
    }

    fn sync(&self, _data_only: bool) -> Result<()> {
        Ok(())
    }
}

/// A symbolic link, a named pipe or a device in a tree.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) inode: u64,
    pub(super) kind: LeafKind,
    links: AtomicU32,
    attributes: RwLock<Attributes>,
    _charge: InodeCharge,
}

/// What a leaf is.
#[derive(Debug)]
pub(super) enum LeafKind {
    Link(Box<[u8]>),
    Fifo,
    Device(u64),
}

impl Leaf {
    pub(super) fn new(inode: u64, kind: LeafKind, attributes: Attributes, charge: InodeCharge) -> Self {
        Self { inode, kind, links: AtomicU32::new(1), attributes: RwLock::new(attributes), _charge: charge }
    }

    pub(super) fn file_type(&self) -> FileType {
        match self.kind {
            LeafKind::Link(_) => FileType::Symlink,
            LeafKind::Fifo => FileType::Fifo,
            LeafKind::Device(_) => FileType::CharDevice,
        }
    }

    pub(super) fn metadata(&self, device: u64) -> Metadata {
        let attributes = *self.attributes.read().unwrap_or_else(PoisonError::into_inner);
        Metadata {
            device,
            inode: self.inode,
            file_type: self.file_type(),
            mode: attributes.mode,
            links: self.links.load(Ordering::Relaxed),
            device_id: if let LeafKind::Device(id) = self.kind { id } else { 0 },
            size: if let LeafKind::Link(target) = &self.kind { target.len() as u64 } else { 0 },
            blocks: 0,
            accessed: attributes.accessed,
            modified: attributes.modified,
            changed: attributes.changed,
        }
    }

    pub(super) fn add_link(&self, now: i64) {
        self.links.fetch_add(1, Ordering::Relaxed);
        self.change(|attributes| attributes.touch_status(now));
    }

    pub(super) fn remove_link(&self, now: i64) -> u32 {
        self.change(|attributes| attributes.touch_status(now));
        self.links.fetch_sub(1, Ordering::Relaxed) - 1
    }

    pub(super) fn change(&self, edit: impl FnOnce(&mut Attributes)) {
        edit(&mut self.attributes.write().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn set_mode(&self, mode: u32, now: i64) -> Result<()> {
        if matches!(self.kind, LeafKind::Link(_)) {
            return Err(Errno::NotSupported);
        }
        self.change(|attributes| {
            attributes.mode = mode & MODE_MASK;
            attributes.touch_status(now);
        });
        Ok(())
    }
}
