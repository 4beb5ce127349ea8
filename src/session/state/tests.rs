//! What operations do to a state.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn state(value: Value) -> State {
    serde_json::from_value(value).unwrap()
}

fn json_of(state: &State) -> Value {
    serde_json::to_value(state).unwrap()
}

/// A state that one operation after another changes.
struct Session {
    state: State,
    agent: &'static str,
    mode: LoadMode,
}

impl Session {
    fn new(agent: &'static str, mode: LoadMode) -> Self {
        Self { state: State::default(), agent, mode }
    }

    fn run(&mut self, operation: impl FnOnce(&Skills<'_>) -> StateDelta) -> StateDelta {
        let delta = operation(&self.state.skills(self.agent, self.mode));
        // What is stored is what is merged.
        let delta: StateDelta = serde_json::from_str(&serde_json::to_string(&delta).unwrap()).unwrap();
        self.state.apply(&delta);
        delta
    }

    fn load(&mut self, skill: &str) {
        self.run(|skills| skills.load(skill, &Selection::None, &Selection::None));
    }

    fn names(&self) -> Vec<String> {
        self.state.skills(self.agent, self.mode).loaded().into_iter().map(|loaded| loaded.name).collect()
    }
}

#[test]
fn keys_of_each_agent_and_mode() {
    for (agent, mode, expected) in [
        (
            "",
            LoadMode::Turn,
            json!({
                "temp:skill:docs:pdf": ["a.md"],
                "temp:skill:loaded:pdf": "1",
                "temp:skill:loaded_order:": ["pdf"],
                "temp:skill:tools:pdf": "*",
            }),
        ),
        (
            "team/a",
            LoadMode::Once,
            json!({
                "temp:skill:docs_by_agent:team%2Fa/pdf": ["a.md"],
                "temp:skill:loaded_by_agent:team%2Fa/pdf": "1",
                "temp:skill:loaded_order_by_agent:team%2Fa": ["pdf"],
                "temp:skill:tools_by_agent:team%2Fa/pdf": "*",
            }),
        ),
        (
            "a",
            LoadMode::Session,
            json!({
                "skill:docs_by_agent:a/pdf": ["a.md"],
                "skill:loaded_by_agent:a/pdf": "1",
                "skill:loaded_order_by_agent:a": ["pdf"],
                "skill:tools_by_agent:a/pdf": "*",
            }),
        ),
    ] {
        let mut session = Session::new(agent, mode);
        session.run(|skills| skills.load(" pdf ", &Selection::of(["a.md"]), &Selection::All));
        assert_eq!(json_of(&session.state), expected);
        let expected =
            [Loaded { name: "pdf".into(), documents: Selection::of(["a.md"]), tools: Selection::All }].to_vec();
        let skills = session.state.skills(agent, mode);
        assert_eq!(skills.loaded(), expected);
        assert!(skills.is_loaded("pdf") && !skills.is_loaded("") && skills.warnings().is_empty());
        // Another agent has nothing of it.
        assert_eq!(session.state.skills("b", mode).loaded(), []);
        session.run(|skills| skills.unload("pdf"));
        assert!(session.state.is_empty(), "{:?}", session.state);
    }
}

#[test]
fn loading_twice_is_loading_once() {
    let mut session = Session::new("", LoadMode::Turn);
    session.run(|skills| skills.load("a", &Selection::of(["x.md"]), &Selection::of(["t"])));
    session.load("b");
    session.load("a");
    assert_eq!(session.names(), ["b", "a"]);
    // What was selected stays, until something else is.
    assert_eq!(session.state.skills("", LoadMode::Turn).documents("a"), Selection::of(["x.md"]));
    session.run(|skills| skills.load("a", &Selection::of(["y.md", "y.md"]), &Selection::None));
    let loaded = session.state.skills("", LoadMode::Turn).loaded();
    let expected = Loaded { name: "a".into(), documents: Selection::of(["y.md"]), tools: Selection::of(["t"]) };
    assert_eq!(loaded[1], expected);
}

#[test]
fn selecting() {
    let mut session = Session::new("a", LoadMode::Turn);
    session.load("one");
    session.load("two");
    let docs = ["d.md".to_owned()];
    session.run(|skills| skills.select_docs("one", SelectMode::Add, &docs, false).1);
    assert_eq!(session.names(), ["two", "one"], "a selection of documents is a touch");
    session.run(|skills| skills.select_tools("two", SelectMode::Replace, &["t".into()], false).1);
    assert_eq!(session.names(), ["two", "one"], "one of tools is none");
    session.run(|skills| skills.touch("two"));
    assert_eq!(session.names(), ["one", "two"]);

    session.run(|skills| skills.select_docs("one", SelectMode::Add, &[], true).1);
    for mode in [SelectMode::Add, SelectMode::Replace] {
        let (selection, delta) = session.state.skills("a", LoadMode::Turn).select_docs("one", mode, &docs, false);
        assert_eq!(selection, Selection::All);
        session.state.apply(&delta);
        assert_eq!(session.state.get("temp:skill:docs_by_agent:a/one"), Some(&json!("*")));
    }
    session.run(|skills| skills.select_docs("one", SelectMode::Clear, &docs, true).1);
    assert_eq!(session.state.get("temp:skill:docs_by_agent:a/one"), Some(&json!([])));

    // What is selected of a skill before it is loaded waits for it.
    session.run(|skills| skills.select_docs("three", SelectMode::Replace, &docs, false).1);
    assert_eq!(session.names(), ["two", "one"]);
    session.load("three");
    assert_eq!(session.state.skills("a", LoadMode::Turn).loaded()[2].documents, Selection::of(["d.md"]));
}

#[test]
fn evicting() {
    let mut session = Session::new("", LoadMode::Turn);
    for skill in ["a", "b", "c", "d"] {
        session.run(|skills| skills.load(skill, &Selection::All, &Selection::All));
    }
    session.run(|skills| skills.touch("a"));
    let mut gone = Vec::new();
    session.run(|skills| {
        let (names, delta) = skills.evict(2);
        gone = names;
        delta
    });
    assert_eq!(gone, ["b", "c"]);
    assert_eq!(session.names(), ["d", "a"]);
    assert_eq!(
        json_of(&session.state),
        json!({
            "temp:skill:docs:a": "*", "temp:skill:docs:d": "*",
            "temp:skill:loaded:a": "1", "temp:skill:loaded:d": "1",
            "temp:skill:loaded_order:": ["d", "a"],
            "temp:skill:tools:a": "*", "temp:skill:tools:d": "*",
        })
    );
    assert!(session.run(|skills| skills.evict(2).1).is_empty());
    session.run(|skills| skills.evict(0).1);
    assert!(session.state.is_empty());
}

#[test]
fn skills_without_a_known_touch_are_the_oldest() {
    let mut state = state(json!({
        "temp:skill:loaded:z": "1", "temp:skill:loaded:y": true, "temp:skill:loaded:b": "1", "temp:skill:loaded:off": "0",
        "temp:skill:loaded_order:": ["b", "gone", " b "], "temp:skill:loaded_order": "[\"z\", \"b\"]",
    }));
    let skills = state.skills("", LoadMode::Turn);
    let names: Vec<String> = skills.loaded().into_iter().map(|loaded| loaded.name).collect();
    assert_eq!(names, ["y", "z", "b"]);
    assert_eq!(skills.warnings(), []);
    let (gone, delta) = skills.evict(1);
    assert_eq!(gone, ["y", "z"]);
    state.apply(&delta);
    assert_eq!(
        json_of(&state),
        json!({"temp:skill:loaded:b": "1", "temp:skill:loaded:off": "0", "temp:skill:loaded_order:": ["b"]})
    );
}

#[test]
fn how_long_loads_stay() {
    for (mode, after_prompt, after_turn) in
        [(LoadMode::Once, false, false), (LoadMode::Turn, true, false), (LoadMode::Session, true, true)]
    {
        let mut session = Session::new("a", mode);
        session.run(|skills| skills.load("pdf", &Selection::All, &Selection::of(["t"])));
        session.run(|skills| skills.end_prompt());
        assert_eq!(!session.names().is_empty(), after_prompt, "{mode:?}");
        session.run(|skills| skills.load("pdf", &Selection::All, &Selection::of(["t"])));
        session.run(|skills| skills.begin_turn());
        assert_eq!(!session.names().is_empty(), after_turn, "{mode:?}");
        assert_eq!(session.state.is_empty(), !after_turn, "{mode:?}: nothing leaks into the next turn");
        assert_eq!(LoadMode::parse(mode.as_str()), Some(mode));
    }
    assert_eq!(LoadMode::parse(" Session "), Some(LoadMode::Session));
    assert_eq!(LoadMode::parse("forever"), None);
}

#[test]
fn a_turn_is_one_agents() {
    let mut state = State::default();
    for agent in ["a", "a/b", "aa", ""] {
        state.apply(&state.skills(agent, LoadMode::Turn).load("pdf", &Selection::All, &Selection::All));
    }
    state.apply(&state.skills("a", LoadMode::Turn).begin_turn());
    for (agent, loaded) in [("a", 0), ("a/b", 1), ("aa", 1), ("", 1)] {
        assert_eq!(state.skills(agent, LoadMode::Turn).loaded().len(), loaded, "{agent}");
    }
}

#[test]
fn a_load_for_the_session_is_not_taken_back() {
    let mut state = State::default();
    let (turn, always) = (LoadMode::Turn, LoadMode::Session);
    state.apply(&state.skills("", turn).load("a", &Selection::of(["x"]), &Selection::None));
    state.apply(&state.skills("", turn).load("b", &Selection::None, &Selection::None));
    // From the turn to the session, with what is selected.
    state.apply(&state.skills("", always).load("a", &Selection::None, &Selection::None));
    assert_eq!(
        json_of(&state),
        json!({
            "skill:docs:a": ["x"], "skill:loaded:a": "1", "skill:loaded_order:": ["b", "a"],
            "temp:skill:loaded:b": "1",
        })
    );
    state.apply(&state.skills("", turn).load("a", &Selection::of(["y"]), &Selection::of(["t"])));
    state.apply(&state.skills("", turn).begin_turn());
    assert_eq!(
        json_of(&state),
        json!({"skill:docs:a": ["y"], "skill:loaded:a": "1", "skill:loaded_order:": ["b", "a"], "skill:tools:a": ["t"]})
    );
    // A session of trpc-agent-go keeps its keys with `temp:`, and they count here.
    let mut state = self::state(json!({
        "temp:skill:loaded:a": "1", "temp:skill:docs:a": "*", "temp:skill:loaded_order:": ["b", "a"],
        "temp:skill:loaded:b": "1",
    }));
    state.apply(&state.skills("", always).begin_turn());
    state.apply(&state.skills("", always).touch("b"));
    let loaded = state.skills("", always).loaded();
    assert_eq!(loaded.iter().map(|loaded| loaded.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(loaded[0].documents, Selection::All);
}

fn known(skill: &str) -> Option<KnownSkill> {
    let documents = vec!["a.md".to_owned(), "b.md".to_owned()];
    match skill {
        "pdf" => Some(KnownSkill { documents, tools: Selection::of(["fill"]) }),
        "csv" => Some(KnownSkill::default()),
        _ => None,
    }
}

fn requests(value: Value) -> Vec<LoadRequest> {
    serde_json::from_value(value).unwrap()
}

#[test]
fn declared_loads() {
    let mut session = Session::new("a", LoadMode::Turn);
    let declared = requests(json!([
        {"name": "pdf", "docs": ["b.md"]}, {"skill": " csv "}, {"name": "pdf", "docs": ["a.md", "b.md"]},
    ]));
    session.run(|skills| skills.apply_declared(&declared, Some(2), known).unwrap());
    assert_eq!(
        json_of(&session.state),
        json!({
            "processor:skills:requested_loads_applied:a": true,
            "temp:skill:docs_by_agent:a/pdf": ["b.md", "a.md"],
            "temp:skill:loaded_by_agent:a/csv": "1",
            "temp:skill:loaded_by_agent:a/pdf": "1",
            "temp:skill:loaded_order_by_agent:a": ["pdf", "csv"],
            "temp:skill:tools_by_agent:a/pdf": ["fill"],
        })
    );
    // Once in a turn, whatever the model did since.
    session.run(|skills| skills.unload("csv"));
    assert!(session.run(|skills| skills.apply_declared(&declared, None, known).unwrap()).is_empty());
    session.run(|skills| skills.begin_turn());
    assert!(session.state.is_empty());
    session.run(|skills| skills.apply_declared(&declared, None, known).unwrap());
    assert_eq!(session.names(), ["pdf", "csv"]);
}

#[test]
fn declared_loads_are_atomic() {
    let state = State::default();
    for (declared, limit, message) in [
        (
            json!([{"name": "csv"}, {"name": "x"}]),
            None,
            "cannot load the skill `x` that the caller declared: there is none; leave it out or add its folder",
        ),
        (
            json!([{"name": ""}]),
            None,
            "cannot load the skill `` that the caller declared: there is none; leave it out or add its folder",
        ),
        (
            json!([{"name": "pdf", "docs": ["c.md"]}]),
            None,
            "cannot load the document `c.md` of the skill `pdf`: there is none; there are a.md, b.md",
        ),
        (
            json!([{"name": "csv", "docs": ["c.md"]}]),
            None,
            "cannot load the document `c.md` of the skill `csv`: there is none; there are no documents",
        ),
        (
            json!([{"name": "pdf"}, {"name": "csv"}]),
            Some(1),
            "2 skills are declared to be loaded, and 1 may be loaded at once; declare fewer",
        ),
    ] {
        let error = state.skills("", LoadMode::Turn).apply_declared(&requests(declared), limit, known).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let both = json!({"name": "pdf", "docs": ["a.md"], "include_all_docs": true});
    let error = serde_json::from_value::<LoadRequest>(both).unwrap_err();
    assert_eq!(error.to_string(), "skill `pdf`: give either docs or include_all_docs");
    assert_eq!(
        requests(json!([{"skill_name": "pdf", "include_all_docs": true}]))[0],
        LoadRequest { skill: "pdf".into(), documents: Selection::All }
    );
}

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
    let expected = Loaded { name: "b".into(), documents: Selection::None, tools: Selection::None };
    assert_eq!(skills.loaded(), [expected]);
    assert_eq!(state.call_artifacts(), None);
    let warnings: Vec<String> = skills.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "the state's value of `temp:skill:artifacts` is ignored: expected a tool_call_id and artifacts with name and \
             version",
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

/// Any JSON, small.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        prop_oneof![Just("1"), Just("*"), Just("[\"a\"]"), Just("[1"), Just("")].prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(prop_oneof![Just("a"), Just("b"), Just(" ")], 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    let temporary = prop_oneof![Just(""), Just("temp:")];
    let part = prop_oneof![Just("loaded"), Just("docs"), Just("tools"), Just("loaded_order")];
    let scope = prop_oneof![Just(":"), Just("_by_agent:a/"), Just("_by_agent:a")];
    let name = prop_oneof![Just("a"), Just("b"), Just(" "), Just("")];
    (temporary, part, scope, name)
        .prop_map(|(temporary, part, scope, name)| format!("{temporary}skill:{part}{scope}{name}"))
}

proptest! {
    /// Whatever is in a store, nothing panics, loaded skills are there once, and operations do what they say.
    #[test]
    fn any_state_can_be_used(
        entries in prop::collection::btree_map(any_key(), any_value(), 0..12),
        agent in prop_oneof![Just(""), Just("a")],
        mode in prop_oneof![Just(LoadMode::Once), Just(LoadMode::Turn), Just(LoadMode::Session)],
    ) {
        let mut state: State = entries.into_iter().collect();
        let _ = state.skills(agent, mode).warnings();
        state.apply(&state.skills(agent, mode).migrate(&BTreeMap::new()));
        state.apply(&state.skills(agent, mode).load("a", &Selection::All, &Selection::None));
        let loaded = state.skills(agent, mode).loaded();
        prop_assert_eq!(loaded.last().map(|loaded| loaded.name.as_str()), Some("a"));
        let mut names: Vec<&str> = loaded.iter().map(|loaded| loaded.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        prop_assert_eq!(names.len(), loaded.len());
        prop_assert_eq!(&loaded[loaded.len() - 1].documents, &Selection::All);
        state.apply(&state.skills(agent, mode).evict(1).1);
        prop_assert_eq!(state.skills(agent, mode).loaded().len(), 1);
        state.apply(&state.skills(agent, mode).unload("a"));
        prop_assert_eq!(state.skills(agent, mode).loaded(), vec![]);
    }
}
