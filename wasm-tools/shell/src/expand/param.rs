//! Parameter expansion: `$x` and `${x…}` with its operators.

use super::{Builder, case};
use crate::arith::decimal;
use crate::ast::{Arith, Param, ParamName, ParamOp, ReplaceMode, Subscript, Word};
use crate::pattern::{char_count, char_offset, decode};
use crate::shell::{Run, Shell, Unwind};
use crate::state::vars::{Value, Var, attr};
use std::rc::Rc;

/// The value of a parameter before its operator.
#[derive(Debug, Clone)]
pub enum Val {
    Unset,
    One(Vec<u8>),
    /// `$@`, `$*`, `${a[@]}`, `${a[*]}`
    Many {
        values: Vec<Vec<u8>>,
        star: bool,
    },
}

/// A parameter with its indirection resolved.
pub struct Target {
    pub name: ParamName,
    pub index: Option<Subscript>,
}

impl Shell {
    /// Expands a parameter into the builder.
    #[inline(never)]
    pub fn expand_param(&mut self, param: &Param, quoted: bool, out: &mut Builder) -> Run<()> {
        if let (ParamOp::None, None, false) = (&param.op, &param.index, param.indirect) {
            // Plain `$name`, without a copy where it can be helped.
            match &param.name {
                ParamName::Var(name) => {
                    if let Some(text) = self.plain_scalar(name) {
                        if quoted {
                            out.push_quoted(text);
                            return Ok(());
                        }
                        let text = text.to_vec();
                        self.push_split(&text, out);
                        return Ok(());
                    }
                }
                ParamName::Positional(n) => {
                    let positional = self.st.positional.clone();
                    if let Some(text) = positional.get(*n as usize - 1) {
                        if quoted {
                            out.push_quoted(text)
                        } else {
                            self.push_split(text, out)
                        }
                        return Ok(());
                    }
                }
                ParamName::Special(_) => {}
            }
        }
        if matches!(param.op, ParamOp::Bad) {
            return Err(self.bad_substitution(param));
        }
        if quoted && out.splits() && self.push_quoted_list(param, out) {
            return Ok(());
        }
        let value = self.param_value(param, quoted, out)?;
        match value {
            Some(Val::Unset) if quoted && param.indirect => out.push_quoted(b""),
            None | Some(Val::Unset) => {}
            Some(Val::One(text)) => {
                if quoted {
                    out.push_quoted(&text)
                } else {
                    self.push_split(&text, out)
                }
            }
            Some(Val::Many { values, star }) => {
                let star = star || out.is_assigned() && joins_by_ifs(param, quoted);
                self.push_many(&values, star, quoted, out);
            }
        }
        Ok(())
    }

    /// `"$@"` and `"${name[@]}"`, each element copied once; `false` when it is something else.
    fn push_quoted_list(&mut self, param: &Param, out: &mut Builder) -> bool {
        if !matches!((&param.op, param.indirect), (ParamOp::None, false)) {
            return false;
        }
        match (&param.name, &param.index) {
            (ParamName::Special(b'@'), None) => push_each(self.st.positional.iter(), out),
            (ParamName::Var(name), Some(Subscript::At)) if !self.is_reference(name) => {
                match self.get_var(name).as_deref().map(|v| &v.value) {
                    Some(Value::Indexed(array, _)) => push_each(array.values(), out),
                    _ => return false,
                }
            }
            _ => return false,
        }
        true
    }

    fn push_many(&mut self, values: &[Vec<u8>], star: bool, quoted: bool, out: &mut Builder) {
        if star && (quoted || !out.splits()) {
            let text = values.join(self.star_separator().as_slice());
            if quoted {
                out.push_quoted(&text)
            } else {
                out.push_literal(&text)
            }
            return;
        }
        if !out.splits() {
            // `$*` alone joins by IFS; elsewhere a blank.
            let text = values.join(&b' ');
            if quoted {
                out.push_quoted(&text)
            } else {
                out.push_literal(&text)
            }
            return;
        }
        let separator = if quoted || values.len() < 2 {
            Vec::new()
        } else {
            self.star_separator()
        };
        for (i, value) in values.iter().enumerate() {
            if quoted {
                if i > 0 {
                    out.break_field(true);
                }
                out.push_element(value);
            } else {
                if i > 0 && separator.is_empty() {
                    out.break_field(false);
                } else if i > 0 {
                    // As if the values were joined by IFS and split again.
                    self.push_split(&separator, out);
                }
                self.push_split(value, out);
            }
        }
    }

