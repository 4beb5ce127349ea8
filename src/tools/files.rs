//! `workspace_list`, `workspace_read`, `workspace_write` and `workspace_edit`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ToolError, ToolName, Toolset};
use crate::executor::{Entry, EntryKind, ExecutorError, FileError, Query, Workspace};
use crate::workspace::{Variables, is_text, mime_type, strict_cwd};

/// The most entries of a list.
const LIST_MAX: usize = 1000;
/// The most bytes of a file that is read at once.
const READ_MAX: usize = 64 << 10;
/// The most bytes of a file that is looked at for lines, or edited.
const FILE_MAX: usize = 16 << 20;
/// Lines that are read when a call does not say how many.
const LINES: usize = 2000;

/// Arguments of `workspace_list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListFiles {
    /// A folder of the workspace: skills/NAME, work, out or runs, or one below. Default: all of them.
    #[serde(default)]
    pub path: String,
    /// Levels of folders to list. Default: 1.
    #[serde(default)]
    pub depth: Option<usize>,
}

/// What `workspace_list` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileList {
    /// Files and folders, sorted by path.
    pub entries: Vec<Entry>,
    /// Whether there are more than 1,000.
    pub truncated: bool,
    /// What could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `workspace_read`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// The file's path in the workspace, or skills/NAME/PATH for a file of a loaded skill.
    pub path: String,
    /// The first line to return, from 1. Default: 1.
    #[serde(default)]
    pub start_line: Option<usize>,
    /// The last line to return. Default: the 2000th from the first on.
    #[serde(default)]
    pub end_line: Option<usize>,
}

/// What `workspace_read` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileText {
    /// The file's path in the workspace.
    pub path: String,
    /// The lines that were asked for.
    pub content: String,
    /// The first of them, from 1.
    pub start_line: usize,
    /// The last of them.
    pub end_line: usize,
    /// How many lines the file has.
    pub total_lines: usize,
    /// The file's size in bytes.
    pub size_bytes: u64,
    /// Its media type.
    pub mime_type: String,
    /// Whether there is more after `end_line`, or the last line was cut.
    pub truncated: bool,
}

/// Arguments of `workspace_write`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// The file's path in the workspace, below work/ or out/.
    pub path: String,
    /// Its whole content.
    pub content: String,
    /// Add to the end of the file instead. Default: false.
    #[serde(default)]
    pub append: bool,
}

/// Arguments of `workspace_edit`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditFile {
    /// The file's path in the workspace, below work/ or out/.
    pub path: String,
    /// The text to replace, exactly as it is in the file. It must be there once, unless `replace_all`.
    pub old_text: String,
    /// What to put in its place.
    pub new_text: String,
    /// Replace it wherever it is. Default: false.
    #[serde(default)]
    pub replace_all: bool,
}

/// What `workspace_write` and `workspace_edit` answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WrittenFile {
    /// The file's path in the workspace.
    pub path: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// How many places were changed; of a file that was written 1.
    pub changes: usize,
}

impl Toolset {
    /// Files and folders of the workspace.
    ///
    /// # Errors
    /// When the path is no folder of the workspace.
    pub async fn workspace_list(&self, call: ListFiles) -> Result<FileList, ToolError> {
        let tool = ToolName::WorkspaceList.as_str();
        let workspace = self.session().workspace().await?;
        let path = self.place(tool, &*workspace, &call.path)?;
        let depth = call.depth.unwrap_or(1).clamp(1, 64);
        if let Some((skill, below)) = in_skill(&path) {
            return self.list_skill(skill, below, depth);
        }
        let query = Query { below: &path, depth, most: LIST_MAX };
        let listing = workspace.list(&query).await.map_err(|error| file_error(tool, error))?;
        let hidden = |entry: &Entry| entry.path.starts_with('.') || entry.path == "metadata.json";
        Ok(FileList {
            entries: listing.entries.into_iter().filter(|entry| !hidden(entry)).collect(),
            truncated: listing.is_cut,
            warnings: listing.notes,
        })
    }

