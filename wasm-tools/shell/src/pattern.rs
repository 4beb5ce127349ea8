//! Shell patterns: `*`, `?`, bracket expressions and extended patterns, over bytes read as UTF-8.
//!
//! A pattern's quoted characters are preceded by a backslash.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    items: Vec<Item>,
    fold: bool,
}

#[derive(Debug, Clone)]
enum Item {
    Char(u32),
    Any,
    Star,
    Class(Box<Class>),
    /// `?( *( +( @( !(` and the alternatives.
    Ext(u8, Vec<Vec<Item>>),
}

#[derive(Debug, Clone, Default)]
struct Class {
    negated: bool,
    ranges: Vec<(u32, u32)>,
    named: Vec<Named>,
}

#[derive(Debug, Clone, Copy)]
enum Named {
    Alnum,
    Alpha,
    Ascii,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Word,
    Xdigit,
}

/// Bytes that are not UTF-8 become code points above Unicode, so that they match only themselves.
const RAW: u32 = 0x20_0000;

/// In the C locale each byte is a character.
static BYTES: AtomicBool = AtomicBool::new(false);

/// Switches between the C locale and C.UTF-8.
pub fn set_byte_locale(on: bool) {
    BYTES.store(on, Ordering::Relaxed);
}

/// Whether the C locale is in force.
pub fn byte_locale() -> bool {
    BYTES.load(Ordering::Relaxed)
}

/// Decodes the character at the beginning of the text: its code point and its length.
pub fn decode(text: &[u8]) -> (u32, usize) {
    let b0 = text[0];
    if b0 < 0x80 {
        return (u32::from(b0), 1);
    }
    if BYTES.load(Ordering::Relaxed) {
        return (RAW + u32::from(b0), 1);
    }
    let length = match b0 {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return (RAW + u32::from(b0), 1),
    };
    if let Some(bytes) = text.get(..length)
        && let Ok(s) = std::str::from_utf8(bytes)
        && let Some(c) = s.chars().next()
    {
        return (c as u32, length);
    }
    (RAW + u32::from(b0), 1)
}

/// Number of characters.
pub fn char_count(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    let mut n = 0;
    let mut i = 0;
    while i < text.len() {
        i += decode(&text[i..]).1;
        n += 1;
    }
    n
}

/// The byte offset of character `n`, or the length when there are fewer.
pub fn char_offset(text: &[u8], n: usize) -> usize {
    if text.is_ascii() {
        return n.min(text.len());
    }
    let mut i = 0;
    for _ in 0..n {
        if i >= text.len() {
            break;
        }
        i += decode(&text[i..]).1;
    }
    i
}

fn char_at(c: u32) -> Option<char> {
    char::from_u32(c)
}

fn fold_case(c: u32) -> u32 {
    match char_at(c) {
        Some(ch) => {
            let mut lower = ch.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(l), None) => l as u32,
                _ => c,
            }
        }
        None => c,
    }
}

impl Named {
    fn parse(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"alnum" => Self::Alnum,
            b"alpha" => Self::Alpha,
            b"ascii" => Self::Ascii,
            b"blank" => Self::Blank,
            b"cntrl" => Self::Cntrl,
            b"digit" => Self::Digit,
            b"graph" => Self::Graph,
            b"lower" => Self::Lower,
            b"print" => Self::Print,
            b"punct" => Self::Punct,
            b"space" => Self::Space,
            b"upper" => Self::Upper,
            b"word" => Self::Word,
            b"xdigit" => Self::Xdigit,
            _ => return None,
        })
    }

    fn matches(self, c: u32) -> bool {
        let Some(ch) = char_at(c) else { return false };
        match self {
            Self::Alnum => ch.is_ascii_digit() || is_alpha(ch),
            Self::Alpha => is_alpha(ch),
            Self::Ascii => ch.is_ascii(),
            Self::Blank => ch == '\t' || is_space(ch) && !matches!(c, 0x0a..=0x0d | 0x2028 | 0x2029),
            Self::Cntrl => is_control(ch),
            Self::Digit => ch.is_ascii_digit(),
            Self::Graph => !is_space(ch) && !is_control(ch),
            Self::Lower => ch.is_lowercase() || ch.to_uppercase().next() != Some(ch),
            Self::Print => !is_control(ch),
            Self::Punct => !ch.is_ascii_digit() && !is_alpha(ch) && !is_space(ch) && !is_control(ch),
            Self::Space => is_space(ch),
            Self::Upper => ch.is_uppercase() || ch.to_lowercase().next() != Some(ch),
            Self::Word => ch == '_' || ch.is_ascii_digit() || is_alpha(ch),
            Self::Xdigit => ch.is_ascii_hexdigit(),
        }
    }
}

