//! Asks the sandbox's shell and Python what scripts name.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::facts::{Fact, Facts, Program};
use super::scripts::{Language, Script};
use super::{InspectError, programs, text};
use crate::skill::Skill;
use crate::{Input, Mount, Runtime, Sandbox};

/// Most programs in strings (`bash -c`, here-documents for Python) that are read too.
const STRINGS_MAX: usize = 200;
/// Largest shell script that is read, in bytes; the tree of a larger one needs hundreds of megabytes.
const SCRIPT_MAX: u64 = 1 << 20;
/// Most characters of a program that are shown.
const SHOWN: usize = 100;
/// Lists the shell's own commands.
const BUILTINS: &str = "compgen -b";

/// What `outline.py` is asked.
#[derive(Default, Serialize)]
struct Question {
    shell: BTreeMap<String, String>,
    python: BTreeMap<String, String>,
    wasm: BTreeMap<String, String>,
    requirements: BTreeMap<String, String>,
    sources: BTreeMap<String, String>,
    paths: BTreeSet<String>,
}

/// The last line of its answer.
#[derive(Default, Deserialize)]
struct Has {
    modules: BTreeMap<String, bool>,
    paths: BTreeMap<String, bool>,
}

/// Reads all scripts.
pub async fn read(skill: &Skill, scripts: &[Script], runtime: &Arc<Runtime>) -> Result<Facts, InspectError> {
    let place = skill.sandbox_path();
    let sandbox = Sandbox::builder()
        .runtime(Arc::clone(runtime))
        .mount(Mount::new(skill.folder(), &place))
        .cwd("/tmp")
        .build()?;
    let mut known = Facts::default();
    known.commands.extend(runtime.programs().commands().into_iter().map(|command| command.name));
    known.commands.extend(ask(&sandbox, &["bash", "-c", BUILTINS], "").await?.lines().map(str::to_owned));
    let of = |language: &'static Language| scripts.iter().filter(move |script| script.language == *language);
    let path = |script: &Script| format!("{place}/{}", script.path);

    let mut facts = Vec::new();
    for script in of(&Language::Shell) {
        if std::fs::metadata(skill.folder().join(&script.path)).is_ok_and(|metadata| metadata.len() > SCRIPT_MAX) {
            let error = Some(format!("larger than {SCRIPT_MAX} bytes"));
            facts.push(Fact { file: script.path.clone(), line: 1, error, ..Fact::default() });
            continue;
        }
        facts.extend(outline(&sandbox, &path(script), &script.path, 0, "").await?);
    }
    let mut question = Question::default();
    let kinds = [
        (&Language::Shell, &mut question.shell),
        (&Language::Python, &mut question.python),
        (&Language::Wasm, &mut question.wasm),
        (&Language::Requirements, &mut question.requirements),
    ];
    for (language, files) in kinds {
        let read = |script: &&Script| !facts.iter().any(|fact: &Fact| fact.error.is_some() && fact.file == script.path);
        files.extend(of(language).filter(read).map(|script| (script.path.clone(), path(script))));
    }
    let nested = programs::find(&facts);
    question.sources.extend(nested.python.into_iter().map(|program| (program.key(), program.text)));
    let (found, has) = ask_python(&sandbox, &question).await?;
    let mut waiting = VecDeque::from(nested.shell);
    let nested = programs::find(&found);
    waiting.extend(nested.shell);
    facts.extend(found);
    // Python within Python's strings, or deeper, is not read.
    facts.extend(nested.python.into_iter().map(unread));
    for _ in 0..STRINGS_MAX {
        let Some(program) = waiting.pop_front() else { break };
        let more = outline(&sandbox, "/dev/stdin", &program.file, program.offset, &program.text).await?;
        let nested = programs::find(&more);
        waiting.extend(nested.shell);
        facts.extend(nested.python.into_iter().map(unread));
        facts.extend(more);
    }
    facts.extend(waiting.into_iter().map(unread));
    let rest = Question { paths: facts.iter().flat_map(text::paths).collect(), ..Question::default() };
    let (_, more) = ask_python(&sandbox, &rest).await?;
    sandbox.close().await;
    known.modules = has.modules;
    known.paths = more.paths;
    known.facts = facts;
    Ok(known)
}

/// Says that a program in a string was not read.
fn unread(program: Program) -> Fact {
    let unknown = Some(format!("runs {}", program.text.chars().take(SHOWN).collect::<String>()));
    Fact { file: program.file, line: program.offset.saturating_add(1), unknown, ..Fact::default() }
}

/// Sets file and line of a fact about a program in a string.
fn place(mut fact: Fact) -> Fact {
    if let Some((file, offset)) = fact.file.split_once('\0') {
        fact.line = fact.line.saturating_add(offset.parse().unwrap_or(0));
        fact.file = file.to_owned();
    }
    fact
}

async fn outline(
    sandbox: &Sandbox,
    path: &str,
    shown: &str,
    offset: u32,
    input: &str,
) -> Result<Vec<Fact>, InspectError> {
    let answer = ask(sandbox, &["bash", "--wskill-outline", path], input).await;
    let mut facts = match answer.and_then(|answer| parse(&answer)) {
        Ok(facts) => facts,
        // One script costs only its own part of the report.
        Err(InspectError::Reader(error)) => vec![Fact { line: 1, error: Some(error), ..Fact::default() }],
        Err(error) => return Err(error),
    };
    for fact in &mut facts {
        shown.clone_into(&mut fact.file);
        fact.line = fact.line.saturating_add(offset);
    }
    Ok(facts)
}

async fn ask_python(sandbox: &Sandbox, question: &Question) -> Result<(Vec<Fact>, Has), InspectError> {
    let question = serde_json::to_string(question).map_err(|error| InspectError::Reader(error.to_string()))?;
    let answer = ask(sandbox, &["python3", "-c", include_str!("outline.py")], &question).await?;
    let (facts, last) = answer.trim_end().rsplit_once('\n').unwrap_or(("", answer.trim_end()));
    let has = serde_json::from_str(last).map_err(|error| InspectError::Reader(error.to_string()))?;
    Ok((parse(facts)?.into_iter().map(place).collect(), has))
}

fn parse(lines: &str) -> Result<Vec<Fact>, InspectError> {
    let facts = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>();
    facts.map_err(|error| InspectError::Reader(error.to_string()))
}

/// What a command of the sandbox's own answers.
async fn ask(sandbox: &Sandbox, words: &[&str], input: &str) -> Result<String, InspectError> {
    let command = sandbox.command(words.iter().copied()).stdin(Input::Bytes(input.as_bytes().to_vec()));
    let outcome = command.run().await.map_err(|error| InspectError::Reader(error.to_string()))?;
    let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
    if outcome.success() {
        return Ok(text);
    }
    let said = String::from_utf8_lossy(&outcome.stderr).trim().to_owned();
    Err(InspectError::Reader(match outcome.limit {
        Some(limit) => format!("{}: stopped by the limit `{limit}`", words[0]),
        None => format!("{}: {said}", words[0]),
    }))
}
