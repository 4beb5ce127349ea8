//! The permission report.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::commands::{Reads, invocations, reads};
use super::facts::{Fact, Facts, Word};
use super::scripts::{Language, Script};
use super::text;
use crate::skill::FileFinding;

/// Most places that are listed of one thing.
const PLACES: usize = 20;

/// Where a script names something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The file in the skill, with `/`.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// Something that scripts use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Use {
    /// A command, module, package, file or host.
    pub name: String,
    /// Whether the sandbox has it; nothing when that cannot be known.
    pub available: Option<bool>,
    /// Where: the first twenty places.
    pub places: Vec<Place>,
}

/// What a skill's scripts use, by kind, each sorted by name. See [`inspect`](super::inspect).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PermissionReport {
    /// The scripts, and what runs them; not available: nothing in the sandbox does.
    pub scripts: Vec<Use>,
    /// Commands that shell and Python scripts call.
    pub commands: Vec<Use>,
    /// Python modules, without the skill's own.
    pub modules: Vec<Use>,
    /// Python packages that scripts and requirements files ask for. The sandbox installs none by itself.
    pub packages: Vec<Use>,
    /// Imports of `.wasm` files; not available: they are neither WASI preview 1 nor wskill's own.
    pub wasm_imports: Vec<Use>,
    /// Files outside of the skill's folder; not available: they are not in the sandbox.
    pub files: Vec<Use>,
    /// Hosts in addresses. The sandbox has no network.
    pub hosts: Vec<Use>,
    /// What only running would tell.
    pub unknown: Vec<Use>,
    /// What could not be read.
    pub errors: Vec<Use>,
}

/// Collects uses by name.
#[derive(Default)]
struct Uses(BTreeMap<String, (Option<bool>, BTreeSet<Place>)>);

impl Uses {
    fn add(&mut self, name: impl Into<String>, available: Option<bool>, fact: &Fact) {
        let place = Place { file: fact.file.clone(), line: fact.line };
        self.0.entry(name.into()).or_insert_with(|| (available, BTreeSet::new())).1.insert(place);
    }

    fn list(self) -> Vec<Use> {
        let entry = |(name, (available, places)): (String, (Option<bool>, BTreeSet<Place>))| Use {
            name,
            available,
            places: places.into_iter().take(PLACES).collect(),
        };
        self.0.into_iter().map(entry).collect()
    }
}

