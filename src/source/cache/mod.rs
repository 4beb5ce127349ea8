//! The folder of what was downloaded and unpacked.
//!
//! ```text
//! <cache>/<sha256 of the address>/.ready                    which archive is current, and how to ask for a newer one
//! <cache>/<sha256 of the address>/.lock                     held by the process that downloads
//! <cache>/<sha256 of the address>/<sha256 of the archive>/<name>/…
//! <cache>/tmp-skill-root-…                                  what is being downloaded and unpacked, with its lock
//! ```
//!
//! A folder with the digest of an archive appears by one `rename` when it is complete and never changes after it, so a
//! reader needs no lock, two processes that unpack the same archive cannot disturb each other (the later one uses what
//! is there), and a refreshed source does not pull the files from under those who still use the former ones. The lock
//! only saves downloads: without it, or on file systems that have none, the result is the same.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::digest::Sha256Sum;
use super::error::SourceError;
use super::limits::{Limits, Timeouts};
use super::spec::{Place, Source};
use super::temporary::{self, Temporary};

#[cfg(feature = "fetch")]
mod download;
mod entry;

use entry::{Entry, check_pin};

/// What temporary folders begin with.
const TEMPORARY: &str = "tmp-skill-root-";

/// What is happening to a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// Bytes have come.
    Downloading {
        /// The address.
        url: &'a str,
        /// Bytes so far.
        received: u64,
        /// Bytes in all, when the server tells.
        total: Option<u64>,
    },
    /// The archive is whole and is being unpacked.
    Unpacking {
        /// The source.
        source: &'a Source,
    },
}

type OnProgress = Arc<dyn Fn(Progress<'_>) + Send + Sync>;

/// Turns sources into folders; see [`Cache::builder`].
#[derive(Clone)]
pub struct Cache {
    folder: PathBuf,
    refresh: bool,
    options: Options,
    progress: OnProgress,
}

#[derive(Clone, Debug, Default)]
struct Options {
    #[cfg_attr(not(feature = "fetch"), allow(dead_code))]
    allow_private: bool,
    #[cfg_attr(not(feature = "fetch"), allow(dead_code))]
    proxy: Option<String>,
    limits: Limits,
    timeouts: Timeouts,
}

/// How a [`Cache`] works.
#[derive(Clone)]
pub struct CacheBuilder {
    folder: Option<PathBuf>,
    refresh: bool,
    options: Options,
    progress: OnProgress,
}

/// A source that has become a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resolved {
    /// The folder: a skill, or a collection of them. Of an archive it is in the cache and must not be changed.
    pub folder: PathBuf,
    /// The archive's digest; none for a folder.
    pub sha256: Option<Sha256Sum>,
}

