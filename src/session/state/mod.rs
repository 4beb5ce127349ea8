//! What a conversation has loaded: a map of keys and JSON values, with typed views of it.
//!
//! The keys are those of trpc-agent-go and -python, so that a session of theirs can go on here: a skill `pdf` that the
//! agent `writer` loaded is `temp:skill:loaded_by_agent:writer/pdf` = `"1"`. Nothing here changes a [`State`] in place:
//! every operation answers with a [`StateDelta`], which the caller stores and merges with [`State::apply`].
//!
//! ```
//! use wskill::session::state::{LoadMode, Selection, SelectMode, State};
//!
//! let mut state = State::default();
//! let delta = state.skills("", LoadMode::Turn).load("pdf", &Selection::of(["forms.md"]), &Selection::None);
//! assert_eq!(
//!     serde_json::to_string(&delta)?,
//!     r#"{"temp:skill:docs:pdf":["forms.md"],"temp:skill:loaded:pdf":"1","temp:skill:loaded_order:":["pdf"]}"#
//! );
//! state.apply(&delta);
//!
//! let skills = state.skills("", LoadMode::Turn);
//! let (selected, delta) = skills.select_docs("pdf", SelectMode::Add, &["a.md".into()], false);
//! assert_eq!(selected, Selection::of(["forms.md", "a.md"]));
//! state.apply(&delta);
//!
//! // The next turn begins with nothing loaded.
//! let delta = state.skills("", LoadMode::Turn).begin_turn();
//! state.apply(&delta);
//! assert!(state.is_empty());
//! # Ok::<(), serde_json::Error>(())
//! ```

mod artifacts;
mod declared;
mod delta;
mod keys;
mod migrate;
mod selection;
mod skills;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
mod turn;
mod value;

pub use artifacts::CallArtifacts;
pub use declared::{DeclaredError, KnownSkill, LoadRequest};
pub use delta::{State, StateDelta};
pub use selection::{SelectMode, Selection};
pub use skills::{Loaded, Skills};
pub use turn::LoadMode;
pub use value::StateWarning;
