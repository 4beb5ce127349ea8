//! Random calls, made on the VFS and on the real file system in a child process that has the same tree as its root.

use std::fmt::Write as _;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::fs::{self, AtFlags, Mode, OFlags};

use super::*;

/// Names the child's tree; without it, the child's part is an empty test.
const ORACLE: &str = "VFS_ORACLE_ROOT";

/// One call: what to do, with which paths and flags.
#[derive(Clone, Debug)]
struct Call {
    verb: &'static str,
    base: &'static str,
    path: String,
    other: String,
    flags: u64,
}

const VERBS: [&str; 22] = [
    "mkdir", "mkdir", "rmdir", "unlink", "rename", "rename", "symlink", "symlink", "link", "link", "open", "open",
    "open", "open", "stat", "lstat", "readlink", "mkfifo", "chmod", "times", "list", "realpath",
];

fn random_path(random: &mut Random) -> String {
    let mut text = String::from(random.one_of(&["", "", "", "/"]));
    let parts = random.below(4) + u64::from(random.below(20) > 0);
    for number in 0..parts {
        if number > 0 {
            text.push_str(random.one_of(&["/", "/", "/", "/", "//"]));
        }
        text.push_str(random.one_of(&["a", "b", "c", "d", "a", "b", "c", "d", "e", ".", ".."]));
    }
    text.push_str(random.one_of(&["", "", "", "", "", "", "/"]));
    text
}

/// What a comparison consists of.
#[derive(Clone, Copy, Debug)]
struct Plan {
    seed: u64,
    count: usize,
    /// Whether files get several names.
    links: bool,
}

fn random_calls(plan: Plan) -> Vec<Call> {
    let mut random = Random(plan.seed);
    let mut calls = Vec::new();
    for _ in 0..plan.count {
        let verb = match *random.one_of(&VERBS.each_ref()) {
            "link" if !plan.links => "lstat",
            verb => verb,
        };
        let base = random.one_of(&["/", "/", "/", "/a", "/a/b"]);
        let path = random_path(&mut random);
        calls.push(Call { verb, base, path, other: random_path(&mut random), flags: random.below(1 << 12) });
    }
    calls
}

fn options(flags: u64) -> OpenOptions {
    let bit = |number: u64| flags >> number & 1 == 1;
    OpenOptions {
        read: bit(0) || !bit(1),
        write: bit(1),
        append: false,
        create: bit(2),
        exclusive: bit(2) && bit(3) && bit(4),
        truncate: bit(5) && bit(1),
        directory: bit(6) && bit(7) && bit(8) && !bit(2),
        no_follow: bit(9) && bit(10),
        mode: if bit(11) { 0o666 } else { 0o7640 },
    }
}

fn describe(metadata: &Metadata) -> String {
    let mut text = format!("{:?} {:o}", metadata.file_type, metadata.mode);
    if metadata.file_type != FileType::Directory {
        write!(text, " {} {}", metadata.size, metadata.links).unwrap();
    }
    text
}

/// Walking and listing change directories' and links' times of access.
fn describe_times(metadata: &Metadata) -> String {
    let accessed = if metadata.file_type == FileType::Regular { metadata.accessed } else { 0 };
    format!("{accessed} {}", metadata.modified)
}

fn play(file: &dyn File, access: &OpenOptions, flags: u64) -> Result<String> {
    let mut said = String::new();
    if access.write {
        let data = vec![b'x'; (flags % 50) as usize];
        said += &format!("wrote {:?} ", file.write_at(&data, flags % 7)?);
        if flags.is_multiple_of(5) {
            said += &format!("appended {:?} ", file.append(b"end")?);
        }
        if flags.is_multiple_of(11) {
            file.set_len(flags % 90)?;
        }
    }
    if access.read {
        let mut buffer = [0; 200];
        let count = file.read_at(&mut buffer, flags % 3)?;
        said += &format!("read {:?}", String::from_utf8_lossy(&buffer[..count]));
    }
    Ok(said)
}

