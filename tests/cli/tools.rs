//! `wskill tool`, `wskill session` and `wskill chat`: each call is a process of its own.

use std::process::Output;

use serde_json::{Value, json};

use super::session::Session;

/// Calls that keep their state in the session's folder.
fn call(session: &Session, arguments: &[&str]) -> Output {
    session.command(arguments).env("XDG_STATE_HOME", session.path("state")).output().unwrap()
}

fn answer(session: &Session, arguments: &[&str]) -> Value {
    let output = call(session, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn failure(session: &Session, arguments: &[&str]) -> String {
    let output = call(session, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_session_goes_on_from_call_to_call() {
    let session = Session::new();
    let load = r#"{"skill": "python-math"}"#;
    assert_eq!(answer(&session, &["tool", "skill_load", load, "--session", "a"]), "skill 'python-math' loaded");
    let run = r#"{"skill": "python-math", "command": "python3 scripts/fib.py 3 > out/f; cat out/f"}"#;
    let result = answer(&session, &["tool", "skill_run", run, "--session", "a"]);
    assert_eq!((&result["stdout"], &result["output_files"][0]["name"]), (&json!("0\n1\n1\n"), &json!("out/f")));
    let read = r#"{"path": "out/f", "start_line": 2}"#;
    assert_eq!(answer(&session, &["tool", "workspace_read", read, "--session", "a"])["content"], "1\n1\n");
    let shown = answer(&session, &["session", "show", "a"]);
    assert_eq!(shown["loaded"], json!([{"name": "python-math", "docs": [], "tools": []}]));
    assert_eq!(shown["workspace"]["skills"]["python-math"]["mounted"], true);
    assert!(call(&session, &["session", "fork", "a", "b"]).status.success());
    let edit = r#"{"path": "out/f", "old_text": "0", "new_text": "9"}"#;
    answer(&session, &["tool", "workspace_edit", edit, "--session", "b"]);
    let read = r#"{"path": "out/f", "end_line": 1}"#;
    assert_eq!(answer(&session, &["tool", "workspace_read", read, "--session", "a"])["content"], "0\n");
    assert_eq!(answer(&session, &["tool", "workspace_read", read, "--session", "b"])["content"], "9\n");
    let names = |list: Value| list.as_array().unwrap().iter().map(|one| one["name"].clone()).collect::<Vec<_>>();
    assert_eq!(names(answer(&session, &["session", "list", "--json"])), ["a", "b"]);
    assert!(call(&session, &["session", "rm", "a"]).status.success());
    assert_eq!(names(answer(&session, &["session", "list", "--json"])), ["b"]);
    assert_eq!(answer(&session, &["tool", "workspace_read", read, "--session", "b"])["content"], "9\n");
}

#[test]
fn what_the_user_has_set_holds() {
    let session = Session::new();
    session.file(
        "config/wskill/wskill.toml",
        "[policy]\ndenied_commands = [\"rm\"]\n[trust]\nmode = \"known\"\n[skill.python-math]\nlimits.wall_time = 60\nenv.GREETING = \"hi\"\n",
    );
    let call = |arguments: &[&str]| {
        let mut command = session.command(arguments);
        command.env("XDG_STATE_HOME", session.path("state")).env("XDG_CONFIG_HOME", session.path("config"));
        command.output().unwrap()
    };
    let run = r#"{"skill": "python-math", "command": "rm x; echo $GREETING"}"#;
    let refused = call(&["tool", "skill_run", run]);
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("the skill `python-math` is not trusted") && text.contains("wskill trust"), "{text}");
    assert!(call(&["trust", "python-math"]).status.success());
    let result: Value = serde_json::from_slice(&call(&["tool", "skill_run", run]).stdout).unwrap();
    assert_eq!(result["stdout"], "hi\n");
    assert!(result["stderr"].as_str().unwrap().contains("rm: not allowed by the policy of this sandbox"), "{result}");
    assert!(String::from_utf8(call(&["trust"]).stdout).unwrap().starts_with("python-math  sha256:"));
    assert!(call(&["trust", "--remove", "python-math"]).status.success());
    assert!(!call(&["tool", "skill_run", run]).status.success());
}

#[test]
fn tools_are_listed_and_wrong_calls_explained() {
    let session = Session::new();
    let specs = answer(&session, &["tool", "--profile", "run"]);
    assert_eq!(specs.as_array().unwrap().len(), 7);
    assert!(specs[0]["parameters"]["properties"].is_object());
    for (arguments, expected) in [
        (&["tool", "skill_fly"][..], "there is no tool `skill_fly`; there are skill_list"),
        (&["tool", "skill_run", "{"], "skill_run: arguments: they are no JSON"),
        (&["tool", "skill_run", r#"{"skill": "python-math"}"#], "skill_run: arguments: missing field `command`"),
        (&["tool", "skill_load", r#"{"skill": "x"}"#], "unknown skill `x`"),
        (&["session", "show", "none"], "unknown session `none`"),
        (&["session", "rm", "none"], "unknown session `none`"),
        (&["tool", "--session", "", "skill_list"], "--session: the name of the session is empty"),
    ] {
        let text = failure(&session, arguments);
        assert!(text.starts_with("wskill: error: ") && text.contains(expected), "{arguments:?}: {text}");
    }
    let go = r#"{"skill": "python-math"}"#;
    assert_eq!(answer(&session, &["tool", "--compat", "go", "skill_load", go]), "loaded: python-math");
}

#[cfg(feature = "agent")]
mod chat {
    use super::*;

    use crate::server::{Reply, Server};

    const KEY: &str = "sk-secret-for-this-test";

    fn chat(session: &Session, server: &Server, arguments: &[&str]) -> Output {
        let mut command = session.command(&[&["chat"], arguments].concat());
        command.env("XDG_STATE_HOME", session.path("state"));
        command.env("TRPC_AGENT_API_KEY", KEY).env("TRPC_AGENT_BASE_URL", server.url());
        command.env("TRPC_AGENT_MODEL_NAME", "test-model").output().unwrap()
    }

    #[test]
    fn a_model_loads_a_skill_and_runs_it() {
        let session = Session::new();
        let server = Server::start(vec![
            Reply::calls(&[("c1", "skill_load", r#"{"skill": "python-math"}"#)]),
            Reply::calls(&[(
                "c2",
                "skill_run",
                r#"{"skill": "python-math", "command": "python3 scripts/fib.py 4; env"}"#,
            )]),
            Reply::says("The numbers are 0 1 1 2."),
        ]);
        let transcript = session.name("talk.jsonl");
        let output = chat(&session, &server, &["--transcript", &transcript, "four", "numbers"]);
        let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success(), "{stderr}");
        assert_eq!(stdout, "The numbers are 0 1 1 2.\n");
        assert!(stderr.contains("skill_run {") && stderr.contains("skill_load took "), "{stderr}");
        let requests = server.requests();
        let system = requests[0].body["messages"][0]["content"].as_str().unwrap();
        assert!(system.contains("Available skills:") && !system.contains("[Loaded] python-math"), "{system}");
        let system = requests[1].body["messages"][0]["content"].as_str().unwrap();
        assert!(system.contains("[Loaded] python-math\n"), "{system}");
        let results = server.messages(2);
        let result = results.last().unwrap()["content"].as_str().unwrap();
        assert!(result.contains("0\\n1\\n1\\n2\\n"), "{result}");
        let kept = std::fs::read_to_string(transcript).unwrap();
        // The key reaches neither the sandbox nor what is kept.
        assert!(!result.contains(KEY) && !kept.contains(KEY) && !stderr.contains(KEY) && kept.lines().count() >= 5);
    }

    #[test]
    fn code_of_an_answer_runs_in_the_sandbox_if_asked() {
        let session = Session::new();
        let text = "Here:\n```python\nprint(6 * 7)\n```\n```bash\necho $((1 + 1)) > ../out/x; cat ../out/x\n```\n```sql\nselect\n```\n";
        let server = Server::start(vec![Reply::says(text), Reply::says(text)]);
        let output = chat(&session, &server, &["--run-code-blocks", "hi"]);
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(stdout.ends_with("42\n2\n"), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
        let output = chat(&session, &server, &["hi"]);
        assert!(String::from_utf8(output.stdout).unwrap().ends_with("```\n\n"));
    }

    #[test]
    fn what_is_missing_is_said() {
        let session = Session::new();
        let mut command = session.command(&["chat", "hi"]);
        for name in ["TRPC_AGENT_API_KEY", "OPENAI_API_KEY", "TRPC_AGENT_MODEL_NAME", "OPENAI_MODEL_NAME"] {
            command.env_remove(name);
        }
        let output = command.env("XDG_STATE_HOME", session.path("state")).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8(output.stderr).unwrap().contains("TRPC_AGENT_API_KEY"));
    }
}
