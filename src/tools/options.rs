//! What a toolset offers, and the defaults of its calls.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::functions::FunctionPool;
use super::guard::Guards;
use super::run::Outputs;
use super::spec::ToolName;
use crate::Limits;
use crate::policy::CommandPolicy;
use crate::prompt::Profile;

/// The framework whose forms results have, where frameworks differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// As trpc-agent-python, and what this project documents. The default.
    #[default]
    Python,
    /// As trpc-agent-go: `skill_load` answers `loaded: NAME`.
    Go,
}

/// Defaults of `skill_run`, each of which a call can override.
#[derive(Clone, Debug, Default)]
pub struct RunDefaults {
    /// Whether collected files are saved as artifacts. Default: false.
    pub save_as_artifacts: bool,
    /// Whether the content of collected files is left out of the result. Default: false.
    pub omit_inline_content: bool,
    /// What names of artifacts begin with. Default: nothing.
    pub artifact_prefix: String,
    /// Wall time. Default: 300 s.
    pub timeout: Option<Duration>,
    /// What is collected. Default: nothing but what is new in `out/`.
    pub outputs: Option<Outputs>,
}

/// What holds for the runs of one skill.
#[derive(Clone, Debug, Default)]
pub struct SkillOptions {
    /// What a run may use. Default: what the executor says.
    pub limits: Option<Limits>,
    /// Variables, below those of a call. Default: none.
    pub env: BTreeMap<String, String>,
    /// Which commands it may start, besides what [`Guards::commands`] says. Default: all.
    pub commands: CommandPolicy,
}

/// What a toolset offers.
#[derive(Clone, Debug, Default)]
pub struct ToolOptions {
    pub(super) profile: Profile,
    pub(super) with: BTreeSet<ToolName>,
    pub(super) without: BTreeSet<ToolName>,
    pub(super) compat: Compat,
    pub(super) run: RunDefaults,
    pub(super) require_skill_loaded: bool,
    pub(super) read_scripts: bool,
    pub(super) functions: FunctionPool,
    pub(super) guards: Guards,
    pub(super) skills: BTreeMap<String, SkillOptions>,
}

/// Makes [`ToolOptions`].
#[derive(Clone, Debug, Default)]
pub struct ToolOptionsBuilder(ToolOptions);

impl ToolOptions {
    /// Begins with the defaults.
    pub fn builder() -> ToolOptionsBuilder {
        ToolOptionsBuilder::default()
    }

    /// For which kind of work the tools are.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The tools that are offered, in their order.
    pub fn tools(&self) -> Vec<ToolName> {
        let profile = self.profile.tools();
        let offered = |name: &ToolName| {
            (profile.contains(name.as_str()) || self.with.contains(name)) && !self.without.contains(name)
        };
        ToolName::ALL.iter().copied().filter(offered).collect()
    }
}

impl ToolOptionsBuilder {
    /// Which tools are offered. Default: [`Profile::Run`].
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.0.profile = profile;
        self
    }

    /// Offers a tool besides those of the profile.
    #[must_use]
    pub fn with(mut self, tool: ToolName) -> Self {
        self.0.with.insert(tool);
        self
    }

    /// Does not offer a tool of the profile.
    #[must_use]
    pub fn without(mut self, tool: ToolName) -> Self {
        self.0.without.insert(tool);
        self
    }

    /// The forms of results. Default: [`Compat::Python`].
    #[must_use]
    pub fn compat(mut self, compat: Compat) -> Self {
        self.0.compat = compat;
        self
    }

    /// Defaults of `skill_run`. Default: [`RunDefaults::default`].
    #[must_use]
    pub fn run_defaults(mut self, defaults: RunDefaults) -> Self {
        self.0.run = defaults;
        self
    }

    /// Refuses to run a skill that is not loaded. Default: false.
    #[must_use]
    pub fn require_skill_loaded(mut self, required: bool) -> Self {
        self.0.require_skill_loaded = required;
        self
    }

    /// Lets `workspace_read` show scripts of loaded skills too. Default: false.
    #[must_use]
    pub fn read_scripts(mut self, allowed: bool) -> Self {
        self.0.read_scripts = allowed;
        self
    }

    /// The host's own functions, which skills make active. Default: none.
    #[must_use]
    pub fn functions(mut self, pool: FunctionPool) -> Self {
        self.0.functions = pool;
        self
    }

    /// What is asked before calls, and told of them. Default: nothing.
    #[must_use]
    pub fn guards(mut self, guards: Guards) -> Self {
        self.0.guards = guards;
        self
    }

    /// What holds for one skill. Default: what holds for all.
    #[must_use]
    pub fn skill(mut self, name: impl Into<String>, options: SkillOptions) -> Self {
        self.0.skills.insert(name.into(), options);
        self
    }

    /// The options.
    pub fn build(self) -> ToolOptions {
        self.0
    }
}
