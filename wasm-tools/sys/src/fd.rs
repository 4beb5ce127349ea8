//! Descriptors: pipes, duplicates, flags, locks, terminals, memory files, and saved tables.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::errno::{Errno, Result, check};
use crate::ffi;

/// Closed in children that do not map it.
pub const CLOEXEC: u32 = 1;
/// Reads and writes do not wait.
pub const NONBLOCK: u32 = 2;
/// [`pipe`]: never blocks the writer; what is in it counts as memory.
pub const UNBOUNDED: u32 = 4;

/// Owns a descriptor the kernel has just made.
fn owned(fd: RawFd) -> OwnedFd {
    // SAFETY: called only with a number the kernel returned for a new descriptor, which nobody else owns.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// A pipe: the end that reads, the end that writes. Flags: [`CLOEXEC`], [`NONBLOCK`], [`UNBOUNDED`].
pub fn pipe(flags: u32) -> Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1i32; 2];
    // SAFETY: a place for two numbers.
    check(unsafe { ffi::pipe(flags, fds.as_mut_ptr()) })?;
    Ok((owned(fds[0]), owned(fds[1])))
}

/// The lowest free number at or above `min` becomes a duplicate of `fd`. Flags: [`CLOEXEC`].
pub fn dup(fd: RawFd, min: RawFd, flags: u32) -> Result<OwnedFd> {
    let mut new_fd = -1;
    // SAFETY: `new_fd` is a place for the answer.
    check(unsafe { ffi::dup(fd, min, flags, &mut new_fd) })?;
    Ok(owned(new_fd))
}

/// dup3(2): makes `new_fd` a duplicate of `fd`, closing what it was. Equal numbers: only checks. The caller answers
/// for whoever owned `new_fd`.
pub fn dup2(fd: RawFd, new_fd: RawFd, flags: u32) -> Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { ffi::dup2(fd, new_fd, flags) })
}

/// Closes a descriptor by number, for those nobody owns (a shell's table).
pub fn close(fd: RawFd) -> Result<()> {
    fcntl(fd, 1, 0)?;
    drop(owned(fd));
    Ok(())
}

fn fcntl(fd: RawFd, cmd: i32, arg: i32) -> Result<i32> {
    let mut result = 0;
    // SAFETY: `result` is a place for the answer.
    check(unsafe { ffi::fcntl(fd, cmd, arg, &mut result) })?;
    Ok(result)
}

/// Is it closed in children? EBADF when it is not open at all.
pub fn cloexec(fd: RawFd) -> Result<bool> {
    fcntl(fd, 1, 0).map(|flags| flags & 1 != 0)
}

/// Sets whether it is closed in children.
pub fn set_cloexec(fd: RawFd, on: bool) -> Result<()> {
    fcntl(fd, 2, on.into()).map(drop)
}

/// Is the descriptor open?
pub fn is_open(fd: RawFd) -> bool {
    cloexec(fd).is_ok()
}

/// Access mode, `O_APPEND` and `O_NONBLOCK` of the open file, as [`crate::fs`] numbers them.
pub fn status_flags(fd: RawFd) -> Result<u32> {
    fcntl(fd, 3, 0).map(|flags| flags as u32)
}

/// Sets `O_APPEND` and `O_NONBLOCK`.
pub fn set_status_flags(fd: RawFd, flags: u32) -> Result<()> {
    fcntl(fd, 4, flags as i32).map(drop)
}

/// What [`flock`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Shared with other readers.
    Shared,
    /// Alone.
    Exclusive,
    /// Give it back.
    Unlock,
}

/// flock(2); without `wait` EAGAIN when somebody else has it.
pub fn flock(fd: RawFd, lock: Lock, wait: bool) -> Result<()> {
    let op = match lock {
        Lock::Shared => 1,
        Lock::Exclusive => 2,
        Lock::Unlock => 8,
    };
    // SAFETY: plain numbers.
    check(unsafe { ffi::flock(fd, if wait { op } else { op | 4 }) })
}

/// Is it a terminal?
pub fn isatty(fd: RawFd) -> bool {
    // SAFETY: a plain number.
    (unsafe { ffi::isatty(fd) }) == 0
}

