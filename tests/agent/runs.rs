//! Whole runs: what the model is asked, what tools are called, what is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wskill::agent::{Agent, Cancel, Ending, Prompt, ToolSpec, Tools};

use super::server::{Reply, Server, call, finish, text, usage};
use super::{Events, KEY, client, user};

/// Tools that do what their names say.
#[derive(Default)]
pub struct Kit {
    calls: AtomicUsize,
}

#[async_trait::async_trait]
impl Tools for Kit {
    fn specs(&self) -> Vec<ToolSpec> {
        ["echo", "fail", "wait", "leak", "large"]
            .map(|name| {
                let parameters = json!({"type": "object", "properties": {}});
                ToolSpec { name: name.into(), description: format!("Does {name}."), parameters }
            })
            .into()
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Value, String> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        match name {
            "echo" => Ok(arguments),
            "fail" => Err(format!("failed with {arguments}")),
            "leak" => Err(format!("{{\"key\": \"{KEY}\"}}")),
            "large" => Ok("é".repeat(1 << 20).into()),
            "wait" => {
                tokio::time::sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap())).await;
                Ok(format!("waited\n  {}\u{1b} ms", arguments["ms"]).into())
            }
            _ => unreachable!("{name} was not offered"),
        }
    }
}

pub fn agent(server: &Server) -> Agent {
    Agent::builder(client(server), Arc::new(Kit::default())).build()
}

pub fn tool(id: &str, content: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

pub fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

pub fn calls(calls: &[(&str, &str, &str)]) -> Value {
    let calls: Vec<_> = calls.iter().map(|(id, name, arguments)| {
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
    }).collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

#[tokio::test]
async fn one_answer() {
    let server = Server::start(vec![Reply::chunks(&[text("Hel"), text("lo"), finish("stop"), usage(5, 1, 2)])]);
    let (mut agent, events) = (agent(&server), Events::default());
    let run = agent.run("Hi", &|event| events.push(&event), &Cancel::new()).await.unwrap();
    assert_eq!((run.ending, run.text.as_str(), run.steps), (Ending::Answered, "Hello", 1));
    assert_eq!((run.usage.prompt, run.usage.cached, run.usage.completion), (5, 1, 2));
    assert_eq!(events.all(), ["step 1", "text Hel", "text lo", "usage 5 1 2"]);
    assert_eq!(agent.messages(), [user("Hi"), assistant("Hello")]);
}

#[tokio::test]
async fn tools_until_an_answer() {
    let first = [("a", "echo", "{\"x\": 1}")];
    let server = Server::start(vec![
        Reply::calls(&first),
        Reply::calls(&[("b", "fail", "")]),
        Reply::says("Done"),
        Reply::says("Again"),
    ]);
    let (mut agent, events) = (agent(&server), Events::default());
    let run = agent.run("Hi", &|event| events.push(&event), &Cancel::new()).await.unwrap();
    assert_eq!((run.ending, run.text.as_str(), run.steps), (Ending::Answered, "Done", 3));
    assert_eq!(
        events.all(),
        [
            "step 1",
            "begin a echo {\"x\":1}",
            "end a echo {\"x\":1}",
            "step 2",
            "begin b fail {}",
            "end b fail error {\"error\":\"failed with {}\"}",
            "step 3",
            "text Done",
        ]
    );
    let conversation = [
        user("Hi"),
        calls(&first),
        tool("a", "{\"x\":1}"),
        calls(&[("b", "fail", "{}")]),
        tool("b", "{\"error\":\"failed with {}\"}"),
        assistant("Done"),
    ];
    assert_eq!(agent.messages(), conversation);
    assert_eq!(server.messages(0), conversation[..1]);
    assert_eq!(server.messages(1), conversation[..3]);
    assert_eq!(server.messages(2), conversation[..5]);
    let names: Vec<_> = server.requests()[0].body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].clone())
        .collect();
    assert_eq!(names, ["echo", "fail", "wait", "leak", "large"]);
    // The conversation goes on.
    agent.run("More", &|_| {}, &Cancel::new()).await.unwrap();
    assert_eq!(server.messages(3), [&conversation[..], &[user("More")]].concat());
}

