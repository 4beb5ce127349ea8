//! `dd`. uutils' writes nothing on WASI: it opens its files by names of Linux's `/dev`.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsRawFd;
use std::os::wasi::ffi::{OsStrExt, OsStringExt};
use std::time::Instant;

use wskill_sys::{fd, fs};

use super::text::{multiplier, quote};

/// The largest block: it is one buffer.
const MAX_BLOCK: u64 = 256 << 20;

#[derive(Default)]
struct Conv {
    ucase: bool,
    lcase: bool,
    swab: bool,
    sync: bool,
    notrunc: bool,
    noerror: bool,
    nocreat: bool,
    excl: bool,
    fsync: bool,
}

#[derive(Default)]
struct Flags {
    fullblock: bool,
    count_bytes: bool,
    skip_bytes: bool,
    seek_bytes: bool,
    append: bool,
}

struct Dd {
    input: Option<OsString>,
    output: Option<OsString>,
    ibs: u64,
    obs: u64,
    /// `bs=`: each read is written as it came.
    as_read: bool,
    count: Option<u64>,
    skip: u64,
    seek: u64,
    conv: Conv,
    flags: Flags,
    quiet: bool,
    no_speed: bool,
}

#[derive(Default)]
struct Totals {
    in_full: u64,
    in_partial: u64,
    out_full: u64,
    out_partial: u64,
    bytes: u64,
}

/// "4", "2k", "1MB", "3x512", "8B": the number, and whether it counts bytes.
fn number(text: &str) -> Option<(u64, bool)> {
    let mut product = 1u64;
    let mut bytes = false;
    for factor in text.split('x') {
        let digits = factor.len() - factor.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (value, suffix) = factor.split_at(digits);
        let unit = match suffix {
            "c" => 1,
            "w" => 2,
            "b" => 512,
            "B" => {
                bytes = true;
                1
            }
            "M" | "K" | "k" | "G" | "T" | "P" | "E" | "" => multiplier(suffix)?,
            other => {
                bytes = other.ends_with('B');
                multiplier(other)?
            }
        };
        product = product.checked_mul(value.parse::<u64>().ok()?.checked_mul(unit)?)?;
    }
    Some((product, bytes))
}

/// `dd`.
pub fn dd(_: &str, args: Vec<OsString>) -> i32 {
    let mut job = Dd {
        input: None,
        output: None,
        ibs: 512,
        obs: 512,
        as_read: false,
        count: None,
        skip: 0,
        seek: 0,
        conv: Conv::default(),
        flags: Flags::default(),
        quiet: false,
        no_speed: false,
    };
    if let Err(message) = job.operands(args) {
        eprintln!("dd: {message}");
        eprintln!("Try 'dd --help' for more information.");
        return 1;
    }
    match job.run() {
        Ok(ok) => i32::from(!ok),
        Err(message) => {
            eprintln!("dd: {message}");
            1
        }
    }
}

impl Dd {
    fn operands(&mut self, args: Vec<OsString>) -> Result<(), String> {
        for arg in args {
            let bytes = arg.as_bytes();
            let Some(at) = bytes.iter().position(|&b| b == b'=') else {
                return Err(format!("unrecognized operand {}", quote(&arg)));
            };
            let value = OsString::from_vec(bytes[at + 1..].to_vec());
            let text = value.to_string_lossy().into_owned();
            let size = || number(&text).ok_or_else(|| format!("invalid number: {}", quote(&value)));
            let block = || match size()?.0 {
                0 => Err(format!("invalid number: {}", quote(&value))),
                n if n > MAX_BLOCK => Err(format!("memory exhausted by input buffer of size {n} bytes")),
                n => Ok(n),
            };
            match &bytes[..at] {
                b"if" => self.input = Some(value),
                b"of" => self.output = Some(value),
                b"bs" => (self.ibs, self.obs, self.as_read) = (block()?, block()?, true),
                b"ibs" => self.ibs = block()?,
                b"obs" => self.obs = block()?,
                b"cbs" => {}
                b"count" => {
                    let (n, in_bytes) = size()?;
                    self.count = Some(n);
                    self.flags.count_bytes |= in_bytes;
                }
                b"skip" | b"iseek" => {
                    let (n, in_bytes) = size()?;
                    self.skip = n;
                    self.flags.skip_bytes |= in_bytes;
                }
                b"seek" | b"oseek" => {
                    let (n, in_bytes) = size()?;
                    self.seek = n;
                    self.flags.seek_bytes |= in_bytes;
                }
                b"status" => match text.as_str() {
                    "none" => self.quiet = true,
                    "noxfer" => self.no_speed = true,
                    "progress" => {}
                    _ => return Err(format!("invalid status level: {}", quote(&value))),
                },
                b"conv" => self.conversions(&text)?,
                b"iflag" | b"oflag" => self.flags(&text)?,
                _ => return Err(format!("unrecognized operand {}", quote(&arg))),
            }
        }
        Ok(())
    }

