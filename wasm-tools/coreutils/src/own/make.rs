//! `mkdir`, `mkfifo`, `mktemp`, `link`-free ways to bring a name into being.

use std::ffi::OsString;
use std::os::wasi::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use wskill_sys::errno::Errno;
use wskill_sys::fs;

use super::mode::Mode;
use super::opts::{Spec, Takes};
use super::text::quote;
use super::{say, say_bytes};

const MKDIR: Spec = Spec {
    name: "mkdir",
    usage: "mkdir [OPTION]... DIRECTORY...",
    short: "m:pvZ",
    long: &[
        ("mode", Takes::Arg, 'm'),
        ("parents", Takes::No, 'p'),
        ("verbose", Takes::No, 'v'),
        ("context", Takes::Maybe, 'Z'),
    ],
    failure: 1,
};

/// A mode option's bits on top of `base`, or the message that it is none.
pub fn parse_mode(name: &str, text: &OsString, base: u32, is_dir: bool) -> Result<u32, i32> {
    match Mode::parse(&text.to_string_lossy()) {
        Some(mode) => Ok(mode.apply(base, is_dir, fs::current_umask())),
        None => {
            eprintln!("{name}: invalid mode {}", quote(text));
            Err(1)
        }
    }
}

/// `mkdir`.
pub fn mkdir(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match MKDIR.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let (mut mode, mut parents, mut verbose) = (None, false, false);
    for (option, value) in parsed.options {
        match option {
            'm' => match parse_mode("mkdir", &value, 0o777, true) {
                Ok(bits) => mode = Some(bits),
                Err(status) => return status,
            },
            'p' => parents = true,
            'v' => verbose = true,
            _ => {}
        }
    }
    if parsed.operands.is_empty() {
        return MKDIR.missing_operand();
    }
    let mut ok = true;
    for operand in &parsed.operands {
        ok &= make_dir(Path::new(operand), mode, parents, verbose);
    }
    i32::from(!ok)
}

fn make_dir(path: &Path, mode: Option<u32>, parents: bool, verbose: bool) -> bool {
    if parents && let Err((at, e)) = make_parents(path, &mut |made| tell_made(verbose, made)) {
        eprintln!("mkdir: cannot create directory {}: {e}", quote(at.as_os_str()));
        return false;
    }
    match fs::mkdir(path, mode.unwrap_or(0o777)) {
        Ok(()) => {
            tell_made(verbose, path);
            // The umask does not apply to a mode that was asked for.
            if let Some(bits) = mode
                && let Err(e) = fs::chmod(path, bits)
            {
                eprintln!("mkdir: cannot set permissions of {}: {e}", quote(path.as_os_str()));
                return false;
            }
            true
        }
        Err(Errno::EEXIST | Errno::EROFS | Errno::EISDIR) if parents && fs::stat(path).is_ok_and(|st| st.is_dir()) => {
            true
        }
        Err(e) => {
            eprintln!("mkdir: cannot create directory {}: {e}", quote(path.as_os_str()));
            false
        }
    }
}

fn tell_made(verbose: bool, path: &Path) {
    if verbose {
        say(format_args!("mkdir: created directory {}\n", quote(path.as_os_str())));
    }
}

/// Makes all directories above `path`, with write and search for the owner whatever the umask; tells each made.
pub fn make_parents(path: &Path, made: &mut dyn FnMut(&Path)) -> Result<(), (PathBuf, Errno)> {
    let mut missing: Vec<&Path> = Vec::new();
    for ancestor in path.ancestors().skip(1) {
        if ancestor.as_os_str().is_empty() {
            break;
        }
        match fs::stat(ancestor) {
            Ok(st) if st.is_dir() => break,
            Ok(_) => return Err((ancestor.to_owned(), Errno::ENOTDIR)),
            Err(_) => missing.push(ancestor),
        }
    }
    for dir in missing.into_iter().rev() {
        match fs::mkdir(dir, 0o777) {
            Ok(()) => {
                let mask = fs::current_umask();
                if mask & 0o300 != 0 {
                    fs::chmod(dir, 0o777 & !mask | 0o300).map_err(|e| (dir.to_owned(), e))?;
                }
                made(dir);
            }
            Err(Errno::EEXIST) => {}
            Err(e) => return Err((dir.to_owned(), e)),
        }
    }
    Ok(())
}

const MKFIFO: Spec = Spec {
    name: "mkfifo",
    usage: "mkfifo [OPTION]... NAME...",
    short: "m:Z",
    long: &[("mode", Takes::Arg, 'm'), ("context", Takes::Maybe, 'Z')],
    failure: 1,
};

/// `mkfifo`.
pub fn mkfifo(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match MKFIFO.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let mut mode = None;
    for (option, value) in parsed.options {
        if option == 'm' {
            match parse_mode("mkfifo", &value, 0o666, false) {
                Ok(bits) => mode = Some(bits),
                Err(status) => return status,
            }
        }
    }
    if parsed.operands.is_empty() {
        return MKFIFO.missing_operand();
    }
    let mut ok = true;
    for operand in &parsed.operands {
        let made = fs::mkfifo(operand, mode.unwrap_or(0o666)).and_then(|()| match mode {
            Some(bits) => fs::chmod(operand, bits),
            None => Ok(()),
        });
        if let Err(e) = made {
            eprintln!("mkfifo: cannot create fifo {}: {e}", quote(operand));
            ok = false;
        }
    }
    i32::from(!ok)
}

