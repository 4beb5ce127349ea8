//! Which files a run has written.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::sandbox::vfs::GuestPath;

/// The most bytes of paths that are kept. A run that writes more files is told of as one that nobody followed.
const BYTES_MAX: usize = 4 << 20;

/// The paths under which a run's processes opened files for writing, or gave files and folders a name.
#[derive(Debug)]
pub struct Written(Mutex<Option<Paths>>);

#[derive(Debug, Default)]
struct Paths {
    paths: BTreeSet<String>,
    bytes: usize,
}

impl Default for Written {
    fn default() -> Self {
        Self(Mutex::new(Some(Paths::default())))
    }
}

impl Written {
    /// Adds a path.
    pub fn add(&self, path: &GuestPath) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Paths { paths, bytes }) = kept.as_mut() else { return };
        let path = path.to_string();
        let length = path.len();
        if paths.insert(path) {
            *bytes += length;
        }
        if *bytes > BYTES_MAX {
            *kept = None;
        }
    }

    /// The paths, sorted; `None` when they were too many.
    pub fn take(&self) -> Option<BTreeSet<String>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_mut().map(|paths| std::mem::take(&mut paths.paths))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn too_many_paths_are_not_half_a_list() {
        const LENGTH: usize = 250;
        let written = Written::default();
        let path = |number: usize| GuestPath::new(format!("/{number:0>249}").as_bytes()).unwrap();
        (0..BYTES_MAX / LENGTH).for_each(|number| written.add(&path(number)));
        written.add(&path(0));
        assert_eq!(written.take().map(|paths| paths.len()), Some(BYTES_MAX / LENGTH));
        let written = Written::default();
        (0..=BYTES_MAX / LENGTH).for_each(|number| written.add(&path(number)));
        assert_eq!(written.take(), None);
    }
}