    fn conversions(&mut self, list: &str) -> Result<(), String> {
        for word in list.split(',') {
            let conv = &mut self.conv;
            match word {
                "ucase" => conv.ucase = true,
                "lcase" => conv.lcase = true,
                "swab" => conv.swab = true,
                "sync" => conv.sync = true,
                "notrunc" => conv.notrunc = true,
                "noerror" => conv.noerror = true,
                "nocreat" => conv.nocreat = true,
                "excl" => conv.excl = true,
                "fsync" | "fdatasync" => conv.fsync = true,
                // A sparse file's holes read as the zeros they stand for.
                "sparse" => {}
                _ => return Err(format!("invalid conversion: '{word}'")),
            }
        }
        Ok(())
    }

    fn flags(&mut self, list: &str) -> Result<(), String> {
        for word in list.split(',') {
            let flags = &mut self.flags;
            match word {
                "fullblock" => flags.fullblock = true,
                "count_bytes" => flags.count_bytes = true,
                "skip_bytes" => flags.skip_bytes = true,
                "seek_bytes" => flags.seek_bytes = true,
                "append" => flags.append = true,
                "direct" | "directory" | "dsync" | "sync" | "nonblock" | "noatime" | "nocache" | "noctty"
                | "nofollow" | "binary" | "text" => {}
                _ => return Err(format!("invalid input flag: '{word}'")),
            }
        }
        Ok(())
    }

    fn run(&self) -> Result<bool, String> {
        let started = Instant::now();
        let opened_in = match &self.input {
            Some(name) => {
                Some(fs::open(name, fs::O_RDONLY, 0).map_err(|e| format!("failed to open {}: {e}", quote(name)))?)
            }
            None => None,
        };
        let opened_out = match &self.output {
            Some(name) => {
                let mut how = fs::O_WRONLY;
                how |= if self.conv.nocreat { 0 } else { fs::O_CREAT };
                how |= if self.conv.excl { fs::O_EXCL } else { 0 };
                how |= if self.flags.append { fs::O_APPEND } else { 0 };
                // With seek= what lies before stays; the rest goes.
                how |= if self.conv.notrunc || self.seek > 0 || self.flags.append { 0 } else { fs::O_TRUNC };
                Some(fs::open(name, how, 0o666).map_err(|e| format!("failed to open {}: {e}", quote(name)))?)
            }
            None => None,
        };
        let from = opened_in.as_ref().map_or(0, AsRawFd::as_raw_fd);
        let to = opened_out.as_ref().map_or(1, AsRawFd::as_raw_fd);
        let offset = if self.flags.seek_bytes { self.seek } else { self.seek.saturating_mul(self.obs) };
        if offset > 0 {
            self.seek_output(to, offset)?;
        }
        let skip = if self.flags.skip_bytes { self.skip } else { self.skip.saturating_mul(self.ibs) };
        self.skip_input(from, skip)?;
        let mut totals = Totals::default();
        let mut ok = self.copy(from, to, &mut totals)?;
        if self.conv.fsync
            && let Ok(copy) = fd::dup(to, 4, fd::CLOEXEC)
        {
            ok &= std::fs::File::from(copy).sync_all().is_ok();
        }
        if !self.quiet {
            self.report(&totals, started.elapsed().as_secs_f64());
        }
        Ok(ok)
    }

    fn seek_output(&self, to: i32, offset: u64) -> Result<(), String> {
        let fail = |e: &io::Error| {
            let name = self.output.clone().unwrap_or_else(|| "standard output".into());
            format!("{}: cannot seek: {}", quote(&name), wskill_sys::message(e))
        };
        let copy = fd::dup(to, 4, fd::CLOEXEC).map_err(|e| fail(&e.into()))?;
        let mut file = std::fs::File::from(copy);
        if !self.conv.notrunc && self.output.is_some() {
            file.set_len(offset).map_err(|e| fail(&e))?;
        }
        io::Seek::seek(&mut file, io::SeekFrom::Start(offset)).map(drop).map_err(|e| fail(&e))
    }

    fn skip_input(&self, from: i32, mut skip: u64) -> Result<(), String> {
        if skip == 0 {
            return Ok(());
        }
        if fs::fstat(from).is_ok_and(|st| st.is_file())
            && let Ok(copy) = fd::dup(from, 4, fd::CLOEXEC)
        {
            let by = i64::try_from(skip).unwrap_or(i64::MAX);
            if io::Seek::seek(&mut std::fs::File::from(copy), io::SeekFrom::Current(by)).is_ok() {
                return Ok(());
            }
        }
        let mut buf = vec![0u8; skip.min(65536) as usize];
        while skip > 0 {
            let want = skip.min(65536) as usize;
            match fd::read(from, &mut buf[..want]) {
                Ok(0) => return Ok(()),
                Ok(n) => skip -= n as u64,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(format!("error reading: {}", wskill_sys::message(&e))),
            }
        }
        Ok(())
    }

