//! Handing the shell environment over to another shell process, which runs a part of this one's script: the other
//! half of a `fork` that WebAssembly has not.

use super::jobs::{Job, Jobs};
use super::options::{SetOptions, Shopts};
use super::vars::{Name, Var, attr};
use super::{Call, Function, History, Limit, Scope, ScopeKind, Traps};
use crate::ast::{Arg, CommandKind, FunctionDef, List};
use crate::os::{self, Status};
use crate::shell::Shell;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What travels. Borrowed when written, owned when read.
#[derive(Serialize, Deserialize)]
struct Parcel {
    list: List,
    /// Variables, without the computed ones.
    vars: Vec<(Vec<u8>, Var)>,
    /// Kinds of the open scopes, and what they hide.
    scopes: Vec<(bool, Vec<(Vec<u8>, Option<Var>)>)>,
    functions: Vec<(Rc<FunctionDef>, u8)>,
    aliases: BTreeMap<Vec<u8>, Vec<u8>>,
    opts: SetOptions,
    shopts: Option<Shopts>,
    arg0: Vec<u8>,
    positional: Vec<Vec<u8>>,
    traps: Vec<(i32, Vec<u8>)>,
    inherited_traps: Vec<(i32, Vec<u8>)>,
    status: i32,
    pipe_status: Vec<i32>,
    last_background: Option<i32>,
    last_argument: Vec<u8>,
    calls: Vec<(Vec<u8>, Vec<u8>, u32, bool, Option<Vec<Vec<u8>>>)>,
    script_args: Option<Vec<Vec<u8>>>,
    source: Vec<u8>,
    line: u32,
    /// What `jobs` in a pipeline lists: numbers, processes, commands and how they ended.
    jobs: Vec<(u32, i32, Vec<u8>, Option<(bool, i32)>)>,
    dirs: Vec<Vec<u8>>,
    hash: BTreeMap<Vec<u8>, (Vec<u8>, u32)>,
    disabled: Vec<Vec<u8>>,
    loops: u32,
    errexit_off: u32,
    subshell: u32,
    substitutions: u32,
    random: u32,
    seconds_base: i64,
    cwd: Vec<u8>,
    pid: i32,
    ppid: i32,
    main_source: Option<Vec<u8>>,
    flags: u8,
    ignored_at_start: u64,
    getopts: (usize, usize),
    trace_fd: i32,
    limits: BTreeMap<u8, Limit>,
    completions: BTreeMap<Vec<u8>, Vec<u8>>,
    history: History,
    name: Vec<u8>,
    command_number: u32,
}

fn pairs(traps: &Traps) -> Vec<(i32, Vec<u8>)> {
    traps.iter().map(|(&s, a)| (s, a.to_vec())).collect()
}

/// Whether the list is the builtin `jobs`, which alone may list the parent's jobs.
fn lists_jobs(list: &List) -> bool {
    let [item] = list.0.as_slice() else { return false };
    let [command] = item.body.first.stages.as_slice() else {
        return false;
    };
    matches!(&command.kind, CommandKind::Simple(simple)
        if matches!(simple.args.first(), Some(Arg::Word(word)) if word.literal() == Some(b"jobs")))
}

fn listed(jobs: &Jobs) -> Vec<(u32, i32, Vec<u8>, Option<(bool, i32)>)> {
    let ended = |status: Status| match status {
        Status::Exited(n) => (true, n),
        Status::Signaled(n) => (false, n),
    };
    let jobs = jobs.list.iter();
    jobs.map(|j| (j.number, j.pid, j.command.clone(), j.status.map(ended)))
        .collect()
}

/// The state as bytes, with the list the other shell is to run.
pub fn encode(shell: &Shell, list: &List) -> Vec<u8> {
    let st = &shell.st;
    let owned = |name: &Name, var: &Rc<Var>| (name.to_vec(), (**var).clone());
    let default_shopts = Shopts::default();
    let parcel = Parcel {
        list: list.clone(),
        vars: st
            .vars
            .iter()
            .filter(|(_, v)| !v.has(attr::DYNAMIC))
            .map(|(n, v)| owned(n, v))
            .collect(),
        scopes: st
            .scopes
            .iter()
            .map(|s| {
                let saved = s
                    .saved
                    .iter()
                    .map(|(n, v)| (n.to_vec(), v.as_deref().cloned()))
                    .collect();
                (s.kind == ScopeKind::Function, saved)
            })
            .collect(),
        functions: st
            .functions
            .values()
            .map(|f| {
                (
                    f.def.clone(),
                    u8::from(f.exported) | u8::from(f.readonly) << 1 | u8::from(f.trace) << 2,
                )
            })
            .collect(),
        aliases: (*st.aliases).clone(),
        opts: st.opts.clone(),
        shopts: (*st.shopts != default_shopts).then(|| (*st.shopts).clone()),
        arg0: st.arg0.to_vec(),
        positional: st.positional.to_vec(),
        traps: pairs(&st.traps),
        inherited_traps: st.inherited_traps.as_deref().map_or(Vec::new(), pairs),
        status: st.status,
        pipe_status: st.pipe_status.clone(),
        last_background: st.last_background,
        last_argument: st.last_argument.to_vec(),
        calls: st
            .calls
            .iter()
            .map(|c| {
                (
                    c.name.to_vec(),
                    c.source.to_vec(),
                    c.line,
                    c.function,
                    c.args.as_ref().map(|a| a.to_vec()),
                )
            })
            .collect(),
        script_args: st.script_args.as_ref().map(|a| a.to_vec()),
        source: st.source.to_vec(),
        line: st.line,
        jobs: if lists_jobs(list) { listed(&st.jobs) } else { Vec::new() },
        dirs: st.dirs.to_vec(),
        hash: (*st.hash).clone(),
        disabled: st.disabled.to_vec(),
        loops: st.loops,
        errexit_off: st.errexit_off,
        subshell: st.subshell,
        substitutions: st.substitutions,
        random: st.random,
        seconds_base: st.seconds_base,
        cwd: st.cwd.to_vec(),
        pid: shell.pid,
        ppid: shell.ppid,
        main_source: shell.main_source.as_ref().map(|s| s.to_vec()),
        flags: u8::from(shell.from_string) | u8::from(shell.from_stdin) << 1 | u8::from(st.stdin_redirected) << 2,
        ignored_at_start: shell.ignored_at_start,
        getopts: (st.getopts.index, st.getopts.offset),
        trace_fd: shell.trace_fd,
        limits: (*st.limits).clone(),
        completions: (*st.completions).clone(),
        history: (*st.history).clone(),
        name: shell.name.to_vec(),
        command_number: shell.command_number,
    };
    // Only memory can be missing, and then the allocator has ended the process already.
    postcard::to_allocvec(&parcel).unwrap_or_default()
}

