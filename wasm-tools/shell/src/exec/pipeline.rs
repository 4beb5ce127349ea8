//! Pipelines, `time`, background commands, process substitutions and coprocesses: everything that needs a process.

use crate::ast::{AndOr, Arg, Command, CommandKind, List, ListItem, Pipeline, Redirect, RedirectKind, Simple, Timed};
use crate::exec::redirect::of_stdin;
use crate::os::{self, Fd};
use crate::shell::{Run, Shell, Unwind};
use crate::state::vars::Indexed;
use std::rc::Rc;
use std::time::Duration;

/// How long a builtin at the end of a pipeline leaves its input open for writers that have not begun.
const LAST_STAGE_GRACE: Duration = Duration::from_millis(20);

/// How long the readers of `>( )` have at the end.
const READERS_TIME: Duration = Duration::from_secs(2);

/// A pipeline stage that has begun.
enum Stage {
    Process(i32),
    /// It ended without a process, or could not begin.
    Done(i32),
}

impl Shell {
    /// Runs the stages of a pipeline at the same time.
    #[inline(never)]
    pub(super) fn run_pipes(&mut self, stages: &[Command]) -> Run<i32> {
        if self.handled != 0 {
            self.run_pending_traps()?;
        }
        self.flush_out();
        if !self.materialise() {
            return Ok(1);
        }
        let Some((last, others)) = stages.split_last() else {
            return Ok(0);
        };
        let mut begun: Vec<Stage> = Vec::with_capacity(stages.len());
        let mut input: Option<Fd> = None;
        for stage in others {
            // A builtin that only prints needs no process: its text waits in a pipe without bound.
            let printing = self.printing_builtin(stage);
            let (read, write) = match os::pipe(printing) {
                Ok(ends) => ends,
                Err(error) => {
                    self.error(&format!("pipe error: {}", os::message(error)));
                    close(input.take());
                    return Ok(254);
                }
            };
            let stage = if printing {
                let (status, text) = self.subshell(true, |shell| shell.run_command(stage));
                let _ = os::write_all(write, &text);
                Stage::Done(status)
            } else {
                self.start_stage(stage, input, Some(write), false)?
            };
            let _ = os::close(write);
            close(input.replace(read));
            begun.push(stage);
        }
        // The last stage runs here: with `lastpipe` in this environment, else as a subshell in place.
        let status = if self.st.shopts.lastpipe && !self.st.opts.monitor {
            self.run_last_pipe(last, input)
        } else if self.is_program(last) {
            let stage = self.start_stage(last, input, None, false);
            close(input);
            match stage? {
                Stage::Process(pid) => {
                    let status = self.wait_foreground(pid);
                    self.report_signal(pid, status, true, || crate::print::command_text(last));
                    Ok(status.shell_code())
                }
                Stage::Done(status) => Ok(status),
            }
        } else {
            let (status, _) = self.subshell(false, |shell| {
                shell.st.errexit_off = 0;
                if !shell.materialise() {
                    return Ok(1);
                }
                if let Some(fd) = input {
                    let _ = os::dup2(fd, 0);
                    let _ = os::close(fd);
                }
                shell.st.stdin_redirected = true;
                let result = match &last.kind {
                    CommandKind::Subshell(list) => shell.run_group(list, &last.redirects),
                    _ => shell.run_command(last),
                };
                if let (true, CommandKind::Simple(_)) = (result.is_ok(), &last.kind) {
                    // A builtin that reads nothing ends before a process would even have begun: give the writers
                    // before it the time to write once, or to end, before their reader goes.
                    let _ = os::poll_read(0, Some(LAST_STAGE_GRACE));
                }
                result
            });
            close(input);
            Ok(status)
        };
        let mut statuses = Vec::with_capacity(stages.len());
        for stage in begun {
            statuses.push(match stage {
                Stage::Done(status) => status,
                Stage::Process(pid) => self.wait_foreground(pid).shell_code(),
            });
        }
        let last_status = status?;
        statuses.push(last_status);
        let status = if self.st.opts.pipefail {
            statuses.iter().rev().copied().find(|&s| s != 0).unwrap_or(0)
        } else {
            last_status
        };
        self.st.pipe_status = statuses;
        self.st.status = status;
        Ok(status)
    }

