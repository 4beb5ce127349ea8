//! The names of artifacts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Bytes of a name: the shortest limit of a path that is still common (macOS).
const LONGEST: usize = 1024;

/// The name of an artifact: a relative path with `/` between its parts, such as `out/report.pdf`. At most 1,024 bytes,
/// without control characters, `\`, and parts that are empty, `.` or `..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ArtifactName(String);

/// Why something cannot be an [`ArtifactName`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` cannot be the name of an artifact: {reason}")]
pub struct NameError {
    /// The name, printable and not endless.
    name: String,
    reason: &'static str,
}

impl ArtifactName {
    /// Checks a name.
    ///
    /// # Errors
    ///
    /// When it breaks a rule of [`ArtifactName`].
    pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
        /// Characters of a name that are in a message.
        const SHOWN: usize = 100;
        let name = name.into();
        match fault(&name) {
            None => Ok(Self(name)),
            Some(reason) => {
                let mut shown: String = name.chars().take(SHOWN).flat_map(char::escape_debug).collect();
                if name.chars().nth(SHOWN).is_some() {
                    shown.push('…');
                }
                Err(NameError { name: shown, reason })
            }
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its last part.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }
}

fn fault(name: &str) -> Option<&'static str> {
    let bytes = name.as_bytes();
    if name.is_empty() {
        Some("it is empty")
    } else if name.len() > LONGEST {
        Some("it has more than 1,024 bytes")
    } else if name.chars().any(char::is_control) {
        Some("it has control characters")
    } else if name.contains('\\') {
        Some("`\\` separates folders on Windows; write `/`")
    } else if name.starts_with('/') || (bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && &bytes[1..3] == b":/") {
        Some("it is absolute; write it relative to the workspace, as out/report.pdf")
    } else if name.split('/').any(|part| part == "..") {
        Some("`..` leads out of its folder")
    } else if name.split('/').any(|part| part.is_empty() || part == ".") {
        Some("a part of it is empty or `.`")
    } else {
        None
    }
}

impl fmt::Display for ArtifactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for ArtifactName {
    type Error = NameError;

    fn try_from(name: String) -> Result<Self, NameError> {
        Self::new(name)
    }
}

impl From<ArtifactName> for String {
    fn from(name: ArtifactName) -> Self {
        name.0
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_fine() {
        for name in
            ["a", "out/a.txt", "...", "..a/b..", ".hidden", "C:", "12:30.txt", "日本/ü b", "a@b", &"a".repeat(1024)]
        {
            assert_eq!(ArtifactName::new(name).unwrap().as_str(), name);
        }
        assert_eq!(ArtifactName::new("out/a.txt").unwrap().file_name(), "a.txt");
    }

    #[test]
    fn names_that_are_refused() {
        for (name, reason) in [
            ("", "it is empty"),
            ("/a", "it is absolute"),
            ("C:/a", "it is absolute"),
            ("..", "`..` leads out"),
            ("a/../b", "`..` leads out"),
            ("a/..", "`..` leads out"),
            ("a//b", "a part of it is empty"),
            ("a/", "a part of it is empty"),
            ("./a", "a part of it is empty or `.`"),
            ("a\\b", "`\\` separates"),
            ("a\nb", "it has control characters"),
            ("a\0", "it has control characters"),
            (&"a".repeat(1025), "it has more than 1,024 bytes"),
        ] {
            let error = ArtifactName::new(name).unwrap_err();
            assert!(error.reason.starts_with(reason), "{name}: {error}");
            assert!(error.to_string().chars().count() < 250 && !error.to_string().contains('\n'), "{error}");
        }
    }
}
