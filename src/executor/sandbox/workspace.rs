//! A workspace that sandboxes mount.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use async_trait::async_trait;

use super::super::{
    Command, Entry, EntryKind, ExecutorError, FOLDERS, FileError, Link, Listing, Query, RunningCommand, StagedSkill,
    Workspace,
};
use super::Shared;
use super::storage::{Account, Storage};
use crate::sandbox::{
    Errno, FileSystem, FileType, GuestPath, HostFolder, Metadata, MountTable, Part, Quota, Tree, TreeMount, Vfs,
    WalkLimits,
};
use crate::{Input, LimitName, Mount, Outcome, Output, Running, Sandbox};

/// Where commands see the workspace.
const ROOT: &str = "/workspace";
/// The names that the workspace lays over a skill's folder, with where each link points.
const LINKS: [(&str, &str); 3] = [("out", "../../out"), ("work", "../../work"), ("inputs", "../../work/inputs")];
/// The writable folder that each skill has, for Python's virtual environments.
const VENV: &str = ".venv";
/// Where the skills' writable folders `.venv` are in the workspace. Commands see them at their mounts only: a link in
/// their place would be followed on the host.
const VENVS: &str = ".venvs";
/// The most files and folders that a listing meets.
const LOOKED_AT_MAX: u64 = 200_000;
/// The most sentences of a listing about what cannot be read.
const NOTES_MAX: usize = 20;

/// A workspace of a [`SandboxExecutor`](super::SandboxExecutor).
#[derive(Debug)]
pub(super) struct SandboxWorkspace {
    name: String,
    shared: Arc<Shared>,
    account: Account,
    storage: Mutex<Storage>,
    /// The files as they are mounted now; taken away while the storage changes.
    files: RwLock<Option<Arc<Files>>>,
    skills: Mutex<BTreeMap<String, Staged>>,
    links: Mutex<Vec<Link>>,
}

/// A workspace's files. All that use them share one of these: the storage changes only when nobody does.
#[derive(Debug)]
struct Files {
    source: Arc<dyn FileSystem>,
    tree: Tree,
}

impl Files {
    fn new(source: Arc<dyn FileSystem>) -> Result<Self, ExecutorError> {
        let mut table = MountTable::new();
        let at = GuestPath::new(ROOT.as_bytes()).map_err(file_error(ROOT))?;
        let mount = TreeMount { at, source: Arc::clone(&source), read_only: false, links: Vec::new() };
        table.add(mount).map_err(file_error(ROOT))?;
        Ok(Self { source, tree: Tree::new(Vfs::new(table)) })
    }
}

