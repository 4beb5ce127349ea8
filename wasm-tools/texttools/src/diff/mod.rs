//! `diff`: what differs between files and directories.

mod compare;
mod format;
pub mod myers;
mod options;

use std::io;

use crate::glob;
use crate::input;
use crate::output::{Output, show};
use crate::platform::{self, Metadata};

use options::Config;

/// Runs diff and gives its exit status: 0 no differences, 1 some, 2 trouble.
pub fn run(arguments: &[Vec<u8>]) -> i32 {
    let config = match options::parse(arguments) {
        Ok(Some(config)) => config,
        Ok(None) => return 0,
        Err(message) => {
            eprintln!("diff: {message}\ndiff: Try 'diff --help' for more information.");
            return 2;
        }
    };
    let (left, right) = (config.left.clone(), config.right.clone());
    let mut diff = Diff { config, out: Output::new("diff", 2), status: 0 };
    diff.top(&left, &right);
    diff.out.flush_all();
    diff.status
}

struct Diff {
    config: Config,
    out: Output,
    status: i32,
}

/// A file that may be missing (`-N`).
struct Side {
    name: Vec<u8>,
    info: Option<Metadata>,
}

impl Diff {
    fn trouble(&mut self, name: &[u8], error: &io::Error) {
        self.out.flush_all();
        eprintln!("diff: {}: {}", show(name), platform::message(error));
        self.status = 2;
    }

    fn differ(&mut self) {
        self.status = self.status.max(1);
    }

