//! How late an outcome comes after a limit on time: for guests that compute, sleep, read, write and start processes.
//! `cargo bench --bench limits`; with `-- --busy` beside a thread that keeps one processor busy.
#![allow(clippy::unwrap_used)] // a benchmark may fail loudly

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use wskill::{LimitName, Limits, Runtime, Sandbox};

const COMMANDS: &[&[&str]] = &[
    &["sleep", "1000"],
    &["bash", "-c", "read -r line < <(sleep 1000)"],
    &["bash", "-c", "yes > /dev/null"],
    &["bash", "-c", "while :; do :; done"],
    &["bash", "-c", "f() { f | f & }; f; wait; while :; do f; done"],
    &["python3", "-c", "while True: pass"],
    &["python3", "-c", "b = bytearray(512 << 20)\nwhile True: b[:] = bytes(len(b))"],
];
const RUNS: usize = 50;
const LIMIT: Duration = Duration::from_millis(200);

async fn once(runtime: &Arc<Runtime>, argv: &[&str]) -> Duration {
    let (memory, process_memory) = (3 << 30, 2 << 30);
    let limits = Limits { wall_time: Some(LIMIT), memory, process_memory, ..Limits::default() };
    let sandbox = Sandbox::builder().runtime(Arc::clone(runtime)).limits(limits).build().unwrap();
    let began = Instant::now();
    let outcome = sandbox.run(argv.iter().copied()).await.unwrap();
    let late = began.elapsed().saturating_sub(LIMIT);
    assert_eq!(outcome.limit, Some(LimitName::WallTime), "{argv:?}");
    // What the last run leaves must not slow down the next one.
    sandbox.close().await;
    late
}

fn main() {
    let busy = std::env::args().any(|argument| argument == "--busy");
    let stop = Arc::new(AtomicBool::new(!busy));
    let spinner = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        }
    });
    let caller = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let runtime = Runtime::builder().build().unwrap();
    println!(
        "late by: median, 99th percentile, most of {RUNS} runs{}",
        if busy { ", beside a busy thread" } else { "" }
    );
    for argv in COMMANDS {
        caller.block_on(async {
            once(&runtime, argv).await;
            let mut late = Vec::new();
            for _ in 0..RUNS {
                late.push(once(&runtime, argv).await);
            }
            late.sort_unstable();
            println!("{:8.1?} {:8.1?} {:8.1?}  {argv:?}", late[RUNS / 2], late[RUNS - 1 - RUNS / 100], late[RUNS - 1]);
        });
    }
    stop.store(true, Ordering::Relaxed);
    spinner.join().unwrap();
}
