//! What the tests share.
#![allow(dead_code, clippy::expect_used, reason = "each test program uses a part of it, and fails by panicking")]

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

/// The command line, from the project's folder and without what a developer's environment would change. The built-in
/// programs are compiled: otherwise the tests, which run at the same time, would each do it.
#[cfg(feature = "cli")]
pub fn wskill() -> std::process::Command {
    use std::process::{Command, Stdio};
    static COMPILED: std::sync::Once = std::sync::Once::new();
    COMPILED.call_once(|| {
        let setup = Command::new(env!("CARGO_BIN_EXE_wskill")).arg("setup").output().expect("wskill");
        assert!(setup.status.success(), "wskill setup: {}", String::from_utf8_lossy(&setup.stderr));
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_wskill"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    command.env_remove("SKILLS_ROOT").env_remove("COLUMNS");
    command
}

/// Whether a test may use what a stranger's machine may lack: it runs with `WSKILL_CLIENT_TESTS=1`. Elsewhere it says in
/// one line that it is skipped, and for want of what.
pub fn client_tests(test: &str, needs: &str) -> bool {
    let asked = std::env::var_os("WSKILL_CLIENT_TESTS").is_some_and(|value| value == "1");
    if !asked {
        // Not `eprintln!`, which the test harness hides.
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "{test}: skipped: needs {needs}; set WSKILL_CLIENT_TESTS=1");
    }
    asked
}
