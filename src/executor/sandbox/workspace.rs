//! A workspace that sandboxes mount.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::super::{
    Command, Entry, EntryKind, ExecutorError, FOLDERS, FileError, Link, Listing, Query, RunningCommand, StagedSkill,
    Workspace,
};
use super::Shared;
use crate::sandbox::{Errno, FileSystem, FileType, GuestPath, HostFolder, Metadata, Quota, Tree, TreeMount};
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
/// The most sentences of a listing about what cannot be read.
const NOTES_MAX: usize = 20;

/// A workspace of a [`SandboxExecutor`](super::SandboxExecutor).
#[derive(Debug)]
pub(super) struct SandboxWorkspace {
    name: String,
    shared: Arc<Shared>,
    tree: Tree,
    skills: Mutex<BTreeMap<String, Staged>>,
    links: Mutex<Vec<Link>>,
}

/// A skill that commands see: its folder, and the writable one laid over it.
#[derive(Debug)]
struct Staged {
    digest: String,
    mounts: [TreeMount; 2],
}

impl SandboxWorkspace {
    /// Takes up the workspace or makes it.
    pub(super) fn open(name: &str, shared: Arc<Shared>) -> Result<Self, ExecutorError> {
        let tree = match &shared.root {
            None => Tree::memory(ROOT, &shared.limits).map_err(ExecutorError::io("cannot make", ROOT))?,
            Some(root) => {
                let folder = root.join(name);
                make_private(&folder).map_err(ExecutorError::io("cannot make the workspace", &folder))?;
                Tree::folder(&folder, ROOT, &shared.limits)
                    .map_err(ExecutorError::io("cannot open the workspace", &folder))?
            }
        };
        let workspace = Self { name: name.to_owned(), shared, tree, skills: Mutex::default(), links: Mutex::default() };
        for folder in FOLDERS {
            workspace.make(folder)?;
        }
        Ok(workspace)
    }

    fn make(&self, path: &str) -> Result<(), ExecutorError> {
        Ok(self.tree.make_folders(inside(path)?.as_bytes()).map_err(file_error(path))?)
    }

