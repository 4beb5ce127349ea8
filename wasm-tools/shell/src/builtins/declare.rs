//! `declare`, `typeset`, `local`, `export`, `readonly`: attributes and printing of variables and functions.

use crate::ast::{Arg, Arith, Assign, AssignValue, Element, Subscript, Word};
use crate::parse::{Parser, is_name};
use crate::quote;
use crate::shell::{Run, Shell, Unwind};
use crate::state::Function;
use crate::state::vars::{Value, Var, attr};
use std::rc::Rc;

/// An argument of a declaration builtin.
#[derive(Debug, Clone)]
pub enum DeclArg {
    Word(Vec<u8>),
    Assign {
        name: Vec<u8>,
        index: Option<Subscript>,
        append: bool,
        value: DeclValue,
    },
}

/// What it assigns.
#[derive(Debug, Clone)]
pub enum DeclValue {
    Scalar(Vec<u8>),
    Array(Vec<Element>),
}

/// Arguments without assignments parsed by the grammar.
pub fn plain_args(argv: &[Vec<u8>]) -> Vec<DeclArg> {
    argv.iter().skip(1).map(|word| DeclArg::Word(word.clone())).collect()
}

/// Variables that have a value only when they are asked for: `set` leaves them out.
const COMPUTED: [&[u8]; 13] = [
    b"BASHPID",
    b"BASH_ARGV0",
    b"BASH_COMMAND",
    b"BASH_SUBSHELL",
    b"COMP_WORDBREAKS",
    b"EPOCHREALTIME",
    b"EPOCHSECONDS",
    b"FUNCNAME",
    b"HISTCMD",
    b"LINENO",
    b"RANDOM",
    b"SECONDS",
    b"SRANDOM",
];

impl Shell {
    /// Expands the arguments in order; words become words, assignments keep their structure.
    pub fn declaration_args(&mut self, args: &[Arg], argv: &mut Vec<Vec<u8>>) -> Run<Vec<DeclArg>> {
        let mut out = Vec::new();
        for arg in args {
            match arg {
                Arg::Word(word) => {
                    let from = argv.len();
                    self.expand_word_into(word, argv)?;
                    // The first word is the builtin's name.
                    out.extend(
                        argv[from.max(1).min(argv.len())..]
                            .iter()
                            .map(|field| DeclArg::Word(field.clone())),
                    );
                }
                Arg::Assign(assign) => {
                    if let AssignValue::Scalar(word) = &assign.value
                        && let Some(words) = self.brace_words(word)?
                    {
                        for parts in words {
                            let word = Word {
                                parts,
                                ..Word::default()
                            };
                            let one = Assign {
                                value: AssignValue::Scalar(word),
                                ..assign.clone()
                            };
                            out.extend(self.declaration_args(&[Arg::Assign(one)], argv)?);
                        }
                        continue;
                    }
                    let value = match &assign.value {
                        AssignValue::Scalar(word) => DeclValue::Scalar(self.expand_single(word)?),
                        AssignValue::Array(elements) => DeclValue::Array(elements.clone()),
                    };
                    // The same as plain text, for a function of the builtin's name and for `$_`.
                    let mut text = Vec::new();
                    crate::print::assignment_target(assign, &mut text);
                    if let DeclValue::Scalar(value) = &value {
                        text.extend_from_slice(if assign.append { b"+=" } else { b"=" });
                        text.extend_from_slice(value);
                    }
                    argv.push(text);
                    out.push(DeclArg::Assign {
                        name: assign.name.clone(),
                        index: assign.index.clone(),
                        append: assign.append,
                        value,
                    });
                }
            }
        }
        Ok(out)
    }
}

/// Attributes as letters, in bash's order.
pub fn letters(var: &Var) -> Vec<u8> {
    let mut out = Vec::new();
    match var.value {
        Value::Indexed(..) => out.push(b'a'),
        Value::Assoc(..) => out.push(b'A'),
        _ => {}
    }
    for (bit, letter) in [
        (attr::INTEGER, b'i'),
        (attr::NAMEREF, b'n'),
        (attr::READONLY, b'r'),
        (attr::TRACE, b't'),
        (attr::EXPORT, b'x'),
        (attr::CAPITAL, b'c'),
        (attr::LOWER, b'l'),
        (attr::UPPER, b'u'),
    ] {
        if var.has(bit) {
            out.push(letter);
        }
    }
    out
}

/// The variable as a `declare` command.
pub fn declaration(name: &[u8], var: &Var) -> Vec<u8> {
    let mut out = b"declare -".to_vec();
    let letters = letters(var);
    if letters.is_empty() {
        out.push(b'-')
    } else {
        out.extend_from_slice(&letters)
    }
    out.push(b' ');
    out.extend_from_slice(name);
    if let Some(text) = value_text(var, true) {
        out.push(b'=');
        out.extend_from_slice(&text);
    }
    out
}

