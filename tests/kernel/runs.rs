//! Runs as the host sees them: many at once, dropped, closed, and what the host's own tasks notice of them.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use wskill::{Sandbox, Trace, TraceEvent};

use super::support::{
    COMMAND, POOLED, RUNTIME, assert_success, block_on, builder, guest, limits, play, role, runtime_builder, sandbox,
    stderr, stdout,
};

/// Waits until everything is given back, and fails when that takes too long.
async fn close(sandbox: Sandbox) {
    tokio::time::timeout(Duration::from_secs(30), sandbox.close()).await.expect("closing the sandbox hangs");
}

/// Drops the run of a role after a while.
async fn dropped(sandbox: &Sandbox, words: &[&str], after: Duration) {
    let run = sandbox.run(role(words));
    assert!(tokio::time::timeout(after, run).await.is_err(), "{words:?} ended by itself");
}

#[test]
fn many_runs_of_one_sandbox_at_once() {
    block_on(async {
        let sandbox = Arc::new(sandbox());
        let mut runs = tokio::task::JoinSet::new();
        for number in 0..40 {
            let sandbox = Arc::clone(&sandbox);
            runs.spawn(async move {
                let outcome = play(&sandbox, &["say", &number.to_string()]).await;
                (number, outcome)
            });
        }
        while let Some(done) = runs.join_next().await {
            let (number, outcome) = done.unwrap();
            assert_success(&outcome);
            assert_eq!(stdout(&outcome), format!("{number}\n"));
            assert_eq!(outcome.processes, 1);
        }
        close(Arc::into_inner(sandbox).unwrap()).await;
    });
}

#[test]
fn runs_share_the_sandbox_s_files() {
    block_on(async {
        let sandbox = sandbox();
        assert_success(&sandbox.run([COMMAND, "seen_by_others"]).await.unwrap());
        let outcome = play(&sandbox, &["write-file", "/tmp/note", "x"]).await;
        assert_success(&outcome);
        assert!(sandbox.disk_used() > 0);
        close(sandbox).await;
    });
}

