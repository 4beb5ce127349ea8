//! Sessions: their prompts, restarts, forks, and many of them at once.

use serde_json::json;
use wskill::artifact::FolderArtifacts;
use wskill::executor::SandboxExecutor;
use wskill::prompt::PromptOptions;
use wskill::prompt::messages::MessageOptions;
use wskill::repository::Repository;
use wskill::session::state::{LoadMode, LoadRequest, Selection};
use wskill::session::store::{SessionFilter, SqliteStore};
use wskill::session::{MessageShape, SessionKey, Sessions};
use wskill::tools::{Profile, ToolOptions, Toolset};

use super::support::{Place, Tools};

fn key(name: &str) -> SessionKey {
    SessionKey::new("app", "user", name).unwrap()
}

fn all_tools(session: std::sync::Arc<wskill::session::Session>) -> Tools {
    Tools(Toolset::new(session, ToolOptions::builder().profile(Profile::Full).build()))
}

#[tokio::test]
async fn the_prompt_shows_what_is_loaded() {
    let place = Place::new();
    let tools = place.tools().await;
    let session = tools.0.session();
    let text = session.system_prompt(&PromptOptions::default()).to_text();
    assert!(text.starts_with("Available skills:\n- notes: Keeps notes.\n- other: Another.\n"), "{text}");
    assert!(!text.contains("[Loaded] notes") && !text.contains("note.sh"));
    tools.call("skill_load", json!({"skill": "notes", "docs": ["guide.md"]})).await;
    let text = session.system_prompt(&PromptOptions::default()).to_text();
    assert!(text.contains("\n[Loaded] notes\nSkill dir: /workspace/skills/notes\n"), "{text}");
    assert!(text.contains("Docs loaded: guide.md\nTools selected: add_note, find_note"), "{text}");
    assert!(text.contains("[Doc] guide.md\n\nthe guide\n"), "{text}");
    assert!(!text.contains("echo"), "scripts are never shown");
    let mut messages = json!([{"role": "user", "content": "hi"}]);
    for _ in 0..2 {
        let options = PromptOptions::default();
        session.inject(&mut messages, MessageShape::OpenAi, &options, &MessageOptions::default()).unwrap();
    }
    assert_eq!(messages.as_array().unwrap().len(), 2);
    assert_eq!(messages[0]["content"].as_str().unwrap().matches("[Loaded] notes").count(), 1);
}

#[tokio::test]
async fn loads_stay_as_long_as_the_mode_says_and_as_many_as_fit() {
    let place = Place::new();
    for (mode, after_prompt, after_turn) in [(LoadMode::Once, 0, 0), (LoadMode::Turn, 1, 0), (LoadMode::Session, 1, 1)]
    {
        let sessions = place.sessions(|builder| builder.load_mode(mode).max_loaded(1));
        let tools = all_tools(sessions.open(&key("m")).await.unwrap());
        tools.call("skill_load", json!({"skill": "notes"})).await;
        tools.call("skill_load", json!({"skill": "other"})).await;
        let session = tools.0.session();
        assert_eq!(session.loaded().iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>(), ["other"]);
        session.end_prompt().await.unwrap();
        assert_eq!(session.loaded().len(), after_prompt, "{mode:?}");
        session.begin_turn().await.unwrap();
        assert_eq!(session.loaded().len(), after_turn, "{mode:?}");
    }
    let sessions = place.sessions(|builder| builder);
    let session = sessions.open(&key("d")).await.unwrap();
    let request = |skill: &str| LoadRequest { skill: skill.into(), documents: Selection::None };
    assert!(session.load(&[request("notes"), request("none")]).await.is_err());
    assert_eq!(session.loaded(), []);
    session.load(&[request("notes"), request("other")]).await.unwrap();
    assert_eq!(session.loaded().len(), 2);
}

