//! The example `agent`, as its users run it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::KEY;
use super::server::{Reply, Server};

/// The program, which `cargo test` builds with the tests.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples/agent");
    assert!(program.exists(), "{} is missing: `cargo build --example agent` makes it", program.display());
    program
}

/// A call in a folder whose `.env` has the settings.
fn command(folder: &Path, server: &Server, arguments: &[&str]) -> Command {
    let url = server.url();
    let text = format!("TRPC_AGENT_API_KEY={KEY}\nTRPC_AGENT_BASE_URL={url}\nTRPC_AGENT_MODEL_NAME=test-model\n");
    std::fs::write(folder.join(".env"), text).unwrap();
    let mut command = Command::new(program());
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    for name in ["TRPC_AGENT_API_KEY", "TRPC_AGENT_BASE_URL", "TRPC_AGENT_MODEL_NAME", "OPENAI_API_KEY"] {
        command.env_remove(name);
    }
    command.env("SKILLS_ROOT", Path::new(env!("CARGO_MANIFEST_DIR")).join("skills")).env("TMPDIR", folder);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn call(command: &str) -> Reply {
    let arguments = serde_json::json!({"skill": "python-math", "command": command}).to_string();
    Reply::calls(&[("c1", "skill_run", &arguments)])
}

#[test]
fn a_question_is_answered_with_a_skill() {
    let folder = tempfile::tempdir().unwrap();
    let load = Reply::calls(&[("c0", "skill_load", r#"{"skill": "python-math"}"#)]);
    let server =
        Server::start(vec![load, call("python3 scripts/fib.py 5 | tail -1"), Reply::says("It is \u{1b}[2J3.")]);
    let output = command(folder.path(), &server, &["--transcript=talk.jsonl", "the", "fifth?"]).output().unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{stderr}");
    assert_eq!(stdout, "It is [2J3.\n");
    assert!(stderr.contains("[skill_run {") && stderr.contains("[skill_run took "), "{stderr}");
    // The agent's own words, and those of the toolset.
    let messages = server.messages(1);
    let system = messages[0]["content"].as_str().unwrap();
    assert!(system.starts_with("You are an assistant") && system.contains("[Loaded] python-math\n"), "{system}");
    assert_eq!(messages[1]["content"], "the fifth?");
    let results = server.messages(2);
    let result = results.last().unwrap()["content"].as_str().unwrap();
    assert!(result.contains(r#""stdout":"3\n""#), "{result}");
    let kept = std::fs::read_to_string(folder.path().join("talk.jsonl")).unwrap();
    assert!(kept.lines().count() == 6 && !kept.contains(KEY) && !stderr.contains(KEY), "{kept}");
}

#[test]
fn local_is_asked_for_by_name_and_warns() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(vec![call("pwd"), Reply::says("There.")]);
    let output = command(folder.path(), &server, &["--executor", "local", "where?"]).output().unwrap();
    let stderr = text(&output.stderr);
    assert!(
        output.status.success() && stderr.contains("warning: commands of skills run without a sandbox"),
        "{stderr}"
    );
    let result = server.messages(1).last().unwrap()["content"].as_str().unwrap().to_owned();
    let place = folder.path().canonicalize().unwrap().join("wskill-local");
    assert!(result.contains(place.to_str().unwrap()), "{result}");
    assert_eq!(std::fs::read_dir(place).unwrap().count(), 0, "the workspace is left behind");
}

#[test]
fn wrong_calls_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Vec::new());
    let explained = |output: Output, expected: &str| {
        let stderr = text(&output.stderr);
        assert!(output.status.code() == Some(1) && stderr.contains(expected), "{stderr}");
    };
    for (arguments, expected) in [
        (&["--executor", "moon"][..], "there are sandbox, local and container"),
        (&["--executor"], "--executor: a value is missing"),
        (&["--fly"], "unknown option `--fly`"),
    ] {
        explained(command(folder.path(), &server, arguments).output().unwrap(), expected);
    }
    let mut container = command(folder.path(), &server, &["--executor", "container", "hi"]);
    explained(container.env("PATH", folder.path()).output().unwrap(), "needs Docker or Podman");
    let mut bare = command(folder.path(), &server, &["hi"]);
    std::fs::remove_file(folder.path().join(".env")).unwrap();
    explained(bare.output().unwrap(), "TRPC_AGENT_API_KEY");
    let help = command(folder.path(), &server, &["--help"]).output().unwrap();
    assert!(help.status.success() && text(&help.stdout).starts_with("usage: agent "));
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_the_run_and_not_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(vec![call("sleep 600"), Reply::says("Still here.")]);
    let mut command = command(folder.path(), &server, &[]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    writeln!(input, "first").unwrap();
    assert!(stderr.any(|line| line.starts_with("[skill_run {")));
    let began = Instant::now();
    interrupt(&child);
    assert!(stderr.any(|line| line == "[stopped]"));
    assert!(began.elapsed() < Duration::from_secs(60), "the run went on for {:?}", began.elapsed());
    writeln!(input, "second").unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("\nStill here.\n", Some(0)));
    let roles: Vec<_> = server.messages(1).iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user"]);
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}
