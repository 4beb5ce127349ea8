//! The example of an executor in another process.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use wskill::executor::testkit::Capability;
use wskill::executor::{Command, Executor, StagedSkill, Workspace};

use crate::remote_executor::{RemoteExecutor, Server};
use crate::support::passes;

const ANY_PORT: &str = "127.0.0.1:0";

async fn server() -> Server {
    Server::start(ANY_PORT.parse().unwrap()).await.unwrap()
}

/// Puts a server without workspaces in the place of another.
async fn replace(server: Server) -> Server {
    let address: SocketAddr = server.address();
    server.stop().await;
    Server::start(address).await.unwrap()
}

async fn stage(workspace: &dyn Workspace, folder: &Path) {
    let skill = StagedSkill { name: "s".into(), folder: folder.to_owned(), digest: "1".into() };
    workspace.stage(&skill).await.unwrap();
}

fn shell(line: &str) -> Command {
    let argv = ["sh", "-c", line].map(str::to_owned).to_vec();
    Command { argv, cwd: "work".into(), ..Command::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_passes() {
    let server = server().await;
    let make = || Ok(Arc::new(RemoteExecutor::new(server.address())) as Arc<_>);
    use Capability::{Forks, HostTools, Links, Policy, Snapshots};
    passes(make, &[Policy, HostTools, Links, Forks, Snapshots]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workspace_that_has_vanished_is_made_again_with_all_that_was_in_it() {
    let skill = tempfile::tempdir().unwrap();
    std::fs::write(skill.path().join("SKILL.md"), "skill\n").unwrap();
    let first = server().await;
    let executor = RemoteExecutor::new(first.address());
    let workspace = executor.open("ws_1").await.unwrap();
    stage(&*workspace, skill.path()).await;
    let line = "echo run >> ran; chmod 755 ran; ln -s ran link; mkdir closed; chmod 555 closed; \
                touch ../skills/s/.venv/kept";
    assert!(workspace.run(shell(line)).await.unwrap().success());
    workspace.write("out/later", b"later\n", 0o644).await.unwrap();
    workspace.write("out/gone", b"gone\n", 0o644).await.unwrap();
    workspace.remove("out/gone").await.unwrap();

    let second = replace(first).await;
    let line = "cat link ../out/later ../skills/s/SKILL.md; ls ../out ../skills/s/.venv; ls -ld closed | cut -c1-10; \
                test -x ran && echo run >> ran";
    let outcome = workspace.run(shell(line)).await.unwrap();
    let expected = "run\nlater\nskill\n../out:\nlater\n\n../skills/s/.venv:\nkept\ndr-xr-xr-x\n";
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), expected);

    let third = replace(second).await;
    assert_eq!(workspace.read("work/ran", 0, 100).await.unwrap(), b"run\nrun\n");
    third.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_that_find_it_vanished_make_it_again_once() {
    let first = server().await;
    let executor = RemoteExecutor::new(first.address());
    let workspace = executor.open("ws_1").await.unwrap();
    workspace.write("work/file", b"content", 0o644).await.unwrap();
    let second = replace(first).await;
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..16 {
        let workspace = Arc::clone(&workspace);
        calls.spawn(async move {
            workspace.write(&format!("out/{number}"), b"x", 0o644).await?;
            workspace.read("work/file", 0, 100).await
        });
    }
    while let Some(found) = calls.join_next().await {
        assert_eq!(found.unwrap().unwrap(), b"content");
    }
    let third = replace(second).await;
    let outcome = workspace.run(shell("ls ../out | wc -l")).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&outcome.stdout).trim(), "16");
    third.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_has_begun_is_not_repeated() {
    let first = server().await;
    let executor = RemoteExecutor::new(first.address());
    let workspace = executor.open("ws_1").await.unwrap();
    let running = tokio::spawn({
        let workspace = Arc::clone(&workspace);
        async move { workspace.run(shell("touch begun; sleep 20")).await }
    });
    while workspace.stat("work/begun").await.is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let second = replace(first).await;
    let ended = running.await.unwrap();
    assert!(ended.is_err(), "{ended:?}");
    assert!(workspace.stat("work/begun").await.is_err(), "a command was run again");
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_reaches_a_command_that_does_not_read_its_input() {
    let server = server().await;
    let workspace = RemoteExecutor::new(server.address()).open("ws_1").await.unwrap();
    let running = workspace.start(shell("echo ready; sleep 20")).await.unwrap();
    assert_eq!(running.read().await.unwrap(), b"ready\n");
    let written = tokio::time::timeout(Duration::from_millis(500), running.write(&vec![b'x'; 32 << 20])).await;
    assert!(written.is_err(), "a command that reads nothing has taken 32 MiB: {written:?}");
    running.signal(15).unwrap();
    assert_eq!(running.wait().await.unwrap().exit_code, 143);
    server.stop().await;
}

/// What a hostile or broken client says does not take the server down.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_frames_end_their_connection_alone() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let server = server().await;
    let call = br#"{"workspace": "../x", "instance": 0, "call": {"Open": {"tree": 999, "changes": []}}}"#;
    let frame =
        |head: &[u8], lengths: [u32; 2]| [&lengths[0].to_be_bytes()[..], &lengths[1].to_be_bytes(), head].concat();
    for frame in [
        frame(b"", [u32::MAX, u32::MAX]),
        frame(b"{", [1, 0]),
        frame(b"", [1000, 0]),
        frame(call, [u32::try_from(call.len()).unwrap(), 0]),
        frame(&b"[".repeat(100_000), [100_000, 0]),
    ] {
        let mut stream = tokio::net::TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(&frame).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // A connection may also be reset.
        let _ = stream.read_to_end(&mut answer).await;
        assert!(answer.is_empty() || String::from_utf8_lossy(&answer).contains("Failed"), "{answer:?}");
    }
    let workspace = RemoteExecutor::new(server.address()).open("ws_1").await.unwrap();
    assert!(workspace.run(shell("true")).await.unwrap().success());
    server.stop().await;
}
