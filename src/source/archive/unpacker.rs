//! Writes the entries of an archive into a fresh folder.
//!
//! Decision: plain paths instead of a descriptor for each folder. The folder was made by this process just now, under a
//! random name and for its user alone; everything below it is made here, folders by `mkdir` that must not find one
//! already (but for those in `names`, which were made the same way) and files with `O_EXCL`; links are never made. So
//! no component of a path can be a link, unless the same user puts one there, who needs no archive for that.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::ArchiveError;
use super::name::{EntryName, shown};
use super::unique::Names;
use crate::source::limits::Limits;

/// The target of one archive.
pub struct Unpacker<'a> {
    root: &'a Path,
    pub limits: &'a Limits,
    /// Bytes of the archive.
    packed: u64,
    /// Bytes written so far.
    total: u64,
    entries: usize,
    names: Names,
    files: usize,
    buffer: Vec<u8>,
}

impl<'a> Unpacker<'a> {
    /// Makes the folder `root`.
    pub fn new(root: &'a Path, packed: u64, limits: &'a Limits) -> Result<Self, ArchiveError> {
        make_folder(root).map_err(ArchiveError::Io)?;
        Ok(Self {
            root,
            limits,
            packed,
            total: 0,
            entries: 0,
            names: Names::default(),
            files: 0,
            buffer: vec![0; 64 << 10],
        })
    }

    /// Counts an entry, whatever it is.
    pub fn count(&mut self) -> Result<(), ArchiveError> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(ArchiveError::TooManyEntries(self.limits.entries));
        }
        Ok(())
    }

    /// A folder entry.
    pub fn folder(&mut self, raw: &[u8]) -> Result<(), ArchiveError> {
        self.count()?;
        let name = EntryName::parse(raw, self.limits)?;
        self.folders(&name.components).map(drop)
    }

    /// A file entry with its content.
    pub fn file(
        &mut self,
        raw: &[u8],
        declared: u64,
        executable: bool,
        content: &mut impl Read,
    ) -> Result<(), ArchiveError> {
        self.count()?;
        let name = EntryName::parse(raw, self.limits)?;
        let (Some((last, folders)), false) = (name.components.split_last(), name.is_folder) else {
            return Err(ArchiveError::FileAndFolder(shown(raw)));
        };
        // Before anything is written: what it declares.
        if declared > self.limits.file {
            return Err(ArchiveError::FileTooLarge { name: shown(raw), limit: self.limits.file });
        }
        if self.total.saturating_add(declared) > self.limits.total {
            return Err(ArchiveError::TotalTooLarge(self.limits.total));
        }
        let (mut path, key) = self.folders(folders)?;
        self.names.file(key, folders, last)?;
        path.push(last);
        let mut file = create_file(&path, executable).map_err(ArchiveError::Io)?;
        self.files += 1;
        if self.copy(content, &mut file, declared)? == declared {
            Ok(())
        } else {
            Err(ArchiveError::Size { name: shown(raw), declared })
        }
    }

    /// Copies at most one byte more than declared, which is what the caller needs to know.
    fn copy(&mut self, content: &mut impl Read, file: &mut File, declared: u64) -> Result<u64, ArchiveError> {
        let mut content = content.take(declared.saturating_add(1));
        let mut written = 0;
        loop {
            let count = match content.read(&mut self.buffer) {
                Ok(0) => return Ok(written),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(ArchiveError::reading(error)),
            };
            file.write_all(&self.buffer[..count]).map_err(ArchiveError::Io)?;
            written += count as u64;
            self.total += count as u64;
            if self.limits.is_bomb(self.packed, self.total) {
                return Err(ArchiveError::Bomb(self.limits.ratio));
            }
        }
    }

    /// Makes what is missing of these folders; answers the path and the folded path.
    fn folders(&mut self, components: &[&str]) -> Result<(PathBuf, String), ArchiveError> {
        // Folders that entries only imply count too, though less strictly: they cost as much.
        if self.names.len() > 2 * self.limits.entries {
            return Err(ArchiveError::TooManyEntries(self.limits.entries));
        }
        let path = |components: &[&str]| components.iter().fold(self.root.to_owned(), |path, part| path.join(part));
        let key = self.names.folders(components, |new| make_folder(&path(new)).map_err(ArchiveError::Io))?;
        Ok((path(components), key))
    }

    /// Ends the archive.
    pub fn finish(self) -> Result<(), ArchiveError> {
        if self.files == 0 { Err(ArchiveError::Empty) } else { Ok(()) }
    }
}

/// Rights are set whatever the process's mask is, and never more than these: no setuid, nothing for others to write.
#[cfg(unix)]
fn make_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::create_dir(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

#[cfg(unix)]
fn create_file(path: &Path, executable: bool) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 }))?;
    Ok(file)
}

#[cfg(not(unix))]
fn create_file(path: &Path, _executable: bool) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}