    fn run_last_pipe(&mut self, last: &Command, input: Option<Fd>) -> Run<i32> {
        let saved = os::dup(0, 10, true).ok();
        if let Some(fd) = input {
            let _ = os::dup2(fd, 0);
            let _ = os::close(fd);
        }
        let result = self.run_command(last);
        match saved {
            Some(saved) => {
                let _ = os::dup2(saved, 0);
                let _ = os::close(saved);
            }
            None => {
                let _ = os::close(0);
            }
        }
        result
    }

    /// Whether the command is a builtin that reads nothing, changes nothing that matters in a subshell and ends soon.
    fn printing_builtin(&mut self, command: &Command) -> bool {
        let CommandKind::Simple(simple) = &command.kind else {
            return false;
        };
        if !command.redirects.is_empty() || self.debugs() || self.st.opts.xtrace {
            return false;
        }
        let Some(Arg::Word(first)) = simple.args.first() else {
            return false;
        };
        let Some(name) = first.literal() else { return false };
        matches!(
            name,
            b"echo" | b"printf" | b"true" | b"false" | b":" | b"pwd" | b"test" | b"[" | b"jobs"
        ) && !self.st.functions.contains_key(name)
            && self.builtin_named(name).is_some()
    }

    /// Whether a command is neither compound nor a call of a function.
    fn is_simple_command(&self, command: &Command) -> bool {
        let CommandKind::Simple(simple) = &command.kind else {
            return false;
        };
        let Some(Arg::Word(first)) = simple.args.first() else {
            return false;
        };
        first
            .literal()
            .is_some_and(|name| !self.st.functions.contains_key(name))
    }

    /// Whether the command is certainly a program.
    fn is_program(&self, command: &Command) -> bool {
        let CommandKind::Simple(simple) = &command.kind else {
            return false;
        };
        let Some(Arg::Word(first)) = simple.args.first() else {
            return false;
        };
        let Some(name) = first.literal() else { return false };
        !self.st.functions.contains_key(name)
            && self.builtin_named(name).is_none()
            && !self.st.functions.contains_key(&b"command_not_found_handle"[..])
            && !self.debugs()
            && !self.st.opts.keyword
    }

    /// Whether opening a redirection's file may wait for another process, as a FIFO does: then a process of its own
    /// has to wait.
    fn waits_to_open(&mut self, redirects: &[Redirect]) -> bool {
        redirects.iter().any(|redirect| {
            let (RedirectKind::Read(word)
            | RedirectKind::Write(word)
            | RedirectKind::Append(word)
            | RedirectKind::Clobber(word)) = &redirect.kind
            else {
                return false;
            };
            let name = match word.literal() {
                Some(name) => name.to_vec(),
                // Commands in the name are to run once only.
                None if word.raw.contains(&b'`') || word.raw.windows(2).any(|w| w[1] == b'(') => return true,
                None => {
                    let saved = self.st.clone();
                    let name = self.expand_single(word);
                    self.st = saved;
                    name.unwrap_or_default()
                }
            };
            os::stat(&name).is_ok_and(|st| st.mode & os::S_IFMT == os::S_IFIFO)
        })
    }

    /// Starts one stage with its ends of the pipes.
    fn start_stage(
        &mut self,
        command: &Command,
        input: Option<Fd>,
        output: Option<Fd>,
        background: bool,
    ) -> Run<Stage> {
        let depth = match os::push_context() {
            Ok(depth) => depth,
            Err(error) => {
                self.error(&format!("fork: {}", os::message(error)));
                return Ok(Stage::Done(254));
            }
        };
        if let Some(fd) = input {
            let _ = os::dup2(fd, 0);
        }
        if let Some(fd) = output {
            let _ = os::dup2(fd, 1);
        }
        let redirected = self.st.stdin_redirected;
        self.st.stdin_redirected |= input.is_some();
        let result = if self.is_program(command) && !self.waits_to_open(&command.redirects) {
            self.start_program_stage(command, background)
        } else {
            self.start_shell(&stage_list(command), background, of_stdin(&command.redirects))
                .map(|pid| match pid {
                    Some(pid) => Stage::Process(pid),
                    None => Stage::Done(254),
                })
        };
        self.st.stdin_redirected = redirected;
        os::pop_context(depth);
        result
    }