/// Where the decimal digits of other scripts begin; the C library counts them as letters.
#[rustfmt::skip]
const DIGITS: [u32; 61] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20,
    0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0,
    0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0,
    0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0,
    0x16b50, 0x1d7ce, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// Five alphabets of digits follow each other there.
const MATHEMATICAL_DIGITS: std::ops::RangeInclusive<u32> = 0x1d7ce..=0x1d7ff;

fn is_alpha(ch: char) -> bool {
    let c = u32::from(ch);
    ch.is_alphabetic()
        || c > 0x7f
            && (MATHEMATICAL_DIGITS.contains(&c)
                || DIGITS[..DIGITS.partition_point(|&first| first <= c)]
                    .last()
                    .is_some_and(|&first| c < first + 10))
}

/// White space; spaces that do not break lines are none.
fn is_space(ch: char) -> bool {
    ch.is_whitespace() && !matches!(ch, '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}')
}

fn is_control(ch: char) -> bool {
    ch.is_control() || matches!(ch, '\u{2028}' | '\u{2029}')
}

impl Class {
    fn matches(&self, c: u32, fold: bool) -> bool {
        let hit =
            |c: u32| self.ranges.iter().any(|&(a, b)| a <= c && c <= b) || self.named.iter().any(|n| n.matches(c));
        let mut found = hit(c);
        if !found && fold {
            found = hit(fold_case(c))
                || char_at(c).is_some_and(|ch| ch.to_uppercase().next().is_some_and(|u| hit(u as u32)));
        }
        found != self.negated
    }
}

struct Compiler<'a> {
    text: &'a [u8],
    pos: usize,
    extglob: bool,
    depth: u32,
    /// Places of extended patterns found not to close, so that none is tried twice.
    unclosed: Vec<usize>,
}