/// The value as `declare -p` (`double`) or `set` prints it.
fn value_text(var: &Var, double: bool) -> Option<Vec<u8>> {
    match &var.value {
        Value::Unset => None,
        Value::Scalar(text) if double => Some(quote::double(text)),
        Value::Scalar(text) => Some(if text.is_empty() {
            Vec::new()
        } else {
            quote::single_if_needed(text)
        }),
        Value::Indexed(array, set) => {
            if !set && array.is_empty() {
                return None;
            }
            let mut out = vec![b'('];
            for (i, (index, value)) in array.iter().enumerate() {
                if i > 0 {
                    out.push(b' ');
                }
                out.extend_from_slice(format!("[{index}]=").as_bytes());
                out.extend_from_slice(&quote::double(value));
            }
            out.push(b')');
            Some(out)
        }
        Value::Assoc(array, set) => {
            if !set && array.is_empty() {
                return None;
            }
            let mut out = vec![b'('];
            for (key, value) in array.entries() {
                out.push(b'[');
                out.extend_from_slice(&quote::key(key));
                out.extend_from_slice(b"]=");
                out.extend_from_slice(&quote::double(value));
                out.push(b' ');
            }
            out.push(b')');
            Some(out)
        }
    }
}

/// What the options asked for.
#[derive(Default, Clone)]
struct Wanted {
    on: u16,
    off: u16,
    array: bool,
    assoc: bool,
    global: bool,
    inherit: bool,
    print: bool,
    functions: bool,
    names_only: bool,
    unnameref: bool,
    unarray: bool,
}

impl Shell {
    fn declare_options(&mut self, name: &str, args: &[DeclArg]) -> Result<(Wanted, usize), i32> {
        let mut wanted = Wanted::default();
        let mut used = 0;
        for arg in args {
            let DeclArg::Word(word) = arg else { break };
            if word == b"--" {
                used += 1;
                break;
            }
            if word == b"-" {
                break;
            }
            let on = match word.first() {
                Some(b'-') => true,
                Some(b'+') if word.len() > 1 => false,
                _ => break,
            };
            for &c in &word[1..] {
                let bit = match c {
                    b'i' => attr::INTEGER,
                    b'l' => attr::LOWER,
                    b'u' => attr::UPPER,
                    b'c' => attr::CAPITAL,
                    b'r' => attr::READONLY,
                    b'x' => attr::EXPORT,
                    b't' => attr::TRACE,
                    b'n' => {
                        if on {
                            attr::NAMEREF
                        } else {
                            wanted.unnameref = true;
                            attr::NAMEREF
                        }
                    }
                    b'a' => {
                        wanted.array = on;
                        wanted.unarray |= !on;
                        0
                    }
                    b'A' => {
                        wanted.assoc = on;
                        wanted.unarray |= !on;
                        0
                    }
                    b'f' => {
                        wanted.functions |= on;
                        0
                    }
                    b'F' => {
                        wanted.functions = true;
                        wanted.names_only = true;
                        0
                    }
                    b'g' => {
                        wanted.global = true;
                        0
                    }
                    b'I' => {
                        wanted.inherit = true;
                        0
                    }
                    b'p' => {
                        wanted.print = true;
                        0
                    }
                    _ => {
                        self.builtin_error(
                            name,
                            &format!("{}{}: invalid option", if on { '-' } else { '+' }, c as char),
                        );
                        self.usage(name);
                        return Err(2);
                    }
                };
                if on { wanted.on |= bit } else { wanted.off |= bit }
            }
            used += 1;
        }
        // Upper and lower case exclude each other; both together mean neither.
        if wanted.on & attr::UPPER != 0 && wanted.on & attr::LOWER != 0 {
            wanted.on &= !(attr::UPPER | attr::LOWER);
            wanted.off |= attr::UPPER | attr::LOWER;
        }
        if wanted.on & attr::UPPER != 0 {
            wanted.off |= attr::LOWER | attr::CAPITAL;
        } else if wanted.on & attr::LOWER != 0 {
            wanted.off |= attr::UPPER | attr::CAPITAL;
        }
        wanted.off &= !wanted.on;
        // An array is no reference.
        if wanted.array || wanted.assoc {
            wanted.on &= !attr::NAMEREF;
        }
        Ok((wanted, used))
    }

