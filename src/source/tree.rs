//! The files of a skill's folder, in the order in which they are digested, copied and packed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::error::SourceError;
use super::limits::Limits;
use super::temporary;

/// Names that are no part of a skill: what version control, interpreters, package managers and desktops leave behind.
const LEFT_OUT: [&str; 5] = [".git", "__pycache__", "node_modules", ".venv", ".DS_Store"];
/// Compiled Python, outside `__pycache__` as Python 2 had it.
const LEFT_OUT_EXTENSION: &str = "pyc";
/// The folder of a skill's own tests of itself, which are not shipped.
const EVALS: &str = "evals";

/// What of a folder is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// What an installation holds.
    Installed,
    /// What a packed skill holds: all that but the root's `evals`.
    Packed,
}

/// The files of a folder, sorted by the bytes of their names.
pub struct Tree {
    pub files: Vec<TreeFile>,
}

/// A file.
pub struct TreeFile {
    /// Relative, with `/` between components.
    pub name: String,
    /// Where it is; links are resolved.
    pub path: PathBuf,
    pub executable: bool,
}

impl Tree {
    /// Reads the names in `root`.
    ///
    /// Links are followed when they stay inside, and the file then counts with its content.
    pub fn read(root: &Path, which: Which, limits: &Limits) -> Result<Self, SourceError> {
        let root = root.canonicalize().map_err(|error| SourceError::io("read", root, error))?;
        let mut walk = Walk { root: &root, which, limits, files: Vec::new(), entries: 0, total: 0 };
        walk.folder(&root, "", &mut vec![root.clone()])?;
        walk.files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self { files: walk.files })
    }

    /// Copies the files into the new folder `target`. Times and owners are not kept, of rights only the execute bit.
    pub fn copy(&self, target: &Path) -> Result<(), SourceError> {
        fs::create_dir(target).map_err(|error| SourceError::io("make", target, error))?;
        for file in &self.files {
            let to = target.join(&file.name);
            let folder = to.parent().unwrap_or(target);
            let made = fs::create_dir_all(folder);
            let copied = made.and_then(|()| io::copy(&mut File::open(&file.path)?, &mut create(&to, file.executable)?));
            copied.map_err(|error| SourceError::io("write", &to, error))?;
        }
        Ok(())
    }
}

struct Walk<'a> {
    root: &'a Path,
    which: Which,
    limits: &'a Limits,
    files: Vec<TreeFile>,
    entries: usize,
    total: u64,
}

impl Walk<'_> {
    /// Reads one folder; `above` are it and the folders that lead to it, without links.
    fn folder(&mut self, folder: &Path, prefix: &str, above: &mut Vec<PathBuf>) -> Result<(), SourceError> {
        let failed = |error| SourceError::io("read", folder, error);
        if above.len() > self.limits.depth {
            return Err(self.too_much(folder, format!("{} folders below one another", self.limits.depth)));
        }
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                return Err(SourceError::FileName { path });
            };
            if self.is_left_out(name, prefix) {
                continue;
            }
            self.entries += 1;
            if self.entries > self.limits.entries {
                return Err(self.too_much(self.root, format!("{} files and folders", self.limits.entries)));
            }
            let name = format!("{prefix}{name}");
            // Resolves links, and answers the path itself where there are none.
            let real = path.canonicalize().map_err(|_| SourceError::Link { path: path.clone() })?;
            if !real.starts_with(self.root) {
                return Err(SourceError::Link { path });
            }
            let metadata = fs::metadata(&real).map_err(|error| SourceError::io("read", &path, error))?;
            if metadata.is_dir() {
                if above.contains(&real) {
                    return Err(SourceError::Link { path });
                }
                above.push(real);
                self.folder(&path, &format!("{name}/"), above)?;
                above.pop();
            } else if metadata.is_file() {
                if metadata.len() > self.limits.file {
                    return Err(self.too_much(&path, format!("{} bytes", self.limits.file)));
                }
                self.total = self.total.saturating_add(metadata.len());
                if self.total > self.limits.total {
                    return Err(self.too_much(self.root, format!("{} bytes", self.limits.total)));
                }
                self.files.push(TreeFile { name, path: real, executable: is_executable(&metadata) });
            } else {
                return Err(SourceError::Special { path });
            }
        }
        Ok(())
    }

    fn is_left_out(&self, name: &str, prefix: &str) -> bool {
        let compiled = Path::new(name).extension().is_some_and(|extension| extension == LEFT_OUT_EXTENSION);
        let evals = self.which == Which::Packed && prefix.is_empty() && name == EVALS;
        LEFT_OUT.contains(&name) || name.starts_with(temporary::BESIDE) || compiled || evals
    }

    fn too_much(&self, path: &Path, limit: String) -> SourceError {
        SourceError::TooMuch { path: path.to_owned(), limit }
    }
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

/// Where there is no such right, scripts run without it.
#[cfg(not(unix))]
fn is_executable(_metadata: &fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
fn create(path: &Path, executable: bool) -> io::Result<File> {
    use std::os::unix::fs::PermissionsExt;
    let file = File::create_new(path)?;
    file.set_permissions(fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 }))?;
    Ok(file)
}

#[cfg(not(unix))]
fn create(path: &Path, _executable: bool) -> io::Result<File> {
    File::create_new(path)
}
