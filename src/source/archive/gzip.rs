//! Reading gzip without becoming a bomb's victim.

use std::io::{self, BufReader, Read};

use flate2::read::MultiGzDecoder;

use super::ArchiveError;
use crate::source::limits::Limits;

/// Decompresses `file` of `packed` bytes for an archive reader. Whatever is not a file's content (headers, padding,
/// long names) counts too, so that a bomb of those ends as well.
pub fn bounded<R: Read>(file: R, packed: u64, limits: &Limits) -> Bounded<MultiGzDecoder<BufReader<R>>> {
    // Every entry may need a header, a long name with its header, and padding.
    let overhead = (limits.entries as u64).saturating_mul(4096);
    Bounded {
        reader: MultiGzDecoder::new(BufReader::new(file)),
        packed,
        unpacked: 0,
        limit: limits.total.saturating_add(overhead),
        total: limits.total,
        limits: limits.clone(),
    }
}

#[cfg(feature = "fetch")]
/// Decompresses what a server has compressed on its own account, to at most `limit` bytes.
pub fn decoded<R: Read>(file: R, packed: u64, limits: &Limits) -> impl Read {
    Bounded {
        reader: MultiGzDecoder::new(BufReader::new(file)),
        packed,
        unpacked: 0,
        limit: limits.download,
        total: limits.download,
        limits: limits.clone(),
    }
}

/// A reader that refuses to go on beyond a limit or a ratio.
pub struct Bounded<R> {
    reader: R,
    packed: u64,
    unpacked: u64,
    limit: u64,
    /// The limit that the message names.
    total: u64,
    limits: Limits,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.unpacked += count as u64;
        if self.unpacked > self.limit {
            return Err(io::Error::other(ArchiveError::TotalTooLarge(self.total)));
        }
        if self.limits.is_bomb(self.packed, self.unpacked) {
            return Err(io::Error::other(ArchiveError::Bomb(self.limits.ratio)));
        }
        Ok(count)
    }
}
