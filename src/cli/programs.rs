//! `wskill programs`.

use std::io::Write;

use clap::Args;

use super::Error;
use super::options::runtime;

/// Arguments of `wskill programs`.
#[derive(Debug, Args)]
pub struct ProgramsArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// Lists the commands that exist in the sandbox.
pub fn programs(args: &ProgramsArgs) -> Result<u8, Error> {
    let commands = runtime()?.programs().commands();
    let mut stdout = std::io::stdout().lock();
    if args.json {
        writeln!(stdout, "{}", serde_json::to_string_pretty(&commands)?)?;
    } else {
        for command in commands {
            writeln!(stdout, "{:<16} {:<12} {}", command.name, command.module, command.version)?;
        }
    }
    Ok(0)
}
