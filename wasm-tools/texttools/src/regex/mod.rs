//! POSIX regular expressions with the GNU extensions, over bytes in the C.UTF-8 locale.
//!
//! A pattern is parsed into a small tree ([`parse`]) and handed to `regex-automata`. That library matches
//! leftmost-first (as Perl does), POSIX wants leftmost-longest: the place where a match begins is the same for both,
//! so a pattern where the two can differ is searched once for the beginning and then, anchored there, with
//! match-all semantics for the longest end. Back-references go to a bounded backtracking matcher ([`backtrack`]).
//!
//! ```text
//! echo abcd | sed -E 's/a|ab/X/'      Xcd, not Xbcd
//! ```

mod backtrack;
mod parse;

use std::cell::{OnceCell, RefCell};

use regex_automata::hybrid::dfa as lazy;
use regex_automata::nfa::thompson::{self, pikevm::PikeVM};
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input, MatchKind, meta};
use regex_syntax::hir::Hir;

pub use parse::Dialect;

/// Bytes one compiled automaton may take; GNU says "Regular expression too big" at a similar place.
const SIZE_LIMIT: usize = 32 << 20;

/// How a pattern is read.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Which program's escapes and corner cases hold.
    pub dialect: Dialect,
    /// Extended (`a|b`, `(a)`) instead of basic syntax.
    pub extended: bool,
    /// Upper and lower case are equal.
    pub ignore_case: bool,
    /// `^` and `$` also match at newlines inside the text (sed's `M` flag).
    pub multi_line: bool,
    /// `.` and `[^…]` do not match a newline: for searching a buffer of many lines at once.
    pub line_bound: bool,
}

impl Options {
    /// The defaults of a dialect: case matters, one line.
    pub fn new(dialect: Dialect, extended: bool) -> Self {
        Self { dialect, extended, ignore_case: false, multi_line: false, line_bound: false }
    }
}

/// What a whole pattern is wrapped in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// Nothing.
    None,
    /// No word character before and after (`grep -w`).
    Word,
    /// The whole line (`grep -x`).
    Line,
}

/// A group's place in the text: start and end, or unset.
pub type Span = Option<(usize, usize)>;

/// A compiled pattern.
pub struct Regex {
    engine: Engine,
    groups: usize,
}

enum Engine {
    /// Automata; `longest` is there when leftmost-first and leftmost-longest may differ.
    Automaton {
        first: meta::Regex,
        longest: Option<Box<Longest>>,
    },
    Backtrack(backtrack::Program),
}

impl Regex {
    /// Compiles one pattern. The error is GNU's text, e.g. `Unmatched ( or \(`.
    pub fn new(pattern: &[u8], options: &Options) -> Result<Self, String> {
        Self::with_wrap(&[pattern], options, Wrap::None)
    }

    /// Compiles several patterns as alternatives. At most one of them may have back-references when there are more.
    pub fn with_wrap(patterns: &[&[u8]], options: &Options, wrap: Wrap) -> Result<Self, String> {
        let mut parsed = Vec::with_capacity(patterns.len());
        for pattern in patterns {
            parsed.push(parse::parse(pattern, options)?);
        }
        Self::from_parsed(parsed, options, wrap)
    }

    /// Compiles fixed strings as alternatives.
    pub fn literals(strings: &[&[u8]], options: &Options, wrap: Wrap) -> Result<Self, String> {
        let parsed = strings.iter().map(|text| parse::literal(text, options)).collect();
        Self::from_parsed(parsed, options, wrap)
    }

    fn from_parsed(parsed: Vec<parse::Parsed>, options: &Options, wrap: Wrap) -> Result<Self, String> {
        let whole = parse::combine(parsed, wrap, options);
        if whole.backrefs {
            let program = backtrack::Program::new(&whole)?;
            return Ok(Self { engine: Engine::Backtrack(program), groups: whole.groups });
        }
        let ambiguous = whole.root.ambiguous();
        let hir = whole.root.to_hir();
        let config = meta::Config::new()
            .utf8_empty(false)
            .nfa_size_limit(Some(SIZE_LIMIT))
            .hybrid_cache_capacity(4 << 20)
            .match_kind(MatchKind::LeftmostFirst);
        let first = meta::Builder::new()
            .configure(config)
            .build_from_hir(&hir)
            .map_err(|_| "Regular expression too big".to_string())?;
        let longest = ambiguous.then(|| Box::new(Longest::new(hir)));
        Ok(Self { engine: Engine::Automaton { first, longest }, groups: whole.groups })
    }

