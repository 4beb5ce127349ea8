//! `du`.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Write;
use std::os::wasi::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use wskill_sys::fs::{self, Stat};
use wskill_time::Zone;

use super::opts::{Spec, Takes};
use super::text::{Unit, in_message, quote};
use super::{children, clock, say_bytes};

const DU: Spec = Spec {
    name: "du",
    usage: "du [OPTION]... [FILE]...\n  or:  du [OPTION]... --files0-from=F",
    short: "0aAbB:cd:DHhklLmPsSt:xX:",
    long: &[
        ("all", Takes::No, 'a'),
        ("apparent-size", Takes::No, 'A'),
        ("block-size", Takes::Arg, 'B'),
        ("bytes", Takes::No, 'b'),
        ("count-links", Takes::No, 'l'),
        ("dereference", Takes::No, 'L'),
        ("dereference-args", Takes::No, 'D'),
        ("exclude", Takes::Arg, 'e'),
        ("exclude-from", Takes::Arg, 'X'),
        ("files0-from", Takes::Arg, 'f'),
        ("human-readable", Takes::No, 'h'),
        ("inodes", Takes::No, 'i'),
        ("max-depth", Takes::Arg, 'd'),
        ("no-dereference", Takes::No, 'P'),
        ("null", Takes::No, '0'),
        ("one-file-system", Takes::No, 'x'),
        ("separate-dirs", Takes::No, 'S'),
        ("si", Takes::No, '\x01'),
        ("summarize", Takes::No, 's'),
        ("threshold", Takes::Arg, 't'),
        ("time", Takes::Maybe, '\x02'),
        ("time-style", Takes::Arg, '\x03'),
        ("total", Takes::No, 'c'),
    ],
    failure: 1,
};

struct Du {
    all: bool,
    apparent: bool,
    inodes: bool,
    unit: Unit,
    total: bool,
    depth: usize,
    follow: bool,
    follow_operands: bool,
    count_links: bool,
    separate: bool,
    one_file_system: bool,
    end: u8,
    threshold: i64,
    exclude: Vec<String>,
    time: bool,
    zone: Zone,
    seen: HashSet<(u64, u64)>,
    ok: bool,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    size: u64,
    newest_ns: i64,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.size += other.size;
        self.newest_ns = self.newest_ns.max(other.newest_ns);
    }
}

/// `du`.
pub fn du(_: &str, args: Vec<OsString>) -> i32 {
    run(args).unwrap_or_else(|status| status)
}

fn run(args: Vec<OsString>) -> Result<i32, i32> {
    let parsed = DU.parse(args)?;
    let mut job = Du {
        all: false,
        apparent: false,
        inodes: false,
        unit: Unit::Blocks(1024, ""),
        total: false,
        depth: usize::MAX,
        follow: false,
        follow_operands: false,
        count_links: false,
        separate: false,
        one_file_system: false,
        end: b'\n',
        threshold: 0,
        exclude: Vec::new(),
        time: false,
        zone: Zone::utc(),
        seen: HashSet::new(),
        ok: true,
    };
    if let Some(unit) = ["DU_BLOCK_SIZE", "BLOCK_SIZE", "BLOCKSIZE"].iter().find_map(|n| std::env::var(n).ok()) {
        job.unit = Unit::parse(&unit).unwrap_or(job.unit);
    }
    let (mut summarize, mut depth, mut files_from) = (false, None, None);
    for (option, value) in parsed.options {
        let text = value.to_string_lossy();
        match option {
            '0' => job.end = 0,
            'a' => job.all = true,
            'A' => job.apparent = true,
            'b' => (job.apparent, job.unit) = (true, Unit::Blocks(1, "")),
            'B' => {
                job.unit = Unit::parse(&text).ok_or_else(|| {
                    eprintln!("du: invalid --block-size argument {}", quote(&value));
                    1
                })?;
            }
            'c' => job.total = true,
            'd' => {
                depth = Some(text.parse::<usize>().map_err(|_| {
                    eprintln!("du: invalid maximum depth {}", quote(&value));
                    DU.try_help()
                })?);
            }
            'D' | 'H' => job.follow_operands = true,
            'e' => job.exclude.push(text.into_owned()),
            'X' => match std::fs::read_to_string(&value) {
                Ok(list) => job.exclude.extend(list.lines().map(str::to_owned)),
                Err(e) => {
                    eprintln!("du: {}: {}", in_message(&value), wskill_sys::message(&e));
                    return Err(1);
                }
            },
            'f' => files_from = Some(value),
            'h' => job.unit = Unit::Human { si: false },
            'i' => (job.inodes, job.unit) = (true, Unit::Blocks(1, "")),
            'k' => job.unit = Unit::Blocks(1024, ""),
            'l' => job.count_links = true,
            'L' => job.follow = true,
            'm' => job.unit = Unit::Blocks(1 << 20, ""),
            'P' => (job.follow, job.follow_operands) = (false, false),
            's' => summarize = true,
            'S' => job.separate = true,
            't' => {
                let (sign, size) = text.strip_prefix('-').map_or((1, &*text), |rest| (-1, rest));
                match Unit::parse(size) {
                    Some(Unit::Blocks(bytes, _)) => job.threshold = sign * i64::try_from(bytes).unwrap_or(i64::MAX),
                    _ => {
                        eprintln!("du: invalid --threshold argument {}", quote(&value));
                        return Err(1);
                    }
                }
            }
            'x' => job.one_file_system = true,
            '\x01' => job.unit = Unit::Human { si: true },
            '\x02' => job.time = true,
            _ => {}
        }
    }
    if summarize && job.all {
        eprintln!("du: cannot both summarize and show all entries");
        return Err(DU.try_help());
    }
    if summarize && depth.is_some_and(|d| d > 0) {
        eprintln!("du: warning: summarizing conflicts with --max-depth={}", depth.unwrap_or(0));
        return Err(DU.try_help());
    }
    job.depth = if summarize { 0 } else { depth.unwrap_or(usize::MAX) };
    if job.time {
        job.zone = Zone::local();
    }
    let mut operands = parsed.operands;
    if let Some(file) = files_from {
        let list = if file == "-" {
            let mut all = Vec::new();
            std::io::Read::read_to_end(&mut std::io::stdin(), &mut all).map(|_| all)
        } else {
            std::fs::read(&file)
        };
        match list {
            Ok(list) => operands.extend(
                list.split(|&b| b == 0).filter(|n| !n.is_empty()).map(|n| std::ffi::OsStr::from_bytes(n).to_owned()),
            ),
            Err(e) => {
                eprintln!("du: cannot open {} for reading: {}", quote(&file), wskill_sys::message(&e));
                return Err(1);
            }
        }
    } else if operands.is_empty() {
        operands.push(".".into());
    }
    let mut sum = Sum::default();
    for operand in operands {
        let path = PathBuf::from(operand);
        let follow = job.follow || job.follow_operands;
        match if follow { fs::stat(&path) } else { fs::lstat(&path) } {
            Ok(st) => {
                if let Some(one) = job.visit(&path, &st, 0, st.dev) {
                    sum.add(one);
                }
            }
            Err(e) => job.fail("cannot access", &path, &e),
        }
    }
    if job.total {
        job.print(sum, Path::new("total"));
    }
    Ok(i32::from(!job.ok))
}

