//! grep's command line.

use crate::args::{self, Long, Value};
use crate::glob;
use crate::input;
use crate::output::{Output, show};
use crate::platform;

const USAGE: &str = "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.\n";

/// The text of `grep --help`.
pub const HELP: &str = "\
Usage: grep [OPTION]... PATTERNS [FILE]...
Search for PATTERNS in each FILE.

Pattern selection: -E extended, -F fixed strings, -G basic, -P Perl, -e PATTERNS, -f FILE, -i ignore case,
  -w whole words, -x whole lines, -z lines end in NUL
Output: -c count, -l or -L names of files with or without matches, -m NUM stop after NUM lines, -o only matches,
  -q quiet, -s no messages about files, -v lines that do not match, -n line numbers, -b byte offsets, -H or -h with
  or without file names, -T tab aligned, -Z NUL after names, -A, -B, -C NUM context lines, --color[=WHEN],
  --line-buffered, --label=NAME
Files: -r or -R recursive, --include=GLOB, --exclude=GLOB, --exclude-dir=GLOB, --exclude-from=FILE, -a binary as
  text, -I skip binary files, --binary-files=TYPE, -d ACTION for directories, -D ACTION for devices
";

/// The pattern language.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// `-G`
    Basic,
    /// `-E`
    Extended,
    /// `-F`
    Fixed,
    /// `-P`
    Perl,
    /// ripgrep's: as Perl's, without look-around.
    Rust,
}

/// What `-l` and `-L` ask for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ListFiles {
    /// Lines, not names.
    No,
    /// `-l`
    Matching,
    /// `-L`
    NotMatching,
}

/// What to do with files that are not text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// Say only that it matches.
    Report,
    /// `-a`
    Text,
    /// `-I`
    Skip,
}

/// The colours of `--color`; empty strings when it is off.
#[derive(Clone, Default)]
pub struct Colors {
    /// Whether any are printed.
    pub on: bool,
    matched: String,
    name: String,
    number: String,
    separator: String,
}

impl Colors {
    /// GNU's defaults, changed by `GREP_COLORS`.
    pub fn from_environment() -> Self {
        let mut colors =
            Self { on: true, matched: "01;31".into(), name: "35".into(), number: "32".into(), separator: "36".into() };
        let settings = platform::variable("GREP_COLORS").map(|bytes| show(&bytes)).unwrap_or_default();
        for (key, value) in settings.split(':').filter_map(|part| part.split_once('=')) {
            match key {
                "mt" | "ms" => colors.matched = value.into(),
                "fn" => colors.name = value.into(),
                "ln" | "bn" => colors.number = value.into(),
                "se" => colors.separator = value.into(),
                _ => {}
            }
        }
        colors
    }

    fn paint(&self, out: &mut Output, color: &str, text: &[u8]) {
        if self.on && !color.is_empty() && !text.is_empty() {
            out.text(&format!("\x1b[{color}m\x1b[K"));
            out.put(text);
            out.put(b"\x1b[m\x1b[K");
        } else {
            out.put(text);
        }
    }

    /// Prints a file's name.
    pub fn name(&self, out: &mut Output, text: &[u8]) {
        self.paint(out, &self.name, text);
    }

    /// Prints a line number or an offset.
    pub fn number(&self, out: &mut Output, text: &[u8]) {
        self.paint(out, &self.number, text);
    }

    /// Prints `:`, `-` or `--`.
    pub fn separator(&self, out: &mut Output, text: &[u8]) {
        self.paint(out, &self.separator, text);
    }

    /// Prints what matched.
    pub fn matched(&self, out: &mut Output, text: &[u8]) {
        self.paint(out, &self.matched, text);
    }
}

/// `--include`, `--exclude` and `--exclude-dir`.
#[derive(Clone, Default)]
pub struct Globs {
    rules: Vec<(bool, Vec<u8>)>,
    excluded_directories: Vec<Vec<u8>>,
}

