//! WASI 0.2 command components, over wasmtime-wasi: the mounts are its preopens.
//!
//! A component is alone: it has no other processes. Its files are wasmtime-wasi's; what they take is counted in
//! [`files`].

mod files;
mod streams;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Engine, ResourceLimiter, Store, UpdateDeadline};
use wasmtime_wasi::p2::bindings::CommandPre;
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use super::builder::Mount;
use super::engine::{FUEL_INTERVAL, Flavour};
use super::errno::Errno;
use super::kernel::{
    End, INIT, ImageError, Kernel, OpenFile, ProcessMemory, Run, TraceEvent, end_of_trap, memory_growth, table_growth,
};
use super::limits::LimitName;

use files::Ledger;
use streams::Stream;

/// The most handles (descriptors, streams, pollables) that a component may hold: each is an allocation of the host's.
const HANDLES_MAX: usize = 10_000;

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

/// What the host keeps for a component.
struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    limiter: Limiter,
    ledger: Ledger,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

struct Limiter(ProcessMemory);

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(memory_growth(current, desired, maximum).is_some_and(|bytes| self.0.charge(bytes)))
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(table_growth(current, desired, maximum).is_some_and(|bytes| self.0.charge(bytes)))
    }
}

/// Starts a component; its end is the run's.
pub async fn start(
    kernel: &Arc<Kernel>,
    run: &Arc<Run>,
    request: Request<'_>,
) -> std::result::Result<tokio::task::JoinHandle<()>, ImageError> {
    let failed = |message: String| ImageError { errno: Errno::NoExec, message: Some(message) };
    if kernel.clock.is_deterministic() {
        let text = "a component gets the host's time and randomness, so its runs are not deterministic";
        return Err(failed(format!("{text}; build it for wasm32-wasip1")));
    }
    if run.tty().is_some() {
        return Err(failed("a component can have no terminal; run it without, or build it for wasm32-wasip1".into()));
    }
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
    let stderr_file = Arc::clone(&request.streams[2]);
    let [stdin, stdout, stderr] = request.streams.map(|file| Stream::new(file, kernel));
    wasi.stdin(stdin).stdout(stdout).stderr(stderr);

    let engine = kernel.runtime.programs().engine(kernel.flavour).map_err(|error| failed(error.to_string()))?.clone();
    let began = Instant::now();
    let compiler = engine.clone();
    let compiled = kernel.runtime.handle().spawn_blocking(move || compile(&compiler, &request.bytes)).await;
    let command = compiled.map_err(|error| failed(error.to_string()))?.map_err(failed)?;
    run.extend_deadline(began.elapsed());

    let mut table = ResourceTable::new();
    table.set_max_capacity(HANDLES_MAX);
    let budget = &kernel.budget;
    let ledger = Ledger::new(Arc::clone(&budget.disk), Arc::clone(&budget.counters), kernel.limits.open_files);
    let limiter = Limiter(ProcessMemory::new(kernel));
    let state = State { wasi: wasi.build(), table, limiter, ledger };
    let store = store(&engine, kernel, run, state).map_err(|error| failed(error.to_string()))?;
    run.processes.fetch_add(1, Ordering::Relaxed);
    let life = Life { kernel: Arc::clone(kernel), run: Arc::clone(run), argv: request.argv, stderr: stderr_file };
    life.tell_start();
    Ok(kernel.runtime.spawn(life.execute(store, command)))
}

/// Compiles a component and checks that it is a command whose imports exist.
fn compile(engine: &Engine, bytes: &[u8]) -> std::result::Result<CommandPre<State>, String> {
    // Some of the engine's messages have several lines.
    let line = |error: wasmtime::Error| format!("{error:#}").split_whitespace().collect::<Vec<_>>().join(" ");
    let component =
        Component::new(engine, bytes).map_err(|error| format!("the component cannot be compiled: {}", line(error)))?;
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)
        .and_then(|()| files::add_to_linker(&mut linker))
        .and_then(|()| linker.instantiate_pre(&component))
        .and_then(CommandPre::new)
        .map_err(|error| format!("the component cannot be linked: {}", line(error)))
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

/// A component that runs.
struct Life {
    kernel: Arc<Kernel>,
    run: Arc<Run>,
    argv: Vec<String>,
    stderr: Arc<OpenFile>,
}

impl Life {
    fn name(&self) -> &str {
        self.argv.first().map_or("", String::as_str)
    }

    fn tell_start(&self) {
        if let Some(trace) = &self.kernel.trace {
            trace.tell(TraceEvent::Start {
                at_ms: self.kernel.clock.elapsed_ms(),
                pid: INIT + 1,
                parent: INIT,
                program: self.name().to_owned(),
                argv: self.argv.clone(),
                cwd: "/".into(),
            });
        }
    }

    fn tell_end(&self, end: &End, cpu: Duration, peak_memory_bytes: u64) {
        if let Some(trace) = &self.kernel.trace {
            trace.tell(TraceEvent::Exit {
                at_ms: self.kernel.clock.elapsed_ms(),
                pid: INIT + 1,
                status: end.shell_status(),
                reason: end.reason(),
                cpu_ms: cpu.as_secs_f64() * 1e3,
                peak_memory_bytes,
            });
        }
    }

    async fn execute(self, mut store: Store<State>, command: CommandPre<State>) {
        let fuel = store.get_fuel().ok();
        let (result, cpu) = {
            let mut code = pin!(async {
                let command = command.instantiate_async(&mut store).await?;
                command.wasi_cli_run().call_run(&mut store).await
            });
            let mut cpu = Duration::ZERO;
            let result = poll_fn(|context| {
                let began = Instant::now();
                let polled = code.as_mut().poll(context);
                cpu += began.elapsed();
                polled
            });
            (result.await, cpu)
        };
        let end = match result {
            Ok(Ok(())) => End::Exited(0),
            Ok(Err(())) => End::Exited(1),
            Err(error) => match error.downcast_ref::<I32Exit>() {
                Some(exit) => End::Exited((exit.0 & 0xff) as u8),
                None => end_of_trap(&error),
            },
        };
        if let (Some(tank), Some(before)) = (&self.run.fuel, fuel) {
            tank.burn(before.saturating_sub(store.get_fuel().unwrap_or(0)));
        }
        if let End::Signaled(_, Some(reason)) | End::Failed(reason) = &end {
            let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
            // Nobody to hear it is no reason to fail.
            let _ = self.stderr.say(&self.kernel, format!("{}: {reason}\n", self.name()).as_bytes());
        }
        self.tell_end(&end, cpu, store.data().limiter.0.charged());
        // Its streams end before its run does.
        drop(store);
        let Self { kernel, run, stderr, .. } = self;
        drop(stderr);
        kernel.end_run(&run, end);
    }
}
