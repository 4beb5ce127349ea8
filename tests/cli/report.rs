//! The object of `--json`.

use serde_json::{Value, json};

use super::session::Session;

const FIELDS: [&str; 14] = [
    "duration_ms",
    "error",
    "exit_code",
    "fuel",
    "hints",
    "limit",
    "limits_hit",
    "output_files",
    "peak_memory_bytes",
    "processes",
    "stderr",
    "stdout",
    "timed_out",
    "stdout_base64",
];

fn report(session: &Session, arguments: &[&str]) -> Value {
    let output = session.run(arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["exit_code"], output.status.code().unwrap());
    report
}

#[test]
fn reports() {
    let mut session = Session::new();
    let line = "printf 'a\\n'; echo e >&2; mkdir out/d; echo file > out/f.txt; printf '\\377' > out/d/b.bin; exit 3";
    session.call(&["run", "skills/python-math", "--json", "--rm", line]);
    session.call(&["exec", "--json", "--rm", "printf 'a\\377'"]);
    session.call(&["exec", "--json", "--rm", "--fuel", "1000000000", "true"]);
    session.call(&["exec", "--json", "--timeout", "0.2", "echo before; sleep 9"]);
    session.call(&["exec", "--json", "--output-bytes", "4", "echo 123456789"]);
    session.call(&[
        "exec",
        "--json",
        "--rm",
        "--open-files",
        "8",
        "for fd in 4 5 6 7 8; do eval \"exec $fd< /dev/null\"; done",
    ]);
    session.call(&["exec", "--json", "--rm", "--", "curl", "http://example.com"]);
    session.call(&["run", "no-such-skill", "--json", "true"]);
    session.call(&["exec", "--json", "--no-such-flag", "true"]);
    session.call(&["exec", "--json", "no-such-command"]);
    session.call(&["exec", "--json", "echo 1 > out/kept"]);
    session.finish("reports");
}

#[test]
fn every_field_is_there() {
    let session = Session::new();
    let with_bytes = report(&session, &["exec", "--json", "--rm", "printf '\\377'"]);
    let fields: Vec<_> = with_bytes.as_object().unwrap().keys().cloned().collect();
    let mut expected = FIELDS.to_vec();
    expected.sort_unstable();
    assert_eq!(fields, expected);
    assert_eq!(with_bytes["stdout_base64"], "/w==");
    assert!(with_bytes["duration_ms"].as_f64().unwrap() > 0.0);
    assert!(with_bytes["peak_memory_bytes"].as_u64().unwrap() > 100_000);
    for arguments in [&["exec", "--json", "--rm", "true"][..], &["run", "no-such-skill", "--json", "true"]] {
        let report = report(&session, arguments);
        let fields: Vec<_> = report.as_object().unwrap().keys().map(String::as_str).collect();
        expected.retain(|name| *name != "stdout_base64");
        assert_eq!(fields, expected);
    }
}

#[test]
fn output_files_are_those_asked_for() {
    let session = Session::new();
    let line = "echo 1 > out/a.txt; echo 2 > out/b.csv; mkdir work/d; echo 3 > work/d/c.txt; ln -s /etc/passwd out/l; \
                mkfifo out/pipe";
    let names = |outputs: &[&str]| -> Vec<String> {
        let options: Vec<_> = outputs.iter().flat_map(|pattern| ["--output", pattern]).collect();
        let report = report(&session, &[&["exec", "--json", "--rm"], &options[..], &[line]].concat());
        let files = report["output_files"].as_array().unwrap();
        files.iter().map(|file| file["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&[]), ["out/a.txt", "out/b.csv"]);
    assert_eq!(names(&["out/*.csv", "/workspace/work/**/*.txt"]), ["out/b.csv", "work/d/c.txt"]);
    assert_eq!(names(&["**/*.txt"]), ["out/a.txt", "work/d/c.txt"]);
    assert_eq!(names(&["*.txt"]), Vec::<String>::new());
}

#[test]
fn large_and_many_output_files_are_bounded() {
    let session = Session::new();
    let line = "head -c 5000000 /dev/zero | tr '\\0' x > out/large; for i in {1..1001}; do echo > out/$i; done";
    let report = report(&session, &["exec", "--json", "--rm", line]);
    let files = report["output_files"].as_array().unwrap();
    assert_eq!(files.len(), 1000);
    assert!(files.iter().all(|file| file["size_bytes"] != json!(5_000_000) || file.get("content").is_none()));
    assert!(report["hints"][0].as_str().unwrap().starts_with("2 more output files"), "{}", report["hints"]);
}
