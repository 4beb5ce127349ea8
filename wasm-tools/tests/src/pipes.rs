//! Pipes between processes and within one.

use std::os::fd::{AsRawFd, OwnedFd};

use wskill_sys::process::Status;
use wskill_sys::{Errno, fd, fs};

use crate::support::{
    Done, check, eventually, moment, output, pipe, programs, read_all, read_line, reap, refused, role, same,
};

programs! {
    pipe_keeps_bytes_in_order, pipe_ends_with_its_last_writer, pipe_capacity, pipe_short_writes_are_whole,
    pipe_small_records_never_mix, pipe_unbounded, pipe_nonblocking, pipe_stat, pipe_inherited_writer_delays_the_end,
    pipeline_of_five, pipe_reader_killed, pipe_empty_reads_and_writes, pipe_flags,
}

fn pipe_keeps_bytes_in_order() -> Done {
    let (to_read, to_write) = pipe()?;
    let (from_read, from_write) = pipe()?;
    let pid = role(&["cat"]).fd(0, to_read.as_raw_fd()).fd(1, from_write.as_raw_fd()).spawn()?;
    drop((to_read, from_write));
    let mut to_write = Some(to_write);
    let data: Vec<u8> = (0..300_000u32).map(|number| (number % 251) as u8).collect();
    let mut got = Vec::new();
    let mut sent = 0;
    let mut buffer = vec![0; 16 * 1024];
    // Less than both pipes hold is under way at any time.
    while got.len() < data.len() {
        if let Some(write) = &to_write {
            let end = data.len().min(sent + 8192);
            fd::write_all(write.as_raw_fd(), &data[sent..end])?;
            sent = end;
            if sent == data.len() {
                // The child may keep the last bytes until its input ends.
                to_write = None;
            }
        }
        let count = fd::read(from_read.as_raw_fd(), &mut buffer)?;
        check!(count > 0, "it ends after {} bytes", got.len());
        got.extend_from_slice(&buffer[..count]);
    }
    same!(fd::read(from_read.as_raw_fd(), &mut buffer)?, 0);
    check!(got == data);
    same!(reap(pid)?, Status::Exited(0));
    Ok(())
}

fn pipe_ends_with_its_last_writer() -> Done {
    let (read, write) = pipe()?;
    let second = fd::dup(write.as_raw_fd(), 0, fd::CLOEXEC)?;
    fd::write_all(write.as_raw_fd(), b"a")?;
    drop(write);
    fd::write_all(second.as_raw_fd(), b"b")?;
    drop(second);
    same!(read_all(read.as_raw_fd())?, b"ab");
    // Again and again.
    same!(fd::read(read.as_raw_fd(), &mut [0; 4])?, 0);
    Ok(())
}

/// A pipe that never waits, filled.
fn filled() -> Result<(OwnedFd, OwnedFd, usize), crate::support::Failure> {
    let (read, write) = fd::pipe(fd::NONBLOCK | fd::CLOEXEC)?;
    let mut held = 0;
    loop {
        match fd::write(write.as_raw_fd(), &[1; 4096]) {
            Ok(count) => held += count,
            Err(error) => {
                same!(fd::errno_of(&error), Errno::EAGAIN);
                return Ok((read, write, held));
            }
        }
    }
}

fn pipe_capacity() -> Done {
    let (read, write, held) = filled()?;
    same!(held, 65536);
    refused!(fd::write(write.as_raw_fd(), b"x"), EAGAIN);
    let mut buffer = [0; 5000];
    same!(fd::read(read.as_raw_fd(), &mut buffer)?, 5000);
    // A long write takes what fits.
    same!(fd::write(write.as_raw_fd(), &[2; 9000])?, 5000);
    Ok(())
}

fn pipe_short_writes_are_whole() -> Done {
    let (read, write, _) = filled()?;
    let mut buffer = [0; 4095];
    same!(fd::read(read.as_raw_fd(), &mut buffer)?, 4095);
    // All of it or nothing.
    refused!(fd::write(write.as_raw_fd(), &[2; 4096]), EAGAIN);
    same!(fd::write(write.as_raw_fd(), &[2; 4095])?, 4095);
    Ok(())
}

fn pipe_small_records_never_mix() -> Done {
    let (read, write) = pipe()?;
    let mut writers = Vec::new();
    for letter in ["a", "b", "c"] {
        writers.push(role(&["records", letter, "100", "4096"]).fd(1, write.as_raw_fd()).spawn()?);
    }
    drop(write);
    let all = read_all(read.as_raw_fd())?;
    same!(all.len(), 300 * 4096);
    for record in all.chunks(4096) {
        check!(record.iter().all(|byte| *byte == record[0]), "two writers' bytes are mixed");
    }
    for pid in writers {
        same!(reap(pid)?, Status::Exited(0));
    }
    Ok(())
}

