/* The `wskill` import module: what POSIX has and WASI preview 1 has not.
 *
 * Contract, version 1. The host side is `src/sandbox/abi`; the safe Rust side is the crate `wskill-sys` in this
 * folder. A module that imports anything from "wskill" is a *bound* module; every other is a *foreign* one.
 *
 * Conventions
 *   - Every call but those marked otherwise returns a WASI errno (`__WASI_ERRNO_*`, 0 is success); wasi-libc's errno
 *     values are the same numbers, so `errno = result` is right. Results go through out pointers, which are written
 *     only on success.
 *   - A path is bytes with a length, not NUL-terminated, at most 4096. `dirfd` is a descriptor of a directory or
 *     WSK_AT_FDCWD; a path that begins with `/` ignores it. These calls know the working directory that the kernel
 *     keeps for the process (see getcwd/chdir); wasi-libc has one of its own: after `getcwd` hand the answer to
 *     libc's chdir() so that both agree, and after every chdir do the same again.
 *   - Two name spaces of descriptors: `fd_prestat_*(3)` and WASI `path_*` with dirfd 3 always mean the root `/`,
 *     whatever POSIX descriptor 3 is. `fd_*` calls, and all calls here, act on the POSIX table. New descriptors are
 *     the lowest free number from 4 up, unless a call names the number. 0..2 and 3 are reached with dup2.
 *   - Signal numbers are Linux's: HUP 1 INT 2 QUIT 3 KILL 9 USR1 10 USR2 12 PIPE 13 ALRM 14 TERM 15 CHLD 17 CONT 18.
 *   - Calls marked [may wait] return EINTR when a *handled* signal arrives while they wait, and so do fd_read,
 *     fd_write, poll_oneoff and an opening FIFO. The guest then asks sig_take() and runs its handler.
 */
#ifndef WSKILL_H
#define WSKILL_H
#include <stddef.h>
#include <stdint.h>

#define WSK_IMPORT(name) __attribute__((import_module("wskill"), import_name(#name)))
#define WSK_ABI_VERSION 1
#define WSK_AT_FDCWD (-100)

/* The kernel's ABI version; compare with WSK_ABI_VERSION at start. Not an errno. */
WSK_IMPORT(abi_version) int32_t wsk_abi_version(void);

/* The name of the installed command this process was started as ("ls", whatever argv[0] says): what a multi-call
 * module dispatches on. Empty for a module that is not an installed program. At most `cap` bytes; ERANGE. */
WSK_IMPORT(program_name) int32_t wsk_program_name(char *buf, uint32_t cap, uint32_t *n);

/* ---- Processes ------------------------------------------------------------------------------------------------ */

/* One descriptor of a child. `parent_fd` -1 leaves `child_fd` closed. */
typedef struct { int32_t child_fd, parent_fd; } wsk_fd_map;

#define WSK_SPAWN_SEARCH      1  /* `path` without '/' is looked up along PATH of the *given* environment            */
#define WSK_SPAWN_SETPGID     2  /* put the child in group `pgid` (0: a new group of its own)                        */
#define WSK_SPAWN_CLOSE_OTHER 4  /* the child gets only the descriptors in `fds`; else all without CLOEXEC, then fds */

/* Layout on wasm32: fourteen 4-byte fields, then one u64 at offset 56; 64 bytes, aligned to 8. */
typedef struct {
    const char *path;  uint32_t path_len;
    const char *argv;  uint32_t argv_len;   /* strings one after another, each ended by NUL                          */
    const char *env;   uint32_t env_len;    /* the same, "NAME=value"; the whole environment of the child            */
    const char *cwd;   uint32_t cwd_len;    /* length 0: the parent's                                                */
    const wsk_fd_map *fds; uint32_t fds_count; /* applied like dup2 from the parent's table, all at once             */
    uint32_t flags;
    int32_t  pgid;
    int32_t  umask;                         /* -1: the parent's                                                      */
    uint32_t reserved;                      /* 0                                                                     */
    uint64_t sig_ignore;                    /* bit n-1: signal n starts ignored in the child; all others default     */
} wsk_spawn_request;

