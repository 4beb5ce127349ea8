//! `bc`: arithmetic with numbers of any size.

mod math;
mod number;
mod parser;

use std::collections::HashMap;
use std::io::BufRead;
use std::rc::Rc;

use crate::input;
use crate::output::{Output, show};
use crate::platform;

use number::{MAX_SCALE, Number};
use parser::{Argument, Expr, Function, Parser, Place, Stmt};

/// How deep functions may call each other.
const MAX_CALLS: usize = 400;
/// Columns after which a number goes on in the next line.
const LINE_LENGTH: usize = 70;

/// Runs bc and gives its exit status.
pub fn run(arguments: &[Vec<u8>]) -> i32 {
    let mut files = Vec::new();
    let mut library = false;
    let mut expressions = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_slice() {
            b"-l" | b"--mathlib" => library = true,
            b"-q" | b"--quiet" | b"-s" | b"--standard" | b"-w" | b"--warn" | b"-i" | b"--interactive" => {}
            b"-lq" | b"-ql" => library = true,
            b"-e" | b"--expression" => expressions.extend(words.next().cloned()),
            b"-v" | b"--version" => {
                println!("bc 1.07.1 compatible (wskill texttools)");
                return 0;
            }
            b"-h" | b"--help" => {
                println!(
                    "usage: bc [options] [file ...]\n  -l  use the predefined math routines\n  -q  don't print initial banner"
                );
                return 0;
            }
            word if word.starts_with(b"-") && word.len() > 1 => {
                eprintln!("bc: invalid option -- '{}'", show(&word[1..]));
                return 1;
            }
            _ => files.push(word.clone()),
        }
    }
    let mut machine = Machine::new(library);
    for text in expressions {
        if machine.text(&show(&text)) {
            return machine.end();
        }
    }
    for file in &files {
        match input::read(file) {
            Ok(text) => {
                if machine.text(&show(&text)) {
                    return machine.end();
                }
            }
            Err(_) => {
                machine.out.flush_all();
                eprintln!("File {} is unavailable.", show(file));
                return 1;
            }
        }
    }
    match input::read(b"-") {
        Ok(text) => {
            machine.text(&show(&text));
        }
        Err(error) => eprintln!("bc: {}", platform::message(&error)),
    }
    machine.end()
}

/// What ends a statement before its end.
enum Stop {
    Break,
    Continue,
    Return(Number),
    Halt,
    Error(String),
}

type Run<T> = Result<T, Stop>;

struct Machine {
    out: Output,
    column: usize,
    line_length: usize,
    scale: usize,
    ibase: u32,
    obase: u32,
    last: Number,
    library: bool,
    vars: HashMap<String, Number>,
    arrays: HashMap<String, HashMap<i64, Number>>,
    functions: HashMap<String, Rc<Function>>,
    calls: usize,
    function_name: String,
}

impl Machine {
    fn new(library: bool) -> Self {
        let line_length =
            platform::variable("BC_LINE_LENGTH").and_then(|text| show(&text).parse().ok()).unwrap_or(LINE_LENGTH);
        Self {
            out: Output::new("bc", 1),
            column: 0,
            line_length,
            scale: if library { 20 } else { 0 },
            ibase: 10,
            obase: 10,
            last: Number::whole(0),
            library,
            vars: HashMap::new(),
            arrays: HashMap::new(),
            functions: HashMap::new(),
            calls: 0,
            function_name: "(main)".into(),
        }
    }

    fn end(&mut self) -> i32 {
        self.out.flush_all();
        0
    }

    /// Runs a text; whether `quit` or `halt` ended it.
    fn text(&mut self, text: &str) -> bool {
        let mut parser = Parser::new(text);
        while let Some(line) = parser.next_line() {
            let statements = match line {
                Ok(statements) => statements,
                Err((line, message)) => {
                    self.out.flush_all();
                    eprintln!("(standard_in) {line}: {message}");
                    continue;
                }
            };
            // `quit` ends bc when it is read, wherever it stands.
            let quits = statements.iter().any(contains_quit);
            for statement in &statements {
                match self.exec(statement) {
                    Ok(()) | Err(Stop::Break | Stop::Continue | Stop::Return(_)) => {}
                    Err(Stop::Halt) => return true,
                    Err(Stop::Error(message)) => {
                        self.out.flush_all();
                        eprintln!("Runtime error (func={}, adr=0): {message}", self.function_name);
                        self.function_name = "(main)".into();
                        break;
                    }
                }
            }
            if quits {
                return true;
            }
        }
        false
    }

