//! Parses an awk program, in two halves: this file has rules and statements, `expr` the expressions.

use std::collections::HashMap;
use std::rc::Rc;

use super::ast::{ArrayRef, Expr, Function, Pattern, Program, Redirect, Rule, SPECIALS, Stmt, Target, Var};
use super::lexer::{Keyword, Lexeme, Token, tokenize};

/// How deep statements and expressions may nest; the parser and the interpreter recurse.
pub const MAX_DEPTH: usize = 200;

/// Parses a program.
///
/// # Errors
/// The line and the message.
pub fn parse(source: &[u8]) -> Result<Program, (usize, String)> {
    let lexemes = tokenize(source)?;
    let mut program =
        Program { globals: SPECIALS.iter().map(|name| (*name).to_string()).collect(), ..Program::default() };
    let globals = program.globals.iter().enumerate().map(|(slot, name)| (name.clone(), slot)).collect();
    let mut functions = HashMap::new();
    let mut index = 0;
    // Functions may be called before they are defined.
    for pair in lexemes.windows(2) {
        if pair[0].token == Token::Keyword(Keyword::Function)
            && let Token::Name(name) | Token::FunctionName(name) = &pair[1].token
        {
            if functions.insert(name.clone(), index).is_some() {
                return Err((pair[1].line, format!("function name `{name}' previously defined")));
            }
            index += 1;
        }
    }
    program.functions.clear();
    let mut parser =
        Parser { lexemes, at: 0, program, globals, functions, locals: HashMap::new(), depth: 0, in_function: false };
    match parser.program() {
        Ok(()) => Ok(parser.program),
        Err(message) => {
            let line = parser.lexemes.get(parser.at.min(parser.lexemes.len() - 1)).map_or(1, |lexeme| lexeme.line);
            Err((line, message))
        }
    }
}

pub(super) type Result2<T> = Result<T, String>;

pub(super) struct Parser {
    pub lexemes: Vec<Lexeme>,
    pub at: usize,
    pub program: Program,
    globals: HashMap<String, usize>,
    pub functions: HashMap<String, usize>,
    locals: HashMap<String, usize>,
    depth: usize,
    in_function: bool,
}

impl Parser {
    pub fn peek(&self) -> &Token {
        &self.lexemes[self.at].token
    }

    pub fn peek_at(&self, ahead: usize) -> &Token {
        let at = (self.at + ahead).min(self.lexemes.len() - 1);
        &self.lexemes[at].token
    }

    pub fn advance(&mut self) -> Token {
        let token = self.lexemes[self.at].token.clone();
        if self.at + 1 < self.lexemes.len() {
            self.at += 1;
        }
        token
    }

    pub fn is_op(&self, op: &str) -> bool {
        matches!(self.peek(), Token::Op(found) if *found == op)
    }

    pub fn eat_op(&mut self, op: &str) -> bool {
        let found = self.is_op(op);
        if found {
            self.advance();
        }
        found
    }

