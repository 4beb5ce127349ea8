//! Makes `.skill` archives, the same bytes for the same files.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::name::EntryName;
use super::unique::Names;
use super::{ArchiveError, FileName};
use crate::source::digest::Sha256Sum;
use crate::source::error::SourceError;
use crate::source::find::is_skill;
use crate::source::limits::Limits;
use crate::source::temporary::{self, Temporary};
use crate::source::tree::{Tree, TreeFile, Which};

/// What [`pack`] has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The archive.
    pub path: PathBuf,
    /// Its digest, which a source is pinned with.
    pub sha256: Sha256Sum,
    /// Its size in bytes.
    pub size: u64,
    /// The names in it.
    pub files: Vec<String>,
}

/// Packs the skill `folder` into the `.skill` archive `out`; when `out` is a folder, into `<name>.skill` in it. An
/// archive that is there is replaced in one step.
///
/// The archive is a zip with one folder, named as `folder` is, and depends on nothing but names, contents and execute
/// bits: sorted, with a fixed time and fixed rights. The same version of wskill makes the same bytes of the same files.
/// Left out are `.git`, `__pycache__`, `node_modules`, `.venv`, `.DS_Store`, `*.pyc`, the folder's own `evals`, and
/// `out` itself. Links that stay inside become copies. What [`unpack`](super::unpack) refuses, such as names that are
/// one file on macOS or Windows, is refused here already.
///
/// ```no_run
/// # fn example() -> Result<(), wskill::source::SourceError> {
/// let packed = wskill::source::pack("skills/pdf-forms".as_ref(), "dist".as_ref())?;
/// println!("{}#sha256={}", packed.path.display(), packed.sha256);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`SourceError::NoSkill`] for a folder without `SKILL.md`, [`SourceError::Link`] for a link that leads outside,
/// [`SourceError::Archive`] for what no archive may hold,
/// [`SourceError::NoArchiveName`] for an `out` that is no `.skill` or `.zip`, [`SourceError::TooMuch`] beyond the default [`Limits`], and
/// [`SourceError::Io`].
pub fn pack(folder: &Path, out: &Path) -> Result<Packed, SourceError> {
    let root = folder.canonicalize().map_err(|_| SourceError::NotFound { path: folder.to_owned() })?;
    if !is_skill(&root) {
        return Err(SourceError::NoSkill { source_text: folder.display().to_string() });
    }
    let name = FileName::from_lossy(&root.file_name().unwrap_or_default().to_string_lossy()).0;
    let out = if out.is_dir() { out.join(format!("{name}.skill")) } else { out.to_owned() };
    // Whatever is no archive stays as it is: a document, a file of the skill, a device.
    let named = out.extension().is_some_and(|end| end.eq_ignore_ascii_case("skill") || end.eq_ignore_ascii_case("zip"));
    if !named || fs::symlink_metadata(&out).is_ok_and(|former| !former.is_file()) {
        return Err(SourceError::NoArchiveName { path: out });
    }
    let limits = Limits::default();
    let mut files = Tree::read(&root, Which::Packed, &limits)?.files;
    // A former archive inside the folder is no part of the next one.
    if let Ok(former) = out.canonicalize() {
        files.retain(|file| file.path != former);
    }
    let refused = |error| SourceError::Archive { source_text: folder.display().to_string(), error };
    let names = check(&name, &files, &limits).map_err(refused)?;

    let beside = match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    temporary::clean(beside, temporary::BESIDE);
    let temporary = Temporary::make(beside, temporary::BESIDE)?;
    let draft = temporary.path().join("archive");
    let failed = |error| SourceError::io("write", &out, error);
    let written = write(&draft, &names, &files).map_err(failed)?;
    if written > limits.download {
        return Err(SourceError::TooMuch { path: root, limit: format!("{} bytes when packed", limits.download) });
    }
    let sha256 = File::open(&draft).and_then(Sha256Sum::of_reader).map_err(failed)?;
    fs::rename(&draft, &out).map_err(failed)?;
    Ok(Packed { path: out, sha256, size: written, files: names })
}

/// The names in the archive, when all of them can be unpacked everywhere.
fn check(folder: &str, files: &[TreeFile], limits: &Limits) -> Result<Vec<String>, ArchiveError> {
    let mut seen = Names::default();
    let mut names = Vec::with_capacity(files.len());
    for file in files {
        let name = format!("{folder}/{}", file.name);
        if let Some((last, folders)) = EntryName::parse(name.as_bytes(), limits)?.components.split_last() {
            let key = seen.folders(folders, |_| Ok(()))?;
            seen.file(key, folders, last)?;
        }
        names.push(name);
    }
    Ok(names)
}

/// Writes the archive and answers its size.
fn write(draft: &Path, names: &[String], files: &[TreeFile]) -> io::Result<u64> {
    let mut archive = ZipWriter::new(BufWriter::new(File::create_new(draft)?));
    for (name, file) in names.iter().zip(files) {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(if file.executable { 0o755 } else { 0o644 });
        archive.start_file(name.as_str(), options)?;
        io::copy(&mut File::open(&file.path)?, &mut archive)?;
    }
    let mut file = archive.finish()?;
    file.flush()?;
    file.get_ref().metadata().map(|metadata| metadata.len())
}
