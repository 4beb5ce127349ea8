//! Reads basic and extended POSIX syntax with the GNU extensions into a [`Node`] tree.

use regex_syntax::hir::{Capture, Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition};

use super::{Options, Wrap};

/// The largest count in `a{n}`.
const MAX_REPEAT: u32 = 32_767;
/// How deep groups may nest; the tree is walked recursively.
const MAX_DEPTH: usize = 200;

/// Which program reads the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// grep: an invalid interval is literal, `\n` is `n`.
    Grep,
    /// sed: `\n`, `\t`, `\xHH`, `\dNNN`, `\oNNN`, `\cX` are characters.
    Sed,
    /// find: Emacs's syntax, where `+` and `?` are operators without a backslash.
    Emacs,
    /// awk: as in sed, octal `\NNN`, and escapes inside brackets; no back-references.
    Awk,
}

/// One part of a pattern.
#[derive(Clone, Debug)]
pub enum Node {
    /// Matches nothing, not even the empty string.
    Fail,
    Empty,
    Bytes(Vec<u8>),
    Class(ClassUnicode),
    Look(Look),
    Group(usize, Box<Node>),
    Backref(usize),
    Repeat {
        min: u32,
        max: Option<u32>,
        node: Box<Node>,
    },
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
}

/// A pattern read.
pub struct Parsed {
    pub root: Node,
    pub groups: usize,
    pub backrefs: bool,
    pub ignore_case: bool,
}

impl Node {
    /// Whether leftmost-first and leftmost-longest matching can differ. Repeated single characters cannot make them
    /// differ: giving one character to an earlier optional part never costs the rest more than that character.
    pub fn ambiguous(&self) -> bool {
        match self {
            Node::Alternate(parts) => {
                let single = |node: &Node| matches!(node, Node::Bytes(bytes) if bytes.len() == 1);
                !parts.iter().all(single)
            }
            Node::Repeat { min, max, node } => Some(*min) != *max && !node.single(),
            Node::Group(_, node) => node.ambiguous(),
            Node::Concat(parts) => parts.iter().any(Node::ambiguous),
            _ => false,
        }
    }

    fn single(&self) -> bool {
        match self {
            Node::Class(_) => true,
            Node::Bytes(bytes) => bytes.len() == 1,
            Node::Group(_, node) => node.single(),
            _ => false,
        }
    }

    /// The same tree for `regex-automata`. Back-references must not be in it.
    pub fn to_hir(&self) -> Hir {
        match self {
            Node::Fail | Node::Backref(_) => Hir::fail(),
            Node::Empty => Hir::empty(),
            Node::Bytes(bytes) => Hir::literal(bytes.clone()),
            Node::Class(class) => Hir::class(Class::Unicode(class.clone())),
            Node::Look(look) => Hir::look(*look),
            Node::Group(index, node) => {
                Hir::capture(Capture { index: *index as u32, name: None, sub: Box::new(node.to_hir()) })
            }
            Node::Repeat { min, max, node } => {
                Hir::repetition(Repetition { min: *min, max: *max, greedy: true, sub: Box::new(node.to_hir()) })
            }
            Node::Concat(parts) => Hir::concat(parts.iter().map(Node::to_hir).collect()),
            Node::Alternate(parts) => Hir::alternation(parts.iter().map(Node::to_hir).collect()),
        }
    }

    fn shift_groups(&mut self, by: usize) {
        match self {
            Node::Group(index, node) => {
                *index += by;
                node.shift_groups(by);
            }
            Node::Backref(index) => *index += by,
            Node::Repeat { node, .. } => node.shift_groups(by),
            Node::Concat(parts) | Node::Alternate(parts) => parts.iter_mut().for_each(|part| part.shift_groups(by)),
            _ => {}
        }
    }
}

