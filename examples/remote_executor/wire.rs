//! What client and server say to each other: frames of a JSON text and bytes. Each side takes the other's sizes for
//! what they are, numbers from somebody else.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use wskill::executor::{Entry, EntryKind, ExecutorError, FileError};
use wskill::{LimitName, Outcome};

/// The longest JSON text, bytes. The longest are listings, which [`LISTED_MAX`] bounds.
const HEAD_MAX: u32 = 16 << 20;
/// The most bytes behind it. The most are trees, which [`TREE_MAX`](super::tree::TREE_MAX) bounds.
const BODY_MAX: u32 = 160 << 20;
/// The most entries of a listing.
pub const LISTED_MAX: usize = 10_000;

/// Sends a frame.
pub async fn send(stream: &mut (impl AsyncWrite + Unpin), head: &impl Serialize, body: &[u8]) -> io::Result<()> {
    let head = serde_json::to_vec(head)?;
    let head_length = length(&head, HEAD_MAX)?;
    let body_length = length(body, BODY_MAX)?;
    let mut begin = Vec::with_capacity(head.len() + 8);
    begin.extend(head_length.to_be_bytes());
    begin.extend(body_length.to_be_bytes());
    begin.extend(head);
    stream.write_all(&begin).await?;
    stream.write_all(body).await
}

fn length(part: &[u8], most: u32) -> io::Result<u32> {
    let length = u32::try_from(part.len()).ok().filter(|length| *length <= most);
    length.ok_or_else(|| too_long(part.len(), most))
}

/// Receives a frame; `UnexpectedEof` when the other side has gone.
pub async fn receive<T: DeserializeOwned>(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<(T, Vec<u8>)> {
    let (head, body) = (stream.read_u32().await?, stream.read_u32().await?);
    let head = part(stream, head, HEAD_MAX).await?;
    let body = part(stream, body, BODY_MAX).await?;
    Ok((serde_json::from_slice(&head)?, body))
}

async fn part(stream: &mut (impl AsyncRead + Unpin), length: u32, most: u32) -> io::Result<Vec<u8>> {
    if length > most {
        return Err(too_long(length, most));
    }
    // What is announced need not come: memory is taken for what is there.
    let mut bytes = Vec::new();
    (&mut *stream).take(length.into()).read_to_end(&mut bytes).await?;
    if bytes.len() as u64 == u64::from(length) { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn too_long(length: impl std::fmt::Display, most: u32) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("a frame has {length} bytes in a part that may have {most}"))
}

/// What a client asks for, once on a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The workspace's name.
    pub workspace: String,
    /// Which of the workspaces that had this name one after the other: [`Answer::Opened`] says it. Nothing is done in
    /// another one. Of no meaning for [`Call::Open`] and [`Call::Delete`].
    pub instance: u64,
    /// What to do.
    pub call: Call,
}

/// A call of a client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Call {
    /// Open the workspace. One that is not there is made of the bytes: `tree` bytes of a tar, and what each change
    /// writes.
    Open { tree: usize, changes: Vec<(Change, usize)> },
    /// Delete the workspace.
    Delete,
    /// The workspace's files, as a tar.
    Tree,
    /// Stage a skill; the bytes are the tar of its folder.
    Stage { skill: String, digest: String },
    /// Change a file.
    Change(Change),
    /// List a folder.
    List { below: String, depth: usize, most: usize },
    /// Tell what is at a path.
    Stat { path: String },
    /// Read a file.
    Read { path: String, offset: u64, most: usize },
    /// Run a command to its end, which has the bytes as its standard input.
    Run(Program),
    /// Start a command, and talk with it on this connection.
    Start(Program),
}

/// A change of a file by the client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Change {
    Write { path: String, mode: u32 },
    MakeFolder { path: String },
    Remove { path: String },
}

/// A command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    pub argv: Vec<String>,
    pub cwd: String,
    pub env: Vec<(String, String)>,
    pub wall_time: Option<Duration>,
    pub output: Option<u64>,
    pub tty: bool,
}

/// What a server answers.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// Where commands see the workspace, and which it is.
    Opened {
        root: String,
        instance: u64,
    },
    /// There is no such workspace any more. Nothing was done.
    Gone,
    /// Done. The number is larger than those of all changes and trees before.
    Changed {
        number: u64,
    },
    /// The bytes are the workspace's files, with all changes of smaller numbers.
    Tree {
        number: u64,
    },
    Listing {
        entries: Vec<Found>,
        notes: Vec<String>,
        is_cut: bool,
    },
    Found(Found),
    /// The bytes are a file's.
    Content,
    /// Done, or begun.
    Done,
    /// Of a command that is talked to: the bytes are output.
    Output,
    /// Of a command that is talked to: whether it has taken the input.
    Taken(bool),
    /// How a command has ended. The bytes are standard output and standard error. A [`Tree`](Self::Tree) follows.
    Ended(End),
    /// Why it cannot be done.
    Failed(Failure),
}

