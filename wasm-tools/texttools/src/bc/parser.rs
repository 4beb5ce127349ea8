//! Parses bc's language.

/// How deep a program may nest.
const MAX_DEPTH: usize = 150;

/// What can be assigned to.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are bc's")]
pub enum Place {
    Var(String),
    Element(String, Box<Expr>),
    Scale,
    Ibase,
    Obase,
    Last,
}

/// An expression.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Expr {
    /// The digits: what they mean depends on `ibase` when they are reached.
    Number(String),
    Place(Place),
    Assign(Place, Option<u8>, Box<Expr>),
    /// The change, and whether the value is the one before it.
    Step(Place, i64, bool),
    Negate(Box<Expr>),
    Not(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// An argument may be a whole array: `f(a[])`.
    Call(String, Vec<Argument>),
    Length(Box<Expr>),
    ScaleOf(Box<Expr>),
    Sqrt(Box<Expr>),
    Read,
    /// In parentheses: an assignment in them is printed.
    Group(Box<Expr>),
}

/// An argument of a call.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Argument {
    Value(Expr),
    Array(String),
}

/// A parameter or a variable of a function.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub name: String,
    /// `name[]`
    pub array: bool,
}

/// A statement.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are bc's")]
pub enum Stmt {
    Expr(Expr),
    Text(String),
    Print(Vec<Stmt>),
    Block(Vec<Stmt>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    For(Option<Expr>, Option<Expr>, Option<Expr>, Box<Stmt>),
    Break,
    Continue,
    Return(Option<Expr>),
    Halt,
    Quit,
    Define(Box<Function>),
    Limits,
}

/// A function.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Function {
    pub name: String,
    /// `define void`: a call prints nothing.
    pub void: bool,
    pub parameters: Vec<Name>,
    pub autos: Vec<Name>,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(String),
    Text(String),
    Word(String),
    Op(&'static str),
    Newline,
    End,
}

const OPERATORS: &[&str] = &[
    "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "==", "<=", ">=", "!=", "&&", "||", "+", "-", "*", "/", "%", "^",
    "=", "<", ">", "!", "(", ")", "{", "}", "[", "]", ";", ",", ".",
];

/// A parser of a whole text, statement by statement.
pub struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, String>;

fn tokenize(text: &str) -> Vec<(Token, usize)> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < bytes.len() {
        let byte = bytes[at];
        let rest = &bytes[at..];
        match byte {
            b'\n' => {
                tokens.push((Token::Newline, line));
                line += 1;
                at += 1;
            }
            b' ' | b'\t' | b'\r' => at += 1,
            b'\\' if rest.get(1) == Some(&b'\n') => {
                line += 1;
                at += 2;
            }
            b'#' => at += memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            b'/' if rest.get(1) == Some(&b'*') => {
                let length = memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |length| length + 4);
                line += memchr::memchr_iter(b'\n', &rest[..length]).count();
                at += length;
            }
            b'"' => {
                let length = memchr::memchr(b'"', &rest[1..]).unwrap_or(rest.len() - 1);
                line += memchr::memchr_iter(b'\n', &rest[..=length]).count();
                tokens.push((Token::Text(String::from_utf8_lossy(&rest[1..=length]).into_owned()), line));
                at += (length + 2).min(rest.len());
            }
            b'0'..=b'9' | b'A'..=b'Z' | b'.'
                if byte != b'.' || rest.get(1).is_some_and(|b| b.is_ascii_digit() || b.is_ascii_uppercase()) =>
            {
                let mut digits = String::new();
                let mut point = false;
                let mut length = 0;
                while let Some(&byte) = rest.get(length) {
                    match byte {
                        b'0'..=b'9' | b'A'..=b'Z' => digits.push(byte as char),
                        b'.' if !point => {
                            point = true;
                            digits.push('.');
                        }
                        b'\\' if rest.get(length + 1) == Some(&b'\n') => length += 1,
                        _ => break,
                    }
                    length += 1;
                }
                tokens.push((Token::Number(digits), line));
                at += length;
            }
            b'a'..=b'z' | b'_' => {
                let length =
                    rest.iter().take_while(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || **b == b'_').count();
                tokens.push((Token::Word(text[at..at + length].to_string()), line));
                at += length;
            }
            _ => match OPERATORS.iter().find(|op| rest.starts_with(op.as_bytes())) {
                Some(op) => {
                    tokens.push((Token::Op(op), line));
                    at += op.len();
                }
                None => {
                    // An operator that no rule takes: a syntax error where it stands.
                    tokens.push((Token::Word("\u{0}".into()), line));
                    at += 1;
                    while at < bytes.len() && !text.is_char_boundary(at) {
                        at += 1;
                    }
                }
            },
        }
    }
    tokens.push((Token::End, line));
    tokens
}