async fn durable(place: &Place) -> Sessions {
    let repository = Repository::builder().root(place.path().join("skills")).build();
    let executor = SandboxExecutor::builder().root(place.path().join("workspaces")).build().unwrap();
    let store = SqliteStore::open(place.path().join("sessions.db")).await.unwrap();
    let artifacts = FolderArtifacts::open(place.path().join("artifacts")).unwrap();
    Sessions::builder(repository).executor(executor).store(store).artifacts(artifacts).build().unwrap()
}

#[tokio::test]
async fn a_skill_that_is_replaced_is_seen() {
    let place = Place::new();
    let tools = place.tools().await;
    assert_eq!(tools.run("cat guide.md").await["stdout"], "the guide\n");
    let skills = place.path().join("skills");
    std::fs::rename(skills.join("notes"), place.path().join("old")).unwrap();
    place.write("skills/notes/SKILL.md", "---\nname: notes\ndescription: Newer.\n---\nNew.\n");
    place.write("skills/notes/guide.md", "the new guide\n");
    assert_eq!(tools.run("cat guide.md; ls").await["stdout"].as_str().unwrap().lines().next(), Some("the new guide"));
    place.write("skills/notes/guide.md", "edited\n");
    assert_eq!(tools.run("cat guide.md").await["stdout"], "edited\n");
}

#[tokio::test]
async fn sessions_survive_a_restart() {
    let place = Place::new();
    {
        let sessions = durable(&place).await;
        let tools = all_tools(sessions.open(&key("s")).await.unwrap());
        tools.call("skill_load", json!({"skill": "notes", "docs": ["guide.md"]})).await;
        tools.run("echo kept > out/kept; echo w > .venv/mark").await;
        tools.call("workspace_save_artifact", json!({"path": "out/kept"})).await;
    }
    let sessions = durable(&place).await;
    let tools = all_tools(sessions.open(&key("s")).await.unwrap());
    assert_eq!(tools.0.session().loaded()[0].documents, Selection::of(["guide.md"]));
    let call = json!({
        "skill": "notes", "command": "cat out/kept .venv/mark inputs/kept", "inputs": [{"from": "artifact://out/kept"}],
    });
    assert_eq!(tools.call("skill_run", call).await["stdout"], "kept\nw\nkept\n");
    assert_eq!(sessions.list(&SessionFilter::default()).await.unwrap().len(), 1);
    drop(tools);
    assert!(sessions.remove(&key("s")).await.unwrap());
    assert!(!sessions.remove(&key("s")).await.unwrap());
    assert_eq!(std::fs::read_dir(place.path().join("workspaces")).unwrap().count(), 0);
    // Metadata that a command has spoilt are begun anew.
    let tools = all_tools(sessions.open(&key("t")).await.unwrap());
    tools.call("workspace_exec", json!({"command": "echo '{' > metadata.json"})).await;
    drop((tools, sessions));
    let sessions = durable(&place).await;
    let tools = all_tools(sessions.open(&key("t")).await.unwrap());
    assert_eq!(tools.run("echo ok").await["stdout"], "ok\n");
    let warnings = tools.0.session().take_warnings();
    assert!(warnings[0].contains("metadata.json could not be read"), "{warnings:?}");
}

