//! Where the command line keeps sessions.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use etcetera::BaseStrategy as _;

use super::options::runtime;
use super::settings::Configured;
use super::{Error, say};
use crate::artifact::FolderArtifacts;
use crate::executor::SandboxExecutor;
#[cfg(unix)]
use crate::executor::{ContainerExecutor, LocalExecutor};
use crate::repository::Repository;
use crate::session::{SessionKey, Sessions, SessionsBuilder};

/// Where the commands of a session run.
#[derive(Clone, Copy, Debug, Args)]
pub struct ExecutorArgs {
    /// Where commands run: sandboxed, as processes of this machine without any isolation, or in a container of Docker or
    /// Podman; each has sessions of its own
    #[arg(long, value_enum, default_value_t, value_name = "NAME", global = true)]
    executor: ExecutorName,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ExecutorName {
    #[default]
    Sandbox,
    Local,
    Container,
}

impl ExecutorArgs {
    /// The folder of its sessions in that of all sessions.
    fn folder(self) -> Result<PathBuf, Error> {
        let all = sessions_folder()?;
        Ok(match self.executor {
            ExecutorName::Sandbox => all,
            ExecutorName::Local => all.join("local"),
            ExecutorName::Container => all.join("container"),
        })
    }

    /// Makes it, with workspaces in a folder.
    fn add_to(
        self,
        builder: SessionsBuilder,
        workspaces: PathBuf,
        configured: &Configured,
    ) -> Result<SessionsBuilder, Error> {
        let limits = configured.limits()?;
        match self.executor {
            ExecutorName::Sandbox => {
                let executor = SandboxExecutor::builder().runtime(runtime()?).limits(limits).root(workspaces);
                Ok(builder.executor(executor.build()?))
            }
            #[cfg(unix)]
            ExecutorName::Local => {
                let executor = LocalExecutor::without_any_isolation().limits(limits).root(workspaces);
                Ok(builder.executor(executor.on_warning(|text| say(&format!("warning: {text}"))).build()))
            }
            #[cfg(unix)]
            ExecutorName::Container => {
                let executor = ContainerExecutor::builder().cli(container_program()?).limits(limits).root(workspaces);
                Ok(builder.executor(executor.build()))
            }
            #[cfg(not(unix))]
            _ => Err("--executor: this system has `sandbox` only".into()),
        }
    }
}

/// What containers are made with.
#[cfg(unix)]
fn container_program() -> Result<&'static str, Error> {
    ContainerExecutor::installed_cli()
        .ok_or_else(|| "--executor container: needs Docker or Podman; neither `docker` nor `podman` is in $PATH".into())
}

/// The user's folder of sessions: `wskill/sessions` in the platform's place for state.
pub fn sessions_folder() -> Result<PathBuf, Error> {
    let places = etcetera::choose_base_strategy()?;
    let state = places.state_dir().unwrap_or_else(|| places.data_dir());
    Ok(state.join("wskill").join("sessions"))
}

/// Sessions that outlive the process: state in a database, workspaces and artifacts in folders beside it.
pub async fn open_sessions(
    repository: Repository,
    executor: ExecutorArgs,
    configured: &Configured,
    host_roots: &[PathBuf],
) -> Result<Sessions, Error> {
    let folder = executor.folder()?;
    make_private(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let mut builder = executor.add_to(Sessions::builder(repository), folder.join("workspaces"), configured)?;
    builder = builder.artifacts(FolderArtifacts::open(folder.join("artifacts"))?);
    builder = with_store(builder, &folder).await?;
    builder = host_roots.iter().fold(builder, |builder, root| builder.host_root(root));
    if let Some((mode, store)) = configured.trust()? {
        builder = builder.trust(mode, store);
    }
    Ok(builder.build()?)
}

#[cfg(feature = "sqlite")]
async fn with_store(builder: SessionsBuilder, folder: &std::path::Path) -> Result<SessionsBuilder, Error> {
    Ok(builder.store(crate::session::store::SqliteStore::open(folder.join("sessions.db")).await?))
}

/// Without a database sessions end with the process.
#[cfg(not(feature = "sqlite"))]
async fn with_store(builder: SessionsBuilder, _: &std::path::Path) -> Result<SessionsBuilder, Error> {
    Ok(builder)
}

/// The key of a session that the command line names.
pub fn session_key(name: &str) -> Result<SessionKey, Error> {
    Ok(SessionKey::new("", "", name).map_err(|error| format!("--session: {error}"))?)
}

fn make_private(folder: &std::path::Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
