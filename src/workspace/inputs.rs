//! What goes into a workspace: artifacts, files of the host, of the workspace and of skills.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde::Serialize;

use super::metadata::{InputRecord, Metadata, now_ms};
use super::outputs::mime_type;
use super::variables::normalise;
use crate::artifact::{Artifact, ArtifactRef, RefError};
use crate::executor::{ExecutorError, FileError, Link, Workspace};

/// The most bytes of an input that is copied.
const SIZE_MAX: usize = 64 << 20;
/// The most files of a folder that is copied.
const FILES_MAX: usize = 10_000;
/// Where inputs go by default.
pub(crate) const INPUTS: &str = "work/inputs";

/// How an input gets into the workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputMode {
    /// As a copy: a read-only file in a folder that commands may write to.
    #[default]
    Copy,
    /// As a read-only mount of a file or folder of the host.
    Link,
}

/// An input that a call asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputSpec {
    /// What is asked for, as it was given.
    pub text: String,
    /// What that means.
    pub from: InputRef,
    /// Its place in the workspace.
    pub to: Option<String>,
    /// How it gets there.
    pub mode: InputMode,
    /// Whether an artifact without a version is the one that it was when it was asked for first.
    pub pin: bool,
}

/// What an input is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputRef {
    /// `artifact://NAME` or `artifact://NAME@VERSION`.
    Artifact(ArtifactRef),
    /// `host:///PATH`, below a folder that the host's owner allows.
    Host(PathBuf),
    /// `workspace://PATH`.
    Workspace(String),
    /// `skill://NAME/PATH`.
    Skill {
        /// The skill's name.
        name: String,
        /// The path in its folder.
        path: String,
    },
}

/// Why an input cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// It begins with no scheme that there is.
    #[error(
        "`{0}` is no input; it must be artifact://NAME[@VERSION], workspace://PATH, skill://NAME/PATH or host:///PATH"
    )]
    Scheme(String),
    /// What comes after the scheme is wrong.
    #[error("`{text}`: {reason}")]
    Reference {
        /// The input.
        text: String,
        /// What is wrong.
        reason: String,
    },
    /// A path of the host that is not allowed, or not there: which of these is not told.
    #[error("`{0}` is not below a folder of the host that may be used as input")]
    NotAllowed(String),
    /// The place is outside of the folders of the workspace.
    #[error("`{0}` is no place for an input; name a path below work/, out/ or runs/")]
    Place(String),
    /// The place is below the host's folder of inputs, which is read-only.
    #[error("`{0}` is in a folder of the host that is shown read-only; name another place below work/")]
    View(String),
    /// Only files and folders of the host, and of skills, can be linked.
    #[error("`{0}` cannot be linked, only copied; leave the mode out")]
    Mode(String),
    /// It has more bytes or files than are copied.
    #[error("`{text}` is too large to be copied: {reason}")]
    TooLarge {
        /// The input.
        text: String,
        /// How large, and what is allowed.
        reason: String,
    },
    /// The workspace.
    #[error(transparent)]
    Executor(#[from] ExecutorError),
}

impl InputError {
    fn reference(text: &str, reason: impl Into<String>) -> Self {
        Self::Reference { text: text.to_owned(), reason: reason.into() }
    }
}

/// What inputs come from besides the workspace.
#[async_trait]
pub trait InputSource: Send + Sync {
    /// An artifact; the newest version when none is given.
    ///
    /// # Errors
    /// Why there is none, in words.
    async fn artifact(&self, artifact: &ArtifactRef) -> Result<Artifact, String>;

    /// The folder of a skill that the caller sees, on the host and without links.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn skill(&self, name: &str) -> Result<PathBuf, String>;

    /// The folders of the host below which `host://` may lead, without links.
    fn roots(&self) -> &[PathBuf];

    /// Whether `work/inputs` is a folder of the host, so that inputs without a place go to `work/`.
    fn shows_inputs_folder(&self) -> bool {
        false
    }
}

/// An input that is in the workspace now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StagedInput {
    /// Its path in the workspace.
    pub name: String,
    /// The name that it had.
    pub original_name: String,
    /// Its media type; of a folder `inode/directory`.
    pub mime_type: String,
    /// Its size in bytes; of a folder 0.
    pub size_bytes: u64,
}

