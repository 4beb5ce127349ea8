//! The shell itself: its state, what it keeps outside of shell environments, output, messages and the contexts that
//! subshells in place run in.

use crate::os::{self, Errno, Fd};
use crate::parse::Parser;
use crate::state::jobs::Jobs;
use crate::state::options::{SetOptions, Shopts};
use crate::state::vars::{Value, Var, attr};
use crate::state::{Getopts, State, Traps};
use std::cell::RefCell;
use std::rc::Rc;

/// Shells in shells: beyond this SHLVL begins anew.
const MAX_SHELL_LEVEL: i64 = 1000;

/// Why execution leaves the command it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unwind {
    Break(u32),
    Continue(u32),
    Return(i32),
    /// The shell environment ends.
    Exit(i32),
    /// An expansion or assignment failed: the whole current command is given up, with that status.
    Discard(i32),
    /// The same, and all `eval`s, sourced files and functions around it, too; a `-c` string ends.
    Top(i32),
}

impl Unwind {
    /// What an error in a subscript leaves: no `eval` or function around it goes on.
    pub fn to_top(self) -> Self {
        match self {
            Self::Discard(status) => Self::Top(status),
            other => other,
        }
    }
}

/// A result that may leave the command.
pub type Run<T> = Result<T, Unwind>;

/// Where a subshell in place stands. Nothing is told to the kernel until something would change that the parent sees.
#[derive(Debug, Default)]
pub struct Context {
    /// The kernel's saved table, once there is one.
    pub pushed: Option<i32>,
    /// For `$( )`: what was written so far, until a pipe takes over.
    pub capture: Option<Vec<u8>>,
    /// That pipe's reading and writing end, in the parent's table.
    pub pipe: Option<(Fd, Fd)>,
}

/// The running shell.
pub struct Shell {
    pub st: State,
    /// `$$`
    pub pid: i32,
    pub ppid: i32,
    /// The script's file, the bottom of BASH_SOURCE.
    pub main_source: Option<Rc<[u8]>>,
    /// Commands come from `-c`.
    pub from_string: bool,
    /// `-i` was given.
    pub interactive: bool,
    /// What is shown before the lines of commands from standard input.
    pub prompts: Option<Rc<RefCell<crate::interactive::Prompts>>>,
    /// Variables of the environment whose names are none in the shell: children get them as they are.
    pub foreign_environment: Vec<u8>,
    /// Commands come from standard input.
    pub from_stdin: bool,
    /// Output of builtins on its way to descriptor 1.
    pub out: Vec<u8>,
    pub contexts: Vec<Context>,
    /// Patterns in use.
    pub patterns: crate::pattern::Cache,
    /// Exported variables as an environment block.
    pub env_cache: Option<Rc<Vec<u8>>>,
    pub expansion_depth: u32,
    pub depth: u32,
    /// Status of the last command substitution in the command being run.
    pub substitution_status: Option<i32>,
    /// Descriptors of process substitutions to close when the command ends.
    pub open_substitutions: Vec<Fd>,
    /// Processes of `>( )`.
    pub readers: Vec<i32>,
    /// Signals that arrived and whose traps have not run yet.
    pub pending_signals: Vec<i32>,
    /// Signals ignored when the shell started: `trap` cannot change them.
    pub ignored_at_start: u64,
    /// Signals the kernel holds for this process because a trap wants them.
    pub handled: u64,
    /// Signals the kernel drops because of a trap, beside those ignored from the start.
    pub ignored: u64,
    /// Traps of the environments that subshells in place are in, the outermost first.
    pub outer_traps: Vec<Rc<Traps>>,
    /// Signals for one of those, by its place in `outer_traps`.
    pub deferred_signals: Vec<(usize, i32)>,
    /// A signal that ends the shell once its EXIT trap has run.
    pub fatal_signal: Option<i32>,
    /// A signal by which the running subshell in place ends itself.
    pub subshell_signal: Option<i32>,
    /// The signal that ended the last subshell in place.
    pub ended_by: Option<i32>,
    /// SHELLOPTS of the environment: options to switch on.
    pub inherited_options: Option<Vec<u8>>,
    /// The same for BASHOPTS.
    pub inherited_shopts: Option<Vec<u8>>,
    /// Whether the sandbox has a policy that may refuse builtins.
    pub policy: bool,
    /// A virtual process number for the next subshell in place.
    pub next_virtual_pid: i32,
    /// Depth of subshells that run in this process.
    pub in_place: u32,
    /// Where `set -x` writes.
    pub trace_fd: Fd,
    /// The EXIT trap is running or has run.
    pub exit_trap_done: bool,
    /// `command` calls the builtin that runs: its errors end no shell.
    pub by_command: bool,
    /// `command -p` runs: programs are looked for in the standard places.
    pub standard_path: bool,
    /// `$?` before the trap that runs, which `return` without an argument gives back.
    pub trap_status: Option<i32>,
    /// The EXIT trap runs: `exit` without an argument does the same.
    pub in_exit_trap: bool,
    /// The shell's own name, for `\s` of prompts in scripts.
    pub name: Rc<[u8]>,
    /// Number of the script's command being run, for `\#` of prompts.
    pub command_number: u32,
    /// Depth of `eval`, for the trace.
    pub eval_depth: u32,
    /// Depth of sourced files.
    pub source_depth: u32,
    /// What a trap run inside of a reading builtin left.
    pub pending_unwind: Option<Unwind>,
    /// Processes that are started get groups of their own.
    pub own_group: bool,
    /// The builtin that is running, for messages about its output.
    pub builtin: &'static str,
    /// Depth of running commands whose function or subshell hides traps: `BASH_COMMAND` is noted all the same.
    pub hidden_traps: u32,
    /// The next test of `[[` stands behind `!`, for the trace.
    pub cond_negated: bool,
    /// An error in `[[` is its status and does not give up the command.
    pub cond_soft: bool,
}

