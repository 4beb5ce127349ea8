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

/// What the names of XML namespaces begin with: they look like addresses, and nobody asks for them.
const NAMESPACES: [&str; 2] = ["http://www.w3.org/", "http://schemas.openxmlformats.org/"];
/// Commands whose words may name hosts without a scheme.
const NETWORK_COMMANDS: [&str; 9] = ["curl", "dig", "ftp", "nc", "nslookup", "ping", "ssh", "telnet", "wget"];
/// Commands whose words name files of hosts, `host:path`, beside files of their own.
const COPY_COMMANDS: [&str; 4] = ["git", "rsync", "scp", "sftp"];

/// The hosts of the addresses in a text.
pub fn hosts(text: &str) -> Vec<String> {
    let mut hosts = Vec::new();
    for (at, _) in text.match_indices("://") {
        let scheme = text[..at].chars().rev().take_while(char::is_ascii_alphabetic).count();
        if scheme == 0 {
            continue;
        }
        if NAMESPACES.iter().any(|name| text[at - scheme..].starts_with(name)) {
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

/// The hosts that a command of the network names without a scheme: `curl example.com/x`, `scp f anna@host.example:`.
pub fn bare_hosts(command: &[Word]) -> Vec<String> {
    let name = command.first().and_then(Word::certain).and_then(|name| name.rsplit('/').next());
    let Some(name) = name.filter(|name| NETWORK_COMMANDS.contains(name) || COPY_COMMANDS.contains(name)) else {
        return Vec::new();
    };
    let is_copy = COPY_COMMANDS.contains(&name);
    let mut hosts = Vec::new();
    for (index, word) in command.iter().enumerate().skip(1) {
        // The word after an option may be its value: the name of a file, for one.
        let is_value = index > 1 && command[index - 1].text().starts_with('-');
        let Some(text) = word.certain().filter(|text| !is_value && !text.starts_with('-')) else { continue };
        if text.contains("://") || is_copy && !text.contains([':', '@']) {
            continue;
        }
        let (user, rest) = text.split_once('@').map_or(("", text), |(user, rest)| (user, rest));
        let host = rest.split(['/', ':']).next().unwrap_or_default().to_lowercase();
        if (is_domain(&host) || !user.is_empty() && !host.is_empty()) && !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    hosts
}

/// Whether a text is a name with a domain, or an IPv4 address.
fn is_domain(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let plain = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let is_address = parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok());
    let top = parts.last().is_some_and(|top| top.len() > 1 && top.chars().all(|c| c.is_ascii_alphabetic()));
    parts.len() > 1 && parts.iter().all(plain) && (top || is_address)
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
        assert_eq!(hosts("xmlns='http://www.w3.org/2000/svg' https://www.w3.org/x"), ["www.w3.org"]);
    }

    #[test]
    fn commands_of_the_network_name_hosts_without_a_scheme() {
        for (line, expected) in [
            ("curl -s -o out.txt Example.com/data.csv", &["example.com"][..]),
            ("wget 192.168.1.9/x", &["192.168.1.9"]),
            ("scp report.pdf anna@backup:/srv", &["backup"]),
            ("git clone git@github.com:a/b", &["github.com"]),
            ("ssh -p 22 host.example ls", &["host.example"]),
            ("cp a.example b.example", &[]),
            ("curl $HOST", &[]),
        ] {
            let word = |text: &str| match text.starts_with('$') {
                true => Word::Raw { raw: text.into() },
                false => Word::Certain(text.into()),
            };
            let words: Vec<Word> = line.split(' ').map(word).collect();
            assert_eq!(bare_hosts(&words), expected, "{line}");
        }
    }
}