impl Parser {
    /// A parser of this text.
    pub fn new(text: &str) -> Self {
        Self { tokens: tokenize(text), at: 0, depth: 0 }
    }

    /// The next statements up to the end of a line; `None` at the end of the text.
    ///
    /// # Errors
    /// The line number and message; the rest of the line is skipped.
    pub fn next_line(&mut self) -> Option<Result<Vec<Stmt>, (usize, String)>> {
        while matches!(self.peek(), Token::Newline | Token::Op(";")) {
            self.next();
        }
        if *self.peek() == Token::End {
            return None;
        }
        self.depth = 0;
        let mut statements = Vec::new();
        loop {
            let line = self.tokens[self.at].1;
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(message) => {
                    let line = self.tokens[self.at.saturating_sub(1)].1.max(line);
                    while !matches!(self.peek(), Token::Newline | Token::End) {
                        self.next();
                    }
                    return Some(Err((line, message)));
                }
            }
            match self.peek() {
                Token::Op(";") => {
                    self.next();
                    if matches!(self.peek(), Token::Newline | Token::End) {
                        return Some(Ok(statements));
                    }
                }
                Token::Newline | Token::End => return Some(Ok(statements)),
                _ if matches!(
                    statements.last(),
                    Some(Stmt::Block(_) | Stmt::Define(_) | Stmt::If(..) | Stmt::While(..) | Stmt::For(..))
                ) =>
                {
                    return Some(Ok(statements));
                }
                _ => {
                    let line = self.tokens[self.at].1;
                    while !matches!(self.peek(), Token::Newline | Token::End) {
                        self.next();
                    }
                    return Some(Err((line, "syntax error".into())));
                }
            }
        }
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn next(&mut self) -> Token {
        let token = self.tokens[self.at].0.clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn eat(&mut self, op: &str) -> bool {
        let found = matches!(self.peek(), Token::Op(found) if *found == op);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, op: &str) -> Parsed<()> {
        if self.eat(op) { Ok(()) } else { Err("syntax error".into()) }
    }

    fn skip_newlines(&mut self) {
        while *self.peek() == Token::Newline {
            self.next();
        }
    }

    fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err("program nested too deeply".into()) } else { Ok(()) }
    }

    fn ends_statement(&self) -> bool {
        matches!(self.peek(), Token::Newline | Token::End | Token::Op(";" | "}"))
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        self.enter()?;
        let statement = self.statement_inner();
        self.depth = self.depth.saturating_sub(1);
        statement
    }

    fn statement_inner(&mut self) -> Parsed<Stmt> {
        match self.peek().clone() {
            Token::Text(text) => {
                self.next();
                Ok(Stmt::Text(text))
            }
            Token::Op("{") => {
                self.next();
                Ok(Stmt::Block(self.block()?))
            }
            Token::Op(";") => Ok(Stmt::Block(Vec::new())),
            Token::Word(word) => match word.as_str() {
                "if" => {
                    self.next();
                    let condition = self.condition()?;
                    let then = Box::new(self.body()?);
                    let mark = self.at;
                    while matches!(self.peek(), Token::Newline | Token::Op(";")) {
                        self.next();
                    }
                    if *self.peek() == Token::Word("else".into()) {
                        self.next();
                        return Ok(Stmt::If(condition, then, Some(Box::new(self.body()?))));
                    }
                    self.at = mark;
                    Ok(Stmt::If(condition, then, None))
                }
                "while" => {
                    self.next();
                    let condition = self.condition()?;
                    Ok(Stmt::While(condition, Box::new(self.body()?)))
                }
                "for" => {
                    self.next();
                    self.expect("(")?;
                    let mut part = |end: &str| -> Parsed<Option<Expr>> {
                        let part = if self.eat(end) { return Ok(None) } else { self.expression()? };
                        self.expect(end)?;
                        Ok(Some(part))
                    };
                    let (first, condition, step) = (part(";")?, part(";")?, part(")")?);
                    Ok(Stmt::For(first, condition, step, Box::new(self.body()?)))
                }
                "break" => self.word(Stmt::Break),
                "continue" => self.word(Stmt::Continue),
                "halt" => self.word(Stmt::Halt),
                "quit" => self.word(Stmt::Quit),
                "limits" | "warranty" => self.word(Stmt::Limits),
                "return" => {
                    self.next();
                    Ok(Stmt::Return(if self.ends_statement() { None } else { Some(self.expression()?) }))
                }
                "print" => {
                    self.next();
                    let mut items = Vec::new();
                    loop {
                        items.push(match self.peek().clone() {
                            Token::Text(text) => {
                                self.next();
                                Stmt::Text(text)
                            }
                            _ => Stmt::Expr(self.expression()?),
                        });
                        if !self.eat(",") {
                            return Ok(Stmt::Print(items));
                        }
                    }
                }
                "define" => self.define(),
                _ => Ok(Stmt::Expr(self.expression()?)),
            },
            _ => Ok(Stmt::Expr(self.expression()?)),
        }
    }

    fn word(&mut self, statement: Stmt) -> Parsed<Stmt> {
        self.next();
        Ok(statement)
    }

    fn condition(&mut self) -> Parsed<Expr> {
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        Ok(condition)
    }

    fn body(&mut self) -> Parsed<Stmt> {
        self.skip_newlines();
        self.statement()
    }

    /// Statements up to `}`.
    fn block(&mut self) -> Parsed<Vec<Stmt>> {
        let mut statements = Vec::new();
        loop {
            while matches!(self.peek(), Token::Newline | Token::Op(";")) {
                self.next();
            }
            if self.eat("}") {
                return Ok(statements);
            }
            if *self.peek() == Token::End {
                return Err("syntax error".into());
            }
            statements.push(self.statement()?);
            if !self.ends_statement()
                && !matches!(statements.last(), Some(Stmt::Block(_) | Stmt::If(..) | Stmt::While(..) | Stmt::For(..)))
            {
                return Err("syntax error".into());
            }
        }
    }

    fn names(&mut self, end: &str) -> Parsed<Vec<Name>> {
        let mut names = Vec::new();
        while !self.eat(end) {
            // Parameters by reference, `*a[]`, are taken by value.
            self.eat("*");
            let Token::Word(name) = self.next() else { return Err("syntax error".into()) };
            let array = self.eat("[");
            if array {
                self.expect("]")?;
            }
            names.push(Name { name, array });
            self.eat(",");
            if *self.peek() == Token::End || end == "\n" && *self.peek() == Token::Newline {
                break;
            }
        }
        Ok(names)
    }

    fn define(&mut self) -> Parsed<Stmt> {
        self.next();
        let void = *self.peek() == Token::Word("void".into());
        if void {
            self.next();
        }
        let Token::Word(name) = self.next() else { return Err("syntax error".into()) };
        self.expect("(")?;
        let parameters = self.names(")")?;
        self.skip_newlines();
        self.expect("{")?;
        while matches!(self.peek(), Token::Newline | Token::Op(";")) {
            self.next();
        }
        let mut autos = Vec::new();
        if *self.peek() == Token::Word("auto".into()) {
            self.next();
            loop {
                let Token::Word(name) = self.next() else { return Err("syntax error".into()) };
                let array = self.eat("[");
                if array {
                    self.expect("]")?;
                }
                autos.push(Name { name, array });
                if !self.eat(",") {
                    break;
                }
            }
        }
        let body = self.block()?;
        Ok(Stmt::Define(Box::new(Function { name, void, parameters, autos, body })))
    }

    /// By rising precedence: `||`, `&&`, `!`, comparisons, assignments, sums, products, powers, signs.
    fn expression(&mut self) -> Parsed<Expr> {
        self.enter()?;
        let mut left = self.and()?;
        while self.eat("||") {
            left = Expr::Binary("||", Box::new(left), Box::new(self.and()?));
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(left)
    }

    fn and(&mut self) -> Parsed<Expr> {
        let mut left = self.not()?;
        while self.eat("&&") {
            left = Expr::Binary("&&", Box::new(left), Box::new(self.not()?));
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed<Expr> {
        self.enter()?;
        let result = if self.eat("!") { Expr::Not(Box::new(self.not()?)) } else { self.comparison()? };
        self.depth = self.depth.saturating_sub(1);
        Ok(result)
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let mut left = self.assignment()?;
        loop {
            let op = match self.peek() {
                Token::Op(op @ ("==" | "<=" | ">=" | "!=" | "<" | ">")) => *op,
                _ => return Ok(left),
            };
            self.next();
            left = Expr::Binary(op, Box::new(left), Box::new(self.assignment()?));
        }
    }

    fn assignment(&mut self) -> Parsed<Expr> {
        let left = self.sum()?;
        let Token::Op(op @ ("=" | "+=" | "-=" | "*=" | "/=" | "%=" | "^=")) = *self.peek() else { return Ok(left) };
        let Expr::Place(place) = left else { return Err("syntax error".into()) };
        self.next();
        self.enter()?;
        let value = self.assignment()?;
        self.depth = self.depth.saturating_sub(1);
        Ok(Expr::Assign(place, (op != "=").then(|| op.as_bytes()[0]), Box::new(value)))
    }

    fn sum(&mut self) -> Parsed<Expr> {
        let mut left = self.product()?;
        loop {
            let op = match self.peek() {
                Token::Op(op @ ("+" | "-")) => *op,
                _ => return Ok(left),
            };
            self.next();
            left = Expr::Binary(op, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Parsed<Expr> {
        let mut left = self.power()?;
        loop {
            let op = match self.peek() {
                Token::Op(op @ ("*" | "/" | "%")) => *op,
                _ => return Ok(left),
            };
            self.next();
            left = Expr::Binary(op, Box::new(left), Box::new(self.power()?));
        }
    }

    fn power(&mut self) -> Parsed<Expr> {
        let base = self.unary()?;
        if !self.eat("^") {
            return Ok(base);
        }
        self.enter()?;
        let exponent = self.power()?;
        self.depth = self.depth.saturating_sub(1);
        Ok(Expr::Binary("^", Box::new(base), Box::new(exponent)))
    }

    fn unary(&mut self) -> Parsed<Expr> {
        if self.eat("-") {
            self.enter()?;
            let operand = self.unary()?;
            self.depth = self.depth.saturating_sub(1);
            return Ok(Expr::Negate(Box::new(operand)));
        }
        for (op, change) in [("++", 1), ("--", -1)] {
            if self.eat(op) {
                let Expr::Place(place) = self.primary()? else { return Err("syntax error".into()) };
                return Ok(Expr::Step(place, change, false));
            }
        }
        let operand = self.primary()?;
        for (op, change) in [("++", 1), ("--", -1)] {
            if self.eat(op) {
                let Expr::Place(place) = operand else { return Err("syntax error".into()) };
                return Ok(Expr::Step(place, change, true));
            }
        }
        Ok(operand)
    }

    fn argument_of(&mut self) -> Parsed<Box<Expr>> {
        self.expect("(")?;
        let argument = self.expression()?;
        self.expect(")")?;
        Ok(Box::new(argument))
    }

    fn primary(&mut self) -> Parsed<Expr> {
        match self.next() {
            Token::Number(digits) => Ok(Expr::Number(digits)),
            Token::Op("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(Expr::Group(Box::new(inner)))
            }
            Token::Op(".") => Ok(Expr::Place(Place::Last)),
            Token::Word(word) => match word.as_str() {
                "length" => Ok(Expr::Length(self.argument_of()?)),
                "sqrt" => Ok(Expr::Sqrt(self.argument_of()?)),
                "scale" if matches!(self.peek(), Token::Op("(")) => Ok(Expr::ScaleOf(self.argument_of()?)),
                "scale" => Ok(Expr::Place(Place::Scale)),
                "ibase" => Ok(Expr::Place(Place::Ibase)),
                "obase" => Ok(Expr::Place(Place::Obase)),
                "last" => Ok(Expr::Place(Place::Last)),
                "read" => {
                    self.expect("(")?;
                    self.expect(")")?;
                    Ok(Expr::Read)
                }
                "if" | "else" | "while" | "for" | "define" | "auto" | "return" | "print" | "\u{0}" => {
                    self.at = self.at.saturating_sub(1);
                    Err("syntax error".into())
                }
                _ if self.eat("(") => {
                    let mut arguments = Vec::new();
                    while !self.eat(")") {
                        let array = match (self.peek(), self.tokens.get(self.at + 1), self.tokens.get(self.at + 2)) {
                            (Token::Word(name), Some((Token::Op("["), _)), Some((Token::Op("]"), _))) => {
                                Some(name.clone())
                            }
                            _ => None,
                        };
                        arguments.push(match array {
                            Some(name) => {
                                (self.next(), self.next(), self.next());
                                Argument::Array(name)
                            }
                            None => Argument::Value(self.expression()?),
                        });
                        if !self.eat(",") {
                            self.expect(")")?;
                            break;
                        }
                    }
                    Ok(Expr::Call(word, arguments))
                }
                _ if self.eat("[") => {
                    let index = self.expression()?;
                    self.expect("]")?;
                    Ok(Expr::Place(Place::Element(word, Box::new(index))))
                }
                _ => Ok(Expr::Place(Place::Var(word))),
            },
            _ => {
                self.at = self.at.saturating_sub(1);
                Err("syntax error".into())
            }
        }
    }
}
