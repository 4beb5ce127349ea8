//! Reading and assigning variables: namerefs, attributes, array elements, variables with effects.

use super::vars::{Assoc, Indexed, Name, Value, Var, attr};
use crate::shell::{Run, Shell, Unwind};
use std::rc::Rc;

/// Namerefs followed one after the other, as in bash.
const MAX_REFERENCES: usize = 8;

/// Indices above this are refused: sparse arrays are fine, but a count must stay a number.
const MAX_INDEX: i64 = i64::MAX - 1;

/// Where a name leads after following namerefs.
pub struct Place {
    pub name: Vec<u8>,
    /// Subscript of the nameref's target.
    pub index: Option<Vec<u8>>,
}

impl Shell {
    /// The text of a variable that is neither computed nor a nameref; the quick way for the usual case.
    pub fn plain_scalar(&self, name: &[u8]) -> Option<&[u8]> {
        let var = self.st.vars.get(name)?;
        if var.attrs & (attr::DYNAMIC | attr::NAMEREF) != 0 {
            return None;
        }
        var.text()
    }

    /// Whether the name is a nameref's: what is none needs no `resolve`.
    pub fn is_reference(&self, name: &[u8]) -> bool {
        self.st.vars.get(name).is_some_and(|v| v.has(attr::NAMEREF))
    }

    /// Follows namerefs.
    #[inline(never)]
    pub fn resolve(&mut self, name: &[u8]) -> Place {
        let first = name.to_vec();
        let mut name = name.to_vec();
        for hop in 0.. {
            let Some(var) = self.st.vars.get(name.as_slice()) else {
                break;
            };
            if !var.has(attr::NAMEREF) {
                break;
            }
            let Some(target) = var.text().filter(|t| !t.is_empty()) else {
                break;
            };
            if target == name.as_slice() {
                // A local nameref to its own name means the outer variable; there is only one table, so stop.
                break;
            }
            if hop >= MAX_REFERENCES || target == first.as_slice() {
                let shown = String::from_utf8_lossy(&first).into_owned();
                self.error(&format!("warning: {shown}: circular name reference"));
                return Place {
                    name: Vec::new(),
                    index: None,
                };
            }
            if let Some(open) = target.iter().position(|&c| c == b'[')
                && target.ends_with(b"]")
            {
                return Place {
                    name: target[..open].to_vec(),
                    index: Some(target[open + 1..target.len() - 1].to_vec()),
                };
            }
            name = target.to_vec();
        }
        Place { name, index: None }
    }

    /// The last nameref of a chain that begins with `name`.
    pub fn last_reference(&self, name: &[u8]) -> Vec<u8> {
        let mut name = name.to_vec();
        for _ in 0..MAX_REFERENCES {
            let target = self.st.vars.get(name.as_slice()).and_then(|v| v.text());
            match target.and_then(|t| self.st.vars.get_key_value(t)) {
                Some((next, var)) if var.has(attr::NAMEREF) && **next != *name => name = next.to_vec(),
                _ => break,
            }
        }
        name
    }

    /// The variable behind a name, computed when it is dynamic. Namerefs are followed unless they name an element.
    #[inline(never)]
    pub fn get_var(&mut self, name: &[u8]) -> Option<Rc<Var>> {
        let var = self.st.vars.get(name)?;
        if var.attrs & (attr::DYNAMIC | attr::NAMEREF) == 0 {
            return Some(var.clone());
        }
        let place = self.resolve(name);
        if let Some(index) = place.index {
            let value = self.get_element_text(&place.name, &index).ok()??;
            return Some(Rc::new(Var::scalar(value)));
        }
        let var = self.st.vars.get(place.name.as_slice())?.clone();
        if var.has(attr::DYNAMIC) {
            return Some(Rc::new(Var {
                value: self.dynamic_value(&place.name),
                attrs: var.attrs,
                scope: var.scope,
            }));
        }
        Some(var)
    }

    /// What `$name` gives.
    pub fn get_scalar(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        if let Some(var) = self.st.vars.get(name)
            && var.attrs & (attr::DYNAMIC | attr::NAMEREF) == 0
        {
            return var.text().map(<[u8]>::to_vec);
        }
        self.get_var(name)?.text().map(<[u8]>::to_vec)
    }

