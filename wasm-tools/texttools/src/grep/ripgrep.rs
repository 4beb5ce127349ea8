//! `rg`: ripgrep's command line over the same search.

use std::collections::VecDeque;

use super::Search;
use super::matcher::Matcher;
use super::options::{Binary, Colors, Config, ListFiles, Syntax};
use crate::args::{self, Long, Value};
use crate::glob;
use crate::input;
use crate::output::{Output, show};
use crate::platform;

const LONGS: &[Long] = &[
    ("after-context", Value::Required, 'A'),
    ("before-context", Value::Required, 'B'),
    ("byte-offset", Value::No, 'b'),
    ("case-sensitive", Value::No, 's'),
    ("color", Value::Required, '\u{e000}'),
    ("column", Value::No, '\u{e001}'),
    ("context", Value::Required, 'C'),
    ("count", Value::No, 'c'),
    ("count-matches", Value::No, 'c'),
    ("file", Value::Required, 'f'),
    ("files", Value::No, '\u{e002}'),
    ("files-with-matches", Value::No, 'l'),
    ("files-without-match", Value::No, '\u{e003}'),
    ("fixed-strings", Value::No, 'F'),
    ("follow", Value::No, 'L'),
    ("glob", Value::Required, 'g'),
    ("heading", Value::No, '\u{e0ff}'),
    ("hidden", Value::No, '.'),
    ("iglob", Value::Required, '\u{e004}'),
    ("ignore-case", Value::No, 'i'),
    ("invert-match", Value::No, 'v'),
    ("line-buffered", Value::No, '\u{e0ff}'),
    ("line-number", Value::No, 'n'),
    ("line-regexp", Value::No, 'x'),
    ("max-count", Value::Required, 'm'),
    ("max-depth", Value::Required, 'd'),
    ("multiline", Value::No, '\u{e0ff}'),
    ("no-config", Value::No, '\u{e0ff}'),
    ("no-filename", Value::No, 'I'),
    ("no-heading", Value::No, '\u{e0ff}'),
    ("no-ignore", Value::No, '\u{e005}'),
    ("no-ignore-vcs", Value::No, '\u{e005}'),
    ("no-line-number", Value::No, 'N'),
    ("no-messages", Value::No, '\u{e006}'),
    ("null", Value::No, '0'),
    ("only-matching", Value::No, 'o'),
    ("pcre2", Value::No, 'P'),
    ("quiet", Value::No, 'q'),
    ("regexp", Value::Required, 'e'),
    ("smart-case", Value::No, 'S'),
    ("sort", Value::Required, '\u{e0fe}'),
    ("text", Value::No, 'a'),
    ("type", Value::Required, 't'),
    ("type-not", Value::Required, 'T'),
    ("unrestricted", Value::No, 'u'),
    ("version", Value::No, 'V'),
    ("with-filename", Value::No, 'H'),
    ("word-regexp", Value::No, 'w'),
];

/// The globs of the most used file types.
const TYPES: &[(&str, &[&str])] = &[
    ("c", &["*.c", "*.h"]),
    ("cpp", &["*.cpp", "*.cc", "*.cxx", "*.hpp", "*.hh", "*.h"]),
    ("css", &["*.css", "*.scss"]),
    ("csv", &["*.csv"]),
    ("go", &["*.go"]),
    ("html", &["*.html", "*.htm"]),
    ("java", &["*.java"]),
    ("js", &["*.js", "*.jsx", "*.mjs", "*.cjs"]),
    ("json", &["*.json"]),
    ("lua", &["*.lua"]),
    ("make", &["Makefile", "makefile", "*.mk"]),
    ("markdown", &["*.md", "*.markdown"]),
    ("md", &["*.md", "*.markdown"]),
    ("perl", &["*.pl", "*.pm"]),
    ("php", &["*.php"]),
    ("py", &["*.py", "*.pyi"]),
    ("python", &["*.py", "*.pyi"]),
    ("rb", &["*.rb"]),
    ("ruby", &["*.rb"]),
    ("rust", &["*.rs"]),
    ("sh", &["*.sh", "*.bash", ".bashrc", ".profile"]),
    ("sql", &["*.sql"]),
    ("toml", &["*.toml"]),
    ("ts", &["*.ts", "*.tsx"]),
    ("txt", &["*.txt"]),
    ("xml", &["*.xml"]),
    ("yaml", &["*.yaml", "*.yml"]),
];