    fn emit(&mut self, text: &str) {
        self.out.text(text);
        self.column = match text.rfind('\n') {
            Some(at) => text.len() - at - 1,
            None => self.column + text.len(),
        };
    }

    /// A number, cut into lines that end in a backslash.
    fn emit_number(&mut self, number: &Number) {
        let text = number.show(self.obase);
        let text = if self.obase > 16 { text.replacen("- ", "-", 1).to_string() } else { text };
        if self.line_length < 3 {
            return self.emit(&text);
        }
        for c in text.chars() {
            // The backslash has the last column but one.
            if self.column + 2 >= self.line_length {
                self.emit("\\\n");
            }
            self.emit(c.encode_utf8(&mut [0; 4]));
        }
    }

    fn exec(&mut self, statement: &Stmt) -> Run<()> {
        match statement {
            Stmt::Expr(expression) => {
                let value = self.eval(expression)?;
                let silent = match expression {
                    Expr::Assign(..) => true,
                    Expr::Call(name, _) => self.functions.get(name).is_some_and(|function| function.void),
                    _ => false,
                };
                if !silent {
                    self.emit_number(&value);
                    self.emit("\n");
                    self.last = value;
                }
            }
            Stmt::Text(text) => self.emit(text),
            Stmt::Print(items) => {
                for item in items {
                    match item {
                        Stmt::Text(text) => self.emit(&unescape(text)),
                        Stmt::Expr(expression) => {
                            let value = self.eval(expression)?;
                            self.emit_number(&value);
                            self.last = value;
                        }
                        _ => {}
                    }
                }
            }
            Stmt::Block(statements) => {
                for statement in statements {
                    self.exec(statement)?;
                }
            }
            Stmt::If(condition, then, otherwise) => {
                if !self.eval(condition)?.is_zero() {
                    self.exec(then)?;
                } else if let Some(otherwise) = otherwise {
                    self.exec(otherwise)?;
                }
            }
            Stmt::While(condition, body) => {
                while !self.eval(condition)?.is_zero() {
                    match self.exec(body) {
                        Err(Stop::Break) => break,
                        Ok(()) | Err(Stop::Continue) => {}
                        Err(stop) => return Err(stop),
                    }
                }
            }
            Stmt::For(first, condition, step, body) => {
                if let Some(first) = first {
                    self.eval(first)?;
                }
                loop {
                    if let Some(condition) = condition
                        && self.eval(condition)?.is_zero()
                    {
                        break;
                    }
                    match self.exec(body) {
                        Err(Stop::Break) => break,
                        Ok(()) | Err(Stop::Continue) => {}
                        Err(stop) => return Err(stop),
                    }
                    if let Some(step) = step {
                        self.eval(step)?;
                    }
                }
            }
            Stmt::Break => return Err(Stop::Break),
            Stmt::Continue => return Err(Stop::Continue),
            Stmt::Return(value) => {
                let value = match value {
                    Some(value) => self.eval(value)?,
                    None => Number::whole(0),
                };
                return Err(Stop::Return(value));
            }
            Stmt::Halt | Stmt::Quit => return Err(Stop::Halt),
            Stmt::Define(function) => {
                self.functions.insert(function.name.clone(), Rc::new((**function).clone()));
            }
            Stmt::Limits => self.emit(&format!("SCALE_MAX       = {MAX_SCALE}\n")),
        }
        Ok(())
    }

    fn get(&mut self, place: &Place) -> Run<Number> {
        Ok(match place {
            Place::Var(name) => self.vars.get(name).cloned().unwrap_or_else(|| Number::whole(0)),
            Place::Element(name, index) => {
                let index = self.index(index)?;
                self.arrays.get(name).and_then(|array| array.get(&index)).cloned().unwrap_or_else(|| Number::whole(0))
            }
            Place::Scale => Number::whole(self.scale as i64),
            Place::Ibase => Number::whole(i64::from(self.ibase)),
            Place::Obase => Number::whole(i64::from(self.obase)),
            Place::Last => self.last.clone(),
        })
    }

