//! A run in progress: what its caller can do with it.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::task::JoinHandle;

use super::build_error::BuildError;
use super::errno::Errno;
use super::hints::hint;
use super::kernel::{End, Kernel, PipeReader, PipeWriter, Run, Signal};
use super::limits::LimitName;
use super::outcome::{Outcome, limit_of};
use super::stdio::{Drained, Failure, Taken};

/// How long a run that has ended waits for its writers: they may be slow, but not for ever.
const DRAIN: Duration = Duration::from_secs(5);
/// The most bytes of a chunk: what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// Which of a run's two output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output, and standard error when both are merged.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A piece of a run's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where it was written.
    pub stream: Stream,
    /// What was written; never empty, 64 KiB at most.
    pub bytes: Vec<u8>,
}

/// Where the caller's input goes.
#[derive(Debug)]
pub enum Stdin {
    /// Nowhere: it has another source, or was closed.
    None,
    /// To a pipe.
    Pipe(Arc<PipeWriter>),
    /// To the run's terminal.
    Tty,
}

/// What the caller has of the standard streams.
#[derive(Debug)]
pub struct Streams {
    /// Standard input.
    pub stdin: Stdin,
    /// Standard output.
    pub stdout: Taken,
    /// Standard error.
    pub stderr: Taken,
}

/// A command that runs, made by [`RunBuilder::start`](super::RunBuilder::start). Dropping it, or its sandbox, ends the
/// run with all its processes.
///
/// All calls take `&self`, so that one task can read while others write or wait; each may be dropped while it waits and
/// be made again. No thread is used for it.
///
/// ```no_run
/// # async fn example(sandbox: &wskill::Sandbox) -> Result<(), Box<dyn std::error::Error>> {
/// use wskill::{Input, Output};
/// let cat = sandbox.command(["cat"]).stdin(Input::Channel).stdout(Output::Channel).start().await?;
/// cat.write_stdin(b"hello\n").await?;
/// assert_eq!(cat.read().await.unwrap().bytes, b"hello\n");
/// cat.close_stdin();
/// assert_eq!(cat.wait().await?.exit_code, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Running {
    kernel: Arc<Kernel>,
    run: Arc<Run>,
    stdin: Mutex<Stdin>,
    outputs: [Option<PipeReader>; 2],
    drained: tokio::sync::Mutex<[Option<Drained>; 2]>,
    failure: Failure,
    duration: std::sync::OnceLock<Duration>,
    outcome: OnceCell<Outcome>,
}

impl Running {
    pub(super) fn new(kernel: &Arc<Kernel>, run: &Arc<Run>, streams: Streams, failure: Failure) -> Self {
        let Streams { stdin, stdout, stderr } = streams;
        Self {
            kernel: Arc::clone(kernel),
            run: Arc::clone(run),
            stdin: Mutex::new(stdin),
            outputs: [stdout.reader, stderr.reader],
            drained: tokio::sync::Mutex::new([stdout.drained, stderr.drained]),
            failure,
            duration: std::sync::OnceLock::new(),
            outcome: OnceCell::new(),
        }
    }

    /// Ends the run at its deadline or with the sandbox, and a component with the run.
    pub(super) fn watch(&mut self, component: Option<JoinHandle<()>>) {
        let (kernel, run) = (Arc::clone(&self.kernel), Arc::clone(&self.run));
        drop(self.kernel.runtime.spawn(async move {
            tokio::select! {
                biased;
                _ = run.ended() => {}
                () = run.deadline_passed() => kernel.end_run(&run, End::Limit(LimitName::WallTime)),
                () = kernel.closing() => kernel.end_run(&run, End::Signaled(Signal::KILL, None)),
            }
            component.iter().for_each(JoinHandle::abort);
        }));
    }

    /// Writes all of it to standard input, waiting for room (64 KiB); on a terminal it is typed. Dropping the future
    /// leaves a part unwritten.
    ///
    /// # Errors
    /// `BrokenPipe` when nobody can read it: standard input is not [`Input::Channel`](super::Input::Channel), was
    /// closed, or the command does not read any more. `OutOfMemory` when the limit `pipes` is met.
    pub async fn write_stdin(&self, data: &[u8]) -> io::Result<()> {
        let closed = || io::Error::new(io::ErrorKind::BrokenPipe, "the command's standard input is closed");
        let pipe = match &*self.stdin() {
            _ if self.has_ended() => return Err(closed()),
            Stdin::None => return Err(closed()),
            Stdin::Pipe(writer) => Some(Arc::clone(writer)),
            Stdin::Tty => None,
        };
        let Some(writer) = pipe else {
            // Without a process that has it open there is no terminal.
            let terminal = self.run.tty().ok_or_else(closed)?;
            tokio::select! {
                biased;
                () = terminal.type_all(&self.kernel, &self.run, data) => return Ok(()),
                _ = self.run.ended() => return Err(closed()),
            }
        };
        match writer.pipe().write(data).await {
            Ok(count) if count == data.len() => Ok(()),
            Err(Errno::NoMemory) => {
                self.kernel.budget.counters.hit(writer.pipe().limit());
                Err(io::Error::new(io::ErrorKind::OutOfMemory, "the limit `pipes` is met"))
            }
            _ => Err(closed()),
        }
    }

