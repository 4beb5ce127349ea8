/* Files by path: open, stat, modes, owners, times, working directory. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "internal.h"

/* Only what making the snapshot needs falls back to wasi-libc, and that has no directory descriptors. (wasi-libc's
 * *at functions call these when they get AT_FDCWD.) */
int __real___wasilibc_open_nomode(const char *path, int flags);
int __real_stat(const char *restrict path, struct stat *restrict st);
int __real_lstat(const char *restrict path, struct stat *restrict st);
int __real_fstat(int fd, struct stat *st);
int __real_access(const char *path, int mode);
ssize_t __real_readlink(const char *restrict path, char *restrict buf, size_t size);
int __real_chdir(const char *path);

int32_t wskill_dirfd(int dirfd)
{
	return dirfd == AT_FDCWD ? WSK_AT_FDCWD : dirfd;
}

static uint32_t nofollow_flag(int flags)
{
	return (flags & AT_SYMLINK_NOFOLLOW) ? WSK_NOFOLLOW : 0;
}

/* ---- open ------------------------------------------------------------------------------------------------------- */

static uint32_t kernel_open_flags(int flags)
{
	static const struct { int libc; uint32_t kernel; } table[] = {
		{O_CREAT, WSK_O_CREAT}, {O_EXCL, WSK_O_EXCL}, {O_TRUNC, WSK_O_TRUNC}, {O_APPEND, WSK_O_APPEND},
		{O_NONBLOCK, WSK_O_NONBLOCK}, {O_DIRECTORY, WSK_O_DIRECTORY}, {O_NOFOLLOW, WSK_O_NOFOLLOW},
		{O_CLOEXEC, WSK_O_CLOEXEC},
	};
	uint32_t result = (flags & O_RDWR) == O_RDWR ? WSK_O_RDWR : (flags & O_WRONLY) ? WSK_O_WRONLY : WSK_O_RDONLY;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (flags & table[i].libc) result |= table[i].kernel;
	return result;
}

static int open_with_mode(int dirfd, const char *path, int flags, mode_t mode)
{
	int32_t fd;
	int32_t error = wsk_open(wskill_dirfd(dirfd), path, strlen(path), kernel_open_flags(flags), mode, &fd);
	if (error == ENOSYS && dirfd == AT_FDCWD) return __real___wasilibc_open_nomode(path, flags & ~O_CLOEXEC);
	return wskill_result(error) < 0 ? -1 : fd;
}

int __wrap_openat(int dirfd, const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	mode_t mode = (flags & O_CREAT) ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	return open_with_mode(dirfd, path, flags, mode);
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	mode_t mode = (flags & O_CREAT) ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	return open_with_mode(AT_FDCWD, path, flags, mode);
}

/* fopen(3)'s way in. */
int __wrap___wasilibc_open_nomode(const char *path, int flags)
{
	return open_with_mode(AT_FDCWD, path, flags, 0666);
}

