//! Files as the host reads and writes them.

use super::file_system::{DirEntry, FileSystem, FileType};
use crate::sandbox::errno::{Errno, Result};

/// Removes what is at `path` of a tree, a directory with everything in it (the root itself stays). Links are removed
/// and not followed. Answers how many names are gone; `TooBig` when there are more than `most`, of which those are
/// gone then that were met first.
pub fn remove_tree(tree: &dyn FileSystem, path: &[u8], most: u64) -> Result<u64> {
    let mut removed = 0;
    let mut count = || {
        removed += 1;
        if removed > most { Err(Errno::TooBig) } else { Ok(()) }
    };
    if tree.metadata(path)?.file_type != FileType::Directory {
        count()?;
        tree.unlink(path)?;
        return Ok(1);
    }
    // Not recursive: guests choose how deep a tree is. The path is that of the last level.
    let mut at = path.to_vec();
    let mut levels = vec![(at.len(), list(tree, &at)?)];
    while let Some((length, entries)) = levels.last_mut() {
        at.truncate(*length);
        let Some(entry) = entries.pop() else {
            levels.pop();
            if !at.is_empty() {
                count()?;
                tree.remove_dir(&at)?;
            }
            continue;
        };
        if !at.is_empty() {
            at.push(b'/');
        }
        at.extend_from_slice(&entry.name);
        if entry.file_type == FileType::Directory {
            let entries = list(tree, &at)?;
            levels.push((at.len(), entries));
        } else {
            count()?;
            tree.unlink(&at)?;
        }
    }
    Ok(removed)
}

/// A directory's entries, even if its mode forbids its owner to read it, as a guest's may.
fn list(tree: &dyn FileSystem, path: &[u8]) -> Result<Vec<DirEntry>> {
    match tree.read_dir(path) {
        Err(Errno::Access) => {
            tree.set_mode(path, 0o700)?;
            tree.read_dir(path)
        }
        result => result,
    }
}
