//! `skill_search`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arguments::number;
use super::{ToolError, ToolName, Toolset};
use crate::repository::{Hit, search};

/// How many skills are returned when a call does not say.
const LIMIT: usize = 10;
/// The most skills that are returned.
const LIMIT_MAX: usize = 100;

/// Arguments of `skill_search`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchSkills {
    /// What the task is about, in a few words.
    pub query: String,
    /// The most skills to return, at most 100. Default: 10.
    #[serde(default, deserialize_with = "number")]
    pub limit: Option<f64>,
}

impl Toolset {
    /// The skills that match a query best, the best first.
    ///
    /// # Errors
    /// When the query is empty.
    pub async fn skill_search(&self, call: SearchSkills) -> Result<Vec<Hit>, ToolError> {
        if call.query.trim().is_empty() {
            return Err(ToolError::argument(ToolName::SkillSearch.as_str(), "query", "must not be empty"));
        }
        // A number of a model's: what is no count is one of the ends.
        let limit = call.limit.map_or(LIMIT, |limit| limit.clamp(1.0, LIMIT_MAX as f64) as usize);
        let view = self.session().view().only(|entry| entry.summary().is_model_invocable());
        Ok(search(&view, &call.query, limit))
    }
}
