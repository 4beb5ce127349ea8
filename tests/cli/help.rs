//! Help and versions.

use super::session::Session;

#[test]
fn every_command_has_help() {
    let mut session = Session::new();
    session.call(&["--help"]);
    for command in [
        "run", "exec", "wasm", "list", "show", "inspect", "prompt", "check", "test", "new", "pack", "add", "remove",
        "update", "setup", "programs", "tool", "session", "trust", "chat", "config",
    ] {
        session.call(&[command, "--help"]);
    }
    session.finish("help");
}

#[test]
fn help_is_an_answer_and_nothing_is_a_mistake() {
    let session = Session::new();
    let output = session.run(&["--version"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("wskill {}\n", env!("CARGO_PKG_VERSION")));
    for (arguments, status, on_stdout) in
        [(&["help"][..], 0, true), (&["help", "run"], 0, true), (&["exec", "-h"], 0, true), (&[], 2, false)]
    {
        let output = session.run(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        assert_eq!(output.stdout.is_empty(), !on_stdout, "{arguments:?}");
        assert_eq!(output.stderr.is_empty(), on_stdout, "{arguments:?}");
    }
}

#[test]
fn the_commands_are_listed() {
    let session = Session::new();
    let output = session.run(&["programs", "--json"]);
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = list.as_array().unwrap();
    for name in ["bash", "python3", "ls", "grep", "tar", "jq"] {
        let command = list.iter().find(|command| command["name"] == name).expect(name);
        assert!(command["module"].is_string() && command["version"].is_string(), "{command}");
    }
    let lines = String::from_utf8(session.run(&["programs"]).stdout).unwrap();
    assert_eq!(lines.lines().count(), list.len());
    let first = lines.lines().next().unwrap();
    assert_eq!(first.split_whitespace().next(), list[0]["name"].as_str());
}
