//! What a call through the tools costs, and a fork of a workspace. `cargo bench --bench tools`.
#![allow(missing_docs, clippy::unwrap_used)] // criterion's macros make undocumented items; a benchmark may fail loudly

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::json;
use wskill::executor::SandboxExecutor;
use wskill::prompt::PromptOptions;
use wskill::repository::{Caller, Repository, search};
use wskill::session::{SessionKey, Sessions};
use wskill::tools::{ToolOptions, Toolset};

/// Skills with descriptions of 300 characters.
fn repository(root: &std::path::Path, count: usize) -> Repository {
    for number in 0..count {
        let folder = root.join(format!("skill-{number}"));
        fs::create_dir_all(&folder).unwrap();
        let description = format!("Does the {number}th of many things. ").repeat(10);
        fs::write(
            folder.join("SKILL.md"),
            format!("---\nname: skill-{number}\ndescription: {description}\n---\nBody.\n"),
        )
        .unwrap();
    }
    Repository::builder().root(root).build()
}

fn calls(criterion: &mut Criterion) {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let place = tempfile::tempdir().unwrap();
    let executor = SandboxExecutor::builder().root(place.path().join("workspaces")).build().unwrap();
    let sessions = Sessions::builder(Repository::builder().root("skills").build()).executor(executor).build().unwrap();
    let session = tokio.block_on(sessions.open(&SessionKey::new("", "", "bench").unwrap())).unwrap();
    let toolset = Toolset::new(session, ToolOptions::default());
    let mut group = criterion.benchmark_group("tools");
    let bash = json!({"skill": "python-math", "command": "echo hi"});
    group.bench_function("skill_run echo hi", |bencher| {
        bencher.to_async(&tokio).iter(|| async {
            assert_eq!(toolset.call("skill_run", bash.clone()).await.unwrap()["stdout"], "hi\n");
        });
    });
    let writing = "python3 -c 'open(\"out/fib.txt\", \"w\").write(\"0 1 1 2 3 5 8 13 21 34\\n\")'";
    // The second one imports argparse and parses its arguments.
    for (name, command) in [("a file", writing), ("fib.py", "python3 scripts/fib.py 10 > out/fib.txt")] {
        let call = json!({"skill": "python-math", "command": command, "output_files": ["out/fib.txt"]});
        group.bench_function(format!("skill_run python, {name} collected"), |bencher| {
            bencher.to_async(&tokio).iter(|| async {
                let result = toolset.call("skill_run", call.clone()).await.unwrap();
                assert_eq!(result["output_files"][0]["size_bytes"], 23);
            });
        });
    }
    group.finish();
}

/// What a model is told of many skills, and how one is found.
fn lookups(criterion: &mut Criterion) {
    let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut group = criterion.benchmark_group("lookups");
    let skills = tempfile::tempdir().unwrap();
    let many = Sessions::builder(repository(skills.path(), 1000))
        .executor(SandboxExecutor::builder().in_memory().build().unwrap())
        .build()
        .unwrap();
    let session = tokio.block_on(many.open(&SessionKey::new("", "", "many").unwrap())).unwrap();
    group.bench_function("overview of 1,000 skills", |bencher| {
        bencher.iter(|| assert!(session.system_prompt(&PromptOptions::default()).to_text().len() > 200_000));
    });
    let skills = tempfile::tempdir().unwrap();
    let repository = repository(skills.path(), 10_000);
    let view = repository.view(Caller::default());
    group.bench_function("search among 10,000 skills", |bencher| {
        bencher.iter(|| assert_eq!(search(&view, "the 77th of many things", 10).len(), 10));
    });
    group.finish();
}

/// A workspace of 1 GB in 1,000 files.
fn forks(criterion: &mut Criterion) {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let place = tempfile::tempdir().unwrap();
    let executor = SandboxExecutor::builder().root(place.path().join("workspaces")).build().unwrap();
    let sessions = Sessions::builder(Repository::builder().build()).executor(executor).build().unwrap();
    let session = tokio.block_on(sessions.open(&SessionKey::new("", "", "large").unwrap())).unwrap();
    let workspace = tokio.block_on(session.workspace()).unwrap();
    let folder = place.path().join("workspaces").join(workspace.name()).join("work");
    for number in 0..1000 {
        fs::write(folder.join(format!("file-{number}")), vec![7_u8; 1_000_000]).unwrap();
    }
    let number = AtomicU32::new(0);
    let mut group = criterion.benchmark_group("workspace");
    group.sample_size(20).measurement_time(Duration::from_secs(2));
    group.bench_function("fork of 1 GB", |bencher| {
        bencher.iter(|| {
            let name = format!("fork-{}", number.fetch_add(1, Ordering::Relaxed));
            tokio.block_on(sessions.fork(&session, &SessionKey::new("", "", name).unwrap())).unwrap();
        });
    });
    group.finish();
}

criterion_group!(benches, calls, lookups, forks);
criterion_main!(benches);
