//! Descriptor numbers, what they share, and what moves with them.

use std::fs::OpenOptions;
use std::io::{IsTerminal, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use wskill_sys::fs::{self, Resource};
use wskill_sys::{Errno, fd};

use crate::raw::{self, IoVec, Out, at, io_vec};
use crate::support::{self, Done, check, pipe, programs, read_all, refused, same};

programs! {
    lowest_free_number, dup_shares_offset, dup2_closes_its_target, dup_clears_close_on_exec, close_on_exec_flag,
    status_flags, descriptor_limit, open_at_the_limit_changes_nothing, descriptor_three_is_free, closed_descriptors,
    seek_whences, positioned_io_keeps_the_offset, renumber, vectored_io, descriptor_status, advise_and_allocate,
    set_size_and_sync, terminals, memory_files, wrong_direction, owned_numbers,
}

/// Makes a file with this content, open for reading and writing.
pub fn file(name: &str, content: &[u8]) -> std::io::Result<std::fs::File> {
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(name)?;
    file.write_all(content)?;
    file.rewind()?;
    Ok(file)
}

fn null() -> Result<OwnedFd, Errno> {
    fs::open("/dev/null", fs::O_RDWR, 0)
}

fn lowest_free_number() -> Done {
    let (first, second, third) = (null()?, null()?, null()?);
    same!((first.as_raw_fd(), second.as_raw_fd(), third.as_raw_fd()), (4, 5, 6));
    drop(second);
    let again = null()?;
    same!(again.as_raw_fd(), 5);
    let high = fd::dup(0, 20, 0)?;
    same!(high.as_raw_fd(), 20);
    let higher = fd::dup(0, 20, 0)?;
    same!(higher.as_raw_fd(), 21);
    // Numbers below 4 are given out only on demand.
    fd::close(0)?;
    let fourth = null()?;
    same!(fourth.as_raw_fd(), 7);
    let zero = fd::dup(1, 0, 0)?;
    same!(zero.as_raw_fd(), 0);
    let three = fd::dup(1, 1, 0)?;
    same!(three.as_raw_fd(), 3);
    refused!(fd::dup(0, -1, 0), EINVAL);
    refused!(fd::dup(99, 0, 0), EBADF);
    Ok(())
}

fn dup_shares_offset() -> Done {
    let mut one = file("shared", b"0123456789")?;
    let mut two = std::fs::File::from(fd::dup(one.as_raw_fd(), 4, 0)?);
    let mut part = [0; 4];
    one.read_exact(&mut part)?;
    same!(two.stream_position()?, 4);
    two.read_exact(&mut part)?;
    same!(&part, b"4567");
    one.seek(SeekFrom::Start(1))?;
    same!(two.stream_position()?, 1);
    // A second opening has an offset of its own.
    let mut own = std::fs::File::open("shared")?;
    same!(own.stream_position()?, 0);
    drop(one);
    two.read_exact(&mut part)?;
    same!(&part, b"1234");
    Ok(())
}

fn dup2_closes_its_target() -> Done {
    let (read, write) = pipe()?;
    fd::dup2(0, write.as_raw_fd(), 0)?;
    same!(read_all(read.as_raw_fd())?, b"");
    // Equal numbers: only a check.
    fd::set_cloexec(read.as_raw_fd(), true)?;
    fd::dup2(read.as_raw_fd(), read.as_raw_fd(), 0)?;
    check!(fd::cloexec(read.as_raw_fd())?);
    refused!(fd::dup2(77, 77, 0), EBADF);
    refused!(fd::dup2(77, 5, 0), EBADF);
    check!(fd::is_open(5), "a failing dup2 closes nothing");
    refused!(fd::dup2(0, -1, 0), EBADF);
    refused!(fd::dup2(0, i32::MAX, 0), EBADF);
    Ok(())
}

fn dup_clears_close_on_exec() -> Done {
    let source = fs::open("/dev/null", fs::O_RDONLY | fs::O_CLOEXEC, 0)?;
    check!(fd::cloexec(source.as_raw_fd())?);
    let plain = fd::dup(source.as_raw_fd(), 0, 0)?;
    check!(!fd::cloexec(plain.as_raw_fd())?);
    let closing = fd::dup(plain.as_raw_fd(), 0, fd::CLOEXEC)?;
    check!(fd::cloexec(closing.as_raw_fd())?);
    fd::dup2(source.as_raw_fd(), 30, 0)?;
    check!(!fd::cloexec(30)?);
    fd::dup2(source.as_raw_fd(), 31, fd::CLOEXEC)?;
    check!(fd::cloexec(31)?);
    Ok(())
}

fn close_on_exec_flag() -> Done {
    let null = null()?;
    check!(!fd::cloexec(null.as_raw_fd())?);
    fd::set_cloexec(null.as_raw_fd(), true)?;
    check!(fd::cloexec(null.as_raw_fd())?);
    fd::set_cloexec(null.as_raw_fd(), false)?;
    check!(!fd::cloexec(null.as_raw_fd())?);
    let (read, write) = fd::pipe(fd::CLOEXEC)?;
    check!(fd::cloexec(read.as_raw_fd())? && fd::cloexec(write.as_raw_fd())?);
    let mem = fd::memfd(fd::CLOEXEC)?;
    check!(fd::cloexec(mem.as_raw_fd())?);
    Ok(())
}

fn status_flags() -> Done {
    file("flags", b"")?;
    let flags = |options| -> Result<u32, Errno> {
        let file = fs::open("flags", options, 0)?;
        fd::status_flags(file.as_raw_fd())
    };
    same!(flags(fs::O_RDONLY)?, fs::O_RDONLY);
    same!(flags(fs::O_WRONLY)?, fs::O_WRONLY);
    same!(flags(fs::O_RDWR | fs::O_APPEND)?, fs::O_RDWR | fs::O_APPEND);
    same!(flags(fs::O_RDONLY | fs::O_NONBLOCK | fs::O_CLOEXEC)?, fs::O_RDONLY | fs::O_NONBLOCK);
    // Duplicates share status flags and not close-on-exec.
    let one = fs::open("flags", fs::O_RDWR, 0)?;
    let two = fd::dup(one.as_raw_fd(), 0, 0)?;
    fd::set_status_flags(one.as_raw_fd(), fs::O_APPEND | fs::O_NONBLOCK)?;
    same!(fd::status_flags(two.as_raw_fd())?, fs::O_RDWR | fs::O_APPEND | fs::O_NONBLOCK);
    fd::set_status_flags(two.as_raw_fd(), 0)?;
    same!(fd::status_flags(one.as_raw_fd())?, fs::O_RDWR);
    refused!(fd::status_flags(99), EBADF);
    // WASI's own call for the same.
    // SAFETY: plain numbers.
    unsafe {
        support::raw(raw::wasi::fd_fdstat_set_flags(one.as_raw_fd(), 1))?;
        refused!(raw::wasi::fd_fdstat_set_flags(one.as_raw_fd(), -1), EINVAL);
        support::raw(raw::wasi::fd_fdstat_set_rights(one.as_raw_fd(), 0, 0))?;
        refused!(raw::wasi::fd_fdstat_set_rights(99, 0, 0), EBADF);
    }
    same!(fd::status_flags(one.as_raw_fd())?, fs::O_RDWR | fs::O_APPEND);
    Ok(())
}

/// Opens until it is refused.
fn fill() -> (Vec<OwnedFd>, Errno) {
    let mut all = Vec::new();
    loop {
        match null() {
            Ok(fd) => all.push(fd),
            Err(errno) => return (all, errno),
        }
    }
}

fn descriptor_limit() -> Done {
    let limit = fs::rlimit(Resource::OpenFiles)?.unwrap_or(u64::MAX) as usize;
    let (mut all, errno) = fill();
    same!(errno, Errno::EMFILE);
    // 0 to 2 are open, 3 is never given out.
    same!(all.len(), limit - 4);
    refused!(fd::dup(0, 4, 0), EMFILE);
    refused!(fd::pipe(0), EMFILE);
    refused!(fd::memfd(0), EMFILE);
    refused!(fd::dup2(0, limit as RawFd, 0), EBADF);
    fd::dup2(0, limit as RawFd - 1, 0)?;
    // One free number is not enough for a pipe, and is free again afterwards.
    all.truncate(all.len() - 1);
    refused!(fd::pipe(0), EMFILE);
    drop(null()?);
    drop(all);
    let (again, _) = fill();
    same!(again.len(), limit - 4);
    Ok(())
}

fn open_at_the_limit_changes_nothing() -> Done {
    file("kept", b"content")?;
    let (all, _) = fill();
    refused!(fs::open("kept", fs::O_WRONLY | fs::O_TRUNC, 0), EMFILE);
    refused!(fs::open("made", fs::O_WRONLY | fs::O_CREAT, 0o644), EMFILE);
    refused!(OpenOptions::new().write(true).truncate(true).open("kept"), EMFILE);
    refused!(OpenOptions::new().write(true).create(true).open("made"), EMFILE);
    drop(all);
    same!(fs::stat("kept")?.size, 7);
    refused!(fs::stat("made"), ENOENT);
    Ok(())
}

fn descriptor_three_is_free() -> Done {
    file("beside", b"found")?;
    let (read, write) = pipe()?;
    fd::dup2(read.as_raw_fd(), 3, 0)?;
    fd::write_all(write.as_raw_fd(), b"through three")?;
    let mut buffer = [0; 32];
    same!(fd::read(3, &mut buffer)?, 13);
    // Paths go on to begin at the root.
    same!(std::fs::read("beside")?, b"found");
    check!(std::fs::metadata("/dev/null").is_ok());
    fd::close(3)?;
    same!(std::fs::read("beside")?, b"found");
    refused!(fd::close(3), EBADF);
    Ok(())
}

fn closed_descriptors() -> Done {
    let mut out = Out::new();
    let (out, closed) = (out.at(), 60);
    // SAFETY: the only places are `out`, which is large enough for any answer.
    unsafe {
        use raw::wasi as w;
        for answer in [
            w::fd_advise(closed, 0, 0, 0),
            w::fd_allocate(closed, 0, 1),
            w::fd_close(closed),
            w::fd_datasync(closed),
            w::fd_fdstat_get(closed, out),
            w::fd_fdstat_set_flags(closed, 0),
            w::fd_filestat_get(closed, out),
            w::fd_filestat_set_size(closed, 0),
            w::fd_filestat_set_times(closed, 0, 0, 0),
            w::fd_pread(closed, 0, 0, 0, out),
            w::fd_pwrite(closed, 0, 0, 0, out),
            w::fd_prestat_get(closed, out),
            w::fd_prestat_dir_name(closed, out, 8),
            w::fd_read(closed, 0, 0, out),
            w::fd_readdir(closed, out, 64, 0, out),
            w::fd_renumber(closed, 0),
            w::fd_renumber(0, closed),
            w::fd_seek(closed, 0, 0, out),
            w::fd_sync(closed),
            w::fd_tell(closed, out),
            w::fd_write(closed, 0, 0, out),
            w::path_create_directory(closed, at("x"), 1),
            w::path_filestat_get(closed, 0, at("x"), 1, out),
            w::path_open(closed, 0, at("x"), 1, 0, 0, 0, 0, out),
            w::path_unlink_file(closed, at("x"), 1),
            w::path_link(3, 0, at("x"), 1, closed, at("y"), 1),
            w::path_rename(closed, at("x"), 1, 3, at("y"), 1),
            w::path_symlink(at("x"), 1, closed, at("y"), 1),
            w::sock_accept(closed, 0, out),
            w::sock_recv(closed, 0, 0, 0, out, out),
            w::sock_send(closed, 0, 0, 0, out),
            w::sock_shutdown(closed, 0),
            raw::kernel::fstat(closed, out),
            raw::kernel::fchmod(closed, 0),
            raw::kernel::flock(closed, 1),
            raw::kernel::isatty(closed),
            raw::kernel::winsize(closed, out),
            raw::kernel::fcntl(closed, 1, 0, out),
            raw::kernel::stat(closed, at("x"), 1, 0, out),
        ] {
            refused!(answer, EBADF);
        }
        // No descriptor is a socket.
        for answer in [w::sock_accept(0, 0, out), w::sock_send(0, 0, 0, 0, out), w::sock_shutdown(0, 0)] {
            check!(answer != 0, "a socket call succeeds");
        }
    }
    Ok(())
}

fn seek_whences() -> Done {
    let mut file = file("seek", b"0123456789")?;
    same!(file.seek(SeekFrom::End(-3))?, 7);
    same!(file.seek(SeekFrom::Current(-2))?, 5);
    refused!(file.seek(SeekFrom::Current(-6)), EINVAL);
    refused!(file.seek(SeekFrom::End(i64::MIN)), EINVAL);
    same!(file.stream_position()?, 5);
    // Past the end: a hole of zeros.
    file.seek(SeekFrom::Start(20))?;
    file.write_all(b"!")?;
    let all = std::fs::read("seek")?;
    same!(all.len(), 21);
    check!(all[10..20].iter().all(|&byte| byte == 0));
    file.seek(SeekFrom::Start(i64::MAX as u64))?;
    refused!(file.seek(SeekFrom::Current(1)), EINVAL);
    // A host may refuse to read so far out; it must not give anything.
    check!(!matches!(file.read(&mut [0; 4]), Ok(1..)));
    let (read, _write) = pipe()?;
    let mut out = Out::new();
    // SAFETY: `out` takes the answer.
    unsafe {
        refused!(raw::wasi::fd_seek(read.as_raw_fd(), 0, 0, out.at()), ESPIPE);
        refused!(raw::wasi::fd_tell(read.as_raw_fd(), out.at()), ESPIPE);
        refused!(raw::wasi::fd_seek(file.as_raw_fd(), 0, 3, out.at()), EINVAL);
        refused!(raw::wasi::fd_seek(file.as_raw_fd(), 0, -1, out.at()), EINVAL);
    }
    Ok(())
}

fn positioned_io_keeps_the_offset() -> Done {
    let mut file = file("positioned", b"0123456789")?;
    let mut buffer = [0; 3];
    let mut out = Out::new();
    let fd = file.as_raw_fd();
    // SAFETY: the buffers live here and are as long as said.
    unsafe {
        support::raw(raw::wasi::fd_pread(fd, at(&io_vec(&buffer)), 1, 4, out.at()))?;
        same!(std::hint::black_box(&mut buffer), b"456");
        support::raw(raw::wasi::fd_pwrite(fd, at(&io_vec(b"ab")), 1, 8, out.at()))?;
        same!(out.u32(0), 2);
        support::raw(raw::wasi::fd_pread(fd, at(&io_vec(&buffer)), 1, 100, out.at()))?;
        same!(out.u32(0), 0);
        let (read, write) = pipe()?;
        refused!(raw::wasi::fd_pread(read.as_raw_fd(), at(&io_vec(&buffer)), 1, 0, out.at()), ESPIPE);
        refused!(raw::wasi::fd_pwrite(write.as_raw_fd(), at(&io_vec(b"x")), 1, 0, out.at()), ESPIPE);
    }
    same!(file.stream_position()?, 0);
    let mut all = String::new();
    file.read_to_string(&mut all)?;
    same!(all, "01234567ab");
    Ok(())
}

fn renumber() -> Done {
    let (read, write) = pipe()?;
    let (from, to) = (write.as_raw_fd(), 40);
    // SAFETY: plain numbers; the owners of both are forgotten below.
    unsafe {
        refused!(raw::wasi::fd_renumber(from, to), EBADF);
        fd::dup2(0, to, 0)?;
        support::raw(raw::wasi::fd_renumber(from, to))?;
        check!(!fd::is_open(from));
        std::mem::forget(write);
        fd::write_all(to, b"moved")?;
        support::raw(raw::wasi::fd_renumber(to, to))?;
        support::raw(raw::wasi::fd_close(to))?;
    }
    same!(read_all(read.as_raw_fd())?, b"moved");
    Ok(())
}

fn vectored_io() -> Done {
    let mut file = file("vectored", b"")?;
    let parts = [io_vec(b"one"), IoVec(0, 0), io_vec(b"two"), IoVec(u32::MAX - 7, 0)];
    let mut out = Out::new();
    // SAFETY: the buffers are as long as said; the empty ones are never read.
    unsafe {
        // An address outside of memory is a fault even with length 0 behind what is written.
        let answer = raw::wasi::fd_write(file.as_raw_fd(), at(&parts), 3, out.at());
        support::raw(answer)?;
        same!(out.u32(0), 6);
        refused!(raw::wasi::fd_write(file.as_raw_fd(), at(&parts), 4, out.at()), EFAULT);
        // Overlapping targets: the later buffer wins, nothing breaks.
        let target = [0u8; 4];
        let overlapping = [io_vec(&target[..3]), io_vec(&target[1..])];
        file.rewind()?;
        support::raw(raw::wasi::fd_read(file.as_raw_fd(), at(&overlapping), 2, out.at()))?;
        same!(out.u32(0), 6);
        same!(std::hint::black_box(&target), b"otwo");
        // No buffers at all.
        support::raw(raw::wasi::fd_write(file.as_raw_fd(), 0, 0, out.at()))?;
        same!(out.u32(0), 0);
        // 1,024 are allowed, one more is not.
        let many = vec![io_vec(b"."); 1025];
        support::raw(raw::wasi::fd_write(file.as_raw_fd(), at(&many[..]), 1024, out.at()))?;
        same!(out.u32(0), 1024);
        refused!(raw::wasi::fd_write(file.as_raw_fd(), at(&many[..]), 1025, out.at()), EINVAL);
    }
    same!(std::fs::read("vectored")?.len(), 6 + 1024);
    Ok(())
}

/// Type, flags and rights.
fn fdstat(fd: RawFd) -> Result<(u8, u16, u64), Errno> {
    let mut out = Out::new();
    // SAFETY: `out` takes the answer.
    support::raw(unsafe { raw::wasi::fd_fdstat_get(fd, out.at()) })?;
    Ok((out.u8(0), out.u32(0).to_le_bytes()[2].into(), out.u64(8)))
}

fn descriptor_status() -> Done {
    const READ: u64 = 1 << 1;
    const SEEK: u64 = 1 << 2;
    const WRITE: u64 = 1 << 6;
    let regular = file("status", b"")?;
    let (kind, flags, rights) = fdstat(regular.as_raw_fd())?;
    same!((kind, flags), (4, 0));
    check!(rights & READ != 0 && rights & WRITE != 0 && rights & SEEK != 0);
    let read_only = fs::open("status", fs::O_RDONLY, 0)?;
    check!(fdstat(read_only.as_raw_fd())?.2 & WRITE == 0);
    let append = fs::open("status", fs::O_WRONLY | fs::O_APPEND | fs::O_NONBLOCK, 0)?;
    let (_, flags, rights) = fdstat(append.as_raw_fd())?;
    same!(flags, 5);
    check!(rights & READ == 0);
    same!(fdstat(fs::open(".", fs::O_RDONLY, 0)?.as_raw_fd())?.0, 3);
    let (read, write) = pipe()?;
    let (kind, _, rights) = fdstat(read.as_raw_fd())?;
    same!(kind, 6);
    check!(rights & WRITE == 0 && rights & SEEK == 0);
    check!(fdstat(write.as_raw_fd())?.2 & READ == 0);
    // libc takes a character device without these rights for a terminal.
    let (kind, _, rights) = fdstat(null()?.as_raw_fd())?;
    same!(kind, 2);
    check!(rights & SEEK != 0);
    // The root is asked about whether or not 3 is open.
    same!(fdstat(3)?.0, 3);
    refused!(fdstat(-1), EBADF);
    Ok(())
}

fn advise_and_allocate() -> Done {
    let file = file("allocated", b"ab")?;
    let fd = file.as_raw_fd();
    let (read, _write) = pipe()?;
    // SAFETY: plain numbers.
    unsafe {
        use raw::wasi::{fd_advise, fd_allocate};
        for advice in 0..=5 {
            support::raw(fd_advise(fd, 0, u64::MAX, advice))?;
        }
        refused!(fd_advise(fd, 0, 0, 6), EINVAL);
        refused!(fd_advise(read.as_raw_fd(), 0, 0, 0), ESPIPE);
        support::raw(fd_allocate(fd, 0, 100))?;
        same!(fs::fstat(fd)?.size, 100);
        // It never makes shorter.
        support::raw(fd_allocate(fd, 0, 10))?;
        same!(fs::fstat(fd)?.size, 100);
        refused!(fd_allocate(fd, 0, 0), EINVAL);
        refused!(fd_allocate(fd, u64::MAX, 2), EINVAL);
        refused!(fd_allocate(fd, 0, u64::MAX), EFBIG);
        let read_only = fs::open("allocated", fs::O_RDONLY, 0)?;
        refused!(fd_allocate(read_only.as_raw_fd(), 0, 200), EBADF);
    }
    same!(&std::fs::read("allocated")?[..3], b"ab\0");
    Ok(())
}

fn set_size_and_sync() -> Done {
    let mut file = file("sized", b"0123456789")?;
    file.set_len(4)?;
    same!(std::fs::read("sized")?, b"0123");
    file.set_len(6)?;
    same!(std::fs::read("sized")?, b"0123\0\0");
    file.sync_all()?;
    file.sync_data()?;
    // Cutting does not move the offset: what follows leaves a hole.
    file.seek(SeekFrom::Start(6))?;
    file.set_len(0)?;
    file.write_all(b"x")?;
    same!(std::fs::read("sized")?, b"\0\0\0\0\0\0x");
    let (read, write) = pipe()?;
    let read_only = fs::open("sized", fs::O_RDONLY, 0)?;
    // SAFETY: plain numbers.
    unsafe {
        refused!(raw::wasi::fd_filestat_set_size(write.as_raw_fd(), 0), EINVAL);
        refused!(raw::wasi::fd_filestat_set_size(read_only.as_raw_fd(), 0), EINVAL);
        refused!(raw::wasi::fd_sync(read.as_raw_fd()), EINVAL);
        refused!(raw::wasi::fd_filestat_set_size(file.as_raw_fd(), u64::MAX), EFBIG);
        refused!(raw::wasi::fd_filestat_set_size(file.as_raw_fd(), 1 << 62), EFBIG);
    }
    Ok(())
}

fn terminals() -> Done {
    check!(!fd::isatty(0) && !fd::isatty(1) && !fd::isatty(2));
    check!(!std::io::stdin().is_terminal() && !std::io::stdout().is_terminal());
    let null = std::fs::File::open("/dev/null")?;
    check!(!null.is_terminal());
    refused!(fd::winsize(1), ENOTTY);
    // SAFETY: a plain number.
    refused!(unsafe { raw::kernel::isatty(1) }, ENOTTY);
    Ok(())
}

fn memory_files() -> Done {
    let fd = fd::memfd(0)?;
    let stat = fs::fstat(fd.as_raw_fd())?;
    check!(stat.is_file() && stat.size == 0 && stat.ino != 0);
    let mut file = std::fs::File::from(fd);
    file.write_all(b"in memory")?;
    same!(fs::fstat(file.as_raw_fd())?.size, 9);
    file.rewind()?;
    let (status, out) = {
        let (read, write) = pipe()?;
        let pid = support::role(&["cat"]).fd(0, file.as_raw_fd()).fd(1, write.as_raw_fd()).spawn()?;
        drop(write);
        (support::reap(pid)?, read_all(read.as_raw_fd())?)
    };
    same!((status.shell_code(), out.as_slice()), (0, &b"in memory"[..]));
    // The child moved the shared offset.
    same!(file.stream_position()?, 9);
    fs::fchmod(file.as_raw_fd(), 0o600)?;
    same!(fs::fstat(file.as_raw_fd())?.permissions(), 0o600);
    Ok(())
}

fn wrong_direction() -> Done {
    file("direction", b"x")?;
    let read = fs::open("direction", fs::O_RDONLY, 0)?;
    let write = fs::open("direction", fs::O_WRONLY, 0)?;
    refused!(fd::write(read.as_raw_fd(), b"x"), EBADF);
    refused!(fd::read(write.as_raw_fd(), &mut [0]), EBADF);
    let dir = fs::open(".", fs::O_RDONLY, 0)?;
    refused!(fd::read(dir.as_raw_fd(), &mut [0]), EISDIR);
    refused!(fd::write(dir.as_raw_fd(), b"x"), EBADF);
    let mut out = Out::new();
    // SAFETY: one buffer that is as long as said.
    unsafe {
        refused!(raw::wasi::fd_pread(write.as_raw_fd(), at(&io_vec(b"x")), 1, 0, out.at()), EBADF);
        refused!(raw::wasi::fd_pwrite(read.as_raw_fd(), at(&io_vec(b"x")), 1, 0, out.at()), EBADF);
    }
    refused!(fd::read(1, &mut [0]), EBADF);
    Ok(())
}

fn owned_numbers() -> Done {
    // Thousands of openings leave nothing behind.
    for _ in 0..2000 {
        let opened = null()?;
        same!(opened.as_raw_fd(), 4);
    }
    let raw_number = std::os::fd::IntoRawFd::into_raw_fd(null()?);
    // SAFETY: the number is owned by nobody else.
    drop(unsafe { OwnedFd::from_raw_fd(raw_number) });
    check!(!fd::is_open(raw_number));
    Ok(())
}
