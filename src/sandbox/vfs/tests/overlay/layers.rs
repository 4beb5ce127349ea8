//! Workspaces on the host: snapshots, forks, going back, and what killed processes leave.

use std::time::Instant;

use super::property::dump;
use super::*;

/// A folder with a pool and workspaces in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn create(&self, name: &str) -> Layers {
        Layers::create(&self.at(name), &self.at("pool"), None).unwrap()
    }

    /// How many layers lie in the pool.
    fn pool(&self) -> usize {
        std::fs::read_dir(self.at("pool")).unwrap().count()
    }
}

fn mounted(layers: &Layers) -> Vfs {
    vfs([mount("/", Arc::new(layers.mount(unlimited(), None).unwrap()))])
}

fn put(layers: &Layers, at: &str, text: &str) {
    mounted(layers).put(at, text.as_bytes()).unwrap();
}

fn get(layers: &Layers, at: &str) -> Result<String> {
    mounted(layers).get(at).map(|data| String::from_utf8(data).unwrap())
}

fn unlink(layers: &Layers, at: &str) {
    mounted(layers).unlink(&GuestPath::root(), at.as_bytes()).unwrap();
}

fn shown(layers: &Layers) -> String {
    dump(&layers.mount(unlimited(), None).unwrap())
}

#[test]
fn a_snapshot_can_be_gone_back_to() {
    let place = Place::new();
    let mut layers = place.create("one");
    put(&layers, "/file", "first");
    put(&layers, "/stays", "stays");
    let first = layers.snapshot().unwrap();
    put(&layers, "/file", "second");
    unlink(&layers, "/stays");
    let second = layers.snapshot().unwrap();
    put(&layers, "/file", "third");
    assert_eq!((layers.depth(), layers.snapshots().len(), place.pool()), (2, 2, 3));
    layers.rollback(&second).unwrap();
    assert_eq!((get(&layers, "/file").unwrap(), get(&layers, "/stays")), ("second".into(), Err(Errno::NoEntry)));
    // It stays, also when the workspace is opened again.
    put(&layers, "/file", "fourth");
    drop(layers);
    let mut layers = Layers::open(&place.at("one")).unwrap();
    assert_eq!(get(&layers, "/file").unwrap(), "fourth");
    layers.rollback(&second).unwrap();
    layers.rollback(&first).unwrap();
    assert_eq!((get(&layers, "/file").unwrap(), get(&layers, "/stays").unwrap()), ("first".into(), "stays".into()));
    assert!(matches!(layers.rollback(&second), Err(LayersError::NoSnapshot(id)) if id == second));
    assert_eq!((layers.depth(), layers.snapshots().len(), place.pool()), (1, 1, 2));
    layers.forget(&first).unwrap();
    assert_eq!(get(&layers, "/file").unwrap(), "first");
    layers.remove().unwrap();
    assert_eq!(place.pool(), 0);
    assert!(!place.at("one").exists());
}

#[test]
fn forks_share_layers_and_nothing_else() {
    let place = Place::new();
    let base = place.at("base");
    std::fs::create_dir_all(base.join("dir")).unwrap();
    std::fs::write(base.join("dir/base"), "base").unwrap();
    let mut one = Layers::create(&place.at("one"), &place.at("pool"), Some(&base)).unwrap();
    put(&one, "/file", "common");
    let two = one.fork(&place.at("two")).unwrap();
    // Nothing has changed since, so nothing is frozen.
    let mut three = one.fork(&place.at("three")).unwrap();
    assert_eq!((one.depth(), two.depth(), three.depth(), place.pool()), (1, 1, 1, 4));
    put(&one, "/file", "one");
    put(&two, "/dir/base", "two");
    unlink(&three, "/dir/base");
    assert_eq!([&one, &two, &three].map(|at| get(at, "/file").unwrap()), ["one", "common", "common"]);
    assert_eq!(
        [&one, &two, &three].map(|at| get(at, "/dir/base").ok()),
        [Some("base".into()), Some("two".into()), None]
    );
    // A fork of a fork outlives both.
    let four = three.fork(&place.at("four")).unwrap();
    let expected = shown(&four);
    one.remove().unwrap();
    three.remove().unwrap();
    assert_eq!((shown(&four), get(&four, "/file").unwrap()), (expected, "common".into()));
    assert_eq!(get(&two, "/dir/base").unwrap(), "two");
    two.remove().unwrap();
    four.remove().unwrap();
    assert_eq!(place.pool(), 0);
    assert_eq!(std::fs::read(base.join("dir/base")).unwrap(), b"base");
}

