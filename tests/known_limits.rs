//! What the sandbox's shell and tools do otherwise than GNU's, on purpose or for want of something:
//! `known_limits/limits.json`. Each row must behave as written, so that a limit that has gone is noticed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use common::{block_on, runtime, stderr, stdout};
use serde::Deserialize;
use wskill::{Limits, Mount, Outcome, Sandbox};

/// A limit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    /// A name that stays, by which the documentation lists it.
    id: String,
    /// What is not there, or differs.
    missing: String,
    /// What the user reads on standard error; nothing where it only differs.
    message: Option<String>,
    reason: String,
    scripts: Vec<Script>,
}

/// A script that shows it, and both answers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    script: String,
    sandbox: Answer,
    bash: Answer,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Answer {
    stdout: String,
    status: u8,
}

fn limits() -> Vec<Limit> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/known_limits/limits.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn run(script: &str) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { wall_time: Some(Duration::from_secs(60)), ..Limits::default() };
    block_on(async {
        let mount = Mount::new(folder.path(), "/data").writable();
        let builder = Sandbox::builder().runtime(runtime()).limits(limits).mount(mount).cwd("/data");
        let sandbox = builder.env("LC_ALL", "C.UTF-8").build().unwrap();
        sandbox.run(["bash", "-c", script]).await.unwrap()
    })
}

#[test]
fn the_limits_are_as_they_are_written_down() {
    let mut wrong = Vec::new();
    for limit in limits() {
        let mut messages = String::new();
        for script in &limit.scripts {
            let outcome = run(&script.script);
            let answer = Answer { stdout: stdout(&outcome), status: outcome.exit_code };
            messages += &stderr(&outcome);
            if answer == script.bash {
                wrong.push(format!("{}: answers as bash does: {}", limit.id, script.script));
            } else if answer != script.sandbox {
                wrong.push(format!("{}: {answer:?} instead of {:?}: {}", limit.id, script.sandbox, script.script));
            }
        }
        if let Some(message) = limit.message.as_ref().filter(|message| !messages.contains(*message)) {
            wrong.push(format!("{}: {message:?} is not in {messages:?}", limit.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_limits_are_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("wasm-tools/shell/README.md");
    let documentation = fs::read_to_string(path).unwrap();
    let mut ids = BTreeSet::new();
    for limit in limits() {
        assert!(ids.insert(limit.id.clone()), "{} is there twice", limit.id);
        assert!(!limit.missing.is_empty() && !limit.reason.is_empty(), "{} is not explained", limit.id);
        assert!(!limit.scripts.is_empty(), "{} has no script", limit.id);
        assert!(documentation.contains(&format!("`{}`", limit.id)), "{} is not in the shell's README", limit.id);
    }
}