/// What a client says to a command that it has started.
#[derive(Debug, Serialize, Deserialize)]
pub enum Said {
    /// The bytes are input. The next come after [`Answer::Taken`].
    Input,
    Close,
    Signal(i32),
}

/// A file or folder.
#[derive(Debug, Serialize, Deserialize)]
pub struct Found {
    path: String,
    kind: String,
    size: u64,
    modified: i64,
}

impl From<Entry> for Found {
    fn from(entry: Entry) -> Self {
        let kind = match entry.kind {
            EntryKind::File => "file",
            EntryKind::Folder => "folder",
            EntryKind::Link => "link",
            EntryKind::Special => "special",
        };
        Self { path: entry.path, kind: kind.to_owned(), size: entry.size, modified: entry.modified }
    }
}

impl From<Found> for Entry {
    fn from(found: Found) -> Self {
        let kind = match found.kind.as_str() {
            "file" => EntryKind::File,
            "folder" => EntryKind::Folder,
            "link" => EntryKind::Link,
            _ => EntryKind::Special,
        };
        Self { path: found.path, kind, size: found.size, modified: found.modified }
    }
}

/// An outcome without its streams.
#[derive(Debug, Serialize, Deserialize)]
pub struct End {
    exit_code: u8,
    limit: Option<String>,
    limits_hit: Vec<(String, u64)>,
    stdout: usize,
    duration: Duration,
    fuel: Option<u64>,
    peak_memory: u64,
    processes: u64,
    hints: Vec<String>,
    written: Option<BTreeSet<String>>,
}

impl End {
    /// An outcome, and the bytes that go with it.
    pub fn of(outcome: Outcome) -> (Self, Vec<u8>) {
        let end = Self {
            exit_code: outcome.exit_code,
            limit: outcome.limit.map(|name| name.as_str().to_owned()),
            limits_hit: outcome.limits_hit.iter().map(|(name, count)| (name.as_str().to_owned(), *count)).collect(),
            stdout: outcome.stdout.len(),
            duration: outcome.duration,
            fuel: outcome.fuel,
            peak_memory: outcome.peak_memory,
            processes: outcome.processes,
            hints: outcome.hints,
            written: outcome.written,
        };
        (end, [outcome.stdout, outcome.stderr].concat())
    }

    /// The outcome.
    pub fn outcome(self, mut streams: Vec<u8>) -> Outcome {
        let stderr = streams.split_off(self.stdout.min(streams.len()));
        // A server may know limits that its client does not.
        let limit = |name: &str| name.parse::<LimitName>().ok();
        Outcome {
            exit_code: self.exit_code,
            limit: self.limit.as_deref().and_then(limit),
            limits_hit: self.limits_hit.iter().filter_map(|(name, count)| Some((limit(name)?, *count))).collect(),
            stdout: streams,
            stderr,
            duration: self.duration,
            fuel: self.fuel,
            peak_memory: self.peak_memory,
            processes: self.processes,
            hints: self.hints,
            written: self.written,
        }
    }
}

/// An error of the server's executor.
#[derive(Debug, Serialize, Deserialize)]
pub enum Failure {
    WorkspaceName(String),
    NotFound(String),
    NotAFile(String),
    NotAFolder(String),
    IsAFolder(String),
    Outside(String),
    ReadOnly(String),
    NoSpace(String),
    Other(String),
}

impl From<ExecutorError> for Failure {
    fn from(error: ExecutorError) -> Self {
        match error {
            ExecutorError::WorkspaceName(name) => Self::WorkspaceName(name),
            ExecutorError::File(FileError::NotFound(path)) => Self::NotFound(path),
            ExecutorError::File(FileError::NotAFile(path)) => Self::NotAFile(path),
            ExecutorError::File(FileError::NotAFolder(path)) => Self::NotAFolder(path),
            ExecutorError::File(FileError::IsAFolder(path)) => Self::IsAFolder(path),
            ExecutorError::File(FileError::Outside(path)) => Self::Outside(path),
            ExecutorError::File(FileError::ReadOnly(path)) => Self::ReadOnly(path),
            ExecutorError::File(FileError::NoSpace(path)) => Self::NoSpace(path),
            other => Self::Other(other.to_string()),
        }
    }
}

impl From<Failure> for ExecutorError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::WorkspaceName(name) => Self::WorkspaceName(name),
            Failure::NotFound(path) => FileError::NotFound(path).into(),
            Failure::NotAFile(path) => FileError::NotAFile(path).into(),
            Failure::NotAFolder(path) => FileError::NotAFolder(path).into(),
            Failure::IsAFolder(path) => FileError::IsAFolder(path).into(),
            Failure::Outside(path) => FileError::Outside(path).into(),
            Failure::ReadOnly(path) => FileError::ReadOnly(path).into(),
            Failure::NoSpace(path) => FileError::NoSpace(path).into(),
            Failure::Other(text) => unusable(io::Error::other(text)),
        }
    }
}

/// The connection or the other side has failed.
pub fn unusable(source: io::Error) -> ExecutorError {
    ExecutorError::Io { action: "cannot use", path: "the server".into(), source }
}
