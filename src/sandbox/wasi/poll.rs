//! Waiting for several things at once.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use wasmtime::Linker;

use super::{CLOCK_MONOTONIC, CLOCK_REALTIME, Call, MODULE};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::guest::{Guest, HostCall};
use crate::sandbox::kernel::{Kernel, Kind, OpenFile, Pipe, PipeReader, ProcessCtx, settle_fuel};
use crate::sandbox::limits::POLL_MAX;

const SUBSCRIPTION: u32 = 48;
const EVENT: u32 = 32;
const TAG_CLOCK: u8 = 0;
const TAG_READ: u8 = 1;
const TAG_WRITE: u8 = 2;
const CLOCK_ABSOLUTE: u16 = 1;
const EVENT_HANGUP: u16 = 1;

/// Defines the call.
pub fn add_to_linker(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        MODULE,
        "poll_oneoff",
        |mut caller: Call<'_>, (subscriptions, events, count, out): (u32, u32, u32, u32)| {
            Box::new(async move {
                let answer = poll_oneoff(&mut caller, subscriptions, events, count, out).await;
                caller.answer(answer)
            })
        },
    )?;
    Ok(())
}

enum What {
    /// The monotonic clock shows this.
    Time(u64),
    Read(Arc<OpenFile>),
    Write(Arc<OpenFile>),
    /// No reader is left at this writing end, which poll(2) tells to who asks whether it can be read.
    NoReader(Arc<OpenFile>),
    /// The subscription itself is wrong.
    Failed(u8, Errno),
}

struct Subscription {
    user_data: u64,
    what: What,
}

struct Event {
    user_data: u64,
    errno: u16,
    tag: u8,
    bytes: u64,
    flags: u16,
}

async fn poll_oneoff(caller: &mut Call<'_>, from: u32, events: u32, count: u32, out: u32) -> Result<()> {
    if count == 0 || count > POLL_MAX {
        return Err(Errno::Invalid);
    }
    let (guest, ctx) = caller.parts()?;
    let kernel = Arc::clone(&ctx.kernel);
    let process = Arc::clone(&ctx.process);
    let mut subscriptions = Vec::with_capacity(count as usize);
    for index in 0..count {
        let address = from.checked_add(index * SUBSCRIPTION).ok_or(Errno::Fault)?;
        subscriptions.push(parse(&guest, ctx, address)?);
    }
    for subscription in &subscriptions {
        if let What::Read(file) = &subscription.what
            && let Some(reader) = reader(file)
        {
            reader.pipe().wake().await;
        }
    }
    let ready = loop {
        let ready = look(&kernel, &subscriptions);
        if !ready.is_empty() {
            break ready;
        }
        settle_fuel(&mut *caller);
        let mut changes = listen(&kernel, &subscriptions);
        // Listen first, then look again: what happens in between is not missed.
        let ready = look(&kernel, &subscriptions);
        if !ready.is_empty() {
            break ready;
        }
        process.interruptible(any(&mut changes)).await?;
    };
    let (mut guest, _) = caller.parts()?;
    for (index, event) in ready.iter().enumerate() {
        let address = events.checked_add(index as u32 * EVENT).ok_or(Errno::Fault)?;
        write_event(&mut guest, address, event)?;
    }
    guest.write_u32(out, ready.len() as u32)
}

fn parse(guest: &Guest<'_>, ctx: &ProcessCtx, address: u32) -> Result<Subscription> {
    let bytes: [u8; SUBSCRIPTION as usize] = guest.read(address)?;
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]));
    let small = |at: usize| i32::from_le_bytes(std::array::from_fn(|index| bytes[at + index]));
    let tag = bytes[8];
    let descriptor = || {
        let file = ctx.file(small(16))?;
        let right = if tag == TAG_READ { file.readable() } else { file.writable() };
        if right { Ok(Arc::clone(file)) } else { Err(Errno::BadFd) }
    };
    let what = match tag {
        TAG_CLOCK => {
            let now = match small(16) {
                CLOCK_REALTIME => ctx.kernel.clock.realtime(),
                CLOCK_MONOTONIC => ctx.kernel.clock.monotonic(),
                _ => return Err(Errno::NotSupported),
            };
            let timeout = number(24);
            let absolute = u16::from_le_bytes([bytes[40], bytes[41]]) & CLOCK_ABSOLUTE != 0;
            let left = if absolute { timeout.saturating_sub(now) } else { timeout };
            What::Time(ctx.kernel.clock.monotonic().saturating_add(left))
        }
        TAG_READ if ctx.file(small(16)).is_ok_and(|file| !file.readable() && writer(file).is_some()) => {
            What::NoReader(Arc::clone(ctx.file(small(16))?))
        }
        TAG_READ => descriptor().map_or_else(|errno| What::Failed(tag, errno), What::Read),
        TAG_WRITE => descriptor().map_or_else(|errno| What::Failed(tag, errno), What::Write),
        _ => return Err(Errno::Invalid),
    };
    Ok(Subscription { user_data: number(0), what })
}