    /// Takes a word apart that may be an assignment.
    fn operand(&mut self, arg: DeclArg) -> (Vec<u8>, Option<Subscript>, bool, Option<DeclValue>) {
        match arg {
            DeclArg::Assign {
                name,
                index,
                append,
                value,
            } => (name, index, append, Some(value)),
            DeclArg::Word(word) => {
                // Brackets may hold an equals sign.
                let bracket = word.iter().position(|&c| c == b'[');
                let equals = match bracket {
                    Some(open) if is_name(&word[..open]) => {
                        let mut depth = 0;
                        let mut close = None;
                        for (i, &c) in word.iter().enumerate().skip(open) {
                            match c {
                                b'[' => depth += 1,
                                b']' => {
                                    depth -= 1;
                                    if depth == 0 {
                                        close = Some(i);
                                        break;
                                    }
                                }
                                _ => {}
                            }
                        }
                        close.and_then(|c| word[c..].iter().position(|&c| c == b'=').map(|i| c + i))
                    }
                    _ => word.iter().position(|&c| c == b'='),
                };
                let (mut target, value) = match equals {
                    Some(i) => (word[..i].to_vec(), Some(word[i + 1..].to_vec())),
                    None => (word, None),
                };
                let append = value.is_some() && target.last() == Some(&b'+');
                if append {
                    target.pop();
                }
                let mut index = None;
                if let Some(open) = target.iter().position(|&c| c == b'[')
                    && target.ends_with(b"]")
                    && target.len() > open + 2
                {
                    let inner = target[open + 1..target.len() - 1].to_vec();
                    let mut parser = Parser::new(inner, self.st.line, self.st.source.clone());
                    if let Ok(word) = parser.subscript_word() {
                        index = Some(Subscript::Expr(Box::new(Arith::new(word))));
                    }
                    target.truncate(open);
                }
                (target, index, append, value.map(DeclValue::Scalar))
            }
        }
    }

    /// A subscript among the words of a command, where quotes go before it is looked at.
    fn declared_key(&mut self, name: &[u8], subscript: &Arith) -> Run<Vec<u8>> {
        if !subscript.text.raw.contains(&b'\'') {
            return self.subscript_key(name, subscript);
        }
        self.expand_single(&subscript.text)
    }

    fn declare_one(&mut self, command: &str, wanted: &Wanted, arg: DeclArg, local: bool) -> Run<bool> {
        let named = match &arg {
            DeclArg::Assign { name, index, .. } => is_name(name) && index.is_none(),
            DeclArg::Word(word) => is_name(word),
        };
        // What messages show of an operand that may be refused.
        let shown = if named { String::new() } else { operand_text(&arg) };
        let (name, index, append, value) = self.operand(arg);
        if let (Some(array), Some(_)) = (name.strip_suffix(b"[]").filter(|a| is_name(a)), &value)
            && !matches!(command, "export" | "readonly")
        {
            let array = array.to_vec();
            let made = !local || self.make_local(command, &array, wanted)?;
            if made && self.apply_declaration(command, wanted, &array, None, false, None)? {
                if !self.st.vars.get(array.as_slice()).is_some_and(|v| v.is_array()) {
                    self.set_value(&array, Value::Indexed(Default::default(), true))?;
                }
                self.error_bytes(&[&array[..], b"[]: bad array subscript"].concat());
            }
            return Ok(false);
        }
        if !is_name(&name) {
            let shown = match name.strip_suffix(b"[]") {
                Some(_) => String::from_utf8_lossy(&name).into_owned(),
                None => shown,
            };
            self.builtin_error(command, &format!("`{shown}': not a valid identifier"));
            return Ok(false);
        }
        if matches!(command, "export" | "readonly") && index.is_some() {
            let target = shown
                .split_once("]=")
                .map_or(shown.clone(), |(target, _)| format!("{target}]"));
            self.builtin_error(command, &format!("`{target}': not a valid identifier"));
            return Ok(false);
        }
        if wanted.on & attr::NAMEREF != 0 && index.is_some() {
            let shown = shown.split('=').next().unwrap_or_default();
            self.builtin_error(command, &format!("{shown}: reference variable cannot be an array"));
            return Ok(false);
        }
        if wanted.on & attr::NAMEREF != 0 && matches!(&value, Some(DeclValue::Scalar(text)) if text.is_empty()) {
            self.builtin_error(command, "`': not a valid identifier");
            return Ok(false);
        }
        // With a value, an integer is no reference either; bash leaves both out.
        if wanted.on & (attr::NAMEREF | attr::INTEGER) == attr::NAMEREF | attr::INTEGER && value.is_some() {
            let wanted = Wanted {
                on: wanted.on & !attr::NAMEREF,
                ..wanted.clone()
            };
            return Ok(!local
                || self.make_local(command, &name, &wanted)?
                    && self.apply_declaration(command, &wanted, &name, None, false, None)?);
        }
        // Through a nameref, unless the nameref itself is meant.
        let is_ref = self.st.vars.get(name.as_slice()).is_some_and(|v| v.has(attr::NAMEREF));
        let about_ref = wanted.on & attr::NAMEREF != 0 || wanted.unnameref;
        let name = if is_ref && !about_ref && (!local || self.is_local_here(&name)) {
            let place = self.resolve(&name);
            place.name
        } else if is_ref && wanted.unnameref {
            self.last_reference(&name)
        } else {
            name
        };
        if wanted.on & attr::NAMEREF != 0
            && self.function_scope() > 0
            && matches!(&value, Some(DeclValue::Scalar(target)) if *target == name)
        {
            let shown = String::from_utf8_lossy(&name).into_owned();
            self.builtin_error(command, &format!("warning: {shown}: circular name reference"));
            // Decision: bash makes a reference that it warns about at each use, and means the global variable. No
            // local variable at all comes to the same wherever no caller has one of that name.
            if self.st.vars.get(name.as_slice()).is_none_or(|var| var.scope == 0) {
                return Ok(true);
            }
        }
        if local && !wanted.global {
            if !self.make_local(command, &name, wanted)? {
                return Ok(false);
            }
        } else if wanted.global && self.st.vars.get(name.as_slice()).is_some_and(|v| v.scope > 0) {
            return self.declare_global(command, wanted, &name, value, append);
        }
        self.apply_declaration(command, wanted, &name, index, append, value)
    }

