//! The terminal of a run: a line discipline between what the host types and what the guests read and write.
//!
//! Input comes in lines, echoed as it is typed; output gets a carriage return before each newline. Nobody can change
//! the modes, and there is no job control: an interrupt reaches every process of the run.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::open_file::{Kind, OpenFile};
use super::pipe::{PIPE_BUF, Pipe};
use super::signal::Signal;
use super::{Kernel, Run};
use crate::sandbox::errno::{Errno, Result};

/// The number of `/dev/tty`, as Linux makes it.
pub const TTY_DEVICE: u64 = 0x500;
/// Rows and columns: nobody looks at it, so it has the usual size.
pub const WINDOW: (u16, u16) = (24, 80);
/// The most bytes that wait to be read, finished lines and the one being typed together.
const INPUT_MAX: usize = 64 * 1024;
/// How much is written at a time: with a carriage return for each byte still a write that is not split.
const PIECE: usize = PIPE_BUF / 2;

const INTERRUPT: u8 = 0x03;
const END_OF_FILE: u8 = 0x04;
const BACKSPACE: u8 = 0x08;
const DELETE: u8 = 0x7f;

#[derive(Debug, Default)]
struct Typed {
    /// What may be read, a line for a read at most; an empty one is an end of file.
    lines: VecDeque<Vec<u8>>,
    /// How much of the first line has been read.
    read: usize,
    /// How much the lines take, with one more for each.
    size: usize,
    /// The line that is being typed.
    line: Vec<u8>,
    /// Nothing more comes.
    hung_up: bool,
}

impl Typed {
    fn finish_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.size += line.len() + 1;
        self.lines.push_back(line);
    }

    fn is_full(&self) -> bool {
        self.size + self.line.len() >= INPUT_MAX
    }

    /// Takes the last character off the line; answers how many columns of the screen it took.
    fn erase(&mut self) -> usize {
        let continues = |byte: u8| byte & 0xc0 == 0x80;
        while let Some(byte) = self.line.pop() {
            if !continues(byte) {
                return if is_control(byte) { 2 } else { 1 };
            }
        }
        0
    }
}

/// Shown as `^X`. A tab is shown as it is.
fn is_control(byte: u8) -> bool {
    byte < b' ' && byte != b'\t'
}

/// A terminal.
#[derive(Debug)]
pub struct Tty {
    typed: Mutex<Typed>,
    /// Something can be read.
    readable: Notify,
    /// More can be typed.
    room: Notify,
    /// The screen.
    output: Arc<OpenFile>,
}

impl Tty {
    /// A terminal whose screen is `output`.
    pub fn new(output: Arc<OpenFile>) -> Arc<Self> {
        Arc::new(Self { typed: Mutex::default(), readable: Notify::new(), room: Notify::new(), output })
    }

    fn lock(&self) -> MutexGuard<'_, Typed> {
        self.typed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Told when [`Tty::waiting`] may have changed.
    pub fn readable(&self) -> &Notify {
        &self.readable
    }

    /// How many bytes can be read now, and whether nothing more comes; `None` when a reader has to wait.
    pub fn waiting(&self) -> Option<(usize, bool)> {
        let typed = self.lock();
        match typed.lines.front() {
            Some(line) => Some((line.len() - typed.read, false)),
            None => typed.hung_up.then_some((0, true)),
        }
    }

    /// Reads from the first line, at most `count` bytes; none is an end of file, `Again` that a reader has to wait.
    pub fn try_read(&self, count: usize) -> Result<Vec<u8>> {
        let mut typed = self.lock();
        let Some(line) = typed.lines.front() else {
            return if typed.hung_up { Ok(Vec::new()) } else { Err(Errno::Again) };
        };
        let (from, length) = (typed.read, line.len());
        let to = length.min(from.saturating_add(count));
        let bytes = line[from..to].to_vec();
        if to == length && (count > 0 || length == 0) {
            typed.lines.pop_front();
            typed.size -= length + 1;
            typed.read = 0;
            drop(typed);
            self.room.notify_waiters();
        } else {
            typed.read = to;
        }
        Ok(bytes)
    }