    /// An element whose subscript is text: a key, or an expression.
    pub fn get_element_text(&mut self, name: &[u8], index: &[u8]) -> Run<Option<Vec<u8>>> {
        let place;
        let name = if self.is_reference(name) {
            place = self.resolve(name);
            place.name.as_slice()
        } else {
            name
        };
        let Some(var) = self.get_var(name) else {
            self.eval_subscript_text(index)?;
            return Ok(None);
        };
        match &var.value {
            Value::Assoc(array, _) => {
                let key = self.unquote_key(index)?;
                Ok(array.get(&key).cloned())
            }
            _ => {
                if index.is_empty() {
                    self.error_bytes(&[name, b": bad array subscript"].concat());
                    return Ok(None);
                }
                let n = self.eval_subscript_text(index)?;
                Ok(self.element_at(name, &var, n))
            }
        }
    }

    /// Element `n` of an indexed array or a scalar; negative numbers count from the end.
    pub fn element_at(&mut self, name: &[u8], var: &Var, n: i64) -> Option<Vec<u8>> {
        match &var.value {
            Value::Indexed(array, _) => {
                let n = if n < 0 {
                    let last = array.keys().next_back().map_or(0, |k| k + 1);
                    if n + last < 0 {
                        self.error_bytes(&[name, b": bad array subscript"].concat());
                        return None;
                    }
                    n + last
                } else {
                    n
                };
                array.get(&n).cloned()
            }
            Value::Scalar(text) if n == 0 => Some(text.clone()),
            Value::Scalar(_) if n < 0 => {
                self.error_bytes(&[name, b": bad array subscript"].concat());
                None
            }
            _ => None,
        }
    }

    /// A subscript's text as a key: quotes removed, as when it stood in an arithmetic expression.
    fn unquote_key(&mut self, index: &[u8]) -> Run<Vec<u8>> {
        if self.st.shopts.assoc_expand_once || !index.iter().any(|c| matches!(c, b'"' | b'\'' | b'\\' | b'$' | b'`')) {
            return Ok(index.to_vec());
        }
        self.expand_subscript_text(index)
    }

    /// Assigns a scalar, or element 0 of an array.
    pub fn set_scalar(&mut self, name: &[u8], value: Vec<u8>) -> Run<()> {
        if let Some(slot) = self.plain_slot(name) {
            Rc::make_mut(slot).value = Value::Scalar(value);
            return Ok(());
        }
        self.assign(name, None, value, false)
    }

    /// The same for a number, in the memory of the value before.
    pub fn set_number(&mut self, name: &[u8], value: i64) -> Run<()> {
        if let Some(slot) = self.plain_slot(name) {
            match &mut Rc::make_mut(slot).value {
                Value::Scalar(text) => {
                    text.clear();
                    crate::arith::write_decimal(value, text);
                }
                other => *other = Value::Scalar(crate::arith::decimal(value)),
            }
            return Ok(());
        }
        self.assign(name, None, crate::arith::decimal(value), false)
    }

    /// The usual case of an assignment: an existing variable that is neither an array nor has attributes or effects.
    fn plain_slot(&mut self, name: &[u8]) -> Option<&mut Rc<Var>> {
        if self.st.opts.allexport || has_effect(name) {
            return None;
        }
        Rc::make_mut(&mut self.st.vars)
            .get_mut(name)
            .filter(|slot| slot.attrs & !attr::TRACE == 0 && !slot.is_array())
    }

    /// Assigns the scalar or the element of that subscript text.
    pub fn set_element_text(&mut self, name: &[u8], index: &[u8], value: Vec<u8>, append: bool) -> Run<()> {
        let place;
        let name = if self.is_reference(name) {
            place = self.resolve(name);
            place.name.as_slice()
        } else {
            name
        };
        if self
            .st
            .vars
            .get(name)
            .is_some_and(|v| matches!(v.value, Value::Assoc(..)))
        {
            let key = self.unquote_key(index)?;
            return self.assign(name, Some(&key), value, append);
        }
        self.assign(name, Some(index), value, append)
    }

