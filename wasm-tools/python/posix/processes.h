/* Starting programs; used by exec, posix_spawn, system and the interpreter's `_posixsubprocess`. */
#ifndef WSKILL_POSIX_PROCESSES_H
#define WSKILL_POSIX_PROCESSES_H
#include "internal.h"

typedef struct {
	const char *path;
	char *const *argv;
	char *const *envp;          /* NULL: this process's environment */
	const char *cwd;            /* NULL: this process's */
	const wsk_fd_map *fds;
	uint32_t fds_count;
	uint32_t flags;             /* WSK_SPAWN_* */
	int32_t pgid;
	int32_t umask;              /* -1: this process's */
	uint64_t ignored_signals;   /* bit n-1: signal n starts ignored */
} wskill_program;

/* 0 when the child runs, else Linux's error number. */
int wskill_spawn(const wskill_program *program, int32_t *pid);

/* The signals this process ignores, as spawn wants them: children inherit them, as with fork and exec. */
uint64_t wskill_ignored_signals(void);
#endif
