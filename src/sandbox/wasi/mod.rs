//! `wasi_snapshot_preview1`, all 46 calls, over the kernel.
//!
//! The contract is the preview's witx file. Descriptor 3 (and those after it, when there are more preopens) is special:
//! `fd_prestat_*` and `path_*` with it mean the preopened directory whatever the process has opened under that number,
//! so that scripts may use descriptor 3 as they like; see the kernel's [`View`](super::kernel::View).

mod descriptor;
mod io;
mod path;
mod poll;
mod types;

use std::sync::atomic::Ordering;

use wasmtime::{Caller, Linker};

use super::errno::{Errno, Result};
use super::guest::{Guest, HostCall};
use super::kernel::{Flow, ProcessCtx, Signal, settle_fuel, yield_now};
use super::limits::IO_MAX;

/// The module's name.
const MODULE: &str = "wasi_snapshot_preview1";

/// Defines the calls.
///
/// # Errors
/// When one is defined already.
pub fn add_to_linker(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    process_calls(linker)?;
    clock_calls(linker)?;
    descriptor::add_to_linker(linker)?;
    io::add_to_linker(linker)?;
    path::add_to_linker(linker)?;
    poll::add_to_linker(linker)?;
    socket_calls(linker)
}

type Call<'a> = Caller<'a, ProcessCtx>;

fn process_calls(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "args_sizes_get", |mut caller: Call<'_>, count: u32, size: u32| {
        caller.call(|guest, ctx| sizes(guest, &ctx.argv, count, size))
    })?;
    linker.func_wrap(MODULE, "args_get", |mut caller: Call<'_>, pointers: u32, buffer: u32| {
        caller.call(|guest, ctx| strings(guest, &ctx.argv, pointers, buffer))
    })?;
    linker.func_wrap(MODULE, "environ_sizes_get", |mut caller: Call<'_>, count: u32, size: u32| {
        caller.call(|guest, ctx| sizes(guest, &ctx.env, count, size))
    })?;
    linker.func_wrap(MODULE, "environ_get", |mut caller: Call<'_>, pointers: u32, buffer: u32| {
        caller.call(|guest, ctx| strings(guest, &ctx.env, pointers, buffer))
    })?;
    linker.func_wrap(MODULE, "proc_exit", |mut caller: Call<'_>, code: u32| -> wasmtime::Result<()> {
        settle_fuel(&mut caller);
        // The low eight bits, as wait(2) tells them.
        Err(wasmtime::Error::new(Flow::Exit((code & 0xff) as u8)))
    })?;
    linker.func_wrap(MODULE, "proc_raise", |caller: Call<'_>, signal: i32| -> wasmtime::Result<i32> {
        let ctx = caller.data();
        match wasi_signal(signal) {
            Ok(signal) => match ctx.process.signals.send(signal) {
                super::kernel::Delivery::Done => Ok(0),
                super::kernel::Delivery::Fatal => Err(wasmtime::Error::new(Flow::Kill(signal))),
            },
            Err(errno) => Ok(errno.raw()),
        }
    })?;
    linker.func_wrap_async(MODULE, "random_get", |mut caller: Call<'_>, (buffer, length): (u32, u32)| {
        Box::new(async move {
            let answer = random(&mut caller, buffer, length).await;
            caller.answer(answer)
        })
    })?;
    linker.func_wrap_async(MODULE, "sched_yield", |mut caller: Call<'_>, (): ()| {
        Box::new(async move {
            give_way(&mut caller).await;
            0
        })
    })?;
    Ok(())
}

/// Lets others run.
async fn give_way(caller: &mut Call<'_>) {
    settle_fuel(&mut *caller);
    let process = std::sync::Arc::clone(&caller.data().process);
    process.waiting.store(true, Ordering::Relaxed);
    yield_now().await;
    process.waiting.store(false, Ordering::Relaxed);
}