    pub fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        let found = *self.peek() == Token::Keyword(keyword);
        if found {
            self.advance();
        }
        found
    }

    pub fn expect(&mut self, op: &str) -> Result2<()> {
        if self.eat_op(op) { Ok(()) } else { self.syntax_error() }
    }

    pub fn syntax_error<T>(&self) -> Result2<T> {
        Err(match self.peek() {
            Token::End => "unexpected end of program".into(),
            Token::Newline => "unexpected newline or end of string".into(),
            _ => "syntax error".into(),
        })
    }

    pub fn enter(&mut self) -> Result2<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err("program nested too deeply".into()) } else { Ok(()) }
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    pub fn skip_newlines(&mut self) {
        while *self.peek() == Token::Newline {
            self.advance();
        }
    }

    fn skip_separators(&mut self) {
        while *self.peek() == Token::Newline || self.is_op(";") {
            self.advance();
        }
    }

    pub fn variable(&mut self, name: &str) -> Result2<Var> {
        if let Some(slot) = self.locals.get(name) {
            return Ok(Var::Local(*slot));
        }
        if self.functions.contains_key(name) {
            return Err(format!("function `{name}' called with space between name and `('\nor used as a variable"));
        }
        if let Some(slot) = self.globals.get(name) {
            return Ok(Var::Global(*slot));
        }
        let slot = self.program.globals.len();
        self.program.globals.push(name.to_string());
        self.globals.insert(name.to_string(), slot);
        Ok(Var::Global(slot))
    }

    fn program(&mut self) -> Result2<()> {
        loop {
            self.skip_separators();
            match self.peek().clone() {
                Token::End => return Ok(()),
                Token::Keyword(Keyword::Function) => self.function()?,
                Token::Keyword(keyword @ (Keyword::Begin | Keyword::End | Keyword::BeginFile | Keyword::EndFile)) => {
                    self.advance();
                    if !self.is_op("{") {
                        return Err("BEGIN and END blocks must have an action part".into());
                    }
                    let action = self.block()?;
                    match keyword {
                        Keyword::Begin => self.program.begin.push(action),
                        Keyword::BeginFile => self.program.begin_file.push(action),
                        Keyword::EndFile => self.program.end_file.push(action),
                        _ => self.program.end.push(action),
                    }
                }
                _ => self.rule()?,
            }
            if !matches!(self.peek(), Token::End | Token::Newline | Token::Op(";"))
                && !matches!(self.lexemes[self.at - 1].token, Token::Op("}"))
            {
                return self.syntax_error();
            }
        }
    }

    fn rule(&mut self) -> Result2<()> {
        let pattern = if self.is_op("{") {
            Pattern::Always
        } else {
            let first = self.expression()?;
            if self.eat_op(",") {
                self.skip_newlines();
                let last = self.expression()?;
                self.program.ranges += 1;
                Pattern::Range(first, last, self.program.ranges - 1)
            } else {
                Pattern::Expr(first)
            }
        };
        let action = if self.is_op("{") { Some(self.block()?) } else { None };
        self.program.rules.push(Rule { pattern, action });
        Ok(())
    }

    fn function(&mut self) -> Result2<()> {
        self.advance();
        let (Token::Name(name) | Token::FunctionName(name)) = self.advance() else { return self.syntax_error() };
        self.expect("(")?;
        self.locals.clear();
        self.skip_newlines();
        while !self.is_op(")") {
            let (Token::Name(parameter) | Token::FunctionName(parameter)) = self.advance() else {
                return self.syntax_error();
            };
            let slot = self.locals.len();
            if self.locals.insert(parameter.clone(), slot).is_some() {
                return Err(format!("function `{name}': parameter `{parameter}' repeated"));
            }
            self.skip_newlines();
            if !self.eat_op(",") {
                break;
            }
            self.skip_newlines();
        }
        self.expect(")")?;
        self.skip_newlines();
        let parameters = self.locals.len();
        self.in_function = true;
        let body = self.block()?;
        self.in_function = false;
        self.locals.clear();
        self.program.functions.push(Rc::new(Function { name, parameters, body }));
        Ok(())
    }

    fn block(&mut self) -> Result2<Stmt> {
        self.expect("{")?;
        let statements = self.statements(&|parser| parser.is_op("}"))?;
        self.expect("}")?;
        Ok(Stmt::Block(statements))
    }

    fn statements(&mut self, done: &dyn Fn(&Self) -> bool) -> Result2<Vec<Stmt>> {
        let mut statements = Vec::new();
        loop {
            self.skip_separators();
            if done(self) {
                return Ok(statements);
            }
            if *self.peek() == Token::End {
                return self.syntax_error();
            }
            statements.push(self.statement()?);
        }
    }

    fn statement(&mut self) -> Result2<Stmt> {
        self.enter()?;
        let statement = self.statement_inner();
        self.leave();
        statement
    }

    /// A statement behind `if (…)` and the like; `;` alone is empty.
    fn body(&mut self) -> Result2<Stmt> {
        self.skip_newlines();
        if self.eat_op(";") {
            return Ok(Stmt::Block(Vec::new()));
        }
        self.statement()
    }

    fn statement_inner(&mut self) -> Result2<Stmt> {
        if self.is_op("{") {
            let block = self.block()?;
            return Ok(block);
        }
        if self.eat_op(";") {
            return Ok(Stmt::Block(Vec::new()));
        }
        let Token::Keyword(keyword) = *self.peek() else { return self.simple_with_end() };
        match keyword {
            Keyword::If => {
                self.advance();
                let condition = self.condition()?;
                let then = self.body()?;
                let mark = self.at;
                self.skip_separators();
                if self.eat_keyword(Keyword::Else) {
                    let otherwise = self.body()?;
                    return Ok(Stmt::If(condition, Box::new(then), Some(Box::new(otherwise))));
                }
                self.at = mark;
                Ok(Stmt::If(condition, Box::new(then), None))
            }
            Keyword::While => {
                self.advance();
                let condition = self.condition()?;
                if self.eat_op(";") {
                    return Ok(Stmt::While(condition, Box::new(Stmt::Block(Vec::new()))));
                }
                Ok(Stmt::While(condition, Box::new(self.body()?)))
            }
            Keyword::Do => {
                self.advance();
                let body = self.body()?;
                self.skip_separators();
                if !self.eat_keyword(Keyword::While) {
                    return self.syntax_error();
                }
                let condition = self.condition()?;
                self.end_simple()?;
                Ok(Stmt::DoWhile(Box::new(body), condition))
            }
            Keyword::For => self.for_loop(),
            Keyword::Switch => self.switch(),
            _ => self.simple_with_end(),
        }
    }

    fn condition(&mut self) -> Result2<Expr> {
        self.expect("(")?;
        self.skip_newlines();
        let condition = self.expression()?;
        self.skip_newlines();
        self.expect(")")?;
        Ok(condition)
    }

    fn for_loop(&mut self) -> Result2<Stmt> {
        self.advance();
        self.expect("(")?;
        if let Some(head) = self.for_in_head()? {
            let (target, array) = head;
            let body = self.body()?;
            return Ok(Stmt::ForIn(Box::new(target), array, Box::new(body)));
        }
        let first = if self.is_op(";") { None } else { Some(Box::new(self.simple()?)) };
        self.expect(";")?;
        self.skip_newlines();
        let condition = if self.is_op(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        self.skip_newlines();
        let step = if self.is_op(")") { None } else { Some(Box::new(self.simple()?)) };
        self.expect(")")?;
        let body = self.body()?;
        Ok(Stmt::For(first, condition, step, Box::new(body)))
    }

    /// `(name in array)`, if that is what follows.
    fn for_in_head(&mut self) -> Result2<Option<(Target, ArrayRef)>> {
        let mark = self.at;
        let Token::Name(name) = self.peek().clone() else { return Ok(None) };
        if *self.peek_at(1) != Token::Keyword(Keyword::In) {
            return Ok(None);
        }
        self.advance();
        self.advance();
        if let Token::Name(array) = self.advance() {
            let mut array = ArrayRef::Var(self.variable(&array)?);
            while self.is_op("[") {
                let subscripts = self.subscripts()?;
                array = ArrayRef::Element(Box::new(array), subscripts);
            }
            if self.eat_op(")") {
                return Ok(Some((Target::Var(self.variable(&name)?), array)));
            }
        }
        self.at = mark;
        Ok(None)
    }

    fn switch(&mut self) -> Result2<Stmt> {
        self.advance();
        let value = self.condition()?;
        self.skip_newlines();
        self.expect("{")?;
        let mut cases = Vec::new();
        let mut statements = Vec::new();
        loop {
            self.skip_separators();
            if self.eat_op("}") {
                return Ok(Stmt::Switch(value, cases, statements));
            }
            let case = if self.eat_keyword(Keyword::Case) {
                Some(self.unary()?)
            } else if self.eat_keyword(Keyword::Default) {
                None
            } else {
                return self.syntax_error();
            };
            self.expect(":")?;
            cases.push((case, statements.len()));
            statements.extend(self.statements(&|parser| {
                parser.is_op("}") || matches!(parser.peek(), Token::Keyword(Keyword::Case | Keyword::Default))
            })?);
        }
    }

    fn simple_with_end(&mut self) -> Result2<Stmt> {
        let statement = self.simple()?;
        self.end_simple()?;
        Ok(statement)
    }

    fn end_simple(&mut self) -> Result2<()> {
        match self.peek() {
            Token::Newline | Token::Op(";") => {
                self.advance();
                Ok(())
            }
            Token::Op("}") | Token::End => Ok(()),
            _ => self.syntax_error(),
        }
    }

    fn at_end_of_simple(&self) -> bool {
        matches!(self.peek(), Token::Newline | Token::End | Token::Op(";" | "}" | ")"))
    }

    fn simple(&mut self) -> Result2<Stmt> {
        let Token::Keyword(keyword) = *self.peek() else { return Ok(Stmt::Expr(self.expression()?)) };
        if keyword == Keyword::Getline {
            return Ok(Stmt::Expr(self.expression()?));
        }
        self.advance();
        Ok(match keyword {
            Keyword::Print | Keyword::Printf => {
                let arguments = self.print_arguments()?;
                let redirect = self.redirect()?;
                if keyword == Keyword::Print {
                    Stmt::Print(arguments, redirect)
                } else if arguments.is_empty() {
                    return Err("printf: no format".into());
                } else {
                    Stmt::Printf(arguments, redirect)
                }
            }
            Keyword::Next => Stmt::Next,
            Keyword::NextFile => Stmt::NextFile,
            Keyword::Break => Stmt::Break,
            Keyword::Continue => Stmt::Continue,
            Keyword::Exit => Stmt::Exit(if self.at_end_of_simple() { None } else { Some(self.expression()?) }),
            Keyword::Return => {
                if !self.in_function {
                    return Err("`return' used outside function context".into());
                }
                Stmt::Return(if self.at_end_of_simple() { None } else { Some(self.expression()?) })
            }
            Keyword::Delete => self.delete()?,
            _ => {
                self.at -= 1;
                return self.syntax_error();
            }
        })
    }

    fn delete(&mut self) -> Result2<Stmt> {
        let parenthesised = self.eat_op("(");
        let Token::Name(name) = self.advance() else { return self.syntax_error() };
        let mut array = ArrayRef::Var(self.variable(&name)?);
        let mut last = None;
        while self.is_op("[") {
            if let Some(subscripts) = last.take() {
                array = ArrayRef::Element(Box::new(array), subscripts);
            }
            last = Some(self.subscripts()?);
        }
        if parenthesised {
            self.expect(")")?;
        }
        Ok(Stmt::Delete(array, last))
    }

    fn print_arguments(&mut self) -> Result2<Vec<Expr>> {
        if self.at_end_of_simple() || matches!(self.peek(), Token::Op(">" | ">>" | "|" | "|&")) {
            return Ok(Vec::new());
        }
        let first = self.expression_in_print()?;
        // `print (a, b)`: the list in parentheses is the arguments.
        if let Expr::List(list) = first {
            return Ok(list);
        }
        let mut arguments = vec![first];
        while self.eat_op(",") {
            self.skip_newlines();
            arguments.push(self.expression_in_print()?);
        }
        Ok(arguments)
    }

    fn redirect(&mut self) -> Result2<Option<Redirect>> {
        let Token::Op(op) = *self.peek() else { return Ok(None) };
        let make: fn(Expr) -> Redirect = match op {
            ">" => Redirect::Write,
            ">>" => Redirect::Append,
            "|" => Redirect::Pipe,
            "|&" => Redirect::Coprocess,
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(make(self.concatenation(true)?)))
    }
}