fn on_vfs(vfs: &Vfs, call: &Call) -> Result<String> {
    let base = path(call.base);
    let (first, second) = (call.path.as_bytes(), call.other.as_bytes());
    let done = |result: Result<()>| result.map(|()| String::new());
    match call.verb {
        "mkdir" => done(vfs.make_dir(&base, first, if call.flags & 1 == 0 { 0o777 } else { 0o1750 })),
        "rmdir" => done(vfs.remove_dir(&base, first)),
        "unlink" => done(vfs.unlink(&base, first)),
        "rename" => done(vfs.rename(&base, first, &GuestPath::root(), second)),
        "symlink" => done(vfs.symlink(second, &base, first)),
        "link" => done(vfs.link(&base, first, call.flags & 1 == 1, &GuestPath::root(), second)),
        "mkfifo" => done(vfs.make_fifo(&base, first, 0o622)),
        "chmod" => done(vfs.set_mode(&base, first, true, 0o700 | call.flags as u32 & 0o77)),
        "times" => {
            let (accessed, modified) = (SetTime::At(-1_500_000_000), SetTime::At(call.flags as i64 * 1_000_000_007));
            vfs.set_times(&base, first, call.flags & 1 == 1, accessed, modified)?;
            let metadata = vfs.metadata(&base, first, call.flags & 1 == 1)?;
            Ok(describe_times(&metadata))
        }
        "stat" => Ok(describe(&vfs.metadata(&base, first, true)?)),
        "lstat" => Ok(describe(&vfs.metadata(&base, first, false)?)),
        "readlink" => Ok(String::from_utf8(vfs.read_link(&base, first)?).unwrap()),
        "realpath" => Ok(vfs.real_path(&base, first)?.to_string()),
        "list" => {
            let real = vfs.real_path(&base, first)?;
            let mut entries = vfs.read_dir(&real)?;
            entries.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(entries
                .iter()
                .map(|entry| format!("{} {:?};", String::from_utf8_lossy(&entry.name), entry.file_type))
                .collect())
        }
        "open" => {
            let options = options(call.flags);
            let opened = vfs.open(&base, first, &options)?;
            match opened.node {
                Node::File(file) => {
                    let said = play(&*file, &options, call.flags)?;
                    Ok(format!("{said} {}", describe(&file.metadata()?)))
                }
                Node::Directory => Ok(describe(&opened.metadata)),
                Node::Special(_) => Ok("fifo".into()),
            }
        }
        other => panic!("{other}"),
    }
}

/// A real file behind the same interface, so that both sides do the same with it.
#[derive(Debug)]
struct Real(OwnedFd);

fn real_metadata(stat: &fs::Stat) -> Metadata {
    Metadata {
        device: 0,
        inode: 0,
        file_type: match fs::FileType::from_raw_mode(stat.st_mode) {
            fs::FileType::RegularFile => FileType::Regular,
            fs::FileType::Directory => FileType::Directory,
            fs::FileType::Symlink => FileType::Symlink,
            fs::FileType::Fifo => FileType::Fifo,
            _ => FileType::CharDevice,
        },
        mode: stat.st_mode & 0o1777,
        links: stat.st_nlink as u32,
        device_id: 0,
        size: stat.st_size as u64,
        blocks: 0,
        accessed: stat.st_atime * 1_000_000_000 + stat.st_atime_nsec as i64,
        modified: stat.st_mtime * 1_000_000_000 + stat.st_mtime_nsec as i64,
        changed: 0,
    }
}

impl File for Real {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        Ok(rustix::io::pread(&self.0, buffer, offset)?)
    }

    fn write_at(&self, data: &[u8], offset: u64) -> Result<usize> {
        Ok(rustix::io::pwrite(&self.0, data, offset)?)
    }

    fn append(&self, data: &[u8]) -> Result<(usize, u64)> {
        let end = self.metadata()?.size;
        let count = self.write_at(data, end)?;
        Ok((count, end + count as u64))
    }

    fn metadata(&self) -> Result<Metadata> {
        Ok(real_metadata(&fs::fstat(&self.0)?))
    }

    fn set_len(&self, length: u64) -> Result<()> {
        Ok(fs::ftruncate(&self.0, length)?)
    }

    fn set_times(&self, _accessed: SetTime, _modified: SetTime) -> Result<()> {
        Ok(())
    }

    fn set_mode(&self, _mode: u32) -> Result<()> {
        Ok(())
    }

    fn sync(&self, _data_only: bool) -> Result<()> {
        Ok(())
    }
}

