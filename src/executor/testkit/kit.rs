//! What checks are made with.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::{Command, Entry, Executor, ExecutorError, FileError, Query, StagedSkill, Workspace};
use super::Capability;
use crate::Outcome;

/// Why a check has failed.
#[derive(Debug)]
pub struct Failure(String);

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(format!("an unexpected error: {error}"))
    }
}

impl Failure {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// `None`, or what the executor lacks and has said so.
pub type Check = Result<Option<Capability>, Failure>;

/// Ends a check that has failed unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err($crate::executor::testkit::kit::Failure::new(format!($($text)+)));
        }
    };
}
/// Ends a check that has failed unless both are the same.
macro_rules! ensure_eq {
    ($found:expr, $expected:expr, $($text:tt)+) => {
        match (&$found, &$expected) {
            (found, expected) => {
                ensure!(found == expected, "{}: found {found:?}, expected {expected:?}", format!($($text)+));
            }
        }
    };
}
pub(super) use {ensure, ensure_eq};

/// The executor, and what the checks have made.
pub struct Kit {
    pub executor: Arc<dyn Executor>,
    /// The same after a restart.
    pub restarted: Arc<dyn Executor>,
    without: Vec<Capability>,
    /// A folder of the host for skills and for files that nothing may reach.
    host: PathBuf,
    prefix: String,
    opened: Mutex<Vec<String>>,
    number: AtomicU64,
}

impl Kit {
    pub fn new(
        executor: Arc<dyn Executor>,
        restarted: Arc<dyn Executor>,
        without: &[Capability],
    ) -> Result<Self, ExecutorError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("testkit-{}-{now:x}-{number}", std::process::id());
        let host = std::env::temp_dir().join(&prefix);
        std::fs::create_dir(&host).map_err(ExecutorError::io("cannot make", &host))?;
        let (opened, number) = (Mutex::default(), AtomicU64::new(0));
        Ok(Self { executor, restarted, without: without.to_vec(), host, prefix, opened, number })
    }

    /// Whether the executor need not be able to do it.
    pub fn lacks(&self, capability: Capability) -> bool {
        self.without.contains(&capability)
    }

    /// A name that nobody has.
    pub fn name(&self) -> String {
        let name = format!("{}-{}", self.prefix, self.number.fetch_add(1, Ordering::Relaxed));
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).push(name.clone());
        name
    }

    /// A new workspace.
    pub async fn workspace(&self) -> Result<Arc<dyn Workspace>, ExecutorError> {
        self.executor.open(&self.name()).await
    }

    /// Removes the workspaces of a check.
    pub async fn clean(&self) {
        let opened = std::mem::take(&mut *self.opened.lock().unwrap_or_else(PoisonError::into_inner));
        for name in opened {
            // What is wrong with it, `lifetime::workspace_removal` tells.
            let _ = self.executor.remove(&name).await;
        }
    }

    /// A new folder of the host with these files. Names that end with `.sh` are executable.
    pub fn host_folder(&self, files: &[(&str, &str)]) -> Result<PathBuf, Failure> {
        let folder = self.host.join(self.number.fetch_add(1, Ordering::Relaxed).to_string());
        std::fs::create_dir(&folder)?;
        for (name, content) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(&folder))?;
            std::fs::write(&path, content)?;
            #[cfg(unix)]
            if name.ends_with(".sh") {
                use std::os::unix::fs::PermissionsExt;
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
            }
        }
        Ok(folder)
    }

    /// Stages a folder of the host as a skill.
    pub async fn stage(
        &self,
        workspace: &dyn Workspace,
        name: &str,
        folder: &Path,
        digest: &str,
    ) -> Result<(), ExecutorError> {
        let skill = StagedSkill { name: name.to_owned(), folder: folder.to_owned(), digest: digest.to_owned() };
        workspace.stage(&skill).await
    }
}

impl Drop for Kit {
    fn drop(&mut self) {
        // It lies in the place for temporary files.
        let _ = std::fs::remove_dir_all(&self.host);
    }
}

/// A line of shell in a folder of the workspace.
pub fn shell(cwd: &str, line: &str) -> Command {
    let argv = ["sh", "-c", line].map(str::to_owned).to_vec();
    Command { argv, cwd: cwd.to_owned(), ..Command::default() }
}

/// Runs a line of shell in a folder of the workspace.
pub async fn run(workspace: &dyn Workspace, cwd: &str, line: &str) -> Result<Outcome, ExecutorError> {
    workspace.run(shell(cwd, line)).await
}

/// Runs a line of shell that must succeed, and answers its standard output.
pub async fn output(workspace: &dyn Workspace, cwd: &str, line: &str) -> Result<String, Failure> {
    let outcome = run(workspace, cwd, line).await?;
    ensure!(outcome.success(), "`{line}` in {cwd:?}: {}", told(&outcome));
    Ok(String::from_utf8_lossy(&outcome.stdout).into_owned())
}

/// An outcome in a line.
pub fn told(outcome: &Outcome) -> String {
    const SHOWN_MAX: usize = 200;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(SHOWN_MAX).collect::<String>();
    let (stdout, stderr) = (text(&outcome.stdout), text(&outcome.stderr));
    format!("exit {}, limit {:?}, stdout {stdout:?}, stderr {stderr:?}", outcome.exit_code, outcome.limit)
}

/// Reads a whole small file.
pub async fn content(workspace: &dyn Workspace, path: &str) -> Result<String, ExecutorError> {
    Ok(String::from_utf8_lossy(&workspace.read(path, 0, 1 << 20).await?).into_owned())
}

/// Whether nothing is at a path.
pub async fn is_missing(workspace: &dyn Workspace, path: &str) -> bool {
    matches!(workspace.stat(path).await, Err(ExecutorError::File(FileError::NotFound(_))))
}

/// All entries below a folder.
pub async fn entries(workspace: &dyn Workspace, below: &str) -> Result<Vec<Entry>, ExecutorError> {
    Ok(workspace.list(&Query { below, depth: 100, most: 10_000 }).await?.entries)
}

/// Their paths.
pub fn paths(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.path.as_str()).collect()
}
