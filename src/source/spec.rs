//! What a user writes for a source, and lists of them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::archive::{FileName, Kind};
use super::digest::Sha256Sum;
use super::error::SourceError;

/// Where skills come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    place: Place,
    pin: Option<Sha256Sum>,
}

/// A place on this machine or in the network.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A folder or an archive, told apart when it is used.
    Path(PathBuf),
    /// An http(s) address, without its fragment.
    Url(String),
}

/// What separates sources in a list.
const SEPARATOR: char = if cfg!(windows) { ';' } else { ':' };

impl Source {
    /// Reads one source: a path, `file://` with a path, or an `http://` or `https://` address. Addresses may end with
    /// the pin `#sha256=` and 64 hexadecimal digits, which the archive must then have.
    ///
    /// Whatever has no `://` after a scheme is a path, `C:\skills` and `a#b` too. Addresses with a user or password are
    /// refused: they would end up in lock files and messages.
    ///
    /// ```
    /// use std::path::PathBuf;
    ///
    /// use wskill::source::{Place, Source};
    ///
    /// let source = Source::parse("file:///srv/my%20skills").unwrap();
    /// assert_eq!(source.place(), &Place::Path(PathBuf::from("/srv/my skills")));
    /// ```
    ///
    /// # Errors
    ///
    /// [`SourceError::Empty`], [`SourceError::Scheme`], [`SourceError::Address`] and [`SourceError::Pin`]. Nothing is
    /// looked up.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SourceError::Empty);
        }
        let Some((scheme, rest)) = split_scheme(text) else {
            return Ok(Self::path(text));
        };
        let (rest, fragment) = match rest.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment)),
            None => (rest, None),
        };
        let pin = match fragment {
            None => None,
            Some(fragment) => {
                let sum = fragment.strip_prefix("sha256=").and_then(|sum| sum.parse().ok());
                Some(sum.ok_or_else(|| SourceError::Pin { text: text.to_owned() })?)
            }
        };
        let place = match scheme.to_ascii_lowercase().as_str() {
            "file" => Place::Path(file_path(rest).map_err(|reason| address(text, reason))?),
            scheme @ ("http" | "https") => {
                check_host(rest).map_err(|reason| address(text, reason))?;
                Place::Url(format!("{scheme}://{rest}"))
            }
            scheme => return Err(SourceError::Scheme { text: text.to_owned(), scheme: scheme.to_owned() }),
        };
        Ok(Self { place, pin })
    }

    /// Reads a list, as `SKILLS_ROOT` and `--skills` have it: separated as `PATH` is, by `;` on Windows and by `:`
    /// elsewhere. Empty elements are left out.
    ///
    /// Where `:` separates, it does not after the scheme of an address nor before its port, so that
    /// `/a:https://host:8080/b.zip:/c` has three sources; any other `:` of an address must be written `%3A`.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use wskill::source::Source;
    ///
    /// assert_eq!(Source::parse_list("/a:https://host:8080/b.zip:/c").unwrap().len(), 3);
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`parse`](Self::parse), for the first element that has one.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, SourceError> {
        split(text, SEPARATOR).into_iter().map(Self::parse).collect()
    }

    /// A folder or an archive on this machine.
    pub fn path(path: impl Into<PathBuf>) -> Self {
        Self { place: Place::Path(path.into()), pin: None }
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The digest that the archive must have.
    pub fn pin(&self) -> Option<Sha256Sum> {
        self.pin
    }

    /// The same source without a pin.
    pub fn without_pin(&self) -> Self {
        Self { place: self.place.clone(), pin: None }
    }

    /// The same source at another path.
    pub(super) fn with_path(&self, path: PathBuf) -> Self {
        Self { place: Place::Path(path), pin: self.pin }
    }

    /// The last part of its name, which tells an archive's kind.
    pub(super) fn file_name(&self) -> String {
        match &self.place {
            Place::Path(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Place::Url(url) => self.segments(url).last().cloned().unwrap_or_default(),
        }
    }

    /// A name for the folder that its content goes to: the archive's without extension, and for a bare `SKILL.md` its
    /// folder's.
    pub(super) fn folder_name(&self) -> FileName {
        let name = self.file_name();
        let above = || match &self.place {
            Place::Path(path) => {
                path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned())
            }
            Place::Url(url) => self.segments(url).iter().rev().nth(1).cloned(),
        };
        let stem = match Kind::of_name(&name) {
            Some((Kind::SkillFile, stem)) if stem.eq_ignore_ascii_case("skill") => above().unwrap_or_default(),
            Some((_, stem)) => stem.to_owned(),
            None => name,
        };
        FileName::from_lossy(&stem)
    }

    /// The parts of an address's path.
    fn segments(&self, url: &str) -> Vec<String> {
        let rest = split_scheme(url).map_or(url, |(_, rest)| rest);
        let path = rest.split('?').next().unwrap_or_default();
        let parts = path.split('/').skip(1).filter(|part| !part.is_empty());
        parts.map(|part| String::from_utf8_lossy(&percent_decoded(part)).into_owned()).collect()
    }
}

