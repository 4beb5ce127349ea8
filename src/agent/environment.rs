//! The variables that configure an agent: those of the process, and those of a `.env` file.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::dotenv;
use super::error::SettingsError;

/// The variables that are read; others, which may be secrets of other programs, are not kept.
const NAMES: [&str; 8] = [
    "TRPC_AGENT_API_KEY",
    "TRPC_AGENT_BASE_URL",
    "TRPC_AGENT_MODEL_NAME",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_MODEL",
    "SKILLS_ROOT",
    "SKILLS_CACHE_DIR",
];

/// Real files have a few hundred bytes.
const MAX_DOTENV: u64 = 1 << 20;

/// Where a variable is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Process,
    File,
}

/// The variables of the process, and behind them those of the `.env` file of a folder. `Debug` shows no values.
#[derive(Clone)]
pub struct Environment {
    variables: BTreeMap<&'static str, (OsString, Origin)>,
    file: PathBuf,
}

impl Environment {
    /// Reads the variables of this process and the file `.env` of its current folder, if there is one.
    ///
    /// # Errors
    ///
    /// [`SettingsError::Read`] and [`SettingsError::Syntax`] for the file.
    pub fn load() -> Result<Self, SettingsError> {
        Self::new(Path::new("."), std::env::vars_os())
    }

    /// Takes `variables` as those of the process, and reads the file `.env` of `folder`, if there is one. Variables
    /// that are empty count as not set.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn new(
        folder: &Path,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, SettingsError> {
        let file = folder.join(".env");
        let mut environment = Self { variables: BTreeMap::new(), file };
        for (name, value) in environment.read()? {
            environment.put(OsStr::new(&name), value.into(), Origin::File);
        }
        for (name, value) in variables {
            environment.put(&name, value, Origin::Process);
        }
        Ok(environment)
    }

    /// Sets a variable as if the process had it, for what a command line says.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.put(OsStr::new(name), value.into(), Origin::Process);
    }

    /// The value of one of the variables that [`Settings`](super::Settings) lists, `None` when it is empty.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.find(name).map(|(value, _)| value)
    }

    pub(super) fn find(&self, name: &str) -> Option<(&OsStr, Origin)> {
        self.variables.get(name).map(|(value, origin)| (value.as_os_str(), *origin))
    }

    /// The `.env` file, whether it exists or not.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    fn put(&mut self, name: &OsStr, value: OsString, origin: Origin) {
        let known = NAMES.into_iter().find(|known| name == *known);
        if let Some(known) = known.filter(|_| !value.is_empty()) {
            self.variables.insert(known, (value, origin));
        }
    }

    fn read(&self) -> Result<BTreeMap<String, String>, SettingsError> {
        let path = &self.file;
        let failed = |source| SettingsError::Read { path: path.clone(), source };
        // Some keep a folder of this name, with Python packages for instance.
        if !path.is_file() {
            return Ok(BTreeMap::new());
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(MAX_DOTENV + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MAX_DOTENV {
            return Err(SettingsError::Syntax { path: path.clone(), line: 1, reason: "the file has more than 1 MiB" });
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            SettingsError::Syntax { path: path.clone(), line, reason: "this is not UTF-8" }
        })?;
        dotenv::parse(&text).map_err(|error| SettingsError::Syntax {
            path: path.clone(),
            line: error.line,
            reason: error.reason,
        })
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.variables.keys().collect();
        formatter.debug_struct("Environment").field("names", &names).field("file", &self.file).finish()
    }
}