/// A terminal's rows and columns.
pub fn winsize(fd: RawFd) -> Result<(u16, u16)> {
    let mut size = [0u16; 2];
    // SAFETY: a place for two numbers.
    check(unsafe { ffi::winsize(fd, size.as_mut_ptr()) })?;
    Ok((size[0], size[1]))
}

/// An unnamed regular file in memory, open for reading and writing. Flags: [`CLOEXEC`].
pub fn memfd(flags: u32) -> Result<OwnedFd> {
    let mut fd = -1;
    // SAFETY: `fd` is a place for the answer.
    check(unsafe { ffi::memfd(flags, &mut fd) })?;
    Ok(owned(fd))
}

/// Saves the descriptor table, working directory and umask, and goes on with a copy; the answer goes to
/// [`pop_context`]. ELOOP past 1,000.
pub fn push_context() -> Result<i32> {
    let mut depth = 0;
    // SAFETY: `depth` is a place for the answer.
    check(unsafe { ffi::push_context(&mut depth) })?;
    Ok(depth)
}

/// Goes back to what [`push_context`] saved, dropping all above, and tells libc the working directory.
pub fn pop_context(depth: i32) -> Result<()> {
    // SAFETY: a plain number.
    check(unsafe { ffi::pop_context(depth) })?;
    crate::fs::sync_cwd()
}

/// What [`poll`] waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Something to read, or the end.
    Read,
    /// Room to write, or nobody reads any more.
    Write,
}

/// Waits until one of the descriptors is ready or the time is over; the answer says which are ready, in the order
/// given. An error of a descriptor counts as ready. `None` waits without end; with no descriptors it sleeps. EINTR when a handled signal arrives.
pub fn poll(fds: &[(RawFd, Interest)], timeout: Option<Duration>) -> Result<Vec<bool>> {
    let mut subs: Vec<ffi::wasi::Subscription> = fds
        .iter()
        .enumerate()
        .map(|(index, &(fd, interest))| ffi::wasi::Subscription {
            userdata: index as u64,
            tag: if interest == Interest::Read { 1 } else { 2 },
            id_or_fd: fd as u32,
            ..Default::default()
        })
        .collect();
    if let Some(time) = timeout {
        subs.push(ffi::wasi::Subscription {
            userdata: u64::MAX,
            // The clock that scripts cannot set: monotonic.
            id_or_fd: 1,
            timeout: u64::try_from(time.as_nanos()).unwrap_or(u64::MAX),
            ..Default::default()
        });
    }
    if subs.is_empty() {
        return Err(crate::signal::pause());
    }
    let mut events = vec![ffi::wasi::Event::default(); subs.len()];
    let mut count = 0u32;
    // SAFETY: both arrays have `subs.len()` entries, and `count` is a place for the answer.
    check(unsafe { ffi::wasi::poll_oneoff(subs.as_ptr(), events.as_mut_ptr(), subs.len() as u32, &mut count) })?;
    let mut ready = vec![false; fds.len()];
    for event in events.iter().take(count as usize) {
        if let Some(slot) = usize::try_from(event.userdata).ok().and_then(|i| ready.get_mut(i)) {
            *slot = true;
        }
    }
    Ok(ready)
}

/// Sleeps; ends early with EINTR when a handled signal arrives.
pub fn sleep(time: Duration) -> Result<()> {
    poll(&[], Some(time)).map(drop)
}

/// read(2) by number, for descriptors nobody owns.
pub fn read(fd: RawFd, buf: &mut [u8]) -> io::Result<usize> {
    io::Read::read(&mut *borrow(fd), buf)
}

/// write(2) by number.
pub fn write(fd: RawFd, buf: &[u8]) -> io::Result<usize> {
    io::Write::write(&mut *borrow(fd), buf)
}

/// write(2) until all is written; EINTR is tried again.
pub fn write_all(fd: RawFd, buf: &[u8]) -> io::Result<()> {
    io::Write::write_all(&mut *borrow(fd), buf)
}

/// A `File` over a number that it does not close.
fn borrow(fd: RawFd) -> std::mem::ManuallyDrop<std::fs::File> {
    // SAFETY: ManuallyDrop never closes it; a number that is not open only gives EBADF.
    std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(fd) })
}

/// Makes an `Errno` of an `io::Error`; EIO for one that is not the kernel's.
pub fn errno_of(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno)
}
