//! Servers that fail and lie: each failure is an error that says what to do, and retries are bounded.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::json;
use wskill::agent::{Client, ClientError, Completion, Retries, Timeouts};

use super::server::{Reply, Server, call, delta, finish, text};
use super::{Events, KEY, client, settings, user};

async fn ask(client: &Client, events: &Events) -> Result<Completion, ClientError> {
    let answer = client.complete(&[user("Hello")], &[], &|event| events.push(&event)).await;
    if let Err(error) = &answer {
        assert!(!format!("{error} {error:?} {error:#?}").contains(KEY), "{error:?}");
    }
    answer
}

/// The error of a server that does always the same, without its address, and how often it was asked.
async fn fail(reply: Reply) -> (String, usize) {
    let server = Server::serve(move |_, _| reply.clone());
    let error = ask(&client(&server), &Events::default()).await.unwrap_err();
    (error.to_string().replace(&server.url(), "URL"), server.requests().len())
}

#[tokio::test]
async fn statuses() {
    let key = format!("Incorrect API key provided: {KEY}.");
    let quota = "You exceeded your current quota.";
    let check = "check TRPC_AGENT_API_KEY or OPENAI_API_KEY";
    let html = "<html><body>502 Bad Gateway</body></html>";
    for (reply, wanted, asked) in [
        (
            Reply::error(401, &key, "invalid_api_key"),
            format!("URL refuses the key (401): Incorrect API key provided: [redacted].; {check}"),
            1,
        ),
        (Reply::error(403, "No access.", "x"), format!("URL refuses the key (403): No access.; {check}"), 1),
        (
            Reply::error(404, "The model `test-model` does not exist.", "model_not_found"),
            "URL has no chat completions or no model `test-model` (404): The model `test-model` does not exist.; \
             check the base URL and the model"
                .to_owned(),
            1,
        ),
        (
            Reply::error(429, "Slow down.", "rate_limit_exceeded"),
            "URL limits the requests (429), tried 5 times: Slow down.".into(),
            5,
        ),
        (Reply::error(429, quota, "insufficient_quota"), format!("URL limits the requests (429): {quota}"), 1),
        (
            Reply::status(429, &[("retry-after", "3600")], "wait"),
            "URL limits the requests (429): wait; it wants to be asked again in 3600 s".into(),
            1,
        ),
        (Reply::error(400, "Bad\u{1b}[31m\r\nthing.", "x"), "URL refuses the request (400): Bad [31m thing.".into(), 1),
        (Reply::status(413, &[], ""), "URL refuses the request (413): Payload Too Large".into(), 1),
        (Reply::status(418, &[], "x".repeat(2000)), format!("URL refuses the request (418): {}…", "x".repeat(500)), 1),
        (Reply::error(500, "Oops.", "x"), "URL failed (500), tried 5 times: Oops.".into(), 5),
        (Reply::status(502, &[], html), "URL failed (502), tried 5 times: Bad Gateway".into(), 5),
        (Reply::status(503, &[], ""), "URL failed (503), tried 5 times: Service Unavailable".into(), 5),
        (Reply::status(529, &[], "overloaded"), "URL failed (529), tried 5 times: overloaded".into(), 5),
        (Reply::status(501, &[], ""), "URL failed (501): Not Implemented".into(), 1),
        (Reply::status(204, &[], ""), "URL refuses the request (204): No Content".into(), 1),
        (
            Reply::status(307, &[("location", "http://127.0.0.1:1/v1/chat/completions")], ""),
            "URL leads to http://127.0.0.1:1/v1/chat/completions (307): set the base URL to where the API is".into(),
            1,
        ),
    ] {
        assert_eq!(fail(reply).await, (wanted, asked));
    }
}