    /// Makes the name local to the current function.
    fn make_local(&mut self, command: &str, name: &[u8], wanted: &Wanted) -> Run<bool> {
        if self.is_local_here(name) {
            return Ok(true);
        }
        let scope = self.function_scope();
        let old = self.st.vars.get(name).cloned();
        let mut var = Var::default();
        if let Some(old) = &old {
            if old.has(attr::READONLY) && old.scope == 0 {
                let shown = String::from_utf8_lossy(name).into_owned();
                self.builtin_error(command, &format!("{shown}: readonly variable"));
                return Ok(false);
            }
            var.attrs = old.attrs & attr::EXPORT;
            let temporary = old.scope > 0
                && self
                    .st
                    .scopes
                    .get(old.scope as usize - 1)
                    .is_some_and(|s| s.kind == crate::state::ScopeKind::Temporary)
                && old.scope as usize + 1 == scope;
            if temporary || wanted.inherit || self.st.shopts.localvar_inherit {
                var.value = old.value.clone();
                if !temporary {
                    var.attrs = old.attrs & !(attr::DYNAMIC | attr::NAMEREF);
                }
            }
        }
        if old.is_some_and(|o| o.has(attr::DYNAMIC)) && name != b"RANDOM" && name != b"SECONDS" {
            // A computed variable becomes a plain local one.
        }
        self.declare_in_scope(name, scope, var);
        Ok(true)
    }

    /// `declare -g` behind a local variable of the same name.
    fn declare_global(
        &mut self,
        command: &str,
        wanted: &Wanted,
        name: &[u8],
        value: Option<DeclValue>,
        append: bool,
    ) -> Run<bool> {
        // Work on the global in the table, then put things where they belong.
        let local = self.st.vars.get(name).cloned();
        let global = self.global_var(name);
        let vars = Rc::make_mut(&mut self.st.vars);
        match global {
            Some(var) => {
                vars.insert(name.into(), var);
            }
            None => {
                vars.remove(name);
            }
        }
        let result = self.apply_declaration(command, wanted, name, None, append, value);
        let changed = self.st.vars.get(name).cloned();
        if let Some(local) = local {
            Rc::make_mut(&mut self.st.vars).insert(name.into(), local);
        }
        if let Some(changed) = changed {
            self.with_global(name, |var| *var = (*changed).clone());
        }
        result
    }

