//! Settings as what they are for.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::value::{Layer, Setting, Value, Warning};
use crate::policy::{CommandEntryError, CommandPolicy, Surface, TrustMode};

/// What holds, in general or for one skill.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub(super) settings: BTreeMap<String, Setting>,
    pub(super) warnings: Vec<Warning>,
}

/// What calls of `skill_run` have unless they say otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct RunDefaults {
    /// The time of a call, never more than the limit `wall_time`. Default 300 s.
    pub timeout: Duration,
    /// Whether collected files are kept as artifacts. Default: no.
    pub save_as_artifacts: bool,
    /// Whether the contents of collected files are left out of results. Default: no.
    pub omit_inline_content: bool,
    /// What stands before the names of artifacts. Default: nothing.
    pub artifact_prefix: String,
    /// What is collected.
    pub outputs: OutputDefaults,
}

/// What is collected after calls that do not say.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputDefaults {
    /// Patterns of files; with none, calls collect as they do without this.
    pub globs: Vec<String>,
    /// Whether contents are in the result. Default: no.
    pub inline: bool,
    /// Whether files are kept as artifacts. Default: no.
    pub save: bool,
    /// What stands before the names of artifacts. Default: nothing.
    pub name_template: String,
    /// Most files. Default 100.
    pub max_files: u64,
    /// Most bytes of a file. Default 4 MiB.
    pub max_file_bytes: u64,
    /// Most bytes of all files. Default 64 MiB.
    pub max_total_bytes: u64,
}

impl Settings {
    /// A setting by its key, such as `limits.memory`.
    pub fn get(&self, key: &str) -> Option<&Setting> {
        self.settings.get(key)
    }

    /// All settings, sorted by key. Values of `env` may be secrets ([`redact`](crate::policy::redact)).
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.settings.iter().map(|(key, setting)| (key.as_str(), setting))
    }

    /// What is not used of the project's file, and why.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The limits that a file sets, by name.
    pub fn limits(&self) -> BTreeMap<&str, &str> {
        let set = self.below("limits.").filter(|(_, setting)| !setting.origins.is_empty());
        set.filter_map(|(name, setting)| Some((name, text(setting)?))).collect()
    }

    /// The variables of the skill.
    pub fn env(&self) -> BTreeMap<&str, &str> {
        self.below("env.").filter_map(|(name, setting)| Some((name, text(setting)?))).collect()
    }

    /// The policy of commands of a tool. A list that the user's file does not set is that of the environment
    /// ([`CommandPolicy::resolve`]), and the project's tightens that one as well. `lookup` reads the environment.
    ///
    /// # Errors
    /// A variable has an entry that names no command.
    pub fn command_policy(
        &self,
        surface: Surface,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<CommandPolicy, CommandEntryError> {
        let list = |key, by_user| match self.settings.get(key) {
            Some(Setting { value: Value::List(list), origins, .. }) => {
                let layers = || origins.iter().map(|origin| origin.layer);
                let set = if by_user { layers().any(|layer| layer == Layer::User) } else { layers().next().is_some() };
                set.then_some(&**list)
            }
            _ => None,
        };
        let (allowed, denied) = ("policy.allowed_commands", "policy.denied_commands");
        let base = CommandPolicy::resolve(list(allowed, true), list(denied, true), surface, lookup)?;
        let both = CommandPolicy::new(list(allowed, false), list(denied, false).unwrap_or_default())?;
        Ok(base.and(&both))
    }

    /// Whether a skill is to be loaded before it runs.
    pub fn require_skill_loaded(&self) -> bool {
        self.flag("policy.require_skill_loaded")
    }

    /// Whether a model may read scripts.
    pub fn read_scripts(&self) -> bool {
        self.flag("policy.read_scripts")
    }

    /// Folders, archives and addresses of skills; nothing when no file names any.
    pub fn roots(&self) -> Option<&[String]> {
        self.list("skills.roots")
    }

    /// Whether skills are also where other clients keep theirs.
    pub fn well_known(&self) -> bool {
        self.flag("skills.well_known")
    }

    /// Whether there are skills below skills.
    pub fn nested(&self) -> bool {
        self.flag("skills.nested")
    }

    /// What happens to skills that are not trusted.
    pub fn trust_mode(&self) -> TrustMode {
        self.settings.get("trust.mode").and_then(text).and_then(|mode| mode.parse().ok()).unwrap_or_default()
    }

    /// The file of trusted digests, when it is not the usual one.
    pub fn trust_digests(&self) -> Option<PathBuf> {
        self.settings.get("trust.digests").and_then(text).map(PathBuf::from)
    }

    /// What calls have unless they say otherwise.
    pub fn run(&self) -> RunDefaults {
        let owned = |key| self.settings.get(key).and_then(text).unwrap_or_default().to_owned();
        let number = |key| match self.settings.get(key).map(|setting| &setting.value) {
            Some(Value::Number(number)) => *number,
            _ => 0,
        };
        let timeout = match self.settings.get("run.timeout").map(|setting| &setting.value) {
            Some(Value::Seconds(seconds)) => Duration::try_from_secs_f64(*seconds).unwrap_or(Duration::MAX),
            _ => Duration::MAX,
        };
        RunDefaults {
            timeout,
            save_as_artifacts: self.flag("run.save_as_artifacts"),
            omit_inline_content: self.flag("run.omit_inline_content"),
            artifact_prefix: owned("run.artifact_prefix"),
            outputs: OutputDefaults {
                globs: self.list("run.outputs.globs").unwrap_or_default().to_vec(),
                inline: self.flag("run.outputs.inline"),
                save: self.flag("run.outputs.save"),
                name_template: owned("run.outputs.name_template"),
                max_files: number("run.outputs.max_files"),
                max_file_bytes: number("run.outputs.max_file_bytes"),
                max_total_bytes: number("run.outputs.max_total_bytes"),
            },
        }
    }

    fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a Setting)> {
        self.settings.iter().filter_map(move |(key, setting)| Some((key.strip_prefix(prefix)?, setting)))
    }

    fn flag(&self, key: &str) -> bool {
        self.settings.get(key).is_some_and(|setting| setting.value == Value::Flag(true))
    }

    fn list(&self, key: &str) -> Option<&[String]> {
        match self.settings.get(key).map(|setting| &setting.value) {
            Some(Value::List(list)) => Some(list),
            _ => None,
        }
    }
}

fn text(setting: &Setting) -> Option<&str> {
    match &setting.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}
