//! Assignment statements and array literals.

use crate::ast::{Arith, Assign, AssignValue, Element, Part, Subscript, Word};
use crate::shell::{Run, Shell, Unwind};
use crate::state::access::indexed;
use crate::state::vars::{Assoc, Indexed, Value, attr};
use std::rc::Rc;

impl Shell {
    /// Carries out an assignment; its value as text, for `set -x`.
    #[inline(never)]
    pub fn run_assign(&mut self, assign: &Assign) -> Run<()> {
        match &assign.value {
            AssignValue::Scalar(word) => {
                let value = self.expand_assigned(word)?;
                if self.st.opts.xtrace {
                    self.trace_assignment(assign, &value);
                }
                match &assign.index {
                    None if assign.append => self.assign(&assign.name, None, value, true),
                    None => self.set_scalar(&assign.name, value),
                    Some(Subscript::Expr(e)) => {
                        let key = self.subscript_key(&assign.name, e)?;
                        self.assign(&assign.name, Some(&key), value, assign.append)
                    }
                    Some(other) => {
                        let key: &[u8] = if matches!(other, Subscript::At) { b"@" } else { b"*" };
                        let place = self.resolve(&assign.name);
                        if self
                            .st
                            .vars
                            .get(place.name.as_slice())
                            .is_some_and(|v| matches!(v.value, Value::Assoc(..)))
                        {
                            return self.assign(&assign.name, Some(key), value, assign.append);
                        }
                        self.error_bytes(&[&assign.name, &b"["[..], key, b"]: bad array subscript"].concat());
                        Err(self.give_up())
                    }
                }
            }
            AssignValue::Array(_) if assign.index.is_some() => {
                let mut text = Vec::new();
                crate::print::assignment_target(assign, &mut text);
                self.error_bytes(&[text.as_slice(), b": cannot assign list to array member"].concat());
                Err(self.give_up())
            }
            AssignValue::Array(elements) => {
                if self.st.opts.xtrace {
                    self.trace_array(assign, elements);
                }
                self.assign_array(&assign.name, elements, assign.append)
            }
        }
    }

    /// `name=(…)` and `name+=(…)`.
    #[inline(never)]
    pub fn assign_array(&mut self, name: &[u8], elements: &[Element], append: bool) -> Run<()> {
        let place = self.resolve(name);
        if place.index.is_some() {
            self.error_bytes(&[name, b": cannot assign list to array member"].concat());
            return Err(self.give_up());
        }
        let name = place.name;
        let var = self.st.vars.get(name.as_slice()).cloned();
        let attrs = var.as_ref().map_or(0, |v| v.attrs);
        if attrs & attr::READONLY != 0 {
            self.error_bytes(&[name.as_slice(), b": readonly variable"].concat());
            return Err(self.give_up());
        }
        let is_assoc = var.as_ref().is_some_and(|v| matches!(v.value, Value::Assoc(..)));
        // The elements are replaced in place, which nobody else must hold.
        drop(var);
        if is_assoc {
            let values = self.assoc_elements(&name, elements, append, attrs)?;
            return self.set_value(&name, Value::Assoc(values, true));
        }
        if append && attrs & !attr::EXPORT == 0 && elements.iter().all(|e| e.index.is_none()) {
            return self.append_elements(&name, elements);
        }
        let values = self.indexed_elements(&name, elements, append, attrs)?;
        self.set_value(&name, Value::Indexed(values, true))
    }

    /// `name+=(word …)` in place, so that an array grows in time proportional to what is added.
    fn append_elements(&mut self, name: &[u8], elements: &[Element]) -> Run<()> {
        let mut fields = Vec::with_capacity(elements.len());
        for element in elements {
            self.expand_word_into(&element.value, &mut fields)?;
        }
        let vars = Rc::make_mut(&mut self.st.vars);
        let slot = match vars.get_mut(name) {
            Some(slot) => slot,
            None => vars.entry(name.into()).or_default(),
        };
        let var = Rc::make_mut(slot);
        let array = indexed(var);
        let next = array.keys().next_back().map_or(0, |k| k + 1);
        array.extend((next..).zip(fields));
        let attrs = var.attrs;
        self.after_assignment(name, attrs);
        Ok(())
    }

