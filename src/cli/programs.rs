//! `wskill programs`.

use clap::Args;

use super::options::runtime;
use super::{Error, print};

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
    let mut text = String::new();
    if args.json {
        text = serde_json::to_string_pretty(&commands)? + "\n";
    } else {
        for command in commands {
            text += &format!("{:<16} {:<12} {}\n", command.name, command.module, command.version);
        }
    }
    print(&text)
}
