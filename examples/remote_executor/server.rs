//! The side where commands run.

use std::collections::HashMap;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tempfile::TempDir;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use wskill::Limits;
use wskill::executor::{
    Command, Executor, ExecutorError, Query, RunningCommand, SandboxExecutor, StagedSkill, Workspace,
};

use super::tree::{pack, unpack};
use super::wire::{Answer, Call, Change, End, LISTED_MAX, Program, Request, Said, receive, send, unusable};

/// What workspaces and runs may use. Files are few enough for a workspace to fit into one frame.
fn limits() -> Limits {
    Limits { disk: 64 << 20, file_size: 64 << 20, inodes: 10_000, ..Limits::default() }
}

/// A server over sandboxes, with workspaces in a folder that it deletes in the end.
pub struct Server {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Starts one, which listens at `address`; port 0 is any that is free.
    pub async fn start(address: SocketAddr) -> Result<Self, ExecutorError> {
        let listener = TcpListener::bind(address).await.map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        let folder = tempfile::Builder::new().prefix("wskill-remote-").tempdir().map_err(unusable)?;
        let executor = SandboxExecutor::builder().root(folder.path().join("workspaces")).limits(limits()).build()?;
        let state = Arc::new(State {
            executor,
            folder,
            open: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            number: AtomicU64::new(first_number()),
        });
        let accepting = tokio::spawn(async move {
            // They end with the server.
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&state);
                // An error is a client that has gone, or one that does not know what to say.
                connections.spawn(async move { state.serve(stream).await });
                while connections.try_join_next().is_some() {}
            }
        });
        Ok(Self { address, accepting })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it with all that runs.
    pub async fn stop(self) {
        self.accepting.abort();
        // It says that it was aborted.
        let _ = self.accepting.await;
    }
}

struct State {
    executor: SandboxExecutor,
    /// With folders `workspaces`, and `skills` for what clients have sent.
    folder: TempDir,
    open: Mutex<HashMap<String, Arc<Open>>>,
    /// One workspace is made at a time.
    opening: tokio::sync::Mutex<()>,
    /// The last number of an instance, a change or a tree.
    number: AtomicU64,
}

/// A workspace that is open.
struct Open {
    workspace: Arc<dyn Workspace>,
    instance: u64,
    /// Held for changes of clients and for packing, so that a tree has a change whole and its number tells it.
    order: tokio::sync::Mutex<()>,
}

/// Where numbers begin: those of a server are larger than those of the one before it in its place.
fn first_number() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or_default()
}

type Reply = (Answer, Vec<u8>);

