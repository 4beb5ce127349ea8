//! The raw imports, as `include/wskill.h` declares them. That header is the contract; its comments hold here too.

use core::ffi::c_char;

/// The contract's version these bindings were written for.
pub const ABI_VERSION: i32 = 1;
/// The `dirfd` that means "relative to the working directory".
pub const AT_FDCWD: i32 = -100;

/// One descriptor of a child; `parent_fd` -1 leaves `child_fd` closed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FdMap {
    pub child_fd: i32,
    pub parent_fd: i32,
}

/// What `spawn` and `exec` take.
#[repr(C)]
pub struct SpawnRequest {
    pub path: *const u8,
    pub path_len: u32,
    pub argv: *const u8,
    pub argv_len: u32,
    pub env: *const u8,
    pub env_len: u32,
    pub cwd: *const u8,
    pub cwd_len: u32,
    pub fds: *const FdMap,
    pub fds_count: u32,
    pub flags: u32,
    pub pgid: i32,
    pub umask: i32,
    pub reserved: u32,
    pub sig_ignore: u64,
}

/// What `wait` answers.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct WaitResult {
    pub pid: i32,
    pub status: i32,
    pub cpu_ns: u64,
    pub peak_memory: u64,
}

/// What `stat` and `fstat` answer.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct RawStat {
    pub dev: u64,
    pub ino: u64,
    pub mode: u32,
    pub nlink: u32,
    pub uid: u32,
    pub gid: u32,
    pub rdev: u64,
    pub size: u64,
    pub blksize: u32,
    pub reserved: u32,
    pub blocks: u64,
    pub atime_ns: i64,
    pub mtime_ns: i64,
    pub ctime_ns: i64,
}

/// What `statvfs` answers.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct RawStatVfs {
    pub block_size: u64,
    pub blocks: u64,
    pub blocks_free: u64,
    pub files: u64,
    pub files_free: u64,
    pub name_max: u64,
    pub read_only: u64,
}

// The layouts are part of the contract: the host reads and writes these bytes.
#[cfg(target_pointer_width = "32")]
const _: () = {
    assert!(size_of::<SpawnRequest>() == 64);
    assert!(core::mem::offset_of!(SpawnRequest, sig_ignore) == 56);
};
const _: () = assert!(size_of::<WaitResult>() == 24);
const _: () = assert!(size_of::<RawStat>() == 88);
const _: () = assert!(size_of::<RawStatVfs>() == 56);