/// Which files a walk takes.
#[derive(Default)]
struct Rules {
    hidden: bool,
    no_ignore: bool,
    follow: bool,
    depth: Option<usize>,
    /// Patterns with whether they exclude.
    globs: Vec<(bool, Vec<u8>)>,
    types: Vec<&'static [&'static str]>,
    not_types: Vec<&'static [&'static str]>,
}

/// Runs rg and gives its exit status: 0 something matched, 1 nothing, 2 trouble.
pub fn run(arguments: &[Vec<u8>]) -> i32 {
    match start(arguments) {
        Ok(status) => status,
        Err(message) => {
            eprintln!("rg: {message}");
            2
        }
    }
}

fn start(arguments: &[Vec<u8>]) -> Result<i32, String> {
    let parsed = args::parse(arguments, ".0A:B:bC:cd:e:f:Fg:HhIiLlm:NnoPpqsSt:T:uUVvwxa", LONGS, true)?;
    let mut config = Config::new(Syntax::Rust);
    let mut rules = Rules::default();
    let mut patterns: Option<Vec<Vec<u8>>> = None;
    let (mut names, mut numbers, mut smart, mut list_only, mut unrestricted) = (None, None, false, false, 0);
    for (letter, value) in parsed.options {
        let value = value.unwrap_or_default();
        let number = || {
            args::number(&value)
                .and_then(|number| usize::try_from(number).ok())
                .ok_or_else(|| format!("error parsing flag: value '{}' is not a number", show(&value)))
        };
        match letter {
            '.' => rules.hidden = true,
            '0' => config.null_after_name = true,
            'A' => config.after = number()?,
            'B' => config.before = number()?,
            'C' => (config.before, config.after) = (number()?, number()?),
            'a' => config.binary = Binary::Text,
            'b' => config.byte_offsets = true,
            'c' => config.count = true,
            'd' => rules.depth = Some(number()?),
            'e' => patterns.get_or_insert_default().push(value),
            'f' => {
                let text =
                    input::read(&value).map_err(|error| format!("{}: {}", show(&value), platform::message(&error)))?;
                let lines = text.strip_suffix(b"\n").unwrap_or(&text).split(|byte| *byte == b'\n');
                patterns.get_or_insert_default().extend(lines.map(<[u8]>::to_vec));
            }
            'F' => config.syntax = Syntax::Fixed,
            'g' | '\u{e004}' => match value.strip_prefix(b"!") {
                Some(excluded) => rules.globs.push((true, excluded.to_vec())),
                None => rules.globs.push((false, value)),
            },
            'H' => names = Some(true),
            'I' => names = Some(false),
            'i' => config.ignore_case = true,
            'L' => rules.follow = true,
            'l' => config.list = ListFiles::Matching,
            'm' => config.max_count = Some(number()? as u64),
            'N' => numbers = Some(false),
            'n' => numbers = Some(true),
            'o' => config.only_matching = true,
            'P' => config.syntax = Syntax::Perl,
            'q' => config.quiet = true,
            's' => config.ignore_case = false,
            'S' => smart = true,
            't' | 'T' => {
                let name = show(&value);
                let Some((_, globs)) = TYPES.iter().find(|(known, _)| *known == name) else {
                    return Err(format!("unrecognized file type: {name}"));
                };
                if letter == 't' { rules.types.push(globs) } else { rules.not_types.push(globs) }
            }
            'u' => unrestricted += 1,
            'v' => config.invert = true,
            'V' => {
                println!("ripgrep 15.2.0 compatible (wskill texttools)");
                return Ok(0);
            }
            'h' => {
                println!("Usage: rg [OPTIONS] PATTERN [PATH ...]");
                return Ok(0);
            }
            'w' => config.words = true,
            'x' => config.lines = true,
            '\u{e000}' => {
                config.colors = if value == b"always" { Colors::from_environment() } else { Colors::default() }
            }
            '\u{e001}' => numbers = numbers.or(Some(true)),
            '\u{e002}' => list_only = true,
            '\u{e003}' => config.list = ListFiles::NotMatching,
            '\u{e005}' => rules.no_ignore = true,
            '\u{e006}' => config.no_messages = true,
            _ => {}
        }
    }
    rules.no_ignore |= unrestricted > 0;
    rules.hidden |= unrestricted > 1;
    if unrestricted > 2 {
        config.binary = Binary::Text;
    }
    let mut operands: VecDeque<Vec<u8>> = parsed.operands.into();
    if !list_only {
        config.patterns = match patterns {
            Some(patterns) => patterns,
            None => match operands.pop_front() {
                Some(pattern) => vec![pattern],
                None => {
                    return Err("the following required arguments were not provided:\n  <PATTERN>\n\nFor more information try --help".into());
                }
            },
        };
    }
    let upper = config.patterns.iter().any(|pattern| show(pattern).chars().any(char::is_uppercase));
    config.ignore_case |= smart && !upper;
    // Without a path: standard input when something is there to read, else the directory.
    let piped =
        platform::stat(b"/dev/stdin", true).is_ok_and(|info| info.is_file() || info.kind() == platform::mode::FIFO);
    let paths: Vec<Vec<u8>> = match operands.is_empty() {
        false => operands.into(),
        true if piped && !list_only => vec![b"-".to_vec()],
        true => vec![b"./".to_vec()],
    };
    let directory = |path: &Vec<u8>| platform::stat(path, true).is_ok_and(|info| info.is_dir());
    config.with_filename = names.unwrap_or(paths.len() > 1 || paths.iter().any(directory));
    config.line_numbers = numbers.unwrap_or(false);
    if config.list != ListFiles::No || config.quiet {
        config.count = false;
    }
    let mut trouble = false;
    let mut files = Vec::new();
    for path in &paths {
        if path == b"-" {
            files.push(path.clone());
        } else if directory(path) {
            rules.walk(path, &mut files);
        } else if platform::stat(path, true).is_ok() {
            files.push(path.clone());
        } else {
            eprintln!("rg: {}: No such file or directory (os error 2)", show(path));
            trouble = true;
        }
    }
    // The implied directory is not in the names.
    let shown = |path: &[u8]| path.strip_prefix(b"./").filter(|_| paths[0] == b"./").unwrap_or(path).to_vec();
    if list_only {
        let mut out = Output::new("rg", 2);
        for file in &files {
            out.put(&shown(file));
            out.put(b"\n");
        }
        return Ok(i32::from(files.is_empty()));
    }
    let matcher = Matcher::new(&config).map_err(|message| format!("regex parse error:\n{message}"))?;
    let hide_zero = config.count;
    config.stdin_label = b"<stdin>".to_vec();
    let mut search = Search { matcher, config, matched: false, trouble, hide_zero };
    Ok(search.each(files.into_iter().map(|file| {
        let name = if file == b"-" { b"<stdin>".to_vec() } else { shown(&file) };
        (file, name)
    })))
}

