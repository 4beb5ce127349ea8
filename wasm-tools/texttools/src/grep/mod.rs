//! `grep`, `egrep`, `fgrep` and `rg`: lines that match a pattern.

mod matcher;
mod options;
mod ripgrep;
mod search;
mod walk;

use crate::input;
use crate::output::{Output, show};
use crate::platform;

pub use ripgrep::run as run_ripgrep;

use matcher::Matcher;
use options::{Config, ListFiles};
use search::{Outcome, Searcher};

/// Runs grep and gives its exit status: 0 a line was selected, 1 none, 2 trouble.
pub fn run(program: &str, args: &[Vec<u8>]) -> i32 {
    let config = match options::parse(program, args) {
        Ok(options::Request::Search(config)) => *config,
        Ok(options::Request::Help) => {
            let mut out = Output::new("grep", 2);
            out.text(options::HELP);
            return 0;
        }
        Ok(options::Request::Version) => {
            let mut out = Output::new("grep", 2);
            out.text("grep (wskill texttools) 3.8\n");
            return 0;
        }
        Err(message) => {
            eprint!("{message}");
            return 2;
        }
    };
    let matcher = match Matcher::new(&config) {
        Ok(matcher) => matcher,
        Err(message) => {
            eprintln!("grep: {message}");
            return 2;
        }
    };
    let mut search = Search { matcher, config, matched: false, trouble: false, hide_zero: false };
    search.all()
}

struct Search {
    matcher: Matcher,
    config: Config,
    matched: bool,
    trouble: bool,
    /// `rg -c` leaves out files without matches.
    hide_zero: bool,
}

impl Search {
    /// Searches files, each with the name to print.
    fn each(&mut self, files: impl Iterator<Item = (Vec<u8>, Vec<u8>)>) -> i32 {
        let mut out = Output::new("rg", 2);
        let mut searcher = Searcher::new();
        for (path, shown) in files {
            if self.one(&path, &shown, &mut searcher, &mut out) {
                return 0;
            }
        }
        out.flush_all();
        self.status()
    }

    fn status(&self) -> i32 {
        match (self.trouble, self.matched) {
            (true, _) => 2,
            (false, true) => 0,
            (false, false) => 1,
        }
    }

    fn all(&mut self) -> i32 {
        let nothing =
            self.config.patterns.is_empty() && !self.config.invert && self.config.list != ListFiles::NotMatching;
        if self.config.max_count == Some(0) || nothing {
            return 1;
        }
        let mut out = Output::new("grep", 2);
        if self.config.line_buffered {
            out.set_line_buffered();
        }
        let mut searcher = Searcher::new();
        for name in self.config.files.clone() {
            if self.config.recursive && name != b"-" && platform::stat(&name, true).is_ok_and(|found| found.is_dir()) {
                let shown = if self.config.implicit_directory { b"".as_slice() } else { &name };
                let mut files = Vec::new();
                let mut errors = Vec::new();
                walk::walk(&name, shown, &self.config, &mut files, &mut errors);
                for (file, error) in errors {
                    self.complain(&file, &error);
                }
                for (path, shown) in files {
                    if self.one(&path, &shown, &mut searcher, &mut out) {
                        return 0;
                    }
                }
            } else {
                let excluded = name != b"-" && !self.config.globs.command_line_file(&name);
                let shown = if name == b"-" { self.config.stdin_label.clone() } else { name.clone() };
                if !excluded && self.one(&name, &shown, &mut searcher, &mut out) {
                    return 0;
                }
            }
        }
        out.flush_all();
        self.status()
    }

    fn complain(&mut self, name: &[u8], error: &std::io::Error) {
        if !self.config.no_messages {
            eprintln!("grep: {}: {}", show(name), platform::message(error));
        }
        self.trouble = true;
    }

    /// Searches one file; true when `-q` ends it all.
    fn one(&mut self, path: &[u8], shown: &[u8], searcher: &mut Searcher, out: &mut Output) -> bool {
        let stream = match input::open(path) {
            Ok(stream) => stream,
            Err(error) if error.kind() == std::io::ErrorKind::IsADirectory => {
                if !self.config.skip_directories {
                    out.flush_all();
                    if !self.config.no_messages {
                        eprintln!("grep: {}: Is a directory", show(shown));
                    }
                    self.trouble = !self.config.recursive || self.trouble;
                }
                return false;
            }
            Err(error) => {
                out.flush_all();
                self.complain(shown, &error);
                return false;
            }
        };
        if self.config.initial_tab {
            searcher.number_width = number_width(path, self.config.line_numbers);
        }
        let outcome = match searcher.search(stream, shown, &self.matcher, &self.config, out) {
            Ok(outcome) => outcome,
            Err(error) => {
                out.flush_all();
                self.complain(shown, &error);
                return false;
            }
        };
        self.report(shown, outcome, out)
    }

    fn report(&mut self, shown: &[u8], outcome: Outcome, out: &mut Output) -> bool {
        let selected = outcome.selected > 0;
        self.matched |= selected;
        if self.config.quiet && selected {
            return true;
        }
        let colors = &self.config.colors;
        if self.config.count && (selected || !self.hide_zero) {
            if self.config.with_filename {
                colors.name(out, shown);
                if self.config.null_after_name { out.put(b"\0") } else { colors.separator(out, b":") }
            }
            out.text(&format!("{}\n", outcome.selected));
        }
        let list = match self.config.list {
            ListFiles::No => false,
            ListFiles::Matching => selected,
            ListFiles::NotMatching => !selected,
        };
        if list {
            colors.name(out, shown);
            out.put(if self.config.null_after_name { b"\0" } else { b"\n" });
        }
        if outcome.binary_matched {
            out.flush_all();
            eprintln!("grep: {}: binary file matches", show(shown));
        }
        false
    }
}

/// The columns that GNU's `-T` gives to numbers: the digits of the largest offset that a file can have, and of the
/// line behind it.
fn number_width(path: &[u8], line_numbers: bool) -> usize {
    let path = if path == b"-" { b"/dev/stdin" } else { path };
    let largest = match platform::stat(path, true) {
        Ok(found) if found.is_file() => found.size + u64::from(line_numbers),
        _ => i64::MAX.unsigned_abs(),
    };
    largest.to_string().len()
}
