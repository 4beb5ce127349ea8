//! The example of an HTTP host, over loopback: tenants that share a runtime and nothing else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../examples/axum_host.rs"]
mod axum_host;
mod common;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum_host::{Budget, Host, router};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use wskill::repository::Repository;

const ANNA: &str = "token-of-anna";
const BEN: &str = "token-of-ben";

/// A host that runs.
struct Running {
    address: SocketAddr,
    files: tempfile::TempDir,
    stop: oneshot::Sender<()>,
    served: JoinHandle<std::io::Result<()>>,
}

impl Running {
    /// A host of two tenants with the same budget.
    async fn start(budget: Budget) -> Self {
        let files = tempfile::tempdir().unwrap();
        let skills = Path::new(env!("CARGO_MANIFEST_DIR")).join("skills");
        let repository = Arc::new(Repository::builder().root(skills).build());
        let mut host = Host::new(common::runtime(), repository, files.path());
        host.add_tenant("anna", ANNA, budget.clone()).unwrap();
        host.add_tenant("ben", BEN, budget).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let serve = axum::serve(listener, router(Arc::new(host)));
        let serve = serve.with_graceful_shutdown(async { drop(stopped.await) });
        Self { address, files, stop, served: tokio::spawn(async move { serve.await }) }
    }

    async fn ask(&self, token: &str, request: &str, body: &str) -> Answer {
        ask(self.address, token, request, body).await
    }

    /// Runs a line in a session, with some seconds for it.
    async fn run(&self, token: &str, session: &str, line: &str) -> Answer {
        run(self.address, token, session, line).await
    }

    /// A call that takes some seconds, and has begun.
    async fn begin(&self, seconds: u32) -> JoinHandle<Answer> {
        let (address, line) = (self.address, format!("touch work/begun; sleep {seconds}; echo done"));
        let call = tokio::spawn(async move { run(address, ANNA, "one", &line).await });
        while !holds(self.files.path(), "begun") {
            assert!(!call.is_finished(), "{:?}", call.await.unwrap());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        call
    }
}

/// Whether a file of this name is anywhere in a folder.
fn holds(folder: &Path, name: &str) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        entry.file_name() == name || (entry.file_type().is_ok_and(|kind| kind.is_dir()) && holds(&entry.path(), name))
    })
}

/// An answer of the host.
#[derive(Debug)]
struct Answer {
    status: u16,
    retry_after: Option<u64>,
    body: Value,
}

impl Answer {
    #[track_caller]
    fn stdout(&self) -> &str {
        assert_eq!(self.status, 200, "{self:?}");
        self.body["stdout"].as_str().unwrap()
    }

    fn error(&self) -> (u16, &str) {
        (self.status, self.body["error"].as_str().unwrap_or_default())
    }
}

