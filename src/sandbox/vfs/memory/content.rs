//! The bytes of a file in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::sandbox::errno::{Errno, Result};

/// Unit of storage: small enough that writing one byte into a large shared file is cheap, large enough that a file of
/// 500 MiB has few.
const CHUNK: u64 = 64 << 10;

/// The content that the host gives a file, shared without a copy until the guest writes.
#[derive(Clone, Debug)]
pub enum Contents {
    /// Part of the program.
    Static(&'static [u8]),
    /// In memory.
    Shared(Arc<[u8]>),
}

impl Contents {
    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Static(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl From<&'static [u8]> for Contents {
    fn from(bytes: &'static [u8]) -> Self {
        Self::Static(bytes)
    }
}

impl<const N: usize> From<&'static [u8; N]> for Contents {
    fn from(bytes: &'static [u8; N]) -> Self {
        Self::Static(bytes)
    }
}

impl From<&'static str> for Contents {
    fn from(text: &'static str) -> Self {
        Self::Static(text.as_bytes())
    }
}

impl From<Vec<u8>> for Contents {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Shared(bytes.into())
    }
}

impl From<String> for Contents {
    fn from(text: String) -> Self {
        Self::from(text.into_bytes())
    }
}

impl From<Arc<[u8]>> for Contents {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self::Shared(bytes)
    }
}

/// A sequence of bytes of which the parts never written take no room: `base` first, chunks laid over it, zeros in
/// the rest.
#[derive(Debug)]
pub(super) struct Content {
    base: Contents,
    /// How much of `base` still shows.
    base_length: usize,
    /// Written chunks by number; what a chunk lacks at its end is zero.
    chunks: BTreeMap<u64, Vec<u8>>,
    length: u64,
}