#[test]
fn two_hundred_sandboxes_at_once() {
    let began = Instant::now();
    block_on(async {
        let mut runs = tokio::task::JoinSet::new();
        for number in 0..200u32 {
            runs.spawn(async move {
                let sandbox = sandbox();
                let outcome = play(&sandbox, &["nest", "1"]).await;
                assert_eq!(outcome.exit_code, 42, "{number}: {}", stderr(&outcome));
                close(sandbox).await;
            });
        }
        while let Some(done) = runs.join_next().await {
            done.unwrap();
        }
    });
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn dropping_a_run_ends_its_tree() {
    for words in [&["nest-ready", "5"][..], &["fork-bomb"], &["spin"], &["ready"], &["flood-child"]] {
        block_on(async {
            let sandbox = sandbox();
            for after in [0, 1, 5, 30] {
                dropped(&sandbox, words, Duration::from_millis(after)).await;
            }
            // Nobody but the one who asks is left.
            let began = Instant::now();
            loop {
                let outcome = play(&sandbox, &["alone"]).await;
                if outcome.exit_code == 0 {
                    break;
                }
                assert!(began.elapsed() < Duration::from_secs(20), "{words:?} leaves processes: {}", stderr(&outcome));
            }
            close(sandbox).await;
        });
    }
}

#[test]
fn closing_while_processes_are_being_started() {
    // A process that is just being started must not escape: neither the end of its run nor that of its sandbox.
    block_on(async {
        for round in 0..15u64 {
            let sandbox = sandbox();
            dropped(&sandbox, &["fork-bomb"], Duration::from_millis(2 + round * 3)).await;
            close(sandbox).await;
        }
    });
}

#[test]
fn the_first_process_takes_the_rest_with_it() {
    block_on(async {
        let sandbox = sandbox();
        let began = Instant::now();
        let outcome = play(&sandbox, &["leave", "1000000"]).await;
        assert_success(&outcome);
        loop {
            if play(&sandbox, &["alone"]).await.exit_code == 0 {
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "what was left behind lives on");
        }
        close(sandbox).await;
    });
}

#[test]
fn closing_ends_what_waits() {
    // In a read, a write, a sleep, an opening, a lock, a wait: dropping the runs and closing comes back.
    block_on(async {
        let sandbox = sandbox();
        for words in [["handle", "12"], ["block", "read"], ["block", "write"], ["block", "fifo"], ["block", "lock"]] {
            dropped(&sandbox, &words, Duration::from_millis(20)).await;
        }
        dropped(&sandbox, &["block", "wait"], Duration::from_millis(20)).await;
        close(sandbox).await;
    });
}

#[test]
fn dropping_the_sandbox_ends_everything() {
    block_on(async {
        let sandbox = sandbox();
        dropped(&sandbox, &["spin"], Duration::from_millis(10)).await;
        drop(sandbox);
        // The runtime goes on for others.
        assert_success(&play(&self::sandbox(), &["say", "x"]).await);
    });
}

#[test]
fn the_host_s_timers_are_not_starved() {
    block_on(async {
        let sandbox = sandbox();
        let spinning = async {
            let spin = || sandbox.command(["spin"]).module(guest("spin.wat")).run();
            let _ = tokio::join!(spin(), spin(), spin(), spin());
        };
        let watching = async {
            let mut best = Duration::MAX;
            // A loaded machine makes single ones late; starvation would make all late.
            for _ in 0..8 {
                let began = Instant::now();
                tokio::time::sleep(Duration::from_millis(100)).await;
                best = best.min(began.elapsed());
            }
            best
        };
        tokio::select! {
            () = spinning => panic!("endless loops have ended"),
            best = watching => assert!(best < Duration::from_millis(130), "100 ms took {best:?} at best"),
        }
        close(sandbox).await;
    });
}

#[test]
fn signals_reach_computing_processes_among_others_of_their_kind() {
    block_on(async {
        let (one, other) = (sandbox(), sandbox());
        let killing = one.run([COMMAND, "kill_a_computing_process"]);
        let computing = play(&other, &["spin"]);
        tokio::select! {
            outcome = killing => assert_success(&outcome.unwrap()),
            _ = computing => panic!("an endless loop has ended"),
        }
        close(one).await;
        close(other).await;
    });
}

#[test]
fn a_full_pool_refuses_and_recovers() {
    let pool = runtime_builder().pooled(3, 0).build().unwrap();
    block_on(async {
        let build = || Sandbox::builder().runtime(Arc::clone(&pool)).limits(limits()).build().unwrap();
        let sandbox = build();
        let outcome = play(&sandbox, &["nest", "6"]).await;
        assert_ne!(outcome.exit_code, 42, "six processes had room in a pool of three");
        close(sandbox).await;
        let sandbox = build();
        for _ in 0..20 {
            assert_eq!(play(&sandbox, &["nest", "1"]).await.exit_code, 42);
        }
        close(sandbox).await;
    });
}

#[test]
fn the_pool_serves_the_same_programs() {
    block_on(async {
        for program in ["exec_many_times", "pipeline_of_five", "signal_flag", "wait_races", "memory_end"] {
            let sandbox = Sandbox::builder().runtime(Arc::clone(&POOLED)).limits(limits()).cwd("/tmp").build().unwrap();
            let outcome = sandbox.run([COMMAND, program]).await.unwrap();
            // Its eight slots are fewer than `wait_races` wants at once.
            if program != "wait_races" {
                assert_success(&outcome);
            }
            close(sandbox).await;
        }
    });
}

#[test]
fn outcomes_tell_what_happened() {
    block_on(async {
        let sandbox = builder().env("GREETING", "hello").build().unwrap();
        let outcome = sandbox.command(role(&["show", "env"])).env("LOCAL", "1").run().await.unwrap();
        assert!(stdout(&outcome).contains("GREETING=hello\n") && stdout(&outcome).contains("LOCAL=1\n"));
        let outcome = play(&sandbox, &["nest", "4"]).await;
        assert_eq!((outcome.exit_code, outcome.processes, outcome.fuel), (42, 5, None));
        assert!(outcome.peak_memory > 1 << 20 && outcome.duration > Duration::ZERO);
        let outcome = play(&sandbox, &["suicide", "15"]).await;
        assert_eq!((outcome.exit_code, outcome.limit), (143, None));
        let outcome = sandbox.run(["no-such-command"]).await.unwrap();
        assert_eq!((outcome.exit_code, outcome.processes), (127, 0));
        assert_eq!(stderr(&outcome).lines().count(), 1);
        assert!(!outcome.hints.is_empty());
        let outcome = sandbox.run([b"\xff\xfe".to_vec()]).await.unwrap();
        assert_eq!(outcome.exit_code, 127);
        let outcome = sandbox.run(Vec::<String>::new()).await.unwrap();
        assert_eq!(outcome.exit_code, 127);
        let outcome = sandbox.run(["/tmp"]).await.unwrap();
        assert_eq!(outcome.exit_code, 126);
        close(sandbox).await;
    });
}

#[test]
fn the_trace_tells_starts_and_ends() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&events);
    let outcome = block_on(async {
        let trace = Trace::new(move |event| sink.lock().unwrap().push(event));
        let sandbox = builder().trace(trace).build().unwrap();
        let outcome = play(&sandbox, &["exec", "nest", "2"]).await;
        close(sandbox).await;
        outcome
    });
    assert_eq!(outcome.exit_code, 42);
    let events = events.lock().unwrap();
    let starts = events.iter().filter(|event| matches!(event, TraceEvent::Start { .. })).count();
    let ends = events.iter().filter(|event| matches!(event, TraceEvent::Exit { status: 42, .. })).count();
    // Three processes, one of which has a second image.
    assert_eq!((starts, ends), (4, 3));
}

#[test]
fn a_bare_sandbox_has_its_mounts_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "x").unwrap();
    let outcome = block_on(async {
        let mount = wskill::Mount::new(folder.path(), "/only").writable();
        let sandbox = Sandbox::builder().runtime(Arc::clone(&RUNTIME)).mount(mount).cwd("/").bare().build().unwrap();
        let argv = ["foreign", "directories"];
        sandbox.command(argv).module(super::support::FOREIGN_TESTS.clone()).run().await.unwrap()
    });
    // The working directory of such a program is its own affair; whatever it lists, it is nothing of a system.
    assert!(!stdout(&outcome).contains("usr"), "{}", stdout(&outcome));
}
