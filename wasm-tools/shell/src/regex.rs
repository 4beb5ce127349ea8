//! POSIX extended regular expressions for `[[ =~ ]]`: leftmost, longest, with submatches.
//!
//! A bounded backtracker: each (instruction, position) is visited once, so time and memory are linear in both. Back
//! references know no such bound: with them, the search ends after so many steps.

use crate::pattern::decode;

/// A compiled expression.
pub struct Regex {
    program: Vec<Inst>,
    groups: usize,
    fold: bool,
    /// It has back references.
    refers: bool,
}

#[derive(Debug, Clone)]
enum Node {
    Empty,
    Char(u32),
    Any,
    Class {
        negated: bool,
        ranges: Vec<(u32, u32)>,
    },
    Start,
    End,
    Word(bool),
    WordEdge(u8),
    Group(usize, Box<Node>),
    /// What a group matched, again.
    Back(usize),
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
    Repeat(Box<Node>, u32, Option<u32>),
}

#[derive(Debug, Clone)]
enum Inst {
    Char(u32),
    Any,
    Class { negated: bool, ranges: Vec<(u32, u32)> },
    Start,
    End,
    WordEdge(u8),
    Back(usize),
    Save(usize),
    Split(usize, usize),
    Jump(usize),
    Match,
}

/// Programs longer than this are refused.
const MAX_PROGRAM: usize = 50_000;
/// Bits of the visited set beyond which a match is given up.
const MAX_VISITED: usize = 400_000_000;
/// Steps of a search with back references, from each start.
const MAX_STEPS: u32 = 1_000_000;
const MAX_DEPTH: u32 = 100;

struct Parser<'a> {
    text: &'a [u8],
    pos: usize,
    groups: usize,
    depth: u32,
}

impl Regex {
    /// Compiles; `None` when the expression is not valid.
    pub fn new(text: &[u8], fold: bool) -> Option<Self> {
        let mut parser = Parser {
            text,
            pos: 0,
            groups: 0,
            depth: 0,
        };
        let node = parser.alternation()?;
        if parser.pos < text.len() {
            return None;
        }
        let mut regex = Self {
            program: Vec::new(),
            groups: parser.groups,
            fold,
            refers: false,
        };
        regex.emit(&node)?;
        regex.program.push(Inst::Match);
        Some(regex)
    }

    /// The leftmost-longest match: byte ranges of the whole and of each group.
    pub fn find(&self, text: &[u8]) -> Option<Vec<Option<(usize, usize)>>> {
        let bits = self.program.len().checked_mul(text.len() + 1)?;
        if bits > MAX_VISITED {
            return None;
        }
        let mut visited = vec![0u64; bits / 64 + 1];
        let mut start = 0;
        loop {
            if let Some(slots) = self.run(text, start, &mut visited) {
                return Some(slots.chunks(2).map(|s| Some((s[0]?, s[1]?))).collect());
            }
            if start >= text.len() {
                return None;
            }
            start += decode(&text[start..]).1;
        }
    }

