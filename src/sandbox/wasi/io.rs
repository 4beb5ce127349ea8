//! Reading and writing.

use std::pin::pin;
use std::sync::Arc;

use tokio::sync::Notify;
use wasmtime::Linker;

use super::{Call, MODULE};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::guest::{Guest, HostCall, IoVec};
use crate::sandbox::kernel::{Device, Disposition, Flow, Kernel, Kind, OpenFile, ProcessCtx, Signal, Tty, settle_fuel};

/// Defines the calls.
pub fn add_to_linker(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        MODULE,
        "fd_read",
        |mut caller: Call<'_>, (fd, iovs, count, out): (i32, u32, u32, u32)| {
            Box::new(async move {
                let answer = read(&mut caller, fd, iovs, count).await;
                let answer = answer.and_then(|read| caller.parts()?.0.write_u32(out, read as u32));
                caller.answer(answer)
            })
        },
    )?;
    linker.func_wrap_async(
        MODULE,
        "fd_write",
        |mut caller: Call<'_>, (fd, iovs, count, out): (i32, u32, u32, u32)| {
            Box::new(async move {
                let answer = write(&mut caller, fd, iovs, count).await;
                if answer == Err(Errno::BrokenPipe) && broken_pipe_kills(caller.data()) {
                    return Err(wasmtime::Error::new(Flow::Kill(Signal::PIPE)));
                }
                let answer = answer.and_then(|written| caller.parts()?.0.write_u32(out, written as u32));
                Ok(caller.answer(answer))
            })
        },
    )?;
    linker.func_wrap(
        MODULE,
        "fd_pread",
        |mut caller: Call<'_>, fd: i32, iovs: u32, count: u32, offset: u64, out: u32| {
            caller.call(|guest, ctx| {
                let file = Arc::clone(ctx.file(fd)?);
                if !file.readable() {
                    return Err(Errno::BadFd);
                }
                let regular = file.seekable()?;
                let mut total = 0;
                for vec in guest.io_vecs(iovs, count)? {
                    let at = offset.checked_add(total).ok_or(Errno::Invalid)?;
                    let read = regular.read_at(guest.bytes_mut(vec.address, vec.length)?, at)?;
                    total += read as u64;
                    if read < vec.length as usize {
                        break;
                    }
                }
                guest.write_u32(out, total as u32)
            })
        },
    )?;
    linker.func_wrap(
        MODULE,
        "fd_pwrite",
        |mut caller: Call<'_>, fd: i32, iovs: u32, count: u32, offset: u64, out: u32| {
            caller.call(|guest, ctx| {
                let file = Arc::clone(ctx.file(fd)?);
                if !file.writable() {
                    return Err(Errno::BadFd);
                }
                let regular = file.seekable()?;
                let mut total = 0;
                for vec in guest.io_vecs(iovs, count)? {
                    let at = offset.checked_add(total).ok_or(Errno::Invalid)?;
                    let written = match regular.write_at(guest.bytes(vec.address, vec.length)?, at) {
                        Err(_) if total > 0 => break,
                        answer => answer?,
                    };
                    total += written as u64;
                    if written < vec.length as usize {
                        break;
                    }
                }
                guest.write_u32(out, total as u32)
            })
        },
    )?;
    Ok(())
}

fn broken_pipe_kills(ctx: &ProcessCtx) -> bool {
    match ctx.process.signals.disposition(Signal::PIPE) {
        Disposition::Default => true,
        Disposition::Ignore => false,
        Disposition::Handle => {
            ctx.process.send(Signal::PIPE);
            false
        }
    }
}

