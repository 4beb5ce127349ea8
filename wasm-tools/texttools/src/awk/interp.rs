//! Runs a program: variables, expressions and statements.

use std::collections::HashMap;
use std::rc::Rc;

use super::array::{Array, ArrayRc, Item};
use super::ast::{
    Arith, ArrayRef, Compare, Expr, Pattern, Program, Redirect, SPECIALS, Source, Special, Stmt, Target, Var,
};
use super::fields::{Record, Splitter};
use super::format;
use super::input::MainInput;
use super::io::{Kind, Separator, Streams};
use super::value::{Text, Value, number_text};
use crate::output::show;
use crate::platform;
use crate::regex::{Dialect, Options, Regex};

/// How deep functions may call each other: each call takes some hundred bytes of the real stack.
const MAX_CALLS: usize = 1500;
/// Compiled dynamic regular expressions that are kept.
const MAX_REGEXES: usize = 500;

/// What ends an expression or statement before its end.
pub enum Unwind {
    /// `next`
    Next,
    /// `nextfile`
    NextFile,
    /// `exit`; the status is in the interpreter.
    Exit,
    /// An error that ends the program.
    Fatal(String),
}

/// The result of running something.
pub type Run<T> = Result<T, Unwind>;

/// How a statement ended.
#[derive(PartialEq, Eq)]
pub enum Flow {
    /// At its end.
    Normal,
    /// By `break`.
    Break,
    /// By `continue`.
    Continue,
    /// By `return`; the value is in the interpreter.
    Return,
}

/// Where a variable is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// Among the globals.
    Global(usize),
    /// On the stack of frames.
    Stack(usize),
}

/// What a variable holds.
#[derive(Clone, Default)]
pub enum Cell {
    /// Nothing yet: may become a value or an array.
    #[default]
    Empty,
    /// A value.
    Value(Value),
    /// An array.
    Array(ArrayRc),
    /// A parameter whose argument was an unused variable: it becomes an array when this one does.
    Link(Slot),
}

/// The state of a run.
pub struct Interp<'p> {
    pub program: &'p Program,
    pub globals: Vec<Cell>,
    stack: Vec<Cell>,
    base: usize,
    calls: usize,
    pub record: Record,
    pub splitter: Splitter,
    pub separator: Separator,
    pub paragraphs: bool,
    pub ofs: Text,
    pub ors: Text,
    pub subsep: Text,
    pub convfmt: Text,
    pub ofmt: Text,
    pub ignore_case: bool,
    pub nr: f64,
    pub fnr: f64,
    pub exit_status: i32,
    return_value: Value,
    regexes: Vec<Option<Rc<Regex>>>,
    dynamic: HashMap<(Vec<u8>, bool), Rc<Regex>>,
    ranges: Vec<bool>,
    pub streams: Streams,
    pub main: MainInput,
    pub random: u64,
    pub seed: f64,
}

/// A fatal error.
pub fn fatal<T>(message: impl Into<String>) -> Run<T> {
    Err(Unwind::Fatal(message.into()))
}

impl<'p> Interp<'p> {
    /// A run of `program` with ARGV's elements behind the first.
    pub fn new(program: &'p Program, operands: Vec<Vec<u8>>) -> Self {
        let mut interp = Self {
            program,
            globals: vec![Cell::Empty; program.globals.len()],
            stack: Vec::new(),
            base: 0,
            calls: 0,
            record: Record::new(),
            splitter: Splitter::Blanks,
            separator: Separator::Byte(b'\n'),
            paragraphs: false,
            ofs: Rc::new(b" ".to_vec()),
            ors: Rc::new(b"\n".to_vec()),
            subsep: Rc::new(b"\x1c".to_vec()),
            convfmt: Rc::new(b"%.6g".to_vec()),
            ofmt: Rc::new(b"%.6g".to_vec()),
            ignore_case: false,
            nr: 0.0,
            fnr: 0.0,
            exit_status: 0,
            return_value: Value::Unset,
            regexes: vec![None; program.regexes.len()],
            dynamic: HashMap::new(),
            ranges: vec![false; program.ranges],
            streams: Streams::new(),
            main: MainInput::default(),
            random: 0x2545_f491_4f6c_dd1d,
            seed: 0.0,
        };
        let set =
            |interp: &mut Self, special: Special, value: Value| interp.globals[special as usize] = Cell::Value(value);
        for (special, text) in [
            (Special::Fs, &b" "[..]),
            (Special::Ofs, b" "),
            (Special::Rs, b"\n"),
            (Special::Ors, b"\n"),
            (Special::Subsep, b"\x1c"),
            (Special::Convfmt, b"%.6g"),
            (Special::Ofmt, b"%.6g"),
            (Special::Filename, b""),
            (Special::Fpat, b"[^[:space:]]+"),
            (Special::Fieldwidths, b""),
            (Special::Rt, b""),
            (Special::Errno, b""),
            (Special::Textdomain, b"messages"),
        ] {
            set(&mut interp, special, Value::text(text));
        }
        set(&mut interp, Special::Rstart, Value::Number(0.0));
        set(&mut interp, Special::Rlength, Value::Number(-1.0));
        set(&mut interp, Special::Ignorecase, Value::Number(0.0));
        set(&mut interp, Special::Argind, Value::Number(0.0));
        set(&mut interp, Special::Argc, Value::Number(operands.len() as f64 + 1.0));
        let mut argv = Array::default();
        argv.set_index(0, Value::text(&b"awk"[..]));
        for (index, operand) in operands.into_iter().enumerate() {
            argv.set_index(index + 1, Value::input(operand));
        }
        interp.globals[Special::Argv as usize] = Cell::Array(Rc::new(argv.into()));
        let mut environ = Array::default();
        for (name, value) in platform::environment() {
            environ.set(Rc::new(name), Value::input(value));
        }
        interp.globals[Special::Environ as usize] = Cell::Array(Rc::new(environ.into()));
        let mut procinfo = Array::default();
        procinfo.set(Rc::new(b"version".to_vec()), Value::text(&b"5.2.1"[..]));
        procinfo.set(Rc::new(b"strftime".to_vec()), Value::text(&b"%a %b %e %H:%M:%S %Z %Y"[..]));
        interp.globals[Special::Procinfo as usize] = Cell::Array(Rc::new(procinfo.into()));
        interp
    }

