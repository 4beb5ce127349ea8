//! Finds names that a program uses and nobody defines, before it runs.

use std::rc::Rc;

use super::builtins::is_known;
use super::parser::{Expr, Pattern, Piece};

/// The functions that are used and neither defined nor known to the interpreter.
///
/// # Errors
/// When a variable or label is not defined: jq's message.
pub fn missing(program: &Expr, variables: &[&str]) -> Result<Vec<(String, usize)>, String> {
    let mut checker = Checker {
        functions: Vec::new(),
        variables: variables.iter().map(|name| Rc::from(*name)).collect(),
        labels: Vec::new(),
        missing: Vec::new(),
    };
    checker.visit(program)?;
    Ok(checker.missing)
}

struct Checker {
    functions: Vec<(Rc<str>, usize)>,
    variables: Vec<Rc<str>>,
    labels: Vec<Rc<str>>,
    missing: Vec<(String, usize)>,
}

impl Checker {
    fn all<'e>(&mut self, parts: impl IntoIterator<Item = &'e Expr>) -> Result<(), String> {
        parts.into_iter().try_for_each(|part| self.visit(part))
    }

    fn visit(&mut self, expression: &Expr) -> Result<(), String> {
        match expression {
            Expr::Identity | Expr::RecurseDefault | Expr::Literal(_) | Expr::Format(_) => Ok(()),
            Expr::Text(_, pieces) => self.all(
                pieces.iter().filter_map(|piece| if let Piece::Value(value) = piece { Some(value) } else { None }),
            ),
            Expr::Var(name) => {
                if self.variables.contains(name) {
                    Ok(())
                } else {
                    Err(format!("${name} is not defined"))
                }
            }
            Expr::Iterate(inner) | Expr::Negate(inner) => self.visit(inner),
            Expr::Index(a, b)
            | Expr::Pipe(a, b)
            | Expr::Comma(a, b)
            | Expr::Binary(_, a, b)
            | Expr::And(a, b)
            | Expr::Or(a, b)
            | Expr::Assign(a, b)
            | Expr::Modify(a, b)
            | Expr::Update(_, a, b) => self.all([&**a, &**b]),
            Expr::Slice(term, from, to) => {
                self.all([Some(term), from.as_ref(), to.as_ref()].into_iter().flatten().map(|e| &**e))
            }
            Expr::Array(inner) => self.all(inner.as_deref()),
            Expr::Object(members) => self.all(members.iter().flat_map(|(key, value)| [key, value])),
            Expr::If(condition, then, otherwise) => {
                self.all([Some(condition), Some(then), otherwise.as_ref()].into_iter().flatten().map(|e| &**e))
            }
            Expr::Try(body, handler) => self.all([Some(body), handler.as_ref()].into_iter().flatten().map(|e| &**e)),
            Expr::Reduce(source, pattern, init, update) => self.fold(source, pattern, init, update, None),
            Expr::Foreach(source, pattern, init, update, extract) => {
                self.fold(source, pattern, init, update, extract.as_deref())
            }
            Expr::Define(function, rest) => {
                let functions = self.functions.len();
                let variables = self.variables.len();
                self.functions.push((function.name.clone(), function.parameters.len()));
                for parameter in &function.parameters {
                    let name = parameter.strip_prefix('$');
                    self.variables.extend(name.map(Rc::from));
                    self.functions.push((Rc::from(name.unwrap_or(parameter)), 0));
                }
                self.visit(&function.body)?;
                self.variables.truncate(variables);
                self.functions.truncate(functions + 1);
                self.visit(rest)?;
                self.functions.truncate(functions);
                Ok(())
            }
            Expr::Call(name, arguments) => {
                let wanted = (name.clone(), arguments.len());
                let seen = |list: &[(String, usize)]| {
                    list.iter().any(|(known, count)| **known == **name && *count == wanted.1)
                };
                if !self.functions.contains(&wanted) && !is_known(name, wanted.1) && !seen(&self.missing) {
                    self.missing.push((name.to_string(), wanted.1));
                }
                self.all(arguments)
            }
            Expr::As(source, patterns, body) => {
                self.visit(source)?;
                let variables = self.variables.len();
                for pattern in patterns {
                    self.bind(pattern)?;
                }
                self.visit(body)?;
                self.variables.truncate(variables);
                Ok(())
            }
            Expr::Label(name, body) => {
                self.labels.push(name.clone());
                self.visit(body)?;
                self.labels.pop();
                Ok(())
            }
            Expr::Break(name) => {
                if self.labels.contains(name) {
                    Ok(())
                } else {
                    Err(format!("$*label-{name} is not defined"))
                }
            }
        }
    }

    fn fold(
        &mut self,
        source: &Expr,
        pattern: &Pattern,
        init: &Expr,
        update: &Expr,
        extract: Option<&Expr>,
    ) -> Result<(), String> {
        self.all([source, init])?;
        let variables = self.variables.len();
        self.bind(pattern)?;
        self.all(std::iter::once(update).chain(extract))?;
        self.variables.truncate(variables);
        Ok(())
    }

    fn bind(&mut self, pattern: &Pattern) -> Result<(), String> {
        match pattern {
            Pattern::Var(name) => self.variables.push(name.clone()),
            Pattern::Array(items) => items.iter().try_for_each(|item| self.bind(item))?,
            Pattern::Object(members) => {
                for (key, name, value) in members {
                    self.visit(key)?;
                    self.variables.extend(name.clone());
                    if let Some(value) = value {
                        self.bind(value)?;
                    }
                }
            }
        }
        Ok(())
    }
}
