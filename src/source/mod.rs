//! Where skills come from: folders, archives on disk, archives behind an http(s) address.
//!
//! [`Source`] is what a user writes, [`Cache`] turns it into a folder, [`Installer`] keeps copies of skills under a
//! root with a lock file of digests, and [`pack`] makes the archive that all of these read. Of a skill nothing here needs
//! more than its name, and nothing here runs anything.
//!
//! # What is trusted
//!
//! An archive is hostile until it is unpacked, and an address is hostile until it is connected to:
//!
//! - **Names** in archives are checked by one set of rules for all kinds, the union of what Unix, macOS and Windows
//!   take for a way out or for the same file. Links and special files are refused, not skipped: an archive is taken
//!   whole or not at all.
//! - **Where it is written**: a folder that this process has just made under a random name, with only files that did
//!   not exist (`O_EXCL`) in folders that it made itself. As no link is ever made there, no path below it can lead out
//!   of it. The folder gets its final name in one step when everything is there.
//! - **How much** is limited before and while reading; see [`Limits`].
//! - **Connections** go only to addresses of the public internet; see [`CacheBuilder::allow_private`].
//!
//! ```no_run
//! use wskill::source::{Cache, Source};
//!
//! # async fn example() -> Result<(), wskill::source::SourceError> {
//! let cache = Cache::builder().open()?;
//! let folder = cache.resolve(&Source::parse("https://example.com/pdf-forms.skill")?).await?;
//! println!("{}", folder.display());
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "fetch")]
mod address;
mod archive;
mod cache;
mod digest;
mod error;
#[cfg(feature = "fetch")]
mod fetch;
mod find;
mod install;
mod limits;
mod lock;
mod spec;
mod swap;
mod temporary;
mod tree;

pub use archive::{ArchiveError, Packed, pack, unpack};
pub use cache::{Cache, CacheBuilder, Progress, Resolved};
pub use digest::{Sha256Sum, tree_digest, trust_digest};
pub use error::SourceError;
pub use install::{Difference, Installer, Update, UpdateState};
pub use limits::{Limits, MAX_REDIRECTS, Timeouts};
#[cfg(feature = "cli")]
pub(crate) use lock::is_folder_name;
pub use lock::{LockFile, LockedSkill};
pub(crate) use lock::{replace, timestamp, utc};
pub use spec::{Place, Source};
