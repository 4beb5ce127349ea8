//! What a path runs: a script's interpreter, a module, an installed program.

use std::sync::Arc;

use super::run::Miss;
use super::{Kernel, Run};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::limits::{INTERPRETERS_MAX, LimitName, PATH_MAX};
use crate::sandbox::program::{Program, is_component};
use crate::sandbox::vfs::{File, FileType, GuestPath, Mount, Node, OpenOptions};

/// Devices from this number on stand for the caller's descriptors: `/proc/self/fd/N` is number `FD_DEVICE + N`.
pub const FD_DEVICE: u64 = 1 << 32;

/// What the file of an installed program begins with; its name and a newline follow. A guest may copy such a file, or
/// write one: it then runs that program.
const PROGRAM_MAGIC: &[u8] = b"\0wskill program\0";
/// How much of a file tells what it is. Linux looks at 256 bytes for `#!`.
const HEAD: usize = 256;

/// The content of the file that stands for an installed program.
pub fn program_file(name: &str) -> Vec<u8> {
    [PROGRAM_MAGIC, name.as_bytes(), b"\n"].concat()
}

/// A program with its arguments.
#[derive(Clone, Debug)]
pub struct Image {
    /// What to instantiate.
    pub program: Arc<Program>,
    /// The installed command's name; empty for another module.
    pub name: Vec<u8>,
    /// What a trace shows: the name or the module's path.
    pub label: String,
    /// Its arguments.
    pub argv: Vec<Vec<u8>>,
}

enum Head {
    Program(Vec<u8>),
    Script { interpreter: Vec<u8>, argument: Option<Vec<u8>> },
    Module,
    Component,
    Text,
    Foreign,
}

fn classify(head: &[u8]) -> Head {
    if let Some(rest) = head.strip_prefix(PROGRAM_MAGIC) {
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        return Head::Program(rest[..end].to_vec());
    }
    if head.starts_with(b"\0asm") {
        return if is_component(head) { Head::Component } else { Head::Module };
    }
    if let Some(rest) = head.strip_prefix(b"#!") {
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let line = rest[..end].trim_ascii();
        let split = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        let (interpreter, argument) = line.split_at(split);
        let argument = argument.trim_ascii();
        let argument = (!argument.is_empty()).then(|| argument.to_vec());
        return Head::Script { interpreter: interpreter.to_vec(), argument };
    }
    let first_line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if first_line.contains(&0) { Head::Foreign } else { Head::Text }
}

/// Why a program could not be started: the error, and what to say on its standard error.
#[derive(Debug)]
pub struct ImageError {
    /// For the caller.
    pub errno: Errno,
    /// For a person, without a newline at its end.
    pub message: Option<String>,
}

impl From<Errno> for ImageError {
    fn from(errno: Errno) -> Self {
        Self { errno, message: None }
    }
}

impl ImageError {
    fn new(errno: Errno, message: String) -> Self {
        Self { errno, message: Some(message) }
    }
}

/// A skill's own scripts need no execute bit, which archives lose; the guest cannot set it on a read-only mount. The
/// system's tree has its bits right.
fn needs_no_execute_bit(mount: &Mount) -> bool {
    mount.read_only && !mount.at.is_root()
}

/// The last part of a path.
pub fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// Looks a name up along a `PATH`; a name with `/` is itself.
fn search(kernel: &Kernel, cwd: &GuestPath, name: &[u8], env: &[Vec<u8>]) -> Result<Vec<u8>> {
    if name.contains(&b'/') {
        return Ok(name.to_vec());
    }
    if name.is_empty() {
        return Err(Errno::NoEntry);
    }
    let path = env.iter().find_map(|entry| entry.strip_prefix(b"PATH=")).unwrap_or(b"/usr/bin:/bin");
    let mut denied = false;
    for folder in path.split(|&byte| byte == b':') {
        let folder: &[u8] = if folder.is_empty() { b"." } else { folder };
        let candidate = [folder, b"/", name].concat();
        let Ok(found) = kernel.vfs.resolve(cwd, &candidate, true) else { continue };
        match found.metadata {
            Some(metadata) if metadata.file_type == FileType::Regular => {
                if metadata.mode & 0o111 != 0 || needs_no_execute_bit(&found.mount) {
                    return Ok(candidate);
                }
                denied = true;
            }
            _ => {}
        }
    }
    Err(if denied { Errno::Access } else { Errno::NoEntry })
}

/// A request to resolve.
#[derive(Debug)]
pub struct Request<'a> {
    /// Path or name.
    pub path: &'a [u8],
    /// Whether a name without `/` is looked up along `PATH`.
    pub search: bool,
    /// The working directory.
    pub cwd: &'a GuestPath,
    /// The arguments.
    pub argv: Vec<Vec<u8>>,
    /// The environment.
    pub env: &'a [Vec<u8>],
    /// The process that asks; 0: the host.
    pub asker: i32,
}