#[test]
fn nothing_is_frozen_that_is_in_use() {
    let place = Place::new();
    let mut layers = place.create("one");
    let vfs = mounted(&layers);
    let file = vfs.file("/file");
    let snapshot = |layers: &mut Layers| layers.snapshot().map_err(|error| error.to_string());
    let busy = format!(
        "the workspace in `{}` is mounted in a sandbox, or a file in it is open; close it first",
        place.at("one").display()
    );
    assert_eq!(snapshot(&mut layers), Err(busy.clone()));
    drop(vfs);
    assert_eq!(snapshot(&mut layers), Err(busy));
    assert!(matches!(layers.fork(&place.at("two")), Err(LayersError::Busy(_))));
    drop(file);
    let id = snapshot(&mut layers).unwrap();
    let vfs = mounted(&layers);
    assert!(matches!(layers.rollback(&Id::clone(&layers.snapshots()[0].id)), Err(LayersError::Busy(_))));
    drop(vfs);
    layers.rollback(&id.clone()).unwrap();
    assert!(matches!(Layers::open(&place.at("one")), Err(LayersError::InUse(_))));
    drop(layers);
    Layers::open(&place.at("one")).unwrap();
}

#[test]
fn wrong_folders_are_told() {
    let place = Place::new();
    let said = |result: std::result::Result<Layers, LayersError>| result.err().unwrap().to_string();
    assert!(said(Layers::open(&place.at("none"))).starts_with("there is no workspace in `"));
    drop(place.create("one"));
    assert!(said(Layers::create(&place.at("one"), &place.at("pool"), None)).contains("exists and is not empty"));
    std::fs::rename(place.at("one"), place.at("moved")).unwrap();
    assert!(said(Layers::open(&place.at("moved"))).contains("must stay there"));
    std::fs::rename(place.at("moved"), place.at("one")).unwrap();
    let manifest = place.at("one/layers.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    for (from, to, expected) in [
        ("\"version\": 1", "\"version\": 2", "its version is 2, and this program knows 1"),
        ("\"upper\": \"", "\"upper\": \"../", "is not 32 hexadecimal digits"),
        ("{", "", "cannot be used"),
    ] {
        std::fs::write(&manifest, text.replacen(from, to, 1)).unwrap();
        assert!(said(Layers::open(&place.at("one"))).contains(expected), "{expected}");
    }
}

#[test]
fn deep_stacks_become_one_layer() {
    for has_base in [false, true] {
        let place = Place::new();
        std::fs::create_dir_all(place.at("base/b")).unwrap();
        std::fs::write(place.at("base/b/hidden"), "").unwrap();
        std::fs::write(place.at("base/b/shown"), "").unwrap();
        std::fs::write(place.at("base/turned"), "").unwrap();
        let base = has_base.then(|| place.at("base"));
        let mut layers = Layers::create(&place.at("one"), &place.at("pool"), base.as_deref()).unwrap();
        let root = GuestPath::root();
        let mut states = Vec::new();
        for number in 0..=DEPTH_MAX {
            let vfs = mounted(&layers);
            vfs.put(&format!("/file{}", number % 5), number.to_string().as_bytes()).unwrap();
            vfs.make_dir(&root, format!("dir{number}").as_bytes(), 0o750).unwrap();
            vfs.put(&format!("/dir{number}/x"), b"x").unwrap();
            if number > 2 {
                vfs.unlink(&root, format!("dir{}/x", number - 1).as_bytes()).unwrap();
                vfs.remove_dir(&root, format!("dir{}", number - 1).as_bytes()).unwrap();
            }
            if number == 3 && has_base {
                vfs.unlink(&root, b"b/hidden").unwrap();
                vfs.unlink(&root, b"turned").unwrap();
            }
            if number == 5 {
                vfs.make_dir(&root, b"turned", 0o700).unwrap();
                vfs.symlink(b"b", &root, b"turned/link").unwrap();
                vfs.make_fifo(&root, b"turned/fifo", 0o600).unwrap();
            }
            drop(vfs);
            assert_eq!(layers.depth(), number);
            states.push((layers.snapshot().unwrap(), shown(&layers)));
        }
        assert_eq!(layers.depth(), DEPTH_MAX + 1);
        layers.flatten().unwrap();
        assert_eq!(layers.depth(), 1);
        assert_eq!(shown(&layers), states.last().unwrap().1);
        drop(layers);
        let mut layers = Layers::open(&place.at("one")).unwrap();
        for (snapshot, state) in states.iter().rev() {
            layers.rollback(snapshot).unwrap();
            assert_eq!(shown(&layers), *state);
        }
        layers.remove().unwrap();
        assert_eq!(place.pool(), 0);
    }
}

#[test]
fn a_stack_does_not_grow_for_ever() {
    let place = Place::new();
    let mut layers = place.create("one");
    for number in 0..70 {
        put(&layers, &format!("/file{}", number % 3), &number.to_string());
        let snapshot = layers.snapshot().unwrap();
        layers.forget(&snapshot).unwrap();
        assert_eq!((layers.depth(), place.pool()), (number % 64 + 1, number % 64 + 2), "{number}");
    }
    assert_eq!([0, 1, 2].map(|file| get(&layers, &format!("/file{file}")).unwrap()), ["69", "67", "68"]);
}

