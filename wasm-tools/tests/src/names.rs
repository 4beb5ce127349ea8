//! Names: renaming, links, and what counts as a path.

use std::ffi::OsStr;
use std::fs as std_fs;
use std::io::Read;
use std::os::wasi::ffi::OsStrExt;
use std::path::Path;

use wskill_sys::fs;

use crate::descriptors::file;
use crate::raw::{self, Out, at};
use crate::support::{self, Done, check, programs, refused, same};

programs! {
    rename_replaces, rename_refuses, rename_moves_trees, rename_of_open_files, rename_across_mounts, hard_links,
    symbolic_links, link_loops, read_links, real_paths, path_lengths, path_dots, path_bytes, unlink_refuses,
    root_is_the_end,
}

fn rename_replaces() -> Done {
    file("a", b"A")?;
    file("b", b"B")?;
    let old = fs::stat("a")?;
    std_fs::rename("a", "b")?;
    refused!(fs::stat("a"), ENOENT);
    check!(fs::stat("b")?.same_file(&old));
    same!(std_fs::read("b")?, b"A");
    // Onto itself, and onto another name of the same file: nothing happens.
    std_fs::rename("b", "b")?;
    std_fs::hard_link("b", "c")?;
    std_fs::rename("b", "c")?;
    check!(fs::stat("b").is_ok() && fs::stat("c").is_ok());
    // An empty directory may be replaced by a directory.
    fs::mkdir("full", 0o755)?;
    file("full/x", b"")?;
    fs::mkdir("empty", 0o755)?;
    std_fs::rename("full", "empty")?;
    check!(fs::stat("empty/x").is_ok() && fs::stat("full").is_err());
    // A link itself is moved, not what it leads to.
    fs::symlink("b", "link")?;
    std_fs::rename("link", "moved")?;
    check!(fs::lstat("moved")?.is_symlink() && fs::stat("b").is_ok());
    Ok(())
}

fn rename_refuses() -> Done {
    file("plain", b"")?;
    fs::mkdir("folder", 0o755)?;
    fs::mkdir("full", 0o755)?;
    file("full/x", b"")?;
    refused!(std_fs::rename("missing", "x"), ENOENT);
    refused!(std_fs::rename("plain", "folder"), EISDIR);
    refused!(std_fs::rename("folder", "plain"), ENOTDIR);
    refused!(std_fs::rename("folder", "full"), ENOTEMPTY);
    refused!(std_fs::rename("folder", "folder/below"), EINVAL);
    refused!(std_fs::rename("full/x", "full"), ENOTEMPTY | EISDIR);
    refused!(std_fs::rename("plain/", "other"), ENOTDIR);
    refused!(std_fs::rename("plain", "missing/other"), ENOENT);
    refused!(std_fs::rename("plain", "plain/other"), ENOTDIR);
    refused!(std_fs::rename("folder/.", "other"), EINVAL | EBUSY);
    refused!(std_fs::rename("folder/..", "other"), EINVAL | EBUSY);
    // libc makes `.` of the root.
    refused!(std_fs::rename("/", "other"), EBUSY | EINVAL);
    refused!(std_fs::rename("/tmp", "other"), EBUSY);
    Ok(())
}

fn rename_moves_trees() -> Done {
    std_fs::create_dir_all("tree/one/two")?;
    file("tree/one/two/leaf", b"leaf")?;
    std_fs::rename("tree", "forest")?;
    same!(std_fs::read("forest/one/two/leaf")?, b"leaf");
    refused!(fs::stat("tree/one"), ENOENT);
    fs::mkdir("deep", 0o755)?;
    std_fs::rename("forest/one", "deep/one")?;
    // `..` follows.
    same!(std_fs::read("deep/one/../one/two/leaf")?, b"leaf");
    check!(fs::stat("deep/one/..")?.same_file(&fs::stat("deep")?));
    Ok(())
}

