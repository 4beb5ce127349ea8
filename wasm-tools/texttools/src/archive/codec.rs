//! Compressed streams: gzip, bzip2, xz, lzma and zstd, read and written.

use std::io::{self, BufReader, Read, Write};

/// Memory a decoder may take, in KiB: more than any preset of xz needs.
const MEMORY_LIMIT_KIB: u32 = 256 << 10;

/// A format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Format {
    Gzip,
    Bzip2,
    Xz,
    Lzma,
    Zstd,
}

impl Format {
    /// The format that a stream beginning with these bytes has.
    pub fn detect(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Format::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Format::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Format::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Format::Zstd),
            [0x5d, 0, 0, ..] => Some(Format::Lzma),
            _ => None,
        }
    }

    /// The format a file's name tells.
    pub fn by_name(name: &[u8]) -> Option<Self> {
        let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix.as_bytes()));
        if ends(&[".gz", ".tgz", ".taz", ".z"]) {
            Some(Format::Gzip)
        } else if ends(&[".bz2", ".tbz", ".tbz2", ".tz2"]) {
            Some(Format::Bzip2)
        } else if ends(&[".xz", ".txz"]) {
            Some(Format::Xz)
        } else if ends(&[".lzma", ".tlz"]) {
            Some(Format::Lzma)
        } else if ends(&[".zst", ".tzst"]) {
            Some(Format::Zstd)
        } else {
            None
        }
    }

    /// Decompresses a stream.
    ///
    /// # Errors
    /// When it does not begin as the format wants.
    pub fn reader<R: Read + 'static>(self, stream: R) -> io::Result<Box<dyn Read>> {
        let stream = BufReader::with_capacity(64 << 10, stream);
        Ok(match self {
            Format::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(stream)),
            Format::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(stream)),
            Format::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(stream, true, MEMORY_LIMIT_KIB)),
            Format::Lzma => Box::new(lzma_rust2::LzmaReader::new_mem_limit(stream, MEMORY_LIMIT_KIB, None)?),
            Format::Zstd => Box::new(ZstdReader { stream: Some(stream), decoder: None }),
        })
    }

    /// Compresses to a stream; `level` 1..=9, the format's default when `None`.
    ///
    /// # Errors
    /// When the header cannot be written.
    pub fn writer<W: Write + 'static>(self, stream: W, level: Option<u32>) -> io::Result<Box<dyn Encoder>> {
        Ok(match self {
            Format::Gzip => {
                let level = flate2::Compression::new(level.unwrap_or(6).min(9));
                Box::new(flate2::write::GzEncoder::new(stream, level))
            }
            Format::Bzip2 => {
                let level = bzip2::Compression::new(level.unwrap_or(9).clamp(1, 9));
                Box::new(bzip2::write::BzEncoder::new(stream, level))
            }
            Format::Xz => {
                let options = lzma_rust2::XzOptions::with_preset(level.unwrap_or(6).min(9));
                Box::new(lzma_rust2::XzWriter::new(stream, options)?)
            }
            Format::Lzma => {
                let options = lzma_rust2::LzmaOptions::with_preset(level.unwrap_or(6).min(9));
                Box::new(lzma_rust2::LzmaWriter::new_use_header(stream, &options, None)?)
            }
            Format::Zstd => Box::new(ZstdWriter { stream, data: Vec::new() }),
        })
    }
}

/// A compressor; nothing is complete before `finish`.
pub trait Encoder: Write {
    /// Writes what is left.
    ///
    /// # Errors
    /// As `write` has them.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

impl<W: Write> Encoder for flate2::write::GzEncoder<W> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        (*self).finish().and_then(|mut stream| stream.flush())
    }
}

impl<W: Write> Encoder for bzip2::write::BzEncoder<W> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        (*self).finish().and_then(|mut stream| stream.flush())
    }
}

impl<W: Write> Encoder for lzma_rust2::XzWriter<W> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        (*self).finish().and_then(|mut stream| stream.flush())
    }
}

impl<W: Write> Encoder for lzma_rust2::LzmaWriter<W> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        (*self).finish().and_then(|mut stream| stream.flush())
    }
}

/// Frames one after another.
struct ZstdReader<R: Read> {
    stream: Option<BufReader<R>>,
    decoder: Option<ruzstd::decoding::StreamingDecoder<BufReader<R>, ruzstd::decoding::FrameDecoder>>,
}

impl<R: Read> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(decoder) = &mut self.decoder {
                let count = decoder.read(buffer)?;
                if count > 0 {
                    return Ok(count);
                }
            }
            if let Some(decoder) = self.decoder.take() {
                self.stream = Some(decoder.into_inner());
            }
            let Some(mut stream) = self.stream.take() else { return Ok(0) };
            if io::BufRead::fill_buf(&mut stream)?.is_empty() {
                return Ok(0);
            }
            let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, format!("{error}"));
            self.decoder = Some(ruzstd::decoding::StreamingDecoder::new(stream).map_err(invalid)?);
        }
    }
}

/// The encoder works on the whole text.
struct ZstdWriter<W: Write> {
    stream: W,
    data: Vec<u8>,
}

impl<W: Write> Write for ZstdWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.data.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Encoder for ZstdWriter<W> {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        let frame = ruzstd::encoding::compress_to_vec(self.data.as_slice(), level);
        self.stream.write_all(&frame)?;
        self.stream.flush()
    }
}
