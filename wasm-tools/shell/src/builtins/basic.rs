//! Small builtins: `:` `true` `false` `echo` `eval` `source` `exit` `return` `break` `continue` `shift` `let`
//! `times` `caller`.

use crate::os;
use crate::shell::{Run, Shell, Unwind};
use std::rc::Rc;

/// Nesting of `eval`, `source` and traps.
const MAX_EVAL: u32 = 300;

pub fn succeed(_: &mut Shell, _: &[Vec<u8>]) -> Run<i32> {
    Ok(0)
}

pub fn fail(_: &mut Shell, _: &[Vec<u8>]) -> Run<i32> {
    Ok(1)
}

/// `fc`: nothing was typed that could be listed or edited, so only its options are looked at.
pub fn fc(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    // `-5` is a place in the list.
    let places = argv
        .iter()
        .position(|w| matches!(w.as_slice(), [b'-', b'0'..=b'9', ..]));
    let options = match shell.builtin_options(&argv[..places.unwrap_or(argv.len())], b"e:lnrs") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    if options.has(b's') {
        shell.builtin_error("fc", "no command found");
        return Ok(1);
    }
    Ok(0)
}

pub fn logout(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    if !shell.st.shopts.login_shell {
        shell.builtin_error("logout", "not login shell: use `exit'");
        return Ok(1);
    }
    exit(shell, argv)
}

pub fn echo(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let mut newline = true;
    let mut escapes = shell.st.shopts.xpg_echo;
    let mut words = &argv[1..];
    if !(escapes && shell.st.opts.posix) {
        while let Some((first, rest)) = words.split_first() {
            let Some(letters) = first.strip_prefix(b"-").filter(|l| !l.is_empty()) else {
                break;
            };
            if !letters.iter().all(|c| matches!(c, b'n' | b'e' | b'E')) {
                break;
            }
            for c in letters {
                match c {
                    b'n' => newline = false,
                    b'e' => escapes = true,
                    _ => escapes = false,
                }
            }
            words = rest;
        }
    }
    for (i, word) in words.iter().enumerate() {
        if i > 0 {
            shell.out.push(b' ');
        }
        if escapes {
            let (text, stop) = super::printf::echo_escapes(word);
            shell.out.extend_from_slice(&text);
            if stop {
                return Ok(0);
            }
        } else {
            shell.out.extend_from_slice(word);
        }
    }
    if newline {
        shell.out.push(b'\n');
    }
    Ok(0)
}

pub fn eval(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let mut words = &argv[1..];
    if words.first().is_some_and(|w| w == b"--") {
        words = &words[1..];
    } else if let Some([b'-', c, ..]) = words.first().map(Vec::as_slice) {
        shell.builtin_error("eval", &format!("-{}: invalid option", *c as char));
        shell.usage("eval");
        return Ok(2);
    }
    let text = words.join(&b' ');
    if text.is_empty() {
        return Ok(0);
    }
    if shell.eval_depth >= MAX_EVAL {
        shell.error("eval: maximum eval nesting level exceeded");
        return Err(Unwind::Discard(1));
    }
    shell.eval_depth += 1;
    let (line, source) = (shell.st.line, shell.st.source.clone());
    let result = shell.run_text(text, line, source);
    shell.st.line = line;
    shell.eval_depth -= 1;
    result
}

