//! `env`, `printenv`.

use std::ffi::{OsStr, OsString};
use std::os::wasi::ffi::{OsStrExt, OsStringExt};

use wskill_sys::Errno;
use wskill_sys::process::Spawn;
use wskill_sys::signal;

use super::opts::{Spec, Takes};
use super::text::{in_message, quote};
use super::{fs_chdir, say_bytes};

const ENV: Spec = Spec {
    name: "env",
    usage: "env [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]",
    short: "+iu:0C:S:va:",
    long: &[
        ("argv0", Takes::Arg, 'a'),
        ("ignore-environment", Takes::No, 'i'),
        ("null", Takes::No, '0'),
        ("unset", Takes::Arg, 'u'),
        ("chdir", Takes::Arg, 'C'),
        ("split-string", Takes::Arg, 'S'),
        ("debug", Takes::No, 'v'),
        ("ignore-signal", Takes::Maybe, 'I'),
        ("default-signal", Takes::Maybe, 'D'),
        ("block-signal", Takes::Maybe, 'B'),
        ("list-signal-handling", Takes::No, 'L'),
    ],
    failure: 125,
};

/// `env`.
pub fn env(_: &str, args: Vec<OsString>) -> i32 {
    run(args).unwrap_or_else(|status| status)
}

/// Replaces `-S STRING` by the words of the string, wherever it stands among env's own options.
fn expand_split(args: Vec<OsString>) -> Result<Vec<OsString>, i32> {
    let mut out: Vec<OsString> = Vec::new();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let bytes = arg.as_bytes();
        let clustered = bytes.len() > 1
            && bytes[0] == b'-'
            && bytes[1] != b'-'
            && bytes[1..].iter().take_while(|&&c| c != b'S').all(|c| b"i0v".contains(c))
            && bytes.contains(&b'S');
        let text = if clustered {
            let at = bytes.iter().position(|&b| b == b'S').unwrap_or(0);
            if at > 1 {
                out.push(OsString::from_vec(bytes[..at].to_vec()));
            }
            if at + 1 < bytes.len() { Some(bytes[at + 1..].to_vec()) } else { args.next().map(OsString::into_vec) }
        } else if let Some(text) = bytes.strip_prefix(b"--split-string=") {
            Some(text.to_vec())
        } else if bytes == b"--split-string" {
            args.next().map(OsString::into_vec)
        } else if !bytes.starts_with(b"-") || bytes == b"--" {
            out.push(arg);
            break;
        } else {
            let takes = matches!(bytes, b"-u" | b"-C" | b"-a" | b"--unset" | b"--chdir" | b"--argv0");
            out.push(arg);
            if takes {
                out.extend(args.next());
            }
            continue;
        };
        let Some(text) = text else {
            eprintln!("env: option requires an argument -- 'S'");
            return Err(ENV.try_help());
        };
        let rest: Vec<OsString> = split(&text)?.into_iter().chain(args).collect();
        // The words may begin with options, -S among them.
        out.extend(expand_split(rest)?);
        return Ok(out);
    }
    out.extend(args);
    Ok(out)
}

