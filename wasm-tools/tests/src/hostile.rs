//! Calls with arguments that no honest program passes: each is answered with an error, none is a trap, and nothing is
//! written where it should not be.

use std::os::fd::AsRawFd;

use wskill_sys::fs;
use wskill_sys::process;

use crate::raw::{self, IoVec, Out, at, io_vec};
use crate::support::{Done, check, programs, raw, refused, same};

programs! {
    hostile_pointers, hostile_counts, hostile_numbers, hostile_kernel_pointers, hostile_spawns, hostile_flags,
    every_call_with_everything, memory_end,
}

const NOWHERE: [u32; 4] = [u32::MAX, u32::MAX - 3, 0x8000_0000, 0xfff0_0000];

fn hostile_pointers() -> Done {
    let file = crate::descriptors::file("target", b"0123456789")?;
    let fd = file.as_raw_fd();
    let mut out = Out::new();
    let good = [io_vec(b"x")];
    for bad in NOWHERE {
        // SAFETY: the kernel has to refuse what is outside of memory.
        unsafe {
            use raw::wasi as w;
            for answer in [
                w::clock_time_get(0, 0, bad),
                w::clock_res_get(0, bad),
                w::fd_fdstat_get(fd, bad),
                w::fd_filestat_get(fd, bad),
                w::fd_pread(fd, bad, 1, 0, out.at()),
                w::fd_pread(fd, at(&IoVec(bad, 8)), 1, 0, out.at()),
                w::fd_pwrite(fd, bad, 1, 0, out.at()),
                w::fd_pwrite(fd, at(&IoVec(bad, 8)), 1, 0, out.at()),
                w::fd_prestat_get(3, bad),
                w::fd_prestat_dir_name(3, bad, 1),
                w::fd_read(fd, bad, 1, out.at()),
                w::fd_read(fd, at(&IoVec(bad, 8)), 1, out.at()),
                w::fd_read(fd, at(&[io_vec(b"a"), IoVec(8, u32::MAX)]), 2, out.at()),
                w::fd_write(fd, bad, 1, out.at()),
                w::fd_write(fd, at(&IoVec(bad, 8)), 1, out.at()),
                w::fd_write(fd, at(&[io_vec(b"a"), IoVec(8, u32::MAX)]), 2, out.at()),
                w::fd_readdir(3, bad, 100, 0, out.at()),
                w::fd_seek(fd, 0, 0, bad),
                w::fd_tell(fd, bad),
                w::path_create_directory(3, bad, 4),
                w::path_filestat_get(3, 0, bad, 4, out.at()),
                w::path_filestat_get(3, 0, at("/tmp"), 4, bad),
                w::path_filestat_set_times(3, 0, bad, 4, 0, 0, 0),
                w::path_link(3, 0, bad, 4, 3, at("x"), 1),
                w::path_link(3, 0, at("x"), 1, 3, bad, 4),
                w::path_open(3, 0, bad, 4, 0, 0, 0, 0, out.at()),
                w::path_open(3, 0, at("/tmp"), 4, 0, 0, 0, 0, bad),
                w::path_readlink(3, bad, 4, out.at(), 4, out.at()),
                w::path_readlink(3, at("/bin"), 4, bad, 8, out.at()),
                w::path_readlink(3, at("/bin"), 4, out.at(), 8, bad),
                w::path_remove_directory(3, bad, 4),
                w::path_rename(3, bad, 4, 3, at("x"), 1),
                w::path_rename(3, at("x"), 1, 3, bad, 4),
                w::path_symlink(bad, 4, 3, at("x"), 1),
                w::path_symlink(at("x"), 1, 3, bad, 4),
                w::path_unlink_file(3, bad, 4),
                w::random_get(bad, 8),
            ] {
                refused!(answer, EFAULT);
            }
            // The number of bytes goes nowhere, although bytes were moved.
            refused!(w::fd_read(fd, at(&good), 1, bad), EFAULT);
        }
    }
    // A path that runs over the end of memory.
    // SAFETY: as above.
    refused!(unsafe { raw::wasi::path_create_directory(3, at("x"), 4096) }, EFAULT | EEXIST | ENOENT | EINVAL | EILSEQ);
    // Failing calls to open leave no descriptor.
    let next = fs::open("/dev/null", fs::O_RDONLY, 0)?;
    check!(next.as_raw_fd() < 10, "descriptors leak: the next is {}", next.as_raw_fd());
    Ok(())
}

