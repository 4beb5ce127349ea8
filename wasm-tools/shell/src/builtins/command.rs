//! `command`, `builtin`, `type`, `hash`, `enable`, `help`.

use crate::exec::simple::Prepared;
use crate::os;
use crate::parse::is_reserved;
use crate::shell::{Run, Shell};
use crate::state::vars::bucket;
use std::rc::Rc;

/// Usage lines of builtins.
const USAGE: &[(&str, &str)] = &[
    (".", ". filename [arguments]"),
    (":", ":"),
    ("[", "[ arg... ]"),
    ("alias", "alias [-p] [name[=value] ... ]"),
    ("bg", "bg [job_spec ...]"),
    (
        "bind",
        "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command]",
    ),
    ("break", "break [n]"),
    ("builtin", "builtin [shell-builtin [arg ...]]"),
    ("caller", "caller [expr]"),
    ("cd", "cd [-L|[-P [-e]] [-@]] [dir]"),
    ("command", "command [-pVv] command [arg ...]"),
    (
        "compgen",
        "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] \
         [-X filterpat] [-P prefix] [-S suffix] [word]",
    ),
    (
        "complete",
        "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] \
         [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]",
    ),
    ("continue", "continue [n]"),
    (
        "declare",
        "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]",
    ),
    ("dirs", "dirs [-clpv] [+N] [-N]"),
    ("disown", "disown [-h] [-ar] [jobspec ... | pid ...]"),
    ("echo", "echo [-neE] [arg ...]"),
    ("enable", "enable [-a] [-dnps] [-f filename] [name ...]"),
    ("eval", "eval [arg ...]"),
    (
        "exec",
        "exec [-cl] [-a name] [command [argument ...]] [redirection ...]",
    ),
    ("exit", "exit [n]"),
    ("export", "export [-fn] [name[=value] ...] or export -p"),
    ("false", "false"),
    ("getopts", "getopts optstring name [arg ...]"),
    ("hash", "hash [-lr] [-p pathname] [-dt] [name ...]"),
    ("help", "help [-dms] [pattern ...]"),
    ("jobs", "jobs [-lnprs] [jobspec ...] or jobs -x command [args]"),
    (
        "kill",
        "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]",
    ),
    ("let", "let arg [arg ...]"),
    ("local", "local [option] name[=value] ..."),
    (
        "mapfile",
        "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
    ),
    ("popd", "popd [-n] [+N | -N]"),
    ("printf", "printf [-v var] format [arguments]"),
    ("pushd", "pushd [-n] [+N | -N | dir]"),
    ("pwd", "pwd [-LP]"),
    (
        "read",
        "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] \
         [name ...]",
    ),
    (
        "readarray",
        "readarray [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
    ),
    ("readonly", "readonly [-aAf] [name[=value] ...] or readonly -p"),
    ("return", "return [n]"),
    ("set", "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]"),
    ("shift", "shift [n]"),
    ("shopt", "shopt [-pqsu] [-o] [optname ...]"),
    ("source", "source filename [arguments]"),
    ("test", "test [expr]"),
    ("times", "times"),
    ("trap", "trap [-lp] [[arg] signal_spec ...]"),
    ("true", "true"),
    ("type", "type [-afptP] name [name ...]"),
    (
        "typeset",
        "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]",
    ),
    ("ulimit", "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]"),
    ("umask", "umask [-p] [-S] [mode]"),
    ("unalias", "unalias [-a] name [name ...]"),
    ("unset", "unset [-f] [-v] [-n] [name ...]"),
    ("wait", "wait [-fn] [-p var] [id ...]"),
];

/// The usage of a builtin.
pub fn usage_of(name: &str) -> Option<&'static str> {
    USAGE.iter().find(|(n, _)| *n == name).map(|(_, u)| *u)
}

/// Size of bash's table of remembered programs.
const HASH_BUCKETS: u32 = 256;

/// What a name means as a command.
enum Meaning {
    Alias(Vec<u8>),
    Keyword,
    Function,
    Builtin,
    File(Vec<u8>),
    Hashed(Vec<u8>),
}

