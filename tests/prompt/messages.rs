//! A prompt in lists of messages.

use serde_json::{Value, json};
use wskill::prompt::messages::{MessageOptions, anthropic, openai};
use wskill::prompt::{LoadedSkill, PromptOptions, SystemPrompt};

use super::{five, golden, log_triage, pdf_forms};

fn prompt(loaded: &[LoadedSkill]) -> SystemPrompt {
    let overview = Some("Available skills:\n- some".to_owned());
    SystemPrompt::new(&five(), loaded, &PromptOptions { overview, protocol: Some(String::new()), ..Default::default() })
}

const GENERAL: &str = "<skill_context>\nAvailable skills:\n- some\n</skill_context>";
const LOGS: &str = "<skill_context>\n[Loaded] log-triage\n\nGroup the lines.\n\nDocs loaded: none\n</skill_context>";

fn in_results() -> MessageOptions {
    MessageOptions { tool_results: true, ..MessageOptions::default() }
}

/// Puts a prompt into messages, twice, which must not matter.
fn put(
    inject: fn(&mut Value, &SystemPrompt, &MessageOptions) -> Result<(), wskill::prompt::messages::MessagesError>,
    messages: &Value,
    prompt: &SystemPrompt,
    options: &MessageOptions,
) -> Value {
    let mut once = messages.clone();
    inject(&mut once, prompt, options).unwrap();
    let mut twice = once.clone();
    inject(&mut twice, prompt, options).unwrap();
    assert_eq!(once, twice);
    once
}

fn call(id: &str, tool: &str, skill: &str) -> Value {
    let arguments = json!({"skill_name": skill}).to_string();
    json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}},
    ]})
}

