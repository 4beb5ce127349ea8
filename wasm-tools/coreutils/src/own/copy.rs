//! `cp`, `mv`, `install`.

use std::ffi::OsString;
use std::os::wasi::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use wskill_sys::fs::{self, SetTime};

use super::copier::{Backup, Copier, Destination, Follow, Update, base_name, destination};
use super::make::{make_parents, parse_mode};
use super::opts::{Spec, Takes};
use super::text::quote;
use super::{ask, say};

const CP: Spec = Spec {
    name: "cp",
    usage: "cp [OPTION]... [-T] SOURCE DEST\n  or:  cp [OPTION]... SOURCE... DIRECTORY\n  \
            or:  cp [OPTION]... -t DIRECTORY SOURCE...",
    short: "abdfHilLnprRst:uvxPS:TZ",
    long: &[
        ("archive", Takes::No, 'a'),
        ("attributes-only", Takes::No, 'A'),
        ("backup", Takes::Maybe, 'B'),
        ("copy-contents", Takes::No, 'c'),
        ("debug", Takes::No, 'v'),
        ("dereference", Takes::No, 'L'),
        ("force", Takes::No, 'f'),
        ("interactive", Takes::No, 'i'),
        ("link", Takes::No, 'l'),
        ("no-clobber", Takes::No, 'n'),
        ("no-dereference", Takes::No, 'P'),
        ("no-preserve", Takes::Arg, 'N'),
        ("no-target-directory", Takes::No, 'T'),
        ("one-file-system", Takes::No, 'x'),
        ("parents", Takes::No, 'D'),
        ("path", Takes::No, 'D'),
        ("preserve", Takes::Maybe, 'K'),
        ("recursive", Takes::No, 'R'),
        ("reflink", Takes::Maybe, 'c'),
        ("remove-destination", Takes::No, 'X'),
        ("sparse", Takes::Arg, 'c'),
        ("strip-trailing-slashes", Takes::No, 'E'),
        ("suffix", Takes::Arg, 'S'),
        ("symbolic-link", Takes::No, 's'),
        ("target-directory", Takes::Arg, 't'),
        ("update", Takes::Maybe, 'U'),
        ("verbose", Takes::No, 'v'),
        ("context", Takes::Maybe, 'Z'),
    ],
    failure: 1,
};

fn strip_slashes(path: &Path) -> PathBuf {
    let mut bytes = path.as_os_str().as_bytes().to_vec();
    while bytes.len() > 1 && bytes.ends_with(b"/") {
        bytes.pop();
    }
    PathBuf::from(OsString::from_vec(bytes))
}

fn parse_update(spec: &Spec, word: &OsString) -> Result<Update, i32> {
    if word.is_empty() {
        return Ok(Update::Older);
    }
    Ok(match spec.choice("--update", word, &["all", "none", "none-fail", "older"])? {
        "all" => Update::All,
        "none" => Update::None,
        "none-fail" => Update::NoneFail,
        _ => Update::Older,
    })
}

fn parse_backup(spec: &Spec, word: &OsString) -> Result<Backup, i32> {
    let word = if word.is_empty() { std::env::var_os("VERSION_CONTROL").unwrap_or_default() } else { word.clone() };
    Backup::parse(&word.to_string_lossy()).ok_or_else(|| {
        eprintln!("{}: invalid argument {} for 'backup type'", spec.name, quote(&word));
        spec.try_help()
    })
}

/// What `cp`, `mv` and `install` take alike: where the operands go, backups and updates.
#[derive(Default)]
struct Shared {
    target: Option<OsString>,
    no_target: bool,
    strip: bool,
}