async fn ask(address: SocketAddr, token: &str, request: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let head = format!("{request} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {token}\r\n");
    let head = format!("{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let retry_after = head.lines().find_map(|line| line.strip_prefix("retry-after: "));
    Answer {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        retry_after: retry_after.map(|seconds| seconds.parse().unwrap()),
        body: serde_json::from_str(body).unwrap_or_default(),
    }
}

async fn run(address: SocketAddr, token: &str, session: &str, line: &str) -> Answer {
    let arguments = json!({"skill": "python-math", "command": line, "timeout": 1000});
    let body = json!({"session": session, "arguments": arguments}).to_string();
    ask(address, token, "POST /v1/tools/skill_run", &body).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tenants_do_not_see_each_other() {
    let host = Running::start(Budget::default()).await;
    let mut calls = tokio::task::JoinSet::new();
    for (token, name) in [(ANNA, "anna"), (BEN, "ben")] {
        for session in ["one", "two"] {
            let address = host.address;
            calls.spawn(async move {
                for round in 0..3 {
                    let line = format!("echo {name} {session} {round} >> out/log; cat out/log; ls work out runs");
                    let answer = run(address, token, session, &line).await;
                    let expected: String = (0..=round).map(|round| format!("{name} {session} {round}\n")).collect();
                    assert!(answer.stdout().starts_with(&expected), "{answer:?}");
                }
            });
        }
    }
    while let Some(done) = calls.join_next().await {
        done.unwrap();
    }
    // The other's files lie beside one's own on the disk, and nowhere in a sandbox.
    let secret = host.run(ANNA, "one", "echo $((6 * 7))-secret > work/secret; pwd").await;
    assert_eq!(secret.stdout(), "/workspace/skills/python-math\n");
    let files = host.files.path().display();
    let line = format!("cat work/secret; ls -R /workspace '{files}' / 2>&1; ln -s '{files}' out/up; ls out/up/");
    let seen = host.run(BEN, "one", &line).await;
    assert!(!seen.stdout().contains("secret\n") && !seen.stdout().contains("42-"), "{seen:?}");
    // Nor by deleting, nor in what is loaded.
    assert_eq!(host.ask(BEN, "DELETE /v1/sessions/one", "").await.status, 204);
    assert_eq!(host.run(ANNA, "one", "cat work/secret").await.stdout(), "42-secret\n");
    assert_eq!(host.run(BEN, "one", "ls out/").await.stdout(), "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_at_once_are_bounded_for_each_tenant() {
    let host = Running::start(Budget { calls: 1, ..Budget::default() }).await;
    let first = host.begin(3).await;
    let refused = host.run(ANNA, "two", "true").await;
    assert_eq!(refused.error(), (429, "too many calls at once"));
    assert_eq!(refused.retry_after, Some(1));
    assert_eq!(host.run(BEN, "one", "echo ben").await.stdout(), "ben\n");
    assert_eq!(first.await.unwrap().stdout(), "done\n");
    assert_eq!(host.run(ANNA, "two", "echo again").await.stdout(), "again\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instructions_are_bounded_for_a_run_and_for_a_minute() {
    let budget = Budget { fuel: 400_000_000, fuel_per_minute: 600_000_000, ..Budget::default() };
    let host = Running::start(budget).await;
    for _ in 0..2 {
        let answer = host.run(ANNA, "one", "while :; do :; done").await;
        assert_eq!((&answer.body["limit"], &answer.body["exit_code"]), (&json!("fuel"), &json!(137)), "{answer:?}");
    }
    // Some 200 million more than there were, of which 10 million come back each second.
    let refused = host.run(ANNA, "one", "true").await;
    assert_eq!(refused.error(), (429, "the instructions of this minute are used up"));
    assert!(refused.retry_after.is_some_and(|seconds| (1..=30).contains(&seconds)), "{refused:?}");
    // What is not used is given back.
    for _ in 0..5 {
        assert_eq!(host.run(BEN, "one", "echo ben").await.stdout(), "ben\n");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_memory_and_disk_are_bounded_whatever_a_call_asks_for() {
    let budget = Budget { wall_time: Duration::from_secs(3), disk: 1 << 20, memory: 64 << 20, ..Budget::default() };
    let host = Running::start(budget).await;
    let began = Instant::now();
    let answer = host.run(ANNA, "one", "sleep 100").await;
    assert_eq!(answer.body["timed_out"], true, "{answer:?}");
    assert!(began.elapsed() < Duration::from_secs(60));
    let answer = host.run(ANNA, "one", "head -c 3000000 /dev/zero > out/large; echo $?; stat -c %s out/large").await;
    let size: u64 = answer.stdout().lines().last().unwrap().parse().unwrap();
    assert!(answer.stdout().starts_with("1\n") && size <= 1 << 20, "{answer:?}");
    let answer = host.run(ANNA, "one", "python3 -c 'x = bytearray(200 << 20); print(len(x))'").await;
    assert_eq!(answer.stdout(), "", "{answer:?}");
    // Artifacts are in no budget, and are not kept.
    let arguments = json!({"skill": "python-math", "command": "echo x > out/x", "save_as_artifacts": true,
        "output_files": ["out/x"]});
    let body = json!({"session": "two", "arguments": arguments}).to_string();
    let answer = host.ask(ANNA, "POST /v1/tools/skill_run", &body).await;
    assert_ne!(answer.body["artifact_files"].as_array().map(Vec::len), Some(1), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_requests_are_told_what_is_wrong() {
    let host = Running::start(Budget::default()).await;
    let call = |arguments: Value| json!({"session": "one", "arguments": arguments}).to_string();
    let run = "POST /v1/tools/skill_run";
    let fine = call(json!({"skill": "python-math", "command": "true"}));
    for (token, request, body, status, text) in [
        ("", run, fine.as_str(), 401, "Authorization: Bearer TOKEN"),
        ("token-of-ann", run, &fine, 401, "Authorization: Bearer TOKEN"),
        (ANNA, "POST /v1/tools/skill_fly", &call(json!({})), 404, "there is no tool `skill_fly`; there are skill_list"),
        (ANNA, "POST /v1/tools/skill_load", &call(json!({"skill": "x"})), 404, "unknown skill `x`; known are"),
        (ANNA, run, &call(json!({"skill": "python-math"})), 400, "skill_run: arguments: missing field `command`"),
        (ANNA, run, "{", 400, "JSON"),
        (ANNA, run, "{}", 400, "missing field `session`"),
        (ANNA, run, r#"{"session": ""}"#, 400, "the name of the session is empty"),
        (ANNA, run, &" ".repeat((1 << 20) + 1), 413, "length limit"),
        (ANNA, "DELETE /v1/sessions/none", "", 404, "unknown session `none`"),
    ] {
        let answer = host.ask(token, request, body).await;
        let (found, error) = answer.error();
        assert!(found == status && error.contains(text), "{request}: {answer:?}, expected {status} {text}");
    }
    let tools = host.ask(ANNA, "GET /v1/tools", "").await;
    assert_eq!((tools.status, tools.body.as_array().map(Vec::len)), (200, Some(7)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_bounded_and_make_room_when_they_are_old() {
    let idle = Duration::from_secs(100);
    let host = Running::start(Budget { sessions: 1, idle, ..Budget::default() }).await;
    assert_eq!(host.run(ANNA, "one", "echo x > out/x").await.status, 200);
    let refused = host.run(ANNA, "two", "true").await;
    assert_eq!(refused.error(), (429, "too many sessions; delete one"));
    assert!(refused.retry_after.is_some_and(|seconds| (50..=100).contains(&seconds)), "{refused:?}");
    assert_eq!(host.ask(ANNA, "DELETE /v1/sessions/one", "").await.status, 204);
    assert_eq!(host.run(ANNA, "two", "ls out").await.stdout(), "");

    let host = Running::start(Budget { sessions: 1, idle: Duration::ZERO, ..Budget::default() }).await;
    assert_eq!(host.run(ANNA, "one", "echo x > out/x").await.status, 200);
    assert_eq!(host.run(ANNA, "two", "true").await.status, 200);
    assert_eq!(host.run(ANNA, "one", "ls out").await.stdout(), "", "a session that has made room is there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_stops_serves_what_it_has_begun() {
    let host = Running::start(Budget { calls: 1, ..Budget::default() }).await;
    let address = host.address;
    let begun = host.begin(2).await;
    host.stop.send(()).unwrap();
    assert_eq!(begun.await.unwrap().stdout(), "done\n");
    host.served.await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}
