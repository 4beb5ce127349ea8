//! Processes: spawn, exec, wait, kill, groups.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use wasmtime::Linker;

use super::{Call, MODULE};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::guest::{Guest, HostCall};
use crate::sandbox::kernel::{
    Command, End, FdMap, Flow, ImageError, Prepared, ProcessCtx, Selector, Signal, Waited, prepare, settle_fuel, start,
};

const SEARCH: u32 = 1;
const SET_GROUP: u32 = 2;
const CLOSE_OTHER: u32 = 4;
const WNOHANG: u32 = 1;
/// The most descriptors a request may list.
const FDS_MAX: u32 = 1024;

/// Defines the imports.
pub fn add_to_linker(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, "spawn", |mut caller: Call<'_>, (request, out): (u32, u32)| {
        Box::new(async move {
            let answer = spawn(&mut caller, request, out).await;
            caller.answer(answer)
        })
    })?;
    linker.func_wrap_async(MODULE, "exec", |mut caller: Call<'_>, (request,): (u32,)| {
        Box::new(async move {
            match exec(&mut caller, request).await {
                Ok(flow) => Err(wasmtime::Error::new(flow)),
                Err(errno) => Ok(caller.answer(Err(errno))),
            }
        })
    })?;
    linker.func_wrap_async(MODULE, "wait", |mut caller: Call<'_>, (pid, options, out): (i32, u32, u32)| {
        Box::new(async move {
            let answer = wait(&mut caller, pid, options, out).await;
            let answer = answer.and_then(|waited| write_waited(&mut caller.parts()?.0, out, &waited));
            caller.answer(answer)
        })
    })?;
    linker.func_wrap(MODULE, "kill", |mut caller: Call<'_>, pid: i32, signal: i32| -> wasmtime::Result<i32> {
        let signal = if signal == 0 { Ok(None) } else { Signal::new(signal).map(Some) };
        let answer = signal.and_then(|signal| {
            let ctx = caller.data();
            ctx.kernel.processes.kill(&ctx.process, Selector(pid), signal)
        });
        // A signal to oneself takes effect before the call returns.
        if let Some(End::Signaled(signal, _)) = caller.data().process.fate() {
            return Err(wasmtime::Error::new(Flow::Kill(signal)));
        }
        Ok(caller.answer(answer))
    })?;
    linker.func_wrap(MODULE, "command_allowed", |mut caller: Call<'_>, name: u32, length: u32| {
        caller.call(|guest, ctx| command_allowed(ctx, &guest.path(name, length)?))
    })?;
    linker.func_wrap(MODULE, "getpid", |caller: Call<'_>| caller.data().process.pid)?;
    linker.func_wrap(MODULE, "getppid", |caller: Call<'_>| caller.data().process.parent())?;
    linker.func_wrap(MODULE, "getpgid", |mut caller: Call<'_>, pid: i32, out: u32| {
        caller.call(|guest, ctx| {
            let group = match pid {
                0 => ctx.process.group(),
                pid => ctx.kernel.processes.get(pid)?.group(),
            };
            guest.write_i32(out, group)
        })
    })?;
    linker.func_wrap(MODULE, "setpgid", |mut caller: Call<'_>, pid: i32, group: i32| {
        caller.call(|_, ctx| ctx.kernel.processes.set_group(&ctx.process, pid, group))
    })?;
    linker.func_wrap(MODULE, "times", |mut caller: Call<'_>, own: u32, children: u32| {
        caller.call(|guest, ctx| {
            guest.write_u64(own, ctx.cpu_now())?;
            guest.write_u64(children, ctx.process.children_cpu_ns.load(Ordering::Relaxed))
        })
    })?;
    Ok(())
}

/// Whether a program may do a command's work itself; without a name, whether it need not ask.
fn command_allowed(ctx: &ProcessCtx, name: &[u8]) -> Result<()> {
    let Some(policy) = &ctx.kernel.policy else { return Ok(()) };
    if name.is_empty() {
        return Err(Errno::NotPermitted);
    }
    // What no command is called belongs to the program that asks.
    let allowed = policy.is_allowed(name) || !ctx.kernel.runtime.programs().contains(name);
    if allowed && !policy.is_denied(name) {
        return Ok(());
    }
    ctx.kernel.refuse(ctx.run(), ctx.process.pid, name);
    Err(Errno::NotPermitted)
}

