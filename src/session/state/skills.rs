//! What one agent has loaded.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::delta::{State, StateDelta};
use super::keys::{ARTIFACTS, Keys, Lifetime, Part};
use super::selection::{SelectMode, Selection};
use super::turn::LoadMode;
use super::value::{self, StateWarning};

/// A loaded skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The skill's name.
    pub name: String,
    /// Which of its documents are shown.
    pub documents: Selection,
    /// Which of its tools are active.
    pub tools: Selection,
    /// Whether its body is in the conversation already, as the result of a call.
    pub in_conversation: bool,
}

/// A state as one agent sees it. Operations answer with the change that they are; nothing is changed here.
///
/// The order in which skills were touched is one value. Of two operations at once that start from the same state, the
/// later one decides about it; what is loaded and selected is kept skill by skill.
#[derive(Clone, Debug)]
pub struct Skills<'a> {
    pub(super) state: &'a State,
    pub(super) keys: Keys,
    pub(super) mode: LoadMode,
}

impl State {
    /// The state as the agent of that name sees it; an empty name is for agents without one. `mode` is how long what
    /// this agent loads stays.
    pub fn skills(&self, agent: &str, mode: LoadMode) -> Skills<'_> {
        Skills { state: self, keys: Keys::of(agent), mode }
    }
}

