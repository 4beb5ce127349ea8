//! Regular files: opening, appending, sizes, times, modes.

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;

use wskill_sys::fd;
use wskill_sys::fs::{self, Resource, SetTime};
use wskill_sys::process::Status;

use crate::descriptors::file;
use crate::raw::{self, Out, at, io_vec};
use crate::support::{self, Done, check, programs, reap, refused, role, same};

programs! {
    open_creates, open_refuses, open_every_flag, append_goes_to_the_end, append_is_shared_by_processes,
    unlinked_file_lives_on, holes, file_size_limit, times, modes, umask_applies, set_id_bits_are_dropped, owners,
    access_rights, read_only_mounts, big_reads_are_cut,
}

fn open_creates() -> Done {
    let made = fs::open("made", fs::O_RDWR | fs::O_CREAT | fs::O_EXCL, 0o600)?;
    same!(fs::fstat(made.as_raw_fd())?.permissions(), 0o600);
    fd::write_all(made.as_raw_fd(), b"content")?;
    refused!(fs::open("made", fs::O_RDWR | fs::O_CREAT | fs::O_EXCL, 0o600), EEXIST);
    fs::open("made", fs::O_RDWR | fs::O_CREAT, 0o777)?;
    same!(fs::stat("made")?.size, 7);
    same!(fs::stat("made")?.permissions(), 0o600);
    fs::open("made", fs::O_WRONLY | fs::O_TRUNC, 0)?;
    same!(fs::stat("made")?.size, 0);
    // A mode without writing does not bind the one who makes it.
    let locked = fs::open("locked", fs::O_WRONLY | fs::O_CREAT | fs::O_EXCL, 0o400)?;
    fd::write_all(locked.as_raw_fd(), b"x")?;
    // Exclusive creation does not follow even a link that leads nowhere.
    fs::symlink("nowhere", "dangling")?;
    refused!(fs::open("dangling", fs::O_WRONLY | fs::O_CREAT | fs::O_EXCL, 0o600), EEXIST);
    fs::open("dangling", fs::O_WRONLY | fs::O_CREAT, 0o600)?;
    check!(fs::stat("nowhere")?.is_file());
    Ok(())
}

fn open_refuses() -> Done {
    file("plain", b"")?;
    fs::mkdir("folder", 0o755)?;
    fs::symlink("plain", "link")?;
    refused!(fs::open("missing", fs::O_RDONLY, 0), ENOENT);
    refused!(fs::open("", fs::O_RDONLY, 0), ENOENT);
    refused!(fs::open("missing/below", fs::O_WRONLY | fs::O_CREAT, 0o600), ENOENT);
    refused!(fs::open("plain/below", fs::O_RDONLY, 0), ENOTDIR);
    refused!(fs::open("plain/", fs::O_RDONLY, 0), ENOTDIR);
    refused!(fs::open("plain/.", fs::O_RDONLY, 0), ENOTDIR);
    refused!(fs::open("plain/../plain", fs::O_RDONLY, 0), ENOTDIR);
    refused!(fs::open("plain", fs::O_RDONLY | fs::O_DIRECTORY, 0), ENOTDIR);
    refused!(fs::open("folder", fs::O_WRONLY, 0), EISDIR);
    refused!(fs::open("folder", fs::O_RDWR, 0), EISDIR);
    refused!(fs::open("folder", fs::O_RDONLY | fs::O_CREAT, 0o600), EISDIR);
    refused!(fs::open("new/", fs::O_WRONLY | fs::O_CREAT, 0o600), EISDIR);
    refused!(fs::open("link", fs::O_RDONLY | fs::O_NOFOLLOW, 0), ELOOP);
    refused!(fs::open("plain", 3, 0), EINVAL);
    fs::open("link", fs::O_RDONLY, 0)?;
    fs::open("folder/", fs::O_RDONLY | fs::O_DIRECTORY, 0)?;
    Ok(())
}