impl Cache {
    /// A cache in the platform's place, that asks nothing again and connects to nothing private.
    pub fn builder() -> CacheBuilder {
        CacheBuilder { folder: None, refresh: false, options: Options::default(), progress: Arc::new(|_| ()) }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// The same cache, that asks servers for changes.
    pub(super) fn refreshing(&self) -> Self {
        Self { refresh: true, ..self.clone() }
    }

    /// The folder of `source`; a `SKILL.md` on this machine stands for its folder. What was downloaded before is used
    /// without asking, unless [`refresh`](CacheBuilder::refresh) says so; a pinned archive never changes and is never
    /// asked for again.
    ///
    /// # Errors
    ///
    /// Any [`SourceError`] but those of installing. Nothing is kept then of what failed.
    pub async fn resolve(&self, source: &Source) -> Result<PathBuf, SourceError> {
        Ok(self.fetch(source).await?.folder)
    }

    /// Like [`resolve`](Self::resolve), with what else is known of the source.
    ///
    /// # Errors
    ///
    /// As [`resolve`](Self::resolve).
    pub async fn fetch(&self, source: &Source) -> Result<Resolved, SourceError> {
        match source.place() {
            Place::Path(path) => {
                let (cache, source, path) = (self.clone(), source.clone(), path.clone());
                blocking(move || cache.fetch_path(&source, &path)).await
            }
            Place::Url(url) => self.fetch_url(source, url).await,
        }
    }

    fn fetch_path(&self, source: &Source, path: &Path) -> Result<Resolved, SourceError> {
        let path = path.canonicalize().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => SourceError::NotFound { path: path.to_owned() },
            _ => SourceError::io("read", path, error),
        })?;
        let failed = |error| SourceError::io("read", &path, error);
        let metadata = fs::metadata(&path).map_err(failed)?;
        if metadata.is_dir() {
            return match source.pin() {
                None => Ok(Resolved { folder: path, sha256: None }),
                Some(_) => Err(SourceError::PinnedFolder { path }),
            };
        }
        if !metadata.is_file() {
            return Err(SourceError::Special { path });
        }
        // Alone it would lose its scripts; from here the whole folder can be had.
        let is_skill_file = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
        if let (true, None, Some(folder)) = (is_skill_file, source.pin(), path.parent()) {
            return Ok(Resolved { folder: folder.to_owned(), sha256: None });
        }
        let limit = self.options.limits.download;
        if metadata.len() > limit {
            return Err(SourceError::TooMuch { path, limit: format!("{limit} bytes") });
        }
        // The name too: a link may give it another one, and with that another folder and kind.
        let entry = Entry::of(self, source, &format!("file://{}#{}", path.display(), source.file_name()));
        let sha256 = File::open(&path).and_then(Sha256Sum::of_reader).map_err(failed)?;
        check_pin(source, sha256)?;
        if let Some(resolved) = entry.version(sha256) {
            return Ok(resolved);
        }
        temporary::clean(&self.folder, TEMPORARY);
        // The file may change meanwhile; what counts is the copy.
        let temporary = Temporary::make(&self.folder, TEMPORARY)?;
        let archive = temporary.path().join("archive");
        (self.progress)(Progress::Unpacking { source });
        fs::copy(&path, &archive).map_err(failed)?;
        entry.keep(&temporary, &archive)
    }

    async fn fetch_url(&self, source: &Source, url: &str) -> Result<Resolved, SourceError> {
        let entry = Entry::of(self, source, url);
        let before = entry.stamp();
        if let Some(resolved) = entry.usable(self.refresh) {
            return Ok(resolved);
        }
        fs::create_dir_all(&entry.folder).map_err(|error| SourceError::io("make", &entry.folder, error))?;
        let lock = self.lock(&entry.folder.join(".lock")).await;
        // Somebody else may have done it meanwhile.
        let is_new = entry.stamp() != before;
        if let Some(resolved) = entry.usable(self.refresh && !is_new) {
            return Ok(resolved);
        }
        temporary::clean(&self.folder, TEMPORARY);
        let resolved = self.download(source, url, entry).await;
        drop(lock);
        resolved
    }

    #[cfg(not(feature = "fetch"))]
    async fn download(&self, _source: &Source, url: &str, _entry: Entry) -> Result<Resolved, SourceError> {
        Err(SourceError::FetchDisabled { url: url.to_owned() })
    }

    /// Waits for whoever downloads the same; at most as long as that may take.
    async fn lock(&self, path: &Path) -> Option<File> {
        const SLACK: Duration = Duration::from_secs(30);
        const PAUSE: Duration = Duration::from_millis(25);
        let file = File::options().create(true).truncate(false).write(true).open(path).ok()?;
        let begin = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Some(file),
                Err(fs::TryLockError::Error(_)) => return None,
                Err(fs::TryLockError::WouldBlock) if begin.elapsed() > self.options.timeouts.total + SLACK => {
                    return None;
                }
                Err(fs::TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("folder", &self.folder)
            .field("refresh", &self.refresh)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl CacheBuilder {
    /// Keeps everything in `folder`. Default: `$SKILLS_CACHE_DIR`, else `wskill/skills` in the platform's cache folder
    /// (`$XDG_CACHE_HOME`, `~/Library/Caches`, `%LOCALAPPDATA%`), else in the temporary one.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Asks servers whether what was downloaded is still current, by `ETag` and `Last-Modified`. Default: no.
    #[must_use]
    pub fn refresh(mut self, refresh: bool) -> Self {
        self.refresh = refresh;
        self
    }

    /// Connects to private, loopback and other special addresses too. Default: no, so that an address that comes from
    /// elsewhere (a model, a web page, a redirect) reaches neither this machine, nor the local network, nor a cloud's
    /// metadata service.
    #[must_use]
    pub fn allow_private(mut self, allow: bool) -> Self {
        self.options.allow_private = allow;
        self
    }

    /// Downloads through the HTTP proxy at `url`. It resolves names itself, so private addresses are then refused only
    /// when they are given as numbers. Default: none, whatever the environment says.
    #[must_use]
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.options.proxy = Some(url.into());
        self
    }

    /// What archives and downloads may cost. Default: [`Limits::default`].
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// How long a download may take. Default: [`Timeouts::default`].
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.options.timeouts = timeouts;
        self
    }

    /// Calls `progress` while something is downloaded, often. Default: nothing.
    #[must_use]
    pub fn on_progress(mut self, progress: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Self {
        self.progress = Arc::new(progress);
        self
    }

    /// Makes the folder where there is none.
    ///
    /// # Errors
    ///
    /// [`SourceError::CacheNotPrivate`] when others may write there, [`SourceError::Io`] when it cannot be made, and
    /// [`SourceError::NoCacheFolder`] when none was named and no place can be used.
    pub fn open(self) -> Result<Cache, SourceError> {
        let named = self.folder.or_else(|| std::env::var_os("SKILLS_CACHE_DIR").map(PathBuf::from));
        let folder = match named.filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) => {
                prepare(&folder)?;
                folder
            }
            None => places().into_iter().find(|place| prepare(place).is_ok()).ok_or(SourceError::NoCacheFolder)?,
        };
        let folder = folder.canonicalize().map_err(|error| SourceError::io("read", &folder, error))?;
        Ok(Cache { folder, refresh: self.refresh, options: self.options, progress: self.progress })
    }
}

