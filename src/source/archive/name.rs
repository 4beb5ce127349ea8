//! The rules for names inside archives: the same for every kind, and as strict as the strictest platform.

use unicode_normalization::UnicodeNormalization;

use super::ArchiveError;
use crate::source::limits::Limits;

/// A name that is inside the archive on every platform: components without `.`, `..`, separators or drive letters.
#[derive(Debug, PartialEq, Eq)]
pub struct EntryName<'a> {
    /// From the outermost folder to the file.
    pub components: Vec<&'a str>,
    /// It ended with `/`.
    pub is_folder: bool,
}

impl<'a> EntryName<'a> {
    /// Checks the bytes of a name. `./` and repeated `/` are dropped, as every program that writes tar archives of `.`
    /// has them; a name of nothing else is the archive's own root and has no components.
    pub fn parse(raw: &'a [u8], limits: &Limits) -> Result<Self, ArchiveError> {
        let refuse = |reason| Err(ArchiveError::Name { name: shown(raw), reason });
        let Ok(name) = std::str::from_utf8(raw) else { return refuse("it is not UTF-8") };
        if name.is_empty() {
            return refuse("it is empty");
        }
        if name.len() > limits.path {
            return refuse("it is too long");
        }
        if name.starts_with('/') {
            return refuse("it is absolute");
        }
        let mut components = Vec::new();
        for component in name.split('/').filter(|component| !component.is_empty() && *component != ".") {
            if let Some(reason) = fault(component) {
                return refuse(reason);
            }
            if component.len() > limits.component {
                return refuse("a part of it is too long");
            }
            components.push(component);
        }
        if components.len() > limits.depth {
            return refuse("its folders are too deep");
        }
        Ok(Self { components, is_folder: name.ends_with('/') })
    }
}

/// What is wrong with one component.
fn fault(component: &str) -> Option<&'static str> {
    if component == ".." {
        Some("`..` leads out of the archive")
    } else if component.contains('\\') {
        Some("`\\` separates folders on Windows")
    } else if component.contains(':') {
        Some("`:` names drives and hidden streams on Windows")
    } else if component.chars().any(char::is_control) {
        Some("it has control characters")
    } else if component.ends_with(['.', ' ']) {
        Some("Windows drops dots and blanks at the end")
    } else if is_reserved(component) {
        Some("it names a device on Windows")
    } else {
        None
    }
}

/// Whether Windows takes `component` for a device, whatever its extension.
pub fn is_reserved(component: &str) -> bool {
    let stem = component.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    match stem.as_str() {
        "con" | "prn" | "aux" | "nul" | "conin$" | "conout$" => true,
        _ => {
            let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
            // Windows counts the superscript digits too.
            port.is_some_and(|digit| {
                let mut chars = digit.chars();
                matches!((chars.next(), chars.next()), (Some('1'..='9' | '¹' | '²' | '³'), None))
            })
        }
    }
}

/// What a component becomes on a file system that ignores case and Unicode forms; equal for names that would be one
/// file.
pub fn folded(component: &str) -> String {
    if component.is_ascii() {
        return component.to_ascii_lowercase();
    }
    // Not lower case alone: the two small sigmas meet in upper case, and `ß` and `ẞ` only after both.
    component.nfd().collect::<String>().to_lowercase().to_uppercase().to_lowercase().nfc().collect()
}

/// The name for a message: printable and not endless.
pub fn shown(raw: &[u8]) -> String {
    const SHOWN: usize = 100;
    let text = String::from_utf8_lossy(raw);
    let mut shown: String = text.chars().take(SHOWN).flat_map(escaped).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

fn escaped(c: char) -> Vec<char> {
    if c.is_control() { c.escape_default().collect() } else { vec![c] }
}

/// The last part of a path or address as a folder name that needs no quoting: letters, digits, `.`, `_`, `-`, not
/// beginning with `.` or `-`, at most 64 bytes; `skill` when nothing is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName(pub String);

impl FileName {
    pub fn from_lossy(text: &str) -> Self {
        const LONGEST: usize = 64;
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
        let name: String = text.chars().map(plain).collect();
        let name = name.trim_start_matches(['.', '-']);
        let name = name[..name.len().min(LONGEST)].trim_end_matches(['.', '-']);
        Self(if name.is_empty() || is_reserved(name) { "skill".to_owned() } else { name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_stay_inside() {
        let limits = Limits::default();
        let rows: [(&str, &[&str], bool); 8] = [
            ("a", &["a"], false),
            ("a/b.md", &["a", "b.md"], false),
            ("a/b/", &["a", "b"], true),
            ("./a//./b", &["a", "b"], false),
            ("./", &[], true),
            ("...a/..b/c..d", &["...a", "..b", "c..d"], false),
            ("überblick/日本.md", &["überblick", "日本.md"], false),
            ("console/com10/com0/lpt/auxiliary", &["console", "com10", "com0", "lpt", "auxiliary"], false),
        ];
        for (name, components, is_folder) in rows {
            let parsed = EntryName::parse(name.as_bytes(), &limits);
            assert_eq!(parsed.ok(), Some(EntryName { components: components.to_vec(), is_folder }), "{name}");
        }
    }

    #[test]
    fn names_that_are_refused() {
        let limits = Limits::default();
        let long = "a".repeat(256);
        let longer = "a/".repeat(513);
        let deep = "a/".repeat(33);
        let rows: &[&[u8]] = &[
            b"",
            b"/",
            b"/etc/passwd",
            b"//host/share",
            b"..",
            b"../a",
            b"a/../b",
            b"a/..",
            b"..\\a",
            b"a\\b",
            b"C:",
            b"C:/a",
            b"c:a",
            b"a:b",
            b"a\0b",
            b"a\nb",
            b"a\x1b[0m",
            b"a\x7f",
            b"\xff",
            b"a.",
            b"a ",
            b"a./b",
            b".. /a",
            b"con",
            b"a/NUL.txt",
            b"Aux.tar.gz",
            b"com1",
            b"LPT9.x",
            b"nul .md",
            "com¹".as_bytes(),
            "a\u{85}".as_bytes(),
            long.as_bytes(),
            longer.as_bytes(),
            deep.as_bytes(),
        ];
        for name in rows {
            let refused = matches!(EntryName::parse(name, &limits), Err(ArchiveError::Name { .. }));
            assert!(refused, "{}", name.escape_ascii());
        }
    }

    #[test]
    fn names_that_are_one_file_somewhere() {
        for (one, other) in
            [("SKILL.md", "skill.MD"), ("\u{e9}", "e\u{301}"), ("É", "e\u{301}"), ("ς", "Σ"), ("ß", "ẞ"), ("ﬁ", "FI")]
        {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
        assert_ne!(folded("a"), folded("á"));
    }

    #[test]
    fn plain_names() {
        for (text, wanted) in [
            ("pdf-forms", "pdf-forms"),
            ("..", "skill"),
            (".hidden", "hidden"),
            ("a b/c", "a-b-c"),
            ("", "skill"),
            ("nul", "skill"),
            ("日本", "skill"),
            ("-rf", "rf"),
        ] {
            assert_eq!(FileName::from_lossy(text).0, wanted, "{text}");
        }
    }
}