impl Du {
    fn fail(&mut self, what: &str, path: &Path, error: &dyn std::fmt::Display) {
        eprintln!("du: {what} {}: {error}", quote(path.as_os_str()));
        self.ok = false;
    }

    /// The size of what is at `path` and below; `None` for what has been counted already.
    fn visit(&mut self, path: &Path, st: &Stat, level: usize, device: u64) -> Option<Sum> {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let excluded = self.exclude.iter().any(|p| {
            let (p, whole, last) = (p.as_bytes(), path.as_os_str().as_bytes(), name.as_bytes());
            super::ls::glob(p, whole) || super::ls::glob(p, last)
        });
        if excluded || (self.one_file_system && st.dev != device) {
            return None;
        }
        let counted_once = st.is_dir() || (st.nlink > 1 && !self.count_links);
        if counted_once && !self.seen.insert((st.dev, st.ino)) {
            return None;
        }
        let own = if self.inodes {
            1
        } else if self.apparent {
            // Only what holds data: POSIX leaves the size of the others open.
            if st.is_file() || st.is_symlink() || st.is_dir() { st.size } else { 0 }
        } else {
            st.blocks * 512
        };
        let mut sum = Sum { size: own, newest_ns: st.mtime_ns };
        let mut shown = sum;
        if st.is_dir() {
            match children(path) {
                Ok(names) => {
                    for name in names {
                        let child = path.join(name);
                        match if self.follow { fs::stat(&child) } else { fs::lstat(&child) } {
                            Ok(st) => {
                                if let Some(one) = self.visit(&child, &st, level + 1, device) {
                                    sum.add(one);
                                    if !st.is_dir() || !self.separate {
                                        shown.add(one);
                                    }
                                }
                            }
                            Err(e) => self.fail("cannot access", &child, &e),
                        }
                    }
                }
                Err(e) => self.fail("cannot read directory", path, &wskill_sys::message(&e)),
            }
        }
        if level <= self.depth && (st.is_dir() || self.all || level == 0) {
            self.print(shown, path);
        }
        Some(sum)
    }

    fn print(&self, sum: Sum, path: &Path) {
        let size = i64::try_from(sum.size).unwrap_or(i64::MAX);
        if (self.threshold > 0 && size < self.threshold) || (self.threshold < 0 && size > -self.threshold) {
            return;
        }
        let mut line = self.unit.show(sum.size).into_bytes();
        if self.time {
            let _ = write!(line, "\t{}", clock::format(sum.newest_ns, &self.zone, "%Y-%m-%d %H:%M"));
        }
        line.push(b'\t');
        line.extend_from_slice(path.as_os_str().as_bytes());
        line.push(self.end);
        say_bytes(&line);
    }
}
