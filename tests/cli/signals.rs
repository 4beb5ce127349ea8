//! Signals to wskill itself end the run and leave nothing behind.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::session::Session;

fn interrupt(arguments: &[&str], signal: &str) -> (Option<i32>, String, Session) {
    let session = Session::new();
    let mut command = session.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    // The guest says that it runs.
    stderr.read_exact(&mut [0; 6]).unwrap();
    let began = Instant::now();
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed() < Duration::from_secs(10));
    let mut text = String::new();
    stderr.read_to_string(&mut text).unwrap();
    if arguments.contains(&"--json") {
        text += &String::from_utf8_lossy(&output.stdout);
    }
    (output.status.code(), text, session)
}

#[test]
fn a_signal_ends_the_run_and_leaves_nothing() {
    let line = "echo half > out/x; echo ready >&2; sleep 100; echo never > out/y";
    for (signal, status, name) in [("-INT", 130, "SIGINT"), ("-TERM", 143, "SIGTERM"), ("-HUP", 129, "SIGHUP")] {
        let (code, text, session) = interrupt(&["exec", line], signal);
        assert_eq!((code, text), (Some(status), format!("wskill: interrupted by {name}\n")));
        assert_eq!(session.leftovers().len(), 0);
    }
    // A guest that computes is ended too.
    let (code, _, session) = interrupt(&["run", "python-math", "echo ready >&2; while :; do :; done"], "-INT");
    assert_eq!((code, session.leftovers().len()), (Some(130), 0));
}

#[test]
fn results_are_not_copied_from_a_run_that_was_broken_off() {
    let place = tempfile::tempdir().unwrap();
    let (results, workspace) = (place.path().join("results"), place.path().join("ws"));
    let line = "echo half > out/x; echo ready >&2; sleep 100";
    let arguments = ["exec", "--out-dir", results.to_str().unwrap(), "--workspace", workspace.to_str().unwrap(), line];
    let (code, ..) = interrupt(&arguments, "-TERM");
    assert_eq!(code, Some(143));
    assert!(!results.exists());
    // A workspace that the user named is the user's.
    assert!(workspace.join("out/x").exists());
}
