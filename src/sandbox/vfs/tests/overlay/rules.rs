//! What layers show and keep.

use super::*;

/// A lower layer with some of everything.
fn base() -> Layer {
    lower(|tree| {
        tree.add_file("dir/one", "one", 0o644).unwrap();
        tree.add_file("dir/two", "two", 0o600).unwrap();
        tree.add_file("dir/sub/deep", "deep", 0o755).unwrap();
        tree.add_dir("empty", 0o755).unwrap();
        tree.add_file("file", "lower", 0o644).unwrap();
        tree.add_symlink("link", "file").unwrap();
        tree.add_device("null", 0x103, 0o666).unwrap();
    })
}

/// Runs a test with an upper layer in memory and with one on the host.
fn with_uppers(test: impl Fn(Upper, Arc<Quota>)) {
    for on_host in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let quota = Arc::new(Quota::new(100_000, 100, 50_000, Arc::default()));
        test(upper(folder.path(), on_host, &quota), quota);
    }
}

#[test]
fn layers_are_merged_and_the_lower_ones_stay() {
    with_uppers(|upper, quota| {
        let base = base();
        let vfs = overlay(&upper, std::slice::from_ref(&base));
        let root = GuestPath::root();
        assert_eq!(vfs.names("/").unwrap(), ["dir", "empty", "file", "link", "null"]);
        assert_eq!(vfs.get("/link").unwrap(), b"lower");
        assert_eq!(quota.used().bytes, 0);
        vfs.put("/dir/three", b"3").unwrap();
        vfs.put("/file", b"upper").unwrap();
        vfs.unlink(&root, b"dir/one").unwrap();
        assert_eq!(vfs.names("/dir").unwrap(), ["sub", "three", "two"]);
        assert_eq!(vfs.get("/link").unwrap(), b"upper");
        assert_eq!(vfs.get("/dir/one"), Err(Errno::NoEntry));
        // A stack of three.
        drop(vfs);
        let middle = upper.freeze().unwrap();
        let top = Upper::in_memory(unlimited(), clock()).unwrap();
        let vfs = overlay(&top, &[middle.clone(), base.clone()]);
        assert_eq!(vfs.names("/dir").unwrap(), ["sub", "three", "two"]);
        assert_eq!(vfs.get("/dir/one"), Err(Errno::NoEntry));
        assert_eq!(vfs.get("/file").unwrap(), b"upper");
        vfs.put("/dir/one", b"new").unwrap();
        assert_eq!(vfs.names("/dir").unwrap(), ["one", "sub", "three", "two"]);
        vfs.unlink(&root, b"file").unwrap();
        assert_eq!(vfs.get("/file"), Err(Errno::NoEntry));
        // Each of the lower layers is what it was.
        let vfs = overlay(&Upper::in_memory(unlimited(), clock()).unwrap(), &[middle, base.clone()]);
        assert_eq!((vfs.get("/file").unwrap(), vfs.get("/dir/one")), (b"upper".to_vec(), Err(Errno::NoEntry)));
        let vfs = overlay(&Upper::in_memory(unlimited(), clock()).unwrap(), &[base]);
        assert_eq!((vfs.get("/file").unwrap(), vfs.get("/dir/one").unwrap()), (b"lower".to_vec(), b"one".to_vec()));
    });
}

#[test]
fn a_directory_made_in_place_of_a_removed_one_is_empty() {
    with_uppers(|upper, _| {
        let vfs = overlay(&upper, &[base()]);
        let root = GuestPath::root();
        assert_eq!(vfs.remove_dir(&root, b"dir"), Err(Errno::NotEmpty));
        for file in ["dir/one", "dir/two", "dir/sub/deep"] {
            vfs.unlink(&root, file.as_bytes()).unwrap();
        }
        vfs.remove_dir(&root, b"dir/sub").unwrap();
        vfs.remove_dir(&root, b"dir").unwrap();
        assert_eq!(vfs.names("/").unwrap(), ["empty", "file", "link", "null"]);
        vfs.make_dir(&root, b"dir", 0o700).unwrap();
        assert_eq!(vfs.names("/dir").unwrap(), Vec::<String>::new());
        assert_eq!(vfs.stat("/dir").unwrap().mode, 0o700);
        vfs.make_dir(&root, b"dir/sub", 0o755).unwrap();
        assert_eq!(vfs.get("/dir/sub/deep"), Err(Errno::NoEntry));
        // It is of the upper layer alone, so it can be renamed, also to where an empty directory of the lower is.
        vfs.put("/dir/sub/mine", b"mine").unwrap();
        vfs.rename(&root, b"dir", &root, b"empty").unwrap();
        assert_eq!(vfs.get("/empty/sub/mine").unwrap(), b"mine");
        assert_eq!(vfs.stat("/dir"), Err(Errno::NoEntry));
    });
}

