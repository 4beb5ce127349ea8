//! Named pipes.

use std::os::fd::AsRawFd;
use wskill_sys::process::{self, Status};
use wskill_sys::signal::{self, Disposition, SIGALRM};
use wskill_sys::{fd, fs};

use crate::raw::{self, Out, at};
use crate::support::{Done, check, eventually, moment, output, piped, programs, read_all, reap, refused, role, same};

programs! {
    fifo_waits_for_its_partner, fifo_carries_bytes, fifo_nonblocking, fifo_for_both_never_waits, fifo_many_writers,
    fifo_stat_and_names, fifo_open_is_interrupted, fifo_open_killed_leaves_no_ghost, fifo_short_visit_is_enough,
    fifo_under_two_names, fifo_forgets_between_uses,
}

fn fifo_waits_for_its_partner() -> Done {
    fs::mkfifo("partner", 0o644)?;
    let pid = role(&["fifo-write", "partner", "late", "60"]).spawn()?;
    // Had opening not waited, the end would be all there is to read.
    let fifo = fs::open("partner", fs::O_RDONLY, 0)?;
    same!(read_all(fifo.as_raw_fd())?, b"late");
    drop(fifo);
    same!(reap(pid)?, Status::Exited(0));
    // The other way round: the writer waits, then a reader comes.
    let pid = role(&["fifo-write", "partner", "early", "0"]).spawn()?;
    moment();
    check!(process::try_wait(pid)?.is_none(), "opening did not wait");
    same!(std::fs::read("partner")?, b"early");
    same!(reap(pid)?, Status::Exited(0));
    Ok(())
}

fn fifo_carries_bytes() -> Done {
    fs::mkfifo("bytes", 0o600)?;
    let (pid, out) = piped(&["fifo-read", "bytes"])?;
    let data = "0123456789".repeat(10_000);
    // It opens with O_TRUNC and O_CREAT, which a FIFO ignores.
    std::fs::write("bytes", &data)?;
    check!(read_all(out.as_raw_fd())? == data.as_bytes());
    same!(reap(pid)?, Status::Exited(0));
    Ok(())
}

fn fifo_nonblocking() -> Done {
    fs::mkfifo("nonblocking", 0o600)?;
    refused!(fs::open("nonblocking", fs::O_WRONLY | fs::O_NONBLOCK, 0), ENXIO);
    let read = fs::open("nonblocking", fs::O_RDONLY | fs::O_NONBLOCK, 0)?;
    // No writer: the end. A writer that says nothing: nothing yet.
    same!(fd::read(read.as_raw_fd(), &mut [0])?, 0);
    let write = fs::open("nonblocking", fs::O_WRONLY | fs::O_NONBLOCK, 0)?;
    refused!(fd::read(read.as_raw_fd(), &mut [0]), EAGAIN);
    fd::write_all(write.as_raw_fd(), b"x")?;
    same!(fd::read(read.as_raw_fd(), &mut [0; 8])?, 1);
    drop(write);
    same!(fd::read(read.as_raw_fd(), &mut [0])?, 0);
    Ok(())
}

fn fifo_for_both_never_waits() -> Done {
    fs::mkfifo("both", 0o600)?;
    let both = fs::open("both", fs::O_RDWR, 0)?;
    fd::write_all(both.as_raw_fd(), b"self")?;
    let mut buffer = [0; 8];
    same!(fd::read(both.as_raw_fd(), &mut buffer)?, 4);
    fd::set_status_flags(both.as_raw_fd(), fs::O_NONBLOCK)?;
    refused!(fd::read(both.as_raw_fd(), &mut buffer), EAGAIN);
    // Others need not wait either.
    fs::open("both", fs::O_RDONLY, 0)?;
    fs::open("both", fs::O_WRONLY, 0)?;
    Ok(())
}

fn fifo_many_writers() -> Done {
    fs::mkfifo("many", 0o600)?;
    let mut pids = Vec::new();
    for letter in ["a", "b", "c"] {
        pids.push(role(&["fifo-write", "many", &letter.repeat(1000), "0"]).spawn()?);
    }
    // Held open, so that the first writer's end is not the end.
    let fifo = fs::open("many", fs::O_RDWR, 0)?;
    for pid in pids {
        same!(reap(pid)?, Status::Exited(0));
    }
    let mut buffer = vec![0; 8192];
    same!(fd::read(fifo.as_raw_fd(), &mut buffer)?, 3000);
    for record in buffer[..3000].chunks(1000) {
        check!(record.iter().all(|byte| *byte == record[0]));
    }
    Ok(())
}

