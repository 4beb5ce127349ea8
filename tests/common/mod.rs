//! What the tests share.
#![allow(dead_code)] // each test program uses a part of it

use std::sync::Arc;

use wskill::{Limits, Outcome, Runtime, Sandbox};

/// The runtime of a test program: programs are compiled once for all its tests.
pub fn runtime() -> Arc<Runtime> {
    Runtime::shared().expect("the built-in programs")
}

/// Runs a future without any tokio timer or thread of the caller's.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a thread").block_on(future)
}

/// Runs a command in a new sandbox with these limits.
pub fn run_limited(limits: Limits, argv: &[&str]) -> Outcome {
    block_on(async {
        let sandbox = Sandbox::builder().runtime(runtime()).limits(limits).build().expect("a sandbox");
        sandbox.run(argv.iter().copied()).await.expect("a run")
    })
}

/// Runs a line of bash with default limits.
pub fn bash(line: &str) -> Outcome {
    run_limited(Limits::default(), &["bash", "-c", line])
}

/// Standard output as text.
pub fn stdout(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.stdout).into_owned()
}

/// Standard error as text.
pub fn stderr(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.stderr).into_owned()
}
