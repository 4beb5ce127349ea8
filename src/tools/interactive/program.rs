//! A command that runs in the background, and what it has printed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::interaction::Interaction;
use crate::Outcome;
use crate::executor::{ExecutorError, RunningCommand};

/// The most lines that are kept; older ones are forgotten.
const LINES_MAX: usize = 20_000;
/// The most bytes that are kept, of all lines together and of one.
const BYTES_MAX: usize = 4 << 20;
/// How long nothing must have been printed for a question to be taken for the end of what is said.
const SETTLE: Duration = Duration::from_millis(75);
/// How long a command that was asked to end may take.
const GRACE: Duration = Duration::from_secs(2);

/// A running command with the lines that it has printed.
#[derive(Debug)]
pub struct Program {
    command: Box<dyn RunningCommand>,
    log: Mutex<Log>,
    /// Told when something was printed, or the command has ended.
    news: Notify,
    ended: tokio::sync::OnceCell<Result<Outcome, Arc<ExecutorError>>>,
}

/// What was printed. Lines are numbered from 0.
#[derive(Debug)]
struct Log {
    lines: VecDeque<String>,
    /// The number of the first line that is kept.
    first: usize,
    /// The line that is not ended yet.
    partial: String,
    /// Bytes that are no whole character yet.
    rest: Vec<u8>,
    kept: usize,
    total: u64,
    /// The next line to be told.
    cursor: usize,
    /// How much of the unfinished line was told.
    told: usize,
    last: Instant,
    used: Instant,
    is_over: bool,
}

/// A piece of what was printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    pub output: String,
    pub offset: usize,
    pub next_offset: usize,
    pub total_bytes: u64,
    /// Whether lines before it were forgotten.
    pub is_cut: bool,
}

impl Program {
    /// Takes up a command: reads what it prints, and writes its first input, which with `close` is all.
    pub fn new(command: Box<dyn RunningCommand>, input: Vec<u8>, close: bool) -> Arc<Self> {
        let program = Arc::new(Self {
            command,
            log: Mutex::new(Log::new()),
            news: Notify::new(),
            ended: tokio::sync::OnceCell::new(),
        });
        let shared = Arc::clone(&program);
        tokio::spawn(async move {
            while let Some(bytes) = shared.command.read().await {
                shared.log().add(&bytes);
                shared.news.notify_waiters();
            }
            let ended = shared.command.wait().await.map_err(Arc::new);
            // Nobody else sets it.
            let _ = shared.ended.set(ended);
            shared.log().finish();
            shared.news.notify_waiters();
        });
        if input.is_empty() && close {
            program.command.close_input();
        } else if !input.is_empty() {
            let shared = Arc::clone(&program);
            tokio::spawn(async move {
                // A command that does not read its input is no failure.
                let _ = shared.command.write(&input).await;
                if close {
                    shared.command.close_input();
                }
            });
        }
        program
    }

    fn log(&self) -> std::sync::MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How it has ended, if it has.
    pub fn outcome(&self) -> Option<Result<Outcome, Arc<ExecutorError>>> {
        self.log().is_over.then(|| self.ended.get().cloned()).flatten()
    }

    /// Since when nobody has asked for it.
    pub fn unused_for(&self) -> Duration {
        self.log().used.elapsed()
    }

    /// Writes to its standard input.
    ///
    /// # Errors
    /// When it does not read any more.
    pub async fn write(&self, data: &[u8]) -> std::io::Result<()> {
        self.command.write(data).await
    }

    /// Ends its standard input.
    pub fn close_input(&self) {
        self.command.close_input();
    }

    /// Waits until it has ended, asks for an answer, or the time is over.
    pub async fn wait(&self, most: Duration) {
        let until = tokio::time::Instant::now() + most;
        loop {
            // Registered before looking, so that no news is missed.
            let mut news = std::pin::pin!(self.news.notified());
            news.as_mut().enable();
            let settled = {
                let mut log = self.log();
                log.used = Instant::now();
                if log.is_over {
                    return;
                }
                let asks = log.has_news() && Interaction::of(&log.end()).is_some();
                asks.then(|| SETTLE.saturating_sub(log.last.elapsed()))
            };
            match settled {
                Some(Duration::ZERO) => return,
                settled => {
                    let wake = settled.map_or(until, |settled| until.min(tokio::time::Instant::now() + settled));
                    let timed_out = tokio::time::timeout_at(wake, news).await.is_err();
                    if timed_out && tokio::time::Instant::now() >= until {
                        return;
                    }
                }
            }
        }
    }

    /// Waits until it has ended or the time is over.
    pub async fn wait_for_end(&self, most: Duration) {
        // Too far away for a clock is for ever.
        let until = tokio::time::Instant::now().checked_add(most);
        loop {
            let mut news = std::pin::pin!(self.news.notified());
            news.as_mut().enable();
            if self.log().is_over {
                return;
            }
            match until {
                Some(until) => {
                    if tokio::time::timeout_at(until, news).await.is_err() {
                        return;
                    }
                }
                None => news.await,
            }
        }
    }

