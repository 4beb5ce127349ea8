//! What operations do to a state.

mod any;
mod declared;
mod foreign;

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
        let expected = [Loaded {
            name: "pdf".into(),
            documents: Selection::of(["a.md"]),
            tools: Selection::All,
            in_conversation: false,
        }]
        .to_vec();
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
    let expected = Loaded {
        name: "a".into(),
        documents: Selection::of(["y.md"]),
        tools: Selection::of(["t"]),
        in_conversation: false,
    };
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
        "temp:skill:loaded:z": "1", "temp:skill:loaded:y": true, "temp:skill:loaded:b": "1",
        "temp:skill:loaded:off": "0",
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
