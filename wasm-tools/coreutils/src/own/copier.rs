//! The copying that `cp`, `mv` (between file systems) and `install` share: one file, link, FIFO or tree, with modes,
//! times and hard links kept as asked.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::wasi::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use wskill_sys::errno::Errno;
use wskill_sys::fs::{self, SetTime, Stat};

use super::buffer::buffer;
use super::text::quote;
use super::{ask, children, say};

/// When an existing destination is replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// Always.
    All,
    /// Never; no failure (`--update=none`, `-n`).
    None,
    /// Never, and that is a failure.
    NoneFail,
    /// When the source is newer.
    Older,
}

/// Which links in the source are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// All.
    Always,
    /// Those named on the command line.
    Operands,
    /// None.
    Never,
}

/// How existing destinations are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Backup {
    /// Not.
    Off,
    /// `name~`.
    Simple,
    /// `name.~1~`.
    Numbered,
    /// Numbered when there are numbered ones already.
    Existing,
}

impl Backup {
    /// Reads `--backup`'s word.
    pub fn parse(word: &str) -> Option<Backup> {
        Some(match word {
            "none" | "off" => Backup::Off,
            "simple" | "never" => Backup::Simple,
            "numbered" | "t" => Backup::Numbered,
            "existing" | "nil" | "" => Backup::Existing,
            _ => return None,
        })
    }
}

/// What is to be done, and for whom.
pub struct Copier {
    /// For messages.
    pub name: &'static str,
    /// Copy directories with what is in them.
    pub recursive: bool,
    /// Which links are followed.
    pub follow: Follow,
    /// Keep the mode.
    pub keep_mode: bool,
    /// Keep the times.
    pub keep_times: bool,
    /// Keep hard links between the files copied.
    pub keep_links: bool,
    /// No mode of the source at all (`--no-preserve=mode`).
    pub plain_mode: bool,
    /// Make hard links instead.
    pub hard_link: bool,
    /// Make symbolic links instead.
    pub symlink: bool,
    /// Replace what cannot be opened.
    pub force: bool,
    /// Remove the destination first.
    pub remove_destination: bool,
    /// Ask before replacing.
    pub interactive: bool,
    /// When to replace.
    pub update: Update,
    /// Tell each.
    pub verbose: bool,
    /// Only attributes.
    pub attributes_only: bool,
    /// Stay on one file system.
    pub one_file_system: bool,
    /// Keep what is replaced.
    pub backup: Backup,
    /// Suffix of simple backups.
    pub suffix: OsString,
    /// Where copied files went, by (device, inode), for `keep_links`.
    pub copied: HashMap<(u64, u64), PathBuf>,
    /// What this run made, by (device, inode): a second source must not overwrite it.
    pub made: HashMap<(u64, u64), PathBuf>,
}

impl Copier {
    /// One that copies contents and follows links.
    pub fn new(name: &'static str) -> Self {
        Copier {
            name,
            recursive: false,
            follow: Follow::Always,
            keep_mode: false,
            keep_times: false,
            keep_links: false,
            plain_mode: false,
            hard_link: false,
            symlink: false,
            force: false,
            remove_destination: false,
            interactive: false,
            update: Update::All,
            verbose: false,
            attributes_only: false,
            one_file_system: false,
            backup: Backup::Off,
            suffix: std::env::var_os("SIMPLE_BACKUP_SUFFIX").filter(|s| !s.is_empty()).unwrap_or_else(|| "~".into()),
            copied: HashMap::new(),
            made: HashMap::new(),
        }
    }

    fn fail(&self, what: std::fmt::Arguments<'_>) -> bool {
        eprintln!("{}: {what}", self.name);
        false
    }

