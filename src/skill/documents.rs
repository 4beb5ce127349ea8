//! The files of a skill: documents that a model reads, and resources that scripts use.
//!
//! A skill's folder is the host's own: guests see it read-only, so nothing changes it behind wskill's back, and a check
//! of the real path before a file is opened is enough to keep links inside. (What guests can write is read with
//! `cap-std`.)

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use super::finding::{FileFinding, Finding, Severity};
use super::text::cut;

/// Most bytes of a document that are read: a quarter of a million tokens, more than any model takes at once.
pub const DOCUMENT_LIMIT: u64 = 1 << 20;
/// Most files of a skill that are listed: a folder with more is a repository or a data set, and none that a model reads.
pub const FILES_LIMIT: usize = 10_000;
/// Deepest folder of a skill that is listed.
pub const DEPTH_LIMIT: usize = 16;
/// Folders that hold no part of a skill but what tools have left.
const IGNORED: [&str; 3] = ["node_modules", "__pycache__", "venv"];

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DocumentEntry {
    /// Its path, relative to the skill's folder, with `/`.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The files of a skill, but for its SKILL.md, hidden ones and what is in `node_modules`, `__pycache__` and `venv`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Files {
    /// Text for the model: `*.md` and `*.txt` in any case, by path.
    pub documents: Vec<DocumentEntry>,
    /// All others, by path: scripts, assets. They are never put into a prompt.
    pub resources: Vec<DocumentEntry>,
    /// What was left out, and why.
    pub findings: Vec<FileFinding>,
}

/// A document's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Document {
    /// Its text, with the skill's path in the sandbox for `{baseDir}` and `__BASE_DIR__`.
    pub text: String,
    /// Whether it was cut or is not UTF-8.
    pub findings: Vec<Finding>,
}

/// Lists the files of a folder, whose path must be without links.
pub(super) fn list(folder: &Path) -> Files {
    let mut files = Files::default();
    let mut open = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((path, prefix, depth)) = open.pop() {
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) => {
                files.note(
                    &prefix,
                    "unreadable",
                    format!("the folder cannot be read ({error}); its files are left out"),
                );
                continue;
            }
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                let name = name.to_string_lossy();
                files.note(
                    &format!("{prefix}{name}"),
                    "file-name",
                    "the name is not UTF-8, so the file is left out; rename it".into(),
                );
                continue;
            };
            if name.starts_with('.') || IGNORED.contains(&name) {
                continue;
            }
            let relative = format!("{prefix}{name}");
            match kind(&entry, folder) {
                Kind::Folder if depth + 1 >= DEPTH_LIMIT => {
                    files.note(
                        &relative,
                        "too-deep",
                        format!("folders deeper than {DEPTH_LIMIT} are left out; move its files up"),
                    );
                }
                Kind::Folder => open.push((entry.path(), format!("{relative}/"), depth + 1)),
                Kind::File(_) if depth == 0 && name.eq_ignore_ascii_case("SKILL.md") => {}
                Kind::File(bytes) if files.documents.len() + files.resources.len() < FILES_LIMIT => {
                    let list = if is_document(name) { &mut files.documents } else { &mut files.resources };
                    list.push(DocumentEntry { path: relative, bytes });
                }
                Kind::File(_) => {
                    files.note(
                        "",
                        "too-many-files",
                        format!("the skill has more than {FILES_LIMIT} files; the others are left out"),
                    );
                    open.clear();
                    break;
                }
                Kind::LinkedFolder => {
                    files.note(&relative, "link", "a link to a folder is not followed; its files are left out".into());
                }
                Kind::Outside => {
                    files.note(
                        &relative,
                        "link",
                        "the link leads out of the skill, so the file is left out; copy it here".into(),
                    );
                }
                Kind::Broken(error) => {
                    files.note(&relative, "unreadable", format!("the file cannot be read ({error})"))
                }
                Kind::Special => {
                    files.note(&relative, "special-file", "neither a file nor a folder; it is left out".into())
                }
            }
        }
    }
    files.documents.sort();
    files.resources.sort();
    files.findings.sort_by(|a, b| a.file.cmp(&b.file));
    files
}

