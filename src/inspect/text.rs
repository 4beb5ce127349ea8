//! Paths and hosts in what scripts name.

use super::facts::{Fact, Word};

/// Top folders of Unix systems and of the sandbox: a word that begins with one is a path, not a pattern between slashes.
const TOP_FOLDERS: [&str; 25] = [
    "app",
    "workspace",
    "Applications",
    "Library",
    "Users",
    "Volumes",
    "bin",
    "boot",
    "data",
    "dev",
    "etc",
    "home",
    "lib",
    "media",
    "mnt",
    "opt",
    "private",
    "proc",
    "root",
    "run",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
];
/// Whether a text is a path outside of the skill's folder.
pub fn is_outside(text: &str) -> bool {
    if text.starts_with("~/") || text.starts_with("../") || text == ".." {
        return true;
    }
    let Some(rest) = text.strip_prefix('/') else { return false };
    let top = rest.split('/').next().unwrap_or_default();
    let plain = |c: char| !c.is_control() && !c.is_whitespace() && !"*?[]{}()|<>\"'`$\\;&".contains(c);
    TOP_FOLDERS.contains(&top) && text.chars().all(plain)
}

/// The paths in a fact that lead out of the skill.
pub fn paths(fact: &Fact) -> Vec<String> {
    let words = fact.words.iter().flatten();
    let target = fact.target.iter().filter(|_| fact.redirect.as_deref() != Some("<<"));
    // `--output=/tmp/x` and `if=/dev/zero` hold one too.
    let values = words.chain(target).filter_map(Word::certain).map(|text| match text.split_once('=') {
        Some((_, value)) if is_outside(value) => value,
        _ => text,
    });
    values.chain(fact.string.as_deref()).filter(|text| is_outside(text)).map(str::to_owned).collect()
}

/// The hosts of the addresses in a text.
pub fn hosts(text: &str) -> Vec<String> {
    let mut hosts = Vec::new();
    for (at, _) in text.match_indices("://") {
        let scheme = text[..at].chars().rev().take_while(char::is_ascii_alphabetic).count();
        if scheme == 0 {
            continue;
        }
        let rest = &text[at + 3..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "-._:@[]".contains(c))).unwrap_or(rest.len());
        let host = rest[..end].rsplit('@').next().unwrap_or_default().trim_end_matches(['.', ':']);
        if !host.is_empty() && !hosts.iter().any(|known| known == host) {
            hosts.push(host.to_lowercase());
        }
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_out_is_told_from_what_only_looks_like_it() {
        for (text, outside) in [
            ("/etc/passwd", true),
            ("../other/x", true),
            ("~/x", true),
            ("/foo/", false),
            ("/^a/p", false),
            ("out/x", false),
            ("/", false),
        ] {
            assert_eq!(is_outside(text), outside, "{text}");
        }
        let words = ["dd", "if=/dev/zero", "of=x", "--log=/var/log/x", "/s/"].map(|word| Word::Certain(word.into()));
        let fact = Fact { words: Some(words.to_vec()), string: Some("/etc/hosts".into()), ..Fact::default() };
        assert_eq!(paths(&fact), ["/dev/zero", "/var/log/x", "/etc/hosts"]);
    }

    #[test]
    fn hosts_are_found_in_addresses() {
        let text = "get https://user@Api.Example.com:8443/x and ftp://a.b, http://$HOST/";
        assert_eq!(hosts(text), ["api.example.com:8443", "a.b"]);
    }
}
