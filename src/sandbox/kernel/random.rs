//! Random bytes.

use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::sandbox::errno::{Errno, Result};

/// The host's randomness, or a stream made from a seed.
#[derive(Debug)]
pub enum Random {
    /// The host's.
    Host,
    /// SHA-256 of seed and counter.
    Seeded(Mutex<Seeded>),
}

/// A seeded stream.
#[derive(Debug)]
pub struct Seeded {
    seed: u64,
    counter: u64,
    block: [u8; 32],
    used: usize,
}

impl Random {
    /// A stream that is the same for each seed.
    pub fn seeded(seed: u64) -> Self {
        Self::Seeded(Mutex::new(Seeded { seed, counter: 0, block: [0; 32], used: 32 }))
    }

    /// Fills `buffer`.
    pub fn fill(&self, buffer: &mut [u8]) -> Result<()> {
        match self {
            Self::Host => getrandom::fill(buffer).map_err(|_| Errno::Io),
            Self::Seeded(stream) => {
                stream.lock().unwrap_or_else(PoisonError::into_inner).fill(buffer);
                Ok(())
            }
        }
    }
}

impl Seeded {
    fn fill(&mut self, buffer: &mut [u8]) {
        for byte in buffer {
            if self.used == self.block.len() {
                let mut hash = Sha256::new();
                hash.update(self.seed.to_le_bytes());
                hash.update(self.counter.to_le_bytes());
                self.block = hash.finalize().into();
                self.counter += 1;
                self.used = 0;
            }
            *byte = self.block[self.used];
            self.used += 1;
        }
    }
}
