//! The host's own use of the files, among hostile ones.

use std::ops::ControlFlow;

use super::*;

/// An empty tree in memory, one on the host, and both as layers over a tree of which everything was removed.
fn with_trees(test: impl Fn(Tree)) {
    test(Tree::of(memory()).unwrap());
    #[cfg(unix)]
    {
        let folder = tempfile::tempdir().unwrap();
        let quota = Arc::new(Quota::unlimited());
        let host = folder.path().join("host");
        std::fs::create_dir(&host).unwrap();
        test(Tree::of(Arc::new(HostFolder::new(&host, quota.clone(), None).unwrap())).unwrap());
        for on_host in [false, true] {
            let lower = overlay::lower(|tree| {
                for at in ["a/b/file/x", "d/e/f", "kept/file/y", "gone", "x/d/d/d", "c/d/e/f", "b/2", "file", "link"] {
                    tree.add_file(at, "lower", 0o644).unwrap();
                }
            });
            let upper = overlay::upper(&folder.path().join(on_host.to_string()), on_host, &quota);
            let layers = OverlayFs::new(upper, vec![lower]).unwrap();
            assert_eq!(remove_tree(&layers, b"", 100), Ok(23));
            test(Tree::of(Arc::new(layers)).unwrap());
        }
    }
}

const ALL: WalkLimits = WalkLimits { depth: usize::MAX, entries: u64::MAX };

fn walk(tree: &Tree, at: &str, limits: WalkLimits) -> (Vec<String>, Walk) {
    let mut met = Vec::new();
    let walk = tree.walk(at.as_bytes(), limits, |visit| {
        let name = String::from_utf8_lossy(visit.path);
        met.push(format!("{name}{}", if visit.closed { " closed" } else { "" }));
        ControlFlow::Continue(())
    });
    (met, walk.unwrap())
}

#[test]
fn files_are_written_whole_and_read_in_parts() {
    with_trees(|tree| {
        tree.write(b"/a/b/file", b"0123456789", 0o640).unwrap();
        assert_eq!(tree.read(b"a/b/file", 3, 4).unwrap(), b"3456");
        assert_eq!(tree.read(b"a/b/file", 8, 100).unwrap(), b"89");
        assert_eq!(tree.read(b"a/b/file", 80, usize::MAX).unwrap(), b"");
        assert_eq!(tree.read(b"a/b/file", u64::MAX, 1).unwrap(), b"");
        assert_eq!(tree.stat(b"a/b/file", true).unwrap().mode, 0o640);
        // A new content for a file keeps its mode, and its open descriptors the old one.
        let old = tree.vfs().file("/a/b/file");
        tree.write(b"a/b/file", b"new", 0o777).unwrap();
        assert_eq!((tree.stat(b"a/b/file", true).unwrap().mode, old.metadata().unwrap().size), (0o640, 10));
        // Links lead where guests see them lead.
        tree.vfs().symlink(b"/a/b/other", &GuestPath::root(), b"link").unwrap();
        tree.write(b"link", b"through", 0o600).unwrap();
        assert_eq!(tree.read(b"/a/b/other", 0, 100).unwrap(), b"through");
        assert_eq!(tree.stat(b"link", false).unwrap().file_type, FileType::Symlink);
        assert_eq!(walk(&tree, "/", ALL).0, ["/a", "/a/b", "/a/b/file", "/a/b/other", "/link"]);
    });
}

#[test]
fn what_is_no_file_is_refused_and_nothing_is_left() {
    with_trees(|tree| {
        let root = GuestPath::root();
        tree.make_dirs(b"/d/e").unwrap();
        tree.make_dirs(b"d/e/").unwrap();
        tree.vfs().make_fifo(&root, b"fifo", 0o644).unwrap();
        tree.vfs().symlink(b"loop", &root, b"loop").unwrap();
        for (at, expected) in [
            (&b"d"[..], Errno::IsDirectory),
            (b"/", Errno::IsDirectory),
            (b"d/", Errno::IsDirectory),
            (b"new/", Errno::IsDirectory),
            (b"fifo", Errno::NotSupported),
            (b"fifo/x", Errno::NotDirectory),
            (b"loop", Errno::Loop),
            (b"loop/x", Errno::Exist),
            (b"", Errno::NoEntry),
            (b"a\0b", Errno::Invalid),
        ] {
            assert_eq!(tree.write(at, b"x", 0o644), Err(expected), "{}", String::from_utf8_lossy(at));
        }
        assert_eq!(tree.read(b"fifo", 0, 1), Err(Errno::NotSupported));
        assert_eq!(tree.read(b"d", 0, 1), Err(Errno::IsDirectory));
        assert_eq!(tree.read(b"none", 0, 1), Err(Errno::NoEntry));
        assert_eq!(walk(&tree, "/", ALL).0, ["/d", "/d/e", "/fifo", "/loop", "/new"]);
    });
    // A write that does not fit leaves the old content and no other file.
    let quota = Arc::new(Quota::new(100, 10, 100, Arc::default()));
    let tree = Tree::of(Arc::new(MemoryTree::new(quota, clock()))).unwrap();
    tree.write(b"file", &[1; 60], 0o644).unwrap();
    assert_eq!(tree.write(b"file", &[2; 60], 0o644), Err(Errno::NoSpace));
    assert_eq!((tree.read(b"file", 0, 100).unwrap(), walk(&tree, "/", ALL).0.len()), (vec![1; 60], 1));
}