const MKTEMP: Spec = Spec {
    name: "mktemp",
    usage: "mktemp [OPTION]... [TEMPLATE]",
    short: "dp:qtu",
    long: &[
        ("directory", Takes::No, 'd'),
        ("dry-run", Takes::No, 'u'),
        ("quiet", Takes::No, 'q'),
        ("suffix", Takes::Arg, 's'),
        ("tmpdir", Takes::Maybe, 'P'),
    ],
    failure: 1,
};

struct Template {
    directory: bool,
    dry_run: bool,
    quiet: bool,
    /// `-p`, `--tmpdir`, `-t`: where a relative template goes.
    base: Option<PathBuf>,
}

/// `mktemp`.
pub fn mktemp(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match MKTEMP.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let mut job = Template { directory: false, dry_run: false, quiet: false, base: None };
    let tmpdir = || {
        let set = std::env::var_os("TMPDIR").filter(|dir| !dir.is_empty());
        PathBuf::from(set.unwrap_or_else(|| "/tmp".into()))
    };
    let (mut suffix, mut old_style, mut explicit) = (None, false, None);
    for (option, value) in parsed.options {
        match option {
            'd' => job.directory = true,
            'u' => job.dry_run = true,
            'q' => job.quiet = true,
            's' => suffix = Some(value),
            't' => old_style = true,
            _ => explicit = Some(value),
        }
    }
    if let Some(dir) = explicit {
        job.base = Some(if dir.is_empty() { tmpdir() } else { PathBuf::from(dir) });
    }
    if parsed.operands.len() > 1 {
        eprintln!("mktemp: too many templates");
        return MKTEMP.try_help();
    }
    let template = match parsed.operands.into_iter().next() {
        Some(template) => template,
        None => {
            job.base.get_or_insert_with(tmpdir);
            "tmp.XXXXXXXXXX".into()
        }
    };
    if old_style {
        if template.as_bytes().contains(&b'/') {
            eprintln!("mktemp: invalid template, {}, contains directory separator", quote(&template));
            return 1;
        }
        job.base = Some(
            std::env::var_os("TMPDIR")
                .filter(|d| !d.is_empty())
                .map_or_else(|| job.base.take().unwrap_or_else(|| "/tmp".into()), PathBuf::from),
        );
    }
    job.run(&template, suffix)
}

impl Template {
    fn run(&self, template: &OsString, suffix: Option<OsString>) -> i32 {
        let bytes = template.as_bytes();
        let Some(last) = bytes.iter().rposition(|&b| b == b'X') else {
            eprintln!("mktemp: too few X's in template {}", quote(template));
            return 1;
        };
        let tail = &bytes[last + 1..];
        let suffix = match suffix {
            Some(_) if !tail.is_empty() => {
                eprintln!("mktemp: with --suffix, template {} must end in X", quote(template));
                return 1;
            }
            Some(suffix) => suffix.into_vec(),
            None => tail.to_vec(),
        };
        if suffix.contains(&b'/') {
            let shown = quote(&OsString::from_vec(suffix));
            eprintln!("mktemp: invalid suffix {shown}, contains directory separator");
            return 1;
        }
        let start = bytes[..=last].iter().rposition(|&b| b != b'X').map_or(0, |at| at + 1);
        let count = last + 1 - start;
        if count < 3 {
            eprintln!("mktemp: too few X's in template {}", quote(template));
            return 1;
        }
        if self.base.is_some() && bytes.first() == Some(&b'/') {
            eprintln!("mktemp: invalid template, {}; with --tmpdir, it may not be absolute", quote(template));
            return 1;
        }
        let mut last_error = Errno::EEXIST;
        for _ in 0..100 {
            let mut name = bytes[..start].to_vec();
            name.extend(random_letters(count));
            name.extend_from_slice(&suffix);
            let name = OsString::from_vec(name);
            let path = self.base.as_ref().map_or_else(|| PathBuf::from(&name), |base| base.join(&name));
            let made = if self.dry_run {
                match fs::lstat(&path) {
                    Ok(_) => Err(Errno::EEXIST),
                    Err(Errno::ENOENT) => Ok(()),
                    Err(e) => Err(e),
                }
            } else if self.directory {
                fs::mkdir(&path, 0o700)
            } else {
                fs::open(&path, fs::O_RDWR | fs::O_CREAT | fs::O_EXCL, 0o600).map(drop)
            };
            match made {
                Ok(()) => {
                    let mut line = path.into_os_string().into_vec();
                    line.push(b'\n');
                    say_bytes(&line);
                    return 0;
                }
                Err(Errno::EEXIST) => {}
                Err(e) => {
                    last_error = e;
                    break;
                }
            }
        }
        if !self.quiet {
            let what = if self.directory { "directory" } else { "file" };
            let shown = self.base.as_ref().map_or_else(|| PathBuf::from(template), |base| base.join(template));
            eprintln!("mktemp: failed to create {what} via template {}: {last_error}", quote(shown.as_os_str()));
        }
        1
    }
}

/// Letters and digits from the kernel's random numbers.
fn random_letters(count: usize) -> Vec<u8> {
    const LETTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    use std::hash::{BuildHasher, RandomState};
    let mut out = Vec::with_capacity(count);
    // Decision: std's seeded hasher is the one door to random_get without a crate; a name needs to be new, not secret.
    let state = RandomState::new();
    let mut turn = 0u64;
    while out.len() < count {
        let mut bits = state.hash_one((turn, out.len()));
        for _ in 0..10 {
            if out.len() < count {
                out.push(LETTERS[(bits % 62) as usize]);
                bits /= 62;
            }
        }
        turn += 1;
    }
    out
}
