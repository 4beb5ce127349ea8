//! Whether a file or folder is as it was.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

/// How long after a change another one may have the same time, where times have fractions of a second: many jiffies.
const FINE: Duration = Duration::from_millis(50);
/// The same where they have not: the granularity of FAT.
const COARSE: Duration = Duration::from_secs(2);

/// What tells that a file was changed or replaced, without reading it.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    marks: Marks,
    /// Changed so shortly before it was looked at that a further change might not show.
    fresh: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    modified: Option<SystemTime>,
    length: u64,
    /// Inode and time of the last change of it: also a file with an old time moved over another is noticed.
    #[cfg(unix)]
    inode: (u64, i64, i64),
}

impl Stamp {
    /// The stamp of a file that is looked at now.
    pub fn of(metadata: &Metadata) -> Self {
        let marks = Marks::of(metadata);
        Self { marks, fresh: marks.modified.is_none_or(is_fresh) }
    }

    /// Whether this stamp, taken some time ago, says that the file is the same now.
    pub fn still(&self, now: &Metadata) -> bool {
        !self.fresh && self.marks == Marks::of(now)
    }
}

impl Marks {
    fn of(metadata: &Metadata) -> Self {
        Self {
            modified: metadata.modified().ok(),
            length: metadata.len(),
            #[cfg(unix)]
            inode: {
                use std::os::unix::fs::MetadataExt;
                (metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
            },
        }
    }
}

fn is_fresh(modified: SystemTime) -> bool {
    let fine = modified.duration_since(SystemTime::UNIX_EPOCH).is_ok_and(|since| since.subsec_nanos() != 0);
    let window = if fine { FINE } else { COARSE };
    // A time in the future says nothing about what comes next.
    modified.elapsed().map_or(true, |age| age < window)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn age(file: &std::path::Path, age: Duration) {
        std::fs::File::options().write(true).open(file).unwrap().set_modified(SystemTime::now() - age).unwrap();
    }

    fn stamp(file: &std::path::Path) -> Stamp {
        Stamp::of(&file.metadata().unwrap())
    }

    fn still(stamp: &Stamp, file: &std::path::Path) -> bool {
        stamp.still(&file.metadata().unwrap())
    }

    #[test]
    fn an_old_file_is_the_same_until_it_is_written_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        std::fs::write(&file, "one").unwrap();
        age(&file, Duration::from_secs(100));
        let old = stamp(&file);
        assert!(still(&old, &file));
        std::fs::write(&file, "two").unwrap();
        assert!(!still(&old, &file));
        age(&file, Duration::from_secs(100));
        assert!(!still(&old, &file), "a written file with a time put back");
    }

    #[test]
    fn a_file_that_was_just_written_is_never_taken_for_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        std::fs::write(&file, "one").unwrap();
        let new = stamp(&file);
        assert!(!still(&new, &file));
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(still(&stamp(&file), &file));
    }
}