    /// Starts a stage that is a plain program. Its expansions happen as in the child: nothing of them stays.
    fn start_program_stage(&mut self, command: &Command, background: bool) -> Run<Stage> {
        let CommandKind::Simple(simple) = &command.kind else {
            return Ok(Stage::Done(0));
        };
        let saved = self.st.clone();
        let saved_env = self.env_cache.clone();
        let substitutions = self.open_substitutions.len();
        if background {
            self.silence_background(of_stdin(&command.redirects));
        }
        let result = self.expand_and_start(simple, &command.redirects);
        self.close_substitutions(substitutions);
        let hash = self.st.hash.clone();
        self.st = saved;
        self.st.hash = hash;
        self.env_cache = saved_env;
        match result {
            Ok(stage) => Ok(stage),
            Err(Unwind::Exit(status) | Unwind::Discard(status) | Unwind::Top(status)) => Ok(Stage::Done(status)),
            Err(unwind) => Err(unwind),
        }
    }

    fn expand_and_start(&mut self, simple: &Simple, redirects: &[Redirect]) -> Run<Stage> {
        let mut argv = Vec::with_capacity(simple.args.len());
        self.expand_args(&simple.args, &mut argv)?;
        if argv.is_empty() {
            return Ok(Stage::Done(0));
        }
        if self.st.opts.xtrace {
            self.trace_simple(simple, &argv);
        }
        match self.redirect_all(redirects)? {
            Ok(saved) => self.keep_redirects(saved),
            Err(()) => return Ok(Stage::Done(1)),
        }
        self.push_assignments(&simple.assigns)?;
        match self.start_program(&argv) {
            Ok(pid) => Ok(Stage::Process(pid)),
            Err(failure) => Ok(Stage::Done(self.not_started(&argv, failure)?)),
        }
    }

    /// A background command without job control ignores the keyboard's signals, and reads nothing unless it or a
    /// compound command around it has an input of its own.
    fn silence_background(&mut self, own_input: bool) {
        let job_control = self.st.opts.monitor && self.st.subshell == 0;
        if !job_control
            && !own_input
            && !self.st.stdin_redirected
            && let Ok(fd) = os::open(b"/dev/null", os::O_RDONLY | os::O_CLOEXEC, 0)
        {
            let _ = os::dup2(fd, 0);
            if fd != 0 {
                let _ = os::close(fd);
            }
        }
        if job_control {
            return;
        }
        let traps = Rc::make_mut(&mut self.st.traps);
        traps.insert(2, Rc::from(&b""[..]));
        traps.insert(3, Rc::from(&b""[..]));
    }

    /// `list &`
    #[inline(never)]
    pub fn run_background(&mut self, body: &AndOr) -> Run<i32> {
        self.flush_out();
        if !self.materialise() {
            return Ok(1);
        }
        if let (true, [command], None) = (body.rest.is_empty(), body.first.stages.as_slice(), body.first.timed) {
            // A builtin that only prints is done at once; its number is one that no process has.
            if self.printing_builtin(command) {
                // Its failure is nobody's: no ERR trap runs for it.
                let status = self.in_subshell(|shell| shell.in_condition(|shell| shell.run_command(command)));
                self.next_virtual_pid += 1;
                let pid = self.pid + 100_000 + self.next_virtual_pid;
                self.st.jobs.remember(pid, status);
                self.st.last_background = Some(pid);
                self.st.status = 0;
                return Ok(0);
            }
        }
        let text = crate::print::and_or_text(body);
        let simple = match (body.rest.is_empty(), body.first.timed, body.first.stages.as_slice()) {
            (true, None, [command]) if self.is_program(command) => Some(command),
            _ => None,
        };
        self.own_group = self.st.opts.monitor && self.st.subshell == 0;
        let started = self.start_background(body, simple);
        self.own_group = false;
        let Some(stage) = started? else { return Ok(254) };
        match stage {
            Stage::Process(pid) => {
                self.st.jobs.add(pid, text);
                self.st.last_background = Some(pid);
            }
            Stage::Done(status) => {
                // It failed to begin; `wait $!` tells its status.
                self.next_virtual_pid += 1;
                let pid = self.pid + 100_000 + self.next_virtual_pid;
                self.st.jobs.remember(pid, status);
                self.st.last_background = Some(pid);
            }
        }
        self.st.status = 0;
        Ok(0)
    }

