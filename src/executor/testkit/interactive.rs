//! Commands that are talked to.

use std::time::{Duration, Instant};

use super::super::{Command, ExecutorError, RunningCommand};
use super::Capability;
use super::kit::{Check, Failure, Kit, ensure, ensure_eq, is_missing, shell};

/// Reads until the output ends with `end`, or to its end.
async fn read_until(running: &dyn RunningCommand, end: &str) -> Result<String, Failure> {
    let mut text = Vec::new();
    while let Some(chunk) = running.read().await {
        text.extend(chunk);
        if !end.is_empty() && text.ends_with(end.as_bytes()) {
            break;
        }
        ensure!(text.len() < 1 << 20, "there is no end of the output");
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

pub async fn conversation(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let line = "echo ready; while read -r line; do echo \"got $line\"; echo \"err $line\" >&2; done; echo over; exit 5";
    // What is given with the command is not its input.
    let command = Command { stdin: b"not this\n".to_vec(), ..shell("work", line) };
    let running = workspace.start(command).await?;
    ensure_eq!(read_until(&*running, "ready\n").await?, "ready\n", "the first output");
    for word in ["one", "two"] {
        running.write(format!("{word}\n").as_bytes()).await?;
        let answer = read_until(&*running, &format!("err {word}\n")).await?;
        ensure_eq!(answer, format!("got {word}\nerr {word}\n"), "the answer");
    }
    running.close_input();
    ensure_eq!(read_until(&*running, "").await?, "over\n", "the output after the end of the input");
    ensure_eq!(running.wait().await?.exit_code, 5, "the exit status");
    ensure_eq!(running.wait().await?.exit_code, 5, "the exit status, asked for again");
    ensure!(running.read().await.is_none(), "there is output after its end");
    Ok(None)
}

pub async fn signals(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    for (number, expected) in [(15, 143), (9, 137)] {
        let running = workspace.start(shell("work", "echo ready; sleep 20 & wait; sleep 20")).await?;
        ensure_eq!(read_until(&*running, "ready\n").await?, "ready\n", "the first output");
        for wrong in [-1, 99] {
            ensure!(running.signal(wrong).is_err(), "there is a signal {wrong}");
        }
        let began = Instant::now();
        running.signal(number)?;
        ensure_eq!(running.wait().await?.exit_code, expected, "the exit status after signal {number}");
        ensure!(began.elapsed() < Duration::from_secs(10), "the end has taken {:?}", began.elapsed());
    }
    let running =
        workspace.start(shell("work", "trap 'echo caught' INT; echo ready; while :; do sleep 1; done")).await?;
    ensure_eq!(read_until(&*running, "ready\n").await?, "ready\n", "the first output");
    running.signal(2)?;
    ensure_eq!(read_until(&*running, "caught\n").await?, "caught\n", "what a handler of a signal writes");
    Ok(None)
}

pub async fn dropped_commands(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let running =
        workspace.start(shell("out", "(sleep 2; echo late > late1) & echo ready; sleep 2; echo > late2")).await?;
    ensure_eq!(read_until(&*running, "ready\n").await?, "ready\n", "the first output");
    drop(running);
    tokio::time::sleep(Duration::from_secs(3)).await;
    for path in ["out/late1", "out/late2"] {
        ensure!(is_missing(&*workspace, path).await, "a process has written {path} after its command was dropped");
    }
    Ok(None)
}

pub async fn timeouts_of_commands(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let command = Command { timeout: Some(Duration::from_millis(700)), ..shell("out", "sleep 20") };
    let running = workspace.start(command).await?;
    ensure_eq!(read_until(&*running, "").await?, "", "the output");
    let outcome = running.wait().await?;
    ensure!(outcome.timed_out() && outcome.exit_code == 124, "a command whose time is over: {outcome:?}");
    Ok(None)
}

pub async fn terminal(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let command = Command { tty: true, ..shell("work", "test -t 0 && test -t 1 && test -t 2 && echo yes") };
    let started = workspace.start(command).await;
    if kit.lacks(Capability::Terminal) {
        let refused = matches!(started, Err(ExecutorError::Unsupported { .. }));
        ensure!(refused, "a terminal is not refused: {started:?}");
        return Ok(Some(Capability::Terminal));
    }
    let running = started?;
    ensure_eq!(read_until(&*running, "").await?.trim(), "yes", "whether the streams are a terminal");
    Ok(None)
}
