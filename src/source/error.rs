//! What can go wrong between a source and a folder.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::archive::ArchiveError;
use super::digest::Sha256Sum;

/// Why a source gave no folder, or an installation was refused. Whatever the reason, nothing half-done is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// No source was given.
    #[error("the source is empty: give a folder, an archive or an http(s) address")]
    Empty,
    /// The address has a scheme that is not read.
    #[error("`{text}`: `{scheme}:` is not supported; use a folder, file://, http:// or https://")]
    Scheme {
        /// The source as given.
        text: String,
        /// Its scheme.
        scheme: String,
    },
    /// The address cannot be read.
    #[error("`{text}` is no usable address: {reason}")]
    Address {
        /// The source as given.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// What follows `#` is no pin.
    #[error("`{text}`: after `#` only a pin `sha256=` with 64 hexadecimal digits may stand")]
    Pin {
        /// The source as given.
        text: String,
    },
    /// A pin on a folder: pins are digests of archives.
    #[error("{}: a pin is the digest of an archive, and this is a folder; leave out `#sha256=…`", path.display())]
    PinnedFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The archive is not the pinned one.
    #[error(
        "{source_text}: the archive has sha256 {actual}, pinned is {expected}; if the change is wanted, pin the new one"
    )]
    PinMismatch {
        /// The source.
        source_text: String,
        /// The digest in the source.
        expected: Sha256Sum,
        /// The digest of what was read.
        actual: Sha256Sum,
    },
    /// There is no such folder or file.
    #[error("{}: no such folder or archive", path.display())]
    NotFound {
        /// Where it was expected.
        path: PathBuf,
    },
    /// A file operation failed.
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system answered.
        #[source]
        error: io::Error,
    },
    /// Neither a home folder nor a temporary one can be used for the cache.
    #[error("no folder for the cache: set SKILLS_CACHE_DIR to one")]
    NoCacheFolder,
    /// The cache folder is writable by others, who could change skills.
    #[error("{} belongs to or is writable by others: remove their rights or set SKILLS_CACHE_DIR", path.display())]
    CacheNotPrivate {
        /// The cache folder.
        path: PathBuf,
    },
    /// This build has no HTTP client.
    #[error("{url}: this build cannot download (it lacks the feature `fetch`); download the archive and give its path")]
    FetchDisabled {
        /// The address.
        url: String,
    },
    /// No connection, or the connection broke.
    #[error("{url}: {reason}")]
    Connection {
        /// The address.
        url: String,
        /// What failed, with its causes.
        reason: String,
    },
    /// TLS cannot be used at all.
    #[error("{url}: cannot check certificates: {reason}; install the system's CA certificates or set SSL_CERT_FILE")]
    Tls {
        /// The address.
        url: String,
        /// What failed.
        reason: String,
    },
    /// Nothing came for too long, or everything took too long.
    #[error("{url}: gave up waiting for {phase}")]
    Timeout {
        /// The address.
        url: String,
        /// What was waited for.
        phase: &'static str,
    },
    /// The server refused.
    #[error("{url}: the server answered {status}")]
    Status {
        /// The address, after redirects.
        url: String,
        /// The status code.
        status: u16,
    },
    /// More than [`MAX_REDIRECTS`](super::MAX_REDIRECTS), or a loop of them.
    #[error("{url}: more than {} redirects", super::MAX_REDIRECTS)]
    Redirects {
        /// The first address.
        url: String,
    },
    /// A redirect leads where it may not.
    #[error("{url}: refused to follow the redirect to {target}: {reason}")]
    Redirect {
        /// Who redirected.
        url: String,
        /// Whereto.
        target: String,
        /// Why not.
        reason: &'static str,
    },
    /// The host is on a private network, on this machine, or a cloud's metadata service.
    #[error(
        "{host} is at {address}, which is no address of the public internet; allow private addresses (--allow-private) if it is meant"
    )]
    PrivateAddress {
        /// The host as the address names it.
        host: String,
        /// Where it is.
        address: IpAddr,
    },
    /// The download is larger than [`Limits::download`](super::Limits::download).
    #[error("{url}: larger than {limit} bytes")]
    DownloadTooLarge {
        /// The address.
        url: String,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The server sent less than it announced, or the connection ended in the middle.
    #[error("{url}: the download broke off after {received} bytes")]
    Incomplete {
        /// The address.
        url: String,
        /// How many bytes came.
        received: u64,
    },
    /// The server encoded the content in a way that was not asked for.
    #[error("{url}: the content comes encoded as `{encoding}`, which is not supported")]
    Encoding {
        /// The address.
        url: String,
        /// Its `Content-Encoding`.
        encoding: String,
    },
    /// The archive is refused.
    #[error("{source_text}: {error}")]
    Archive {
        /// The source.
        source_text: String,
        /// Why.
        #[source]
        error: ArchiveError,
    },
    /// A link in a folder leads out of it, or nowhere.
    #[error("{}: a link that leads out of the skill or nowhere; replace it by a copy", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// Something in a folder that is neither a file nor a folder.
    #[error("{}: neither a file nor a folder", path.display())]
    Special {
        /// The socket, pipe or device.
        path: PathBuf,
    },
    /// A file's name is not UTF-8.
    #[error("{}: the name is not UTF-8; rename it", path.display())]
    FileName {
        /// The file.
        path: PathBuf,
    },
    /// A folder is beyond a limit.
    #[error("{}: more than {limit}", path.display())]
    TooMuch {
        /// The folder or file.
        path: PathBuf,
        /// Which limit.
        limit: String,
    },
    /// There is no `SKILL.md` in the source.
    #[error("{source_text}: no SKILL.md found")]
    NoSkill {
        /// The source.
        source_text: String,
    },
    /// The source has no skill of that name.
    #[error("{source_text} has no skill `{name}`; it has: {}", list(available))]
    NotInSource {
        /// The source.
        source_text: String,
        /// The name.
        name: String,
        /// What it has.
        available: Vec<String>,
    },
    /// Two skills of a source have one name.
    #[error("{source_text} has two skills named `{name}`: {first} and {second}")]
    SameName {
        /// The source.
        source_text: String,
        /// The name.
        name: String,
        /// Where the first is.
        first: String,
        /// Where the second is.
        second: String,
    },
    /// The name cannot be a folder's.
    #[error("`{name}` cannot be a skill's folder: use letters, digits and hyphens")]
    Name {
        /// The name.
        name: String,
    },
    /// There is a folder of that name that was not installed from a source.
    #[error("{} exists and was not installed by wskill; move it away first", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// A skill of that name was installed from elsewhere.
    #[error("`{name}` is installed from {installed}; remove it first")]
    OtherSource {
        /// The name.
        name: String,
        /// Its source in the lock file.
        installed: String,
    },
    /// The skill is installed, and the source or the folder has other files by now.
    #[error("`{name}` is installed already and differs from its source; update it")]
    Outdated {
        /// The name.
        name: String,
    },
    /// No skill of that name is in the lock file.
    #[error("`{name}` is not installed; installed are: {}", list(installed))]
    NotInstalled {
        /// The name.
        name: String,
        /// What is.
        installed: Vec<String>,
    },
    /// A skill would be installed into itself.
    #[error("{} lies in the skill {}; choose another root", root.display(), skill.display())]
    RootInside {
        /// Where it would be installed.
        root: PathBuf,
        /// What would be installed.
        skill: PathBuf,
    },
    /// An archive is to be written to what is none.
    #[error("{}: an archive's name ends in .skill or .zip, and only a file is replaced", path.display())]
    NoArchiveName {
        /// The place.
        path: PathBuf,
    },
    /// The installed folder was edited.
    #[error("{} was changed after it was installed; save the changes or allow to discard them (--discard-changes)", path.display())]
    Modified {
        /// The folder.
        path: PathBuf,
    },
    /// The lock file cannot be read.
    #[error("{}: {reason}", path.display())]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

impl SourceError {
    pub(super) fn io(action: &'static str, path: &Path, error: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), error }
    }
}
