//! Several mounts in one tree, their rights and what is laid over them.

use super::*;

/// A root in memory, a workspace, in it a read-only skill with laid-over links, in that a writable folder.
/// Twice, the first time with layers over the same trees.
fn sandboxes() -> [(Vfs, Arc<MemoryTree>); 2] {
    [0, 1].map(|number| {
        let layered = |tree: &Arc<MemoryTree>| below_and_alone(tree.clone())[number].clone();
        let root = memory();
        root.add_file("bin/sh", "program", 0o755).unwrap();
        root.add_dir("tmp", 0o1777).unwrap();
        let skill = memory();
        skill.add_file("SKILL.md", "text", 0o644).unwrap();
        skill.add_file("out/hidden", "hidden", 0o644).unwrap();
        skill.add_file("scripts/run.sh", "run", 0o755).unwrap();
        let workspace = memory();
        workspace.add_dir("out", 0o755).unwrap();
        let links = vec![(b"out".to_vec(), b"../../out".to_vec()), (b"work".to_vec(), b"../../work".to_vec())];
        let vfs = vfs([
            Mount { read_only: true, ..mount("/", layered(&root)) },
            mount("/workspace", layered(&workspace)),
            Mount { read_only: true, links, ..mount("/workspace/skills/demo", layered(&skill)) },
            mount("/workspace/skills/demo/.venv", layered(&memory())),
            mount("/far/away/place", memory()),
        ]);
        (vfs, skill)
    })
}

#[test]
fn mounts_show_in_directories_that_do_not_have_them() {
    for (vfs, _) in sandboxes() {
        assert_eq!(vfs.names("/").unwrap(), ["bin", "far", "tmp", "workspace"]);
        assert_eq!(vfs.names("/workspace").unwrap(), ["out", "skills"]);
        assert_eq!(vfs.names("/workspace/skills").unwrap(), ["demo"]);
        assert_eq!(vfs.names("/far").unwrap(), ["away"]);
        assert_eq!(vfs.names("/workspace/skills/demo").unwrap(), [".venv", "SKILL.md", "out", "scripts", "work"]);
        assert_eq!(vfs.real("/far/away/place/../..").unwrap(), "/far");
        assert_eq!(vfs.real("/workspace/skills/demo/../../..").unwrap(), "/");
        for at in ["/far", "/far/away", "/workspace/skills", "/workspace", "/far/away/place"] {
            assert_eq!(vfs.stat(at).unwrap().file_type, FileType::Directory, "{at}");
        }
        // What is listed has the number that stat tells.
        for entry in vfs.read_dir(&path("/workspace/skills/demo")).unwrap() {
            let metadata = vfs.metadata(&path("/workspace/skills/demo"), &entry.name, false).unwrap();
            assert_eq!((entry.inode, entry.file_type), (metadata.inode, metadata.file_type), "{entry:?}");
        }
    }
}

#[test]
fn made_up_directories_are_read_only() {
    for (vfs, _) in sandboxes() {
        let root = GuestPath::root();
        assert_eq!(vfs.put("/far/x", b""), Err(Errno::ReadOnly));
        assert_eq!(vfs.put("/workspace/skills/x", b""), Err(Errno::ReadOnly));
        assert_eq!(vfs.make_dir(&root, b"workspace/skills/x", 0o755), Err(Errno::ReadOnly));
        assert_eq!(vfs.make_dir(&root, b"workspace/skills", 0o755), Err(Errno::Exist));
        assert_eq!(vfs.set_mode(&root, b"far", true, 0o700), Err(Errno::ReadOnly));
        assert_eq!(vfs.put("/workspace/missing/x", b""), Err(Errno::NoEntry));
        vfs.put("/workspace/x", b"fine").unwrap();
        vfs.put("/workspace/skills/demo/.venv/x", b"fine").unwrap();
    }
}