fn open_every_flag() -> Done {
    const READ: u64 = 1 << 1;
    const WRITE: u64 = 1 << 6;
    // Every combination of lookup, open and descriptor flags and of rights, on what is there and what is not: none
    // may trap, and what opens must be closable.
    file("flagged", b"x")?;
    fs::mkdir("flagdir", 0o755)?;
    fs::symlink("flagged", "flaglink")?;
    let mut opened = 0;
    for name in ["flagged", "flagdir", "flaglink", "flagged/", "absent/x", ".", "..", "/", "/dev/null", "//dev//zero"] {
        for lookup in 0..2 {
            for oflags in 0..16 {
                for fdflags in [0, 1, 4, 5, 31] {
                    for rights in [0, READ, READ | WRITE, u64::MAX] {
                        let mut out = Out::new();
                        // SAFETY: the path is as long as said, `out` takes the number.
                        let answer = unsafe {
                            let (path, length) = (at(name), name.len() as u32);
                            raw::wasi::path_open(3, lookup, path, length, oflags, rights, 0, fdflags, out.at())
                        };
                        if answer == 0 {
                            opened += 1;
                            // SAFETY: nobody owns the number.
                            support::raw(unsafe { raw::wasi::fd_close(out.u32(0) as i32) })?;
                        } else {
                            check!(out.untouched(), "{name} {oflags:x} {fdflags:x} writes although it fails");
                        }
                    }
                }
            }
        }
    }
    check!(opened > 100, "only {opened} combinations open anything");
    for bad in [-1, 1 << 16, i32::MAX, i32::MIN] {
        let mut out = Out::new();
        // SAFETY: as above.
        unsafe {
            refused!(raw::wasi::path_open(3, 0, at("x"), 1, bad, 0, 0, 0, out.at()), EINVAL);
            refused!(raw::wasi::path_open(3, 0, at("x"), 1, 0, 0, 0, bad, out.at()), EINVAL);
        }
    }
    Ok(())
}

fn append_goes_to_the_end() -> Done {
    file("log", b"start ")?;
    let mut log = OpenOptions::new().read(true).append(true).open("log")?;
    log.seek(SeekFrom::Start(0))?;
    log.write_all(b"one ")?;
    same!(log.stream_position()?, 10);
    // Another writer's bytes are not overwritten.
    OpenOptions::new().append(true).open("log")?.write_all(b"two ")?;
    log.seek(SeekFrom::Start(2))?;
    log.write_all(b"three")?;
    same!(std::fs::read_to_string("log")?, "start one two three");
    // Reading still happens where the offset is.
    log.seek(SeekFrom::Start(6))?;
    let mut part = [0; 3];
    log.read_exact(&mut part)?;
    same!(&part, b"one");
    // The flag comes and goes.
    fd::set_status_flags(log.as_raw_fd(), 0)?;
    log.seek(SeekFrom::Start(0))?;
    log.write_all(b"S")?;
    check!(std::fs::read_to_string("log")?.starts_with("Start"));
    Ok(())
}

fn append_is_shared_by_processes() -> Done {
    file("shared-log", b"")?;
    let mut pids = Vec::new();
    for letter in ["a", "b", "c", "d"] {
        pids.push(role(&["append", "shared-log", letter, "150"]).spawn()?);
    }
    for pid in pids {
        same!(reap(pid)?, Status::Exited(0));
    }
    let all = std::fs::read_to_string("shared-log")?;
    same!(all.len(), 4 * 150 * 200);
    for line in all.lines() {
        let first = line.chars().next().unwrap_or('?');
        check!(line.len() == 199 && line.chars().all(|letter| letter == first), "a torn record: {line}");
    }
    Ok(())
}

fn unlinked_file_lives_on() -> Done {
    let mut ghost = file("ghost", b"still here")?;
    std::fs::remove_file("ghost")?;
    refused!(fs::stat("ghost"), ENOENT);
    let mut all = String::new();
    ghost.read_to_string(&mut all)?;
    same!(all, "still here");
    ghost.write_all(b"!")?;
    let stat = fs::fstat(ghost.as_raw_fd())?;
    same!((stat.nlink, stat.size), (0, 11));
    // The name may be used again for another.
    file("ghost", b"new")?;
    same!(fs::fstat(ghost.as_raw_fd())?.size, 11);
    check!(!fs::stat("ghost")?.same_file(&stat));
    Ok(())
}

fn holes() -> Done {
    let mut sparse = file("sparse", b"")?;
    sparse.seek(SeekFrom::Start(1 << 20))?;
    sparse.write_all(b"end")?;
    same!(fs::stat("sparse")?.size, (1 << 20) + 3);
    sparse.seek(SeekFrom::Start(500_000))?;
    let mut part = [1; 100];
    sparse.read_exact(&mut part)?;
    same!(part, [0; 100]);
    // What was cut off does not come back.
    sparse.set_len(10)?;
    sparse.set_len(1 << 20)?;
    sparse.seek(SeekFrom::End(-5))?;
    let mut last = Vec::new();
    sparse.read_to_end(&mut last)?;
    same!(last, [0; 5]);
    Ok(())
}

