//! `cd`, `pwd`, `pushd`, `popd`, `dirs`.

use crate::os;
use crate::shell::{Run, Shell};
use std::rc::Rc;

/// Removes `.`, `..` and double slashes from an absolute path, by text.
fn normalise(path: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|&c| c == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    // Two slashes in front may mean something else than one.
    let two = path.starts_with(b"//") && !path.starts_with(b"///");
    let mut out = if two { b"//".to_vec() } else { b"/".to_vec() };
    out.extend_from_slice(&parts.join(&b'/'));
    out
}

impl Shell {
    /// Changes the working directory; the new logical path, or a message.
    fn change_dir(&mut self, target: &[u8], physical: bool) -> Result<Vec<u8>, String> {
        let error = |e: os::Errno| os::message(e).to_string();
        if target.is_empty() {
            return Ok(self.st.cwd.to_vec());
        }
        let full = if target.starts_with(b"/") {
            target.to_vec()
        } else {
            let slash: &[u8] = if self.st.cwd.ends_with(b"/") { b"" } else { b"/" };
            [&self.st.cwd[..], slash, target].concat()
        };
        if physical {
            os::chdir(target).map_err(error)?;
            return os::getcwd().map_err(error);
        }
        // What precedes a `..` must be a directory, but for the working directory: it may have been removed.
        let mut prefix = Vec::new();
        for part in full.split(|&c| c == b'/') {
            if part == b".." && !prefix.is_empty() && prefix != *self.st.cwd && !os::is_dir(&prefix) {
                return Err(os::message(os::stat(&prefix).err().unwrap_or(os::Errno::ENOTDIR)).to_string());
            }
            if !prefix.ends_with(b"/") {
                prefix.push(b'/');
            }
            prefix.extend_from_slice(part);
        }
        let logical = normalise(&full);
        if let Err(first) = os::chdir(&logical) {
            // `..` after a link that is gone: try as the kernel sees it.
            os::chdir(target).map_err(|_| error(first))?;
            return os::getcwd().map_err(error);
        }
        Ok(logical)
    }

    /// Changes to a directory as `cd` does: along CDPATH, and by a variable's value under `cdable_vars`. What was found
    /// that way is shown.
    fn go_to(&mut self, target: &[u8], physical: bool) -> Result<Vec<u8>, String> {
        // CDPATH applies to names that do not begin with `/`, `./` or `../`.
        let first = target.split(|&c| c == b'/').next().unwrap_or_default();
        if !matches!(first, b"" | b"." | b"..")
            && let Some(list) = self.get_scalar(b"CDPATH")
        {
            for dir in list.split(|&c| c == b':') {
                let candidate = if dir.is_empty() {
                    target.to_vec()
                } else {
                    [dir, b"/", target].concat()
                };
                if os::is_dir(&candidate)
                    && let Ok(path) = self.change_dir(&candidate, physical)
                {
                    if !dir.is_empty() {
                        self.out.extend_from_slice(&[&path[..], b"\n"].concat());
                    }
                    return Ok(path);
                }
            }
        }
        let message = match self.change_dir(target, physical) {
            Ok(path) => return Ok(path),
            Err(message) => message,
        };
        if self.st.shopts.cdable_vars
            && let Some(value) = self.get_scalar(target).filter(|value| !value.is_empty())
            && let Ok(path) = self.change_dir(&value, physical)
        {
            self.out.extend_from_slice(&[&value[..], b"\n"].concat());
            return Ok(path);
        }
        Err(message)
    }

    /// Notes the new directory in PWD and OLDPWD.
    fn entered(&mut self, path: Vec<u8>) -> bool {
        let old = self.get_scalar(b"PWD").unwrap_or_else(|| self.st.cwd.to_vec());
        self.st.cwd = path.as_slice().into();
        let ok = self.assign(b"OLDPWD", None, old, false).is_ok();
        self.assign(b"PWD", None, path, false).is_ok() && ok
    }

    /// The working directory as `dirs` shows it.
    pub fn display_cwd(&mut self) -> Vec<u8> {
        self.st.cwd.to_vec()
    }

    /// Entry `+N` or `-N` (or just `N`) of the directory stack.
    pub fn dir_stack_entry(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let count = self.st.dirs.len() as i64;
        let n = match text {
            [b'+', rest @ ..] => crate::arith::integer(rest)?,
            [b'-', rest @ ..] => count - crate::arith::integer(rest)?,
            _ if text.first().is_some_and(u8::is_ascii_digit) => crate::arith::integer(text)?,
            _ => return None,
        };
        match n {
            0 => Some(self.st.cwd.to_vec()),
            _ => self.st.dirs.get(usize::try_from(n - 1).ok()?).cloned(),
        }
    }

