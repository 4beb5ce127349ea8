//! `skill_select_tools`, and what it has in common with selecting documents.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::arguments::texts;
use super::{Call, ToolError, ToolName, Toolset};
use crate::repository::nearest;
use crate::session::state::{SelectMode, Selection};

/// How many names a message lists.
const NAMES_MAX: usize = 20;

/// How a selection changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Adds to it.
    Add,
    /// Takes its place.
    #[default]
    Replace,
    /// Removes it.
    Clear,
}

/// Whatever is no mode is `replace`, as in other clients.
impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match SelectMode::parse(&String::deserialize(deserializer)?) {
            SelectMode::Add => Self::Add,
            SelectMode::Replace => Self::Replace,
            SelectMode::Clear => Self::Clear,
        })
    }
}

impl From<Mode> for SelectMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Add => Self::Add,
            Mode::Replace => Self::Replace,
            Mode::Clear => Self::Clear,
        }
    }
}

impl Mode {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        SelectMode::from(self).as_str()
    }
}

/// Arguments of `skill_select_tools`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectTools {
    /// The skill's name.
    pub skill: String,
    /// Names of tools that the skill declares.
    #[serde(default, deserialize_with = "texts")]
    pub tools: Vec<String>,
    /// All tools that the skill declares. Default: false.
    #[serde(default)]
    pub include_all_tools: bool,
    /// `add` to what is selected, `replace` it, or `clear` it. Default: replace.
    #[serde(default)]
    pub mode: Mode,
}

/// What `skill_select_tools` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SelectedTools {
    /// The skill's name.
    pub skill: String,
    /// The tools that are selected now; `["*"]` stands for all.
    pub selected_tools: Vec<String>,
    /// Whether all are.
    pub include_all_tools: bool,
    /// What was done.
    pub mode: &'static str,
}

impl Toolset {
    /// Selects tools of a skill. All stay selected until they are cleared.
    ///
    /// # Errors
    /// When there is no such skill, or it declares no such tool.
    pub async fn skill_select_tools(&self, call: SelectTools, context: &mut Call) -> Result<SelectedTools, ToolError> {
        let session = self.session();
        let skill = session.open_skill(&call.skill)?;
        let all = call.include_all_tools || call.tools.iter().any(|tool| tool == "*");
        let declared = skill.tools();
        if let Some((index, tool)) = call.tools.iter().enumerate().find(|(_, tool)| !all && !declared.contains(tool)) {
            let names: Vec<_> = declared.iter().map(String::as_str).collect();
            let reason = not_among("tool", tool, skill.name(), &names);
            return Err(ToolError::argument(ToolName::SkillSelectTools.as_str(), format!("tools[{index}]"), reason));
        }
        let mut selection = Selection::None;
        let delta = session.change(|skills| {
            let (selected, delta) = skills.select_tools(skill.name(), call.mode.into(), &call.tools, all);
            selection = selected;
            delta
        });
        context.delta.merge(delta.await?);
        Ok(SelectedTools {
            skill: skill.name().to_owned(),
            include_all_tools: selection == Selection::All,
            selected_tools: listed(&selection),
            mode: call.mode.as_str(),
        })
    }
}

/// A selection as a result shows it.
pub(super) fn listed(selection: &Selection) -> Vec<String> {
    if *selection == Selection::All { vec!["*".to_owned()] } else { selection.items().to_vec() }
}

/// The sentence for a name that is none of a skill's.
pub(super) fn not_among(what: &str, name: &str, skill: &str, known: &[&str]) -> String {
    let there = match known.len() {
        0 => "it has none".to_owned(),
        count if count <= NAMES_MAX => format!("it has {}", known.join(", ")),
        count => match nearest(name, known.iter().copied(), NAMES_MAX) {
            near if near.is_empty() => format!("it has {count} others, none with a similar name"),
            near => format!("the nearest of {count} are {}", near.join(", ")),
        },
    };
    format!("the skill `{skill}` has no {what} `{name}`; {there}")
}