/// A skill that commands see: its folder on the host, and the one in the workspace that is laid over it.
#[derive(Debug)]
struct Staged {
    digest: String,
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
            workspace.make(folder)?;
        }
        Ok(workspace)
    }

    fn over(name: &str, shared: Arc<Shared>, account: Account, storage: Storage) -> Result<Self, ExecutorError> {
        let files = Files::new(storage.mount(&account)?)?;
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
        drop(idle);
        let mut storage = self.storage.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut storage);
        // Also after a failure: the files are as they were then.
        *files = Some(Arc::new(Files::new(storage.mount(&self.account)?)?));
        changed
    }

    /// The files, as long as the answer is held.
    fn files(&self) -> Result<Arc<Files>, ExecutorError> {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        files.clone().ok_or_else(|| ExecutorError::Busy(self.name.clone()))
    }

    fn make(&self, path: &str) -> Result<(), ExecutorError> {
        Ok(self.files()?.tree.make_dirs(&guest(inside(path)?)).map_err(file_error(path))?)
    }

    fn build(&self, command: &Command, files: &Files) -> Result<Sandbox, ExecutorError> {
        let mut limits = command.limits.clone().unwrap_or_else(|| self.shared.limits.clone());
        if let Some(timeout) = command.timeout {
            limits.wall_time = Some(timeout);
        }
        let runtime = Arc::clone(&self.shared.runtime);
        let mut builder = Sandbox::builder().runtime(runtime).limits(limits).cwd(self.cwd(command)?);
        builder = builder.tree(mount(ROOT, Arc::clone(&files.source), false, &[(VENVS, "skills")])?);
        let skills = self.skills.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, staged) in &*skills {
            let guest = format!("{ROOT}/skills/{name}");
            let venv = Part::new(Arc::clone(&files.source), staged.venv.as_bytes());
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
        let place = inside(&skill.name)?;
        if place.contains('/') || place.is_empty() {
            return Err(FileError::Outside(skill.name.clone()).into());
        }
        {
            let skills = self.skills.lock().unwrap_or_else(PoisonError::into_inner);
            if skills.get(&skill.name).is_some_and(|staged| staged.digest == skill.digest) {
                return Ok(());
            }
        }
        let folder = HostFolder::new(&skill.folder, Arc::new(Quota::unlimited()), None)
            .map_err(ExecutorError::io("cannot stage the skill in", &skill.folder))?;
        let venv = format!("{VENVS}/{place}");
        self.make(&venv)?;
        let staged = Staged { digest: skill.digest.clone(), folder: Arc::new(folder), venv };
        self.skills.lock().unwrap_or_else(PoisonError::into_inner).insert(skill.name.clone(), staged);
        Ok(())
    }

    async fn list(&self, query: &Query<'_>) -> Result<Listing, ExecutorError> {
        let below = inside(query.below)?;
        let files = self.files()?;
        let mut listing = Listing::default();
        let mut notes = Notes(&mut listing.notes);
        let mut is_cut = false;
        let entries = &mut listing.entries;
        let limits = WalkLimits { depth: query.depth, entries: LOOKED_AT_MAX };
        let prefix = self.canonical(&files, query.below)?;
        let walked = files.tree.walk(&guest(below), limits, |visit| {
            if entries.len() == query.most {
                is_cut = true;
                return ControlFlow::Break(());
            }
            // A link as the folder leads elsewhere in the workspace; names are those that were asked for.
            let rest = visit.path.get(prefix.len()..).unwrap_or_default();
            let Ok(rest) = std::str::from_utf8(rest) else {
                notes.add(visit.path, "has a name that is not UTF-8");
                return ControlFlow::Continue(());
            };
            let path = format!("{below}{rest}");
            let path = path.trim_start_matches('/');
            if visit.closed && visit.depth < query.depth {
                notes.add(path.as_bytes(), "cannot be read");
            }
            // What has gone meanwhile is not there.
            if let Ok(metadata) = files.tree.stat(visit.path, false) {
                entries.push(entry(path.to_owned(), visit.file_type, &metadata));
            }
            ControlFlow::Continue(())
        });
        let walked = walked.map_err(file_error(query.below))?;
        listing.is_cut = is_cut || walked.entries == LOOKED_AT_MAX;
        listing.entries.sort();
        Ok(listing)
    }

    async fn stat(&self, path: &str) -> Result<Entry, ExecutorError> {
        let files = self.files()?;
        let real = self.canonical(&files, path)?;
        let metadata = files.tree.stat(&real, true).map_err(file_error(path))?;
        Ok(entry(relative(&real), metadata.file_type, &metadata))
    }

    async fn read(&self, path: &str, offset: u64, most: usize) -> Result<Vec<u8>, ExecutorError> {
        let files = self.files()?;
        let real = self.canonical(&files, path)?;
        Ok(files.tree.read(&real, offset, most).map_err(file_error(path))?)
    }

    async fn write(&self, path: &str, content: &[u8], mode: u32) -> Result<(), ExecutorError> {
        let inside = inside(path)?;
        if inside.is_empty() {
            return Err(FileError::IsAFolder(path.to_owned()).into());
        }
        Ok(self.files()?.tree.write(&guest(inside), content, mode).map_err(file_error(path))?)
    }

    async fn make_folder(&self, path: &str) -> Result<(), ExecutorError> {
        if inside(path)?.is_empty() { Ok(()) } else { self.make(path) }
    }

    async fn remove(&self, path: &str) -> Result<(), ExecutorError> {
        let inside = inside(path)?;
        if inside.is_empty() {
            return Err(FileError::IsAFolder(path.to_owned()).into());
        }
        match self.files()?.tree.remove(&guest(inside), u64::MAX) {
            Ok(_) | Err(Errno::NoEntry) => Ok(()),
            Err(error) => Err(file_error(path)(error).into()),
        }
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
    _files: Arc<Files>,
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

    /// The path of what is there, links followed.
    fn canonical(&self, files: &Files, path: &str) -> Result<Vec<u8>, FileError> {
        let found = files.tree.vfs().real_path(&GuestPath::root(), &guest(inside(path)?));
        Ok(found.map_err(file_error(path))?.as_bytes().to_vec())
    }
}

/// Where commands see a path of the workspace.
fn guest(path: &str) -> Vec<u8> {
    if path.is_empty() { ROOT.into() } else { format!("{ROOT}/{path}").into_bytes() }
}

/// The path in the workspace that a guest's path stands for.
fn relative(path: &[u8]) -> String {
    let text = String::from_utf8_lossy(path);
    text.strip_prefix(ROOT).unwrap_or(&text).trim_start_matches('/').to_owned()
}

/// A path in the workspace without blanks at its end, or an error when it leads out of it.
fn inside(path: &str) -> Result<&str, FileError> {
    let path = path.trim_end_matches('/');
    let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    if path.is_empty() || path.split('/').all(plain) { Ok(path) } else { Err(FileError::Outside(path.to_owned())) }
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

fn entry(path: String, file_type: FileType, metadata: &Metadata) -> Entry {
    let kind = match file_type {
        FileType::Regular => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        FileType::Fifo | FileType::CharDevice => EntryKind::Special,
    };
    let size = if kind == EntryKind::File { metadata.size } else { 0 };
    Entry { path, kind, size, modified: metadata.modified }
}

fn file_error(path: &str) -> impl Fn(Errno) -> FileError {
    let path = path.to_owned();
    move |error| {
        let path = path.clone();
        match error {
            Errno::NoEntry => FileError::NotFound(path),
            Errno::Access => FileError::Outside(path),
            Errno::NotSupported => FileError::NotAFile(path),
            Errno::NotDirectory => FileError::NotAFolder(path),
            Errno::IsDirectory => FileError::IsAFolder(path),
            Errno::ReadOnly => FileError::ReadOnly(path),
            Errno::NoSpace | Errno::FileTooBig => FileError::NoSpace(path),
            error => FileError::Other { path, reason: format!("{error:?}") },
        }
    }
}

/// Sentences about paths, a few of them.
struct Notes<'a>(&'a mut Vec<String>);

impl Notes<'_> {
    fn add(&mut self, path: &[u8], what: &str) {
        const SHOWN_MAX: usize = 200;
        if self.0.len() < NOTES_MAX {
            let path: String = String::from_utf8_lossy(path).chars().take(SHOWN_MAX).collect();
            self.0.push(format!("{path} {what} and is left out"));
        }
    }
}
