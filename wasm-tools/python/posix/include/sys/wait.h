/* <sys/wait.h>, which wasi-libc does not have. Statuses are encoded as on Linux. */
#ifndef WSKILL_POSIX_SYS_WAIT_H
#define WSKILL_POSIX_SYS_WAIT_H
#define __NEED_pid_t
#include <bits/alltypes.h>
#include <sys/resource.h>

#define WNOHANG    1
#define WUNTRACED  2
#define WCONTINUED 8

#define WEXITSTATUS(status)  (((status) >> 8) & 0xff)
#define WTERMSIG(status)     ((status) & 0x7f)
#define WSTOPSIG(status)     WEXITSTATUS(status)
#define WCOREDUMP(status)    ((status) & 0x80)
#define WIFEXITED(status)    (WTERMSIG(status) == 0)
#define WIFSIGNALED(status)  (WTERMSIG(status) != 0 && WTERMSIG(status) != 0x7f)
#define WIFSTOPPED(status)   (((status) & 0xff) == 0x7f)
#define WIFCONTINUED(status) ((status) == 0xffff)

pid_t wait(int *status);
pid_t waitpid(pid_t pid, int *status, int options);
pid_t wait3(int *status, int options, struct rusage *usage);
pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage);
#endif
