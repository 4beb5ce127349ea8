//! WASI 0.2 command components, over wasmtime-wasi: the mounts are its preopens.
//!
//! A component is alone: it has no other processes, and wasmtime-wasi serves its files, so the limits `disk`, `inodes`
//! and `file_size` are not counted for it. Time, fuel, memory and output are.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Engine, ResourceLimiter, Store, UpdateDeadline};
use wasmtime_wasi::cli::{IsTerminal, StdinStream, StdoutStream};
use wasmtime_wasi::p2::bindings::Command;
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use super::builder::Mount;
use super::engine::{FUEL_INTERVAL, Flavour};
use super::errno::Errno;
use super::kernel::{End, ImageError, Kernel, Kind, OpenFile, Run, end_of_trap};
use super::limits::LimitName;

/// What a component is started with.
pub struct Request<'a> {
    /// The component.
    pub bytes: Vec<u8>,
    /// Its arguments.
    pub argv: Vec<String>,
    /// Its environment.
    pub env: Vec<(String, String)>,
    /// Its preopened folders.
    pub mounts: &'a [Mount],
    /// Standard input, output and error.
    pub streams: [Arc<OpenFile>; 3],
}

/// Whether a file is a component: the layer in the version field is 1.
pub fn is_component(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\0asm") && bytes.get(6) == Some(&1)
}

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    limiter: Limiter,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

struct Limiter {
    kernel: Arc<Kernel>,
    charged: u64,
}

impl Limiter {
    fn claim(&mut self, amount: u64) -> bool {
        if self.charged.saturating_add(amount) > self.kernel.limits.process_memory {
            self.kernel.budget.counters.hit(LimitName::ProcessMemory);
            return false;
        }
        if !self.kernel.budget.memory.charge(amount) {
            self.kernel.budget.counters.hit(LimitName::Memory);
            return false;
        }
        self.charged += amount;
        true
    }
}

impl Drop for Limiter {
    fn drop(&mut self) {
        self.kernel.budget.memory.refund(self.charged);
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(maximum.is_none_or(|maximum| desired <= maximum) && self.claim(desired.saturating_sub(current) as u64))
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let bytes = (desired.saturating_sub(current) as u64).saturating_mul(16);
        Ok(maximum.is_none_or(|maximum| desired <= maximum) && self.claim(bytes))
    }
}

/// Starts a component; its end is the run's.
pub async fn start(
    kernel: &Arc<Kernel>,
    run: &Arc<Run>,
    request: Request<'_>,
) -> std::result::Result<tokio::task::JoinHandle<()>, ImageError> {
    let failed = |message: String| ImageError { errno: Errno::NoExec, message: Some(message) };
    if request.bytes.len() as u64 > kernel.limits.module {
        kernel.budget.counters.hit(LimitName::Module);
        return Err(failed(format!("a component of {} bytes is over the limit", request.bytes.len())));
    }
    let mut wasi = WasiCtxBuilder::new();
    wasi.args(&request.argv).envs(&request.env);
    for mount in request.mounts {
        let perms = if mount.is_read_only() { FsPerms::ReadOnly } else { FsPerms::ReadWrite };
        wasi.preopened_dir(mount.host(), mount.guest(), perms)
            .map_err(|error| failed(format!("cannot open {}: {error}", mount.host().display())))?;
    }
    let [stdin, stdout, stderr] =
        request.streams.map(|file| Stream { file, kernel: Arc::clone(kernel), pending: None });
    wasi.stdin(stdin).stdout(stdout).stderr(stderr);

    let engine = kernel.runtime.programs().engine(kernel.flavour).map_err(|error| failed(error.to_string()))?.clone();
    let began = std::time::Instant::now();
    let compiler = engine.clone();
    let compiled = kernel.runtime.handle().spawn_blocking(move || Component::new(&compiler, &request.bytes)).await;
    let component = compiled.map_err(|error| failed(error.to_string()))?;
    let component = component.map_err(|error| failed(format!("the component cannot be compiled: {error:#}")))?;
    run.extend_deadline(began.elapsed());

    let state = State { wasi: wasi.build(), table: ResourceTable::new(), limiter: limiter(kernel) };
    let store = store(&engine, kernel, run, state).map_err(|error| failed(error.to_string()))?;
    let (kernel_of_task, run) = (Arc::clone(kernel), Arc::clone(run));
    Ok(kernel.runtime.spawn(async move {
        let end = execute(store, &engine, &component).await;
        kernel_of_task.end_run(&run, end);
    }))
}

fn limiter(kernel: &Arc<Kernel>) -> Limiter {
    Limiter { kernel: Arc::clone(kernel), charged: 0 }
}

fn store(engine: &Engine, kernel: &Kernel, run: &Run, state: State) -> wasmtime::Result<Store<State>> {
    let mut store = Store::new(engine, state);
    store.limiter(|state| &mut state.limiter);
    match kernel.flavour {
        Flavour::Epoch => {
            store.set_epoch_deadline(1);
            store.epoch_deadline_callback(|_| Ok(UpdateDeadline::Yield(1)));
        }
        Flavour::Fuel => {
            store.set_fuel(run.fuel.as_ref().map_or(u64::MAX, super::kernel::FuelTank::left))?;
            store.fuel_async_yield_interval(Some(FUEL_INTERVAL))?;
        }
    }
    Ok(store)
}

async fn execute(mut store: Store<State>, engine: &Engine, component: &Component) -> End {
    let mut linker = Linker::new(engine);
    let linked = wasmtime_wasi::p2::add_to_linker_async(&mut linker);
    let result = async {
        linked?;
        let command = Command::instantiate_async(&mut store, component, &linker).await?;
        command.wasi_cli_run().call_run(&mut store).await
    };
    match result.await {
        Ok(Ok(())) => End::Exited(0),
        Ok(Err(())) => End::Exited(1),
        Err(error) => match error.downcast_ref::<I32Exit>() {
            Some(exit) => End::Exited((exit.0 & 0xff) as u8),
            None => end_of_trap(&error),
        },
    }
}

type Pending = Pin<Box<dyn Future<Output = super::errno::Result<Vec<u8>>> + Send + Sync>>;

/// A standard stream.
struct Stream {
    file: Arc<OpenFile>,
    kernel: Arc<Kernel>,
    pending: Option<Pending>,
}

impl Stream {
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
