/* <fcntl.h> with a real O_CLOEXEC, descriptor duplication and POSIX record locks. */
#include_next <fcntl.h>
#ifndef WSKILL_POSIX_FCNTL_H
#define WSKILL_POSIX_FCNTL_H
/* wasi-libc defines it as 0; this bit is free in its flags. */
#undef O_CLOEXEC
#define O_CLOEXEC 0x00200000

#define F_DUPFD         0
#define F_DUPFD_CLOEXEC 1030
#define F_GETLK         5
#define F_SETLK         6
#define F_SETLKW        7
#define F_RDLCK         0
#define F_WRLCK         1
#define F_UNLCK         2
#endif
