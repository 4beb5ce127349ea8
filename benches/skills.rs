//! How long it takes to look through 10,000 skills, and what they cost in memory. `cargo bench --bench skills`.
#![allow(missing_docs, clippy::unwrap_used)] // criterion's macros make undocumented items; a benchmark may fail loudly

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use criterion::{Criterion, criterion_group, criterion_main};
use wskill::repository::Repository;

const COUNT: usize = 10_000;

/// Skills like the public ones: a description of 300 characters, a body of 4 KB.
fn make(root: &Path) {
    let old = SystemTime::now() - Duration::from_secs(1000);
    let body = "Do one thing after the other, and tell the user what came out of it.\n".repeat(60);
    for number in 0..COUNT {
        let folder = root.join(format!("skill-{number}"));
        fs::create_dir(&folder).unwrap();
        let description = format!("Does the {number}th of many things. ").repeat(10);
        let text = format!(
            "---\nname: skill-{number}\ndescription: {description}\nlicense: MIT\nmetadata:\n  version: \"1.{number}\"\n---\n{body}"
        );
        let path = folder.join("SKILL.md");
        fs::write(&path, text).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    }
    fs::File::open(root).unwrap().set_modified(old).unwrap();
}

/// Resident memory of this process in bytes.
fn resident() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse().ok()).map_or(0, |pages: u64| pages * 4096)
}

fn skills(criterion: &mut Criterion) {
    let root = tempfile::tempdir().unwrap();
    make(root.path());
    let repository = || Repository::builder().root(root.path()).build();

    let before = resident();
    let kept = repository();
    assert_eq!(kept.catalogue().entries().len(), COUNT);
    println!("memory: {} bytes a skill", (resident() - before) / COUNT as u64);

    let mut group = criterion.benchmark_group("10,000 skills");
    group.sample_size(15);
    group.bench_function("cold", |bencher| {
        bencher.iter(|| assert_eq!(repository().catalogue().entries().len(), COUNT));
    });
    group.bench_function("unchanged", |bencher| {
        bencher.iter(|| assert_eq!(kept.catalogue().entries().len(), COUNT));
    });
    group.finish();
}

criterion_group!(benches, skills);
criterion_main!(benches);
