//! Artifacts in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::{Artifact, ArtifactError, ArtifactName, ArtifactStore, MAX_ARTIFACT_BYTES, SessionKey, check};

/// The versions of each artifact of a session.
type Names = BTreeMap<ArtifactName, Vec<Artifact>>;

/// Keeps artifacts in memory, as long as it lives. For tests, and for hosts without a disk, which
/// [`delete`](ArtifactStore::delete_session) the artifacts of sessions that ended.
pub struct MemoryArtifacts {
    limit: u64,
    sessions: Mutex<BTreeMap<SessionKey, Names>>,
}

impl Default for MemoryArtifacts {
    fn default() -> Self {
        Self { limit: MAX_ARTIFACT_BYTES, sessions: Mutex::default() }
    }
}

impl MemoryArtifacts {
    /// Takes artifacts of at most `bytes` bytes. Default: [`MAX_ARTIFACT_BYTES`].
    #[must_use]
    pub fn with_limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<SessionKey, Names>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MemoryArtifacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryArtifacts").field("limit", &self.limit).finish_non_exhaustive()
    }
}

#[async_trait]
impl ArtifactStore for MemoryArtifacts {
    async fn save(
        &self,
        session: &SessionKey,
        name: &ArtifactName,
        bytes: Vec<u8>,
        mime: &str,
    ) -> Result<u64, ArtifactError> {
        check(name, &bytes, mime, self.limit)?;
        let mut sessions = self.sessions();
        let versions = sessions.entry(session.clone()).or_default().entry(name.clone()).or_default();
        let version = versions.len() as u64;
        versions.push(Artifact::new(bytes, mime, version));
        Ok(version)
    }

    async fn load(
        &self,
        session: &SessionKey,
        name: &ArtifactName,
        version: Option<u64>,
    ) -> Result<Artifact, ArtifactError> {
        let sessions = self.sessions();
        let versions = sessions.get(session).and_then(|names| names.get(name)).map_or(&[][..], Vec::as_slice);
        let found = match version {
            None => versions.last(),
            Some(version) => usize::try_from(version).ok().and_then(|version| versions.get(version)),
        };
        found.cloned().ok_or_else(|| {
            let known: Vec<u64> = versions.iter().map(|artifact| artifact.version).collect();
            ArtifactError::not_found(name, version, &known)
        })
    }

    async fn names(&self, session: &SessionKey) -> Result<Vec<ArtifactName>, ArtifactError> {
        Ok(self.sessions().get(session).map(|names| names.keys().cloned().collect()).unwrap_or_default())
    }

    async fn versions(&self, session: &SessionKey, name: &ArtifactName) -> Result<Vec<u64>, ArtifactError> {
        let sessions = self.sessions();
        let versions = sessions.get(session).and_then(|names| names.get(name));
        Ok(versions.into_iter().flatten().map(|artifact| artifact.version).collect())
    }

    async fn delete(&self, session: &SessionKey, name: &ArtifactName) -> Result<bool, ArtifactError> {
        let mut sessions = self.sessions();
        let Some(names) = sessions.get_mut(session) else { return Ok(false) };
        let deleted = names.remove(name).is_some();
        if names.is_empty() {
            sessions.remove(session);
        }
        Ok(deleted)
    }

    async fn delete_session(&self, session: &SessionKey) -> Result<bool, ArtifactError> {
        Ok(self.sessions().remove(session).is_some())
    }
}
