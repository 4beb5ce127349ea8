//! A search's patterns, compiled.

use regex_automata::{Input, meta};
use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::options::{Config, Syntax};
use crate::regex::{Dialect, Options, Regex, Wrap};

/// Bytes one compiled automaton may take.
const SIZE_LIMIT: usize = 64 << 20;

/// Compiled patterns.
pub struct Matcher {
    engines: Vec<Engine>,
    /// Whether a buffer of many lines can be searched at once.
    pub whole_buffer: bool,
}

enum Engine {
    Posix(Regex),
    Perl(meta::Regex),
    /// Look-around and back-references in Perl's syntax; only for text that is UTF-8.
    Fancy(Box<fancy_regex::Regex>),
}

impl Matcher {
    /// Compiles. The error is the message without the program's name.
    pub fn new(config: &Config) -> Result<Self, String> {
        match config.syntax {
            Syntax::Perl | Syntax::Rust => Self::perl(config),
            _ => Self::posix(config),
        }
    }

    fn posix(config: &Config) -> Result<Self, String> {
        let options = Options {
            ignore_case: config.ignore_case,
            line_bound: !config.null_data,
            ..Options::new(Dialect::Grep, config.syntax == Syntax::Extended)
        };
        let wrap = match (config.lines, config.words) {
            (true, _) => Wrap::Line,
            (false, true) => Wrap::Word,
            (false, false) => Wrap::None,
        };
        let patterns: Vec<&[u8]> = config.patterns.iter().map(Vec::as_slice).collect();
        if config.syntax == Syntax::Fixed {
            let regex = Regex::literals(&patterns, &options, wrap)?;
            return Ok(Self { engines: vec![Engine::Posix(regex)], whole_buffer: !config.null_data });
        }
        let (with_backrefs, plain): (Vec<&[u8]>, Vec<&[u8]>) = patterns.iter().partition(|text| has_backref(text));
        let mut engines = Vec::new();
        if !plain.is_empty() || with_backrefs.is_empty() {
            engines.push(Engine::Posix(Regex::with_wrap(&plain, &options, wrap)?));
        }
        for pattern in &with_backrefs {
            engines.push(Engine::Posix(Regex::with_wrap(&[pattern], &options, wrap)?));
        }
        Ok(Self { engines, whole_buffer: with_backrefs.is_empty() && !config.null_data })
    }

    fn perl(config: &Config) -> Result<Self, String> {
        let mut engines = Vec::new();
        let mut whole_buffer = !config.null_data;
        for pattern in &config.patterns {
            let mut pattern = String::from_utf8(pattern.clone()).map_err(|_| "pattern is not UTF-8".to_string())?;
            if config.syntax == Syntax::Perl {
                pattern = ascii_classes(&pattern);
            }
            if config.lines {
                pattern = format!("^(?:{pattern})$");
            } else if config.words {
                pattern = format!(r"(?:\b{{start-half}})(?:{pattern})(?:\b{{end-half}})");
            }
            match compile_perl(&pattern, config) {
                Ok((regex, line_bound)) => {
                    whole_buffer &= line_bound;
                    engines.push(Engine::Perl(regex));
                }
                Err(message) if config.syntax == Syntax::Rust => return Err(message),
                Err(_) => {
                    let pattern = pattern
                        .replace(r"\b{start-half}", r"?<!\w")
                        .replace(r"\b{end-half}", r"?!\w")
                        .replace(r"(?:?", "(?");
                    let regex = fancy_regex::RegexBuilder::new(&pattern)
                        .case_insensitive(config.ignore_case)
                        .backtrack_limit(5_000_000)
                        .build()
                        .map_err(|error| error.to_string().lines().last().unwrap_or_default().to_string())?;
                    engines.push(Engine::Fancy(Box::new(regex)));
                    whole_buffer = false;
                }
            }
        }
        Ok(Self { engines, whole_buffer })
    }

