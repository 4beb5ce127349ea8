//! `cmp`: where two files differ.

use std::io::{self, BufReader, Read};

use crate::args::{self, Long, Value};
use crate::input;
use crate::output::{Output, show};
use crate::platform;

const LONGS: &[Long] = &[
    ("bytes", Value::Required, 'n'),
    ("help", Value::No, 'h'),
    ("ignore-initial", Value::Required, 'i'),
    ("print-bytes", Value::No, 'b'),
    ("quiet", Value::No, 's'),
    ("silent", Value::No, 's'),
    ("verbose", Value::No, 'l'),
    ("version", Value::No, 'v'),
];

struct Config {
    names: [Vec<u8>; 2],
    skips: [u64; 2],
    limit: u64,
    silent: bool,
    verbose: bool,
    print_bytes: bool,
}

/// Runs cmp and gives its exit status: 0 equal, 1 different, 2 trouble.
pub fn run(arguments: &[Vec<u8>]) -> i32 {
    let config = match parse(arguments) {
        Ok(Some(config)) => config,
        Ok(None) => return 0,
        Err(message) => {
            eprintln!("cmp: {message}\ncmp: Try 'cmp --help' for more information.");
            return 2;
        }
    };
    match compare(&config) {
        Ok(status) => status,
        Err((name, error)) => {
            if !config.silent || error.kind() != io::ErrorKind::NotFound {
                eprintln!("cmp: {}: {}", show(&name), platform::message(&error));
            }
            2
        }
    }
}

fn parse(arguments: &[Vec<u8>]) -> Result<Option<Config>, String> {
    let parsed = args::parse(arguments, "bci:ln:sv", LONGS, true)?;
    let mut config = Config {
        names: [Vec::new(), b"-".to_vec()],
        skips: [0, 0],
        limit: u64::MAX,
        silent: false,
        verbose: false,
        print_bytes: false,
    };
    let size = |text: &str| {
        let (digits, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        let factor = match unit {
            "" => 1,
            "kB" => 1000,
            "K" | "k" | "KiB" => 1 << 10,
            "MB" => 1_000_000,
            "M" | "MiB" => 1 << 20,
            _ => return None,
        };
        digits.parse::<u64>().ok()?.checked_mul(factor)
    };
    for (letter, value) in parsed.options {
        let text = value.as_deref().map(show).unwrap_or_default();
        match letter {
            'b' | 'c' => config.print_bytes = true,
            'i' => {
                let (first, second) = text.split_once(':').unwrap_or((&text, &text));
                let invalid = || format!("invalid --ignore-initial value '{text}'");
                config.skips = [size(first).ok_or_else(invalid)?, size(second).ok_or_else(invalid)?];
            }
            'l' => config.verbose = true,
            'n' => config.limit = size(&text).ok_or_else(|| format!("invalid --bytes value '{text}'"))?,
            's' => config.silent = true,
            'v' => {
                println!("cmp (GNU diffutils) 3.8 compatible (wskill texttools)");
                return Ok(None);
            }
            _ => {
                println!("Usage: cmp [OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]");
                return Ok(None);
            }
        }
    }
    let mut operands = parsed.operands.into_iter();
    config.names[0] = operands.next().ok_or("missing operand after 'cmp'")?;
    if let Some(second) = operands.next() {
        config.names[1] = second;
    }
    for (index, skip) in operands.enumerate() {
        let place = config.skips.get_mut(index).ok_or_else(|| format!("extra operand '{}'", show(&skip)))?;
        *place = size(&show(&skip)).ok_or_else(|| format!("invalid --ignore-initial value '{}'", show(&skip)))?;
    }
    Ok(Some(config))
}

type Trouble = (Vec<u8>, io::Error);

fn compare(config: &Config) -> Result<i32, Trouble> {
    let open = |index: usize| -> Result<BufReader<Box<dyn Read>>, Trouble> {
        let name = &config.names[index];
        let failed = |error| (name.clone(), error);
        let mut reader = BufReader::with_capacity(64 << 10, input::open(name).map_err(failed)?);
        io::copy(&mut reader.by_ref().take(config.skips[index]), &mut io::sink()).map_err(failed)?;
        Ok(reader)
    };
    let (mut first, mut second) = (open(0)?.bytes(), open(1)?.bytes());
    let mut out = Output::new("cmp", 2);
    let (mut offset, mut line, mut status, mut ended) = (0u64, 1u64, 0, true);
    // As wide as the last offset that can come.
    let size_of = |name: &[u8]| match platform::stat(name, true) {
        Ok(info) if info.is_file() => info.size,
        _ => u64::MAX,
    };
    let last = size_of(&config.names[0]).min(size_of(&config.names[1])).min(config.limit);
    let width = last.to_string().len();
    let names = [show(&config.names[0]), show(&config.names[1])];
    while offset < config.limit {
        let a = first.next().transpose().map_err(|error| (config.names[0].clone(), error))?;
        let b = second.next().transpose().map_err(|error| (config.names[1].clone(), error))?;
        let (a, b) = match (a, b) {
            (None, None) => break,
            (Some(a), Some(b)) => (a, b),
            (a, _) => {
                if !config.silent {
                    out.flush_all();
                    let shorter = if a.is_none() { &names[0] } else { &names[1] };
                    if offset == 0 {
                        eprintln!("cmp: EOF on {shorter} which is empty");
                    } else if config.verbose {
                        eprintln!("cmp: EOF on {shorter} after byte {offset}");
                    } else if ended {
                        eprintln!("cmp: EOF on {shorter} after byte {offset}, line {}", line - 1);
                    } else {
                        eprintln!("cmp: EOF on {shorter} after byte {offset}, in line {line}");
                    }
                }
                return Ok(1);
            }
        };
        offset += 1;
        if a != b {
            status = 1;
            if config.silent {
                return Ok(1);
            }
            if config.verbose {
                if config.print_bytes {
                    out.text(&format!("{offset:>width$} {a:>3o} {:<4} {b:>3o} {}\n", visible(a), visible(b)));
                } else {
                    out.text(&format!("{offset:>width$} {a:>3o} {b:>3o}\n"));
                }
            } else {
                let bytes = if config.print_bytes {
                    format!(" is {a:>3o} {} {b:>3o} {}", visible(a), visible(b))
                } else {
                    String::new()
                };
                out.text(&format!("{} {} differ: byte {offset}, line {line}{bytes}\n", names[0], names[1]));
                return Ok(1);
            }
        }
        ended = a == b'\n';
        line += u64::from(ended);
    }
    Ok(status)
}

/// A byte as `cat -v` shows it.
fn visible(byte: u8) -> String {
    let (prefix, byte) = if byte >= 0x80 { ("M-", byte - 0x80) } else { ("", byte) };
    match byte {
        0..=31 => format!("{prefix}^{}", (byte + 64) as char),
        127 => format!("{prefix}^?"),
        _ => format!("{prefix}{}", byte as char),
    }
}
