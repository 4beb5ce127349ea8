//! `umask`.

use crate::os;
use crate::shell::{Run, Shell};

pub fn umask(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"pS") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let current = os::umask(0);
    os::umask(current);
    let symbolic = |mask: u32| {
        let class = |shift: u32| {
            let bits = !(mask >> shift) & 7;
            [(4, 'r'), (2, 'w'), (1, 'x')]
                .iter()
                .filter(|(b, _)| bits & b != 0)
                .map(|(_, c)| *c)
                .collect::<String>()
        };
        format!("u={},g={},o={}", class(6), class(3), class(0))
    };
    let Some(word) = argv.get(options.rest) else {
        let text = if options.has(b'S') {
            symbolic(current)
        } else {
            format!("{current:04o}")
        };
        let prefix = match (options.has(b'p'), options.has(b'S')) {
            (true, true) => "umask -S ",
            (true, false) => "umask ",
            _ => "",
        };
        shell.out.extend_from_slice(format!("{prefix}{text}\n").as_bytes());
        return Ok(0);
    };
    let shown = String::from_utf8_lossy(word).into_owned();
    if word.first().is_some_and(u8::is_ascii_digit) {
        match u32::from_str_radix(&shown, 8) {
            Ok(mask) if mask <= 0o777 => {
                os::umask(mask);
            }
            _ => {
                shell.builtin_error("umask", &format!("{shown}: octal number out of range"));
                return Ok(1);
            }
        }
    } else {
        match symbolic_mask(word, current) {
            Ok(mask) => {
                os::umask(mask);
            }
            Err(c) => {
                let message = match c {
                    Some(c) if c.is_ascii_alphabetic() => format!("`{}': invalid symbolic mode character", c as char),
                    Some(c) => format!("`{}': invalid symbolic mode operator", c as char),
                    None => format!("`{shown}': invalid symbolic mode operator"),
                };
                shell.builtin_error("umask", &message);
                return Ok(1);
            }
        }
    }
    if options.has(b'S') {
        let now = os::umask(0);
        os::umask(now);
        shell.out.extend_from_slice(format!("{}\n", symbolic(now)).as_bytes());
    }
    Ok(0)
}

/// Applies a symbolic mode, as of chmod, to a mask.
fn symbolic_mask(text: &[u8], mask: u32) -> Result<u32, Option<u8>> {
    let mut allowed = !mask & 0o777;
    for clause in text.split(|&c| c == b',') {
        let mut i = 0;
        let mut who = 0u32;
        while let Some(c) = clause.get(i) {
            who |= match c {
                b'u' => 0o700,
                b'g' => 0o070,
                b'o' => 0o007,
                b'a' => 0o777,
                _ => break,
            };
            i += 1;
        }
        if who == 0 {
            who = 0o777;
        }
        let Some(&op) = clause.get(i) else { return Err(None) };
        if !matches!(op, b'+' | b'-' | b'=') {
            return Err(Some(op));
        }
        i += 1;
        let mut bits = 0u32;
        for &c in &clause[i..] {
            bits |= match c {
                b'r' => 0o444,
                b'w' => 0o222,
                b'x' => 0o111,
                c => return Err(Some(c)),
            };
        }
        match op {
            b'+' => allowed |= bits & who,
            b'-' => allowed &= !(bits & who),
            _ => allowed = allowed & !who | bits & who,
        }
    }
    Ok(!allowed & 0o777)
}
