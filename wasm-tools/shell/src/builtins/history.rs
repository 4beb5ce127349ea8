//! `history`: a list that scripts fill and read themselves, as nobody types commands here.

use crate::os;
use crate::shell::{Run, Shell, Unwind};
use crate::state::History;
use std::rc::Rc;

pub fn history(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"acd:npsrw") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let words = &argv[options.rest..];
    let files: Vec<u8> = options
        .list
        .iter()
        .map(|(l, _)| *l)
        .filter(|l| b"anrw".contains(l))
        .collect();
    if files.len() > 1 {
        shell.builtin_error("history", "cannot use more than one of -anrw");
        return Ok(1);
    }
    if options.has(b'c') {
        shell.st.history = Rc::default();
    }
    if options.has(b's') {
        if !words.is_empty() {
            shell.remember(words.join(&b' '));
        }
        return Ok(0);
    }
    if options.has(b'p') {
        for word in words {
            if word.contains(&b'!') {
                let shown = String::from_utf8_lossy(word).into_owned();
                shell.builtin_error("history", &format!("{shown}: history expansion failed"));
                return Ok(1);
            }
            shell.out.extend_from_slice(&[word.as_slice(), b"\n"].concat());
        }
        return Ok(0);
    }
    if let Some(place) = options.value(b'd') {
        return Ok(delete(shell, place));
    }
    if let Some(&letter) = files.first() {
        let file = words.first().cloned().or_else(|| shell.get_scalar(b"HISTFILE"));
        return Ok(match file.filter(|f| !f.is_empty()) {
            Some(file) => i32::from(!shell.history_file(letter, &file)),
            None => i32::from(letter == b'r'),
        });
    }
    if options.has(b'c') {
        return Ok(0);
    }
    if words.len() > 1 {
        shell.builtin_error("history", "too many arguments");
        return Err(Unwind::Top(1));
    }
    let count = match words.first().map(|word| (word, crate::arith::integer(word))) {
        None => usize::MAX,
        Some((_, Some(n))) => n.unsigned_abs() as usize,
        Some((word, None)) => {
            let shown = String::from_utf8_lossy(word).into_owned();
            shell.builtin_error("history", &format!("{shown}: numeric argument required"));
            return Ok(1);
        }
    };
    let history = shell.st.history.clone();
    let skip = history.lines.len().saturating_sub(count);
    for (i, line) in history.lines.iter().enumerate().skip(skip) {
        let number = format!("{:5}  ", history.dropped + i + 1);
        shell
            .out
            .extend_from_slice(&[number.as_bytes(), line.as_slice(), b"\n"].concat());
    }
    Ok(0)
}

/// `-d N`, `-d -N` from the end, or `-d N-M`.
fn delete(shell: &mut Shell, place: &[u8]) -> i32 {
    let history = Rc::make_mut(&mut shell.st.history);
    let (dropped, count) = (history.dropped as i64, history.lines.len() as i64);
    let index = |text: &[u8]| {
        let n = crate::arith::integer(text)?;
        let i = if n < 0 { count + n } else { n - 1 - dropped };
        (0..count).contains(&i).then_some(i as usize)
    };
    let dash = place.iter().skip(1).position(|&c| c == b'-').map(|i| i + 1);
    let range = match dash {
        Some(i) => index(&place[..i]).zip(index(&place[i + 1..])),
        None => index(place).map(|i| (i, i)),
    };
    let Some((from, to)) = range.filter(|(from, to)| from <= to) else {
        let shown = String::from_utf8_lossy(place).into_owned();
        shell.builtin_error("history", &format!("{shown}: history position out of range"));
        return 1;
    };
    history.lines.drain(from..=to);
    history.added = history.added.saturating_sub(to + 1 - from);
    0
}

impl History {
    /// Drops the oldest lines beyond `most`.
    fn limit(&mut self, most: usize) {
        let over = self.lines.len().saturating_sub(most);
        self.lines.drain(..over);
        self.dropped += over;
        self.added = self.added.min(self.lines.len());
    }
}

impl Shell {
    fn history_number(&mut self, name: &[u8]) -> Option<usize> {
        let value = self.get_scalar(name)?;
        crate::arith::integer(&value).and_then(|n| usize::try_from(n).ok())
    }

    fn remember(&mut self, line: Vec<u8>) {
        let most = self.history_number(b"HISTSIZE").unwrap_or(usize::MAX);
        let history = Rc::make_mut(&mut self.st.history);
        history.lines.push(line);
        history.added += 1;
        history.limit(most);
    }

    /// `-a`, `-n`, `-r` and `-w`; `false` when the file cannot be read or written.
    fn history_file(&mut self, letter: u8, file: &[u8]) -> bool {
        if matches!(letter, b'n' | b'r') {
            let Ok(text) = os::read_file(file) else {
                return letter == b'n';
            };
            let lines: Vec<Vec<u8>> = text
                .split_inclusive(|&c| c == b'\n')
                .map(|l| l.trim_ascii_end().to_vec())
                .collect();
            let total = lines.len();
            let most = self.history_number(b"HISTSIZE").unwrap_or(usize::MAX);
            let history = Rc::make_mut(&mut self.st.history);
            // `-n`: what was added to the file since it was read.
            let skip = if letter == b'n' { history.in_file } else { 0 };
            history.lines.extend(lines.into_iter().skip(skip));
            history.in_file = total;
            history.limit(most);
            return true;
        }
        let history = self.st.history.clone();
        let from = if letter == b'a' {
            history.lines.len() - history.added
        } else {
            0
        };
        let mut text = Vec::new();
        for line in &history.lines[from..] {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        let flags = os::O_WRONLY | os::O_CREAT | if letter == b'a' { os::O_APPEND } else { os::O_TRUNC };
        let written = os::open(file, flags | os::O_CLOEXEC, 0o600).and_then(|fd| {
            let result = os::write_all(fd, &text);
            os::close(fd).and(result)
        });
        let history = Rc::make_mut(&mut self.st.history);
        if written.is_ok() {
            history.in_file = if letter == b'a' {
                history.in_file + history.added
            } else {
                history.lines.len()
            };
            history.added = 0;
        }
        written.is_ok()
    }

    /// What an assignment to HISTSIZE or HISTFILESIZE does.
    pub fn history_sizes_changed(&mut self, name: &[u8]) {
        let Some(most) = self.history_number(name) else { return };
        if name == b"HISTSIZE" {
            let history = Rc::make_mut(&mut self.st.history);
            let over = history.lines.len().saturating_sub(most);
            history.limit(most);
            if over > 0 {
                // bash counts on from how many it dropped just now.
                history.dropped = over - 1;
            }
            return;
        }
        let file = self.get_scalar(b"HISTFILE").filter(|f| !f.is_empty());
        let Some((file, text)) = file.and_then(|f| os::read_file(&f).ok().map(|text| (f, text))) else {
            return;
        };
        let lines: Vec<&[u8]> = text.split_inclusive(|&c| c == b'\n').collect();
        if lines.len() > most
            && let Ok(fd) = os::open(&file, os::O_WRONLY | os::O_TRUNC | os::O_CLOEXEC, 0o600)
        {
            let _ = os::write_all(fd, &lines[lines.len() - most..].concat());
            let _ = os::close(fd);
        }
    }
}
