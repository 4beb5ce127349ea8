//! `wskill pack`.

use std::path::PathBuf;

use clap::Args;

use super::{Error, print};
use crate::source::pack as pack_skill;

/// Arguments of `wskill pack`.
#[derive(Debug, Args)]
pub struct PackArgs {
    /// A skill's folder
    path: PathBuf,

    /// The archive, or the folder for it
    #[arg(long, short, value_name = "FILE|DIR", default_value = ".")]
    output: PathBuf,
}

/// Packs a skill into a `.skill` archive: equal folders give equal archives.
pub fn pack(args: &PackArgs) -> Result<u8, Error> {
    let packed = pack_skill(&args.path, &args.output)?;
    let (path, count) = (packed.path.display(), packed.files.len());
    print(&format!("{path}: {count} files, {} bytes\nsha256={}\n", packed.size, packed.sha256))
}
