//! Runs filters. A filter hands each of its outputs to a callback, so that generators need no threads or queues, and
//! `limit`, `first` and `break` end them early by what the callback returns.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::builtins::{self, type_error};
use super::parser::{Expr, Function, Op, Pattern, Piece};
use super::paths;
use super::value::{Json, Object};

/// How deep filters may be nested while they run: each takes some hundred bytes of the real stack.
const MAX_DEPTH: usize = 3000;

/// What ends a filter before its end.
#[derive(Debug)]
pub enum Stop {
    /// An error with its value.
    Error(Json),
    /// `break` to the label with this number.
    Break(u64),
    /// `halt`, with the exit status.
    Halt(i32),
}

/// Whether to go on.
pub type Flow = Result<(), Stop>;

/// An error with a text.
pub fn fail<T>(message: impl AsRef<str>) -> Result<T, Stop> {
    Err(Stop::Error(Json::string(message)))
}

/// Where a value came from.
#[derive(Clone)]
pub enum Path {
    /// Nobody asks.
    Off,
    /// A path from the input.
    At(Option<Rc<Step>>),
    /// The value is not a part of the input.
    Broken,
}

/// The last step of a path, linked to those before it.
pub struct Step {
    key: Json,
    before: Option<Rc<Step>>,
}

impl Path {
    fn push(&self, key: &Json) -> Result<Self, ()> {
        match self {
            Path::Off => Ok(Path::Off),
            Path::At(before) => Ok(Path::At(Some(Rc::new(Step { key: key.clone(), before: before.clone() })))),
            Path::Broken => Err(()),
        }
    }

    /// The same question about a value that is not a part of the input.
    fn broken(&self) -> Self {
        if matches!(self, Path::Off) { Path::Off } else { Path::Broken }
    }

    fn keys(&self) -> Vec<Json> {
        let mut keys = Vec::new();
        let mut at = match self {
            Path::At(last) => last.as_ref(),
            _ => None,
        };
        while let Some(step) = at {
            keys.push(step.key.clone());
            at = step.before.as_ref();
        }
        keys.reverse();
        keys
    }
}

/// A value with its path.
#[derive(Clone)]
pub struct Item {
    /// Where it came from.
    pub path: Path,
    /// The value.
    pub value: Json,
}

impl Item {
    fn plain(value: Json) -> Self {
        Self { path: Path::Off, value }
    }
}

/// What a name means.
enum Binding<'p> {
    Var(Rc<str>, Json),
    Function(&'p Function),
    /// A parameter: the argument with the names it was written among.
    Closure(Rc<str>, &'p Expr, Env<'p>),
    Label(Rc<str>, u64),
}

/// The names known at a place, the innermost first.
pub type Env<'p> = Option<Rc<Scope<'p>>>;

/// One name and those around it.
pub struct Scope<'p> {
    binding: Binding<'p>,
    outer: Env<'p>,
}

type Out<'o> = dyn FnMut(Item) -> Flow + 'o;

/// Reads the next input.
pub type Inputs = Box<dyn FnMut() -> Option<Result<Json, String>>>;

/// A run of a program.
pub struct Interp {
    depth: Cell<usize>,
    labels: Cell<u64>,
    /// The inputs that `input` and `inputs` take.
    pub inputs: RefCell<Inputs>,
    /// The name of the file read.
    pub file_name: RefCell<Option<Rc<str>>>,
}

fn bind<'p>(env: &Env<'p>, binding: Binding<'p>) -> Env<'p> {
    Some(Rc::new(Scope { binding, outer: env.clone() }))
}

/// Adds a variable.
pub fn bind_var<'p>(env: &Env<'p>, name: &str, value: Json) -> Env<'p> {
    bind(env, Binding::Var(Rc::from(name), value))
}

impl Interp {
    /// A run with these inputs.
    pub fn new(inputs: Inputs) -> Self {
        Self { depth: Cell::new(0), labels: Cell::new(0), inputs: RefCell::new(inputs), file_name: RefCell::new(None) }
    }

