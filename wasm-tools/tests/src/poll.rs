//! Waiting for several things at once.

use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use wskill_sys::fd::{self, Interest};
use wskill_sys::{Errno, fs};

use crate::raw::{self, Out, at};
use crate::support::{Done, check, pipe, programs, reap, refused, role, same};

programs! {
    poll_times_out, poll_readiness, poll_hangup, poll_room_to_write, poll_errors, poll_always_ready, poll_clocks,
    poll_wakes, poll_many, poll_fifo, poll_refuses,
}

/// A subscription: user data, tag, and the fields that the tag wants.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Subscription {
    user_data: u64,
    tag: u8,
    pad: [u8; 7],
    id: u32,
    pad2: u32,
    timeout: u64,
    precision: u64,
    flags: u16,
    pad3: [u8; 6],
}

/// An event.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Event {
    user_data: u64,
    errno: u16,
    kind: u8,
    pad: [u8; 5],
    bytes: u64,
    flags: u16,
    pad2: [u8; 6],
}

fn on(tag: u8, fd: i32) -> Subscription {
    Subscription { user_data: 7, tag, id: fd as u32, ..Subscription::default() }
}

fn clock(id: u32, timeout: u64, flags: u16) -> Subscription {
    Subscription { user_data: 9, tag: 0, id, timeout, flags, ..Subscription::default() }
}

fn poll(subscriptions: &[Subscription]) -> Result<Vec<Event>, Errno> {
    let mut events = vec![Event::default(); subscriptions.len()];
    let mut out = Out::new();
    let (from, to) = (at(subscriptions), events.as_mut_ptr() as usize as u32);
    // SAFETY: both arrays have as many entries as said.
    crate::support::raw(unsafe { raw::wasi::poll_oneoff(from, to, subscriptions.len() as u32, out.at()) })?;
    std::hint::black_box(&mut events).truncate(out.u32(0) as usize);
    Ok(events)
}

fn poll_times_out() -> Done {
    let (read, _write) = pipe()?;
    let began = Instant::now();
    same!(fd::poll(&[(read.as_raw_fd(), Interest::Read)], Some(Duration::from_millis(25)))?, [false]);
    check!(began.elapsed() >= Duration::from_millis(24));
    // No time at all: a look.
    same!(fd::poll(&[(read.as_raw_fd(), Interest::Read)], Some(Duration::ZERO))?, [false]);
    let events = poll(&[on(1, read.as_raw_fd()), clock(1, 1, 0)])?;
    same!(events.len(), 1);
    same!((events[0].user_data, events[0].errno, events[0].kind), (9, 0, 0));
    Ok(())
}

fn poll_readiness() -> Done {
    let (read, write) = pipe()?;
    fd::write_all(write.as_raw_fd(), b"abc")?;
    let events = poll(&[on(1, read.as_raw_fd()), on(2, write.as_raw_fd())])?;
    same!(events.len(), 2);
    same!((events[0].kind, events[0].bytes, events[0].flags), (1, 3, 0));
    same!((events[1].kind, events[1].bytes, events[1].flags), (2, 65533, 0));
    fd::read(read.as_raw_fd(), &mut [0; 3])?;
    let events = poll(&[on(1, read.as_raw_fd()), on(2, write.as_raw_fd())])?;
    same!(events.len(), 1);
    same!(events[0].kind, 2);
    Ok(())
}

fn poll_hangup() -> Done {
    let (read, write) = pipe()?;
    fd::write_all(write.as_raw_fd(), b"rest")?;
    drop(write);
    let events = poll(&[on(1, read.as_raw_fd())])?;
    same!((events[0].bytes, events[0].flags), (4, 1));
    fd::read(read.as_raw_fd(), &mut [0; 8])?;
    let events = poll(&[on(1, read.as_raw_fd())])?;
    same!((events[0].bytes, events[0].flags), (0, 1));
    let (read, write) = pipe()?;
    drop(read);
    let events = poll(&[on(2, write.as_raw_fd())])?;
    same!(events[0].flags, 1);
    Ok(())
}

fn poll_room_to_write() -> Done {
    let (read, write) = fd::pipe(fd::NONBLOCK)?;
    while fd::write(write.as_raw_fd(), &[0; 4096]).is_ok() {}
    same!(fd::poll(&[(write.as_raw_fd(), Interest::Write)], Some(Duration::ZERO))?, [false]);
    // Ready means that a short write would not wait.
    fd::read(read.as_raw_fd(), &mut [0; 100])?;
    same!(fd::poll(&[(write.as_raw_fd(), Interest::Write)], Some(Duration::ZERO))?, [false]);
    fd::read(read.as_raw_fd(), &mut [0; 4000])?;
    same!(fd::poll(&[(write.as_raw_fd(), Interest::Write)], None)?, [true]);
    Ok(())
}

fn poll_errors() -> Done {
    let (read, _write) = pipe()?;
    // A wrong descriptor is an event with an error; the call succeeds.
    for subscription in [on(1, 99), on(2, -1), on(2, read.as_raw_fd())] {
        let events = poll(&[subscription, on(1, read.as_raw_fd())])?;
        same!(events.len(), 1);
        same!((events[0].errno, events[0].kind), (Errno::EBADF.0 as u16, subscription.tag));
    }
    Ok(())
}

