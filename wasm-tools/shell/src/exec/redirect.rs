//! Redirections: applying them in order, and undoing them after builtins and compound commands.

use crate::ast::{HereDoc, Redirect, RedirectFd, RedirectKind, Word};
use crate::os::{self, Errno, Fd};
use crate::shell::{Run, Shell, Unwind};

/// Descriptors that keep what redirections replaced are from here on, as in bash.
const SAVE_FROM: Fd = 10;

/// Here-documents up to this size travel in a pipe, which has room for them; larger ones in a memory file.
const PIPE_ROOM: usize = 65_536;

/// What redirections replaced: the descriptor, and its copy (`None`: it was closed).
#[derive(Debug, Default)]
pub struct Saved {
    list: Vec<(Fd, Option<Fd>)>,
}

impl Shell {
    /// Applies redirections. `Ok(Err(()))`: one failed, the message is printed and the earlier ones are undone.
    #[inline(never)]
    pub fn redirect_all(&mut self, redirects: &[Redirect]) -> Run<Result<Saved, ()>> {
        let mut saved = Saved::default();
        if redirects.is_empty() {
            return Ok(Ok(saved));
        }
        self.flush_out();
        if !self.materialise() {
            return Ok(Err(()));
        }
        for redirect in redirects {
            match self.redirect(redirect, &mut saved) {
                Ok(true) => {}
                Ok(false) => {
                    self.undo_redirects(saved);
                    return Ok(Err(()));
                }
                Err(Unwind::Discard(_)) => {
                    self.undo_redirects(saved);
                    return Ok(Err(()));
                }
                Err(unwind) => {
                    self.undo_redirects(saved);
                    return Err(unwind);
                }
            }
        }
        Ok(Ok(saved))
    }

    /// Puts back what redirections replaced.
    #[inline(never)]
    pub fn undo_redirects(&mut self, saved: Saved) {
        if saved.list.is_empty() {
            return;
        }
        self.flush_out();
        for (fd, copy) in saved.list.into_iter().rev() {
            match copy {
                Some(copy) => {
                    let _ = os::dup2(copy, fd);
                    let _ = os::close(copy);
                }
                None => {
                    let _ = os::close(fd);
                }
            }
        }
    }

    /// Makes them permanent, for `exec`.
    pub fn keep_redirects(&mut self, saved: Saved) {
        for (_, copy) in saved.list {
            if let Some(copy) = copy {
                let _ = os::close(copy);
            }
        }
    }

    /// Expands a file name: one word exactly. `None` after a message.
    pub fn redirect_target(&mut self, word: &Word) -> Run<Option<Vec<u8>>> {
        let mut fields = Vec::new();
        if self.st.opts.posix {
            fields.push(self.expand_single(word)?);
        } else {
            self.expand_word_into(word, &mut fields)?;
        }
        if fields.len() != 1 {
            self.error_bytes(&[&word.raw[..], b": ambiguous redirect"].concat());
            return Ok(None);
        }
        Ok(fields.pop())
    }

    fn save(&mut self, fd: Fd, saved: &mut Saved) {
        if saved.list.iter().any(|(f, _)| *f == fd) {
            return;
        }
        let copy = os::dup(fd, SAVE_FROM, true).ok();
        saved.list.push((fd, copy));
    }

    fn redirect(&mut self, redirect: &Redirect, saved: &mut Saved) -> Run<bool> {
        use RedirectKind as K;
        match &redirect.kind {
            K::DupIn(word) => return self.duplicate(redirect, word, 0, saved),
            K::DupOut(word) => {
                // `>&word` without a number is `&>word`.
                if matches!(redirect.fd, RedirectFd::Default) && !looks_like_fd(word) {
                    let text = self.expand_single(word)?;
                    if !text.is_empty() && text != b"-" && !text.iter().all(u8::is_ascii_digit) && !text.ends_with(b"-")
                    {
                        return self.open_both(word, os::O_WRONLY | os::O_CREAT | os::O_TRUNC, saved);
                    }
                }
                return self.duplicate(redirect, word, 1, saved);
            }
            K::Both(word) => return self.open_both(word, os::O_WRONLY | os::O_CREAT | os::O_TRUNC, saved),
            K::BothAppend(word) => return self.open_both(word, os::O_WRONLY | os::O_CREAT | os::O_APPEND, saved),
            _ => {}
        }
        let (opened, default) = match &redirect.kind {
            K::Read(word) => (self.open_word(word, os::O_RDONLY)?, 0),
            K::Write(word) => (self.open_word(word, os::O_WRONLY | os::O_CREAT | os::O_TRUNC)?, 1),
            K::Clobber(word) => {
                let noclobber = std::mem::replace(&mut self.st.opts.noclobber, false);
                let opened = self.open_word(word, os::O_WRONLY | os::O_CREAT | os::O_TRUNC);
                self.st.opts.noclobber = noclobber;
                (opened?, 1)
            }
            K::Append(word) => (self.open_word(word, os::O_WRONLY | os::O_CREAT | os::O_APPEND)?, 1),
            K::ReadWrite(word) => (self.open_word(word, os::O_RDWR | os::O_CREAT)?, 0),
            K::HereString(word) => {
                let mut text = self.expand_assigned(word)?;
                text.push(b'\n');
                (self.text_fd(&text), 0)
            }
            K::HereDoc(doc) => {
                let text = self.heredoc_text(doc)?;
                (self.text_fd(&text), 0)
            }
            _ => (None, 0),
        };
        let Some(opened) = opened else { return Ok(false) };
        self.place(&redirect.fd, default, opened, saved)
    }

