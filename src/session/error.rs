//! What can go wrong with sessions.

use super::state::DeclaredError;
use super::store::StoreError;
use crate::artifact::{ArtifactError, NameError, SessionKey};
use crate::executor::ExecutorError;
use crate::policy::TrustError;
use crate::repository::RepositoryError;
use crate::source::SourceError;

/// Why a session cannot be opened or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// There is one of this key already.
    #[error("there is a session `{0}` already")]
    Exists(SessionKey),
    /// Its state cannot be read or kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its workspace fails.
    #[error(transparent)]
    Executor(#[from] ExecutorError),
    /// There is no such skill.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The files of a skill cannot be read for its digest.
    #[error("the skill `{skill}` cannot be staged: {source}")]
    Digest {
        /// The skill.
        skill: String,
        /// Why.
        source: SourceError,
    },
    /// A skill that is not trusted.
    #[error("{0}; look at it, then `wskill trust` it")]
    Untrusted(String),
    /// What is trusted cannot be looked up.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// A name that no artifact can have.
    #[error(transparent)]
    ArtifactName(#[from] NameError),
    /// An artifact cannot be saved or loaded.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// Loads that the caller declared cannot be made.
    #[error(transparent)]
    Declared(#[from] DeclaredError),
}