    /// Runs a filter on a value.
    ///
    /// # Errors
    /// The filter's error, or what the callback returned.
    pub fn values<'p>(&self, filter: &'p Expr, env: &Env<'p>, input: &Json, out: &mut dyn FnMut(Json) -> Flow) -> Flow {
        self.run(filter, env, Item::plain(input.clone()), &mut |item| out(item.value))
    }

    /// Runs a filter and collects its outputs.
    fn collect<'p>(&self, filter: &'p Expr, env: &Env<'p>, input: &Json) -> Result<Vec<Json>, Stop> {
        let mut values = Vec::new();
        self.values(filter, env, input, &mut |value| {
            values.push(value);
            Ok(())
        })?;
        Ok(values)
    }

    /// The paths a filter points at.
    fn paths<'p>(&self, filter: &'p Expr, env: &Env<'p>, input: &Json) -> Result<Vec<Vec<Json>>, Stop> {
        let mut found = Vec::new();
        self.each_path(filter, env, input, &mut |path| {
            found.push(path);
            Ok(())
        })?;
        Ok(found)
    }

    fn each_path<'p>(
        &self,
        filter: &'p Expr,
        env: &Env<'p>,
        input: &Json,
        out: &mut dyn FnMut(Vec<Json>) -> Flow,
    ) -> Flow {
        let item = Item { path: Path::At(None), value: input.clone() };
        self.run(filter, env, item, &mut |item| match item.path {
            Path::At(_) => out(item.path.keys()),
            _ => fail(format!("Invalid path expression with result {}", builtins::shortened(&item.value))),
        })
    }

    /// Runs a filter and stops it after its first output.
    fn first<'p>(&self, filter: &'p Expr, env: &Env<'p>, input: &Json) -> Result<Option<Json>, Stop> {
        let label = self.new_label();
        let mut found = None;
        let flow = self.values(filter, env, input, &mut |value| {
            found = Some(value);
            Err(Stop::Break(label))
        });
        match flow {
            Err(Stop::Break(number)) if number == label => Ok(found),
            Err(stop) => Err(stop),
            Ok(()) => Ok(found),
        }
    }

    fn new_label(&self) -> u64 {
        self.labels.set(self.labels.get() + 1);
        self.labels.get()
    }

    /// Runs a filter.
    ///
    /// # Errors
    /// As `values`.
    pub fn run<'p>(&self, filter: &'p Expr, env: &Env<'p>, input: Item, out: &mut Out<'_>) -> Flow {
        let depth = self.depth.get();
        if depth >= MAX_DEPTH {
            return fail("Recursion too deep");
        }
        self.depth.set(depth + 1);
        let flow = self.step(filter, env, input, out);
        self.depth.set(depth);
        flow
    }

    fn step<'p>(&self, filter: &'p Expr, env: &Env<'p>, input: Item, out: &mut Out<'_>) -> Flow {
        match filter {
            Expr::Identity => out(input),
            Expr::Literal(value) => out(Item { path: input.path.broken(), value: value.clone() }),
            Expr::Pipe(left, right) => self.run(left, env, input, &mut |item| self.run(right, env, item, out)),
            Expr::Comma(left, right) => {
                self.run(left, env, input.clone(), out)?;
                self.run(right, env, input, out)
            }
            Expr::Index(term, key) => self.index(term, key, env, input, out),
            Expr::Iterate(term) => self.run(term, env, input, &mut |item| iterate(item, out)),
            Expr::Slice(term, from, to) => self.slice(term, from.as_deref(), to.as_deref(), env, input, out),
            Expr::RecurseDefault => self.recurse_default(input, out),
            Expr::Var(name) => self.variable(name, env, input, out),
            Expr::Call(name, arguments) => self.call(name, arguments, env, input, out),
            Expr::If(condition, then, otherwise) => self.values(condition, env, &input.value, &mut |value| {
                if value.is_true() {
                    return self.run(then, env, input.clone(), out);
                }
                match otherwise {
                    Some(otherwise) => self.run(otherwise, env, input.clone(), out),
                    None => out(input.clone()),
                }
            }),
            Expr::Binary(Op::Alternative, left, right) => self.alternative(left, right, env, input, out),
            Expr::Binary(op, left, right) => {
                let path = input.path.broken();
                self.values(right, env, &input.value, &mut |b| {
                    self.values(left, env, &input.value, &mut |a| {
                        out(Item { path: path.clone(), value: builtins::operate(*op, &a, &b)? })
                    })
                })
            }
            Expr::And(left, right) | Expr::Or(left, right) => {
                let decides = matches!(filter, Expr::Or(..));
                let path = input.path.broken();
                self.values(left, env, &input.value, &mut |a| {
                    if a.is_true() == decides {
                        return out(Item { path: path.clone(), value: Json::Bool(decides) });
                    }
                    self.values(right, env, &input.value, &mut |b| {
                        out(Item { path: path.clone(), value: Json::Bool(b.is_true()) })
                    })
                })
            }
            Expr::As(source, patterns, body) => self.bind_patterns(source, patterns, body, env, input, out),
            Expr::Define(function, rest) => self.run(rest, &bind(env, Binding::Function(function)), input, out),
            Expr::Try(body, handler) => self.attempt(body, handler.as_deref(), env, input, out),
            _ => self.step_rare(filter, env, input, out),
        }
    }

    /// The rarer filters, so that `step`'s frame stays small.
    fn step_rare<'p>(&self, filter: &'p Expr, env: &Env<'p>, input: Item, out: &mut Out<'_>) -> Flow {
        let path = input.path.broken();
        let input_value = input.value.clone();
        match filter {
            Expr::Array(inner) => {
                let items = match inner {
                    Some(inner) => self.collect(inner, env, &input.value)?,
                    None => Vec::new(),
                };
                out(Item { path, value: Json::array(items) })
            }
            Expr::Object(members) => self.object(members, Object::new(), env, &input.value, &mut |object| {
                out(Item { path: path.clone(), value: Json::object(object) })
            }),
            Expr::Text(format, pieces) => {
                self.text(format.as_deref(), pieces, String::new(), env, &input.value, &mut |text| {
                    out(Item { path: path.clone(), value: Json::string(text) })
                })
            }
            Expr::Format(name) => out(Item { path, value: Json::string(builtins::format(name, &input.value)?) }),
            Expr::Negate(operand) => self.values(operand, env, &input.value, &mut |value| match value {
                Json::Number(number) => out(Item { path: path.clone(), value: Json::Number(-number) }),
                other => type_error(&other, "cannot be negated"),
            }),
            Expr::Assign(target, source) => self.values(source, env, &input_value, &mut |value| {
                let mut result = input_value.clone();
                for place in self.paths(target, env, &input_value)? {
                    result = paths::set(result, &place, value.clone())?;
                }
                out(Item { path: path.clone(), value: result })
            }),
            Expr::Modify(target, update) => {
                let value = self.modify(&input_value, target, env, &mut |old| self.first(update, env, &old))?;
                out(Item { path, value })
            }
            Expr::Update(op, target, source) => self.values(source, env, &input_value, &mut |operand| {
                let value = self.modify(&input_value, target, env, &mut |old| {
                    if *op == Op::Alternative {
                        return Ok(Some(if old.is_true() { old } else { operand.clone() }));
                    }
                    builtins::operate(*op, &old, &operand).map(Some)
                })?;
                out(Item { path: path.clone(), value })
            }),
            Expr::Reduce(source, pattern, init, update) => self.values(init, env, &input_value, &mut |start| {
                let mut state = Some(start);
                self.values(source, env, &input_value, &mut |value| {
                    self.destructure(pattern, &value, env, &input_value, &mut |env| {
                        let current = state.take().unwrap_or_default();
                        // The last output is the new state; none makes it null.
                        self.values(update, &env, &current, &mut |value| {
                            state = Some(value);
                            Ok(())
                        })
                    })
                })?;
                out(Item { path: path.clone(), value: state.take().unwrap_or_default() })
            }),
            Expr::Foreach(source, pattern, init, update, extract) => {
                self.values(init, env, &input_value, &mut |start| {
                    let mut state = start;
                    self.values(source, env, &input_value, &mut |value| {
                        self.destructure(pattern, &value, env, &input_value, &mut |env| {
                            let current = state.clone();
                            self.values(update, &env, &current, &mut |new| {
                                state = new.clone();
                                match extract {
                                    Some(extract) => self.values(extract, &env, &new, &mut |value| {
                                        out(Item { path: path.clone(), value })
                                    }),
                                    None => out(Item { path: path.clone(), value: new }),
                                }
                            })
                        })
                    })
                })
            }
            Expr::Label(name, body) => {
                let number = self.new_label();
                let inner = bind(env, Binding::Label(name.clone(), number));
                match self.run(body, &inner, input, out) {
                    Err(Stop::Break(found)) if found == number => Ok(()),
                    flow => flow,
                }
            }
            Expr::Break(name) => {
                let mut at = env.as_ref();
                while let Some(scope) = at {
                    match &scope.binding {
                        Binding::Label(label, number) if label == name => return Err(Stop::Break(*number)),
                        _ => at = scope.outer.as_ref(),
                    }
                }
                fail(format!("$*label-{name} is not defined"))
            }
            _ => out(input),
        }
    }

    fn attempt<'p>(
        &self,
        body: &'p Expr,
        handler: Option<&'p Expr>,
        env: &Env<'p>,
        input: Item,
        out: &mut Out<'_>,
    ) -> Flow {
        // An error of what follows is not this one's: it is kept apart while it passes.
        let mut passing = None;
        let path = input.path.broken();
        let flow = self.run(body, env, input, &mut |item| {
            out(item).map_err(|stop| {
                passing = Some(stop);
                Stop::Break(0)
            })
        });
        if let Some(stop) = passing {
            return Err(stop);
        }
        match flow {
            Err(Stop::Error(error)) => {
                let Some(handler) = handler else { return Ok(()) };
                self.values(handler, env, &error, &mut |value| out(Item { path: path.clone(), value }))
            }
            flow => flow,
        }
    }

    fn alternative<'p>(&self, left: &'p Expr, right: &'p Expr, env: &Env<'p>, input: Item, out: &mut Out<'_>) -> Flow {
        let mut any = false;
        let mut passing = None;
        let flow = self.run(left, env, input.clone(), &mut |item| {
            if !item.value.is_true() {
                return Ok(());
            }
            any = true;
            out(item).map_err(|stop| {
                passing = Some(stop);
                Stop::Break(0)
            })
        });
        if let Some(stop) = passing {
            return Err(stop);
        }
        match flow {
            // Errors of the left side count as no output.
            Ok(()) | Err(Stop::Error(_)) => {}
            Err(stop) => return Err(stop),
        }
        if any { Ok(()) } else { self.run(right, env, input, out) }
    }

    fn index<'p>(&self, term: &'p Expr, key: &'p Expr, env: &Env<'p>, input: Item, out: &mut Out<'_>) -> Flow {
        if let Expr::Literal(key) = key {
            return self.run(term, env, input, &mut |item| index_item(item, key, out));
        }
        let around = input.value.clone();
        self.run(term, env, input, &mut |item| {
            self.values(key, env, &around, &mut |key| index_item(item.clone(), &key, out))
        })
    }

    fn slice<'p>(
        &self,
        term: &'p Expr,
        from: Option<&'p Expr>,
        to: Option<&'p Expr>,
        env: &Env<'p>,
        input: Item,
        out: &mut Out<'_>,
    ) -> Flow {
        let around = input.value.clone();
        let bounds = |bound: Option<&'p Expr>| match bound {
            Some(bound) => self.collect(bound, env, &around),
            None => Ok(vec![Json::Null]),
        };
        let (froms, tos) = (bounds(from)?, bounds(to)?);
        self.run(term, env, input, &mut |item| {
            for to in &tos {
                for from in &froms {
                    let mut key = Object::new();
                    key.insert("start".into(), from.clone());
                    key.insert("end".into(), to.clone());
                    index_item(item.clone(), &Json::object(key), out)?;
                }
            }
            Ok(())
        })
    }

    fn recurse_default(&self, input: Item, out: &mut Out<'_>) -> Flow {
        out(input.clone())?;
        if matches!(input.value, Json::Array(_) | Json::Object(_)) {
            let depth = self.depth.get();
            if depth >= MAX_DEPTH {
                return fail("Recursion too deep");
            }
            self.depth.set(depth + 1);
            let flow = iterate(input, &mut |item| self.recurse_default(item, out));
            self.depth.set(depth);
            flow?;
        }
        Ok(())
    }

    fn recurse<'p>(
        &self,
        filter: &'p Expr,
        condition: Option<&'p Expr>,
        env: &Env<'p>,
        input: Item,
        out: &mut Out<'_>,
    ) -> Flow {
        out(input.clone())?;
        self.run(filter, env, input, &mut |item| match condition {
            None => self.recurse(filter, None, env, item, out),
            Some(test) => self.values(test, env, &item.value, &mut |value| {
                if value.is_true() { self.recurse(filter, condition, env, item.clone(), out) } else { Ok(()) }
            }),
        })
    }

    fn variable<'p>(&self, name: &str, env: &Env<'p>, input: Item, out: &mut Out<'_>) -> Flow {
        let path = input.path.broken();
        let mut at = env.as_ref();
        while let Some(scope) = at {
            match &scope.binding {
                Binding::Var(known, value) if **known == *name => return out(Item { path, value: value.clone() }),
                _ => at = scope.outer.as_ref(),
            }
        }
        if name == "ENV" {
            return out(Item { path, value: builtins::environment() });
        }
        fail(format!("${name} is not defined"))
    }

    fn object<'p>(
        &self,
        members: &'p [(Expr, Expr)],
        made: Object,
        env: &Env<'p>,
        input: &Json,
        out: &mut dyn FnMut(Object) -> Flow,
    ) -> Flow {
        let Some(((key, value), rest)) = members.split_first() else { return out(made) };
        self.values(key, env, input, &mut |key| {
            let Json::String(key) = key else {
                return fail("Object keys must be strings");
            };
            self.values(value, env, input, &mut |value| {
                let mut made = made.clone();
                made.insert(key.clone(), value);
                self.object(rest, made, env, input, out)
            })
        })
    }

    fn text<'p>(
        &self,
        format: Option<&str>,
        pieces: &'p [Piece],
        made: String,
        env: &Env<'p>,
        input: &Json,
        out: &mut dyn FnMut(String) -> Flow,
    ) -> Flow {
        let Some((piece, rest)) = pieces.split_first() else { return out(made) };
        match piece {
            Piece::Text(text) => self.text(format, rest, made + text, env, input, out),
            Piece::Value(filter) => self.values(filter, env, input, &mut |value| {
                let text = builtins::format(format.unwrap_or("@text"), &value)?;
                self.text(format, rest, format!("{made}{text}"), env, input, out)
            }),
        }
    }

    fn bind_patterns<'p>(
        &self,
        source: &'p Expr,
        patterns: &'p [Pattern],
        body: &'p Expr,
        env: &Env<'p>,
        input: Item,
        out: &mut Out<'_>,
    ) -> Flow {
        // With `?//`, names of the other patterns are null.
        let mut names = Vec::new();
        if patterns.len() > 1 {
            patterns.iter().for_each(|pattern| names_of(pattern, &mut names));
        }
        let outer = names.iter().fold(env.clone(), |env, name| bind(&env, Binding::Var(Rc::clone(name), Json::Null)));
        self.values(source, env, &input.value, &mut |value| {
            for (index, pattern) in patterns.iter().enumerate() {
                let last = index + 1 == patterns.len();
                let flow = self.destructure(pattern, &value, &outer, &input.value, &mut |env| {
                    self.run(body, &env, input.clone(), out)
                });
                match flow {
                    Err(Stop::Error(_)) if !last => {}
                    flow => return flow,
                }
            }
            Ok(())
        })
    }

    fn destructure<'p>(
        &self,
        pattern: &'p Pattern,
        value: &Json,
        env: &Env<'p>,
        input: &Json,
        out: &mut dyn FnMut(Env<'p>) -> Flow,
    ) -> Flow {
        match pattern {
            Pattern::Var(name) => out(bind(env, Binding::Var(name.clone(), value.clone()))),
            Pattern::Array(items) => {
                if !matches!(value, Json::Array(_) | Json::Null) {
                    return fail(format!("Cannot index {} with number", value.kind()));
                }
                self.destructure_items(items, 0, value, env, input, out)
            }
            Pattern::Object(members) => self.destructure_members(members, value, env, input, out),
        }
    }

    fn destructure_items<'p>(
        &self,
        items: &'p [Pattern],
        index: usize,
        value: &Json,
        env: &Env<'p>,
        input: &Json,
        out: &mut dyn FnMut(Env<'p>) -> Flow,
    ) -> Flow {
        let Some(pattern) = items.get(index) else { return out(env.clone()) };
        let item = paths::index(value, &Json::Number(index as f64))?;
        self.destructure(pattern, &item, env, input, &mut |env| {
            self.destructure_items(items, index + 1, value, &env, input, out)
        })
    }

    fn destructure_members<'p>(
        &self,
        members: &'p [(Expr, Option<Rc<str>>, Option<Pattern>)],
        value: &Json,
        env: &Env<'p>,
        input: &Json,
        out: &mut dyn FnMut(Env<'p>) -> Flow,
    ) -> Flow {
        let Some(((key, name, pattern), rest)) = members.split_first() else { return out(env.clone()) };
        self.values(key, env, input, &mut |key| {
            if !matches!(key, Json::String(_)) {
                return fail(format!("Cannot index {} with {}", value.kind(), key.kind()));
            }
            let item = paths::index(value, &key)?;
            let env = match name {
                Some(name) => bind(env, Binding::Var(name.clone(), item.clone())),
                None => env.clone(),
            };
            match pattern {
                Some(pattern) => self.destructure(pattern, &item, &env, input, &mut |env| {
                    self.destructure_members(rest, value, &env, input, out)
                }),
                None => self.destructure_members(rest, value, &env, input, out),
            }
        })
    }

    /// Replaces what a filter points at; parts without a new value are deleted.
    fn modify<'p>(
        &self,
        input: &Json,
        target: &'p Expr,
        env: &Env<'p>,
        update: &mut dyn FnMut(Json) -> Result<Option<Json>, Stop>,
    ) -> Result<Json, Stop> {
        let mut result = input.clone();
        let mut deleted = Vec::new();
        for path in self.paths(target, env, input)? {
            match update(paths::get(&result, &path)?)? {
                Some(new) => result = paths::set(result, &path, new)?,
                None => deleted.push(path),
            }
        }
        paths::delete(result, deleted)
    }

    // ---- Calls ----

    fn call<'p>(&self, name: &'p str, arguments: &'p [Expr], env: &Env<'p>, input: Item, out: &mut Out<'_>) -> Flow {
        let mut at = env.as_ref();
        while let Some(scope) = at {
            match &scope.binding {
                Binding::Closure(known, filter, closure_env) if arguments.is_empty() && **known == *name => {
                    return self.run(filter, closure_env, input, out);
                }
                Binding::Function(function)
                    if *function.name == *name && function.parameters.len() == arguments.len() =>
                {
                    let inner = Some(scope.clone());
                    return self.call_function(function, arguments, 0, inner, env, input, out);
                }
                _ => at = scope.outer.as_ref(),
            }
        }
        self.call_builtin(name, arguments, env, input, out)
    }

    fn call_function<'p>(
        &self,
        function: &'p Function,
        arguments: &'p [Expr],
        index: usize,
        inner: Env<'p>,
        env: &Env<'p>,
        input: Item,
        out: &mut Out<'_>,
    ) -> Flow {
        let Some(parameter) = function.parameters.get(index) else {
            return self.run(&function.body, &inner, input, out);
        };
        let Some(name) = parameter.strip_prefix('$') else {
            let closure = Binding::Closure(parameter.clone(), &arguments[index], env.clone());
            return self.call_function(function, arguments, index + 1, bind(&inner, closure), env, input, out);
        };
        // A `$name` parameter is a variable and a filter.
        let name: Rc<str> = Rc::from(name);
        self.values(&arguments[index], env, &input.value, &mut |value| {
            let closure = Binding::Closure(name.clone(), &arguments[index], env.clone());
            let with_value = bind(&bind(&inner, closure), Binding::Var(name.clone(), value));
            self.call_function(function, arguments, index + 1, with_value, env, input.clone(), out)
        })
    }

    /// All combinations of the arguments' values.
    fn cartesian<'p>(
        &self,
        arguments: &'p [Expr],
        values: &mut Vec<Json>,
        env: &Env<'p>,
        input: &Json,
        out: &mut dyn FnMut(&[Json]) -> Flow,
    ) -> Flow {
        let Some((first, rest)) = arguments.split_first() else { return out(values) };
        self.values(first, env, input, &mut |value| {
            values.push(value);
            let flow = self.cartesian(rest, values, env, input, out);
            values.pop();
            flow
        })
    }

    fn call_builtin<'p>(
        &self,
        name: &'p str,
        arguments: &'p [Expr],
        env: &Env<'p>,
        input: Item,
        out: &mut Out<'_>,
    ) -> Flow {
        let path = input.path.broken();
        match (name, arguments) {
            ("empty", []) => Ok(()),
            ("not", []) => out(Item { path, value: Json::Bool(!input.value.is_true()) }),
            ("select", [test]) => self.values(test, env, &input.value, &mut |value| {
                if value.is_true() { out(input.clone()) } else { Ok(()) }
            }),
            ("recurse", []) => self.recurse_default(input, out),
            ("recurse", [filter]) => self.recurse(filter, None, env, input, out),
            ("recurse", [filter, condition]) => self.recurse(filter, Some(condition), env, input, out),
            ("map", [filter]) => {
                let mut items = Vec::new();
                iterate(Item::plain(input.value), &mut |item| {
                    self.run(filter, env, item, &mut |item| {
                        items.push(item.value);
                        Ok(())
                    })
                })?;
                out(Item { path, value: Json::array(items) })
            }
            ("path", [filter]) => self.each_path(filter, env, &input.value, &mut |found| {
                out(Item { path: path.clone(), value: Json::array(found) })
            }),
            ("getpath", [place]) => self.values(place, env, &input.value, &mut |place| {
                let Json::Array(keys) = &place else { return fail("Path must be specified as an array") };
                let value = paths::get(&input.value, keys).or_else(|stop| match stop {
                    // Below null everything is null.
                    Stop::Error(_) if input.value.kind() == "null" => Ok(Json::Null),
                    stop => Err(stop),
                })?;
                let mut path = input.path.clone();
                for key in keys.iter() {
                    path = path.push(key).or_else(|()| fail("Invalid path expression"))?;
                }
                out(Item { path, value })
            }),
            ("del", [target]) => {
                let places = self.paths(target, env, &input.value)?;
                out(Item { path, value: paths::delete(input.value, places)? })
            }
            ("to_entries", []) | ("with_entries", [_]) => {
                let entries = builtins::to_entries(&input.value)?;
                let [filter] = arguments else { return out(Item { path, value: entries }) };
                let mut items = Vec::new();
                iterate(Item::plain(entries), &mut |item| {
                    self.run(filter, env, item, &mut |item| {
                        items.push(item.value);
                        Ok(())
                    })
                })?;
                out(Item { path, value: builtins::from_entries(&Json::array(items))? })
            }
            ("first", [filter]) => self.limited(1, filter, env, input, out),
            ("limit", [count, filter]) => self.values(count, env, &input.value, &mut |count| match count {
                Json::Number(count) if count > 0.0 => self.limited(count as u64, filter, env, input.clone(), out),
                Json::Number(_) => Ok(()),
                _ => fail("Invalid arguments to limit"),
            }),
            ("skip", [count, filter]) => self.values(count, env, &input.value, &mut |count| {
                let mut left = if let Json::Number(count) = count { count } else { 0.0 };
                self.run(filter, env, input.clone(), &mut |item| {
                    left -= 1.0;
                    if left < 0.0 { out(item) } else { Ok(()) }
                })
            }),
            ("until", [test, update]) => {
                let mut item = input;
                while !self.first(test, env, &item.value)?.is_some_and(|value| value.is_true()) {
                    match self.first(update, env, &item.value)? {
                        Some(value) => item = Item { path: path.clone(), value },
                        None => return Ok(()),
                    }
                }
                out(item)
            }
            ("while", [test, update]) => self.while_loop(test, update, env, input, out),
            ("repeat", [filter]) => self.repeat(filter, env, input, out),
            ("range", [_] | [_, _] | [_, _, _]) => {
                let mut values = Vec::new();
                self.cartesian(arguments, &mut values, env, &input.value, &mut |bounds| {
                    let numbers: Option<Vec<f64>> = bounds
                        .iter()
                        .map(|bound| if let Json::Number(number) = bound { Some(*number) } else { None })
                        .collect();
                    let (from, to, by) = match numbers.as_deref() {
                        Some([to]) => (0.0, *to, 1.0),
                        Some([from, to]) => (*from, *to, 1.0),
                        Some([from, to, by]) => (*from, *to, *by),
                        _ => return fail("Range bounds must be numeric"),
                    };
                    let mut at = from;
                    while by > 0.0 && at < to || by < 0.0 && at > to {
                        out(Item { path: path.clone(), value: Json::Number(at) })?;
                        at += by;
                    }
                    Ok(())
                })
            }
            ("error", []) => Err(Stop::Error(input.value)),
            ("error", [message]) => self.values(message, env, &input.value, &mut |message| Err(Stop::Error(message))),
            ("env", []) => out(Item { path, value: builtins::environment() }),
            ("input", []) => match self.next_input()? {
                Some(value) => out(Item { path, value }),
                None => fail("No more inputs"),
            },
            ("inputs", []) => {
                while let Some(value) = self.next_input()? {
                    out(Item { path: path.clone(), value })?;
                }
                Ok(())
            }
            ("input_filename", []) => {
                let name = self.file_name.borrow().clone();
                out(Item { path, value: name.map_or(Json::Null, Json::String) })
            }
            ("input_line_number", []) => out(Item { path, value: Json::Number(0.0) }),
            ("debug", []) => {
                eprintln!("[\"DEBUG:\",{}]", input.value.to_text());
                out(input)
            }
            ("debug", [message]) => {
                self.values(message, env, &input.value, &mut |message| {
                    eprintln!("[\"DEBUG:\",{}]", message.to_text());
                    Ok(())
                })?;
                out(input)
            }
            ("stderr", []) => {
                eprint!("{}", input.value.to_text());
                out(input)
            }
            ("halt", []) => Err(Stop::Halt(0)),
            ("halt_error", []) => {
                builtins::print_halt(&input.value);
                Err(Stop::Halt(5))
            }
            ("halt_error", [status]) => self.values(status, env, &input.value, &mut |status| match status {
                Json::Number(status) => {
                    builtins::print_halt(&input.value);
                    Err(Stop::Halt(status as i32))
                }
                _ => fail("halt_error/1: number required"),
            }),
            ("add", [filter]) => {
                let mut sum = Json::Null;
                self.values(filter, env, &input.value, &mut |value| {
                    sum = builtins::operate(Op::Add, &sum, &value)?;
                    Ok(())
                })?;
                out(Item { path, value: sum })
            }
            ("sort_by" | "group_by" | "unique_by" | "min_by" | "max_by", [filter]) => {
                let Json::Array(items) = &input.value else {
                    return type_error(&input.value, "cannot be sorted, as it is not an array");
                };
                let mut keyed = Vec::with_capacity(items.len());
                for item in items.iter() {
                    keyed.push((Json::array(self.collect(filter, env, item)?), item.clone()));
                }
                out(Item { path, value: builtins::by_key(name, keyed) })
            }
            ("any" | "all", _) if arguments.len() <= 2 => {
                let wanted = name == "any";
                let mut result = !wanted;
                let label = self.new_label();
                let mut check = |value: &Json| match arguments {
                    [] => self.decide(value.is_true(), wanted, &mut result, label),
                    [test] | [_, test] => self.values(test, env, value, &mut |value| {
                        self.decide(value.is_true(), wanted, &mut result, label)
                    }),
                    _ => Ok(()),
                };
                let flow = if let [source, _] = arguments {
                    self.values(source, env, &input.value, &mut |value| check(&value))
                } else {
                    iterate(Item::plain(input.value), &mut |item| check(&item.value))
                };
                match flow {
                    Err(Stop::Break(number)) if number == label => {}
                    flow => flow?,
                }
                out(Item { path, value: Json::Bool(result) })
            }
            ("isempty", [filter]) => {
                let value = Json::Bool(self.first(filter, env, &input.value)?.is_none());
                out(Item { path, value })
            }
            _ => {
                let mut values = Vec::new();
                self.cartesian(arguments, &mut values, env, &input.value, &mut |values| {
                    builtins::call(name, &input.value, values, &mut |value| out(Item { path: path.clone(), value }))
                })
            }
        }
    }

    fn decide(&self, found: bool, wanted: bool, result: &mut bool, label: u64) -> Flow {
        if found == wanted {
            *result = wanted;
            return Err(Stop::Break(label));
        }
        Ok(())
    }

    fn limited<'p>(&self, count: u64, filter: &'p Expr, env: &Env<'p>, input: Item, out: &mut Out<'_>) -> Flow {
        let label = self.new_label();
        let mut left = count;
        let flow = self.run(filter, env, input, &mut |item| {
            left -= 1;
            out(item)?;
            if left == 0 { Err(Stop::Break(label)) } else { Ok(()) }
        });
        match flow {
            Err(Stop::Break(number)) if number == label => Ok(()),
            flow => flow,
        }
    }

    fn while_loop<'p>(&self, test: &'p Expr, update: &'p Expr, env: &Env<'p>, input: Item, out: &mut Out<'_>) -> Flow {
        // One output each time is the rule; more branch off.
        let mut item = input;
        while self.first(test, env, &item.value)?.is_some_and(|value| value.is_true()) {
            out(item.clone())?;
            let mut next = self.collect(update, env, &item.value)?;
            let Some(last) = next.pop() else { return Ok(()) };
            let path = item.path.broken();
            for value in next {
                self.while_loop(test, update, env, Item { path: path.clone(), value }, out)?;
            }
            item = Item { path, value: last };
        }
        Ok(())
    }

    fn repeat<'p>(&self, filter: &'p Expr, env: &Env<'p>, input: Item, out: &mut Out<'_>) -> Flow {
        let mut item = input;
        loop {
            out(item.clone())?;
            let mut next = self.collect(filter, env, &item.value)?;
            let Some(last) = next.pop() else { return Ok(()) };
            let path = item.path.broken();
            for value in next {
                self.repeat(filter, env, Item { path: path.clone(), value }, out)?;
            }
            item = Item { path, value: last };
        }
    }

    fn next_input(&self) -> Result<Option<Json>, Stop> {
        let next = (self.inputs.borrow_mut())();
        match next {
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(message)) => fail(message),
            None => Ok(None),
        }
    }
}

