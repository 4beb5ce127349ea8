//! Host folders: their account, and what must not be reached through them.

use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;

use rustix::fs::{CWD, Mode};

use super::*;
use crate::sandbox::vfs::host::Method;

fn host(folder: &Path, quota: &Arc<Quota>) -> Vfs {
    vfs([mount("/", Arc::new(HostFolder::new(folder, quota.clone(), None).unwrap()))])
}

fn with_methods(test: impl Fn(&Path, Vfs, Arc<Quota>)) {
    let methods = [
        #[cfg(target_os = "linux")]
        Method::OneCall,
        #[cfg(target_os = "linux")]
        Method::Parts,
        Method::Portable,
    ];
    for method in methods {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(folder.path().join("secret"), "secret").unwrap();
        let quota = Arc::new(Quota::new(1000, 10, 600, Arc::default()));
        let mut source = HostFolder::new(&inner, quota.clone(), None).unwrap();
        source.set_method(method);
        test(&inner, vfs([mount("/", Arc::new(source))]), quota);
    }
}

/// The same with the folder as the upper of two layers.
fn with_layers(test: impl Fn(&Path, Vfs, Arc<Quota>)) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("secret"), "secret").unwrap();
    let quota = Arc::new(Quota::new(1000, 20, 600, Arc::default()));
    let upper = overlay::upper(folder.path(), true, &quota);
    let lower = overlay::lower(|tree| tree.add_file("lower/file", "lower", 0o644).unwrap());
    test(&folder.path().join("data"), overlay::overlay(&upper, &[lower]), quota);
}

#[test]
fn links_and_dots_do_not_lead_out() {
    let test = |inner: &Path, vfs: Vfs, _: Arc<Quota>| {
        symlink("../secret", inner.join("up")).unwrap();
        symlink(inner.parent().unwrap().join("secret"), inner.join("absolute")).unwrap();
        symlink("..", inner.join("dots")).unwrap();
        symlink("/proc/self/root", inner.join("magic")).unwrap();
        symlink("/etc", inner.join("outer-etc")).unwrap();
        std::fs::create_dir(inner.join("d")).unwrap();
        for at in
            ["up", "absolute", "dots/secret", "../secret", "d/../../secret", "magic/etc/passwd", "outer-etc/passwd"]
        {
            assert_eq!(vfs.get(at), Err(Errno::NoEntry), "{at}");
        }
        // The source by itself follows nothing either.
        let source = &vfs.mount_of(&GuestPath::root()).source;
        let read = Access { read: true, ..Access::default() };
        for at in ["up", "dots/secret", "outer-etc/passwd", "magic/etc"] {
            assert_eq!(source.open(at.as_bytes(), read).err(), Some(Errno::Loop), "{at}");
        }
        for at in ["dots/secret", "outer-etc/passwd"] {
            assert_eq!(source.metadata(at.as_bytes()).err(), Some(Errno::Loop), "{at}");
            assert_eq!(source.unlink(at.as_bytes()), Err(Errno::Loop), "{at}");
            assert_eq!(source.rename(at.as_bytes(), b"x"), Err(Errno::Loop), "{at}");
            assert_eq!(source.set_mode(at.as_bytes(), 0), Err(Errno::Loop), "{at}");
            assert_eq!(source.read_dir(at.as_bytes()).err(), Some(Errno::Loop), "{at}");
            assert_eq!(source.create(at.as_bytes(), 0, read).err(), Some(Errno::Loop), "{at}");
            assert_eq!(source.make_dir(at.as_bytes(), 0), Err(Errno::Loop), "{at}");
        }
        assert_eq!(source.read_dir(b"outer-etc").err(), Some(Errno::Loop));
        // Links are walked in guest terms, so making a file through one makes it here.
        vfs.put("up", b"mine").unwrap();
        assert_eq!(std::fs::read(inner.join("secret")).unwrap(), b"mine");
        assert_eq!(std::fs::read(inner.parent().unwrap().join("secret")).unwrap(), b"secret");
    };
    with_methods(test);
    with_layers(test);
}

#[test]
fn pipes_sockets_and_devices_are_never_opened() {
    let test = |inner: &Path, vfs: Vfs, _: Arc<Quota>| {
        let root = GuestPath::root();
        vfs.make_fifo(&root, b"pipe", 0o640).unwrap();
        let on_host = std::fs::metadata(inner.join("pipe")).unwrap();
        assert!(on_host.file_type().is_fifo() && on_host.permissions().mode() & 0o777 == 0o640);
        for (read, write) in [(true, false), (false, true)] {
            let options = OpenOptions { read, write, ..OpenOptions::default() };
            let opened = vfs.open(&root, b"pipe", &options).unwrap();
            let Metadata { device, inode, .. } = opened.metadata;
            assert!(
                matches!(opened.node, Node::Special(Special::Fifo { device: d, inode: i }) if (d, i) == (device, inode))
            );
        }
        let _socket = std::os::unix::net::UnixListener::bind(inner.join("socket")).unwrap();
        let options = OpenOptions { read: true, ..OpenOptions::default() };
        assert_eq!(vfs.open(&root, b"socket", &options).err(), Some(Errno::NoDeviceOrAddress));
        assert_eq!(vfs.stat("socket").unwrap().file_type, FileType::CharDevice);
        #[cfg(target_os = "linux")]
        {
            let character = rustix::fs::FileType::CharacterDevice;
            let null = rustix::fs::makedev(1, 3);
            if rustix::fs::mknodat(CWD, inner.join("null"), character, Mode::from_raw_mode(0o666), null).is_ok() {
                assert_eq!(vfs.open(&root, b"null", &options).err(), Some(Errno::NoDeviceOrAddress));
            }
        }
    };
    with_methods(test);
    with_layers(test);
}

