//! The file that records are written to.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use super::record::{COMMAND_TEXT, Record};

/// Bytes of a file before the next one is begun.
const MAX_BYTES: u64 = 16 << 20;
/// How many older files are kept.
const KEEP: u32 = 4;

/// A record could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the audit log {}: {error}", path.display())]
pub struct AuditError {
    /// The log.
    pub path: PathBuf,
    /// What the system answered.
    #[source]
    pub error: io::Error,
}

type Told = dyn Fn(&AuditError) + Send + Sync;

/// How a log is to be; see [`AuditLog::builder`].
pub struct AuditLogBuilder {
    path: PathBuf,
    max_bytes: u64,
    keep: u32,
    command_text: usize,
    required: bool,
    on_failure: Option<Box<Told>>,
}

impl std::fmt::Debug for AuditLogBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditLogBuilder").field("path", &self.path).finish_non_exhaustive()
    }
}

impl AuditLogBuilder {
    /// Bytes of a file before the next one is begun. Default 16 MiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// How many older files are kept, as `NAME.1` (the newest) and so on. Default 4.
    #[must_use]
    pub fn keep(mut self, files: u32) -> Self {
        self.keep = files;
        self
    }

    /// Bytes of each command's text that are written; 0 for the digest only. Default 1024.
    #[must_use]
    pub fn command_text(mut self, bytes: usize) -> Self {
        self.command_text = bytes;
        self
    }

    /// Whether a record that cannot be written is an error of the call. Default: no, it is counted and told once.
    #[must_use]
    pub fn required(mut self, required: bool) -> Self {
        self.required = required;
        self
    }

    /// Who is told of the first record that cannot be written.
    #[must_use]
    pub fn on_failure(mut self, told: impl Fn(&AuditError) + Send + Sync + 'static) -> Self {
        self.on_failure = Some(Box::new(told));
        self
    }

    /// Opens the log and makes its folder.
    ///
    /// # Errors
    /// The file cannot be made, or is no regular file, and the log is required.
    pub fn open(self) -> Result<AuditLog, AuditError> {
        let log = AuditLog { options: self, failures: AtomicU64::new(0), torn: Mutex::new(false) };
        let done = log.prepare();
        log.answer(done)?;
        Ok(log)
    }
}

/// An append-only log of JSON lines, in a file that only its owner reads (mode 0600).
///
/// Each record is one `write` to a file opened for appending, so that several processes can share a log. A log that has
/// grown too large becomes `NAME.1`, that one `NAME.2`, and so on; the oldest goes. A system lock on `NAME.lock` lets
/// one process do so at a time. What others write in that moment is in one of the files.
///
/// ```
/// use wskill::audit::{AuditLog, Record};
///
/// let folder = tempfile::tempdir()?;
/// let log = AuditLog::builder(folder.path().join("audit.jsonl")).open()?;
/// log.write(&Record::new("skill_run").skill("pdf").exit_code(0))?;
/// let text = std::fs::read_to_string(log.path())?;
/// assert!(text.contains(r#""tool":"skill_run","skill":"pdf","exit_code":0"#), "{text}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AuditLog {
    options: AuditLogBuilder,
    failures: AtomicU64,
    /// Whether the last write ended within a line. Held while a line is written.
    torn: Mutex<bool>,
}

impl AuditLog {
    /// A log in this file.
    pub fn builder(path: impl Into<PathBuf>) -> AuditLogBuilder {
        AuditLogBuilder {
            path: path.into(),
            max_bytes: MAX_BYTES,
            keep: KEEP,
            command_text: COMMAND_TEXT,
            required: false,
            on_failure: None,
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.options.path
    }

    /// How many records could not be written.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Writes a record.
    ///
    /// # Errors
    /// It cannot be written, and the log is [required](AuditLogBuilder::required).
    pub fn write(&self, record: &Record) -> Result<(), AuditError> {
        let done = self.append(record.line(self.options.command_text));
        self.answer(done)
    }

    fn answer(&self, done: io::Result<()>) -> Result<(), AuditError> {
        let Err(error) = done else { return Ok(()) };
        let error = AuditError { path: self.options.path.clone(), error };
        let before = self.failures.fetch_add(1, Ordering::Relaxed);
        if let Some(told) = self.options.on_failure.as_ref().filter(|_| before == 0) {
            told(&error);
        }
        if self.options.required { Err(error) } else { Ok(()) }
    }

    fn prepare(&self) -> io::Result<()> {
        if let Some(folder) = self.options.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_folder(folder)?;
        }
        // A pipe would be waited for.
        if fs::metadata(&self.options.path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(io::Error::other("no regular file"));
        }
        open(&self.options.path).map(drop)
    }

    fn append(&self, line: Vec<u8>) -> io::Result<()> {
        let mut torn = self.torn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = open(&self.options.path)?;
        let size = file.metadata()?.len();
        // A line is better in a file that is too long than nowhere.
        let mut rotated = Ok(());
        if size > 0 && size + line.len() as u64 > self.options.max_bytes {
            rotated = self.rotate(line.len() as u64);
            file = open(&self.options.path)?;
        }
        // After a line that a full disk has cut, the next begins on its own.
        let line = if *torn { [b"\n".as_slice(), &line].concat() } else { line };
        let written = file.write(&line)?;
        *torn = written < line.len();
        if *torn { Err(io::ErrorKind::WriteZero.into()) } else { rotated }
    }

    /// Puts the file aside, unless another process has just done so or is about to.
    fn rotate(&self, more: u64) -> io::Result<()> {
        let path = &self.options.path;
        let lock = open(&numbered(path, "lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            // The file grows by a few lines beyond its size meanwhile.
            Err(TryLockError::WouldBlock) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if fs::metadata(path).map_or(0, |metadata| metadata.len()) + more <= self.options.max_bytes {
            return Ok(());
        }
        for number in (1..self.options.keep).rev() {
            match fs::rename(numbered(path, number), numbered(path, number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        if self.options.keep == 0 { fs::remove_file(path) } else { fs::rename(path, numbered(path, 1)) }
    }
}

fn numbered(path: &Path, suffix: impl std::fmt::Display) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(format!(".{suffix}"));
    name.into()
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
