//! Open files of an overlay.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use super::Core;
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::vfs::file_system::{File, Metadata, SetTime};

/// A file of the upper layer, opened.
pub(super) struct UpperFile {
    pub(super) file: Arc<dyn File>,
    pub(super) inode: u64,
    /// Keeps the layer from being frozen as well.
    pub(super) core: Arc<Core>,
}

impl fmt::Debug for UpperFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("UpperFile")
            .field("file", &self.file)
            .field("inode", &self.inode)
            .finish_non_exhaustive()
    }
}

impl File for UpperFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, data: &[u8], offset: u64) -> Result<usize> {
        self.file.write_at(data, offset)
    }

    fn append(&self, data: &[u8]) -> Result<(usize, u64)> {
        self.file.append(data)
    }

    fn metadata(&self) -> Result<Metadata> {
        Ok(Metadata { device: self.core.device(), inode: self.inode, ..self.file.metadata()? })
    }

    fn set_len(&self, length: u64) -> Result<()> {
        self.file.set_len(length)
    }

    fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()> {
        self.file.set_times(accessed, modified)
    }

    fn set_mode(&self, mode: u32) -> Result<()> {
        self.file.set_mode(mode)
    }

    fn sync(&self, data_only: bool) -> Result<()> {
        self.file.sync(data_only)
    }
}

/// A file of a lower layer, opened for reading. When it is copied to the upper layer, its descriptors read the copy
/// from then on.
pub(super) struct LowerFile {
    pub(super) file: Arc<dyn File>,
    pub(super) inode: u64,
    pub(super) path: Box<[u8]>,
    pub(super) reader: Arc<Reader>,
    pub(super) core: Arc<Core>,
}

/// What all descriptors share that read a lower layer's file under one name.
#[derive(Debug, Default)]
pub(super) struct Reader {
    copy: OnceLock<Arc<dyn File>>,
    /// The name was removed before there was a copy.
    nameless: AtomicBool,
}

impl Reader {
    /// Lets the descriptors read the copy.
    pub(super) fn switch(&self, copy: Arc<dyn File>) {
        // Only the first copy counts; there is no second of one name.
        let _ = self.copy.set(copy);
    }
}

/// The readers by the paths of their files.
#[derive(Debug, Default)]
pub(super) struct Readers {
    table: Mutex<HashMap<Box<[u8]>, Weak<Reader>>>,
}

impl Readers {
    fn table(&self) -> MutexGuard<'_, HashMap<Box<[u8]>, Weak<Reader>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters one more descriptor.
    pub(super) fn enter(&self, path: &[u8]) -> Arc<Reader> {
        let mut table = self.table();
        if let Some(reader) = table.get(path).and_then(Weak::upgrade) {
            return reader;
        }
        let reader = Arc::<Reader>::default();
        table.insert(Box::from(path), Arc::downgrade(&reader));
        reader
    }

    /// Takes out those of a file that is now read from its copy.
    pub(super) fn take(&self, path: &[u8]) -> Option<Arc<Reader>> {
        self.table().remove(path).and_then(|reader| reader.upgrade())
    }

    /// Takes out those of a file whose name is gone.
    pub(super) fn name_is_gone(&self, path: &[u8]) {
        if let Some(reader) = self.take(path) {
            reader.nameless.store(true, Ordering::Relaxed);
        }
    }

    fn leave(&self, path: &[u8], reader: &Arc<Reader>) {
        let mut table = self.table();
        let last = Arc::strong_count(reader) == 1;
        if last && table.get(path).is_some_and(|entered| std::ptr::eq(entered.as_ptr(), Arc::as_ptr(reader))) {
            table.remove(path);
        }
    }
}

impl LowerFile {
    fn current(&self) -> &dyn File {
        &**self.reader.copy.get().unwrap_or(&self.file)
    }

    /// The copy, made now if there is none.
    fn copy(&self) -> Result<&dyn File> {
        if self.reader.copy.get().is_none() {
            if self.reader.nameless.load(Ordering::Relaxed) {
                self.core.copy_nameless(&*self.file, &self.reader)?;
            } else {
                self.core.copy_up(&self.path, true)?;
            }
        }
        // None when the name has gone meanwhile; then the call is made again.
        Ok(&**self.reader.copy.get().ok_or(Errno::Stale)?)
    }

    /// Changes the copy.
    fn change(&self, change: impl Fn(&dyn File) -> Result<()>) -> Result<()> {
        match self.copy() {
            Err(Errno::Stale | Errno::NoEntry) => change(self.copy()?),
            copy => change(copy?),
        }
    }
}

impl Drop for LowerFile {
    fn drop(&mut self) {
        self.core.shared().readers.leave(&self.path, &self.reader);
    }
}

impl fmt::Debug for LowerFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LowerFile")
            .field("file", &self.file)
            .field("inode", &self.inode)
            .finish_non_exhaustive()
    }
}

impl File for LowerFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        self.current().read_at(buffer, offset)
    }

    fn write_at(&self, _data: &[u8], _offset: u64) -> Result<usize> {
        Err(Errno::BadFd)
    }

    fn append(&self, _data: &[u8]) -> Result<(usize, u64)> {
        Err(Errno::BadFd)
    }

    fn metadata(&self) -> Result<Metadata> {
        let mut metadata = self.current().metadata()?;
        if self.reader.copy.get().is_none() && self.reader.nameless.load(Ordering::Relaxed) {
            metadata.links = metadata.links.saturating_sub(1);
        }
        Ok(Metadata { device: self.core.device(), inode: self.inode, ..metadata })
    }

    fn set_len(&self, _length: u64) -> Result<()> {
        Err(Errno::BadFd)
    }

    fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()> {
        self.change(|copy| copy.set_times(accessed, modified))
    }

    fn set_mode(&self, mode: u32) -> Result<()> {
        self.change(|copy| copy.set_mode(mode))
    }

    fn sync(&self, data_only: bool) -> Result<()> {
        self.current().sync(data_only)
    }
}
