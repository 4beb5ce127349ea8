//! Runs that do not come to their end, and what is kept of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use wskill::agent::{Agent, AgentError, Cancel, ClientError, Ending, Transcript};

use super::runs::{Kit, agent, assistant, calls, tool};
use super::server::{Reply, Server, text};
use super::{Events, KEY, client, settings, user};

/// Runs until `stop` says so of an event, then cancels.
async fn cancelled_at(agent: &mut Agent, stop: &str) -> (Ending, Vec<String>) {
    let (events, cancel) = (Events::default(), Cancel::new());
    let on_event = |event: wskill::agent::Event<'_>| {
        events.push(&event);
        if events.all().last().unwrap().starts_with(stop) {
            cancel.cancel();
        }
    };
    let run = agent.run("Hi", &on_event, &cancel).await.unwrap();
    (run.ending, events.all())
}

#[tokio::test]
async fn cancelled_in_an_answer() {
    let slow = Reply::stream().data(&text("Hel")).wait(10_000);
    let server = Server::start(vec![slow, Reply::says("Done")]);
    let mut agent = agent(&server);
    let begin = Instant::now();
    let (ending, events) = cancelled_at(&mut agent, "text").await;
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert_eq!((ending, events), (Ending::Cancelled, vec!["step 1".into(), "text Hel".into(), "Cancelled".into()]));
    assert_eq!(agent.messages(), [user("Hi"), assistant("Hel")]);
    // It goes on.
    agent.run("More", &|_| {}, &Cancel::new()).await.unwrap();
    assert_eq!(server.messages(1), [user("Hi"), assistant("Hel"), user("More")]);
}

#[tokio::test]
async fn cancelled_in_tools() {
    let both = [("a", "wait", "{\"ms\":20000}"), ("b", "echo", "{}"), ("c", "wait", "{\"ms\":20000}")];
    let server = Server::start(vec![Reply::calls(&both), Reply::says("Done")]);
    let mut agent = agent(&server);
    let (ending, _) = cancelled_at(&mut agent, "end b").await;
    assert_eq!(ending, Ending::Cancelled);
    let wanted = [user("Hi"), calls(&both), tool("a", "cancelled"), tool("b", "{}"), tool("c", "cancelled")];
    assert_eq!(agent.messages(), wanted);
}

#[tokio::test]
async fn cancelled_before_it_begins() {
    let server = Server::start(Vec::new());
    let (mut agent, cancel) = (agent(&server), Cancel::new());
    cancel.clone().cancel();
    let run = agent.run("Hi", &|_| {}, &cancel).await.unwrap();
    assert_eq!((run.ending, server.requests().len()), (Ending::Cancelled, 0));
}

#[tokio::test]
async fn dropped() {
    let both = [("a", "echo", "{}"), ("b", "wait", "{\"ms\":20000}")];
    let server = Server::start(vec![Reply::calls(&both)]);
    let mut agent = agent(&server);
    let run =
        tokio::time::timeout(Duration::from_secs(1), async { agent.run("Hi", &|_| {}, &Cancel::new()).await }).await;
    assert!(run.is_err());
    assert_eq!(agent.messages(), [user("Hi"), calls(&both), tool("a", "{}"), tool("b", "cancelled")]);
}

#[tokio::test]
async fn failed_in_an_answer() {
    let server = Server::start(vec![Reply::stream().data(&text("Hel")), Reply::says("Done")]);
    let mut agent = agent(&server);
    let error = agent.run("Hi", &|_| {}, &Cancel::new()).await.unwrap_err();
    assert!(matches!(error, AgentError::Client(ClientError::Interrupted { .. })), "{error:?}");
    assert_eq!(agent.messages(), [user("Hi"), assistant("Hel")]);
    assert_eq!(agent.run("Go on", &|_| {}, &Cancel::new()).await.unwrap().text, "Done");
}

#[tokio::test]
async fn transcripts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.jsonl");
    let open = || Transcript::open(&path, settings("http://h/").api_key().clone()).unwrap();
    let first = [("a", "leak", "{}"), ("b", "echo", "{}")];
    let server = Server::start(vec![Reply::calls(&first), Reply::says("Dö\nne")]);
    let kit = Arc::new(Kit::default());
    let mut agent = Agent::builder(client(&server), kit.clone()).transcript(open()).build();
    agent.run(&format!("My key is {KEY}."), &|_| {}, &Cancel::new()).await.unwrap();
    let wanted = [
        user("My key is [redacted]."),
        calls(&first),
        tool("a", "{\"error\":\"{\\\"key\\\": \\\"[redacted]\\\"}\"}"),
        tool("b", "{}"),
        assistant("Dö\nne"),
    ];
    let written = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, wanted);
    assert_eq!(Transcript::read(&path).unwrap(), wanted);
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
    // Killed while it wrote, within calls that have no results; then it goes on.
    let cut = written.lines().take(3).map(|line| format!("{line}\n")).collect::<String>()
        + "{\"role\":\"tool\",\"content\":\"";
    std::fs::write(&path, cut.as_bytes()).unwrap();
    let transcript = open();
    let messages = Transcript::read(&path).unwrap();
    assert_eq!(messages, wanted[..3]);
    let server = Server::start(vec![Reply::says("Back")]);
    let mut agent = Agent::builder(client(&server), kit).messages(messages).transcript(transcript).build();
    agent.run("More", &|_| {}, &Cancel::new()).await.unwrap();
    let resumed = [&wanted[..3], &[tool("b", "cancelled"), user("More"), assistant("Back")]].concat();
    assert_eq!(agent.messages(), resumed);
    assert_eq!(Transcript::read(&path).unwrap().last().unwrap(), &assistant("Back"));
    std::fs::write(&path, "no transcript\n").unwrap();
    let error = Transcript::read(&path).unwrap_err().to_string();
    assert_eq!(error, format!("{}:1: this is no message", path.display()));
}

/// A transcript that cannot be written ends the run, and the conversation stays whole.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk() {
    let transcript = Transcript::open("/dev/full", settings("http://h/").api_key().clone()).unwrap();
    let server = Server::start(vec![Reply::says("Done")]);
    let mut agent = Agent::builder(client(&server), Arc::new(())).transcript(transcript).build();
    let error = agent.run("Hi", &|_| {}, &Cancel::new()).await.unwrap_err().to_string();
    assert!(error.starts_with("cannot write the transcript /dev/full: No space left"), "{error}");
    assert_eq!(agent.messages(), [user("Hi")]);
}
