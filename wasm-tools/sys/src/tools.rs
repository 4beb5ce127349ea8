//! Tools of the host.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;

use crate::ffi;

/// Calls a tool with a JSON text; the inner error is what the tool or the kernel says against it.
///
/// # Errors
/// ENOSYS when the sandbox offers no tools, EINTR when a handled signal came first.
pub fn call(name: &[u8], json: &[u8]) -> io::Result<Result<Vec<u8>, Vec<u8>>> {
    let mut result = [0; 2];
    // SAFETY: both texts are valid for their lengths, and `result` is a place for the answer.
    let error = unsafe {
        ffi::tool_call(name.as_ptr(), name.len() as u32, json.as_ptr(), json.len() as u32, result.as_mut_ptr())
    };
    let text = read(error, result[0])?;
    Ok(if result[1] == 0 { Ok(text) } else { Err(text) })
}

/// A line for each tool: name, tab, description.
///
/// # Errors
/// ENOSYS when the sandbox offers no tools.
pub fn list() -> io::Result<Vec<u8>> {
    let mut fd = 0;
    // SAFETY: a place for the answer.
    let error = unsafe { ffi::tool_list(&mut fd) };
    read(error, fd)
}

fn read(error: i32, fd: i32) -> io::Result<Vec<u8>> {
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    let mut text = Vec::new();
    // SAFETY: the kernel has just opened it, for this caller alone.
    unsafe { File::from_raw_fd(fd) }.read_to_end(&mut text)?;
    Ok(text)
}