    fn apply_declaration(
        &mut self,
        command: &str,
        wanted: &Wanted,
        name: &[u8],
        index: Option<Subscript>,
        append: bool,
        value: Option<DeclValue>,
    ) -> Run<bool> {
        let shown = String::from_utf8_lossy(name);
        let existing = self.st.vars.get(name).cloned();
        if existing.as_ref().is_some_and(|v| v.has(attr::EXPORT)) {
            self.env_cache = None;
        }
        let readonly = existing.as_ref().is_some_and(|v| v.has(attr::READONLY));
        if readonly && value.is_some() && matches!(command, "export" | "readonly") {
            self.error(&format!("{shown}: readonly variable"));
            return if self.st.opts.errexit || self.st.opts.posix {
                Err(self.give_up())
            } else {
                Ok(false)
            };
        }
        if readonly && (value.is_some() || wanted.off & attr::READONLY != 0) {
            if matches!(value, Some(DeclValue::Array(_))) && command != "local" {
                // As the assignment alone would, this ends the command line.
                self.error_bytes(&[name, b": readonly variable"].concat());
                return Err(Unwind::Discard(1));
            }
            self.builtin_error(command, &format!("{shown}: readonly variable"));
            return Ok(false);
        }
        if wanted.unarray && existing.as_ref().is_some_and(|v| v.is_array()) {
            self.builtin_error(command, &format!("{shown}: cannot destroy array variables in this way"));
            return Ok(false);
        }
        if wanted.assoc && existing.as_ref().is_some_and(|v| matches!(v.value, Value::Indexed(..))) {
            self.builtin_error(
                command,
                &format!("{shown}: cannot convert indexed to associative array"),
            );
            return Ok(false);
        }
        if wanted.array && existing.as_ref().is_some_and(|v| matches!(v.value, Value::Assoc(..))) {
            self.builtin_error(
                command,
                &format!("{shown}: cannot convert associative to indexed array"),
            );
            return Ok(false);
        }
        // A nameref is checked before it is made.
        if wanted.on & attr::NAMEREF != 0 {
            if existing.as_ref().is_some_and(|v| v.is_array()) {
                self.builtin_error(command, &format!("{shown}: reference variable cannot be an array"));
                return Ok(false);
            }
            let target = match &value {
                Some(DeclValue::Scalar(text)) => Some(text.clone()),
                Some(DeclValue::Array(_)) => {
                    self.builtin_error(command, &format!("{shown}: reference variable cannot be an array"));
                    return Ok(false);
                }
                None => existing
                    .as_ref()
                    .and_then(|v| v.text().map(<[u8]>::to_vec))
                    .filter(|t| !t.is_empty()),
            };
            if let Some(target) = &target {
                if target == name && self.function_scope() == 0 {
                    self.builtin_error(
                        command,
                        &format!("{shown}: nameref variable self references not allowed"),
                    );
                    return Ok(false);
                }
                if !target.is_empty() && !crate::state::access::valid_reference(target) {
                    let text = String::from_utf8_lossy(target).into_owned();
                    self.builtin_error(command, &format!("`{text}': invalid variable name for name reference"));
                    return Ok(false);
                }
            }
            let scope = existing.as_ref().map_or(0, |v| v.scope);
            let attrs = existing.as_ref().map_or(0, |v| v.attrs) | wanted.on;
            let value = match target {
                Some(target) => Value::Scalar(self.with_attributes(attrs & !attr::INTEGER, None, target)?),
                None => Value::Unset,
            };
            Rc::make_mut(&mut self.st.vars).insert(name.into(), Rc::new(Var { value, attrs, scope }));
            return Ok(true);
        }
        let array_literal = matches!(value, Some(DeclValue::Array(_)));
        if wanted.assoc || wanted.array || array_literal && !existing.as_ref().is_some_and(|v| v.is_array()) {
            self.make_array(name, wanted.assoc);
        } else if index.is_some() && !existing.as_ref().is_some_and(|v| v.is_array()) {
            self.make_array(name, false);
        }
        // What follows changes the variable in place, which nobody else must hold.
        let is_new = existing.is_none();
        drop(existing);
        {
            // Attributes that shape the value come first; readonly comes last.
            let allexport = self.st.opts.allexport;
            let vars = Rc::make_mut(&mut self.st.vars);
            let slot = match vars.get_mut(name) {
                Some(slot) => slot,
                None => vars.entry(name.into()).or_default(),
            };
            let var = Rc::make_mut(slot);
            var.attrs &= !wanted.off;
            var.attrs |= wanted.on & !attr::READONLY;
            if allexport && is_new && !var.is_array() {
                var.attrs |= attr::EXPORT;
            }
            if wanted.unnameref {
                var.attrs &= !attr::NAMEREF;
            }
            if var.has(attr::EXPORT) {
                self.env_cache = None;
            }
        }
        let mut ok = true;
        let result = match value {
            None => Ok(()),
            Some(DeclValue::Array(elements)) => self.assign_array(name, &elements, append),
            Some(DeclValue::Scalar(text)) => {
                let is_array = self.st.vars.get(name).is_some_and(|v| v.is_array());
                if is_array && index.is_none() && text.starts_with(b"(") && text.ends_with(b")") {
                    match parse_elements(&text) {
                        Some(elements) => self.assign_array(name, &elements, append),
                        None => self.assign(name, None, text, append),
                    }
                } else {
                    match &index {
                        Some(Subscript::Expr(e)) => {
                            let key = self.declared_key(name, e)?;
                            self.assign(name, Some(&key), text, append)
                        }
                        Some(Subscript::At) => self.assign(name, Some(b"@"), text, append),
                        Some(Subscript::Star) => self.assign(name, Some(b"*"), text, append),
                        None => self.assign(name, None, text, append),
                    }
                }
            }
        };
        match result {
            Ok(()) => {}
            Err(Unwind::Discard(_)) if self.st.vars.get(name).is_some_and(|v| v.has(attr::INTEGER)) => {
                return Err(Unwind::Discard(1));
            }
            Err(Unwind::Discard(_)) => ok = false,
            Err(unwind) => return Err(unwind),
        }
        if wanted.on & attr::READONLY != 0
            && let Some(slot) = Rc::make_mut(&mut self.st.vars).get_mut(name)
        {
            Rc::make_mut(slot).attrs |= attr::READONLY;
        }
        if name == b"_" {
            // Each command sets it anew, and takes it out of the environment, unless it is readonly.
            self.st.frozen_argument = wanted.on & attr::READONLY != 0;
            if let Some(slot) = Rc::make_mut(&mut self.st.vars).get_mut(name) {
                Rc::make_mut(slot).attrs &= !attr::EXPORT;
            }
        }
        Ok(ok)
    }

