//! `alias` and `unalias`.

use crate::quote;
use crate::shell::{Run, Shell};
use std::rc::Rc;

pub fn alias(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"p") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let words = &argv[options.rest..];
    let show = |shell: &mut Shell, name: &[u8], value: &[u8]| {
        let line = [b"alias ", name, b"=", &quote::single(value), b"\n"].concat();
        shell.out.extend_from_slice(&line);
    };
    if words.is_empty() || options.has(b'p') {
        for (name, value) in shell.st.aliases.clone().iter() {
            show(shell, name, value);
        }
    }
    let mut status = 0;
    for word in words {
        match word.iter().position(|&c| c == b'=').filter(|&i| i > 0) {
            Some(i) => {
                let name = &word[..i];
                if name
                    .iter()
                    .any(|c| matches!(c, b'/' | b'$' | b'`' | b'"' | b'\'' | b'\\' | b' ' | b'\t' | b'\n'))
                {
                    let shown = String::from_utf8_lossy(name).into_owned();
                    shell.builtin_error("alias", &format!("`{shown}': invalid alias name"));
                    status = 1;
                    continue;
                }
                Rc::make_mut(&mut shell.st.aliases).insert(name.to_vec(), word[i + 1..].to_vec());
            }
            None => match shell.st.aliases.get(word).cloned() {
                Some(value) => show(shell, word, &value),
                None => {
                    let shown = String::from_utf8_lossy(word).into_owned();
                    shell.builtin_error("alias", &format!("{shown}: not found"));
                    status = 1;
                }
            },
        }
    }
    Ok(status)
}

pub fn unalias(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"a") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    if options.has(b'a') {
        shell.st.aliases = Rc::default();
        return Ok(0);
    }
    let words = &argv[options.rest..];
    if words.is_empty() {
        shell.usage("unalias");
        return Ok(2);
    }
    let mut status = 0;
    for word in words {
        if Rc::make_mut(&mut shell.st.aliases).remove(word).is_none() {
            let shown = String::from_utf8_lossy(word).into_owned();
            shell.builtin_error("unalias", &format!("{shown}: not found"));
            status = 1;
        }
    }
    Ok(status)
}
