//! The cuts of a layer, and the file that keeps them.

use std::sync::Arc;

use super::cuts::Cuts;
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::vfs::file_system::{Access, File, FileSystem, Node};
use crate::sandbox::vfs::path::PATH_MAX;

/// The file of the marks in a layer's folder, beside the folder that guests see.
pub(super) const MARKS: &[u8] = b"marks";

/// How much of the file is read at once.
const PIECE: usize = 64 << 10;

/// The longest record, so that a damaged file takes no more memory. Guests' paths are shorter; a host that removes
/// deep trees may have longer ones.
const RECORD_MAX: usize = 16 * PATH_MAX;

/// Writes cuts to the file. Each is one path with a NUL at its end, added in one write: of a record that a crash has
/// cut off the NUL is missing, and it is as if it had never been. Nothing is ever taken out of the file.
#[derive(Debug)]
pub(super) struct Log {
    file: Arc<dyn File>,
}

impl Log {
    /// Opens the file in `tree`, or makes it.
    pub(super) fn open(tree: &dyn FileSystem) -> Result<Self> {
        let access = Access { read: true, write: true, truncate: false };
        match tree.open(MARKS, access) {
            Ok(Node::File(file)) => Ok(Self { file }),
            Err(Errno::NoEntry) => Ok(Self { file: tree.create(MARKS, 0o600, access)? }),
            Ok(_) => Err(Errno::Io),
            Err(error) => Err(error),
        }
    }

    /// Adds a record, whole or not at all.
    pub(super) fn append(&self, path: &[u8]) -> Result<()> {
        if path.len() >= RECORD_MAX {
            return Err(Errno::NameTooLong);
        }
        let record = [path, b"\0"].concat();
        let (written, end) = self.file.append(&record)?;
        if written < record.len() {
            self.file.set_len(end - written as u64)?;
            return Err(Errno::NoSpace);
        }
        Ok(())
    }

    /// Cuts off what a crash has left of a record.
    pub(super) fn repair(&self, length: u64) -> Result<()> {
        if self.file.metadata()?.size > length { self.file.set_len(length) } else { Ok(()) }
    }
}

/// Reads the cuts of the layer in `tree`; also how much of the file they take.
pub(super) fn load(tree: &dyn FileSystem) -> Result<(Cuts, u64)> {
    let mut cuts = Cuts::default();
    let file = match tree.open(MARKS, Access { read: true, ..Access::default() }) {
        Ok(Node::File(file)) => file,
        Err(Errno::NoEntry) => return Ok((cuts, 0)),
        Ok(_) => return Err(Errno::Io),
        Err(error) => return Err(error),
    };
    let mut buffer = vec![0; PIECE];
    let mut record = Vec::new();
    let (mut offset, mut whole) = (0, 0);
    loop {
        let count = file.read_at(&mut buffer, offset)?;
        if count == 0 {
            return Ok((cuts, whole));
        }
        for &byte in buffer.get(..count).unwrap_or_default() {
            offset += 1;
            if byte == 0 {
                cuts.insert(&record);
                record.clear();
                whole = offset;
            } else if record.len() < RECORD_MAX {
                record.push(byte);
            } else {
                return Err(Errno::Io);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::sandbox::clock::Clock;
    use crate::sandbox::vfs::memory::MemoryTree;
    use crate::sandbox::vfs::quota::Quota;

    fn tree(bytes: u64) -> MemoryTree {
        MemoryTree::new(Arc::new(Quota::new(bytes, 10, bytes, Arc::default())), Arc::new(Clock::real()))
    }

    #[test]
    fn what_was_added_is_read_again() {
        let tree = tree(1000);
        assert_eq!(load(&tree).unwrap().1, 0);
        let log = Log::open(&tree).unwrap();
        log.append(b"a/b\n\xff").unwrap();
        log.append(b"c").unwrap();
        let (cuts, length) = load(&tree).unwrap();
        assert!(cuts.hide(b"a/b\n\xff") && cuts.hide(b"c") && !cuts.hide(b"a"));
        assert_eq!((cuts.count(), length), (2, 8));
    }

    #[test]
    fn a_record_that_was_cut_off_counts_for_nothing() {
        let tree = tree(1000);
        let log = Log::open(&tree).unwrap();
        log.append(b"whole").unwrap();
        let Node::File(file) = tree.open(MARKS, Access::default()).unwrap() else { panic!() };
        file.append(b"par").unwrap();
        let (cuts, length) = load(&tree).unwrap();
        assert_eq!((cuts.count(), length), (1, 6));
        log.repair(length).unwrap();
        log.append(b"next").unwrap();
        assert!(load(&tree).unwrap().0.hide(b"next"));
    }

    #[test]
    fn a_record_that_does_not_fit_is_not_begun() {
        let tree = tree(8);
        let log = Log::open(&tree).unwrap();
        log.append(b"abc").unwrap();
        assert_eq!(log.append(b"defgh"), Err(Errno::NoSpace));
        log.append(b"def").unwrap();
        assert_eq!(load(&tree).unwrap().0.count(), 2);
    }
}
