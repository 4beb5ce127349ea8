//! Files: modes, owners, times, open with a mode, the working directory.

use std::sync::Arc;

use wasmtime::Linker;

use super::{Call, MODULE, base, write_text};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::guest::{Guest, HostCall};
use crate::sandbox::kernel::{
    Kind, OpenRequest, Opened, ProcessCtx, metadata_at, metadata_of, noted, open, settle_fuel,
};
use crate::sandbox::limits::WASM_STACK;
use crate::sandbox::vfs::{FileType, Metadata, OpenOptions, SetTime};

const NOFOLLOW: u32 = 1;

const O_ACCMODE: u32 = 3;
const O_CREAT: u32 = 0o100;
const O_EXCL: u32 = 0o200;
const O_TRUNC: u32 = 0o1000;
const O_APPEND: u32 = 0o2000;
const O_NONBLOCK: u32 = 0o4000;
const O_DIRECTORY: u32 = 0o200_000;
const O_NOFOLLOW: u32 = 0o400_000;
const O_CLOEXEC: u32 = 0o2_000_000;

/// Defines the imports.
pub fn add_to_linker(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    status_calls(linker)?;
    change_calls(linker)?;
    name_calls(linker)
}

fn status_calls(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    linker.func_wrap(
        MODULE,
        "stat",
        |mut caller: Call<'_>, dirfd: i32, path: u32, length: u32, flags: u32, out: u32| {
            caller.call(|guest, ctx| {
                let path = guest.path(path, length)?;
                let metadata = metadata_at(ctx, &base(ctx, dirfd, &path)?, &path, flags & NOFOLLOW == 0)?;
                write_stat(guest, out, &metadata)
            })
        },
    )?;
    linker.func_wrap(MODULE, "fstat", |mut caller: Call<'_>, fd: i32, out: u32| {
        caller.call(|guest, ctx| write_stat(guest, out, &metadata_of(ctx, ctx.file(fd)?)?))
    })?;
    linker.func_wrap(
        MODULE,
        "access",
        |mut caller: Call<'_>, dirfd: i32, path: u32, length: u32, mode: u32, flags: u32| {
            caller.call(|guest, ctx| {
                if mode & !7 != 0 {
                    return Err(Errno::Invalid);
                }
                let path = guest.path(path, length)?;
                let (read, write, execute) = (mode & 4 != 0, mode & 2 != 0, mode & 1 != 0);
                let base = base(ctx, dirfd, &path)?;
                ctx.kernel.vfs.access(&base, &path, flags & NOFOLLOW == 0, read, write, execute)
            })
        },
    )?;
    linker.func_wrap(MODULE, "statvfs", |mut caller: Call<'_>, dirfd: i32, path: u32, length: u32, out: u32| {
        caller.call(|guest, ctx| {
            let path = guest.path(path, length)?;
            let stat = ctx.kernel.vfs.statvfs(&base(ctx, dirfd, &path)?, &path)?;
            let fields = [
                stat.block_size,
                stat.blocks,
                stat.blocks_free,
                stat.files,
                stat.files_free,
                stat.name_max,
                u64::from(stat.read_only),
            ];
            let bytes: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
            guest.write(out, &bytes)
        })
    })?;
    linker.func_wrap(MODULE, "getrlimit", |mut caller: Call<'_>, resource: u32, out: u32| {
        caller.call(|guest, ctx| guest.write_u64(out, limit(ctx, resource)?))
    })?;
    Ok(())
}

/// getrlimit(2) in Linux's numbers.
fn limit(ctx: &ProcessCtx, resource: u32) -> Result<u64> {
    let limits = &ctx.kernel.limits;
    match resource {
        0 => Ok(limits.wall_time.map_or(u64::MAX, |time| time.as_secs())),
        1 => Ok(limits.file_size),
        2 | 9 => Ok(limits.process_memory),
        3 => Ok(WASM_STACK as u64),
        // No core files.
        4 => Ok(0),
        5 | 8 | 10..=15 => Ok(u64::MAX),
        6 => Ok(u64::from(limits.processes)),
        7 => Ok(u64::from(limits.open_files)),
        _ => Err(Errno::Invalid),
    }
}