#[test]
fn small_directories_of_lower_layers_are_renamed() {
    let many = lower(|tree| {
        (0..1000).for_each(|number| tree.add_file(format!("many/{number}"), "", 0o644).unwrap());
        tree.add_file("large/file", vec![0; (64 << 20) + 1], 0o644).unwrap();
        tree.add_device("dev/null", 0x103, 0o666).unwrap();
    });
    for on_host in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let vfs = overlay(&upper(folder.path(), on_host, &unlimited()), &[base(), many.clone()]);
        let root = GuestPath::root();
        assert_eq!(vfs.rename(&root, b"empty", &root, b"dir"), Err(Errno::NotEmpty));
        assert_eq!(vfs.rename(&root, b"dir", &root, b"dir"), Ok(()));
        assert_eq!(vfs.rename(&root, b"dir", &root, b"file"), Err(Errno::NotDirectory));
        vfs.put("/dir/new", b"").unwrap();
        vfs.unlink(&root, b"dir/one").unwrap();
        vfs.rename(&root, b"dir", &root, b"empty").unwrap();
        assert_eq!(vfs.names("/").unwrap(), ["dev", "empty", "file", "large", "link", "many", "null"]);
        assert_eq!(vfs.names("/empty").unwrap(), ["new", "sub", "two"]);
        assert_eq!(vfs.get("/empty/sub/deep").unwrap(), b"deep");
        vfs.make_dir(&root, b"dir", 0o755).unwrap();
        assert_eq!(vfs.names("/dir").unwrap(), Vec::<String>::new());
        // Too many, too large, and what cannot be copied.
        for at in ["many", "large", "dev"] {
            assert_eq!(vfs.rename(&root, at.as_bytes(), &root, b"moved"), Err(Errno::CrossDevice), "{at}");
        }
        vfs.unlink(&root, b"many/7").unwrap();
        vfs.rename(&root, b"many", &root, b"moved").unwrap();
        assert_eq!(vfs.names("/moved").unwrap().len(), 999);
        vfs.rename(&root, b"file", &root, b"moved/1").unwrap();
        assert_eq!(vfs.get("/moved/1").unwrap(), b"lower");
    }
}

#[test]
fn copies_keep_attributes_and_numbers() {
    with_uppers(|upper, quota| {
        let vfs = overlay(&upper, &[base()]);
        let root = GuestPath::root();
        for at in ["/dir", "/dir/sub", "/dir/two", "/file"] {
            let times = (SetTime::At(1_000_000_007), SetTime::At(2_000_000_009));
            vfs.set_times(&root, at.as_bytes(), true, times.0, times.1).unwrap();
        }
        drop(vfs);
        let lower = upper.freeze().unwrap();
        let upper = Upper::in_memory(quota.clone(), clock()).unwrap();
        let vfs = overlay(&upper, &[lower, base()]);
        let before: Vec<_> = ["/dir", "/dir/sub", "/dir/two"].map(|at| vfs.stat(at).unwrap()).to_vec();
        let listed = vfs.read_dir(&path("/dir")).unwrap();
        vfs.set_mode(&root, b"dir/sub/deep", true, 0o711).unwrap();
        vfs.set_mode(&root, b"dir/two", true, 0o640).unwrap();
        for (at, before) in ["/dir", "/dir/sub", "/dir/two"].iter().zip(before) {
            let after = vfs.stat(at).unwrap();
            assert_eq!((after.device, after.inode), (before.device, before.inode), "{at}");
            assert_eq!(after.modified, before.modified, "{at}");
        }
        assert_eq!((vfs.stat("/dir/two").unwrap().mode, vfs.get("/dir/two").unwrap()), (0o640, b"two".to_vec()));
        assert_eq!(vfs.read_dir(&path("/dir")).unwrap(), listed);
        for entry in listed {
            let metadata = vfs.metadata(&path("/dir"), &entry.name, false).unwrap();
            assert_eq!((metadata.inode, metadata.file_type), (entry.inode, entry.file_type), "{entry:?}");
        }
        let copied = vfs.stat("/dir/two").unwrap();
        assert_eq!((copied.accessed, copied.modified), (1_000_000_007, 2_000_000_009));
    });
}