async fn read(caller: &mut Call<'_>, fd: i32, iovs: u32, count: u32) -> Result<usize> {
    let (mut guest, ctx) = caller.parts()?;
    let file = Arc::clone(ctx.file(fd)?);
    if !file.readable() {
        return Err(Errno::BadFd);
    }
    let vecs = guest.io_vecs(iovs, count)?;
    match file.kind() {
        Kind::File(regular) => fill(&mut guest, &vecs, |buffer| file.read_file(&**regular, buffer)),
        Kind::Directory(_) => Err(Errno::IsDirectory),
        Kind::Device(device) => {
            let kernel = Arc::clone(&ctx.kernel);
            fill(&mut guest, &vecs, |buffer| read_device(*device, &kernel, buffer))
        }
        Kind::Output(_) => Err(Errno::BadFd),
        Kind::Pipe { reader: None, .. } => Err(Errno::BadFd),
        Kind::Pipe { reader: Some(reader), .. } => {
            let pipe = reader.pipe();
            read_waiting(caller, &file, pipe.readable(), |guest| fill(guest, &vecs, |buffer| pipe.try_read(buffer)))
                .await
        }
        Kind::Tty(tty) => read_waiting(caller, &file, tty.readable(), |guest| read_tty(guest, tty, &vecs)).await,
    }
}

/// Reads into one buffer after the other until one is not filled.
fn fill(guest: &mut Guest<'_>, vecs: &[IoVec], mut read: impl FnMut(&mut [u8]) -> Result<usize>) -> Result<usize> {
    let mut total = 0;
    for vec in vecs {
        match read(guest.bytes_mut(vec.address, vec.length)?) {
            Ok(count) => {
                total += count;
                if count < vec.length as usize {
                    break;
                }
            }
            Err(_) if total > 0 => break,
            Err(errno) => return Err(errno),
        }
    }
    Ok(total)
}

fn read_device(device: Device, kernel: &Kernel, buffer: &mut [u8]) -> Result<usize> {
    match device {
        Device::Null => return Ok(0),
        Device::Zero | Device::Full => buffer.fill(0),
        Device::Random => kernel.random.fill(buffer)?,
    }
    Ok(buffer.len())
}

/// Reads from a terminal, one line at most whatever the buffers.
fn read_tty(guest: &mut Guest<'_>, tty: &Tty, vecs: &[IoVec]) -> Result<usize> {
    let bytes = tty.try_read(vecs.iter().map(|vec| vec.length as usize).sum())?;
    let mut rest = bytes.as_slice();
    for vec in vecs {
        let (part, after) = rest.split_at(rest.len().min(vec.length as usize));
        guest.write(vec.address, part)?;
        rest = after;
    }
    Ok(bytes.len())
}