fn hostile_counts() -> Done {
    let file = crate::descriptors::file("counted", b"0123456789")?;
    let fd = file.as_raw_fd();
    let mut out = Out::new();
    let vecs = [io_vec(b"x")];
    for count in [1025, 65536, 1 << 29, 1 << 31, u32::MAX] {
        // SAFETY: the kernel has to refuse it before it looks.
        unsafe {
            use raw::wasi as w;
            refused!(w::fd_read(fd, at(&vecs), count, out.at()), EINVAL);
            refused!(w::fd_write(fd, at(&vecs), count, out.at()), EINVAL);
            refused!(w::fd_pread(fd, at(&vecs), count, 0, out.at()), EINVAL);
            refused!(w::fd_pwrite(fd, at(&vecs), count, 0, out.at()), EINVAL);
        }
    }
    for length in [4097, 1 << 20, 1 << 31, u32::MAX] {
        // SAFETY: as above.
        unsafe {
            use raw::wasi as w;
            for answer in [
                w::path_create_directory(3, at("x"), length),
                w::path_filestat_get(3, 0, at("x"), length, out.at()),
                w::path_open(3, 0, at("x"), length, 0, 0, 0, 0, out.at()),
                w::path_readlink(3, at("x"), length, out.at(), 4, out.at()),
                w::path_remove_directory(3, at("x"), length),
                w::path_symlink(at("x"), 1, 3, at("x"), length),
                w::path_symlink(at("x"), length, 3, at("x"), 1),
                w::path_unlink_file(3, at("x"), length),
                w::path_rename(3, at("x"), length, 3, at("x"), 1),
                w::path_link(3, 0, at("x"), 1, 3, at("x"), length),
                raw::kernel::stat(-100, at("x"), length, 0, out.at()),
                raw::kernel::open(-100, at("x"), length, 0, 0, out.at()),
                raw::kernel::chdir(-100, at("x"), length),
            ] {
                refused!(answer, ENAMETOOLONG);
            }
        }
    }
    // A read into all of memory at once moves what one call may.
    let whole = [IoVec(65536, 65536), IoVec(65536, 0)];
    check!(whole.len() == 2);
    same!(fs::fstat(fd)?.size, 10);
    Ok(())
}

fn hostile_numbers() -> Done {
    let file = crate::descriptors::file("numbered", b"0123456789")?;
    let fd = file.as_raw_fd();
    let mut out = Out::new();
    let vec = [io_vec(b"xy")];
    // SAFETY: plain numbers.
    unsafe {
        use raw::wasi as w;
        refused!(w::fd_seek(fd, i64::MIN, 0, out.at()), EINVAL);
        refused!(w::fd_seek(fd, i64::MIN, 1, out.at()), EINVAL);
        refused!(w::fd_seek(fd, i64::MIN, 2, out.at()), EINVAL);
        refused!(w::fd_seek(fd, i64::MAX, 2, out.at()), EINVAL);
        raw(w::fd_seek(fd, i64::MAX, 0, out.at()))?;
        refused!(w::fd_seek(fd, 1, 1, out.at()), EINVAL);
        refused!(w::fd_write(fd, at(&vec), 1, out.at()), EFBIG | EINVAL);
        raw(w::fd_seek(fd, 0, 0, out.at()))?;
        for offset in [u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1] {
            let answer = w::fd_pread(fd, at(&vec), 1, offset, out.at());
            check!(answer == 0 && out.u32(0) == 0 || answer == 28, "reading at {offset} is {answer}");
            refused!(w::fd_pwrite(fd, at(&vec), 1, offset, out.at()), EFBIG | EINVAL);
            refused!(w::fd_allocate(fd, offset, offset), EFBIG | EINVAL);
        }
        for bad in [i32::MIN, i32::MIN + 1, i32::MIN + 2, -1, -100, i32::MAX, 256, 65536] {
            for answer in [
                w::fd_prestat_get(bad, out.at()),
                w::fd_prestat_dir_name(bad, out.at(), 10),
                w::fd_fdstat_get(bad, out.at()),
                w::fd_readdir(bad, out.at(), 10, 0, out.at()),
                w::fd_close(bad),
                w::fd_renumber(bad, 0),
                w::fd_renumber(0, bad),
                w::fd_read(bad, at(&vec), 1, out.at()),
                w::fd_write(bad, at(&vec), 1, out.at()),
                w::path_open(bad, 0, at("x"), 1, 0, 0, 0, 0, out.at()),
                w::path_create_directory(bad, at("x"), 1),
                raw::kernel::fstat(bad, out.at()),
                raw::kernel::dup(bad, 0, 0, out.at()),
                raw::kernel::dup2(bad, 0, 0),
                raw::kernel::dup2(0, bad, 0),
                raw::kernel::fcntl(bad, 1, 0, out.at()),
            ] {
                refused!(answer, EBADF);
            }
            if bad != -100 {
                refused!(raw::kernel::stat(bad, at("x"), 1, 0, out.at()), EBADF);
                refused!(raw::kernel::mkdir(bad, at("x"), 1, 0), EBADF);
            }
        }
        refused!(raw::kernel::dup(0, i32::MAX, 0, out.at()), EINVAL | EMFILE);
        refused!(raw::kernel::dup(0, i32::MIN, 0, out.at()), EINVAL);
        for command in [0, 5, -1, i32::MAX, i32::MIN] {
            refused!(raw::kernel::fcntl(fd, command, 0, out.at()), EINVAL);
        }
    }
    same!(std::fs::read("numbered")?, b"0123456789");
    Ok(())
}