    fn run(&self, text: &[u8], start: usize, visited: &mut [u64]) -> Option<Vec<Option<usize>>> {
        enum Job {
            Go(usize, usize),
            Restore(usize, Option<usize>),
        }
        let mut slots: Vec<Option<usize>> = vec![None; (self.groups + 1) * 2];
        let mut best: Option<Vec<Option<usize>>> = None;
        let mut jobs = vec![Job::Go(0, start)];
        let mut steps = 0;
        while let Some(job) = jobs.pop() {
            let (mut pc, mut pos) = match job {
                Job::Restore(slot, old) => {
                    slots[slot] = old;
                    continue;
                }
                Job::Go(pc, pos) => (pc, pos),
            };
            loop {
                if self.refers {
                    steps += 1;
                    if steps > MAX_STEPS {
                        return best;
                    }
                } else {
                    let bit = pc * (text.len() + 1) + pos;
                    if visited[bit / 64] >> (bit % 64) & 1 == 1 {
                        break;
                    }
                    visited[bit / 64] |= 1 << (bit % 64);
                }
                match &self.program[pc] {
                    Inst::Match => {
                        if best.as_ref().is_none_or(|b| b[1].is_none_or(|end| pos > end)) {
                            let mut found = slots.clone();
                            found[0] = Some(start);
                            found[1] = Some(pos);
                            best = Some(found);
                        }
                        break;
                    }
                    Inst::Jump(to) => pc = *to,
                    Inst::Split(a, b) => {
                        jobs.push(Job::Go(*b, pos));
                        pc = *a;
                    }
                    Inst::Save(slot) => {
                        jobs.push(Job::Restore(*slot, slots[*slot]));
                        slots[*slot] = Some(pos);
                        pc += 1;
                    }
                    Inst::Back(group) => {
                        let (Some(from), Some(to)) = (slots[group * 2], slots[group * 2 + 1]) else {
                            break;
                        };
                        let (seen, rest) = (&text[from..to], &text[pos..]);
                        let same = match rest.get(..seen.len()) {
                            Some(again) if self.fold => again.eq_ignore_ascii_case(seen),
                            Some(again) => again == seen,
                            None => false,
                        };
                        if !same {
                            break;
                        }
                        pos += seen.len();
                        pc += 1;
                    }
                    Inst::Start => {
                        if pos != 0 {
                            break;
                        }
                        pc += 1;
                    }
                    Inst::End => {
                        if pos != text.len() {
                            break;
                        }
                        pc += 1;
                    }
                    Inst::WordEdge(kind) => {
                        let before = pos > 0 && is_word(text[pos - 1]);
                        let after = pos < text.len() && is_word(text[pos]);
                        let ok = match kind {
                            b'b' => before != after,
                            b'B' => before == after,
                            b'<' => !before && after,
                            _ => before && !after,
                        };
                        if !ok {
                            break;
                        }
                        pc += 1;
                    }
                    inst => {
                        if pos >= text.len() {
                            break;
                        }
                        let (c, n) = decode(&text[pos..]);
                        if !self.one(inst, c) {
                            break;
                        }
                        pos += n;
                        pc += 1;
                    }
                }
            }
        }
        best
    }

    fn one(&self, inst: &Inst, c: u32) -> bool {
        let try_one = |c: u32| match inst {
            Inst::Char(want) => *want == c,
            // Bytes that are no character are not any character either, but in the C locale they are.
            Inst::Any => c <= u32::from(char::MAX) || crate::pattern::byte_locale(),
            Inst::Class { negated, ranges } => ranges.iter().any(|&(a, b)| a <= c && c <= b) != *negated,
            _ => false,
        };
        if try_one(c) {
            return true;
        }
        if self.fold
            && let Some(ch) = char::from_u32(c)
        {
            return ch.to_lowercase().any(|l| try_one(l as u32)) || ch.to_uppercase().any(|u| try_one(u as u32));
        }
        false
    }