fn on_host(call: &Call) -> Result<String> {
    let place = |path: &str| {
        if path.is_empty() || path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", call.base) }
    };
    let first = place(&call.path);
    // The second path of two-path calls is walked from the root.
    let second = if call.other.is_empty() { String::new() } else { format!("/{}", call.other) };
    let done = |result: rustix::io::Result<()>| Ok(result.map(|()| String::new())?);
    let at = fs::CWD;
    let no_follow = |flag: u64| if call.flags & 1 == flag { AtFlags::SYMLINK_NOFOLLOW } else { AtFlags::empty() };
    match call.verb {
        "mkdir" => done(fs::mkdir(&*first, Mode::from_raw_mode(if call.flags & 1 == 0 { 0o777 } else { 0o1750 }))),
        "rmdir" => done(fs::rmdir(&*first)),
        "unlink" => done(fs::unlink(&*first)),
        "rename" => done(fs::rename(&*first, &*second)),
        "symlink" => done(fs::symlink(&*call.other, &*first)),
        "link" => {
            let flags = if call.flags & 1 == 1 { AtFlags::SYMLINK_FOLLOW } else { AtFlags::empty() };
            done(fs::linkat(at, &*first, at, &*second, flags))
        }
        "mkfifo" => done(fs::mkfifoat(at, &*first, Mode::from_raw_mode(0o622))),
        "chmod" => done(fs::chmod(&*first, Mode::from_raw_mode(0o700 | call.flags as u32 & 0o77))),
        "times" => {
            let modified = call.flags as i64 * 1_000_000_007;
            let times = fs::Timestamps {
                last_access: fs::Timespec { tv_sec: -2, tv_nsec: 500_000_000 },
                last_modification: fs::Timespec { tv_sec: modified / 1_000_000_000, tv_nsec: modified % 1_000_000_000 },
            };
            fs::utimensat(at, &*first, &times, no_follow(0))?;
            let metadata = real_metadata(&fs::statat(at, &*first, no_follow(0))?);
            Ok(describe_times(&metadata))
        }
        "stat" => Ok(describe(&real_metadata(&fs::stat(&*first)?))),
        "lstat" => Ok(describe(&real_metadata(&fs::lstat(&*first)?))),
        "readlink" => Ok(fs::readlink(&*first, Vec::new())?.into_string().unwrap()),
        "realpath" => Ok(std::fs::canonicalize(&first)?.to_str().unwrap().to_owned()),
        "list" => {
            let mut entries = Vec::new();
            for entry in std::fs::read_dir(&first)? {
                let entry = entry?;
                let stat = fs::lstat(entry.path())?;
                entries.push(format!("{} {:?};", entry.file_name().to_str().unwrap(), real_metadata(&stat).file_type));
            }
            entries.sort();
            Ok(entries.concat())
        }
        "open" => {
            let options = options(call.flags);
            let mut flags = OFlags::NONBLOCK | OFlags::CLOEXEC;
            flags |= match (options.read, options.write) {
                (true, true) => OFlags::RDWR,
                (false, true) => OFlags::WRONLY,
                _ => OFlags::RDONLY,
            };
            flags.set(OFlags::CREATE, options.create);
            flags.set(OFlags::EXCL, options.exclusive);
            flags.set(OFlags::TRUNC, options.truncate);
            flags.set(OFlags::DIRECTORY, options.directory);
            flags.set(OFlags::NOFOLLOW, options.no_follow);
            let file = match fs::open(&*first, flags, Mode::from_raw_mode(options.mode & 0o1777)) {
                Err(rustix::io::Errno::NXIO) => return Ok("fifo".into()),
                result => Real(result?),
            };
            let metadata = file.metadata()?;
            match metadata.file_type {
                FileType::Fifo => Ok("fifo".into()),
                FileType::Directory => Ok(describe(&metadata)),
                _ => {
                    let said = play(&file, &options, call.flags)?;
                    Ok(format!("{said} {}", describe(&file.metadata()?)))
                }
            }
        }
        other => panic!("{other}"),
    }
}

/// The child: makes the calls in its own root and prints the answers.
#[test]
fn oracle_child() {
    let Ok(root) = std::env::var(ORACLE) else { return };
    let [folder, seed, count, links] = root.split(',').collect::<Vec<_>>().try_into().unwrap();
    let plan = Plan { seed: seed.parse().unwrap(), count: count.parse().unwrap(), links: links.parse().unwrap() };
    rustix::process::umask(Mode::empty());
    rustix::process::chroot(folder).unwrap();
    rustix::process::chdir("/").unwrap();
    let mut out = std::io::stderr().lock();
    for call in random_calls(plan) {
        writeln!(out, "ANSWER {:?}", on_host(&call)).unwrap();
    }
}

/// The answers of the real file system; none when this process may not change its root.
fn ask_oracle(folder: &Path, plan: Plan) -> Option<Vec<String>> {
    let Plan { seed, count, links } = plan;
    if !rustix::process::geteuid().is_root() {
        // Not `eprintln!`, which the test harness hides.
        let _ = writeln!(std::io::stderr(), "vfs::tests::differential: skipped: needs root, to change a child's root");
        return None;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sandbox::vfs::tests::differential::oracle_child", "--nocapture", "--test-threads=1"])
        .env(ORACLE, format!("{},{seed},{count},{links}", folder.display()))
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let answers: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("ANSWER ")).map(str::to_owned).collect();
    assert_eq!(answers.len(), count, "the child failed: {text}");
    Some(answers)
}

