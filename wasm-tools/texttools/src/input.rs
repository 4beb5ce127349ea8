//! Input files and records.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use crate::platform;

/// One read from the kernel.
const BUFFER: usize = 64 << 10;

/// Opens a file, or standard input for `-`.
///
/// # Errors
/// As `open` has them; a directory is `IsADirectory`.
pub fn open(name: &[u8]) -> io::Result<Box<dyn Read>> {
    if name == b"-" { Ok(Box::new(io::stdin())) } else { open_file(name).map(|file| Box::new(file) as Box<dyn Read>) }
}

/// Opens a file that is not a directory.
///
/// # Errors
/// As `open` has them; a directory is `IsADirectory`.
pub fn open_file(name: &[u8]) -> io::Result<File> {
    let file = File::open(platform::path(name))?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(file)
}

/// The whole of a file, or of standard input for `-`.
///
/// # Errors
/// As `open` and `read` have them.
pub fn read(name: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(name)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads records that end with a delimiter.
pub struct Records {
    reader: BufReader<Box<dyn Read>>,
}

impl Records {
    /// Records of a stream.
    pub fn new(stream: Box<dyn Read>) -> Self {
        Self { reader: BufReader::with_capacity(BUFFER, stream) }
    }

    /// Reads the next record into `record`, without the delimiter. `None` at the end; else whether the delimiter was
    /// there.
    ///
    /// # Errors
    /// As `read` has them.
    pub fn next(&mut self, delimiter: u8, record: &mut Vec<u8>) -> io::Result<Option<bool>> {
        record.clear();
        if self.reader.read_until(delimiter, record)? == 0 {
            return Ok(None);
        }
        let ended = record.last() == Some(&delimiter);
        if ended {
            record.pop();
        }
        Ok(Some(ended))
    }

    /// Whether nothing is left.
    ///
    /// # Errors
    /// As `read` has them.
    pub fn at_end(&mut self) -> io::Result<bool> {
        Ok(self.reader.fill_buf()?.is_empty())
    }
}
