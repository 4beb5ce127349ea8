//! Programs: finding them along PATH, their environment, starting them and waiting.

use super::simple::Prepared;
use crate::os::{self, Errno, Status};
use crate::shell::{Run, Shell, Unwind};
use crate::state::vars::{Value, attr};
use std::rc::Rc;

/// PATH of `command -p`.
const STANDARD_PATH: &[u8] = b"/bin:/usr/bin:/sbin:/usr/sbin:/etc:/usr/etc";

const SIGINT: i32 = 2;
const SIGPIPE: i32 = 13;
const SIGTERM: i32 = 15;

/// Why a program did not start: the message without prefix, and the status. Without a message the kernel has said it.
pub struct NotStarted {
    pub message: Vec<u8>,
    pub status: i32,
}

impl NotStarted {
    /// The sandbox's policy does not allow it.
    const BY_POLICY: Self = Self {
        message: Vec::new(),
        status: 126,
    };
}

impl Shell {
    /// Runs a program in the foreground.
    #[inline(never)]
    pub fn run_external_command(&mut self, command: Prepared<'_>) -> Run<i32> {
        if !self.materialise() {
            return Ok(1);
        }
        self.flush_out();
        // The words of its redirections are expanded as in the child: nothing of them stays.
        let (vars, env) = (self.st.vars.clone(), self.env_cache.clone());
        let last_background = self.st.last_background;
        let redirected = self.redirect_all(command.redirects);
        (self.st.vars, self.env_cache) = (vars, env);
        self.st.last_background = last_background;
        let saved = match redirected {
            Ok(Ok(saved)) => saved,
            Ok(Err(())) => return Ok(1),
            // What ends a shell ends that child only.
            Err(Unwind::Exit(status)) => return Ok(status),
            Err(unwind) => return Err(unwind),
        };
        let mut ended = None;
        let result = match self.push_assignments(command.assigns) {
            Ok(pushed) => {
                let started = self.start_program(&command.argv);
                if pushed {
                    self.pop_scope();
                }
                Ok(match started {
                    Ok(pid) => {
                        let status = self.wait_foreground(pid);
                        ended = Some((pid, status));
                        status.shell_code()
                    }
                    Err(failure) => self.not_started(&command.argv, failure)?,
                })
            }
            Err(unwind) => Err(unwind),
        };
        self.undo_redirects(saved);
        if let Some((pid, status)) = ended {
            self.report_signal(pid, status, true, || match command.simple {
                Some(simple) => crate::print::simple_text(simple, command.redirects),
                None => command.argv.join(&b' '),
            });
        }
        result
    }

    /// Says why a program did not start; `command_not_found_handle` comes first.
    #[inline(never)]
    pub fn not_started(&mut self, argv: &[Vec<u8>], failure: NotStarted) -> Run<i32> {
        if failure.status == 127
            && argv.first().is_some_and(|n| !n.contains(&b'/'))
            && let Some(function) = self.st.functions.get(&b"command_not_found_handle"[..]).cloned()
        {
            let mut args = vec![b"command_not_found_handle".to_vec()];
            args.extend_from_slice(argv);
            let def = function.def;
            return Ok(self.in_subshell(|shell| shell.call_function(&def, args)));
        }
        self.say_failure(&failure);
        Ok(failure.status)
    }

    fn say_failure(&mut self, failure: &NotStarted) {
        if !failure.message.is_empty() {
            self.error_bytes(&failure.message);
        }
    }

