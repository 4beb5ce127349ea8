//! Opening: files and directories from the tree, FIFOs, devices and the caller's own descriptors.

use std::sync::Arc;

use super::Kernel;
use super::context::ProcessCtx;
use super::device::Device;
use super::image::FD_DEVICE;
use super::open_file::{Kind, OpenFile};
use super::pipe::{Pipe, PipeReader, PipeWriter};
use super::run::Miss;
use super::trace::TraceEvent;
use super::tty::TTY_DEVICE;
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::vfs::{DirEntry, FileType, GuestPath, Metadata, Node, OpenOptions, Special};

/// What to open.
#[derive(Clone, Debug)]
pub struct OpenRequest {
    /// Where a relative path begins.
    pub base: GuestPath,
    /// The path.
    pub path: Vec<u8>,
    /// How.
    pub options: OpenOptions,
    /// Whether calls on it never wait.
    pub nonblocking: bool,
}

/// What opening gave: a description, or a FIFO end that still waits for a partner.
#[derive(Debug)]
pub enum Opened {
    /// It is open.
    Ready(Arc<OpenFile>),
    /// It is open once a partner comes.
    Waiting(FifoWait),
}

/// A FIFO whose other end is awaited.
#[derive(Debug)]
pub struct FifoWait {
    file: Arc<OpenFile>,
    pipe: Arc<Pipe>,
    /// How many partners there had been.
    seen: u64,
    for_writer: bool,
}

impl FifoWait {
    /// Waits for the partner.
    pub async fn partner(self) -> Arc<OpenFile> {
        if self.for_writer {
            self.pipe.wait_for_writer(self.seen).await;
        } else {
            self.pipe.wait_for_reader(self.seen).await;
        }
        self.file
    }
}

/// Opens for the process.
pub fn open(ctx: &ProcessCtx, request: &OpenRequest) -> Result<Opened> {
    let answer = open_node(ctx, request);
    if let Ok(Opened::Ready(file)) = &answer
        && request.options.write
        && matches!(file.kind(), Kind::File(_))
        && let Some(path) = file.path()
    {
        ctx.run().written.add(path);
    }
    if let Some(trace) = &ctx.kernel.trace {
        let opened_path = match &answer {
            Ok(Opened::Ready(file)) => file.path().map(ToString::to_string),
            _ => None,
        };
        trace.tell(TraceEvent::Open {
            at_ms: ctx.kernel.clock.elapsed_ms(),
            pid: ctx.process.pid,
            path: opened_path.unwrap_or_else(|| String::from_utf8_lossy(&request.path).into_owned()),
            write: request.options.write,
            error: answer.as_ref().err().map(|errno| format!("{errno:?}")),
        });
    }
    noted(ctx, &request.base, &request.path, answer)
}

/// Passes an answer on; the run notes what a person could do something about.
pub fn noted<T>(ctx: &ProcessCtx, base: &GuestPath, path: &[u8], answer: Result<T>) -> Result<T> {
    let Err(errno @ (Errno::ReadOnly | Errno::NoEntry)) = answer else { return answer };
    let whole = match path {
        [b'/', ..] => path.to_vec(),
        _ if base.is_root() => [b"/", path].concat(),
        _ => [base.as_bytes(), b"/", path].concat(),
    };
    let text = || String::from_utf8_lossy(&whole).into_owned();
    match errno {
        // Python tries this by itself, and goes on without.
        Errno::ReadOnly if whole.windows(12).any(|part| part == b"/__pycache__") => {}
        Errno::ReadOnly => ctx.run().miss(Miss::ReadOnly(text())),
        _ if is_host_like(&whole) => ctx.run().miss(Miss::HostPath(text())),
        _ => {}
    }
    answer
}

/// Notes that the process has given the file or folder at `path` its name.
pub fn named(ctx: &ProcessCtx, base: &GuestPath, path: &[u8]) {
    // Another process may have removed it already.
    if let Ok(found) = ctx.kernel.vfs.resolve(base, path, false) {
        ctx.run().written.add(&found.path);
    }
}

/// Whether a path looks like one of the host: below a folder that hosts have and the sandbox has not.
fn is_host_like(path: &[u8]) -> bool {
    let folders: [&[u8]; 9] =
        [b"/home/", b"/root/", b"/Users/", b"/mnt/", b"/media/", b"/var/", b"/opt/", b"/srv/", b"/data/"];
    folders.iter().any(|folder| path.starts_with(folder)) && !path.starts_with(b"/home/user/")
}

fn open_node(ctx: &ProcessCtx, request: &OpenRequest) -> Result<Opened> {
    let options = &request.options;
    let opened = ctx.kernel.vfs.open(&request.base, &request.path, options)?;
    let kind = match opened.node {
        Node::File(file) => Kind::File(file),
        Node::Directory => return Ok(Opened::Ready(Arc::new(OpenFile::directory(opened.path)))),
        Node::Special(Special::Device(id)) if id >= FD_DEVICE => {
            return duplicate(ctx, id - FD_DEVICE, options).map(Opened::Ready);
        }
        Node::Special(Special::Device(TTY_DEVICE)) => {
            let tty = ctx.run().tty().ok_or(Errno::NoDeviceOrAddress)?;
            return Ok(Opened::Ready(Arc::new(tty.description().with_flags(false, request.nonblocking))));
        }
        Node::Special(Special::Device(id)) => Kind::Device(Device::from_id(id)?),
        Node::Special(Special::Fifo { device, inode }) => {
            return open_fifo(ctx, request, (device, inode), opened.metadata, opened.path);
        }
    };
    let file = OpenFile::new(kind, options.read, options.write)
        .with_path(opened.path)
        .with_read_only(opened.read_only)
        .with_flags(options.append, request.nonblocking);
    Ok(Opened::Ready(Arc::new(file)))
}

