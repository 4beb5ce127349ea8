//! Runs commands as WebAssembly processes.

mod storage;
mod workspace;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use async_trait::async_trait;

use super::folders::check_name;
use super::{Executor, ExecutorError, Workspace};
use crate::{Limits, Runtime};
use workspace::SandboxWorkspace;

/// Runs commands in sandboxes of their own, which share the workspace: see [`Sandbox`](crate::Sandbox).
///
/// ```
/// # async fn example() -> Result<(), wskill::executor::ExecutorError> {
/// use wskill::executor::{Command, Executor, SandboxExecutor};
///
/// let executor = SandboxExecutor::builder().in_memory().build()?;
/// let workspace = executor.open("ws_example").await?;
/// workspace.write("work/inputs/name.txt", b"world", 0o644).await?;
/// let argv = ["bash", "-c", "echo hello $(cat inputs/name.txt) > ../out/hello.txt"].map(str::to_owned).to_vec();
/// let outcome = workspace.run(Command { argv, cwd: "work".into(), ..Command::default() }).await?;
/// assert_eq!(outcome.exit_code, 0);
/// assert_eq!(workspace.read("out/hello.txt", 0, 100).await?, b"hello world\n");
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(example()).unwrap();
/// ```
#[derive(Debug)]
pub struct SandboxExecutor {
    shared: Arc<Shared>,
    /// The workspaces that somebody has open: one object each, so that they share one account of storage.
    open: Mutex<HashMap<String, Weak<SandboxWorkspace>>>,
    /// Those in memory live as long as the executor.
    memory: Mutex<HashMap<String, Arc<SandboxWorkspace>>>,
}

/// What all workspaces of an executor need.
#[derive(Debug)]
struct Shared {
    runtime: Arc<Runtime>,
    limits: Limits,
    /// Where workspaces are; `None`: in memory.
    root: Option<PathBuf>,
}

/// Makes a [`SandboxExecutor`].
#[derive(Debug, Default)]
pub struct SandboxExecutorBuilder {
    runtime: Option<Arc<Runtime>>,
    limits: Limits,
    root: Option<PathBuf>,
    in_memory: bool,
}

impl SandboxExecutorBuilder {
    /// The threads, engine and programs to use. Default: [`Runtime::shared`].
    #[must_use]
    pub fn runtime(mut self, runtime: Arc<Runtime>) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// What a run may use, and (`disk`, `inodes`, `file_size`) a workspace in all. Default: [`Limits::default`].
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The folder in which workspaces are. Default: `wskill` in the system's place for temporary files.
    #[must_use]
    pub fn root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.root = Some(folder.into());
        self
    }

    /// Keeps workspaces in memory: nothing is written to the host's disk, and they end with the executor.
    #[must_use]
    pub fn in_memory(mut self) -> Self {
        self.in_memory = true;
        self
    }

    /// Makes it. Nothing is made on disk before a workspace is opened.
    ///
    /// # Errors
    /// When the runtime cannot be made.
    pub fn build(self) -> Result<SandboxExecutor, ExecutorError> {
        let runtime = match self.runtime {
            Some(runtime) => runtime,
            None => Runtime::shared().map_err(crate::BuildError::from)?,
        };
        let root = (!self.in_memory).then(|| self.root.unwrap_or_else(|| std::env::temp_dir().join("wskill")));
        let shared = Arc::new(Shared { runtime, limits: self.limits, root });
        Ok(SandboxExecutor { shared, open: Mutex::default(), memory: Mutex::default() })
    }
}

impl SandboxExecutor {
    /// Begins to make one.
    pub fn builder() -> SandboxExecutorBuilder {
        SandboxExecutorBuilder::default()
    }

    fn find_or_make(&self, name: &str) -> Result<Arc<SandboxWorkspace>, ExecutorError> {
        check_name(name)?;
        // Held while it is made: of two callers one makes it, and the other finds it.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(workspace) = open.get(name).and_then(Weak::upgrade) {
            return Ok(workspace);
        }
        let workspace = Arc::new(SandboxWorkspace::open(name, Arc::clone(&self.shared))?);
        self.keep(&mut open, name, &workspace);
        Ok(workspace)
    }

    fn keep(&self, open: &mut HashMap<String, Weak<SandboxWorkspace>>, name: &str, workspace: &Arc<SandboxWorkspace>) {
        open.retain(|_, workspace| workspace.strong_count() > 0);
        open.insert(name.to_owned(), Arc::downgrade(workspace));
        if self.shared.root.is_none() {
            let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
            memory.insert(name.to_owned(), Arc::clone(workspace));
        }
    }
}

#[async_trait]
impl Executor for SandboxExecutor {
    fn name(&self) -> &str {
        "sandbox"
    }

    fn commands(&self) -> Vec<String> {
        let mut names: Vec<_> = self.shared.runtime.programs().commands().into_iter().map(|info| info.name).collect();
        names.sort();
        names
    }

    async fn open(&self, name: &str) -> Result<Arc<dyn Workspace>, ExecutorError> {
        Ok(self.find_or_make(name)?)
    }

    async fn remove(&self, name: &str) -> Result<(), ExecutorError> {
        check_name(name)?;
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        match &self.shared.root {
            Some(root) => storage::remove(root, name),
            None => Ok(()),
        }
    }

    async fn fork(&self, name: &str, new: &str) -> Result<Arc<dyn Workspace>, ExecutorError> {
        check_name(new)?;
        let workspace = self.find_or_make(name)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let is_there = match &self.shared.root {
            Some(root) => storage::exists(root, new),
            None => self.memory.lock().unwrap_or_else(PoisonError::into_inner).contains_key(new),
        };
        if is_there {
            return Err(ExecutorError::Exists(new.to_owned()));
        }
        let fork = Arc::new(workspace.fork(new)?);
        self.keep(&mut open, new, &fork);
        Ok(fork)
    }
}