    /// Starts a program with the current descriptors and environment.
    pub fn start_program(&mut self, argv: &[Vec<u8>]) -> Result<i32, NotStarted> {
        let name = &argv[0];
        let fail = |message: &[u8], status: i32| NotStarted {
            message: [name.as_slice(), b": ", message].concat(),
            status,
        };
        let path = if name.contains(&b'/') {
            name.clone()
        } else {
            match self.find_program(name) {
                Some(path) => path,
                // The kernel is asked all the same: it notes what was missed, and why, for the caller's hints.
                None => {
                    return match self.spawn(name, argv) {
                        Ok(pid) => Ok(pid),
                        Err(Errno::EPERM) => Err(NotStarted::BY_POLICY),
                        Err(_) => Err(fail(b"command not found", 127)),
                    };
                }
            }
        };
        match self.spawn(&path, argv) {
            Ok(pid) => Ok(pid),
            Err(Errno::EPERM) => Err(NotStarted::BY_POLICY),
            Err(error) => {
                // A remembered place that is gone is reported as such, as bash does without `checkhash`.
                let name = if error == Errno::ENOENT { &path } else { name };
                let fail = |message: &[u8], status: i32| NotStarted {
                    message: [name.as_slice(), b": ", message].concat(),
                    status,
                };
                let status = if error == Errno::ENOENT || error == Errno::ENOTDIR {
                    127
                } else {
                    126
                };
                Err(fail(spawn_message(error, &path).as_bytes(), status))
            }
        }
    }

    fn spawn(&mut self, path: &[u8], argv: &[Vec<u8>]) -> os::Result<i32> {
        let mut env = self.environment_block().to_vec();
        env.extend_from_slice(b"_=");
        env.extend_from_slice(path);
        env.push(0);
        let ignored = self.ignored_signals();
        self.start_process(&os::Spawn {
            path,
            argv,
            env: &env,
            fds: &[],
            ignored,
            own_group: self.own_group,
        })
    }

    /// Replaces the shell by a program; what went wrong.
    pub fn exec_program(&mut self, path: &[u8], argv: &[Vec<u8>], env: &[u8]) -> Errno {
        os::Spawn {
            path,
            argv,
            env,
            fds: &[],
            ignored: self.ignored_signals(),
            own_group: false,
        }
        .exec()
    }

    /// The environment for a program that replaces the shell: SHLVL counts this shell no longer.
    fn environment_one_level_up(&mut self) -> Vec<u8> {
        let level = self.get_scalar(b"SHLVL").and_then(|text| crate::arith::integer(&text));
        let block = self.environment_block();
        let Some(level) = level else { return block.to_vec() };
        let mut env = Vec::with_capacity(block.len());
        for entry in block.split_inclusive(|&c| c == 0) {
            if entry.starts_with(b"SHLVL=") {
                env.extend_from_slice(format!("SHLVL={}\0", level.saturating_sub(1)).as_bytes());
            } else {
                env.extend_from_slice(entry);
            }
        }
        env
    }

    /// The exported variables and functions as an environment block.
    pub fn environment_block(&mut self) -> Rc<Vec<u8>> {
        if let Some(block) = &self.env_cache {
            return block.clone();
        }
        let mut names: Vec<_> = self
            .st
            .vars
            .iter()
            .filter(|(n, v)| {
                v.has(attr::EXPORT)
                    && matches!(v.value, Value::Scalar(_))
                    && (!v.has(attr::DYNAMIC) || &n[..] == b"SHELLOPTS" || &n[..] == b"BASHOPTS")
            })
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        let mut block = Vec::with_capacity(1024);
        for (name, var) in names {
            let dynamic;
            let value = if var.has(attr::DYNAMIC) {
                dynamic = self.dynamic_value(&name);
                &dynamic
            } else {
                &var.value
            };
            if let Value::Scalar(text) = value {
                if text.contains(&0) {
                    continue;
                }
                block.extend_from_slice(&name);
                block.push(b'=');
                block.extend_from_slice(text);
                block.push(0);
            }
        }
        block.extend_from_slice(&self.foreign_environment);
        for (name, function) in self.st.functions.iter().filter(|(_, f)| f.exported) {
            block.extend_from_slice(b"BASH_FUNC_");
            block.extend_from_slice(name);
            block.extend_from_slice(b"%%=() ");
            block.extend_from_slice(&crate::print::function_body(&function.def));
            block.push(0);
        }
        let block = Rc::new(block);
        self.env_cache = Some(block.clone());
        block
    }

