//! What sandboxes share: threads for guests, engines, compiled programs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::engine::{Allocation, Flavour};
use super::program::{Compiler, Program, ProgramError, Programs, Progress};
use super::root;
use super::vfs::MemoryTree;

/// How often computing guests are looked at. A killed one is gone within this time, and so many others get their turn.
const TICK: Duration = Duration::from_millis(4);

/// Why a [`Runtime`] could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The host would not give threads.
    #[error("cannot start the threads of the sandbox: {0}")]
    Threads(std::io::Error),
    /// The engine cannot be made, for lack of address space mostly.
    #[error("cannot make the WebAssembly engine: {0}; try fewer slots")]
    Engine(String),
    /// The programs cannot be read.
    #[error(transparent)]
    Programs(#[from] ProgramError),
}

/// Makes a [`Runtime`].
#[derive(Clone, Debug)]
pub struct RuntimeBuilder {
    threads: usize,
    allocation: Allocation,
    cache: Option<PathBuf>,
    programs: Option<PathBuf>,
    progress: Option<Progress>,
    compiler: Compiler,
}

impl RuntimeBuilder {
    /// How many threads run guests. Default: as many as the host has processors.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Takes instances from a pool of `slots`, of which each keeps `keep_resident` bytes between two uses. Default: no
    /// pool. Memory that is kept is not mapped anew at a start, and is reset whole at an end: good for the shell and its
    /// tools; Python starts as fast without.
    #[must_use]
    pub fn pooled(mut self, slots: u32, keep_resident: usize) -> Self {
        self.allocation = Allocation::Pooled { slots, keep_resident, max_memory: 1 << 30 };
        self
    }

    /// Where compiled programs are kept. Default: the platform's cache folder.
    #[must_use]
    pub fn cache_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = Some(folder.into());
        self
    }

    /// Programs from a folder of modules, each with its JSON description, in place of the built-in ones.
    /// Default: `$WSKILL_PROGRAMS_DIR`, else the built-in ones.
    #[must_use]
    pub fn programs_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.programs = Some(folder.into());
        self
    }

    /// Told when a program is compiled, which takes seconds the first time.
    #[must_use]
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Compiles modules that skills bring in a child process, under limits of time and memory: `program` is a `wskill`
    /// binary. Default: in this process, where only the limit `module` bounds what they take.
    #[cfg(feature = "compile")]
    #[must_use]
    pub fn compile_with(mut self, program: impl Into<PathBuf>) -> Self {
        self.compiler = Compiler::Child(program.into());
        self
    }

    /// Starts it.
    ///
    /// # Errors
    /// When threads, the engine or the programs are not to be had.
    pub fn build(self) -> Result<Arc<Runtime>, RuntimeError> {
        // First what may fail: a tokio runtime must not be dropped where the caller may be.
        let folder = self.programs.or_else(|| std::env::var_os("WSKILL_PROGRAMS_DIR").map(PathBuf::from));
        let programs = Programs::open(folder.as_deref(), self.cache, self.allocation, self.progress, self.compiler)?;
        let tokio = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(self.threads)
            // Timers and wake-ups are looked at after each slice of a guest.
            .event_interval(1)
            .thread_name("wskill-guest")
            .enable_time()
            .build()
            .map_err(RuntimeError::Threads)?;
        Ok(Arc::new(Runtime {
            tokio: Some(tokio),
            ticker: Arc::new(Ticker::default()),
            programs,
            system: OnceLock::new(),
        }))
    }
}

/// Threads, engines and programs, shared by sandboxes. One is enough for a host, whatever the number of tenants.
#[derive(Debug)]
pub struct Runtime {
    tokio: Option<tokio::runtime::Runtime>,
    ticker: Arc<Ticker>,
    programs: Programs,
    system: OnceLock<Arc<MemoryTree>>,
}

