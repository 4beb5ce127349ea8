//! Signals: dispositions, taking what is pending, timers. Numbers are Linux's.

use crate::errno::{Errno, Result, check};
use crate::ffi;

macro_rules! signals {
    ($($name:ident = $number:literal $text:literal;)*) => {
        $(#[doc = concat!("Signal ", stringify!($name), ".")] pub const $name: i32 = $number;)*
        /// Names without SIG, numbers and the GNU C library's descriptions, by number.
        pub const SIGNALS: &[(&str, i32, &str)] = &[
            $((stringify!($name).split_at(3).1, $number, $text),)*
        ];
    };
}

signals! {
    SIGHUP = 1 "Hangup";
    SIGINT = 2 "Interrupt";
    SIGQUIT = 3 "Quit";
    SIGILL = 4 "Illegal instruction";
    SIGTRAP = 5 "Trace/breakpoint trap";
    SIGABRT = 6 "Aborted";
    SIGBUS = 7 "Bus error";
    SIGFPE = 8 "Floating point exception";
    SIGKILL = 9 "Killed";
    SIGUSR1 = 10 "User defined signal 1";
    SIGSEGV = 11 "Segmentation fault";
    SIGUSR2 = 12 "User defined signal 2";
    SIGPIPE = 13 "Broken pipe";
    SIGALRM = 14 "Alarm clock";
    SIGTERM = 15 "Terminated";
    SIGSTKFLT = 16 "Stack fault";
    SIGCHLD = 17 "Child exited";
    SIGCONT = 18 "Continued";
    SIGSTOP = 19 "Stopped (signal)";
    SIGTSTP = 20 "Stopped";
    SIGTTIN = 21 "Stopped (tty input)";
    SIGTTOU = 22 "Stopped (tty output)";
    SIGURG = 23 "Urgent I/O condition";
    SIGXCPU = 24 "CPU time limit exceeded";
    SIGXFSZ = 25 "File size limit exceeded";
    SIGVTALRM = 26 "Virtual timer expired";
    SIGPROF = 27 "Profiling timer expired";
    SIGWINCH = 28 "Window changed";
    SIGPOLL = 29 "I/O possible";
    SIGPWR = 30 "Power failure";
    SIGSYS = 31 "Bad system call";
}

/// The first real-time signal that programs may use, as the GNU C library counts.
pub const SIGRTMIN: i32 = 34;
/// The last one.
pub const SIGRTMAX: i32 = 64;

/// The name of a signal without SIG: "TERM", "RTMIN+3"; `None` outside 1..=64 and for 32 and 33.
pub fn name(number: i32) -> Option<String> {
    match number {
        SIGRTMIN => Some("RTMIN".into()),
        SIGRTMAX => Some("RTMAX".into()),
        35..=49 => Some(format!("RTMIN+{}", number - SIGRTMIN)),
        50..=63 => Some(format!("RTMAX-{}", SIGRTMAX - number)),
        _ => SIGNALS.iter().find(|s| s.1 == number).map(|s| s.0.to_owned()),
    }
}

/// The number of a signal from "TERM", "SIGTERM", "sigterm", "15", "RTMIN+3" or "EXIT" (0).
pub fn parse(text: &str) -> Option<i32> {
    if let Ok(number) = text.parse::<i32>() {
        return (0..=SIGRTMAX).contains(&number).then_some(number);
    }
    let upper = text.to_ascii_uppercase();
    let bare = upper.strip_prefix("SIG").unwrap_or(&upper);
    match bare {
        "EXIT" => return Some(0),
        "CLD" => return Some(SIGCHLD),
        "IOT" => return Some(SIGABRT),
        "IO" => return Some(SIGPOLL),
        _ => {}
    }
    if let Some(rest) = bare.strip_prefix("RTMIN") {
        let offset: i32 = if rest.is_empty() { 0 } else { rest.strip_prefix('+')?.parse().ok()? };
        return (0..=30).contains(&offset).then_some(SIGRTMIN + offset);
    }
    if let Some(rest) = bare.strip_prefix("RTMAX") {
        let offset: i32 = if rest.is_empty() { 0 } else { rest.strip_prefix('-')?.parse().ok()? };
        return (0..=30).contains(&offset).then_some(SIGRTMAX - offset);
    }
    SIGNALS.iter().find(|s| s.0 == bare).map(|s| s.1)
}

/// What happens when a signal arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// The default: most end the process.
    Default,
    /// Nothing.
    Ignore,
    /// The kernel keeps it until [`take`] asks, and ends waits with EINTR.
    Handle,
}

/// Sets a disposition and returns the old one. EINVAL for KILL, STOP and numbers outside 1..=64.
pub fn set(signal: i32, disposition: Disposition) -> Result<Disposition> {
    let mut old = 0;
    let raw = match disposition {
        Disposition::Default => 0,
        Disposition::Ignore => 1,
        Disposition::Handle => 2,
    };
    // SAFETY: `old` is a place for the answer.
    check(unsafe { ffi::sig_set(signal, raw, &mut old) })?;
    Ok(match old {
        1 => Disposition::Ignore,
        2 => Disposition::Handle,
        _ => Disposition::Default,
    })
}

/// Takes the lowest handled signal that is pending.
pub fn take() -> Option<i32> {
    // SAFETY: no arguments.
    let signal = unsafe { ffi::sig_take() };
    (signal > 0).then_some(signal)
}

/// Asks the kernel to store 1 at `flag`, within some 10 ms, while a handled signal is pending; clear it before
/// [`take`]. `None` switches it off.
pub fn set_flag(flag: Option<&'static std::sync::atomic::AtomicU8>) -> Result<()> {
    let address = flag.map_or(std::ptr::null_mut(), |f| f.as_ptr());
    // SAFETY: the address is null or that of an atomic that lives as long as the program, so the kernel's store is
    // one this side expects at any time.
    check(unsafe { ffi::sig_flag(address) })
}

/// Arms the timer that sends ALRM after `value_ns` and then every `interval_ns`; 0 disarms. Returns the rest of the
/// old one in ns.
pub fn set_timer(value_ns: u64, interval_ns: u64) -> Result<u64> {
    let mut left = 0;
    // SAFETY: `left` is a place for the answer.
    check(unsafe { ffi::itimer(value_ns, interval_ns, &mut left) })?;
    Ok(left)
}

/// Waits until a handled signal is pending.
pub fn pause() -> Errno {
    // SAFETY: no arguments.
    Errno(unsafe { ffi::pause() })
}
