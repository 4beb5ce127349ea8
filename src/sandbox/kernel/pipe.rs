//! Pipes and FIFOs: a bounded ring of bytes between readers and writers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::limits::{Account, LimitName};

/// How much a pipe holds before a writer waits: Linux's 64 KiB.
pub const PIPE_CAPACITY: usize = 64 * 1024;
/// How long a poll waits for what fills a pipe to wake up: a thread starts and reads in far less.
const WAKE_TIME: Duration = Duration::from_millis(20);
/// Writes up to this length are not mixed with others': POSIX's `PIPE_BUF` on Linux.
pub const PIPE_BUF: usize = 4096;

#[derive(Debug, Default)]
struct State {
    data: VecDeque<u8>,
    readers: usize,
    writers: usize,
    /// How many readers and writers ever came: an opening FIFO waits for a partner, even one that left again.
    readers_seen: u64,
    writers_seen: u64,
}

/// The object behind both ends.
#[derive(Debug)]
pub struct Pipe {
    id: u64,
    state: Mutex<State>,
    /// Data arrived, or the last writer left, or one came.
    readable: Notify,
    /// Room arose, or the last reader left, or one came.
    writable: Notify,
    /// A reader found nothing for the first time, or the last one left.
    wanted: Notify,
    /// Whether what fills it waits for [`Pipe::wait_for_demand`].
    asleep: AtomicBool,
    /// `None`: writers never wait and the data is charged to the memory account.
    capacity: Option<usize>,
    account: Arc<Account>,
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let left = self.state.get_mut().unwrap_or_else(PoisonError::into_inner).data.len();
        self.account.refund(left as u64);
    }
}

impl Pipe {
    /// An empty pipe without ends, of this number. `account` pays for the data that waits in it.
    pub fn new(id: u64, unbounded: bool, account: Arc<Account>) -> Arc<Self> {
        Arc::new(Self {
            id,
            state: Mutex::default(),
            readable: Notify::new(),
            writable: Notify::new(),
            wanted: Notify::new(),
            asleep: AtomicBool::new(false),
            capacity: (!unbounded).then_some(PIPE_CAPACITY),
            account,
        })
    }

    /// A number of its own: what `fstat` tells of both ends as their inode.
    pub fn id(&self) -> u64 {
        self.id
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The limit that pays for the data: that of memory for a pipe without bound.
    pub fn limit(&self) -> LimitName {
        if self.capacity.is_some() { LimitName::Pipes } else { LimitName::Memory }
    }

    /// Whether no writer is left.
    pub fn no_writer(&self) -> bool {
        self.lock().writers == 0
    }

    /// How many bytes fit, and whether no reader is left.
    pub fn write_state(&self) -> (usize, bool) {
        let state = self.lock();
        let room = self.capacity.map_or(usize::MAX, |capacity| capacity.saturating_sub(state.data.len()));
        (room, state.readers == 0)
    }

    /// Told when [`PipeReader::ready`] may have changed.
    pub fn readable(&self) -> &Notify {
        &self.readable
    }

    /// Told when [`Pipe::write_state`] may have changed.
    pub fn writable(&self) -> &Notify {
        &self.writable
    }

    /// Reads what is there; `Again` when nothing is and a writer could still bring something; 0 at the end.
    pub fn try_read(&self, buffer: &mut [u8]) -> Result<usize> {
        let mut state = self.lock();
        if state.data.is_empty() {
            if state.writers == 0 || buffer.is_empty() {
                return Ok(0);
            }
            drop(state);
            if self.asleep.swap(false, Ordering::Relaxed) {
                self.wanted.notify_one();
            }
            return Err(Errno::Again);
        }
        let count = buffer.len().min(state.data.len());
        let (front, back) = state.data.as_slices();
        let first = count.min(front.len());
        buffer[..first].copy_from_slice(&front[..first]);
        buffer[first..count].copy_from_slice(&back[..count - first]);
        state.data.drain(..count);
        if state.data.is_empty() && state.data.capacity() > PIPE_BUF {
            // The room of an empty pipe is nobody's account's.
            state.data = VecDeque::new();
        }
        drop(state);
        self.account.refund(count as u64);
        self.writable.notify_waiters();
        Ok(count)
    }

    /// Writes what fits; `Again` when nothing does (or not all of a short write), `BrokenPipe` without a reader,
    /// `NoMemory` when the account is full.
    pub fn try_write(&self, data: &[u8]) -> Result<usize> {
        let mut state = self.lock();
        if state.readers == 0 {
            return Err(Errno::BrokenPipe);
        }
        let room = self.capacity.map_or(data.len(), |capacity| capacity.saturating_sub(state.data.len()));
        if room == 0 && !data.is_empty() || data.len() <= PIPE_BUF && room < data.len() {
            return Err(Errno::Again);
        }
        let count = room.min(data.len());
        if !self.account.charge(count as u64) {
            return Err(Errno::NoMemory);
        }
        state.data.extend(&data[..count]);
        drop(state);
        self.readable.notify_waiters();
        Ok(count)
    }

    /// Waits until there is something to read, then reads.
    pub async fn read(&self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            let mut changed = std::pin::pin!(self.readable.notified());
            changed.as_mut().enable();
            match self.try_read(buffer) {
                Err(Errno::Again) => changed.await,
                answer => return answer,
            }
        }
    }

