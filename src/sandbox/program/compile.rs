//! Compiling modules: the installed ones in this process, a skill's own in a child process with limits, because the
//! compiler cannot be interrupted and takes what a hostile module makes it take.

use wasmtime::{Engine, Module};

use super::ProgramError;
use super::cache::Cache;
#[cfg(feature = "compile")]
use super::load;
use crate::sandbox::engine::Flavour;

/// Where modules are compiled that did not come with wskill.
#[derive(Clone, Debug, Default)]
pub enum Compiler {
    /// In this process: only the limit `module` bounds what it takes.
    #[default]
    Here,
    /// In a process of this program, which must do what `wskill compile-module` does.
    #[cfg(feature = "compile")]
    Child(std::path::PathBuf),
}

/// Keeps compiled code and loads it.
#[cfg(feature = "compile")]
fn keep(engine: &Engine, cache: &Cache, key: &str, code: &[u8]) -> Result<Module, ProgramError> {
    if cache.store(key, code)
        && let Some(module) = cache.load(engine, key)
    {
        return Ok(module);
    }
    load::from_bytes(engine, code).map_err(|error| ProgramError::Compile(error.to_string()))
}

impl Compiler {
    /// Compiles a module and keeps the result. Takes seconds for large ones.
    #[cfg(feature = "compile")]
    pub fn module(
        &self,
        engine: &Engine,
        cache: &Cache,
        key: &str,
        bytes: &[u8],
        flavour: Flavour,
    ) -> Result<Module, ProgramError> {
        let code = match self {
            Self::Here => {
                engine.precompile_module(bytes).map_err(|error| explain(format!("{:#}", error.root_cause())))?
            }
            Self::Child(program) => child::compile(program, flavour, bytes)?,
        };
        keep(engine, cache, key, &code)
    }

    /// Without a compiler nothing can be compiled.
    #[cfg(not(feature = "compile"))]
    pub fn module(&self, _: &Engine, _: &Cache, _: &str, _: &[u8], _: Flavour) -> Result<Module, ProgramError> {
        Err(ProgramError::NoCompiler)
    }
}

#[cfg(feature = "compile")]
fn explain(text: String) -> ProgramError {
    // Some of the engine's messages have several lines.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.contains("shared memor") || text.contains("threads") {
        return ProgramError::Threads;
    }
    ProgramError::Compile(text)
}

#[cfg(feature = "compile")]
pub mod child {
    //! The child process that compiles.

    use std::io::{Read, Write};
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::sync::Mutex;
    use std::time::{Duration, Instant};

    use super::explain;
    use crate::sandbox::engine::{Allocation, Flavour, engine};
    use crate::sandbox::program::ProgramError;

    /// How long it may take, as a time on the clock.
    const TIME: Duration = Duration::from_secs(60);
    /// How much memory it may take: a module of 64 MiB takes about 2 GiB.
    #[cfg(unix)]
    const MEMORY: u64 = 6 << 30;
    /// How often it is asked whether it is done.
    const POLL: Duration = Duration::from_millis(2);

    /// One at a time: each takes all processors.
    static TURN: Mutex<()> = Mutex::new(());

    /// Lets a child compile a module.
    pub fn compile(program: &Path, flavour: Flavour, module: &[u8]) -> Result<Vec<u8>, ProgramError> {
        let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let failed = |error: std::io::Error| ProgramError::Compile(format!("its process: {error}"));
        let mut child = Command::new(program)
            .args(["compile-module", flavour.name()])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let answer = std::thread::scope(|scope| {
            scope.spawn(move || {
                // It may end before it has read all: then its answer says why.
                let _ = stdin.map(|mut stdin| stdin.write_all(module));
            });
            let output = scope.spawn(move || read_all(stdout));
            let errors = scope.spawn(move || read_all(stderr));
            let status = wait(&mut child);
            let joined = |thread: std::thread::ScopedJoinHandle<'_, Vec<u8>>| thread.join().unwrap_or_default();
            status.map(|status| (status, joined(output), joined(errors)))
        });
        match answer.map_err(failed)? {
            (None, ..) => Err(ProgramError::Compile(format!("it took longer than {} s", TIME.as_secs()))),
            (Some(status), code, _) if status.success() => Ok(code),
            (Some(status), _, errors) if errors.is_empty() => Err(ProgramError::Compile(status.to_string())),
            (Some(_), _, errors) => Err(explain(String::from_utf8_lossy(&errors).trim_end().to_owned())),
        }
    }

    fn read_all(stream: Option<impl Read>) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What a killed child leaves is not used.
            let _ = stream.read_to_end(&mut bytes);
        }
        bytes
    }

    /// `None` when it was killed for its time.
    fn wait(child: &mut std::process::Child) -> std::io::Result<Option<std::process::ExitStatus>> {
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if began.elapsed() > TIME {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            std::thread::sleep(POLL);
        }
    }

    /// What the child does: limits itself, reads a module from its standard input and writes machine code to its
    /// standard output.
    ///
    /// # Errors
    /// What is wrong with the module, in words.
    pub fn serve(flavour: Flavour) -> Result<(), String> {
        limit_self();
        let mut module = Vec::new();
        std::io::stdin().lock().read_to_end(&mut module).map_err(|error| error.to_string())?;
        let engine = engine(flavour, Allocation::OnDemand).map_err(|error| error.to_string())?;
        let code = engine.precompile_module(&module).map_err(|error| format!("{:#}", error.root_cause()))?;
        std::io::stdout().lock().write_all(&code).map_err(|error| error.to_string())
    }

    #[cfg(unix)]
    fn limit_self() {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let limit = |most| Rlimit { current: Some(most), maximum: Some(most) };
        // A host that has set less has set enough.
        let _ = setrlimit(Resource::As, limit(MEMORY));
        let _ = setrlimit(Resource::Cpu, limit(TIME.as_secs() * 4));
    }

    #[cfg(not(unix))]
    fn limit_self() {}
}
