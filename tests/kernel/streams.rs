//! Standard streams on the host's side, and what happens when they break.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wskill::{Input, Output};

use super::support::{assert_success, block_on, play, role, sandbox, stderr, stdout};

/// Gives some bytes and then an error, or worse.
struct Broken {
    left: usize,
    panics: bool,
}

impl Read for Broken {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            assert!(!self.panics, "a reader that panics, on purpose");
            return Err(io::Error::other("broken"));
        }
        let count = self.left.min(buffer.len());
        buffer[..count].fill(b'x');
        self.left -= count;
        Ok(count)
    }
}

/// Takes some bytes and then fails, or worse.
struct Full {
    room: usize,
    panics: bool,
}

impl Write for Full {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if self.room == 0 {
            assert!(!self.panics, "a writer that panics, on purpose");
            return Err(io::Error::other("full"));
        }
        let count = self.room.min(buffer.len());
        self.room -= count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps what is written.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(buffer);
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Never gives anything.
struct Silent;

impl Read for Silent {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        loop {
            std::thread::park();
        }
    }
}

#[test]
fn input_of_every_kind_ends() {
    block_on(async {
        let sandbox = sandbox();
        let count = |input| async {
            let outcome = sandbox.command(role(&["count"])).stdin(input).run().await.unwrap();
            assert_success(&outcome);
            stdout(&outcome)
        };
        assert_eq!(count(Input::Empty).await, "0\n");
        assert_eq!(count(Input::Bytes(Vec::new())).await, "0\n");
        assert_eq!(count(Input::Bytes(vec![1; 1_000_000])).await, "1000000\n");
        assert_eq!(count(Input::reader(io::repeat(7).take(500_000))).await, "500000\n");
        assert_eq!(count(Input::reader(Broken { left: 100_000, panics: false })).await, "100000\n");
        assert_eq!(count(Input::reader(Broken { left: 70_000, panics: true })).await, "70000\n");
        sandbox.close().await;
    });
}

#[test]
fn input_that_nobody_reads_does_no_harm() {
    block_on(async {
        let sandbox = sandbox();
        for input in [Input::Bytes(vec![1; 1_000_000]), Input::reader(io::repeat(1)), Input::reader(Silent)] {
            let run = sandbox.command(role(&["say", "done"])).stdin(input).run();
            let outcome = tokio::time::timeout(Duration::from_secs(20), run).await.unwrap().unwrap();
            assert_eq!(stdout(&outcome), "done\n");
        }
        // Waiting for input that never comes ends with the run.
        let run = sandbox.command(role(&["count"])).stdin(Input::reader(Silent)).run();
        assert!(tokio::time::timeout(Duration::from_millis(50), run).await.is_err());
        tokio::time::timeout(Duration::from_secs(20), sandbox.close()).await.unwrap();
    });
}

#[test]
fn a_writer_gets_everything() {
    block_on(async {
        let sandbox = sandbox();
        let kept = Kept::default();
        let command = sandbox.command(role(&["records", "z", "100", "10000"]));
        let outcome = command.stdout(Output::writer(kept.clone())).run().await.unwrap();
        assert_success(&outcome);
        assert!(outcome.stdout.is_empty());
        assert_eq!(kept.0.lock().unwrap().len(), 1_000_000);
        let kept = Kept::default();
        let command = sandbox.command(["no-such-command"]).stderr(Output::writer(kept.clone()));
        assert_eq!(command.run().await.unwrap().exit_code, 127);
        assert!(!kept.0.lock().unwrap().is_empty());
        sandbox.close().await;
    });
}

#[test]
fn a_writer_that_fails_is_a_broken_pipe() {
    block_on(async {
        let sandbox = sandbox();
        for panics in [false, true] {
            for (words, status) in [(&["flood"][..], 141), (&["flood", "ignoring"], 7)] {
                let output = Output::writer(Full { room: 100_000, panics });
                let run = sandbox.command(role(words)).stdout(output).run();
                let outcome = tokio::time::timeout(Duration::from_secs(20), run).await.unwrap().unwrap();
                assert_eq!(outcome.exit_code, status, "{}", stderr(&outcome));
            }
        }
        sandbox.close().await;
    });
}

#[test]
fn output_can_be_thrown_away_and_kept_apart() {
    block_on(async {
        let sandbox = sandbox();
        let outcome = sandbox.command(role(&["say", "x"])).stdout(Output::Discard).run().await.unwrap();
        assert_success(&outcome);
        assert!(outcome.stdout.is_empty());
        let outcome = play(&sandbox, &["write", "2", "to standard error"]).await;
        assert_eq!((stdout(&outcome).as_str(), stderr(&outcome).as_str()), ("", "to standard error"));
        sandbox.close().await;
    });
}