    /// Writes all of it, waiting for room. When it fails after a part was written the answer is that part.
    pub async fn write(&self, data: &[u8]) -> Result<usize> {
        let mut written = 0;
        loop {
            let mut changed = std::pin::pin!(self.writable.notified());
            changed.as_mut().enable();
            match self.try_write(&data[written..]) {
                Ok(count) => written += count,
                Err(Errno::Again) => changed.await,
                Err(_) if written > 0 => return Ok(written),
                Err(error) => return Err(error),
            }
            if written == data.len() {
                return Ok(written);
            }
        }
    }

    /// Says that nothing comes before [`Pipe::wait_for_demand`] was answered.
    pub fn set_asleep(&self) {
        self.asleep.store(true, Ordering::Relaxed);
    }

    /// Waits, as the only writer, until a reader has asked for something; answers whether there is still one.
    pub async fn wait_for_demand(&self) -> bool {
        self.wanted.notified().await;
        self.lock().readers > 0
    }

    /// Wakes what fills it, and gives it a moment: who polls wants to know of what is there already.
    pub async fn wake(&self) {
        if self.asleep.swap(false, Ordering::Relaxed) {
            let mut changed = std::pin::pin!(self.readable.notified());
            changed.as_mut().enable();
            self.wanted.notify_one();
            // When nothing came the poll goes on as it would have.
            let _ = tokio::time::timeout(WAKE_TIME, changed).await;
        }
    }

    /// Waits until a writer has come since `seen` was asked ([`Pipe::seen`]), as opening a FIFO for reading does.
    pub async fn wait_for_writer(&self, seen: u64) {
        loop {
            let mut changed = std::pin::pin!(self.readable.notified());
            changed.as_mut().enable();
            {
                let state = self.lock();
                if state.writers > 0 || state.writers_seen > seen {
                    return;
                }
            }
            changed.await;
        }
    }

    /// Waits until a reader has come since `seen` was asked, as opening a FIFO for writing does.
    pub async fn wait_for_reader(&self, seen: u64) {
        loop {
            let mut changed = std::pin::pin!(self.writable.notified());
            changed.as_mut().enable();
            {
                let state = self.lock();
                if state.readers > 0 || state.readers_seen > seen {
                    return;
                }
            }
            changed.await;
        }
    }

    /// How many readers and writers have ever come.
    pub fn seen(&self) -> (u64, u64) {
        let state = self.lock();
        (state.readers_seen, state.writers_seen)
    }
}

/// An end that reads; the last one to go makes writes fail.
#[derive(Debug)]
pub struct PipeReader {
    pipe: Arc<Pipe>,
    /// How many writers had come before it, if none was there.
    before_writers: Option<u64>,
}

impl PipeReader {
    /// A new reading end.
    pub fn new(pipe: &Arc<Pipe>) -> Self {
        let mut state = pipe.lock();
        state.readers += 1;
        state.readers_seen += 1;
        let before_writers = (state.writers == 0).then_some(state.writers_seen);
        drop(state);
        pipe.writable.notify_waiters();
        Self { pipe: Arc::clone(pipe), before_writers }
    }

    /// The pipe.
    pub fn pipe(&self) -> &Arc<Pipe> {
        &self.pipe
    }

    /// How many bytes wait, and whether the last writer has left. As on Linux, one that opened a FIFO before any writer
    /// came is not told so.
    pub fn ready(&self) -> (usize, bool) {
        let state = self.pipe.lock();
        (state.data.len(), state.writers == 0 && self.before_writers != Some(state.writers_seen))
    }
}

