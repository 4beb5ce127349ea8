//! Limits as single modules meet them. What the installed tools make of them is tested elsewhere.

use std::time::{Duration, Instant};

use wskill::{LimitName, Limits, Outcome};

use super::support::{assert_success, block_on, builder, guest, limits, play, role, stdout};

fn limited(limits: Limits, words: &[&str]) -> Outcome {
    block_on(async {
        let sandbox = builder().limits(limits).build().unwrap();
        let outcome = play(&sandbox, words).await;
        sandbox.close().await;
        outcome
    })
}

fn hit(outcome: &Outcome, name: LimitName) -> bool {
    outcome.limits_hit.iter().any(|&(limit, _)| limit == name)
}

#[test]
fn wall_time_ends_computing_and_waiting() {
    for words in [["spin", ""], ["ready", ""], ["fork-bomb", ""], ["flood", ""]] {
        let began = Instant::now();
        let limits = Limits { wall_time: Some(Duration::from_millis(150)), output: 1 << 40, ..limits() };
        let outcome = limited(limits, &words);
        assert_eq!((outcome.exit_code, outcome.limit), (124, Some(LimitName::WallTime)), "{words:?}");
        assert!(began.elapsed() < Duration::from_secs(20), "{words:?} took {:?}", began.elapsed());
    }
}

#[test]
fn captured_output_is_cut_at_its_limit() {
    let outcome = limited(Limits { output: 100_000, ..limits() }, &["flood"]);
    assert_eq!((outcome.exit_code, outcome.limit), (137, Some(LimitName::Output)));
    assert_eq!(outcome.stdout.len(), 100_000);
    // Exactly the limit is no excess.
    let outcome = limited(Limits { output: 3, ..limits() }, &["say", "ab"]);
    assert_success(&outcome);
    assert_eq!(stdout(&outcome), "ab\n");
}

#[test]
fn spawns_are_counted_in_all() {
    let outcome = limited(Limits { spawns: 5, ..limits() }, &["nest", "10"]);
    assert_eq!(outcome.exit_code, 99);
    assert!(hit(&outcome, LimitName::Spawns));
    assert_eq!(outcome.processes, 5);
    assert_eq!(limited(Limits { spawns: 5, ..limits() }, &["nest", "4"]).exit_code, 42);
}

#[test]
fn processes_at_once_are_counted() {
    let outcome = limited(Limits { processes: 3, ..limits() }, &["nest", "5"]);
    assert_eq!(outcome.exit_code, 99);
    assert!(hit(&outcome, LimitName::Processes));
}

#[test]
fn memory_of_all_processes_is_counted() {
    let all = Limits { memory: 8 << 20, ..limits() };
    let outcome = limited(all, &["hoard"]);
    assert_success(&outcome);
    assert!(hit(&outcome, LimitName::Memory));
    assert!(outcome.peak_memory <= 8 << 20);
    // Too little for a second process: starting it is refused, and the parent goes on.
    let outcome = limited(Limits { memory: 2 << 20, ..limits() }, &["nest", "3"]);
    assert_eq!(outcome.exit_code, 99);
}

#[test]
fn fuel_is_exact_and_ends_a_run() {
    let fuel = |fuel: u64, words: &[&str]| {
        block_on(async {
            let limits = Limits { fuel: Some(fuel), ..limits() };
            let sandbox = builder().limits(limits).deterministic(1).build().unwrap();
            play(&sandbox, words).await
        })
    };
    let (one, other) = (fuel(1 << 40, &["nest", "3"]), fuel(1 << 40, &["nest", "3"]));
    assert_eq!((one.exit_code, other.exit_code), (42, 42));
    assert_eq!(one.fuel, other.fuel);
    let spent = one.fuel.unwrap();
    assert!(spent > 0);
    assert_eq!(fuel(spent, &["nest", "3"]).exit_code, 42);
    let outcome = fuel(spent / 2, &["nest", "3"]);
    assert_eq!((outcome.exit_code, outcome.limit), (137, Some(LimitName::Fuel)));
    let outcome = fuel(50_000_000, &["spin"]);
    assert_eq!((outcome.exit_code, outcome.limit), (137, Some(LimitName::Fuel)));
}

#[test]
fn giving_way_costs_no_fuel_but_its_own() {
    // Each return to the scheduler is charged ahead and settled later: ten thousand must not add up.
    let outcome = block_on(async {
        let limits = Limits { fuel: Some(200_000_000), ..limits() };
        let sandbox = builder().limits(limits).build().unwrap();
        sandbox.run([super::support::COMMAND, "giving_way"]).await.unwrap()
    });
    assert_success(&outcome);
}

#[test]
fn deterministic_runs_are_equal() {
    let run = |seed| {
        block_on(async {
            let sandbox = builder().deterministic(seed).build().unwrap();
            let outcome = sandbox.run(role(&["random"])).await.unwrap();
            assert_success(&outcome);
            stdout(&outcome)
        })
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_spinning_module_ends_with_its_sandbox() {
    block_on(async {
        let sandbox = builder().build().unwrap();
        let run = sandbox.command(["spin"]).module(guest("spin.wat")).run();
        assert!(tokio::time::timeout(Duration::from_millis(50), run).await.is_err());
        tokio::time::timeout(Duration::from_secs(20), sandbox.close()).await.expect("closing hangs");
    });
}