/* Starts a process. A descriptor inherited or mapped shares its open file description (one offset) with the parent.
 * What runs: a `#!` script's interpreter; a WASI module; an installed program; text without `#!` under sh.
 * Errors: ENOENT (no such file, or not on PATH), EACCES (directory, no right), ENOEXEC (not runnable: foreign binary,
 * component, threads module; one line on the child's standard error says why), E2BIG, EAGAIN (process limit),
 * ENOMEM, EBADF (fds), ENOTDIR/ENOENT (cwd), EPERM (not allowed by the sandbox's policy; one line on the child's
 * standard error says so). */
WSK_IMPORT(spawn) int32_t wsk_spawn(const wsk_spawn_request *req, int32_t *pid);

/* Whether the sandbox's policy lets a program do a command's work itself (the shell's builtins); EPERM: it does not, and
 * that is counted. Without a name: 0 when there is nothing to be asked, else EPERM. */
WSK_IMPORT(command_allowed) int32_t wsk_command_allowed(const char *name, uint32_t len);

/* Replaces the calling process's image; the pid, group, parent and start time stay. Returns only on error. */
WSK_IMPORT(exec) int32_t wsk_exec(const wsk_spawn_request *req);

typedef struct {
    int32_t  pid;          /* 0: WNOHANG and nobody has ended                                                        */
    int32_t  status;       /* POSIX: exited: (code & 0xff) << 8; ended by a signal: its number                       */
    uint64_t cpu_ns;       /* the child's own processor time, approximate                                            */
    uint64_t peak_memory;  /* bytes                                                                                  */
} wsk_wait_result;         /* 24 bytes */
#define WSK_WNOHANG 1
/* waitpid: pid > 0 that child; -1 any; 0 any of the own group; < -1 any of group -pid. ECHILD: none such.
 * [may wait] */
WSK_IMPORT(wait) int32_t wsk_wait(int32_t pid, uint32_t options, wsk_wait_result *result);

/* kill(2): pid > 0 one process; 0 the own group; -1 all but init and the caller; < -1 group -pid. Signal 0 probes. */
WSK_IMPORT(kill) int32_t wsk_kill(int32_t pid, int32_t sig);
WSK_IMPORT(getpid) int32_t wsk_getpid(void);                                /* not an errno */
WSK_IMPORT(getppid) int32_t wsk_getppid(void);                              /* not an errno; 0 for the first process */
WSK_IMPORT(getpgid) int32_t wsk_getpgid(int32_t pid, int32_t *pgid);        /* pid 0: the caller */
WSK_IMPORT(setpgid) int32_t wsk_setpgid(int32_t pid, int32_t pgid);         /* 0: the caller; pgid 0: as pid */
/* Processor time in ns: own, and that of children waited for. */
WSK_IMPORT(times) int32_t wsk_times(uint64_t *own_ns, uint64_t *children_ns);

/* ---- Signals -------------------------------------------------------------------------------------------------- */

#define WSK_SIG_DFL 0
#define WSK_SIG_IGN 1
#define WSK_SIG_HANDLE 2   /* the kernel keeps it pending until sig_take() asks                                      */
/* Sets a disposition and tells the old one (`old` may be 0). EINVAL for KILL, STOP and numbers outside 1..64. */
WSK_IMPORT(sig_set) int32_t wsk_sig_set(int32_t sig, int32_t disposition, int32_t *old);
/* The lowest handled pending signal, taken off; 0 when there is none. Not an errno. */
WSK_IMPORT(sig_take) int32_t wsk_sig_take(void);
/* For guests that compute without calling the host: the kernel stores 1 at this address, within some 10 ms, while a
 * handled signal is pending. The guest clears it before it asks sig_take(). Address 0 switches it off. */
WSK_IMPORT(sig_flag) int32_t wsk_sig_flag(uint8_t *address);
/* Real-time interval timer that sends ALRM; value 0 disarms. `left_ns`: what was left of the old one (may be 0). */
WSK_IMPORT(itimer) int32_t wsk_itimer(uint64_t value_ns, uint64_t interval_ns, uint64_t *left_ns);
/* Waits until a handled signal is pending; always ends with EINTR. [may wait] */
WSK_IMPORT(pause) int32_t wsk_pause(void);

