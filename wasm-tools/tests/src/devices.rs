//! Devices, and the caller's own descriptors as files.

use std::collections::BTreeSet;
use std::io::{Read, Seek};
use std::os::fd::{AsRawFd, OwnedFd};

use wskill_sys::{Errno, fd, fs};

use crate::descriptors::file;
use crate::support::{Done, check, pipe, programs, refused, same};

programs! { devices, device_stat, own_descriptors_as_files, own_descriptors_listed }

fn open(name: &str, flags: u32) -> Result<OwnedFd, Errno> {
    fs::open(format!("/dev/{name}"), flags, 0)
}

fn devices() -> Done {
    let mut buffer = [7; 64];
    let null = open("null", fs::O_RDWR)?;
    same!(fd::read(null.as_raw_fd(), &mut buffer)?, 0);
    same!(fd::write(null.as_raw_fd(), &buffer)?, 64);
    for name in ["zero", "full"] {
        let zeros = open(name, fs::O_RDWR)?;
        buffer.fill(7);
        same!(fd::read(zeros.as_raw_fd(), &mut buffer)?, 64);
        same!(buffer, [0; 64]);
    }
    refused!(fd::write(open("full", fs::O_WRONLY)?.as_raw_fd(), b"x"), ENOSPC);
    same!(fd::write(open("zero", fs::O_WRONLY)?.as_raw_fd(), b"x")?, 1);
    for name in ["random", "urandom"] {
        let random = open(name, fs::O_RDONLY)?;
        let mut other = [0; 64];
        same!(fd::read(random.as_raw_fd(), &mut buffer)?, 64);
        same!(fd::read(random.as_raw_fd(), &mut other)?, 64);
        check!(buffer != other && buffer != [0; 64]);
    }
    // There is no terminal.
    refused!(open("tty", fs::O_RDWR), ENXIO);
    // A device is cut and appended to like anything else that is written to.
    open("null", fs::O_WRONLY | fs::O_TRUNC | fs::O_CREAT | fs::O_APPEND)?;
    refused!(fs::open("/dev/new", fs::O_WRONLY | fs::O_CREAT, 0o600), EROFS);
    refused!(open("null", fs::O_RDONLY | fs::O_DIRECTORY), ENOTDIR);
    Ok(())
}

fn device_stat() -> Done {
    let by_name = fs::stat("/dev/null")?;
    check!(by_name.is_char_device() && by_name.permissions() == 0o666);
    same!(by_name.rdev, 0x103);
    let by_number = fs::fstat(open("null", fs::O_RDONLY)?.as_raw_fd())?;
    check!(by_name.same_file(&by_number));
    check!(!fs::stat("/dev/zero")?.same_file(&by_name));
    Ok(())
}

fn own_descriptors_as_files() -> Done {
    let mut file = file("own", b"0123456789")?;
    let number = file.as_raw_fd();
    let mut again = fs::open_file(format!("/dev/fd/{number}"), fs::O_RDONLY, 0)?;
    let mut part = [0; 4];
    again.read_exact(&mut part)?;
    same!(file.stream_position()?, 4);
    // It may not gain rights that way.
    let reading = fs::open("own", fs::O_RDONLY, 0)?;
    refused!(fs::open(format!("/dev/fd/{}", reading.as_raw_fd()), fs::O_WRONLY, 0), EACCES);
    refused!(fs::open("/dev/fd/99", fs::O_RDONLY, 0), ENOENT);
    refused!(fs::open("/dev/fd/-1", fs::O_RDONLY, 0), ENOENT);
    refused!(fs::open("/dev/fd/99999999999", fs::O_RDONLY, 0), ENOENT);
    check!(fs::stat(format!("/proc/self/fd/{number}"))?.same_file(&fs::stat("own")?));
    refused!(fs::stat("/dev/fd/99"), ENOENT);
    let (read, write) = pipe()?;
    check!(fs::stat(format!("/dev/fd/{}", read.as_raw_fd()))?.is_fifo());
    let second = fs::open(format!("/dev/fd/{}", write.as_raw_fd()), fs::O_WRONLY, 0)?;
    fd::write_all(second.as_raw_fd(), b"piped")?;
    let mut buffer = [0; 8];
    same!(fd::read(read.as_raw_fd(), &mut buffer)?, 5);
    // The standard streams by their names.
    fs::open("/dev/stdin", fs::O_RDONLY, 0)?;
    fs::open("/dev/stdout", fs::O_WRONLY | fs::O_TRUNC | fs::O_CREAT, 0o644)?;
    fs::open("/dev/stderr", fs::O_WRONLY | fs::O_APPEND, 0)?;
    // They belong to nobody but the kernel.
    check!(std::fs::remove_file("/dev/fd/0").is_err());
    Ok(())
}

fn own_descriptors_listed() -> Done {
    fd::dup2(0, 33, 0)?;
    let listed: BTreeSet<String> = std::fs::read_dir("/proc/self/fd")?
        .map(|entry| entry.map(|entry| entry.file_name().display().to_string()))
        .collect::<std::io::Result<_>>()?;
    for name in ["0", "1", "2", "33"] {
        check!(listed.contains(name), "{name} is not among {listed:?}");
    }
    check!(!listed.contains("99") && listed.len() < 10, "{listed:?}");
    Ok(())
}
