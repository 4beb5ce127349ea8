//! Standard streams of a run, on the host's side.

use std::fmt;
use std::io::{Read, Write};
use std::sync::{Arc, OnceLock};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::kernel::{Device, INIT, PipeReader, PipeWriter};
use super::kernel::{Kernel, Kind, OpenFile, OutputStream, Run};

/// How much is moved at a time.
const CHUNK: usize = 64 * 1024;

/// Where standard input comes from.
pub enum Input {
    /// Nothing: `/dev/null`.
    Empty,
    /// These bytes.
    Bytes(Vec<u8>),
    /// A reader, read on a thread of its own as the guest asks for more.
    Reader(Box<dyn Read + Send>),
    /// What [`Running::write_stdin`](super::Running::write_stdin) brings, until
    /// [`Running::close_stdin`](super::Running::close_stdin). For [`RunBuilder::start`](super::RunBuilder::start); with
    /// [`RunBuilder::run`](super::RunBuilder::run) nobody can write, and it is empty.
    Channel,
}

impl Input {
    /// A reader.
    pub fn reader(reader: impl Read + Send + 'static) -> Self {
        Self::Reader(Box::new(reader))
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "Empty",
            Self::Bytes(_) => "Bytes",
            Self::Reader(_) => "Reader",
            Self::Channel => "Channel",
        })
    }
}

/// Where standard output or error goes.
pub enum Output {
    /// Into the outcome, up to the limit `output`.
    Capture,
    /// Nowhere.
    Discard,
    /// To a writer as it comes, on a thread of its own, without end. When the writer fails the guest gets SIGPIPE.
    Writer(Box<dyn Write + Send>),
    /// To [`Running::read`](super::Running::read) as it comes, without end. What nobody has read yet is bounded to
    /// 64 KiB; then the guest waits. For [`RunBuilder::start`](super::RunBuilder::start); with
    /// [`RunBuilder::run`](super::RunBuilder::run) nobody reads, and it is discarded.
    Channel,
}

impl Output {
    /// A writer.
    pub fn writer(writer: impl Write + Send + 'static) -> Self {
        Self::Writer(Box::new(writer))
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Capture => "Capture",
            Self::Discard => "Discard",
            Self::Writer(_) => "Writer",
            Self::Channel => "Channel",
        })
    }
}

/// Told when everything has been written.
pub type Drained = oneshot::Receiver<()>;

/// What the caller of a run has of an output.
#[derive(Debug, Default)]
pub struct Taken {
    /// A writer's.
    pub drained: Option<Drained>,
    /// Where the caller reads.
    pub reader: Option<PipeReader>,
}

/// Why a stream's thread could not be started. Its run has failed then, whatever the guest made of it.
pub type Failure = Arc<OnceLock<std::io::Error>>;

impl Input {
    /// A reader's content, read to its end.
    pub(super) async fn read_whole(self) -> std::io::Result<Self> {
        let Self::Reader(mut source) = self else { return Ok(self) };
        let (done, read) = oneshot::channel();
        std::thread::Builder::new().name("wskill-stdin".into()).spawn(move || {
            let mut bytes = Vec::new();
            let result = source.read_to_end(&mut bytes).map(|_| bytes);
            // The run may have been dropped.
            let _ = done.send(result);
        })?;
        read.await.unwrap_or_else(|_| Err(std::io::Error::other("the reader panicked"))).map(Self::Bytes)
    }

