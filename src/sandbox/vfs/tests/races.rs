//! Calls while another thread changes the tree.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::sandbox::vfs::host::Method;

/// Runs `check` again and again while another thread runs `disturb`.
fn while_disturbed(disturb: impl FnOnce() + Send, mut check: impl FnMut()) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            disturb();
            done.store(true, Ordering::Relaxed);
        });
        while !done.load(Ordering::Relaxed) {
            check();
        }
    });
}

#[test]
fn a_directory_that_becomes_a_link_never_leads_out() {
    let methods = [
        #[cfg(target_os = "linux")]
        (Method::OneCall, 100_000),
        #[cfg(target_os = "linux")]
        (Method::Parts, 20_000),
        (Method::Portable, 20_000),
    ];
    for (method, swaps) in methods {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, content) in [("inner/dir/file", "inside"), ("outer/file", "outside")] {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), content).unwrap();
        }
        std::os::unix::fs::symlink(at("outer"), at("inner/link")).unwrap();
        let mut source = HostFolder::new(&at("inner"), Arc::new(Quota::unlimited()), None).unwrap();
        source.set_method(method);
        let vfs = vfs([mount("/", Arc::new(source))]);
        let root = GuestPath::root();
        let mut reads = 0;
        // The whole number takes 2 s on an idle machine.
        let until = Instant::now() + Duration::from_secs(4);
        let disturb = || {
            let flags = rustix::fs::RenameFlags::EXCHANGE;
            for _ in 0..swaps {
                let (one, other) = (at("inner/dir"), at("inner/link"));
                rustix::fs::renameat_with(rustix::fs::CWD, one, rustix::fs::CWD, other, flags).unwrap();
                if Instant::now() > until {
                    break;
                }
            }
        };
        while_disturbed(disturb, || {
            match vfs.get("/dir/file") {
                Ok(content) => {
                    assert_eq!(content, b"inside", "{method:?}");
                    reads += 1;
                }
                Err(error) => assert_eq!(error, Errno::NoEntry, "{method:?}"),
            }
            let _ = vfs.put("/dir/new", b"from inside");
            let _ = vfs.set_mode(&root, b"/dir/file", true, 0o600);
            let _ = vfs.unlink(&root, b"/dir/new");
            let _ = vfs.make_dir(&root, b"/dir/d", 0o755);
            let _ = vfs.rename(&root, b"/dir/d", &root, b"/dir/e");
            let _ = vfs.remove_dir(&root, b"/dir/e");
            if let Ok(entries) = vfs.read_dir(&path("/dir")) {
                assert!(entries.iter().all(|entry| entry.name != b"only-outside"));
            }
            assert!(!at("outer/new").exists() && !at("outer/d").exists() && !at("outer/e").exists());
        });
        assert!(reads > 0, "{method:?}: nothing was read");
        assert_eq!(std::fs::read(at("outer/file")).unwrap(), b"outside");
        use std::os::unix::fs::PermissionsExt;
        assert_ne!(std::fs::metadata(at("outer/file")).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

/// Threads that make, grow, cut, link, rename and remove files of the same few names, all in one account.
fn churn(vfs: &Vfs, quota: &Quota, seed: u64, rounds: u64, limit: u64) {
    let mut random = Random(seed);
    let root = GuestPath::root();
    let mut open: Vec<Arc<dyn File>> = Vec::new();
    for _ in 0..rounds {
        let name = random.one_of(&["a", "b", "c", "d"]);
        let other = random.one_of(&["a", "b", "c", "d"]);
        match random.below(8) {
            0 | 1 => {
                let options = OpenOptions {
                    read: true,
                    write: true,
                    create: true,
                    truncate: random.below(2) == 0,
                    mode: 0o644,
                    ..OpenOptions::default()
                };
                if let Ok(Opened { node: Node::File(file), .. }) = vfs.open(&root, name.as_bytes(), &options) {
                    open.push(file);
                }
            }
            2 => drop(vfs.unlink(&root, name.as_bytes())),
            3 => drop(vfs.rename(&root, name.as_bytes(), &root, other.as_bytes())),
            4 => drop(vfs.link(&root, name.as_bytes(), true, &root, other.as_bytes())),
            5 if !open.is_empty() => drop(open.swap_remove(random.below(open.len() as u64) as usize)),
            _ => {
                if let Some(file) = open.last() {
                    let length = random.below(3000);
                    let _ = match random.below(3) {
                        0 => file.set_len(length),
                        1 => file.append(&vec![1; length as usize]).map(drop),
                        _ => file.write_at(&vec![1; length as usize], random.below(3000)).map(drop),
                    };
                }
            }
        }
        if open.len() > 6 {
            open.remove(0);
        }
        assert!(quota.used().bytes <= limit);
    }
}

#[test]
fn accounts_stay_exact_under_contention() {
    let folder = tempfile::tempdir().unwrap();
    let limit = 20_000;
    for on_host in [false, true] {
        let counters = Arc::<LimitCounters>::default();
        let quota = Arc::new(Quota::new(limit, 20, 8000, counters.clone()));
        let source: Arc<dyn FileSystem> = if on_host {
            Arc::new(HostFolder::new(folder.path(), quota.clone(), None).unwrap())
        } else {
            Arc::new(MemoryTree::new(quota.clone(), clock()))
        };
        let vfs = vfs([mount("/", source)]);
        std::thread::scope(|scope| {
            for seed in 0..4 {
                let (vfs, quota) = (&vfs, &quota);
                scope.spawn(move || churn(vfs, quota, seed, 4000, limit));
            }
        });
        assert!(quota.peak().bytes <= limit && counters.count(LimitName::Disk) > 0);
        let mut expected = Usage::default();
        let mut seen = std::collections::HashSet::new();
        for entry in vfs.read_dir(&GuestPath::root()).unwrap() {
            let metadata = vfs.metadata(&GuestPath::root(), &entry.name, false).unwrap();
            expected.inodes += 1;
            if seen.insert(metadata.inode) {
                expected.bytes += metadata.size;
            }
        }
        assert_eq!(quota.used(), expected, "host: {on_host}");
    }
}