impl FromStr for Source {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        Self::parse(text)
    }
}

/// What [`Source::parse`] reads as the same source.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.place, self.pin) {
            (Place::Path(path), None) => match path.to_str() {
                Some(text) if text == text.trim() && split_scheme(text).is_none() => f.write_str(text),
                _ => f.write_str(&file_url(path)),
            },
            (Place::Path(path), Some(pin)) => write!(f, "{}#sha256={pin}", file_url(path)),
            (Place::Url(url), None) => f.write_str(url),
            (Place::Url(url), Some(pin)) => write!(f, "{url}#sha256={pin}"),
        }
    }
}

fn address(text: &str, reason: &str) -> SourceError {
    SourceError::Address { text: without_user(text), reason: reason.to_owned() }
}

/// An address without the secrets that it may begin with, for messages.
fn without_user(text: &str) -> String {
    let Some((scheme, rest)) = split_scheme(text) else { return text.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://…{}", &rest[at..]),
        None => text.to_owned(),
    }
}

/// Splits `scheme://rest`.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    // Schemes of one letter are drives.
    (scheme.len() > 1 && scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(plain))
        .then_some((scheme, rest))
}

/// The path of `file://`, after the two slashes.
fn file_path(rest: &str) -> Result<PathBuf, &'static str> {
    let slash = rest.find('/').ok_or("it has no path; write file:///path")?;
    let (host, path) = rest.split_at(slash);
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return Err("files of other hosts cannot be read; write file:///path");
    }
    if path.contains('?') {
        return Err("write `?` in a path as %3F");
    }
    let path = percent_decoded(path);
    if path.contains(&0) {
        return Err("it has a NUL");
    }
    native_path(path)
}

#[cfg(unix)]
fn native_path(path: Vec<u8>) -> Result<PathBuf, &'static str> {
    use std::os::unix::ffi::OsStringExt;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(path)))
}

#[cfg(not(unix))]
fn native_path(path: Vec<u8>) -> Result<PathBuf, &'static str> {
    let path = String::from_utf8(path).map_err(|_| "its path is not UTF-8")?;
    // `/C:/x` is `C:/x`.
    let drive = path.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic) && path.as_bytes().get(2) == Some(&b':');
    Ok(PathBuf::from(if drive { &path[1..] } else { &path[..] }))
}

/// Checks the part between `//` and the path; the rest is left to the HTTP client.
fn check_host(rest: &str) -> Result<(), &'static str> {
    let host = &rest[..rest.find(['/', '?']).unwrap_or(rest.len())];
    if host.contains('@') {
        return Err("leave out user and password: they would be kept in lock files and messages");
    }
    if host.is_empty() || host.starts_with(':') {
        return Err("it has no host");
    }
    if rest.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("it has blanks or control characters; write them as %20 and so on");
    }
    // Some readers take it for a slash, some do not.
    if rest.contains('\\') {
        return Err("it has a backslash");
    }
    Ok(())
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|byte| (*byte as char).to_digit(16)).map(|digit| digit as u8);
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(high << 4 | low);
                rest = &after[2..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    bytes
}

/// The address of a path; only that of an absolute one leads back to it.
fn file_url(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~:".contains(&byte);
    let encode = |byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    let encoded: String = path_bytes(path).into_iter().map(encode).collect();
    // `C:/x` is `/C:/x` in an address.
    let slash = if encoded.starts_with('/') { "" } else { "/" };
    format!("file://{slash}{encoded}")
}

#[cfg(unix)]
fn path_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().replace('\\', "/").into_bytes()
}

/// The elements of a list that are not empty.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut elements = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let skipped = if separator == ':' { beginning(rest) } else { 0 };
        let end = rest[skipped..].find(separator).map_or(rest.len(), |at| skipped + at);
        elements.push(rest[..end].trim());
        rest = rest.get(end + separator.len_utf8()..).unwrap_or_default();
    }
    elements.retain(|element| !element.is_empty());
    elements
}