impl Globs {
    fn matches(pattern: &[u8], name: &[u8]) -> bool {
        let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
        glob::matches(pattern, name, glob::Options::default()) || glob::matches(pattern, base, glob::Options::default())
    }

    /// Whether a file found below a directory is searched.
    pub fn file(&self, name: &[u8]) -> bool {
        // The last rule that matches decides; without one, a list that begins with includes excludes.
        match self.rules.iter().rev().find(|(_, pattern)| Self::matches(pattern, name)) {
            Some((include, _)) => *include,
            None => !self.rules.first().is_some_and(|(include, _)| *include),
        }
    }

    /// Whether a file named on the command line is searched.
    pub fn command_line_file(&self, name: &[u8]) -> bool {
        self.file(name)
    }

    /// Whether a directory is entered.
    pub fn directory(&self, name: &[u8]) -> bool {
        !self.excluded_directories.iter().any(|pattern| Self::matches(pattern, name))
    }
}

/// A search as asked for.
#[derive(Clone)]
#[allow(missing_docs, reason = "the names of the options")]
pub struct Config {
    pub patterns: Vec<Vec<u8>>,
    pub syntax: Syntax,
    pub ignore_case: bool,
    pub words: bool,
    pub lines: bool,
    pub invert: bool,
    pub null_data: bool,
    pub count: bool,
    pub list: ListFiles,
    pub quiet: bool,
    pub no_messages: bool,
    pub only_matching: bool,
    pub max_count: Option<u64>,
    pub line_numbers: bool,
    pub byte_offsets: bool,
    pub with_filename: bool,
    pub initial_tab: bool,
    pub null_after_name: bool,
    pub before: usize,
    pub after: usize,
    /// Printed between groups of lines; `None` for no separator.
    pub group_separator: Option<Vec<u8>>,
    pub binary: Binary,
    pub line_buffered: bool,
    pub colors: Colors,
    pub recursive: bool,
    pub follow_links: bool,
    pub read_devices: bool,
    pub skip_directories: bool,
    pub implicit_directory: bool,
    pub stdin_label: Vec<u8>,
    pub globs: Globs,
    pub files: Vec<Vec<u8>>,
}

impl Config {
    /// A search for these patterns with all options off.
    pub fn new(syntax: Syntax) -> Self {
        Self {
            patterns: Vec::new(),
            syntax,
            ignore_case: false,
            words: false,
            lines: false,
            invert: false,
            null_data: false,
            count: false,
            list: ListFiles::No,
            quiet: false,
            no_messages: false,
            only_matching: false,
            max_count: None,
            line_numbers: false,
            byte_offsets: false,
            with_filename: false,
            initial_tab: false,
            null_after_name: false,
            before: 0,
            after: 0,
            group_separator: Some(b"--".to_vec()),
            binary: Binary::Report,
            line_buffered: false,
            colors: Colors::default(),
            recursive: false,
            follow_links: false,
            read_devices: false,
            skip_directories: false,
            implicit_directory: false,
            stdin_label: b"(standard input)".to_vec(),
            globs: Globs::default(),
            files: Vec::new(),
        }
    }
}

/// What the command line asks for.
pub enum Request {
    /// A search.
    Search(Box<Config>),
    /// `--help`
    Help,
    /// `-V`
    Version,
}

const SHORTS: &str = "0123456789A:B:C:D:EFGHILPTUVZabcd:e:f:hiLlm:noqRrsuvwxyz";

