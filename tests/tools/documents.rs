//! What is listed, loaded and selected.

use serde_json::json;
use wskill::session::state::Selection;
use wskill::tools::{Compat, Profile, ToolName};

use super::support::Place;

#[tokio::test]
async fn skills_documents_and_tools_are_listed() {
    let place = Place::new();
    let tools = place.tools().await;
    assert_eq!(tools.call("skill_list", json!({})).await, json!(["notes", "other"]));
    assert_eq!(tools.call("skill_list_skills", json!({"mode": "available"})).await, json!(["notes", "other"]));
    let call = json!({"skill": "notes"});
    assert_eq!(tools.call("skill_list_docs", call.clone()).await, json!(["guide.md", "references/more.txt"]));
    assert_eq!(tools.call("skill_list_tools", call).await, json!(["add_note", "find_note"]));
    assert_eq!(tools.call("skill_list_docs", json!({"skill_name": "other"})).await, json!([]));
}

#[tokio::test]
async fn a_skill_that_needs_what_is_not_there_is_not_available() {
    let place = Place::new();
    let needs =
        "---\nname: needy\ndescription: N.\nmetadata: {\"openclaw\": {\"requires\": {\"bins\": [\"node\"]}}}\n---\n";
    place.write("skills/needy/SKILL.md", needs);
    place.write("skills/hidden/SKILL.md", "---\nname: hidden\ndescription: H.\ndisable-model-invocation: true\n---\n");
    let tools = place.tools().await;
    assert_eq!(tools.call("skill_list", json!({})).await, json!(["needy", "notes", "other"]));
    assert_eq!(tools.call("skill_list", json!({"mode": "available"})).await, json!(["notes", "other"]));
}

#[tokio::test]
async fn loading_is_kept_in_the_state() {
    let place = Place::new();
    let tools = place.tools().await;
    assert_eq!(
        tools.call("skill_load", json!({"skill": "notes", "docs": ["guide.md"]})).await,
        json!("skill 'notes' loaded")
    );
    tools.call("skill_load", json!({"skill": "notes"})).await;
    let loaded = tools.0.session().loaded();
    assert_eq!(loaded.len(), 1);
    assert_eq!((loaded[0].name.as_str(), &loaded[0].documents), ("notes", &Selection::of(["guide.md"])));
    assert_eq!(loaded[0].tools, Selection::All);
    let answer =
        tools.0.call_as("skill_load", json!({"skill": "other", "include_all_docs": true}), "c1").await.unwrap();
    let keys: Vec<_> = answer.delta.changes().map(|(key, _)| key.to_owned()).collect();
    assert!(keys.contains(&"temp:skill:loaded:other".to_owned()), "{keys:?}");
    assert_eq!(tools.0.session().state().get("temp:skill:docs:other"), Some(&json!("*")));
    tools.0.session().begin_turn().await.unwrap();
    assert_eq!(tools.0.session().loaded(), []);
}

#[tokio::test]
async fn selections_change_as_the_mode_says() {
    let place = Place::new();
    let tools = place.tools().await;
    let select = |arguments| tools.call("skill_select_docs", arguments);
    let answer = |selected, all, mode| json!({"skill": "notes", "selected_docs": selected, "include_all_docs": all, "mode": mode});
    for (arguments, expected) in [
        (json!({"skill": "notes", "docs": ["guide.md"]}), answer(json!(["guide.md"]), false, "replace")),
        (
            json!({"skill": "notes", "docs": "references/more.txt", "mode": "add"}),
            answer(json!(["guide.md", "references/more.txt"]), false, "add"),
        ),
        (json!({"skill": "notes", "mode": "clear"}), answer(json!([]), false, "clear")),
        (json!({"skill": "notes", "docs": ["*"]}), answer(json!(["*"]), true, "replace")),
        (json!({"skill": "notes", "docs": ["guide.md"], "mode": "replace"}), answer(json!(["*"]), true, "replace")),
        (json!({"skill": "notes", "mode": "clear"}), answer(json!([]), false, "clear")),
        (
            json!({"skill": "notes", "docs": ["guide.md"], "mode": "whatever"}),
            answer(json!(["guide.md"]), false, "replace"),
        ),
    ] {
        assert_eq!(select(arguments.clone()).await, expected, "{arguments}");
    }
    let answer = tools.call("skill_select_tools", json!({"skill": "notes", "tools": ["add_note"]})).await;
    let expected =
        json!({"skill": "notes", "selected_tools": ["add_note"], "include_all_tools": false, "mode": "replace"});
    assert_eq!(answer, expected);
    let answer = tools.call("skill_select_tools", json!({"skill": "notes", "include_all_tools": true})).await;
    assert_eq!(answer["selected_tools"], json!(["*"]));
}

#[tokio::test]
async fn wrong_calls_say_what_to_change() {
    let place = Place::new();
    let tools = place.tools().await;
    for (name, arguments, expected) in [
        ("skill_load", json!({"skill": "note"}), "unknown skill `note`; known are notes, other"),
        (
            "skill_load",
            json!({"skill": "notes", "docs": ["guid.md"]}),
            "skill_load: docs[0]: the skill `notes` has no document `guid.md`; it has guide.md, references/more.txt",
        ),
        (
            "skill_select_tools",
            json!({"skill": "notes", "tools": ["x"]}),
            "skill_select_tools: tools[0]: the skill `notes` has no tool `x`; it has add_note, find_note",
        ),
        ("skill_load", json!({}), "skill_load: arguments: missing field `skill`"),
        ("skill_run", json!({"skill": "notes", "command": " "}), "skill_run: command: must not be empty"),
    ] {
        assert_eq!(tools.error(name, arguments).await, expected);
    }
    assert!(
        tools.error("skill_fly", json!({})).await.starts_with("there is no tool `skill_fly`; there are skill_list,")
    );
}

#[tokio::test]
async fn profiles_offer_tools_with_schemas() {
    let place = Place::new();
    let names = |options: &wskill::tools::ToolOptions| {
        options.tools().iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ")
    };
    let run = "skill_list skill_list_tools skill_load skill_select_docs skill_list_docs skill_select_tools skill_run";
    let tools = place.tools_with(|options| options.profile(Profile::Run)).await;
    assert_eq!(names(tools.0.options()), run);
    let tools = place.tools_with(|options| options.profile(Profile::Knowledge)).await;
    assert_eq!(names(tools.0.options()), "skill_list skill_load skill_select_docs skill_list_docs");
    assert!(tools.error("skill_run", json!({"skill": "notes", "command": "true"})).await.contains("there is no tool"));
    let tools = place.tools_with(|options| options.without(ToolName::SkillRun).compat(Compat::Go)).await;
    assert!(!names(tools.0.options()).contains("skill_run"));
    assert_eq!(tools.call("skill_load", json!({"skill": "notes"})).await, json!("loaded: notes"));
    for spec in tools.0.specs() {
        assert_eq!(spec.parameters["type"], "object", "{}", spec.name);
        assert!(spec.description.contains("Call it"), "{}", spec.name);
        if let Some(skill) = spec.parameters["properties"].get("skill") {
            assert_eq!(skill["enum"], json!(["notes", "other"]), "{}", spec.name);
        }
        let text = spec.parameters.to_string();
        assert!(!text.contains("$ref") && !text.contains("$defs"), "{}: {text}", spec.name);
    }
}
