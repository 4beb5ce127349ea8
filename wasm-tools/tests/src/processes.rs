//! Starting processes: what a child gets, and what is refused.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsRawFd;
use std::os::wasi::ffi::OsStrExt;

use wskill_sys::process::{self, Spawn, Status};
use wskill_sys::{fd, fs};

use crate::descriptors::file;
use crate::support::{
    COMMAND, Done, Failure, check, eventually, output, pipe, piped, play, programs, read_all, read_line, reap, refused,
    role, same,
};

programs! {
    exit_codes, process_ids, process_ids_are_not_used_again, arguments, environment, program_name, search_along_path,
    start_refusals, scripts, script_loops, text_runs_under_sh, descriptor_maps, only_listed_descriptors,
    children_share_offsets, orphans, umask_of_children, nested_processes, many_in_a_row, processor_time,
    start_size_limit, modules_as_files, descriptors_end_with_their_process,
}

/// A file that may be run.
fn executable(name: &str, content: &[u8]) -> Result<(), Failure> {
    file(name, content)?;
    Ok(fs::chmod(name, 0o755)?)
}

/// Runs a path and gives its output and end.
fn run(mut spawn: Spawn) -> Result<(String, Status), Failure> {
    let (read, write) = pipe()?;
    let pid = spawn.fd(1, write.as_raw_fd()).spawn()?;
    drop(write);
    let text = read_all(read.as_raw_fd())?;
    Ok((String::from_utf8_lossy(&text).into_owned(), reap(pid)?))
}

fn exit_codes() -> Done {
    for code in [0, 1, 2, 42, 125, 126, 127, 128, 129, 137, 254, 255] {
        same!(play(&["exit", &code.to_string()])?, Status::Exited(code));
    }
    // The low eight bits count.
    for (code, seen) in [("256", 0), ("257", 1), ("4294967295", 255), ("2147483648", 0)] {
        same!(play(&["exit", code])?, Status::Exited(seen));
    }
    same!(play(&["abort"])?, Status::Signaled(6));
    Ok(())
}

fn process_ids() -> Done {
    let own = process::getpid();
    check!(own > 1, "a pid of {own}");
    let (said, _) = output(&["show", "ids"])?;
    let numbers: Vec<i32> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    check!(numbers[0] > own);
    same!(numbers[1], own);
    same!(numbers[2], process::getpgid(0)?);
    let pid = role(&["exit", "0"]).spawn()?;
    check!(pid > numbers[0]);
    reap(pid)?;
    Ok(())
}

fn process_ids_are_not_used_again() -> Done {
    let mut last = 0;
    for _ in 0..50 {
        let pid = role(&["exit", "0"]).spawn()?;
        check!(pid > last);
        last = pid;
        reap(pid)?;
        refused!(process::kill(pid, 0), ESRCH);
        refused!(process::getpgid(pid), ESRCH);
    }
    Ok(())
}

fn arguments() -> Done {
    let (said, _) = output(&["arguments", "one", "", "two words", "\u{e4}", "-x", "*"])?;
    same!(said, "[one]\n[]\n[two words]\n[\u{e4}]\n[-x]\n[*]\n");
    // Bytes that are no text; argv[0] is free.
    let mut spawn = Spawn::command(COMMAND);
    spawn.arg("another name").arg("--role").arg("show").arg("args").arg(OsStr::from_bytes(b"\xff"));
    let (said, _) = run(spawn)?;
    same!(said, "[another name]\n[--role]\n[show]\n[args]\n[\u{fffd}]\n");
    // No arguments at all are allowed; the program sees none.
    let mut spawn = Spawn::command(COMMAND);
    let pid = spawn.fd(2, fs::open("/dev/null", fs::O_WRONLY, 0)?.as_raw_fd()).spawn()?;
    same!(reap(pid)?, Status::Exited(2));
    let many: Vec<String> = (0..5000).map(|number| number.to_string()).collect();
    let mut words = vec!["arguments"];
    words.extend(many.iter().map(String::as_str));
    let (said, _) = output(&words)?;
    same!(said.lines().count(), 5000);
    Ok(())
}