    fn tilde_short(&mut self, path: &[u8]) -> Vec<u8> {
        if let Some(home) = self.get_scalar(b"HOME").filter(|h| !h.is_empty() && h != b"/")
            && let Some(rest) = path.strip_prefix(home.as_slice())
            && (rest.is_empty() || rest.starts_with(b"/"))
        {
            return [b"~", rest].concat();
        }
        path.to_vec()
    }

    fn print_dirs(&mut self, long: bool, per_line: bool, numbered: bool) {
        let mut all = vec![self.st.cwd.to_vec()];
        all.extend(self.st.dirs.iter().cloned());
        for (i, dir) in all.iter().enumerate() {
            let text = if long { dir.clone() } else { self.tilde_short(dir) };
            if numbered {
                self.out.extend_from_slice(format!("{i:>2}  ").as_bytes());
            } else if i > 0 && !per_line {
                self.out.push(b' ');
            }
            self.out.extend_from_slice(&text);
            if per_line || numbered {
                self.out.push(b'\n');
            }
        }
        if !per_line && !numbered {
            self.out.push(b'\n');
        }
    }
}

pub fn cd(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"LPe@") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let last = options
        .list
        .iter()
        .rev()
        .find(|(l, _)| matches!(l, b'L' | b'P'))
        .map(|(l, _)| *l);
    let physical = match last {
        Some(letter) => letter == b'P',
        None => shell.st.opts.physical,
    };
    let operands = &argv[options.rest..];
    if operands.len() > 1 {
        shell.builtin_error("cd", "too many arguments");
        return Ok(1);
    }
    let mut print = false;
    let target = match operands.first().map(Vec::as_slice) {
        None => match shell.get_scalar(b"HOME") {
            Some(home) => home,
            None => {
                shell.builtin_error("cd", "HOME not set");
                return Ok(1);
            }
        },
        Some(b"-") => match shell.get_scalar(b"OLDPWD") {
            Some(old) => {
                print = true;
                old
            }
            None => {
                shell.builtin_error("cd", "OLDPWD not set");
                return Ok(1);
            }
        },
        Some(word) => word.to_vec(),
    };
    match shell.go_to(&target, physical) {
        Ok(path) => {
            if print {
                shell.out.extend_from_slice(&path);
                shell.out.push(b'\n');
            }
            Ok(i32::from(!shell.entered(path)))
        }
        Err(message) => {
            let shown = String::from_utf8_lossy(&target).into_owned();
            shell.builtin_error("cd", &format!("{shown}: {message}"));
            Ok(1)
        }
    }
}

pub fn pwd(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"LP") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let physical = match options.list.last() {
        Some((letter, _)) => *letter == b'P',
        None => shell.st.opts.physical,
    };
    let path = if physical {
        os::getcwd().unwrap_or_else(|_| shell.st.cwd.to_vec())
    } else {
        shell.st.cwd.to_vec()
    };
    shell.out.extend_from_slice(&path);
    shell.out.push(b'\n');
    Ok(0)
}

/// A stack argument `+N` or `-N` as an index from the top (0 is the working directory).
fn stack_index(shell: &mut Shell, name: &str, word: &[u8]) -> Result<Option<usize>, i32> {
    let (minus, rest) = match word {
        [b'+', rest @ ..] => (false, rest),
        [b'-', rest @ ..] => (true, rest),
        _ => return Ok(None),
    };
    let shown = String::from_utf8_lossy(word).into_owned();
    let Some(n) = crate::arith::integer(rest).filter(|_| !rest.is_empty() && rest.iter().all(u8::is_ascii_digit))
    else {
        shell.builtin_error(name, &format!("{shown}: invalid number"));
        shell.usage(name);
        return Err(2);
    };
    let count = shell.st.dirs.len() as i64;
    let index = if minus { count - n } else { n };
    match usize::try_from(index) {
        Ok(index) if index <= count as usize => Ok(Some(index)),
        _ => {
            if count == 0 {
                shell.builtin_error(name, "directory stack empty");
            } else {
                shell.builtin_error(name, &format!("{shown}: directory stack index out of range"));
            }
            Err(1)
        }
    }
}

/// Whether `-n` was given, and the operands.
fn stack_words(argv: &[Vec<u8>]) -> (bool, &[Vec<u8>]) {
    let mut words = &argv[1..];
    let mut stay = false;
    while let [word, rest @ ..] = words {
        match word.as_slice() {
            b"-n" => stay = true,
            b"--" => return (stay, rest),
            _ => break,
        }
        words = rest;
    }
    (stay, words)
}