fn ends_in_dot(path: &str) -> bool {
    matches!(path.trim_end_matches('/').rsplit('/').next(), Some("." | ".."))
}

/// Compares what `vfs` answers.
fn compare(vfs: &Vfs, plan: Plan, answers: &[String]) {
    for (number, call) in random_calls(plan).iter().enumerate() {
        compare_call(vfs, plan, number, call, &answers[number]);
    }
}

fn compare_call(vfs: &Vfs, plan: Plan, number: usize, call: &Call, expected: &str) {
    let got = format!("{:?}", on_vfs(vfs, call));
    if got == *expected {
        return;
    }
    // POSIX says EINVAL for a rename of `.` or `..`, Linux EBUSY.
    if call.verb == "rename" && (ends_in_dot(&call.path) || ends_in_dot(&call.other)) && got.starts_with("Err") {
        assert!(expected.starts_with("Err"), "{number} {call:?}: {got}, expected {expected}");
        return;
    }
    // Making a file through a link whose target ends in a slash fails either way.
    if call.verb == "open" && call.flags & 4 != 0 && got.starts_with("Err") && expected == "Err(IsDirectory)" {
        return;
    }
    let seed = plan.seed;
    panic!("seed {seed}, call {number} {call:?}: {got}, expected {expected}");
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    folder
}

#[test]
fn memory_trees_behave_as_linux_does() {
    for seed in 0..rounds() {
        let real = folder();
        let plan = Plan { seed, count: 3000, links: true };
        let Some(answers) = ask_oracle(real.path(), plan) else { return };
        let quota = Arc::new(Quota::new(1 << 30, 1 << 20, 1 << 30, Arc::default()));
        let vfs = vfs([mount("/", Arc::new(MemoryTree::new(quota, clock())))]);
        compare(&vfs, plan, &answers);
    }
}

#[test]
fn host_folders_behave_as_linux_does() {
    use crate::sandbox::vfs::host::Method;
    for seed in 0..rounds() {
        let real = folder();
        let plan = Plan { seed, count: 3000, links: true };
        let Some(answers) = ask_oracle(real.path(), plan) else { return };
        for method in [Method::OneCall, Method::Parts, Method::Portable] {
            let ours = folder();
            let quota = Arc::new(Quota::new(1 << 30, 1 << 20, 1 << 30, Arc::default()));
            let mut folder = HostFolder::new(ours.path(), quota.clone(), None).unwrap();
            folder.set_method(method);
            let vfs = vfs([mount("/", Arc::new(folder))]);
            compare(&vfs, plan, &answers);
            assert_account(ours.path(), &quota, &format!("seed {seed} {method:?}"));
        }
    }
}

#[test]
fn overlays_behave_as_linux_does() {
    for seed in 0..rounds() {
        for (links, on_host) in [(false, false), (false, true), (true, true)] {
            let real = folder();
            let plan = Plan { seed, count: 3000, links };
            let Some(answers) = ask_oracle(real.path(), plan) else { return };
            let folders = folder();
            let mut made = 0;
            let mut upper = || {
                made += 1;
                super::overlay::upper(&folders.path().join(made.to_string()), on_host, &Arc::new(Quota::unlimited()))
            };
            let mut lowers: Vec<Layer> = Vec::new();
            let mut now = upper();
            let mut vfs = Some(super::overlay::overlay(&now, &lowers));
            for (number, call) in random_calls(plan).iter().enumerate() {
                // Files with several names lose them with the layer.
                if number % 200 == 199 && !links {
                    drop(vfs.take());
                    lowers.insert(0, now.freeze().unwrap());
                    now = upper();
                    now.lie_on(&lowers).unwrap();
                    vfs = Some(super::overlay::overlay(&now, &lowers));
                }
                compare_call(vfs.as_ref().unwrap(), plan, number, call, &answers[number]);
            }
        }
    }
}

/// The account must hold exactly what is in the folder, since all of it was made by the guest and nothing is open.
fn assert_account(folder: &Path, quota: &Quota, what: &str) {
    use std::os::unix::fs::MetadataExt;
    let mut expected = Usage::default();
    let mut seen = std::collections::HashSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            if metadata.is_dir() {
                folders.push(entry.path());
            }
            expected.inodes += 1;
            if metadata.is_file() && seen.insert(metadata.ino()) {
                expected.bytes += metadata.len();
            }
        }
    }
    assert_eq!(quota.used(), expected, "{what}");
}