    /// Ends standard input: the command reads what was written, and then the end of the file. On a terminal this hangs
    /// up. Closing it again changes nothing.
    pub fn close_stdin(&self) {
        if let Stdin::Tty = std::mem::replace(&mut *self.stdin(), Stdin::None)
            && let Some(terminal) = self.run.tty()
        {
            terminal.hang_up();
        }
    }

    fn stdin(&self) -> std::sync::MutexGuard<'_, Stdin> {
        self.stdin.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for output, of both streams that are [`Output::Channel`](super::Output::Channel); `None` when they have
    /// ended, which they do with the last process that has them open. Of two readers each gets a part.
    pub async fn read(&self) -> Option<Chunk> {
        let [stdout, stderr] = &self.outputs;
        tokio::select! {
            Some(chunk) = next(stdout, Stream::Stdout) => Some(chunk),
            Some(chunk) = next(stderr, Stream::Stderr) => Some(chunk),
            else => None,
        }
    }

    /// Sends a signal, by its number on Linux, to all processes of the run. 9 (SIGKILL) ends it, and so does any other
    /// when it is a component, which knows no signals.
    ///
    /// # Errors
    /// When there is no such signal.
    pub fn kill(&self, signal: i32) -> Result<(), BuildError> {
        let number = signal;
        let signal = Signal::new(number).map_err(|_| BuildError::Signal(number))?;
        if signal == Signal::KILL || !self.kernel.processes.signal_run(&self.run, signal) {
            self.kernel.end_run(&self.run, End::Signaled(signal, None));
        }
        Ok(())
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.run.is_over()
    }

    /// Waits for its end. It can be asked again. Output that nobody reads keeps a command from ending once 64 KiB of it
    /// wait, and what waits then can still be read.
    ///
    /// # Errors
    /// When the host failed a standard stream.
    pub async fn wait(&self) -> Result<Outcome, BuildError> {
        self.outcome.get_or_try_init(|| self.finish()).await.cloned()
    }

    /// The same, once.
    pub(super) async fn finish(&self) -> Result<Outcome, BuildError> {
        let end = self.run.ended().await;
        let duration = *self.duration.get_or_init(|| self.run.elapsed());
        self.drain().await;
        if let Some(error) = self.failure.get() {
            return Err(BuildError::Stream(io::Error::new(error.kind(), error.to_string())));
        }
        Ok(self.outcome_of(&end, duration))
    }

    /// Waits until the writers have got everything.
    async fn drain(&self) {
        for stream in &mut *self.drained.lock().await {
            let Some(mut drained) = stream.take() else { continue };
            let wait = self.kernel.runtime.handle().spawn(async move {
                // A writer that died has got all it will get.
                let _ = tokio::time::timeout(DRAIN, &mut drained).await;
            });
            let _ = wait.await;
        }
    }

    fn outcome_of(&self, end: &End, duration: Duration) -> Outcome {
        let take =
            |stream: &Mutex<Vec<u8>>| std::mem::take(&mut *stream.lock().unwrap_or_else(PoisonError::into_inner));
        let (kernel, run) = (&self.kernel, &self.run);
        Outcome {
            exit_code: end.shell_status(),
            limit: limit_of(end),
            limits_hit: kernel.budget.counters.snapshot(),
            stdout: take(&run.stdout),
            stderr: take(&run.stderr),
            duration,
            fuel: run.fuel_used(),
            peak_memory: kernel.budget.memory.peak(),
            processes: run.processes.load(std::sync::atomic::Ordering::Relaxed),
            hints: run.misses().iter().map(hint).collect(),
            written: run.written.take(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kernel.end_run(&self.run, End::Signaled(Signal::KILL, None));
    }
}

/// The next piece of a stream; `None` at its end.
async fn next(reader: &Option<PipeReader>, stream: Stream) -> Option<Chunk> {
    let mut bytes = vec![0; CHUNK];
    let count = reader.as_ref()?.pipe().read(&mut bytes).await.unwrap_or(0);
    bytes.truncate(count);
    (count > 0).then_some(Chunk { stream, bytes })
}