pub fn source(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let label = String::from_utf8_lossy(&argv[0]).into_owned();
    let fatal = !std::mem::take(&mut shell.by_command) && shell.st.opts.posix && label == ".";
    let options = match shell.builtin_options(argv, b"") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let Some(name) = argv.get(options.rest).cloned() else {
        shell.builtin_error(&label, "filename argument required");
        shell.usage(&label);
        return Ok(2);
    };
    let mut path = name.clone();
    let mut found = name.contains(&b'/') || !shell.st.opts.posix;
    if !name.contains(&b'/') && shell.st.shopts.sourcepath {
        let dirs = shell.get_scalar(b"PATH").unwrap_or_default();
        for dir in dirs.split(|&c| c == b':') {
            let file = if dir.is_empty() {
                name.clone()
            } else {
                [dir, b"/", name.as_slice()].concat()
            };
            if os::is_file(&file) {
                path = file;
                found = true;
                break;
            }
        }
    }
    if shell.source_depth >= MAX_EVAL {
        shell.error("source: maximum source nesting level exceeded");
        return Err(Unwind::Discard(1));
    }
    let text = if !found {
        Err(os::Errno::ENOENT)
    } else if os::is_dir(&path) {
        Err(os::Errno::EISDIR)
    } else {
        os::read_file(&path)
    };
    let text = match text {
        Ok(text) => text,
        Err(error) => {
            let message = if error == os::Errno::EISDIR {
                "is a directory"
            } else {
                os::message(error)
            };
            let mut line = if error == os::Errno::EISDIR {
                [label.as_bytes(), b": "].concat()
            } else {
                Vec::new()
            };
            line.extend_from_slice(&name);
            line.extend_from_slice(b": ");
            line.extend_from_slice(message.as_bytes());
            shell.error_bytes(&line);
            if fatal {
                return Err(Unwind::Exit(1));
            }
            return Ok(1);
        }
    };
    let args = &argv[options.rest + 1..];
    let args = (!args.is_empty()).then(|| args.to_vec());
    shell.source_depth += 1;
    // Messages and the trace count `eval` from the file on.
    let depth = std::mem::take(&mut shell.eval_depth);
    let result = shell.run_sourced(&path, text, args);
    shell.eval_depth = depth;
    shell.source_depth -= 1;
    result
}

/// A status argument; `Err` after a message.
fn status_argument(shell: &mut Shell, name: &str, argv: &[Vec<u8>]) -> Result<i32, i32> {
    let mut words = &argv[1..];
    if words.first().is_some_and(|w| w == b"--") {
        words = &words[1..];
    }
    let Some(word) = words.first() else {
        let before = shell.trap_status.filter(|_| name == "return" || shell.in_exit_trap);
        return Ok(before.unwrap_or(shell.st.status));
    };
    let Some(n) = crate::arith::integer(word) else {
        let text = String::from_utf8_lossy(word).into_owned();
        shell.builtin_error(name, &format!("{text}: numeric argument required"));
        return Err(2);
    };
    if words.len() > 1 {
        shell.builtin_error(name, "too many arguments");
        return Err(1);
    }
    Ok((n & 0xff) as i32)
}

pub fn exit(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    match status_argument(shell, "exit", argv) {
        Ok(status) => {
            shell.say_exit();
            shell.read_logout_file();
            Err(Unwind::Exit(status))
        }
        // Too many arguments: the shell goes on with the next command.
        Err(1) => Err(Unwind::Top(1)),
        Err(status) => Err(Unwind::Exit(status)),
    }
}

pub fn return_(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let status = match status_argument(shell, "return", argv) {
        Ok(status) => status,
        Err(1) => return Err(Unwind::Top(1)),
        Err(status) => status,
    };
    if shell.st.calls.is_empty() {
        shell.builtin_error("return", "can only `return' from a function or sourced script");
        return Ok(2);
    }
    Err(Unwind::Return(status))
}

/// The level argument of `break` and `continue`.
fn level(shell: &mut Shell, name: &str, argv: &[Vec<u8>]) -> Run<Result<u32, i32>> {
    let mut words = &argv[1..];
    if words.first().is_some_and(|w| w == b"--") {
        words = &words[1..];
    }
    if shell.st.loops == 0 {
        shell.builtin_error(name, "only meaningful in a `for', `while', or `until' loop");
        return Ok(Err(0));
    }
    let Some(word) = words.first() else { return Ok(Ok(1)) };
    let text = String::from_utf8_lossy(word).into_owned();
    match crate::arith::integer(word) {
        None => {
            shell.builtin_error(name, &format!("{text}: numeric argument required"));
            Err(Unwind::Exit(128))
        }
        Some(_) if words.len() > 1 => {
            shell.builtin_error(name, "too many arguments");
            Err(Unwind::Top(1))
        }
        Some(n) if n < 1 => {
            shell.builtin_error(name, &format!("{text}: loop count out of range"));
            Err(Unwind::Break(shell.st.loops))
        }
        Some(n) => Ok(Ok(u32::try_from(n).unwrap_or(u32::MAX).min(shell.st.loops))),
    }
}

