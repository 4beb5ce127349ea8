//! find's expression: its tree and its parser.

use super::printf::{self, Directive};
use super::time::parse_date;
use super::users::Names;
use crate::args;
use crate::output::show;
use crate::platform::{self, mode};
use crate::regex::{Dialect, Options, Regex, Wrap};

/// How deep parentheses may nest.
const MAX_DEPTH: usize = 200;

/// A number compared: `+n`, `-n` or `n`.
#[derive(Clone, Copy, Debug)]
pub enum Compare {
    /// `+n`
    More(i64),
    /// `-n`
    Less(i64),
    /// `n`
    Equal(i64),
}

impl Compare {
    /// Whether a number fits.
    pub fn fits(self, number: i64) -> bool {
        match self {
            Compare::More(limit) => number > limit,
            Compare::Less(limit) => number < limit,
            Compare::Equal(limit) => number == limit,
        }
    }
}

/// Which time of a file.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Time {
    Access,
    Change,
    Modification,
}

/// How mode bits are compared.
#[derive(Clone, Copy, Debug)]
pub enum Permission {
    /// `mode`
    Exactly(u32),
    /// `-mode`
    All(u32),
    /// `/mode`
    Any(u32),
}

/// Where an action writes: standard output, or an index into the files.
pub type Place = Option<usize>;

/// A test, an action or an operator.
#[allow(missing_docs, reason = "the names are find's")]
pub enum Node {
    True,
    False,
    And(Vec<Node>),
    Or(Vec<Node>),
    Comma(Vec<Node>),
    Not(Box<Node>),
    Name(Vec<u8>, bool),
    Path(Vec<u8>, bool),
    LinkName(Vec<u8>, bool),
    Regex(Box<Regex>),
    Type(Vec<u32>),
    XType(Vec<u32>),
    Size(Compare, u64),
    /// Days or minutes since a time: the unit in seconds.
    Age(Time, Compare, i64),
    Newer(Time, i64),
    Permission(Permission),
    User(u32),
    Group(u32),
    NoUser,
    NoGroup,
    Uid(Compare),
    Gid(Compare),
    Links(Compare),
    Inode(Compare),
    SameFile(u64, u64),
    Empty,
    Access(u32),
    Prune,
    Quit,
    Print(Place),
    Print0(Place),
    Printf(Vec<Directive>, Place),
    List(Place),
    /// The words, whether in the file's directory, whether to ask.
    Exec(Vec<Vec<u8>>, bool, bool),
    /// The words before `{} +`, whether in the files' directory, and where the batch is kept.
    ExecBatch(Vec<Vec<u8>>, bool, usize),
    Delete,
}

/// The expression with the settings that hold for all of it.
pub struct Expression {
    /// The tree.
    pub root: Node,
    /// Directories after what is in them.
    pub depth_first: bool,
    /// `-maxdepth`
    pub max_depth: usize,
    /// `-mindepth`
    pub min_depth: usize,
    /// `-xdev`
    pub one_device: bool,
    /// `-follow`
    pub follow: bool,
    /// Files that actions write.
    pub files: Vec<Vec<u8>>,
    /// How many batches `-exec … +` needs.
    pub batches: usize,
}

struct Parser<'a> {
    words: &'a [Vec<u8>],
    at: usize,
    result: Expression,
    has_action: bool,
    has_prune: bool,
    deletes: bool,
    regex_type: (Dialect, bool),
    daystart: bool,
    now: i64,
    depth: usize,
}

type Parsed<T> = Result<T, String>;