#[tokio::test]
async fn calls_of_one_answer_run_at_once() {
    let first = [("a", "wait", "{\"ms\":400}"), ("b", "wait", "{\"ms\":200}"), ("c", "wait", "{\"ms\":300}")];
    let server = Server::start(vec![Reply::calls(&first), Reply::says("Done")]);
    let (mut agent, events) = (agent(&server), Events::default());
    let begin = Instant::now();
    agent.run("Hi", &|event| events.push(&event), &Cancel::new()).await.unwrap();
    assert!(begin.elapsed() < Duration::from_millis(800), "{:?}", begin.elapsed());
    let ended: Vec<_> = events.all().into_iter().filter(|event| event.starts_with("end")).collect();
    assert_eq!(ended, ["end b wait waited 200 ms", "end c wait waited 300 ms", "end a wait waited 400 ms"]);
    let results: Vec<_> = agent.messages()[2..5].iter().map(|message| message["tool_call_id"].clone()).collect();
    assert_eq!(results, ["a", "b", "c"]);
}

#[tokio::test]
async fn wrong_calls_are_told_to_the_model() {
    let wrong = [
        ("a", "echo", "{\"x\": }"),
        ("b", "echo", "[1]"),
        ("c", "erase", "{}"),
        ("d", "leak", "{}"),
        ("e", "echo", "{\"x\":2}"),
    ];
    let server = Server::start(vec![Reply::calls(&wrong), Reply::says("Done")]);
    let events = Events::default();
    let kit = Arc::new(Kit::default());
    let mut agent = Agent::builder(client(&server), kit.clone()).build();
    let run = agent.run("Hi", &|event| events.push(&event), &Cancel::new()).await.unwrap();
    assert_eq!(run.ending, Ending::Answered);
    assert_eq!(kit.calls.load(Ordering::SeqCst), 2);
    let error = |text: &str| json!({ "error": text }).to_string();
    let no_json =
        "the arguments are no JSON: expected value at line 1 column 7, after `{\"x\": }`; send the call again";
    assert_eq!(
        agent.messages()[1..],
        [
            calls(&[
                ("a", "echo", "{}"),
                ("b", "echo", "{}"),
                ("c", "erase", "{}"),
                ("d", "leak", "{}"),
                ("e", "echo", "{\"x\":2}")
            ]),
            tool("a", &error(no_json)),
            tool("b", &error("the arguments must be a JSON object, not an array")),
            tool("c", &error("there is no tool `erase`; there are echo, fail, wait, leak, large")),
            tool("d", &error("{\"key\": \"[redacted]\"}")),
            tool("e", "{\"x\":2}"),
            assistant("Done"),
        ]
    );
    assert!(events.all().contains(&"begin a echo null".to_owned()));
}

#[tokio::test]
async fn results_are_bounded() {
    let server = Server::start(vec![Reply::calls(&[("a", "large", "{}")]), Reply::says("Done")]);
    let (mut agent, events) = (agent(&server), Events::default());
    agent.run("Hi", &|event| events.push(&event), &Cancel::new()).await.unwrap();
    let wanted = format!("{}\n[cut off: 1048576 of 2097152 bytes]", "é".repeat(1 << 19));
    assert!(agent.messages()[2]["content"] == wanted);
    assert!(events.all().contains(&format!("end a large {}…", "é".repeat(119))));
}

#[tokio::test]
async fn steps_are_bounded() {
    let server = Server::serve(|_, _| Reply::calls(&[("a", "echo", "{}")]));
    let events = Events::default();
    let mut agent = Agent::builder(client(&server), Arc::new(Kit::default())).max_steps(3).build();
    let run = agent.run("Hi", &|event| events.push(&event), &Cancel::new()).await.unwrap();
    assert_eq!((run.ending, run.text.as_str(), run.steps), (Ending::StepLimit, "", 3));
    assert_eq!(events.all().last().unwrap(), "StepLimit { max_steps: 3 }");
    assert_eq!(server.requests().len(), 3);
    // The last calls were answered too.
    assert_eq!(agent.messages().len(), 7);
    assert_eq!(agent.messages()[6], tool("a", "{}"));
    let mut agent = super::runs::agent(&server);
    assert_eq!(agent.run("Hi", &|_| {}, &Cancel::new()).await.unwrap().steps, 32);
}

