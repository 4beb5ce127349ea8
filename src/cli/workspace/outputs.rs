//! What comes out of a workspace. Links are left out: a guest may have made them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_std::fs::OpenOptions;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Serialize;

use super::{Workspace, WorkspaceError};

/// How large a text file may be to be shown in a report.
const INLINE_MAX: u64 = 4 << 20;
/// How much text of files a report shows in all: as much as captured output may be.
const INLINE_TOTAL: u64 = 64 << 20;
/// The most files of a report.
const FILES_MAX: usize = 1000;

/// A file that a run left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutputFile {
    /// Its path in the workspace, with `/`.
    pub name: String,
    /// By its extension.
    pub mime_type: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its content, when it is text of at most 4 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// What a run left, and what of it could not be had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// The files, sorted by name.
    pub files: Vec<OutputFile>,
    /// Sentences for the user.
    pub notes: Vec<String>,
}

/// Which files of a workspace are reported: paths in it, `**` allowed. Without any those in `out/`.
#[derive(Clone, Debug)]
pub struct Patterns(GlobSet);

impl Patterns {
    /// Reads the patterns.
    ///
    /// # Errors
    /// When one is none.
    pub fn new(patterns: &[String]) -> Result<Self, WorkspaceError> {
        let wrong = |pattern: &str| {
            let pattern = pattern.to_owned();
            move |error: globset::Error| WorkspaceError::Pattern { pattern, reason: error.kind().to_string() }
        };
        let mut set = GlobSetBuilder::new();
        let default = ["out/**".to_owned()];
        for pattern in if patterns.is_empty() { &default } else { patterns } {
            let plain = pattern.strip_prefix("/workspace/").unwrap_or(pattern);
            set.add(GlobBuilder::new(plain).literal_separator(true).build().map_err(wrong(pattern))?);
        }
        Ok(Self(set.build().map_err(wrong("the patterns"))?))
    }
}

impl Workspace {
    /// The files that match the patterns.
    pub fn collect(&self, patterns: &Patterns) -> Collected {
        let (paths, mut notes) = self.regular_files(Path::new(""));
        let mut files = Vec::new();
        let mut shown = 0;
        let mut more = 0;
        for path in paths.iter().filter(|path| patterns.0.is_match(path)) {
            if files.len() == FILES_MAX {
                more += 1;
                continue;
            }
            match self.describe(path, INLINE_MAX.min(INLINE_TOTAL - shown)) {
                Ok(file) => {
                    shown += file.content.as_ref().map_or(0, |text| text.len() as u64);
                    files.push(file);
                }
                Err(error) => notes.push(unreadable(path, &error)),
            }
        }
        if more > 0 {
            notes.push(format!("{more} more output files are not listed; name the wanted ones with --output"));
        }
        Collected { files, notes }
    }

    fn describe(&self, path: &Path, inline_max: u64) -> io::Result<OutputFile> {
        let file = self.open(path)?;
        let size_bytes = file.metadata()?.len();
        let mut content = None;
        if size_bytes <= inline_max {
            let mut bytes = Vec::new();
            file.take(inline_max).read_to_end(&mut bytes)?;
            content = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        }
        let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        let mime_type = mime_guess::from_path(path).first_or_octet_stream().to_string();
        Ok(OutputFile { name: parts.join("/"), mime_type, size_bytes, content })
    }

    /// Copies the files of `out/` to a folder of the host. Answers what could not be read, in sentences.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn copy_outputs(&self, folder: &Path) -> Result<Vec<String>, WorkspaceError> {
        fs::create_dir_all(folder).map_err(WorkspaceError::io("cannot make", folder))?;
        let (paths, mut notes) = self.regular_files(Path::new("out"));
        for path in paths {
            let Ok(below) = path.strip_prefix("out") else { continue };
            let target = folder.join(below);
            match self.open(&path) {
                Ok(source) => copy(source, &target).map_err(WorkspaceError::io("cannot copy to", &target))?,
                Err(error) => notes.push(unreadable(&path, &error)),
            }
        }
        Ok(notes)
    }

    /// The regular files below a folder, as paths in the workspace, sorted; and what could not be read, in sentences.
    fn regular_files(&self, below: &Path) -> (Vec<PathBuf>, Vec<String>) {
        let mut files = Vec::new();
        let mut notes = Vec::new();
        let mut folders = vec![below.to_owned()];
        while let Some(folder) = folders.pop() {
            let mut list = || -> io::Result<()> {
                let here = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
                for entry in self.root.read_dir(here)? {
                    let entry = entry?;
                    let kind = entry.file_type()?;
                    let path = folder.join(entry.file_name());
                    if kind.is_dir() {
                        folders.push(path);
                    } else if kind.is_file() {
                        files.push(path);
                    }
                }
                Ok(())
            };
            if let Err(error) = list() {
                notes.push(unreadable(&folder, &error));
            }
        }
        files.sort();
        (files, notes)
    }

    /// The content of a regular file, at most so many bytes of it.
    ///
    /// # Errors
    /// When it is not there, no regular file, or cannot be read.
    pub fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Opens a regular file of the workspace.
    fn open(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            // Nothing is waited for: another run may have put a pipe there.
            let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
            cap_std::fs::OpenOptionsExt::custom_flags(&mut options, flags);
        }
        let file = self.root.open_with(path, &options)?.into_std();
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }
}

/// The most characters of a path in a sentence.
const SHOWN_MAX: usize = 200;

fn unreadable(path: &Path, error: &io::Error) -> String {
    let text = path.display().to_string();
    let start: String = text.chars().take(SHOWN_MAX).collect();
    let cut = if start.len() < text.len() { "…" } else { "" };
    format!("{start}{cut} cannot be read and is left out: {error}")
}

/// Copies to a file that gets its name when it is whole, in the place of what was there.
fn copy(mut source: File, to: &Path) -> io::Result<()> {
    let parent = to.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(parent)?;
    let name = to.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let short: String = name.chars().take(32).collect();
    let temporary = parent.join(format!(".{short}.{}.tmp", std::process::id()));
    let written = (|| {
        let mut target = File::create_new(&temporary)?;
        io::copy(&mut source, &mut target)?;
        target.set_permissions(source.metadata()?.permissions())?;
        fs::rename(&temporary, to)
    })();
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    written
}
