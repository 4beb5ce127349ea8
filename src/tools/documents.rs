//! `skill_list_docs` and `skill_select_docs`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments::texts;
use super::load::check_documents;
use super::select::Mode;
use super::{Call, ToolError, ToolName, Toolset};
use crate::session::state::Selection;

/// Arguments of `skill_list_docs`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDocs {
    /// The skill's name.
    pub skill: String,
}

/// Arguments of `skill_select_docs`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectDocs {
    /// The skill's name.
    pub skill: String,
    /// Paths of documents, as skill_list_docs names them.
    #[serde(default, deserialize_with = "texts")]
    pub docs: Vec<String>,
    /// All documents. Default: false.
    #[serde(default)]
    pub include_all_docs: bool,
    /// `add` to what is selected, `replace` it, or `clear` it. Default: replace.
    #[serde(default)]
    pub mode: Mode,
}

/// What `skill_select_docs` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SelectedDocs {
    /// The skill's name.
    pub skill: String,
    /// The documents that are selected now; `["*"]` stands for all.
    pub selected_docs: Vec<String>,
    /// Whether all are.
    pub include_all_docs: bool,
    /// What was done.
    pub mode: &'static str,
}

impl Toolset {
    /// The paths of a skill's documents, sorted.
    ///
    /// # Errors
    /// When there is no such skill.
    pub async fn skill_list_docs(&self, call: ListDocs) -> Result<Vec<String>, ToolError> {
        let skill = self.session().open_skill(&call.skill)?;
        Ok(skill.documents().into_iter().map(|document| document.path).collect())
    }

    /// Selects documents of a skill. All stay selected until they are cleared.
    ///
    /// # Errors
    /// When there is no such skill, or it has no such document.
    pub async fn skill_select_docs(&self, call: SelectDocs, context: &mut Call) -> Result<SelectedDocs, ToolError> {
        let session = self.session();
        let skill = session.open_skill(&call.skill)?;
        let all = call.include_all_docs || call.docs.iter().any(|document| document == "*");
        if !all {
            check_documents(ToolName::SkillSelectDocs, &skill, &call.docs)?;
        }
        let mut selection = Selection::None;
        let delta = session.change(|skills| {
            let (selected, delta) = skills.select_docs(skill.name(), call.mode.into(), &call.docs, all);
            selection = selected;
            delta
        });
        context.delta.merge(delta.await?);
        Ok(SelectedDocs {
            skill: skill.name().to_owned(),
            include_all_docs: selection == Selection::All,
            selected_docs: super::select::listed(&selection),
            mode: call.mode.as_str(),
        })
    }
}
