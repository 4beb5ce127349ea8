//! Processes that are killed at any time: what had been finished is there still.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::session::Session;

/// How many runs are killed.
const KILLS: u32 = 30;

fn answer(session: &Session, tool: &str, arguments: &Value) -> Value {
    let mut command = session.command(&["tool", tool, &arguments.to_string(), "--session", "s"]);
    let output = command.env("XDG_STATE_HOME", session.path("state")).output().unwrap();
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The number that the newest version of the artifact says.
fn saved(session: &Session) -> u32 {
    let call = json!({
        "skill": "python-math", "command": "cat work/n; rm -f work/n",
        "inputs": [{"from": "artifact://out/n", "to": "work/n"}],
    });
    answer(session, "skill_run", &call)["stdout"].as_str().unwrap().trim().parse().unwrap()
}

#[test]
fn a_kill_loses_nothing_that_was_finished() {
    let session = Session::new();
    let call = |number: u32| {
        json!({
            "skill": "python-math", "command": format!("echo {number} > out/n; echo {number} > work/n{number}"),
            "output_files": ["out/n"], "save_as_artifacts": true,
        })
    };
    answer(&session, "skill_load", &json!({"skill": "python-math"}));
    let began = Instant::now();
    answer(&session, "skill_run", &call(0));
    let whole = began.elapsed();
    let mut finished = 0;
    let (mut done, mut lost) = (0, 0);
    for number in 1..=KILLS {
        let arguments = call(number).to_string();
        let mut command = session.command(&["tool", "skill_run", &arguments, "--session", "s"]);
        command.env("XDG_STATE_HOME", session.path("state")).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        // From the very beginning to beyond the end.
        std::thread::sleep(whole * number / (KILLS - 5));
        process.kill().unwrap();
        let ended = process.wait().unwrap().success();
        let newest = saved(&session);
        assert!(newest == number || !ended && newest == finished, "{newest} after {finished}, killed in {number}");
        match newest == number {
            true => done += 1,
            false => lost += 1,
        }
        finished = newest;
        // The files of runs that finished are there, and so is what was loaded.
        let kept = format!("test -e work/n{finished} && cat work/n{finished}");
        let kept = answer(&session, "skill_run", &json!({"skill": "python-math", "command": kept}));
        assert_eq!(kept["stdout"], format!("{finished}\n"));
    }
    let mut shown = session.command(&["session", "show", "s"]);
    let shown = shown.env("XDG_STATE_HOME", session.path("state")).output().unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["loaded"][0]["name"], "python-math");
    println!(
        "{lost} runs were killed before and {done} after they had saved, in {:?} each",
        Duration::from_millis(whole.as_millis() as u64)
    );
}
