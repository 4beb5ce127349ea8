//! Archives and compressed files.

pub mod codec;
pub mod compress;
pub mod tar;
pub mod unzip;
pub mod zip;

/// A member's name made safe: no root, no `..`. Empty when nothing is left.
fn safe_name(name: &[u8]) -> Vec<u8> {
    let parts: Vec<&[u8]> =
        name.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b"." && *part != b"..").collect();
    parts.join(&b'/')
}

/// A member's name in a zip archive; what is not UTF-8 is replaced.
fn member_name<R: std::io::Read>(file: &::zip::read::ZipFile<'_, R>) -> String {
    match file.name() {
        Ok(name) => name.into_owned(),
        Err(_) => String::from_utf8_lossy(file.name_raw()).into_owned(),
    }
}

/// The directory part of a path; empty for none.
fn parent(path: &[u8]) -> &[u8] {
    path.iter().rposition(|byte| *byte == b'/').map_or(b"", |at| &path[..at])
}