impl Compiler<'_> {
    /// Items up to the end, or up to `|` or `)` inside an extended pattern.
    fn sequence(&mut self, nested: bool) -> Option<Vec<Item>> {
        let mut items = Vec::new();
        while let Some(&c) = self.text.get(self.pos) {
            match c {
                b'|' | b')' if nested => return Some(items),
                b'?' | b'*' | b'+' | b'@' | b'!'
                    if self.extglob
                        && self.text.get(self.pos + 1) == Some(&b'(')
                        && self.depth < 50
                        && !self.unclosed.contains(&self.pos) =>
                {
                    let start = self.pos;
                    self.pos += 2;
                    match self.alternatives() {
                        Some(alternatives) => items.push(Item::Ext(c, alternatives)),
                        None => {
                            // Not closed: plain characters.
                            self.unclosed.push(start);
                            self.pos = start + 1;
                            match c {
                                b'*' => items.push(Item::Star),
                                b'?' => items.push(Item::Any),
                                _ => items.push(Item::Char(u32::from(c))),
                            }
                        }
                    }
                }
                b'*' => {
                    self.pos += 1;
                    if !matches!(items.last(), Some(Item::Star)) {
                        items.push(Item::Star);
                    }
                }
                b'?' => {
                    self.pos += 1;
                    items.push(Item::Any);
                }
                b'[' => {
                    let start = self.pos;
                    match self.bracket() {
                        Some(class) => items.push(Item::Class(Box::new(class))),
                        None => {
                            self.pos = start + 1;
                            items.push(Item::Char(u32::from(b'[')));
                        }
                    }
                }
                b'\\' if self.pos + 1 < self.text.len() => {
                    self.pos += 1;
                    let (c, n) = decode(&self.text[self.pos..]);
                    self.pos += n;
                    items.push(Item::Char(c));
                }
                _ => {
                    let (c, n) = decode(&self.text[self.pos..]);
                    self.pos += n;
                    items.push(Item::Char(c));
                }
            }
        }
        if nested { None } else { Some(items) }
    }

    fn alternatives(&mut self) -> Option<Vec<Vec<Item>>> {
        self.depth += 1;
        let mut all = Vec::new();
        let result = loop {
            let Some(items) = self.sequence(true) else { break None };
            all.push(items);
            match self.text.get(self.pos) {
                Some(b'|') => self.pos += 1,
                Some(b')') => {
                    self.pos += 1;
                    break Some(all);
                }
                _ => break None,
            }
        };
        self.depth -= 1;
        result
    }

    fn bracket(&mut self) -> Option<Class> {
        self.pos += 1;
        let mut class = Class::default();
        if matches!(self.text.get(self.pos), Some(b'!' | b'^')) {
            class.negated = true;
            self.pos += 1;
        }
        let mut first = true;
        loop {
            let c = *self.text.get(self.pos)?;
            if c == b']' && !first {
                self.pos += 1;
                return Some(class);
            }
            first = false;
            if c == b'[' && matches!(self.text.get(self.pos + 1), Some(b':')) {
                let rest = &self.text[self.pos + 2..];
                if let Some(end) = rest.windows(2).position(|w| w == b":]") {
                    if let Some(named) = Named::parse(&rest[..end]) {
                        class.named.push(named);
                        self.pos += end + 4;
                        continue;
                    }
                    // An unknown class matches nothing.
                    self.pos += end + 4;
                    continue;
                }
            }
            let low = self.class_char()?;
            if self.text.get(self.pos) == Some(&b'-') && !matches!(self.text.get(self.pos + 1), None | Some(b']')) {
                self.pos += 1;
                let high = self.class_char()?;
                class.ranges.push((low, high));
            } else {
                class.ranges.push((low, low));
            }
        }
    }

    fn class_char(&mut self) -> Option<u32> {
        let c = *self.text.get(self.pos)?;
        if c == b'['
            && let Some(&kind @ (b'.' | b'=')) = self.text.get(self.pos + 1)
        {
            let rest = &self.text[self.pos + 2..];
            if let Some(end) = rest.windows(2).position(|w| w == [kind, b']'])
                && end > 0
            {
                let (c, n) = decode(rest);
                if n == end {
                    self.pos += end + 4;
                    return Some(c);
                }
            }
        }
        if c == b'\\' && self.pos + 1 < self.text.len() {
            self.pos += 1;
        }
        let (c, n) = decode(&self.text[self.pos..]);
        self.pos += n;
        Some(c)
    }
}

impl Pattern {
    /// Compiles a pattern; `fold` ignores case.
    pub fn new(text: &[u8], extglob: bool, fold: bool) -> Self {
        let mut compiler = Compiler {
            text,
            pos: 0,
            extglob,
            depth: 0,
            unclosed: Vec::new(),
        };
        let items = compiler.sequence(false).unwrap_or_default();
        Self { items, fold }
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &[u8]) -> bool {
        let mut budget = Budget::new();
        match_items(&self.items, text, self.fold, &mut budget, &mut |rest| rest.is_empty())
    }

    /// The length of the shortest or longest prefix that matches.
    pub fn prefix(&self, text: &[u8], longest: bool) -> Option<usize> {
        let mut best = None;
        let mut budget = Budget::new();
        if longest {
            // A trailing star takes everything: try from the end first.
            match_items(&self.items, text, self.fold, &mut budget, &mut |rest| {
                let length = text.len() - rest.len();
                if best.is_none_or(|b| length > b) {
                    best = Some(length);
                }
                rest.is_empty()
            });
        } else {
            match_items(&self.items, text, self.fold, &mut budget, &mut |rest| {
                let length = text.len() - rest.len();
                if best.is_none_or(|b| length < b) {
                    best = Some(length);
                }
                length == 0
            });
        }
        best
    }

    /// Where the shortest or longest matching suffix begins.
    pub fn suffix(&self, text: &[u8], longest: bool) -> Option<usize> {
        if text.is_ascii() {
            // Every place is a character's; where the pattern begins with a character, few are worth a try.
            let first = match self.items.first() {
                Some(&Item::Char(c)) if !self.fold => Some(c),
                _ => None,
            };
            let found = |&i: &usize| {
                first.is_none_or(|c| text.get(i).is_some_and(|&b| u32::from(b) == c)) && self.matches(&text[i..])
            };
            return if longest {
                (0..=text.len()).find(found)
            } else {
                (0..=text.len()).rev().find(found)
            };
        }
        let mut starts = Vec::with_capacity(text.len() + 1);
        let mut i = 0;
        while i < text.len() {
            starts.push(i);
            i += decode(&text[i..]).1;
        }
        starts.push(text.len());
        let found = |&i: &usize| self.matches(&text[i..]);
        if longest {
            starts.into_iter().find(found)
        } else {
            starts.into_iter().rev().find(found)
        }
    }