    /// How many groups the pattern has, without the whole match.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Whether the text has a match at or after `start`.
    pub fn is_match_at(&self, text: &[u8], start: usize) -> bool {
        match &self.engine {
            Engine::Automaton { first, .. } => first.is_match(Input::new(text).range(start..)),
            Engine::Backtrack(program) => program.search(text, start).is_some(),
        }
    }

    /// Whether the text has a match.
    pub fn is_match(&self, text: &[u8]) -> bool {
        self.is_match_at(text, 0)
    }

    /// A place inside or at the end of the first match at or after `start`: cheaper than its bounds, and enough to
    /// know its line when the pattern is line-bound.
    pub fn find_any(&self, text: &[u8], start: usize) -> Option<usize> {
        match &self.engine {
            Engine::Automaton { first, .. } => {
                first.search_half(&Input::new(text).range(start..)).map(|half| half.offset())
            }
            Engine::Backtrack(_) => self.find_at(text, start).map(|span| span.0),
        }
    }

    /// Where the leftmost-longest match at or after `start` begins and ends.
    pub fn find_at(&self, text: &[u8], start: usize) -> Span {
        if start > text.len() {
            return None;
        }
        match &self.engine {
            Engine::Automaton { first, longest } => {
                let found = first.search(&Input::new(text).range(start..))?;
                let end = match longest {
                    None => found.end(),
                    Some(longest) => longest.end(text, found.start()).unwrap_or(found.end()),
                };
                Some((found.start(), end))
            }
            Engine::Backtrack(program) => program.search(text, start)?.first().copied().flatten(),
        }
    }

    /// The groups of the leftmost-longest match at or after `start`; element 0 is the whole match.
    pub fn captures_at(&self, text: &[u8], start: usize) -> Option<Vec<Span>> {
        if start > text.len() {
            return None;
        }
        match &self.engine {
            Engine::Automaton { first, longest: None } => {
                if self.groups == 0 {
                    return self.find_at(text, start).map(|span| vec![Some(span)]);
                }
                let mut slots = vec![None; (self.groups + 1) * 2];
                first.search_slots(&Input::new(text).range(start..), &mut slots)?;
                Some(spans(&slots))
            }
            Engine::Automaton { first, longest: Some(longest) } => {
                let found = first.search(&Input::new(text).range(start..))?;
                if self.groups == 0 {
                    let end = longest.end(text, found.start()).unwrap_or(found.end());
                    return Some(vec![Some((found.start(), end))]);
                }
                longest.captures(text, found.start(), self.groups)
            }
            Engine::Backtrack(program) => program.search(text, start),
        }
    }
}

fn spans(slots: &[Option<NonMaxUsize>]) -> Vec<Span> {
    slots
        .chunks_exact(2)
        .map(|pair| match (pair[0], pair[1]) {
            (Some(start), Some(end)) => Some((start.get(), end.get())),
            _ => None,
        })
        .collect()
}

/// The second pass: the longest match that begins at a given place. Built at first use.
struct Longest {
    hir: Hir,
    vm: OnceCell<Option<(PikeVM, RefCell<thompson::pikevm::Cache>)>>,
    dfa: OnceCell<Option<(lazy::DFA, RefCell<lazy::Cache>)>>,
}

impl Longest {
    fn new(hir: Hir) -> Self {
        Self { hir, vm: OnceCell::new(), dfa: OnceCell::new() }
    }

    fn nfa(&self) -> Option<thompson::NFA> {
        let config = thompson::Config::new().utf8(false).nfa_size_limit(Some(SIZE_LIMIT));
        thompson::Compiler::new().configure(config).build_from_hir(&self.hir).ok()
    }

