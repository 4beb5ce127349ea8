//! `jobs`, `wait`, `kill`, `disown`; and what needs a terminal.

use crate::exec::jobs::Waited;
use crate::exec::simple::Prepared;
use crate::os::{self, Status};
use crate::shell::{Run, Shell};
use crate::state::jobs::Job;

/// The job of that name, or a message of the builtin.
fn named_job(shell: &mut Shell, builtin: &str, spec: &[u8]) -> Option<Job> {
    let job = shell.st.jobs.find(spec).cloned();
    if job.is_none() {
        let part = spec.strip_prefix(b"%?");
        let ambiguous = shell.st.jobs.is_ambiguous(spec);
        if ambiguous {
            let name = part.or(spec.strip_prefix(b"%")).unwrap_or(spec);
            let shown = String::from_utf8_lossy(name).into_owned();
            shell.builtin_error(builtin, &format!("{shown}: ambiguous job spec"));
        }
        if !ambiguous || part.is_none() {
            let shown = String::from_utf8_lossy(spec).into_owned();
            shell.builtin_error(builtin, &format!("{shown}: no such job"));
        }
    }
    job
}

/// The job that `fg` and `bg` mean. Without job control there is none.
fn controlled_job(shell: &mut Shell, argv: &[Vec<u8>]) -> Option<Job> {
    let name = String::from_utf8_lossy(&argv[0]).into_owned();
    if !shell.st.opts.monitor || shell.st.subshell > 0 {
        shell.builtin_error(&name, "no job control");
        return None;
    }
    match argv.get(1) {
        Some(spec) => named_job(shell, &name, spec),
        None if shell.st.jobs.list.is_empty() => {
            shell.builtin_error(&name, "current: no such job");
            None
        }
        None => shell.st.jobs.find(b"%%").cloned(),
    }
}

/// `fg`: no job is ever stopped in the sandbox, so there is only waiting left.
pub fn fg(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let Some(job) = controlled_job(shell, argv) else {
        return Ok(1);
    };
    shell.out.extend_from_slice(&job.command);
    shell.out.push(b'\n');
    wait(shell, &[b"wait".to_vec(), job.pid.to_string().into_bytes()])
}

pub fn bg(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let Some(job) = controlled_job(shell, argv) else {
        return Ok(1);
    };
    shell.builtin_error("bg", &format!("job {} already in background", job.number));
    Ok(0)
}

pub fn suspend(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    if let Err(status) = shell.builtin_options(argv, b"f") {
        return Ok(status);
    }
    let why = if shell.st.opts.monitor {
        "not supported in the sandbox: job control of a terminal"
    } else {
        "cannot suspend: no job control"
    };
    shell.builtin_error("suspend", why);
    Ok(1)
}

/// How `jobs` names a state.
fn state_text(status: Option<Status>) -> String {
    match status {
        None => "Running".into(),
        Some(Status::Exited(0)) => "Done".into(),
        Some(Status::Exited(n)) => format!("Exit {n}"),
        Some(Status::Signaled(n)) => os::signal_text(n).unwrap_or("Signal").to_string(),
    }
}