    fn emit(&mut self, node: &Node) -> Option<()> {
        if self.program.len() > MAX_PROGRAM {
            return None;
        }
        match node {
            Node::Empty => {}
            Node::Char(c) => self.program.push(Inst::Char(*c)),
            Node::Any => self.program.push(Inst::Any),
            Node::Class { negated, ranges } => {
                self.program.push(Inst::Class {
                    negated: *negated,
                    ranges: ranges.clone(),
                });
            }
            Node::Start => self.program.push(Inst::Start),
            Node::End => self.program.push(Inst::End),
            Node::Word(negated) => self.program.push(Inst::Class {
                negated: *negated,
                ranges: word_ranges(),
            }),
            Node::WordEdge(kind) => self.program.push(Inst::WordEdge(*kind)),
            Node::Back(group) => {
                self.refers = true;
                self.program.push(Inst::Back(*group));
            }
            Node::Group(n, inner) => {
                self.program.push(Inst::Save(n * 2));
                self.emit(inner)?;
                self.program.push(Inst::Save(n * 2 + 1));
            }
            Node::Concat(nodes) => {
                for node in nodes {
                    self.emit(node)?;
                }
            }
            Node::Alternate(nodes) => {
                let mut jumps = Vec::new();
                for (i, node) in nodes.iter().enumerate() {
                    if i + 1 < nodes.len() {
                        let split = self.program.len();
                        self.program.push(Inst::Match);
                        self.emit(node)?;
                        jumps.push(self.program.len());
                        self.program.push(Inst::Match);
                        let next = self.program.len();
                        self.program[split] = Inst::Split(split + 1, next);
                    } else {
                        self.emit(node)?;
                    }
                }
                let end = self.program.len();
                for jump in jumps {
                    self.program[jump] = Inst::Jump(end);
                }
            }
            Node::Repeat(inner, min, max) => {
                for _ in 0..*min {
                    self.emit(inner)?;
                }
                match max {
                    None => {
                        let split = self.program.len();
                        self.program.push(Inst::Match);
                        self.emit(inner)?;
                        self.program.push(Inst::Jump(split));
                        let next = self.program.len();
                        self.program[split] = Inst::Split(split + 1, next);
                    }
                    Some(max) => {
                        let mut splits = Vec::new();
                        for _ in *min..*max {
                            splits.push(self.program.len());
                            self.program.push(Inst::Match);
                            self.emit(inner)?;
                        }
                        let end = self.program.len();
                        for split in splits {
                            self.program[split] = Inst::Split(split + 1, end);
                        }
                    }
                }
            }
        }
        Some(())
    }
}

fn is_word(c: u8) -> bool {
    c == b'_' || c.is_ascii_alphanumeric()
}

