//! The `wskill` import module: what POSIX has and WASI preview 1 has not.
//!
//! The contract is `wasm-tools/sys/include/wskill.h`; layouts and numbers here are its own.

mod descriptor;
mod file;
mod process;
mod signal;
mod tool;

use wasmtime::{Caller, Linker};

use super::errno::{Errno, Result};
use super::guest::{Guest, HostCall};
use super::kernel::ProcessCtx;
use super::vfs::GuestPath;

/// The module's name.
pub const MODULE: &str = "wskill";
/// The version of the contract.
pub const VERSION: i32 = 1;

const AT_FDCWD: i32 = -100;

type Call<'a> = Caller<'a, ProcessCtx>;

/// Defines the imports.
///
/// # Errors
/// When one is defined already.
pub fn add_to_linker(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "abi_version", || VERSION)?;
    linker.func_wrap(MODULE, "program_name", |mut caller: Call<'_>, buffer: u32, capacity: u32, out: u32| {
        caller.call(|guest, ctx| write_text(guest, &ctx.program, buffer, capacity, out))
    })?;
    process::add_to_linker(linker)?;
    signal::add_to_linker(linker)?;
    descriptor::add_to_linker(linker)?;
    file::add_to_linker(linker)?;
    tool::add_to_linker(linker)
}

/// Where a path given with a descriptor begins; an absolute one does not need it.
fn base(ctx: &ProcessCtx, dirfd: i32, path: &[u8]) -> Result<GuestPath> {
    if dirfd == AT_FDCWD || path.starts_with(b"/") {
        return Ok(ctx.current.cwd.clone());
    }
    match ctx.kernel.view.preopen(dirfd) {
        Some(root) if ctx.file(dirfd).is_err() => Ok(root.clone()),
        _ => Ok(ctx.file(dirfd)?.directory_path()?.clone()),
    }
}

/// Writes text without a NUL and its length; `Range` when it does not fit.
fn write_text(guest: &mut Guest<'_>, text: &[u8], buffer: u32, capacity: u32, out: u32) -> Result<()> {
    let length = u32::try_from(text.len()).map_err(|_| Errno::Overflow)?;
    if length > capacity {
        return Err(Errno::Range);
    }
    guest.write(buffer, text)?;
    guest.write_u32(out, length)
}
