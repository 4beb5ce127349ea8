//! Open file descriptions: what a descriptor stands for, shared by everyone who inherited or duplicated it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Kernel;
use super::device::Device;
use super::lock::{FileKey, LockKind, LockTable};
use super::pipe::{PipeReader, PipeWriter};
use super::stream::OutputStream;
use super::tty::Tty;
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::vfs::{DirEntry, File, FileType, GuestPath, Metadata};

/// A lock that is held: where, and on which file.
type HeldLock = (Arc<LockTable>, FileKey);

/// What is behind a description.
#[derive(Debug)]
pub enum Kind {
    /// A regular file.
    File(Arc<dyn File>),
    /// A directory, with the entries as they were when reading began.
    Directory(Mutex<Option<Arc<[DirEntry]>>>),
    /// A pipe's or FIFO's ends: one, or both (a FIFO opened for reading and writing).
    Pipe {
        /// The reading end.
        reader: Option<PipeReader>,
        /// The writing end.
        writer: Option<PipeWriter>,
        /// What `fstat` tells of a FIFO; a pipe has no name.
        fifo: Option<Metadata>,
    },
    /// A device.
    Device(Device),
    /// A run's standard output or error.
    Output(OutputStream),
    /// A run's terminal.
    Tty(Arc<Tty>),
}

/// An open file description.
#[derive(Debug)]
pub struct OpenFile {
    /// Who holds a lock.
    id: u64,
    kind: Kind,
    /// Where it was found; `None` for pipes and unnamed files.
    path: Option<GuestPath>,
    /// Whether it lies on a read-only mount: times cannot be changed through it either.
    on_read_only: bool,
    readable: bool,
    writable: bool,
    append: AtomicBool,
    nonblocking: AtomicBool,
    /// Held during a whole read or write of a regular file, so that sharers never overlap.
    offset: Mutex<u64>,
    lock: Mutex<Option<HeldLock>>,
}

