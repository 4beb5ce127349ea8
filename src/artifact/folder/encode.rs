//! Names as the names of folders.

use sha2::{Digest, Sha256};

/// Characters of a name that a folder shows; the longest that is used as it is.
const SHOWN: usize = 64;

/// What folders of names that are not used as they are have before their digest.
const MARK: char = '~';

/// The folder of a name. A short one of `a-z0-9_-.` is its own folder, as no file system takes two such names for one
/// or reads something into one. Any other becomes what it looks like in these characters, `~`, and half of its SHA-256.
pub fn folder_of(name: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    let is_its_own = !name.is_empty()
        && name.len() <= SHOWN
        && name.chars().all(|c| plain(c) || c == '.')
        && !name.starts_with(['.', '-'])
        && !name.ends_with('.')
        && !is_device(name);
    if is_its_own {
        return name.to_owned();
    }
    let shown = name.chars().take(SHOWN).map(|c| c.to_ascii_lowercase()).map(|c| if plain(c) { c } else { '-' });
    let digest = Sha256::digest(name);
    let digits = digest.iter().take(16).map(|byte| format!("{byte:02x}"));
    let shown: String = shown.collect();
    [shown.trim_start_matches('-').to_owned(), MARK.to_string()].into_iter().chain(digits).collect()
}

/// Whether a folder is named as the name in it, not by its digest.
pub fn is_own(folder: &str) -> bool {
    !folder.contains(MARK)
}

/// Whether Windows takes a name of plain characters for a device, whatever its extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    match stem {
        "con" | "prn" | "aux" | "nul" => true,
        _ => {
            let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
            port.is_some_and(|number| number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_digit()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn plain_names_stay() {
        for name in ["a", "report.pdf", "0", "a_b-c.d", "console", "com10", &"x".repeat(64)] {
            assert_eq!(folder_of(name), name);
            assert!(is_own(name));
        }
    }

    #[test]
    fn others_get_a_digest() {
        assert_eq!(folder_of("out/A.txt"), "out-a-txt~cb9957572ebf0bf724656724d4ec793b");
        let names =
            ["", ".", "..", "a.", ".a", "-a", "A", "a/b", "a\\b", "a b", "a-b~", "con", "nul.txt", "com1", "ä", "~"];
        let folders: BTreeSet<String> = names.iter().map(|name| folder_of(name)).collect();
        assert_eq!(folders.len(), names.len());
        for folder in folders {
            let (shown, digits) = folder.split_once(MARK).unwrap_or_default();
            assert!(digits.len() == 32 && shown.len() <= SHOWN && !shown.contains('.') && !is_own(&folder), "{folder}");
        }
        assert!(folder_of(&"ü/".repeat(500)).len() <= SHOWN + 33);
    }
}
