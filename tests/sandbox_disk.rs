//! One account of disk space for several sandboxes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use wskill::{DiskAccount, LimitName, Limits, Mount, Outcome, Sandbox};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

fn sandbox(folder: &Path, account: &DiskAccount, limits: Limits) -> Sandbox {
    let mount = Mount::new(folder, "/workspace/shared").writable();
    Sandbox::builder().mount(mount).cwd("/workspace/shared").limits(limits).disk(account).build().unwrap()
}

async fn bash(sandbox: &Sandbox, line: &str) -> Outcome {
    sandbox.run(["bash", "-c", line]).await.unwrap()
}

/// The limits that have refused something in the sandbox up to this outcome.
fn refused(outcome: &Outcome) -> Vec<LimitName> {
    outcome.limits_hit.iter().map(|&(name, _)| name).collect()
}

#[test]
fn what_one_writes_counts_for_all() {
    let folder = tempfile::tempdir().unwrap();
    let account = DiskAccount::new(100_000, 6);
    block_on(async {
        let limits = Limits { file_size: 80_000, ..Limits::default() };
        let one = sandbox(folder.path(), &account, limits);
        let two = sandbox(folder.path(), &account, Limits::default());
        assert_eq!(bash(&one, "head -c 70000 /dev/zero > a").await.exit_code, 0);
        assert_eq!((account.used(), account.inodes_used()), (70_000, 1));
        let outcome =
            bash(&two, "head -c 70000 /dev/zero > b; stat -c %s b; df --output=avail -B1 . | tail -n 1").await;
        assert_eq!(String::from_utf8_lossy(&outcome.stdout), "30000\n        0\n");
        // Each counts what it was refused itself, and has its own limit on the size of a file.
        assert_eq!(refused(&outcome), [LimitName::Disk]);
        assert_eq!(refused(&bash(&one, ":").await), []);
        // What the other one made can be removed, and gives the space back.
        assert_eq!(bash(&two, "rm a").await.exit_code, 0);
        assert_eq!((account.used(), one.disk_used(), two.disk_used()), (30_000, 30_000, 30_000));
        assert_eq!(refused(&bash(&one, "rm b; head -c 90000 /dev/zero > c").await), [LimitName::FileSize]);
        let outcome = bash(&two, "rm c; head -c 90000 /dev/zero > c; touch 1 2 3 4 5").await;
        assert_eq!(refused(&outcome), [LimitName::Disk]);
        assert_eq!(refused(&bash(&one, "touch 6").await), [LimitName::Inodes, LimitName::FileSize]);
        // The files stay with the folder, and so does what they take.
        drop(one);
        two.close().await;
    });
    assert_eq!((account.used(), account.inodes_used()), (90_000, 6));
}

#[test]
fn what_lies_in_memory_stays_with_its_sandbox() {
    let folder = tempfile::tempdir().unwrap();
    let account = DiskAccount::new(10_000, 10);
    block_on(async {
        let limits = Limits { disk: 50_000, ..Limits::default() };
        let (one, two) =
            (sandbox(folder.path(), &account, limits.clone()), sandbox(folder.path(), &account, limits.clone()));
        for sandbox in [&one, &two] {
            assert_eq!(refused(&bash(sandbox, "head -c 40000 /dev/zero > /tmp/x").await), []);
        }
        assert_eq!(account.used(), 0);
        let outcome = bash(&one, "head -c 40000 /dev/zero > /tmp/y; stat -c %s /tmp/y").await;
        assert_eq!((outcome.stdout.as_slice(), refused(&outcome)), (&b"10000\n"[..], vec![LimitName::Disk]));
    });
}
