//! Directories: listing them, working in them, and paths that begin at one.

use std::collections::BTreeSet;
use std::fs as std_fs;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

use wskill_sys::{fd, fs};

use crate::descriptors::file;
use crate::raw::{self, Out, at};
use crate::support::{self, Done, Failure, check, output, programs, refused, role, same};

programs! {
    list_entries, list_with_tiny_buffers, list_with_wild_cookies, list_while_removing, list_again, make_and_remove,
    working_directory, working_directory_of_children, working_directory_removed, from_a_directory, storage, prestats,
    created_by_wasi, seen_by_others,
}

/// An entry as `fd_readdir` tells it: cookie of the next, inode, type, name.
type Entry = (u64, u64, u8, Vec<u8>);

/// One call's entries that are whole, and how many bytes it filled.
fn read_some(fd: i32, size: usize, cookie: u64) -> Result<(Vec<Entry>, usize), Failure> {
    let buffer = vec![0u8; size];
    let mut out = Out::new();
    // SAFETY: the buffer is as long as said.
    support::raw(unsafe { raw::wasi::fd_readdir(fd, at(&buffer[..]), size as u32, cookie, out.at()) })?;
    let used = out.u32(0) as usize;
    check!(used <= size, "{used} bytes in a buffer of {size}");
    let mut rest = &std::hint::black_box(&buffer)[..used];
    let mut entries = Vec::new();
    while rest.len() >= 24 {
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| rest[at + index]));
        let length = (number(16) & 0xffff_ffff) as usize;
        if rest.len() < 24 + length {
            break;
        }
        entries.push((number(0), number(8), rest[20], rest[24..24 + length].to_vec()));
        rest = &rest[24 + length..];
    }
    Ok((entries, used))
}

/// All names, with a buffer of this size that grows when not even one entry fits.
fn list(fd: i32, size: usize) -> Result<Vec<Entry>, Failure> {
    let (mut all, mut cookie, mut room) = (Vec::new(), 0, size);
    loop {
        let (entries, used) = read_some(fd, room, cookie)?;
        match entries.last() {
            Some(last) => cookie = last.0,
            None if used < room => return Ok(all),
            None => room *= 2,
        }
        let ended = used < room && !entries.is_empty();
        all.extend(entries);
        if ended {
            return Ok(all);
        }
    }
}

fn names(entries: &[Entry]) -> BTreeSet<String> {
    entries.iter().map(|entry| String::from_utf8_lossy(&entry.3).into_owned()).collect()
}

fn many(folder: &str, count: usize) -> Result<(), Failure> {
    fs::mkdir(folder, 0o755)?;
    for number in 0..count {
        std_fs::write(format!("{folder}/{number:03}"), b"")?;
    }
    Ok(())
}

fn list_entries() -> Done {
    fs::mkdir("listed", 0o755)?;
    fs::mkdir("listed/dir", 0o755)?;
    file("listed/file", b"")?;
    fs::symlink("file", "listed/link")?;
    fs::mkfifo("listed/fifo", 0o600)?;
    let open = fs::open("listed", fs::O_RDONLY, 0)?;
    let entries = list(open.as_raw_fd(), 4096)?;
    same!(names(&entries), [".", "..", "dir", "fifo", "file", "link"].map(str::to_owned).into());
    for (_, inode, kind, name) in &entries {
        check!(*inode != 0);
        let path = Path::new("listed").join(String::from_utf8_lossy(name).as_ref());
        let stat = fs::lstat(&path)?;
        same!(*inode, stat.ino);
        let expected = match stat.file_type() {
            fs::S_IFDIR => 3,
            fs::S_IFREG => 4,
            fs::S_IFIFO => 6,
            _ => 7,
        };
        same!(*kind, expected);
    }
    let file = std_fs::File::open("listed/file")?;
    let mut out = Out::new();
    // SAFETY: nothing is written.
    refused!(unsafe { raw::wasi::fd_readdir(file.as_raw_fd(), out.at(), 64, 0, out.at()) }, ENOTDIR);
    refused!(std_fs::read_dir("missing").map(drop), ENOENT);
    Ok(())
}

