//! `skill_list` and `skill_list_tools`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{ToolError, Toolset};

/// Which skills are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListMode {
    /// All that can be seen.
    #[default]
    All,
    /// Those that have in the sandbox what they need.
    Available,
}

/// Arguments of `skill_list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSkills {
    /// `all`, or `available` for those that have in the sandbox what they need. Default: all.
    #[serde(default)]
    pub mode: ListMode,
}

/// Arguments of `skill_list_tools`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTools {
    /// The skill's name.
    pub skill: String,
}

impl Toolset {
    /// The names of the skills that the session sees and a model may use, sorted.
    ///
    /// # Errors
    /// None today.
    pub async fn skill_list(&self, call: ListSkills) -> Result<Vec<String>, ToolError> {
        let view = self.session().view();
        let mut names = Vec::with_capacity(view.len());
        for entry in view.entries().filter(|entry| entry.summary().is_model_invocable()) {
            if call.mode == ListMode::All || self.session().is_available(entry)? {
                names.push(entry.name().to_owned());
            }
        }
        Ok(names)
    }

    /// The names of the tools that a skill declares.
    ///
    /// # Errors
    /// When there is no such skill.
    pub async fn skill_list_tools(&self, call: ListTools) -> Result<Vec<String>, ToolError> {
        Ok(self.session().open_skill(&call.skill)?.tools())
    }
}