fn hostile_kernel_pointers() -> Done {
    let mut out = Out::new();
    for bad in NOWHERE {
        // SAFETY: the kernel has to refuse what is outside of memory.
        unsafe {
            use raw::kernel as k;
            for answer in [
                k::program_name(bad, 100, out.at()),
                k::program_name(out.at(), 100, bad),
                k::spawn(bad, out.at()),
                k::exec(bad),
                k::getpgid(0, bad),
                k::times(bad, out.at()),
                k::times(out.at(), bad),
                k::sig_set(12, 0, bad),
                k::sig_flag(bad),
                k::itimer(0, 0, bad),
                k::pipe(0, bad),
                k::dup(0, 0, 0, bad),
                k::fcntl(0, 1, 0, bad),
                k::memfd(0, bad),
                k::stat(-100, bad, 4, 0, out.at()),
                k::stat(-100, at("/tmp"), 4, 0, bad),
                k::fstat(0, bad),
                k::open(-100, bad, 4, 0, 0, out.at()),
                k::open(-100, at("/dev/null"), 9, 0, 0, bad),
                k::mkdir(-100, bad, 4, 0),
                k::mkfifo(-100, bad, 4, 0),
                k::chmod(-100, bad, 4, 0, 0),
                k::chown(-100, bad, 4, 0, 0, 0),
                k::access(-100, bad, 4, 0, 0),
                k::utimens(-100, bad, 4, 0, 0, 0),
                k::statvfs(-100, bad, 4, out.at()),
                k::statvfs(-100, at("/tmp"), 4, bad),
                k::realpath(-100, at("/tmp"), 4, bad, 100, out.at()),
                k::realpath(-100, at("/tmp"), 4, out.at(), 100, bad),
                k::readlink(-100, at("/bin"), 4, bad, 100, out.at()),
                k::getcwd(bad, 100, out.at()),
                k::getcwd(out.at(), 100, bad),
                k::chdir(-100, bad, 4),
                k::getrlimit(7, bad),
            ] {
                refused!(answer, EFAULT);
            }
        }
    }
    // A call that cannot tell its answer has no effect: no descriptor, no context, no child is left.
    let next = fs::open("/dev/null", fs::O_RDONLY, 0)?;
    same!(next.as_raw_fd(), 4);
    // SAFETY: as above.
    unsafe {
        refused!(raw::kernel::push_context(u32::MAX), EFAULT);
        refused!(raw::kernel::pop_context(1), EINVAL);
    }
    Ok(())
}

/// A `wsk_spawn_request` as sixteen numbers.
fn request(change: impl FnOnce(&mut [u32; 16])) -> [u32; 16] {
    let path = "/usr/bin/guest-tests";
    let mut fields = [at(path), path.len() as u32, at("x\0"), 2, 0, 0, 0, 0, 0, 0, 0, 0, u32::MAX, 0, 0, 0];
    change(&mut fields);
    fields
}