    /// Prints variables as `declare` commands, in POSIX mode as those of the builtin that shows them.
    fn print_declarations(&mut self, command: &str, filter: impl Fn(&Var) -> bool) {
        let mut names: Vec<_> = self
            .st
            .vars
            .iter()
            .filter(|(_, v)| filter(v))
            .map(|(n, _)| n.clone())
            .collect();
        names.sort();
        for name in names {
            if let Some(var) = self.printable(&name) {
                let mut line = declaration(&name, &var);
                if self.st.opts.posix && matches!(command, "export" | "readonly") {
                    let head = line
                        .iter()
                        .position(|&c| c == b' ')
                        .and_then(|i| line[i + 1..].iter().position(|&c| c == b' ').map(|j| i + 1 + j));
                    line.splice(..head.unwrap_or(0), command.bytes());
                }
                line.push(b'\n');
                self.out.extend_from_slice(&line);
            }
        }
    }

    /// The variable with its current value; namerefs as they are.
    fn printable(&mut self, name: &[u8]) -> Option<Rc<Var>> {
        let var = self.st.vars.get(name)?.clone();
        if var.has(attr::DYNAMIC) {
            return Some(Rc::new(Var {
                value: self.dynamic_value(name),
                attrs: var.attrs,
                scope: var.scope,
            }));
        }
        Some(var)
    }

    /// All variables as `set` prints them, then functions unless in POSIX mode.
    pub fn print_variables(&mut self) {
        let mut names: Vec<_> = self
            .st
            .vars
            .iter()
            .filter(|(n, v)| !matches!(v.value, Value::Unset) && !COMPUTED.contains(&&n[..]))
            .map(|(n, _)| n.clone())
            .collect();
        names.sort();
        for name in names {
            let Some(var) = self.printable(&name) else { continue };
            if let Some(text) = value_text(&var, false) {
                self.out.extend_from_slice(&name);
                self.out.push(b'=');
                self.out.extend_from_slice(&text);
                self.out.push(b'\n');
            }
        }
    }

    fn print_function(&mut self, name: &[u8]) -> bool {
        let Some(function) = self.st.functions.get(name) else {
            return false;
        };
        let text = crate::print::function(&function.def);
        self.out.extend_from_slice(&text);
        true
    }

    /// The line that gives a function its attributes; without any, only if `always`.
    fn print_function_attributes(&mut self, name: &[u8], function: &Function, always: bool) {
        let attributes = [
            (function.readonly, 'r'),
            (function.trace, 't'),
            (function.exported, 'x'),
        ];
        let letters: String = attributes.into_iter().filter_map(|(on, c)| on.then_some(c)).collect();
        if always || !letters.is_empty() {
            self.out.extend_from_slice(format!("declare -f{letters} ").as_bytes());
            self.out.extend_from_slice(name);
            self.out.push(b'\n');
        }
    }

    fn declare_functions(&mut self, command: &str, wanted: &Wanted, args: Vec<DeclArg>) -> Run<i32> {
        let flags = wanted.on & (attr::EXPORT | attr::READONLY | attr::TRACE) != 0
            || wanted.off & (attr::EXPORT | attr::READONLY | attr::TRACE) != 0;
        if args.is_empty() {
            for name in self.function_names() {
                let Some(function) = self.st.functions.get(&name).cloned() else {
                    continue;
                };
                if wanted.on & attr::EXPORT != 0 && !function.exported
                    || wanted.on & attr::READONLY != 0 && !function.readonly
                {
                    continue;
                }
                if !wanted.names_only {
                    self.print_function(&name);
                }
                self.print_function_attributes(&name, &function, wanted.names_only || command != "declare");
            }
            return Ok(0);
        }
        let mut status = 0;
        for arg in args {
            let DeclArg::Word(name) = arg else {
                self.builtin_error(command, "cannot use `-f' to make functions");
                return Ok(1);
            };
            let Some(function) = self.st.functions.get(name.as_slice()).cloned() else {
                if flags || command == "export" || command == "readonly" {
                    let shown = String::from_utf8_lossy(&name).into_owned();
                    self.builtin_error(command, &format!("{shown}: not a function"));
                }
                status = 1;
                continue;
            };
            if flags {
                self.env_cache = None;
                if let Some(function) = Rc::make_mut(&mut self.st.functions).get_mut(name.as_slice()) {
                    function.exported =
                        (function.exported || wanted.on & attr::EXPORT != 0) && wanted.off & attr::EXPORT == 0;
                    function.readonly |= wanted.on & attr::READONLY != 0;
                    function.trace = (function.trace || wanted.on & attr::TRACE != 0) && wanted.off & attr::TRACE == 0;
                }
            } else if wanted.names_only {
                let line = match (self.st.shopts.extdebug, self.st.functions.get(name.as_slice())) {
                    (true, Some(f)) => {
                        let line = crate::arith::decimal(i64::from(f.def.line));
                        [name.as_slice(), b" ", &line, b" ", &f.def.source, b"\n"].concat()
                    }
                    _ => [name.as_slice(), b"\n"].concat(),
                };
                self.out.extend_from_slice(&line);
            } else {
                self.print_function(&name);
                if wanted.print {
                    self.print_function_attributes(&name, &function, false);
                }
            }
        }
        Ok(status)
    }