impl Shell {
    fn meanings(&mut self, name: &[u8], all: bool, no_functions: bool, path_only: bool) -> Vec<Meaning> {
        let mut out = Vec::new();
        if !path_only {
            if self.st.shopts.expand_aliases
                && let Some(value) = self.st.aliases.get(name)
            {
                out.push(Meaning::Alias(value.clone()));
            }
            if is_reserved(name) {
                out.push(Meaning::Keyword);
            }
            if !no_functions && self.st.functions.contains_key(name) {
                out.push(Meaning::Function);
            }
            if self.builtin_named(name).is_some() {
                out.push(Meaning::Builtin);
            }
            if !all && !out.is_empty() {
                out.truncate(1);
                return out;
            }
        }
        if name.contains(&b'/') {
            if os::is_file(name) && os::access(name, os::X_OK) {
                out.push(Meaning::File(name.to_vec()));
            }
            return out;
        }
        if !all
            && !self.standard_path
            && let Some((path, _)) = self.st.hash.get(name)
        {
            out.push(Meaning::Hashed(path.clone()));
            return out;
        }
        for path in self.search_path_in(name, all) {
            if all || os::access(&path, os::X_OK) {
                out.push(Meaning::File(path));
            }
        }
        out
    }
}

pub fn command(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"pvV") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let words = &argv[options.rest..];
    let outer = std::mem::replace(&mut shell.standard_path, options.has(b'p'));
    let result = if options.has(b'v') || options.has(b'V') {
        Ok(describe_commands(shell, words, options.has(b'V')))
    } else {
        run_without_functions(shell, words)
    };
    shell.standard_path = outer;
    result
}

fn run_without_functions(shell: &mut Shell, words: &[Vec<u8>]) -> Run<i32> {
    let Some(name) = words.first() else { return Ok(0) };
    if let Some(builtin) = shell.builtin_named(name) {
        if builtin.name == "exec" {
            let saved = shell.st.opts.posix;
            let result = shell.run_exec(Prepared {
                simple: None,
                argv: words.to_vec(),
                assigns: &[],
                redirects: &[],
                declared: None,
            });
            shell.st.opts.posix = saved;
            return result;
        }
        shell.by_command = true;
        let result = shell.call_builtin(builtin, words, None);
        shell.by_command = false;
        return result;
    }
    shell.flush_out();
    shell.run_external_command(Prepared {
        simple: None,
        argv: words.to_vec(),
        assigns: &[],
        redirects: &[],
        declared: None,
    })
}

fn describe_commands(shell: &mut Shell, words: &[Vec<u8>], verbose: bool) -> i32 {
    if words.is_empty() {
        return 0;
    }
    let mut found = false;
    for name in words {
        let meaning = shell.meanings(name, false, false, false).into_iter().next();
        let Some(meaning) = meaning else {
            if verbose {
                let shown = String::from_utf8_lossy(name).into_owned();
                shell.builtin_error("command", &format!("{shown}: not found"));
            }
            continue;
        };
        found = true;
        if verbose {
            print_type(shell, name, &meaning);
            continue;
        }
        let text = match meaning {
            Meaning::Alias(value) => [b"alias ", name.as_slice(), b"=", &crate::quote::single(&value)].concat(),
            Meaning::Keyword | Meaning::Function | Meaning::Builtin => name.clone(),
            Meaning::File(path) | Meaning::Hashed(path) => path,
        };
        shell.out.extend_from_slice(&text);
        shell.out.push(b'\n');
    }
    i32::from(!found)
}

fn print_type(shell: &mut Shell, name: &[u8], meaning: &Meaning) {
    let text = match meaning {
        Meaning::Alias(value) => [name, b" is aliased to `", value, b"'\n"].concat(),
        Meaning::Keyword => [name, b" is a shell keyword\n"].concat(),
        Meaning::Function => {
            let mut text = [name, b" is a function\n"].concat();
            if let Some(function) = shell.st.functions.get(name) {
                text.extend_from_slice(&crate::print::function(&function.def));
            }
            text
        }
        Meaning::Builtin => {
            let special = shell.st.opts.posix && super::find(name).is_some_and(|b| b.special);
            [
                name,
                if special {
                    b" is a special shell builtin\n"
                } else {
                    b" is a shell builtin\n"
                },
            ]
            .concat()
        }
        Meaning::File(path) => [name, b" is ", path, b"\n"].concat(),
        Meaning::Hashed(path) => [name, b" is hashed (", path, b")\n"].concat(),
    };
    shell.out.extend_from_slice(&text);
}