impl Skills<'_> {
    /// The loaded skills, the one touched last at the end. Those whose touch is not known come first, by name.
    pub fn loaded(&self) -> Vec<Loaded> {
        let with_selections = |name: String| Loaded {
            documents: self.selection(Part::Documents, &name),
            tools: self.selection(Part::Tools, &name),
            in_conversation: self.has_flag(Part::InConversation, &name),
            name,
        };
        self.names().into_iter().map(with_selections).collect()
    }

    /// Whether a skill is loaded.
    pub fn is_loaded(&self, skill: &str) -> bool {
        self.has_flag(Part::Loaded, skill.trim())
    }

    /// Which documents of a skill are selected, whether it is loaded or not.
    pub fn documents(&self, skill: &str) -> Selection {
        self.selection(Part::Documents, skill.trim())
    }

    /// Which tools of a skill are selected, whether it is loaded or not.
    pub fn tools(&self, skill: &str) -> Selection {
        self.selection(Part::Tools, skill.trim())
    }

    /// Values among this agent's that cannot be read and so are ignored, sorted by key.
    pub fn warnings(&self) -> Vec<StateWarning> {
        let mut wrong = BTreeMap::new();
        for lifetime in Lifetime::ALL {
            for part in Part::ALL {
                let prefix = self.keys.prefix(lifetime, part);
                for (name, value) in self.state.below(&prefix) {
                    let (readable, expected) = match part {
                        _ if name.trim().is_empty() => (false, "the name of a skill in the key"),
                        Part::Loaded | Part::InConversation => (value::flag(value).is_some(), value::FLAG),
                        Part::Documents | Part::Tools => (value::selection(value).is_some(), value::SELECTION),
                    };
                    if !readable {
                        wrong.insert(format!("{prefix}{name}"), expected);
                    }
                }
            }
            for key in self.keys.orders(lifetime) {
                if self.state.get(&key).is_some_and(|value| value::names(value).is_none()) {
                    wrong.insert(key, value::NAMES);
                }
            }
        }
        if self.state.get(ARTIFACTS).is_some() && self.state.call_artifacts().is_none() {
            wrong.insert(ARTIFACTS.to_owned(), "a tool_call_id and a list of artifacts");
        }
        wrong.into_iter().map(|(key, expected)| StateWarning { key, expected }).collect()
    }

    /// Loads a skill, or touches it when it is loaded. A selection takes the place of the former one; with
    /// [`Selection::None`] the former one stays.
    pub fn load(&self, skill: &str, documents: &Selection, tools: &Selection) -> StateDelta {
        let mut delta = StateDelta::default();
        self.load_into(&mut delta, skill.trim(), documents, tools);
        for lifetime in Lifetime::ALL {
            self.remove_into(&mut delta, self.keys.key(lifetime, Part::InConversation, skill.trim()));
        }
        self.order_into(&mut delta, &[skill.trim()], &BTreeSet::new());
        delta
    }

    /// Loads a skill whose body the conversation shows: the prompt leaves it out.
    pub fn load_in_conversation(&self, skill: &str, tools: &Selection) -> StateDelta {
        let mut delta = StateDelta::default();
        self.load_into(&mut delta, skill.trim(), &Selection::None, tools);
        self.put_into(&mut delta, self.lifetime(skill.trim()), Part::InConversation, skill.trim(), Value::from("1"));
        self.order_into(&mut delta, &[skill.trim()], &BTreeSet::new());
        delta
    }

    /// Makes a skill the one used last.
    pub fn touch(&self, skill: &str) -> StateDelta {
        let mut delta = StateDelta::default();
        self.order_into(&mut delta, &[skill.trim()], &BTreeSet::new());
        delta
    }

    /// Selects documents of a skill and touches it. A skill that is not loaded has them when it is.
    pub fn select_docs(&self, skill: &str, mode: SelectMode, docs: &[String], all: bool) -> (Selection, StateDelta) {
        let (selection, mut delta) = self.select(Part::Documents, skill.trim(), mode, docs, all);
        self.order_into(&mut delta, &[skill.trim()], &BTreeSet::new());
        (selection, delta)
    }

    /// Selects tools of a skill.
    pub fn select_tools(&self, skill: &str, mode: SelectMode, tools: &[String], all: bool) -> (Selection, StateDelta) {
        self.select(Part::Tools, skill.trim(), mode, tools, all)
    }

    /// Unloads a skill and forgets what was selected of it.
    pub fn unload(&self, skill: &str) -> StateDelta {
        self.unload_all(&[skill.trim().to_owned()])
    }

    /// Unloads all but the `limit` skills that were touched last. Answers with the unloaded ones, the one touched
    /// longest ago first.
    pub fn evict(&self, limit: usize) -> (Vec<String>, StateDelta) {
        let mut names = self.names();
        names.truncate(names.len().saturating_sub(limit));
        let delta = self.unload_all(&names);
        (names, delta)
    }

    fn unload_all(&self, skills: &[String]) -> StateDelta {
        let mut delta = StateDelta::default();
        for skill in skills {
            for lifetime in Lifetime::ALL {
                for part in Part::ALL {
                    self.remove_into(&mut delta, self.keys.key(lifetime, part, skill));
                }
            }
        }
        let order = self.order();
        if skills.iter().any(|skill| order.contains(skill)) {
            self.order_into(&mut delta, &[], &skills.iter().map(String::as_str).collect());
        }
        delta
    }

    fn select(
        &self,
        part: Part,
        skill: &str,
        mode: SelectMode,
        items: &[String],
        all: bool,
    ) -> (Selection, StateDelta) {
        let selection = self.selection(part, skill).select(mode, items, all);
        let mut delta = StateDelta::default();
        self.put_into(&mut delta, self.lifetime(skill), part, skill, selection.to_value());
        (selection, delta)
    }

    pub(super) fn load_into(&self, delta: &mut StateDelta, skill: &str, documents: &Selection, tools: &Selection) {
        let lifetime = self.lifetime(skill);
        self.put_into(delta, lifetime, Part::Loaded, skill, Value::from("1"));
        for (part, selection) in [(Part::Documents, documents), (Part::Tools, tools)] {
            if *selection != Selection::None {
                self.put_into(delta, lifetime, part, skill, selection.to_value());
            } else if let Some(former) = self.state.get(&self.keys.key(lifetime.other(), part, skill)) {
                // What is selected stays as long as the skill.
                if self.state.get(&self.keys.key(lifetime, part, skill)).is_none() {
                    self.put_into(delta, lifetime, part, skill, former.clone());
                }
            }
        }
    }

    /// Writes the order with `touched` at its end and without `gone`.
    pub(super) fn order_into(&self, delta: &mut StateDelta, touched: &[&str], gone: &BTreeSet<&str>) {
        let mut order = self.order();
        order.retain(|name| !touched.contains(&name.as_str()) && !gone.contains(name.as_str()) && self.is_loaded(name));
        for (position, name) in touched.iter().enumerate() {
            if !name.is_empty() && !touched[position + 1..].contains(name) {
                order.push((*name).to_owned());
            }
        }
        let lifetime = if self.mode == LoadMode::Session { Lifetime::Session } else { Lifetime::Temporary };
        let mut keys = self.keys.orders(lifetime).into_iter();
        if let Some(key) = keys.next() {
            if order.is_empty() {
                self.remove_into(delta, key);
            } else {
                delta.set(key, order);
            }
        }
        for key in keys {
            self.remove_into(delta, key);
        }
        // An order of the turn would count as the newer one.
        if lifetime == Lifetime::Session {
            self.keys.orders(Lifetime::Temporary).into_iter().for_each(|key| self.remove_into(delta, key));
        }
    }

    fn put_into(&self, delta: &mut StateDelta, lifetime: Lifetime, part: Part, skill: &str, value: Value) {
        delta.set(self.keys.key(lifetime, part, skill), value);
        self.remove_into(delta, self.keys.key(lifetime.other(), part, skill));
    }

    pub(super) fn remove_into(&self, delta: &mut StateDelta, key: String) {
        if self.state.has(&key) {
            delta.remove(key);
        }
    }

    /// How long what concerns a skill is to stay. What was loaded for the session is not taken back by a later load for
    /// the turn.
    fn lifetime(&self, skill: &str) -> Lifetime {
        if self.mode == LoadMode::Session || self.is_loaded_for(Lifetime::Session, skill) {
            Lifetime::Session
        } else {
            Lifetime::Temporary
        }
    }

    fn is_loaded_for(&self, lifetime: Lifetime, skill: &str) -> bool {
        self.has_flag_for(lifetime, Part::Loaded, skill)
    }

    fn has_flag(&self, part: Part, skill: &str) -> bool {
        Lifetime::ALL.into_iter().any(|lifetime| self.has_flag_for(lifetime, part, skill))
    }

    fn has_flag_for(&self, lifetime: Lifetime, part: Part, skill: &str) -> bool {
        let value = self.state.get(&self.keys.key(lifetime, part, skill));
        !skill.is_empty() && value.and_then(value::flag) == Some(true)
    }

    fn selection(&self, part: Part, skill: &str) -> Selection {
        let lifetime = self.lifetime(skill);
        let mut values = [lifetime, lifetime.other()].into_iter().filter_map(|lifetime| {
            let value = self.state.get(&self.keys.key(lifetime, part, skill))?;
            value::selection(value)
        });
        values.next().unwrap_or_default()
    }

    /// The loaded skills, the one touched last at the end.
    fn names(&self) -> Vec<String> {
        let mut loaded = BTreeSet::new();
        for lifetime in Lifetime::ALL {
            let prefix = self.keys.prefix(lifetime, Part::Loaded);
            let set = self.state.below(&prefix).filter(|(_, value)| value::flag(value) == Some(true));
            loaded.extend(set.map(|(name, _)| name.trim().to_owned()).filter(|name| !name.is_empty()));
        }
        let mut ordered = self.order();
        ordered.retain(|name| loaded.remove(name));
        loaded.into_iter().chain(ordered).collect()
    }

    /// The order in which skills were touched, each once, the one touched last at the end.
    fn order(&self) -> Vec<String> {
        let keys = Lifetime::ALL.into_iter().flat_map(|lifetime| self.keys.orders(lifetime));
        let all: Vec<String> = keys.filter_map(|key| value::names(self.state.get(&key)?)).flatten().collect();
        last_of_each(all)
    }
}

/// The names without blanks around them, each at the place of its last touch.
pub(super) fn last_of_each(names: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut order = Vec::with_capacity(names.len());
    for name in names.iter().rev().map(|name| name.trim()) {
        if !name.is_empty() && seen.insert(name) {
            order.push(name.to_owned());
        }
    }
    order.reverse();
    order
}
