//! The files of a component: wasmtime-wasi serves them, and here is counted what they take of the limits `disk`,
//! `inodes`, `file_size` and `open_files`.
//!
//! A file costs what it grows by from when it is first opened for writing; that is given back when it is cut, or when
//! its last name and its last descriptor are gone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemCtxView};
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream, ErrorCode,
    Filesize, Host, HostDescriptor, HostDirectoryEntryStream, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, FsError, FsResult, OutputStream, Pollable, StreamError, StreamResult,
};

use super::State;
use crate::sandbox::errno::Errno;
use crate::sandbox::limits::{LimitCounters, LimitName};
use crate::sandbox::vfs::Quota;

/// Puts the counting calls in the place of wasmtime-wasi's.
pub fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    types::add_to_linker::<State, Files>(linker, |state| Counted {
        inner: WasiFilesystemCtxView { ctx: state.wasi.filesystem(), table: &mut state.table },
        ledger: &mut state.ledger,
    })
}

struct Files;

impl HasData for Files {
    type Data<'a> = Counted<'a>;
}

struct Counted<'a> {
    inner: WasiFilesystemCtxView<'a>,
    ledger: &'a mut Ledger,
}

/// What names a file: device and inode, hashed.
type Key = (u64, u64);

/// The files that were written to, and the descriptors that are open.
pub struct Ledger {
    quota: Arc<Quota>,
    counters: Arc<LimitCounters>,
    open_files: u32,
    open: HashMap<u32, Option<Arc<Account>>>,
    known: HashMap<Key, Arc<Account>>,
}

impl Ledger {
    /// A ledger that draws on a sandbox's account.
    pub fn new(quota: Arc<Quota>, counters: Arc<LimitCounters>, open_files: u32) -> Self {
        Self { quota, counters, open_files, open: HashMap::new(), known: HashMap::new() }
    }

    /// Pays for a name that is about to be made.
    fn new_inode(&self) -> Result<NewInode, ErrorCode> {
        self.quota.charge_inode().map_err(code)?;
        Ok(NewInode(Some(Arc::clone(&self.quota))))
    }

    fn account(&self, descriptor: &Resource<Descriptor>) -> Option<&Arc<Account>> {
        self.open.get(&descriptor.rep())?.as_ref()
    }
}

/// A name that is paid for; given back when it was not made after all.
struct NewInode(Option<Arc<Quota>>);

impl NewInode {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for NewInode {
    fn drop(&mut self) {
        if let Some(quota) = &self.0 {
            quota.release_inode();
        }
    }
}

/// What one file has cost.
struct Account {
    quota: Arc<Quota>,
    state: Mutex<AccountState>,
}

#[derive(Default)]
struct AccountState {
    length: u64,
    charged: u64,
    /// Whether the file goes when its last descriptor goes.
    unlinked: bool,
}

impl Account {
    fn new(quota: &Arc<Quota>, length: u64) -> Arc<Self> {
        let state = AccountState { length, ..AccountState::default() };
        Arc::new(Self { quota: Arc::clone(quota), state: Mutex::new(state) })
    }

    fn with<T>(&self, work: impl FnOnce(&mut AccountState) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Pays for a write at an offset, or (`None`) at the end.
    fn write(&self, offset: Option<u64>, count: u64) -> Result<(), Errno> {
        self.with(|state| {
            let end = offset.unwrap_or(state.length).checked_add(count).ok_or(Errno::FileTooBig)?;
            if end > state.length { self.grow(state, end) } else { Ok(()) }
        })
    }

    fn set_length(&self, length: u64) -> Result<(), Errno> {
        self.with(|state| {
            if length > state.length {
                return self.grow(state, length);
            }
            let back = (state.length - length).min(state.charged);
            self.quota.release_bytes(back);
            state.charged -= back;
            state.length = length;
            Ok(())
        })
    }

    fn grow(&self, state: &mut AccountState, length: u64) -> Result<(), Errno> {
        self.quota.check_file_size(length)?;
        self.quota.charge_bytes(length - state.length)?;
        state.charged += length - state.length;
        state.length = length;
        Ok(())
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if state.unlinked {
            self.quota.release_bytes(state.charged);
        }
    }
}

fn code(errno: Errno) -> ErrorCode {
    match errno {
        Errno::FileTooBig => ErrorCode::FileTooLarge,
        _ => ErrorCode::InsufficientSpace,
    }
}

/// The same as wasmtime-wasi reads it from a failed write.
fn stream_error(errno: Errno) -> StreamError {
    #[cfg(unix)]
    let error = std::io::Error::from(match errno {
        Errno::FileTooBig => rustix::io::Errno::FBIG,
        _ => rustix::io::Errno::NOSPC,
    });
    #[cfg(not(unix))]
    let error = std::io::Error::other(format!("{errno:?}"));
    StreamError::LastOperationFailed(error.into())
}

fn again<T: 'static>(resource: &Resource<T>) -> Resource<T> {
    Resource::new_borrow(resource.rep())
}

impl Counted<'_> {
    /// What a path names, without following a link: its key, its metadata.
    async fn look(
        &mut self,
        descriptor: &Resource<Descriptor>,
        flags: PathFlags,
        path: &str,
    ) -> Option<(Key, DescriptorStat)> {
        let hash = self.inner.metadata_hash_at(again(descriptor), flags, path.to_owned()).await.ok()?;
        let stat = self.inner.stat_at(again(descriptor), flags, path.to_owned()).await.ok()?;
        Some(((hash.lower, hash.upper), stat))
    }

