//! Starting processes: what a parent hands over, and the checks before a child exists.

use std::sync::Arc;

use super::context::{Context, ProcessCtx};
use super::descriptors::Descriptors;
use super::image::{self, Image, ImageError};
use super::process::Process;
use super::run::Run;
use super::trace::TraceEvent;
use super::{Kernel, task};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::vfs::{FileType, GuestPath};

/// A descriptor of a child: number there, number in the parent (-1: closed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FdMap {
    /// In the child.
    pub child: i32,
    /// In the parent.
    pub parent: i32,
}

/// What a guest asks to run.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// Path or name.
    pub path: Vec<u8>,
    /// Whether a name is looked up along `PATH`.
    pub search: bool,
    /// Arguments.
    pub argv: Vec<Vec<u8>>,
    /// The whole environment.
    pub env: Vec<Vec<u8>>,
    /// Working directory; empty for the parent's.
    pub cwd: Vec<u8>,
    /// Descriptors, applied like dup2 from the parent's table, all at once.
    pub fds: Vec<FdMap>,
    /// Whether only `fds` are passed on.
    pub close_other: bool,
    /// `Some(0)`: a new process group.
    pub group: Option<i32>,
    /// `None`: the parent's.
    pub umask: Option<u32>,
    /// Signals that start ignored, bit n-1.
    pub ignored: u64,
    /// The process that asks; 0: the host.
    pub asker: i32,
}

impl Command {
    /// Checks the size of arguments and environment as Linux counts it: with a pointer for each.
    fn check_size(&self, limit: u64) -> Result<()> {
        let strings = self.argv.iter().chain(&self.env);
        let total: u64 = strings.map(|string| string.len() as u64 + 9).sum();
        if total > limit { Err(Errno::TooBig) } else { Ok(()) }
    }

    fn descriptors(&self, parent: &Descriptors) -> Result<Descriptors> {
        let mut child = if self.close_other { parent.empty_like() } else { parent.inherited() };
        for map in &self.fds {
            if map.parent < 0 {
                // What is not open need not be closed.
                let _ = child.remove(map.child);
            } else {
                child.set(map.child, Arc::clone(parent.file(map.parent)?), false)?;
            }
        }
        Ok(child)
    }

    fn cwd(&self, kernel: &Kernel, parent: &GuestPath) -> Result<GuestPath> {
        if self.cwd.is_empty() {
            return Ok(parent.clone());
        }
        let found = kernel.vfs.resolve(parent, &self.cwd, true)?;
        match found.metadata {
            None => Err(Errno::NoEntry),
            Some(metadata) if metadata.file_type == FileType::Directory => Ok(found.path),
            Some(_) => Err(Errno::NotDirectory),
        }
    }

    fn context(&self, kernel: &Kernel, parent: &Context) -> Result<Context> {
        Ok(Context {
            descriptors: self.descriptors(&parent.descriptors)?,
            cwd: self.cwd(kernel, &parent.cwd)?,
            umask: self.umask.unwrap_or(parent.umask) & 0o777,
        })
    }
}

/// A child that may be started.
#[derive(Debug)]
pub struct Prepared {
    context: Context,
    image: Image,
    env: Vec<Vec<u8>>,
    group: Option<i32>,
    ignored: u64,
}

/// Resolves and checks all that can fail before the child exists.
pub async fn prepare(
    kernel: &Arc<Kernel>,
    run: &Run,
    parent: &Context,
    command: Command,
) -> std::result::Result<Prepared, ImageError> {
    command.check_size(kernel.limits.args)?;
    let context = command.context(kernel, parent)?;
    let Command { path, search, argv, env, group, ignored, asker, .. } = command;
    let request = image::Request { path: &path, search, cwd: &context.cwd, argv, env: &env, asker };
    let image = image::resolve(kernel, run, request).await?;
    Ok(Prepared { context, image, env, group, ignored })
}

/// The same for a module that the host brings, which need not be in the tree.
pub async fn prepare_module(
    kernel: &Arc<Kernel>,
    run: &Run,
    parent: &Context,
    command: Command,
    module: Vec<u8>,
) -> std::result::Result<Prepared, ImageError> {
    command.check_size(kernel.limits.args)?;
    let context = command.context(kernel, parent)?;
    let Command { path, argv, env, group, ignored, .. } = command;
    let label = String::from_utf8_lossy(&path).into_owned();
    let image = image::from_bytes(kernel, run, label, module, argv).await?;
    Ok(Prepared { context, image, env, group, ignored })
}

/// Makes the child and starts its task.
pub fn start(kernel: &Arc<Kernel>, run: &Arc<Run>, parent: Option<&Process>, prepared: Prepared) -> Result<i32> {
    if run.is_over() {
        return Err(Errno::Again);
    }
    let Prepared { context, image, env, group, ignored } = prepared;
    if group.is_some_and(|group| group != 0 && !kernel.processes.has_group(group)) {
        return Err(Errno::NotPermitted);
    }
    let place = image.program.place()?;
    let process = kernel.processes.create(Arc::clone(run), parent, group, ignored).map_err(|name| {
        kernel.budget.counters.hit(name);
        Errno::Again
    })?;
    if run.is_over() {
        // It ended after the first look, and may have doomed its processes before this one was among them.
        process.doom(super::End::Signaled(super::Signal::KILL, None));
    }
    let mut ctx = ProcessCtx::new(Arc::clone(kernel), Arc::clone(&process), context, image.argv, env);
    if let Err(errno) = ctx.limiter.prepay(image.program.initial_memory()) {
        let end = super::End::Failed("not enough memory".into());
        kernel.processes.finish(&process, &end);
        if let Some(parent) = parent {
            // It never was: not even a zombie is left.
            let _ = kernel.processes.reap(parent, super::Selector(process.pid));
        }
        return Err(errno);
    }
    ctx.program = image.name;
    run.processes.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let pid = process.pid;
    if parent.is_none() {
        run.set_first(pid);
    }
    trace_start(&ctx, &image.label);
    task::start(ctx, image.program, place);
    Ok(pid)
}

/// Tells the trace that a process has a new image.
pub fn trace_start(ctx: &ProcessCtx, label: &str) {
    if let Some(trace) = &ctx.kernel.trace {
        trace.tell(TraceEvent::Start {
            at_ms: ctx.kernel.clock.elapsed_ms(),
            pid: ctx.process.pid,
            parent: ctx.process.parent(),
            program: label.to_owned(),
            argv: ctx.argv.iter().map(|arg| String::from_utf8_lossy(arg).into_owned()).collect(),
            cwd: ctx.current.cwd.to_string(),
        });
    }
}

impl Prepared {
    /// The process group that was asked for; `Some(0)`: a new one.
    pub fn group(&self) -> Option<i32> {
        self.group
    }

    /// Turns a running process into this image, for exec. Descriptors that close on exec are gone in `context`.
    pub fn replace(self, old: &mut ProcessCtx) -> (ProcessCtx, Arc<super::super::program::Program>) {
        let Self { context, image, env, ignored, .. } = self;
        // What is pending meets the new dispositions.
        for signal in old.process.signals.reset_for_exec(ignored) {
            old.process.send(signal);
        }
        let mut ctx = ProcessCtx::new(Arc::clone(&old.kernel), Arc::clone(&old.process), context, image.argv, env);
        ctx.program = image.name;
        // The timer goes on, as POSIX says.
        ctx.timer = old.timer.take();
        trace_start(&ctx, &image.label);
        (ctx, image.program)
    }
}
