//! The task of a process: instantiate, run, and take down.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use wasmtime::{Store, Trap, UpdateDeadline};

use super::Kernel;
use super::context::ProcessCtx;
use super::end::End;
use super::process::Process;
use super::signal::Signal;
use super::spawn::Prepared;
use super::trace::TraceEvent;
use crate::sandbox::engine::{FUEL_INTERVAL, Flavour};
use crate::sandbox::limits::LimitName;
use crate::sandbox::program::{InstancePlace, Program};

/// How a guest's code is left from within a host call.
#[derive(Debug, thiserror::Error)]
pub enum Flow {
    /// proc_exit.
    #[error("exit")]
    Exit(u8),
    /// A signal that cannot be handled where it arose, as SIGPIPE in a write.
    #[error("killed by a signal")]
    Kill(Signal),
    /// exec.
    #[error("exec")]
    Exec(std::sync::Mutex<Option<Prepared>>),
}

/// Starts the task of a new process, whose instance has this place.
pub fn start(ctx: ProcessCtx, program: Arc<Program>, place: InstancePlace) {
    let kernel = Arc::clone(&ctx.kernel);
    kernel.task_begins();
    let pid = ctx.process.pid;
    // It ends by itself: it waits for its doom.
    drop(kernel.executor.spawn(pid, life(ctx, program, place)));
}

/// What must happen at the end of a process's task even when a host call panics: otherwise its parent, its run and the
/// closing of the sandbox would wait for ever.
struct Alive {
    kernel: Arc<Kernel>,
    process: Arc<Process>,
    told: bool,
}

impl Drop for Alive {
    fn drop(&mut self) {
        if !self.told {
            tell(&self.kernel, &self.process, &End::Failed("internal error".into()));
        }
        self.kernel.task_ends();
    }
}

async fn life(mut ctx: ProcessCtx, mut program: Arc<Program>, place: InstancePlace) {
    let kernel = Arc::clone(&ctx.kernel);
    let process = Arc::clone(&ctx.process);
    let mut alive = Alive { kernel: Arc::clone(&kernel), process: Arc::clone(&process), told: false };
    loop {
        let mut store = prepare_store(ctx, &program);
        let result = {
            let code = timed(execute(&mut store, &program), &kernel, &process);
            tokio::select! {
                biased;
                end = process.doomed() => Err(end),
                result = code => Ok(result),
            }
        };
        settle_fuel(&mut store);
        let outcome = match result {
            Err(end) => Outcome::Ended(end),
            Ok(Ok(())) => Outcome::Ended(End::Exited(0)),
            Ok(Err(error)) => read_error(&mut store, &error),
        };
        match outcome {
            Outcome::Exec(prepared) => {
                store.data_mut().limiter.reset();
                let (next, image) = prepared.replace(store.data_mut());
                ctx = next;
                program = image;
            }
            Outcome::Ended(end) => {
                let end = complain(store.data(), end);
                finish(store.data_mut(), &end);
                alive.told = true;
                // Taking down the instance (unmapping its memory) is off everyone's path.
                drop(store);
                drop(place);
                break;
            }
        }
    }
}

enum Outcome {
    Exec(Prepared),
    Ended(End),
}

fn prepare_store(mut ctx: ProcessCtx, program: &Program) -> Store<ProcessCtx> {
    ctx.bound = program.bound();
    let preopens = i32::try_from(ctx.kernel.view.preopens.len()).unwrap_or(i32::MAX);
    ctx.current.descriptors.set_first_free(preopens.saturating_add(3));
    let fuel = ctx.run().fuel.as_ref().map(super::FuelTank::left);
    let mut store = Store::new(program.engine(), ctx);
    store.limiter(|ctx| &mut ctx.limiter);
    match program.flavour() {
        Flavour::Epoch => {
            store.set_epoch_deadline(1);
            store.epoch_deadline_callback(|mut store| {
                raise_flag(&mut store);
                Ok(UpdateDeadline::Yield(1))
            });
        }
        Flavour::Fuel => {
            let fuel = fuel.unwrap_or(u64::MAX);
            store.data_mut().fuel_seen = fuel;
            // Both only fail for an engine without fuel, which this flavour has.
            let _ = store.set_fuel(fuel);
            let _ = store.fuel_async_yield_interval(Some(FUEL_INTERVAL));
        }
    }
    store
}

/// Tells a computing guest that a signal waits for it.
fn raise_flag(store: &mut wasmtime::StoreContextMut<'_, ProcessCtx>) {
    let ctx = store.data();
    let address = ctx.signal_flag as usize;
    if address == 0 || !ctx.process.signals.is_pending() {
        return;
    }
    if let Some(memory) = ctx.memory
        && let Some(flag) = memory.data_mut(store).get_mut(address)
    {
        *flag = 1;
    }
}

async fn execute(store: &mut Store<ProcessCtx>, program: &Program) -> wasmtime::Result<()> {
    let instance = program.instantiate(&mut *store).await?;
    store.data_mut().memory = instance.get_memory(&mut *store, "memory");
    let start = instance.get_typed_func::<(), ()>(&mut *store, "_start")?;
    start.call_async(&mut *store, ()).await
}