fn rename_of_open_files() -> Done {
    let mut open = file("open", b"stays")?;
    std_fs::rename("open", "renamed")?;
    file("open", b"another")?;
    let mut all = String::new();
    open.read_to_string(&mut all)?;
    same!(all, "stays");
    // Replaced while open: the old content stays reachable.
    let mut replaced = std_fs::File::open("renamed")?;
    std_fs::rename("open", "renamed")?;
    all.clear();
    replaced.read_to_string(&mut all)?;
    same!(all, "stays");
    Ok(())
}

fn rename_across_mounts() -> Done {
    file("/tmp/there", b"")?;
    file("/home/user/here", b"")?;
    refused!(std_fs::rename("/tmp/there", "/home/user/there"), EXDEV);
    refused!(std_fs::hard_link("/tmp/there", "/home/user/there"), EXDEV);
    refused!(std_fs::rename("/etc/passwd", "/tmp/passwd"), EROFS | EXDEV);
    check!(!fs::stat("/tmp")?.same_file(&fs::stat("/home/user")?));
    check!(fs::stat("/tmp")?.dev != fs::stat("/home/user")?.dev);
    Ok(())
}

fn hard_links() -> Done {
    file("original", b"one")?;
    std_fs::hard_link("original", "second")?;
    let (one, other) = (fs::stat("original")?, fs::stat("second")?);
    check!(one.same_file(&other));
    same!(one.nlink, 2);
    std_fs::write("second", b"both")?;
    same!(std_fs::read("original")?, b"both");
    std_fs::remove_file("original")?;
    same!(fs::stat("second")?.nlink, 1);
    refused!(std_fs::hard_link("missing", "x"), ENOENT);
    file("there", b"")?;
    refused!(std_fs::hard_link("second", "there"), EEXIST);
    fs::mkdir("folder", 0o755)?;
    refused!(std_fs::hard_link("folder", "x"), EPERM);
    // A link to a link, unless it is to be followed.
    fs::symlink("second", "soft")?;
    // SAFETY: paths are as long as said.
    unsafe {
        let (cwd, out) = (fs::open(".", fs::O_RDONLY, 0)?, &mut Out::new());
        let dir = std::os::fd::AsRawFd::as_raw_fd(&cwd);
        support::raw(raw::wasi::path_link(dir, 0, at("soft"), 4, dir, at("soft2"), 5))?;
        support::raw(raw::wasi::path_link(dir, 1, at("soft"), 4, dir, at("hard2"), 5))?;
        support::raw(raw::wasi::path_filestat_get(dir, 0, at("hard2"), 5, out.at()))?;
        same!((out.u8(16), out.u64(24)), (4, 2));
    }
    check!(fs::lstat("soft2")?.is_symlink());
    Ok(())
}

fn symbolic_links() -> Done {
    std_fs::create_dir_all("real/sub")?;
    file("real/file", b"found")?;
    fs::symlink("real", "to-dir")?;
    fs::symlink("../file", "real/sub/up")?;
    fs::symlink(fs::getcwd()?.join("real/file"), "absolute")?;
    same!(std_fs::read("to-dir/file")?, b"found");
    same!(std_fs::read("to-dir/sub/up")?, b"found");
    same!(std_fs::read("absolute")?, b"found");
    // `..` after a link is the parent of where it leads.
    check!(fs::stat("to-dir/..")?.same_file(&fs::stat(".")?));
    fs::symlink("real/sub", "to-sub")?;
    check!(fs::stat("to-sub/..")?.same_file(&fs::stat("real")?));
    check!(fs::lstat("to-dir")?.is_symlink() && fs::stat("to-dir")?.is_dir());
    // With a slash at the end it is followed.
    check!(fs::lstat("to-dir/")?.is_dir());
    same!(fs::lstat("to-dir")?.size, 4);
    refused!(fs::symlink("x", "to-dir"), EEXIST);
    // Removing the link leaves its target.
    std_fs::remove_file("to-dir")?;
    check!(fs::stat("real/file").is_ok());
    fs::symlink("nowhere", "broken")?;
    refused!(fs::stat("broken"), ENOENT);
    check!(fs::lstat("broken").is_ok());
    refused!(fs::mkdir("broken", 0o755), EEXIST);
    // A link out of the mount, into the root and back.
    fs::symlink("/etc/passwd", "out")?;
    check!(std_fs::read_to_string("out")?.starts_with("root:"));
    fs::symlink("../../../../../../../../etc/passwd", "far-out")?;
    check!(std_fs::read_to_string("far-out")?.starts_with("root:"));
    refused!(std_fs::write("out", b"x"), EROFS);
    Ok(())
}

