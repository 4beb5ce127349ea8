//! Runs whose output is captured.

use std::io::{self, Read, Write};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::group::{Bounds, Event, Group};
use super::{CHUNK, Program};
use crate::Outcome;

/// What was written to both streams.
#[derive(Debug, Default)]
struct Captured {
    streams: [Vec<u8>; 2],
    /// How many bytes may come yet.
    left: u64,
}

/// Runs a program to its end.
pub fn run(
    program: &Program,
    stdin: Vec<u8>,
    bounds: &Bounds,
    events: &Sender<Event>,
    received: &Receiver<Event>,
) -> io::Result<Outcome> {
    let mut command = program.command()?;
    command.stdin(if stdin.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = match Group::start(command) {
        Ok(group) => group,
        Err(error) => return Ok(program.refused(&error)),
    };
    let captured = Arc::new(Mutex::new(Captured { left: bounds.output, ..Captured::default() }));
    let leader = group.leader();
    if let Some(mut pipe) = leader.stdin.take() {
        // A command need not read its input.
        spawn(move || drop(pipe.write_all(&stdin)))?;
    }
    let (stdout, stderr) = (leader.stdout.take(), leader.stderr.take());
    if let Some(stdout) = stdout {
        let (captured, events) = (Arc::clone(&captured), events.clone());
        spawn(move || capture(stdout, 0, &captured, &events))?;
    }
    if let Some(stderr) = stderr {
        let (captured, events) = (Arc::clone(&captured), events.clone());
        spawn(move || capture(stderr, 1, &captured, &events))?;
    }
    let outcome = group.supervise(events.clone(), received, bounds.wall_time, 2)?;
    let [stdout, stderr] = std::mem::take(&mut captured.lock().unwrap_or_else(PoisonError::into_inner).streams);
    Ok(Outcome { stdout, stderr, ..outcome })
}

fn spawn(call: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("wskill-pipe".to_owned()).spawn(call).map(drop)
}

/// Reads a stream to its end, or until no more may come.
fn capture(mut stream: impl Read, index: usize, captured: &Mutex<Captured>, events: &Sender<Event>) {
    let mut buffer = vec![0; CHUNK];
    // An error is an end: there is nobody to tell.
    while let Ok(count) = read(&mut stream, &mut buffer)
        && count > 0
    {
        let mut captured = captured.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = usize::try_from(captured.left).map_or(count, |left| left.min(count));
        captured.left -= taken as u64;
        captured.streams[index].extend_from_slice(&buffer[..taken]);
        if taken < count {
            // The run may have ended meanwhile.
            let _ = events.send(Event::OutputFull);
            break;
        }
    }
    let _ = events.send(Event::StreamEnded);
}

/// Reads once, again when a signal came between.
pub fn read(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match stream.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
