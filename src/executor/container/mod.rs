//! Runs commands in containers, with the command line of Docker or Podman.

mod cli;
mod command;
mod workspace;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

use super::folders::{self, check_name};
use super::host::Open;
use super::stage::{CopyStager, Stager};
use super::{Executor, ExecutorError, Workspace};
use crate::Limits;
use cli::Cli;
use workspace::ContainerWorkspace;

/// Runs commands in a container for each workspace, which lives as long as the workspace. On Unix.
///
/// A container has no network, no capabilities and no new privileges, a read-only root but for `/tmp`, and runs as the
/// user of this process. It sees the workspace, a folder of the host, at `/workspace`, with copies of skills in
/// `/workspace/skills`, which is mounted read-only. It is made before the first command; one that is gone later is made
/// again before the next one. No command is run a second time.
///
/// - Of [limits](Limits), `memory`, `processes` and `open_files` are those of the whole container, and are the
///   executor's; `wall_time` and `output` are held for each run. The files of a workspace are not limited.
/// - A run ends with all its processes: when its time is over, when its output is too much, when its first process ends,
///   and when it is dropped. A process that leaves its process group ends with the container.
/// - A policy of commands is refused, as is a terminal; host tools are left out.
/// - The image must have `sh`, `cat`, `kill` and `sleep`, and what the skills need.
///
/// ```no_run
/// # async fn example() -> Result<(), wskill::executor::ExecutorError> {
/// use wskill::executor::{Command, ContainerExecutor, Executor};
///
/// let executor = ContainerExecutor::builder().cli("podman").image("docker.io/library/python:3.13-slim").build();
/// let workspace = executor.open("ws_example").await?;
/// let argv = ["python3", "-c", "print(6 * 7)"].map(str::to_owned).to_vec();
/// let outcome = workspace.run(Command { argv, cwd: "work".into(), ..Command::default() }).await?;
/// assert_eq!(outcome.stdout, b"42\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ContainerExecutor {
    shared: Arc<Shared>,
    open: Open<ContainerWorkspace>,
}

/// What all workspaces of an executor need.
#[derive(Debug)]
struct Shared {
    cli: Cli,
    image: String,
    root: PathBuf,
    limits: Limits,
    stager: Arc<dyn Stager>,
}

/// Makes a [`ContainerExecutor`].
#[derive(Debug)]
pub struct ContainerExecutorBuilder {
    cli: PathBuf,
    image: String,
    root: Option<PathBuf>,
    limits: Limits,
    stager: Arc<dyn Stager>,
}

impl ContainerExecutorBuilder {
    /// The program of Docker or Podman, by name or path. Default: `docker`.
    #[must_use]
    pub fn cli(mut self, program: impl Into<PathBuf>) -> Self {
        self.cli = program.into();
        self
    }

    /// The image. One that the host does not have is pulled. Default: `python:3.13-slim`.
    #[must_use]
    pub fn image(mut self, image: impl Into<String>) -> Self {
        self.image = image.into();
        self
    }

    /// The folder of the host in which workspaces are. Default: `wskill-container` in the system's place for temporary
    /// files.
    #[must_use]
    pub fn root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.root = Some(folder.into());
        self
    }

    /// What containers and runs may use. Default: [`Limits::default`].
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

    /// Makes it. Nothing is made before a workspace is opened, and no container before a command is run.
    pub fn build(self) -> ContainerExecutor {
        let root = self.root.unwrap_or_else(|| std::env::temp_dir().join("wskill-container"));
        let Self { cli, image, limits, stager, .. } = self;
        let shared = Arc::new(Shared { cli: Cli::new(cli), image, root, limits, stager });
        ContainerExecutor { shared, open: Open::default() }
    }
}

impl ContainerExecutor {
    /// Begins to make one.
    pub fn builder() -> ContainerExecutorBuilder {
        ContainerExecutorBuilder {
            cli: PathBuf::from("docker"),
            image: "python:3.13-slim".to_owned(),
            root: None,
            limits: Limits::default(),
            stager: Arc::new(CopyStager),
        }
    }

    /// Which of `docker` and `podman` is in `$PATH`, for [`cli`](ContainerExecutorBuilder::cli); `docker` when both are.
    pub fn installed_cli() -> Option<&'static str> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = |name: &&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
        ["docker", "podman"].into_iter().find(is_there)
    }
}

#[async_trait]
impl Executor for ContainerExecutor {
    fn name(&self) -> &str {
        "container"
    }

    async fn open(&self, name: &str) -> Result<Arc<dyn Workspace>, ExecutorError> {
        Ok(self.open.find_or_make(name, || ContainerWorkspace::open(name, Arc::clone(&self.shared)))?)
    }

    async fn remove(&self, name: &str) -> Result<(), ExecutorError> {
        check_name(name)?;
        let folder = self.shared.root.join(name);
        // Without its folder there was never a container.
        let Ok(real) = folder.canonicalize() else { return self.open.forget(name) };
        self.shared.cli.remove(&workspace::container_name(&real, name)).await?;
        self.open.forget(name)?;
        folders::delete(&folder)
    }
}
