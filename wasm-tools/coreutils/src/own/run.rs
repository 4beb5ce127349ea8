//! Commands that run or signal others: `timeout`, `nohup`, `nice`, `stdbuf`, `kill`.

use std::ffi::{OsStr, OsString};
use std::time::{Duration, Instant};

use wskill_sys::process::{self, Spawn, Status};
use wskill_sys::{Errno, fd, fs, signal};

use super::opts::{Spec, Takes};
use super::say;
use super::text::{quote, quote_if_needed};

const TIMEOUT: Spec = Spec {
    name: "timeout",
    usage: "timeout [OPTION] DURATION COMMAND [ARG]...",
    short: "+fk:ps:v",
    long: &[
        ("foreground", Takes::No, 'f'),
        ("kill-after", Takes::Arg, 'k'),
        ("preserve-status", Takes::No, 'p'),
        ("signal", Takes::Arg, 's'),
        ("verbose", Takes::No, 'v'),
    ],
    failure: 125,
};

/// "1.5", "2m", "infinity" as a time; `None` when it is none.
pub fn duration(text: &str) -> Option<Duration> {
    let (number, factor) = match text.as_bytes().last()? {
        b's' => (&text[..text.len() - 1], 1.0),
        b'm' => (&text[..text.len() - 1], 60.0),
        b'h' => (&text[..text.len() - 1], 3600.0),
        b'd' => (&text[..text.len() - 1], 86400.0),
        _ => (text, 1.0),
    };
    if number.is_empty() || number.starts_with('-') {
        return None;
    }
    let lower = number.trim_start_matches('+').to_ascii_lowercase();
    let seconds = if lower == "inf" || lower == "infinity" {
        f64::INFINITY
    } else if let Some(hex) = lower.strip_prefix("0x") {
        hexadecimal(hex)? * factor
    } else if lower.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'-' | b'+')) {
        lower.parse::<f64>().ok()? * factor
    } else {
        return None;
    };
    // Past this many seconds nobody waits: half the range of the kernel's clock.
    Some(Duration::from_secs_f64(seconds.min(9e9)))
}

/// "1.8p1" behind "0x", as strtod reads it.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = match text.split_once('p') {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for c in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(c.to_digit(16)?);
    }
    Some(value * 2f64.powi(exponent - 4 * fraction.len() as i32))
}

fn no_command(name: &str, program: &OsStr, errno: Errno) -> i32 {
    let shown = quote(program);
    eprintln!("{name}: failed to run command {shown}: {errno}");
    if errno == Errno::ENOENT { 127 } else { 126 }
}

/// `timeout`.
pub fn timeout(_: &str, args: Vec<OsString>) -> i32 {
    run_timeout(args).unwrap_or_else(|status| status)
}

fn run_timeout(args: Vec<OsString>) -> Result<i32, i32> {
    let parsed = TIMEOUT.parse(args)?;
    let parse = |value: &OsStr| {
        duration(&value.to_string_lossy()).ok_or_else(|| {
            eprintln!("timeout: invalid time interval {}", quote(value));
            TIMEOUT.try_help()
        })
    };
    let (mut foreground, mut preserve, mut verbose) = (false, false, false);
    let (mut kill_after, mut sig) = (Duration::ZERO, signal::SIGTERM);
    for (option, value) in parsed.options {
        match option {
            'f' => foreground = true,
            'p' => preserve = true,
            'v' => verbose = true,
            'k' => kill_after = parse(&value)?,
            _ => {
                sig = signal::parse(&value.to_string_lossy()).ok_or_else(|| {
                    eprintln!("timeout: {}: invalid signal", quote(&value));
                    TIMEOUT.try_help()
                })?;
            }
        }
    }
    let mut operands = parsed.operands.into_iter();
    let (Some(limit), Some(program)) = (operands.next(), operands.next()) else {
        eprintln!("timeout: missing operand");
        return Err(TIMEOUT.try_help());
    };
    let limit = parse(&limit)?;
    // Signals meant for the command reach us when our group gets them: wake up and pass them on.
    for forwarded in [signal::SIGTERM, signal::SIGINT, signal::SIGHUP, signal::SIGQUIT, signal::SIGCHLD, sig] {
        if forwarded > 0 && forwarded != signal::SIGKILL && forwarded != signal::SIGSTOP {
            let _ = signal::set(forwarded, signal::Disposition::Handle);
        }
    }
    if !foreground {
        // A group of our own, as GNU's: the signal then reaches what the command has started.
        let _ = process::setpgid(0, 0);
    }
    let mut spawn = Spawn::command(&program);
    spawn.arg(&program).args(operands);
    let child = spawn.spawn().map_err(|errno| no_command("timeout", &program, errno))?;
    let name = program.to_string_lossy().into_owned();
    let send = |sig: i32| {
        if verbose {
            let signal_name = signal::name(sig).unwrap_or_else(|| sig.to_string());
            eprintln!("timeout: sending signal {signal_name} to command '{name}'");
        }
        let _ = process::kill(child, sig);
        if !foreground && sig != 0 {
            if sig != signal::SIGKILL && sig != signal::SIGSTOP {
                let _ = signal::set(sig, signal::Disposition::Ignore);
                let _ = process::kill(0, sig);
                let _ = signal::set(sig, signal::Disposition::Handle);
            }
            if sig != signal::SIGKILL && sig != signal::SIGCONT {
                let _ = process::kill(child, signal::SIGCONT);
            }
        }
    };
    let (ended, timed_out, last) = watch(child, limit, kill_after, sig, &send);
    let Some(status) = ended else { return Ok(125) };
    if timed_out && !preserve {
        if last == signal::SIGKILL {
            // As GNU's: seen as killed, whatever the command made of the first signal.
            return Ok(128 + signal::SIGKILL);
        }
        return Ok(124);
    }
    Ok(match status {
        Status::Exited(code) => code,
        Status::Signaled(number) => 128 + number,
    })
}

