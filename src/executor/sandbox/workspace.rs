//! A workspace that sandboxes mount.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::super::tree::{TreeFiles, file_error, inside, skill_name};
use super::super::{
    Command, Entry, ExecutorError, FOLDERS, FileError, Link, Listing, Query, RunningCommand, StagedSkill, Workspace,
};
use super::Shared;
use super::storage::{Account, Storage};
use crate::sandbox::{FileSystem, GuestPath, HostFolder, Part, Quota, TreeMount};
use crate::{Input, LimitName, Mount, Outcome, Output, Running, Sandbox};

/// Where commands see the workspace.
const ROOT: &str = "/workspace";
/// How long a change of layers waits for sandboxes that have ended.
const SETTLE: Duration = Duration::from_secs(2);
/// The names that the workspace lays over a skill's folder, with where each link points.
const LINKS: [(&str, &str); 3] = [("out", "../../out"), ("work", "../../work"), ("inputs", "../../work/inputs")];
/// The writable folder that each skill has, for Python's virtual environments.
const VENV: &str = ".venv";
/// Where the skills' writable folders `.venv` are in the workspace. Commands see them at their mounts only: a link in
/// their place would be followed on the host.
const VENVS: &str = ".venvs";

/// A workspace of a [`SandboxExecutor`](super::SandboxExecutor).
#[derive(Debug)]
pub(super) struct SandboxWorkspace {
    name: String,
    shared: Arc<Shared>,
    account: Account,
    storage: Mutex<Storage>,
    /// The files as they are mounted now; taken away while the storage changes. All that use them share one of these:
    /// the storage changes only when nobody does.
    files: RwLock<Option<Arc<TreeFiles>>>,
    skills: Mutex<BTreeMap<String, Staged>>,
    links: Mutex<Vec<Link>>,
}

/// A skill that commands see: its folder on the host, and the one in the workspace that is laid over it.
#[derive(Debug)]
struct Staged {
    digest: String,
    /// Device and inode of the folder.
    identity: (u64, u64),
    folder: Arc<HostFolder>,
    venv: String,
}

impl SandboxWorkspace {
    /// Takes up the workspace or makes it.
    pub(super) fn open(name: &str, shared: Arc<Shared>) -> Result<Self, ExecutorError> {
        let account = Account::new(&shared.limits);
        let storage = match &shared.root {
            None => Storage::memory(account.clone())?,
            Some(root) => Storage::on_host(root, name)?,
        };
        let workspace = Self::over(name, shared, account, storage)?;
        for folder in FOLDERS {
            workspace.files()?.make_folder(folder)?;
        }
        Ok(workspace)
    }

    fn over(name: &str, shared: Arc<Shared>, account: Account, storage: Storage) -> Result<Self, ExecutorError> {
        let files = TreeFiles::new(storage.mount(&account)?, ROOT)?;
        Ok(Self {
            name: name.to_owned(),
            shared,
            account,
            storage: Mutex::new(storage),
            files: RwLock::new(Some(Arc::new(files))),
            skills: Mutex::default(),
            links: Mutex::default(),
        })
    }

    /// Another workspace that begins as this one is now.
    pub(super) fn fork(&self, new: &str) -> Result<Self, ExecutorError> {
        let account = Account::new(&self.shared.limits);
        let root = self.shared.root.as_deref();
        let storage = self.change(|storage| storage.fork(root, &self.name, new, account.clone()))?;
        Self::over(new, Arc::clone(&self.shared), account, storage)
    }