    fn print_named(&mut self, command: &str, args: Vec<DeclArg>) -> Run<i32> {
        let mut status = 0;
        for arg in args {
            let shown = operand_text(&arg);
            let name = shown.clone().into_bytes();
            match self.printable(&name) {
                Some(var) => {
                    let line = declaration(&name, &var);
                    self.out.extend_from_slice(&line);
                    self.out.push(b'\n');
                }
                None => {
                    self.builtin_error(command, &format!("{shown}: not found"));
                    status = 1;
                }
            }
        }
        Ok(status)
    }
}

/// The operand as it was written, for messages.
fn operand_text(arg: &DeclArg) -> String {
    let text = match arg {
        DeclArg::Word(word) => word.clone(),
        DeclArg::Assign {
            name,
            index,
            append,
            value,
        } => {
            let mut text = name.clone();
            match index {
                Some(Subscript::Expr(e)) => text = [text.as_slice(), b"[", &e.text.raw, b"]"].concat(),
                Some(Subscript::At) => text.extend_from_slice(b"[@]"),
                Some(Subscript::Star) => text.extend_from_slice(b"[*]"),
                None => {}
            }
            text.extend_from_slice(if *append { b"+=" } else { b"=" });
            match value {
                DeclValue::Scalar(value) => text.extend_from_slice(value),
                DeclValue::Array(elements) => text.extend_from_slice(&crate::print::array_text(elements)),
            }
            text
        }
    };
    String::from_utf8_lossy(&text).into_owned()
}

/// Reads `(…)` that came as a value.
fn parse_elements(text: &[u8]) -> Option<Vec<Element>> {
    let mut parser = Parser::new([b"_=", text].concat(), 1, Rc::from(&b""[..]));
    let list = parser.whole().ok()?;
    match &list.0.first()?.body.first.stages.first()?.kind {
        crate::ast::CommandKind::Simple(simple) => match &simple.assigns.first()?.value {
            AssignValue::Array(elements) => Some(elements.clone()),
            AssignValue::Scalar(_) => None,
        },
        _ => None,
    }
}

pub fn declare(shell: &mut Shell, name: &[u8], args: Vec<DeclArg>) -> Run<i32> {
    let name = String::from_utf8_lossy(name).into_owned();
    let (wanted, used) = match shell.declare_options(&name, &args) {
        Ok(found) => found,
        Err(status) => return Ok(status),
    };
    let operands: Vec<DeclArg> = args.into_iter().skip(used).collect();
    if wanted.functions {
        return shell.declare_functions(&name, &wanted, operands);
    }
    if operands.is_empty() {
        if !wanted.print && wanted.on == 0 && !wanted.array && !wanted.assoc {
            shell.print_variables();
            for function in shell.function_names() {
                shell.print_function(&function);
            }
            return Ok(0);
        }
        let bits = wanted.on;
        let (array, assoc) = (wanted.array, wanted.assoc);
        shell.print_declarations(&name, |v| {
            v.attrs & bits == bits
                && (!array || matches!(v.value, Value::Indexed(..)))
                && (!assoc || matches!(v.value, Value::Assoc(..)))
        });
        return Ok(0);
    }
    if wanted.print {
        return shell.print_named(&name, operands);
    }
    let local = shell.function_scope() > 0;
    if wanted.array
        && wanted.assoc
        && let Some(operand) = operands.first()
    {
        let shown = operand_text(operand);
        shell.builtin_error(&name, &format!("{shown}: cannot convert associative to indexed array"));
    }
    let mut status = i32::from(wanted.array && wanted.assoc);
    let wanted = Wanted {
        array: wanted.array && !wanted.assoc,
        ..wanted
    };
    for operand in operands {
        if !shell.declare_one(&name, &wanted, operand, local)? {
            status = 1;
        }
    }
    Ok(status)
}

