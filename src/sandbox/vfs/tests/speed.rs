//! Figures: `cargo test --release speed -- --ignored --nocapture`.

use std::hint::black_box;
use std::time::Instant;

use super::*;

fn measure(what: &str, rounds: u32, mut call: impl FnMut()) {
    let mut best = f64::MAX;
    for _ in 0..7 {
        let start = Instant::now();
        for _ in 0..rounds {
            call();
        }
        best = best.min(start.elapsed().as_secs_f64() / f64::from(rounds));
    }
    eprintln!("{what:<44} {:>9.3} µs", best * 1e6);
}

#[test]
#[ignore = "measures"]
fn speed() {
    let folder = tempfile::tempdir().unwrap();
    let deep = "w/one/two/three/four/file";
    let shared = memory();
    for number in 0..200 {
        shared.add_file(format!("bin/tool{number}"), "x", 0o755).unwrap();
    }
    shared.add_symlink("sbin", "bin").unwrap();
    shared.add_file("m/one/two/three/four/file", "some text", 0o644).unwrap();
    let at = folder.path().join("one/two/three/four");
    std::fs::create_dir_all(&at).unwrap();
    std::fs::write(at.join("file"), "some text").unwrap();
    std::os::unix::fs::symlink("one/two", folder.path().join("link")).unwrap();
    let source = Arc::new(HostFolder::new(folder.path(), Arc::new(Quota::unlimited())).unwrap());
    let vfs = vfs([mount("/", shared), mount("/w", source)]);
    let root = GuestPath::root();
    let read = OpenOptions { read: true, ..OpenOptions::default() };
    let rewrite = OpenOptions { write: true, create: true, truncate: true, mode: 0o644, ..OpenOptions::default() };
    let open_read = |at: &str| {
        let Node::File(file) = vfs.open(&root, at.as_bytes(), &read).unwrap().node else { panic!() };
        let mut buffer = [0; 64];
        black_box(file.read_at(&mut buffer, 0).unwrap());
    };
    let resolve = |at: &str| drop(black_box(vfs.resolve(&root, at.as_bytes(), true).unwrap()));
    let handle = std::fs::File::open(folder.path()).unwrap();
    measure("the bare calls: openat + fstat + close", 20_000, || {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let node = rustix::fs::openat(&handle, "one/two/three/four/file", flags, Mode::empty()).unwrap();
        black_box(rustix::fs::fstat(node).unwrap());
    });
    measure("the bare calls: openat + fstat + read + close", 20_000, || {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let node = rustix::fs::openat(&handle, "one/two/three/four/file", flags, Mode::empty()).unwrap();
        black_box(rustix::fs::fstat(&node).unwrap());
        let mut buffer = [0; 64];
        black_box(rustix::io::pread(&node, &mut buffer, 0).unwrap());
    });
    measure("host: resolve, 5 parts", 20_000, || resolve(deep));
    measure("host: resolve, missing", 20_000, || resolve("w/one/two/three/four/none"));
    measure("host: resolve, through a link", 20_000, || resolve("w/link/three/four/file"));
    measure("host: resolve, with ..", 20_000, || resolve("w/one/two/../two/three/four/file"));
    measure("host: open + read + close", 20_000, || open_read(deep));
    measure("host: create + write + close + unlink", 5_000, || {
        vfs.put("w/one/two/three/four/new", b"text").unwrap();
        vfs.unlink(&root, b"w/one/two/three/four/new").unwrap();
    });
    measure("host: open, cut, close", 5_000, || drop(vfs.open(&root, deep.as_bytes(), &rewrite).unwrap()));
    let file = vfs.file("w/file");
    measure("host: write 4 KiB in place", 20_000, || {
        black_box(file.write_at(&[1; 4096], 0).unwrap());
    });
    measure("host: list 5 entries", 10_000, || drop(black_box(vfs.read_dir(&path("/w")).unwrap())));
    measure("memory: resolve, 2 parts", 100_000, || resolve("bin/tool117"));
    measure("memory: resolve, 6 parts", 100_000, || resolve("m/one/two/three/four/file"));
    measure("memory: resolve, through a link", 100_000, || resolve("sbin/tool117"));
    measure("memory: resolve, missing", 100_000, || resolve("bin/none"));
    measure("memory: open + read + close", 100_000, || open_read("m/one/two/three/four/file"));
    let tree = memory();
    let big = vfs_of(tree);
    let block = vec![1; 1 << 20];
    let start = Instant::now();
    let file = big.file("big");
    for number in 0..500 {
        file.write_at(&block, number << 20).unwrap();
    }
    eprintln!("memory: 500 MiB in pieces of 1 MiB: {:?}", start.elapsed());
    let start = Instant::now();
    let mut buffer = vec![0; 1 << 20];
    for number in 0..500 {
        file.read_at(&mut buffer, number << 20).unwrap();
    }
    eprintln!("memory: read them: {:?}", start.elapsed());
}

fn vfs_of(tree: Arc<MemoryTree>) -> Vfs {
    vfs([mount("/", tree)])
}
