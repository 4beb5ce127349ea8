//! Dispositions, what is pending, and what it interrupts.

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use wskill_sys::process::{self, Status};
use wskill_sys::signal::{self, Disposition, SIGALRM, SIGCHLD, SIGINT, SIGTERM, SIGUSR1};
use wskill_sys::{Errno, fd, fs};

use crate::raw::{self, Out};
use crate::support::{Done, check, output, pipe, piped, programs, read_all, read_line, reap, refused, role, same};

programs! {
    dispositions, pending_signals, default_ignored_signals, ignoring_forgets, raise, interrupts_read, interrupts_write,
    interrupts_poll_and_sleep, interrupts_lock, ignored_signals_do_not_interrupt, pending_before_the_call,
    signal_flag, child_signal, handled_by_a_child, pause_ends,
}

fn send(signal: i32) -> Result<(), Errno> {
    process::kill(process::getpid(), signal)
}

fn dispositions() -> Done {
    use Disposition::{Default, Handle, Ignore};
    same!(signal::set(SIGTERM, Handle)?, Default);
    same!(signal::set(SIGTERM, Ignore)?, Handle);
    same!(signal::set(SIGTERM, Default)?, Ignore);
    same!(signal::set(64, Ignore)?, Default);
    for bad in [9, 19, 0, 65, -1, i32::MAX, i32::MIN] {
        refused!(signal::set(bad, Ignore), EINVAL);
    }
    let mut out = Out::new();
    // SAFETY: `out` takes the answer; 0 means that nobody wants it.
    unsafe {
        refused!(raw::kernel::sig_set(15, 3, out.at()), EINVAL);
        refused!(raw::kernel::sig_set(15, -1, out.at()), EINVAL);
        check!(out.untouched());
        same!(raw::kernel::sig_set(15, 1, 0), 0);
    }
    same!(signal::set(SIGTERM, Default)?, Ignore);
    Ok(())
}

fn pending_signals() -> Done {
    for number in [1, 2, 10, 15, 34, 64] {
        signal::set(number, Disposition::Handle)?;
    }
    same!(signal::take(), None);
    for number in [64, 15, 1, 34, 1, 1] {
        send(number)?;
    }
    // Lowest first; sent twice is pending once.
    let taken: Vec<i32> = std::iter::from_fn(signal::take).collect();
    same!(taken, [1, 15, 34, 64]);
    Ok(())
}

fn default_ignored_signals() -> Done {
    for number in [17, 18, 23, 28] {
        send(number)?;
        same!(signal::take(), None);
    }
    // Handled they are told all the same.
    signal::set(SIGCHLD, Disposition::Handle)?;
    send(SIGCHLD)?;
    same!(signal::take(), Some(SIGCHLD));
    Ok(())
}

fn ignoring_forgets() -> Done {
    signal::set(SIGTERM, Disposition::Handle)?;
    send(SIGTERM)?;
    signal::set(SIGTERM, Disposition::Ignore)?;
    same!(signal::take(), None);
    send(SIGTERM)?;
    signal::set(SIGTERM, Disposition::Handle)?;
    same!(signal::take(), None);
    Ok(())
}

fn raise() -> Done {
    signal::set(SIGINT, Disposition::Handle)?;
    // SAFETY: plain numbers.
    unsafe {
        // WASI's own numbers: INT is 2 too.
        same!(raw::wasi::proc_raise(2), 0);
        same!(signal::take(), Some(SIGINT));
        for bad in [0, -1, 31, 1000, i32::MIN] {
            refused!(raw::wasi::proc_raise(bad), EINVAL);
        }
    }
    // Not handled it ends the process at once; WASI counts TERM as 15 too.
    let (said, status) = output(&["raise", "15"])?;
    same!((said.as_str(), status), ("", Status::Signaled(15)));
    let (said, status) = output(&["raise", "16"])?;
    same!((said.as_str(), status), ("still alive\n", Status::Exited(0)));
    Ok(())
}

/// Lets the timer interrupt what follows.
fn soon() -> Result<(), Errno> {
    signal::set(SIGALRM, Disposition::Handle)?;
    signal::set_timer(20_000_000, 0).map(drop)
}

fn interrupts_read() -> Done {
    let (read, write) = pipe()?;
    soon()?;
    refused!(fd::read(read.as_raw_fd(), &mut [0]), EINTR);
    same!(signal::take(), Some(SIGALRM));
    // Nothing is lost: it works the next time.
    fd::write_all(write.as_raw_fd(), b"x")?;
    same!(fd::read(read.as_raw_fd(), &mut [0])?, 1);
    // What can be had at once is not refused for a pending signal.
    soon()?;
    fd::write_all(write.as_raw_fd(), b"y")?;
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(30) {}
    same!(fd::read(read.as_raw_fd(), &mut [0])?, 1);
    same!(signal::take(), Some(SIGALRM));
    Ok(())
}

