//! Descriptors: pipes, duplicates, flags, locks, saved contexts.

use std::pin::pin;
use std::sync::Arc;

use wasmtime::Linker;

use super::{Call, MODULE};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::guest::HostCall;
use crate::sandbox::kernel::{Kind, LockKind, OpenFile, PipeReader, PipeWriter, ProcessCtx, WINDOW, settle_fuel};

const CLOEXEC: u32 = 1;
const NONBLOCK: u32 = 2;
const UNBOUNDED: u32 = 4;

const F_GETFD: i32 = 1;
const F_SETFD: i32 = 2;
const F_GETFL: i32 = 3;
const F_SETFL: i32 = 4;

const O_WRONLY: i32 = 1;
const O_RDWR: i32 = 2;
const O_APPEND: i32 = 0o2000;
const O_NONBLOCK: i32 = 0o4000;

const LOCK_SH: u32 = 1;
const LOCK_EX: u32 = 2;
const LOCK_NB: u32 = 4;
const LOCK_UN: u32 = 8;

/// Defines the imports.
pub fn add_to_linker(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "pipe", |mut caller: Call<'_>, flags: u32, out: u32| {
        caller.call(|guest, ctx| {
            guest.bytes(out, 8)?;
            let (read, write) = pipe(ctx, flags)?;
            guest.write_i32(out, read)?;
            guest.write_i32(out.checked_add(4).ok_or(Errno::Fault)?, write)
        })
    })?;
    linker.func_wrap(MODULE, "dup", |mut caller: Call<'_>, fd: i32, min: i32, flags: u32, out: u32| {
        caller.call(|guest, ctx| {
            guest.bytes(out, 4)?;
            let table = &mut ctx.current.descriptors;
            let file = Arc::clone(table.file(fd)?);
            let number = table.insert_from(min, file, flags & CLOEXEC != 0)?;
            guest.write_i32(out, number)
        })
    })?;
    linker.func_wrap(MODULE, "dup2", |mut caller: Call<'_>, fd: i32, target: i32, flags: u32| {
        caller.call(|_, ctx| {
            let table = &mut ctx.current.descriptors;
            let file = Arc::clone(table.file(fd)?);
            if fd == target {
                return Ok(());
            }
            // A target past the limit is no descriptor.
            table.set(target, file, flags & CLOEXEC != 0).map_err(|_| Errno::BadFd)
        })
    })?;
    linker.func_wrap(MODULE, "fcntl", |mut caller: Call<'_>, fd: i32, command: i32, argument: i32, out: u32| {
        caller.call(|guest, ctx| {
            let result = fcntl(ctx, fd, command, argument)?;
            if out == 0 { Ok(()) } else { guest.write_i32(out, result) }
        })
    })?;
    linker.func_wrap_async(MODULE, "flock", |mut caller: Call<'_>, (fd, operation): (i32, u32)| {
        Box::new(async move {
            let answer = flock(&mut caller, fd, operation).await;
            caller.answer(answer)
        })
    })?;
    linker.func_wrap(MODULE, "isatty", |mut caller: Call<'_>, fd: i32| {
        caller.call(|_, ctx| ctx.file(fd)?.tty().map(drop))
    })?;
    linker.func_wrap(MODULE, "winsize", |mut caller: Call<'_>, fd: i32, out: u32| {
        caller.call(|guest, ctx| {
            ctx.file(fd)?.tty()?;
            let (rows, columns) = WINDOW;
            guest.write_u32(out, u32::from(columns) << 16 | u32::from(rows))
        })
    })?;
    linker.func_wrap(MODULE, "memfd", |mut caller: Call<'_>, flags: u32, out: u32| {
        caller.call(|guest, ctx| {
            guest.bytes(out, 4)?;
            let file = ctx.kernel.new_memory_file();
            let file = Arc::new(OpenFile::new(Kind::File(file), true, true));
            guest.write_i32(out, ctx.current.descriptors.insert(file, flags & CLOEXEC != 0)?)
        })
    })?;
    linker.func_wrap(MODULE, "push_context", |mut caller: Call<'_>, out: u32| {
        caller.call(|guest, ctx| {
            guest.bytes(out, 4)?;
            let depth = ctx.push()?;
            guest.write_u32(out, depth as u32)
        })
    })?;
    linker.func_wrap(MODULE, "pop_context", |mut caller: Call<'_>, depth: i32| {
        caller.call(|_, ctx| ctx.pop(usize::try_from(depth).map_err(|_| Errno::Invalid)?))
    })?;
    Ok(())
}

fn pipe(ctx: &mut ProcessCtx, flags: u32) -> Result<(i32, i32)> {
    if flags & !(CLOEXEC | NONBLOCK | UNBOUNDED) != 0 {
        return Err(Errno::Invalid);
    }
    let unbounded = flags & UNBOUNDED != 0;
    let pipe = ctx.kernel.new_pipe(unbounded);
    let (reader, writer) = (PipeReader::new(&pipe), PipeWriter::new(&pipe));
    let (nonblocking, cloexec) = (flags & NONBLOCK != 0, flags & CLOEXEC != 0);
    let read = Kind::Pipe { reader: Some(reader), writer: None, fifo: None };
    let write = Kind::Pipe { reader: None, writer: Some(writer), fifo: None };
    let read = Arc::new(OpenFile::new(read, true, false).with_flags(false, nonblocking));
    let write = Arc::new(OpenFile::new(write, false, true).with_flags(false, nonblocking));
    let table = &mut ctx.current.descriptors;
    let first = table.insert(read, cloexec)?;
    match table.insert(write, cloexec) {
        Ok(second) => Ok((first, second)),
        Err(errno) => {
            table.remove(first)?;
            Err(errno)
        }
    }
}

fn fcntl(ctx: &mut ProcessCtx, fd: i32, command: i32, argument: i32) -> Result<i32> {
    match command {
        F_GETFD => Ok(i32::from(ctx.current.descriptors.get(fd)?.close_on_exec)),
        F_SETFD => ctx.current.descriptors.set_close_on_exec(fd, argument & 1 != 0).map(|()| 0),
        F_GETFL => {
            let file = ctx.file(fd)?;
            let mut flags = match (file.readable(), file.writable()) {
                (true, true) => O_RDWR,
                (false, true) => O_WRONLY,
                _ => 0,
            };
            if file.append() {
                flags |= O_APPEND;
            }
            if file.nonblocking() {
                flags |= O_NONBLOCK;
            }
            Ok(flags)
        }
        F_SETFL => {
            ctx.file(fd)?.set_flags(argument & O_APPEND != 0, argument & O_NONBLOCK != 0);
            Ok(0)
        }
        _ => Err(Errno::Invalid),
    }
}

async fn flock(caller: &mut Call<'_>, fd: i32, operation: u32) -> Result<()> {
    settle_fuel(&mut *caller);
    let ctx = caller.data();
    let file = Arc::clone(ctx.file(fd)?);
    let table = Arc::clone(&ctx.kernel.locks);
    let process = Arc::clone(&ctx.process);
    let kind = match operation & !LOCK_NB {
        LOCK_SH => Some(LockKind::Shared),
        LOCK_EX => Some(LockKind::Exclusive),
        LOCK_UN => None,
        _ => return Err(Errno::Invalid),
    };
    loop {
        let mut released = pin!(table.released().notified());
        released.as_mut().enable();
        match file.try_lock(&table, kind) {
            Err(Errno::Again) if operation & LOCK_NB == 0 => process.interruptible(released).await?,
            answer => return answer,
        }
    }
}
