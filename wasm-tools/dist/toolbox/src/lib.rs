//! Data only: the shell and the Unix tools as compressed WebAssembly modules for the crate `wskill`.
//!
//! `wasm-tools/build.sh` writes this crate's `programs/`, `licenses/` and the list below from sources.

include!("manifest.rs");

/// A WebAssembly module with its commands.
#[derive(Clone, Copy, Debug)]
pub struct Module {
    /// Its name, unique over all data crates.
    pub name: &'static str,
    /// What it is built from, for people.
    pub version: &'static str,
    /// The commands it answers to.
    pub commands: &'static [&'static str],
    /// SHA-256 of the unpacked module, in hexadecimal.
    pub sha256: &'static str,
    /// Length of the unpacked module in bytes.
    pub bytes: u64,
    /// The module, compressed with zstd.
    pub zstd: &'static [u8],
}

/// A file that a module needs in the guest's tree.
#[derive(Clone, Copy, Debug)]
pub struct DataFile {
    /// Where the guest finds it.
    pub guest_path: &'static str,
    /// SHA-256 of the unpacked file, in hexadecimal.
    pub sha256: &'static str,
    /// Length of the unpacked file in bytes.
    pub bytes: u64,
    /// The file, compressed with zstd.
    pub zstd: &'static [u8],
}