    /// Changes the storage while nobody uses the files.
    fn change<T>(&self, change: impl FnOnce(&mut Storage) -> Result<T, ExecutorError>) -> Result<T, ExecutorError> {
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        let Some(idle) = files.take().map(Arc::try_unwrap).transpose().unwrap_or_else(|used| {
            *files = Some(used);
            None
        }) else {
            return Err(ExecutorError::Busy(self.name.clone()));
        };
        let source = Arc::downgrade(&idle.source());
        drop(idle);
        let mut storage = self.storage.lock().unwrap_or_else(PoisonError::into_inner);
        // A sandbox that has just ended lets go of its mounts a moment later, and they of the layers.
        let until = Instant::now() + SETTLE;
        while (source.strong_count() > 0 || !storage.is_idle()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let changed = change(&mut storage);
        // Also after a failure: the files are as they were then.
        *files = Some(Arc::new(TreeFiles::new(storage.mount(&self.account)?, ROOT)?));
        changed
    }

    /// The files, as long as the answer is held.
    fn files(&self) -> Result<Arc<TreeFiles>, ExecutorError> {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        files.clone().ok_or_else(|| ExecutorError::Busy(self.name.clone()))
    }

    fn build(&self, command: &Command, files: &TreeFiles) -> Result<Sandbox, ExecutorError> {
        let mut limits = command.limits.clone().unwrap_or_else(|| self.shared.limits.clone());
        if let Some(timeout) = command.timeout {
            limits.wall_time = Some(timeout);
        }
        let runtime = Arc::clone(&self.shared.runtime);
        let mut builder = Sandbox::builder().runtime(runtime).limits(limits).cwd(self.cwd(command)?);
        builder = builder.tree(mount(ROOT, files.source(), false, &[(VENVS, "skills")])?);
        let skills = self.skills.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, staged) in &*skills {
            let guest = format!("{ROOT}/skills/{name}");
            let venv = Part::new(files.source(), staged.venv.as_bytes());
            builder = builder.tree(mount(&guest, Arc::<HostFolder>::clone(&staged.folder), true, &LINKS)?);
            builder = builder.tree(mount(&format!("{guest}/{VENV}"), Arc::new(venv), false, &[])?);
        }
        drop(skills);
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        builder = links
            .iter()
            .fold(builder, |builder, link| builder.mount(Mount::new(&link.host, format!("{ROOT}/{}", link.path))));
        drop(links);
        builder = builder.commands(command.policy.clone());
        if let Some(tools) = &command.host_tools {
            builder = builder.host_tools(tools.clone());
        }
        for (name, value) in &command.env {
            builder = builder.env(name, value);
        }
        let sandbox = builder.build()?;
        let is_there = sandbox.has_folder(self.cwd(command)?.as_ref());
        if is_there { Ok(sandbox) } else { Err(FileError::NotFound(command.cwd.clone()).into()) }
    }

    fn cwd(&self, command: &Command) -> Result<String, ExecutorError> {
        let cwd = inside(&command.cwd)?;
        Ok(if cwd.is_empty() { ROOT.to_owned() } else { format!("{ROOT}/{cwd}") })
    }
}

#[async_trait]
impl Workspace for SandboxWorkspace {
    fn name(&self) -> &str {
        &self.name
    }

    fn root(&self) -> &str {
        ROOT
    }

    fn mounts_skills(&self) -> bool {
        true
    }

    async fn stage(&self, skill: &StagedSkill) -> Result<(), ExecutorError> {
        let place = skill_name(&skill.name)?;
        let identity = identity(&skill.folder)?;
        {
            let skills = self.skills.lock().unwrap_or_else(PoisonError::into_inner);
            // A folder that was replaced is another one, also with the same files in it.
            let same = |staged: &Staged| staged.digest == skill.digest && staged.identity == identity;
            if skills.get(&skill.name).is_some_and(same) {
                return Ok(());
            }
        }
        if let Some(root) = &self.shared.root
            && let (Ok(root), Ok(folder)) = (root.canonicalize(), skill.folder.canonicalize())
            && (root.starts_with(&folder) || folder.starts_with(&root))
        {
            return Err(ExecutorError::Overlap(skill.folder.clone()));
        }
        let folder = HostFolder::new(&skill.folder, Arc::new(Quota::unlimited()), None)
            .map_err(ExecutorError::io("cannot stage the skill in", &skill.folder))?;
        let venv = format!("{VENVS}/{place}");
        self.files()?.make_folder(&venv)?;
        let staged = Staged { digest: skill.digest.clone(), identity, folder: Arc::new(folder), venv };
        self.skills.lock().unwrap_or_else(PoisonError::into_inner).insert(skill.name.clone(), staged);
        Ok(())
    }

    async fn list(&self, query: &Query<'_>) -> Result<Listing, ExecutorError> {
        self.files()?.list(query)
    }

    async fn stat(&self, path: &str) -> Result<Entry, ExecutorError> {
        self.files()?.stat(path)
    }

    async fn read(&self, path: &str, offset: u64, most: usize) -> Result<Vec<u8>, ExecutorError> {
        self.files()?.read(path, offset, most)
    }

    async fn write(&self, path: &str, content: &[u8], mode: u32) -> Result<(), ExecutorError> {
        self.files()?.write(path, content, mode)
    }

