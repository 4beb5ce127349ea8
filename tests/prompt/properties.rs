//! What holds for any texts and messages.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use wskill::prompt::messages::{MessageOptions, anthropic, openai};
use wskill::prompt::{LoadedDocument, LoadedSkill, PromptOptions, SystemPrompt};

use super::five;

const NAMES: [&str; 3] = ["log-triage", "pdf-forms", "python-math"];
const PIECES: [&str; 17] = [
    "a",
    " ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\u{2028}",
    "\\",
    "\u{200b}",
    "[Loaded] pdf-forms",
    "[Doc] x",
    "Docs loaded:",
    "Available skills:",
    "Loaded skill context:\n",
    "<skill_context>\n",
    "</skill_context>\n",
    "Tools selected: y",
];

fn text() -> impl Strategy<Value = String> {
    vec(select(&PIECES[..]), 0..12).prop_map(|pieces| pieces.concat())
}

/// What a caller writes, without lines that have a meaning.
fn plain() -> impl Strategy<Value = String> {
    vec(select(&["Be brief.", "\n", "\n\n", " ", "é", "Available skills: see below"][..]), 1..6)
        .prop_map(|pieces| pieces.concat())
}

fn skill() -> impl Strategy<Value = LoadedSkill> {
    let document = (select(&["a.md", "b.md"][..]), text())
        .prop_map(|(path, content)| LoadedDocument { path: path.to_owned(), content });
    (select(&NAMES[..]), text(), vec(document, 0..3)).prop_map(|(name, body, documents)| LoadedSkill {
        name: name.to_owned(),
        body,
        documents,
        ..LoadedSkill::default()
    })
}

fn prompt() -> impl Strategy<Value = SystemPrompt> {
    let five = five();
    vec(skill(), 0..4).prop_map(move |loaded| SystemPrompt::new(&five, &loaded, &PromptOptions::default()))
}

fn options() -> impl Strategy<Value = MessageOptions> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(tool_results, has_summary, skip_fallback_on_summary)| {
        MessageOptions { tool_results, has_summary, skip_fallback_on_summary }
    })
}

fn content(text: impl Strategy<Value = String>) -> impl Strategy<Value = Value> {
    (text, any::<bool>())
        .prop_map(|(text, list)| if list { json!([{"type": "text", "text": text}]) } else { text.into() })
}

fn message<T: Strategy<Value = String> + 'static>(text: fn() -> T) -> impl Strategy<Value = Vec<Value>> {
    prop_oneof![
        content(text()).prop_map(|content| vec![json!({"role": "system", "content": content})]),
        content(text()).prop_map(|content| vec![json!({"role": "user", "content": content})]),
        (select(&NAMES[..]), select(&["skill_load", "skill_select_docs", "skill_run"][..]), content(text()), 0..3)
            .prop_map(|(skill, tool, content, id)| {
                let arguments = json!({"skill": skill}).to_string();
                let call = json!({"id": format!("{id}"), "function": {"name": tool, "arguments": arguments}});
                vec![
                    json!({"role": "assistant", "tool_calls": [call]}),
                    json!({"role": "tool", "tool_call_id": format!("{id}"), "content": content}),
                ]
            }),
    ]
}

fn messages<T: Strategy<Value = String> + 'static>(text: fn() -> T) -> impl Strategy<Value = Value> {
    vec(message(text), 0..6).prop_map(|messages| messages.concat().into())
}

/// The same as a request of Anthropic.
fn as_request(messages: &Value) -> Value {
    let mut system = Vec::new();
    let mut list = Vec::new();
    for message in messages.as_array().unwrap() {
        let content = &message["content"];
        match message["role"].as_str().unwrap() {
            "system" => system.push(json!({"type": "text", "text": content.as_str().unwrap_or("x")})),
            "assistant" => {
                let call = &message["tool_calls"][0];
                let input: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
                let call =
                    json!({"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": input});
                list.push(json!({"role": "assistant", "content": [call]}));
            }
            "tool" => {
                let id = &message["tool_call_id"];
                let result = json!({"type": "tool_result", "tool_use_id": id, "content": content});
                list.push(json!({"role": "user", "content": [result]}));
            }
            _ => list.push(message.clone()),
        }
    }
    json!({"system": system, "messages": list})
}

/// Every string in a value.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_body_makes_a_line_that_is_a_marker(skills in vec(skill(), 0..4)) {
        let options = PromptOptions::default();
        let told = SystemPrompt::new(&five(), &skills, &options).to_text();
        // The same with texts that have no markers.
        let harmless: Vec<LoadedSkill> = skills
            .iter()
            .map(|skill| {
                let mut skill = skill.clone();
                let documents = skill.documents.iter_mut().map(|document| &mut document.content);
                for text in std::iter::once(&mut skill.body).chain(documents) {
                    *text = if text.is_empty() { String::new() } else { "x".to_owned() };
                }
                skill
            })
            .collect();
        let expected = SystemPrompt::new(&five(), &harmless, &options).to_text();
        let markers = |text: &str| -> Vec<String> {
            let starts = [
                "[Loaded]", "[Doc]", "Docs loaded:", "Tools selected:", "Available skills:", "Loaded skill context:",
                "<skill_context>", "</skill_context>",
            ];
            let lines = text.split(['\n', '\r', '\u{2028}']);
            lines
                .map(|line| line.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{200b}'))
                .filter(|line| starts.iter().any(|start| line.starts_with(start)))
                .map(str::to_owned)
                .collect()
        };
        prop_assert_eq!(markers(&told), markers(&expected));
    }

    #[test]
    fn putting_a_prompt_in_again_changes_nothing(
        messages in messages(text), first in prompt(), second in prompt(), options in options(), others in options(),
    ) {
        for (inject, start) in [
            (openai as fn(&mut Value, &SystemPrompt, &MessageOptions) -> _, messages.clone()),
            (anthropic, as_request(&messages)),
        ] {
            let mut value = start;
            inject(&mut value, &first, &others).unwrap();
            inject(&mut value, &second, &options).unwrap();
            let once = value.clone();
            inject(&mut value, &second, &options).unwrap();
            prop_assert_eq!(once, value);
        }
    }

    #[test]
    fn all_of_the_caller_is_kept_and_nothing_is_told_twice(
        messages in messages(plain), first in prompt(), second in prompt(), options in options(), others in options(),
    ) {
        for (inject, start) in [
            (openai as fn(&mut Value, &SystemPrompt, &MessageOptions) -> _, messages.clone()),
            (anthropic, as_request(&messages)),
        ] {
            let mut value = start.clone();
            inject(&mut value, &first, &others).unwrap();
            inject(&mut value, &second, &options).unwrap();
            let all = strings(&value).concat();
            prop_assert_eq!(all.matches("<skill_context>\nAvailable skills:").count(), 1);
            for name in NAMES {
                let count = all.matches(&format!("\n[Loaded] {name}\n")).count();
                let told = second.parts().iter().any(|(part, _)| *part == format!("skill {name}"));
                prop_assert!(count <= usize::from(told), "{} {}", name, count);
                prop_assert!(count == usize::from(told) || options.tool_results && options.has_summary, "{}", name);
            }
            inject(&mut value, &SystemPrompt::default(), &options).unwrap();
            prop_assert_eq!(&value, &start);
        }
    }
}
