//! Rows of commands with the answers of GNU bash, the GNU tools and CPython, run in the sandbox: `*_cases/*.json`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{block_on, runtime, stderr, stdout};
use serde::Deserialize;
use wskill::{Input, Limits, Mount, Outcome, Sandbox};

/// A row. What runs is `argv`, a `script` for bash, or a `command` line for bash.
#[derive(Debug, Deserialize)]
struct Case {
    name: String,
    /// What of `shell_cases/features.json` it shows.
    #[serde(default)]
    features: Vec<String>,
    #[serde(default)]
    argv: Vec<String>,
    script: Option<String>,
    command: Option<String>,
    stdin: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    stdout: String,
    status: u8,
    stderr_has: Option<String>,
    /// Why the sandbox answers otherwise for now. The row must fail, so that the reason goes when it no longer holds.
    known: Option<String>,
}

impl Case {
    fn run(&self) -> Outcome {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in &self.files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            #[cfg(unix)]
            if content.starts_with("#!") {
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs::set_permissions(&path, mode).unwrap();
            }
        }
        let argv = match (&self.script, &self.command) {
            (Some(line), _) | (None, Some(line)) => vec!["bash".to_owned(), "-c".into(), line.clone()],
            (None, None) => self.argv.clone(),
        };
        let limits = Limits { wall_time: Some(Duration::from_secs(60)), ..Limits::default() };
        block_on(async {
            let mount = Mount::new(folder.path(), "/data").writable();
            let builder = Sandbox::builder().runtime(runtime()).limits(limits).mount(mount).cwd("/data");
            let sandbox = builder.env("LC_ALL", "C.UTF-8").build().unwrap();
            let mut command = sandbox.command(argv);
            for (name, value) in &self.env {
                command = command.env(name, value);
            }
            let input = self.stdin.clone().map_or(Input::Empty, |text| Input::Bytes(text.into_bytes()));
            command.stdin(input).run().await.unwrap()
        })
    }

    /// What is wrong with the outcome, in words.
    fn check(&self) -> Option<String> {
        let outcome = self.run();
        let told = self.stderr_has.as_ref().is_none_or(|text| stderr(&outcome).contains(text));
        let right = told && outcome.exit_code == self.status && stdout(&outcome) == self.stdout;
        if let (true, Some(reason)) = (right, &self.known) {
            return Some(format!("--- {}\nanswers right now: take away its reason ({reason})", self.name));
        }
        if right || self.known.is_some() {
            return None;
        }
        Some(format!(
            "--- {}\nstatus {} instead of {}\nstdout {:?}\nwanted {:?}\nstderr {:?} (wanted {:?})",
            self.name,
            outcome.exit_code,
            self.status,
            stdout(&outcome),
            self.stdout,
            stderr(&outcome),
            self.stderr_has
        ))
    }
}

/// What bash must do, as a list of features with a line each.
#[derive(Debug, Deserialize)]
struct Bullet {
    bullet: String,
    features: BTreeMap<String, String>,
}

/// A folder of this folder.
fn tests_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// All rows of a folder. A file is a list of rows, or such a list beside the version of the bash that it came from.
fn read_folder(folder: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for entry in fs::read_dir(tests_folder(folder)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") || path.ends_with("features.json") {
            continue;
        }
        let mut content: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        if let Some(rows) = content.get_mut("rows").map(serde_json::Value::take) {
            assert!(content["bash"].as_str().is_some_and(|version| version.starts_with("5.2.")), "{path:?}: {content}");
            content = rows;
        }
        cases.extend(serde_json::from_value::<Vec<Case>>(content).unwrap_or_else(|error| panic!("{path:?}: {error}")));
    }
    cases
}

/// Runs all rows of a folder, some at a time.
fn run_folder(folder: &str, at_least: usize) {
    let cases = read_folder(folder);
    assert!(cases.len() >= at_least, "only {} rows", cases.len());
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    if let Some(text) = case.check() {
                        wrong.lock().unwrap().push(text);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} rows\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn the_shell_answers_as_gnu_bash() {
    run_folder("shell_cases", 100);
}

#[test]
fn every_feature_of_the_shell_has_a_row() {
    let text = fs::read_to_string(tests_folder("shell_cases/features.json")).unwrap();
    let bullets: Vec<Bullet> = serde_json::from_str(&text).unwrap();
    let listed: BTreeSet<&String> = bullets.iter().flat_map(|bullet| bullet.features.keys()).collect();
    let cases = read_folder("shell_cases");
    let shown: BTreeSet<&String> = cases.iter().flat_map(|case| &case.features).collect();
    assert_eq!(shown.difference(&listed).collect::<Vec<_>>(), Vec::<&&String>::new(), "not in the list");
    for Bullet { bullet, features } in &bullets {
        let missing: Vec<_> = features.keys().filter(|feature| !shown.contains(feature)).collect();
        assert_eq!(missing, Vec::<&String>::new(), "{bullet}: no row");
    }
}

/// A script without its numbers, its constant strings and the names of its variables.
fn shape(script: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        // A string in quotes, unless it holds commands or expansions.
        if matches!(c, '\'' | '"')
            && let Some(end) = rest[1..].find(c)
            && !rest[1..=end].contains(|c| "$`;|&()\\\n".contains(c))
        {
            out.push('Q');
            rest = &rest[end + 2..];
            continue;
        }
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length.max(c.len_utf8()));
        if word.chars().all(|c| c.is_ascii_digit()) {
            out.push('0');
        } else if length > 0 && (behind.starts_with(['=', '+']) || out.ends_with(['$', '{'])) {
            out.push('V');
        } else if !(c.is_whitespace() && out.ends_with(char::is_whitespace)) {
            out.push_str(word);
        }
        rest = behind;
    }
    out
}

#[test]
fn no_row_repeats_another_with_other_constants() {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut repeated = Vec::new();
    for Case { name, script, files, .. } in read_folder("shell_cases") {
        let script = script.unwrap_or_default();
        let texts: Vec<&str> = std::iter::once(&script).chain(files.values()).map(String::as_str).collect();
        if let Some(other) = names.insert(shape(&texts.join("\n")), name.clone()) {
            repeated.push(format!("`{other}` and `{name}`"));
        }
    }
    assert!(repeated.is_empty(), "rows that differ in constants only: {repeated:?}");
}

#[test]
fn the_answers_are_those_of_this_machines_bash() {
    let test = "the_answers_are_those_of_this_machines_bash";
    if !common::client_tests(test, "GNU bash, of the version that the rows were recorded from, and python3") {
        return;
    }
    let oracle = std::process::Command::new(tests_folder("oracle.sh")).arg("--check").output();
    let Ok(output) = oracle else {
        println!("{test}: skipped: no bash");
        return;
    };
    let told = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) => {}
        Some(77) => println!("{test}: skipped: {told}"),
        _ => panic!("{told}\n{}", String::from_utf8_lossy(&output.stderr)),
    }
}

#[test]
fn the_tools_answer_as_the_gnu_tools() {
    run_folder("tool_cases", 150);
}

#[test]
fn python_answers_as_cpython() {
    run_folder("python_cases", 150);
}
