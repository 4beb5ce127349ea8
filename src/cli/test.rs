//! `wskill test`: runs the cases that a skill brings along.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde::Deserialize;

use super::options::runtime;
use super::run::interrupted;
use super::signals::Interrupts;
use super::workspace::{Keep, Place, Workspace};
use super::{Error, chain, clean, print};
use crate::skill::Skill;
use crate::{Input, Outcome, Runtime, Sandbox};

/// The file of a skill's cases.
const CASES: &str = "tests/cases.toml";
/// How many bytes of an output are shown when it is not as expected.
const SHOWN: usize = 2000;
/// Most bytes of the file of cases, and of an expected output.
const FILE_MAX: u64 = 16 << 20;
/// Most files and folders, and bytes in them, that a case stages: what comes with a skill is small.
const INPUTS_MAX: (usize, u64) = (10_000, 256 << 20);

/// Arguments of `wskill test`.
#[derive(Debug, Args)]
pub struct TestArgs {
    /// Folders of skills
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// Only cases whose name contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    #[serde(rename = "case")]
    cases: Vec<Case>,
}

/// A command of a skill, and what it must do.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What the case shows.
    name: String,
    /// A line for bash.
    command: String,
    /// What is staged first: place in the workspace → path in the skill's folder.
    #[serde(default)]
    inputs: BTreeMap<String, String>,
    /// The exit status.
    #[serde(default)]
    status: u8,
    /// Standard output, all of it.
    stdout: Option<String>,
    /// A part of standard error.
    stderr: Option<String>,
    /// Files that must be there afterwards: path in the workspace → path in the skill's folder of one with these bytes.
    #[serde(default)]
    outputs: BTreeMap<String, String>,
}

/// Runs the cases of skills; 1 when one fails.
pub async fn test(args: TestArgs) -> Result<u8, Error> {
    let interrupts = Interrupts::listen()?;
    match interrupts.stop(test_all(args)).await {
        Ok(done) => done,
        // The case that was running is dropped, and with it its workspace.
        Err(signal) => interrupted(signal, false),
    }
}

async fn test_all(args: TestArgs) -> Result<u8, Error> {
    let runtime = runtime()?;
    let (mut passed, mut failed) = (0, 0);
    for path in &args.paths {
        let skill = Skill::open(path)?;
        let cases = read(&skill)?;
        let chosen = |case: &&Case| args.filter.as_ref().is_none_or(|text| case.name.contains(text.as_str()));
        for case in cases.iter().filter(chosen) {
            let wrong = match run(&runtime, &skill, case).await {
                Ok(wrong) => wrong,
                Err(error) => vec![chain(&*error)],
            };
            let verdict = if wrong.is_empty() { "ok" } else { "FAILED" };
            print(&format!("{}: {} ... {verdict}\n", skill.name(), clean(&case.name)))?;
            for line in wrong.iter().flat_map(|text| text.lines()) {
                print(&format!("    {}\n", clean(line)))?;
            }
            if wrong.is_empty() { passed += 1 } else { failed += 1 }
        }
    }
    print(&format!("{passed} passed, {failed} failed\n"))?;
    if passed + failed == 0 {
        return Err("no case was run; look at --filter".into());
    }
    Ok(u8::from(failed > 0))
}

fn read(skill: &Skill) -> Result<Vec<Case>, Error> {
    let bytes = read_file(skill, CASES).map_err(|error| format!("{error}; it holds the skill's cases"))?;
    let cases: Cases = toml::from_slice(&bytes).map_err(|error| format!("{CASES}: {error}"))?;
    Ok(cases.cases)
}

