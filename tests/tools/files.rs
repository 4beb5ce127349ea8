//! The workspace's files.

use serde_json::json;

use super::support::Place;

#[tokio::test]
async fn files_are_written_read_edited_and_listed() {
    let place = Place::new();
    let tools = place.tools().await;
    let write = json!({"path": "work/a.txt", "content": "one\ntwo\nthree\n"});
    assert_eq!(
        tools.call("workspace_write", write).await,
        json!({"path": "work/a.txt", "size_bytes": 14, "changes": 1})
    );
    tools.call("workspace_write", json!({"path": "work/a.txt", "content": "four\n", "append": true})).await;
    let read = json!({"path": "/workspace/work/a.txt", "start_line": 2, "end_line": 3});
    let expected = json!({
        "path": "work/a.txt", "content": "two\nthree\n", "start_line": 2, "end_line": 3, "total_lines": 4,
        "size_bytes": 19, "mime_type": "text/plain", "truncated": true,
    });
    assert_eq!(tools.call("workspace_read", read).await, expected);
    let edit = json!({"path": "work/a.txt", "old_text": "two", "new_text": "2"});
    assert_eq!(tools.call("workspace_edit", edit).await["changes"], 1);
    assert_eq!(tools.run("cat work/a.txt").await["stdout"], "one\n2\nthree\nfour\n");
    let edit = json!({"path": "work/a.txt", "old_text": "o", "new_text": "0", "replace_all": true});
    assert_eq!(tools.call("workspace_edit", edit).await["changes"], 2);
    let list = tools.call("workspace_list", json!({"path": "work"})).await;
    let names: Vec<_> = list["entries"].as_array().unwrap().iter().map(|entry| &entry["path"]).collect();
    assert_eq!(names, ["work/a.txt", "work/inputs"]);
    let list = tools.call("workspace_list", json!({})).await;
    let names: Vec<_> = list["entries"].as_array().unwrap().iter().map(|entry| &entry["path"]).collect();
    assert_eq!(names, ["out", "runs", "work"]);
}

#[tokio::test]
async fn wrong_edits_and_places_are_refused() {
    let place = Place::new();
    let tools = place.tools().await;
    tools.call("workspace_write", json!({"path": "work/a", "content": "x x"})).await;
    tools.run("printf '\\0' > work/binary; ln -s /etc/passwd work/link; mkfifo work/pipe").await;
    for (tool, arguments, expected) in [
        (
            "workspace_edit",
            json!({"path": "work/a", "old_text": "y", "new_text": ""}),
            "old_text: is not in work/a; it must be exactly",
        ),
        (
            "workspace_edit",
            json!({"path": "work/a", "old_text": "x", "new_text": ""}),
            "old_text: is 2 times in work/a; give more",
        ),
        ("workspace_edit", json!({"path": "work/a", "old_text": "", "new_text": ""}), "old_text: must not be empty"),
        (
            "workspace_write",
            json!({"path": "skills/notes/SKILL.md", "content": ""}),
            "path: `skills/notes/SKILL.md` is not below work/ or out/",
        ),
        ("workspace_write", json!({"path": "../x", "content": ""}), "path: `../x` leads out of the workspace"),
        (
            "workspace_write",
            json!({"path": "metadata.json", "content": ""}),
            "path: `metadata.json` is in none of the folders",
        ),
        ("workspace_write", json!({"path": "work/a/b", "content": ""}), "path: work/a/b: is no folder"),
        ("workspace_read", json!({"path": "work/none"}), "path: work/none: there is no such file"),
        ("workspace_read", json!({"path": "work/binary"}), "path: `work/binary` is no text"),
        ("workspace_read", json!({"path": "work/link"}), "path: work/link: "),
        ("workspace_read", json!({"path": "work/pipe"}), "path: work/pipe: is no regular file"),
        ("workspace_read", json!({"path": "work/a", "start_line": 5}), "start_line: is 5, and the file has 1 lines"),
        ("workspace_save_artifact", json!({"path": "work"}), "path: `work` is not below"),
        ("workspace_save_artifact", json!({"path": "work/*"}), "path: `work/*` is a pattern"),
    ] {
        let error = tools.error(tool, arguments.clone()).await;
        assert!(error.starts_with(&format!("{tool}: {expected}")), "{arguments}: {error}");
    }
}

#[tokio::test]
async fn documents_of_loaded_skills_are_read_and_scripts_if_allowed() {
    let place = Place::new();
    let tools = place.tools().await;
    let read = |path: &str| json!({"path": format!("skills/notes/{path}")});
    assert!(tools.error("workspace_read", read("guide.md")).await.contains("is not loaded; call skill_load"));
    tools.call("skill_load", json!({"skill": "notes"})).await;
    assert_eq!(tools.call("workspace_read", read("guide.md")).await["content"], "the guide\n");
    assert_eq!(tools.call("workspace_read", read("assets/a.csv")).await["total_lines"], 2);
    assert!(
        tools.error("workspace_read", read("scripts/note.sh")).await.contains("is a script: run it with skill_run")
    );
    assert!(tools.error("workspace_read", read("none")).await.contains("has no file `none`; it has guide.md"));
    let list = tools.call("workspace_list", json!({"path": "skills/notes", "depth": 2})).await;
    assert_eq!(list["entries"].as_array().unwrap().len(), 4);
    let tools = place.tools_with(|options| options.read_scripts(true)).await;
    tools.call("skill_load", json!({"skill": "notes"})).await;
    assert_eq!(tools.call("workspace_read", read("scripts/note.sh")).await["total_lines"], 2);
}
