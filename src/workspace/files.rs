//! What goes into a workspace and what comes out. No link is ever followed: a guest may have made it.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Serialize;

use super::{Workspace, WorkspaceError};

/// How large a text file may be to be shown in a report.
const INLINE_MAX: u64 = 4 << 20;
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

impl Workspace {
    /// Copies a file or folder of the host into the workspace: `FROM`, which goes to `work/inputs/`, or `FROM=TO`.
    ///
    /// # Errors
    /// When it is not there, cannot be copied, or `TO` is outside of the workspace.
    pub fn stage_input(&self, text: &str) -> Result<(), WorkspaceError> {
        // A name with `=` in it is a file when there is one.
        let (from, to) = match text.rsplit_once('=') {
            Some((from, to)) if !Path::new(text).exists() => (Path::new(from), to),
            _ => (Path::new(text), ""),
        };
        let metadata = fs::metadata(from).map_err(|_| WorkspaceError::NoInput(text.into()))?;
        let name = from.canonicalize().ok().and_then(|path| path.file_name().map(ToOwned::to_owned));
        let name = name.ok_or_else(|| WorkspaceError::InputPlace(text.into()))?;
        let to = to.strip_prefix("/workspace/").unwrap_or(to);
        let place = match to {
            "" => Path::new("work/inputs").join(&name),
            folder if folder.ends_with('/') => Path::new(folder).join(&name),
            file => PathBuf::from(file),
        };
        if !place.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(WorkspaceError::InputPlace(text.into()));
        }
        let target = self.root.join(&place);
        self.refuse_links(&place, text)?;
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(WorkspaceError::io("cannot make", parent))?;
        }
        let copied = if metadata.is_dir() { copy_tree(from, &target) } else { copy_file(from, &target) };
        copied.map_err(WorkspaceError::io("cannot copy to", &target))
    }

    /// An earlier run of the same workspace may have put a link where an input goes.
    fn refuse_links(&self, place: &Path, text: &str) -> Result<(), WorkspaceError> {
        let mut path = self.root.clone();
        for part in place.components() {
            path.push(part);
            if path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
                return Err(WorkspaceError::InputPlace(text.into()));
            }
        }
        Ok(())
    }

    /// The files that match one of the patterns (paths in the workspace, `**` allowed), sorted; without patterns those
    /// in `out/`.
    ///
    /// # Errors
    /// When a pattern is none, or a folder cannot be read.
    pub fn collect(&self, patterns: &[String]) -> Result<Vec<OutputFile>, WorkspaceError> {
        let set = globs(patterns)?;
        let mut files = Vec::new();
        for path in regular_files(&self.root, Path::new(""))? {
            if !set.is_match(&path) || files.len() == FILES_MAX {
                continue;
            }
            files.push(self.describe(&path)?);
        }
        Ok(files)
    }

    fn describe(&self, path: &Path) -> Result<OutputFile, WorkspaceError> {
        let full = self.root.join(path);
        let failed = || WorkspaceError::io("cannot read", &full);
        let file = open_regular(&full).map_err(failed())?;
        let size_bytes = file.metadata().map_err(failed())?.len();
        let mut content = None;
        if size_bytes <= INLINE_MAX {
            let mut bytes = Vec::new();
            file.take(INLINE_MAX).read_to_end(&mut bytes).map_err(failed())?;
            content = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        }
        let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        let mime_type = mime_guess::from_path(path).first_or_octet_stream().to_string();
        Ok(OutputFile { name: parts.join("/"), mime_type, size_bytes, content })
    }

    /// Copies the files of `out/` to a folder of the host.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn copy_outputs(&self, folder: &Path) -> Result<(), WorkspaceError> {
        fs::create_dir_all(folder).map_err(WorkspaceError::io("cannot make", folder))?;
        let out = self.root.join("out");
        for path in regular_files(&out, Path::new(""))? {
            let target = folder.join(&path);
            if let Some(parent) = target.parent() {
                fs::create_dir_all(parent).map_err(WorkspaceError::io("cannot make", parent))?;
            }
            copy_file(&out.join(&path), &target).map_err(WorkspaceError::io("cannot copy to", &target))?;
        }
        Ok(())
    }
}

fn globs(patterns: &[String]) -> Result<GlobSet, WorkspaceError> {
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
    set.build().map_err(wrong("the patterns"))
}

/// The regular files below `root`, as relative paths, sorted. Links and anything special are left out.
fn regular_files(root: &Path, below: &Path) -> Result<Vec<PathBuf>, WorkspaceError> {
    let mut files = Vec::new();
    let mut folders = vec![below.to_owned()];
    while let Some(folder) = folders.pop() {
        let full = root.join(&folder);
        for entry in fs::read_dir(&full).map_err(WorkspaceError::io("cannot read", &full))? {
            let entry = entry.map_err(WorkspaceError::io("cannot read", &full))?;
            let kind = entry.file_type().map_err(WorkspaceError::io("cannot read", &full))?;
            let path = folder.join(entry.file_name());
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Opens a regular file without following a link in its last part.
fn open_regular(path: &Path) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(std::io::ErrorKind::InvalidInput.into()) }
}

/// Copies content and permission bits; never a hard link, through which a guest could change the original.
fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    // What is there is replaced, not written through.
    if to.symlink_metadata().is_ok() {
        fs::remove_file(to)?;
    }
    fs::copy(from, to).map(drop)
}

/// Copies a folder of the host's; links in it are followed, as they are the user's own.
fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut folders = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = folders.pop() {
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            if fs::metadata(&source)?.is_dir() {
                folders.push((source, target));
            } else {
                copy_file(&source, &target)?;
            }
        }
    }
    Ok(())
}