    /// The plain text this pattern is, when it has no special characters.
    pub fn plain(&self) -> Option<Vec<u8>> {
        if self.fold {
            return None;
        }
        let mut out = Vec::with_capacity(self.items.len());
        for item in &self.items {
            match item {
                Item::Char(c) if *c < 0x80 => out.push(*c as u8),
                Item::Char(c) if *c >= RAW => out.push((c - RAW) as u8),
                Item::Char(c) => {
                    let ch = char_at(*c)?;
                    out.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => return None,
            }
        }
        Some(out)
    }
}

/// Patterns compiled lately: loops match the same ones again and again.
#[derive(Default)]
pub struct Cache(Vec<Option<Cached>>);

struct Cached {
    text: Vec<u8>,
    /// Extended patterns, case, and the locale.
    flags: [bool; 3],
    pattern: Rc<Pattern>,
}

impl Cache {
    const SIZE: usize = 64;

    /// The compiled pattern.
    pub fn get(&mut self, text: &[u8], extglob: bool, fold: bool) -> Rc<Pattern> {
        let flags = [extglob, fold, BYTES.load(Ordering::Relaxed)];
        let hash = text
            .iter()
            .fold(text.len(), |h, &c| h.wrapping_mul(31).wrapping_add(usize::from(c)));
        if self.0.is_empty() {
            self.0.resize_with(Self::SIZE, || None);
        }
        let slot = &mut self.0[hash % Self::SIZE];
        if let Some(cached) = slot
            && cached.text == text
            && cached.flags == flags
        {
            return cached.pattern.clone();
        }
        let pattern = Rc::new(Pattern::new(text, extglob, fold));
        // Long ones are seldom seen twice.
        if text.len() <= 256 {
            *slot = Some(Cached {
                text: text.to_vec(),
                flags,
                pattern: pattern.clone(),
            });
        }
        pattern
    }
}

/// Bounds the work and the recursion of one match, so that a hostile pattern ends.
struct Budget {
    steps: u64,
    depth: u32,
}

impl Budget {
    fn new() -> Self {
        Self {
            steps: 20_000_000,
            depth: 0,
        }
    }
}

/// Matches the items against a prefix of the text and asks `accept` about each rest; `true` stops the search.
fn match_items(
    items: &[Item],
    text: &[u8],
    fold: bool,
    budget: &mut Budget,
    accept: &mut dyn FnMut(&[u8]) -> bool,
) -> bool {
    let mut items = items;
    let mut text = text;
    // The last star, to come back to without recursion.
    let mut star: Option<(&[Item], &[u8])> = None;
    loop {
        if budget.steps == 0 {
            return false;
        }
        budget.steps -= 1;
        let ok = match items.first() {
            None => {
                if accept(text) {
                    return true;
                }
                false
            }
            Some(Item::Star) => {
                items = &items[1..];
                // At the end it can take everything; that is one of the ways, and often the one wanted.
                if items.is_empty() && accept(&text[text.len()..]) {
                    return true;
                }
                star = Some((items, text));
                continue;
            }
            Some(Item::Ext(op, alternatives)) => {
                if budget.depth > 200 {
                    return false;
                }
                budget.depth += 1;
                let done = match_ext(*op, alternatives, &items[1..], text, fold, budget, accept);
                budget.depth -= 1;
                if done {
                    return true;
                }
                false
            }
            Some(item) => {
                if text.is_empty() {
                    false
                } else {
                    let (c, n) = decode(text);
                    let hit = match item {
                        Item::Char(want) => *want == c || fold && fold_case(*want) == fold_case(c),
                        Item::Any => true,
                        Item::Class(class) => class.matches(c, fold),
                        _ => false,
                    };
                    if hit {
                        items = &items[1..];
                        text = &text[n..];
                    }
                    hit
                }
            }
        };
        if ok {
            continue;
        }
        // Let the last star take one character more.
        let Some((rest, from)) = star else { return false };
        if from.is_empty() {
            return false;
        }
        let n = decode(from).1;
        star = Some((rest, &from[n..]));
        items = rest;
        text = &from[n..];
    }
}

#[allow(clippy::too_many_arguments)]
fn match_ext(
    op: u8,
    alternatives: &[Vec<Item>],
    rest: &[Item],
    text: &[u8],
    fold: bool,
    budget: &mut Budget,
    accept: &mut dyn FnMut(&[u8]) -> bool,
) -> bool {
    if budget.depth > 200 {
        return false;
    }
    match op {
        b'?' | b'@' => {
            if op == b'?' && match_items(rest, text, fold, budget, accept) {
                return true;
            }
            for alternative in alternatives {
                let mut ends = Vec::new();
                all_ends(alternative, text, fold, budget, &mut ends);
                for end in ends {
                    if match_items(rest, &text[end..], fold, budget, accept) {
                        return true;
                    }
                }
            }
            false
        }
        b'*' | b'+' => {
            // Every position that repetitions can reach, breadth first.
            let mut reached = vec![false; text.len() + 1];
            let mut queue = Vec::new();
            if op == b'*' {
                reached[0] = true;
            }
            let mut pending = vec![0usize];
            let mut expanded = vec![false; text.len() + 1];
            while let Some(at) = pending.pop() {
                if std::mem::replace(&mut expanded[at], true) {
                    continue;
                }
                for alternative in alternatives {
                    queue.clear();
                    all_ends(alternative, &text[at..], fold, budget, &mut queue);
                    for &end in &queue {
                        reached[at + end] = true;
                        pending.push(at + end);
                    }
                }
            }
            for end in (0..=text.len()).rev().filter(|&i| reached[i]) {
                if match_items(rest, &text[end..], fold, budget, accept) {
                    return true;
                }
            }
            false
        }
        _ => {
            // `!(…)`: any stretch that none of the alternatives matches as a whole.
            let mut matched = vec![false; text.len() + 1];
            for alternative in alternatives {
                let mut ends = Vec::new();
                all_ends(alternative, text, fold, budget, &mut ends);
                for end in ends {
                    matched[end] = true;
                }
            }
            let mut end = 0;
            loop {
                if !matched[end] && match_items(rest, &text[end..], fold, budget, accept) {
                    return true;
                }
                if end >= text.len() {
                    return false;
                }
                end += decode(&text[end..]).1;
            }
        }
    }
}

/// The lengths of all prefixes that match, longest first.
fn all_ends(items: &[Item], text: &[u8], fold: bool, budget: &mut Budget, ends: &mut Vec<usize>) {
    match_items(items, text, fold, budget, &mut |rest| {
        ends.push(text.len() - rest.len());
        false
    });
    ends.sort_unstable_by(|a, b| b.cmp(a));
    ends.dedup();
}

/// Whether the text has an unquoted pattern character.
pub fn has_magic(text: &[u8], extglob: bool) -> bool {
    let mut i = 0;
    let mut bracket = false;
    while i < text.len() {
        match text[i] {
            b'\\' => i += 1,
            b'*' | b'?' => return true,
            b'[' => bracket = true,
            b']' if bracket => return true,
            b'+' | b'@' | b'!' if extglob && text.get(i + 1) == Some(&b'(') => return true,
            _ => {}
        }
        i += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn m(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern.as_bytes(), true, false).matches(text.as_bytes())
    }

    #[test]
    fn basics() {
        assert!(m("*.txt", "a.txt") && !m("*.txt", "a.tx"));
        assert!(m("a?c", "abc") && m("[a-c]x", "bx") && !m("[!a-c]x", "bx"));
        assert!(m("[[:alpha:]_]*", "_x") && m("\\*", "*") && !m("\\*", "x"));
        assert!(m("[]]", "]") && m("[a]b", "ab") && m("[a", "[a"));
    }

    #[test]
    fn extended() {
        assert!(m("@(a|b)c", "bc") && m("*(ab)", "ababab") && m("*(ab)", ""));
        assert!(m("+(a|b)", "abba") && !m("+(a)", "") && m("?(a)b", "b"));
        assert!(m("!(foo)", "bar") && !m("!(foo)", "foo") && m("*.!(txt)", "a.c"));
        assert!(m("a*(b*(c|d))e", "abcdbce"));
    }

    #[test]
    fn hostile_patterns_end() {
        assert!(!m("*(*(*(a)b)c)d", &"a".repeat(40)));
    }
}