fn read_error(store: &mut Store<ProcessCtx>, error: &wasmtime::Error) -> Outcome {
    if let Some(flow) = error.downcast_ref::<Flow>() {
        return match flow {
            Flow::Exit(code) => Outcome::Ended(End::Exited(*code)),
            Flow::Kill(signal) => Outcome::Ended(End::Signaled(*signal, None)),
            Flow::Exec(prepared) => match prepared.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take() {
                Some(prepared) => Outcome::Exec(prepared),
                None => Outcome::Ended(End::Failed("exec without an image".into())),
            },
        };
    }
    let end = end_of_trap(error);
    match end {
        End::Limit(LimitName::Fuel) => store.data().kernel.end_run(store.data().run(), end.clone()),
        End::Signaled(..) if matches!(error.downcast_ref(), Some(Trap::StackOverflow)) => {
            store.data().kernel.budget.counters.hit(LimitName::Stack);
        }
        _ => {}
    }
    Outcome::Ended(end)
}

/// What a trap looks like to others: a signal, as if the machine had sent it.
pub fn end_of_trap(error: &wasmtime::Error) -> End {
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => End::Limit(LimitName::Fuel),
        Some(Trap::StackOverflow) => End::Signaled(Signal::SEGV, Some("stack exhausted".into())),
        Some(Trap::UnreachableCodeReached) => End::Signaled(Signal::ABRT, Some("aborted".into())),
        Some(trap) => {
            let signal = match trap {
                Trap::IntegerDivisionByZero | Trap::IntegerOverflow | Trap::BadConversionToInteger => Signal::FPE,
                _ => Signal::SEGV,
            };
            let text = trap.to_string();
            // The reader knows programs, not what they are compiled to.
            End::Signaled(signal, Some(text.strip_prefix("wasm trap: ").unwrap_or(&text).to_owned()))
        }
        None => End::Failed(error.root_cause().to_string()),
    }
}

/// Says on the process's standard error why it died, in one line and without waiting.
fn complain(ctx: &ProcessCtx, end: End) -> End {
    let reason = match &end {
        End::Signaled(_, Some(reason)) | End::Failed(reason) => reason,
        _ => return end,
    };
    let name = ctx.argv.first().map(|name| String::from_utf8_lossy(name).into_owned()).unwrap_or_default();
    if let Ok(file) = ctx.file(2) {
        // Nobody to hear it is no reason to fail.
        let _ = file.say(&ctx.kernel, format!("{name}: {reason}\n").as_bytes());
    }
    end
}

fn finish(ctx: &mut ProcessCtx, end: &End) {
    ctx.close_all();
    let kernel = Arc::clone(&ctx.kernel);
    let process = Arc::clone(&ctx.process);
    if let Some(trace) = &kernel.trace {
        trace.tell(TraceEvent::Exit {
            at_ms: kernel.clock.elapsed_ms(),
            pid: process.pid,
            status: end.shell_status(),
            reason: end.reason(),
            cpu_ms: process.cpu_ns.load(Ordering::Relaxed) as f64 / 1e6,
            peak_memory_bytes: process.peak_memory.load(Ordering::Relaxed),
        });
    }
    tell(&kernel, &process, end);
}

/// Tells the parent, and when it was a run's first process, the run.
fn tell(kernel: &Kernel, process: &Process, end: &End) {
    kernel.processes.finish(process, end);
    if process.run.is_first(process.pid) {
        kernel.end_run(&process.run, end.clone());
    }
}

/// Charges what the store used since it was last asked.
pub fn settle_fuel(mut store: impl wasmtime::AsContextMut<Data = ProcessCtx>) {
    let mut store = store.as_context_mut();
    let process = Arc::clone(&store.data().process);
    let Some(tank) = &process.run.fuel else { return };
    let Ok(now) = store.get_fuel() else { return };
    let used = store.data().fuel_seen.saturating_sub(now);
    tank.unburn(process.fuel_ahead.swap(0, Ordering::Relaxed));
    let left = tank.burn(used);
    if store.data().kernel.clock.is_deterministic() {
        process.cpu_ns.fetch_add(used, Ordering::Relaxed);
    }
    store.data_mut().fuel_seen = left;
    // The engine counts fuel: `get_fuel` answered.
    let _ = store.set_fuel(left);
}

/// Polls a process's code, adding up the time it takes. In the fuel flavour it yields at each interval: a poll that
/// ends without a host call waiting stands for one, which is charged ahead of the exact figure.
async fn timed<F: Future>(code: F, kernel: &Kernel, process: &Process) -> F::Output {
    let mut code = pin!(code);
    poll_fn(|context| {
        let began = kernel.clock.elapsed_ns();
        process.slice_began.store(began, Ordering::Relaxed);
        let polled = code.as_mut().poll(context);
        if !kernel.clock.is_deterministic() {
            process.cpu_ns.fetch_add(kernel.clock.elapsed_ns().saturating_sub(began), Ordering::Relaxed);
        }
        if let Some(tank) = &process.run.fuel
            && polled.is_pending()
            && !process.waiting.load(Ordering::Relaxed)
        {
            process.fuel_ahead.fetch_add(FUEL_INTERVAL, Ordering::Relaxed);
            // Made-up time passes with what is computed, one nanosecond for an instruction.
            kernel.clock.pass(FUEL_INTERVAL);
            if tank.burn(FUEL_INTERVAL) == 0 {
                kernel.end_run(&process.run, End::Limit(LimitName::Fuel));
            }
        }
        polled
    })
    .await
}