    /// The leftmost, then longest match at or after `start`.
    pub fn find_at(&self, text: &[u8], start: usize) -> Option<(usize, usize)> {
        let better = |a: (usize, usize), b: (usize, usize)| if b.0 < a.0 || b.0 == a.0 && b.1 > a.1 { b } else { a };
        self.engines.iter().filter_map(|engine| engine.find_at(text, start)).reduce(better)
    }

    /// Where the first match at or after `start` begins, perhaps later in the same line: for choosing lines.
    pub fn find_line(&self, text: &[u8], start: usize) -> Option<usize> {
        self.engines.iter().filter_map(|engine| engine.find_start(text, start)).min()
    }
}

impl Engine {
    fn find_at(&self, text: &[u8], start: usize) -> Option<(usize, usize)> {
        match self {
            Engine::Posix(regex) => regex.find_at(text, start),
            Engine::Perl(regex) => regex.search(&Input::new(text).range(start..)).map(|m| (m.start(), m.end())),
            Engine::Fancy(regex) => {
                let text = std::str::from_utf8(text).ok()?;
                // An exceeded limit counts as no match.
                let found = regex.find_from_pos(text, start).ok()??;
                Some((found.start(), found.end()))
            }
        }
    }

    fn find_start(&self, text: &[u8], start: usize) -> Option<usize> {
        match self {
            Engine::Posix(regex) => regex.find_any(text, start),
            Engine::Perl(regex) => regex.search_half(&Input::new(text).range(start..)).map(|half| half.offset()),
            Engine::Fancy(_) => self.find_at(text, start).map(|span| span.0),
        }
    }
}

/// Compiles Perl's syntax; also tells whether no match can reach from one line into the next.
fn compile_perl(pattern: &str, config: &Config) -> Result<(meta::Regex, bool), String> {
    let hir = regex_syntax::ParserBuilder::new()
        .case_insensitive(config.ignore_case)
        .multi_line(!config.null_data)
        .utf8(false)
        .build()
        .parse(pattern)
        .map_err(|error| error.to_string())?;
    let settings =
        meta::Config::new().utf8_empty(false).nfa_size_limit(Some(SIZE_LIMIT)).hybrid_cache_capacity(4 << 20);
    let regex = meta::Builder::new().configure(settings).build_from_hir(&hir).map_err(|error| error.to_string())?;
    Ok((regex, line_bound(&hir)))
}

/// `\w`, `\d` and `\s` for ASCII only, as in PCRE unless a pattern asks for more; a class may stand within a class.
fn ascii_classes(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('w') => out.push_str("[0-9A-Za-z_]"),
            Some('W') => out.push_str("[^0-9A-Za-z_]"),
            Some('d') => out.push_str("[0-9]"),
            Some('D') => out.push_str("[^0-9]"),
            Some('s') => out.push_str(r"[ \t-\r]"),
            Some('S') => out.push_str(r"[^ \t-\r]"),
            Some('Q') => {
                // What is quoted up to `\E` stands for itself.
                let rest = chars.as_str();
                let (quoted, after) = rest.split_once(r"\E").unwrap_or((rest, ""));
                out.push_str(&regex_syntax::escape(quoted));
                chars = after.chars();
            }
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

fn line_bound(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(literal) => !literal.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(class)) => !class.ranges().iter().any(|r| r.start() <= '\n' && '\n' <= r.end()),
        HirKind::Class(Class::Bytes(class)) => !class.ranges().iter().any(|r| r.start() <= b'\n' && b'\n' <= r.end()),
        HirKind::Look(look) => !matches!(look, Look::Start | Look::End),
        HirKind::Repetition(repetition) => line_bound(&repetition.sub),
        HirKind::Capture(capture) => line_bound(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(line_bound),
        HirKind::Empty => true,
    }
}

fn has_backref(pattern: &[u8]) -> bool {
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        if *byte == b'\\' && bytes.next().is_some_and(|next| matches!(next, b'1'..=b'9')) {
            return true;
        }
    }
    false
}
