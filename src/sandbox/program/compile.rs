//! Compiling modules.

use wasmtime::{Engine, Module};

use super::cache::Cache;
use super::{ProgramError, load};

/// Compiles a module and keeps the result. Takes seconds for large ones.
#[cfg(feature = "compile")]
pub fn module(engine: &Engine, cache: &Cache, key: &str, bytes: &[u8]) -> Result<Module, ProgramError> {
    let code = engine.precompile_module(bytes).map_err(|error| explain(&error))?;
    if cache.store(key, &code)
        && let Some(module) = cache.load(engine, key)
    {
        return Ok(module);
    }
    load::from_bytes(engine, &code).map_err(|error| ProgramError::Compile(error.to_string()))
}

/// Without a compiler nothing can be compiled.
#[cfg(not(feature = "compile"))]
pub fn module(_: &Engine, _: &Cache, _: &str, _: &[u8]) -> Result<Module, ProgramError> {
    Err(ProgramError::NoCompiler)
}

#[cfg(feature = "compile")]
fn explain(error: &wasmtime::Error) -> ProgramError {
    let text = format!("{:#}", error.root_cause());
    if text.contains("shared memor") || text.contains("threads") {
        return ProgramError::Threads;
    }
    ProgramError::Compile(text)
}