fn word_ranges() -> Vec<(u32, u32)> {
    vec![(48, 57), (65, 90), (95, 95), (97, 122)]
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    fn alternation(&mut self) -> Option<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut branches = vec![self.branch()?];
        while self.peek() == Some(b'|') {
            self.pos += 1;
            branches.push(self.branch()?);
        }
        self.depth -= 1;
        Some(if branches.len() == 1 {
            branches.pop()?
        } else {
            Node::Alternate(branches)
        })
    }

    fn branch(&mut self) -> Option<Node> {
        let mut nodes = Vec::new();
        while let Some(c) = self.peek() {
            if c == b'|' || c == b')' && self.depth > 1 {
                break;
            }
            let atom = self.atom(c, nodes.is_empty())?;
            nodes.push(self.repeats(atom)?);
        }
        Some(if nodes.is_empty() {
            Node::Empty
        } else {
            Node::Concat(nodes)
        })
    }

    fn repeats(&mut self, mut atom: Node) -> Option<Node> {
        let mut count = 0;
        while let Some(c) = self.peek() {
            let (min, max) = match c {
                b'*' => (0, None),
                b'+' => (1, None),
                b'?' => (0, Some(1)),
                b'{' => match self.interval() {
                    Some(bounds) => {
                        self.pos -= 1;
                        bounds
                    }
                    None => return None,
                },
                _ => break,
            };
            self.pos += 1;
            count += 1;
            if count > 10 {
                return None;
            }
            atom = Node::Repeat(Box::new(atom), min, max);
        }
        Some(atom)
    }

    /// `{m}`, `{m,}`, `{m,n}`; leaves the position after it.
    fn interval(&mut self) -> Option<(u32, Option<u32>)> {
        let rest = &self.text[self.pos + 1..];
        let end = rest.iter().position(|&c| c == b'}')?;
        let inner = std::str::from_utf8(&rest[..end]).ok()?;
        let bounds = match inner.split_once(',') {
            None => {
                let n = inner.parse().ok()?;
                (n, Some(n))
            }
            Some((min, "")) => (min.parse().ok()?, None),
            Some(("", max)) => (0, Some(max.parse().ok()?)),
            Some((min, max)) => (min.parse().ok()?, Some(max.parse().ok()?)),
        };
        if bounds.0 > 32_767 || bounds.1.is_some_and(|m| m > 32_767 || m < bounds.0) {
            return None;
        }
        self.pos += end + 2;
        Some(bounds)
    }

    fn atom(&mut self, c: u8, first: bool) -> Option<Node> {
        self.pos += 1;
        Some(match c {
            b'(' => {
                self.groups += 1;
                let n = self.groups;
                let inner = self.alternation()?;
                if self.peek() != Some(b')') {
                    return None;
                }
                self.pos += 1;
                Node::Group(n, Box::new(inner))
            }
            b'.' => Node::Any,
            b'^' => Node::Start,
            b'$' => Node::End,
            b'[' => self.bracket()?,
            b'*' | b'+' | b'?' if first => return None,
            b'{' if first => return None,
            b'\\' => {
                let e = self.peek()?;
                match e {
                    b'w' | b'W' => {
                        self.pos += 1;
                        Node::Word(e == b'W')
                    }
                    b's' | b'S' => {
                        self.pos += 1;
                        Node::Class {
                            negated: e == b'S',
                            ranges: vec![(9, 13), (32, 32)],
                        }
                    }
                    b'1'..=b'9' => {
                        self.pos += 1;
                        let group = usize::from(e - b'0');
                        if group > self.groups {
                            return None;
                        }
                        Node::Back(group)
                    }
                    b'b' | b'B' | b'<' | b'>' => {
                        self.pos += 1;
                        Node::WordEdge(e)
                    }
                    _ => {
                        let (c, n) = decode(&self.text[self.pos..]);
                        self.pos += n;
                        Node::Char(c)
                    }
                }
            }
            _ => {
                self.pos -= 1;
                let (c, n) = decode(&self.text[self.pos..]);
                self.pos += n;
                Node::Char(c)
            }
        })
    }

    fn bracket(&mut self) -> Option<Node> {
        let mut negated = false;
        let mut ranges = Vec::new();
        if self.peek() == Some(b'^') {
            negated = true;
            self.pos += 1;
        }
        let mut first = true;
        loop {
            let c = self.peek()?;
            if c == b']' && !first {
                self.pos += 1;
                return Some(Node::Class { negated, ranges });
            }
            first = false;
            if c == b'[' && self.text.get(self.pos + 1) == Some(&b':') {
                let rest = &self.text[self.pos + 2..];
                let end = rest.windows(2).position(|w| w == b":]")?;
                ranges.extend_from_slice(named(&rest[..end])?);
                self.pos += end + 4;
                continue;
            }
            let low = self.bracket_char()?;
            if self.peek() == Some(b'-') && self.text.get(self.pos + 1).is_some_and(|&c| c != b']') {
                self.pos += 1;
                let high = self.bracket_char()?;
                if high < low {
                    return None;
                }
                ranges.push((low, high));
            } else {
                ranges.push((low, low));
            }
        }
    }

    fn bracket_char(&mut self) -> Option<u32> {
        if self.peek()? == b'['
            && let Some(&kind @ (b'.' | b'=')) = self.text.get(self.pos + 1)
        {
            let rest = &self.text[self.pos + 2..];
            let end = rest.windows(2).position(|w| w == [kind, b']'])?;
            let (c, n) = decode(rest);
            if n != end {
                return None;
            }
            self.pos += end + 4;
            return Some(c);
        }
        let (c, n) = decode(&self.text[self.pos..]);
        self.pos += n;
        Some(c)
    }
}

