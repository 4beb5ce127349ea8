//! What the programs' children do.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::wasi::ffi::OsStrExt;
use std::process::ExitCode;
use std::time::Duration;

use wskill_sys::fd::{self, Lock};
use wskill_sys::fs;
use wskill_sys::process;
use wskill_sys::signal::{self, Disposition};

use crate::raw;
use crate::support::{reap, role};

/// Plays a role; an error of any kind is status 99.
pub fn play(words: &[OsString]) -> ExitCode {
    let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap_or("?")).collect();
    let Some((&name, arguments)) = words.split_first() else { return ExitCode::from(98) };
    match act(name, arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("role {name}: {error}");
            ExitCode::from(99)
        }
    }
}

fn number<T: std::str::FromStr + Default>(arguments: &[&str], index: usize) -> T {
    arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn text<'a>(arguments: &[&'a str], index: usize) -> &'a str {
    arguments.get(index).copied().unwrap_or_default()
}

fn act(name: &str, arguments: &[&str]) -> io::Result<u8> {
    match name {
        // Any 32-bit code, as the kernel gets it.
        // SAFETY: a plain number; it does not come back.
        "exit" => unsafe { raw::wasi::proc_exit(number(arguments, 0)) },
        "sleep" => fd::sleep(Duration::from_millis(number(arguments, 0)))?,
        "late" => {
            fd::sleep(Duration::from_millis(number(arguments, 0)))?;
            fd::write_all(1, b"late")?;
        }
        // Says that it runs, then sleeps for ever.
        "ready" => {
            fd::write_all(1, b"ready\n")?;
            loop {
                // Signals that are handled only interrupt.
                let _ = fd::sleep(Duration::from_secs(1000));
            }
        }
        // Computes for ever without calling the kernel.
        "spin" => {
            fd::write_all(1, b"ready\n")?;
            loop {
                std::hint::black_box(0);
            }
        }
        "abort" => std::process::abort(),
        // Copies its input to its output.
        "cat" => {
            io::copy(&mut io::stdin().lock(), &mut io::stdout().lock())?;
        }
        "count" => {
            let mut all = Vec::new();
            io::stdin().read_to_end(&mut all)?;
            println!("{}", all.len());
        }
        // Writes until that fails; `ignoring`: with SIGPIPE ignored, which makes it an error.
        "flood" => {
            if text(arguments, 0) == "ignoring" {
                signal::set(signal::SIGPIPE, Disposition::Ignore)?;
            }
            while fd::write_all(1, &[b'x'; 8192]).is_ok() {}
            return Ok(7);
        }
        "say" => println!("{}", arguments.join(" ")),
        // Writes the rest of the words to a descriptor.
        "write" => fd::write_all(number(arguments, 0), arguments[1..].join(" ").as_bytes())?,
        // Writes COUNT records of SIZE equal letters to its output, each at once.
        "records" => {
            let record = text(arguments, 0).repeat(number(arguments, 2));
            for _ in 0..number::<usize>(arguments, 1) {
                fd::write_all(1, record.as_bytes())?;
            }
        }
        // Appends COUNT records made of two buffers to a file.
        "append" => {
            let mut file = std::fs::OpenOptions::new().append(true).open(text(arguments, 0))?;
            let (head, tail) = (text(arguments, 1).repeat(100), text(arguments, 1).repeat(99) + "\n");
            for _ in 0..number::<usize>(arguments, 2) {
                let parts = [io::IoSlice::new(head.as_bytes()), io::IoSlice::new(tail.as_bytes())];
                if file.write_vectored(&parts)? != 200 {
                    return Ok(3);
                }
            }
        }
        // Prints what it was given.
        "show" => show(text(arguments, 0))?,
        "arguments" => arguments.iter().for_each(|word| println!("[{word}]")),
        // Whether a signal starts ignored.
        "ignored" => {
            let number = number(arguments, 0);
            let before = signal::set(number, Disposition::Default)?;
            return Ok(u8::from(before != Disposition::Ignore));
        }
        // Starts a sleeper, tells its pid and leaves it behind.
        "leave" => println!("{}", role(&["sleep", text(arguments, 0)]).spawn()?),
        // Starts `parent` and leaves it behind.
        "adopt" => {
            role(&["parent"]).spawn()?;
        }
        // Tells its parent's pid once the input has ended.
        "parent" => {
            io::stdin().read_to_end(&mut Vec::new())?;
            println!("{}", process::getppid());
        }
        // Processes inside processes; the innermost status comes out.
        "nest" => {
            let depth: u32 = number(arguments, 0);
            if depth == 0 {
                return Ok(42);
            }
            return Ok(reap(role(&["nest", &(depth - 1).to_string()]).spawn()?)?.shell_code() as u8);
        }
        // Ends by a signal it sends to itself, or tells that it lived on.
        "suicide" => {
            process::kill(process::getpid(), number(arguments, 0))?;
            fd::write_all(1, b"still alive\n")?;
        }
        "raise" => {
            // SAFETY: a plain number.
            unsafe { raw::wasi::proc_raise(number(arguments, 0)) };
            fd::write_all(1, b"still alive\n")?;
        }
        // Waits to be told a handled signal and tells its number as its status.
        "handle" => {
            signal::set(number(arguments, 0), Disposition::Handle)?;
            fd::write_all(1, b"ready\n")?;
            signal::pause();
            return Ok(signal::take().unwrap_or(0) as u8);
        }
        // Takes a lock and keeps it until the input has ended.
        "lock" => {
            let file = fs::open(text(arguments, 0), fs::O_RDWR, 0)?;
            let kind = if text(arguments, 1) == "shared" { Lock::Shared } else { Lock::Exclusive };
            fd::flock(file.as_raw_fd(), kind, text(arguments, 2) == "wait")?;
            fd::write_all(1, b"ready\n")?;
            io::stdin().read_to_end(&mut Vec::new())?;
        }
        // Turns a shared lock into an exclusive one once the input has ended.
        "upgrade" => {
            let file = fs::open(text(arguments, 0), fs::O_RDWR, 0)?;
            fd::flock(file.as_raw_fd(), Lock::Shared, true)?;
            fd::write_all(1, b"ready\n")?;
            io::stdin().read_to_end(&mut Vec::new())?;
            fd::flock(file.as_raw_fd(), Lock::Exclusive, true)?;
        }
        // Opens a FIFO for writing and says something into it.
        "fifo-write" => {
            fd::sleep(Duration::from_millis(number(arguments, 2)))?;
            let fifo = fs::open(text(arguments, 0), fs::O_WRONLY, 0)?;
            fd::write_all(fifo.as_raw_fd(), text(arguments, 1).as_bytes())?;
        }
        // Opens a FIFO for reading and copies it to its output.
        "fifo-read" => {
            let mut fifo = fs::open_file(text(arguments, 0), fs::O_RDONLY, 0)?;
            io::copy(&mut fifo, &mut io::stdout().lock())?;
        }
        "exec" => {
            let next = role(arguments);
            return Err(next.exec().into());
        }
        // Moves itself into a group of its own and says so.
        "own-group" => {
            process::setpgid(0, 0)?;
            return act("ready", &[]);
        }
        // Takes memory until there is none.
        "hoard" => {
            let mut blocks: Vec<Vec<u8>> = Vec::new();
            loop {
                let mut block: Vec<u8> = Vec::new();
                if block.try_reserve_exact(1 << 20).is_err() {
                    println!("{}", blocks.len());
                    return Ok(0);
                }
                blocks.push(block);
            }
        }
        "move-offset" => {
            let mut buffer = vec![0; number(arguments, 1)];
            fd::read(number(arguments, 0), &mut buffer)?;
        }
        "chdir" => {
            fs::chdir(text(arguments, 0))?;
        }
        "timer" => {
            signal::set_timer(number::<u64>(arguments, 0) * 1_000_000, 0)?;
            fd::sleep(Duration::from_secs(10))?;
        }
        // Arms the timer and becomes something that is ended by it.
        "timer-exec" => {
            signal::set_timer(30_000_000, 0)?;
            return Err(role(&["ready"]).exec().into());
        }
        // Gets a handled signal and becomes another program before it asks for it.
        "pending-exec" => {
            signal::set(signal::SIGTERM, Disposition::Handle)?;
            process::kill(process::getpid(), signal::SIGTERM)?;
            return Err(role(&["sleep", "5000"]).exec().into());
        }
        // Starts a child and becomes what waits for it.
        "spawn-exec-wait" => {
            role(&["exit", "31"]).spawn()?;
            return Err(role(&["wait-any"]).exec().into());
        }
        "wait-any" => println!("{}", process::wait(-1)?.status.shell_code()),
        // Keeps descriptor 9 only in a saved context and becomes a sleeper.
        "context-exec" => {
            fd::push_context()?;
            fd::close(9)?;
            return Err(role(&["sleep", "10000"]).exec().into());
        }
        // Whether no other process can be sent a signal; says how many were in the way.
        "alone" => match process::kill(-1, 0) {
            Err(wskill_sys::Errno::ESRCH) => {}
            other => {
                eprintln!("not alone: {other:?}");
                return Ok(1);
            }
        },
        "nest-ready" => {
            let depth: u32 = number(arguments, 0);
            let deeper = depth.saturating_sub(1).to_string();
            let next = if depth == 0 { role(&["ready"]) } else { role(&["nest-ready", &deeper]) };
            reap(next.spawn()?)?;
        }
        // A child writes into a pipe that this process never empties.
        "flood-child" => {
            let (_read, write) = fd::pipe(fd::CLOEXEC)?;
            reap(role(&["flood"]).fd(1, write.as_raw_fd()).spawn()?)?;
        }
        // Waits for ever, each time in another call.
        "block" => block(text(arguments, 0))?,
        "write-file" => std::fs::write(text(arguments, 0), text(arguments, 1))?,
        "random" => {
            let mut bytes = [0; 16];
            fd::read(fs::open("/dev/urandom", fs::O_RDONLY, 0)?.as_raw_fd(), &mut bytes)?;
            println!("{bytes:?} {:?}", std::time::SystemTime::now());
        }
        "fork-bomb" => loop {
            let _ = role(&["fork-bomb"]).spawn();
            let _ = raw::yield_now();
        },
        "leak" => {
            // On purpose: the kernel must close it.
            let _ = fs::open("/dev/null", fs::O_RDONLY, 0)?.into_raw_fd();
        }
        _ => return Ok(97),
    }
    Ok(0)
}

