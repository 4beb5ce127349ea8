//! The audit log and the counters.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use wskill::audit::{AuditLog, CallEnd, Counters, Record, Who};
use wskill::policy::Secrets;
use wskill::source::Sha256Sum;

fn lines(path: &std::path::Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_record_says_who_what_and_how_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let log = AuditLog::builder(folder.path().join("state/audit.jsonl")).open().unwrap();
    let secrets = Secrets::of([("API_KEY", "sk-123456")]);
    let who = Who { app: "app".into(), user: "ann".into(), session: "s1".into() };
    let sum = Sha256Sum::of(b"files");
    let record = Record::new("skill_run")
        .who(&who)
        .skill("pdf")
        .digest("pdf", sum)
        .command("curl -H sk-123456 'a\nb'", &secrets)
        .verdict("trust", true, "", &secrets)
        .verdict("hook", false, "no sk-123456", &secrets)
        .limit_hit("memory", 2)
        .limit_hit("memory", 1)
        .exit_code(3)
        .duration(Duration::from_micros(1500))
        .error("failed with sk-123456", &secrets);
    log.write(&record).unwrap();
    log.write(&Record::new("skill_list")).unwrap();
    let mut found = lines(log.path());
    let time = found[0]["time"].take();
    let time = time.as_str().unwrap();
    assert!(time.len() == "2026-11-30T00:00:00.000Z".len() && time.ends_with('Z') && &time[19..20] == ".", "{time}");
    let command = "curl -H [redacted] 'a\nb'";
    let digest = Sha256Sum::of(command.as_bytes()).to_string();
    assert_eq!(
        found[0],
        json!({
            "time": null, "app": "app", "user": "ann", "session": "s1", "tool": "skill_run", "skill": "pdf",
            "digests": {"pdf": sum.to_string()},
            "command": {"sha256": digest, "text": command, "bytes": command.len()},
            "verdicts": [
                {"gate": "trust", "passed": true},
                {"gate": "hook", "passed": false, "reason": "no [redacted]"},
            ],
            "limits_hit": {"memory": 3}, "exit_code": 3, "duration_ms": 1, "error": "failed with [redacted]",
        })
    );
    found[1]["time"].take();
    assert_eq!(found[1], json!({"time": null, "tool": "skill_list", "duration_ms": 0}));
    assert_eq!((found.len(), log.failures()), (2, 0));
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let log = AuditLog::builder(folder.path().join("new/audit.jsonl")).max_bytes(1).open().unwrap();
    log.write(&Record::new("a")).unwrap();
    log.write(&Record::new("b")).unwrap();
    let mode = |path: &str| fs::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("new"), 0o700);
    for path in ["new/audit.jsonl", "new/audit.jsonl.1", "new/audit.jsonl.lock"] {
        assert_eq!(mode(path), 0o600, "{path}");
    }
}

#[test]
fn long_commands_are_cut_and_digested_whole() {
    let folder = tempfile::tempdir().unwrap();
    let none = Secrets::default();
    for (bytes, expected) in [(0, json!(null)), (5, json!("éé")), (1024, json!("é".repeat(10)))] {
        let path = folder.path().join(format!("{bytes}.jsonl"));
        let log = AuditLog::builder(&path).command_text(bytes).open().unwrap();
        let command = "é".repeat(10);
        log.write(&Record::new("skill_run").command(&command, &none)).unwrap();
        let found = &lines(&path)[0]["command"];
        assert_eq!(found["text"], expected);
        assert_eq!(found["bytes"], 20);
        assert_eq!(found["sha256"], Sha256Sum::of(command.as_bytes()).to_string());
    }
    // Nothing that a model writes makes a line endless.
    let long = "x".repeat(1 << 20);
    let mut record = Record::new(long.as_str()).skill(&long).error(&long, &none).command(&long, &none);
    let long = "x".repeat(1000);
    for number in 0..1000 {
        record = record.limit_hit(&format!("{number}{long}"), 1).digest(&format!("{number}{long}"), Sha256Sum::of(b""));
        record = record.verdict("hook", false, &long, &none);
    }
    let path = folder.path().join("long.jsonl");
    AuditLog::builder(&path).open().unwrap().write(&record).unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 80_000, "{}", fs::metadata(&path).unwrap().len());
}

