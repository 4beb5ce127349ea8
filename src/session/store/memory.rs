//! Sessions in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use async_trait::async_trait;

use super::{SessionFilter, SessionInfo, SessionKey, SessionStore, SessionUpdate, StoreError, StoredSession};
use crate::session::state::{State, StateDelta};

/// Keeps sessions in memory, as long as it lives.
#[derive(Debug, Default)]
pub struct MemoryStore {
    sessions: Mutex<BTreeMap<SessionKey, (State, SessionInfo)>>,
}

impl MemoryStore {
    fn sessions(&self) -> MutexGuard<'_, BTreeMap<SessionKey, (State, SessionInfo)>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, key: &SessionKey, change: impl FnOnce(&mut State, &mut SessionInfo)) {
        let now = super::milliseconds::now();
        let mut sessions = self.sessions();
        let (state, info) =
            sessions.entry(key.clone()).or_insert_with(|| (State::default(), SessionInfo::new(key.clone(), now)));
        change(state, info);
        info.updated = SystemTime::max(info.updated, now);
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn load(&self, key: &SessionKey) -> Result<StoredSession, StoreError> {
        let found = self.sessions().get(key).cloned();
        Ok(found.map(|(state, info)| StoredSession::new(state, info)).unwrap_or_default())
    }

    async fn apply(&self, key: &SessionKey, delta: &StateDelta) -> Result<(), StoreError> {
        self.change(key, |state, _| state.apply(delta));
        Ok(())
    }

    async fn update(&self, key: &SessionKey, update: &SessionUpdate) -> Result<(), StoreError> {
        let SessionUpdate { workspace, title } = update.clone();
        self.change(key, |_, info| {
            info.workspace = workspace.or(info.workspace.take());
            info.title = title.or(info.title.take());
        });
        Ok(())
    }

    async fn list(&self, filter: &SessionFilter) -> Result<Vec<SessionInfo>, StoreError> {
        let sessions = self.sessions();
        let infos = sessions.values().map(|(_, info)| info);
        Ok(infos.filter(|info| filter.matches(&info.key)).cloned().collect())
    }

    async fn delete(&self, key: &SessionKey) -> Result<bool, StoreError> {
        Ok(self.sessions().remove(key).is_some())
    }
}