#[test]
fn laid_over_links_hide_and_stay() {
    for (vfs, skill) in sandboxes() {
        let root = GuestPath::root();
        let demo = path("/workspace/skills/demo");
        vfs.put("/workspace/skills/demo/out/result", b"r").unwrap();
        assert_eq!(vfs.get("/workspace/out/result").unwrap(), b"r");
        assert_eq!(vfs.get("/workspace/skills/demo/out/hidden"), Err(Errno::NoEntry));
        assert_eq!(skill.read_dir(b"out").unwrap().len(), 1);
        assert_eq!(vfs.real_path(&demo, b"out/../skills").unwrap().to_string(), "/workspace/skills");
        let link = vfs.metadata(&demo, b"out", false).unwrap();
        assert_eq!((link.file_type, link.size), (FileType::Symlink, 9));
        assert_eq!(vfs.metadata(&demo, b"out", true).unwrap().file_type, FileType::Directory);
        assert_eq!(vfs.metadata(&demo, b"out/", false).unwrap().file_type, FileType::Directory);
        assert_eq!(vfs.read_link(&demo, b"out").unwrap(), b"../../out");
        // Its target does not exist yet: making it through the link works as through any other.
        assert_eq!(vfs.metadata(&demo, b"work", true), Err(Errno::NoEntry));
        vfs.make_dir(&root, b"workspace/work", 0o755).unwrap();
        vfs.put("/workspace/skills/demo/work/x", b"x").unwrap();
        assert_eq!(vfs.unlink(&demo, b"out"), Err(Errno::Busy));
        assert_eq!(vfs.remove_dir(&demo, b"out"), Err(Errno::NotDirectory));
        assert_eq!(vfs.rename(&demo, b"out", &demo, b"other"), Err(Errno::Busy));
        assert_eq!(vfs.rename(&root, b"workspace/x", &demo, b"out"), Err(Errno::NoEntry));
        assert_eq!(vfs.make_dir(&demo, b"out", 0o755), Err(Errno::Exist));
        assert_eq!(vfs.link(&demo, b"out", false, &root, b"workspace/l"), Err(Errno::CrossDevice));
        assert_eq!(vfs.set_times(&demo, b"out", false, SetTime::Now, SetTime::Now), Err(Errno::ReadOnly));
    }
}

#[test]
fn a_writable_mount_keeps_its_laid_over_links_too() {
    let source = memory();
    source.add_file("out", "hidden", 0o644).unwrap();
    let links = vec![(b"out".to_vec(), b"/elsewhere".to_vec())];
    let vfs = vfs([mount("/", memory()), Mount { links, ..mount("/m", source.clone()) }]);
    let root = GuestPath::root();
    assert_eq!(vfs.unlink(&root, b"m/out"), Err(Errno::Busy));
    vfs.put("/m/x", b"x").unwrap();
    assert_eq!(vfs.rename(&root, b"m/x", &root, b"m/out"), Err(Errno::Busy));
    assert_eq!(vfs.symlink(b"x", &root, b"m/out"), Err(Errno::Exist));
    vfs.put("/m/out", b"through the link").unwrap();
    assert_eq!(vfs.get("/elsewhere").unwrap(), b"through the link");
    assert_eq!(source.metadata(b"out").unwrap().size, 6);
    // A base that lies behind the link, as a host might give it, is walked through it.
    assert_eq!(vfs.real_path(&path("/m/out"), b".."), Err(Errno::NotDirectory));
}

#[test]
fn read_only_mounts_refuse_every_change() {
    for (vfs, skill) in sandboxes() {
        let root = GuestPath::root();
        let demo = path("/workspace/skills/demo");
        vfs.put("/workspace/x", b"x").unwrap();
        let write = OpenOptions { write: true, ..OpenOptions::default() };
        let create = OpenOptions { read: true, create: true, mode: 0o644, ..OpenOptions::default() };
        let truncate = OpenOptions { read: true, truncate: true, ..OpenOptions::default() };
        let refused = Some(Errno::ReadOnly);
        assert_eq!(vfs.open(&demo, b"SKILL.md", &write).err(), refused);
        assert_eq!(vfs.open(&demo, b"SKILL.md", &truncate).err(), refused);
        assert_eq!(vfs.open(&demo, b"new", &create).err(), refused);
        assert_eq!(vfs.open(&demo, b"missing", &write).err(), Some(Errno::NoEntry));
        assert_eq!(vfs.open(&demo, b"scripts", &write).err(), Some(Errno::IsDirectory));
        let opened = vfs.open(&demo, b"SKILL.md", &create).unwrap();
        assert!(opened.read_only && opened.path.as_bytes() == b"/workspace/skills/demo/SKILL.md");
        let refused = Err(Errno::ReadOnly);
        assert_eq!(vfs.make_dir(&demo, b"new", 0o755), refused);
        assert_eq!(vfs.make_fifo(&demo, b"new", 0o755), refused);
        assert_eq!(vfs.symlink(b"x", &demo, b"new"), refused);
        assert_eq!(vfs.unlink(&demo, b"SKILL.md"), refused);
        assert_eq!(vfs.remove_dir(&demo, b"scripts"), refused);
        assert_eq!(vfs.rename(&demo, b"SKILL.md", &demo, b"new"), refused);
        assert_eq!(vfs.rename(&demo, b"SKILL.md", &root, b"workspace/new"), refused);
        assert_eq!(vfs.rename(&root, b"workspace/x", &demo, b"new"), refused);
        assert_eq!(vfs.link(&demo, b"SKILL.md", true, &demo, b"new"), refused);
        assert_eq!(vfs.link(&demo, b"SKILL.md", true, &root, b"workspace/new"), Err(Errno::CrossDevice));
        assert_eq!(vfs.set_times(&demo, b"SKILL.md", true, SetTime::Now, SetTime::Now), refused);
        assert_eq!(vfs.set_mode(&demo, b"SKILL.md", true, 0o600), refused);
        assert_eq!(skill.read_dir(b"").unwrap().len(), 3);
    }
}