    /// Compiles the program's regular expressions, so that an error in one is found before anything runs.
    ///
    /// # Errors
    /// The message.
    pub fn check_regexes(&mut self) -> Result<(), String> {
        for index in 0..self.program.regexes.len() {
            if let Err(Unwind::Fatal(message)) = self.literal_regex(index) {
                return Err(message.trim_start_matches("invalid regexp: ").to_string());
            }
        }
        Ok(())
    }

    /// Runs the whole program and gives its exit status.
    ///
    /// # Errors
    /// The message of a fatal error.
    pub fn run(&mut self) -> Result<i32, String> {
        let program = self.program;
        let mut exited = false;
        for action in &program.begin {
            match self.exec(action) {
                Ok(_) => {}
                Err(Unwind::Exit) => {
                    exited = true;
                    break;
                }
                Err(Unwind::Fatal(message)) => return Err(message),
                Err(_) => return Err("`next' used in BEGIN action".into()),
            }
        }
        let reads = !program.rules.is_empty()
            || !program.end.is_empty()
            || !program.begin_file.is_empty()
            || !program.end_file.is_empty();
        // An `exit` before END does not skip it.
        if reads && !exited {
            self.main_loop()?;
        }
        for action in &program.end {
            match self.exec(action) {
                Ok(_) => {}
                Err(Unwind::Exit) => break,
                Err(Unwind::Fatal(message)) => return Err(message),
                Err(_) => return Err("`next' used in END action".into()),
            }
        }
        self.close_in_place();
        Ok(self.exit_status)
    }

    /// Runs the rules over the input.
    fn main_loop(&mut self) -> Result<(), String> {
        let program = self.program;
        loop {
            let step = (|| {
                if !self.next_main_record()? {
                    return Ok(false);
                }
                for rule in &program.rules {
                    let selected = match &rule.pattern {
                        Pattern::Always => true,
                        Pattern::Expr(condition) => self.condition(condition)?,
                        Pattern::Range(first, last, index) => self.in_range(first, last, *index)?,
                    };
                    if !selected {
                        continue;
                    }
                    match &rule.action {
                        Some(action) => {
                            self.exec(action)?;
                        }
                        None => self.print_record()?,
                    }
                }
                Ok(true)
            })();
            match step {
                Ok(true) | Err(Unwind::Next) => {}
                Ok(false) | Err(Unwind::Exit) => return Ok(()),
                Err(Unwind::NextFile) => self.skip_file(),
                Err(Unwind::Fatal(message)) => return Err(message),
            }
        }
    }

    fn in_range(&mut self, first: &Expr, last: &Expr, index: usize) -> Run<bool> {
        if !self.ranges[index] {
            if !self.condition(first)? {
                return Ok(false);
            }
            self.ranges[index] = true;
        }
        if self.condition(last)? {
            self.ranges[index] = false;
        }
        Ok(true)
    }

    fn print_record(&mut self) -> Run<()> {
        let mut line = Vec::clone(&*self.text());
        line.extend_from_slice(&self.ors);
        self.emit(&line)
    }

    fn emit(&mut self, bytes: &[u8]) -> Run<()> {
        self.streams.print(bytes).map_err(|error| Unwind::Fatal(format!("print: {}", platform::message(&error))))
    }

    // ---- Variables ----

    fn slot(&self, variable: Var) -> Slot {
        match variable {
            Var::Global(slot) => Slot::Global(slot),
            Var::Local(slot) => Slot::Stack(self.base + slot),
        }
    }

    fn cell(&mut self, slot: Slot) -> &mut Cell {
        match slot {
            Slot::Global(index) => &mut self.globals[index],
            Slot::Stack(index) => &mut self.stack[index],
        }
    }

    /// What a variable holds.
    pub fn cell_of(&mut self, variable: Var) -> Cell {
        let slot = self.slot(variable);
        self.cell(slot).clone()
    }

    /// A variable's array, if it is one, or is a parameter whose argument became one.
    pub fn array_if_any(&mut self, variable: Var) -> Option<ArrayRc> {
        let mut slot = self.slot(variable);
        loop {
            match self.cell(slot) {
                Cell::Array(array) => return Some(array.clone()),
                Cell::Link(target) => slot = *target,
                Cell::Empty | Cell::Value(_) => return None,
            }
        }
    }

    fn name_of(&self, variable: Var) -> String {
        match variable {
            Var::Global(slot) => self.program.globals[slot].clone(),
            Var::Local(slot) => format!("parameter {}", slot + 1),
        }
    }

