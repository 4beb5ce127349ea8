//! Tools of the host. The sandbox of these programs, but for the first, offers `echo`, which answers its request, and
//! `fail`, which fails.

use wskill_sys::signal::{self, Disposition};
use wskill_sys::{Errno, fd, fs, tools};

use crate::raw::{self, Out, at};
use crate::support::{Done, check, programs, refused, same};

programs! { tools_absent, tools_answer, tools_refuse, tools_interrupted }

fn tools_absent() -> Done {
    same!(tools::call(b"echo", b"{}").err().map(|error| fd::errno_of(&error)), Some(Errno::ENOSYS));
    refused!(tools::list(), ENOSYS);
    Ok(())
}

fn tools_answer() -> Done {
    same!(tools::list()?, b"echo\tAnswers its request\nfail\tFails\nwait\tNever answers\n");
    same!(tools::call(b"echo", b"{\"a\": [1]}")?, Ok(b"{\"a\": [1]}".to_vec()));
    same!(tools::call(b"echo", b" \n")?, Ok(b"{}".to_vec()));
    let big = [b"\"", &[b'x'; 100_000][..], b"\""].concat();
    same!(tools::call(b"echo", &big)?, Ok(big));
    same!(tools::call(b"fail", b"null")?, Err(b"no luck".to_vec()));
    // Nothing stays open.
    check!(std::os::fd::AsRawFd::as_raw_fd(&fs::open("/dev/null", fs::O_RDONLY, 0)?) == 4);
    let mut out = Out::new();
    // SAFETY: the texts and the place for the answer are valid.
    crate::support::raw(unsafe { raw::kernel::tool_call(at("echo"), 4, at("7"), 1, out.at()) })?;
    same!((out.u32(0), out.u32(4)), (4, 0));
    check!(fd::cloexec(4)?);
    Ok(())
}

fn tools_refuse() -> Done {
    let refusal = |name: &[u8], json: &[u8]| -> Result<String, crate::support::Failure> {
        let refusal = tools::call(name, json)?.err().unwrap_or_default();
        Ok(String::from_utf8_lossy(&refusal).into_owned())
    };
    same!(refusal(b"other", b"{}")?, "there is no such tool; offered are: echo, fail, wait");
    check!(refusal(b"echo", b"{")?.starts_with("the request is no JSON: EOF"));
    check!(refusal(b"echo", b"\xff")?.starts_with("the request is no JSON"));
    let mut out = Out::new();
    for bad in [u32::MAX, 0x8000_0000] {
        // SAFETY: the kernel has to refuse what is outside of memory.
        unsafe {
            refused!(raw::kernel::tool_call(bad, 4, at("7"), 1, out.at()), EFAULT);
            refused!(raw::kernel::tool_call(at("echo"), 4, bad, 1, out.at()), EFAULT);
            refused!(raw::kernel::tool_call(at("echo"), 4, at("7"), u32::MAX, out.at()), EFAULT);
            refused!(raw::kernel::tool_call(at("echo"), 4, at("7"), 1, bad), EFAULT);
            refused!(raw::kernel::tool_call(at("echo"), 5000, at("7"), 1, out.at()), ENAMETOOLONG);
            refused!(raw::kernel::tool_list(bad), EFAULT);
        }
    }
    Ok(())
}

fn tools_interrupted() -> Done {
    signal::set(14, Disposition::Handle)?;
    signal::set_timer(50_000_000, 0)?;
    refused!(tools::call(b"wait", b"{}"), EINTR);
    same!(signal::take(), Some(14));
    Ok(())
}