fn environment() -> Done {
    let mut child = role(&["show", "env"]);
    child.env(["A=1", "EMPTY=", "WITH=a=b", "PATH=/usr/bin", "odd", "U=\u{e4}"]);
    let (said, _) = run(child)?;
    same!(said, "A=1\nEMPTY=\nWITH=a=b\nPATH=/usr/bin\nU=\u{e4}\n");
    // Nothing is added by the kernel.
    let mut child = Spawn::path(format!("/usr/bin/{COMMAND}"));
    child.args([COMMAND, "--role", "show", "env"]).env(std::iter::empty::<&str>());
    same!(run(child)?.0, "");
    // The default is the parent's.
    let (said, _) = output(&["show", "env"])?;
    check!(said.contains("PATH=/"));
    check!(!said.contains("WSKILL"), "the host's environment is visible");
    Ok(())
}

fn program_name() -> Done {
    same!(output(&["show", "program"])?.0, format!("{COMMAND}\n"));
    same!(wskill_sys::program_name(), OsString::from(COMMAND));
    let mut spawn = Spawn::path(format!("/bin/../bin/{COMMAND}"));
    spawn.args(["x", "--role", "show", "program"]);
    same!(run(spawn)?.0, format!("{COMMAND}\n"));
    let (buffer, mut out) = ([0u8; 4], crate::raw::Out::new());
    // SAFETY: the buffer is as long as said.
    refused!(unsafe { crate::raw::kernel::program_name(crate::raw::at(&buffer), 4, out.at()) }, ERANGE);
    Ok(())
}

fn search_along_path() -> Done {
    fs::mkdir("one", 0o755)?;
    fs::mkdir("two", 0o755)?;
    executable("two/mine", format!("#!/usr/bin/{COMMAND} --role\n").as_bytes())?;
    let cwd = fs::getcwd()?;
    let cwd = cwd.display();
    let search = |path: &str, name: &str| {
        let mut spawn = Spawn::command(name);
        spawn.args([name]).env([format!("PATH={path}")]);
        spawn.spawn().map(|pid| reap(pid).is_ok())
    };
    refused!(search(&format!("{cwd}/one"), "mine"), ENOENT);
    search(&format!("{cwd}/one:{cwd}/two"), "mine")?;
    search(&format!("/missing:{cwd}/two"), "mine")?;
    // Without the right to run it is passed over, and told when there is no other.
    executable("one/mine", b"")?;
    fs::chmod("one/mine", 0o644)?;
    search(&format!("{cwd}/one:{cwd}/two"), "mine")?;
    refused!(search(&format!("{cwd}/one"), "mine"), EACCES);
    // A directory of that name does not count; an empty part is the working directory.
    fs::mkdir("three", 0o755)?;
    fs::mkdir("three/mine", 0o755)?;
    search(&format!("{cwd}/three:{cwd}/two"), "mine")?;
    fs::chdir("two")?;
    search("/missing:", "mine")?;
    refused!(search("/missing", "mine"), ENOENT);
    refused!(search("/usr/bin", ""), ENOENT);
    // Without a search a name is a path.
    refused!(Spawn::path(COMMAND).spawn(), ENOENT);
    Spawn::path("./mine").arg("x").spawn().map(reap)??;
    Ok(())
}