fn pipe_unbounded() -> Done {
    let (read, write) = fd::pipe(fd::UNBOUNDED)?;
    let data = vec![5; 1 << 20];
    for _ in 0..4 {
        fd::write_all(write.as_raw_fd(), &data)?;
    }
    check!(fs::fstat(read.as_raw_fd())?.is_fifo());
    drop(write);
    same!(read_all(read.as_raw_fd())?.len(), 4 << 20);
    Ok(())
}

fn pipe_nonblocking() -> Done {
    let (read, write) = fd::pipe(fd::NONBLOCK)?;
    let mut buffer = [0; 4];
    refused!(fd::read(read.as_raw_fd(), &mut buffer), EAGAIN);
    fd::write_all(write.as_raw_fd(), b"ab")?;
    same!(fd::read(read.as_raw_fd(), &mut buffer)?, 2);
    refused!(fd::read(read.as_raw_fd(), &mut buffer), EAGAIN);
    drop(write);
    same!(fd::read(read.as_raw_fd(), &mut buffer)?, 0);
    // The flag may be set later.
    let (read, _write) = pipe()?;
    fd::set_status_flags(read.as_raw_fd(), fs::O_NONBLOCK)?;
    refused!(fd::read(read.as_raw_fd(), &mut buffer), EAGAIN);
    Ok(())
}

fn pipe_stat() -> Done {
    let (read, write) = pipe()?;
    let (one, other) = (fs::fstat(read.as_raw_fd())?, fs::fstat(write.as_raw_fd())?);
    check!(one.is_fifo() && other.is_fifo());
    check!(one.ino != 0);
    same!(one.permissions(), 0o600);
    let (second, _write) = pipe()?;
    check!(!one.same_file(&fs::fstat(second.as_raw_fd())?), "two pipes are one file");
    check!(one.same_file(&other), "the ends of a pipe are two files");
    Ok(())
}

fn pipe_inherited_writer_delays_the_end() -> Done {
    // Without close-on-exec the child holds the writing end.
    let (read, write) = fd::pipe(0)?;
    let (said, say) = pipe()?;
    let pid = role(&["ready"]).fd(1, say.as_raw_fd()).spawn()?;
    drop((write, say));
    read_line(said.as_raw_fd())?;
    fd::set_status_flags(read.as_raw_fd(), fs::O_NONBLOCK)?;
    moment();
    refused!(fd::read(read.as_raw_fd(), &mut [0]), EAGAIN);
    wskill_sys::process::kill(pid, 9)?;
    check!(eventually(|| matches!(fd::read(read.as_raw_fd(), &mut [0]), Ok(0))));
    same!(reap(pid)?, Status::Signaled(9));
    // With it, it does not.
    let (read, write) = pipe()?;
    let pid = role(&["sleep", "2000"]).spawn()?;
    drop(write);
    same!(read_all(read.as_raw_fd())?, b"");
    wskill_sys::process::kill(pid, 9)?;
    reap(pid)?;
    Ok(())
}

fn pipeline_of_five() -> Done {
    let mut pids = Vec::new();
    let (mut previous, first) = pipe()?;
    pids.push(role(&["records", "z", "50", "3000"]).fd(1, first.as_raw_fd()).spawn()?);
    drop(first);
    for _ in 0..3 {
        let (read, write) = pipe()?;
        pids.push(role(&["cat"]).fd(0, previous.as_raw_fd()).fd(1, write.as_raw_fd()).spawn()?);
        previous = read;
    }
    let (result, write) = pipe()?;
    pids.push(role(&["count"]).fd(0, previous.as_raw_fd()).fd(1, write.as_raw_fd()).spawn()?);
    drop((previous, write));
    same!(read_all(result.as_raw_fd())?, b"150000\n");
    for pid in pids {
        same!(reap(pid)?, Status::Exited(0));
    }
    Ok(())
}

fn pipe_reader_killed() -> Done {
    let (read, write) = pipe()?;
    let pid = role(&["sleep", "5000"]).fd(0, read.as_raw_fd()).spawn()?;
    drop(read);
    fd::write_all(write.as_raw_fd(), b"lost")?;
    wskill_sys::signal::set(wskill_sys::signal::SIGPIPE, wskill_sys::signal::Disposition::Ignore)?;
    wskill_sys::process::kill(pid, 9)?;
    reap(pid)?;
    refused!(fd::write(write.as_raw_fd(), b"x"), EPIPE);
    Ok(())
}

fn pipe_empty_reads_and_writes() -> Done {
    let (read, write) = pipe()?;
    same!(fd::write(write.as_raw_fd(), b"")?, 0);
    same!(fd::read(read.as_raw_fd(), &mut [])?, 0);
    fd::write_all(write.as_raw_fd(), b"x")?;
    same!(fd::read(read.as_raw_fd(), &mut [])?, 0);
    same!(fd::read(read.as_raw_fd(), &mut [0; 2])?, 1);
    Ok(())
}

fn pipe_flags() -> Done {
    refused!(fd::pipe(8), EINVAL);
    refused!(fd::pipe(u32::MAX), EINVAL);
    let (said, status) = output(&["show", "fds"])?;
    same!(status, Status::Exited(0));
    same!(said, "0 1 2\n");
    Ok(())
}