/// The words of a `-S` string: quotes, escapes, `${NAME}`, `#` comments.
fn split(text: &[u8]) -> Result<Vec<OsString>, i32> {
    let fail = |message: String| {
        eprintln!("env: {message}");
        Err(125)
    };
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote_char = None;
    let mut at = 0;
    while at < text.len() {
        let c = text[at];
        at += 1;
        match (quote_char, c) {
            (Some(q), c) if c == q => quote_char = None,
            (Some(b'\''), b'\\') if matches!(text.get(at), Some(b'\\' | b'\'')) => {
                word.get_or_insert_default().push(text[at]);
                at += 1;
            }
            (Some(b'\''), c) => word.get_or_insert_default().push(c),
            (None, b'\'' | b'"') => {
                quote_char = Some(c);
                word.get_or_insert_default();
            }
            (None, b' ' | b'\t' | b'\n' | b'\r' | 11 | 12) => words.extend(word.take().map(OsString::from_vec)),
            (None, b'#') if word.is_none() => break,
            (q, b'\\') => {
                let Some(&next) = text.get(at) else {
                    return fail("invalid backslash at end of string in -S".into());
                };
                at += 1;
                let byte = match next {
                    b'f' => 12,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'v' => 11,
                    b'#' | b'$' | b'_' | b'"' | b'\'' | b'\\' => next,
                    b'c' if q.is_none() => break,
                    b'c' => return fail("'\\c' must not appear in double-quoted -S string".into()),
                    other => return fail(format!("invalid sequence '\\{}' in -S", other as char)),
                };
                if next == b'_' {
                    if q.is_some() {
                        word.get_or_insert_default().push(b' ');
                    } else {
                        words.extend(word.take().map(OsString::from_vec));
                    }
                } else {
                    word.get_or_insert_default().push(byte);
                }
            }
            (_, b'$') => {
                let name = text.get(at).filter(|&&c| c == b'{').and_then(|_| {
                    let end = text[at..].iter().position(|&c| c == b'}')?;
                    let name = &text[at + 1..at + end];
                    at += end + 1;
                    Some(name)
                });
                let Some(name) = name.filter(|n| !n.is_empty()) else {
                    return fail("only ${VARNAME} expansion is supported".into());
                };
                let value = std::env::var_os(OsStr::from_bytes(name)).unwrap_or_default();
                word.get_or_insert_default().extend_from_slice(value.as_bytes());
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote_char.is_some() {
        return fail("no terminating quote in -S string".into());
    }
    words.extend(word.map(OsString::from_vec));
    Ok(words)
}

fn signals(list: &OsStr) -> Result<Vec<i32>, i32> {
    if list.is_empty() {
        return Ok((1..=31).collect());
    }
    list.to_string_lossy()
        .split(',')
        .map(|name| {
            signal::parse(name).filter(|n| *n > 0).ok_or_else(|| {
                eprintln!("env: '{name}': invalid signal");
                125
            })
        })
        .collect()
}

fn run(args: Vec<OsString>) -> Result<i32, i32> {
    let parsed = ENV.parse(expand_split(args)?)?;
    let mut vars: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let (mut zero, mut dir, mut argv0, mut ignored) = (false, None, None, Vec::new());
    let mut unset = Vec::new();
    for (option, value) in parsed.options {
        match option {
            'i' => vars.clear(),
            '0' => zero = true,
            'u' => unset.push(value),
            'C' => dir = Some(value),
            'a' => argv0 = Some(value),
            'I' => ignored.extend(signals(&value)?),
            'D' => {
                let list = signals(&value)?;
                ignored.retain(|s| !list.contains(s));
            }
            _ => {}
        }
    }
    for name in &unset {
        if name.is_empty() || name.as_bytes().contains(&b'=') {
            eprintln!("env: cannot unset {}: {}", quote(name), Errno::EINVAL);
            return Err(125);
        }
    }
    vars.retain(|(name, _)| !unset.contains(name));
    let mut operands = parsed.operands.into_iter().peekable();
    while let Some(operand) = operands.peek() {
        let bytes = operand.as_bytes();
        if bytes == b"-" {
            vars.clear();
            operands.next();
            continue;
        }
        let Some(at) = bytes.iter().position(|&b| b == b'=') else { break };
        let (name, value) =
            (OsStr::from_bytes(&bytes[..at]).to_owned(), OsStr::from_bytes(&bytes[at + 1..]).to_owned());
        match vars.iter_mut().find(|(n, _)| *n == name) {
            Some(entry) => entry.1 = value,
            None => vars.push((name, value)),
        }
        operands.next();
    }
    let Some(program) = operands.next() else {
        if dir.is_some() {
            eprintln!("env: must specify command with --chdir (-C)");
            return Err(ENV.try_help());
        }
        let mut out = Vec::new();
        for (name, value) in vars {
            out.extend_from_slice(name.as_bytes());
            out.push(b'=');
            out.extend_from_slice(value.as_bytes());
            out.push(if zero { 0 } else { b'\n' });
        }
        say_bytes(&out);
        return Ok(0);
    };
    if zero {
        eprintln!("env: cannot specify --null (-0) with command");
        return Err(ENV.try_help());
    }
    if let Some(dir) = dir
        && let Err(e) = fs_chdir(&dir)
    {
        eprintln!("env: cannot change directory to {}: {e}", quote(&dir));
        return Err(125);
    }
    let mut spawn = Spawn::command(&program);
    spawn.arg(argv0.as_ref().unwrap_or(&program)).args(operands).env_pairs(vars);
    for signal in ignored {
        spawn.ignore_signal(signal);
    }
    let errno = spawn.exec();
    eprintln!(
        "env: {}: {errno}",
        if program.as_bytes().contains(&b' ') { quote(&program) } else { in_message_quoted(&program) }
    );
    if errno == Errno::ENOENT && program.as_bytes().contains(&b' ') {
        eprintln!("env: use -[v]S to pass options in shebang lines");
    }
    Err(if errno == Errno::ENOENT { 127 } else { 126 })
}

/// GNU's env always quotes the command's name.
fn in_message_quoted(name: &OsStr) -> String {
    let shown = in_message(name);
    if shown.starts_with('\'') { shown } else { format!("'{shown}'") }
}

const PRINTENV: Spec = Spec {
    name: "printenv",
    usage: "printenv [OPTION]... [VARIABLE]...",
    short: "+0",
    long: &[("null", Takes::No, '0')],
    failure: 2,
};

/// `printenv`.
pub fn printenv(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match PRINTENV.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let end = if parsed.options.is_empty() { b'\n' } else { 0 };
    let mut out = Vec::new();
    let mut status = 0;
    if parsed.operands.is_empty() {
        for (name, value) in std::env::vars_os() {
            out.extend_from_slice(name.as_bytes());
            out.push(b'=');
            out.extend_from_slice(value.as_bytes());
            out.push(end);
        }
    }
    for name in &parsed.operands {
        match std::env::var_os(name).filter(|_| !name.as_bytes().contains(&b'=')) {
            Some(value) => {
                out.extend_from_slice(value.as_bytes());
                out.push(end);
            }
            None => status = 1,
        }
    }
    say_bytes(&out);
    status
}
