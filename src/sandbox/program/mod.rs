//! Installed programs and modules: what they are, compiled once and kept.

mod cache;
mod compile;
mod load;
mod source;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use tokio::runtime::Handle;
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};
use wasmtime::{Engine, InstancePre, Linker, Module, Store};

use super::engine::{self, Allocation, Flavour};
use super::errno::{self, Errno};
use super::kernel::ProcessCtx;
use super::{abi, wasi};

use cache::Cache;
pub(crate) use compile::Compiler;
#[cfg(feature = "compile")]
pub(crate) use compile::child::serve as serve_compiler;
use source::{DataSource, ModuleSource};

pub(crate) use source::DataFile;

/// Why a program cannot be run.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProgramError {
    /// No installed program has this name.
    #[error("no program `{0}` is installed in the sandbox")]
    Unknown(String),
    /// A folder of programs cannot be read.
    #[error("cannot read the programs in {path}: {reason}")]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// A built-in module cannot be unpacked: the build is broken.
    #[error("the program module `{name}` is damaged: {reason}")]
    Damaged {
        /// The module.
        name: String,
        /// What went wrong.
        reason: String,
    },
    /// A module wants threads.
    #[error("the module uses threads (shared memory), which the sandbox does not offer; build it for wasm32-wasip1")]
    Threads,
    /// A module cannot be compiled.
    #[error("the module cannot be compiled: {0}")]
    Compile(String),
    /// A module needs something that the sandbox does not offer.
    #[error("the module cannot be linked: {0}")]
    Link(String),
    /// No compiler is built in and no compiled module was found.
    #[error("the module is not compiled yet and this build has no compiler; run `wskill setup` with a full build")]
    NoCompiler,
    /// The engine cannot be made.
    #[error("cannot make the WebAssembly engine: {0}")]
    Engine(String),
}

/// Told about compiling.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(ProgressEvent<'_>) + Send + Sync>);

impl Progress {
    /// Calls `tell` at each event, on the threads that compile.
    pub fn new(tell: impl Fn(ProgressEvent<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    fn tell(&self, event: ProgressEvent<'_>) {
        (self.0)(event);
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}

/// Compiling begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressEvent<'a> {
    /// This module is being compiled; it has so many bytes.
    Begin(&'a str, u64),
    /// It is done.
    End(&'a str),
}

/// A compiled module, linked and ready to be instantiated.
pub struct Program {
    pre: InstancePre<ProcessCtx>,
    engine: Engine,
    flavour: Flavour,
    bound: bool,
    initial_memory: u64,
    places: Option<Arc<Semaphore>>,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("flavour", &self.flavour).field("bound", &self.bound).finish_non_exhaustive()
    }
}

impl Program {
    fn new(flavoured: &Flavoured, module: &Module, flavour: Flavour) -> Result<Self, ProgramError> {
        let Flavoured { linker, places, .. } = flavoured;
        if module.get_export("_start").is_none() {
            return Err(ProgramError::Link("it exports no `_start`: it is a library, not a command".into()));
        }
        let resources = module.resources_required();
        let pages = resources.max_initial_memory_size.unwrap_or(0).saturating_mul(u64::from(resources.num_memories));
        let pre = linker.instantiate_pre(module).map_err(|error| ProgramError::Link(format!("{error:#}")))?;
        Ok(Self {
            pre,
            engine: module.engine().clone(),
            flavour,
            bound: module.imports().any(|import| import.module() == abi::MODULE),
            initial_memory: pages.saturating_mul(1 << 16),
            places: places.clone(),
        })
    }

    /// The engine it was compiled for.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// How it is stopped.
    pub fn flavour(&self) -> Flavour {
        self.flavour
    }

    /// Whether it imports from `wskill`.
    pub fn bound(&self) -> bool {
        self.bound
    }

    /// The memory it begins with, bytes.
    pub fn initial_memory(&self) -> u64 {
        self.initial_memory
    }

    /// A place for an instance in the runtime's pool. `Again` when all are taken, by whatever sandboxes.
    pub fn place(&self) -> errno::Result<InstancePlace> {
        let place = self.places.as_ref().map(|places| Arc::clone(places).try_acquire_owned()).transpose();
        place.map_err(|_| Errno::Again)
    }

    /// Makes an instance.
    ///
    /// # Errors
    /// When memory is refused, or its start function traps.
    pub async fn instantiate(&self, store: &mut Store<ProcessCtx>) -> wasmtime::Result<wasmtime::Instance> {
        self.pre.instantiate_async(store).await
    }
}

/// Whether a WebAssembly file is a component: the second half of its version field is the layer, 0 for a module.
pub fn is_component(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\0asm") && bytes.get(6) == Some(&1)
}

/// An installed command, for lists.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct CommandInfo {
    /// Its name.
    pub name: String,
    /// The module it is in.
    pub module: String,
    /// What the module is made from.
    pub version: String,
}

struct Flavoured {
    engine: Engine,
    linker: Linker<ProcessCtx>,
    /// The places of its pool.
    places: Option<Arc<Semaphore>>,
}

/// A place for an instance, given back when dropped: after the instance.
pub type InstancePlace = Option<OwnedSemaphorePermit>;

/// A module that is wanted, before its bytes are needed.
struct Wanted<'a> {
    /// For progress.
    name: &'a str,
    /// Bytes, for progress.
    size: u64,
    /// Its name in the cache, the same for the same bytes.
    key: String,
}

type Slot = Arc<OnceCell<Arc<Program>>>;

/// The installed programs of a runtime.
pub struct Programs {
    allocation: Allocation,
    epoch: OnceLock<Flavoured>,
    fuel: OnceLock<Flavoured>,
    modules: Vec<ModuleSource>,
    files: Vec<DataSource>,
    commands: HashMap<Vec<u8>, usize>,
    cache: Cache,
    progress: Option<Progress>,
    compiler: Compiler,
    /// Compiled or being compiled, by module and flavour.
    installed: Mutex<HashMap<(usize, Flavour), Slot>>,
    /// The same for modules that came as bytes, by digest.
    foreign: Mutex<HashMap<([u8; 32], Flavour), Slot>>,
    data: OnceLock<Vec<(String, DataFile)>>,
}

/// The most compiled modules of skills that are kept in memory; the least recent go as a whole when it is passed.
const FOREIGN_MAX: usize = 64;

impl std::fmt::Debug for Programs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Programs").field("modules", &self.modules.len()).finish_non_exhaustive()
    }
}

