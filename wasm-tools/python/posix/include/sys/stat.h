/* <sys/stat.h> plus umask and FIFOs. */
#include_next <sys/stat.h>
#ifndef WSKILL_POSIX_SYS_STAT_H
#define WSKILL_POSIX_SYS_STAT_H
mode_t umask(mode_t mask);
int mkfifo(const char *path, mode_t mode);
int mkfifoat(int dirfd, const char *path, mode_t mode);
#endif
