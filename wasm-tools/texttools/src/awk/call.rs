//! What awk's own functions do.

use std::cmp::Ordering;
use std::rc::Rc;

use wskill_time as time;

use super::array::{Array, ArrayRc, Item};
use super::ast::{ArrayRef, Expr, Special, Target};
use super::builtins::Builtin;
use super::fields::{Splitter, split_spans};
use super::interp::{Cell, Interp, Run, fatal, index_key};
use super::text;
use super::value::{Text, Value, looks_numeric};
use crate::output::show;
use crate::platform::{self, Status};
use crate::regex::Span;

impl Interp<'_> {
    /// Calls one of awk's own functions.
    pub fn builtin(&mut self, builtin: Builtin, arguments: &[Expr]) -> Run<Value> {
        match builtin {
            Builtin::Length => self.length(arguments),
            Builtin::Substr => self.substr(arguments),
            Builtin::Index => {
                let (haystack, needle) = (self.eval_text(&arguments[0])?, self.eval_text(&arguments[1])?);
                let found = if self.ignore_case {
                    memchr::memmem::find(&haystack.to_ascii_lowercase(), &needle.to_ascii_lowercase())
                } else {
                    memchr::memmem::find(&haystack, &needle)
                };
                Ok(Value::Number(found.map_or(0, |at| text::length(&haystack[..at]) + 1) as f64))
            }
            Builtin::Split => self.split(arguments),
            Builtin::Patsplit => self.patsplit(arguments),
            Builtin::Sub => self.substitute(arguments, false),
            Builtin::Gsub => self.substitute(arguments, true),
            Builtin::Gensub => self.gensub(arguments),
            Builtin::Match => self.match_function(arguments),
            Builtin::Sprintf => self.sprintf(arguments).map(Value::text),
            Builtin::Tolower | Builtin::Toupper => {
                let text = self.eval_text(&arguments[0])?;
                Ok(Value::text(text::map_case(&text, builtin == Builtin::Toupper)))
            }
            Builtin::System => self.system(arguments),
            Builtin::Close => {
                let name = self.eval_text(&arguments[0])?;
                let how = match arguments.get(1) {
                    Some(how) => Some(self.eval_text(how)?),
                    None => None,
                };
                Ok(Value::Number(self.streams.close(&name, how.as_ref().map(|how| how.as_slice()))))
            }
            Builtin::Fflush => {
                let Some(name) = arguments.first() else {
                    self.streams.flush_all();
                    return Ok(Value::Number(0.0));
                };
                let name = self.eval_text(name)?;
                if name.is_empty() {
                    self.streams.flush_all();
                    return Ok(Value::Number(0.0));
                }
                let known = self.streams.flush(&name) || name.as_slice() == b"/dev/stdout";
                if known {
                    self.streams.stdout.flush_all();
                }
                Ok(Value::Number(if known { 0.0 } else { -1.0 }))
            }
            Builtin::Strftime => self.strftime(arguments),
            Builtin::Systime => Ok(Value::Number(time::now() as f64)),
            Builtin::Mktime => self.mktime(arguments),
            Builtin::Asort | Builtin::Asorti => self.sort(arguments, builtin == Builtin::Asorti),
            Builtin::Typeof => self.type_of(&arguments[0]),
            Builtin::Isarray => {
                let kind = self.type_of(&arguments[0])?;
                Ok(Value::truth(matches!(kind, Value::Text(name) if name.as_slice() == b"array")))
            }
            _ => self.numeric(builtin, arguments).map(Value::Number),
        }
    }

    fn numeric(&mut self, builtin: Builtin, arguments: &[Expr]) -> Run<f64> {
        let mut numbers = Vec::with_capacity(arguments.len());
        if builtin == Builtin::Strtonum {
            return Ok(strtonum(&self.eval(&arguments[0])?));
        }
        for argument in arguments {
            numbers.push(self.eval_number(argument)?);
        }
        let bits = |number: f64| number as u64;
        Ok(match (builtin, numbers.as_slice()) {
            (Builtin::Sin, [x]) => x.sin(),
            (Builtin::Cos, [x]) => x.cos(),
            (Builtin::Atan2, [y, x]) => y.atan2(*x),
            (Builtin::Exp, [x]) => x.exp(),
            (Builtin::Log, [x]) => {
                if *x < 0.0 {
                    self.streams.flush_all();
                    eprintln!("awk: warning: log: received negative argument {x}");
                }
                x.ln()
            }
            (Builtin::Sqrt, [x]) => {
                if *x < 0.0 {
                    self.streams.flush_all();
                    eprintln!("awk: warning: sqrt: called with negative argument {x}");
                    return Ok(-f64::NAN);
                }
                x.sqrt()
            }
            (Builtin::Int, [x]) => x.trunc(),
            (Builtin::Mkbool, [x]) => f64::from(u8::from(*x != 0.0)),
            (Builtin::Rand, _) => self.random_number(),
            (Builtin::Srand, seed) => {
                let old = self.seed;
                self.seed = seed.first().copied().unwrap_or_else(|| time::now() as f64);
                self.random = self.seed.to_bits() ^ 0x2545_f491_4f6c_dd1d;
                for _ in 0..8 {
                    self.random_number();
                }
                old
            }
            (
                Builtin::And | Builtin::Or | Builtin::Xor | Builtin::Lshift | Builtin::Rshift | Builtin::Compl,
                numbers,
            ) if numbers.iter().any(|number| *number < 0.0) => {
                return fatal(format!("{}: argument with negative value is not allowed", builtin.name()));
            }
            (Builtin::And, numbers) => numbers.iter().map(|number| bits(*number)).fold(u64::MAX, |a, b| a & b) as f64,
            (Builtin::Or, numbers) => numbers.iter().map(|number| bits(*number)).fold(0, |a, b| a | b) as f64,
            (Builtin::Xor, numbers) => numbers.iter().map(|number| bits(*number)).fold(0, |a, b| a ^ b) as f64,
            (Builtin::Lshift, [value, count]) => bits(*value).checked_shl(*count as u32).unwrap_or(0) as f64,
            (Builtin::Rshift, [value, count]) => bits(*value).checked_shr(*count as u32).unwrap_or(0) as f64,
            // gawk keeps what a double can hold exactly.
            (Builtin::Compl, [value]) => (!bits(*value) & ((1 << 53) - 1)) as f64,
            _ => return fatal(format!("{}: wrong number of arguments", builtin.name())),
        })
    }

    /// xorshift64*; in 0 <= x < 1.
    fn random_number(&mut self) -> f64 {
        let mut x = self.random | 1;
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.random = x;
        (x.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An argument that must be an array.
    fn array_argument(&mut self, argument: &Expr, function: &str) -> Run<ArrayRc> {
        match argument {
            Expr::Var(variable) => self.array(&ArrayRef::Var(*variable)),
            Expr::Element(array, subscripts) => {
                let outer = self.array(array)?;
                let key = self.key(subscripts)?;
                let mut outer = outer.borrow_mut();
                match outer.entry(&key) {
                    Item::Array(array) => Ok(array.clone()),
                    item @ Item::Value(Value::Unset) => {
                        let array = Array::shared();
                        *item = Item::Array(array.clone());
                        Ok(array)
                    }
                    Item::Value(_) => fatal(format!("{function}: argument is not an array")),
                }
            }
            Expr::Group(inner) => self.array_argument(inner, function),
            _ => fatal(format!("{function}: argument is not an array")),
        }
    }

    /// The array an expression names, if it is one already.
    fn existing_array(&mut self, argument: &Expr) -> Run<Option<ArrayRc>> {
        match argument {
            Expr::Var(variable) => Ok(self.array_if_any(*variable)),
            Expr::Element(array, subscripts) => {
                let key = self.key(subscripts)?;
                let array = self.array(array)?;
                let array = array.borrow();
                Ok(match array.get(&key) {
                    Some(Item::Array(inner)) => Some(inner.clone()),
                    _ => None,
                })
            }
            _ => Ok(None),
        }
    }

    fn length(&mut self, arguments: &[Expr]) -> Run<Value> {
        let Some(argument) = arguments.first() else {
            let text = self.text();
            return Ok(Value::Number(text::length(&text) as f64));
        };
        if let Some(array) = self.existing_array(argument)? {
            return Ok(Value::Number(array.borrow().len() as f64));
        }
        let text = self.eval_text(argument)?;
        Ok(Value::Number(text::length(&text) as f64))
    }

    fn substr(&mut self, arguments: &[Expr]) -> Run<Value> {
        let source = self.eval_text(&arguments[0])?;
        // As gawk 5.2: both are cut to whole numbers, and a start before the string costs no length.
        let start = self.eval_number(&arguments[1])?.trunc().max(1.0);
        let count = match arguments.get(2) {
            Some(length) => self.eval_number(length)?.trunc(),
            None => f64::INFINITY,
        };
        if count.is_nan() || count < 1.0 {
            return Ok(Value::text(Vec::new()));
        }
        // Past the end is the end.
        let from = text::byte_of(&source, (start - 1.0) as usize);
        let count = count as usize;
        let rest = &source[from..];
        Ok(Value::text(if count >= rest.len() { rest } else { text::prefix(rest, count) }))
    }

    /// The third argument of `split`.
    fn splitter_argument(&mut self, argument: Option<&Expr>) -> Run<Splitter> {
        match argument {
            None => match &self.splitter {
                Splitter::Widths(_) | Splitter::Content(_) => {
                    let fs = self.special_text(Special::Fs).unwrap_or_default();
                    self.splitter_of(&fs)
                }
                splitter => Ok(splitter.clone()),
            },
            Some(Expr::Regex(index)) => {
                let source = self.program.regexes[*index].clone();
                // `/ /` is one blank, unlike the string.
                if source == b" " {
                    Ok(Splitter::Byte(b' '))
                } else {
                    Ok(Splitter::Regex(self.dynamic_regex(&source)?))
                }
            }
            Some(expression) => {
                let text = self.eval_text(expression)?;
                self.splitter_of(&text)
            }
        }
    }

    fn split(&mut self, arguments: &[Expr]) -> Run<Value> {
        let source = self.eval_text(&arguments[0])?;
        let splitter = self.splitter_argument(arguments.get(2))?;
        self.fill_split(&source, &splitter, arguments, "split")
    }

    fn patsplit(&mut self, arguments: &[Expr]) -> Run<Value> {
        let source = self.eval_text(&arguments[0])?;
        let regex = match arguments.get(2) {
            Some(pattern) => self.regex(pattern)?,
            None => {
                let fpat = self.special_text(Special::Fpat).unwrap_or_default();
                self.dynamic_regex(&fpat)?
            }
        };
        self.fill_split(&source, &Splitter::Content(regex), arguments, "patsplit")
    }

    fn fill_split(&mut self, source: &Text, splitter: &Splitter, arguments: &[Expr], function: &str) -> Run<Value> {
        let (mut spans, mut between) = (Vec::new(), Vec::new());
        let newlines = self.paragraphs && arguments.len() < 3 && !matches!(splitter, Splitter::Blanks);
        split_spans(source, splitter, newlines, &mut spans, Some(&mut between));
        let array = self.array_argument(&arguments[1], function)?;
        let mut array = array.borrow_mut();
        array.clear();
        for (index, (from, to)) in spans.iter().enumerate() {
            array.set(index_key(index + 1), Value::input(&source[*from..*to]));
        }
        drop(array);
        if let Some(separators) = arguments.get(3) {
            let array = self.array_argument(separators, function)?;
            let mut array = array.borrow_mut();
            array.clear();
            for (index, (from, to)) in between.iter().enumerate() {
                array.set(index_key(index + 1), Value::text(&source[*from..*to]));
            }
        }
        Ok(Value::Number(spans.len() as f64))
    }

    fn substitute(&mut self, arguments: &[Expr], all: bool) -> Run<Value> {
        let regex = self.regex(&arguments[0])?;
        let replacement = self.eval_text(&arguments[1])?;
        let zero = Expr::Number(0.0);
        let whole = Expr::Field(Box::new(zero));
        let argument = arguments.get(2).unwrap_or(&whole);
        let source = self.eval_text(argument)?;
        let parts = parse_replacement(&replacement);
        let mut result = Vec::new();
        let (mut at, mut copied, mut count) = (0, 0, 0);
        let mut last_end = None;
        while at <= source.len() {
            let Some((from, to)) = regex.find_at(&source, at) else { break };
            // An empty match right behind the last match is none.
            if from != to || last_end != Some(from) {
                count += 1;
                result.extend_from_slice(&source[copied..from]);
                for part in &parts {
                    match part {
                        Part::Text(text) => result.extend_from_slice(text),
                        Part::Group(_) => result.extend_from_slice(&source[from..to]),
                    }
                }
                copied = to;
                if !all {
                    break;
                }
            }
            last_end = Some(to);
            at = if to > from {
                to
            } else {
                to + source.get(to..).filter(|rest| !rest.is_empty()).map_or(1, text::char_length)
            };
        }
        if count == 0 {
            return Ok(Value::Number(0.0));
        }
        result.extend_from_slice(&source[copied..]);
        self.store_argument(argument, Value::text(result))?;
        Ok(Value::Number(f64::from(count)))
    }

    /// Stores into an argument that is changed by a function.
    fn store_argument(&mut self, argument: &Expr, value: Value) -> Run<()> {
        match argument {
            Expr::Var(variable) => self.set(*variable, value),
            Expr::Group(inner) => self.store_argument(inner, value),
            Expr::Field(index) => {
                let index = self.eval_number(index)?;
                let target = Target::Field(Expr::Number(index));
                self.store(&target, value)
            }
            Expr::Element(array, subscripts) => {
                let key = self.key(subscripts)?;
                let array = self.array(array)?;
                array.borrow_mut().set(key, value);
                Ok(())
            }
            // gawk warns that the third argument cannot be changed, and goes on.
            _ => Ok(()),
        }
    }

    fn gensub(&mut self, arguments: &[Expr]) -> Run<Value> {
        let regex = self.regex(&arguments[0])?;
        let replacement = self.eval_text(&arguments[1])?;
        let how = self.eval(&arguments[2])?;
        let source = match arguments.get(3) {
            Some(source) => self.eval_text(source)?,
            None => self.text(),
        };
        let how_text = how.to_text(&self.convfmt);
        let all = matches!(how_text.first(), Some(b'g' | b'G'));
        let wanted = if all { 1 } else { (how.number() as usize).max(1) };
        let parts = parse_gensub(&replacement);
        let mut result = Vec::new();
        let (mut at, mut copied, mut count) = (0, 0, 0);
        let mut last_end = None;
        while at <= source.len() {
            let Some(groups) = regex.captures_at(&source, at) else { break };
            let Some((from, to)) = groups[0] else { break };
            if from != to || last_end != Some(from) {
                count += 1;
                if count >= wanted {
                    result.extend_from_slice(&source[copied..from]);
                    append_groups(&mut result, &parts, &source, &groups);
                    copied = to;
                    if !all {
                        break;
                    }
                }
            }
            last_end = Some(to);
            at = if to > from {
                to
            } else {
                to + source.get(to..).filter(|rest| !rest.is_empty()).map_or(1, text::char_length)
            };
        }
        result.extend_from_slice(&source[copied..]);
        Ok(Value::text(result))
    }

    fn match_function(&mut self, arguments: &[Expr]) -> Run<Value> {
        let source = self.eval_text(&arguments[0])?;
        let regex = self.regex(&arguments[1])?;
        let groups = if arguments.len() > 2 {
            regex.captures_at(&source, 0)
        } else {
            regex.find_at(&source, 0).map(|span| vec![Some(span)])
        };
        let place = |at: usize| text::length(&source[..at]) + 1;
        let found = groups.as_ref().and_then(|groups| groups[0]);
        if let Some(argument) = arguments.get(2) {
            let array = self.array_argument(argument, "match")?;
            let mut array = array.borrow_mut();
            array.clear();
            for (index, span) in groups.iter().flatten().enumerate() {
                let Some((from, to)) = span else { continue };
                array.set(index_key(index), Value::input(&source[*from..*to]));
                for (what, number) in [(&b"start"[..], place(*from)), (b"length", text::length(&source[*from..*to]))] {
                    let mut key = index.to_string().into_bytes();
                    key.extend_from_slice(&self.subsep);
                    key.extend_from_slice(what);
                    array.set(Rc::new(key), Value::Number(number as f64));
                }
            }
        }
        let (start, length) = match found {
            Some((from, to)) => (place(from) as f64, text::length(&source[from..to]) as f64),
            None => (0.0, -1.0),
        };
        self.set_named(Special::Rstart, Value::Number(start));
        self.set_named(Special::Rlength, Value::Number(length));
        Ok(Value::Number(start))
    }

    fn system(&mut self, arguments: &[Expr]) -> Run<Value> {
        let command = self.eval_text(&arguments[0])?;
        match self.streams.system(&command) {
            Ok(Status::Exited(code)) => Ok(Value::Number(f64::from(code))),
            Ok(Status::Signaled(signal)) => Ok(Value::Number(f64::from(256 + signal))),
            Err(error) => fatal(format!("system: {}", platform::message(&error))),
        }
    }

    fn strftime(&mut self, arguments: &[Expr]) -> Run<Value> {
        let format = match arguments.first() {
            Some(format) => self.eval_text(format)?,
            None => Rc::new(b"%a %b %e %H:%M:%S %Z %Y".to_vec()),
        };
        let seconds = match arguments.get(1) {
            Some(seconds) => self.eval_number(seconds)?.floor() as i64,
            None => time::now(),
        };
        let utc = match arguments.get(2) {
            Some(utc) => self.eval(utc)?.is_true(),
            None => false,
        };
        let civil = if utc {
            // C's gmtime calls it so.
            time::Civil { zone: "GMT".into(), ..time::utc(seconds) }
        } else {
            time::local(seconds)
        };
        Ok(Value::text(time::strftime(&format, &civil)))
    }

    fn mktime(&mut self, arguments: &[Expr]) -> Run<Value> {
        let spec = show(&self.eval_text(&arguments[0])?);
        let utc = match arguments.get(1) {
            Some(utc) => self.eval(utc)?.is_true(),
            None => false,
        };
        let parts: Option<Vec<i64>> = spec.split_whitespace().map(|part| part.parse().ok()).collect();
        let Some([year, month, day, hour, minute, second, ..]) = parts.as_deref() else {
            return Ok(Value::Number(-1.0));
        };
        let sane = |number: &i64| number.abs() < 1_000_000_000;
        if ![year, month, day, hour, minute, second].into_iter().all(sane) {
            return Ok(Value::Number(-1.0));
        }
        let clock = hour * 3600 + minute * 60 + second;
        let seconds = if utc {
            time::days_of(*year, *month, 1) * 86_400 + (day - 1) * 86_400 + clock
        } else {
            time::Zone::local().seconds_of(*year, *month, 1, (day - 1) * 86_400 + clock)
        };
        Ok(Value::Number(seconds as f64))
    }

    fn type_of(&mut self, argument: &Expr) -> Run<Value> {
        let name: &[u8] = match argument {
            Expr::Group(inner) => return self.type_of(inner),
            Expr::Regex(_) => b"number",
            Expr::Var(variable) => match self.cell_of(*variable) {
                Cell::Array(_) => b"array",
                Cell::Empty => match self.get(*variable)? {
                    Value::Unset => b"untyped",
                    value => kind_of(&value),
                },
                Cell::Link(_) => b"untyped",
                Cell::Value(value) => kind_of(&value),
            },
            _ => match self.existing_array(argument)? {
                Some(_) => b"array",
                None => kind_of(&self.eval(argument)?),
            },
        };
        Ok(Value::text(name))
    }

    // ---- Order ----

    /// The keys of an array in the order of `PROCINFO["sorted_in"]`, else as they were made.
    pub fn ordered_keys(&mut self, array: &ArrayRc) -> Run<Vec<Text>> {
        let order = match &self.globals[Special::Procinfo as usize] {
            Cell::Array(procinfo) => match procinfo.borrow().get(&b"sorted_in".to_vec()) {
                Some(Item::Value(value)) => Some(value.to_text(&self.convfmt)),
                _ => None,
            },
            _ => None,
        };
        match order {
            Some(order) if !order.is_empty() => {
                let mut pairs = pairs_of(array);
                self.sort_pairs(&mut pairs, &order)?;
                Ok(pairs.into_iter().map(|(key, _)| key).collect())
            }
            _ => Ok(array.borrow().keys()),
        }
    }

    fn sort_pairs(&mut self, pairs: &mut Vec<(Text, Item)>, order: &[u8]) -> Run<()> {
        let convfmt = self.convfmt.clone();
        let ignore_case = self.ignore_case;
        let (by_value, numeric, descending) = match order {
            b"@unsorted" => return Ok(()),
            b"@ind_str_asc" => (false, Some(false), false),
            b"@ind_str_desc" => (false, Some(false), true),
            b"@ind_num_asc" => (false, Some(true), false),
            b"@ind_num_desc" => (false, Some(true), true),
            b"@val_type_asc" => (true, None, false),
            b"@val_type_desc" => (true, None, true),
            b"@val_str_asc" => (true, Some(false), false),
            b"@val_str_desc" => (true, Some(false), true),
            b"@val_num_asc" => (true, Some(true), false),
            b"@val_num_desc" => (true, Some(true), true),
            name => match self.function_named(name) {
                Some(function) => return self.sort_by_function(pairs, function),
                None => return fatal(format!("sort comparison function `{}' is not defined", show(name))),
            },
        };
        let text = |item: &Item| match item {
            Item::Value(value) => value.to_text(&convfmt),
            Item::Array(_) => Text::default(),
        };
        let compare_text = |a: &[u8], b: &[u8]| {
            if ignore_case { a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase()) } else { a.cmp(b) }
        };
        let number = |item: &Item| if let Item::Value(value) = item { value.number() } else { f64::INFINITY };
        let compare_number = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(Ordering::Equal);
        pairs.sort_by(|a, b| {
            let ordering = match (by_value, numeric) {
                (false, Some(true)) => {
                    let key = |text: &Text| looks_numeric(text).unwrap_or(0.0);
                    compare_number(key(&a.0), key(&b.0)).then_with(|| compare_text(&a.0, &b.0))
                }
                (false, _) => compare_text(&a.0, &b.0),
                (true, Some(true)) => compare_number(number(&a.1), number(&b.1))
                    .then_with(|| compare_text(&text(&a.1), &text(&b.1)))
                    .then_with(|| compare_text(&a.0, &b.0)),
                (true, Some(false)) => compare_text(&text(&a.1), &text(&b.1)).then_with(|| compare_text(&a.0, &b.0)),
                (true, None) => compare_typed(&a.1, &b.1, &convfmt).then_with(|| compare_text(&a.0, &b.0)),
            };
            if descending { ordering.reverse() } else { ordering }
        });
        Ok(())
    }

    /// Merge sort: the function may fail, and may not be a consistent order.
    fn sort_by_function(&mut self, pairs: &mut Vec<(Text, Item)>, function: usize) -> Run<()> {
        let mut width = 1;
        while width < pairs.len() {
            let mut merged = Vec::with_capacity(pairs.len());
            let mut rest = std::mem::take(pairs).into_iter().peekable();
            while rest.peek().is_some() {
                let left: Vec<_> = rest.by_ref().take(width).collect();
                let right: Vec<_> = rest.by_ref().take(width).collect();
                let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
                while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
                    let cell = |item: &Item| match item {
                        Item::Value(value) => Cell::Value(value.clone()),
                        Item::Array(array) => Cell::Array(array.clone()),
                    };
                    let key = |text: &Text| Cell::Value(Value::Input(text.clone()));
                    let order = self.call_with(function, vec![key(&a.0), cell(&a.1), key(&b.0), cell(&b.1)])?;
                    merged.extend(if order.number() <= 0.0 { left.next() } else { right.next() });
                }
                merged.extend(left);
                merged.extend(right);
            }
            *pairs = merged;
            width *= 2;
        }
        Ok(())
    }

    fn sort(&mut self, arguments: &[Expr], by_index: bool) -> Run<Value> {
        let name = if by_index { "asorti" } else { "asort" };
        let source = self.array_argument(&arguments[0], name)?;
        let target = match arguments.get(1) {
            Some(target) => self.array_argument(target, name)?,
            None => source.clone(),
        };
        let order = match arguments.get(2) {
            Some(order) => self.eval_text(order)?,
            None if by_index => Rc::new(b"@ind_str_asc".to_vec()),
            None => Rc::new(b"@val_type_asc".to_vec()),
        };
        let mut pairs = pairs_of(&source);
        self.sort_pairs(&mut pairs, &order)?;
        let mut target = target.borrow_mut();
        target.clear();
        let count = pairs.len();
        for (index, (key, item)) in pairs.into_iter().enumerate() {
            let item = if by_index { Item::Value(Value::Text(key)) } else { item };
            *target.entry(&index_key(index + 1)) = item;
        }
        Ok(Value::Number(count as f64))
    }
}

