//! A folder as one tar, and back.
//!
//! Neither side trusts what is in the folder or in the tar: both are walked within an open folder, out of which no name
//! and no link leads ([`cap_std`]).

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirEntry, OpenOptions, OpenOptionsExt, Permissions, PermissionsExt};
use tar::{Archive, Builder, EntryType, Header};

/// The largest tar, bytes.
pub const TREE_MAX: u64 = 128 << 20;
/// The most files, folders and links.
const ENTRIES_MAX: usize = 20_000;

/// Packs what is in a folder. What cannot be read, pipes and devices are left out; links are packed as links.
///
/// Commands may change the folder meanwhile.
///
/// # Errors
/// When the folder is not there, or is too large.
pub fn pack(folder: &Path) -> io::Result<Vec<u8>> {
    let root = Dir::open_ambient_dir(folder, ambient_authority())?;
    let mut archive = Builder::new(Vec::new());
    let mut folders = vec![PathBuf::from(".")];
    let mut count = 0;
    while let Some(below) = folders.pop() {
        let Ok(entries) = root.read_dir(&below) else { continue };
        for entry in entries.filter_map(Result::ok) {
            count += 1;
            let path = below.join(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path.clone());
            }
            append(&mut archive, &root, &path, &entry)?;
            if count > ENTRIES_MAX || archive.get_ref().len() as u64 > TREE_MAX {
                return Err(too_large());
            }
        }
    }
    archive.into_inner()
}

fn append(archive: &mut Builder<Vec<u8>>, root: &Dir, path: &Path, entry: &DirEntry) -> io::Result<()> {
    let Ok(metadata) = entry.metadata() else { return Ok(()) };
    let mut header = Header::new_gnu();
    header.set_mode(metadata.permissions().mode() & 0o777);
    let modified = metadata.modified().ok().and_then(|time| time.into_std().duration_since(UNIX_EPOCH).ok());
    header.set_mtime(modified.unwrap_or_default().as_secs());
    header.set_size(0);
    if metadata.is_dir() {
        header.set_entry_type(EntryType::Directory);
        archive.append_data(&mut header, path, io::empty())
    } else if metadata.is_symlink() {
        let Ok(target) = root.read_link_contents(path) else { return Ok(()) };
        header.set_entry_type(EntryType::Symlink);
        archive.append_link(&mut header, path, target)
    } else if metadata.is_file() {
        let Ok(content) = read(root, path) else { return Ok(()) };
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, path, content.as_slice())
    } else {
        Ok(())
    }
}

/// Reads a file, which a command may have replaced a moment ago: by a pipe, which must not be waited for.
fn read(root: &Dir, path: &Path) -> io::Result<Vec<u8>> {
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = root.open_with(path, OpenOptions::new().read(true).custom_flags(nonblocking))?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut content = Vec::new();
    file.take(TREE_MAX + 1).read_to_end(&mut content)?;
    Ok(content)
}

/// Unpacks a tar into an empty folder.
///
/// # Errors
/// When the tar is damaged or too large, or has what [`pack`] does not pack.
pub fn unpack(tar: &[u8], folder: &Path) -> io::Result<()> {
    let root = Dir::open_ambient_dir(folder, ambient_authority())?;
    let mut modes = Vec::new();
    for (count, entry) in Archive::new(tar).entries()?.enumerate() {
        let mut entry = entry?;
        if count >= ENTRIES_MAX {
            return Err(too_large());
        }
        let path = entry.path()?.into_owned();
        let mode = Permissions::from_mode(entry.header().mode()? & 0o777);
        match entry.header().entry_type() {
            EntryType::Directory => {
                root.create_dir_all(&path)?;
                // Later: a folder may be read-only that files come into.
                modes.push((path, mode));
            }
            EntryType::Symlink => {
                let target = entry.link_name()?.ok_or(io::ErrorKind::InvalidData)?;
                root.symlink_contents(target, &path)?;
            }
            EntryType::Regular => {
                let modified = UNIX_EPOCH + Duration::from_secs(entry.header().mtime()?);
                let mut file = root.open_with(&path, OpenOptions::new().write(true).create_new(true).mode(0o600))?;
                io::copy(&mut entry, &mut file)?;
                file.set_permissions(mode)?;
                file.into_std().set_modified(modified)?;
            }
            other => return Err(io::Error::other(format!("{}: a tree has no {other:?}", path.display()))),
        }
    }
    modes.into_iter().rev().try_for_each(|(path, mode)| root.set_permissions(path, mode))
}

fn too_large() -> io::Error {
    io::Error::other(format!("a tree may have {ENTRIES_MAX} files and {TREE_MAX} bytes"))
}
