//! Runs that are talked to.

use std::io::{self, Write};
use std::process::{ChildStdin, Stdio};
use std::sync::mpsc as events;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot, watch};

use super::super::{ExecutorError, RunningCommand};
use super::capture::read;
use super::group::{Event, Group, outcome, signal};
use super::{CHUNK, EndOnDrop, Program};
use crate::{BuildError, Outcome};

/// How many chunks of output wait for their reader.
const CHUNKS_MAX: usize = 16;

/// Bytes for standard input, and where it is told what became of them.
type Input = (Vec<u8>, oneshot::Sender<io::Result<()>>);

/// A process of the host that is talked to.
#[derive(Debug)]
pub struct NativeCommand {
    input: Mutex<Option<mpsc::Sender<Input>>>,
    output: tokio::sync::Mutex<mpsc::Receiver<Vec<u8>>>,
    events: events::Sender<Event>,
    ended: watch::Receiver<Option<Outcome>>,
    _end: EndOnDrop,
}

impl NativeCommand {
    /// Starts a program; it ends when its time is over or this is dropped.
    ///
    /// # Errors
    /// When the host gives no thread or pipe.
    pub fn start(program: &Program, wall_time: Option<Duration>) -> io::Result<Self> {
        let (sender, received) = events::channel();
        let (output, chunks) = mpsc::channel(CHUNKS_MAX);
        let (end, ended) = watch::channel(None);
        let (mut pipe, writer) = io::pipe()?;
        let mut command = program.command()?;
        command.stdin(Stdio::piped()).stdout(writer.try_clone()?).stderr(writer);
        // The command holds the pipe's end for writing, which must be closed here: `start` drops it.
        let input = match Group::start(command) {
            Ok(mut group) => {
                let input = group.leader().stdin.take().map(write_input).transpose()?;
                let events = sender.clone();
                spawn(move || {
                    let outcome = group.supervise(events, &received, wall_time, 0);
                    let failed =
                        |error: io::Error| Outcome { stderr: error.to_string().into_bytes(), ..outcome_lost() };
                    end.send_replace(Some(outcome.unwrap_or_else(failed)));
                })?;
                spawn(move || {
                    let mut buffer = vec![0; CHUNK];
                    while let Ok(count) = read(&mut pipe, &mut buffer)
                        && count > 0
                        && output.blocking_send(buffer[..count].to_vec()).is_ok()
                    {}
                })?;
                input
            }
            Err(error) => {
                let refused = program.refused(&error);
                // There is room: it is the first chunk.
                let _ = output.try_send(refused.stderr);
                end.send_replace(Some(outcome(refused.exit_code)));
                None
            }
        };
        Ok(Self {
            input: Mutex::new(input),
            output: tokio::sync::Mutex::new(chunks),
            events: sender.clone(),
            ended,
            _end: EndOnDrop(sender),
        })
    }
}

/// When a process cannot even be waited for.
fn outcome_lost() -> Outcome {
    outcome(u8::MAX)
}

fn spawn(call: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("wskill-pipe".to_owned()).spawn(call).map(drop)
}

/// A thread that writes what it is sent.
fn write_input(mut pipe: ChildStdin) -> io::Result<mpsc::Sender<Input>> {
    let (sender, mut received) = mpsc::channel::<Input>(1);
    spawn(move || {
        while let Some((bytes, done)) = received.blocking_recv() {
            // Who asked may have gone.
            let _ = done.send(pipe.write_all(&bytes));
        }
    })?;
    Ok(sender)
}

#[async_trait]
impl RunningCommand for NativeCommand {
    async fn write(&self, data: &[u8]) -> io::Result<()> {
        let nobody = || io::Error::from(io::ErrorKind::BrokenPipe);
        let input = self.input.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(nobody)?;
        let (done, written) = oneshot::channel();
        input.send((data.to_vec(), done)).await.map_err(|_| nobody())?;
        written.await.map_err(|_| nobody())?
    }

    fn close_input(&self) {
        self.input.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    async fn read(&self) -> Option<Vec<u8>> {
        self.output.lock().await.recv().await
    }

    fn signal(&self, number: i32) -> Result<(), ExecutorError> {
        let signal = signal(number).ok_or(BuildError::Signal(number))?;
        // It has ended already.
        let _ = self.events.send(Event::Signal(signal));
        Ok(())
    }

    async fn wait(&self) -> Result<Outcome, ExecutorError> {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(outcome) => Ok(outcome.clone().unwrap_or_else(outcome_lost)),
            Err(_) => Ok(outcome_lost()),
        }
    }
}
