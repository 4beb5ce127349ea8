//! Folders of skills that belong to one app or one user.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

/// Longest part of a path that is used as it is, in bytes.
const LONGEST: usize = 128;

/// Whose skills are meant. The folders are named as trpc-agent-go names them.
///
/// ```
/// use wskill::repository::Scope;
///
/// let root = std::path::Path::new("/srv/skills");
/// assert_eq!(root.join(Scope::App { app: "shop" }.folder()), root.join("apps/shop"));
/// assert_eq!(Scope::User { app: "shop", user: "anna" }.folder(), std::path::Path::new("users/shop/anna"));
/// // What is no safe name of a folder is a digest.
/// assert_eq!(Scope::App { app: "../etc" }.folder().to_str(), Some("apps/id-f7f9121fdb53d8de"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// The skills of all: the root itself.
    Shared,
    /// The skills of an app.
    App {
        /// The app's name.
        app: &'a str,
    },
    /// The skills of a user of an app.
    User {
        /// The app's name.
        app: &'a str,
        /// The user's name.
        user: &'a str,
    },
}

impl Scope<'_> {
    /// Where these skills are, relative to a root.
    pub fn folder(&self) -> PathBuf {
        match self {
            Self::Shared => PathBuf::new(),
            Self::App { app } => ["apps".to_owned(), part(app)].iter().collect(),
            Self::User { app, user } => ["users".to_owned(), part(app), part(user)].iter().collect(),
        }
    }
}

/// A name as a part of a path: itself when that is safe, else `id-` and the first 16 digits of its SHA-256.
fn part(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    // A name that looks like a digest could be another's.
    if !name.is_empty()
        && name.len() <= LONGEST
        && name.chars().all(plain)
        && !name.starts_with('.')
        && !name.starts_with("id-")
    {
        return name.to_owned();
    }
    let digest = Sha256::digest(name);
    let digits: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("id-{digits}")
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn no_name_leads_out_of_its_folder_or_into_anothers() {
        for name in ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "a b", "ä", "a\0", "a:b", "id-0123456789abcdef"]
        {
            let part = part(name);
            assert!(part.len() == 19 && part.starts_with("id-") && part != *name, "{name:?}: {part}");
        }
        assert_ne!(part(&"x".repeat(129)), part(&"x".repeat(130)));
        for name in ["a", "A-1_b.c", "ID-1"] {
            assert_eq!(part(name), name);
        }
    }
}