    fn indexed_elements(&mut self, name: &[u8], elements: &[Element], append: bool, attrs: u16) -> Run<Indexed> {
        if !append && attrs == 0 && elements.iter().all(|e| e.index.is_none()) {
            let mut fields = Vec::with_capacity(elements.len());
            for element in elements {
                self.expand_word_into(&element.value, &mut fields)?;
            }
            return Ok((0..).zip(fields).collect());
        }
        // The right-hand side still sees the old value.
        let mut array = Indexed::new();
        if append && let Some(var) = self.st.vars.get(name) {
            let mut old = (**var).clone();
            if !matches!(old.value, Value::Unset) {
                array = std::mem::take(indexed(&mut old));
            }
        }
        // All values are expanded before the first index is looked at.
        let mut values: Vec<(Option<&Arith>, Vec<Vec<u8>>)> = Vec::with_capacity(elements.len());
        for element in elements {
            let mut fields = Vec::new();
            let Some(Subscript::Expr(e)) = &element.index else {
                self.expand_word_into(&element.value, &mut fields)?;
                values.push((None, fields));
                continue;
            };
            // `[1]={a,b}` is expanded to the plain words `[1]=a` and `[1]=b`.
            let Some(words) = self.brace_words(&element.value)? else {
                fields.push(self.expand_single(&element.value)?);
                values.push((Some(e), fields));
                continue;
            };
            for parts in words {
                let mut whole = vec![Part::Lit(b"[".to_vec())];
                whole.extend(e.text.parts.iter().cloned());
                whole.push(Part::Lit(if element.append {
                    b"]+=".to_vec()
                } else {
                    b"]=".to_vec()
                }));
                whole.extend(parts);
                fields.push(self.expand_single_parts(&whole)?);
            }
            values.push((None, fields));
        }
        let mut next = array.keys().next_back().map_or(0, |k| k + 1);
        for (element, (index, fields)) in elements.iter().zip(values) {
            let Some(e) = index else {
                for field in fields {
                    let value = if attrs == 0 {
                        field
                    } else {
                        self.with_attributes(attrs, None, field)?
                    };
                    array.insert(next, value);
                    next += 1;
                }
                continue;
            };
            let plain = |text: &&[u8]| !text.starts_with(b"0") || *text == b"0";
            let mut n = match e.text.literal().filter(plain).and_then(crate::arith::integer) {
                Some(n) => n,
                None => {
                    // The expression sees the elements assigned so far.
                    self.set_value(name, Value::Indexed(array, true))?;
                    let n = self.eval_arith(e).map_err(Unwind::to_top)?;
                    array = self.take_indexed(name);
                    n
                }
            };
            if n < 0 {
                n += array.keys().next_back().map_or(0, |k| k + 1);
            }
            if n < 0 {
                self.error_bytes(&[b"[", &e.text.raw[..], b"]: bad array subscript"].concat());
                return Err(self.give_up());
            }
            let old = if element.append { array.get(&n).cloned() } else { None };
            let value = self.with_attributes(attrs, old, fields.into_iter().next().unwrap_or_default())?;
            array.insert(n, value);
            next = n + 1;
        }
        Ok(array)
    }

    /// Takes the elements out of the variable for a while.
    pub fn take_indexed(&mut self, name: &[u8]) -> Indexed {
        match Rc::make_mut(&mut self.st.vars).get_mut(name) {
            Some(slot) => std::mem::take(indexed(Rc::make_mut(slot))),
            None => Indexed::new(),
        }
    }

    fn assoc_elements(&mut self, name: &[u8], elements: &[Element], append: bool, attrs: u16) -> Run<Assoc> {
        let mut array = Assoc::default();
        if append && let Some(Value::Assoc(old, _)) = self.st.vars.get(name).map(|v| &v.value) {
            array = old.clone();
        }
        if elements.iter().all(|e| e.index.is_none()) {
            // Keys and values in turn.
            let mut fields = Vec::new();
            for element in elements {
                fields.push(self.expand_without_tildes(&element.value)?);
            }
            let mut it = fields.into_iter();
            while let Some(key) = it.next() {
                let value = self.with_attributes(attrs, None, it.next().unwrap_or_default())?;
                array.insert(key, value);
            }
            return Ok(array);
        }
        for element in elements {
            let Some(Subscript::Expr(e)) = &element.index else {
                self.error_bytes(
                    &[
                        name,
                        b": ",
                        &element.value.raw[..],
                        b": must use subscript when assigning associative array",
                    ]
                    .concat(),
                );
                continue;
            };
            let key = self.expand_single(&e.text)?;
            if key.is_empty() {
                self.error_bytes(
                    &[
                        b"[",
                        &e.text.raw[..],
                        b"]=",
                        &element.value.raw[..],
                        b": bad array subscript",
                    ]
                    .concat(),
                );
                return Err(self.give_up());
            }
            let value = self.expand_without_tildes(&element.value)?;
            let old = if element.append { array.get(&key).cloned() } else { None };
            let value = self.with_attributes(attrs, old, value)?;
            array.insert(key, value);
        }
        Ok(array)
    }

    /// Expands a value among `(…)` for an associative array, where tildes are text.
    fn expand_without_tildes(&mut self, word: &Word) -> Run<Vec<u8>> {
        if !word.parts.iter().any(|part| matches!(part, Part::Tilde(_))) {
            return self.expand_single(word);
        }
        let mut word = word.clone();
        for part in &mut word.parts {
            if let Part::Tilde(name) = part {
                *part = Part::Quoted([b"~", name.as_slice()].concat());
            }
        }
        self.expand_single(&word)
    }

    /// Makes the variable an array of the kind asked for, keeping a scalar as its first element.
    pub fn make_array(&mut self, name: &[u8], associative: bool) {
        let vars = Rc::make_mut(&mut self.st.vars);
        let slot = vars.entry(name.into()).or_default();
        let var = Rc::make_mut(slot);
        if associative {
            match &var.value {
                Value::Assoc(..) => {}
                Value::Unset => var.value = Value::Assoc(Assoc::default(), false),
                _ => {
                    crate::state::access::assoc(var);
                }
            }
        } else {
            match &var.value {
                Value::Indexed(..) => {}
                Value::Unset => var.value = Value::Indexed(Indexed::new(), false),
                _ => {
                    indexed(var);
                }
            }
        }
    }
}
