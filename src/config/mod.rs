//! `wskill.toml`: what a user and a project have set, merged, with where each value comes from.
//!
//! There are two files: the user's, in the platform's folder for configuration, and the project's, the nearest one at
//! or above the current folder ([`Places`]). What counts is the project's before the user's before the defaults, and a
//! list replaces a list. But whoever wrote the project wrote its file, so **a project can only tighten** what guards
//! the user:
//!
//! | setting | a project's file |
//! |---|---|
//! | `limits.*`, `run.timeout`, `run.outputs.max_*` | may lower what the user's file, or the default, says |
//! | `policy.allowed_commands` | may shorten the list: what both allow is allowed |
//! | `policy.denied_commands` | may lengthen the list: what either denies is denied |
//! | `policy.require_skill_loaded` / `policy.read_scripts` | may only be set to `true` / to `false` |
//! | `trust.mode` | may only be set to a stricter one |
//! | `trust.digests` | may not be set |
//! | `skills.roots` | may name folders of the project only |
//! | `skill.NAME.env` | may set what the user's file does not |
//! | all others | may be set |
//!
//! A project can also have a skill with a name that the user's file has a table for: `trust.mode` tells such skills
//! apart, by what is in them.
//!
//! What a project's file may not do is not done, and is a [`Warning`]. A file with a mistake in it is an error, for
//! what it was to forbid would be lost.
//!
//! ```toml
//! [limits]                            # by the names of `--limit`
//! memory = "512M"
//! wall_time = 60                      # seconds
//!
//! [skills]
//! roots = ["skills"]                  # folders are relative to the file's
//! well_known = false                  # also .agents/skills and the like
//! nested = false
//!
//! [policy]
//! allowed_commands = ["git", "python3"]
//! denied_commands = ["curl"]
//! require_skill_loaded = true
//! read_scripts = false
//!
//! [run]                               # what calls of skill_run have unless they say otherwise
//! timeout = 30
//! save_as_artifacts = false
//! omit_inline_content = false
//! artifact_prefix = ""
//! outputs = { globs = ["out/**"], inline = true, max_files = 20 }
//!
//! [trust]
//! mode = "ask"                        # all, ask or known
//!
//! [skill.pdf]                         # for one skill; counts more than the general tables of the same file
//! limits.memory = "1G"
//! policy.denied_commands = ["git"]    # and curl
//! env.LANG = "C"
//! ```

mod error;
mod file;
mod merge;
mod places;
mod schema;
mod value;
mod view;

use std::path::Path;
use std::sync::Arc;

pub use error::ConfigError;
pub use places::{FILE_NAME, Places, project_file};
pub use schema::LimitRules;
pub use value::{Amount, Layer, Origin, Setting, Value, Warning};
pub use view::{OutputDefaults, RunDefaults, Settings};

use file::ConfigFile;
use schema::Key;

/// The merged files.
///
/// ```
/// use wskill::config::{Amount, Config, LimitRules, Places};
///
/// struct Processes;
/// impl LimitRules for Processes {
///     fn names(&self) -> Vec<&'static str> { vec!["processes"] }
///     fn default_text(&self, _name: &str) -> String { "128".into() }
///     fn amount(&self, _name: &str, value: &str) -> Result<Amount, String> {
///         value.parse().map(Amount::Finite).map_err(|_| "a number is wanted".into())
///     }
///     fn size(&self, text: &str) -> Option<u64> { text.parse().ok() }
/// }
///
/// let folder = tempfile::tempdir()?;
/// let (user, project) = (folder.path().join("user.toml"), folder.path().join("wskill.toml"));
/// std::fs::write(&user, "[limits]\nprocesses = 20\n[skill.pdf]\nlimits.processes = 40\n")?;
/// std::fs::write(&project, "[limits]\nprocesses = 30\n")?;
/// let config = Config::load(&Places { user: Some(user), project: Some(project) }, &Processes)?;
/// assert_eq!(config.settings(None).limits()["processes"], "20");
/// assert_eq!(config.settings(Some("pdf")).limits()["processes"], "30");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    keys: Arc<Vec<Key>>,
    files: Vec<ConfigFile>,
}

impl Config {
    /// Reads the files that are there.
    ///
    /// # Errors
    /// A file cannot be read, is no TOML, or has a key or value that is wrong: file, line and key are in the message.
    pub fn load(places: &Places, rules: &dyn LimitRules) -> Result<Self, ConfigError> {
        let keys = schema::keys(rules);
        let mut files = Vec::new();
        for (path, layer) in [(&places.user, Layer::User), (&places.project, Layer::Project)] {
            if let Some(path) = path {
                files.extend(ConfigFile::read(path, layer, &keys, rules)?);
            }
        }
        Ok(Self { keys: Arc::new(keys), files })
    }

    /// The files that were read, the user's before the project's.
    pub fn files(&self) -> impl Iterator<Item = (Layer, &Path)> {
        self.files.iter().map(|file| (file.layer, file.path.as_path()))
    }

    /// The skills that a file has a table for, sorted.
    pub fn skills(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.files.iter().flat_map(|file| file.skills.keys()).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What holds in general, or for a skill.
    pub fn settings(&self, skill: Option<&str>) -> Settings {
        let merged = merge::merge(&self.keys, &self.files, skill);
        let read = self.files.iter().flat_map(|file| file.warnings.iter().cloned());
        Settings { warnings: read.chain(merged.warnings).collect(), settings: merged.settings }
    }
}
