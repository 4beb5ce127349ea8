//! One version of an artifact on disk, and looking for versions.

use std::io::{self, ErrorKind, Read};

use cap_std::fs::{Dir, DirEntry};
use serde::{Deserialize, Serialize};

use crate::artifact::ArtifactName;
use crate::source::Sha256Sum;

/// The file of the content.
pub const DATA: &str = "data";
/// The file of what is kept with it.
pub const META: &str = "meta.json";
/// Bytes of [`META`] that are read: a name and a media type, escaped, with room.
const MAX_META: u64 = 64 << 10;

/// What is kept with the content.
#[derive(Serialize, Deserialize)]
pub struct Meta {
    pub name: ArtifactName,
    pub mime: String,
    pub size: u64,
    pub sha256: Sha256Sum,
    /// When it was saved, in seconds since 1970.
    pub saved: u64,
}

/// Opens a folder in `parent`; nothing when it is not there, was removed just now, or is something else, as a link.
pub fn child(parent: &Dir, name: &str, make: bool) -> io::Result<Option<Dir>> {
    if make {
        match parent.create_dir(name) {
            Err(error) if !matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => return Err(error),
            _ => {}
        }
    }
    let opened = parent.symlink_metadata(name).and_then(|metadata| match metadata.is_dir() {
        true => parent.open_dir(name).map(Some),
        false if make => Err(io::Error::new(ErrorKind::NotADirectory, "there is something else than a folder")),
        false => Ok(None),
    });
    match opened {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        result => result,
    }
}

/// What is in a folder; nothing when it was removed just now.
pub fn entries_of(folder: &Dir) -> io::Result<Vec<DirEntry>> {
    match folder.entries().and_then(Iterator::collect) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        result => result,
    }
}

/// The versions in an artifact's folder, sorted.
pub fn versions_in(folder: &Dir) -> io::Result<Vec<u64>> {
    let numbers = numbers_in(folder)?;
    let mut versions: Vec<u64> =
        numbers.into_iter().filter(|(_, is_folder)| *is_folder).map(|(number, _)| number).collect();
    versions.sort_unstable();
    Ok(versions)
}

/// What in an artifact's folder is named as versions are, and whether it is a folder: what is not, is no version, but
/// has its name.
pub fn numbers_in(folder: &Dir) -> io::Result<Vec<(u64, bool)>> {
    let mut numbers = Vec::new();
    for entry in entries_of(folder)? {
        let name = entry.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse::<u64>().ok()) else { continue };
        if name.to_str() == Some(&*number.to_string()) {
            numbers.push((number, entry.file_type()?.is_dir()));
        }
    }
    Ok(numbers)
}

/// A version's facts and content; no content when it has more than `limit` bytes.
pub fn read_version(artifact: &Dir, version: u64, limit: u64) -> io::Result<(Meta, Vec<u8>)> {
    let folder = child(artifact, &version.to_string(), false)?.ok_or(ErrorKind::NotFound)?;
    let meta = read_meta(&folder)?;
    let bytes = if meta.size > limit { Vec::new() } else { read_file(&folder, DATA, meta.size)? };
    Ok((meta, bytes))
}

/// The name that a version was saved under.
pub fn name_in(artifact: &Dir, version: u64) -> Option<ArtifactName> {
    let folder = child(artifact, &version.to_string(), false).ok()??;
    read_meta(&folder).ok().map(|meta| meta.name)
}

fn read_meta(folder: &Dir) -> io::Result<Meta> {
    let bytes = read_file(folder, META, MAX_META)?;
    serde_json::from_slice(&bytes).map_err(|error| invalid(format!("{META}: {error}")))
}

/// Reads a regular file of at most `limit` bytes: a pipe in its place would never end.
fn read_file(folder: &Dir, name: &str, limit: u64) -> io::Result<Vec<u8>> {
    let metadata =
        folder.symlink_metadata(name).map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
    if !metadata.is_file() || metadata.len() > limit {
        return Err(invalid(format!("{name} is no file of at most {limit} bytes")));
    }
    let mut bytes = Vec::new();
    folder.open(name)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}
