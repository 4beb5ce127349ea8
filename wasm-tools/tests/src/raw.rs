//! The kernel's calls as plain numbers, for arguments that no binding would pass.

/// `wasi_snapshot_preview1`, all 46.
pub mod wasi {
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    unsafe extern "C" {
        pub fn args_get(pointers: u32, buffer: u32) -> i32;
        pub fn args_sizes_get(count: u32, size: u32) -> i32;
        pub fn environ_get(pointers: u32, buffer: u32) -> i32;
        pub fn environ_sizes_get(count: u32, size: u32) -> i32;
        pub fn clock_res_get(id: i32, out: u32) -> i32;
        pub fn clock_time_get(id: i32, precision: u64, out: u32) -> i32;
        pub fn fd_advise(fd: i32, offset: u64, length: u64, advice: i32) -> i32;
        pub fn fd_allocate(fd: i32, offset: u64, length: u64) -> i32;
        pub fn fd_close(fd: i32) -> i32;
        pub fn fd_datasync(fd: i32) -> i32;
        pub fn fd_fdstat_get(fd: i32, out: u32) -> i32;
        pub fn fd_fdstat_set_flags(fd: i32, flags: i32) -> i32;
        pub fn fd_fdstat_set_rights(fd: i32, rights: u64, inheriting: u64) -> i32;
        pub fn fd_filestat_get(fd: i32, out: u32) -> i32;
        pub fn fd_filestat_set_size(fd: i32, size: u64) -> i32;
        pub fn fd_filestat_set_times(fd: i32, accessed: u64, modified: u64, flags: i32) -> i32;
        pub fn fd_pread(fd: i32, iovs: u32, count: u32, offset: u64, out: u32) -> i32;
        pub fn fd_prestat_dir_name(fd: i32, out: u32, length: u32) -> i32;
        pub fn fd_prestat_get(fd: i32, out: u32) -> i32;
        pub fn fd_pwrite(fd: i32, iovs: u32, count: u32, offset: u64, out: u32) -> i32;
        pub fn fd_read(fd: i32, iovs: u32, count: u32, out: u32) -> i32;
        pub fn fd_readdir(fd: i32, buffer: u32, length: u32, cookie: u64, out: u32) -> i32;
        pub fn fd_renumber(from: i32, to: i32) -> i32;
        pub fn fd_seek(fd: i32, delta: i64, whence: i32, out: u32) -> i32;
        pub fn fd_sync(fd: i32) -> i32;
        pub fn fd_tell(fd: i32, out: u32) -> i32;
        pub fn fd_write(fd: i32, iovs: u32, count: u32, out: u32) -> i32;
        pub fn path_create_directory(fd: i32, path: u32, length: u32) -> i32;
        pub fn path_filestat_get(fd: i32, flags: i32, path: u32, length: u32, out: u32) -> i32;
        pub fn path_filestat_set_times(
            fd: i32,
            lookup: i32,
            path: u32,
            length: u32,
            accessed: u64,
            modified: u64,
            flags: i32,
        ) -> i32;
        pub fn path_link(fd: i32, flags: i32, path: u32, length: u32, to: i32, new: u32, new_length: u32) -> i32;
        pub fn path_open(
            fd: i32,
            lookup: i32,
            path: u32,
            length: u32,
            oflags: i32,
            rights: u64,
            inheriting: u64,
            fdflags: i32,
            out: u32,
        ) -> i32;
        pub fn path_readlink(fd: i32, path: u32, length: u32, buffer: u32, capacity: u32, out: u32) -> i32;
        pub fn path_remove_directory(fd: i32, path: u32, length: u32) -> i32;
        pub fn path_rename(fd: i32, path: u32, length: u32, to: i32, new: u32, new_length: u32) -> i32;
        pub fn path_symlink(target: u32, target_length: u32, fd: i32, path: u32, length: u32) -> i32;
        pub fn path_unlink_file(fd: i32, path: u32, length: u32) -> i32;
        pub fn poll_oneoff(subscriptions: u32, events: u32, count: u32, out: u32) -> i32;
        pub fn proc_exit(code: u32) -> !;
        pub fn proc_raise(signal: i32) -> i32;
        pub fn random_get(buffer: u32, length: u32) -> i32;
        pub fn sched_yield() -> i32;
        pub fn sock_accept(fd: i32, flags: i32, out: u32) -> i32;
        pub fn sock_recv(fd: i32, iovs: u32, count: u32, flags: i32, out: u32, out_flags: u32) -> i32;
        pub fn sock_send(fd: i32, iovs: u32, count: u32, flags: i32, out: u32) -> i32;
        pub fn sock_shutdown(fd: i32, how: i32) -> i32;
    }
}

