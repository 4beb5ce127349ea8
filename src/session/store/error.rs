//! Why sessions cannot be stored.

use std::path::PathBuf;

/// Why a session cannot be stored, loaded or listed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file or its folder cannot be made or opened.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// With which path.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The file is damaged, or no database. It is left as it is.
    #[error("the session database {path} is damaged ({reason}); nothing was changed: move it away, or restore a copy")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the database says.
        reason: String,
    },
    /// The file is the database of another program, or of a newer wskill. It is left as it is.
    #[error("cannot use the session database {path}: {reason}")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is.
        reason: String,
    },
    /// Another process kept the database busy for too long.
    #[error("the session database {path} is in use by another process that does not let go of it; try again")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The database refused for another reason, such as a full disk.
    #[error("cannot use the session database {path}: {reason}")]
    Database {
        /// The file.
        path: PathBuf,
        /// What the database says.
        reason: String,
    },
    /// For stores of embedders: any other reason.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}