fn list_with_tiny_buffers() -> Done {
    many("tiny", 40)?;
    let open = fs::open("tiny", fs::O_RDONLY, 0)?;
    let whole = names(&list(open.as_raw_fd(), 65536)?);
    same!(whole.len(), 42);
    // Even a buffer of one byte is filled, so that it is not taken for the end.
    for size in [1, 23, 24, 26, 27, 28, 100, 1000] {
        let (_, used) = read_some(open.as_raw_fd(), size, 0)?;
        same!(used, size);
        same!(names(&list(open.as_raw_fd(), size)?), whole);
    }
    let (entries, used) = read_some(open.as_raw_fd(), 0, 0)?;
    same!((entries.len(), used), (0, 0));
    Ok(())
}

fn list_with_wild_cookies() -> Done {
    many("wild", 3)?;
    let open = fs::open("wild", fs::O_RDONLY, 0)?;
    // Before anything was read, and past the end: no entry, no trap.
    for cookie in [5, 6, 1000, u64::from(u32::MAX), u64::MAX, i64::MAX as u64, 1 << 63] {
        let (entries, used) = read_some(open.as_raw_fd(), 4096, cookie)?;
        same!((entries.len(), used), (0, 0));
    }
    // In the middle it goes on where it said.
    let (entries, _) = read_some(open.as_raw_fd(), 4096, 0)?;
    for (index, entry) in entries.iter().enumerate() {
        same!(read_some(open.as_raw_fd(), 4096, entry.0)?.0.len(), entries.len() - index - 1);
    }
    // The root can be listed although 3 is not open.
    check!(names(&list(3, 4096)?).contains("tmp"));
    Ok(())
}

fn list_while_removing() -> Done {
    many("shrinking", 100)?;
    let mut seen = BTreeSet::new();
    for entry in std_fs::read_dir("shrinking")? {
        let entry = entry?;
        check!(seen.insert(entry.file_name()), "{:?} comes twice", entry.file_name());
        std_fs::remove_file(entry.path())?;
    }
    same!(seen.len(), 100);
    std_fs::remove_dir("shrinking")?;
    Ok(())
}

fn list_again() -> Done {
    many("again", 2)?;
    let open = fs::open("again", fs::O_RDONLY, 0)?;
    same!(list(open.as_raw_fd(), 4096)?.len(), 4);
    std_fs::write("again/new", b"")?;
    // From the beginning: as it is now.
    same!(list(open.as_raw_fd(), 4096)?.len(), 5);
    std_fs::remove_dir_all("again")?;
    check!(read_some(open.as_raw_fd(), 4096, 0).is_err(), "a removed directory can be listed");
    Ok(())
}

fn make_and_remove() -> Done {
    fs::mkdir("made", 0o755)?;
    refused!(fs::mkdir("made", 0o755), EEXIST);
    refused!(fs::mkdir("missing/made", 0o755), ENOENT);
    same!(fs::stat("made")?.nlink >= 1, true);
    std_fs::create_dir_all("made/a/b/c/d")?;
    std_fs::remove_dir_all("made")?;
    refused!(fs::stat("made"), ENOENT);
    refused!(std_fs::remove_dir("made"), ENOENT);
    // Removed while open: nothing can be made in it any more.
    fs::mkdir("gone", 0o755)?;
    let open = fs::open("gone", fs::O_RDONLY, 0)?;
    std_fs::remove_dir("gone")?;
    let mut out = Out::new();
    // SAFETY: the path is as long as said.
    let answer =
        unsafe { raw::kernel::open(open.as_raw_fd(), at("x"), 1, fs::O_WRONLY | fs::O_CREAT, 0o600, out.at()) };
    refused!(answer, ENOENT);
    Ok(())
}

