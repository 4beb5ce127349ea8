//! Files in memory.

mod content;
mod file;
mod tree;

pub use file::MemoryFile;
pub use tree::MemoryTree;

use std::sync::Arc;

use super::file_system::SetTime;
use super::quota::Quota;
use crate::sandbox::clock::Clock;

/// Permission bits that are kept: all but the set-id ones.
const MODE_MASK: u32 = 0o1777;

/// What the files of a tree share.
#[derive(Debug)]
struct Shared {
    device: u64,
    quota: Arc<Quota>,
    clock: Arc<Clock>,
}

impl Shared {
    /// The present.
    fn now(&self) -> i64 {
        self.clock.file_time()
    }
}

/// Mode and times. `now` is that of the sandbox, ns since 1970.
#[derive(Clone, Copy, Debug)]
struct Attributes {
    mode: u32,
    accessed: i64,
    modified: i64,
    changed: i64,
}

impl Attributes {
    fn new(mode: u32, now: i64) -> Self {
        Self { mode: mode & MODE_MASK, accessed: now, modified: now, changed: now }
    }

    fn touch_status(&mut self, now: i64) {
        self.changed = now;
    }

    fn touch_content(&mut self, now: i64) {
        self.changed = now;
        self.modified = now;
    }

    fn set_times(&mut self, accessed: SetTime, modified: SetTime, now: i64) {
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