fn start_refusals() -> Done {
    let quiet = fs::open("/dev/null", fs::O_WRONLY, 0)?;
    let start = |path: &str| Spawn::path(path).fd(2, quiet.as_raw_fd()).spawn();
    fs::mkdir("folder", 0o755)?;
    file("plain", b"text")?;
    executable("elf", b"\x7fELF\x02\x01\x01\0\0\0\0\0")?;
    executable("bare", b"#!\n")?;
    executable("gone", b"#!/missing/interpreter\n")?;
    refused!(start("missing"), ENOENT);
    refused!(start("plain/x"), ENOTDIR);
    refused!(start("folder"), EACCES);
    refused!(start("plain"), EACCES);
    refused!(start("/dev/null"), EACCES);
    refused!(start("elf"), ENOEXEC);
    refused!(start("bare"), ENOEXEC);
    refused!(start("gone"), ENOENT);
    refused!(start(""), ENOENT);
    refused!(start(&"x".repeat(5000)), ENAMETOOLONG);
    // A FIFO must not make the parent wait.
    fs::mkfifo("fifo", 0o755)?;
    refused!(start("fifo"), EACCES);
    refused!(role(&["exit", "0"]).fd(5, 99).spawn(), EBADF);
    refused!(role(&["exit", "0"]).fd(-5, 0).spawn(), EBADF);
    refused!(role(&["exit", "0"]).fd(1 << 20, 0).spawn(), EBADF | EMFILE);
    refused!(role(&["exit", "0"]).pgid(-1).spawn(), EINVAL);
    // No child is left of any of these.
    refused!(process::wait(-1), ECHILD);
    // Why it cannot run is said on what would be the child's standard error.
    let (read, write) = pipe()?;
    refused!(Spawn::path("elf").fd(2, write.as_raw_fd()).spawn(), ENOEXEC);
    drop(write);
    let said = read_all(read.as_raw_fd())?;
    let said = String::from_utf8_lossy(&said);
    check!(said.starts_with("wskill: ") && said.lines().count() == 1, "{said}");
    Ok(())
}

fn scripts() -> Done {
    let cwd = fs::getcwd()?;
    let path = cwd.join("script");
    let path = path.display();
    executable("script", format!("#!/usr/bin/{COMMAND} --list\nrest\n").as_bytes())?;
    let (said, _) = run(Spawn::path("script"))?;
    check!(said.contains("scripts"));
    let start = |head: String, words: &[&str]| {
        executable("script", head.as_bytes())?;
        let mut spawn = Spawn::path("./script");
        spawn.arg("zero").args(words);
        run(spawn)
    };
    // One argument at most, whatever spaces it holds; argv[0] is replaced by the path.
    let (said, _) = start(format!("#!  /usr/bin/{COMMAND}   --role  \n"), &["x"])?;
    same!(said, "");
    executable("show", format!("#!/usr/bin/{COMMAND} --role\n").as_bytes())?;
    // `env NAME` is looked up along PATH, and what lies elsewhere is found by its name.
    for head in ["#!/usr/bin/env guest-tests\n", "#!/usr/local/bin/guest-tests\n", "#!/opt/x/guest-tests\r\n"] {
        let (_, status) = start(head.replace("\r", ""), &[])?;
        same!(status, Status::Exited(2));
    }
    // A script may be another's interpreter.
    executable("outer", format!("#!{path}\n").as_bytes())?;
    executable("script", format!("#!/usr/bin/{COMMAND} --role\n").as_bytes())?;
    let (_, status) = run(Spawn::path("outer"))?;
    same!(status, Status::Exited(97));
    // A script in a tree that cannot be written needs no execute bit; here it does.
    fs::chmod("script", 0o644)?;
    refused!(Spawn::path("script").spawn(), EACCES);
    Ok(())
}

fn script_loops() -> Done {
    let cwd = fs::getcwd()?;
    executable("loop", format!("#!{}/loop\n", cwd.display()).as_bytes())?;
    refused!(Spawn::path("loop").spawn(), ELOOP);
    executable("chain0", format!("#!/usr/bin/{COMMAND} --role\n").as_bytes())?;
    for number in 1..=8 {
        executable(&format!("chain{number}"), format!("#!{}/chain{}\n", cwd.display(), number - 1).as_bytes())?;
    }
    same!(run(Spawn::path("chain3"))?.1, Status::Exited(97));
    refused!(Spawn::path("chain8").spawn(), ELOOP);
    Ok(())
}

fn text_runs_under_sh() -> Done {
    // This module is installed as `sh` too; it says that it knows no such program.
    executable("text", b"echo hi\n")?;
    let quiet = fs::open("/dev/null", fs::O_WRONLY, 0)?;
    let pid = Spawn::path("text").arg("text").fd(2, quiet.as_raw_fd()).spawn()?;
    same!(reap(pid)?, Status::Exited(2));
    executable("empty", b"")?;
    let pid = Spawn::path("empty").arg("empty").fd(2, quiet.as_raw_fd()).spawn()?;
    same!(reap(pid)?, Status::Exited(2));
    Ok(())
}

