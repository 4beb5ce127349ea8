//! What guests find outside of mounts: a tree that looks like a small Linux, the same for all sandboxes.

use std::sync::Arc;

use super::clock::Clock;
use super::errno::Result;
use super::kernel::{DEVICES, FD_DEVICE, TTY_DEVICE, program_file};
use super::program::{DataFile, Programs};
use super::vfs::{MemoryTree, Quota};

/// As many descriptors as `/proc/self/fd` names.
const DESCRIPTORS: u64 = 1024;

const PASSWD: &str = "root:x:0:0:root:/home/user:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/false\n";
const GROUP: &str = "root:x:0:\nnogroup:x:65534:\n";
const HOSTS: &str = "127.0.0.1\tlocalhost\n::1\tlocalhost\n";
const OS_RELEASE: &str = "NAME=\"wskill\"\nID=wskill\nPRETTY_NAME=\"wskill sandbox\"\n";
const FILESYSTEMS: &str = "nodev\ttmpfs\n";

/// Builds the tree. It is mounted read-only; its times are the same in each sandbox.
///
/// # Errors
/// None but a broken table of names.
pub fn tree(programs: &Programs, data: &[(String, DataFile)]) -> Result<MemoryTree> {
    let tree = MemoryTree::new(Arc::new(Quota::unlimited()), Arc::new(Clock::deterministic()));
    for folder in [
        "dev",
        "etc",
        "home",
        "home/user",
        "proc",
        "proc/self",
        "root",
        "tmp",
        "usr",
        "usr/bin",
        "usr/lib",
        "usr/local",
        "usr/local/bin",
        "usr/local/lib",
        "usr/share",
        "var",
        "workspace",
    ] {
        tree.add_dir(folder, 0o755)?;
    }
    for (link, target) in [
        ("bin", "usr/bin"),
        ("sbin", "usr/bin"),
        ("usr/sbin", "bin"),
        ("lib", "usr/lib"),
        ("var/tmp", "/tmp"),
        ("dev/fd", "/proc/self/fd"),
        ("dev/stdin", "/proc/self/fd/0"),
        ("dev/stdout", "/proc/self/fd/1"),
        ("dev/stderr", "/proc/self/fd/2"),
    ] {
        tree.add_symlink(link, target)?;
    }
    for (name, content) in [
        ("etc/passwd", PASSWD),
        ("etc/group", GROUP),
        ("etc/hosts", HOSTS),
        ("etc/hostname", "sandbox\n"),
        ("etc/timezone", "Etc/UTC\n"),
        ("etc/os-release", OS_RELEASE),
        ("proc/filesystems", FILESYSTEMS),
        ("proc/version", "wskill\n"),
    ] {
        tree.add_file(name, content.as_bytes().to_vec(), 0o644)?;
    }
    for &(name, id, _) in DEVICES {
        tree.add_device(format!("dev/{name}"), id, 0o666)?;
    }
    // Without a terminal opening it is ENXIO, as for a daemon.
    tree.add_device("dev/tty", TTY_DEVICE, 0o666)?;
    tree.add_devices("proc/self/fd", (0..DESCRIPTORS).map(|fd| (fd.to_string(), FD_DEVICE + fd)), 0o700)?;
    for (path, file) in data {
        if let DataFile::InMemory(bytes) = file {
            tree.add_file(path, Arc::clone(bytes), 0o644)?;
        }
    }
    for command in programs.commands() {
        tree.add_file(format!("usr/bin/{}", command.name), program_file(&command.name), 0o755)?;
    }
    Ok(tree)
}
