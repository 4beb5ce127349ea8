//! The options that `run`, `exec` and `wasm` share.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;

use super::Error;
use crate::{Input, LimitName, Limits, Mount, Progress, ProgressEvent, Runtime, SandboxBuilder, Trace};

/// The longest path in the sandbox, bytes.
const PATH_MAX: usize = 4096;

/// Limits and what goes in and out.
#[derive(Debug, Args)]
pub struct CommonArgs {
    /// Make a folder or file of the host visible, read-only unless `:rw`
    #[arg(long = "mount", value_name = "HOST:GUEST[:ro|:rw]")]
    pub mounts: Vec<String>,

    /// Set an environment variable
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub env: Vec<String>,

    /// Standard input from a file, or `-` for wskill's own
    #[arg(long, value_name = "FILE|-")]
    pub stdin: Option<PathBuf>,

    /// Wall time, seconds [default: 300]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub timeout: Option<String>,

    /// Count instructions and stop after so many
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub fuel: Option<String>,

    /// Memory of all processes together [default: 1G]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub memory: Option<String>,

    /// What the guest may write to disk [default: 1G]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub disk: Option<String>,

    /// Processes at once [default: 128]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub processes: Option<String>,

    /// Descriptors of a process [default: 256]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub open_files: Option<String>,

    /// Captured output, with --json [default: 64M]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub output_bytes: Option<String>,

    /// Any limit by its name, as `--limit inodes=5000`
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    pub limits: Vec<String>,

    /// The same inputs give the same bytes: time is made up, randomness comes from SEED [default: 0]
    #[arg(long, value_name = "SEED", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    pub deterministic: Option<u64>,

    /// Print one JSON object in place of the streams
    #[arg(long)]
    pub json: bool,

    /// Write what happens, event by event, as lines of JSON
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

impl CommonArgs {
    /// The limits.
    pub fn limits(&self) -> Result<Limits, Error> {
        let mut limits = Limits::default();
        let own = [
            (LimitName::WallTime, &self.timeout),
            (LimitName::Fuel, &self.fuel),
            (LimitName::Memory, &self.memory),
            (LimitName::Disk, &self.disk),
            (LimitName::Processes, &self.processes),
            (LimitName::OpenFiles, &self.open_files),
            (LimitName::Output, &self.output_bytes),
        ];
        for (name, value) in own {
            if let Some(value) = value {
                limits.set(name, value)?;
            }
        }
        for text in &self.limits {
            let (name, value) = pair(text, "--limit", "NAME=VALUE")?;
            limits.set(name.parse()?, value)?;
        }
        // One process cannot have more than all.
        limits.process_memory = limits.process_memory.min(limits.memory);
        Ok(limits)
    }

    /// Checks all options and opens what they name. Nothing is made but the trace's file. Standard input is wskill's
    /// own by default when `inherit`.
    pub fn prepare(&self, inherit: bool) -> Result<Prepared, Error> {
        let limits = self.limits()?;
        let mounts = self.mounts.iter().map(|text| parse_mount(text)).collect::<Result<_, _>>()?;
        let own = |text: &String| {
            let (name, value) = pair(text, "--env", "NAME=VALUE")?;
            Ok::<_, Error>((name.to_owned(), value.to_owned()))
        };
        let env = self.env.iter().map(own).collect::<Result<_, _>>()?;
        let input = self.input(inherit)?;
        let mut builder = crate::Sandbox::builder().runtime(runtime()?).limits(limits);
        if let Some(seed) = self.deterministic {
            builder = builder.deterministic(seed);
        }
        if let Some(path) = &self.trace {
            builder = builder.trace(trace(path)?);
        }
        Ok(Prepared { builder, mounts, env, input })
    }

    fn input(&self, inherit: bool) -> Result<Input, Error> {
        match &self.stdin {
            Some(path) if path.as_os_str() != "-" => {
                let shown = path.display();
                let file = File::open(path).map_err(|error| format!("--stdin {shown}: {error}"))?;
                if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
                    return Err(format!("--stdin {shown}: is a folder").into());
                }
                Ok(Input::reader(file))
            }
            None if !inherit => Ok(Input::Empty),
            _ => Ok(Input::reader(std::io::stdin())),
        }
    }
}

/// What the options say, checked.
#[derive(Debug)]
pub struct Prepared {
    /// A sandbox with the limits and the trace.
    pub builder: SandboxBuilder,
    /// The user's mounts.
    pub mounts: Vec<Mount>,
    /// The user's variables.
    pub env: Vec<(String, String)>,
    /// Standard input.
    pub input: Input,
}