/// How many bytes at the beginning of an element may have a `:` that does not separate: scheme, host and port.
fn beginning(text: &str) -> usize {
    let Some((scheme, rest)) = split_scheme(text) else { return 0 };
    let start = scheme.len() + "://".len();
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    if authority.contains('@') {
        // Refused later, with a better message than for its halves.
        return start + authority.len();
    }
    // A host of many colons is in brackets.
    let host = authority.find(']').filter(|_| authority.starts_with('[')).map_or(0, |bracket| bracket + 1);
    let Some(colon) = authority[host..].find(':').map(|at| host + at) else { return start + authority.len() };
    let digits = authority[colon + 1..].bytes().take_while(u8::is_ascii_digit).count();
    let after = colon + 1 + digits;
    let is_port = digits > 0 && (after == authority.len() || authority.as_bytes()[after] == b':');
    start + if is_port { after } else { colon }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn paths_and_addresses() {
        let path = |path: &str| Some(Place::Path(PathBuf::from(path)));
        let url = |url: &str| Some(Place::Url(url.to_owned()));
        let rows = [
            ("skills", path("skills")),
            (" ./a b ", path("./a b")),
            ("/a:b", path("/a:b")),
            ("a#b", path("a#b")),
            (r"C:\skills", path(r"C:\skills")),
            ("C:/skills", path("C:/skills")),
            ("c://skills", path("c://skills")),
            ("://x", path("://x")),
            ("file:///a/b", path("/a/b")),
            ("FILE://localhost/a%20b%2Fc", path("/a b/c")),
            ("file:///%zz%4", path("/%zz%4")),
            ("https://h", url("https://h")),
            ("HTTPS://h/x.zip?a=b", url("https://h/x.zip?a=b")),
            ("http://[::1]:80/x", url("http://[::1]:80/x")),
        ];
        for (text, wanted) in rows {
            assert_eq!(Source::parse(text).ok().map(|source| source.place), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_no_source() {
        let rows = [
            ("", "empty"),
            ("  ", "empty"),
            ("ftp://h/x", "`ftp:` is not supported"),
            ("git+https://h/x", "`git+https:` is not supported"),
            ("file://host/x", "other hosts"),
            ("file://", "no path"),
            ("file:///a?b", "%3F"),
            ("file:///a%00b", "NUL"),
            ("https://", "no host"),
            ("https://:80/x", "no host"),
            ("https:///x", "no host"),
            ("https://user:secret@h/x", "leave out user"),
            ("https://h/a b", "%20"),
            ("https://h\\@evil/", "leave out user"),
            ("https://h/\\x", "backslash"),
            ("https://h/x#sha256=12", "64 hexadecimal"),
            ("https://h/x#readme", "64 hexadecimal"),
            ("https://h/x#", "64 hexadecimal"),
        ];
        for (text, wanted) in rows {
            let error = Source::parse(text).map_or_else(|error| error.to_string(), |source| source.to_string());
            assert!(error.contains(wanted), "{text}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn lists() {
        let rows: [(&str, &[&str]); 12] = [
            ("", &[]),
            (":", &[]),
            ("a:b", &["a", "b"]),
            ("a::b:", &["a", "b"]),
            ("a:https://h/x.zip:b", &["a", "https://h/x.zip", "b"]),
            ("https://h:8080/x.zip:https://g/y", &["https://h:8080/x.zip", "https://g/y"]),
            ("https://h:80:/b", &["https://h:80", "/b"]),
            ("https://h:/b", &["https://h", "/b"]),
            ("https://h:80x/b", &["https://h", "80x/b"]),
            ("https://[::1]:80/x:b", &["https://[::1]:80/x", "b"]),
            ("file:///a:file:///b", &["file:///a", "file:///b"]),
            ("https://u:p@h/x:b", &["https://u:p@h/x", "b"]),
        ];
        for (text, wanted) in rows {
            assert_eq!(split(text, ':'), wanted, "{text}");
        }
        assert_eq!(split(r"C:\a;https://h:1/x;;D:\b", ';'), [r"C:\a", "https://h:1/x", r"D:\b"]);
    }

    #[test]
    fn written_as_read() {
        for text in [
            "/a/b".to_owned(),
            "https://h/x.zip".to_owned(),
            format!("https://h/x.zip#sha256={SUM}"),
            format!("file:///a%20b%23.zip#sha256={SUM}"),
            "file:///a%20".to_owned(),
            "file:///a%FFb".to_owned(),
        ] {
            assert_eq!(Source::parse(&text).map(|source| source.to_string()).ok(), Some(text));
        }
    }

    #[test]
    fn names_of_folders() {
        for (text, file, folder) in [
            ("https://h/a/pdf-forms.skill?x=1/2", "pdf-forms.skill", "pdf-forms"),
            ("https://h/a/b.tar.gz", "b.tar.gz", "b"),
            ("https://h/skills/pdf/SKILL.md", "SKILL.md", "pdf"),
            ("https://h/SKILL.md", "SKILL.md", "skill"),
            ("https://h", "", "skill"),
            ("https://h/..%2f..%2fx.zip", "../../x.zip", "x"),
            ("/srv/my skill.zip", "my skill.zip", "my-skill"),
            ("/srv/pdf/SKILL.md", "SKILL.md", "pdf"),
        ] {
            let source = Source::parse(text).unwrap_or_else(|error| unreachable!("{error}"));
            assert_eq!(source.file_name(), file, "{text}");
            assert_eq!(source.folder_name().0, folder, "{text}");
        }
    }
}
