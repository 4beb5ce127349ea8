//! Runs commands as processes of the host, without a sandbox.

mod workspace;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

use super::folders;
use super::host::Open;
use super::stage::{CopyStager, Stager};
use super::{Executor, ExecutorError, Workspace};
use crate::Limits;
use workspace::LocalWorkspace;

/// What [`LocalExecutor`] warns of.
const WARNING: &str = "commands of skills run without a sandbox: they may read, change and send all that you may";

/// Runs commands as processes of this host, in workspaces that are folders of it. On Unix.
///
/// **Nothing is isolated.** A command has all rights of this process: it reads and writes files outside of the workspace,
/// talks to the network, and changes other workspaces and staged skills. It is for skills that you would run in your own
/// shell.
///
/// - The environment is empty but for `PATH`, `LANG`, `HOME` (the workspace) and what [`Command::env`] says.
/// - A run is a process group, which ends as a whole: when its time is over, when its output is too much, when its first
///   process ends, and when it is dropped. A process that leaves the group is not found.
/// - Of [limits](Limits), `wall_time` and `output` are held. A policy of commands is refused, as is a terminal; host
///   tools are left out.
/// - Calls for files never follow a command's links out of the workspace.
///
/// ```
/// # async fn example() -> Result<(), wskill::executor::ExecutorError> {
/// use wskill::executor::{Command, Executor, LocalExecutor};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// let executor = LocalExecutor::without_any_isolation().root(folder).on_warning(|text| println!("{text}")).build();
/// let workspace = executor.open("ws_example").await?;
/// let argv = ["sh", "-c", "echo hello > ../out/hello.txt"].map(str::to_owned).to_vec();
/// let outcome = workspace.run(Command { argv, cwd: "work".into(), ..Command::default() }).await?;
/// assert_eq!(outcome.exit_code, 0);
/// assert_eq!(workspace.read("out/hello.txt", 0, 100).await?, b"hello\n");
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example()).unwrap();
/// ```
///
/// [`Command::env`]: super::Command::env
#[derive(Debug)]
pub struct LocalExecutor {
    shared: Arc<Shared>,
    open: Open<LocalWorkspace>,
}

/// What all workspaces of an executor need.
#[derive(Debug)]
struct Shared {
    root: PathBuf,
    limits: Limits,
    stager: Arc<dyn Stager>,
}

/// Makes a [`LocalExecutor`].
pub struct LocalExecutorBuilder {
    root: Option<PathBuf>,
    limits: Limits,
    stager: Arc<dyn Stager>,
    warn: Box<dyn FnOnce(&str)>,
}

impl fmt::Debug for LocalExecutorBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LocalExecutorBuilder").field("root", &self.root).finish_non_exhaustive()
    }
}

impl LocalExecutorBuilder {
    /// The folder in which workspaces are. Default: `wskill-local` in the system's place for temporary files.
    #[must_use]
    pub fn root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.root = Some(folder.into());
        self
    }

    /// What a run may use: `wall_time` and `output`. Default: [`Limits::default`].
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// What brings skills into workspaces. Default: [`CopyStager`].
    #[must_use]
    pub fn stager(mut self, stager: impl Stager + 'static) -> Self {
        self.stager = Arc::new(stager);
        self
    }

    /// Is told, once, that nothing is isolated. Default: a line on standard error.
    #[must_use]
    pub fn on_warning(mut self, warn: impl FnOnce(&str) + 'static) -> Self {
        self.warn = Box::new(warn);
        self
    }

    /// Makes it. Nothing is made on disk before a workspace is opened.
    pub fn build(self) -> LocalExecutor {
        (self.warn)(WARNING);
        let root = self.root.unwrap_or_else(|| std::env::temp_dir().join("wskill-local"));
        let shared = Arc::new(Shared { root, limits: self.limits, stager: self.stager });
        LocalExecutor { shared, open: Open::default() }
    }
}

impl LocalExecutor {
    /// Begins to make one. Whoever calls this knows that commands may do all that this process may.
    pub fn without_any_isolation() -> LocalExecutorBuilder {
        LocalExecutorBuilder {
            root: None,
            limits: Limits::default(),
            stager: Arc::new(CopyStager),
            warn: Box::new(|text| eprintln!("warning: {text}")),
        }
    }
}

#[async_trait]
impl Executor for LocalExecutor {
    fn name(&self) -> &str {
        "local"
    }

    async fn open(&self, name: &str) -> Result<Arc<dyn Workspace>, ExecutorError> {
        Ok(self.open.find_or_make(name, || LocalWorkspace::open(name, Arc::clone(&self.shared)))?)
    }

    async fn remove(&self, name: &str) -> Result<(), ExecutorError> {
        self.open.forget(name)?;
        folders::delete(&self.shared.root.join(name))
    }
}
