//! A skill: a folder with a SKILL.md.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::documents::{self, Document, DocumentEntry, Files};
use super::error::SkillError;
use super::file::SkillFile;
use super::finding::{Finding, Log};
use super::manifest::Manifest;
use super::text::shown;
use super::{SANDBOX_FOLDER, tools};

/// The names of the file that makes a folder a skill, in the order of preference.
pub(crate) const FILE_NAMES: [&str; 2] = ["SKILL.md", "skill.md"];
/// What stands for the skill's path in bodies and documents: OpenClaw's and trpc-agent-python's ways to write it.
const PLACEHOLDERS: [&str; 2] = ["{baseDir}", "__BASE_DIR__"];

/// A skill: a folder with a SKILL.md, documents and scripts.
///
/// ```
/// let skill = wskill::skill::Skill::open("skills/python-math".as_ref())?;
/// assert_eq!(skill.name(), "python-math");
/// assert_eq!(skill.sandbox_path(), "/workspace/skills/python-math");
/// assert!(skill.resources().iter().any(|file| file.path == "scripts/fib.py"));
/// # Ok::<(), wskill::skill::SkillError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    folder: PathBuf,
    path: PathBuf,
    file: SkillFile,
}

impl Skill {
    /// The skill in a folder.
    ///
    /// # Errors
    /// When there is no such folder, it has neither a `SKILL.md` nor a `skill.md`, or that file cannot be used: see
    /// [`SkillFile::parse`].
    pub fn open(folder: &Path) -> Result<Self, SkillError> {
        let (real, path) = locate(folder)?;
        let name = folder_name(&real);
        let file = SkillFile::open(&path, &name)?;
        Ok(Self { folder: real, path, file })
    }

    /// Its name: what the SKILL.md says, else the folder's.
    pub fn name(&self) -> &str {
        &self.manifest().name
    }

    /// Its folder on the host, without links.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its SKILL.md on the host.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its folder in the sandbox: `/workspace/skills/NAME`.
    pub fn sandbox_path(&self) -> String {
        format!("{SANDBOX_FOLDER}/{}", self.name())
    }

    /// The fields of its front matter.
    pub fn manifest(&self) -> &Manifest {
        self.file.manifest()
    }

    /// Its SKILL.md as it is.
    pub fn file(&self) -> &SkillFile {
        &self.file
    }

    /// What was noticed about its SKILL.md.
    pub fn findings(&self) -> &[Finding] {
        self.file.findings()
    }

    /// The body of its SKILL.md, with the skill's path in the sandbox for `{baseDir}` and `__BASE_DIR__`.
    pub fn body(&self) -> Cow<'_, str> {
        with_path(self.file.body(), &self.sandbox_path())
    }

    /// The names of the tools in the `Tools:` section of its body, or below a heading `Tools`.
    pub fn tools(&self) -> Vec<String> {
        tools::parse(self.file.body(), 0, &mut Log::new(""))
    }

    /// Its files, but for the SKILL.md. Reads the folder each time: at most [`FILES_LIMIT`](super::FILES_LIMIT) files.
    pub fn files(&self) -> Files {
        documents::list(&self.folder)
    }

    /// Its documents: `*.md` and `*.txt` in any case, by path. See [`files`](Self::files).
    pub fn documents(&self) -> Vec<DocumentEntry> {
        self.files().documents
    }

    /// Its other files: scripts, assets. See [`files`](Self::files).
    pub fn resources(&self) -> Vec<DocumentEntry> {
        self.files().resources
    }

    /// Reads a document: at most [`DOCUMENT_LIMIT`](super::DOCUMENT_LIMIT) bytes.
    ///
    /// # Errors
    /// When the path is none of [`documents`](Self::documents), or the file cannot be read.
    pub fn document(&self, path: &str) -> Result<Document, SkillError> {
        let Some(real) = documents::find(&self.folder, path) else {
            return Err(self.no_document(path));
        };
        let read = documents::read(&real);
        let mut document = read.map_err(|source| SkillError::Read { path: real.clone(), source })?;
        if let Cow::Owned(text) = with_path(&document.text, &self.sandbox_path()) {
            document.text = text;
        }
        Ok(document)
    }

    fn no_document(&self, path: &str) -> SkillError {
        const MOST: usize = 20;
        let documents = self.documents();
        let names: Vec<_> = documents.iter().take(MOST).map(|document| document.path.as_str()).collect();
        let known = match documents.len() {
            0 => "it has none".to_owned(),
            more if more > MOST => format!("it has {more}, among them {}", names.join(", ")),
            _ => format!("it has {}", names.join(", ")),
        };
        SkillError::NoDocument { skill: self.name().to_owned(), path: shown(path), known }
    }
}

fn with_path<'a>(text: &'a str, path: &str) -> Cow<'a, str> {
    PLACEHOLDERS.into_iter().fold(Cow::Borrowed(text), |text, placeholder| {
        if text.contains(placeholder) { text.replace(placeholder, path).into() } else { text }
    })
}

/// The real path of a folder, and its SKILL.md.
pub(super) fn locate(folder: &Path) -> Result<(PathBuf, PathBuf), SkillError> {
    if !folder.is_dir() {
        return Err(SkillError::NoFolder(folder.to_owned()));
    }
    let real = folder.canonicalize().map_err(|source| SkillError::Read { path: folder.to_owned(), source })?;
    let path = skill_file(&real).ok_or_else(|| SkillError::NoSkillFile(folder.to_owned()))?;
    Ok((real, path))
}

/// The SKILL.md of a folder.
pub(crate) fn skill_file(folder: &Path) -> Option<PathBuf> {
    FILE_NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

/// The name of a real folder; `/` has none.
pub(super) fn folder_name(real: &Path) -> Cow<'_, str> {
    real.file_name().map_or(Cow::Borrowed(""), |name| name.to_string_lossy())
}