/// Joins patterns as alternatives and wraps the whole.
pub fn combine(parsed: Vec<Parsed>, wrap: Wrap, options: &Options) -> Parsed {
    let ignore_case = options.ignore_case;
    let multi_line = options.line_bound || options.multi_line;
    let mut groups = 0;
    let mut backrefs = false;
    let mut nodes = Vec::with_capacity(parsed.len());
    for mut one in parsed {
        one.root.shift_groups(groups);
        groups += one.groups;
        backrefs |= one.backrefs;
        nodes.push(one.root);
    }
    let root = match nodes.len() {
        0 => Node::Fail,
        1 => nodes.swap_remove(0),
        _ => Node::Alternate(nodes),
    };
    let (before, after) = match (wrap, multi_line) {
        (Wrap::None, _) => return Parsed { root, groups, backrefs, ignore_case },
        (Wrap::Word, _) => (Look::WordStartHalfUnicode, Look::WordEndHalfUnicode),
        (Wrap::Line, true) => (Look::StartLF, Look::EndLF),
        (Wrap::Line, false) => (Look::Start, Look::End),
    };
    let root = Node::Concat(vec![Node::Look(before), root, Node::Look(after)]);
    Parsed { root, groups, backrefs, ignore_case }
}

/// A fixed string as a pattern.
pub fn literal(text: &[u8], options: &Options) -> Parsed {
    let mut nodes = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (atom, length) = next_char(rest);
        nodes.push(atom.node(options));
        rest = &rest[length..];
    }
    Parsed { root: concat(nodes), groups: 0, backrefs: false, ignore_case: options.ignore_case }
}

/// Reads one pattern. The error is GNU's text.
pub fn parse(pattern: &[u8], options: &Options) -> Result<Parsed, String> {
    let mut parser = Parser { text: pattern, at: 0, options, groups: 0, closed: Vec::new(), backrefs: false, depth: 0 };
    let root = parser.alternatives()?;
    if parser.at < pattern.len() {
        return Err("Unmatched ) or \\)".into());
    }
    Ok(Parsed { root, groups: parser.groups, backrefs: parser.backrefs, ignore_case: options.ignore_case })
}

/// One character of a text that may not be UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Atom {
    Char(char),
    Byte(u8),
}

impl Atom {
    fn node(self, options: &Options) -> Node {
        match self {
            Atom::Byte(byte) => Node::Bytes(vec![byte]),
            Atom::Char(c) => {
                if options.ignore_case {
                    let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
                    if class.try_case_fold_simple().is_ok() && class.ranges().len() > 1 {
                        return Node::Class(class);
                    }
                }
                Node::Bytes(c.to_string().into_bytes())
            }
        }
    }
}

fn next_char(text: &[u8]) -> (Atom, usize) {
    let length = match text[0] {
        0..=0x7f => return (Atom::Char(text[0] as char), 1),
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return (Atom::Byte(text[0]), 1),
    };
    match text.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok()).and_then(|s| s.chars().next()) {
        Some(c) => (Atom::Char(c), length),
        None => (Atom::Byte(text[0]), 1),
    }
}

/// Joins neighbouring bytes, so that literals stay literals.
fn concat(nodes: Vec<Node>) -> Node {
    let mut joined: Vec<Node> = Vec::with_capacity(nodes.len());
    for node in nodes {
        match (joined.last_mut(), node) {
            (Some(Node::Bytes(last)), Node::Bytes(more)) => last.extend(more),
            (_, node) => joined.push(node),
        }
    }
    match joined.len() {
        0 => Node::Empty,
        1 => joined.swap_remove(0),
        _ => Node::Concat(joined),
    }
}

/// A class by the syntax of `regex-syntax`, e.g. `\p{Alphabetic}`.
fn table(syntax: &str) -> ClassUnicode {
    match regex_syntax::parse(syntax).map(Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        _ => ClassUnicode::empty(),
    }
}