impl Rules {
    fn wanted(&self, name: &[u8], path: &[u8], is_dir: bool) -> bool {
        let base = |pattern: &[u8]| glob::matches(pattern, name, glob::Options::default());
        let matches = |pattern: &[u8]| {
            base(pattern)
                || pattern.contains(&b'/')
                    && glob::matches(
                        &[b"*", pattern.strip_prefix(b"/").unwrap_or(pattern)].concat(),
                        path,
                        glob::Options::default(),
                    )
        };
        if self
            .globs
            .iter()
            .any(|(exclude, pattern)| *exclude && matches(pattern.strip_suffix(b"/").unwrap_or(pattern)))
        {
            return false;
        }
        if is_dir {
            return true;
        }
        let mut included = self.globs.iter().filter(|(exclude, _)| !exclude).peekable();
        if included.peek().is_some() && !included.any(|(_, pattern)| matches(pattern)) {
            return false;
        }
        let has_type = |types: &[&'static [&'static str]]| {
            types.iter().any(|globs| globs.iter().any(|glob| base(glob.as_bytes())))
        };
        (self.types.is_empty() || has_type(&self.types)) && !has_type(&self.not_types)
    }

    fn walk(&self, root: &[u8], files: &mut Vec<Vec<u8>>) {
        // A directory with the ignore rules that hold in it.
        let mut pending: Vec<(Vec<u8>, usize, std::rc::Rc<Vec<Ignore>>)> =
            vec![(root.to_vec(), 0, std::rc::Rc::default())];
        while let Some((path, depth, ignores)) = pending.pop() {
            let is_dir = platform::stat(&path, self.follow || depth == 0).is_ok_and(|info| info.is_dir());
            if !is_dir {
                files.push(path);
                continue;
            }
            if self.depth.is_some_and(|most| depth >= most) {
                continue;
            }
            let mut ignores = ignores;
            if !self.no_ignore {
                for file in [&b".gitignore"[..], b".ignore", b".rgignore"] {
                    if let Ok(text) = input::read(&join(&path, file)) {
                        std::rc::Rc::make_mut(&mut ignores).extend(parse_ignore(&text, &path));
                    }
                }
            }
            let mut names = platform::list(&path).unwrap_or_default();
            names.sort_unstable_by(|a, b| b.cmp(a));
            for name in names {
                let child = join(&path, &name);
                let Ok(info) = platform::stat(&child, self.follow) else { continue };
                let hidden = name.starts_with(b".") && !self.hidden;
                let ignored = !self.no_ignore
                    && ignores
                        .iter()
                        .rev()
                        .find(|rule| rule.matches(&child, &name, info.is_dir()))
                        .is_some_and(|rule| !rule.negated);
                let special = !info.is_dir() && !info.is_file();
                if !hidden && !ignored && !special && self.wanted(&name, &child, info.is_dir()) {
                    pending.push((child, depth + 1, ignores.clone()));
                }
            }
        }
    }
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    [directory.strip_suffix(b"/").unwrap_or(directory), b"/", name].concat()
}