    /// A variable's value.
    pub fn get(&mut self, variable: Var) -> Run<Value> {
        if let Var::Global(slot) = variable {
            match slot {
                slot if slot == Special::Nf as usize => {
                    self.split_record();
                    return Ok(Value::Number(self.record.count() as f64));
                }
                slot if slot == Special::Nr as usize => return Ok(Value::Number(self.nr)),
                slot if slot == Special::Fnr as usize => return Ok(Value::Number(self.fnr)),
                _ => {}
            }
        }
        let slot = self.slot(variable);
        match self.cell(slot) {
            Cell::Value(value) => Ok(value.clone()),
            Cell::Empty | Cell::Link(_) => Ok(Value::Unset),
            Cell::Array(_) => fatal(format!("attempt to use array `{}' in a scalar context", self.name_of(variable))),
        }
    }

    /// Sets a variable.
    pub fn set(&mut self, variable: Var, value: Value) -> Run<()> {
        let slot = self.slot(variable);
        if let Cell::Array(_) = self.cell(slot) {
            return fatal(format!("attempt to use array `{}' in a scalar context", self.name_of(variable)));
        }
        if let Var::Global(index) = variable
            && index < SPECIALS.len()
        {
            return self.set_special(index, value);
        }
        *self.cell(slot) = Cell::Value(value);
        Ok(())
    }

    /// Sets a special variable by its name.
    pub fn set_named(&mut self, special: Special, value: Value) {
        self.globals[special as usize] = Cell::Value(value);
    }

    fn set_special(&mut self, index: usize, value: Value) -> Run<()> {
        let text = value.to_text(&self.convfmt);
        let is = |special: Special| index == special as usize;
        if is(Special::Nf) {
            self.split_record();
            let count = value.number();
            if count < 0.0 {
                return fatal("NF set to negative value");
            }
            return self.record.set_count(count as usize).map_err(Unwind::Fatal);
        }
        self.globals[index] = Cell::Value(value.clone());
        if is(Special::Nr) {
            self.nr = value.number();
        } else if is(Special::Fnr) {
            self.fnr = value.number();
        } else if is(Special::Fs) {
            // The record at hand is still split as it was.
            self.split_record();
            self.splitter = self.splitter_of(&text)?;
        } else if is(Special::Fieldwidths) {
            self.split_record();
            self.splitter = Splitter::Widths(parse_widths(&text));
        } else if is(Special::Fpat) {
            self.split_record();
            self.splitter = Splitter::Content(self.dynamic_regex(&text)?);
        } else if is(Special::Rs) {
            self.paragraphs = text.is_empty();
            self.separator = match text.as_slice() {
                [] => Separator::Paragraph,
                [byte] => Separator::Byte(*byte),
                _ => Separator::Regex(self.dynamic_regex(&text)?),
            };
        } else if is(Special::Ofs) {
            // A record joined later gets the separator of now.
            let (ofs, convfmt) = (self.ofs.clone(), self.convfmt.clone());
            self.record.text(&ofs, &convfmt);
            self.ofs = text;
        } else if is(Special::Ors) {
            self.ors = text;
        } else if is(Special::Subsep) {
            self.subsep = text;
        } else if is(Special::Convfmt) {
            self.convfmt = text;
        } else if is(Special::Ofmt) {
            self.ofmt = text;
        } else if is(Special::Ignorecase) {
            self.ignore_case = value.is_true();
            self.regexes.iter_mut().for_each(|regex| *regex = None);
            if let Some(fs) = self.special_text(Special::Fs) {
                self.splitter = self.splitter_of(&fs)?;
            }
        }
        Ok(())
    }

    /// The text of a special variable.
    pub fn special_text(&self, special: Special) -> Option<Text> {
        match &self.globals[special as usize] {
            Cell::Value(value) => Some(value.to_text(&self.convfmt)),
            _ => None,
        }
    }

    /// How a value of FS, or `split`'s third argument, splits.
    pub fn splitter_of(&mut self, text: &[u8]) -> Run<Splitter> {
        Ok(match text {
            b" " => Splitter::Blanks,
            [] => Splitter::Characters,
            [byte] if *byte != b'\\' && byte.is_ascii() && !(self.ignore_case && byte.is_ascii_alphabetic()) => {
                Splitter::Byte(*byte)
            }
            b"\\|" => Splitter::Byte(b'|'),
            b"\\" => Splitter::Byte(b'\\'),
            _ => Splitter::Regex(self.dynamic_regex(text)?),
        })
    }

    /// The array that a reference names; made when it does not exist.
    pub fn array(&mut self, reference: &ArrayRef) -> Run<ArrayRc> {
        match reference {
            ArrayRef::Var(variable) => {
                let slot = self.slot(*variable);
                match self.array_at(slot) {
                    Some(array) => Ok(array),
                    None => fatal(format!("attempt to use scalar `{}' as an array", self.name_of(*variable))),
                }
            }
            ArrayRef::Element(outer, subscripts) => {
                let outer = self.array(outer)?;
                let key = self.key(subscripts)?;
                let mut outer = outer.borrow_mut();
                match outer.entry(&key) {
                    Item::Array(array) => Ok(array.clone()),
                    item @ Item::Value(Value::Unset) => {
                        let array = Array::shared();
                        *item = Item::Array(array.clone());
                        Ok(array)
                    }
                    Item::Value(_) => fatal(format!("attempt to use scalar `[\"{}\"]' as an array", show(&key))),
                }
            }
        }
    }

