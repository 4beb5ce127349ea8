//! Numbers and layouts of the preview's witx file.

use crate::sandbox::errno::Result;
use crate::sandbox::guest::Guest;
use crate::sandbox::kernel::{Kind, OpenFile};
use crate::sandbox::vfs::{FileType, Metadata};

/// `rights`: FD_READ.
pub const RIGHT_READ: u64 = 1 << 1;
/// `rights`: FD_SEEK.
pub const RIGHT_SEEK: u64 = 1 << 2;
/// `rights`: FD_TELL.
pub const RIGHT_TELL: u64 = 1 << 5;
/// `rights`: FD_WRITE.
pub const RIGHT_WRITE: u64 = 1 << 6;
/// All 30 rights.
pub const RIGHTS_ALL: u64 = (1 << 30) - 1;

/// `fdflags`: APPEND.
pub const FLAG_APPEND: u16 = 1;
/// `fdflags`: NONBLOCK.
pub const FLAG_NONBLOCK: u16 = 4;

/// `oflags`: CREAT.
pub const O_CREAT: u16 = 1;
/// `oflags`: DIRECTORY.
pub const O_DIRECTORY: u16 = 2;
/// `oflags`: EXCL.
pub const O_EXCL: u16 = 4;
/// `oflags`: TRUNC.
pub const O_TRUNC: u16 = 8;

/// `lookupflags`: SYMLINK_FOLLOW.
pub const LOOKUP_FOLLOW: u32 = 1;

/// `fstflags`: set the time of access.
pub const SET_ATIM: u16 = 1;
/// `fstflags`: to the present.
pub const SET_ATIM_NOW: u16 = 2;
/// `fstflags`: set the time of change.
pub const SET_MTIM: u16 = 4;
/// `fstflags`: to the present.
pub const SET_MTIM_NOW: u16 = 8;

/// `filetype` of a type. A pipe is said to be a stream socket: there is nothing nearer.
pub fn file_type(kind: FileType) -> u8 {
    match kind {
        FileType::CharDevice => 2,
        FileType::Directory => 3,
        FileType::Regular => 4,
        FileType::Fifo => 6,
        FileType::Symlink => 7,
    }
}

/// `rights` of a description. wasi-libc takes a character device that can neither seek nor tell for a terminal, so
/// devices have these rights. The second number is what opened files may inherit: all.
pub fn rights(file: &OpenFile) -> u64 {
    let mut rights = RIGHTS_ALL & !(RIGHT_READ | RIGHT_WRITE | RIGHT_SEEK | RIGHT_TELL);
    if file.readable() {
        rights |= RIGHT_READ;
    }
    if file.writable() {
        rights |= RIGHT_WRITE;
    }
    if matches!(file.kind(), Kind::File(_) | Kind::Device(_) | Kind::Directory(_)) {
        rights |= RIGHT_SEEK | RIGHT_TELL;
    }
    rights
}

/// Writes a `filestat`.
pub fn write_filestat(guest: &mut Guest<'_>, address: u32, metadata: &Metadata) -> Result<()> {
    let mut bytes = [0; 64];
    bytes[0..8].copy_from_slice(&metadata.device.to_le_bytes());
    bytes[8..16].copy_from_slice(&metadata.inode.to_le_bytes());
    bytes[16] = file_type(metadata.file_type);
    bytes[24..32].copy_from_slice(&u64::from(metadata.links).to_le_bytes());
    bytes[32..40].copy_from_slice(&metadata.size.to_le_bytes());
    // Times before 1970 cannot be said.
    let time = |nanoseconds: i64| u64::try_from(nanoseconds).unwrap_or(0).to_le_bytes();
    bytes[40..48].copy_from_slice(&time(metadata.accessed));
    bytes[48..56].copy_from_slice(&time(metadata.modified));
    bytes[56..64].copy_from_slice(&time(metadata.changed));
    guest.write(address, &bytes)
}
