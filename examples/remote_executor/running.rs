//! A command on the server that is talked to.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Mutex, mpsc, watch};
use tokio::task::JoinHandle;
use wskill::executor::{ExecutorError, RunningCommand};
use wskill::{BuildError, Outcome};

use super::client::{Kept, keep_tree, unexpected};
use super::wire::{Answer, Said, receive, send, unusable};

/// How many chunks of output wait for their reader.
const CHUNKS_MAX: usize = 16;
/// How much input is sent at a time, bytes.
const INPUT_MAX: usize = 64 << 10;

/// How a command has ended, or why that is not known.
type Ended = Option<Result<Outcome, String>>;

/// A command on the server. The connection closes when this is dropped, and the server ends the command.
#[derive(Debug)]
pub struct RemoteCommand {
    said: mpsc::UnboundedSender<(Said, Vec<u8>)>,
    is_closed: AtomicBool,
    input: Mutex<Input>,
    output: Mutex<mpsc::Receiver<Vec<u8>>>,
    ended: watch::Receiver<Ended>,
    tasks: [JoinHandle<()>; 2],
}

/// What becomes of input.
#[derive(Debug)]
struct Input {
    taken: mpsc::Receiver<bool>,
    /// Whether the last one was sent, and what became of it not yet heard: then the next one waits.
    is_waiting: bool,
}

impl RemoteCommand {
    /// The command that was started on a connection; what it leaves behind is kept.
    pub fn over(stream: TcpStream, kept: Arc<Mutex<Kept>>) -> Self {
        let (reader, writer) = stream.into_split();
        let (said, saying) = mpsc::unbounded_channel();
        let (take, taken) = mpsc::channel(1);
        let (chunks, output) = mpsc::channel(CHUNKS_MAX);
        let (end, ended) = watch::channel(None);
        let hearing = tokio::spawn(async move {
            let outcome = hear(reader, &take, &chunks, &kept).await;
            end.send_replace(Some(outcome.map_err(|error| error.to_string())));
        });
        let tasks = [tokio::spawn(say(writer, saying)), hearing];
        let input = Mutex::new(Input { taken, is_waiting: false });
        Self { said, is_closed: AtomicBool::new(false), input, output: Mutex::new(output), ended, tasks }
    }
}

impl Drop for RemoteCommand {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn say(mut writer: OwnedWriteHalf, mut saying: mpsc::UnboundedReceiver<(Said, Vec<u8>)>) {
    while let Some((said, bytes)) = saying.recv().await {
        // The server has gone: who waits for it hears that.
        if send(&mut writer, &said, &bytes).await.is_err() {
            return;
        }
    }
}

/// Hears what the server says, to the end of the command.
async fn hear(
    mut reader: OwnedReadHalf,
    take: &mpsc::Sender<bool>,
    chunks: &mpsc::Sender<Vec<u8>>,
    kept: &Mutex<Kept>,
) -> Result<Outcome, ExecutorError> {
    loop {
        match receive(&mut reader).await.map_err(unusable)? {
            // Nobody can have dropped the other ends: this task ends first.
            (Answer::Output, bytes) => drop(chunks.send(bytes).await),
            (Answer::Taken(is_taken), _) => drop(take.send(is_taken).await),
            (Answer::Ended(end), streams) => {
                let outcome = end.outcome(streams);
                keep_tree(&mut reader, kept).await?;
                return Ok(outcome);
            }
            (Answer::Failed(failure), _) => return Err(failure.into()),
            _ => return Err(unexpected()),
        }
    }
}

#[async_trait]
impl RunningCommand for RemoteCommand {
    async fn write(&self, data: &[u8]) -> io::Result<()> {
        let mut input = self.input.lock().await;
        for part in data.chunks(INPUT_MAX) {
            if input.is_waiting {
                // Of a call that was dropped.
                input.taken.recv().await;
                input.is_waiting = false;
            }
            if self.is_closed.load(Ordering::Relaxed) || self.said.send((Said::Input, part.to_vec())).is_err() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            input.is_waiting = true;
            let is_taken = input.taken.recv().await;
            input.is_waiting = false;
            if is_taken != Some(true) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
        }
        Ok(())
    }

    fn close_input(&self) {
        if !self.is_closed.swap(true, Ordering::Relaxed) {
            // It has ended already.
            let _ = self.said.send((Said::Close, Vec::new()));
        }
    }

    async fn read(&self) -> Option<Vec<u8>> {
        self.output.lock().await.recv().await
    }

    fn signal(&self, number: i32) -> Result<(), ExecutorError> {
        if !(1..=64).contains(&number) {
            return Err(BuildError::Signal(number).into());
        }
        // It has ended already.
        let _ = self.said.send((Said::Signal(number), Vec::new()));
        Ok(())
    }

    async fn wait(&self) -> Result<Outcome, ExecutorError> {
        let mut ended = self.ended.clone();
        let ended = ended.wait_for(Option::is_some).await.ok().and_then(|ended| ended.clone());
        match ended {
            Some(Ok(outcome)) => Ok(outcome),
            Some(Err(reason)) => Err(unusable(io::Error::other(reason))),
            None => Err(unusable(io::ErrorKind::UnexpectedEof.into())),
        }
    }
}