    /// What was printed and not told yet, at most so many lines of it.
    pub fn take(&self, lines: usize) -> Piece {
        self.log().take(lines)
    }

    /// What it seems to wait for.
    pub fn interaction(&self) -> Option<Interaction> {
        let log = self.log();
        if log.is_over { None } else { Interaction::of(&log.end()) }
    }

    /// Ends it: with SIGTERM, and when that does not help with SIGKILL. Answers whether it was running.
    pub async fn kill(&self) -> bool {
        const TERM: i32 = 15;
        const KILL: i32 = 9;
        if self.log().is_over {
            return false;
        }
        for signal in [TERM, KILL] {
            // These signals exist.
            let _ = self.command.signal(signal);
            self.wait_for_end(GRACE).await;
            if self.log().is_over {
                break;
            }
        }
        true
    }
}

impl Log {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            lines: VecDeque::new(),
            first: 0,
            partial: String::new(),
            rest: Vec::new(),
            kept: 0,
            total: 0,
            cursor: 0,
            told: 0,
            last: now,
            used: now,
            is_over: false,
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.last = Instant::now();
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            // A character may be cut at the end of a piece; what is wrong before is shown as such.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => self.rest.len() - incomplete(&self.rest),
        };
        let text = String::from_utf8_lossy(&self.rest[..whole]).replace("\r\n", "\n");
        self.rest.drain(..whole);
        for part in text.split_inclusive('\n') {
            self.partial.push_str(part);
            if self.partial.ends_with('\n') || self.partial.len() > BYTES_MAX / 4 {
                let line = std::mem::take(&mut self.partial);
                self.kept += line.len();
                self.lines.push_back(line);
            }
        }
        while self.lines.len() > LINES_MAX || self.kept > BYTES_MAX {
            let Some(line) = self.lines.pop_front() else { break };
            self.kept -= line.len();
            self.first += 1;
        }
    }

    fn finish(&mut self) {
        let rest = std::mem::take(&mut self.rest);
        self.partial.push_str(&String::from_utf8_lossy(&rest));
        self.is_over = true;
    }

    fn next(&self) -> usize {
        self.first + self.lines.len()
    }

    fn has_news(&self) -> bool {
        self.cursor < self.next() || self.told < self.partial.len()
    }

    /// The last lines.
    fn end(&self) -> String {
        const LINES: usize = 12;
        let skipped = self.lines.len().saturating_sub(LINES);
        let mut text: String = self.lines.iter().skip(skipped).map(String::as_str).collect();
        text.push_str(&self.partial);
        text
    }

    fn take(&mut self, most: usize) -> Piece {
        self.used = Instant::now();
        let is_cut = self.cursor < self.first;
        let offset = self.cursor.max(self.first);
        // Of the first line a part may have been told while it was not finished.
        let mut told = if is_cut { 0 } else { self.told };
        let mut output = String::new();
        let mut next = offset;
        for line in self.lines.iter().skip(offset - self.first).take(most) {
            output.push_str(line.get(told..).unwrap_or_default());
            told = 0;
            next += 1;
        }
        if next == self.next() && next - offset < most {
            output.push_str(self.partial.get(told..).unwrap_or_default());
            told = self.partial.len();
        }
        self.cursor = next;
        self.told = told;
        Piece { output, offset, next_offset: next, total_bytes: self.total, is_cut }
    }
}

/// How many bytes at the end may be the begin of a character.
fn incomplete(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    let lead = tail.iter().rposition(|byte| *byte >= 0xc0);
    lead.map_or(0, |lead| match std::str::from_utf8(&tail[lead..]) {
        Err(error) if error.error_len().is_none() => tail.len() - lead,
        _ => 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_told_once() {
        let mut log = Log::new();
        log.add(b"one\ntwo\nth");
        let piece = log.take(1);
        assert_eq!((piece.output.as_str(), piece.offset, piece.next_offset), ("one\n", 0, 1));
        assert_eq!(log.take(10).output, "two\nth");
        log.add(b"ree\r\nfour");
        assert_eq!(log.take(10).output, "ree\nfour");
        assert_eq!(log.take(10).output, "");
        log.add(b"\n");
        assert_eq!(log.take(10).output, "\n");
    }

    #[test]
    fn characters_are_not_cut_and_wrong_bytes_are_shown() {
        let mut log = Log::new();
        log.add("aä".as_bytes().get(..2).unwrap_or_default());
        assert_eq!(log.take(10).output, "a");
        log.add("ä".as_bytes().get(1..).unwrap_or_default());
        assert_eq!(log.take(10).output, "ä");
        log.add(b"\xff\xe2\x82");
        assert_eq!(log.take(10).output, "\u{fffd}");
        log.add(b"\xac");
        assert_eq!(log.take(10).output, "\u{20ac}");
    }

    #[test]
    fn old_lines_are_forgotten() {
        let mut log = Log::new();
        for number in 0..LINES_MAX + 5 {
            log.add(format!("{number}\n").as_bytes());
        }
        let piece = log.take(2);
        assert_eq!((piece.output.as_str(), piece.offset, piece.is_cut), ("5\n6\n", 5, true));
        assert!(!log.take(2).is_cut);
    }
}
