//! `wskill wasm`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::Error;
use super::options::{CommonArgs, bytes};
use super::run::{finish, report_errors, stream, until_interrupted};

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

async fn launch(args: &WasmArgs) -> Result<u8, Error> {
    let shown = args.file.display();
    let module = std::fs::read(&args.file).map_err(|error| format!("{shown}: {error}"))?;
    if !module.starts_with(b"\0asm") {
        return Err(format!("{shown}: not a WebAssembly file").into());
    }
    let name = args.file.file_name().unwrap_or(args.file.as_os_str());
    let argv = [name].into_iter().chain(args.args.iter().map(OsString::as_os_str)).map(bytes);
    let sandbox = args.common.add_own(args.common.builder()?)?.bare().cwd("/").build()?;
    let command = sandbox.command(argv).module(module).stdin(args.common.input(true)?);
    let outcome = until_interrupted(stream(command, args.common.json)).await?;
    sandbox.close().await;
    match outcome {
        Some(outcome) => finish(&outcome, args.common.json, Vec::new()),
        None => Ok(130),
    }
}