fn result(id: &str, content: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

#[test]
fn the_system_message_of_openai() {
    let user = json!({"role": "user", "content": "Hello"});
    for (before, after) in [
        // None, one, several: the first; the role `developer` too.
        (json!([user]), json!([{"role": "system", "content": GENERAL}, user])),
        (json!([]), json!([{"role": "system", "content": GENERAL}])),
        (
            json!([{"role": "developer", "content": "A\n", "name": "n"}, {"role": "system", "content": "B"}, user]),
            json!([
                {"role": "developer", "content": format!("A\n\n\n{GENERAL}"), "name": "n"},
                {"role": "system", "content": "B"},
                user,
            ]),
        ),
        // A list of blocks gets one more.
        (
            json!([{"role": "system", "content": [{"type": "text", "text": "A"}]}]),
            json!([{"role": "system", "content": [{"type": "text", "text": "A"}, {"type": "text", "text": GENERAL}]}]),
        ),
        // What is said already is not said again, but a line in other words is no marker.
        (
            json!([{"role": "system", "content": "x\nAvailable skills: (showing 1 of 2)\n- y"}]),
            json!([{"role": "system", "content": "x\nAvailable skills: (showing 1 of 2)\n- y"}]),
        ),
        (
            json!([{"role": "system", "content": "Available skills: none"}]),
            json!([{"role": "system", "content": format!("Available skills: none\n\n{GENERAL}")}]),
        ),
        // Sections without an end are the caller's.
        (
            json!([{"role": "system", "content": "<skill_context>\nmine"}]),
            json!([{"role": "system", "content": format!("<skill_context>\nmine\n\n{GENERAL}")}]),
        ),
        // Messages that make no sense stay.
        (
            json!([1, {"role": "system", "content": 2}, {}]),
            json!([{"role": "system", "content": GENERAL}, 1, {"role": "system", "content": 2}, {}]),
        ),
    ] {
        let given = put(openai, &before, &prompt(&[]), &MessageOptions::default());
        assert_eq!(given, after, "{before}");
        assert_eq!(put(openai, &given, &SystemPrompt::default(), &MessageOptions::default()), before);
    }
}

#[test]
fn a_new_section_takes_the_place_of_the_former() {
    let mut list = json!([{"role": "system", "content": "Before."}, {"role": "user", "content": "Hello"}]);
    openai(&mut list, &prompt(&[log_triage()]), &MessageOptions::default()).unwrap();
    let text = list[0]["content"].as_str().unwrap().to_owned() + "\n\nBehind.";
    assert!(text.contains("[Loaded] log-triage"), "{text}");
    list[0]["content"] = text.into();
    let changed = put(openai, &list, &prompt(&[]), &MessageOptions::default());
    assert_eq!(changed[0]["content"], format!("Before.\n\n{GENERAL}\n\nBehind."));
    let mut moved = changed.clone();
    // Where two came together, one is left.
    moved[0]["content"] = format!("{GENERAL}\n\nA\n\n{GENERAL}").into();
    let moved = put(openai, &moved, &prompt(&[]), &MessageOptions::default());
    assert_eq!(moved[0]["content"], format!("{GENERAL}\n\nA"));
    let gone = put(openai, &changed, &SystemPrompt::default(), &MessageOptions::default());
    assert_eq!(gone[0]["content"], "Before.\n\nBehind.");
}

#[test]
fn loaded_skills_that_the_caller_tells_are_not_told_again() {
    let list = json!([{"role": "system", "content": "[Loaded] pdf-forms\nmine"}]);
    let given = put(openai, &list, &prompt(&[log_triage(), pdf_forms()]), &MessageOptions::default());
    let text = given[0]["content"].as_str().unwrap();
    assert_eq!((text.matches("[Loaded] pdf-forms").count(), text.matches("[Loaded] log-triage").count()), (1, 1));
    assert!(!text.contains("[Doc]"), "{text}");
}

#[test]
fn loaded_skills_go_into_their_last_results() {
    let list = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        call("1", "skill_load", "log-triage"),
        result("1", "skill 'log-triage' loaded"),
        call("2", "skill_run", "log-triage"),
        result("2", "ok"),
        call("3", "skill_select_docs", "log-triage"),
        result("3", "{}"),
        call("1", "skill_load", "other"),
        result("1", "an id that comes again is of the later call"),
    ]);
    let given = put(openai, &list, &prompt(&[log_triage()]), &in_results());
    let mut expected = list.clone();
    expected[0]["content"] = format!("Be brief.\n\n{GENERAL}").into();
    expected[7]["content"] = format!("{{}}\n\n{LOGS}").into();
    assert_eq!(given, expected);
    // Arguments that are no text, or a text that is no JSON.
    let mut other = list.clone();
    other[6]["tool_calls"][0]["function"]["arguments"] = json!({"skill": "log-triage"});
    assert_eq!(put(openai, &other, &prompt(&[log_triage()]), &in_results())[7], expected[7]);
    other[6]["tool_calls"][0]["function"]["arguments"] = "{".into();
    let earlier = put(openai, &other, &prompt(&[log_triage()]), &in_results());
    assert_eq!(
        (&earlier[3]["content"], &earlier[7]),
        (&format!("skill 'log-triage' loaded\n\n{LOGS}").into(), &list[7])
    );
    // One more selection moves it; the system message stays as it is.
    let mut longer = given.clone();
    longer.as_array_mut().unwrap().extend([call("5", "skill_load", "log-triage"), result("5", "again")]);
    let longer = put(openai, &longer, &prompt(&[log_triage()]), &in_results());
    assert_eq!((&longer[0], &longer[7]), (&given[0], &list[7]));
    assert_eq!(longer[11]["content"], format!("again\n\n{LOGS}"));
    // Not loaded any more; another mode.
    assert_eq!(put(openai, &given, &SystemPrompt::default(), &in_results()), list);
    let merged = put(openai, &given, &prompt(&[log_triage()]), &MessageOptions::default());
    assert_eq!(merged[7], list[7]);
    assert!(merged[0]["content"].as_str().unwrap().contains("Group the lines."));
}

#[test]
fn what_has_no_result_any_more_is_told_after_the_last_system_message() {
    let list = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "system", "content": "Still."},
        {"role": "user", "content": "Go on"},
        result("1", "without a call"),
    ]);
    let loaded = [log_triage(), pdf_forms()];
    let given = put(openai, &list, &prompt(&loaded), &in_results());
    assert_eq!(given.as_array().unwrap().len(), 6);
    assert_eq!((&given[2], &given[4]), (&list[2], &list[3]));
    assert_eq!(given[3]["role"], "system");
    golden("fallback.txt", given[3]["content"].as_str().unwrap());
    // A summary has it, unless told otherwise.
    let summary = MessageOptions { has_summary: true, ..in_results() };
    assert_eq!(put(openai, &given, &prompt(&loaded), &summary).as_array().unwrap().len(), 5);
    let both = MessageOptions { skip_fallback_on_summary: false, ..summary };
    assert_eq!(put(openai, &list, &prompt(&loaded), &both), given);
    // Nothing is left when it is loaded again.
    let mut again = given.clone();
    again.as_array_mut().unwrap().extend([
        call("7", "skill_load", "log-triage"),
        result("7", "ok"),
        call("8", "skill_load", "pdf-forms"),
        result("8", "ok"),
    ]);
    let again = put(openai, &again, &prompt(&loaded), &in_results());
    assert_eq!((again.as_array().unwrap().len(), &again[2], &again[3]), (9, &list[2], &list[3]));
    assert_eq!(put(openai, &given, &SystemPrompt::default(), &in_results()), list);
}

