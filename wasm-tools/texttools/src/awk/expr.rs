//! The expressions of an awk program, by falling precedence from the bottom of the file to its top.

use super::ast::{Arith, ArrayRef, Compare, Expr, Source, Target};
use super::builtins::Builtin;
use super::lexer::{Keyword, Token};
use super::parser::{Parser, Result2};

impl Parser {
    /// An expression.
    pub fn expression(&mut self) -> Result2<Expr> {
        self.enter()?;
        let expression = self.ternary(false);
        self.leave();
        expression
    }

    /// An expression where `>` is a redirection.
    pub fn expression_in_print(&mut self) -> Result2<Expr> {
        self.enter()?;
        let expression = self.ternary(true);
        self.leave();
        expression
    }

    fn ternary(&mut self, print: bool) -> Result2<Expr> {
        let condition = self.or(print)?;
        if let Some(assignment) = self.assignment(&condition, print)? {
            return self.assign(condition, assignment, print);
        }
        if !self.eat_op("?") {
            return Ok(condition);
        }
        self.enter()?;
        self.skip_newlines();
        let yes = self.ternary(print)?;
        self.skip_newlines();
        self.expect(":")?;
        self.skip_newlines();
        let no = self.ternary(print)?;
        self.leave();
        Ok(Expr::Choice(Box::new(condition), Box::new(yes), Box::new(no)))
    }