#[tokio::test]
async fn answers_that_are_not_whole() {
    for (reason, wanted) in [("length", Ending::CutOff), ("content_filter", Ending::Withheld)] {
        let server = Server::start(vec![Reply::chunks(&[text("Hel"), finish(reason)])]);
        let run = agent(&server).run("Hi", &|_| {}, &Cancel::new()).await.unwrap();
        assert_eq!((run.ending, run.text.as_str()), (wanted, "Hel"));
    }
}

/// An answer that is cut off in a call is no call.
#[tokio::test]
async fn calls_that_are_not_whole() {
    let error = json!({
        "error": "your answer became too long and was cut off in the arguments of this call; split the work into \
                  several shorter calls",
    });
    for (arguments, wanted) in [("", &error), ("{\"x\":", &error), ("{\"x\":1}", &json!({"x": 1}))] {
        let piece = |index: u64, id: &str, arguments: &str| {
            call(json!({"index": index, "id": id, "function": {"name": "echo", "arguments": arguments}}))
        };
        let first = Reply::chunks(&[piece(0, "a", ""), piece(1, "b", arguments), finish("length")]);
        let server = Server::start(vec![first, Reply::says("Done")]);
        let mut agent = agent(&server);
        let run = agent.run("Hi", &|_| {}, &Cancel::new()).await.unwrap();
        assert_eq!(run.ending, Ending::Answered);
        assert_eq!(agent.messages()[2..4], [tool("a", "{}"), tool("b", &wanted.to_string())], "{arguments}");
    }
}

/// A name that the API does not allow would have the server refuse the conversation from then on.
#[tokio::test]
async fn names_that_are_none() {
    let server = Server::start(vec![Reply::calls(&[("a", "run it!", "{}")]), Reply::says("Done")]);
    let mut agent = agent(&server);
    agent.run("Hi", &|_| {}, &Cancel::new()).await.unwrap();
    let error = json!({"error": "there is no tool `run it!`; there are echo, fail, wait, leak, large"}).to_string();
    assert_eq!(agent.messages()[1..3], [calls(&[("a", "run_it_", "{}")]), tool("a", &error)]);
}

/// A prompt that counts.
struct Counting(AtomicUsize);

impl Prompt for Counting {
    fn apply(&self, messages: &mut Vec<Value>) {
        let count = self.0.fetch_add(1, Ordering::SeqCst);
        messages.insert(0, json!({"role": "system", "content": format!("prompt {count}")}));
    }
}

#[tokio::test]
async fn the_prompt_is_put_into_each_request_and_not_kept() {
    let server = Server::start(vec![Reply::calls(&[("a", "echo", "{}")]), Reply::says("Done")]);
    let prompt = Arc::new(Counting(AtomicUsize::new(1)));
    let mut agent = Agent::builder(client(&server), Arc::new(Kit::default())).prompt(prompt).build();
    agent.run("Hi", &|_| {}, &Cancel::new()).await.unwrap();
    for number in 0..2 {
        let system = json!({"role": "system", "content": format!("prompt {}", number + 1)});
        assert_eq!(server.messages(number)[0], system);
        assert_eq!(server.messages(number)[1], user("Hi"));
    }
    assert_eq!(agent.messages()[0], user("Hi"));
}

#[tokio::test]
async fn without_tools_and_with_a_fixed_prompt() {
    let server = Server::start(vec![Reply::calls(&[("a", "echo", "{}")]), Reply::says("Done")]);
    let mut agent = Agent::builder(client(&server), Arc::new(())).prompt(Arc::new("Be short.".to_owned())).build();
    agent.run("Hi", &|_| {}, &Cancel::new()).await.unwrap();
    assert_eq!(server.requests()[0].body.get("tools"), None);
    assert_eq!(server.messages(0)[0], json!({"role": "system", "content": "Be short."}));
    assert_eq!(agent.messages()[2], tool("a", "{\"error\":\"there is no tool `echo`, and no other\"}"));
}

/// The loop can run on any task.
#[tokio::test(flavor = "multi_thread")]
async fn runs_are_send() {
    let chunk = call(json!({"index": 0, "id": "a", "function": {"name": "echo", "arguments": "{}"}}));
    let server = Server::start(vec![Reply::chunks(&[chunk, finish("stop")]), Reply::says("Done")]);
    let mut agent = agent(&server);
    let task = tokio::spawn(async move { agent.run("Hi", &|_| {}, &Cancel::new()).await.unwrap().text });
    assert_eq!(task.await.unwrap(), "Done");
}