impl InputRef {
    /// Reads an input's `from`.
    ///
    /// ```
    /// use wskill::workspace::InputRef;
    ///
    /// let InputRef::Artifact(artifact) = InputRef::parse("artifact://a.csv@3").unwrap() else { panic!() };
    /// assert_eq!((artifact.name().as_str(), artifact.version()), ("a.csv", Some(3)));
    /// assert_eq!(InputRef::parse("workspace://out/../work/a").unwrap(), InputRef::Workspace("work/a".into()));
    /// assert!(InputRef::parse("/etc/passwd").is_err());
    /// ```
    ///
    /// # Errors
    /// When it has no known scheme, or what follows is empty or leads out.
    pub fn parse(text: &str) -> Result<Self, InputError> {
        let text = text.trim();
        let wrong = |reason: &str| InputError::reference(text, reason);
        let (scheme, rest) = text.split_once("://").ok_or_else(|| InputError::Scheme(text.to_owned()))?;
        match scheme {
            "artifact" => text.parse().map(Self::Artifact).map_err(|error: RefError| wrong(&error.to_string())),
            "host" => {
                let path = Path::new(rest);
                let climbs = path.components().any(|part| part == std::path::Component::ParentDir);
                if !path.is_absolute() || climbs {
                    return Err(wrong("the path must be absolute, without `..`"));
                }
                Ok(Self::Host(path.to_owned()))
            }
            "workspace" => match normalise(rest) {
                Some(path) if !path.is_empty() => Ok(Self::Workspace(path)),
                Some(_) => Err(wrong("the path is empty")),
                None => Err(wrong("the path leads out of the workspace")),
            },
            "skill" => {
                let (name, path) = rest.split_once('/').unwrap_or((rest, ""));
                let path = normalise(path).ok_or_else(|| wrong("the path leads out of the skill"))?;
                if name.is_empty() || path.is_empty() {
                    return Err(wrong("it must be skill://NAME/PATH"));
                }
                Ok(Self::Skill { name: name.to_owned(), path })
            }
            _ => Err(InputError::Scheme(text.to_owned())),
        }
    }

    /// The last part of its name.
    fn base_name(&self) -> String {
        let path = match self {
            Self::Artifact(artifact) => artifact.name().as_str().into(),
            Self::Host(path) => path.to_string_lossy(),
            Self::Workspace(path) | Self::Skill { path, .. } => path.as_str().into(),
        };
        path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
    }
}

/// The place in the workspace that a call asks for, when it asks for one.
fn place(to: Option<&str>, base_name: &str) -> Result<String, InputError> {
    let given = to.unwrap_or_default().trim();
    let wrong = || InputError::Place(given.to_owned());
    let folder = given.is_empty() || given.ends_with(['/', '\\']);
    let plain = given.strip_prefix("/workspace/").unwrap_or(given);
    let path = normalise(plain).ok_or_else(wrong)?;
    let path = match path.as_str() {
        "" | "inputs" => INPUTS.to_owned(),
        path => match path.strip_prefix("inputs/") {
            Some(rest) => format!("{INPUTS}/{rest}"),
            None => path.to_owned(),
        },
    };
    let path = if folder || path == INPUTS { format!("{path}/{base_name}") } else { path };
    let top = path.split('/').next().unwrap_or_default();
    if !["work", "out", "runs"].contains(&top) || !path.contains('/') {
        return Err(wrong());
    }
    Ok(path)
}

/// A path beside `path` that is not taken: `a_2.csv` for `a.csv`.
async fn free(workspace: &dyn Workspace, path: &str) -> Result<String, ExecutorError> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
        _ => (name, String::new()),
    };
    let mut candidate = path.to_owned();
    for number in 2.. {
        match workspace.stat(&candidate).await {
            Err(ExecutorError::File(FileError::NotFound(_))) => break,
            Err(ExecutorError::File(_)) | Ok(_) => candidate = format!("{folder}/{stem}_{number}{extension}"),
            Err(error) => return Err(error),
        }
    }
    Ok(candidate)
}

/// Brings inputs into the workspace, one after the other, and records them.
///
/// An input without a place goes to `work/inputs/`; when another input has that name already, `_2` is added to it. The
/// same input again takes its own place again.
///
/// # Errors
/// The number of the first input that cannot be had, and why. The inputs before it are in the workspace.
pub async fn stage(
    workspace: &dyn Workspace,
    source: &dyn InputSource,
    metadata: &mut Metadata,
    inputs: &[InputSpec],
) -> Result<Vec<StagedInput>, (usize, InputError)> {
    let mut staged = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.iter().enumerate() {
        let one = Staging { workspace, source, metadata: &mut *metadata, input }.stage().await;
        staged.push(one.map_err(|error| (index, error))?);
    }
    Ok(staged)
}