fn interrupts_write() -> Done {
    let (_read, write) = pipe()?;
    soon()?;
    // A part was written: that is the answer.
    same!(fd::write(write.as_raw_fd(), &vec![1; 100_000])?, 65536);
    same!(signal::take(), Some(SIGALRM));
    soon()?;
    refused!(fd::write(write.as_raw_fd(), b"x"), EINTR);
    same!(signal::take(), Some(SIGALRM));
    Ok(())
}

fn interrupts_poll_and_sleep() -> Done {
    let (read, _write) = pipe()?;
    soon()?;
    refused!(fd::poll(&[(read.as_raw_fd(), fd::Interest::Read)], None), EINTR);
    same!(signal::take(), Some(SIGALRM));
    soon()?;
    let began = Instant::now();
    refused!(fd::sleep(Duration::from_secs(30)), EINTR);
    check!(began.elapsed() < Duration::from_secs(20));
    same!(signal::take(), Some(SIGALRM));
    Ok(())
}

fn interrupts_lock() -> Done {
    let file = crate::descriptors::file("locked", b"")?;
    let other = fs::open("locked", fs::O_RDWR, 0)?;
    fd::flock(file.as_raw_fd(), fd::Lock::Exclusive, true)?;
    soon()?;
    refused!(fd::flock(other.as_raw_fd(), fd::Lock::Shared, true), EINTR);
    same!(signal::take(), Some(SIGALRM));
    fd::flock(file.as_raw_fd(), fd::Lock::Unlock, true)?;
    fd::flock(other.as_raw_fd(), fd::Lock::Exclusive, false)?;
    Ok(())
}

fn ignored_signals_do_not_interrupt() -> Done {
    signal::set(SIGALRM, Disposition::Ignore)?;
    signal::set_timer(5_000_000, 5_000_000)?;
    let began = Instant::now();
    fd::sleep(Duration::from_millis(40))?;
    check!(began.elapsed() >= Duration::from_millis(40));
    // Nor do those that do nothing by default.
    let pid = role(&["exit", "0"]).spawn()?;
    fd::sleep(Duration::from_millis(40))?;
    reap(pid)?;
    Ok(())
}

fn pending_before_the_call() -> Done {
    // A signal that came before the call is not slept over.
    signal::set(SIGUSR1, Disposition::Handle)?;
    send(SIGUSR1)?;
    refused!(fd::sleep(Duration::from_secs(30)), EINTR);
    refused!(Err::<(), _>(signal::pause()), EINTR);
    let (read, _write) = pipe()?;
    refused!(fd::read(read.as_raw_fd(), &mut [0]), EINTR);
    same!(signal::take(), Some(SIGUSR1));
    // A poll that is ready at once is ready.
    send(SIGUSR1)?;
    same!(fd::poll(&[(1, fd::Interest::Write)], None)?, [true]);
    Ok(())
}

fn signal_flag() -> Done {
    static FLAG: AtomicU8 = AtomicU8::new(0);
    signal::set(SIGALRM, Disposition::Handle)?;
    signal::set_flag(Some(&FLAG))?;
    signal::set_timer(10_000_000, 0)?;
    let began = Instant::now();
    // Looks at memory only; the clock is asked now and then, so that a failure ends too.
    'waiting: loop {
        for _ in 0..100_000 {
            if FLAG.load(Ordering::Relaxed) != 0 {
                break 'waiting;
            }
        }
        check!(began.elapsed() < Duration::from_secs(10), "the flag is never raised");
    }
    FLAG.store(0, Ordering::Relaxed);
    same!(signal::take(), Some(SIGALRM));
    // Switched off, it stays as it is.
    signal::set_flag(None)?;
    signal::set_timer(5_000_000, 0)?;
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(40) {}
    same!(FLAG.load(Ordering::Relaxed), 0);
    // SAFETY: the address is outside of memory on purpose.
    refused!(unsafe { raw::kernel::sig_flag(u32::MAX) }, EFAULT);
    Ok(())
}

fn child_signal() -> Done {
    signal::set(SIGCHLD, Disposition::Handle)?;
    let pid = role(&["exit", "0"]).spawn()?;
    refused!(Err::<(), _>(signal::pause()), EINTR);
    same!(signal::take(), Some(SIGCHLD));
    same!(reap(pid)?, Status::Exited(0));
    Ok(())
}

fn handled_by_a_child() -> Done {
    let (pid, out) = piped(&["handle", "12"])?;
    read_line(out.as_raw_fd())?;
    process::kill(pid, 12)?;
    same!(read_all(out.as_raw_fd())?, b"");
    same!(reap(pid)?, Status::Exited(12));
    Ok(())
}

fn pause_ends() -> Done {
    soon()?;
    same!(signal::pause(), Errno::EINTR);
    same!(signal::take(), Some(SIGALRM));
    same!(signal::take(), None);
    Ok(())
}
