//! Answers, as they come in every form.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use wskill::agent::{Client, Completion, Finish, ToolCall, ToolSpec};

use super::server::{Reply, Server, call, choice, delta, finish, text, usage};
use super::{Events, KEY, client, settings, user};

async fn ask(reply: Reply) -> (Completion, Events) {
    let server = Server::start(vec![reply]);
    let events = Events::default();
    let answer = client(&server).complete(&[user("Hello")], &[], &|event| events.push(&event)).await;
    (answer.unwrap(), events)
}

fn tool_call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
}

#[tokio::test]
async fn the_request() {
    let parameters = json!({"type": "object", "properties": {"command": {"type": "string"}}});
    let tool = ToolSpec { name: "run".into(), description: "Runs.".into(), parameters: parameters.clone() };
    let server = Server::start(vec![Reply::says("a"), Reply::says("b")]);
    let client = client(&server);
    let messages = [json!({"role": "system", "content": "Be short."}), user("Hello")];
    client.complete(&messages, &[tool], &|_| {}).await.unwrap();
    client.complete(&messages, &[], &|_| {}).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].target, "POST /v1/chat/completions");
    assert_eq!(requests[0].headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(requests[0].headers["content-type"], "application/json");
    assert_eq!(requests[0].headers["accept-encoding"], "identity");
    let function = json!({"name": "run", "description": "Runs.", "parameters": parameters});
    let mut wanted = json!({
        "model": "test-model", "messages": messages, "stream": true, "stream_options": {"include_usage": true},
        "tools": [{"type": "function", "function": function}],
    });
    assert_eq!(requests[0].body, wanted);
    // An empty list of tools is not sent.
    wanted.as_object_mut().unwrap().remove("tools");
    assert_eq!(requests[1].body, wanted);
}

#[tokio::test]
async fn text_and_usage() {
    let chunks = [
        delta(json!({"role": "assistant", "content": ""})),
        text("Grüße, "),
        text("\u{1f600}!"),
        finish("stop"),
        usage(10, 4, 3),
    ];
    let (answer, events) = ask(Reply::chunks(&chunks)).await;
    assert_eq!(answer.text, "Grüße, \u{1f600}!");
    assert_eq!(answer.finish, Finish::Stop);
    assert_eq!(answer.usage.map(|usage| (usage.prompt, usage.cached, usage.completion)), Some((10, 4, 3)));
    assert_eq!(answer.message(), json!({"role": "assistant", "content": "Grüße, \u{1f600}!"}));
    assert_eq!(events.all(), ["text Grüße, ", "text \u{1f600}!"]);
}

/// One stream, cut into pieces of every size, which puts borders into lines, into their ends and into characters.
#[tokio::test]
async fn pieces_of_every_size() {
    let chunks = [
        text("Ü\u{1f600}"),
        call(json!({"index": 0, "id": "c", "function": {"name": "t", "arguments": "{\"é\":"}})),
        call(json!({"index": 0, "function": {"arguments": "1}"}})),
        finish("tool_calls"),
    ];
    for end in ["\n", "\r\n", "\r"] {
        let mut stream = format!(": a comment{end}{end}event: message{end}");
        for chunk in &chunks {
            stream += &format!("data: {chunk}{end}{end}");
        }
        stream += &format!("data: [DONE]{end}{end}");
        for size in [1, 2, 3, 5, 7, 11, 64, 1000, stream.len()] {
            let pieces = stream.as_bytes().chunks(size);
            let (answer, _) = ask(pieces.fold(Reply::stream(), Reply::piece).end()).await;
            assert_eq!(answer.text, "Ü\u{1f600}", "{end:?}, pieces of {size}");
            assert_eq!(answer.calls, [tool_call("c", "t", "{\"é\":1}")], "{end:?}, pieces of {size}");
        }
    }
}

