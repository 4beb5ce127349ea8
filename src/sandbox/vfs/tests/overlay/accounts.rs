//! What an upper layer on the host has charged is what lies in its folder.

use std::os::unix::fs::MetadataExt;

use super::*;

/// What a layer's folder takes: its data, its marks and their file.
fn taken(folder: &Path) -> Usage {
    let marks = std::fs::read(folder.join("marks")).unwrap();
    let mut paths: Vec<_> =
        marks.split(|&byte| byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect();
    // Those below others count no more.
    let all = paths.clone();
    let below = |path: &[u8], other: &[u8]| path.strip_prefix(other).is_some_and(|rest| rest.first() == Some(&b'/'));
    paths.retain(|path| !all.iter().any(|other| below(path, other)));
    let mut used = Usage { bytes: marks.len() as u64, inodes: 1 + paths.len() as u64 };
    let mut seen = std::collections::HashSet::new();
    let mut folders = vec![folder.join("data")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            used.inodes += 1;
            if metadata.is_dir() {
                folders.push(entry.path());
            } else if metadata.is_file() && seen.insert(metadata.ino()) {
                used.bytes += metadata.len();
            }
        }
    }
    assert_eq!(std::fs::read_dir(folder.join("work")).unwrap().count(), 0);
    used
}

fn base() -> Layer {
    lower(|tree| {
        for name in ["a", "b", "c"] {
            tree.add_file(name, vec![1; 700], 0o644).unwrap();
            tree.add_file(format!("dir/{name}"), vec![1; 300], 0o644).unwrap();
        }
    })
}

/// Opens, changes and removes files of a few names, some of them of the lower layer.
fn churn(tree: &dyn FileSystem, seed: u64, rounds: u64, links: bool) {
    let mut random = Random(seed);
    let mut open: Vec<Arc<dyn File>> = Vec::new();
    const NAMES: [&str; 8] = ["a", "b", "c", "d", "dir/a", "dir/b", "dir/c", "dir"];
    for _ in 0..rounds {
        let (one, other) = (random.one_of(&NAMES).as_bytes(), random.one_of(&NAMES).as_bytes());
        let access = Access { read: true, write: random.below(3) > 0, truncate: false };
        match random.below(10) {
            0..3 => {
                if let Ok(Node::File(file)) = tree.open(one, access) {
                    open.push(file);
                }
            }
            3 => open.extend(tree.create(one, 0o644, access)),
            4 => _ = tree.unlink(one),
            5 => _ = tree.rename(one, other),
            6 if links => _ = tree.link(one, other),
            7 => _ = tree.remove_dir(one).and_then(|()| tree.make_dir(one, 0o755)),
            8 if !open.is_empty() => drop(open.swap_remove(random.below(open.len() as u64) as usize)),
            _ => {
                if let Some(file) = open.last() {
                    let data = vec![1; random.below(2000) as usize];
                    let _ = if random.below(2) == 0 { file.append(&data).map(drop) } else { file.set_len(500) };
                    file.read_at(&mut [0; 10], 0).unwrap();
                }
            }
        }
        if open.len() > 5 {
            open.remove(0);
        }
    }
}

#[test]
fn accounts_are_exact_for_one() {
    for seed in 0..rounds() * 20 {
        let folder = tempfile::tempdir().unwrap();
        let quota = Arc::new(Quota::new(10_000, 40, 5000, Arc::default()));
        let tree = OverlayFs::new(upper(folder.path(), true, &quota), vec![base()]).unwrap();
        churn(&tree, seed, 300, true);
        assert_eq!(quota.used(), taken(folder.path()), "seed {seed}");
        drop(tree);
        // A layer in memory gives everything back (but further names of files, which a tree in memory does not).
        let memory = Arc::new(crate::sandbox::limits::Account::new(1 << 30));
        let quota = Arc::new(Quota::unlimited().in_memory(memory.clone()));
        let tree = OverlayFs::new(upper(folder.path(), false, &quota), vec![base()]).unwrap();
        churn(&tree, seed, 300, false);
        drop(tree);
        assert_eq!((quota.used(), memory.used()), (Usage::default(), 0), "seed {seed}");
    }
}

#[test]
fn accounts_are_exact_and_nothing_stops_under_contention() {
    let folder = tempfile::tempdir().unwrap();
    let quota = Arc::new(Quota::new(20_000, 60, 8000, Arc::default()));
    let tree = OverlayFs::new(upper(folder.path(), true, &quota), vec![base()]).unwrap();
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let tree = &tree;
            scope.spawn(move || churn(tree, seed, 3000, true));
        }
    });
    super::property::dump(&tree);
    assert_eq!(quota.used(), taken(folder.path()));
}