fn pairs_of(array: &ArrayRc) -> Vec<(Text, Item)> {
    array.borrow().iter().map(|(key, item)| (key.clone(), item.clone())).collect()
}

/// Numbers before strings before arrays.
fn compare_typed(a: &Item, b: &Item, convfmt: &[u8]) -> Ordering {
    let number = |item: &Item| match item {
        Item::Value(value) => value.as_comparable_number(),
        Item::Array(_) => None,
    };
    let rank = |item: &Item| match item {
        Item::Array(_) => 2,
        Item::Value(_) => u8::from(number(item).is_none()),
    };
    rank(a).cmp(&rank(b)).then_with(|| match (number(a), number(b), a, b) {
        (Some(a), Some(b), ..) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (_, _, Item::Value(a), Item::Value(b)) => a.to_text(convfmt).cmp(&b.to_text(convfmt)),
        _ => Ordering::Equal,
    })
}

fn kind_of(value: &Value) -> &'static [u8] {
    match value {
        Value::Unset => b"unassigned",
        Value::Number(_) => b"number",
        Value::Text(_) => b"string",
        Value::Input(text) => {
            if looks_numeric(text).is_some() {
                b"strnum"
            } else {
                b"string"
            }
        }
    }
}

/// `0x1A` and `017`, too.
fn strtonum(value: &Value) -> f64 {
    let (Value::Text(text) | Value::Input(text)) = value else { return value.number() };
    let trimmed = show(text.trim_ascii());
    let (sign, digits) = match trimmed.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, trimmed.as_str()),
    };
    let (radix, digits) = if let Some(rest) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        (16, rest)
    } else if digits.starts_with('0') && digits.len() > 1 && !digits.contains(['.', 'e', 'E', '8', '9']) {
        (8, &digits[1..])
    } else {
        return value.number();
    };
    let number = digits
        .chars()
        .map_while(|digit| digit.to_digit(radix))
        .fold(0.0, |sum, digit| sum * f64::from(radix) + f64::from(digit));
    sign * number
}

