//! Disk space that sandboxes share.

use std::sync::Arc;

use super::limits::LimitCounters;
use super::vfs::Quota;

/// An account of bytes and files on disk that several sandboxes share, for instance those over one workspace: whatever
/// each of them writes into its mounts counts for all.
///
/// It lives as long as one of them or the caller has it. A clone is the same account. What one sandbox made and another
/// removed is given back; what was in a folder when it was mounted costs nothing.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let account = wskill::DiskAccount::new(64 << 20, 10_000);
/// let one = wskill::Sandbox::builder().disk(&account);
/// let other = wskill::Sandbox::builder().disk(&account);
/// assert_eq!(account.used(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DiskAccount(Quota);

impl DiskAccount {
    /// An account with nothing in it: how many bytes all files may hold together, and how many files, directories and
    /// links there may be.
    pub fn new(bytes: u64, inodes: u64) -> Self {
        Self(Quota::new(bytes, inodes, u64::MAX, Arc::default()))
    }

    /// Bytes that are taken now.
    pub fn used(&self) -> u64 {
        self.0.used().bytes
    }

    /// Files, directories and links that are taken now.
    pub fn inodes_used(&self) -> u64 {
        self.0.used().inodes
    }

    /// The account for a sandbox with a limit on the size of its files and its own counters.
    pub(super) fn quota(&self, file_size: u64, counters: Arc<LimitCounters>) -> Quota {
        self.0.shared_with(file_size, counters)
    }
}
