//! Commands without a sandbox.
#![cfg(unix)]

use std::sync::Arc;

use wskill::executor::LocalExecutor;
use wskill::executor::testkit::Capability;

use crate::support::{is_superuser, passes};

/// What it lacks.
const WITHOUT: [Capability; 5] =
    [Capability::Terminal, Capability::Policy, Capability::HostTools, Capability::Links, Capability::Forks];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_passes() {
    let folder = tempfile::tempdir().unwrap();
    let make = || {
        let builder = LocalExecutor::without_any_isolation().root(folder.path()).on_warning(|_| {});
        Ok(Arc::new(builder.build()) as Arc<_>)
    };
    let mut without = WITHOUT.to_vec();
    without.extend(is_superuser().then_some(Capability::ReadOnlySkills));
    passes(make, &without).await;
}