fn link_loops() -> Done {
    fs::symlink("loop", "loop")?;
    refused!(fs::stat("loop"), ELOOP);
    refused!(fs::open("loop", fs::O_RDONLY, 0), ELOOP);
    fs::symlink("pong", "ping")?;
    fs::symlink("ping", "pong")?;
    refused!(fs::stat("ping/x"), ELOOP);
    // A chain of forty holds, of forty-one not.
    file("chain0", b"end")?;
    for number in 1..=41 {
        fs::symlink(format!("chain{}", number - 1), format!("chain{number}"))?;
    }
    same!(std_fs::read("chain40")?, b"end");
    refused!(std_fs::read("chain41"), ELOOP);
    Ok(())
}

fn read_links() -> Done {
    fs::symlink("some/where", "link")?;
    same!(fs::readlink("link")?, Path::new("some/where"));
    same!(std_fs::read_link("link")?, Path::new("some/where"));
    file("plain", b"")?;
    refused!(fs::readlink("plain"), EINVAL);
    refused!(fs::readlink("missing"), ENOENT);
    let (cwd, mut out, buffer) = (fs::open(".", fs::O_RDONLY, 0)?, Out::new(), [0u8; 4]);
    // SAFETY: path and buffer are as long as said.
    unsafe {
        let dir = std::os::fd::AsRawFd::as_raw_fd(&cwd);
        // WASI cuts without a word, the kernel's own call does not.
        support::raw(raw::wasi::path_readlink(dir, at("link"), 4, at(&buffer), 4, out.at()))?;
        same!((out.u32(0), std::hint::black_box(&buffer)), (4, b"some"));
        refused!(raw::kernel::readlink(dir, at("link"), 4, at(&buffer), 4, out.at()), ERANGE);
        // A link that was made by WASI's call.
        support::raw(raw::wasi::path_symlink(at("x"), 1, dir, at("made"), 4))?;
        refused!(raw::wasi::path_symlink(at("x"), 0, dir, at("empty"), 5), ENOENT | EINVAL);
    }
    same!(fs::readlink("made")?, Path::new("x"));
    Ok(())
}

fn real_paths() -> Done {
    let cwd = fs::getcwd()?;
    std_fs::create_dir_all("real/sub")?;
    fs::symlink("real", "link")?;
    same!(fs::realpath("link/sub/../sub/.")?, cwd.join("real/sub"));
    same!(fs::realpath(".")?, cwd);
    same!(fs::realpath("/bin")?, Path::new("/usr/bin"));
    same!(fs::realpath("///")?, Path::new("/"));
    refused!(fs::realpath("link/missing"), ENOENT);
    refused!(fs::realpath(""), ENOENT);
    Ok(())
}

fn path_lengths() -> Done {
    let name = "n".repeat(255);
    file(&name, b"")?;
    refused!(fs::stat("n".repeat(256)), ENAMETOOLONG);
    refused!(fs::open("n".repeat(256), fs::O_WRONLY | fs::O_CREAT, 0o600), ENAMETOOLONG);
    // 4,096 bytes are a path, 4,097 are not.
    let long = |length: usize| "./".repeat(length / 2) + &"x".repeat(length % 2);
    check!(fs::stat(long(4096)).is_ok());
    refused!(fs::stat(long(4097)), ENAMETOOLONG);
    refused!(fs::stat(long(100_000)), ENAMETOOLONG);
    refused!(std_fs::metadata(long(4097)), ENAMETOOLONG);
    refused!(fs::mkdir(long(4097), 0o755), ENAMETOOLONG);
    refused!(fs::chdir(long(4097)), ENAMETOOLONG);
    refused!(fs::symlink("t".repeat(4097), "link"), ENAMETOOLONG);
    Ok(())
}

