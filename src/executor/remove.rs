//! Deleting a folder that a guest has filled: deeper than paths may be, and with whatever rights it gave.

use std::io;
use std::path::Path;

use cap_std::fs::{Dir, DirEntry};

/// Deletes a folder with all that is in it. Links are deleted, never followed.
///
/// Folders are not walked into: each one below the first level is moved up to it first. So depth costs neither stack
/// nor descriptors.
///
/// # Errors
/// When something cannot be deleted.
pub fn tree(path: &Path) -> io::Result<()> {
    let root = Dir::open_ambient_dir(path, cap_std::ambient_authority())?;
    contents(&root)?;
    drop(root);
    std::fs::remove_dir(path)
}

/// Deletes a name in a folder; when it is a folder, with all that is in it. What is not there is deleted already.
///
/// # Errors
/// When something cannot be deleted.
#[cfg(unix)]
pub fn name(folder: &Dir, name: &str) -> io::Result<()> {
    match folder.symlink_metadata(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(metadata) if !metadata.is_dir() => return folder.remove_file(name),
        Ok(_) => {}
    }
    make_accessible(folder, Path::new(name))?;
    contents(&folder.open_dir(name)?)?;
    folder.remove_dir(name)
}

/// Deletes all that is in a folder.
fn contents(root: &Dir) -> io::Result<()> {
    let mut moved = 0;
    loop {
        let before = moved;
        for entry in entries(root)? {
            if gone(root, &entry)? {
                continue;
            }
            let name = entry.file_name();
            make_accessible(root, Path::new(&name))?;
            let folder = root.open_dir(&name)?;
            empty(&folder, root, &mut moved)?;
            drop(folder);
            root.remove_dir(&name)?;
        }
        if moved == before {
            return Ok(());
        }
    }
}

/// All entries at once: what is deleted while a folder is being listed may make the list skip others.
fn entries(folder: &Dir) -> io::Result<Vec<DirEntry>> {
    folder.entries()?.collect()
}

/// Deletes what is no folder, or an empty one. Answers whether it did.
fn gone(folder: &Dir, entry: &DirEntry) -> io::Result<bool> {
    if entry.file_type()?.is_dir() {
        return Ok(folder.remove_dir(entry.file_name()).is_ok());
    }
    entry.remove_file().map(|()| true)
}

/// Deletes the files of a folder and moves its folders to `root`.
fn empty(folder: &Dir, root: &Dir, moved: &mut u64) -> io::Result<()> {
    for entry in entries(folder)? {
        if gone(folder, &entry)? {
            continue;
        }
        let name = entry.file_name();
        // A folder's own rights matter too when its parent changes.
        make_accessible(folder, Path::new(&name))?;
        loop {
            *moved += 1;
            match folder.rename(&name, root, format!(".deleted-{}-{moved}", std::process::id())) {
                Ok(()) => break,
                // The guest has made one of this name; the next is tried.
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

#[cfg(unix)]
fn make_accessible(folder: &Dir, name: &Path) -> io::Result<()> {
    use cap_std::fs::{Permissions, PermissionsExt};
    let mode = folder.symlink_metadata(name)?.permissions().mode();
    if mode & 0o700 == 0o700 {
        return Ok(());
    }
    folder.set_permissions(name, Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn make_accessible(_: &Dir, _: &Path) -> io::Result<()> {
    Ok(())
}