fn descriptor_maps() -> Done {
    let (read_a, write_a) = pipe()?;
    let (read_b, write_b) = pipe()?;
    let (a, b) = (write_a.as_raw_fd(), write_b.as_raw_fd());
    // Numbers may be swapped: all maps are from the parent's table at once.
    let pid = role(&["write", &a.to_string(), "to b"]).fd(a, b).fd(b, a).spawn()?;
    same!(reap(pid)?, Status::Exited(0));
    let pid = role(&["write", &b.to_string(), "to a"]).fd(a, b).fd(b, a).spawn()?;
    same!(reap(pid)?, Status::Exited(0));
    drop((write_a, write_b));
    same!(read_all(read_b.as_raw_fd())?, b"to b");
    same!(read_all(read_a.as_raw_fd())?, b"to a");
    // The later of two maps counts; -1 closes; a mapped one is inherited although it closes on exec.
    let closing = fs::open("/dev/null", fs::O_RDONLY | fs::O_CLOEXEC, 0)?;
    let mut child = role(&["show", "fds"]);
    child.fd(7, 99).fd(7, closing.as_raw_fd()).fd(0, -1).fd(50, -1).fd(closing.as_raw_fd(), closing.as_raw_fd());
    refused!(child.spawn(), EBADF);
    let mut child = role(&["show", "fds"]);
    child.fd(7, closing.as_raw_fd()).fd(0, -1).fd(50, -1);
    same!(run(child)?.0, "1 2 7\n");
    let mut child = role(&["show", "fds"]);
    child.fd(30, closing.as_raw_fd()).fd(30, -1);
    same!(run(child)?.0, "0 1 2\n");
    Ok(())
}

fn only_listed_descriptors() -> Done {
    fd::dup2(0, 20, 0)?;
    fd::dup2(0, 21, fd::CLOEXEC)?;
    same!(output(&["show", "fds"])?.0, "0 1 2 20\n");
    let mut child = role(&["show", "fds"]);
    child.close_other_fds();
    same!(run(child)?.0, "1\n");
    let mut child = role(&["show", "fds"]);
    child.close_other_fds().fd(21, 21).fd(2, 2);
    same!(run(child)?.0, "1 2 21\n");
    Ok(())
}

fn children_share_offsets() -> Done {
    let file = file("offset", b"0123456789")?;
    let number = file.as_raw_fd().to_string();
    let pid = role(&["move-offset", &number, "4"]).fd(file.as_raw_fd(), file.as_raw_fd()).spawn()?;
    same!(reap(pid)?, Status::Exited(0));
    let mut rest = [0; 16];
    same!(fd::read(file.as_raw_fd(), &mut rest)?, 6);
    // Output of parent and child follow each other in one file.
    let log = fs::open("log", fs::O_WRONLY | fs::O_CREAT, 0o644)?;
    fd::write_all(log.as_raw_fd(), b"parent ")?;
    reap(role(&["say", "child"]).fd(1, log.as_raw_fd()).spawn()?)?;
    fd::write_all(log.as_raw_fd(), b"parent")?;
    same!(std::fs::read("log")?, b"parent child\nparent");
    Ok(())
}

fn orphans() -> Done {
    let (said, status) = output(&["leave", "30"])?;
    same!(status, Status::Exited(0));
    let orphan: i32 = said.trim().parse().unwrap_or(0);
    // It is nobody's child any more, lives on and goes away by itself.
    refused!(process::wait(orphan), ECHILD);
    check!(eventually(|| process::kill(orphan, 0) == Err(wskill_sys::Errno::ESRCH)));
    // A process whose parent has gone has init as its parent.
    let (read, write) = pipe()?;
    let (input, hold) = pipe()?;
    let middle = role(&["adopt"]).fd(0, input.as_raw_fd()).fd(1, write.as_raw_fd()).spawn()?;
    drop((write, input));
    same!(reap(middle)?, Status::Exited(0));
    drop(hold);
    same!(read_all(read.as_raw_fd())?, b"1\n");
    Ok(())
}