    /// Lines of a text file of the workspace, or of a document of a loaded skill.
    ///
    /// # Errors
    /// When it is no text file, or is outside of the workspace.
    pub async fn workspace_read(&self, call: ReadFile) -> Result<FileText, ToolError> {
        let tool = ToolName::WorkspaceRead.as_str();
        let workspace = self.session().workspace().await?;
        let path = self.place(tool, &*workspace, &call.path)?;
        let (bytes, size) = match in_skill(&path) {
            Some((skill, below)) => self.read_skill(tool, skill, below)?,
            None => {
                let entry = workspace.stat(&path).await.map_err(|error| file_error(tool, error))?;
                let bytes = workspace.read(&path, 0, FILE_MAX).await.map_err(|error| file_error(tool, error))?;
                (bytes, entry.size)
            }
        };
        lines(tool, &call, path, &bytes, size)
    }

    /// Writes a file of the workspace.
    ///
    /// # Errors
    /// When the path is not below a folder that may be written to, or a limit is met.
    pub async fn workspace_write(&self, call: WriteFile) -> Result<WrittenFile, ToolError> {
        let tool = ToolName::WorkspaceWrite.as_str();
        let workspace = self.session().workspace().await?;
        let path = self.writable_place(tool, &*workspace, &call.path)?;
        let mut content = Vec::new();
        if call.append {
            match workspace.read(&path, 0, FILE_MAX + 1).await {
                Ok(bytes) if bytes.len() > FILE_MAX => {
                    return Err(ToolError::argument(tool, "append", format!("{path} is larger than {FILE_MAX} bytes")));
                }
                Ok(bytes) => content = bytes,
                Err(ExecutorError::File(FileError::NotFound(_))) => {}
                Err(error) => return Err(file_error(tool, error)),
            }
        }
        content.extend_from_slice(call.content.as_bytes());
        workspace.write(&path, &content, 0o644).await.map_err(|error| file_error(tool, error))?;
        Ok(WrittenFile { path, size_bytes: content.len() as u64, changes: 1 })
    }

    /// Replaces text in a file of the workspace.
    ///
    /// # Errors
    /// When the text is not there, or is there more than once.
    pub async fn workspace_edit(&self, call: EditFile) -> Result<WrittenFile, ToolError> {
        let tool = ToolName::WorkspaceEdit.as_str();
        let workspace = self.session().workspace().await?;
        let path = self.writable_place(tool, &*workspace, &call.path)?;
        if call.old_text.is_empty() {
            return Err(ToolError::argument(tool, "old_text", "must not be empty; workspace_write writes a new file"));
        }
        let bytes = workspace.read(&path, 0, FILE_MAX + 1).await.map_err(|error| file_error(tool, error))?;
        if bytes.len() > FILE_MAX {
            return Err(ToolError::argument(tool, "path", format!("{path} is larger than {FILE_MAX} bytes")));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| ToolError::argument(tool, "path", format!("{path} is no UTF-8 text")))?;
        let changes = text.matches(&call.old_text).count();
        match changes {
            0 => {
                let reason = format!("is not in {path}; it must be exactly as in the file, blanks and line ends too");
                return Err(ToolError::argument(tool, "old_text", reason));
            }
            2.. if !call.replace_all => {
                let reason = format!("is {changes} times in {path}; give more of the text around it, or replace_all");
                return Err(ToolError::argument(tool, "old_text", reason));
            }
            _ => {}
        }
        let edited = text.replace(&call.old_text, &call.new_text);
        workspace.write(&path, edited.as_bytes(), 0o644).await.map_err(|error| file_error(tool, error))?;
        Ok(WrittenFile { path, size_bytes: edited.len() as u64, changes })
    }

    /// A path that a call names, in the workspace.
    fn place(&self, tool: &'static str, workspace: &dyn Workspace, path: &str) -> Result<String, ToolError> {
        let path = path.trim();
        let plain = path.strip_prefix("workspace://").unwrap_or(path);
        strict_cwd(plain, &Variables::new(workspace.root(), "runs"))
            .map_err(|error| ToolError::argument(tool, "path", error.to_string()))
    }

    fn writable_place(&self, tool: &'static str, workspace: &dyn Workspace, path: &str) -> Result<String, ToolError> {
        let place = self.place(tool, workspace, path)?;
        let top = place.split('/').next().unwrap_or_default();
        if !["work", "out"].contains(&top) || !place.contains('/') {
            return Err(ToolError::argument(tool, "path", format!("`{path}` is not below work/ or out/")));
        }
        Ok(place)
    }

