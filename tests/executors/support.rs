//! The kit over an executor.

use std::sync::Arc;

use wskill::executor::testkit::{Capability, check};
use wskill::executor::{Executor, ExecutorError};

/// Checks an executor, and that it skips just what it lacks.
pub async fn passes(make: impl Fn() -> Result<Arc<dyn Executor>, ExecutorError>, without: &[Capability]) {
    let report = check(make, without).await;
    assert!(report.passed(), "{report}");
    let mut skipped: Vec<_> = report.skipped().map(|(_, lacking)| lacking).collect();
    skipped.sort();
    let mut expected = without.to_vec();
    expected.sort();
    assert_eq!(skipped, expected, "{report}");
}

/// Whether this process is the superuser, whom missing write bits do not bind.
pub fn is_superuser() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| status.contains("\nUid:\t0\t"))
}
