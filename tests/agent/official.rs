//! The server of these tests, checked with the official Python client: what it accepts is the real protocol.
//!
//! It needs the network to install the client, so it runs only when asked for with `WSKILL_CLIENT_TESTS=1`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::KEY;
use super::server::{Reply, Server, delta, finish, text, usage};

/// The version that this was written against.
const CLIENT: &str = "openai==3.57.0";

#[test]
fn the_official_client_understands_the_server() {
    let python = match client() {
        Ok(python) => python,
        Err(reason) => return eprintln!("skipped: {reason}"),
    };
    let whole = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "test-model",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Whole"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    });
    let hello = [
        delta(json!({"role": "assistant", "content": ""})),
        text("Grüße, "),
        text("\u{1f600}!"),
        finish("stop"),
        usage(10, 4, 3),
    ];
    let server = Server::start(vec![
        Reply::chunks(&hello),
        Reply::calls(&[("call_a", "run", "{\"command\": \"ls ü\"}"), ("call_b", "list", "{}")]),
        Reply::json(200, &whole),
        Reply::error(401, "Incorrect API key provided.", "invalid_api_key"),
        // The client tries again.
        Reply::status(429, &[("retry-after-ms", "1")], "{}"),
        Reply::says("After"),
        Reply::stream().data(&json!({"error": {"message": "No.", "type": "server_error"}})).done(),
    ]);
    let mut command = Command::new(python);
    command.args(["-c", include_str!("official.py"), &server.url()]);
    command.env("OPENAI_API_KEY", KEY).env("NO_PROXY", "127.0.0.1");
    let output = succeed(&mut command).unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        found,
        json!({
            "hello": {"text": "Grüße, \u{1f600}!", "finish": "stop", "usage": [10, 4, 3]},
            "calls": {
                "calls": [["call_a", "run", "{\"command\": \"ls ü\"}"], ["call_b", "list", "{}"]],
                "finish": "tool_calls",
            },
            "whole": "Whole",
            "refused": ["AuthenticationError", 401, "invalid_api_key"],
            "retried": "After",
            "broken": ["APIError", "No."],
        })
    );
    let requests = server.requests();
    assert_eq!(requests.len(), 7);
    for request in &requests {
        assert_eq!(request.target, "POST /v1/chat/completions");
        assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    }
    // What the client sends for the same things is what ours sends.
    let body = json!({
        "model": "test-model", "messages": [{"role": "user", "content": "Hello"}], "stream": true,
        "stream_options": {"include_usage": true},
    });
    assert_eq!(requests[0].body, body);
    let function = json!({"name": "run", "description": "Runs.", "parameters": {"type": "object", "properties": {}}});
    assert_eq!(requests[1].body["tools"], json!([{"type": "function", "function": function}]));
}

/// A Python that has the client, or why there is none.
fn client() -> Result<PathBuf, String> {
    if std::env::var_os("WSKILL_CLIENT_TESTS").is_none_or(|value| value != "1") {
        return Err("set WSKILL_CLIENT_TESTS=1 to install the official client and run this".to_owned());
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(CLIENT);
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let has_client = || succeed(Command::new(&python).args(["-c", "import openai"])).is_ok();
    if !has_client() {
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        succeed(Command::new(&python).args(["-m", "pip", "install", "--quiet", CLIENT]))?;
    }
    Ok(python)
}

fn succeed(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        Ok(output)
    } else {
        Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}
