//! The syntax tree: what the parser makes, the executor walks and a spawned subshell inherits.
//!
//! Words are parsed into parts once, when the command is read, so a loop body never looks at its text again.

use serde::{Deserialize, Serialize};
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use crate::arith::Expr;

/// Commands separated by `;`, `&` or newlines.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct List(pub Vec<ListItem>);

/// One and-or list and how it was ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ListItem {
    pub body: AndOr,
    pub background: bool,
}

/// Pipelines joined by `&&` and `||`, left-associative.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AndOr {
    pub first: Pipeline,
    /// `true` for `&&`.
    pub rest: Vec<(bool, Pipeline)>,
}

/// Which report the `time` keyword makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Timed {
    Bash,
    Posix,
}

/// Commands joined by `|`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pipeline {
    pub negate: bool,
    pub timed: Option<Timed>,
    pub stages: Vec<Command>,
}

/// One command with its redirections.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Command {
    pub kind: CommandKind,
    pub redirects: Vec<Redirect>,
    pub line: u32,
    /// Its text for BASH_COMMAND, once a trap may ask for it.
    #[serde(skip)]
    pub text: OnceCell<Rc<[u8]>>,
}

/// What a command is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum CommandKind {
    Simple(Simple),
    Group(List),
    Subshell(List),
    If {
        clauses: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    For {
        name: Vec<u8>,
        words: Option<Vec<Word>>,
        body: List,
    },
    ArithFor {
        init: Arith,
        cond: Arith,
        step: Arith,
        body: List,
    },
    While {
        until: bool,
        cond: List,
        body: List,
    },
    Case {
        word: Word,
        arms: Vec<CaseArm>,
    },
    Select {
        name: Vec<u8>,
        words: Option<Vec<Word>>,
        body: List,
    },
    Arith(Arith),
    Cond(Cond),
    Function(Rc<FunctionDef>),
    Coproc {
        name: Vec<u8>,
        body: Box<Command>,
    },
}

/// A function's definition; redirections after its body belong to the body.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FunctionDef {
    pub name: Vec<u8>,
    pub body: Command,
    /// The file it was read from, for BASH_SOURCE.
    pub source: Rc<[u8]>,
    /// Line of the `name ()`.
    pub line: u32,
}

/// One `pattern) list ;;` of `case`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CaseArm {
    pub patterns: Vec<Word>,
    pub body: List,
    pub end: CaseEnd,
}

/// `;;`, `;&` and `;;&`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CaseEnd {
    Break,
    FallThrough,
    TestNext,
}

/// Assignments and words. A command without words assigns in the shell itself.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Simple {
    pub assigns: Vec<Assign>,
    pub args: Vec<Arg>,
}

/// An argument; declaration builtins take assignments, which are neither split nor globbed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Arg {
    Word(Word),
    Assign(Assign),
}

/// `name=value`, `name[sub]=value`, `name=(…)`, each also with `+=`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Assign {
    pub name: Vec<u8>,
    pub index: Option<Subscript>,
    pub append: bool,
    pub value: AssignValue,
}

/// The right-hand side of an assignment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum AssignValue {
    Scalar(Word),
    Array(Vec<Element>),
}

/// One element of an array literal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Element {
    pub index: Option<Subscript>,
    pub append: bool,
    pub value: Word,
}

/// What stands in brackets after an array's name.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Subscript {
    /// `[@]`
    At,
    /// `[*]`
    Star,
    /// Anything else: a key, or an arithmetic expression for indexed arrays.
    Expr(Box<Arith>),
}

/// A word: its parts, and its source text for printing.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Word {
    pub parts: Vec<Part>,
    pub raw: Box<[u8]>,
    /// Whether an unquoted `{` occurs, so brace expansion must look.
    pub braces: bool,
}

/// A piece of a word.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Part {
    /// Unquoted text: pattern characters in it are active.
    Lit(Vec<u8>),
    /// Quoted text.
    Quoted(Vec<u8>),
    /// A double-quoted string.
    Double(Vec<Part>),
    /// `~name` at a place where it expands; empty for the plain `~`.
    Tilde(Vec<u8>),
    Param(Box<Param>),
    CmdSub(Rc<CmdSub>),
    Arith(Box<Arith>),
    ProcSub {
        write: bool,
        body: Rc<List>,
        raw: Box<[u8]>,
    },
}

/// A command substitution.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CmdSub {
    /// The commands, or the message of a syntax error found in back quotes.
    pub body: Result<List, String>,
    pub line: u32,
    pub backquoted: bool,
}

/// An arithmetic expression: a word expanded as in double quotes, then evaluated. A text without expansions is parsed
/// only once.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Arith {
    pub text: Word,
    #[serde(skip)]
    pub parsed: OnceCell<Option<Rc<Expr>>>,
}