impl Drop for PipeReader {
    fn drop(&mut self) {
        let mut state = self.pipe.lock();
        state.readers -= 1;
        if state.readers == 0 {
            drop(state);
            self.pipe.writable.notify_waiters();
            self.pipe.wanted.notify_one();
        }
    }
}

/// An end that writes; the last one to go makes reads end.
#[derive(Debug)]
pub struct PipeWriter(Arc<Pipe>);

impl PipeWriter {
    /// A new writing end.
    pub fn new(pipe: &Arc<Pipe>) -> Self {
        let mut state = pipe.lock();
        state.writers += 1;
        state.writers_seen += 1;
        drop(state);
        pipe.readable.notify_waiters();
        Self(Arc::clone(pipe))
    }

    /// The pipe.
    pub fn pipe(&self) -> &Arc<Pipe> {
        &self.0
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.writers -= 1;
        if state.writers == 0 {
            drop(state);
            self.0.readable.notify_waiters();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn account() -> Arc<Account> {
        Arc::new(Account::new(1 << 20))
    }

    fn pair(unbounded: bool, account: Arc<Account>) -> (PipeReader, PipeWriter) {
        let pipe = Pipe::new(1, unbounded, account);
        (PipeReader::new(&pipe), PipeWriter::new(&pipe))
    }

    #[tokio::test]
    async fn bytes_come_out_in_order_and_the_end_is_seen() {
        let (reader, writer) = pair(false, account());
        let data: Vec<u8> = (0..300_000u32).map(|n| (n % 251) as u8).collect();
        let sent = data.clone();
        let sending = tokio::spawn(async move { writer.pipe().write(&sent).await });
        let mut got = Vec::new();
        let mut buffer = [0; 7919];
        loop {
            match reader.pipe().read(&mut buffer).await.unwrap() {
                0 => break,
                count => got.extend_from_slice(&buffer[..count]),
            }
        }
        assert_eq!(got, data);
        assert_eq!(sending.await.unwrap(), Ok(data.len()));
    }

    #[tokio::test]
    async fn a_writer_without_reader_is_told_and_the_account_is_given_back() {
        let account = account();
        let (reader, writer) = pair(false, Arc::clone(&account));
        writer.pipe().write(b"left over").await.unwrap();
        assert_eq!(account.used(), 9);
        drop(reader);
        assert_eq!(writer.pipe().write(b"x").await, Err(Errno::BrokenPipe));
        drop(writer);
        assert_eq!(account.used(), 0);
    }

    #[tokio::test]
    async fn an_unbounded_pipe_takes_all_that_the_account_allows() {
        let (_reader, writer) = pair(true, account());
        assert_eq!(writer.pipe().write(&vec![1; 1 << 20]).await, Ok(1 << 20));
        assert_eq!(writer.pipe().write(b"x").await, Err(Errno::NoMemory));
    }

    #[tokio::test]
    async fn what_fills_a_pipe_wakes_when_somebody_asks() {
        let (reader, writer) = pair(false, account());
        writer.pipe().set_asleep();
        let waiting = writer.pipe().wait_for_demand();
        assert!(tokio::time::timeout(Duration::from_millis(20), waiting).await.is_err());
        assert_eq!(reader.pipe().try_read(&mut [0; 4]), Err(Errno::Again));
        assert!(writer.pipe().wait_for_demand().await);

        let (reader, writer) = pair(false, account());
        writer.pipe().set_asleep();
        let filling = tokio::spawn(async move {
            assert!(writer.pipe().wait_for_demand().await);
            writer.pipe().write(b"there").await.unwrap();
        });
        reader.pipe().wake().await;
        assert_eq!(reader.ready().0, 5);
        filling.await.unwrap();

        let (reader, writer) = pair(false, account());
        writer.pipe().set_asleep();
        drop(reader);
        assert!(!writer.pipe().wait_for_demand().await);
    }

    #[test]
    fn short_writes_are_not_split() {
        let (_reader, writer) = pair(false, account());
        assert_eq!(writer.pipe().try_write(&[0; PIPE_CAPACITY - 10]), Ok(PIPE_CAPACITY - 10));
        assert_eq!(writer.pipe().try_write(&[0; 11]), Err(Errno::Again));
        assert_eq!(writer.pipe().try_write(&[0; 10]), Ok(10));
    }
}
