//! A SKILL.md.

use std::io::Read;
use std::path::Path;

use super::error::SkillError;
use super::finding::Finding;
use super::manifest::Manifest;
use super::text::position;
use super::{SKILL_FILE_LIMIT, header};

/// A SKILL.md: YAML front matter and a Markdown body.
///
/// ```
/// let text = b"---\nname: notes\ndescription: Keeps notes.\n---\n# Notes\n";
/// let file = wskill::skill::SkillFile::parse(text, "notes")?;
/// assert_eq!(file.manifest().description, "Keeps notes.");
/// assert_eq!((file.body(), file.body_line()), ("# Notes\n", 5));
/// assert!(file.findings().is_empty());
/// # Ok::<(), wskill::skill::SkillError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFile {
    text: String,
    body: usize,
    manifest: Manifest,
    findings: Vec<Finding>,
}

impl SkillFile {
    /// Reads the bytes of a SKILL.md. The folder's name is the skill's when the file does not say one.
    ///
    /// # Errors
    /// When it is too large or not UTF-8, says no description, or its name is not safe. Everything else is repaired and
    /// told in [`findings`](Self::findings).
    pub fn parse(bytes: &[u8], folder_name: &str) -> Result<Self, SkillError> {
        let size = bytes.len() as u64;
        if size > SKILL_FILE_LIMIT {
            return Err(SkillError::TooLarge { bytes: size });
        }
        let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error))?;
        Self::of_text(text.to_owned(), folder_name)
    }

    /// Reads a file.
    pub(super) fn open(path: &Path, folder_name: &str) -> Result<Self, SkillError> {
        let text = read_text(path)?;
        Self::of_text(text, folder_name).map_err(|error| error.in_file(path))
    }

    fn of_text(text: String, folder_name: &str) -> Result<Self, SkillError> {
        let (manifest, parts, findings) = header::read(&text, true)?.finish(folder_name)?;
        Ok(Self { body: parts.body, text, manifest, findings })
    }

    /// The fields of the front matter.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What follows the line of the closing fence, byte for byte. Without front matter: the whole file, but for a byte
    /// order mark.
    pub fn body(&self) -> &str {
        &self.text[self.body..]
    }

    /// The line in which the body begins, from 1.
    pub fn body_line(&self) -> u32 {
        position(&self.text, self.body).0
    }

    /// What was repaired, cut or ignored, and which rules of the specification are broken: all warnings, by place.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

impl SkillError {
    /// The error with the file where it is.
    pub(super) fn in_file(self, path: &Path) -> Self {
        Self::In { path: path.to_owned(), source: Box::new(self) }
    }
}

/// Opens a SKILL.md. Somebody else's skill may have a link in its place, to have a private file read to a model.
pub(super) fn open(path: &Path) -> Result<std::fs::File, SkillError> {
    let failed = |source| SkillError::Read { path: path.to_owned(), source };
    let mut kind = path.symlink_metadata().map_err(failed)?.file_type();
    if kind.is_symlink() {
        let real = path.canonicalize().map_err(failed)?;
        let folder = path.parent().unwrap_or(path).canonicalize().map_err(failed)?;
        if !real.starts_with(folder) {
            return Err(SkillError::LinkOutside.in_file(path));
        }
        kind = real.symlink_metadata().map_err(failed)?.file_type();
    }
    // A pipe would wait for a writer.
    if !kind.is_file() {
        return Err(failed(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is no file")));
    }
    std::fs::File::open(path).map_err(failed)
}

/// Reads the text of a SKILL.md.
pub(super) fn read_text(path: &Path) -> Result<String, SkillError> {
    let failed = |source| SkillError::Read { path: path.to_owned(), source };
    let mut file = open(path)?;
    let size = file.metadata().map_err(failed)?.len();
    let mut bytes = Vec::new();
    if size <= SKILL_FILE_LIMIT {
        // The file may grow meanwhile.
        file.by_ref().take(SKILL_FILE_LIMIT + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    let size = size.max(bytes.len() as u64);
    if size > SKILL_FILE_LIMIT {
        return Err(SkillError::TooLarge { bytes: size }.in_file(path));
    }
    String::from_utf8(bytes).map_err(|error| not_utf8(error.as_bytes(), error.utf8_error()).in_file(path))
}

/// The error with the place of the first wrong byte.
pub(super) fn not_utf8(bytes: &[u8], error: std::str::Utf8Error) -> SkillError {
    let valid = bytes.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or_default();
    let (line, column) = position(valid, valid.len());
    let wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let hint = if wide { ", perhaps UTF-16; save it as UTF-8" } else { "; save it as UTF-8" };
    SkillError::NotUtf8 { line, column, hint }
}