impl Shell {
    /// A shell with bash's initial state; variables come from `import_environment`.
    pub fn new(arg0: &[u8]) -> Self {
        let pid = os::getpid();
        let st = State {
            vars: Rc::default(),
            scopes: Vec::new(),
            functions: Rc::default(),
            aliases: Rc::default(),
            opts: SetOptions::default(),
            shopts: Rc::new(Shopts::default()),
            arg0: arg0.into(),
            positional: Rc::default(),
            traps: Rc::new(Traps::new()),
            inherited_traps: None,
            jobs: Jobs::default(),
            status: 0,
            pipe_status: vec![0],
            last_background: None,
            last_argument: arg0.into(),
            frozen_argument: false,
            calls: Vec::new(),
            script_args: None,
            source: Rc::from(&b"main"[..]),
            line: 0,
            dirs: Rc::default(),
            hash: Rc::default(),
            disabled: Rc::default(),
            getopts: Getopts { index: 1, offset: 0 },
            loops: 0,
            stdin_redirected: false,
            errexit_off: 0,
            subshell: 0,
            substitutions: 0,
            bash_pid: pid,
            random: (os::now_ns() / 1000) as u32 ^ pid as u32,
            seconds_base: (os::now_ns() / 1_000_000_000) as i64,
            in_trap: false,
            completions: Rc::default(),
            history: Rc::default(),
            cwd: Rc::from(&b""[..]),
            command_text: Rc::from(&b""[..]),
            limits: Rc::default(),
        };
        Self {
            st,
            pid,
            ppid: os::getppid(),
            main_source: None,
            from_string: false,
            interactive: false,
            prompts: None,
            foreign_environment: Vec::new(),
            from_stdin: false,
            out: Vec::new(),
            contexts: Vec::new(),
            patterns: crate::pattern::Cache::default(),
            env_cache: None,
            expansion_depth: 0,
            depth: 0,
            substitution_status: None,
            policy: !os::command_allowed(b""),
            open_substitutions: Vec::new(),
            readers: Vec::new(),
            pending_signals: Vec::new(),
            ignored_at_start: 0,
            handled: 0,
            ignored: 0,
            outer_traps: Vec::new(),
            deferred_signals: Vec::new(),
            fatal_signal: None,
            subshell_signal: None,
            ended_by: None,
            inherited_options: None,
            inherited_shopts: None,
            next_virtual_pid: 0,
            in_place: 0,
            trace_fd: 2,
            exit_trap_done: false,
            by_command: false,
            standard_path: false,
            trap_status: None,
            in_exit_trap: false,
            name: arg0.rsplit(|&c| c == b'/').next().unwrap_or_default().into(),
            command_number: 0,
            eval_depth: 0,
            source_depth: 0,
            pending_unwind: None,
            own_group: false,
            builtin: "",
            hidden_traps: 0,
            cond_negated: false,
            cond_soft: false,
        }
    }

