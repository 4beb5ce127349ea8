//! An allocator for programs that make many small and short-lived pieces, as a shell does: what is freed is kept in a
//! list for its size and given out again from there, in a few instructions. All else is libc's.
//!
//! Memory in a list stays there: a program holds the most it ever had of each size. Programs with large peaks of small
//! pieces that differ in size are better off with libc alone.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::null_mut;

/// Sizes are rounded up to multiples of this, which is also the alignment.
const STEP: usize = 8;
/// The largest piece that a list keeps.
const LARGEST: usize = 256;
const LISTS: usize = LARGEST / STEP;
/// How much is taken from libc at once.
const CHUNK: usize = 8 * 1024;

/// A free piece: where the next one is.
struct Free {
    next: *mut Free,
}

struct Lists {
    heads: [*mut Free; LISTS],
    /// What is left of the last chunk.
    rest: *mut u8,
    left: usize,
}

/// The allocator, for `#[global_allocator]`.
pub struct SmallPieces(UnsafeCell<Lists>);

// SAFETY: a guest has one thread; the target has no others.
unsafe impl Sync for SmallPieces {}

impl Default for SmallPieces {
    fn default() -> Self {
        Self::new()
    }
}

impl SmallPieces {
    /// An allocator that has nothing yet.
    pub const fn new() -> Self {
        Self(UnsafeCell::new(Lists { heads: [null_mut(); LISTS], rest: null_mut(), left: 0 }))
    }
}

/// The list for a layout, when it is a small piece.
fn list_of(layout: Layout) -> Option<usize> {
    (layout.size().wrapping_sub(1) < LARGEST && layout.align() <= STEP).then(|| (layout.size() - 1) / STEP)
}

impl Lists {
    /// Cuts a piece off the chunk, from a new one if need be. Null without memory.
    #[cold]
    #[inline(never)]
    fn cut(&mut self, list: usize) -> *mut u8 {
        let size = (list + 1) * STEP;
        if self.left < size {
            // SAFETY: the size is not zero and the alignment a power of two.
            let chunk = unsafe { System.alloc(Layout::from_size_align_unchecked(CHUNK, STEP)) };
            if chunk.is_null() {
                return chunk;
            }
            // The rest of the chunk before is a multiple of the step: a piece of its own.
            if self.left > 0 {
                let at = self.left / STEP - 1;
                self.give(at, self.rest);
            }
            self.rest = chunk;
            self.left = CHUNK;
        }
        let piece = self.rest;
        // SAFETY: `left` says that so much of the chunk is there.
        self.rest = unsafe { piece.add(size) };
        self.left -= size;
        piece
    }

    fn give(&mut self, list: usize, piece: *mut u8) {
        let free = piece.cast::<Free>();
        // SAFETY: the piece is at least a step long, aligned to it, and nobody's any more.
        unsafe { free.write(Free { next: self.heads[list] }) };
        self.heads[list] = free;
    }
}

// SAFETY: a piece comes from one list or from libc, as its layout says, and goes back there; a list's pieces are as long
// as its layouts are at most, aligned to `STEP`, and in no other list.
unsafe impl GlobalAlloc for SmallPieces {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(list) = list_of(layout) else {
            // SAFETY: the caller's layout.
            return unsafe { System.alloc(layout) };
        };
        // SAFETY: one thread, and nothing in here calls the allocator again.
        let lists = unsafe { &mut *self.0.get() };
        let head = lists.heads[list];
        if head.is_null() {
            return lists.cut(list);
        }
        // SAFETY: a piece in a list holds the next one.
        lists.heads[list] = unsafe { (*head).next };
        head.cast()
    }

    #[inline]
    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        match list_of(layout) {
            // SAFETY: one thread, and nothing in here calls the allocator again.
            Some(list) => unsafe { (*self.0.get()).give(list, piece) },
            // SAFETY: it came from there.
            None => unsafe { System.dealloc(piece, layout) },
        }
    }

    #[inline]
    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the size below the limit for this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (list_of(layout), list_of(wanted)) {
            // SAFETY: libc's before and after.
            (None, None) => unsafe { System.realloc(piece, layout, size) },
            (before, after) if before == after => piece,
            _ => {
                // SAFETY: both are valid for the smaller of the two sizes and do not overlap; the old one is the
                // caller's to give back.
                unsafe {
                    let new = self.alloc(wanted);
                    if !new.is_null() {
                        new.copy_from_nonoverlapping(piece, layout.size().min(size));
                        self.dealloc(piece, layout);
                    }
                    new
                }
            }
        }
    }
}
