//! Keeps a [`SystemPrompt`] in the messages of a conversation.
//!
//! [`openai`] and [`anthropic`] put it into the system message that is there, between two lines `<skill_context>` and
//! `</skill_context>`, and replace what stands between them the next time; nothing else is changed. Put in an empty
//! prompt to take it out. What the message says already by itself, told by a line such as `Available skills:` or
//! `[Loaded] name`, is not told again.
//!
//! With [`MessageOptions::tool_results`] what was loaded goes into the results of the calls that loaded it, so that the
//! system message stays the same, byte for byte, and prompt caches keep their worth. When such a result is no longer in
//! the messages, a system message that begins with `Loaded skill context:` tells it instead.
//!
//! ```
//! use serde_json::json;
//! use wskill::prompt::messages::{self, MessageOptions};
//! use wskill::prompt::{Overview, OverviewItem, PromptOptions, SystemPrompt};
//!
//! let overview = Overview::new([OverviewItem {
//!     name: "pdf".into(),
//!     description: "Reads and fills in forms.".into(),
//!     location: "/workspace/skills/pdf/SKILL.md".into(),
//! }]);
//! let options = PromptOptions { protocol: Some(String::new()), ..PromptOptions::default() };
//! let prompt = SystemPrompt::new(&overview, &[], &options);
//! let mut list = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]);
//! for _ in 0..2 {
//!     messages::openai(&mut list, &prompt, &MessageOptions::default())?;
//!     assert_eq!(
//!         list[0]["content"],
//!         "Be brief.\n\n<skill_context>\nAvailable skills:\n- pdf: Reads and fills in forms.\n</skill_context>"
//!     );
//! }
//! messages::openai(&mut list, &SystemPrompt::default(), &MessageOptions::default())?;
//! assert_eq!(list[0]["content"], "Be brief.");
//! # Ok::<(), wskill::prompt::messages::MessagesError>(())
//! ```

mod anthropic;
mod calls;
mod content;
mod openai;
mod section;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use anthropic::anthropic;
pub use openai::openai;

use super::SystemPrompt;
use super::clean::{FALLBACK, LOADED};
use super::system::joined;
use section::wrapped;

/// Where a prompt is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageOptions {
    /// Whether what was loaded goes into the last `skill_load` or `skill_select_docs` result of each skill instead of
    /// the system message. Default: false.
    pub tool_results: bool,
    /// Whether earlier messages were replaced by a summary. Default: false.
    pub has_summary: bool,
    /// Whether a skill whose result is gone is not told again when there is a summary, which is taken to have what
    /// matters of it. Default: true.
    pub skip_fallback_on_summary: bool,
}

impl Default for MessageOptions {
    fn default() -> Self {
        Self { tool_results: false, has_summary: false, skip_fallback_on_summary: true }
    }
}

/// Why a prompt cannot be put into messages. They are unchanged then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessagesError {
    /// The messages, or the request, have another shape.
    #[error("`{field}` is {found}; it has to be {wanted}")]
    Shape {
        /// What was looked at.
        field: &'static str,
        /// What it is.
        found: &'static str,
        /// What it has to be.
        wanted: &'static str,
    },
}

impl MessagesError {
    fn shape(field: &'static str, value: &Value, wanted: &'static str) -> Self {
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        Self::Shape { field, found, wanted }
    }
}

/// What goes where.
struct Plan {
    /// For the system message.
    system: Option<String>,
    /// For tool results, by skill.
    results: BTreeMap<String, String>,
    /// Whether there is a message for what has no result.
    fallback: bool,
}

impl Plan {
    /// Leaves out what the caller's own text says already.
    fn new(prompt: &SystemPrompt, options: &MessageOptions, own_text: &str) -> Self {
        let lines: BTreeSet<&str> = own_text.lines().map(str::trim_end).collect();
        let says = |marker: &str| {
            let is =
                |line: &&str| line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("));
            lines.iter().any(is)
        };
        let general = prompt.general.iter().filter(|part| !part.marker.is_some_and(says));
        let loaded = prompt.loaded.iter().filter(|(name, _)| !lines.contains(format!("{LOADED} {name}").as_str()));
        let (system, results) = if options.tool_results {
            (joined(general), loaded.map(|(name, parts)| (name.clone(), joined(parts))).collect())
        } else {
            (joined(general.chain(loaded.flat_map(|(_, parts)| parts))), BTreeMap::new())
        };
        let system = (!system.is_empty()).then(|| wrapped(&system));
        Self { system, results, fallback: !(options.has_summary && options.skip_fallback_on_summary) }
    }

    /// What goes into the result of a call that loaded a skill.
    fn result(&self, skill: &str) -> Option<String> {
        self.results.get(skill).map(|text| wrapped(text))
    }

    /// What has no result among these.
    fn rest(&self, placed: &BTreeSet<String>) -> Option<String> {
        let rest: Vec<&str> =
            self.results.iter().filter(|(name, _)| !placed.contains(*name)).map(|(_, text)| text.as_str()).collect();
        (self.fallback && !rest.is_empty()).then(|| format!("{FALLBACK}\n{}", wrapped(&rest.join("\n\n"))))
    }
}