impl Programs {
    /// Reads what is installed: the modules of `folder`, or the built-in ones.
    pub(crate) fn open(
        folder: Option<&Path>,
        cache: Option<PathBuf>,
        allocation: Allocation,
        progress: Option<Progress>,
        compiler: Compiler,
    ) -> Result<Self, ProgramError> {
        let (modules, files) = match folder {
            Some(folder) => source::from_folder(folder)?,
            None => source::built_in(),
        };
        let mut commands = HashMap::new();
        for (index, module) in modules.iter().enumerate() {
            for command in &module.commands {
                commands.insert(command.clone().into_bytes(), index);
            }
        }
        Ok(Self {
            allocation,
            epoch: OnceLock::new(),
            fuel: OnceLock::new(),
            modules,
            files,
            commands,
            cache: Cache::open(cache),
            progress,
            compiler,
            installed: Mutex::default(),
            foreign: Mutex::default(),
            data: OnceLock::new(),
        })
    }

    /// Whether a command is installed.
    pub fn contains(&self, name: &[u8]) -> bool {
        self.commands.contains_key(name)
    }

    /// All commands, sorted by name.
    pub fn commands(&self) -> Vec<CommandInfo> {
        let info = |(name, &index): (&Vec<u8>, &usize)| CommandInfo {
            name: String::from_utf8_lossy(name).into_owned(),
            module: self.modules[index].name.clone(),
            version: self.modules[index].version.clone(),
        };
        let mut all: Vec<_> = self.commands.iter().map(info).collect();
        all.sort();
        all
    }