fn file_size_limit() -> Done {
    let Some(limit) = fs::rlimit(Resource::FileSize)? else { return Ok(()) };
    let file = file("large", b"")?;
    let mut out = Out::new();
    // SAFETY: the buffer is as long as said.
    unsafe {
        let mut write = |offset| raw::wasi::fd_pwrite(file.as_raw_fd(), at(&io_vec(b"xy")), 1, offset, out.at());
        refused!(write(limit), EFBIG);
        refused!(write(u64::MAX), EINVAL | EFBIG);
        refused!(write(i64::MAX as u64), EINVAL | EFBIG);
        refused!(write(1 << 63), EINVAL | EFBIG);
    }
    same!(fs::stat("large")?.size, 0);
    Ok(())
}

fn times() -> Done {
    file("timed", b"")?;
    fs::utimens("timed", SetTime::At(1_000_000_001), SetTime::At(2_000_000_002), true)?;
    let stat = fs::stat("timed")?;
    same!((stat.atime_ns, stat.mtime_ns), (1_000_000_001, 2_000_000_002));
    fs::utimens("timed", SetTime::Omit, SetTime::At(3_000_000_000), true)?;
    let stat = fs::stat("timed")?;
    same!((stat.atime_ns, stat.mtime_ns), (1_000_000_001, 3_000_000_000));
    fs::utimens("timed", SetTime::Now, SetTime::Omit, true)?;
    let stat = fs::stat("timed")?;
    check!(stat.atime_ns > 1_500_000_000_000_000_000, "the time of access is {}", stat.atime_ns);
    same!(stat.mtime_ns, 3_000_000_000);
    // Writing moves the time of change; a second look shows the same.
    std::fs::write("timed", b"new")?;
    let after = fs::stat("timed")?;
    check!(after.mtime_ns > stat.mtime_ns);
    same!(fs::stat("timed")?.mtime_ns, after.mtime_ns);
    // WASI's own calls.
    let file = std::fs::File::open("timed")?;
    let mut out = Out::new();
    // SAFETY: plain numbers, a path as long as said, `out` takes the answer.
    unsafe {
        use raw::wasi as w;
        support::raw(w::path_filestat_set_times(3, 1, at("/dev/../tmp"), 11, 5, 6, 0))?;
        support::raw(w::fd_filestat_set_times(file.as_raw_fd(), 7, 8, 1 | 4))?;
        support::raw(w::fd_filestat_get(file.as_raw_fd(), out.at()))?;
        same!((out.u64(40), out.u64(48)), (7, 8));
        refused!(w::fd_filestat_set_times(file.as_raw_fd(), 7, 8, 1 | 2), EINVAL);
        refused!(w::fd_filestat_set_times(file.as_raw_fd(), 7, 8, -1), EINVAL);
        refused!(w::fd_filestat_set_times(file.as_raw_fd(), u64::MAX, 8, 1), EINVAL);
    }
    refused!(fs::utimens("/usr/bin", SetTime::Now, SetTime::Now, true), EROFS);
    refused!(fs::utimens("missing", SetTime::Now, SetTime::Now, true), ENOENT);
    // A link has times of its own.
    fs::symlink("timed", "timed-link")?;
    fs::utimens("timed-link", SetTime::At(9), SetTime::At(10), false)?;
    check!(fs::stat("timed")?.mtime_ns != 10);
    same!(fs::lstat("timed-link")?.mtime_ns, 10);
    Ok(())
}

fn modes() -> Done {
    let open = file("mode", b"")?;
    fs::chmod("mode", 0o751)?;
    same!(fs::stat("mode")?.permissions(), 0o751);
    same!(fs::stat("mode")?.file_type(), fs::S_IFREG);
    fs::fchmod(open.as_raw_fd(), 0o604)?;
    same!(fs::stat("mode")?.permissions(), 0o604);
    fs::mkdir("moded", 0o700)?;
    same!(fs::stat("moded")?.permissions(), 0o700);
    fs::chmod("moded", 0o1777)?;
    same!(fs::stat("moded")?.permissions(), 0o1777);
    // As uid 0 the guest is not bound by modes when it opens.
    fs::chmod("mode", 0)?;
    fs::open("mode", fs::O_RDWR, 0)?;
    refused!(fs::chmod("missing", 0o600), ENOENT);
    refused!(fs::chmod("/usr/bin", 0o777), EROFS);
    Ok(())
}