/* ---- Descriptors ---------------------------------------------------------------------------------------------- */

#define WSK_CLOEXEC   1
#define WSK_NONBLOCK  2
#define WSK_UNBOUNDED 4   /* pipe: never blocks the writer; charged to the memory limit; for `$( )` in one process     */
WSK_IMPORT(pipe) int32_t wsk_pipe(uint32_t flags, int32_t fds[2]);          /* [0] reads, [1] writes */
/* The lowest free descriptor at or above `min` (which may be 0). flags: WSK_CLOEXEC. */
WSK_IMPORT(dup) int32_t wsk_dup(int32_t fd, int32_t min, uint32_t flags, int32_t *new_fd);
/* dup2/dup3; equal numbers: only checks. flags: WSK_CLOEXEC. */
WSK_IMPORT(dup2) int32_t wsk_dup2(int32_t fd, int32_t new_fd, uint32_t flags);
#define WSK_F_GETFD 1     /* 1: close on exec */
#define WSK_F_SETFD 2
#define WSK_F_GETFL 3     /* WSK_O_* access mode, APPEND, NONBLOCK */
#define WSK_F_SETFL 4     /* APPEND, NONBLOCK */
WSK_IMPORT(fcntl) int32_t wsk_fcntl(int32_t fd, int32_t cmd, int32_t arg, int32_t *result);
#define WSK_LOCK_SH 1
#define WSK_LOCK_EX 2
#define WSK_LOCK_NB 4
#define WSK_LOCK_UN 8
WSK_IMPORT(flock) int32_t wsk_flock(int32_t fd, uint32_t op);               /* [may wait] */
WSK_IMPORT(isatty) int32_t wsk_isatty(int32_t fd);                          /* 0: yes; ENOTTY; EBADF */
WSK_IMPORT(winsize) int32_t wsk_winsize(int32_t fd, uint16_t rows_cols[2]);
/* An unnamed regular file in memory, charged to the memory limit, open for reading and writing. flags: WSK_CLOEXEC. */
WSK_IMPORT(memfd) int32_t wsk_memfd(uint32_t flags, int32_t *fd);
/* Saves the descriptor table, working directory and umask on a stack and goes on with a copy (descriptions stay
 * shared); `depth` is the number of saved ones. For subshells that run in place. ELOOP past 1000. */
WSK_IMPORT(push_context) int32_t wsk_push_context(int32_t *depth);
/* Closes the copy and goes back to what push_context with this answer saved, dropping all above. EINVAL: no such. */
WSK_IMPORT(pop_context) int32_t wsk_pop_context(int32_t depth);

/* ---- Tools of the host ------------------------------------------------------------------------------------------ */

/* Calls a tool with a JSON text and waits for its answer. result[0] is a descriptor (close on exec) of an unnamed file with
 * it, at its begin; result[1] is 0, or 1 when the text says why the call failed, be it that there is no such tool or that
 * a limit is met. ENOSYS: this sandbox offers no tools. [may wait; the tool is told nothing of an EINTR but given up] */
WSK_IMPORT(tool_call) int32_t wsk_tool_call(const char *name, uint32_t name_len, const char *json, uint32_t json_len, int32_t result[2]);
/* A descriptor of the same kind: a line for each tool, name, tab, description, sorted. ENOSYS as above. */
WSK_IMPORT(tool_list) int32_t wsk_tool_list(int32_t *fd);

/* ---- Files ---------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t dev, ino;
    uint32_t mode;                       /* type and permission bits, POSIX's values (S_IFREG 0100000 ...)           */
    uint32_t nlink, uid, gid;
    uint64_t rdev, size;
    uint32_t blksize, reserved;
    uint64_t blocks;                     /* of 512 bytes                                                             */
    int64_t  atime_ns, mtime_ns, ctime_ns;
} wsk_stat;                              /* 88 bytes */
#define WSK_NOFOLLOW 1
WSK_IMPORT(stat) int32_t wsk_stat_at(int32_t dirfd, const char *path, uint32_t len, uint32_t flags, wsk_stat *st);
WSK_IMPORT(fstat) int32_t wsk_fstat(int32_t fd, wsk_stat *st);

