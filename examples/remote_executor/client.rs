//! The executor: workspaces on a server.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use async_trait::async_trait;
use tokio::net::TcpStream;
use wskill::Outcome;
use wskill::executor::{
    Command, Entry, Executor, ExecutorError, Link, Listing, Query, RunningCommand, StagedSkill, Workspace,
};

use super::running::RemoteCommand;
use super::tree::pack;
use super::wire::{Answer, Call, Change, Program, Request, receive, send, unusable};

/// The most bytes of changes that are kept beside the tree before the tree is fetched anew.
const CHANGES_MAX: usize = 4 << 20;

/// Runs commands on a server. Of one server a workspace should have one client at a time.
#[derive(Debug)]
pub struct RemoteExecutor {
    server: SocketAddr,
    /// The workspaces that somebody has open: one object each.
    open: Mutex<HashMap<String, Weak<RemoteWorkspace>>>,
}

impl RemoteExecutor {
    /// One for the server at an address. It need not be there yet.
    pub fn new(server: SocketAddr) -> Self {
        Self { server, open: Mutex::default() }
    }
}

#[async_trait]
impl Executor for RemoteExecutor {
    fn name(&self) -> &str {
        "remote"
    }

    async fn open(&self, name: &str) -> Result<Arc<dyn Workspace>, ExecutorError> {
        let mut kept = Kept::default();
        let (root, instance) = open(self.server, name, &kept).await?;
        kept.fetch(self.server, name, instance).await?;
        let workspace = Arc::new(RemoteWorkspace {
            server: self.server,
            name: name.to_owned(),
            root,
            instance: AtomicU64::new(instance),
            kept: Arc::new(tokio::sync::Mutex::new(kept)),
        });
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // Of two callers the first one's is for both.
        if let Some(first) = open.get(name).and_then(Weak::upgrade) {
            return Ok(first);
        }
        open.retain(|_, workspace| workspace.strong_count() > 0);
        open.insert(name.to_owned(), Arc::downgrade(&workspace));
        Ok(workspace)
    }

    async fn remove(&self, name: &str) -> Result<(), ExecutorError> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        ask(self.server, &request(name, 0, Call::Delete), b"").await.map(drop)
    }
}

/// A workspace on the server.
#[derive(Debug)]
struct RemoteWorkspace {
    server: SocketAddr,
    name: String,
    root: String,
    /// The server's number for it as it is now: a workspace that was made again has another.
    instance: AtomicU64,
    kept: Arc<tokio::sync::Mutex<Kept>>,
}

/// What makes a workspace again that has vanished.
#[derive(Debug, Default)]
pub struct Kept {
    /// Its files, as a tar, and the tree's number.
    tree: Vec<u8>,
    number: u64,
    /// By number, the changes that may not be in the tree, and what they write.
    changes: BTreeMap<u64, (Change, Vec<u8>)>,
    skills: BTreeMap<String, StagedSkill>,
}

impl Kept {
    /// Takes a tree, unless a later one is here.
    pub fn store(&mut self, number: u64, tree: Vec<u8>) {
        if number > self.number {
            self.changes = self.changes.split_off(&number);
            (self.number, self.tree) = (number, tree);
        }
    }

    /// Fetches the tree. When the workspace has vanished meanwhile, the next call makes it again.
    async fn fetch(&mut self, server: SocketAddr, name: &str, instance: u64) -> Result<(), ExecutorError> {
        let reply = ask(server, &request(name, instance, Call::Tree), b"").await?;
        match reply.answer {
            Answer::Tree { number } => self.store(number, reply.body),
            Answer::Gone => {}
            _ => return Err(unexpected()),
        }
        Ok(())
    }
}

impl RemoteWorkspace {
    async fn ask(&self, instance: u64, call: Call, body: &[u8]) -> Result<Reply, ExecutorError> {
        ask(self.server, &request(&self.name, instance, call), body).await
    }

    /// Makes a call; if the workspace has vanished, it is made again and the call once more, as nothing was done yet.
    async fn call(&self, call: Call, body: &[u8]) -> Result<Reply, ExecutorError> {
        let reply = self.ask(self.instance.load(Ordering::Relaxed), call.clone(), body).await?;
        match reply.answer {
            Answer::Gone => self.call_holding(&mut *self.kept.lock().await, call, body).await,
            _ => Ok(reply),
        }
    }

