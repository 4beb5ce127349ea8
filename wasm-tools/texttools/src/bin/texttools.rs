//! Text tools: one module, many commands.

use wskill_texttools::{
    awk, bc, cmp, column, diff, file, find, grep, jq, pager, patch, platform, sed, strings, tree, xargs,
};

fn main() {
    platform::init();
    let program = platform::program_name();
    let args = platform::arguments();
    let status = match program.as_str() {
        "awk" | "gawk" | "mawk" | "nawk" => awk::run(&args),
        "bc" => bc::run(&args),
        "cmp" => cmp::run(&args),
        "column" => column::run(&args),
        "diff" => diff::run(&args),
        "file" => file::run(&args),
        "find" => find::run(&args),
        "grep" | "egrep" | "fgrep" => grep::run(&program, &args),
        "jq" => jq::run(&args),
        "less" | "more" => pager::run(&program, &args),
        "patch" => patch::run(&args),
        "rg" => grep::run_ripgrep(&args),
        "sed" => sed::run(&args),
        "strings" => strings::run(&args),
        "tree" => tree::run(&args),
        "xargs" => xargs::run(&args),
        _ => {
            eprintln!("{program}: not a command of this module");
            127
        }
    };
    std::process::exit(status);
}