/// Long options without a letter of their own get one from the private use area.
const LONGS: &[Long] = &[
    ("after-context", Value::Required, 'A'),
    ("basic-regexp", Value::No, 'G'),
    ("before-context", Value::Required, 'B'),
    ("binary", Value::No, 'U'),
    ("binary-files", Value::Required, '\u{e000}'),
    ("byte-offset", Value::No, 'b'),
    ("color", Value::Optional, '\u{e001}'),
    ("colour", Value::Optional, '\u{e001}'),
    ("context", Value::Required, 'C'),
    ("count", Value::No, 'c'),
    ("dereference-recursive", Value::No, 'R'),
    ("devices", Value::Required, 'D'),
    ("directories", Value::Required, 'd'),
    ("exclude", Value::Required, '\u{e002}'),
    ("exclude-dir", Value::Required, '\u{e003}'),
    ("exclude-from", Value::Required, '\u{e004}'),
    ("extended-regexp", Value::No, 'E'),
    ("file", Value::Required, 'f'),
    ("files-with-matches", Value::No, 'l'),
    ("files-without-match", Value::No, 'L'),
    ("fixed-regexp", Value::No, 'F'),
    ("fixed-strings", Value::No, 'F'),
    ("group-separator", Value::Required, '\u{e005}'),
    ("help", Value::No, '\u{e006}'),
    ("ignore-case", Value::No, 'i'),
    ("include", Value::Required, '\u{e007}'),
    ("initial-tab", Value::No, 'T'),
    ("invert-match", Value::No, 'v'),
    ("label", Value::Required, '\u{e008}'),
    ("line-buffered", Value::No, '\u{e009}'),
    ("line-number", Value::No, 'n'),
    ("line-regexp", Value::No, 'x'),
    ("max-count", Value::Required, 'm'),
    ("no-filename", Value::No, 'h'),
    ("no-group-separator", Value::No, '\u{e00a}'),
    ("no-ignore-case", Value::No, '\u{e00b}'),
    ("no-messages", Value::No, 's'),
    ("null", Value::No, 'Z'),
    ("null-data", Value::No, 'z'),
    ("only-matching", Value::No, 'o'),
    ("perl-regexp", Value::No, 'P'),
    ("quiet", Value::No, 'q'),
    ("recursive", Value::No, 'r'),
    ("regexp", Value::Required, 'e'),
    ("silent", Value::No, 'q'),
    ("text", Value::No, 'a'),
    ("version", Value::No, 'V'),
    ("with-filename", Value::No, 'H'),
    ("word-regexp", Value::No, 'w'),
];

