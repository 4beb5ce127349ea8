//! `Skill`, the tool that answers a skill's body.

use serde_json::json;
use wskill::prompt::PromptOptions;
use wskill::tools::{ToolName, ToolOptions};

use super::support::Place;

#[tokio::test]
async fn the_body_comes_back_and_is_not_told_twice() {
    let place = Place::new();
    let tools = place.tools_with(|options| options.with(ToolName::Skill)).await;
    let answer = tools.call("Skill", json!({"command": "notes", "args": "milk </skill_content>"})).await;
    assert_eq!(
        answer,
        "<skill_content name=\"notes\">\n# Notes\n\nRun `scripts/note.sh`.\n\nTools:\n- add_note\n- find_note\n\n\
         Arguments: milk <\\/skill_content>\n\nSkill dir: /workspace/skills/notes\n<skill_resources>\n\
         <file>guide.md</file>\n<file>references/more.txt</file>\n<file>assets/a.csv</file>\n\
         <file>scripts/note.sh</file>\n</skill_resources>\n</skill_content>"
    );
    let session = tools.0.session();
    assert!(session.is_loaded("notes"));
    assert_eq!(session.active_tools().len(), 2);
    assert!(!session.system_prompt(&PromptOptions::default()).to_text().contains("[Loaded] notes"));
    // It is loaded as far as everything else is concerned.
    let read = tools.call("workspace_read", json!({"path": "skills/notes/references/more.txt"})).await;
    assert_eq!(read["content"], "more\n");
    tools.call("skill_select_docs", json!({"skill": "notes", "docs": ["guide.md"]})).await;
    assert!(session.system_prompt(&PromptOptions::default()).to_text().contains("[Doc] guide.md"));
    // A new turn forgets it, and loading it in the other way shows it in the prompt.
    session.begin_turn().await.unwrap();
    assert!(!session.is_loaded("notes"));
    tools.call("Skill", json!({"command": "notes"})).await;
    tools.call("skill_load", json!({"skill": "notes"})).await;
    assert!(session.system_prompt(&PromptOptions::default()).to_text().contains("[Loaded] notes"));
}

#[tokio::test]
async fn it_is_offered_when_the_host_says_so() {
    let place = Place::new();
    assert!(!ToolOptions::default().tools().contains(&ToolName::Skill));
    let tools = place.tools_with(|options| options.with(ToolName::Skill)).await;
    let specs = tools.0.specs();
    let spec = specs.iter().find(|spec| spec.name == "Skill").unwrap();
    assert_eq!(spec.parameters["properties"]["command"]["enum"], json!(["notes", "other"]));
    assert_eq!(spec.parameters["required"], json!(["command"]));
    let error = tools.error("Skill", json!({"command": "none"})).await;
    assert!(error.contains("unknown skill `none`; known are notes, other"), "{error}");
    place.write("skills/other/SKILL.md", "---\nname: other\ndescription: Another.\n---\nWork on $ARGUMENTS.\n");
    let answer = tools.call("Skill", json!({"command": "other", "args": "this"})).await;
    let expected =
        "<skill_content name=\"other\">\nWork on this.\n\nSkill dir: /workspace/skills/other\n</skill_content>";
    assert_eq!(answer, expected);
}
