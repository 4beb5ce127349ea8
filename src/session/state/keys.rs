//! The names of the keys.

use std::fmt::Write as _;

/// What the keys begin with whose content ends with the turn.
const TEMPORARY: &str = "temp:";
/// Set when the loads that the caller declared were applied in this turn.
const DECLARED: &str = "processor:skills:requested_loads_applied";
/// Set when the keys without agent were given to agents.
pub const MIGRATED: &str = "processor:skills:legacy_migrated";
/// The artifacts of the last call.
pub const ARTIFACTS: &str = "temp:skill:artifacts";
/// trpc-agent-python writes the order of an agent without name under this name too.
const ORDER_OF_PYTHON: &str = "skill:loaded_order";

/// How long something stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// To the end of the turn, or of the prompt.
    Temporary,
    /// As long as the session.
    Session,
}

impl Lifetime {
    pub const ALL: [Self; 2] = [Self::Session, Self::Temporary];

    pub fn other(self) -> Self {
        match self {
            Self::Temporary => Self::Session,
            Self::Session => Self::Temporary,
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::Temporary => TEMPORARY,
            Self::Session => "",
        }
    }
}

/// What is kept of each skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// That it is loaded.
    Loaded,
    /// Which documents are selected.
    Documents,
    /// Which tools are selected.
    Tools,
    /// That its body is in the conversation, and so not in the prompt. A key of this project's own.
    InConversation,
}

impl Part {
    pub const ALL: [Self; 4] = [Self::Loaded, Self::Documents, Self::Tools, Self::InConversation];

    fn name(self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::Documents => "docs",
            Self::Tools => "tools",
            Self::InConversation => "in_conversation",
        }
    }
}

/// The keys of one agent.
#[derive(Clone, Debug)]
pub struct Keys {
    /// As it is in keys; empty for the keys without agent.
    agent: String,
}

impl Keys {
    pub fn of(agent: &str) -> Self {
        Self { agent: escaped(agent.trim()) }
    }

    pub fn has_agent(&self) -> bool {
        !self.agent.is_empty()
    }

    /// What the keys of a part begin with; the skill's name follows.
    pub fn prefix(&self, lifetime: Lifetime, part: Part) -> String {
        let (temporary, part, agent) = (lifetime.prefix(), part.name(), &self.agent);
        if agent.is_empty() {
            format!("{temporary}skill:{part}:")
        } else {
            format!("{temporary}skill:{part}_by_agent:{agent}/")
        }
    }

    pub fn key(&self, lifetime: Lifetime, part: Part, skill: &str) -> String {
        self.prefix(lifetime, part) + skill
    }

    /// The order in which skills were touched. The first is the one that is written.
    pub fn orders(&self, lifetime: Lifetime) -> Vec<String> {
        let (temporary, agent) = (lifetime.prefix(), &self.agent);
        if agent.is_empty() {
            vec![format!("{temporary}skill:loaded_order:"), format!("{temporary}{ORDER_OF_PYTHON}")]
        } else {
            vec![format!("{temporary}skill:loaded_order_by_agent:{agent}")]
        }
    }

    /// Set when the loads that the caller declared were applied in this turn.
    pub fn declared(&self) -> String {
        if self.agent.is_empty() { DECLARED.to_owned() } else { format!("{DECLARED}:{}", self.agent) }
    }
}

/// An agent's name with a `/` is escaped as in URLs.
///
/// Decision: one with a `%` is escaped too, so that no two names are one key.
fn escaped(agent: &str) -> String {
    if !agent.contains(['/', '%']) {
        return agent.to_owned();
    }
    let mut escaped = String::with_capacity(agent.len() + 8);
    for byte in agent.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_both_seeds() {
        use Lifetime::{Session, Temporary};
        for (agent, lifetime, part, key) in [
            ("", Temporary, Part::Loaded, "temp:skill:loaded:demo"),
            ("", Temporary, Part::Documents, "temp:skill:docs:demo"),
            ("", Temporary, Part::Tools, "temp:skill:tools:demo"),
            ("", Session, Part::Loaded, "skill:loaded:demo"),
            ("a", Temporary, Part::Loaded, "temp:skill:loaded_by_agent:a/demo"),
            (" a ", Temporary, Part::Documents, "temp:skill:docs_by_agent:a/demo"),
            ("agent/a", Temporary, Part::Tools, "temp:skill:tools_by_agent:agent%2Fa/demo"),
            ("agent/a", Session, Part::Loaded, "skill:loaded_by_agent:agent%2Fa/demo"),
            ("a b", Temporary, Part::Loaded, "temp:skill:loaded_by_agent:a b/demo"),
            ("a/ü b", Temporary, Part::Loaded, "temp:skill:loaded_by_agent:a%2F%C3%BC%20b/demo"),
            ("a%2Fb", Temporary, Part::Loaded, "temp:skill:loaded_by_agent:a%252Fb/demo"),
        ] {
            assert_eq!(Keys::of(agent).key(lifetime, part, "demo"), key);
        }
    }

    #[test]
    fn keys_of_the_order() {
        assert_eq!(Keys::of("").orders(Lifetime::Temporary), ["temp:skill:loaded_order:", "temp:skill:loaded_order"]);
        assert_eq!(Keys::of("x/y").orders(Lifetime::Temporary), ["temp:skill:loaded_order_by_agent:x%2Fy"]);
        assert_eq!(Keys::of("x").orders(Lifetime::Session), ["skill:loaded_order_by_agent:x"]);
        assert_eq!(Keys::of("").declared(), "processor:skills:requested_loads_applied");
        assert_eq!(Keys::of("x").declared(), "processor:skills:requested_loads_applied:x");
    }
}
