//! Reading commands: a text as a whole, or a script on standard input line by line.

use crate::interactive::Prompts;
use crate::os::{self, Errno};
use crate::parse::{Input, ParseError, Parser};
use crate::shell::{Run, Shell, Unwind};
use std::cell::RefCell;
use std::rc::Rc;

/// Standard input as a script: never more than a line is taken, so that commands can read what follows.
pub struct StdinLines {
    seekable: bool,
    prompts: Option<Rc<RefCell<Prompts>>>,
}

impl StdinLines {
    pub fn new(prompts: Option<Rc<RefCell<Prompts>>>) -> Self {
        let seekable = os::fstat(0).is_ok_and(|s| s.mode & os::S_IFMT == os::S_IFREG) && os::seek_by(0, 0).is_ok();
        Self { seekable, prompts }
    }
}

impl Input for StdinLines {
    fn more(&mut self, buf: &mut Vec<u8>) -> bool {
        let Some(prompts) = self.prompts.clone() else {
            return self.read_line(buf);
        };
        prompts.borrow_mut().show();
        let from = buf.len();
        let any = self.read_line(buf);
        if prompts.borrow().echo {
            os::write_error(&buf[from..]);
        }
        any
    }
}

/// The last line of a script ends as the others do.
fn end_line(buf: &mut Vec<u8>, any: bool) {
    if any && buf.last().is_some_and(|&c| c != b'\n') {
        buf.push(b'\n');
    }
}

impl StdinLines {
    fn read_line(&mut self, buf: &mut Vec<u8>) -> bool {
        if self.seekable {
            let mut block = [0u8; 1024];
            let mut any = false;
            loop {
                let n = match os::read(0, &mut block) {
                    Ok(n) => n,
                    Err(Errno::EINTR) => continue,
                    Err(_) => 0,
                };
                if n == 0 {
                    end_line(buf, any);
                    return any;
                }
                any = true;
                if let Some(i) = block[..n].iter().position(|&c| c == b'\n') {
                    buf.extend(block[..=i].iter().filter(|&&c| c != 0));
                    let ahead = (n - i - 1) as i64;
                    if ahead > 0 {
                        let _ = os::seek_by(0, -ahead);
                    }
                    return true;
                }
                buf.extend(block[..n].iter().filter(|&&c| c != 0));
            }
        }
        let mut byte = [0u8; 1];
        let mut any = false;
        loop {
            match os::read(0, &mut byte) {
                Ok(0) => {
                    end_line(buf, any);
                    return any;
                }
                Ok(_) => {
                    any = true;
                    if byte[0] != 0 {
                        buf.push(byte[0]);
                    }
                    if byte[0] == b'\n' {
                        return true;
                    }
                }
                Err(Errno::EINTR) => {}
                Err(_) => return any,
            }
        }
    }
}

impl Shell {
    /// Parses and runs a text command by command, as `eval`, `source` and traps do. An error that gives up a command
    /// ends the text.
    #[inline(never)]
    pub fn run_text(&mut self, text: Vec<u8>, line: u32, source: Rc<[u8]>) -> Run<i32> {
        let depth_outside = self.depth;
        self.depth += crate::exec::DEPTH_OF_ENVIRONMENT;
        if self.depth > crate::exec::MAX_DEPTH || crate::stack::is_short() {
            self.depth = depth_outside;
            return Err(self.too_deep());
        }
        let mut parser = Parser::new(text, line, source);
        let mut status = 0;
        let result = loop {
            match self.next_command(&mut parser) {
                Ok(None) => break Ok(status),
                Ok(Some(list)) => match self.run_list(&list) {
                    Ok(s) => status = s,
                    Err(Unwind::Discard(s)) => {
                        // The rest of the line is given up; in a subshell everything is.
                        if self.st.subshell > 0 {
                            break Err(Unwind::Discard(s));
                        }
                        self.st.status = s;
                        self.expansion_depth = 0;
                        status = s;
                    }
                    Err(unwind) => break Err(unwind),
                },
                Err(error) if error.line_only => {
                    self.syntax_error(&error);
                    self.st.status = 1;
                    status = 1;
                    parser.skip_line();
                }
                Err(error) => {
                    self.syntax_error(&error);
                    if self.st.opts.posix {
                        break Err(Unwind::Exit(2));
                    }
                    self.st.status = 2;
                    break Ok(2);
                }
            }
        };
        self.depth = depth_outside;
        result
    }

