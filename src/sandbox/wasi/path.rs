//! Calls on paths.

use std::sync::Arc;

use wasmtime::Linker;

use super::descriptor::times;
use super::types::{self, LOOKUP_FOLLOW, O_CREAT, O_DIRECTORY, O_EXCL, O_TRUNC, RIGHT_READ, RIGHT_WRITE};
use super::{Call, MODULE};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::guest::HostCall;
use crate::sandbox::kernel::{OpenRequest, Opened, ProcessCtx, metadata_at, named, noted, open, settle_fuel};
use crate::sandbox::vfs::{GuestPath, OpenOptions};

/// Defines the calls.
pub fn add_to_linker(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "path_create_directory", |mut caller: Call<'_>, fd: i32, path: u32, length: u32| {
        caller.call(|guest, ctx| {
            let path = guest.path(path, length)?;
            let base = base(ctx, fd, &path)?;
            noted(ctx, &base, &path, ctx.kernel.vfs.make_dir(&base, &path, 0o777 & !ctx.current.umask))
        })
    })?;
    linker.func_wrap(
        MODULE,
        "path_filestat_get",
        |mut caller: Call<'_>, fd: i32, flags: u32, path: u32, length: u32, out: u32| {
            caller.call(|guest, ctx| {
                let path = guest.path(path, length)?;
                let found = metadata_at(ctx, &base(ctx, fd, &path)?, &path, flags & LOOKUP_FOLLOW != 0)?;
                types::write_filestat(guest, out, &found)
            })
        },
    )?;
    linker.func_wrap(
        MODULE,
        "path_filestat_set_times",
        |mut caller: Call<'_>,
         fd: i32,
         lookup: u32,
         path: u32,
         length: u32,
         accessed: u64,
         modified: u64,
         flags: i32| {
            caller.call(|guest, ctx| {
                let path = guest.path(path, length)?;
                let (accessed, modified) = times(accessed, modified, flags)?;
                let follow = lookup & LOOKUP_FOLLOW != 0;
                let base = base(ctx, fd, &path)?;
                noted(ctx, &base, &path, ctx.kernel.vfs.set_times(&base, &path, follow, accessed, modified))
            })
        },
    )?;
    linker.func_wrap(
        MODULE,
        "path_link",
        |mut caller: Call<'_>, fd: i32, flags: u32, path: u32, length: u32, fd2: i32, path2: u32, length2: u32| {
            caller.call(|guest, ctx| {
                let path = guest.path(path, length)?;
                let path2 = guest.path(path2, length2)?;
                let (from, to) = (base(ctx, fd, &path)?, base(ctx, fd2, &path2)?);
                let follow = flags & LOOKUP_FOLLOW != 0;
                noted(ctx, &to, &path2, ctx.kernel.vfs.link(&from, &path, follow, &to, &path2))?;
                named(ctx, &to, &path2);
                Ok(())
            })
        },
    )?;
    linker.func_wrap_async(MODULE, "path_open", |mut caller: Call<'_>, arguments: PathOpen| {
        Box::new(async move {
            let answer = path_open(&mut caller, arguments).await;
            caller.answer(answer)
        })
    })?;
    linker.func_wrap(
        MODULE,
        "path_readlink",
        |mut caller: Call<'_>, fd: i32, path: u32, length: u32, buffer: u32, capacity: u32, out: u32| {
            caller.call(|guest, ctx| {
                let path = guest.path(path, length)?;
                let target = ctx.kernel.vfs.read_link(&base(ctx, fd, &path)?, &path)?;
                // Cut without a word, as readlink(2).
                let part = target.len().min(capacity as usize);
                guest.write(buffer, &target[..part])?;
                guest.write_u32(out, part as u32)
            })
        },
    )?;
    linker.func_wrap(MODULE, "path_remove_directory", |mut caller: Call<'_>, fd: i32, path: u32, length: u32| {
        caller.call(|guest, ctx| {
            let path = guest.path(path, length)?;
            let base = base(ctx, fd, &path)?;
            noted(ctx, &base, &path, ctx.kernel.vfs.remove_dir(&base, &path))
        })
    })?;
    linker.func_wrap(
        MODULE,
        "path_rename",
        |mut caller: Call<'_>, fd: i32, path: u32, length: u32, fd2: i32, path2: u32, length2: u32| {
            caller.call(|guest, ctx| {
                let path = guest.path(path, length)?;
                let path2 = guest.path(path2, length2)?;
                let (from, to) = (base(ctx, fd, &path)?, base(ctx, fd2, &path2)?);
                noted(ctx, &from, &path, ctx.kernel.vfs.rename(&from, &path, &to, &path2))?;
                named(ctx, &to, &path2);
                Ok(())
            })
        },
    )?;
    linker.func_wrap(
        MODULE,
        "path_symlink",
        |mut caller: Call<'_>, target: u32, target_length: u32, fd: i32, path: u32, length: u32| {
            caller.call(|guest, ctx| {
                let target = guest.path(target, target_length)?;
                let path = guest.path(path, length)?;
                let base = base(ctx, fd, &path)?;
                noted(ctx, &base, &path, ctx.kernel.vfs.symlink(&target, &base, &path))
            })
        },
    )?;
    linker.func_wrap(MODULE, "path_unlink_file", |mut caller: Call<'_>, fd: i32, path: u32, length: u32| {
        caller.call(|guest, ctx| {
            let path = guest.path(path, length)?;
            let base = base(ctx, fd, &path)?;
            noted(ctx, &base, &path, ctx.kernel.vfs.unlink(&base, &path))
        })
    })?;
    Ok(())
}