    fn side(&mut self, name: &[u8]) -> Option<Side> {
        if name == b"-" {
            return Some(Side { name: name.to_vec(), info: None });
        }
        match platform::stat(name, true) {
            Ok(info) => Some(Side { name: name.to_vec(), info: Some(info) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.config.new_file => {
                Some(Side { name: name.to_vec(), info: None })
            }
            Err(error) => {
                self.trouble(name, &error);
                None
            }
        }
    }

    fn top(&mut self, left: &[u8], right: &[u8]) {
        let (first, second) = (self.side(left), self.side(right));
        let (Some(first), Some(second)) = (first, second) else { return };
        let directory = |side: &Side| side.info.is_some_and(|info| info.is_dir());
        match (directory(&first), directory(&second)) {
            (true, true) => self.directories(left, right),
            (true, false) if right != b"-" => {
                let inner = join(left, base(right));
                if let Some(inner) = self.side(&inner) {
                    self.files(&inner, &second, false);
                }
            }
            (false, true) if left != b"-" => {
                let inner = join(right, base(left));
                if let Some(inner) = self.side(&inner) {
                    self.files(&first, &inner, false);
                }
            }
            (true, false) | (false, true) => {
                eprintln!("diff: cannot compare '-' to a directory");
                self.status = 2;
            }
            (false, false) => self.files(&first, &second, false),
        }
    }

    fn directories(&mut self, left: &[u8], right: &[u8]) {
        // Pairs are compared in order; subdirectories when their turn comes.
        let mut pending = vec![(left.to_vec(), right.to_vec(), true)];
        while let Some((left, right, top)) = pending.pop() {
            if !top && !self.pair(&left, &right) {
                continue;
            }
            let names = |diff: &mut Self, directory: &[u8]| match platform::list(directory) {
                Ok(names) => names,
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                Err(error) => {
                    diff.trouble(directory, &error);
                    Vec::new()
                }
            };
            let mut all = names(self, &left);
            all.extend(names(self, &right));
            all.sort_unstable();
            all.dedup();
            let excluded = |name: &Vec<u8>| {
                self.config.excludes.iter().any(|pattern| glob::matches(pattern, name, glob::Options::default()))
            };
            all.retain(|name| !excluded(name));
            pending.extend(all.iter().rev().map(|name| (join(&left, name), join(&right, name), false)));
        }
    }

    /// Compares two entries of directories; true when both are directories to go into.
    fn pair(&mut self, left: &[u8], right: &[u8]) -> bool {
        let (first, second) = (platform::stat(left, true).ok(), platform::stat(right, true).ok());
        match (first, second) {
            (None, None) => false,
            (Some(info), None) | (None, Some(info)) => {
                let name = if first.is_some() { left } else { right };
                if self.config.new_file && (info.is_file() || self.config.recursive) {
                    if info.is_dir() {
                        return true;
                    }
                    let sides =
                        (Side { name: left.to_vec(), info: first }, Side { name: right.to_vec(), info: second });
                    self.files(&sides.0, &sides.1, true);
                    return false;
                }
                let directory = parent(name);
                self.out.text(&format!("Only in {}: {}\n", show(directory), show(base(name))));
                self.differ();
                false
            }
            (Some(a), Some(b)) if a.is_dir() && b.is_dir() => {
                if !self.config.recursive {
                    self.out.text(&format!("Common subdirectories: {} and {}\n", show(left), show(right)));
                }
                self.config.recursive
            }
            (Some(a), Some(b)) if a.is_dir() != b.is_dir() => {
                let kind = |info: &Metadata| if info.is_dir() { "directory" } else { "regular file" };
                self.out.text(&format!(
                    "File {} is a {} while file {} is a {}\n",
                    show(left),
                    kind(&a),
                    show(right),
                    kind(&b)
                ));
                self.differ();
                false
            }
            (first, second) => {
                let sides = (Side { name: left.to_vec(), info: first }, Side { name: right.to_vec(), info: second });
                self.files(&sides.0, &sides.1, true);
                false
            }
        }
    }

    fn text_of(&mut self, side: &Side) -> Option<Vec<u8>> {
        if side.info.is_none() && side.name != b"-" {
            return Some(Vec::new());
        }
        match input::read(&side.name) {
            Ok(text) => Some(text),
            Err(error) => {
                self.trouble(&side.name, &error);
                None
            }
        }
    }

    /// Compares two files; `in_directory`: with a line that says which.
    fn files(&mut self, left: &Side, right: &Side, in_directory: bool) {
        let (Some(a), Some(b)) = (self.text_of(left), self.text_of(right)) else { return };
        let (left_name, right_name) = (show(&left.name), show(&right.name));
        let equal = |diff: &mut Self| {
            if diff.config.report_identical {
                diff.out.text(&format!("Files {left_name} and {right_name} are identical\n"));
            }
        };
        if a == b {
            return equal(self);
        }
        let binary = |text: &[u8]| memchr::memchr(0, &text[..text.len().min(32 << 10)]).is_some();
        if !self.config.text && (binary(&a) || binary(&b)) {
            let word = if self.config.brief { "Files" } else { "Binary files" };
            self.out.text(&format!("{word} {left_name} and {right_name} differ\n"));
            return self.differ();
        }
        let comparison = compare::Comparison::new(&a, &b, &self.config);
        if comparison.hunks.is_empty() {
            return equal(self);
        }
        self.differ();
        if self.config.brief {
            self.out.text(&format!("Files {left_name} and {right_name} differ\n"));
            return;
        }
        if in_directory {
            let options = self.config.shown_options.clone();
            self.out.text(&format!("diff{options} {left_name} {right_name}\n"));
        }
        let header = |side: &Side, label: Option<&Vec<u8>>| match label {
            Some(label) => show(label),
            None => {
                let nanos = match &side.info {
                    Some(info) => info.mtime,
                    None if side.name == b"-" => wskill_time::now() * 1_000_000_000,
                    None => 0,
                };
                format!("{}\t{}", show(&side.name), date(nanos))
            }
        };
        let headers = [header(left, self.config.labels.first()), header(right, self.config.labels.get(1))];
        format::print(&comparison, &self.config, &headers, &mut self.out);
    }
}

fn date(nanos: i64) -> String {
    let seconds = nanos.div_euclid(1_000_000_000);
    let civil = wskill_time::local(seconds);
    let text = wskill_time::strftime(b"%Y-%m-%d %H:%M:%S", &civil);
    let zone = wskill_time::strftime(b"%z", &civil);
    format!("{}.{:09} {}", show(&text), nanos.rem_euclid(1_000_000_000), show(&zone))
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    [directory.strip_suffix(b"/").unwrap_or(directory), b"/", name].concat()
}

fn base(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b'/').next().unwrap_or(name)
}

fn parent(name: &[u8]) -> &[u8] {
    name.iter().rposition(|byte| *byte == b'/').map_or(b".", |at| &name[..at])
}