#[tokio::test]
async fn a_session_is_forked_and_goes_back() {
    let place = Place::new();
    for in_memory in [false, true] {
        let sessions = place.sessions(|builder| match in_memory {
            true => builder.executor(SandboxExecutor::builder().in_memory().build().unwrap()),
            false => builder,
        });
        let tools = all_tools(sessions.open(&key("a")).await.unwrap());
        tools.call("skill_load", json!({"skill": "notes"})).await;
        tools.run("echo 1 > out/x; echo v > .venv/v; mkdir work/d; ln -s d work/l; echo y > work/d/y").await;
        let snapshot = tools.0.session().snapshot().await.unwrap();
        tools.run("echo 2 > out/x; rm -r work/d; echo z > out/z").await;
        let fork = all_tools(sessions.fork(tools.0.session(), &key("b")).await.unwrap());
        assert!(fork.0.session().is_loaded("notes"));
        fork.run("echo 3 > out/x").await;
        assert_eq!(tools.run("cat out/x; ls out/ && ls work/; cat .venv/v").await["stdout"], "2\nx\nz\ninputs\nl\nv\n");
        assert_eq!(fork.run("cat out/x; ls out/").await["stdout"], "3\nx\nz\n");
        tools.0.session().rollback(&snapshot).await.unwrap();
        assert_eq!(tools.run("cat out/x work/l/y; ls out/").await["stdout"], "1\ny\nx\n");
        assert_eq!(fork.run("cat out/x").await["stdout"], "3\n");
        tools.0.session().forget(&snapshot).await.unwrap();
        assert_eq!(tools.run("cat out/x").await["stdout"], "1\n");
        let error = tools.0.session().rollback("none").await.unwrap_err().to_string();
        assert!(error.contains("no snapshot `none`"), "{error}");
        let error = sessions.fork(tools.0.session(), &key("b")).await.unwrap_err().to_string();
        assert!(error.contains("there is a session `app/user/b` already"), "{error}");
        let running =
            tools.call("skill_exec", json!({"skill": "notes", "command": "sleep 100", "yield_time_ms": 0})).await;
        let error = tools.0.session().snapshot().await.unwrap_err().to_string();
        assert!(error.contains("commands still run"), "{error}");
        tools.call("skill_kill_session", json!({"session_id": running["session_id"]})).await;
        if !in_memory {
            let error = sessions.remove(&key("b")).await.unwrap_err().to_string();
            assert!(error.contains("is in use"), "{error}");
        }
        drop(fork);
        assert!(sessions.remove(&key("b")).await.unwrap());
        assert_eq!(tools.run("cat out/x").await["stdout"], "1\n");
        drop(tools);
        assert!(sessions.remove(&key("a")).await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_sessions_do_not_cross() {
    let place = Place::new();
    let sessions = place.sessions(|builder| builder);
    let tasks = (0..200).map(|number| {
        let sessions = sessions.clone();
        tokio::spawn(async move {
            let tools = all_tools(sessions.open(&key(&format!("s{number}"))).await.unwrap());
            let skill = if number % 2 == 0 { "notes" } else { "other" };
            tools.call("skill_load", json!({"skill": skill})).await;
            for run in 0..3 {
                let command = format!("echo {number}.{run} >> work/log; cat work/log; echo {number} > out/r{run}");
                let result = tools.call("skill_run", json!({"skill": skill, "command": command})).await;
                let log: String = (0..=run).map(|run| format!("{number}.{run}\n")).collect();
                assert_eq!(result["stdout"], log);
                let name = format!("out/r{run}");
                let files = result["output_files"].as_array().unwrap();
                assert_eq!(files.len(), 1, "{files:?}");
                assert_eq!((&files[0]["name"], &files[0]["content"]), (&json!(name), &json!(format!("{number}\n"))));
            }
            assert_eq!(tools.0.session().loaded()[0].name, skill);
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn one_object_is_opened_for_a_key_and_unused_sessions_are_swept() {
    let place = Place::new();
    let sessions = place.sessions(|builder| builder);
    let (name, other) = (key("s"), key("t"));
    let (one, two) = tokio::join!(sessions.open(&name), sessions.open(&name));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert!(std::sync::Arc::ptr_eq(&one, &two));
    one.workspace().await.unwrap();
    sessions.open(&other).await.unwrap().workspace().await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(30)).await;
    // The one that is open stays.
    assert_eq!(sessions.sweep(std::time::Duration::from_millis(10)).await.unwrap(), 1);
    assert_eq!(sessions.list(&SessionFilter::default()).await.unwrap().len(), 1);
}
