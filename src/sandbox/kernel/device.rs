//! The devices below `/dev`.

use crate::sandbox::errno::{Errno, Result};

/// A character device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// Takes all, gives nothing.
    Null,
    /// Takes all, gives zeros.
    Zero,
    /// Takes nothing (`NoSpace`), gives zeros.
    Full,
    /// Takes all, gives random bytes.
    Random,
}

/// Name, number as Linux makes it, and kind of each.
pub const DEVICES: &[(&str, u64, Device)] = &[
    ("null", 0x103, Device::Null),
    ("zero", 0x105, Device::Zero),
    ("full", 0x107, Device::Full),
    ("random", 0x108, Device::Random),
    ("urandom", 0x109, Device::Random),
];

impl Device {
    /// The device with this number; `NoDeviceOrAddress` for an unknown one.
    pub fn from_id(id: u64) -> Result<Self> {
        let found = DEVICES.iter().find(|&&(_, number, _)| number == id);
        found.map(|&(_, _, device)| device).ok_or(Errno::NoDeviceOrAddress)
    }

    /// Its number.
    pub fn id(self) -> u64 {
        DEVICES.iter().find(|&&(_, _, device)| device == self).map_or(0, |&(_, number, _)| number)
    }

    /// Writes.
    pub fn write(self, data: &[u8]) -> Result<usize> {
        match self {
            Self::Full if !data.is_empty() => Err(Errno::NoSpace),
            _ => Ok(data.len()),
        }
    }
}