impl State {
    /// Answers the request of a connection.
    async fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let (mut reader, mut writer) = stream.into_split();
        let (request, body) = receive::<Request>(&mut reader).await?;
        let open = self.find(&request);
        match (request.call, open) {
            (Call::Run(program), Some(open)) => {
                let ended = tokio::select! {
                    ended = open.workspace.run(command(program, body)) => ended,
                    // The client has gone: what runs for it ends.
                    _ = receive::<Request>(&mut reader) => return Ok(()),
                };
                self.tell_end(&mut writer, &open, ended).await
            }
            (Call::Start(program), Some(open)) => self.converse(reader, writer, &open, program).await,
            (call, open) => {
                let answer = self.answer(&request.workspace, open, call, body).await;
                reply(&mut writer, answer).await
            }
        }
    }

    fn find(&self, request: &Request) -> Option<Arc<Open>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.get(&request.workspace).filter(|open| open.instance == request.instance).cloned()
    }

    fn number(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed) + 1
    }

    async fn answer(
        &self,
        name: &str,
        open: Option<Arc<Open>>,
        call: Call,
        body: Vec<u8>,
    ) -> Result<Reply, ExecutorError> {
        let bare = |answer| (answer, Vec::new());
        let open = match (call, open) {
            (Call::Open { tree, changes }, _) => return self.open(name, tree, changes, &body).await.map(bare),
            (Call::Delete, _) => return self.delete(name).await.map(bare),
            (_, None) => return Ok(bare(Answer::Gone)),
            (call, Some(open)) => (call, open),
        };
        let (call, open) = open;
        let workspace = &open.workspace;
        Ok(match call {
            Call::Tree => return self.tree(&open).await,
            Call::Stage { skill, digest } => {
                let folder = self.skills(name).join(self.number().to_string());
                off_thread({
                    let folder = folder.clone();
                    move || std::fs::create_dir_all(&folder).and_then(|()| unpack(&body, &folder))
                })
                .await?;
                workspace.stage(&StagedSkill { name: skill, folder, digest }).await?;
                bare(Answer::Done)
            }
            Call::Change(change) => {
                let _order = open.order.lock().await;
                apply(&**workspace, &change, &body).await?;
                bare(Answer::Changed { number: self.number() })
            }
            Call::List { below, depth, most } => {
                let listing = workspace.list(&Query { below: &below, depth, most: most.min(LISTED_MAX) }).await?;
                let entries = listing.entries.into_iter().map(Into::into).collect();
                bare(Answer::Listing { entries, notes: listing.notes, is_cut: listing.is_cut })
            }
            Call::Stat { path } => bare(Answer::Found(workspace.stat(&path).await?.into())),
            Call::Read { path, offset, most } => (Answer::Content, workspace.read(&path, offset, most).await?),
            // Those have been served.
            Call::Open { .. } | Call::Delete | Call::Run(_) | Call::Start(_) => bare(Answer::Gone),
        })
    }

    /// Opens a workspace; one that is not there is made with the files that a client has of it.
    async fn open(
        &self,
        name: &str,
        tree: usize,
        changes: Vec<(Change, usize)>,
        body: &[u8],
    ) -> Result<Answer, ExecutorError> {
        let _one = self.opening.lock().await;
        let known = self.open.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some(known) = known {
            return Ok(opened(&known));
        }
        // This also says whether the name is one of a workspace, before it becomes a part of a path.
        self.executor.remove(name).await?;
        let (tar, mut rest) = split(body, tree)?;
        if !tar.is_empty() {
            let (tar, folder) = (tar.to_vec(), self.folder.path().join("workspaces").join(name));
            off_thread(move || std::fs::create_dir_all(&folder).and_then(|()| unpack(&tar, &folder))).await?;
        }
        let workspace = self.executor.open(name).await?;
        for (change, length) in changes {
            let (content, after) = split(rest, length)?;
            apply(&*workspace, &change, content).await?;
            rest = after;
        }
        let open = Arc::new(Open { workspace, instance: self.number(), order: tokio::sync::Mutex::default() });
        let answer = opened(&open);
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), open);
        Ok(answer)
    }

    async fn delete(&self, name: &str) -> Result<Answer, ExecutorError> {
        let _one = self.opening.lock().await;
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        self.executor.remove(name).await?;
        let skills = self.skills(name);
        off_thread(move || match std::fs::remove_dir_all(&skills) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })
        .await?;
        Ok(Answer::Done)
    }

    async fn tree(&self, open: &Open) -> Result<Reply, ExecutorError> {
        let folder = self.folder.path().join("workspaces").join(open.workspace.name());
        let _order = open.order.lock().await;
        let tar = off_thread(move || pack(&folder)).await?;
        Ok((Answer::Tree { number: self.number() }, tar))
    }

    /// Where the skills are that clients have sent for a workspace.
    fn skills(&self, name: &str) -> PathBuf {
        self.folder.path().join("skills").join(name)
    }

    /// Tells how a command has ended, and brings what it has left.
    async fn tell_end(
        &self,
        writer: &mut OwnedWriteHalf,
        open: &Open,
        ended: Result<wskill::Outcome, ExecutorError>,
    ) -> io::Result<()> {
        let ended = ended.map(|outcome| {
            let (end, streams) = End::of(outcome);
            (Answer::Ended(end), streams)
        });
        let has_run = ended.is_ok();
        reply(writer, ended).await?;
        if has_run { reply(writer, self.tree(open).await).await } else { Ok(()) }
    }

    /// Passes on what a command and a client say to each other. The command ends when the client has gone, as it is
    /// dropped then.
    async fn converse(
        &self,
        mut reader: OwnedReadHalf,
        mut writer: OwnedWriteHalf,
        open: &Open,
        program: Program,
    ) -> io::Result<()> {
        let running = match open.workspace.start(command(program, Vec::new())).await {
            Ok(running) => running,
            Err(error) => return reply(&mut writer, Err(error)).await,
        };
        send(&mut writer, &Answer::Done, b"").await?;
        let writer = tokio::sync::Mutex::new(writer);
        // Input waits apart: a command that does not read it gets signals all the same.
        let (input, waiting) = mpsc::channel(1);
        let output = async {
            while let Some(bytes) = running.read().await {
                send(&mut *writer.lock().await, &Answer::Output, &bytes).await?;
            }
            let ended = running.wait().await;
            self.tell_end(&mut *writer.lock().await, open, ended).await
        };
        tokio::select! {
            done = output => done,
            () = listen(&mut reader, &*running, input) => Ok(()),
            failed = write_input(&writer, &*running, waiting) => failed,
        }
    }
}

