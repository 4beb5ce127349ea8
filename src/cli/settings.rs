//! What `wskill.toml` of the user and of the project mean for sessions.

use std::path::Path;

use super::config::SandboxLimits;
use super::{Error, say};
use crate::config::{Config, Places, Settings};
use crate::policy::{CommandPolicy, Surface, TrustMode, TrustStore};
use crate::tools::{Guards, Outputs, RunDefaults, SkillOptions, ToolOptionsBuilder};
use crate::{LimitName, Limits};

/// The merged configuration of the current folder.
pub struct Configured {
    config: Config,
    general: Settings,
}

impl Configured {
    /// Reads it, and tells what a project's file may not set.
    pub fn load() -> Result<Self, Error> {
        let config = Config::load(&Places::of(Path::new(".")), &SandboxLimits)?;
        let general = config.settings(None);
        for warning in general.warnings() {
            say(&format!("warning: {warning}"));
        }
        Ok(Self { config, general })
    }

    /// The limits of all runs.
    pub fn limits(&self) -> Result<Limits, Error> {
        limits(&self.general)
    }

    /// Which skills may run, and who knows.
    pub fn trust(&self) -> Result<Option<(TrustMode, TrustStore)>, Error> {
        match self.general.trust_mode() {
            TrustMode::All => Ok(None),
            mode => Ok(Some((mode, self.trust_store()?))),
        }
    }

    /// Where the digests of trusted skills are.
    pub fn trust_store(&self) -> Result<TrustStore, Error> {
        Ok(match self.general.trust_digests() {
            Some(path) => TrustStore::at(path),
            None => TrustStore::user()?,
        })
    }

    /// What tools may do, in general and for single skills.
    pub fn tools(&self, builder: ToolOptionsBuilder) -> Result<ToolOptionsBuilder, Error> {
        let run = self.general.run();
        let outputs = (!run.outputs.globs.is_empty()).then(|| Outputs {
            globs: run.outputs.globs.clone(),
            inline: run.outputs.inline,
            images: false,
            save: run.outputs.save,
            name_template: run.outputs.name_template.clone(),
            max_files: usize::try_from(run.outputs.max_files).ok(),
            max_file_bytes: usize::try_from(run.outputs.max_file_bytes).ok(),
            max_total_bytes: usize::try_from(run.outputs.max_total_bytes).ok(),
        });
        let mut builder = builder
            .guards(Guards { commands: commands(&self.general)?, ..Guards::default() })
            .require_skill_loaded(self.general.require_skill_loaded())
            .read_scripts(self.general.read_scripts())
            .run_defaults(RunDefaults {
                save_as_artifacts: run.save_as_artifacts,
                omit_inline_content: run.omit_inline_content,
                artifact_prefix: run.artifact_prefix,
                timeout: Some(run.timeout),
                outputs,
            });
        for name in self.config.skills() {
            let settings = self.config.settings(Some(name));
            let env = settings.env().into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            let options = SkillOptions { limits: Some(limits(&settings)?), env, commands: commands(&settings)? };
            builder = builder.skill(name, options);
        }
        Ok(builder)
    }
}

fn limits(settings: &Settings) -> Result<Limits, Error> {
    let mut limits = Limits::default();
    for (name, value) in settings.limits() {
        limits.set(name.parse::<LimitName>()?, value)?;
    }
    limits.process_memory = limits.process_memory.min(limits.memory);
    Ok(limits)
}

fn commands(settings: &Settings) -> Result<CommandPolicy, Error> {
    Ok(settings.command_policy(Surface::SkillRun, |name| std::env::var(name).ok())?)
}