/// Fills a buffer of any length, with pauses: a host call cannot be stopped.
async fn random(caller: &mut Call<'_>, buffer: u32, length: u32) -> Result<()> {
    caller.parts()?.0.bytes(buffer, length)?;
    let mut done = 0;
    while done < length {
        let part = (length - done).min(IO_MAX as u32);
        let (mut guest, ctx) = caller.parts()?;
        ctx.kernel.random.fill(guest.bytes_mut(buffer + done, part)?)?;
        done += part;
        if done < length {
            give_way(caller).await;
        }
    }
    Ok(())
}

/// The preview's own numbering of signals.
fn wasi_signal(number: i32) -> Result<Signal> {
    // NONE HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP ... SYS
    const LINUX: [i32; 31] = [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
        31,
    ];
    let index = usize::try_from(number).map_err(|_| Errno::Invalid)?;
    Signal::new(*LINUX.get(index).ok_or(Errno::Invalid)?)
}

fn sizes(guest: &mut Guest<'_>, list: &[Vec<u8>], count: u32, size: u32) -> Result<()> {
    let total: usize = list.iter().map(|string| string.len() + 1).sum();
    guest.write_u32(count, u32::try_from(list.len()).map_err(|_| Errno::Overflow)?)?;
    guest.write_u32(size, u32::try_from(total).map_err(|_| Errno::Overflow)?)
}

fn strings(guest: &mut Guest<'_>, list: &[Vec<u8>], mut pointer: u32, mut buffer: u32) -> Result<()> {
    for string in list {
        guest.write_u32(pointer, buffer)?;
        pointer = pointer.checked_add(4).ok_or(Errno::Fault)?;
        guest.write(buffer, string)?;
        buffer = buffer.checked_add(string.len() as u32).ok_or(Errno::Fault)?;
        guest.write(buffer, &[0])?;
        buffer = buffer.checked_add(1).ok_or(Errno::Fault)?;
    }
    Ok(())
}

const CLOCK_REALTIME: i32 = 0;
const CLOCK_MONOTONIC: i32 = 1;
const CLOCK_PROCESS: i32 = 2;
const CLOCK_THREAD: i32 = 3;

fn clock(ctx: &ProcessCtx, id: i32) -> Result<u64> {
    match id {
        CLOCK_REALTIME => Ok(ctx.kernel.clock.realtime()),
        CLOCK_MONOTONIC => Ok(ctx.kernel.clock.monotonic()),
        CLOCK_PROCESS | CLOCK_THREAD => Ok(ctx.cpu_now()),
        _ => Err(Errno::Invalid),
    }
}

fn clock_calls(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "clock_res_get", |mut caller: Call<'_>, id: i32, out: u32| {
        caller.call(|guest, ctx| clock(ctx, id).and_then(|_| guest.write_u64(out, 1)))
    })?;
    linker.func_wrap(MODULE, "clock_time_get", |mut caller: Call<'_>, id: i32, _precision: u64, out: u32| {
        caller.call(|guest, ctx| guest.write_u64(out, clock(ctx, id)?))
    })?;
    Ok(())
}

/// A sandbox has no network: a descriptor is no socket.
fn socket_calls(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    fn refuse(mut caller: Call<'_>, fd: i32) -> i32 {
        caller.call(|_, ctx| {
            ctx.run().miss(super::kernel::Miss::Network);
            ctx.file(fd).and(Err(Errno::NotSupported))
        })
    }
    linker.func_wrap(MODULE, "sock_accept", |caller: Call<'_>, fd: i32, _: i32, _: u32| refuse(caller, fd))?;
    linker.func_wrap(MODULE, "sock_recv", |caller: Call<'_>, fd: i32, _: u32, _: u32, _: i32, _: u32, _: u32| {
        refuse(caller, fd)
    })?;
    linker.func_wrap(MODULE, "sock_send", |caller: Call<'_>, fd: i32, _: u32, _: u32, _: i32, _: u32| {
        refuse(caller, fd)
    })?;
    linker.func_wrap(MODULE, "sock_shutdown", |caller: Call<'_>, fd: i32, _: i32| refuse(caller, fd))?;
    Ok(())
}