    /// Puts an open descriptor at its place.
    fn place(&mut self, fd: &RedirectFd, default: Fd, opened: Fd, saved: &mut Saved) -> Run<bool> {
        let target = match fd {
            RedirectFd::Default => default,
            RedirectFd::Number(n) => *n,
            RedirectFd::Variable(name) => {
                let moved = os::dup(opened, SAVE_FROM, false);
                let _ = os::close(opened);
                return match moved {
                    Ok(moved) => {
                        let assigned = self.assign_fd(name, moved);
                        if assigned.is_err() {
                            let _ = os::close(moved);
                            self.error_bytes(&[name.as_slice(), b": cannot assign fd to variable"].concat());
                        }
                        if assigned.is_ok() && self.st.shopts.varredir_close {
                            saved.list.push((moved, None));
                        }
                        Ok(assigned.is_ok())
                    }
                    Err(error) => {
                        self.error_bytes(&[name.as_slice(), b": ", os::message(error).as_bytes()].concat());
                        Ok(false)
                    }
                };
            }
        };
        if opened == target {
            // The lowest free number happened to be the right one.
            if !saved.list.iter().any(|(f, _)| *f == target) {
                saved.list.push((target, None));
            }
            let _ = os::set_cloexec(target, false);
            return Ok(true);
        }
        self.save(target, saved);
        let result = os::dup2(opened, target);
        let _ = os::close(opened);
        if let Err(error) = result {
            self.error(&format!("{target}: {}", os::message(error)));
            return Ok(false);
        }
        Ok(true)
    }

    fn assign_fd(&mut self, name: &[u8], fd: Fd) -> Run<()> {
        self.assign_place(name, crate::arith::decimal(i64::from(fd)))
    }

    /// Assigns a variable or an element, `name[subscript]`.
    pub fn assign_place(&mut self, name: &[u8], value: Vec<u8>) -> Run<()> {
        match name.iter().position(|&c| c == b'[') {
            Some(open) if name.ends_with(b"]") => {
                self.set_element_text(&name[..open], &name[open + 1..name.len() - 1], value, false)
            }
            _ => self.set_scalar(name, value),
        }
    }

    fn open_word(&mut self, word: &Word, flags: u32) -> Run<Option<Fd>> {
        let Some(name) = self.redirect_target(word)? else {
            return Ok(None);
        };
        match self.open_file(&name, flags) {
            Ok(fd) => Ok(Some(fd)),
            Err(message) => {
                self.error_bytes(&[name.as_slice(), b": ", message.as_bytes()].concat());
                Ok(None)
            }
        }
    }

    /// Opens a file as a redirection does, with `noclobber`.
    fn open_file(&mut self, name: &[u8], flags: u32) -> Result<Fd, String> {
        let text = |e: Errno| os::message(e).to_string();
        let truncates = flags & os::O_TRUNC != 0;
        if truncates && self.st.opts.noclobber {
            match os::stat(name) {
                Ok(st) if st.mode & os::S_IFMT == os::S_IFREG => return Err("cannot overwrite existing file".into()),
                Ok(_) => return self.open_retry(name, flags & !os::O_TRUNC).map_err(text),
                Err(_) => {
                    return self.open_retry(name, flags | os::O_EXCL).map_err(|e| {
                        if e == Errno::EEXIST {
                            "cannot overwrite existing file".into()
                        } else {
                            text(e)
                        }
                    });
                }
            }
        }
        self.open_retry(name, flags).map_err(text)
    }

    /// Opens; a signal while a FIFO waits for its other end runs its trap afterwards.
    fn open_retry(&mut self, name: &[u8], flags: u32) -> Result<Fd, Errno> {
        loop {
            match os::open(name, flags | os::O_CLOEXEC, 0o666) {
                Err(Errno::EINTR) => self.collect_signals(),
                other => return other,
            }
        }
    }