/// One input on its way.
struct Staging<'a> {
    workspace: &'a dyn Workspace,
    source: &'a dyn InputSource,
    metadata: &'a mut Metadata,
    input: &'a InputSpec,
}

impl Staging<'_> {
    async fn stage(self) -> Result<StagedInput, InputError> {
        let base_name = self.input.from.base_name();
        let is_view = self.source.shows_inputs_folder();
        let asked = self.input.to.as_deref().or(is_view.then_some("work/"));
        let mut to = place(asked, &base_name)?;
        if is_view && Path::new(&to).starts_with(INPUTS) {
            return Err(InputError::View(to));
        }
        let known = self.metadata.inputs.iter().rev().find(|record| record.from == self.input.text);
        match known {
            Some(record) if self.input.to.is_none() => {
                // What a command may have written there leads nowhere else.
                to = place(Some(&record.to), &base_name).unwrap_or(to);
            }
            _ if self.input.to.is_none() => to = free(self.workspace, &to).await?,
            _ => {}
        }
        let pinned = if self.input.pin { known.and_then(|record| record.version) } else { None };
        let (file, resolved, version) = self.bring(&to, pinned).await?;
        let record = InputRecord {
            from: self.input.text.clone(),
            to: to.clone(),
            resolved,
            version,
            mode: if self.input.mode == InputMode::Link { "link" } else { "copy" }.to_owned(),
            ts: now_ms(),
        };
        self.metadata.inputs.retain(|known| known.from != record.from || known.to != record.to);
        self.metadata.inputs.push(record);
        Ok(StagedInput { name: to, original_name: base_name, mime_type: file.0, size_bytes: file.1 })
    }

    /// Copies or links it. Answers media type and size, what it stood for, and an artifact's version.
    async fn bring(&self, to: &str, pinned: Option<u64>) -> Result<((String, u64), String, Option<u64>), InputError> {
        let text = &self.input.text;
        match &self.input.from {
            InputRef::Artifact(wanted) => {
                self.only_copied()?;
                let wanted = match (wanted.version(), pinned) {
                    (None, Some(pinned)) => &ArtifactRef::at(wanted.name().clone(), pinned),
                    _ => wanted,
                };
                let found = self.source.artifact(wanted).await.map_err(|reason| InputError::reference(text, reason))?;
                let resolved = ArtifactRef::at(wanted.name().clone(), found.version).to_string();
                Ok((self.write(to, &found.bytes).await?, resolved, Some(found.version)))
            }
            InputRef::Workspace(path) => {
                self.only_copied()?;
                let size = self.workspace.stat(path).await?.size;
                self.check_size(size)?;
                let bytes = self.workspace.read(path, 0, SIZE_MAX).await?;
                Ok((self.write(to, &bytes).await?, path.clone(), None))
            }
            InputRef::Host(path) => {
                let denied = || InputError::NotAllowed(text.clone());
                let real = path.canonicalize().map_err(|_| denied())?;
                if !self.source.roots().iter().any(|root| real.starts_with(root)) {
                    return Err(denied());
                }
                Ok((self.host_file(to, &real).await?, real.display().to_string(), None))
            }
            InputRef::Skill { name, path } => {
                let folder = self.source.skill(name).map_err(|reason| InputError::reference(text, reason))?;
                let real = folder.join(path).canonicalize().ok().filter(|real| real.starts_with(&folder));
                let real = real.ok_or_else(|| InputError::reference(text, "the skill has no such file"))?;
                Ok((self.host_file(to, &real).await?, format!("skills/{name}/{path}"), None))
            }
        }
    }

    fn only_copied(&self) -> Result<(), InputError> {
        match self.input.mode {
            InputMode::Copy => Ok(()),
            InputMode::Link => Err(InputError::Mode(self.input.text.clone())),
        }
    }

    fn check_size(&self, size: u64) -> Result<(), InputError> {
        if size <= SIZE_MAX as u64 {
            return Ok(());
        }
        let reason = format!("it has {size} bytes, and {SIZE_MAX} are allowed");
        Err(InputError::TooLarge { text: self.input.text.clone(), reason })
    }

    async fn write(&self, to: &str, bytes: &[u8]) -> Result<(String, u64), InputError> {
        self.check_size(bytes.len() as u64)?;
        self.workspace.write(to, bytes, 0o444).await?;
        Ok((mime_type(to, bytes), bytes.len() as u64))
    }

    /// Brings a file or folder of the host, whose path is without links.
    async fn host_file(&self, to: &str, real: &Path) -> Result<(String, u64), InputError> {
        let metadata =
            std::fs::metadata(real).map_err(|error| InputError::reference(&self.input.text, error.to_string()))?;
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(InputError::reference(&self.input.text, "it is neither a file nor a folder"));
        }
        if self.input.mode == InputMode::Link {
            self.workspace.link(&Link { host: real.to_owned(), path: to.to_owned() }).await?;
            return Ok(match metadata.is_dir() {
                true => (FOLDER_TYPE.to_owned(), 0),
                false => (mime_type(to, &[]), metadata.len()),
            });
        }
        if metadata.is_file() {
            self.check_size(metadata.len())?;
            return self.write(to, &self.read_host(real).await?).await;
        }
        let mut left = FILES_MAX;
        let mut bytes_left = SIZE_MAX as u64;
        let mut open = vec![(real.to_owned(), to.to_owned())];
        let failed = |error: std::io::Error| InputError::reference(&self.input.text, error.to_string());
        while let Some((folder, to)) = open.pop() {
            self.workspace.make_folder(&to).await?;
            for entry in std::fs::read_dir(&folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let kind = entry.file_type().map_err(failed)?;
                let name = entry.file_name();
                // A name that is not UTF-8 cannot be asked for; a link may lead anywhere.
                let Some(name) = name.to_str() else { continue };
                let to = format!("{to}/{name}");
                if kind.is_dir() {
                    open.push((entry.path(), to));
                } else if kind.is_file() {
                    let bytes = self.read_host(&entry.path()).await?;
                    let fits = bytes_left.checked_sub(bytes.len() as u64).filter(|_| left > 0);
                    bytes_left = fits.ok_or_else(|| InputError::TooLarge {
                        text: self.input.text.clone(),
                        reason: format!("a folder may have {FILES_MAX} files and {SIZE_MAX} bytes; link it"),
                    })?;
                    left -= 1;
                    self.workspace.write(&to, &bytes, 0o444).await?;
                }
            }
        }
        Ok((FOLDER_TYPE.to_owned(), 0))
    }

    async fn read_host(&self, path: &Path) -> Result<Vec<u8>, InputError> {
        let (path, shared) = (path.to_owned(), Arc::new(self.input.text.clone()));
        let text = Arc::clone(&shared);
        let read = tokio::task::spawn_blocking(move || {
            use std::io::Read;
            let mut bytes = Vec::new();
            std::fs::File::open(path)?.take(SIZE_MAX as u64 + 1).read_to_end(&mut bytes).map(|_| bytes)
        });
        let read = read.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        read.map_err(|error| InputError::reference(&text, error.to_string()))
    }
}

