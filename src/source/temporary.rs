//! Temporary folders that are cleaned up even when the process that made them is killed.
//!
//! Beside each folder lies a file `<folder>.lock` on which its process holds a lock of the system, which ends with the
//! process. Whoever gets that lock knows that nobody works in the folder any more. Process numbers would not tell:
//! processes of different containers may share the place.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::error::SourceError;

/// What the name of a temporary folder begins with that stands beside a user's own files: hidden, and no part of a
/// skill.
pub const BESIDE: &str = ".wskill-tmp-";
/// What a name ends with that is a lock.
const LOCK: &str = ".lock";
/// After this time a folder without a lock belongs to nobody: no download takes that long.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// A folder of this process alone, removed with all that is in it when this is dropped.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    lock_path: PathBuf,
    /// Held as long as the folder is in use.
    lock: Option<File>,
}

impl Temporary {
    /// Makes a folder in `place` whose name begins with `prefix`.
    pub fn make(place: &Path, prefix: &str) -> Result<Self, SourceError> {
        loop {
            let mut random = [0; 8];
            getrandom::fill(&mut random)
                .map_err(|error| SourceError::io("make a temporary folder in", place, io::Error::other(error)))?;
            let name = format!("{prefix}{}-{:016x}", std::process::id(), u64::from_le_bytes(random));
            let (path, lock_path) = (place.join(&name), place.join(format!("{name}{LOCK}")));
            let file = File::create_new(&lock_path).map_err(|error| SourceError::io("write to", place, error))?;
            let lock = match file.try_lock() {
                Ok(()) => Some(file),
                // Somebody cleans up and has just taken it for abandoned: to them, the name.
                Err(TryLockError::WouldBlock) => continue,
                // File systems without locks leave the cleaning to age.
                Err(TryLockError::Error(_)) => None,
            };
            let temporary = Self { path, lock_path, lock };
            private(&temporary.path).map_err(|error| SourceError::io("make", &temporary.path, error))?;
            return Ok(temporary);
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        // Windows removes no file that is open.
        self.lock = None;
        let _ = fs::remove_file(&self.lock_path);
    }
}

#[cfg(unix)]
fn private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn private(path: &Path) -> io::Result<()> {
    DirBuilder::new().create(path)
}

/// Removes what ended processes have left in `place`.
pub fn clean(place: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with(prefix)) else { continue };
        let path = entry.path();
        if let Some(folder) = name.strip_suffix(LOCK) {
            // A pipe of this name would be waited for.
            if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
                continue;
            }
            let Ok(lock) = File::open(&path) else { continue };
            let abandoned = match lock.try_lock() {
                Ok(()) => true,
                Err(TryLockError::WouldBlock) => false,
                Err(TryLockError::Error(_)) => is_old(&path),
            };
            if abandoned {
                let _ = fs::remove_dir_all(place.join(folder));
                drop(lock);
                let _ = fs::remove_file(&path);
            }
        } else if !place.join(format!("{name}{LOCK}")).exists() && is_old(&path) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Whether nobody has changed it for a day.
pub fn is_old(path: &Path) -> bool {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > ABANDONED))
}
