//! Calls on descriptors that never wait.

use std::sync::{Arc, PoisonError};

use wasmtime::Linker;

use super::types::{self, FLAG_APPEND, FLAG_NONBLOCK};
use super::{Call, MODULE};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::guest::{Guest, HostCall};
use crate::sandbox::kernel::{Kind, OpenFile, ProcessCtx, list_directory, metadata_of};
use crate::sandbox::vfs::{DirEntry, SetTime};

/// Defines the calls.
pub fn add_to_linker(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "fd_advise", |mut caller: Call<'_>, fd: i32, _: u64, _: u64, advice: i32| {
        caller.call(|_, ctx| {
            if !(0..=5).contains(&advice) {
                return Err(Errno::Invalid);
            }
            ctx.file(fd)?.seekable().map(drop)
        })
    })?;
    linker.func_wrap(MODULE, "fd_allocate", |mut caller: Call<'_>, fd: i32, offset: u64, length: u64| {
        caller.call(|_, ctx| allocate(ctx.file(fd)?, offset, length))
    })?;
    linker.func_wrap(MODULE, "fd_close", |mut caller: Call<'_>, fd: i32| {
        caller.call(|_, ctx| ctx.current.descriptors.remove(fd).map(drop))
    })?;
    for (name, data_only) in [("fd_datasync", true), ("fd_sync", false)] {
        linker.func_wrap(MODULE, name, move |mut caller: Call<'_>, fd: i32| {
            caller.call(|_, ctx| match ctx.file(fd)?.kind() {
                Kind::File(file) => file.sync(data_only),
                Kind::Directory(_) => Ok(()),
                _ => Err(Errno::Invalid),
            })
        })?;
    }
    linker.func_wrap(MODULE, "fd_fdstat_get", |mut caller: Call<'_>, fd: i32, out: u32| {
        caller.call(|guest, ctx| fdstat(guest, ctx, fd, out))
    })?;
    linker.func_wrap(MODULE, "fd_fdstat_set_flags", |mut caller: Call<'_>, fd: i32, flags: i32| {
        caller.call(|_, ctx| {
            let flags = u16::try_from(flags).map_err(|_| Errno::Invalid)?;
            ctx.file(fd)?.set_flags(flags & FLAG_APPEND != 0, flags & FLAG_NONBLOCK != 0);
            Ok(())
        })
    })?;
    // Rights are decided by how a file was opened; giving some up changes nothing here.
    linker.func_wrap(MODULE, "fd_fdstat_set_rights", |mut caller: Call<'_>, fd: i32, _: u64, _: u64| {
        caller.call(|_, ctx| ctx.file(fd).map(drop))
    })?;
    linker.func_wrap(MODULE, "fd_filestat_get", |mut caller: Call<'_>, fd: i32, out: u32| {
        caller.call(|guest, ctx| types::write_filestat(guest, out, &metadata_of(ctx, ctx.file(fd)?)?))
    })?;
    linker.func_wrap(MODULE, "fd_filestat_set_size", |mut caller: Call<'_>, fd: i32, size: u64| {
        caller.call(|_, ctx| {
            let file = ctx.file(fd)?;
            if !file.writable() {
                return Err(Errno::Invalid);
            }
            file.regular()?.set_len(size)
        })
    })?;
    linker.func_wrap(
        MODULE,
        "fd_filestat_set_times",
        |mut caller: Call<'_>, fd: i32, accessed: u64, modified: u64, flags: i32| {
            caller.call(|_, ctx| {
                let (accessed, modified) = times(accessed, modified, flags)?;
                let file = ctx.file(fd)?;
                if file.on_read_only() {
                    return Err(Errno::ReadOnly);
                }
                match (file.kind(), file.path()) {
                    (Kind::File(file), _) => file.set_times(accessed, modified),
                    (Kind::Directory(_), Some(path)) => ctx.kernel.vfs.set_times(path, b".", true, accessed, modified),
                    _ => Ok(()),
                }
            })
        },
    )?;
    linker.func_wrap(MODULE, "fd_prestat_get", |mut caller: Call<'_>, fd: i32, out: u32| {
        caller.call(|guest, ctx| {
            let length = preopen(ctx, fd)?.len();
            guest.write(out, &[0; 4])?;
            guest.write_u32(out.checked_add(4).ok_or(Errno::Fault)?, length as u32)
        })
    })?;
    linker.func_wrap(MODULE, "fd_prestat_dir_name", |mut caller: Call<'_>, fd: i32, out: u32, length: u32| {
        caller.call(|guest, ctx| {
            let name = preopen(ctx, fd)?;
            if (length as usize) < name.len() {
                return Err(Errno::NameTooLong);
            }
            guest.write(out, &name)
        })
    })?;
    linker.func_wrap(
        MODULE,
        "fd_readdir",
        |mut caller: Call<'_>, fd: i32, buffer: u32, length: u32, cookie: u64, out: u32| {
            caller.call(|guest, ctx| {
                let used = read_directory(guest, ctx, fd, buffer, length, cookie)?;
                guest.write_u32(out, used)
            })
        },
    )?;
    linker.func_wrap(MODULE, "fd_renumber", |mut caller: Call<'_>, from: i32, to: i32| {
        caller.call(|_, ctx| {
            let table = &mut ctx.current.descriptors;
            table.get(to)?;
            let moved = table.get(from)?.clone();
            if from != to {
                table.remove(from)?;
                table.set(to, moved.file, moved.close_on_exec)?;
            }
            Ok(())
        })
    })?;
    linker.func_wrap(MODULE, "fd_seek", |mut caller: Call<'_>, fd: i32, delta: i64, whence: i32, out: u32| {
        caller.call(|guest, ctx| guest.write_u64(out, seek(ctx.file(fd)?, delta, whence)?))
    })?;
    linker.func_wrap(MODULE, "fd_tell", |mut caller: Call<'_>, fd: i32, out: u32| {
        caller.call(|guest, ctx| guest.write_u64(out, seek(ctx.file(fd)?, 0, 1)?))
    })?;
    Ok(())
}

