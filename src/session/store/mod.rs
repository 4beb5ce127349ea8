//! Where the states of sessions are kept.
//!
//! A [`SessionStore`] keeps the [`State`] of each session and a few facts about it. Changes are merged key by key, each
//! change as a whole: of two processes that change one session at once, the later one wins for the keys that both
//! change, and nothing else is lost. [`MemoryStore`] lives as long as the process, [`SqliteStore`] in a file.
//!
//! ```
//! use wskill::session::state::{LoadMode, Selection};
//! use wskill::session::store::{MemoryStore, SessionKey, SessionStore};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let store = MemoryStore::default();
//! let key = SessionKey::new("shop", "anna", "s-1")?;
//! let mut session = store.load(&key).await?;
//! let delta = session.state.skills("", LoadMode::Turn).load("pdf", &Selection::All, &Selection::None);
//! store.apply(&key, &delta).await?;
//! session.state.apply(&delta);
//! assert_eq!(store.load(&key).await?.state, session.state);
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(example())
//! # .map_err(|error| std::io::Error::other(error.to_string()))?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod error;
mod memory;
mod milliseconds;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::fmt;
use std::time::SystemTime;

use async_trait::async_trait;

pub use crate::artifact::{SessionKey, SessionKeyError};
pub use error::StoreError;
pub use memory::MemoryStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;

use super::state::{State, StateDelta};

/// What a store knows of a session.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StoredSession {
    /// What is loaded; empty for a session that was never stored.
    pub state: State,
    /// Facts about it; nothing for a session that was never stored.
    pub info: Option<SessionInfo>,
}

impl StoredSession {
    /// A session, for stores.
    pub fn new(state: State, info: SessionInfo) -> Self {
        Self { state, info: Some(info) }
    }
}

/// Facts about a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionInfo {
    /// Whose it is.
    pub key: SessionKey,
    /// When it was first stored, to the millisecond.
    pub created: SystemTime,
    /// When it was changed last, to the millisecond.
    pub updated: SystemTime,
    /// Its workspace, as whoever manages workspaces names it.
    pub workspace: Option<String>,
    /// What people call it.
    pub title: Option<String>,
}

impl SessionInfo {
    /// A session that is new at `now`, for stores.
    pub fn new(key: SessionKey, now: SystemTime) -> Self {
        Self { key, created: now, updated: now, workspace: None, title: None }
    }
}

/// Facts about a session that change; what is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionUpdate {
    /// Its workspace.
    pub workspace: Option<String>,
    /// What people call it.
    pub title: Option<String>,
}

/// Which sessions are meant; the default means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Those of this app.
    pub app: Option<String>,
    /// Those of this user.
    pub user: Option<String>,
    /// Those whose own names begin with this.
    pub prefix: String,
}

impl SessionFilter {
    /// Whether a session is meant.
    pub fn matches(&self, key: &SessionKey) -> bool {
        self.app.as_deref().is_none_or(|app| app == key.app())
            && self.user.as_deref().is_none_or(|user| user == key.user())
            && key.session().starts_with(&self.prefix)
    }
}

/// Where the states of sessions are kept. All methods may be called at once; each either does all of what it is for or
/// nothing, even when the process is killed.
#[async_trait]
pub trait SessionStore: fmt::Debug + Send + Sync {
    /// Loads a session. One that was never stored is empty.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    async fn load(&self, key: &SessionKey) -> Result<StoredSession, StoreError>;

    /// Merges a change into the state of a session, which is stored with it when it was not before.
    ///
    /// # Errors
    ///
    /// When the store cannot be written.
    async fn apply(&self, key: &SessionKey, delta: &StateDelta) -> Result<(), StoreError>;

    /// Changes facts about a session, which is stored with them when it was not before.
    ///
    /// # Errors
    ///
    /// When the store cannot be written.
    async fn update(&self, key: &SessionKey, update: &SessionUpdate) -> Result<(), StoreError>;

    /// The sessions that a filter means, sorted by app, user and name.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    async fn list(&self, filter: &SessionFilter) -> Result<Vec<SessionInfo>, StoreError>;

    /// Deletes a session. Answers whether it was stored.
    ///
    /// # Errors
    ///
    /// When the store cannot be written.
    async fn delete(&self, key: &SessionKey) -> Result<bool, StoreError>;
}