impl OpenFile {
    /// A description of `kind`.
    pub fn new(kind: Kind, readable: bool, writable: bool) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            kind,
            path: None,
            on_read_only: false,
            readable,
            writable,
            append: AtomicBool::new(false),
            nonblocking: AtomicBool::new(false),
            offset: Mutex::new(0),
            lock: Mutex::new(None),
        }
    }

    /// With the path where it was found.
    #[must_use]
    pub fn with_path(mut self, path: GuestPath) -> Self {
        self.path = Some(path);
        self
    }

    /// With whether it lies on a read-only mount.
    #[must_use]
    pub fn with_read_only(mut self, on_read_only: bool) -> Self {
        self.on_read_only = on_read_only;
        self
    }

    /// With status flags.
    #[must_use]
    pub fn with_flags(self, append: bool, nonblocking: bool) -> Self {
        self.set_flags(append, nonblocking);
        self
    }

    /// A directory at `path`.
    pub fn directory(path: GuestPath) -> Self {
        Self::new(Kind::Directory(Mutex::new(None)), true, false).with_path(path)
    }

    /// What is behind it.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Where it was found.
    pub fn path(&self) -> Option<&GuestPath> {
        self.path.as_ref()
    }

    /// The path of a directory; `NotDirectory` for all else.
    pub fn directory_path(&self) -> Result<&GuestPath> {
        match (&self.kind, &self.path) {
            (Kind::Directory(_), Some(path)) => Ok(path),
            _ => Err(Errno::NotDirectory),
        }
    }

    /// Whether it lies on a read-only mount.
    pub fn on_read_only(&self) -> bool {
        self.on_read_only
    }

    /// Whether it was opened for reading.
    pub fn readable(&self) -> bool {
        self.readable
    }

    /// Whether it was opened for writing.
    pub fn writable(&self) -> bool {
        self.writable
    }

    /// Whether writes go to the end.
    pub fn append(&self) -> bool {
        self.append.load(Ordering::Relaxed)
    }

    /// Whether calls answer `Again` in place of waiting.
    pub fn nonblocking(&self) -> bool {
        self.nonblocking.load(Ordering::Relaxed)
    }

    /// Sets the status flags that may change after opening.
    pub fn set_flags(&self, append: bool, nonblocking: bool) {
        self.append.store(append, Ordering::Relaxed);
        self.nonblocking.store(nonblocking, Ordering::Relaxed);
    }

    /// The offset, locked.
    pub fn offset(&self) -> MutexGuard<'_, u64> {
        self.offset.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file, when it is a regular one; `IllegalSeek` for what has no offset.
    pub fn seekable(&self) -> Result<&Arc<dyn File>> {
        match &self.kind {
            Kind::File(file) => Ok(file),
            Kind::Directory(_) => Err(Errno::IsDirectory),
            _ => Err(Errno::IllegalSeek),
        }
    }

    /// The regular file; `Invalid` for all else, as ftruncate(2) says.
    pub fn regular(&self) -> Result<&Arc<dyn File>> {
        match &self.kind {
            Kind::File(file) => Ok(file),
            _ => Err(Errno::Invalid),
        }
    }

    /// The type.
    pub fn file_type(&self) -> FileType {
        match &self.kind {
            Kind::File(_) => FileType::Regular,
            Kind::Directory(_) => FileType::Directory,
            Kind::Pipe { .. } | Kind::Output(_) => FileType::Fifo,
            Kind::Device(_) | Kind::Tty(_) => FileType::CharDevice,
        }
    }

    /// The terminal; `NotTty` for all else.
    pub fn tty(&self) -> Result<&Arc<Tty>> {
        match &self.kind {
            Kind::Tty(tty) => Ok(tty),
            _ => Err(Errno::NotTty),
        }
    }

    /// Reads from a regular file at the offset and moves it on.
    pub fn read_file(&self, file: &dyn File, buffer: &mut [u8]) -> Result<usize> {
        let mut offset = self.offset();
        let count = file.read_at(buffer, *offset)?;
        *offset += count as u64;
        Ok(count)
    }

    /// Writes to a regular file at the offset (or the end, with `append`) and moves it on.
    pub fn write_file(&self, file: &dyn File, data: &[u8]) -> Result<usize> {
        let mut offset = self.offset();
        if self.append() {
            let (count, end) = file.append(data)?;
            *offset = end;
            Ok(count)
        } else {
            let count = file.write_at(data, *offset)?;
            *offset += count as u64;
            Ok(count)
        }
    }

    /// Writes what the kernel itself has to say, without waiting.
    pub fn say(&self, kernel: &Kernel, text: &[u8]) -> Result<usize> {
        match &self.kind {
            Kind::Output(stream) => stream.write(kernel, text),
            Kind::Pipe { writer: Some(writer), .. } => writer.pipe().try_write(text),
            Kind::File(file) => self.write_file(&**file, text),
            Kind::Device(device) => device.write(text),
            Kind::Tty(tty) => tty.try_write(kernel, text),
            Kind::Pipe { .. } | Kind::Directory(_) => Err(Errno::BadFd),
        }
    }

    /// Takes, changes or (`None`) gives up the advisory lock; `Again` when another description holds it.
    pub fn try_lock(&self, table: &Arc<LockTable>, wanted: Option<LockKind>) -> Result<()> {
        let metadata = self.regular().map_err(|_| Errno::BadFd)?.metadata()?;
        let key = (metadata.device, metadata.inode);
        let mut held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        match wanted {
            Some(kind) => {
                table.acquire(key, self.id, kind)?;
                *held = Some((Arc::clone(table), key));
            }
            None => {
                if held.take().is_some() {
                    table.release(key, self.id);
                }
            }
        }
        Ok(())
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let held = self.lock.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((table, key)) = held {
            table.release(key, self.id);
        }
    }
}
