//! Deterministic sandboxes: the same seed and input give the same bytes and the same fuel, whatever else runs.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{block_on, runtime, stdout};
use wskill::{Input, Mount, Outcome, Runtime, Sandbox};

fn run_on(runtime: Arc<Runtime>, seed: u64, folder: Option<&Path>, stdin: Input, line: &str) -> Outcome {
    block_on(async {
        let mut builder = Sandbox::builder().runtime(runtime).deterministic(seed);
        if let Some(folder) = folder {
            builder = builder.mount(Mount::new(folder, "/data").writable());
        }
        let sandbox = builder.build().unwrap();
        let outcome = sandbox.command(["bash", "-c", line]).stdin(stdin).run().await.unwrap();
        sandbox.close().await;
        outcome
    })
}

fn run(seed: u64, line: &str) -> Outcome {
    run_on(runtime(), seed, None, Input::Empty, line)
}

/// What must be the same.
fn receipt(outcome: &Outcome) -> (u8, String, Vec<u8>, Option<u64>, u64, u64) {
    let Outcome { exit_code, stderr, fuel, processes, peak_memory, .. } = outcome;
    (*exit_code, stdout(outcome), stderr.clone(), *fuel, *processes, *peak_memory)
}

/// Lines in which processes meet, ask for time, randomness and numbers, and race.
const LINES: &[&str] = &[
    "for i in 1 2 3 4 5; do (echo \"a$i\"; echo \"b$i\") & done; wait",
    "seq 20000 | sort -R | head -n 5; echo $RANDOM $RANDOM $$ $BASHPID; date +%s.%N",
    "python3 -c 'import random, time, os, uuid; print(random.random(), time.time(), os.getpid(), uuid.uuid4(), hash(\"x\"))'",
    "seq 30000 | tee >(wc -l >&2) | gzip -c | md5sum; wait",
    "sleep 1 & sleep 0.5; echo half; wait; echo $SECONDS; time sleep 3",
    "timeout 2 python3 -c 'while True: pass'; echo $?; (sleep 100 & kill $!; wait $!; echo $?)",
    "mktemp -u; mktemp; stat -c '%d %i %Y %n' /tmp /etc/passwd /bin/ls; ls -la --time-style=full-iso /tmp",
    "python3 -c 'import subprocess as s, threading\nps = [s.Popen([\"sh\", \"-c\", f\"sleep 0.{i}; echo {i}\"]) for i in (3, 1, 2)]\n[p.wait() for p in ps]'",
    "mkfifo /tmp/f; (cat /tmp/f | rev) & seq 5 > /tmp/f; wait; python3 -c 'import os; print(os.fstat(0), os.fstat(os.pipe()[0]).st_ino)'",
];

#[test]
fn equal_seeds_give_equal_runs() {
    for line in LINES {
        let first = receipt(&run(7, line));
        // The numbers of another sandbox's files, pipes and processes must not show.
        common::bash("mktemp; echo x | cat; ls -i /");
        let second = receipt(&run(7, line));
        assert_eq!(first, second, "{line}");
        assert!(first.3.is_some_and(|fuel| fuel > 0));
    }
}

#[test]
fn equal_seeds_give_equal_runs_on_one_busy_thread() {
    let one = Runtime::builder().threads(1).build().unwrap();
    for line in LINES {
        let first = receipt(&run(3, line));
        let busy = std::thread::spawn(|| common::bash("for i in 1 2 3; do seq 20000 | sort -R | wc -l & done; wait"));
        let second = receipt(&run_on(Arc::clone(&one), 3, None, Input::Empty, line));
        busy.join().unwrap();
        assert_eq!(first, second, "{line}");
    }
}

#[test]
fn seeds_differ() {
    let line = "echo $RANDOM $RANDOM; python3 -c 'import random; print(random.random())'; head -c 8 /dev/urandom | xxd";
    assert_ne!(stdout(&run(1, line)), stdout(&run(2, line)));
}

#[test]
fn time_begins_with_2026_and_passes_in_sleep() {
    let began = Instant::now();
    let outcome = run(0, "date -u +%FT%H:%M; sleep 86400; date -u +%FT%H:%M");
    assert_eq!(stdout(&outcome), "2026-01-01T00:00\n2026-01-02T00:00\n");
    assert!(began.elapsed() < Duration::from_secs(60), "a day was slept");
}

#[test]
fn folders_of_the_host_show_no_times_and_numbers_of_their_own() {
    let line = "cd /data && echo more >> b; stat -c '%n %d %i %Y %s' . a b sub/c && ls -ai && find . -newer a";
    let make = |names: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        for name in names {
            std::fs::write(folder.path().join(name), "text").unwrap();
        }
        folder
    };
    let one = make(&["a", "b", "sub/c"]);
    std::thread::sleep(Duration::from_millis(20));
    let other = make(&["sub/c", "b", "a"]);
    let first = receipt(&run_on(runtime(), 1, Some(one.path()), Input::Empty, line));
    let second = receipt(&run_on(runtime(), 1, Some(other.path()), Input::Empty, line));
    assert_eq!(first, second);
    assert!(first.1.contains(" 1767225600 "), "{}", first.1);
}

/// Gives its bytes in pieces, with pauses.
struct Slow(Vec<u8>, u64);

impl Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        std::thread::sleep(Duration::from_millis(self.1));
        let count = self.0.len().min(buffer.len()).min(1000);
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0.drain(..count);
        Ok(count)
    }
}

#[test]
fn how_fast_input_comes_does_not_matter() {
    let text: Vec<u8> = (0..100_000).map(|n| if n % 7 == 0 { b'\n' } else { b'a' + (n % 26) as u8 }).collect();
    let line = "while read -r -t 1 line; do echo ${#line}; done | sort | uniq -c; date +%N";
    let whole = receipt(&run_on(runtime(), 1, None, Input::Bytes(text.clone()), line));
    let fast = receipt(&run_on(runtime(), 1, None, Input::reader(Slow(text.clone(), 0)), line));
    let slow = receipt(&run_on(runtime(), 1, None, Input::reader(Slow(text, 2)), line));
    assert_eq!(whole, fast);
    assert_eq!(whole, slow);
}

#[test]
fn limits_hold_and_a_run_can_be_dropped() {
    block_on(async {
        let limits = wskill::Limits { wall_time: Some(Duration::from_millis(300)), ..Default::default() };
        let sandbox = Sandbox::builder().runtime(runtime()).deterministic(1).limits(limits).build().unwrap();
        for line in ["while :; do :; done", "cat < <(while :; do :; done)", "python3 -c 'while True: pass' | cat"] {
            let outcome = sandbox.run(["bash", "-c", line]).await.unwrap();
            assert_eq!(outcome.limit, Some(wskill::LimitName::WallTime), "{line}");
        }
        sandbox.close().await;
        let limits = wskill::Limits { fuel: Some(50_000_000), ..Default::default() };
        let sandbox = Sandbox::builder().runtime(runtime()).deterministic(1).limits(limits).build().unwrap();
        let outcome = sandbox.run(["bash", "-c", "(while :; do :; done) | while :; do :; done"]).await.unwrap();
        assert_eq!((outcome.limit, outcome.fuel), (Some(wskill::LimitName::Fuel), Some(50_000_000)));
        let sandbox = Sandbox::builder().runtime(runtime()).deterministic(1).build().unwrap();
        drop(sandbox.run(["sleep", "1"]));
        sandbox.close().await;
    });
}