/// Parses the command line. The error is complete, with the program's name and a newline.
pub fn parse(program: &str, arguments: &[Vec<u8>]) -> Result<Request, String> {
    let fail = |message: String| format!("grep: {message}\n");
    let parsed = args::parse(arguments, SHORTS, LONGS, true).map_err(|message| format!("grep: {message}\n{USAGE}"))?;
    let mut config = Config::new(match program {
        "egrep" => Syntax::Extended,
        "fgrep" => Syntax::Fixed,
        _ => Syntax::Basic,
    });
    let mut patterns: Option<Vec<Vec<u8>>> = None;
    let mut with_filename: Option<bool> = None;
    let (mut before, mut after, mut context) = (None, None, None);
    let mut digits = String::new();
    for (letter, value) in parsed.options {
        let value = value.unwrap_or_default();
        match letter {
            '0'..='9' => {
                digits.push(letter);
                context = Some(length(digits.as_bytes())?);
            }
            'A' => after = Some(length(&value)?),
            'B' => before = Some(length(&value)?),
            'C' => context = Some(length(&value)?),
            'D' => config.read_devices = value == b"read",
            'd' => match value.as_slice() {
                b"recurse" => config.recursive = true,
                b"skip" => config.skip_directories = true,
                b"read" => {}
                _ => return Err(fail(format!("invalid argument '{}' for '--directories'", show(&value)))),
            },
            'E' => config.syntax = Syntax::Extended,
            'F' => config.syntax = Syntax::Fixed,
            'G' => config.syntax = Syntax::Basic,
            'P' => config.syntax = Syntax::Perl,
            'H' => with_filename = Some(true),
            'h' => with_filename = Some(false),
            'I' => config.binary = Binary::Skip,
            'a' => config.binary = Binary::Text,
            'T' => config.initial_tab = true,
            'Z' => config.null_after_name = true,
            'b' => config.byte_offsets = true,
            'c' => config.count = true,
            'e' => patterns.get_or_insert_default().extend(split_lines(&value)),
            'f' => {
                let mut text = input::read(&value)
                    .map_err(|error| fail(format!("{}: {}", show(&value), platform::message(&error))))?;
                let list = patterns.get_or_insert_default();
                if text.last() == Some(&b'\n') {
                    text.pop();
                    list.extend(split_lines(&text));
                } else if !text.is_empty() {
                    list.extend(split_lines(&text));
                }
            }
            'i' | 'y' => config.ignore_case = true,
            '\u{e00b}' => config.ignore_case = false,
            'L' => config.list = ListFiles::NotMatching,
            'l' => config.list = ListFiles::Matching,
            'm' => {
                let count = args::number(&value).ok_or_else(|| fail("invalid max count".into()))?;
                config.max_count = u64::try_from(count).ok();
            }
            'n' => config.line_numbers = true,
            'o' => config.only_matching = true,
            'q' => config.quiet = true,
            'r' => config.recursive = true,
            'R' => {
                config.recursive = true;
                config.follow_links = true;
            }
            's' => config.no_messages = true,
            'v' => config.invert = true,
            'w' => config.words = true,
            'x' => config.lines = true,
            'z' => config.null_data = true,
            'V' => return Ok(Request::Version),
            '\u{e000}' => {
                config.binary = match value.as_slice() {
                    b"binary" => Binary::Report,
                    b"text" => Binary::Text,
                    b"without-match" => Binary::Skip,
                    _ => return Err(fail("unknown binary-files type".into())),
                }
            }
            '\u{e001}' => {
                config.colors = match value.as_slice() {
                    b"always" | b"yes" | b"force" => Colors::from_environment(),
                    b"" | b"auto" | b"tty" | b"if-tty" if platform::is_terminal(1) => Colors::from_environment(),
                    _ => Colors::default(),
                }
            }
            '\u{e002}' => config.globs.rules.push((false, value)),
            '\u{e003}' => {
                let name = value.strip_suffix(b"/").unwrap_or(&value);
                config.globs.excluded_directories.push(name.to_vec());
            }
            '\u{e004}' => {
                let text = input::read(&value)
                    .map_err(|error| fail(format!("{}: {}", show(&value), platform::message(&error))))?;
                config.globs.rules.extend(split_lines(&text).into_iter().filter(|l| !l.is_empty()).map(|l| (false, l)));
            }
            '\u{e005}' => config.group_separator = Some(value),
            '\u{e006}' => return Ok(Request::Help),
            '\u{e007}' => config.globs.rules.push((true, value)),
            '\u{e008}' => config.stdin_label = value,
            '\u{e009}' => config.line_buffered = true,
            '\u{e00a}' => config.group_separator = None,
            _ => {}
        }
    }
    let mut operands = parsed.operands.into_iter();
    config.patterns = match patterns {
        Some(patterns) => patterns,
        None => match operands.next() {
            Some(pattern) => split_lines(&pattern),
            None => return Err(USAGE.into()),
        },
    };
    config.files = operands.collect();
    config.before = before.or(context).unwrap_or(0);
    config.after = after.or(context).unwrap_or(0);
    if config.files.is_empty() {
        config.implicit_directory = config.recursive;
        config.files.push(if config.recursive { b".".to_vec() } else { b"-".to_vec() });
    }
    let directory = |name: &Vec<u8>| platform::stat(name, true).is_ok_and(|found| found.is_dir());
    config.with_filename = with_filename.unwrap_or(
        config.files.len() > 1 || config.recursive && (config.implicit_directory || config.files.iter().any(directory)),
    );
    if config.list != ListFiles::No || config.quiet {
        config.count = false;
    }
    Ok(Request::Search(Box::new(config)))
}

fn length(value: &[u8]) -> Result<usize, String> {
    let text = show(value);
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // A longer context than any file has.
        return Ok(text.parse().unwrap_or(usize::MAX >> 1));
    }
    Err(format!("grep: {text}: invalid context length argument\n"))
}

fn split_lines(text: &[u8]) -> Vec<Vec<u8>> {
    text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}