fn umask_applies() -> Done {
    same!(fs::umask(0o027), 0o022);
    fs::open("masked", fs::O_WRONLY | fs::O_CREAT, 0o666)?;
    same!(fs::stat("masked")?.permissions(), 0o640);
    fs::mkdir("masked-dir", 0o777)?;
    same!(fs::stat("masked-dir")?.permissions(), 0o750);
    std::fs::write("masked-std", b"")?;
    same!(fs::stat("masked-std")?.permissions(), 0o640);
    std::fs::create_dir("masked-std-dir")?;
    same!(fs::stat("masked-std-dir")?.permissions(), 0o750);
    // Only the low nine bits count; chmod does not ask it.
    same!(fs::umask(0o7000), 0o027);
    same!(fs::umask(0o022), 0);
    fs::chmod("masked", 0o777)?;
    same!(fs::stat("masked")?.permissions(), 0o777);
    Ok(())
}

fn set_id_bits_are_dropped() -> Done {
    file("set-id", b"")?;
    fs::chmod("set-id", 0o6755)?;
    same!(fs::stat("set-id")?.permissions(), 0o755);
    fs::open("set-id-new", fs::O_WRONLY | fs::O_CREAT, 0o6755)?;
    same!(fs::stat("set-id-new")?.permissions(), 0o755);
    fs::mkdir("set-id-dir", 0o2755)?;
    same!(fs::stat("set-id-dir")?.permissions() & 0o6000, 0);
    Ok(())
}

fn owners() -> Done {
    file("owned", b"")?;
    let stat = fs::stat("owned")?;
    same!((stat.uid, stat.gid), (0, 0));
    fs::chown("owned", 1234, 1234, true)?;
    same!(fs::stat("owned")?.uid, 0);
    refused!(fs::chown("missing", 0, 0, true), ENOENT);
    refused!(fs::chown("/usr/bin", 0, 0, true), EROFS);
    Ok(())
}

fn access_rights() -> Done {
    file("plain", b"")?;
    fs::chmod("plain", 0o600)?;
    fs::access("plain", fs::F_OK)?;
    fs::access("plain", fs::R_OK | fs::W_OK)?;
    refused!(fs::access("plain", fs::X_OK), EACCES);
    fs::chmod("plain", 0o100)?;
    fs::access("plain", fs::X_OK | fs::R_OK | fs::W_OK)?;
    fs::access(".", fs::X_OK | fs::W_OK)?;
    fs::access("/usr/bin", fs::R_OK | fs::X_OK)?;
    refused!(fs::access("/usr/bin", fs::W_OK), EROFS);
    fs::access("/dev/null", fs::W_OK)?;
    refused!(fs::access("missing", fs::F_OK), ENOENT);
    refused!(fs::access("plain", 8), EINVAL);
    Ok(())
}

fn read_only_mounts() -> Done {
    let program = format!("/usr/bin/{}", support::COMMAND);
    refused!(fs::open(&program, fs::O_WRONLY, 0), EROFS);
    refused!(fs::open(&program, fs::O_RDONLY | fs::O_TRUNC, 0), EROFS);
    refused!(fs::open("/usr/bin/new", fs::O_WRONLY | fs::O_CREAT, 0o644), EROFS);
    refused!(fs::mkdir("/etc/new", 0o755), EROFS);
    refused!(std::fs::remove_file(&program), EROFS);
    refused!(std::fs::remove_dir("/usr/share"), EROFS);
    refused!(fs::symlink("x", "/etc/link"), EROFS);
    refused!(std::fs::rename(&program, "/usr/bin/other"), EROFS);
    refused!(std::fs::hard_link("/etc/passwd", "/etc/passwd2"), EROFS);
    // Reading is free.
    check!(std::fs::read_to_string("/etc/passwd")?.starts_with("root:"));
    // What can only be searched goes by name through `..` too.
    refused!(fs::open("/usr/bin/../lib/new", fs::O_WRONLY | fs::O_CREAT, 0o644), EROFS);
    let read = std::fs::File::open("/etc/passwd")?;
    // SAFETY: plain numbers.
    unsafe {
        refused!(raw::wasi::fd_filestat_set_times(read.as_raw_fd(), 1, 1, 5), EROFS);
        refused!(raw::kernel::fchmod(read.as_raw_fd(), 0o777), EROFS);
    }
    Ok(())
}

fn big_reads_are_cut() -> Done {
    let mut file = file("big", &vec![3; 3 << 20])?;
    let mut buffer = vec![0; 3 << 20];
    // One call moves 1 MiB at most, as POSIX allows.
    same!(file.read(&mut buffer)?, 1 << 20);
    file.rewind()?;
    same!(file.write(&buffer)?, 1 << 20);
    file.rewind()?;
    let mut all = Vec::new();
    file.read_to_end(&mut all)?;
    same!(all.len(), 3 << 20);
    Ok(())
}