    /// Where a program is, by the hash table or along PATH.
    pub fn find_program(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        if name.is_empty() {
            return None;
        }
        if self.st.opts.hashall
            && !self.standard_path
            && let Some((path, hits)) = Rc::make_mut(&mut self.st.hash).get_mut(name)
            && (!self.st.shopts.checkhash || os::access(path, os::X_OK))
        {
            *hits += 1;
            return Some(path.clone());
        }
        let path = self.search_path(name).into_iter().next()?;
        if self.st.opts.hashall && path.contains(&b'/') {
            Rc::make_mut(&mut self.st.hash).insert(name.to_vec(), (path.clone(), 1));
        }
        Some(path)
    }

    /// All executable files of that name along PATH; without any, one that is there but not executable.
    pub fn search_path(&mut self, name: &[u8]) -> Vec<Vec<u8>> {
        self.search_path_in(name, false)
    }

    /// The same; `all` goes on after the first.
    pub fn search_path_in(&mut self, name: &[u8], all: bool) -> Vec<Vec<u8>> {
        let path = if self.standard_path {
            STANDARD_PATH.to_vec()
        } else {
            self.get_scalar(b"PATH").unwrap_or_default()
        };
        let mut found = Vec::new();
        let mut fallback = None;
        for dir in path.split(|&c| c == b':') {
            let mut file = if dir.is_empty() { b".".to_vec() } else { dir.to_vec() };
            file.push(b'/');
            file.extend_from_slice(name);
            match os::stat(&file) {
                Ok(st) if st.mode & os::S_IFMT == os::S_IFREG => {
                    if st.mode & 0o111 != 0 {
                        found.push(file);
                        if !all {
                            return found;
                        }
                    } else if fallback.is_none() {
                        fallback = Some(file);
                    }
                }
                _ => {}
            }
        }
        if found.is_empty() && !all {
            found.extend(fallback);
        }
        found
    }

    /// A path from the root.
    fn absolute(&self, path: &[u8]) -> Vec<u8> {
        if path.starts_with(b"/") {
            return path.to_vec();
        }
        let rest = path.strip_prefix(b"./").unwrap_or(path);
        [&self.st.cwd[..], b"/", rest].concat()
    }

    /// PATH was assigned: remembered places are void.
    pub fn path_changed(&mut self) {
        if !self.st.hash.is_empty() {
            self.st.hash = Rc::default();
        }
    }

    /// Waits for a process of the foreground. Signals with traps wait until it has ended.
    pub fn wait_foreground(&mut self, pid: i32) -> Status {
        loop {
            match os::wait(pid, false) {
                Ok(Some((_, status))) => return status,
                Err(Errno::EINTR) => {
                    self.collect_signals();
                    if let Some(signal) = self.fatal_signal {
                        return Status::Exited(128 + signal);
                    }
                }
                Ok(None) | Err(_) => return Status::Exited(127),
            }
        }
    }

    /// Says that a signal ended a process: with the command's text, or where scripts end their own processes, as
    /// little as bash does.
    #[inline(never)]
    pub fn report_signal(&mut self, pid: i32, status: Status, foreground: bool, text: impl FnOnce() -> Vec<u8>) {
        let Status::Signaled(signal) = status else { return };
        if signal == SIGINT || signal == SIGPIPE {
            return;
        }
        let name = os::signal_text(signal).unwrap_or("Unknown signal");
        let trapped = self.st.traps.get(&signal).is_some_and(|a| !a.is_empty());
        if signal != SIGTERM && !trapped {
            let mut message = format!("{pid:>5} {name:<23} ").into_bytes();
            message.extend_from_slice(&text());
            self.error_bytes(&message);
        } else if foreground {
            self.flush_out();
            self.write_stderr(format!("{name}\n").as_bytes());
        }
    }