/// A shell with the state read from the descriptor, and the list to run. `None` when the bytes are not a state.
pub fn decode(fd: os::Fd) -> Option<(Shell, List)> {
    let bytes = os::read_to_end(fd).ok()?;
    let _ = os::close(fd);
    let parcel: Parcel = postcard::from_bytes(&bytes).ok()?;
    let mut shell = Shell::new(&parcel.arg0);
    let own_pid = shell.pid;
    shell.define_dynamic();
    let st = &mut shell.st;
    let vars = Rc::make_mut(&mut st.vars);
    vars.reserve(parcel.vars.len());
    for (name, var) in parcel.vars {
        vars.insert(name.into(), Rc::new(var));
    }
    st.scopes = parcel
        .scopes
        .into_iter()
        .map(|(function, saved)| Scope {
            kind: if function {
                ScopeKind::Function
            } else {
                ScopeKind::Temporary
            },
            saved: saved.into_iter().map(|(n, v)| (n.into(), v.map(Rc::new))).collect(),
            options: None,
        })
        .collect();
    let functions = Rc::make_mut(&mut st.functions);
    for (def, flags) in parcel.functions {
        let function = Function {
            exported: flags & 1 != 0,
            readonly: flags & 2 != 0,
            trace: flags & 4 != 0,
            def: def.clone(),
        };
        functions.insert(def.name.as_slice().into(), function);
    }
    st.aliases = Rc::new(parcel.aliases);
    st.opts = parcel.opts;
    if let Some(shopts) = parcel.shopts {
        st.shopts = Rc::new(shopts);
    }
    st.positional = Rc::new(parcel.positional.into());
    let traps = |list: Vec<(i32, Vec<u8>)>| -> Traps { list.into_iter().map(|(s, a)| (s, Rc::from(a))).collect() };
    st.traps = Rc::new(traps(parcel.traps));
    if !parcel.inherited_traps.is_empty() {
        st.inherited_traps = Some(Rc::new(traps(parcel.inherited_traps)));
    }
    st.status = parcel.status;
    st.pipe_status = parcel.pipe_status;
    st.last_background = parcel.last_background;
    st.last_argument = parcel.last_argument.into();
    st.calls = parcel
        .calls
        .into_iter()
        .map(|(name, source, line, function, args)| Call {
            name: name.into(),
            source: source.into(),
            line,
            function,
            args: args.map(Rc::new),
        })
        .collect();
    st.script_args = parcel.script_args.map(Rc::new);
    st.source = parcel.source.into();
    st.line = parcel.line;
    st.dirs = Rc::new(parcel.dirs);
    st.hash = Rc::new(parcel.hash);
    st.disabled = Rc::new(parcel.disabled);
    st.loops = parcel.loops;
    st.errexit_off = parcel.errexit_off;
    st.subshell = parcel.subshell;
    st.substitutions = parcel.substitutions;
    st.random = parcel.random;
    st.seconds_base = parcel.seconds_base;
    st.cwd = parcel.cwd.into();
    st.limits = Rc::new(parcel.limits);
    st.completions = Rc::new(parcel.completions);
    st.history = Rc::new(parcel.history);
    st.getopts = super::Getopts {
        index: parcel.getopts.0,
        offset: parcel.getopts.1,
    };
    st.jobs = Jobs::default();
    shell.pid = parcel.pid;
    shell.name = parcel.name.into();
    shell.command_number = parcel.command_number;
    shell.ppid = parcel.ppid;
    shell.main_source = parcel.main_source.map(Rc::from);
    shell.from_string = parcel.flags & 1 != 0;
    shell.from_stdin = parcel.flags & 2 != 0;
    shell.ignored_at_start = parcel.ignored_at_start;
    shell.trace_fd = parcel.trace_fd;
    shell.st.stdin_redirected = parcel.flags & 4 != 0;
    shell.enter_subshell(false);
    shell.st.jobs.list = parcel
        .jobs
        .into_iter()
        .map(|(number, pid, command, ended)| Job {
            number,
            pid,
            command,
            status: ended.map(|(exited, n)| if exited { Status::Exited(n) } else { Status::Signaled(n) }),
            inherited: true,
        })
        .collect();
    shell.st.bash_pid = own_pid;
    Some((shell, parcel.list))
}
