//! SHA-256 sums of files and of folders.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::error::SourceError;
use super::limits::Limits;
use super::tree::{Tree, Which};

/// A SHA-256 sum; written and read as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256Sum([u8; 32]);

impl Sha256Sum {
    /// The sum of `data`.
    pub fn of(data: &[u8]) -> Self {
        Self(Sha256::digest(data).into())
    }

    pub(super) fn finish(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }

    /// The sum of what `reader` still has.
    pub(super) fn of_reader(mut reader: impl Read) -> io::Result<Self> {
        let mut hasher = Sha256::new();
        feed(&mut hasher, &mut reader)?;
        Ok(Self::finish(hasher))
    }
}

fn feed(hasher: &mut Sha256, reader: &mut impl Read) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl fmt::Display for Sha256Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sha256Sum {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(());
        }
        let digit = |byte: u8| (byte as char).to_digit(16).map(|value| value as u8).ok_or(());
        let mut sum = [0; 32];
        for (byte, pair) in sum.iter_mut().zip(digits.chunks(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(Self(sum))
    }
}

impl Serialize for Sha256Sum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sha256Sum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|()| serde::de::Error::custom("a SHA-256 sum has 64 hexadecimal digits"))
    }
}

/// The digest of a skill folder: SHA-256 over its files in the order of their relative paths, each as
/// `path NUL content NUL`, with `/` between components. Left out is what is no part of a skill (`.git`, `__pycache__`,
/// `.DS_Store` and the like, as in [`pack`](super::pack)).
///
/// The rule is the one other clients use. As contents may hold NUL too, two different folders can be made that have one
/// digest; [`Installer::update`](super::Installer::update) therefore compares files, and uses the digest only to tell.
///
/// # Errors
///
/// [`SourceError::Io`] for what cannot be read, [`SourceError::Link`] for a link that leads out of the folder,
/// [`SourceError::TooMuch`] for a folder beyond the default [`Limits`].
pub fn tree_digest(folder: &Path) -> Result<Sha256Sum, SourceError> {
    digest_of(&Tree::read(folder, Which::Installed, &Limits::default())?)
}

pub(super) fn digest_of(tree: &Tree) -> Result<Sha256Sum, SourceError> {
    let mut hasher = Sha256::new();
    for entry in &tree.files {
        hasher.update(entry.name.as_bytes());
        hasher.update([0]);
        let fed = File::open(&entry.path).and_then(|mut file| feed(&mut hasher, &mut file));
        fed.map_err(|error| SourceError::io("read", &entry.path, error))?;
        hasher.update([0]);
    }
    Ok(Sha256Sum::finish(hasher))
}

/// The digest by which a skill folder is trusted: of the same files as [`tree_digest`]'s, but no two different folders
/// have one. It is SHA-256 over the files in the order of their paths, each as the length of its path (8 bytes, the
/// lowest first), its path, and the SHA-256 of its content.
///
/// # Errors
///
/// As [`tree_digest`].
pub fn trust_digest(folder: &Path) -> Result<Sha256Sum, SourceError> {
    let mut hasher = Sha256::new();
    for entry in &Tree::read(folder, Which::Installed, &Limits::default())?.files {
        let mut content = Sha256::new();
        let fed = File::open(&entry.path).and_then(|mut file| feed(&mut content, &mut file));
        fed.map_err(|error| SourceError::io("read", &entry.path, error))?;
        hasher.update((entry.name.len() as u64).to_le_bytes());
        hasher.update(entry.name.as_bytes());
        hasher.update(content.finalize());
    }
    Ok(Sha256Sum::finish(hasher))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn contents_do_not_pass_for_files() {
        let folder = |files: &[(&str, &[u8])]| {
            let place = tempfile::tempdir().unwrap();
            files.iter().for_each(|(name, content)| std::fs::write(place.path().join(name), content).unwrap());
            (tree_digest(place.path()).unwrap(), trust_digest(place.path()).unwrap())
        };
        let (one, other) = (folder(&[("a", b"x\0b\0y")]), folder(&[("a", b"x"), ("b", b"y")]));
        assert_eq!(one.0, other.0);
        assert_ne!(one.1, other.1);
    }

    #[test]
    fn sums_are_read_as_they_are_written() {
        let sum = Sha256Sum::of(b"abc");
        assert_eq!(sum.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sum.to_string().to_uppercase().parse(), Ok(sum));
        for wrong in ["", "ba78", &"g".repeat(64), &"é".repeat(32), &format!("{sum}0")] {
            assert_eq!(wrong.parse::<Sha256Sum>(), Err(()), "{wrong}");
        }
    }
}
