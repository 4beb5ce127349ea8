//! Short ways for what scripts do most: the common forms of `head`, `tail`, `wc`, `cut`, `tr`, `uniq`, `seq`,
//! `tee`, `rm`, `touch`, `ln`, `date`. Every other form goes on in the module `uutils`.
//!
//! Decision: uutils reads its messages and builds its option parser at each start, four to ten times the work of one
//! of these; a script starts hundreds. A short way looks at its arguments only; at the first it does not know it gives
//! up before it has read or changed anything, so the answer is always one program's.

use std::ffi::OsString;
use std::os::wasi::ffi::OsStrExt;

use wskill_sys::process::Spawn;

mod clock;
mod fields;
mod files;
mod lines;
mod tr;

/// Where the module `uutils` answers `uutils NAME ARG...`.
const UUTILS: &str = "/usr/bin/uutils";

/// `None`: not a common form.
type Short = fn(&[OsString]) -> Option<i32>;

const SHORT: &[(&str, Short)] = &[
    ("cut", fields::cut),
    ("date", clock::date),
    ("head", lines::head),
    ("ln", files::ln),
    ("rm", files::rm),
    ("rmdir", files::rmdir),
    ("seq", lines::seq),
    ("tail", lines::tail),
    ("tee", files::tee),
    ("touch", files::touch),
    ("tr", tr::tr),
    ("uniq", fields::uniq),
    ("wc", lines::wc),
];

/// Runs a command the short way, or hands it to `uutils`.
pub fn short(name: &str, args: Vec<OsString>) -> i32 {
    if let Some((_, run)) = SHORT.iter().find(|s| s.0 == name)
        && let Some(status) = run(&args)
    {
        return status;
    }
    let errno = Spawn::path(UUTILS).arg("uutils").arg(name).args(&args).exec();
    eprintln!("{name}: cannot run {UUTILS}: {errno}");
    126
}

/// Each option's letter with its value, empty when it takes none.
type Options<'a> = Vec<(u8, &'a [u8])>;

/// Arguments taken apart: options as (letter, value), then operands. `short` is getopt's string. `None` for long
/// options and for letters that are not in it.
fn options<'a>(args: &'a [OsString], short: &str) -> Option<(Options<'a>, Vec<&'a OsString>)> {
    let letters = short.as_bytes();
    let mut options = Vec::new();
    let mut operands = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let bytes = arg.as_bytes();
        if bytes == b"--" {
            operands.extend(args);
            break;
        }
        if bytes.len() < 2 || bytes[0] != b'-' {
            operands.push(arg);
            continue;
        }
        let mut rest = &bytes[1..];
        while let Some((&letter, tail)) = rest.split_first() {
            let at = letters.iter().position(|&l| l == letter && l != b':')?;
            if letters.get(at + 1) == Some(&b':') {
                let value = if tail.is_empty() { args.next()?.as_bytes() } else { tail };
                options.push((letter, value));
                break;
            }
            options.push((letter, &b""[..]));
            rest = tail;
        }
    }
    Some((options, operands))
}

/// A plain decimal number.
fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}
