//! Waiting for children.

use std::os::fd::AsRawFd;

use wskill_sys::process::{self, Status};
use wskill_sys::signal::{self, Disposition, SIGALRM, SIGCHLD};
use wskill_sys::{Errno, fd};

use crate::raw::{self, Out};
use crate::support::{Done, check, eventually, moment, pipe, piped, programs, read_line, reap, refused, role, same};

programs! {
    wait_for_one, wait_for_any, wait_for_a_group, wait_without_waiting, wait_refuses, wait_is_interrupted,
    wait_tells_the_child_despite_its_signal, ignored_children_leave_nothing, zombies, wait_for_grandchildren,
    wait_races,
}

fn wait_for_one() -> Done {
    let slow = role(&["sleep", "40"]).spawn()?;
    let quick = role(&["exit", "7"]).spawn()?;
    same!(reap(slow)?, Status::Exited(0));
    let waited = process::wait(quick)?;
    same!((waited.pid, waited.status), (quick, Status::Exited(7)));
    refused!(process::wait(quick), ECHILD);
    Ok(())
}

fn wait_for_any() -> Done {
    let mut pids = Vec::new();
    for code in 10..15 {
        pids.push((role(&["exit", &code.to_string()]).spawn()?, code));
    }
    for _ in 0..5 {
        let waited = process::wait(-1)?;
        let Some(index) = pids.iter().position(|&(pid, _)| pid == waited.pid) else {
            return Err(crate::support::Failure::new(format!("{} is no child", waited.pid)));
        };
        same!(waited.status, Status::Exited(pids.remove(index).1));
    }
    refused!(process::wait(-1), ECHILD);
    Ok(())
}

fn wait_for_a_group() -> Done {
    let own = role(&["exit", "1"]).spawn()?;
    let leader = role(&["exit", "2"]).pgid(0).spawn()?;
    let member = role(&["exit", "3"]).pgid(leader).spawn()?;
    let mut seen = [process::wait(-leader)?.pid, process::wait(-leader)?.pid];
    seen.sort_unstable();
    same!(seen, [leader, member]);
    refused!(process::wait(-leader), ECHILD);
    // 0 is the own group.
    same!(process::wait(0)?.pid, own);
    refused!(process::wait(0), ECHILD);
    refused!(process::wait(i32::MIN), ECHILD);
    Ok(())
}

fn wait_without_waiting() -> Done {
    let (pid, out) = piped(&["ready"])?;
    read_line(out.as_raw_fd())?;
    check!(process::try_wait(pid)?.is_none());
    check!(process::try_wait(-1)?.is_none());
    process::kill(pid, 9)?;
    let mut end = None;
    check!(eventually(|| {
        end = process::try_wait(pid).ok().flatten();
        end.is_some()
    }));
    same!(end.map(|waited| waited.status), Some(Status::Signaled(9)));
    refused!(process::try_wait(pid), ECHILD);
    Ok(())
}

fn wait_refuses() -> Done {
    refused!(process::wait(-1), ECHILD);
    refused!(process::wait(process::getpid()), ECHILD);
    refused!(process::wait(1), ECHILD);
    refused!(process::wait(99_999), ECHILD);
    let mut out = Out::new();
    // SAFETY: `out` takes the answer.
    unsafe {
        refused!(raw::kernel::wait(-1, 2, out.at()), EINVAL);
        refused!(raw::kernel::wait(-1, u32::MAX, out.at()), EINVAL);
    }
    check!(out.untouched());
    Ok(())
}

fn wait_is_interrupted() -> Done {
    let (pid, out) = piped(&["ready"])?;
    read_line(out.as_raw_fd())?;
    signal::set(SIGALRM, Disposition::Handle)?;
    signal::set_timer(20_000_000, 0)?;
    refused!(process::wait(pid), EINTR);
    same!(signal::take(), Some(SIGALRM));
    // Not by what is ignored.
    signal::set(SIGALRM, Disposition::Ignore)?;
    signal::set_timer(5_000_000, 0)?;
    let sleeper = role(&["sleep", "40"]).spawn()?;
    same!(process::wait(sleeper)?.status, Status::Exited(0));
    process::kill(pid, 9)?;
    same!(reap(pid)?, Status::Signaled(9));
    Ok(())
}

fn wait_tells_the_child_despite_its_signal() -> Done {
    signal::set(SIGCHLD, Disposition::Handle)?;
    for _ in 0..20 {
        let pid = role(&["sleep", "2"]).spawn()?;
        // The end of the child wakes `wait` in two ways at once; it must be told.
        same!(process::wait(pid)?.pid, pid);
        same!(signal::take(), Some(SIGCHLD));
        same!(signal::take(), None);
    }
    Ok(())
}

fn ignored_children_leave_nothing() -> Done {
    signal::set(SIGCHLD, Disposition::Ignore)?;
    let pid = role(&["sleep", "10"]).spawn()?;
    // It waits for the end, and then there is nothing to tell.
    refused!(process::wait(pid), ECHILD);
    refused!(process::kill(pid, 0), ESRCH);
    Ok(())
}

fn zombies() -> Done {
    let pid = role(&["exit", "9"]).spawn()?;
    let (read, write) = pipe()?;
    // Until it is waited for it is there: it can be asked about, sent signals to, and be in a group.
    let watcher = role(&["exit", "0"]).fd(1, write.as_raw_fd()).spawn()?;
    drop(write);
    reap(watcher)?;
    same!(fd::read(read.as_raw_fd(), &mut [0])?, 0);
    moment();
    process::kill(pid, 0)?;
    process::kill(pid, 9)?;
    same!(process::getpgid(pid)?, process::getpgid(0)?);
    same!(reap(pid)?, Status::Exited(9));
    refused!(process::kill(pid, 0), ESRCH);
    Ok(())
}

fn wait_for_grandchildren() -> Done {
    // A grandchild is no child, not even when its parent has ended.
    let (pid, out) = piped(&["leave", "1000"])?;
    let said = crate::support::read_line(out.as_raw_fd())?;
    let grandchild: i32 = said.parse().unwrap_or(0);
    refused!(process::wait(grandchild), ECHILD);
    same!(reap(pid)?, Status::Exited(0));
    refused!(process::wait(-1), ECHILD);
    process::kill(grandchild, 9)?;
    check!(eventually(|| process::kill(grandchild, 0) == Err(Errno::ESRCH)));
    Ok(())
}

fn wait_races() -> Done {
    // Ends, kills and waits of many children at once: each is told exactly once.
    for round in 0..5 {
        let mut pids = Vec::new();
        for number in 0..20 {
            let words: &[&str] = if (number + round) % 2 == 0 { &["exit", "1"] } else { &["sleep", "10000"] };
            pids.push(role(words).spawn()?);
        }
        for &pid in &pids {
            // Some have ended already.
            process::kill(pid, 9)?;
        }
        let mut told = Vec::new();
        while let Ok(waited) = process::wait(-1) {
            told.push(waited.pid);
        }
        told.sort_unstable();
        same!(told, pids);
    }
    Ok(())
}