    fn open_both(&mut self, word: &Word, flags: u32, saved: &mut Saved) -> Run<bool> {
        let Some(fd) = self.open_word(word, flags)? else {
            return Ok(false);
        };
        self.save(1, saved);
        self.save(2, saved);
        let result = os::dup2(fd, 1).and_then(|()| os::dup2(fd, 2));
        if fd > 2 {
            let _ = os::close(fd);
        }
        Ok(result.is_ok())
    }

    /// `<&word` and `>&word`: copies, moves (`3-`) or closes (`-`).
    fn duplicate(&mut self, redirect: &Redirect, word: &Word, default: Fd, saved: &mut Saved) -> Run<bool> {
        let text = match self.redirect_target(word)? {
            Some(text) => text,
            None => return Ok(false),
        };
        let target = match &redirect.fd {
            RedirectFd::Default => Some(default),
            RedirectFd::Number(n) => Some(*n),
            RedirectFd::Variable(name) => {
                if text == b"-" {
                    // `{name}>&-` closes the descriptor whose number the variable holds.
                    let value = match name.iter().position(|&c| c == b'[') {
                        Some(open) if name.ends_with(b"]") => {
                            self.get_element_text(&name[..open], &name[open + 1..name.len() - 1])?
                        }
                        _ => self.get_scalar(name),
                    };
                    let fd = value.and_then(|v| crate::arith::integer(&v));
                    let Some(fd) = fd.and_then(|n| i32::try_from(n).ok()) else {
                        self.error_bytes(&[name.as_slice(), b": Bad file descriptor"].concat());
                        return Ok(false);
                    };
                    let _ = os::close(fd);
                    return Ok(true);
                }
                None
            }
        };
        if text == b"-" {
            let Some(target) = target else { return Ok(false) };
            self.save(target, saved);
            let _ = os::close(target);
            return Ok(true);
        }
        let (digits, moves) = match text.strip_suffix(b"-") {
            Some(digits) => (digits, true),
            None => (text.as_slice(), false),
        };
        let source = std::str::from_utf8(digits)
            .ok()
            .and_then(|d| d.parse::<Fd>().ok())
            .filter(|_| !digits.is_empty());
        let Some(source) = source else {
            self.error_bytes(&[&text[..], b": ambiguous redirect"].concat());
            return Ok(false);
        };
        if !os::is_open(source) {
            self.error_bytes(&[&word.raw[..], b": Bad file descriptor"].concat());
            return Ok(false);
        }
        match (target, &redirect.fd) {
            (Some(target), _) => {
                if source == target {
                    let _ = os::set_cloexec(target, false);
                    return Ok(true);
                }
                self.save(target, saved);
                if let Err(error) = os::dup2(source, target) {
                    self.error(&format!("{source}: {}", os::message(error)));
                    return Ok(false);
                }
            }
            (None, RedirectFd::Variable(name)) => match os::dup(source, SAVE_FROM, false) {
                Ok(fd) => self.assign_fd(name, fd)?,
                Err(error) => {
                    self.error(&format!("{source}: {}", os::message(error)));
                    return Ok(false);
                }
            },
            _ => {}
        }
        if moves {
            self.save(source, saved);
            let _ = os::close(source);
        }
        Ok(true)
    }

    /// The text of a here-document.
    pub fn heredoc_text(&mut self, doc: &HereDoc) -> Run<Vec<u8>> {
        let body = doc.body.borrow();
        self.expand_single(&body)
    }

    /// A descriptor from which the text can be read.
    pub fn text_fd(&mut self, text: &[u8]) -> Option<Fd> {
        let result = if text.len() <= PIPE_ROOM {
            os::pipe(false).and_then(|(read, write)| {
                let result = os::write_all(write, text);
                let _ = os::close(write);
                result.map(|()| read)
            })
        } else {
            os::memfd().and_then(|fd| os::write_all(fd, text).and_then(|()| os::seek_to(fd, 0)).map(|_| fd))
        };
        match result {
            Ok(fd) => Some(fd),
            Err(error) => {
                self.error(&format!(
                    "cannot create temp file for here-document: {}",
                    os::message(error)
                ));
                None
            }
        }
    }
}

/// Whether the word is written as a descriptor number or `-`.
fn looks_like_fd(word: &Word) -> bool {
    word.literal()
        .is_some_and(|t| t == b"-" || !t.is_empty() && t.iter().all(|c| c.is_ascii_digit() || *c == b'-'))
}

/// Whether redirections give a command its standard input, as bash reckons it.
pub fn of_stdin(redirects: &[Redirect]) -> bool {
    redirects.iter().any(|redirect| match redirect.kind {
        _ if matches!(redirect.fd, RedirectFd::Variable(_)) => false,
        RedirectKind::Read(_) | RedirectKind::ReadWrite(_) | RedirectKind::HereString(_) | RedirectKind::HereDoc(_) => {
            true
        }
        RedirectKind::DupIn(_) => matches!(redirect.fd, RedirectFd::Default | RedirectFd::Number(0)),
        _ => false,
    })
}