/// Programs that run the command which their first argument names.
const FRONTS: [&[u8]; 2] = [b"coreutils", b"uutils"];

/// The command that an installed program is with these arguments.
fn applet<'a>(name: &'a [u8], argv: &'a [Vec<u8>]) -> &'a [u8] {
    match argv.get(1) {
        Some(command) if FRONTS.contains(&name) => command,
        _ => name,
    }
}

/// What the policy looks at: the names on the way to what runs.
struct Gate<'a> {
    kernel: &'a Kernel,
    run: &'a Run,
    asker: i32,
    asked: Vec<u8>,
}

impl Gate<'_> {
    /// Refuses a name that is denied.
    fn pass(&self, name: &[u8]) -> std::result::Result<(), ImageError> {
        match &self.kernel.policy {
            Some(policy) if policy.is_denied(name) => Err(self.refuse()),
            _ => Ok(()),
        }
    }

    /// Refuses a program (an installed command's name or a module's path) that is denied or not allowed.
    fn enter(&self, program: &[u8]) -> std::result::Result<(), ImageError> {
        match &self.kernel.policy {
            Some(policy) if policy.is_denied(program) || !policy.is_allowed(program) => Err(self.refuse()),
            _ => Ok(()),
        }
    }

    fn refuse(&self) -> ImageError {
        self.kernel.refuse(self.run, self.asker, &self.asked);
        let name = String::from_utf8_lossy(&self.asked);
        ImageError::new(Errno::NotPermitted, format!("{name}: not allowed by the policy of this sandbox"))
    }
}

/// What a request asks for, as a person would name it: a shell that has looked along PATH itself still says in
/// `argv[0]` what was typed.
fn asked(path: &[u8], argv: &[Vec<u8>]) -> Vec<u8> {
    let typed = argv.first().filter(|typed| base_name(typed) == base_name(path));
    typed.map_or(path, Vec::as_slice).to_vec()
}

/// Finds what a request runs. Programs are compiled if need be, which may take seconds.
pub async fn resolve(kernel: &Arc<Kernel>, run: &Run, request: Request<'_>) -> std::result::Result<Image, ImageError> {
    let Request { path, search: along_path, cwd, mut argv, env, asker } = request;
    let gate = Gate { kernel, run, asker, asked: kernel.policy.as_ref().map_or(Vec::new(), |_| asked(path, &argv)) };
    let missing = |name: &[u8]| {
        run.miss(Miss::Command(String::from_utf8_lossy(name).into_owned()));
        ImageError::from(Errno::NoEntry)
    };
    if path.len() > PATH_MAX {
        return Err(Errno::NameTooLong.into());
    }
    let mut path = if along_path {
        search(kernel, cwd, path, env).map_err(|errno| match errno {
            Errno::NoEntry => missing(path),
            errno => errno.into(),
        })?
    } else {
        path.to_vec()
    };
    for depth in 0..=INTERPRETERS_MAX {
        let options = OpenOptions { read: true, ..OpenOptions::default() };
        let opened = match kernel.vfs.open(cwd, &path, &options) {
            Ok(opened) => opened,
            // A script's interpreter that lies elsewhere here (`/usr/local/bin/python3`) is found by its name.
            Err(Errno::NoEntry | Errno::NotDirectory) if depth > 0 => {
                let name = base_name(&path);
                if !kernel.runtime.programs().contains(name) {
                    return Err(missing(name));
                }
                gate.enter(name)?;
                return installed(kernel, run, name, argv).await;
            }
            // A shell that has looked along PATH itself asks for the bare name, so that the miss is noted.
            Err(Errno::NoEntry) if !path.contains(&b'/') => return Err(missing(&path)),
            Err(errno) => return Err(errno.into()),
        };
        let Node::File(file) = opened.node else { return Err(Errno::Access.into()) };
        if opened.metadata.mode & 0o111 == 0 && !needs_no_execute_bit(&kernel.vfs.resolve(cwd, &path, true)?.mount) {
            return Err(Errno::Access.into());
        }
        // What is not there is not refused either.
        gate.pass(&path)?;
        gate.pass(opened.path.as_bytes())?;
        gate.pass(argv.first().map_or(&[], |name| name))?;
        let mut head = [0; HEAD];
        let length = read_full(&*file, &mut head)?;
        match classify(&head[..length]) {
            Head::Program(name) => {
                gate.pass(&name)?;
                gate.enter(applet(&name, &argv))?;
                return installed(kernel, run, &name, argv).await;
            }
            Head::Script { interpreter, argument } => {
                if interpreter.is_empty() {
                    return Err(Errno::NoExec.into());
                }
                let script = std::mem::replace(&mut path, interpreter);
                let rest = argv.drain(..).skip(1);
                let env_name = |argument: &Option<Vec<u8>>| {
                    argument.clone().filter(|name| !name.starts_with(b"-") && !name.iter().any(u8::is_ascii_whitespace))
                };
                // `/usr/bin/env NAME` is so usual that it saves a process here.
                if path.ends_with(b"/env")
                    && let Some(name) = env_name(&argument)
                {
                    gate.pass(b"env")?;
                    gate.pass(&name)?;
                    path = search(kernel, cwd, &name, env).map_err(|_| missing(&name))?;
                    argv = [name, script].into_iter().chain(rest).collect();
                } else {
                    argv = [path.clone()].into_iter().chain(argument).chain([script]).chain(rest).collect();
                }
            }
            Head::Text => {
                let script = std::mem::take(&mut path);
                argv = [b"sh".to_vec(), script].into_iter().chain(argv.into_iter().skip(1)).collect();
                gate.enter(b"sh")?;
                return installed(kernel, run, b"sh", argv).await;
            }
            Head::Module => {
                gate.enter(opened.path.as_bytes())?;
                return module(kernel, run, &*file, opened.path, opened.metadata.size, argv).await;
            }
            Head::Component => {
                let text =
                    "is a WebAssembly component, which does not run inside a sandbox yet; build it for wasm32-wasip1";
                return Err(ImageError::new(Errno::NoExec, format!("{}: {text}", opened.path)));
            }
            Head::Foreign => {
                let text = "cannot execute binary file: the sandbox runs scripts and WebAssembly (WASI preview 1)";
                return Err(ImageError::new(Errno::NoExec, format!("{}: {text}", opened.path)));
            }
        }
    }
    Err(Errno::Loop.into())
}

