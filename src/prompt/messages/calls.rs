//! Which tool results are those of calls that loaded a skill.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Plan;
use super::content::{is_open, put};
use super::section::Kind;

/// The tools whose results can carry what was loaded.
const TOOLS: [&str; 2] = ["skill_load", "skill_select_docs"];
/// The names that tools accept for the skill.
const FIELDS: [&str; 2] = ["skill", "skill_name"];

/// The skill that a call loads or selects documents of.
fn skill(tool: &str, arguments: &Value) -> Option<String> {
    let name = FIELDS.iter().find_map(|field| arguments.get(field)?.as_str())?.trim();
    TOOLS.contains(&tool).then(|| name.to_owned())
}

/// The calls so far, by id, with the skill where there is one. An id counts until it is used again.
#[derive(Default)]
pub(super) struct Calls(BTreeMap<String, Option<String>>);

impl Calls {
    /// Notes a call.
    pub(super) fn note(&mut self, id: &Value, tool: &Value, arguments: &Value) {
        if let (Some(id), Some(tool)) = (id.as_str(), tool.as_str()) {
            self.0.insert(id.to_owned(), skill(tool, arguments));
        }
    }

    /// The skill of the call with this id.
    pub(super) fn skill(&self, id: &Value) -> Option<&str> {
        self.0.get(id.as_str()?)?.as_deref()
    }
}

/// Puts what was loaded into the last of the results of each skill, and takes it out of the others. Answers the skills
/// that have a result. A result is what has a `content`.
pub(super) fn fill(results: Vec<(String, &mut Value)>, plan: &Plan) -> BTreeSet<String> {
    let mut placed = BTreeSet::new();
    for (skill, result) in results.into_iter().rev() {
        let section = if placed.contains(&skill) { None } else { plan.result(&skill) };
        let Some(result) = result.as_object_mut() else { continue };
        match (result.get_mut("content"), section) {
            (Some(content), Some(section)) if is_open(content) => {
                put(content, Kind::Main, Some(&section));
            }
            (None, Some(section)) => {
                result.insert("content".to_owned(), section.into());
            }
            (Some(content), None) => {
                put(content, Kind::Main, None);
                continue;
            }
            _ => continue,
        }
        placed.insert(skill);
    }
    placed
}