#[tokio::test]
async fn answers_that_are_none() {
    let protocol = "URL does not speak the chat completions API: ";
    let lost = |bytes: usize| format!("URL: the connection was lost after {bytes} bytes of the answer");
    let half = "{\"choices\":[{\"delta\":{\"content\":\"Hel";
    let call_at = |index: usize| call(json!({"index": index, "id": format!("c{index}"), "function": {"name": "t"}}));
    let many = (0..129).map(call_at).fold(Reply::stream(), |reply, chunk| reply.data(&chunk)).done();
    for (case, reply, wanted, asked) in [
        (
            "a web page",
            Reply::status(200, &[], "<!doctype html>"),
            format!("{protocol}a web page came; check the base URL"),
            1,
        ),
        (
            "no JSON",
            Reply::status(200, &[], "{nonsense}"),
            format!("{protocol}the answer is no JSON: key must be a string at line 1 column 2"),
            1,
        ),
        ("other JSON", Reply::json(200, &json!({"answer": 42})), format!("{protocol}the answer has no `choices`"), 1),
        ("an array", Reply::status(200, &[], "[1]"), format!("{protocol}a chunk is no JSON object"), 1),
        (
            "a chunk that is no JSON",
            Reply::stream().piece("data: {nonsense}\n\n").done(),
            format!("{protocol}a chunk is no JSON: key must be a string at line 1 column 2"),
            1,
        ),
        (
            "a chunk that is no UTF-8",
            Reply::stream().piece(b"data: \"\xff\"\n\n").done(),
            format!("{protocol}a chunk is not UTF-8"),
            1,
        ),
        (
            "a chunk that is no object",
            Reply::stream().piece("data: 1\n\n").done(),
            format!("{protocol}a chunk is no JSON object"),
            1,
        ),
        ("only [DONE]", Reply::stream().done(), format!("{protocol}the answer has no `choices`"), 1),
        (
            "calls that are none",
            Reply::stream().data(&delta(json!({"tool_calls": "x"}))).done(),
            format!("{protocol}`tool_calls` is no array"),
            1,
        ),
        ("too many calls", many, format!("{protocol}more than 128 tool calls"), 1),
        (
            "gzip",
            Reply::status(200, &[("content-encoding", "gzip")], "x"),
            format!("{protocol}the answer has the encoding \"gzip\", which was not asked for"),
            1,
        ),
        (
            "nested too deeply",
            Reply::stream().piece(format!("data: {}\n\n", "[".repeat(100_000))).done(),
            format!("{protocol}a chunk is no JSON: recursion limit exceeded at line 1 column 128"),
            1,
        ),
        // Nothing was shown, so it is tried again.
        ("an empty answer", Reply::status(200, &[], ""), format!("{}, tried 5 times", lost(0)), 5),
        ("an empty stream", Reply::stream().end(), format!("{}, tried 5 times", lost(0)), 5),
        (
            "cut in a chunk",
            Reply::stream().piece(format!("data: {half}")).end(),
            format!("{}, tried 5 times", lost(half.len() + 6)),
            5,
        ),
        (
            "cut in HTTP",
            Reply::stream().piece(format!("data: {half}")),
            format!("{}, tried 5 times", lost(half.len() + 6)),
            5,
        ),
        ("cut in a whole answer", Reply::status(200, &[], half), format!("{}, tried 5 times", lost(half.len())), 5),
        (
            "shorter than said",
            Reply::raw(format!("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{half}")),
            format!("{}, tried 5 times", lost(half.len())),
            5,
        ),
        // An error in the middle.
        (
            "an error in a stream",
            Reply::stream().data(&json!({"error": {"message": format!("No {KEY}."), "type": "server_error"}})).done(),
            "URL broke off the answer: No [redacted].".to_owned(),
            1,
        ),
        (
            "an error event",
            Reply::stream().piece("event: error\ndata: {\"error\": \"No.\"}\n\n").end(),
            "URL broke off the answer: No.".to_owned(),
            1,
        ),
        (
            "an error with a status",
            Reply::stream().data(&json!({"error": {"message": "No.", "code": 502}})).done(),
            "URL failed (502), tried 5 times: No.".to_owned(),
            5,
        ),
        (
            "an error with status 200",
            Reply::json(200, &json!({"error": {"message": "No.", "code": "x"}})),
            "URL broke off the answer: No.".to_owned(),
            1,
        ),
    ] {
        assert_eq!(fail(reply).await, (wanted, asked), "{case}");
    }
}

/// Nonsense instead of HTTP, and a connection that ends at once.
#[tokio::test]
async fn servers_of_something_else() {
    for reply in [Reply::raw("SSH-2.0-x\r\n"), Reply::default()] {
        let (error, asked) = fail(reply).await;
        assert!(error.starts_with("cannot reach URL, tried 5 times: the request failed: "), "{error}");
        assert_eq!(asked, 5);
    }
}

#[tokio::test]
async fn nobody_is_there() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let client = Client::with(settings(&format!("http://127.0.0.1:{port}")), Timeouts::default(), Retries::none());
    let error = ask(&client.unwrap(), &Events::default()).await.unwrap_err();
    assert!(matches!(&error, ClientError::Connection { tries: 1, .. }), "{error:?}");
    let begin = format!("cannot reach http://127.0.0.1:{port}/v1: cannot connect: ");
    assert!(error.to_string().starts_with(&begin), "{error}");
}