enum Part {
    Text(Vec<u8>),
    Group(usize),
}

/// The replacement of `sub` and `gsub`: `&` is the match, `\&` an ampersand, `\\` before `&` a backslash.
fn parse_replacement(text: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut literal = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\\' => {
                let slashes = text[at..].iter().take_while(|byte| **byte == b'\\').count();
                at += slashes;
                if text.get(at) == Some(&b'&') {
                    literal.resize(literal.len() + slashes / 2, b'\\');
                    if slashes % 2 == 1 {
                        literal.push(b'&');
                        at += 1;
                    }
                } else {
                    literal.resize(literal.len() + slashes, b'\\');
                }
            }
            b'&' => {
                at += 1;
                parts.push(Part::Text(std::mem::take(&mut literal)));
                parts.push(Part::Group(0));
            }
            byte => {
                at += 1;
                literal.push(byte);
            }
        }
    }
    parts.push(Part::Text(literal));
    parts
}

/// The replacement of `gensub`, with `\1` to `\9`.
fn parse_gensub(text: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut literal = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        at += 1;
        let group = match (byte, text.get(at)) {
            (b'\\', Some(digit @ b'0'..=b'9')) => {
                at += 1;
                usize::from(digit - b'0')
            }
            (b'\\', Some(next)) => {
                at += 1;
                literal.push(*next);
                continue;
            }
            (b'&', _) => 0,
            _ => {
                literal.push(byte);
                continue;
            }
        };
        parts.push(Part::Text(std::mem::take(&mut literal)));
        parts.push(Part::Group(group));
    }
    parts.push(Part::Text(literal));
    parts
}

fn append_groups(result: &mut Vec<u8>, parts: &[Part], source: &[u8], groups: &[Span]) {
    for part in parts {
        match part {
            Part::Text(text) => result.extend_from_slice(text),
            Part::Group(index) => {
                if let Some((from, to)) = groups.get(*index).copied().flatten() {
                    result.extend_from_slice(&source[from..to]);
                }
            }
        }
    }
}
