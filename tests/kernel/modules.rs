//! Modules that no compiler for this sandbox makes: what is refused, with which words, and what runs all the same.

use std::fs;

use wskill::{LimitName, Mount, Outcome};

use super::support::{assert_success, block_on, builder, guest, limits, run_module, stderr, stdout};

/// Refused before it runs: status 126 and one line that has these words.
#[track_caller]
fn refused(outcome: &Outcome, words: &[&str]) {
    let said = stderr(outcome);
    assert_eq!(outcome.exit_code, 126, "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    for word in words {
        assert!(said.contains(word), "`{word}` is not in: {said}");
    }
}

#[test]
fn modules_that_cannot_be_started() {
    refused(&run_module(guest("no-start.wat"), &["m"]), &["_start"]);
    refused(&run_module(guest("wrong-start.wat"), &["m"]), &[]);
    refused(&run_module(guest("unknown-import.wat"), &["m"]), &["env", "does_not_exist"]);
    refused(&run_module(guest("wrong-import.wat"), &["m"]), &["fd_close"]);
    refused(&run_module(guest("imported-memory.wat"), &["m"]), &["memory"]);
    refused(&run_module(guest("wasi-unstable.wat"), &["m"]), &["wasi_unstable"]);
    refused(&run_module(guest("threads.wat"), &["m"]), &["threads"]);
    refused(&run_module(b"\0asm\x01\0\0\0garbage".to_vec(), &["m"]), &[]);
    refused(&run_module(b"no module at all".to_vec(), &["m"]), &[]);
    refused(&run_module(Vec::new(), &["m"]), &[]);
}

#[test]
fn files_that_cannot_be_started() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("component"), guest("component.wat")).unwrap();
    fs::write(folder.path().join("threads"), guest("threads.wat")).unwrap();
    fs::write(folder.path().join("elf"), b"\x7fELF\x02\x01\x01\0\0\0").unwrap();
    let run = |name: &str| {
        let mount = Mount::new(folder.path(), "/modules");
        block_on(async { builder().mount(mount).build().unwrap().run([format!("/modules/{name}")]).await.unwrap() })
    };
    refused(&run("component"), &["component"]);
    refused(&run("threads"), &["threads"]);
    refused(&run("elf"), &["binary"]);
    let missing = run("missing");
    assert_eq!((missing.exit_code, stderr(&missing).lines().count()), (127, 1));
}

#[test]
fn the_limit_of_a_module_s_size() {
    let outcome = block_on(async {
        let limits = wskill::Limits { module: 8, ..limits() };
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("large"), guest("spin.wat")).unwrap();
        let sandbox = builder().limits(limits).mount(Mount::new(folder.path(), "/m")).build().unwrap();
        sandbox.run(["/m/large"]).await.unwrap()
    });
    refused(&outcome, &["limit"]);
    assert!(outcome.limits_hit.iter().any(|(name, _)| *name == LimitName::Module));
}

#[test]
fn every_exit_code_arrives() {
    let exit = |code: u32| {
        let text = format!(
            r#"(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
                 (memory (export "memory") 1)
                 (func (export "_start") (call $exit (i32.const {code}))))"#
        );
        run_module(wat::parse_str(text).unwrap(), &["m"])
    };
    for code in [0, 1, 2, 125, 126, 127, 128, 130, 254, 255] {
        let outcome = exit(code);
        assert_eq!((u32::from(outcome.exit_code), outcome.stderr.as_slice()), (code, &b""[..]));
    }
    for (code, seen) in [(256, 0), (257, 1), (511, 255), (u32::MAX, 255), (1 << 31, 0)] {
        assert_eq!(exit(code).exit_code, seen, "{code}");
    }
}

#[test]
fn a_module_without_memory() {
    let outcome = run_module(guest("no-memory.wat"), &["m"]);
    assert_eq!(outcome.exit_code, 7, "{}", stderr(&outcome));
}

#[test]
fn start_functions_are_part_of_the_program() {
    let outcome = run_module(guest("start-function.wat"), &["m"]);
    assert_success(&outcome);
    assert_eq!(stdout(&outcome), "hi\nhi\n");
    assert_eq!(run_module(guest("start-exit.wat"), &["m"]).exit_code, 9);
    let outcome = block_on(async {
        let limits = wskill::Limits { wall_time: Some(std::time::Duration::from_millis(100)), ..limits() };
        let sandbox = builder().limits(limits).build().unwrap();
        let outcome = sandbox.command(["m"]).module(guest("start-spin.wat")).run().await.unwrap();
        sandbox.close().await;
        outcome
    });
    assert_eq!((outcome.exit_code, outcome.limit), (124, Some(LimitName::WallTime)));
}

#[test]
fn memory_that_is_not_to_be_had() {
    refused(&run_module(guest("all-memory.wat"), &["m"]), &["memory"]);
    refused(&run_module(guest("large-table.wat"), &["m"]), &[]);
    assert_success(&run_module(guest("grow.wat"), &["m"]));
}