#[tokio::test]
async fn calls_of_tools() {
    let function = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});
    let piece = |index: Value, id: Value, function: Value| {
        let mut piece = json!({"index": index, "id": id, "function": function});
        piece.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        call(piece)
    };
    let one = tool_call("a", "f", "{\"x\":1}");
    let two = tool_call("b", "g", "{}");
    let null = Value::Null;
    for (case, chunks, wanted) in [
        (
            "interleaved",
            vec![
                piece(json!(0), json!("a"), function("f", "")),
                piece(json!(1), json!("b"), function("g", "{")),
                piece(json!(0), null.clone(), json!({"arguments": "{\"x\""})),
                piece(json!(1), null.clone(), json!({"arguments": "}"})),
                piece(json!(0), null.clone(), json!({"arguments": ":1}"})),
            ],
            vec![one.clone(), two.clone()],
        ),
        (
            "in another order than their indexes",
            vec![
                piece(json!(7), json!("b"), function("g", "{}")),
                piece(json!(2), json!("a"), function("f", "{\"x\":1}")),
            ],
            vec![one.clone(), two.clone()],
        ),
        (
            "several in one chunk",
            vec![delta(json!({"tool_calls": [
                {"index": 0, "id": "a", "function": function("f", "{\"x\":1}")},
                {"index": 1, "id": "b", "function": function("g", "{}")},
            ]}))],
            vec![one.clone(), two.clone()],
        ),
        (
            "without indexes",
            vec![
                piece(null.clone(), json!("a"), function("f", "{\"x\"")),
                piece(null.clone(), null.clone(), json!({"arguments": ":1}"})),
                piece(null.clone(), json!("b"), function("g", "{}")),
            ],
            vec![one.clone(), two.clone()],
        ),
        (
            "all with the index 0",
            vec![
                piece(json!(0), json!("a"), function("f", "{\"x\":1}")),
                piece(json!(0), json!("b"), function("g", "{}")),
            ],
            vec![one.clone(), two.clone()],
        ),
        (
            "id and name in each piece",
            vec![
                piece(json!(0), json!("a"), function("f", "{\"x\"")),
                piece(json!(0), json!("a"), function("f", ":1}")),
            ],
            vec![one.clone()],
        ),
        (
            "a huge index",
            vec![
                piece(json!(u64::MAX), json!("a"), function("f", "{\"x\":1}")),
                piece(null.clone(), json!("b"), function("g", "{}")),
            ],
            vec![one.clone(), two.clone()],
        ),
        (
            "without ids",
            vec![
                piece(json!(0), null.clone(), function("f", "{\"x\":1}")),
                piece(json!(1), json!(""), function("g", "{}")),
            ],
            vec![tool_call("call_0", "f", "{\"x\":1}"), tool_call("call_1", "g", "{}")],
        ),
        (
            "with the same id",
            vec![
                piece(json!(0), json!("a"), function("f", "{\"x\":1}")),
                piece(json!(1), json!("a"), function("g", "{}")),
            ],
            vec![one.clone(), tool_call("acall_1", "g", "{}")],
        ),
        (
            "arguments that are no text",
            vec![piece(json!(0), json!("a"), json!({"name": "f", "arguments": {"x": 1}}))],
            vec![one.clone()],
        ),
        (
            "arguments that never come",
            vec![piece(json!(0), json!("a"), json!({"name": "f"}))],
            vec![tool_call("a", "f", "")],
        ),
    ] {
        for reason in ["tool_calls", "stop"] {
            let chunks: Vec<_> = chunks.iter().cloned().chain([finish(reason)]).collect();
            let (answer, _) = ask(Reply::chunks(&chunks)).await;
            assert_eq!(answer.calls, wanted, "{case}");
        }
    }
}

#[tokio::test]
async fn answers_that_are_a_little_different() {
    let whole = |message: Value| {
        json!({
            "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 2},
        })
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let parts = [json!({"type": "text", "text": "Hel"}), json!({"type": "x"}), json!({"type": "text", "text": "lo"})];
    let no_error = json!({"error": null, "choices": [{"delta": {"content": "Hello"}}]});
    for (case, reply) in [
        ("whole", Reply::json(200, &whole(json!({"role": "assistant", "content": "Hello"})))),
        (
            "whole, with spaces before it",
            Reply::status(200, &[], format!("\r\n \n{}", whole(json!({"content": "Hello"})))),
        ),
        ("whole, said to be a stream", Reply::stream().piece(whole(json!({"content": "Hello"})).to_string()).end()),
        (
            "a stream, said to be JSON",
            Reply::status(
                200,
                &[("content-type", "application/json")],
                format!("data: {}\n\ndata: {}\n\ndata: [DONE]\n\n", text("Hello"), finish("stop")),
            ),
        ),
        ("whole in one event", Reply::stream().data(&whole(json!({"content": "Hello"}))).done()),
        ("without [DONE]", Reply::stream().data(&text("Hello")).data(&finish("stop")).end()),
        ("without finish_reason", Reply::stream().data(&text("Hello")).done()),
        ("without the last empty line", Reply::stream().data(&text("Hello")).piece("data: [DONE]").end()),
        ("after [DONE]", Reply::stream().data(&text("Hello")).piece("data: [DONE]\n\ndata: {nonsense\n\n").end()),
        ("the end of HTTP is missing", Reply::stream().data(&text("Hello")).data(&finish("stop"))),
        ("ended by the connection", Reply::raw(head).then(format!("data: {}\n\ndata: [DONE]\n\n", text("Hello")))),
        ("with a byte order mark", Reply::stream().piece("\u{feff}").data(&text("Hello")).done()),
        ("with empty lines first", Reply::stream().piece("\n\r\n\n").data(&text("Hello")).done()),
        (
            "with comments",
            Reply::stream().piece(": wait\n\n").data(&text("Hel")).piece(":\n\n").data(&text("lo")).done(),
        ),
        ("empty data", Reply::stream().piece("data:\n\ndata: \n\n").data(&text("Hello")).done()),
        ("without choices at first", Reply::stream().data(&json!({"choices": []})).data(&text("Hello")).done()),
        (
            "other choices too",
            Reply::stream().data(&choice(json!({"index": 1, "delta": {"content": "x"}}))).data(&text("Hello")).done(),
        ),
        ("parts", Reply::stream().data(&delta(json!({"content": parts}))).done()),
        ("a refusal", Reply::stream().data(&delta(json!({"content": null, "refusal": "Hello"}))).done()),
        (
            "nulls",
            Reply::stream().data(&text("Hello")).data(&delta(json!({"content": null, "tool_calls": null}))).done(),
        ),
        ("a null error", Reply::stream().data(&no_error).done()),
    ] {
        let (answer, events) = ask(reply).await;
        assert_eq!(answer.text, "Hello", "{case}");
        assert_eq!(events.text(), "Hello", "{case}");
        assert_eq!(answer.finish, Finish::Stop, "{case}");
    }
}

#[tokio::test]
async fn reasons_to_end() {
    for (reason, wanted) in [
        ("stop", Finish::Stop),
        ("length", Finish::Length),
        ("content_filter", Finish::ContentFilter),
        ("tool_calls", Finish::ToolCalls),
        ("eos", Finish::Other("eos".into())),
    ] {
        assert_eq!(ask(Reply::chunks(&[text("a"), finish(reason)])).await.0.finish, wanted);
    }
}

#[tokio::test]
async fn thoughts_are_apart() {
    for field in ["reasoning_content", "reasoning"] {
        let chunks = [delta(json!({field: "Let me "})), delta(json!({field: "see."})), text("Yes."), finish("stop")];
        let (answer, events) = ask(Reply::chunks(&chunks)).await;
        assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), ("Yes.", "Let me see."));
        assert_eq!(events.all(), ["reasoning Let me ", "reasoning see.", "text Yes."]);
    }
}