    /// Copies an operand to exactly `to`.
    pub fn copy_operand(&mut self, from: &Path, to: &Path) -> bool {
        let follow = self.follow != Follow::Never;
        let st = match if follow { fs::stat(from) } else { fs::lstat(from) } {
            Ok(st) => st,
            Err(e) => return self.fail(format_args!("cannot stat {}: {e}", quote(from.as_os_str()))),
        };
        if st.is_dir() && !self.recursive {
            let why =
                if self.name == "install" { "omitting directory" } else { "-r not specified; omitting directory" };
            return self.fail(format_args!("{why} {}", quote(from.as_os_str())));
        }
        if st.is_dir() && into_itself(from, to) {
            let (from, to) = (quote(from.as_os_str()), quote(to.as_os_str()));
            return self.fail(format_args!("cannot copy a directory, {from}, into itself, {to}"));
        }
        self.copy(from, &st, to, st.dev)
    }

    /// Copies something that `stat` has seen.
    fn copy(&mut self, from: &Path, st: &Stat, to: &Path, device: u64) -> bool {
        let (shown_from, shown_to) = (quote(from.as_os_str()), quote(to.as_os_str()));
        let keep_link = !self.follows_below();
        let target = if keep_link && !st.is_file() && !st.is_dir() { fs::lstat(to) } else { fs::stat(to) };
        let dangling = target.is_err() && fs::lstat(to).is_ok_and(|t| t.is_symlink());
        let mut exists = None;
        if let Ok(old) = &target {
            exists = Some(*old);
            match self.may_replace(from, st, to, old) {
                Some(true) => {}
                Some(false) => return true,
                None => return false,
            }
        } else if dangling && !self.remove_destination && !self.force && st.is_file() && self.backup == Backup::Off {
            return self.fail(format_args!("not writing through dangling symlink {shown_to}"));
        }
        if let Some(old) = &exists
            && !old.is_dir()
            && self.backup != Backup::Off
        {
            if let Err(e) = self.back_up(to) {
                return self.fail(format_args!("cannot backup {shown_to}: {e}"));
            }
            exists = None;
        }
        if exists.is_some_and(|old| !old.is_dir())
            && (self.remove_destination || (self.force && (self.hard_link || self.symlink)))
        {
            if let Err(e) = std::fs::remove_file(to) {
                let e = wskill_sys::message(&e);
                return self.fail(format_args!("cannot remove {shown_to}: {e}"));
            }
            exists = None;
        } else if dangling && (self.remove_destination || self.force) {
            let _ = std::fs::remove_file(to);
        }
        if self.keep_links
            && !st.is_dir()
            && st.nlink > 1
            && let Some(first) = self.copied.get(&(st.dev, st.ino)).cloned()
        {
            if exists.is_some() {
                let _ = std::fs::remove_file(to);
            }
            return match std::fs::hard_link(&first, to) {
                Ok(()) => {
                    self.tell(from, to);
                    true
                }
                Err(e) => {
                    let (first, e) = (quote(first.as_os_str()), wskill_sys::message(&e));
                    self.fail(format_args!("cannot create hard link {shown_to} to {first}: {e}"))
                }
            };
        }
        let ok = match st.file_type() {
            fs::S_IFDIR => return self.copy_dir(from, st, to, exists.as_ref(), device),
            _ if self.hard_link => self.link(from, to, false),
            _ if self.symlink => self.link(from, to, true),
            fs::S_IFLNK => self.copy_symlink(from, to, exists.is_some()),
            fs::S_IFREG => self.copy_file(from, st, to, exists.is_some()),
            fs::S_IFIFO if self.recursive => match fs::mkfifo(to, st.permissions()) {
                Ok(()) => true,
                Err(e) => self.fail(format_args!("cannot create fifo {shown_to}: {e}")),
            },
            fs::S_IFCHR | fs::S_IFIFO => self.copy_file(from, st, to, exists.is_some()),
            _ => self.fail(format_args!("cannot copy special file {shown_from}")),
        };
        if !ok {
            return false;
        }
        self.tell(from, to);
        if !self.hard_link && !self.symlink {
            self.copied.insert((st.dev, st.ino), to.to_owned());
            if let Ok(new) = fs::lstat(to) {
                self.made.insert((new.dev, new.ino), from.to_owned());
            }
            return self.keep_attributes(st, to);
        }
        true
    }

    fn follows_below(&self) -> bool {
        self.follow == Follow::Always
    }