/// Parses the words behind the paths.
///
/// # Errors
/// The message without the program's name.
pub fn parse(words: &[Vec<u8>], now: i64) -> Parsed<Expression> {
    let mut parser = Parser {
        words,
        at: 0,
        result: Expression {
            root: Node::True,
            depth_first: false,
            max_depth: usize::MAX,
            min_depth: 0,
            one_device: false,
            follow: false,
            files: Vec::new(),
            batches: 0,
        },
        has_action: false,
        has_prune: false,
        deletes: false,
        regex_type: (Dialect::Emacs, false),
        daystart: false,
        now,
        depth: 0,
    };
    let root = if words.is_empty() { Node::True } else { parser.comma()? };
    if let Some(word) = parser.peek() {
        return Err(match word {
            b")" => "you have too many ')'".to_string(),
            word => format!("paths must precede expression: `{}'", show(word)),
        });
    }
    if parser.deletes && parser.has_prune && !parser.result.depth_first {
        return Err("The -delete action automatically turns on -depth, but -prune does nothing when -depth is in effect.  If you want to carry on anyway, just explicitly use the -depth option.".into());
    }
    parser.result.depth_first |= parser.deletes;
    parser.result.root = if parser.has_action { root } else { Node::And(vec![root, Node::Print(None)]) };
    Ok(parser.result)
}