pub fn jobs(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"lnprsx") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let state = options
        .list
        .iter()
        .rev()
        .map(|(l, _)| *l)
        .find(|l| matches!(l, b'r' | b's'));
    if options.has(b'x') {
        if options.list.len() > 1 {
            shell.builtin_error("jobs", "no other options allowed with `-x'");
            return Ok(1);
        }
        return run_with_pids(shell, &argv[options.rest..]);
    }
    // What has ended meanwhile was reported between commands, as in any shell that is not interactive.
    let ended: Vec<i32> = shell
        .st
        .jobs
        .list
        .iter()
        .filter(|j| j.status.is_some())
        .map(|j| j.pid)
        .collect();
    shell.reap();
    for pid in ended {
        shell.st.jobs.remove(pid);
    }
    if argv.len() == options.rest && !options.has(b'n') {
        let ended: Vec<i32> = shell
            .st
            .jobs
            .list
            .iter()
            .filter(|j| j.status.is_some())
            .map(|j| j.pid)
            .collect();
        for pid in ended {
            shell.st.jobs.remove(pid);
        }
    }
    let specs = &argv[options.rest..];
    let mut status = 0;
    let mut chosen = Vec::new();
    if specs.is_empty() {
        chosen = shell.st.jobs.list.iter().map(|j| j.pid).collect();
    }
    for spec in specs {
        match named_job(shell, "jobs", spec) {
            Some(job) => chosen.push(job.pid),
            None => status = 1,
        }
    }
    let count = shell.st.jobs.list.len();
    let list = shell.st.jobs.list.clone();
    for (i, job) in list.iter().enumerate() {
        // Nothing is ever stopped; what runs has not changed since it was last reported.
        let wanted = match state {
            Some(b'r') => job.status.is_none(),
            Some(_) => false,
            None => job.status.is_some() || !options.has(b'n'),
        };
        if !chosen.contains(&job.pid) || !wanted {
            continue;
        }
        let text = if options.has(b'p') {
            format!("{}\n", job.pid).into_bytes()
        } else {
            let mark = if i + 1 == count {
                '+'
            } else if i + 2 == count {
                '-'
            } else {
                ' '
            };
            let pid = if options.has(b'l') {
                format!("{} ", job.pid)
            } else {
                String::new()
            };
            let head = format!("[{}]{mark}  {pid}{:<24}", job.number, state_text(job.status));
            let mut text = head.into_bytes();
            text.extend_from_slice(&job.command);
            if job.status.is_none() {
                text.extend_from_slice(b" &");
            }
            text.push(b'\n');
            text
        };
        shell.out.extend_from_slice(&text);
        if job.status.is_some() {
            shell.st.jobs.remove(job.pid);
        }
    }
    Ok(status)
}

/// `jobs -x`: a command with the process groups of jobs in place of their names.
fn run_with_pids(shell: &mut Shell, words: &[Vec<u8>]) -> Run<i32> {
    let mut argv = words.to_vec();
    for word in argv.iter_mut().filter(|w| w.starts_with(b"%")) {
        if let Some(job) = shell.st.jobs.find(word) {
            *word = crate::arith::decimal(i64::from(job.pid));
        }
    }
    shell.run_prepared(Prepared {
        simple: None,
        argv,
        assigns: &[],
        redirects: &[],
        declared: None,
    })
}

pub fn wait(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"fnp:") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    shell.flush_out();
    let variable = options.value(b'p').map(<[u8]>::to_vec);
    if let Some(name) = &variable {
        let plain = name.split(|&c| c == b'[').next().unwrap_or_default();
        if !crate::parse::is_name(plain) {
            let shown = String::from_utf8_lossy(name).into_owned();
            shell.builtin_error("wait", &format!("`{shown}': not a valid identifier"));
            return Ok(1);
        }
        if plain == name.as_slice() && !shell.unset_var(name) {
            let shown = String::from_utf8_lossy(name).into_owned();
            shell.builtin_error("wait", &format!("{shown}: cannot unset: readonly variable"));
            return Ok(1);
        }
    }
    let words = &argv[options.rest..];
    let interrupted = |shell: &mut Shell, signal: i32| -> Run<i32> {
        shell.st.status = 128 + signal;
        shell.run_pending_traps()?;
        Ok(128 + signal)
    };
    if options.has(b'n') {
        return wait_next(shell, words, variable);
    }
    if words.is_empty() {
        return match shell.wait_all()? {
            Ok(()) => {
                shell.st.jobs.finished.clear();
                Ok(0)
            }
            Err(signal) => interrupted(shell, signal),
        };
    }
    let mut status = 0;
    for word in words {
        let pid = if word.starts_with(b"%") {
            match named_job(shell, "wait", word) {
                Some(job) => job.pid,
                None => {
                    status = 127;
                    continue;
                }
            }
        } else {
            match crate::arith::integer(word).and_then(|n| i32::try_from(n).ok()) {
                Some(pid) => pid,
                None => {
                    let shown = String::from_utf8_lossy(word).into_owned();
                    shell.builtin_error("wait", &format!("`{shown}': not a pid or valid job spec"));
                    status = 1;
                    continue;
                }
            }
        };
        let job = shell.st.jobs.list.iter().find(|j| j.pid == pid).cloned();
        match shell.wait_for(pid) {
            Waited::Status(code) => {
                status = code;
                if let (Some(job), true) = (job, code > 128) {
                    shell.report_signal(pid, Status::Signaled(code - 128), false, || job.command);
                }
                shell.st.jobs.remove(pid);
                if let Some(name) = &variable {
                    shell.assign_place(name, crate::arith::decimal(i64::from(pid)))?;
                }
            }
            Waited::Interrupted(signal) => return interrupted(shell, signal),
            Waited::NoSuchProcess => {
                shell.builtin_error("wait", &format!("pid {pid} is not a child of this shell"));
                status = 127;
            }
        }
    }
    Ok(status)
}

