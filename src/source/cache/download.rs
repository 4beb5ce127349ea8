//! Filling the cache from the network.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::PathBuf;

use super::entry::{Entry, READY, Ready, UNUSED, age};
use super::{Cache, Progress, Resolved, TEMPORARY, blocking};
use crate::source::archive::{ArchiveError, Kind, decoded};
use crate::source::digest::Sha256Sum;
use crate::source::error::SourceError;
use crate::source::fetch::{self, Answer, Known};
use crate::source::lock::{replace, timestamp};
use crate::source::spec::Source;
use crate::source::temporary::{self, Temporary};

impl Cache {
    /// Downloads and unpacks what `url` has now, or finds that it is what is there.
    pub(super) async fn download(&self, source: &Source, url: &str, entry: Entry) -> Result<Resolved, SourceError> {
        let temporary = Temporary::make(&self.folder, TEMPORARY)?;
        let archive = temporary.path().join("archive");
        // Only what is still there need not be sent again, and only when it may be the wanted one.
        let former = entry.ready().filter(|ready| source.pin().is_none() && entry.version(ready.sha256).is_some());
        let known = former
            .as_ref()
            .map(|ready| Known { etag: ready.etag.clone(), last_modified: ready.last_modified.clone() })
            .unwrap_or_default();
        let options = fetch::Options {
            allow_private: self.options.allow_private,
            limits: self.options.limits.clone(),
            timeouts: self.options.timeouts,
            proxy: self.options.proxy.clone(),
        };
        let progress = |received, total| (self.progress)(Progress::Downloading { url, received, total });
        let (known, is_compressed) = match fetch::download(url, &archive, &known, &options, &progress).await? {
            Answer::New { known, is_compressed } => (known, is_compressed),
            Answer::Unchanged => {
                let unasked = || SourceError::Status { url: url.to_owned(), status: 304 };
                let former = former.ok_or_else(unasked)?;
                let resolved = entry.version(former.sha256).ok_or_else(unasked)?;
                set_ready(&entry, &Ready { fetched: timestamp(), ..former })?;
                return Ok(resolved);
            }
        };
        (self.progress)(Progress::Unpacking { source });
        let url = url.to_owned();
        blocking(move || {
            let archive = if is_compressed { decompress(&entry, &temporary, archive)? } else { archive };
            let resolved = entry.keep(&temporary, &archive)?;
            if let Some(sha256) = resolved.sha256 {
                let (etag, last_modified) = (known.etag, known.last_modified);
                set_ready(&entry, &Ready { url, sha256, etag, last_modified, fetched: timestamp() })?;
                clean(&entry, sha256);
            }
            Ok(resolved)
        })
        .await
    }
}

fn set_ready(entry: &Entry, ready: &Ready) -> Result<(), SourceError> {
    replace(&entry.folder.join(READY), &serde_json::to_vec_pretty(ready).unwrap_or_default())
}

/// Undoes what the server did to an archive that is not compressed by itself.
fn decompress(entry: &Entry, temporary: &Temporary, archive: PathBuf) -> Result<PathBuf, SourceError> {
    let failed = |error| SourceError::io("read", &archive, error);
    let mut head = [0; 2];
    let mut file = File::open(&archive).map_err(failed)?;
    let is_gzip = file.read_exact(&mut head).is_ok() && Kind::is_gzip(&head);
    if !is_gzip || matches!(Kind::of_name(&entry.source.file_name()), Some((Kind::TarGz, _))) {
        return Ok(archive);
    }
    let packed = file.metadata().map_err(failed)?.len();
    file.rewind().map_err(failed)?;
    let plain = temporary.path().join("decoded");
    let mut target = File::create_new(&plain).map_err(|error| SourceError::io("write", &plain, error))?;
    io::copy(&mut decoded(file, packed, &entry.limits), &mut target)
        .map_err(|error| entry.refused(ArchiveError::reading(error)))?;
    Ok(plain)
}

/// Removes former archives that nobody has used for long, and what a killed process was writing.
fn clean(entry: &Entry, current: Sha256Sum) {
    temporary::clean(&entry.folder, temporary::BESIDE);
    let Ok(entries) = fs::read_dir(&entry.folder) else { return };
    for entry in entries.flatten() {
        let sum = entry.file_name().to_str().and_then(|name| name.parse::<Sha256Sum>().ok());
        if sum.is_some_and(|sum| sum != current) && age(&entry.path()).is_some_and(|age| age > UNUSED) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
