//! Loads that the caller declares.

use super::*;

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