/// Reads a `wsk_spawn_request`.
fn parse(guest: &Guest<'_>, address: u32, limit: u64) -> Result<Command> {
    let bytes: [u8; 64] = guest.read(address)?;
    let field = |index: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[index * 4 + byte]));
    let signed = |index: usize| field(index).cast_signed();
    let flags = field(10);
    if flags & !(SEARCH | SET_GROUP | CLOSE_OTHER) != 0 {
        return Err(Errno::Invalid);
    }
    if u64::from(field(3)) + u64::from(field(5)) > limit {
        return Err(Errno::TooBig);
    }
    if field(9) > FDS_MAX {
        return Err(Errno::Invalid);
    }
    let mut fds = Vec::with_capacity(field(9) as usize);
    for index in 0..field(9) {
        let entry = field(8).checked_add(index * 8).ok_or(Errno::Fault)?;
        let parent = entry.checked_add(4).ok_or(Errno::Fault)?;
        fds.push(FdMap { child: guest.u32(entry)?.cast_signed(), parent: guest.u32(parent)?.cast_signed() });
    }
    Ok(Command {
        path: guest.path(field(0), field(1))?,
        search: flags & SEARCH != 0,
        argv: strings(guest.bytes(field(2), field(3))?)?,
        env: strings(guest.bytes(field(4), field(5))?)?,
        cwd: guest.path(field(6), field(7))?,
        fds,
        close_other: flags & CLOSE_OTHER != 0,
        group: (flags & SET_GROUP != 0).then(|| signed(11)),
        umask: u32::try_from(signed(12)).ok(),
        ignored: u64::from_le_bytes(std::array::from_fn(|byte| bytes[56 + byte])),
        asker: 0,
    })
}

/// Strings one after another, each ended by a NUL.
fn strings(bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
    match bytes.split_last() {
        None => Ok(Vec::new()),
        Some((0, rest)) => Ok(rest.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect()),
        Some(_) => Err(Errno::Invalid),
    }
}

async fn prepare_request(caller: &mut Call<'_>, request: u32) -> Result<Prepared> {
    settle_fuel(&mut *caller);
    let (guest, ctx) = caller.parts()?;
    let mut command = parse(&guest, request, ctx.kernel.limits.args)?;
    command.asker = ctx.process.pid;
    if command.group.is_some_and(|group| group < 0) {
        return Err(Errno::Invalid);
    }
    // Where the child's complaints would go.
    let stderr = command.fds.iter().rev().find(|map| map.child == 2).map_or(2, |map| map.parent);
    let kernel = Arc::clone(&ctx.kernel);
    let process = Arc::clone(&ctx.process);
    process.waiting.store(true, Ordering::Relaxed);
    let prepared = prepare(&kernel, &process.run, &ctx.current, command).await;
    process.waiting.store(false, Ordering::Relaxed);
    prepared.map_err(|ImageError { errno, message }| {
        if let Some(message) = message {
            complain(caller.data(), stderr, &message);
        }
        errno
    })
}

/// Says in one line, without waiting, why a program did not start.
fn complain(ctx: &ProcessCtx, fd: i32, message: &str) {
    let line = format!("wskill: {message}\n");
    if let Ok(file) = ctx.file(fd) {
        // Nobody to hear it is no reason to fail.
        let _ = file.say(&ctx.kernel, line.as_bytes());
    }
}

async fn spawn(caller: &mut Call<'_>, request: u32, out: u32) -> Result<()> {
    // A child whose number cannot be told is not started.
    caller.parts()?.0.bytes(out, 4)?;
    let prepared = prepare_request(caller, request).await?;
    let (mut guest, ctx) = caller.parts()?;
    match start(&ctx.kernel, ctx.run(), Some(&ctx.process), prepared) {
        Ok(pid) => guest.write_i32(out, pid),
        // The caller is about to end with its run, and is to say nothing more.
        Err(_) if ctx.run().is_over() => std::future::pending().await,
        Err(errno) => Err(errno),
    }
}

async fn exec(caller: &mut Call<'_>, request: u32) -> Result<Flow> {
    let prepared = prepare_request(caller, request).await?;
    if let Some(group) = prepared.group() {
        let ctx = caller.data();
        ctx.kernel.processes.set_group(&ctx.process, 0, group)?;
    }
    Ok(Flow::Exec(std::sync::Mutex::new(Some(prepared))))
}

async fn wait(caller: &mut Call<'_>, pid: i32, options: u32, out: u32) -> Result<Waited> {
    caller.parts()?.0.bytes(out, 24)?;
    if options & !WNOHANG != 0 {
        return Err(Errno::Invalid);
    }
    let kernel = Arc::clone(&caller.data().kernel);
    let process = Arc::clone(&caller.data().process);
    settle_fuel(&mut *caller);
    loop {
        let mut ended = pin!(process.child_ended.notified());
        ended.as_mut().enable();
        match kernel.processes.reap(&process, Selector(pid))? {
            Some(waited) => return Ok(waited),
            None if options & WNOHANG != 0 => return Ok(Waited::default()),
            None => {
                if let Err(errno) = process.interruptible(ended).await {
                    // The signal may have been that of the child's end.
                    return kernel.processes.reap(&process, Selector(pid))?.ok_or(errno);
                }
            }
        }
    }
}

fn write_waited(guest: &mut Guest<'_>, out: u32, waited: &Waited) -> Result<()> {
    let mut bytes = [0; 24];
    bytes[0..4].copy_from_slice(&waited.pid.to_le_bytes());
    bytes[4..8].copy_from_slice(&waited.status.to_le_bytes());
    bytes[8..16].copy_from_slice(&waited.cpu_ns.to_le_bytes());
    bytes[16..24].copy_from_slice(&waited.peak_memory.to_le_bytes());
    guest.write(out, &bytes)
}
