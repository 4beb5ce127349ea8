//! How long a command takes from `Sandbox::builder()` to its outcome: a new kernel, new mounts and a new instance each
//! time, programs compiled, output checked. `cargo bench --bench start`.
#![allow(missing_docs, clippy::unwrap_used)] // criterion's macros make undocumented items; a benchmark may fail loudly

use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use wskill::{Runtime, Sandbox};

/// The command, what it prints, and its name in the table.
const COMMANDS: &[(&str, &[&str], &str)] = &[
    ("bash -c 'echo hi'", &["bash", "-c", "echo hi"], "hi\n"),
    ("python3 -c pass", &["python3", "-c", "pass"], ""),
    ("1 stage", &["bash", "-c", "cat /etc/hostname"], "sandbox\n"),
    ("2 stages", &["bash", "-c", "cat /etc/hostname | cat"], "sandbox\n"),
    ("5 stages", &["bash", "-c", "cat /etc/hostname | cat | cat | cat | cat"], "sandbox\n"),
    ("python3: import subprocess", &["python3", "-c", "import subprocess"], ""),
    ("python3: subprocess.run(['true'])", &["python3", "-c", "import subprocess; subprocess.run(['true'])"], ""),
];

/// Runs a command in a new sandbox; answers the time to the outcome and, apart, that of taking down.
async fn once(runtime: &Arc<Runtime>, argv: &[&str], output: &str) -> (Duration, Duration) {
    let began = Instant::now();
    let sandbox = Sandbox::builder().runtime(Arc::clone(runtime)).build().unwrap();
    let outcome = sandbox.run(argv.iter().copied()).await.unwrap();
    let ran = began.elapsed();
    assert_eq!((outcome.exit_code, outcome.stdout.as_slice()), (0, output.as_bytes()), "{argv:?}");
    sandbox.close().await;
    (ran, began.elapsed() - ran)
}

fn measure(criterion: &mut Criterion, setting: &str, runtime: &Arc<Runtime>) {
    let caller = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut group = criterion.benchmark_group(setting);
    for (name, argv, output) in COMMANDS {
        let mut down = (Duration::ZERO, 0);
        group.bench_function(*name, |bencher| {
            bencher.iter_custom(|rounds| {
                caller.block_on(async {
                    let mut total = Duration::ZERO;
                    for _ in 0..rounds {
                        let (ran, ended) = once(runtime, argv, output).await;
                        total += ran;
                        down = (down.0 + ended, down.1 + 1);
                    }
                    total
                })
            });
        });
        println!("{setting}, {name}: taken down in {:?} on average", down.0 / down.1.max(1));
    }
}

fn benches(criterion: &mut Criterion) {
    measure(criterion, "default", &Runtime::builder().build().unwrap());
    measure(criterion, "low latency", &Runtime::builder().pooled(16, 64 << 20).build().unwrap());
}

criterion_group! {
    name = start;
    config = Criterion::default().sample_size(30).measurement_time(Duration::from_secs(3));
    targets = benches
}
criterion_main!(start);
