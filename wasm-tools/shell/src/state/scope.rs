//! Dynamic scope: opening and closing, `local`, `unset`, globals behind locals.

use super::vars::{Name, Value, Var, attr};
use super::{Scope, ScopeKind};
use crate::shell::Shell;
use std::rc::Rc;

impl Shell {
    /// Opens a scope.
    pub fn push_scope(&mut self, kind: ScopeKind) {
        self.st.scopes.push(Scope {
            kind,
            saved: Vec::new(),
            options: None,
        });
    }

    /// Closes the top scope and restores what it hid.
    #[inline(never)]
    pub fn pop_scope(&mut self) {
        let Some(scope) = self.st.scopes.pop() else { return };
        if let Some(options) = scope.options {
            self.st.opts = *options;
        }
        for (name, old) in scope.saved.into_iter().rev() {
            let exported = self.st.vars.get(&name).is_some_and(|v| v.has(attr::EXPORT));
            if exported || old.as_ref().is_some_and(|v| v.has(attr::EXPORT)) {
                self.env_cache = None;
            }
            let vars = Rc::make_mut(&mut self.st.vars);
            match old {
                Some(var) => {
                    vars.insert(name.clone(), var);
                }
                None => {
                    vars.remove(&name);
                }
            }
            match &*name {
                b"PATH" | b"OPTIND" | b"GLOBIGNORE" => self.after_assignment(&name, 0),
                b"LC_ALL" | b"LC_CTYPE" | b"LANG" => self.locale_changed(),
                _ => {}
            }
        }
    }

    /// Number of the innermost scope that `local` declares in; 0 outside of functions.
    pub fn function_scope(&self) -> usize {
        self.st
            .scopes
            .iter()
            .rposition(|s| s.kind == ScopeKind::Function)
            .map_or(0, |i| i + 1)
    }

    /// Makes the name local to scope number `scope` (from 1): saves what it is and puts `var` there.
    #[inline(never)]
    pub fn declare_in_scope(&mut self, name: &[u8], scope: usize, mut var: Var) {
        var.scope = scope as u32;
        let key: Name = name.into();
        let touches_env = var.has(attr::EXPORT) || self.st.vars.get(name).is_some_and(|v| v.has(attr::EXPORT));
        let old = Rc::make_mut(&mut self.st.vars).insert(key.clone(), Rc::new(var));
        if let Some(saved) = self.st.scopes.get_mut(scope.wrapping_sub(1)) {
            saved.saved.push((key, old));
        }
        if touches_env {
            self.env_cache = None;
        }
        if name == b"OPTIND" {
            // A function with an OPTIND of its own begins anew.
            self.st.getopts = super::Getopts { index: 1, offset: 0 };
        }
    }

    /// Whether the name is local to the innermost function.
    pub fn is_local_here(&self, name: &[u8]) -> bool {
        let scope = self.function_scope();
        scope > 0 && self.st.vars.get(name).is_some_and(|v| v.scope as usize == scope)
    }

    /// Removes a variable as `unset` does; `false` when it is readonly.
    pub fn unset_var(&mut self, name: &[u8]) -> bool {
        let Some(var) = self.st.vars.get(name).cloned() else {
            return true;
        };
        if var.has(attr::READONLY) {
            return false;
        }
        if var.has(attr::EXPORT) {
            self.env_cache = None;
        }
        if name == b"_" {
            // The next command sets it again.
            self.st.last_argument = Rc::from(&b""[..]);
            return true;
        }
        let scope = var.scope as usize;
        let here = self.function_scope();
        let vars = Rc::make_mut(&mut self.st.vars);
        if scope > 0 && (scope == here || self.st.shopts.localvar_unset) {
            // Local and unset: a later assignment stays local.
            if let Some(slot) = vars.get_mut(name) {
                *slot = Rc::new(Var {
                    value: Value::Unset,
                    attrs: 0,
                    scope: var.scope,
                });
            }
        } else if scope > 0 {
            // Another function's local: what it hid comes back.
            vars.remove(name);
            if let Some(saved) = self.st.scopes.get_mut(scope - 1)
                && let Some(i) = saved.saved.iter().rposition(|(n, _)| &**n == name)
                && let (key, Some(old)) = saved.saved.remove(i)
            {
                vars.insert(key, old);
            }
        } else {
            vars.remove(name);
        }
        match name {
            b"PATH" => self.path_changed(),
            b"GLOBIGNORE" => self.globignore_changed(),
            b"POSIXLY_CORRECT" => self.set_posix(false),
            b"BASH_COMPAT" => self.compat_changed(),
            b"LC_ALL" | b"LC_CTYPE" | b"LANG" => self.locale_changed(),
            _ => {}
        }
        true
    }

    /// Runs `change` on the global variable of that name, even behind locals.
    pub fn with_global(&mut self, name: &[u8], change: impl FnOnce(&mut Var)) {
        self.env_cache = None;
        if self.st.vars.get(name).is_some_and(|v| v.scope > 0) {
            for scope in &mut self.st.scopes {
                if let Some((_, slot)) = scope.saved.iter_mut().find(|(n, _)| &**n == name) {
                    let mut var = slot.as_deref().cloned().unwrap_or_default();
                    change(&mut var);
                    var.scope = 0;
                    *slot = Some(Rc::new(var));
                    return;
                }
            }
        }
        let vars = Rc::make_mut(&mut self.st.vars);
        let slot = vars.entry(name.into()).or_default();
        change(Rc::make_mut(slot));
    }

    /// The global variable of that name, even behind locals.
    pub fn global_var(&self, name: &[u8]) -> Option<Rc<Var>> {
        if self.st.vars.get(name).is_some_and(|v| v.scope > 0) {
            for scope in &self.st.scopes {
                if let Some((_, slot)) = scope.saved.iter().find(|(n, _)| &**n == name) {
                    return slot.clone();
                }
            }
        }
        self.st.vars.get(name).cloned()
    }
}
