//! `compgen`, `complete`, `compopt`: programmable completion, as far as scripts use it without a terminal.

use crate::os;
use crate::quote;
use crate::shell::{Run, Shell};
use crate::state::ScopeKind;
use crate::state::vars::{Value, Var, attr};
use std::rc::Rc;

const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in",
    "function", "time", "{", "}", "!", "[[", "]]", "coproc",
];

/// Names that `-o` takes.
const COMPLETION_OPTIONS: &[&[u8]] = &[
    b"bashdefault",
    b"default",
    b"dirnames",
    b"filenames",
    b"noquote",
    b"nosort",
    b"nospace",
    b"plusdirs",
];

pub fn compopt(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    // `+o` takes an option away.
    let mut changes: Vec<(bool, Vec<u8>)> = Vec::new();
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut words = argv[1..].iter().peekable();
    while let Some(word) = words.next_if(|w| w.len() > 1 && matches!(w[0], b'-' | b'+')) {
        match word.as_slice() {
            b"--" => break,
            b"-D" | b"-E" | b"-I" => names.push(word.clone()),
            b"-o" | b"+o" => {
                let Some(name) = words.next() else {
                    shell.builtin_error("compopt", "-o: option requires an argument");
                    shell.usage("compopt");
                    return Ok(2);
                };
                if !COMPLETION_OPTIONS.contains(&name.as_slice()) {
                    let shown = String::from_utf8_lossy(name).into_owned();
                    shell.builtin_error("compopt", &format!("{shown}: invalid option name"));
                    return Ok(2);
                }
                changes.push((word[0] == b'-', name.clone()));
            }
            _ => {
                let shown = String::from_utf8_lossy(&word[..2]).into_owned();
                shell.builtin_error("compopt", &format!("{shown}: invalid option"));
                shell.usage("compopt");
                return Ok(2);
            }
        }
    }
    names.extend(words.cloned());
    if names.is_empty() {
        shell.builtin_error("compopt", "not currently executing completion function");
        return Ok(1);
    }
    for name in names {
        let Some(spec) = shell.st.completions.get(&name).cloned() else {
            no_specification(shell, "compopt", &name);
            return Ok(1);
        };
        // Options stand first, by name.
        let mut rest = spec.as_slice();
        let mut set: Vec<&[u8]> = Vec::new();
        while let Some((option, after)) = rest
            .strip_prefix(b"-o ")
            .and_then(|r| r.iter().position(|&c| c == b' ').map(|i| (&r[..i], &r[i + 1..])))
        {
            set.push(option);
            rest = after;
        }
        if changes.is_empty() {
            let mut line = b"compopt".to_vec();
            for option in COMPLETION_OPTIONS {
                line.extend_from_slice(if set.contains(option) { b" -o " } else { b" +o " });
                line.extend_from_slice(option);
            }
            shell
                .out
                .extend_from_slice(&[line.as_slice(), b" ", &name, b"\n"].concat());
            continue;
        }
        let mut text = Vec::new();
        for option in COMPLETION_OPTIONS {
            let change = changes.iter().rev().find(|(_, o)| o == option);
            if change.map_or(set.contains(option), |(on, _)| *on) {
                text.extend_from_slice(&[b"-o ", *option, b" "].concat());
            }
        }
        text.extend_from_slice(rest);
        Rc::make_mut(&mut shell.st.completions).insert(name, text);
    }
    Ok(0)
}

fn no_specification(shell: &mut Shell, builtin: &str, name: &[u8]) {
    // The names under which bash keeps those of no command.
    let shown = match name {
        b"-D" => "_DefaultCmD_".into(),
        b"-E" => "_EmptycmD_".into(),
        b"-I" => "_InitialWorD_".into(),
        _ => String::from_utf8_lossy(name).into_owned(),
    };
    shell.builtin_error(builtin, &format!("{shown}: no completion specification"));
}

