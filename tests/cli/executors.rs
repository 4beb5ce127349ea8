//! `--executor`: the same tools over other executors, each with sessions of its own.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use super::session::Session;

const WARNING: &str = "wskill: warning: commands of skills run without a sandbox";
/// Tells whether it runs on this machine's own kernel, and where.
const RUN: &str = r#"{"skill": "python-math", "command": "test -e /proc/self/status && pwd && echo x > out/x"}"#;

/// A call that finds programs in the folder `path` first.
fn call(session: &Session, path: &Path, arguments: &[&str]) -> Output {
    let system = std::env::var("PATH").unwrap_or_default();
    let mut command = session.command(arguments);
    command.env("XDG_STATE_HOME", session.path("state")).env("PATH", format!("{}:{system}", path.display()));
    command.output().unwrap()
}

fn names(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{}", text(&output.stderr));
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn result(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn local_warns_and_runs_on_this_machine() {
    let session = Session::new();
    let here = session.path("state");
    let output = call(&session, &here, &["tool", "--executor", "local", "skill_run", RUN]);
    let ran = result(&output);
    assert!(text(&output.stderr).starts_with(WARNING), "{}", text(&output.stderr));
    let cwd = ran["stdout"].as_str().unwrap().trim_end();
    assert!(Path::new(cwd).starts_with(here.canonicalize().unwrap()), "{cwd}");
    assert_eq!(ran["output_files"][0]["name"], "out/x");

    let list = ["session", "list", "--json"];
    assert!(names(&call(&session, &here, &list)).is_empty(), "a session of another executor is listed");
    let local = [&list[..], &["--executor", "local"]].concat();
    assert_eq!(names(&call(&session, &here, &local)), ["default"]);
    assert!(call(&session, &here, &["session", "rm", "default", "--executor", "local"]).status.success());
    assert!(!Path::new(cwd).exists() && names(&call(&session, &here, &local)).is_empty());
}

#[test]
fn the_sandbox_is_the_default_and_warns_of_nothing() {
    let session = Session::new();
    let line = r#"{"skill": "python-math", "command": "pwd"}"#;
    for arguments in [&["tool", "skill_run", line][..], &["tool", "--executor", "sandbox", "skill_run", line]] {
        let output = call(&session, &session.path("state"), arguments);
        assert_eq!(result(&output)["stdout"], "/workspace/skills/python-math\n");
        assert_eq!(text(&output.stderr), "");
    }
}

#[test]
fn container_needs_docker_or_podman() {
    let session = Session::new();
    let mut command = session.command(&["tool", "--executor", "container", "skill_run", RUN]);
    let output =
        command.env("XDG_STATE_HOME", session.path("state")).env("PATH", session.path("tmp")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let expected = "wskill: error: --executor container: needs Docker or Podman; neither `docker` nor `podman` is in \
                    $PATH\n";
    assert_eq!(text(&output.stderr), expected);
}

#[test]
fn container_runs_commands_with_the_program_in_the_path() {
    let session = Session::new();
    let fake = session.path("bin");
    std::fs::create_dir(&fake).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/executors/fake_cli.sh");
    std::fs::copy(script, fake.join("docker")).unwrap();
    let run = r#"{"skill": "python-math", "command": "cat SKILL.md | head -n 1; echo x > out/x"}"#;
    let output = call(&session, &fake, &["tool", "--executor", "container", "skill_run", run]);
    let ran = result(&output);
    assert_eq!((ran["stdout"].as_str(), ran["output_files"][0]["name"].as_str()), (Some("---\n"), Some("out/x")));
    assert_eq!(text(&output.stderr), "");
    let calls = std::fs::read_to_string(fake.join("fake/calls")).unwrap();
    assert!(calls.contains("--network none ") && calls.contains("python:3.13-slim"), "{calls}");
    assert!(call(&session, &fake, &["session", "--executor", "container", "rm", "default"]).status.success());
    let calls = std::fs::read_to_string(fake.join("fake/calls")).unwrap();
    assert!(calls.lines().last().unwrap().starts_with("rm "), "{calls}");
}

#[test]
fn others_are_refused() {
    let session = Session::new();
    let output = call(&session, &session.path("state"), &["chat", "--executor", "moon", "hi"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("sandbox, local, container"), "{}", text(&output.stderr));
}

#[cfg(feature = "agent")]
#[test]
fn a_chat_over_local_warns_too() {
    use crate::server::{Reply, Server};
    let session = Session::new();
    let server = Server::start(vec![Reply::calls(&[("c1", "skill_run", RUN)]), Reply::says("Done.")]);
    let mut command = session.command(&["chat", "--executor", "local", "hi"]);
    command.env("XDG_STATE_HOME", session.path("state")).env("TRPC_AGENT_API_KEY", "sk-secret-for-this-test");
    command.env("TRPC_AGENT_BASE_URL", server.url()).env("TRPC_AGENT_MODEL_NAME", "test-model");
    let output = command.output().unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(stdout == "Done.\n" && stderr.starts_with(WARNING), "{stdout}{stderr}");
    let messages = server.messages(1);
    let answered = messages.last().unwrap()["content"].as_str().unwrap();
    assert!(answered.contains(session.path("state").canonicalize().unwrap().to_str().unwrap()), "{answered}");
}
