//! Writes archives byte by byte, honest ones and others.

use std::io::Write;

use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};

/// A `SKILL.md` that is good enough for everything here.
pub const SKILL: &[u8] = b"---\nname: demo\ndescription: Shows.\n---\n# Demo\n";

pub fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

pub fn deflate(data: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn crc(data: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(data);
    crc.sum()
}

/// An entry of a zip; what differs between the local header and the directory is set apart.
#[derive(Clone)]
pub struct ZipEntry {
    pub name: Vec<u8>,
    /// The name in the local header.
    pub local_name: Option<Vec<u8>>,
    pub stored: Vec<u8>,
    pub method: u16,
    pub flags: u16,
    pub crc: u32,
    pub size: u32,
    /// The size in the local header.
    pub local_size: Option<u32>,
    pub mode: u32,
    /// The position of another entry's data.
    pub offset: Option<u32>,
}

impl ZipEntry {
    pub fn new(name: impl AsRef<[u8]>, data: &[u8]) -> Self {
        Self {
            name: name.as_ref().to_vec(),
            local_name: None,
            stored: deflate(data),
            method: 8,
            flags: 0x800,
            crc: crc(data),
            size: data.len() as u32,
            local_size: None,
            mode: 0o100_644,
            offset: None,
        }
    }

    pub fn folder(name: &str) -> Self {
        Self { stored: Vec::new(), method: 0, mode: 0o040_755, ..Self::new(name, b"") }
    }

    pub fn mode(self, mode: u32) -> Self {
        Self { mode, ..self }
    }

    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

pub fn zip(entries: &[ZipEntry]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let offset = entry.offset.unwrap_or(out.len() as u32);
        if entry.offset.is_none() {
            let name = entry.local_name.as_ref().unwrap_or(&entry.name);
            out.extend(b"PK\x03\x04");
            for word in [20, entry.flags, entry.method, 0, 0x21] {
                out.extend(word.to_le_bytes());
            }
            for long in [entry.crc, entry.stored.len() as u32, entry.local_size.unwrap_or(entry.size)] {
                out.extend(long.to_le_bytes());
            }
            out.extend((name.len() as u16).to_le_bytes());
            out.extend(0u16.to_le_bytes());
            out.extend(name);
            out.extend(&entry.stored);
        }
        directory.extend(b"PK\x01\x02");
        // Made on Unix, so that the upper half of the attributes is a mode.
        for word in [3 << 8 | 20, 20, entry.flags, entry.method, 0, 0x21] {
            directory.extend(word.to_le_bytes());
        }
        for long in [entry.crc, entry.stored.len() as u32, entry.size] {
            directory.extend(long.to_le_bytes());
        }
        for word in [entry.name.len() as u16, 0, 0, 0, 0] {
            directory.extend(word.to_le_bytes());
        }
        directory.extend((entry.mode << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(&entry.name);
    }
    let start = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06");
    for word in [0, 0, entries.len() as u16, entries.len() as u16] {
        out.extend(word.to_le_bytes());
    }
    for long in [directory.len() as u32, start] {
        out.extend(long.to_le_bytes());
    }
    out.extend(0u16.to_le_bytes());
    out
}

/// A zip of files.
pub fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    zip(&files.iter().map(|(name, data)| ZipEntry::new(name, data)).collect::<Vec<_>>())
}

/// One entry of a tar archive: header, content, padding.
pub fn tar_entry(name: impl AsRef<[u8]>, kind: u8, data: &[u8]) -> Vec<u8> {
    tar_raw(name.as_ref(), kind, data, format!("{:011o}\0", data.len()).as_bytes(), 0o644)
}

pub fn tar_raw(name: &[u8], kind: u8, data: &[u8], size: &[u8], mode: u32) -> Vec<u8> {
    let mut header = vec![0u8; 512];
    header[..name.len()].copy_from_slice(name);
    header[100..108].copy_from_slice(format!("{mode:07o}\0").as_bytes());
    header[124..124 + size.len()].copy_from_slice(size);
    header[136..148].copy_from_slice(b"00000000000\0");
    header[156] = kind;
    if matches!(kind, b'1' | b'2') {
        header[157..168].copy_from_slice(b"/etc/passwd");
    }
    header[257..265].copy_from_slice(b"ustar\x0000");
    seal(&mut header);
    header.extend(data);
    header.resize(header.len().div_ceil(512) * 512, 0);
    header
}

/// Sets a header's sum.
pub fn seal(header: &mut [u8]) {
    header[148..156].fill(b' ');
    let sum: u32 = header[..512].iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

/// Attributes of the next entry.
pub fn pax(pairs: &[(&str, &str)]) -> Vec<u8> {
    tar_entry("pax", b'x', pax_record(pairs).as_bytes())
}

pub fn pax_record(pairs: &[(&str, &str)]) -> String {
    let mut record = String::new();
    for (key, value) in pairs {
        let rest = format!(" {key}={value}\n");
        let mut length = rest.len();
        while format!("{length}{rest}").len() != length {
            length += 1;
        }
        record += &format!("{length}{rest}");
    }
    record
}

pub fn tar(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut out = entries.concat();
    out.resize(out.len() + 1024, 0);
    out
}

/// A tar archive of files.
pub fn tar_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    tar(&files.iter().map(|(name, data)| tar_entry(name, b'0', data)).collect::<Vec<_>>())
}