/// The name of a preopened directory; `BadFd` for any other number, which ends libc's search.
fn preopen(ctx: &ProcessCtx, fd: i32) -> Result<Vec<u8>> {
    Ok(ctx.kernel.view.preopen(fd).ok_or(Errno::BadFd)?.as_bytes().to_vec())
}

fn fdstat(guest: &mut Guest<'_>, ctx: &ProcessCtx, fd: i32, out: u32) -> Result<()> {
    let mut bytes = [0; 24];
    let mut flags = 0;
    let rights = match ctx.file(fd) {
        Ok(file) => {
            bytes[0] = types::file_type(file.file_type());
            if file.append() {
                flags |= FLAG_APPEND;
            }
            if file.nonblocking() {
                flags |= FLAG_NONBLOCK;
            }
            types::rights(file)
        }
        // libc asks what may be inherited from a preopened directory.
        Err(_) if preopen(ctx, fd).is_ok() => {
            bytes[0] = types::file_type(crate::sandbox::vfs::FileType::Directory);
            types::RIGHTS_ALL
        }
        Err(errno) => return Err(errno),
    };
    bytes[2..4].copy_from_slice(&flags.to_le_bytes());
    bytes[8..16].copy_from_slice(&rights.to_le_bytes());
    bytes[16..24].copy_from_slice(&types::RIGHTS_ALL.to_le_bytes());
    guest.write(out, &bytes)
}

fn allocate(file: &OpenFile, offset: u64, length: u64) -> Result<()> {
    if !file.writable() {
        return Err(Errno::BadFd);
    }
    let regular = file.regular().map_err(|_| Errno::NoDevice)?;
    let end = offset.checked_add(length).filter(|_| length > 0).ok_or(Errno::Invalid)?;
    if end > regular.metadata()?.size { regular.set_len(end) } else { Ok(()) }
}

fn seek(file: &OpenFile, delta: i64, whence: i32) -> Result<u64> {
    if matches!(file.kind(), Kind::Device(_)) {
        return Ok(0);
    }
    let regular = match file.kind() {
        // A directory is rewound through its cookie.
        Kind::Directory(_) => return Ok(0),
        _ => file.seekable()?,
    };
    let mut offset = file.offset();
    let base = match whence {
        0 => 0,
        1 => *offset,
        2 => regular.metadata()?.size,
        _ => return Err(Errno::Invalid),
    };
    let target =
        base.checked_add_signed(delta).filter(|&target| i64::try_from(target).is_ok()).ok_or(Errno::Invalid)?;
    *offset = target;
    Ok(target)
}

/// The times of a `set_times` call.
pub fn times(accessed: u64, modified: u64, flags: i32) -> Result<(SetTime, SetTime)> {
    let flags = u16::try_from(flags).map_err(|_| Errno::Invalid)?;
    let one = |value: u64, set: u16, now: u16| match (flags & set != 0, flags & now != 0) {
        (true, true) => Err(Errno::Invalid),
        (true, false) => i64::try_from(value).map(SetTime::At).map_err(|_| Errno::Invalid),
        (false, true) => Ok(SetTime::Now),
        (false, false) => Ok(SetTime::Keep),
    };
    Ok((one(accessed, types::SET_ATIM, types::SET_ATIM_NOW)?, one(modified, types::SET_MTIM, types::SET_MTIM_NOW)?))
}

/// Fills the buffer with entries from `cookie` on, the last one cut where the buffer ends: a buffer that is not full
/// means that there are no more.
fn read_directory(
    guest: &mut Guest<'_>,
    ctx: &ProcessCtx,
    fd: i32,
    buffer: u32,
    length: u32,
    cookie: u64,
) -> Result<u32> {
    let root;
    let file = match ctx.file(fd) {
        Ok(file) => file,
        Err(errno) => {
            root = Arc::new(OpenFile::directory(ctx.kernel.view.preopen(fd).ok_or(errno)?.clone()));
            &root
        }
    };
    let Kind::Directory(listing) = file.kind() else { return Err(Errno::NotDirectory) };
    let entries: Arc<[DirEntry]> = {
        let mut listing = listing.lock().unwrap_or_else(PoisonError::into_inner);
        match &*listing {
            Some(entries) if cookie != 0 => Arc::clone(entries),
            _ => Arc::clone(listing.insert(list_directory(ctx, file.directory_path()?)?.into())),
        }
    };
    let target = guest.bytes_mut(buffer, length)?;
    let mut used = 0;
    let start = usize::try_from(cookie).map_err(|_| Errno::Invalid)?;
    for (index, entry) in entries.iter().enumerate().skip(start) {
        let mut record = Vec::with_capacity(24 + entry.name.len());
        record.extend_from_slice(&(index as u64 + 1).to_le_bytes());
        record.extend_from_slice(&entry.inode.to_le_bytes());
        record.extend_from_slice(&(entry.name.len() as u32).to_le_bytes());
        record.extend_from_slice(&[types::file_type(entry.file_type), 0, 0, 0]);
        record.extend_from_slice(&entry.name);
        let room = target.len() - used;
        let part = record.len().min(room);
        target[used..used + part].copy_from_slice(&record[..part]);
        used += part;
        if part < record.len() {
            break;
        }
    }
    Ok(used as u32)
}
