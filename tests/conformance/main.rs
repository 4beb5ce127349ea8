//! A sample of the public conformance cases, which are not part of this repository: each suite with a floor. The whole
//! suites: `run.sh`.
#![cfg(all(feature = "cli", unix))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

use std::path::Path;
use std::process::Command;

/// Suite, which of its cases (a text in their file's or their own name), how many must pass, of how many.
const SAMPLES: [(&str, &str, u32, u32); 8] = [
    ("oils", "here-doc", 16, 16),
    ("oils", "redirect.test.sh", 18, 19),
    ("brush", "here", 23, 23),
    ("brush", "ifs.yaml", 20, 21),
    ("justbash", "cut", 10, 10),
    ("justbash", "pipeline-stdin", 17, 17),
    ("bashkit", "arith", 83, 85),
    ("bashkit", "pipes-redirects", 21, 22),
];

#[test]
fn samples_of_the_suites_pass() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cases = project.join("../shared/conformance");
    if !common::client_tests("conformance", "the public cases beside this repository, and python3") {
        return;
    }
    if !cases.join("run_cases.py").exists() {
        eprintln!("conformance: skipped: there is no {}", cases.display());
        return;
    }
    // Compiles the programs once.
    drop(common::wskill());
    for (suite, text, floor, all) in SAMPLES {
        let output = Command::new("bash")
            .arg(project.join("tests/conformance/run.sh"))
            .args([env!("CARGO_BIN_EXE_wskill"), suite])
            .env("CONFORMANCE", &cases)
            .env("GREP", text)
            // A machine may be busy with other tests.
            .env("TIMEOUT", "60")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        if let Some(reason) = said.lines().find(|line| line.starts_with("skipped: ")) {
            eprintln!("conformance: {reason}");
            return;
        }
        let line = said.lines().find(|line| line.contains(" passed, ")).expect(&said);
        let numbers: Vec<u32> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let (passed, ran) = (numbers[0], *numbers.last().unwrap());
        assert!(passed >= floor && ran == all, "{suite}, `{text}`: {passed} of {ran}; wanted {floor} of {all}");
        println!("{suite}, `{text}`: {passed} of {ran} pass");
    }
}

#[test]
fn bash_of_the_host_says_the_same() {
    if !common::client_tests("conformance", "GNU bash on the host") {
        return;
    }
    let version = Command::new("bash").args(["-c", "echo ${BASH_VERSINFO[0]}"]).output();
    let version = version.ok().and_then(|output| String::from_utf8_lossy(&output.stdout).trim().parse::<u32>().ok());
    if version.is_none_or(|version| version < 5) {
        eprintln!("conformance: skipped: the host has no GNU bash 5");
        return;
    }
    for line in [
        "a=(one 'two words'); printf '<%s>' \"${a[@]}\" ${a[*]} \"${#a[@]}\"",
        "f() { local x=$1; (( x > 0 )) && { echo $x; f $((x - 1)); }; }; f 3",
        "while read -r x y; do echo \"$y:$x\"; done <<< $'1 a\\n2 b'",
        "set -euo pipefail; trap 'echo left $?' EXIT; false | true; echo never",
        "exec 3>&1; { echo out; echo err >&2; } 2>&1 >&3 | tr a-z A-Z",
        "x=/a/b.tar.gz; echo ${x##*/} ${x%.*} ${x/b/c} ${x^^} ${x:3:4}",
        "for i in {1..3}; do sleep 0.0$((4 - i)) & done; wait; jobs; echo $?",
        "case abc in a*) echo a;;& *c) echo c;; *) echo no;; esac; [[ abc =~ ^(.)b ]] && echo ${BASH_REMATCH[1]}",
    ] {
        let native = Command::new("bash").args(["-c", line]).env("LC_ALL", "C.UTF-8").output().unwrap();
        let ours = common::wskill().args(["exec", "--rm", "--", "bash", "-c", line]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ours.stdout), String::from_utf8_lossy(&native.stdout), "{line}");
        assert_eq!(ours.status.code(), native.status.code(), "{line}");
    }
}
