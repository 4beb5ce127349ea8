//! Runs that are talked to: channels, signals, and the terminal, with the shell and Python.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::io::ErrorKind;
use std::time::Duration;

use wskill::{BuildError, Chunk, Input, LimitName, Limits, Outcome, Output, RunBuilder, Running, Sandbox, Stream};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

fn sandbox() -> Sandbox {
    Sandbox::builder().build().unwrap()
}

fn talking<'a>(sandbox: &'a Sandbox, argv: &[&str]) -> RunBuilder<'a> {
    let command = sandbox.command(argv.iter().copied()).stdin(Input::Channel);
    command.stdout(Output::Channel).stderr(Output::Channel)
}

async fn start(sandbox: &Sandbox, argv: &[&str]) -> Running {
    talking(sandbox, argv).start().await.unwrap()
}

async fn terminal(sandbox: &Sandbox, argv: &[&str]) -> Running {
    talking(sandbox, argv).tty().start().await.unwrap()
}

/// The next output; the test fails when it does not come.
async fn read(running: &Running) -> Option<Chunk> {
    tokio::time::timeout(Duration::from_secs(30), running.read()).await.expect("no output comes")
}

/// Reads until the output ends with `end`.
async fn until(running: &Running, end: &str) -> String {
    let mut text = String::new();
    while !text.ends_with(end) {
        match read(running).await {
            Some(chunk) => text.push_str(std::str::from_utf8(&chunk.bytes).unwrap()),
            None => panic!("the output ends after {text:?}"),
        }
    }
    text
}

/// All the rest of the output.
async fn rest(running: &Running) -> String {
    let mut text = String::new();
    while let Some(chunk) = read(running).await {
        text.push_str(std::str::from_utf8(&chunk.bytes).unwrap());
    }
    text
}

async fn end(running: &Running) -> Outcome {
    tokio::time::timeout(Duration::from_secs(30), running.wait()).await.expect("it does not end").unwrap()
}

