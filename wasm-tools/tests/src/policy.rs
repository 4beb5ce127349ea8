//! The policy of commands. These programs run in a sandbox that denies the command `denied`, but for the first.

use wskill_sys::Errno;
use wskill_sys::process::{Spawn, command_allowed};

use crate::raw;
use crate::support::{COMMAND, Done, programs, refused, same};

programs! { policy_absent, policy_of_builtins, policy_of_programs }

fn policy_absent() -> Done {
    command_allowed(b"")?;
    command_allowed(b"denied")?;
    Ok(())
}

fn policy_of_builtins() -> Done {
    refused!(command_allowed(b""), EPERM);
    refused!(command_allowed(b"denied"), EPERM);
    refused!(command_allowed(b"/x/denied"), EPERM);
    command_allowed(b"other")?;
    refused!(command_allowed(&[b'x'; 4097]), ENAMETOOLONG);
    // SAFETY: the kernel has to refuse what is outside of memory.
    refused!(unsafe { raw::kernel::command_allowed(u32::MAX, 1) }, EFAULT);
    Ok(())
}

fn policy_of_programs() -> Done {
    std::fs::copy(format!("/usr/bin/{COMMAND}"), "denied")?;
    wskill_sys::fs::chmod("denied", 0o755)?;
    refused!(Spawn::path("./denied").arg("x").spawn(), EPERM);
    same!(Spawn::path("./denied").arg("x").exec(), Errno::EPERM);
    wskill_sys::fs::symlink(format!("/usr/bin/{COMMAND}"), "link")?;
    refused!(Spawn::path("./link").arg("/x/denied").spawn(), EPERM);
    // What is not there is not refused.
    refused!(Spawn::path("./other/denied").arg("x").spawn(), ENOENT);
    let pid = Spawn::path("./link").arg("x").arg("--list").close_fd(1).spawn()?;
    same!(crate::support::reap(pid).is_ok(), true);
    Ok(())
}