    /// The operator, if an assignment follows.
    fn assignment(&mut self, target: &Expr, _print: bool) -> Result2<Option<&'static str>> {
        let Token::Op(op) = *self.peek() else { return Ok(None) };
        if !matches!(op, "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "^=") {
            return Ok(None);
        }
        if rightmost_target(target) { Ok(Some(op)) } else { Ok(None) }
    }

    /// `a = b`; in `x == y = 1` and `!x = y` the target is the last operand of what was read.
    fn assign(&mut self, left: Expr, op: &'static str, print: bool) -> Result2<Expr> {
        self.advance();
        self.skip_newlines();
        self.enter()?;
        let value = self.ternary(print)?;
        self.leave();
        replace_rightmost(left, |target| {
            let target = Box::new(target);
            let value = Box::new(value);
            match op {
                "=" => Expr::Assign(target, value),
                "+=" => Expr::Update(Arith::Add, target, value),
                "-=" => Expr::Update(Arith::Sub, target, value),
                "*=" => Expr::Update(Arith::Mul, target, value),
                "/=" => Expr::Update(Arith::Div, target, value),
                "%=" => Expr::Update(Arith::Mod, target, value),
                _ => Expr::Update(Arith::Pow, target, value),
            }
        })
    }

    fn or(&mut self, print: bool) -> Result2<Expr> {
        let mut left = self.and(print)?;
        while self.eat_op("||") {
            self.skip_newlines();
            let right = self.and_assign(print)?;
            left = Expr::Or(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// An operand of `||` or `&&`, where `a && b = c` is `a && (b = c)`.
    fn and_assign(&mut self, print: bool) -> Result2<Expr> {
        self.and(print)
    }

    fn and(&mut self, print: bool) -> Result2<Expr> {
        let mut left = self.membership(print)?;
        while self.eat_op("&&") {
            self.skip_newlines();
            let right = self.membership(print)?;
            left = Expr::And(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn membership(&mut self, print: bool) -> Result2<Expr> {
        let mut left = self.matching(print)?;
        while self.eat_keyword(Keyword::In) {
            let Token::Name(name) = self.advance() else { return self.syntax_error() };
            let mut array = ArrayRef::Var(self.variable(&name)?);
            while self.is_op("[") {
                let subscripts = self.subscripts()?;
                array = ArrayRef::Element(Box::new(array), subscripts);
            }
            let subscripts = match left {
                Expr::List(list) => list,
                one => vec![one],
            };
            left = Expr::In(subscripts, array);
        }
        Ok(left)
    }

    fn matching(&mut self, print: bool) -> Result2<Expr> {
        let mut left = self.comparison(print)?;
        loop {
            let negated = if self.eat_op("~") {
                false
            } else if self.eat_op("!~") {
                true
            } else {
                return Ok(left);
            };
            let right = self.comparison(print)?;
            left = Expr::Match(negated, Box::new(left), Box::new(right));
        }
    }

    fn comparison(&mut self, print: bool) -> Result2<Expr> {
        let left = self.concatenation(print)?;
        let compare = match self.peek() {
            Token::Op("<") => Compare::Less,
            Token::Op("<=") => Compare::LessEqual,
            Token::Op("==") => Compare::Equal,
            Token::Op("!=") => Compare::NotEqual,
            Token::Op(">") if !print => Compare::Greater,
            Token::Op(">=") => Compare::GreaterEqual,
            _ => return Ok(left),
        };
        self.advance();
        let right = self.concatenation(print)?;
        Ok(Expr::Compare(compare, Box::new(left), Box::new(right)))
    }

    /// Strings after one another, and `command | getline`.
    pub fn concatenation(&mut self, print: bool) -> Result2<Expr> {
        let mut left = self.additive()?;
        let mut joined = 0;
        loop {
            if self.is_op("|") && *self.peek_at(1) == Token::Keyword(Keyword::Getline) {
                self.advance();
                self.advance();
                let target = self.getline_target()?;
                left = Expr::Getline(Source::Command(Box::new(left)), target);
            } else if self.is_op("|&") && *self.peek_at(1) == Token::Keyword(Keyword::Getline) {
                self.advance();
                self.advance();
                let target = self.getline_target()?;
                left = Expr::Getline(Source::Coprocess(Box::new(left)), target);
            } else if self.starts_operand(print) {
                joined += 1;
                if joined > 4 * super::parser::MAX_DEPTH {
                    return Err("expression too long".into());
                }
                let right = self.additive()?;
                left = Expr::Concat(Box::new(left), Box::new(right));
            } else {
                return Ok(left);
            }
        }
    }

    fn starts_operand(&self, _print: bool) -> bool {
        match self.peek() {
            Token::Number(_) | Token::Text(_) | Token::Regex(_) | Token::Name(_) | Token::FunctionName(_) => true,
            Token::Builtin(_) => true,
            Token::Op(op) => matches!(*op, "$" | "!" | "(" | "-" | "+" | "++" | "--" | "@"),
            _ => false,
        }
    }

    fn additive(&mut self) -> Result2<Expr> {
        let mut left = self.multiplicative()?;
        loop {
            let op = if self.eat_op("+") {
                Arith::Add
            } else if self.eat_op("-") {
                Arith::Sub
            } else {
                return Ok(left);
            };
            let right = self.multiplicative()?;
            left = Expr::Arith(op, Box::new(left), Box::new(right));
        }
    }

    fn multiplicative(&mut self) -> Result2<Expr> {
        let mut left = self.unary()?;
        loop {
            let op = if self.eat_op("*") {
                Arith::Mul
            } else if self.eat_op("/") {
                Arith::Div
            } else if self.eat_op("%") {
                Arith::Mod
            } else {
                return Ok(left);
            };
            let right = self.unary()?;
            left = Expr::Arith(op, Box::new(left), Box::new(right));
        }
    }

    /// `!`, `-`, `+` and what binds closer.
    pub fn unary(&mut self) -> Result2<Expr> {
        self.enter()?;
        let result = if self.eat_op("!") {
            self.unary().map(|operand| Expr::Not(Box::new(operand)))
        } else if self.eat_op("-") {
            self.unary().map(|operand| Expr::Negate(Box::new(operand)))
        } else if self.eat_op("+") {
            self.unary().map(|operand| Expr::Plus(Box::new(operand)))
        } else {
            self.power()
        };
        self.leave();
        result
    }

    fn power(&mut self) -> Result2<Expr> {
        let base = self.postfix()?;
        if !self.eat_op("^") {
            return Ok(base);
        }
        self.enter()?;
        // The exponent may have a sign: 2^-1.
        let exponent = if self.eat_op("-") {
            Expr::Negate(Box::new(self.power()?))
        } else if self.eat_op("+") {
            self.power()?
        } else if self.eat_op("!") {
            Expr::Not(Box::new(self.power()?))
        } else {
            self.power()?
        };
        self.leave();
        Ok(Expr::Arith(Arith::Pow, Box::new(base), Box::new(exponent)))
    }

    fn postfix(&mut self) -> Result2<Expr> {
        let operand = self.primary()?;
        let change = match self.peek() {
            Token::Op("++") => 1.0,
            Token::Op("--") => -1.0,
            _ => return Ok(operand),
        };
        match target_of(operand) {
            Ok(target) => {
                self.advance();
                Ok(Expr::Step(Box::new(target), change, true))
            }
            Err(operand) => Ok(operand),
        }
    }

    fn primary(&mut self) -> Result2<Expr> {
        match self.advance() {
            Token::Number(number) => Ok(Expr::Number(number)),
            Token::Text(text) => Ok(Expr::Text(text)),
            Token::Regex(text) => {
                self.program.regexes.push(text);
                Ok(Expr::Regex(self.program.regexes.len() - 1))
            }
            Token::Name(name) => {
                let variable = self.variable(&name)?;
                if !self.is_op("[") {
                    return Ok(Expr::Var(variable));
                }
                let mut array = ArrayRef::Var(variable);
                loop {
                    let subscripts = self.subscripts()?;
                    if !self.is_op("[") {
                        return Ok(Expr::Element(array, subscripts));
                    }
                    array = ArrayRef::Element(Box::new(array), subscripts);
                }
            }
            Token::FunctionName(name) => {
                let Some(index) = self.functions.get(&name).copied() else {
                    return Err(format!("function `{name}' not defined"));
                };
                let arguments = self.arguments()?;
                Ok(Expr::Call(index, arguments))
            }
            Token::Builtin(builtin) => {
                if self.is_op("(") {
                    let arguments = self.arguments()?;
                    let (least, most) = builtin.arity();
                    if arguments.len() < least || arguments.len() > most {
                        return Err(format!(
                            "{} is invalid as number of arguments for {}",
                            arguments.len(),
                            builtin.name()
                        ));
                    }
                    Ok(Expr::Builtin(builtin, arguments))
                } else if builtin == Builtin::Length {
                    Ok(Expr::Builtin(builtin, Vec::new()))
                } else {
                    self.syntax_error()
                }
            }
            Token::Keyword(Keyword::Getline) => {
                let target = self.getline_target()?;
                if self.eat_op("<") {
                    let file = self.file_operand()?;
                    return Ok(Expr::Getline(Source::File(Box::new(file)), target));
                }
                Ok(Expr::Getline(Source::Main, target))
            }
            Token::Op("@") => {
                let Token::FunctionName(name) = self.advance() else { return self.syntax_error() };
                let variable = self.variable(&name)?;
                let arguments = self.arguments()?;
                Ok(Expr::IndirectCall(variable, arguments))
            }
            Token::Op("$") => {
                self.enter()?;
                let index = if self.is_op("++") || self.is_op("--") {
                    self.primary()?
                } else if self.eat_op("-") {
                    Expr::Negate(Box::new(self.primary()?))
                } else {
                    self.primary()?
                };
                self.leave();
                Ok(Expr::Field(Box::new(index)))
            }
            Token::Op(op @ ("++" | "--")) => {
                let change = if op == "++" { 1.0 } else { -1.0 };
                match target_of(self.primary()?) {
                    Ok(target) => Ok(Expr::Step(Box::new(target), change, false)),
                    Err(_) => self.syntax_error(),
                }
            }
            Token::Op("-") => Ok(Expr::Negate(Box::new(self.power()?))),
            Token::Op("+") => Ok(Expr::Plus(Box::new(self.power()?))),
            Token::Op("!") => Ok(Expr::Not(Box::new(self.unary()?))),
            Token::Op("(") => {
                self.skip_newlines();
                let first = self.expression()?;
                self.skip_newlines();
                if !self.is_op(",") {
                    self.expect(")")?;
                    return Ok(Expr::Group(Box::new(first)));
                }
                let mut list = vec![first];
                while self.eat_op(",") {
                    self.skip_newlines();
                    list.push(self.expression()?);
                    self.skip_newlines();
                }
                self.expect(")")?;
                Ok(Expr::List(list))
            }
            _ => {
                self.at -= usize::from(self.at > 0);
                self.syntax_error()
            }
        }
    }

    /// The operand of `getline <`: a primary, as concatenation binds weaker.
    fn file_operand(&mut self) -> Result2<Expr> {
        self.enter()?;
        let operand = self.postfix();
        self.leave();
        operand
    }

    fn getline_target(&mut self) -> Result2<Option<Box<Target>>> {
        if !matches!(self.peek(), Token::Name(_) | Token::Op("$")) {
            return Ok(None);
        }
        match target_of(self.primary()?) {
            Ok(target) => Ok(Some(Box::new(target))),
            Err(_) => self.syntax_error(),
        }
    }

    fn arguments(&mut self) -> Result2<Vec<Expr>> {
        self.expect("(")?;
        self.skip_newlines();
        let mut arguments = Vec::new();
        while !self.is_op(")") {
            arguments.push(self.expression()?);
            self.skip_newlines();
            if !self.eat_op(",") {
                break;
            }
            self.skip_newlines();
        }
        self.expect(")")?;
        Ok(arguments)
    }

    /// `[a, b]`
    pub fn subscripts(&mut self) -> Result2<Vec<Expr>> {
        self.expect("[")?;
        self.skip_newlines();
        let mut subscripts = vec![self.expression()?];
        while self.eat_op(",") {
            self.skip_newlines();
            subscripts.push(self.expression()?);
        }
        self.skip_newlines();
        self.expect("]")?;
        Ok(subscripts)
    }
}

fn target_of(expression: Expr) -> Result<Target, Expr> {
    match expression {
        Expr::Var(variable) => Ok(Target::Var(variable)),
        Expr::Field(index) => Ok(Target::Field(*index)),
        Expr::Element(array, subscripts) => Ok(Target::Element(array, subscripts)),
        other => Err(other),
    }
}

/// Whether the last operand of an expression can be assigned to.
fn rightmost_target(expression: &Expr) -> bool {
    match expression {
        Expr::Var(_) | Expr::Field(_) | Expr::Element(..) => true,
        Expr::And(_, right) | Expr::Or(_, right) | Expr::Compare(_, _, right) | Expr::Match(_, _, right) => {
            rightmost_target(right)
        }
        Expr::Concat(_, right) | Expr::Arith(_, _, right) => rightmost_target(right),
        Expr::Not(operand) | Expr::Negate(operand) | Expr::Plus(operand) => rightmost_target(operand),
        _ => false,
    }
}

fn replace_rightmost(expression: Expr, make: impl FnOnce(Target) -> Expr) -> Result2<Expr> {
    replace_rightmost_dyn(expression, Box::new(make))
}

fn replace_rightmost_dyn(expression: Expr, make: Box<dyn FnOnce(Target) -> Expr + '_>) -> Result2<Expr> {
    let replace = |right: Box<Expr>, make| replace_rightmost_dyn(*right, make).map(Box::new);
    Ok(match expression {
        Expr::And(left, right) => Expr::And(left, replace(right, make)?),
        Expr::Or(left, right) => Expr::Or(left, replace(right, make)?),
        Expr::Compare(op, left, right) => Expr::Compare(op, left, replace(right, make)?),
        Expr::Match(negated, left, right) => Expr::Match(negated, left, replace(right, make)?),
        Expr::Concat(left, right) => Expr::Concat(left, replace(right, make)?),
        Expr::Arith(op, left, right) => Expr::Arith(op, left, replace(right, make)?),
        Expr::Not(operand) => Expr::Not(replace(operand, make)?),
        Expr::Negate(operand) => Expr::Negate(replace(operand, make)?),
        Expr::Plus(operand) => Expr::Plus(replace(operand, make)?),
        other => make(target_of(other).map_err(|_| "syntax error".to_string())?),
    })
}