impl Files {
    fn note(&mut self, file: &str, code: &'static str, message: String) {
        // One finding a file is bounded by the number of files that a folder has; what is hostile is cut.
        if self.findings.len() < FILES_LIMIT {
            let finding = Finding { severity: Severity::Warning, code, line: 1, column: 1, message };
            self.findings.push(FileFinding { file: file.trim_end_matches('/').to_owned(), finding });
        }
    }
}

/// Whether a file is a document by its name. A SKILL.md further down is the begin of another skill.
fn is_document(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if name.eq_ignore_ascii_case("SKILL.md") {
        return false;
    }
    extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("txt")
}

/// What an entry of a folder is.
enum Kind {
    File(u64),
    Folder,
    LinkedFolder,
    Outside,
    Broken(std::io::Error),
    Special,
}

fn kind(entry: &fs::DirEntry, folder: &Path) -> Kind {
    let own = match entry.metadata() {
        Ok(own) => own,
        Err(error) => return Kind::Broken(error),
    };
    if own.is_dir() {
        return Kind::Folder;
    }
    if own.is_file() {
        return Kind::File(own.len());
    }
    if !own.is_symlink() {
        return Kind::Special;
    }
    let real = entry.path().canonicalize();
    match real.and_then(|real| Ok((fs::metadata(&real)?, real))) {
        Err(error) => Kind::Broken(error),
        Ok((_, real)) if !real.starts_with(folder) => Kind::Outside,
        Ok((there, _)) if there.is_dir() => Kind::LinkedFolder,
        Ok((there, _)) if there.is_file() => Kind::File(there.len()),
        Ok(_) => Kind::Special,
    }
}

/// The real path of a document, when the folder has it: below it, not hidden, a document and a file.
pub(super) fn find(folder: &Path, path: &str) -> Option<PathBuf> {
    let relative = Path::new(path);
    let plain = |part: &Component<'_>| match part {
        Component::Normal(name) => name.to_str().is_some_and(|name| !name.starts_with('.') && !IGNORED.contains(&name)),
        Component::CurDir => true,
        _ => false,
    };
    let name = relative.file_name()?.to_str()?;
    if !relative.components().all(|part| plain(&part)) || !is_document(name) {
        return None;
    }
    let real = folder.join(relative).canonicalize().ok().filter(|real| real.starts_with(folder))?;
    // A pipe would wait for a writer.
    fs::metadata(&real).is_ok_and(|there| there.is_file()).then_some(real)
}

/// Reads a document.
pub(super) fn read(real: &Path) -> std::io::Result<Document> {
    let mut bytes = Vec::new();
    let file = fs::File::open(real)?;
    let size = file.metadata()?.len();
    file.take(DOCUMENT_LIMIT + 1).read_to_end(&mut bytes)?;
    let mut findings = Vec::new();
    let mut note = |code, message| {
        findings.push(Finding { severity: Severity::Warning, code, line: 1, column: 1, message });
    };
    let is_cut = bytes.len() as u64 > DOCUMENT_LIMIT;
    if is_cut {
        note("document-cut", format!("the document has {size} bytes and was cut after {DOCUMENT_LIMIT}; split it"));
        bytes.truncate(usize::try_from(DOCUMENT_LIMIT).unwrap_or(usize::MAX));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            // A character that the limit has cut is no fault of the document.
            if is_cut && error.utf8_error().error_len().is_none() {
                let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
                cut(&text, valid).to_owned()
            } else {
                note(
                    "not-utf8",
                    format!("not UTF-8 from byte {valid} on, and wrong bytes are shown as \u{fffd}; save it as UTF-8"),
                );
                String::from_utf8_lossy(error.as_bytes()).into_owned()
            }
        }
    };
    Ok(Document { text, findings })
}
