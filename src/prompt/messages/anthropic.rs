//! Requests as Anthropic's messages API has them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::calls::{Calls, fill};
use super::content::{After, put, texts};
use super::section::{Kind, without};
use super::{MessageOptions, MessagesError, Plan};
use crate::prompt::SystemPrompt;

/// Puts a prompt into a request with `system`, a string or a list of blocks, and `messages`.
///
/// It goes behind the text of `system`, or into a block of its own there; so does, behind it, what has lost its tool
/// result. Tool results are the blocks that `tool_use_id` leads to a call of `skill_load` or `skill_select_docs`.
///
/// # Errors
/// When the request is no object, or `system` or `messages` have another shape.
pub fn anthropic(request: &mut Value, prompt: &SystemPrompt, options: &MessageOptions) -> Result<(), MessagesError> {
    let Value::Object(request) = request else {
        return Err(MessagesError::shape("request", request, "an object"));
    };
    let wanted = "a string or a list of blocks";
    let own = match request.get("system") {
        None => String::new(),
        Some(system @ (Value::Null | Value::String(_) | Value::Array(_))) => {
            texts(system).map(without).collect::<Vec<_>>().join("\n")
        }
        Some(other) => return Err(MessagesError::shape("system", other, wanted)),
    };
    let plan = Plan::new(prompt, options, &own);
    let placed = match request.get_mut("messages") {
        None => BTreeSet::new(),
        Some(Value::Array(list)) => results(list, &plan),
        Some(other) => return Err(MessagesError::shape("messages", other, "a list of messages")),
    };
    put_system(request, Kind::Main, plan.system.as_deref());
    put_system(request, Kind::Fallback, plan.rest(&placed).as_deref());
    Ok(())
}

fn put_system(request: &mut Map<String, Value>, kind: Kind, section: Option<&str>) {
    if section.is_none() && !request.contains_key("system") {
        return;
    }
    let system = request.entry("system").or_insert(Value::Null);
    if put(system, kind, section) == After::Emptied {
        request.remove("system");
    }
}

/// Fills the results of calls that loaded skills.
fn results(list: &mut [Value], plan: &Plan) -> BTreeSet<String> {
    let mut calls = Calls::default();
    let mut found = Vec::new();
    for message in list {
        let Some(blocks) = message.get_mut("content").and_then(Value::as_array_mut) else { continue };
        for block in blocks {
            if block["type"] == "tool_use" {
                calls.note(&block["id"], &block["name"], &block["input"]);
            } else if block["type"] == "tool_result"
                && block["is_error"] != true
                && let Some(skill) = calls.skill(&block["tool_use_id"]).map(str::to_owned)
            {
                found.push((skill, block));
            }
        }
    }
    fill(found, plan)
}