fn path_dots() -> Done {
    fs::mkdir("d", 0o755)?;
    file("d/f", b"f")?;
    for same_path in ["d/f", "./d/f", "d/./f", "d//f", "d/../d/f", ".//d///.//f", "d/../d/../d/f"] {
        same!(std_fs::read(same_path)?, b"f");
    }
    refused!(fs::stat("missing/../d/f"), ENOENT);
    refused!(fs::stat("d/f/../f"), ENOTDIR);
    check!(fs::stat("d/.")?.same_file(&fs::stat("d")?));
    refused!(fs::mkdir("d/.", 0o755), EEXIST);
    refused!(fs::mkdir("d/..", 0o755), EEXIST);
    refused!(fs::mkdir("/", 0o755), EEXIST);
    fs::mkdir("with-slash/", 0o755)?;
    Ok(())
}

fn path_bytes() -> Done {
    // Names are bytes; only `/` and NUL are special.
    for name in [&b"with space"[..], b"new\nline", b"-dash", b"\\back", b"colon:", b"*?[", "\u{e4}\u{1f600}".as_bytes()]
    {
        let name = OsStr::from_bytes(name);
        std_fs::write(name, b"x")?;
        check!(std_fs::read_dir(".")?.any(|entry| entry.is_ok_and(|entry| entry.file_name() == name)), "{name:?}");
        std_fs::remove_file(name)?;
    }
    // Not UTF-8: kept where the file system can, refused in an orderly way where not.
    let name = OsStr::from_bytes(b"\xff\xfe");
    match fs::open(name, fs::O_WRONLY | fs::O_CREAT, 0o600) {
        Ok(_) => {
            check!(std_fs::read_dir(".")?.any(|entry| entry.is_ok_and(|entry| entry.file_name() == name)));
            std_fs::remove_file(name)?;
        }
        Err(errno) => same!(errno, wskill_sys::Errno::EILSEQ),
    }
    refused!(fs::stat(OsStr::from_bytes(b"a\0b")), EINVAL);
    refused!(fs::open(OsStr::from_bytes(b"\0"), fs::O_WRONLY | fs::O_CREAT, 0o600), EINVAL);
    Ok(())
}

fn unlink_refuses() -> Done {
    fs::mkdir("folder", 0o755)?;
    file("folder/x", b"")?;
    refused!(std_fs::remove_file("folder"), EISDIR | EPERM);
    refused!(std_fs::remove_dir("folder"), ENOTEMPTY);
    refused!(std_fs::remove_dir("folder/x"), ENOTDIR);
    refused!(std_fs::remove_file("missing"), ENOENT);
    refused!(std_fs::remove_file("folder/x/"), ENOTDIR);
    refused!(std_fs::remove_dir("folder/."), EINVAL);
    refused!(std_fs::remove_dir("folder/.."), ENOTEMPTY | EBUSY);
    refused!(std_fs::remove_dir("/"), EBUSY | EINVAL);
    refused!(std_fs::remove_dir("/tmp"), EBUSY);
    fs::symlink("folder", "link")?;
    refused!(std_fs::remove_dir("link"), ENOTDIR);
    std_fs::remove_file("folder/x")?;
    std_fs::remove_dir("folder")?;
    Ok(())
}

fn root_is_the_end() -> Done {
    let root = fs::stat("/")?;
    check!(fs::stat("/..")?.same_file(&root));
    check!(fs::stat("/../../..")?.same_file(&root));
    check!(fs::stat("/tmp/../..")?.same_file(&root));
    check!(std_fs::read_to_string("/../etc/../../etc/passwd")?.starts_with("root:"));
    let ups = "../".repeat(100) + "etc/passwd";
    check!(std_fs::read_to_string(ups)?.starts_with("root:"));
    // A relative path from the preopened root ends there too.
    let mut out = Out::new();
    // SAFETY: the path is as long as said.
    unsafe {
        support::raw(raw::wasi::path_filestat_get(3, 1, at("../.."), 5, out.at()))?;
        same!((out.u64(0), out.u64(8)), (root.dev, root.ino));
        support::raw(raw::wasi::path_filestat_get(3, 1, at("/"), 1, out.at()))?;
        same!(out.u64(8), root.ino);
    }
    Ok(())
}
