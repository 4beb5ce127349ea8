//! Why the host cannot make a sandbox or start a run.

use std::path::PathBuf;

use super::runtime::RuntimeError;

/// Why a sandbox could not be made, or a run not be started.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Threads, engine or programs are not to be had.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A folder or file of the host cannot be mounted.
    #[error("cannot mount {host} at {guest}: {source}")]
    Mount {
        /// On the host.
        host: PathBuf,
        /// In the sandbox.
        guest: String,
        /// Why.
        source: std::io::Error,
    },
    /// A path in the sandbox is not absolute, or not plain.
    #[error("`{0}` is no path for a mount or working directory: it must be absolute, without `.` and `..`")]
    GuestPath(String),
    /// A mount cannot be placed there.
    #[error("cannot mount at `{0}`")]
    Place(String),
    /// One host folder is mounted writable and read-only at once, so the read-only one would not hold.
    #[error("{0} is mounted read-only and lies in or above a folder that is mounted writable; mount both the same way")]
    Overlap(PathBuf),
    /// The limit `open_files` does not allow the standard streams.
    #[error("the limit open_files is {0}, but a process needs its three standard streams; raise it to 8 or more")]
    OpenFiles(u32),
    /// A deterministic sandbox reads its input before it begins.
    #[error("a deterministic sandbox cannot be talked to while it runs; give it its whole standard input at once")]
    Interactive,
    /// No signal has this number.
    #[error("{0} is no signal: they are numbered from 1 to 64, as on Linux")]
    Signal(i32),
    /// The host would not give a thread for a standard stream, or input could not be read.
    #[error("a standard stream fails: {0}")]
    Stream(std::io::Error),
}