fn fifo_stat_and_names() -> Done {
    fs::umask(0o027);
    fs::mkfifo("named", 0o666)?;
    let stat = fs::lstat("named")?;
    check!(stat.is_fifo());
    same!((stat.permissions(), stat.size, stat.nlink), (0o640, 0, 1));
    refused!(fs::mkfifo("named", 0o666), EEXIST);
    refused!(fs::mkfifo("missing/named", 0o666), ENOENT);
    refused!(fs::mkfifo("/usr/bin/named", 0o666), EROFS);
    let open = fs::open("named", fs::O_RDWR, 0)?;
    check!(fs::fstat(open.as_raw_fd())?.same_file(&stat));
    // Without its name it goes on.
    std::fs::remove_file("named")?;
    fd::write_all(open.as_raw_fd(), b"on")?;
    same!(fd::read(open.as_raw_fd(), &mut [0; 4])?, 2);
    Ok(())
}

fn fifo_open_is_interrupted() -> Done {
    fs::mkfifo("interrupted", 0o600)?;
    signal::set(SIGALRM, Disposition::Handle)?;
    for flags in [fs::O_RDONLY, fs::O_WRONLY] {
        signal::set_timer(20_000_000, 0)?;
        refused!(fs::open("interrupted", flags, 0), EINTR);
        same!(signal::take(), Some(SIGALRM));
    }
    // WASI's own opening too.
    let here = fs::open(".", fs::O_RDONLY, 0)?;
    signal::set_timer(20_000_000, 0)?;
    let mut out = Out::new();
    let (fd, path) = (here.as_raw_fd(), at("interrupted"));
    // SAFETY: the path is as long as said.
    refused!(unsafe { raw::wasi::path_open(fd, 0, path, 11, 0, 2, 0, 0, out.at()) }, EINTR);
    same!(signal::take(), Some(SIGALRM));
    refused!(fs::open("interrupted", fs::O_WRONLY | fs::O_NONBLOCK, 0), ENXIO);
    Ok(())
}

fn fifo_open_killed_leaves_no_ghost() -> Done {
    fs::mkfifo("ghost", 0o600)?;
    let reader = role(&["fifo-read", "ghost"]).spawn()?;
    let there = || fs::open("ghost", fs::O_WRONLY | fs::O_NONBLOCK, 0);
    // A waiting reader is a reader.
    check!(eventually(|| there().is_ok()));
    let second = role(&["fifo-read", "ghost"]).spawn()?;
    moment();
    process::kill(second, 9)?;
    same!(reap(second)?, Status::Signaled(9));
    same!(reap(reader)?, Status::Exited(0));
    refused!(there(), ENXIO);
    Ok(())
}

fn fifo_short_visit_is_enough() -> Done {
    fs::mkfifo("visit", 0o600)?;
    // The writer is gone again before the reader is scheduled; the reader must still come back from opening.
    for _ in 0..20 {
        let (pid, out) = piped(&["fifo-read", "visit"])?;
        drop(fs::open("visit", fs::O_WRONLY, 0)?);
        same!(read_all(out.as_raw_fd())?, b"");
        same!(reap(pid)?, Status::Exited(0));
    }
    Ok(())
}

fn fifo_under_two_names() -> Done {
    fs::mkfifo("first", 0o600)?;
    std::fs::hard_link("first", "second")?;
    let one = fs::open("first", fs::O_RDWR, 0)?;
    let other = fs::open("second", fs::O_RDWR | fs::O_NONBLOCK, 0)?;
    fd::write_all(one.as_raw_fd(), b"x")?;
    same!(fd::read(other.as_raw_fd(), &mut [0; 4])?, 1);
    Ok(())
}

fn fifo_forgets_between_uses() -> Done {
    fs::mkfifo("forget", 0o600)?;
    let both = fs::open("forget", fs::O_RDWR, 0)?;
    fd::write_all(both.as_raw_fd(), b"unread")?;
    drop(both);
    let read = fs::open("forget", fs::O_RDONLY | fs::O_NONBLOCK, 0)?;
    same!(fd::read(read.as_raw_fd(), &mut [0; 8])?, 0);
    let (said, _) = output(&["say", "done"])?;
    same!(said, "done\n");
    Ok(())
}
