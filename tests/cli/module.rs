//! `wskill wasm` with a module of WASI preview 1 and with a command component of WASI 0.2: both are the same program,
//! and the same is expected of both but for error numbers.

use std::fs;
use std::process::Stdio;

use super::session::Session;

const PROBE: &str = include_str!("probe.wat");

/// Error numbers of WASI preview 1.
mod errno {
    pub const FILE_TOO_BIG: i32 = 22;
    pub const NO_SPACE: i32 = 51;
    pub const READ_ONLY: i32 = 69;
}

/// The program as a module.
pub fn module() -> Vec<u8> {
    wat::parse_str(PROBE).unwrap()
}

/// The program as a component, with the adapter that toolchains use.
pub fn component() -> Vec<u8> {
    use wasi_preview1_component_adapter_provider::{
        WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER,
    };
    wit_component::ComponentEncoder::default()
        .module(&module())
        .unwrap()
        .adapter(WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER)
        .unwrap()
        .encode()
        .unwrap()
}

/// The status of a program that exits with `code`: WASI 0.2 knows success and failure only.
fn status_of(session: &Session, code: i32) -> i32 {
    let is_component = fs::read(session.path("probe.wasm")).unwrap()[6] == 1;
    if is_component { code.min(1) } else { code }
}

/// Both kinds, in a session with a folder `data` that holds `a.txt`.
fn sessions() -> [(Session, String); 2] {
    [module(), component()].map(|bytes| {
        let session = Session::new();
        let file = session.file("probe.wasm", bytes);
        session.file("data/a.txt", "content\n");
        session.file("outside", "secret\n");
        (session, file)
    })
}

/// Exit status and standard output of a deed in the folder `data`.
fn deed(session: &Session, options: &[&str], file: &str, words: &[&str]) -> (Option<i32>, String) {
    let output = session.run(&[&["wasm"], options, &[file], words].concat());
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn arguments_environment_and_status() {
    for (session, file) in sessions() {
        let told = deed(&session, &[], &file, &["echo", "--json", "", "ä b"]);
        assert_eq!(told, (Some(0), "probe.wasm\0echo\0--json\0\0ä b\0".into()));
        // Nothing of the host's environment is there, nor of a system that the module cannot see.
        let told = deed(&session, &["--env", "A=1 2", "--env", "B="], &file, &["variables"]);
        assert_eq!(told, (Some(0), "A=1 2\0B=\0".into()));
        assert_eq!(deed(&session, &[], &file, &["xit", "0"]).0, Some(0));
        assert_eq!(deed(&session, &[], &file, &["xit", "42"]).0, Some(status_of(&session, 42)));
    }
}

#[test]
fn standard_input_is_passed_on() {
    for (session, file) in sessions() {
        let bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
        let input = session.file("input", &bytes);
        assert!(session.run(&["wasm", "--stdin", &input, &file, "copy"]).stdout == bytes);
        let mut command = session.command(&["wasm", &file, "copy"]);
        let output = command.stdin(Stdio::from(fs::File::open(&input).unwrap())).output().unwrap();
        assert!(output.stdout == bytes);
        assert_eq!(deed(&session, &[], &file, &["copy"]), (Some(0), String::new()));
    }
}

#[test]
fn only_mounts_are_visible_and_with_their_rights() {
    for (session, file) in sessions() {
        let folder = session.name("data");
        let (read_only, writable) = (format!("{folder}:/d"), format!("{folder}:/d:rw"));
        let look = ["--mount", &read_only];
        let change = ["--mount", &writable];
        assert_eq!(deed(&session, &look, &file, &["read", "a.txt"]), (Some(0), "content\n".into()));
        for words in [&["write", "a.txt"][..], &["write", "new"], &["directory", "new"], &["unlink", "a.txt"]] {
            let (status, _) = deed(&session, &look, &file, words);
            assert_eq!(status, Some(status_of(&session, errno::READ_ONLY)), "{words:?}");
        }
        assert_eq!(session.list("data"), ["a.txt"]);
        assert_eq!(deed(&session, &change, &file, &["write", "new"]).0, Some(0));
        assert_eq!(deed(&session, &change, &file, &["directory", "folder"]).0, Some(0));
        assert_eq!(fs::read_to_string(session.path("data/new")).unwrap(), "data\n");
        assert_eq!(deed(&session, &change, &file, &["unlink", "new"]).0, Some(0));
        assert_eq!(session.list("data"), ["a.txt", "folder"]);
        // Without a mount there is nothing.
        assert_ne!(deed(&session, &[], &file, &["read", "a.txt"]).0, Some(0));
    }
}

#[test]
fn no_path_leads_out_of_a_mount() {
    for (session, file) in sessions() {
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../outside", session.path("data/up")).unwrap();
            std::os::unix::fs::symlink(session.path("outside"), session.path("data/absolute")).unwrap();
        }
        let mount = format!("{}:/d:rw", session.name("data"));
        let outside = session.name("outside");
        for path in ["../outside", "up", "absolute", "a.txt/../../outside", &outside] {
            let (status, told) = deed(&session, &["--mount", &mount], &file, &["read", path]);
            assert!(status != Some(0) && told.is_empty(), "{path}: {status:?} {told}");
            let (status, _) = deed(&session, &["--mount", &mount], &file, &["write", path]);
            assert_ne!(status, Some(0), "{path}");
        }
        assert_eq!(fs::read_to_string(session.path("outside")).unwrap(), "secret\n");
    }
}

