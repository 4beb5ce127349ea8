//! The lines of `--trace`.

use std::fs;

use super::session::Session;

fn trace(session: &Session, arguments: &[&str]) -> Vec<serde_json::Value> {
    let file = session.name("trace");
    session.run(&[&[arguments[0], "--rm", "--trace", &file], &arguments[1..]].concat());
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn one_process() {
    let mut session = Session::new();
    let lines = trace(&session, &["exec", "--", "cat", "/etc/hostname", "/no/such/file"]);
    let text: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    let output = std::process::Output { stdout: text.into(), stderr: Vec::new(), status: Default::default() };
    session.note(&["exec", "--trace", "FILE", "--", "cat", "/etc/hostname", "/no/such/file"], &output);
    session.finish("trace");
}

#[test]
fn a_pipeline_and_a_refusal() {
    let session = Session::new();
    let lines =
        trace(&session, &["exec", "--processes", "3", "cat /etc/hostname | sort; sleep 0.2 | sleep 0.2 | sleep 0.2"]);
    let count = |event: &str| lines.iter().filter(|line| line["event"] == event).count();
    assert!(count("start") >= 3, "{lines:?}");
    assert_eq!(count("exit"), count("start"));
    assert!(lines.iter().any(|line| line["event"] == "limit" && line["limit"] == "processes"), "{lines:?}");
    for line in lines.iter().filter(|line| line["event"] == "exit") {
        assert!(line["cpu_ms"].is_number() && line["peak_memory_bytes"].as_u64().unwrap() > 0, "{line}");
    }
}

#[cfg(unix)]
#[test]
fn a_trace_to_standard_error() {
    let output = Session::new().command(&["exec", "--trace", "/dev/stderr", "--", "true"]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.lines().all(|line| line.starts_with("{\"event\":")) && text.lines().count() >= 2, "{text}");
}