/// The media type of a folder.
const FOLDER_TYPE: &str = "inode/directory";

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn places_of_inputs() {
        for (to, expected) in [
            (None, Some("work/inputs/a.csv")),
            (Some(""), Some("work/inputs/a.csv")),
            (Some(" "), Some("work/inputs/a.csv")),
            (Some("."), Some("work/inputs/a.csv")),
            (Some("inputs"), Some("work/inputs/a.csv")),
            (Some("inputs/"), Some("work/inputs/a.csv")),
            (Some("inputs/m.txt"), Some("work/inputs/m.txt")),
            (Some("inputs\\m.txt"), Some("work/inputs/m.txt")),
            (Some("work/inputs"), Some("work/inputs/a.csv")),
            (Some("work/b.csv"), Some("work/b.csv")),
            (Some("work/"), Some("work/a.csv")),
            (Some("/workspace/work/b.csv"), Some("work/b.csv")),
            (Some("out/x/y"), Some("out/x/y")),
            (Some("../x"), None),
            (Some("skills/x/y"), None),
            (Some("/etc/passwd"), None),
            (Some("work"), None),
            (Some("metadata.json"), None),
        ] {
            assert_eq!(place(to, "a.csv").ok().as_deref(), expected, "{to:?}");
        }
    }

    #[test]
    fn references() {
        for (text, expected) in [
            ("artifact://@123", None),
            ("artifact://a@99999999999999999999", None),
            ("workspace://out/../work/a", Some(InputRef::Workspace("work/a".into()))),
            ("workspace://../a", None),
            ("workspace://", None),
            ("skill://pdf/assets/a.txt", Some(InputRef::Skill { name: "pdf".into(), path: "assets/a.txt".into() })),
            ("skill://pdf", None),
            ("skill://pdf/../x", None),
            ("host:///data/a", Some(InputRef::Host("/data/a".into()))),
            ("host:///data/../a", None),
            ("host://data", None),
            ("http://x/y", None),
            ("", None),
        ] {
            assert_eq!(InputRef::parse(text).ok(), expected, "{text}");
        }
    }
}
