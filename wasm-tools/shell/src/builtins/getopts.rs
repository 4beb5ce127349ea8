//! `getopts`.

use crate::arith::decimal;
use crate::shell::{Run, Shell, Unwind};

pub fn getopts(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let mut words = &argv[1..];
    if words.first().is_some_and(|w| w == b"--") {
        words = &words[1..];
    }
    if let Some([b'-', c, ..]) = words.first().map(Vec::as_slice) {
        shell.builtin_error("getopts", &format!("-{}: invalid option", *c as char));
        shell.usage("getopts");
        return Ok(2);
    }
    let [spec, name, args @ ..] = words else {
        shell.usage("getopts");
        return Ok(2);
    };
    let positional = shell.st.positional.clone();
    let args: &[Vec<u8>] = if args.is_empty() { &positional } else { args };
    let (silent, letters) = match spec.strip_prefix(b":") {
        Some(rest) => (true, rest),
        None => (false, spec.as_slice()),
    };
    let quiet = silent || shell.get_scalar(b"OPTERR").as_deref() == Some(b"0");
    let mut index = shell.st.getopts.index.max(1);
    let mut offset = shell.st.getopts.offset;
    if index > args.len() {
        offset = 0;
    }
    // The state is written back behind every way out.
    let finish = |shell: &mut Shell,
                  index: usize,
                  offset: usize,
                  value: &[u8],
                  argument: Option<Vec<u8>>,
                  status: i32|
     -> Run<i32> {
        shell.set_scalar(b"OPTIND", decimal(index as i64))?;
        shell.st.getopts = crate::state::Getopts { index, offset };
        match argument {
            Some(argument) => shell.set_scalar(b"OPTARG", argument)?,
            None => {
                shell.unset_var(b"OPTARG");
            }
        }
        if !crate::parse::is_name(name) {
            let shown = String::from_utf8_lossy(name).into_owned();
            shell.builtin_error("getopts", &format!("`{shown}': not a valid identifier"));
            return Ok(1);
        }
        match shell.set_scalar(name, value.to_vec()) {
            Err(Unwind::Discard(_)) => Ok(1),
            Err(unwind) => Err(unwind),
            Ok(()) => Ok(status),
        }
    };
    let Some(word) = args.get(index - 1) else {
        return finish(shell, index.min(args.len() + 1), 0, b"?", None, 1);
    };
    if offset == 0 {
        if word == b"--" {
            return finish(shell, index + 1, 0, b"?", None, 1);
        }
        if word.len() < 2 || word[0] != b'-' {
            return finish(shell, index, 0, b"?", None, 1);
        }
        offset = 1;
    }
    let Some(&letter) = word.get(offset) else {
        return finish(shell, index + 1, 0, b"?", None, 1);
    };
    offset += 1;
    let found = letters.iter().position(|&c| c == letter && c != b':');
    let last = offset >= word.len();
    let Some(at) = found else {
        if last {
            index += 1;
            offset = 0;
        }
        if !quiet {
            let program = String::from_utf8_lossy(&shell.st.arg0).into_owned();
            let text = format!("{program}: illegal option -- {}\n", letter as char);
            shell.write_stderr(text.as_bytes());
        }
        let argument = silent.then(|| vec![letter]);
        return finish(shell, index, offset, b"?", argument, 0);
    };
    if letters.get(at + 1) != Some(&b':') {
        if last {
            index += 1;
            offset = 0;
        }
        return finish(shell, index, offset, &[letter], None, 0);
    }
    if !last {
        let argument = word[offset..].to_vec();
        return finish(shell, index + 1, 0, &[letter], Some(argument), 0);
    }
    match args.get(index) {
        Some(argument) => finish(shell, index + 2, 0, &[letter], Some(argument.clone()), 0),
        None => {
            if silent {
                return finish(shell, index + 1, 0, b":", Some(vec![letter]), 0);
            }
            if !quiet {
                let program = String::from_utf8_lossy(&shell.st.arg0).into_owned();
                let text = format!("{program}: option requires an argument -- {}\n", letter as char);
                shell.write_stderr(text.as_bytes());
            }
            finish(shell, index + 1, 0, b"?", None, 0)
        }
    }
}
