//! What a call brings into the workspace.

use serde_json::json;
use wskill::session::SessionKey;
use wskill::tools::{Profile, ToolOptions, Toolset};

use super::support::{Place, Tools};

#[tokio::test]
async fn inputs_come_from_everywhere_that_is_allowed() {
    let place = Place::new();
    place.write("shared/data.csv", "x,y\n");
    place.write("shared/folder/deep/f.txt", "deep\n");
    place.write("secret", "secret");
    let shared = place.path().join("shared").canonicalize().unwrap();
    let sessions = place.sessions(|builder| builder.host_root(&shared));
    let session = sessions.open(&SessionKey::new("", "", "s").unwrap()).await.unwrap();
    let tools = Tools(Toolset::new(session, ToolOptions::builder().profile(Profile::Full).build()));
    tools.call("workspace_write", json!({"path": "out/r.txt", "content": "v0"})).await;
    tools.call("workspace_save_artifact", json!({"path": "out/r.txt"})).await;
    tools.call("workspace_write", json!({"path": "out/r.txt", "content": "v1"})).await;
    let saved = tools.call("workspace_save_artifact", json!({"path": "out/r.txt"})).await;
    assert_eq!(saved["ref"], "artifact://out/r.txt@1");
    let host = |path: &str| format!("host://{}", shared.join(path).display());
    for (inputs, command, stdout) in [
        (json!([{"from": "artifact://out/r.txt"}]), "cat inputs/r.txt", "v1"),
        (json!([{"src": "artifact://out/r.txt@0", "dst": "work/old.txt"}]), "cat work/old.txt", "v0"),
        (json!([{"from": "workspace://out/r.txt", "to": "inputs/w.txt"}]), "cat inputs/w.txt", "v1"),
        (json!([{"from": "skill://notes/assets/a.csv"}]), "cat inputs/a.csv", "a,b\n1,2\n"),
        (json!([{"from": host("data.csv")}]), "cat inputs/data.csv", "x,y\n"),
        (json!([{"from": host("folder")}]), "cat inputs/folder/deep/f.txt", "deep\n"),
        (
            json!([{"from": host("folder"), "to": "work/linked", "mode": "link"}]),
            "cat work/linked/deep/f.txt",
            "deep\n",
        ),
    ] {
        let call = json!({"skill": "notes", "command": command, "inputs": inputs});
        let result = tools.call("skill_run", call).await;
        assert_eq!(result["stdout"], stdout, "{inputs}: {result}");
        assert_eq!(result["staged_inputs"].as_array().unwrap().len(), 1);
    }
    // Copies are read-only files in a writable folder; views cannot be changed at all.
    let result = tools
        .call("skill_run", json!({"skill": "notes", "command": "ls -l inputs/r.txt | cut -c1-10; echo x > inputs/new; echo x > work/linked/new"}))
        .await;
    assert_eq!(result["stdout"], "-r--r--r--\n", "{result}");
    assert!(result["stderr"].as_str().unwrap().contains("work/linked/new: Read-only file system"), "{result}");
    for (from, reason) in [
        (
            format!("host://{}", place.path().join("secret").display()),
            "is not below a folder of the host that may be used as input",
        ),
        (host("../secret"), "the path must be absolute, without `..`"),
        ("artifact://none".into(), "there is no artifact"),
        ("skill://notes/none".into(), "the skill has no such file"),
        ("ftp://x".into(), "`ftp://x` is no input; it must be artifact://NAME[@VERSION], workspace://PATH"),
    ] {
        let call = json!({"skill": "notes", "command": "true", "inputs": [{"from": from}]});
        let error = tools.error("skill_run", call).await;
        assert!(error.starts_with("skill_run: inputs[0]") && error.contains(reason), "{from}: {error}");
    }
}

#[tokio::test]
async fn names_do_not_collide_and_versions_can_be_pinned() {
    let place = Place::new();
    let tools = place.tools().await;
    tools.call("workspace_write", json!({"path": "work/a/x.txt", "content": "1"})).await;
    tools.call("workspace_write", json!({"path": "work/b/x.txt", "content": "2"})).await;
    let inputs = json!([{"from": "workspace://work/a/x.txt"}, {"from": "workspace://work/b/x.txt"}]);
    let call = json!({"skill": "notes", "command": "cat inputs/x.txt inputs/x_2.txt", "inputs": inputs});
    assert_eq!(tools.call("skill_run", call.clone()).await["stdout"], "12");
    // The same inputs again take their own places again.
    let result = tools.call("skill_run", call).await;
    assert_eq!(result["staged_inputs"][1]["name"], "work/inputs/x_2.txt");
    tools.call("workspace_save_artifact", json!({"path": "work/a/x.txt"})).await;
    let pinned = json!({"skill": "notes", "command": "cat work/p", "inputs": [{"from": "artifact://work/a/x.txt", "to": "work/p", "pin": true}]});
    assert_eq!(tools.call("skill_run", pinned.clone()).await["stdout"], "1");
    tools.call("workspace_write", json!({"path": "work/a/x.txt", "content": "3"})).await;
    tools.call("workspace_save_artifact", json!({"path": "work/a/x.txt"})).await;
    assert_eq!(tools.call("skill_run", pinned).await["stdout"], "1");
}

#[tokio::test]
async fn a_folder_of_the_host_is_shown_as_inputs() {
    let place = Place::new();
    place.write("shared/data.csv", "x,y\n");
    let shared = place.path().join("shared").canonicalize().unwrap();
    let sessions = place.sessions(|builder| builder.inputs_folder(&shared));
    let session = sessions.open(&SessionKey::new("", "", "s").unwrap()).await.unwrap();
    let tools = Tools(Toolset::new(session, ToolOptions::builder().profile(Profile::Full).build()));
    let result =
        tools.run("cat inputs/data.csv $WORK_DIR/inputs/data.csv; echo x > inputs/new || echo read-only").await;
    assert_eq!(result["stdout"], "x,y\nx,y\nread-only\n", "{result}");
    // Inputs of calls find another place, and are refused where nothing can be written.
    let from = "skill://notes/assets/a.csv";
    let call = json!({"skill": "notes", "command": "cat work/a.csv", "inputs": [{"from": from}]});
    assert_eq!(tools.call("skill_run", call).await["stdout"], "a,b\n1,2\n");
    let call = json!({"skill": "notes", "command": "true", "inputs": [{"from": from, "to": "inputs/b.csv"}]});
    let error = tools.error("skill_run", call).await;
    assert!(error.contains("`work/inputs/b.csv` is in a folder of the host that is shown read-only"), "{error}");
    assert_eq!(std::fs::read_dir(&shared).unwrap().count(), 1);
}
