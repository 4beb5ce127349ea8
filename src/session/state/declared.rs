//! Loads that the caller asks for, before the model does.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::delta::StateDelta;
use super::selection::Selection;
use super::skills::Skills;
use super::value;

/// A skill to load at the beginning of a turn. Read from JSON with the fields `name` (or `skill`), `docs` and
/// `include_all_docs`.
///
/// ```
/// use wskill::session::state::{LoadRequest, Selection};
///
/// let request: LoadRequest = serde_json::from_str(r#"{"name": "pdf", "docs": ["forms.md"]}"#)?;
/// assert_eq!(request, LoadRequest { skill: "pdf".into(), documents: Selection::of(["forms.md"]) });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Fields")]
pub struct LoadRequest {
    /// The skill's name.
    pub skill: String,
    /// Which of its documents; with [`Selection::None`] those that are selected already.
    pub documents: Selection,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    #[serde(alias = "skill", alias = "skill_name")]
    name: String,
    #[serde(default)]
    docs: Vec<String>,
    #[serde(default)]
    include_all_docs: bool,
}

impl TryFrom<Fields> for LoadRequest {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        if fields.include_all_docs && !fields.docs.is_empty() {
            return Err(format!("skill `{}`: give either docs or include_all_docs", fields.name));
        }
        let documents = if fields.include_all_docs { Selection::All } else { Selection::of(fields.docs) };
        Ok(Self { skill: fields.name, documents })
    }
}

/// What there is of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownSkill {
    /// The paths of its documents.
    pub documents: Vec<String>,
    /// The tools that it declares and that become active with it.
    pub tools: Selection,
}

/// Why declared loads are refused. Nothing is loaded then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeclaredError {
    /// There is no such skill, or the caller does not see it.
    #[error("cannot load the skill `{0}` that the caller declared: there is none; leave it out or add its folder")]
    UnknownSkill(String),
    /// The skill has no such document.
    #[error("cannot load the document `{document}` of the skill `{skill}`: there is none; there are {known}")]
    UnknownDocument {
        /// The skill.
        skill: String,
        /// What was asked for.
        document: String,
        /// Some of what there is.
        known: String,
    },
    /// More skills than may be loaded at once.
    #[error("{count} skills are declared to be loaded, and {limit} may be loaded at once; declare fewer")]
    TooMany {
        /// How many.
        count: usize,
        /// How many may be.
        limit: usize,
    },
}

impl Skills<'_> {
    /// Applies the loads that the caller declared, all or none, once in a turn: later calls change nothing until
    /// [`begin_turn`](Self::begin_turn). Requests for one skill become one. `limit` is how many skills may be loaded
    /// at once; `known` finds what the caller sees.
    ///
    /// # Errors
    ///
    /// [`DeclaredError`] when one of the requests cannot be served.
    pub fn apply_declared(
        &self,
        requests: &[LoadRequest],
        limit: Option<usize>,
        known: impl Fn(&str) -> Option<KnownSkill>,
    ) -> Result<StateDelta, DeclaredError> {
        let mut delta = StateDelta::default();
        let applied = self.state.get(&self.keys.declared()).and_then(value::flag) == Some(true);
        if applied || requests.is_empty() {
            return Ok(delta);
        }
        let mut order: Vec<&str> = Vec::new();
        let mut documents: BTreeMap<&str, Selection> = BTreeMap::new();
        for request in requests {
            let skill = request.skill.trim();
            let former = documents.get(skill);
            if former.is_none() {
                order.push(skill);
            }
            let both = former.map_or_else(|| request.documents.clone(), |former| former.union(&request.documents));
            documents.insert(skill, both);
        }
        if let Some(limit) = limit.filter(|limit| order.len() > *limit) {
            return Err(DeclaredError::TooMany { count: order.len(), limit });
        }
        for skill in &order {
            let found = known(skill).filter(|_| !skill.is_empty());
            let found = found.ok_or_else(|| DeclaredError::UnknownSkill((*skill).to_owned()))?;
            let selection = &documents[skill];
            if let Some(document) = selection.items().iter().find(|document| !found.documents.contains(document)) {
                return Err(DeclaredError::UnknownDocument {
                    skill: (*skill).to_owned(),
                    document: document.clone(),
                    known: some_of(&found.documents),
                });
            }
            self.load_into(&mut delta, skill, selection, &found.tools);
        }
        self.order_into(&mut delta, &order, &BTreeSet::new());
        delta.set(self.keys.declared(), true);
        Ok(delta)
    }
}

/// Up to twelve names for a message.
fn some_of(names: &[String]) -> String {
    const FEW: usize = 12;
    match names.len() {
        0 => "no documents".to_owned(),
        count if count <= FEW => names.join(", "),
        count => format!("{} and {} more", names[..FEW].join(", "), count - FEW),
    }
}
