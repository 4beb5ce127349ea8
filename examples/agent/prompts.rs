//! What the model is told: who it is, then what the toolset tells of skills.

use serde_json::{Value, json};
use wskill::agent::Prompt;
use wskill::tools::Toolset;

/// Who the agent is. What skills there are and how to use them, the toolset says.
const INSTRUCTIONS: &str = "\
You are an assistant who solves tasks with skills. Look for a skill that fits before you work without one, load it, \
and do what it says. Run its scripts instead of computing in your head, look at what they print, and correct what \
went wrong. Files that you make for the user belong in out/. Answer shortly, with the results and the names of the \
files.";

/// Puts the instructions and the toolset's part into the system message of each request: names and descriptions of
/// skills, the guidance, and what is loaded at that moment.
pub struct AgentPrompt(pub Toolset);

impl Prompt for AgentPrompt {
    fn apply(&self, messages: &mut Vec<Value>) {
        messages.insert(0, json!({"role": "system", "content": INSTRUCTIONS}));
        self.0.apply(messages);
    }
}
