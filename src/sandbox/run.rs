//! Running a command in a sandbox.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::builder::{BuildError, Sandbox, set_env};
#[cfg(feature = "component")]
use super::component;
use super::errno::Errno;
use super::hints::hint;
use super::kernel::{
    Command, Context, Descriptors, End, ImageError, Kernel, OpenFile, Run, Signal, prepare, prepare_module, start,
};
use super::outcome::{Outcome, limit_of};
#[cfg(feature = "component")]
use super::program::is_component;
use super::stdio::{Drained, Failure, Input, Output};

/// How long a run that has ended waits for its writers: they may be slow, but not for ever.
const DRAIN: Duration = Duration::from_secs(5);

/// A command that is about to run.
#[derive(Debug)]
pub struct RunBuilder<'a> {
    sandbox: &'a Sandbox,
    argv: Vec<Vec<u8>>,
    module: Option<Vec<u8>>,
    env: Vec<(String, String)>,
    stdin: Input,
    stdout: Output,
    stderr: Output,
}

impl<'a> RunBuilder<'a> {
    pub(super) fn new(sandbox: &'a Sandbox, argv: Vec<Vec<u8>>) -> Self {
        Self {
            sandbox,
            argv,
            module: None,
            env: Vec::new(),
            stdin: Input::Empty,
            stdout: Output::Capture,
            stderr: Output::Capture,
        }
    }

    /// Runs this WebAssembly module (WASI preview 1) in place of looking up the command's name.
    #[must_use]
    pub fn module(mut self, module: Vec<u8>) -> Self {
        self.module = Some(module);
        self
    }

    /// Sets a variable for this command.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Standard input. Default: empty.
    #[must_use]
    pub fn stdin(mut self, input: Input) -> Self {
        self.stdin = input;
        self
    }

    /// Standard output. Default: captured.
    #[must_use]
    pub fn stdout(mut self, output: Output) -> Self {
        self.stdout = output;
        self
    }

    /// Standard error. Default: captured.
    #[must_use]
    pub fn stderr(mut self, output: Output) -> Self {
        self.stderr = output;
        self
    }

    /// Runs it to its end. Dropping the future ends the run.
    ///
    /// # Errors
    /// When the host fails; a command that fails or cannot be started is an [`Outcome`].
    pub async fn run(self) -> Result<Outcome, BuildError> {
        let Self { sandbox, argv, module, env: extra, stdin, stdout, stderr } = self;
        let kernel = &sandbox.kernel;
        let fuel = kernel.fuel();
        let (run, ended) = Run::new(kernel.limits.wall_time, kernel.limits.output, fuel);
        let run = Arc::new(run);
        let mut guard = Guard { kernel, run: &run, tasks: Vec::new() };

        let stdin =
            if kernel.clock.is_deterministic() { stdin.read_whole().await.map_err(BuildError::Stream)? } else { stdin };
        let failure = Failure::default();
        let stdin = stdin.open(kernel, &failure);
        let (stdout, stdout_drained) = stdout.open(kernel, &run, false, &failure);
        let (stderr, stderr_drained) = stderr.open(kernel, &run, true, &failure);
        let streams = [stdin, stdout, Arc::clone(&stderr)];
        let mut env = sandbox.env.clone();
        for (name, value) in extra {
            set_env(&mut env, name, value);
        }
        let name = argv.first().cloned().unwrap_or_default();
        let started = match module {
            #[cfg(feature = "component")]
            Some(bytes) if is_component(&bytes) => {
                let argv = argv.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
                let request = component::Request { bytes, argv, env, mounts: &sandbox.mounts, streams };
                component::start(kernel, &run, request).await.map(|task| guard.tasks.push(task))
            }
            module => {
                let context = context(sandbox, streams)?;
                let command = Command {
                    path: name.clone(),
                    search: true,
                    argv,
                    env: env.into_iter().map(|(name, value)| format!("{name}={value}").into_bytes()).collect(),
                    ..Command::default()
                };
                let prepared = match module {
                    Some(module) => prepare_module(kernel, &run, &context, command, module).await,
                    None => prepare(kernel, &run, &context, command).await,
                };
                // Only the processes hold the streams from here on, so that their end is seen.
                drop(context);
                prepared.and_then(|prepared| Ok(start(kernel, &run, None, prepared).map(drop)?))
            }
        };
        let end = match started {
            Ok(()) => {
                guard.watch_deadline();
                // The sender lives in the run, which this function holds.
                ended.await.unwrap_or(End::Signaled(Signal::KILL, None))
            }
            Err(error) => {
                let code = not_started(kernel, &stderr, &name, &error).await;
                run.finish(End::Exited(code), &kernel.budget.counters);
                End::Exited(code)
            }
        };
        drop(stderr);
        let duration = run.elapsed();
        drain(kernel, [stdout_drained, stderr_drained]).await;
        if let Some(error) = failure.get() {
            return Err(BuildError::Stream(std::io::Error::new(error.kind(), error.to_string())));
        }
        Ok(outcome(kernel, &run, &end, duration))
    }
}

