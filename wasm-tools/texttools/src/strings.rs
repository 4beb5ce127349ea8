//! `strings`: the runs of printable characters in files.

use crate::args::{self, Long, Value};
use crate::input;
use crate::output::{Output, show};
use crate::platform;

const LONGS: &[Long] = &[
    ("all", Value::No, 'a'),
    ("bytes", Value::Required, 'n'),
    ("encoding", Value::Required, 'e'),
    ("help", Value::No, 'h'),
    ("include-all-whitespace", Value::No, 'w'),
    ("output-separator", Value::Required, 's'),
    ("print-file-name", Value::No, 'f'),
    ("radix", Value::Required, 't'),
    ("version", Value::No, 'v'),
];

/// Runs strings and gives its exit status.
pub fn run(arguments: &[Vec<u8>]) -> i32 {
    // `-8` is `-n 8`.
    let expanded: Vec<Vec<u8>> = arguments
        .iter()
        .map(|word| match word.strip_prefix(b"-") {
            Some(digits) if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => [b"-n", digits].concat(),
            _ => word.clone(),
        })
        .collect();
    let parsed = match args::parse(&expanded, "afhe:n:ot:ws:v", LONGS, true) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("strings: {message}");
            return 1;
        }
    };
    let (mut least, mut names, mut radix, mut whitespace) = (4usize, false, None, false);
    let mut separator = b"\n".to_vec();
    for (letter, value) in parsed.options {
        let value = value.unwrap_or_default();
        match letter {
            'f' => names = true,
            'n' => {
                match args::number(&value).and_then(|number| usize::try_from(number).ok()).filter(|number| *number > 0)
                {
                    Some(number) => least = number,
                    None => {
                        eprintln!("strings: invalid minimum string length {}", show(&value));
                        return 1;
                    }
                }
            }
            'o' => radix = Some(b'o'),
            't' => radix = value.first().copied(),
            'w' => whitespace = true,
            's' => separator = value,
            'h' | 'v' => {
                println!("Usage: strings [option(s)] [file(s)]");
                return 0;
            }
            _ => {}
        }
    }
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let mut out = Output::new("strings", 1);
    let mut status = 0;
    for name in &files {
        let text = match input::read(name) {
            Ok(text) => text,
            Err(error) => {
                out.flush_all();
                eprintln!("strings: '{}': {}", show(name), platform::message(&error));
                status = 1;
                continue;
            }
        };
        let printable =
            |byte: u8| (b' '..=b'~').contains(&byte) || byte == b'\t' || whitespace && byte.is_ascii_whitespace();
        let mut start = 0;
        for at in 0..=text.len() {
            if at < text.len() && printable(text[at]) {
                continue;
            }
            if at - start >= least {
                if names {
                    out.text(&format!("{}: ", if name == b"-" { "{standard input}".into() } else { show(name) }));
                }
                match radix {
                    Some(b'o') => out.text(&format!("{start:>7o} ")),
                    Some(b'd') => out.text(&format!("{start:>7} ")),
                    Some(b'x') => out.text(&format!("{start:>7x} ")),
                    _ => {}
                }
                out.put(&text[start..at]);
                out.put(&separator);
            }
            start = at + 1;
        }
    }
    out.flush_all();
    status
}