/// Letters; of scripts other than Latin the ranges that are mostly letters.
const ALPHA: [(u32, u32); 25] = [
    (65, 90),
    (97, 122),
    (0xaa, 0xaa),
    (0xb5, 0xb5),
    (0xba, 0xba),
    (0xc0, 0xd6),
    (0xd8, 0xf6),
    (0xf8, 0x2c1),
    (0x370, 0x373),
    (0x376, 0x377),
    (0x37b, 0x37d),
    (0x37f, 0x37f),
    (0x386, 0x386),
    (0x388, 0x481),
    (0x48a, 0x556),
    (0x5d0, 0x5ea),
    (0x620, 0x64a),
    (0x904, 0x939),
    (0xe01, 0xe30),
    (0x1e00, 0x1fff),
    (0x3041, 0x3096),
    (0x30a1, 0x30fa),
    (0x3400, 0x4dbf),
    (0x4e00, 0x9fff),
    (0xac00, 0xd7a3),
];

/// Digits and letters.
const ALNUM: [(u32, u32); ALPHA.len() + 1] = {
    let mut all = [(48, 57); ALPHA.len() + 1];
    let mut i = 0;
    while i < ALPHA.len() {
        all[i + 1] = ALPHA[i];
        i += 1;
    }
    all
};

fn named(name: &[u8]) -> Option<&'static [(u32, u32)]> {
    Some(match name {
        b"alpha" => &ALPHA,
        b"digit" => &[(48, 57)],
        b"alnum" => &ALNUM,
        b"upper" => &[(65, 90), (0xc0, 0xd6), (0xd8, 0xde), (0x391, 0x3a9), (0x410, 0x42f)],
        b"lower" => &[
            (97, 122),
            (0xb5, 0xb5),
            (0xdf, 0xf6),
            (0xf8, 0xff),
            (0x3b1, 0x3c9),
            (0x430, 0x44f),
        ],
        b"space" => &[
            (9, 13),
            (32, 32),
            (0x1680, 0x1680),
            (0x2000, 0x2006),
            (0x2008, 0x200a),
            (0x2028, 0x2029),
            (0x205f, 0x205f),
            (0x3000, 0x3000),
        ],
        b"blank" => &[(9, 9), (32, 32)],
        b"punct" => &[
            (33, 47),
            (58, 64),
            (91, 96),
            (123, 126),
            (0xa1, 0xa9),
            (0xab, 0xb4),
            (0xb6, 0xb9),
            (0xbb, 0xbf),
            (0xd7, 0xd7),
            (0xf7, 0xf7),
            (0x2010, 0x2027),
            (0x2030, 0x205e),
            (0x20a0, 0x20bf),
            (0x2190, 0x2bff),
            (0x3001, 0x3003),
        ],
        b"xdigit" => &[(48, 57), (65, 70), (97, 102)],
        b"cntrl" => &[(0, 31), (127, 159)],
        b"print" => &[(32, 126), (0xa0, 0x10_ffff)],
        b"graph" => &[(33, 126), (0xa1, 0x10_ffff)],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(regex: &str, text: &str) -> Option<Vec<Option<String>>> {
        Regex::new(regex.as_bytes(), false)?
            .find(text.as_bytes())
            .map(|m| m.into_iter().map(|g| g.map(|(a, b)| text[a..b].to_string())).collect())
    }

    #[test]
    fn longest_and_groups() {
        assert_eq!(find("a|ab", "xab"), Some(vec![Some("ab".into())]));
        assert_eq!(
            find("([0-9]+)-([a-z]*)", "id 42-abc!"),
            Some(vec![Some("42-abc".into()), Some("42".into()), Some("abc".into())])
        );
        assert_eq!(find("^(a)?b$", "b"), Some(vec![Some("b".into()), None]));
        assert_eq!(find("x{2,3}", "axxxx"), Some(vec![Some("xxx".into())]));
        assert!(Regex::new(b"(", false).is_none());
    }

    #[test]
    fn hostile_expressions_end() {
        assert!(find("(a*)*b", &"a".repeat(2000)).is_none());
        assert!(Regex::new(&b"(".repeat(10_000), false).is_none());
    }
}