pub fn complete(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"abcdefgjksuvprDEIo:A:G:W:F:C:X:P:S:") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let names = &argv[options.rest..];
    if options.has(b'r') {
        if options.has(b'D') || options.has(b'E') {
            let name: &[u8] = if options.has(b'D') { b"-D" } else { b"-E" };
            Rc::make_mut(&mut shell.st.completions).remove(name);
            return Ok(0);
        }
        if names.is_empty() {
            shell.st.completions = Rc::default();
            return Ok(0);
        }
        let mut status = 0;
        if shell.st.completions.is_empty() {
            return Ok(0);
        }
        for name in names {
            if Rc::make_mut(&mut shell.st.completions).remove(name).is_none() {
                no_specification(shell, "complete", name);
                status = 1;
            }
        }
        return Ok(status);
    }
    if options.has(b'p') || options.list.is_empty() && names.is_empty() {
        let mut status = 0;
        let specs = shell.st.completions.clone();
        let mut names = names.to_vec();
        if options.has(b'D') {
            names.push(b"-D".to_vec());
        }
        if options.has(b'E') {
            names.push(b"-E".to_vec());
        }
        if names.is_empty() {
            for (name, spec) in specs.iter() {
                shell
                    .out
                    .extend_from_slice(&[b"complete ", spec.as_slice(), name, b"\n"].concat());
            }
        }
        for name in &names {
            match specs.get(name) {
                Some(spec) => shell
                    .out
                    .extend_from_slice(&[b"complete ", spec.as_slice(), name, b"\n"].concat()),
                None => {
                    no_specification(shell, "complete", name);
                    status = 1;
                }
            }
        }
        return Ok(status);
    }
    let targets: Vec<Vec<u8>> = if options.has(b'D') {
        vec![b"-D".to_vec()]
    } else if options.has(b'E') {
        vec![b"-E".to_vec()]
    } else {
        names.to_vec()
    };
    if targets.is_empty() {
        shell.usage("complete");
        return Ok(2);
    }
    // The specification as `complete -p` prints it.
    let mut spec = Vec::new();
    let order = b"oabcdefgjksuvAGWPSXFC";
    let mut given: Vec<_> = options.list.iter().filter(|(l, _)| order.contains(l)).collect();
    given.sort_by_key(|(l, v)| {
        let option = v.as_deref().filter(|_| *l == b'o');
        let option = option.and_then(|o| COMPLETION_OPTIONS.iter().position(|known| *known == o));
        (order.iter().position(|c| c == l), option)
    });
    for (letter, value) in given {
        if let (b'A', Some(b"file")) = (letter, value.as_deref()) {
            spec.extend_from_slice(b"-f ");
            continue;
        }
        spec.extend_from_slice(&[b'-', *letter, b' ']);
        if let Some(value) = value {
            let text = if matches!(letter, b'F' | b'o' | b'A') {
                value.clone()
            } else {
                quote::single(value)
            };
            spec.extend_from_slice(&text);
            spec.push(b' ');
        }
    }
    for name in targets {
        Rc::make_mut(&mut shell.st.completions).insert(name, spec.clone());
    }
    Ok(0)
}

pub fn compgen(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"abcdefgjksuvo:A:G:W:F:C:X:P:S:") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let word = argv.get(options.rest).cloned().unwrap_or_default();
    let mut found: Vec<Vec<u8>> = Vec::new();
    for (letter, value) in &options.list {
        let action: &[u8] = match letter {
            b'a' => b"alias",
            b'b' => b"builtin",
            b'c' => b"command",
            b'd' => b"directory",
            b'e' => b"export",
            b'f' => b"file",
            b'k' => b"keyword",
            b'v' => b"variable",
            b'j' => b"job",
            b'u' => b"user",
            b'g' => b"group",
            b's' => b"service",
            b'A' => value.as_deref().unwrap_or_default(),
            _ => continue,
        };
        match shell.completion_action(action, &word) {
            Some(mut words) => found.append(&mut words),
            None => {
                let shown = String::from_utf8_lossy(action).into_owned();
                shell.builtin_error("compgen", &format!("{shown}: invalid action name"));
                return Ok(2);
            }
        }
    }
    if let Some(pattern) = options.value(b'G') {
        let pattern = pattern.to_vec();
        found.extend(shell.glob(&pattern));
    }
    if let Some(list) = options.value(b'W') {
        // The list is split by IFS, then expanded.
        let text = list.to_vec();
        for candidate in shell.expand_word_list(&text)? {
            if candidate.starts_with(&word) {
                found.push(candidate);
            }
        }
    }
    if let Some(name) = options.value(b'F') {
        shell.builtin_error("compgen", "warning: -F option may not work as you expect");
        found.extend(shell.completion_function(name, &word)?);
    }
    if let Some(command) = options.value(b'C') {
        shell.builtin_error("compgen", "warning: -C option may not work as you expect");
        let call = [b"$(", command, b" compgen ", &quote::single(&word), b" '')"].concat();
        let text = shell.expand_text(&call)?;
        let lines = text.split(|&c| c == b'\n').filter(|line| !line.is_empty());
        found.extend(lines.map(<[u8]>::to_vec));
    }
    if let Some(pattern) = options.value(b'X') {
        let (negate, pattern) = match pattern.strip_prefix(b"!") {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        // An unquoted `&` stands for the word being completed.
        let mut text = Vec::new();
        let mut i = 0;
        while i < pattern.len() {
            match pattern[i] {
                b'\\' if pattern.get(i + 1) == Some(&b'&') => {
                    text.push(b'&');
                    i += 1;
                }
                b'&' => text.extend_from_slice(&word),
                c => text.push(c),
            }
            i += 1;
        }
        let matcher = crate::pattern::Pattern::new(&text, shell.st.shopts.extglob, false);
        found.retain(|w| matcher.matches(w) == negate);
    }
    let (prefix, suffix) = (
        options.value(b'P').unwrap_or_default(),
        options.value(b'S').unwrap_or_default(),
    );
    for (_, name) in options.list.iter().filter(|(l, _)| *l == b'o') {
        let name = name.as_deref().unwrap_or_default();
        if !COMPLETION_OPTIONS.contains(&name) {
            let shown = String::from_utf8_lossy(name).into_owned();
            shell.builtin_error("compgen", &format!("{shown}: invalid option name"));
            return Ok(2);
        }
    }
    let wants = |what: &[u8]| {
        options
            .list
            .iter()
            .any(|(l, v)| *l == b'o' && v.as_deref() == Some(what))
    };
    let mut plain: Vec<Vec<u8>> = Vec::new();
    if wants(b"plusdirs") || found.is_empty() && wants(b"dirnames") {
        plain = shell.complete_files(&word, true);
    } else if found.is_empty() && (wants(b"default")) {
        plain = shell.complete_files(&word, false);
    }
    let empty = found.is_empty() && plain.is_empty();
    for candidate in plain {
        shell.out.extend_from_slice(&[candidate.as_slice(), b"\n"].concat());
    }
    for candidate in found {
        shell
            .out
            .extend_from_slice(&[prefix, &candidate, suffix, b"\n"].concat());
    }
    Ok(i32::from(empty))
}

