//! An open regular file of the host.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{self, Mode};
use rustix::io;

use super::{Shared, mode_bits, timestamps};
use crate::sandbox::errno::Result;
use crate::sandbox::vfs::file_system::{File, Metadata, SetTime, copy_bytes};
use crate::sandbox::vfs::inodes::{Key, OpenInode};

/// An open regular file, entered in the account's table.
#[derive(Debug)]
pub(super) struct OpenHostFile {
    fd: OwnedFd,
    key: Key,
    inode: Arc<OpenInode>,
    shared: Arc<Shared>,
}

impl OpenHostFile {
    /// Enters an opened file. The caller keeps names from going away since before it looked the file up.
    pub(super) fn enter(fd: OwnedFd, key: Key, shared: &Arc<Shared>) -> Self {
        let inode = shared.quota.open().enter(key);
        Self { fd, key, inode, shared: Arc::clone(shared) }
    }

    fn length(&self) -> Result<u64> {
        Ok(u64::try_from(fs::fstat(&self.fd)?.st_size).unwrap_or(0))
    }

    /// Writes while the length is kept from changing otherwise; `offset` none is the end.
    fn write(&self, data: &[u8], offset: Option<u64>) -> Result<(usize, u64)> {
        let _changing = self.inode.changing();
        let length = self.length()?;
        let offset = offset.unwrap_or(length);
        if data.is_empty() {
            return Ok((0, offset));
        }
        let admission = self.shared.quota.admit(length, offset, data.len())?;
        let data = data.get(..admission.length).unwrap_or_default();
        let result = io::retry_on_intr(|| io::pwrite(&self.fd, data, offset));
        let end = offset + result.unwrap_or(0) as u64;
        let grown = if result.unwrap_or(0) > 0 { end.saturating_sub(length) } else { 0 };
        self.shared.quota.release_bytes(admission.charged.saturating_sub(grown));
        Ok((result?, end))
    }

    /// Cuts the file to nothing, as opening with `O_TRUNC` does.
    pub(super) fn truncate(&self) -> Result<()> {
        self.set_len(0)
    }
}

impl Drop for OpenHostFile {
    fn drop(&mut self) {
        if self.shared.quota.open().leave(self.key) {
            self.shared.quota.release_bytes(self.length().unwrap_or(0));
            self.shared.quota.release_inode();
        }
    }
}

impl File for OpenHostFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        if i64::try_from(offset).is_err() {
            return Ok(0);
        }
        Ok(io::retry_on_intr(|| io::pread(&self.fd, &mut *buffer, offset))?)
    }

    fn write_at(&self, data: &[u8], offset: u64) -> Result<usize> {
        self.write(data, Some(offset)).map(|(count, _)| count)
    }

    fn append(&self, data: &[u8]) -> Result<(usize, u64)> {
        self.write(data, None)
    }

    fn metadata(&self) -> Result<Metadata> {
        Ok(self.shared.devices.metadata(&fs::fstat(&self.fd)?))
    }

    fn set_len(&self, length: u64) -> Result<()> {
        let _changing = self.inode.changing();
        let quota = &self.shared.quota;
        let before = self.length()?;
        let growth = length.saturating_sub(before);
        if growth > 0 {
            quota.check_file_size(length)?;
            quota.charge_bytes(growth)?;
        }
        if let Err(error) = io::retry_on_intr(|| fs::ftruncate(&self.fd, length)) {
            quota.release_bytes(growth);
            return Err(error.into());
        }
        quota.release_bytes(before.saturating_sub(length));
        Ok(())
    }

    fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()> {
        Ok(fs::futimens(&self.fd, &timestamps(accessed, modified))?)
    }

    fn set_mode(&self, mode: u32) -> Result<()> {
        let mode: Mode = mode_bits(mode);
        Ok(fs::fchmod(&self.fd, mode)?)
    }

    fn sync(&self, data_only: bool) -> Result<()> {
        // macOS has no fdatasync.
        #[cfg(not(target_vendor = "apple"))]
        if data_only {
            return Ok(fs::fdatasync(&self.fd)?);
        }
        let _ = data_only;
        Ok(fs::fsync(&self.fd)?)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.fd.as_fd())
    }

    fn fill(&self, source: &dyn File, length: u64) -> Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Some(from) = source.descriptor()
            && self.fill_by_host(from, length)?
        {
            return Ok(());
        }
        copy_bytes(source, self, length)
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
impl OpenHostFile {
    /// Lets the kernel copy, which shares the storage where the file system can do that. Answers whether it did; if
    /// not, the file is empty.
    fn fill_by_host(&self, from: BorrowedFd<'_>, length: u64) -> Result<bool> {
        let _changing = self.inode.changing();
        let quota = &self.shared.quota;
        // Copying by pieces would fill holes.
        let dense = u64::try_from(fs::fstat(from)?.st_blocks).unwrap_or(0).saturating_mul(512) >= length;
        quota.check_file_size(length)?;
        quota.charge_bytes(length)?;
        let done = fs::ioctl_ficlone(&self.fd, from).is_ok() || dense && self.copy_range(from, length);
        if !done {
            quota.release_bytes(length);
            fs::ftruncate(&self.fd, 0)?;
        }
        Ok(done)
    }

    fn copy_range(&self, from: BorrowedFd<'_>, length: u64) -> bool {
        let (mut read_from, mut write_to) = (0, 0);
        while write_to < length {
            let most = usize::try_from(length - write_to).unwrap_or(usize::MAX).min(1 << 30);
            match fs::copy_file_range(from, Some(&mut read_from), &self.fd, Some(&mut write_to), most) {
                Ok(0) | Err(_) => return false,
                Ok(_) => {}
            }
        }
        true
    }
}
