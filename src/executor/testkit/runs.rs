//! Commands that run to their end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::{Command, ExecutorError};
use super::Capability;
use super::kit::{Check, Kit, content, ensure, ensure_eq, is_missing, output, run, shell, told};
use crate::{CommandPolicy, HostTool, HostTools, LimitName, Limits};

/// What a command does that must be ended before it has written, in the background and in the foreground.
const LATE: &str = "(sleep 2; echo late > late1) & sleep 2; echo late > late2";
/// When it would have written.
const LATER: Duration = Duration::from_millis(3000);

pub async fn streams(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let outcome = run(&*workspace, "work", "echo out; echo err >&2; printf 'a\\000b\\377'; exit 3").await?;
    ensure_eq!(outcome.exit_code, 3, "the exit status");
    ensure_eq!(outcome.stdout, b"out\na\0b\xff", "standard output");
    ensure_eq!(outcome.stderr, b"err\n", "standard error");
    ensure_eq!(outcome.limit, None, "the limit");
    let outcome = run(&*workspace, "work", "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done").await?;
    ensure!(outcome.stdout.ends_with(b"line 19999\n"), "the last line of a long output is missing");
    ensure_eq!(outcome.stdout.iter().filter(|&&byte| byte == b'\n').count(), 20_000, "the lines of a long output");
    Ok(None)
}

pub async fn arguments(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let arguments = ["", "a b", "it's", "\"$HOME\"", "new\nline", "ü", "*", "-n", "--", "$(exit 1)", "\\", ";"];
    let mut argv = ["sh", "-c", "printf '%s|' \"$@\"", "name"].map(str::to_owned).to_vec();
    argv.extend(arguments.map(str::to_owned));
    let outcome = workspace.run(Command { argv, ..Command::default() }).await?;
    let expected: String = arguments.iter().map(|argument| format!("{argument}|")).collect();
    ensure_eq!(String::from_utf8_lossy(&outcome.stdout), expected, "the arguments");
    Ok(None)
}

pub async fn exit_codes(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    for (line, expected) in [("exit 0", 0), ("exit 255", 255), ("kill -TERM $$", 143), ("kill -KILL $$", 137)] {
        ensure_eq!(run(&*workspace, "work", line).await?.exit_code, expected, "`{line}`");
    }
    let argv = vec!["no-such-command-anywhere".to_owned()];
    let outcome = workspace.run(Command { argv, ..Command::default() }).await?;
    ensure_eq!(outcome.exit_code, 127, "a command that does not exist");
    ensure!(!outcome.stderr.is_empty(), "a command that does not exist has no message");
    Ok(None)
}

pub async fn working_directories(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    workspace.write("work/a b/file", b"x", 0o644).await?;
    ensure_eq!(output(&*workspace, "work/a b", "cat file").await?, "x", "a folder with a blank in its name");
    ensure_eq!(output(&*workspace, "", "cat 'work/a b/file'").await?, "x", "the workspace itself");
    for cwd in ["none", "work/none", "work/a b/file"] {
        let ran = run(&*workspace, cwd, "true").await;
        ensure!(matches!(ran, Err(ExecutorError::File(_))), "a command in {cwd:?}, which is no folder: {ran:?}");
    }
    Ok(None)
}

pub async fn environment(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let pairs = [("KIT_ONE", "1"), ("KIT_TEXT", "a b\n'c' $HOME"), ("HOME", "/nowhere"), ("KIT_EMPTY", "")];
    let env = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let line = "printf '%s|' \"$KIT_ONE\" \"$KIT_TEXT\" \"$HOME\" \"${KIT_EMPTY-unset}\"";
    let outcome = workspace.run(Command { env, ..shell("work", line) }).await?;
    ensure_eq!(String::from_utf8_lossy(&outcome.stdout), "1|a b\n'c' $HOME|/nowhere||", "variables");
    let found = output(&*workspace, "work", "env").await?;
    let own = ["PATH", "LANG", "HOME", "PWD", "OLDPWD", "SHLVL", "_", "USER", "TMPDIR", "HOSTNAME", "TERM", "SHELL"];
    for (name, value) in std::env::vars_os() {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        let line = format!("{name}={value}");
        let passed = !own.contains(&name.as_ref()) && value.len() > 4 && found.lines().any(|found| found == line);
        ensure!(!passed, "the host's variable {name} is passed on");
    }
    Ok(None)
}

pub async fn standard_input(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let stdin = b"a\0b\xff\n".to_vec();
    let outcome = workspace.run(Command { stdin: stdin.clone(), ..shell("work", "cat") }).await?;
    ensure_eq!(outcome.stdout, stdin, "standard input");
    let outcome = workspace.run(Command { stdin: vec![b'x'; 1 << 20], ..shell("work", "wc -c") }).await?;
    ensure_eq!(String::from_utf8_lossy(&outcome.stdout).trim(), "1048576", "1 MiB of standard input");
    let outcome = workspace.run(Command { stdin: vec![b'x'; 1 << 20], ..shell("work", "echo unread") }).await?;
    ensure!(outcome.success(), "a command that does not read its input: {}", told(&outcome));
    ensure_eq!(output(&*workspace, "work", "cat; echo end").await?, "end\n", "an empty standard input");
    Ok(None)
}