fn context(sandbox: &Sandbox, streams: [Arc<OpenFile>; 3]) -> Result<Context, BuildError> {
    let mut descriptors = Descriptors::new(4, sandbox.kernel.limits.open_files);
    for (fd, file) in (0..).zip(streams) {
        let limit = sandbox.kernel.limits.open_files;
        descriptors.set(fd, file, false).map_err(|_| BuildError::OpenFiles(limit))?;
    }
    Ok(Context { descriptors, cwd: sandbox.cwd.clone(), umask: 0o022 })
}

/// Says why the first process could not be started; the answer is its status, as a shell's.
async fn not_started(kernel: &Kernel, stderr: &OpenFile, name: &[u8], error: &ImageError) -> u8 {
    let name = String::from_utf8_lossy(name);
    let (code, text) = match (&error.message, error.errno) {
        (Some(message), _) => (126, message.clone()),
        (None, Errno::NoEntry) if !name.contains('/') => (127, format!("{name}: command not found")),
        (None, Errno::NoEntry | Errno::NotDirectory) => (127, format!("{name}: no such file or directory")),
        (None, Errno::Access) => (126, format!("{name}: permission denied (or a directory)")),
        (None, Errno::NoExec) => (126, format!("{name}: cannot execute: neither a script nor a WebAssembly module")),
        (None, Errno::TooBig) => (126, format!("{name}: the arguments are too long")),
        (None, Errno::NoMemory) => (126, format!("{name}: not enough memory for the program; raise the limit")),
        (None, Errno::Again) => (126, format!("{name}: too many processes; raise the limit")),
        (None, errno) => (126, format!("{name}: cannot be started ({errno:?})")),
    };
    let line = format!("wskill: {text}\n");
    // Nobody to hear it is no reason to fail.
    let _ = stderr.say(kernel, line.as_bytes());
    code
}

/// Ends the run when the caller's future is dropped, and in any case what watches over it.
struct Guard<'a> {
    kernel: &'a Arc<Kernel>,
    run: &'a Arc<Run>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Guard<'_> {
    fn watch_deadline(&mut self) {
        let (kernel, run) = (Arc::clone(self.kernel), Arc::clone(self.run));
        self.tasks.push(self.kernel.runtime.spawn(async move {
            run.deadline_passed().await;
            kernel.end_run(&run, End::Limit(super::LimitName::WallTime));
        }));
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
        self.kernel.end_run(self.run, End::Signaled(Signal::KILL, None));
    }
}

/// Waits until the writers have got everything.
async fn drain(kernel: &Kernel, streams: [Option<Drained>; 2]) {
    for stream in streams.into_iter().flatten() {
        let wait = kernel.runtime.handle().spawn(async move {
            // A writer that died has got all it will get.
            let _ = tokio::time::timeout(DRAIN, stream).await;
        });
        let _ = wait.await;
    }
}

fn outcome(kernel: &Kernel, run: &Run, end: &End, duration: Duration) -> Outcome {
    let take = |stream: &std::sync::Mutex<Vec<u8>>| {
        std::mem::take(&mut *stream.lock().unwrap_or_else(PoisonError::into_inner))
    };
    Outcome {
        exit_code: end.shell_status(),
        limit: limit_of(end),
        limits_hit: kernel.budget.counters.snapshot(),
        stdout: take(&run.stdout),
        stderr: take(&run.stderr),
        duration,
        fuel: run.fuel.as_ref().map(super::kernel::FuelTank::used),
        peak_memory: kernel.budget.memory.peak(),
        processes: run.processes.load(std::sync::atomic::Ordering::Relaxed),
        hints: run.misses().iter().map(hint).collect(),
    }
}
