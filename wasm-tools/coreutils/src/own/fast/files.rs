//! `rm`, `rmdir`, `touch`, `ln`, `tee`.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::wasi::ffi::OsStrExt;
use std::path::Path;

use wskill_sys::fs::SetTime;
use wskill_sys::{Errno, fd, fs};

use super::super::buffer::buffer;
use super::super::output_failed;
use super::super::say;
use super::super::text::{in_message, quote};
use super::options;

/// `rm` with `-r`, `-R`, `-f`, `-d`, `-v`. What would ask (`-i`, a terminal and a file without write) is long.
pub fn rm(args: &[OsString]) -> Option<i32> {
    let (options, operands) = options(args, "rRfdv")?;
    let asked = |letters: &[u8]| options.iter().any(|(o, _)| letters.contains(o));
    let (recursive, force, dirs, verbose) = (asked(b"rR"), asked(b"f"), asked(b"d"), asked(b"v"));
    let special = |name: &OsStr| {
        let bytes = name.as_bytes();
        let end = bytes.iter().rposition(|&b| b != b'/').map_or(0, |at| at + 1);
        let last = bytes[..end].rsplit(|&b| b == b'/').next().unwrap_or_default();
        end == 0 || last == b"." || last == b".."
    };
    if (operands.is_empty() && !force) || fd::isatty(0) && !force || operands.iter().any(|name| special(name)) {
        return None;
    }
    let mut ok = true;
    for name in operands {
        ok &= remove(Path::new(name), recursive, force, dirs, verbose);
    }
    Some(i32::from(!ok))
}

fn remove(path: &Path, recursive: bool, force: bool, dirs: bool, verbose: bool) -> bool {
    let shown = || quote(path.as_os_str());
    let st = match fs::lstat(path) {
        Ok(st) => st,
        Err(Errno::ENOENT | Errno::ENOTDIR) if force => return true,
        Err(e) => {
            eprintln!("rm: cannot remove {}: {e}", shown());
            return false;
        }
    };
    let result = if !st.is_dir() {
        std::fs::remove_file(path)
    } else if recursive {
        if verbose {
            return remove_tree(path);
        }
        std::fs::remove_dir_all(path)
    } else if dirs {
        std::fs::remove_dir(path)
    } else {
        Err(Errno::EISDIR.into())
    };
    match result {
        Ok(()) => {
            if verbose {
                let kind = if st.is_dir() { "directory " } else { "" };
                say(format_args!("removed {kind}{}\n", shown()));
            }
            true
        }
        Err(e) => {
            eprintln!("rm: cannot remove {}: {}", shown(), wskill_sys::message(&e));
            false
        }
    }
}

/// A tree with a line for each that goes; one that cannot go does not keep the others.
fn remove_tree(path: &Path) -> bool {
    let mut ok = true;
    // No recursion: the depth is the guest's to choose, the stack is not.
    let mut waiting = vec![(path.to_owned(), false)];
    while let Some((path, entered)) = waiting.pop() {
        let is_dir = fs::lstat(&path).is_ok_and(|st| st.is_dir());
        if is_dir && !entered {
            waiting.push((path.clone(), true));
            match super::super::children(&path) {
                Ok(names) => waiting.extend(names.into_iter().rev().map(|name| (path.join(name), false))),
                Err(e) => {
                    eprintln!("rm: cannot remove {}: {}", quote(path.as_os_str()), wskill_sys::message(&e));
                    ok = false;
                }
            }
            continue;
        }
        match if is_dir { std::fs::remove_dir(&path) } else { std::fs::remove_file(&path) } {
            Ok(()) => {
                let kind = if is_dir { "directory " } else { "" };
                say(format_args!("removed {kind}{}\n", quote(path.as_os_str())));
            }
            Err(e) => {
                eprintln!("rm: cannot remove {}: {}", quote(path.as_os_str()), wskill_sys::message(&e));
                ok = false;
            }
        }
    }
    ok
}

/// `rmdir` without options.
pub fn rmdir(args: &[OsString]) -> Option<i32> {
    let (_, operands) = options(args, "")?;
    if operands.is_empty() {
        return None;
    }
    let mut status = 0;
    for name in operands {
        if let Err(e) = std::fs::remove_dir(name) {
            eprintln!("rmdir: failed to remove {}: {}", quote(name), wskill_sys::message(&e));
            status = 1;
        }
    }
    Some(status)
}