fn working_directory() -> Done {
    let start = fs::getcwd()?;
    std_fs::create_dir_all("one/two")?;
    file("one/two/file", b"here")?;
    fs::chdir("one/two")?;
    same!(fs::getcwd()?, start.join("one/two"));
    same!(std_fs::read("file")?, b"here");
    same!(std::env::current_dir()?, start.join("one/two"));
    fs::chdir("..")?;
    same!(fs::getcwd()?, start.join("one"));
    refused!(fs::chdir("two/file"), ENOTDIR);
    refused!(fs::chdir("missing"), ENOENT);
    refused!(fs::chdir(""), ENOENT);
    same!(fs::getcwd()?, start.join("one"));
    // Through a link: where it leads.
    fs::symlink("two", "link")?;
    fs::chdir("link")?;
    same!(fs::getcwd()?, start.join("one/two"));
    fs::chdir("/")?;
    same!(fs::getcwd()?, Path::new("/"));
    fs::chdir("..")?;
    same!(fs::getcwd()?, Path::new("/"));
    check!(std_fs::read_to_string("etc/passwd")?.starts_with("root:"));
    let (mut out, short) = (Out::new(), [0u8; 0]);
    // SAFETY: no byte fits, so none is written.
    refused!(unsafe { raw::kernel::getcwd(at(&short), 0, out.at()) }, ERANGE);
    check!(out.untouched());
    // By descriptor.
    let open = fs::open("/tmp", fs::O_RDONLY, 0)?;
    // SAFETY: the path is as long as said.
    support::raw(unsafe { raw::kernel::chdir(open.as_raw_fd(), at("."), 1) })?;
    same!(fs::getcwd()?, Path::new("/tmp"));
    Ok(())
}

fn working_directory_of_children() -> Done {
    let start = fs::getcwd()?;
    fs::mkdir("child", 0o755)?;
    same!(output(&["show", "cwd"])?.0, format!("{}\n", start.display()));
    let (read, write) = support::pipe()?;
    let pid = role(&["show", "cwd"]).cwd("child").fd(1, write.as_raw_fd()).spawn()?;
    drop(write);
    support::reap(pid)?;
    let said = support::read_all(read.as_raw_fd())?;
    same!(String::from_utf8_lossy(&said), format!("{}\n", start.join("child").display()));
    // A child's chdir is its own.
    support::play(&["chdir", "child"])?;
    same!(fs::getcwd()?, start);
    file("plain", b"")?;
    refused!(role(&["show", "cwd"]).cwd("missing").spawn(), ENOENT);
    refused!(role(&["show", "cwd"]).cwd("plain").spawn(), ENOTDIR);
    Ok(())
}

fn working_directory_removed() -> Done {
    fs::mkdir("gone", 0o755)?;
    fs::chdir("gone")?;
    let path = fs::getcwd()?;
    std_fs::remove_dir(&path)?;
    refused!(fs::getcwd(), ENOENT);
    refused!(fs::open("new", fs::O_WRONLY | fs::O_CREAT, 0o600), ENOENT);
    refused!(fs::stat("."), ENOENT);
    // A child starts there all the same, and absolute paths work.
    same!(support::play(&["exit", "3"])?.shell_code(), 3);
    fs::chdir("/tmp")?;
    Ok(())
}

fn from_a_directory() -> Done {
    std_fs::create_dir_all("base/sub")?;
    file("base/file", b"")?;
    fs::symlink("file", "base/link")?;
    let base = fs::open("base", fs::O_RDONLY | fs::O_DIRECTORY, 0)?;
    check!(fs::stat_at(base.as_fd(), "file", true)?.same_file(&fs::stat("base/file")?));
    check!(fs::stat_at(base.as_fd(), "link", false)?.is_symlink());
    check!(fs::stat_at(base.as_fd(), "..", true)?.same_file(&fs::stat(".")?));
    check!(fs::stat_at(base.as_fd(), "/etc", true)?.same_file(&fs::stat("/etc")?));
    let plain = fs::open("base/file", fs::O_RDONLY, 0)?;
    refused!(fs::stat_at(plain.as_fd(), "x", true), ENOTDIR);
    // SAFETY: paths are as long as said; the numbers are not owned.
    unsafe {
        let (dir, mut out) = (base.as_raw_fd(), Out::new());
        support::raw(raw::kernel::mkdir(dir, at("made"), 4, 0o700))?;
        support::raw(raw::kernel::mkfifo(dir, at("fifo"), 4, 0o600))?;
        support::raw(raw::kernel::chmod(dir, at("made"), 4, 0o711, 0))?;
        support::raw(raw::kernel::access(dir, at("made"), 4, 1, 0))?;
        support::raw(raw::kernel::chown(dir, at("made"), 4, 0, 0, 0))?;
        support::raw(raw::kernel::utimens(dir, at("made"), 4, 1, 2, 0))?;
        support::raw(raw::kernel::statvfs(dir, at("made"), 4, out.at()))?;
        support::raw(raw::kernel::realpath(dir, at("link"), 4, out.at(), 512, out.at() + 500))?;
        support::raw(raw::wasi::path_unlink_file(dir, at("link"), 4))?;
        support::raw(raw::wasi::path_rename(dir, at("file"), 4, dir, at("renamed"), 7))?;
        support::raw(raw::wasi::path_create_directory(dir, at("new"), 3))?;
        support::raw(raw::wasi::path_remove_directory(dir, at("new"), 3))?;
        support::raw(raw::wasi::path_open(dir, 1, at("renamed"), 7, 0, 2, 0, 0, out.at()))?;
        support::raw(raw::wasi::fd_close(out.u32(0) as i32))?;
        refused!(raw::wasi::path_open(plain.as_raw_fd(), 1, at("x"), 1, 0, 2, 0, 0, out.at()), ENOTDIR);
    }
    same!(fs::stat("base/made")?.permissions(), 0o711);
    Ok(())
}