fn change_calls(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, "open", |mut caller: Call<'_>, arguments: Open| {
        Box::new(async move {
            let answer = open_file(&mut caller, arguments).await;
            caller.answer(answer)
        })
    })?;
    linker.func_wrap(MODULE, "mkdir", |mut caller: Call<'_>, dirfd: i32, path: u32, length: u32, mode: u32| {
        caller.call(|guest, ctx| {
            let path = guest.path(path, length)?;
            let base = base(ctx, dirfd, &path)?;
            noted(ctx, &base, &path, ctx.kernel.vfs.make_dir(&base, &path, mode & 0o1777 & !ctx.current.umask))
        })
    })?;
    linker.func_wrap(MODULE, "mkfifo", |mut caller: Call<'_>, dirfd: i32, path: u32, length: u32, mode: u32| {
        caller.call(|guest, ctx| {
            let path = guest.path(path, length)?;
            let base = base(ctx, dirfd, &path)?;
            noted(ctx, &base, &path, ctx.kernel.vfs.make_fifo(&base, &path, mode & 0o777 & !ctx.current.umask))
        })
    })?;
    linker.func_wrap(
        MODULE,
        "chmod",
        |mut caller: Call<'_>, dirfd: i32, path: u32, length: u32, mode: u32, flags: u32| {
            caller.call(|guest, ctx| {
                let path = guest.path(path, length)?;
                let base = base(ctx, dirfd, &path)?;
                let answer = ctx.kernel.vfs.set_mode(&base, &path, flags & NOFOLLOW == 0, mode & 0o7777);
                noted(ctx, &base, &path, answer)
            })
        },
    )?;
    linker.func_wrap(MODULE, "fchmod", |mut caller: Call<'_>, fd: i32, mode: u32| {
        caller.call(|_, ctx| {
            let file = ctx.file(fd)?;
            match (file.kind(), file.path()) {
                (_, Some(path)) => ctx.kernel.vfs.set_mode(path, path.as_bytes(), true, mode & 0o7777),
                (Kind::File(inner), None) => inner.set_mode(mode & 0o7777),
                _ => Err(Errno::Invalid),
            }
        })
    })?;
    linker.func_wrap(
        MODULE,
        "chown",
        |mut caller: Call<'_>, dirfd: i32, path: u32, length: u32, _uid: u32, _gid: u32, flags: u32| {
            caller.call(|guest, ctx| {
                let path = guest.path(path, length)?;
                let base = base(ctx, dirfd, &path)?;
                // Everything belongs to the guest already; what it may not change it may not give away either.
                ctx.kernel.vfs.access(&base, &path, flags & NOFOLLOW == 0, false, true, false)
            })
        },
    )?;
    linker.func_wrap(
        MODULE,
        "utimens",
        |mut caller: Call<'_>, dirfd: i32, path: u32, length: u32, accessed: i64, modified: i64, flags: u32| {
            caller.call(|guest, ctx| {
                let path = guest.path(path, length)?;
                let base = base(ctx, dirfd, &path)?;
                let follow = flags & NOFOLLOW == 0;
                let answer = ctx.kernel.vfs.set_times(&base, &path, follow, time(accessed), time(modified));
                noted(ctx, &base, &path, answer)
            })
        },
    )?;
    linker.func_wrap(MODULE, "umask", |mut caller: Call<'_>, mask: u32| {
        let current = &mut caller.data_mut().current;
        std::mem::replace(&mut current.umask, mask & 0o777).cast_signed()
    })?;
    Ok(())
}

fn time(nanoseconds: i64) -> SetTime {
    match nanoseconds {
        i64::MAX => SetTime::Now,
        i64::MIN => SetTime::Keep,
        at => SetTime::At(at),
    }
}