#[test]
fn points_stay_and_nothing_crosses_mounts() {
    for (vfs, _) in sandboxes() {
        let root = GuestPath::root();
        for point in
            ["/workspace", "/workspace/skills", "/workspace/skills/demo", "/workspace/skills/demo/.venv", "/far"]
        {
            assert_eq!(vfs.remove_dir(&root, point.as_bytes()), Err(Errno::Busy), "{point}");
            assert_eq!(vfs.unlink(&root, point.as_bytes()), Err(Errno::IsDirectory), "{point}");
            assert_eq!(vfs.rename(&root, point.as_bytes(), &root, b"workspace/new"), Err(Errno::Busy), "{point}");
        }
        vfs.make_dir(&root, b"workspace/d", 0o755).unwrap();
        vfs.put("/workspace/f", b"").unwrap();
        assert_eq!(vfs.rename(&root, b"workspace/d", &root, b"workspace/skills"), Err(Errno::Busy));
        assert_eq!(vfs.rename(&root, b"workspace/f", &root, b"far/away/place/f"), Err(Errno::CrossDevice));
        assert_eq!(vfs.link(&root, b"workspace/f", true, &root, b"far/away/place/f"), Err(Errno::CrossDevice));
        assert_eq!(vfs.rename(&root, b"workspace/d", &root, b"workspace/d/e"), Err(Errno::Invalid));
        assert_eq!(vfs.rename(&root, b"workspace/d", &root, b"."), Err(Errno::Invalid));
        assert_eq!(vfs.rename(&root, b"workspace/d/.", &root, b"workspace/e"), Err(Errno::Invalid));
        // A mount's root can have its own attributes.
        vfs.set_mode(&root, b"workspace", true, 0o700).unwrap();
        assert_eq!(vfs.stat("/workspace").unwrap().mode, 0o700);
    }
}

#[test]
fn a_guest_cannot_put_a_link_in_a_mounts_way() {
    // Directories above a mount that the source has are its own; those it has as another type are hidden.
    let source = memory();
    source.add_symlink("way", "/elsewhere").unwrap();
    source.add_dir("dir/x", 0o755).unwrap();
    let inner = memory();
    inner.add_file("f", "inner", 0o644).unwrap();
    let vfs = vfs([mount("/", source), mount("/way/in", inner.clone()), mount("/dir/in", inner)]);
    let root = GuestPath::root();
    assert_eq!(vfs.get("/way/in/f").unwrap(), b"inner");
    assert_eq!(vfs.names("/way").unwrap(), ["in"]);
    assert_eq!(vfs.names("/dir").unwrap(), ["in", "x"]);
    assert_eq!(vfs.metadata(&root, b"way", false).unwrap().file_type, FileType::Directory);
    assert_eq!(vfs.unlink(&root, b"way"), Err(Errno::IsDirectory));
    assert_eq!(vfs.rename(&root, b"dir", &root, b"other"), Err(Errno::Busy));
    vfs.make_dir(&root, b"dir/y", 0o755).unwrap();
    assert_eq!(vfs.put("/way/y", b""), Err(Errno::ReadOnly));
}

#[test]
fn a_later_mount_replaces_one_at_the_same_path() {
    let (one, two) = (memory(), memory());
    one.add_file("one", "", 0o644).unwrap();
    two.add_file("two", "", 0o644).unwrap();
    let vfs = vfs([mount("/m", one), mount("/m", two)]);
    assert_eq!(vfs.names("/m").unwrap(), ["two"]);
    assert_eq!(vfs.mounts().mounts().count(), 1);
}

#[test]
fn accounts_show_in_statvfs() {
    let tree = Arc::new(MemoryTree::new(Arc::new(Quota::new(1 << 20, 10, 1 << 20, Arc::default())), clock()));
    let vfs = vfs([mount("/m", tree)]);
    vfs.put("/m/f", &[1; 8192]).unwrap();
    let shown = vfs.statvfs(&GuestPath::root(), b"m/f").unwrap();
    assert_eq!((shown.block_size, shown.blocks, shown.blocks_free), (4096, 256, 254));
    assert_eq!((shown.files, shown.files_free, shown.read_only), (10, 9, false));
    assert!(vfs.statvfs(&GuestPath::root(), b"/").unwrap().read_only);
    assert_eq!(vfs.statvfs(&GuestPath::root(), b"none"), Err(Errno::NoEntry));
}