async fn installed(
    kernel: &Arc<Kernel>,
    run: &Run,
    name: &[u8],
    argv: Vec<Vec<u8>>,
) -> std::result::Result<Image, ImageError> {
    let (program, waited) = kernel
        .executor
        .outside(kernel.runtime.program(name, kernel.flavour))
        .await
        .map_err(|error| ImageError::new(Errno::NoExec, error.to_string()))?;
    run.extend_deadline(waited);
    Ok(Image { program, name: name.to_vec(), label: String::from_utf8_lossy(name).into_owned(), argv })
}

async fn module(
    kernel: &Arc<Kernel>,
    run: &Run,
    file: &dyn File,
    path: GuestPath,
    size: u64,
    argv: Vec<Vec<u8>>,
) -> std::result::Result<Image, ImageError> {
    check_module_size(kernel, &path, size)?;
    let mut bytes = vec![0; usize::try_from(size).map_err(|_| Errno::NoMemory)?];
    let length = read_full(file, &mut bytes)?;
    bytes.truncate(length);
    from_bytes(kernel, run, path.to_string(), bytes, argv).await
}

fn check_module_size(kernel: &Kernel, path: &GuestPath, size: u64) -> std::result::Result<(), ImageError> {
    let limit = kernel.limits.module;
    if size <= limit {
        return Ok(());
    }
    kernel.budget.counters.hit(LimitName::Module);
    Err(ImageError::new(Errno::NoExec, format!("{path}: a module of {size} bytes is over the limit of {limit}")))
}

/// A module from memory.
pub async fn from_bytes(
    kernel: &Arc<Kernel>,
    run: &Run,
    label: String,
    bytes: Vec<u8>,
    argv: Vec<Vec<u8>>,
) -> std::result::Result<Image, ImageError> {
    let (program, waited) = kernel
        .executor
        .outside(kernel.runtime.module(bytes, kernel.flavour))
        .await
        .map_err(|error| ImageError::new(Errno::NoExec, format!("{label}: {error}")))?;
    run.extend_deadline(waited);
    Ok(Image { program, name: Vec::new(), label, argv })
}

fn read_full(file: &dyn File, buffer: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn a_head_tells_what_a_file_is() {
        assert!(matches!(classify(&program_file("ls")), Head::Program(name) if name == b"ls"));
        assert!(matches!(classify(b"\0asm\x01\0\0\0"), Head::Module));
        assert!(matches!(classify(b"\0asm\x0d\0\x01\0"), Head::Component));
        assert!(matches!(classify(b"echo hi\n\0"), Head::Text));
        assert!(matches!(classify(b""), Head::Text));
        assert!(matches!(classify(b"\x7fELF\x02\x01\x01\0\0"), Head::Foreign));
        let Head::Script { interpreter, argument } = classify(b"#! /usr/bin/env  python3 -u \nprint()") else {
            panic!("a script");
        };
        assert_eq!((interpreter.as_slice(), argument.as_deref()), (&b"/usr/bin/env"[..], Some(&b"python3 -u"[..])));
    }
}
