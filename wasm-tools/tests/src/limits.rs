//! Limits that a guest meets.

use std::os::fd::AsRawFd;

use wskill_sys::fs::{self, Resource};
use wskill_sys::process::{self, Status};
use wskill_sys::{Errno, fd};

use crate::raw::{self, Out};
use crate::support::{Done, check, output, pipe, piped, play, programs, read_all, reap, refused, role, same};

programs! { resource_limits, process_limit, memory_limit, memory_comes_back, pipe_memory, memory_file_limit }

fn resource_limits() -> Done {
    same!(fs::rlimit(Resource::OpenFiles)?, Some(256));
    same!(fs::rlimit(Resource::Processes)?, Some(128));
    check!(fs::rlimit(Resource::AddressSpace)?.is_some_and(|bytes| bytes >= 1 << 20));
    check!(fs::rlimit(Resource::Data)?.is_some_and(|bytes| bytes >= 1 << 20));
    check!(fs::rlimit(Resource::Stack)?.is_some_and(|bytes| bytes >= 1 << 20));
    check!(fs::rlimit(Resource::FileSize)?.is_some_and(|bytes| bytes > 0));
    check!(fs::rlimit(Resource::Cpu)?.is_some());
    let mut out = Out::new();
    // SAFETY: `out` takes the answers.
    unsafe {
        for known in 0..16 {
            same!(raw::kernel::getrlimit(known, out.at()), 0);
        }
        for bad in [16, 1000, u32::MAX] {
            refused!(raw::kernel::getrlimit(bad, out.at()), EINVAL);
        }
    }
    Ok(())
}

fn process_limit() -> Done {
    let limit = fs::rlimit(Resource::Processes)?.unwrap_or(0) as usize;
    let mut pids = Vec::new();
    let refusal = loop {
        match role(&["sleep", "60000"]).spawn() {
            Ok(pid) => pids.push(pid),
            Err(errno) => break errno,
        }
        check!(pids.len() <= limit, "no limit is met");
    };
    same!(refusal, Errno::EAGAIN);
    // This process is one of them.
    same!(pids.len(), limit - 1);
    process::kill(pids[0], 9)?;
    reap(pids.remove(0))?;
    same!(play(&["exit", "1"])?, Status::Exited(1));
    pids.push(role(&["sleep", "60000"]).spawn()?);
    refused!(role(&["exit", "0"]).spawn(), EAGAIN);
    for pid in pids {
        process::kill(pid, 9)?;
        same!(reap(pid)?, Status::Signaled(9));
    }
    same!(play(&["exit", "2"])?, Status::Exited(2));
    Ok(())
}

fn memory_limit() -> Done {
    let limit = fs::rlimit(Resource::AddressSpace)?.unwrap_or(0) >> 20;
    // Asking for more is an error that a program can handle, and not its end.
    let (said, status) = output(&["hoard"])?;
    same!(status, Status::Exited(0));
    let got: u64 = said.trim().parse().unwrap_or(0);
    check!(got > limit / 2 && got < limit, "{got} MiB of {limit}");
    Ok(())
}

fn memory_comes_back() -> Done {
    let first = output(&["hoard"])?.0;
    for _ in 0..3 {
        same!(output(&["hoard"])?.0, first);
    }
    Ok(())
}

fn pipe_memory() -> Done {
    // Pipes are charged for what waits in them, and give it back.
    for _ in 0..3 {
        let mut pipes = Vec::new();
        let refusal = loop {
            let (read, write) = match fd::pipe(fd::NONBLOCK) {
                Ok(ends) => ends,
                Err(errno) => break errno,
            };
            match fd::write(write.as_raw_fd(), &[0; 65536]) {
                Ok(65536) => pipes.push((read, write)),
                Ok(count) => check!(false, "only {count} bytes fit"),
                Err(error) => break fd::errno_of(&error),
            }
        };
        check!(refusal == Errno::EMFILE || refusal == Errno::ENOMEM, "{refusal:?}");
        check!(pipes.len() > 50);
    }
    Ok(())
}

fn memory_file_limit() -> Done {
    for _ in 0..2 {
        let file = std::fs::File::from(fd::memfd(0)?);
        refused!(file.set_len(1 << 40), ENOMEM | EFBIG | ENOSPC);
        file.set_len(1 << 20)?;
        // A hole costs as if it were full.
        let mut all = Vec::new();
        let refusal = loop {
            let more = std::fs::File::from(fd::memfd(0)?);
            if let Err(error) = more.set_len(256 << 20) {
                break error;
            }
            all.push(more);
            check!(all.len() < 100);
        };
        refused!(Err::<(), _>(refusal), ENOMEM | ENOSPC);
    }
    let (pid, out) = piped(&["say", "fine"])?;
    same!(read_all(out.as_raw_fd())?, b"fine\n");
    reap(pid)?;
    let (_read, _write) = pipe()?;
    Ok(())
}
