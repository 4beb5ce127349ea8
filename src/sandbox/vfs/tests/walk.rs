//! Rules of the walk that the comparison with Linux does not reach.

use super::*;

fn tree() -> Arc<MemoryTree> {
    let tree = memory();
    tree.add_file("a/b/file", "content", 0o644).unwrap();
    tree.add_symlink("a/to-root", "/").unwrap();
    tree.add_symlink("a/up", "../a/b").unwrap();
    tree.add_symlink("a/dangling", "b/new").unwrap();
    tree.add_symlink("a/loop", "loop").unwrap();
    tree
}

fn resolve(vfs: &Vfs, base: &str, at: &[u8], follow: bool) -> Result<String> {
    let resolved = vfs.resolve(&path(base), at, follow)?;
    assert_eq!(resolved.mount.at, GuestPath::root());
    Ok(format!("{}{}", resolved.path, if resolved.metadata.is_some() { "" } else { " (new)" }))
}

#[test]
fn paths_lead_where_posix_says() {
    for source in below_and_alone(tree()) {
        let vfs = vfs([mount("/", source)]);
        for (base, at, expected) in [
            ("/", "a/b/file", "/a/b/file"),
            ("/a", "b/file", "/a/b/file"),
            ("/a/b", "../../../..", "/"),
            ("/a/b", "/a", "/a"),
            ("/", "//a/.//b/", "/a/b"),
            ("/", "a/up/../b/file", "/a/b/file"),
            ("/a", "to-root/a/to-root/a/up/file", "/a/b/file"),
            ("/", "a/dangling", "/a/b/new (new)"),
            ("/", "a/nothing/", "/a/nothing (new)"),
            ("/a/b", ".", "/a/b"),
            ("/", "/", "/"),
        ] {
            assert_eq!(resolve(&vfs, base, at.as_bytes(), true).as_deref(), Ok(expected), "{base} {at}");
        }
        assert_eq!(resolve(&vfs, "/", b"a/up", false).as_deref(), Ok("/a/up"));
        assert_eq!(resolve(&vfs, "/", b"a/up/", false).as_deref(), Ok("/a/b"));
    }
}

#[test]
fn bad_paths_fail_as_posix_says() {
    for source in below_and_alone(tree()) {
        let vfs = vfs([mount("/", source)]);
        let long_part = [b"a/".as_slice(), &[b'x'; 256]].concat();
        let long_path = b"a/../".repeat(820);
        for (at, expected) in [
            (&b""[..], Errno::NoEntry),
            (b"a\0b", Errno::Invalid),
            (&long_part, Errno::NameTooLong),
            (&long_path, Errno::NameTooLong),
            (b"a/b/file/..", Errno::NotDirectory),
            (b"a/b/file/", Errno::NotDirectory),
            (b"a/b/file/.", Errno::NotDirectory),
            (b"missing/..", Errno::NoEntry),
            (b"missing/new", Errno::NoEntry),
            (b"missing/.", Errno::NoEntry),
            (b"a/loop", Errno::Loop),
            (b"a/loop/x", Errno::Loop),
        ] {
            assert_eq!(resolve(&vfs, "/", at, true), Err(expected), "{:?}", String::from_utf8_lossy(at));
        }
        assert!(resolve(&vfs, "/", &b"a/../".repeat(819), true).is_ok());
        // A working directory that is gone.
        assert_eq!(resolve(&vfs, "/gone", b"x", true), Err(Errno::NoEntry));
        assert_eq!(resolve(&vfs, "/gone", b"..", true), Err(Errno::NoEntry));
    }
}

#[test]
fn forty_links_are_followed_and_no_more() {
    let tree = memory();
    tree.add_file("0", "end", 0o644).unwrap();
    for number in 1..=41 {
        tree.add_symlink(number.to_string(), (number - 1).to_string()).unwrap();
    }
    for source in below_and_alone(tree) {
        let vfs = vfs([mount("/", source)]);
        assert_eq!(vfs.get("/40").unwrap(), b"end");
        assert_eq!(vfs.get("/41"), Err(Errno::Loop));
    }
}

#[test]
fn paths_and_nesting_are_bounded_without_recursion() {
    for source in below_and_alone(memory()) {
        let vfs = vfs([mount("/", source)]);
        let mut at = GuestPath::root();
        let mut depth = 0;
        loop {
            match vfs.make_dir(&at, b"d", 0o755) {
                Ok(()) => at = at.join(b"d").unwrap(),
                Err(error) => {
                    assert_eq!(error, Errno::NameTooLong);
                    break;
                }
            }
            depth += 1;
        }
        assert_eq!(depth, 2048);
        // Deeper, by moving a deep tree into another: it can be moved back, listed as far as names reach, and dropped.
        vfs.make_dir(&GuestPath::root(), b"x", 0o755).unwrap();
        for _ in 0..50 {
            vfs.rename(&GuestPath::root(), b"d", &GuestPath::root(), b"x/d").unwrap();
            vfs.rename(&GuestPath::root(), b"x", &GuestPath::root(), b"d").unwrap();
            vfs.make_dir(&GuestPath::root(), b"x", 0o755).unwrap();
        }
        assert_eq!(vfs.metadata(&at, b".", true).unwrap().file_type, FileType::Directory);
    }
}

#[test]
fn what_changed_behind_a_link_is_seen_at_once() {
    for source in below_and_alone(memory()) {
        let vfs = vfs([mount("/", source)]);
        let root = GuestPath::root();
        vfs.make_dir(&root, b"one", 0o755).unwrap();
        vfs.make_dir(&root, b"two", 0o755).unwrap();
        vfs.put("/one/f", b"1").unwrap();
        vfs.put("/two/f", b"2").unwrap();
        // A working directory whose name became a link.
        assert_eq!(vfs.real_path(&path("/one"), b"f").unwrap().to_string(), "/one/f");
        vfs.rename(&root, b"one", &root, b"old").unwrap();
        vfs.symlink(b"two", &root, b"one").unwrap();
        assert_eq!(vfs.get("/one/f").unwrap(), b"2");
        assert_eq!(vfs.real_path(&path("/one"), b"f").unwrap().to_string(), "/two/f");
    }
}

#[test]
fn rights_of_uid_0() {
    let tree = memory();
    tree.add_file("script", "", 0o755).unwrap();
    tree.add_file("data", "", 0o000).unwrap();
    tree.add_dir("dir", 0o000).unwrap();
    tree.add_device("null", 1, 0o666).unwrap();
    let read_only = Mount { read_only: true, ..mount("/ro", tree.clone()) };
    let vfs = vfs([mount("/", tree), read_only]);
    let access = |at: &str, write, execute| vfs.access(&GuestPath::root(), at.as_bytes(), true, true, write, execute);
    assert_eq!(access("/script", true, true), Ok(()));
    assert_eq!(access("/data", true, false), Ok(()));
    assert_eq!(access("/data", false, true), Err(Errno::Access));
    assert_eq!(access("/dir", true, true), Ok(()));
    assert_eq!(access("/none", false, false), Err(Errno::NoEntry));
    assert_eq!(access("/ro/data", true, false), Err(Errno::ReadOnly));
    assert_eq!(access("/ro/dir", true, false), Err(Errno::ReadOnly));
    assert_eq!(access("/ro/null", true, false), Ok(()));
    assert_eq!(access("/ro/script", false, true), Ok(()));
}