/// A line of a `.gitignore`.
#[derive(Clone)]
struct Ignore {
    base: Vec<u8>,
    pattern: Vec<u8>,
    negated: bool,
    anchored: bool,
    directory_only: bool,
}

impl Ignore {
    fn matches(&self, path: &[u8], name: &[u8], is_dir: bool) -> bool {
        if self.directory_only && !is_dir {
            return false;
        }
        let options = glob::Options {
            keep_slash: !self.pattern.windows(2).any(|pair| pair == b"**"),
            ..glob::Options::default()
        };
        if !self.anchored {
            return glob::matches(&self.pattern, name, options);
        }
        let below = path.strip_prefix(self.base.as_slice()).map(|rest| rest.strip_prefix(b"/").unwrap_or(rest));
        below.is_some_and(|rest| glob::matches(&self.pattern, rest, options))
    }
}

fn parse_ignore(text: &[u8], directory: &[u8]) -> Vec<Ignore> {
    let mut rules = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii_end();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let negated = line.starts_with(b"!");
        let line = line.strip_prefix(b"!").unwrap_or(line);
        let directory_only = line.ends_with(b"/");
        let line = line.strip_suffix(b"/").unwrap_or(line);
        let anchored = line.contains(&b'/');
        let pattern = line.strip_prefix(b"**/").unwrap_or(line.strip_prefix(b"/").unwrap_or(line)).to_vec();
        let anchored = anchored && !(line.starts_with(b"**/") && !pattern.contains(&b'/'));
        let base = directory.strip_suffix(b"/").unwrap_or(directory).to_vec();
        rules.push(Ignore { base, pattern, negated, anchored, directory_only });
    }
    rules
}