/// Where a cache may be, best first.
fn places() -> Vec<PathBuf> {
    let own = etcetera::base_strategy::choose_native_strategy().ok();
    let own = own.map(|place| etcetera::BaseStrategy::cache_dir(&place).join("wskill").join("skills"));
    own.into_iter().chain([std::env::temp_dir().join(temporary_name()).join("skills")]).collect()
}

#[cfg(unix)]
fn temporary_name() -> String {
    // One a user, as the temporary folder is everybody's.
    format!("wskill-{}", rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn temporary_name() -> String {
    "wskill".to_owned()
}

/// Makes the folder and checks that only its user writes there.
#[cfg(unix)]
fn prepare(folder: &Path) -> Result<(), SourceError> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    let failed = |error| SourceError::io("make", folder, error);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).map_err(|error| failed(error.into()))?;
    let metadata = fs::metadata(folder).map_err(failed)?;
    if metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0 {
        Ok(())
    } else {
        Err(SourceError::CacheNotPrivate { path: folder.to_owned() })
    }
}

/// Elsewhere the platform's cache folder is the user's own, and its rights are left as they are.
#[cfg(not(unix))]
fn prepare(folder: &Path) -> Result<(), SourceError> {
    fs::create_dir_all(folder).map_err(|error| SourceError::io("make", folder, error))
}

/// Runs what waits for the disk where it does not hold up others.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SourceError> + Send + 'static,
) -> Result<T, SourceError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(SourceError::io("finish in", Path::new("."), io::Error::other(error))),
    }
}