#[test]
fn growth_is_charged_and_given_back() {
    with_methods(|inner, vfs, quota| {
        let root = GuestPath::root();
        std::fs::write(inner.join("old"), [1; 200]).unwrap();
        vfs.put("f", &[1; 300]).unwrap();
        assert_eq!(quota.used(), Usage { bytes: 300, inodes: 1 });
        let file = vfs.file("f");
        assert_eq!(file.write_at(&[1; 100], 250), Ok(100));
        assert_eq!(file.append(&[1; 50]), Ok((50, 400)));
        assert_eq!(quota.used().bytes, 400);
        assert_eq!(file.write_at(&[1; 1], 600), Err(Errno::FileTooBig));
        assert_eq!(file.write_at(&[1; 500], 400), Ok(200));
        assert_eq!(file.set_len(601), Err(Errno::FileTooBig));
        let other = vfs.file("g");
        assert_eq!(other.write_at(&[1; 600], 0), Ok(400));
        assert_eq!(other.write_at(&[1; 600], 500), Err(Errno::NoSpace));
        assert_eq!(quota.used(), Usage { bytes: 1000, inodes: 2 });
        assert_eq!(std::fs::metadata(inner.join("g")).unwrap().len(), 400);
        vfs.put("g", b"").unwrap();
        assert_eq!(quota.used().bytes, 600);
        // Two names, one open: the last of all gives back.
        vfs.link(&root, b"f", true, &root, b"h").unwrap();
        vfs.unlink(&root, b"f").unwrap();
        vfs.rename(&root, b"g", &root, b"h").unwrap();
        assert_eq!(quota.used(), Usage { bytes: 600, inodes: 2 });
        file.set_len(500).unwrap();
        let again = file.clone();
        drop(file);
        assert_eq!(quota.used(), Usage { bytes: 500, inodes: 2 });
        drop(again);
        assert_eq!(quota.used(), Usage { bytes: 0, inodes: 1 });
        drop(other);
        vfs.unlink(&root, b"h").unwrap();
        // The baseline gives nothing.
        vfs.unlink(&root, b"old").unwrap();
        assert_eq!(quota.used(), Usage::default());
    });
}

#[test]
fn inodes_are_charged_and_given_back_when_making_fails() {
    with_methods(|_, vfs, quota| {
        let root = GuestPath::root();
        for number in 0..10 {
            vfs.make_dir(&root, number.to_string().as_bytes(), 0o755).unwrap();
        }
        assert_eq!(vfs.put("f", b""), Err(Errno::NoSpace));
        assert_eq!(vfs.make_dir(&root, b"d", 0o755), Err(Errno::NoSpace));
        assert_eq!(vfs.symlink(b"x", &root, b"l"), Err(Errno::NoSpace));
        assert_eq!(vfs.make_dir(&root, b"1", 0o755), Err(Errno::Exist));
        vfs.rename(&root, b"1", &root, b"2").unwrap();
        assert_eq!(quota.used().inodes, 9);
        vfs.symlink(b"x", &root, b"l").unwrap();
        assert_eq!(vfs.mount_of(&root).source.make_dir(b"l", 0o755), Err(Errno::NoSpace));
        vfs.remove_dir(&root, b"2").unwrap();
        assert_eq!(vfs.mount_of(&root).source.make_dir(b"l", 0o755), Err(Errno::Exist));
        assert_eq!(quota.used().inodes, 9);
    });
}

#[test]
fn modes_are_exact_and_never_set_id() {
    let test = |inner: &Path, vfs: Vfs, _: Arc<Quota>| {
        let root = GuestPath::root();
        let create = OpenOptions { write: true, create: true, mode: 0o6666, ..OpenOptions::default() };
        vfs.open(&root, b"f", &create).unwrap();
        vfs.make_dir(&root, b"d", 0o3777).unwrap();
        let mode = |name: &str| std::fs::metadata(inner.join(name)).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode("f"), mode("d")), (0o666, 0o1777));
        vfs.set_mode(&root, b"f", true, 0o4711).unwrap();
        vfs.file("f").set_mode(0o6755).unwrap();
        assert_eq!(mode("f"), 0o755);
        std::fs::set_permissions(inner.join("f"), PermissionsExt::from_mode(0o4755)).unwrap();
        assert_eq!(vfs.stat("f").unwrap().mode, 0o755);
        vfs.symlink(b"f", &root, b"l").unwrap();
        assert_eq!(vfs.set_mode(&root, b"l", false, 0o600), Err(Errno::NotSupported));
        vfs.set_mode(&root, b"/", true, 0o750).unwrap();
        assert_eq!(mode("."), 0o750);
    };
    with_methods(test);
    with_layers(test);
}