    /// Starts what `&` puts in the background. `None`: it has been said why not.
    fn start_background(&mut self, body: &AndOr, simple: Option<&Command>) -> Run<Option<Stage>> {
        Ok(Some(match simple {
            Some(command) => self.start_stage(command, None, None, true)?,
            None => {
                let depth = match os::push_context() {
                    Ok(depth) => depth,
                    Err(error) => {
                        self.error(&format!("fork: {}", os::message(error)));
                        return Ok(None);
                    }
                };
                let pipes = body.first.stages.len() > 1;
                let (list, own_input) = match body.first.stages.as_slice() {
                    // bash leaves the `!` of such a command out.
                    [command] if body.rest.is_empty() && body.first.timed.is_none() => {
                        (stage_list(command), of_stdin(&command.redirects))
                    }
                    _ => {
                        let mut body = body.clone();
                        body.first.negate &= !body.rest.is_empty();
                        let item = ListItem {
                            body,
                            background: false,
                        };
                        (List(vec![item]), pipes)
                    }
                };
                // The failure of a command that is not compound is nobody's: no ERR trap runs for it.
                let alone = matches!(body.first.stages.as_slice(), [command]
                    if body.rest.is_empty() && self.is_simple_command(command));
                self.st.errexit_off += u32::from(alone);
                let started = self.start_shell(&list, true, own_input);
                self.st.errexit_off -= u32::from(alone);
                os::pop_context(depth);
                match started? {
                    Some(pid) => Stage::Process(pid),
                    None => return Ok(None),
                }
            }
        }))
    }

    /// Starts another shell with this one's state to run a list. To be called inside a pushed context, whose
    /// descriptors the child inherits.
    pub fn start_shell(&mut self, list: &List, background: bool, own_input: bool) -> Run<Option<i32>> {
        let saved_traps = self.st.traps.clone();
        if background {
            self.silence_background(own_input);
        }
        let state = crate::state::transfer::encode(self, list);
        let ignored = self.ignored_signals();
        self.st.traps = saved_traps;
        let fd = os::memfd().and_then(|fd| os::write_all(fd, &state).and_then(|()| os::seek_to(fd, 0)).map(|_| fd));
        let fd = match fd {
            Ok(fd) => fd,
            Err(error) => {
                self.error(&format!("fork: {}", os::message(error)));
                return Ok(None);
            }
        };
        let argv = vec![self.st.arg0.to_vec(), format!("--wskill-state={fd}").into_bytes()];
        let env = self.environment_block();
        let request = os::Spawn {
            path: b"/bin/bash",
            argv: &argv,
            env: &env,
            fds: &[(fd, fd)],
            ignored,
            own_group: self.own_group,
        };
        let started = self.start_process(&request);
        let _ = os::close(fd);
        match started {
            Ok(pid) => Ok(Some(pid)),
            Err(error) => {
                self.error(&format!("fork: {}", os::message(error)));
                Ok(None)
            }
        }
    }