#[test]
fn what_killed_processes_leave_is_found() {
    let place = Place::new();
    let mut layers = place.create("one");
    put(&layers, "/file", "kept");
    let fork = layers.fork(&place.at("two")).unwrap();
    // A layer that was begun; one that was finished before its manifest; one that was to be removed; a fork that got
    // no manifest; a workspace whose manifest is gone.
    std::fs::create_dir_all(place.at("one/new-0/data")).unwrap();
    let stray = place.at("pool/0123456789abcdef0123456789abcdef");
    std::fs::create_dir_all(stray.join("users")).unwrap();
    std::fs::write(stray.join("users/00000000000000000000000000000000"), place.at("one").to_str().unwrap()).unwrap();
    std::fs::create_dir_all(place.at("pool/fedcba9876543210fedcba9876543210/data")).unwrap();
    std::fs::create_dir_all(place.at("pool/trash-1/data/x")).unwrap();
    drop(fork);
    std::fs::remove_file(place.at("two/layers.json")).unwrap();
    // Nothing of a workspace in use is taken for unneeded.
    assert_eq!(collect(&place.at("pool")).unwrap(), 3);
    drop(layers);
    assert_eq!(collect(&place.at("pool")).unwrap(), 1);
    assert_eq!(place.pool(), 2);
    let layers = Layers::open(&place.at("one")).unwrap();
    assert!(!place.at("one/new-0").exists());
    assert_eq!(get(&layers, "/file").unwrap(), "kept");
    drop(layers);
    assert_eq!(collect(&place.at("pool")).unwrap(), 0);
    std::fs::remove_dir_all(place.at("one")).unwrap();
    assert_eq!((collect(&place.at("pool")).unwrap(), place.pool()), (2, 0));
}

#[test]
fn workspaces_with_hostile_content_are_removed() {
    let place = Place::new();
    let layers = place.create("one");
    let vfs = mounted(&layers);
    let root = GuestPath::root();
    std::fs::write(place.at("outside"), "outside").unwrap();
    vfs.symlink(place.at("outside").to_str().unwrap().as_bytes(), &root, b"link").unwrap();
    vfs.symlink(b"../../..", &root, b"up").unwrap();
    vfs.make_fifo(&root, b"fifo", 0o000).unwrap();
    vfs.make_dir(&root, b"closed", 0o700).unwrap();
    vfs.make_dir(&root, b"closed/d", 0o000).unwrap();
    vfs.set_mode(&root, b"closed", true, 0o000).unwrap();
    drop(vfs);
    layers.remove().unwrap();
    assert_eq!((place.pool(), std::fs::read(place.at("outside")).unwrap()), (0, b"outside".to_vec()));
}

/// Run with `--ignored --nocapture` for the figures.
#[test]
#[ignore = "writes a gigabyte"]
fn a_gigabyte_forks_at_once() {
    let place = Place::new();
    let mut layers = place.create("one");
    let vfs = mounted(&layers);
    let data = vec![7; 100_000];
    for number in 0..10_000 {
        if number % 100 == 0 {
            vfs.make_dir(&GuestPath::root(), format!("d{}", number / 100).as_bytes(), 0o755).unwrap();
        }
        vfs.put(&format!("/d{}/f{number}", number / 100), &data).unwrap();
    }
    drop(vfs);
    let time = |what: &str, act: &mut dyn FnMut()| {
        let start = Instant::now();
        act();
        println!("{what}: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
        start.elapsed().as_millis()
    };
    let mut forks = Vec::new();
    let mut times = Vec::new();
    for number in 0..9 {
        times.push(time("fork", &mut || forks.push(layers.fork(&place.at(&format!("fork{number}"))).unwrap())));
        put(&layers, "/changed", "so that the next one freezes too");
    }
    let stat = |layers: &Layers| {
        let vfs = mounted(layers);
        time(&format!("stat 10,000 files, {} layers", layers.depth() + 1), &mut || {
            (0..10_000).for_each(|n| assert_eq!(vfs.stat(&format!("/d{}/f{n}", n / 100)).unwrap().size, 100_000));
        });
    };
    stat(&forks[0]);
    times.sort();
    assert!(times[4] <= 20, "{times:?}");
    let mut id = None;
    time("snapshot", &mut || id = Some(layers.snapshot().unwrap()));
    put(&layers, "/d1/f100", "changed");
    time("rollback", &mut || layers.rollback(id.as_ref().unwrap()).unwrap());
    time("mount", &mut || drop(layers.mount(unlimited(), None).unwrap()));
    stat(&layers);
    let vfs = mounted(&layers);
    time("open, read and close 10,000 files", &mut || {
        (0..10_000).for_each(|n| assert_eq!(vfs.get(&format!("/d{}/f{n}", n / 100)).unwrap().len(), 100_000));
    });
    time("copy up 1,000 files of 100 kB", &mut || {
        (0..1000).for_each(|n| drop(vfs.file(&format!("/d{}/f{n}", n / 100))));
    });
    drop(vfs);
    time("flatten", &mut || layers.flatten().unwrap());
    time("remove the first", &mut || {
        let layers = std::mem::replace(&mut layers, place.create("last"));
        layers.remove().unwrap();
    });
    forks.into_iter().for_each(|fork| fork.remove().unwrap());
}
