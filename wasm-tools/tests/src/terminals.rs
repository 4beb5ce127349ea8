//! The terminal of a run. These programs are started on one, on which `first`, `second`, an end of file and `last` are
//! typed, and which is then hung up.

use std::io::IsTerminal;
use std::os::fd::AsRawFd;

use wskill_sys::{fd, fs};

use crate::raw::{self, Out};
use crate::support::{self, Done, check, programs, read_all, refused, same};

programs! { terminal_streams, terminal_lines, terminal_short_reads, terminal_by_name, terminal_is_inherited }

fn read(buffer: &mut [u8]) -> Result<String, support::Failure> {
    let count = fd::read(0, buffer)?;
    Ok(String::from_utf8_lossy(&buffer[..count]).into_owned())
}

fn terminal_streams() -> Done {
    for stream in 0..3 {
        check!(fd::isatty(stream), "descriptor {stream} is no terminal");
        same!(fd::winsize(stream)?, (24, 80));
        let stat = fs::fstat(stream)?;
        same!((stat.mode & 0o170_000, stat.rdev), (0o020_000, 0x500));
        let mut out = Out::new();
        // SAFETY: a place to write to.
        refused!(unsafe { raw::wasi::fd_seek(stream, 0, 1, out.at()) }, ESPIPE);
    }
    check!(std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && std::io::stderr().is_terminal());
    let null = std::fs::File::open("/dev/null")?;
    check!(!null.is_terminal());
    Ok(())
}

fn terminal_lines() -> Done {
    let mut buffer = [0; 100];
    for line in ["first\n", "second\n", "", "last\n", "", ""] {
        same!(read(&mut buffer)?, line);
    }
    Ok(())
}

fn terminal_short_reads() -> Done {
    // Several buffers do not take more than one line, nor lose an end of file.
    let mut buffer = Out::new();
    let at = buffer.at();
    let vectors = [raw::IoVec(at, 3), raw::IoVec(at + 8, 3), raw::IoVec(at + 16, 9)];
    let mut out = Out::new();
    // SAFETY: the buffers live on, and nothing else looks at them meanwhile.
    support::raw(unsafe { raw::wasi::fd_read(0, raw::at(&vectors), 3, out.at()) })?;
    same!(out.u32(0), 6);
    let bytes = |from: usize| [buffer.u8(from), buffer.u8(from + 1), buffer.u8(from + 2)];
    same!((bytes(0), bytes(8), bytes(16)), (*b"fir", *b"st\n", [0xa5; 3]));
    for part in ["se", "co", "nd", "\n", "", "la"] {
        same!(read(&mut [0; 2])?, part);
    }
    Ok(())
}

fn terminal_by_name() -> Done {
    let tty = fs::open("/dev/tty", fs::O_RDWR, 0)?;
    check!(fd::isatty(tty.as_raw_fd()));
    let mut buffer = [0; 100];
    let count = fd::read(tty.as_raw_fd(), &mut buffer)?;
    same!(&buffer[..count], b"first\n");
    same!(read(&mut buffer)?, "second\n");
    let duplicate = fs::open("/dev/stdin", fs::O_RDONLY, 0)?;
    check!(fd::isatty(duplicate.as_raw_fd()));
    Ok(())
}

fn terminal_is_inherited() -> Done {
    let (pid, output) = support::piped(&["cat"])?;
    // The child reads up to the end of file, which is its own.
    same!(read_all(output.as_raw_fd())?.as_slice(), &b"first\nsecond\n"[..]);
    same!(support::reap(pid)?.shell_code(), 0);
    same!(read(&mut [0; 9])?, "last\n");
    Ok(())
}