#[test]
fn names_that_are_not_text() {
    with_methods(|_, vfs, _| {
        let root = GuestPath::root();
        let create = OpenOptions { write: true, create: true, mode: 0o644, ..OpenOptions::default() };
        if vfs.open(&root, b"\xff\xfe", &create).is_ok() {
            assert_eq!(vfs.read_dir(&root).unwrap()[0].name, b"\xff\xfe");
            vfs.symlink(b"\x80", &root, b"l").unwrap();
            assert_eq!(vfs.read_link(&root, b"l").unwrap(), b"\x80");
        }
    });
}

#[test]
fn sparse_files_count_in_full() {
    let folder = tempfile::tempdir().unwrap();
    let quota = Arc::new(Quota::new(2 << 30, 10, 2 << 30, Arc::default()));
    let vfs = host(folder.path(), &quota);
    let file = vfs.file("sparse");
    file.set_len(1 << 30).unwrap();
    assert_eq!(quota.used().bytes, 1 << 30);
    assert!(file.metadata().unwrap().blocks < 100);
    assert_eq!(file.write_at(b"xyz", u64::MAX - 1), Err(Errno::FileTooBig));
    let mut buffer = [0; 3];
    assert_eq!(file.read_at(&mut buffer, u64::MAX - 1), Ok(0));
}

#[test]
fn two_mounts_of_one_account_share_what_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let quota = Arc::new(Quota::new(1000, 10, 1000, Arc::default()));
    let source = || Arc::new(HostFolder::new(folder.path(), quota.clone(), None).unwrap());
    let vfs = vfs([mount("/one", source()), mount("/two", source())]);
    let file = vfs.file("/one/f");
    file.write_at(&[1; 100], 0).unwrap();
    vfs.unlink(&GuestPath::root(), b"/two/f").unwrap();
    assert_eq!(quota.used().bytes, 100);
    drop(file);
    assert_eq!(quota.used(), Usage::default());
}

#[test]
fn one_file_as_a_mount() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("data");
    std::fs::write(&at, "data").unwrap();
    let quota = Arc::new(Quota::new(10, 10, 100, Arc::default()));
    let source: Arc<dyn FileSystem> = Arc::new(HostFile::new(&at, quota.clone(), None).unwrap());
    assert!(HostFile::new(folder.path(), quota.clone(), None).is_err());
    let vfs = vfs([
        mount("/", memory()),
        mount("/in/data", source.clone()),
        Mount { read_only: true, ..mount("/ro", source) },
    ]);
    let root = GuestPath::root();
    assert_eq!(vfs.names("/in").unwrap(), ["data"]);
    assert_eq!(vfs.get("/in/data").unwrap(), b"data");
    assert_eq!(vfs.stat("/in/data").unwrap().file_type, FileType::Regular);
    assert_eq!(vfs.get("/in/data/x"), Err(Errno::NotDirectory));
    assert_eq!(vfs.get("/in/data/.."), Err(Errno::NotDirectory));
    assert_eq!(vfs.stat("/in/data/"), Err(Errno::NotDirectory));
    assert_eq!(vfs.unlink(&root, b"in/data"), Err(Errno::Busy));
    assert_eq!(vfs.rename(&root, b"in/data", &root, b"x"), Err(Errno::Busy));
    assert_eq!(vfs.put("/ro", b"x"), Err(Errno::ReadOnly));
    vfs.file("/in/data").append(b" and more than fits").unwrap();
    assert_eq!(std::fs::read(&at).unwrap(), b"data and more ");
    // The host replaces it by a rename.
    std::fs::write(folder.path().join("new"), "new").unwrap();
    std::fs::rename(folder.path().join("new"), &at).unwrap();
    assert_eq!(vfs.get("/in/data").unwrap(), b"new");
    std::fs::remove_file(&at).unwrap();
    symlink("/etc/passwd", &at).unwrap();
    assert_eq!(vfs.get("/in/data"), Err(Errno::NoEntry));
}

#[test]
fn device_and_inode_are_unique() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let quota = Arc::new(Quota::unlimited());
    let vfs = vfs([
        mount("/one", Arc::new(HostFolder::new(one.path(), quota.clone(), None).unwrap())),
        mount("/two", Arc::new(HostFolder::new(two.path(), quota.clone(), None).unwrap())),
        mount("/three", memory()),
    ]);
    let mut seen = std::collections::HashSet::new();
    for at in ["/", "/one", "/two", "/three", "/one/f", "/two/f", "/three/f"] {
        if at.ends_with('f') {
            vfs.put(at, b"").unwrap();
        }
        let Metadata { device, inode, .. } = vfs.stat(at).unwrap();
        assert!(inode != 0 && seen.insert((device, inode)), "{at}");
    }
}
