/* <unistd.h> plus the calls that wasi-libc leaves out and ../ supplies over the `wskill` imports. */
#include_next <unistd.h>
#ifndef WSKILL_POSIX_UNISTD_H
#define WSKILL_POSIX_UNISTD_H
#define __NEED_pid_t
#define __NEED_uid_t
#define __NEED_gid_t
#include <bits/alltypes.h>

int pipe(int fds[2]);
int pipe2(int fds[2], int flags);
int dup(int fd);
int dup2(int fd, int new_fd);
int dup3(int fd, int new_fd, int flags);

int chown(const char *path, uid_t uid, gid_t gid);
int lchown(const char *path, uid_t uid, gid_t gid);
int fchown(int fd, uid_t uid, gid_t gid);
int fchownat(int dirfd, const char *path, uid_t uid, gid_t gid, int flags);
int fchdir(int fd);
void sync(void);

unsigned alarm(unsigned seconds);
int pause(void);

int execv(const char *path, char *const argv[]);
int execve(const char *path, char *const argv[], char *const envp[]);

pid_t getppid(void);
pid_t getpgrp(void);
pid_t getpgid(pid_t pid);
int setpgid(pid_t pid, pid_t pgid);
pid_t setpgrp(void);
pid_t setsid(void);
pid_t getsid(pid_t pid);

uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);
int getgroups(int count, gid_t groups[]);
#endif
