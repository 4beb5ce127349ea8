//! Sending signals, and process groups.

use std::os::fd::{AsRawFd, OwnedFd};

use wskill_sys::fd;
use wskill_sys::process::{self, Status};
use wskill_sys::signal::{self, Disposition};

use crate::support::{
    Done, Failure, check, moment, output, pipe, piped, programs, read_line, reap, refused, role, same,
};

programs! {
    kill_one, kill_oneself_at_once, kill_a_group, kill_all, kill_refuses, kill_a_blocked_process,
    kill_a_computing_process, groups, groups_of_children, kill_twice,
}

/// A child that has said that it runs.
fn ready(pgid: Option<i32>, signal_ignored: Option<i32>) -> Result<(i32, OwnedFd), Failure> {
    let (read, write) = pipe()?;
    let mut child = role(&["ready"]);
    child.fd(1, write.as_raw_fd());
    if let Some(group) = pgid {
        child.pgid(group);
    }
    if let Some(signal) = signal_ignored {
        child.ignore_signal(signal);
    }
    let pid = child.spawn()?;
    drop(write);
    same!(read_line(read.as_raw_fd())?, "ready");
    Ok((pid, read))
}

fn kill_one() -> Done {
    for number in [1, 2, 3, 6, 9, 10, 12, 13, 14, 15, 34, 64] {
        let (pid, _out) = ready(None, None)?;
        process::kill(pid, number)?;
        same!(reap(pid)?, Status::Signaled(number));
    }
    // What is ignored by default changes nothing, nor does what the child ignores.
    let (pid, _out) = ready(None, Some(15))?;
    for number in [0, 17, 18, 23, 28, 15] {
        process::kill(pid, number)?;
    }
    moment();
    check!(process::try_wait(pid)?.is_none());
    process::kill(pid, 9)?;
    same!(reap(pid)?, Status::Signaled(9));
    Ok(())
}

fn kill_oneself_at_once() -> Done {
    // Before the call returns: not one instruction later.
    for number in ["9", "15", "1"] {
        let (said, status) = output(&["suicide", number])?;
        same!(said, "");
        same!(status, Status::Signaled(number.parse().unwrap_or(0)));
    }
    let (said, status) = output(&["suicide", "17"])?;
    same!((said.as_str(), status), ("still alive\n", Status::Exited(0)));
    Ok(())
}

fn kill_a_group() -> Done {
    let (leader, _one) = ready(Some(0), None)?;
    let (member, _two) = ready(Some(leader), None)?;
    let (outsider, _three) = ready(None, None)?;
    process::kill(-leader, 15)?;
    same!(reap(leader)?, Status::Signaled(15));
    same!(reap(member)?, Status::Signaled(15));
    moment();
    check!(process::try_wait(outsider)?.is_none());
    refused!(process::kill(-leader, 15), ESRCH);
    // 0 is the own group, the caller included.
    signal::set(signal::SIGTERM, Disposition::Handle)?;
    process::kill(0, 15)?;
    same!(signal::take(), Some(15));
    same!(reap(outsider)?, Status::Signaled(15));
    Ok(())
}

fn kill_all() -> Done {
    let (one, _a) = ready(Some(0), None)?;
    let (two, _b) = ready(None, None)?;
    process::kill(-1, 15)?;
    // All but the caller.
    same!(reap(one)?, Status::Signaled(15));
    same!(reap(two)?, Status::Signaled(15));
    Ok(())
}

fn kill_refuses() -> Done {
    refused!(process::kill(99_999, 0), ESRCH);
    refused!(process::kill(-99_999, 0), ESRCH);
    refused!(process::kill(i32::MIN, 9), ESRCH);
    refused!(process::kill(i32::MAX, 9), ESRCH);
    for bad in [-1, 65, 1000, i32::MAX, i32::MIN] {
        refused!(process::kill(process::getpid(), bad), EINVAL);
    }
    refused!(process::kill(1, 9), ESRCH | EPERM);
    process::kill(process::getpid(), 0)?;
    Ok(())
}

