//! `mapfile` and `readarray`.

use super::read::{End, Reader};
use crate::os;
use crate::shell::{Run, Shell, Unwind};

pub fn mapfile(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"td:n:O:s:u:C:c:") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let number = |shell: &mut Shell, letter: u8, what: &str| -> Result<Option<usize>, i32> {
        match options.value(letter) {
            None => Ok(None),
            Some(text) => match crate::arith::integer(text).and_then(|n| usize::try_from(n).ok()) {
                Some(n) => Ok(Some(n)),
                None => {
                    let shown = String::from_utf8_lossy(text).into_owned();
                    shell.builtin_error("mapfile", &format!("{shown}: invalid {what}"));
                    Err(1)
                }
            },
        }
    };
    let numbers = (|| {
        Ok((
            number(shell, b'n', "line count")?,
            number(shell, b'O', "array origin")?,
            number(shell, b's', "line count")?,
            number(shell, b'u', "file descriptor specification")?,
            number(shell, b'c', "callback quantum")?,
        ))
    })();
    let (count, origin, skip, fd, quantum) = match numbers {
        Ok(numbers) => numbers,
        Err(status) => return Ok(status),
    };
    let fd = fd.and_then(|n| i32::try_from(n).ok()).unwrap_or(0);
    let name = argv.get(options.rest).cloned().unwrap_or_else(|| b"MAPFILE".to_vec());
    if !crate::parse::is_name(&name) {
        let shown = String::from_utf8_lossy(&name).into_owned();
        shell.builtin_error("mapfile", &format!("`{shown}': not a valid identifier"));
        return Ok(1);
    }
    if !os::is_open(fd) {
        shell.builtin_error(
            "mapfile",
            &format!("{fd}: invalid file descriptor: Bad file descriptor"),
        );
        return Ok(1);
    }
    let is_assoc = shell
        .get_var(&name)
        .is_some_and(|v| matches!(v.value, crate::state::vars::Value::Assoc(..)));
    let is_stack = matches!(name.as_slice(), b"FUNCNAME" | b"BASH_SOURCE" | b"BASH_LINENO");
    if is_assoc || is_stack {
        let shown = String::from_utf8_lossy(&name).into_owned();
        shell.builtin_error("mapfile", &format!("{shown}: not an indexed array"));
        return Ok(1);
    }
    let delimiter = options.value(b'd').map_or(b'\n', |d| d.first().copied().unwrap_or(0));
    let trim = options.has(b't');
    let callback = options.value(b'C').map(<[u8]>::to_vec);
    if quantum == Some(0) {
        shell.builtin_error("mapfile", "0: invalid callback quantum");
        return Ok(1);
    }
    let quantum = quantum.unwrap_or(5000);
    let limit = count.filter(|&n| n > 0).unwrap_or(usize::MAX);
    if origin.is_none() {
        match shell.set_array(&name, Vec::new()) {
            Err(Unwind::Discard(_)) => return Ok(1),
            other => other?,
        }
    } else {
        shell.make_array(&name, false);
    }
    let origin = origin.unwrap_or(0);
    let mut reader = if limit == usize::MAX && callback.is_none() {
        Reader::to_end(fd)
    } else {
        Reader::new(fd, None)
    };
    let mut end = End::Delimiter;
    let mut skipped = 0;
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut stored = 0usize;
    while skipped < skip.unwrap_or(0) || stored < limit {
        let mut line = Vec::new();
        let terminated = reader.until(delimiter, &mut line, shell, &mut end);
        if !terminated && line.is_empty() {
            break;
        }
        if skipped < skip.unwrap_or(0) {
            skipped += 1;
            if !terminated {
                break;
            }
            continue;
        }
        // A value ends at a NUL.
        if let Some(end) = crate::bytes::find(&line, 0) {
            line.truncate(end);
        }
        if terminated && !trim && delimiter != 0 {
            line.push(delimiter);
        }
        if let Some(callback) = &callback {
            if (stored + 1).is_multiple_of(quantum) {
                let text = [
                    callback.as_slice(),
                    b" ",
                    &crate::arith::decimal((origin + stored) as i64),
                    b" ",
                    &crate::quote::single(&line),
                ]
                .concat();
                let (at, source) = (shell.st.line, shell.st.source.clone());
                shell.run_text(text, at, source)?;
            }
            let index = crate::arith::decimal((origin + stored) as i64);
            shell.set_element_text(&name, &index, line, false)?;
        } else {
            lines.push(line);
        }
        stored += 1;
        if !terminated {
            break;
        }
    }
    reader.finish();
    if callback.is_none() {
        match store(shell, &name, origin, lines) {
            Err(Unwind::Discard(_)) => return Ok(1),
            other => other?,
        }
    }
    Ok(0)
}

/// Stores all lines at once.
fn store(shell: &mut Shell, name: &[u8], origin: usize, lines: Vec<Vec<u8>>) -> Run<()> {
    use crate::state::vars::{Value, attr};
    let place = shell.resolve(name);
    let readonly = shell
        .st
        .vars
        .get(place.name.as_slice())
        .is_some_and(|v| v.has(attr::READONLY));
    // What is there is added to, not copied.
    let mut array = if readonly {
        Default::default()
    } else {
        shell.take_indexed(&place.name)
    };
    let lines = lines
        .into_iter()
        .enumerate()
        .map(|(i, line)| ((origin + i) as i64, line));
    if array.is_empty() {
        array = lines.collect();
    } else {
        array.extend(lines);
    }
    shell.set_value(name, Value::Indexed(array, true))
}