pub fn pushd(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let (stay, words) = stack_words(argv);
    if words.len() > 1 {
        shell.builtin_error("pushd", "too many arguments");
        return Ok(1);
    }
    let mut all = vec![shell.st.cwd.to_vec()];
    all.extend(shell.st.dirs.iter().cloned());
    let Some(word) = words.first().cloned() else {
        // Exchange the two on top.
        if all.len() < 2 {
            shell.builtin_error("pushd", "no other directory");
            return Ok(1);
        }
        all.swap(0, 1);
        return enter_stack(shell, "pushd", all, stay);
    };
    match stack_index(shell, "pushd", &word) {
        Err(status) => return Ok(status),
        Ok(Some(index)) => {
            all.rotate_left(index);
            return enter_stack(shell, "pushd", all, stay);
        }
        Ok(None) => {}
    }
    let word = if word == b"-" {
        shell.get_scalar(b"OLDPWD").unwrap_or(word)
    } else {
        word
    };
    if stay {
        all.insert(1, word);
        shell.st.dirs = Rc::new(all.split_off(1));
        shell.print_dirs(false, false, false);
        return Ok(0);
    }
    match shell.go_to(&word, shell.st.opts.physical) {
        Ok(path) => {
            shell.entered(path);
            shell.st.dirs = Rc::new(all);
            shell.print_dirs(false, false, false);
            Ok(0)
        }
        Err(message) => {
            let shown = String::from_utf8_lossy(&word).into_owned();
            shell.builtin_error("pushd", &format!("{shown}: {message}"));
            Ok(1)
        }
    }
}

/// Goes to the top of a new stack.
fn enter_stack(shell: &mut Shell, name: &str, mut all: Vec<Vec<u8>>, stay: bool) -> Run<i32> {
    let top = all.remove(0);
    if !stay {
        match shell.change_dir(&top, shell.st.opts.physical) {
            Ok(path) => {
                shell.entered(path);
            }
            Err(message) => {
                let shown = String::from_utf8_lossy(&top).into_owned();
                shell.builtin_error(name, &format!("{shown}: {message}"));
                return Ok(1);
            }
        }
    }
    shell.st.dirs = Rc::new(all);
    shell.print_dirs(false, false, false);
    Ok(0)
}

pub fn popd(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let (stay, words) = stack_words(argv);
    if words.len() > 1 {
        shell.builtin_error("popd", "too many arguments");
        return Ok(2);
    }
    let mut index = 0;
    if let Some(word) = words.first() {
        match stack_index(shell, "popd", &word.clone()) {
            Err(status) => return Ok(status),
            Ok(Some(i)) => index = i,
            Ok(None) => {
                let shown = String::from_utf8_lossy(word).into_owned();
                shell.builtin_error("popd", &format!("{shown}: invalid argument"));
                shell.usage("popd");
                return Ok(2);
            }
        }
    }
    if shell.st.dirs.is_empty() {
        shell.builtin_error("popd", "directory stack empty");
        return Ok(1);
    }
    let mut dirs = (*shell.st.dirs).clone();
    if index == 0 && !stay {
        return enter_stack(shell, "popd", dirs, false);
    }
    dirs.remove(index.saturating_sub(1));
    shell.st.dirs = Rc::new(dirs);
    shell.print_dirs(false, false, false);
    Ok(0)
}

pub fn dirs(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let (mut long, mut per_line, mut numbered) = (false, false, false);
    let mut index = None;
    for word in &argv[1..] {
        match word.as_slice() {
            b"-c" => {
                shell.st.dirs = Rc::default();
                return Ok(0);
            }
            b"-l" => long = true,
            b"-p" => per_line = true,
            b"-v" => numbered = true,
            [b'-', rest @ ..] if !rest.is_empty() && rest.iter().all(|c| b"lpvc".contains(c)) => {
                long |= rest.contains(&b'l');
                per_line |= rest.contains(&b'p');
                numbered |= rest.contains(&b'v');
            }
            _ => match stack_index(shell, "dirs", word) {
                Ok(Some(i)) => index = Some(i),
                Ok(None) => {
                    let shown = String::from_utf8_lossy(word).into_owned();
                    shell.builtin_error("dirs", &format!("{shown}: invalid option"));
                    shell.usage("dirs");
                    return Ok(2);
                }
                Err(status) => return Ok(status),
            },
        }
    }
    if let Some(index) = index {
        let dir = if index == 0 {
            Some(shell.st.cwd.to_vec())
        } else {
            shell.st.dirs.get(index - 1).cloned()
        };
        let dir = dir.unwrap_or_default();
        let text = if long { dir } else { shell.tilde_short(&dir) };
        shell.out.extend_from_slice(&text);
        shell.out.push(b'\n');
        return Ok(0);
    }
    shell.print_dirs(long, per_line, numbered);
    Ok(0)
}
