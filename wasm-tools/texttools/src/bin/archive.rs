//! Archives and compression: one module, many commands.

use wskill_texttools::{archive, platform};

fn main() {
    platform::init();
    let program = platform::program_name();
    let args = platform::arguments();
    let status = match program.as_str() {
        "tar" => archive::tar::run(&args),
        "zip" => archive::zip::run(&args),
        "unzip" | "zipinfo" => archive::unzip::run(&program, &args),
        _ => archive::compress::run(&program, &args),
    };
    std::process::exit(status);
}