    fn bad_substitution(&mut self, param: &Param) -> Unwind {
        self.error_bytes(&[&param.raw[..], b": bad substitution"].concat());
        self.give_up()
    }

    /// The error for an unset parameter under `set -u`.
    pub fn unbound(&mut self, name: &str) -> Unwind {
        self.error(&format!("{name}: unbound variable"));
        self.fatal_expansion()
    }

    /// The value with its operator applied; `None` when the builder was filled already.
    #[inline(never)]
    fn param_value(&mut self, param: &Param, quoted: bool, out: &mut Builder) -> Run<Option<Val>> {
        match &param.op {
            ParamOp::Names { at } => {
                let ParamName::Var(prefix) = &param.name else {
                    return Ok(Some(Val::Unset));
                };
                let mut names: Vec<Vec<u8>> = self
                    .st
                    .vars
                    .iter()
                    .filter(|(n, v)| n.starts_with(prefix) && !matches!(v.value, Value::Unset))
                    .map(|(n, _)| n.to_vec())
                    .collect();
                names.sort();
                if !at && !quoted && self.star_separator().is_empty() {
                    return Ok(Some(Val::One(names.concat())));
                }
                return Ok(Some(Val::Many {
                    values: names,
                    star: !at,
                }));
            }
            ParamOp::Keys => {
                let ParamName::Var(name) = &param.name else {
                    return Ok(Some(Val::Unset));
                };
                let values = self.get_var(name).map_or(Vec::new(), |v| v.keys());
                let star = matches!(param.index, Some(Subscript::Star));
                if star && !quoted && out.splits() && self.star_separator().is_empty() {
                    return Ok(Some(Val::One(values.join(&b' '))));
                }
                return Ok(Some(Val::Many { values, star }));
            }
            _ => {}
        }
        let indirect;
        let (name, index) = if param.indirect {
            match self.indirect(param)? {
                Indirect::Value(value) => return Ok(Some(value)),
                Indirect::Target(target) => {
                    indirect = target;
                    (&indirect.name, indirect.index.as_ref())
                }
            }
        } else {
            (&param.name, param.index.as_ref())
        };
        if let Some(value) = self.without_copy(&param.op, name, index)? {
            return Ok(Some(value));
        }
        let value = self.base_value(name, index)?;
        if let ParamOp::Test { op, colon, word } = &param.op {
            return self.test_operator(param, name, index, value, (*op, *colon, word), quoted, out);
        }
        if self.st.opts.nounset {
            let unset = match &value {
                Val::Unset => true,
                // `${#a[@]}`, `$@` and friends are never unbound, but an element or scalar is.
                Val::Many { .. } => false,
                Val::One(_) => false,
            };
            if unset {
                let label = if param.indirect {
                    format!("!{}", param_label(&param.name, param.index.as_ref()))
                } else if param.braced || matches!(name, ParamName::Var(_)) {
                    param_label(name, index)
                } else {
                    format!("${}", param_label(name, index))
                };
                return Err(self.unbound(&label));
            }
        }
        self.apply(param, name, index, value).map(Some)
    }