#[test]
fn walks_are_bounded_ordered_and_follow_nothing() {
    with_trees(|tree| {
        for at in ["b/2", "b/10", "a", "c/d/e/f", "c-"] {
            tree.write(at.as_bytes(), b"", 0o644).unwrap();
        }
        tree.vfs().symlink(b"..", &GuestPath::root(), b"c/up").unwrap();
        let all = ["/a", "/b", "/b/10", "/b/2", "/c", "/c/d", "/c/d/e", "/c/d/e/f", "/c/up", "/c-"];
        assert_eq!(walk(&tree, "/", ALL), (all.map(str::to_owned).to_vec(), Walk { entries: 10, complete: true }));
        assert_eq!(walk(&tree, "c/up/c/d", ALL).0, ["/c/d/e", "/c/d/e/f"]);
        let (met, end) = walk(&tree, "/", WalkLimits { depth: 2, ..ALL });
        assert_eq!(met, ["/a", "/b", "/b/10", "/b/2", "/c", "/c/d closed", "/c/up", "/c-"]);
        assert_eq!(end, Walk { entries: 8, complete: false });
        assert_eq!(walk(&tree, "/", WalkLimits { entries: 3, ..ALL }).1, Walk { entries: 3, complete: false });
        assert_eq!(walk(&tree, "/", WalkLimits { entries: 10, ..ALL }).1, Walk { entries: 10, complete: true });
        let stopped = tree.walk(b"/", ALL, |_| ControlFlow::Break(())).unwrap();
        assert_eq!(stopped, Walk { entries: 1, complete: false });
        assert_eq!(tree.walk(b"a", ALL, |_| ControlFlow::Continue(())), Err(Errno::NotDirectory));
    });
}

#[test]
fn trees_are_removed_whole_and_nothing_else() {
    with_trees(|tree| {
        let root = GuestPath::root();
        tree.write(b"kept/file", b"kept", 0o644).unwrap();
        tree.write(b"gone/a/b/c", b"", 0o644).unwrap();
        tree.vfs().symlink(b"/kept", &root, b"gone/a/link").unwrap();
        tree.vfs().symlink(b"..", &root, b"gone/up").unwrap();
        tree.vfs().make_fifo(&root, b"gone/fifo", 0o000).unwrap();
        tree.vfs().symlink(b"kept", &root, b"link").unwrap();
        assert_eq!(tree.remove(b"gone", 4), Err(Errno::TooBig));
        assert_eq!(tree.remove(b"gone", 7), Ok(3));
        assert_eq!(tree.remove(b"link", 1), Ok(1));
        assert_eq!(tree.remove(b"gone", 1), Err(Errno::NoEntry));
        assert_eq!(tree.remove(b"/", 9), Err(Errno::Busy));
        assert_eq!(tree.remove(b"kept/.", 9), Err(Errno::Invalid));
        assert_eq!(walk(&tree, "/", ALL).0, ["/kept", "/kept/file"]);
    });
}

#[test]
fn mounts_and_their_links_are_not_removed() {
    let inner = memory();
    inner.add_file("f", "", 0o644).unwrap();
    let links = vec![(b"out".to_vec(), b"/elsewhere".to_vec())];
    let table = [mount("/", memory()), Mount { links, ..mount("/a/b", inner.clone()) }];
    let tree = Tree::new(vfs(table.into_iter().chain([Mount { read_only: true, ..mount("/ro", inner) }])));
    assert_eq!(walk(&tree, "/", ALL).0, ["/a", "/a/b", "/a/b/f", "/a/b/out", "/ro", "/ro/f"]);
    for (at, expected) in
        [("a", Errno::Busy), ("a/b", Errno::Busy), ("a/b/out", Errno::Busy), ("ro/f", Errno::ReadOnly)]
    {
        assert_eq!(tree.remove(at.as_bytes(), 9), Err(expected), "{at}");
    }
    assert_eq!(tree.write(b"ro/g", b"", 0o644), Err(Errno::ReadOnly));
    assert_eq!(tree.remove(b"a/b/f", 9), Ok(1));
}

#[test]
fn names_that_are_not_text() {
    with_trees(|tree| {
        if tree.write(b"\xff/\x80\n", b"x", 0o644).is_ok() {
            let mut met = Vec::new();
            tree.walk(b"/", ALL, |visit| {
                met.push(visit.path.to_vec());
                ControlFlow::Continue(())
            })
            .unwrap();
            assert_eq!(met, [&b"/\xff"[..], b"/\xff/\x80\n"]);
            assert_eq!(tree.remove(b"\xff", 2), Ok(2));
        }
    });
}

/// A chain of 4,000 directories, of which guests can reach 2,048: chains of 100 that were moved into each other.
fn deep(tree: &Tree) {
    let root = GuestPath::root();
    let source = &tree.vfs().mount_of(&root).source;
    source.make_dir(b"x", 0o755).unwrap();
    source.create(b"x/end", 0o644, Access::default()).unwrap();
    for _ in 0..40 {
        let mut at = b"d".to_vec();
        source.make_dir(&at, 0o755).unwrap();
        for _ in 1..100 {
            at.extend_from_slice(b"/d");
            source.make_dir(&at, 0o755).unwrap();
        }
        at.extend_from_slice(b"/d");
        source.rename(b"x", &at).unwrap();
        source.rename(b"d", b"x").unwrap();
    }
}

#[test]
fn depth_is_no_problem() {
    with_trees(|tree| {
        deep(&tree);
        let (met, end) = walk(&tree, "/", ALL);
        assert_eq!((met.len(), end), (2049, Walk { entries: 2049, complete: false }));
        assert!(met[2048].ends_with("/d closed"));
        assert_eq!(walk(&tree, "/", WalkLimits { depth: 10, ..ALL }).0.len(), 10);
        let start = std::time::Instant::now();
        assert_eq!(tree.remove(b"x", 10_000), Ok(4002));
        println!("removed in {:?}", start.elapsed());
        assert_eq!(walk(&tree, "/", ALL), (vec![], Walk { entries: 0, complete: true }));
    });
}
