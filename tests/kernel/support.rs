//! Runtimes, sandboxes and guests for the tests.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use sha2::{Digest, Sha256};
use wskill::{Limits, Outcome, Runtime, RuntimeBuilder, Sandbox, SandboxBuilder};

/// The command that the programs are installed as.
pub const COMMAND: &str = "guest-tests";

/// A committed module, unpacked and compared with its recorded digest.
fn unpack(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("wasm-tools/dist/tests");
    let packed = fs::read(folder.join(format!("{name}.zst"))).unwrap();
    let mut bytes = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(packed.as_slice()).unwrap().read_to_end(&mut bytes).unwrap();
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let recorded = fs::read_to_string(folder.join("sha256")).unwrap();
    let recorded = recorded.lines().find(|line| line.ends_with(name)).unwrap();
    assert_eq!(recorded.split_whitespace().next(), Some(digest.as_str()), "{name} is not what was recorded");
    bytes
}

/// The programs of `wasm-tools/tests`.
pub static GUEST_TESTS: LazyLock<Vec<u8>> = LazyLock::new(|| unpack("guest-tests.wasm"));
/// The program that knows only WASI.
pub static FOREIGN_TESTS: LazyLock<Vec<u8>> = LazyLock::new(|| unpack("foreign-tests.wasm"));

/// A folder with the programs installed; it stays between runs of the tests, so that compiled code is found again.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernel-tests");
    let programs = folder.join("programs");
    fs::create_dir_all(&programs).unwrap();
    let module = programs.join("guest-tests.wasm");
    if fs::read(&module).ok().as_ref() != Some(&*GUEST_TESTS) {
        fs::write(&module, &*GUEST_TESTS).unwrap();
    }
    let description = format!(
        r#"{{"name": "{COMMAND}", "file": "guest-tests.wasm", "version": "1", "commands": ["{COMMAND}", "sh"]}}"#
    );
    fs::write(programs.join("guest-tests.json"), description).unwrap();
    folder
});

/// A runtime with the tests' programs in place of the built-in ones.
pub fn runtime_builder() -> RuntimeBuilder {
    Runtime::builder().threads(2).programs_dir(FOLDER.join("programs")).cache_dir(FOLDER.join("cache"))
}

/// The runtime of all tests that need none of their own.
pub static RUNTIME: LazyLock<Arc<Runtime>> = LazyLock::new(|| runtime_builder().build().unwrap());
/// The same with instances from a pool, which are used again and again.
pub static POOLED: LazyLock<Arc<Runtime>> = LazyLock::new(|| runtime_builder().pooled(8, 16 << 20).build().unwrap());

/// Limits that are met quickly and leave room for 128 processes.
pub fn limits() -> Limits {
    Limits {
        wall_time: Some(Duration::from_secs(60)),
        memory: 512 << 20,
        process_memory: 64 << 20,
        ..Limits::default()
    }
}

/// A sandbox over the shared runtime.
pub fn builder() -> SandboxBuilder {
    Sandbox::builder().runtime(Arc::clone(&RUNTIME)).limits(limits()).cwd("/tmp")
}

/// A sandbox over the shared runtime.
pub fn sandbox() -> Sandbox {
    builder().build().unwrap()
}

/// Drives a future on a thread of the test's own.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// The words of a command that plays a role.
pub fn role(words: &[&str]) -> Vec<String> {
    [COMMAND, "--role"].iter().chain(words).map(|word| (*word).to_owned()).collect()
}

/// Runs a role to its end.
pub async fn play(sandbox: &Sandbox, words: &[&str]) -> Outcome {
    sandbox.run(role(words)).await.unwrap()
}

/// Standard output as text.
pub fn stdout(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.stdout).into_owned()
}

/// Standard error as text.
pub fn stderr(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.stderr).into_owned()
}

/// Fails with what the guest said unless it exited with 0.
#[track_caller]
pub fn assert_success(outcome: &Outcome) {
    assert_eq!(outcome.exit_code, 0, "{}{}{:?}", stdout(outcome), stderr(outcome), outcome.limit);
}

/// The module of a text in `tests/guests`.
pub fn guest(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests").join(name);
    wat::parse_file(path).unwrap()
}

/// Runs a module in a fresh sandbox.
pub fn run_module(module: Vec<u8>, argv: &[&str]) -> Outcome {
    block_on(async { sandbox().command(argv.iter().copied()).module(module).run().await.unwrap() })
}
