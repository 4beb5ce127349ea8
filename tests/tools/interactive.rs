//! Commands that are started and talked to.

use serde_json::json;

use super::support::Place;

#[tokio::test]
async fn a_command_that_ends_at_once_is_a_result() {
    let place = Place::new();
    let tools = place.tools().await;
    let call = json!({"skill": "notes", "command": "echo hi; echo bad >&2; echo x > out/x; exit 4"});
    let result = tools.call("skill_exec", call).await;
    assert_eq!((&result["status"], &result["exit_code"]), (&json!("exited"), &json!(4)), "{result}");
    assert_eq!(result["output"], "hi\nbad\n");
    assert_eq!(result["result"]["output_files"][0]["name"], "out/x");
    assert_eq!((&result["offset"], &result["next_offset"]), (&json!(0), &json!(2)));
}

#[tokio::test]
async fn a_question_is_answered() {
    let place = Place::new();
    let tools = place.tools().await;
    let command = "printf 'Name: '; read name; echo \"Hello $name\"; echo $name > out/name";
    let call = json!({"skill": "notes", "command": command, "yield_time_ms": 20000});
    let began = std::time::Instant::now();
    let result = tools.call("skill_exec", call).await;
    assert!(began.elapsed().as_secs() < 15, "a question is seen before the time is over");
    assert_eq!((&result["status"], &result["output"]), (&json!("running"), &json!("Name: ")), "{result}");
    assert_eq!(result["interaction"], json!({"needs_input": true, "kind": "prompt", "hint": "Name:"}));
    let id = result["session_id"].clone();
    let call = json!({"sessionId": id, "chars": "Ada", "submit": true, "yield_ms": 20000});
    let result = tools.call("skill_write_stdin", call).await;
    assert_eq!((&result["status"], &result["output"]), (&json!("exited"), &json!("Hello Ada\n")), "{result}");
    assert_eq!(result["result"]["output_files"][0]["content"], "Ada\n");
    // Its files are told once.
    let result = tools.call("skill_poll_session", json!({"session_id": id})).await;
    assert_eq!((&result["output"], result.get("result")), (&json!(""), None));
    let result = tools.call("skill_kill_session", json!({"session_id": id})).await;
    assert_eq!(result, json!({"ok": true, "session_id": id, "status": "exited"}));
    assert!(tools.error("skill_poll_session", json!({"session_id": id})).await.contains("unknown session_id"));
}

#[tokio::test]
async fn a_terminal_is_one() {
    let place = Place::new();
    let tools = place.tools().await;
    let command = "test -t 0 && test -t 1 && python3 -c 'import sys; print(sys.stdin.isatty(), input(\"? \"))'";
    let call = json!({"skill": "notes", "command": command, "tty": true, "yield_time_ms": 20000});
    let result = tools.call("skill_exec", call).await;
    assert_eq!(result["output"], "? ", "{result}");
    let call = json!({"session_id": result["session_id"], "chars": "x\n", "yield_time_ms": 20000});
    let result = tools.call("skill_write_stdin", call).await;
    // What is typed is echoed.
    assert_eq!((&result["output"], &result["exit_code"]), (&json!("x\nTrue x\n"), &json!(0)), "{result}");
}

#[tokio::test]
async fn output_is_paged_and_commands_are_killed() {
    let place = Place::new();
    let tools = place.tools().await;
    let call = json!({"skill": "notes", "command": "seq 100; sleep 100", "poll_lines": 3});
    let result = tools.call("skill_exec", call).await;
    assert_eq!((&result["output"], &result["next_offset"]), (&json!("1\n2\n3\n"), &json!(3)), "{result}");
    let poll = json!({"session_id": result["session_id"], "poll_lines": 2, "yield_time_ms": 0});
    let result = tools.call("skill_poll_session", poll).await;
    assert_eq!(
        (&result["output"], &result["offset"], &result["next_offset"]),
        (&json!("4\n5\n"), &json!(3), &json!(5))
    );
    let result = tools.call("skill_kill_session", json!({"session_id": result["session_id"]})).await;
    assert_eq!(result["status"], "killed");
}

#[tokio::test]
async fn commands_run_in_the_workspace_too() {
    let place = Place::new();
    let tools = place.tools().await;
    tools.call("skill_load", json!({"skill": "notes"})).await;
    let call = json!({"command": "pwd; ls; cat; ls skills", "stdin": "in\n"});
    let result = tools.call("workspace_exec", call).await;
    let listed = "/workspace\nmetadata.json\nout\nruns\nskills\nwork\nin\nnotes\n";
    assert_eq!((&result["output"], &result["exit_code"]), (&json!(listed), &json!(0)), "{result}");
    assert_eq!((&result["status"], result.get("session_id")), (&json!("exited"), None));
    let result = tools.call("workspace_exec", json!({"command": "pwd", "cwd": "skills/notes/scripts"})).await;
    assert_eq!(result["output"], "/workspace/skills/notes/scripts\n");
    for (cwd, reason) in [("../x", "leads out"), ("/etc", "is in none of"), ("work/*", "is a pattern")] {
        let error = tools.error("workspace_exec", json!({"command": "pwd", "cwd": cwd})).await;
        assert!(error.starts_with("workspace_exec: cwd: ") && error.contains(reason), "{error}");
    }
    let result = tools.call("workspace_exec", json!({"command": "sleep 100", "timeoutSec": 0.05})).await;
    assert_eq!((&result["timed_out"], &result["exit_code"]), (&json!(true), &json!(124)));
    let result = tools.call("workspace_exec", json!({"command": "seq 9000"})).await;
    assert_eq!((&result["truncated"], &result["total_bytes"]), (&json!(true), &json!(43893)));
    let result = tools.call("workspace_exec", json!({"command": "read a; echo got $a", "background": true})).await;
    assert_eq!(result["status"], "running");
    let write = json!({"session_id": result["session_id"], "chars": "b", "append_newline": true, "yield": 20000});
    assert_eq!(tools.call("workspace_write_stdin", write).await["output"], "got b\n");
}
