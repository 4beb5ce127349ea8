//! The artifacts of the last call.

use serde::{Deserialize, Serialize};

use super::delta::{State, StateDelta};
use super::keys::ARTIFACTS;
use crate::artifact::SavedArtifact;

/// Which artifacts a call of a tool saved, under the key `temp:skill:artifacts`, for whoever replays the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallArtifacts {
    /// The call, as the model named it.
    pub tool_call_id: String,
    /// What it saved, in the order in which it was saved.
    pub artifacts: Vec<SavedArtifact>,
}

impl CallArtifacts {
    /// The change that makes these the artifacts of the last call.
    pub fn delta(&self) -> StateDelta {
        let mut delta = StateDelta::default();
        delta.set(ARTIFACTS, serde_json::to_value(self).unwrap_or_default());
        delta
    }
}

impl State {
    /// The artifacts of the last call, when it saved any.
    pub fn call_artifacts(&self) -> Option<CallArtifacts> {
        let value = self.get(ARTIFACTS)?;
        match value.as_str() {
            Some(text) => serde_json::from_str(text).ok(),
            None => CallArtifacts::deserialize(value).ok(),
        }
    }
}
