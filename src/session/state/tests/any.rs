//! Whatever a state has in it.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

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