impl Shell {
    fn completion_action(&mut self, action: &[u8], word: &[u8]) -> Option<Vec<Vec<u8>>> {
        let mut all: Vec<Vec<u8>> = match action {
            b"alias" => self.st.aliases.keys().cloned().collect(),
            b"builtin" | b"helptopic" => super::BUILTINS.iter().map(|b| b.name.as_bytes().to_vec()).collect(),
            b"enabled" => super::BUILTINS
                .iter()
                .map(|b| b.name.as_bytes().to_vec())
                .filter(|n| !self.st.disabled.contains(n))
                .collect(),
            b"disabled" => self.st.disabled.to_vec(),
            b"keyword" => {
                let words = RESERVED.iter().map(|w| w.as_bytes().to_vec());
                return Some(words.filter(|w| w.starts_with(word)).collect());
            }
            b"function" => self.st.functions.keys().map(|k| k.to_vec()).collect(),
            b"variable" => self
                .st
                .vars
                .iter()
                .filter(|(_, v)| !matches!(v.value, Value::Unset))
                .map(|(k, _)| k.to_vec())
                .collect(),
            b"export" => self
                .st
                .vars
                .iter()
                .filter(|(_, v)| v.has(attr::EXPORT))
                .map(|(k, _)| k.to_vec())
                .collect(),
            b"arrayvar" => self
                .st
                .vars
                .iter()
                .filter(|(_, v)| v.is_array())
                .map(|(k, _)| k.to_vec())
                .collect(),
            b"setopt" => crate::state::options::SET_OPTIONS
                .iter()
                .map(|(n, _)| n.as_bytes().to_vec())
                .collect(),
            b"shopt" => crate::state::options::SHOPTS
                .iter()
                .map(|(n, _)| n.as_bytes().to_vec())
                .collect(),
            b"signal" => (1..65)
                .filter_map(os::signal_name)
                .map(|n| format!("SIG{n}").into_bytes())
                .collect(),
            b"file" | b"directory" => return Some(self.complete_files(word, action == b"directory")),
            b"command" => {
                let mut all: Vec<Vec<u8>> = super::BUILTINS.iter().map(|b| b.name.as_bytes().to_vec()).collect();
                all.extend(RESERVED.iter().map(|w| w.as_bytes().to_vec()));
                all.extend(self.st.functions.keys().map(|k| k.to_vec()));
                all.extend(self.st.aliases.keys().cloned());
                let path = self.get_scalar(b"PATH").unwrap_or_default();
                for dir in path.split(|&c| c == b':') {
                    all.extend(
                        os::read_dir(dir)
                            .into_iter()
                            .map(|(n, _)| n)
                            .filter(|n| n != b"." && n != b".."),
                    );
                }
                all
            }
            b"user" => names_in(b"/etc/passwd"),
            b"group" => names_in(b"/etc/group"),
            b"binding" => super::bind::BINDINGS.iter().map(|b| b.as_bytes().to_vec()).collect(),
            b"hostname" | b"job" | b"running" | b"stopped" | b"service" => Vec::new(),
            _ => return None,
        };
        all.retain(|w| w.starts_with(word));
        all.sort();
        all.dedup();
        Some(all)
    }