#[test]
fn a_command_is_talked_to() {
    block_on(async {
        let sandbox = sandbox();
        let cat = start(&sandbox, &["cat"]).await;
        for word in ["one\n", "two\n"] {
            cat.write_stdin(word.as_bytes()).await.unwrap();
            assert_eq!(read(&cat).await.unwrap(), Chunk { stream: Stream::Stdout, bytes: word.as_bytes().to_vec() });
        }
        assert!(!cat.has_ended());
        cat.close_stdin();
        cat.close_stdin();
        assert_eq!(cat.write_stdin(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(read(&cat).await, None);
        let outcome = end(&cat).await;
        assert_eq!((outcome.exit_code, outcome.processes, outcome.stdout.len()), (0, 1, 0));
        // It can be asked again.
        assert_eq!(end(&cat).await, outcome);
        assert!(cat.has_ended());
        assert_eq!(cat.write_stdin(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn both_streams_are_told_apart_or_merged() {
    const LINE: &[&str] = &["bash", "-c", "echo out; echo err >&2; echo more"];
    block_on(async {
        let sandbox = sandbox();
        let running = start(&sandbox, LINE).await;
        let mut got = HashMap::<_, Vec<u8>>::new();
        while let Some(Chunk { stream, bytes }) = read(&running).await {
            got.entry(format!("{stream:?}")).or_default().extend(bytes);
        }
        assert_eq!(got["Stdout"], b"out\nmore\n");
        assert_eq!(got["Stderr"], b"err\n");

        let running = talking(&sandbox, LINE).merged().start().await.unwrap();
        assert_eq!(rest(&running).await, "out\nerr\nmore\n");
        let outcome = sandbox.command(LINE.iter().copied()).merged().run().await.unwrap();
        assert_eq!((outcome.stdout.as_slice(), outcome.stderr.as_slice()), (&b"out\nerr\nmore\n"[..], &b""[..]));
    });
}

#[test]
fn what_nobody_reads_holds_the_command_up() {
    block_on(async {
        let sandbox = sandbox();
        let running = start(&sandbox, &["bash", "-c", "head -c 300000 /dev/zero; echo done >&2"]).await;
        assert!(tokio::time::timeout(Duration::from_millis(300), running.wait()).await.is_err());
        let (mut zeros, mut last) = (0, Vec::new());
        while let Some(chunk) = read(&running).await {
            assert!(chunk.bytes.len() <= 64 * 1024);
            match chunk.stream {
                Stream::Stdout => zeros += chunk.bytes.len(),
                Stream::Stderr => last = chunk.bytes,
            }
        }
        assert_eq!((zeros, last.as_slice()), (300_000, &b"done\n"[..]));
        assert_eq!(end(&running).await.exit_code, 0);
        // Input waits for room in the same way.
        let running = start(&sandbox, &["sleep", "1000"]).await;
        let big = vec![b'x'; 200_000];
        assert!(tokio::time::timeout(Duration::from_millis(300), running.write_stdin(&big)).await.is_err());
        running.kill(9).unwrap();
        assert_eq!(running.write_stdin(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn what_was_written_before_the_end_can_still_be_read() {
    block_on(async {
        let sandbox = sandbox();
        let running = start(&sandbox, &["echo", "hi"]).await;
        assert_eq!(end(&running).await.exit_code, 0);
        assert_eq!(rest(&running).await, "hi\n");
        let running = start(&sandbox, &["no-such-command"]).await;
        let outcome = end(&running).await;
        assert_eq!((outcome.exit_code, outcome.hints.len()), (127, 1));
        assert_eq!(rest(&running).await, "wskill: no-such-command: command not found\n");
    });
}

#[test]
fn signals_reach_all_processes() {
    block_on(async {
        let sandbox = sandbox();
        let line = "trap 'echo caught; exit 3' TERM; sleep 1000 & echo ready; wait";
        let running = start(&sandbox, &["bash", "-c", line]).await;
        until(&running, "ready\n").await;
        running.kill(15).unwrap();
        assert_eq!(until(&running, "caught\n").await, "caught\n");
        assert_eq!(end(&running).await.exit_code, 3);
        // After the end there is nobody to be reached.
        running.kill(9).unwrap();
        assert_eq!(end(&running).await.exit_code, 3);

        let running = start(&sandbox, &["bash", "-c", "trap '' TERM; echo ready; while :; do :; done"]).await;
        until(&running, "ready\n").await;
        running.kill(15).unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(100), running.wait()).await.is_err());
        running.kill(9).unwrap();
        assert_eq!(end(&running).await.exit_code, 137);
        for wrong in [0, -1, 65] {
            assert!(matches!(running.kill(wrong), Err(BuildError::Signal(number)) if number == wrong));
        }
    });
}

#[test]
fn dropping_it_or_the_sandbox_ends_it() {
    block_on(async {
        let sandbox = sandbox();
        drop(start(&sandbox, &["sleep", "1000"]).await);
        // Kept in a map, it outlives the borrow of its sandbox.
        let mut sessions = HashMap::new();
        sessions.insert("first", start(&sandbox, &["cat"]).await);
        sessions["first"].write_stdin(b"x").await.unwrap();
        tokio::time::timeout(Duration::from_secs(10), sandbox.close()).await.expect("the sandbox does not close");
        let outcome = end(&sessions["first"]).await;
        assert_eq!(outcome.exit_code, 137);
    });
}

#[test]
fn the_wall_time_counts_while_nobody_talks() {
    block_on(async {
        let limits = Limits { wall_time: Some(Duration::from_millis(300)), ..Limits::default() };
        let sandbox = Sandbox::builder().limits(limits).build().unwrap();
        let running = start(&sandbox, &["cat"]).await;
        let outcome = end(&running).await;
        assert_eq!((outcome.exit_code, outcome.limit), (124, Some(LimitName::WallTime)));
        assert_eq!(running.write_stdin(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_deterministic_sandbox_gets_its_input_at_once() {
    block_on(async {
        let sandbox = Sandbox::builder().deterministic(1).build().unwrap();
        let refused = talking(&sandbox, &["cat"]).start().await.unwrap_err();
        assert!(matches!(refused, BuildError::Interactive), "{refused}");
        let cat = sandbox.command(["cat"]).stdin(Input::Bytes(b"whole\n".to_vec())).stdout(Output::Channel);
        let cat = cat.start().await.unwrap();
        assert_eq!(rest(&cat).await, "whole\n");
        let command = sandbox.command(["cat"]).tty().stdin(Input::Bytes(b"typed\n".to_vec()));
        assert_eq!(command.run().await.unwrap().stdout, b"typed\r\ntyped\r\n");
    });
}

#[test]
fn channels_that_nobody_can_reach() {
    block_on(async {
        let outcome = talking(&sandbox(), &["bash", "-c", "cat; echo x; echo y >&2"]).run().await.unwrap();
        assert_eq!((outcome.exit_code, outcome.stdout.len(), outcome.stderr.len()), (0, 0, 0));
    });
}

#[test]
fn a_terminal_echoes_and_edits_lines() {
    // What is typed, and what the screen shows for it.
    const LINES: &[(&[u8], &str)] = &[
        (b"plain\n", "plain\r\nplain\r\n"),
        (b"by return\r", "by return\r\nby return\r\n"),
        (b"abc\x7f\x7fx\n", "abc\x08 \x08\x08 \x08x\r\nax\r\n"),
        ("n\u{e9}\x08e\n".as_bytes(), "n\u{e9}\x08 \x08e\r\nne\r\n"),
        (b"\x7f\x7fq\n", "q\r\nq\r\n"),
        (b"\x01\x08\n", "^A\x08 \x08\x08 \x08\r\n\r\n"),
        (b"a\tb\n", "a\tb\r\na\tb\r\n"),
        (b"half\x04 line\n", "half line\r\nhalf line\r\n"),
    ];
    block_on(async {
        for (typed, shown) in LINES {
            let sandbox = sandbox();
            let cat = terminal(&sandbox, &["cat"]).await;
            cat.write_stdin(typed).await.unwrap();
            cat.write_stdin(b"\x04").await.unwrap();
            assert_eq!(rest(&cat).await, *shown, "{typed:?}");
            assert_eq!(end(&cat).await.exit_code, 0);
        }
    });
}

#[test]
fn an_end_of_file_is_for_one_reader() {
    block_on(async {
        let sandbox = sandbox();
        let bash = terminal(&sandbox, &["bash", "-c", "cat; read line; echo got $line"]).await;
        bash.write_stdin(b"\x04").await.unwrap();
        bash.write_stdin(b"next\n").await.unwrap();
        assert_eq!(rest(&bash).await, "next\r\ngot next\r\n");
    });
}

#[test]
fn an_interrupt_reaches_all_and_throws_the_input_away() {
    block_on(async {
        let sandbox = sandbox();
        let bash = terminal(&sandbox, &["bash", "-c", "trap 'echo no' INT; echo ready; read a; echo \"<$a>\""]).await;
        until(&bash, "ready\r\n").await;
        bash.write_stdin(b"lost\x03").await.unwrap();
        assert_eq!(until(&bash, "no\r\n").await, "^Cno\r\n");
        bash.write_stdin(b"kept\n").await.unwrap();
        assert_eq!(rest(&bash).await, "kept\r\n<kept>\r\n");

        let bash = terminal(&sandbox, &["bash", "-c", "echo ready; sleep 1000 | sleep 1000; echo never"]).await;
        until(&bash, "ready\r\n").await;
        bash.write_stdin(b"\x03").await.unwrap();
        assert_eq!(end(&bash).await.exit_code, 130);
        assert_eq!(rest(&bash).await, "^C");

        // Input that nobody reads does not keep it from coming through.
        let bash = terminal(&sandbox, &["bash", "-c", "echo ready; sleep 1000"]).await;
        until(&bash, "ready\r\n").await;
        let line = [[b'x'; 1000].as_slice(), b"\n"].concat().repeat(100);
        assert!(tokio::time::timeout(Duration::from_millis(200), bash.write_stdin(&line)).await.is_err());
        bash.write_stdin(&[&line, &b"\x03"[..]].concat()).await.unwrap();
        assert_eq!(end(&bash).await.exit_code, 130);
    });
}

#[test]
fn hanging_up_is_the_end_for_all() {
    block_on(async {
        let sandbox = sandbox();
        let bash = terminal(&sandbox, &["bash", "-c", "cat; cat; echo end"]).await;
        bash.write_stdin(b"half").await.unwrap();
        bash.close_stdin();
        assert_eq!(rest(&bash).await, "halfhalfend\r\n");
        assert_eq!(bash.write_stdin(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn programs_see_the_terminal() {
    const LINE: &str = "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && tty && echo to > /dev/tty && ls -d /etc /usr";
    block_on(async {
        let sandbox = sandbox();
        let command = |line: &str| sandbox.command(["bash", "-c", line]).tty();
        let outcome = command(LINE).run().await.unwrap();
        assert_eq!((outcome.exit_code, outcome.stdout.as_slice()), (0, &b"/dev/tty\r\nto\r\n/etc  /usr\r\n"[..]));
        let outcome = command("[ -t 0 ] && tty < /dev/null").run().await.unwrap();
        assert_eq!((outcome.exit_code, outcome.stdout.as_slice()), (1, &b"not a tty\r\n"[..]));
        let outcome = sandbox.run(["bash", "-c", "[ -t 0 ] || { tty; : > /dev/tty; }"]).await.unwrap();
        assert_eq!(outcome.stdout, b"not a tty\n");
        assert!(String::from_utf8_lossy(&outcome.stderr).contains("/dev/tty: No such device or address"));
    });
}

#[test]
fn a_shell_on_a_terminal_reads_commands() {
    block_on(async {
        let sandbox = sandbox();
        let bash = terminal(&sandbox, &["bash"]).await;
        bash.write_stdin(b"x=5\n").await.unwrap();
        bash.write_stdin(b"echo $((x + 1)) $-\n").await.unwrap();
        let screen = until(&bash, "hBs\r\n").await
            + &{
                bash.write_stdin(b"exit 7\n").await.unwrap();
                rest(&bash).await
            };
        assert_eq!(screen, "x=5\r\necho $((x + 1)) $-\r\n6 hBs\r\nexit 7\r\n");
        assert_eq!(end(&bash).await.exit_code, 7);
    });
}

#[test]
fn python_on_a_terminal() {
    block_on(async {
        let sandbox = sandbox();
        let script = "import os, sys\nprint(sys.stdin.isatty(), sys.stdout.isatty(), *os.get_terminal_size())\n\
                      name = input('name: ')\nprint(f'hello {name}')\n\
                      try:\n    input('again: ')\nexcept KeyboardInterrupt:\n    print('stopped')\n";
        let python = terminal(&sandbox, &["python3", "-c", script]).await;
        assert_eq!(until(&python, "name: ").await, "True True 80 24\r\nname: ");
        python.write_stdin(b"world\n").await.unwrap();
        assert_eq!(until(&python, "again: ").await, "world\r\nhello world\r\nagain: ");
        python.write_stdin(b"\x03").await.unwrap();
        assert_eq!(rest(&python).await, "^Cstopped\r\n");
        assert_eq!(end(&python).await.exit_code, 0);
    });
}

#[test]
fn python_reads_commands_with_a_prompt() {
    block_on(async {
        let sandbox = sandbox();
        let python = terminal(&sandbox, &["python3", "-q"]).await;
        until(&python, ">>> ").await;
        python.write_stdin(b"6 * 7\n").await.unwrap();
        assert_eq!(until(&python, ">>> ").await, "6 * 7\r\n42\r\n>>> ");
        python.write_stdin(b"if True:\n").await.unwrap();
        assert_eq!(until(&python, "... ").await, "if True:\r\n... ");
        python.write_stdin(b"  print('in')\n\n").await.unwrap();
        assert!(until(&python, ">>> ").await.ends_with("in\r\n>>> "));
        python.write_stdin(b"while True: pass\n").await.unwrap();
        until(&python, "pass\r\n").await;
        python.write_stdin(b"\x03").await.unwrap();
        assert!(until(&python, ">>> ").await.contains("KeyboardInterrupt"));
        python.write_stdin(b"\x04").await.unwrap();
        assert_eq!(end(&python).await.exit_code, 0);
    });
}

/// A component that computes without end.
#[cfg(feature = "component")]
fn endless() -> Vec<u8> {
    use wasi_preview1_component_adapter_provider::{
        WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER,
    };
    let text = r#"(module (memory (export "memory") 1) (func (export "_start") (loop (br 0))))"#;
    let encoder = wit_component::ComponentEncoder::default().module(&wat::parse_str(text).unwrap()).unwrap();
    let adapter = (WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER);
    encoder.adapter(adapter.0, adapter.1).unwrap().encode().unwrap()
}

#[cfg(feature = "component")]
#[test]
fn components_end_by_signals_and_with_their_sandbox() {
    block_on(async {
        let sandbox = sandbox();
        let running = talking(&sandbox, &["endless"]).module(endless()).start().await.unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(50), running.wait()).await.is_err());
        running.kill(15).unwrap();
        assert_eq!(end(&running).await.exit_code, 143);
        assert_eq!(read(&running).await, None);

        let refused = talking(&sandbox, &["endless"]).module(endless()).tty().start().await.unwrap();
        assert_eq!(end(&refused).await.exit_code, 126);
        assert!(rest(&refused).await.starts_with("wskill: a component can have no terminal"));

        let running = talking(&sandbox, &["endless"]).module(endless()).start().await.unwrap();
        drop(sandbox);
        assert_eq!(end(&running).await.exit_code, 137);
        assert_eq!(read(&running).await, None);
    });
}
