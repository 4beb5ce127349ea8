//! The `wskill` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    wskill::cli::main()
}
