//! How an artifact is written down.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use super::name::{ArtifactName, NameError};

/// What references begin with.
const SCHEME: &str = "artifact://";

/// A reference to an artifact: `artifact://name` for its highest version, `artifact://name@3` for version 3.
///
/// What follows the last `@` is a version only when it is a decimal number; otherwise it is part of the name.
///
/// ```
/// use wskill::artifact::ArtifactRef;
///
/// for (text, name, version) in [
///     ("artifact://out/a.txt", "out/a.txt", None),
///     ("artifact://out/a.txt@3", "out/a.txt", Some(3)),
///     ("artifact://a@b@4", "a@b", Some(4)),
///     ("artifact://tail@", "tail@", None),
///     ("artifact://bad@v1", "bad@v1", None),
///     ("artifact://a@b@c", "a@b@c", None),
/// ] {
///     let reference: ArtifactRef = text.parse()?;
///     assert_eq!((reference.name().as_str(), reference.version()), (name, version));
///     assert_eq!(reference.to_string(), text);
/// }
/// assert!("artifact://@123".parse::<ArtifactRef>().is_err());
/// # Ok::<(), wskill::artifact::RefError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactRef {
    name: ArtifactName,
    version: Option<u64>,
}

/// Why something is no [`ArtifactRef`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RefError {
    /// It does not begin with `artifact://`.
    #[error("`{0}` is no reference to an artifact; write artifact://NAME or artifact://NAME@VERSION")]
    Scheme(String),
    /// The name is missing before the version, or cannot be one.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The version is beyond all numbers of versions.
    #[error("`{0}` cannot be a version of an artifact: it is too large")]
    Version(String),
    /// The name ends as a version does, so that a reference without one would mean something else.
    #[error("the artifact `{0}` can be referred to only with its version: artifact://{0}@VERSION")]
    NeedsVersion(ArtifactName),
}

impl ArtifactRef {
    /// Version `version` of an artifact.
    pub fn at(name: ArtifactName, version: u64) -> Self {
        Self { name, version: Some(version) }
    }

    /// The highest version of an artifact.
    ///
    /// # Errors
    ///
    /// [`RefError::NeedsVersion`] for a name such as `a@2`, which would read as a version.
    pub fn latest(name: ArtifactName) -> Result<Self, RefError> {
        match split(name.as_str()) {
            (_, None) => Ok(Self { name, version: None }),
            (_, Some(_)) => Err(RefError::NeedsVersion(name)),
        }
    }

    /// Reads what follows `artifact://`: a name, or a name and a version.
    ///
    /// # Errors
    ///
    /// When the name cannot be one, or the version is too large.
    pub fn parse_name(text: &str) -> Result<Self, RefError> {
        let (name, version) = split(text);
        let name = ArtifactName::new(name)?;
        let version = version.map(|digits| digits.parse().map_err(|_| RefError::Version(shortened(digits))));
        Ok(Self { name, version: version.transpose()? })
    }

    /// The artifact's name.
    pub fn name(&self) -> &ArtifactName {
        &self.name
    }

    /// The version, when the reference says one.
    pub fn version(&self) -> Option<u64> {
        self.version
    }
}

/// A name and the digits of its version.
fn split(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once('@') {
        Some((name, version)) if !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()) => {
            (name, Some(version))
        }
        _ => (text, None),
    }
}

/// Text for a message: printable and not endless.
fn shortened(text: &str) -> String {
    text.chars().take(100).flat_map(char::escape_debug).collect()
}

impl FromStr for ArtifactRef {
    type Err = RefError;

    fn from_str(text: &str) -> Result<Self, RefError> {
        let name = text.strip_prefix(SCHEME).ok_or_else(|| RefError::Scheme(shortened(text)))?;
        Self::parse_name(name)
    }
}

impl fmt::Display for ArtifactRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.name)?;
        self.version.map_or(Ok(()), |version| write!(f, "@{version}"))
    }
}

impl Serialize for ArtifactRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A version that was saved. In JSON it has its reference too: `{"name", "version", "ref"}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SavedArtifact {
    /// The artifact's name.
    pub name: ArtifactName,
    /// The version, from 0.
    pub version: u64,
}

impl SavedArtifact {
    /// How to write it down.
    pub fn reference(&self) -> ArtifactRef {
        ArtifactRef::at(self.name.clone(), self.version)
    }
}

impl Serialize for SavedArtifact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            name: &'a ArtifactName,
            version: u64,
            r#ref: ArtifactRef,
        }
        Fields { name: &self.name, version: self.version, r#ref: self.reference() }.serialize(serializer)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_version() {
        for (text, name, version) in [
            ("name", "name", None),
            ("name@0", "name", Some(0)),
            ("name@007", "name", Some(7)),
            ("name@18446744073709551615", "name", Some(u64::MAX)),
            ("name@-1", "name@-1", None),
            ("name@+1", "name@+1", None),
            ("name@1 ", "name@1 ", None),
            ("name@1.0", "name@1.0", None),
            ("name@１", "name@１", None),
            ("name@1@", "name@1@", None),
            ("name@1@2", "name@1", Some(2)),
            ("a@2/b", "a@2/b", None),
            ("@", "@", None),
            ("@v", "@v", None),
        ] {
            let reference = ArtifactRef::parse_name(text).unwrap();
            assert_eq!((reference.name().as_str(), reference.version()), (name, version), "{text}");
        }
    }

    #[test]
    fn what_is_no_reference() {
        for (text, message) in [
            ("artifact://@123", "`` cannot be the name of an artifact: it is empty"),
            ("artifact://", "`` cannot be the name of an artifact: it is empty"),
            ("artifact://../a@1", "`../a` cannot be the name of an artifact: `..` leads out of its folder"),
            (
                "artifact://a@18446744073709551616",
                "`18446744073709551616` cannot be a version of an artifact: it is too large",
            ),
            (
                "artifact:/a",
                "`artifact:/a` is no reference to an artifact; write artifact://NAME or artifact://NAME@VERSION",
            ),
        ] {
            assert_eq!(text.parse::<ArtifactRef>().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn every_name_can_be_referred_to() {
        for name in ["a", "a@2", "a@", "@", "a@b@c", "@1@2"] {
            let name = ArtifactName::new(name).unwrap();
            let reference = ArtifactRef::at(name.clone(), 5);
            assert_eq!(reference.to_string().parse(), Ok(reference));
            match ArtifactRef::latest(name.clone()) {
                Ok(reference) => assert_eq!(reference.to_string().parse(), Ok(reference)),
                Err(error) => {
                    assert_eq!(error, RefError::NeedsVersion(name.clone()));
                    assert!(["a@2", "@1@2"].contains(&name.as_str()));
                }
            }
        }
    }

    #[test]
    fn saved_artifacts_in_json() {
        let saved = SavedArtifact { name: ArtifactName::new("out/a.txt").unwrap(), version: 2 };
        let text = serde_json::to_string(&saved).unwrap();
        assert_eq!(text, r#"{"name":"out/a.txt","version":2,"ref":"artifact://out/a.txt@2"}"#);
        assert_eq!(serde_json::from_str::<SavedArtifact>(&text).unwrap(), saved);
        assert!(serde_json::from_str::<SavedArtifact>(r#"{"name":"../a","version":2}"#).is_err());
    }
}
