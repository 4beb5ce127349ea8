//! Which files of a skill are programs.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::skill::{FileFinding, Skill};

/// What runs a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Language {
    /// bash, sh and their kin.
    Shell,
    /// Python.
    Python,
    /// A WebAssembly module.
    Wasm,
    /// A list of Python packages.
    Requirements,
    /// This command; what it reads is not looked into.
    Other(String),
}

/// A program of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Its path in the skill's folder, with `/`.
    pub path: String,
    /// What runs it.
    pub language: Language,
}

/// What is read of a file to know it: a first line, as long as Linux takes it.
const HEAD: u64 = 256;

/// Interpreters by the end of a file's name.
const EXTENSIONS: [(&str, &str); 14] = [
    ("sh", "sh"),
    ("bash", "bash"),
    ("py", "python"),
    ("pyw", "python"),
    ("js", "node"),
    ("mjs", "node"),
    ("cjs", "node"),
    ("ts", "node"),
    ("rb", "ruby"),
    ("pl", "perl"),
    ("php", "php"),
    ("lua", "lua"),
    ("r", "Rscript"),
    ("ps1", "pwsh"),
];

impl Language {
    /// What an interpreter of this name reads.
    fn of(interpreter: &str) -> Self {
        match interpreter.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "bash" | "sh" | "dash" | "ash" | "ksh" => Self::Shell,
            "python" => Self::Python,
            _ => Self::Other(interpreter.to_owned()),
        }
    }
}

/// The programs of a skill, by path, and what could not be looked at.
pub fn find(skill: &Skill) -> (Vec<Script>, Vec<FileFinding>) {
    let files = skill.files();
    let mut scripts: Vec<Script> = files
        .documents
        .iter()
        .chain(&files.resources)
        .filter_map(|entry| {
            let language = language(&skill.folder().join(&entry.path))?;
            Some(Script { path: entry.path.clone(), language })
        })
        .collect();
    scripts.sort_by(|a, b| a.path.cmp(&b.path));
    (scripts, files.findings)
}

fn language(path: &Path) -> Option<Language> {
    let name = path.file_name()?.to_str()?;
    if name.starts_with("requirements") && name.ends_with(".txt") {
        return Some(Language::Requirements);
    }
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    if head.starts_with(b"\0asm") {
        return Some(Language::Wasm);
    }
    if let Some(line) = head.strip_prefix(b"#!") {
        let line = String::from_utf8_lossy(line);
        let mut words =
            line.lines().next().unwrap_or_default().split_whitespace().flat_map(|word| word.rsplit('/').next());
        let interpreter = words.find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='));
        // A line that names none is as none: the shell takes it for a comment.
        return Some(Language::of(interpreter.unwrap_or("sh")));
    }
    let Some(extension) = path.extension() else {
        // A program without `#!` is a shell script, as execvp has it.
        return (is_executable(path) && !head.contains(&0)).then_some(Language::Shell);
    };
    let extension = extension.to_str()?.to_ascii_lowercase();
    EXTENSIONS.iter().find(|(known, _)| *known == extension).map(|(_, interpreter)| Language::of(interpreter))
}

fn is_executable(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}
