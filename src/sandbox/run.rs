//! Running a command in a sandbox.

use std::sync::Arc;

use super::build_error::BuildError;
use super::builder::{Sandbox, set_env};
#[cfg(feature = "component")]
use super::component;
use super::errno::Errno;
use super::kernel::{
    Command, Context, Descriptors, End, INIT, ImageError, Kernel, Kind, OpenFile, Run, Tty, prepare, prepare_module,
    start,
};
use super::outcome::Outcome;
#[cfg(feature = "component")]
use super::program::is_component;
use super::running::{Running, Stdin, Streams};
use super::stdio::{Failure, Input, Output, Taken};

/// How much is typed at a time.
const CHUNK: usize = 4096;

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
    merged: bool,
    tty: bool,
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
            merged: false,
            tty: false,
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

    /// Sends standard error where standard output goes, as `2>&1` does: one stream, in the order of writing.
    #[must_use]
    pub fn merged(mut self) -> Self {
        self.merged = true;
        self
    }

    /// Makes the three standard streams a terminal of 24 rows and 80 columns, which is `/dev/tty` too; output is
    /// [`merged`](Self::merged).
    ///
    /// It has one mode. Input is typed: a line can be read when it is finished, what is typed is echoed, backspace
    /// takes the last character back, `^C` (3) sends SIGINT to all processes of the run and throws away what was not
    /// read, and `^D` (4) at the begin of a line is the end of the file, once. A newline is shown as carriage return
    /// and newline. There is no job control, and a shell on a terminal reads commands without a prompt.
    ///
    /// ```no_run
    /// # async fn example(sandbox: &wskill::Sandbox) -> Result<(), Box<dyn std::error::Error>> {
    /// use wskill::{Input, Output};
    /// let python = sandbox.command(["python3"]).tty().stdin(Input::Channel).stdout(Output::Channel).start().await?;
    /// python.write_stdin(b"6 * 7\nexit()\n").await?;
    /// while let Some(chunk) = python.read().await {
    ///     print!("{}", String::from_utf8_lossy(&chunk.bytes));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn tty(mut self) -> Self {
        self.tty = true;
        self
    }

    /// Runs it to its end. Dropping the future ends the run.
    ///
    /// # Errors
    /// When the host fails; a command that fails or cannot be started is an [`Outcome`].
    pub async fn run(mut self) -> Result<Outcome, BuildError> {
        // Nobody could write or read.
        if matches!(self.stdin, Input::Channel) {
            self.stdin = Input::Empty;
        }
        for output in [&mut self.stdout, &mut self.stderr] {
            if matches!(output, Output::Channel) {
                *output = Output::Discard;
            }
        }
        self.start().await?.finish().await
    }

    /// Starts it and answers what the caller can do with it: write to its standard input, read its output, send signals
    /// and wait for its end. The answer does not borrow the sandbox; dropping either ends the run.
    ///
    /// # Errors
    /// When the host fails, or a deterministic sandbox is to read [`Input::Channel`]. A command that cannot be started
    /// is an [`Outcome`], which [`Running::wait`] gives.
    pub async fn start(self) -> Result<Running, BuildError> {
        let Self { sandbox, argv, module, env: extra, stdin, stdout, stderr, merged, tty } = self;
        let kernel = &sandbox.kernel;
        let run = Arc::new(Run::new(kernel.limits.wall_time, kernel.limits.output, kernel.fuel()));
        let deterministic = kernel.clock.is_deterministic();
        if deterministic && matches!(stdin, Input::Channel) {
            return Err(BuildError::Interactive);
        }
        let stdin = if deterministic { stdin.read_whole().await.map_err(BuildError::Stream)? } else { stdin };
        let failure = Failure::default();
        let (files, handles) = open(kernel, &run, (stdin, stdout, stderr), merged, tty, &failure);
        let mut running = Running::new(kernel, &run, handles, failure);

        let mut env = sandbox.env.clone();
        for (name, value) in extra {
            set_env(&mut env, name, value);
        }
        let name = argv.first().cloned().unwrap_or_default();
        let stderr = Arc::clone(&files[2]);
        let started = match module {
            #[cfg(feature = "component")]
            Some(bytes) if is_component(&bytes) => {
                let argv = argv.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
                let request = component::Request { bytes, argv, env, mounts: &sandbox.mounts, streams: files };
                component::start(kernel, &run, request).await.map(Some)
            }
            module => {
                let context = context(sandbox, files)?;
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
                prepared.and_then(|prepared| Ok(start(kernel, &run, None, prepared).map(|_| None)?))
            }
        };
        match started {
            Ok(component) => running.watch(component),
            Err(error) => {
                let code = not_started(kernel, &stderr, &name, &error).await;
                run.finish(End::Exited(code), &kernel.budget.counters);
            }
        }
        Ok(running)
    }
}

/// Opens the standard streams: what the processes get, and what the caller has of them.
fn open(
    kernel: &Arc<Kernel>,
    run: &Arc<Run>,
    (stdin, stdout, stderr): (Input, Output, Output),
    merged: bool,
    tty: bool,
    failure: &Failure,
) -> ([Arc<OpenFile>; 3], Streams) {
    let typed = tty && matches!(stdin, Input::Channel);
    let (input, writer) = if typed { Input::Empty } else { stdin }.open(kernel, failure);
    let (output, stdout) = stdout.open(kernel, run, false, failure);
    let mut stdin = writer.map_or(Stdin::None, |writer| Stdin::Pipe(Arc::new(writer)));
    if tty {
        let terminal = Tty::new(output);
        run.set_tty(&terminal);
        if typed {
            stdin = Stdin::Tty;
        } else {
            type_in(kernel, run, input, &terminal);
        }
        let file = Arc::new(terminal.description());
        let files = [Arc::clone(&file), Arc::clone(&file), file];
        return (files, Streams { stdin, stdout, stderr: Taken::default() });
    }
    let (error, stderr) =
        if merged { (Arc::clone(&output), Taken::default()) } else { stderr.open(kernel, run, true, failure) };
    ([input, output, error], Streams { stdin, stdout, stderr })
}

/// Types what comes from an input that is not the caller, and hangs up at its end.
fn type_in(kernel: &Arc<Kernel>, run: &Arc<Run>, input: Arc<OpenFile>, terminal: &Arc<Tty>) {
    if !matches!(input.kind(), Kind::Pipe { .. }) {
        return terminal.hang_up();
    }
    let (weak, run) = (Arc::downgrade(kernel), Arc::downgrade(run));
    // It ends with the input or the run.
    drop(kernel.executor.spawn(INIT, async move {
        let Kind::Pipe { reader: Some(reader), .. } = input.kind() else { return };
        let mut buffer = vec![0; CHUNK];
        loop {
            let count = reader.pipe().read(&mut buffer).await.unwrap_or(0);
            let (Some(kernel), Some(run)) = (weak.upgrade(), run.upgrade()) else { return };
            let Some(terminal) = run.tty() else { return };
            if count == 0 {
                return terminal.hang_up();
            }
            terminal.type_all(&kernel, &run, &buffer[..count]).await;
        }
    }));
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
