//! `ulimit` (which reports the sandbox's limits) and `umask`.

use crate::os;
use crate::shell::{Run, Shell};

/// Letter, description, unit text, divisor, and Linux's number of the resource.
const LIMITS: &[(u8, &str, &str, u64, Option<u32>)] = &[
    (b'R', "real-time non-blocking time", "(microseconds, -R) ", 1, None),
    (b'c', "core file size", "(blocks, -c) ", 1024, Some(4)),
    (b'd', "data seg size", "(kbytes, -d) ", 1024, Some(2)),
    (b'e', "scheduling priority", "(-e) ", 1, Some(13)),
    (b'f', "file size", "(blocks, -f) ", 1024, Some(1)),
    (b'i', "pending signals", "(-i) ", 1, Some(11)),
    (b'l', "max locked memory", "(kbytes, -l) ", 1024, Some(8)),
    (b'm', "max memory size", "(kbytes, -m) ", 1024, Some(5)),
    (b'n', "open files", "(-n) ", 1, Some(7)),
    (b'p', "pipe size", "(512 bytes, -p) ", 512, None),
    (b'q', "POSIX message queues", "(bytes, -q) ", 1, Some(12)),
    (b'r', "real-time priority", "(-r) ", 1, Some(14)),
    (b's', "stack size", "(kbytes, -s) ", 1024, Some(3)),
    (b't', "cpu time", "(seconds, -t) ", 1, Some(0)),
    (b'u', "max user processes", "(-u) ", 1, Some(6)),
    (b'v', "virtual memory", "(kbytes, -v) ", 1024, Some(9)),
    (b'x', "file locks", "(-x) ", 1, Some(10)),
];

fn value(letter: u8) -> Option<u64> {
    let &(_, _, _, divisor, resource) = LIMITS.iter().find(|l| l.0 == letter)?;
    match (letter, resource) {
        (b'p', _) => Some(8),
        (b'c' | b'e' | b'r', _) => Some(0),
        (_, Some(resource)) => os::rlimit(resource).map(|v| v / divisor),
        (_, None) => None,
    }
}

pub fn ulimit(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let mut letters: Vec<u8> = Vec::new();
    let mut all = false;
    let mut operand: Option<Vec<u8>> = None;
    for word in &argv[1..] {
        match word.as_slice() {
            b"--" => {}
            [b'-', rest @ ..] if !rest.is_empty() => {
                for &c in rest {
                    match c {
                        b'S' | b'H' => {}
                        b'a' => all = true,
                        c if LIMITS.iter().any(|l| l.0 == c) => letters.push(c),
                        c => {
                            shell.builtin_error("ulimit", &format!("-{}: invalid option", c as char));
                            shell.usage("ulimit");
                            return Ok(2);
                        }
                    }
                }
            }
            _ => operand = Some(word.clone()),
        }
    }
    let show = |v: Option<u64>| v.map_or("unlimited".to_string(), |v| v.to_string());
    if all {
        for &(letter, name, unit, ..) in LIMITS {
            let line = format!("{name:<21}{unit:>20}{}\n", show(value(letter)));
            shell.out.extend_from_slice(line.as_bytes());
        }
        return Ok(0);
    }
    if letters.is_empty() {
        letters.push(b'f');
    }
    if let Some(text) = operand {
        let shown = String::from_utf8_lossy(&text).into_owned();
        let current = value(letters[0]);
        let wanted = match text.as_slice() {
            b"unlimited" => None,
            b"soft" | b"hard" => current,
            _ => match crate::arith::integer(&text).and_then(|n| u64::try_from(n).ok()) {
                Some(n) => Some(n),
                None => {
                    shell.builtin_error("ulimit", &format!("{shown}: invalid number"));
                    return Ok(1);
                }
            },
        };
        // The sandbox sets the limits. Asking for what holds already, or for no core files, is no error.
        if wanted == current || letters[0] == b'c' {
            return Ok(0);
        }
        let name = LIMITS.iter().find(|l| l.0 == letters[0]).map_or("", |l| l.1);
        shell.builtin_error(
            "ulimit",
            &format!("{name}: cannot modify limit: not supported in the sandbox"),
        );
        return Ok(1);
    }
    let many = letters.len() > 1;
    for letter in letters {
        let line = match LIMITS.iter().find(|l| l.0 == letter) {
            Some((_, name, unit, ..)) if many => format!("{name:<21}{unit:>20}{}\n", show(value(letter))),
            _ => format!("{}\n", show(value(letter))),
        };
        shell.out.extend_from_slice(line.as_bytes());
    }
    Ok(0)
}

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