fn named_class(name: &[u8]) -> Option<ClassUnicode> {
    Some(table(match name {
        b"alpha" => r"[\p{Alphabetic}[\p{Nd}--[0-9]]]",
        b"digit" => "[0-9]",
        b"alnum" => r"[\p{Alphabetic}\p{Nd}]",
        b"upper" => r"\p{Uppercase}",
        b"lower" => r"\p{Lowercase}",
        b"space" => "[[\\s]--[\u{a0}\u{2007}\u{202f}]]",
        b"blank" => "[\t\\p{Zs}--[\u{a0}\u{2007}\u{202f}]]",
        b"punct" => r"[[\p{P}\p{S}]--[\p{Alphabetic}]]",
        b"print" => r"[^\p{Cc}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]",
        b"graph" => r"[^\p{C}\p{Z}]",
        b"cntrl" => r"[\p{Cc}\p{Zl}\p{Zp}]",
        b"xdigit" => "[0-9A-Fa-f]",
        _ => return None,
    }))
}

struct Parser<'p> {
    text: &'p [u8],
    at: usize,
    options: &'p Options,
    groups: usize,
    /// Groups whose `)` was seen: the ones a back-reference may name.
    closed: Vec<usize>,
    backrefs: bool,
    depth: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, token: &[u8]) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// The spelling of an operator: `(` extended, `\(` basic.
    fn operator(&self, op: u8) -> &'static [u8] {
        match (op, self.options.extended) {
            (b'|', true) => b"|",
            (b'|', false) => b"\\|",
            (b'(', true) => b"(",
            (b'(', false) => b"\\(",
            (b')', true) => b")",
            _ => b"\\)",
        }
    }

    fn at_operator(&self, op: u8) -> bool {
        self.rest().starts_with(self.operator(op))
    }

    fn alternatives(&mut self) -> Result<Node, String> {
        let mut branches = vec![self.branch()?];
        while self.eat(self.operator(b'|')) {
            branches.push(self.branch()?);
        }
        Ok(if branches.len() == 1 { branches.swap_remove(0) } else { Node::Alternate(branches) })
    }

    fn branch(&mut self) -> Result<Node, String> {
        let mut nodes = Vec::new();
        // In basic syntax `*` is literal and `^` an anchor only at the start of a branch.
        let mut fresh = true;
        while self.at < self.text.len() && !self.at_operator(b'|') {
            if self.at_operator(b')') {
                // awk, like POSIX, takes a lone `)` as an error; so do the others.
                if self.depth > 0 {
                    break;
                }
                return Err("Unmatched ) or \\)".into());
            }
            let node = self.atom(fresh)?;
            let anchor = matches!(node, Node::Look(Look::Start | Look::StartLF));
            let node = if anchor && !self.options.extended { node } else { self.repeats(node)? };
            fresh = anchor && !self.options.extended;
            nodes.push(node);
        }
        Ok(concat(nodes))
    }

    fn atom(&mut self, fresh: bool) -> Result<Node, String> {
        let extended = self.options.extended;
        if self.eat(self.operator(b'(')) {
            return self.group();
        }
        let Some(byte) = self.peek() else { return Ok(Node::Empty) };
        match byte {
            b'\\' => self.escape(),
            b'[' => self.bracket(),
            b'.' => {
                self.at += 1;
                Ok(Node::Class(self.any()))
            }
            b'^' if extended || fresh => {
                self.at += 1;
                Ok(Node::Look(if self.lines() { Look::StartLF } else { Look::Start }))
            }
            b'$' if extended || self.dollar_ends() => {
                self.at += 1;
                Ok(Node::Look(if self.lines() { Look::EndLF } else { Look::End }))
            }
            b'*' if fresh => Ok(self.literal()),
            b'*' | b'+' | b'?' if extended => Ok(self.literal()),
            b'{' if extended && self.options.dialect == Dialect::Sed && fresh => {
                Err("Invalid preceding regular expression".into())
            }
            _ => Ok(self.literal()),
        }
    }

    fn lines(&self) -> bool {
        self.options.multi_line || self.options.line_bound
    }

    fn any(&self) -> ClassUnicode {
        let mut class = ClassUnicode::new([ClassUnicodeRange::new('\0', '\u{10ffff}')]);
        if self.options.line_bound {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
        }
        class
    }

    fn dollar_ends(&self) -> bool {
        let after = &self.text[self.at + 1..];
        after.is_empty() || after.starts_with(b"\\)") || after.starts_with(b"\\|")
    }

    fn literal(&mut self) -> Node {
        let (atom, length) = next_char(self.rest());
        self.at += length;
        atom.node(self.options)
    }

    fn group(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("Regular expression too big".into());
        }
        self.groups += 1;
        let index = self.groups;
        let node = self.alternatives()?;
        if !self.eat(self.operator(b')')) {
            return Err("Unmatched ( or \\(".into());
        }
        self.depth -= 1;
        self.closed.push(index);
        Ok(Node::Group(index, Box::new(node)))
    }

    /// The repetition operators after an atom.
    fn repeats(&mut self, mut node: Node) -> Result<Node, String> {
        let mut count = 0;
        loop {
            let extended = self.options.extended;
            let bare = extended || self.options.dialect == Dialect::Emacs;
            let (min, max) = if self.eat(b"*") {
                (0, None)
            } else if self.eat(if bare { b"+" } else { b"\\+" }) {
                (1, None)
            } else if self.eat(if bare { b"?" } else { b"\\?" }) {
                (0, Some(1))
            } else if self.rest().starts_with(if extended { b"{" } else { b"\\{" }) {
                match self.interval()? {
                    Some(interval) => interval,
                    None => return Ok(node),
                }
            } else {
                return Ok(node);
            };
            count += 1;
            if count > MAX_DEPTH {
                return Err("Regular expression too big".into());
            }
            node = match node {
                // `a**` is `a*`: keeps the tree flat.
                Node::Repeat { min: 0, max: None, .. } if min == 0 && max.is_none() => node,
                node => Node::Repeat { min, max, node: Box::new(node) },
            };
        }
    }

    /// `{n}`, `{n,}`, `{,m}`, `{n,m}`; `None` when an invalid one is to be taken literally.
    fn interval(&mut self) -> Result<Option<(u32, Option<u32>)>, String> {
        let extended = self.options.extended;
        let (open, close): (usize, &[u8]) = if extended { (1, b"}") } else { (2, b"\\}") };
        let lenient = extended && self.options.dialect != Dialect::Sed;
        let body = &self.text[self.at + open..];
        let Some(length) = memchr::memmem::find(body, close) else {
            return if lenient { Ok(None) } else { Err(if extended { "Unmatched {" } else { "Unmatched \\{" }.into()) };
        };
        let inner = std::str::from_utf8(&body[..length]).unwrap_or("x");
        let number = |text: &str| -> Option<u32> {
            (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().unwrap_or(u32::MAX))
        };
        let range = match inner.split_once(',') {
            None => number(inner).map(|n| (n, Some(n))),
            Some(("", "")) => Some((0, None)),
            Some((low, "")) => number(low).map(|n| (n, None)),
            Some(("", high)) => number(high).map(|n| (0, Some(n))),
            Some((low, high)) => number(low).zip(number(high)).map(|(low, high)| (low, Some(high))),
        };
        let Some((min, max)) = range else {
            return if lenient { Ok(None) } else { Err("Invalid content of \\{\\}".into()) };
        };
        if max.is_some_and(|max| min > max) {
            return Err("Invalid content of \\{\\}".into());
        }
        if min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT) {
            return Err("Regular expression too big".into());
        }
        self.at += open + length + close.len();
        Ok(Some((min, max)))
    }

    fn escape(&mut self) -> Result<Node, String> {
        let Some(&byte) = self.text.get(self.at + 1) else { return Err("Trailing backslash".into()) };
        let dialect = self.options.dialect;
        let look = match byte {
            b'<' => Some(Look::WordStartUnicode),
            b'>' => Some(Look::WordEndUnicode),
            b'b' if dialect != Dialect::Awk => Some(Look::WordUnicode),
            b'y' if dialect == Dialect::Awk => Some(Look::WordUnicode),
            b'B' => Some(Look::WordUnicodeNegate),
            b'`' => Some(Look::Start),
            b'\'' => Some(Look::End),
            _ => None,
        };
        if let Some(look) = look {
            self.at += 2;
            return Ok(Node::Look(look));
        }
        match byte {
            b'w' | b'W' | b's' | b'S' => {
                self.at += 2;
                let mut class = if byte.is_ascii_lowercase() && byte == b'w' || byte == b'W' {
                    table(r"[\p{Alphabetic}\p{Nd}_]")
                } else {
                    table(r"\s")
                };
                if byte.is_ascii_uppercase() {
                    class.negate();
                    self.bound(&mut class);
                }
                Ok(Node::Class(class))
            }
            b'1'..=b'9' if dialect != Dialect::Awk => {
                let index = usize::from(byte - b'0');
                if !self.closed.contains(&index) {
                    return Err("Invalid back reference".into());
                }
                self.at += 2;
                self.backrefs = true;
                Ok(Node::Backref(index))
            }
            b'{' if !self.options.extended => Err("Invalid preceding regular expression".into()),
            _ => {
                self.at += 1;
                match self.character_escape() {
                    Some(atom) => Ok(atom.node(self.options)),
                    None => Ok(self.literal()),
                }
            }
        }
    }

    /// `\n`, `\t`, `\x41` and the like; the position is after the backslash.
    fn character_escape(&mut self) -> Option<Atom> {
        let dialect = self.options.dialect;
        if matches!(dialect, Dialect::Grep | Dialect::Emacs) {
            return None;
        }
        let byte = self.peek()?;
        let simple = match byte {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'f' => 0x0c,
            b'v' => 0x0b,
            b'a' => 0x07,
            b'b' if dialect == Dialect::Awk => 0x08,
            b'c' if dialect == Dialect::Sed => {
                let control = self.text.get(self.at + 1)?.to_ascii_uppercase() ^ 0x40;
                self.at += 2;
                return Some(Atom::Char(control as char));
            }
            b'x' => return self.number_escape(1, 16, 2),
            b'd' if dialect == Dialect::Sed => return self.number_escape(1, 10, 3),
            b'o' if dialect == Dialect::Sed => return self.number_escape(1, 8, 3),
            b'0'..=b'7' if dialect == Dialect::Awk => return self.number_escape(0, 8, 3),
            _ => return None,
        };
        self.at += 1;
        Some(Atom::Char(simple as char))
    }

    fn number_escape(&mut self, skip: usize, radix: u32, most: usize) -> Option<Atom> {
        let digits =
            self.text[self.at + skip..].iter().take(most).take_while(|byte| (**byte as char).is_digit(radix)).count();
        let text = std::str::from_utf8(&self.text[self.at + skip..self.at + skip + digits]).ok()?;
        let value = u32::from_str_radix(text, radix).ok()? as u8;
        self.at += skip + digits;
        Some(if value < 0x80 { Atom::Char(value as char) } else { Atom::Byte(value) })
    }

    fn bound(&self, class: &mut ClassUnicode) {
        if self.options.line_bound {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
        }
    }

    fn bracket(&mut self) -> Result<Node, String> {
        const UNMATCHED: &str = "Unmatched [, [^, [:, [., or [=";
        let open = self.at;
        self.at += 1;
        let negated = self.eat(b"^");
        let mut class = ClassUnicode::empty();
        let mut bytes = Vec::new();
        let mut first = true;
        loop {
            let Some(byte) = self.peek() else {
                let colon = &self.text[open..];
                if colon.starts_with(b"[:") && colon.ends_with(b":]") {
                    return Err("character class syntax is [[:space:]], not [:space:]".into());
                }
                return Err(UNMATCHED.into());
            };
            if byte == b']' && !first {
                self.at += 1;
                break;
            }
            first = false;
            if self.eat(b"[:") {
                let name = self.until(b":]").ok_or(UNMATCHED)?;
                let mut named = named_class(name).ok_or("Invalid character class name")?;
                if self.options.ignore_case {
                    let _ = named.try_case_fold_simple();
                }
                class.union(&named);
                continue;
            }
            let start = self.bracket_atom()?.ok_or(UNMATCHED)?;
            let range = self.peek() == Some(b'-') && self.text.get(self.at + 1).is_some_and(|next| *next != b']');
            if !range {
                match start {
                    Atom::Char(c) => class.push(ClassUnicodeRange::new(c, c)),
                    Atom::Byte(byte) => bytes.push(byte),
                }
                continue;
            }
            self.at += 1;
            match (start, self.bracket_atom()?.ok_or(UNMATCHED)?) {
                (Atom::Char(low), Atom::Char(high)) if low <= high => class.push(ClassUnicodeRange::new(low, high)),
                (Atom::Byte(low), Atom::Byte(high)) if low <= high => bytes.extend(low..=high),
                (Atom::Char(low), Atom::Byte(high)) => {
                    class.push(ClassUnicodeRange::new(low, '\u{7f}'));
                    bytes.extend(0x80..=high);
                }
                _ => return Err("Invalid range end".into()),
            }
        }
        let text = &self.text[open..self.at];
        if self.options.dialect != Dialect::Awk && text.len() > 4 && text.starts_with(b"[:") && text.ends_with(b":]") {
            return Err("character class syntax is [[:space:]], not [:space:]".into());
        }
        if self.options.ignore_case {
            let _ = class.try_case_fold_simple();
        }
        if negated {
            class.negate();
            self.bound(&mut class);
            return Ok(Node::Class(class));
        }
        if bytes.is_empty() {
            return Ok(Node::Class(class));
        }
        // Bytes that are not UTF-8 cannot be in a class of characters.
        let mut parts: Vec<Node> = bytes.into_iter().map(|byte| Node::Bytes(vec![byte])).collect();
        parts.push(Node::Class(class));
        Ok(Node::Alternate(parts))
    }

    fn until(&mut self, close: &[u8]) -> Option<&[u8]> {
        let length = memchr::memmem::find(self.rest(), close)?;
        let start = self.at;
        self.at += length + close.len();
        Some(&self.text[start..start + length])
    }

    /// One end of a range, or a single character: `a`, `[.a.]`, `[=a=]`.
    fn bracket_atom(&mut self) -> Result<Option<Atom>, String> {
        for (open, close) in [(b"[.", b".]"), (b"[=", b"=]")] {
            if self.eat(open) {
                let Some(name) = self.until(close) else { return Ok(None) };
                if name.is_empty() {
                    return Err("Invalid collation character".into());
                }
                let (atom, length) = next_char(name);
                return if length == name.len() { Ok(Some(atom)) } else { Err("Invalid collation character".into()) };
            }
        }
        let Some(byte) = self.peek() else { return Ok(None) };
        if byte == b'\\' && matches!(self.options.dialect, Dialect::Sed | Dialect::Awk) && self.at + 1 < self.text.len()
        {
            self.at += 1;
            if let Some(atom) = self.character_escape() {
                return Ok(Some(atom));
            }
            if self.options.dialect == Dialect::Awk {
                let (atom, length) = next_char(self.rest());
                self.at += length;
                return Ok(Some(atom));
            }
            return Ok(Some(Atom::Char('\\')));
        }
        let (atom, length) = next_char(self.rest());
        self.at += length;
        Ok(Some(atom))
    }
}