    fn tell(&self, from: &Path, to: &Path) {
        if self.verbose {
            say(format_args!("{} -> {}\n", quote(from.as_os_str()), quote(to.as_os_str())));
        }
    }

    /// Some(true): go on; Some(false): leave it; None: failed.
    fn may_replace(&self, from: &Path, st: &Stat, to: &Path, old: &Stat) -> Option<bool> {
        let (shown_from, shown_to) = (quote(from.as_os_str()), quote(to.as_os_str()));
        if st.is_dir() {
            if !old.is_dir() {
                self.fail(format_args!("cannot overwrite non-directory {shown_to} with directory {shown_from}"));
                return None;
            }
            return Some(true);
        }
        if old.is_dir() {
            self.fail(format_args!("cannot overwrite directory {shown_to} with non-directory"));
            return None;
        }
        match self.update {
            Update::All => {}
            Update::None => return Some(false),
            Update::NoneFail => {
                self.fail(format_args!("not replacing {shown_to}"));
                return None;
            }
            Update::Older if old.mtime_ns >= st.mtime_ns => return Some(false),
            Update::Older => {}
        }
        if st.same_file(old) && self.backup == Backup::Off {
            if self.hard_link {
                return Some(false);
            }
            let through_link = fs::lstat(to).is_ok_and(|l| l.is_symlink());
            if !(self.remove_destination && through_link) {
                self.fail(format_args!("{shown_from} and {shown_to} are the same file"));
                return None;
            }
        }
        if let Some(first) = self.made.get(&(old.dev, old.ino))
            && self.backup == Backup::Off
            && first != from
        {
            self.fail(format_args!("will not overwrite just-created {shown_to} with {shown_from}"));
            return None;
        }
        if self.interactive && !ask(format_args!("{}: overwrite {shown_to}? ", self.name)) {
            return None;
        }
        Some(true)
    }

    fn copy_file(&self, from: &Path, st: &Stat, to: &Path, exists: bool) -> bool {
        let (shown_from, shown_to) = (quote(from.as_os_str()), quote(to.as_os_str()));
        let mut source = match fs::open_file(from, fs::O_RDONLY | fs::O_CLOEXEC, 0) {
            Ok(file) => file,
            Err(e) => return self.fail(format_args!("cannot open {shown_from} for reading: {e}")),
        };
        let mode = if self.plain_mode { 0o666 } else { st.permissions() & 0o777 };
        let truncate = if self.attributes_only { 0 } else { fs::O_TRUNC };
        let flags = fs::O_WRONLY | fs::O_CLOEXEC;
        let mut opened = if exists {
            fs::open_file(to, flags | truncate, 0)
        } else {
            fs::open_file(to, flags | truncate | fs::O_CREAT, mode)
        };
        if opened.is_err() && exists && self.force {
            if let Err(e) = std::fs::remove_file(to) {
                let e = wskill_sys::message(&e);
                return self.fail(format_args!("cannot remove {shown_to}: {e}"));
            }
            opened = fs::open_file(to, flags | fs::O_CREAT | fs::O_EXCL, mode);
        }
        let mut target = match opened {
            Ok(file) => file,
            Err(e) => return self.fail(format_args!("cannot create regular file {shown_to}: {e}")),
        };
        if self.attributes_only {
            return true;
        }
        match pour(&mut source, &mut target) {
            Ok(()) => true,
            Err(PourError::Read(e)) => {
                self.fail(format_args!("error reading {shown_from}: {}", wskill_sys::message(&e)))
            }
            Err(PourError::Write(e)) => {
                self.fail(format_args!("error writing {shown_to}: {}", wskill_sys::message(&e)))
            }
        }
    }

    fn copy_symlink(&self, from: &Path, to: &Path, exists: bool) -> bool {
        let (shown_from, shown_to) = (quote(from.as_os_str()), quote(to.as_os_str()));
        let target = match fs::readlink(from) {
            Ok(target) => target,
            Err(e) => return self.fail(format_args!("cannot read symbolic link {shown_from}: {e}")),
        };
        if exists {
            let _ = std::fs::remove_file(to);
        }
        match fs::symlink(&target, to) {
            Ok(()) => true,
            Err(e) => self.fail(format_args!("cannot create symbolic link {shown_to}: {e}")),
        }
    }