/// `wskill`, those whose arguments the bindings check or fill.
pub mod kernel {
    #[link(wasm_import_module = "wskill")]
    unsafe extern "C" {
        pub fn program_name(buffer: u32, capacity: u32, out: u32) -> i32;
        pub fn spawn(request: u32, pid: u32) -> i32;
        pub fn exec(request: u32) -> i32;
        pub fn command_allowed(name: u32, length: u32) -> i32;
        pub fn wait(pid: i32, options: u32, out: u32) -> i32;
        pub fn getpgid(pid: i32, out: u32) -> i32;
        pub fn times(own: u32, children: u32) -> i32;
        pub fn sig_set(signal: i32, disposition: i32, old: u32) -> i32;
        pub fn sig_flag(address: u32) -> i32;
        pub fn itimer(value: u64, interval: u64, left: u32) -> i32;
        pub fn pipe(flags: u32, out: u32) -> i32;
        pub fn dup(fd: i32, min: i32, flags: u32, out: u32) -> i32;
        pub fn dup2(fd: i32, target: i32, flags: u32) -> i32;
        pub fn fcntl(fd: i32, command: i32, argument: i32, out: u32) -> i32;
        pub fn flock(fd: i32, operation: u32) -> i32;
        pub fn isatty(fd: i32) -> i32;
        pub fn winsize(fd: i32, out: u32) -> i32;
        pub fn memfd(flags: u32, out: u32) -> i32;
        pub fn push_context(out: u32) -> i32;
        pub fn pop_context(depth: i32) -> i32;
        pub fn tool_call(name: u32, name_length: u32, json: u32, json_length: u32, out: u32) -> i32;
        pub fn tool_list(out: u32) -> i32;
        pub fn stat(dirfd: i32, path: u32, length: u32, flags: u32, out: u32) -> i32;
        pub fn fstat(fd: i32, out: u32) -> i32;
        pub fn open(dirfd: i32, path: u32, length: u32, flags: u32, mode: u32, out: u32) -> i32;
        pub fn mkdir(dirfd: i32, path: u32, length: u32, mode: u32) -> i32;
        pub fn mkfifo(dirfd: i32, path: u32, length: u32, mode: u32) -> i32;
        pub fn chmod(dirfd: i32, path: u32, length: u32, mode: u32, flags: u32) -> i32;
        pub fn fchmod(fd: i32, mode: u32) -> i32;
        pub fn chown(dirfd: i32, path: u32, length: u32, uid: u32, gid: u32, flags: u32) -> i32;
        pub fn access(dirfd: i32, path: u32, length: u32, mode: u32, flags: u32) -> i32;
        pub fn utimens(dirfd: i32, path: u32, length: u32, accessed: i64, modified: i64, flags: u32) -> i32;
        pub fn statvfs(dirfd: i32, path: u32, length: u32, out: u32) -> i32;
        pub fn realpath(dirfd: i32, path: u32, length: u32, buffer: u32, capacity: u32, out: u32) -> i32;
        pub fn readlink(dirfd: i32, path: u32, length: u32, buffer: u32, capacity: u32, out: u32) -> i32;
        pub fn getcwd(buffer: u32, capacity: u32, out: u32) -> i32;
        pub fn chdir(dirfd: i32, path: u32, length: u32) -> i32;
        pub fn getrlimit(resource: u32, out: u32) -> i32;
    }
}

/// Lets others run.
pub fn yield_now() -> i32 {
    // SAFETY: no arguments.
    unsafe { wasi::sched_yield() }
}

/// The address of something that the kernel reads or writes.
pub fn at<T: ?Sized>(place: &T) -> u32 {
    std::ptr::from_ref(place).cast::<u8>() as usize as u32
}

/// A buffer of a vectored call: address and length.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct IoVec(pub u32, pub u32);

/// The buffer that these bytes are.
pub fn io_vec(bytes: &[u8]) -> IoVec {
    IoVec(at(bytes), bytes.len() as u32)
}

/// A place that the kernel writes to; `get` is opaque to the optimiser.
#[repr(C, align(8))]
pub struct Out([u8; 512]);

impl Out {
    /// Filled with a byte that no answer has.
    pub fn new() -> Self {
        Self([0xa5; 512])
    }

    /// Its address.
    pub fn at(&mut self) -> u32 {
        std::ptr::from_mut(self) as usize as u32
    }

    fn bytes(&self) -> &[u8; 512] {
        std::hint::black_box(&self.0)
    }

    /// The 32-bit number at an offset.
    pub fn u32(&self, offset: usize) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|index| self.bytes()[offset + index]))
    }

    /// The 64-bit number at an offset.
    pub fn u64(&self, offset: usize) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|index| self.bytes()[offset + index]))
    }

    /// A byte.
    pub fn u8(&self, offset: usize) -> u8 {
        self.bytes()[offset]
    }

    /// Whether nothing was written.
    pub fn untouched(&self) -> bool {
        self.bytes().iter().all(|&byte| byte == 0xa5)
    }
}
