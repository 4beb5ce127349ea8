//! Which files of a skill are programs.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::skill::Skill;

/// What runs a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// bash, sh and their kin.
    Shell,
    /// Python.
    Python,
    /// A WebAssembly module.
    Wasm,
    /// A list of Python packages.
    Requirements,
    /// Something the sandbox has no reader for.
    Other(&'static str),
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

/// Languages by the end of a file's name.
const EXTENSIONS: [(&str, Language); 16] = [
    ("sh", Language::Shell),
    ("bash", Language::Shell),
    ("py", Language::Python),
    ("pyw", Language::Python),
    ("wasm", Language::Wasm),
    ("js", Language::Other("node")),
    ("mjs", Language::Other("node")),
    ("cjs", Language::Other("node")),
    ("ts", Language::Other("node")),
    ("rb", Language::Other("ruby")),
    ("pl", Language::Other("perl")),
    ("php", Language::Other("php")),
    ("lua", Language::Other("lua")),
    ("r", Language::Other("Rscript")),
    ("ps1", Language::Other("pwsh")),
    ("zsh", Language::Other("zsh")),
];

/// Languages by the interpreter in a first line.
const INTERPRETERS: [(&str, Language); 11] = [
    ("bash", Language::Shell),
    ("ash", Language::Shell),
    ("ksh", Language::Shell),
    ("sh", Language::Shell),
    ("dash", Language::Shell),
    ("python", Language::Python),
    ("node", Language::Other("node")),
    ("ruby", Language::Other("ruby")),
    ("perl", Language::Other("perl")),
    ("zsh", Language::Other("zsh")),
    ("Rscript", Language::Other("Rscript")),
];

/// The programs of a skill, by path.
pub fn find(skill: &Skill) -> Vec<Script> {
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
    scripts
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
        // A line without an interpreter is none; whoever runs the file names one.
        let interpreter = words.find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='));
        let name = interpreter.unwrap_or("sh").trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let known = INTERPRETERS.iter().find(|(interpreter, _)| *interpreter == name);
        return Some(known.map_or(Language::Other("an unknown interpreter"), |(_, language)| *language));
    }
    let Some(extension) = path.extension() else {
        // A program without `#!` is a shell script, as execvp has it.
        return (is_executable(path) && !head.contains(&0)).then_some(Language::Shell);
    };
    let extension = extension.to_str()?.to_ascii_lowercase();
    EXTENSIONS.iter().find(|(known, _)| *known == extension).map(|(_, language)| *language)
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
