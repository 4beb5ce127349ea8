//! `${x@Q}` and its kin.

use super::case;
use super::param::Val;
use crate::ast::{ParamName, Subscript};
use crate::parse::ansi_c;
use crate::quote;
use crate::shell::{Run, Shell};
use crate::state::vars::Value;

impl Shell {
    pub(super) fn transform(&mut self, op: u8, name: &ParamName, index: Option<&Subscript>, value: Val) -> Run<Val> {
        match op {
            b'a' => return Ok(self.attributes_of(name, value)),
            b'A' => return Ok(self.assignment_of(name, index, value)),
            b'K' | b'k' => return Ok(self.key_values(op == b'k', name, index, value)),
            _ => {}
        }
        let one = |shell: &mut Self, text: Vec<u8>| -> Run<Vec<u8>> {
            Ok(match op {
                b'Q' => quote::at_q(&text),
                b'E' => ansi_c(&text),
                b'P' => shell.expand_prompt(&text)?,
                b'U' => case::upper(&text),
                b'L' => case::lower(&text),
                b'u' => case::operator(&text, b'^', false, None),
                _ => text,
            })
        };
        Ok(match value {
            Val::Unset => Val::Unset,
            Val::One(text) => Val::One(one(self, text)?),
            Val::Many { values, star } => {
                let mut out = Vec::with_capacity(values.len());
                for value in values {
                    out.push(one(self, value)?);
                }
                Val::Many { values: out, star }
            }
        })
    }

    fn attributes_of(&mut self, name: &ParamName, value: Val) -> Val {
        let letters = self
            .param_var(name)
            .map_or(Vec::new(), |v| crate::builtins::declare::letters(&v));
        match value {
            Val::Many { values, star } => Val::Many {
                values: values.iter().map(|_| letters.clone()).collect(),
                star,
            },
            _ => Val::One(letters),
        }
    }

    fn assignment_of(&mut self, name: &ParamName, index: Option<&Subscript>, value: Val) -> Val {
        if let ParamName::Special(b'@' | b'*') = name {
            if let Val::Many { values, star } = value {
                let mut out = vec![b"set".to_vec(), b"--".to_vec()];
                out.extend(values.iter().map(|value| quote::at_q(value)));
                return if star {
                    Val::One(out.join(&b' '))
                } else {
                    Val::Many { values: out, star }
                };
            }
            return Val::Unset;
        }
        let ParamName::Var(var_name) = name else {
            return value;
        };
        let Some(var) = self.param_var(name) else {
            return Val::Unset;
        };
        let place = self.resolve(var_name);
        let letters = crate::builtins::declare::letters(&var);
        let mut out = Vec::new();
        match (&var.value, index) {
            (Value::Indexed(..) | Value::Assoc(..), Some(Subscript::At | Subscript::Star)) => {
                let text = crate::builtins::declare::declaration(&place.name, &var);
                if matches!(index, Some(Subscript::Star)) {
                    return Val::One(text);
                }
                // Three words: the value of the last is not split.
                return Val::Many {
                    values: text.splitn(3, |&c| c == b' ').map(<[u8]>::to_vec).collect(),
                    star: false,
                };
            }
            (Value::Unset, _) => {
                if letters.is_empty() {
                    return Val::Unset;
                }
                out.extend_from_slice(b"declare -");
                out.extend_from_slice(&letters);
                out.push(b' ');
                out.extend_from_slice(&place.name);
                return Val::One(out);
            }
            _ => {}
        }
        let text = match value {
            Val::One(text) => text,
            Val::Unset => return Val::Unset,
            Val::Many { values, .. } => values.join(&b' '),
        };
        if !letters.is_empty() {
            out.extend_from_slice(b"declare -");
            out.extend_from_slice(&letters);
            out.push(b' ');
        }
        out.extend_from_slice(&place.name);
        out.push(b'=');
        out.extend_from_slice(&quote::at_q(&text));
        Val::One(out)
    }

    fn key_values(&mut self, separate: bool, name: &ParamName, index: Option<&Subscript>, value: Val) -> Val {
        let list = matches!(index, Some(Subscript::At | Subscript::Star));
        if let (true, Some(var)) = (list, self.param_var(name)) {
            let star = matches!(index, Some(Subscript::Star));
            let pairs: Vec<(Vec<u8>, Vec<u8>)> = var.keys().into_iter().zip(var.values()).collect();
            if separate {
                return Val::Many {
                    values: pairs.into_iter().flat_map(|(k, v)| [k, v]).collect(),
                    star,
                };
            }
            let is_assoc = matches!(var.value, Value::Assoc(..));
            let mut out = Vec::new();
            for (k, v) in pairs {
                if !out.is_empty() {
                    out.push(b' ');
                }
                out.extend_from_slice(&if is_assoc { quote::key(&k) } else { k });
                out.push(b' ');
                out.extend_from_slice(&quote::double(&v));
            }
            if is_assoc && !out.is_empty() {
                out.push(b' ');
            }
            return Val::One(out);
        }
        match value {
            Val::One(text) => Val::One(quote::at_q(&text)),
            Val::Many { values, star } => Val::Many {
                values: values.iter().map(|v| quote::at_q(v)).collect(),
                star,
            },
            Val::Unset => Val::Unset,
        }
    }
}
