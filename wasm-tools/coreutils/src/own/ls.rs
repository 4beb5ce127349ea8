//! `ls`, `dir`, `vdir`.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::wasi::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use wskill_sys::errno::{Errno, Result};
use wskill_sys::fs::{self, Stat};
use wskill_time::Zone;

use super::listing::{Layout, lay_out, version_cmp};
use super::opts::{Spec, Takes};
use super::text::{self, Unit, mode_string, quote};
use super::{clock, say_bytes, users};

const LS: Spec = Spec {
    name: "ls",
    usage: "ls [OPTION]... [FILE]...",
    short: "abcdfghiklmnopqrstuvw:xABCDFGHI:LNQRST:UXZ1",
    long: &[
        ("all", Takes::No, 'a'),
        ("almost-all", Takes::No, 'A'),
        ("author", Takes::No, '\x01'),
        ("block-size", Takes::Arg, '\x02'),
        ("classify", Takes::Maybe, '\x03'),
        ("color", Takes::Maybe, '\x04'),
        ("dereference", Takes::No, 'L'),
        ("dereference-command-line", Takes::No, 'H'),
        ("dereference-command-line-symlink-to-dir", Takes::No, '\x05'),
        ("directory", Takes::No, 'd'),
        ("escape", Takes::No, 'b'),
        ("file-type", Takes::No, '\x06'),
        ("format", Takes::Arg, '\x07'),
        ("full-time", Takes::No, '\x08'),
        ("group-directories-first", Takes::No, '\x0b'),
        ("hide", Takes::Arg, '\x0c'),
        ("hide-control-chars", Takes::No, 'q'),
        ("human-readable", Takes::No, 'h'),
        ("hyperlink", Takes::Maybe, '\x0e'),
        ("ignore", Takes::Arg, 'I'),
        ("ignore-backups", Takes::No, 'B'),
        ("indicator-style", Takes::Arg, '\x0f'),
        ("inode", Takes::No, 'i'),
        ("kibibytes", Takes::No, 'k'),
        ("literal", Takes::No, 'N'),
        ("no-group", Takes::No, 'G'),
        ("numeric-uid-gid", Takes::No, 'n'),
        ("quote-name", Takes::No, 'Q'),
        ("quoting-style", Takes::Arg, '\x10'),
        ("recursive", Takes::No, 'R'),
        ("reverse", Takes::No, 'r'),
        ("show-control-chars", Takes::No, '\x11'),
        ("si", Takes::No, '\x12'),
        ("size", Takes::No, 's'),
        ("sort", Takes::Arg, '\x13'),
        ("tabsize", Takes::Arg, 'T'),
        ("time", Takes::Arg, '\x14'),
        ("time-style", Takes::Arg, '\x15'),
        ("width", Takes::Arg, 'w'),
        ("zero", Takes::No, '\x16'),
    ],
    failure: 2,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    None,
    Name,
    Size,
    Time,
    Version,
    Extension,
    Width,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TimeField {
    Modified,
    Accessed,
    Changed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Indicator {
    None,
    Slash,
    FileType,
    Classify,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoting {
    Literal,
    /// Literal, with `?` for what is not printable.
    Hidden,
    Shell,
    ShellAlways,
    Escape,
    C,
}

enum TimeStyle {
    Locale,
    LongIso,
    Iso,
    FullIso,
    /// For old and for recent times.
    Format(String, String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Deref {
    Never,
    Operands,
    OperandDirs,
    Always,
}

struct Ls {
    name: String,
    all: bool,
    almost_all: bool,
    long: bool,
    layout: Layout,
    sort: Sort,
    time: TimeField,
    reverse: bool,
    recursive: bool,
    directory: bool,
    dirs_first: bool,
    deref: Deref,
    inode: bool,
    blocks: bool,
    owner: bool,
    group: bool,
    author: bool,
    numeric: bool,
    unit: Unit,
    block_unit: Unit,
    indicator: Indicator,
    quoting: Quoting,
    style: TimeStyle,
    width: usize,
    tab: usize,
    end: u8,
    ignore: Vec<String>,
    hide: Vec<String>,
    ignore_backups: bool,
    color: Option<Colors>,
    zone: Zone,
    now_ns: i64,
    names: RefCell<HashMap<(bool, u32), String>>,
    status: i32,
    /// Something has been printed, so that the next directory is set off by an empty line.
    printed: bool,
}

struct Entry {
    /// As it is printed.
    name: OsString,
    path: PathBuf,
    stat: Option<Stat>,
    /// Target of a link, when the long layout shows it.
    target: Option<PathBuf>,
    target_stat: Option<Stat>,
}

impl Entry {
    fn is_dir(&self) -> bool {
        self.stat.is_some_and(|st| st.is_dir())
    }

    fn leads_to_dir(&self) -> bool {
        self.is_dir() || self.target_stat.is_some_and(|st| st.is_dir())
    }
}

/// `ls`, `dir` and `vdir`.
pub fn ls(name: &str, args: Vec<OsString>) -> i32 {
    run(name, args).unwrap_or_else(|status| status)
}

fn run(name: &str, args: Vec<OsString>) -> std::result::Result<i32, i32> {
    let spec = Spec {
        name: match name {
            "dir" => "dir",
            "vdir" => "vdir",
            _ => "ls",
        },
        ..LS
    };
    let parsed = spec.parse(args)?;
    let mut job = Ls::new(name);
    job.configure(&spec, parsed.options)?;
    let operands = if parsed.operands.is_empty() { vec![OsString::from(".")] } else { parsed.operands };
    job.list(operands);
    Ok(job.status)
}

impl Ls {
    fn new(name: &str) -> Self {
        let tty = wskill_sys::fd::isatty(1);
        let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).filter(|c| *c > 0);
        let window = || wskill_sys::fd::winsize(1).ok().map(|(_, columns)| usize::from(columns)).filter(|c| *c > 0);
        let own_layout = name != "ls";
        Ls {
            name: name.to_owned(),
            all: false,
            almost_all: false,
            long: name == "vdir",
            layout: if name == "dir" || (tty && !own_layout) { Layout::Columns } else { Layout::Lines },
            sort: Sort::Name,
            time: TimeField::Modified,
            reverse: false,
            recursive: false,
            directory: false,
            dirs_first: false,
            deref: Deref::OperandDirs,
            inode: false,
            blocks: false,
            owner: true,
            group: true,
            author: false,
            numeric: false,
            unit: Unit::Blocks(1, ""),
            block_unit: Unit::Blocks(1024, ""),
            indicator: Indicator::None,
            quoting: if own_layout {
                Quoting::Escape
            } else if tty {
                Quoting::Shell
            } else {
                Quoting::Literal
            },
            style: TimeStyle::Locale,
            width: columns.or_else(|| if tty { window() } else { None }).unwrap_or(80),
            tab: 8,
            end: b'\n',
            ignore: Vec::new(),
            hide: Vec::new(),
            ignore_backups: false,
            color: None,
            zone: Zone::utc(),
            now_ns: 0,
            names: RefCell::default(),
            status: 0,
            printed: false,
        }
    }

    fn configure(&mut self, spec: &Spec, options: Vec<(char, OsString)>) -> std::result::Result<(), i32> {
        let (mut explicit_sort, mut time_given) = (false, false);
        let mut style = std::env::var_os("TIME_STYLE");
        let (mut width, mut deref) = (None, None);
        for (option, value) in options {
            match option {
                'a' => self.all = true,
                'A' => (self.all, self.almost_all) = (false, true),
                'b' => self.quoting = Quoting::Escape,
                'B' => self.ignore_backups = true,
                'c' => (self.time, time_given) = (TimeField::Changed, true),
                'C' => self.short_layout(Layout::Columns),
                'd' => self.directory = true,
                'f' => {
                    (self.all, self.sort, explicit_sort) = (true, Sort::None, true);
                    if self.long {
                        self.short_layout(Layout::Lines);
                    }
                    self.color = None;
                }
                'F' => self.indicator = Indicator::Classify,
                'g' => (self.long, self.owner) = (true, false),
                'G' => self.group = false,
                'h' => (self.unit, self.block_unit) = (Unit::Human { si: false }, Unit::Human { si: false }),
                'H' => deref = Some(Deref::Operands),
                'i' => self.inode = true,
                'I' => self.ignore.push(value.to_string_lossy().into_owned()),
                'k' => self.block_unit = Unit::Blocks(1024, ""),
                'l' => self.long = true,
                'L' => deref = Some(Deref::Always),
                'm' => self.short_layout(Layout::Commas),
                'n' => (self.long, self.numeric) = (true, true),
                'N' => self.quoting = Quoting::Literal,
                'o' => (self.long, self.group) = (true, false),
                'p' => self.indicator = Indicator::Slash,
                'q' => self.quoting = Quoting::Hidden,
                'Q' => self.quoting = Quoting::C,
                'r' => self.reverse = true,
                'R' => self.recursive = true,
                's' => self.blocks = true,
                'S' => (self.sort, explicit_sort) = (Sort::Size, true),
                't' => (self.sort, explicit_sort) = (Sort::Time, true),
                'T' => self.tab = number(spec, "tab size", &value)?,
                'u' => (self.time, time_given) = (TimeField::Accessed, true),
                'U' => (self.sort, explicit_sort) = (Sort::None, true),
                'v' => (self.sort, explicit_sort) = (Sort::Version, true),
                'w' => width = Some(number(spec, "line width", &value)?),
                'x' => self.short_layout(Layout::Across),
                'X' => (self.sort, explicit_sort) = (Sort::Extension, true),
                '1' if !self.long => self.short_layout(Layout::Lines),
                '\x01' => self.author = true,
                '\x02' => match Unit::parse(&value.to_string_lossy()) {
                    Some(unit) => (self.unit, self.block_unit) = (unit, unit),
                    None => {
                        eprintln!("{}: invalid --block-size argument {}", spec.name, quote(&value));
                        return Err(2);
                    }
                },
                '\x03' => {
                    if when(spec, "--classify", &value)? {
                        self.indicator = Indicator::Classify;
                    }
                }
                '\x04' => self.color = if when(spec, "--color", &value)? { Colors::new() } else { None },
                '\x05' => deref = Some(Deref::OperandDirs),
                '\x06' => self.indicator = Indicator::FileType,
                '\x07' => {
                    let words = ["verbose", "long", "commas", "horizontal", "across", "vertical", "single-column"];
                    match spec.choice("--format", &value, &words)? {
                        "verbose" | "long" => self.long = true,
                        "commas" => self.short_layout(Layout::Commas),
                        "horizontal" | "across" => self.short_layout(Layout::Across),
                        "vertical" => self.short_layout(Layout::Columns),
                        _ => self.short_layout(Layout::Lines),
                    }
                }
                '\x08' => (self.long, style) = (true, Some("full-iso".into())),
                '\x0b' => self.dirs_first = true,
                '\x0c' => self.hide.push(value.to_string_lossy().into_owned()),
                '\x0f' => {
                    self.indicator =
                        match spec.choice("--indicator-style", &value, &["none", "slash", "file-type", "classify"])? {
                            "none" => Indicator::None,
                            "slash" => Indicator::Slash,
                            "file-type" => Indicator::FileType,
                            _ => Indicator::Classify,
                        }
                }
                '\x10' => {
                    let words = [
                        "literal",
                        "shell",
                        "shell-always",
                        "shell-escape",
                        "shell-escape-always",
                        "c",
                        "c-maybe",
                        "escape",
                        "locale",
                        "clocale",
                    ];
                    self.quoting = match spec.choice("--quoting-style", &value, &words)? {
                        "literal" => Quoting::Literal,
                        "shell" | "shell-escape" | "c-maybe" => Quoting::Shell,
                        "shell-always" | "shell-escape-always" => Quoting::ShellAlways,
                        "escape" => Quoting::Escape,
                        _ => Quoting::C,
                    }
                }
                '\x11' => {
                    if self.quoting == Quoting::Hidden {
                        self.quoting = Quoting::Literal;
                    }
                }
                '\x12' => (self.unit, self.block_unit) = (Unit::Human { si: true }, Unit::Human { si: true }),
                '\x13' => {
                    let words = ["none", "name", "size", "time", "version", "extension", "width"];
                    explicit_sort = true;
                    self.sort = match spec.choice("--sort", &value, &words)? {
                        "none" => Sort::None,
                        "name" => Sort::Name,
                        "size" => Sort::Size,
                        "time" => Sort::Time,
                        "version" => Sort::Version,
                        "extension" => Sort::Extension,
                        _ => Sort::Width,
                    }
                }
                '\x14' => {
                    time_given = true;
                    let words =
                        ["atime", "access", "use", "ctime", "status", "mtime", "modification", "birth", "creation"];
                    self.time = match spec.choice("--time", &value, &words)? {
                        "atime" | "access" | "use" => TimeField::Accessed,
                        "ctime" | "status" => TimeField::Changed,
                        _ => TimeField::Modified,
                    }
                }
                '\x15' => style = Some(value),
                '\x16' => {
                    self.end = 0;
                    self.color = None;
                    self.quoting = Quoting::Literal;
                    if !self.long {
                        self.short_layout(Layout::Lines);
                    }
                }
                _ => {}
            }
        }
        if let Some(width) = width {
            self.width = width;
        }
        // With -c or -u and no sort asked for, the short layouts sort by that time.
        if time_given && !explicit_sort && !self.long {
            self.sort = Sort::Time;
        }
        let follow = self.directory || self.long || self.indicator == Indicator::Classify;
        self.deref = deref.unwrap_or(if follow { Deref::Never } else { Deref::OperandDirs });
        if self.long {
            self.set_style(spec, style)?;
            self.zone = Zone::local();
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            self.now_ns = i64::try_from(now.as_nanos()).unwrap_or(i64::MAX);
        }
        Ok(())
    }

    fn short_layout(&mut self, layout: Layout) {
        self.long = false;
        self.layout = layout;
    }

    fn set_style(&mut self, spec: &Spec, style: Option<OsString>) -> std::result::Result<(), i32> {
        let Some(style) = style else { return Ok(()) };
        let text = style.to_string_lossy();
        let text = text.strip_prefix("posix-").unwrap_or(&text);
        if let Some(format) = text.strip_prefix('+') {
            let (old, recent) = format.split_once('\n').unwrap_or((format, format));
            self.style = TimeStyle::Format(old.to_owned(), recent.to_owned());
            return Ok(());
        }
        self.style = match spec.choice("--time-style", OsStr::new(text), &["full-iso", "long-iso", "iso", "locale"])? {
            "full-iso" => TimeStyle::FullIso,
            "long-iso" => TimeStyle::LongIso,
            "iso" => TimeStyle::Iso,
            _ => TimeStyle::Locale,
        };
        Ok(())
    }

    fn needs_stat(&self) -> bool {
        self.long
            || self.inode
            || self.blocks
            || self.recursive
            || self.dirs_first
            || self.color.is_some()
            || self.indicator != Indicator::None
            || matches!(self.sort, Sort::Size | Sort::Time)
    }

    fn fail(&mut self, serious: bool, what: &str, path: &Path, error: &dyn std::fmt::Display) {
        eprintln!("{}: {what} {}: {error}", self.name, quote(path.as_os_str()));
        self.status = self.status.max(if serious { 2 } else { 1 });
    }

    fn list(&mut self, operands: Vec<OsString>) {
        let mut files = Vec::new();
        let mut dirs = Vec::new();
        let many = operands.len() > 1;
        for operand in operands {
            let path = PathBuf::from(&operand);
            match self.operand_stat(&path) {
                Ok(st) => {
                    let entry = self.entry(operand, path, Some(st));
                    if st.is_dir() && !self.directory { dirs.push(entry) } else { files.push(entry) }
                }
                Err(e) => self.fail(true, "cannot access", &path, &e),
            }
        }
        self.sort(&mut files);
        self.sort(&mut dirs);
        if !files.is_empty() {
            self.print(&files, false);
            self.printed = true;
        }
        let header = many || !files.is_empty() || self.recursive;
        for dir in dirs {
            self.list_dir(&dir.path, &dir.name, header, true, &mut Vec::new());
        }
    }

    fn operand_stat(&self, path: &Path) -> Result<Stat> {
        match self.deref {
            Deref::Always | Deref::Operands => match fs::stat(path) {
                // A link that leads nowhere is listed itself.
                Err(Errno::ENOENT) => fs::lstat(path),
                result => result,
            },
            Deref::OperandDirs => match fs::stat(path) {
                Ok(st) if st.is_dir() => Ok(st),
                _ => fs::lstat(path),
            },
            Deref::Never => fs::lstat(path),
        }
    }

    /// An entry; links get their target when the output shows it.
    fn entry(&self, name: OsString, path: PathBuf, stat: Option<Stat>) -> Entry {
        let mut entry = Entry { name, path, stat, target: None, target_stat: None };
        let shows_target = self.long || self.color.is_some() || self.dirs_first;
        if shows_target && entry.stat.is_some_and(|st| st.is_symlink()) {
            entry.target = fs::readlink(&entry.path).ok();
            entry.target_stat = fs::stat(&entry.path).ok();
        }
        entry
    }

    fn list_dir(&mut self, path: &Path, name: &OsStr, header: bool, operand: bool, above: &mut Vec<(u64, u64)>) {
        let reading = match std::fs::read_dir(path) {
            Ok(reading) => reading,
            Err(e) => {
                self.fail(operand, "cannot open directory", path, &wskill_sys::message(&e));
                return;
            }
        };
        let this = fs::stat(path).ok().map(|st| (st.dev, st.ino));
        if self.recursive && this.is_some_and(|id| above.contains(&id)) {
            let shown = path.display();
            eprintln!("{}: {shown}: not listing already-listed directory", self.name);
            self.status = 2;
            return;
        }
        let mut entries = Vec::new();
        if self.all {
            for dot in [".", ".."] {
                if let Some(entry) = self.child(path, dot.into()) {
                    entries.push(entry);
                }
            }
        }
        for item in reading {
            match item {
                Ok(item) => {
                    let name = item.file_name();
                    if self.wanted(&name)
                        && let Some(entry) = self.child(path, name)
                    {
                        entries.push(entry);
                    }
                }
                Err(e) => {
                    self.fail(operand, "reading directory", path, &wskill_sys::message(&e));
                    break;
                }
            }
        }
        self.sort(&mut entries);
        if header {
            let mut head = Vec::new();
            if self.printed {
                head.push(b'\n');
            }
            head.extend_from_slice(&self.quoted(name, false).0);
            head.extend_from_slice(b":\n");
            say_bytes(&head);
        }
        self.printed = true;
        self.print(&entries, true);
        if !self.recursive {
            return;
        }
        above.extend(this);
        for entry in entries {
            let dots = entry.name == "." || entry.name == "..";
            if entry.is_dir() && !dots {
                let shown = Path::new(name).join(&entry.name);
                self.list_dir(&entry.path, shown.as_os_str(), true, false, above);
            }
        }
        if this.is_some() {
            above.pop();
        }
    }

    fn child(&mut self, dir: &Path, name: OsString) -> Option<Entry> {
        let path = dir.join(&name);
        if !self.needs_stat() {
            return Some(Entry { name, path, stat: None, target: None, target_stat: None });
        }
        let seen = match self.deref {
            Deref::Always => fs::stat(&path).or_else(|e| if e == Errno::ENOENT { fs::lstat(&path) } else { Err(e) }),
            _ => fs::lstat(&path),
        };
        match seen {
            Ok(st) => Some(self.entry(name, path, Some(st))),
            Err(e) => {
                self.fail(false, "cannot access", &path, &e);
                None
            }
        }
    }

    fn wanted(&self, name: &OsStr) -> bool {
        let bytes = name.as_bytes();
        if bytes.starts_with(b".") && !self.all && !self.almost_all {
            return false;
        }
        if self.ignore_backups && bytes.ends_with(b"~") {
            return false;
        }
        let text = name.to_string_lossy();
        let hidden = !self.all && !self.almost_all && self.hide.iter().any(|p| glob(p.as_bytes(), text.as_bytes()));
        !hidden && !self.ignore.iter().any(|p| glob(p.as_bytes(), text.as_bytes()))
    }

    fn time_of(&self, st: &Stat) -> i64 {
        match self.time {
            TimeField::Modified => st.mtime_ns,
            TimeField::Accessed => st.atime_ns,
            TimeField::Changed => st.ctime_ns,
        }
    }

    fn sort(&self, entries: &mut [Entry]) {
        let by_name = |a: &Entry, b: &Entry| a.name.as_bytes().cmp(b.name.as_bytes());
        let compare = |a: &Entry, b: &Entry| -> Ordering {
            let (sa, sb) = (a.stat.as_ref(), b.stat.as_ref());
            match self.sort {
                Sort::None => Ordering::Equal,
                Sort::Name => by_name(a, b),
                Sort::Size => sb.map(|s| s.size).cmp(&sa.map(|s| s.size)).then_with(|| by_name(a, b)),
                Sort::Time => sb.map(|s| self.time_of(s)).cmp(&sa.map(|s| self.time_of(s))).then_with(|| by_name(a, b)),
                Sort::Version => version_cmp(a.name.as_bytes(), b.name.as_bytes()).then_with(|| by_name(a, b)),
                Sort::Extension => {
                    extension(a.name.as_bytes()).cmp(extension(b.name.as_bytes())).then_with(|| by_name(a, b))
                }
                Sort::Width => {
                    self.quoted(&a.name, true).1.cmp(&self.quoted(&b.name, true).1).then_with(|| by_name(a, b))
                }
            }
        };
        if self.sort != Sort::None {
            entries.sort_by(compare);
            if self.reverse {
                entries.reverse();
            }
        }
        if self.dirs_first {
            entries.sort_by_key(|e| !e.leads_to_dir());
        }
    }

    /// A name as it is printed, and its width on the screen.
    fn quoted(&self, name: &OsStr, in_columns: bool) -> (Vec<u8>, usize) {
        let bytes = name.as_bytes();
        let out = match self.quoting {
            Quoting::Literal => bytes.to_vec(),
            Quoting::Hidden => {
                let text = String::from_utf8_lossy(bytes);
                text.chars().map(|c| if c.is_control() || c == '\u{fffd}' { '?' } else { c }).collect::<String>().into()
            }
            Quoting::Shell => text::quote_if_needed(name).into_bytes(),
            Quoting::ShellAlways => text::quote(name).into_bytes(),
            Quoting::Escape => escape(bytes, false, in_columns),
            Quoting::C => {
                let mut out = vec![b'"'];
                out.extend(escape(bytes, true, false));
                out.push(b'"');
                out
            }
        };
        let width = String::from_utf8_lossy(&out).chars().map(char_width).sum();
        (out, width)
    }

    fn suffix(&self, st: Option<&Stat>) -> Option<u8> {
        let st = st?;
        let kind = match st.file_type() {
            fs::S_IFDIR => b'/',
            _ if self.indicator == Indicator::Slash => return None,
            fs::S_IFLNK => b'@',
            fs::S_IFIFO => b'|',
            fs::S_IFSOCK => b'=',
            fs::S_IFREG if self.indicator == Indicator::Classify && st.mode & 0o111 != 0 => b'*',
            _ => return None,
        };
        (self.indicator != Indicator::None).then_some(kind)
    }

    fn cell(&self, entry: &Entry) -> (Vec<u8>, usize) {
        let (name, mut width) = self.quoted(&entry.name, true);
        let mut out = match (&self.color, &entry.stat) {
            (Some(colors), Some(_)) => colors.paint(entry, name),
            _ => name,
        };
        if self.long && entry.target.is_some() {
            if let Some(target) = &entry.target {
                out.extend_from_slice(b" -> ");
                let (shown, _) = self.quoted(target.as_os_str(), false);
                out.extend(match (&self.color, entry.target_stat) {
                    (Some(colors), stat) => colors.paint_target(target, stat, shown),
                    _ => shown,
                });
                out.extend(self.suffix(entry.target_stat.as_ref()));
            }
        } else if let Some(c) = self.suffix(entry.stat.as_ref()) {
            out.push(c);
            width += 1;
        }
        (out, width)
    }

    fn print(&self, entries: &[Entry], total: bool) {
        let mut out = Vec::with_capacity(entries.len() * 32);
        let stats = || entries.iter().filter_map(|e| e.stat.as_ref());
        let block_width = stats().map(|st| self.block_unit.show(st.blocks * 512).len()).max().unwrap_or(0);
        let inode_width = stats().map(|st| st.ino.to_string().len()).max().unwrap_or(0);
        if total && (self.long || self.blocks) {
            let sum: u64 = stats().map(|st| st.blocks * 512).sum();
            out.extend_from_slice(format!("total {}", self.block_unit.show(sum)).as_bytes());
            out.push(self.end);
        }
        let single = !self.long && self.layout == Layout::Commas;
        let lead = |entry: &Entry, out: &mut Vec<u8>| {
            let (ino_width, blk_width) = if single { (0, 0) } else { (inode_width, block_width) };
            if self.inode {
                let ino = entry.stat.map_or_else(|| "?".to_owned(), |st| st.ino.to_string());
                out.extend_from_slice(format!("{ino:>ino_width$} ").as_bytes());
            }
            if self.blocks {
                let blocks = entry.stat.map_or_else(|| "?".to_owned(), |st| self.block_unit.show(st.blocks * 512));
                out.extend_from_slice(format!("{blocks:>blk_width$} ").as_bytes());
            }
        };
        if self.long {
            self.print_long(&mut out, entries, &lead);
        } else {
            let cells: Vec<(Vec<u8>, usize)> = entries
                .iter()
                .map(|entry| {
                    let mut text = Vec::new();
                    lead(entry, &mut text);
                    let before = text.len();
                    let (name, width) = self.cell(entry);
                    text.extend(name);
                    (text, before + width)
                })
                .collect();
            lay_out(&mut out, &cells, self.layout, self.width, self.tab, self.end);
        }
        say_bytes(&out);
    }

    fn print_long(&self, out: &mut Vec<u8>, entries: &[Entry], lead: &dyn Fn(&Entry, &mut Vec<u8>)) {
        struct Row<'a> {
            entry: &'a Entry,
            links: String,
            owner: String,
            group: String,
            size: String,
            time: String,
        }
        let rows: Vec<Row<'_>> = entries
            .iter()
            .filter_map(|entry| {
                let st = entry.stat.as_ref()?;
                let device = st.is_char_device() || st.is_block_device();
                let size = if device {
                    let (major, minor) = (st.rdev >> 8 & 0xfff, st.rdev & 0xff);
                    format!("{major}, {minor:>3}")
                } else {
                    self.unit.show(st.size)
                };
                Some(Row {
                    entry,
                    links: st.nlink.to_string(),
                    owner: self.account(false, st.uid),
                    group: self.account(true, st.gid),
                    size,
                    time: self.time_text(self.time_of(st)),
                })
            })
            .collect();
        let width =
            |f: for<'r> fn(&'r Row<'_>) -> &'r String| rows.iter().map(|r| f(r).chars().count()).max().unwrap_or(0);
        let (links, owner, group) = (width(|r| &r.links), width(|r| &r.owner), width(|r| &r.group));
        let (size, time) = (width(|r| &r.size), width(|r| &r.time));
        for row in &rows {
            lead(row.entry, out);
            let mode = row.entry.stat.map_or(0, |st| st.mode);
            let mut line = format!("{} {:>links$} ", mode_string(mode), row.links);
            let pad = |text: &str, width: usize, numeric: bool| {
                if numeric { format!("{text:>width$} ") } else { format!("{text:<width$} ") }
            };
            if self.owner {
                line.push_str(&pad(&row.owner, owner, self.numeric));
            }
            if self.group {
                line.push_str(&pad(&row.group, group, self.numeric));
            }
            if self.author {
                line.push_str(&pad(&row.owner, owner, self.numeric));
            }
            line.push_str(&format!("{:>size$} {:<time$} ", row.size, row.time));
            out.extend_from_slice(line.as_bytes());
            out.extend(self.cell(row.entry).0);
            out.push(self.end);
        }
    }

    fn account(&self, group: bool, id: u32) -> String {
        if self.numeric {
            return id.to_string();
        }
        let mut names = self.names.borrow_mut();
        let find = if group { users::group_name } else { users::user_name };
        names.entry((group, id)).or_insert_with(|| find(id).unwrap_or_else(|| id.to_string())).clone()
    }

    fn time_text(&self, ns: i64) -> String {
        // Half a year of the mean Gregorian year, in ns, as GNU's ls has it.
        const HALF_YEAR: i64 = 15_778_476 * 1_000_000_000;
        let recent = ns > self.now_ns.saturating_sub(HALF_YEAR) && ns <= self.now_ns.saturating_add(1_000_000_000);
        let format = match &self.style {
            TimeStyle::FullIso => return clock::full(ns, &self.zone),
            TimeStyle::LongIso => "%Y-%m-%d %H:%M",
            TimeStyle::Iso if recent => "%m-%d %H:%M",
            TimeStyle::Iso => "%Y-%m-%d ",
            TimeStyle::Locale if recent => "%b %e %H:%M",
            TimeStyle::Locale => "%b %e  %Y",
            TimeStyle::Format(old, new) => {
                if recent {
                    new
                } else {
                    old
                }
            }
        };
        clock::format(ns, &self.zone, format)
    }
}

fn number(spec: &Spec, what: &str, value: &OsStr) -> std::result::Result<usize, i32> {
    value.to_string_lossy().parse().map_err(|_| {
        eprintln!("{}: invalid {what}: {}", spec.name, quote(value));
        2
    })
}

/// `--color`'s and `--classify`'s argument: now?
fn when(spec: &Spec, option: &str, value: &OsStr) -> std::result::Result<bool, i32> {
    if value.is_empty() {
        return Ok(true);
    }
    let words = ["always", "yes", "force", "never", "no", "none", "auto", "tty", "if-tty"];
    Ok(match spec.choice(option, value, &words)? {
        "always" | "yes" | "force" => true,
        "never" | "no" | "none" => false,
        _ => wskill_sys::fd::isatty(1),
    })
}

fn extension(name: &[u8]) -> &[u8] {
    name.iter().rposition(|&b| b == b'.').map_or(b"", |at| &name[at..])
}

/// Columns a character takes: wide for the East Asian blocks and emoji, none for combining marks.
fn char_width(c: char) -> usize {
    match c as u32 {
        0..0x20 | 0x7f..0xa0 => 0,
        0x300..0x370 | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..0x1160 | 0x2e80..0xa4d0 | 0xac00..0xd7a4 | 0xf900..0xfb00 | 0xfe30..0xfe70 | 0xff00..0xff61 => 2,
        0x1f300..0x1f650 | 0x1f680..0x1f700 | 0x1f900..0x1fa00 | 0x20000..0x30000 => 2,
        _ => 1,
    }
}

fn escape(bytes: &[u8], in_quotes: bool, spaces: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for &b in bytes {
        match b {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'"' if in_quotes => out.extend_from_slice(b"\\\""),
            b' ' if spaces => out.extend_from_slice(b"\\ "),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x07 => out.extend_from_slice(b"\\a"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0b => out.extend_from_slice(b"\\v"),
            0x0c => out.extend_from_slice(b"\\f"),
            0..0x20 | 0x7f => out.extend_from_slice(format!("\\{b:03o}").as_bytes()),
            _ => out.push(b),
        }
    }
    out
}

/// A shell pattern: `*`, `?`, `[...]`, `\`. Iterative, so that no pattern costs more than its length times the name's.
pub fn glob(pattern: &[u8], name: &[u8]) -> bool {
    if name.starts_with(b".") && !pattern.starts_with(b".") {
        return false;
    }
    let (mut p, mut n) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while n < name.len() {
        let step = match pattern.get(p) {
            Some(b'*') => {
                back = Some((p + 1, n));
                p += 1;
                continue;
            }
            Some(b'?') => Some(p + 1),
            Some(b'[') => match bracket(&pattern[p..], name[n]) {
                Some((true, length)) => Some(p + length),
                Some((false, _)) => None,
                None => (name[n] == b'[').then_some(p + 1),
            },
            Some(b'\\') if p + 1 < pattern.len() => (pattern[p + 1] == name[n]).then_some(p + 2),
            Some(&c) => (c == name[n]).then_some(p + 1),
            None => None,
        };
        match (step, back) {
            (Some(next), _) => {
                p = next;
                n += 1;
            }
            (None, Some((after, at))) => {
                p = after;
                n = at + 1;
                back = Some((after, n));
            }
            (None, None) => return false,
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

/// A bracket expression at the start of `pattern`: does it hold `c`, and how long is it?
fn bracket(pattern: &[u8], c: u8) -> Option<(bool, usize)> {
    let mut at = 1;
    let negated = matches!(pattern.get(at), Some(b'!' | b'^'));
    if negated {
        at += 1;
    }
    let mut found = false;
    let first = at;
    loop {
        let low = *pattern.get(at)?;
        if low == b']' && at > first {
            return Some((found != negated, at + 1));
        }
        if pattern.get(at + 1) == Some(&b'-') && pattern.get(at + 2).is_some_and(|&h| h != b']') {
            found |= (low..=pattern[at + 2]).contains(&c);
            at += 3;
        } else {
            found |= low == c;
            at += 1;
        }
    }
}

/// Colours of names: the defaults of dircolors, changed by LS_COLORS.
struct Colors {
    by_kind: HashMap<String, String>,
    by_suffix: Vec<(String, String)>,
    /// The first colour switch is preceded by a reset.
    started: std::cell::Cell<bool>,
}

impl Colors {
    /// `None` where GNU's ls gives up colours too: no LS_COLORS, and a terminal that is not known to have them.
    fn new() -> Option<Self> {
        let given = std::env::var("LS_COLORS").unwrap_or_default();
        let term = std::env::var("TERM").unwrap_or_default();
        let known = ["xterm", "screen", "tmux", "linux", "rxvt", "vt100", "ansi", "putty", "konsole", "kitty", "con"];
        let colorful = term.contains("color") || known.iter().any(|name| term.starts_with(name));
        if given.is_empty() && !colorful && std::env::var_os("COLORTERM").is_none_or(|v| v.is_empty()) {
            return None;
        }
        let defaults = [
            ("di", "01;34"),
            ("ln", "01;36"),
            ("pi", "33"),
            ("so", "01;35"),
            ("bd", "01;33"),
            ("cd", "01;33"),
            ("su", "37;41"),
            ("sg", "30;43"),
            ("tw", "30;42"),
            ("ow", "34;42"),
            ("st", "37;44"),
            ("ex", "01;32"),
        ];
        let mut by_kind: HashMap<String, String> =
            defaults.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let mut by_suffix = Vec::new();
        for item in given.split(':') {
            match item.split_once('=') {
                Some((key, value)) if key.starts_with('*') => by_suffix.push((key[1..].to_owned(), value.to_owned())),
                Some((key, value)) => {
                    by_kind.insert(key.to_owned(), value.to_owned());
                }
                None => {}
            }
        }
        Some(Colors { by_kind, by_suffix, started: std::cell::Cell::new(false) })
    }

    fn code<'a>(&'a self, name: &OsStr, st: &Stat, broken: bool) -> Option<&'a str> {
        let kind = match st.file_type() {
            fs::S_IFDIR => match st.mode & 0o1002 {
                0o1002 => "tw",
                0o0002 => "ow",
                0o1000 => "st",
                _ => "di",
            },
            fs::S_IFLNK if broken && self.by_kind.contains_key("or") => "or",
            fs::S_IFLNK => "ln",
            fs::S_IFIFO => "pi",
            fs::S_IFSOCK => "so",
            fs::S_IFBLK => "bd",
            fs::S_IFCHR => "cd",
            _ if st.mode & 0o4000 != 0 => "su",
            _ if st.mode & 0o2000 != 0 => "sg",
            _ if st.mode & 0o111 != 0 => "ex",
            _ => {
                let name = name.as_bytes();
                let found = self.by_suffix.iter().rev().find(|(suffix, _)| name.ends_with(suffix.as_bytes()));
                return found.map(|(_, code)| code.as_str()).or_else(|| self.by_kind.get("fi").map(String::as_str));
            }
        };
        self.by_kind.get(kind).map(String::as_str).filter(|code| !code.is_empty() && *code != "0" && *code != "00")
    }

    fn wrap(&self, code: Option<&str>, text: Vec<u8>) -> Vec<u8> {
        let Some(code) = code else { return text };
        let mut out = Vec::with_capacity(text.len() + 20);
        if !self.started.replace(true) {
            out.extend_from_slice(b"\x1b[0m");
        }
        out.extend_from_slice(format!("\x1b[{code}m").as_bytes());
        out.extend(text);
        out.extend_from_slice(b"\x1b[0m");
        out
    }

    fn paint(&self, entry: &Entry, text: Vec<u8>) -> Vec<u8> {
        let broken = entry.target_stat.is_none();
        let code = entry.stat.as_ref().and_then(|st| match entry.target_stat.as_ref() {
            Some(target) if st.is_symlink() && self.by_kind.get("ln").is_some_and(|c| c == "target") => {
                self.code(&entry.name, target, false)
            }
            _ => self.code(&entry.name, st, broken),
        });
        self.wrap(code, text)
    }

    fn paint_target(&self, target: &Path, st: Option<Stat>, text: Vec<u8>) -> Vec<u8> {
        let code = match st {
            Some(st) => self.code(target.as_os_str(), &st, false),
            None => self.by_kind.get("mi").map(String::as_str),
        };
        self.wrap(code, text)
    }
}
