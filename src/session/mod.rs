//! One conversation: which skills, documents and tools are loaded, and where that is kept.
//!
//! [`state`] says what is loaded, as the keys that other agent frameworks use; it is pure. [`store`] keeps the state of
//! many sessions, in memory or in a file.

pub mod state;
pub mod store;