#[test]
fn numbers_are_unique_over_layers() {
    with_uppers(|upper, _| {
        let vfs = overlay(&upper, &[base(), lower(|tree| tree.add_file("other/x", "", 0o644).unwrap())]);
        vfs.put("/new", b"").unwrap();
        vfs.put("/file", b"copied").unwrap();
        let mut seen = std::collections::HashSet::new();
        for at in ["/", "/dir", "/dir/one", "/dir/two", "/empty", "/file", "/other", "/other/x", "/new", "/null"] {
            let Metadata { device, inode, .. } = vfs.stat(at).unwrap();
            assert!(inode != 0 && seen.insert((device, inode)), "{at}");
        }
        assert_eq!(seen.iter().map(|(device, _)| device).collect::<std::collections::HashSet<_>>().len(), 1);
    });
}

#[test]
fn descriptors_follow_their_file() {
    with_uppers(|upper, _| {
        let vfs = overlay(&upper, &[base()]);
        let root = GuestPath::root();
        let read = OpenOptions { read: true, ..OpenOptions::default() };
        let open = |at: &[u8]| match vfs.open(&root, at, &read).unwrap().node {
            Node::File(file) => file,
            other => panic!("{other:?}"),
        };
        let content = |file: &Arc<dyn File>| {
            let mut buffer = [0; 20];
            let count = file.read_at(&mut buffer, 0).unwrap();
            String::from_utf8(buffer[..count].to_vec()).unwrap()
        };
        let reader = open(b"file");
        let inode = reader.metadata().unwrap().inode;
        let writer = vfs.file("/file");
        assert_eq!(writer.metadata().unwrap().inode, inode);
        writer.write_at(b"UPP", 0).unwrap();
        assert_eq!((content(&reader), content(&open(b"file"))), ("UPPer".to_owned(), "UPPer".to_owned()));
        assert_eq!(reader.metadata().unwrap().inode, inode);
        vfs.unlink(&root, b"file").unwrap();
        writer.append(b"!").unwrap();
        assert_eq!((content(&reader), reader.metadata().unwrap().links), ("UPPer!".to_owned(), 0));
        // One that changes the file itself.
        let reader = open(b"dir/one");
        reader.set_mode(0o755).unwrap();
        assert_eq!(vfs.stat("/dir/one").unwrap().mode, 0o755);
        // One whose file goes before there is a copy.
        let reader = open(b"dir/two");
        vfs.unlink(&root, b"dir/two").unwrap();
        vfs.put("/dir/two", b"another").unwrap();
        assert_eq!((content(&reader), reader.metadata().unwrap().links), ("two".to_owned(), 0));
        reader.set_mode(0o711).unwrap();
        assert_eq!((content(&reader), reader.metadata().unwrap().mode), ("two".to_owned(), 0o711));
        assert_ne!(vfs.stat("/dir/two").unwrap().mode, 0o711);
        assert_eq!(reader.write_at(b"x", 0), Err(Errno::BadFd));
        // One whose file is renamed.
        let reader = open(b"dir/sub/deep");
        vfs.rename(&root, b"dir/sub/deep", &root, b"moved").unwrap();
        vfs.file("/moved").append(b"er").unwrap();
        assert_eq!(content(&reader), "deeper");
        // One whose file is replaced.
        let reader = open(b"dir/one");
        vfs.rename(&root, b"moved", &root, b"dir/one").unwrap();
        assert_eq!((content(&reader), content(&open(b"dir/one"))), ("one".to_owned(), "deeper".to_owned()));
    });
}