/// The runtime of the command line; it shows on a terminal that programs are compiled.
pub fn runtime() -> Result<Arc<Runtime>, Error> {
    let mut builder = Runtime::builder().compile_with(std::env::current_exe()?);
    if std::io::stderr().is_terminal() {
        builder = builder.progress(progress_bar());
    }
    let runtime = builder.build()?;
    // Never given back: the end of the process does that sooner.
    std::mem::forget(Arc::clone(&runtime));
    Ok(runtime)
}

fn progress_bar() -> Progress {
    use indicatif::{ProgressBar, ProgressStyle};
    let bar = Mutex::new(None::<ProgressBar>);
    Progress::new(move |event| {
        let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            ProgressEvent::Begin(name, bytes) => {
                let spinner = ProgressBar::new_spinner();
                // A template of our own is valid.
                if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
                    spinner.set_style(style);
                }
                let mib = bytes as f64 / f64::from(1 << 20);
                spinner.set_message(format!("compiling {name} ({mib:.1} MiB), once for this machine"));
                spinner.enable_steady_tick(std::time::Duration::from_millis(100));
                *bar = Some(spinner);
            }
            ProgressEvent::End(_) => {
                if let Some(spinner) = bar.take() {
                    spinner.finish_and_clear();
                }
            }
        }
    })
}

fn pair<'a>(text: &'a str, option: &str, form: &str) -> Result<(&'a str, &'a str), Error> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name, value)),
        _ => Err(format!("{option} {text}: must be {form}").into()),
    }
}

/// Reads `HOST:GUEST[:ro|:rw]`. A host path with a colon is fine: the guest's begins at the last `:/`.
pub fn parse_mount(text: &str) -> Result<Mount, Error> {
    let wrong = || format!("--mount {text}: must be HOST:GUEST, HOST:GUEST:ro or HOST:GUEST:rw, GUEST absolute");
    let (paths, writable) = match (text.strip_suffix(":rw"), text.strip_suffix(":ro")) {
        (Some(paths), _) => (paths, true),
        (_, Some(paths)) => (paths, false),
        _ => (text, false),
    };
    let split = paths.rfind(":/").filter(|&at| at > 0).ok_or_else(wrong)?;
    let (host, guest) = (&paths[..split], &paths[split + 1..]);
    // Most likely a right that is none, as in `:wr`.
    if guest.contains(':') {
        return Err(wrong().into());
    }
    if guest.len() > PATH_MAX {
        return Err(format!("--mount {host}: the path in the sandbox is longer than {PATH_MAX} bytes").into());
    }
    if !Path::new(host).exists() {
        return Err(format!("--mount {text}: {host} does not exist").into());
    }
    let mount = Mount::new(host, guest);
    Ok(if writable { mount.writable() } else { mount })
}

fn trace(path: &Path) -> Result<Trace, Error> {
    let file = File::create(path).map_err(|error| format!("--trace {}: {error}", path.display()))?;
    let file = Mutex::new(std::io::LineWriter::new(file));
    Ok(Trace::new(move |event| {
        if let Ok(line) = serde_json::to_string(&event) {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            // A full disk must not end the run that is being watched.
            let _ = writeln!(file, "{line}");
        }
    }))
}

/// The argv of a command: one word is a line for bash, several are the command and its arguments.
pub fn argv(words: &[OsString]) -> Vec<Vec<u8>> {
    match words {
        // A line that begins so would be taken for options.
        [line] if line.as_encoded_bytes().first().is_some_and(|first| b"-+".contains(first)) => {
            vec![b"bash".to_vec(), b"-c".to_vec(), b"--".to_vec(), bytes(line)]
        }
        [line] => vec![b"bash".to_vec(), b"-c".to_vec(), bytes(line)],
        words => words.iter().map(|word| bytes(word)).collect(),
    }
}

/// The bytes of a word; on systems where words are not bytes, as UTF-8.
pub fn bytes(word: &OsStr) -> Vec<u8> {
    #[cfg(unix)]
    {
        std::os::unix::ffi::OsStrExt::as_bytes(word).to_vec()
    }
    #[cfg(not(unix))]
    {
        word.to_string_lossy().into_owned().into_bytes()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_has_two_paths_and_a_right() {
        for text in ["/tmp:/data", "/tmp:/data:ro", "/tmp:/data:rw"] {
            assert!(parse_mount(text).is_ok(), "{text}");
        }
        for text in ["/tmp", "/tmp:data", ":/data", "/does/not/exist:/data", "/tmp:/data:wr", ""] {
            assert!(parse_mount(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_word_is_a_line_and_several_are_argv() {
        let words = |list: &[&str]| list.iter().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(argv(&words(&["echo hi"])), [&b"bash"[..], b"-c", b"echo hi"]);
        assert_eq!(argv(&words(&["-x"])), [&b"bash"[..], b"-c", b"--", b"-x"]);
        assert_eq!(argv(&words(&["echo", "hi"])), [b"echo", &b"hi"[..]]);
    }
}
