//! Files in memory and their account.

use super::*;

fn with_quota(bytes: u64, inodes: u64, file_size: u64) -> (Vfs, Arc<MemoryTree>, Arc<Quota>) {
    with_counters(bytes, inodes, file_size, Arc::default())
}

fn with_counters(
    bytes: u64,
    inodes: u64,
    file_size: u64,
    counters: Arc<LimitCounters>,
) -> (Vfs, Arc<MemoryTree>, Arc<Quota>) {
    let quota = Arc::new(Quota::new(bytes, inodes, file_size, counters));
    let tree = Arc::new(MemoryTree::new(quota.clone(), clock()));
    (vfs([mount("/", tree.clone())]), tree, quota)
}

#[test]
fn storage_is_given_back_with_the_last_name_and_descriptor() {
    let (vfs, _, quota) = with_quota(1000, 10, 500);
    let root = GuestPath::root();
    vfs.put("/f", &[1; 300]).unwrap();
    let file = vfs.file("/f");
    vfs.link(&root, b"f", true, &root, b"g").unwrap();
    assert_eq!(quota.used(), Usage { bytes: 300, inodes: 2 });
    vfs.unlink(&root, b"f").unwrap();
    assert_eq!(quota.used(), Usage { bytes: 300, inodes: 1 });
    vfs.unlink(&root, b"g").unwrap();
    assert_eq!(file.metadata().unwrap().links, 0);
    file.append(&[2; 100]).unwrap();
    assert_eq!(quota.used(), Usage { bytes: 400, inodes: 1 });
    drop(file);
    assert_eq!(quota.used(), Usage::default());
    assert_eq!(quota.peak(), Usage { bytes: 400, inodes: 2 });
}

#[test]
fn limits_are_met_with_their_errors() {
    let counters = Arc::<LimitCounters>::default();
    let (vfs, _, quota) = with_counters(1000, 3, 600, counters.clone());
    let file = vfs.file("/f");
    assert_eq!(file.write_at(&[1; 700], 0), Ok(600));
    assert_eq!(file.write_at(&[1; 1], 600), Err(Errno::FileTooBig));
    assert_eq!(file.set_len(601), Err(Errno::FileTooBig));
    let other = vfs.file("/g");
    assert_eq!(other.append(&[1; 500]), Ok((400, 400)));
    assert_eq!(other.append(&[1; 1]), Err(Errno::NoSpace));
    assert_eq!(other.set_len(401), Err(Errno::NoSpace));
    assert_eq!(other.write_at(&[2; 400], 0), Ok(400));
    vfs.make_dir(&GuestPath::root(), b"d", 0o755).unwrap();
    assert_eq!(vfs.put("/h", b""), Err(Errno::NoSpace));
    assert_eq!(vfs.symlink(b"x", &GuestPath::root(), b"l"), Err(Errno::NoSpace));
    assert_eq!(vfs.make_fifo(&GuestPath::root(), b"p", 0o644), Err(Errno::NoSpace));
    let refused = [(LimitName::Disk, 3), (LimitName::Inodes, 3), (LimitName::FileSize, 2)];
    assert_eq!(counters.snapshot(), refused);
    file.set_len(0).unwrap();
    assert_eq!(other.append(&[1; 1]), Ok((1, 401)));
    assert_eq!(quota.used(), Usage { bytes: 401, inodes: 3 });
}

#[test]
fn the_hosts_own_content_costs_nothing() {
    static CONTENT: [u8; 100] = [7; 100];
    let (vfs, tree, quota) = with_quota(50, 5, 1000);
    tree.add_file("program", &CONTENT, 0o755).unwrap();
    assert_eq!(quota.used(), Usage::default());
    let file = vfs.file("/program");
    assert_eq!(file.write_at(&[1; 100], 0), Ok(100));
    assert_eq!(file.append(&[1; 100]), Ok((50, 150)));
    assert_eq!(CONTENT, [7; 100]);
    assert_eq!(quota.used().bytes, 50);
    file.set_len(0).unwrap();
    assert_eq!(quota.used().bytes, 0);
    file.append(&[1; 120]).unwrap();
    assert_eq!(quota.used().bytes, 20);
    vfs.unlink(&GuestPath::root(), b"program").unwrap();
    drop(file);
    assert_eq!(quota.used(), Usage::default());
}

#[test]
fn one_tree_serves_many_mounts() {
    let tree = memory();
    tree.add_file("bin/tool", "x", 0o755).unwrap();
    let one = vfs([Mount { read_only: true, ..mount("/", tree.clone()) }]);
    let other = vfs([Mount { read_only: true, ..mount("/root", tree) }]);
    assert_eq!(one.get("/bin/tool").unwrap(), other.get("/root/bin/tool").unwrap());
    assert_eq!(one.put("/bin/tool", b"y"), Err(Errno::ReadOnly));
}

#[test]
fn files_without_names() {
    let quota = Arc::new(Quota::new(100, 0, 100, Arc::default()));
    let file: Arc<dyn File> = MemoryFile::new(1, quota.clone(), clock());
    assert_eq!(file.write_at(b"abc", 2), Ok(3));
    let mut buffer = [9; 8];
    assert_eq!(file.read_at(&mut buffer, 0), Ok(5));
    assert_eq!(&buffer, b"\0\0abc\x09\x09\x09");
    assert_eq!(file.write_at(b"", 50), Ok(0));
    assert_eq!(file.metadata().unwrap().size, 5);
    drop(file);
    assert_eq!(quota.used().bytes, 0);
}

#[test]
fn a_gigabyte_with_holes_costs_its_length_and_no_memory() {
    let (vfs, _, quota) = with_quota(2 << 30, 10, 2 << 30);
    let file = vfs.file("/sparse");
    file.write_at(b"x", (1 << 30) - 1).unwrap();
    assert_eq!(quota.used().bytes, 1 << 30);
    assert!(file.metadata().unwrap().blocks <= 128);
    assert_eq!(file.metadata().unwrap().size, 1 << 30);
    assert_eq!(file.write_at(b"x", u64::MAX - 1), Err(Errno::FileTooBig));
    let mut buffer = [1; 4];
    assert_eq!(file.read_at(&mut buffer, u64::MAX), Ok(0));
}

#[test]
fn builders_check_paths() {
    let tree = memory();
    for bad in ["", "/", "a/../b", "a//b", "a/"] {
        assert!(tree.add_file(bad, "", 0o644).is_err(), "{bad:?}");
    }
    tree.add_file("/a/b", "", 0o644).unwrap();
    assert_eq!(tree.add_file("a", "", 0o644), Err(Errno::IsDirectory));
    assert_eq!(tree.add_dir("a/b/c", 0o755), Err(Errno::NotDirectory));
    tree.add_dir("/", 0o700).unwrap();
    assert_eq!(tree.metadata(b"").unwrap().mode, 0o700);
    tree.add_file("suid", "", 0o4755).unwrap();
    assert_eq!(tree.metadata(b"suid").unwrap().mode, 0o755);
}

#[test]
fn concurrent_appends_lose_nothing() {
    let (vfs, _, quota) = with_quota(1 << 20, 10, 1 << 20);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let file = vfs.file("/log");
                for _ in 0..1000 {
                    assert_eq!(file.append(b"0123456789").unwrap().0, 10);
                }
            });
        }
    });
    assert_eq!(vfs.get("/log").unwrap(), b"0123456789".repeat(4000));
    assert_eq!(quota.used(), Usage { bytes: 40_000, inodes: 1 });
}