/// `wait -n`: the next job to end, or the next of those named.
fn wait_next(shell: &mut Shell, words: &[Vec<u8>], variable: Option<Vec<u8>>) -> Run<i32> {
    let mut wanted: Vec<i32> = Vec::new();
    for word in words {
        let pid = if word.starts_with(b"%") {
            shell.st.jobs.find(word).map(|j| j.pid)
        } else {
            crate::arith::integer(word).and_then(|n| i32::try_from(n).ok())
        };
        match pid {
            Some(pid) => wanted.push(pid),
            None => {
                let shown = String::from_utf8_lossy(word).into_owned();
                shell.builtin_error("wait", &format!("{shown}: no such job"));
            }
        }
    }
    if !words.is_empty() && wanted.is_empty() {
        return Ok(127);
    }
    loop {
        shell.reap();
        // One that has ended already and was not asked for yet.
        let ended = shell
            .st
            .jobs
            .list
            .iter()
            .find(|j| j.status.is_some() && (wanted.is_empty() || wanted.contains(&j.pid)))
            .map(|j| (j.pid, j.status.map_or(0, Status::shell_code)));
        if let Some((pid, code)) = ended {
            shell.st.jobs.remove(pid);
            if let Some(name) = &variable {
                shell.assign_place(name, crate::arith::decimal(i64::from(pid)))?;
            }
            return Ok(code);
        }
        let running = shell
            .st
            .jobs
            .list
            .iter()
            .any(|j| j.status.is_none() && (wanted.is_empty() || wanted.contains(&j.pid)));
        if !running {
            return Ok(127);
        }
        match shell.wait_any() {
            Ok(_) => {}
            Err(Some(signal)) => {
                shell.run_pending_traps()?;
                return Ok(128 + signal);
            }
            Err(None) => return Ok(127),
        }
    }
}

pub fn disown(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"har") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let words = &argv[options.rest..];
    let mut pids: Vec<i32> = Vec::new();
    let mut status = 0;
    if options.has(b'a') || options.has(b'r') {
        pids = shell.st.jobs.list.iter().map(|j| j.pid).collect();
    } else if words.is_empty() {
        match shell.st.jobs.list.last() {
            Some(job) => pids.push(job.pid),
            None => {
                shell.builtin_error("disown", "current: no such job");
                return Ok(1);
            }
        }
    }
    for word in words {
        let pid = if word.starts_with(b"%") {
            shell.st.jobs.find(word).map(|j| j.pid)
        } else {
            let pid = crate::arith::integer(word).and_then(|n| i32::try_from(n).ok());
            shell.st.jobs.list.iter().map(|j| j.pid).find(|p| Some(*p) == pid)
        };
        match pid {
            Some(pid) => pids.push(pid),
            None => {
                let shown = String::from_utf8_lossy(word).into_owned();
                shell.builtin_error("disown", &format!("{shown}: no such job"));
                status = 1;
            }
        }
    }
    if !options.has(b'h') {
        for pid in pids {
            shell.st.jobs.remove(pid);
            shell.st.jobs.others.push(pid);
        }
    }
    Ok(status)
}

/// Signals that stop processes where they may: STOP, TSTP, TTIN, TTOU.
const STOPPING: [i32; 4] = [19, 20, 21, 22];