    async fn make_folder(&self, path: &str) -> Result<(), ExecutorError> {
        self.files()?.make_folder(path)
    }

    async fn remove(&self, path: &str) -> Result<(), ExecutorError> {
        self.files()?.remove(path)
    }

    async fn link(&self, link: &Link) -> Result<(), ExecutorError> {
        let link = Link { host: link.host.clone(), path: inside(&link.path)?.to_owned() };
        std::fs::metadata(&link.host).map_err(ExecutorError::io("cannot show", &link.host))?;
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|known| known.path != link.path);
        links.push(link);
        Ok(())
    }

    async fn snapshot(&self) -> Result<String, ExecutorError> {
        let root = self.shared.root.as_deref();
        self.change(|storage| storage.snapshot(root, &self.name))
    }

    async fn rollback(&self, snapshot: &str) -> Result<(), ExecutorError> {
        let root = self.shared.root.as_deref();
        self.change(|storage| storage.rollback(root, &self.name, snapshot))
    }

    async fn forget(&self, snapshot: &str) -> Result<(), ExecutorError> {
        let root = self.shared.root.as_deref();
        self.change(|storage| storage.forget(root, &self.name, snapshot))
    }

    async fn run(&self, command: Command) -> Result<Outcome, ExecutorError> {
        let files = self.files()?;
        let sandbox = self.build(&command, &files)?;
        let stdin = if command.stdin.is_empty() { Input::Empty } else { Input::Bytes(command.stdin) };
        let before = self.account.counters.snapshot();
        let ended = sandbox.command(command.argv).stdin(stdin).run().await;
        // Nothing writes any more when files are read afterwards.
        sandbox.close().await;
        let mut outcome = ended?;
        self.add_refusals(&before, &mut outcome);
        Ok(outcome)
    }

    async fn start(&self, command: Command) -> Result<Box<dyn RunningCommand>, ExecutorError> {
        let files = self.files()?;
        let sandbox = self.build(&command, &files)?;
        let run = sandbox.command(command.argv.iter().cloned()).stdin(Input::Channel).stdout(Output::Channel);
        let run = if command.tty { run.tty() } else { run.merged() };
        let running = run.start().await?;
        Ok(Box::new(SandboxCommand { running, _sandbox: sandbox, _files: files }))
    }
}

/// A command in a sandbox of its own.
#[derive(Debug)]
struct SandboxCommand {
    running: Running,
    /// It ends with its sandbox.
    _sandbox: Sandbox,
    /// They do not change places while it runs.
    _files: Arc<TreeFiles>,
}

#[async_trait]
impl RunningCommand for SandboxCommand {
    async fn write(&self, data: &[u8]) -> std::io::Result<()> {
        self.running.write_stdin(data).await
    }

    fn close_input(&self) {
        self.running.close_stdin();
    }

    async fn read(&self) -> Option<Vec<u8>> {
        self.running.read().await.map(|chunk| chunk.bytes)
    }

    fn signal(&self, number: i32) -> Result<(), ExecutorError> {
        Ok(self.running.kill(number)?)
    }

    async fn wait(&self) -> Result<Outcome, ExecutorError> {
        Ok(self.running.wait().await?)
    }
}

impl SandboxWorkspace {
    /// Adds what the workspace's own limits have refused since `before`.
    fn add_refusals(&self, before: &[(LimitName, u64)], outcome: &mut Outcome) {
        for (name, count) in self.account.counters.snapshot() {
            let known = before.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count);
            if count > known {
                outcome.limits_hit.push((name, count - known));
            }
        }
    }
}

fn mount(
    at: &str,
    source: Arc<dyn FileSystem>,
    read_only: bool,
    links: &[(&str, &str)],
) -> Result<TreeMount, ExecutorError> {
    let at = GuestPath::new(at.as_bytes()).map_err(file_error(at))?;
    let links = links.iter().map(|(name, target)| (name.as_bytes().to_vec(), target.as_bytes().to_vec())).collect();
    Ok(TreeMount { at, source, read_only, links })
}

/// What tells a folder from another that takes its place.
fn identity(folder: &Path) -> Result<(u64, u64), ExecutorError> {
    let metadata = std::fs::metadata(folder).map_err(ExecutorError::io("cannot stage the skill in", folder))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Ok((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        Ok((0, 0))
    }
}