impl Parser<'_> {
    fn peek(&self) -> Option<&[u8]> {
        self.words.get(self.at).map(Vec::as_slice)
    }

    fn comma(&mut self) -> Parsed<Node> {
        let mut parts = vec![self.or()?];
        while self.peek() == Some(b",") {
            self.at += 1;
            parts.push(self.or()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Node::Comma(parts) })
    }

    fn or(&mut self) -> Parsed<Node> {
        let mut parts = vec![self.and()?];
        while matches!(self.peek(), Some(b"-o" | b"-or")) {
            self.at += 1;
            parts.push(self.and()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Node::Or(parts) })
    }

    fn and(&mut self) -> Parsed<Node> {
        let mut parts = vec![self.not()?];
        loop {
            match self.peek() {
                Some(b"-a" | b"-and") => self.at += 1,
                None | Some(b"-o" | b"-or" | b"," | b")") => break,
                Some(_) => {}
            }
            parts.push(self.not()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Node::And(parts) })
    }

    fn not(&mut self) -> Parsed<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("expression nested too deeply".into());
        }
        let node = self.not_inner();
        self.depth -= 1;
        node
    }

    fn not_inner(&mut self) -> Parsed<Node> {
        match self.peek() {
            Some(b"!" | b"-not") => {
                self.at += 1;
                if self.peek().is_none() {
                    return Err("expected an expression after '!'".into());
                }
                Ok(Node::Not(Box::new(self.not()?)))
            }
            Some(b"(") => {
                self.at += 1;
                if self.peek() == Some(b")") {
                    return Err("invalid expression; empty parentheses are not allowed.".into());
                }
                let inner = self.comma()?;
                if self.peek() != Some(b")") {
                    return Err(
                        "invalid expression; I was expecting to find a ')' somewhere but did not see one.".into()
                    );
                }
                self.at += 1;
                Ok(inner)
            }
            Some(b")") => Err("invalid expression; you have too many ')'".into()),
            Some(b"-o" | b"-or" | b"-a" | b"-and" | b",") => {
                let word = show(&self.words[self.at]);
                Err(format!("invalid expression; you have used a binary operator '{word}' with nothing before it."))
            }
            Some(_) => self.primary(),
            None => Err("invalid expression; expected something after an operator".into()),
        }
    }

    fn argument(&mut self, name: &str) -> Parsed<Vec<u8>> {
        let value = self.words.get(self.at).cloned().ok_or_else(|| format!("missing argument to `{name}'"))?;
        self.at += 1;
        Ok(value)
    }

    fn number(&mut self, name: &str) -> Parsed<Compare> {
        let value = self.argument(name)?;
        compare(&value).ok_or_else(|| format!("invalid argument `{}' to `{name}'", show(&value)))
    }

    fn file(&mut self, name: &str) -> Parsed<Place> {
        let file = self.argument(name)?;
        let index = self.result.files.iter().position(|known| *known == file).unwrap_or_else(|| {
            self.result.files.push(file);
            self.result.files.len() - 1
        });
        Ok(Some(index))
    }

    fn action(&mut self, node: Node) -> Parsed<Node> {
        self.has_action = true;
        Ok(node)
    }

    fn age(&mut self, name: &str, time: Time, unit: i64) -> Parsed<Node> {
        Ok(Node::Age(time, self.number(name)?, unit))
    }

    fn file_time(&mut self, name: &str, time: Time) -> Parsed<i64> {
        let file = self.argument(name)?;
        let found = platform::stat(&file, true)
            .map_err(|error| format!("\u{2018}{}\u{2019}: {}", show(&file), platform::message(&error)))?;
        Ok(match time {
            Time::Access => found.atime,
            Time::Change => found.ctime,
            Time::Modification => found.mtime,
        })
    }

    fn primary(&mut self) -> Parsed<Node> {
        let word = show(&self.words[self.at]);
        self.at += 1;
        let name = word.as_str();
        match name {
            "-true" => Ok(Node::True),
            "-false" => Ok(Node::False),
            "-name" => Ok(Node::Name(self.argument(name)?, false)),
            "-iname" => Ok(Node::Name(self.argument(name)?, true)),
            "-path" | "-wholename" => Ok(Node::Path(self.argument(name)?, false)),
            "-ipath" | "-iwholename" => Ok(Node::Path(self.argument(name)?, true)),
            "-lname" => Ok(Node::LinkName(self.argument(name)?, false)),
            "-ilname" => Ok(Node::LinkName(self.argument(name)?, true)),
            "-regex" | "-iregex" => self.regex(name),
            "-regextype" => {
                let value = show(&self.argument(name)?);
                self.regex_type = match value.as_str() {
                    "emacs" | "findutils-default" => (Dialect::Emacs, false),
                    "posix-extended" | "egrep" | "posix-egrep" | "posix-minimal-basic" => (Dialect::Grep, true),
                    "awk" | "gnu-awk" | "posix-awk" => (Dialect::Awk, true),
                    "posix-basic" | "grep" | "ed" | "sed" => (Dialect::Grep, false),
                    _ => return Err(format!("Unknown regular expression type \u{2018}{value}\u{2019}")),
                };
                Ok(Node::True)
            }
            "-type" | "-xtype" => {
                let kinds = self.kinds(name)?;
                Ok(if name == "-type" { Node::Type(kinds) } else { Node::XType(kinds) })
            }
            "-size" => self.size(name),
            "-mtime" => self.age(name, Time::Modification, 86_400),
            "-atime" => self.age(name, Time::Access, 86_400),
            "-ctime" => self.age(name, Time::Change, 86_400),
            "-mmin" => self.age(name, Time::Modification, 60),
            "-amin" => self.age(name, Time::Access, 60),
            "-cmin" => self.age(name, Time::Change, 60),
            "-newer" => Ok(Node::Newer(Time::Modification, self.file_time(name, Time::Modification)?)),
            "-anewer" => Ok(Node::Newer(Time::Access, self.file_time(name, Time::Modification)?)),
            "-cnewer" => Ok(Node::Newer(Time::Change, self.file_time(name, Time::Modification)?)),
            "-perm" => {
                let value = show(&self.argument(name)?);
                permission(&value).map(Node::Permission).ok_or_else(|| format!("invalid mode \u{2018}{value}\u{2019}"))
            }
            "-user" | "-group" => {
                let value = show(&self.argument(name)?);
                let mut names = if name == "-user" { Names::users() } else { Names::groups() };
                let id = names.id(&value).ok_or_else(|| {
                    format!("\u{2018}{value}\u{2019} is not the name of {} known {}", "a", &name[1..])
                })?;
                Ok(if name == "-user" { Node::User(id) } else { Node::Group(id) })
            }
            "-nouser" => Ok(Node::NoUser),
            "-nogroup" => Ok(Node::NoGroup),
            "-uid" => Ok(Node::Uid(self.number(name)?)),
            "-gid" => Ok(Node::Gid(self.number(name)?)),
            "-links" => Ok(Node::Links(self.number(name)?)),
            "-inum" => Ok(Node::Inode(self.number(name)?)),
            "-samefile" => {
                let file = self.argument(name)?;
                let found = platform::stat(&file, true)
                    .map_err(|error| format!("\u{2018}{}\u{2019}: {}", show(&file), platform::message(&error)))?;
                Ok(Node::SameFile(found.dev, found.ino))
            }
            "-empty" => Ok(Node::Empty),
            "-readable" => Ok(Node::Access(4)),
            "-writable" => Ok(Node::Access(2)),
            "-executable" => Ok(Node::Access(1)),
            "-fstype" | "-context" => {
                self.argument(name)?;
                Ok(Node::False)
            }
            "-maxdepth" | "-mindepth" => {
                let value = self.argument(name)?;
                let depth = args::number(&value).and_then(|depth| usize::try_from(depth).ok()).ok_or_else(|| {
                    format!(
                        "Expected a positive decimal integer argument to {name}, but got \u{2018}{}\u{2019}",
                        show(&value)
                    )
                })?;
                if name == "-maxdepth" {
                    self.result.max_depth = depth;
                } else {
                    self.result.min_depth = depth;
                }
                Ok(Node::True)
            }
            "-depth" | "-d" => {
                self.result.depth_first = true;
                Ok(Node::True)
            }
            "-mount" | "-xdev" => {
                self.result.one_device = true;
                Ok(Node::True)
            }
            "-follow" => {
                self.result.follow = true;
                Ok(Node::True)
            }
            "-daystart" => {
                self.daystart = true;
                self.now = (self.now.div_euclid(86_400) + 1) * 86_400;
                Ok(Node::True)
            }
            "-noleaf" | "-warn" | "-nowarn" | "-ignore_readdir_race" | "-noignore_readdir_race" => Ok(Node::True),
            "-prune" => {
                self.has_prune = true;
                Ok(Node::Prune)
            }
            // Keeps the default `-print`.
            "-quit" => Ok(Node::Quit),
            "-print" => self.action(Node::Print(None)),
            "-print0" => self.action(Node::Print0(None)),
            "-fprint" => {
                let file = self.file(name)?;
                self.action(Node::Print(file))
            }
            "-fprint0" => {
                let file = self.file(name)?;
                self.action(Node::Print0(file))
            }
            "-printf" | "-fprintf" => {
                let file = if name == "-fprintf" { self.file(name)? } else { None };
                let format = self.argument(name)?;
                self.action(Node::Printf(printf::parse(&format), file))
            }
            "-ls" => self.action(Node::List(None)),
            "-fls" => {
                let file = self.file(name)?;
                self.action(Node::List(file))
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => self.exec(name),
            "-delete" => {
                self.deletes = true;
                self.action(Node::Delete)
            }
            _ if name.starts_with("-newer") && name.len() == 8 => self.newer(name),
            _ if name.starts_with('-') => Err(format!("unknown predicate `{name}'")),
            _ => Err(format!("paths must precede expression: `{name}'")),
        }
    }

    fn regex(&mut self, name: &str) -> Parsed<Node> {
        let pattern = self.argument(name)?;
        let (dialect, extended) = self.regex_type;
        let options = Options { ignore_case: name == "-iregex", ..Options::new(dialect, extended) };
        let regex = Regex::with_wrap(&[&pattern], &options, Wrap::Line)
            .map_err(|message| format!("failed to compile regular expression '{}': {message}", show(&pattern)))?;
        Ok(Node::Regex(Box::new(regex)))
    }

    fn kinds(&mut self, name: &str) -> Parsed<Vec<u32>> {
        let value = show(&self.argument(name)?);
        value
            .split(',')
            .map(|part| match part {
                "f" => Ok(mode::FILE),
                "d" => Ok(mode::DIRECTORY),
                "l" => Ok(mode::LINK),
                "p" => Ok(mode::FIFO),
                "s" => Ok(mode::SOCKET),
                "c" => Ok(mode::CHARACTER),
                "b" => Ok(mode::BLOCK),
                "" => {
                    Err(format!("Last file type in list argument to {name} is missing, i.e., list is ending on: ','"))
                }
                _ => Err(format!("Unknown argument to {name}: {part}")),
            })
            .collect()
    }

    fn size(&mut self, name: &str) -> Parsed<Node> {
        let value = self.argument(name)?;
        let (digits, unit) = match value.last() {
            Some(b'c') => (&value[..value.len() - 1], 1),
            Some(b'w') => (&value[..value.len() - 1], 2),
            Some(b'b') => (&value[..value.len() - 1], 512),
            Some(b'k') => (&value[..value.len() - 1], 1 << 10),
            Some(b'M') => (&value[..value.len() - 1], 1 << 20),
            Some(b'G') => (&value[..value.len() - 1], 1 << 30),
            _ => (value.as_slice(), 512),
        };
        let compare = compare(digits).ok_or_else(|| format!("Invalid argument `{}' to -size", show(&value)))?;
        Ok(Node::Size(compare, unit))
    }

    /// `-newerXY`
    fn newer(&mut self, name: &str) -> Parsed<Node> {
        let time = |letter: u8| match letter {
            b'a' => Some(Time::Access),
            b'c' => Some(Time::Change),
            b'm' | b'B' => Some(Time::Modification),
            _ => None,
        };
        let letters = name.as_bytes();
        let Some(own) = time(letters[6]) else { return Err(format!("invalid predicate `{name}'")) };
        if letters[7] == b't' {
            let value = show(&self.argument(name)?);
            let moment = parse_date(&value, self.now).ok_or_else(|| {
                format!("I cannot figure out how to interpret \u{2018}{value}\u{2019} as a date or time")
            })?;
            return Ok(Node::Newer(own, moment.saturating_mul(1_000_000_000)));
        }
        let Some(other) = time(letters[7]) else { return Err(format!("invalid predicate `{name}'")) };
        Ok(Node::Newer(own, self.file_time(name, other)?))
    }

    fn exec(&mut self, name: &str) -> Parsed<Node> {
        let mut words = Vec::new();
        let in_directory = name.ends_with("dir");
        let asks = name.starts_with("-ok");
        loop {
            let word = self.words.get(self.at).cloned().ok_or_else(|| format!("missing argument to `{name}'"))?;
            self.at += 1;
            if word == b";" {
                break;
            }
            if word == b"+" && words.last().is_some_and(|last: &Vec<u8>| last == b"{}") && !asks {
                words.pop();
                if words.is_empty() {
                    return Err(format!("missing argument to `{name}'"));
                }
                self.result.batches += 1;
                let batch = self.result.batches - 1;
                return self.action(Node::ExecBatch(words, in_directory, batch));
            }
            words.push(word);
        }
        if words.is_empty() {
            return Err(format!("missing argument to `{name}'"));
        }
        self.action(Node::Exec(words, in_directory, asks))
    }
}