/// `/dev/fd/N`: the same description, as dup gives it; offsets stay shared and pipes stay pipes.
fn duplicate(ctx: &ProcessCtx, fd: u64, options: &OpenOptions) -> Result<Arc<OpenFile>> {
    let fd = i32::try_from(fd).map_err(|_| Errno::NoEntry)?;
    let file = ctx.file(fd).map_err(|_| Errno::NoEntry)?;
    if options.read && !file.readable() || options.write && !file.writable() {
        return Err(Errno::Access);
    }
    Ok(Arc::clone(file))
}

fn open_fifo(
    ctx: &ProcessCtx,
    request: &OpenRequest,
    key: (u64, u64),
    metadata: Metadata,
    path: GuestPath,
) -> Result<Opened> {
    let (read, write) = (request.options.read, request.options.write);
    let pipe = ctx.kernel.fifo(key);
    let (readers_seen, writers_seen) = pipe.seen();
    let (_, no_reader) = pipe.write_state();
    let no_writer = pipe.no_writer();
    if write && !read && request.nonblocking && no_reader {
        return Err(Errno::NoDeviceOrAddress);
    }
    let kind = Kind::Pipe {
        reader: read.then(|| PipeReader::new(&pipe)),
        writer: write.then(|| PipeWriter::new(&pipe)),
        fifo: Some(metadata),
    };
    let file = Arc::new(OpenFile::new(kind, read, write).with_path(path).with_flags(false, request.nonblocking));
    let wait = |seen, for_writer| Ok(Opened::Waiting(FifoWait { file: Arc::clone(&file), pipe, seen, for_writer }));
    match (read, write) {
        _ if request.nonblocking => Ok(Opened::Ready(file)),
        (true, false) if no_writer => wait(writers_seen, true),
        (false, true) if no_reader => wait(readers_seen, false),
        _ => Ok(Opened::Ready(file)),
    }
}

/// What `stat` tells of a path; `/proc/self/fd/N` is what descriptor N is.
pub fn metadata_at(ctx: &ProcessCtx, base: &GuestPath, path: &[u8], follow: bool) -> Result<Metadata> {
    let metadata = noted(ctx, base, path, ctx.kernel.vfs.metadata(base, path, follow))?;
    if metadata.device_id < FD_DEVICE {
        return Ok(ctx.kernel.identities.show(metadata));
    }
    let fd = i32::try_from(metadata.device_id - FD_DEVICE).map_err(|_| Errno::NoEntry)?;
    metadata_of(ctx, ctx.file(fd).map_err(|_| Errno::NoEntry)?)
}

/// What `fstat` tells.
pub fn metadata_of(ctx: &ProcessCtx, file: &OpenFile) -> Result<Metadata> {
    inner_metadata(ctx, file).map(|metadata| ctx.kernel.identities.show(metadata))
}

fn inner_metadata(ctx: &ProcessCtx, file: &OpenFile) -> Result<Metadata> {
    match (file.kind(), file.path()) {
        (Kind::File(inner), _) => inner.metadata(),
        (Kind::Pipe { fifo: Some(metadata), .. }, _) => Ok(*metadata),
        (Kind::Directory(_) | Kind::Device(_), Some(path)) => ctx.kernel.vfs.metadata(path, path.as_bytes(), false),
        (kind, _) => {
            let device_id = match kind {
                Kind::Device(device) => device.id(),
                Kind::Tty(_) => TTY_DEVICE,
                _ => 0,
            };
            let inode = match kind {
                Kind::Pipe { reader: Some(reader), .. } => reader.pipe().id(),
                Kind::Pipe { writer: Some(writer), .. } => writer.pipe().id(),
                // Standard streams: the numbers of trees and pipes do not matter here.
                _ => 1,
            };
            Ok(Metadata {
                // No mount has this number.
                device: 0,
                inode,
                file_type: file.file_type(),
                mode: if device_id == 0 { 0o600 } else { 0o666 },
                links: 1,
                device_id,
                size: 0,
                blocks: 0,
                accessed: 0,
                modified: 0,
                changed: 0,
            })
        }
    }
}

/// A directory's entries with `.` and `..`; in `/proc/self/fd` the open descriptors.
pub fn list_directory(ctx: &ProcessCtx, path: &GuestPath) -> Result<Vec<DirEntry>> {
    let Kernel { vfs, identities, .. } = &*ctx.kernel;
    let itself = |name: &[u8], path: &GuestPath| -> Result<DirEntry> {
        let inode = identities.show(vfs.metadata(path, path.as_bytes(), false)?).inode;
        Ok(DirEntry { name: name.to_vec(), inode, file_type: FileType::Directory })
    };
    let mut entries = vec![itself(b".", path)?, itself(b"..", &path.parent().unwrap_or_else(GuestPath::root))?];
    if path.as_bytes() == b"/proc/self/fd" {
        let entry = |fd: i32| {
            let file_type = ctx.file(fd).map_or(FileType::CharDevice, |file| file.file_type());
            DirEntry { name: fd.to_string().into_bytes(), inode: 1 + fd.unsigned_abs() as u64, file_type }
        };
        entries.extend(ctx.current.descriptors.numbers().map(entry));
    } else {
        let device = vfs.metadata(path, path.as_bytes(), false)?.device;
        let shown = |entry: DirEntry| DirEntry { inode: identities.inode(device, entry.inode), ..entry };
        entries.extend(vfs.read_dir(path)?.into_iter().map(shown));
    }
    Ok(entries)
}
