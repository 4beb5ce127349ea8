//! Writing to a pipe that nobody reads.

use std::os::fd::AsRawFd;

use wskill_sys::process::Status;
use wskill_sys::signal::{self, Disposition, SIGPIPE};
use wskill_sys::{fd, fs};

use crate::support::{Done, pipe, programs, reap, refused, role, same};

programs! {
    sigpipe_ends_a_writer, sigpipe_ignored, sigpipe_handled, sigpipe_ignored_is_inherited, sigpipe_while_waiting,
}

/// How a role ends whose output nobody reads.
fn unread(words: &[&str], ignored: bool) -> Result<Status, crate::support::Failure> {
    let (read, write) = pipe()?;
    let mut child = role(words);
    child.fd(1, write.as_raw_fd());
    if ignored {
        child.ignore_signal(SIGPIPE);
    }
    let pid = child.spawn()?;
    drop((read, write));
    Ok(reap(pid)?)
}

fn sigpipe_ends_a_writer() -> Done {
    same!(unread(&["flood"], false)?, Status::Signaled(13));
    Ok(())
}

fn sigpipe_ignored() -> Done {
    same!(unread(&["flood", "ignoring"], false)?, Status::Exited(7));
    Ok(())
}

fn sigpipe_ignored_is_inherited() -> Done {
    same!(unread(&["flood"], true)?, Status::Exited(7));
    // The parent's own disposition is not: the request says what is ignored.
    signal::set(SIGPIPE, Disposition::Ignore)?;
    same!(unread(&["flood"], false)?, Status::Signaled(13));
    Ok(())
}

fn sigpipe_handled() -> Done {
    signal::set(SIGPIPE, Disposition::Handle)?;
    let (read, write) = pipe()?;
    drop(read);
    refused!(fd::write(write.as_raw_fd(), b"x"), EPIPE);
    same!(signal::take(), Some(SIGPIPE));
    same!(signal::take(), None);
    // Nothing written, nothing broken.
    same!(fd::write(write.as_raw_fd(), b"")?, 0);
    Ok(())
}

fn sigpipe_while_waiting() -> Done {
    // The writer waits for room when its last reader goes.
    let (read, write) = pipe()?;
    let pid = role(&["flood"]).fd(1, write.as_raw_fd()).spawn()?;
    drop(write);
    let mut first = [0; 1];
    fd::read(read.as_raw_fd(), &mut first)?;
    fd::set_status_flags(read.as_raw_fd(), fs::O_NONBLOCK)?;
    crate::support::moment();
    drop(read);
    same!(reap(pid)?, Status::Signaled(13));
    Ok(())
}