/// Which parameter `${…}` names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParamName {
    Var(Vec<u8>),
    Positional(u32),
    /// One of `@ * # ? - $ ! 0`.
    Special(u8),
}

/// `$name` or `${…}`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Param {
    pub name: ParamName,
    pub index: Option<Subscript>,
    /// `${!…}`
    pub indirect: bool,
    pub op: ParamOp,
    /// Source text, for messages.
    pub raw: Box<[u8]>,
    /// Written with braces; without, text that brace expansion puts behind it becomes part of the name.
    pub braced: bool,
}

/// The operator of a parameter expansion.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ParamOp {
    None,
    /// `${#x}`
    Length,
    /// `- = ? +`; `colon` also counts the empty string as unset.
    Test {
        op: u8,
        colon: bool,
        word: Word,
    },
    /// `#` and `##`
    Prefix {
        longest: bool,
        pattern: Word,
    },
    /// `%` and `%%`
    Suffix {
        longest: bool,
        pattern: Word,
    },
    /// `/`, `//`, `/#`, `/%`
    Replace {
        mode: ReplaceMode,
        pattern: Word,
        with: Option<Word>,
    },
    /// `^ ^^ , ,, ~ ~~`
    Case {
        op: u8,
        all: bool,
        pattern: Option<Word>,
    },
    /// `:offset:length`
    Slice {
        offset: Box<Arith>,
        length: Option<Box<Arith>>,
    },
    /// `@X`
    Transform(u8),
    /// `${!prefix*}` and `${!prefix@}`
    Names {
        at: bool,
    },
    /// `${!name[@]}`
    Keys,
    /// Not valid; reported when expanded, as bash does.
    Bad,
}

/// Where `${x/…}` replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplaceMode {
    First,
    All,
    Prefix,
    Suffix,
}

/// Which descriptor a redirection changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum RedirectFd {
    Default,
    Number(i32),
    /// `{name}>…`
    Variable(Vec<u8>),
}

/// A redirection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Redirect {
    pub fd: RedirectFd,
    pub kind: RedirectKind,
}

/// What a redirection does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum RedirectKind {
    Read(Word),
    Write(Word),
    Append(Word),
    ReadWrite(Word),
    Clobber(Word),
    /// `<&word`
    DupIn(Word),
    /// `>&word`
    DupOut(Word),
    /// `&>word`
    Both(Word),
    /// `&>>word`
    BothAppend(Word),
    HereString(Word),
    HereDoc(HereDoc),
}

/// A here-document; its body is read when the line that holds the operator ends.
#[derive(Debug, Clone)]
pub struct HereDoc {
    pub body: Rc<RefCell<Word>>,
    /// The delimiter as written, for printing.
    pub delimiter: Vec<u8>,
    pub strip_tabs: bool,
}

impl Serialize for HereDoc {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        (&*self.body.borrow(), &self.delimiter, self.strip_tabs).serialize(s)
    }
}

impl<'de> Deserialize<'de> for HereDoc {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let (body, delimiter, strip_tabs) = <(Word, Vec<u8>, bool)>::deserialize(d)?;
        Ok(Self {
            body: Rc::new(RefCell::new(body)),
            delimiter,
            strip_tabs,
        })
    }
}

/// The expression of `[[ … ]]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Cond {
    And(Box<Cond>, Box<Cond>),
    Or(Box<Cond>, Box<Cond>),
    Not(Box<Cond>),
    Group(Box<Cond>),
    /// `-x word`
    Unary(u8, Word),
    /// `word op word`
    Binary(CondOp, Word, Word),
    /// A lone word: true unless empty.
    Word(Word),
}

/// The binary operators of `[[ … ]]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CondOp {
    /// `=` or `==`; the flag says which, for printing.
    Match {
        double: bool,
    },
    NotMatch,
    Regex,
    Less,
    Greater,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Newer,
    Older,
    SameFile,
}

impl Word {
    /// A word of one quoted piece.
    pub fn quoted(text: &[u8]) -> Self {
        Self {
            parts: vec![Part::Quoted(text.to_vec())],
            raw: text.into(),
            braces: false,
        }
    }

    /// The text when the word is plain: unquoted, without expansions.
    pub fn literal(&self) -> Option<&[u8]> {
        match self.parts.as_slice() {
            [] => Some(b""),
            [Part::Lit(text)] => Some(text),
            _ => None,
        }
    }
}

impl Command {
    /// A command that begins on the given line.
    pub fn new(kind: CommandKind, redirects: Vec<Redirect>, line: u32) -> Self {
        Self {
            kind,
            redirects,
            line,
            text: OnceCell::new(),
        }
    }
}

impl Arith {
    /// An expression over the given text.
    pub fn new(text: Word) -> Self {
        Self {
            text,
            parsed: OnceCell::new(),
        }
    }
}
