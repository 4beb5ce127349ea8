//! Arithmetic: 64-bit wrapping integers, bash's operators and bases. A text is parsed to a tree once and evaluated as
//! often as its loop runs.

#[cfg(target_family = "wasm")]
mod eval;
mod number;
mod parse;

pub use number::{decimal, integer, write_decimal};
pub use parse::parse;

/// An expression.
#[derive(Debug, Clone)]
pub enum Expr {
    Num(i64),
    Var(Target),
    Unary(Unary, Box<Expr>),
    /// The last is what follows a division's operator, for its error; else it is empty.
    Binary(Binary, Box<Expr>, Box<Expr>, Box<[u8]>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `=` when there is no operator. The last is what a division's error shows.
    Assign(Option<Binary>, Target, Box<Expr>, Box<[u8]>),
    /// `++x`, `--x` and the postfix forms.
    Step {
        target: Target,
        delta: i64,
        postfix: bool,
    },
    Comma(Box<Expr>, Box<Expr>),
    /// The empty expression.
    Empty,
}

/// A variable or an array's element.
#[derive(Debug, Clone)]
pub struct Target {
    pub name: Vec<u8>,
    /// The subscript's text.
    pub index: Option<Vec<u8>>,
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    Neg,
    Plus,
    Not,
    Complement,
}

/// Operators that evaluate both operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Pow,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// A message as bash words it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArithError {
    pub message: String,
    /// What was left of the text, for `(error token is "…")`.
    pub token: Option<Vec<u8>>,
    /// The expression that it is about, unless that is the whole text.
    pub text: Option<Vec<u8>>,
}

impl ArithError {
    pub(crate) fn new(message: &str, token: &[u8]) -> Self {
        Self {
            message: message.to_string(),
            token: Some(token.to_vec()),
            text: None,
        }
    }
}
