//! `chmod`, `chown`, `chgrp`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use wskill_sys::errno::Result;
use wskill_sys::fs::{self, Stat};

use super::mode::Mode;
use super::opts::{Spec, Takes};
use super::text::{mode_string, quote};
use super::{children, say};

const CHMOD: Spec = Spec {
    name: "chmod",
    usage: "chmod [OPTION]... MODE[,MODE]... FILE...\n  or:  chmod [OPTION]... --reference=RFILE FILE...",
    short: "Rcfv",
    long: &[
        ("recursive", Takes::No, 'R'),
        ("changes", Takes::No, 'c'),
        ("silent", Takes::No, 'f'),
        ("quiet", Takes::No, 'f'),
        ("verbose", Takes::No, 'v'),
        ("reference", Takes::Arg, 'r'),
        ("preserve-root", Takes::No, 'p'),
        ("no-preserve-root", Takes::No, 'n'),
    ],
    failure: 1,
};

struct Chmod {
    mode: Mode,
    umask: u32,
    recursive: bool,
    changes: bool,
    quiet: bool,
    verbose: bool,
}

/// Splits off arguments that look like options but are modes ("-x", "-rw"), which getopt would take apart.
fn modes_apart(args: Vec<OsString>) -> (Vec<OsString>, Option<OsString>) {
    let mut rest = Vec::new();
    let mut modes: Vec<String> = Vec::new();
    let mut ended = false;
    for arg in args {
        let text = arg.to_string_lossy();
        let is_mode = !ended
            && text.len() > 1
            && text.starts_with('-')
            && text[1..].starts_with(|c: char| "rwxXstugoa,+=".contains(c) || c.is_ascii_digit());
        if is_mode {
            modes.push(text.into_owned());
        } else {
            ended |= text == "--";
            rest.push(arg);
        }
    }
    (rest, (!modes.is_empty()).then(|| OsString::from(modes.join(","))))
}

/// What `--reference` names; after a message the status is in `Err`.
fn reference_of(program: &str, file: &OsString) -> std::result::Result<Stat, i32> {
    fs::stat(file).map_err(|e| {
        eprintln!("{program}: failed to get attributes of {}: {e}", quote(file));
        1
    })
}

/// `chmod`.
pub fn chmod(_: &str, args: Vec<OsString>) -> i32 {
    let (args, dashed) = modes_apart(args);
    let parsed = match CHMOD.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let (mut recursive, mut changes, mut quiet, mut verbose) = (false, false, false, false);
    let mut reference = None;
    for (option, value) in parsed.options {
        match option {
            'R' => recursive = true,
            'c' => changes = true,
            'f' => quiet = true,
            'v' => verbose = true,
            'r' => reference = Some(value),
            _ => {}
        }
    }
    let mut operands = parsed.operands.into_iter();
    let mode = if let Some(file) = reference {
        match reference_of("chmod", &file) {
            Ok(st) => Mode::Octal { bits: st.permissions(), digits: 5, op: b'=' },
            Err(status) => return status,
        }
    } else {
        let Some(text) = dashed.or_else(|| operands.next()) else { return CHMOD.missing_operand() };
        match Mode::parse(&text.to_string_lossy()) {
            Some(mode) => mode,
            None => {
                eprintln!("chmod: invalid mode: {}", quote(&text));
                return CHMOD.try_help();
            }
        }
    };
    let files: Vec<OsString> = operands.collect();
    if files.is_empty() {
        eprintln!("chmod: missing operand");
        return CHMOD.try_help();
    }
    let job = Chmod { mode, umask: fs::current_umask(), recursive, changes, quiet, verbose };
    let mut ok = true;
    for file in &files {
        ok &= job.change(Path::new(file), true);
    }
    i32::from(!ok)
}

impl Chmod {
    fn change(&self, path: &Path, operand: bool) -> bool {
        let name = path.as_os_str();
        let st = match if operand { fs::stat(path) } else { fs::lstat(path) } {
            Ok(st) => st,
            Err(e) => {
                if !self.quiet {
                    match fs::lstat(path) {
                        Ok(link) if link.is_symlink() => {
                            eprintln!("chmod: cannot operate on dangling symlink {}", quote(name));
                        }
                        _ => eprintln!("chmod: cannot access {}: {e}", quote(name)),
                    }
                }
                return false;
            }
        };
        // Links met on the way are left alone: the mode of their target may be another tree's.
        if st.is_symlink() {
            return true;
        }
        let new = self.mode.apply(st.mode, st.is_dir(), self.umask);
        let mut ok = true;
        match fs::chmod(path, new) {
            Ok(()) => self.tell(name, &st, new),
            Err(e) => {
                if !self.quiet {
                    eprintln!("chmod: changing permissions of {}: {e}", quote(name));
                }
                ok = false;
            }
        }
        if self.recursive && st.is_dir() {
            match children(path) {
                Ok(names) => {
                    for name in names {
                        ok &= self.change(&path.join(name), false);
                    }
                }
                Err(e) => {
                    if !self.quiet {
                        eprintln!("chmod: cannot read directory {}: {}", quote(name), wskill_sys::message(&e));
                    }
                    ok = false;
                }
            }
        }
        ok
    }

