//! What an Agent Skill is: a folder with a SKILL.md (YAML front matter and a Markdown body), documents and scripts.
//!
//! Reading is lenient and nothing is lost silently: whatever is repaired, cut or ignored is a [`Finding`] with its line
//! and column, and only what cannot be used is an error. [`check`] is strict: it has the verdicts of the
//! specification's reference validator. This module knows nothing of the sandbox.
//!
//! [`SkillFile`] reads the bytes of a SKILL.md, [`Skill`] a folder, and [`Summary`] as little as a catalogue needs.

mod check;
mod documents;
mod error;
mod file;
mod finding;
mod folder;
mod header;
mod lines;
mod links;
mod manifest;
mod print;
mod requirements;
mod rules;
mod split;
mod summary;
#[cfg(test)]
mod tests;
mod text;
mod tools;
mod yaml;

pub use check::check;
pub use documents::{DEPTH_LIMIT, DOCUMENT_LIMIT, Document, DocumentEntry, FILES_LIMIT, Files};
pub use error::SkillError;
pub use file::SkillFile;
pub use finding::{FileFinding, Finding, Severity};
pub use folder::Skill;
pub(crate) use folder::{FILE_NAMES, skill_file};
pub use manifest::Manifest;
pub use requirements::{Host, Requirements, Requires};
pub use summary::Summary;

/// Largest SKILL.md, in bytes: about 2.6 million tokens of text, and 500 times what the specification advises.
pub const SKILL_FILE_LIMIT: u64 = 10 << 20;
/// Where the front matter of a SKILL.md must end, in bytes: ten times what name, description and compatibility may have
/// together (1,588 characters of up to four bytes).
pub const HEADER_LIMIT: usize = 64 << 10;
/// How much of a file is looked at for its front matter, in bytes: a closing fence at the limit is to be seen whole.
const HEADER_WINDOW: usize = HEADER_LIMIT + 4096;
/// Where skills are in the sandbox.
pub const SANDBOX_FOLDER: &str = "/workspace/skills";
/// How many levels below a folder skills are looked for: a collection of collections, with room. The client guide of the
/// Agent Skills format suggests 4 to 6.
pub const COLLECTION_DEPTH: usize = 6;
/// Folders that hold no skills, besides hidden ones: packages, caches and what builds make.
pub(crate) const IGNORED_FOLDERS: [&str; 6] = ["node_modules", "__pycache__", "target", "build", "dist", "venv"];