pub fn kill(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let mut words = &argv[1..];
    let mut signal = 15;
    let Some(first) = words.first() else {
        shell.usage("kill");
        return Ok(2);
    };
    let bad_signal = |shell: &mut Shell, text: &[u8]| {
        let shown = String::from_utf8_lossy(text).into_owned();
        shell.builtin_error("kill", &format!("{shown}: invalid signal specification"));
        Ok(1)
    };
    match first.as_slice() {
        b"-l" | b"-L" => return list_signals(shell, &words[1..]),
        b"-s" | b"-n" => {
            let Some(name) = words.get(1) else {
                let shown = String::from_utf8_lossy(first).into_owned();
                shell.builtin_error("kill", &format!("{shown}: option requires an argument"));
                return Ok(1);
            };
            match os::parse_signal(&String::from_utf8_lossy(name)) {
                Some(n) => signal = n,
                None => return bad_signal(shell, &name.clone()),
            }
            words = &words[2..];
        }
        b"--" => words = &words[1..],
        [b'-', rest @ ..] if !rest.is_empty() => {
            let text = rest.strip_prefix(b"s").filter(|r| !r.is_empty()).unwrap_or(rest);
            let found = os::parse_signal(&String::from_utf8_lossy(rest))
                .or_else(|| os::parse_signal(&String::from_utf8_lossy(text)));
            match found {
                Some(n) => signal = n,
                None => return bad_signal(shell, rest),
            }
            words = &words[1..];
        }
        _ => {}
    }
    if words.first().is_some_and(|w| w == b"--") {
        words = &words[1..];
    }
    if words.is_empty() {
        shell.usage("kill");
        return Ok(2);
    }
    if STOPPING.contains(&signal) {
        let name = os::signal_name(signal).unwrap_or_default();
        shell.builtin_error(
            "kill",
            &format!("{name}: not supported in the sandbox: stopping processes"),
        );
        return Ok(1);
    }
    let mut status = 1;
    for word in words {
        let shown = String::from_utf8_lossy(word).into_owned();
        let pid = if word.starts_with(b"%") {
            match named_job(shell, "kill", word) {
                Some(job) => job.pid,
                None => continue,
            }
        } else {
            match crate::arith::integer(word).and_then(|n| i32::try_from(n).ok()) {
                Some(pid) => pid,
                None => {
                    shell.builtin_error("kill", &format!("{shown}: arguments must be process or job IDs"));
                    continue;
                }
            }
        };
        shell.flush_out();
        if pid == shell.st.bash_pid && shell.in_place > 0 {
            // This very environment, which has no process of its own.
            status = 0;
            if signal != 0 {
                shell.signal_here(signal)?;
            }
            continue;
        }
        if pid == os::getpid() && shell.in_place > 0 && signal != 0 {
            status = 0;
            shell.signal_main(signal);
            continue;
        }
        match os::kill(pid, signal) {
            Ok(()) => {
                status = 0;
                if pid == os::getpid() && (1..=64).contains(&signal) && shell.handled >> (signal - 1) & 1 == 0 {
                    // A deadly signal to the shell itself takes effect before anything else happens.
                    os::pause_briefly();
                }
            }
            Err(error) => shell.builtin_error("kill", &format!("({pid}) - {}", os::message(error))),
        }
    }
    Ok(status)
}

fn list_signals(shell: &mut Shell, words: &[Vec<u8>]) -> Run<i32> {
    if words.is_empty() {
        let mut column = 0;
        for n in 1..=64 {
            let Some(name) = os::signal_name(n) else { continue };
            let text = format!("{n:>2}) SIG{name}");
            shell.out.extend_from_slice(text.as_bytes());
            column += 1;
            shell.out.push(if column % 5 == 0 || n == 64 { b'\n' } else { b'\t' });
        }
        return Ok(0);
    }
    let mut status = 0;
    for word in words {
        let text = String::from_utf8_lossy(word).into_owned();
        let answer = match crate::arith::integer(word) {
            Some(n) => {
                let n = if n > 128 { n - 128 } else { n };
                if n == 0 {
                    Some("EXIT".to_string())
                } else {
                    i32::try_from(n).ok().and_then(os::signal_name)
                }
            }
            None => os::parse_signal(&text).map(|n| n.to_string()),
        };
        match answer {
            Some(answer) => shell.out.extend_from_slice(format!("{answer}\n").as_bytes()),
            None => {
                shell.builtin_error("kill", &format!("{text}: invalid signal specification"));
                status = 1;
            }
        }
    }
    Ok(status)
}
