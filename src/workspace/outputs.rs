//! The files that a run leaves.

use globset::{GlobBuilder, GlobMatcher};

use super::Variables;
use super::variables::normalise;
use crate::executor::{Entry, EntryKind, ExecutorError, FileError, Query, Workspace};

/// The most files and folders that are looked at for one pattern.
const LOOKED_AT_MAX: usize = 100_000;
/// The deepest folder that is looked into.
const DEPTH_MAX: usize = 64;
/// The most names that a warning about a pattern lists.
const NAMES_MAX: usize = 10;

/// Bounds of what is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLimits {
    /// The most files. Default: 100.
    pub max_files: usize,
    /// The most bytes of one file; the rest is cut off. Default: 4 MiB.
    pub max_file_bytes: usize,
    /// The most bytes of all files. Default: 64 MiB.
    pub max_total_bytes: usize,
}

impl Default for OutputLimits {
    fn default() -> Self {
        Self { max_files: 100, max_file_bytes: 4 << 20, max_total_bytes: 64 << 20 }
    }
}

/// A file that was collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectedFile {
    /// Its path in the workspace.
    pub name: String,
    /// Its content, perhaps cut.
    pub bytes: Vec<u8>,
    /// Its whole size in bytes.
    pub size: u64,
    /// Its media type, by its content and by its extension.
    pub mime_type: String,
}

impl CollectedFile {
    /// Whether a part of its content was cut off.
    pub fn is_truncated(&self) -> bool {
        (self.bytes.len() as u64) < self.size
    }

    /// Its content, when it is text.
    pub fn text(&self) -> Option<&str> {
        if !is_text(&self.mime_type) {
            return None;
        }
        let text = match std::str::from_utf8(&self.bytes) {
            Ok(text) => text,
            // The limit may have cut a character.
            Err(error) if self.is_truncated() && error.error_len().is_none() => {
                std::str::from_utf8(&self.bytes[..error.valid_up_to()]).ok()?
            }
            Err(_) => return None,
        };
        (!text.contains('\0')).then_some(text)
    }
}

/// What was collected, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// The files, sorted by name, each once.
    pub files: Vec<CollectedFile>,
    /// Whether a limit left out files or parts of them.
    pub limits_hit: bool,
    /// Sentences about what is missing, and why.
    pub warnings: Vec<String>,
}

/// Patterns of files in a workspace.
#[derive(Debug)]
pub struct Patterns(Vec<Pattern>);

#[derive(Debug)]
struct Pattern {
    text: String,
    /// The folder below which all matches are.
    below: String,
    matcher: GlobMatcher,
}

impl Patterns {
    /// Reads patterns: paths in the workspace with `*`, `?`, `[a-z]`, `{a,b}` and `**`, absolute ones as commands see
    /// them, or beginning with `$OUTPUT_DIR`, `${WORK_DIR}`, `$SKILLS_DIR` or `$WORKSPACE_DIR`.
    ///
    /// # Errors
    /// The number of the first pattern that is none, and what is wrong with it.
    pub fn new<S: AsRef<str>>(patterns: &[S], variables: &Variables) -> Result<Self, (usize, String)> {
        let read =
            |(index, pattern): (usize, &S)| Pattern::new(pattern.as_ref(), variables).map_err(|error| (index, error));
        patterns.iter().enumerate().map(read).collect::<Result<_, _>>().map(Self)
    }
}

impl Pattern {
    fn new(text: &str, variables: &Variables) -> Result<Self, String> {
        let text = text.trim();
        let outside = || format!("`{text}` leads out of the workspace; name files below out/ or work/");
        let plain = match variables.expand(text) {
            Some(expanded) => expanded,
            None => match (variables.relative(text), text.strip_prefix('/')) {
                (Some(path), _) => path.to_owned(),
                (None, Some(_)) => return Err(outside()),
                (None, None) => text.to_owned(),
            },
        };
        let plain = normalise(&plain).ok_or_else(outside)?;
        if plain.is_empty() {
            return Err(format!("`{text}` names no files; write `{}`", "out/**"));
        }
        let special = plain.find(['*', '?', '[', '{', '\\']).unwrap_or(plain.len());
        let below = if special == plain.len() {
            plain.clone()
        } else {
            plain[..special].rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
        };
        let glob = GlobBuilder::new(&plain).literal_separator(true).build();
        let matcher = glob.map_err(|error| format!("`{text}` is no pattern: {}", error.kind()))?.compile_matcher();
        Ok(Self { text: text.to_owned(), below, matcher })
    }

    fn is_literal(&self) -> bool {
        self.below == self.matcher.glob().glob()
    }
}

/// Collects the regular files that match, each once and in the order of their names. A link counts as the file that it
/// leads to, when that is in the workspace.
///
/// # Errors
/// When the workspace cannot be reached. What cannot be read is told in the warnings.
pub async fn collect(
    workspace: &dyn Workspace,
    patterns: &Patterns,
    variables: &Variables,
    limits: &OutputLimits,
) -> Result<Collected, ExecutorError> {
    let mut collected = Collected::default();
    let mut found: Vec<Entry> = Vec::new();
    for pattern in &patterns.0 {
        let before = found.len();
        matches(workspace, pattern, &mut found, &mut collected).await?;
        if found.len() == before {
            collected.warnings.push(no_match(workspace, &pattern.text, variables).await?);
        }
    }
    found.sort();
    found.dedup_by(|a, b| a.path == b.path);
    let mut total = 0;
    for (index, entry) in found.iter().enumerate() {
        if index == limits.max_files || total == limits.max_total_bytes && entry.size > 0 {
            collected.limits_hit = true;
            let left = found.len() - index;
            collected.warnings.push(format!("{left} more files matched than the limits of outputs allow"));
            break;
        }
        let most = limits.max_file_bytes.min(limits.max_total_bytes - total);
        match workspace.read(&entry.path, 0, most).await {
            Ok(bytes) => {
                total += bytes.len();
                let file = CollectedFile {
                    name: entry.path.clone(),
                    mime_type: mime_type(&entry.path, &bytes),
                    size: entry.size.max(bytes.len() as u64),
                    bytes,
                };
                collected.limits_hit |= file.is_truncated();
                collected.files.push(file);
            }
            Err(ExecutorError::File(error)) => collected.warnings.push(left_out(&error)),
            Err(error) => return Err(error),
        }
    }
    Ok(collected)
}

