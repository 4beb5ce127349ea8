//! Which skills are trusted, by the digest of their files.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::source::{Sha256Sum, SourceError, replace, timestamp};

/// The only version of the format.
const VERSION: u32 = 1;
/// Bytes of the largest file that is read: 50,000 digests, and room.
const LONGEST: u64 = 16 << 20;
/// Most digests of one skill; a new one takes the place of the oldest.
const DIGESTS: usize = 32;

/// What happens to skills that are not trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TrustMode {
    /// All skills run: the sandbox holds them. The default.
    #[default]
    All,
    /// The user is asked about skills that are unknown or have changed.
    Ask,
    /// Only trusted skills run.
    Known,
}

impl TrustMode {
    /// The modes, from the loosest to the strictest, with their names.
    pub const ALL: [(&str, Self); 3] = [("all", Self::All), ("ask", Self::Ask), ("known", Self::Known)];
}

impl fmt::Display for TrustMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL[*self as usize].0)
    }
}

impl FromStr for TrustMode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, mode)| *mode).ok_or_else(|| format!("`{name}` is no mode of trust: use all, ask or known"))
    }
}

/// What is known of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "trust", rename_all = "lowercase")]
pub enum TrustVerdict {
    /// The user has trusted these very files.
    Trusted {
        /// Since when, in UTC as RFC 3339 has it.
        since: String,
    },
    /// The user has trusted a skill of this name that had other files.
    Changed {
        /// The digest that was trusted last.
        old: Sha256Sum,
        /// What it is now.
        new: Sha256Sum,
        /// Since when the old one is trusted.
        since: String,
    },
    /// No skill of this name was ever trusted.
    Unknown {
        /// What it is.
        new: Sha256Sum,
    },
}

/// What follows from a mode and a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustDecision {
    /// The skill may be used.
    Use,
    /// The user is to be asked, with this as the reason. Where nobody can be asked, it is a refusal.
    Ask(String),
    /// The skill is refused, with this as the reason.
    Refuse(String),
}

impl TrustVerdict {
    /// What follows for the skill `name`.
    ///
    /// ```
    /// use wskill::policy::{TrustDecision, TrustMode, TrustVerdict};
    /// let unknown = TrustVerdict::Unknown { new: wskill::source::Sha256Sum::of(b"") };
    /// assert_eq!(unknown.decide(TrustMode::All, "pdf"), TrustDecision::Use);
    /// let TrustDecision::Refuse(reason) = unknown.decide(TrustMode::Known, "pdf") else { unreachable!() };
    /// assert_eq!(reason, "the skill `pdf` is not trusted (sha256 e3b0c44298fc)");
    /// ```
    pub fn decide(&self, mode: TrustMode, name: &str) -> TrustDecision {
        let name = name.escape_debug();
        let reason = match self {
            Self::Trusted { .. } => return TrustDecision::Use,
            Self::Changed { old, new, since } => format!(
                "the skill `{name}` has changed since it was trusted on {since} (sha256 {}, now {})",
                brief(old),
                brief(new)
            ),
            Self::Unknown { new } => format!("the skill `{name}` is not trusted (sha256 {})", brief(new)),
        };
        match mode {
            TrustMode::All => TrustDecision::Use,
            TrustMode::Ask => TrustDecision::Ask(reason),
            TrustMode::Known => TrustDecision::Refuse(reason),
        }
    }
}

fn brief(sum: &Sha256Sum) -> String {
    let mut text = sum.to_string();
    text.truncate(12);
    text
}

/// Why trust could not be looked up or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The platform has no folder for state.
    #[error("no folder for the list of trusted skills: set XDG_STATE_HOME, or `trust.digests` in wskill.toml")]
    NoPlace,
    /// The file cannot be read or written.
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system answered.
        #[source]
        error: io::Error,
    },
    /// What is in the file is no list of trusted skills. It is not taken for an empty one.
    #[error("{} is no list of trusted skills: {reason}; repair or remove it", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The new file could not be put in place.
    #[error(transparent)]
    Replace(#[from] SourceError),
}

/// A digest that is trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedSkill {
    /// The skill's name.
    pub name: String,
    /// The digest of its files.
    pub sha256: Sha256Sum,
    /// Since when, in UTC as RFC 3339 has it.
    pub since: String,
}

/// The file: JSON with `version` and `skills`, sorted by name, the digest that was trusted last at the end of its
/// name's.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    skills: Vec<TrustedSkill>,
}

/// The digests that the user trusts, in a file.
///
/// A name may have several digests: skills of one name in two projects, or before and after an update. Each method
/// reads the file, so that processes see each other's changes; changes are made under a lock and put in place in one
/// step.
///
/// ```
/// use wskill::policy::{TrustStore, TrustVerdict};
/// use wskill::source::Sha256Sum;
///
/// let folder = tempfile::tempdir()?;
/// let store = TrustStore::at(folder.path().join("trust.json"));
/// let (old, new) = (Sha256Sum::of(b"1"), Sha256Sum::of(b"2"));
/// assert!(matches!(store.verdict("pdf", &old)?, TrustVerdict::Unknown { .. }));
/// assert!(store.trust("pdf", &old)?);
/// assert!(matches!(store.verdict("pdf", &old)?, TrustVerdict::Trusted { .. }));
/// assert!(matches!(store.verdict("pdf", &new)?, TrustVerdict::Changed { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TrustStore {
    path: PathBuf,
}

