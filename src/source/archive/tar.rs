//! Tar archives, as POSIX (`ustar`, `pax`), GNU and the oldest programs write them.
//!
//! Decision: a reader of our own, though there is a crate. The format is a chain of 512-byte blocks. Most of what the
//! crate does (links, sparse files, owners, times) is refused here, and it would keep names of any length in memory and
//! take an archive without its end for whole.

use std::io::{self, Read};

use super::ArchiveError;
use super::name::shown;
use super::unpacker::Unpacker;

/// Everything comes in blocks of this size.
const BLOCK: usize = 512;
/// The longest name record or set of attributes that is read. Names end at 1,024 bytes; attributes may hold access
/// control lists and the like, which are read over.
const LONGEST_RECORD: u64 = 1 << 20;

pub fn unpack(mut reader: impl Read, unpacker: &mut Unpacker) -> Result<(), ArchiveError> {
    // What the entries before a file say about it.
    let mut long_name: Option<Vec<u8>> = None;
    let mut attributes = Attributes::default();
    let mut blocks = 0u64;
    loop {
        let mut block = [0; BLOCK];
        if !fill(&mut reader, &mut block)? {
            // Whole archives end with a block of zeros.
            return Err(ArchiveError::Truncated);
        }
        blocks += 1;
        if block == [0; BLOCK] {
            break;
        }
        let header = Header(&block);
        header.check(blocks == 1)?;
        let size = header.size()?;
        match header.kind() {
            b'L' | b'x' | b'g' | b'K' => unpacker.count()?,
            _ => {}
        }
        match header.kind() {
            b'L' => {
                let mut name = record(&mut reader, size)?;
                name.truncate(name.iter().position(|byte| *byte == 0).unwrap_or(name.len()));
                if long_name.replace(name).is_some() {
                    return Err(malformed("two long names for one entry"));
                }
            }
            b'K' => return Err(ArchiveError::Link("a link with a long target".to_owned())),
            b'x' => attributes.add(&record(&mut reader, size)?)?,
            b'g' => {
                // `git archive` puts the commit there. What would rename every file is refused.
                let mut all = Attributes::default();
                all.add(&record(&mut reader, size)?)?;
                if all.path.is_some() || all.size.is_some() {
                    return Err(malformed("attributes for all entries that rename or resize them"));
                }
            }
            kind => {
                let attributes = std::mem::take(&mut attributes);
                let name = match (attributes.path, long_name.take()) {
                    (Some(_), Some(_)) => return Err(malformed("two long names for one entry")),
                    (Some(name), None) | (None, Some(name)) => name,
                    (None, None) => header.name(),
                };
                if attributes.size.is_some_and(|other| other != size) {
                    return Err(ArchiveError::Size { name: shown(&name), declared: size });
                }
                match kind {
                    b'0' | 0 if !name.ends_with(b"/") => {
                        let mut content = (&mut reader).take(size);
                        unpacker.file(&name, size, header.is_executable(), &mut content)?;
                        skip_padding(&mut reader, size)?;
                    }
                    // Before there was a type for folders, the slash told.
                    b'5' | 0 if size == 0 => unpacker.folder(&name)?,
                    b'0' => return Err(ArchiveError::FileAndFolder(shown(&name))),
                    b'1' | b'2' => return Err(ArchiveError::Link(shown(&name))),
                    b'5' | 0 => return Err(malformed("a folder with content")),
                    b'S' => return Err(ArchiveError::Unsupported("sparse files".to_owned())),
                    _ => return Err(ArchiveError::Special(shown(&name))),
                }
            }
        }
    }
    if long_name.is_some() || attributes != Attributes::default() {
        return Err(malformed("a long name without its entry"));
    }
    check_end(reader)
}

/// What follows the end must be more zeros: some programs would read on. Reading it also checks gzip's own sum.
fn check_end(mut reader: impl Read) -> Result<(), ArchiveError> {
    let mut block = [0; BLOCK];
    loop {
        match reader.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(count) if block[..count].iter().all(|byte| *byte == 0) => {}
            Ok(_) => return Err(malformed("data after its end")),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ArchiveError::reading(error)),
        }
    }
}

/// Fills `block`, or answers false when there is nothing at all.
fn fill(reader: &mut impl Read, block: &mut [u8]) -> Result<bool, ArchiveError> {
    let mut filled = 0;
    while filled < block.len() {
        match reader.read(&mut block[filled..]) {
            Ok(0) if filled == 0 => return Ok(false),
            Ok(0) => return Err(ArchiveError::Truncated),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ArchiveError::reading(error)),
        }
    }
    Ok(true)
}

/// Reads the content of an entry that describes another.
fn record(reader: &mut impl Read, size: u64) -> Result<Vec<u8>, ArchiveError> {
    if size > LONGEST_RECORD {
        return Err(malformed("a name or attributes of more than 1 MiB"));
    }
    let mut content = Vec::new();
    reader.by_ref().take(size).read_to_end(&mut content).map_err(ArchiveError::reading)?;
    if content.len() as u64 != size {
        return Err(ArchiveError::Truncated);
    }
    skip_padding(reader, size)?;
    Ok(content)
}