    fn array_at(&mut self, slot: Slot) -> Option<ArrayRc> {
        let array = match self.cell(slot) {
            Cell::Array(array) => return Some(array.clone()),
            Cell::Empty | Cell::Value(Value::Unset) => Array::shared(),
            Cell::Value(_) => return None,
            Cell::Link(target) => {
                let target = *target;
                self.array_at(target)?
            }
        };
        *self.cell(slot) = Cell::Array(array.clone());
        Some(array)
    }

    /// Subscripts as one key.
    pub fn key(&mut self, subscripts: &[Expr]) -> Run<Text> {
        if let [one] = subscripts {
            let value = self.eval(one)?;
            return Ok(value.to_text(&self.convfmt));
        }
        let mut key = Vec::new();
        for (index, subscript) in subscripts.iter().enumerate() {
            if index > 0 {
                key.extend_from_slice(&self.subsep);
            }
            let value = self.eval(subscript)?;
            value.append_to(&mut key, &self.convfmt);
        }
        Ok(Rc::new(key))
    }

    // ---- Record ----

    pub fn split_record(&mut self) {
        if !self.record.is_split() {
            let newlines = self.paragraphs && !matches!(self.splitter, Splitter::Blanks);
            self.record.ensure_split(&self.splitter, newlines);
        }
    }

    /// `$0`.
    pub fn text(&mut self) -> Text {
        self.record.text(&self.ofs, &self.convfmt)
    }

    fn field_index(&mut self, index: &Expr) -> Run<usize> {
        let index = self.eval(index)?.number();
        if index < 0.0 {
            return fatal(format!("attempt to access field {index}"));
        }
        Ok(index as usize)
    }

    /// `$index`
    pub fn field(&mut self, index: usize) -> Value {
        if index == 0 {
            return Value::Input(self.text());
        }
        self.split_record();
        self.record.field(index)
    }

    fn set_field(&mut self, index: usize, value: Value) -> Run<()> {
        if index == 0 {
            self.record.set(value.to_text(&self.convfmt));
            return Ok(());
        }
        self.split_record();
        self.record.set_field(index, value).map_err(Unwind::Fatal)
    }

    // ---- Regular expressions ----

    /// The regular expression of an operand: a literal, or the text of a value.
    pub fn regex(&mut self, expression: &Expr) -> Run<Rc<Regex>> {
        match expression {
            Expr::Regex(index) => self.literal_regex(*index),
            Expr::Group(inner) => self.regex(inner),
            _ => {
                let value = self.eval(expression)?;
                let text = value.to_text(&self.convfmt);
                self.dynamic_regex(&text)
            }
        }
    }

    fn literal_regex(&mut self, index: usize) -> Run<Rc<Regex>> {
        if let Some(regex) = &self.regexes[index] {
            return Ok(regex.clone());
        }
        let regex = self.dynamic_regex(&self.program.regexes[index].clone())?;
        self.regexes[index] = Some(regex.clone());
        Ok(regex)
    }

    /// A regular expression from its text.
    pub fn dynamic_regex(&mut self, text: &[u8]) -> Run<Rc<Regex>> {
        let key = (text.to_vec(), self.ignore_case);
        if let Some(regex) = self.dynamic.get(&key) {
            return Ok(regex.clone());
        }
        let options = Options { ignore_case: self.ignore_case, ..Options::new(Dialect::Awk, true) };
        match Regex::new(text, &options) {
            Ok(regex) => {
                if self.dynamic.len() >= MAX_REGEXES {
                    self.dynamic.clear();
                }
                let regex = Rc::new(regex);
                self.dynamic.insert(key, regex.clone());
                Ok(regex)
            }
            Err(message) => fatal(format!("invalid regexp: {message}: /{}/", show(text))),
        }
    }

    // ---- Expressions ----

