//! Artifacts in a folder.

mod disk;
mod encode;
mod version;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use super::{Artifact, ArtifactError, ArtifactName, ArtifactStore, MAX_ARTIFACT_BYTES, SessionKey, check};
use disk::Disk;

/// Keeps artifacts in a folder, which many processes may use at once.
///
/// A version is a folder with the content and a small JSON file: media type, size, digest, time. It appears in one
/// step when it is written, so that a process which is killed leaves no half of one; after a loss of power the last
/// versions may be missing, and what is there is whole. Content that is not what was saved any more is an error. No name
/// and no link in the folder leads out of it.
#[derive(Clone, Debug)]
pub struct FolderArtifacts {
    disk: Arc<Disk>,
    path: PathBuf,
    limit: u64,
}

impl FolderArtifacts {
    /// Opens a folder, and makes it when it is not there, for its owner alone.
    ///
    /// # Errors
    ///
    /// [`ArtifactError::Io`] when it cannot be made or opened.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, ArtifactError> {
        let path = folder.as_ref().to_owned();
        Ok(Self { disk: Arc::new(Disk::open(&path)?), path, limit: MAX_ARTIFACT_BYTES })
    }

    /// Saves and loads artifacts of at most `bytes` bytes. Default: [`MAX_ARTIFACT_BYTES`].
    #[must_use]
    pub fn with_limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.path
    }

    /// Runs something that blocks.
    async fn with_disk<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Disk) -> Result<T, ArtifactError> + Send + 'static,
    ) -> Result<T, ArtifactError> {
        let disk = Arc::clone(&self.disk);
        let done = tokio::task::spawn_blocking(move || run(&disk)).await;
        done.unwrap_or_else(|error| {
            Err(ArtifactError::Io { action: "use", path: self.path.clone(), source: io::Error::other(error) })
        })
    }
}

#[async_trait]
impl ArtifactStore for FolderArtifacts {
    async fn save(
        &self,
        session: &SessionKey,
        name: &ArtifactName,
        bytes: Vec<u8>,
        mime: &str,
    ) -> Result<u64, ArtifactError> {
        check(name, &bytes, mime, self.limit)?;
        let (session, name, mime) = (session.clone(), name.clone(), mime.to_owned());
        self.with_disk(move |disk| disk.save(&session, &name, &bytes, &mime)).await
    }

    async fn load(
        &self,
        session: &SessionKey,
        name: &ArtifactName,
        version: Option<u64>,
    ) -> Result<Artifact, ArtifactError> {
        let (session, name, limit) = (session.clone(), name.clone(), self.limit);
        self.with_disk(move |disk| disk.load(&session, &name, version, limit)).await
    }

    async fn names(&self, session: &SessionKey) -> Result<Vec<ArtifactName>, ArtifactError> {
        let session = session.clone();
        self.with_disk(move |disk| disk.names(&session)).await
    }

    async fn versions(&self, session: &SessionKey, name: &ArtifactName) -> Result<Vec<u64>, ArtifactError> {
        let (session, name) = (session.clone(), name.clone());
        self.with_disk(move |disk| disk.versions(&session, &name)).await
    }

    async fn delete(&self, session: &SessionKey, name: &ArtifactName) -> Result<bool, ArtifactError> {
        let (session, name) = (session.clone(), name.clone());
        self.with_disk(move |disk| disk.delete(&session, &name)).await
    }

    async fn delete_session(&self, session: &SessionKey) -> Result<bool, ArtifactError> {
        let session = session.clone();
        self.with_disk(move |disk| disk.delete_session(&session)).await
    }
}