/// Hears what a client says, until it has gone.
async fn listen(reader: &mut OwnedReadHalf, running: &dyn RunningCommand, input: mpsc::Sender<Vec<u8>>) {
    let mut input = Some(input);
    while let Ok((said, bytes)) = receive::<Said>(reader).await {
        match said {
            Said::Input => {
                // It said more before this was taken, or after the end.
                if input.as_ref().is_none_or(|input| input.try_send(bytes).is_err()) {
                    return;
                }
            }
            Said::Close => input = None,
            Said::Signal(number) => {
                // There is no such signal; the client knows the numbers too.
                let _ = running.signal(number);
            }
        }
    }
}

/// Passes on what is written to a command. Ends only when the client has gone.
async fn write_input(
    writer: &tokio::sync::Mutex<OwnedWriteHalf>,
    running: &dyn RunningCommand,
    mut waiting: mpsc::Receiver<Vec<u8>>,
) -> io::Result<()> {
    while let Some(bytes) = waiting.recv().await {
        let is_taken = running.write(&bytes).await.is_ok();
        send(&mut *writer.lock().await, &Answer::Taken(is_taken), b"").await?;
    }
    running.close_input();
    pending().await
}

async fn reply(writer: &mut OwnedWriteHalf, answer: Result<Reply, ExecutorError>) -> io::Result<()> {
    let failed = |error: ExecutorError| (Answer::Failed(error.into()), Vec::new());
    let (head, body) = answer.unwrap_or_else(failed);
    match send(writer, &head, &body).await {
        // Nothing was sent of what does not fit.
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            let (head, body) = failed(unusable(error));
            send(writer, &head, &body).await
        }
        done => done,
    }
}

async fn apply(workspace: &dyn Workspace, change: &Change, content: &[u8]) -> Result<(), ExecutorError> {
    match change {
        Change::Write { path, mode } => workspace.write(path, content, *mode).await,
        Change::MakeFolder { path } => workspace.make_folder(path).await,
        Change::Remove { path } => workspace.remove(path).await,
    }
}

/// The command that a client asks for. It gets what it asks for up to the server's own limits.
fn command(program: Program, stdin: Vec<u8>) -> Command {
    let own = limits();
    let wall_time = match (program.wall_time, own.wall_time) {
        (Some(asked), Some(most)) => Some(asked.min(most)),
        (asked, most) => asked.or(most),
    };
    let output = program.output.map_or(own.output, |asked| asked.min(own.output));
    Command {
        argv: program.argv,
        cwd: program.cwd,
        env: program.env,
        stdin,
        limits: Some(Limits { wall_time, output, ..own }),
        tty: program.tty,
        ..Command::default()
    }
}

fn opened(open: &Open) -> Answer {
    Answer::Opened { root: open.workspace.root().to_owned(), instance: open.instance }
}

fn split(bytes: &[u8], at: usize) -> Result<(&[u8], &[u8]), ExecutorError> {
    let short = || unusable(io::Error::new(io::ErrorKind::InvalidData, "a request is shorter than it says"));
    bytes.split_at_checked(at).ok_or_else(short)
}

/// Calls what blocks on another thread, also to its end when the client goes away meanwhile.
async fn off_thread<T: Send + 'static>(
    call: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, ExecutorError> {
    let called = tokio::task::spawn_blocking(call).await;
    called.map_err(io::Error::other).and_then(|called| called).map_err(unusable)
}