fn names_of(pattern: &Pattern, names: &mut Vec<Rc<str>>) {
    match pattern {
        Pattern::Var(name) => names.push(name.clone()),
        Pattern::Array(items) => items.iter().for_each(|item| names_of(item, names)),
        Pattern::Object(members) => {
            for (_, name, pattern) in members {
                names.extend(name.clone());
                if let Some(pattern) = pattern {
                    names_of(pattern, names);
                }
            }
        }
    }
}

fn index_item(item: Item, key: &Json, out: &mut Out<'_>) -> Flow {
    let value = paths::index(&item.value, key)?;
    match item.path.push(key) {
        Ok(path) => out(Item { path, value }),
        Err(()) => fail(format!("Invalid path expression with result {}", builtins::shortened(&item.value))),
    }
}

fn iterate(item: Item, out: &mut Out<'_>) -> Flow {
    let broken = |()| {
        Stop::Error(Json::string(format!("Invalid path expression with result {}", builtins::shortened(&item.value))))
    };
    match &item.value {
        Json::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                let path = if matches!(item.path, Path::Off) {
                    Path::Off
                } else {
                    item.path.push(&Json::Number(index as f64)).map_err(broken)?
                };
                out(Item { path, value: value.clone() })?;
            }
            Ok(())
        }
        Json::Object(object) => {
            for (key, value) in object.iter() {
                let path = if matches!(item.path, Path::Off) {
                    Path::Off
                } else {
                    item.path.push(&Json::String(key.clone())).map_err(broken)?
                };
                out(Item { path, value: value.clone() })?;
            }
            Ok(())
        }
        other => fail(format!("Cannot iterate over {}", builtins::described(other))),
    }
}