/// A server that does not know how to tell the usage is asked without it, now and later.
#[tokio::test]
async fn usage_is_optional() {
    for (status, body) in [
        (400, json!({"error": {"message": "Unrecognized request argument supplied: stream_options"}})),
        (422, json!({"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]})),
    ] {
        let server = Server::start(vec![Reply::json(status, &body), Reply::says("a"), Reply::says("b")]);
        let (client, events) = (client(&server), Events::default());
        for wanted in ["a", "b"] {
            let answer = client.complete(&[user("Hello")], &[], &|event| events.push(&event)).await.unwrap();
            assert_eq!(answer.text, wanted);
            assert_eq!(answer.usage, None);
        }
        let asked: Vec<_> =
            server.requests().iter().map(|request| request.body.get("stream_options").is_some()).collect();
        assert_eq!(asked, [true, false, false]);
        assert_eq!(events.all(), ["text a", "text b"]);
    }
}

#[tokio::test]
async fn usage_that_lies() {
    for usage in [json!(null), json!({}), json!("much"), json!({"prompt_tokens": -1}), json!({"prompt_tokens": "3"})] {
        let mut last = finish("stop");
        last["usage"] = usage;
        assert_eq!(ask(Reply::chunks(&[text("a"), last])).await.0.usage, None);
    }
}

/// A server that sends the key back gets it into nothing.
#[tokio::test]
async fn the_key_is_taken_out() {
    let (half, rest) = KEY.split_at(10);
    let function = json!({"name": format!("f{KEY}"), "arguments": format!("{{\"a\":\"{half}")});
    let chunks = [
        text("Your key is s"),
        text(&format!("k, no: {half}")),
        text(&format!("{rest}, and {half}")),
        delta(json!({"reasoning": format!("I see {KEY}")})),
        call(json!({"index": 0, "id": KEY, "function": function})),
        call(json!({"index": 0, "function": {"arguments": format!("{rest}\"}}")}})),
        finish("tool_calls"),
    ];
    let (answer, events) = ask(Reply::chunks(&chunks)).await;
    assert_eq!(answer.text, format!("Your key is sk, no: [redacted], and {half}"));
    assert_eq!(events.text(), answer.text);
    assert_eq!(answer.reasoning, "I see [redacted]");
    assert_eq!(answer.calls, [tool_call("[redacted]", "f[redacted]", "{\"a\":\"[redacted]\"}")]);
}

#[tokio::test]
async fn debug_does_not_show_the_key() {
    let server = Server::start(Vec::new());
    let client = client(&server);
    let shown = format!("{client:?} {:#?}", client.settings());
    assert!(shown.contains("Secret([redacted])") && !shown.contains("0123456789"), "{shown}");
}

/// The next request goes over the same connection.
#[tokio::test]
async fn connections_are_kept() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for _ in 0..3 {
            let mut asked = Vec::new();
            let mut buffer = [0; 4096];
            while !asked.ends_with(b"}") {
                let length = stream.read(&mut buffer).unwrap();
                assert!(length > 0, "the connection was closed");
                asked.extend_from_slice(&buffer[..length]);
            }
            let event = format!("data: {}\n\ndata: [DONE]\n\n", text("Hello"));
            let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
            write!(stream, "{head}{:x}\r\n{event}\r\n", event.len()).unwrap();
            // The end comes a little later, as from a proxy.
            thread::sleep(Duration::from_millis(5));
            write!(stream, "0\r\n\r\n").unwrap();
        }
    });
    let client = Client::new(settings(&url)).unwrap();
    for _ in 0..3 {
        assert_eq!(client.complete(&[user("Hello")], &[], &|_| {}).await.unwrap().text, "Hello");
    }
    server.join().unwrap();
}