    fn complete_files(&mut self, word: &[u8], directories: bool) -> Vec<Vec<u8>> {
        let (dir, base) = match word.iter().rposition(|&c| c == b'/') {
            Some(i) => word.split_at(i + 1),
            None => (&b""[..], word),
        };
        let mut found: Vec<Vec<u8>> = os::read_dir(dir)
            .into_iter()
            .filter(|(name, kind)| {
                name != b"."
                    && name != b".."
                    && name.starts_with(base)
                    && (!directories || kind.may_be_dir(&[dir, name].concat()))
            })
            .map(|(name, _)| [dir, &name].concat())
            .collect();
        found.sort();
        found
    }

    /// What a completion function answers when nothing is being completed.
    fn completion_function(&mut self, name: &[u8], word: &[u8]) -> Run<Vec<Vec<u8>>> {
        let Some(function) = self.st.functions.get(name).cloned() else {
            let text = [b"completion: function `", name, b"' not found"].concat();
            self.error_bytes(&text);
            return Ok(Vec::new());
        };
        self.push_scope(ScopeKind::Temporary);
        let scope = self.st.scopes.len();
        let state: [(&[u8], &[u8]); 5] = [
            (b"COMP_CWORD", b"-1"),
            (b"COMP_KEY", b"0"),
            (b"COMP_LINE", b""),
            (b"COMP_POINT", b"0"),
            (b"COMP_TYPE", b"0"),
        ];
        for (name, value) in state {
            self.declare_in_scope(name, scope, Var::scalar(value));
        }
        let words = Var {
            value: Value::Indexed(Default::default(), true),
            ..Var::default()
        };
        self.declare_in_scope(b"COMP_WORDS", scope, words);
        let args = vec![name.to_vec(), b"compgen".to_vec(), word.to_vec(), Vec::new()];
        let result = self.call_function(&function.def, args);
        let answer = self.get_var(b"COMPREPLY").map_or(Vec::new(), |var| var.values());
        self.unset_var(b"COMPREPLY");
        self.pop_scope();
        result.map(|_| answer)
    }

    /// The words of `compgen -W`.
    fn expand_word_list(&mut self, text: &[u8]) -> Run<Vec<Vec<u8>>> {
        let ifs = self.get_scalar(b"IFS").unwrap_or_else(|| b" \t\n".to_vec());
        let mut out = Vec::new();
        for piece in split_words(text, &ifs) {
            let mut parser = crate::parse::Parser::new(piece.to_vec(), self.st.line, self.st.source.clone());
            match parser.subscript_word() {
                Ok(word) => {
                    // Split again, but no patterns for files.
                    let noglob = std::mem::replace(&mut self.st.opts.noglob, true);
                    let result = self.expand_word_into(&word, &mut out);
                    self.st.opts.noglob = noglob;
                    result?;
                }
                Err(_) => {
                    self.error_bytes(&[piece, b": bad substitution"].concat());
                    return Err(self.give_up());
                }
            }
        }
        Ok(out)
    }
}

/// Takes a text apart at delimiters outside of quotes and substitutions.
fn split_words<'t>(text: &'t [u8], delimiters: &[u8]) -> Vec<&'t [u8]> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut quote = 0;
    let mut nested: Vec<u8> = Vec::new();
    let mut i = 0;
    while i < text.len() {
        let c = text[i];
        match c {
            b'\\' if quote != b'\'' => i += 1,
            b'\'' | b'"' | b'`' if quote == 0 => quote = c,
            _ if quote != 0 && c == quote => quote = 0,
            _ if quote == b'\'' || quote == b'`' => {}
            b'$' if matches!(text.get(i + 1), Some(b'(' | b'{')) => {
                nested.push(if text[i + 1] == b'(' { b')' } else { b'}' });
                i += 1;
            }
            b'(' if nested.last() == Some(&b')') => nested.push(b')'),
            _ if nested.last() == Some(&c) => {
                nested.pop();
            }
            _ if quote == 0 && nested.is_empty() && delimiters.contains(&c) => {
                words.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
        i += 1;
    }
    words.push(&text[start..]);
    words.retain(|word| !word.is_empty());
    words
}

fn names_in(file: &[u8]) -> Vec<Vec<u8>> {
    let text = os::read_file(file).unwrap_or_default();
    text.split(|&c| c == b'\n')
        .filter_map(|l| l.split(|&c| c == b':').next())
        .filter(|n| !n.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}
