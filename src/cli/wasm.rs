//! `wskill wasm`.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::Error;
use super::options::{CommonArgs, bytes};
use super::run::{finish, interrupted, report_errors, stream};
use super::signals::Interrupts;
use crate::SandboxBuilder;

/// Arguments of `wskill wasm`.
#[derive(Debug, Args)]
pub struct WasmArgs {
    #[command(flatten)]
    common: CommonArgs,

    /// A WebAssembly module (WASI preview 1) or command component (WASI 0.2)
    #[arg(value_name = "FILE.wasm")]
    file: PathBuf,

    /// Its arguments
    #[arg(value_name = "ARG", trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Runs a module as it is.
pub async fn wasm(args: WasmArgs) -> Result<u8, Error> {
    report_errors(args.common.json, launch(&args)).await
}

/// Reads a file; of one that is larger than `most`, which may have no end, only so much that the limit is seen.
fn read(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

async fn launch(args: &WasmArgs) -> Result<u8, Error> {
    let interrupts = Interrupts::listen()?;
    let shown = args.file.display();
    let most = args.common.limits()?.module;
    let module = read(&args.file, most).map_err(|error| format!("{shown}: {error}"))?;
    if !module.starts_with(b"\0asm") {
        return Err(format!("{shown}: not a WebAssembly file").into());
    }
    if module.len() as u64 > most {
        return Err(format!("{shown}: is larger than the limit `module`, which is {most} bytes").into());
    }
    let name = args.file.file_name().unwrap_or(args.file.as_os_str());
    let argv = [name].into_iter().chain(args.args.iter().map(OsString::as_os_str)).map(bytes);
    let prepared = args.common.prepare(true)?;
    if let Some(file) = prepared.mounts.iter().find(|mount| !mount.host().is_dir()) {
        // WASI has preopened directories only.
        return Err(format!("--mount {}: is no folder, and a module sees folders only", file.host().display()).into());
    }
    let builder = prepared.mounts.into_iter().fold(prepared.builder.bare().cwd("/"), SandboxBuilder::mount);
    let builder = prepared.env.into_iter().fold(builder, |builder, (name, value)| builder.env(name, value));
    let sandbox = builder.build()?;
    let command = sandbox.command(argv).module(module).stdin(prepared.input);
    let outcome = interrupts.stop(stream(command, args.common.json)).await;
    sandbox.close().await;
    match outcome {
        Ok(outcome) => finish(&outcome?, args.common.json, Vec::new()),
        Err(signal) => interrupted(signal, args.common.json),
    }
}