/// `touch` with `-c`: to now.
pub fn touch(args: &[OsString]) -> Option<i32> {
    let (options, operands) = options(args, "c")?;
    if operands.is_empty() || operands.iter().any(|name| *name == "-") {
        return None;
    }
    let mut status = 0;
    for name in operands {
        let touched = match fs::utimens(name, SetTime::Now, SetTime::Now, true) {
            Err(Errno::ENOENT) if !options.is_empty() => Ok(()),
            Err(Errno::ENOENT) => fs::open(name, fs::O_WRONLY | fs::O_CREAT | fs::O_NONBLOCK, 0o666).map(drop),
            result => result,
        };
        if let Err(e) = touched {
            eprintln!("touch: cannot touch {}: {e}", quote(name));
            status = 1;
        }
    }
    Some(status)
}

/// `ln` and `ln -s` with `-f`, `-n`: one target, one link (or the directory it goes into).
pub fn ln(args: &[OsString]) -> Option<i32> {
    let (options, operands) = options(args, "sfn")?;
    let asked = |letter: u8| options.iter().any(|(o, _)| *o == letter);
    let [target, link] = operands[..] else { return None };
    let mut link = Path::new(link).to_owned();
    let at_link = if asked(b'n') { fs::lstat(&link) } else { fs::stat(&link) };
    if at_link.is_ok_and(|st| st.is_dir()) {
        link.push(Path::new(target).file_name()?);
    }
    let (kind, arrow) = if asked(b's') { ("symbolic", "->") } else { ("hard", "=>") };
    if asked(b'f') {
        // The same file on both sides must not be removed.
        if let (Ok(a), Ok(b)) = (fs::lstat(target), fs::lstat(&link))
            && a.same_file(&b)
        {
            return None;
        }
        if fs::lstat(&link).is_ok_and(|st| !st.is_dir()) {
            let _ = std::fs::remove_file(&link);
        }
    }
    let made = if asked(b's') {
        fs::symlink(target, &link)
    } else {
        std::fs::hard_link(target, &link).map_err(|e| fd::errno_of(&e))
    };
    let Err(e) = made else { return Some(0) };
    let (target, link) = (quote(target), quote(link.as_os_str()));
    if asked(b's') || e == Errno::EEXIST {
        eprintln!("ln: failed to create {kind} link {link}: {e}");
    } else if e == Errno::ENOENT && fs::lstat(operands[0]).is_err() {
        eprintln!("ln: failed to access {target}: {e}");
    } else {
        eprintln!("ln: failed to create {kind} link {link} {arrow} {target}: {e}");
    }
    Some(1)
}

/// `tee` with `-a` and `-i`.
pub fn tee(args: &[OsString]) -> Option<i32> {
    let (options, operands) = options(args, "ai")?;
    let append = options.iter().any(|(o, _)| *o == b'a');
    if options.iter().any(|(o, _)| *o == b'i') {
        let _ = wskill_sys::signal::set(wskill_sys::signal::SIGINT, wskill_sys::signal::Disposition::Ignore);
    }
    let mut status = 0;
    let mut files: Vec<(&OsString, OwnedFd)> = Vec::new();
    for name in operands {
        let how = if append { fs::O_APPEND } else { fs::O_TRUNC };
        match fs::open(name, fs::O_WRONLY | fs::O_CREAT | how, 0o666) {
            Ok(file) => files.push((name, file)),
            Err(e) => {
                eprintln!("tee: {}: {e}", in_message(name));
                status = 1;
            }
        }
    }
    let mut buf = buffer();
    loop {
        let n = match fd::read(0, &mut buf[..]) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => {
                eprintln!("tee: read error: {}", wskill_sys::message(&e));
                return Some(1);
            }
        };
        if let Err(e) = fd::write_all(1, &buf[..n]) {
            output_failed(&e);
            return Some(1);
        }
        files.retain(|(name, file)| match fd::write_all(file.as_raw_fd(), &buf[..n]) {
            Ok(()) => true,
            Err(e) => {
                eprintln!("tee: {}: {}", in_message(name), wskill_sys::message(&e));
                status = 1;
                false
            }
        });
    }
    Some(status)
}