int __wrap_creat(const char *path, mode_t mode)
{
	return open_with_mode(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

/* ---- stat ------------------------------------------------------------------------------------------------------- */

static struct timespec timespec_of(int64_t ns)
{
	int64_t seconds = ns / 1000000000, rest = ns % 1000000000;
	if (rest < 0) {
		seconds--;
		rest += 1000000000;
	}
	return (struct timespec){.tv_sec = seconds, .tv_nsec = rest};
}

static void fill_stat(struct stat *out, const wsk_stat *in)
{
	memset(out, 0, sizeof *out);
	out->st_dev = in->dev;
	out->st_ino = in->ino;
	out->st_mode = in->mode;
	out->st_nlink = in->nlink;
	out->st_uid = in->uid;
	out->st_gid = in->gid;
	out->st_rdev = in->rdev;
	out->st_size = in->size;
	out->st_blksize = in->blksize;
	out->st_blocks = in->blocks;
	out->st_atim = timespec_of(in->atime_ns);
	out->st_mtim = timespec_of(in->mtime_ns);
	out->st_ctim = timespec_of(in->ctime_ns);
}

int __wrap_fstatat(int dirfd, const char *restrict path, struct stat *restrict st, int flags)
{
	wsk_stat answer;
	int32_t error = wsk_stat_at(wskill_dirfd(dirfd), path, strlen(path), nofollow_flag(flags), &answer);
	if (error == ENOSYS && dirfd == AT_FDCWD)
		return (flags & AT_SYMLINK_NOFOLLOW) ? __real_lstat(path, st) : __real_stat(path, st);
	if (wskill_result(error) < 0) return -1;
	fill_stat(st, &answer);
	return 0;
}

int __wrap_stat(const char *restrict path, struct stat *restrict st)
{
	return __wrap_fstatat(AT_FDCWD, path, st, 0);
}

int __wrap_lstat(const char *restrict path, struct stat *restrict st)
{
	return __wrap_fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int __wrap_fstat(int fd, struct stat *st)
{
	wsk_stat answer;
	int32_t error = wsk_fstat(fd, &answer);
	if (error == ENOSYS) return __real_fstat(fd, st);
	if (wskill_result(error) < 0) return -1;
	fill_stat(st, &answer);
	return 0;
}

/* ---- rights and owners ------------------------------------------------------------------------------------------ */

int __wrap_faccessat(int dirfd, const char *path, int mode, int flags)
{
	/* wasi-libc numbers X 1, W 2, R 4: POSIX's own. */
	int32_t error = wsk_access(wskill_dirfd(dirfd), path, strlen(path), mode, nofollow_flag(flags));
	if (error == ENOSYS && dirfd == AT_FDCWD) return __real_access(path, mode);
	return wskill_result(error);
}

int __wrap_access(const char *path, int mode)
{
	return __wrap_faccessat(AT_FDCWD, path, mode, 0);
}

int __wrap_fchmodat(int dirfd, const char *path, mode_t mode, int flags)
{
	return wskill_result(wsk_chmod(wskill_dirfd(dirfd), path, strlen(path), mode, nofollow_flag(flags)));
}

int __wrap_chmod(const char *path, mode_t mode)
{
	return __wrap_fchmodat(AT_FDCWD, path, mode, 0);
}

int __wrap_fchmod(int fd, mode_t mode)
{
	return wskill_result(wsk_fchmod(fd, mode));
}

int fchownat(int dirfd, const char *path, uid_t uid, gid_t gid, int flags)
{
	return wskill_result(wsk_chown(wskill_dirfd(dirfd), path, strlen(path), uid, gid, nofollow_flag(flags)));
}

int chown(const char *path, uid_t uid, gid_t gid)
{
	return fchownat(AT_FDCWD, path, uid, gid, 0);
}

int lchown(const char *path, uid_t uid, gid_t gid)
{
	return fchownat(AT_FDCWD, path, uid, gid, AT_SYMLINK_NOFOLLOW);
}

/* No owner is kept, so for an open descriptor there is nothing to do but check it. */
int fchown(int fd, uid_t uid, gid_t gid)
{
	(void)uid;
	(void)gid;
	wsk_stat answer;
	return wskill_result(wsk_fstat(fd, &answer));
}

mode_t umask(mode_t mask)
{
	return wsk_umask(mask);
}

/* ---- making and changing ---------------------------------------------------------------------------------------- */

int __wrap_mkdirat(int dirfd, const char *path, mode_t mode)
{
	return wskill_result(wsk_mkdir(wskill_dirfd(dirfd), path, strlen(path), mode));
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	return __wrap_mkdirat(AT_FDCWD, path, mode);
}

int mkfifoat(int dirfd, const char *path, mode_t mode)
{
	return wskill_result(wsk_mkfifo(wskill_dirfd(dirfd), path, strlen(path), mode));
}

int mkfifo(const char *path, mode_t mode)
{
	return mkfifoat(AT_FDCWD, path, mode);
}

static int64_t kernel_time(const struct timespec *time)
{
	if (time->tv_nsec == UTIME_NOW) return WSK_UTIME_NOW;
	if (time->tv_nsec == UTIME_OMIT) return WSK_UTIME_OMIT;
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

int __wrap_utimensat(int dirfd, const char *path, const struct timespec times[2], int flags)
{
	int64_t access_time = times ? kernel_time(&times[0]) : WSK_UTIME_NOW;
	int64_t change_time = times ? kernel_time(&times[1]) : WSK_UTIME_NOW;
	return wskill_result(
		wsk_utimens(wskill_dirfd(dirfd), path, strlen(path), access_time, change_time, nofollow_flag(flags)));
}

ssize_t __wrap_readlinkat(int dirfd, const char *restrict path, char *restrict buf, size_t size)
{
	uint32_t length = 0;
	char whole[PATH_MAX];
	int32_t error = wsk_readlink(wskill_dirfd(dirfd), path, strlen(path), whole, sizeof whole, &length);
	if (error == ENOSYS && dirfd == AT_FDCWD) return __real_readlink(path, buf, size);
	if (wskill_result(error) < 0) return -1;
	if (length > size) length = size;   /* readlink(2) truncates silently */
	memcpy(buf, whole, length);
	return length;
}

ssize_t __wrap_readlink(const char *restrict path, char *restrict buf, size_t size)
{
	return __wrap_readlinkat(AT_FDCWD, path, buf, size);
}

/* ---- file systems ----------------------------------------------------------------------------------------------- */

int __wrap_statvfs(const char *restrict path, struct statvfs *restrict out)
{
	wsk_statvfs answer;
	if (wskill_result(wsk_statvfs_at(WSK_AT_FDCWD, path, strlen(path), &answer)) < 0) return -1;
	memset(out, 0, sizeof *out);
	out->f_bsize = out->f_frsize = answer.block_size;
	out->f_blocks = answer.blocks;
	out->f_bfree = out->f_bavail = answer.blocks_free;
	out->f_files = answer.files;
	out->f_ffree = out->f_favail = answer.files_free;
	out->f_namemax = answer.name_max;
	out->f_flag = answer.read_only ? ST_RDONLY : 0;
	return 0;
}

int __wrap_fstatvfs(int fd, struct statvfs *out)
{
	/* There is no call by descriptor: all that a guest can write lies in the one account that the root reports. */
	wsk_stat exists;
	if (wskill_result(wsk_fstat(fd, &exists)) < 0) return -1;
	return __wrap_statvfs("/", out);
}

/* Writes go to the host's page cache; there is nothing of this process's own to write out. */
void sync(void)
{
}

/* ---- working directory ------------------------------------------------------------------------------------------ */

int wskill_sync_cwd(void)
{
	char path[PATH_MAX + 1];
	uint32_t length = 0;
	int32_t error = wsk_getcwd(path, PATH_MAX, &length);
	if (error == ENOSYS) return 0;
	if (wskill_result(error) < 0) return -1;
	path[length] = '\0';
	return __real_chdir(path);
}

int __wrap_chdir(const char *path)
{
	int32_t error = wsk_chdir(WSK_AT_FDCWD, path, strlen(path));
	if (error == ENOSYS) return __real_chdir(path);
	if (wskill_result(error) < 0) return -1;
	return wskill_sync_cwd();
}

int fchdir(int fd)
{
	if (wskill_result(wsk_chdir(fd, ".", 1)) < 0) return -1;
	return wskill_sync_cwd();
}

char *__wrap_realpath(const char *restrict path, char *restrict resolved)
{
	char answer[PATH_MAX + 1];
	uint32_t length = 0;
	if (wskill_result(wsk_realpath(WSK_AT_FDCWD, path, strlen(path), answer, PATH_MAX, &length)) < 0) return NULL;
	answer[length] = '\0';
	return resolved ? strcpy(resolved, answer) : strdup(answer);
}
