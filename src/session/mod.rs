//! One conversation: which skills, documents and tools are loaded, and its workspace.
//!
//! [`Sessions`] opens sessions by key and finds them again after a restart; a [`Session`] is what tools work on.
//! [`state`] says what is loaded, as the keys that other agent frameworks use; it is pure. [`store`] keeps the state of
//! many sessions, in memory or in a file.

mod error;
mod live;
mod prompt;
mod registry;
pub mod state;
pub mod store;

pub use crate::artifact::SessionKey;
pub use error::SessionError;
pub use live::Session;
pub use prompt::MessageShape;
pub use registry::{Sessions, SessionsBuilder};