fn name_calls(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    type Named = (i32, u32, u32, u32, u32, u32);
    fn named(caller: &mut Call<'_>, arguments: Named, find: fn(&ProcessCtx, i32, &[u8]) -> Result<Vec<u8>>) -> i32 {
        let (dirfd, path, length, buffer, capacity, out) = arguments;
        caller.call(|guest, ctx| {
            let path = guest.path(path, length)?;
            write_text(guest, &find(ctx, dirfd, &path)?, buffer, capacity, out)
        })
    }
    linker.func_wrap(
        MODULE,
        "realpath",
        |mut caller: Call<'_>, dirfd: i32, path: u32, length: u32, buffer: u32, capacity: u32, out: u32| {
            named(&mut caller, (dirfd, path, length, buffer, capacity, out), |ctx, dirfd, path| {
                let found = ctx.kernel.vfs.real_path(&base(ctx, dirfd, path)?, path)?;
                Ok(found.as_bytes().to_vec())
            })
        },
    )?;
    linker.func_wrap(
        MODULE,
        "readlink",
        |mut caller: Call<'_>, dirfd: i32, path: u32, length: u32, buffer: u32, capacity: u32, out: u32| {
            named(&mut caller, (dirfd, path, length, buffer, capacity, out), |ctx, dirfd, path| {
                ctx.kernel.vfs.read_link(&base(ctx, dirfd, path)?, path)
            })
        },
    )?;
    linker.func_wrap(MODULE, "getcwd", |mut caller: Call<'_>, buffer: u32, capacity: u32, out: u32| {
        caller.call(|guest, ctx| {
            let cwd = &ctx.current.cwd;
            // It may have been removed.
            ctx.kernel.vfs.metadata(cwd, cwd.as_bytes(), false)?;
            write_text(guest, cwd.as_bytes(), buffer, capacity, out)
        })
    })?;
    linker.func_wrap(MODULE, "chdir", |mut caller: Call<'_>, dirfd: i32, path: u32, length: u32| {
        caller.call(|guest, ctx| {
            let path = guest.path(path, length)?;
            let found = ctx.kernel.vfs.resolve(&base(ctx, dirfd, &path)?, &path, true)?;
            match found.metadata {
                None => Err(Errno::NoEntry),
                Some(metadata) if metadata.file_type == FileType::Directory => {
                    ctx.current.cwd = found.path;
                    Ok(())
                }
                Some(_) => Err(Errno::NotDirectory),
            }
        })
    })?;
    Ok(())
}

/// Directory, path, flags, mode, out.
type Open = (i32, u32, u32, u32, u32, u32);

async fn open_file(caller: &mut Call<'_>, arguments: Open) -> Result<()> {
    let (dirfd, path, length, flags, mode, out) = arguments;
    let (guest, ctx) = caller.parts()?;
    // Nothing is made or cut for a caller who cannot be given a descriptor.
    guest.bytes(out, 4)?;
    ctx.current.descriptors.check_room()?;
    let path = guest.path(path, length)?;
    let (read, write) = match flags & O_ACCMODE {
        0 => (true, false),
        1 => (false, true),
        2 => (true, true),
        _ => return Err(Errno::Invalid),
    };
    let options = OpenOptions {
        read,
        write,
        append: flags & O_APPEND != 0,
        create: flags & O_CREAT != 0,
        exclusive: flags & O_EXCL != 0,
        truncate: flags & O_TRUNC != 0,
        directory: flags & O_DIRECTORY != 0,
        no_follow: flags & O_NOFOLLOW != 0,
        mode: mode & 0o1777 & !ctx.current.umask,
    };
    let request = OpenRequest { base: base(ctx, dirfd, &path)?, path, options, nonblocking: flags & O_NONBLOCK != 0 };
    let file = match open(ctx, &request)? {
        Opened::Ready(file) => file,
        Opened::Waiting(fifo) => {
            let process = Arc::clone(&ctx.process);
            settle_fuel(&mut *caller);
            process.interruptible(fifo.partner()).await?
        }
    };
    let (mut guest, ctx) = caller.parts()?;
    let number = ctx.current.descriptors.insert(file, flags & O_CLOEXEC != 0)?;
    guest.write_i32(out, number)
}

/// Type bits of `st_mode`.
fn type_bits(file_type: FileType) -> u32 {
    match file_type {
        FileType::Fifo => 0o010_000,
        FileType::CharDevice => 0o020_000,
        FileType::Directory => 0o040_000,
        FileType::Regular => 0o100_000,
        FileType::Symlink => 0o120_000,
    }
}

/// Writes a `wsk_stat`.
fn write_stat(guest: &mut Guest<'_>, address: u32, metadata: &Metadata) -> Result<()> {
    let mut bytes = [0; 88];
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(0, &metadata.device.to_le_bytes());
    put(8, &metadata.inode.to_le_bytes());
    put(16, &(type_bits(metadata.file_type) | metadata.mode).to_le_bytes());
    put(20, &metadata.links.to_le_bytes());
    // 24: uid, 28: gid; both 0.
    put(32, &metadata.device_id.to_le_bytes());
    put(40, &metadata.size.to_le_bytes());
    put(48, &4096u32.to_le_bytes());
    put(56, &metadata.blocks.to_le_bytes());
    put(64, &metadata.accessed.to_le_bytes());
    put(72, &metadata.modified.to_le_bytes());
    put(80, &metadata.changed.to_le_bytes());
    guest.write(address, &bytes)
}