    /// Lengths and slices of what is not to be copied as a whole, so that a loop over its characters or elements takes
    /// time in proportion to them.
    fn without_copy(&mut self, op: &ParamOp, name: &ParamName, index: Option<&Subscript>) -> Run<Option<Val>> {
        if matches!(name, ParamName::Var(name) if self.is_reference(name)) {
            return Ok(None);
        }
        let number = |n: usize| Ok(Some(Val::One(decimal(n as i64))));
        match (op, name, index) {
            (ParamOp::Length, ParamName::Special(b'@' | b'*'), None) => number(self.st.positional.len()),
            (ParamOp::Length, ParamName::Var(name), Some(Subscript::At | Subscript::Star)) => {
                let var = self.get_var(name);
                if self.st.opts.nounset && var.as_deref().is_none_or(|v| !v.is_set()) {
                    // Unlike others, this one ends the shell with 1.
                    return Err(match self.unbound(&String::from_utf8_lossy(name)) {
                        Unwind::Exit(_) => Unwind::Exit(1),
                        unwind => unwind,
                    });
                }
                number(var.map_or(0, |v| v.count()))
            }
            (ParamOp::Length, ParamName::Var(name), None) => match self.plain_scalar(name) {
                Some(text) => number(char_count(text)),
                None => Ok(None),
            },
            (ParamOp::Slice { offset, length }, ParamName::Var(var), None) => {
                // The expressions may change the variable: what it was is sliced.
                let Some(var) = self.st.vars.get(var.as_slice()).cloned() else {
                    return Ok(None);
                };
                match &var.value {
                    Value::Scalar(text) if var.attrs & (attr::DYNAMIC | attr::NAMEREF) == 0 => {
                        let offset = self.eval_bound(name, index, offset)?;
                        let length = match length {
                            Some(arith) => Some((self.eval_bound(name, index, arith)?, &**arith)),
                            None => None,
                        };
                        self.slice_text(text, offset, length).map(Some)
                    }
                    _ => Ok(None),
                }
            }
            (ParamOp::Slice { offset, length }, ParamName::Var(var), Some(Subscript::At | Subscript::Star)) => {
                let is_indexed = self.get_var(var).is_some_and(|v| matches!(v.value, Value::Indexed(..)));
                if !is_indexed {
                    return Ok(None);
                }
                // `slice` takes the elements from the variable.
                let value = Val::Many {
                    values: Vec::new(),
                    star: matches!(index, Some(Subscript::Star)),
                };
                self.slice(name, index, value, offset, length.as_deref()).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The value of a parameter without operator.
    pub fn base_value(&mut self, name: &ParamName, index: Option<&Subscript>) -> Run<Val> {
        match name {
            ParamName::Positional(n) => Ok(self
                .st
                .positional
                .get((*n as usize).wrapping_sub(1))
                .map_or(Val::Unset, |v| Val::One(v.clone()))),
            ParamName::Special(c) => Ok(match c {
                b'@' => Val::Many {
                    values: self.st.positional.to_vec(),
                    star: false,
                },
                b'*' => Val::Many {
                    values: self.st.positional.to_vec(),
                    star: true,
                },
                b'#' => Val::One(decimal(self.st.positional.len() as i64)),
                b'?' => Val::One(decimal(i64::from(self.st.status))),
                b'-' => Val::One(self.dollar_dash()),
                b'$' => Val::One(decimal(i64::from(self.pid))),
                b'!' => self
                    .st
                    .last_background
                    .map_or(Val::Unset, |p| Val::One(decimal(i64::from(p)))),
                b'0' => Val::One(self.st.arg0.to_vec()),
                _ => Val::Unset,
            }),
            ParamName::Var(name) => self.var_value(name, index),
        }
    }

    fn var_value(&mut self, name: &[u8], index: Option<&Subscript>) -> Run<Val> {
        match index {
            None => {
                // A nameref may lead to `array[@]`.
                if self.st.vars.get(name).is_some_and(|v| v.has(attr::NAMEREF)) {
                    let place = self.resolve(name);
                    if let Some(i) = place.index {
                        if i == b"@" || i == b"*" {
                            let values = self.get_var(&place.name).map_or(Vec::new(), |v| v.values());
                            return Ok(Val::Many {
                                values,
                                star: i == b"*",
                            });
                        }
                        return Ok(self.get_element_text(&place.name, &i)?.map_or(Val::Unset, Val::One));
                    }
                }
                Ok(self.get_scalar(name).map_or(Val::Unset, Val::One))
            }
            Some(Subscript::At | Subscript::Star) => {
                let star = matches!(index, Some(Subscript::Star));
                let values = if self.refers_to_element(name) {
                    Vec::new()
                } else {
                    self.get_var(name).map_or(Vec::new(), |v| v.values())
                };
                Ok(Val::Many { values, star })
            }
            Some(Subscript::Expr(arith)) => Ok(self.element(name, arith)?.map_or(Val::Unset, Val::One)),
        }
    }

    /// Whether the name is a nameref to an array's element: its length is 0 in bash, and it has no elements.
    fn refers_to_element(&mut self, name: &[u8]) -> bool {
        self.st.vars.get(name).is_some_and(|v| v.has(attr::NAMEREF)) && self.resolve(name).index.is_some()
    }

    /// `name[subscript]`
    pub fn element(&mut self, name: &[u8], subscript: &Arith) -> Run<Option<Vec<u8>>> {
        let place;
        let target = if self.is_reference(name) {
            place = self.resolve(name);
            if place.index.is_some() {
                // An element of an element is nothing.
                return Ok(None);
            }
            place.name.as_slice()
        } else {
            name
        };
        let var = self.get_var(target);
        if let Some(Value::Assoc(array, _)) = var.as_deref().map(|v| &v.value) {
            let key = self.expand_single(&subscript.text)?;
            return Ok(array.get(&key).cloned());
        }
        if subscript.text.raw.is_empty() {
            self.error_bytes(&[name, b": bad array subscript"].concat());
            return Err(self.give_up());
        }
        let n = self.eval_subscript(subscript)?;
        match var {
            Some(var) => Ok(self.element_at(target, &var, n)),
            None => Ok(None),
        }
    }

    #[inline(never)]
    fn indirect(&mut self, param: &Param) -> Run<Indirect> {
        // `${!ref}` of a nameref is the name it refers to.
        if let (ParamName::Var(name), None) = (&param.name, &param.index)
            && let Some(var) = self.st.vars.get(name.as_slice())
            && var.has(attr::NAMEREF)
        {
            if var.text().is_none_or(<[u8]>::is_empty) {
                self.error_bytes(&[name.as_slice(), b": invalid indirect expansion"].concat());
                return Err(self.give_up());
            }
            let last = self.last_reference(name);
            let target = self
                .st
                .vars
                .get(last.as_slice())
                .and_then(|v| v.text().map(<[u8]>::to_vec));
            let target = target.unwrap_or_default();
            return Ok(Indirect::Value(Val::One(target)));
        }
        let value = match self.base_value(&param.name, param.index.as_ref())? {
            Val::One(text) => text,
            Val::Unset => {
                // An array without element 0 is empty, not unset.
                if self.param_var(&param.name).is_some_and(|v| v.is_array()) {
                    return Ok(Indirect::Value(Val::Unset));
                }
                let label = param_label(&param.name, param.index.as_ref());
                self.error(&format!("{label}: invalid indirect expansion"));
                return Err(self.give_up());
            }
            Val::Many { values, .. } => values.join(&b' '),
        };
        if value.is_empty() {
            if let ParamName::Special(b'@' | b'*') = param.name {
                return Ok(Indirect::Value(Val::Unset));
            }
            self.error(": invalid variable name");
            return Err(self.give_up());
        }
        match parse_reference(&value) {
            Some(target) => Ok(Indirect::Target(target)),
            None => {
                self.error_bytes(&[value.as_slice(), b": invalid variable name"].concat());
                Err(self.give_up())
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    #[inline(never)]
    fn test_operator(
        &mut self,
        param: &Param,
        name: &ParamName,
        index: Option<&Subscript>,
        value: Val,
        (op, colon, word): (u8, bool, &Word),
        quoted: bool,
        out: &mut Builder,
    ) -> Run<Option<Val>> {
        let set = match &value {
            Val::Unset => false,
            Val::One(text) => !colon || !text.is_empty(),
            Val::Many { values, star } => {
                if colon {
                    // `${*:-x}` looks at the joined string.
                    !values.is_empty()
                        && !(values.len() == 1 && values[0].is_empty())
                        && !(*star && quoted && values.iter().all(Vec::is_empty) && self.star_separator().is_empty())
                } else {
                    !values.is_empty()
                }
            }
        };
        match op {
            b'-' if set => Ok(Some(value)),
            b'+' if !set => Ok(Some(Val::Unset)),
            b'-' | b'+' => {
                if quoted {
                    let only_list = matches!(word.parts.as_slice(), [part] if super::is_list(part));
                    if !only_list {
                        out.push_quoted(b"");
                    }
                    self.expand_parts(&word.parts, true, out)?;
                } else {
                    let before = out.set_split_literals(true);
                    let result = self.expand_parts(&word.parts, false, out);
                    out.set_split_literals(before);
                    result?;
                }
                Ok(None)
            }
            b'=' if set => Ok(Some(value)),
            b'=' => {
                let ParamName::Var(var) = name else {
                    let label = param_label(name, index);
                    self.error(&format!("${label}: cannot assign in this way"));
                    return Err(self.give_up());
                };
                let text = if quoted {
                    self.expand_arith_text(word)?
                } else {
                    self.expand_single(word)?
                };
                match index {
                    None => self.assign(var, None, text, false)?,
                    Some(Subscript::Expr(e)) => {
                        let key = self.subscript_key(var, e)?;
                        self.assign(var, Some(&key), text, false)?;
                    }
                    Some(_) => {
                        self.error_bytes(&[var.as_slice(), b": bad array subscript"].concat());
                        return Err(self.give_up());
                    }
                }
                // What was assigned is what expands: attributes may have changed it.
                self.base_value(name, index).map(Some)
            }
            _ if set => Ok(Some(value)),
            _ => {
                let text = if quoted {
                    self.expand_arith_text(word)?
                } else {
                    self.expand_single(word)?
                };
                let label = param_label(&param.name, param.index.as_ref());
                let label = if param.indirect { format!("!{label}") } else { label };
                let mut message = label.into_bytes();
                message.extend_from_slice(b": ");
                if text.is_empty() {
                    message.extend_from_slice(if colon {
                        b"parameter null or not set"
                    } else {
                        b"parameter not set"
                    });
                } else {
                    message.extend_from_slice(&text);
                }
                self.error_bytes(&message);
                Err(self.fatal_expansion())
            }
        }
    }

    #[inline(never)]
    fn apply(&mut self, param: &Param, name: &ParamName, index: Option<&Subscript>, value: Val) -> Run<Val> {
        match &param.op {
            ParamOp::None => Ok(value),
            ParamOp::Length => {
                let n = match &value {
                    Val::Unset => 0,
                    Val::One(_) | Val::Many { .. } if matches!(name, ParamName::Var(n) if self.refers_to_element(n)) => {
                        0
                    }
                    Val::One(text) => char_count(text),
                    Val::Many { values, .. } => values.len(),
                };
                Ok(Val::One(decimal(n as i64)))
            }
            ParamOp::Prefix { longest, pattern } => {
                let pattern = self.match_pattern(pattern, false)?;
                Ok(map(value, |text| match pattern.prefix(&text, *longest) {
                    Some(n) => text[n..].to_vec(),
                    None => text,
                }))
            }
            ParamOp::Suffix { longest, pattern } => {
                let pattern = self.match_pattern(pattern, false)?;
                Ok(map(value, |mut text| {
                    if let Some(n) = pattern.suffix(&text, *longest) {
                        text.truncate(n);
                    }
                    text
                }))
            }
            ParamOp::Replace { mode, pattern, with } => self.replace(value, *mode, pattern, with.as_ref()),
            ParamOp::Case { op, all, pattern } => {
                let pattern = match pattern {
                    Some(word) => Some(self.match_pattern(word, false)?),
                    None => None,
                };
                Ok(map(value, |text| case::operator(&text, *op, *all, pattern.as_deref())))
            }
            ParamOp::Slice { offset, length } => self.slice(name, index, value, offset, length.as_deref()),
            ParamOp::Transform(op) => self.transform(*op, name, index, value),
            ParamOp::Bad | ParamOp::Test { .. } | ParamOp::Names { .. } | ParamOp::Keys => Ok(value),
        }
    }

    #[inline(never)]
    fn replace(&mut self, value: Val, mode: ReplaceMode, pattern: &Word, with: Option<&Word>) -> Run<Val> {
        let fold = self.st.shopts.nocasematch;
        let pattern_text = self.expand_pattern(pattern)?;
        let pattern = self.patterns.get(&pattern_text, self.st.shopts.extglob, fold);
        let ampersand = self.st.shopts.patsub_replacement;
        // Pieces of the replacement; `None` is the matched text.
        let mut pieces: Vec<Option<Vec<u8>>> = Vec::new();
        if let Some(word) = with {
            let field = self.expand_marked(word)?;
            for (text, quoted) in field.runs() {
                if quoted || !ampersand {
                    pieces.push(Some(text.to_vec()));
                    continue;
                }
                let mut lit = Vec::new();
                let mut i = 0;
                while i < text.len() {
                    match text[i] {
                        b'\\' if matches!(text.get(i + 1), Some(b'&' | b'\\')) => {
                            lit.push(text[i + 1]);
                            i += 1;
                        }
                        b'&' => {
                            pieces.push(Some(std::mem::take(&mut lit)));
                            pieces.push(None);
                        }
                        c => lit.push(c),
                    }
                    i += 1;
                }
                pieces.push(Some(lit));
            }
        }
        let put = |out: &mut Vec<u8>, matched: &[u8]| {
            for piece in &pieces {
                out.extend_from_slice(piece.as_deref().unwrap_or(matched));
            }
        };
        if miscounted(&pattern_text) {
            return Ok(value);
        }
        if pattern_text.is_empty() && !matches!(mode, ReplaceMode::Prefix | ReplaceMode::Suffix) {
            return Ok(value);
        }
        let plain = pattern.plain().filter(|p| !p.is_empty());
        Ok(map(value, |text| {
            let mut out = Vec::with_capacity(text.len());
            match mode {
                ReplaceMode::Prefix => match pattern.prefix(&text, true) {
                    Some(n) => {
                        put(&mut out, &text[..n]);
                        out.extend_from_slice(&text[n..]);
                    }
                    None => return text,
                },
                ReplaceMode::Suffix => match pattern.suffix(&text, true) {
                    Some(n) => {
                        out.extend_from_slice(&text[..n]);
                        put(&mut out, &text[n..]);
                    }
                    None => return text,
                },
                ReplaceMode::First | ReplaceMode::All => {
                    let mut i = 0;
                    while i < text.len() {
                        let found = match &plain {
                            Some(plain) => text[i..].starts_with(plain).then_some(plain.len()),
                            None => pattern.prefix(&text[i..], true),
                        };
                        match found {
                            Some(0) => {
                                // An empty match: the replacement goes before the character.
                                put(&mut out, b"");
                                if mode == ReplaceMode::First {
                                    break;
                                }
                                let n = decode(&text[i..]).1;
                                out.extend_from_slice(&text[i..i + n]);
                                i += n;
                            }
                            Some(n) => {
                                put(&mut out, &text[i..i + n]);
                                i += n;
                                if mode == ReplaceMode::First {
                                    break;
                                }
                            }
                            _ => {
                                let n = decode(&text[i..]).1;
                                out.extend_from_slice(&text[i..i + n]);
                                i += n;
                            }
                        }
                    }
                    if text.is_empty() && pattern.matches(b"") {
                        put(&mut out, b"");
                    }
                    out.extend_from_slice(&text[i.min(text.len())..]);
                }
            }
            out
        }))
    }

    fn is_scalar(&mut self, name: &ParamName) -> bool {
        matches!(name, ParamName::Var(name) if self.get_var(name).is_some_and(|v| matches!(v.value, Value::Scalar(_))))
    }

    /// Evaluates an offset or a length, whose errors name the parameter.
    fn eval_bound(&mut self, name: &ParamName, index: Option<&Subscript>, arith: &Arith) -> Run<i64> {
        self.eval_arith_with(arith, || param_label(name, index) + ": ")
    }

    fn slice_text(&mut self, text: &[u8], offset: i64, length: Option<(i64, &Arith)>) -> Run<Val> {
        let count = char_count(text) as i64;
        let start = if offset < 0 { count + offset } else { offset };
        if start < 0 || start > count {
            return Ok(Val::One(Vec::new()));
        }
        let end = match length {
            None => count,
            Some((n, _)) if n >= 0 => (start.saturating_add(n)).min(count),
            Some((n, arith)) => {
                let end = count + n;
                if end < start {
                    let raw = String::from_utf8_lossy(&arith.text.raw).into_owned();
                    self.error(&format!("{raw}: substring expression < 0"));
                    return Err(Unwind::Discard(1));
                }
                end
            }
        };
        let from = char_offset(text, start as usize);
        let to = char_offset(text, end as usize);
        Ok(Val::One(text[from..to].to_vec()))
    }

    #[inline(never)]
    fn slice(
        &mut self,
        name: &ParamName,
        index: Option<&Subscript>,
        value: Val,
        offset: &Arith,
        length: Option<&Arith>,
    ) -> Run<Val> {
        let offset = self.eval_bound(name, index, offset)?;
        let length = match length {
            Some(arith) => Some((self.eval_bound(name, index, arith)?, arith)),
            None => None,
        };
        match value {
            Val::Unset => Ok(Val::Unset),
            Val::One(text) => self.slice_text(&text, offset, length),
            // A scalar's `[@]` is its text here.
            Val::Many { values, .. } if self.is_scalar(name) => self.slice_text(&values.concat(), offset, length),
            Val::Many { values, star } => {
                // A start behind the end comes before the length.
                let special = matches!(name, ParamName::Special(_));
                let end = match (name, index) {
                    (ParamName::Var(name), Some(_)) => match self.get_var(name).as_deref().map(|v| &v.value) {
                        Some(Value::Indexed(array, _)) => array.keys().next_back().map_or(0, |k| k + 1),
                        _ => values.len() as i64,
                    },
                    _ => values.len() as i64 + 2 * i64::from(special),
                };
                if let Some((n, arith)) = &length
                    && *n < 0
                    && (-end..end).contains(&offset)
                {
                    let raw = String::from_utf8_lossy(&arith.text.raw).into_owned();
                    self.error(&format!("{raw}: substring expression < 0"));
                    return Err(Unwind::Discard(1));
                }
                let take = length.map_or(usize::MAX, |(n, _)| n.max(0) as usize);
                if let ParamName::Special(_) = name {
                    // Positional parameters count from 1; 0 is `$0`.
                    let count = values.len() as i64;
                    let start = if offset < 0 { count + 1 + offset } else { offset };
                    if start < 0 || start > count {
                        return Ok(Val::Many {
                            values: Vec::new(),
                            star,
                        });
                    }
                    let all = std::iter::once(self.st.arg0.to_vec()).chain(values);
                    let values = all.skip(start as usize).take(take).collect();
                    return Ok(Val::Many { values, star });
                }
                let mut skip = offset;
                if let (ParamName::Var(name), Some(_)) = (name, index) {
                    if let Some(Value::Indexed(array, _)) = self.get_var(name).as_deref().map(|v| &v.value) {
                        // Offsets are indices, also in sparse arrays.
                        let start = if offset < 0 {
                            array.keys().next_back().map_or(0, |k| k + 1) + offset
                        } else {
                            offset
                        };
                        if start < 0 {
                            return Ok(Val::Many {
                                values: Vec::new(),
                                star,
                            });
                        }
                        let values = array.range(start..).map(|(_, v)| v.clone()).take(take).collect();
                        return Ok(Val::Many { values, star });
                    }
                    // Associative arrays and scalars count from 0; bash skips one less for the former.
                    if let Some(Value::Assoc(..)) = self.get_var(name).as_deref().map(|v| &v.value) {
                        skip = if offset > 0 { offset - 1 } else { offset };
                    }
                }
                let count = values.len() as i64;
                let start = if skip < 0 { count + skip } else { skip };
                if start < 0 {
                    return Ok(Val::Many {
                        values: Vec::new(),
                        star,
                    });
                }
                Ok(Val::Many {
                    values: values.into_iter().skip(start as usize).take(take).collect(),
                    star,
                })
            }
        }
    }

    /// The number that a subscript is.
    fn eval_subscript(&mut self, subscript: &Arith) -> Run<i64> {
        if subscript.text.raw.contains(&b'\'') {
            return self.eval_subscript_text(&subscript.text.raw);
        }
        self.eval_arith(subscript).map_err(Unwind::to_top)
    }

    /// A subscript as the key that `assign` takes: expanded for associative arrays, else the number's text.
    pub fn subscript_key(&mut self, name: &[u8], subscript: &Arith) -> Run<Vec<u8>> {
        let place;
        let target = if self.is_reference(name) {
            place = self.resolve(name);
            place.name.as_slice()
        } else {
            name
        };
        let is_assoc = self
            .st
            .vars
            .get(target)
            .is_some_and(|v| matches!(v.value, Value::Assoc(..)));
        if is_assoc {
            let key = self.expand_single(&subscript.text)?;
            if key.is_empty() {
                self.error_bytes(&[name, b"[", &subscript.text.raw, b"]: bad array subscript"].concat());
                return Err(self.give_up());
            }
            return Ok(key);
        }
        if subscript.text.raw.iter().all(|c| c.is_ascii_whitespace()) {
            self.error_bytes(&[name, b"[]: bad array subscript"].concat());
            return Err(self.give_up());
        }
        Ok(decimal(self.eval_subscript(subscript)?))
    }

    /// The variable of a parameter name, for its attributes.
    pub fn param_var(&mut self, name: &ParamName) -> Option<Rc<Var>> {
        match name {
            ParamName::Var(name) => {
                let place = self.resolve(name);
                self.get_var(&place.name)
            }
            _ => None,
        }
    }
}

/// bash counts the length of what a pattern matches before it looks for a match, and takes the `]` of `[^]…]` and
/// `[!]…]` for the end of the bracket: such a pattern matches nothing, unless its length varies.
fn miscounted(pattern: &[u8]) -> bool {
    let mut found = false;
    let mut i = 0;
    while i < pattern.len() {
        match pattern[i] {
            b'\\' => i += 1,
            b'*' => return false,
            b'(' if i > 0 && matches!(pattern[i - 1], b'?' | b'+' | b'@' | b'!') => return false,
            b'[' => {
                let negated = matches!(pattern.get(i + 1), Some(b'^' | b'!'));
                let first = i + 1 + usize::from(negated);
                let Some(end) = pattern.iter().skip(first + 1).position(|&c| c == b']') else {
                    i += 1;
                    continue;
                };
                found |= negated && pattern.get(first) == Some(&b']');
                i = first + 1 + end;
            }
            _ => {}
        }
        i += 1;
    }
    found
}

/// Appends the values as quoted fields.
fn push_each<'v>(values: impl Iterator<Item = &'v Vec<u8>>, out: &mut Builder) {
    for (i, value) in values.enumerate() {
        if i > 0 {
            out.break_field(true);
        }
        out.push_element(value);
    }
}

enum Indirect {
    Value(Val),
    Target(Target),
}

/// Reads what an indirect expansion names: a variable, an element, a positional or special parameter.
fn parse_reference(text: &[u8]) -> Option<Target> {
    if text.iter().all(u8::is_ascii_digit) {
        let n: u32 = std::str::from_utf8(text).ok()?.parse().ok()?;
        let name = if n == 0 {
            ParamName::Special(b'0')
        } else {
            ParamName::Positional(n)
        };
        return Some(Target { name, index: None });
    }
    if let [c @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')] = text {
        return Some(Target {
            name: ParamName::Special(*c),
            index: None,
        });
    }
    if let Some(open) = text.iter().position(|&c| c == b'[') {
        let name = &text[..open];
        if !crate::parse::is_name(name) || !text.ends_with(b"]") {
            return None;
        }
        let inner = &text[open + 1..text.len() - 1];
        let index = match inner {
            b"@" => Subscript::At,
            b"*" => Subscript::Star,
            _ => {
                let mut parser = crate::parse::Parser::new(inner.to_vec(), 1, Rc::from(&b""[..]));
                let word = parser.subscript_word().ok()?;
                Subscript::Expr(Box::new(Arith::new(word)))
            }
        };
        return Some(Target {
            name: ParamName::Var(name.to_vec()),
            index: Some(index),
        });
    }
    crate::parse::is_name(text).then(|| Target {
        name: ParamName::Var(text.to_vec()),
        index: None,
    })
}

fn map(value: Val, mut change: impl FnMut(Vec<u8>) -> Vec<u8>) -> Val {
    match value {
        Val::Unset => Val::One(change(Vec::new())),
        Val::One(text) => Val::One(change(text)),
        Val::Many { values, star } => Val::Many {
            values: values.into_iter().map(change).collect(),
            star,
        },
    }
}

/// Whether the list of a `[@]` with this operator is joined by IFS, not by blanks, where it is assigned.
fn joins_by_ifs(param: &Param, quoted: bool) -> bool {
    match param.op {
        ParamOp::Prefix { .. } | ParamOp::Suffix { .. } | ParamOp::Case { .. } | ParamOp::Keys => true,
        ParamOp::Transform(op) => op != b'A',
        ParamOp::Replace { .. } | ParamOp::Slice { .. } => quoted || param.index.is_some(),
        _ => false,
    }
}

/// How messages name a parameter.
fn param_label(name: &ParamName, index: Option<&Subscript>) -> String {
    let mut label = match name {
        ParamName::Var(name) => String::from_utf8_lossy(name).into_owned(),
        ParamName::Positional(n) => n.to_string(),
        ParamName::Special(c) => (*c as char).to_string(),
    };
    match index {
        None => {}
        Some(Subscript::At) => label.push_str("[@]"),
        Some(Subscript::Star) => label.push_str("[*]"),
        Some(Subscript::Expr(e)) => {
            label.push('[');
            label.push_str(&String::from_utf8_lossy(&e.text.raw));
            label.push(']');
        }
    }
    label
}