    /// The general assignment. `index` is a key, or an expression for indexed arrays.
    #[inline(never)]
    pub fn assign(&mut self, name: &[u8], index: Option<&[u8]>, value: Vec<u8>, append: bool) -> Run<()> {
        let place = self.is_reference(name).then(|| self.resolve(name));
        if place.as_ref().is_some_and(|p| p.name.is_empty()) {
            return Err(Unwind::Discard(1));
        }
        // A subscript in a nameref's target is text that has not been expanded yet.
        let target_index = match place.as_ref().and_then(|p| p.index.as_ref()) {
            Some(text) => Some(self.unquote_key(text)?),
            None => None,
        };
        let index = match (&target_index, index) {
            (None, i) => i,
            (Some(i), None) => Some(i.as_slice()),
            (Some(_), Some(_)) => {
                self.error_bytes(&[name, b": bad array subscript"].concat());
                return Err(self.give_up());
            }
        };
        let name = place.as_ref().map_or(name, |p| p.name.as_slice());
        let (attrs, is_assoc, is_array) = match self.st.vars.get(name) {
            Some(v) => (v.attrs, matches!(v.value, Value::Assoc(..)), v.is_array()),
            None => (0, false, false),
        };
        let is_nameref = attrs & attr::NAMEREF != 0;
        if is_nameref {
            if index.is_some() {
                // An array element through a nameref without a target makes it an array.
            } else if !valid_reference(&value) {
                self.error_bytes(&[b"`", value.as_slice(), b"': not a valid identifier"].concat());
                return Err(Unwind::Discard(1));
            }
        }
        if !crate::parse::is_name(name) {
            self.error_bytes(&[b"`", name, b"': not a valid identifier"].concat());
            return Err(Unwind::Discard(1));
        }
        if let Some(i @ (b"@" | b"*")) = target_index.as_deref() {
            self.error_bytes(&[name, b"[", i, b"]: bad array subscript"].concat());
            return Err(self.give_up());
        }
        if attrs & attr::READONLY != 0 {
            self.error_bytes(&[name, b": readonly variable"].concat());
            return Err(self.give_up());
        }
        // The key first: its evaluation may change variables.
        let key = match index {
            Some(index) if is_assoc => Some(Key::Text(index.to_vec())),
            Some(index) => {
                let n = self.eval_subscript_text(index)?;
                Some(Key::Number(self.array_index(name, n, index)?))
            }
            None if is_assoc => Some(Key::Text(b"0".to_vec())),
            None if is_array => Some(Key::Number(0)),
            None => None,
        };
        let dynamic = (append && attrs & attr::DYNAMIC != 0).then(|| self.dynamic_value(name));
        let old = if append {
            match (&key, dynamic.as_ref().or(self.st.vars.get(name).map(|v| &v.value))) {
                (Some(Key::Text(k)), Some(Value::Assoc(a, _))) => a.get(k).cloned(),
                (Some(Key::Number(n)), Some(Value::Indexed(a, _))) => a.get(n).cloned(),
                (Some(Key::Number(0)), Some(Value::Scalar(t))) => Some(t.clone()),
                (None, Some(Value::Scalar(_)))
                    if attrs & (attr::INTEGER | attr::UPPER | attr::LOWER | attr::CAPITAL | attr::DYNAMIC) == 0 =>
                {
                    // Appending in place keeps a growing string linear.
                    if let Some(slot) = Rc::make_mut(&mut self.st.vars).get_mut(name)
                        && let Value::Scalar(text) = &mut Rc::make_mut(slot).value
                    {
                        text.extend_from_slice(&value);
                    }
                    if self.st.opts.allexport {
                        if let Some(slot) = Rc::make_mut(&mut self.st.vars).get_mut(name) {
                            Rc::make_mut(slot).attrs |= attr::EXPORT;
                        }
                        self.env_cache = None;
                    }
                    self.after_assignment(name, attrs);
                    return Ok(());
                }
                (None, Some(Value::Scalar(t))) => Some(t.clone()),
                _ => None,
            }
        } else {
            None
        };
        let value = if attrs == 0 && old.is_none() {
            value
        } else {
            self.with_attributes(attrs, old, value)?
        };
        if self.special_assignment(name, key.as_ref(), &value) {
            return Ok(());
        }
        let allexport = self.st.opts.allexport;
        let vars = Rc::make_mut(&mut self.st.vars);
        let slot = match vars.get_mut(name) {
            Some(slot) => slot,
            None => {
                let key: Name = name.into();
                vars.entry(key).or_default()
            }
        };
        let var = Rc::make_mut(slot);
        if allexport && key.is_none() {
            var.attrs |= attr::EXPORT;
        }
        match key {
            None => var.value = Value::Scalar(value),
            Some(Key::Text(k)) => {
                if let Value::Assoc(array, set) = &mut var.value {
                    array.insert(k, value);
                    *set = true;
                }
            }
            Some(Key::Number(n)) => {
                if is_nameref {
                    var.attrs &= !attr::NAMEREF;
                    var.value = Value::Unset;
                }
                indexed(var).insert(n, value);
            }
        }
        let attrs = var.attrs;
        self.after_assignment(name, attrs);
        Ok(())
    }

