//! The buffer that file contents pass through.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Its size in bytes: few calls for large files; a pipe gives 64 KiB at once.
pub const SIZE: usize = 256 * 1024;

/// Decision: a static one, in the module's zero pages. One from the heap is cleared when it is made, and that takes
/// longer than all else that `cat` or `cp` does with a small file.
static BUFFER: Mutex<[u8; SIZE]> = Mutex::new([0; SIZE]);

/// The buffer, for one user at a time.
pub fn buffer() -> MutexGuard<'static, [u8; SIZE]> {
    BUFFER.lock().unwrap_or_else(PoisonError::into_inner)
}