fn poll_always_ready() -> Done {
    let file = crate::descriptors::file("polled", b"")?;
    let null = fs::open("/dev/null", fs::O_RDWR, 0)?;
    for fd in [file.as_raw_fd(), null.as_raw_fd()] {
        same!(poll(&[on(1, fd), on(2, fd)])?.len(), 2);
    }
    same!(poll(&[on(2, 1), on(2, 2)])?.len(), 2);
    Ok(())
}

fn poll_clocks() -> Done {
    let mut out = Out::new();
    for id in [0, 1] {
        let began = Instant::now();
        same!(poll(&[clock(id, 15_000_000, 0)])?.len(), 1);
        check!(began.elapsed() >= Duration::from_millis(14));
        // Absolute, from now and from long ago.
        // SAFETY: `out` takes the answer.
        crate::support::raw(unsafe { raw::wasi::clock_time_get(id as i32, 0, out.at()) })?;
        let began = Instant::now();
        same!(poll(&[clock(id, out.u64(0) + 15_000_000, 1)])?.len(), 1);
        check!(began.elapsed() >= Duration::from_millis(13));
        same!(poll(&[clock(id, 0, 1), clock(id, u64::MAX, 0)])?.len(), 1);
    }
    // The earliest of several counts.
    let began = Instant::now();
    let events = poll(&[clock(1, u64::MAX, 0), clock(1, 10_000_000, 0), clock(1, u64::MAX, 1)])?;
    same!(events.len(), 1);
    check!(began.elapsed() < Duration::from_secs(5));
    refused!(poll(&[clock(2, 1, 0)]), ENOTSUP | EINVAL);
    refused!(poll(&[clock(77, 1, 0)]), ENOTSUP | EINVAL);
    Ok(())
}

fn poll_wakes() -> Done {
    let (read, write) = pipe()?;
    let pid = role(&["late", "20"]).fd(1, write.as_raw_fd()).spawn()?;
    drop(write);
    let began = Instant::now();
    same!(fd::poll(&[(read.as_raw_fd(), Interest::Read)], Some(Duration::from_secs(10)))?, [true]);
    check!(began.elapsed() < Duration::from_secs(8));
    reap(pid)?;
    // The end wakes too.
    let (read, write) = pipe()?;
    let pid = role(&["sleep", "20"]).fd(1, write.as_raw_fd()).spawn()?;
    drop(write);
    same!(fd::poll(&[(read.as_raw_fd(), Interest::Read)], None)?, [true]);
    same!(fd::read(read.as_raw_fd(), &mut [0])?, 0);
    reap(pid)?;
    Ok(())
}

fn poll_many() -> Done {
    let (read, write) = pipe()?;
    let mut all = vec![on(1, read.as_raw_fd()); 4000];
    all.push(clock(1, 5_000_000, 0));
    same!(poll(&all)?.len(), 1);
    fd::write_all(write.as_raw_fd(), b"x")?;
    same!(poll(&all)?.len() >= 4000, true);
    Ok(())
}

fn poll_fifo() -> Done {
    fs::mkfifo("polled", 0o600)?;
    let read = fs::open("polled", fs::O_RDONLY | fs::O_NONBLOCK, 0)?;
    // Before the first writer there is no end to tell of, though a read would find one.
    same!(fd::poll(&[(read.as_raw_fd(), Interest::Read)], Some(Duration::ZERO))?, [false]);
    let write = fs::open("polled", fs::O_WRONLY, 0)?;
    drop(write);
    same!(poll(&[on(1, read.as_raw_fd())])?[0].flags, 1);
    let write = fs::open("polled", fs::O_WRONLY, 0)?;
    same!(fd::poll(&[(read.as_raw_fd(), Interest::Read)], Some(Duration::ZERO))?, [false]);
    fd::write_all(write.as_raw_fd(), b"x")?;
    same!(fd::poll(&[(read.as_raw_fd(), Interest::Read)], None)?, [true]);
    Ok(())
}

fn poll_refuses() -> Done {
    let one = [on(1, 0)];
    let mut out = Out::new();
    // SAFETY: what is outside of memory is so on purpose; the kernel checks.
    unsafe {
        use raw::wasi::poll_oneoff;
        let events = out.at() + 64;
        refused!(poll_oneoff(at(&one), events, 0, out.at()), EINVAL);
        refused!(poll_oneoff(at(&one), events, u32::MAX, out.at()), EINVAL);
        refused!(poll_oneoff(at(&one), events, 1 << 31, out.at()), EINVAL);
        refused!(poll_oneoff(u32::MAX - 8, events, 1, out.at()), EFAULT);
        refused!(poll_oneoff(at(&one), u32::MAX - 8, 1, out.at()), EFAULT);
        refused!(poll_oneoff(at(&one), events, 1, u32::MAX), EFAULT);
    }
    let mut wrong = one;
    wrong[0].tag = 3;
    refused!(poll(&wrong), EINVAL);
    wrong[0].tag = 255;
    refused!(poll(&wrong), EINVAL);
    Ok(())
}