    /// Turns an index into a position, negative ones counted from the end.
    fn array_index(&mut self, name: &[u8], n: i64, text: &[u8]) -> Run<i64> {
        let n = if n < 0 {
            let last = match self.st.vars.get(name).map(|v| &v.value) {
                Some(Value::Indexed(array, _)) => array.keys().next_back().map_or(0, |k| k + 1),
                Some(Value::Scalar(_)) => 1,
                _ => 0,
            };
            n + last
        } else {
            n
        };
        if !(0..=MAX_INDEX).contains(&n) {
            self.error_bytes(&[name, b"[", text, b"]: bad array subscript"].concat());
            return Err(self.give_up());
        }
        Ok(n)
    }

    /// Applies integer and case attributes to a value being assigned.
    pub fn with_attributes(&mut self, attrs: u16, old: Option<Vec<u8>>, value: Vec<u8>) -> Run<Vec<u8>> {
        if attrs & attr::INTEGER != 0 {
            let mut n = self.eval_inner(&value)?;
            if let Some(old) = old {
                n = n.wrapping_add(self.eval_inner(&old)?);
            }
            return Ok(crate::arith::decimal(n));
        }
        let mut text = old.unwrap_or_default();
        text.extend_from_slice(&value);
        Ok(if attrs & attr::UPPER != 0 {
            crate::expand::case::upper(&text)
        } else if attrs & attr::LOWER != 0 {
            crate::expand::case::lower(&text)
        } else if attrs & attr::CAPITAL != 0 {
            crate::expand::case::capital(&text)
        } else {
            text
        })
    }

    /// Effects of an assignment on the shell itself.
    pub fn after_assignment(&mut self, name: &[u8], attrs: u16) {
        if attrs & attr::EXPORT != 0 {
            self.env_cache = None;
        }
        match name {
            b"PATH" => self.path_changed(),
            b"OPTIND" => {
                let index = self
                    .st
                    .vars
                    .get(name)
                    .and_then(|v| v.text().and_then(crate::arith::integer))
                    .unwrap_or(1);
                self.st.getopts = super::Getopts {
                    index: index.max(1) as usize,
                    offset: 0,
                };
            }
            b"POSIXLY_CORRECT" => self.set_posix(true),
            b"GLOBIGNORE" => self.globignore_changed(),
            b"BASH_COMPAT" => self.compat_changed(),
            b"HISTSIZE" | b"HISTFILESIZE" => self.history_sizes_changed(name),
            b"LC_ALL" | b"LC_CTYPE" | b"LANG" => self.locale_changed(),
            _ => {}
        }
    }

    /// Looks at LC_ALL, LC_CTYPE and LANG: only an explicit C or POSIX means bytes.
    pub fn locale_changed(&mut self) {
        let value = [&b"LC_ALL"[..], b"LC_CTYPE", b"LANG"].iter().find_map(|name| {
            self.plain_scalar(name)
                .filter(|v| !v.is_empty())
                .map(|v| v == b"C" || v == b"POSIX")
        });
        crate::pattern::set_byte_locale(value.unwrap_or(false));
    }

    /// Replaces a variable's value by an indexed array; attributes stay.
    pub fn set_array(&mut self, name: &[u8], values: Vec<Vec<u8>>) -> Run<()> {
        let array: Indexed = values.into_iter().enumerate().map(|(i, v)| (i as i64, v)).collect();
        self.set_value(name, Value::Indexed(array, true))
    }

    /// Replaces a variable's value; attributes stay.
    pub fn set_value(&mut self, name: &[u8], value: Value) -> Run<()> {
        let place = self.resolve(name);
        if self
            .st
            .vars
            .get(place.name.as_slice())
            .is_some_and(|v| v.has(attr::READONLY))
        {
            self.error_bytes(&[place.name.as_slice(), b": readonly variable"].concat());
            return Err(self.give_up());
        }
        let dynamic = self
            .st
            .vars
            .get(place.name.as_slice())
            .is_some_and(|v| v.has(attr::DYNAMIC));
        if dynamic {
            // Only elements can be assigned.
            match value {
                Value::Indexed(array, _) => {
                    for (n, text) in array {
                        self.special_assignment(&place.name, Some(&Key::Number(n)), &text);
                    }
                }
                Value::Assoc(array, _) => {
                    for (key, text) in array.entries() {
                        self.special_assignment(&place.name, Some(&Key::Text(key.clone())), text);
                    }
                }
                _ => {}
            }
            return Ok(());
        }
        let vars = Rc::make_mut(&mut self.st.vars);
        let slot = vars.entry(place.name.as_slice().into()).or_default();
        let var = Rc::make_mut(slot);
        var.value = value;
        let attrs = var.attrs;
        self.after_assignment(&place.name, attrs);
        Ok(())
    }

