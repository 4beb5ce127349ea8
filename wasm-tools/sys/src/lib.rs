//! Safe bindings to the imports that the wskill kernel adds to WASI preview 1: processes, descriptors, signals, and
//! files with modes. `include/wskill.h` is the contract.
//!
//! A program calls [`init`] first. What WASI has goes on through std: once `init` has run, std's relative paths start
//! at the kernel's working directory, and every error message reads as the GNU C library's.

#![cfg(target_family = "wasm")]

pub mod alloc;
pub mod command;
pub mod errno;
pub mod fd;
mod ffi;
pub mod fs;
pub mod multicall;
pub mod process;
pub mod signal;
pub mod tools;

pub use errno::{Errno, Result, message};
pub use process::program_name;

/// Readies the process: checks the kernel's version of the contract and tells libc the working directory.
///
/// # Errors
/// ENOSYS when the kernel speaks another version; else what the kernel or libc says about the directory.
pub fn init() -> Result<()> {
    // SAFETY: no arguments.
    if unsafe { ffi::abi_version() } != ffi::ABI_VERSION {
        return Err(Errno::ENOSYS);
    }
    fs::sync_cwd()
}