impl Content {
    pub(super) fn new(base: Contents) -> Self {
        let base_length = base.as_bytes().len();
        Self { base, base_length, chunks: BTreeMap::new(), length: base_length as u64 }
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Bytes that are really stored.
    pub(super) fn stored(&self) -> u64 {
        let chunks: u64 = self.chunks.values().map(|chunk| chunk.len() as u64).sum();
        chunks + self.base_length as u64
    }

    pub(super) fn read(&self, buffer: &mut [u8], offset: u64) -> usize {
        let left = usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let count = buffer.len().min(left);
        let mut position = offset;
        let mut rest = buffer.get_mut(..count).unwrap_or_default();
        while !rest.is_empty() {
            let within = (position % CHUNK) as usize;
            let (piece, after) = rest.split_at_mut(rest.len().min(CHUNK as usize - within));
            let number = position / CHUNK;
            let stored = match self.chunks.get(&number) {
                Some(chunk) => chunk.get(within..).unwrap_or_default(),
                None => self.base_from(position),
            };
            let have = piece.len().min(stored.len());
            let (copied, zeros) = piece.split_at_mut(have);
            copied.copy_from_slice(stored.get(..have).unwrap_or_default());
            zeros.fill(0);
            position += piece.len() as u64;
            rest = after;
        }
        count
    }

    /// Stores all of `data`; with `NoMemory`, the part that the answer of a later read shows.
    pub(super) fn write(&mut self, data: &[u8], offset: u64) -> Result<()> {
        let mut position = offset;
        let mut rest = data;
        while !rest.is_empty() {
            let within = (position % CHUNK) as usize;
            let (piece, after) = rest.split_at(rest.len().min(CHUNK as usize - within));
            let end = within + piece.len();
            let chunk = self.chunk_mut(position / CHUNK)?;
            reserve(chunk, end)?;
            if chunk.len() < within {
                chunk.resize(within, 0);
            }
            let over = piece.len().min(chunk.len() - within);
            let (replacing, extending) = piece.split_at(over);
            if let Some(place) = chunk.get_mut(within..within + over) {
                place.copy_from_slice(replacing);
            }
            chunk.extend_from_slice(extending);
            position += piece.len() as u64;
            self.length = self.length.max(position);
            rest = after;
        }
        Ok(())
    }

    pub(super) fn set_length(&mut self, length: u64) {
        if length < self.length {
            self.base_length = self.base_length.min(usize::try_from(length).unwrap_or(usize::MAX));
            drop(self.chunks.split_off(&length.div_ceil(CHUNK)));
            if let Some(chunk) = self.chunks.get_mut(&(length / CHUNK)) {
                chunk.truncate((length % CHUNK) as usize);
                chunk.shrink_to_fit();
            }
            if length == 0 {
                self.base = Contents::Static(&[]);
            }
        }
        self.length = length;
    }

    fn base_from(&self, position: u64) -> &[u8] {
        let start = usize::try_from(position).unwrap_or(usize::MAX);
        self.base.as_bytes().get(start..self.base_length).unwrap_or_default()
    }

    /// The chunk, copied from the base when it is written for the first time.
    fn chunk_mut(&mut self, number: u64) -> Result<&mut Vec<u8>> {
        if !self.chunks.contains_key(&number) {
            let shown = self.base_from(number * CHUNK);
            let shown = shown.get(..CHUNK as usize).unwrap_or(shown);
            let mut chunk = Vec::new();
            chunk.try_reserve_exact(shown.len()).map_err(|_| Errno::NoMemory)?;
            chunk.extend_from_slice(shown);
            self.chunks.insert(number, chunk);
        }
        self.chunks.get_mut(&number).ok_or(Errno::Io)
    }
}

/// Makes room for `end` bytes, doubling up to a whole chunk.
fn reserve(chunk: &mut Vec<u8>, end: usize) -> Result<()> {
    if end > chunk.capacity() {
        let capacity = end.max((chunk.capacity() * 2).min(CHUNK as usize));
        chunk.try_reserve_exact(capacity - chunk.len()).map_err(|_| Errno::NoMemory)?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A small generator, so that failures repeat.
    fn random(state: &mut u64, below: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % below
    }

    #[test]
    fn behaves_as_a_vector() {
        for seed in 0..60 {
            let mut state = seed;
            let base: Vec<u8> = (0..random(&mut state, 200_000)).map(|at| at as u8).collect();
            let mut model = base.clone();
            let mut content = Content::new(base.into());
            for _ in 0..60 {
                let offset = random(&mut state, 300_000) as usize;
                let length = random(&mut state, 150_000) as usize;
                match random(&mut state, 3) {
                    0 => {
                        let data = vec![random(&mut state, 256) as u8; length];
                        content.write(&data, offset as u64).unwrap();
                        model.resize(model.len().max(offset + length * usize::from(length > 0)), 0);
                        if length > 0 {
                            model[offset..offset + length].copy_from_slice(&data);
                        }
                    }
                    1 => {
                        content.set_length(offset as u64);
                        model.resize(offset, 0);
                    }
                    _ => {
                        let mut buffer = vec![1; length];
                        let count = content.read(&mut buffer, offset as u64);
                        let expected = model.get(offset..model.len().min(offset + length)).unwrap_or_default();
                        assert_eq!(&buffer[..count], expected);
                    }
                }
                assert_eq!(content.length(), model.len() as u64);
            }
            let mut all = vec![0; model.len() + 10];
            let count = content.read(&mut all, 0);
            assert!(all[..count] == model[..], "seed {seed}");
        }
    }

    #[test]
    fn sparse_parts_take_no_room() {
        let mut content = Content::new(b"start".into());
        content.set_length(1 << 40);
        content.write(b"end", (1 << 40) - 3).unwrap();
        assert!(content.stored() <= 2 * CHUNK, "{}", content.stored());
        let mut buffer = [1; 10];
        assert_eq!(content.read(&mut buffer, (1 << 40) - 5), 5);
        assert_eq!(&buffer[..5], b"\0\0end");
        assert_eq!(content.read(&mut buffer, 3), 10);
        assert_eq!(&buffer, b"rt\0\0\0\0\0\0\0\0");
    }
}
