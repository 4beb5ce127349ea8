//! What the words of a command mean: which commands it runs, and what an interpreter among them is told to read.

use super::facts::Word;
use super::scripts::Language;

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

/// Options of interpreters that take the next word.
const INTERPRETER_VALUES: [&str; 5] = ["-O", "+O", "-o", "-W", "-X"];

/// The commands that run: the words themselves, and what wrappers and `find` among them are told to run.
pub fn invocations(words: &[Word]) -> Vec<&[Word]> {
    let mut found = Vec::new();
    let mut rest = words;
    while let Some((first, others)) = rest.split_first() {
        if first.certain().is_some_and(str::is_empty) {
            break;
        }
        found.push(rest);
        let Some(name) = base(first) else { break };
        if name == "find" {
            let is_run = |word: &Word| word.certain().is_some_and(|word| FIND_RUNS.contains(&word));
            for part in others.split(is_run).skip(1) {
                found.extend(invocations(part));
            }
            break;
        }
        // `command -v x` only asks.
        let asks = name == "command" && others.first().is_some_and(|word| word.text().eq_ignore_ascii_case("-v"));
        if !WRAPPERS.contains(&name) || asks {
            break;
        }
        let mut start = 0;
        while let Some(word) = others.get(start).map(Word::text) {
            let takes_value = VALUES.iter().any(|(wrapper, options)| *wrapper == name && options.contains(&word));
            let time = name == "timeout" && word.starts_with(|c: char| c.is_ascii_digit());
            let assigns = name == "env" && word.contains('=');
            start += match word {
                _ if takes_value => 2,
                _ if word.starts_with('-') || time || assigns => 1,
                _ => break,
            };
        }
        rest = others.get(start..).unwrap_or_default();
    }
    found
}

/// What an interpreter is told to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reads<'a> {
    /// This program.
    Text(String),
    /// A program that only running would tell.
    Unknown,
    /// This file.
    File(&'a Word),
    /// Its standard input.
    Input,
}

/// What a command reads programs from, and their language. Most commands read none.
pub fn reads(command: &[Word]) -> (Language, Vec<Reads<'_>>) {
    let Some((first, others)) = command.split_first() else { return (Language::Shell, Vec::new()) };
    let text = |word: &Word| word.certain().map_or(Reads::Unknown, |text| Reads::Text(text.to_owned()));
    let name = base(first).unwrap_or_default();
    let read = match name {
        "bash" | "sh" | "python" | "python3" => interpreter(others).into_iter().collect(),
        "source" | "." => others.first().map(Reads::File).into_iter().collect(),
        "eval" if others.is_empty() => Vec::new(),
        "eval" => match others.iter().map(Word::certain).collect::<Option<Vec<_>>>() {
            Some(texts) => vec![Reads::Text(texts.join(" "))],
            None => vec![Reads::Unknown],
        },
        // `trap - INT` and `trap -p` set none.
        "trap" => others.iter().take(1).filter(|word| !word.text().starts_with('-')).map(text).collect(),
        "alias" => {
            let values = others.iter().map(|word| match word.certain().map(|word| word.split_once('=')) {
                Some(value) => value.map(|(_, text)| Reads::Text(text.to_owned())),
                None => Some(Reads::Unknown),
            });
            values.flatten().collect()
        }
        _ => Vec::new(),
    };
    (if name.starts_with("python") { Language::Python } else { Language::Shell }, read)
}

/// What the arguments of bash or Python say.
fn interpreter(arguments: &[Word]) -> Option<Reads<'_>> {
    let mut words = arguments.iter();
    let (mut is_text, mut is_long) = (false, false);
    while let Some(word) = words.next() {
        let Some(option) = word.certain().filter(|word| word.len() > 1 && word.starts_with(['-', '+'])) else {
            return match word.certain() {
                Some("-") => Some(Reads::Input),
                Some(text) if is_text => Some(Reads::Text(text.to_owned())),
                None if is_text => Some(Reads::Unknown),
                _ => Some(Reads::File(word)),
            };
        };
        match option {
            "-m" => return None,
            "-s" => return Some(Reads::Input),
            "--" => {}
            _ if option.starts_with("--") => is_long = true,
            _ if INTERPRETER_VALUES.contains(&option) => drop(words.next()),
            // `-c`, and bash's `-ec`.
            _ => is_text |= option.ends_with('c'),
        }
    }
    // `--version` reads nothing.
    (!is_long && !is_text).then_some(Reads::Input)
}

/// A command's name without its folder.
fn base(word: &Word) -> Option<&str> {
    word.certain().map(|name| name.rsplit('/').next().unwrap_or(name))
}

#[cfg(test)]
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
            ("ls -l", &["ls"][..]),
            ("sudo -n -u root env -i A=b timeout -s KILL 5 curl -s x", &["sudo", "env", "timeout", "curl"]),
            ("xargs -0 -n 1 $cmd x", &["xargs", "$cmd"]),
            ("command -v jq", &["command"]),
            ("find . -name x -exec grep -q y {} ; -execdir env wc {} +", &["find", "grep", "env", "wc"]),
            ("nice -n", &["nice"]),
            ("$tool x", &["$tool"]),
        ] {
            let words = words(line);
            let names: Vec<_> = invocations(&words).iter().map(|command| command[0].text()).collect();
            assert_eq!(names, expected, "{line}");
        }
    }

    #[test]
    fn interpreters_read_strings_files_and_their_input() {
        let text = |text: &str| vec![Reads::Text(text.to_owned())];
        let file = Word::Certain("a.sh".into());
        for (line, expected) in [
            ("bash -c x", text("x")),
            ("bash -x -c x", text("x")),
            ("bash -ec x y", text("x")),
            ("bash -c -- x", text("x")),
            ("bash -c $x", vec![Reads::Unknown]),
            ("python3 -u -c x", text("x")),
            ("/bin/sh -e a.sh b", vec![Reads::File(&file)]),
            ("bash -o pipefail a.sh", vec![Reads::File(&file)]),
            (". a.sh", vec![Reads::File(&file)]),
            ("python3 -m http.server", vec![]),
            ("python3 --version", vec![]),
            ("python3 -", vec![Reads::Input]),
            ("sh", vec![Reads::Input]),
            ("eval a b", text("a b")),
            ("eval $a b", vec![Reads::Unknown]),
            ("trap x EXIT", text("x")),
            ("trap - EXIT", vec![]),
            ("alias a=b c", text("b")),
            ("ls -c x", vec![]),
        ] {
            assert_eq!(reads(&words(line)).1, expected, "{line}");
        }
    }
}