    /// The same for who holds what is kept.
    async fn call_holding(&self, kept: &mut Kept, call: Call, body: &[u8]) -> Result<Reply, ExecutorError> {
        // Another call may have made it again.
        let instance = self.instance.load(Ordering::Relaxed);
        let reply = self.ask(instance, call.clone(), body).await?;
        if !matches!(reply.answer, Answer::Gone) {
            return Ok(reply);
        }
        let (_, instance) = open(self.server, &self.name, kept).await?;
        for skill in kept.skills.values() {
            self.ask(instance, stage(skill), &packed(skill).await?).await?;
        }
        kept.fetch(self.server, &self.name, instance).await?;
        // All of it is there: other calls may use it.
        self.instance.store(instance, Ordering::Relaxed);
        let reply = self.ask(instance, call, body).await?;
        let twice = || unusable(io::Error::other("the workspace has vanished twice during one call"));
        if matches!(reply.answer, Answer::Gone) { Err(twice()) } else { Ok(reply) }
    }

    /// Changes a file, and keeps the change.
    async fn change(&self, change: Change, content: &[u8]) -> Result<(), ExecutorError> {
        let mut kept = self.kept.lock().await;
        let reply = self.call_holding(&mut kept, Call::Change(change.clone()), content).await?;
        let Answer::Changed { number } = reply.answer else { return Err(unexpected()) };
        kept.changes.insert(number, (change, content.to_vec()));
        if kept.changes.values().map(|(_, content)| content.len()).sum::<usize>() > CHANGES_MAX {
            kept.fetch(self.server, &self.name, self.instance.load(Ordering::Relaxed)).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl Workspace for RemoteWorkspace {
    fn name(&self) -> &str {
        &self.name
    }

    fn root(&self) -> &str {
        &self.root
    }

    fn mounts_skills(&self) -> bool {
        // On the server: calls for files do not see them.
        true
    }

    async fn stage(&self, skill: &StagedSkill) -> Result<(), ExecutorError> {
        let mut kept = self.kept.lock().await;
        if kept.skills.get(&skill.name).is_some_and(|known| known.digest == skill.digest) {
            return Ok(());
        }
        self.call_holding(&mut kept, stage(skill), &packed(skill).await?).await?;
        kept.skills.insert(skill.name.clone(), skill.clone());
        Ok(())
    }

    async fn list(&self, query: &Query<'_>) -> Result<Listing, ExecutorError> {
        let call = Call::List { below: query.below.to_owned(), depth: query.depth, most: query.most };
        match self.call(call, b"").await?.answer {
            Answer::Listing { entries, notes, is_cut } => {
                Ok(Listing { entries: entries.into_iter().map(Into::into).collect(), notes, is_cut })
            }
            _ => Err(unexpected()),
        }
    }

    async fn stat(&self, path: &str) -> Result<Entry, ExecutorError> {
        match self.call(Call::Stat { path: path.to_owned() }, b"").await?.answer {
            Answer::Found(found) => Ok(found.into()),
            _ => Err(unexpected()),
        }
    }

    async fn read(&self, path: &str, offset: u64, most: usize) -> Result<Vec<u8>, ExecutorError> {
        let mut content = self.call(Call::Read { path: path.to_owned(), offset, most }, b"").await?.body;
        content.truncate(most);
        Ok(content)
    }

    async fn write(&self, path: &str, content: &[u8], mode: u32) -> Result<(), ExecutorError> {
        self.change(Change::Write { path: path.to_owned(), mode }, content).await
    }

    async fn make_folder(&self, path: &str) -> Result<(), ExecutorError> {
        self.change(Change::MakeFolder { path: path.to_owned() }, b"").await
    }

    async fn remove(&self, path: &str) -> Result<(), ExecutorError> {
        self.change(Change::Remove { path: path.to_owned() }, b"").await
    }

    async fn link(&self, _: &Link) -> Result<(), ExecutorError> {
        Err(unsupported("links to files of this host"))
    }

    async fn run(&self, command: Command) -> Result<Outcome, ExecutorError> {
        let stdin = command.stdin.clone();
        let mut reply = self.call(Call::Run(program(command)?), &stdin).await?;
        let Answer::Ended(end) = reply.answer else { return Err(unexpected()) };
        let outcome = end.outcome(reply.body);
        keep_tree(&mut reply.stream, &self.kept).await?;
        Ok(outcome)
    }

    async fn start(&self, command: Command) -> Result<Box<dyn RunningCommand>, ExecutorError> {
        let reply = self.call(Call::Start(program(command)?), b"").await?;
        Ok(Box::new(RemoteCommand::over(reply.stream, Arc::clone(&self.kept))))
    }
}

/// An answer, and the connection, on which there may be more.
struct Reply {
    answer: Answer,
    body: Vec<u8>,
    stream: TcpStream,
}

/// Asks the server on a connection of its own. When it closes, the server ends what runs on it.
async fn ask(server: SocketAddr, request: &Request, body: &[u8]) -> Result<Reply, ExecutorError> {
    let mut stream = TcpStream::connect(server).await.map_err(unusable)?;
    send(&mut stream, request, body).await.map_err(unusable)?;
    let (answer, body) = receive(&mut stream).await.map_err(unusable)?;
    match answer {
        Answer::Failed(failure) => Err(failure.into()),
        answer => Ok(Reply { answer, body, stream }),
    }
}

fn request(workspace: &str, instance: u64, call: Call) -> Request {
    Request { workspace: workspace.to_owned(), instance, call }
}

/// Opens a workspace; the server makes one that is not there of what is kept. Answers its root and its number.
async fn open(server: SocketAddr, name: &str, kept: &Kept) -> Result<(String, u64), ExecutorError> {
    let changes = kept.changes.values().map(|(change, content)| (change.clone(), content.len())).collect();
    let call = Call::Open { tree: kept.tree.len(), changes };
    let mut body = kept.tree.clone();
    kept.changes.values().for_each(|(_, content)| body.extend_from_slice(content));
    match ask(server, &request(name, 0, call), &body).await?.answer {
        Answer::Opened { root, instance } => Ok((root, instance)),
        _ => Err(unexpected()),
    }
}

/// Takes the tree that follows the end of a command.
pub async fn keep_tree(
    stream: &mut (impl tokio::io::AsyncRead + Unpin),
    kept: &tokio::sync::Mutex<Kept>,
) -> Result<(), ExecutorError> {
    match receive(stream).await.map_err(unusable)? {
        (Answer::Tree { number }, tree) => kept.lock().await.store(number, tree),
        (Answer::Failed(failure), _) => return Err(failure.into()),
        _ => return Err(unexpected()),
    }
    Ok(())
}

fn stage(skill: &StagedSkill) -> Call {
    Call::Stage { skill: skill.name.clone(), digest: skill.digest.clone() }
}

/// A skill's folder as a tar.
async fn packed(skill: &StagedSkill) -> Result<Vec<u8>, ExecutorError> {
    let (folder, path) = (skill.folder.clone(), skill.folder.clone());
    let packed = tokio::task::spawn_blocking(move || pack(&folder)).await;
    let failed = |source| ExecutorError::Io { action: "cannot pack the skill in", path, source };
    packed.map_err(io::Error::other).and_then(|packed| packed).map_err(failed)
}

/// What the server is told of a command: host tools are left out.
fn program(command: Command) -> Result<Program, ExecutorError> {
    if !command.policy.is_empty() {
        return Err(unsupported("policy of commands"));
    }
    let limits = command.limits.as_ref();
    Ok(Program {
        wall_time: command.timeout.or(limits.and_then(|limits| limits.wall_time)),
        output: limits.map(|limits| limits.output),
        argv: command.argv,
        cwd: command.cwd,
        env: command.env,
        tty: command.tty,
    })
}

/// The server does not speak this language.
pub fn unexpected() -> ExecutorError {
    unusable(io::Error::new(io::ErrorKind::InvalidData, "it has answered something else than it was asked for"))
}

fn unsupported(what: &'static str) -> ExecutorError {
    ExecutorError::Unsupported { executor: "remote".to_owned(), what }
}
