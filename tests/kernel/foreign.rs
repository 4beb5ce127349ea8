//! Modules that know only WASI: a working directory they cannot ask for, paths, arguments and environment.

use std::fs;

use wskill::{Input, Mount};

use super::support::{FOREIGN_TESTS, assert_success, block_on, builder, stderr, stdout};

/// Runs the foreign program in `cwd` of a workspace that holds `data.txt`, and gives what it left in the workspace.
fn run(cwd: &str, words: &[&str], input: Input) -> (wskill::Outcome, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("out")).unwrap();
    fs::create_dir_all(folder.path().join("work")).unwrap();
    fs::write(folder.path().join("work/data.txt"), "data").unwrap();
    let argv = ["foreign"].iter().chain(words).copied();
    let outcome = block_on(async {
        let mount = Mount::new(folder.path(), "/workspace").writable();
        let sandbox = builder().mount(mount).cwd(cwd).build().unwrap();
        sandbox.command(argv).module(FOREIGN_TESTS.clone()).stdin(input).run().await.unwrap()
    });
    (outcome, folder)
}

#[test]
fn relative_and_absolute_paths_mean_what_they_say() {
    let (outcome, folder) = run("/workspace/work", &["files"], Input::Empty);
    assert_success(&outcome);
    assert_eq!(fs::read_to_string(folder.path().join("out/x")).unwrap(), "absolute data");
    assert_eq!(fs::read_to_string(folder.path().join("work/made/below/moved.txt")).unwrap(), "relative data");
}

#[test]
fn the_working_directory_is_listed() {
    let (outcome, _) = run("/workspace/work", &["directories"], Input::Empty);
    assert_success(&outcome);
    assert_eq!(stdout(&outcome), "data.txt\n");
}

#[test]
fn standard_streams_arguments_and_status() {
    let data: Vec<u8> = (0..300_000u32).map(|number| (number % 253) as u8).collect();
    let (outcome, _) = run("/workspace", &["cat"], Input::Bytes(data.clone()));
    assert_success(&outcome);
    assert!(outcome.stdout == data);
    let (outcome, _) = run("/workspace", &["exit", "200"], Input::Empty);
    assert_eq!(outcome.exit_code, 200);
    let (outcome, _) = run("/workspace", &["none"], Input::Empty);
    assert_eq!((outcome.exit_code, stderr(&outcome).lines().count()), (1, 1));
}

#[test]
fn the_environment_is_the_sandbox_s() {
    let (outcome, _) = run("/workspace", &["environment"], Input::Empty);
    let text = stdout(&outcome);
    assert!(text.contains("PATH=/usr/local/bin:/usr/bin:/bin\n") && text.contains("PWD=/workspace\n"), "{text}");
    for name in ["CARGO", "RUST", "WSKILL"] {
        assert!(!text.contains(name), "{name} of the host is visible: {text}");
    }
}