#[test]
fn limits_that_end_the_run() {
    for (session, file) in sessions() {
        for (options, words, limit) in [
            (&["--timeout", "0.3"][..], &["loop"][..], "wall_time"),
            (&["--timeout", "0.3"], &["pause"], "wall_time"),
            (&["--timeout", "9", "--fuel", "10000000"], &["loop"], "fuel"),
            (&["--timeout", "9", "--output-bytes", "10000"], &["yes"], "output"),
        ] {
            let arguments = [&["wasm", "--json"], options, &[&file], words].concat();
            let output = session.run(&arguments);
            let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(report["limit"], limit, "{arguments:?}: {report}");
            let status = if limit == "wall_time" { 124 } else { 137 };
            assert_eq!(output.status.code(), Some(status), "{arguments:?}");
            assert!(report["duration_ms"].as_f64().unwrap() < 5000.0, "{report}");
            assert_eq!(report["processes"], 1, "{report}");
            if limit == "fuel" {
                assert_eq!(report["fuel"], 10_000_000, "{report}");
            }
            if limit == "output" {
                assert_eq!(report["stdout"].as_str().unwrap().len(), 10_000);
            }
        }
    }
}

#[test]
fn limits_that_the_guest_learns_of() {
    for (session, file) in sessions() {
        let mount = format!("{}:/d:rw", session.name("data"));
        let report = |options: &[&str], words: &[&str]| -> serde_json::Value {
            let output = session.run(&[&["wasm", "--json", "--mount", &mount], options, &[&file], words].concat());
            serde_json::from_slice(&output.stdout).unwrap()
        };
        let grown = report(&["--memory", "64M"], &["grow"]);
        assert_eq!((&grown["exit_code"], &grown["limits_hit"]["process_memory"]), (&0.into(), &1.into()), "{grown}");
        let peak = grown["peak_memory_bytes"].as_u64().unwrap();
        assert!((32 << 20..=64 << 20).contains(&peak), "{peak}");

        let fits = report(&["--disk", "1M"], &["add", "new", "15"]);
        assert_eq!((&fits["exit_code"], &fits["limits_hit"]), (&0.into(), &serde_json::json!({})), "{fits}");
        fs::remove_file(session.path("data/new")).unwrap();
        let full = report(&["--disk", "1M"], &["add", "new", "17"]);
        assert_eq!(full["exit_code"], status_of(&session, errno::NO_SPACE), "{full}");
        assert!(full["limits_hit"]["disk"].as_u64().unwrap() >= 1, "{full}");
        assert!(fs::metadata(session.path("data/new")).unwrap().len() <= 1 << 20);
        fs::remove_file(session.path("data/new")).unwrap();

        let sparse = report(&["--disk", "1M"], &["truncate", "new", "2000000"]);
        assert_eq!(sparse["exit_code"], status_of(&session, errno::NO_SPACE), "{sparse}");
        assert!(fs::metadata(session.path("data/new")).unwrap().len() == 0);
        let long = report(&["--limit", "file_size=100K"], &["add", "new", "3"]);
        assert_eq!(long["exit_code"], status_of(&session, errno::FILE_TOO_BIG), "{long}");
        assert!(long["limits_hit"]["file_size"].as_u64().unwrap() >= 1, "{long}");
        fs::remove_file(session.path("data/new")).unwrap();
        // What is deleted is given back.
        let again = report(&["--disk", "1M"], &["full", "new", "50"]);
        assert_eq!((&again["exit_code"], &again["limits_hit"]), (&0.into(), &serde_json::json!({})), "{again}");

        let none = report(&["--limit", "inodes=0"], &["directory", "new"]);
        assert_eq!(none["exit_code"], status_of(&session, errno::NO_SPACE), "{none}");
        let none = report(&["--limit", "inodes=0"], &["write", "new"]);
        assert_eq!(none["exit_code"], status_of(&session, errno::NO_SPACE), "{none}");
        assert_eq!(session.list("data"), ["a.txt"]);
        let open = report(&["--open-files", "20"], &["keep", "a.txt", "30"]);
        assert_ne!(open["exit_code"], 0, "{open}");
        assert_eq!(open["limits_hit"]["open_files"], 1, "{open}");
    }
}

#[test]
fn a_crash_looks_like_a_signal_and_says_why_in_one_line() {
    for (session, file) in sessions() {
        let output = session.run(&["wasm", &file, "break"]);
        assert_eq!(output.status.code(), Some(134));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "probe.wasm: aborted\n");
    }
}

#[test]
fn the_trace_tells_of_it() {
    for (session, file) in sessions() {
        let trace = session.name("trace");
        session.run(&["wasm", "--trace", &trace, &file, "xit", "3"]);
        let text = fs::read_to_string(&trace).unwrap();
        let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let start = lines.iter().find(|line| line["event"] == "start").expect(&text);
        assert_eq!(start["argv"], serde_json::json!(["probe.wasm", "xit", "3"]));
        let exit = lines.iter().find(|line| line["event"] == "exit").expect(&text);
        assert_eq!(exit["status"], status_of(&session, 3));
        assert!(exit["peak_memory_bytes"].as_u64().unwrap() > 0 && exit["cpu_ms"].is_number(), "{exit}");
    }
}