fn block(how: &str) -> io::Result<()> {
    let (read, write) = fd::pipe(0)?;
    match how {
        "read" => drop(fd::read(read.as_raw_fd(), &mut [0])?),
        "write" => fd::write_all(write.as_raw_fd(), &vec![0; 1 << 20])?,
        "fifo" => {
            let name = format!("/tmp/block{}", process::getpid());
            fs::mkfifo(&name, 0o600)?;
            drop(fs::open(&name, fs::O_RDONLY, 0)?);
        }
        "lock" => {
            let one = fs::open("/tmp/block", fs::O_RDWR | fs::O_CREAT, 0o600)?;
            let other = fs::open("/tmp/block", fs::O_RDWR, 0)?;
            fd::flock(one.as_raw_fd(), Lock::Exclusive, true)?;
            fd::flock(other.as_raw_fd(), Lock::Exclusive, true)?;
        }
        _ => drop(reap(role(&["block", "read"]).spawn()?)?),
    }
    Ok(())
}

fn show(what: &str) -> io::Result<()> {
    match what {
        "fds" => {
            let open: Vec<String> = (0..64).filter(|&n| fd::is_open(n)).map(|n| n.to_string()).collect();
            println!("{}", open.join(" "));
        }
        "cwd" => println!("{}", fs::getcwd()?.display()),
        "umask" => println!("{:03o}", fs::current_umask()),
        "ids" => println!("{} {} {}", process::getpid(), process::getppid(), process::getpgid(0)?),
        "program" => println!("{}", wskill_sys::program_name().display()),
        "env" => {
            for (name, value) in std::env::vars_os() {
                let mut out = io::stdout().lock();
                out.write_all(name.as_bytes())?;
                out.write_all(b"=")?;
                out.write_all(value.as_bytes())?;
                out.write_all(b"\n")?;
            }
        }
        "args" => {
            for word in std::env::args_os() {
                println!("[{}]", word.display());
            }
        }
        "offset" => {
            let mut rest = Vec::new();
            io::stdin().read_to_end(&mut rest)?;
            io::stdout().write_all(&rest)?;
        }
        _ => println!("?"),
    }
    Ok(())
}