    fn index(&mut self, index: &Expr) -> Run<i64> {
        let index = self.eval(index)?.to_i64();
        if (0..=16_777_215).contains(&index) {
            Ok(index)
        } else {
            Err(Stop::Error("Array subscript out of bounds".into()))
        }
    }

    fn set(&mut self, place: &Place, value: Number) -> Run<()> {
        match place {
            Place::Var(name) => drop(self.vars.insert(name.clone(), value)),
            Place::Element(name, index) => {
                let index = self.index(index)?;
                self.arrays.entry(name.clone()).or_default().insert(index, value);
            }
            Place::Scale => self.scale = usize::try_from(value.to_i64()).unwrap_or(0).min(MAX_SCALE),
            Place::Ibase => self.ibase = value.to_i64().clamp(2, 36) as u32,
            Place::Obase => self.obase = value.to_i64().clamp(2, 1_000_000_000) as u32,
            Place::Last => self.last = value,
        }
        Ok(())
    }

    fn eval(&mut self, expression: &Expr) -> Run<Number> {
        match expression {
            Expr::Number(digits) => Ok(Number::parse(digits, self.ibase)),
            Expr::Place(place) => self.get(place),
            Expr::Group(inner) => self.eval(inner),
            Expr::Assign(place, op, value) => {
                let value = self.eval(value)?;
                let value = match op {
                    None => value,
                    Some(op) => {
                        let old = self.get(place)?;
                        self.operate(*op, &old, &value)?
                    }
                };
                self.set(place, value)?;
                self.get(place)
            }
            Expr::Step(place, change, before) => {
                let old = self.get(place)?;
                let new = old.add(&Number::whole(*change));
                self.set(place, new.clone())?;
                Ok(if *before { old } else { new })
            }
            Expr::Negate(operand) => Ok(self.eval(operand)?.neg()),
            Expr::Not(operand) => Ok(Number::truth(self.eval(operand)?.is_zero())),
            Expr::Binary(op, left, right) => self.binary(op, left, right),
            Expr::Call(name, arguments) => self.call(name, arguments),
            Expr::Length(operand) => Ok(Number::whole(self.eval(operand)?.length() as i64)),
            Expr::ScaleOf(operand) => Ok(Number::whole(self.eval(operand)?.scale as i64)),
            Expr::Sqrt(operand) => {
                let operand = self.eval(operand)?;
                operand.sqrt(self.scale).ok_or_else(|| Stop::Error("Square root of a negative number".into()))
            }
            Expr::Read => {
                let mut line = String::new();
                // At the end of the input it is 0.
                let _ = std::io::stdin().lock().read_line(&mut line);
                Ok(Number::parse(line.trim(), self.ibase))
            }
        }
    }

    fn binary(&mut self, op: &str, left: &Expr, right: &Expr) -> Run<Number> {
        let a = self.eval(left)?;
        match op {
            // bc evaluates both sides; only the result is short.
            "&&" => return Ok(Number::truth(!a.is_zero() & !self.eval(right)?.is_zero())),
            "||" => return Ok(Number::truth(!a.is_zero() | !self.eval(right)?.is_zero())),
            _ => {}
        }
        let b = self.eval(right)?;
        let order = || a.compare(&b);
        Ok(match op {
            "==" => Number::truth(order().is_eq()),
            "!=" => Number::truth(order().is_ne()),
            "<" => Number::truth(order().is_lt()),
            "<=" => Number::truth(order().is_le()),
            ">" => Number::truth(order().is_gt()),
            ">=" => Number::truth(order().is_ge()),
            op => return self.operate(op.as_bytes()[0], &a, &b),
        })
    }

    fn operate(&self, op: u8, a: &Number, b: &Number) -> Run<Number> {
        let by_zero = || Stop::Error("Divide by zero".into());
        match op {
            b'+' => Ok(a.add(b)),
            b'-' => Ok(a.sub(b)),
            b'*' => Ok(a.mul(b, self.scale)),
            b'/' => a.div(b, self.scale).ok_or_else(by_zero),
            b'%' => a.rem(b, self.scale).ok_or_else(|| Stop::Error("Modulo by zero".into())),
            _ => a.pow(b, self.scale).map_err(Stop::Error)?.ok_or_else(by_zero),
        }
    }

