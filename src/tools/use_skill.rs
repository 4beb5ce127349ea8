//! `Skill`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, ToolError, Toolset};
use crate::session::state::Selection;
use crate::skill::Skill;

/// The most files of a skill that are named.
const FILES_MAX: usize = 100;
/// What a body writes where it wants the arguments.
const ARGUMENTS: &str = "$ARGUMENTS";

/// Arguments of `Skill`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UseSkill {
    /// The skill's name.
    #[serde(alias = "skill", alias = "skill_name")]
    pub command: String,
    /// What the skill is to work on, in words or as its instructions say.
    #[serde(default)]
    pub args: String,
}

impl Toolset {
    /// Loads a skill and answers its body: the instructions are in the conversation, and so not in the prompt.
    ///
    /// # Errors
    /// When there is no such skill.
    pub async fn use_skill(&self, call: UseSkill, context: &mut Call) -> Result<String, ToolError> {
        let session = self.session();
        let skill = session.open_skill(&call.command)?;
        let tools = if skill.tools().is_empty() { Selection::None } else { Selection::All };
        context.delta.merge(session.change(|skills| skills.load_in_conversation(skill.name(), &tools)).await?);
        context.delta.merge(session.limit_loaded().await?);
        session.stage(&skill).await?;
        Ok(content(&skill, call.args.trim()))
    }
}

/// The body between tags that name the skill, and the names of its other files, in the form that the format's guide for
/// clients proposes.
fn content(skill: &Skill, arguments: &str) -> String {
    // Nothing in a body or a name ends the element before its end.
    let harmless = |text: &str| text.replace("</skill_", "<\\/skill_");
    let body = skill.body();
    let body = harmless(body.trim_end());
    let body = match (body.contains(ARGUMENTS), arguments) {
        (true, arguments) => body.replace(ARGUMENTS, &harmless(arguments)),
        (false, "") => body,
        (false, arguments) => format!("{body}\n\nArguments: {}", harmless(arguments)),
    };
    let mut content = format!("<skill_content name=\"{}\">\n{body}\n\n", skill.name());
    content += &format!("Skill dir: {}\n", skill.sandbox_path());
    let documents = skill.documents().into_iter().map(|document| document.path);
    let files: Vec<String> = documents.chain(skill.resources().into_iter().map(|resource| resource.path)).collect();
    if !files.is_empty() {
        content += "<skill_resources>\n";
        for file in files.iter().take(FILES_MAX) {
            content += &format!("<file>{}</file>\n", harmless(file));
        }
        if files.len() > FILES_MAX {
            content += &format!("({} more)\n", files.len() - FILES_MAX);
        }
        content += "</skill_resources>\n";
    }
    content + "</skill_content>"
}