    /// A name has gone that `found` was known by.
    fn forget(&mut self, found: Option<(Key, DescriptorStat)>) {
        let Some((key, stat)) = found else { return };
        self.ledger.quota.release_inode();
        if stat.type_ == DescriptorType::RegularFile
            && stat.link_count <= 1
            && let Some(account) = self.ledger.known.remove(&key)
        {
            account.with(|state| state.unlinked = true);
        }
    }

    /// A stream that pays for what it writes.
    fn counted(
        &mut self,
        stream: Resource<DynOutputStream>,
        account: Option<Arc<Account>>,
        position: Option<u64>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let Some(account) = account else { return Ok(stream) };
        let inner = self.inner.table.delete(stream).map_err(FsError::trap)?;
        let counted: DynOutputStream = Box::new(CountedStream { inner, account, position });
        Ok(self.inner.table.push(counted)?)
    }
}

/// An output stream of a file.
struct CountedStream {
    inner: DynOutputStream,
    account: Arc<Account>,
    /// Where the next byte goes; `None` for the end of the file.
    position: Option<u64>,
}

#[wasmtime_wasi::async_trait]
impl Pollable for CountedStream {
    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[wasmtime_wasi::async_trait]
impl OutputStream for CountedStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let count = bytes.len() as u64;
        self.account.write(self.position, count).map_err(stream_error)?;
        self.inner.write(bytes)?;
        self.position = self.position.map(|position| position.saturating_add(count));
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.inner.flush()
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.inner.check_write()
    }

    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}

impl Host for Counted<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        self.inner.convert_error_code(error)
    }

    fn filesystem_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.inner.filesystem_error_code(error)
    }
}