/* Linux's values. */
#define WSK_O_RDONLY 0
#define WSK_O_WRONLY 1
#define WSK_O_RDWR 2
#define WSK_O_CREAT 0100
#define WSK_O_EXCL 0200
#define WSK_O_TRUNC 01000
#define WSK_O_APPEND 02000
#define WSK_O_NONBLOCK 04000
#define WSK_O_DIRECTORY 0200000
#define WSK_O_NOFOLLOW 0400000
#define WSK_O_CLOEXEC 02000000
/* open(2): `mode` is masked with the umask (WASI path_open creates with 0666 & ~umask). A FIFO waits for its other end.
 * [may wait] */
WSK_IMPORT(open) int32_t wsk_open(int32_t dirfd, const char *path, uint32_t len, uint32_t oflags, uint32_t mode, int32_t *fd);
WSK_IMPORT(mkdir) int32_t wsk_mkdir(int32_t dirfd, const char *path, uint32_t len, uint32_t mode);
WSK_IMPORT(mkfifo) int32_t wsk_mkfifo(int32_t dirfd, const char *path, uint32_t len, uint32_t mode);
WSK_IMPORT(chmod) int32_t wsk_chmod(int32_t dirfd, const char *path, uint32_t len, uint32_t mode, uint32_t flags);
WSK_IMPORT(fchmod) int32_t wsk_fchmod(int32_t fd, uint32_t mode);
/* The guest is uid 0 and sees every file as its own: any owner is accepted where it may write, and none is kept. */
WSK_IMPORT(chown) int32_t wsk_chown(int32_t dirfd, const char *path, uint32_t len, uint32_t uid, uint32_t gid, uint32_t flags);
/* access(2): R 4, W 2, X 1, F 0. X on a file wants an x bit (as root in Linux); W on a read-only mount is EROFS. */
WSK_IMPORT(access) int32_t wsk_access(int32_t dirfd, const char *path, uint32_t len, uint32_t mode, uint32_t flags);
#define WSK_UTIME_NOW  INT64_MAX
#define WSK_UTIME_OMIT INT64_MIN
WSK_IMPORT(utimens) int32_t wsk_utimens(int32_t dirfd, const char *path, uint32_t len, int64_t atime_ns, int64_t mtime_ns, uint32_t flags);
/* Sets the umask (only the low nine bits) and returns the old one. Not an errno. */
WSK_IMPORT(umask) int32_t wsk_umask(uint32_t mask);
typedef struct { uint64_t block_size, blocks, blocks_free, files, files_free, name_max, read_only; } wsk_statvfs; /* 56 */
WSK_IMPORT(statvfs) int32_t wsk_statvfs_at(int32_t dirfd, const char *path, uint32_t len, wsk_statvfs *st);
/* The three write at most `cap` bytes without a NUL and tell the whole length; ERANGE when it does not fit. */
WSK_IMPORT(realpath) int32_t wsk_realpath(int32_t dirfd, const char *path, uint32_t len, char *buf, uint32_t cap, uint32_t *n);
WSK_IMPORT(readlink) int32_t wsk_readlink(int32_t dirfd, const char *path, uint32_t len, char *buf, uint32_t cap, uint32_t *n);
WSK_IMPORT(getcwd) int32_t wsk_getcwd(char *buf, uint32_t cap, uint32_t *n);
WSK_IMPORT(chdir) int32_t wsk_chdir(int32_t dirfd, const char *path, uint32_t len);
/* getrlimit(2) with Linux's numbers: FSIZE 1, DATA 2, STACK 3, NPROC 6, NOFILE 7, AS 9, CPU 0; UINT64_MAX: none. */
WSK_IMPORT(getrlimit) int32_t wsk_getrlimit(uint32_t resource, uint64_t *limit);

#endif