    fn call(&mut self, name: &str, arguments: &[Argument]) -> Run<Number> {
        let Some(function) = self.functions.get(name).cloned() else { return self.library_call(name, arguments) };
        if arguments.len() != function.parameters.len() {
            return Err(Stop::Error("Parameter number mismatch".into()));
        }
        if self.calls >= MAX_CALLS {
            return Err(Stop::Error("Function calls nested too deeply".into()));
        }
        // Names are dynamic: a call saves what it hides and puts it back.
        let mut values = Vec::new();
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            values.push(match argument {
                Argument::Value(value) if !parameter.array => (Some(self.eval(value)?), None),
                Argument::Array(array) if parameter.array => {
                    (None, Some(self.arrays.get(array).cloned().unwrap_or_default()))
                }
                _ => return Err(Stop::Error("Parameter type mismatch".into())),
            });
        }
        let mut saved_vars = Vec::new();
        let mut saved_arrays = Vec::new();
        for local in function.parameters.iter().chain(&function.autos) {
            if local.array {
                saved_arrays.push((local.name.clone(), self.arrays.remove(&local.name)));
            } else {
                saved_vars.push((local.name.clone(), self.vars.remove(&local.name)));
            }
        }
        for (parameter, (value, array)) in function.parameters.iter().zip(values) {
            if let Some(value) = value {
                self.vars.insert(parameter.name.clone(), value);
            }
            if let Some(array) = array {
                self.arrays.insert(parameter.name.clone(), array);
            }
        }
        self.calls += 1;
        let outer = std::mem::replace(&mut self.function_name, name.to_string());
        let mut result = Ok(Number::whole(0));
        for statement in &function.body {
            match self.exec(statement) {
                Ok(()) => {}
                Err(Stop::Return(value)) => {
                    result = Ok(value);
                    break;
                }
                Err(stop) => {
                    result = Err(stop);
                    break;
                }
            }
        }
        if result.is_ok() {
            self.function_name = outer;
        }
        self.calls -= 1;
        for (name, value) in saved_vars.into_iter().rev() {
            match value {
                Some(value) => drop(self.vars.insert(name, value)),
                None => drop(self.vars.remove(&name)),
            }
        }
        for (name, array) in saved_arrays.into_iter().rev() {
            match array {
                Some(array) => drop(self.arrays.insert(name, array)),
                None => drop(self.arrays.remove(&name)),
            }
        }
        result
    }

    fn library_call(&mut self, name: &str, arguments: &[Argument]) -> Run<Number> {
        let unknown = || Stop::Error(format!("Function {name} not defined."));
        if !self.library || !matches!(name, "e" | "l" | "s" | "c" | "a" | "j") {
            return Err(unknown());
        }
        let mut values = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Value(value) => values.push(self.eval(value)?),
                Argument::Array(_) => return Err(unknown()),
            }
        }
        let scale = self.scale;
        match (name, values.as_slice()) {
            ("e", [x]) => math::exponential(x, scale).ok_or_else(|| Stop::Error("exponent too large in raise".into())),
            ("l", [x]) => Ok(math::logarithm(x, scale)),
            ("s", [x]) => Ok(math::sine(x, scale, false)),
            ("c", [x]) => Ok(math::sine(x, scale, true)),
            ("a", [x]) => Ok(math::arctangent(x, scale)),
            ("j", [order, x]) => Ok(math::bessel(order, x, scale)),
            _ => Err(Stop::Error("Parameter number mismatch".into())),
        }
    }
}

fn contains_quit(statement: &Stmt) -> bool {
    match statement {
        Stmt::Quit => true,
        Stmt::Block(statements) => statements.iter().any(contains_quit),
        Stmt::If(_, then, otherwise) => contains_quit(then) || otherwise.as_deref().is_some_and(contains_quit),
        Stmt::While(_, body) | Stmt::For(_, _, _, body) => contains_quit(body),
        _ => false,
    }
}

/// `print`'s escapes.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('q') => out.push('"'),
            Some('\\') => out.push('\\'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    out
}