fn compare(value: &[u8]) -> Option<Compare> {
    let (make, digits): (fn(i64) -> Compare, &[u8]) = match value.first()? {
        b'+' => (Compare::More, &value[1..]),
        b'-' => (Compare::Less, &value[1..]),
        _ => (Compare::Equal, value),
    };
    if digits.is_empty() || !digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') {
        return None;
    }
    let number: f64 = show(digits).parse().ok()?;
    Some(make(number as i64))
}

fn permission(text: &str) -> Option<Permission> {
    let (make, text): (fn(u32) -> Permission, &str) = if let Some(rest) = text.strip_prefix('-') {
        (Permission::All, rest)
    } else if let Some(rest) = text.strip_prefix('/') {
        (Permission::Any, rest)
    } else {
        (Permission::Exactly, text)
    };
    if let Ok(bits) = u32::from_str_radix(text, 8) {
        return (bits <= 0o7777).then(|| make(bits));
    }
    let mut bits = 0;
    for clause in text.split(',') {
        let at = clause.find(['+', '-', '='])?;
        let (who, rest) = clause.split_at(at);
        let mask = who.chars().try_fold(0, |mask, who| {
            Some(
                mask | match who {
                    'u' => 0o4700,
                    'g' => 0o2070,
                    'o' => 0o1007,
                    'a' => 0o7777,
                    _ => return None,
                },
            )
        })?;
        let mask = if who.is_empty() { 0o7777 } else { mask };
        let mut wanted = 0;
        for what in rest[1..].chars() {
            wanted |= match what {
                'r' => 0o444,
                'w' => 0o222,
                'x' | 'X' => 0o111,
                's' => 0o6000,
                't' => 0o1000,
                _ => return None,
            };
        }
        match &rest[..1] {
            "-" => bits &= !(mask & wanted),
            _ => bits |= mask & wanted,
        }
    }
    Some(make(bits))
}
