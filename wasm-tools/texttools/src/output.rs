//! Standard output with a buffer of its own, and the one way the tools report errors.

use std::fs::File;
use std::io::{self, Write};

use crate::platform;

/// One write to the kernel; its pipes hold 64 KiB.
const BUFFER: usize = 64 << 10;

/// Buffered standard output. A failed write ends the program: silently when the reader went away.
pub struct Output {
    file: File,
    buffer: Vec<u8>,
    program: &'static str,
    status: i32,
    line_buffered: bool,
}

impl Output {
    /// `program` and `status` are for the message and the end after a failed write.
    pub fn new(program: &'static str, status: i32) -> Self {
        let line_buffered = platform::is_terminal(1);
        Self { file: platform::standard_file(1), buffer: Vec::new(), program, status, line_buffered }
    }

    /// Writes at every line's end (`sed -u`, `grep --line-buffered`).
    pub fn set_line_buffered(&mut self) {
        self.line_buffered = true;
    }

    /// Writes.
    pub fn put(&mut self, bytes: &[u8]) {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush_all();
            if bytes.len() >= BUFFER {
                let done = self.file.write_all(bytes);
                return self.check(done);
            }
        }
        self.buffer.extend_from_slice(bytes);
        if self.line_buffered && bytes.contains(&b'\n') {
            self.flush_all();
        }
    }

    /// Writes text.
    pub fn text(&mut self, text: &str) {
        self.put(text.as_bytes());
    }

    /// Hands what is buffered to the kernel.
    pub fn flush_all(&mut self) {
        let done = self.file.write_all(&self.buffer);
        self.buffer.clear();
        self.check(done);
    }

    fn check(&self, done: io::Result<()>) {
        let Err(error) = done else { return };
        if error.kind() == io::ErrorKind::BrokenPipe {
            // What SIGPIPE's default action would have reported.
            std::process::exit(141);
        }
        eprintln!("{}: write error: {}", self.program, platform::message(&error));
        std::process::exit(self.status);
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flush_all();
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.flush_all();
    }
}

/// Bytes as text for a message.
pub fn show(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
