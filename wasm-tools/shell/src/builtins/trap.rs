//! `trap`.

use crate::os;
use crate::quote;
use crate::shell::{Run, Shell};
use crate::state::{TRAP_DEBUG, TRAP_ERR, TRAP_EXIT, TRAP_RETURN};

/// The number of a signal or pseudo signal.
fn parse(text: &[u8]) -> Option<i32> {
    let text = String::from_utf8_lossy(text);
    let upper = text.to_ascii_uppercase();
    match upper.strip_prefix("SIG").unwrap_or(&upper) {
        "EXIT" => Some(TRAP_EXIT),
        "DEBUG" => Some(TRAP_DEBUG),
        "ERR" => Some(TRAP_ERR),
        "RETURN" => Some(TRAP_RETURN),
        _ => os::parse_signal(&text).filter(|n| (0..=64).contains(n)),
    }
}

fn name(signal: i32, posix: bool) -> String {
    match signal {
        TRAP_EXIT => "EXIT".into(),
        TRAP_DEBUG => "DEBUG".into(),
        TRAP_ERR => "ERR".into(),
        TRAP_RETURN => "RETURN".into(),
        n => {
            let name = os::signal_name(n).unwrap_or_else(|| n.to_string());
            if posix { name } else { format!("SIG{name}") }
        }
    }
}

fn show(shell: &mut Shell, only: Option<i32>) {
    let traps = shell
        .st
        .inherited_traps
        .clone()
        .unwrap_or_else(|| shell.st.traps.clone());
    let mut traps = (*traps).clone();
    for signal in (1..=64).filter(|n| shell.ignored_at_start >> (n - 1) & 1 == 1) {
        traps.insert(signal, "".as_bytes().into());
    }
    for (&signal, action) in &traps {
        if only.is_none_or(|s| s == signal) {
            let line = [
                b"trap -- ",
                quote::single(action).as_slice(),
                b" ",
                name(signal, shell.st.opts.posix).as_bytes(),
                b"\n",
            ]
            .concat();
            shell.out.extend_from_slice(&line);
        }
    }
}

pub fn trap(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"lp") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let words = &argv[options.rest..];
    if options.has(b'l')
        && let Some(kill) = super::find(b"kill")
    {
        return shell.call_builtin(kill, &[b"kill".to_vec(), b"-l".to_vec()], None);
    }
    let invalid = |shell: &mut Shell, word: &[u8]| {
        let shown = String::from_utf8_lossy(word).into_owned();
        shell.builtin_error("trap", &format!("{shown}: invalid signal specification"));
    };
    if options.has(b'p') || words.is_empty() {
        if words.is_empty() {
            show(shell, None);
            return Ok(0);
        }
        let mut status = 0;
        for word in words {
            match parse(word) {
                Some(signal) => show(shell, Some(signal)),
                None => {
                    invalid(shell, word);
                    status = 1;
                }
            }
        }
        return Ok(status);
    }
    // One word that is a signal, or `-`, or a number first: reset.
    let first = words[0].as_slice();
    let (action, signals): (Option<&[u8]>, &[Vec<u8>]) = if words.len() == 1 {
        if parse(first).is_none() {
            shell.usage("trap");
            return Ok(2);
        }
        (None, words)
    } else if first == b"-" {
        (None, &words[1..])
    } else if !first.is_empty() && first.iter().all(u8::is_ascii_digit) && parse(first).is_some() {
        (None, words)
    } else {
        (Some(first), &words[1..])
    };
    let mut status = 0;
    for word in signals {
        match parse(word) {
            Some(signal) => shell.set_trap(signal, action),
            None => {
                invalid(shell, word);
                status = 1;
            }
        }
    }
    Ok(status)
}
