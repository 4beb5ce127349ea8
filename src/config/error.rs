//! What can be wrong with a configuration.

use std::io;
use std::path::PathBuf;

/// Why the configuration cannot be used. A file that is wrong is never used in part: what it forbids might be lost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        #[source]
        error: io::Error,
    },
    /// The file is no TOML.
    #[error("{}:{line}: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u32,
        /// What the parser says.
        message: String,
    },
    /// A key that does not exist.
    #[error("{}:{line}: `{key}` is unknown{}; known are {}", path.display(), meant(nearest), known.join(", "))]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u32,
        /// The key with the tables that it is in: `policy.allow_commands`.
        key: String,
        /// The known key that is most like it.
        nearest: Option<String>,
        /// All keys that may stand there.
        known: Vec<String>,
    },
    /// A value that cannot be one of its key.
    #[error("{}:{line}: `{key}`: {reason}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u32,
        /// The key with the tables that it is in.
        key: String,
        /// What is wrong, and what is wanted.
        reason: String,
    },
}

fn meant(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