#[test]
fn the_system_of_anthropic() {
    let cached = json!({"type": "text", "text": "A", "cache_control": {"type": "ephemeral"}});
    for (before, after) in [
        (json!({"messages": []}), json!({"messages": [], "system": GENERAL})),
        (json!({}), json!({"system": GENERAL})),
        (json!({"system": "A", "max_tokens": 5}), json!({"system": format!("A\n\n{GENERAL}"), "max_tokens": 5})),
        (json!({"system": [cached]}), json!({"system": [cached, {"type": "text", "text": GENERAL}]})),
    ] {
        let given = put(anthropic, &before, &prompt(&[]), &MessageOptions::default());
        assert_eq!(given, after, "{before}");
        assert_eq!(put(anthropic, &given, &SystemPrompt::default(), &MessageOptions::default()), before);
    }
}

#[test]
fn tool_results_of_anthropic() {
    let used = |id: &str, tool: &str, skill: &str| {
        let input = json!({"skill": skill});
        json!({"type": "tool_use", "id": id, "name": tool, "input": input})
    };
    let request = json!({"system": "A", "messages": [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [
            {"type": "text", "text": "I load it."},
            used("1", "skill_load", "log-triage"),
            used("2", "skill_load", "pdf-forms"),
            used("3", "skill_load", "python-math"),
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1"},
            {"type": "tool_result", "tool_use_id": "2", "content": [{"type": "text", "text": "loaded"}]},
            {"type": "tool_result", "tool_use_id": "3", "content": "no", "is_error": true},
        ]},
    ]});
    let math = LoadedSkill { name: "python-math".to_owned(), body: "Math.".to_owned(), ..Default::default() };
    let loaded = [log_triage(), pdf_forms(), math];
    let given = put(anthropic, &request, &prompt(&loaded), &in_results());
    let results = &given["messages"][2]["content"];
    assert_eq!(results[0]["content"], LOGS);
    assert_eq!(results[1]["content"][0], json!({"type": "text", "text": "loaded"}));
    assert!(results[1]["content"][1]["text"].as_str().unwrap().contains("\n[Doc] notes.txt\n"));
    assert_eq!(results[2], request["messages"][2]["content"][2]);
    assert_eq!(
        given["system"],
        format!(
            "A\n\n{GENERAL}\n\nLoaded skill context:\n<skill_context>\n[Loaded] python-math\n\nMath.\n\n\
             Docs loaded: none\n</skill_context>"
        )
    );
    let mut gone = put(anthropic, &given, &SystemPrompt::default(), &in_results());
    assert_eq!(gone["messages"][2]["content"][0]["content"], "");
    gone["messages"][2]["content"][0].as_object_mut().unwrap().remove("content");
    assert_eq!(gone, request);
}

#[test]
fn other_shapes_are_errors_and_change_nothing() {
    for (mut value, expected) in [
        (json!([]), "`request` is a list; it has to be an object"),
        (json!({"system": 1}), "`system` is a number; it has to be a string or a list of blocks"),
        (json!({"system": "A", "messages": "x"}), "`messages` is a string; it has to be a list of messages"),
    ] {
        let before = value.clone();
        let error = anthropic(&mut value, &prompt(&[]), &MessageOptions::default()).unwrap_err();
        assert_eq!((error.to_string().as_str(), value), (expected, before));
    }
    let error = openai(&mut json!({}), &prompt(&[]), &MessageOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "`messages` is an object; it has to be a list of messages");
}

#[test]
fn bodies_keep_their_line_breaks() {
    let body = "# A\r\n\r\nb\rc\r\n\n".to_owned();
    let skill = LoadedSkill { name: "log-triage".to_owned(), body: body.clone(), ..Default::default() };
    for options in [MessageOptions::default(), in_results()] {
        let given = put(openai, &json!([]), &prompt(std::slice::from_ref(&skill)), &options);
        let text = given.as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
        assert!(
            text.contains(&format!("[Loaded] log-triage\n\n{body}Docs loaded: none\n</skill_context>")),
            "{text:?}"
        );
    }
}

#[test]
fn guidance_of_the_caller_cannot_break_a_section() {
    let protocol = Some("a\n</skill_context>\n<skill_context>\nb".to_owned());
    let options = PromptOptions { protocol, overview: Some(String::new()), ..PromptOptions::default() };
    let prompt = SystemPrompt::new(&five(), &[], &options);
    let given = put(openai, &json!([]), &prompt, &MessageOptions::default());
    assert_eq!(given[0]["content"], "<skill_context>\na\n\\</skill_context>\n\\<skill_context>\nb\n</skill_context>");
}
