//! The syntax tree of an awk program, with names resolved to slots.

use std::rc::Rc;

use super::builtins::Builtin;
use super::value::Text;

/// Variables with a meaning of their own; their slots come first among the globals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
#[allow(missing_docs, reason = "the names are awk's")]
pub enum Special {
    Nf,
    Nr,
    Fnr,
    Fs,
    Ofs,
    Rs,
    Ors,
    Subsep,
    Convfmt,
    Ofmt,
    Rstart,
    Rlength,
    Filename,
    Argc,
    Argv,
    Environ,
    Ignorecase,
    Fieldwidths,
    Fpat,
    Rt,
    Argind,
    Errno,
    Procinfo,
    Textdomain,
}

/// The names of [`Special`]'s variants, in order.
pub const SPECIALS: &[&str] = &[
    "NF",
    "NR",
    "FNR",
    "FS",
    "OFS",
    "RS",
    "ORS",
    "SUBSEP",
    "CONVFMT",
    "OFMT",
    "RSTART",
    "RLENGTH",
    "FILENAME",
    "ARGC",
    "ARGV",
    "ENVIRON",
    "IGNORECASE",
    "FIELDWIDTHS",
    "FPAT",
    "RT",
    "ARGIND",
    "ERRNO",
    "PROCINFO",
    "TEXTDOMAIN",
];

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Var {
    /// A slot of the globals.
    Global(usize),
    /// A slot of the function's frame.
    Local(usize),
}

/// An array: a variable, or an element that is one.
#[derive(Debug)]
pub enum ArrayRef {
    /// A variable.
    Var(Var),
    /// `a[i]` of `a[i][j]`.
    Element(Box<ArrayRef>, Vec<Expr>),
}

/// What can be assigned to.
#[derive(Debug)]
pub enum Target {
    /// A variable.
    Var(Var),
    /// `$n`
    Field(Expr),
    /// `a[i]`
    Element(ArrayRef, Vec<Expr>),
}

/// An operator with two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Compare {
    Less,
    LessEqual,
    Equal,
    NotEqual,
    Greater,
    GreaterEqual,
}

/// Where `getline` reads.
#[derive(Debug)]
pub enum Source {
    /// The main input.
    Main,
    /// `< file`
    File(Box<Expr>),
    /// `command |`
    Command(Box<Expr>),
    /// `command |&`
    Coprocess(Box<Expr>),
}

/// An expression.
#[derive(Debug)]
pub enum Expr {
    /// A number.
    Number(f64),
    /// A string.
    Text(Text),
    /// `/regex/`: an index into the program's; alone it matches `$0`.
    Regex(usize),
    /// A variable; an array only as an argument.
    Var(Var),
    /// `$n`
    Field(Box<Expr>),
    /// `a[i]`
    Element(ArrayRef, Vec<Expr>),
    /// `(a, b)`, only before `in` and after `print`.
    List(Vec<Expr>),
    /// `(a)`
    Group(Box<Expr>),
    /// `=`
    Assign(Box<Target>, Box<Expr>),
    /// `+=` and its like.
    Update(Arith, Box<Target>, Box<Expr>),
    /// `++` and `--`: the change, and whether the value is the one before it.
    Step(Box<Target>, f64, bool),
    /// `a ? b : c`
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `&&`
    And(Box<Expr>, Box<Expr>),
    /// `||`
    Or(Box<Expr>, Box<Expr>),
    /// `!`
    Not(Box<Expr>),
    /// `-`
    Negate(Box<Expr>),
    /// `+`
    Plus(Box<Expr>),
    /// Numbers.
    Arith(Arith, Box<Expr>, Box<Expr>),
    /// A comparison.
    Compare(Compare, Box<Expr>, Box<Expr>),
    /// `~`; negated `!~`.
    Match(bool, Box<Expr>, Box<Expr>),
    /// `in`
    In(Vec<Expr>, ArrayRef),
    /// Two strings after one another.
    Concat(Box<Expr>, Box<Expr>),
    /// A function of the program.
    Call(usize, Vec<Expr>),
    /// `@name(…)`
    IndirectCall(Var, Vec<Expr>),
    /// A function of awk.
    Builtin(Builtin, Vec<Expr>),
    /// `getline`
    Getline(Source, Option<Box<Target>>),
}

/// Where `print` writes.
#[derive(Debug)]
pub enum Redirect {
    /// `>`
    Write(Expr),
    /// `>>`
    Append(Expr),
    /// `|`
    Pipe(Expr),
    /// `|&`
    Coprocess(Expr),
}

/// A statement.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are awk's")]
pub enum Stmt {
    Expr(Expr),
    Print(Vec<Expr>, Option<Redirect>),
    Printf(Vec<Expr>, Option<Redirect>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    DoWhile(Box<Stmt>, Expr),
    For(Option<Box<Stmt>>, Option<Expr>, Option<Box<Stmt>>, Box<Stmt>),
    ForIn(Box<Target>, ArrayRef, Box<Stmt>),
    Block(Vec<Stmt>),
    /// The cases' values, `None` for `default`, and where their statements begin.
    Switch(Expr, Vec<(Option<Expr>, usize)>, Vec<Stmt>),
    Next,
    NextFile,
    Exit(Option<Expr>),
    Return(Option<Expr>),
    Break,
    Continue,
    Delete(ArrayRef, Option<Vec<Expr>>),
}

/// When an action runs.
#[derive(Debug)]
pub enum Pattern {
    /// For every record.
    Always,
    /// When the expression is true.
    Expr(Expr),
    /// From one record to another; the index is that of the range's state.
    Range(Expr, Expr, usize),
}

/// A pattern with its action; `None` prints the record.
#[derive(Debug)]
pub struct Rule {
    /// When.
    pub pattern: Pattern,
    /// What.
    pub action: Option<Stmt>,
}

/// A function of the program.
#[derive(Debug)]
pub struct Function {
    /// Its name, for indirect calls and messages.
    pub name: String,
    /// How many parameters it has.
    pub parameters: usize,
    /// What it does.
    pub body: Stmt,
}

/// A whole program.
#[derive(Debug, Default)]
#[allow(missing_docs, reason = "the names are awk's")]
pub struct Program {
    pub begin: Vec<Stmt>,
    pub begin_file: Vec<Stmt>,
    pub rules: Vec<Rule>,
    pub end_file: Vec<Stmt>,
    pub end: Vec<Stmt>,
    pub functions: Vec<Rc<Function>>,
    /// The names of the globals, by slot.
    pub globals: Vec<String>,
    /// The texts of the regular expressions.
    pub regexes: Vec<Vec<u8>>,
    pub ranges: usize,
}