pub fn local(shell: &mut Shell, _: &[u8], args: Vec<DeclArg>) -> Run<i32> {
    let scope = shell.function_scope();
    if scope == 0 {
        shell.builtin_error("local", "can only be used in a function");
        return Ok(1);
    }
    let (wanted, used) = match shell.declare_options("local", &args) {
        Ok(found) => found,
        Err(status) => return Ok(status),
    };
    let mut operands = args.into_iter().skip(used).peekable();
    if operands.peek().is_none() {
        let mut names: Vec<_> = shell
            .st
            .vars
            .iter()
            .filter(|(_, v)| v.scope as usize == scope)
            .map(|(n, _)| n.clone())
            .collect();
        names.sort();
        for name in names {
            if let Some(var) = shell.printable(&name) {
                let line = declaration(&name, &var);
                shell.out.extend_from_slice(&line);
                shell.out.push(b'\n');
            }
        }
        return Ok(0);
    }
    if wanted.print {
        return shell.print_named("local", operands.collect());
    }
    let mut status = 0;
    for operand in operands {
        if let DeclArg::Word(word) = &operand
            && word == b"-"
        {
            let options = Box::new(shell.st.opts.clone());
            if let Some(scope) = shell.st.scopes.get_mut(scope - 1) {
                scope.options.get_or_insert(options);
            }
            continue;
        }
        if !shell.declare_one("local", &wanted, operand, true)? {
            status = 1;
        }
    }
    Ok(status)
}

pub fn export(shell: &mut Shell, _: &[u8], args: Vec<DeclArg>) -> Run<i32> {
    attribute(shell, "export", attr::EXPORT, args)
}

pub fn readonly(shell: &mut Shell, _: &[u8], args: Vec<DeclArg>) -> Run<i32> {
    attribute(shell, "readonly", attr::READONLY, args)
}

fn attribute(shell: &mut Shell, command: &str, bit: u16, args: Vec<DeclArg>) -> Run<i32> {
    let by_command = std::mem::take(&mut shell.by_command);
    let mut wanted = Wanted {
        on: bit,
        ..Wanted::default()
    };
    let mut used = 0;
    for arg in &args {
        let DeclArg::Word(word) = arg else { break };
        if word == b"--" {
            used += 1;
            break;
        }
        if word.len() < 2 || word[0] != b'-' {
            break;
        }
        for &c in &word[1..] {
            match c {
                b'n' if command == "export" => {
                    wanted.on = 0;
                    wanted.off = bit;
                }
                b'f' => wanted.functions = true,
                b'p' => wanted.print = true,
                b'a' if command == "readonly" => wanted.array = true,
                b'A' if command == "readonly" => wanted.assoc = true,
                _ => {
                    shell.builtin_error(command, &format!("-{}: invalid option", c as char));
                    shell.usage(command);
                    return Ok(2);
                }
            }
        }
        used += 1;
    }
    let operands: Vec<DeclArg> = args.into_iter().skip(used).collect();
    if wanted.functions {
        return shell.declare_functions(command, &wanted, operands);
    }
    if operands.is_empty() {
        let (array, assoc) = (wanted.array, wanted.assoc);
        shell.print_declarations(command, |v| {
            v.has(bit)
                && (!array || matches!(v.value, Value::Indexed(..)))
                && (!assoc || matches!(v.value, Value::Assoc(..)))
        });
        return Ok(0);
    }
    let mut status = 0;
    // These convert nothing.
    let (array, assoc) = (std::mem::take(&mut wanted.array), std::mem::take(&mut wanted.assoc));
    for operand in operands {
        if shell.st.opts.xtrace
            && let DeclArg::Assign {
                name,
                append,
                value: DeclValue::Scalar(text),
                ..
            } = &operand
        {
            shell.trace_declared(name, *append, text);
        }
        let is_array = match &operand {
            DeclArg::Word(word) => shell.st.vars.get(word.as_slice()).is_some_and(|v| v.is_array()),
            DeclArg::Assign { name, .. } => shell.st.vars.get(name.as_slice()).is_some_and(|v| v.is_array()),
        };
        wanted.array = array && !is_array;
        wanted.assoc = assoc && !is_array;
        // In a function they change the variable that is visible; they declare no local one, but for `readonly -a`.
        match shell.declare_one(command, &wanted, operand, false) {
            Ok(true) => {}
            Ok(false) => status = 1,
            // A readonly variable ends the shell, as such an assignment does anywhere in POSIX mode.
            Err(Unwind::Discard(_)) if shell.st.opts.posix && by_command => status = 1,
            Err(Unwind::Discard(_)) if shell.st.opts.posix => return Err(Unwind::Exit(1)),
            Err(unwind) => return Err(unwind),
        }
    }
    Ok(status)
}