impl Runtime {
    /// Begins to make one.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            allocation: Allocation::OnDemand,
            cache: None,
            programs: None,
            progress: None,
            compiler: Compiler::default(),
        }
    }

    /// The one that sandboxes use when they are given none, made at first use.
    ///
    /// # Errors
    /// As [`RuntimeBuilder::build`].
    pub fn shared() -> Result<Arc<Self>, RuntimeError> {
        static SHARED: OnceLock<Arc<Runtime>> = OnceLock::new();
        if let Some(runtime) = SHARED.get() {
            return Ok(Arc::clone(runtime));
        }
        let runtime = Self::builder().build()?;
        Ok(Arc::clone(SHARED.get_or_init(|| runtime)))
    }

    /// The installed programs.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// Compiles every installed program ahead.
    ///
    /// # Errors
    /// When one cannot be compiled.
    pub async fn compile_all(&self, flavour: Flavour) -> Result<(), RuntimeError> {
        Ok(self.programs.compile_all(self.handle(), flavour).await?)
    }

    /// The tree that all sandboxes have below `/`.
    pub(crate) fn system_tree(&self) -> Result<Arc<MemoryTree>, RuntimeError> {
        if let Some(tree) = self.system.get() {
            return Ok(Arc::clone(tree));
        }
        let failed = |errno| RuntimeError::Engine(format!("the system's tree cannot be made: {errno:?}"));
        let tree = Arc::new(root::tree(&self.programs, self.programs.data()?).map_err(failed)?);
        Ok(Arc::clone(self.system.get_or_init(|| tree)))
    }

    /// The handle of the guests' threads.
    pub(crate) fn handle(&self) -> &tokio::runtime::Handle {
        match &self.tokio {
            Some(tokio) => tokio.handle(),
            // It is taken only by `drop`.
            None => unreachable!("a runtime in use has threads"),
        }
    }

    /// Runs a task on the guests' threads.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> tokio::task::JoinHandle<()> {
        self.handle().spawn(task)
    }

    /// An installed program, compiled if need be; with the time that took.
    pub(crate) async fn program(
        &self,
        name: &[u8],
        flavour: Flavour,
    ) -> Result<(Arc<Program>, Duration), ProgramError> {
        self.programs.load(self.handle(), name, flavour).await
    }

    /// A module from bytes, compiled if need be; with the time that took.
    pub(crate) async fn module(
        &self,
        bytes: Vec<u8>,
        flavour: Flavour,
    ) -> Result<(Arc<Program>, Duration), ProgramError> {
        self.programs.load_module(self.handle(), bytes, flavour).await
    }

    /// Keeps epochs moving for as long as the answer lives.
    pub(crate) fn ticking(self: &Arc<Self>) -> Result<Ticking, RuntimeError> {
        Ticker::start(&self.ticker, self)?;
        Ok(Ticking(Arc::clone(&self.ticker)))
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.ticker.stop();
        if let Some(tokio) = self.tokio.take() {
            // Whoever drops it may be in an asynchronous context, where waiting for threads is forbidden.
            tokio.shutdown_background();
        }
    }
}

/// Advances the engines' epochs while anything runs.
#[derive(Debug, Default)]
struct Ticker {
    active: AtomicU64,
    state: Mutex<TickerState>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct TickerState {
    started: bool,
    stopped: bool,
}

/// While it lives, epochs move.
#[derive(Debug)]
pub struct Ticking(Arc<Ticker>);

impl Drop for Ticking {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Ticker {
    fn start(this: &Arc<Self>, runtime: &Arc<Runtime>) -> Result<(), RuntimeError> {
        let before = this.active.fetch_add(1, Ordering::AcqRel);
        let mut state = this.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.started {
            let ticker = Arc::clone(this);
            let engine = runtime.programs.engine(Flavour::Epoch)?.clone();
            let spawned = std::thread::Builder::new().name("wskill-ticker".into()).spawn(move || ticker.tick(&engine));
            spawned.map_err(RuntimeError::Threads)?;
            state.started = true;
        } else if before == 0 {
            this.wake.notify_one();
        }
        Ok(())
    }

    fn tick(&self, engine: &wasmtime::Engine) {
        loop {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            while self.active.load(Ordering::Acquire) == 0 && !state.stopped {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.stopped {
                return;
            }
            drop(state);
            std::thread::sleep(TICK);
            engine.increment_epoch();
        }
    }

    fn stop(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).stopped = true;
        self.wake.notify_one();
    }
}