    /// Lists a skill's documents and resources.
    fn list_skill(&self, skill: &str, below: &str, depth: usize) -> Result<FileList, ToolError> {
        let skill = self.session().open_skill(skill)?;
        let prefix = if below.is_empty() { String::new() } else { format!("{below}/") };
        let files = skill.files();
        let mut entries = Vec::new();
        for file in files.documents.iter().chain(&files.resources) {
            let Some(rest) = file.path.strip_prefix(&prefix) else { continue };
            if rest.split('/').count() <= depth {
                let path = format!("skills/{}/{}", skill.name(), file.path);
                entries.push(Entry { path, kind: EntryKind::File, size: file.bytes, modified: 0 });
            }
        }
        entries.sort();
        let truncated = entries.len() > LIST_MAX;
        entries.truncate(LIST_MAX);
        Ok(FileList { entries, truncated, warnings: Vec::new() })
    }

    /// A file of a loaded skill. Scripts are for running, not for reading, unless the options allow it.
    fn read_skill(&self, tool: &'static str, skill: &str, path: &str) -> Result<(Vec<u8>, u64), ToolError> {
        let skill = self.session().open_skill(skill)?;
        if !self.session().is_loaded(skill.name()) {
            return Err(ToolError::NotLoaded { tool, skill: skill.name().to_owned() });
        }
        let scripts = path.starts_with("scripts/") && !self.options().read_scripts;
        if scripts {
            let reason = format!("`{path}` is a script: run it with skill_run; `--help` tells how");
            return Err(ToolError::argument(tool, "path", reason));
        }
        let files = skill.files();
        let known = files.documents.iter().chain(&files.resources).any(|file| file.path == path);
        if !known && !path.eq_ignore_ascii_case("SKILL.md") {
            let names: Vec<_> = files.documents.iter().chain(&files.resources).map(|file| file.path.as_str()).collect();
            let reason = super::select::not_among("file", path, skill.name(), &names);
            return Err(ToolError::argument(tool, "path", reason));
        }
        let unreadable = |error: std::io::Error| ToolError::argument(tool, "path", format!("{path}: {error}"));
        let real = skill.folder().join(path).canonicalize().map_err(unreadable)?;
        if !real.starts_with(skill.folder()) {
            return Err(ToolError::argument(tool, "path", format!("{path} leads out of the skill")));
        }
        use std::io::Read;
        let file = std::fs::File::open(&real).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        let mut bytes = Vec::new();
        file.take(FILE_MAX as u64).read_to_end(&mut bytes).map_err(unreadable)?;
        Ok((bytes, size))
    }
}

/// The skill and the path in it, for a path below `skills/`.
fn in_skill(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix("skills/")?;
    Some(rest.split_once('/').unwrap_or((rest, "")))
}

/// The workspace's error about a path, as one of the call.
pub(super) fn file_error(tool: &'static str, error: ExecutorError) -> ToolError {
    match error {
        ExecutorError::File(error) => ToolError::argument(tool, "path", error.to_string()),
        error => error.into(),
    }
}

/// The lines of a file that a call asks for.
fn lines(tool: &'static str, call: &ReadFile, path: String, bytes: &[u8], size: u64) -> Result<FileText, ToolError> {
    let mime_type = mime_type(&path, bytes);
    let text = String::from_utf8_lossy(bytes);
    if bytes.contains(&0) || !is_text(&mime_type) && matches!(text, std::borrow::Cow::Owned(_)) {
        let reason = format!("`{path}` is no text ({mime_type}, {size} bytes); use a command to look into it");
        return Err(ToolError::argument(tool, "path", reason));
    }
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let total_lines = all.len();
    let start_line = call.start_line.unwrap_or(1).max(1);
    let end = call.end_line.unwrap_or(start_line.saturating_add(LINES - 1)).min(total_lines);
    if start_line > total_lines.max(1) {
        let reason = format!("is {start_line}, and the file has {total_lines} lines");
        return Err(ToolError::argument(tool, "start_line", reason));
    }
    let mut content = String::new();
    let mut end_line = start_line.saturating_sub(1);
    let mut truncated = (bytes.len() as u64) < size;
    for line in all.get(start_line - 1..end).unwrap_or_default() {
        if content.len() + line.len() > READ_MAX {
            truncated = true;
            if content.is_empty() {
                let cut = (0..=READ_MAX).rev().find(|&end| line.is_char_boundary(end)).unwrap_or(0);
                content.push_str(&line[..cut]);
                end_line += 1;
            }
            break;
        }
        content.push_str(line);
        end_line += 1;
    }
    truncated |= end_line < total_lines;
    Ok(FileText { path, content, start_line, end_line, total_lines, size_bytes: size, mime_type, truncated })
}
