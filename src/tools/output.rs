//! Files in results.

use base64::Engine as _;
use serde::Serialize;

use crate::workspace::CollectedFile;

/// The most bytes of text that is a call's primary output.
const PRIMARY_MAX: u64 = 32 << 10;

/// A file that a call collected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutputFile {
    /// Its path in the workspace.
    pub name: String,
    /// Its content, when it is text and wanted; of an image, when asked for, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// `base64` for the content of an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<&'static str>,
    /// Its media type.
    pub mime_type: String,
    /// Its whole size in bytes.
    pub size_bytes: u64,
    /// Whether `content` is not all of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// How later calls name it: `workspace://PATH`.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The artifact that it was saved as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_as: Option<String>,
    /// The artifact's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

/// What a call's `outputs` led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Manifest {
    /// The files, sorted by name.
    pub files: Vec<OutputFile>,
    /// Whether a limit left out files or parts of them.
    pub limits_hit: bool,
}

/// Which content a result has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Inline {
    pub text: bool,
    pub images: bool,
}

impl OutputFile {
    pub(super) fn new(file: &CollectedFile, inline: Inline) -> Self {
        let text = file.text().filter(|_| inline.text).map(str::to_owned);
        let is_image = file.mime_type.starts_with("image/") && !crate::workspace::is_text(&file.mime_type);
        let (content, encoding) = match text {
            Some(text) => (Some(text), None),
            // A part of an image is none.
            None if inline.images && is_image && !file.is_truncated() => {
                (Some(base64::engine::general_purpose::STANDARD.encode(&file.bytes)), Some("base64"))
            }
            None => (None, None),
        };
        Self {
            name: file.name.clone(),
            content,
            encoding,
            mime_type: file.mime_type.clone(),
            size_bytes: file.size,
            truncated: file.is_truncated(),
            reference: format!("workspace://{}", file.name),
            saved_as: None,
            version: None,
        }
    }
}

/// The first text file by name that is small enough to be read at once.
pub(super) fn primary(files: &[CollectedFile]) -> Option<OutputFile> {
    let small = |file: &&CollectedFile| file.size <= PRIMARY_MAX && file.size > 0 && file.text().is_some();
    files.iter().find(small).map(|file| OutputFile::new(file, Inline { text: true, images: false }))
}

/// A stream as text, cut to so many bytes at the end of a character, and whether it was cut.
pub(super) fn stream(bytes: &[u8], most: usize) -> (String, bool) {
    let text = String::from_utf8_lossy(bytes);
    if text.len() <= most {
        return (text.into_owned(), false);
    }
    let end = (0..=most).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    (text[..end].to_owned(), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_cut_between_characters() {
        assert_eq!(stream(b"abc", 3), ("abc".into(), false));
        assert_eq!(stream("aää".as_bytes(), 4), ("aä".into(), true));
        assert_eq!(stream(b"a\xff", 10), ("a\u{fffd}".into(), false));
    }
}