pub fn break_loop(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    match level(shell, "break", argv)? {
        Ok(n) => Err(Unwind::Break(n)),
        Err(status) => Ok(status),
    }
}

pub fn continue_loop(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    match level(shell, "continue", argv)? {
        Ok(n) => Err(Unwind::Continue(n)),
        Err(status) => Ok(status),
    }
}

pub fn shift(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let mut words = &argv[1..];
    if words.first().is_some_and(|w| w == b"--") {
        words = &words[1..];
    }
    let n = match words.first() {
        None => 1,
        Some(word) => match crate::arith::integer(word) {
            Some(n) => n,
            None => {
                let text = String::from_utf8_lossy(word).into_owned();
                shell.builtin_error("shift", &format!("{text}: numeric argument required"));
                return Ok(1);
            }
        },
    };
    if words.len() > 1 {
        shell.builtin_error("shift", "too many arguments");
        return Err(Unwind::Top(1));
    }
    if n < 0 {
        shell.builtin_error("shift", &format!("{n}: shift count out of range"));
        return Ok(1);
    }
    let positional = Rc::make_mut(&mut shell.st.positional);
    if n as usize > positional.len() {
        if shell.st.shopts.shift_verbose {
            let shown = words.first().map_or(String::new(), |_| format!("{n}: "));
            shell.builtin_error("shift", &format!("{shown}shift count out of range"));
        }
        return Ok(1);
    }
    positional.shift(n as usize);
    Ok(0)
}

pub fn let_(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let mut words = &argv[1..];
    if words.first().is_some_and(|w| w == b"--") {
        words = &words[1..];
    }
    if words.is_empty() {
        shell.builtin_error("let", "expression expected");
        return Ok(1);
    }
    let mut value = 0;
    for word in words {
        value = match shell.eval_text_for(word, "let: ") {
            Ok(value) => value,
            Err(Unwind::Discard(status)) => return Ok(status),
            Err(unwind) => return Err(unwind),
        };
    }
    Ok(i32::from(value == 0))
}

pub fn times(shell: &mut Shell, _: &[Vec<u8>]) -> Run<i32> {
    let (own, children) = os::times();
    let show = |ns: u64| {
        let millis = ns / 1_000_000;
        format!("{}m{}.{:03}s", millis / 60_000, millis / 1000 % 60, millis % 1000)
    };
    let text = format!("{} 0m0.000s\n{} 0m0.000s\n", show(own), show(children));
    shell.out.extend_from_slice(text.as_bytes());
    Ok(0)
}

pub fn caller(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    if shell.st.calls.is_empty() {
        return Ok(1);
    }
    let source_at = |shell: &Shell, level: usize| -> Vec<u8> {
        let calls = &shell.st.calls;
        match calls.len().checked_sub(level + 1).and_then(|i| calls.get(i)) {
            Some(call) => call.source.to_vec(),
            None => shell.main_source.as_ref().map_or(b"NULL".to_vec(), |s| s.to_vec()),
        }
    };
    let calls = &shell.st.calls;
    match argv.get(1) {
        None => {
            let line = calls.last().map_or(0, |c| c.line);
            let text = [crate::arith::decimal(i64::from(line)), source_at(shell, 1)].join(&b' ');
            shell.out.extend_from_slice(&text);
            shell.out.push(b'\n');
            Ok(0)
        }
        Some(word) => {
            let Some(level) = crate::arith::integer(word).and_then(|n| usize::try_from(n).ok()) else {
                let text = String::from_utf8_lossy(word).into_owned();
                shell.builtin_error("caller", &format!("{text}: invalid number"));
                shell.usage("caller");
                return Ok(2);
            };
            let Some(i) = calls.len().checked_sub(level + 1) else {
                return Ok(1);
            };
            if i == 0 && shell.main_source.is_none() {
                return Ok(1);
            }
            let line = calls[i].line;
            let name = if i == 0 {
                b"main".to_vec()
            } else {
                calls[i - 1].name.to_vec()
            };
            let text = [
                crate::arith::decimal(i64::from(line)),
                name,
                source_at(shell, level + 1),
            ]
            .join(&b' ');
            shell.out.extend_from_slice(&text);
            shell.out.push(b'\n');
            Ok(0)
        }
    }
}