    fn link(&self, from: &Path, to: &Path, symbolic: bool) -> bool {
        let shown = quote(to.as_os_str());
        if symbolic {
            let here = to.parent().is_none_or(|dir| dir.as_os_str().is_empty() || dir == Path::new("."));
            if !from.is_absolute() && !here {
                return self.fail(format_args!("{shown}: can make relative symbolic links only in current directory"));
            }
            return match fs::symlink(from, to) {
                Ok(()) => true,
                Err(e) => {
                    let from = quote(from.as_os_str());
                    self.fail(format_args!("cannot create symbolic link {shown} to {from}: {e}"))
                }
            };
        }
        match std::fs::hard_link(from, to) {
            Ok(()) => true,
            Err(e) => {
                let (from, e) = (quote(from.as_os_str()), wskill_sys::message(&e));
                self.fail(format_args!("cannot create hard link {shown} to {from}: {e}"))
            }
        }
    }

    fn copy_dir(&mut self, from: &Path, st: &Stat, to: &Path, old: Option<&Stat>, device: u64) -> bool {
        let shown = quote(to.as_os_str());
        let fresh = old.is_none();
        if fresh {
            // Write and search for the owner until all is in it.
            let mode = if self.plain_mode { 0o777 } else { st.permissions() };
            if let Err(e) = fs::mkdir(to, mode | 0o700) {
                return self.fail(format_args!("cannot create directory {shown}: {e}"));
            }
            self.tell(from, to);
        }
        if self.one_file_system && st.dev != device {
            return true;
        }
        let names = match children(from) {
            Ok(names) => names,
            Err(e) => {
                let e = wskill_sys::message(&e);
                return self.fail(format_args!("cannot access {}: {e}", quote(from.as_os_str())));
            }
        };
        let mut ok = true;
        for name in names {
            let (child, target) = (from.join(&name), to.join(&name));
            let seen = if self.follows_below() { fs::stat(&child) } else { fs::lstat(&child) };
            ok &= match seen {
                Ok(st) => self.copy(&child, &st, &target, device),
                Err(e) => self.fail(format_args!("cannot stat {}: {e}", quote(child.as_os_str()))),
            };
        }
        if fresh && !self.keep_mode && !self.plain_mode {
            let wanted = st.permissions() & 0o777 & !fs::current_umask();
            if fs::stat(to).is_ok_and(|new| new.permissions() != wanted) {
                let _ = fs::chmod(to, wanted);
            }
        }
        ok & self.keep_attributes(st, to)
    }

    /// Gives the copy the mode and times of the source, as asked.
    fn keep_attributes(&self, st: &Stat, to: &Path) -> bool {
        let shown = quote(to.as_os_str());
        let mut ok = true;
        if self.keep_times {
            let (atime, mtime) = (SetTime::At(st.atime_ns), SetTime::At(st.mtime_ns));
            if let Err(e) = fs::utimens(to, atime, mtime, !st.is_symlink()) {
                ok = self.fail(format_args!("preserving times for {shown}: {e}"));
            }
        }
        if self.keep_mode
            && !st.is_symlink()
            && let Err(e) = fs::chmod(to, st.permissions())
        {
            ok = self.fail(format_args!("preserving permissions for {shown}: {e}"));
        }
        ok
    }

    /// Moves an existing destination out of the way.
    pub fn back_up(&self, path: &Path) -> Result<(), String> {
        let name = self.backup_name(path);
        std::fs::rename(path, name).map_err(|e| wskill_sys::message(&e))
    }

    fn backup_name(&self, path: &Path) -> PathBuf {
        let mut highest = 0u64;
        if self.backup != Backup::Simple {
            let dir = path.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let mut prefix = path.file_name().unwrap_or_default().as_bytes().to_vec();
            prefix.extend_from_slice(b".~");
            for name in children(dir).unwrap_or_default() {
                let number = name.as_bytes().strip_prefix(&prefix[..]).and_then(|rest| rest.strip_suffix(b"~"));
                let number = number.and_then(|n| std::str::from_utf8(n).ok()).and_then(|n| n.parse::<u64>().ok());
                highest = highest.max(number.unwrap_or(0));
            }
        }
        let mut name = path.as_os_str().as_bytes().to_vec();
        if self.backup == Backup::Numbered || (self.backup == Backup::Existing && highest > 0) {
            name.extend_from_slice(format!(".~{}~", highest + 1).as_bytes());
        } else {
            name.extend_from_slice(self.suffix.as_bytes());
        }
        PathBuf::from(OsString::from_vec(name))
    }
}

