//! Where the command line keeps sessions.

use std::path::PathBuf;
use std::sync::Arc;

use etcetera::BaseStrategy as _;

use super::Error;
use super::settings::Configured;
use crate::Runtime;
use crate::artifact::FolderArtifacts;
use crate::executor::SandboxExecutor;
use crate::repository::Repository;
use crate::session::{SessionKey, Sessions};

/// The user's folder of sessions: `wskill/sessions` in the platform's place for state.
pub fn sessions_folder() -> Result<PathBuf, Error> {
    let places = etcetera::choose_base_strategy()?;
    let state = places.state_dir().unwrap_or_else(|| places.data_dir());
    Ok(state.join("wskill").join("sessions"))
}

/// Sessions that outlive the process: state in a database, workspaces and artifacts in folders beside it.
pub async fn open_sessions(
    repository: Repository,
    runtime: Arc<Runtime>,
    configured: &Configured,
    host_roots: &[PathBuf],
) -> Result<Sessions, Error> {
    let folder = sessions_folder()?;
    make_private(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let executor = SandboxExecutor::builder()
        .runtime(runtime)
        .limits(configured.limits()?)
        .root(folder.join("workspaces"))
        .build()?;
    let artifacts = FolderArtifacts::open(folder.join("artifacts"))?;
    let mut builder = Sessions::builder(repository).executor(executor).artifacts(artifacts);
    builder = with_store(builder, &folder).await?;
    builder = host_roots.iter().fold(builder, |builder, root| builder.host_root(root));
    if let Some((mode, store)) = configured.trust()? {
        builder = builder.trust(mode, store);
    }
    Ok(builder.build()?)
}

#[cfg(feature = "sqlite")]
async fn with_store(
    builder: crate::session::SessionsBuilder,
    folder: &std::path::Path,
) -> Result<crate::session::SessionsBuilder, Error> {
    Ok(builder.store(crate::session::store::SqliteStore::open(folder.join("sessions.db")).await?))
}

/// Without a database sessions end with the process.
#[cfg(not(feature = "sqlite"))]
async fn with_store(
    builder: crate::session::SessionsBuilder,
    _: &std::path::Path,
) -> Result<crate::session::SessionsBuilder, Error> {
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