    /// Takes over the environment and sets the variables every shell has.
    pub fn import_environment(&mut self) {
        self.define_dynamic();
        let vars = Rc::make_mut(&mut self.st.vars);
        let mut functions = Vec::new();
        for (name, value) in os::environment() {
            if let Some(name) = name.strip_prefix(b"BASH_FUNC_").and_then(|n| n.strip_suffix(b"%%")) {
                functions.push((name.to_vec(), value));
                continue;
            }
            if !crate::parse::is_name(&name) {
                if !name.is_empty() {
                    self.foreign_environment
                        .extend_from_slice(&[&name[..], b"=", &value, b"\0"].concat());
                }
                continue;
            }
            if let Some(slot) = vars.get_mut(name.as_slice()).filter(|v| v.has(attr::DYNAMIC)) {
                if name == b"SHELLOPTS" || name == b"BASHOPTS" {
                    Rc::make_mut(slot).attrs |= attr::EXPORT;
                }
                match name.as_slice() {
                    b"SHELLOPTS" => self.inherited_options = Some(value),
                    b"BASHOPTS" => self.inherited_shopts = Some(value),
                    _ => {}
                }
                continue;
            }
            if name == b"_" {
                self.st.last_argument = value.as_slice().into();
            }
            vars.insert(
                name.as_slice().into(),
                Rc::new(Var {
                    value: Value::Scalar(value),
                    attrs: attr::EXPORT,
                    scope: 0,
                }),
            );
        }
        let mut default = |name: &str, value: &[u8], attrs: u16| {
            vars.entry(name.as_bytes().into()).or_insert_with(|| {
                Rc::new(Var {
                    value: Value::Scalar(value.to_vec()),
                    attrs,
                    scope: 0,
                })
            });
        };
        default(
            "PATH",
            b"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            0,
        );
        default("BASH", b"/bin/bash", 0);
        default("BASH_VERSION", VERSION.as_bytes(), 0);
        default("COMP_WORDBREAKS", b" \t\n\"'@><=;|&(:", 0);
        default("HOSTNAME", b"sandbox", 0);
        default("HOSTTYPE", b"x86_64", 0);
        default("MACHTYPE", b"x86_64-pc-linux-gnu", 0);
        default("OSTYPE", b"linux-gnu", 0);
        default("OPTERR", b"1", 0);
        default("SHELL", b"/bin/bash", 0);
        default("TERM", b"dumb", 0);
        default("PS4", b"+ ", 0);
        default("UID", b"0", attr::READONLY | attr::INTEGER);
        default("EUID", b"0", attr::READONLY | attr::INTEGER);
        vars.insert(Rc::from(&b"IFS"[..]), Rc::new(Var::scalar(&b" \t\n"[..])));
        let mut optind = Var::scalar(&b"1"[..]);
        optind.attrs = attr::INTEGER;
        vars.insert(Rc::from(&b"OPTIND"[..]), Rc::new(optind));
        let ppid = Var {
            value: Value::Scalar(crate::arith::decimal(i64::from(self.ppid))),
            attrs: attr::READONLY | attr::INTEGER,
            scope: 0,
        };
        vars.insert(Rc::from(&b"PPID"[..]), Rc::new(ppid));
        let version = ["5", "2", "15", "1", "release", "x86_64-pc-linux-gnu"];
        let version = version
            .iter()
            .enumerate()
            .map(|(i, v)| (i as i64, v.as_bytes().to_vec()))
            .collect();
        vars.insert(
            Rc::from(&b"BASH_VERSINFO"[..]),
            Rc::new(Var {
                value: Value::Indexed(version, true),
                attrs: attr::READONLY,
                scope: 0,
            }),
        );
        let level = vars
            .get(&b"SHLVL"[..])
            .and_then(|v| v.text().and_then(crate::arith::integer))
            .unwrap_or(0);
        let level = match level + 1 {
            n if n < 0 => 0,
            n if n >= MAX_SHELL_LEVEL => {
                self.write_stderr(format!("bash: warning: shell level ({n}) too high, resetting to 1\n").as_bytes());
                1
            }
            n => n,
        };
        self.set_exported(b"SHLVL", &crate::arith::decimal(level));
        // What it was is known only as long as it is there.
        if self.plain_scalar(b"OLDPWD").is_some_and(|dir| !os::is_dir(dir)) {
            Rc::make_mut(&mut self.st.vars).remove(&b"OLDPWD"[..]);
        }
        self.init_cwd();
        for (name, body) in functions {
            self.import_function(&name, &body);
        }
    }