    fn tell(&self, name: &OsStr, old: &Stat, new: u32) {
        let (was, is) = (old.permissions(), new);
        let text = |mode: u32| mode_string(mode).split_off(1);
        if was != is && (self.changes || self.verbose) {
            say(format_args!(
                "mode of {} changed from {was:04o} ({}) to {is:04o} ({})\n",
                quote(name),
                text(was),
                text(is)
            ));
        } else if self.verbose {
            say(format_args!("mode of {} retained as {is:04o} ({})\n", quote(name), text(is)));
        }
    }
}

const CHOWN: Spec = Spec {
    name: "chown",
    usage: "chown [OPTION]... [OWNER][:[GROUP]] FILE...\n  or:  chown [OPTION]... --reference=RFILE FILE...",
    short: "RcfvhHLP",
    long: &[
        ("recursive", Takes::No, 'R'),
        ("changes", Takes::No, 'c'),
        ("silent", Takes::No, 'f'),
        ("quiet", Takes::No, 'f'),
        ("verbose", Takes::No, 'v'),
        ("no-dereference", Takes::No, 'h'),
        ("dereference", Takes::No, 'd'),
        ("reference", Takes::Arg, 'r'),
        ("from", Takes::Arg, 'o'),
        ("preserve-root", Takes::No, 'p'),
        ("no-preserve-root", Takes::No, 'n'),
    ],
    failure: 1,
};

const CHGRP: Spec = Spec {
    name: "chgrp",
    usage: "chgrp [OPTION]... GROUP FILE...\n  or:  chgrp [OPTION]... --reference=RFILE FILE...",
    ..CHOWN
};

/// `chown` and `chgrp`. The kernel keeps no owners, so all that can be done is to check the arguments and ask it.
pub fn chown(name: &str, args: Vec<OsString>) -> i32 {
    let group_only = name == "chgrp";
    let spec = if group_only { &CHGRP } else { &CHOWN };
    let parsed = match spec.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let (mut recursive, mut quiet, mut verbose, mut follow) = (false, false, false, true);
    let mut reference = None;
    for (option, value) in parsed.options {
        match option {
            'R' => recursive = true,
            'f' => quiet = true,
            'v' => verbose = true,
            'h' => follow = false,
            'r' => reference = Some(value),
            _ => {}
        }
    }
    let mut operands = parsed.operands.into_iter();
    let (uid, gid) = if let Some(file) = reference {
        match reference_of(name, &file) {
            Ok(st) => (st.uid, st.gid),
            Err(status) => return status,
        }
    } else {
        let Some(text) = operands.next() else { return spec.missing_operand() };
        match parse_owner(&text.to_string_lossy(), group_only) {
            Ok(owner) => owner,
            Err(what) => {
                eprintln!("{name}: invalid {what}: {}", quote(&text));
                return 1;
            }
        }
    };
    let files: Vec<OsString> = operands.collect();
    if files.is_empty() {
        return spec.missing_operand();
    }
    let job = Chown { name, uid, gid, recursive, quiet, verbose, follow };
    let mut ok = true;
    for file in &files {
        ok &= job.change(Path::new(file));
    }
    i32::from(!ok)
}

struct Chown<'a> {
    name: &'a str,
    uid: u32,
    gid: u32,
    recursive: bool,
    quiet: bool,
    verbose: bool,
    follow: bool,
}

impl Chown<'_> {
    fn change(&self, path: &Path) -> bool {
        let shown = quote(path.as_os_str());
        let fail = |what: &str, e: &dyn std::fmt::Display| {
            if !self.quiet {
                eprintln!("{}: {what} {shown}: {e}", self.name);
            }
            false
        };
        let st: Result<Stat> = if self.follow { fs::stat(path) } else { fs::lstat(path) };
        let st = match st {
            Ok(st) => st,
            Err(e) => return fail("cannot access", &e),
        };
        let mut ok = match fs::chown(path, self.uid, self.gid, self.follow) {
            Ok(()) => true,
            Err(e) => {
                let what = if self.name == "chgrp" { "changing group of" } else { "changing ownership of" };
                fail(what, &e)
            }
        };
        if ok && self.verbose {
            say(format_args!("ownership of {shown} retained as {}:{}\n", st.uid, st.gid));
        }
        if self.recursive && st.is_dir() && (self.follow || !st.is_symlink()) {
            match children(path) {
                Ok(names) => {
                    for name in names {
                        let below = Chown { follow: false, ..*self };
                        ok &= below.change(&path.join(name));
                    }
                }
                Err(e) => ok = fail("cannot read directory", &wskill_sys::message(&e)),
            }
        }
        ok
    }
}

/// "user", "user:group", ":group", numbers; what stays is `u32::MAX`.
fn parse_owner(text: &str, group_only: bool) -> std::result::Result<(u32, u32), &'static str> {
    const SAME: u32 = u32::MAX;
    let (user, group) = match text.split_once(':') {
        _ if group_only => ("", Some(text)),
        Some((user, group)) => (user, Some(group)),
        None => (text, None),
    };
    let uid = match user {
        "" => SAME,
        name => super::users::user_id(name).ok_or("user")?,
    };
    let gid = match group {
        None | Some("") => SAME,
        Some(name) => super::users::group_id(name).ok_or("group")?,
    };
    Ok((uid, gid))
}