pub fn type_(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"afptP") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let (all, force) = (options.has(b'a'), options.has(b'P'));
    // Of -t, -p and -P the last one decides what is shown.
    let shown = options
        .list
        .iter()
        .rev()
        .map(|(l, _)| *l)
        .find(|l| matches!(l, b't' | b'p' | b'P'));
    let mut status = 0;
    for name in &argv[options.rest..] {
        let meanings = shell.meanings(name, all, options.has(b'f'), force);
        if meanings.is_empty() {
            status = 1;
            if shown.is_none() {
                let shown = String::from_utf8_lossy(name).into_owned();
                shell.builtin_error("type", &format!("{shown}: not found"));
            }
            continue;
        }
        for meaning in &meanings {
            if shown == Some(b't') {
                let word: &[u8] = match meaning {
                    Meaning::Alias(_) => b"alias",
                    Meaning::Keyword => b"keyword",
                    Meaning::Function => b"function",
                    Meaning::Builtin => b"builtin",
                    Meaning::File(_) | Meaning::Hashed(_) => b"file",
                };
                shell.out.extend_from_slice(word);
                shell.out.push(b'\n');
            } else if shown.is_some() {
                if let Meaning::File(path) | Meaning::Hashed(path) = meaning {
                    shell.out.extend_from_slice(path);
                    shell.out.push(b'\n');
                }
            } else {
                print_type(shell, name, meaning);
            }
        }
    }
    Ok(status)
}

pub fn builtin(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let words = &argv[options.rest..];
    let Some(name) = words.first() else { return Ok(0) };
    match shell.builtin_named(name) {
        Some(builtin) if builtin.name == "exec" => shell.run_exec(Prepared {
            simple: None,
            argv: words.to_vec(),
            assigns: &[],
            redirects: &[],
            declared: None,
        }),
        Some(builtin) => shell.call_builtin(builtin, words, None),
        None => {
            let shown = String::from_utf8_lossy(name).into_owned();
            shell.builtin_error("builtin", &format!("{shown}: not a shell builtin"));
            Ok(1)
        }
    }
}

pub fn hash(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"ldtrp:") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    if !shell.st.opts.hashall {
        shell.builtin_error("hash", "hashing disabled");
        return Ok(1);
    }
    let names = &argv[options.rest..];
    if options.has(b'r') {
        shell.st.hash = Rc::default();
    }
    if let Some(path) = options.value(b'p') {
        let path = path.to_vec();
        if os::is_dir(&path) {
            let shown = String::from_utf8_lossy(&path).into_owned();
            shell.builtin_error("hash", &format!("{shown}: Is a directory"));
            return Ok(1);
        }
        for name in names {
            Rc::make_mut(&mut shell.st.hash).insert(name.clone(), (path.clone(), 0));
        }
        return Ok(0);
    }
    if names.is_empty() {
        if options.has(b'd') || options.has(b't') {
            let letter = if options.has(b'd') { 'd' } else { 't' };
            shell.builtin_error("hash", &format!("-{letter}: option requires an argument"));
            return Ok(1);
        }
        if options.has(b'r') {
            return Ok(0);
        }
        if shell.st.hash.is_empty() {
            if !shell.st.opts.posix && !options.has(b'l') {
                shell.out.extend_from_slice(b"hash: hash table empty\n");
            }
            return Ok(0);
        }
        if !options.has(b'l') {
            shell.out.extend_from_slice(b"hits\tcommand\n");
        }
        let table = shell.st.hash.clone();
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(name, _)| bucket(name, HASH_BUCKETS));
        for (name, (path, hits)) in entries {
            let line = if options.has(b'l') {
                [b"builtin hash -p ", path.as_slice(), b" ", name, b"\n"].concat()
            } else {
                [format!("{hits:>4}\t").as_bytes(), path, b"\n"].concat()
            };
            shell.out.extend_from_slice(&line);
        }
        return Ok(0);
    }
    let mut status = 0;
    for name in names {
        let shown = String::from_utf8_lossy(name).into_owned();
        if options.has(b'd') {
            if Rc::make_mut(&mut shell.st.hash).remove(name).is_none() {
                shell.builtin_error("hash", &format!("{shown}: not found"));
                status = 1;
            }
        } else if options.has(b't') {
            match shell.st.hash.get(name).cloned() {
                Some((path, _)) => {
                    if options.has(b'l') {
                        shell
                            .out
                            .extend_from_slice(&[b"builtin hash -p ", path.as_slice(), b" ", name, b"\n"].concat());
                        continue;
                    }
                    if names.len() > 1 {
                        shell.out.extend_from_slice(&[name.as_slice(), b"\t"].concat());
                    }
                    shell.out.extend_from_slice(&path);
                    shell.out.push(b'\n');
                }
                None => {
                    shell.builtin_error("hash", &format!("{shown}: not found"));
                    status = 1;
                }
            }
        } else if name.contains(&b'/')
            || shell.builtin_named(name).is_some()
            || shell.st.functions.contains_key(name.as_slice())
        {
            continue;
        } else {
            match shell.search_path(name).into_iter().next() {
                Some(path) => {
                    Rc::make_mut(&mut shell.st.hash).insert(name.clone(), (path, 0));
                }
                None => {
                    shell.builtin_error("hash", &format!("{shown}: not found"));
                    status = 1;
                }
            }
        }
    }
    Ok(status)
}