/// Runs a case in a workspace of its own, and answers what is not as it should be.
async fn run(runtime: &Arc<Runtime>, skill: &Skill, case: &Case) -> Result<Vec<String>, Error> {
    let workspace = Workspace::create(Place::Temporary, true)?;
    for (place, file) in &case.inputs {
        let path = inside(skill, file)?;
        check_inputs(&path)?;
        workspace.stage_input(&format!("{}={place}", path.display()))?;
    }
    let builder = workspace.mount(Sandbox::builder().runtime(Arc::clone(runtime)));
    let builder = workspace.mount_skill(builder, skill)?;
    let sandbox = builder.cwd(skill.sandbox_path()).build()?;
    let outcome = sandbox.command(["bash", "-c", &case.command]).stdin(Input::Empty).run().await?;
    sandbox.close().await;
    let mut wrong = differences(case, &outcome);
    for (output, file) in &case.outputs {
        let expected = read_file(skill, file)?;
        // One byte more shows that there is more.
        match workspace.read(Path::new(output), (expected.len().max(SHOWN) + 1) as u64) {
            Ok(bytes) if bytes == expected => {}
            Ok(bytes) => wrong.push(format!("{output} is not as {file}:\n{}", excerpt(&bytes))),
            Err(error) => wrong.push(format!("{output}: {error}")),
        }
    }
    workspace.finish(Keep::No)?;
    Ok(wrong)
}

fn differences(case: &Case, outcome: &Outcome) -> Vec<String> {
    let mut wrong = Vec::new();
    if outcome.exit_code != case.status {
        let limit = outcome.limit.map(|limit| format!(" (limit {limit})")).unwrap_or_default();
        wrong.push(format!("exit status {}{limit}, expected {}", outcome.exit_code, case.status));
    }
    if case.stdout.as_ref().is_some_and(|expected| expected.as_bytes() != outcome.stdout) {
        wrong.push(format!("standard output:\n{}", excerpt(&outcome.stdout)));
        wrong.push(format!("expected:\n{}", case.stdout.as_deref().unwrap_or_default()));
    }
    let errors = String::from_utf8_lossy(&outcome.stderr);
    if case.stderr.as_ref().is_some_and(|expected| !errors.contains(expected.as_str())) {
        wrong.push(format!("standard error lacks `{}`", case.stderr.as_deref().unwrap_or_default()));
    }
    if !wrong.is_empty() && !outcome.stderr.is_empty() {
        wrong.push(format!("standard error:\n{}", excerpt(&outcome.stderr)));
    }
    wrong.extend(outcome.hints.iter().filter(|_| outcome.exit_code != case.status).map(|hint| format!("hint: {hint}")));
    wrong
}

/// A file of the skill's; a case must not read elsewhere on the host.
fn inside(skill: &Skill, file: &str) -> Result<PathBuf, Error> {
    let plain = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
    let path = skill.folder().join(file);
    let real = path.canonicalize().map_err(|error| format!("{file}: {error}"))?;
    if !plain || !real.starts_with(skill.folder()) {
        return Err(format!("{file}: a case may use files of the skill only").into());
    }
    Ok(path)
}

/// The bytes of a regular file of the skill's.
fn read_file(skill: &Skill, file: &str) -> Result<Vec<u8>, Error> {
    let path = inside(skill, file)?;
    let metadata = fs::metadata(&path).map_err(|error| format!("{file}: {error}"))?;
    if !metadata.is_file() || metadata.len() > FILE_MAX {
        return Err(format!("{file}: is no regular file of at most {FILE_MAX} bytes").into());
    }
    let mut bytes = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(FILE_MAX).read_to_end(&mut bytes));
    read.map_err(|error| format!("{file}: {error}"))?;
    Ok(bytes)
}

/// Checks what a case stages: links could lead out of the skill.
fn check_inputs(path: &Path) -> Result<(), Error> {
    let (mut count, mut bytes) = (0, 0_u64);
    let mut paths = vec![path.to_owned()];
    while let Some(path) = paths.pop() {
        let shown = path.display();
        let metadata = path.symlink_metadata().map_err(|error| format!("{shown}: {error}"))?;
        count += 1;
        if metadata.is_dir() {
            let entries = fs::read_dir(&path).map_err(|error| format!("{shown}: {error}"))?;
            paths.extend(entries.flatten().map(|entry| entry.path()));
        } else if metadata.is_file() {
            bytes = bytes.saturating_add(metadata.len());
        } else {
            return Err(format!("{shown}: an input must be a file or folder without links in it").into());
        }
        if count > INPUTS_MAX.0 || bytes > INPUTS_MAX.1 {
            let (files, bytes) = INPUTS_MAX;
            return Err(format!("{shown}: the inputs of a case are at most {files} files and {bytes} bytes").into());
        }
    }
    Ok(())
}

fn excerpt(bytes: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]);
    if bytes.len() > SHOWN { format!("{shown}… ({} bytes)", bytes.len()) } else { shown.into_owned() }
}
