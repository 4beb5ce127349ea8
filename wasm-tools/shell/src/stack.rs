//! How much of the module's stack is left.

/// Whether the stack is nearly used up. It begins at address 0 of the memory and grows towards it, so the address of a
/// local variable is what is left; on the build's own machine, where only tests run, addresses are never that low.
#[inline(never)]
pub fn is_short() -> bool {
    let marker = 0u8;
    ((&raw const marker) as usize) < RESERVE
}

/// What one step of the recursions needs at most, with builtins, parser and messages on top: bytes.
const RESERVE: usize = 160 * 1024;
