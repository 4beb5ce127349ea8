//! A program that knows only WASI: what stock Rust makes of a working directory, of absolute paths and of leaving.
//!
//! `foreign-tests files`: reads `data.txt` and writes `/workspace/out/x`, as a skill's own program would.

use std::fs;
use std::io::{Read, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let done = match name.as_str() {
        "files" => files(),
        "cat" => cat(),
        "directories" => directories(),
        "environment" => environment(),
        "exit" => return ExitCode::from(std::env::args().nth(2).and_then(|code| code.parse().ok()).unwrap_or(99)),
        name => Err(std::io::Error::other(format!("no program is called `{name}`"))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn wrong<T>(text: impl Into<String>) -> std::io::Result<T> {
    Err(std::io::Error::other(text.into()))
}

/// Relative paths begin at the working directory, absolute ones at the root.
fn files() -> std::io::Result<()> {
    let data = fs::read_to_string("data.txt")?;
    fs::write("/workspace/out/x", format!("absolute {data}"))?;
    fs::write("beside.txt", format!("relative {data}"))?;
    fs::create_dir_all("made/below")?;
    fs::rename("beside.txt", "made/below/moved.txt")?;
    if fs::read_to_string("./made/below/moved.txt")? != format!("relative {data}") {
        return wrong("what was written is not what is read");
    }
    let mut list: Vec<_> =
        fs::read_dir("made")?.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>()?;
    list.sort();
    if list != ["below"] {
        return wrong(format!("the folder holds {list:?}"));
    }
    match fs::read("missing.txt") {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        other => return wrong(format!("a missing file is {other:?}")),
    }
    if !fs::read_to_string("/etc/passwd")?.starts_with("root:") {
        return wrong("/etc/passwd is another file");
    }
    match fs::write("/usr/bin/new", "") {
        Err(_) => Ok(()),
        Ok(()) => wrong("the system can be written to"),
    }
}

fn cat() -> std::io::Result<()> {
    let mut all = Vec::new();
    std::io::stdin().read_to_end(&mut all)?;
    std::io::stdout().write_all(&all)
}

fn directories() -> std::io::Result<()> {
    for name in fs::read_dir(".")? {
        println!("{}", name?.file_name().display());
    }
    Ok(())
}

fn environment() -> std::io::Result<()> {
    for (name, value) in std::env::vars() {
        println!("{name}={value}");
    }
    Ok(())
}
