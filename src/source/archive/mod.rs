//! Archives: which kind a file is, the rules for all kinds, and one reader a kind.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::limits::Limits;

mod gzip;
mod kind;
mod name;
mod pack;
mod tar;
mod unique;
mod unpacker;
mod zip;

pub use pack::{Packed, pack};

#[cfg(feature = "fetch")]
pub(super) use gzip::decoded;
pub(super) use kind::Kind;
pub(super) use name::FileName;
use unpacker::Unpacker;

/// Why an archive is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// Neither the name nor the first bytes tell a kind that is read.
    #[error("neither a zip, tar or tar.gz archive nor a SKILL.md: it begins with {0}")]
    UnknownKind(String),
    /// There is no file in it.
    #[error("the archive is empty")]
    Empty,
    /// It ends in the middle.
    #[error("the archive ends too early; it is damaged or was not downloaded whole")]
    Truncated,
    /// It does not follow its format, or its parts contradict each other.
    #[error("the archive is damaged or made to confuse: {0}")]
    Malformed(String),
    /// It uses something that is not read.
    #[error("the archive uses {0}, which is not supported; pack it again as a plain zip or tar.gz")]
    Unsupported(String),
    /// An entry is encrypted.
    #[error("`{0}` is encrypted; unpack it yourself and give the folder")]
    Encrypted(String),
    /// An entry's name leads out of the archive or is none on some platform.
    #[error("the name `{name}` is refused: {reason}")]
    Name {
        /// The name, with what cannot be printed escaped.
        name: String,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// An entry is a symbolic or hard link.
    #[error("`{0}` is a link; archives may hold only files and folders")]
    Link(String),
    /// An entry is a device, a pipe or of an unknown type.
    #[error("`{0}` is a device or another special file; archives may hold only files and folders")]
    Special(String),
    /// Two entries have one name, or names that are one on some platform.
    #[error("`{second}` is the same file as `{first}` where upper and lower case or Unicode forms do not differ")]
    Duplicate {
        /// The entry that came first.
        first: String,
        /// The other.
        second: String,
    },
    /// A name is used for a file and for a folder.
    #[error("`{0}` is a file and a folder")]
    FileAndFolder(String),
    /// An entry's data is longer or shorter than declared.
    #[error("`{name}` has another size than the {declared} bytes it declares")]
    Size {
        /// The entry.
        name: String,
        /// What it declares, in bytes.
        declared: u64,
    },
    /// One file is larger than [`Limits::file`].
    #[error("`{name}` is larger than {limit} bytes")]
    FileTooLarge {
        /// The entry.
        name: String,
        /// The limit, in bytes.
        limit: u64,
    },
    /// All files together are larger than [`Limits::total`].
    #[error("unpacked, it is larger than {0} bytes")]
    TotalTooLarge(u64),
    /// There are more entries than [`Limits::entries`].
    #[error("it has more than {0} entries")]
    TooManyEntries(usize),
    /// It unpacks to more than [`Limits::ratio`] times its size.
    #[error("it unpacks to more than {0} times its size, as only a decompression bomb does")]
    Bomb(u64),
    /// Reading the archive or writing its files failed.
    #[error("cannot unpack: {0}")]
    Io(#[source] io::Error),
}

impl ArchiveError {
    /// The refusal that a reader below passed up as an I/O error, or what the I/O error says about the archive.
    pub(in crate::source) fn reading(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(refusal) => refusal,
            Err(error) => match error.kind() {
                io::ErrorKind::UnexpectedEof => Self::Truncated,
                io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => Self::Malformed(error.to_string()),
                _ => Self::Io(error),
            },
        }
    }
}

/// Unpacks the archive `file` into the folder `target`, which is made and must not exist. `name` is the name the
/// archive came under: its extension tells the kind, and without a known one the first bytes do. A bare `SKILL.md`
/// becomes the folder's only file.
///
/// On failure the folder may hold a part; callers give a temporary one and remove it.
///
/// # Errors
///
/// Whatever [`ArchiveError`] names.
pub fn unpack(file: &Path, name: &str, target: &Path, limits: &Limits) -> Result<(), ArchiveError> {
    let mut file = File::open(file).map_err(ArchiveError::Io)?;
    let packed = file.metadata().map_err(ArchiveError::Io)?.len();
    let mut head = Vec::with_capacity(kind::HEAD);
    (&mut file).take(kind::HEAD as u64).read_to_end(&mut head).map_err(ArchiveError::Io)?;
    file.seek(SeekFrom::Start(0)).map_err(ArchiveError::Io)?;
    let kind = Kind::of(name, &head)?;
    let mut unpacker = Unpacker::new(target, packed, limits)?;
    match kind {
        Kind::Zip => zip::unpack(file, &mut unpacker)?,
        Kind::Tar => tar::unpack(io::BufReader::new(file), &mut unpacker)?,
        Kind::TarGz => tar::unpack(gzip::bounded(file, packed, limits), &mut unpacker)?,
        Kind::SkillFile => unpacker.file(b"SKILL.md", packed, false, &mut file)?,
    }
    unpacker.finish()
}