#[link(wasm_import_module = "wskill")]
unsafe extern "C" {
    pub fn abi_version() -> i32;
    pub fn program_name(buf: *mut u8, cap: u32, n: *mut u32) -> i32;

    pub fn spawn(request: *const SpawnRequest, pid: *mut i32) -> i32;
    pub fn exec(request: *const SpawnRequest) -> i32;
    pub fn command_allowed(name: *const u8, len: u32) -> i32;
    pub fn wait(pid: i32, options: u32, result: *mut WaitResult) -> i32;
    pub fn kill(pid: i32, sig: i32) -> i32;
    pub fn getpid() -> i32;
    pub fn getppid() -> i32;
    pub fn getpgid(pid: i32, pgid: *mut i32) -> i32;
    pub fn setpgid(pid: i32, pgid: i32) -> i32;
    pub fn times(own_ns: *mut u64, children_ns: *mut u64) -> i32;

    pub fn sig_set(sig: i32, disposition: i32, old: *mut i32) -> i32;
    pub fn sig_take() -> i32;
    pub fn sig_flag(address: *mut u8) -> i32;
    pub fn itimer(value_ns: u64, interval_ns: u64, left_ns: *mut u64) -> i32;
    pub fn pause() -> i32;

    pub fn pipe(flags: u32, fds: *mut i32) -> i32;
    pub fn dup(fd: i32, min: i32, flags: u32, new_fd: *mut i32) -> i32;
    pub fn dup2(fd: i32, new_fd: i32, flags: u32) -> i32;
    pub fn fcntl(fd: i32, cmd: i32, arg: i32, result: *mut i32) -> i32;
    pub fn flock(fd: i32, op: u32) -> i32;
    pub fn isatty(fd: i32) -> i32;
    pub fn winsize(fd: i32, rows_cols: *mut u16) -> i32;
    pub fn memfd(flags: u32, fd: *mut i32) -> i32;
    pub fn push_context(depth: *mut i32) -> i32;
    pub fn pop_context(depth: i32) -> i32;

    pub fn tool_call(name: *const u8, name_len: u32, json: *const u8, json_len: u32, result: *mut i32) -> i32;
    pub fn tool_list(fd: *mut i32) -> i32;

    pub fn stat(dirfd: i32, path: *const u8, len: u32, flags: u32, st: *mut RawStat) -> i32;
    pub fn fstat(fd: i32, st: *mut RawStat) -> i32;
    pub fn open(dirfd: i32, path: *const u8, len: u32, oflags: u32, mode: u32, fd: *mut i32) -> i32;
    pub fn mkdir(dirfd: i32, path: *const u8, len: u32, mode: u32) -> i32;
    pub fn mkfifo(dirfd: i32, path: *const u8, len: u32, mode: u32) -> i32;
    pub fn chmod(dirfd: i32, path: *const u8, len: u32, mode: u32, flags: u32) -> i32;
    pub fn fchmod(fd: i32, mode: u32) -> i32;
    pub fn chown(dirfd: i32, path: *const u8, len: u32, uid: u32, gid: u32, flags: u32) -> i32;
    pub fn access(dirfd: i32, path: *const u8, len: u32, mode: u32, flags: u32) -> i32;
    pub fn utimens(dirfd: i32, path: *const u8, len: u32, atime_ns: i64, mtime_ns: i64, flags: u32) -> i32;
    pub fn umask(mask: u32) -> i32;
    pub fn statvfs(dirfd: i32, path: *const u8, len: u32, st: *mut RawStatVfs) -> i32;
    pub fn realpath(dirfd: i32, path: *const u8, len: u32, buf: *mut u8, cap: u32, n: *mut u32) -> i32;
    pub fn readlink(dirfd: i32, path: *const u8, len: u32, buf: *mut u8, cap: u32, n: *mut u32) -> i32;
    pub fn getcwd(buf: *mut u8, cap: u32, n: *mut u32) -> i32;
    pub fn chdir(dirfd: i32, path: *const u8, len: u32) -> i32;
    pub fn getrlimit(resource: u32, limit: *mut u64) -> i32;
}

/// What is not `wskill`'s and std does not reach in stable Rust: poll, links, libc's own working directory.
pub mod wasi {
    use super::c_char;

    /// `subscription` of WASI preview 1, one arm of its union at a time: 48 bytes.
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    pub struct Subscription {
        pub userdata: u64,
        /// 0 clock, 1 fd_read, 2 fd_write.
        pub tag: u8,
        pub pad: [u8; 7],
        /// The clock's id, or the descriptor.
        pub id_or_fd: u32,
        pub pad2: u32,
        pub timeout: u64,
        pub precision: u64,
        pub clock_flags: u16,
        pub pad3: [u8; 6],
    }

    /// `event` of WASI preview 1: 32 bytes.
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    pub struct Event {
        pub userdata: u64,
        pub error: u16,
        pub kind: u8,
        pub pad: [u8; 5],
        pub nbytes: u64,
        pub flags: u16,
        pub pad2: [u8; 6],
    }

    const _: () = assert!(size_of::<Subscription>() == 48);
    const _: () = assert!(size_of::<Event>() == 32);

    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    unsafe extern "C" {
        pub fn poll_oneoff(subs: *const Subscription, events: *mut Event, count: u32, ready: *mut u32) -> i32;
    }

    unsafe extern "C" {
        #[link_name = "chdir"]
        pub fn libc_chdir(path: *const c_char) -> i32;
        /// libc's working directory: on the heap, once `chdir` has run.
        #[link_name = "__wasilibc_cwd"]
        pub static mut LIBC_CWD: *mut c_char;
        pub fn strdup(string: *const c_char) -> *mut c_char;
        pub fn symlink(target: *const c_char, link: *const c_char) -> i32;
        #[link_name = "__wasilibc_get_environ"]
        pub fn get_environ() -> *mut *mut c_char;
    }
}
