//! What the words of commands mean.

use super::facts::{Fact, Program, Word};
use super::scripts::Language;

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
/// Commands that run the command in their arguments.
const WRAPPERS: [&str; 14] = [
    "builtin", "command", "doas", "env", "exec", "nice", "nohup", "setsid", "stdbuf", "sudo", "time", "timeout",
    "watch", "xargs",
];
/// Their options that take the next word.
const VALUES: [(&str, &[&str]); 7] = [
    ("env", &["-u", "-C", "--unset", "--chdir"]),
    ("exec", &["-a"]),
    ("nice", &["-n"]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("sudo", &["-u", "-g", "-h", "-p", "-C"]),
    ("timeout", &["-s", "-k", "--signal", "--kill-after"]),
    ("xargs", &["-n", "-I", "-P", "-L", "-d", "-s", "-a", "-E"]),
];
/// Options of `find` before a command.
const FIND_RUNS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

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

/// The paths in a fact that only the sandbox can tell of.
pub fn paths(fact: &Fact) -> Vec<String> {
    let words = fact.words.iter().flatten();
    let target = fact.target.iter().filter(|_| fact.redirect.as_deref() != Some("<<"));
    // `--output=/tmp/x` and `if=/dev/zero` hold one too.
    let values = words.chain(target).filter_map(Word::certain).map(|text| match text.split_once('=') {
        Some((_, value)) if is_outside(value) => value,
        _ => text,
    });
    values.filter(|text| is_outside(text)).map(str::to_owned).collect()
}

/// The commands of a fact: the first word, and those that wrappers run. `Err`: a word that only running would tell.
pub fn commands(words: &[Word]) -> Vec<Result<&str, &str>> {
    let mut found = Vec::new();
    let mut rest = words;
    while let Some((first, others)) = rest.split_first() {
        let Some(name) = first.certain() else {
            found.push(Err(first.text()));
            break;
        };
        if name.is_empty() {
            break;
        }
        found.push(Ok(name));
        let base = name.rsplit('/').next().unwrap_or(name);
        if base == "find" {
            let starts = others
                .iter()
                .enumerate()
                .filter(|(_, word)| word.certain().is_some_and(|word| FIND_RUNS.contains(&word)));
            for (at, _) in starts {
                found.extend(commands(others.get(at + 1..at + 2).unwrap_or_default()));
            }
            break;
        }
        // `command -v x` only asks.
        let asks = base == "command"
            && others.first().and_then(Word::certain).is_some_and(|word| word.eq_ignore_ascii_case("-v"));
        if !WRAPPERS.contains(&base) || asks {
            break;
        }
        let mut start = 0;
        while let Some(word) = others.get(start).map(Word::text) {
            let takes_value = VALUES.iter().any(|(wrapper, options)| *wrapper == base && options.contains(&word));
            let time = base == "timeout" && word.starts_with(|c: char| c.is_ascii_digit());
            let assigns = base == "env" && word.contains('=');
            start += match word {
                _ if takes_value => 2,
                _ if word.starts_with('-') || time || assigns => 1,
                _ => break,
            };
        }
        let start = start.min(others.len());
        rest = &others[start..];
    }
    found
}

/// The file that an interpreter is told to run: `bash FILE`, `. FILE`. Nothing when it reads a string or its input.
pub fn file_run(words: &[Word]) -> Option<&Word> {
    let name = words.first()?.certain()?;
    let base = name.rsplit('/').next().unwrap_or(name);
    if !matches!(base, "bash" | "sh" | "source" | "." | "python" | "python3") {
        return None;
    }
    for word in &words[1..] {
        match word.certain() {
            Some("-" | "-m" | "-s") => return None,
            // `-c` and `-ec`: a string.
            Some(option) if option.starts_with('-') && !option.starts_with("--") && option.ends_with('c') => {
                return None;
            }
            Some(option) if option.starts_with('-') => {}
            _ => return Some(word),
        }
    }
    None
}

/// Whether an interpreter is told to run what only running would tell: a string with expansions, or its input.
pub fn runs_unknown(words: &[Word]) -> bool {
    let Some(name) = words.first().and_then(Word::certain) else { return false };
    let uncertain = words.iter().any(|word| word.certain().is_none());
    match name.rsplit('/').next().unwrap_or(name) {
        "eval" | "trap" | "alias" => uncertain,
        "bash" | "sh" | "python" | "python3" => {
            let has = |letter: char| {
                let short = words
                    .iter()
                    .filter_map(Word::certain)
                    .filter(|word| word.starts_with('-') && !word.starts_with("--"));
                short.into_iter().any(|word| word.ends_with(letter))
            };
            // A here-document with certain text is read apart, and told as a command of its own.
            if has('c') {
                uncertain
            } else {
                file_run(words).is_none() && !has('m') && !words.iter().any(|word| word.text().starts_with("--"))
            }
        }
        _ => false,
    }
}

/// Programs in strings and here-documents.
#[derive(Debug, Default)]
pub struct Nested {
    /// Lines for a shell.
    pub shell: Vec<Program>,
    /// Python.
    pub python: Vec<Program>,
}

/// Finds `bash -c TEXT`, `eval TEXT`, `trap TEXT`, `alias N=TEXT`, `python3 -c TEXT`, and here-documents for these.
pub fn programs_in(facts: &[Fact]) -> Nested {
    let mut nested = Nested::default();
    let mut reader = None;
    for fact in facts {
        if fact.redirect.as_deref() == Some("<<") {
            // A here-document follows the command that reads it.
            let Some(Word::Certain(text)) = &fact.target else { continue };
            let program = Program { file: fact.file.clone(), offset: fact.line, text: text.clone() };
            match reader {
                Some((Language::Shell, file, line)) if (file, line) == (&fact.file, fact.line) => {
                    nested.shell.push(program);
                }
                Some((Language::Python, file, line)) if (file, line) == (&fact.file, fact.line) => {
                    nested.python.push(program);
                }
                _ => {}
            }
            continue;
        }
        let Some(words) = &fact.words else { continue };
        let texts: Vec<&str> = words.iter().map(|word| word.certain().unwrap_or_default()).collect();
        let program = |text: &str| Program {
            file: fact.file.clone(),
            offset: fact.line.saturating_sub(1),
            text: text.to_owned(),
        };
        for (at, text) in texts.iter().enumerate() {
            let base = text.rsplit('/').next().unwrap_or(text);
            // `-c`, `-ec`, `-x -c`; an option of bash's that ends in `c` has it.
            let code = |at: usize| {
                let options = texts[at + 1..].iter().take_while(|word| word.starts_with('-') && **word != "--").count();
                let given =
                    texts[at + 1..].iter().take(options).any(|word| !word.starts_with("--") && word.ends_with('c'));
                let next = texts.get(at + 1 + options).filter(|word| **word != "--");
                next.or(texts.get(at + 2 + options)).filter(|text| given && !text.is_empty())
            };
            match base {
                "bash" | "sh" => {
                    nested.shell.extend(code(at).map(|text| program(text)));
                    reader = Some((Language::Shell, &fact.file, fact.line));
                }
                "eval" if at == 0 => nested.shell.push(program(&texts[1..].join(" "))),
                "trap" if at == 0 => nested.shell.extend(texts.get(1).map(|text| program(text))),
                "alias" if at == 0 => {
                    let values = texts[1..].iter().filter_map(|text| text.split_once('='));
                    nested.shell.extend(values.map(|(_, text)| program(text)));
                }
                "python" | "python3" => {
                    nested.python.extend(code(at).map(|text| program(text)));
                    reader = Some((Language::Python, &fact.file, fact.line));
                }
                _ => {}
            }
        }
    }
    nested
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Word> {
        let word = |text: &str| match text.contains('$') {
            true => Word::Raw { raw: text.to_owned() },
            false => Word::Certain(text.to_owned()),
        };
        line.split(' ').map(word).collect()
    }

    #[test]
    fn wrappers_run_the_command_in_their_arguments() {
        for (line, expected) in [
            ("ls -l", &[Ok("ls")][..]),
            ("sudo -n env -i A=b timeout 5 curl -s x", &[Ok("sudo"), Ok("env"), Ok("timeout"), Ok("curl")]),
            ("xargs -0 $cmd x", &[Ok("xargs"), Err("$cmd")]),
            ("command -v jq", &[Ok("command")]),
            ("find . -name x -exec grep -q y {} ;", &[Ok("find"), Ok("grep")]),
            ("$tool x", &[Err("$tool")]),
        ] {
            assert_eq!(commands(&words(line)), expected, "{line}");
        }
    }

    #[test]
    fn paths_outside_and_hosts() {
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
        assert_eq!(
            hosts("get https://user@Api.Example.com:8443/x and ftp://a.b, http://$HOST/"),
            ["api.example.com:8443", "a.b"]
        );
        let fact = Fact { words: Some(words("dd if=/dev/zero of=x --log=/var/log/x /s/")), ..Fact::default() };
        assert_eq!(paths(&fact), ["/dev/zero", "/var/log/x"]);
    }
}
