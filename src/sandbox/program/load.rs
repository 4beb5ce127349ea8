//! The one place with `unsafe`: loading machine code that was compiled before.
#![allow(unsafe_code)]

use std::fs::File;

use wasmtime::{Engine, Module};

/// Maps a compiled module.
///
/// The caller has checked, on this descriptor, that the file belongs to the user it runs as and that nobody else may
/// write it or its folder.
pub fn from_file(engine: &Engine, file: File) -> wasmtime::Result<Module> {
    // SAFETY: the file was written by this library, whole, before it got its name (`Cache::store`), and only this user
    // may write it: who could put other code there can already run any code as this user. The engine checks version,
    // target and configuration.
    unsafe { Module::deserialize_open_file(engine, file) }
}

/// Loads a compiled module from memory.
#[cfg(feature = "compile")]
pub fn from_bytes(engine: &Engine, bytes: &[u8]) -> wasmtime::Result<Module> {
    // SAFETY: the bytes are what `Engine::precompile_module` of this process just returned.
    unsafe { Module::deserialize(engine, bytes) }
}
