/* Descriptors: pipes, duplicates, flags, locks, terminals, and the calls that wait. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>
#include "internal.h"

int __real_fcntl(int fd, int command, ...);
int __real_ioctl(int fd, int request, ...);
int __real_isatty(int fd);
ssize_t __real_read(int fd, void *buf, size_t size);
ssize_t __real_write(int fd, const void *buf, size_t size);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
int __real_pselect(int count, fd_set *restrict readable, fd_set *restrict writable, fd_set *restrict failed,
                   const struct timespec *restrict timeout, const sigset_t *restrict mask);
int __real_posix_fadvise(int fd, off_t offset, off_t length, int advice);
int __real_posix_fallocate(int fd, off_t offset, off_t length);

/* ---- making descriptors ----------------------------------------------------------------------------------------- */

int pipe2(int fds[2], int flags)
{
	uint32_t kernel_flags = ((flags & O_CLOEXEC) ? WSK_CLOEXEC : 0) | ((flags & O_NONBLOCK) ? WSK_NONBLOCK : 0);
	int32_t ends[2];
	if (wskill_result(wsk_pipe(kernel_flags, ends)) < 0) return -1;
	fds[0] = ends[0];
	fds[1] = ends[1];
	return 0;
}

int pipe(int fds[2])
{
	return pipe2(fds, 0);
}

static int duplicate(int fd, int lowest, uint32_t flags)
{
	int32_t new_fd;
	return wskill_result(wsk_dup(fd, lowest, flags, &new_fd)) < 0 ? -1 : new_fd;
}

int dup(int fd)
{
	return duplicate(fd, 0, 0);
}

int dup2(int fd, int new_fd)
{
	return wskill_result(wsk_dup2(fd, new_fd, 0)) < 0 ? -1 : new_fd;
}

int dup3(int fd, int new_fd, int flags)
{
	if (fd == new_fd) return wskill_result(EINVAL);
	return wskill_result(wsk_dup2(fd, new_fd, (flags & O_CLOEXEC) ? WSK_CLOEXEC : 0)) < 0 ? -1 : new_fd;
}

/* ---- fcntl ------------------------------------------------------------------------------------------------------ */

static int libc_status_flags(int32_t kernel)
{
	int flags = (kernel & 3) == WSK_O_RDWR ? O_RDWR : (kernel & 3) == WSK_O_WRONLY ? O_WRONLY : O_RDONLY;
	if (kernel & WSK_O_APPEND) flags |= O_APPEND;
	if (kernel & WSK_O_NONBLOCK) flags |= O_NONBLOCK;
	return flags;
}

/* Record locks cover the whole file here: the kernel has flock(2) only. Testing always says "free". */
static int record_lock(int fd, int command, struct flock *lock)
{
	if (command == F_GETLK) {
		lock->l_type = F_UNLCK;
		return 0;
	}
	uint32_t operation = lock->l_type == F_RDLCK ? WSK_LOCK_SH : lock->l_type == F_WRLCK ? WSK_LOCK_EX : WSK_LOCK_UN;
	return wskill_result(wsk_flock(fd, operation | (command == F_SETLK ? WSK_LOCK_NB : 0)));
}

int __wrap_fcntl(int fd, int command, ...)
{
	va_list arguments;
	va_start(arguments, command);
	uintptr_t argument = va_arg(arguments, uintptr_t);
	va_end(arguments);

	int32_t answer = 0, error;
	switch (command) {
	case F_DUPFD:
		return duplicate(fd, (int)argument, 0);
	case F_DUPFD_CLOEXEC:
		return duplicate(fd, (int)argument, WSK_CLOEXEC);
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
		return record_lock(fd, command, (struct flock *)argument);
	case F_GETFD:
		error = wsk_fcntl(fd, WSK_F_GETFD, 0, &answer);
		break;
	case F_SETFD:
		error = wsk_fcntl(fd, WSK_F_SETFD, (argument & FD_CLOEXEC) ? 1 : 0, &answer);
		break;
	case F_GETFL:
		error = wsk_fcntl(fd, WSK_F_GETFL, 0, &answer);
		if (error == 0) answer = libc_status_flags(answer);
		break;
	case F_SETFL:
		error = wsk_fcntl(fd, WSK_F_SETFL,
		                  ((argument & O_APPEND) ? WSK_O_APPEND : 0) | ((argument & O_NONBLOCK) ? WSK_O_NONBLOCK : 0),
		                  &answer);
		break;
	default:
		error = EINVAL;
	}
	if (error == ENOSYS) return __real_fcntl(fd, command, argument);
	return wskill_result(error) < 0 ? -1 : answer;
}

int flock(int fd, int operation)
{
	return wskill_result(wsk_flock(fd, operation));   /* LOCK_* are WSK_LOCK_* */
}

/* ---- terminals -------------------------------------------------------------------------------------------------- */

int __wrap_isatty(int fd)
{
	int32_t error = wsk_isatty(fd);
	if (error == ENOSYS) return __real_isatty(fd);
	if (error == 0) return 1;
	errno = error;
	return 0;
}

int __wrap_ioctl(int fd, int request, ...)
{
	va_list arguments;
	va_start(arguments, request);
	void *argument = va_arg(arguments, void *);
	va_end(arguments);
	if (request != TIOCGWINSZ) return __real_ioctl(fd, request, argument);
	uint16_t size[2];
	if (wskill_result(wsk_winsize(fd, size)) < 0) return -1;
	*(struct winsize *)argument = (struct winsize){.ws_row = size[0], .ws_col = size[1]};
	return 0;
}

/* ---- calls that wait: an interrupted one runs the handler before it returns -------------------------------------
 *
 * Not before a write: the interpreter holds a stream's lock then, and a thread may want to write to the same one. */

static void before_wait(void)
{
	if (wskill_before_wait) wskill_before_wait();
}

static void after_interruption(void)
{
	int saved = errno;
	wskill_deliver_signals();
	errno = saved;
}

ssize_t __wrap_read(int fd, void *buf, size_t size)
{
	before_wait();
	ssize_t count = __real_read(fd, buf, size);
	if (count < 0 && errno == EINTR) after_interruption();
	return count;
}

ssize_t __wrap_write(int fd, const void *buf, size_t size)
{
	ssize_t count = __real_write(fd, buf, size);
	if (count < 0 && errno == EINTR) after_interruption();
	return count;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (timeout != 0) before_wait();
	int ready = __real_poll(fds, count, timeout);
	if (ready < 0 && errno == EINTR) after_interruption();
	return ready;
}

int __wrap_pselect(int count, fd_set *restrict readable, fd_set *restrict writable, fd_set *restrict failed,
                   const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
	if (!timeout || timeout->tv_sec || timeout->tv_nsec) before_wait();
	int ready = __real_pselect(count, readable, writable, failed, timeout, mask);
	if (ready < 0 && errno == EINTR) after_interruption();
	return ready;
}

/* ---- calls that return their error number ----------------------------------------------------------------------- */

int __wrap_posix_fadvise(int fd, off_t offset, off_t length, int advice)
{
	return wskill_linux_errno(__real_posix_fadvise(fd, offset, length, advice));
}

int __wrap_posix_fallocate(int fd, off_t offset, off_t length)
{
	return wskill_linux_errno(__real_posix_fallocate(fd, offset, length));
}