    /// PWD from the environment when it is right, else the kernel's word.
    fn init_cwd(&mut self) {
        let real = os::getcwd().unwrap_or_else(|_| b"/".to_vec());
        let pwd = self.plain_scalar(b"PWD").map(<[u8]>::to_vec);
        let cwd = match pwd {
            Some(pwd) if pwd == real => pwd,
            Some(pwd) if pwd.starts_with(b"/") && same_dir(&pwd, &real) => pwd,
            _ => real,
        };
        self.st.cwd = cwd.as_slice().into();
        self.set_exported(b"PWD", &cwd);
        if !self.st.vars.contains_key(&b"OLDPWD"[..]) {
            let var = Var {
                value: Value::Unset,
                attrs: attr::EXPORT,
                scope: 0,
            };
            Rc::make_mut(&mut self.st.vars).insert(Rc::from(&b"OLDPWD"[..]), Rc::new(var));
        }
    }

    /// Defines a function that came through the environment.
    fn import_function(&mut self, name: &[u8], body: &[u8]) {
        let text = [name, b" ", body].concat();
        let mut parser = Parser::new(text, 1, Rc::from(&b"environment"[..]));
        parser.configure(None, true, false);
        let Ok(list) = parser.whole() else {
            let shown = String::from_utf8_lossy(name).into_owned();
            self.error(&format!("error importing function definition for `{shown}'"));
            return;
        };
        if let [item] = list.0.as_slice()
            && let [command] = item.body.first.stages.as_slice()
            && let crate::ast::CommandKind::Function(def) = &command.kind
        {
            let function = crate::state::Function {
                def: def.clone(),
                exported: true,
                readonly: false,
                trace: false,
            };
            Rc::make_mut(&mut self.st.functions).insert(name.into(), function);
        }
    }

    // ---- Messages ----

    /// Prints `name: line N: message`.
    pub fn error(&mut self, message: &str) {
        self.error_bytes(message.as_bytes());
    }

    /// The same for text that need not be UTF-8.
    pub fn error_bytes(&mut self, message: &[u8]) {
        self.flush_out();
        let mut text = self.message_prefix();
        text.extend_from_slice(message);
        text.push(b'\n');
        self.write_stderr(&text);
    }

    /// Prints a message of a builtin, with its name.
    pub fn builtin_error(&mut self, builtin: &str, message: &str) {
        self.error(&format!("{builtin}: {message}"));
    }

    /// What precedes every message.
    pub fn message_prefix(&self) -> Vec<u8> {
        let mut text = self.message_name().to_vec();
        if self.interactive {
            text.extend_from_slice(b": ");
        } else {
            text.extend_from_slice(format!(": line {}: ", self.st.line.max(1)).as_bytes());
        }
        text
    }

    /// Who speaks in messages: the file that is being executed, as BASH_SOURCE has it.
    pub fn message_name(&self) -> &[u8] {
        if self.interactive || self.st.calls.is_empty() {
            &self.st.arg0
        } else {
            &self.st.source
        }
    }

    /// Writes to descriptor 2 of the current context.
    pub fn write_stderr(&mut self, text: &[u8]) {
        os::write_error(text);
    }

    /// The unwind of an expansion or assignment that went wrong; under `set -e` the shell ends.
    pub fn give_up(&self) -> Unwind {
        // An `eval` or a sourced file whose failure does not count goes on with the next command.
        let inside = self.eval_depth > 0 || self.source_depth > 0;
        if self.st.opts.errexit && !(inside && self.st.errexit_off > 0) {
            Unwind::Exit(1)
        } else {
            Unwind::Discard(1)
        }
    }

    /// The unwind of an expansion error that ends a non-interactive shell.
    pub fn fatal_expansion(&mut self) -> Unwind {
        if self.interactive && self.st.subshell == 0 {
            return if self.from_string {
                Unwind::Exit(1)
            } else {
                Unwind::Discard(1)
            };
        }
        Unwind::Exit(if self.from_string && self.st.subshell == 0 && !self.st.opts.errexit {
            127
        } else {
            1
        })
    }