/// What was shown cannot be taken back, so it is not asked for again.
#[tokio::test]
async fn a_connection_that_is_lost_in_the_middle() {
    for reply in [Reply::stream().data(&text("Hel")), Reply::stream().data(&text("Hel")).end()] {
        let server = Server::serve(move |_, _| reply.clone());
        let events = Events::default();
        let error = ask(&client(&server), &events).await.unwrap_err();
        assert!(matches!(error, ClientError::Interrupted { tries: 1, received: 100.., .. }), "{error:?}");
        assert_eq!(events.all(), ["text Hel"]);
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn failures_that_pass() {
    let half = Reply::stream().piece("data: {\"cho");
    let busy = Reply::status(429, &[("retry-after-ms", "1")], "busy");
    let replies = vec![busy, Reply::error(500, "Oops.", "x"), half, Reply::says("Hello")];
    let server = Server::start(replies);
    let events = Events::default();
    let answer = ask(&client(&server), &events).await.unwrap();
    assert_eq!(answer.text, "Hello");
    let url = server.url();
    assert_eq!(
        events.all(),
        [
            format!("retry 1: {url} limits the requests (429): busy; it wants to be asked again in 1 s"),
            format!("retry 2: {url} failed (500), tried 2 times: Oops."),
            format!("retry 3: {url}: the connection was lost after 11 bytes of the answer, tried 3 times"),
            "text Hello".to_owned(),
        ]
    );
    let bodies: Vec<_> = server.requests().into_iter().map(|request| request.body).collect();
    assert!(bodies.iter().all(|body| *body == bodies[0]));
}

#[tokio::test]
async fn the_server_says_when_to_come_back() {
    let server = Server::start(vec![Reply::status(503, &[("retry-after", "0.3")], ""), Reply::says("Hello")]);
    let begin = Instant::now();
    ask(&client(&server), &Events::default()).await.unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn silence() {
    let short = Duration::from_millis(200);
    let slow = Reply::stream().data(&text("Hel")).wait(5000);
    let drip = (0..100).fold(Reply::stream(), |reply, _| reply.piece(":\n\n").wait(50));
    for (case, reply, idle, total, wanted) in [
        ("before the answer", Reply::default().wait(5000), short, short * 50, "URL: waited 0.2 s for an answer"),
        ("in the answer", slow, short, short * 50, "URL: waited 0.2 s for more of the answer"),
        ("drop by drop", drip, short * 50, short, "URL: waited 0.2 s for the end of the answer"),
    ] {
        let server = Server::serve(move |_, _| reply.clone());
        let mut timeouts = Timeouts::default();
        (timeouts.idle, timeouts.total) = (idle, total);
        let client = Client::with(settings(&server.url()), timeouts, Retries::default()).unwrap();
        let error = ask(&client, &Events::default()).await.unwrap_err().to_string();
        assert_eq!(error.replace(&server.url(), "URL"), wanted, "{case}");
        assert_eq!(server.requests().len(), 1, "{case}");
    }
}

#[tokio::test]
async fn answers_without_end() {
    let line = "x".repeat(1 << 20);
    let repeat = |begin: &str, piece: String, times: usize| {
        (0..times).fold(Reply::stream().piece(begin), |reply, _| reply.piece(&piece))
    };
    let answer = "URL: the answer has more than 67108864 bytes";
    let piece = "URL: a piece of the answer has more than 4194304 bytes";
    for (case, reply, wanted) in [
        ("one line", repeat("data: ", line.clone(), 5), piece),
        ("one event", repeat(":", format!("data: {line}\n"), 5), piece),
        ("whole", repeat("{\"", line.clone(), 5), piece),
        ("comments", repeat(":", format!(":{line}\n"), 65), answer),
        ("spaces", repeat(" ", " ".repeat(1 << 20), 65), answer),
    ] {
        assert_eq!(fail(reply).await, (wanted.to_owned(), 1), "{case}");
    }
}

/// The key is sent to the base URL alone.
#[tokio::test]
async fn redirects_are_not_followed() {
    let other = Server::start(vec![Reply::says("Hello")]);
    let target = format!("{}/chat/completions", other.url());
    for status in [301, 302, 303, 307, 308] {
        let server = Server::start(vec![Reply::status(status, &[("location", &target)], "")]);
        let error = ask(&client(&server), &Events::default()).await.unwrap_err();
        assert!(matches!(error, ClientError::Redirect { .. }), "{error:?}");
    }
    assert_eq!(other.requests().len(), 0);
}

/// Pieces that say nothing do not stand in the way of a retry.
#[tokio::test]
async fn an_empty_beginning_is_tried_again() {
    let begun = Reply::stream().data(&delta(json!({"role": "assistant", "content": ""})));
    let server = Server::start(vec![begun, Reply::chunks(&[text("Hello"), finish("stop")])]);
    let answer = ask(&client(&server), &Events::default()).await.unwrap();
    assert_eq!(answer.text, "Hello");
}
