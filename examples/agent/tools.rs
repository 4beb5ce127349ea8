//! What the model can call: the tools of a session over the executor that the user has chosen.

use std::ffi::OsStr;

use wskill::executor::{ContainerExecutor, LocalExecutor, SandboxExecutor};
use wskill::prompt::Profile;
use wskill::repository::Repository;
use wskill::session::{SessionKey, Sessions};
use wskill::tools::{ToolOptions, Toolset};

use super::Error;
use super::config::ExecutorName;

/// Sessions over an executor, and the key of the one that this program has.
///
/// # Errors
/// When the executor cannot be made.
pub fn sessions(executor: ExecutorName, skills: &OsStr) -> Result<(Sessions, SessionKey), Error> {
    let roots = std::env::split_paths(skills).collect::<Vec<_>>();
    let builder = Sessions::builder(Repository::builder().roots(roots).build());
    let builder = match executor {
        // Nothing is written to the disk.
        ExecutorName::Sandbox => builder.executor(SandboxExecutor::builder().in_memory().build()?),
        // Its name says what it is, and it prints a warning.
        ExecutorName::Local => builder.executor(LocalExecutor::without_any_isolation().build()),
        ExecutorName::Container => builder.executor(ContainerExecutor::builder().cli(container_program()?).build()),
    };
    Ok((builder.build()?, SessionKey::new("example", "", format!("agent-{}", std::process::id()))?))
}

/// All tools, in the session of a key.
///
/// # Errors
/// When the session cannot be opened.
pub async fn toolset(sessions: &Sessions, key: &SessionKey) -> Result<Toolset, Error> {
    let session = sessions.open(key).await?;
    Ok(Toolset::new(session, ToolOptions::builder().profile(Profile::Full).build()))
}

/// The program that makes containers.
fn container_program() -> Result<&'static str, Error> {
    ContainerExecutor::installed_cli()
        .ok_or_else(|| "--executor container: needs Docker or Podman; neither `docker` nor `podman` is in $PATH".into())
}