/// Waits for the child, sending the signals when their times come. Answers its end, whether time ran out, and the
/// last signal sent.
fn watch(
    child: i32,
    limit: Duration,
    kill_after: Duration,
    sig: i32,
    send: &dyn Fn(i32),
) -> (Option<Status>, bool, i32) {
    let mut deadline = (!limit.is_zero()).then(|| Instant::now() + limit);
    let (mut timed_out, mut last) = (false, 0);
    loop {
        match process::try_wait(child) {
            Ok(Some(waited)) => return (Some(waited.status), timed_out, last),
            Ok(None) | Err(Errno::EINTR) => {}
            Err(_) => return (None, timed_out, last),
        }
        while let Some(got) = signal::take() {
            if got != signal::SIGCHLD {
                send(got);
            }
        }
        let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            let now = if timed_out { signal::SIGKILL } else { sig };
            send(now);
            last = now;
            deadline = (!timed_out && !kill_after.is_zero()).then(|| Instant::now() + kill_after);
            timed_out = true;
            continue;
        }
        // SIGCHLD is handled, so its arrival ends the sleep.
        let nap = left.unwrap_or(Duration::from_secs(3600));
        let _ = fd::sleep(nap);
    }
}

const NOHUP: Spec = Spec { name: "nohup", usage: "nohup COMMAND [ARG]...", short: "+", long: &[], failure: 125 };

/// `nohup`.
pub fn nohup(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match NOHUP.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let mut operands = parsed.operands.into_iter();
    let Some(program) = operands.next() else { return NOHUP.missing_operand() };
    let mut spawn = Spawn::command(&program);
    spawn.arg(&program).args(operands).ignore_signal(signal::SIGHUP);
    let mut held = Vec::new();
    if fd::isatty(0)
        && let Ok(null) = fs::open("/dev/null", fs::O_WRONLY, 0)
    {
        spawn.fd(0, std::os::fd::AsRawFd::as_raw_fd(&null));
        held.push(null);
    }
    if fd::isatty(1) {
        match fs::open("nohup.out", fs::O_WRONLY | fs::O_CREAT | fs::O_APPEND, 0o600) {
            Ok(file) => {
                eprintln!("nohup: ignoring input and appending output to 'nohup.out'");
                spawn.fd(1, std::os::fd::AsRawFd::as_raw_fd(&file));
                if fd::isatty(2) {
                    spawn.fd(2, std::os::fd::AsRawFd::as_raw_fd(&file));
                }
                held.push(file);
            }
            Err(e) => {
                eprintln!("nohup: failed to open 'nohup.out': {e}");
                return 125;
            }
        }
    } else if fd::isatty(2) {
        spawn.fd(2, 1);
    }
    no_command("nohup", &program, spawn.exec())
}

const NICE: Spec = Spec {
    name: "nice",
    usage: "nice [OPTION] [COMMAND [ARG]...]",
    short: "+n:0123456789",
    long: &[("adjustment", Takes::Arg, 'n')],
    failure: 125,
};

/// `nice`: the kernel has one priority, so the command just runs.
pub fn nice(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match NICE.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    if let Some((_, bad)) =
        parsed.options.iter().find(|(o, v)| *o == 'n' && v.to_string_lossy().parse::<i64>().is_err())
    {
        eprintln!("nice: invalid adjustment {}", quote(bad));
        return 125;
    }
    let mut operands = parsed.operands.into_iter();
    let Some(program) = operands.next() else {
        if !parsed.options.is_empty() {
            eprintln!("nice: a command must be given with an adjustment");
            return NICE.try_help();
        }
        say(format_args!("0\n"));
        return 0;
    };
    let mut spawn = Spawn::command(&program);
    spawn.arg(&program).args(operands);
    let errno = spawn.exec();
    eprintln!("nice: {}: {errno}", quote_if_needed(&program));
    if errno == Errno::ENOENT { 127 } else { 126 }
}