fn hostile_spawns() -> Done {
    let mut out = Out::new();
    let mut start = |change: &dyn Fn(&mut [u32; 16])| {
        let fields = request(change);
        // SAFETY: what is outside of memory is so on purpose.
        unsafe { raw::kernel::spawn(at(&fields), out.at()) }
    };
    for bad in NOWHERE {
        refused!(start(&|fields| fields[0] = bad), EFAULT);
        refused!(start(&|fields| fields[2] = bad), EFAULT);
        refused!(start(&|fields| (fields[4], fields[5]) = (bad, 8)), EFAULT);
        refused!(start(&|fields| (fields[6], fields[7]) = (bad, 8)), EFAULT);
        refused!(start(&|fields| (fields[8], fields[9]) = (bad, 1)), EFAULT);
    }
    // Strings that do not end.
    refused!(start(&|fields| fields[3] = 1), EINVAL);
    refused!(start(&|fields| (fields[4], fields[5]) = (at("A=1"), 3)), EINVAL);
    // Lengths and counts past all sense.
    refused!(start(&|fields| fields[1] = u32::MAX), ENAMETOOLONG);
    refused!(start(&|fields| fields[3] = u32::MAX), E2BIG);
    refused!(start(&|fields| fields[5] = u32::MAX), E2BIG);
    refused!(start(&|fields| fields[7] = u32::MAX), ENAMETOOLONG);
    refused!(start(&|fields| fields[9] = u32::MAX), EINVAL);
    refused!(start(&|fields| fields[9] = 1 << 29), EINVAL);
    refused!(start(&|fields| fields[9] = 1 << 31), EINVAL);
    // Flags nobody knows.
    for flags in [8, 1 << 31, u32::MAX] {
        refused!(start(&|fields| fields[10] = flags), EINVAL);
    }
    refused!(start(&|fields| (fields[10], fields[11]) = (2, u32::MAX)), EINVAL);
    refused!(start(&|fields| (fields[10], fields[11]) = (2, 1 << 31)), EINVAL);
    // A path with a NUL in it.
    refused!(start(&|fields| (fields[0], fields[1]) = (at("/usr\0x"), 6)), EINVAL | ENOENT);
    refused!(process::wait(-1), ECHILD);
    // A child whose pid cannot be told would be lost: it must not run on unseen.
    let fields = request(|_| {});
    // SAFETY: as above.
    refused!(unsafe { raw::kernel::spawn(at(&fields), u32::MAX) }, EFAULT);
    refused!(process::wait(-1), ECHILD);
    Ok(())
}

fn hostile_flags() -> Done {
    let mut out = Out::new();
    // SAFETY: the paths are as long as said.
    unsafe {
        use raw::kernel as k;
        for flags in [1 << 2, 1 << 20, 1 << 31, 0xffff_fff0] {
            let answer = k::open(-100, at("/dev/null"), 9, flags, u32::MAX, out.at());
            if answer == 0 {
                raw(raw::wasi::fd_close(out.u32(0) as i32))?;
            }
            // Whatever is made of unknown flags, it is an answer.
            k::stat(-100, at("/tmp"), 4, flags, out.at());
            k::access(-100, at("/tmp"), 4, flags, flags);
        }
        k::chmod(-100, at("none"), 4, u32::MAX, u32::MAX);
        raw(k::open(-100, at("mode"), 4, fs::O_CREAT | fs::O_WRONLY, u32::MAX, out.at()))?;
        raw(raw::wasi::fd_close(out.u32(0) as i32))?;
    }
    same!(fs::stat("mode")?.mode & !0o1777, fs::S_IFREG);
    // SAFETY: a path as long as said.
    unsafe {
        raw(raw::kernel::chmod(-100, at("mode"), 4, u32::MAX, 0))?;
    }
    same!(fs::stat("mode")?.mode & !0o1777, fs::S_IFREG);
    // Times at both ends.
    for time in [i64::MIN + 1, i64::MAX - 1, -1, 0] {
        // SAFETY: as above.
        let answer = unsafe { raw::kernel::utimens(-100, at("mode"), 4, time, time, 0) };
        check!(answer == 0 || answer == 28 || answer == 61, "a time of {time} is {answer}");
        fs::stat("mode")?;
    }
    Ok(())
}

/// Numbers that are small, large, negative, and just past the ends of things.
const WORDS: [u32; 8] = [0, 1, 3, 8, 4097, 0x7fff_ffff, 0x8000_0000, u32::MAX];

