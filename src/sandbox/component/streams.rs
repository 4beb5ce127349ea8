//! The standard streams of a component, over the kernel's descriptions.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wasmtime_wasi::cli::{IsTerminal, StdinStream, StdoutStream};

use crate::sandbox::errno::Result;
use crate::sandbox::kernel::{Kernel, Kind, OpenFile};

type Pending = Pin<Box<dyn Future<Output = Result<Vec<u8>>> + Send + Sync>>;

/// A standard stream.
pub struct Stream {
    file: Arc<OpenFile>,
    kernel: Arc<Kernel>,
    pending: Option<Pending>,
}

impl Stream {
    /// A stream over a description.
    pub fn new(file: Arc<OpenFile>, kernel: &Arc<Kernel>) -> Self {
        Self { file, kernel: Arc::clone(kernel), pending: None }
    }

    fn again(&self) -> Self {
        Self { file: Arc::clone(&self.file), kernel: Arc::clone(&self.kernel), pending: None }
    }
}

impl IsTerminal for Stream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdinStream for Stream {
    fn async_stream(&self) -> Box<dyn AsyncRead + Send + Sync> {
        Box::new(self.again())
    }
}

impl StdoutStream for Stream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.again())
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        let Kind::Pipe { reader: Some(reader), .. } = this.file.kind() else { return Poll::Ready(Ok(())) };
        let pipe = Arc::clone(reader.pipe());
        let want = buffer.remaining();
        let pending = this.pending.get_or_insert_with(|| {
            Box::pin(async move {
                let mut bytes = vec![0; want];
                let count = pipe.read(&mut bytes).await?;
                bytes.truncate(count);
                Ok(bytes)
            })
        });
        let polled = pending.as_mut().poll(context);
        polled.map(|read| {
            this.pending = None;
            let bytes = read.map_err(|_| std::io::Error::from(std::io::ErrorKind::BrokenPipe))?;
            // The buffer of a later call may be smaller than the one that was asked for; wasmtime-wasi's is not.
            buffer.put_slice(&bytes[..bytes.len().min(buffer.remaining())]);
            Ok(())
        })
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, data: &[u8]) -> Poll<std::io::Result<usize>> {
        let this = self.get_mut();
        let broken = |_| std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        let Kind::Pipe { writer: Some(writer), .. } = this.file.kind() else {
            return Poll::Ready(this.file.say(&this.kernel, data).map_err(broken));
        };
        let pipe = Arc::clone(writer.pipe());
        let copy = data.to_vec();
        let pending = this.pending.get_or_insert_with(|| {
            Box::pin(async move {
                pipe.write(&copy).await?;
                Ok(copy)
            })
        });
        let polled = pending.as_mut().poll(context);
        polled.map(|written| {
            this.pending = None;
            written.map(|bytes| bytes.len()).map_err(broken)
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
