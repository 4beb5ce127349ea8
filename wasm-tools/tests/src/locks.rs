//! Advisory locks.

use std::os::fd::AsRawFd;

use wskill_sys::fd::{self, Lock, flock};
use wskill_sys::fs;
use wskill_sys::process::{self, Status};

use crate::descriptors::file;
use crate::raw;
use crate::support::{Done, Failure, check, moment, pipe, piped, play, programs, read_line, reap, refused, role, same};

programs! {
    lock_excludes, lock_shares, lock_waits, lock_is_given_back, lock_follows_the_description, lock_changes_kind,
    lock_refuses,
}

/// A child that holds the lock until the answer's descriptor is closed.
fn holder(name: &str, kind: &str) -> Result<(i32, std::os::fd::OwnedFd), Failure> {
    let (input, hold) = pipe()?;
    let (read, write) = pipe()?;
    let pid = role(&["lock", name, kind]).fd(0, input.as_raw_fd()).fd(1, write.as_raw_fd()).spawn()?;
    drop((input, write));
    same!(read_line(read.as_raw_fd())?, "ready");
    Ok((pid, hold))
}

fn lock_excludes() -> Done {
    let file = file("locked", b"")?;
    let (pid, hold) = holder("locked", "exclusive")?;
    refused!(flock(file.as_raw_fd(), Lock::Exclusive, false), EAGAIN);
    refused!(flock(file.as_raw_fd(), Lock::Shared, false), EAGAIN);
    drop(hold);
    same!(reap(pid)?, Status::Exited(0));
    flock(file.as_raw_fd(), Lock::Exclusive, false)?;
    // It binds only those who ask.
    std::fs::write("locked", b"x")?;
    Ok(())
}

fn lock_shares() -> Done {
    let file = file("locked", b"")?;
    let (one, hold_one) = holder("locked", "shared")?;
    let (two, hold_two) = holder("locked", "shared")?;
    flock(file.as_raw_fd(), Lock::Shared, false)?;
    refused!(flock(file.as_raw_fd(), Lock::Exclusive, false), EAGAIN);
    drop((hold_one, hold_two));
    reap(one)?;
    reap(two)?;
    flock(file.as_raw_fd(), Lock::Exclusive, false)?;
    Ok(())
}

fn lock_waits() -> Done {
    let file = file("locked", b"")?;
    flock(file.as_raw_fd(), Lock::Exclusive, true)?;
    let (input, hold) = pipe()?;
    let (read, write) = pipe()?;
    let pid =
        role(&["lock", "locked", "exclusive", "wait"]).fd(0, input.as_raw_fd()).fd(1, write.as_raw_fd()).spawn()?;
    drop((input, write));
    same!(fd::poll(&[(read.as_raw_fd(), fd::Interest::Read)], Some(std::time::Duration::from_millis(20)))?, [false]);
    flock(file.as_raw_fd(), Lock::Unlock, true)?;
    same!(read_line(read.as_raw_fd())?, "ready");
    drop(hold);
    same!(reap(pid)?, Status::Exited(0));
    Ok(())
}

fn lock_is_given_back() -> Done {
    let file = file("locked", b"")?;
    // By closing.
    let other = fs::open("locked", fs::O_RDONLY, 0)?;
    flock(other.as_raw_fd(), Lock::Exclusive, false)?;
    drop(other);
    flock(file.as_raw_fd(), Lock::Exclusive, false)?;
    flock(file.as_raw_fd(), Lock::Unlock, false)?;
    // By being killed.
    let (pid, _hold) = holder("locked", "exclusive")?;
    refused!(flock(file.as_raw_fd(), Lock::Shared, false), EAGAIN);
    process::kill(pid, 9)?;
    reap(pid)?;
    flock(file.as_raw_fd(), Lock::Exclusive, false)?;
    Ok(())
}

fn lock_follows_the_description() -> Done {
    let file = file("locked", b"")?;
    let duplicate = fd::dup(file.as_raw_fd(), 0, 0)?;
    let second = fs::open("locked", fs::O_RDWR, 0)?;
    flock(file.as_raw_fd(), Lock::Exclusive, false)?;
    flock(duplicate.as_raw_fd(), Lock::Exclusive, false)?;
    // Another opening is another owner, even in the same process.
    refused!(flock(second.as_raw_fd(), Lock::Shared, false), EAGAIN);
    // A child that inherits the description shares the lock, and its end does not release it.
    play(&["exit", "0"])?;
    refused!(flock(second.as_raw_fd(), Lock::Shared, false), EAGAIN);
    drop(file);
    refused!(flock(second.as_raw_fd(), Lock::Shared, false), EAGAIN);
    drop(duplicate);
    flock(second.as_raw_fd(), Lock::Shared, false)?;
    // The lock is on the file, whatever it is called now.
    std::fs::rename("locked", "renamed")?;
    let third = fs::open("renamed", fs::O_RDWR, 0)?;
    refused!(flock(third.as_raw_fd(), Lock::Exclusive, false), EAGAIN);
    Ok(())
}

fn lock_changes_kind() -> Done {
    let file = file("locked", b"")?;
    let other = fs::open("locked", fs::O_RDWR, 0)?;
    flock(file.as_raw_fd(), Lock::Exclusive, false)?;
    flock(file.as_raw_fd(), Lock::Shared, false)?;
    flock(other.as_raw_fd(), Lock::Shared, false)?;
    drop(other);
    flock(file.as_raw_fd(), Lock::Exclusive, false)?;
    flock(file.as_raw_fd(), Lock::Unlock, false)?;
    // Two that share and both want it alone: each gives up what it has while it waits, so one gets it.
    let (one, hold_one) = upgrading()?;
    let (two, hold_two) = upgrading()?;
    moment();
    drop((hold_one, hold_two));
    same!(reap(one)?, Status::Exited(0));
    same!(reap(two)?, Status::Exited(0));
    Ok(())
}

/// A child with a shared lock that wants it exclusive once its input ends.
fn upgrading() -> Result<(i32, std::os::fd::OwnedFd), Failure> {
    let (input, hold) = pipe()?;
    let (read, write) = pipe()?;
    let pid = role(&["upgrade", "locked"]).fd(0, input.as_raw_fd()).fd(1, write.as_raw_fd()).spawn()?;
    drop((input, write));
    same!(read_line(read.as_raw_fd())?, "ready");
    Ok((pid, hold))
}

fn lock_refuses() -> Done {
    let file = file("locked", b"")?;
    // SAFETY: plain numbers.
    unsafe {
        for bad in [0, 3, 7, 16, u32::MAX] {
            refused!(raw::kernel::flock(file.as_raw_fd(), bad), EINVAL);
        }
    }
    flock(file.as_raw_fd(), Lock::Unlock, true)?;
    refused!(flock(99, Lock::Shared, true), EBADF);
    let (pid, out) = piped(&["exit", "0"])?;
    check!(out.as_raw_fd() > 3);
    reap(pid)?;
    Ok(())
}
