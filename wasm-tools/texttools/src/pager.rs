//! `less` and `more`: nobody turns pages in a sandbox, so the text goes through as `cat` has it.

use std::io::{self, Read};

use crate::input;
use crate::output::{Output, show};
use crate::platform;

/// Runs less or more and gives its exit status.
pub fn run(program: &str, arguments: &[Vec<u8>]) -> i32 {
    let mut out = Output::new("less", 1);
    let mut status = 0;
    let names: Vec<&Vec<u8>> = arguments
        .iter()
        .filter(|word| word.as_slice() == b"-" || !word.starts_with(b"-") && !word.starts_with(b"+"))
        .collect();
    if arguments.iter().any(|word| word == b"--version") {
        out.text(&format!("{program} (wskill texttools)\n"));
        return 0;
    }
    let standard_input = b"-".to_vec();
    for name in if names.is_empty() { vec![&standard_input] } else { names } {
        let copied = input::open(name).and_then(|mut stream| copy(&mut stream, &mut out));
        if let Err(error) = copied {
            out.flush_all();
            eprintln!("{}: {}", show(name), platform::message(&error));
            status = 1;
        }
    }
    out.flush_all();
    status
}

fn copy(stream: &mut dyn Read, out: &mut Output) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            count => out.put(&buffer[..count]),
        }
    }
}