    /// `<(list)` and `>(list)`: the path under which the command finds the pipe.
    #[inline(never)]
    pub fn process_substitution(&mut self, write: bool, body: &Rc<List>) -> Run<Vec<u8>> {
        if !self.materialise() {
            return Err(Unwind::Discard(1));
        }
        self.flush_out();
        let (read_end, write_end) = match os::pipe(false) {
            Ok(ends) => ends,
            Err(error) => {
                self.error(&format!(
                    "cannot make pipe for process substitution: {}",
                    os::message(error)
                ));
                return Err(Unwind::Discard(1));
            }
        };
        let (mine, theirs, target) = if write {
            (write_end, read_end, 0)
        } else {
            (read_end, write_end, 1)
        };
        let depth = match os::push_context() {
            Ok(depth) => depth,
            Err(error) => {
                self.error(&format!("fork: {}", os::message(error)));
                return Err(Unwind::Discard(1));
            }
        };
        let _ = os::dup2(theirs, target);
        let _ = os::close(mine);
        let _ = os::close(theirs);
        let single = match body.0.as_slice() {
            [item]
                if !item.background
                    && item.body.rest.is_empty()
                    && !item.body.first.negate
                    && item.body.first.timed.is_none() =>
            {
                match item.body.first.stages.as_slice() {
                    [command]
                        if self.is_program(command)
                            && !self.err_trap_is_inherited()
                            && !self.waits_to_open(&command.redirects) =>
                    {
                        Some(command)
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        let started = match single {
            Some(command) => self.start_program_stage(command, false).map(|stage| match stage {
                Stage::Process(pid) => Some(pid),
                Stage::Done(_) => None,
            }),
            None => self.start_shell(body, false, false),
        };
        os::pop_context(depth);
        let _ = os::close(theirs);
        // As bash does, the number is a high one, and programs inherit it.
        let high = (0..63).rev().map(|n| n + 1).find(|&n| n >= 10 && !os::is_open(n));
        let fd = match high.map(|n| os::dup2(mine, n).map(|()| n)) {
            Some(Ok(n)) => {
                let _ = os::close(mine);
                n
            }
            _ => {
                let _ = os::set_cloexec(mine, false);
                mine
            }
        };
        self.open_substitutions.push(fd);
        if let Some(pid) = started? {
            self.st.jobs.others.push(pid);
            self.st.last_background = Some(pid);
            if write {
                self.readers.push(pid);
            }
        }
        Ok(format!("/dev/fd/{fd}").into_bytes())
    }

    /// At the end of the sandbox's first process: lets the readers of `>( )` finish. Under bash they go on alone, and who
    /// reads the script's output sees theirs as well; here they would end with the first process.
    pub fn finish_readers(&mut self) {
        if self.ppid != 0 || self.readers.is_empty() {
            return;
        }
        // What `exec > >(…)` left open.
        for fd in 0..64 {
            let _ = os::close(fd);
        }
        let mut time = Duration::from_millis(1);
        let mut left = READERS_TIME;
        for pid in std::mem::take(&mut self.readers) {
            while matches!(os::wait(pid, true), Ok(None)) && left > Duration::ZERO {
                os::pause(time);
                left = left.saturating_sub(time);
                time = (time * 2).min(Duration::from_millis(32));
            }
        }
    }

    /// Closes the pipes of process substitutions that a command opened.
    pub fn close_substitutions(&mut self, from: usize) {
        for fd in self
            .open_substitutions
            .split_off(from.min(self.open_substitutions.len()))
        {
            let _ = os::close(fd);
        }
    }

    /// `coproc`
    #[inline(never)]
    pub(super) fn run_coproc(&mut self, name: &[u8], body: &Command) -> Run<i32> {
        self.flush_out();
        if !self.materialise() {
            return Ok(1);
        }
        let pipes = os::pipe(false).and_then(|to| os::pipe(false).map(|from| (to, from)));
        let ((to_read, to_write), (from_read, from_write)) = match pipes {
            Ok(pipes) => pipes,
            Err(error) => {
                self.error(&format!("pipe error: {}", os::message(error)));
                return Ok(1);
            }
        };
        let depth = match os::push_context() {
            Ok(depth) => depth,
            Err(error) => {
                self.error(&format!("fork: {}", os::message(error)));
                return Ok(1);
            }
        };
        let _ = os::dup2(to_read, 0);
        let _ = os::dup2(from_write, 1);
        let started = self.start_shell(&stage_list(body), false, true);
        os::pop_context(depth);
        let _ = os::close(to_read);
        let _ = os::close(from_write);
        let Some(pid) = started? else { return Ok(1) };
        // Out of the way of scripts that name low descriptors.
        let raise = |fd: Fd| {
            let high = (10..63).rev().find(|&n| !os::is_open(n));
            match high.and_then(|n| os::dup(fd, n, true).ok()) {
                Some(n) => {
                    let _ = os::close(fd);
                    n
                }
                None => fd,
            }
        };
        let (read, write) = (raise(from_read), raise(to_write));
        let number = |n: i32| crate::arith::decimal(i64::from(n));
        let array: Indexed = [(0, number(read)), (1, number(write))].into_iter().collect();
        self.set_value(name, crate::state::vars::Value::Indexed(array, true))?;
        self.set_scalar(&[name, b"_PID"].concat(), number(pid))?;
        self.st.jobs.add(pid, crate::print::command_text(body));
        self.st.last_background = Some(pid);
        Ok(0)
    }

    /// `time pipeline`
    #[inline(never)]
    pub(super) fn run_timed(&mut self, pipeline: &Pipeline, timed: Timed) -> Run<i32> {
        let start = os::monotonic_ns();
        let (own, children) = os::times();
        let result = self.run_untimed(pipeline);
        let real = os::monotonic_ns() - start;
        let (own_after, children_after) = os::times();
        let user = (own_after - own) + (children_after - children);
        let format = match timed {
            Timed::Posix => b"real %2R\nuser %2U\nsys %2S".to_vec(),
            Timed::Bash => self
                .get_scalar(b"TIMEFORMAT")
                .unwrap_or_else(|| b"\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS".to_vec()),
        };
        if !format.is_empty() {
            let mut text = time_report(&format, real, user);
            text.push(b'\n');
            self.flush_out();
            self.write_stderr(&text);
        }
        result
    }
}

fn close(fd: Option<Fd>) {
    if let Some(fd) = fd {
        let _ = os::close(fd);
    }
}

/// A list of just that command. Where it is a subshell, the new process is that subshell.
fn stage_list(command: &Command) -> List {
    let mut command = command.clone();
    if let CommandKind::Subshell(list) = command.kind {
        command.kind = CommandKind::Group(list);
    }
    let first = Pipeline {
        negate: false,
        timed: None,
        stages: vec![command],
    };
    List(vec![ListItem {
        body: AndOr {
            first,
            rest: Vec::new(),
        },
        background: false,
    }])
}

/// Formats TIMEFORMAT: `%[p][l]R`, `U`, `S`, `%P`, `%%`.
fn time_report(format: &[u8], real: u64, user: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < format.len() {
        if format[i] != b'%' {
            out.push(format[i]);
            i += 1;
            continue;
        }
        i += 1;
        let mut precision = 3usize;
        let mut long = false;
        if let Some(c) = format.get(i).filter(|c| c.is_ascii_digit()) {
            precision = usize::from(c - b'0').min(3);
            i += 1;
        }
        if format.get(i) == Some(&b'l') {
            long = true;
            i += 1;
        }
        match format.get(i) {
            Some(b'%') => out.push(b'%'),
            Some(b'P') => {
                let percent = if real == 0 {
                    0.0
                } else {
                    user as f64 * 100.0 / real as f64
                };
                out.extend_from_slice(format!("{percent:.2}").as_bytes());
            }
            Some(c @ (b'R' | b'U' | b'S')) => {
                let ns = match c {
                    b'R' => real,
                    b'U' => user,
                    _ => 0,
                };
                let millis = ns / 1_000_000;
                let (seconds, fraction) = (millis / 1000, millis % 1000);
                let digits = format!("{fraction:03}");
                let fraction = if precision == 0 {
                    String::new()
                } else {
                    format!(".{}", &digits[..precision])
                };
                let text = if long {
                    format!("{}m{}{}s", seconds / 60, seconds % 60, fraction)
                } else {
                    format!("{seconds}{fraction}")
                };
                out.extend_from_slice(text.as_bytes());
            }
            _ => {}
        }
        i += 1;
    }
    out
}
