//! Files in memory.

mod content;
mod file;
mod tree;

use std::time::{SystemTime, UNIX_EPOCH};

pub use file::MemoryFile;
pub use tree::MemoryTree;

use super::file_system::SetTime;

/// Permission bits that are kept: all but the set-id ones.
const MODE_MASK: u32 = 0o1777;

/// Mode and times.
#[derive(Clone, Copy, Debug)]
struct Attributes {
    mode: u32,
    accessed: i64,
    modified: i64,
    changed: i64,
}

impl Attributes {
    fn new(mode: u32) -> Self {
        let now = now();
        Self { mode: mode & MODE_MASK, accessed: now, modified: now, changed: now }
    }

    fn touch_status(&mut self) {
        self.changed = now();
    }

    fn touch_content(&mut self) {
        self.changed = now();
        self.modified = self.changed;
    }

    fn set_times(&mut self, accessed: SetTime, modified: SetTime) {
        let now = now();
        for (time, set) in [(&mut self.accessed, accessed), (&mut self.modified, modified)] {
            match set {
                SetTime::Keep => {}
                SetTime::Now => *time = now,
                SetTime::At(at) => *time = at,
            }
        }
        self.changed = now;
    }
}

/// The present, ns since 1970.
fn now() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |since| -since),
    }
}