/// Where a path given with a descriptor begins.
fn base(ctx: &ProcessCtx, fd: i32, path: &[u8]) -> Result<GuestPath> {
    let view = &ctx.kernel.view;
    match view.preopen(fd) {
        None => Ok(ctx.file(fd)?.directory_path()?.clone()),
        Some(root) if ctx.bound || !view.guess_relative => Ok(root.clone()),
        // The libc of a foreign module knows no working directory: it says `a/b` for both `a/b` and `/a/b`. The first
        // part tells which is meant: what exists in the working directory, else what exists at the root.
        Some(root) => {
            let first = path.split(|&byte| byte == b'/').find(|part| !part.is_empty() && *part != b".");
            let cwd = &ctx.current.cwd;
            let exists = |base: &GuestPath, name: &[u8]| ctx.kernel.vfs.metadata(base, name, false).is_ok();
            match first {
                Some(name) if !exists(cwd, name) && exists(root, name) => Ok(root.clone()),
                _ => Ok(cwd.clone()),
            }
        }
    }
}

/// Descriptor, lookup flags, path, open flags, rights, inherited rights, descriptor flags, out.
type PathOpen = (i32, u32, u32, u32, i32, u64, u64, i32, u32);

async fn path_open(caller: &mut Call<'_>, arguments: PathOpen) -> Result<()> {
    let (fd, lookup, path, length, oflags, rights, _, fdflags, out) = arguments;
    let (guest, ctx) = caller.parts()?;
    // Nothing is made or cut for a caller who cannot be given a descriptor.
    guest.bytes(out, 4)?;
    ctx.current.descriptors.check_room()?;
    let path = guest.path(path, length)?;
    let oflags = u16::try_from(oflags).map_err(|_| Errno::Invalid)?;
    let fdflags = u16::try_from(fdflags).map_err(|_| Errno::Invalid)?;
    let write = rights & RIGHT_WRITE != 0;
    let options = OpenOptions {
        // Without either right it is opened to be searched or asked about, for which reading stands.
        read: rights & RIGHT_READ != 0 || !write,
        write,
        append: fdflags & types::FLAG_APPEND != 0,
        create: oflags & O_CREAT != 0,
        exclusive: oflags & O_EXCL != 0,
        truncate: oflags & O_TRUNC != 0,
        directory: oflags & O_DIRECTORY != 0,
        no_follow: lookup & LOOKUP_FOLLOW == 0,
        mode: 0o666 & !ctx.current.umask,
    };
    let nonblocking = fdflags & types::FLAG_NONBLOCK != 0;
    let request = OpenRequest { base: base(ctx, fd, &path)?, path, options, nonblocking };
    let file = match open(ctx, &request)? {
        Opened::Ready(file) => file,
        Opened::Waiting(fifo) => {
            let process = Arc::clone(&ctx.process);
            settle_fuel(&mut *caller);
            process.interruptible(fifo.partner()).await?
        }
    };
    let (mut guest, ctx) = caller.parts()?;
    let number = ctx.current.descriptors.insert(file, false)?;
    guest.write_i32(out, number)
}
