//! How long loads stay.

use super::delta::StateDelta;
use super::keys::{ARTIFACTS, Lifetime, Part};
use super::skills::Skills;

/// How long what an agent loads stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadMode {
    /// For one prompt.
    Once,
    /// To the end of the turn, that is of the work on one message of the user. The default.
    #[default]
    Turn,
    /// As long as the session.
    Session,
}

impl LoadMode {
    /// Reads `once`, `turn` or `session`, in any case.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "once" => Some(Self::Once),
            "turn" => Some(Self::Turn),
            "session" => Some(Self::Session),
            _ => None,
        }
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Turn => "turn",
            Self::Session => "session",
        }
    }
}

impl Skills<'_> {
    /// Begins a turn: what was loaded and selected for the last one is gone, and so are the artifacts of its last call;
    /// loads that the caller declares are applied again. With [`LoadMode::Session`] loads stay.
    pub fn begin_turn(&self) -> StateDelta {
        let mut delta = StateDelta::default();
        if self.mode != LoadMode::Session {
            self.clear_into(&mut delta);
        }
        self.remove_into(&mut delta, self.keys.declared());
        self.remove_into(&mut delta, ARTIFACTS.to_owned());
        delta
    }

    /// Ends a prompt, that is when the text for one request to the model is made: with [`LoadMode::Once`] what was
    /// loaded for it is gone.
    pub fn end_prompt(&self) -> StateDelta {
        let mut delta = StateDelta::default();
        if self.mode == LoadMode::Once {
            self.clear_into(&mut delta);
        }
        delta
    }

    fn clear_into(&self, delta: &mut StateDelta) {
        for part in Part::ALL {
            let prefix = self.keys.prefix(Lifetime::Temporary, part);
            self.state.below(&prefix).for_each(|(name, _)| delta.remove(format!("{prefix}{name}")));
        }
        for key in self.keys.orders(Lifetime::Temporary) {
            self.remove_into(delta, key);
        }
    }
}