    /// `$-`
    pub fn dollar_dash(&self) -> Vec<u8> {
        let mut text = self.st.opts.letters();
        if self.interactive {
            let at = text
                .iter()
                .position(|c| !(b'a'..=b'i').contains(c))
                .unwrap_or(text.len());
            text.insert(at, b'i');
        }
        if self.from_string {
            text.push(b'c');
        }
        if self.from_stdin {
            text.push(b's');
        }
        text
    }

    // ---- Output ----

    /// Writes what builtins printed to where descriptor 1 leads. Errors are the kernel's.
    pub fn flush_out(&mut self) -> bool {
        if self.out.is_empty() {
            return true;
        }
        let text = std::mem::take(&mut self.out);
        for context in self.contexts.iter_mut().rev() {
            if context.pushed.is_some() {
                break;
            }
            if let Some(buffer) = &mut context.capture {
                buffer.extend_from_slice(&text);
                // Give the buffer back for the next command.
                self.out = text;
                self.out.clear();
                return true;
            }
        }
        let result = os::write_all(1, &text);
        self.out = text;
        self.out.clear();
        match result {
            Ok(()) => true,
            Err(error) => {
                self.write_failed(error);
                false
            }
        }
    }

    fn write_failed(&mut self, error: Errno) {
        let mut text = self.message_prefix();
        text.extend_from_slice(format!("{}: write error: {}\n", self.builtin, os::message(error)).as_bytes());
        os::write_error(&text);
    }

    // ---- Contexts ----

    /// Makes the contexts real: from here on the kernel keeps what the parents had. To be called before anything that
    /// changes descriptors, the working directory or the umask, or that starts a process.
    pub fn materialise(&mut self) -> bool {
        let Some(from) = self.contexts.iter().position(|c| c.pushed.is_none()) else {
            return true;
        };
        self.flush_out();
        for i in from..self.contexts.len() {
            // The pipe is made before the push, so that reading it can wait until the whole context is gone.
            let pipe = match self.contexts[i].capture.as_ref().map(|_| os::pipe(true)).transpose() {
                Ok(pipe) => pipe,
                Err(error) => {
                    self.error(&format!(
                        "cannot make pipe for command substitution: {}",
                        os::message(error)
                    ));
                    return false;
                }
            };
            match os::push_context() {
                Ok(depth) => self.contexts[i].pushed = Some(depth),
                Err(error) => {
                    self.error(&format!("cannot make a subshell: {}", os::message(error)));
                    return false;
                }
            }
            if let Some((read, write)) = pipe {
                let buffer = self.contexts[i].capture.take().unwrap_or_default();
                if !buffer.is_empty() {
                    let _ = os::write_all(write, &buffer);
                }
                let _ = os::dup2(write, 1);
                let _ = os::close(write);
                let _ = os::close(read);
                self.contexts[i].pipe = pipe;
            }
        }
        true
    }

    /// Begins a subshell in place.
    pub fn push_context(&mut self, capture: bool) {
        self.flush_out();
        self.contexts.push(Context {
            pushed: None,
            capture: capture.then(Vec::new),
            pipe: None,
        });
    }

    /// Ends it; what it captured.
    pub fn pop_context(&mut self) -> Vec<u8> {
        self.flush_out();
        let Some(context) = self.contexts.pop() else {
            return Vec::new();
        };
        let mut captured = context.capture.unwrap_or_default();
        if let Some(depth) = context.pushed {
            os::pop_context(depth);
        }
        if let Some((read, write)) = context.pipe {
            // Whoever still writes is waited for.
            let _ = os::close(write);
            match os::read_to_end(read) {
                Ok(text) => captured = text,
                Err(error) => self.error(&format!("read error: {}", os::message(error))),
            }
            let _ = os::close(read);
        }
        captured
    }

    /// The table of aliases for the parser, when they are expanded.
    pub fn active_aliases(&self) -> Option<Rc<crate::parse::Aliases>> {
        (self.st.shopts.expand_aliases || self.st.opts.posix).then(|| self.st.aliases.clone())
    }
}

/// The version this shell behaves as.
pub const VERSION: &str = "5.2.15(1)-release";

fn same_dir(a: &[u8], b: &[u8]) -> bool {
    match (os::stat(a), os::stat(b)) {
        (Ok(a), Ok(b)) => a.dev == b.dev && a.ino == b.ino,
        _ => false,
    }
}
