//! A conversation in a file.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::secret::Secret;

/// Writes a conversation as JSON Lines: each message on a line, as soon as it is final, without the secret.
///
/// On Unix a new file can be read by its owner alone. A file that exists is continued.
#[derive(Debug)]
pub struct Transcript {
    path: PathBuf,
    file: File,
    secret: Secret,
}

impl Transcript {
    /// Opens a file, or makes it.
    ///
    /// # Errors
    ///
    /// Those of the file.
    pub fn open(path: impl Into<PathBuf>, secret: Secret) -> io::Result<Self> {
        let path = path.into();
        let mut options = OpenOptions::new();
        options.create(true).append(true).read(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        end_torn_line(&mut file)?;
        Ok(Self { path, file, secret })
    }

    /// The messages of a file, for [`AgentBuilder::messages`](super::AgentBuilder::messages). Lines that were cut off
    /// when the program was killed are left out.
    ///
    /// # Errors
    ///
    /// Those of the file; [`InvalidData`](io::ErrorKind::InvalidData) names a line that is no JSON object.
    pub fn read(path: &Path) -> io::Result<Vec<Value>> {
        let mut reader = BufReader::new(File::open(path)?);
        let mut messages = Vec::new();
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            if reader.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let text = line.trim_ascii();
            match serde_json::from_slice::<Value>(text) {
                Ok(message) if message.is_object() => messages.push(message),
                // A line that was cut off ends too early.
                Err(error) if error.is_eof() => {}
                _ => {
                    let text = format!("{}:{number}: this is no message", path.display());
                    return Err(io::Error::new(io::ErrorKind::InvalidData, text));
                }
            }
        }
        Ok(messages)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a message.
    pub(super) fn write(&mut self, message: &Value) -> io::Result<()> {
        let mut message = message.clone();
        self.secret.redact_value(&mut message);
        let mut line = message.to_string();
        line.push('\n');
        // In one call, so that a line is there or not.
        self.file.write_all(line.as_bytes())
    }
}

/// What a killed program left of a line would spoil the next one.
fn end_torn_line(file: &mut File) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(());
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}