pub fn enable(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"adnpsf:") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    if options.has(b'f') {
        shell.builtin_error("enable", "loading builtins is not supported in the sandbox");
        return Ok(1);
    }
    let names = &argv[options.rest..];
    if names.is_empty() || options.has(b'p') {
        for builtin in super::BUILTINS {
            let disabled = shell.st.disabled.iter().any(|d| d == builtin.name.as_bytes());
            if options.has(b's') && !builtin.special || !options.has(b'a') && disabled != options.has(b'n') {
                continue;
            }
            let line = format!("enable {}{}\n", if disabled { "-n " } else { "" }, builtin.name);
            shell.out.extend_from_slice(line.as_bytes());
        }
        return Ok(0);
    }
    let mut status = 0;
    for name in names {
        if super::find(name).is_none() {
            let shown = String::from_utf8_lossy(name).into_owned();
            shell.builtin_error("enable", &format!("{shown}: not a shell builtin"));
            status = 1;
            continue;
        }
        let disabled = Rc::make_mut(&mut shell.st.disabled);
        disabled.retain(|d| d != name);
        if options.has(b'n') {
            disabled.push(name.clone());
        }
    }
    Ok(status)
}

pub fn help(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"dms") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let names = &argv[options.rest..];
    if names.is_empty() {
        shell
            .out
            .extend_from_slice(format!("GNU bash, version {} (wskill)\n", crate::shell::VERSION).as_bytes());
        shell
            .out
            .extend_from_slice(b"These shell commands are defined internally.\n\n");
        for (_, usage) in USAGE {
            shell.out.extend_from_slice(format!(" {usage}\n").as_bytes());
        }
        return Ok(0);
    }
    let mut status = 1;
    for name in names {
        // Several names: one that is known is enough.
        let pattern = crate::pattern::Pattern::new(name, false, false);
        let mut found = false;
        for (builtin, usage) in USAGE {
            if pattern.matches(builtin.as_bytes())
                || builtin.as_bytes().starts_with(name) && names.len() == 1 && super::find(name).is_none()
            {
                found = true;
                let line = if options.has(b'd') {
                    format!("{builtin} - {usage}\n")
                } else {
                    format!("{builtin}: {usage}\n")
                };
                shell.out.extend_from_slice(line.as_bytes());
            }
        }
        if found {
            status = 0;
        } else {
            let shown = String::from_utf8_lossy(name).into_owned();
            shell.builtin_error(
                "help",
                &format!("no help topics match `{shown}'.  Try `help help' or `man -k {shown}' or `info {shown}'."),
            );
        }
    }
    Ok(status)
}