    /// Whether an expression is true; a regular expression is matched against the record.
    pub fn condition(&mut self, expression: &Expr) -> Run<bool> {
        match expression {
            Expr::Regex(index) => {
                let regex = self.literal_regex(*index)?;
                Ok(regex.is_match(&self.text()))
            }
            Expr::Match(negated, left, right) => self.matches(left, right).map(|found| found != *negated),
            Expr::Compare(op, left, right) => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                Ok(self.compare(*op, &left, &right))
            }
            Expr::And(left, right) => Ok(self.condition(left)? && self.condition(right)?),
            Expr::Or(left, right) => Ok(self.condition(left)? || self.condition(right)?),
            Expr::Not(operand) => Ok(!self.condition(operand)?),
            Expr::Group(inner) => self.condition(inner),
            _ => Ok(self.eval(expression)?.is_true()),
        }
    }

    fn matches(&mut self, left: &Expr, right: &Expr) -> Run<bool> {
        let value = self.eval(left)?;
        let text = value.to_text(&self.convfmt);
        Ok(self.regex(right)?.is_match(&text))
    }

    /// A comparison: as numbers when both are or look like numbers, else as strings.
    pub fn compare(&self, op: Compare, left: &Value, right: &Value) -> bool {
        use std::cmp::Ordering;
        let numbers = match (left.as_comparable_number(), right.as_comparable_number()) {
            // Two that were never set are equal; one that was not is what the other is.
            (Some(a), Some(b)) => Some((a, b)),
            _ => None,
        };
        let ordering = match numbers {
            Some((a, b)) => match a.partial_cmp(&b) {
                Some(ordering) => ordering,
                None => return op == Compare::NotEqual,
            },
            None => {
                let (a, b) = (left.to_text(&self.convfmt), right.to_text(&self.convfmt));
                if self.ignore_case { a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase()) } else { a.cmp(&b) }
            }
        };
        match op {
            Compare::Less => ordering == Ordering::Less,
            Compare::LessEqual => ordering != Ordering::Greater,
            Compare::Equal => ordering == Ordering::Equal,
            Compare::NotEqual => ordering != Ordering::Equal,
            Compare::Greater => ordering == Ordering::Greater,
            Compare::GreaterEqual => ordering != Ordering::Less,
        }
    }

    /// The text of an expression.
    pub fn eval_text(&mut self, expression: &Expr) -> Run<Text> {
        let value = self.eval(expression)?;
        Ok(value.to_text(&self.convfmt))
    }

    /// The number of an expression.
    pub fn eval_number(&mut self, expression: &Expr) -> Run<f64> {
        Ok(self.eval(expression)?.number())
    }

    /// The value of an expression. Rare kinds are in functions of their own, so that this one's frame stays small.
    pub fn eval(&mut self, expression: &Expr) -> Run<Value> {
        match expression {
            Expr::Number(number) => Ok(Value::Number(*number)),
            Expr::Text(text) => Ok(Value::Text(text.clone())),
            Expr::Var(variable) => self.get(*variable),
            Expr::Field(index) => {
                let index = self.field_index(index)?;
                Ok(self.field(index))
            }
            Expr::Group(inner) => self.eval(inner),
            Expr::Element(array, subscripts) => self.element(array, subscripts),
            Expr::Arith(op, left, right) => {
                let (left, right) = (self.eval_number(left)?, self.eval_number(right)?);
                arithmetic(*op, left, right).map(Value::Number)
            }
            Expr::Concat(..) => {
                let mut text = Vec::new();
                self.concat(expression, &mut text)?;
                Ok(Value::text(text))
            }
            Expr::Assign(target, value) => self.assign(target, value),
            Expr::Update(op, target, value) => self.update(*op, target, value),
            Expr::Step(target, change, before) => self.step(target, *change, *before),
            Expr::Choice(condition, yes, no) => {
                if self.condition(condition)? {
                    self.eval(yes)
                } else {
                    self.eval(no)
                }
            }
            Expr::Compare(..) | Expr::And(..) | Expr::Or(..) | Expr::Not(_) | Expr::Match(..) | Expr::Regex(_) => {
                self.condition(expression).map(Value::truth)
            }
            Expr::Negate(operand) => Ok(Value::Number(-self.eval_number(operand)?)),
            Expr::Plus(operand) => Ok(Value::Number(self.eval_number(operand)?)),
            Expr::In(subscripts, array) => {
                let key = self.key(subscripts)?;
                let array = self.array(array)?;
                let found = array.borrow().get(&key).is_some();
                Ok(Value::truth(found))
            }
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::IndirectCall(variable, arguments) => self.indirect_call(*variable, arguments),
            Expr::Builtin(builtin, arguments) => self.builtin(*builtin, arguments),
            Expr::Getline(source, target) => self.getline(source, target.as_deref()),
            Expr::List(_) => fatal("syntax error: a list of expressions has no value"),
        }
    }

    fn concat(&mut self, expression: &Expr, text: &mut Vec<u8>) -> Run<()> {
        if let Expr::Concat(left, right) = expression {
            self.concat(left, text)?;
            return self.append(right, text);
        }
        self.append(expression, text)
    }

    /// Appends an expression's text.
    fn append(&mut self, expression: &Expr, text: &mut Vec<u8>) -> Run<()> {
        if let Expr::Field(index) = expression {
            let index = self.field_index(index)?;
            if index > 0 {
                self.split_record();
                self.record.append_field(index, text, &self.convfmt);
                return Ok(());
            }
        }
        let value = self.eval(expression)?;
        value.append_to(text, &self.convfmt);
        Ok(())
    }

    fn element(&mut self, array: &ArrayRef, subscripts: &[Expr]) -> Run<Value> {
        let key = self.key(subscripts)?;
        let array = self.array(array)?;
        let mut array = array.borrow_mut();
        match array.entry(&key) {
            Item::Value(value) => Ok(value.clone()),
            Item::Array(_) => fatal(format!("attempt to use array `[\"{}\"]' in a scalar context", show(&key))),
        }
    }

    /// The value of a target.
    fn target_value(&mut self, target: &Target) -> Run<Value> {
        match target {
            Target::Var(variable) => self.get(*variable),
            Target::Field(index) => {
                let index = self.field_index(index)?;
                Ok(self.field(index))
            }
            Target::Element(array, subscripts) => self.element(array, subscripts),
        }
    }

    /// Assigns to a target.
    pub fn store(&mut self, target: &Target, value: Value) -> Run<()> {
        match target {
            Target::Var(variable) => self.set(*variable, value),
            Target::Field(index) => {
                let index = self.field_index(index)?;
                self.set_field(index, value)
            }
            Target::Element(array, subscripts) => {
                let key = self.key(subscripts)?;
                let array = self.array(array)?;
                let mut array = array.borrow_mut();
                match array.entry(&key) {
                    Item::Value(old) => *old = value,
                    Item::Array(_) => {
                        return fatal(format!("attempt to use array `[\"{}\"]' in a scalar context", show(&key)));
                    }
                }
                Ok(())
            }
        }
    }

    fn assign(&mut self, target: &Target, expression: &Expr) -> Run<Value> {
        // `s = s x`: append in place, or building a long string would take quadratic time.
        if let (Target::Var(variable), Expr::Concat(left, right)) = (target, expression)
            && matches!(&**left, Expr::Var(same) if same == variable)
            && !matches!(variable, Var::Global(slot) if *slot < SPECIALS.len())
        {
            let mut more = Vec::new();
            self.append(right, &mut more)?;
            let convfmt = self.convfmt.clone();
            let slot = self.slot(*variable);
            if let Cell::Value(value) = self.cell(slot) {
                let mut text = match std::mem::take(value) {
                    Value::Text(text) => text,
                    other => other.to_text(&convfmt),
                };
                Rc::make_mut(&mut text).extend_from_slice(&more);
                let result = Value::Text(text);
                *value = result.clone();
                // The copy that is the expression's value must not make the next append copy.
                return Ok(result);
            }
            let mut text = Vec::clone(&*self.get(*variable)?.to_text(&convfmt));
            text.extend_from_slice(&more);
            let result = Value::text(text);
            self.set(*variable, result.clone())?;
            return Ok(result);
        }
        let value = self.eval(expression)?;
        self.store(target, value.clone())?;
        Ok(value)
    }

    fn update(&mut self, op: Arith, target: &Target, expression: &Expr) -> Run<Value> {
        let operand = self.eval_number(expression)?;
        self.modify(target, |old| arithmetic(op, old, operand)).map(|(_, new)| new)
    }

    fn step(&mut self, target: &Target, change: f64, before: bool) -> Run<Value> {
        let (old, new) = self.modify(target, |old| Ok(old + change))?;
        Ok(if before { old } else { new })
    }

    /// Changes a number in its place; subscripts are evaluated once.
    fn modify(&mut self, target: &Target, change: impl FnOnce(f64) -> Run<f64>) -> Run<(Value, Value)> {
        match target {
            Target::Element(array, subscripts) => {
                let key = self.key(subscripts)?;
                let array = self.array(array)?;
                let mut array = array.borrow_mut();
                let Item::Value(value) = array.entry(&key) else {
                    return fatal(format!("attempt to use array `[\"{}\"]' in a scalar context", show(&key)));
                };
                let old = value.number();
                let new = change(old)?;
                *value = Value::Number(new);
                Ok((Value::Number(old), Value::Number(new)))
            }
            Target::Field(index) => {
                let index = self.field_index(index)?;
                let old = self.field(index).number();
                let new = change(old)?;
                self.set_field(index, Value::Number(new))?;
                Ok((Value::Number(old), Value::Number(new)))
            }
            Target::Var(_) => {
                let old = self.target_value(target)?.number();
                let new = change(old)?;
                self.store(target, Value::Number(new))?;
                Ok((Value::Number(old), Value::Number(new)))
            }
        }
    }

    fn call(&mut self, index: usize, arguments: &[Expr]) -> Run<Value> {
        let function = self.program.functions[index].clone();
        if arguments.len() > function.parameters {
            return fatal(format!("function `{}' called with more arguments than declared", function.name));
        }
        if self.calls >= MAX_CALLS {
            return fatal(format!("function `{}': too many nested calls (limit {MAX_CALLS})", function.name));
        }
        let mut cells = Vec::with_capacity(function.parameters);
        for argument in arguments {
            cells.push(self.argument(argument)?);
        }
        self.enter(&function.body, cells, function.parameters)
    }

    fn argument(&mut self, argument: &Expr) -> Run<Cell> {
        match argument {
            Expr::Var(variable) => {
                if let Var::Global(slot) = variable
                    && *slot <= Special::Fnr as usize
                {
                    return self.get(*variable).map(Cell::Value);
                }
                let slot = self.slot(*variable);
                Ok(match self.cell(slot) {
                    Cell::Empty => Cell::Link(slot),
                    cell => cell.clone(),
                })
            }
            Expr::Element(array, subscripts) => {
                let key = self.key(subscripts)?;
                let array = self.array(array)?;
                let mut array = array.borrow_mut();
                Ok(match array.entry(&key) {
                    Item::Value(value) => Cell::Value(value.clone()),
                    Item::Array(array) => Cell::Array(array.clone()),
                })
            }
            _ => self.eval(argument).map(Cell::Value),
        }
    }

    fn enter(&mut self, body: &Stmt, cells: Vec<Cell>, parameters: usize) -> Run<Value> {
        let base = self.stack.len();
        self.stack.extend(cells);
        self.stack.resize(base + parameters, Cell::Empty);
        let outer = std::mem::replace(&mut self.base, base);
        self.calls += 1;
        let result = self.exec(body);
        self.calls -= 1;
        self.base = outer;
        self.stack.truncate(base);
        let flow = result?;
        let value = std::mem::take(&mut self.return_value);
        Ok(if flow == Flow::Return { value } else { Value::Unset })
    }

    /// Calls a function with values, for sorting.
    pub fn call_with(&mut self, index: usize, cells: Vec<Cell>) -> Run<Value> {
        let function = self.program.functions[index].clone();
        if cells.len() > function.parameters {
            return fatal(format!("function `{}' called with more arguments than declared", function.name));
        }
        self.enter(&function.body, cells, function.parameters)
    }

    /// The function with this name.
    pub fn function_named(&self, name: &[u8]) -> Option<usize> {
        self.program.functions.iter().position(|function| function.name.as_bytes() == name)
    }

    fn indirect_call(&mut self, variable: Var, arguments: &[Expr]) -> Run<Value> {
        let name = self.get(variable)?.to_text(&self.convfmt);
        if let Some(index) = self.function_named(&name) {
            return self.call(index, arguments);
        }
        match super::builtins::Builtin::by_name(&show(&name)) {
            Some(builtin) => self.builtin(builtin, arguments),
            None => fatal(format!("function `{}' not defined", show(&name))),
        }
    }

    fn getline(&mut self, source: &Source, target: Option<&Target>) -> Run<Value> {
        let mut record = Vec::new();
        let mut ended_by = Vec::new();
        let separator = self.separator.clone();
        let found = match source {
            Source::Main => {
                if target.is_none() {
                    return self.next_main_record().map(Value::truth);
                }
                match self.next_main_text()? {
                    Some(text) => {
                        self.store_line(target, text)?;
                        return Ok(Value::Number(1.0));
                    }
                    None => return Ok(Value::Number(0.0)),
                }
            }
            Source::File(name) => {
                let name = self.eval_text(name)?;
                self.streams.file(&name).and_then(|reader| reader.next(&separator, &mut record, &mut ended_by))
            }
            Source::Command(command) => {
                let command = self.eval_text(command)?;
                self.streams.command(&command).and_then(|reader| reader.next(&separator, &mut record, &mut ended_by))
            }
            Source::Coprocess(command) => {
                let command = self.eval_text(command)?;
                self.streams
                    .from_coprocess(&command)
                    .and_then(|reader| reader.next(&separator, &mut record, &mut ended_by))
            }
        };
        match found {
            Ok(true) => {
                self.set_named(Special::Rt, Value::text(ended_by));
                self.store_line(target, Rc::new(record))?;
                Ok(Value::Number(1.0))
            }
            Ok(false) => Ok(Value::Number(0.0)),
            Err(error) => {
                let text = platform::message(&error);
                self.set_named(Special::Errno, Value::text(text));
                Ok(Value::Number(-1.0))
            }
        }
    }

    fn store_line(&mut self, target: Option<&Target>, text: Text) -> Run<()> {
        match target {
            Some(target) => self.store(target, Value::Input(text)),
            None => {
                self.record.set(text);
                Ok(())
            }
        }
    }

    // ---- Statements ----

    /// Runs a statement.
    pub fn exec(&mut self, statement: &Stmt) -> Run<Flow> {
        match statement {
            Stmt::Expr(expression) => self.discard(expression)?,
            Stmt::Block(statements) => return self.exec_list(statements),
            Stmt::Print(arguments, redirect) => self.print(arguments, redirect.as_ref())?,
            Stmt::Printf(arguments, redirect) => self.printf(arguments, redirect.as_ref())?,
            Stmt::If(condition, then, otherwise) => {
                if self.condition(condition)? {
                    return self.exec(then);
                }
                if let Some(otherwise) = otherwise {
                    return self.exec(otherwise);
                }
            }
            Stmt::While(condition, body) => {
                while self.condition(condition)? {
                    match self.exec(body)? {
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                        Flow::Normal | Flow::Continue => {}
                    }
                }
            }
            Stmt::DoWhile(body, condition) => loop {
                match self.exec(body)? {
                    Flow::Break => break,
                    Flow::Return => return Ok(Flow::Return),
                    Flow::Normal | Flow::Continue => {}
                }
                if !self.condition(condition)? {
                    break;
                }
            },
            Stmt::For(first, condition, step, body) => {
                if let Some(first) = first {
                    self.exec(first)?;
                }
                while match condition {
                    Some(condition) => self.condition(condition)?,
                    None => true,
                } {
                    match self.exec(body)? {
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                        Flow::Normal | Flow::Continue => {}
                    }
                    if let Some(step) = step {
                        self.exec(step)?;
                    }
                }
            }
            Stmt::ForIn(target, array, body) => return self.for_in(target, array, body),
            Stmt::Switch(value, cases, statements) => return self.switch(value, cases, statements),
            Stmt::Next => return Err(Unwind::Next),
            Stmt::NextFile => return Err(Unwind::NextFile),
            Stmt::Exit(status) => {
                if let Some(status) = status {
                    self.exit_status = self.eval_number(status)? as i64 as i32 & 0xff;
                }
                return Err(Unwind::Exit);
            }
            Stmt::Return(value) => {
                self.return_value = match value {
                    Some(value) => self.eval(value)?,
                    None => Value::Unset,
                };
                return Ok(Flow::Return);
            }
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue => return Ok(Flow::Continue),
            Stmt::Delete(array, subscripts) => {
                let array = self.array(array)?;
                match subscripts {
                    Some(subscripts) => {
                        let key = self.key(subscripts)?;
                        array.borrow_mut().remove(&key);
                    }
                    None => array.borrow_mut().clear(),
                }
            }
        }
        Ok(Flow::Normal)
    }

    /// Evaluates for the effect. `s = s x` then need not keep a second reference to the text.
    fn discard(&mut self, expression: &Expr) -> Run<()> {
        self.eval(expression).map(drop)
    }

    fn exec_list(&mut self, statements: &[Stmt]) -> Run<Flow> {
        for statement in statements {
            let flow = self.exec(statement)?;
            if flow != Flow::Normal {
                return Ok(flow);
            }
        }
        Ok(Flow::Normal)
    }

    fn for_in(&mut self, target: &Target, array: &ArrayRef, body: &Stmt) -> Run<Flow> {
        let array = self.array(array)?;
        let keys = self.ordered_keys(&array)?;
        for key in keys {
            // The body may have deleted it.
            if array.borrow().get(&key).is_none() {
                continue;
            }
            self.store(target, Value::Text(key))?;
            match self.exec(body)? {
                Flow::Break => break,
                Flow::Return => return Ok(Flow::Return),
                Flow::Normal | Flow::Continue => {}
            }
        }
        Ok(Flow::Normal)
    }

    fn switch(&mut self, value: &Expr, cases: &[(Option<Expr>, usize)], statements: &[Stmt]) -> Run<Flow> {
        let value = self.eval(value)?;
        let mut start = None;
        for (case, place) in cases {
            let found = match case {
                None => false,
                Some(Expr::Regex(index)) => {
                    let regex = self.literal_regex(*index)?;
                    regex.is_match(&value.to_text(&self.convfmt))
                }
                Some(case) => {
                    let case = self.eval(case)?;
                    self.compare(Compare::Equal, &value, &case)
                }
            };
            if found {
                start = Some(*place);
                break;
            }
        }
        let default = || cases.iter().find(|(case, _)| case.is_none()).map(|(_, place)| *place);
        let Some(start) = start.or_else(default) else { return Ok(Flow::Normal) };
        Ok(match self.exec_list(&statements[start..])? {
            Flow::Break => Flow::Normal,
            flow => flow,
        })
    }

    fn print(&mut self, arguments: &[Expr], redirect: Option<&Redirect>) -> Run<()> {
        let mut line = Vec::new();
        if arguments.is_empty() {
            line.extend_from_slice(&self.text());
        }
        for (index, argument) in arguments.iter().enumerate() {
            if index > 0 {
                line.extend_from_slice(&self.ofs);
            }
            let value = self.eval(argument)?;
            value.append_to(&mut line, &self.ofmt);
        }
        line.extend_from_slice(&self.ors);
        self.write(&line, redirect)
    }

    fn printf(&mut self, arguments: &[Expr], redirect: Option<&Redirect>) -> Run<()> {
        let text = self.sprintf(arguments)?;
        self.write(&text, redirect)
    }

    /// `sprintf` with the arguments' values.
    pub fn sprintf(&mut self, arguments: &[Expr]) -> Run<Vec<u8>> {
        let format = self.eval_text(&arguments[0])?;
        let mut values = Vec::with_capacity(arguments.len() - 1);
        for argument in &arguments[1..] {
            values.push(self.eval(argument)?);
        }
        format::sprintf(&format, &values, &self.convfmt)
            .map_err(|message| Unwind::Fatal(format!("{message}\n\t`{}'", show(&format))))
    }

    fn write(&mut self, bytes: &[u8], redirect: Option<&Redirect>) -> Run<()> {
        let (kind, target) = match redirect {
            None => return self.emit(bytes),
            Some(Redirect::Write(target)) => (Kind::Write, target),
            Some(Redirect::Append(target)) => (Kind::Append, target),
            Some(Redirect::Pipe(target)) => (Kind::Pipe, target),
            Some(Redirect::Coprocess(target)) => (Kind::Coprocess, target),
        };
        let name = self.eval_text(target)?;
        if name.is_empty() {
            return fatal("expression for `>' redirection has null string value");
        }
        self.streams.print_to(&name, kind, bytes).map_err(|error| {
            let error = platform::message(&error);
            Unwind::Fatal(match kind {
                Kind::Pipe | Kind::Coprocess => format!("cannot open pipe `{}' for output: {error}", show(&name)),
                _ => format!("cannot redirect to `{}': {error}", show(&name)),
            })
        })
    }
}

