//! `ulimit`.
//!
//! Decision: the sandbox sets the limits and no call of the kernel changes them. A script that sets one goes on as under
//! bash: the shell keeps soft and hard values and its rules about them (a soft one stays below the hard one, which is
//! never raised again), and reports them, but nothing above what the sandbox grants. They are not enforced, and not
//! told to other programs.

use std::rc::Rc;

use crate::arith;
use crate::os;
use crate::shell::{Run, Shell};
use crate::state::Limit;

/// A resource: letter, description, unit text, divisor, and Linux's number of it.
type Resource = (u8, &'static str, &'static str, u64, Option<u32>);

const RESOURCES: &[Resource] = &[
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

fn resource(letter: u8) -> Option<&'static Resource> {
    RESOURCES.iter().find(|resource| resource.0 == letter)
}

/// Soft and hard value as the shell keeps them, in the resource's unit.
fn kept(shell: &Shell, letter: u8) -> Limit {
    let initial = match letter {
        b'c' => (Some(0), None),
        b'e' | b'r' => (Some(0), Some(0)),
        b'p' => (Some(8), Some(8)),
        _ => (None, None),
    };
    shell.st.limits.get(&letter).copied().unwrap_or(initial)
}

/// A value as it is reported: no more than the sandbox grants.
fn granted(&(_, _, _, divisor, number): &Resource, value: Option<u64>) -> Option<u64> {
    let most = number.and_then(os::rlimit).map(|most| most / divisor);
    match (value, most) {
        (Some(value), Some(most)) => Some(value.min(most)),
        (value, most) => value.or(most),
    }
}

fn shown(value: Option<u64>) -> String {
    value.map_or_else(|| "unlimited".into(), |value| value.to_string())
}

/// Which of the two values a call is about; without options, both to set and the soft one to show.
#[derive(Clone, Copy, Default)]
struct Which {
    soft: bool,
    hard: bool,
}

pub fn ulimit(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let mut which = Which::default();
    let mut all = false;
    let mut asked: Vec<(&Resource, Option<Vec<u8>>)> = Vec::new();
    let mut words = argv[1..].iter().peekable();
    while let Some(word) = words.next_if(|word| word.len() > 1 && word[0] == b'-') {
        if word == b"--" {
            break;
        }
        let mut letters = &word[1..];
        while let Some((&letter, rest)) = letters.split_first() {
            letters = rest;
            match (letter, resource(letter)) {
                (b'S', _) => which.soft = true,
                (b'H', _) => which.hard = true,
                (b'a', _) => all = true,
                // A value may be the rest of the word or the next one.
                (_, Some(resource)) if rest.is_empty() => {
                    asked.push((resource, words.next_if(|word| !word.starts_with(b"-")).cloned()));
                }
                (_, Some(resource)) => {
                    asked.push((resource, Some(rest.to_vec())));
                    letters = &[];
                }
                (letter, None) => {
                    shell.builtin_error("ulimit", &format!("-{}: invalid option", letter as char));
                    shell.usage("ulimit");
                    return Ok(2);
                }
            }
        }
    }
    if all {
        for resource in RESOURCES {
            show(shell, resource, which, true);
        }
        return Ok(0);
    }
    if asked.is_empty() {
        asked.extend(resource(b'f').map(|resource| (resource, words.next().cloned())));
    }
    let many = asked.len() > 1;
    for (resource, value) in asked {
        match value {
            None => show(shell, resource, which, many),
            Some(text) => {
                if let Err(message) = set(shell, resource, which, &text) {
                    shell.builtin_error("ulimit", &message);
                    return Ok(1);
                }
            }
        }
    }
    Ok(0)
}

fn show(shell: &mut Shell, resource: &Resource, which: Which, named: bool) {
    let (soft, hard) = kept(shell, resource.0);
    let value = shown(granted(resource, if which.hard && !which.soft { hard } else { soft }));
    let line = if named {
        format!("{:<21}{:>20}{value}\n", resource.1, resource.2)
    } else {
        format!("{value}\n")
    };
    shell.out.extend_from_slice(line.as_bytes());
}

fn set(shell: &mut Shell, resource: &Resource, which: Which, text: &[u8]) -> Result<(), String> {
    let (mut soft, mut hard) = kept(shell, resource.0);
    let wanted = match text {
        b"unlimited" => None,
        b"soft" => soft,
        b"hard" => hard,
        _ => match arith::integer(text).and_then(|number| u64::try_from(number).ok()) {
            Some(number) => Some(number),
            None => return Err(format!("{}: invalid number", String::from_utf8_lossy(text))),
        },
    };
    let refused = |why: &str| Err(format!("{}: cannot modify limit: {why}", resource.1));
    if resource.0 == b'p' {
        return refused("Invalid argument");
    }
    let above = |value: Option<u64>, most: Option<u64>| most.is_some_and(|most| value.is_none_or(|value| value > most));
    let both = which.soft == which.hard;
    if both || which.hard {
        if above(wanted, hard) {
            return refused("Operation not permitted");
        }
        hard = wanted;
    }
    if both || which.soft {
        soft = wanted;
    }
    if above(soft, hard) {
        return refused("Invalid argument");
    }
    Rc::make_mut(&mut shell.st.limits).insert(resource.0, (soft, hard));
    Ok(())
}
