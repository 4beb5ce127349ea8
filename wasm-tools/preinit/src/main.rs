//! Pre-initialises a WebAssembly module: runs its initialiser once and writes a module that starts where it ended.
//!
//! The initialiser sees WASI preview 1 with the directories given by `--dir` (read-only), no environment, no
//! arguments, fixed clocks, fixed randomness and nothing of the host's about a file but its kind, size and bytes, so that
//! the same input gives the same bytes on every machine. The sandbox's own imports (`wskill`) exist but have no kernel
//! behind them: each answers ENOSYS, see [`stubs`].

mod files;
mod fixed;
mod stubs;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use wasmtime::error::Context as _;
use wasmtime::{Config, Engine, Linker, Module, Result, Store};
use wasmtime_wasi::p1::WasiP1Ctx;
use wasmtime_wasi::{Deterministic, FsPerms, WasiCtxBuilder};
use wasmtime_wizer::Wizer;

/// Stack of the initialiser in bytes: interpreters recurse deeply while they compile their libraries.
const MAX_WASM_STACK: usize = 8 << 20;

/// What the initialiser gets as random bytes, over and over. Modules must seed themselves again when resumed.
const RANDOM: [u8; 16] = *b"wskill snapshot!";

/// Runs a module's initialiser and writes the initialised module.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The module to initialise.
    input: PathBuf,
    /// Where the initialised module goes.
    output: PathBuf,
    /// The exported function that initialises, without parameters or results.
    #[arg(long, default_value = "wizer-initialize", value_name = "NAME")]
    init: String,
    /// Renames an export of the result, overwriting NEW: `_start=wizer.resume`.
    #[arg(long = "rename", value_name = "NEW=OLD", value_parser = parse_pair)]
    renames: Vec<(String, String)>,
    /// Shows the initialiser a host directory, read-only.
    #[arg(long = "dir", value_name = "GUEST=HOST", value_parser = parse_pair)]
    dirs: Vec<(String, String)>,
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((left, right)) if !left.is_empty() && !right.is_empty() => Ok((left.to_owned(), right.to_owned())),
        _ => Err("expected two names joined by '='".to_owned()),
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("preinit: {error:?}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let input = std::fs::read(&arguments.input).with_context(|| format!("reading {}", arguments.input.display()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let output = runtime.block_on(snapshot(arguments, &input))?;
    std::fs::write(&arguments.output, output).with_context(|| format!("writing {}", arguments.output.display()))
}

async fn snapshot(arguments: &Arguments, input: &[u8]) -> Result<Vec<u8>> {
    let mut config = Config::new();
    config.max_wasm_stack(MAX_WASM_STACK);
    config.async_stack_size(2 * MAX_WASM_STACK);
    let engine = Engine::new(&config)?;

    let mut linker: Linker<WasiP1Ctx> = Linker::new(&engine);
    wasmtime_wasi::p1::add_to_linker_async(&mut linker, |context| context)?;
    let mut store = Store::new(&engine, context(arguments)?);
    files::hide_host(&mut linker)?;

    let mut wizer = Wizer::new();
    wizer.init_func(&arguments.init);
    for (new, old) in &arguments.renames {
        wizer.func_rename(new, old);
    }
    wizer
        .run(&mut store, input, async |store: &mut Store<WasiP1Ctx>, module: &Module| {
            stubs::add_to_linker(&mut linker, module)?;
            linker.instantiate_async(store, module).await
        })
        .await
}

/// What the initialiser sees of the world.
fn context(arguments: &Arguments) -> Result<WasiP1Ctx> {
    let mut builder = WasiCtxBuilder::new();
    builder.inherit_stdout().inherit_stderr();
    builder.wall_clock(fixed::Clock).monotonic_clock(fixed::Clock);
    builder.secure_random(Deterministic::new(RANDOM.to_vec())).insecure_random(Deterministic::new(RANDOM.to_vec()));
    builder.insecure_random_seed(0);
    for (guest, host) in &arguments.dirs {
        builder.preopened_dir(host, guest, FsPerms::ReadOnly).with_context(|| format!("opening {host} for {guest}"))?;
    }
    Ok(builder.build_p1())
}