/// Operates on two numbers.
pub fn arithmetic(op: Arith, left: f64, right: f64) -> Run<f64> {
    Ok(match op {
        Arith::Add => left + right,
        Arith::Sub => left - right,
        Arith::Mul => left * right,
        Arith::Div if right == 0.0 => return fatal("division by zero attempted"),
        Arith::Div => left / right,
        Arith::Mod if right == 0.0 => return fatal("division by zero attempted in `%'"),
        Arith::Mod => left % right,
        Arith::Pow => power(left, right),
    })
}

/// Whole exponents by multiplication, as gawk does: 10^15 is exact.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent == exponent.trunc() && exponent.abs() <= 1024.0 {
        let mut result = 1.0;
        let mut factor = base;
        let mut rest = exponent.abs() as u32;
        while rest > 0 {
            if rest & 1 == 1 {
                result *= factor;
            }
            factor *= factor;
            rest >>= 1;
        }
        return if exponent < 0.0 { 1.0 / result } else { result };
    }
    base.powf(exponent)
}

/// FIELDWIDTHS: `5 2:3 *`.
fn parse_widths(text: &[u8]) -> Vec<(usize, Option<usize>)> {
    show(text)
        .split_whitespace()
        .map_while(|part| match part.split_once(':') {
            Some((skip, width)) => Some((skip.parse().ok()?, Some(width.parse().ok()?))),
            None if part == "*" => Some((0, None)),
            None => Some((0, Some(part.parse().ok()?))),
        })
        .collect()
}

/// A number as a key of an array.
pub fn index_key(index: usize) -> Text {
    Rc::new(number_text(index as f64, b"%.6g"))
}