    /// The pipe that the screen is, if it is one: writers wait for its room.
    pub fn screen(&self) -> Option<&Arc<Pipe>> {
        match self.output.kind() {
            Kind::Pipe { writer: Some(writer), .. } => Some(writer.pipe()),
            _ => None,
        }
    }

    /// Told when a write that had to wait may be tried again.
    pub fn writable(&self) -> &Notify {
        // A screen that is no pipe never makes a writer wait.
        self.screen().map_or(&self.room, |pipe| pipe.writable())
    }

    /// Writes the beginning of `data`; `Again` when the screen takes nothing now.
    pub fn try_write(&self, kernel: &Kernel, data: &[u8]) -> Result<usize> {
        let piece = &data[..data.len().min(PIECE)];
        let mut shown = Vec::with_capacity(piece.len() * 2);
        for &byte in piece {
            if byte == b'\n' {
                shown.push(b'\r');
            }
            shown.push(byte);
        }
        self.output.say(kernel, &shown)?;
        Ok(piece.len())
    }

    /// Types all of it, waiting for room. What comes before an interrupt is not waited for: it would be thrown away.
    pub async fn type_all(&self, kernel: &Kernel, run: &Run, data: &[u8]) {
        let from = data.iter().rposition(|&byte| byte == INTERRUPT).unwrap_or(0);
        let mut data = &data[from..];
        loop {
            let mut changed = std::pin::pin!(self.room.notified());
            changed.as_mut().enable();
            data = &data[self.type_some(kernel, run, data)..];
            if data.is_empty() {
                return;
            }
            changed.await;
        }
    }

    /// Types as much as there is room for; answers how much that was.
    fn type_some(&self, kernel: &Kernel, run: &Run, data: &[u8]) -> usize {
        let mut echo = Vec::new();
        let mut interrupted = false;
        let mut count = 0;
        let mut typed = self.lock();
        for &byte in data {
            if typed.hung_up {
                count = data.len();
                break;
            }
            if byte != INTERRUPT && typed.is_full() && !typed.lines.is_empty() {
                break;
            }
            count += 1;
            match byte {
                INTERRUPT => {
                    *typed = Typed::default();
                    echo.extend_from_slice(b"^C");
                    interrupted = true;
                }
                END_OF_FILE => typed.finish_line(),
                BACKSPACE | DELETE => {
                    for _ in 0..typed.erase() {
                        echo.extend_from_slice(b"\x08 \x08");
                    }
                }
                b'\r' | b'\n' => {
                    typed.line.push(b'\n');
                    typed.finish_line();
                    echo.push(b'\n');
                }
                // A line that is too long loses its end, as anywhere.
                _ if typed.is_full() => {}
                _ => {
                    typed.line.push(byte);
                    if is_control(byte) {
                        echo.extend_from_slice(&[b'^', byte | 0x40]);
                    } else {
                        echo.push(byte);
                    }
                }
            }
        }
        // Before a guest can read the line: it is seen on the screen first.
        self.show(kernel, &echo);
        drop(typed);
        self.readable.notify_waiters();
        if interrupted {
            self.room.notify_waiters();
            kernel.processes.signal_run(run, Signal::INT);
        }
        count
    }

    /// Shows what was typed. A screen that is full loses it.
    fn show(&self, kernel: &Kernel, mut echo: &[u8]) {
        while !echo.is_empty() {
            match self.try_write(kernel, echo) {
                Ok(count) => echo = &echo[count..],
                Err(_) => return,
            }
        }
    }

    /// Ends the input: what was typed can still be read, and then no more comes.
    pub fn hang_up(&self) {
        let mut typed = self.lock();
        if !typed.line.is_empty() {
            typed.finish_line();
        }
        typed.hung_up = true;
        drop(typed);
        self.readable.notify_waiters();
        self.room.notify_waiters();
    }

    /// A description of it, as each of the standard streams and `/dev/tty` has one.
    pub fn description(self: &Arc<Self>) -> OpenFile {
        OpenFile::new(Kind::Tty(Arc::clone(self)), true, true)
    }
}
