//! The map itself, and changes of it.

use std::collections::BTreeMap;
use std::ops::Bound;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The state of a session: keys and JSON values. Serialises to a JSON object.
///
/// A value `null` is as good as no value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct State {
    entries: BTreeMap<String, Value>,
}

impl State {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.get(key).filter(|value| !value.is_null())
    }

    /// All keys with their values, sorted.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Merges a change.
    pub fn apply(&mut self, delta: &StateDelta) {
        for (key, change) in &delta.changes {
            match change {
                Some(value) => self.entries.insert(key.clone(), value.clone()),
                None => self.entries.remove(key),
            };
        }
    }

    /// Whether there is anything under a key, `null` too.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// What follows `prefix` in the keys that begin with it, with the values.
    pub(super) fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let entries = self.entries.range::<str, _>(from);
        let entries = entries.map_while(move |(key, value)| Some((key.strip_prefix(prefix)?, value)));
        entries.filter(|(_, value)| !value.is_null())
    }
}

impl FromIterator<(String, Value)> for State {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(entries: I) -> Self {
        Self { entries: entries.into_iter().collect() }
    }
}

/// A change of a [`State`]: keys with their new values, or without one for keys that go. Serialises to a JSON object
/// in which `null` means that the key goes.
///
/// ```
/// use wskill::session::state::{State, StateDelta};
///
/// let delta: StateDelta = serde_json::from_str(r#"{"a": 1, "b": null}"#)?;
/// let mut state: State = serde_json::from_str(r#"{"b": 2, "c": 3}"#)?;
/// state.apply(&delta);
/// assert_eq!(serde_json::to_string(&state)?, r#"{"a":1,"c":3}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StateDelta {
    changes: BTreeMap<String, Option<Value>>,
}

impl StateDelta {
    /// Sets a key; with `null` the key goes.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        let value = value.into();
        self.changes.insert(key.into(), Some(value).filter(|value| !value.is_null()));
    }

    /// Removes a key.
    pub fn remove(&mut self, key: impl Into<String>) {
        self.changes.insert(key.into(), None);
    }

    /// Adds a change that comes after this one and so wins.
    pub fn merge(&mut self, later: Self) {
        self.changes.extend(later.changes);
    }

    /// The keys that change, sorted, with their new values.
    pub fn changes(&self) -> impl Iterator<Item = (&str, Option<&Value>)> {
        self.changes.iter().map(|(key, change)| (key.as_str(), change.as_ref()))
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}