fn reader(file: &OpenFile) -> Option<&PipeReader> {
    match file.kind() {
        Kind::Pipe { reader, .. } => reader.as_ref(),
        _ => None,
    }
}

fn writer(file: &OpenFile) -> Option<&Arc<Pipe>> {
    match file.kind() {
        Kind::Pipe { writer: Some(writer), .. } => Some(writer.pipe()),
        Kind::Tty(tty) => tty.screen(),
        _ => None,
    }
}

fn look(kernel: &Kernel, subscriptions: &[Subscription]) -> Vec<Event> {
    let check = |subscription: &Subscription| {
        let event = |tag, bytes, hangup| {
            let flags = if hangup { EVENT_HANGUP } else { 0 };
            Some(Event { user_data: subscription.user_data, errno: 0, tag, bytes, flags })
        };
        match &subscription.what {
            What::Failed(tag, errno) => {
                Some(Event { user_data: subscription.user_data, errno: *errno as u16, tag: *tag, bytes: 0, flags: 0 })
            }
            What::Time(at) => (kernel.clock.monotonic() >= *at).then(|| event(TAG_CLOCK, 0, false)).flatten(),
            What::Read(file) => match (reader(file), file.tty()) {
                (Some(reader), _) => match reader.ready() {
                    (0, false) => None,
                    (bytes, ended) => event(TAG_READ, bytes as u64, ended),
                },
                (None, Ok(tty)) => tty.waiting().and_then(|(bytes, ended)| event(TAG_READ, bytes as u64, ended)),
                (None, Err(_)) => event(TAG_READ, 1, false),
            },
            What::NoReader(file) => match writer(file).map(|pipe| pipe.write_state()) {
                Some((_, true)) => event(TAG_READ, 0, true),
                _ => None,
            },
            What::Write(file) => match writer(file) {
                None => event(TAG_WRITE, 1, false),
                Some(pipe) => match pipe.write_state() {
                    // Ready means that a short write would not wait.
                    (room, false) if room < crate::sandbox::kernel::PIPE_BUF => None,
                    (room, ended) => event(TAG_WRITE, room as u64, ended),
                },
            },
        }
    };
    subscriptions.iter().filter_map(check).collect()
}

type Change<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// What must happen before looking again is worth it.
fn listen<'a>(kernel: &'a Kernel, subscriptions: &'a [Subscription]) -> Vec<Change<'a>> {
    let mut changes: Vec<Change<'a>> = Vec::new();
    let mut earliest: Option<u64> = None;
    for subscription in subscriptions {
        let notify = match &subscription.what {
            What::Time(at) => {
                earliest = Some(earliest.map_or(*at, |other| other.min(*at)));
                continue;
            }
            What::Read(file) => match (reader(file), file.tty()) {
                (Some(reader), _) => Some(reader.pipe().readable()),
                (None, tty) => tty.ok().map(|tty| tty.readable()),
            },
            What::Write(file) | What::NoReader(file) => writer(file).map(|pipe| pipe.writable()),
            What::Failed(..) => None,
        };
        if let Some(notify) = notify {
            let mut changed = Box::pin(notify.notified());
            changed.as_mut().enable();
            changes.push(changed);
        }
    }
    if let Some(at) = earliest {
        changes.push(Box::pin(kernel.clock.sleep_until(at)));
    }
    changes
}

async fn any(changes: &mut [Change<'_>]) {
    poll_fn(|context| {
        let done = changes.iter_mut().any(|change| change.as_mut().poll(context).is_ready());
        if done { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

fn write_event(guest: &mut Guest<'_>, address: u32, event: &Event) -> Result<()> {
    let mut bytes = [0; EVENT as usize];
    bytes[0..8].copy_from_slice(&event.user_data.to_le_bytes());
    bytes[8..10].copy_from_slice(&event.errno.to_le_bytes());
    bytes[10] = event.tag;
    bytes[16..24].copy_from_slice(&event.bytes.to_le_bytes());
    bytes[24..26].copy_from_slice(&event.flags.to_le_bytes());
    guest.write(address, &bytes)
}
