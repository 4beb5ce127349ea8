//! One address in the cache: its record, and the archives that were unpacked from it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{Cache, Resolved};
use crate::source::archive::{self, ArchiveError};
use crate::source::digest::Sha256Sum;
use crate::source::error::SourceError;
use crate::source::limits::Limits;
use crate::source::spec::Source;
use crate::source::temporary::Temporary;

/// The record of what is current.
pub const READY: &str = ".ready";
/// After this time without use, an archive that is no longer the current one of its address is removed.
pub const UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Compares the digest of an archive with the pinned one.
pub fn check_pin(source: &Source, actual: Sha256Sum) -> Result<(), SourceError> {
    match source.pin() {
        Some(expected) if expected != actual => {
            Err(SourceError::PinMismatch { source_text: source.without_pin().to_string(), expected, actual })
        }
        _ => Ok(()),
    }
}

/// What `.ready` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    pub url: String,
    /// The current archive.
    pub sha256: Sha256Sum,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// When it was last asked for.
    pub fetched: String,
}

/// One address in the cache.
pub struct Entry {
    pub folder: PathBuf,
    pub source: Source,
    name: String,
    pub limits: Limits,
}

impl Entry {
    pub fn of(cache: &Cache, source: &Source, url: &str) -> Self {
        Self {
            folder: cache.folder.join(Sha256Sum::of(url.as_bytes()).to_string()),
            source: source.clone(),
            name: source.folder_name().0,
            limits: cache.options.limits.clone(),
        }
    }

    /// What can be used without asking the server.
    pub fn usable(&self, refresh: bool) -> Option<Resolved> {
        match self.source.pin() {
            Some(pin) => self.version(pin),
            None if refresh => None,
            None => self.version(self.ready()?.sha256),
        }
    }

    /// The unpacked archive of that digest.
    pub fn version(&self, sha256: Sha256Sum) -> Option<Resolved> {
        let version = self.folder.join(sha256.to_string());
        let folder = version.join(&self.name);
        if !folder.is_dir() {
            return None;
        }
        // So that it counts as used; not every time, as reading should not write.
        if age(&version).is_some_and(|age| age > UNUSED / 30) {
            let _ = File::open(&version).and_then(|folder| folder.set_modified(SystemTime::now()));
        }
        Some(Resolved { folder, sha256: Some(sha256) })
    }

    /// The record; a damaged one counts as none.
    pub fn ready(&self) -> Option<Ready> {
        serde_json::from_slice(&fs::read(self.folder.join(READY)).ok()?).ok()
    }

    /// Tells one record from the next.
    pub fn stamp(&self) -> Option<SystemTime> {
        fs::metadata(self.folder.join(READY)).and_then(|metadata| metadata.modified()).ok()
    }

    /// Unpacks an archive, and keeps it under its digest when it is whole.
    pub fn keep(&self, temporary: &Temporary, archive: &Path) -> Result<Resolved, SourceError> {
        let sha256 = File::open(archive).and_then(Sha256Sum::of_reader);
        let sha256 = sha256.map_err(|error| SourceError::io("read", archive, error))?;
        check_pin(&self.source, sha256)?;
        if let Some(resolved) = self.version(sha256) {
            return Ok(resolved);
        }
        let content = temporary.path().join("content");
        let failed = |error| SourceError::io("write", &self.folder, error);
        fs::create_dir(&content).map_err(failed)?;
        archive::unpack(archive, &self.source.file_name(), &content.join(&self.name), &self.limits)
            .map_err(|error| self.refused(error))?;
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let version = self.folder.join(sha256.to_string());
        if let Err(error) = fs::rename(&content, &version) {
            // Somebody was faster, or somebody has removed what was in it.
            if self.version(sha256).is_none() {
                fs::rename(&version, temporary.path().join("broken")).map_err(|_| failed(error))?;
                fs::rename(&content, &version).map_err(failed)?;
            }
        }
        self.version(sha256).ok_or(SourceError::NotFound { path: version })
    }

    pub fn refused(&self, error: ArchiveError) -> SourceError {
        SourceError::Archive { source_text: self.source.to_string(), error }
    }
}

/// Since when nobody has changed or used it.
pub fn age(path: &Path) -> Option<Duration> {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    SystemTime::now().duration_since(modified).ok()
}