#[test]
fn old_files_are_kept_up_to_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::builder(&path).max_bytes(200).keep(2).open().unwrap();
    for number in 0..40 {
        log.write(&Record::new(format!("{number:02}"))).unwrap();
    }
    let tools = |name: &str| -> Vec<String> {
        lines(&folder.path().join(name)).iter().map(|line| line["tool"].as_str().unwrap().to_owned()).collect()
    };
    let all = [tools("audit.jsonl.2"), tools("audit.jsonl.1"), tools("audit.jsonl")].concat();
    assert_eq!(all.last().map(String::as_str), Some("39"));
    assert_eq!(all, (40 - all.len()..40).map(|number| format!("{number:02}")).collect::<Vec<_>>());
    assert!(!folder.path().join("audit.jsonl.3").exists());
    for name in ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"] {
        assert!(fs::metadata(folder.path().join(name)).unwrap().len() <= 200, "{name}");
    }
    let alone = AuditLog::builder(folder.path().join("alone")).max_bytes(1).keep(0).open().unwrap();
    alone.write(&Record::new("1")).unwrap();
    alone.write(&Record::new("2")).unwrap();
    assert_eq!(tools("alone"), ["2"]);
    assert!(!folder.path().join("alone.1").exists());
}

#[test]
fn many_writers_share_a_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let path = &path;
            scope.spawn(move || {
                // As processes do: each has the log open by itself.
                let log = AuditLog::builder(path).max_bytes(4000).keep(100).open().unwrap();
                for number in 0..50 {
                    log.write(&Record::new(format!("{thread}-{number}"))).unwrap();
                }
                assert_eq!(log.failures(), 0);
            });
        }
    });
    let mut tools = BTreeSet::new();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap().path();
        tools.extend(lines(&entry).iter().map(|line| line["tool"].as_str().unwrap().to_owned()));
    }
    assert_eq!(tools.len(), 400);
}

#[test]
fn what_cannot_be_written_is_told_once_and_fails_only_what_must_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let told = Arc::new(AtomicUsize::new(0));
    let builder = || {
        let told = Arc::clone(&told);
        AuditLog::builder(folder.path()).on_failure(move |error| {
            assert!(error.to_string().ends_with(": no regular file"), "{error}");
            told.fetch_add(1, Ordering::Relaxed);
        })
    };
    let log = builder().open().unwrap();
    log.write(&Record::new("a")).unwrap();
    log.write(&Record::new("a")).unwrap();
    assert_eq!((log.failures(), told.load(Ordering::Relaxed)), (3, 1));
    assert!(builder().required(true).open().is_err());
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::builder(&path).required(true).open().unwrap();
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(log.write(&Record::new("a")).is_err());
}

#[test]
fn counters_are_sorted_and_bounded() {
    let counters = Counters::default();
    counters.limit_hit("memory", "skill_run", 2);
    counters.limit_hit("disk", "workspace_exec", 1);
    counters.limit_hit("memory", "skill_run", 3);
    counters.call("skill_run", CallEnd::Denied);
    counters.call("skill_run", CallEnd::Error);
    counters.call("a\"\\\n", CallEnd::Ok);
    let expected = "# HELP wskill_limit_hits_total How often a limit refused something.\n\
                    # TYPE wskill_limit_hits_total counter\n\
                    wskill_limit_hits_total{limit=\"disk\",tool=\"workspace_exec\"} 1\n\
                    wskill_limit_hits_total{limit=\"memory\",tool=\"skill_run\"} 5\n\
                    # HELP wskill_tool_calls_total Calls of tools.\n\
                    # TYPE wskill_tool_calls_total counter\n\
                    wskill_tool_calls_total{tool=\"a\\\"\\\\\\n\",end=\"ok\"} 1\n\
                    wskill_tool_calls_total{tool=\"skill_run\",end=\"denied\"} 1\n\
                    wskill_tool_calls_total{tool=\"skill_run\",end=\"error\"} 1\n";
    assert_eq!(counters.prometheus(), expected);
    for number in 0..5000 {
        counters.call(&format!("{number}{}", "x".repeat(1000)), CallEnd::Ok);
    }
    let calls = counters.snapshot().calls;
    assert_eq!(calls.len(), 1025);
    assert_eq!(calls[&("other".to_owned(), "other".to_owned())], 5003 - 1024);
    assert!(calls.keys().all(|(tool, _)| tool.len() <= 64));
}