/// Adds what matches one pattern.
async fn matches(
    workspace: &dyn Workspace,
    pattern: &Pattern,
    found: &mut Vec<Entry>,
    collected: &mut Collected,
) -> Result<(), ExecutorError> {
    if pattern.is_literal() {
        return match regular(workspace, &pattern.below).await? {
            Ok(entry) => {
                found.push(entry);
                Ok(())
            }
            // That nothing matched is told anyway.
            Err(FileError::NotFound(_)) => Ok(()),
            Err(error) => {
                collected.warnings.push(left_out(&error));
                Ok(())
            }
        };
    }
    let query = Query { below: &pattern.below, depth: DEPTH_MAX, most: LOOKED_AT_MAX };
    let listing = match workspace.list(&query).await {
        Ok(listing) => listing,
        Err(ExecutorError::File(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    collected.limits_hit |= listing.is_cut;
    collected.warnings.extend(listing.notes);
    for entry in listing.entries {
        if !pattern.matcher.is_match(&entry.path) {
            continue;
        }
        match entry.kind {
            EntryKind::File => found.push(entry),
            EntryKind::Folder => {}
            EntryKind::Special => collected.warnings.push(left_out(&FileError::NotAFile(entry.path))),
            EntryKind::Link => match regular(workspace, &entry.path).await? {
                Ok(target) => found.push(Entry { path: entry.path, ..target }),
                Err(error) => collected.warnings.push(left_out(&error)),
            },
        }
    }
    Ok(())
}

/// The regular file at a path, links followed.
async fn regular(workspace: &dyn Workspace, path: &str) -> Result<Result<Entry, FileError>, ExecutorError> {
    match workspace.stat(path).await {
        Ok(entry) if entry.kind == EntryKind::File => Ok(Ok(Entry { path: path.to_owned(), ..entry })),
        Ok(_) => Ok(Err(FileError::NotAFile(path.to_owned()))),
        Err(ExecutorError::File(FileError::NotFound(path))) => Ok(Err(FileError::NotFound(path))),
        Err(ExecutorError::File(error)) => Ok(Err(error)),
        Err(error) => Err(error),
    }
}

fn left_out(error: &FileError) -> String {
    format!("{error}; it is left out")
}

/// The warning about a pattern without a match: with what there is in the folder for outputs.
async fn no_match(workspace: &dyn Workspace, pattern: &str, variables: &Variables) -> Result<String, ExecutorError> {
    let folder = &variables.output;
    let query = Query { below: folder, depth: DEPTH_MAX, most: 1000 };
    let entries = match workspace.list(&query).await {
        Ok(listing) => listing.entries,
        Err(ExecutorError::File(_)) => Vec::new(),
        Err(error) => return Err(error),
    };
    let files: Vec<_> = entries.iter().filter(|entry| entry.kind == EntryKind::File).collect();
    let mut there = match files.len() {
        0 => format!("{folder}/ is empty"),
        _ => {
            let names: Vec<_> = files.iter().take(NAMES_MAX).map(|entry| entry.path.as_str()).collect();
            format!("there are {}", names.join(", "))
        }
    };
    if files.len() > NAMES_MAX {
        there.push_str(&format!(" and {} more", files.len() - NAMES_MAX));
    }
    Ok(format!("no file matches `{pattern}`; {there}"))
}

/// A file's media type: by its first bytes where these are telling, else by its extension, else text or bytes.
pub fn mime_type(name: &str, bytes: &[u8]) -> String {
    const MAGIC: [(&[u8], &str); 8] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"%PDF-", "application/pdf"),
        (b"\x1f\x8b", "application/gzip"),
        (b"SQLite format 3\0", "application/vnd.sqlite3"),
        (b"\0asm", "application/wasm"),
    ];
    if let Some((_, mime)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return (*mime).to_owned();
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return "image/webp".to_owned();
    }
    match mime_guess::from_path(name).first() {
        Some(mime) => mime.to_string(),
        None if bytes.starts_with(b"PK\x03\x04") => "application/zip".to_owned(),
        None if std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0) => "text/plain".to_owned(),
        None => "application/octet-stream".to_owned(),
    }
}

/// Whether files of a media type are text that a model can read.
pub fn is_text(mime: &str) -> bool {
    const TEXT: [&str; 14] = [
        "json",
        "xml",
        "javascript",
        "ecmascript",
        "typescript",
        "yaml",
        "x-yaml",
        "toml",
        "x-sh",
        "x-python",
        "sql",
        "x-ndjson",
        "csv",
        "x-httpd-php",
    ];
    let mime = mime.split(';').next().unwrap_or_default().trim();
    let Some((kind, subtype)) = mime.split_once('/') else { return false };
    match kind {
        "text" => true,
        "application" | "image" | "model" | "message" => {
            TEXT.contains(&subtype) || subtype.ends_with("+json") || subtype.ends_with("+xml")
        }
        _ => false,
    }
}
