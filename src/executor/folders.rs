//! Workspaces that are folders of the host.

use std::io;
use std::path::Path;

use super::{ExecutorError, remove};

/// A name of a workspace is a plain name of a folder on every system.
pub(super) fn check_name(name: &str) -> Result<(), ExecutorError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || name.len() > 200 || name.starts_with('.') || !name.chars().all(plain) {
        return Err(ExecutorError::WorkspaceName(name.to_owned()));
    }
    Ok(())
}

/// A folder that nobody else may enter, with those above it.
pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // A link in its place may be anybody's.
            if folder.symlink_metadata()?.is_dir() { Ok(()) } else { Err(error) }
        }
        done => done,
    }
}

/// Deletes a workspace's folder with all that is in it. One that is not there is deleted already.
pub(super) fn delete(folder: &Path) -> Result<(), ExecutorError> {
    match remove::tree(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ExecutorError::io("cannot delete", folder)(error)),
        _ => Ok(()),
    }
}