    fn dfa(&self) -> Option<&(lazy::DFA, RefCell<lazy::Cache>)> {
        self.dfa
            .get_or_init(|| {
                let config = lazy::Config::new()
                    .match_kind(MatchKind::All)
                    .unicode_word_boundary(true)
                    .skip_cache_capacity_check(true)
                    .cache_capacity(2 << 20);
                let dfa = lazy::Builder::new().configure(config).build_from_nfa(self.nfa()?).ok()?;
                let cache = RefCell::new(dfa.create_cache());
                Some((dfa, cache))
            })
            .as_ref()
    }

    fn vm(&self) -> Option<&(PikeVM, RefCell<thompson::pikevm::Cache>)> {
        self.vm
            .get_or_init(|| {
                let config = thompson::pikevm::Config::new().match_kind(MatchKind::All);
                let vm = PikeVM::builder().configure(config).build_from_nfa(self.nfa()?).ok()?;
                let cache = RefCell::new(vm.create_cache());
                Some((vm, cache))
            })
            .as_ref()
    }

    fn input<'t>(text: &'t [u8], start: usize) -> Input<'t> {
        Input::new(text).range(start..).anchored(Anchored::Yes)
    }

    fn end(&self, text: &[u8], start: usize) -> Option<usize> {
        let input = Self::input(text, start);
        if let Some((dfa, cache)) = self.dfa()
            && let Ok(found) = dfa.try_search_fwd(&mut cache.borrow_mut(), &input)
        {
            return found.map(|half| half.offset());
        }
        self.captures(text, start, 0)?.first().copied().flatten().map(|span| span.1)
    }

    fn captures(&self, text: &[u8], start: usize, groups: usize) -> Option<Vec<Span>> {
        let (vm, cache) = self.vm()?;
        let mut slots = vec![None; (groups + 1) * 2];
        vm.search_slots(&mut cache.borrow_mut(), &Self::input(text, start), &mut slots)?;
        Some(spans(&slots))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: &str, text: &str, extended: bool) -> Option<Vec<Span>> {
        let options = Options::new(Dialect::Sed, extended);
        Regex::new(pattern.as_bytes(), &options).unwrap().captures_at(text.as_bytes(), 0)
    }

    fn whole(pattern: &str, text: &str) -> Span {
        find(pattern, text, true).and_then(|groups| groups[0])
    }

    #[test]
    fn leftmost_longest() {
        assert_eq!(whole("a|ab", "xabcd"), Some((1, 3)));
        assert_eq!(whole("(a?)(ab)?", "ab"), Some((0, 2)));
        assert_eq!(whole("x*|b", "b"), Some((0, 1)));
        assert_eq!(whole("(foo|foobar)(bar)?", "foobarbar"), Some((0, 9)));
    }

    #[test]
    fn groups_and_backrefs() {
        assert_eq!(find(r"\(a\)\(b\)*", "ab", false), Some(vec![Some((0, 2)), Some((0, 1)), Some((1, 2))]));
        assert_eq!(find(r"(a*)b\1", "aabaa", true), Some(vec![Some((0, 5)), Some((0, 2))]));
        assert_eq!(find(r"\(.\)\1", "abccd", false), Some(vec![Some((2, 4)), Some((2, 3))]));
    }

    #[test]
    fn basic_syntax_corners() {
        assert_eq!(find("*a", "x*a", false).unwrap()[0], Some((1, 3)));
        assert_eq!(find(r"a\{2,3\}", "aaaa", false).unwrap()[0], Some((0, 3)));
        assert_eq!(find("a^b$c", "a^b$c", false).unwrap()[0], Some((0, 5)));
        assert_eq!(find(r"[]x-]*", "]-xy", false).unwrap()[0], Some((0, 3)));
        assert_eq!(find(r"\bword\>", "a word.", false).unwrap()[0], Some((2, 6)));
    }

    #[test]
    fn errors_are_gnu_texts() {
        let options = Options::new(Dialect::Grep, false);
        let error = |pattern: &str| Regex::new(pattern.as_bytes(), &options).err().unwrap();
        assert_eq!(error("\\(a"), "Unmatched ( or \\(");
        assert_eq!(error("[a"), "Unmatched [, [^, [:, [., or [=");
        assert_eq!(error("a\\"), "Trailing backslash");
        assert_eq!(error("\\(a\\)\\2"), "Invalid back reference");
    }
}