    /// Reads until the block is full (`fullblock`) or something has come.
    fn read_block(&self, from: i32, buf: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buf.len() {
            match fd::read(from, &mut buf[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            }
            if !self.flags.fullblock {
                break;
            }
        }
        Ok(filled)
    }

    fn copy(&self, from: i32, to: i32, totals: &mut Totals) -> Result<bool, String> {
        let mut block = vec![0u8; self.ibs as usize];
        let mut pending: Vec<u8> = Vec::new();
        let mut left = match self.count {
            Some(n) if self.flags.count_bytes => n,
            Some(n) => n.saturating_mul(self.ibs),
            None => u64::MAX,
        };
        let mut blocks = if self.flags.count_bytes { u64::MAX } else { self.count.unwrap_or(u64::MAX) };
        let mut ok = true;
        while left > 0 && blocks > 0 {
            let want = left.min(self.ibs) as usize;
            let n = match self.read_block(from, &mut block[..want]) {
                Ok(0) => break,
                Ok(n) => n,
                Err(e) => {
                    let name = self.input.clone().unwrap_or_else(|| "standard input".into());
                    eprintln!("dd: error reading {}: {}", quote(&name), wskill_sys::message(&e));
                    ok = false;
                    break;
                }
            };
            left -= n as u64;
            blocks -= 1;
            if n as u64 == self.ibs {
                totals.in_full += 1
            } else {
                totals.in_partial += 1
            }
            let mut data = &mut block[..n];
            if self.conv.sync && n < self.ibs as usize {
                block[n..].fill(0);
                data = &mut block[..];
            }
            self.convert(data);
            if self.as_read {
                self.write(to, data, totals)?;
            } else {
                pending.extend_from_slice(data);
                let whole = pending.len() / self.obs as usize * self.obs as usize;
                for piece in pending[..whole].chunks(self.obs as usize) {
                    self.write(to, piece, totals)?;
                }
                pending.drain(..whole);
            }
        }
        if !pending.is_empty() {
            self.write(to, &pending, totals)?;
        }
        Ok(ok)
    }

    fn convert(&self, data: &mut [u8]) {
        if self.conv.swab {
            data.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        }
        if self.conv.ucase {
            data.make_ascii_uppercase();
        }
        if self.conv.lcase {
            data.make_ascii_lowercase();
        }
    }

    fn write(&self, to: i32, data: &[u8], totals: &mut Totals) -> Result<(), String> {
        fd::write_all(to, data).map_err(|e| {
            let name = self.output.clone().unwrap_or_else(|| "standard output".into());
            format!("error writing {}: {}", quote(&name), wskill_sys::message(&e))
        })?;
        totals.bytes += data.len() as u64;
        if data.len() as u64 == self.obs {
            totals.out_full += 1
        } else {
            totals.out_partial += 1
        }
        Ok(())
    }

    fn report(&self, totals: &Totals, seconds: f64) {
        eprintln!("{}+{} records in", totals.in_full, totals.in_partial);
        eprintln!("{}+{} records out", totals.out_full, totals.out_partial);
        if self.no_speed {
            return;
        }
        let bytes = totals.bytes;
        let sizes = match bytes {
            0..1000 => String::new(),
            1000..1024 => format!(" ({})", scaled(bytes as f64, 1000.0, "B")),
            _ => format!(" ({}, {})", scaled(bytes as f64, 1000.0, "B"), scaled(bytes as f64, 1024.0, "iB")),
        };
        let unit = if bytes == 1 { "byte" } else { "bytes" };
        let speed = scaled(bytes as f64 / seconds.max(1e-9), 1000.0, "B");
        eprintln!("{bytes} {unit}{sizes} copied, {seconds:.6} s, {speed}/s");
    }
}

/// "1.5 kB", "12 MiB".
fn scaled(mut value: f64, base: f64, unit: &str) -> String {
    let letters = if base > 1000.0 { ["K", "M", "G", "T", "P"] } else { ["k", "M", "G", "T", "P"] };
    let mut letter = "";
    for next in letters {
        if value < base {
            break;
        }
        value /= base;
        letter = next;
    }
    let unit = if letter.is_empty() { "B" } else { unit };
    if value < 10.0 && !letter.is_empty() {
        format!("{value:.1} {letter}{unit}")
    } else {
        format!("{value:.0} {letter}{unit}")
    }
}