impl TrustStore {
    /// The store in a file, which need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The user's own: `wskill/trust.json` in the platform's folder for state (`$XDG_STATE_HOME`), or for data where
    /// there is none for state.
    ///
    /// # Errors
    /// [`TrustError::NoPlace`] without a home.
    pub fn user() -> Result<Self, TrustError> {
        use etcetera::BaseStrategy;
        let place = etcetera::choose_base_strategy().map_err(|_| TrustError::NoPlace)?;
        Ok(Self::at(place.state_dir().unwrap_or_else(|| place.data_dir()).join("wskill").join("trust.json")))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is known of a skill with this digest ([`tree_digest`](crate::source::tree_digest)).
    ///
    /// # Errors
    /// The file cannot be read, or is none of these.
    pub fn verdict(&self, name: &str, digest: &Sha256Sum) -> Result<TrustVerdict, TrustError> {
        let list = self.list()?;
        let mut known = list.into_iter().filter(|skill| skill.name == name);
        let mut last = None;
        Ok(
            match known.find(|skill| {
                skill.sha256 == *digest || {
                    last = Some(skill.clone());
                    false
                }
            }) {
                Some(skill) => TrustVerdict::Trusted { since: skill.since },
                None => match last {
                    Some(skill) => TrustVerdict::Changed { old: skill.sha256, new: *digest, since: skill.since },
                    None => TrustVerdict::Unknown { new: *digest },
                },
            },
        )
    }

    /// Trusts a skill with this digest from now on; whether that is new. At most 32 digests of a name are kept.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn trust(&self, name: &str, digest: &Sha256Sum) -> Result<bool, TrustError> {
        self.change(|skills| {
            let same = |skill: &TrustedSkill| skill.name == name && skill.sha256 == *digest;
            if skills.iter().any(same) {
                return false;
            }
            if skills.iter().filter(|skill| skill.name == name).count() >= DIGESTS
                && let Some(oldest) = skills.iter().position(|skill| skill.name == name)
            {
                skills.remove(oldest);
            }
            skills.push(TrustedSkill { name: name.into(), sha256: *digest, since: timestamp() });
            // A stable sort: within a name the order of being trusted stays.
            skills.sort_by(|one, other| one.name.cmp(&other.name));
            true
        })
    }

    /// Trusts a skill no more, with one digest or with any; how many digests were removed.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn untrust(&self, name: &str, digest: Option<&Sha256Sum>) -> Result<usize, TrustError> {
        self.change(|skills| {
            let before = skills.len();
            skills.retain(|skill| skill.name != name || digest.is_some_and(|digest| skill.sha256 != *digest));
            before - skills.len()
        })
    }

    /// All that is trusted, by name; within a name the one trusted last is the last.
    ///
    /// # Errors
    /// The file cannot be read, or is none of these.
    pub fn list(&self) -> Result<Vec<TrustedSkill>, TrustError> {
        let wrong = |reason: String| TrustError::Format { path: self.path.clone(), reason };
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.failed("read", error)),
        };
        let metadata = file.metadata().map_err(|error| self.failed("read", error))?;
        if !metadata.is_file() || metadata.len() > LONGEST {
            return Err(wrong(format!("no regular file of at most {LONGEST} bytes")));
        }
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text).map_err(|error| self.failed("read", error))?;
        let content: Content = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        match content.version {
            VERSION => Ok(content.skills),
            other => Err(wrong(format!("version {other} needs another wskill; this one has {VERSION}"))),
        }
    }

    /// Changes the list under a lock, and writes it when it is another one then.
    fn change<T>(&self, change: impl FnOnce(&mut Vec<TrustedSkill>) -> T) -> Result<T, TrustError> {
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|error| self.failed("make the folder of", error))?;
        }
        // The lock is on a file of its own, for the list is replaced while it is held.
        let mut lock_path = self.path.clone().into_os_string();
        lock_path.push(".lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&lock_path);
        let lock = lock.map_err(|error| self.failed("lock", error))?;
        lock.lock().map_err(|error| self.failed("lock", error))?;
        let mut skills = self.list()?;
        let before = skills.clone();
        let answer = change(&mut skills);
        if skills != before {
            let mut text = serde_json::to_vec_pretty(&Content { version: VERSION, skills }).unwrap_or_default();
            text.push(b'\n');
            replace(&self.path, &text)?;
        }
        Ok(answer)
    }

    fn failed(&self, action: &'static str, error: io::Error) -> TrustError {
        TrustError::Io { action, path: self.path.clone(), error }
    }
}
