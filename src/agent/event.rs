//! What a run tells while it goes on.

use std::time::Duration;

use serde_json::Value;

use super::Usage;

/// Something that happened in a run. Texts come from the model and its tools: they have no secret of the settings, but
/// may have control characters, which a terminal should not be given as they are.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The model is asked.
    Step {
        /// Which request of this run it is, from 1.
        step: u32,
    },
    /// A piece of the answer.
    Text(&'a str),
    /// A piece of what the model thinks, where the server shows it. It is no part of the answer.
    Reasoning(&'a str),
    /// The model is asked again after a failure.
    Retry {
        /// Which retry it is, from 1.
        retry: u32,
        /// How long it is waited before.
        delay: Duration,
        /// What had failed.
        reason: &'a str,
    },
    /// What an answer cost, when the server says so.
    Usage(Usage),
    /// A tool is called.
    ToolBegin {
        /// The call's id.
        id: &'a str,
        /// The tool's name as the model gave it.
        name: &'a str,
        /// Its arguments; null when they are no JSON object.
        arguments: &'a Value,
    },
    /// A tool has ended. Calls of one answer run at once and end in any order.
    ToolEnd {
        /// The call's id.
        id: &'a str,
        /// The tool's name.
        name: &'a str,
        /// How long it took.
        duration: Duration,
        /// Whether it gave an error.
        is_error: bool,
        /// The beginning of its result, on one line, at most 120 characters.
        summary: &'a str,
    },
    /// The run ends because the model was asked as often as is allowed, and still wants to call tools.
    StepLimit {
        /// How often it is allowed.
        max_steps: u32,
    },
    /// The run ends because it was cancelled.
    Cancelled,
}

/// What is told of events. It is called while the run waits for it, so it should be quick.
pub type OnEvent<'a> = &'a (dyn Fn(Event<'_>) + Send + Sync);
