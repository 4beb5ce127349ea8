//! A guest's memory, as host calls see it: every number the guest passes is checked.

use wasmtime::{AsContextMut, Caller, Extern, Memory};

use super::errno::{Errno, Result};
use super::kernel::ProcessCtx;
use super::limits::{IO_MAX, IOVECS_MAX, PATH_MAX};

/// Bytes of the guest.
#[derive(Debug)]
pub struct Guest<'a>(&'a mut [u8]);

/// A buffer of a vectored read or write.
#[derive(Clone, Copy, Debug)]
pub struct IoVec {
    /// Where it begins.
    pub address: u32,
    /// Its length.
    pub length: u32,
}

impl Guest<'_> {
    fn range(&self, address: u32, length: usize) -> Result<std::ops::Range<usize>> {
        let start = address as usize;
        let end = start.checked_add(length).filter(|&end| end <= self.0.len()).ok_or(Errno::Fault)?;
        Ok(start..end)
    }

    /// The bytes at an address.
    pub fn bytes(&self, address: u32, length: u32) -> Result<&[u8]> {
        Ok(&self.0[self.range(address, length as usize)?])
    }

    /// The bytes at an address, to be written.
    pub fn bytes_mut(&mut self, address: u32, length: u32) -> Result<&mut [u8]> {
        let range = self.range(address, length as usize)?;
        Ok(&mut self.0[range])
    }

    /// A path: at most [`PATH_MAX`] bytes.
    pub fn path(&self, address: u32, length: u32) -> Result<Vec<u8>> {
        if length as usize > PATH_MAX {
            return Err(Errno::NameTooLong);
        }
        Ok(self.bytes(address, length)?.to_vec())
    }

    /// Reads an array of bytes.
    pub fn read<const N: usize>(&self, address: u32) -> Result<[u8; N]> {
        let range = self.range(address, N)?;
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.0[range]);
        Ok(bytes)
    }

    /// Reads a number.
    pub fn u32(&self, address: u32) -> Result<u32> {
        Ok(u32::from_le_bytes(self.read(address)?))
    }

    /// Writes bytes.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Result<()> {
        let range = self.range(address, bytes.len())?;
        self.0[range].copy_from_slice(bytes);
        Ok(())
    }

    /// Writes a number.
    pub fn write_u32(&mut self, address: u32, value: u32) -> Result<()> {
        self.write(address, &value.to_le_bytes())
    }

    /// Writes a number.
    pub fn write_i32(&mut self, address: u32, value: i32) -> Result<()> {
        self.write(address, &value.to_le_bytes())
    }

    /// Writes a number.
    pub fn write_u64(&mut self, address: u32, value: u64) -> Result<()> {
        self.write(address, &value.to_le_bytes())
    }

    /// The buffers of a vectored call, cut so that together they have at most [`IO_MAX`] bytes.
    pub fn io_vecs(&self, address: u32, count: u32) -> Result<Vec<IoVec>> {
        if count > IOVECS_MAX {
            return Err(Errno::Invalid);
        }
        let mut left = IO_MAX as u32;
        let mut vecs = Vec::with_capacity(count as usize);
        for index in 0..count {
            let entry = address.checked_add(index * 8).ok_or(Errno::Fault)?;
            let vec = IoVec { address: self.u32(entry)?, length: self.u32(entry.checked_add(4).ok_or(Errno::Fault)?)? };
            self.range(vec.address, vec.length as usize)?;
            let length = vec.length.min(left);
            left -= length;
            if length > 0 {
                vecs.push(IoVec { length, ..vec });
            }
        }
        Ok(vecs)
    }
}

/// What host calls do with their caller.
pub trait HostCall {
    /// The guest's memory and the process.
    fn parts(&mut self) -> Result<(Guest<'_>, &mut ProcessCtx)>;

    /// Runs a call that does not wait; the answer is an errno.
    fn call(&mut self, body: impl FnOnce(&mut Guest<'_>, &mut ProcessCtx) -> Result<()>) -> i32;

    /// The errno of an answer, counted when a limit was met.
    fn answer(&mut self, answer: Result<()>) -> i32;
}

fn memory(caller: &mut Caller<'_, ProcessCtx>) -> Result<Memory> {
    if let Some(memory) = caller.data().memory {
        return Ok(memory);
    }
    // A start function runs before the instance is known.
    match caller.get_export("memory") {
        Some(Extern::Memory(memory)) => {
            caller.data_mut().memory = Some(memory);
            Ok(memory)
        }
        _ => Err(Errno::Fault),
    }
}

impl HostCall for Caller<'_, ProcessCtx> {
    fn parts(&mut self) -> Result<(Guest<'_>, &mut ProcessCtx)> {
        let memory = memory(self)?;
        let (bytes, ctx) = memory.data_and_store_mut(self.as_context_mut());
        Ok((Guest(bytes), ctx))
    }

    fn call(&mut self, body: impl FnOnce(&mut Guest<'_>, &mut ProcessCtx) -> Result<()>) -> i32 {
        let answer = self.parts().and_then(|(mut guest, ctx)| body(&mut guest, ctx));
        self.answer(answer)
    }

    fn answer(&mut self, answer: Result<()>) -> i32 {
        match answer {
            Ok(()) => 0,
            Err(errno) => {
                self.data().kernel.count(errno);
                errno.raw()
            }
        }
    }
}
