//! Canonical guest paths.

use std::fmt;
use std::sync::Arc;

use crate::sandbox::errno::{Errno, Result};

/// Longest path, in bytes, that a call takes and that a canonical path may have.
pub const PATH_MAX: usize = 4096;

/// Longest name of a file, in bytes.
pub const NAME_MAX: usize = 255;

/// An absolute guest path without `.`, `..`, empty parts or a slash at the end. Cloning is cheap.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GuestPath(Arc<[u8]>);

impl GuestPath {
    /// `/`.
    pub fn root() -> Self {
        Self(Arc::from(&b"/"[..]))
    }

    /// Checks that `path` is canonical as written; nothing is looked up. `Invalid` when it is not, `NameTooLong` when
    /// it or a part of it is too long.
    pub fn new(path: &[u8]) -> Result<Self> {
        let Some(inner) = path.strip_prefix(b"/") else {
            return Err(Errno::Invalid);
        };
        if !inner.is_empty() {
            for part in inner.split(|&byte| byte == b'/') {
                check_name(part)?;
            }
        }
        if path.len() > PATH_MAX {
            return Err(Errno::NameTooLong);
        }
        Ok(Self(Arc::from(path)))
    }

    /// Takes a path that the walk has built, `""` meaning the root.
    pub(super) fn from_walk(path: &[u8]) -> Self {
        if path.is_empty() { Self::root() } else { Self(Arc::from(path)) }
    }

    /// The whole path.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path without the slash at its beginning: empty for the root.
    pub fn relative(&self) -> &[u8] {
        self.0.get(1..).unwrap_or_default()
    }

    /// The path of the entry `name` of this directory; an error when that cannot be a name.
    pub fn join(&self, name: &[u8]) -> Result<Self> {
        check_name(name)?;
        let mut path = Vec::with_capacity(self.0.len() + 1 + name.len());
        if !self.is_root() {
            path.extend_from_slice(&self.0);
        }
        path.push(b'/');
        path.extend_from_slice(name);
        if path.len() > PATH_MAX {
            return Err(Errno::NameTooLong);
        }
        Ok(Self(Arc::from(path)))
    }

    /// The directory that this lies in; none for the root.
    pub fn parent(&self) -> Option<Self> {
        let slash = self.0.iter().rposition(|&byte| byte == b'/')?;
        if self.is_root() {
            return None;
        }
        Some(Self::from_walk(self.0.get(..slash).unwrap_or_default()))
    }

    /// The last part; none for the root.
    #[cfg(test)]
    pub fn file_name(&self) -> Option<&[u8]> {
        if self.is_root() {
            return None;
        }
        self.0.rsplit(|&byte| byte == b'/').next()
    }

    /// Whether this is `other` or lies below it.
    pub fn starts_with(&self, other: &Self) -> bool {
        other.is_root()
            || self.0.strip_prefix(&*other.0).is_some_and(|rest| rest.is_empty() || rest.first() == Some(&b'/'))
    }

    /// Whether this is `/`.
    pub fn is_root(&self) -> bool {
        self.0.len() == 1
    }
}

/// Whether `name` can be a file's name.
pub(super) fn check_name(name: &[u8]) -> Result<()> {
    if name.is_empty() || name == b"." || name == b".." || name.iter().any(|&byte| byte == b'/' || byte == 0) {
        return Err(Errno::Invalid);
    }
    if name.len() > NAME_MAX {
        return Err(Errno::NameTooLong);
    }
    Ok(())
}

/// The directory part and the last part of a path relative to a tree's root; none for the root itself.
pub(super) fn split_last(path: &[u8]) -> Option<(&[u8], &[u8])> {
    if path.is_empty() {
        return None;
    }
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => Some((path.get(..slash).unwrap_or_default(), path.get(slash + 1..).unwrap_or_default())),
        None => Some((b"", path)),
    }
}

/// The part of a path that lies in the source whose root has a path of `start` bytes.
pub(super) fn within(path: &[u8], start: usize) -> &[u8] {
    let rest = path.get(start..).unwrap_or_default();
    rest.strip_prefix(b"/").unwrap_or(rest)
}

impl fmt::Display for GuestPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for GuestPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from_utf8_lossy(&self.0), formatter)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_paths_are_taken() {
        for good in ["/", "/a", "/a/b.c", "/...", "/a/ b"] {
            assert_eq!(GuestPath::new(good.as_bytes()).unwrap().as_bytes(), good.as_bytes());
        }
        for bad in ["", "a", "/a/", "//", "/a//b", "/.", "/a/..", "/a/./b", "/a\0b"] {
            assert_eq!(GuestPath::new(bad.as_bytes()), Err(Errno::Invalid), "{bad:?}");
        }
        let long = [b"/".as_slice(), &[b'x'; 256]].concat();
        assert_eq!(GuestPath::new(&long), Err(Errno::NameTooLong));
        assert_eq!(GuestPath::new(&b"/x".repeat(2049)), Err(Errno::NameTooLong));
    }

    #[test]
    fn parts() {
        let path = GuestPath::new(b"/a/bc").unwrap();
        assert_eq!(path.file_name(), Some(&b"bc"[..]));
        assert_eq!(path.parent().unwrap().as_bytes(), b"/a");
        assert_eq!(path.parent().unwrap().parent().unwrap(), GuestPath::root());
        assert_eq!(GuestPath::root().parent(), None);
        assert_eq!(GuestPath::root().file_name(), None);
        assert_eq!(GuestPath::root().join(b"x").unwrap().as_bytes(), b"/x");
        assert_eq!(path.join(b"d").unwrap().to_string(), "/a/bc/d");
        assert!(path.join(b"..").is_err() && path.join(b"a/b").is_err() && path.join(b"").is_err());
        assert!(path.starts_with(&GuestPath::new(b"/a").unwrap()));
        assert!(path.starts_with(&GuestPath::root()) && path.starts_with(&path));
        assert!(!path.starts_with(&GuestPath::new(b"/a/b").unwrap()));
    }
}
