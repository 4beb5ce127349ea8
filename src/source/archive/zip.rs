//! Zip archives, `.skill` among them.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::ArchiveError;
use super::name::shown;
use super::unpacker::Unpacker;

/// The type bits of a Unix mode.
const TYPE: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;

pub fn unpack(mut file: File, unpacker: &mut Unpacker) -> Result<(), ArchiveError> {
    check_number(&mut file, unpacker.limits.entries)?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(refusal)?;
    if archive.len() > unpacker.limits.entries {
        return Err(ArchiveError::TooManyEntries(unpacker.limits.entries));
    }
    if archive.offset() != 0 {
        return Err(ArchiveError::Malformed("there is something before the archive".to_owned()));
    }
    // Programs that read the local headers and programs that read the directory must see one archive; entries that
    // share data are how small zips become huge.
    archive.validate_header_consistency().map_err(refusal)?;
    for index in 0..archive.len() {
        let header = archive.by_index_data(index).map_err(refusal)?;
        // Many programs write UTF-8 without saying so; what is not UTF-8 is in the format's own code page.
        let name = match std::str::from_utf8(header.name_raw()) {
            Ok(name) => name.to_owned(),
            Err(_) => header.name().map_err(refusal)?.into_owned(),
        };
        if header.encrypted() {
            return Err(ArchiveError::Encrypted(shown(name.as_bytes())));
        }
        match header.compression() {
            CompressionMethod::Stored | CompressionMethod::Deflated => {}
            other => return Err(ArchiveError::Unsupported(format!("the compression method {other}"))),
        }
        let mode = header.unix_mode().unwrap_or_default();
        let mut entry = archive.by_index(index).map_err(refusal)?;
        let is_folder = name.ends_with('/');
        match mode & TYPE {
            // Archives made elsewhere, or by libraries, have no type.
            0 => {}
            FILE if !is_folder => {}
            FOLDER if is_folder => {}
            FILE | FOLDER => return Err(ArchiveError::FileAndFolder(shown(name.as_bytes()))),
            LINK => return Err(ArchiveError::Link(shown(name.as_bytes()))),
            _ => return Err(ArchiveError::Special(shown(name.as_bytes()))),
        }
        if !is_folder {
            let size = entry.size();
            unpacker.file(name.as_bytes(), size, mode & 0o111 != 0, &mut entry)?;
        } else if entry.size() == 0 {
            unpacker.folder(name.as_bytes())?;
        } else {
            return Err(ArchiveError::Malformed(format!("the folder `{}` has content", shown(name.as_bytes()))));
        }
    }
    Ok(())
}

/// Refuses archives whose directory would fill the memory, before the library reads it: each of its entries begins with
/// a signature, so there are no more of them than signatures in the file. Archives inside the archive have some too,
/// hence the allowance.
fn check_number(file: &mut File, entries: usize) -> Result<(), ArchiveError> {
    const SIGNATURE: &[u8; 4] = b"PK\x01\x02";
    let allowed = entries.saturating_mul(4);
    let (mut found, mut kept, mut buffer) = (0, 0, vec![0; 64 << 10]);
    loop {
        let count = file.read(&mut buffer[kept..]).map_err(ArchiveError::Io)?;
        if count == 0 {
            break;
        }
        let end = kept + count;
        found += buffer[..end].windows(SIGNATURE.len()).filter(|window| window == SIGNATURE).count();
        if found > allowed {
            return Err(ArchiveError::TooManyEntries(entries));
        }
        // A signature may lie across two reads.
        let tail = end.saturating_sub(SIGNATURE.len() - 1);
        buffer.copy_within(tail..end, 0);
        kept = end - tail;
    }
    file.seek(SeekFrom::Start(0)).map(drop).map_err(ArchiveError::Io)
}

fn refusal(error: ZipError) -> ArchiveError {
    match error {
        ZipError::Io(error) => ArchiveError::reading(error),
        ZipError::UnsupportedArchive(what) => ArchiveError::Unsupported(what.to_owned()),
        other => ArchiveError::Malformed(other.to_string()),
    }
}
