//! Keys of sessions that knew no agents.

use std::collections::BTreeMap;

use super::delta::StateDelta;
use super::keys::{Keys, Lifetime, MIGRATED, Part};
use super::skills::{Skills, last_of_each};
use super::value;

impl Skills<'_> {
    /// Gives keys without agent to agents, once in a session: a skill's to its owner in `owners` (by the skill's name,
    /// as the conversation tells who loaded it), else to this agent. What an agent has already stays as it is. An agent
    /// without name has nothing to migrate.
    pub fn migrate(&self, owners: &BTreeMap<String, String>) -> StateDelta {
        let mut delta = StateDelta::default();
        if !self.keys.has_agent() || self.state.get(MIGRATED).is_some() {
            return delta;
        }
        delta.set(MIGRATED, true);
        let former = Keys::of("");
        let owner = |skill: &str| {
            let owner = owners.get(skill).map(|agent| Keys::of(agent)).filter(Keys::has_agent);
            owner.unwrap_or_else(|| self.keys.clone())
        };
        for lifetime in Lifetime::ALL {
            for part in Part::ALL {
                let prefix = former.prefix(lifetime, part);
                // A `:` is in no name of a skill; such a key is somebody else's.
                for (name, value) in self.state.below(&prefix).filter(|(name, _)| !name.contains(':')) {
                    let skill = name.trim();
                    if skill.is_empty() {
                        continue;
                    }
                    let key = owner(skill).key(lifetime, part, skill);
                    if self.state.get(&key).is_none() {
                        delta.set(key, value.clone());
                    }
                    delta.remove(format!("{prefix}{name}"));
                }
            }
            let keys = former.orders(lifetime);
            let order = keys.iter().filter_map(|key| value::names(self.state.get(key)?)).flatten().collect();
            let mut by_owner: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for skill in last_of_each(order) {
                by_owner.entry(owner(&skill).orders(lifetime).swap_remove(0)).or_default().push(skill);
            }
            for (key, mut order) in by_owner {
                // What the agent touched under its own name is newer.
                order.extend(self.state.get(&key).and_then(value::names).unwrap_or_default());
                delta.set(key, last_of_each(order));
            }
            keys.into_iter().for_each(|key| self.remove_into(&mut delta, key));
        }
        delta
    }
}