enum PourError {
    Read(io::Error),
    Write(io::Error),
}

fn pour(source: &mut std::fs::File, target: &mut std::fs::File) -> Result<(), PourError> {
    let mut buf = buffer();
    loop {
        match source.read(&mut buf[..]) {
            Ok(0) => return Ok(()),
            Ok(n) => target.write_all(&buf[..n]).map_err(PourError::Write)?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(PourError::Read(e)),
        }
    }
}

/// Does `to` lie within the directory `from`?
fn into_itself(from: &Path, to: &Path) -> bool {
    let Ok(from) = fs::realpath(from) else { return false };
    let parent = to.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match fs::realpath(to) {
        Ok(to) => to != from && to.starts_with(&from),
        Err(_) => fs::realpath(parent).is_ok_and(|p| p.starts_with(&from)),
    }
}

/// Where operands go: a directory into which each goes under its own name, or one exact name.
pub enum Destination {
    /// Into this directory.
    Into(PathBuf),
    /// To this name.
    To(PathBuf),
}

/// Splits operands into sources and destination as `cp`, `mv`, `install` and `ln` do, with their messages.
pub fn destination(
    spec: &super::opts::Spec,
    mut operands: Vec<OsString>,
    target_directory: Option<OsString>,
    no_target_directory: bool,
) -> Result<(Vec<PathBuf>, Destination), i32> {
    let name = spec.name;
    if operands.is_empty() {
        eprintln!("{name}: missing file operand");
        return Err(spec.try_help());
    }
    if let Some(dir) = target_directory {
        if no_target_directory {
            eprintln!("{name}: cannot combine --target-directory (-t) and --no-target-directory (-T)");
            return Err(1);
        }
        match fs::stat(&dir) {
            Ok(st) if st.is_dir() => {}
            Ok(_) => {
                eprintln!("{name}: target directory {}: {}", quote(&dir), Errno::ENOTDIR);
                return Err(1);
            }
            Err(e) => {
                eprintln!("{name}: target directory {}: {e}", quote(&dir));
                return Err(1);
            }
        }
        return Ok((operands.into_iter().map(PathBuf::from).collect(), Destination::Into(dir.into())));
    }
    let last = operands.pop().unwrap_or_default();
    if operands.is_empty() {
        eprintln!("{name}: missing destination file operand after {}", quote(&last));
        return Err(spec.try_help());
    }
    let sources: Vec<PathBuf> = operands.into_iter().map(PathBuf::from).collect();
    if no_target_directory {
        if sources.len() > 1 {
            eprintln!("{name}: extra operand {}", quote(&last));
            return Err(spec.try_help());
        }
        return Ok((sources, Destination::To(last.into())));
    }
    let is_dir = fs::stat(&last).is_ok_and(|st| st.is_dir());
    if is_dir {
        return Ok((sources, Destination::Into(last.into())));
    }
    if sources.len() > 1 {
        match fs::stat(&last) {
            Ok(_) => eprintln!("{name}: target {}: {}", quote(&last), Errno::ENOTDIR),
            Err(e) => eprintln!("{name}: target {}: {e}", quote(&last)),
        }
        return Err(1);
    }
    Ok((sources, Destination::To(last.into())))
}

/// The last component of a source, as it is named under a directory; `..` and `/` add nothing.
pub fn base_name(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes();
    let end = bytes.iter().rposition(|&b| b != b'/').map_or(0, |at| at + 1);
    let start = bytes[..end].iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
    let name = &bytes[start..end];
    OsString::from_vec(if name == b".." { b".".to_vec() } else { name.to_vec() })
}