    /// `exec`: replaces the shell, or makes redirections permanent.
    #[inline(never)]
    pub fn run_exec(&mut self, command: Prepared<'_>) -> Run<i32> {
        let mut argv = &command.argv[1..];
        let mut clear = false;
        let mut login = false;
        let mut name: Option<Vec<u8>> = None;
        while let Some((first, rest)) = argv.split_first() {
            match first.as_slice() {
                b"--" => {
                    argv = rest;
                    break;
                }
                b"-c" => clear = true,
                b"-l" => login = true,
                b"-cl" | b"-lc" => {
                    clear = true;
                    login = true;
                }
                b"-a" => {
                    let Some((value, rest)) = rest.split_first() else {
                        self.builtin_error("exec", "-a: option requires an argument");
                        return Ok(2);
                    };
                    name = Some(value.clone());
                    argv = rest;
                    continue;
                }
                [b'-', other, ..] => {
                    self.error(&format!("exec: -{}: invalid option", *other as char));
                    self.write_stderr(
                        b"exec: usage: exec [-cl] [-a name] [command [argument ...]] [redirection ...]\n",
                    );
                    return Ok(2);
                }
                _ => break,
            }
            argv = rest;
        }
        if !self.materialise() {
            return Ok(1);
        }
        let saved = match self.redirect_all(command.redirects)? {
            Ok(saved) => saved,
            // A failed redirection of `exec` ends a non-interactive shell.
            Err(()) if self.st.opts.posix => return Err(Unwind::Exit(1)),
            Err(()) => return Ok(1),
        };
        if argv.is_empty() {
            self.keep_redirects(saved);
            // They stay where exec is a special builtin in that, too.
            if self.st.opts.posix {
                for assign in command.assigns {
                    self.run_assign(assign)?;
                }
            } else if self.push_assignments(command.assigns)? {
                self.pop_scope();
            }
            return Ok(0);
        }
        self.push_assignments(command.assigns)?;
        let argv = argv.to_vec();
        let program = &argv[0];
        let path = if program.contains(&b'/') {
            Some(program.clone())
        } else {
            self.find_program(program)
        };
        let failure = match path {
            None => NotStarted {
                message: [b"exec: ", program.as_slice(), b": not found"].concat(),
                status: 127,
            },
            Some(path) => {
                let mut words = argv.clone();
                if let Some(name) = name {
                    words[0] = name;
                }
                if login {
                    words[0].insert(0, b'-');
                }
                let mut env = if self.st.subshell <= self.st.substitutions {
                    self.environment_one_level_up()
                } else {
                    self.environment_block().to_vec()
                };
                env.extend_from_slice(b"_=");
                env.extend_from_slice(&path);
                env.push(0);
                if clear {
                    env.clear();
                }
                self.flush_out();
                // In a subshell that runs in place, the process is not the subshell's own: start, wait, leave.
                let error = if self.in_place > 0 {
                    let request = os::Spawn {
                        path: &path,
                        argv: &words,
                        env: &env,
                        fds: &[],
                        ignored: self.ignored_signals(),
                        own_group: false,
                    };
                    match self.start_process(&request) {
                        Ok(pid) => {
                            let status = self.wait_foreground(pid);
                            self.exit_trap_done = true;
                            return Err(Unwind::Exit(status.shell_code()));
                        }
                        Err(error) => error,
                    }
                } else {
                    self.exec_program(&path, &words, &env)
                };
                let status = if error == Errno::ENOENT || error == Errno::ENOTDIR {
                    127
                } else {
                    126
                };
                let reason = spawn_message(error, &path);
                let full = self.absolute(&path);
                match error {
                    Errno::EPERM => NotStarted::BY_POLICY,
                    _ => {
                        let message = [&full[..], b": ", reason.as_bytes()].concat();
                        // What is there is named twice.
                        let message = if error == Errno::EACCES {
                            self.error_bytes(&message);
                            [b"exec: ", &full[..], b": cannot execute: ", reason.as_bytes()].concat()
                        } else {
                            message
                        };
                        NotStarted { message, status }
                    }
                }
            }
        };
        self.say_failure(&failure);
        self.undo_redirects(saved);
        if self.st.shopts.execfail && self.st.subshell == 0 {
            return Ok(failure.status);
        }
        Err(Unwind::Exit(failure.status))
    }
}

/// bash's words for an error of spawn.
fn spawn_message(error: Errno, path: &[u8]) -> String {
    if error == Errno::EACCES && os::is_dir(path) {
        return "Is a directory".into();
    }
    if error == Errno::ENOEXEC {
        return "cannot execute binary file: Exec format error".into();
    }
    if error == Errno::ENOENT && os::stat(path).is_ok() {
        return "cannot execute: required file not found".into();
    }
    os::message(error).to_string()
}