    /// Sets an exported variable without checks, for the shell's own use.
    pub fn set_exported(&mut self, name: &[u8], value: &[u8]) {
        let vars = Rc::make_mut(&mut self.st.vars);
        let slot = vars.entry(name.into()).or_default();
        let var = Rc::make_mut(slot);
        var.value = Value::Scalar(value.to_vec());
        var.attrs |= attr::EXPORT;
        self.env_cache = None;
    }

    /// Removes an element; the subscript is text. `Ok(false)` when the variable is readonly.
    pub fn unset_element(&mut self, name: &[u8], index: &[u8]) -> Run<bool> {
        let place = self.resolve(name);
        let name = place.name.as_slice();
        let Some(var) = self.st.vars.get(name).cloned() else {
            return Ok(true);
        };
        if var.has(attr::READONLY) {
            return Ok(false);
        }
        match &var.value {
            Value::Assoc(..) => {
                let key = self.unquote_key(index)?;
                if let Some(slot) = Rc::make_mut(&mut self.st.vars).get_mut(name)
                    && let Value::Assoc(array, _) = &mut Rc::make_mut(slot).value
                {
                    array.remove(&key);
                }
            }
            Value::Indexed(..) => {
                if index == b"@" || index == b"*" {
                    if let Some(slot) = Rc::make_mut(&mut self.st.vars).get_mut(name) {
                        Rc::make_mut(slot).value = Value::Indexed(Indexed::new(), true);
                    }
                    return Ok(true);
                }
                let n = self.eval_inner(index)?;
                let n = self.array_index(name, n, index)?;
                if let Some(slot) = Rc::make_mut(&mut self.st.vars).get_mut(name)
                    && let Value::Indexed(array, _) = &mut Rc::make_mut(slot).value
                {
                    array.remove(&n);
                }
            }
            Value::Scalar(_) => {
                if self.eval_inner(index)? == 0 {
                    self.unset_var(name);
                } else {
                    self.error_bytes(&[b"unset: ", name, b": not an array variable"].concat());
                    return Err(Unwind::Discard(1));
                }
            }
            Value::Unset => {}
        }
        Ok(true)
    }
}

/// Variables whose assignment does more than store a value.
fn has_effect(name: &[u8]) -> bool {
    matches!(name.first(), Some(b'P' | b'O' | b'L' | b'H' | b'G' | b'B'))
        && matches!(
            name,
            b"PATH"
                | b"OPTIND"
                | b"GLOBIGNORE"
                | b"BASH_COMPAT"
                | b"POSIXLY_CORRECT"
                | b"HISTSIZE"
                | b"HISTFILESIZE"
                | b"LC_ALL"
                | b"LC_CTYPE"
                | b"LANG"
        )
}

/// Which element.
pub enum Key {
    Text(Vec<u8>),
    Number(i64),
}

/// The variable's elements; a scalar becomes element 0.
pub fn indexed(var: &mut Var) -> &mut Indexed {
    match std::mem::take(&mut var.value) {
        Value::Indexed(array, _) => var.value = Value::Indexed(array, true),
        Value::Scalar(text) => var.value = Value::Indexed(Indexed::from([(0, text)]), true),
        _ => var.value = Value::Indexed(Indexed::new(), true),
    }
    match &mut var.value {
        Value::Indexed(array, _) => array,
        // Just set above.
        _ => unreachable!(),
    }
}

/// The variable's elements by key; a scalar becomes element "0".
pub fn assoc(var: &mut Var) -> &mut Assoc {
    match std::mem::take(&mut var.value) {
        Value::Assoc(array, _) => var.value = Value::Assoc(array, true),
        Value::Scalar(text) => {
            let mut array = Assoc::default();
            array.insert(b"0".to_vec(), text);
            var.value = Value::Assoc(array, true);
        }
        _ => var.value = Value::Assoc(Assoc::default(), true),
    }
    match &mut var.value {
        Value::Assoc(array, _) => array,
        // Just set above.
        _ => unreachable!(),
    }
}

/// Whether the text may be a nameref's target: a name, with or without a subscript.
pub fn valid_reference(text: &[u8]) -> bool {
    match text.iter().position(|&c| c == b'[') {
        Some(open) => crate::parse::is_name(&text[..open]) && text.ends_with(b"]") && text.len() > open + 2,
        None => crate::parse::is_name(text),
    }
}