/// Reads from what may have nothing yet: `attempt` answers `Again` until `readable` tells of something.
async fn read_waiting(
    caller: &mut Call<'_>,
    file: &OpenFile,
    readable: &Notify,
    attempt: impl Fn(&mut Guest<'_>) -> Result<usize>,
) -> Result<usize> {
    loop {
        match attempt(&mut caller.parts()?.0) {
            Err(Errno::Again) if !file.nonblocking() => {}
            answer => return answer,
        }
        let mut changed = pin!(readable.notified());
        changed.as_mut().enable();
        match attempt(&mut caller.parts()?.0) {
            Err(Errno::Again) => {}
            answer => return answer,
        }
        settle_fuel(&mut *caller);
        let process = Arc::clone(&caller.data().process);
        process.interruptible(changed).await?;
    }
}

async fn write(caller: &mut Call<'_>, fd: i32, iovs: u32, count: u32) -> Result<usize> {
    let (guest, ctx) = caller.parts()?;
    let file = Arc::clone(ctx.file(fd)?);
    if !file.writable() {
        return Err(Errno::BadFd);
    }
    let vecs = guest.io_vecs(iovs, count)?;
    match file.kind() {
        // In one piece: a sharer's or another appender's write does not come in between.
        Kind::File(regular) => match join(&guest, &vecs)? {
            Some(joined) => file.write_file(&**regular, &joined),
            None => drain(&guest, &vecs, |data| file.write_file(&**regular, data)),
        },
        Kind::Directory(_) => Err(Errno::IsDirectory),
        Kind::Device(device) => drain(&guest, &vecs, |data| device.write(data)),
        Kind::Output(stream) => {
            let kernel = Arc::clone(&ctx.kernel);
            drain(&guest, &vecs, |data| stream.write(&kernel, data))
        }
        Kind::Pipe { writer: None, .. } => Err(Errno::BadFd),
        Kind::Pipe { writer: Some(writer), .. } => {
            let (kernel, pipe) = (Arc::clone(&ctx.kernel), writer.pipe());
            let try_write = |data: &[u8]| {
                let answer = pipe.try_write(data);
                if answer == Err(Errno::NoMemory) {
                    kernel.budget.counters.hit(pipe.limit());
                }
                answer
            };
            write_waiting(caller, &file, &vecs, pipe.writable(), try_write).await
        }
        Kind::Tty(tty) => {
            let kernel = Arc::clone(&ctx.kernel);
            write_waiting(caller, &file, &vecs, tty.writable(), |data| tty.try_write(&kernel, data)).await
        }
    }
}

/// The bytes of several buffers; `None` for fewer than two, which need not be copied.
fn join(guest: &Guest<'_>, vecs: &[IoVec]) -> Result<Option<Vec<u8>>> {
    if vecs.len() < 2 {
        return Ok(None);
    }
    let mut joined = Vec::with_capacity(vecs.iter().map(|vec| vec.length as usize).sum());
    for vec in vecs {
        joined.extend_from_slice(guest.bytes(vec.address, vec.length)?);
    }
    Ok(Some(joined))
}

/// Writes one buffer after the other until one is not taken whole.
fn drain(guest: &Guest<'_>, vecs: &[IoVec], mut write: impl FnMut(&[u8]) -> Result<usize>) -> Result<usize> {
    let mut total = 0;
    for vec in vecs {
        match write(guest.bytes(vec.address, vec.length)?) {
            Ok(count) => {
                total += count;
                if count < vec.length as usize {
                    break;
                }
            }
            Err(_) if total > 0 => break,
            Err(errno) => return Err(errno),
        }
    }
    Ok(total)
}

/// Writes to what may have no room yet: `try_write` answers `Again` until `writable` tells of some.
async fn write_waiting(
    caller: &mut Call<'_>,
    file: &OpenFile,
    vecs: &[IoVec],
    writable: &Notify,
    try_write: impl Fn(&[u8]) -> Result<usize>,
) -> Result<usize> {
    // Several buffers are joined, so that a short vectored write is not mixed with others'.
    if vecs.is_empty() {
        return Ok(0);
    }
    let joined = join(&caller.parts()?.0, vecs)?;
    let total: usize = vecs.iter().map(|vec| vec.length as usize).sum();
    let mut written = 0;
    let attempt = |caller: &mut Call<'_>, written: usize| match &joined {
        Some(data) => try_write(&data[written..]),
        None => {
            let (guest, _) = caller.parts()?;
            try_write(&guest.bytes(vecs[0].address, vecs[0].length)?[written..])
        }
    };
    loop {
        let mut changed = pin!(writable.notified());
        let mut waiting = false;
        let answer = loop {
            match attempt(caller, written) {
                Err(Errno::Again) if !file.nonblocking() && !waiting => {
                    // Listen first, then look again: room that arises in between is not missed.
                    changed.as_mut().enable();
                    waiting = true;
                }
                answer => break answer,
            }
        };
        match answer {
            Ok(count) => {
                written += count;
                if written == total || file.nonblocking() {
                    return Ok(written);
                }
            }
            Err(Errno::Again) if !file.nonblocking() => {
                settle_fuel(&mut *caller);
                let process = Arc::clone(&caller.data().process);
                match process.interruptible(changed).await {
                    Err(_) if written > 0 => return Ok(written),
                    answer => answer?,
                }
            }
            Err(_) if written > 0 => return Ok(written),
            Err(errno) => return Err(errno),
        }
    }
}