fn every_call_with_everything() -> Done {
    // Not what is answered matters, but that there is an answer, and that the program is still whole. Addresses are
    // within one buffer or outside of memory, so that nothing of the program itself is overwritten.
    let buffer = vec![0u8; 1 << 16];
    let inside = at(&buffer[..]) + 4096;
    let places = [inside, u32::MAX, u32::MAX - 7];
    let mut calls = 0u32;
    // SAFETY: see above; descriptors stay clear of the standard streams.
    unsafe {
        use raw::{kernel as k, wasi as w};
        for &fd in &[3, 4, 99, u32::MAX, 0x8000_0000] {
            let fd = fd as i32;
            for &a in &WORDS {
                for &place in &places {
                    let wide = u64::from(a) << 32 | u64::from(a);
                    w::fd_advise(fd, wide, wide, a as i32);
                    w::fd_allocate(fd, wide, wide);
                    w::fd_fdstat_set_flags(fd, a as i32);
                    w::fd_filestat_set_size(fd, wide);
                    w::fd_filestat_set_times(fd, wide, wide, a as i32);
                    w::fd_pread(fd, place, a & 7, wide, place);
                    w::fd_pwrite(fd, place, a & 7, wide, place);
                    w::fd_prestat_dir_name(fd, place, a);
                    w::fd_readdir(fd, place, a & 4097, wide, place);
                    w::fd_seek(fd, wide as i64, a as i32, place);
                    w::path_create_directory(fd, place, a & 63);
                    w::path_filestat_get(fd, a as i32, place, a & 63, place);
                    w::path_filestat_set_times(fd, a as i32, place, a & 63, wide, wide, a as i32);
                    w::path_link(fd, a as i32, place, a & 63, fd, place, a & 63);
                    w::path_readlink(fd, place, a & 63, place, a & 63, place);
                    w::path_rename(fd, place, a & 63, fd, place, a & 63);
                    w::path_symlink(place, a & 63, fd, place, a & 63);
                    w::sock_accept(fd, a as i32, place);
                    w::sock_recv(fd, place, a, a as i32, place, place);
                    w::sock_send(fd, place, a, a as i32, place);
                    w::sock_shutdown(fd, a as i32);
                    w::clock_time_get(a as i32, wide, place);
                    k::access(fd, place, a & 63, a, a);
                    k::chown(fd, place, a & 63, a, a, a);
                    k::utimens(fd, place, a & 63, wide as i64, wide as i64, a);
                    k::realpath(fd, place, a & 63, place, a, place);
                    k::statvfs(fd, place, a & 63, place);
                    k::flock(fd, a | 4);
                    k::winsize(fd, place);
                    k::fchmod(fd, a);
                    calls += 30;
                }
            }
        }
    }
    check!(calls > 3000);
    same!(std::fs::read_to_string("/etc/hostname")?, "sandbox\n");
    Ok(())
}

fn memory_end() -> Done {
    // The last bytes of memory may be used, and not one more.
    let pages = core::arch::wasm32::memory_size::<0>();
    let old = core::arch::wasm32::memory_grow::<0>(1);
    check!(old != usize::MAX && old >= pages);
    let end = ((old + 1) * 65536) as u32;
    // SAFETY: the page was just made and belongs to nobody.
    unsafe {
        raw(raw::wasi::clock_time_get(0, 0, end - 8))?;
        refused!(raw::wasi::clock_time_get(0, 0, end - 7), EFAULT);
        raw(raw::wasi::random_get(end - 16, 16))?;
        refused!(raw::wasi::random_get(end - 16, 17), EFAULT);
        let null = fs::open("/dev/zero", fs::O_RDONLY, 0)?;
        let mut out = Out::new();
        raw(raw::wasi::fd_read(null.as_raw_fd(), at(&IoVec(end - 4, 4)), 1, out.at()))?;
        refused!(raw::wasi::fd_read(null.as_raw_fd(), at(&IoVec(end - 4, 5)), 1, out.at()), EFAULT);
        // More than there is altogether is refused by growing, not by a trap.
        check!(core::arch::wasm32::memory_grow::<0>(65536) == usize::MAX, "memory of 4 GiB");
        check!(core::arch::wasm32::memory_grow::<0>(u32::MAX as usize) == usize::MAX);
    }
    Ok(())
}