impl HostDescriptor for Counted<'_> {
    async fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        if self.ledger.open.len() >= self.ledger.open_files as usize {
            self.ledger.counters.hit(LimitName::OpenFiles);
            return Err(ErrorCode::Quota.into());
        }
        let creates = open_flags.contains(OpenFlags::CREATE) && self.look(&fd, path_flags, &path).await.is_none();
        let inode = if creates { Some(self.ledger.new_inode()?) } else { None };
        let opened = self.inner.open_at(fd, path_flags, path, open_flags, flags).await?;
        if let Some(inode) = inode {
            inode.keep();
        }
        let mut account = None;
        if flags.contains(DescriptorFlags::WRITE) || open_flags.contains(OpenFlags::TRUNCATE) {
            let hash = self.inner.metadata_hash(again(&opened)).await?;
            let stat = self.inner.stat(again(&opened)).await?;
            if stat.type_ == DescriptorType::RegularFile {
                let known = self.ledger.known.entry((hash.lower, hash.upper));
                let known = known.or_insert_with(|| Account::new(&self.ledger.quota, stat.size));
                if open_flags.contains(OpenFlags::TRUNCATE) {
                    // Shorter costs nothing.
                    let _ = known.set_length(stat.size);
                }
                account = Some(Arc::clone(known));
            }
        }
        self.ledger.open.insert(opened.rep(), account);
        Ok(opened)
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        self.ledger.open.remove(&fd.rep());
        HostDescriptor::drop(&mut self.inner, fd)
    }

    async fn write(&mut self, fd: Resource<Descriptor>, buffer: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        if let Some(account) = self.ledger.account(&fd) {
            account.write(Some(offset), buffer.len() as u64).map_err(code)?;
        }
        self.inner.write(fd, buffer, offset).await
    }

    async fn set_size(&mut self, fd: Resource<Descriptor>, size: Filesize) -> FsResult<()> {
        if let Some(account) = self.ledger.account(&fd) {
            account.set_length(size).map_err(code)?;
        }
        self.inner.set_size(fd, size).await
    }

    fn write_via_stream(&mut self, fd: Resource<Descriptor>, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        let account = self.ledger.account(&fd).cloned();
        let stream = self.inner.write_via_stream(fd, offset)?;
        self.counted(stream, account, Some(offset))
    }

    fn append_via_stream(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DynOutputStream>> {
        let account = self.ledger.account(&fd).cloned();
        let stream = self.inner.append_via_stream(fd)?;
        self.counted(stream, account, None)
    }

    async fn create_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let inode = self.ledger.new_inode()?;
        self.inner.create_directory_at(fd, path).await?;
        inode.keep();
        Ok(())
    }

    async fn symlink_at(&mut self, fd: Resource<Descriptor>, target: String, path: String) -> FsResult<()> {
        let inode = self.ledger.new_inode()?;
        self.inner.symlink_at(fd, target, path).await?;
        inode.keep();
        Ok(())
    }

    async fn link_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: PathFlags,
        old: String,
        new_fd: Resource<Descriptor>,
        new: String,
    ) -> FsResult<()> {
        let inode = self.ledger.new_inode()?;
        self.inner.link_at(fd, flags, old, new_fd, new).await?;
        inode.keep();
        Ok(())
    }

    async fn unlink_file_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let found = self.look(&fd, PathFlags::empty(), &path).await;
        self.inner.unlink_file_at(fd, path).await?;
        self.forget(found);
        Ok(())
    }

    async fn remove_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let found = self.look(&fd, PathFlags::empty(), &path).await;
        self.inner.remove_directory_at(fd, path).await?;
        self.forget(found);
        Ok(())
    }

    async fn rename_at(
        &mut self,
        fd: Resource<Descriptor>,
        old: String,
        new_fd: Resource<Descriptor>,
        new: String,
    ) -> FsResult<()> {
        let moved = self.look(&fd, PathFlags::empty(), &old).await;
        let replaced = self.look(&new_fd, PathFlags::empty(), &new).await;
        self.inner.rename_at(fd, old, new_fd, new).await?;
        // Two names of one file stay two names.
        if moved.map(|(key, _)| key) != replaced.as_ref().map(|(key, _)| *key) {
            self.forget(replaced);
        }
        Ok(())
    }

    async fn advise(&mut self, fd: Resource<Descriptor>, offset: u64, length: u64, advice: Advice) -> FsResult<()> {
        self.inner.advise(fd, offset, length, advice).await
    }

    async fn sync_data(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.inner.sync_data(fd).await
    }

    async fn sync(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.inner.sync(fd).await
    }

    async fn get_flags(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        self.inner.get_flags(fd).await
    }

    async fn get_type(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorType> {
        self.inner.get_type(fd).await
    }

    async fn set_times(
        &mut self,
        fd: Resource<Descriptor>,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.inner.set_times(fd, accessed, modified).await
    }

    async fn set_times_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.inner.set_times_at(fd, flags, path, accessed, modified).await
    }

    async fn read(&mut self, fd: Resource<Descriptor>, length: u64, offset: u64) -> FsResult<(Vec<u8>, bool)> {
        self.inner.read(fd, length, offset).await
    }

    fn read_via_stream(&mut self, fd: Resource<Descriptor>, offset: u64) -> FsResult<Resource<DynInputStream>> {
        self.inner.read_via_stream(fd, offset)
    }

    async fn read_directory(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DirectoryEntryStream>> {
        self.inner.read_directory(fd).await
    }

    async fn stat(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        self.inner.stat(fd).await
    }

    async fn stat_at(&mut self, fd: Resource<Descriptor>, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        self.inner.stat_at(fd, flags, path).await
    }

    async fn readlink_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<String> {
        self.inner.readlink_at(fd, path).await
    }

    async fn is_same_object(&mut self, a: Resource<Descriptor>, b: Resource<Descriptor>) -> wasmtime::Result<bool> {
        self.inner.is_same_object(a, b).await
    }

    async fn metadata_hash(&mut self, fd: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        self.inner.metadata_hash(fd).await
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        self.inner.metadata_hash_at(fd, flags, path).await
    }
}

impl HostDirectoryEntryStream for Counted<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        self.inner.read_directory_entry(stream).await
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        HostDirectoryEntryStream::drop(&mut self.inner, stream)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_costs_what_it_grows_by_until_it_is_gone() {
        let quota = Arc::new(Quota::unlimited());
        let used = || quota.used().bytes;
        let account = Account::new(&quota, 100);
        account.write(Some(50), 50).unwrap();
        assert_eq!(used(), 0);
        account.write(Some(90), 20).unwrap();
        account.write(None, 5).unwrap();
        assert_eq!(used(), 15);
        // What was there before is not given back.
        account.set_length(10).unwrap();
        assert_eq!(used(), 0);
        account.set_length(1000).unwrap();
        assert_eq!(used(), 990);
        assert!(account.write(Some(u64::MAX), 2).is_err());
        let second = Arc::clone(&account);
        account.with(|state| state.unlinked = true);
        drop(account);
        assert_eq!(used(), 990);
        drop(second);
        assert_eq!(used(), 0);
    }
}