pub async fn timeouts(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let began = Instant::now();
    let line = format!("echo begun; {LATE}");
    let outcome = workspace.run(Command { timeout: Some(Duration::from_millis(700)), ..shell("out", &line) }).await?;
    ensure!(outcome.timed_out() && outcome.exit_code == 124, "a run whose time is over: {}", told(&outcome));
    ensure_eq!(outcome.stdout, b"begun\n", "what it had written");
    tokio::time::sleep(LATER.saturating_sub(began.elapsed())).await;
    for path in ["out/late1", "out/late2"] {
        ensure!(is_missing(&*workspace, path).await, "a process of it has written {path} after its time was over");
    }
    let limits = Limits { wall_time: Some(Duration::from_millis(700)), ..Limits::default() };
    let outcome = workspace.run(Command { limits: Some(limits), ..shell("out", "sleep 20") }).await?;
    ensure!(outcome.timed_out(), "the limit `wall_time`: {}", told(&outcome));
    ensure!(began.elapsed() < Duration::from_secs(20), "the end has taken {:?}", began.elapsed());
    Ok(None)
}

pub async fn output_limit(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let limits = Limits { output: 50_000, ..Limits::default() };
    let outcome = workspace.run(Command { limits: Some(limits), ..shell("out", "while :; do echo yes; done") }).await?;
    ensure_eq!((outcome.exit_code, outcome.limit), (137, Some(LimitName::Output)), "endless output");
    let captured = outcome.stdout.len() + outcome.stderr.len();
    ensure!(captured > 10_000 && captured <= 50_000, "of endless output {captured} bytes are captured");
    Ok(None)
}

pub async fn dropped_runs(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let line = format!("echo begun > begun; {LATE}");
    let dropped = tokio::time::timeout(Duration::from_millis(1000), run(&*workspace, "out", &line)).await;
    ensure!(dropped.is_err(), "the run has ended by itself");
    tokio::time::sleep(LATER).await;
    ensure_eq!(content(&*workspace, "out/begun").await?, "begun\n", "the file of a run that was dropped");
    for path in ["out/late1", "out/late2"] {
        ensure!(is_missing(&*workspace, path).await, "a process has written {path} after its run was dropped");
    }
    Ok(None)
}

pub async fn processes_left_behind(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let began = Instant::now();
    let outcome = run(&*workspace, "out", "(sleep 2; echo late > late) & echo done").await?;
    ensure_eq!(outcome.stdout, b"done\n", "standard output");
    let is_late = !is_missing(&*workspace, "out/late").await;
    tokio::time::sleep(LATER.saturating_sub(began.elapsed())).await;
    ensure!(is_late || is_missing(&*workspace, "out/late").await, "a process has written after its run had ended");
    Ok(None)
}

pub async fn policy(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let policy = CommandPolicy::new().deny(["rm"]);
    workspace.write("work/file", b"x", 0o644).await?;
    let ran = workspace.run(Command { policy, ..shell("work", "rm file; echo $?") }).await;
    ensure_eq!(content(&*workspace, "work/file").await?, "x", "a file whose removal the policy denies");
    if kit.lacks(Capability::Policy) {
        let refused = matches!(ran, Err(ExecutorError::Unsupported { .. }));
        ensure!(refused, "a policy is not refused: {ran:?}");
        return Ok(Some(Capability::Policy));
    }
    ensure_eq!(ran?.stdout, b"126\n", "the exit status of a command that is denied");
    Ok(None)
}

pub async fn host_tools(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let list = || vec![HostTool::new("kit", "Answers")];
    let tools = HostTools::new(list, |_, request| async move { Ok(request) });
    let line = if kit.lacks(Capability::HostTools) { "echo '[1]'" } else { "wskill-tool kit '[1]'" };
    let outcome = workspace.run(Command { host_tools: Some(tools), ..shell("work", line) }).await?;
    ensure_eq!(String::from_utf8_lossy(&outcome.stdout), "[1]\n", "the answer");
    Ok(kit.lacks(Capability::HostTools).then_some(Capability::HostTools))
}

pub async fn many_at_once(kit: &Kit) -> Check {
    const RUNS: usize = 12;
    let workspace = kit.workspace().await?;
    let folder = kit.host_folder(&[("SKILL.md", "many")])?;
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..RUNS {
        let workspace = Arc::clone(&workspace);
        let skill = super::super::StagedSkill { name: "many".into(), folder: folder.clone(), digest: "1".into() };
        tasks.spawn(async move {
            workspace.stage(&skill).await?;
            let own = format!("runs/{index}");
            workspace.write(&format!("{own}/input"), index.to_string().as_bytes(), 0o644).await?;
            let line = "read -r n; cat input; echo \"-$n\"; cat ../../skills/many/SKILL.md > output; echo \"$n\" >&2";
            let stdin = format!("{index}\n").into_bytes();
            let outcome = workspace.run(Command { stdin, ..shell(&own, line) }).await?;
            let output = workspace.read(&format!("{own}/output"), 0, 100).await?;
            Ok::<_, ExecutorError>((index, outcome, output))
        });
    }
    while let Some(done) = tasks.join_next().await {
        let (index, outcome, output) = done??;
        let expected = format!("{index}-{index}\n");
        ensure_eq!(String::from_utf8_lossy(&outcome.stdout), expected, "standard output of run {index}");
        ensure_eq!(String::from_utf8_lossy(&outcome.stderr), format!("{index}\n"), "standard error of run {index}");
        ensure_eq!(output, b"many", "the file of run {index}");
    }
    Ok(None)
}
