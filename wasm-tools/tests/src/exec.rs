//! Replacing a process's image.

use std::os::fd::AsRawFd;

use wskill_sys::process::{self, Spawn, Status};
use wskill_sys::signal::{self, Disposition};
use wskill_sys::{fd, fs};

use crate::support::{Done, check, output, pipe, piped, play, programs, read_all, reap, role, same};

programs! {
    exec_keeps_identity, exec_keeps_what_is_inherited, exec_failure_goes_on, exec_keeps_children, exec_keeps_the_timer,
    exec_resets_dispositions, exec_does_not_lose_a_signal, exec_many_times, exec_closes_contexts,
}

/// Becomes this role; what comes back is the error.
fn become_role(words: &[&str]) -> wskill_sys::Errno {
    role(words).exec()
}

fn exec_keeps_identity() -> Done {
    let (pid, out) = piped(&["exec", "exec", "show", "ids"])?;
    let said = read_all(out.as_raw_fd())?;
    same!(reap(pid)?, Status::Exited(0));
    let expected = format!("{pid} {} {}\n", process::getpid(), process::getpgid(0)?);
    same!(String::from_utf8_lossy(&said), expected);
    Ok(())
}

fn exec_keeps_what_is_inherited() -> Done {
    fs::umask(0o077);
    fs::chdir("/tmp")?;
    same!(output(&["exec", "show", "umask"])?.0, "077\n");
    same!(output(&["exec", "show", "cwd"])?.0, "/tmp\n");
    fd::dup2(0, 20, 0)?;
    fd::dup2(0, 21, fd::CLOEXEC)?;
    same!(output(&["exec", "show", "fds"])?.0, "0 1 2 20\n");
    // The offset stays where it was.
    let file = crate::descriptors::file("exec-offset", b"0123456789")?;
    fd::read(file.as_raw_fd(), &mut [0; 4])?;
    let (read, write) = pipe()?;
    let pid = role(&["exec", "show", "offset"]).fd(0, file.as_raw_fd()).fd(1, write.as_raw_fd()).spawn()?;
    drop(write);
    same!(read_all(read.as_raw_fd())?, b"456789");
    reap(pid)?;
    Ok(())
}

fn exec_failure_goes_on() -> Done {
    same!(Spawn::path("missing").exec(), wskill_sys::Errno::ENOENT);
    same!(Spawn::path("/tmp").exec(), wskill_sys::Errno::EACCES);
    same!(role(&["x"]).fd(5, 99).exec(), wskill_sys::Errno::EBADF);
    same!(role(&[&"x".repeat(3 << 20)]).exec(), wskill_sys::Errno::E2BIG);
    // Nothing has changed: closing descriptors, dispositions, memory.
    let null = fs::open("/dev/null", fs::O_RDONLY | fs::O_CLOEXEC, 0)?;
    signal::set(signal::SIGTERM, Disposition::Handle)?;
    same!(Spawn::path("missing").exec(), wskill_sys::Errno::ENOENT);
    check!(fd::is_open(null.as_raw_fd()));
    same!(signal::set(signal::SIGTERM, Disposition::Default)?, Disposition::Handle);
    Ok(())
}

fn exec_keeps_children() -> Done {
    // The child before exec can be waited for after it: the new image waits for any child and tells its status.
    let (read, write) = pipe()?;
    let pid = role(&["spawn-exec-wait"]).fd(1, write.as_raw_fd()).spawn()?;
    drop(write);
    same!(read_all(read.as_raw_fd())?, b"31\n");
    same!(reap(pid)?, Status::Exited(0));
    Ok(())
}

fn exec_keeps_the_timer() -> Done {
    same!(play_quietly(&["timer-exec"])?, Status::Signaled(14));
    Ok(())
}

fn play_quietly(words: &[&str]) -> Result<Status, crate::support::Failure> {
    let null = fs::open("/dev/null", fs::O_WRONLY, 0)?;
    Ok(reap(role(words).fd(1, null.as_raw_fd()).spawn()?)?)
}

fn exec_resets_dispositions() -> Done {
    // Handled becomes default; ignored is what the request says.
    same!(play(&["ignored", "10"])?, Status::Exited(1));
    let pid = role(&["ignored", "10"]).ignore_signal(10).spawn()?;
    same!(reap(pid)?, Status::Exited(0));
    // KILL cannot be ignored that way either.
    let (read, write) = pipe()?;
    let pid = role(&["ready"]).ignore_signal(9).fd(1, write.as_raw_fd()).spawn()?;
    drop(write);
    crate::support::read_line(read.as_raw_fd())?;
    process::kill(pid, 9)?;
    same!(reap(pid)?, Status::Signaled(9));
    Ok(())
}

fn exec_does_not_lose_a_signal() -> Done {
    // TERM is pending, its handler is gone with the image: the default ends the new one.
    same!(play(&["pending-exec"])?, Status::Signaled(15));
    Ok(())
}

fn exec_many_times() -> Done {
    let mut words = vec!["exec"; 30];
    words.extend(["exit", "5"]);
    same!(play(&words)?, Status::Exited(5));
    Ok(())
}

fn exec_closes_contexts() -> Done {
    // Descriptors that only a saved context holds are gone afterwards: the reader sees the end.
    let (read, write) = pipe()?;
    let pid = role(&["context-exec"]).fd(9, write.as_raw_fd()).spawn()?;
    drop(write);
    same!(read_all(read.as_raw_fd())?, b"");
    process::kill(pid, 9)?;
    reap(pid)?;
    // This one replaces itself; the status is the new image's.
    Err(become_role(&["exit", "0"]).into())
}
