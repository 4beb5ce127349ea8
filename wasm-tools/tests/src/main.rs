//! The guests of the kernel's tests: `guest-tests NAME` checks one behaviour and exits with 0, or says what was wrong
//! and exits with 1. `guest-tests --list` prints the names. `guest-tests --role ROLE …` is what the programs start as
//! their children.
//!
//! Programs of the file groups work in the current directory, whichever file system that is.

mod clocks;
mod contexts;
mod descriptors;
mod devices;
mod directories;
mod exec;
mod fifos;
mod files;
mod hostile;
mod kill;
mod limits;
mod locks;
mod names;
mod pipes;
mod policy;
mod poll;
mod processes;
mod raw;
mod roles;
mod signals;
mod sigpipe;
mod support;
mod terminals;
mod timers;
mod tools;
mod wait;

use std::process::ExitCode;

use support::Program;

/// Every theme's programs.
const THEMES: &[&[Program]] = &[
    clocks::PROGRAMS,
    contexts::PROGRAMS,
    descriptors::PROGRAMS,
    devices::PROGRAMS,
    directories::PROGRAMS,
    exec::PROGRAMS,
    fifos::PROGRAMS,
    files::PROGRAMS,
    hostile::PROGRAMS,
    kill::PROGRAMS,
    limits::PROGRAMS,
    locks::PROGRAMS,
    names::PROGRAMS,
    pipes::PROGRAMS,
    policy::PROGRAMS,
    poll::PROGRAMS,
    processes::PROGRAMS,
    sigpipe::PROGRAMS,
    signals::PROGRAMS,
    terminals::PROGRAMS,
    timers::PROGRAMS,
    tools::PROGRAMS,
    wait::PROGRAMS,
];

fn main() -> ExitCode {
    if let Err(errno) = wskill_sys::init() {
        eprintln!("guest-tests: cannot begin: {errno}");
        return ExitCode::FAILURE;
    }
    let arguments: Vec<_> = std::env::args_os().collect();
    let name = arguments.get(1).and_then(|name| name.to_str()).unwrap_or_default();
    match name {
        "--list" => {
            THEMES.iter().copied().flatten().for_each(|program| println!("{}", program.name));
            ExitCode::SUCCESS
        }
        "--role" => roles::play(&arguments[2..]),
        name => match THEMES.iter().copied().flatten().find(|program| program.name == name) {
            None => {
                eprintln!("guest-tests: no program is called `{name}`");
                ExitCode::from(2)
            }
            Some(program) => match (program.run)() {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => {
                    eprintln!("{name}: {failure}");
                    ExitCode::FAILURE
                }
            },
        },
    }
}
