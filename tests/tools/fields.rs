//! Fields of calls that the other tests leave out, and that no field is without a test.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use wskill::tools::ToolName;

use super::support::Place;

#[tokio::test]
async fn every_field_of_a_schema_is_in_a_test() {
    let tests = [
        include_str!("documents.rs"),
        include_str!("fields.rs"),
        include_str!("files.rs"),
        include_str!("inputs.rs"),
        include_str!("interactive.rs"),
        include_str!("outputs.rs"),
        include_str!("run.rs"),
        include_str!("use_skill.rs"),
    ]
    .concat();
    let place = Place::new();
    let tools = place.tools_with(|options| options.with(ToolName::Skill)).await;
    let mut missing = BTreeSet::new();
    for spec in tools.0.specs() {
        assert!(tests.contains(&format!("\"{}\"", spec.name)), "{} is not called", spec.name);
        let mut open = vec![&spec.parameters];
        while let Some(schema) = open.pop() {
            for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                let described = field["description"].as_str().is_some_and(|text| text.ends_with('.'));
                assert!(described, "{}.{name} is not described: {field}", spec.name);
                if !tests.contains(&format!("\"{name}\":")) && !tests.contains(&format!("\"{name}\"]")) {
                    missing.insert(format!("{}.{name}", spec.name));
                }
                open.extend([field, &field["items"]]);
                open.extend(field["anyOf"].as_array().into_iter().flatten());
            }
        }
    }
    assert_eq!(missing, BTreeSet::new());
}

#[tokio::test]
async fn commands_that_are_started_take_what_skill_run_takes() {
    let place = Place::new();
    let tools = place.tools().await;
    tools.call("workspace_write", json!({"path": "work/in.txt", "content": "in"})).await;
    let result = tools
        .call(
            "skill_exec",
            json!({
                "skill": "notes",
                "command": "cat - inputs/in.txt; echo $A; printf x > f; $EDITOR f; cat f; cp f $WORK_DIR/r.txt",
                "cwd": "/work", "env": {"A": "1"}, "stdin": "", "editor_text": "edited", "timeout": 30,
                "inputs": [{"from": "workspace://work/in.txt"}],
                "outputs": {"globs": ["work/r.txt"], "inline": true, "images": true, "max_total_bytes": 3},
                "artifact_prefix": "p-", "save_as_artifacts": true, "omit_inline_content": false,
                "yield_time_ms": 0,
            }),
        )
        .await;
    let id = result["session_id"].clone();
    let mut result =
        tools.call("skill_write_stdin", json!({"session_id": id, "close": true, "yield_time_ms": 20000})).await;
    while result["status"] == "running" {
        result = tools.call("skill_poll_session", json!({"session_id": id, "yield_time_ms": 20000})).await;
    }
    let result = &result["result"];
    let file = &result["manifest"]["files"][0];
    assert_eq!(
        (&file["content"], &file["truncated"], &file["size_bytes"]),
        (&json!("edi"), &json!(true), &json!(6)),
        "{result}"
    );
    assert_eq!(result["manifest"]["limits_hit"], true);
    assert!(result["warnings"].to_string().contains("work/r.txt is not saved as an artifact"));
}

#[tokio::test]
async fn images_come_back_when_they_are_asked_for() {
    let place = Place::new();
    let tools = place.tools().await;
    let command = "printf '\\x89PNG\\r\\n\\x1a\\nrest' > out/p.png";
    let run = |images: bool| json!({"skill": "notes", "command": command, "outputs": {"globs": ["out/p.png"], "inline": true, "images": images}});
    let file = |result: &Value| result["output_files"][0].clone();
    let shown = file(&tools.call("skill_run", run(true)).await);
    assert_eq!((&shown["content"], &shown["encoding"]), (&json!("iVBORw0KGgpyZXN0"), &json!("base64")));
    assert_eq!(file(&tools.call("skill_run", run(false)).await).get("content"), None);
}

#[tokio::test]
async fn skills_are_found_by_words() {
    let place = Place::new();
    let tools = place.tools().await;
    let hits = tools.call("skill_search", json!({"query": "keeping notes", "limit": 1})).await;
    assert_eq!(hits.as_array().unwrap().len(), 1);
    assert_eq!((&hits[0]["name"], &hits[0]["description"]), (&json!("notes"), &json!("Keeps notes.")));
    assert_eq!(tools.error("skill_search", json!({"query": " "})).await, "skill_search: query: must not be empty");
}

#[tokio::test]
async fn code_takes_the_fields_of_runs_and_commands_are_ended() {
    let place = Place::new();
    let tools = place.tools().await;
    let code = json!({
        "code": "echo $A; cat; echo x > f", "language": "bash", "stdin": "s", "env": {"A": "1"},
        "output_files": ["work/f"], "timeout": 30,
    });
    let result = tools.call("execute_code", code).await;
    assert_eq!((&result["stdout"], &result["output_files"][0]["content"]), (&json!("1\ns"), &json!("x\n")));
    let started = tools.call("workspace_exec", json!({"command": "sleep 50", "env": {"A": "1"}, "tty": true})).await;
    let killed = tools.call("workspace_kill_session", json!({"session_id": started["session_id"]})).await;
    assert_eq!(killed["status"], "killed");
    let call = json!({"skill": "notes", "tools": ["add_note"], "include_all_tools": false, "mode": "replace"});
    assert_eq!(tools.call("skill_select_tools", call).await["selected_tools"], json!(["add_note"]));
    let call = json!({"skill": "notes", "docs": [], "include_all_docs": true, "mode": "add"});
    assert_eq!(tools.call("skill_select_docs", call).await["selected_docs"], json!(["*"]));
}