    fn build(&self, command: &Command) -> Result<Sandbox, ExecutorError> {
        let mut limits = command.limits.clone().unwrap_or_else(|| self.shared.limits.clone());
        if let Some(timeout) = command.timeout {
            limits.wall_time = Some(timeout);
        }
        let runtime = Arc::clone(&self.shared.runtime);
        let mut builder = Sandbox::builder().runtime(runtime).limits(limits).cwd(self.cwd(command)?);
        builder = builder.tree(mount(ROOT, self.tree.source(), false, &[(VENVS, "skills")])?);
        let skills = self.skills.lock().unwrap_or_else(PoisonError::into_inner);
        for tree in skills.values().flat_map(|staged| &staged.mounts) {
            builder = builder.tree(tree.clone());
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
        let guest = format!("{ROOT}/skills/{place}");
        let mounts = [
            mount(&guest, Arc::new(folder), true, &LINKS)?,
            mount(&format!("{guest}/{VENV}"), self.tree.part(venv.as_bytes()), false, &[])?,
        ];
        let staged = Staged { digest: skill.digest.clone(), mounts };
        self.skills.lock().unwrap_or_else(PoisonError::into_inner).insert(skill.name.clone(), staged);
        Ok(())
    }

    async fn list(&self, query: &Query<'_>) -> Result<Listing, ExecutorError> {
        let below = inside(query.below)?;
        let (found, failed) =
            self.tree.list(below.as_bytes(), query.depth, query.most).map_err(file_error(query.below))?;
        let mut listing = Listing { is_cut: found.len() > query.most, ..Listing::default() };
        let mut notes = Notes(&mut listing.notes);
        for (path, error) in failed {
            notes.add(&path, &format!("cannot be read ({error:?})"));
        }
        let prefix = if below.is_empty() { String::new() } else { format!("{below}/") };
        for found in found.into_iter().take(query.most) {
            match String::from_utf8(found.path) {
                Ok(path) => listing.entries.push(entry(format!("{prefix}{path}"), &found.metadata)),
                Err(error) => notes.add(error.as_bytes(), "has a name that is not UTF-8"),
            }
        }
        Ok(listing)
    }

    async fn stat(&self, path: &str) -> Result<Entry, ExecutorError> {
        let (real, metadata) = self.tree.metadata(inside(path)?.as_bytes()).map_err(file_error(path))?;
        Ok(entry(self.relative(&real), &metadata))
    }

    async fn read(&self, path: &str, offset: u64, most: usize) -> Result<Vec<u8>, ExecutorError> {
        // Also the place that a link leads to must be in the workspace.
        let path_inside = inside(path)?;
        self.tree.metadata(path_inside.as_bytes()).map_err(file_error(path))?;
        Ok(self.tree.read(path_inside.as_bytes(), offset, most).map_err(file_error(path))?)
    }

    async fn write(&self, path: &str, content: &[u8], mode: u32) -> Result<(), ExecutorError> {
        let inside = inside(path)?;
        if inside.is_empty() {
            return Err(FileError::IsAFolder(path.to_owned()).into());
        }
        Ok(self.tree.write(inside.as_bytes(), content, mode).map_err(file_error(path))?)
    }

    async fn make_folder(&self, path: &str) -> Result<(), ExecutorError> {
        if inside(path)?.is_empty() { Ok(()) } else { self.make(path) }
    }

    async fn remove(&self, path: &str) -> Result<(), ExecutorError> {
        let inside = inside(path)?;
        if inside.is_empty() {
            return Err(FileError::IsAFolder(path.to_owned()).into());
        }
        Ok(self.tree.remove(inside.as_bytes()).map_err(file_error(path))?)
    }

    async fn link(&self, link: &Link) -> Result<(), ExecutorError> {
        let link = Link { host: link.host.clone(), path: inside(&link.path)?.to_owned() };
        std::fs::metadata(&link.host).map_err(ExecutorError::io("cannot show", &link.host))?;
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|known| known.path != link.path);
        links.push(link);
        Ok(())
    }

    async fn run(&self, command: Command) -> Result<Outcome, ExecutorError> {
        let sandbox = self.build(&command)?;
        let stdin = if command.stdin.is_empty() { Input::Empty } else { Input::Bytes(command.stdin) };
        let before = self.tree.limits_hit();
        let ended = sandbox.command(command.argv).stdin(stdin).run().await;
        // Nothing writes any more when files are read afterwards.
        sandbox.close().await;
        let mut outcome = ended?;
        self.add_refusals(&before, &mut outcome);
        Ok(outcome)
    }

    async fn start(&self, command: Command) -> Result<Box<dyn RunningCommand>, ExecutorError> {
        let sandbox = self.build(&command)?;
        let run = sandbox.command(command.argv.iter().cloned()).stdin(Input::Channel).stdout(Output::Channel);
        let run = if command.tty { run.tty() } else { run.merged() };
        let running = run.start().await?;
        Ok(Box::new(SandboxCommand { running, _sandbox: sandbox }))
    }
}

/// A command in a sandbox of its own.
#[derive(Debug)]
struct SandboxCommand {
    running: Running,
    /// It ends with its sandbox.
    _sandbox: Sandbox,
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
        for (name, count) in self.tree.limits_hit() {
            let known = before.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count);
            if count > known {
                outcome.limits_hit.push((name, count - known));
            }
        }
    }

    fn relative(&self, path: &GuestPath) -> String {
        let text = String::from_utf8_lossy(path.as_bytes());
        let below = text.strip_prefix(ROOT).unwrap_or(&text);
        below.trim_start_matches('/').to_owned()
    }
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

fn entry(path: String, metadata: &Metadata) -> Entry {
    let kind = match metadata.file_type {
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
            Errno::Invalid => FileError::NotAFile(path),
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

/// A folder that nobody else may enter, with those above it.
fn make_private(folder: &Path) -> std::io::Result<()> {
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            // A link in its place may be anybody's.
            if folder.symlink_metadata()?.is_dir() { Ok(()) } else { Err(error) }
        }
        done => done,
    }
}