fn skip_padding(reader: &mut impl Read, size: u64) -> Result<(), ArchiveError> {
    let rest = (size % BLOCK as u64) as usize;
    if rest != 0 {
        let mut padding = [0; BLOCK];
        if !fill(reader, &mut padding[rest..])? {
            return Err(ArchiveError::Truncated);
        }
    }
    Ok(())
}

fn malformed(reason: &str) -> ArchiveError {
    ArchiveError::Malformed(reason.to_owned())
}

/// One header block.
struct Header<'a>(&'a [u8; BLOCK]);

impl Header<'_> {
    /// The text of a field, which ends at a NUL or fills the field.
    fn text(&self, from: usize, to: usize) -> &[u8] {
        let field = &self.0[from..to];
        &field[..field.iter().position(|byte| *byte == 0).unwrap_or(field.len())]
    }

    fn kind(&self) -> u8 {
        self.0[156]
    }

    fn is_executable(&self) -> bool {
        number(&self.0[100..108]).is_some_and(|mode| mode & 0o111 != 0)
    }

    fn size(&self) -> Result<u64, ArchiveError> {
        number(&self.0[124..136]).ok_or_else(|| malformed("a size that is no number"))
    }

    fn name(&self) -> Vec<u8> {
        let name = self.text(0, 100);
        // GNU's own header has the magic `ustar  ` and something else where POSIX has the prefix.
        let prefix = if &self.0[257..263] == b"ustar\0" { self.text(345, 500) } else { &[] };
        if prefix.is_empty() { name.to_owned() } else { [prefix, b"/", name].concat() }
    }

    /// Whether the header's sum fits; the blocks of something else than a tar archive have none.
    fn check(&self, is_first: bool) -> Result<(), ArchiveError> {
        let sum: u64 = self.0[..148].iter().chain(&self.0[156..]).map(|byte| u64::from(*byte)).sum();
        // The sum's own field counts as blanks.
        if number(&self.0[148..156]) == Some(sum + 8 * u64::from(b' ')) {
            Ok(())
        } else if is_first {
            Err(malformed("it is no tar archive"))
        } else {
            Err(malformed("a header whose sum does not fit"))
        }
    }
}

/// A number in octal digits between blanks or NULs; or, with the first bit set, in GNU's binary form.
fn number(field: &[u8]) -> Option<u64> {
    let first = *field.first()?;
    if first & 0x80 != 0 {
        // The sign is the next bit; no number here is negative or that large.
        let mut value = u64::from(first & 0x7f);
        for byte in &field[1..] {
            value = value.checked_mul(256)?.checked_add(u64::from(*byte))?;
        }
        return i64::try_from(value).ok().map(i64::cast_unsigned);
    }
    let is_blank = |byte: &u8| matches!(byte, b' ' | 0);
    let begin = field.iter().position(|byte| *byte != b' ').unwrap_or(field.len());
    let digits = &field[begin..];
    let end = digits.iter().position(is_blank).unwrap_or(digits.len());
    if !digits[end..].iter().all(is_blank) {
        return None;
    }
    digits[..end].iter().try_fold(0u64, |value, digit| match digit {
        b'0'..=b'7' => value.checked_mul(8)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

/// What a `pax` record says, as far as it matters here.
#[derive(Default, PartialEq, Eq)]
struct Attributes {
    path: Option<Vec<u8>>,
    size: Option<u64>,
}

impl Attributes {
    /// Reads lines of `length key=value`.
    fn add(&mut self, mut record: &[u8]) -> Result<(), ArchiveError> {
        let wrong = || malformed("attributes that cannot be read");
        while !record.is_empty() {
            let blank = record.iter().position(|byte| *byte == b' ').ok_or_else(wrong)?;
            let length = std::str::from_utf8(&record[..blank]).ok().and_then(|text| text.parse::<usize>().ok());
            let length = length.filter(|length| *length > blank + 1 && *length <= record.len()).ok_or_else(wrong)?;
            let line = record[blank + 1..length].strip_suffix(b"\n").ok_or_else(wrong)?;
            record = &record[length..];
            let equals = line.iter().position(|byte| *byte == b'=').ok_or_else(wrong)?;
            let (key, value) = (&line[..equals], &line[equals + 1..]);
            match key {
                b"path" if self.path.is_some() => return Err(wrong()),
                b"path" => self.path = Some(value.to_owned()),
                b"size" => {
                    let size = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                    self.size = Some(size.ok_or_else(wrong)?);
                }
                _ if key.starts_with(b"GNU.sparse.") => {
                    return Err(ArchiveError::Unsupported("sparse files".to_owned()));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers() {
        let rows: [(&[u8], Option<u64>); 10] = [
            (b"0000644\0", Some(0o644)),
            (b"   644 \0", Some(0o644)),
            (b"77777777", Some(0o77_777_777)),
            (b"\0\0\0\0", Some(0)),
            (b"", None),
            (b"12 34\0", None),
            (b"8\0", None),
            (b"-1\0", None),
            (b"\x80\0\0\x01\0", Some(256)),
            (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", None),
        ];
        for (field, wanted) in rows {
            assert_eq!(number(field), wanted, "{}", field.escape_ascii());
        }
    }
}