impl Shared {
    /// Takes an option when it is one of them.
    fn take(&mut self, spec: &Spec, copier: &mut Copier, option: char, value: &OsString) -> Result<bool, i32> {
        match option {
            'b' => copier.backup = parse_backup(spec, &OsString::new())?,
            'B' => copier.backup = parse_backup(spec, value)?,
            'E' => self.strip = true,
            'n' => {
                copier.update = Update::None;
                copier.interactive = false;
            }
            'S' => {
                copier.suffix = value.clone();
                if copier.backup == Backup::Off {
                    copier.backup = Backup::Existing;
                }
            }
            't' => self.target = Some(value.clone()),
            'T' => self.no_target = true,
            'u' => copier.update = Update::Older,
            'U' => copier.update = parse_update(spec, value)?,
            'v' => copier.verbose = true,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn set_preserve(copier: &mut Copier, list: &OsString, on: bool) -> Result<(), i32> {
    for word in list.to_string_lossy().split(',') {
        match word {
            "mode" => {
                copier.keep_mode = on;
                copier.plain_mode = !on;
            }
            "timestamps" => copier.keep_times = on,
            "links" => copier.keep_links = on,
            // Owners are never kept, and there are no contexts and no extended attributes.
            "ownership" | "context" | "xattr" => {}
            "all" => {
                copier.keep_mode = on;
                copier.plain_mode = !on;
                copier.keep_times = on;
                copier.keep_links = on;
            }
            _ => {
                let option = if on { "--preserve" } else { "--no-preserve" };
                eprintln!("cp: invalid argument '{word}' for '{option}'");
                return Err(CP.try_help());
            }
        }
    }
    Ok(())
}

/// `cp`.
pub fn cp(_: &str, args: Vec<OsString>) -> i32 {
    run_cp(args).unwrap_or_else(|status| status)
}

fn run_cp(args: Vec<OsString>) -> Result<i32, i32> {
    let parsed = CP.parse(args)?;
    let mut copier = Copier::new("cp");
    let (mut follow, mut parents) = (None, false);
    let mut shared = Shared::default();
    for (option, value) in parsed.options {
        if shared.take(&CP, &mut copier, option, &value)? {
            continue;
        }
        match option {
            'a' => {
                copier.recursive = true;
                follow = Some(Follow::Never);
                (copier.keep_mode, copier.keep_times, copier.keep_links) = (true, true, true);
            }
            'A' => copier.attributes_only = true,
            'd' => {
                follow = Some(Follow::Never);
                copier.keep_links = true;
            }
            'D' => parents = true,
            'f' => copier.force = true,
            'H' => follow = Some(Follow::Operands),
            'i' => {
                copier.interactive = true;
                copier.update = Update::All;
            }
            'l' => copier.hard_link = true,
            'L' => follow = Some(Follow::Always),
            'N' => set_preserve(&mut copier, &value, false)?,
            'K' if value.is_empty() => (copier.keep_mode, copier.keep_times) = (true, true),
            'K' => set_preserve(&mut copier, &value, true)?,
            'p' => (copier.keep_mode, copier.keep_times) = (true, true),
            'P' => follow = Some(Follow::Never),
            'r' | 'R' => copier.recursive = true,
            's' => copier.symlink = true,
            'x' => copier.one_file_system = true,
            'X' => copier.remove_destination = true,
            _ => {}
        }
    }
    copier.follow = follow.unwrap_or(if copier.recursive || copier.hard_link { Follow::Never } else { Follow::Always });
    let (sources, to) = destination(&CP, parsed.operands, shared.target, shared.no_target)?;
    let mut ok = true;
    for source in sources {
        let source = if shared.strip { strip_slashes(&source) } else { source };
        let exact = match &to {
            Destination::To(_) if parents => {
                eprintln!("cp: with --parents, the destination must be a directory");
                return Err(CP.try_help());
            }
            Destination::To(path) => path.clone(),
            Destination::Into(dir) if parents => {
                let relative = strip_slashes(source.strip_prefix("/").unwrap_or(&source));
                let path = dir.join(relative);
                if let Err((at, e)) = make_parents(&path, &mut |_| {}) {
                    eprintln!("cp: cannot make directory {}: {e}", quote(at.as_os_str()));
                    ok = false;
                    continue;
                }
                path
            }
            Destination::Into(dir) => dir.join(base_name(&source)),
        };
        ok &= copier.copy_operand(&source, &exact);
    }
    Ok(i32::from(!ok))
}

const MV: Spec = Spec {
    name: "mv",
    usage: "mv [OPTION]... [-T] SOURCE DEST\n  or:  mv [OPTION]... SOURCE... DIRECTORY\n  \
            or:  mv [OPTION]... -t DIRECTORY SOURCE...",
    short: "bfint:uvS:TZ",
    long: &[
        ("backup", Takes::Maybe, 'B'),
        ("debug", Takes::No, 'v'),
        ("force", Takes::No, 'f'),
        ("interactive", Takes::No, 'i'),
        ("no-clobber", Takes::No, 'n'),
        ("no-copy", Takes::No, 'C'),
        ("no-target-directory", Takes::No, 'T'),
        ("strip-trailing-slashes", Takes::No, 'E'),
        ("suffix", Takes::Arg, 'S'),
        ("target-directory", Takes::Arg, 't'),
        ("update", Takes::Maybe, 'U'),
        ("verbose", Takes::No, 'v'),
        ("context", Takes::No, 'Z'),
    ],
    failure: 1,
};

/// `mv`.
pub fn mv(_: &str, args: Vec<OsString>) -> i32 {
    run_mv(args).unwrap_or_else(|status| status)
}

fn run_mv(args: Vec<OsString>) -> Result<i32, i32> {
    let parsed = MV.parse(args)?;
    let mut copier = Copier::new("mv");
    copier.recursive = true;
    copier.follow = Follow::Never;
    (copier.keep_mode, copier.keep_times, copier.keep_links) = (true, true, true);
    let mut no_copy = false;
    let mut shared = Shared::default();
    for (option, value) in parsed.options {
        if shared.take(&MV, &mut copier, option, &value)? {
            continue;
        }
        match option {
            'C' => no_copy = true,
            'f' => {
                copier.interactive = false;
                copier.update = Update::All;
            }
            'i' => copier.interactive = true,
            _ => {}
        }
    }
    let (sources, to) = destination(&MV, parsed.operands, shared.target, shared.no_target)?;
    let mut ok = true;
    for source in sources {
        let source = if shared.strip { strip_slashes(&source) } else { source };
        let exact = match &to {
            Destination::To(path) => path.clone(),
            Destination::Into(dir) => dir.join(base_name(&source)),
        };
        ok &= move_one(&mut copier, &source, &exact, no_copy);
    }
    Ok(i32::from(!ok))
}

fn move_one(copier: &mut Copier, from: &Path, to: &Path, no_copy: bool) -> bool {
    let (shown_from, shown_to) = (quote(from.as_os_str()), quote(to.as_os_str()));
    let st = match fs::lstat(from) {
        Ok(st) => st,
        Err(e) => {
            eprintln!("mv: cannot stat {shown_from}: {e}");
            return false;
        }
    };
    if let Ok(old) = fs::lstat(to) {
        match copier.update {
            Update::None => return true,
            Update::NoneFail => {
                eprintln!("mv: not replacing {shown_to}");
                return false;
            }
            Update::Older if old.mtime_ns >= st.mtime_ns => return true,
            _ => {}
        }
        if old.same_file(&st) {
            let one_name = fs::realpath(from).ok() == fs::realpath(to).ok() || st.nlink < 2;
            if one_name || st.is_dir() {
                eprintln!("mv: {shown_from} and {shown_to} are the same file");
                return false;
            }
            // Two names of one file: rename does nothing, so the source goes.
            return remove(from, &shown_from);
        }
        if old.is_dir() && !st.is_dir() {
            eprintln!("mv: cannot overwrite directory {shown_to} with non-directory");
            return false;
        }
        if !old.is_dir() && st.is_dir() && copier.backup == Backup::Off {
            eprintln!("mv: cannot overwrite non-directory {shown_to} with directory {shown_from}");
            return false;
        }
        if copier.interactive && !ask(format_args!("mv: overwrite {shown_to}? ")) {
            return false;
        }
        if copier.backup != Backup::Off
            && let Err(e) = copier.back_up(to)
        {
            eprintln!("mv: cannot backup {shown_to}: {e}");
            return false;
        }
    }
    let error = match std::fs::rename(from, to) {
        Ok(()) => {
            if copier.verbose {
                say(format_args!("renamed {shown_from} -> {shown_to}\n"));
            }
            return true;
        }
        Err(e) => e,
    };
    let raw = wskill_sys::fd::errno_of(&error);
    if raw == wskill_sys::Errno::EINVAL && st.is_dir() {
        eprintln!("mv: cannot move {shown_from} to a subdirectory of itself, {shown_to}");
        return false;
    }
    if raw != wskill_sys::Errno::EXDEV || no_copy {
        eprintln!("mv: cannot move {shown_from} to {shown_to}: {raw}");
        return false;
    }
    let verbose = std::mem::replace(&mut copier.verbose, false);
    let interactive = std::mem::replace(&mut copier.interactive, false);
    // What is there is replaced, not written through.
    copier.remove_destination = true;
    let copied = copier.copy_operand(from, to);
    (copier.verbose, copier.interactive) = (verbose, interactive);
    if !copied {
        return false;
    }
    if verbose {
        say(format_args!("copied {shown_from} -> {shown_to}\n"));
    }
    let removed = remove(from, &shown_from);
    if removed && verbose {
        say(format_args!("removed {shown_from}\n"));
    }
    removed
}

fn remove(path: &Path, shown: &str) -> bool {
    let is_dir = fs::lstat(path).is_ok_and(|st| st.is_dir());
    let result = if is_dir { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    match result {
        Ok(()) => true,
        Err(e) => {
            eprintln!("mv: cannot remove {shown}: {}", wskill_sys::message(&e));
            false
        }
    }
}

const INSTALL: Spec = Spec {
    name: "install",
    usage: "install [OPTION]... [-T] SOURCE DEST\n  or:  install [OPTION]... SOURCE... DIRECTORY\n  \
            or:  install [OPTION]... -t DIRECTORY SOURCE...\n  or:  install [OPTION]... -d DIRECTORY...",
    short: "bcCdDg:m:o:pst:TS:vZ",
    long: &[
        ("backup", Takes::Maybe, 'B'),
        ("compare", Takes::No, 'C'),
        ("directory", Takes::No, 'd'),
        ("group", Takes::Arg, 'g'),
        ("mode", Takes::Arg, 'm'),
        ("owner", Takes::Arg, 'o'),
        ("preserve-timestamps", Takes::No, 'p'),
        ("strip", Takes::No, 's'),
        ("suffix", Takes::Arg, 'S'),
        ("target-directory", Takes::Arg, 't'),
        ("no-target-directory", Takes::No, 'T'),
        ("verbose", Takes::No, 'v'),
    ],
    failure: 1,
};

/// `install`.
pub fn install(_: &str, args: Vec<OsString>) -> i32 {
    run_install(args).unwrap_or_else(|status| status)
}

fn run_install(args: Vec<OsString>) -> Result<i32, i32> {
    let parsed = INSTALL.parse(args)?;
    let mut copier = Copier::new("install");
    copier.plain_mode = true;
    copier.remove_destination = true;
    let (mut mode_text, mut directories, mut leading, mut compare) = (None, false, false, false);
    let mut shared = Shared::default();
    for (option, value) in parsed.options {
        if shared.take(&INSTALL, &mut copier, option, &value)? {
            continue;
        }
        match option {
            'C' => compare = true,
            'd' => directories = true,
            'D' => leading = true,
            'm' => mode_text = Some(value),
            'p' => copier.keep_times = true,
            // Owners are not kept, and there is nothing to strip.
            _ => {}
        }
    }
    let mode = match &mode_text {
        Some(text) => parse_mode("install", text, 0, directories)?,
        None => 0o755,
    };
    let mut told = |dir: &Path| {
        if copier.verbose {
            say(format_args!("install: creating directory {}\n", quote(dir.as_os_str())));
        }
    };
    if directories {
        if parsed.operands.is_empty() {
            eprintln!("install: missing file operand");
            return Err(INSTALL.try_help());
        }
        let mut ok = true;
        for operand in &parsed.operands {
            let path = Path::new(operand);
            let made = make_parents(path, &mut told).and_then(|()| {
                match fs::mkdir(path, 0o755) {
                    Ok(()) => told(path),
                    Err(_) if fs::stat(path).is_ok_and(|st| st.is_dir()) => {}
                    Err(e) => return Err((path.to_owned(), e)),
                }
                fs::chmod(path, mode).map_err(|e| (path.to_owned(), e))
            });
            if let Err((at, e)) = made {
                eprintln!("install: cannot create directory {}: {e}", quote(at.as_os_str()));
                ok = false;
            }
        }
        return Ok(i32::from(!ok));
    }
    if leading {
        let below;
        let needed = match (&shared.target, parsed.operands.last()) {
            (Some(dir), _) => {
                below = Path::new(dir).join("x");
                Some(below.as_path())
            }
            (None, Some(last)) if parsed.operands.len() > 1 => Some(Path::new(last)),
            _ => None,
        };
        if let Some(path) = needed
            && let Err((at, e)) = make_parents(path, &mut told)
        {
            eprintln!("install: cannot create directory {}: {e}", quote(at.as_os_str()));
            return Err(1);
        }
    }
    let (sources, to) = destination(&INSTALL, parsed.operands, shared.target, shared.no_target)?;
    let mut ok = true;
    for source in sources {
        let exact = match &to {
            Destination::To(path) => path.clone(),
            Destination::Into(dir) => dir.join(base_name(&source)),
        };
        if compare && same_content(&source, &exact, mode) {
            continue;
        }
        let copied = copier.copy_operand(&source, &exact);
        ok &= copied;
        if copied {
            if let Err(e) = fs::chmod(&exact, mode) {
                eprintln!("install: cannot change permissions of {}: {e}", quote(exact.as_os_str()));
                ok = false;
            } else if copier.keep_times
                && let Ok(st) = fs::stat(&source)
            {
                let _ = fs::utimens(&exact, SetTime::At(st.atime_ns), SetTime::At(st.mtime_ns), true);
            }
        }
    }
    Ok(i32::from(!ok))
}

fn same_content(from: &Path, to: &Path, mode: u32) -> bool {
    let (Ok(a), Ok(b)) = (fs::stat(from), fs::lstat(to)) else { return false };
    b.is_file()
        && a.size == b.size
        && b.permissions() == mode
        && matches!((std::fs::read(from), std::fs::read(to)), (Ok(a), Ok(b)) if a == b)
}