    /// The description for descriptor 0, and what writes to it when that is the caller.
    pub(super) fn open(self, kernel: &Arc<Kernel>, failure: &Failure) -> (Arc<OpenFile>, Option<PipeWriter>) {
        let mut channel = None;
        let kind = match self {
            Self::Empty => Kind::Device(Device::Null),
            Self::Channel => {
                let pipe = kernel.new_pipe(false);
                channel = Some(PipeWriter::new(&pipe));
                Kind::Pipe { reader: Some(PipeReader::new(&pipe)), writer: None, fifo: None }
            }
            Self::Bytes(bytes) => {
                let pipe = kernel.new_pipe(false);
                let (reader, writer) = (PipeReader::new(&pipe), PipeWriter::new(&pipe));
                // What fits needs no task to feed it.
                let fits = writer.pipe().try_write(&bytes).unwrap_or(0);
                if fits < bytes.len() {
                    // It ends with the reader: the guest may stop reading whenever it likes.
                    drop(kernel.executor.spawn(INIT, async move {
                        let _ = writer.pipe().write(&bytes[fits..]).await;
                    }));
                }
                Kind::Pipe { reader: Some(reader), writer: None, fifo: None }
            }
            Self::Reader(mut source) => {
                let pipe = kernel.new_pipe(false);
                let (reader, writer) = (PipeReader::new(&pipe), PipeWriter::new(&pipe));
                pipe.set_asleep();
                let (handle, failure) = (kernel.runtime.handle().clone(), Arc::clone(failure));
                // Most commands read nothing: the thread starts, and the source is touched, with the first that does.
                kernel.runtime.handle().spawn(async move {
                    if writer.pipe().wait_for_demand().await {
                        thread("wskill-stdin", &failure, move || feed(&mut *source, &writer, &handle));
                    }
                });
                Kind::Pipe { reader: Some(reader), writer: None, fifo: None }
            }
        };
        (Arc::new(OpenFile::new(kind, true, false)), channel)
    }
}

impl Output {
    /// The description for descriptor 1 or (`error`) 2, and what the run's caller has of it.
    pub(super) fn open(
        self,
        kernel: &Arc<Kernel>,
        run: &Arc<Run>,
        error: bool,
        failure: &Failure,
    ) -> (Arc<OpenFile>, Taken) {
        let mut taken = Taken::default();
        let kind = match self {
            Self::Capture => Kind::Output(OutputStream::new(Arc::clone(run), error)),
            Self::Discard => Kind::Device(Device::Null),
            Self::Channel => {
                // As for a writer.
                let pipe = kernel.new_pipe(kernel.clock.is_deterministic());
                taken.reader = Some(PipeReader::new(&pipe));
                Kind::Pipe { reader: None, writer: Some(PipeWriter::new(&pipe)), fifo: None }
            }
            Self::Writer(target) => {
                // A guest of a deterministic sandbox must not notice how fast the host takes its output.
                let pipe = kernel.new_pipe(kernel.clock.is_deterministic());
                let (reader, writer) = (PipeReader::new(&pipe), PipeWriter::new(&pipe));
                let (handle, failure) = (kernel.runtime.handle().clone(), Arc::clone(failure));
                let (done, drained) = oneshot::channel();
                // Most commands write nothing to standard error: the thread starts with the first bytes.
                kernel.runtime.handle().spawn(async move {
                    let mut buffer = vec![0; CHUNK];
                    match reader.pipe().read(&mut buffer).await {
                        Ok(first @ 1..) => {
                            let name = if error { "wskill-stderr" } else { "wskill-stdout" };
                            thread(name, &failure, move || deliver(target, &reader, &handle, (buffer, first), done));
                        }
                        // As at the end of `deliver`.
                        _ => drop(done.send(())),
                    }
                });
                taken.drained = Some(drained);
                Kind::Pipe { reader: None, writer: Some(writer), fifo: None }
            }
        };
        (Arc::new(OpenFile::new(kind, false, true)), taken)
    }
}

/// Starts a thread that nobody waits for.
fn thread(name: &str, failure: &Failure, work: impl FnOnce() + Send + 'static) {
    if let Err(error) = std::thread::Builder::new().name(name.into()).spawn(work) {
        // The first one is told.
        let _ = failure.set(error);
    }
}

/// Moves all that a source has into a pipe.
fn feed(source: &mut dyn Read, writer: &PipeWriter, handle: &Handle) {
    let mut buffer = vec![0; CHUNK];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) if handle.block_on(writer.pipe().write(&buffer[..count])).is_ok() => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            _ => return,
        }
    }
}

/// Moves a buffer with its first bytes, then all that comes from a pipe, to a writer, and tells when all is there.
fn deliver(
    mut target: Box<dyn Write + Send>,
    reader: &PipeReader,
    handle: &Handle,
    (mut buffer, mut count): (Vec<u8>, usize),
    done: oneshot::Sender<()>,
) {
    while target.write_all(&buffer[..count]).and_then(|()| target.flush()).is_ok() {
        match handle.block_on(reader.pipe().read(&mut buffer)) {
            Ok(more @ 1..) => count = more,
            _ => break,
        }
    }
    // The run may have been dropped.
    let _ = done.send(());
}
