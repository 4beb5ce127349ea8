//! Why artifacts cannot be saved or loaded.

use std::path::PathBuf;

use super::MAX_MIME_BYTES;
use super::name::ArtifactName;

/// Why an artifact cannot be saved, loaded or deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// It has more bytes than the store takes.
    #[error("the artifact `{name}` has {size} bytes, more than the {limit} that are allowed; save a smaller file")]
    TooLarge {
        /// Its name.
        name: ArtifactName,
        /// Its bytes.
        size: u64,
        /// The bytes that are allowed.
        limit: u64,
    },
    /// The media type is none.
    #[error("the artifact `{name}` needs a media type of at most {MAX_MIME_BYTES} bytes, such as text/plain")]
    MediaType {
        /// Its name.
        name: ArtifactName,
    },
    /// There is no such artifact, or no such version of it.
    #[error("there is no artifact `{name}`{}; {known}", in_version(*version))]
    NotFound {
        /// The name that was asked for.
        name: ArtifactName,
        /// The version that was asked for.
        version: Option<u64>,
        /// What there is, in words.
        known: String,
    },
    /// It is not what was saved.
    #[error("version {version} of the artifact `{name}` is damaged: {reason}; delete it and save it again")]
    Damaged {
        /// Its name.
        name: ArtifactName,
        /// Its version.
        version: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A file or folder of the store cannot be used.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// With which path.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// For stores of embedders: any other reason.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl ArtifactError {
    /// For stores: there is no such version among `versions`, which are those of this name.
    pub fn not_found(name: &ArtifactName, version: Option<u64>, versions: &[u64]) -> Self {
        let known = match versions {
            [] => "nothing was saved under this name".to_owned(),
            [first] => format!("there is version {first}"),
            [first, .., last] => format!("there are {} versions from {first} to {last}", versions.len()),
        };
        Self::NotFound { name: name.clone(), version, known }
    }
}

fn in_version(version: Option<u64>) -> String {
    version.map(|version| format!(" in version {version}")).unwrap_or_default()
}