fn kill_a_blocked_process() -> Done {
    // In a read, in a wait for a lock, in a wait for a child, in an opening.
    let (read, _write) = pipe()?;
    let reading = role(&["cat"]).fd(0, read.as_raw_fd()).spawn()?;
    wskill_sys::fs::mkfifo("fifo", 0o600)?;
    let opening = role(&["fifo-read", "fifo"]).spawn()?;
    let file = crate::descriptors::file("locked", b"")?;
    fd::flock(file.as_raw_fd(), fd::Lock::Exclusive, true)?;
    let locking = role(&["lock", "locked", "exclusive", "wait"]).spawn()?;
    let (full, filled) = pipe()?;
    let writing = role(&["flood"]).fd(1, filled.as_raw_fd()).spawn()?;
    moment();
    for pid in [reading, opening, locking, writing] {
        check!(process::try_wait(pid)?.is_none());
        process::kill(pid, 9)?;
        same!(reap(pid)?, Status::Signaled(9));
    }
    drop(full);
    // The lock is not held by a ghost.
    fd::flock(file.as_raw_fd(), fd::Lock::Unlock, true)?;
    let other = wskill_sys::fs::open("locked", wskill_sys::fs::O_RDWR, 0)?;
    fd::flock(other.as_raw_fd(), fd::Lock::Exclusive, false)?;
    Ok(())
}

fn kill_a_computing_process() -> Done {
    let mut spinning = Vec::new();
    for _ in 0..4 {
        let (pid, out) = piped(&["spin"])?;
        read_line(out.as_raw_fd())?;
        spinning.push(pid);
    }
    for pid in spinning {
        process::kill(pid, 15)?;
        same!(reap(pid)?, Status::Signaled(15));
    }
    Ok(())
}

fn groups() -> Done {
    let own = process::getpid();
    process::setpgid(0, 0)?;
    same!(process::getpgid(0)?, own);
    same!(process::getpgid(own)?, own);
    refused!(process::setpgid(0, -1), EINVAL);
    refused!(process::setpgid(0, 99_999), EPERM);
    refused!(process::setpgid(99_999, 0), ESRCH);
    refused!(process::getpgid(99_999), ESRCH);
    refused!(process::getpgid(-1), ESRCH | EINVAL);
    // A group that exists may be joined, also by its last member's former parent.
    let (child, _out) = ready(Some(0), None)?;
    process::setpgid(0, child)?;
    same!(process::getpgid(0)?, child);
    process::setpgid(own, own)?;
    let (member, _out) = ready(Some(child), None)?;
    same!(process::getpgid(member)?, child);
    process::kill(-child, 9)?;
    reap(child)?;
    reap(member)?;
    refused!(process::setpgid(0, child), EPERM);
    let mut orphan = role(&["ready"]);
    orphan.pgid(child);
    refused!(orphan.spawn(), EPERM);
    refused!(process::wait(-1), ECHILD);
    Ok(())
}

fn groups_of_children() -> Done {
    let (one, _a) = ready(None, None)?;
    same!(process::getpgid(one)?, process::getpgid(0)?);
    process::setpgid(one, 0)?;
    same!(process::getpgid(one)?, one);
    let (two, _b) = ready(None, None)?;
    process::setpgid(two, one)?;
    same!(process::getpgid(two)?, one);
    process::kill(-one, 9)?;
    same!(reap(one)?, Status::Signaled(9));
    same!(reap(two)?, Status::Signaled(9));
    // A grandchild is not ours to move.
    let (pid, out) = piped(&["leave", "2000"])?;
    let grandchild: i32 = read_line(out.as_raw_fd())?.parse().unwrap_or(0);
    reap(pid)?;
    refused!(process::setpgid(grandchild, 0), ESRCH | EPERM);
    process::kill(grandchild, 9)?;
    Ok(())
}

fn kill_twice() -> Done {
    // The first fatal signal is what is told.
    let (pid, _out) = ready(None, None)?;
    process::kill(pid, 15)?;
    process::kill(pid, 9)?;
    let end = reap(pid)?;
    check!(end == Status::Signaled(15) || end == Status::Signaled(9), "{end:?}");
    refused!(process::kill(pid, 9), ESRCH);
    Ok(())
}
