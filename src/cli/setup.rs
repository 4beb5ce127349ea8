//! `wskill setup`.

use std::io::Write;

use clap::Args;

use super::options::runtime;
use super::{Error, say};
use crate::Flavour;

/// Arguments of `wskill setup`.
#[derive(Debug, Args)]
pub struct SetupArgs {
    /// Check the digests of what is compiled; what differs is compiled again
    #[arg(long)]
    verify: bool,

    /// Compile for runs that count instructions too
    #[arg(long)]
    fuel: bool,
}

/// Compiles the built-in programs.
pub async fn setup(args: SetupArgs) -> Result<u8, Error> {
    let runtime = runtime()?;
    let Some(folder) = runtime.programs().cache_dir().map(ToOwned::to_owned) else {
        return Err("no folder for compiled programs can be written; set WSKILL_CACHE_DIR to one".into());
    };
    let mut damaged = Vec::new();
    if args.verify {
        damaged = runtime.programs().verify_cache()?;
        for name in &damaged {
            say(&format!("{name} was damaged and is removed"));
        }
    }
    runtime.compile_all(Flavour::Epoch).await?;
    if args.fuel {
        runtime.compile_all(Flavour::Fuel).await?;
    }
    let count = runtime.programs().modules().count();
    // Who does not want to read it has got what it asked for.
    let _ = writeln!(std::io::stdout(), "{count} programs are compiled in {}", folder.display());
    Ok(u8::from(!damaged.is_empty()))
}
