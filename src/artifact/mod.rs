//! Versioned outputs that outlive a run.
//!
//! An artifact has a name (`out/report.pdf`) in a session, and versions: 0, 1, 2, … in the order in which they were
//! saved. A version never changes. [`ArtifactRef`] is how models and tools write one down:
//! `artifact://out/report.pdf@1`.
//! [`FolderArtifacts`] keeps them in a folder, [`MemoryArtifacts`] in memory, and an embedder's own [`ArtifactStore`]
//! anywhere else.
//!
//! ```
//! use wskill::artifact::{ArtifactName, ArtifactRef, ArtifactStore, MemoryArtifacts, SessionKey};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let store = MemoryArtifacts::default();
//! let session = SessionKey::new("shop", "anna", "s-1")?;
//! let name = ArtifactName::new("out/report.txt")?;
//! let version = store.save(&session, &name, b"42".to_vec(), "text/plain").await?;
//! assert_eq!(ArtifactRef::at(name.clone(), version).to_string(), "artifact://out/report.txt@0");
//! assert_eq!(store.load(&session, &name, None).await?.bytes, b"42");
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(example())
//! # .map_err(|error| std::io::Error::other(error.to_string()))?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod error;
mod folder;
mod key;
mod memory;
mod name;
mod reference;

use std::fmt;

use async_trait::async_trait;

pub use error::ArtifactError;
pub use folder::FolderArtifacts;
pub use key::{SessionKey, SessionKeyError};
pub use memory::MemoryArtifacts;
pub use name::{ArtifactName, NameError};
pub use reference::{ArtifactRef, RefError, SavedArtifact};

/// Bytes of one artifact that a store takes by default: 64 MiB, as much as one call may collect.
pub const MAX_ARTIFACT_BYTES: u64 = 64 << 20;

/// Bytes of a media type: twice what RFC 6838, section 4.2, allows for both of its names, for parameters.
const MAX_MIME_BYTES: usize = 512;

/// One version of an artifact.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// The content.
    pub bytes: Vec<u8>,
    /// The media type that it was saved with.
    pub mime: String,
    /// The version, from 0.
    pub version: u64,
}

impl Artifact {
    /// A version, for stores.
    pub fn new(bytes: Vec<u8>, mime: impl Into<String>, version: u64) -> Self {
        Self { bytes, mime: mime.into(), version }
    }
}

impl fmt::Debug for Artifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, mime, version } = self;
        f.debug_struct("Artifact")
            .field("bytes", &bytes.len())
            .field("mime", mime)
            .field("version", version)
            .finish_non_exhaustive()
    }
}

/// Where artifacts are kept. All methods may be called at once, from many tasks and for folders from many processes.
#[async_trait]
pub trait ArtifactStore: fmt::Debug + Send + Sync {
    /// Saves a new version and answers with its number: 0 for the first, and one more than the highest for each other.
    /// When this returns the version is there for all; when it fails, or the process ends before, there is none.
    ///
    /// # Errors
    ///
    /// [`ArtifactError::TooLarge`] and [`ArtifactError::MediaType`] for what the store does not take, else those of
    /// the place where it is kept.
    async fn save(
        &self,
        session: &SessionKey,
        name: &ArtifactName,
        bytes: Vec<u8>,
        mime: &str,
    ) -> Result<u64, ArtifactError>;

    /// Loads a version, or without one the highest.
    ///
    /// # Errors
    ///
    /// [`ArtifactError::NotFound`] when there is none, [`ArtifactError::Damaged`] when it is not what was saved.
    async fn load(
        &self,
        session: &SessionKey,
        name: &ArtifactName,
        version: Option<u64>,
    ) -> Result<Artifact, ArtifactError>;

    /// The names of the artifacts of a session, sorted.
    ///
    /// # Errors
    ///
    /// Those of the place where they are kept.
    async fn names(&self, session: &SessionKey) -> Result<Vec<ArtifactName>, ArtifactError>;

    /// The versions of an artifact, sorted; none when there is no such artifact.
    ///
    /// # Errors
    ///
    /// Those of the place where it is kept.
    async fn versions(&self, session: &SessionKey, name: &ArtifactName) -> Result<Vec<u64>, ArtifactError>;

    /// Deletes all versions of an artifact. Answers whether there were any. The next version is 0 again.
    ///
    /// # Errors
    ///
    /// Those of the place where it is kept.
    async fn delete(&self, session: &SessionKey, name: &ArtifactName) -> Result<bool, ArtifactError>;

    /// Deletes all artifacts of a session. Answers whether there were any.
    ///
    /// # Errors
    ///
    /// Those of the place where they are kept.
    async fn delete_session(&self, session: &SessionKey) -> Result<bool, ArtifactError>;
}

/// Refuses what no store takes.
fn check(name: &ArtifactName, bytes: &[u8], mime: &str, limit: u64) -> Result<(), ArtifactError> {
    let size = bytes.len() as u64;
    if size > limit {
        return Err(ArtifactError::TooLarge { name: name.clone(), size, limit });
    }
    if mime.is_empty() || mime.len() > MAX_MIME_BYTES || mime.chars().any(char::is_control) {
        return Err(ArtifactError::MediaType { name: name.clone() });
    }
    Ok(())
}
