//! Saved descriptor tables, as subshells in place use them.

use std::os::fd::AsRawFd;
use std::path::Path;

use wskill_sys::{fd, fs};

use crate::support::{Done, check, output, pipe, programs, read_all, refused, same};

programs! {
    context_restores, context_closes_what_was_opened, context_jumps_outward, context_depth, context_shares_offsets,
}

fn context_restores() -> Done {
    let cwd = fs::getcwd()?;
    let mask = fs::current_umask();
    let depth = fd::push_context()?;
    same!(depth, 1);
    fs::chdir("/usr")?;
    fs::umask(0o077);
    fd::dup2(0, 30, 0)?;
    fd::close(1)?;
    let (shown, _) = output(&["show", "cwd"])?;
    same!(shown, "/usr\n");
    fd::pop_context(depth)?;
    same!(fs::getcwd()?, cwd);
    same!(std::env::current_dir()?, cwd);
    same!(fs::current_umask(), mask);
    check!(!fd::is_open(30) && fd::is_open(1));
    // Relative paths follow too.
    std::fs::write("here", b"")?;
    check!(Path::new(&cwd).join("here").exists());
    Ok(())
}

fn context_closes_what_was_opened() -> Done {
    let (read, write) = pipe()?;
    let (read, write) = (read.as_raw_fd(), std::mem::ManuallyDrop::new(write).as_raw_fd());
    let depth = fd::push_context()?;
    fd::dup2(write, 40, 0)?;
    fd::close(write)?;
    fd::write_all(40, b"inside")?;
    fd::pop_context(depth)?;
    check!(fd::is_open(write), "the copy's closing leaves the original");
    fd::close(write)?;
    same!(read_all(read)?, b"inside");
    Ok(())
}

fn context_jumps_outward() -> Done {
    let start = fs::getcwd()?;
    let outer = fd::push_context()?;
    fs::chdir("/usr")?;
    let inner = fd::push_context()?;
    fs::chdir("/dev")?;
    same!((outer, inner), (1, 2));
    refused!(fd::pop_context(3), EINVAL);
    refused!(fd::pop_context(0), EINVAL);
    refused!(fd::pop_context(-1), EINVAL);
    refused!(fd::pop_context(i32::MIN), EINVAL);
    fd::pop_context(outer)?;
    same!(fs::getcwd()?, start);
    refused!(fd::pop_context(outer), EINVAL);
    Ok(())
}

fn context_depth() -> Done {
    for depth in 1..=1000 {
        same!(fd::push_context()?, depth);
    }
    refused!(fd::push_context(), ELOOP);
    fd::pop_context(1000)?;
    same!(fd::push_context()?, 1000);
    fd::pop_context(1)?;
    same!(fd::push_context()?, 1);
    Ok(())
}

fn context_shares_offsets() -> Done {
    let file = crate::descriptors::file("offset", b"0123456789")?;
    let depth = fd::push_context()?;
    let mut part = [0; 4];
    fd::read(file.as_raw_fd(), &mut part)?;
    fd::pop_context(depth)?;
    fd::read(file.as_raw_fd(), &mut part)?;
    same!(&part, b"4567");
    Ok(())
}
