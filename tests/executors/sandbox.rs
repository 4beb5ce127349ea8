//! The sandbox's executor.

use std::sync::Arc;

use wskill::executor::SandboxExecutor;
use wskill::executor::testkit::Capability;

use crate::support::passes;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_memory_it_passes_but_for_restarts() {
    let make = || Ok(Arc::new(SandboxExecutor::builder().in_memory().build()?) as Arc<_>);
    passes(make, &[Capability::Restart]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_disk_it_passes() {
    let folder = tempfile::tempdir().unwrap();
    let make = || Ok(Arc::new(SandboxExecutor::builder().root(folder.path()).build()?) as Arc<_>);
    passes(make, &[]).await;
}