const STDBUF: Spec = Spec {
    name: "stdbuf",
    usage: "stdbuf OPTION... COMMAND",
    short: "+i:o:e:",
    long: &[("input", Takes::Arg, 'i'), ("output", Takes::Arg, 'o'), ("error", Takes::Arg, 'e')],
    failure: 125,
};

/// `stdbuf`: programs here have no C library buffers to set, so the command just runs.
pub fn stdbuf(_: &str, args: Vec<OsString>) -> i32 {
    let parsed = match STDBUF.parse(args) {
        Ok(parsed) => parsed,
        Err(status) => return status,
    };
    let mut operands = parsed.operands.into_iter();
    let Some(program) = operands.next() else { return STDBUF.missing_operand() };
    if parsed.options.is_empty() {
        eprintln!("stdbuf: you must specify a buffering mode option");
        return STDBUF.try_help();
    }
    let mut spawn = Spawn::command(&program);
    spawn.arg(&program).args(operands);
    no_command("stdbuf", &program, spawn.exec())
}

/// `kill`: `-SIGNAL`, `-s SIGNAL`, `-l [SIGNAL]...`, `-t`.
pub fn kill(_: &str, args: Vec<OsString>) -> i32 {
    let mut args: Vec<String> = args.into_iter().map(|a| a.to_string_lossy().into_owned()).collect();
    let usage = || {
        eprintln!("Try 'kill --help' for more information.");
        1
    };
    let Some(first) = args.first().cloned() else {
        eprintln!("kill: no process ID specified");
        return usage();
    };
    let mut sig = signal::SIGTERM;
    match first.as_str() {
        "--help" => {
            say(format_args!("Usage: kill [-s SIGNAL | -SIGNAL] PID...\n  or:  kill -l [SIGNAL]...\n"));
            return 0;
        }
        "-l" | "--list" | "-L" | "-t" | "--table" => {
            return list_signals(&args[1..], matches!(&*first, "-t" | "--table"));
        }
        "-s" | "--signal" | "-n" => {
            let Some(name) = args.get(1) else {
                eprintln!("kill: option requires an argument -- 's'");
                return usage();
            };
            let Some(number) = signal::parse(name) else {
                eprintln!("kill: '{name}': invalid signal");
                return usage();
            };
            sig = number;
            args.drain(..2);
        }
        "--" => {
            args.remove(0);
        }
        text if text.starts_with('-') && text.len() > 1 => {
            let name = text.strip_prefix("--signal=").or_else(|| text.strip_prefix("-s")).filter(|n| !n.is_empty());
            let name = name.filter(|n| signal::parse(n).is_some()).unwrap_or(&text[1..]);
            let Some(number) = signal::parse(name) else {
                eprintln!("kill: '{name}': invalid signal");
                return usage();
            };
            sig = number;
            args.remove(0);
        }
        _ => {}
    }
    if args.first().is_some_and(|a| a == "--") {
        args.remove(0);
    }
    if args.is_empty() {
        eprintln!("kill: no process ID specified");
        return usage();
    }
    let mut status = 0;
    for arg in &args {
        match arg.parse::<i32>() {
            Ok(pid) => {
                if let Err(e) = process::kill(pid, sig) {
                    eprintln!("kill: sending signal to {pid} failed: {e}");
                    status = 1;
                }
            }
            Err(_) => {
                eprintln!("kill: invalid process id '{arg}'");
                status = 1;
            }
        }
    }
    status
}

fn list_signals(wanted: &[String], table: bool) -> i32 {
    let mut status = 0;
    if wanted.is_empty() {
        for number in (1..=31).chain(signal::SIGRTMIN..=signal::SIGRTMAX) {
            let Some(name) = signal::name(number) else { continue };
            if table {
                let text = signal::SIGNALS.iter().find(|s| s.1 == number).map_or("", |s| s.2);
                say(format_args!("{number:>2} {name:<8} {text}\n"));
            } else {
                say(format_args!("{name}\n"));
            }
        }
    }
    for arg in wanted {
        let found = match arg.parse::<i32>() {
            // An exit status of a shell: 128 and the signal.
            Ok(number) => signal::name(if number > 128 { number - 128 } else { number })
                .or_else(|| (number == 0).then(|| "EXIT".to_owned())),
            Err(_) => signal::parse(arg).map(|number| number.to_string()),
        };
        match found {
            Some(text) => say(format_args!("{text}\n")),
            None => {
                eprintln!("kill: '{arg}': invalid signal");
                status = 1;
            }
        }
    }
    status
}
