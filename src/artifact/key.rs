//! Whose artifacts and state are meant.

use std::fmt;

/// Bytes of an app's, a user's and a session's name.
const LONGEST: usize = 256;

/// A session of a user of an app.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    app: String,
    user: String,
    session: String,
}

/// Why something cannot be a [`SessionKey`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name of the {part} {reason}")]
pub struct SessionKeyError {
    part: &'static str,
    reason: &'static str,
}

impl SessionKey {
    /// The session of that name, at most 256 bytes each and without control characters. `app` and `user` may be empty
    /// where there is only one.
    ///
    /// # Errors
    ///
    /// When a name cannot be one.
    pub fn new(
        app: impl Into<String>,
        user: impl Into<String>,
        session: impl Into<String>,
    ) -> Result<Self, SessionKeyError> {
        let key = Self { app: app.into(), user: user.into(), session: session.into() };
        if key.session.is_empty() {
            return Err(SessionKeyError { part: "session", reason: "is empty" });
        }
        for (part, name) in [("app", &key.app), ("user", &key.user), ("session", &key.session)] {
            if name.len() > LONGEST {
                return Err(SessionKeyError { part, reason: "has more than 256 bytes" });
            }
            if name.chars().any(char::is_control) {
                return Err(SessionKeyError { part, reason: "has control characters" });
            }
        }
        Ok(key)
    }

    /// The app's name.
    pub fn app(&self) -> &str {
        &self.app
    }

    /// The user's name.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The session's name.
    pub fn session(&self) -> &str {
        &self.session
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [&self.app, &self.user].into_iter().filter(|name| !name.is_empty());
        named.into_iter().try_for_each(|name| write!(f, "{name}/"))?;
        f.write_str(&self.session)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(SessionKey::new("app", "user", "s").unwrap().to_string(), "app/user/s");
        assert_eq!(SessionKey::new("", "", "../s").unwrap().to_string(), "../s");
        for (app, session, message) in [
            ("a", "", "the name of the session is empty"),
            ("a\0", "s", "the name of the app has control characters"),
            ("a", &"s".repeat(257), "the name of the session has more than 256 bytes"),
        ] {
            assert_eq!(SessionKey::new(app, "", session).unwrap_err().to_string(), message);
        }
    }
}
