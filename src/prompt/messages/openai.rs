//! Messages as the chat completions of OpenAI have them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::calls::{Calls, fill};
use super::content::{After, has, is_open, put, texts};
use super::section::{Kind, without};
use super::{MessageOptions, MessagesError, Plan};
use crate::prompt::SystemPrompt;

/// Puts a prompt into a list of messages with the roles `system` or `developer`, `user`, `assistant` and `tool`.
///
/// It goes into the first system message, or a new one before all others. Tool results are those that `tool_call_id`
/// leads to a call of `skill_load` or `skill_select_docs`.
///
/// # Errors
/// When the messages are no list.
pub fn openai(messages: &mut Value, prompt: &SystemPrompt, options: &MessageOptions) -> Result<(), MessagesError> {
    let Value::Array(list) = messages else {
        return Err(MessagesError::shape("messages", messages, "a list of messages"));
    };
    let own: Vec<String> = list
        .iter()
        .filter(|message| is_system(message))
        .flat_map(|message| texts(&message["content"]))
        .map(without)
        .collect();
    let plan = Plan::new(prompt, options, &own.join("\n"));
    take_out(list, Kind::Fallback, None);
    let system = |message: &Value| is_system(message) && is_open(&message["content"]);
    let target = list
        .iter()
        .position(|message| is_system(message) && has(&message["content"], Kind::Main))
        .or_else(|| list.iter().position(system));
    match (&plan.system, target) {
        (Some(section), Some(target)) => {
            put(&mut list[target]["content"], Kind::Main, Some(section));
            take_out(list, Kind::Main, Some(target));
        }
        (Some(section), None) => list.insert(0, json!({"role": "system", "content": section})),
        (None, _) => take_out(list, Kind::Main, None),
    }
    let placed = results(list, &plan);
    if let Some(fallback) = plan.rest(&placed) {
        let at = list.iter().rposition(is_system).map_or(0, |last| last + 1);
        list.insert(at, json!({"role": "system", "content": fallback}));
    }
    Ok(())
}

fn is_system(message: &Value) -> bool {
    matches!(message["role"].as_str(), Some("system" | "developer"))
}

/// Takes the sections of a kind out of all system messages but one; those that were nothing else go.
fn take_out(list: &mut Vec<Value>, kind: Kind, but: Option<usize>) {
    let mut index = 0;
    list.retain_mut(|message| {
        let kept = but == Some(index) || !is_system(message);
        index += 1;
        // Only what has a content: asking for one would make it.
        kept || message.get_mut("content").is_none_or(|content| put(content, kind, None) == After::Kept)
    });
}

/// Fills the results of calls that loaded skills.
fn results(list: &mut [Value], plan: &Plan) -> BTreeSet<String> {
    let mut calls = Calls::default();
    let mut found = Vec::new();
    for message in list {
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            // A text of JSON, or, from some local models, the object itself.
            let parsed: Value;
            let arguments = match &function["arguments"] {
                Value::String(text) => {
                    parsed = serde_json::from_str(text).unwrap_or_default();
                    &parsed
                }
                object => object,
            };
            calls.note(&call["id"], &function["name"], arguments);
        }
        if message["role"] == "tool"
            && let Some(skill) = calls.skill(&message["tool_call_id"]).map(str::to_owned)
        {
            found.push((skill, message));
        }
    }
    fill(found, plan)
}
