//! The command line: exit statuses, errors in one line, results as JSON.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn wskill(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wskill"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).stdin(Stdio::null()).env_remove("SKILLS_ROOT");
    command
}

fn run(arguments: &[&str]) -> Output {
    wskill(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Status and standard error of a call that must fail in one line.
fn failure(arguments: &[&str]) -> (i32, String) {
    let output = run(arguments);
    let line = text(&output.stderr);
    assert_eq!(line.trim_end().lines().count(), 1, "{arguments:?}: {line}");
    (output.status.code().unwrap(), line.trim_end().to_owned())
}

#[test]
fn statuses_are_the_commands_own() {
    for (arguments, status) in [
        (&["exec", "exit 7"][..], 7),
        (&["exec", "--", "true"], 0),
        (&["exec", "--", "false"], 1),
        (&["exec", "kill -9 $$"], 137),
        (&["exec", "kill -TERM $$"], 143),
        (&["exec", "--timeout", "0.2", "sleep 100"], 124),
        (&["exec", "--fuel", "20000000", "while :; do :; done"], 137),
        (&["exec", "--", "no-such-command"], 127),
        (&["exec", "no-such-command"], 127),
        (&["exec", "--", "/etc/passwd"], 126),
        (&["exec", "--", "/etc"], 126),
    ] {
        assert_eq!(run(arguments).status.code(), Some(status), "{arguments:?}");
    }
}

#[test]
fn wrong_calls_are_one_line_and_125() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for (arguments, word) in [
        (&["run", "no-such-skill", "true"][..], "known are"),
        (&["run", "./no/such/folder", "true"], "there is no folder"),
        (&["run", path, "true"], "no SKILL.md"),
        (&["exec", "--mount", "/no/such/folder:/data", "true"], "does not exist"),
        (&["exec", "--mount", "nonsense", "true"], "HOST:GUEST"),
        (&["exec", "--mount", &format!("{path}:/a/../b"), "true"], "absolute"),
        (&["exec", "--memory", "much", "true"], "memory"),
        (&["exec", "--limit", "nonsense=1", "true"], "unknown limit"),
        (&["exec", "--limit", "inodes", "true"], "NAME=VALUE"),
        (&["exec", "--env", "novalue", "true"], "NAME=VALUE"),
        (&["exec", "--stdin", "/no/such/file", "true"], "/no/such/file"),
        (&["exec", "--input", "/no/such/file", "true"], "no such file"),
        (&["exec", "--input", &format!("{path}=../../escape"), "true"], "plain relative path"),
        (&["exec", "--cwd", "/no/such/folder", "true"], "no such folder"),
        (&["wasm", "/no/such/file.wasm"], "/no/such/file.wasm"),
        (&["wasm", "Cargo.toml"], "not a WebAssembly file"),
    ] {
        let (status, line) = failure(arguments);
        assert_eq!(status, 125, "{arguments:?}: {line}");
        assert!(line.starts_with("wskill: error: ") && line.contains(word), "{arguments:?}: {line}");
    }
    for arguments in [&["exec"][..], &["exec", "--no-such-flag", "true"], &["run"]] {
        assert_eq!(run(arguments).status.code(), Some(125), "{arguments:?}");
    }
    assert_eq!(run(&["no-such-subcommand"]).status.code(), Some(2));
    assert_eq!(run(&["--help"]).status.code(), Some(0));
}

#[test]
fn options_end_at_the_first_word() {
    let output = run(&["exec", "echo", "--json", "-x", "--"]);
    assert_eq!(text(&output.stdout), "--json -x --\n");
}

#[test]
fn bytes_come_out_as_they_are_and_input_goes_in() {
    let mut child = wskill(&["exec", "--", "cat"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let mut stdin = child.stdin.take().unwrap();
    let sent = bytes.clone();
    let sending = std::thread::spawn(move || stdin.write_all(&sent));
    let output = child.wait_with_output().unwrap();
    sending.join().unwrap().unwrap();
    assert!(output.stdout == bytes);

    // A skill gets no input unless it is asked for.
    let output = run(&["run", "skills/python-math", "--rm", "cat; echo end"]);
    assert_eq!(text(&output.stdout), "end\n");
}

#[test]
fn the_report_is_one_object() {
    let line = "printf 'a\\n'; echo e >&2; echo file > out/f.txt; printf '\\377' > out/b.bin; exit 3";
    let output = run(&["run", "skills/python-math", "--json", "--rm", line]);
    assert_eq!(output.status.code(), Some(3));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["exit_code"], &report["stdout"], &report["stderr"]), (&3.into(), &"a\n".into(), &"e\n".into()));
    assert_eq!(report["timed_out"], false);
    assert!(report["limit"].is_null() && report["fuel"].is_null() && report["error"].is_null());
    assert!(report["duration_ms"].as_f64().unwrap() > 0.0 && report["peak_memory_bytes"].as_u64().unwrap() > 0);
    let files = report["output_files"].as_array().unwrap();
    assert_eq!(files.len(), 2);
    assert_eq!((&files[1]["name"], &files[1]["content"]), (&"out/f.txt".into(), &"file\n".into()));
    assert_eq!((&files[0]["size_bytes"], files[0].get("content")), (&1.into(), None));

    let output = run(&["exec", "--json", "--rm", "printf '\\377'"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["stdout_base64"], "/w==");

    let output = run(&["exec", "--json", "--rm", "--", "curl", "http://example.com"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["hints"][0].as_str().unwrap().contains("no network"), "{report}");

    let output = run(&["run", "no-such-skill", "--json", "true"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["error"].as_str().unwrap().contains("no-such-skill"));
}

#[test]
fn workspaces_are_kept_or_deleted_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();

    let output = run(&["exec", "--workspace", &path("ws"), "echo 1 > out/x; echo 2 > work/y"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(path("ws/out/x")).unwrap(), "1\n");
    assert_eq!(fs::read_to_string(path("ws/work/y")).unwrap(), "2\n");

    run(&["exec", "--workspace-root", &path("root"), "true"]);
    let made: Vec<_> = fs::read_dir(path("root")).unwrap().collect();
    assert_eq!(made.len(), 1);

    run(&["exec", "--out-dir", &path("results"), "mkdir out/d; echo 3 > out/d/z; ln -s /etc/passwd out/link"]);
    assert_eq!(fs::read_to_string(path("results/d/z")).unwrap(), "3\n");
    assert!(!Path::new(&path("results/link")).exists());

    let output = run(&["exec", "echo 4 > out/kept"]);
    let line = text(&output.stderr);
    let kept = line.split(" kept in ").nth(1).and_then(|rest| rest.split(';').next()).expect(&line).to_owned();
    assert_eq!(fs::read_to_string(Path::new(&kept).join("out/kept")).unwrap(), "4\n");
    fs::remove_dir_all(kept).unwrap();
}

#[test]
fn a_damaged_or_foreign_cache_file_is_replaced() {
    let cache = tempfile::tempdir().unwrap();
    let module = cache.path().join("m.wasm");
    fs::write(&module, wat::parse_str(r#"(module (memory (export "memory") 1) (func (export "_start")))"#).unwrap())
        .unwrap();
    let folder = cache.path().join("cache");
    let call = || {
        let mut command = wskill(&["wasm", module.to_str().unwrap()]);
        command.env("WSKILL_CACHE_DIR", &folder).output().unwrap()
    };
    assert!(call().status.success());
    let compiled: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cwasm"))
        .collect();
    assert_eq!(compiled.len(), 1);
    let good = fs::read(&compiled[0]).unwrap();
    fs::write(&compiled[0], b"not machine code").unwrap();
    assert!(call().status.success());
    assert_eq!(fs::read(&compiled[0]).unwrap().len(), good.len());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Others could have written it: it is not used, and replaced.
        fs::set_permissions(&compiled[0], fs::Permissions::from_mode(0o666)).unwrap();
        assert!(call().status.success());
        assert_eq!(fs::metadata(&compiled[0]).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn the_trace_tells_processes_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    run(&["exec", "--rm", "--trace", file.to_str().unwrap(), "cat /etc/hostname | sort"]);
    let text = fs::read_to_string(file).unwrap();
    let events: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let starts = events.iter().filter(|event| event["event"] == "start").count();
    let exits = events.iter().filter(|event| event["event"] == "exit").count();
    assert!(starts >= 3 && starts == exits, "{text}");
    assert!(events.iter().any(|event| event["event"] == "open" && event["path"] == "/etc/hostname"), "{text}");
}

#[test]
fn the_commands_are_listed() {
    let output = run(&["programs", "--json"]);
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<_> = list.as_array().unwrap().iter().map(|command| command["name"].as_str().unwrap()).collect();
    for name in ["bash", "python3", "ls", "grep", "tar", "jq"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
}