fn umask_of_children() -> Done {
    same!(output(&["show", "umask"])?.0, "022\n");
    fs::umask(0o077);
    same!(output(&["show", "umask"])?.0, "077\n");
    let mut child = role(&["show", "umask"]);
    child.umask(0o007);
    same!(run(child)?.0, "007\n");
    same!(fs::umask(0), 0o077);
    Ok(())
}

fn nested_processes() -> Done {
    same!(play(&["nest", "20"])?, Status::Exited(42));
    Ok(())
}

fn many_in_a_row() -> Done {
    for number in 0..300 {
        let code = number % 256;
        same!(play(&["exit", &code.to_string()])?, Status::Exited(code));
    }
    refused!(process::wait(-1), ECHILD);
    Ok(())
}

fn processor_time() -> Done {
    let (own, children) = process::times()?;
    same!(children, 0);
    let mut sum = 0u64;
    for number in 0..3_000_000u64 {
        sum = std::hint::black_box(sum ^ number);
    }
    let (later, _) = process::times()?;
    check!(later > own, "no time has passed");
    let pid = role(&["hoard"]).fd(1, fs::open("/dev/null", fs::O_WRONLY, 0)?.as_raw_fd()).spawn()?;
    let waited = process::wait(pid)?;
    check!(waited.cpu_ns > 0);
    check!(waited.peak_memory > 1 << 20, "a peak of {} bytes", waited.peak_memory);
    same!(process::times()?.1, waited.cpu_ns);
    Ok(())
}

fn start_size_limit() -> Done {
    let large = "x".repeat(3 << 20);
    refused!(role(&["say", &large]).spawn(), E2BIG);
    // Many small ones count with their pointers.
    let words = vec!["a"; 400_000];
    refused!(role(&words).spawn(), E2BIG);
    let mut child = role(&["exit", "0"]);
    child.env([format!("BIG={large}")]);
    refused!(child.spawn(), E2BIG);
    // Just below it works.
    let fitting = "y".repeat(1 << 20);
    let (said, _) = output(&["say", &fitting])?;
    same!(said.len(), fitting.len() + 1);
    Ok(())
}

fn modules_as_files() -> Done {
    // The smallest module: `(module (func (export "_start")))`.
    let module = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x07\x0a\x01\x06_start\0\0\x0a\x04\x01\x02\0\x0b";
    executable("tiny", module)?;
    same!(run(Spawn::path("./tiny"))?.1, Status::Exited(0));
    // A file of an installed program may be copied.
    std::fs::copy(format!("/usr/bin/{COMMAND}"), "copied")?;
    fs::chmod("copied", 0o755)?;
    let mut spawn = Spawn::path("./copied");
    spawn.args(["copied", "--role", "show", "program"]);
    same!(run(spawn)?.0, format!("{COMMAND}\n"));
    // Broken ones are refused in one line.
    for (name, bytes) in
        [("cut", &module[..20]), ("garbled", b"\0asm\x01\0\0\0\xff\xff\xff"), ("library", &module[..8])]
    {
        executable(name, bytes)?;
        let (read, write) = pipe()?;
        refused!(Spawn::path(name).fd(2, write.as_raw_fd()).spawn(), ENOEXEC);
        drop(write);
        let said = read_all(read.as_raw_fd())?;
        let said = String::from_utf8_lossy(&said);
        check!(said.starts_with("wskill: ") && said.lines().count() == 1, "{name}: {said}");
    }
    Ok(())
}

fn descriptors_end_with_their_process() -> Done {
    // However a process ends, its descriptors are closed: a pipe's reader sees the end.
    for (words, signal) in [(["leak", ""], 0), (["abort", ""], 0), (["ready", ""], 9), (["spin", ""], 9)] {
        let (pid, out) = piped(&words)?;
        if signal != 0 {
            read_line(out.as_raw_fd())?;
            process::kill(pid, signal)?;
        }
        same!(read_all(out.as_raw_fd())?, b"");
        reap(pid)?;
    }
    Ok(())
}
