//! `unset`.

use crate::parse::is_name;
use crate::shell::{Run, Shell, Unwind};
use crate::state::vars::{Value, attr};
use std::rc::Rc;

pub fn unset(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"fvn") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let (functions, variables, reference) = (options.has(b'f'), options.has(b'v'), options.has(b'n'));
    if functions && variables {
        shell.builtin_error("unset", "cannot simultaneously unset a function and a variable");
        return Ok(1);
    }
    let mut status = 0;
    for word in &argv[options.rest..] {
        let shown = String::from_utf8_lossy(word).into_owned();
        if functions {
            if !remove_function(shell, word) {
                status = 1;
            }
            continue;
        }
        if let Some(open) = word.iter().position(|&c| c == b'[') {
            let name = &word[..open];
            if word.ends_with(b"]") && is_name(name) && !reference {
                let index = &word[open + 1..word.len() - 1];
                // An associative array's `[@]` is a key; of the whole array it means all.
                let place = shell.resolve(name);
                let is_assoc = shell
                    .st
                    .vars
                    .get(place.name.as_slice())
                    .is_some_and(|v| matches!(v.value, Value::Assoc(..)));
                if index == b"@" && is_assoc {
                    if let Some(slot) = Rc::make_mut(&mut shell.st.vars).get_mut(place.name.as_slice())
                        && let Value::Assoc(array, _) = &mut Rc::make_mut(slot).value
                    {
                        array.remove(b"@");
                    }
                    continue;
                }
                match shell.unset_element(name, index) {
                    Ok(true) => {}
                    Ok(false) => {
                        let name = String::from_utf8_lossy(name).into_owned();
                        shell.builtin_error("unset", &format!("{name}: cannot unset: readonly variable"));
                        status = 1;
                    }
                    Err(Unwind::Discard(_)) => status = 1,
                    Err(unwind) => return Err(unwind),
                }
                continue;
            }
        }
        if !is_name(word) {
            // Without `-v` it may be a function's name, and a function that is not there is no error.
            if !variables {
                if shell.st.functions.contains_key(word.as_slice()) {
                    remove_function(shell, word);
                }
                continue;
            }
            shell.builtin_error("unset", &format!("`{shown}': not a valid identifier"));
            status = 1;
            continue;
        }
        let is_ref = shell.st.vars.get(word.as_slice()).is_some_and(|v| v.has(attr::NAMEREF));
        if reference && !is_ref {
            if shell
                .st
                .vars
                .get(word.as_slice())
                .is_some_and(|v| v.has(attr::READONLY))
            {
                shell.builtin_error("unset", &format!("{shown}: cannot unset: readonly variable"));
                status = 1;
            }
            continue;
        }
        let mut name = word.clone();
        if is_ref && !reference {
            let place = shell.resolve(word);
            if let Some(index) = place.index {
                if !matches!(shell.unset_element(&place.name, &index), Ok(true)) {
                    status = 1;
                }
                continue;
            }
            name = place.name;
        }
        if shell.st.vars.contains_key(name.as_slice()) {
            if !shell.unset_var(&name) {
                shell.builtin_error("unset", &format!("{shown}: cannot unset: readonly variable"));
                status = 1;
            }
        } else if !variables && !reference && !remove_function(shell, word) {
            status = 1;
        }
    }
    Ok(status)
}

fn remove_function(shell: &mut Shell, name: &[u8]) -> bool {
    match shell.st.functions.get(name) {
        Some(function) if function.readonly => {
            let shown = String::from_utf8_lossy(name).into_owned();
            shell.builtin_error("unset", &format!("{shown}: cannot unset: readonly function"));
            false
        }
        Some(function) => {
            if function.exported {
                shell.env_cache = None;
            }
            Rc::make_mut(&mut shell.st.functions).remove(name);
            true
        }
        None => true,
    }
}