/// The report of what was found. `left_out` are files that could not be looked at; `place` is where the skill is in the
/// sandbox, with a `/` at the end.
pub fn assemble(scripts: &[Script], left_out: &[FileFinding], known: &Facts, place: &str) -> PermissionReport {
    // A function counts in its own file only, and not for what wrappers run.
    let functions: BTreeSet<(&str, &str)> =
        known.facts.iter().filter_map(|fact| Some((fact.file.as_str(), fact.function.as_deref()?))).collect();
    // Input of an interpreter that was read: here-documents.
    let documents: BTreeSet<(&str, u32)> = known
        .facts
        .iter()
        .filter(|fact| {
            fact.redirect.as_deref() == Some("<<") && fact.target.as_ref().is_some_and(|text| text.certain().is_some())
        })
        .map(|fact| (fact.file.as_str(), fact.line))
        .collect();
    let own = |path: &str| scripts.iter().find(|script| script.path == path.trim_start_matches("./"));
    // Modules are found beside any script of the skill, and in its folders.
    let own_modules: BTreeSet<&str> = scripts
        .iter()
        .filter(|script| script.language == Language::Python)
        .flat_map(|script| script.path.trim_end_matches(".py").split('/'))
        .collect();
    let mut uses: [Uses; 8] = Default::default();
    let [commands, modules, packages, wasm_imports, files, hosts, unknown, errors] = &mut uses;
    for fact in &known.facts {
        for (index, command) in fact.words.iter().flat_map(|words| invocations(words).into_iter().enumerate()) {
            match command[0].certain() {
                None => unknown.add(format!("runs {}", command[0].text()), None, fact),
                Some(name) if index == 0 && functions.contains(&(fact.file.as_str(), name)) => {}
                Some(name) if name.contains('/') => match own(name) {
                    Some(script) => commands.add(name, Some(runs(&script.language, known)), fact),
                    None => commands.add(name, known.paths.get(name).copied().filter(|_| name.starts_with('/')), fact),
                },
                Some(name) => commands.add(name, Some(known.commands.contains(name)), fact),
            }
            for host in text::bare_hosts(command) {
                hosts.add(host, Some(false), fact);
            }
            for read in reads(command).1 {
                let is_known = match &read {
                    Reads::Text(_) => true,
                    Reads::Unknown => false,
                    Reads::File(file) => {
                        file.certain().is_some_and(|path| own(path.trim_start_matches(place)).is_some())
                    }
                    Reads::Input => documents.contains(&(fact.file.as_str(), fact.line)),
                };
                if !is_known {
                    let text = command.iter().map(Word::text).collect::<Vec<_>>().join(" ");
                    unknown.add(format!("runs {text}"), None, fact);
                }
            }
        }
        for path in text::paths(fact) {
            let available = known.paths.get(&path).copied();
            files.add(path, available, fact);
        }
        let words = fact.words.iter().flatten().chain(&fact.target).map(Word::text);
        for host in words.chain(fact.string.as_deref()).chain(fact.package.as_deref()).flat_map(text::hosts) {
            hosts.add(host, Some(false), fact);
        }
        for package in fact.words.iter().flat_map(|words| pip_packages(words)).chain(fact.package.as_deref()) {
            packages.add(package, None, fact);
        }
        if let Some(module) = fact.import.as_deref() {
            let available = known.modules.get(module).copied();
            // A file of the skill's hides no module that the sandbox has.
            if available == Some(true) || !own_modules.contains(module) {
                modules.add(module, available, fact);
            }
        }
        if let Some(import) = &fact.wasm {
            let known = import.starts_with("wasi_snapshot_preview1.") || import.starts_with("wskill.");
            wasm_imports.add(import, Some(known), fact);
        }
        if let Some(what) = &fact.unknown {
            unknown.add(what, None, fact);
        }
        if let Some(error) = &fact.error {
            errors.add(error, None, fact);
        }
    }
    for finding in left_out {
        let at = Fact { file: finding.file.clone(), line: finding.finding.line, ..Fact::default() };
        errors.add(&finding.finding.message, None, &at);
    }
    let [commands, modules, packages, wasm_imports, files, hosts, unknown, errors] = uses.map(Uses::list);
    let script = |script: &Script| Use {
        name: format!("{} ({})", script.path, script.language),
        available: Some(runs(&script.language, known)),
        places: Vec::new(),
    };
    let scripts = scripts.iter().filter(|script| script.language != Language::Requirements).map(script).collect();
    PermissionReport { scripts, commands, modules, packages, wasm_imports, files, hosts, unknown, errors }
}

/// Whether something in the sandbox runs it.
fn runs(language: &Language, known: &Facts) -> bool {
    match language {
        Language::Other(command) => known.commands.contains(command),
        _ => true,
    }
}

/// What `pip install` is asked for.
fn pip_packages(words: &[Word]) -> Vec<&str> {
    let texts: Vec<&str> = words.iter().map(Word::text).collect();
    let is_pip = |text: &&str| matches!(text.rsplit('/').next(), Some("pip" | "pip3"));
    let Some(at) = texts.iter().position(is_pip) else { return Vec::new() };
    match texts.get(at + 1..) {
        Some(["install", wanted @ ..]) => wanted.iter().copied().filter(|word| !word.starts_with('-')).collect(),
        _ => Vec::new(),
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shell => "shell",
            Self::Python => "Python",
            Self::Wasm => "WebAssembly",
            Self::Requirements => "requirements",
            Self::Other(name) => name,
        })
    }
}