    /// The names of the modules.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.modules.iter().map(|module| module.name.as_str())
    }

    /// Where compiled programs are kept; `None` when no folder can be written.
    pub fn cache_dir(&self) -> Option<&Path> {
        self.cache.folder()
    }

    /// Files that programs need, with their paths in the sandbox.
    pub(crate) fn data(&self) -> Result<&[(String, DataFile)], ProgramError> {
        if let Some(data) = self.data.get() {
            return Ok(data);
        }
        let data: Result<Vec<_>, _> = self.files.iter().map(|file| file.open(&self.cache)).collect();
        let data = data?;
        Ok(self.data.get_or_init(|| data))
    }

    fn flavoured(&self, flavour: Flavour) -> Result<&Flavoured, ProgramError> {
        let cell = match flavour {
            Flavour::Epoch => &self.epoch,
            Flavour::Fuel => &self.fuel,
        };
        if let Some(found) = cell.get() {
            return Ok(found);
        }
        let failed = |error: wasmtime::Error| ProgramError::Engine(error.to_string());
        let engine = engine::engine(flavour, self.allocation).map_err(failed)?;
        let mut linker = Linker::new(&engine);
        wasi::add_to_linker(&mut linker).map_err(failed)?;
        abi::add_to_linker(&mut linker).map_err(failed)?;
        let places = self.allocation.slots().map(|slots| Arc::new(Semaphore::new(slots as usize)));
        Ok(cell.get_or_init(|| Flavoured { engine, linker, places }))
    }

    /// The engine of a flavour.
    pub(crate) fn engine(&self, flavour: Flavour) -> Result<&Engine, ProgramError> {
        Ok(&self.flavoured(flavour)?.engine)
    }

    /// An installed program, and how long the caller waited for its compiler.
    pub(crate) async fn load(
        &self,
        handle: &Handle,
        name: &[u8],
        flavour: Flavour,
    ) -> Result<(Arc<Program>, Duration), ProgramError> {
        let unknown = || ProgramError::Unknown(String::from_utf8_lossy(name).into_owned());
        let index = *self.commands.get(name).ok_or_else(unknown)?;
        self.load_index(handle, index, flavour).await
    }

    async fn load_index(
        &self,
        handle: &Handle,
        index: usize,
        flavour: Flavour,
    ) -> Result<(Arc<Program>, Duration), ProgramError> {
        let slot = {
            let mut installed = self.installed.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(installed.entry((index, flavour)).or_default())
        };
        if let Some(program) = slot.get() {
            return Ok((Arc::clone(program), Duration::ZERO));
        }
        let began = Instant::now();
        let source = &self.modules[index];
        let program = slot
            .get_or_try_init(|| {
                let wanted = Wanted { name: &source.name, size: source.size, key: source.key() };
                let source = source.clone();
                self.compile(handle, flavour, wanted, &Compiler::Here, move || source.bytes())
            })
            .await?;
        Ok((Arc::clone(program), began.elapsed()))
    }

    /// A module that came as bytes, and how long the caller waited for its compiler.
    pub(crate) async fn load_module(
        &self,
        handle: &Handle,
        bytes: Vec<u8>,
        flavour: Flavour,
    ) -> Result<(Arc<Program>, Duration), ProgramError> {
        let digest: [u8; 32] = Sha256::digest(&bytes).into();
        let slot = {
            let mut foreign = self.foreign.lock().unwrap_or_else(PoisonError::into_inner);
            if foreign.len() >= FOREIGN_MAX && !foreign.contains_key(&(digest, flavour)) {
                foreign.clear();
            }
            Arc::clone(foreign.entry((digest, flavour)).or_default())
        };
        let began = Instant::now();
        let size = bytes.len() as u64;
        let program = slot
            .get_or_try_init(|| {
                let wanted = Wanted { name: "module", size, key: source::hex(&digest) };
                self.compile(handle, flavour, wanted, &self.compiler, move || Ok(bytes))
            })
            .await?;
        Ok((Arc::clone(program), began.elapsed()))
    }

    /// Takes a module from the cache, or compiles it into the cache.
    async fn compile(
        &self,
        handle: &Handle,
        flavour: Flavour,
        wanted: Wanted<'_>,
        compiler: &Compiler,
        bytes: impl FnOnce() -> Result<Vec<u8>, ProgramError> + Send + 'static,
    ) -> Result<Arc<Program>, ProgramError> {
        let Wanted { name, size, key } = wanted;
        let flavoured = self.flavoured(flavour)?;
        let engine = &flavoured.engine;
        let key = cache::key(&key, engine);
        let module = match self.cache.load(engine, &key) {
            Some(module) => module,
            None => {
                if let Some(progress) = &self.progress {
                    progress.tell(ProgressEvent::Begin(name, size));
                }
                let work = {
                    let (engine, cache, compiler) = (engine.clone(), self.cache.clone(), compiler.clone());
                    move || compiler.module(&engine, &cache, &key, &bytes()?, flavour)
                };
                let done = handle.spawn_blocking(work).await;
                if let Some(progress) = &self.progress {
                    progress.tell(ProgressEvent::End(name));
                }
                done.map_err(|error| ProgramError::Compile(error.to_string()))??
            }
        };
        Ok(Arc::new(Program::new(flavoured, &module, flavour)?))
    }

    /// Compiles every installed module of a flavour that is not compiled yet.
    ///
    /// # Errors
    /// The first module that cannot be compiled.
    pub(crate) async fn compile_all(&self, handle: &Handle, flavour: Flavour) -> Result<(), ProgramError> {
        for index in 0..self.modules.len() {
            self.load_index(handle, index, flavour).await?;
        }
        self.data()?;
        Ok(())
    }

    /// Checks the digest of everything in the cache; answers the names of damaged files, which it removes.
    ///
    /// # Errors
    /// When the cache's folder cannot be read.
    pub fn verify_cache(&self) -> std::io::Result<Vec<String>> {
        self.cache.verify()
    }
}