    /// Runs the main script: an error that gives up a command only ends that command, unless the text came with `-c`.
    pub fn run_main(&mut self, mut parser: Parser<'_>) -> i32 {
        let result = loop {
            if let Err(unwind) = self.prepare_prompts() {
                break Err(unwind);
            }
            match self.next_command(&mut parser) {
                Ok(None) => {
                    if self.prompts.is_some() {
                        self.say_exit();
                    }
                    break Ok(self.st.status);
                }
                Ok(Some(list)) => {
                    self.command_number += u32::from(!self.from_string);
                    self.show_ps0();
                    if self.st.opts.noexec {
                        continue;
                    }
                    if !self.from_string {
                        self.st.stdin_redirected = false;
                    }
                    match self.run_list(&list) {
                        Ok(_) => {}
                        Err(Unwind::Top(status)) if self.from_string => break Err(Unwind::Exit(status)),
                        Err(Unwind::Discard(status) | Unwind::Top(status)) => {
                            self.st.status = status;
                            self.st.errexit_off = 0;
                            self.st.loops = 0;
                            self.expansion_depth = 0;
                            self.depth = 0;
                            self.unwind_scopes();
                        }
                        Err(Unwind::Break(_) | Unwind::Continue(_)) => {}
                        Err(unwind) => break Err(unwind),
                    }
                    if self.st.opts.onecmd && !self.from_string {
                        break Ok(self.st.status);
                    }
                }
                Err(error) if error.line_only => {
                    self.syntax_error(&error);
                    self.st.status = 1;
                    parser.skip_line();
                    if self.st.opts.errexit {
                        break Err(Unwind::Exit(1));
                    }
                }
                Err(error) => {
                    self.syntax_error(&error);
                    if !error.keeps_status {
                        self.st.status = 2;
                    }
                    if self.prompts.is_none() || error.at_end {
                        // A script on standard input is given up as well.
                        break Err(Unwind::Exit(self.st.status));
                    }
                    parser.give_up_line();
                }
            }
        };
        let status = self.end_of_environment(result);
        self.flush_out();
        self.finish_readers();
        status
    }

    /// Forgets functions and scopes that an error left.
    fn unwind_scopes(&mut self) {
        while !self.st.scopes.is_empty() {
            self.pop_scope();
        }
        self.st.calls.clear();
    }

    #[inline(never)]
    fn next_command(&mut self, parser: &mut Parser<'_>) -> Result<Option<crate::ast::List>, ParseError> {
        parser.configure(self.active_aliases(), self.st.shopts.extglob, self.st.opts.posix);
        if self.handled != 0 {
            // Signals that arrived while a script on standard input was waited for.
            self.collect_signals();
        }
        parser.drop_consumed();
        let before = parser.position();
        let result = parser.next_command();
        if self.st.opts.verbose {
            let text = parser.text_since(before);
            self.flush_out();
            self.write_stderr(&text);
        }
        for (line, warning) in std::mem::take(&mut parser.warnings) {
            self.st.line = line;
            self.error(&warning);
        }
        result
    }

    /// Prints a syntax error as bash does.
    pub fn syntax_error(&mut self, error: &ParseError) {
        self.flush_out();
        let mut start = self.message_name().to_vec();
        if self.interactive {
            self.write_stderr(&[&start[..], b": ", error.message.as_bytes(), b"\n"].concat());
            return;
        }
        if self.eval_depth > 0 {
            start.extend_from_slice(b": eval");
        } else if self.from_string && self.st.calls.is_empty() {
            start.extend_from_slice(b": -c");
        }
        let prefix = |line: u32| [start.as_slice(), format!(": line {line}: ").as_bytes()].concat();
        let mut text = Vec::new();
        let own = (error.line, error.message.clone());
        for (line, message) in std::iter::once(&own).chain(&error.further) {
            if !message.is_empty() {
                text.extend_from_slice(&prefix(*line));
                text.extend_from_slice(message.as_bytes());
                text.push(b'\n');
            }
        }
        if let Some(line) = &error.source_line {
            text.extend_from_slice(&prefix(error.line));
            text.push(b'`');
            text.extend_from_slice(line);
            text.extend_from_slice(b"'\n");
        }
        self.write_stderr(&text);
    }
}
