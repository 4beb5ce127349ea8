//! Parses jq's language.

use std::rc::Rc;

use super::value::Json;

/// How deep a program may nest.
const MAX_DEPTH: usize = 200;

/// An operator with two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Alternative,
}

/// What `as` binds.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Pattern {
    Var(Rc<str>),
    Array(Vec<Pattern>),
    /// Keys, the variable that gets the value too (`$name: …`), and the pattern of the value.
    Object(Vec<(Expr, Option<Rc<str>>, Option<Pattern>)>),
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: Rc<str>,
    /// Its parameters; those that begin with `$` are values.
    pub parameters: Vec<Rc<str>>,
    /// What it does.
    pub body: Expr,
}

/// A part of a string.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Piece {
    Text(String),
    Value(Expr),
}

/// A filter.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are jq's")]
pub enum Expr {
    Identity,
    RecurseDefault,
    Literal(Json),
    /// The format before the string, `@base64 "…"`.
    Text(Option<Rc<str>>, Vec<Piece>),
    Format(Rc<str>),
    Var(Rc<str>),
    Index(Box<Expr>, Box<Expr>),
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    Iterate(Box<Expr>),
    Array(Option<Box<Expr>>),
    Object(Vec<(Expr, Expr)>),
    Negate(Box<Expr>),
    Pipe(Box<Expr>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    /// `=`
    Assign(Box<Expr>, Box<Expr>),
    /// `|=`
    Modify(Box<Expr>, Box<Expr>),
    /// `+=` and its like.
    Update(Op, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    Try(Box<Expr>, Option<Box<Expr>>),
    Reduce(Box<Expr>, Pattern, Box<Expr>, Box<Expr>),
    Foreach(Box<Expr>, Pattern, Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    Define(Rc<Function>, Box<Expr>),
    Call(Rc<str>, Vec<Expr>),
    /// The value, the patterns tried one after another (`?//`), and what follows.
    As(Box<Expr>, Vec<Pattern>, Box<Expr>),
    Label(Rc<str>, Box<Expr>),
    Break(Rc<str>),
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    /// The raw text between the quotes, escapes and all.
    Text(Vec<u8>),
    Name(String),
    Field(String),
    Var(String),
    Format(String),
    Op(&'static str),
    End,
}

const OPERATORS: &[&str] = &[
    "?//=", "?//", "//=", "|=", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", "//", "..", "|", ",", "+", "-",
    "*", "/", "%", "=", "<", ">", ".", "[", "]", "(", ")", "{", "}", ":", ";", "?", "$",
];

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, String>;

/// Parses a program.
///
/// # Errors
/// The message.
pub fn parse(source: &str) -> Parsed<Expr> {
    let mut parser = Parser { tokens: tokenize(source.as_bytes())?, at: 0, depth: 0 };
    let definitions = parser.definitions()?;
    let body = if *parser.peek() == Token::End { Expr::Identity } else { parser.pipe()? };
    if *parser.peek() != Token::End {
        return parser.unexpected();
    }
    Ok(definitions.into_iter().rev().fold(body, |body, function| Expr::Define(Rc::new(function), Box::new(body))))
}

/// Parses definitions alone.
///
/// # Errors
/// The message.
pub fn parse_definitions(source: &str) -> Parsed<Vec<Function>> {
    let mut parser = Parser { tokens: tokenize(source.as_bytes())?, at: 0, depth: 0 };
    let definitions = parser.definitions()?;
    if *parser.peek() == Token::End { Ok(definitions) } else { parser.unexpected() }
}

fn name_length(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let length = text[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        at += length;
        // Modules: `a::b`.
        if length > 0 && text[at..].starts_with(b"::") && text.get(at + 2).is_some_and(u8::is_ascii_alphabetic) {
            at += 2;
        } else {
            return at;
        }
    }
}

fn tokenize(source: &[u8]) -> Parsed<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < source.len() {
        let rest = &source[at..];
        let byte = rest[0];
        let text = |length: usize| String::from_utf8_lossy(&rest[..length]).into_owned();
        let starts_name = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
        match byte {
            _ if byte.is_ascii_whitespace() => at += 1,
            b'#' => at += memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            b'"' => {
                let length = string_length(rest).ok_or("syntax error, unexpected end of string")?;
                tokens.push(Token::Text(rest[1..length - 1].to_vec()));
                at += length;
            }
            b'.' if starts_name(rest.get(1)) => {
                let length = 1 + rest[1..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
                tokens.push(Token::Field(text(length)[1..].to_string()));
                at += length;
            }
            b'0'..=b'9' | b'.' if byte != b'.' || rest.get(1).is_some_and(u8::is_ascii_digit) => {
                let mut length = rest.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
                if matches!(rest.get(length), Some(b'e' | b'E')) {
                    let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
                    let digits =
                        rest[(length + 1 + sign).min(rest.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
                    if digits > 0 {
                        length += 1 + sign + digits;
                    }
                }
                let number =
                    text(length).parse().map_err(|_| format!("syntax error, invalid number {}", text(length)))?;
                tokens.push(Token::Number(number));
                at += length;
            }
            b'$' if starts_name(rest.get(1)) => {
                let length = name_length(&rest[1..]);
                tokens.push(Token::Var(text(length + 1)[1..].to_string()));
                at += length + 1;
            }
            b'@' if starts_name(rest.get(1)) => {
                let length = name_length(&rest[1..]);
                tokens.push(Token::Format(text(length + 1)));
                at += length + 1;
            }
            _ if starts_name(Some(&byte)) => {
                let length = name_length(rest);
                let name = text(length);
                tokens.push(match name.as_str() {
                    "and" => Token::Op("and"),
                    "or" => Token::Op("or"),
                    _ => Token::Name(name),
                });
                at += length;
            }
            _ => match OPERATORS.iter().find(|op| rest.starts_with(op.as_bytes())) {
                Some(op) => {
                    tokens.push(Token::Op(op));
                    at += op.len();
                }
                None => {
                    let c = String::from_utf8_lossy(rest).chars().next().unwrap_or('?');
                    return Err(format!("syntax error, unexpected INVALID_CHARACTER '{c}'"));
                }
            },
        }
    }
    tokens.push(Token::End);
    Ok(tokens)
}

/// The length of a string literal with its quotes, interpolations skipped.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' if text.get(at + 1) == Some(&b'(') => at += 1 + interpolation_length(&text[at + 1..])?,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The length of `(…)`.
fn interpolation_length(text: &[u8]) -> Option<usize> {
    let (mut at, mut open) = (0, 0usize);
    loop {
        match text.get(at)? {
            b'(' => open += 1,
            b')' => {
                open -= 1;
                if open == 0 {
                    return Some(at + 1);
                }
            }
            b'"' => {
                at += string_length(&text[at..])?;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn next(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn is(&self, op: &str) -> bool {
        matches!(self.peek(), Token::Op(found) if *found == op)
    }

    fn eat(&mut self, op: &str) -> bool {
        let found = self.is(op);
        if found {
            self.next();
        }
        found
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(name) if name == word)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, op: &str) -> Parsed<()> {
        if self.eat(op) { Ok(()) } else { self.unexpected() }
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.unexpected() }
    }

    fn unexpected<T>(&self) -> Parsed<T> {
        Err(match self.peek() {
            Token::End => "syntax error, unexpected $end (Unix shell quoting issues?)".into(),
            Token::Op(op) => format!("syntax error, unexpected '{op}' (Unix shell quoting issues?)"),
            Token::Name(name) => format!("syntax error, unexpected IDENT '{name}' (Unix shell quoting issues?)"),
            Token::Number(_) | Token::Text(_) => "syntax error, unexpected LITERAL (Unix shell quoting issues?)".into(),
            Token::Field(_) => "syntax error, unexpected FIELD (Unix shell quoting issues?)".into(),
            Token::Var(_) => "syntax error, unexpected '$' (Unix shell quoting issues?)".into(),
            Token::Format(_) => "syntax error, unexpected FORMAT (Unix shell quoting issues?)".into(),
        })
    }

    fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err("program nested too deeply".into()) } else { Ok(()) }
    }

    fn definitions(&mut self) -> Parsed<Vec<Function>> {
        let mut definitions = Vec::new();
        while self.is_word("def") {
            definitions.push(self.definition()?);
        }
        Ok(definitions)
    }

    fn definition(&mut self) -> Parsed<Function> {
        self.expect_word("def")?;
        let name = match self.next() {
            Token::Name(name) => name,
            Token::Format(name) => name,
            _ => return self.unexpected(),
        };
        let mut parameters = Vec::new();
        if self.eat("(") {
            loop {
                match self.next() {
                    Token::Name(name) => parameters.push(Rc::from(name)),
                    Token::Var(name) => parameters.push(Rc::from(format!("${name}"))),
                    _ => return self.unexpected(),
                }
                if !self.eat(";") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.expect(":")?;
        let body = self.pipe()?;
        self.expect(";")?;
        Ok(Function { name: Rc::from(name), parameters, body })
    }

    /// The lowest precedence: `def`, `|`, `as`, `label`.
    fn pipe(&mut self) -> Parsed<Expr> {
        self.enter()?;
        let result = self.pipe_inner();
        self.depth -= 1;
        result
    }

    fn pipe_inner(&mut self) -> Parsed<Expr> {
        if self.is_word("def") {
            let function = self.definition()?;
            let rest = self.pipe()?;
            return Ok(Expr::Define(Rc::new(function), Box::new(rest)));
        }
        if self.eat_word("label") {
            let Token::Var(name) = self.next() else { return self.unexpected() };
            self.expect("|")?;
            let rest = self.pipe()?;
            return Ok(Expr::Label(Rc::from(name), Box::new(rest)));
        }
        let left = self.comma()?;
        if self.eat_word("as") {
            return self.binding(left);
        }
        if self.eat("|") {
            let right = self.pipe()?;
            return Ok(Expr::Pipe(Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    fn binding(&mut self, source: Expr) -> Parsed<Expr> {
        let mut patterns = vec![self.pattern()?];
        while self.eat("?//") {
            patterns.push(self.pattern()?);
        }
        self.expect("|")?;
        let body = self.pipe()?;
        Ok(Expr::As(Box::new(source), patterns, Box::new(body)))
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        self.enter()?;
        let result = self.pattern_inner();
        self.depth -= 1;
        result
    }

    fn pattern_inner(&mut self) -> Parsed<Pattern> {
        match self.next() {
            Token::Var(name) => Ok(Pattern::Var(Rc::from(name))),
            Token::Op("[") => {
                let mut items = vec![self.pattern()?];
                while self.eat(",") {
                    items.push(self.pattern()?);
                }
                self.expect("]")?;
                Ok(Pattern::Array(items))
            }
            Token::Op("{") => {
                let mut members = Vec::new();
                loop {
                    let (key, name) = match self.next() {
                        Token::Var(name) => (Expr::Literal(Json::string(&name)), Some(Rc::from(name))),
                        Token::Name(name) => (Expr::Literal(Json::string(name)), None),
                        Token::Text(text) => (self.text(None, &text)?, None),
                        Token::Op("(") => {
                            let key = self.pipe()?;
                            self.expect(")")?;
                            (key, None)
                        }
                        _ => return self.unexpected(),
                    };
                    let value = if self.eat(":") { Some(self.pattern()?) } else { None };
                    members.push((key, name, value));
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect("}")?;
                Ok(Pattern::Object(members))
            }
            _ => {
                self.at -= 1;
                self.unexpected()
            }
        }
    }

    fn comma(&mut self) -> Parsed<Expr> {
        let mut left = self.assignment()?;
        while self.eat(",") {
            let right = self.assignment()?;
            left = Expr::Comma(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// `//` is right-associative and binds closer than assignments.
    fn assignment(&mut self) -> Parsed<Expr> {
        let left = self.alternative()?;
        let Token::Op(op) = *self.peek() else { return Ok(left) };
        let update = match op {
            "=" | "|=" => None,
            "+=" => Some(Op::Add),
            "-=" => Some(Op::Sub),
            "*=" => Some(Op::Mul),
            "/=" => Some(Op::Div),
            "%=" => Some(Op::Mod),
            "//=" => Some(Op::Alternative),
            _ => return Ok(left),
        };
        self.next();
        let right = Box::new(self.alternative()?);
        let left = Box::new(left);
        Ok(match (op, update) {
            ("=", _) => Expr::Assign(left, right),
            (_, Some(op)) => Expr::Update(op, left, right),
            _ => Expr::Modify(left, right),
        })
    }

    fn alternative(&mut self) -> Parsed<Expr> {
        self.enter()?;
        let left = self.or()?;
        let result = if self.eat("//") {
            let right = self.alternative()?;
            Expr::Binary(Op::Alternative, Box::new(left), Box::new(right))
        } else {
            left
        };
        self.depth -= 1;
        Ok(result)
    }

    fn or(&mut self) -> Parsed<Expr> {
        let mut left = self.and()?;
        while self.eat("or") {
            let right = self.and()?;
            left = Expr::Or(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed<Expr> {
        let mut left = self.comparison()?;
        while self.eat("and") {
            let right = self.comparison()?;
            left = Expr::And(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let left = self.additive()?;
        let op = match self.peek() {
            Token::Op("==") => Op::Equal,
            Token::Op("!=") => Op::NotEqual,
            Token::Op("<") => Op::Less,
            Token::Op("<=") => Op::LessEqual,
            Token::Op(">") => Op::Greater,
            Token::Op(">=") => Op::GreaterEqual,
            _ => return Ok(left),
        };
        self.next();
        let right = self.additive()?;
        Ok(Expr::Binary(op, Box::new(left), Box::new(right)))
    }

    fn additive(&mut self) -> Parsed<Expr> {
        let mut left = self.multiplicative()?;
        loop {
            let op = if self.eat("+") {
                Op::Add
            } else if self.eat("-") {
                Op::Sub
            } else {
                return Ok(left);
            };
            let right = self.multiplicative()?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
    }

    fn multiplicative(&mut self) -> Parsed<Expr> {
        let mut left = self.postfix()?;
        loop {
            let op = if self.eat("*") {
                Op::Mul
            } else if self.eat("/") {
                Op::Div
            } else if self.eat("%") {
                Op::Mod
            } else {
                return Ok(left);
            };
            let right = self.postfix()?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        self.enter()?;
        let result = self.postfix_inner();
        self.depth -= 1;
        result
    }

    fn postfix_inner(&mut self) -> Parsed<Expr> {
        if self.eat("-") {
            return self.postfix().map(|operand| Expr::Negate(Box::new(operand)));
        }
        if self.is_word("reduce") || self.is_word("foreach") {
            return self.fold();
        }
        if self.is_word("if") {
            let conditional = self.conditional()?;
            return self.suffixes(conditional);
        }
        if self.eat_word("try") {
            let body = self.postfix_without_try()?;
            let handler = if self.eat_word("catch") { Some(Box::new(self.postfix_without_try()?)) } else { None };
            return Ok(Expr::Try(Box::new(body), handler));
        }
        let term = self.term()?;
        let term = self.suffixes(term)?;
        // `term as $x | body` binds closest of all.
        if self.eat_word("as") {
            return self.binding(term);
        }
        Ok(term)
    }

    fn postfix_without_try(&mut self) -> Parsed<Expr> {
        self.postfix()
    }

    fn suffixes(&mut self, mut term: Expr) -> Parsed<Expr> {
        loop {
            if self.eat("?") {
                term = Expr::Try(Box::new(term), None);
            } else if let Token::Field(name) = self.peek().clone() {
                self.next();
                term = Expr::Index(Box::new(term), Box::new(Expr::Literal(Json::string(name))));
            } else if self.is(".") && matches!(self.tokens.get(self.at + 1), Some(Token::Text(_) | Token::Op("["))) {
                self.next();
                if let Token::Text(text) = self.peek().clone() {
                    self.next();
                    let key = self.text(None, &text)?;
                    term = Expr::Index(Box::new(term), Box::new(key));
                }
            } else if self.eat("[") {
                term = self.bracket(term)?;
            } else {
                return Ok(term);
            }
        }
    }

    fn bracket(&mut self, term: Expr) -> Parsed<Expr> {
        if self.eat("]") {
            return Ok(Expr::Iterate(Box::new(term)));
        }
        if self.eat(":") {
            let end = self.pipe()?;
            self.expect("]")?;
            return Ok(Expr::Slice(Box::new(term), None, Some(Box::new(end))));
        }
        let first = self.pipe()?;
        if self.eat(":") {
            if self.eat("]") {
                return Ok(Expr::Slice(Box::new(term), Some(Box::new(first)), None));
            }
            let end = self.pipe()?;
            self.expect("]")?;
            return Ok(Expr::Slice(Box::new(term), Some(Box::new(first)), Some(Box::new(end))));
        }
        self.expect("]")?;
        Ok(Expr::Index(Box::new(term), Box::new(first)))
    }

    fn fold(&mut self) -> Parsed<Expr> {
        let reduce = self.is_word("reduce");
        self.next();
        let source = self.term()?;
        let source = Box::new(self.suffixes(source)?);
        self.expect_word("as")?;
        let pattern = self.pattern()?;
        self.expect("(")?;
        let init = Box::new(self.pipe()?);
        self.expect(";")?;
        let update = Box::new(self.pipe()?);
        let extract = if !reduce && self.eat(";") { Some(Box::new(self.pipe()?)) } else { None };
        self.expect(")")?;
        let fold = if reduce {
            Expr::Reduce(source, pattern, init, update)
        } else {
            Expr::Foreach(source, pattern, init, update, extract)
        };
        self.suffixes(fold)
    }

    fn conditional(&mut self) -> Parsed<Expr> {
        self.enter()?;
        self.next();
        let condition = Box::new(self.pipe()?);
        self.expect_word("then")?;
        let then = Box::new(self.pipe()?);
        let otherwise = if self.is_word("elif") {
            // The chain closes with one `end`.
            Some(Box::new(self.conditional()?))
        } else if self.eat_word("else") {
            let otherwise = self.pipe()?;
            self.expect_word("end")?;
            Some(Box::new(otherwise))
        } else {
            self.expect_word("end")?;
            None
        };
        self.depth -= 1;
        Ok(Expr::If(condition, then, otherwise))
    }

    fn term(&mut self) -> Parsed<Expr> {
        match self.next() {
            Token::Number(number) => Ok(Expr::Literal(Json::Number(number))),
            Token::Text(text) => self.text(None, &text),
            Token::Format(name) => match self.peek().clone() {
                Token::Text(text) => {
                    self.next();
                    self.text(Some(Rc::from(name)), &text)
                }
                _ => Ok(Expr::Format(Rc::from(name))),
            },
            Token::Field(name) => {
                Ok(Expr::Index(Box::new(Expr::Identity), Box::new(Expr::Literal(Json::string(name)))))
            }
            Token::Var(name) if name == "__loc__" => {
                let mut location = super::value::Object::new();
                location.insert("file".into(), Json::string("<top-level>"));
                location.insert("line".into(), Json::Number(1.0));
                Ok(Expr::Literal(Json::object(location)))
            }
            Token::Var(name) => Ok(Expr::Var(Rc::from(name))),
            Token::Op("..") => Ok(Expr::RecurseDefault),
            Token::Op(".") => match self.peek().clone() {
                Token::Text(text) => {
                    self.next();
                    let key = self.text(None, &text)?;
                    Ok(Expr::Index(Box::new(Expr::Identity), Box::new(key)))
                }
                _ => Ok(Expr::Identity),
            },
            Token::Op("(") => {
                let inner = self.pipe()?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Op("[") => {
                if self.eat("]") {
                    return Ok(Expr::Array(None));
                }
                let inner = self.pipe()?;
                self.expect("]")?;
                Ok(Expr::Array(Some(Box::new(inner))))
            }
            Token::Op("{") => self.object(),
            Token::Name(name) => self.name(name),
            _ => {
                self.at = self.at.saturating_sub(usize::from(self.at + 1 < self.tokens.len()));
                self.unexpected()
            }
        }
    }

    fn name(&mut self, name: String) -> Parsed<Expr> {
        match name.as_str() {
            "null" => return Ok(Expr::Literal(Json::Null)),
            "true" => return Ok(Expr::Literal(Json::Bool(true))),
            "false" => return Ok(Expr::Literal(Json::Bool(false))),
            "break" => {
                let Token::Var(label) = self.next() else { return self.unexpected() };
                return Ok(Expr::Break(Rc::from(label)));
            }
            "then" | "else" | "elif" | "end" | "as" | "catch" => {
                self.at -= 1;
                return self.unexpected();
            }
            _ => {}
        }
        let mut arguments = Vec::new();
        if self.eat("(") {
            loop {
                arguments.push(self.pipe()?);
                if !self.eat(";") {
                    break;
                }
            }
            self.expect(")")?;
        }
        Ok(Expr::Call(Rc::from(name), arguments))
    }

    fn object(&mut self) -> Parsed<Expr> {
        let mut members = Vec::new();
        if self.eat("}") {
            return Ok(Expr::Object(members));
        }
        loop {
            // What a key alone stands for: `{a}` is `{a: .a}`, `{$x}` is `{x: $x}`.
            let (key, short) = match self.next() {
                Token::Var(name) if name == "__loc__" => {
                    let Expr::Literal(location) =
                        Parser { tokens: vec![Token::Var(name), Token::End], at: 0, depth: 0 }.term()?
                    else {
                        return self.unexpected();
                    };
                    (Expr::Literal(Json::string("__loc__")), Some(Expr::Literal(location)))
                }
                Token::Var(name) => (Expr::Literal(Json::string(&name)), Some(Expr::Var(Rc::from(name)))),
                Token::Name(name) => {
                    let key = || Expr::Literal(Json::string(&name));
                    (key(), Some(Expr::Index(Box::new(Expr::Identity), Box::new(key()))))
                }
                Token::Op(word @ ("and" | "or")) => {
                    let key = || Expr::Literal(Json::string(word));
                    (key(), Some(Expr::Index(Box::new(Expr::Identity), Box::new(key()))))
                }
                Token::Number(number) => (Expr::Literal(Json::Number(number)), None),
                Token::Text(text) => {
                    let key = self.text(None, &text)?;
                    let again = self.text(None, &text)?;
                    (key, Some(Expr::Index(Box::new(Expr::Identity), Box::new(again))))
                }
                Token::Format(name) => {
                    let Token::Text(text) = self.next() else { return self.unexpected() };
                    let key = self.text(Some(Rc::from(name.as_str())), &text)?;
                    let again = self.text(Some(Rc::from(name)), &text)?;
                    (key, Some(Expr::Index(Box::new(Expr::Identity), Box::new(again))))
                }
                Token::Op("(") => {
                    let key = self.pipe()?;
                    self.expect(")")?;
                    (key, None)
                }
                _ => {
                    self.at = self.at.saturating_sub(usize::from(self.at + 1 < self.tokens.len()));
                    return self.unexpected();
                }
            };
            let value = if self.eat(":") {
                self.object_value()?
            } else {
                match short {
                    Some(short) => short,
                    None => return self.unexpected(),
                }
            };
            members.push((key, value));
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(Expr::Object(members))
    }

    /// Values are without commas: `a | b`, alternatives and arithmetic, as jq 1.7 has it.
    fn object_value(&mut self) -> Parsed<Expr> {
        self.enter()?;
        let left = self.alternative()?;
        let result = if self.eat("|") {
            let right = self.object_value()?;
            Expr::Pipe(Box::new(left), Box::new(right))
        } else {
            left
        };
        self.depth -= 1;
        Ok(result)
    }

    /// A string literal from the text between its quotes.
    fn text(&mut self, format: Option<Rc<str>>, raw: &[u8]) -> Parsed<Expr> {
        let mut pieces = Vec::new();
        let mut text = Vec::new();
        let mut at = 0;
        let finish = |text: Vec<u8>| String::from_utf8_lossy(&text).into_owned();
        while at < raw.len() {
            if raw[at] != b'\\' {
                text.push(raw[at]);
                at += 1;
                continue;
            }
            match raw.get(at + 1) {
                Some(b'(') => {
                    let length =
                        interpolation_length(&raw[at + 1..]).ok_or("syntax error, unfinished interpolation")?;
                    let source = String::from_utf8_lossy(&raw[at + 2..at + length]).into_owned();
                    let mut inner = Parser { tokens: tokenize(source.as_bytes())?, at: 0, depth: self.depth + 1 };
                    let value = inner.pipe()?;
                    if *inner.peek() != Token::End {
                        return inner.unexpected();
                    }
                    pieces.push(Piece::Text(finish(std::mem::take(&mut text))));
                    pieces.push(Piece::Value(value));
                    at += 1 + length;
                }
                Some(b'u') => {
                    // The JSON reader knows surrogates.
                    let mut end = at + 6;
                    let high = raw.get(at + 2..at + 4).is_some_and(|digits| {
                        matches!(digits[0], b'd' | b'D') && matches!(digits[1], b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B')
                    });
                    if high && raw.get(end..end + 2) == Some(b"\\u") {
                        end += 6;
                    }
                    let quoted = [b"\"", raw.get(at..end.min(raw.len())).unwrap_or_default(), b"\""].concat();
                    match super::value::parse(&quoted) {
                        Ok(Json::String(found)) => text.extend_from_slice(found.as_bytes()),
                        _ => return Err("syntax error, invalid escape in string".into()),
                    }
                    at = end;
                }
                Some(escape) => {
                    text.push(match escape {
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'r' => b'\r',
                        b'b' => 8,
                        b'f' => 12,
                        b'"' | b'\\' | b'/' => *escape,
                        _ => return Err("syntax error, invalid escape in string".into()),
                    });
                    at += 2;
                }
                None => return Err("syntax error, invalid escape in string".into()),
            }
        }
        if pieces.is_empty() {
            return Ok(Expr::Literal(Json::string(finish(text))));
        }
        pieces.push(Piece::Text(finish(text)));
        Ok(Expr::Text(format, pieces))
    }
}