#[test]
fn the_upper_layer_is_charged_and_the_lower_ones_are_not() {
    with_uppers(|upper, quota| {
        let vfs = overlay(&upper, &[base()]);
        let root = GuestPath::root();
        vfs.get("/dir/one").unwrap();
        vfs.names("/dir").unwrap();
        // On the host, the file of the marks.
        let start = quota.used();
        assert_eq!(start.bytes, 0);
        vfs.set_mode(&root, b"file", true, 0o600).unwrap();
        assert_eq!(quota.used(), Usage { bytes: 5, inodes: start.inodes + 1 });
        vfs.set_mode(&root, b"dir/sub/deep", true, 0o600).unwrap();
        assert_eq!(quota.used(), Usage { bytes: 9, inodes: start.inodes + 4 });
        vfs.unlink(&root, b"dir/sub/deep").unwrap();
        assert_eq!(quota.used().inodes, start.inodes + 4);
        vfs.remove_dir(&root, b"dir/sub").unwrap();
        // The directory is gone, and its mark has taken the place of the file's.
        assert_eq!(quota.used().inodes, start.inodes + 3);
        vfs.unlink(&root, b"link").unwrap();
        assert_eq!(quota.used().inodes, start.inodes + 4);
        while vfs.make_dir(&root, quota.used().inodes.to_string().as_bytes(), 0o755).is_ok() {}
        assert_eq!(vfs.unlink(&root, b"dir/one"), Err(Errno::NoSpace));
        assert_eq!(vfs.get("/dir/one").unwrap(), b"one");
    });
}

#[test]
fn a_copy_that_does_not_fit_changes_nothing() {
    for on_host in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let quota = Arc::new(Quota::new(1000, 100, 5000, Arc::default()));
        let upper = upper(folder.path(), on_host, &quota);
        let big = lower(|tree| tree.add_file("big", vec![7; 2000], 0o644).unwrap());
        let vfs = overlay(&upper, &[big]);
        let before = quota.used();
        let write = OpenOptions { write: true, ..OpenOptions::default() };
        assert_eq!(vfs.open(&GuestPath::root(), b"big", &write).err(), Some(Errno::NoSpace));
        assert_eq!(quota.used(), before);
        assert_eq!(vfs.get("/big").unwrap(), [7; 2000]);
        // Cutting it needs no copy of its content.
        vfs.put("/big", b"small").unwrap();
        assert_eq!((vfs.get("/big").unwrap(), quota.used().bytes), (b"small".to_vec(), 5));
    }
}

#[test]
fn holes_stay_holes() {
    let folder = tempfile::tempdir().unwrap();
    let lower = memory();
    let file = lower.create(b"sparse", 0o644, Access::default()).unwrap();
    file.set_len(64 << 20).unwrap();
    file.write_at(b"end", (64 << 20) - 3).unwrap();
    let vfs = overlay(&upper(folder.path(), true, &unlimited()), &[Layer::plain(lower).unwrap()]);
    let copy = vfs.file("/sparse");
    assert_eq!(copy.metadata().unwrap().size, 64 << 20);
    assert!(copy.metadata().unwrap().blocks < 2048, "{:?}", copy.metadata());
    let mut buffer = [0; 5];
    copy.read_at(&mut buffer, (64 << 20) - 5).unwrap();
    assert_eq!(&buffer, b"\0\0end");
}

#[test]
fn files_with_several_names() {
    with_uppers(|upper, _| {
        let source = memory();
        source.add_file("one", "same", 0o644).unwrap();
        source.link(b"one", b"two").unwrap();
        let vfs = overlay(&upper, &[Layer::plain(source).unwrap()]);
        let root = GuestPath::root();
        // A name of a lower layer that is changed is a file for itself.
        vfs.put("/one", b"changed").unwrap();
        assert_eq!((vfs.get("/one").unwrap(), vfs.get("/two").unwrap()), (b"changed".to_vec(), b"same".to_vec()));
        assert_ne!(vfs.stat("/one").unwrap().inode, vfs.stat("/two").unwrap().inode);
        // Names made here are names of one file.
        vfs.link(&root, b"two", true, &root, b"three").unwrap();
        vfs.put("/three", b"both").unwrap();
        assert_eq!(vfs.get("/two").unwrap(), b"both");
        assert_eq!(
            (vfs.stat("/two").unwrap().links, vfs.stat("/two").unwrap().inode),
            (2, vfs.stat("/three").unwrap().inode)
        );
    });
}

