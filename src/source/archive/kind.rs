//! Telling archives apart.

use super::ArchiveError;

/// How many bytes of a file [`Kind::of`] wants to see: a tar header, whose magic is at 257.
pub const HEAD: usize = 512;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `.zip`, `.skill`.
    Zip,
    /// `.tar`.
    Tar,
    /// `.tar.gz`, `.tgz`.
    TarGz,
    /// A bare `SKILL.md`.
    SkillFile,
}

/// Longest first, so that `.tar.gz` is not read as `.gz`.
const EXTENSIONS: [(&str, Kind); 6] = [
    (".tar.gz", Kind::TarGz),
    (".skill", Kind::Zip),
    (".tgz", Kind::TarGz),
    (".zip", Kind::Zip),
    (".tar", Kind::Tar),
    (".md", Kind::SkillFile),
];

impl Kind {
    /// The kind of the file called `name` that begins with `head`: by extension, else by the first bytes.
    pub fn of(name: &str, head: &[u8]) -> Result<Self, ArchiveError> {
        let kind = Self::of_name(name).map(|(kind, _)| kind).or_else(|| Self::of_head(head));
        let fits = match kind {
            // Zips with something before them are read by some programs and not by others.
            Some(Self::Zip) => is_zip(head),
            Some(Self::TarGz) => Self::is_gzip(head),
            // The oldest archives have no magic; the header's sum is checked anyway.
            Some(Self::Tar) => !Self::is_gzip(head) && !is_zip(head),
            Some(Self::SkillFile) => is_text(head) && !is_html(head),
            None => false,
        };
        kind.filter(|_| fits).ok_or_else(|| ArchiveError::UnknownKind(quote(head)))
    }

    /// The kind that the extension of `name` tells, and `name` without it.
    pub fn of_name(name: &str) -> Option<(Self, &str)> {
        EXTENSIONS.iter().find_map(|(extension, kind)| {
            let stem = name.len().checked_sub(extension.len())?;
            let fits = name.is_char_boundary(stem) && name[stem..].eq_ignore_ascii_case(extension);
            fits.then(|| (*kind, &name[..stem]))
        })
    }

    /// Whether the file is compressed with gzip.
    pub fn is_gzip(head: &[u8]) -> bool {
        head.starts_with(&[0x1f, 0x8b])
    }

    fn of_head(head: &[u8]) -> Option<Self> {
        if is_zip(head) {
            Some(Self::Zip)
        } else if Self::is_gzip(head) {
            Some(Self::TarGz)
        } else if head.get(257..262) == Some(b"ustar") {
            Some(Self::Tar)
        } else if has_front_matter(head) {
            Some(Self::SkillFile)
        } else {
            None
        }
    }
}

fn is_zip(head: &[u8]) -> bool {
    // The second is the end record, with which a zip without entries begins.
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

fn is_text(head: &[u8]) -> bool {
    !head.contains(&0)
}

/// What a forge shows for a file, instead of the file.
fn is_html(head: &[u8]) -> bool {
    let start = head.trim_ascii_start();
    let begins = |word: &[u8]| start.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    begins(b"<!doctype") || begins(b"<html")
}

/// Whether text begins with a line `---`, after blank ones.
fn has_front_matter(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let line = text.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    is_text(head) && line.len() < text.len() && line.trim_ascii_end() == b"---"
}

/// The first bytes for a message.
fn quote(head: &[u8]) -> String {
    const SHOWN: usize = 24;
    if head.is_empty() {
        return "nothing".to_owned();
    }
    format!("\"{}\"", head[..head.len().min(SHOWN)].escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tar_head() -> Vec<u8> {
        let mut head = vec![0; HEAD];
        head[257..262].copy_from_slice(b"ustar");
        head
    }

    #[test]
    fn extension_first_then_magic() {
        let rows: [(&str, &[u8], Option<Kind>); 21] = [
            ("a.zip", b"PK\x03\x04", Some(Kind::Zip)),
            ("a.ZIP", b"PK\x05\x06", Some(Kind::Zip)),
            ("a.skill", b"PK\x03\x04", Some(Kind::Zip)),
            ("a.tar.gz", b"\x1f\x8b", Some(Kind::TarGz)),
            ("a.Tgz", b"\x1f\x8b", Some(Kind::TarGz)),
            ("a.tar", b"old style", Some(Kind::Tar)),
            ("a.tar", b"\x1f\x8b", None),
            ("SKILL.md", b"# Title", Some(Kind::SkillFile)),
            ("SKILL.md", b"<!DOCTYPE html>", None),
            ("SKILL.md", b"\n<HTML>", None),
            ("SKILL.md", b"---\0", None),
            ("a", b"PK\x03\x04", Some(Kind::Zip)),
            ("a.bin", b"\x1f\x8b\x08", Some(Kind::TarGz)),
            ("a", &tar_head(), Some(Kind::Tar)),
            ("a", b"---\nname: x\n---\n", Some(Kind::SkillFile)),
            ("a", b"\xef\xbb\xbf\r\n--- \r\nname: x", Some(Kind::SkillFile)),
            ("a", b"---", None),
            ("a", b"----\n", None),
            ("a.zip", b"<html>", None),
            ("a.zip", b"#!/bin/sh\nPK\x03\x04", None),
            ("", b"", None),
        ];
        for (name, head, wanted) in rows {
            assert_eq!(Kind::of(name, head).ok(), wanted, "{name} {}", head.escape_ascii());
        }
    }

    #[test]
    fn stems() {
        assert_eq!(Kind::of_name("x.tar.gz"), Some((Kind::TarGz, "x")));
        assert_eq!(Kind::of_name("é.zip"), Some((Kind::Zip, "é")));
        assert_eq!(Kind::of_name("zip"), None);
        assert_eq!(Kind::of_name("€gz"), None);
    }
}
