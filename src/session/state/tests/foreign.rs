//! States that others wrote, and changes of them.

use std::collections::BTreeMap;

use super::*;

#[test]
fn values_that_cannot_be_read() {
    let state = state(json!({
        "temp:skill:loaded:a": {"yes": true},
        "temp:skill:loaded:b": "1",
        "temp:skill:loaded:": "1",
        "temp:skill:docs:b": "[1]",
        "temp:skill:tools:b": 7,
        "temp:skill:loaded_order:": {"b": 1},
        "temp:skill:artifacts": {"tool_call_id": "c", "artifacts": [{"name": "../a", "version": 0}]},
        "temp:skill:docs_by_agent:other/b": 7,
        "somebody:elses": {},
    }));
    let skills = state.skills("", LoadMode::Turn);
    let expected =
        Loaded { name: "b".into(), documents: Selection::None, tools: Selection::None, in_conversation: false };
    assert_eq!(skills.loaded(), [expected]);
    assert_eq!(state.call_artifacts(), None);
    let warnings: Vec<String> = skills.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "the state's value of `temp:skill:artifacts` is ignored: expected a tool_call_id and a list of artifacts",
            "the state's value of `temp:skill:docs:b` is ignored: expected \"*\" or an array of strings",
            "the state's value of `temp:skill:loaded:` is ignored: expected the name of a skill in the key",
            "the state's value of `temp:skill:loaded:a` is ignored: expected \"1\" or true",
            "the state's value of `temp:skill:loaded_order:` is ignored: expected an array of strings",
            "the state's value of `temp:skill:tools:b` is ignored: expected \"*\" or an array of strings",
        ]
    );
}

#[test]
fn artifacts_of_the_last_call() {
    let mut state = State::default();
    let text = r#"{"tool_call_id":"call-1","artifacts":[{"name":"out/a.txt","version":3}]}"#;
    let artifacts: CallArtifacts = serde_json::from_str(text).unwrap();
    state.apply(&artifacts.delta());
    assert_eq!(
        json_of(&state),
        json!({"temp:skill:artifacts": {
            "tool_call_id": "call-1",
            "artifacts": [{"name": "out/a.txt", "version": 3, "ref": "artifact://out/a.txt@3"}],
        }})
    );
    assert_eq!(state.call_artifacts(), Some(artifacts));
    state.apply(&state.skills("", LoadMode::Session).begin_turn());
    assert!(state.is_empty());
}

#[test]
fn keys_without_agent_are_given_to_agents() {
    let before = json!({
        "temp:skill:loaded:a": "1", "temp:skill:docs:a": "*", "temp:skill:tools:a": ["t"],
        "temp:skill:loaded:b": true, "temp:skill:docs:b": "[\"x.md\"]",
        "temp:skill:loaded:mine": "1", "temp:skill:loaded_by_agent:main/mine": "1",
        "temp:skill:docs:mine": ["old.md"], "temp:skill:docs_by_agent:main/mine": ["new.md"],
        "temp:skill:loaded:x:y": "1",
        "temp:skill:loaded_order:": ["a", "b", "mine"], "temp:skill:loaded_order_by_agent:main": ["mine", "own"],
        "skill:loaded:kept": "1",
        "other": 1,
    });
    let mut state = state(before.clone());
    assert!(state.skills("", LoadMode::Turn).migrate(&BTreeMap::new()).is_empty());
    let owners = BTreeMap::from([("b".to_owned(), "sub/agent".to_owned()), ("a".to_owned(), " ".to_owned())]);
    state.apply(&state.skills("main", LoadMode::Turn).migrate(&owners));
    assert_eq!(
        json_of(&state),
        json!({
            "processor:skills:legacy_migrated": true,
            "temp:skill:loaded_by_agent:main/a": "1", "temp:skill:docs_by_agent:main/a": "*",
            "temp:skill:tools_by_agent:main/a": ["t"],
            "temp:skill:loaded_by_agent:sub%2Fagent/b": true, "temp:skill:docs_by_agent:sub%2Fagent/b": "[\"x.md\"]",
            "temp:skill:loaded_by_agent:main/mine": "1", "temp:skill:docs_by_agent:main/mine": ["new.md"],
            "temp:skill:loaded:x:y": "1",
            "temp:skill:loaded_order_by_agent:main": ["a", "mine", "own"],
            "temp:skill:loaded_order_by_agent:sub%2Fagent": ["b"],
            "skill:loaded_by_agent:main/kept": "1",
            "other": 1,
        })
    );
    // Once in a session: what an agent without name loads later stays its own.
    state.apply(&state.skills("", LoadMode::Turn).load("late", &Selection::None, &Selection::None));
    assert!(state.skills("main", LoadMode::Turn).migrate(&owners).is_empty());
}

#[test]
fn a_change_after_another() {
    let mut first: StateDelta = serde_json::from_value(json!({"a": 1, "b": 2, "c": 3})).unwrap();
    let mut later = StateDelta::default();
    later.set("b", Value::Null);
    later.remove("c");
    later.set("d", "4");
    first.merge(later);
    assert_eq!(serde_json::to_value(&first).unwrap(), json!({"a": 1, "b": null, "c": null, "d": "4"}));
    assert_eq!(first.changes().filter(|(_, value)| value.is_none()).count(), 2);
    let mut state = state(json!({"b": 0, "c": null, "e": 5}));
    assert_eq!(state.get("c"), None);
    state.apply(&first);
    assert_eq!(json_of(&state), json!({"a": 1, "d": "4", "e": 5}));
}