fn storage() -> Done {
    let here = fs::statvfs(".")?;
    check!(here.block_size > 0 && here.blocks_free <= here.blocks && !here.read_only);
    same!(here.name_max, 255);
    std_fs::write("filling", vec![1; 1 << 20])?;
    let after = fs::statvfs(".")?;
    check!(after.blocks_free + (1 << 20) / here.block_size <= here.blocks_free, "a file of 1 MiB takes no room");
    std_fs::remove_file("filling")?;
    same!(fs::statvfs(".")?.blocks_free, here.blocks_free);
    check!(fs::statvfs("/usr")?.read_only);
    refused!(fs::statvfs("missing"), ENOENT);
    Ok(())
}

fn prestats() -> Done {
    let mut out = Out::new();
    // SAFETY: `out` takes the answers.
    unsafe {
        use raw::wasi::{fd_prestat_dir_name, fd_prestat_get};
        support::raw(fd_prestat_get(3, out.at()))?;
        same!((out.u32(0), out.u32(4)), (0, 1));
        support::raw(fd_prestat_dir_name(3, out.at(), 1))?;
        same!(out.u8(0), b'/');
        refused!(fd_prestat_dir_name(3, out.at(), 0), ENAMETOOLONG);
        for other in [0, 2, 4, -1, i32::MIN, i32::MAX] {
            refused!(fd_prestat_get(other, out.at()), EBADF);
        }
        // Whatever else is open there.
        fd::dup2(0, 3, 0)?;
        support::raw(fd_prestat_get(3, out.at()))?;
        fd::dup2(0, 4, 0)?;
        refused!(fd_prestat_get(4, out.at()), EBADF);
    }
    Ok(())
}

fn created_by_wasi() -> Done {
    std_fs::create_dir("by-std")?;
    same!(fs::stat("by-std")?.permissions(), 0o755);
    std_fs::write("by-std/file", b"x")?;
    same!(fs::stat("by-std/file")?.permissions(), 0o644);
    std_fs::copy("by-std/file", "by-std/copy")?;
    same!(std_fs::read("by-std/copy")?, b"x");
    check!(std_fs::exists("by-std/copy")?);
    same!(std_fs::read_dir("by-std")?.count(), 2);
    Ok(())
}

fn seen_by_others() -> Done {
    // What one process makes another sees at once.
    std_fs::write("note", b"for the child")?;
    let open = std_fs::File::open("note")?;
    let (read, write) = support::pipe()?;
    let pid = role(&["cat"]).fd(0, open.as_raw_fd()).fd(1, write.as_raw_fd()).spawn()?;
    drop(write);
    same!(support::read_all(read.as_raw_fd())?, b"for the child");
    support::reap(pid)?;
    let out = fs::open("answer", fs::O_WRONLY | fs::O_CREAT, 0o644)?;
    let pid = role(&["say", "back"]).fd(1, out.as_raw_fd()).spawn()?;
    support::reap(pid)?;
    same!(std_fs::read("answer")?, b"back\n");
    Ok(())
}
