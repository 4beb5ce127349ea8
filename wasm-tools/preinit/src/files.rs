//! Files without what only this machine knows of them: device, inode, links and times would end up in a snapshot.

use wasmtime::error::format_err;
use wasmtime::{Caller, Extern, Linker, Result};
use wasmtime_wasi::p1::WasiP1Ctx;
use wasmtime_wasi::p1::wasi_snapshot_preview1 as wasi;
use wiggle::GuestMemory;

use crate::fixed;

const MODULE: &str = "wasi_snapshot_preview1";

/// WASI's errno for what is not supported.
const ENOTSUP: i32 = 58;

/// Offsets of a `filestat`'s 64-bit fields in bytes, and what they become.
const FIELDS: [(usize, u64); 6] =
    [(0, 1), (8, 1), (24, 1), (40, fixed::NANOSECONDS), (48, fixed::NANOSECONDS), (56, fixed::NANOSECONDS)];

/// Replaces the calls that tell of files; a folder's list, whose order is the host's, is refused.
pub fn hide_host(linker: &mut Linker<WasiP1Ctx>) -> Result<()> {
    linker.allow_shadowing(true);
    linker.func_wrap_async(MODULE, "fd_filestat_get", |mut caller, (fd, at): (i32, i32)| {
        Box::new(async move {
            let (memory, context) = parts(&mut caller)?;
            let errno = wasi::fd_filestat_get(context, &mut GuestMemory::Unshared(memory), fd, at).await?;
            Ok(fix(memory, at, errno))
        })
    })?;
    linker.func_wrap_async(
        MODULE,
        "path_filestat_get",
        |mut caller, (folder, flags, path, length, at): (i32, i32, i32, i32, i32)| {
            Box::new(async move {
                let (memory, context) = parts(&mut caller)?;
                let mut guest = GuestMemory::Unshared(memory);
                let errno = wasi::path_filestat_get(context, &mut guest, folder, flags, path, length, at).await?;
                Ok(fix(memory, at, errno))
            })
        },
    )?;
    linker.func_wrap(MODULE, "fd_readdir", |_: i32, _: i32, _: i32, _: i64, _: i32| ENOTSUP)?;
    linker.allow_shadowing(false);
    Ok(())
}

fn parts<'a>(caller: &'a mut Caller<'_, WasiP1Ctx>) -> Result<(&'a mut [u8], &'a mut WasiP1Ctx)> {
    let memory = caller.get_export("memory").and_then(Extern::into_memory);
    let memory = memory.ok_or_else(|| format_err!("the module exports no memory"))?;
    Ok(memory.data_and_store_mut(caller))
}

/// Overwrites what is the host's in the `filestat` of a call that went well.
fn fix(memory: &mut [u8], at: i32, errno: i32) -> i32 {
    let at = at as u32 as usize;
    if errno == 0 {
        for (offset, value) in FIELDS {
            if let Some(field) = memory.get_mut(at + offset..at + offset + 8) {
                field.copy_from_slice(&value.to_le_bytes());
            }
        }
    }
    errno
}