#[test]
fn devices_of_lower_layers_can_be_used_and_removed() {
    with_uppers(|upper, _| {
        let vfs = overlay(&upper, &[base()]);
        let root = GuestPath::root();
        let read = OpenOptions { read: true, write: true, ..OpenOptions::default() };
        let opened = vfs.open(&root, b"null", &read).unwrap();
        assert!(matches!(opened.node, Node::Special(Special::Device(0x103))));
        assert_eq!(vfs.set_mode(&root, b"null", true, 0o600), Err(Errno::NotPermitted));
        assert_eq!(vfs.set_mode(&root, b"link", false, 0o600), Err(Errno::NotSupported));
        vfs.unlink(&root, b"null").unwrap();
        assert_eq!(vfs.stat("/null"), Err(Errno::NoEntry));
    });
}

#[test]
fn marks_survive_and_cannot_be_seen_or_forged() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("layer");
    {
        let vfs = overlay(&upper(&at, true, &unlimited()), &[base()]);
        let root = GuestPath::root();
        vfs.unlink(&root, b"file").unwrap();
        vfs.remove_dir(&root, b"empty").unwrap();
        vfs.make_dir(&root, b"empty", 0o755).unwrap();
        // Whatever the guest makes is only what it is.
        for name in ["marks", "work", ".wh.dir", "data", "../marks", "../work"] {
            vfs.put(&format!("/{name}"), b"dir\0").unwrap();
        }
        vfs.make_fifo(&root, b"fifo", 0o644).unwrap();
        assert_eq!(
            vfs.names("/").unwrap(),
            [".wh.dir", "data", "dir", "empty", "fifo", "link", "marks", "null", "work"]
        );
    }
    std::fs::write(at.join("work/7"), "left by a crash").unwrap();
    let upper = open_upper(&at, &unlimited());
    let vfs = overlay(&upper, &[base()]);
    assert_eq!(vfs.names("/").unwrap(), [".wh.dir", "data", "dir", "empty", "fifo", "link", "marks", "null", "work"]);
    assert_eq!(vfs.names("/dir").unwrap(), ["one", "sub", "two"]);
    assert_eq!(std::fs::read_dir(at.join("work")).unwrap().count(), 0);
    assert_eq!(std::fs::read(at.join("marks")).unwrap(), b"file\0empty\0");
    // The frozen layer is read from the folder as well.
    drop(vfs);
    upper.freeze().unwrap();
    let frozen = Layer::frozen(Arc::new(HostFolder::new(&at, unlimited(), None).unwrap())).unwrap();
    let vfs = overlay(&Upper::in_memory(unlimited(), clock()).unwrap(), &[frozen, base()]);
    assert_eq!(vfs.get("/file"), Err(Errno::NoEntry));
}

#[test]
fn a_layer_in_use_is_not_frozen() {
    let upper = Upper::in_memory(unlimited(), clock()).unwrap();
    let vfs = overlay(&upper, &[base()]);
    let file = vfs.file("/file");
    let read = OpenOptions { read: true, ..OpenOptions::default() };
    let lower_file = vfs.open(&GuestPath::root(), b"dir/one", &read).unwrap();
    assert_eq!(upper.clone().freeze().err(), Some(Errno::Busy));
    drop(vfs);
    drop(file);
    assert_eq!(upper.clone().freeze().err(), Some(Errno::Busy));
    drop(lower_file);
    upper.freeze().unwrap();
}

#[test]
fn two_handles_of_one_layer_see_each_others_changes() {
    let folder = tempfile::tempdir().unwrap();
    let upper = upper(folder.path(), true, &unlimited());
    let quota = unlimited();
    let other = upper.again(Arc::new(HostFolder::new(folder.path(), quota.clone(), None).unwrap())).unwrap();
    let (one, two) = (overlay(&upper, &[base()]), overlay(&other, &[base()]));
    let root = GuestPath::root();
    one.unlink(&root, b"file").unwrap();
    assert_eq!(two.get("/file"), Err(Errno::NoEntry));
    two.put("/dir/one", b"changed").unwrap();
    assert_eq!(one.get("/dir/one").unwrap(), b"changed");
    assert_eq!(quota.used().bytes, 7);
    assert_eq!(one.stat("/dir/one").unwrap().inode, two.stat("/dir/one").unwrap().inode);
}
