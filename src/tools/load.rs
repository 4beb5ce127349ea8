//! `skill_load`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arguments::texts;
use super::{Call, ToolError, ToolName, Toolset};
use crate::session::state::Selection;
use crate::skill::Skill;

/// Arguments of `skill_load`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadSkill {
    /// The skill's name.
    pub skill: String,
    /// Paths of documents to show too. Without any, those that are selected already stay.
    #[serde(default, deserialize_with = "texts")]
    pub docs: Vec<String>,
    /// Show all documents. Default: false.
    #[serde(default)]
    pub include_all_docs: bool,
}

impl Toolset {
    /// Loads a skill: its body and the selected documents are in the prompt from now on, its tools become active, and
    /// its folder is in the workspace.
    ///
    /// # Errors
    /// When there is no such skill, or it has no such document.
    pub async fn skill_load(&self, call: LoadSkill, context: &mut Call) -> Result<(), ToolError> {
        let session = self.session();
        let skill = session.open_skill(&call.skill)?;
        let documents = if call.include_all_docs { Selection::All } else { Selection::of(call.docs) };
        check_documents(ToolName::SkillLoad, &skill, documents.items())?;
        let tools = if skill.tools().is_empty() { Selection::None } else { Selection::All };
        context.delta.merge(session.change(|skills| skills.load(skill.name(), &documents, &tools)).await?);
        context.delta.merge(session.limit_loaded().await?);
        session.stage(&skill).await?;
        Ok(())
    }
}

/// Documents must be among the skill's.
pub(super) fn check_documents(tool: ToolName, skill: &Skill, documents: &[String]) -> Result<(), ToolError> {
    if documents.is_empty() {
        return Ok(());
    }
    let known = skill.documents();
    for (index, document) in documents.iter().enumerate() {
        if !known.iter().any(|entry| entry.path == *document) {
            let names: Vec<_> = known.iter().map(|entry| entry.path.as_str()).collect();
            let reason = super::select::not_among("document", document, skill.name(), &names);
            return Err(ToolError::argument(tool.as_str(), format!("docs[{index}]"), reason));
        }
    }
    Ok(())
}
