//! Placeholder.
/// Module
pub struct Module {
    pub name: &'static str,
    pub version: &'static str,
    pub commands: &'static [&'static str],
    pub sha256: &'static str,
    pub bytes: u64,
    pub zstd: &'static [u8],
}
pub struct DataFile {
    pub guest_path: &'static str,
    pub sha256: &'static str,
    pub bytes: u64,
    pub zstd: &'static [u8],
}
pub static MODULES: &[Module] = &[];
pub static FILES: &[DataFile] = &[];
